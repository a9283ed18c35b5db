"""A problem that others have solved: the optimum that they publish, and what our answer must come to."""

from __future__ import annotations

import csv
from collections.abc import Callable
from math import floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import colloc as co

SAME = 1e-6  # relative, of an answer that is right


class Published(NamedTuple):
    """A row of optima.csv.

    Parameters
    ----------
    name : str
    optimum : float
    digits : int
        Significant digits of the optimum that its source vouches for.
    kind : str
        "exact" for closed forms, "converged" for values that finer grids confirm, "mesh" for those of one grid,
        "bracket" where only bounds are published.
    about : str
        The problem in a few words.
    source : str
        Repository with its commit, book or paper.
    """

    name: str
    optimum: float
    digits: int
    kind: str
    about: str
    source: str

    @property
    def room(self) -> float:
        """How far an answer may be off: 1e-6 of the optimum, or half a unit of its last digit where that is more."""
        if self.optimum == 0:
            return SAME
        last = 10.0 ** (floor(log10(abs(self.optimum))) + 1 - self.digits)
        return max(SAME * abs(self.optimum), last / 2)


class Statement(NamedTuple):
    """A published problem as a problem of the library.

    Parameters
    ----------
    problem : callable
        Makes the problem.
    factor : float
        The published value over the cost: -1 of what is maximised.
    guess : callable, optional
        Makes the guess of the source, where it has one beyond straight lines.
    optimum : float, optional
        The optimum as the library knows it, like the published one, where that is not the optimum or has fewer digits.
    why : str
        What is wrong with the published value.
    curve : co.curves.Transcription, optional
        First grid, where that of the plain call is too coarse for the guess.
    tol : float, optional
        Tolerance that is asked for, where one that is coarser than the digits already gives them all.
    """

    problem: Callable[[], co.Problem | co.Phases]
    factor: float = 1.0
    guess: Callable[[], Any] | None = None
    optimum: float | None = None
    why: str = ""
    curve: co.curves.Transcription | None = None
    tol: float | None = None


def published() -> dict[str, Published]:
    """All rows of optima.csv by name."""
    with Path(__file__).with_name("optima.csv").open(newline="", encoding="utf-8") as file:
        return {
            row["name"]: Published(
                row["name"], float(row["optimum"]), int(row["digits"]), row["kind"], row["about"], row["source"]
            )
            for row in csv.DictReader(file)
        }
