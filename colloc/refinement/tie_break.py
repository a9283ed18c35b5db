"""A second cost for joints that do not limit the time of a time optimum, in the time that it takes."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from colloc.problem import Cost
from colloc.refinement.failure import judge
from colloc.refinement.iteration import ProgressRequest, finishes_progress
from colloc.refinement.run import Run
from colloc.solution import Solution
from colloc.solution.question import question
from colloc.solver import Solver, Start, Status, chosen_solver
from colloc.solver.progress import check_progress
from colloc.support.checks import InputError, flag, instance


@question(Solution)
@finishes_progress
def tie_break(
    solution: Solution,
    cost: Cost,
    *,
    solver: Solver | None = None,
    progress: ProgressRequest = None,
    raise_on_failure: bool = True,
) -> Solution:
    """The cheapest of all motions that take as long as a time optimum, by a second cost.

    Where time alone counts, some joints decide it, and others may do what they like within their limits. The second
    solve holds the duration to the digit, and takes one to three times as long as the first. Torques of a Panda fall
    by a fifth, of one joint by a third; where all joints are at their torque limits there is nothing to settle:
    `python -m colloc benchmarks.tie_break`. Its error counts the second cost's as well.

    Parameters
    ----------
    solution : Solution
        With the duration as its only cost, and found to be an optimum; of any curve, which is kept, with its nodes.
    cost : Cost
        What the joints that are free save, such as squared torques or accelerations.
    solver, progress, raise_on_failure :
        As in `solve`.

    Returns
    -------
    Solution
        Of the problem with this cost, in the given duration.

    Raises
    ------
    InputError
        For a solution in a given duration, with other costs, or that is no optimum.
    SolveError
        When no optimum was found.

    See Also
    --------
    solve : Where the first optimum comes from.
    point_to_point : Time optima, which leave torques open.

    Examples
    --------
    >>> fastest = co.solve(problem, co.BSpline(20))
    >>> calm = co.refinement.tie_break(fastest, co.integral(lambda now: ca.sumsqr(now.tau)))
    >>> abs(calm.duration - fastest.duration) < 1e-9
    True
    """
    instance("cost", cost, Cost, "see co.integral")
    flag("raise_on_failure", raise_on_failure)
    check_progress(progress)
    chosen = chosen_solver(solver)
    problem = solution.problem
    if not problem.minimize.is_duration or problem.horizon.lower == problem.horizon.upper:
        costs = ", ".join(problem.costs)
        raise InputError(f"solution must be one of a free duration that alone has a cost, got costs {costs}")
    if solution.outcome.status is not Status.SOLVED:
        raise InputError(f"solution must be an optimum, got one that ended {solution.status}")
    begin = time.perf_counter()
    nlp = solution.nlp.for_problem(replace(problem, duration=solution.duration, minimize=cost))
    start = Start(np.clip(solution.x, nlp.lower, nlp.upper), near_optimum=True)
    run = Run(solution.parameters, chosen, progress, solution.outcome.tolerance, solution.outcome.cost_tolerance)
    settled, _ = run(nlp, start, begin)
    assert isinstance(settled, Solution)
    judge(settled, start.x, raise_on_failure)
    return settled
