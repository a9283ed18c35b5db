"""Solve: from a problem to a solution that says how far it can be trusted."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar, overload

import numpy as np

from colloc.curves import Transcription
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.kernels import Compile
from colloc.problem import Problem, Sequence
from colloc.refinement.failure import judge
from colloc.refinement.iteration import ProgressRequest, finishes_progress
from colloc.refinement.rounds import at_switches, refined
from colloc.refinement.run import Run
from colloc.refinement.starts import best_of_starts
from colloc.solution import SequenceSolution, Solution
from colloc.solution.warm_start import MotionGuess, PhaseGuess
from colloc.solver import Hessian, Solver, chosen_solver
from colloc.solver.progress import check_progress
from colloc.support.checks import (
    InputError,
    choice,
    count,
    finite_number,
    flag,
    instance,
    quoted,
    relative_tolerance,
    spelt,
)
from colloc.support.interrupts import reraise_interrupt
from colloc.support.progress import silent_if_told
from colloc.transcription import NLP, BaseNLP, SequenceNLP, default_curves, program_of

A = TypeVar("A", Solution, SequenceSolution)


@overload
def solve(
    problem: Problem | NLP, curve: Transcription | None = None, *,
    tol: float | None = None, guess: PhaseGuess = None, parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics | None = None, sensitivities: DerivativeRecursion | None = None,
    solver: Solver | None = None, hessian: Hessian | None = None, ipopt: Mapping[str, Any] | None = None,
    compile: bool | Compile | None = None, progress: ProgressRequest = None,
    violation_tolerance: float = 1e-2, cost_tolerance: float | None = None, between: str = "always",
    starts: int | None = None, seconds: float | None = None, raise_on_failure: bool = True,
) -> Solution: ...  # fmt: skip


@overload
def solve(
    problem: Sequence | SequenceNLP, curve: Transcription | Mapping[str, Transcription] | None = None, *,
    tol: float | None = None, guess: MotionGuess = None, parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics | None = None, sensitivities: DerivativeRecursion | None = None,
    solver: Solver | None = None, hessian: Hessian | None = None, ipopt: Mapping[str, Any] | None = None,
    compile: bool | Compile | None = None, progress: ProgressRequest = None,
    violation_tolerance: float = 1e-2, cost_tolerance: float | None = None, between: str = "always",
    starts: int | None = None, seconds: float | None = None, raise_on_failure: bool = True,
) -> SequenceSolution: ...  # fmt: skip


@spelt
@reraise_interrupt
@silent_if_told
@finishes_progress
def solve(
    problem: Problem | Sequence | NLP | SequenceNLP,
    curve: Transcription | Mapping[str, Transcription] | None = None,
    *,
    tol: float | None = None,
    guess: MotionGuess = None,
    parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics | None = None,
    sensitivities: DerivativeRecursion | None = None,
    solver: Solver | None = None,
    hessian: Hessian | None = None,
    ipopt: Mapping[str, Any] | None = None,
    compile: bool | Compile | None = None,
    progress: ProgressRequest = None,
    violation_tolerance: float = 1e-2,
    cost_tolerance: float | None = None,
    between: str = "always",
    starts: int | None = None,
    seconds: float | None = None,
    raise_on_failure: bool = True,
) -> Solution | SequenceSolution:
    """The motion that minimises the cost, from exact sparse derivatives.

    Without a curve one is chosen and refined: `co.solve(problem)` is right to 1e-3, or says that it is not.

    A cost that depends on nothing unknown, such as `co.integral(lambda now: 0.0)`, asks for any motion that meets the
    constraints: the one nearest the guess is found, in variables of natural size.

    Building takes as long as solving: a sweep over parameter values or guesses
    transcribes once and solves the NLP again and again.

    Parameters
    ----------
    problem : Problem, Sequence or NLP
        An NLP, as `transcribe` returns it, brings its curve, dynamics, sensitivities and compiled functions.
    curve : BSpline, HermiteSimpson or Radau, optional
        For a Sequence one for all phases, or a mapping of phase to curve.
        By default splines whose accelerations may jump, on twenty equal intervals; in a free duration without a guess
        on intervals that suit the straight line, timed within the limits.
    tol : float, optional
        Refines the grid until the error between the nodes (`Solution.error`) and the change of the cost by a round,
        relative, are below; `Solution.rounds` lists the rounds. None with a curve. Without one 1e-3 is tried for, and
        a cost that by its estimate (``error["cost"]``) is right to a quarter of that is not confirmed by another round.
        Where after two rounds switches are all that it waits for, the next curve is `Radau` with intervals that end at
        them, where arcs are found that hold: see `refine`. A curve of one's own class keeps to it.
    guess : optional
        `line`, `keyframes`, a function of time (t [s] -> shape (n,)), or an earlier Solution on any grid or
        transcription; on the same one its multipliers warm-start the solver. By default the straight line between the
        stated end postures, as fast as the limits allow where the duration is free and has no guess of its own. Where
        a guess misses what is fixed at the ends, or at single moments on the way, all of it is bent smoothly to meet
        it. For a Sequence any of these for the whole motion, or a mapping of phase to guess.
    parameters : mapping of str to value, optional
        Replaces default parameter values by name.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics, newton_euler by default; it changes no physics.
    sensitivities : optional
        Recursion for the derivatives of the torques, as in `transcribe`. By default `composite_sensitivities` from
        eight joints on, `by_differentiation(dynamics)` below.
    solver : Solver, optional
        ``co.Ipopt(hessian=..., max_iter=...)``, which is the default with no options, or any other `Solver`.
    hessian, ipopt : Hessian and mapping, optional
        In place of a solver, ``hessian=h, ipopt={"max_iter": 500}`` is short for ``co.Ipopt(hessian=h, max_iter=500)``.
    compile : bool or Compile, optional
        By default an interpreter evaluates values and derivatives, several nodes at a time, forty to a hundred and
        fifty times as fast as CasADi's virtual machine where it writes machine code (x86-64 with AVX2), half as fast as
        that elsewhere; it is compiled once for a machine, by a C compiler (GCC or Clang), and a cache keeps it. True
        has the compiler make machine code of the mechanism itself, which takes seconds and is as fast as what the
        interpreter writes; Compile chooses threads, compiler and cache. Where the interpreter writes none, that is done
        without True if it is expected to take less time than a hundred iterations without it. False compiles nothing:
        CasADi's virtual machine does the same work, as it does without a compiler, and in problems that are too small
        to gain by anything else.
    progress : bool or callable, optional
        One updating line on standard error, in notebooks a bar of tqdm's where that is installed. By default only in a
        terminal or notebook, after the first second. A function is called with every `Iteration` instead; what it
        raises ends the solve; `plot.view(problem)` is such a function, a page with the iterates. One that has a method
        `finish` is told the answer by it, or None. Unless this is False, building and compiling that take more than
        two seconds are announced on standard error wherever it leads.
    violation_tolerance : float
        Largest error between nodes, as in `Solution.error`, of an answer that counts as solved; `tol` if that is given.
        From 1.0 on, as where a motion is but the guess of another search, none is estimated.
    cost_tolerance : float, optional
        The same of the cost alone: how much dearer than the best of its valley an answer may be; by default
        `violation_tolerance`. 1.0 where the best motion of this very curve is asked for, as where measured data are
        followed, whose noise a finer spline would follow as well: then no estimate is made, which takes long for
        motions of thousands of unknowns. Not beside `tol`.
    between : "always" or "nodes"
        Where inequalities hold: nodes are added where one is violated between them, and the NLP solved again from
        there, ten times at most; or at the curve's own nodes alone.
    starts : int, optional
        Motions from which an optimum is sought: the guess, the straight line if that is not the guess, then random
        ones, and the cheapest motion is the answer. All but the guess are solved on six intervals, and the best of
        their ends, two or a quarter as many as there are starts, on the curve; of more than eight starts most lie near
        the best ends so far. Where there is a guess, its motion stays the answer unless another is cheaper by 1 %.
        `Solution.starts` says how many led where. 1 is the guess alone, and what a call with a curve does by default.
        Without a curve there are at most eight, with no more iterations than take about as long as the first solve
        from the guess, and no more after two that lead to where the guess leads; none beyond twelve joints, without
        joints, or where the guess took next to no iterations. They are the same in every call.
    seconds : float, optional
        What the whole call may take, starts and rounds of refinement included. When it is over, the best motion so far
        is returned with `Status.TIME_LIMIT`, and a warning: that of the last round that came to its end, in the first
        round the best iterate. Building and compiling a program are not cut short.
    raise_on_failure : bool
        False returns the last iterate with its status instead of raising.

    Returns
    -------
    Solution, or SequenceSolution of a Sequence
        Also when interrupted by Ctrl-C (best iterate so far), and, with a warning, when its error between the nodes
        is larger than asked for.

    Raises
    ------
    InputError
        For arguments that do not fit the problem, or a function that is not finite at the guess.
    SolveError
        When no optimum was found; names the violated constraints and carries the last iterate.

    See Also
    --------
    refine : A finer grid for an answer that exists.
    transcribe : The program, built once for many solves.
    multistart : Many random starts on any executor, and all the optima to which they lead.
    sweep : Solves for many values of parameters.
    verify : Whether the answer holds, by means of its own.

    Examples
    --------
    >>> round(co.solve(problem).duration, 3)
    0.392
    >>> nlp = co.transcribe(problem, co.BSpline(20))  # built once, solved for several guesses or parameters
    >>> co.solve(nlp, guess=co.line((0.0, -2.0), (1.0, -1.0))).status
    <Status.SOLVED: 'solved'>
    """
    instance("problem", problem, Problem | Sequence | NLP | SequenceNLP)
    tolerance = finite_number("violation_tolerance", violation_tolerance, positive=True)
    if cost_tolerance is not None:
        cost_tolerance = finite_number("cost_tolerance", cost_tolerance, positive=True)
    screened, confirmed = curve is None and not isinstance(problem, BaseNLP), True
    if starts is not None:
        screened = count("starts", starts, at_least=1) > 1
    if curve is None and not isinstance(problem, BaseNLP):
        curve = default_curves(problem, guessed=guess is not None)
        confirmed, tol = tol is not None, 1e-3 if tol is None else tol
    if tol is not None:
        tolerance = relative_tolerance("tol", tol)
        if cost_tolerance is not None:
            raise InputError(
                "cost_tolerance is for motions of one curve, which is not refined; got "
                f"cost_tolerance={cost_tolerance} beside tol={tol:g}: give a curve and no tol, or leave it out"
            )
    choice("between", between, ("always", "nodes"))
    flag("raise_on_failure", raise_on_failure)
    check_progress(progress)
    chosen = chosen_solver(solver, ipopt, hessian)
    begin = time.perf_counter()
    deadline = begin + (np.inf if seconds is None else finite_number("seconds", seconds, positive=True))
    if isinstance(problem, BaseNLP):
        nlp = _alone(problem, curve=curve, dynamics=dynamics, sensitivities=sensitivities, compile=compile)
    else:
        assert curve is not None
        nlp = program_of(problem, curve, newton_euler if dynamics is None else dynamics, sensitivities, compile)
    values = nlp.problem.parameter_values(parameters)
    run = Run(values, chosen, progress, tolerance, cost_tolerance, between == "always", deadline)
    solution, start = run(nlp, guess, begin)
    if screened:
        solution, guess = best_of_starts(nlp, solution, run, guess, starts)
    if tol is not None:
        solution = replace(refined(solution, run, guess, confirmed=confirmed), starts=solution.starts)
    judge(solution, start, raise_on_failure, seconds)
    return solution


@overload
def refine(
    solution: A, tol: float = 1e-3, *, at: None = None, solver: Solver | None = None, hessian: Hessian | None = None,
    ipopt: Mapping[str, Any] | None = None, progress: ProgressRequest = None, seconds: float | None = None,
) -> A: ...  # fmt: skip


@overload
def refine(
    solution: Solution, tol: float = 1e-3, *, at: str, solver: Solver | None = None, hessian: Hessian | None = None,
    ipopt: Mapping[str, Any] | None = None, progress: ProgressRequest = None, seconds: float | None = None,
) -> Solution | SequenceSolution: ...  # fmt: skip


@spelt
@reraise_interrupt
@silent_if_told
@finishes_progress
def refine(
    solution: Solution | SequenceSolution,
    tol: float = 1e-3,
    *,
    at: str | None = None,
    solver: Solver | None = None,
    hessian: Hessian | None = None,
    ipopt: Mapping[str, Any] | None = None,
    progress: ProgressRequest = None,
    seconds: float | None = None,
) -> Solution | SequenceSolution:
    """Refine the grid of a motion until its error between the nodes and the change of its cost are below `tol`.

    Parameters
    ----------
    solution : Solution
        Of any status; its curve is the first.
    tol : float
        Relative, see `Solution.error`.
    at : "switches", optional
        In place of a finer grid, arcs: where torques jump between their bounds, or limits begin and cease to hold, the
        motion of a Problem is divided into phases of free durations, on each of which the active limits hold as
        equations. It is solved, and arcs are turned, added or dropped, until every limit pushes the right way and no
        other is met; then on more intervals, until its error is below `tol`. As nothing jumps inside of an arc, a
        motion from bound to bound, and its costates, are right to many more digits. `optimality.arcs` lists the arcs.
        Where none are found that hold, the grid is refined instead, with a warning.
    solver, hessian, ipopt, progress, seconds :
        As in `solve`.

    Returns
    -------
    Solution
        With a warning where the tolerance was not reached. At switches a SequenceSolution, whose phases are the arcs.

    Raises
    ------
    InputError
        At switches: for a motion in phases, constraints during a part of the motion or at a time inside it, and
        problems in whose functions the time, the duration or jerk stands.

    See Also
    --------
    solve : Refines by itself where it is given a tolerance.
    verify : Whether an answer holds.

    Examples
    --------
    >>> coarse = co.solve(problem, co.Radau(20), tol=1e-2)
    >>> finer = co.refine(coarse, 1e-4)
    >>> round(finer.duration, 5), len(finer.rounds) > 1
    (0.39186, True)
    >>> round(co.refine(coarse, at="switches").duration, 12)
    0.391854539516
    """
    instance("solution", solution, Solution | SequenceSolution, "see co.solve")
    check_progress(progress)
    deadline = time.perf_counter() + (np.inf if seconds is None else finite_number("seconds", seconds, positive=True))
    tolerance = relative_tolerance("tol", tol)
    run = Run(solution.parameters, chosen_solver(solver, ipopt, hessian), progress, tolerance, deadline=deadline)
    judged = replace(solution, outcome=replace(solution.outcome, tolerance=tolerance, cost_tolerance=tolerance))
    if at is None:
        finer = refined(judged, run)
    else:
        choice("at", at, ("switches",))
        finer = at_switches(judged, run)
    finer = replace(finer, starts=solution.starts)
    judge(finer, finer.x, raise_on_failure=False, seconds=seconds)
    return finer


def _alone(nlp: NLP | SequenceNLP, **arguments: Any) -> NLP | SequenceNLP:
    """The NLP; InputError for arguments beside it that it brings itself."""
    for name, value in arguments.items():
        if value is not None:
            raise InputError(f"an NLP brings its {name}; give {name} to co.transcribe, got {quoted(value)}")
    return nlp
