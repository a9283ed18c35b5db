"""Torques that equations prescribe along the path, such as zero at passive joints, however they are stated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Slots
from colloc.problem.statement import ConstraintRows
from colloc.problem.time_sets import Window


class TorqueEquation(NamedTuple):
    """An equation along the path that is linear in the torques, with constant slopes: slopes' tau = value.

    Parameters
    ----------
    constraint : str
    row : int
        Index among the rows of the constraint.
    window : Window
    slopes : ndarray, shape (n,)
    value : SX, scalar
        Independent of torques, accelerations and rates.
    constant : bool
        Whether the value does not vary along the motion.
    """

    constraint: str
    row: int
    window: Window
    slopes: np.ndarray
    value: ca.SX
    constant: bool


def torque_equations(rows: Mapping[str, ConstraintRows], slots: Slots) -> tuple[TorqueEquation, ...]:
    """The equations among a problem's rows, by name, that prescribe torques along the path."""
    equations = []
    rates = ca.vertcat(slots.qdd, slots.jerk, slots.tau_rate, slots.signal_rates, slots.state_rates)
    varying = ca.vertcat(slots.t, slots.q, slots.qd, slots.signals, slots.states)
    for name, constraint in rows.items():
        where, (lower, upper) = constraint.constraint.where, (constraint.rows.lower, constraint.rows.upper)
        if not where.along or not ca.depends_on(constraint.rows.expression, slots.tau):
            continue
        for row in np.flatnonzero(lower == upper).tolist():
            expression = constraint.rows.expression[row]
            slopes = ca.jacobian(expression, slots.tau)
            if ca.depends_on(expression, rates) or ca.symvar(slopes) or not slopes.nnz():
                continue
            rest = ca.substitute(expression, slots.tau, ca.SX.zeros(slots.tau.shape))
            slope, window = ca.evalf(slopes).full()[0], Window(*where.moments)
            constant = not ca.depends_on(expression, varying)
            equations.append(TorqueEquation(name, row, window, slope, lower[row] - rest, constant))
    return tuple(equations)
