"""The costs and constraints of a problem as blocks on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints, Quadrature
from colloc.blocks.functions import BlockFunctions
from colloc.blocks.sum_of_squares import split_sum_of_squares
from colloc.problem import ConstraintRows, Slots, summed
from colloc.transcription.constraint_points import AtGreville, AtNodes, Collocated, EquationEnds
from colloc.transcription.fixed_ends import FixedEnds
from colloc.transcription.free_knots import FreeKnotsGrid
from colloc.transcription.grid import Grid


def constraint_blocks(whole: Grid, fixed: FixedEnds) -> list[Block]:
    """Constraints of the grid's problem, without rows that bounds of the variables already imply."""
    problem, blocks = whole.problem, []
    known = fixed.lower, fixed.upper, problem.parameter_values()
    for name, entry in problem.rows.items():
        grid = whole.as_splines if entry.constraint.at_control_points else whole
        equal = entry.rows.lower == entry.rows.upper
        along = equal & entry.constraint.where.along
        if along.any():
            along = along & (entry.orders < 2)
        for chosen, where in ((equal & ~along, Collocated(grid)), (~equal, AtNodes(grid))):
            rows = [
                row
                for row in np.flatnonzero(chosen).tolist()
                if row in fixed.remaining_rows.get(name, range(equal.size))
            ]
            blocks += _blocks(name, entry, where, rows)
        blocks += _equations(name, entry, grid, along, known)
    if (closure := problem.closure) is not None:
        along = np.ones(closure.orders.size, dtype=bool)
        blocks += _equations(closure.constraint.name, closure, whole.as_splines, along, known)
    if isinstance(whole, FreeKnotsGrid):
        blocks.append(whole.spacing())
    return blocks


def _equations(
    name: str,
    entry: ConstraintRows,
    grid: Grid,
    along: np.ndarray,
    known: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> list[Block]:
    """Blocks of the rows `along` that are equations in positions or velocities: inside, and at both ends.

    Equations at the ends that follow from fixed variables and parameters are dropped. The lengths of quaternions have
    no rates at the ends, since velocities do not depend on them.
    """
    blocks = []
    if entry.constraint.at_control_points:
        start, inside, end = _blocks(name, entry, AtGreville(grid), np.flatnonzero(along).tolist())
        return [inside, *(block for block in (start, end) if block.undetermined_rows(*known))]
    for order in sorted(set(entry.orders[along].tolist())):
        rows = np.flatnonzero(along & (entry.orders == order)).tolist()
        blocks += _blocks(name, entry, Collocated(grid, order), rows)
        ends = _blocks(name, entry, EquationEnds(grid), rows)
        if order == 0:
            ends += _blocks(name, entry.rate, EquationEnds(grid, rates=True), rows)
        left = [(block, block.undetermined_rows(*known)) for block in ends]
        blocks += [block.with_rows(block.rows.take(some)) for block, some in left if some]
    return blocks


def _blocks(name: str, entry: ConstraintRows, where: AtNodes, rows: Sequence[int]) -> list[Block]:
    """Blocks of some rows of a constraint, wherever they hold."""
    blocks = [constraint_block(name, entry, s, rows) for s in (entry.constraint.points(where) if rows else ())]
    return [block.with_constant_data() if block.n_slices == 1 else block for block in blocks if block.n_slices]


def constraint_block(
    name: str, entry: ConstraintRows, sites: EvaluationPoints, chosen: Sequence[int] | None = None
) -> Block:
    """Rows of a constraint, all or the chosen ones, at given sites."""
    key, made = (entry, None if chosen is None else tuple(chosen)), sites.local.functions
    if key not in made:
        rows = entry.of(sites.local.arguments)
        made[key] = BlockFunctions(sites.local, rows if chosen is None else rows.take(chosen))
    return Block(name, sites, made[key])


def cost_blocks(grid: Grid) -> list[Block]:
    """Blocks of the integrated and the final terms of the cost."""
    problem, rule = grid.problem, grid.quadrature()
    blocks = _summed(rule, Slots(*rule.sites.local.arguments).duration * rule.width, problem.integrands)
    if problem.final_costs:
        last = Quadrature.of(grid.anywhere(np.array([1.0])), np.ones(1))
        blocks += _summed(last, ca.SX(1), problem.final_costs)
    return blocks


def _summed(rule: Quadrature, measure: ca.SX, terms: Mapping[str, tuple[float, ca.Function]]) -> list[Block]:
    """One block of all sums of squares, another of the remaining terms.

    Terms are multiplied by the weights of the rule and by a measure, which is part of the residuals as it may be
    unknown.
    """
    sites, made = rule.sites, rule.sites.local.functions
    key = (tuple(fn for _, fn in terms.values()),)
    if key not in made:
        made[key] = _summed_functions(rule, measure, terms)
    return [Block(name, sites, functions) for name, functions in made[key].items()]


def _summed_functions(
    rule: Quadrature, measure: ca.SX, terms: Mapping[str, tuple[float, ca.Function]]
) -> dict[str, BlockFunctions]:
    """The functions of these blocks, by name."""
    sites, share, _ = rule
    slots, local = Slots(*sites.local.arguments), sites.local
    within = [part.symbols for part in (local.torques, local.dependent) if part is not None]
    varying = ca.vertcat(local.w, *within)
    residuals, weights, squared, rest, remaining = [], [], [], [], []
    for name, (factor, fn) in terms.items():
        split = split_sum_of_squares(fn(*slots), varying)
        residuals += [ca.sqrt(measure) * residual for residual in split.residuals]
        weights += [factor * share * weight for weight in split.weights]
        squared += [name] * len(split.residuals)
        if not split.rest.is_zero():
            rest.append(factor * share * measure * split.rest)
            remaining.append(name)
    functions = {}
    if rest:
        functions["cost"] = BlockFunctions(sites.local, summed(ca.vertcat(*rest), remaining))
    if residuals:
        rows = summed(ca.vertcat(*residuals), squared)
        functions["squares"] = BlockFunctions(sites.local, rows, ca.vertcat(*weights))
    return functions
