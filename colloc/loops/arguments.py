"""The one place where functions of a closed chain and its state look at their arguments."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from colloc.checks import instance
from colloc.dynamics.arguments import checked_loads, checked_vector
from colloc.loops.mechanism import ClosedChain

P = ParamSpec("P")
R = TypeVar("R")


def of_chain(fn: Callable[P, R]) -> Callable[P, R]:
    """A function of a closed chain and its state whose arguments are checked, by their names.

    Raises
    ------
    InputError
        Unless `chain` is a ClosedChain; q, qd, qdd and weights SX (or numbers) of shape (n,), ud and udd one for each
        independent joint, multipliers one for each row that counts; loads a list of Load on its bodies.
    """
    parameters = signature(fn)

    @wraps(fn)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        given = parameters.bind(*args, **kwargs)
        chain = instance("chain", given.arguments["chain"], ClosedChain)
        n, rows = chain.model.n, chain.rows.size
        sizes = {"q": n, "qd": n, "qdd": n, "weights": n, "ud": n - rows, "udd": n - rows, "multipliers": rows}
        for name, value in given.arguments.items():
            if name in sizes:
                given.arguments[name] = checked_vector(name, value, sizes[name])
            elif name == "loads":
                given.arguments[name] = checked_loads(chain.model, value)
        return fn(*given.args, **given.kwargs)

    return checked
