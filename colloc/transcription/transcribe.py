"""From a problem and a transcription to an NLP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import overload

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints, Quadrature
from colloc.blocks.sum_of_squares import split_sum_of_squares
from colloc.blocks.torques import Torques
from colloc.curves.curve import Transcription, check_curve
from colloc.curves.mesh import Points
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.kernels import Compile, check_compile
from colloc.problem import ConstraintRows, Problem, Slots, Window, summed
from colloc.problem import Sequence as Phases
from colloc.support.checks import InputError, instance, spelt, unknown_name
from colloc.support.interrupts import heeded
from colloc.support.progress import announce
from colloc.transcription.fixed_ends import fix_ends
from colloc.transcription.free_knots import FreeKnotsGrid
from colloc.transcription.grid import Grid
from colloc.transcription.nlp import NLP
from colloc.transcription.places import AtNodes, Collocated, EquationEnds
from colloc.transcription.sequence import SequenceNLP, side_by_side

_SECONDS = 8e-3  # that building takes for every pair of a joint and one that moves it, entries of the mass matrix


@overload
def transcribe(
    problem: Problem,
    curve: Transcription,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> NLP: ...


@overload
def transcribe(
    problem: Phases,
    curve: Transcription | Mapping[str, Transcription],
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> SequenceNLP: ...


@spelt
@heeded
def transcribe(
    problem: Problem | Phases,
    curve: Transcription | Mapping[str, Transcription],
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> NLP | SequenceNLP:
    """The nonlinear program of a problem on a transcription, ready to be counted, checked or solved.

    Parameters
    ----------
    problem : Problem or Sequence
    curve : BSpline, HermiteSimpson or Radau
        For a Sequence one for all phases, or a mapping of phase to curve.
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
    NLP or SequenceNLP

    See Also
    --------
    solve : Builds and solves in one step.

    Examples
    --------
    >>> nlp = co.transcribe(problem, co.BSpline(20))
    >>> co.solve(nlp).status
    <Status.SOLVED: 'solved'>
    """
    instance("problem", problem, Problem | Phases)
    check_compile(compile)
    if isinstance(problem, Phases):
        curves = _by_phase(problem, curve)
        phases = {
            name: transcribe(own, curves[name], dynamics, sensitivities, compile=compile)
            for name, own in problem.phases.items()
        }
        return side_by_side(problem, phases, compile)
    curve = check_curve(curve)
    return built(problem, curve, dynamics, sensitivities, None, compile)


def built(
    problem: Problem,
    curve: Transcription,
    dynamics: InverseDynamics,
    sensitivities: DerivativeRecursion | None,
    extra: Points | None,
    compile: bool | Compile | None,
) -> NLP:
    """The program of one motion, with more nodes than its curve's own where they are given."""
    model = problem.model
    above: list[int] = []  # of every body, how many joints move it
    for parent, dof in zip(model.parents, model.dofs, strict=True):
        above.append((above[parent] if parent >= 0 else 0) + (dof is not None))
    pairs = sum(above[body] for body in model.moving)
    announce(f"building the program of {model.name}, {model.n} joints", _SECONDS * pairs)
    return _nlp(_grid(curve, problem, Torques(problem, dynamics, sensitivities), extra), compile)


def checked_curves(problem: Problem | Phases, curve: object) -> Transcription | dict[str, Transcription]:
    """A curve, or one for every phase; InputError for anything else."""
    return _by_phase(problem, curve) if isinstance(problem, Phases) else check_curve(curve)


def _by_phase(problem: Phases, curve: object) -> dict[str, Transcription]:
    """A curve for every phase, from one for all or one for each."""
    if not isinstance(curve, Mapping):
        return dict.fromkeys(problem.phases, check_curve(curve))
    for name in curve:
        if name not in problem.phases:
            raise unknown_name("phase", name, problem.phases)
    if missing := [name for name in problem.phases if name not in curve]:
        raise InputError(f"every phase needs a curve, and {', '.join(missing)} has none")
    return {name: check_curve(curve[name]) for name in problem.phases}


def on_curve(nlp: NLP, curve: Transcription, extra: Points | None = None) -> NLP:
    """The same problem, dynamics and compilation on another curve, or with more nodes."""
    return _nlp(_grid(curve, nlp.problem, nlp.grid.torques, extra), nlp.compile)


def for_problem(nlp: NLP, problem: Problem) -> NLP:
    """Another problem of the same mechanism and unknowns, on the same curve and nodes, by the same dynamics."""
    return _nlp(_grid(nlp.curve, problem, nlp.grid.torques.for_problem(problem), nlp.grid.extra), nlp.compile)


def on_curves(
    nlp: SequenceNLP, curves: Mapping[str, Transcription], extra: Mapping[str, Points | None] | None = None
) -> SequenceNLP:
    """The same of a sequence; phases whose curves do not change keep their programs."""
    phases = dict(nlp.phases)
    for name, own in nlp.phases.items():
        added = own.grid.extra if extra is None else extra[name]
        if curves[name] != own.curve:
            phases[name] = on_curve(own, curves[name])
        elif added is not own.grid.extra:
            phases[name] = on_curve(own, own.curve, added)
    return side_by_side(nlp.problem, phases, nlp.compile)


def _grid(curve: Transcription, problem: Problem, torques: Torques, extra: Points | None = None) -> Grid:
    grid = FreeKnotsGrid if curve.free else Grid
    return grid(curve, problem, torques, extra)


def _nlp(grid: Grid, compile: bool | Compile | None) -> NLP:
    problem = grid.problem
    if problem.needs_rates:
        if (grid.basis.continuity < 2).any():
            raise InputError(
                f"jerk and torque rates have no bounds where accelerations jump, as they may on {grid.curve}; take a "
                "curve on which they do not, such as BSpline(20, degree=5) or HermiteSimpson(20)"
            )
        grid = grid.with_rates
    fixed, blocks = fix_ends(problem, grid), []
    known = fixed.lower, fixed.upper, problem.parameter_values()
    for name, stated in problem.rows.items():
        equal = stated.rows.lower == stated.rows.upper
        along = equal & isinstance(stated.constraint.where, Window)
        if along.any():
            along = along & (stated.orders < 2)
        for chosen, where in ((equal & ~along, Collocated(grid)), (~equal, AtNodes(grid))):
            rows = [row for row in np.flatnonzero(chosen).tolist() if row in fixed.open.get(name, range(equal.size))]
            blocks += _blocks(name, stated, where, rows)
        blocks += _equations(name, stated, grid, along, known)
    if (closure := problem.closure) is not None:
        along = np.ones(closure.orders.size, dtype=bool)
        blocks += _equations(closure.constraint.name, closure, grid.as_splines, along, known)
    if isinstance(grid, FreeKnotsGrid):
        blocks.append(grid.spacing())
    costs = _costs(problem, grid)
    return NLP(problem, grid.curve, grid, grid.torques.names, costs, blocks, fixed.lower, fixed.upper, compile)


def _equations(
    name: str, stated: ConstraintRows, grid: Grid, along: np.ndarray, known: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> list[Block]:
    """Some rows that are equations in positions or velocities along the path: inside, and at both ends.

    Parameters
    ----------
    name : str
    stated : ConstraintRows
    grid : Grid
    along : ndarray of bool
        Which rows.
    known : (ndarray, ndarray, ndarray)
        Bounds of the variables, and parameters: equations at the ends that these settle are dropped.
    """
    blocks = []
    for order in np.unique(stated.orders[along]).tolist():
        rows = np.flatnonzero(along & (stated.orders == order)).tolist()
        blocks += _blocks(name, stated, Collocated(grid, order), rows)
        ends = _blocks(name, stated, EquationEnds(grid), rows)
        if order == 0:
            ends += _blocks(name, stated.rate, EquationEnds(grid, rates=True), rows)
        left = [(block, block.undetermined_rows(*known)) for block in ends]
        blocks += [replace(block, rows=block.rows.take(some)) for block, some in left if some]
    return blocks


def _blocks(name: str, stated: ConstraintRows, where: AtNodes, rows: Sequence[int]) -> list[Block]:
    """Some rows of a constraint wherever they hold."""
    blocks = [constraint_block(name, stated, s, rows) for s in (stated.constraint.places(where) if rows else ())]
    return [block.with_constant_data() if block.n_slices == 1 else block for block in blocks if block.n_slices]


def constraint_block(
    name: str, stated: ConstraintRows, sites: EvaluationPoints, chosen: Sequence[int] | None = None
) -> Block:
    """Rows of a constraint, all or some, at given sites."""
    rows = stated.of(sites.local.arguments)
    return Block(name, sites, rows if chosen is None else rows.take(chosen))


def _costs(problem: Problem, grid: Grid) -> list[Block]:
    """Blocks of the integrated terms, and of those at the last instant."""
    rule = grid.quadrature()
    blocks = _summed(rule, Slots(*rule.sites.local.arguments).duration * rule.width, problem.integrands)
    if problem.terminals:
        last = Quadrature.of(grid.anywhere(np.array([1.0])), np.ones(1))
        blocks += _summed(last, ca.SX(1), problem.terminals)
    return blocks


def _summed(rule: Quadrature, measure: ca.SX, terms: Mapping[str, tuple[float, ca.Function]]) -> list[Block]:
    """All sums of squares in one block, what remains of the terms in another.

    What is summed is times the rule's shares and a measure, which belongs into the residuals: it may be unknown.
    """
    sites, share, _ = rule
    slots, torques = Slots(*sites.local.arguments), sites.local.torques
    varying = sites.local.w if torques is None else ca.vertcat(sites.local.w, torques.symbols)
    residuals, weights, squared, rest, remaining = [], [], [], [], []
    for name, (factor, fn) in terms.items():
        found = split_sum_of_squares(fn(*slots), varying)
        residuals += [ca.sqrt(measure) * residual for residual in found.residuals]
        weights += [factor * share * weight for weight in found.weights]
        squared += [name] * len(found.residuals)
        if not found.rest.is_zero():
            rest.append(factor * share * measure * found.rest)
            remaining.append(name)
    blocks = []
    if rest:
        blocks.append(Block("cost", sites, summed(ca.vertcat(*rest), remaining)))
    if residuals:
        blocks.append(Block("squares", sites, summed(ca.vertcat(*residuals), squared), ca.vertcat(*weights)))
    return blocks
