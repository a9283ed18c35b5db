"""Checks of the arguments of functions of a closed chain and its state, or of its instant."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from colloc.dynamics.arguments import checked_loads, checked_vector
from colloc.dynamics.instant import Instant
from colloc.loops.mechanism import ClosedChain
from colloc.model import Model
from colloc.support.checks import InputError, function, instance

P = ParamSpec("P")
R = TypeVar("R")


def of_chain(fn: Callable[P, R]) -> Callable[P, R]:
    """A function of a closed chain and its state whose arguments are checked, by their names.

    InputError unless `chain` is a ClosedChain; q SX (or numbers) of shape (n_q,), qd, qdd and weights (n,), ud and udd
    one for each independent joint, multipliers one for each independent row; loads a list of Load on its bodies.
    """
    parameters = signature(fn)

    @wraps(fn)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        call = parameters.bind(*args, **kwargs)
        chain = instance("chain", call.arguments["chain"], ClosedChain)
        n, rows = chain.model.n, chain.rows.size
        sizes = {"qd": n, "qdd": n, "weights": n, "ud": n - rows, "udd": n - rows, "multipliers": rows}
        sizes["q"] = chain.model.n_q
        for name, value in call.arguments.items():
            if name in sizes:
                call.arguments[name] = checked_vector(name, value, sizes[name])
            elif name == "loads":
                call.arguments[name] = checked_loads(chain.model, value)
        return fn(*call.args, **call.kwargs)

    return checked


def of_instant(method: Callable[P, R]) -> Callable[P, R]:
    """A method of an object with a `chain` whose arguments are checked, by their names.

    InputError unless `now` is an Instant of the chain's tree; q SX (or numbers) of shape (n_q,), qd and qdd (n,); loads
    a list of Load on its bodies, evaluated where they are functions of the instant; dynamics callable.
    """
    parameters = signature(method)

    @wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        call = parameters.bind(*args, **kwargs)
        model: Model = call.arguments["self"].chain.model
        for name, value in call.arguments.items():
            if name == "now":
                instance("now", value, Instant)
                if value.model.joint_names != model.joint_names:
                    raise InputError(f"now must be an instant of {model.name!r}, got one of {value.model.name!r}")
            elif name in ("q", "qd", "qdd"):
                call.arguments[name] = checked_vector(name, value, model.n_q if name == "q" else model.n)
            elif name == "loads":
                call.arguments[name] = checked_loads(model, value)
            elif name == "dynamics":
                function(name, value, "newton_euler or a function like it", "model", "q", "qd", "qdd", "loads")
        return method(*call.args, **call.kwargs)

    return checked
