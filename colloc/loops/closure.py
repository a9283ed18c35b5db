"""Residual of a loop, its Jacobian and their derivatives, from the screws of the joints between its two frames.

Lee, Kim, Park, Kim and Bobrow (2005), appendix. The joints of the path from the first frame to the second have the
screws z_1, z_2, ... in the first frame, numbered from there; joints on the first frame's side count backwards, with a
minus. They are the columns of the space Jacobian (equation 80), and G, the transform between the frames, has

    dG/dq_l = Z_l G,    d2G/dq_l dq_m = Z_l Z_m G    for l <= m,    dz_m/dq_l = ad(z_l) z_m for l < m, else 0

with Z the 4x4 matrix of z (equation 81; 82 applies it twice). Only time derivatives are formed: along a motion with the
twist V before joint l, relative to the first frame (equation 83),

    z_l' = ad(V) z_l,    z_l'' = ad(V') z_l + ad(V) z_l',    G' = [V] G,    G'' = ([V'] + [V] [V]) G.

They suffice, because derivatives by a coordinate and by time commute: the derivatives of phi'' by q, qd and qdd are the
rows J'', 2 J' and J, and the Jacobian of J w for a given w is J' of the motion with the rates w.

The three screws of a ball joint on a quaternion are axes of its link and turn with it: V is that of the link for all of
them. J is then by small turns, which do not commute: with A(w) = -omega x at ball joints (`Model.displacement_rates`)
and zero elsewhere, the Jacobian of J w gains J A(w), and that of J' mu is H - A(J' mu) / 2, with H symmetric.

The rows are phi_k = tr(G M_k), so that tr(Z Y) = z . wrench(Y) gives

    J_kl = z_l . f_k,  f_k = wrench(G M_k),    H_lm = z_l . wrench(Z_m G M)  for l <= m,  M = sum of mu_k M_k

where H is the Hessian of mu' phi; between the turns of a ball joint the mean of both orders. The wrench f_k, in the
first frame and about its origin, is the one that a unit multiplier of row k puts on the second body. The paper welds
the frames (f_k constant).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.liegroup.twists import Ad, ad, link_screw
from colloc.loops.loop import Loop
from colloc.model import Body, Model
from colloc.model.ball import BallScrew
from colloc.model.joint import Joint
from colloc.model.kinematics import Jet
from colloc.model.transforms import inverse
from colloc.support.checks import InputError


class JointPath(NamedTuple):
    """The joints between the frames of a loop at one posture."""

    dofs: tuple[int, ...]  # their coordinates, from the first frame to the second
    screws: list[ca.SX]  # each shape (6,); z, (angular; linear), in the first frame and about its origin, per rate of q
    transform: ca.SX  # shape (4, 4); G, from the second frame to the first
    groups: tuple[tuple[slice, bool], ...]  # screws that turn as one, of a ball joint three, and whether with its turns

    @property
    def order(self) -> ca.DM:
        """Shape (joints, joints): 1 where a joint comes before another, half of it within a group, else 0."""
        joints = len(self.dofs)
        order = ca.DM(np.triu(np.ones((joints, joints))))
        for group, _ in self.groups:
            order[group, group] = 0.5
        return ca.sparsify(order)


class MovingJointPath(NamedTuple):
    """A path in motion."""

    still: JointPath
    screws: Jet  # each shape (6, joints)
    transform: Jet  # each shape (4, 4)


def joint_path(model: Model, loop: Loop, q: ca.SX) -> JointPath:
    """The joints between the frames of a loop at q, SX, shape (n_q,); InputError for a body that does not exist."""
    return joint_paths(model, [loop], q)[0]


def joint_paths(model: Model, loops: Sequence[Loop], q: ca.SX) -> list[JointPath]:
    """`joint_path` of several loops, which share the transforms of joints."""
    steps = model.joint_motions(q)
    bodies = {k for loop in loops for branch in _branches(model, loop) for k in branch}
    transforms = {k: steps[k][1].joint.transform(steps[k][3].position) for k in sorted(bodies)}
    return [_joint_path(model, loop, transforms) for loop in loops]


def _joint_path(model: Model, loop: Loop, transforms: Mapping[int, ca.SX]) -> JointPath:
    """The joints between the frames of a loop, with the transforms of the joints by body."""
    up, down = _branches(model, loop)
    x = inverse(loop.first.placement)
    dofs: list[int] = []
    screws: list[ca.SX] = []
    groups: list[tuple[slice, bool]] = []
    for k in up:
        body, dof = model.bodies[k], model.dofs[k]
        if dof is not None:
            dofs.append(dof)
            screws.append(-Ad(x) @ (_ratio(model, body) * link_screw(body.joint)))
            _count_in(groups, body.joint, first=2)
        x = x @ inverse(transforms[k])
    for k in down:
        body, dof = model.bodies[k], model.dofs[k]
        x = x @ transforms[k]
        if dof is not None:
            dofs.append(dof)
            screws.append(Ad(x) @ (_ratio(model, body) * link_screw(body.joint)))
            _count_in(groups, body.joint, first=0)
    return JointPath(tuple(dofs), screws, x @ loop.second.placement, tuple(groups))


def _count_in(groups: list[tuple[slice, bool]], joint: Joint, first: int) -> None:
    """Append the next screw of a path to the groups; `first` is the first turn of a ball joint on the path."""
    start = groups[-1][0].stop if groups else 0
    if not isinstance(joint, BallScrew):
        groups.append((slice(start, start + 1), False))
    elif joint.axis_index == first:
        groups.append((slice(start, start + 3), first == 0))  # downwards its link, with the axes, lies behind it


def _ratio(model: Model, body: Body) -> float:
    """Rate of a body's joint per rate of its coordinate."""
    coupling = model.couplings.get(body.joint_name)
    if coupling is None:
        return 1.0
    if coupling.curve is not None:
        raise InputError(
            f"joint {body.joint_name!r} of a loop follows joint {coupling.joint!r} by a curve: in loops joints follow "
            "by a ratio and an offset only"
        )
    return coupling.ratio


def _branches(model: Model, loop: Loop) -> tuple[list[int], list[int]]:
    """Bodies from that of the first frame to the common ancestor, and from there to that of the second."""
    chains: list[list[int]] = []
    for frame in (loop.first, loop.second):
        k = -1 if frame.body is None else model.index(frame.body)
        chain = []
        while k >= 0:
            chain.append(k)
            k = model.parents[k]
        chains.append(chain)
    shared = set(chains[0]) & set(chains[1])
    up, down = ([k for k in chain if k not in shared] for chain in chains)
    return up, down[::-1]


def moving(still: JointPath, qd: ca.SX, qdd: ca.SX) -> MovingJointPath:
    """The path with the rates of its screws and of its transform at qd and qdd, SX, shape (n,)."""
    v, a = ca.SX(6, 1), ca.SX(6, 1)
    rates, seconds = [], []
    for group, with_it in still.groups:
        dofs, screws = still.dofs[group], still.screws[group]
        behind = sum((z * qd[dof] for dof, z in zip(dofs, screws, strict=True)), v)
        axes = behind if with_it else v
        turned = [ad(axes) @ z for z in screws]
        gains = zip(dofs, screws, turned, strict=True)
        beyond = sum((z * qdd[dof] + rate * qd[dof] for dof, z, rate in gains), a)
        changes = beyond if with_it else a
        rates += turned
        seconds += [ad(changes) @ z + ad(axes) @ rate for z, rate in zip(screws, turned, strict=True)]
        v, a = behind, beyond
    columns = Jet(*(ca.horzcat(ca.SX(6, 0), *part) for part in (still.screws, rates, seconds)))
    g, spin = still.transform, _matrix(v)
    return MovingJointPath(still, columns, Jet(g, spin @ g, (_matrix(a) + spin @ spin) @ g))


def residual(loop: Loop, transform: ca.SX) -> ca.SX:
    """The residual of a closure, SX, shape (rows,) [m, rad], at G of `JointPath`; zero where the loop is closed."""
    return ca.vertcat(*(ca.trace(transform @ ca.SX(form)) for form in loop.forms))


def loop_jacobian(loop: Loop, n: int, moved: MovingJointPath) -> Jet:
    """Jacobian by the model's n displacements of the residual and its rates, each shape (rows, n), sparse."""
    forms = [ca.sparsify(ca.SX(form)) for form in loop.forms]
    wrenches = Jet(*(ca.horzcat(*(_wrench(g @ form) for form in forms)).T for g in moved.transform))
    rows = []
    for part in _product(wrenches, moved.screws):
        rows.append(ca.sparsify(part @ _columns_of(moved, n)))
    return Jet(*rows)


def loop_hessian(loop: Loop, n: int, moved: MovingJointPath, multipliers: ca.SX) -> Jet:
    """Hessian by displacements of multipliers' residual and its rates, each shape (n, n), sparse, symmetric.

    The multipliers, SX, shape (rows,), are constant along the motion.
    """
    form = _weighted(loop, multipliers)
    moments = Jet(*(g @ form for g in moved.transform))
    columns: list[Jet] = []
    for m in range(len(moved.still.dofs)):
        z = Jet(*(_matrix(part[:, m]) for part in moved.screws))
        columns.append(Jet(*map(_wrench, _product(z, moments))))
    wrenches = Jet(*(ca.horzcat(ca.SX(6, 0), *part) for part in zip(*columns, strict=True)))
    blocks = []
    order, columns_of = moved.still.order, _columns_of(moved, n)
    for part in _product(Jet(*(z.T for z in moved.screws)), wrenches):
        half = order * part
        blocks.append(ca.sparsify(columns_of.T @ (half + half.T) @ columns_of))
    return Jet(*blocks)


def _columns_of(moved: MovingJointPath, n: int) -> ca.DM:
    """Matrix from joints of a path to coordinates, shape (joints, n): two joints of a row may have the same one."""
    joints = len(moved.still.dofs)
    return ca.DM.triplet(list(range(joints)), list(moved.still.dofs), [1.0] * joints, joints, n)


def loop_wrench(loop: Loop, transform: ca.SX, multipliers: ca.SX) -> ca.SX:
    """Wrench that the first body exerts on the second, SX, shape (6,), for multipliers [N, N m] at G of `JointPath`.

    Moment [N m] about the origin of the second frame, then force [N]; both in the axes of the first frame.
    """
    wrench = _wrench(transform @ _weighted(loop, multipliers))
    moment, force = wrench[:3], wrench[3:]
    return ca.vertcat(moment - ca.cross(transform[:3, 3], force), force)


def stacked(parts: Sequence[Jet]) -> Jet:
    """Rows of several Jacobians below one another."""
    return Jet(*(ca.vertcat(*part) for part in zip(*parts, strict=True)))


def _weighted(loop: Loop, multipliers: ca.SX) -> ca.SX:
    """Sum of mu_k M_k, SX, shape (4, 4)."""
    total = ca.SX(4, 4)
    for k, form in enumerate(loop.forms):
        total += multipliers[k] * ca.sparsify(ca.SX(form))
    return total


def _product(x: Jet, y: Jet) -> Jet:
    return Jet(
        x.value @ y.value,
        x.rate @ y.value + x.value @ y.rate,
        x.second @ y.value + 2 * x.rate @ y.rate + x.value @ y.second,
    )


def _matrix(twist: ca.SX) -> ca.SX:
    """Twist (6,) as a matrix (4, 4) (equation 11)."""
    return ca.blockcat([[ca.sparsify(ca.skew(twist[:3])), twist[3:]], [ca.SX(1, 3), ca.SX(1, 1)]])


def _wrench(y: ca.SX) -> ca.SX:
    """The wrench (6,) whose product with every twist z is tr(Z y)."""
    return ca.vertcat(y[1, 2] - y[2, 1], y[2, 0] - y[0, 2], y[0, 1] - y[1, 0], y[3, :3].T)
