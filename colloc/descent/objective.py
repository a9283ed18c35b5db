"""Objectives, stopping rules and results of a descent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from colloc.support.arguments import array, integer, validated
from colloc.support.checks import InputError, count, finite_number, float_array, function, quoted
from colloc.support.display import Table, Tabular, short
from colloc.transcription.differences import central_difference


@dataclass(frozen=True)
class Objective:
    """A smooth function of a vector, with optional bounds on its entries and no other constraints.

    If the function is not defined (for example, a loop cannot be closed) it returns a value that is not finite, and
    line searches take shorter steps.

    Parameters
    ----------
    first : callable
        x, shape (n,) -> value, float, and gradient, shape (n,). Both are computed together from the same torques.
    hessian : callable, optional
        x -> shape (n, n), symmetric. Called only by methods that need it.
    lower, upper : float or shape (n,)
        Bounds on x; may be infinite.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> co.descent.bfgs(bowl, np.ones(3)).x.round(3) + 0.0
    array([0., 0., 0.])
    """

    first: Callable[[np.ndarray], tuple[float, np.ndarray]]
    hessian: Callable[[np.ndarray], np.ndarray] | None = None
    lower: Any = -np.inf
    upper: Any = np.inf

    def __post_init__(self):
        function("first", self.first, "a function", "x")
        if self.hessian is not None:
            function("hessian", self.hessian, "a function", "x")
        for name, bound in (("lower", self.lower), ("upper", self.upper)):
            float_array(f"{name} bounds of an objective", bound)

    @validated(x=array("n"), directions=integer(1), seed=integer())
    def check_derivatives(self, x: np.ndarray, *, directions: int = 3, seed: int = 0) -> dict[str, float]:
        """Largest relative error of the derivatives against central differences along random directions.

        Parameters
        ----------
        x : ndarray, shape (n,)
        directions, seed : int

        Returns
        -------
        dict
            Keys "gradient" and, if there is one, "hessian": ||error|| / max(1, ||derivative||).
        """
        rng = np.random.default_rng(seed)
        exact = {"gradient": (self.first(x)[1], lambda y: np.array(self.first(y)[0]))}
        if self.hessian is not None:
            exact["hessian"] = (self.hessian(x), lambda y: self.first(y)[1])
        worst = dict.fromkeys(exact, 0.0)
        for _ in range(directions):
            v = rng.standard_normal(x.size)
            for name, (derivative, values) in exact.items():
                along = derivative @ v
                error = np.linalg.norm(along - central_difference(values, x, v))
                worst[name] = max(worst[name], float(error / max(1.0, float(np.linalg.norm(along)))))
        return worst


def check_objective(objective: object) -> None:
    """Raise InputError for anything but an Objective."""
    if not isinstance(objective, Objective):
        raise InputError(f"objective must be a co.descent.Objective, got {quoted(objective)}")


@dataclass(frozen=True)
class Stop:
    """Stopping rule: ||gradient|| below a tolerance, as in Lee et al. (2005), section VI, or an iteration limit.

    For entries that the gradient pushes against a bound, the distance from the bound is used.

    Parameters
    ----------
    gradient : float
        Tolerance of the Euclidean norm of the gradient, in the units of the cost per unit of x.
    iterations : int

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> bool(np.abs(co.descent.bfgs(bowl, np.ones(3), co.descent.Stop(gradient=1e-8)).gradient).max() < 1e-8)
    True
    """

    gradient: float = 1e-2
    iterations: int = 200

    def __post_init__(self):
        finite_number("Stop gradient", self.gradient, positive=True)
        count("Stop iterations", self.iterations, at_least=0)


class DescentStatus(StrEnum):
    """The end of a descent. Only `CONVERGED` is success.

    `NO_STEP` means that the gradient is wrong, or that the decrease is below the rounding of the value.

    Examples
    --------
    >>> [status.name for status in co.descent.DescentStatus]
    ['CONVERGED', 'ITERATION_LIMIT', 'NO_STEP', 'NOT_FINITE']
    """

    CONVERGED = "converged"
    ITERATION_LIMIT = "iteration limit"
    NO_STEP = "no step decreases the value as the gradient predicts"
    NOT_FINITE = "value, gradient or Hessian is not finite"


@dataclass(frozen=True, eq=False)
class History:
    """One entry for the start and for every iteration; ndarrays of equal length.

    Parameters
    ----------
    value : float
    gradient_norm : float
        As in `Stop`.
    step : float
        Distance from the iterate before.
    evaluations : int
        Values and gradients computed so far.
    seconds : float
        Wall time so far.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> history = co.descent.modified_newton(bowl, np.ones(3)).history
    >>> len(history.value) == len(history.seconds)
    True
    """

    value: np.ndarray
    gradient_norm: np.ndarray
    step: np.ndarray
    evaluations: np.ndarray
    seconds: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Descent(Tabular):
    """The result of a descent.

    Parameters
    ----------
    method : str
    x : ndarray, shape (n,)
        The last iterate, whatever the status.
    value : float
    gradient : ndarray, shape (n,)
        Gradient of the objective; at an active bound, minus the multiplier of the bound.
    status : DescentStatus
    stop : Stop
    history : History

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> run = co.descent.modified_newton(bowl, np.ones(3))
    >>> run.method, run.status
    ('modified Newton', <DescentStatus.CONVERGED: 'converged'>)
    """

    method: str
    x: np.ndarray
    value: float
    gradient: np.ndarray
    status: DescentStatus
    stop: Stop
    history: History

    @property
    def success(self) -> bool:
        """Whether the status is `DescentStatus.CONVERGED`."""
        return self.status is DescentStatus.CONVERGED

    @property
    def iterations(self) -> int:
        """Number of steps taken."""
        return self.history.value.size - 1

    @property
    def evaluations(self) -> int:
        """Number of evaluations of value and gradient."""
        return int(self.history.evaluations[-1])

    @property
    def seconds(self) -> float:
        """Wall time."""
        return float(self.history.seconds[-1])

    def _table(self) -> Table:
        rows = [
            ("status", self.status),
            ("value", f"{self.value:.10g}"),
            ("gradient", f"{short(float(self.history.gradient_norm[-1]))} (tolerance {short(self.stop.gradient)})"),
            ("effort", f"{self.iterations} iterations, {self.evaluations} evaluations, {self.seconds:.3f} s"),
        ]
        return Table(f"Descent by {self.method} in {self.x.size} variables", ("", ""), rows)
