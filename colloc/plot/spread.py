"""The stick figure of a motion along a line, drawn over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from colloc.model import Capsule
from colloc.plot.skeleton import StickFigure
from colloc.support.lazy import cached_property

_WIDE = 1.5  # times as wide as the motion is long


@dataclass(frozen=True, eq=False)
class Spread(StickFigure):
    """A stick figure whose snapshots stand beside each other: time runs along a world axis on which nothing moves.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    along : int
        World axis on which time is drawn.
    speed : float [m/s]
    whole : StickFigure
        What is drawn so.
    """

    t: np.ndarray
    along: int
    speed: float
    whole: StickFigure

    def _at(self, frame: int, read: Callable[[int], np.ndarray]) -> np.ndarray:
        return read(frame) + self.speed * self.t[frame] * np.eye(3)[self.along]

    def links(self, frame: int) -> np.ndarray:
        """All links at one time."""
        return self._at(frame, self.whole.links)

    def rails(self, frame: int) -> np.ndarray:
        """All slides at one time."""
        return self._at(frame, self.whole.rails)

    def carriages(self, frame: int) -> np.ndarray:
        """Ends of all slides at one time."""
        return self._at(frame, self.whole.carriages)

    def pins(self, frame: int) -> np.ndarray:
        """All hinges at one time."""
        return self._at(frame, self.whole.pins)

    def tip_places(self, frame: int) -> np.ndarray:
        """Ends of the chains at one time."""
        return self._at(frame, self.whole.tip_places)

    def dots(self, frame: int) -> np.ndarray:
        """Markers, and tips within chains, at one time."""
        return self._at(frame, self.whole.dots)

    @cached_property
    def _shift(self) -> np.ndarray:
        return self.speed * self.t[:, None] * np.eye(3)[self.along]

    @property
    def paths(self) -> dict[str, np.ndarray]:
        """The way of the end of every chain over time."""
        return {name: way + self._shift for name, way in self.whole.paths.items()}

    @property
    def capsules(self) -> tuple[Capsule, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those of the mechanism and around it."""
        return self.whole.capsules

    @cached_property
    def solids(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Capsules on bodies over time, others where they are."""
        solids = self.whole.solids.copy()
        moving = self.whole.moving
        solids[:, moving] += np.concatenate([self._shift, self._shift, 0 * self._shift[:, :1]], axis=1)[:, None]
        return solids

    @property
    def bases(self) -> np.ndarray:
        """Where the mechanism is attached to the world, at the start."""
        return self.whole.bases

    @property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box that holds all snapshots."""
        low, high = self.whole.extent
        return low, high + self.speed * self.t[-1] * np.eye(3)[self.along]

    @property
    def vertical(self) -> int:
        """The world axis closest to gravity."""
        return self.whole.vertical


def over_time(figure_of: StickFigure) -> tuple[int, float] | None:
    """World axis for time and its scale [m/s], of a motion along a line; None of any other."""
    low, high = figure_of.extent
    size = (high - low).max()
    plane = figure_of.plane
    if plane is None or size == 0 or min(high[k] - low[k] for k in plane) > 1e-9 * size:
        return None
    flat = min(plane, key=lambda axis: high[axis] - low[axis])
    return flat, _WIDE * float(size) / float(figure_of.t[-1])
