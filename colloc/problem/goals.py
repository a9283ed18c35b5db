"""Several costs at once: a motion whose costs exceed their goals as little as possible.

The largest excess, relative to the range of each cost, is minimised (Gembicki 1974, "Vector optimization for control
with performance and parameter sensitivity indices"; Pascoletti and Serafini 1984), so that also costs with a front that
is not convex are traded at any ratio. A small part of their sum is added, without which a cost could be larger than it
needs to be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import casadi as ca

from colloc.problem.conditions import at, boundary
from colloc.problem.cost import NOTHING, Cost, final_cost
from colloc.problem.joint_constraints import initial
from colloc.problem.ordered import accumulated, at_end, has_integral, of_phases
from colloc.problem.phases import Phases
from colloc.problem.problem import Problem
from colloc.problem.unknowns import Parameter, Unknown

SLIGHT = 1e-4  # part of the sum of the costs, in their ranges
ROWS = "goals"  # name of the rows, one for each cost
_EXCESS = "excess_over_goals"
_WIDE = 3.0  # bound of the excess, in ranges: it lies between -1 and 1 unless an end is no global optimum

ByPhase = Mapping[str, Cost]  # of a problem without phases with an empty name


def goal_names(count: int) -> list[str]:
    """Names of the parameters that are the goals."""
    return [f"goal_{k + 1}" for k in range(count)]


def labelled(costs: Sequence[ByPhase]) -> list[ByPhase]:
    """Costs whose terms have different names, so that a sum distinguishes them."""
    return [{name: _labelled(k, cost) for name, cost in each.items()} for k, each in enumerate(costs, 1)]


def _labelled(k: int, cost: Cost) -> Cost:
    return Cost(tuple(replace(term, name=f"{k}.{j} {term.name}") for j, term in enumerate(cost.terms, 1)))


def weighted_sum(costs: Sequence[ByPhase], factors: Sequence[float]) -> ByPhase:
    """The sum of costs times factors, by phase."""
    return {
        name: sum((factor * cost[name] for factor, cost in zip(factors, costs, strict=True)), start=NOTHING)
        for name in costs[0]
    }


def minimizing(problem: Problem | Phases, costs: ByPhase) -> Any:
    """A problem with these costs alone."""
    if isinstance(problem, Problem):
        return replace(problem, minimize=costs[""])
    phases = {name: replace(phase, minimize=costs[name]) for name, phase in problem.phases.items()}
    return replace(problem, phases=phases, minimize=NOTHING)


def at_goals(
    problem: Problem | Phases, costs: Sequence[ByPhase], least: Sequence[float], ranges: Sequence[float]
) -> Any:
    """The problem with the excess over goals as its cost; goals are parameters, in ranges above the least costs."""
    scaled = [weighted_sum([cost], [1 / float(width)]) for cost, width in zip(costs, ranges, strict=True)]
    floors = [float(low / width) for low, width in zip(least, ranges, strict=True)]
    states = [f"cost_{k}_so_far" if any(map(has_integral, each.values())) else "" for k, each in enumerate(scaled, 1)]
    slight = weighted_sum(scaled, [SLIGHT] * len(scaled))
    parameters = [Parameter(name, 0.0) for name in goal_names(len(costs))]
    phases = {}
    for name, phase in problem.phases.items():
        added = [accumulated(cost[name], state) for cost, state in zip(scaled, states, strict=True) if state]
        first = not (isinstance(problem, Phases) and problem.in_sequence and phases)
        start = [initial(states={unknown.name: 0.0 for unknown in added})] if added and first else []
        unknowns = [
            *phase.unknowns,
            *([] if phases else [Unknown(_EXCESS, lower=-_WIDE, upper=_WIDE, constant=True)]),
            *added,
        ]
        rows = [*phase.subject_to, *start]
        numbers = {"unknowns": unknowns, "parameters": [*phase.parameters, *parameters]}
        phases[name] = replace(phase, minimize=slight[name], subject_to=rows, **numbers)
    names = [" + ".join(dict.fromkeys(t.name for c in each.values() for t in c.terms)) for each in costs]
    if isinstance(problem, Problem):
        (made,), excess = phases.values(), final_cost(_excess, name="excess over goals")
        over = partial(_over, [cost[""] for cost in scaled], states, floors)
        rows = [*made.subject_to, at(1.0, over, upper=0.0, name=ROWS, labels=names)]
        return replace(made, minimize=excess + made.minimize, subject_to=rows)
    over = partial(_over_of_phases, scaled, states, floors, list(phases)[-1:] if problem.in_sequence else list(phases))
    rows = [*problem.subject_to, boundary(over, upper=0.0, name=ROWS, labels=names)]
    excess = final_cost(partial(_excess_of_phases, next(iter(phases))), name="excess over goals")
    return replace(problem, phases=phases, subject_to=rows, minimize=excess)


def _excess(end: Any) -> ca.SX:
    return getattr(end, _EXCESS)


def _excess_of_phases(first: str, phases: Any) -> ca.SX:
    return getattr(phases[first].end, _EXCESS)


def _over(costs: Sequence[Cost], states: Sequence[str], floors: Sequence[float], end: Any) -> ca.SX:
    values = [at_end(cost, state, end) for cost, state in zip(costs, states, strict=True)]
    return _differences(values, floors, end)


def _over_of_phases(
    costs: Sequence[ByPhase], states: Sequence[str], floors: Sequence[float], complete: list[str], phases: Any
) -> ca.SX:
    values = [of_phases(cost, NOTHING, state, complete, phases) for cost, state in zip(costs, states, strict=True)]
    return _differences(values, floors, phases[next(iter(costs[0]))].end)


def _differences(values: Sequence[ca.SX], floors: Sequence[float], end: Any) -> ca.SX:
    """Costs less their goals and the excess; `end` has the parameters and the constant."""
    goals = [getattr(end, name) for name in goal_names(len(values))]
    return ca.vertcat(
        *(value - floor - goal - _excess(end) for value, floor, goal in zip(values, floors, goals, strict=True))
    )
