"""Solve: from a problem to a solution that says how far it can be trusted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from colloc.checks import InputError, finite_number
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.solution import Solution
from colloc.solver import Hessian, Ipopt, Status, check_hessian, check_options
from colloc.transcription import NLP, Guess, Keyframes, Transcription, trajectory_from, transcribe


class SolveError(RuntimeError):
    """A solve that ended without an optimum.

    Attributes
    ----------
    solution : Solution
        The last iterate, with its status, violations and convergence history.
    """

    def __init__(self, message: str, solution: Solution):
        super().__init__(message)
        self.solution = solution


class SolutionWarning(UserWarning):
    """The answer comes with a reservation, such as a constraint violated between the nodes."""


def solve(
    problem: Problem | NLP,
    curve: Transcription | None = None,
    *,
    guess: Keyframes | Guess | Solution | None = None,
    parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics | None = None,
    sensitivities: DerivativeRecursion | None = None,
    hessian: Hessian = Hessian.EXACT,
    compile: bool | Compile | None = None,
    ipopt: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    violation_tolerance: float = 1e-2,
    raise_on_failure: bool = True,
) -> Solution:
    """The motion that minimises the cost, by IPOPT with exact sparse derivatives.

    Building takes as long as solving: a sweep over parameter values or guesses
    transcribes once and solves the NLP again and again.

        nlp = co.transcribe(problem, co.BSpline(20))
        solutions = [co.solve(nlp, parameters={"payload": mass}) for mass in (1.0, 2.0, 3.0)]

    Parameters
    ----------
    problem : Problem or NLP
        An NLP, as `transcribe` returns it, brings its curve, dynamics, sensitivities and compiled functions.
    curve : BSpline, HermiteSimpson or Radau
    guess : optional
        `line`, `keyframes`, a function of time (t [s] -> shape (n,)), or an earlier Solution on any grid or
        transcription; on the same one its multipliers warm-start IPOPT. By default the straight line between the
        stated end postures, as fast as the limits allow where the duration is free and has no guess of its own.
    parameters : mapping of str to value, optional
        Replaces default parameter values by name.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics, newton_euler by default; it changes no physics.
    sensitivities : optional
        Recursion for the derivatives of the torques, as in `transcribe`. By default `composite_sensitivities` from
        eight joints on, `by_differentiation(dynamics)` below.
    hessian : Hessian
        EXACT, GAUSS_NEWTON or LIMITED_MEMORY.
    compile : bool or Compile, optional
        Whether values and derivatives run as machine code, which a C compiler (GCC or Clang) makes once and a cache
        keeps; Compile chooses threads, compiler and cache. Without a compiler CasADi's virtual machine does the same
        work, after a CompileWarning. By default compiled code is used if the cache has it or if making it is expected
        to take less time than a hundred iterations without it, and not at all if those would take less than a second.
    ipopt : mapping, optional
        IPOPT's own options.
    progress : bool, optional
        One updating line on standard error. By default only in a terminal, after the first second.
    violation_tolerance : float
        Largest violation between nodes, relative to each row's natural size, of an answer that counts as solved.
    raise_on_failure : bool
        False returns the last iterate with its status instead of raising.

    Returns
    -------
    Solution
        Also when interrupted by Ctrl-C (best iterate so far), and, with a warning, when a constraint is violated
        between the nodes by more than `violation_tolerance`.

    Raises
    ------
    InputError
        For arguments that do not fit the problem, or a function that is not finite at the guess.
    SolveError
        When no optimum was found; names the violated constraints and carries the last iterate.
    """
    tolerance = finite_number("violation_tolerance", violation_tolerance, positive=True)
    options = check_options(ipopt)
    begin = time.perf_counter()
    if isinstance(problem, NLP):
        nlp = _alone(problem, curve=curve, dynamics=dynamics, sensitivities=sensitivities, compile=compile)
    else:
        if curve is None:
            raise InputError("a problem needs a transcription: co.solve(problem, co.BSpline(20)), say")
        nlp = transcribe(problem, curve, dynamics or newton_euler, sensitivities, compile=compile)
    p = nlp.problem.parameter_values(parameters)
    start, multipliers = _start(nlp, guess)
    if undefined := nlp.first_undefined(start, p):
        raise InputError(f"not finite at the guess: {undefined}; change the guess or the function")
    check_hessian(hessian, nlp)
    solver = Ipopt(nlp, options, hessian, warm=multipliers is not None)
    built = time.perf_counter() - begin
    outcome = solver(start, p, multipliers, progress)
    seconds = {"build": built} | outcome.seconds
    solution = Solution(nlp, replace(outcome, seconds=seconds, tolerance=tolerance), p)
    _judge(solution, start, raise_on_failure)
    return solution


def _alone(nlp: NLP, **given: Any) -> NLP:
    """The NLP, if nothing is given that it brings itself."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"an NLP brings its {name}; give {name} to co.transcribe, got {value!r}")
    return nlp


def _start(nlp: NLP, guess: Keyframes | Guess | Solution | None) -> tuple[np.ndarray, dict[str, np.ndarray] | None]:
    """Decision vector to start from, and multipliers when they fit."""
    if not isinstance(guess, Solution):
        return np.clip(nlp.grid.pack(trajectory_from(nlp.problem, guess)), nlp.lower, nlp.upper), None
    if guess.problem.model.n != nlp.problem.model.n:
        raise InputError(f"guess has {guess.problem.model.n} joints, the problem {nlp.problem.model.n}")
    if guess.curve == nlp.curve and guess.x.size == nlp.n_x and guess.multipliers["g"].size == nlp.n_g:
        # Multipliers of an iterate that is no optimum would mislead.
        optimal = guess.outcome.status in (Status.SOLVED, Status.ACCEPTABLE)
        return np.clip(guess.x, nlp.lower, nlp.upper), guess.multipliers if optimal else None
    return np.clip(nlp.grid.pack(guess.trajectory(nlp.problem)), nlp.lower, nlp.upper), None


def _judge(solution: Solution, start: np.ndarray, raise_on_failure: bool) -> None:
    """Warn of a violated answer, raise for a failed one."""
    tolerance = solution.outcome.tolerance
    if solution.status is Status.COARSE:
        message = f"{solution.error}, tolerance {tolerance:.1g}: refine, as in co.solve(..., tol={tolerance:.1g})"
        warnings.warn(message, SolutionWarning, stacklevel=3)
    if solution.status is Status.VIOLATED:
        worst = solution.violations[0]
        warnings.warn(
            f"{worst.row} is violated between nodes by {worst.amount:.3g} at t = {worst.t:.4g} s, {worst.relative:.1%} "
            f"of its size (tolerance {tolerance:.1%}): refine, as in co.solve(..., tol={tolerance:.1g})",
            SolutionWarning,
            stacklevel=3,
        )
    if raise_on_failure and solution.status not in (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.INTERRUPTED):
        from colloc.solver.diagnosis import explain  # few solves fail

        reason = explain(solution.nlp, start, solution.x, solution.parameters)
        message = f"{solution.status} after {solution.iterations} iterations ({solution.message})"
        raise SolveError(f"{message}\n{reason}".rstrip(), solution)
