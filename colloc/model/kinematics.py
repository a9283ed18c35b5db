"""Motion of frames and points: the 4x4 forward recursion A, B, C."""

from __future__ import annotations

import weakref
from typing import Any, NamedTuple

import casadi as ca

from colloc.model.tree import Model
from colloc.support.checks import instance, spelt, symbolic


class Jet(NamedTuple):
    """A point, vector, screw or matrix with its first two time derivatives, SX, each of the same shape."""

    value: ca.SX
    rate: ca.SX
    second: ca.SX


class Frames(NamedTuple):
    """Transforms link -> world of every body and their time derivatives, SX, each shape (4, 4)."""

    position: list[ca.SX]
    velocity: list[ca.SX]
    acceleration: list[ca.SX]


class PointMotion(NamedTuple):
    """Position [m], velocity [m/s] and acceleration [m/s2] of a point in the world frame, SX, each shape (3,).

    Examples
    --------
    >>> solution.evaluate(lambda now: now.point("elbow", (0, 0, 0)).velocity, 0.2).round(2)
    array([2.7 , 1.83, 0.  ])
    """

    position: ca.SX
    velocity: ca.SX
    acceleration: ca.SX


# The recursion as functions of each model, by which of q, qd, qdd are zero: calls take a tenth of the time. None of a
# model with symbols of its own.
_functions: weakref.WeakKeyDictionary[Model, dict[tuple[int, ...], ca.Function | None]] = weakref.WeakKeyDictionary()


def frames(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Frames:
    """Position, velocity and acceleration transforms of every link frame, for q, qd, qdd, SX, shape (n,).

    A_j = A_p T_j and its time derivatives B_j, C_j with p the parent of j (Xiang et al. 2009, equations 12 to 14; for
    trees, Zhakatayev et al. 2023, equation 5).
    """
    motion = [q, qd, qdd]
    if any(part.nnz() not in (0, part.numel()) for part in motion):
        return _frames(model, *motion)
    functions, key = _functions.setdefault(model, {}), tuple(part.nnz() for part in motion)
    if key not in functions:
        symbols = [ca.SX.sym("x", part.sparsity()) for part in motion]
        transforms = [transform for parts in _frames(model, *symbols) for transform in parts]
        function = ca.Function("frames", symbols, transforms, {"allow_free": True})
        functions[key] = None if function.has_free() else function
    if (function := functions[key]) is None:
        return _frames(model, *motion)
    transforms, n = function.call(motion), len(model.bodies)
    return Frames(*(transforms[k * n : (k + 1) * n] for k in range(3)))


def _frames(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Frames:
    world = (ca.SX.eye(4), ca.SX(4, 4), ca.SX(4, 4))
    links: list[tuple[ca.SX, ca.SX, ca.SX]] = []
    for _, body, parent, (position, rate, change) in model.joint_motions(q, qd, qdd):
        parent_motion = world if parent < 0 else links[parent]
        links.append(carry(parent_motion, body.joint.transform(position), body.joint.twist, rate, change))
    return Frames(*map(list, zip(*links, strict=True)))


def carry(
    parent_motion: tuple[ca.SX, ca.SX, ca.SX], transform: ca.SX, twist: ca.SX, rate: ca.SX, change: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """A, B, C of a link, SX, shape (4, 4), from those of its parent, or their derivatives by an ancestor's coordinate.

    The joint has the transform T at its coordinate and the constant body twist Xi: dT/dq = T Xi, d2T/dq2 = T Xi Xi;
    rate and change are derivatives of the coordinate, structural zeros for a fixed joint.
    """
    position, velocity, acceleration = (x @ transform for x in parent_motion)
    faster = velocity + rate * (position @ twist)
    # 2 qd B T Xi + qd^2 A T Xi Xi + qdd A T Xi, of which the first two are qd (B T + B_i) Xi.
    return position, faster, acceleration + (rate * (velocity + faster) + change * position) @ twist


@spelt
def point_motion(
    model: Model, body: str, point: Any = (0, 0, 0), *, q: ca.SX, qd: ca.SX | None = None, qdd: ca.SX | None = None
) -> PointMotion:
    """Motion of a point fixed in a link, in the world frame.

    Parameters
    ----------
    model : Model
    body : str
        Or the name of a marker.
    point : shape (3,) [m]
        In the link frame; the frame's origin by default.
    q, qd, qdd : SX, shape (n,)
        Rates left out are zero.

    Raises
    ------
    InputError
        For a body that does not exist or a point of another shape.

    Examples
    --------
    >>> q = ca.SX.sym("q", 2)
    >>> position = co.model.point_motion(problem.model, "elbow", q=q).position
    >>> ca.Function("hand", [q], [position])([0.0, np.pi / 2])
    DM([0.4, 0.4, 0])
    """
    index, place = instance("model", model, Model).in_link(body, point)
    size, zero = (model.n, 1), ca.SX(model.n, 1)
    qd, qdd = (zero if v is None else symbolic(k, v, size) for k, v in (("qd", qd), ("qdd", qdd)))
    return point_in(frames(model, symbolic("q", q, (model.n_q, 1)), qd, qdd), index, place)


def frame_in(transforms: list[ca.SX], model: Model, name: str) -> ca.SX:
    """Transform to the world, SX, shape (4, 4), of a body or of a marker, which has the axes of its body."""
    index, origin = model.in_link(name)
    link = transforms[index]
    return link if origin.is_zero() else ca.horzcat(link[:, :3], link @ ca.vertcat(origin, 1))


def point_in(moving: Frames, index: int, point: Any) -> PointMotion:
    """Motion of a point of body number `index`, from frames already computed."""
    local = ca.vertcat(symbolic("point", point, (3, 1)), 1)
    return PointMotion(*((transforms[index] @ local)[:3] for transforms in moving))
