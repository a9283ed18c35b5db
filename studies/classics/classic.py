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
    optimum : float
        The least cost.
    source : str
        Source of the optimum.
    others : tuple of float
        Costs of other local optima, in which a solver may end with good conscience.
    """

    problem: Callable[[], co.Problem]
    optimum: float
    source: str
    others: tuple[float, ...] = ()
