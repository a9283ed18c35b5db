"""Where an NLP has no finite values or slopes: at an iterate, or beside it, where a solver would have stepped."""

from __future__ import annotations

import numpy as np

from colloc.blocks.slices import triplet
from colloc.transcription import Program

_PLACES, _REACHES = 10, (1e-6, 1e-4, 1e-2)  # in natural sizes of the variables


def undefined(nlp: Program, x: np.ndarray, p: np.ndarray) -> str | None:
    """One line on the first cost or constraint that is not finite, with joint and time; None where all are."""
    if found := nlp.first_undefined(x, p):
        return f"not finite at the last iterate: {found}"
    if found := _slope(nlp, x, p):
        return f"not finite at the last iterate: the derivative of {found}"
    return None


def undefined_beside(nlp: Program, x: np.ndarray, p: np.ndarray) -> str | None:
    """The same of places near x."""
    directions = np.random.default_rng(0).uniform(-1, 1, (_PLACES, nlp.n_x)) * nlp.scale_x * nlp.free
    for reach in _REACHES:
        for direction in directions:
            if found := nlp.first_undefined(np.clip(x + reach * direction, nlp.lower, nlp.upper), p):
                return f"not finite beside the last iterate: {found}"
    return None


def _slope(nlp: Program, x: np.ndarray, p: np.ndarray) -> str | None:
    for block in nlp.costs:
        gradient = block.gradient.map(block.n_slices)
        slopes = np.array(gradient(block.sites.slices.local(x), block.sites.data, p)).reshape(-1, block.n_slices)
        for site in np.flatnonzero(~np.isfinite(slopes).all(axis=0))[:1]:
            return f"cost term {block.rows.labels[0]!r} at s = {block.sites.s[site]:.4g}"
    jacobian = nlp.jac_g(x, p)[1]
    rows, _ = triplet(jacobian.sparsity())
    for row in np.sort(rows[~np.isfinite(np.array(jacobian.nonzeros()))])[:1]:
        return f"constraint {nlp.row_name(int(row))}"
    return None
