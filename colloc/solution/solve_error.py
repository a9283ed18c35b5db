"""The error of a failed solve, with its last iterate."""

from __future__ import annotations

import pickle
from collections.abc import Callable

from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.support.checks import frames_of_users


class SolveError(RuntimeError):
    """Error of a solve that ended without an optimum.

    Attributes
    ----------
    solution : Solution
        The last iterate, with its status, violations and convergence history; at the limit of iterations the best
        one: the cheapest that meets all constraints at the nodes, otherwise that which violates them least. It stays in
        the process that solved if the problem has functions that cannot be pickled; the message is always available.

    Examples
    --------
    >>> from dataclasses import replace
    >>> try:
    ...     co.solve(replace(problem, duration=0.2), co.BSpline(10))
    ... except co.SolveError as error:
    ...     print(error.solution.status)
    infeasible
    """

    def __init__(self, message: str, solution: Solution | PhasesSolution | None):
        super().__init__(message)
        self._solution = solution

    @property
    def solution(self) -> Solution | PhasesSolution:
        if self._solution is None:
            raise AttributeError(
                "the last iterate stayed in the process that solved; catch SolveError there and co.save its solution"
            )
        return self._solution

    def _render_traceback_(self) -> list[str]:
        """Lines that IPython shows."""
        return frames_of_users(self)

    def __reduce__(self) -> tuple[Callable[..., SolveError], tuple[str, bytes | None]]:
        try:
            last = pickle.dumps(self._solution)
        except Exception:  # any error that prevents a user's functions from being pickled
            last = None
        return _received, (str(self), last)


def _received(message: str, solution: bytes | None) -> SolveError:
    """The error in another process than the one that raised it."""
    return SolveError(message, None if solution is None else pickle.loads(solution))
