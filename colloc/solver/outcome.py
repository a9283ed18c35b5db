"""What a solver leaves behind, whichever it is."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np


class Status(StrEnum):
    """How a solve ended. Only `SOLVED` is success.

    Examples
    --------
    >>> solution.status
    <Status.SOLVED: 'solved'>
    >>> solution.status is co.solver.Status.SOLVED
    True
    """

    SOLVED = "solved"
    VIOLATED = "violated between nodes"
    COARSE = "too coarse a grid"
    ACCEPTABLE = "solved to acceptable level only"
    INFEASIBLE = "infeasible"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    FAILED = "failed"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a run, in the NLP's own (unscaled) units.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Decision vector.
    multipliers : dict of str to ndarray
        "g" of the constraint rows and "x" of the variable bounds; CasADi's signs (positive at an upper bound).
    status : Status
        What the solver says; it knows nothing of what happens between the nodes.
    message : str
        The solver's own words.
    history : dict of str to list of float
        Its record of every iteration: cost, infeasibility (primal) and stationarity (dual infeasibility) in its own
        scaled variables, and what else it has.
        Runs of several strategies stand one after the other.
    iterations : int
        Those of all runs; 0 where the solver could not begin.
    seconds : dict of str to float
        Wall time: "solve", of which "callbacks" in functions and derivatives; "build" before.
    tolerance : float
        Largest error between nodes, relative, of an answer that counts as solved.
    strategy : str
        How the solver found this end, where it may try several ways: "monotone barrier", say.
    """

    x: np.ndarray
    multipliers: dict[str, np.ndarray]
    status: Status
    message: str
    history: dict[str, list[float]]
    iterations: int
    seconds: dict[str, float]
    tolerance: float = 1e-2
    strategy: str = ""
