"""Muscles from the data of files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, runtime_checkable

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.model import Coupling
from colloc.muscles.muscle import Muscle
from colloc.muscles.path import MusclePath, ViaPoint, coordinate
from colloc.support.checks import instance, spelt


class PointRecord(Protocol):
    """A point of a path in a file; entries of its position may follow coordinates."""

    @property
    def body(self) -> str | None: ...
    @property
    def position(self) -> tuple[float | Coupling, ...]: ...
    @property
    def coordinate(self) -> str | None: ...
    @property
    def within(self) -> tuple[float, float] | None: ...


@runtime_checkable
class MuscleRecord(Protocol):
    """A muscle in a file: a `colloc.formats.MuscleData`, or an object with the same attributes."""

    @property
    def name(self) -> str: ...
    @property
    def max_isometric_force(self) -> float: ...
    @property
    def optimal_fiber_length(self) -> float: ...
    @property
    def tendon_slack_length(self) -> float: ...
    @property
    def pennation(self) -> float: ...
    @property
    def max_contraction_velocity(self) -> float: ...
    @property
    def activation(self) -> float | None: ...
    @property
    def deactivation(self) -> float | None: ...
    @property
    def fiber_damping(self) -> float | None: ...
    @property
    def points(self) -> Sequence[PointRecord]: ...


@spelt
def from_file(record: MuscleRecord, **numbers: Any) -> Muscle:
    """A muscle with the path and the numbers of a file, for any kind of muscle.

    Its curves are those of `Muscle`, not the file's: OpenSim replaces Thelen's and Millard's muscles by those of De
    Groote et al. in the same way. Paths are straight in place of the file's wrapping surfaces.

    Parameters
    ----------
    record : MuscleData
        An entry of `Reading.muscles`.
    **numbers :
        Arguments of `Muscle` that replace or complement those of the file.

    See Also
    --------
    fit_lengths

    Examples
    --------
    >>> points = co.formats.PathPoint(None, (0.0, 0.05, 0.0)), co.formats.PathPoint("elbow", (-0.35, 0.02, 0.0))
    >>> record = co.formats.MuscleData("flexor", "Thelen2003Muscle", 800.0, 0.1, 0.2, points=points)
    >>> co.muscles.from_file(record, max_isometric_force=1000.0).max_isometric_force
    1000.0
    """
    instance("record", record, MuscleRecord, "one of the muscles of a co.formats.Reading")
    values = {
        "max_isometric_force": record.max_isometric_force,
        "optimal_fiber_length": record.optimal_fiber_length,
        "tendon_slack_length": record.tendon_slack_length,
        "pennation": record.pennation,
        "max_velocity": record.max_contraction_velocity,
        "activation_time": record.activation,
        "deactivation_time": record.deactivation,
        "damping": record.fiber_damping,
    }
    known = {name: value for name, value in values.items() if value is not None}
    points = [
        ViaPoint(point.body, _position(point), joint=point.coordinate, within=point.within) for point in record.points
    ]
    return Muscle(record.name, MusclePath(points), **(known | numbers))


def _position(point: PointRecord) -> Any:
    """Position for a `ViaPoint`: numbers, or a function of the instant if an entry follows a coordinate."""
    return partial(_moving, point) if any(isinstance(part, Coupling) for part in point.position) else point.position


def _moving(point: PointRecord, now: Instant) -> ca.SX:
    entries = [
        part.derivatives(coordinate(now, part.joint), 0)[0] if isinstance(part, Coupling) else ca.SX(part)
        for part in point.position
    ]
    return ca.vertcat(*entries)
