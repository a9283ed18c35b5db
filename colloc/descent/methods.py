"""Steepest descent, BFGS and modified Newton on any smooth objective, with optional bounds.

The methods that Lee, Kim, Park, Kim and Bobrow (2005), section V, compare. They share the stopping rule and the line
search, and differ only in the direction. With bounds, directions are formed in the free variables, and a projection
replaces the line search: see `colloc.descent.box`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from colloc.descent.box import projected_step
from colloc.descent.cholesky import modified_cholesky
from colloc.descent.line_search import Point, wolfe_step
from colloc.descent.objective import Descent, DescentStatus, Objective, Stop, check_objective
from colloc.descent.record import DescentRecord
from colloc.support.checks import InputError
from colloc.support.interrupts import reraise_interrupt


class _Direction(NamedTuple):
    """A direction, and the first multiple to try."""

    vector: np.ndarray
    first: float


class _Move(NamedTuple):
    """The previous step: its start, and its length in directions."""

    start: Point
    length: float


_Choice = Callable[
    [Point, _Move | None, np.ndarray], _Direction
]  # function of the last point and step, and the free variables
_FLAT = 1e-12  # cosine between a step and the change of the gradient: below, the curvature is not used


@reraise_interrupt
def steepest_descent(objective: Objective, x0: np.ndarray, stop: Stop | None = None) -> Descent:
    """Steps along the negative gradient.

    Converges linearly, at a rate set by the condition number of the Hessian: on movements, extremely slowly.

    Parameters
    ----------
    objective : Objective
    x0 : ndarray, shape (n,)
        Initial point.
    stop : Stop, optional
        By default a gradient norm of 1e-2 or 200 iterations.

    Returns
    -------
    Descent
        Failure is a status, not an exception.

    Raises
    ------
    InputError
        If x0 is not a finite vector.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> co.descent.steepest_descent(bowl, np.ones(3)).status
    <DescentStatus.CONVERGED: 'converged'>
    """

    def direction(now: Point, move: _Move | None, free: np.ndarray) -> _Direction:
        if move is None:
            return _Direction(-now.gradient, _initial_length(now))
        # The same first-order change as in the previous step: Nocedal and Wright (2006), equation 3.60.
        before, after = move.start.gradient[free], now.gradient[free]
        if not after.any():
            return _Direction(-now.gradient, _initial_length(now))
        return _Direction(-now.gradient, move.length * float(before @ before / (after @ after)))

    return _descend("steepest descent", objective, x0, stop, direction, curvature=0.1)


@reraise_interrupt
def bfgs(objective: Objective, x0: np.ndarray, stop: Stop | None = None) -> Descent:
    """Quasi-Newton directions from an inverse Hessian built from gradients.

    The update of Broyden, Fletcher, Goldfarb and Shanno stays positive definite under the Wolfe conditions; started
    from the identity, scaled after the first step (Nocedal and Wright 2006, equations 6.17 and 6.20). Converges
    superlinearly.

    Parameters, returned values and errors as of `steepest_descent`.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> co.descent.bfgs(bowl, np.ones(3)).status
    <DescentStatus.CONVERGED: 'converged'>
    """
    inverse: np.ndarray | None = None

    def direction(now: Point, move: _Move | None, free: np.ndarray) -> _Direction:
        nonlocal inverse
        if move is not None:
            s, y = now.x - move.start.x, now.gradient - move.start.gradient
            # True except for rounding, and for steps that a bound shortens.
            if (sy := float(s @ y)) > _FLAT * float(np.linalg.norm(s) * np.linalg.norm(y)):
                scaled = inverse if inverse is not None else sy / float(y @ y) * np.eye(s.size)
                bent, along = np.outer(scaled @ y, s) / sy, np.outer(s, s) / sy
                inverse = scaled - bent - bent.T + (1 + float(y @ scaled @ y) / sy) * along
        if inverse is None:
            return _Direction(-now.gradient, _initial_length(now))
        if free.all():
            return _Direction(-inverse @ now.gradient, 1.0)
        vector = -now.gradient
        vector[free] = -np.linalg.solve(np.linalg.inv(inverse)[np.ix_(free, free)], now.gradient[free])
        return _Direction(vector, 1.0)

    return _descend("BFGS", objective, x0, stop, direction, curvature=0.9)


@reraise_interrupt
def modified_newton(objective: Objective, x0: np.ndarray, stop: Stop | None = None) -> Descent:
    """Newton directions, from a Hessian that is made positive definite if necessary.

    The modified Cholesky factorisation of Gill, Murray and Wright (1981): every direction is one of descent, and near a
    minimum that of Newton's method. Converges quadratically.

    Parameters, returned values and errors as of `steepest_descent`; also InputError for an objective without Hessian.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> co.descent.modified_newton(bowl, np.ones(3)).history.value
    array([3., 0.])
    """
    check_objective(objective)
    if (hessian := objective.hessian) is None:
        raise InputError("modified Newton needs an objective with a hessian, got one without; use bfgs")

    def direction(now: Point, move: _Move | None, free: np.ndarray) -> _Direction:
        matrix = hessian(now.x)
        if not np.isfinite(matrix).all():
            return _Direction(np.full_like(now.x, np.nan), 1.0)
        vector = -now.gradient
        vector[free] = -modified_cholesky(matrix[np.ix_(free, free)]).solve(now.gradient[free])
        return _Direction(vector, 1.0)

    return _descend("modified Newton", objective, x0, stop, direction, curvature=0.9)


def _initial_length(now: Point) -> float:
    """A first step of at most one, in units of x, if the curvature is unknown."""
    return 1 / max(1.0, float(np.linalg.norm(now.gradient)))


def _descend(
    method: str,
    objective: Objective,
    x0: np.ndarray,
    stop: Stop | None,
    direction: _Choice,
    curvature: float,
) -> Descent:
    """Step along directions until the stopping rule is met, or no step is found."""
    record = DescentRecord(method, objective, x0, Stop() if stop is None else stop)
    now, move, box = record.start, None, record.box
    while (status := record.status) is None:
        towards, first = direction(now, move, ~box.held(now))
        if not np.isfinite(towards).all():
            return record.result(DescentStatus.NOT_FINITE)
        if box.bounded:
            step = projected_step(record.evaluate, box, now, towards, first)
        else:
            step = wolfe_step(record.evaluate, now, towards, first, curvature)
        if step is None:
            return record.result(DescentStatus.NO_STEP)
        now, move = step.point, _Move(now, step.length)
        record.append(now)
    return record.result(status)
