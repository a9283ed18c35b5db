"""Sizes that only the start of a run tells: that of the cost, and of rows held at zero."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.blocks.slices import triplet
from colloc.transcription import Program

_BESIDE = 1e-3  # distance of the place beside the start, in natural sizes of the variables
_STEEP = 100.0  # slopes up to this are harmless: IPOPT by itself scales a cost down to it


class Sizes(NamedTuple):
    """What a run divides the cost and the rows by.

    Parameters
    ----------
    cost : float
        Size of the cost, in its own unit.
    rows : ndarray, shape (n_g,)
        Size of every constraint row, in its own unit.
    """

    cost: float
    rows: np.ndarray


def sizes_at(nlp: Program, x: np.ndarray, p: np.ndarray) -> Sizes:
    """Sizes for a run from x, by values and by slopes in variables of natural size one.

    The size of the cost is its value, or a hundredth of its largest slope if that is more. Tolerances of solvers being
    absolute, an optimum would depend on the cost's unit otherwise. A row has the size that its bounds tell; where they
    tell none, as in tau = 0, it is the largest slope of that row at all times. Value and slopes may vanish at the
    start by its symmetry, so that they are taken at a place beside it as well.

    Parameters
    ----------
    nlp : Program
    x : ndarray, shape (n_x,)
        Start of the run.
    p : ndarray
        Parameter values.
    """
    step = _BESIDE * np.random.default_rng(0).uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
    places = (x, np.clip(x + step, nlp.lower, nlp.upper))
    cost = max(_cost_size(nlp, place, p) for place in places)
    rows, unsized = nlp.scale_g.copy(), unsized_rows(nlp)
    if unsized.any():
        slopes = np.max([_row_slopes(nlp, place, p) for place in places], axis=0)
        for block, first, end in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False):
            largest = np.tile(slopes[first:end].reshape(block.n_slices, block.n_rows).max(axis=0), block.n_slices)
            rows[first:end] = np.where(unsized[first:end] & (largest > 0), largest, rows[first:end])
    return Sizes(cost if cost > 0 else 1.0, rows)


def unsized_rows(nlp: Program) -> np.ndarray:
    """Which rows have bounds that tell no size, because they are zero: ndarray of bool, shape (n_g,)."""
    lower, upper = nlp.bounds_g
    return np.isin(lower, (0.0, -np.inf)) & np.isin(upper, (0.0, np.inf)) & (nlp.scale_g == 1)


def _cost_size(nlp: Program, x: np.ndarray, p: np.ndarray) -> float:
    value, gradient = (np.array(part).ravel() for part in nlp.grad_f(x, p))
    size = max(abs(float(value[0])), float(np.abs(gradient * nlp.scale_x).max(initial=0.0)) / _STEEP)
    return size if np.isfinite(size) else 0.0


def _row_slopes(nlp: Program, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Largest derivative of every row by variables of natural size one, shape (n_g,)."""
    jacobian = nlp.jac_g(x, p)[1]
    row, column = triplet(jacobian.sparsity())
    entries = np.abs(np.array(jacobian.nonzeros())) * nlp.scale_x[column]
    slopes = np.zeros(nlp.n_g)
    np.maximum.at(slopes, row, np.where(np.isfinite(entries), entries, 0.0))
    return slopes
