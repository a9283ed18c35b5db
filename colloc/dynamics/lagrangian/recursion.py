"""Recursive Lagrangian inverse dynamics in 4x4 homogeneous transforms.

Xiang et al. (2009), equations 12 to 20 (after Hollerbach 1980), for trees as in Zhakatayev et al. (2023), with a
load on every link.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_rows, of_tree
from colloc.model import Load, Model
from colloc.model.joint import sparse_vector
from colloc.model.kinematics import frames


@of_state
@of_tree(by_rows)
def lagrange(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Actuator torques that produce a motion; parameters as in `newton_euler`.

    Forward: A, B, C of every link. Backward, from the tips to the base: D (inertia), E (gravity), F (forces) and
    G (moments). F is kept as the 4x4 sum of r f' rather than the 4-vector of equation 19, so that loads on several
    links, each with its own force, share one recursion. The signs are those of the actuator: the environment's
    loads enter with a minus.

    Examples
    --------
    >>> torque = ca.Function("torque", [q, qd, qdd], [co.dynamics.lagrange(model, q, qd, qdd)])
    >>> torque([0.0, 0.0], 0.0, 0.0)  # holds the arm stretched out: 9.81 (0.5 0.2 + 0.5 0.6), 9.81 0.5 0.2
    DM([3.924, 0.981])
    """
    a, _, c = frames(model, q, qd, qdd)
    gravity = ca.SX(ca.vertcat(model.gravity, 0))
    d, e, f, g = _own_terms(model, c, loads)
    for i, body, parent, (position, _, _) in reversed(model.joint_motions(q)):
        if parent >= 0:
            t = body.joint.transform(position)
            d[parent] += t @ d[i]
            e[parent] += t @ e[i]
            f[parent] += t @ f[i]
            g[parent] += g[i]
    tau = []
    for i, body, parent, (position, _, _) in model.joint_motions(q):
        if not body.joint.moves:
            continue
        da, frame = a[i] @ body.joint.twist, body.joint.frame(position)
        placed = frame if parent < 0 else a[parent] @ frame
        turning = ca.dot(g[i], placed[:3, :3] @ sparse_vector(body.joint.screw.angular))
        # tr(dA D) without forming the product; an element-wise product of dA with D'.
        tau.append(_trace(da, d[i]) - gravity.T @ da @ e[i] - _trace(da, f[i]) - turning)
    return ca.vertcat(*tau)


def _own_terms(model: Model, c: list[ca.SX], loads: Sequence[Load]) -> tuple[list[ca.SX], ...]:
    """Every link's own contribution to D, E, F and G."""
    d = [body.pseudo_inertia @ acceleration.T for body, acceleration in zip(model.bodies, c, strict=True)]
    e = [body.mass * ca.vertcat(body.com, 1) for body in model.bodies]
    f = [ca.SX(4, 4) for _ in model.bodies]
    g = [ca.SX(3, 1) for _ in model.bodies]
    for load in loads:
        i = model.index(load.body)
        f[i] += ca.vertcat(load.point, 1) @ ca.vertcat(load.force, 0).T
        g[i] += load.moment
    return d, e, f, g


def _trace(left: ca.SX, right: ca.SX) -> ca.SX:
    return ca.dot(left, right.T)
