"""The optima of many starts, distinguished by cost and motion, the best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.solution import PhasesSolution, Solution
from colloc.support.display import Table, short
from colloc.sweeps.warnings import warnings_of

_COMPARABLE = 5  # fewest random starts for an estimate of the chance of another optimum
_MANIFOLD = 10.0  # multiple of the best cost beyond which a percentage says nothing


class Optimum(NamedTuple):
    """An optimum and the starts that reach it.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        On the final curve.
    starts : tuple of int
        Numbers of the starts.
    from_default_guess : bool
        Whether `solve` finds it, from the same guess on the final curve.
    """

    solution: Solution | PhasesSolution
    starts: tuple[int, ...]
    from_default_guess: bool

    @property
    def warnings(self) -> list[str]:
        """Warnings of `solve`, as sentences."""
        return warnings_of(self.solution)


class StartResult(NamedTuple):
    """Result of a start.

    Parameters
    ----------
    number : int
        0 is the caller's guess, or the default one.
    near : int or None
        The start near whose result this one begins; None for a random start.
    cost : float
        On the coarse grid; infinite without an optimum.
    group : int or None
        Starts of a group reached the same optimum on the coarse grid.
    reason : str
        Reason of a failure.
    seconds : float
    """

    number: int
    near: int | None
    cost: float
    group: int | None
    reason: str
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Optima:
    """The optima of a `multistart`.

    Parameters
    ----------
    optima : tuple of Optimum
        On the final curve, the best first: those that were the best on the coarse grid.
    starts : tuple of StartResult
        By number.
    interrupted : bool
        Whether the search was interrupted by Ctrl-C.
    same_cost : float
        Relative difference within which costs are the same.

    Examples
    --------
    >>> optima = co.multistart(problem, co.BSpline(10), starts=4)
    >>> optima.best is optima.optima[0].solution
    True
    >>> optima.unseen  # too few of the four starts are random
    nan
    """

    optima: tuple[Optimum, ...]
    starts: tuple[StartResult, ...]
    interrupted: bool = False
    same_cost: float = 1e-3

    @property
    def best(self) -> Solution | PhasesSolution:
        """The cheapest solution."""
        return self.optima[0].solution

    @property
    def costs(self) -> np.ndarray:
        """Costs of the optima, shape (optima,)."""
        return np.array([optimum.solution.cost for optimum in self.optima])

    @property
    def unseen(self) -> float:
        """Chance that another random start ends in a new optimum, better or worse; nan for fewer than five random
        starts.

        The estimate of Good (1953, *The population frequencies of species*, Biometrika 40, equation 9; due to Turing):
        the share of random starts whose optimum was found only once. The chance of a better optimum is at most as
        large. Starts near earlier results do not count, since they come from another distribution.
        """
        groups = self._random
        if len(groups) < _COMPARABLE:
            return float("nan")
        return sum(groups.count(group) == 1 for group in set(groups)) / len(groups)

    @property
    def _random(self) -> list[int]:
        return [s.group for s in self.starts if s.number and s.near is None and s.group is not None]

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows, best = [], self.best
        for k, (solution, starts, default) in enumerate(self.optima):
            worse = (solution.cost - best.cost) / best.cost_scale
            more = f"{worse:.2%} costlier" if worse < _MANIFOLD else f"costs {short(solution.cost - best.cost)} more"
            words = (f"{solution.cost:.8g}", f"{short(solution.duration)} s", str(solution.status))
            rows.append(
                (*words, more if k else "the best", f"{len(starts)} starts", "solve finds it" if default else "")
            )
        failed = sum(start.group is None for start in self.starts)
        groups = len({start.group for start in self.starts} - {None})
        optima = "optimum" if groups == 1 else "optima"
        notes = [f"{len(self.starts)} starts: {failed} without an optimum, {groups} {optima} on the coarse grid"]
        if count := len(self._random):
            sample = f"{count} random start{'s' * (count > 1)}"
            chance = "not known yet" if count < _COMPARABLE else f"{self.unseen:.0%}"
            if self.unseen == 0:  # an optimum with a larger chance would have been found, at 95 % confidence
                chance = f"below {1 - 0.05 ** (1 / count):.0%}"
            notes.append(f"chance that another random start ends in a new optimum: {chance}, by {sample}")
        notes += [f"optimum {k}: {sentence}" for k, optimum in enumerate(self.optima) for sentence in optimum.warnings]
        if self.interrupted:
            notes.append("interrupted before all starts were done")
        header = ("cost", "duration", "status", "", "", "")
        return Table(f"Optima of {best.title.removeprefix('Solution of ')}", header, rows, notes)
