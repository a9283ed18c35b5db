"""From a problem and a transcription to an NLP."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from colloc.dynamics import newton_euler
from colloc.errors import InputError
from colloc.problem import SHARED, At, Boundary, Dynamics, Path, Problem, Rows, State
from colloc.transcription.block import Block
from colloc.transcription.grid import Grid, Local, Sites, Transcription, parameter_symbols
from colloc.transcription.nlp import NLP


def transcribe(problem: Problem, curve: Transcription, dynamics: Dynamics = newton_euler) -> NLP:
    """The nonlinear program of a problem on a transcription, ready to be counted, checked or solved.

    Parameters
    ----------
    problem : Problem
    curve : BSpline, HermiteSimpson or Radau
    dynamics : newton_euler or lagrange
        Formulation of the inverse dynamics; it changes no physics.

    Returns
    -------
    NLP
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    if isinstance(curve, type) or not hasattr(curve, "grid"):
        raise InputError(f"transcription must be BSpline, HermiteSimpson or Radau, got {curve!r}")
    grid = curve.grid(problem, problem.dynamics(dynamics))
    constraints = grid.defects()
    for name, (constraint, rows, function) in problem.rows.items():
        if isinstance(constraint, Boundary):
            constraints.append(_boundary(name, grid, rows, function))
        elif isinstance(constraint, At | State):
            constraints.append(block_at(name, _moment(grid, constraint.s, function), rows, function).folded())
        elif isinstance(constraint, Path) and constraint.quantity not in grid.bounded:
            constraints += _along_path(name, grid, constraint, rows, function)
    return NLP(problem, curve, grid, [_cost(problem, grid)], constraints)


def _cost(problem: Problem, grid: Grid) -> Block:
    """All cost terms in one block, one row each: duration times weight times quadrature weight times integrand."""
    sites, weights = grid.quadrature()
    local = sites.local
    w = ca.SX.sym("w")
    duration = local.inputs[1]
    terms = [weight * w * duration * fn(*local.inputs) for weight, fn in problem.integrands.values()]
    none = np.zeros(len(terms))
    return Block(
        "cost", local.z, ca.vertcat(local.d, w), parameter_symbols(problem), ca.vertcat(*terms),
        sites.index, np.vstack([sites.data, weights]), none, none, tuple(problem.integrands), sites.s,
    )  # fmt: skip


def block_at(name: str, sites: Sites, rows: Rows, function: ca.Function) -> Block:
    """Rows of a constraint at given sites."""
    local = sites.local
    return Block(
        name, local.z, local.d, local.inputs[8], function(*local.inputs),
        sites.index, sites.data, rows.lower, rows.upper, rows.labels, sites.s,
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
    start, end = grid.anywhere(np.array([0.0])), grid.anywhere(np.array([1.0]))
    far = _renamed(end.local, start.local)
    inputs = [*start.local.inputs, *far.inputs]
    return Block(
        name,
        ca.vertcat(start.local.z, far.z),
        ca.vertcat(start.local.d, far.d),
        start.local.inputs[8],
        function(*inputs),
        np.vstack([start.index, end.index]),
        np.vstack([start.data, end.data]),
        rows.lower,
        rows.upper,
        rows.labels,
        np.ones(1),
    ).folded()


def _renamed(local: Local, other: Local) -> Local:
    """The same local view in symbols of its own; what does not vary along the motion is read from the other."""
    z, d = ca.SX.sym("z end", local.z.shape[0]), ca.SX.sym("d end", local.d.shape[0])
    inputs: Sequence[ca.SX] = ca.substitute(local.inputs, [local.z, local.d], [z, d])
    return Local(z, d, [other.inputs[k] if k in SHARED else expression for k, expression in enumerate(inputs)])
