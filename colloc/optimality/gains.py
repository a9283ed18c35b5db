"""Gain of relaxing a single limit: the least value over all multipliers of an optimum.

If active rows are dependent, multipliers are not unique, and a solver's may be of any size. The decrease of the cost
when one number is relaxed is the least sum of its multipliers over all of them (the derivative of the optimal value in
a direction; Gauvin 1977, "A necessary and sufficient regularity condition to have bounded multipliers in nonconvex
programming"): zero if another limit still holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.blocks.numeric import NumericDerivatives
from colloc.transcription import BaseNLP

_DEPENDENT = 1e-9  # of the largest singular value of unit slopes: below, a combination vanishes
_WRONG = 1e-7  # of the largest multiplier: a smaller one of the wrong sign counts as zero
_DENSE_ENTRIES = 4_000_000  # entries of active rows beyond which dense matrices would take longer than the solve


@dataclass(frozen=True, eq=False)
class MultiplierSet:
    """All multipliers of an optimum, base + free z, with nonnegative ones of inequalities.

    Parameters
    ----------
    place : ndarray of int, shape (n_g + n_x,)
        Number of every row and variable among the active ones; -1 for others.
    sides : ndarray of int, shape (active,)
        1 at an upper bound, -1 at a lower one, 2 for equations, whose multipliers are positive at an upper bound.
    base : ndarray, shape (active,)
        Multipliers of the solver, for unit slopes.
    free : ndarray, shape (active, k)
        Combinations of active rows that vanish; k = 0 if all are independent.
    lengths : ndarray, shape (active,)
        Lengths of the slopes, by which multipliers are divided.
    """

    place: np.ndarray
    sides: np.ndarray
    base: np.ndarray
    free: np.ndarray
    lengths: np.ndarray

    def least(self, entries: np.ndarray, side: int) -> float:
        """The least sum of the multipliers of some entries at one of their bounds; zero if none is active.

        Parameters
        ----------
        entries : ndarray of int
        side : int
            1 for the upper bound, -1 for the lower one.
        """
        chosen = self.place[entries]
        chosen = chosen[chosen >= 0]
        chosen = chosen[(self.sides[chosen] == side) | (self.sides[chosen] == 2)]
        signs = np.where(self.sides[chosen] == 2, side, 1)
        given = float((np.maximum(signs * self.base[chosen], 0.0) / self.lengths[chosen]).sum())
        return self._least(chosen, signs, given) if self.free.shape[1] and chosen.size else given

    def _least(self, chosen: np.ndarray, signs: np.ndarray, given: float) -> float:
        """The least sum by a linear program in the combinations, and in the positive parts of the chosen multipliers.

        At most `given`, the sum of the solver's multipliers, which is returned if the linear program fails.
        """
        k, count, size = self.free.shape[1], chosen.size, max(float(np.abs(self.base).max()), 1e-300)
        bounded = np.flatnonzero((self.sides != 2) & (np.abs(self.free).max(axis=1) > 0))
        weights = 1 / self.lengths[chosen]
        unit = max(float(weights.max()), 1e-300)
        positive = np.hstack([self.free[bounded], np.zeros((bounded.size, count))])
        parts = np.hstack([-signs[:, None] * self.free[chosen], np.eye(count)])
        a = ca.sparsify(ca.DM(np.vstack([positive, parts])))
        lower = np.append(-_WRONG - self.base[bounded] / size, signs * self.base[chosen] / size)
        solver = ca.conic("gain", "highs", {"a": a.sparsity(), "h": ca.Sparsity(k + count, k + count)}, _OPTIONS)
        result = solver(
            a=a,
            g=np.append(np.zeros(k), weights / unit),
            lba=lower,
            lbx=np.append(np.full(k, -np.inf), np.zeros(count)),
        )
        return min(float(result["cost"]) * size * unit, given) if solver.stats()["success"] else given


_OPTIONS = {"error_on_fail": False, "highs": {"output_flag": False}}


def multiplier_set(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: np.ndarray, sides: np.ndarray
) -> MultiplierSet:
    """All multipliers of an optimum, from those of a solver.

    Parameters
    ----------
    nlp : BaseNLP
    x, p : ndarray
    multipliers : ndarray, shape (n_g + n_x,)
        Of rows, then of variables; positive at an upper bound. In large programs only these are used.
    sides : ndarray of int, shape (n_g + n_x,)
        As in `MultiplierSet`; 0 for inactive entries.
    """
    active = np.flatnonzero(sides)
    place = np.full(sides.size, -1)
    place[active] = np.arange(active.size)
    signs = np.where(sides[active] == 2, 1, sides[active])
    given = signs * multipliers[active]
    if active.size * nlp.n_x > _DENSE_ENTRIES or not active.size:
        none = np.zeros((active.size, 0))
        return MultiplierSet(place, sides[active], given, none, np.ones(active.size))
    at = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    rows, variables = active[active < nlp.n_g], active[active >= nlp.n_g] - nlp.n_g
    slopes = np.vstack([at.jacobian[rows.tolist(), :].full(), np.eye(nlp.n_x)[variables]])
    slopes = slopes * signs[:, None] * nlp.scale_x
    lengths = np.linalg.norm(slopes, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    _, sizes, vt = np.linalg.svd(np.linalg.qr((slopes / lengths[:, None]).T).R)
    rank = int((sizes > _DEPENDENT * sizes.max(initial=0.0)).sum())
    if rank == active.size:
        return MultiplierSet(place, sides[active], given, np.zeros((rank, 0)), np.ones(rank))
    return MultiplierSet(place, sides[active], given * lengths, vt[rank:].T, lengths)
