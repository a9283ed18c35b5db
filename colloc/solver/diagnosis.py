"""Why a solve failed: the violated rows by name, and equality constraints that state the same fact twice."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from colloc.solver.constant_rows import constant_rows
from colloc.solver.undefined import undefined, undefined_beside
from colloc.transcription import NLP

_BOTTOMLESS = 1e6  # times the size of the cost at the start
_ALONE = ", and no variable moves it"
_DENSE_ENTRIES = 4_000_000  # a rank check by SVD beyond this size would take longer than the solve


def violated_rows(nlp: NLP, x: np.ndarray, p: np.ndarray, limit: int = 5) -> list[str]:
    """The constraint rows furthest outside their bounds at x, one line each, worst first; each label once."""
    values = np.array(nlp.g(x, p)).ravel()
    lower, upper = nlp.bounds_g
    outside = np.nan_to_num(np.maximum(lower - values, values - upper), nan=np.inf) / nlp.scale_g
    T, constant = nlp.duration(x), constant_rows(nlp)
    lines: dict[str, str] = {}
    for row in np.lexsort((-outside, ~constant)):  # what nothing can mend first
        if outside[row] < 1e-6:
            continue
        if len(lines) == limit:
            break
        name = nlp.row_name(int(row), T)
        label = name.split(" at t =")[0]
        if label not in lines:
            bound = _bound(float(lower[row]), float(upper[row]), float(values[row]))
            lines[label] = f"{name}: {values[row]:.6g}, {bound}{_ALONE if constant[row] else ''}"
    return list(lines.values())


def conflicting_rows(nlp: NLP, x: np.ndarray, p: np.ndarray, limit: int = 3) -> list[str]:
    """Rows and bounds of variables that hold at x and stand in the way of the violated rows, strongest first.

    At a point of least violation the pull of the violated rows is balanced by rows and variables at their bounds
    (Farkas): the multipliers of that balance, found by least squares, tell which. Each label once.
    """
    values = np.append(np.array(nlp.g(x, p)).ravel() / nlp.scale_g, x / nlp.scale_x)
    scale = np.append(nlp.scale_g, nlp.scale_x)
    lower, upper = (np.append(*sides) / scale for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    pull = np.where(values > upper + 1e-6, 1.0, np.where(values < lower - 1e-6, -1.0, 0.0))
    pull[nlp.n_g :] = 0.0  # variables stay within their bounds
    movable = np.append(np.ones(nlp.n_g, dtype=bool), nlp.free)
    held = np.flatnonzero(movable & (pull == 0) & (np.minimum(values - lower, upper - values) < 1e-4))
    if held.size == 0 or held.size * nlp.n_x > _DENSE_ENTRIES:
        return []
    jacobian = ca.diag(1 / nlp.scale_g) @ nlp.jac_g(x, p)[1] @ ca.diag(nlp.scale_x)
    slopes = ca.vertcat(jacobian, ca.DM.eye(nlp.n_x))
    held_slopes = np.array(ca.densify(slopes[held.tolist(), :]))
    multipliers = np.linalg.lstsq(held_slopes.T, -np.array(slopes.T @ pull).ravel(), rcond=None)[0]
    equal = lower[held] == upper[held]
    # A row at its lower bound can only push up, one at its upper bound only down; equalities are not the culprits
    # a reader looks for: they hold the motion together.
    at_upper = upper[held] - values[held] < values[held] - lower[held]
    strength = np.where(equal, 0.0, np.where(at_upper, multipliers, -multipliers))
    T = nlp.duration(x)
    names: dict[str, str] = {}
    for k in np.argsort(-strength):
        if strength[k] < 1e-3 * max(1.0, strength.max()) or len(names) == limit:
            break
        place = int(held[k])
        name = nlp.row_name(place, T) if place < nlp.n_g else _variable_name(nlp, place - nlp.n_g, T)
        side, bound = ("upper", upper) if at_upper[k] else ("lower", lower)
        limit_value = float(bound[place] * scale[place])
        names.setdefault(name.split(" at t =")[0], f"{name}, at its {side} bound {limit_value:.6g}")
    return list(names.values())


def _variable_name(nlp: NLP, k: int, duration: float) -> str:
    """What a variable is; of a control point its joint or signal, and the time in whose neighbourhood it counts."""
    layout, problem = nlp.grid.layout, nlp.problem
    columns = {"q": [f"q[{joint}]" for joint in problem.model.joint_names]}
    columns["signals"] = [f"{u.name}[{i}]" if u.size > 1 else u.name for u in problem.signals for i in range(u.size)]
    columns["states"] = [f"{u.name}[{i}]" if u.size > 1 else u.name for u in problem.states for i in range(u.size)]
    splines = {"q": nlp.grid.basis, "signals": nlp.curve.signals, "states": nlp.grid.states}
    for name, index in layout.names.items():
        for point, *column in np.argwhere(index == k).tolist():
            if name in columns:
                return f"{columns[name][column[0]]} at t = {splines[name].greville()[point] * duration:.4g} s"
            return name if index.size == 1 else f"{name}[{point}]"
    return f"variable {k}"


def dependent_rows(nlp: NLP, x: np.ndarray, p: np.ndarray, limit: int = 6) -> list[str]:
    """Names of equality rows whose gradients are linearly dependent at x; empty when they are independent.

    A row that has no free variable is said to be so: what fixes its variables are the end conditions.
    """
    lower, upper = nlp.bounds_g
    equal = np.flatnonzero(lower == upper)
    free = np.flatnonzero(nlp.lower < nlp.upper)
    if equal.size == 0 or equal.size * free.size > _DENSE_ENTRIES:
        return []
    jacobian = np.array(ca.densify(nlp.jac_g(x, p)[1][equal.tolist(), free.tolist()]))
    norms = np.linalg.norm(jacobian, axis=1, keepdims=True)
    if not np.isfinite(norms).all():
        return []
    u, sizes, _ = np.linalg.svd(jacobian / np.where(norms > 0, norms, 1.0))
    sizes = np.append(sizes, np.zeros(equal.size - sizes.size))
    dependent = u[:, sizes < 1e-9 * max(sizes[0], 1e-300)]
    shares = np.abs(dependent).max(axis=1, initial=0.0)
    worst = np.argsort(-shares)[:limit]
    alone = np.where(norms.ravel() == 0, ", whose variables the end conditions have fixed", "")
    return [f"{nlp.row_name(int(equal[k]))}{alone[k]}" for k in worst if shares[k] > 1e-3]


def fallen_terms(nlp: NLP, start: np.ndarray, x: np.ndarray, p: np.ndarray) -> list[str]:
    """Cost terms that have fallen as far as a cost without a lower bound does, one line each."""
    before, after = nlp.terms(start, p), nlp.terms(x, p)
    size = sum(abs(value) for value in before.values())
    return [f"{name}: {value:.6g}" for name, value in after.items() if value < -_BOTTOMLESS * (size or 1.0)]


def explain(nlp: NLP, start: np.ndarray, x: np.ndarray, p: np.ndarray) -> str:
    """Why no optimum was found, in a few lines."""
    lines: list[str] = []
    if line := undefined(nlp, x, p):
        return line
    if fallen := fallen_terms(nlp, start, x, p):
        lines += ["the cost seems to have no lower bound; bound what it rewards:", *_indented(fallen)]
    if violated := violated_rows(nlp, x, p):
        lines += ["constraints violated at the last iterate:", *_indented(violated)]
        if conflicting := conflicting_rows(nlp, x, p):
            lines += ["they cannot be met together with:", *_indented(conflicting)]
    if dependent := dependent_rows(nlp, start, p):
        lines += [
            "equality constraints linearly dependent at the guess (a fact stated twice, or a singular posture):",
            *_indented(dependent),
        ]
    if not lines and (line := undefined_beside(nlp, x, p)):
        lines.append(line)
    return "\n".join(lines)


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]


def _bound(lower: float, upper: float, value: float) -> str:
    if lower == upper:
        return f"must equal {lower:.6g}"
    return f"above its upper bound {upper:.6g}" if value > upper else f"below its lower bound {lower:.6g}"
