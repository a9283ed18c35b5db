"""Solve: from a problem to a solution that says how far it can be trusted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from colloc.checks import finite_number
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.errors import InputError, SolutionWarning, SolveError
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.solution import Solution, Status
from colloc.solver.diagnosis import explain
from colloc.solver.ipopt import Hessian, Ipopt, Run, check_hessian, check_options
from colloc.transcription import NLP, Guess, Keyframes, Transcription, motion_from, transcribe
from colloc.violations import measure_violations

_STATUS = {
    "Solve_Succeeded": Status.SOLVED,
    "Feasible_Point_Found": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.ACCEPTABLE,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Maximum_CpuTime_Exceeded": Status.TIME_LIMIT,
    "Maximum_WallTime_Exceeded": Status.TIME_LIMIT,
    "User_Requested_Stop": Status.INTERRUPTED,
    "Diverging_Iterates": Status.DIVERGED,
}

# A warm start keeps the iterate and the multipliers where they are instead of pushing them inside the bounds.
_WARM = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-9,
    "warm_start_slack_bound_push": 1e-9,
    "warm_start_mult_bound_push": 1e-9,
}


def solve(
    problem: Problem,
    curve: Transcription,
    *,
    guess: Keyframes | Guess | Solution | None = None,
    parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    hessian: Hessian = Hessian.EXACT,
    compile: bool | Compile | None = None,
    ipopt: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    violation_tolerance: float = 1e-2,
    raise_on_failure: bool = True,
) -> Solution:
    """Find the motion that minimises the cost.

    IPOPT with exact sparse derivatives. A second solve of the same problem on the same transcription reuses what
    the first one built, whatever the parameter values.

    Parameters
    ----------
    problem : Problem
    curve : BSpline, HermiteSimpson or Radau
    guess : optional
        `line`, `keyframes`, a function of time (t [s] -> shape (n,)), or an earlier Solution on any grid or
        transcription; on the same one its multipliers warm-start IPOPT. By default the straight line between the
        stated end postures.
    parameters : mapping of str to value, optional
        Replaces default parameter values by name.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics; it changes no physics.
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
    nlp = _transcribed(problem, curve, dynamics, sensitivities, compile)
    p = problem.parameter_values(parameters)
    start, multipliers = _start(nlp, guess)
    if undefined := nlp.first_undefined(start, p):
        raise InputError(f"not finite at the guess: {undefined}; change the guess or the function")
    check_hessian(hessian, nlp)
    solver = _solver(nlp, options if multipliers is None else options | _WARM | dict(ipopt or {}), hessian)
    built = time.perf_counter()
    run = solver(start, p, multipliers, progress)
    seconds = {"build": built - begin, "solve": time.perf_counter() - built, "callbacks": run.callbacks}
    solution = _solution(nlp, run, p, tolerance, seconds)
    _judge(solution, start, tolerance, raise_on_failure)
    return solution


def _transcribed(
    problem: Problem,
    curve: Transcription,
    dynamics: InverseDynamics,
    sensitivities: DerivativeRecursion | None,
    compile: bool | Compile | None,
) -> NLP:
    """The NLP, kept with the problem so that solves with other parameter values do not build it again."""
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    key = (curve, dynamics, sensitivities, repr(compile))
    if key not in problem.memo:
        problem.memo[key] = transcribe(problem, curve, dynamics, sensitivities, compile=compile)
    return problem.memo[key]


def _solver(nlp: NLP, options: dict[str, Any], hessian: Hessian) -> Ipopt:
    key = repr((sorted(options.items()), hessian))
    if key not in nlp.memo:
        nlp.memo[key] = Ipopt(nlp, options, hessian)
    return nlp.memo[key]


def _start(nlp: NLP, guess: Keyframes | Guess | Solution | None) -> tuple[np.ndarray, dict[str, np.ndarray] | None]:
    """Decision vector to start from, and multipliers when they fit."""
    if not isinstance(guess, Solution):
        return np.clip(nlp.grid.pack(motion_from(nlp.problem, guess)), nlp.lower, nlp.upper), None
    if guess.problem.model.n != nlp.problem.model.n:
        raise InputError(f"guess has {guess.problem.model.n} joints, the problem {nlp.problem.model.n}")
    if guess.curve == nlp.curve and guess.x.size == nlp.n_x and guess.multipliers["g"].size == nlp.n_g:
        # Multipliers of an iterate that is no optimum would mislead.
        optimal = guess.status in (Status.SOLVED, Status.VIOLATED, Status.ACCEPTABLE)
        return np.clip(guess.x, nlp.lower, nlp.upper), guess.multipliers if optimal else None
    return np.clip(nlp.grid.pack(guess.motion(nlp.problem)), nlp.lower, nlp.upper), None


def _solution(nlp: NLP, run: Run, p: np.ndarray, tolerance: float, seconds: dict[str, float]) -> Solution:
    status = _STATUS.get(run.return_status, Status.FAILED)
    violations = measure_violations(nlp, run.x, p)
    if status is Status.SOLVED and violations and violations[0].relative > tolerance:
        status = Status.VIOLATED
    terms = nlp.terms(run.x, p)
    return Solution(
        nlp, run.x, p, status, run.return_status, sum(terms.values()), terms, violations,
        {"g": run.lam_g, "x": run.lam_x}, run.history, run.iterations, seconds,
    )  # fmt: skip


def _judge(solution: Solution, start: np.ndarray, tolerance: float, raise_on_failure: bool) -> None:
    """Warn of a violated answer, raise for a failed one."""
    if solution.status is Status.VIOLATED:
        worst = solution.violations[0]
        warnings.warn(
            f"{worst.row} is violated between nodes by {worst.amount:.3g} at t = {worst.t:.4g} s, "
            f"{worst.relative:.1%} of its size (tolerance {tolerance:.1%}); more nodes or intervals reduce it",
            SolutionWarning,
            stacklevel=3,
        )
    if raise_on_failure and solution.status not in (Status.SOLVED, Status.VIOLATED, Status.INTERRUPTED):
        reason = explain(solution.nlp, start, solution.x, solution.parameters)
        message = f"{solution.status} after {solution.iterations} iterations (IPOPT: {solution.message})"
        raise SolveError(f"{message}\n{reason}".rstrip(), solution)
