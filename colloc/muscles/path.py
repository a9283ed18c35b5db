"""Paths of muscles over the skeleton, and their lengths as functions of the posture.

A path is straight from point to point, or wraps round a surface between two of them. Moment arms are the exact
derivatives of its length, so that work is conserved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Model
from colloc.model.transforms import inverse
from colloc.muscles.wrapping import HALF, Surface, Wrap, apart, length_round
from colloc.support.checks import (
    InputError,
    as_tuple,
    function,
    instance,
    interval,
    spelt,
    symbolic,
    text,
    unknown_name,
)
from colloc.support.pickling import Portable

_SWEEPS = 2  # over several surfaces between two points


@spelt
@dataclass(frozen=True, eq=False)
class ViaPoint(Portable):
    """A point of a body through which a muscle passes, always or within a range of a joint's coordinate.

    Parameters
    ----------
    body : str or None
        None for the world.
    position : shape (3,) or callable [m]
        In the link frame; for a point that moves in its body a function of the instant, of its positions alone.
    joint : str, optional
        The joint of a conditional point. The length jumps where the point appears or disappears, which optimisation
        cannot handle: `fit_lengths` makes it smooth.
    within : (float, float) [rad] or [m]
        Range of that joint's coordinate in which the muscle passes through the point.

    See Also
    --------
    MusclePath

    Examples
    --------
    >>> behind = co.muscles.ViaPoint("elbow", (-0.38, 0.03, 0.0), joint="elbow", within=(-2.5, -0.2))
    >>> sliding = co.muscles.ViaPoint("elbow", lambda now: ca.vertcat(-0.38, 0.03 + 0.01 * now.q[1], 0.0))
    """

    body: str | None
    position: Any
    joint: str | None = None
    within: tuple[float, float] | None = None

    def __post_init__(self):
        if self.body is not None:
            text("body of a via point", self.body)
        if callable(self.position):
            function("position of a via point", self.position, "a function of the instant", "now")
        else:
            object.__setattr__(self, "position", symbolic("position of a via point", self.position, (3, 1)))
        if (self.joint is None) != (self.within is None):
            raise InputError("a conditional via point needs both joint and within")
        if self.within is not None:
            text("joint of a via point", self.joint)
            lower, upper = interval("within of a via point", *self.within, ())
            object.__setattr__(self, "within", (float(lower), float(upper)))

    def present(self, now: Instant) -> ca.SX:
        """1 where the muscle passes through the point, 0 elsewhere."""
        if self.joint is None or self.within is None:
            return ca.SX(1)
        q = coordinate(now, self.joint)
        return ca.logic_and(q >= self.within[0], q <= self.within[1])

    def place(self, now: Instant) -> ca.SX:
        """Position in the world, SX, shape (3,) [m]."""
        return self.local(now) if self.body is None else now.point(self.body, self.local(now)).position

    def local(self, now: Instant) -> ca.SX:
        """Position in the link frame, SX, shape (3,) [m]."""
        return self.position if isinstance(self.position, ca.SX) else ca.SX(self.position(now))


@spelt
@dataclass(frozen=True, eq=False)
class MusclePath(Portable):
    """A path from origin to insertion: points, and surfaces between them.

    Parameters
    ----------
    points : sequence of ViaPoint, Cylinder, Sphere, Ellipsoid and Torus
        In the order of the path, with points at the ends. Several surfaces may lie between two points.

    Notes
    -----
    The path round a surface is that of OpenSim, with four differences. A point inside a surface is taken as on it,
    where OpenSim's path jumps to a straight line. Where a surface has a side, the path stays round a sphere as well as
    a cylinder after the straight line has left it, as in MuJoCo, where OpenSim's path jumps; and it never takes the
    longer way to the other side, as OpenSim's does in some postures. The length round two surfaces is that of the path
    through their points of contact; OpenSim 4.6 states up to 12 mm less, which its moment arms do not follow.

    Muscles pull on bodies by the derivatives of the length. Round cylinders and spheres these are unit vectors along
    the shortest path. OpenSim's points of contact on a cylinder are beside it: its pulls differ by 1 % of the tension.

    See Also
    --------
    fit_lengths

    Examples
    --------
    >>> origin = co.muscles.ViaPoint(None, (0.0, 0.05, 0.0))
    >>> insertion = co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0.0))
    >>> path = co.muscles.MusclePath([origin, insertion])
    >>> solution.evaluate(path, [0.0, 0.2]).round(3)  # m
    array([0.411, 0.35 ])
    """

    points: Sequence[ViaPoint | Surface]

    def __post_init__(self):
        points = as_tuple("points of a path", self.points)
        for k, point in enumerate(points):
            instance(f"points[{k}] of a path", point, ViaPoint | Surface)
        firm = [isinstance(point, ViaPoint) and point.within is None for point in points]
        if not (len(points) > 1 and firm[0] and firm[-1]):
            raise InputError("a path needs an unconditional ViaPoint at both ends")
        object.__setattr__(self, "points", points)

    def __repr__(self) -> str:
        return f"MusclePath({len(self.points)} points, {' to '.join(self.points[k].body or 'world' for k in (0, -1))})"

    def __call__(self, now: Instant) -> ca.SX:
        """Length from origin to insertion at an instant, SX, scalar [m]; a function of positions alone."""
        now = replace(now, q=others_at_rest(now.model, now.q, self.crossed(now.model)))
        points = [(k, point) for k, point in enumerate(self.points) if isinstance(point, ViaPoint)]
        places, present = [point.place(now) for _, point in points], [point.present(now) for _, point in points]
        total = ca.SX(0)
        for first, (k, _) in enumerate(points):
            there = present[first]
            for second in range(first + 1, len(points)):
                surfaces = [part for part in self.points[k : points[second][0]] if not isinstance(part, ViaPoint)]
                straight_on = there * present[second]
                total += straight_on * _distance(now, places[first], places[second], surfaces)
                if points[second][1].within is None:
                    break
                there *= 1 - present[second]
        return total

    def places(self, now: Instant) -> ca.SX:
        """Its points in the world, SX, shape (3, points) [m]; an absent point lies on the one before."""
        places: list[ca.SX] = []
        for point in (point for point in self.points if isinstance(point, ViaPoint)):
            place = point.place(now)
            places.append(place if point.within is None else ca.if_else(point.present(now), place, places[-1]))
        return ca.horzcat(*places)

    def crossed(self, model: Model) -> list[int]:
        """Indices of the coordinates on which the length depends: of joints between its bodies, and of its points."""
        points = [point for point in self.points if isinstance(point, ViaPoint)]
        crossed = between(model, [point.body for point in self.points])
        now = symbolic_instant(model)
        conditions = [coordinate(now, point.joint) for point in points if point.joint is not None]
        expressions = ca.vertcat(*(point.local(now) for point in points), *conditions)
        return sorted(crossed.union(ca.jacobian_sparsity(expressions, now.q).get_triplet()[1]))


def coordinate(now: Instant, joint: str) -> ca.SX:
    """Coordinate of a joint, which may follow another, SX, scalar [rad] or [m]."""
    model = now.model
    if joint in model.position_names:
        return now.q[model.position_names.index(joint)]
    if joint not in model.tree.position_names:
        raise unknown_name("joint that moves", joint, model.tree.position_names)
    return model.coupled_motion(now.q).positions[model.tree.position_names.index(joint)]


def between(model: Model, bodies: Sequence[str | None]) -> set[int]:
    """Indices of the coordinates of joints between bodies; None is the world."""
    chains = [set(_ancestors(model, body)) for body in bodies]
    joints = set.union(*chains) - set.intersection(*chains)
    return {index for k in joints for index in range(model.n_q)[model.places[k]]}


def symbolic_instant(model: Model) -> Instant:
    """An instant of symbols."""
    t, duration, q = ca.SX.sym("t"), ca.SX.sym("duration"), ca.SX.sym("q", model.n_q)
    qd, qdd, tau = (ca.SX.sym(name, model.n) for name in ("qd", "qdd", "tau"))
    return Instant(model, t, duration, q, qd, qdd, tau)


def random_postures(model: Model, number: int) -> np.ndarray:
    """Random postures within the limits of the joints, the neutral one first, shape (number, n_q).

    Joints without limits are up to 1 rad or 1 m away from neutral, and so are the turns of ball joints on quaternions.
    """
    lower, upper = (
        np.where(np.isfinite(end), end - model.neutral, way)
        for way, end in zip((-1.0, 1.0), model.limits("position"), strict=True)
    )
    places = {name: k for k, name in enumerate(model.position_names)}
    low, high = (
        np.array([end[places[joint]] if joint in places else way for joint in model.joint_names])
        for way, end in ((-1.0, lower), (1.0, upper))
    )
    moves = np.random.default_rng(0).uniform(low, np.maximum(low, high), (number - 1, model.n))
    return np.vstack([model.neutral, model.displaced(np.tile(model.neutral, (number - 1, 1)), moves)])


def _ancestors(model: Model, body: str | None) -> list[int]:
    chain = [] if body is None else [model.index(body)]
    while chain and model.parents[chain[-1]] >= 0:
        chain.append(model.parents[chain[-1]])
    return chain


def others_at_rest(model: Model, q: ca.SX, crossed: Sequence[int]) -> ca.SX:
    """Coordinates with zero for joints that are not crossed, so that no terms cancel in expressions."""
    masked = ca.SX(model.neutral)
    for k in crossed:
        masked[k] = q[k]
    return masked


def _distance(now: Instant, start: ca.SX, end: ca.SX, surfaces: Sequence[Surface]) -> ca.SX:
    """Length from one point to another, round surfaces between them in their order."""
    if len(surfaces) < 2:
        body = surfaces[0].body if surfaces else None
        start, end = (seen_from(now, body, point) for point in (start, end))
        return length_round(surfaces[0], start, end) if surfaces else apart(start, end)
    return _round_several(now, start, end, surfaces)


def _round_several(now: Instant, start: ca.SX, end: ca.SX, surfaces: Sequence[Surface]) -> ca.SX:
    """Length round several surfaces: each in turn, between the points where the path leaves and meets its neighbors."""
    touched: list[Wrap | None] = [None] * len(surfaces)
    alone: list[Wrap | None] = [None] * len(surfaces)

    def neighbor(k: int, way: int) -> ca.SX:
        """The nearest point of the path before or after a surface, in the world."""
        others = range(k - 1, -1, -1) if way < 0 else range(k + 1, len(surfaces))
        point = start if way < 0 else end
        for other in reversed(others):
            if (wrap := touched[other]) is not None:
                point = ca.if_else(wrap.share > HALF, wrap.last if way < 0 else wrap.first, point)
        return point

    for sweep in range(_SWEEPS + 1):  # the first is for each alone
        for k, surface in enumerate(surfaces):
            pieces = (neighbor(k, -1), neighbor(k, 1)) if sweep else (start, end)
            wrap = surface.wrap(*(seen_from(now, surface.body, point) for point in pieces))
            alone[k] = wrap._replace(
                first=_seen_in_world(now, surface.body, wrap.first), last=_seen_in_world(now, surface.body, wrap.last)
            )
            if sweep:
                touched[k] = alone[k]
        touched = list(alone)
    total, place = ca.SX(0), start
    for k, wrap in enumerate(wrap for wrap in touched if wrap is not None):
        after, touches = neighbor(k, 1), wrap.share > HALF
        bent = apart(place, wrap.first) + wrap.length
        rounded = (wrap.share - touches) * (bent + apart(wrap.last, after) - apart(place, after))
        total += ca.if_else(touches, bent, 0) + rounded
        place = ca.if_else(touches, wrap.last, place)
    return total + apart(place, end)


def seen_from(now: Instant, body: str | None, point: ca.SX) -> ca.SX:
    """A point of the world in the link frame of a body."""
    if body is None:
        return point
    to_body = inverse(now.frame(body))
    return to_body[:3, :3] @ point + to_body[:3, 3]


def _seen_in_world(now: Instant, body: str | None, point: ca.SX) -> ca.SX:
    return point if body is None else now.frame(body)[:3, :3] @ point + now.frame(body)[:3, 3]
