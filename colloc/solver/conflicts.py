"""Conflicts of violated rows with bounds of rows and variables, and with values prescribed at single times.

At a point of least violation the forces of the violated rows are balanced by rows and variables at their bounds
(Farkas): the multipliers of that balance, found by least squares, show which ones conflict. End conditions that fix
variables are not rows; their conflict is measured by how much the force would decrease if their values changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives
from colloc.transcription import BaseNLP
from colloc.transcription.fixed_ends import state_point
from colloc.transcription.nlp import Phase

_DENSE_ENTRIES = 4_000_000  # least squares beyond this size would take longer than the solve
_VIOLATED, _ACTIVE = 1e-6, 1e-4  # of a natural size: limits of a violated row, and of a row at its bound
_LEAST = 1e-3  # smallest strength of a conflict
_SHARE = 0.1  # of the strongest: weaker prescribed values are left out
_ORDERS = {"q": 0, "qd": 1, "qdd": 2}


def conflicts(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, bounds: int = 3, values: int = 6) -> list[str]:
    """Bounds and values that hold at x and conflict with violated rows, strongest first, each label once.  At most
    `bounds` bounds, and `values` values prescribed at single times.
    """
    balance = _balance(nlp, x, p)
    if balance is None:
        return []
    places, multipliers, equal, at_upper, pull = balance
    # A row at its lower bound can only push up, one at its upper bound only down.
    strength = np.where(equal, 0.0, np.where(at_upper, multipliers, -multipliers))
    lower, upper = (np.append(*sides) for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    bound_lines: dict[str, str] = {}
    for k in np.argsort(-strength):
        if strength[k] < _LEAST * max(1.0, strength.max()) or len(bound_lines) == bounds:
            break
        place = int(places[k])
        name = nlp.row_name(place, x) if place < nlp.n_g else nlp.variable_name(place - nlp.n_g, x)
        side, value = ("upper", upper[place]) if at_upper[k] else ("lower", lower[place])
        bound_lines.setdefault(_label(name), f"{name}, at its {side} bound {value:.6g}")
    in_rows = places < nlp.n_g
    forces = pull[: nlp.n_g].copy()
    forces[places[in_rows]] += multipliers[in_rows]
    equations = zip(np.abs(multipliers[in_rows & equal]), places[in_rows & equal], strict=True)
    conditions = [*_of_rows(nlp, equations, x), *_of_ends(nlp, x, p, forces)]
    conditions.sort(key=lambda condition: -condition[0])
    value_lines: dict[str, str] = {}
    for size, name, value in conditions:
        if size < max(_LEAST, _SHARE * conditions[0][0]) or len(value_lines) == values:
            break
        value_lines.setdefault(_label(name), f"{name}, which must equal {value:.6g}")
    return [*bound_lines.values(), *value_lines.values()]


class _Balance(NamedTuple):
    """Rows and variables at a bound, with their multipliers; and the force of the violated rows."""

    places: np.ndarray
    multipliers: np.ndarray
    equal: np.ndarray
    at_upper: np.ndarray
    pull: np.ndarray


def _balance(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> _Balance | None:
    values = np.append(np.array(nlp.g(x, p)).ravel() / nlp.scale_g, x / nlp.scale_x)
    scale = np.append(nlp.scale_g, nlp.scale_x)
    lower, upper = (np.append(*sides) / scale for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    pull = np.where(values > upper + _VIOLATED, 1.0, np.where(values < lower - _VIOLATED, -1.0, 0.0))
    pull[nlp.n_g :] = 0.0  # variables stay within their bounds
    movable = np.append(np.ones(nlp.n_g, dtype=bool), nlp.free)
    active = np.flatnonzero(movable & (pull == 0) & (np.minimum(values - lower, upper - values) < _ACTIVE))
    if active.size * nlp.n_x > _DENSE_ENTRIES:
        return None
    jacobian = ca.diag(1 / nlp.scale_g) @ nlp.jac_g(x, p)[1] @ ca.diag(nlp.scale_x)
    slopes = ca.vertcat(jacobian, ca.DM.eye(nlp.n_x))
    multipliers = np.zeros(0)
    if active.size:
        active_slopes = np.array(ca.densify(slopes[active.tolist(), :]))
        multipliers = np.linalg.lstsq(active_slopes.T, -np.array(slopes.T @ pull).ravel(), rcond=None)[0]
    at_upper = upper[active] - values[active] < values[active] - lower[active]
    return _Balance(active, multipliers, lower[active] == upper[active], at_upper, pull)


def _of_rows(nlp: BaseNLP, equations: Iterable[tuple[float, int]], x: np.ndarray) -> Iterator[tuple[float, str, float]]:
    """Strength, name and value of equality rows at a single time or between both ends; equations along the path are
    omitted.
    """
    for size, row in equations:
        block = nlp.constraints[int(np.searchsorted(nlp.offsets, row, side="right")) - 1]
        if not _along(nlp, block):
            yield size, nlp.row_name(int(row), x), float(nlp.bounds_g[0][row])


def _along(nlp: BaseNLP, block: Block) -> bool:
    """Whether a block holds along a part of a motion."""
    for motion in nlp.motions:
        if motion.before == nlp.owner(block)[0] and (rows := motion.problem.rows.get(block.name)) is not None:
            return rows.constraint.where.along
    return block.sites.size > 1


def _of_ends(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, forces: np.ndarray) -> Iterator[tuple[float, str, float]]:
    """Strength, name and value of end conditions that fix variables; the strength is the change of the forces with the
    value.
    """
    pull = np.array(NumericDerivatives((), nlp.constraints, x, p).jacobian.T @ (forces / nlp.scale_g)).ravel()
    for name, value, direction in _fixed(nlp):
        yield abs(float(pull @ direction)), name, value


def _fixed(nlp: BaseNLP) -> Iterator[tuple[str, float, np.ndarray]]:
    """Name and value of every end condition that fixes variables, and the direction of its change in x.

    In natural sizes of the joint; derivatives by the normalised time count like the position.
    """
    for motion in nlp.motions:
        for name, value, change in _fixed_in(motion, ~nlp.free[motion.part]):
            direction = np.zeros(nlp.n_x)
            direction[motion.part] = change
            yield f"{motion.before}{name}", value, direction


def _fixed_in(motion: Phase, fixed: np.ndarray) -> Iterator[tuple[str, float, np.ndarray]]:
    """Name, value and direction of the end conditions of a motion that fix variables."""
    problem, grid = motion.problem, motion.grid
    sizes, at = problem.sizes("q"), {s: grid.end(s) for s in (0.0, 1.0)}
    for name, values in problem.end_values.items():
        labels = problem.rows[name].rows.labels
        for end in values:
            if not end.of_joint:
                place = state_point(problem, grid, end)
                if fixed[place]:
                    yield labels[end.row], end.value, np.eye(1, fixed.size, place)[0]
                continue
            order, at_end = _ORDERS.get(end.quantity, 3), at[end.s]
            points = at_end.index[:, end.index]
            orders = int(fixed[points].cumprod().sum())  # fixed derivatives, one after another
            if order < orders:
                direction = np.zeros(fixed.size)
                change = np.linalg.solve(at_end.weight[:orders, :orders], np.eye(orders)[order])
                direction[points[:orders]] = sizes[end.index] * change
                yield labels[end.row], end.value, direction


def _label(name: str) -> str:
    """The name of a row or variable without its time."""
    return name.split(" at t =")[0]
