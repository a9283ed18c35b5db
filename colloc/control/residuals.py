"""An objective on trajectories of known length: value, Gauss-Newton expansion, and residuals.

Every term is a vector r = F (y - target) per step, with F'F the weights, and contributes r'r / 2. J'J of the residuals'
Jacobians replaces the Hessian: the curvature of y is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.control.objective import ObjectiveTerm, Output, TrajectoryObjective
from colloc.control.state_space import StateSpace
from colloc.support.arguments import instance_of, integer, validated
from colloc.support.checks import InputError, float_array, quoted


class Expansion(NamedTuple):
    """Gradient and Gauss-Newton Hessian of an objective at a trajectory.

    Parameters
    ----------
    x, u : ndarray, shapes (K + 1, n_dx), (K, n_u)
        By displacements of the states; n_dx = n_x except for states with quaternions, see `StateSpace`.
    xx, uu : ndarray, shapes (K + 1, n_dx, n_dx), (K, n_u, n_u)

    Examples
    --------
    >>> co.control.Expansion._fields
    ('x', 'u', 'xx', 'uu')
    """

    x: np.ndarray
    u: np.ndarray
    xx: np.ndarray
    uu: np.ndarray


@dataclass(frozen=True, eq=False)
class Residual:
    """F (y - target) at some rows of an array of states, or of controls."""

    rows: np.ndarray  # ints, shape (m,); every one once
    targets: np.ndarray  # shape (p,) or (m, p)
    factor: np.ndarray  # shape (p, p)
    space: StateSpace  # space of the rows
    output: Output | None  # y; the rows themselves by default

    def value(self, z: np.ndarray) -> np.ndarray:
        """Residuals, shape (m, p)."""
        chosen = z[self.rows]
        if self.output is None:
            return self.space.difference(chosen, self.targets) @ self.factor.T
        return (self.output.value(chosen) - self.targets) @ self.factor.T

    def jacobian(self, z: np.ndarray) -> np.ndarray:
        """Their derivatives by displacements of the row they belong to, shape (m, p, n_dx)."""
        if self.output is None and not self.space.quaternions:
            return np.broadcast_to(self.factor, (len(self.rows), *self.factor.shape))
        if self.output is None:
            return self.factor @ self.space.difference_slope(z[self.rows], self.targets)
        return self.factor @ self.output.jacobian(z[self.rows])


@dataclass(frozen=True, eq=False)
class Residuals:
    """An objective for trajectories of K steps.

    Parameters
    ----------
    states, controls : tuple of Residual
    steps : int
        K.
    space : StateSpace
        Of the states.
    n_u : int
        Size of a control.

    Examples
    --------
    >>> cost = co.control.state_cost((1.0, 0.0), 1.0) + co.control.control_cost(0.1)
    >>> residuals = co.control.fitted(cost, steps=50, n_x=2, n_u=1)
    >>> residuals.n_x, residuals.n_u
    (2, 1)
    """

    states: tuple[Residual, ...]
    controls: tuple[Residual, ...]
    steps: int
    space: StateSpace
    n_u: int

    @property
    def n_x(self) -> int:
        """Size of a state."""
        return self.space.n_x

    def value(self, x: np.ndarray, u: np.ndarray) -> float:
        """Half the sum of squares; NaN or inf if undefined."""
        x, u = self._checked(x, u)
        with np.errstate(all="ignore"):
            groups = ((self.states, x), (self.controls, u))
            return sum(0.5 * float(np.sum(part.value(z) ** 2)) for parts, z in groups for part in parts)

    def expand(self, x: np.ndarray, u: np.ndarray) -> Expansion:
        """Gradient and Gauss-Newton Hessian."""
        x, u = self._checked(x, u)
        with np.errstate(all="ignore"):
            g_x, H_x = _expanded(self.states, x, self.space.n_dx)
            g_u, H_u = _expanded(self.controls, u, self.n_u)
        return Expansion(g_x, g_u, H_x, H_u)

    def _checked(self, x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Trajectories of the right size, possibly divergent ones."""
        return float_array("x", x, (self.steps + 1, self.n_x)), float_array("u", u, (self.steps, self.n_u))


def _expanded(parts: tuple[Residual, ...], z: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    gradient, hessian = np.zeros((len(z), size)), np.zeros((len(z), size, size))
    for part in parts:
        jacobian = part.jacobian(z)
        gradient[part.rows] += (part.value(z)[:, None] @ jacobian)[:, 0]
        hessian[part.rows] += jacobian.swapaxes(1, 2) @ jacobian
    return gradient, hessian


@validated(
    objective=instance_of(TrajectoryObjective),
    steps=integer(1),
    n_x=integer(1),
    n_u=integer(1),
    space=instance_of(StateSpace),
)
def fitted(
    objective: TrajectoryObjective, steps: int, n_x: int, n_u: int, space: StateSpace | None = None
) -> Residuals:
    """The objective for trajectories of so many steps, as residuals.

    Parameters
    ----------
    objective : TrajectoryObjective
    steps : int
    n_x, n_u : int
        Sizes of state and control.
    space : StateSpace, optional
        Of the states, if there are quaternions among them; plain vectors by default.

    Returns
    -------
    Residuals

    Raises
    ------
    InputError
        For targets, weights or steps that do not fit.

    Examples
    --------
    >>> cost = co.control.state_cost((0.0, 0.0), 1.0) + co.control.control_cost(0.1)
    >>> co.control.fitted(cost, steps=50, n_x=2, n_u=1).steps
    50
    """
    space = space or StateSpace(n_x)
    states = tuple(_residual(term, steps + 1, space) for term in objective.states)
    controls = tuple(_residual(term, steps, StateSpace(n_u)) for term in objective.controls)
    return Residuals(states, controls, steps, space, n_u)


def _residual(term: ObjectiveTerm, rows: int, space: StateSpace) -> Residual:
    if term.output is not None and term.output.n_x != space.n_x:
        raise InputError(f"output_cost is of a model with {term.output.n_x} states, the system has {space.n_x}")
    chosen = np.arange(rows) if term.steps is None else _resolved(term.steps, rows)
    size = space.n_x if term.output is None else term.output.size
    targets = np.full(size, float(term.targets)) if term.targets.ndim == 0 else term.targets
    if targets.shape not in ((size,), (len(chosen), size)):
        raise InputError(f"targets must have shape {(size,)} or {(len(chosen), size)}, got shape {targets.shape}")
    p = size if term.output is not None else space.n_dx
    if term.output is None:
        space.checked("targets", targets)
    if term.weights.ndim and term.weights.shape not in ((p,), (p, p)):
        raise InputError(f"weights must be a number or of shape {(p,)} or {(p, p)}, got shape {term.weights.shape}")
    return Residual(chosen, targets, _root(term.weights, p), space, term.output)


def _resolved(steps: tuple[int, ...], rows: int) -> np.ndarray:
    if not all(-rows <= k < rows for k in steps):
        raise InputError(f"steps must lie within {-rows} .. {rows - 1}, got {quoted(steps)}")
    chosen = np.array(steps) % rows
    if len(set(chosen)) < len(chosen):
        raise InputError(f"steps must differ from one another, got {quoted(steps)}")
    return chosen


def _root(weights: np.ndarray, size: int) -> np.ndarray:
    """F with F'F = W."""
    if weights.ndim < 2:
        return np.diag(np.sqrt(np.broadcast_to(weights, size)))
    values, vectors = np.linalg.eigh(weights)
    return np.sqrt(np.maximum(values, 0))[:, None] * vectors.T
