"""Places on a grid at which the constraints of a problem hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves.mesh import Points
from colloc.problem import Window
from colloc.transcription.grid import Grid
from colloc.transcription.layout import intervals_within


@dataclass(frozen=True)
class AtNodes:
    """Places of inequalities: nodes, and places between them for constraints that would have none.

    Bounds on joint quantities that are splines hold at all times, by their control points, on the intervals within the
    window of the bound.
    """

    grid: Grid

    def during(self, window: Window) -> list[EvaluationPoints]:
        """The nodes within a window, and its ends."""
        return [self.grid.nodes(window)]

    def at(self, s: float) -> EvaluationPoints:
        """The site at s."""
        return self.grid.anywhere(np.array([s]))

    def ends(self) -> EvaluationPoints:
        """One site with both ends."""
        return self.grid.anywhere(np.array([0.0])).beside(self.grid.anywhere(np.array([1.0])))

    def bounds(self, quantity: str, window: Window) -> list[EvaluationPoints]:
        """Control points of the quantity, and nodes in intervals that the window cuts."""
        intervals = self.grid.window_by_bounds(quantity, window)
        if intervals is None:
            return self.during(window)
        polygon = self.grid.control_polygon(quantity, intervals)
        rest = _beside(self.grid.nodes(window), self.grid, intervals, window)
        return rest if polygon is None else [polygon, *rest]


@dataclass(frozen=True)
class Collocated(AtNodes):
    """Places of equalities: as many sites as a spline has freedoms to satisfy them.

    Equations in positions have fewer points than accelerations: otherwise positions would oscillate between them.
    """

    # highest time derivative of the coordinates: 2 for accelerations, torques and signals
    order: int = 2

    def during(self, window: Window) -> list[EvaluationPoints]:
        """The collocation points within a window, or inside it for equations that `EquationEnds` complete."""
        sites = self.grid.collocated(window, self.order)
        return [_some(sites, self.grid, window)] if self.order == 2 else [sites]

    def bounds(self, quantity: str, window: Window) -> list[EvaluationPoints]:
        """Equal bounds as equations; none for quantities that equal bounds on variables fix."""
        intervals = self.grid.window_by_bounds(quantity, window) if quantity == "q" else None
        if intervals is None:
            return self.during(window)
        return _beside(self.grid.collocated(window, self.order), self.grid, intervals, window)


@dataclass(frozen=True)
class EquationEnds(AtNodes):
    """Places where equalities on positions or velocities, and rates of the former, begin and end."""

    rates: bool = False  # whether ends inside an interval are left out

    def during(self, window: Window) -> list[EvaluationPoints]:
        """The ends of a window and of the whole intervals in it, each as one site."""
        ends = np.array([] if self.rates else window)
        if (whole := intervals_within(window, self.grid.basis)) is not None:
            ends = np.append(ends, self.grid.breakpoints[[whole.start, whole.stop]])
        ends = np.sort(ends)
        return [self.grid.anywhere(ends[[k]]) for k in np.flatnonzero(np.diff(ends, prepend=-1) > 1e-9)]

    def bounds(self, quantity: str, window: Window) -> list[EvaluationPoints]:
        """None for quantities that equal bounds on variables fix."""
        return [] if quantity == "q" else self.during(window)


@dataclass(frozen=True)
class AtGreville(AtNodes):
    """Places of quaternion lengths: as many points as control points, since nothing else determines the lengths."""

    def during(self, window: Window) -> list[EvaluationPoints]:
        """The Greville points; the first and the last are separate sites."""
        points = Points(*self.grid.basis.sites())
        return [self.grid.on(points.take(np.arange(points.s.size)[k])) for k in (np.s_[:1], np.s_[1:-1], np.s_[-1:])]


@dataclass(frozen=True)
class AtTimes(AtNodes):
    """Constraints at given times, for inspection."""

    points: Points

    def during(self, window: Window) -> list[EvaluationPoints]:
        """The times within a window."""
        inside = self.points.within(window, self.grid.breakpoints)
        return [_some(self.grid.on(inside), self.grid, window)]

    def bounds(self, quantity: str, window: Window) -> list[EvaluationPoints]:
        """Sites of the quantity itself, however it is bounded."""
        return self.during(window)


def _some(sites: EvaluationPoints, grid: Grid, window: Window) -> EvaluationPoints:
    return sites if sites.size else grid.anywhere(np.unique(np.linspace(*window, 3)))


def _beside(sites: EvaluationPoints, grid: Grid, intervals: Window, window: Window) -> list[EvaluationPoints]:
    """The sites of a window outside its whole intervals; its ends if there are none."""
    beside, rest = [], sites.outside(intervals)
    for end, part in (
        (window.start, Window(window.start, intervals.start)),
        (window.end, Window(intervals.end, window.end)),
    ):
        if part.end - part.start > 1e-9:
            points = rest.during(part)
            beside.append(points if points.size else grid.anywhere(np.array([end])))
    return beside
