"""Costs in order of importance: each is minimised while those before it are kept.

A problem whose `minimize` is a list of costs is solved level by level. Later levels keep the optimum of a level: a
duration that is the only cost of its level is fixed to its optimum; any other cost stays below its optimum plus a small
slack. Integrals that are kept are states at all levels, so that each level starts at the optimum of the one before, in
the same variables and by the same quadrature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import Any

import casadi as ca

from colloc.problem.conditions import at, boundary
from colloc.problem.cost import NOTHING, Cost, final_cost
from colloc.problem.joint_constraints import initial
from colloc.problem.phases import Phases
from colloc.problem.problem import Problem
from colloc.problem.unknowns import State
from colloc.support.checks import InputError
from colloc.support.pickling import Portable

SLACK = 1e-4  # of the size of a cost, by which it may exceed its optimum at later levels


@dataclass(frozen=True, eq=False)
class OrderedCosts(Portable):
    """Costs in order of importance, with the optima of the levels that are solved.

    Parameters
    ----------
    problem : Problem or Phases
        With all its costs.
    costs : tuple of float
        The optima of the first levels.
    bounds : tuple of float
        Values at which, or below which, these costs are kept.
    """

    problem: Problem | Phases
    costs: tuple[float, ...] = ()
    bounds: tuple[float, ...] = ()

    @property
    def names(self) -> list[str]:
        levels = zip_longest(*(p.minimize.levels for p in _parts(self.problem)), fillvalue=NOTHING)
        return [" + ".join(dict.fromkeys(term.name for cost in level for term in cost.terms)) for level in levels]

    @property
    def is_complete(self) -> bool:
        """Whether only the last cost is left."""
        return len(self.costs) + 1 >= len(self.names)

    @property
    def posed(self) -> Problem | Phases:
        return at_level(self.problem, self.bounds)

    def after(self, cost: float, size: float) -> OrderedCosts:
        """The costs after one more level, whose optimum and natural size are given."""
        fixed = _keeps_duration(self.problem, len(self.costs))
        bound = cost if fixed else cost + SLACK * size
        return replace(self, costs=(*self.costs, cost), bounds=(*self.bounds, bound))


def check_one_cost(problem: Problem | Phases) -> None:
    """InputError for costs in order of importance."""
    if any(part.minimize.later for part in _parts(problem)):
        raise InputError(
            "minimize has costs in order of importance, which co.solve(problem, curve) takes; a program, a sweep or a "
            "search has one cost"
        )


def at_level(problem: Problem | Phases, bounds: Sequence[float]) -> Any:
    """The problem of one level, with the costs of earlier levels kept at, or below, their bounds."""
    if not any(part.minimize.later for part in _parts(problem)):
        return problem
    level = _phases_at_level if isinstance(problem, Phases) else _problem_at_level
    return level(problem, bounds)  # pyright: ignore[reportArgumentType]


def _parts(problem: Problem | Phases) -> list[Problem | Phases]:
    """A problem, or the phases of one and the whole."""
    return [*problem.phases.values(), problem] if isinstance(problem, Phases) else [problem]


def _level(problem: Problem | Phases, k: int) -> Cost:
    levels = problem.minimize.levels
    return levels[k] if k < len(levels) else NOTHING


def _keeps_duration(problem: Problem | Phases, k: int) -> bool:
    """Whether keeping the cost of a level fixes the duration."""
    costs = [_level(part, k) for part in _parts(problem)]
    if not all(cost.is_duration for cost in costs):
        return False
    *each, whole = (sum(term.weight for term in cost.terms) for cost in costs)
    return len(set(each)) <= 1 and sum(each[:1]) + whole > 0


def _rate(cost: Cost, now: Any) -> ca.SX:
    """The sum of a cost's integrands."""
    terms = [term.weight * term.fn(now) for term in cost.terms if term.fn is not None and not term.final]
    return sum(terms, ca.SX(0))


def at_end(cost: Cost, state: str, end: Any, duration: Any = None) -> ca.SX:
    """A cost at the end of a motion or a phase, where its integrals are a state."""
    value = end.states[state] if state in end.states else ca.SX(0)
    for term in cost.terms:
        if term.fn is None:
            value = value + term.weight * (end.duration if duration is None else duration)
        elif term.final:
            value = value + term.weight * term.fn(end)
    return value


def has_integral(cost: Cost) -> bool:
    """Whether a cost has terms that are integrated along the motion."""
    return any(term.fn is not None and not term.final for term in cost.terms)


def accumulated(cost: Cost, name: str) -> State:
    """A state that is the integral of a cost up to now."""
    return State(name, rate=partial(_rate, cost))


def _problem_at_level(problem: Problem, bounds: Sequence[float]) -> Problem:
    levels, now = problem.minimize.levels, len(bounds)
    changes: dict[str, Any] = {"minimize": levels[now]}
    unknowns, rows = list(problem.unknowns), list(problem.subject_to)
    for k, cost in enumerate(levels[:-1]):
        name = f"cost_{k + 1}"
        if _keeps_duration(problem, k):
            if k < now:
                changes["duration"] = bounds[k] / sum(term.weight for term in cost.terms)
            continue
        if has_integral(cost):
            unknowns.append(accumulated(cost, name))
            rows.append(initial(states={name: 0.0}))
        value = partial(at_end, cost, name)
        if k < now:
            rows.append(at(1.0, value, upper=bounds[k], name=f"{name} kept"))
        elif k == now:
            changes["minimize"] = final_cost(value, name=name)
    return replace(problem, unknowns=unknowns, subject_to=rows, **changes)


def _phases_at_level(problem: Phases, bounds: Sequence[float]) -> Phases:
    now, count = len(bounds), max(len(part.minimize.levels) for part in _parts(problem))
    names, rows = list(problem.phases), list(problem.subject_to)
    phases = {name: replace(phase, minimize=_level(phase, now)) for name, phase in problem.phases.items()}
    whole: dict[str, Any] = {"minimize": _level(problem, now)}
    for k in range(count - 1):
        costs = {name: _level(phase, k) for name, phase in problem.phases.items()}
        if _keeps_duration(problem, k):
            if k < now:
                weight = sum(term.weight for cost in (costs[names[0]], _level(problem, k)) for term in cost.terms)
                whole["duration"] = bounds[k] / weight
            continue
        state = f"cost_{k + 1}"
        if any(map(has_integral, costs.values())):
            for name in names:
                unknowns = (*phases[name].unknowns, accumulated(costs[name], state))
                start = [initial(states={state: 0.0})] if name == names[0] or not problem.in_sequence else []
                phases[name] = replace(phases[name], unknowns=unknowns, subject_to=[*phases[name].subject_to, *start])
        ends = names[-1:] if problem.in_sequence else names
        value = partial(of_phases, costs, _level(problem, k), state, ends)
        if k < now:
            rows.append(boundary(value, upper=bounds[k], name=f"{state} kept"))
        elif k == now:
            phases = {name: replace(phase, minimize=NOTHING) for name, phase in phases.items()}
            whole["minimize"] = final_cost(value, name=state)
    return replace(problem, phases=phases, subject_to=rows, **whole)


def of_phases(costs: Mapping[str, Cost], whole: Cost, state: str, complete: list[str], ends: Any) -> ca.SX:
    """A cost of phases or cases at their ends; integrals are complete at the ends of some of them."""
    total = ca.SX(0)
    for name, cost in costs.items():
        total = total + at_end(cost, state if name in complete else "", ends[name].end, ends[name].duration)
    duration = sum((ends[name].duration for name in costs), ca.SX(0))
    for term in whole.terms:
        total = total + term.weight * (duration if term.fn is None else term.fn(ends))
    return total
