"""Shapes on links and in the world: capsules, boxes and convex hulls, to be kept apart and to be drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.support.checks import InputError, as_tuple, count, finite_array, spelt, symbolic, text
from colloc.support.display import entries
from colloc.support.pickling import Portable

SHAPES = "a Capsule, a Box or a ConvexHull"  # for messages
_APPROACHES = 300  # steps of the search for the point of a hull nearest to a point


class Core(NamedTuple):
    """A convex body with corners: the points plus or minus each of the edges, as of a box or a prism.

    Parameters
    ----------
    points : SX, shape (3, N) [m]
    edges : SX, shape (3, M) [m]
        Half of every edge, as a vector.
    """

    points: ca.SX
    edges: ca.SX

    def placed(self, frame: ca.SX) -> Core:
        """The core in the world, by the transform of its frame, SX, shape (4, 4)."""
        turn, origin = frame[:3, :3], frame[:3, 3]
        return Core(turn @ self.points + ca.repmat(origin, 1, self.points.shape[1]), turn @ self.edges)

    @property
    def corners(self) -> ca.SX:
        """All corners, SX, shape (3, 2^M N) [m]."""
        signs = ca.DM(np.array(list(product((-1.0, 1.0), repeat=self.edges.shape[1]))).T)
        spread = self.edges @ signs if self.edges.shape[1] else ca.SX(3, 1)
        return ca.horzcat(*(ca.repmat(p, 1, spread.shape[1]) + spread for p in ca.horzsplit(self.points)))


@dataclass(frozen=True, eq=False)
class Shape(Portable, ABC):
    """A convex body: all points within a radius of a core with corners.

    Parameters
    ----------
    body : str or None
        Name of the body to which it is fixed; None for the world.
    name : str
        Used in reports; by default the name of the body.

    See Also
    --------
    Capsule, Box, ConvexHull

    Examples
    --------
    >>> isinstance(co.model.Box(None, (1.0, 0.6, 0.02)), co.model.Shape)
    True
    """

    body: str | None
    name: str = field(default="", kw_only=True)

    @property
    @abstractmethod
    def core(self) -> Core:
        """The core, in the link frame or the world's."""

    @property
    def corners(self) -> ca.SX:
        """The corners whose hull is rounded, in the link frame or the world's, SX, shape (3, N) [m]."""
        return self.core.corners

    @property
    def rounding(self) -> ca.SX:
        """The radius by which the core is rounded, SX, scalar [m]."""
        return ca.SX(0.0)

    @property
    def label(self) -> str:
        """Its name, by default that of the body or the world."""
        return self.name or self.body or "world"

    def _check(self, kind: str) -> None:
        if self.body is not None:
            text(f"body of a {kind}", self.body)
        if not (isinstance(self.name, str) and self.name == ""):
            text(f"name of a {kind}", self.name)

    def _set(self, kind: str, name: str, shape: tuple[int, int]) -> ca.SX:
        """Replace a field by SX of a shape, and return it."""
        value = symbolic(f"{name} of a {kind}", getattr(self, name), shape)
        object.__setattr__(self, name, value)
        return value

    def _shown(self, kind: str, *parts: str) -> str:
        called = f"{self.name!r} " if self.name else ""
        return f"{kind}({called}on {self.body or 'world'}, {', '.join(parts)})"


def _not_negative(what: str, value: ca.SX) -> None:
    if value.is_constant() and float(value) < 0:
        raise InputError(f"{what} must not be negative, got {float(value)}")


@spelt
@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """A round bar with hemispheres at its ends, fixed to a body or to the world; a ball if both ends are equal.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    start, end : shape (3,) [m]
        Ends of its axis, numbers or symbols, in the link frame or the world's.
    radius : number or SX [m]
    name : str, optional
        Used in reports; by default the name of the body.

    Raises
    ------
    InputError
        For points of another shape, or a negative radius.

    See Also
    --------
    clearance

    Examples
    --------
    >>> forearm = co.Capsule("elbow", (-0.4, 0, 0), (0, 0, 0), radius=0.04)
    >>> pillar = co.Capsule(None, (0.5, 0.2, -1.0), (0.5, 0.2, 1.0), radius=0.05, name="pillar")
    >>> keep_off = co.clearance(forearm, pillar, by=0.01)
    """

    start: Any
    end: Any
    radius: Any

    def __post_init__(self):
        self._check("capsule")
        for name, shape in (("start", (3, 1)), ("end", (3, 1)), ("radius", (1, 1))):
            self._set("capsule", name, shape)
        _not_negative("radius of a capsule", self.radius)

    @property
    def core(self) -> Core:
        """The axis, or the centre of a ball."""
        if ca.is_equal(self.start, self.end, 2):
            return Core(self.start, ca.SX(3, 0))
        return Core((self.start + self.end) / 2, (self.end - self.start) / 2)

    @property
    def rounding(self) -> ca.SX:
        return self.radius

    def __repr__(self) -> str:
        ends = " to ".join(entries(end) for end in (self.start, self.end))
        return self._shown("Capsule", ends, f"radius {entries(self.radius)} m")


@spelt
@dataclass(frozen=True, eq=False)
class Box(Shape):
    """A box, fixed to a body or to the world.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    size : shape (3,) [m]
        Lengths of its edges, numbers or symbols.
    placement : shape (4, 4), optional
        Transform from its axes, with the origin at its centre, to the link frame or the world's, see `placement`; the
        identity by default.
    name : str, optional
        Used in reports; by default the name of the body.

    Raises
    ------
    InputError
        For arguments of another shape, or a negative size.

    See Also
    --------
    clearance

    Examples
    --------
    >>> table = co.model.Box(None, (1.2, 0.8, 0.04), co.placement((0.6, 0.0, -0.02)), name="table")
    >>> table
    Box('table' on world, (1.2, 0.8, 0.04) m at (0.6, 0, -0.02))
    """

    size: Any
    placement: Any = None

    def __post_init__(self):
        self._check("box")
        for edge in ca.vertsplit(self._set("box", "size", (3, 1))):
            _not_negative("size of a box", edge)
        if self.placement is None:
            object.__setattr__(self, "placement", ca.SX.eye(4))
        self._set("box", "placement", (4, 4))

    @property
    def core(self) -> Core:
        """The centre, with an edge in each direction."""
        return Core(self.placement[:3, 3], self.placement[:3, :3] @ ca.diag(self.size) / 2)

    def __repr__(self) -> str:
        return self._shown("Box", f"{entries(self.size)} m at {entries(self.placement[:3, 3])}")


@spelt
@dataclass(frozen=True, eq=False)
class ConvexHull(Shape):
    """The convex hull of points, rounded by a radius, fixed to a body or to the world.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    points : shape (N, 3) [m]
        Numbers or symbols, in the link frame or the world's; points inside the hull only cost time.
    radius : number or SX [m]
        Points within this distance of the hull belong to the shape.
    name : str, optional
        Used in reports; by default the name of the body.

    Raises
    ------
    InputError
        For arguments of another shape, no points, or a negative radius.

    See Also
    --------
    hull_around, clearance

    Examples
    --------
    >>> roof = co.model.ConvexHull(None, [(0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1), (0.5, 0.5, 1.4)], name="roof")
    >>> roof
    ConvexHull('roof' on world, 5 points, radius 0 m)
    """

    points: Any
    radius: Any = 0.0

    def __post_init__(self):
        self._check("hull")
        rows = self.points
        number = rows.shape[0] if isinstance(rows, ca.SX | ca.DM) else len(as_tuple("points of a hull", rows))
        count("number of points of a hull", number, at_least=1)
        self._set("hull", "points", (number, 3))
        _not_negative("radius of a hull", self._set("hull", "radius", (1, 1)))

    @property
    def core(self) -> Core:
        """The points, without edges."""
        return Core(self.points.T, ca.SX(3, 0))

    @property
    def rounding(self) -> ca.SX:
        return self.radius

    def __repr__(self) -> str:
        return self._shown("ConvexHull", f"{self.points.shape[0]} points", f"radius {entries(self.radius)} m")


@spelt
def hull_around(body: str | None, points: Any, *, most: int = 24, name: str = "") -> ConvexHull:
    """A convex hull of a few points of many, such as those of a mesh, rounded so that all of them are inside.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    points : shape (N, 3) [m]
        Numbers, in the link frame or the world's.
    most : int
        Largest number of points that are kept: the time for a distance grows with it.
    name : str, optional

    Returns
    -------
    ConvexHull
        Its radius is an upper bound of the distance of all points from the hull of those that are kept.

    Raises
    ------
    InputError
        For no points, or an array of another shape.

    Notes
    -----
    The points furthest from the hull of those already chosen are added one after another. The iterates of Gilbert's
    (1966) method for the point of a hull next to another give upper bounds of distances from a hull.

    Examples
    --------
    >>> ball = np.random.default_rng(0).normal(size=(500, 3))
    >>> ball *= 0.1 / np.linalg.norm(ball, axis=1, keepdims=True)
    >>> co.model.hull_around("hand", ball, most=20)
    ConvexHull(on hand, 20 points, radius 0.0... m)
    """
    cloud = finite_array("points", points, (None, 3))
    most = count("most", most, at_least=4)
    if not len(cloud):
        raise InputError("points must be at least one, got none")
    cloud = np.unique(cloud, axis=0)
    size = float(np.linalg.norm(np.ptp(cloud, axis=0)))
    kept = [int(np.linalg.norm(cloud - cloud.mean(axis=0), axis=1).argmax())]
    nearest = np.tile(cloud[kept[0]], (len(cloud), 1))  # of the hull, to every point
    while len(kept) <= most:
        nearest = _nearer(cloud, cloud[kept], nearest)
        outside = np.linalg.norm(cloud - nearest, axis=1)
        if len(kept) == most or outside.max() <= 1e-6 * size:
            break
        kept.append(int(outside.argmax()))
    radius = float(outside.max()) if outside.max() > 1e-6 * size else 0.0
    return ConvexHull(body, cloud[kept], radius, name=name)


def _nearer(points: np.ndarray, corners: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """For every point, shape (N, 3), a point of the hull of the corners, shape (k, 3), nearer than `nearest`."""
    for _ in range(_APPROACHES):
        away = points - nearest
        towards = corners[(away @ corners.T).argmax(axis=1)] - nearest
        length = np.maximum((towards**2).sum(axis=1), 1e-300)
        share = ((away * towards).sum(axis=1) / length).clip(0, 1)
        if (share**2 * length).max() < 1e-16 * length.max():
            break
        nearest = nearest + share[:, None] * towards
    return nearest
