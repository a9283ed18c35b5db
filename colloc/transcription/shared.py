"""The unknowns that do not vary along the motion, as symbols."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.problem import Problem
from colloc.transcription.layout import Layout


class Shared(NamedTuple):
    """The unknowns that every slice sees, as symbols.

    Parameters
    ----------
    T, constants : SX
    symbols : SX column
        Those that are really unknown. A fixed duration is a number: it stays in the decision vector, where everyone
        can read it, but nothing depends on it.
    index : ndarray of int
        Their entries in the decision vector.
    """

    T: ca.SX
    constants: ca.SX
    symbols: ca.SX
    index: np.ndarray


def shared_unknowns(problem: Problem, layout: Layout) -> Shared:
    """Duration and constants of a problem."""
    horizon = problem.horizon
    free = horizon.lower < horizon.upper
    T = ca.SX.sym("T") if free else ca.SX(horizon.lower)
    constants = ca.SX.sym("constants", sum(u.size for u in problem.constants))
    symbols = ca.vertcat(T, constants) if free else constants
    return Shared(T, constants, symbols, layout.shared[layout.shared.size - symbols.shape[0] :])


def parameter_symbols(problem: Problem) -> ca.SX:
    """The problem's parameters in one column."""
    return problem.instant.slots.parameters
