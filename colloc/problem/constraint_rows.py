"""A constraint of a problem as a function of the instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.problem.conditions import Condition
from colloc.problem.instant import Slots
from colloc.problem.joint_constraints import EndState, JointBounds
from colloc.problem.rows import Rows
from colloc.support.lazy import cached_property

# The highest time derivative of the coordinates in a row, by what the row depends on.
_ORDERS = {"q": 0, "qd": 1, "qdd": 2, "tau": 2, "signals": 2, "jerk": 2, "tau_rate": 2}
_ORDERS |= {"signal_rates": 2, "states": 1, "state_rates": 2}


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """A constraint with its rows as a function of the instant.

    Parameters
    ----------
    constraint : EndState, JointBounds or Condition
    rows : Rows
        In the symbols of the problem's instant.
    function : Function
        Of the `Slots` of an instant -> the rows; between the ends of those of the first and then the last instant.
    model : Model
        Whose positions change as its velocities say.
    """

    constraint: EndState | JointBounds | Condition
    rows: Rows
    function: ca.Function
    model: Model

    def of(self, arguments: Sequence[ca.SX]) -> Rows:
        """The rows as expressions in what stands for the slots."""
        return self.rows._replace(expression=self.function(*arguments))

    @cached_property
    def orders(self) -> np.ndarray:
        """Highest time derivative of the coordinates that each row needs, ndarray of int, shape (r,).

        0 for positions alone, 1 for velocities, 2 for all else: torques and signals go with accelerations.
        """
        found = np.full(self.rows.lower.size, -1)
        for name, order in _ORDERS.items():
            seen = self.function.jac_sparsity(0, Slots._fields.index(name)).get_triplet()[0]
            found[seen] = np.maximum(found[seen], order)
        return np.where(found < 0, 2, found)

    @cached_property
    def rate(self) -> ConstraintRows:
        """The time derivative, to be zero, of rows of order 0."""
        slots = Slots(*self.function.sx_in())
        moved = ca.vertcat(slots.t, slots.q)
        rates = ca.vertcat(1, self.model.position_rates(slots.q, slots.qd))
        rate = ca.jtimes(self.function(*slots), moved, rates)
        zero, rows = np.zeros(self.orders.size), self.rows
        labels = tuple(f"rate of {label}" for label in rows.labels)
        units = tuple(f"{unit}/s" if unit else "" for unit in rows.units)
        stated = Rows(rate, zero, zero, labels, units, rows.scale)
        return ConstraintRows(self.constraint, stated, ca.Function("rate", [*slots], [rate]), self.model)
