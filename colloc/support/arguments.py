"""Arguments of functions looked at before they run: what each has to be, stated once above the function.

@validated(A=array("K", "n", "n"), B=array("K", "n", "m"), damping=number())
def backward(A, B, damping=0.0): ...
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

import casadi as ca
import numpy as np

from colloc.support import checks
from colloc.support.checks import InputError, symbolic

Check = Callable[[str, Any, dict[str, int]], Any]
P = ParamSpec("P")
R = TypeVar("R")


def validated(**wanted: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A function that checks its arguments, by their names, before it runs.

    Sizes that have a name are the same in all its arguments. What is left at its default is not looked at.

    Raises
    ------
    InputError
        From the function, for an argument that is not what is wanted.
    """

    def door(fn: Callable[P, R]) -> Callable[P, R]:
        own = signature(fn)

        @wraps(fn)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            given, sizes = own.bind(*args, **kwargs), {}
            for name, check in wanted.items():
                if name in given.arguments and given.arguments[name] is not own.parameters[name].default:
                    given.arguments[name] = check(name, given.arguments[name], sizes)
            return fn(*given.args, **given.kwargs)

        return checked

    return door


def array(*shape: str | int, finite: bool = True) -> Check:
    """Floats, finite if not said otherwise; a size is a number, or a name for what other arguments have as well."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> np.ndarray:
        found = (checks.finite_array if finite else checks.float_array)(name, value, (None,) * len(shape))
        for axis, size in zip(shape, found.shape, strict=True):
            known = axis if isinstance(axis, int) else sizes.setdefault(axis, size)
            if known != size:
                listed = ", ".join(str(axis if isinstance(axis, int) else sizes.get(axis, axis)) for axis in shape)
                raise InputError(f"{name} must have shape ({listed}), got shape {found.shape}")
        return found

    return check


def symbols(*shape: int | None) -> Check:
    """Symbols or numbers, a column of one size or a matrix of two; None for a size that does not matter."""

    def check(name: str, value: Any, _: dict[str, int]) -> ca.SX:
        rows, columns = (*shape, 1)[:2]
        if isinstance(value, ca.SX | ca.DM):
            own = value.shape
        elif isinstance(value, list | tuple):
            own = (len(value), 1)
        else:
            own = (checks.finite_array(name, value).size, 1)
        return symbolic(name, value, (own[0] if rows is None else rows, own[1] if columns is None else columns))

    return check


def number(*, positive: bool = False) -> Check:
    """A finite float."""
    return lambda name, value, _: checks.finite_number(name, value, positive=positive)


def integer(at_least: int = 0) -> Check:
    """An integer within a range."""
    return lambda name, value, _: checks.count(name, value, at_least=at_least)


def instance_of(kind: type, how: str = "") -> Check:
    """Something of a type."""
    return lambda name, value, _: checks.instance(name, value, kind, how)


def list_of(check: Check) -> Check:
    """A list whose items are what is wanted."""

    def every(name: str, value: Any, sizes: dict[str, int]) -> tuple[Any, ...]:
        return tuple(check(f"{name}[{k}]", item, sizes) for k, item in enumerate(checks.as_tuple(name, value)))

    return every


def callback(what: str) -> Check:
    """Something to be called; what it should be, in words."""
    return lambda name, value, _: checks.function(name, value, what)


def string() -> Check:
    """A string with something in it."""
    return lambda name, value, _: checks.text(name, value)
