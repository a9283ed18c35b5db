"""The equations of motion M(q) qdd + bias(q, qd) = tau."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.inverse import inverse_dynamics
from colloc.dynamics.newtonian.recursion import newton_euler
from colloc.dynamics.spatial.composite import mass_matrix
from colloc.model import Load, Model


@of_state
def equations_of_motion(model: Model, q: ca.SX, qd: ca.SX, loads: Sequence[Load] = ()) -> tuple[ca.SX, ca.SX]:
    """Mass matrix and bias of M(q) qdd + bias(q, qd) = tau.

    The mass matrix by composite inertias, the bias by the Newton-Euler recursion at qdd = 0.

    Parameters
    ----------
    model : Model
    q, qd : SX, shape (n,) [rad, m] and per s
    loads : sequence of Load

    Returns
    -------
    mass : SX, shape (n, n), sparse [kg m2, kg m, kg]
    bias : SX, shape (n,) [N m, N]
        Coriolis, centrifugal and gravity torques and those of passive joints, less the torques of the loads.

    Examples
    --------
    >>> mass, bias = co.dynamics.equations_of_motion(model, q, qd)
    >>> ca.Function("bias", [q, qd], [bias])([0.0, 0.0], [0.0, 0.0])
    DM([3.924, 0.981])
    """
    return mass_matrix(model, q), inverse_dynamics(newton_euler, model, q, qd, ca.SX(model.n, 1), loads)
