"""The stick figure of a mechanism: positions of joints, link origins and ends of links in the world."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.model import Model, Shape
from colloc.model.joint import sparse_vector
from colloc.model.kinematics import frames
from colloc.plot.solids import Solid
from colloc.support.lazy import cached_property

_FLAT = 1e-9  # m; closer places are the same
_PER_BODY = 21  # numbers of `places`
_ROOM = 0.3  # of the mechanism's extent: visible room of large shapes


Ties = tuple[tuple[int, int, bool], ...]


class Snapshot(NamedTuple):
    """A stick figure at one time: places in the world frame, each an ndarray of shape (places, 3) [m]."""

    links: np.ndarray  # links, rails: all links, and all slides, as one line with gaps
    rails: np.ndarray
    carriages: np.ndarray  # ends of all slides
    pins: np.ndarray  # hinges
    tips: np.ndarray  # ends of the chains
    dots: np.ndarray  # markers, and tips of bodies within a chain


class StickFigure(ABC):
    """A drawn mechanism at N times; all places are in the world frame [m].

    Attributes
    ----------
    t : ndarray, shape (N,) [s]
    shapes : tuple of Shape
    solids : tuple of Solid
        Every shape over time; NaN while it is absent.
    """

    t: np.ndarray
    shapes: tuple[Shape, ...]
    solids: tuple[Solid, ...]

    @abstractmethod
    def snapshot(self, frame: int) -> Snapshot:
        """The mechanism at one of the times."""

    @property
    @abstractmethod
    def paths(self) -> dict[str, np.ndarray]:
        """The path of the end of every chain that moves, shape (N, 3), by the name of that end."""

    @property
    @abstractmethod
    def bases(self) -> np.ndarray:
        """Attachments of the mechanism to the world, shape (attachments, 3); empty for a floating base."""

    @property
    @abstractmethod
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box that holds the mechanism, each shape (3,)."""

    @property
    @abstractmethod
    def vertical(self) -> int:
        """The world axis closest to gravity; z without gravity."""

    @property
    def standing(self) -> list[Solid]:
        """The shapes at rest in the world, each at one time."""
        still = [self.solids[k].at(int(self.solids[k].there.argmax())) for k in self._still]
        places = [(*s.corners.round(12).ravel().tolist(), round(float(s.radius[0]), 12)) for s in still]
        return list(dict(zip(places, still, strict=True)).values())

    @property
    def _still(self) -> list[int]:
        return [k for k in range(len(self.shapes)) if k not in self.moving]

    @cached_property
    def moving(self) -> list[int]:
        """Numbers of the other shapes."""
        moves = (
            shape.body is not None
            or bool((np.nanmax(solid.corners, axis=0) - np.nanmin(solid.corners, axis=0) > _FLAT).any())
            or bool(np.nanmax(solid.radius) - np.nanmin(solid.radius) > _FLAT)
            for shape, solid in zip(self.shapes, self.solids, strict=True)
        )
        return [k for k, moving in enumerate(moves) if moving]

    @property
    def view(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the visible box, each shape (3,)."""
        return self.view_with(_ROOM)

    def view_with(self, room: float) -> tuple[np.ndarray, np.ndarray]:
        """The mechanism and the shapes around it.

        Longer shapes are included up to a distance of `room` times the mechanism's size.
        """
        low, high = self.extent
        solids = [*(self.solids[k] for k in self.moving), *self.standing]
        if not solids:
            return low, high
        first, last = (np.concatenate(sides) for sides in zip(*(solid.box for solid in solids), strict=True))
        size = (high - low).max()
        small = (last - first).max(axis=1, keepdims=True) <= size
        around = np.where(small, size, room * size)
        first, last = np.maximum(first, low - around), np.minimum(last, high + around)
        return np.minimum(low, np.nanmin(first, axis=0)), np.maximum(high, np.nanmax(last, axis=0))

    @cached_property
    def plane(self) -> tuple[int, int] | None:
        """World axes (right, up) of the coordinate plane the mechanism moves in; None in space."""
        low, high = self.extent
        flat = [axis for axis in (2, 1, 0) if high[axis] - low[axis] < _FLAT]
        if not flat:
            return None
        # A motion along a line lies in two planes: the one with the vertical is used.
        normal = next((axis for axis in flat if axis != self.vertical), flat[0])
        right, up = (axis for axis in range(3) if axis != normal)
        return (up, right) if right == self.vertical else (right, up)


@dataclass(frozen=True, eq=False)
class Skeleton(StickFigure):
    """The stick figure at N times; all places in the world frame, ndarray, shape (N, n_bodies, 3) [m].

    A link extends from its parent's origin to its joint's root, along the axis if the joint slides, to its own origin,
    and from there to the body's tip and markers. With standard DH the origin is the far end of the link. If the origin
    is at the joint instead, without a tip, a marker or a child elsewhere on the link, the centre of mass is used as its
    far end.
    """

    model: Model
    t: np.ndarray  # shape (N,) [s]
    start: np.ndarray  # origin of the parent; the root for a body on the world
    root: np.ndarray  # position of the joint: its axis starts here
    slid: np.ndarray  # end of the slide, or of the advance of a helix; the root for a joint that does not slide
    origin: np.ndarray  # origin of the link frame
    com: np.ndarray  # centre of mass
    tip: np.ndarray  # the body's tip; the origin without one
    axis: np.ndarray  # unit direction of the joint's axis; zero for fixed joints
    markers: np.ndarray  # shape (N, n_markers, 3); the model's markers
    shapes: tuple[Shape, ...]
    solids: tuple[Solid, ...]  # every shape over time
    # of every loop: the bodies whose origins it ties together, and whether one slides along the other
    ties: Ties = ()

    @cached_property
    def floats(self) -> list[int]:
        """Massless bodies of the translations of a floating base, which are not drawn."""
        massless: list[bool] = []
        for body, parent in zip(self.model.bodies, self.model.parents, strict=True):
            massless.append(body.mass.is_zero() and (parent < 0 or massless[parent]))
        joints = [body.joint for body in self.model.bodies]
        return [k for k, joint in enumerate(joints) if joint.slides and not joint.turns and massless[k]]

    @cached_property
    def slides(self) -> list[int]:
        """Bodies with a sliding joint that is part of the mechanism."""
        slides = [k for k, body in enumerate(self.model.bodies) if body.joint.slides]
        return [k for k in slides if k not in self.floats]

    @cached_property
    def hinges(self) -> list[int]:
        """Bodies with a joint that turns."""
        return [k for k, body in enumerate(self.model.bodies) if body.joint.turns]

    @cached_property
    def tips(self) -> list[int]:
        """Ends of the chains: bodies without children and without the end of a loop."""
        taken = {*self.model.parents, *(k for first, second, _ in self.ties for k in (first, second))}
        return [k for k in range(len(self.model.bodies)) if k not in taken]

    @cached_property
    def far_ends(self) -> list[tuple[str, np.ndarray]]:
        """Far end of every body: name and position, shape (N, 3)."""
        return [self._far_end(k) for k in range(len(self.model.bodies))]

    @cached_property
    def end(self) -> np.ndarray:
        """Positions of the far ends, shape (N, n_bodies, 3)."""
        return np.stack([place for _, place in self.far_ends], axis=1)

    def _far_end(self, k: int) -> tuple[str, np.ndarray]:
        """The body's tip, otherwise the marker or the origin further from its joint, otherwise the centre of mass.

        With the name of a marker at that place.
        """
        body, joint, markers = self.model.bodies[k], self.slid[:, k], self._marked(k)
        furthest = max([self.origin[:, k], *markers.values()], key=lambda place: max_distance(place, joint))
        if body.tip is not None:
            name, end = f"the tip of {body.name}", self.tip[:, k]
        elif max_distance(furthest, joint) > _FLAT:
            name, end = f"the tip of {body.name}", furthest
        elif self._is_point(k) and max_distance(self.com[:, k], joint) > _FLAT:
            name, end = f"the centre of mass of {body.name}", self.com[:, k]
        else:
            name, end = body.name, furthest
        there = (marker for marker, place in markers.items() if max_distance(place, end) < _FLAT)
        return next(there, name), end

    def _is_point(self, k: int) -> bool:
        """Whether only the joint and the centre of mass of a body are known."""
        # Measured instead of read from joints, whose lengths may be unknowns of the problem.
        return all(max_distance(place, self.origin[:, k]) < _FLAT for place in (self.root[:, k], *self._joints_on(k)))

    def _joints_on(self, k: int) -> list[np.ndarray]:
        """Positions of the joints of a body's children, to which its link extends."""
        return [self.root[:, child] for child, parent in enumerate(self.model.parents) if parent == k]

    def _marked(self, k: int) -> dict[str, np.ndarray]:
        """Markers of a body by name."""
        name = self.model.bodies[k].name
        return {
            marker: self.markers[:, m]
            for m, (marker, (body, _)) in enumerate(self.model.markers.items())
            if body == name
        }

    def spurs_of(self, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
        """Segments from a body's link to its tip, markers, and substitute end: both ends, each shape (N, 3)."""
        first, last = self.slid[:, k], self.origin[:, k]
        along = last - first
        length = np.maximum((along**2).sum(axis=1, keepdims=True), _FLAT**2)
        spurs = []
        for place in (self.far_ends[k][1], *self._marked(k).values()):
            share = ((place - first) * along).sum(axis=1, keepdims=True) / length
            foot = first + share.clip(0, 1) * along
            if all(max_distance(place, joint) > _FLAT for joint in (foot, *self._joints_on(k))):
                spurs.append((foot, place))
        return spurs

    @cached_property
    def _spurs(self) -> np.ndarray:
        """The spurs of all bodies as lines with gaps, shape (N, 3 spurs, 3)."""
        gap = np.full((self.t.size, 3), np.nan)
        spurs = [spur for k in range(len(self.model.bodies)) for spur in self.spurs_of(k)]
        lines = [np.stack([foot, place, gap], axis=1) for foot, place in spurs]
        return np.concatenate([np.zeros((self.t.size, 0, 3)), *lines], axis=1)

    @cached_property
    def paths(self) -> dict[str, np.ndarray]:
        ways = (self.far_ends[k] for k in self.tips)
        return {name: way for name, way in ways if np.ptp(way, axis=0).max() > _FLAT}

    def snapshot(self, frame: int) -> Snapshot:
        tips = self.end[frame, self.tips]
        return Snapshot(
            self.links(frame), self.rails(frame), self.carriages(frame), self.pins(frame), tips, self.dots(frame)
        )

    def dots(self, frame: int) -> np.ndarray:
        """Markers, and tips of bodies within a chain, at one time."""
        within = [k for k, body in enumerate(self.model.bodies) if body.tip is not None and k not in self.tips]
        return np.concatenate([self.markers[frame], self.tip[frame, within]])

    @cached_property
    def bases(self) -> np.ndarray:
        return self.root[0, [k for k, p in enumerate(self.model.parents) if p < 0 and k not in self.floats]]

    def links(self, frame: int) -> np.ndarray:
        """All links at one time, as one line with gaps."""
        gap = np.full_like(self.root[frame], np.nan)
        parts = [self.start, self.root, None, self.slid, self.origin, None]
        lines = np.stack([gap if part is None else part[frame] for part in parts], axis=1)
        return np.concatenate([np.delete(lines, self.floats, axis=0).reshape(-1, 3), self._spurs[frame]])

    def rails(self, frame: int) -> np.ndarray:
        """All slides at one time, as one line with gaps."""
        first, second = ([tie[side] for tie in self.ties] for side in (0, 1))
        near = np.concatenate([self.root[frame, self.slides], self.origin[frame, first]])
        far = np.concatenate([self.slid[frame, self.slides], self.origin[frame, second]])
        return np.stack([near, far, np.full_like(near, np.nan)], axis=1).reshape(-1, 3)

    def carriages(self, frame: int) -> np.ndarray:
        """Ends of all slides at one time."""
        tied = [second for _, second, slides in self.ties if slides]
        return np.concatenate([self.slid[frame, self.slides], self.origin[frame, tied]])

    def pins(self, frame: int) -> np.ndarray:
        """All hinges at one time."""
        tied = [second for _, second, slides in self.ties if not slides]
        return np.concatenate([self.root[frame, self.hinges], self.origin[frame, tied]])

    @cached_property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        drawn = [k for k in range(len(self.model.bodies)) if k not in self.floats]
        places = [self.start, self.root, self.slid, self.origin, self.end]
        points = np.concatenate([*(place[:, drawn].reshape(-1, 3) for place in places), self.markers.reshape(-1, 3)])
        return points.min(axis=0), points.max(axis=0)

    @property
    def vertical(self) -> int:
        gravity = np.abs(self.model.gravity)
        return int(gravity.argmax()) if gravity.any() else 2


def max_distance(a: np.ndarray, b: np.ndarray) -> float:
    """Largest distance between two paths, each shape (N, 3) [m]."""
    return float(np.linalg.norm(a - b, axis=1).max())


Pose = Callable[[np.ndarray], StickFigure]  # of times, shape (N,) [s]


def skeleton_from(
    model: Model,
    t: np.ndarray,
    values: np.ndarray,
    ties: Ties = (),
    shapes: Sequence[Shape] = (),
) -> Skeleton:
    """The stick figure of the values of `places` at N times, shape (rows, N)."""
    bodies, markers = len(model.bodies), len(model.markers)
    splits = np.cumsum([_PER_BODY * bodies, 3 * markers])
    of_bodies, of_markers, of_shapes = np.split(values.T, splits, axis=1)
    start, root, slid, origin, com, tip, axis = of_bodies.reshape(t.size, 7, bodies, 3).transpose(1, 0, 2, 3)
    marked, solids = of_markers.reshape(t.size, markers, 3), []
    for shape in shapes:
        corners, radius, of_shapes = np.split(
            of_shapes, [3 * shape.corners.shape[1], 3 * shape.corners.shape[1] + 1], 1
        )
        solids.append(Solid(corners.reshape(t.size, -1, 3), radius[:, 0]))
    return Skeleton(model, t, start, root, slid, origin, com, tip, axis, marked, tuple(shapes), tuple(solids), ties)


def places(model: Model, q: ca.SX, shapes: Sequence[Shape] = ()) -> ca.SX:
    """Starts, roots, ends of slides, origins, centres of mass and tips of all bodies, the markers, shapes [m].

    Tips are followed by directions of the joints' axes; shapes consist of corners and radius. SX, a column of 21
    numbers for each body, 3 for each marker, 3 for each corner and 1 for each shape.
    """
    zero = ca.SX(model.n, 1)
    transforms = frames(model, q, zero, zero).position

    def placed(body: str, point: ca.SX) -> ca.SX:
        return (transforms[model.index(body)] @ ca.vertcat(point, 1))[:3]

    columns = []
    for body, parent, link in zip(model.bodies, model.parents, transforms, strict=True):
        above = ca.SX.eye(4) if parent < 0 else transforms[parent]
        joint = above @ body.joint.before
        root, origin = joint[:3, 3], link[:3, 3]
        axis = joint[:3, :3] @ sparse_vector(body.joint.axis)
        slid = root + axis * ca.dot(axis, origin - root) if body.joint.slides else root
        tip = origin if body.tip is None else placed(body.name, body.tip)
        start = root if parent < 0 else above[:3, 3]
        columns.append([start, root, slid, origin, placed(body.name, body.com), tip, axis])
    rows = [place for places in zip(*columns, strict=True) for place in places]
    rows += [placed(body, point) for body, point in model.markers.values()]
    for shape in shapes:
        corners = ca.horzsplit(shape.corners)
        rows += corners if shape.body is None else [placed(shape.body, corner) for corner in corners]
        rows.append(shape.rounding)
    return ca.densify(ca.vertcat(*rows))
