"""Violations of constraints, on a grid finer than the nodes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves.mesh import Points, points_inside
from colloc.errors.motion import Motion
from colloc.errors.source import Source
from colloc.problem import ConstraintRows
from colloc.support.display import short
from colloc.transcription import NLP, Grid, constraint_block
from colloc.transcription.constraint_points import AtTimes

FINE = 20  # steps of the fine grid on every interval
_BEYOND = 1.1  # largest factor by which an even finer grid increases an excess
_BESIDE = 3  # points on either side of an added node, or of a peak
_PASSES = 2  # refinements of the grid near peaks
_GAIN = 1e-6  # of a row's size: peaks that may be higher than sampled by more are refined


class Violation(NamedTuple):
    """The largest violation of a constraint row.

    Parameters
    ----------
    constraint : str
    row : str
        Label of the row, including its joint if it has one.
    amount : float
        Distance from the bounds, in the unit of the row; zero if satisfied.
    relative : float
        The amount divided by the row's natural size.
    t : float [s]
    unit : str
        Empty if the constraint has none.
    size : float
        Natural size of the row in its unit, from its constraint or by `natural_size`.
    equation : bool
        Whether the row is an equation along the path, such as a torque of zero. Equations hold at nodes; between them
        they are judged by the deviation of the motion, see `Solution.error`.
    """

    constraint: str
    row: str
    amount: float
    relative: float
    t: float
    unit: str = ""
    size: float = 1.0
    equation: bool = False

    def __str__(self) -> str:
        return self.in_unit(self.amount)

    def in_unit(self, value: float) -> str:
        """A number with the row's unit, for messages."""
        return f"{short(value)} {self.unit}".rstrip()


class Excess(NamedTuple):
    """Distances by which a constraint's rows are outside their bounds, at given sites.

    Parameters
    ----------
    name : str
    constraint : ConstraintRows
    s : ndarray, shape (N,)
        Normalised times of the sites.
    interval : ndarray of int, shape (N,)
        The intervals that contain them.
    amount : ndarray, shape (rows, N)
        Zero within the bounds.
    """

    name: str
    constraint: ConstraintRows
    s: np.ndarray
    interval: np.ndarray
    amount: np.ndarray


def excesses(
    nlp: NLP, x: np.ndarray, p: np.ndarray, s: np.ndarray | None = None, names: Sequence[str] | None = None
) -> Iterator[Excess]:
    """Excesses of all constraints, or of those named, wherever they hold; parameters as in `measure_violations`.

    By default on the fine grid, with additional points where a row may peak beyond a bound between points.
    """
    grid = nlp.grid
    points = fine_grid(grid) if s is None else Points(s, grid.basis.interval(s))
    rows = nlp.problem.rows
    for name, constraint in rows.items() if names is None else [(name, rows[name]) for name in names]:
        for sites in constraint.constraint.points(AtTimes(grid, points)):
            excess = _RowExcess.at(nlp, x, p, name, constraint, sites)
            for _ in range(_PASSES if s is None and sites.interval is not None else 0):
                closer = excess.beside_peaks(constraint)
                if not closer.s.size:
                    break
                excess = excess.merged(_RowExcess.at(nlp, x, p, name, constraint, grid.on(closer)))
            yield Excess(name, constraint, *excess.points, np.maximum(excess.values, 0.0))


class _RowExcess(NamedTuple):
    """Distances of rows beyond their bounds at points, shape (rows, N); negative within the bounds."""

    points: Points
    values: np.ndarray

    @classmethod
    def at(
        cls, nlp: NLP, x: np.ndarray, p: np.ndarray, name: str, constraint: ConstraintRows, sites: EvaluationPoints
    ) -> _RowExcess:
        block = constraint_block(name, constraint, sites)
        values, lower, upper = block.evaluate(x, p), block.rows.lower[:, None], block.rows.upper[:, None]
        beyond = np.maximum(lower - values, values - upper)
        interval = nlp.grid.basis.interval(sites.s) if sites.interval is None else sites.interval
        return cls(Points(sites.s, interval), np.where(np.isnan(values), np.inf, beyond))

    def merged(self, more: _RowExcess) -> _RowExcess:
        """The union of these points and others, in the order of time."""
        s, interval = (np.append(a, b) for a, b in zip(self.points, more.points, strict=True))
        order = np.lexsort((s, interval))
        values = np.concatenate([self.values, more.values], axis=1)
        return _RowExcess(Points(s, interval).take(order), values[:, order])

    def beside_peaks(self, constraint: ConstraintRows) -> Points:
        """Points on either side of peaks that may exceed bounds, by the parabola through three points."""
        s, interval = self.points
        if s.size < 3:
            return Points(np.zeros(0), np.zeros(0, dtype=int))
        chosen = constraint.rows.lower < constraint.rows.upper
        relative = (self.values / constraint.rows.scale[:, None])[chosen]
        before, here, after = relative[:, :-2], relative[:, 1:-1], relative[:, 2:]
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            # Newton's form of the parabola for unequal spacing: the peak is slope^2 / (4 bend) higher.
            left, right = np.diff(s)[:-1], np.diff(s)[1:]
            rise, fall = (here - before) / left, (after - here) / right
            slope, bend = (right * rise + left * fall) / (left + right), (rise - fall) / (left + right)
            gain = slope**2 / (4 * bend)
            peak = (here >= before) & (here >= after) & (gain > _GAIN) & (here + 2 * gain > 0)
        k = 1 + np.flatnonzero(peak.any(axis=0) & (interval[:-2] == interval[2:]))
        return _beside(self.points, k)


def measure_violations(nlp: NLP, x: np.ndarray, p: np.ndarray, s: np.ndarray | None = None) -> list[Violation]:
    """The largest violation of every constraint row, worst first.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    s : ndarray, shape (N,), optional
        Normalised times; by default those of `fine_grid`.
    """
    violations = []
    for name, constraint, times, _, amounts in excesses(nlp, x, p, s):
        rows = constraint.rows
        for row, site in enumerate(amounts.argmax(axis=1)):
            amount, t = float(amounts[row, site]), float(times[site] * nlp.duration(x))
            size = float(rows.scale[row])
            equation = constraint.constraint.where.along and bool(rows.lower[row] == rows.upper[row])
            label, unit = rows.labels[row], rows.units[row]
            violations.append(Violation(name, label, amount, amount / size, t, unit, size, equation))
    return sorted(violations, key=lambda v: -v.relative)


def exceeded(nlp: NLP, x: np.ndarray, p: np.ndarray, tolerance: float) -> Points:
    """Points on the fine grid, between the nodes, at which a row exceeds its limits most.

    Parameters
    ----------
    nlp, x, p :
        As in `measure_violations`.
    tolerance : float
        Excess relative to a row's natural size; a quarter of it is tolerated.
    """
    peaks = [Points(np.zeros(0), np.zeros(0, dtype=int))]
    for excess in excesses(nlp, x, p):
        rows = excess.constraint.rows
        chosen = rows.lower < rows.upper
        relative = np.pad((excess.amount / rows.scale[:, None])[chosen], ((0, 0), (1, 1)))
        inner = relative[:, 1:-1]
        peak = (inner >= relative[:, :-2]) & (inner >= relative[:, 2:]) & (inner > tolerance / 4)
        peaks.append(Points(excess.s, excess.interval).take(np.any(peak, axis=0).ravel()))
    return Points(np.concatenate([k.s for k in peaks]), np.concatenate([k.interval for k in peaks]))


def bound_error(motion: Motion) -> Source:
    """Violation of inequalities along the path, relative to the natural sizes of their rows."""
    nlp = motion.nlp
    per_interval = np.zeros(nlp.grid.basis.intervals)
    # A constraint at a single time cannot be violated between nodes.
    along = [name for name, rows in nlp.problem.rows.items() if rows.constraint.where.along]
    for excess in excesses(nlp, motion.x, motion.p, names=along):
        rows = excess.constraint.rows
        if (unequal := rows.lower < rows.upper).any():
            relative = _BEYOND * (excess.amount / rows.scale[:, None])[unequal].max(axis=0)
            np.maximum.at(per_interval, np.minimum(excess.interval, per_interval.size - 1), relative)
    sentence = "between nodes a bound is exceeded by {total} of its natural size"
    return Source(per_interval, float(per_interval.max()), adds_up=False, sentence=sentence)


def even_grid(grid: Grid) -> Points:
    """FINE + 1 points on every interval, with both ends evaluated from inside."""
    return points_inside(grid.breakpoints, np.linspace(0, 1, FINE + 1))


def fine_grid(grid: Grid) -> Points:
    """Points at which violations are measured: an even grid, and points near added nodes.

    Added nodes are points of the even grid at which limits then hold; points between each of them and its neighbours
    show the motion beside them.
    """
    even = even_grid(grid)
    if grid.extra is None:
        return even
    points = even.merged(grid.extra)
    added = np.searchsorted(
        points.interval + _inside(grid, points), grid.extra.interval + _inside(grid, grid.extra) - 1e-9
    )
    return points.merged(_beside(points, added))


def _beside(points: Points, chosen: np.ndarray) -> Points:
    """Points on both sides of the chosen points, between them and their neighbours in the interval."""
    s, interval = points
    beside = np.zeros(s.size + 1, dtype=bool)
    beside[chosen], beside[chosen + 1] = True, True
    gaps = np.flatnonzero(beside[1:-1])
    gaps = gaps[interval[gaps] == interval[gaps + 1]]
    between = s[gaps, None] + (s[gaps + 1] - s[gaps])[:, None] * np.linspace(0, 1, _BESIDE + 2)[1:-1]
    return Points(between.ravel(), np.repeat(interval[gaps], _BESIDE))


def _inside(grid: Grid, points: Points) -> np.ndarray:
    """Positions within the intervals, scaled to 0 .. 1/2, so that interval number plus position is ordered."""
    start = grid.breakpoints[points.interval]
    return (points.s - start) / (grid.breakpoints[points.interval + 1] - start) / 2
