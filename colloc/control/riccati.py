"""The backward recursion: the optimal change of the controls of a linearised system, with state feedback.

Li and Todorov (2004), with limits as in Tassa, Mansard and Todorov (2014). Second derivatives of the dynamics are not
used: the result is the Gauss-Newton step of the whole trajectory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from colloc.control.box import box_minimum
from colloc.control.residuals import Expansion
from colloc.support.arguments import array, instance_of, list_of, number, validated
from colloc.support.checks import InputError


class Policy(NamedTuple):
    """du[k] = feedforward[k] + gains[k] dx[k], with the expected decrease of the objective.

    Parameters
    ----------
    feedforward : ndarray, shape (K, n_u)
    gains : ndarray, shape (K, n_u, n_x)
        By displacements of the states, like A. Zero in the rows of controls at a limit.
    slope, curvature : float
        To second order the objective decreases by -(slope a + curvature a^2 / 2) along a times the feedforward.

    Examples
    --------
    >>> co.control.Policy._fields
    ('feedforward', 'gains', 'slope', 'curvature')
    """

    feedforward: np.ndarray
    gains: np.ndarray
    slope: float
    curvature: float

    @validated(step=number())
    def decrease(self, step: float) -> float:
        """Expected decrease of the objective."""
        return -step * (self.slope + 0.5 * step * self.curvature)


@validated(
    A=array("K", "n_x", "n_x"),
    B=array("K", "n_x", "n_u"),
    objective=instance_of(Expansion),
    damping=number(),
    room=list_of(array("K", "n_u")),
)
def backward(
    A: np.ndarray,
    B: np.ndarray,
    objective: Expansion,
    damping: float = 0.0,
    room: tuple[np.ndarray, np.ndarray] | None = None,
) -> Policy | None:
    """Minimise the expanded objective, plus damping |du|^2 / 2, over the linearised system.

    Parameters
    ----------
    A, B : ndarray, shapes (K, n_x, n_x), (K, n_x, n_u)
    objective : Expansion
    damping : float
        Levenberg's weight of the change.
    room : two ndarray, shape (K, n_u), optional
        Lowest and highest change of the controls that their limits allow.

    Returns
    -------
    Policy or None
        None if the problem in a control is not convex, or not finite: more damping is needed.

    Raises
    ------
    InputError
        For arrays whose shapes do not go together.

    Examples
    --------
    >>> steps, dt = 50, 0.1
    >>> A = np.tile([[1.0, dt], [0.0, 1.0]], (steps, 1, 1))  # a mass that a force pushes: position, velocity
    >>> B = np.tile([[0.0], [dt]], (steps, 1, 1))
    >>> flat = co.control.Expansion(
    ...     x=np.ones((51, 2)), u=np.zeros((50, 1)), xx=np.tile(np.eye(2), (51, 1, 1)), uu=np.ones((50, 1, 1))
    ... )
    >>> policy = co.control.backward(A, B, flat)
    >>> policy.gains.shape
    (50, 1, 2)
    """
    steps, n_x, n_u = B.shape
    sizes = ((steps + 1, n_x), (steps, n_u), (steps + 1, n_x, n_x), (steps, n_u, n_u))
    for name, part, size in zip(Expansion._fields, objective, sizes, strict=True):
        if np.shape(part) != size:
            raise InputError(f"{name} of the objective must have shape {size}, got {np.shape(part)}")
    if room is not None and len(room) != 2:
        raise InputError(f"room must be the lowest and the highest change, got {len(room)} arrays")
    feedforward, gains = np.zeros((steps, n_u)), np.zeros((steps, n_u, n_x))
    slope = curvature = 0.0
    gradient, hessian = objective.x[-1], objective.xx[-1]
    extra = damping * np.eye(n_u)
    for k in reversed(range(steps)):
        carried = hessian @ B[k]
        Q_x = objective.x[k] + gradient @ A[k]
        Q_u = objective.u[k] + gradient @ B[k]
        Q_xx = objective.xx[k] + A[k].T @ hessian @ A[k]
        Q_ux = carried.T @ A[k]
        Q_uu = objective.uu[k] + B[k].T @ carried + extra
        step = _control_step(Q_uu, Q_u, Q_ux, None if room is None else (room[0][k], room[1][k]))
        if step is None:
            return None
        j, G = feedforward[k], gains[k] = step
        slope, curvature = slope + float(j @ Q_u), curvature + float(j @ Q_uu @ j)
        # Also valid if limits prevent j and G from solving Q_uu j = -Q_u and Q_uu G = -Q_ux.
        gradient = Q_x + G.T @ (Q_uu @ j + Q_u) + j @ Q_ux
        hessian = Q_xx + G.T @ (Q_uu @ G + Q_ux) + Q_ux.T @ G
        hessian = 0.5 * (hessian + hessian.T)
    return Policy(feedforward, gains, slope, curvature) if np.isfinite(slope + curvature) else None


def _control_step(
    H: np.ndarray, g: np.ndarray, G: np.ndarray, room: tuple[np.ndarray, np.ndarray] | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """The change of one control and its gain: minimum of j' H j / 2 + g' j within the room; None without one."""
    try:
        np.linalg.cholesky(H)  # raises for matrices that are not positive definite, and for NaN
        if room is None:
            solved = -np.linalg.solve(H, np.column_stack([g, G]))
            return solved[:, 0], solved[:, 1:]
        j, free = box_minimum(H, g, *room)
        gain = np.zeros_like(G)
        gain[free] = -np.linalg.solve(H[np.ix_(free, free)], G[free])
        return j, gain
    except np.linalg.LinAlgError:
        return None
