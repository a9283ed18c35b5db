"""A linearised trajectory all at once: dx = S_x dx[0] + S_u du.

    dx[0]       1                          0
    dx[1]       A_0                        B_0        0
    dx[2]   =   A_1 A_0        dx[0]   +   A_1 B_0    B_1   0         du
    ...         ...                        ...

Calinon, "A practical guide to learning and control problems in robotics solved with second-order optimization",
section 7.1 and equation 112. Matrices are built, and multiplied, by recursion over the steps.
"""

from __future__ import annotations

import numpy as np

from colloc.control.residuals import Residuals
from colloc.control.riccati import Policy
from colloc.support.arguments import array, instance_of, number, validated
from colloc.support.checks import InputError


@validated(A=array("K", "n_x", "n_x"), B=array("K", "n_x", "n_u"))
def response_matrices(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S_x and S_u, each block row from the one above.

    Parameters
    ----------
    A : ndarray, shape (K, n_x, n_x)
    B : ndarray, shape (K, n_x, n_u)

    Returns
    -------
    S_x : ndarray, shape ((K + 1) n_x, n_x)
    S_u : ndarray, shape ((K + 1) n_x, K n_u)
        Its memory grows with the square of K.

    Examples
    --------
    >>> steps, dt = 50, 0.1
    >>> A = np.tile([[1.0, dt], [0.0, 1.0]], (steps, 1, 1))  # a mass that a force pushes: position, velocity
    >>> B = np.tile([[0.0], [dt]], (steps, 1, 1))
    >>> S_x, S_u = co.control.response_matrices(A, B)
    >>> S_x.shape, S_u.shape
    ((102, 2), (102, 50))
    """
    steps, n_x, n_u = B.shape
    S_x, S_u = np.zeros((steps + 1, n_x, n_x)), np.zeros((steps + 1, n_x, steps, n_u))
    S_x[0] = np.eye(n_x)
    for k in range(steps):
        S_x[k + 1] = A[k] @ S_x[k]
        S_u[k + 1, :, :k] = (A[k] @ S_u[k, :, :k].reshape(n_x, -1)).reshape(n_x, k, n_u)
        S_u[k + 1, :, k] = B[k]
    return S_x.reshape(-1, n_x), S_u.reshape(-1, steps * n_u)


@validated(
    A=array("K", "n_x", "n_x"),
    B=array("K", "n_x", "n_u"),
    residuals=instance_of(Residuals),
    x=array("K+1", "state"),
    u=array("K", "n_u"),
    damping=number(),
)
def least_squares_step(
    A: np.ndarray, B: np.ndarray, residuals: Residuals, x: np.ndarray, u: np.ndarray, damping: float = 0.0
) -> Policy | None:
    """The same change of all controls as by the Riccati recursion, by least squares over S_u.

    Minimises the sum of squares |r + J S_u du|^2 of the residuals linearised about a trajectory, plus damping |du|^2.

    Parameters
    ----------
    A, B : ndarray, shapes (K, n_dx, n_dx), (K, n_dx, n_u)
    residuals : Residuals
    x, u : ndarray, shapes (K + 1, n_x), (K, n_u)
    damping : float

    Returns
    -------
    Policy or None
        Without feedback; None if the squares do not determine every control, or overflow.

    Examples
    --------
    >>> steps, dt = 50, 0.1
    >>> A = np.tile([[1.0, dt], [0.0, 1.0]], (steps, 1, 1))  # a mass that a force pushes: position, velocity
    >>> B = np.tile([[0.0], [dt]], (steps, 1, 1))
    >>> cost = co.control.state_cost((1.0, 0.0), 1.0) + co.control.control_cost(0.1)
    >>> residuals = co.control.fitted(cost, steps=steps, n_x=2, n_u=1)
    >>> co.control.least_squares_step(A, B, residuals, np.zeros((51, 2)), np.zeros((50, 1))).feedforward.shape
    (50, 1)
    """
    _check_steps(len(B), x)
    S_u = response_matrices(A, B)[1].reshape(len(x), A.shape[1], u.size)
    identity = np.eye(u.size).reshape(*u.shape, u.size)
    values, rows = [np.zeros(u.size)], [np.sqrt(damping) * np.eye(u.size)]
    for parts, z, by_u in ((residuals.states, x, S_u), (residuals.controls, u, identity)):
        values += [part.value(z).ravel() for part in parts]
        rows += [(part.jacobian(z) @ by_u[part.rows]).reshape(-1, u.size) for part in parts]
    value, slope = np.concatenate(values), np.concatenate(rows)
    if not np.isfinite(slope).all():  # the responses of an unstable system overflow before the recursion does
        return None
    du, _, rank, _ = np.linalg.lstsq(slope, -value)
    if rank < u.size:
        return None
    change = slope @ du
    no_gains = np.zeros((*u.shape, A.shape[1]))
    return Policy(du.reshape(u.shape), no_gains, float(value @ change), float(change @ change))


def _check_steps(steps: int, rows: np.ndarray) -> None:
    if len(rows) != steps + 1:
        raise InputError(f"{steps} steps lead to {steps + 1} states, got {len(rows)}")
