"""Entry points `solve` and `refine`: from a problem to a solution with error estimates."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar, overload

import numpy as np

from colloc.curves import Transcription
from colloc.kernels import Compile
from colloc.problem import Phases, Problem
from colloc.problem.ordered import OrderedCosts
from colloc.refinement.failure import at_best_iterate, judge
from colloc.refinement.iteration import ProgressRequest, finish_progress
from colloc.refinement.levels import all_levels, at_optimum
from colloc.refinement.plan import AtSwitches, Attempt, NextStep, Refine, checked_plan, default_plan, plan_tolerance
from colloc.refinement.run import Run
from colloc.solution import PhasesSolution, Solution
from colloc.solution.warm_start import MotionGuess, PhaseGuess, by_way_of_guess
from colloc.solver import Solver, chosen_solver
from colloc.solver.progress import check_progress
from colloc.support.checks import (
    InputError,
    choice,
    finite_number,
    flag,
    instance,
    quoted,
    relative_tolerance,
    spelt,
)
from colloc.support.interrupts import reraise_interrupt
from colloc.support.progress import silent_without_progress
from colloc.support.stopwatch import part, seconds_of_call
from colloc.transcription import NLP, BaseNLP, PhasesNLP, default_curves, program_of

A = TypeVar("A", Solution, PhasesSolution)


@overload
def solve(
    problem: Problem | NLP, curve: Transcription | None = None, *,
    tol: float | None = None, guess: PhaseGuess = None, parameters: Mapping[str, Any] | None = None,
    plan: Sequence[NextStep] | None = None, solver: Solver | None = None, compile: bool | Compile | None = None,
    progress: ProgressRequest = None, seconds: float | None = None, raise_on_failure: bool = True,
) -> Solution: ...  # fmt: skip


@overload
def solve(
    problem: Phases | PhasesNLP, curve: Transcription | Mapping[str, Transcription] | None = None, *,
    tol: float | None = None, guess: MotionGuess = None, parameters: Mapping[str, Any] | None = None,
    plan: Sequence[NextStep] | None = None, solver: Solver | None = None, compile: bool | Compile | None = None,
    progress: ProgressRequest = None, seconds: float | None = None, raise_on_failure: bool = True,
) -> PhasesSolution: ...  # fmt: skip


@spelt
@reraise_interrupt
@silent_without_progress
@finish_progress
def solve(
    problem: Problem | Phases | NLP | PhasesNLP,
    curve: Transcription | Mapping[str, Transcription] | None = None,
    *,
    tol: float | None = None,
    guess: MotionGuess = None,
    parameters: Mapping[str, Any] | None = None,
    plan: Sequence[NextStep] | None = None,
    solver: Solver | None = None,
    compile: bool | Compile | None = None,
    progress: ProgressRequest = None,
    seconds: float | None = None,
    raise_on_failure: bool = True,
) -> Solution | PhasesSolution:
    """Find the motion that minimises the cost, with exact sparse derivatives.

    With a curve one program is solved once. Without one a curve is chosen, cheaper optima are sought from other starts,
    and the grid is refined: `co.solve(problem)` has an error of at most 1e-3, or warns. These steps are the `plan`;
    `Solution.plan` lists those that produced the answer.

    With a constant cost, such as `co.integral(lambda now: 0.0)`, the answer is the feasible motion nearest to the
    guess, measured in scaled variables.

    Building takes as long as solving: for many parameter values or guesses, transcribe once and solve the NLP.

    Parameters
    ----------
    problem : Problem, Phases or NLP
        An NLP, as `transcribe` returns it, brings its curve, formulation of the dynamics and compiled functions.
    curve : BSpline, HermiteSimpson or Radau, optional
        For `Phases` one curve for all phases, or a mapping of phase to curve. By default splines whose accelerations
        may jump, on twenty equal intervals; for a free duration without a guess, on intervals suited to the straight
        line, timed within the limits.
    tol : float, optional
        Tolerance of refinement: the grid is refined until the error between the nodes (`Solution.error`) and the
        relative change of the cost in a refinement iteration are below it. By default 1e-3 without a curve; a cost with
        an estimated error (``error["cost"]``) of at most a quarter of that needs no further iteration. With a curve
        there is no refinement by default, and an answer counts as solved up to 1e-2. With a plan, `tol` applies to
        steps without a tolerance.
    guess : optional
        `line`, `keyframes`, a function of time (t [s] -> shape (n,)), or an earlier Solution on any grid or
        transcription; on the same one its multipliers warm-start the solver. By default the straight line between the
        prescribed end postures, as fast as the limits allow if the duration is free and has no guess. A guess that
        misses values fixed at the ends or at single times is deformed smoothly as a whole. Or a mapping of signals to
        such guesses or to numbers, with the joints as "q": ``{"q": co.line(start, end), "thrust": 2.5}``. In a problem
        without joints a guess that is no mapping has the values of all states, in their order. For `Phases` any of
        these for the whole motion, or a mapping of phase to guess.
    parameters : mapping of str to value, optional
        Parameter values by name, instead of the defaults.
    plan : sequence of steps, optional
        Steps from `co.refinement`, one after another: `Solve`, `SeekFeasible`, `SeekStarts`, `Refine`, `AtSwitches`, or
        user-defined functions from an `Attempt` to another. By default

        - ``[Solve(), SeekFeasible(finer=False)]`` with a curve or an NLP,
        - ``[Solve(), SeekFeasible(), Refine(tol), AtSwitches()]`` with a curve and a `tol`,
        - ``[Solve(), SeekFeasible(), SeekStarts(8, quick=True), Refine(1e-3, confirm=False), AtSwitches()]`` without a
          curve.
    solver : Solver, optional
        ``co.Ipopt(hessian=..., max_iter=...)``, which is the default with no options, or any other `Solver`.
    compile : bool or Compile, optional
        By default an interpreter evaluates values and derivatives, several nodes at a time, forty to a hundred and
        fifty times as fast as CasADi's virtual machine where it writes machine code (x86-64 with AVX2, 64-bit ARM), and
        half as fast as that on other processors. It is compiled once for a machine, by a C compiler (GCC or Clang), and
        a cache keeps it. CasADi's virtual machine does the same work without a compiler, and in problems that are too
        small to gain by anything else. True interprets these as well, and warns without a compiler. Compile is True
        with a choice of threads, compiler and cache. False compiles nothing: the virtual machine does all.
    progress : bool or callable, optional
        One updating line on standard error, in notebooks a bar of tqdm's where that is installed. By default only in a
        terminal or notebook, after the first second. A function is called with every `Iteration` instead; what it
        raises ends the solve; `plot.view(problem)` is such a function, a page with the iterates. One that has a method
        `finish` is called by it with the answer, or None. Unless this is False, building and compiling that take more
        than two seconds are announced on standard error wherever it leads.
    seconds : float, optional
        Time limit of the whole call in seconds, including all starts and rounds of refinement. When it is reached, the
        best motion found so far is returned with `Status.TIME_LIMIT` and a warning: that of the last complete
        refinement iteration, or the best iterate in the first. Building and compiling are not interrupted.
    raise_on_failure : bool
        If False, return the motion of the failed solve with its status instead of raising.

    Returns
    -------
    Solution, or PhasesSolution for Phases
        Also after Ctrl-C, with the best iterate so far, and, with a warning, if its error exceeds the tolerance.

    Raises
    ------
    InputError
        For arguments that do not fit the problem, or a function that is not finite at the guess.
    SolveError
        If no optimum was found; names the violated constraints. Its `solution` is the last iterate, at the limit of
        iterations the best one.

    See Also
    --------
    refine : Finer grids for an existing solution.
    transcribe : The program, built once for many solves, by any formulation of the dynamics.
    multistart : Many random starts on any executor, and all optima that they reach.
    sweep : Solves for many values of parameters.
    verify : Verification of a solution by independent means.

    Examples
    --------
    >>> round(co.solve(problem).duration, 3)
    0.392
    >>> nlp = co.transcribe(problem, co.BSpline(20))  # built once, solved for several guesses or parameters
    >>> co.solve(nlp, guess=co.line((0.0, -2.0), (1.0, -1.0))).status
    <Status.SOLVED: 'solved'>
    >>> many = [co.refinement.Solve(), co.refinement.SeekStarts(12), co.refinement.Refine(1e-2)]
    >>> co.solve(problem, co.BSpline(10), plan=many).starts.count
    12
    """
    instance("problem", problem, Problem | Phases | NLP | PhasesNLP)
    if tol is not None:
        relative_tolerance("tol", tol)
    flag("raise_on_failure", raise_on_failure)
    check_progress(progress)
    begin = time.perf_counter()
    with seconds_of_call() as spent:
        has_curve = curve is not None or isinstance(problem, BaseNLP)
        steps = default_plan(tol, has_curve=has_curve) if plan is None else checked_plan(plan)
        chosen, deadline = chosen_solver(solver), _deadline(begin, seconds)
        if not isinstance(problem, BaseNLP):
            problem = by_way_of_guess(problem, guess)
        ordered = None if isinstance(problem, BaseNLP) else OrderedCosts(problem)
        with part("build"):
            nlp = _program(problem if ordered is None else ordered.posed, curve, compile, guessed=guess is not None)
        values = nlp.problem.parameter_values(parameters)
        run = Run(values, chosen, progress, plan_tolerance(steps, tol), deadline=deadline)
        end = Attempt(nlp, run, guess, begin=begin).followed(steps)
        if ordered is not None and not ordered.is_complete:
            end = all_levels(end, ordered, steps)
        return _judged_answer(end, spent, raise_on_failure=raise_on_failure, seconds=seconds)


def _deadline(begin: float, seconds: float | None) -> float:
    """Time at which a call ends with the best motion so far, on the clock of `time.perf_counter`."""
    return begin + (np.inf if seconds is None else finite_number("seconds", seconds, positive=True))


def _program(
    problem: Problem | Phases | NLP | PhasesNLP,
    curve: Transcription | Mapping[str, Transcription] | None,
    compile: bool | Compile | None,
    *,
    guessed: bool,
) -> NLP | PhasesNLP:
    """The program of a problem; raise InputError for arguments that an NLP already has."""
    if not isinstance(problem, BaseNLP):
        curve = default_curves(problem, guessed=guessed) if curve is None else curve
        return program_of(problem, curve, compile=compile)
    for name, value in {"curve": curve, "compile": compile}.items():
        if value is not None:
            raise InputError(f"{name} must be left out for an NLP: pass it to co.transcribe, got {quoted(value)}")
    return problem


def _judged_answer(
    end: Attempt, spent: dict[str, float], *, raise_on_failure: bool, seconds: float | None
) -> Solution | PhasesSolution:
    """The solution at the end of a plan, with its steps and the seconds of the call."""
    answer = at_best_iterate(end.answer)
    solution = replace(answer, outcome=replace(answer.outcome, seconds=spent), plan=end.steps)
    assert end.start is not None
    with part("judge"):
        judge(solution, end.start, raise_on_failure, seconds)
    return solution


@overload
def refine(
    solution: A, tol: float = 1e-3, *, at: None = None, solver: Solver | None = None, progress: ProgressRequest = None,
    seconds: float | None = None,
) -> A: ...  # fmt: skip


@overload
def refine(
    solution: Solution, tol: float = 1e-3, *, at: str, solver: Solver | None = None, progress: ProgressRequest = None,
    seconds: float | None = None,
) -> Solution | PhasesSolution: ...  # fmt: skip


@spelt
@reraise_interrupt
@silent_without_progress
@finish_progress
def refine(
    solution: Solution | PhasesSolution,
    tol: float = 1e-3,
    *,
    at: str | None = None,
    solver: Solver | None = None,
    progress: ProgressRequest = None,
    seconds: float | None = None,
) -> Solution | PhasesSolution:
    """Refine the grid of a motion until its error between the nodes and the change of its cost are below `tol`.

    Parameters
    ----------
    solution : Solution
        A solution of any status; refinement starts with its curve.
    tol : float
        Relative tolerance, see `Solution.error`.
    at : "switches", optional
        Arcs instead of a finer grid: the motion of a Problem is divided where torques jump between their bounds, or
        limits become active or inactive, into phases of free durations on which the active limits are equations. Arcs
        are changed, added or removed until every multiplier has the right sign and no other limit is exceeded; then the
        number of intervals is increased until the error is below `tol`. As nothing jumps inside an arc, a motion from
        bound to bound, and its costates, have many more correct digits. `optimality.arcs` lists the arcs. If no valid
        arcs are found, the grid is refined instead, with a warning.
    solver, progress, seconds :
        As in `solve`.

    Returns
    -------
    Solution
        With a warning if the tolerance was not reached. With ``at="switches"`` a PhasesSolution, whose phases are the
        arcs.

    Raises
    ------
    InputError
        With ``at="switches"``: for a motion in phases, constraints during a part of the motion or at a time inside it,
        and problems with functions of time, duration or jerk.

    See Also
    --------
    solve : Refines by itself if it is given a tolerance.
    verify : Verification of a solution.

    Examples
    --------
    >>> coarse = co.solve(problem, co.Radau(20), tol=1e-2)
    >>> finer = co.refine(coarse, 1e-4)
    >>> round(finer.duration, 5), len(finer.rounds) > 1
    (0.39186, True)
    >>> round(co.refine(coarse, at="switches").duration, 12)
    0.391854539516
    """
    instance("solution", solution, Solution | PhasesSolution, "see co.solve")
    check_progress(progress)
    begin = time.perf_counter()
    deadline = _deadline(begin, seconds)
    tolerance = relative_tolerance("tol", tol)
    steps: list[NextStep] = [Refine(tolerance), AtSwitches()]
    if at is not None:
        choice("at", at, ("switches",))
        if solution.ordered is not None:
            raise InputError("refine at switches needs a motion with one cost, got costs in order of importance")
        steps = [AtSwitches(tolerance, arcs=True)]
    run = Run(solution.parameters, chosen_solver(solver), progress, tolerance, deadline=deadline)
    with seconds_of_call() as spent:
        first = Attempt(solution.nlp, run, solution=solution, start=solution.x, steps=solution.plan)
        if solution.ordered is None:
            end = first.followed(steps)
        else:
            anew = OrderedCosts(solution.ordered.problem)
            end = all_levels(at_optimum(solution, anew, first).followed(steps), anew, steps)
        return _judged_answer(end, spent, raise_on_failure=False, seconds=seconds)
