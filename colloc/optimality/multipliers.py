"""Multipliers of rows and variables, including those of fixed ends."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from colloc.blocks.numeric import NumericDerivatives
from colloc.transcription import BaseNLP


def multipliers_without_fixed(
    nlp: BaseNLP, multipliers: Mapping[str, np.ndarray], opened: BaseNLP, x: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """Multipliers of an optimum for a program with end conditions as rows and durations as free variables.

    Rows of both programs have the same multipliers. Multipliers of end conditions that fix variables follow from the
    stationarity of the Lagrangian by these variables.

    Parameters
    ----------
    nlp : BaseNLP
        The program that was solved.
    multipliers : mapping of str to ndarray
        "g" of its rows, and "x" of its variables.
    opened : BaseNLP
        The same problem without fixed ends.
    x, p : ndarray

    Returns
    -------
    ndarray, shape (n_g + n_x,)
        Of the rows of `opened`, then of its variables; positive at an upper bound.
    """
    rows, known = np.zeros(opened.n_g), np.zeros(opened.n_g, dtype=bool)
    before = _rows_by_label(nlp)
    for name, index in _rows_by_label(opened).items():
        if name in before and before[name].size == index.size:
            rows[index], known[index] = multipliers["g"][before[name]], True
    variables, fixed = np.where(nlp.free, multipliers["x"], 0.0), np.flatnonzero(~nlp.free)
    at = NumericDerivatives(opened.costs, opened.constraints, x, p)
    slopes = at.jacobian[np.flatnonzero(~known).tolist(), fixed.tolist()].full()
    left = at.lagrangian_gradient(rows)[fixed]
    durations = [opened.parts[name].start + int(part.grid.layout.duration[0]) for name, part in opened.phases.items()]
    of_ends = ~np.isin(fixed, durations)
    rows[~known] = np.linalg.lstsq(slopes[:, of_ends].T, -left[of_ends], rcond=None)[0]
    variables[fixed[~of_ends]] = -(left + slopes.T @ rows[~known])[~of_ends]
    return np.append(rows, variables)


def _rows_by_label(nlp: BaseNLP) -> dict[tuple[str, str, str], np.ndarray]:
    """Rows of a program by phase, constraint and label."""
    rows: dict[tuple[str, str, str], np.ndarray] = {}
    for block, first in zip(nlp.constraints, nlp.offsets, strict=False):
        for line, label in enumerate(block.rows.labels):
            name = nlp.owners.get(block, ""), block.name, label
            index = int(first) + line + block.n_rows * np.arange(block.n_slices)
            rows[name] = np.append(rows.get(name, np.zeros(0, dtype=int)), index)
    return rows
