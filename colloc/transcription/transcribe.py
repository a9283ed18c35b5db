"""From a problem and a transcription to an NLP."""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.errors import InputError
from colloc.problem import SHARED, At, Boundary, Path, Problem, Rows, State
from colloc.transcription.block import Block, Lifted
from colloc.transcription.grid import Grid, Local, Sites, Torques, Transcription, join, parameter_symbols
from colloc.transcription.nlp import NLP


def transcribe(
    problem: Problem,
    curve: Transcription,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
) -> NLP:
    """The nonlinear program of a problem on a transcription, ready to be counted, checked or solved.

    Parameters
    ----------
    problem : Problem
    curve : BSpline, HermiteSimpson or Radau
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics; it changes no physics.
    sensitivities : optional
        Analytic recursion for the first derivatives of the torques, such as `composite_sensitivities`. By default
        CasADi differentiates the formulation, as it does for second derivatives in any case.

    Returns
    -------
    NLP
    """
    if not isinstance(problem, Problem):
        raise InputError(f"problem must be a Problem, got {problem!r}")
    if isinstance(curve, type) or not hasattr(curve, "grid"):
        raise InputError(f"transcription must be BSpline, HermiteSimpson or Radau, got {curve!r}")
    torques = Torques(problem, dynamics, sensitivities)
    grid = curve.grid(problem, torques)
    constraints = grid.defects()
    for name, (constraint, rows, function) in problem.rows.items():
        if isinstance(constraint, Boundary):
            constraints.append(_boundary(name, grid, rows, function))
        elif isinstance(constraint, At | State):
            constraints.append(block_at(name, _moment(grid, constraint.s, function), rows, function).folded())
        elif isinstance(constraint, Path) and constraint.quantity not in grid.bounded:
            constraints += _along_path(name, grid, constraint, rows, function)
    return NLP(problem, curve, grid, torques.names, [_cost(problem, grid)], constraints)


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
        sites.index, np.vstack([sites.data, weights]), none, none, tuple(problem.integrands), sites.s, local.lifted,
    )  # fmt: skip


def block_at(name: str, sites: Sites, rows: Rows, function: ca.Function) -> Block:
    """Rows of a constraint at given sites."""
    local = sites.local
    return Block(
        name, local.z, local.d, local.inputs[8], function(*local.inputs),
        sites.index, sites.data, rows.lower, rows.upper, rows.labels, sites.s, local.lifted,
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
    near, far = start.local, _renamed(end.local)
    # What does not vary along the motion is read from the start.
    shared = [near.inputs[k] if k in SHARED else expression for k, expression in enumerate(far.inputs)]
    lifted = join([_widened(near.lifted, 0, far.z.shape[0]), _widened(far.lifted, near.z.shape[0], 0)])
    return Block(
        name, ca.vertcat(near.z, far.z), ca.vertcat(near.d, far.d), near.inputs[8], function(*near.inputs, *shared),
        np.vstack([start.index, end.index]), np.vstack([start.data, end.data]),
        rows.lower, rows.upper, rows.labels, np.ones(1), lifted,
    ).folded()  # fmt: skip


def _renamed(local: Local) -> Local:
    """The same local view in symbols of its own."""
    old, new = [local.z, local.d], [ca.SX.sym("z end", local.z.shape[0]), ca.SX.sym("d end", local.d.shape[0])]
    lifted = None
    if local.lifted:
        old, new = [*old, local.lifted.symbols], [*new, ca.SX.sym("tau end", local.lifted.symbols.shape[0])]
        lifted = Lifted(new[2], *ca.substitute(list(local.lifted[1:]), old[:2], new[:2]))
    return Local(new[0], new[1], list(ca.substitute(local.inputs, old, new)), lifted)


def _widened(lifted: Lifted | None, before: int, after: int) -> Lifted | None:
    """Slopes in a slice that has other variables before and after."""
    if lifted is None:
        return None
    k = lifted.symbols.shape[0]
    return lifted._replace(slopes=ca.horzcat(ca.SX(k, before), lifted.slopes, ca.SX(k, after)))
