"""Data of a viewer: solid mechanisms over time, with curves, forces and paths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.muscles import MusclePath, Muscles
from colloc.plot.bars import Face, RoundBar, bars_of
from colloc.plot.posture import PhaseSeries, skeleton
from colloc.plot.sampling import by_phase, fine_times, models, title_of
from colloc.plot.skeleton import Pose, Skeleton, StickFigure
from colloc.plot.triangles import LinkMeshes
from colloc.problem import Instant
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError
from colloc.support.display import short

_TIMES = 160  # least number of samples of a recording
_ROOM = 1.0  # of the mechanism's size: initially visible room around it
_TINY = 1e-9  # of the largest: smaller forces count as zero
_ORDER = {"rad": 0, "N m": 0, "m": 1, "N": 1, "": 2}  # order of the units of a quantity, quaternions last


class CurveGroup(NamedTuple):
    """Quantities of one kind over time."""

    label: str
    unit: str
    names: tuple[str, ...]
    values: np.ndarray  # shape (N, names)


class ForceArrow(NamedTuple):
    """A force or a moment over time, NaN if there is none."""

    name: str
    unit: str  # "N" or "N m"; arrows of the same unit have the same scale
    tail: np.ndarray  # shape (N, 3) [m]
    vector: np.ndarray  # shape (N, 3)


class Polyline(NamedTuple):
    """A line through points over time, such as a muscle, coloured by a level from 0 to 1."""

    name: str
    points: np.ndarray  # shape (N, points, 3) [m]
    level: np.ndarray  # shape (N,)


@dataclass(frozen=True, eq=False)
class Segment:
    """A part of a motion with the same bodies.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
        Times of the whole motion.
    points : ndarray, shape (N, points, 3) [m]
    bars : sequence of RoundBar
        Between points.
    name : str
        Name of the phase, if any.
    joints : sequence of str
        Names by the numbers in `bars`.
    groups : sequence of CurveGroup
    arrows : sequence of ForceArrow
    polylines : sequence of Polyline
    faces : sequence of Face
        Between points.
    frames : ndarray, shape (N, 12 bodies), optional
        Frames of bodies with meshes, as in `LinkMeshes.frames`.
    """

    t: np.ndarray
    points: np.ndarray
    bars: tuple[RoundBar, ...]
    name: str = ""
    joints: tuple[str, ...] = ()
    groups: tuple[CurveGroup, ...] = ()
    arrows: tuple[ForceArrow, ...] = ()
    polylines: tuple[Polyline, ...] = ()
    faces: tuple[Face, ...] = ()
    frames: np.ndarray | None = None


@dataclass(frozen=True, eq=False)
class Recording:
    """A motion as data of a viewer.

    Parameters
    ----------
    name : str
    segments : sequence of Segment
        One after another in time.
    paths : mapping of str to ndarray, shape (N, 3) [m]
        Paths of tips, at the times of all segments.
    low, high : ndarray, shape (3,) [m]
        Corners of the visible box.
    up : int
        World axis that points upwards.
    plane : (int, int), optional
        World axes (right, up) of the plane of motion.
    detail : str
        Additional text.
    ghost : bool
        Whether the motion is drawn faintly, without curves.
    curves_alone : bool
        Whether there are only curves and no bodies.
    meshes : LinkMeshes, optional
        Meshes of the bodies.
    """

    name: str
    segments: tuple[Segment, ...]
    paths: dict[str, np.ndarray]
    low: np.ndarray
    high: np.ndarray
    up: int
    plane: tuple[int, int] | None = None
    detail: str = ""
    ghost: bool = False
    curves_alone: bool = False
    meshes: LinkMeshes | None = None

    def having(self, groups: Sequence[CurveGroup] = (), arrows: Sequence[ForceArrow] = ()) -> Recording:
        """This motion of one segment with additional curves and forces at its times."""
        (segment,) = self.segments
        more = replace(segment, groups=(*segment.groups, *groups), arrows=(*segment.arrows, *arrows))
        return replace(self, segments=(more,))

    def in_meshes(self, meshes: LinkMeshes, frames: Sequence[np.ndarray]) -> Recording:
        """This motion with meshes, and frames of their bodies, shape (N, 12 bodies), for each segment."""
        segments = tuple(replace(s, frames=rows) for s, rows in zip(self.segments, frames, strict=True))
        corners = np.concatenate([meshes.corners(rows).reshape(-1, 3) for rows in frames])
        low, high = np.minimum(self.low, corners.min(axis=0)), np.maximum(self.high, corners.max(axis=0))
        thinned = f"meshes thinned from {meshes.total:,} to {meshes.size:,} triangles"
        detail = self.detail if meshes.size > 0.9 * meshes.total else ", ".join(filter(None, (self.detail, thinned)))
        return replace(self, segments=segments, low=low, high=high, meshes=meshes, detail=detail)


def solution_recording(
    solution: Solution | PhasesSolution, name: str = "", share: float = 1.0, muscles: Muscles | None = None, *,
    times: np.ndarray | None = None, detail: str | None = None, meshes: LinkMeshes | None = None,
) -> Recording:  # fmt: skip
    """The recording of a solution with its signals and loads; only the signals for a problem without bodies.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    name : str
        By default the name of its models.
    share : float
        Fraction of the samples of a single motion; each of several motions has fewer.
    muscles : Muscles, optional
    times : ndarray, shape (N,) [s], optional
        Times, instead of a fine grid on every interval.
    detail : str, optional
        Text, instead of status and cost.
    meshes : LinkMeshes, optional
    """
    t = fine_times(solution, int(_TIMES * share), least=2) if times is None else times
    words = f"{solution.status}, cost {short(solution.cost)}" if detail is None else detail
    if any(model.n for model in models(solution)):
        recording = from_figure(skeleton(solution, t), name or title_of(solution), words)
    else:
        recording = _without_bodies(solution, t, name or title_of(solution), words)
    phases = [(phase, name) for name, phase in solution.phases.items()]
    parts = []
    for segment, (phase, times) in zip(recording.segments, by_phase(solution, t), strict=True):
        label = next(label for other, label in phases if other is phase)
        groups, arrows = tuple(_curves(phase, times, brief=detail is not None)), tuple(load_arrows(phase, times))
        polylines = () if muscles is None else tuple(_polylines(phase, times, muscles))
        parts.append(replace(segment, name=label, groups=groups, arrows=arrows, polylines=polylines))
    lines = [line.points.reshape(-1, 3) for part in parts for line in part.polylines]
    seen = np.concatenate([recording.low[None], recording.high[None], *lines])
    low, high = np.nanmin(seen, axis=0), np.nanmax(seen, axis=0)
    recording = replace(recording, segments=tuple(parts), low=low, high=high)
    if meshes is None:
        return recording
    return recording.in_meshes(meshes, [_frames(phase, times, meshes) for phase, times in by_phase(solution, t)])


def from_figure(figure: StickFigure, name: str, detail: str = "", *, ghost: bool = False) -> Recording:
    """The recording of a stick figure over time, without curves and forces."""
    segments, first = [], 0
    parts = figure.parts if isinstance(figure, PhaseSeries) else (figure,)
    for part in parts:
        assert isinstance(part, Skeleton)
        made, last = bars_of(part), first + part.t.size
        bars, faces = made.bars, made.faces
        if ghost:
            bars = [bar for bar in bars if bar.style not in ("obstacle", "shape", "base", "marker")]
            faces = []
        names = part.model.joint_names
        segments.append(Segment(figure.t[first:last], made.points, tuple(bars), joints=names, faces=tuple(faces)))
        first = last
    low, high = figure.view_with(_ROOM)
    return Recording(name, tuple(segments), figure.paths, low, high, figure.vertical, figure.plane, detail, ghost)


def curves_by_unit(label: str, names: Sequence[str], units: Sequence[str], values: np.ndarray) -> list[CurveGroup]:
    """Quantities, shape (N, names), as a group for each unit; torques of slides are labelled forces."""
    groups = []
    for unit in dict.fromkeys(units):
        members = [k for k, other in enumerate(units) if other == unit]
        shown = tuple(names[k] for k in members)
        title = "force" if (label, unit) == ("torque", "N") else label
        groups.append(CurveGroup(title, unit, shown, np.asarray(values)[:, members]))
    return sorted(groups, key=lambda group: _ORDER.get(group.unit, 0))


def _without_bodies(solution: Solution | PhasesSolution, t: np.ndarray, name: str, detail: str) -> Recording:
    """A motion with only curves: an invisible point."""
    nothing = (RoundBar(0, 0, 0.0, 0.0, "base"),)
    starts = list(solution.start_times.values())
    segments = tuple(
        Segment(times + start, np.zeros((times.size, 1, 3)), nothing)
        for start, (_, times) in zip(starts, by_phase(solution, t), strict=True)
    )
    return Recording(name, segments, {}, np.zeros(3), np.ones(3), up=2, detail=detail, curves_alone=True)


def guess_recording(pose: Pose, duration: float, name: str, *, ghost: bool) -> Recording:
    """The recording of a guess, which has only postures."""
    return from_figure(pose(np.linspace(0, duration, _TIMES)), name, ghost=ghost)


def _curves(phase: Solution, times: np.ndarray, *, brief: bool) -> list[CurveGroup]:
    """All signals except accelerations, by unit, without those held at zero; if `brief`, only variables and torques."""
    definitions, problem = phase.signals.definitions, phase.problem
    variables = {"q", "tau", *(unknown.name for unknown in problem.all_unknowns)}
    names = [name for name, s in definitions.items() if not s.secondary and (name in variables or not brief)]
    groups: list[CurveGroup] = []
    for name, values in (phase.signals.at(times, *names) if names else {}).items():
        signal = definitions[name]
        free = np.flatnonzero(~signal.zero).tolist()
        labels, units = signal.names or signal.labels, [signal.units[k] for k in free]
        title = signal.title.removeprefix("joint ")
        groups += curves_by_unit(title, [labels[k] for k in free], units, np.asarray(values)[:, free])
    return groups


def _polylines(phase: Solution, times: np.ndarray, muscles: Muscles) -> list[Polyline]:
    """Muscles with path points as lines, coloured by activation."""
    paths = {muscle.name: muscle.path for muscle in muscles.muscles if isinstance(muscle.path, MusclePath)}
    if not paths:
        raise InputError(
            "the paths of these muscles have no points to be drawn: pass the Muscles to which polynomials were fitted"
        )
    levels = dict(zip(muscles.names, phase.at(times).activation.T, strict=True))
    polylines = []
    for name, path in paths.items():
        places = phase.evaluate(lambda now, path=path: ca.vec(path.places(now)), times)
        polylines.append(Polyline(name, places.reshape(times.size, -1, 3), levels[name]))
    return polylines


def _frames(phase: Solution, times: np.ndarray, meshes: LinkMeshes) -> np.ndarray:
    """Frames of bodies with meshes, shape (N, 12 bodies)."""
    frames = meshes.frames(phase.problem.model, phase.problem.instant.q)
    return phase.evaluate(lambda now: frames, times).reshape(times.size, -1)


def load_arrows(phase: Solution, times: np.ndarray) -> list[ForceArrow]:
    """Forces and moments of the problem's loads at their points of application in the world."""
    loads = phase.problem.all_loads
    if not loads:
        return []

    def acting(now: Instant) -> Any:
        parts = [(now.point(load.body, load.point).position, load.force, load.moment) for load in now.loads or ()]
        return ca.densify(ca.vertcat(*(entry for part in parts[: len(loads)] for entry in part)))

    rows = phase.evaluate(acting, times).reshape(times.size, len(loads), 3, 3)
    largest = np.linalg.norm(rows, axis=3).max(axis=(0, 1))
    arrows = []
    for number, load in enumerate(loads):
        for part, unit in ((1, "N"), (2, "N m")):
            vector = rows[:, number, part]
            if np.linalg.norm(vector, axis=1).max() > max(_TINY * largest[part], _TINY):
                arrows.append(ForceArrow(f"load on {load.body}", unit, rows[:, number, 0], vector))
    return arrows
