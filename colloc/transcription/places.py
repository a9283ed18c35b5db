"""Where the constraints of a problem hold on a grid."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from colloc.problem import Window
from colloc.transcription.grid import Grid
from colloc.transcription.mesh import Points
from colloc.transcription.sites import Sites


@dataclass(frozen=True)
class AtNodes:
    """Inequalities: at the nodes, and between them where a constraint would have none.

    Bounds on joint quantities that are splines themselves hold at all times, by their control points, on the intervals
    that lie within their window.
    """

    grid: Grid

    def during(self, window: Window) -> list[Sites]:
        """The nodes within a part of the motion; where it lies between two of them, its ends and middle."""
        return [_some(self.grid.nodes(window), self.grid, window)]

    def moment(self, s: float) -> Sites:
        """The curve at s."""
        return self.grid.anywhere(np.array([s]))

    def ends(self) -> Sites:
        """Both ends at once."""
        return self.grid.anywhere(np.array([0.0])).beside(self.grid.anywhere(np.array([1.0])))

    def bounds(self, quantity: str, window: Window) -> list[Sites]:
        """Control points of the quantity, and nodes in intervals cut by the window."""
        held = self.grid.held(quantity, window)
        if held is None:
            return self.during(window)
        hull = self.grid.hull(quantity, held)
        rest = _beside(self.grid.nodes(window), self.grid, held, window)
        return rest if hull is None else [hull, *rest]


@dataclass(frozen=True)
class Collocated(AtNodes):
    """Equalities: at as many sites as a spline has freedoms left to meet them."""

    def during(self, window: Window) -> list[Sites]:
        """The collocation points within a part of the motion; where there are none, its ends and middle."""
        return [_some(self.grid.collocated(window), self.grid, window)]

    def bounds(self, quantity: str, window: Window) -> list[Sites]:
        """Bounds that are equal: nothing for what equal bounds on the variables fix."""
        held = self.grid.held(quantity, window) if quantity == "q" else None
        if held is None:
            return self.during(window)
        return _beside(self.grid.collocated(window), self.grid, held, window)


@dataclass(frozen=True)
class AtTimes(AtNodes):
    """Constraints at times of one's choice, to be looked at."""

    points: Points

    def during(self, window: Window) -> list[Sites]:
        """Those of the times that lie within a part of the motion."""
        inside = self.points.within(window, self.grid.breakpoints)
        return [_some(self.grid.on(inside), self.grid, window)]

    def bounds(self, quantity: str, window: Window) -> list[Sites]:
        """The quantity itself, whatever holds it."""
        return self.during(window)


def _some(sites: Sites, grid: Grid, window: Window) -> Sites:
    return sites if sites.size else grid.anywhere(np.unique(np.linspace(*window, 3)))


def _beside(sites: Sites, grid: Grid, held: Window, window: Window) -> list[Sites]:
    """The sites of a window outside of its whole intervals; its ends where there are none."""
    found, rest = [], sites.outside(held)
    for end, part in ((window.start, Window(window.start, held.start)), (window.end, Window(held.end, window.end))):
        if part.end - part.start > 1e-9:
            own = rest.during(part)
            found.append(own if own.size else grid.anywhere(np.array([end])))
    return found
