"""What a transcription supplies: variables, and places along the motion where functions of the instant are taken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import casadi as ca
import numpy as np

from colloc.errors import InputError
from colloc.problem import Problem
from colloc.transcription.block import Block
from colloc.transcription.slices import Slices
from colloc.transcription.torques import Lifted, Torques


@dataclass(frozen=True, eq=False)
class Local:
    """The instant seen from a slice of the decision vector.

    Parameters
    ----------
    w, d : SX columns
        The slice's local variables and its constant data (such as the normalised time).
    inputs : list of SX
        The instant's inputs (see `Instant.inputs`) as expressions in w and d, and in the torques if they are lifted.
    lifted : Lifted, optional
    """

    w: ca.SX
    d: ca.SX
    inputs: list[ca.SX]
    lifted: Lifted | None = None


@dataclass(frozen=True, eq=False)
class Sites:
    """A local view at N normalised times s, with the slices and data that go with them.

    slices : Slices;  data : ndarray, shape (len(local.d), N)
    """

    local: Local
    slices: Slices
    data: np.ndarray
    s: np.ndarray

    def restrict(self, during: tuple[float, float], *, outside: bool = False) -> Sites:
        """The sites within a part of the motion, or the others."""
        chosen = ((self.s >= during[0] - 1e-9) & (self.s <= during[1] + 1e-9)) != outside
        return Sites(self.local, self.slices.take(chosen), self.data[:, chosen], self.s[chosen])

    def evaluate(self, expressions: list[ca.SX], x: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
        """Values of expressions in the local view at all sites, each ndarray, shape (N, rows)."""
        inputs = [self.local.w, self.local.d, self.local.inputs[8]]
        resolved = self.local.lifted.resolve(expressions) if self.local.lifted else expressions
        function = ca.Function("at", inputs, [ca.densify(expression) for expression in resolved])
        mapped = function.map("at", "serial", self.s.size, [2], [])
        results = mapped.call([self.slices.local(x), self.data, parameters])
        return [np.array(result).T.reshape(self.s.size, -1) for result in results]


@dataclass(frozen=True)
class Motion:
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
    """A problem's decision variables on a transcription, and where along the motion things are evaluated.

    lower, upper : bounds of the variables;  segments : what they are;  breakpoints : ends of the polynomial pieces
    (normalised time);  bounded : joint quantities whose bounds are bounds on variables.
    """

    lower: np.ndarray
    upper: np.ndarray
    segments: dict[str, np.ndarray]
    breakpoints: np.ndarray
    bounded: frozenset[str]

    def held(self, during: tuple[float, float]) -> tuple[float, float] | None:
        """The part of a window in which bounds on variables see to bounds on `bounded` quantities."""
        ...

    def nodes(self) -> Sites:
        """Where path constraints are imposed."""
        ...

    def early_nodes(self) -> Sites | None:
        """Nodes without an acceleration of their own: only constraints on positions and velocities hold there."""
        ...

    def anywhere(self, s: np.ndarray) -> Sites:
        """The transcription's own curve at any normalised times."""
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

    def pack(self, motion: Motion) -> np.ndarray:
        """Decision vector of a given motion."""
        ...


class Transcription(Protocol):
    """How a motion becomes finitely many numbers: BSpline, HermiteSimpson or Radau."""

    def grid(self, problem: Problem, torques: Torques) -> Grid:
        """The grid of a problem."""
        ...


class Shared(NamedTuple):
    """The unknowns that every slice sees, at the end of the decision vector: the duration and the constants.

    Parameters
    ----------
    T, constants : SX
    lower, upper : ndarray
        Bounds of duration and constants.
    symbols : SX column
        Those that are really unknown. A fixed duration is a number: it stays in the decision vector, where everyone
        can read it, but nothing depends on it.
    """

    T: ca.SX
    constants: ca.SX
    lower: np.ndarray
    upper: np.ndarray
    symbols: ca.SX

    def visible(self, index: np.ndarray) -> np.ndarray:
        """Those of all shared entries of the decision vector that the symbols stand for."""
        return index[index.size - self.symbols.shape[0] :]


def shared_unknowns(problem: Problem) -> Shared:
    """The shared unknowns of a problem, as symbols, and their bounds."""
    horizon = problem.horizon
    free = horizon.lower < horizon.upper
    T = ca.SX.sym("T") if free else ca.SX(horizon.lower)
    constants = ca.SX.sym("constants", sum(u.size for u in problem.constants))
    lower = np.concatenate([[horizon.lower], *(u.lower for u in problem.constants)])
    upper = np.concatenate([[horizon.upper], *(u.upper for u in problem.constants)])
    return Shared(T, constants, lower, upper, ca.vertcat(T, constants) if free else constants)


def signal_bounds(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of all signals, stacked."""
    none = np.zeros(0)
    return (
        np.concatenate([none, *(u.lower for u in problem.signals)]),
        np.concatenate([none, *(u.upper for u in problem.signals)]),
    )


def tighten(
    grid: Grid, problem: Problem, quantity: str, during: tuple[float, float],
    index: np.ndarray, lower: np.ndarray, upper: np.ndarray,
) -> None:  # fmt: skip
    """Narrow the bounds of the variables at index, shape (any, n), to those of the joints, each shape (n,).

    Raises
    ------
    InputError
        If nothing is left between them.
    """
    grid.lower[index], grid.upper[index] = np.maximum(grid.lower[index], lower), np.minimum(grid.upper[index], upper)
    for k in np.flatnonzero((grid.lower[index] > grid.upper[index]).any(axis=0)):
        joint = problem.model.joint_names[k]
        raise InputError(f"bounds on {quantity}[{joint}] during {during[0]:g} .. {during[1]:g} contradict others")


def pack_shared(problem: Problem, motion: Motion) -> np.ndarray:
    """Duration and constants of a motion, as the end of the decision vector."""
    return np.concatenate([[motion.duration], *(motion.constant(u.name) for u in problem.constants)])


def sampled_signals(problem: Problem, motion: Motion, s: np.ndarray) -> np.ndarray:
    """All signals of a motion at s, shape (N, total size)."""
    return np.column_stack([np.zeros((s.size, 0)), *(motion.signal(u.name, s) for u in problem.signals)])


def parameter_symbols(problem: Problem) -> ca.SX:
    """The problem's parameters in one column."""
    return problem.instant.inputs[8]
