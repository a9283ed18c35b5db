"""What equations along the path leave open between their collocation points, measured by the motion.

A residual has a unit but often no size, as in tau = 0. So an equation that depends on accelerations (or torques) is
measured by how far the motion strays within an interval if the accelerations are corrected to meet it, to first order
and with the least change; any other by the natural size of its row.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.numerics.quadrature import gauss, lagrange_integrals
from colloc.problem import ConstraintRows, JointBounds, Window
from colloc.problem.where import WHOLE
from colloc.transcription import NLP


class Drift(NamedTuple):
    """What wrong accelerations do to a motion, to first order.

    Parameters
    ----------
    local : ndarray, shape (intervals, n)
        Largest change of position within every interval, counted from its start.
    whole : ndarray, shape (n,)
        Largest change of position over the whole motion, since what an interval does to the velocity goes on.
    """

    local: np.ndarray
    whole: np.ndarray


def drift(acceleration: np.ndarray, moves: np.ndarray, widths: np.ndarray) -> Drift:
    """Accelerations at Gauss points of every interval integrated twice.

    Parameters
    ----------
    acceleration : ndarray, shape (intervals, points, m)
        Of the joints that move by themselves.
    moves : ndarray, shape (intervals, points, n, m)
        What all joints move by with these; the last point's is taken for the end.
    widths : ndarray, shape (intervals,) [s]
    """
    fine = gauss(acceleration.shape[1])[0]
    once = lagrange_integrals(fine, np.append(fine, 1.0))
    h = widths[:, None, None]
    position = np.einsum("ef,ifn->ien", once @ once[:-1], acceleration) * h**2
    velocity = np.einsum("f,ifn->in", once[-1], acceleration) * widths[:, None]
    before = np.vstack([np.zeros(velocity.shape[1]), np.cumsum(velocity, axis=0)[:-1]])
    whole = np.cumsum(position[:, -1] + before * widths[:, None], axis=0)
    local = (np.concatenate([moves, moves[:, -1:]], axis=1) @ position[..., None])[..., 0]
    return Drift(np.abs(local).max(axis=1), np.abs(moves[:, -1] @ whole[..., None])[..., 0].max(axis=0))


def equation_error(nlp: NLP, x: np.ndarray, p: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, float]:
    """Relative error of the equations along the path, on every interval, shape (intervals,), and of the whole motion.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    size : ndarray, shape (n,) [rad, m]
        Largest position of every joint.
    """
    found, whole = np.zeros(nlp.grid.basis.intervals), 0.0
    # Differential equations of states are looked at in `state_error`.
    others = {state.equation_name for state in nlp.problem.states}
    for stated in (stated for name, stated in nlp.problem.rows.items() if name not in others):
        equal = np.flatnonzero(stated.rows.lower == stated.rows.upper)
        where = stated.constraint.where
        if equal.size and isinstance(where, Window) and not _is_fixed_torque(stated):
            own, total = _one(nlp, x, p, size, stated, equal, where)
            found, whole = np.maximum(found, own), max(whole, total)
    return found, whole


def _is_fixed_torque(stated: ConstraintRows) -> bool:
    """Whether a torque is given all along, which the error of the dynamics tells of."""
    constraint = stated.constraint
    return isinstance(constraint, JointBounds) and constraint.quantity == "tau" and constraint.where == WHOLE


def _one(
    nlp: NLP, x: np.ndarray, p: np.ndarray, size: np.ndarray, stated: ConstraintRows, equal: np.ndarray, where: Window
) -> tuple[np.ndarray, float]:
    grid, now, n = nlp.grid, nlp.problem.instant, nlp.problem.model.n
    fine = gauss(grid.basis.degree + 3)[0]
    points = points_inside(grid.breakpoints, fine)
    sites = grid.on(points)
    rows = stated.rows.expression[equal.tolist()]
    slopes = [ca.densify(ca.jacobian(rows, part)) for part in (now.qdd, now.tau)]
    accelerated = any(ca.depends_on(rows, part) for part in (now.qdd, now.tau))
    function = ca.Function("rows", [*now.slots], [rows, *slopes])
    arguments = sites.local.arguments
    value, direct, through = function.call(list(arguments))
    N, inertia, _ = grid.torques.slopes(arguments)
    values, J, moves = sites.evaluate([value, direct @ N + through @ inertia, N], x, p)
    residual = np.where(sites.within(where)[:, None], values - stated.rows.lower[equal], 0.0)
    if not accelerated:
        relative = np.abs(residual / stated.rows.scale[equal]).max(axis=1)
        return relative.reshape(-1, fine.size).max(axis=1), float(relative.max())
    # Evaluated column by column.
    J, moves = (part.reshape(points.s.size, -1, rows).swapaxes(1, 2) for part, rows in ((J, equal.size), (moves, n)))
    acceleration, moves = (
        part.reshape(-1, fine.size, *part.shape[1:]) for part in (np.linalg.pinv(J) @ residual[..., None], moves)
    )
    found = drift(acceleration[..., 0], moves, np.diff(grid.breakpoints) * nlp.duration(x))
    return (found.local / (1 + size)).max(axis=1), float((found.whole / (1 + size)).max())
