"""A motion in arcs with the same active limits, each of free duration.

Where a torque jumps between its bounds, or a bound on a velocity becomes active, a fixed grid has an error of first
order. Between such times a motion is smooth: as a sequence of arcs of free durations, with the active limits as
equations, it converges as fast as polynomials do, and only the times remain to be found (Kaya and Noakes 2003 for arcs
from bound to bound; Maurer 1977 for singular and constrained ones). On singular arcs signals have fewer freedoms than
there are collocation points: otherwise they oscillate.

Bounds on positions, velocities and states that are not active on an arc are left out at first, since next to active
limits they leave a solver no room; they are added again if they are exceeded. A solution is valid if its multipliers
have the right signs, as switching functions require, if no other limit is met for a while, and if no arc vanishes;
otherwise arcs are changed, added or removed.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise

import casadi as ca
import numpy as np

from colloc.curves import BSpline, Radau
from colloc.optimality.limited import (
    ActiveArc,
    BoundInterval,
    active_arcs,
    along_limits,
    limited,
    linear_signals,
    merge_arcs,
    split_arcs,
)
from colloc.optimality.limits import Limit, entry_times, limits_of
from colloc.problem import Free, Problem
from colloc.problem.divided import divided
from colloc.problem.time_sets import WHOLE
from colloc.refinement.next_grid import round_of
from colloc.refinement.run import CUT_SHORT, Run
from colloc.solution import PhasesSolution, Solution
from colloc.solution.refinement_round import RefinementRound
from colloc.solver import Start, Status, to_the_last_digit
from colloc.transcription import NLP, PhasesNLP
from colloc.transcription.derived_nlp import BoundedNLP

_DEGREE, _FREEDOMS = 7, 3  # degree of the motion on an interval, and freedoms of singular signals
_INTERVALS, _MOST = 8, 64  # intervals on all arcs, approximately, at most half of them on one; limit of doubling
_ROOM = (0.1, 4.0)  # bounds of an arc's duration, relative to its estimate
_VANISHING = 1.5  # times the lower of these: a shorter arc vanishes
_ATTEMPTS = 12
_FEW = 12  # arcs that are tried by default: larger numbers are rarely exact
_ITERATIONS, _QUICK = 100, 30  # iterations of a program in arcs: if arcs are requested, and if they are only tried
_DEPENDENT = 1e-8  # of the largest singular value: below, rows are dependent
_PUSH, _RATES_PUSH = 1e-6, 1e-3  # of the largest multiplier: smaller ones are zero; for those controlled by rates
_ENDS = 3  # control points next to the ends of arcs, where one may carry the push of another
_MET, _EXCEEDED = 1e-7, 1e-8  # of a limit's natural size
_INSTANT = 1e-9  # of a duration


def refine_at_switches(solution: Solution, run: Run) -> Solution | Status | None:
    """A motion on one curve whose intervals end where limits become active or inactive, within the tolerance.

    None without valid arcs, or if the result is less accurate. Arcs from bound to bound take few iterations, which are
    limited accordingly.

    Returns
    -------
    Solution, Status or None
        The solution, with the motion in arcs and itself as `rounds`; a Status if it was interrupted.
    """
    begin = time.perf_counter()
    quick = replace(run, solver=to_the_last_digit(run.solver).limited(iterations=_QUICK))
    pieces = active_arcs(solution, limited(solution)[""])
    arcs = in_arcs(solution, quick, pieces) if len(pieces) <= _FEW else None
    if arcs is None or isinstance(arcs, Status):
        return arcs
    times = [
        arcs.start_times[name] + phase.nlp.grid.breakpoints[1:] * phase.duration for name, phase in arcs.phases.items()
    ]
    ends = np.append(0.0, np.concatenate(times))
    curve = Radau(degree=_DEGREE, breakpoints=tuple((ends / ends[-1]).tolist()))
    nlp, now = solution.nlp.on_curve(curve), time.perf_counter()
    known = replace(curve, nodes="collocation")
    of_arcs = RefinementRound(known, arcs.nlp.n_x, arcs.cost, float(arcs.error), now - begin, arcs.iterations)
    x = _sampled(nlp, arcs, 0.0, arcs.duration, 1.0)
    answer, _ = run(nlp, Start(np.clip(x, nlp.lower, nlp.upper), near_optimum=True), now)
    if answer.outcome.status in CUT_SHORT:
        return answer.outcome.status
    if answer.outcome.status is not Status.SOLVED or float(answer.error) > run.tolerance:
        return None
    assert isinstance(answer, Solution)
    return replace(answer, rounds=(of_arcs, round_of(answer)))


def in_arcs(solution: Solution, run: Run, pieces: list[ActiveArc]) -> PhasesSolution | Status | None:
    """A valid motion in arcs, from initial arcs; None if there is none, a Status if it was interrupted."""
    motion: Solution | PhasesSolution = solution
    intervals, kept = _INTERVALS, set[str]()
    for _ in range(_ATTEMPTS):
        posed = _ArcProgram.of(motion, solution.problem, pieces, intervals, kept)
        answer = posed.solved(run)
        if answer is None or isinstance(answer, Status):
            return answer
        if exceeded := _exceeded(posed, answer) - kept:
            kept |= exceeded
            continue
        motion, pieces = answer, _revised(posed, answer)
        if [piece.sides for piece in pieces] == [piece.sides for piece in posed.pieces]:
            if float(answer.error) <= run.tolerance or 2 * intervals > _MOST:
                return answer
            intervals *= 2
    return None


@dataclass(frozen=True, eq=False)
class _ArcProgram:
    """A program of a motion in arcs, with the active limits of every arc as equations.

    Parameters
    ----------
    nlp : PhasesNLP
        With all limits of the problem as inequalities.
    pinned : BoundedNLP
        With active limits as equations, and without those that are left out.
    left_out : list of Limit
    pieces : list of ActiveArc
    x : ndarray, shape (n_x,)
        Initial decision vector.
    """

    nlp: PhasesNLP
    pinned: BoundedNLP
    left_out: list[Limit]
    pieces: list[ActiveArc]
    x: np.ndarray

    @classmethod
    def of(
        cls,
        motion: Solution | PhasesSolution,
        problem: Problem,
        pieces: list[ActiveArc],
        intervals: int,
        kept: Collection[str],
    ) -> _ArcProgram:
        """Build the program of a problem in arcs, from a motion.

        Parameters
        ----------
        motion : Solution or PhasesSolution
        problem : Problem
        pieces : list of ActiveArc
        intervals : int
            Approximate number on all arcs.
        kept : collection of str
            Labels of limits that stay as inequalities on arcs where they are not active.
        """
        nlp = _program(motion, problem, pieces, intervals)
        x = _start(nlp, pieces, motion)
        independent, implied = _independent(nlp, _named(nlp, pieces), x, motion.parameters)
        needed = _without(nlp, pieces, implied)
        if len(merge_arcs(needed)) < len(needed):
            return cls.of(motion, problem, merge_arcs(needed), intervals, kept)
        pinned = {(limit.phase, limit.row) for limit in independent}
        left_out = [
            limit
            for limit in _inequalities(nlp)
            if _order(nlp, limit) < 2 and limit.row not in kept and (limit.phase, limit.row) not in pinned
        ]
        independent, left_out = _once(nlp, independent, left_out, x)
        program = _pinned(nlp, independent, left_out)
        return cls(nlp, program, left_out, needed, np.clip(x, program.lower, program.upper))

    def solved(self, run: Run) -> PhasesSolution | Status | None:
        """The motion in arcs; None if the solve fails, a Status if it was interrupted."""
        equations = np.count_nonzero(self.pinned.bounds_g[0] == self.pinned.bounds_g[1])
        if equations > np.count_nonzero(self.pinned.free):
            return None
        solver = run.solver.limited(iterations=_ITERATIONS)
        outcome = run.end(solver, self.pinned, Start(self.x, near_optimum=True), self.nlp)
        if outcome.status in CUT_SHORT:
            return outcome.status
        if outcome.status is not Status.SOLVED:
            return None
        multipliers = self.pinned.multipliers(outcome.x, run.parameters, outcome.multipliers)
        outcome = replace(outcome, multipliers=multipliers, tolerance=run.tolerance, cost_tolerance=run.tolerance)
        return PhasesSolution(self.nlp, outcome, run.parameters)


def _program(motion: Solution | PhasesSolution, problem: Problem, pieces: list[ActiveArc], intervals: int) -> PhasesNLP:
    """A problem in arcs, on polynomials with limits at the points of equations."""
    T = sum(piece.length for piece in pieces)
    least, most = _ROOM
    spans = [Free(least * piece.length, most * piece.length, piece.length) for piece in pieces]
    sequence, signals = divided(problem, spans), linear_signals(problem) if problem.states else []
    recipe, recipes = next(iter(motion.nlp.phases.values())).recipe, {}
    equations = _has_equations(problem)
    for name, piece in zip(sequence.phases, pieces, strict=True):
        count = int(np.clip(np.ceil(intervals * piece.length / T), 1, intervals // 2))
        freedoms = _FREEDOMS if any(label not in piece.sides for label in signals) else None
        curve = Radau(count, degree=_DEGREE, nodes="collocation", signal_degree=freedoms)
        if equations and not problem.states:
            # Power is the rate of energy. On these polynomials Gauss points integrate it exactly; Radau points do not,
            # and the best motion is one that rings and gains energy.
            curve = BSpline(count, degree=_DEGREE + 1, continuity=1, nodes="collocation")
        recipes[name] = recipe._replace(curve=curve, extra=None)
    return PhasesNLP.build(sequence, recipes)


def _has_equations(problem: Problem) -> bool:
    """Whether an equation holds along the whole motion."""
    along = [entry.rows for entry in problem.rows.values() if entry.constraint.where == WHOLE]
    return any((rows.lower == rows.upper).any() for rows in along)


def _start(nlp: PhasesNLP, pieces: list[ActiveArc], motion: Solution | PhasesSolution) -> np.ndarray:
    """A motion in the variables of the arcs, with times scaled."""
    x, begin = np.zeros(nlp.n_x), 0.0
    stretched = motion.duration / sum(piece.length for piece in pieces)
    for piece, (name, phase) in zip(pieces, nlp.phases.items(), strict=True):
        x[nlp.parts[name]] = _sampled(phase, motion, begin * stretched, piece.length, stretched)
        begin += piece.length
    return np.clip(x, nlp.lower, nlp.upper)


def _sampled(nlp: NLP, motion: Solution | PhasesSolution, begin: float, T: float, stretched: float) -> np.ndarray:
    """A part of a motion in the variables of an arc."""
    problem, grid = nlp.problem, nlp.grid
    values: dict[str, np.ndarray | float] = {"duration": T}
    values |= {u.name: motion.constants[u.name] for u in problem.constants}
    for name, basis in grid.splines.items():
        if grid.layout[name].size:
            # A signal has two values where arcs meet.
            s = np.clip(basis.sites()[0], _INSTANT, 1 - _INSTANT)
            sample = motion.at(np.clip(begin + s * T * stretched, 0.0, motion.duration))
            group = problem.signals if name == "signals" else problem.states
            table = sample.q if name == "q" else np.column_stack([sample.signals[u.name] for u in group])
            values[name] = basis.interpolate(np.asarray(table))
    return grid.layout.filled(values)


def _inequalities(nlp: PhasesNLP) -> list[Limit]:
    """Inequalities that hold along whole arcs, of all arcs."""
    labels = {limit.row for limit in along_limits(next(iter(nlp.phases.values())))}
    return [limit for limit in limits_of(nlp, nlp.problem) if limit.row in labels and not limit.prescribed]


def _named(nlp: PhasesNLP, pieces: list[ActiveArc]) -> list[Limit]:
    """The limits that are active on the pieces, of all arcs, controls first."""
    wanted = {(name, *side) for name, piece in zip(nlp.phases, pieces, strict=True) for side in piece.sides.items()}
    limits = [limit for limit in _inequalities(nlp) if (limit.phase, limit.row, limit.sign) in wanted]
    return sorted(limits, key=lambda limit: _order(nlp, limit), reverse=True)


def _order(nlp: PhasesNLP, limit: Limit) -> int:
    """The highest time derivative in the bounded expression of a limit."""
    problem, place = nlp.problem.phases[limit.phase], limit.place
    if place.kind == "row":
        return int(problem.rows[place.name].orders[place.row])
    return 1 if place.name in {state.name for state in problem.states} else 2


def _independent(nlp: PhasesNLP, limits: list[Limit], x: np.ndarray, p: np.ndarray) -> tuple[list[Limit], list[Limit]]:
    """Independent limits, and those that follow from others, such as a constant mass without fuel flow."""
    jacobian, equal = nlp.jac_g(x, p)[1], np.append(nlp.bounds_g[0] == nlp.bounds_g[1], ~nlp.free)
    independent, implied = [], []
    for name, part in nlp.parts.items():
        owned = [np.arange(nlp.n_g + part.start, nlp.n_g + part.stop)]
        for block, first, end in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False):
            owned += [np.arange(first, end)] if nlp.owners.get(block) == name else []
        chosen = np.concatenate(owned)
        rows = _slopes(nlp, jacobian, chosen[equal[chosen]], part)
        for limit in limits:
            if limit.phase == name:
                more = np.vstack([rows, _slopes(nlp, jacobian, limit.entries[~equal[limit.entries]], part)])
                if np.linalg.matrix_rank(more, tol=_DEPENDENT * np.linalg.norm(more, 2)) == len(more):
                    independent.append(limit)
                    rows = more
                else:
                    implied.append(limit)
    return independent, implied


def _slopes(nlp: PhasesNLP, jacobian: ca.DM, entries: np.ndarray, part: slice) -> np.ndarray:
    """Rows of the Jacobian, then of the identity, in the variables of a phase, in natural sizes."""
    of_rows, of_variables = entries[entries < nlp.n_g], entries[entries >= nlp.n_g] - nlp.n_g
    table = np.array(ca.densify(jacobian[of_rows.tolist(), part])).reshape(of_rows.size, part.stop - part.start)
    table = table * nlp.scale_x[part] / nlp.scale_g[of_rows, None]
    return np.vstack([table, np.eye(nlp.n_x)[of_variables][:, part]])


def _without(nlp: PhasesNLP, pieces: list[ActiveArc], implied: list[Limit]) -> list[ActiveArc]:
    """Pieces without limits that follow from others."""
    needless = {(limit.phase, limit.row) for limit in implied}
    return [
        piece._replace(sides={row: side for row, side in piece.sides.items() if (name, row) not in needless})
        for name, piece in zip(nlp.phases, pieces, strict=True)
    ]


def _once(nlp: PhasesNLP, pinned: list[Limit], left_out: list[Limit], x: np.ndarray) -> tuple[list[Limit], list[Limit]]:
    """Limits to pin and to leave out, without rows that a link to the previous arc implies."""
    names, times = list(nlp.phases), entry_times(nlp, x)
    T = [nlp.phases[name].duration(x[nlp.parts[name]]) for name in names]
    begins = dict(zip(names, np.cumsum([0.0, *T[:-1]]), strict=True))
    before = dict(zip(names[1:], names, strict=False))
    active = {(limit.phase, limit.row, limit.sign) for limit in pinned}
    once, left_out = [], list(left_out)
    for limit in pinned:
        first = np.zeros(limit.entries.size, dtype=bool)
        if _order(nlp, limit) < 2 and (before.get(limit.phase), limit.row, limit.sign) in active:
            first = np.abs(times[limit.entries] - begins[limit.phase]) < _INSTANT * sum(T)
        once.append(replace(limit, entries=limit.entries[~first]))
        left_out.append(replace(limit, entries=limit.entries[first]))
    return once, left_out


def _pinned(nlp: PhasesNLP, limits: list[Limit], left_out: list[Limit]) -> BoundedNLP:
    """A program with some limits as equations and others, which leave a solver no room, left out."""
    low, high = (np.append(*sides) for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    for limit in left_out:
        free = limit.entries[low[limit.entries] < high[limit.entries]]
        (high if limit.sign > 0 else low)[free] = limit.sign * np.inf
    for limit in limits:
        free = limit.entries[low[limit.entries] < high[limit.entries]]
        low[free] = high[free] = limit.bound
    return BoundedNLP(nlp, low, high)


def _exceeded(posed: _ArcProgram, motion: PhasesSolution) -> set[str]:
    """Labels of limits that were left out and are exceeded."""
    values = np.append(np.array(posed.nlp.g(motion.x, motion.parameters)).ravel(), motion.x)
    return {
        limit.row
        for limit in posed.left_out
        if (limit.sign * (values[limit.entries] - limit.bound) > _EXCEEDED * limit.size).any()
    }


def _revised(posed: _ArcProgram, motion: PhasesSolution) -> list[ActiveArc]:
    """The arcs that a solution requires: the same ones if it is valid."""
    nlp, x = posed.nlp, motion.x
    push = np.append(motion.multipliers["g"], motion.multipliers["x"])
    times, values = entry_times(nlp, x), np.append(np.array(nlp.g(x, motion.parameters)).ravel(), x)
    free, limits = np.append(np.ones(nlp.n_g, bool), nlp.free), _inequalities(nlp)
    largest: dict[str, float] = {}
    for limit in limits:
        size = float(np.abs(push[limit.entries]).max(initial=0.0))
        largest[limit.row] = max(largest.get(limit.row, 0.0), size)
    pieces = []
    for piece, (name, phase) in zip(posed.pieces, motion.phases.items(), strict=True):
        if phase.duration <= _VANISHING * _ROOM[0] * piece.length and len(posed.pieces) > 1:
            continue
        stretches: dict[str, list[BoundInterval]] = {}
        for label, most in largest.items():
            sides = {limit.sign: limit for limit in limits if limit.phase == name and limit.row == label}
            limit = next(iter(sides.values()))
            entries = limit.entries[free[limit.entries]]
            entries, rates = entries[np.argsort(times[entries], kind="stable")], _order(nlp, limit) < 2
            if side := piece.sides.get(label, 0):
                wrong = side * push[entries] < -(_RATES_PUSH if rates else _PUSH) * most
                turned = 0 if rates or -side not in sides else -side
                now = np.where(_inner(wrong, rates), turned, side)
            else:
                now = np.zeros(entries.size, int)
                for sign, limit in sides.items():
                    near = sign * (limit.bound - values[entries]) < _MET * limit.size
                    now[_inner(near & (sign * push[entries] > _PUSH * most), rates)] = sign
            stretches[label] = _between_nodes(now, times[entries] - motion.start_times[name], phase.duration)
        pieces += split_arcs(stretches, phase.duration)
    return merge_arcs(pieces)


def _inner(chosen: np.ndarray, rates: bool) -> np.ndarray:
    """Remove control points next to the ends of an arc, for quantities controlled by their rates."""
    inner = chosen.copy()
    if rates:
        inner[:_ENDS], inner[-_ENDS:] = False, False
    return inner


def _between_nodes(sides: np.ndarray, t: np.ndarray, T: float) -> list[BoundInterval]:
    """Stretches of an arc from the sides at its nodes."""
    sides = sides.copy()
    if sides.size > 2:  # a multiplier is zero at a switch: at an end the neighbouring node decides
        sides[0], sides[-1] = sides[1], sides[-2]
    cuts = np.flatnonzero(np.diff(sides)) + 1
    edges = [0.0, *((t[cuts - 1] + t[cuts]) / 2).tolist(), T]
    return [BoundInterval(int(sides[k]), *ends) for k, ends in zip([0, *cuts.tolist()], pairwise(edges), strict=True)]
