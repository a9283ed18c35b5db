"""The stick figure of a solution: of one motion, or of one in phases, whose mechanisms may differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from colloc.model import Capsule
from colloc.plot.chains import drawn_model
from colloc.plot.sampling import by_phase
from colloc.plot.skeleton import Pose, Skeleton, StickFigure, assembled, places
from colloc.solution import SequenceSolution, Solution
from colloc.support.lazy import cached_property


def skeleton(solution: Solution | SequenceSolution, t: np.ndarray) -> StickFigure:
    """The stick figure of a solution at times t that do not fall, shape (N,) [s]."""
    if isinstance(solution, SequenceSolution):
        return Successive(t, tuple(skeleton_of(phase, own) for phase, own in by_phase(solution, t)))
    return skeleton_of(solution, t)


def skeleton_of(solution: Solution, t: np.ndarray) -> Skeleton:
    """The same of one motion."""
    capsules = solution.problem.capsules
    model, ties = drawn_model(solution.problem)
    values = solution.evaluate(lambda now: places(model, now.q, capsules), t)
    return assembled(model, t, values.T, ties, capsules)


def in_turn(poses: Sequence[Callable[[np.ndarray], Skeleton]], durations: Sequence[float]) -> Pose:
    """Stick figures one after another, each for its duration [s]."""
    starts = np.append(0.0, np.cumsum(durations)[:-1])

    def pose(t: np.ndarray) -> StickFigure:
        number = np.searchsorted(starts, t, side="right") - 1
        own = [(k, (t - starts[k]).clip(0, durations[k])[number == k]) for k in np.unique(number)]
        return Successive(t, tuple(poses[k](times) for k, times in own))

    return pose


@dataclass(frozen=True, eq=False)
class Successive(StickFigure):
    """Stick figures one after another, of mechanisms that may differ; what has a name keeps it.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
        Times of the whole motion.
    parts : tuple of Skeleton
        Together of as many times.
    """

    t: np.ndarray
    parts: tuple[Skeleton, ...]

    @cached_property
    def _frames(self) -> list[tuple[Skeleton, int]]:
        return [(part, frame) for part in self.parts for frame in range(part.t.size)]

    def links(self, frame: int) -> np.ndarray:
        """All links of the phase at one time."""
        return self._at(frame, Skeleton.links)

    def rails(self, frame: int) -> np.ndarray:
        """All slides of the phase at one time."""
        return self._at(frame, Skeleton.rails)

    def carriages(self, frame: int) -> np.ndarray:
        """Ends of all slides of the phase at one time."""
        return self._at(frame, Skeleton.carriages)

    def pins(self, frame: int) -> np.ndarray:
        """All hinges of the phase at one time."""
        return self._at(frame, Skeleton.pins)

    def tip_places(self, frame: int) -> np.ndarray:
        """Ends of the chains of the phase at one time."""
        return self._at(frame, Skeleton.tip_places)

    def dots(self, frame: int) -> np.ndarray:
        """Markers, and tips within chains, of the phase at one time."""
        return self._at(frame, Skeleton.dots)

    def _at(self, frame: int, read: Callable[[Skeleton, int], np.ndarray]) -> np.ndarray:
        return read(*self._frames[frame])

    @cached_property
    def paths(self) -> dict[str, np.ndarray]:
        """The way of every end of a chain, NaN where it is none."""
        names = dict.fromkeys(name for part in self.parts for name in part.paths)
        return {name: self._joined([part.paths.get(name) for part in self.parts], (3,)) for name in names}

    @cached_property
    def capsules(self) -> tuple[Capsule, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those of all phases."""
        return tuple(dict.fromkeys(capsule for part in self.parts for capsule in part.capsules))

    @cached_property
    def solids(self) -> np.ndarray:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Start, end and radius of every capsule, NaN in phases without it."""
        columns = []
        for capsule in self.capsules:
            having = [part.capsules.index(capsule) if capsule in part.capsules else None for part in self.parts]
            rows = [None if k is None else part.solids[:, k] for part, k in zip(self.parts, having, strict=True)]
            columns.append(self._joined(rows, (7,)))
        return np.stack(columns, axis=1) if columns else np.zeros((self.t.size, 0, 7))

    def _joined(self, values: list[np.ndarray | None], shape: tuple[int, ...]) -> np.ndarray:
        """Values of the parts one after another, NaN where one has none."""
        return np.concatenate([
            np.full((part.t.size, *shape), np.nan) if own is None else own
            for part, own in zip(self.parts, values, strict=True)
        ])  # fmt: skip

    @cached_property
    def bases(self) -> np.ndarray:
        """Where the mechanisms are attached to the world."""
        return np.unique(np.concatenate([part.bases for part in self.parts]).round(12), axis=0)

    @cached_property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box that holds the mechanisms."""
        low, high = zip(*(part.extent for part in self.parts), strict=True)
        return np.min(low, axis=0), np.max(high, axis=0)

    @property
    def vertical(self) -> int:
        """The world axis closest to gravity, in the first phase."""
        return self.parts[0].vertical
