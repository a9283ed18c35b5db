"""What many starts have found: optima told apart by cost and motion, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.solution import SequenceSolution, Solution
from colloc.support.display import Table, short
from colloc.sweeps.screening import Coarse
from colloc.sweeps.warned import warnings_of

SAME_COST = 1e-3  # of the cost's size
_SAME_MOTION = 0.03  # of the ranges of the joints, and of the duration


class Optimum(NamedTuple):
    """An optimum and the starts that lead to it.

    Parameters
    ----------
    solution : Solution or SequenceSolution
        On the curve that was asked for.
    starts : tuple of int
        Numbers of the starts.
    usual : bool
        Whether `solve` finds it, from the same guess on the curve that was asked for.
    """

    solution: Solution | SequenceSolution
    starts: tuple[int, ...]
    usual: bool

    @property
    def warnings(self) -> list[str]:
        """What `solve` would warn of."""
        return warnings_of(self.solution)


class Found(NamedTuple):
    """What became of one start.

    Parameters
    ----------
    number : int
        0 is the guess that was given, or the usual one.
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
    """The optima that `multistart` has found.

    Parameters
    ----------
    optima : tuple of Optimum
        The best first, on the curve that was asked for: those whose coarse forerunners were the best.
    starts : tuple of Found
        By number.
    interrupted : bool
        Whether Ctrl-C came before all were done.

    Examples
    --------
    >>> found = co.multistart(problem, co.BSpline(10), starts=4)
    >>> found.best is found.optima[0].solution
    True
    >>> 0 <= found.unseen <= 1
    True
    """

    optima: tuple[Optimum, ...]
    starts: tuple[Found, ...]
    interrupted: bool = False

    @property
    def best(self) -> Solution | SequenceSolution:
        """The cheapest solution."""
        return self.optima[0].solution

    @property
    def costs(self) -> np.ndarray:
        """Costs of the optima, shape (optima,)."""
        return np.array([optimum.solution.cost for optimum in self.optima])

    @property
    def unseen(self) -> float:
        """Chance that one more random start ends in an optimum that none has found, better or worse; nan without any.

        The estimate of Good (1953, *The population frequencies of species*, Biometrika 40, equation 9; due to Turing):
        the share of those optima that were found once among all that random starts have ended in. That of a better
        optimum is at most as large. Starts near earlier ends do not count, since they are not drawn alike.
        """
        groups = self._random
        if not groups:
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
        for k, (solution, starts, usual) in enumerate(self.optima):
            worse = (solution.cost - best.cost) / best.cost_scale
            more = f"{worse:.2%} dearer" if k else "the best"
            words = (f"{solution.cost:.8g}", f"{short(solution.duration)} s", str(solution.status))
            rows.append((*words, more, f"{len(starts)} starts", "solve finds it" if usual else ""))
        failed = sum(found.group is None for found in self.starts)
        others = len({found.group for found in self.starts} - {None})
        optima = "optimum" if others == 1 else "optima"
        notes = [f"{len(self.starts)} starts: {failed} without an optimum, {others} {optima} on the coarse grid"]
        if known := len(self._random):
            sample = f"{known} random start{'s' * (known > 1)}"
            notes.append(f"chance that one more random start ends in another optimum: {self.unseen:.0%}, by {sample}")
        notes += [f"optimum {k}: {sentence}" for k, own in enumerate(self.optima) for sentence in own.warnings]
        if self.interrupted:
            notes.append("interrupted before all starts were done")
        header = ("cost", "duration", "status", "", "", "")
        return Table(f"Optima of {best.title.removeprefix('Solution of ')}", header, rows, notes)


def grouped(found: Sequence[Coarse]) -> list[list[Coarse]]:
    """Starts that have led to the same optimum, the best group first and in it the best start."""
    groups: list[list[Coarse]] = []
    for one in sorted((c for c in found if not c.reason), key=lambda c: (c.cost, c.number)):
        for group in groups:
            if alike(group[0], one):
                group.append(one)
                break
        else:
            groups.append([one])
    return groups


def alike(one: Coarse, other: Coarse) -> bool:
    """Whether two optima are the same: their costs are, and their motions."""
    if abs(one.cost - other.cost) > SAME_COST * max(one.size, other.size):
        return False
    return one.motion.shape == other.motion.shape and float(np.abs(one.motion - other.motion).max()) <= _SAME_MOTION
