"""The arcs of a motion, as a table: active limits over time, and the accuracy of every switch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from colloc.curves.curve import collocates_inequalities
from colloc.optimality.limited import ActiveArc, LimitedSignal, active_arcs, along_limits, limited
from colloc.solution import PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.support.display import Table, Tabular, shown

_MET = 1e-6  # of a limit's natural size: tolerance of an active limit


@dataclass(frozen=True)
class Arc:
    """A part of a motion on which the same limits are active.

    Parameters
    ----------
    start, end : float [s]
    active : dict of str to str
        "upper" or "lower" by the label of the limit, such as "tau[elbow]".
    singular : tuple of str
        Singular controls: the Hamiltonian is linear in them and no limit is active, so that their switching functions
        vanish along the arc.
    off : float [s]
        Largest distance of the start from the zero of the switching function of a control that switches there; NaN
        without a switch.

    Examples
    --------
    >>> arc = co.optimality.arcs(solution)[1]
    >>> arc.active
    {'tau[shoulder]': 'upper', 'tau[elbow]': 'upper'}
    """

    start: float
    end: float
    active: dict[str, str]
    singular: tuple[str, ...] = ()
    off: float = np.nan


@dataclass(frozen=True, repr=False)
class Arcs(Tabular):
    """The arcs of a motion, in order of time; a sequence with `arcs[k]` and iteration.

    Parameters
    ----------
    arcs : tuple of Arc

    Examples
    --------
    >>> [list(arc.active.values()) for arc in co.optimality.arcs(solution)]
    [['upper', 'lower'], ['upper', 'upper'], ['lower', 'upper'], ['lower', 'lower']]
    """

    arcs: tuple[Arc, ...]

    def __iter__(self) -> Iterator[Arc]:
        return iter(self.arcs)

    def __len__(self) -> int:
        return len(self.arcs)

    def __getitem__(self, k: int) -> Arc:
        return self.arcs[k]

    @property
    def switches(self) -> np.ndarray:
        """Times at which one arc ends and the next one begins, shape (number of arcs - 1,) [s]."""
        return np.array([arc.start for arc in self.arcs[1:]])

    def _table(self) -> Table:
        rows = []
        for k, arc in enumerate(self.arcs):
            active = shown([f"{label} {side}" for label, side in arc.active.items()])
            singular = f"singular: {shown(arc.singular)}" if arc.singular else ""
            off = "" if np.isnan(arc.off) else f"{arc.off:.1e} s"
            rows.append((str(k + 1), f"{arc.start:.9g} s", f"{arc.end:.9g} s", off, active, singular))
        header = ("arc", "start", "end", "start off by", "at its limits", "")
        return Table(f"{len(self)} arc{'s' if len(self) > 1 else ''}", header, rows)


@solution_query()
def arcs(solution: Solution | PhasesSolution) -> Arcs:
    """The arcs of a motion: parts with the same active limits.

    The arcs of a motion refined at its switches are its phases; those of other motions are estimates, as accurate as
    the grid.

    Parameters
    ----------
    solution : Solution or PhasesSolution

    Returns
    -------
    Arcs

    Raises
    ------
    InputError
        For motions without costates: see `costates`.

    See Also
    --------
    colloc.refine : Accurate arcs, with ``at="switches"``.
    certify : Conditions of an optimum.

    Examples
    --------
    >>> fastest = co.refine(solution, at="switches")
    >>> co.optimality.arcs(fastest).switches.round(6)
    array([0.045709, 0.195927, 0.2353  ])
    """
    rows: list[Arc] = []
    last: list[LimitedSignal] = []
    for (name, phase), things in zip(solution.phases.items(), limited(solution).values(), strict=True):
        begin = solution.start_times[name]
        known = collocates_inequalities(phase.curve)
        for piece in [_whole(phase)] if known else active_arcs(phase, things):
            off = _off(rows[-1].active, last, piece, things) if known and rows else np.nan
            sides = {label: "upper" if side > 0 else "lower" for label, side in piece.sides.items()}
            rows.append(Arc(begin, begin + piece.length, sides, _singular(piece, things), off))
            begin += piece.length
        last = things
    return Arcs(tuple(rows))


def _whole(phase: Solution) -> ActiveArc:
    nlp, x = phase.nlp, phase.x
    values = np.append(np.array(nlp.g(x, phase.parameters)).ravel(), x)
    limits = along_limits(nlp)
    met = {
        limit.row: limit.sign
        for limit in limits
        if (np.abs(values[limit.entries] - limit.bound) < _MET * limit.size).all()
    }
    return ActiveArc(phase.duration, met)


def _singular(piece: ActiveArc, things: list[LimitedSignal]) -> tuple[str, ...]:
    """Linear controls without active bounds of their own or of the quantities that they control."""
    free = tuple(thing.label for thing in things if thing.control and thing.linear and thing.label not in piece.sides)
    steered = sum(not thing.control for thing in things if thing.label in piece.sides)
    return free if len(free) > steered else ()


def _off(before: dict[str, str], last: list[LimitedSignal], piece: ActiveArc, things: list[LimitedSignal]) -> float:
    """Largest distance in time of a switch from the zero of the switching function."""
    misses = [np.nan]
    for earlier, later in zip(last, things, strict=True):
        side = {1: "upper", -1: "lower"}.get(piece.sides.get(later.label, 0), "")
        if side and before.get(later.label, side) != side and np.isfinite(later.switching).all():
            for thing, k, step in ((earlier, -1, -2), (later, 0, 1)):
                slope = (thing.switching[k] - thing.switching[step]) / (thing.t[k] - thing.t[step])
                misses.append(abs(float(thing.switching[k] / slope)))
    return float(np.nanmax(misses)) if len(misses) > 1 else np.nan
