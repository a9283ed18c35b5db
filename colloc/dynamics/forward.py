"""Forward dynamics from the inverse dynamics: qdd = M(q)^-1 (tau - bias)."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from colloc.dynamics.newton_euler import newton_euler
from colloc.model import Load, Model


def equations_of_motion(model: Model, q: ca.SX, qd: ca.SX, loads: Sequence[Load] = ()) -> tuple[ca.SX, ca.SX]:
    """Mass matrix and bias of M(q) qdd + bias(q, qd) = tau.

    The torque is affine in qdd, so M is its Jacobian and the bias its value at qdd = 0.

    Returns
    -------
    mass : SX, shape (n, n) [kg m2, kg m, kg]
    bias : SX, shape (n,) [N m, N]
        Coriolis, centrifugal and gravity torques, less the torques of the loads.
    """
    qdd = ca.SX.sym("qdd", model.n)
    mass = ca.jacobian(newton_euler(model, q, qd, qdd, loads), qdd)
    return mass, newton_euler(model, q, qd, ca.SX(model.n, 1), loads)
