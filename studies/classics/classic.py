"""A problem with a known optimum."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import colloc as co


class Classic(NamedTuple):
    """A problem and the cost of its optimum.

    Parameters
    ----------
    problem : callable
        Makes the problem.
    optimum : float, optional
        The least cost; None where only this library has an answer.
    source : str
        Source of the optimum, and of the problem.
    other : float, optional
        Cost of another local optimum, which a solver may end in with good conscience.
    """

    problem: Callable[[], co.Problem]
    optimum: float | None
    source: str
    other: float | None = None
