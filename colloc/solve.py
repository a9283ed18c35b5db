"""Solve: from a problem to a solution that says how far it can be trusted."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colloc.checks import InputError, finite_number
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.solution import Solution
from colloc.solution.refinement import has_settled, next_curve, rung
from colloc.solution.starts import start_from
from colloc.solution.violations import exceeded
from colloc.solver import Hessian, Ipopt, Status, check_hessian, check_options
from colloc.transcription import (
    NLP,
    Guess,
    Keyframes,
    Transcription,
    check_freedoms,
    default_curve,
    on_curve,
    transcribe,
)

_ROUNDS = 20  # of a refinement, at most
_EXCHANGES = 3  # times that nodes are added to one grid, at most


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
    tol: float | None = None,
    guess: Keyframes | Guess | Solution | None = None,
    parameters: Mapping[str, Any] | None = None,
    dynamics: InverseDynamics | None = None,
    sensitivities: DerivativeRecursion | None = None,
    hessian: Hessian = Hessian.EXACT,
    compile: bool | Compile | None = None,
    ipopt: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    violation_tolerance: float = 1e-2,
    between: str = "always",
    raise_on_failure: bool = True,
) -> Solution:
    """The motion that minimises the cost, by IPOPT with exact sparse derivatives.

    Without a curve one is chosen and refined: `co.solve(problem)` is right to 1e-3, or says that it is not.

    Building takes as long as solving: a sweep over parameter values or guesses
    transcribes once and solves the NLP again and again.

        nlp = co.transcribe(problem, co.BSpline(20))
        solutions = [co.solve(nlp, parameters={"payload": mass}) for mass in (1.0, 2.0, 3.0)]

    Parameters
    ----------
    problem : Problem or NLP
        An NLP, as `transcribe` returns it, brings its curve, dynamics, sensitivities and compiled functions.
    curve : BSpline, HermiteSimpson or Radau, optional
        By default splines whose accelerations may jump, on intervals that are narrow at both ends of the motion; in a
        free duration on those that suit the straight line, timed within the limits.
    tol : float, optional
        Refines the grid until the error between the nodes (`Solution.error`) and the change of the cost by a round,
        relative, are below; `Solution.ladder` lists the rounds. 1e-3 without a curve, none with one.
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
        Largest error between nodes, as in `Solution.error`, of an answer that counts as solved; `tol` if that is given.
    between : "always" or "nodes"
        Where inequalities hold: nodes are added where one is violated between them, and the NLP solved again from
        there, three times at most; or at the curve's own nodes alone.
    raise_on_failure : bool
        False returns the last iterate with its status instead of raising.

    Returns
    -------
    Solution
        Also when interrupted by Ctrl-C (best iterate so far), and, with a warning, when its error between the nodes
        is larger than asked for.

    Raises
    ------
    InputError
        For arguments that do not fit the problem, or a function that is not finite at the guess.
    SolveError
        When no optimum was found; names the violated constraints and carries the last iterate.
    """
    tolerance = finite_number("violation_tolerance", violation_tolerance, positive=True)
    if curve is None and isinstance(problem, Problem):
        curve, tol = default_curve(problem), 1e-3 if tol is None else tol
    if tol is not None:
        tolerance = finite_number("tol", tol, positive=True)
    if between not in ("always", "nodes"):
        raise InputError(f'between must be "always" or "nodes", got {between!r}')
    options = check_options(ipopt)
    begin = time.perf_counter()
    if isinstance(problem, NLP):
        nlp = _alone(problem, curve=curve, dynamics=dynamics, sensitivities=sensitivities, compile=compile)
    else:
        assert curve is not None
        nlp = transcribe(problem, curve, dynamics or newton_euler, sensitivities, compile=compile)
    run = _Run(nlp.problem.parameter_values(parameters), options, hessian, progress, tolerance, between == "always")
    solution, start = run(nlp, guess, begin)
    if tol is not None:
        solution = _refined(solution, run, guess)
    _judge(solution, start, raise_on_failure)
    return solution


def refine(
    solution: Solution,
    tol: float = 1e-3,
    *,
    hessian: Hessian = Hessian.EXACT,
    ipopt: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Solution:
    """The same motion on finer grids, until its error between the nodes and the change of its cost are below `tol`.

        solution = co.solve(problem, co.Radau(20))
        finer = co.refine(solution, 1e-5)
        finer.ladder                                   # curve, cost, error and seconds of every round

    Parameters
    ----------
    solution : Solution
        Of any status; its curve is the first.
    tol : float
        Relative, see `Solution.error`.
    hessian, ipopt, progress :
        As in `solve`.

    Returns
    -------
    Solution
        With a warning where the tolerance was not reached.
    """
    if not isinstance(solution, Solution):
        raise InputError(f"refine needs a Solution (see co.solve), got {solution!r}")
    run = _Run(solution.parameters, check_options(ipopt), hessian, progress, finite_number("tol", tol, positive=True))
    judged = replace(solution, outcome=replace(solution.outcome, tolerance=run.tolerance))
    finer = _refined(judged, run)
    _judge(finer, finer.x, raise_on_failure=False)
    return finer


@dataclass(frozen=True)
class _Run:
    """How NLPs are solved, one after another.

    Parameters
    ----------
    parameters : ndarray
        Values of the problem's parameters.
    options, hessian, progress :
        As in `solve`.
    tolerance : float
        Largest error between nodes of an answer that counts as solved.
    always : bool
        Whether nodes are added where inequalities are violated between them.
    """

    parameters: np.ndarray
    options: Mapping[str, Any]
    hessian: Hessian
    progress: bool | None
    tolerance: float
    always: bool = True

    def __call__(
        self, nlp: NLP, guess: Keyframes | Guess | Solution | None, begin: float
    ) -> tuple[Solution, np.ndarray]:
        """A solution and where it started; `begin` is when its NLP began to be built."""
        solution, start = self._once(nlp, guess, begin)
        for _ in range(_EXCHANGES if self.always else 0):
            if solution.status is not Status.VIOLATED:
                break
            begin = time.perf_counter()
            extra = exceeded(solution.nlp, solution.x, self.parameters, self.tolerance)
            held = solution.nlp.grid.extra
            extra = extra if held is None else held.merged(extra)
            again, _ = self._once(on_curve(solution.nlp, solution.curve, extra), solution, begin)
            if again.outcome.status is not Status.SOLVED:
                break
            spent = {name: again.seconds[name] + solution.seconds[name] for name in again.seconds}
            iterations = again.iterations + solution.iterations
            solution = replace(again, outcome=replace(again.outcome, seconds=spent, iterations=iterations))
        return solution, start

    def _once(self, nlp: NLP, guess: Keyframes | Guess | Solution | None, begin: float) -> tuple[Solution, np.ndarray]:
        """The same at the nodes that the NLP has."""
        start = start_from(nlp, guess)
        if undefined := nlp.first_undefined(start.x, self.parameters):
            raise InputError(f"not finite at the guess: {undefined}; change the guess or the function")
        check_freedoms(nlp)
        check_hessian(self.hessian, nlp)
        built = time.perf_counter() - begin
        outcome = Ipopt(nlp, self.options, self.hessian)(start, self.parameters, self.progress)
        seconds = outcome.seconds | {"build": built + outcome.seconds["build"]}
        return Solution(nlp, replace(outcome, seconds=seconds, tolerance=self.tolerance), self.parameters), start.x


def _refined(solution: Solution, run: _Run, guess: Keyframes | Guess | Solution | None = None) -> Solution:
    """Round after round on a finer grid, started from the round before or, where that fails, from a guess."""
    tol, rounds = run.tolerance, [rung(solution)]
    solution = replace(solution, ladder=tuple(rounds))
    while solution.outcome.status is Status.SOLVED and len(rounds) < _ROUNDS:
        settled = has_settled(solution, tol)
        right = float(solution.error) <= tol
        if settled and right:
            break
        begin = time.perf_counter()
        if (curve := next_curve(solution, tol, settled=settled)) is None:
            break
        nlp = on_curve(solution.nlp, curve)
        finer, _ = run(nlp, solution, begin)
        if finer.outcome.status not in (Status.SOLVED, Status.INTERRUPTED):
            # Beside an optimum of another grid rounding may leave no way on; a start of its own has one.
            finer, _ = run(nlp, guess, begin)
        worse = finer.cost - solution.cost > tol * abs(solution.cost)
        if finer.outcome.status is not Status.SOLVED or (right and worse):
            break  # another local optimum, and no better one
        rounds.append(rung(finer))
        solution = replace(finer, ladder=tuple(rounds))
    return solution


def _alone(nlp: NLP, **given: Any) -> NLP:
    """The NLP, if nothing is given that it brings itself."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"an NLP brings its {name}; give {name} to co.transcribe, got {value!r}")
    return nlp


def _judge(solution: Solution, start: np.ndarray, raise_on_failure: bool) -> None:
    """Warn of a violated answer, raise for a failed one."""
    if solution.outcome.status is Status.SOLVED:
        from colloc.solution.causes import reservations  # most answers have none

        for sentence in reservations(solution):
            warnings.warn(sentence, SolutionWarning, stacklevel=3)
    if raise_on_failure and solution.status not in (Status.SOLVED, Status.COARSE, Status.VIOLATED, Status.INTERRUPTED):
        from colloc.solver.diagnosis import explain  # few solves fail

        reason = explain(solution.nlp, start, solution.x, solution.parameters)
        message = f"{solution.status} after {solution.iterations} iterations ({solution.message})"
        raise SolveError(f"{message}\n{reason}".rstrip(), solution)
