"""Muscles in files: five numbers, time constants, and a path over the skeleton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from colloc.model import Coupling
from colloc.support.pickling import Portable

if TYPE_CHECKING:
    from colloc.muscles.wrapping import Surface


@dataclass(frozen=True)
class PathPoint(Portable):
    """A point of a body through which a muscle passes, always or within a range of a coordinate.

    Parameters
    ----------
    body : str or None
        None for the world.
    position : tuple of three, float [m] or Coupling
        In the link frame; a point that moves in its body has couplings to coordinates.
    coordinate : str, optional
        Name of the coordinate of a conditional point.
    within : (float, float), optional [rad] or [m]
        Range of that coordinate in which the muscle passes through the point.

    Examples
    --------
    >>> co.formats.PathPoint("tibia", (-0.03, -0.05, 0.0)).within is None
    True
    """

    body: str | None
    position: tuple[float | Coupling, ...]
    coordinate: str | None = None
    within: tuple[float, float] | None = None


@dataclass(frozen=True)
class MuscleData(Portable):
    """A muscle of a file.

    Parameters
    ----------
    name : str
    kind : str
        Name of the kind in the file, such as "Thelen2003Muscle".
    max_isometric_force : float [N]
    optimal_fiber_length, tendon_slack_length : float [m]
    pennation : float [rad]
        At optimal fiber length.
    max_contraction_velocity : float [optimal fiber lengths / s]
    activation, deactivation : float or None [s]
        Time constants, if the kind has them.
    rigid_tendon : bool
        Whether the file ignores tendon compliance.
    controls : (float, float)
        Least and largest excitation.
    points : tuple of PathPoint and surfaces
        From origin to insertion, with the surfaces between them round which it wraps, such as a
        `colloc.muscles.Cylinder`.
    wraps : tuple of str
        Names of wrapping surfaces that are left out.
    fiber_damping : float or None
        Force at the largest velocity, in maximal isometric forces, if the kind has it.

    Examples
    --------
    >>> points = co.formats.PathPoint(None, (0.0, 0.05, 0.0)), co.formats.PathPoint("elbow", (-0.35, 0.02, 0.0))
    >>> flexor = co.formats.MuscleData("flexor", "Thelen2003Muscle", 800.0, 0.1, 0.2, points=points)
    >>> co.muscles.from_file(flexor).path  # to pull
    MusclePath(2 points, world to elbow)
    """

    name: str
    kind: str
    max_isometric_force: float
    optimal_fiber_length: float
    tendon_slack_length: float
    pennation: float = 0.0
    max_contraction_velocity: float = 10.0
    activation: float | None = None
    deactivation: float | None = None
    rigid_tendon: bool = False
    controls: tuple[float, float] = (0.0, 1.0)
    points: tuple[PathPoint | Surface, ...] = ()
    wraps: tuple[str, ...] = ()
    fiber_damping: float | None = None
