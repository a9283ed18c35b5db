"""The search for a step: transcription, options of the solver, and stages, from standing still or another step."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import colloc as co
from colloc.studies.walking.problem import motion_only, problem
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.step import Step
from colloc.transcription import Keyframes

# Without second-order corrections the line search cycles less; multipliers of a first stage mean nothing in the second;
# with many nodes MUMPS orders these systems badly by its quasi-dense rows (110 ms an iteration, against 30). A barrier
# lowered step by step ends in a step of twice the cost; one that follows how complementary an iterate is, and stays at
# 1e-8, takes two thirds of the iterations of IPOPT's own, whose last hundred move the cost by 0.1 %.
IPOPT: dict[str, Any] = {
    "constr_viol_tol": 1e-4, "max_soc": 0, "max_iter": 500, "warm_start_init_point": "no", "mumps_pivot_order": 0,
    "mu_strategy": "adaptive", "mu_oracle": "loqo", "mu_min": 1e-8,
}  # fmt: skip
FIRST: dict[str, Any] = {"constr_viol_tol": 1e-4, "tol": 1e-2, "max_iter": 300}
POINTS = 19  # control points of every joint: quartic splines of fifteen pieces, with knots where phases begin
DENSE = 4  # nodes of every piece
# The paper's six control points cannot keep the trailing foot still: its constraints hold at eleven times only.
COARSE, COARSE_NODES = 7, 11
# IPOPT's tolerance and barrier are relative to the cost where it sets out: that of a motion found without forces, where
# a step costs 0.07. With few pieces, or knots apart from where phases begin, an adaptive barrier goes round in circles
# (thirteen points), one that starts low does not.
AT_START = 15.0
LOOSE_IPOPT: dict[str, Any] = {"mu_strategy": "monotone", "mu_init": 1e-3 / AT_START}
ROUGHLY = 1e-3  # tolerance that Gauss-Newton is sure to meet; for less, the exact Hessian goes on from there
COARSE_STEP = {"band": 0.010, "slip": 0.30, "rock": 0.05, "seamless": False}
LOOSE, LOOSE_STEP = 13, {"band": 0.002, "slip": 0.02, "rock": 0.005}  # up to nine pieces


def walk(
    step: Step,
    points: int = POINTS,
    guess: Keyframes | co.Solution | None = None,
    stages: int = 2,
    compile: bool | None = None,
    tolerance: float = 1e-3,
) -> Report:
    """A step, solved from standing still on the right foot or from another step, and measured.

    The cheapest of its splines is sought, and solved when it holds between the nodes: how much less finer ones could
    cost, a quarter, decides nothing, and to estimate it would take as long as the search.

    Parameters
    ----------
    step : Step
    points : int
        Control points of every joint.
    guess : Keyframes or Solution, optional
        Start of the search; all joints at zero all the time by default, where the paper starts.
    stages : 1 or 2
        2 to seek a motion that keeps to the constraints first, without forces; a guess that is a step is one already.
    compile : bool, optional
        Whether to compile, as in `co.solve`.
    tolerance : float
        Tolerance of optimality, in the unit of the cost, the paper's by default.

    Raises
    ------
    SolveError
        With the constraints that cannot be met together.
    """
    step, curve = posed(step, points)
    squares = co.solver.Hessian.GAUSS_NEWTON
    start = co.line(step.stance.standing, step.stance.standing) if guess is None else guess
    first = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        if stages == 2 and not isinstance(start, co.Solution):
            start = first = co.solve(
                motion_only(step),
                curve,
                guess=start,
                solver=co.Ipopt(hessian=squares, **FIRST),
                plan=[co.refinement.Solve(tol=1.0, judge_cost=False, between="nodes")],
                compile=compile,
            )
        stated, options = problem(step), IPOPT | (LOOSE_IPOPT if points <= LOOSE else {})
        relative = max(tolerance, ROUGHLY) / (1.0 if isinstance(guess, co.Solution) else AT_START)
        found = co.solve(
            stated,
            curve,
            guess=start,
            solver=co.Ipopt(hessian=squares, **(options | {"tol": relative})),
            plan=[co.refinement.Solve(judge_cost=False)],
            compile=compile,
        )
        if tolerance < ROUGHLY:  # few iterations: no compiling
            found = co.solve(
                stated,
                curve,
                guess=found,
                compile=False,
                solver=co.Ipopt(**{**IPOPT, "tol": tolerance}),
                plan=[co.refinement.Solve(judge_cost=False)],
            )
    return Report(step, found, first)


def posed(step: Step, points: int) -> tuple[Step, co.BSpline]:
    """The step with the tolerances that a number of control points can keep to, and the splines."""
    if points <= COARSE:
        return replace(step, **COARSE_STEP), co.BSpline(points - 3, nodes=COARSE_NODES)
    looser, pieces = replace(step, **LOOSE_STEP) if points <= LOOSE else step, points - 4
    # Ground forces are splines of accelerations: quadratic, where cubic splines would have broken lines.
    return looser, co.BSpline(pieces, degree=4, nodes=DENSE * pieces + 1)
