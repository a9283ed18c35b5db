"""Limited quantities along a motion: torques, velocities, signals and others, their sides and corrected switching
times.

On a coarse grid a control is rarely at a bound where the optimum has it there, and takes an interval or two where the
optimum jumps. Its switching function, made of costates that are integrals, gives the times more accurately: see
`hamiltonian`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves import Points
from colloc.optimality.costates import costate_points, costates
from colloc.optimality.forces import forces, local_splines
from colloc.optimality.hamiltonian import instants
from colloc.optimality.limits import Limit, LimitPlace, limits_of
from colloc.problem import Problem, Slots
from colloc.problem.time_sets import WHOLE
from colloc.solution import PhasesSolution, Solution
from colloc.transcription import NLP

_NEAR = 0.05  # of half the range: a closer control counts as at its bound
_AT = 1e-3  # of the natural size: the same for quantities controlled by their rates
_JUMP = 3.0  # largest number of intervals of a switch on a coarse grid
_CLEAR = 0.05  # of its largest value: a larger switching function is decisive
_INSTANT = 1e-9  # of a duration
_DENT = 2.0  # longest departure from a bound, in intervals, that is ignored


class ActiveArc(NamedTuple):
    """A part of a motion on which the same limits are active.

    Parameters
    ----------
    length : float [s]
    sides : mapping of str to int
        The limits by label: 1 for the upper bound, -1 for the lower one.
    """

    length: float
    sides: Mapping[str, int]


class BoundInterval(NamedTuple):
    """A part of a motion on which a quantity is at its upper (1) or lower (-1) bound, or between them (0).

    Parameters
    ----------
    side : int
    start, end : float [s]
    """

    side: int
    start: float
    end: float

    @property
    def length(self) -> float:
        """Duration [s]."""
        return self.end - self.start


@dataclass(frozen=True, eq=False)
class LimitedSignal:
    """A limited quantity along a phase, at N times.

    Parameters
    ----------
    label : str
        Such as "tau[elbow]".
    control : bool
        Whether it is a control, such as a torque, and not controlled by its rates.
    linear : bool
        Whether the Hamiltonian is linear in it, so that it jumps.
    bounds : (float, float)
        Lower and upper; infinite without a bound.
    size : float
        Natural size.
    t, width : ndarray, shape (N,) [s]
        Times, and widths of their intervals.
    values, switching : ndarray, shape (N,)
        Values and switching function, NaN if there is none.
    """

    label: str
    control: bool
    linear: bool
    bounds: tuple[float, float]
    size: float
    t: np.ndarray
    width: np.ndarray
    values: np.ndarray
    switching: np.ndarray

    def stretches(self) -> list[BoundInterval]:
        """Parts of the motion by side, as accurate as the grid."""
        lower, upper = self.bounds
        near = self.size * (_NEAR if self.control else _AT)
        sides = np.where(self.values > upper - near, 1, np.where(self.values < lower + near, -1, 0))
        if not self.control:
            return self._fill_dents(_runs(sides, self.t))
        if self.linear and np.isfinite(self.switching).all():
            sides = self._steered(sides)
        stretches = self._fill_dents(_runs(sides, self.t))
        return self._at_switches(stretches) if self.linear else stretches

    def _steered(self, sides: np.ndarray) -> np.ndarray:
        """Sides by the switching function where it is decisive; otherwise none if that takes long."""
        wanted = -np.sign(self.switching).astype(int)
        clear = np.abs(self.switching) > _CLEAR * np.abs(self.switching).max(initial=0.0)
        clear &= np.isfinite(np.where(wanted > 0, self.bounds[1], self.bounds[0]))
        for run in _parts(clear)[1:-1]:  # ripples
            if clear[run[0]] and self.t[run[-1]] - self.t[run[0]] <= _DENT * self.width[run].max():
                clear[run] = False
        sides = np.where(clear, wanted, sides)
        for run in _parts(clear):
            if clear[run[0]] or self.t[run[-1]] - self.t[run[0]] <= _JUMP * self.width[run].max():
                continue
            # Ends continue; in the middle a control oscillates about its correct value.
            first, last = sides[max(run[0] - 1, 0)], sides[min(run[-1] + 1, sides.size - 1)]
            off_first, off_last = (np.flatnonzero(sides[run] != side) for side in (first, last))
            if off_first.size and off_last.size and off_first[0] <= off_last[-1]:
                middle = run[off_first[0] : off_last[-1] + 1]
                for part in _parts(sides[middle]):
                    if self.t[middle[part[-1]]] - self.t[middle[part[0]]] <= _DENT * self.width[middle].max():
                        sides[middle[part]] = 0
        return sides

    def _width(self, stretch: BoundInterval) -> float:
        inside = (self.t >= stretch.start) & (self.t <= stretch.end)
        return float(self.width[inside].max(initial=self.width.min()))

    def _fill_dents(self, stretches: list[BoundInterval]) -> list[BoundInterval]:
        """Remove short gaps between stretches of one side, and bounds that are only touched."""
        filled = list(stretches)
        for k, (before, now, after) in enumerate(zip(stretches, stretches[1:], stretches[2:], strict=False), 1):
            if before.side == after.side:
                short = now.length <= (_DENT if now.side == 0 else 1.0) * self._width(now)
                if short:
                    filled[k] = now._replace(side=before.side)
        if not self.control and len(filled) > 1:  # touched bounds at the ends
            for k in (0, -1):
                if filled[k].side and filled[k].length <= self._width(filled[k]):
                    filled[k] = filled[k]._replace(side=0)
        return _merged(filled)

    def _at_switches(self, stretches: list[BoundInterval]) -> list[BoundInterval]:
        """Replace transitions from bound to bound by switches at zeros of the switching function or of the value."""
        switched: list[BoundInterval] = []
        for k, now in enumerate(stretches):
            before = stretches[k - 1].side if k else 0
            after = stretches[k + 1].side if k + 1 < len(stretches) else 0
            first, last = k == 0, k == len(stretches) - 1
            short = now.side == 0 and now.length <= _JUMP * self._width(now)
            if short and before * after == -1:
                when = self._crossing(now, before)
                switched += [BoundInterval(before, now.start, when), BoundInterval(after, when, now.end)]
            elif short and (first or last) and before + after:
                neighbour, wanted = before + after, self._wanted(-1 if last else 0)
                if wanted in (0, neighbour):
                    switched.append(now._replace(side=neighbour))
                else:
                    when = self._crossing(now, neighbour if last else wanted)
                    sides = (neighbour, wanted) if last else (wanted, neighbour)
                    switched += [BoundInterval(sides[0], now.start, when), BoundInterval(sides[1], when, now.end)]
            else:
                switched.append(now)
        return _merged(switched)

    def _wanted(self, k: int) -> int:
        """The side by the switching function at time number k."""
        value = self.switching[k]
        return 0 if np.isnan(value) else int(-np.sign(value))

    def _crossing(self, stretch: BoundInterval, before: int) -> float:
        """Time at which a control leaves one side for the other."""
        room = self._width(stretch)
        inside = (self.t >= stretch.start - room) & (self.t <= stretch.end + room)
        if np.isfinite(self.switching).all():
            when = _zeros(self.t[inside], before * self.switching[inside])
            if when.size:
                return float(np.clip(when[np.abs(when - stretch.start - stretch.length / 2).argmin()], *stretch[1:]))
        middle = sum(self.bounds) / 2
        when = _zeros(self.t[inside], before * (middle - self.values[inside]))
        return float(when[0]) if when.size else stretch.start + stretch.length / 2


def _zeros(t: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Times of upward zero crossings."""
    k = np.flatnonzero((values[:-1] < 0) & (values[1:] >= 0))
    return t[k] - values[k] * (t[k + 1] - t[k]) / (values[k + 1] - values[k])


def _parts(values: np.ndarray) -> list[np.ndarray]:
    """Index ranges of equal consecutive values."""
    return np.split(np.arange(values.size), np.flatnonzero(np.diff(values)) + 1)


def _runs(sides: np.ndarray, t: np.ndarray) -> list[BoundInterval]:
    """Stretches of equal sides, with ends halfway between times."""
    cuts = np.flatnonzero(np.diff(sides)) + 1
    edges = [float(t[0]), *((t[cuts - 1] + t[cuts]) / 2).tolist(), float(t[-1])]
    return [BoundInterval(int(sides[k]), *ends) for k, ends in zip([0, *cuts.tolist()], pairwise(edges), strict=True)]


def _merged(stretches: list[BoundInterval]) -> list[BoundInterval]:
    """Merge neighbours of the same side."""
    merged = [stretches[0]]
    for stretch in stretches[1:]:
        if stretch.side == merged[-1].side:
            merged[-1] = merged[-1]._replace(end=stretch.end)
        else:
            merged.append(stretch)
    return merged


def active_arcs(phase: Solution, things: Sequence[LimitedSignal]) -> list[ActiveArc]:
    """The arcs of a phase, as accurate as its grid."""
    pieces = split_arcs({thing.label: thing.stretches() for thing in things}, phase.duration)
    if any(thing.control and not thing.linear for thing in things):
        return pieces
    return _drop_transits(pieces, _JUMP * max((float(thing.width.max()) for thing in things), default=0.0))


def split_arcs(stretches: Mapping[str, Sequence[BoundInterval]], T: float) -> list[ActiveArc]:
    """Divide T seconds into pieces on each of which no side changes."""
    edges = np.unique([0.0, T, *(stretch.start for some in stretches.values() for stretch in some)])
    edges = edges[np.append(True, np.diff(edges) > _INSTANT * T)].tolist()
    edges[-1] = T
    pieces = []
    for start, end in pairwise(edges):
        middle = (start + end) / 2
        sides = {
            label: stretch.side
            for label, some in stretches.items()
            for stretch in some
            if stretch.start <= middle < stretch.end and stretch.side
        }
        pieces.append(ActiveArc(end - start, sides))
    return merge_arcs(pieces)


def merge_arcs(pieces: Sequence[ActiveArc]) -> list[ActiveArc]:
    """Merge neighbours of the same sides."""
    together = [pieces[0]]
    for piece in pieces[1:]:
        if piece.sides == together[-1].sides:
            together[-1] = ActiveArc(together[-1].length + piece.length, piece.sides)
        else:
            together.append(piece)
    return together


def _drop_transits(pieces: list[ActiveArc], longest: float) -> list[ActiveArc]:
    """Remove short pieces with fewer active limits than before and after: transitions on a coarse grid."""
    kept: list[ActiveArc] = []
    carried = 0.0
    for k, piece in enumerate(pieces):
        inside = 0 < k < len(pieces) - 1 and piece.length <= longest
        if inside and len(piece.sides) < min(len(pieces[k - 1].sides), len(pieces[k + 1].sides)):
            kept[-1] = kept[-1]._replace(length=kept[-1].length + piece.length / 2)
            carried = piece.length / 2
        else:
            kept.append(piece._replace(length=piece.length + carried))
            carried = 0.0
    return merge_arcs(kept)


def along_limits(nlp: NLP) -> list[Limit]:
    """Inequalities that hold along the whole motion."""
    problem = nlp.problem
    return [
        limit
        for limit in limits_of(nlp, problem)
        if not limit.prescribed
        and (
            problem.rows[limit.constraint].constraint.where == WHOLE
            if limit.place.kind == "row"
            else limit.constraint in {u.name for u in (*problem.signals, *problem.states)}
        )
    ]


def limited(solution: Solution | PhasesSolution) -> dict[str, list[LimitedSignal]]:
    """Quantities limited along each whole phase; the name is empty without phases.

    Raises
    ------
    InputError
        For motions without costates: see `costates`.
    """
    along, (lam_g, lam_x) = costates(solution), (solution.multipliers[name] for name in ("g", "x"))
    acting = forces(solution.nlp, solution.x, solution.parameters, lam_g, lam_x)
    return {
        name: _limited(phase, along[name].t, instants(phase, along[name], acting[name]).switching)
        for name, phase in solution.phases.items()
    }


def _limited(phase: Solution, t: np.ndarray, switching: Mapping[str, np.ndarray]) -> list[LimitedSignal]:
    grid = phase.nlp.grid
    s, interval = costate_points(phase.nlp)
    sites = grid.on(Points(s, interval))
    places = {limit.place: limit for limit in along_limits(phase.nlp)}
    expressions = [_expression(phase, place, sites) for place in places]
    values = sites.evaluate([expression for expression, _ in expressions], phase.x, phase.parameters)
    curved = _curved(phase, sites)
    things = []
    for (place, limit), value, (_, order) in zip(places.items(), values, expressions, strict=True):
        bounds = {k.sign: k.bound for k in along_limits(phase.nlp) if k.place == place}
        things.append(
            LimitedSignal(
                label=limit.row,
                control=order == 2,
                linear=limit.row not in curved,
                bounds=(bounds.get(-1, -np.inf), bounds.get(1, np.inf)),
                size=limit.size,
                t=t,
                width=np.diff(grid.breakpoints)[interval] * phase.duration,
                values=value[:, 0],
                switching=switching.get(limit.row, np.full(s.size, np.nan)),
            )
        )
    return things


def _expression(phase: Solution, place: LimitPlace, sites: EvaluationPoints) -> tuple[ca.SX, int]:
    """The bounded expression in the local variables of sites, and its highest time derivative."""
    problem, slots = phase.problem, Slots(*sites.local.arguments)
    if place.kind == "row":
        entry = problem.rows[place.name]
        return entry.function(*slots)[place.row], int(entry.orders[place.row])
    for group, column, order in ((problem.signals, slots.signals, 2), (problem.states, slots.states, 1)):
        first = 0
        for unknown in group:
            if unknown.name == place.name:
                return column[first + place.row], order
            first += unknown.size
    raise AssertionError(place.name)


def _curved(phase: Solution, sites: EvaluationPoints) -> set[str]:
    """Torques and signals in which cost or rows are nonlinear at an instant."""
    problem, local = phase.problem, sites.local
    splines, slots = (
        {spline.name: spline.columns[-1] for spline in local_splines(phase.nlp.grid)},
        Slots(*local.arguments),
    )
    cost = sum((weight * fn(*slots) for weight, fn in problem.integrands.values()), ca.SX(0))
    rows = [entry.function(*slots) for entry in problem.rows.values() if entry.constraint.where == WHOLE]
    controls = local.w[np.concatenate([splines["q"], splines["signals"]]).tolist()]
    (expression,) = local.resolved([ca.vertcat(cost, *rows)])
    slopes = ca.jacobian(expression, controls)
    bent = ca.sum1(ca.DM(ca.jacobian(slopes, controls).sparsity(), 1.0)).T
    curved = np.array(ca.densify(bent)).ravel() > 0
    names = phase.nlp.column_names["signals"]
    joints = [f"tau[{joint}]" for joint in problem.model.joint_names] if curved[: splines["q"].size].any() else []
    return {*joints, *(name for name, bends in zip(names, curved[splines["q"].size :], strict=True) if bends)}


def linear_signals(problem: Problem) -> list[str]:
    """Components of signals in which the cost and all rows are linear."""
    slots = problem.instant.slots
    functions = [fn for _, fn in problem.integrands.values()] + [rows.function for rows in problem.rows.values()]
    parts = [fn(*slots) for fn in functions if fn.n_in() == len(slots)]
    slopes = ca.jacobian(ca.vertcat(ca.SX(0, 1), *parts), slots.signals)
    names = [label for signal in problem.signals for label in signal.labels]
    return [name for k, name in enumerate(names) if not ca.depends_on(slopes[:, k], slots.signals[k])]
