"""A motion cut into arcs, each a phase of free duration: the same problem, stated as a sequence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from colloc.dynamics.rows import Rows
from colloc.problem.cost import Cost
from colloc.problem.phase_functions import NamedPhases
from colloc.problem.phases import Phases
from colloc.problem.problem import Problem
from colloc.problem.statement import Restated, Statement
from colloc.problem.time_sets import WHOLE
from colloc.problem.unknowns import Free
from colloc.support.checks import InputError, instance


def divided(problem: Problem, spans: Sequence[Free]) -> Phases:
    """A problem as a sequence of arcs, "arc 1", "arc 2" and so on, that meet where that is best.

    Constraints along the motion hold on every arc; positions, velocities and states are continuous between arcs.

    Parameters
    ----------
    problem : Problem
    spans : sequence of Free
        Durations of the arcs, which add up to the problem's.

    Raises
    ------
    InputError
        For constraints during a part of the motion or at a time inside, and functions of the time or the duration,
        which differ on an arc.

    Examples
    --------
    >>> from colloc.problem.divided import divided
    >>> list(divided(problem, [co.Free(0.01, 1.0), co.Free(0.01, 1.0)]).phases)
    ['arc 1', 'arc 2']
    """
    if reason := indivisible(instance("problem", problem, Problem)):
        raise InputError(reason)
    phases: dict[str, Problem] = {}
    for k, span in enumerate(spans):
        first, last = k == 0, k == len(spans) - 1
        phases[f"arc {k + 1}"] = problem.restated(
            [item for item in problem.statements if _holds_on(item, first=first, last=last)],
            duration=span,
            minimize=Cost(tuple(term for term in problem.minimize.terms if last or not term.final)),
        )
    names = list(phases)
    across = [AcrossArcs(item, names[0], names[-1]) for item in problem.statements if item.where.instants == 2]
    horizon = problem.horizon
    return Phases(phases, across, duration=horizon if horizon.lower < horizon.upper else horizon.lower)


def indivisible(problem: Problem) -> str:
    """Why arcs of free durations cannot state a problem, in a sentence; empty if they can."""
    if problem.coordinates is not None:
        return "arcs need costates, which a closed chain has only as a part of cut joints, co.loops.CutJoints"
    for name, rows in problem.rows.items():
        where = rows.constraint.where
        if not (where == WHOLE or (not where.along and set(where.moments) <= {0.0, 1.0})):
            return (
                f"constraint {name!r} holds {where}, and arcs begin and end where that is best: only what holds all "
                "along or at the ends can be stated on them; put such a time between the phases of co.Phases"
            )
    functions = [rows.function for rows in problem.rows.values()] + [function for _, function in problem.costs.values()]
    functions.append(problem.function("torques", problem.inverse_dynamics()))
    for slot, what in enumerate(("time", "duration")):
        if any(function.jac_sparsity(0, slot).nnz() for function in functions):
            return (
                f"the {what} stands in a function of the problem, and every arc has its own: state it as a state, as "
                'in co.State("clock", rate=lambda now: 1.0)'
            )
    return ""


def _holds_on(statement: Statement, *, first: bool, last: bool) -> bool:
    moments = statement.where.moments
    return statement.where.along or (len(moments) == 1 and (first if moments[0] == 0 else last))


@dataclass(frozen=True, eq=False)
class AcrossArcs(Restated):
    """A statement on the first and the last instant of a motion, as one on the phases where they are."""

    first: str
    last: str

    def rows(self, phases: NamedPhases) -> Rows:
        return self.statement.rows(phases[self.first].start, phases[self.last].end)
