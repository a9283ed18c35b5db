"""What a problem leaves open: its duration, extra unknowns, and parameters that change between solves."""

from __future__ import annotations

from dataclasses import dataclass, field
from keyword import iskeyword
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, count, finite_array, finite_number, flag, interval
from colloc.problem.instant import RESERVED


@dataclass(frozen=True)
class Free:
    """A duration to be found.

    Parameters
    ----------
    lower, upper : float [s]
        Positive bounds.
    guess : float, optional [s]
        Where the search starts. By default the time of the straight line between the stated end postures, see
        `timed_line`; where it has none, the geometric mean of the bounds.
    """

    lower: float
    upper: float
    guess: float | None = None

    def __post_init__(self):
        lower = finite_number("duration lower", self.lower, positive=True)
        upper = finite_number("duration upper", self.upper, positive=True)
        interval("duration", lower, upper)
        if self.guess is None:
            return
        guess = finite_number("duration guess", self.guess)
        if not lower <= guess <= upper:
            raise InputError(f"duration guess must lie in [{lower}, {upper}], got {guess}")
        object.__setattr__(self, "guess", guess)

    @property
    def middle(self) -> float:
        """Geometric mean of the bounds [s]."""
        return (self.lower * self.upper) ** 0.5


@dataclass(frozen=True, eq=False)
class Unknown:
    """An unknown beside the joint motion: a signal of time, or a constant.

    Parameters
    ----------
    name : str
        Instants carry the value under this name.
    size : int
        Number of components.
    lower, upper : float or shape (size,)
        Bounds; infinite by default.
    guess : float or shape (size,)
    constant : bool
        A single value for the whole motion (a payload, a length) instead of a signal (a contact force).

    Attributes
    ----------
    symbol : SX, shape (size,)
        For use in masses, lengths and loads of the model.
    """

    name: str
    size: int = 1
    lower: Any = -np.inf
    upper: Any = np.inf
    guess: Any = 0.0
    constant: bool = False
    symbol: ca.SX = field(init=False)

    def __post_init__(self):
        _check_name("unknown", self.name)
        flag(f"constant of unknown {self.name!r}", self.constant)
        count(f"size of unknown {self.name!r}", self.size, at_least=1)
        lower, upper = interval(f"unknown {self.name!r}", self.lower, self.upper, (self.size,))
        guess = finite_array(f"guess of unknown {self.name!r}", self.guess, (self.size,))
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "guess", np.clip(guess, lower, upper))
        object.__setattr__(self, "symbol", ca.SX.sym(self.name, self.size))


@dataclass(frozen=True, eq=False)
class Parameter:
    """A value that may change from one solve to the next without rebuilding the problem.

    Parameters
    ----------
    name : str
        Instants carry the value under this name.
    value : float or shape (size,)
        Used unless a solve gives another.

    Attributes
    ----------
    symbol : SX, shape (size,)
        For use in masses, lengths and loads of the model.
    """

    name: str
    value: Any
    symbol: ca.SX = field(init=False)

    def __post_init__(self):
        _check_name("parameter", self.name)
        value = np.atleast_1d(finite_array(f"parameter {self.name!r}", self.value))
        if value.ndim != 1:
            raise InputError(f"parameter {self.name!r} must be a number or have shape (N,), got {self.value!r}")
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "symbol", ca.SX.sym(self.name, value.size))


def _check_name(what: str, name: Any) -> None:
    legal = isinstance(name, str) and name.isidentifier() and not iskeyword(name) and not name.startswith("_")
    if not legal:
        raise InputError(f"{what} name must be a Python identifier without a leading underscore, got {name!r}")
    if name in RESERVED:
        raise InputError(f"{what} name {name!r} is taken; an instant already has {', '.join(RESERVED)}")
