"""The optima of many starts, distinguished by cost and motion, the best first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.solution import PhasesSolution, Solution
from colloc.support.display import Table, short
from colloc.sweeps.warnings import warnings_of

_COMPARABLE = 5  # random starts, by which the chance of another optimum is estimated
_MANIFOLD = 10.0  # times the best cost, beyond which a share of it tells nothing


class Optimum(NamedTuple):
    """An optimum and the starts that lead to it.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        On the curve that was asked for.
    starts : tuple of int
        Numbers of the starts.
    from_default_guess : bool
        Whether `solve` finds it, from the same guess on the curve that was asked for.
    """

    solution: Solution | PhasesSolution
    starts: tuple[int, ...]
    from_default_guess: bool

    @property
    def warnings(self) -> list[str]:
        """Sentences that `solve` would warn with."""
        return warnings_of(self.solution)


class StartResult(NamedTuple):
    """The end of a start.

    Parameters
    ----------
    number : int
        0 is the caller's guess, or the default one.
    near : int or None
        The start near whose end it lies, of one that is not random.
    cost : float
        On the coarse grid; infinite where there is no optimum.
    group : int or None
        Starts of a group have led to the same optimum on the coarse grid.
    reason : str
        Why it has led to none.
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
        The best first, on the curve that was asked for: those whose coarse forerunners were the best.
    starts : tuple of StartResult
        By number.
    interrupted : bool
        Whether Ctrl-C came before all were done.
    same_cost : float
        Difference of costs, of their size, that count as the same.

    Examples
    --------
    >>> optima = co.multistart(problem, co.BSpline(10), starts=4)
    >>> optima.best is optima.optima[0].solution
    True
    >>> optima.unseen  # too few of four starts are random ones
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
        """Chance that one more random start ends in an optimum not seen yet, better or worse; nan below five of them.

        The estimate of Good (1953, *The population frequencies of species*, Biometrika 40, equation 9; due to Turing):
        the share of those optima that were found once among all that random starts have ended in. That of a better
        optimum is at most as large. Starts near earlier ends do not count, since they are not drawn alike.
        """
        groups = self._random
        if len(groups) < _COMPARABLE:
            return float("nan")
        return sum(groups.count(group) == 1 for group in set(groups)) / len(groups)

    @property
    def _random(self) -> list[int]:
        """The optima in which random starts have ended."""
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
            if self.unseen == 0:  # an optimum with a larger chance would have been met, at 95 % confidence
                chance = f"below {1 - 0.05 ** (1 / count):.0%}"
            notes.append(f"chance that one more random start ends in another optimum: {chance}, by {sample}")
        notes += [f"optimum {k}: {sentence}" for k, optimum in enumerate(self.optima) for sentence in optimum.warnings]
        if self.interrupted:
            notes.append("interrupted before all starts were done")
        header = ("cost", "duration", "status", "", "", "")
        return Table(f"Optima of {best.title.removeprefix('Solution of ')}", header, rows, notes)
