"""The interface of a transcription: its variables, and where along the motion functions of the instant are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import casadi as ca
import numpy as np

from colloc.problem import Problem, Window
from colloc.transcription.block import Block
from colloc.transcription.layout import Layout
from colloc.transcription.sites import Sites
from colloc.transcription.torques import Torques


@dataclass(frozen=True)
class Trajectory:
    """A motion given by functions of the normalised time s: what a guess is made of.

    Parameters
    ----------
    q, qd, qdd : callables
        ndarray (N,) -> ndarray (N, n), in rad (m), per s, per s2.
    duration : float [s]
    signal : callable
        (name, ndarray (N,)) -> ndarray (N, size).
    constant : callable
        name -> ndarray (size,).
    """

    q: Callable[[np.ndarray], np.ndarray]
    qd: Callable[[np.ndarray], np.ndarray]
    qdd: Callable[[np.ndarray], np.ndarray]
    duration: float
    signal: Callable[[str, np.ndarray], np.ndarray]
    constant: Callable[[str], np.ndarray]

    def signals(self, problem: Problem, s: np.ndarray) -> np.ndarray:
        """All signals of a problem at s, shape (N, total size)."""
        return np.column_stack([np.zeros((s.size, 0)), *(self.signal(u.name, s) for u in problem.signals)])

    def shared(self, problem: Problem) -> dict[str, np.ndarray | float]:
        """Duration and constants of a problem, by name."""
        return {"duration": self.duration} | {u.name: self.constant(u.name) for u in problem.constants}


class End(NamedTuple):
    """Which variables the motion depends on at its start or end.

    Derivative k of joint j is the sum over i of weight[k, i] x[index[i, j]], weight being lower triangular.

    Parameters
    ----------
    index : ndarray of int, shape (orders, n)
        For q, qd and, if there are three orders, qdd.
    weight : ndarray, shape (orders, orders)
    normalised : bool
        Whether derivatives are meant with respect to the normalised time.
    """

    index: np.ndarray
    weight: np.ndarray
    normalised: bool


class Grid(Protocol):
    """A problem's decision variables on a transcription, and where along the motion things are evaluated."""

    @property
    def problem(self) -> Problem: ...

    @property
    def layout(self) -> Layout:
        """The variables."""
        ...

    @property
    def breakpoints(self) -> np.ndarray:
        """Ends of the polynomial pieces in normalised time."""
        ...

    def nodes(self) -> Sites:
        """Where path constraints are imposed."""
        ...

    def early(self) -> Sites | None:
        """A start without an acceleration of its own: only constraints on positions and velocities hold there."""
        ...

    def anywhere(self, s: np.ndarray) -> Sites:
        """The transcription's own curve at any normalised times."""
        ...

    def held(self, quantity: str, window: Window) -> Window | None:
        """Part of a window in which bounds on variables or `hull` see to bounds on a joint quantity."""
        ...

    def hull(self, quantity: str, window: Window) -> Sites | None:
        """Places whose values of a joint quantity enclose it on the part of a window that is held."""
        ...

    def end(self, s: float) -> End:
        """The variables at the start (s = 0) or end (s = 1)."""
        ...

    def quadrature(self) -> tuple[Sites, np.ndarray]:
        """Sites and weights (summing to 1) for integrals over the normalised time."""
        ...

    def defects(self) -> list[Block]:
        """The constraints that make the variables a motion."""
        ...

    def pack(self, trajectory: Trajectory) -> np.ndarray:
        """Decision vector of a given motion."""
        ...


class Transcription(Protocol):
    """How a motion becomes finitely many numbers: BSpline, HermiteSimpson or Radau."""

    def grid(self, problem: Problem, torques: Torques) -> Grid:
        """The grid of a problem."""
        ...


@dataclass(frozen=True)
class AtNodes:
    """Where constraints are imposed on a grid: at its nodes, and between them where a constraint would have none."""

    grid: Grid

    def during(self, window: Window, needs: frozenset[str]) -> list[Sites]:
        """The nodes within a part of the motion; where it lies between two of them, its ends and middle."""
        nodes, early = self.grid.nodes().during(window), self.grid.early()
        if nodes.size == 0:
            nodes = self.grid.anywhere(np.unique(np.linspace(*window, 3)))
        return [early, nodes] if early is not None and window.start == 0 and _state_only(needs) else [nodes]

    def moment(self, s: float, needs: frozenset[str]) -> Sites:
        """The node at s where there is one, which has fewer variables than the curve in general."""
        early = self.grid.early()
        if s == 0 and early is not None and _state_only(needs):
            return early
        node = self.grid.nodes().during(Window(s, s))
        return node if node.size == 1 else self.grid.anywhere(np.array([s]))

    def ends(self) -> Sites:
        """Both ends at once."""
        return self.grid.anywhere(np.array([0.0])).beside(self.grid.anywhere(np.array([1.0])))

    def bounds(self, quantity: str, window: Window) -> list[Sites]:
        """What bounds on variables do not see to: the hull of a spline, and nodes in intervals cut by the window."""
        held = self.grid.held(quantity, window)
        if held is None:
            return self.during(window, frozenset({quantity}))
        hull, rest = self.grid.hull(quantity, held), self.grid.nodes().during(window).outside(held)
        return [sites for sites in (hull, rest) if sites is not None and sites.size]


def _state_only(needs: frozenset[str]) -> bool:
    return not needs & {"qdd", "tau", "signals"}


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
