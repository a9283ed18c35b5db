"""What a transcription supplies: variables, and places along the motion where functions of the instant are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import casadi as ca
import numpy as np

from colloc.dynamics import DerivativeRecursion, InverseDynamics, check_formulation
from colloc.problem import Problem
from colloc.transcription.block import Block, Lifted


@dataclass(frozen=True, eq=False)
class Local:
    """The instant seen from a slice of the decision vector.

    Parameters
    ----------
    z, d : SX columns
        The slice and its constant data (basis weights, normalised time).
    inputs : list of SX
        The instant's inputs (see `Instant.inputs`) as expressions in z and d, and in the torques if they are lifted.
    lifted : Lifted, optional
    """

    z: ca.SX
    d: ca.SX
    inputs: list[ca.SX]
    lifted: Lifted | None = None


class Torques:
    """How torques and their derivatives enter an NLP.

    Parameters
    ----------
    problem : Problem
    dynamics : callable
        Formulation of the inverse dynamics: newton_euler, lagrange, lie.
    sensitivities : callable, optional
        Derivative recursion; automatic differentiation by default.
    """

    def __init__(self, problem: Problem, dynamics: InverseDynamics, sensitivities: DerivativeRecursion | None):
        check_formulation(dynamics, sensitivities)
        self.names = (dynamics.__name__, sensitivities.__name__ if sensitivities else "automatic differentiation")
        self._value = problem.dynamics(dynamics)
        self._slope = problem.torque_sensitivities(sensitivities) if sensitivities else None

    def put(self, inputs: list[ca.SX], z: ca.SX) -> Lifted | None:
        """Put the torque into the inputs of an instant, as an expression or as symbols with slopes in z."""
        inputs[5] = ca.SX(*inputs[5].shape)
        value = self._value(*inputs)
        if self._slope is None:
            inputs[5] = value
            return None
        symbols = ca.SX.sym("tau", value.shape[0])
        slopes = self._slope(*inputs) @ ca.jacobian(ca.vertcat(*inputs), z)
        inputs[5] = symbols
        return Lifted(symbols, value, slopes)


def join(parts: Sequence[Lifted | None]) -> Lifted | None:
    """Lifted torques of several instants of one slice."""
    found = [part for part in parts if part is not None]
    return Lifted(*(ca.vertcat(*columns) for columns in zip(*found, strict=True))) if found else None


@dataclass(frozen=True, eq=False)
class Sites:
    """A local view at N normalised times s, with the slices and data that go with them.

    index : ndarray of int, shape (len(local.z), N);  data : ndarray, shape (len(local.d), N)
    """

    local: Local
    index: np.ndarray
    data: np.ndarray
    s: np.ndarray

    def restrict(self, during: tuple[float, float]) -> Sites:
        """The sites within a part of the motion."""
        inside = (self.s >= during[0] - 1e-9) & (self.s <= during[1] + 1e-9)
        return Sites(self.local, self.index[:, inside], self.data[:, inside], self.s[inside])

    def evaluate(self, expressions: list[ca.SX], x: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
        """Values of expressions in the local view at all sites, each ndarray, shape (N, rows)."""
        inputs = [self.local.z, self.local.d, self.local.inputs[8]]
        resolved = self.local.lifted.resolve(expressions) if self.local.lifted else expressions
        function = ca.Function("at", inputs, [ca.densify(expression) for expression in resolved])
        results = function.map("at", "serial", self.s.size, [2], []).call([x[self.index], self.data, parameters])
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

    def nodes(self) -> Sites:
        """Where path constraints are imposed."""
        ...

    def early_nodes(self) -> Sites | None:
        """Nodes without an acceleration of their own: only constraints on positions and velocities hold there."""
        ...

    def anywhere(self, s: np.ndarray) -> Sites:
        """The transcription's own curve at any normalised times."""
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


def shared_unknowns(problem: Problem) -> tuple[ca.SX, ca.SX, np.ndarray, np.ndarray]:
    """What every slice ends with: the duration and the constants, as symbols, and their bounds."""
    T = ca.SX.sym("T")
    constants = ca.SX.sym("constants", sum(u.size for u in problem.constants))
    lower = np.concatenate([[problem.horizon.lower], *(u.lower for u in problem.constants)])
    upper = np.concatenate([[problem.horizon.upper], *(u.upper for u in problem.constants)])
    return T, constants, lower, upper


def signal_bounds(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of all signals, stacked."""
    none = np.zeros(0)
    return (
        np.concatenate([none, *(u.lower for u in problem.signals)]),
        np.concatenate([none, *(u.upper for u in problem.signals)]),
    )


def pack_shared(problem: Problem, motion: Motion) -> np.ndarray:
    """Duration and constants of a motion, as the end of the decision vector."""
    return np.concatenate([[motion.duration], *(motion.constant(u.name) for u in problem.constants)])


def sampled_signals(problem: Problem, motion: Motion, s: np.ndarray) -> np.ndarray:
    """All signals of a motion at s, shape (N, total size)."""
    return np.column_stack([np.zeros((s.size, 0)), *(motion.signal(u.name, s) for u in problem.signals)])


def parameter_symbols(problem: Problem) -> ca.SX:
    """The problem's parameters in one column."""
    return problem.instant.inputs[8]
