"""The end of a solve without success: warnings of doubtful solutions, errors of failed solves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from colloc.solution import PhasesSolution, Solution
from colloc.solution.phases import initial_motion
from colloc.solution.solve_error import SolveError
from colloc.solver import Status
from colloc.solver.monitor import merit
from colloc.support.checks import warn


class SolutionWarning(UserWarning):
    """Warning about a doubtful solution, such as a constraint violated between the nodes.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     coarse = co.solve(problem, co.Radau(2), plan=[co.refinement.Solve(between="nodes")])
    >>> caught[0].category.__name__, coarse.success
    ('SolutionWarning', False)
    """


_POSTURES = 21  # of a guess that parts are asked about

_ADVICE = {
    Status.INFEASIBLE: "co.optimality.explain(error) finds the smallest relaxation that makes it feasible",
    Status.NOT_FOUND: "a motion may exist: try a guess that meets these constraints, as in guess=co.keyframes(...), "
    "more intervals, or the smallest relaxation near the last iterate, co.optimality.explain(error)",
    Status.ACCEPTABLE: "error.solution is this motion, nearly an optimum: often the cost leaves some motions "
    "undetermined, which a little of squared accelerations in the cost determines",
}


def judge(
    solution: Solution | PhasesSolution, start: np.ndarray, raise_on_failure: bool, seconds: float | None = None
) -> None:
    """Warn of a violated solution or one interrupted by the time limit; raise SolveError for a failed one."""
    if seconds is not None and solution.status is Status.TIME_LIMIT:
        warn("; ".join([_out_of_time(solution, seconds), *_locks(solution)]), SolutionWarning)
        return
    if solution.outcome.status is Status.SOLVED:
        from colloc.refinement.warnings import warning_messages  # most solutions have none

        for sentence in warning_messages(solution):
            warn(sentence, SolutionWarning)
    if raise_on_failure and solution.status not in (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.INTERRUPTED):
        from colloc.solver.diagnosis import failure_reason  # few solves fail

        limited, proved = (solution.status is status for status in (Status.ITERATION_LIMIT, Status.INFEASIBLE))
        reason = ""
        if solution.status is not Status.SADDLE:  # a motion that meets its constraints
            nlp, x, p = solution.nlp, solution.x, solution.parameters
            reason = failure_reason(nlp, start, x, p, limited=limited, infeasible=proved)
        doubts = doubts_at(initial_motion(solution.nlp, start, solution.parameters), ends=True)
        message = f"{solution.status} after {solution.iterations} iterations ({solution.message})"
        advice = _ADVICE.get(solution.status, "")
        raise SolveError("\n".join(filter(None, [message, reason, *doubts, *_locks(solution), advice])), solution)


def at_best_iterate(solution: Solution | PhasesSolution) -> Solution | PhasesSolution:
    """The best iterate of a solve that ended at the iteration limit; any other solution unchanged."""
    nlp, p, outcome = solution.nlp, solution.parameters, solution.outcome
    if outcome.status is not Status.ITERATION_LIMIT:
        return solution
    sizes = nlp.scale_g if outcome.scale is None else outcome.scale.rows

    def quality(x: np.ndarray) -> tuple[float, float]:
        values, (lower, upper) = np.array(nlp.g(x, p)).ravel(), nlp.bounds_g
        outside = np.maximum(lower - values, values - upper) / sizes
        return merit(float(np.nan_to_num(outside, nan=np.inf).max(initial=0.0)), float(nlp.f(x, p)))

    same = [x for x in outcome.best if x.shape == outcome.x.shape]  # not those of another grid
    return replace(solution, outcome=replace(outcome, x=min([outcome.x, *same], key=quality), best=()))


def doubts_at(guess: Solution | PhasesSolution, *, ends: bool = False) -> list[str]:
    """Sentences of parts about all postures of a guess; if there are none, about its first and its last one."""
    sentences: list[str] = []
    for name, phase in guess.phases.items():
        of = f" of {name}" if name else ""
        if phase.problem.parts:
            q = np.asarray(phase.at(np.linspace(0.0, phase.duration, _POSTURES)).q)
            places = {f"all along the guess{of}": q}
            if ends:
                places |= {f"at the start of the guess{of}": q[:1], f"at the end of the guess{of}": q[-1:]}
            for part in phase.problem.parts:
                doubts = (part.doubts(postures, where) for where, postures in places.items())
                whole = list(next(doubts))
                sentences += whole or [sentence for some in doubts for sentence in some]
    return sentences


def _locks(solution: Solution | PhasesSolution) -> list[str]:
    """Sentences about gimbal lock, which may be why a motion was not found."""
    from colloc.refinement.warnings import lock_messages

    return lock_messages(solution)


def _out_of_time(solution: Solution | PhasesSolution, seconds: float) -> str:
    """A sentence about a motion whose improvement was interrupted by the time limit, and what to try next."""
    from colloc.solver.diagnosis import violated_rows

    if missed := violated_rows(solution.nlp, solution.x, solution.parameters, limit=1):
        return (
            f"seconds={seconds:g} ran out before an optimum was found; the best iterate so far is returned, which "
            f"misses {missed[0]}: go on from it with guess=solution, or from the solution of an easier problem, "
            "such as one with fewer intervals, wider bounds or softer contacts"
        )
    if not solution.rounds:
        return (
            f"seconds={seconds:g} ran out before an optimum was found; the best iterate so far is returned, which "
            "meets all constraints at the nodes: go on from it with guess=solution"
        )
    error = f"its error is {float(solution.error):.1e}"
    change = "" if len(solution.rounds) == 1 else f", the cost changed by {solution.cost_change:.1e} in it"
    from colloc.refinement.warnings import idle_joints

    idle = idle_joints(solution) if isinstance(solution, Solution) else ""
    return (
        f"seconds={seconds:g} ran out after refinement iteration {len(solution.rounds)}: {error}{change}; go on with "
        f"co.refine(solution){'; ' * bool(idle)}{idle}"
    )
