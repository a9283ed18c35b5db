"""Several costs at once: a motion whose costs exceed their goals as little as possible.

The largest excess, relative to the range of each cost, is minimised (Gembicki 1974, "Vector optimization for control
with performance and parameter sensitivity indices"; Pascoletti and Serafini 1984), so that also costs with a front that
is not convex are traded at any ratio. A small part of their sum is added, without which a cost could be larger than it
needs to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca

from colloc.problem.conditions import at
from colloc.problem.cost import Cost, Term, final_cost
from colloc.problem.joint_constraints import initial
from colloc.problem.ordered import accumulated, at_end, has_integral
from colloc.problem.problem import Problem
from colloc.problem.unknowns import Parameter, Unknown

SLIGHT = 1e-4  # part of the sum of the costs, in their ranges
ROWS = "goals"  # name of the rows, one for each cost
_EXCESS = "excess_over_goals"


def goal_names(count: int) -> list[str]:
    """Names of the parameters that are the goals."""
    return [f"goal_{k + 1}" for k in range(count)]


def labelled(costs: Sequence[Cost]) -> list[Cost]:
    """Costs whose terms have different names, so that a sum distinguishes them."""
    return [
        Cost(tuple(replace(term, name=f"{k + 1}.{j + 1} {term.name}") for j, term in enumerate(cost.terms)))
        for k, cost in enumerate(costs)
    ]


def at_goals(problem: Problem, costs: Sequence[Cost], least: Sequence[float], ranges: Sequence[float]) -> Problem:
    """The problem with the excess over goals as its cost; goals are parameters, in ranges above the least costs."""
    scaled = [(1 / float(width)) * cost for cost, width in zip(costs, ranges, strict=True)]
    floors = [float(low / width) for low, width in zip(least, ranges, strict=True)]
    states = [f"cost_{k + 1}_so_far" for k in range(len(scaled))]
    pairs = [(cost, state) for cost, state in zip(scaled, states, strict=True) if has_integral(cost)]
    unknowns = [*problem.unknowns, Unknown(_EXCESS, constant=True), *(accumulated(*pair) for pair in pairs)]
    rows = [*problem.subject_to, *([initial(states={state: 0.0 for _, state in pairs})] if pairs else [])]
    over = partial(_over, tuple(scaled), tuple(states), tuple(floors))
    names = [" + ".join(term.name for term in cost.terms) for cost in costs]
    rows.append(at(1.0, over, upper=0.0, name=ROWS, labels=names))
    parameters = [*problem.parameters, *(Parameter(name, 0.0) for name in goal_names(len(costs)))]
    total: tuple[Term, ...] = tuple(term for cost in scaled for term in (SLIGHT * cost).terms)
    minimize = final_cost(_excess, name="excess over goals") + Cost(total)
    return replace(problem, minimize=minimize, subject_to=rows, unknowns=unknowns, parameters=parameters)


def _excess(end: Any) -> ca.SX:
    return getattr(end, _EXCESS)


def _over(costs: Sequence[Cost], states: Sequence[str], floors: Sequence[float], end: Any) -> ca.SX:
    goals = [getattr(end, name) for name in goal_names(len(costs))]
    values = [at_end(cost, state, end) for cost, state in zip(costs, states, strict=True)]
    return ca.vertcat(
        *(value - floor - goal - _excess(end) for value, floor, goal in zip(values, floors, goals, strict=True))
    )
