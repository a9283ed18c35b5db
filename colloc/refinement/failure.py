"""The end of a solve that did not end as wished: warnings, and the error that carries the last iterate."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np

from colloc.solution import SequenceSolution, Solution
from colloc.solver import Status
from colloc.support.checks import warn


class SolutionWarning(UserWarning):
    """The answer comes with a reservation, such as a constraint violated between the nodes.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     coarse = co.solve(problem, co.Radau(2), between="nodes")
    >>> caught[0].category.__name__, coarse.success
    ('SolutionWarning', False)
    """


class SolveError(RuntimeError):
    """A solve that ended without an optimum.

    Attributes
    ----------
    solution : Solution
        The last iterate, with its status, violations and convergence history. Only in the process that solved where
        its problem has functions that cannot be sent to another, while the reason always can.

    Examples
    --------
    >>> from dataclasses import replace
    >>> try:
    ...     co.solve(replace(problem, duration=0.2), co.BSpline(10))
    ... except co.SolveError as error:
    ...     print(error.solution.status)
    infeasible
    """

    def __init__(self, message: str, solution: Solution | SequenceSolution | None):
        super().__init__(message)
        self._solution = solution

    @property
    def solution(self) -> Solution | SequenceSolution:
        if self._solution is None:
            raise AttributeError(
                "the last iterate stayed in the process that solved; catch SolveError there and co.save its solution"
            )
        return self._solution

    def __reduce__(self) -> tuple[Callable[..., SolveError], tuple[str, bytes | None]]:
        try:
            last = pickle.dumps(self._solution)
        except Exception:  # whatever keeps a user's functions from being sent
            last = None
        return _received, (str(self), last)


def _received(message: str, solution: bytes | None) -> SolveError:
    """The error in another process than it was raised in."""
    return SolveError(message, None if solution is None else pickle.loads(solution))


def judge(
    solution: Solution | SequenceSolution, start: np.ndarray, raise_on_failure: bool, seconds: float | None = None
) -> None:
    """Warn of a violated answer or one cut short by a limit in seconds, raise for a failed one."""
    if seconds is not None and solution.status is Status.TIME_LIMIT:
        warn(_out_of_time(solution, seconds), SolutionWarning)
        return
    if solution.outcome.status is Status.SOLVED:
        from colloc.refinement.warnings import warning_messages  # most answers have none

        for sentence in warning_messages(solution):
            warn(sentence, SolutionWarning)
    if raise_on_failure and solution.status not in (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.INTERRUPTED):
        from colloc.solver.diagnosis import failure_reason  # few solves fail

        limited = solution.status is Status.ITERATION_LIMIT
        reason = failure_reason(solution.nlp, start, solution.x, solution.parameters, limited=limited)
        message = f"{solution.status} after {solution.iterations} iterations ({solution.message})"
        if solution.status is Status.INFEASIBLE:
            reason += "\nco.optimality.explain(error) tells the smallest relaxation that makes it feasible"
        raise SolveError(f"{message}\n{reason}".rstrip(), solution)


def _out_of_time(solution: Solution | SequenceSolution, seconds: float) -> str:
    """A sentence on the worth of a motion whose improvement was cut short."""
    if not solution.rounds:
        return f"seconds={seconds:g} ran out before an optimum was found; the best iterate so far is returned"
    error = f"its error is {float(solution.error):.1e}"
    change = "" if len(solution.rounds) == 1 else f", the cost changed by {solution.cost_change:.1e} in it"
    return f"seconds={seconds:g} ran out; the motion of round {len(solution.rounds)} is returned: {error}{change}"
