"""Programs that solvers fail on: rows and costs that no variable changes, values that are not finite, kinks."""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.slices import triplet
from colloc.solver.solver import Outcome, Status
from colloc.transcription import BaseNLP

_TOLERATED = 1e-4  # of a row's natural size: smaller violations are left to the solver
_POINTS, _REACHES = 10, (1e-6, 1e-4, 1e-2)  # in natural sizes of the variables
_STEPS = 10.0 ** -np.arange(3, 8)  # in natural sizes of the variables
_DIRECTIONS = 3
_JUMP = 0.1  # of the largest slope: a smaller jump is harmless
_SMOOTH = 30.0  # a second difference falls a hundredfold with a tenth of the step, but tenfold across a kink
_ROUNDING = 1e-9  # of the values


def constant_rows(nlp: BaseNLP) -> np.ndarray:
    """Mask of the constraint rows that depend on no free variable, shape (n_g,)."""
    if "constant rows" not in nlp.cache:
        rows, _ = triplet(nlp.jac_g.sparsity_out(1))
        nlp.cache["constant rows"] = np.bincount(rows, minlength=nlp.n_g) == 0
    return nlp.cache["constant rows"]


def violated_constants(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> Outcome | None:
    """An outcome without a run, if a row that no variable changes is violated at x; otherwise None."""
    constant = constant_rows(nlp)
    if not constant.any():
        return None
    values, (lower, upper) = np.array(nlp.g(x, p)).ravel(), nlp.bounds_g
    outside = np.maximum(lower - values, values - upper) / nlp.scale_g
    if not (outside[constant] > _TOLERATED).any():
        return None
    return Outcome(
        x,
        {"g": np.zeros(nlp.n_g), "x": np.zeros(nlp.n_x)},
        Status.INFEASIBLE,
        "no variable changes a violated constraint",
        {},
        0,
        dict.fromkeys(("build", "solve", "callbacks"), 0.0),
    )


def cost_depends_on_variables(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> bool:
    """Whether the cost depends on a free variable with these parameters: a term may have zero weight.

    Slopes at x are checked first, as a nonzero one suffices.
    """
    slopes = np.array(nlp.grad_f(x, p)[1]).ravel()[nlp.free]
    return bool(slopes.any()) or any(_depends_on_variables(block, nlp.free, p) for block in nlp.costs)


def _depends_on_variables(block: Block, free: np.ndarray, p: np.ndarray) -> bool:
    local, slices = block.sites.local, block.sites.slices
    (values,) = block.functions.value.call([local.w, local.d, ca.SX(p)])  # factors of zero are removed
    _, entries = slices.expand(np.flatnonzero(ca.which_depends(values, local.w)))
    free_entries = free[slices.index[slices.column[entries]]]
    return bool((free_entries & (slices.weight[entries] != 0)).any())


def nonfinite(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> str | None:
    """A line about the first cost or constraint that is not finite, with joint and time; None if all are."""
    if term := nlp.first_undefined(x, p):
        return f"not finite at the last iterate: {term}"
    if term := _nonfinite_slope(nlp, x, p):
        return f"not finite at the last iterate: the derivative of {term}"
    return None


def nonfinite_nearby(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> str | None:
    """A line about the first cost or constraint that is not finite near x, in the range of a solver's step."""
    directions = np.random.default_rng(0).uniform(-1, 1, (_POINTS, nlp.n_x)) * nlp.scale_x * nlp.free
    for reach in _REACHES:
        for direction in directions:
            if term := nlp.first_undefined(np.clip(x + reach * direction, nlp.lower, nlp.upper), p):
                return f"not finite near the last iterate: {term}"
    return None


def _nonfinite_slope(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> str | None:
    for block in nlp.costs:
        gradient = block.functions.gradient.map(block.n_slices)
        slopes = np.array(gradient(block.sites.slices.local(x), block.sites.data, p)).reshape(-1, block.n_slices)
        for site in np.flatnonzero(~np.isfinite(slopes).all(axis=0))[:1]:
            return f"cost term {block.rows.labels[0]!r} at s = {block.sites.s[site]:.4g}"
    jacobian = nlp.jac_g(x, p)[1]
    rows, _ = triplet(jacobian.sparsity())
    for row in np.sort(rows[~np.isfinite(np.array(jacobian.nonzeros()))])[:1]:
        return f"constraint {nlp.row_name(int(row))}"
    return None


def kink(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> str | None:
    """A line about the cost term whose slope jumps most near x, with the time; None if all are smooth.

    The slope of a norm jumps at zero, and solvers for smooth functions stall there.
    """
    jumps = [(_jump(nlp, block, x, p), block) for block in nlp.costs]
    (jump, row, site), block = max(jumps, key=lambda pair: pair[0], default=((0.0, 0, 0), None))
    if block is None or jump < _JUMP:
        return None
    before, duration = nlp.owner(block)
    s = float(block.sites.s[site])
    where = f"s = {s:.4g}" if duration is None else f"t = {s * x[duration]:.4g} s"
    return (
        f"cost term {before + block.rows.labels[row]!r} has a kink at {where}, where its slope jumps, and solvers need "
        "smooth functions: use ca.sqrt(x**2 + 1e-6) instead of ca.fabs(x), and similar terms instead of a norm"
    )


def _jump(nlp: BaseNLP, block: Block, x: np.ndarray, p: np.ndarray) -> tuple[float, int, int]:
    """The largest jump of a slope, relative to the largest slope of its row, with the row and the site."""
    rng, largest = np.random.default_rng(0), (0.0, 0, 0)
    here = block.evaluate(x, p)
    for _ in range(_DIRECTIONS):
        direction = rng.uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
        differences = [_differences(block, x, step * direction, p, here) for step in _STEPS]
        for step, (bend, slope), (closer, _) in zip(_STEPS, differences, differences[1:], strict=False):
            size = np.maximum(slope.max(axis=1, keepdims=True) / step, 1e-300)
            jumps = np.where((closer > 0) & (bend < _SMOOTH * closer), bend / step / size, 0.0)
            row, site = np.unravel_index(np.argmax(jumps), jumps.shape)
            largest = max(largest, (float(jumps[row, site]), int(row), int(site)))
    return largest


def _differences(
    block: Block, x: np.ndarray, step: np.ndarray, p: np.ndarray, here: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Second differences of a block along a step, and the larger of the first ones on both sides, without rounding."""
    ahead, behind = block.evaluate(x + step, p), block.evaluate(x - step, p)
    bend = np.abs(ahead + behind - 2 * here)
    return np.where(bend > _ROUNDING * np.abs(here), bend, 0.0), np.abs(ahead - behind) + bend
