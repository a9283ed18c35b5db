"""Forces of muscles on bodies, and their pull across a joint.

A muscle of tension T and length L acts on a body with the wrench -T dL/dx, where x is a small displacement of the body
by itself: the principle of virtual work. It holds for points, for surfaces that a path wraps round, and for conditional
points. The pull across a joint is the sum of these wrenches over the body and all bodies that it carries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Displaced, Instant, Reaction
from colloc.model import Model
from colloc.muscles.muscle import Muscle
from colloc.muscles.path import symbolic_instant

_NOTHING = 1e-9  # newtons per newton of tension: rounding
_POSTURES = 3  # at which the sum of the wrenches of a muscle is looked at


class BodyWrenches(NamedTuple):
    """Wrenches of muscles on bodies for a tension of one newton.

    Parameters
    ----------
    q : SX, shape (n_q,)
        Symbols of the positions.
    by_body : tuple of dict of int to SX, shape (6,) [1, m]
        For each muscle, by the index of a body: force, and moment about the link's origin, in the axes of the link.
        Empty for a muscle whose length depends on coordinates only.
    from_world : tuple of bool
        Whether a muscle is attached to the world as well.
    """

    q: ca.SX
    by_body: tuple[dict[int, ca.SX], ...]
    from_world: tuple[bool, ...]


def body_wrenches(model: Model, muscles: Sequence[Muscle], postures: np.ndarray) -> BodyWrenches:
    """Wrenches of muscles at a symbolic posture; whether they sum to zero is looked at in a few numeric ones."""
    now = symbolic_instant(model)
    symbols = ca.SX.sym("x", 6, len(model.bodies))
    arguments = now.t, now.duration, now.q, now.qd, now.qdd, now.tau
    displaced = Displaced(model, *arguments, displacements=symbols)
    by_body, from_world = [], []
    for muscle in muscles:
        line: Any = getattr(muscle.path, "line", None) or muscle.path
        length = ca.SX(line(displaced))
        touched = sorted({column // 6 for column in ca.jacobian_sparsity(length, ca.vec(symbols)).get_triplet()[1]})
        columns = [symbols[:, k] for k in touched]
        slopes = ca.substitute(
            [ca.gradient(length, x) for x in columns], [ca.vec(symbols)], [ca.SX.zeros(symbols.numel())]
        )
        wrenches = {k: -slope for k, slope in zip(touched, slopes, strict=True)}
        by_body.append(wrenches)
        from_world.append(_unbalanced(now, wrenches, postures))
    return BodyWrenches(now.q, tuple(by_body), tuple(from_world))


def _unbalanced(now: Instant, wrenches: dict[int, ca.SX], postures: np.ndarray) -> bool:
    """Whether the forces on the bodies leave a force for the world; assumed where numbers are unknown."""
    names = [body.name for body in now.model.bodies]
    total = sum((now.rotation(names[k]) @ wrench[:3] for k, wrench in wrenches.items()), ca.SX(3, 1))
    function = ca.Function("total", [now.q], [total], {"allow_free": True})
    if function.has_free():
        return True
    return bool(np.abs(function.map(len(postures[:_POSTURES]))(postures[:_POSTURES].T).full()).max() > _NOTHING)


def crossing(wrenches: BodyWrenches, carried: set[int]) -> list[int]:
    """Numbers of the muscles that act both on a set of bodies and on others or the world."""
    pairs = zip(wrenches.by_body, wrenches.from_world, strict=True)
    return [
        k for k, (bodies, world) in enumerate(pairs) if carried & bodies.keys() and (world or bodies.keys() - carried)
    ]


def carried_by(model: Model, index: int) -> set[int]:
    """Indices of a body and of all that it carries."""
    carried = {index}
    for k, parent in enumerate(model.parents):
        if parent in carried:
            carried.add(k)
    return carried


def joint_pull(now: Instant, index: int, wrenches: BodyWrenches, muscles: Sequence[int], tensions: ca.SX) -> Reaction:
    """Pull of some muscles on a body and all that it carries, as a `Reaction`.

    Parameters
    ----------
    now : Instant
    index : int
        Of the body.
    wrenches : BodyWrenches
    muscles : sequence of int
        Numbers of those that cross the joint.
    tensions : SX, shape (m,) [N]
        Of all muscles.
    """
    model, carried = now.model, carried_by(now.model, index)
    parent, before = model.parents[index], model.bodies[index].joint.before[:3, 3]
    origin = before if parent < 0 else now.point(model.bodies[parent].name, before).position
    touched = sorted({body for k in muscles for body in wrenches.by_body[k]} & carried)
    sums = [
        sum((tensions[k] * wrenches.by_body[k][body] for k in muscles if body in wrenches.by_body[k]), ca.SX(6, 1))
        for body in touched
    ]
    symbols = ca.SX.sym("w", 6, len(touched))
    force, moment = ca.SX(3, 1), ca.SX(3, 1)
    for column, body in enumerate(touched):
        frame = now.frame(model.bodies[body].name)
        pushed = frame[:3, :3] @ symbols[:3, column]
        force += pushed
        moment += frame[:3, :3] @ symbols[3:, column] + ca.cross(frame[:3, 3] - origin, pushed)
    to_body = now.rotation(model.bodies[index].name).T
    wrench = ca.substitute(ca.horzcat(*sums), wrenches.q, now.q)
    whole = ca.substitute(to_body @ ca.horzcat(force, moment), ca.vec(symbols), ca.vec(wrench))
    return Reaction(whole[:, 0], whole[:, 1])
