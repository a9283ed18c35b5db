"""Errors of states in their differential equations between collocation points."""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.curves.quadrature import gauss, lagrange_integrals
from colloc.problem import Problem, natural_size
from colloc.transcription import NLP


def state_error(nlp: NLP, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
    """Relative error of the states on every interval, shape (intervals,), and of the whole motion.

    A residual r of the equations f(y, y', t) = 0 changes the states within an interval by dy with f_y' dy' + f_y dy =
    -r, collocated at Gauss points, with everything else fixed. Relative to `state_sizes`.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    """
    problem, grid, slots = nlp.problem, nlp.grid, nlp.problem.instant.slots
    intervals, count = grid.basis.intervals, slots.states.shape[0]
    if not count:
        return np.zeros(intervals), 0.0
    fine = gauss(grid.basis.degree + 3)[0]
    sites = grid.on(points_inside(grid.breakpoints, fine))
    rows = ca.vertcat(*(problem.rows[state.equation_name].rows.expression for state in problem.states))
    wanted = [slots.states, rows, *(ca.densify(ca.jacobian(rows, part)) for part in (slots.states, slots.state_rates))]
    function = ca.Function("states", [*slots], wanted)
    values, r, *slopes = sites.evaluate(function.call(list(sites.local.arguments)), x, p)
    # Evaluated column by column.
    f_y, f_rate = (part.reshape(intervals, fine.size, count, count).swapaxes(-1, -2) for part in slopes)
    inverse = np.linalg.pinv(f_rate)
    wrong = -(inverse @ r.reshape(intervals, fine.size, count, 1))[..., 0]
    once, widths = lagrange_integrals(fine, np.append(fine, 1.0)), np.diff(grid.breakpoints) * nlp.duration(x)
    change = np.zeros((intervals, fine.size + 1, count))
    for k, h in enumerate(widths.tolist()):
        pull = h * np.einsum("ef,eij->eifj", once[:-1], inverse[k] @ f_y[k])
        size = fine.size * count
        rate = np.linalg.solve(np.eye(size) + pull.reshape(size, size), wrong[k].ravel())
        change[k] = h * once @ rate.reshape(fine.size, count)
    sizes = state_sizes(problem, values)
    relative = np.abs(change) / sizes
    whole = np.abs(np.cumsum(change[:, -1], axis=0)) / sizes
    return relative.max(axis=(1, 2)), float(max(relative.max(), whole.max()))


def state_sizes(problem: Problem, values: np.ndarray) -> np.ndarray:
    """Scales of errors of the states, shape (size,): the largest of the values, (N, size), plus one.

    The same rule as for joints, with the natural size instead of one if that is smaller.
    """
    natural = [np.minimum(natural_size(state.lower, state.upper), 1.0) for state in problem.states]
    return np.concatenate([np.zeros(0), *natural]) + np.abs(values).max(axis=0)
