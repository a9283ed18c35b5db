"""Results of the starts of a solve, as its solution keeps them."""

from __future__ import annotations

from typing import NamedTuple

from colloc.support.display import short


class Basin(NamedTuple):
    """Starts that end in the same motion.

    Parameters
    ----------
    cost : float
        On the first grid of the solve if it was solved there, else on the coarse grid.
    starts : tuple of int
        Numbers of the starts; 0 is the guess.
    solved : bool
        Whether the motion was solved on the first grid.
    """

    cost: float
    starts: tuple[int, ...]
    solved: bool


class Starts(NamedTuple):
    """Results of the starts of a solve: the guess, the straight line if that is not the guess, random motions.

    Parameters
    ----------
    basins : tuple of Basin
        The basin of the answer first, the others by cost.
    failed : tuple of int
        Numbers of the starts that reached no optimum.

    Examples
    --------
    >>> solution = co.solve(problem, co.BSpline(20), plan=[co.refinement.Solve(), co.refinement.SeekStarts(6)])
    >>> print(solution.starts)
    6: 5 end in this motion, including the guess; 1 fails
    >>> solution.starts.from_guess
    True
    """

    basins: tuple[Basin, ...]
    failed: tuple[int, ...]

    @property
    def count(self) -> int:
        """Number of starts."""
        return len(self.failed) + sum(len(basin.starts) for basin in self.basins)

    @property
    def from_guess(self) -> bool:
        """Whether the guess ends in the answer."""
        return 0 in self.basins[0].starts

    def __str__(self) -> str:
        answer, *others = self.basins
        if len(answer.starts) == self.count:
            return f"{self.count}: all end in this motion"
        ends = "ends" if len(answer.starts) == 1 else "end"
        guess = "including the guess" if self.from_guess else "not the guess"
        parts = [f"{len(answer.starts)} {ends} in this motion, {guess}"]
        if others:
            starts, least = sum(len(basin.starts) for basin in others), min(basin.cost for basin in others)
            parts.append(f"{starts} in {len(others)} other{'s' * (len(others) > 1)}, costs from {short(least)}")
        if self.failed:
            parts.append(f"{len(self.failed)} fail{'s' * (len(self.failed) == 1)}")
        return f"{self.count}: {'; '.join(parts)}"
