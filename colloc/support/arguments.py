"""Decorators that validate the arguments of functions.

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

from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    finite_number,
    float_array,
    function,
    instance,
    symbolic,
    text,
)

Check = Callable[[str, Any, dict[str, int]], Any]
P = ParamSpec("P")
R = TypeVar("R")


def validated(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function check its arguments, by their names, before it runs; InputError for illegal ones.

    Sizes with the same name must be equal in all arguments. Defaults are not checked.
    """

    def decorated(fn: Callable[P, R]) -> Callable[P, R]:
        form = signature(fn)

        @wraps(fn)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            call, sizes = form.bind(*args, **kwargs), {}
            for name, check in checks.items():
                if name in call.arguments and call.arguments[name] is not form.parameters[name].default:
                    call.arguments[name] = check(name, call.arguments[name], sizes)
            return fn(*call.args, **call.kwargs)

        return checked

    return decorated


def array(*shape: str | int, finite: bool = True) -> Check:
    """Floats, finite by default; a size is a number, or a name that is common to several arguments."""

    def check(name: str, value: Any, sizes: dict[str, int]) -> np.ndarray:
        numbers = (finite_array if finite else float_array)(name, value, (None,) * len(shape))
        for axis, size in zip(shape, numbers.shape, strict=True):
            if size != (axis if isinstance(axis, int) else sizes.setdefault(axis, size)):
                listed = ", ".join(str(axis if isinstance(axis, int) else sizes.get(axis, axis)) for axis in shape)
                raise InputError(f"{name} must have shape ({listed}), got shape {numbers.shape}")
        return numbers

    return check


def expressions(*shape: int | None) -> Check:
    """Symbols or numbers, a column of one size or a matrix of two; None for any size."""

    def check(name: str, value: Any, _: dict[str, int]) -> ca.SX:
        rows, columns = (*shape, 1)[:2]
        if isinstance(value, ca.SX | ca.DM):
            height, width = value.shape
        else:
            height, width = len(value) if isinstance(value, list | tuple) else finite_array(name, value).size, 1
        return symbolic(name, value, (height if rows is None else rows, width if columns is None else columns))

    return check


def elementwise() -> Check:
    """Symbols or numbers of any shape, for elementwise functions; a float stays a float."""

    def check(name: str, value: Any, _: dict[str, int]) -> ca.SX | ca.DM | float:
        if isinstance(value, ca.SX):
            return value
        numbers = finite_array(name, value.full() if isinstance(value, ca.DM) else value)
        return float(numbers) if numbers.ndim == 0 else ca.DM(numbers)

    return check


def number(*, positive: bool = False) -> Check:
    """A finite float."""
    return lambda name, value, _: finite_number(name, value, positive=positive)


def integer(at_least: int = 0) -> Check:
    """An integer within a range."""
    return lambda name, value, _: count(name, value, at_least=at_least)


def instance_of(kind: type, how: str = "") -> Check:
    """A value of a type."""
    return lambda name, value, _: instance(name, value, kind, how)


def list_of(check: Check) -> Check:
    """A list each of whose items passes a check."""

    def check_items(name: str, value: Any, sizes: dict[str, int]) -> tuple[Any, ...]:
        return tuple(check(f"{name}[{k}]", item, sizes) for k, item in enumerate(as_tuple(name, value)))

    return check_items


def callback(what: str) -> Check:
    """A callable, with its description for messages."""
    return lambda name, value, _: function(name, value, what)


def string() -> Check:
    """A non-empty string."""
    return lambda name, value, _: text(name, value)
