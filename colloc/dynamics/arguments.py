"""Checks of the arguments of functions of a model and its state."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import casadi as ca

from colloc.model import Load, Model, check_loads
from colloc.support.checks import InputError, as_tuple, function, instance, spelt, symbolic

_VECTORS = ("q", "qd", "qdd", "tau", "multipliers")
_RECURSIONS = ("formulation", "recursion")

P = ParamSpec("P")
R = TypeVar("R")


def of_state(fn: Callable[P, R]) -> Callable[P, R]:
    """A function of a model and its state whose arguments are checked, by their names.

    InputError unless `model` is a Model with bodies; q, qd, qdd, tau and multipliers SX (or numbers) of shape (n,);
    loads a list of Load on its bodies, evaluated where they are functions of the instant; a formulation or recursion
    callable.
    """
    parameters = signature(fn)

    @wraps(fn)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = parameters.bind(*args, **kwargs)
        model = instance("model", bound.arguments["model"], Model)
        if not model.bodies:
            raise InputError("model must have bodies, got an empty model")
        for name, value in bound.arguments.items():
            if name in _VECTORS:
                bound.arguments[name] = checked_vector(name, value, model.n_q if name == "q" else model.n)
            elif name == "loads":
                bound.arguments[name] = checked_loads(model, value)
            elif name in _RECURSIONS:
                function(name, value, "newton_euler, composite_sensitivities or a function like them")
        return fn(*bound.args, **bound.kwargs)

    return spelt(checked)


def checked_vector(name: str, value: Any, n: int) -> ca.SX:
    """SX, shape (n,), from symbols or numbers."""
    # Most are symbols, which need no second look.
    return value if isinstance(value, ca.SX) and value.shape == (n, 1) else symbolic(name, value, (n, 1))


def checked_loads(model: Model, value: Any) -> tuple[Load, ...]:
    """Loads on bodies of a model, none of them a function of the instant."""
    loads = as_tuple("loads", value)
    check_loads(model, loads)
    for load in loads:
        if any(callable(part) for part in (load.force, load.moment, load.point)):
            raise InputError(f"the load on {load.body!r} is a function of the instant; give load.at(instant)")
    return loads
