"""Reasons of a failed solve: violated rows by name, and redundant equality constraints."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from colloc.solver.conflicts import conflicts
from colloc.solver.degenerate import constant_rows, kink, nonfinite, nonfinite_nearby
from colloc.support.checks import shortened
from colloc.transcription import BaseNLP

_BOTTOMLESS = 1e6  # times the size of the cost at the start: a lower cost has no lower bound
_ALONE = ", and no variable changes it"
_FEW = 4  # rows named in a line that another one follows from
_PART = 1e-4  # of a row: a smaller part in a combination is rounding
_DENSE_ENTRIES = 4_000_000  # a rank check by SVD beyond this size would take longer than the solve


def violated_rows(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, limit: int = 5) -> list[str]:
    """The constraint rows furthest outside their bounds at x, one line each, worst first; each label once."""
    values = np.array(nlp.g(x, p)).ravel()
    lower, upper = nlp.bounds_g
    outside = np.nan_to_num(np.maximum(lower - values, values - upper), nan=np.inf) / nlp.scale_g
    constant = constant_rows(nlp)
    lines: dict[str, str] = {}
    for row in np.lexsort((-outside, ~constant)):  # rows that no variable can change first
        if outside[row] < 1e-6:
            continue
        if len(lines) == limit:
            break
        name = nlp.row_name(int(row), x)
        label = name.split(" at t =")[0]
        if label not in lines:
            bound = _bound(float(lower[row]), float(upper[row]), float(values[row]))
            lines[label] = f"{name}: {values[row]:.6g}, {bound}{_ALONE if constant[row] else ''}"
    return list(lines.values())


def dependent_rows(
    nlp: BaseNLP,
    x: np.ndarray,
    p: np.ndarray,
    limit: int = 6,
    rows: np.ndarray | None = None,
    variables: np.ndarray | None = None,
) -> list[str]:
    """Names of rows with linearly dependent gradients at x; empty if they are independent.

    Each name comes with the rows that it follows from, if these are few. A row without free variables is reported as
    such: end conditions fix its variables.

    Parameters
    ----------
    nlp : BaseNLP
    x, p : ndarray
    limit : int
        Largest number of names.
    rows, variables : ndarray of int, optional
        Rows and variables to be checked; by default all equations, and all variables that are not fixed.
    """
    lower, upper = nlp.bounds_g
    equal = np.flatnonzero(lower == upper) if rows is None else rows
    free = np.flatnonzero(nlp.free) if variables is None else variables
    if equal.size == 0 or equal.size * free.size > _DENSE_ENTRIES:
        return []
    jacobian = np.array(ca.densify(nlp.jac_g(x, p)[1][equal.tolist(), free.tolist()]))
    norms = np.linalg.norm(jacobian, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        return []
    u, sizes, _ = np.linalg.svd(jacobian / np.where(norms > 0, norms, 1.0))
    sizes = np.append(sizes, np.zeros(equal.size - sizes.size))
    names = [nlp.row_name(int(k), x) for k in equal]
    lines = []
    for row, others in _follow(u[:, sizes < 1e-9 * max(sizes[0], 1e-300)])[:limit]:
        if norms[row] == 0:
            lines.append(f"{names[row]}, whose variables are fixed by end conditions")
        elif others.size == 1:
            lines.append(f"{names[row]} and {names[others[0]]} are the same: state one of them only")
        else:
            lines.append(f"{names[row]} follows from {shortened([names[k] for k in others], _FEW)}")
    return lines


def _follow(dependent: np.ndarray) -> list[tuple[int, np.ndarray]]:
    """Rows that follow from others, with these others, from vanishing combinations of rows, one per column."""
    left, pivots = dependent.copy(), []
    for column in range(left.shape[1]):
        # The last of two equal rows is the redundant one.
        size = np.abs(left[:, column])
        row = int(np.flatnonzero(size > 0.99 * size.max())[-1])
        left[:, column] /= left[row, column]
        others = np.arange(left.shape[1]) != column
        left[:, others] -= np.outer(left[:, column], left[row, others])
        pivots.append(row)
    follow = []
    for column, row in enumerate(pivots):
        some = np.flatnonzero(np.abs(left[:, column]) > _PART)
        follow.append((row, some[some != row]))
    return sorted(follow, key=lambda pair: pair[1].size)


def fallen_terms(nlp: BaseNLP, start: np.ndarray, x: np.ndarray, p: np.ndarray) -> list[str]:
    """Cost terms that seem to have no lower bound, one line each."""
    before, after = nlp.terms(start, p), nlp.terms(x, p)
    size = sum(abs(value) for value in before.values())
    return [f"{name}: {value:.6g}" for name, value in after.items() if value < -_BOTTOMLESS * (size or 1.0)]


def failure_reason(
    nlp: BaseNLP, start: np.ndarray, x: np.ndarray, p: np.ndarray, *, limited: bool = False, infeasible: bool = True
) -> str:
    """Reasons why no optimum was found, in a few lines.

    `limited`: the iteration limit was reached; `infeasible`: the problem counts as infeasible.
    """
    lines: list[str] = []
    if line := nonfinite(nlp, x, p):
        return line
    violated = violated_rows(nlp, x, p)
    if fallen := fallen_terms(nlp, start, x, p):
        what = "the cost seems to have no lower bound; add bounds to the quantities in:"
        if violated:
            what = (
                "the cost falls without end where constraints are violated, and the iterates went there: give a better "
                "guess, or add bounds to the quantities in:"
            )
        lines += [what, *_indented(fallen)]
    if violated:
        which = "best" if limited else "last"
        lines += [f"constraints violated at the {which} iterate:", *_indented(violated)]
        if conflicting := conflicts(nlp, x, p):
            what = "they cannot be met together with:" if infeasible else "near that iterate they conflict with:"
            lines += [what, *_indented(conflicting)]
    if bent := None if violated else kink(nlp, x, p):
        lines.append(bent)
    elif limited:
        met = "" if violated else ", which meets all constraints at the nodes,"
        lines.append(
            f"allow more iterations, as in solver=co.Ipopt(max_iter=10000), go on from the best iterate{met} with "
            "guess=error.solution, or give a better guess, as in co.keyframes(...)"
        )
    if dependent := dependent_rows(nlp, start, p):
        lines += [
            "equality constraints linearly dependent at the guess (redundant, or a singular posture):",
            *_indented(dependent),
        ]
    if not lines and (line := nonfinite_nearby(nlp, x, p)):
        lines.append(line)
    return "\n".join(lines)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _bound(lower: float, upper: float, value: float) -> str:
    if lower == upper:
        return f"must equal {lower:.6g}"
    return f"above its upper bound {upper:.6g}" if value > upper else f"below its lower bound {lower:.6g}"
