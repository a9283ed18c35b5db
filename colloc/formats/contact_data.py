"""Contact in files: spheres, half-spaces, and the laws of the forces between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from colloc.support.pickling import Portable


@dataclass(frozen=True, eq=False)
class ContactShape(Portable):
    """A sphere or a half-space that touches others.

    Parameters
    ----------
    name : str
    kind : "sphere" or "half-space"
    body : str or None
        None for the world.
    placement : ndarray, shape (4, 4)
        In the link frame. A half-space fills x > 0 of its own frame.
    radius : float or None [m]
        Of a sphere.

    Examples
    --------
    >>> heel = co.formats.ContactShape("heel", "sphere", "calcn", co.placement((0.03, 0.01, 0.0)), radius=0.035)
    """

    name: str
    kind: str
    body: str | None
    placement: Any
    radius: float | None = None


@dataclass(frozen=True, eq=False)
class ContactLaw(Portable):
    """A force between shapes.

    Parameters
    ----------
    name : str
    kind : str
        Name of the kind in the file, such as "SmoothSphereHalfSpaceForce".
    shapes : tuple of str
        Names of the shapes.
    numbers : mapping of str to float
        Its constants, in SI units, by their names in the file.

    Examples
    --------
    >>> law = co.formats.ContactLaw("right", "SmoothSphereHalfSpaceForce", ("heel", "floor"), {"stiffness": 1e6})
    """

    name: str
    kind: str
    shapes: tuple[str, ...]
    numbers: Mapping[str, float]
