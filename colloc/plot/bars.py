"""Round bars of plausible thickness instead of the lines of a stick figure."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import pi
from typing import NamedTuple

import numpy as np

from colloc.plot.skeleton import Skeleton, max_distance
from colloc.plot.solids import face_normals

_FLAT = 1e-9  # m; closer places are the same
_WATER = 1000.0  # kg/m3: a link has the thickness of water of its mass
_THIN, _THICK = 0.010, 0.085  # radii, relative to the mechanism
_SLENDER = 0.80  # the largest radius of a link, relative to its length
_TAPER = 0.7  # smallest radius of a link at its far end, relative to that at its joint
_BARE = 0.7  # radius of a massless link, relative to the carried link
_AXLE = 0.75, 1.15  # half the length and the radius of a hinge, relative to the link's radius
_FEW = 14  # bodies; with more, hinges are no larger than the links that they join
_COM = "the centre of mass"  # prefix of the names of ends at a centre of mass
_SIDES = {"right": ("_r", "_right", "-right", ".r", "right"), "left": ("_l", "_left", "-left", ".l", "left")}


class RoundBar(NamedTuple):
    """A tapered bar with hemispheres at its ends; a ball if both ends are the same.

    Styles are "link", "right", "left", "joint", "rail", "tip", "marker", "base", "obstacle", "shape", or a colour as
    "#aabbcc".
    """

    start: int  # numbers of points
    end: int
    thick: float  # radius at the start [m]
    thin: float  # and at the end
    style: str
    joint: int = -1  # coordinate of the hinge or slide that it shows


class Face(NamedTuple):
    """A flat face between points, counterclockwise as seen from outside the shape."""

    points: tuple[int, ...]  # numbers of points
    style: str


@dataclass
class Bars:
    """Bars between points, with the body to which each point is fixed; -1 is the world."""

    skeleton: Skeleton
    places: list[np.ndarray] = field(default_factory=list)  # each shape (N, 3) [m]
    bodies: list[int] = field(default_factory=list)
    bars: list[RoundBar] = field(default_factory=list)
    faces: list[Face] = field(default_factory=list)

    @property
    def points(self) -> np.ndarray:
        """All points, shape (N, points, 3) [m]."""
        return np.stack(self.places, axis=1) if self.places else np.zeros((self.skeleton.t.size, 0, 3))

    def point(self, body: int, place: np.ndarray) -> int:
        """Number of a point that is fixed to a body, shape (N, 3) [m]."""
        for number, (other, known) in enumerate(zip(self.bodies, self.places, strict=True)):
            if other == body and max_distance(known, place) < _FLAT:
                return number
        self.places.append(place)
        self.bodies.append(body)
        return len(self.places) - 1

    def add(self, first: tuple[int, np.ndarray], last: tuple[int, np.ndarray], *style: float | str | int) -> None:
        """Add a bar between two points, each a body and positions."""
        self.bars.append(RoundBar(self.point(*first), self.point(*last), *style))  # pyright: ignore[reportArgumentType]

    def ball(self, body: int, place: np.ndarray, radius: float, style: str, joint: int = -1) -> None:
        """Add a ball around a point."""
        self.add((body, place), (body, place), radius, radius, style, joint)


class _Piece(NamedTuple):
    """A straight part of a link."""

    body: int  # that it belongs to
    first: tuple[int, np.ndarray]  # its ends: the body to which each is fixed, and positions
    last: tuple[int, np.ndarray]

    @property
    def length(self) -> float:
        return max_distance(*(place for _, place in (self.first, self.last)))


def bars_of(skeleton: Skeleton) -> Bars:
    """The stick figure as solid bars."""
    made = Bars(skeleton)
    pieces = [piece for piece in _pieces(skeleton) if piece.length > _FLAT]
    size = mechanism_size(skeleton)
    radii = _radii(skeleton, pieces, size)
    sides = [_side(body.name) for body in skeleton.model.bodies]
    for piece in pieces:
        thick = radii[piece.body]
        following = [
            radii[k] for k, place in _children(skeleton, piece.body) if max_distance(place, piece.last[1]) < _FLAT
        ]
        thin = min(max(_TAPER * thick, *following, 0.0), thick)
        made.add(piece.first, piece.last, thick, thin, sides[piece.body])
    _add_joints(made, radii, size)
    _add_ends(made, radii, size)
    _add_shapes(made)
    if not made.bars:  # a floating body of which only the centre of mass is known
        heavy = [k for k, body in enumerate(skeleton.model.bodies) if not body.mass.is_zero()]
        for k in heavy or range(len(skeleton.model.bodies)):
            mass = skeleton.model.bodies[k].mass
            volume = (float(mass) if mass.is_constant() else 1.0) / _WATER
            made.ball(k, skeleton.com[:, k], max((3 * volume / (4 * pi)) ** (1 / 3), _FLAT), "link")
    return made


def mechanism_size(skeleton: Skeleton) -> float:
    """The largest side of the box around the mechanism at one time [m], the largest over all times."""
    drawn = [k for k in range(len(skeleton.model.bodies)) if k not in skeleton.floats]
    parts = [skeleton.root[:, drawn], skeleton.origin[:, drawn], skeleton.end[:, drawn], skeleton.markers]
    places = np.concatenate(parts, axis=1)
    return max(float((places.max(axis=1) - places.min(axis=1)).max()), _FLAT)


def _pieces(skeleton: Skeleton) -> list[_Piece]:
    """Links from joint to joint and on to their ends, rails left out."""
    model, pieces = skeleton.model, []
    for k, parent in enumerate(model.parents):
        if k not in skeleton.floats and parent >= 0 and parent not in skeleton.floats:
            pieces.append(_Piece(parent, (parent, skeleton.start[:, k]), (parent, skeleton.root[:, k])))
        pieces.append(_Piece(k, (k, skeleton.slid[:, k]), (k, skeleton.origin[:, k])))
        pieces += [_Piece(k, (k, foot), (k, place)) for foot, place in skeleton.spurs_of(k)]
    return pieces


def _radii(skeleton: Skeleton, pieces: list[_Piece], size: float) -> np.ndarray:
    """Radius of the bars of every body [m], shape (n_bodies + 1,); the last is the world's."""
    radii = np.full(len(skeleton.model.bodies) + 1, _THIN * size)
    for k, body in enumerate(skeleton.model.bodies):
        lengths = [piece.length for piece in pieces if piece.body == k]
        if skeleton.far_ends[k][0].startswith(_COM) and len(lengths) == 1:
            lengths = [2 * lengths[0]]  # a body extends equally far beyond its centre of mass
        if lengths and body.mass.is_constant() and float(body.mass) > 0:
            thickness = (float(body.mass) / (_WATER * pi * sum(lengths))) ** 0.5
            radii[k] = min(max(thickness, 1.4 * _THIN * size), _THICK * size, max(_SLENDER * max(lengths), radii[k]))
    for k in reversed(range(len(skeleton.model.bodies))):
        if skeleton.model.bodies[k].mass.is_zero():
            radii[k] = max(radii[k], *(_BARE * radii[child] for child, _ in _children(skeleton, k)), 0.0)
    return radii


def _children(skeleton: Skeleton, k: int) -> list[tuple[int, np.ndarray]]:
    """The bodies that a body carries, skipping massless ones at the same place, and their joints."""
    model = skeleton.model
    children = []
    for child, parent in enumerate(model.parents):
        if parent != k:
            continue
        place = skeleton.root[:, child]
        below = _children(skeleton, child) if model.bodies[child].mass.is_zero() else []
        near = [(other, place) for other, at in below if max_distance(at, place) < _FLAT]
        children += near or [(child, place)]
    return children


def _add_joints(made: Bars, radii: np.ndarray, size: float) -> None:
    """Add hinges as short axles, or balls where several meet; slides as rails with sleeves."""
    skeleton, model = made.skeleton, made.skeleton.model
    many = _is_large(skeleton)
    hinges = [k for k in skeleton.hinges if not _free(skeleton, k)]
    places: list[tuple[np.ndarray, list[int]]] = []
    for k in hinges:
        near = next((group for place, group in places if max_distance(place, skeleton.root[:, k]) < _FLAT), None)
        places.append((skeleton.root[:, k], [k])) if near is None else near.append(k)
    for place, group in places:
        k, parent = group[-1], model.parents[group[0]]
        radius = max(radii[k], min(radii[parent], 1.5 * radii[k]) if parent >= 0 else 0.0)
        dof = model.dofs[group[0]]
        joint = -1 if dof is None else dof
        if many or len(group) > 1:
            style = _side(model.bodies[k].name) if many else "joint"
            made.ball(k, place, (1.0 if many else 1.25) * radius, style, joint)
            continue
        axle = skeleton.axis[:, k] * _AXLE[0] * radius
        made.add((parent, place - axle), (parent, place + axle), *2 * (_AXLE[1] * radius,), "joint", joint)
    for k in skeleton.slides:
        joint, radius = model.dofs[k], 1.2 * _THIN * size
        made.add((model.parents[k], skeleton.root[:, k]), (k, skeleton.slid[:, k]), *2 * (radius,), "rail")
        sleeve = skeleton.axis[:, k] * 2.6 * max(radii[k], radius)
        ends = (k, skeleton.slid[:, k] - sleeve), (k, skeleton.slid[:, k] + sleeve)
        made.add(*ends, *2 * (1.5 * max(radii[k], radius),), "joint", -1 if joint is None else joint)
    for first, second, slides in skeleton.ties:
        near, far = skeleton.origin[:, first], skeleton.origin[:, second]
        radius = max(radii[model.parents[first]], radii[model.parents[second]])
        if slides:
            made.add((first, near), (second, far), *2 * (_THIN * size,), "rail")
        made.ball(second, far, 1.2 * radius, "joint")


def _is_large(skeleton: Skeleton) -> bool:
    """Whether there are so many links that marks of joints and ends would clutter the figure."""
    return sum(not body.mass.is_zero() for body in skeleton.model.bodies) > _FEW


def _free(skeleton: Skeleton, k: int) -> bool:
    """Whether a hinge is part of a free floating base."""
    bodies, parents = skeleton.model.bodies, skeleton.model.parents
    while parents[k] >= 0 and bodies[parents[k]].mass.is_zero() and parents[k] not in skeleton.floats:
        k = parents[k]
    return parents[k] in skeleton.floats


def _add_ends(made: Bars, radii: np.ndarray, size: float) -> None:
    """Add attachments to the world, tips, and markers."""
    skeleton, model = made.skeleton, made.skeleton.model
    for k, parent in enumerate(model.parents):
        if parent < 0 and k not in skeleton.floats and not model.bodies[k].joint.moves:
            made.ball(-1, skeleton.root[:, k], 1.4 * max(radii[k], _THIN * size), "base")
    for k in skeleton.tips if not _is_large(skeleton) else ():
        name, end = skeleton.far_ends[k]
        if max_distance(end, skeleton.slid[:, k]) > _FLAT:
            bob = name.startswith(_COM)
            made.ball(k, end, (1.6 if bob else 0.9) * radii[k], _side(model.bodies[k].name) if bob else "tip")
    for number, (body, _) in enumerate(model.markers.values()):
        k = model.index(body)
        made.ball(k, skeleton.markers[:, number], max(0.6 * radii[k], 0.7 * _THIN * size), "marker")


def _add_shapes(made: Bars) -> None:
    """Add shapes that are kept apart, those in the world as obstacles: bars, or faces with round bars as edges."""
    skeleton = made.skeleton
    for shape, solid in zip(skeleton.shapes, skeleton.solids, strict=True):
        k = -1 if shape.body is None else skeleton.model.index(shape.body)
        style, radius = "obstacle" if k < 0 else "shape", float(np.nanmax(solid.radius))
        places = np.moveaxis(solid.corners, 1, 0)
        if len(places) <= 2:
            made.add((k, places[0]), (k, places[-1]), radius, radius, style)
            continue
        edges = set()
        for face in solid.faces:
            outwards = radius * face_normals(places[face])
            made.faces.append(Face(tuple(made.point(k, place + outwards) for place in places[face]), style))
            edges |= {(min(a, b), max(a, b)) for a, b in zip(face.tolist(), np.roll(face, -1).tolist(), strict=True)}
        for a, b in sorted(edges) if radius > 0 else ():
            made.add((k, places[a]), (k, places[b]), radius, radius, style)


def _side(name: str) -> str:
    """The style of a link, by the side of the body at the end of its name."""
    return next((side for side, ends in _SIDES.items() if name.lower().endswith(ends)), "link")
