"""Iterations of a solve, as passed to a user's progress function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from colloc.solution.phases import PhasesSolution, solution_of
from colloc.solution.solution import Solution
from colloc.solver import Outcome, Status
from colloc.solver.progress import Iterate, OnIteration
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, PhasesNLP

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Iteration:
    """An iteration of a solve, as passed to the function `progress`.

    Parameters
    ----------
    number : int
        Counted from 0 in every run of a refinement.
    cost : float
    infeasibility : float
        Largest violation of a constraint at the nodes, relative to its natural size.
    seconds : float
        Time since the run began.
    nlp : NLP or PhasesNLP
    x : ndarray
        Decision vector.
    parameters : ndarray
        Values of the problem's parameters.
    round : int
        Refinement iteration, counted from 1.

    Examples
    --------
    >>> durations = []
    >>> solution = co.solve(problem, co.BSpline(10), progress=lambda now: durations.append(now.solution.duration))
    >>> bool(abs(durations[-1] - solution.duration) < 1e-6)
    True
    """

    number: int
    cost: float
    infeasibility: float
    seconds: float
    nlp: NLP | PhasesNLP
    x: np.ndarray
    parameters: np.ndarray
    round: int = 1

    def __repr__(self) -> str:
        return f"Iteration({self.number}, cost {self.cost:.6g}, infeasibility {self.infeasibility:.1e})"

    @cached_property
    def solution(self) -> Solution | PhasesSolution:
        """The motion at this iteration: duration, q, tau, at(t), constants, ..."""
        multipliers = {"g": np.zeros(self.nlp.n_g), "x": np.zeros(self.nlp.n_x)}
        seconds = {"build": 0.0, "solve": self.seconds, "callbacks": 0.0}
        outcome = Outcome(self.x, multipliers, Status.INTERRUPTED, "on the way", {}, self.number, seconds)
        return solution_of(self.nlp, outcome, self.parameters)


ProgressRequest = bool | Callable[[Iteration], object] | None  # the argument `progress` of users


def progress_adapter(
    progress: ProgressRequest, nlp: NLP | PhasesNLP, parameters: np.ndarray, round: int
) -> bool | OnIteration | None:
    """A user's `progress` for a solver: a function is called with iterations of this NLP, in this round.

    The variables of a lifted program begin with those of the NLP.
    """
    if not callable(progress):
        return progress

    def on_iteration(iterate: Iterate) -> object:
        return progress(Iteration(*iterate[:4], nlp, iterate.x[: nlp.n_x], parameters, round))

    return on_iteration


def finish_progress(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a function to call the method `finish` of its argument `progress`, if there is one, with its result.

    If the function raises, `finish` is called with the last iterate if the error has one, otherwise with None.
    """

    @wraps(function)
    def finishing(*args: P.args, **kwargs: P.kwargs) -> T:
        finish = getattr(kwargs.get("progress"), "finish", None)
        if not callable(finish):
            return function(*args, **kwargs)
        try:
            answer = function(*args, **kwargs)
        except BaseException as error:
            finish(getattr(error, "solution", None))
            raise
        finish(answer)
        return answer

    return finishing
