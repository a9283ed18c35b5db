"""Rows that no free variable moves: where one is violated there is nothing to solve."""

from __future__ import annotations

import numpy as np

from colloc.blocks.slices import triplet
from colloc.solver.outcome import Outcome, Status
from colloc.transcription import Program

_TOLERATED = 1e-4  # of a row's natural size; what is below is left to the solver


def constant_rows(nlp: Program) -> np.ndarray:
    """Which constraint rows depend on no free variable, ndarray of bool, shape (n_g,)."""
    rows, _ = triplet(nlp.jac_g.sparsity_out(1))
    return np.bincount(rows, minlength=nlp.n_g) == 0


def hopeless(nlp: Program, x: np.ndarray, p: np.ndarray) -> Outcome | None:
    """The end of a run that need not begin, because a row that no variable moves is violated at x; or None."""
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
        "no variable moves a violated constraint",
        {},
        0,
        dict.fromkeys(("build", "solve", "callbacks"), 0.0),
    )
