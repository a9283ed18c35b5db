"""Steps that lead from a program to a solution, one after another.

A plan is a list of steps. Each takes an `Attempt`, the motion so far, and returns a better one: `Solve` solves one
program once, `SeekFeasible` searches for a motion if that has failed, `SeekStarts` for cheaper optima, `Refine` solves
on finer grids, and `AtSwitches` makes intervals end where limits become active or inactive. Your own step is any
function from an `Attempt` to another.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

from colloc.refinement.final_postures import best_of_final_postures
from colloc.refinement.forms import FORMS
from colloc.refinement.rounds import at_switches, closes_in_on_switches, on_ends_at_switches, refined
from colloc.refinement.run import Run
from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.solution.warm_start import MotionGuess
from colloc.solver import Status
from colloc.solver.solver import FOR_ONE_RUN
from colloc.support.checks import InputError, as_tuple, choice, count, finite_number, flag, quoted, relative_tolerance
from colloc.support.stopwatch import part
from colloc.transcription import NLP, PhasesNLP

TOLERANCE = 1e-3  # tolerance of refinement of a call without a curve
_ANY = 1.0  # with an error of the cost as large as the cost, none is estimated

NextStep = Callable[["Attempt"], "Attempt"]


@dataclass(frozen=True, eq=False)
class Attempt:
    """The motion so far, between two steps of a plan.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        The program that is solved next.
    run : Run
        Settings of solves: parameters, solver, progress, tolerances and the time limit.
    guess : optional
        As in `solve`.
    solution : Solution or PhasesSolution, optional
        The best motion so far; None before the first step.
    start : ndarray, optional
        Decision vector at the start of the first run.
    begin : float, optional
        Time at which the build of `nlp` began, on the clock of `time.perf_counter`.
    confirm : bool
        Whether a finer grid must confirm the cost.
    steps : tuple of str
        The steps so far that have changed the motion.

    Examples
    --------
    >>> def twice(attempt: co.refinement.Attempt) -> co.refinement.Attempt:
    ...     return co.refinement.Solve()(co.refinement.Solve()(attempt))
    >>> co.solve(problem, co.BSpline(10), plan=[twice]).plan
    ('twice',)
    """

    nlp: NLP | PhasesNLP
    run: Run
    guess: MotionGuess = None
    solution: Solution | PhasesSolution | None = None
    start: np.ndarray | None = None
    begin: float | None = None
    confirm: bool = True
    steps: tuple[str, ...] = ()

    @property
    def answer(self) -> Solution | PhasesSolution:
        """The best motion so far; InputError if there is none."""
        if self.solution is None:
            raise InputError("plan must begin with a step that solves, as in [Solve(), Refine(1e-3)]")
        return self.solution

    def followed(self, plan: Iterable[NextStep]) -> Attempt:
        """Apply all steps of a plan."""
        now = self
        for step in plan:
            after = step(now)
            if after.solution is not now.solution:
                after = replace(after, steps=(*now.steps, step_name(step)))
            now = after
        return now


@dataclass(frozen=True, repr=False)
class PlanStep(ABC):
    """A step of a plan. A setting such as a tolerance also applies to later steps that do not change it."""

    @abstractmethod
    def __call__(self, attempt: Attempt, /) -> Attempt:
        """The attempt after this step."""

    def __repr__(self) -> str:
        """The step with its settings that differ from the default."""
        settings = [(field, getattr(self, field.name)) for field in fields(self)]
        changed = [f"{field.name}={value!r}" for field, value in settings if value != field.default]
        return f"{type(self).__name__}({', '.join(changed)})"


@dataclass(frozen=True, repr=False)
class Solve(PlanStep):
    """Solve one program, from the guess or from the motion so far.

    Without a guess, it is solved from a line to every final posture that the problem leaves open: the nearest turns of
    angles that are prescribed up to turns, see `final`, and up to three postures in which bodies reach targets at the
    end; or, from a quaternion to exactly its negative, from whole turns about each axis of the body. The message of the
    cheapest answer says how many there were.

    Parameters
    ----------
    tol : float, optional
        Largest error between nodes, as in `Solution.error`, of an answer that counts as solved; by default that of the
        call. With 1 or more no error is estimated, which is useful if the motion only serves as a guess.
    between : "always" or "nodes"
        Where inequalities hold. With "always" nodes are added where one is violated between nodes, and the program is
        solved again, at most ten times. With "nodes" they hold only at the nodes of the curve.
    judge_cost : bool
        Whether the excess of the cost over the local optimum of the continuous problem is estimated and judged. False
        accepts the optimum on this curve, as where measured data are followed, whose noise a finer spline would follow
        as well. The estimate takes long for motions of thousands of unknowns.
    form : "auto", "compact", "lifted" or "race"
        In which variables programs are solved. The compact form has those of the motion alone. The lifted form has the
        torques in costs and limits, too, with equations that tie them to the motion: its optima are the same, but where
        there are several it may end at another one. A race solves both and keeps the cheaper answer. By default, where
        squares of torques are minimised, motions with passive joints are solved in the lifted form, and others in the
        compact form, which after 30 iterations they leave for the lifted one; all others are solved in the compact
        form: with a duration in the cost, or loads that depend on the motion. ``solution.outcome.strategy`` has the
        form of an answer, and its iterations are those of all runs.

    Examples
    --------
    >>> solution = co.solve(problem, co.BSpline(20), plan=[co.refinement.Solve(between="nodes")])
    >>> solution.plan
    ("Solve(between='nodes')",)
    >>> co.solve(problem, co.BSpline(20), plan=[co.refinement.Solve(form="lifted")]).outcome.strategy
    'monotone barrier, lifted torques'
    """

    tol: float | None = None
    between: str = "always"
    judge_cost: bool = True
    form: str = "auto"

    def __post_init__(self) -> None:
        if self.tol is not None:
            finite_number("tol", self.tol, positive=True)
        choice("between", self.between, ("always", "nodes"))
        flag("judge_cost", self.judge_cost)
        choice("form", self.form, FORMS)

    def __call__(self, attempt: Attempt, /) -> Attempt:
        of_cost, always = None if self.judge_cost else _ANY, self.between == "always"
        run = replace(_within(attempt.run, self.tol), cost_tolerance=of_cost, always=always, form=self.form)
        guess = attempt.guess if attempt.solution is None else attempt.solution
        begin = time.perf_counter() if attempt.begin is None else attempt.begin
        if guess is None:
            solution, start = best_of_final_postures(attempt.nlp, run, begin)
        else:
            solution, start = run(attempt.nlp, guess, begin)
        first = start if attempt.start is None else attempt.start
        return replace(attempt, run=run, solution=solution, start=first, begin=None)


@dataclass(frozen=True, repr=False)
class SeekFeasible(PlanStep):
    """Search for a feasible motion from other starts and on finer grids, after a failed solve.

    The least mean square violation of all rows, in natural sizes, is sought from the guess, from a motion simulated
    under its torques, and from random ones, on the grid and on finer ones. If it vanishes, the program is solved from
    there, see `Solution.outcome.strategy`. If it is the same positive number from all starts, and about the same on a
    finer grid, the status is `INFEASIBLE`; otherwise it is unchanged, usually `NOT_FOUND`, and the message lists the
    attempts. The step does nothing if the motion so far is feasible, and takes a few times the work of the failed run.

    Parameters
    ----------
    finer : bool
        Whether the answer may be on a finer grid than requested.

    Examples
    --------
    >>> careful = [co.refinement.Solve(), co.refinement.SeekFeasible(), co.refinement.Refine(1e-2)]
    >>> co.solve(problem, co.BSpline(20), plan=careful).outcome.status
    <Status.SOLVED: 'solved'>
    """

    finer: bool = True

    def __post_init__(self) -> None:
        flag("finer", self.finer)

    def __call__(self, attempt: Attempt, /) -> Attempt:
        if attempt.answer.outcome.status is Status.SOLVED:
            return attempt
        from colloc.refinement.seek_feasible import feasible_motion  # few solves fail

        with part("starts", whole=True):
            best = feasible_motion(attempt.nlp, attempt.answer, attempt.run, attempt.guess, finer=self.finer)
        return attempt if best is attempt.answer else replace(attempt, nlp=best.nlp, solution=best)


@dataclass(frozen=True, repr=False)
class SeekStarts(PlanStep):
    """Search for cheaper optima from other starts than the guess.

    The straight line if that is not the guess, then random motions, are solved on six intervals. The best results, two
    or a quarter of the number of starts, are then solved on the curve. With more than eight starts, most are near the
    best results so far. If there is a guess, its motion stays the answer unless another is cheaper by 1 %.
    `Solution.starts` lists the results. The starts are the same in every call. If a guess makes a whole turn, from a
    quaternion to exactly its negative, whole turns about each axis of the body are solved first.

    Parameters
    ----------
    count : int
        Number of starts, the guess included.
    quick : bool
        Whether the search ends when it has taken about as long as the first solve from the guess, or when two starts
        end in the same motion as the guess. It is then skipped with more than twelve joints, without joints, or if the
        solve from the guess took very few iterations.

    Examples
    --------
    >>> seek = [co.refinement.Solve(), co.refinement.SeekStarts(6)]
    >>> print(co.solve(problem, co.BSpline(20), plan=seek).starts)
    6: 5 end in this motion, including the guess; 1 fails
    """

    count: int
    quick: bool = False

    def __post_init__(self) -> None:
        count("count", self.count, at_least=2)
        flag("quick", self.quick)

    def __call__(self, attempt: Attempt, /) -> Attempt:
        if attempt.answer.outcome.status is Status.INFEASIBLE:
            return attempt
        from colloc.refinement.seek_starts import best_of_starts  # a single run does not need it

        with part("starts", whole=True):
            best, guess = best_of_starts(
                attempt.nlp, attempt.answer, attempt.run, attempt.guess, self.count, quick=self.quick
            )
        return replace(attempt, solution=best, guess=guess)


@dataclass(frozen=True, repr=False)
class Refine(PlanStep):
    """Refine the grid until the error between the nodes and the change of the cost are small enough.

    If after two refinement iterations only switches limit the accuracy of the cost, which grids resolve slowly,
    refinement ends, and `AtSwitches` continues. `Solution.rounds` lists the iterations.

    Parameters
    ----------
    tol : float, optional
        Relative tolerance of the error between the nodes, as in `Solution.error`, and of the change of the cost in an
        iteration; by default that of the call.
    confirm : bool
        Whether a finer grid must confirm the cost even if its estimated error is at most a quarter of `tol`.

    Examples
    --------
    >>> by_rounds = [co.refinement.Solve(), co.refinement.Refine(1e-2), co.refinement.AtSwitches()]
    >>> len(co.solve(problem, co.BSpline(20), plan=by_rounds).rounds) > 1
    True
    """

    tol: float | None = None
    confirm: bool = True

    def __post_init__(self) -> None:
        if self.tol is not None:
            relative_tolerance("tol", self.tol)
        flag("confirm", self.confirm)

    def __call__(self, attempt: Attempt, /) -> Attempt:
        run = replace(_within(attempt.run, self.tol), cost_tolerance=None)
        first = _judged(attempt.answer, run.tolerance)
        finer = refined(first, run, attempt.guess, confirmed=self.confirm, to_switches=True)
        finer = replace(finer, starts=first.starts)
        return replace(attempt, nlp=finer.nlp, run=run, solution=finer, confirm=self.confirm)


@dataclass(frozen=True, repr=False)
class AtSwitches(PlanStep):
    """Make intervals end where limits become active or inactive.

    Torques that jump between their bounds, and limits that become active, cause a first-order error on a grid without
    breakpoints at these times. The motion is divided into arcs of free durations with the active limits as equations;
    arcs are changed, added or removed until every multiplier has the right sign and no other limit is exceeded. The
    next curve is `Radau` with intervals that end with the arcs. If no valid arcs are found, grids are refined. The step
    does nothing if other errors limit the accuracy of the cost, and leaves user-defined curves unchanged.

    Parameters
    ----------
    tol : float, optional
        As in `Refine`.
    arcs : bool
        Whether the motion in arcs is the answer, a PhasesSolution whose phases are the arcs: see `refine`.

    Examples
    --------
    >>> in_arcs = [co.refinement.Solve(), co.refinement.AtSwitches(1e-3, arcs=True)]
    >>> round(co.solve(problem, co.BSpline(20), plan=in_arcs).duration, 12)
    0.391854539516
    """

    tol: float | None = None
    arcs: bool = False

    def __post_init__(self) -> None:
        if self.tol is not None:
            relative_tolerance("tol", self.tol)
        flag("arcs", self.arcs)

    def __call__(self, attempt: Attempt, /) -> Attempt:
        run = replace(_within(attempt.run, self.tol), cost_tolerance=None)
        solution = _judged(attempt.answer, run.tolerance)
        with part("switches"):
            if self.arcs:
                answer = at_switches(solution, run)
            elif closes_in_on_switches(solution, run.tolerance):
                answer = on_ends_at_switches(solution, run, attempt.guess, confirmed=attempt.confirm)
            else:
                return attempt
        return replace(attempt, nlp=answer.nlp, run=run, solution=replace(answer, starts=solution.starts))


def _within(run: Run, tol: float | None) -> Run:
    """A run with the tolerance of a step, if it has one."""
    return run if tol is None else replace(run, tolerance=tol)


def _judged(solution: Any, tolerance: float) -> Any:
    """A solution judged by a tolerance, including its cost."""
    if solution.outcome.tolerance == solution.outcome.cost_tolerance == tolerance:
        return solution
    return replace(solution, outcome=replace(solution.outcome, tolerance=tolerance, cost_tolerance=tolerance))


def default_plan(tol: float | None, *, has_curve: bool) -> list[NextStep]:
    """The steps of a call without a plan.

    Parameters
    ----------
    tol : float, optional
        That of the call.
    has_curve : bool
        Whether the call has a curve, or a program with a curve.
    """
    if not has_curve:
        confirm = tol is not None
        seek = [SeekFeasible(), SeekStarts(8, quick=True)]
        return [Solve(), *seek, Refine(tol or TOLERANCE, confirm=confirm), AtSwitches()]
    return [Solve(), SeekFeasible(finer=False)] if tol is None else [Solve(), SeekFeasible(), Refine(tol), AtSwitches()]


def checked_plan(plan: object) -> tuple[NextStep, ...]:
    """Return the steps of a plan; raise InputError for other objects, and for an empty plan."""
    steps = as_tuple("plan", plan)
    for step in steps:
        if isinstance(step, type) or not callable(step):
            raise InputError(f"plan must be a list of steps, as in [Solve(), Refine(1e-3)], got {quoted(step)} in it")
    if not steps:
        raise InputError("plan must have a step, as in [Solve()], got none")
    return steps


def plan_tolerance(plan: Sequence[NextStep], tol: float | None) -> float:
    """The tolerance of steps without one: that of the call, otherwise the smallest of a step."""
    stated = [step.tol for step in plan if isinstance(step, Refine | AtSwitches) and step.tol is not None]
    return tol if tol is not None else min(stated, default=FOR_ONE_RUN)


def step_name(step: NextStep) -> str:
    """The name of a step, as `Solution.plan` lists it."""
    function: Any = step.func if isinstance(step, partial) else step
    return repr(step) if isinstance(step, PlanStep) else getattr(function, "__name__", type(step).__name__)
