"""The decorator of functions that take a solution."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import UnionType
from typing import ParamSpec, TypeVar

from colloc.solution.phases import PhasesSolution
from colloc.solution.solution import Solution
from colloc.support.checks import instance, spelt
from colloc.support.interrupts import reraise_interrupt

P = ParamSpec("P")
R = TypeVar("R")


def solution_query(about: type | UnionType = Solution | PhasesSolution) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a function check its first argument, `solution`, and respond to Ctrl-C at any time.

    Parameters
    ----------
    about : type or union of types
        Accepted types of the argument.
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @spelt
        @reraise_interrupt
        @wraps(function)
        def query(*args: P.args, **kwargs: P.kwargs) -> R:
            instance("solution", args[0] if args else kwargs["solution"], about, "see co.solve")
            return function(*args, **kwargs)

        return query

    return decorated
