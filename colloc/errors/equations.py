"""Errors of equations along the path between their collocation points, measured by the motion.

A residual has a unit but often no size, as in tau = 0. An equation that depends on accelerations or torques is
therefore measured by the deviation of the motion, within an interval and over all of them, when accelerations are
corrected to satisfy it, to first order and with the least change. Other equations are measured by the natural size of
their row.

Torques that equations prescribe, such as those of passive joints, are measured together, in whatever form the equations
are stated: passive joints move while driven ones keep to their paths.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.curves.quadrature import gauss
from colloc.errors.motion import Motion, deviation
from colloc.errors.source import Source
from colloc.errors.states import state_error
from colloc.problem import ConstraintRows, Window


def equation_error(motion: Motion) -> Source:
    """Relative error of all equations along the path, including those of states; residuals add up.

    The error of an interval is the deviation within it, or its part in the total deviation if that is larger.
    """
    problem = motion.nlp.problem
    per_interval, total = state_error(motion.nlp, motion.x, motion.p)
    fixed = {(equation.constraint, equation.row) for equation in problem.fixed_torques}
    if fixed:
        torques = motion.torques
        errors, whole = torques.drift.relative(torques.size)
        per_interval, total = np.maximum(per_interval, errors), max(total, whole)
    for name, constraint in problem.rows.items():
        rows, statement = constraint.rows, constraint.constraint
        equal = [k for k in np.flatnonzero(rows.lower == rows.upper).tolist() if (name, k) not in fixed]
        if equal and statement.where.along and not statement.measured_by_motion:
            errors, whole = _constraint_error(motion, constraint, equal, Window(*statement.where.moments))
            per_interval, total = np.maximum(per_interval, errors), max(total, whole)
    sentence = "between nodes equations are not satisfied, which changes the motion by {total}"
    return Source(per_interval, total, adds_up=False, sentence=sentence)


def _constraint_error(
    motion: Motion, constraint: ConstraintRows, equal: list[int], where: Window
) -> tuple[np.ndarray, float]:
    """Relative error of a constraint's equations on every interval, shape (intervals,), and of the whole motion."""
    grid, now, n = motion.nlp.grid, motion.nlp.problem.instant, motion.nlp.problem.model.n
    fine = gauss(grid.basis.degree + 3)[0]
    points = points_inside(grid.breakpoints, fine)
    sites = grid.on(points)
    rows = constraint.rows.expression[equal]
    slopes = [ca.densify(ca.jacobian(rows, part)) for part in (now.qdd, now.tau)]
    accelerated = any(ca.depends_on(rows, part) for part in (now.qdd, now.tau))
    function = ca.Function("rows", [*now.slots], [rows, *slopes])
    arguments = sites.local.arguments
    value, direct, through = function.call(list(arguments))
    N, inertia, _ = grid.torques.slopes(arguments)
    values, J, moves = sites.evaluate([value, direct @ N + through @ inertia, N], motion.x, motion.p)
    residual = np.where(sites.within(where)[:, None], values - constraint.rows.lower[equal], 0.0)
    if not accelerated:
        relative = np.abs(residual / constraint.rows.scale[equal]).max(axis=1)
        return relative.reshape(-1, fine.size).max(axis=1), float(relative.max())
    # Matrices were evaluated column by column.
    J, moves = (part.reshape(points.s.size, -1, rows).swapaxes(1, 2) for part, rows in ((J, len(equal)), (moves, n)))
    acceleration, moves = (
        part.reshape(-1, fine.size, *part.shape[1:]) for part in (np.linalg.pinv(J) @ residual[..., None], moves)
    )
    strays = deviation(acceleration[..., 0], moves, motion.widths, motion.ends)
    return strays.relative(motion.torques.size)
