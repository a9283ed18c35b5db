"""Models in which joints follow others: computed on the whole tree, and said of the coordinates that are left.

All joints of the tree move as q_t = C q + c, qd_t = C qd and qdd_t = C qdd, with C and c constant. By virtual work the
torques of the coordinates are tau = C' tau_t, and since C is constant dtau/dq = C' dtau_t/dq_t C and so on. No
recursion knows of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import casadi as ca

P = ParamSpec("P")
R = TypeVar("R")

_VECTORS = ("q", "qd", "qdd", "multipliers")


def of_tree(reduced: Callable[[Any, ca.SX], Any]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function of `model` and some of q, qd, qdd and multipliers, which sees a model without couplings only.

    Its result, SX or (named) tuples of these, becomes that of the coordinates by `reduced`, a function of it and of C.
    """

    def decorated(fn: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(fn)

        @wraps(fn)
        def on_tree(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = parameters.bind(*args, **kwargs)
            model = bound.arguments["model"]
            if not model.couplings:
                return fn(*args, **kwargs)
            # Symbols, as some functions differentiate by them; what they stand for comes in afterwards.
            symbols, values = [], []
            for name in bound.arguments.keys() & set(_VECTORS):
                vector = bound.arguments[name]
                values.append(model.tree_positions(vector) if name == "q" else model.coupling_matrix @ vector)
                symbols.append(ca.SX.sym(name, values[-1].shape[0]))
                bound.arguments[name] = symbols[-1]
            bound.arguments["model"] = model.tree
            result = reduced(fn(*bound.args, **bound.kwargs), model.coupling_matrix)
            parts = iter(ca.substitute(list(_parts(result)), symbols, [ca.densify(value) for value in values]))
            return _rebuilt(result, parts)

        return on_tree

    return decorated


def unreduced(result: R, C: ca.SX) -> R:
    """What is of the whole mechanism, such as an energy."""
    return result


def by_rows(vector: ca.SX, C: ca.SX) -> ca.SX:
    """Torques."""
    return C.T @ vector


def by_columns(matrix: ca.SX, C: ca.SX) -> ca.SX:
    """Derivatives by coordinates of what is of the whole mechanism."""
    return matrix @ C


def by_both(matrix: ca.SX, C: ca.SX) -> ca.SX:
    """Derivatives of torques by coordinates."""
    return C.T @ matrix @ C


def _parts(result: Any) -> Iterator[ca.SX]:
    if isinstance(result, tuple):
        for item in result:
            yield from _parts(item)
    else:
        yield result


def _rebuilt(result: Any, parts: Iterator[ca.SX]) -> Any:
    if not isinstance(result, tuple):
        return next(parts)
    items: Iterable[Any] = [_rebuilt(item, parts) for item in result]
    return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
