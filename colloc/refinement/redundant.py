"""Equations that follow from others at the same instant: parts of a cross product, the sine and cosine of an angle.

Newton's method finds a point near the guess at which all equations of an instant hold. If their slopes are dependent
there, equations in the span of others are tested: from other points where the others hold, these must hold as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from colloc.blocks.block import Block
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, PhasesNLP

_NEARBY = 0.1  # distance of points from the guess, in natural sizes of the variables
_STEPS = 12  # iterations of Newton's method: it usually takes four, and does not converge within twelve otherwise
_MET, _FOLLOWS = 1e-11, 1e-8  # residuals of equations that hold, in natural sizes: of solved ones, and of others
_SPANNED = 1e-7  # remainder of a row's slope without others: rounding
_STRAIGHT = 10.0  # penalty of keeping a nonlinear row, which may vanish elsewhere as well
_TESTS = 2


class _Equation(NamedTuple):
    """A row of a constraint block, by the numbers of block and row."""

    block: int
    row: int


@dataclass(frozen=True, eq=False)
class _Equations:
    """The equations that hold at one instant, as a dense system in the variables that they contain.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    p : ndarray
    blocks : dict of int to Block
        Blocks with equations, by number, each with only the slice of the instant.
    """

    nlp: NLP | PhasesNLP
    p: np.ndarray
    blocks: dict[int, Block]

    @cached_property
    def equations(self) -> list[_Equation]:
        return [_Equation(number, row) for number, block in self.blocks.items() for row in _equal(block)]

    @cached_property
    def variables(self) -> np.ndarray:
        """Free entries of the decision vector."""
        places = np.unique(np.concatenate([block.sites.slices.index[:, 0] for block in self.blocks.values()]))
        return places[self.nlp.free[places]]

    def system(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Residuals of the equations and their slopes, shapes (m,) and (m, n), in natural sizes."""
        residuals, slopes = [], []
        for block in self.blocks.values():
            rows, slices = _equal(block), block.sites.slices
            scale, lower = block.rows.scale[rows], block.rows.lower[rows]
            residuals.append((block.evaluate(x, self.p)[rows, 0] - lower) / scale)
            values, pattern = block.nonzeros("jacobian", x, self.p)
            entries, matrix = slices.jacobian(pattern), np.zeros((block.n_rows, self.nlp.n_x))
            places = entries.row, slices.index[entries.column, 0]
            np.add.at(matrix, places, entries.weight[:, 0] * values[entries.source, 0])
            slopes.append(matrix[rows][:, self.variables] / scale[:, None])
        return np.concatenate(residuals), np.vstack(slopes) * self.nlp.scale_x[self.variables]

    def beside(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """A random point near x."""
        step = np.zeros(x.size)
        step[self.variables] = _NEARBY * rng.uniform(-1, 1, self.variables.size) * self.nlp.scale_x[self.variables]
        return x + step

    def solved(self, x: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Residuals and slopes of all equations at a point near x where the chosen ones hold; None if there is none."""
        for _ in range(_STEPS):
            residuals, slopes = self.system(x)
            if not np.isfinite(residuals).all() or not np.isfinite(slopes).all():
                return None
            if np.abs(residuals[chosen]).max() < _MET:
                return residuals, slopes
            step = np.linalg.lstsq(slopes[chosen], -residuals[chosen], rcond=_SPANNED)[0]
            x = x.copy()
            x[self.variables] += step * self.nlp.scale_x[self.variables]
        return None

    def dependent(self, x: np.ndarray, droppable: set[int], rng: np.random.Generator) -> set[_Equation]:
        """Equations of given blocks with slopes in the span of others, where all hold."""
        start = self.beside(x, rng)
        slopes = self.system(start)[1]
        moved = np.abs(slopes).max(axis=1, initial=0.0) > 0
        point = self.solved(start, moved) if np.count_nonzero(moved) > 1 else None
        if point is None:
            return set()
        first = np.array([equation.block not in droppable for equation in self.equations])
        spanning = _spanning(point[1], np.linalg.norm(point[1] - slopes, axis=1), moved & first, moved)
        return {self.equations[k] for k in np.flatnonzero(moved & ~spanning)}

    def follow(self, x: np.ndarray, chosen: set[_Equation], rng: np.random.Generator) -> bool:
        """Whether some equations hold wherever all others hold."""
        dropped = np.array([equation in chosen for equation in self.equations])
        moved = np.abs(self.system(self.beside(x, rng))[1]).max(axis=1, initial=0.0) > 0
        for _ in range(_TESTS):
            point = self.solved(self.beside(x, rng), moved & ~dropped)
            if point is None or np.abs(point[0][dropped]).max() > _FOLLOWS:
                return False
        return True


def redundant_rows(nlp: NLP | PhasesNLP, x: np.ndarray, p: np.ndarray) -> dict[int, np.ndarray]:
    """Equations that follow from others near x, shape (n_x,).

    Masks of rows by the number of the constraint block; blocks without such rows are left out.
    """
    if "redundant rows" not in nlp.cache:
        nlp.cache["redundant rows"] = _redundant_rows(nlp, x, p)
    return nlp.cache["redundant rows"]


def _redundant_rows(nlp: NLP | PhasesNLP, x: np.ndarray, p: np.ndarray) -> dict[int, np.ndarray]:
    together = _together(nlp)
    seen = [number for numbers in together for number in numbers]
    dependent: dict[int, np.ndarray] = {}
    for numbers, instants in together.items():
        if sum(_equal(nlp.constraints[number]).size for number in numbers) < 2:
            continue
        # A row is left out at all its instants or at none.
        droppable = {number for number in numbers if seen.count(number) == 1}
        rng = np.random.default_rng(0)
        some = [instants[k] for k in sorted({0, len(instants) // 2, len(instants) - 1})]
        tried = [_Equations(nlp, p, {k: _at(nlp.constraints[k], site) for k, site in sites.items()}) for sites in some]
        followers = tried[0].dependent(x, droppable, rng)
        if followers and all(instant.follow(x, followers, rng) for instant in tried):
            for number, row in followers:
                dependent.setdefault(number, np.zeros(nlp.constraints[number].n_rows, dtype=bool))[row] = True
    return dependent


def _together(nlp: NLP | PhasesNLP) -> dict[tuple[int, ...], list[dict[int, int]]]:
    """Numbers of blocks with equations that hold together, with their instants and slices.

    Equations of states contain separate rates, and never follow from others.
    """
    states = {state.equation_name for phase in nlp.phases.values() for state in phase.problem.states}
    instants: dict[tuple[int | None, float], dict[int, int]] = {}
    for number, block in enumerate(nlp.constraints):
        if _equal(block).size and block.name not in states:
            for site, s in enumerate(block.sites.s):
                instants.setdefault((nlp.owner(block)[1], round(float(s), 9)), {}).setdefault(number, site)
    together: dict[tuple[int, ...], list[dict[int, int]]] = {}
    for sites in instants.values():
        together.setdefault(tuple(sites), []).append(sites)
    return together


def _at(block: Block, site: int) -> Block:
    """A block at a single site."""
    return replace(block, sites=block.sites.take(np.array([site])), virtual=True)


def _equal(block: Block) -> np.ndarray:
    """Numbers of the rows that are equations."""
    return np.flatnonzero(block.rows.lower == block.rows.upper)


def _spanning(slopes: np.ndarray, bends: np.ndarray, first: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """Mask of rows whose slopes span those of all chosen ones: `first`, then the most linear ones."""
    left, sizes = slopes.copy(), np.linalg.norm(slopes, axis=1)
    spanning = np.zeros(sizes.size, dtype=bool)
    for group in (first, chosen & ~first):
        while True:
            shares = np.linalg.norm(left, axis=1)
            more = group & ~spanning & (shares > _SPANNED * sizes[chosen].max())
            if not more.any():
                break
            straight = np.divide(shares, sizes + _STRAIGHT * bends, out=np.full(sizes.size, -1.0), where=more)
            best = int(np.argmax(straight))
            spanning[best] = True
            direction = left[best] / shares[best]
            left -= np.outer(left @ direction, direction)
    return spanning | first
