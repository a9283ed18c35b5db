"""Stick figures of solutions, closed chains, consecutive phases, and motions along a line over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from colloc.loops import ClosedChain, Frame
from colloc.model import Body, Model, Shape, fixed, placement
from colloc.plot.sampling import by_phase
from colloc.plot.skeleton import Pose, Skeleton, Snapshot, StickFigure, Ties, places, skeleton_from
from colloc.plot.solids import Solid
from colloc.problem import Problem
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, angles, finite_array, quoted
from colloc.support.lazy import cached_property


def skeleton(solution: Solution | PhasesSolution, t: np.ndarray) -> StickFigure:
    """The stick figure of a solution at nondecreasing times t, shape (N,) [s]."""
    return PhaseSeries(t, tuple(skeleton_of(phase, times) for phase, times in by_phase(solution, t)))


def skeleton_of(solution: Solution, t: np.ndarray) -> Skeleton:
    """The stick figure of a motion without phases at times t, shape (N,) [s]."""
    if not solution.problem.model.n:
        raise InputError("a problem of states alone has no stick figure: co.plot.signals draws its solution")
    model, ties, expression = _drawn_places(solution.problem)
    return skeleton_from(model, t, solution.evaluate(lambda now: expression, t).T, ties, solution.problem.shapes)


@lru_cache(maxsize=8)
def _drawn_places(problem: Problem) -> tuple[Model, Ties, ca.SX]:
    """The drawn model, and its places in the symbols of the problem's instant.

    Cached, since iterates of a solve are drawn repeatedly, and the symbols of a human take longer than the rest.
    """
    model, ties = drawn_model(problem)
    return model, ties, places(model, problem.instant.q, problem.shapes)


def in_turn(poses: Sequence[Callable[[np.ndarray], Skeleton]], durations: Sequence[float]) -> Pose:
    """Consecutive stick figures, each for its duration [s]."""
    starts = np.append(0.0, np.cumsum(durations)[:-1])

    def pose(t: np.ndarray) -> StickFigure:
        number = np.searchsorted(starts, t, side="right") - 1
        pieces = [(k, (t - starts[k]).clip(0, durations[k])[number == k]) for k in np.unique(number)]
        return PhaseSeries(t, tuple(poses[k](times) for k, times in pieces))

    return pose


@dataclass(frozen=True, eq=False)
class PhaseSeries(StickFigure):
    """Consecutive stick figures of mechanisms that may differ; equal names mean the same part."""

    t: np.ndarray  # shape (N,) [s]; times of the whole motion
    parts: tuple[Skeleton, ...]  # with the same total number of times

    @cached_property
    def _frames(self) -> list[tuple[Skeleton, int]]:
        return [(part, frame) for part in self.parts for frame in range(part.t.size)]

    def snapshot(self, frame: int) -> Snapshot:
        """The mechanism of the phase at one of the times."""
        part, number = self._frames[frame]
        return part.snapshot(number)

    @cached_property
    def paths(self) -> dict[str, np.ndarray]:
        """The path of every end of a chain, NaN while it is none."""
        names = dict.fromkeys(name for part in self.parts for name in part.paths)
        return {name: self._joined([part.paths.get(name) for part in self.parts], (3,)) for name in names}

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Those of all phases."""
        return tuple(dict.fromkeys(shape for part in self.parts for shape in part.shapes))

    @cached_property
    def solids(self) -> tuple[Solid, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Every shape over time, NaN in phases without it."""
        solids = []
        for shape in self.shapes:
            parts = [part.solids[part.shapes.index(shape)] if shape in part.shapes else None for part in self.parts]
            places = [None if part is None else part.corners for part in parts]
            corners = next(part.corners.shape[1] for part in parts if part is not None)
            radii = [None if part is None else part.radius for part in parts]
            solids.append(Solid(self._joined(places, (corners, 3)), self._joined(radii, ())))
        return tuple(solids)

    def _joined(self, values: list[np.ndarray | None], shape: tuple[int, ...]) -> np.ndarray:
        """Concatenated values of the parts, NaN for parts without values."""
        return np.concatenate([
            np.full((part.t.size, *shape), np.nan) if rows is None else rows
            for part, rows in zip(self.parts, values, strict=True)
        ])  # fmt: skip

    @cached_property
    def bases(self) -> np.ndarray:
        """Attachments of the mechanisms to the world."""
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


def postures(x: Model | ClosedChain, q: Any, t: Any) -> tuple[Model, Ties, np.ndarray, np.ndarray]:
    """The drawn tree of a model or a chain, its tied bodies, times (N,) [s], and positions (N, n_q).

    Without t only time zero, by default with a model at q = 0 and a chain as assembled. Raise InputError for q and t
    that do not fit, models with symbols, and models without bodies.
    """
    model, ties = (x, ()) if isinstance(x, Model) else with_cuts(x)
    if model.symbols:
        raise InputError(f"a model must have no symbols to be drawn, {model.name!r} has {quoted(model.symbols)}")
    if not model.bodies:
        raise InputError("a model must have bodies to be drawn, got none")
    if t is None:
        if np.ndim(q) == 2:
            raise InputError(
                f"q of shape {np.shape(q)} is a motion: give its times as well, as in t=np.linspace(0, 1, N)"
            )
        default = model.neutral if isinstance(x, Model) else x.posture
        posture = default if q is None else finite_array("q", q, (model.n_q,))
        angles("q", posture[np.flatnonzero(model.hinge_angles)], turns=3)
        return model, ties, np.zeros(1), posture[None]
    times = finite_array("t", t, (None,))
    if times.size < 2 or (np.diff(times) <= 0).any():
        raise InputError(f"t must be two or more rising times, got {quoted(t)}")
    return model, ties, times, finite_array("q", q, (times.size, model.n_q))


Postures = Callable[[np.ndarray], np.ndarray]


def chain_pose(
    chain: ClosedChain, postures: Postures, points: Mapping[str, tuple[str, Any]] | None = None
) -> Callable[[np.ndarray], Skeleton]:
    """A closed chain as a stick figure for `draw_poses` and `write_gif`.

    Links extend to the cuts of the loops, which are drawn as hinges or slides. `postures` maps times (N,) [s] to q of
    all joints (N, n). `points` are further ends of links by name, a body and the point [m] in its frame, with paths.
    """
    model, ties = with_cuts(chain)
    ends = [Body(name, fixed(placement(place)), body) for name, (body, place) in (points or {}).items()]
    model = replace(model, bodies=[*model.bodies, *ends])
    q = ca.SX.sym("q", model.n)
    function = ca.Function("places", [q], [places(model, q)])

    def pose(t: np.ndarray) -> Skeleton:
        return skeleton_from(model, t, np.array(function.map(t.size)(postures(t).T)), ties)

    return pose


def drawn_model(problem: Problem) -> tuple[Model, Ties]:
    """The model of a problem, with the cuts of its loops and the bodies that they tie together."""
    chain = getattr(problem.coordinates, "chain", None)
    return with_cuts(chain) if isinstance(chain, ClosedChain) else (problem.model, ())


def with_cuts(chain: ClosedChain) -> tuple[Model, Ties]:
    """The tree of a chain with a massless body on both sides of every cut, and the pairs of these."""
    bodies, ties = list(chain.model.bodies), []
    for loop in chain.loops:
        bodies += [_marked(loop.name, side, frame) for side, frame in (("first", loop.first), ("second", loop.second))]
        ties.append((len(bodies) - 2, len(bodies) - 1, loop.translations < 3))
    return replace(chain.model, bodies=bodies), tuple(ties)


def _marked(loop: str, side: str, frame: Frame) -> Body:
    """A massless body at the cut of a loop."""
    return Body(f"{loop}, {side}", fixed(frame.placement), frame.body)


_WIDE = 1.5  # ratio of width and length of the motion


@dataclass(frozen=True, eq=False)
class Spread(StickFigure):
    """A stick figure with snapshots side by side: time runs along a world axis without motion."""

    t: np.ndarray  # shape (N,) [s]
    along: int  # world axis on which time is drawn
    speed: float  # [m/s]
    whole: StickFigure  # the stick figure

    def snapshot(self, frame: int) -> Snapshot:
        """The mechanism at one of the times, beside its earlier snapshots."""
        return Snapshot(*(places + self._shift[frame] for places in self.whole.snapshot(frame)))

    @cached_property
    def _shift(self) -> np.ndarray:
        return self.speed * self.t[:, None] * np.eye(3)[self.along]

    @property
    def paths(self) -> dict[str, np.ndarray]:
        """The path of the end of every chain over time."""
        return {name: way + self._shift for name, way in self.whole.paths.items()}

    @property
    def shapes(self) -> tuple[Shape, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Shapes of the mechanism and around it."""
        return self.whole.shapes

    @cached_property
    def solids(self) -> tuple[Solid, ...]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Shapes on bodies over time, others at rest."""
        shift, moving = self._shift[:, None], self.whole.moving
        solids = enumerate(self.whole.solids)
        return tuple(Solid(s.corners + shift, s.radius) if k in moving else s for k, s in solids)

    @property
    def bases(self) -> np.ndarray:
        """Attachments of the mechanism to the world, at the start."""
        return self.whole.bases

    @property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box that holds all snapshots."""
        low, high = self.whole.extent
        return low, high + self.speed * self.t[-1] * np.eye(3)[self.along]

    @property
    def vertical(self) -> int:
        return self.whole.vertical


def time_axis(figure_of: StickFigure) -> tuple[int, float] | None:
    """World axis for time and its scale [m/s] for a motion along a line; None for others."""
    low, high = figure_of.extent
    size = (high - low).max()
    plane = figure_of.plane
    if plane is None or size == 0 or min(high[k] - low[k] for k in plane) > 1e-9 * size:
        return None
    flat = min(plane, key=lambda axis: high[axis] - low[axis])
    return flat, _WIDE * float(size) / float(figure_of.t[-1])
