"""Types of formulations of the inverse dynamics and of derivative recursions, and automatic differentiation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.coupled import by_rows, torque_slopes
from colloc.model import CoupledMotion, Load, Model
from colloc.support.checks import function

InverseDynamics = Callable[[Model, ca.SX, ca.SX, ca.SX, Sequence[Load]], ca.SX]


class Sensitivities(NamedTuple):
    """Actuator torques and their derivatives; entry (i, m) is dtau_i/dq_m, dtau_i/dqd_m, dtau_i/dqdd_m.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
    dq, dqd, dqdd : SX, shape (n, n), sparse
        Only entries in which one joint is an ancestor of the other, or the same, are stored.

    Examples
    --------
    >>> co.dynamics.Sensitivities._fields
    ('tau', 'dq', 'dqd', 'dqdd')
    """

    tau: ca.SX
    dq: ca.SX
    dqd: ca.SX
    dqdd: ca.SX


def reduced_sensitivities(tree: Sensitivities, motion: CoupledMotion) -> Sensitivities:
    """Sensitivities by the coordinates of a model with couplings, see `colloc.dynamics.coupled`."""
    return Sensitivities(by_rows(tree.tau, motion), *torque_slopes(tree.tau, tree[1:], motion))


DerivativeRecursion = Callable[[Model, ca.SX, ca.SX, ca.SX, Sequence[Load]], Sensitivities]
HessianRecursion = Callable[[Model, ca.SX, ca.SX, ca.SX, ca.SX, Sequence[Load]], ca.SX]


def check_formulation(dynamics: object, sensitivities: object = None) -> None:
    """InputError unless these can be a formulation of the inverse dynamics and a derivative recursion (or None).

    Examples
    --------
    >>> co.dynamics.check_formulation(co.dynamics.lie, co.dynamics.lie_sensitivities)
    """
    arguments = "model", "q", "qd", "qdd", "loads"
    function("dynamics", dynamics, "newton_euler, lagrange, lie or a function like them", *arguments)
    if sensitivities is not None:
        function("sensitivities", sensitivities, "composite_sensitivities or a function like it", *arguments)


@dataclass(frozen=True)
class Differentiation:
    """The sensitivities of a formulation by CasADi's automatic differentiation; made by `by_differentiation`.

    Examples
    --------
    >>> co.dynamics.by_differentiation(co.dynamics.lie).formulation is co.dynamics.lie
    True
    """

    formulation: InverseDynamics

    @property
    def __name__(self) -> str:
        return f"differentiation of {self.formulation.__name__}"

    def __call__(self, model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()) -> Sensitivities:
        return differentiated(self.formulation(model, q, qd, qdd, loads), q, qd, qdd)


def differentiated(tau: ca.SX, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Sensitivities:
    """The sensitivities of torques by CasADi's automatic differentiation.

    Examples
    --------
    >>> from colloc.dynamics.formulation import differentiated
    >>> differentiated(co.dynamics.newton_euler(model, q, qd, qdd), q, qd, qdd).dq.shape
    (2, 2)
    """
    # One Jacobian shares more between its columns than three would.
    slopes = ca.jacobian(tau, ca.vertcat(q, qd, qdd))
    sizes = [part.shape[0] for part in (q, qd, qdd)]
    return Sensitivities(tau, *ca.horzsplit(slopes, [0, *np.cumsum(sizes).tolist()]))


def by_differentiation(formulation: InverseDynamics) -> Differentiation:
    """The sensitivities of a formulation by CasADi's automatic differentiation, for comparison.

    The returned recursion takes symbols for q, qd and qdd.

    Examples
    --------
    >>> recursion = co.dynamics.by_differentiation(co.dynamics.lagrange)
    >>> recursion(model, q, qd, qdd).dq.shape
    (2, 2)
    """
    check_formulation(formulation)
    return Differentiation(formulation)
