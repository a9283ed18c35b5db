"""Limits of joint quantities: those of the model and those that a problem states, taken together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from colloc.model import Model
from colloc.problem.conditions import Constraint
from colloc.problem.joint_constraints import QUANTITIES, Bounds, EndState, JointBounds
from colloc.problem.time_sets import WHOLE, Window
from colloc.problem.unknowns import State
from colloc.support.checks import InputError, choice

Sides = tuple[np.ndarray, np.ndarray]  # lower and upper, each shape (n,)
_LIMITED = {"q": "position", "qd": "velocity", "qdd": "acceleration", "tau": "torque"}
_ROUNDING = 1e-9  # by which a stated value may miss a bound


def limits(model: Model, stated: Sequence[Constraint], quantity: str) -> Sides:
    """Lower and upper bounds that hold all along, each shape (n,): joint limits and `bounds` together.

    Raises
    ------
    InputError
        Naming the joint whose bounds contradict each other.
    """
    choice("quantity", quantity, QUANTITIES)
    names = model.names(quantity)
    sides = [(np.full(len(names), -np.inf), np.full(len(names), np.inf))]
    sides += [own.limits_of(quantity, model) for own in stated if isinstance(own, Bounds) and own.where == WHOLE]
    if quantity in _LIMITED:
        sides.append(model.limits(_LIMITED[quantity]))
    lower, upper = np.max([low for low, _ in sides], axis=0), np.min([high for _, high in sides], axis=0)
    for joint, low, high in zip(names, lower, upper, strict=True):
        if low > high:
            raise InputError(f"bounds on {quantity}[{joint}] contradict each other: lower {low} > upper {high}")
    return lower, upper


def windows(model: Model, stated: Sequence[Constraint], quantity: str) -> list[tuple[Window, np.ndarray, np.ndarray]]:
    """Bounds during a part of the motion: when, and lower and upper bounds, each shape (n,)."""
    choice("quantity", quantity, QUANTITIES)
    bounds = [own for own in stated if isinstance(own, Bounds) and own.where != WHOLE and quantity in own.limits]
    return [(own.where, *own.limits_of(quantity, model)) for own in bounds]


def joint_bounds(model: Model, stated: Sequence[Constraint]) -> list[JointBounds]:
    """Bounds and joint limits, one constraint for each quantity and part of the motion that has any."""
    found = []
    for quantity in QUANTITIES:
        whole = (WHOLE, *limits(model, stated, quantity))
        for where, lower, upper in [whole, *windows(model, stated, quantity)]:
            joints = [j for j in range(lower.size) if np.isfinite([lower[j], upper[j]]).any()]
            if joints:
                found.append(JointBounds(quantity, joints, lower[joints], upper[joints], where))
    return found


def check_ends(
    model: Model, stated: Sequence[Constraint], states: Sequence[State], symbols: Mapping[str, ca.SX]
) -> None:
    """InputError for a value stated at an end that lies outside its bounds: no solver could meet it.

    `symbols` are those of the states by name.
    """
    known = {state.name: state for state in states}
    for end in (own for own in stated if isinstance(own, EndState)):
        for name, k, value in end.stated_states(symbols):
            _check_within(f"{end.name} {name}", value, known[name].lower[k], known[name].upper[k])
        for quantity, j, value in end.stated(model):
            lower, upper = (side[j] for side in limits(model, stated, quantity))
            _check_within(f"{end.name} {quantity}[{model.names(quantity)[j]}]", value, lower, upper)


def _check_within(what: str, value: float, lower: float, upper: float) -> None:
    if not lower - _ROUNDING <= value <= upper + _ROUNDING:
        raise InputError(f"{what} = {value:g} lies outside its bounds [{lower:g}, {upper:g}]")
