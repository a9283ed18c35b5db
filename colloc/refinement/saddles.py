"""Stationary motions that are no minimum, and the solves along directions in which the cost falls.

Newton's method ends at a saddle where symmetry keeps it there: from a guess in a mirror plane of the problem all
iterates stay in the plane.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solver import Hessian, Ipopt, Outcome, Solver, Start, Status
from colloc.transcription import BaseNLP

PATIENCE = 300  # largest number of iterations from beside a saddle: the cost may have no lower bound there
_FOLLOWED = 4  # largest number of consecutive saddles
_LAST = 3  # last iterations checked for a regularised Hessian
_STEPS = (0.3, 0.03)  # step, in natural sizes of the largest component of the direction
_GAIN = 1e-6  # of the cost's size: a motion that is cheaper by less is the same
_SAME = 1e-9  # of the cost's size: tolerance of equal costs on both sides of a mirror plane

_STATIONARY, _CUT_SHORT = (Status.SOLVED, Status.ACCEPTABLE), (Status.INTERRUPTED, Status.TIME_LIMIT)

Motion = Solution | PhasesSolution


def beyond_saddles(solution: Motion, solver: Solver, solved: Callable[[Start], Motion]) -> Sequence[Motion]:
    """The motion reached along directions of descent, then the saddles on the way to it, the last first.

    A saddle that no start beside it leaves has the status `Status.SADDLE`. If the Hessian had the right inertia in the
    last iterations of IPOPT, nothing is computed.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        Result of a run.
    solver : Solver
        The solver of that run.
    solved : callable
        Run of the same program: takes a Start, returns a solution.
    """
    motions: list[Motion] = [solution]
    while _may_be_saddle(motions[0].outcome, solver) and (direction := _falling(motions[0], solver)) is not None:
        last, better = motions[0], None
        if len(motions) <= _FOLLOWED:
            better = _beside(last, direction, solved)
        if better is None:
            motions[0] = _named(last, direction)
            break
        motions.insert(0, better)
    return motions


def _may_be_saddle(outcome: Outcome, solver: Solver) -> bool:
    """Whether second-order conditions must be checked at the end of a run."""
    if outcome.status not in _STATIONARY:
        return False
    if outcome.scale is not None and outcome.scale.anchor is not None:
        return False
    added = outcome.history.get("regularization_size", [])
    exact = isinstance(solver, Ipopt) and solver.hessian is Hessian.EXACT
    return not exact or len(added) < 2 or any(added[-_LAST:])


def _falling(solution: Motion, solver: Solver) -> np.ndarray | None:
    """A direction along which the cost falls to second order."""
    from colloc.optimality.second_order import falling_direction, may_fall  # few runs need it

    end = solution.nlp, solution.x, solution.parameters, solution.multipliers, solution.cost_scale
    by_squares = isinstance(solver, Ipopt) and solver.hessian is Hessian.GAUSS_NEWTON
    if solution.cost_scale <= 0 or (by_squares and not may_fall(*end)):
        return None
    return falling_direction(*end, by_squares=by_squares)


def _named(solution: Motion, direction: np.ndarray) -> Motion:
    """A saddle with its status, and the direction of descent in its message."""
    from colloc.optimality.second_order import content

    outcome, moves = solution.outcome, content(solution.nlp, solution.x, direction)
    message = (
        f"{outcome.message}, but the cost falls along {moves}, and no start beside it reached a cheaper motion; bound "
        "this direction, or use other starts, as with co.refinement.SeekStarts(8)"
    )
    status = Status.SADDLE if outcome.status is Status.SOLVED else outcome.status
    return replace(solution, outcome=replace(outcome, status=status, message=message))


def _beside(saddle: Motion, direction: np.ndarray, solved: Callable[[Start], Motion]) -> Motion | None:
    """The cheapest result of runs from both sides of a saddle; None if none leaves it.

    After Ctrl-C or at the time limit, the saddle with that status.
    """
    nlp, p = saddle.nlp, saddle.parameters
    for step in _STEPS:
        starts = [np.clip(saddle.x + sign * step * direction, nlp.lower, nlp.upper) for sign in (1, -1)]
        if _mirrored(nlp, starts, p, saddle.cost_scale):
            del starts[1]
        ends = []
        for start in starts:
            ends.append(solved(Start(start, near_optimum=True)))
            if (status := ends[-1].outcome.status) in _CUT_SHORT:
                return replace(saddle, outcome=replace(saddle.outcome, status=status))
        left = [end for end in ends if end.outcome.status in _STATIONARY and _is_cheaper(end, saddle)]
        if left:
            return min(left, key=lambda end: end.cost)
    return None


def _is_cheaper(motion: Motion, saddle: Motion) -> bool:
    return saddle.cost - motion.cost > _GAIN * saddle.cost_scale


def _mirrored(nlp: BaseNLP, starts: Sequence[np.ndarray], p: np.ndarray, size: float) -> bool:
    """Whether two starts are mirror images in a symmetry of the problem: cost and sizes of rows are equal."""
    cost = [float(nlp.f(x, p)) for x in starts]
    rows = [np.sort(np.abs(np.array(nlp.g(x, p)).ravel())) for x in starts]
    return abs(cost[0] - cost[1]) <= _SAME * size and np.allclose(*rows, rtol=_SAME, atol=_SAME)
