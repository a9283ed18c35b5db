"""Where the starts of a solve have led, as an answer remembers it."""

from __future__ import annotations

from typing import NamedTuple

from colloc.support.display import short


class Basin(NamedTuple):
    """Starts that have led to one motion.

    Parameters
    ----------
    cost : float
        On the first grid of the solve if it was solved there, else on the coarse one.
    starts : tuple of int
        Their numbers; 0 is the guess.
    solved : bool
        Whether it was solved on the first grid.
    """

    cost: float
    starts: tuple[int, ...]
    solved: bool


class Starts(NamedTuple):
    """Where the starts of a solve have led: the guess, the straight line where that is not the guess, random motions.

    Parameters
    ----------
    basins : tuple of Basin
        That of the answer first, then by cost.
    failed : tuple of int
        Numbers of the starts that have led to no optimum.

    Examples
    --------
    >>> solution = co.solve(problem, co.BSpline(20), plan=[co.refinement.Solve(), co.refinement.SeekStarts(6)])
    >>> print(solution.starts)
    6: 5 lead to this motion, the guess among them; 1 to none
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
        """Whether the guess leads to the answer."""
        return 0 in self.basins[0].starts

    def __str__(self) -> str:
        answer, *others = self.basins
        if len(answer.starts) == self.count:
            return f"{self.count}: all lead to this motion"
        leads = "leads" if len(answer.starts) == 1 else "lead"
        whose = "the guess among them" if self.from_guess else "the guess does not"
        parts = [f"{len(answer.starts)} {leads} to this motion, {whose}"]
        if others:
            starts, least = sum(len(basin.starts) for basin in others), min(basin.cost for basin in others)
            parts.append(f"{starts} to {len(others)} other{'s' * (len(others) > 1)}, costs from {short(least)}")
        if self.failed:
            parts.append(f"{len(self.failed)} to none")
        return f"{self.count}: {'; '.join(parts)}"
