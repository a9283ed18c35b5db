"""From a problem and a transcription to an NLP."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.errors import InputError
from colloc.kernels import Compile
from colloc.problem import SHARED, At, Boundary, Path, Problem, Rows, State
from colloc.transcription.block import Block
from colloc.transcription.ends import settle
from colloc.transcription.grid import Grid, Local, Sites, Transcription, parameter_symbols
from colloc.transcription.nlp import NLP
from colloc.transcription.squares import split_squares
from colloc.transcription.torques import Torques


def transcribe(
    problem: Problem,
    curve: Transcription,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> NLP:
    """The nonlinear program of a problem on a transcription, ready to be counted, checked or solved.

    Parameters
    ----------
    problem : Problem
    curve : BSpline, HermiteSimpson or Radau
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics; it changes no physics.
    sensitivities : optional
        Recursion for the first derivatives of the torques, and with it `lie_hessian` for the second;
        `by_differentiation(dynamics)` for both. By default `composite_sensitivities` from eight joints on,
        differentiation below, and for the gradient of the cost always, as one reverse sweep is cheapest.
    compile : bool or Compile, optional
        As in `solve`.

    Returns
    -------
    NLP
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    if isinstance(curve, type) or not hasattr(curve, "grid"):
        raise InputError(f"transcription must be BSpline, HermiteSimpson or Radau, got {curve!r}")
    if not (compile is None or isinstance(compile, bool | Compile)):
        raise InputError(f"compile must be True, False, None or a Compile, got {compile!r}")
    torques = Torques(problem, dynamics, sensitivities)
    grid = curve.grid(problem, torques)
    constraints = grid.defects()
    settled = settle(problem, grid)
    for name, (constraint, rows, function) in problem.rows.items():
        if isinstance(constraint, State):
            if chosen := settled.open[name]:
                constraints.append(
                    block_at(name, _moment(grid, constraint.s, function), rows, function, chosen).folded()
                )
        elif isinstance(constraint, Boundary):
            constraints.append(_boundary(name, grid, rows, function))
        elif isinstance(constraint, At):
            constraints.append(block_at(name, _moment(grid, constraint.s, function), rows, function).folded())
        elif isinstance(constraint, Path) and constraint.quantity not in grid.bounded:
            constraints += _along_path(name, grid, constraint, rows, function)
        elif isinstance(constraint, Path):
            sites, held = window(grid, grid.nodes(), constraint.during), grid.held(constraint.during)
            left = sites if held is None else sites.restrict(held, outside=True)
            constraints += [block_at(name, left, rows, function)] if left.s.size else []
    return NLP(problem, curve, grid, torques.names, _costs(problem, grid), constraints, *settled[:2], compile)


def _costs(problem: Problem, grid: Grid) -> list[Block]:
    """All sums of squares in one block, what remains of the integrands in another."""
    sites, quadrature = grid.quadrature()
    local, parameters = sites.local, parameter_symbols(problem)
    share, duration = ca.SX.sym("share"), local.inputs[1]
    varying = local.w if local.lifted is None else ca.vertcat(local.w, local.lifted.symbols)
    residuals, weights, squared, rest, remaining = [], [], [], [], []
    for name, (factor, fn) in problem.integrands.items():
        found = split_squares(fn(*local.inputs), varying)
        # The duration, the integral's measure, belongs into the residuals: it may be unknown.
        residuals += [ca.sqrt(duration) * residual for residual in found.residuals]
        weights += [factor * share * weight for weight in found.weights]
        squared += [name] * len(found.residuals)
        if not found.rest.is_zero():
            rest.append(factor * share * duration * found.rest)
            remaining.append(name)
    data, none = (ca.vertcat(local.d, share), np.vstack([sites.data, quadrature])), np.zeros(0)
    given = (local.w, data[0], parameters)
    ends = (sites.slices, data[1], none, none)
    blocks = []
    if rest:
        blocks.append(Block("cost", *given, ca.vertcat(*rest), *ends, tuple(remaining), sites.s, local.lifted))
    if residuals:
        rows, factors = ca.vertcat(*residuals), ca.vertcat(*weights)
        blocks.append(Block("squares", *given, rows, *ends, tuple(squared), sites.s, local.lifted, None, factors))
    return blocks


def block_at(name: str, sites: Sites, rows: Rows, function: ca.Function, chosen: Sequence[int] | None = None) -> Block:
    """Rows of a constraint, all or some, at given sites."""
    local = sites.local
    k = list(range(len(rows.labels)) if chosen is None else chosen)
    return Block(
        name, local.w, local.d, local.inputs[8], function(*local.inputs)[k],
        sites.slices, sites.data, rows.lower[k], rows.upper[k], tuple(rows.labels[i] for i in k), sites.s,
        local.lifted, rows.scale[k],
    )  # fmt: skip


def _along_path(name: str, grid: Grid, constraint: Path, rows: Rows, function: ca.Function) -> list[Block]:
    sites = window(grid, grid.nodes(), constraint.during)
    blocks = [block_at(name, sites, rows, function)]
    early = grid.early_nodes()
    if early is not None and constraint.during[0] == 0 and not _needs_acceleration(function):
        blocks.insert(0, block_at(name, early, rows, function).folded())
    return blocks


def window(grid: Grid, sites: Sites, during: tuple[float, float]) -> Sites:
    """The sites within a part of the motion; where it lies between two of them, its ends and middle."""
    inside = sites.restrict(during)
    return inside if inside.s.size else grid.anywhere(np.unique(np.linspace(*during, 3)))


def _moment(grid: Grid, s: float, function: ca.Function) -> Sites:
    """The node at s where there is one, which has fewer variables than the curve in general."""
    early = grid.early_nodes()
    if s == 0 and early is not None and not _needs_acceleration(function):
        return early
    node = grid.nodes().restrict((s, s))
    return node if node.s.size == 1 else grid.anywhere(np.array([s]))


def _needs_acceleration(function: ca.Function) -> bool:
    """Whether rows depend on qdd, tau or the signals."""
    return any(function.jac_sparsity(0, k).nnz() for k in (4, 5, 6))


def _boundary(name: str, grid: Grid, rows: Rows, function: ca.Function) -> Block:
    """Rows between the two ends, which automatic differentiation takes whole: there is only one slice of them."""
    start, end = grid.anywhere(np.array([0.0])), grid.anywhere(np.array([1.0]))
    near, far = start.local, end.local
    w, d = ca.SX.sym("w end", far.w.shape[0]), ca.SX.sym("d end", far.d.shape[0])
    inputs = _resolved(near)
    # What does not vary along the motion is read from the start.
    other = [
        inputs[k] if k in SHARED else expression
        for k, expression in enumerate(ca.substitute(_resolved(far), [far.w, far.d], [w, d]))
    ]
    return Block(
        name, ca.vertcat(near.w, w), ca.vertcat(near.d, d), near.inputs[8], function(*inputs, *other),
        start.slices.beside(end.slices), np.vstack([start.data, end.data]),
        rows.lower, rows.upper, rows.labels, np.ones(1), natural=rows.scale,
    ).folded()  # fmt: skip


def _resolved(local: Local) -> list[ca.SX]:
    """The inputs of an instant as expressions in the local variables alone."""
    return local.lifted.resolve(local.inputs) if local.lifted else local.inputs
