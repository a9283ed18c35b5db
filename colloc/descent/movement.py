"""Movements by descent: end conditions hold by construction, the other control points vary within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from colloc.descent.box import box_of
from colloc.descent.line_search import Point
from colloc.descent.objective import Descent, DescentStatus, Objective
from colloc.solution import Solution
from colloc.solution.as_guess import trajectory_of
from colloc.solver import Outcome, Status
from colloc.support.checks import InputError, finite_array, instance, quoted
from colloc.support.display import shown
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, Guess, Keyframes, trajectory_from

_STATUS = {
    DescentStatus.CONVERGED: Status.SOLVED,
    DescentStatus.ITERATION_LIMIT: Status.ITERATION_LIMIT,
    DescentStatus.NO_STEP: Status.FAILED,
    DescentStatus.NOT_FINITE: Status.FAILED,
}


@dataclass(frozen=True, eq=False)
class Movement:
    """An NLP without constraint rows as a smooth function of its free variables.

    Positions, velocities and accelerations prescribed at the ends of a spline fix the control points next to them; the
    end conditions hold for any choice of the others (Lee et al. 2005, section II). Bounds on positions, by
    `co.bounds(q=...)` or the model's limits, are bounds on control points, whose hull contains the spline (equation 7);
    a free duration and unknowns keep their bounds. Other inequalities can be a `co.penalty` in the cost. Gradient and
    Hessian (equations 8 and 9) are those of the NLP, exact, and by recursions if it was transcribed with one.

    Parameters
    ----------
    nlp : NLP
        Program of a problem whose only constraints are end states and bounds on positions, duration and unknowns.
    parameters : mapping of str to value, optional
        Parameter values by name, instead of the defaults.

    Raises
    ------
    InputError
        For an NLP with constraint rows; names them.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> swing = co.Problem(two_link(9.81), 1.0, effort, problem.subject_to[:2])
    >>> movement = co.descent.Movement(co.transcribe(swing, co.BSpline(6)))
    >>> run = co.descent.modified_newton(movement.objective, movement.start())
    >>> run.status, round(movement.solution(run).cost, 2)
    (<DescentStatus.CONVERGED: 'converged'>, 7.51)
    """

    nlp: NLP
    parameters: Mapping[str, Any] | None = None
    _p: np.ndarray = field(init=False)

    def __post_init__(self):
        if not isinstance(self.nlp, NLP):
            raise InputError(f"nlp must be an NLP, as co.transcribe returns, got {quoted(self.nlp)}")
        object.__setattr__(self, "_p", self.nlp.problem.parameter_values(self.parameters))
        if rows := [*dict.fromkeys(label for block in self.nlp.constraints for label in block.rows.labels)]:
            raise InputError(
                f"a movement by descent may only have constraints on the state at its ends and bounds on positions, "
                f"duration and unknowns, got {shown(rows)}; use co.solve, or a co.penalty instead"
            )
        if not self.nlp.free.any():
            raise InputError("the end conditions fix all variables and none is free; use more intervals")

    @cached_property
    def objective(self) -> Objective:
        """The cost as a function of the free variables, with their bounds."""
        nlp, free, p = self.nlp, self.nlp.free, self._p
        n, number = int(free.sum()), np.cumsum(free) - 1
        grad_f, hess_lag = nlp.grad_f, nlp.hess_lag
        i, j = (number[places] for places in map(np.array, hess_lag.sparsity_out(0).get_triplet()))

        def first(x: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = grad_f(self.whole(x), p)
            return float(value), np.array(gradient).ravel()[free]

        def hessian(x: np.ndarray) -> np.ndarray:
            entries = np.array(hess_lag(self.whole(x), p, 1.0, ()).nonzeros())
            matrix = np.zeros((n, n))
            matrix[i, j] = matrix[j, i] = entries
            return matrix

        return Objective(first, hessian, nlp.lower[free], nlp.upper[free])

    def whole(self, x: np.ndarray) -> np.ndarray:
        """The NLP's decision vector, from free variables x, ndarray, shape (n,), and the fixed ones."""
        x = finite_array("x", x, (int(self.nlp.free.sum()),))
        variables = self.nlp.lower.copy()
        variables[self.nlp.free] = x
        return variables

    def start(self, guess: Keyframes | Guess | Solution | None = None) -> np.ndarray:
        """Free variables of a guess, ndarray, shape (n,).

        Parameters
        ----------
        guess : optional
            As in `solve`; by default the straight line between the prescribed end postures.
        """
        problem = self.nlp.problem
        trajectory = trajectory_of(guess, problem) if isinstance(guess, Solution) else trajectory_from(problem, guess)
        return self.nlp.grid.interpolate(trajectory)[self.nlp.free]

    def solution(self, run: Descent) -> Solution:
        """The result of a descent as a solution, with multipliers of bounds."""
        instance("run", run, Descent, "see co.descent.bfgs")
        multipliers = {"g": np.zeros(0), "x": np.zeros(self.nlp.n_x)}
        box = box_of(self.objective.lower, self.objective.upper, run.x.size)
        multipliers["x"][self.nlp.free] = np.where(box.held(Point(run.x, run.value, run.gradient)), -run.gradient, 0.0)
        history = {"cost": list(run.history.value), "stationarity": list(run.history.gradient_norm)}
        outcome = Outcome(
            self.whole(run.x), multipliers, _STATUS[run.status], f"{run.method}: {run.status}", history, run.iterations,
            {"solve": run.seconds},
        )  # fmt: skip
        return Solution(self.nlp, outcome, self._p)
