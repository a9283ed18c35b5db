"""Muscles from the data of files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Coupling, Model
from colloc.muscles.muscle import Muscle
from colloc.muscles.path import MusclePath, ViaPoint, coordinate, random_postures, seen_from, symbolic_instant
from colloc.muscles.wrapping import HALF, Surface, outside
from colloc.support.checks import instance, spelt


class PointRecord(Protocol):
    """A point of a path in a file; entries of its position may follow coordinates."""

    @property
    def body(self) -> str | None: ...
    @property
    def position(self) -> tuple[float | Coupling, ...]: ...
    @property
    def coordinate(self) -> str | None: ...
    @property
    def within(self) -> tuple[float, float] | None: ...


@runtime_checkable
class MuscleRecord(Protocol):
    """A muscle in a file: a `colloc.formats.MuscleData`, or an object with the same attributes."""

    @property
    def name(self) -> str: ...
    @property
    def max_isometric_force(self) -> float: ...
    @property
    def optimal_fiber_length(self) -> float: ...
    @property
    def tendon_slack_length(self) -> float: ...
    @property
    def pennation(self) -> float: ...
    @property
    def max_contraction_velocity(self) -> float: ...
    @property
    def activation(self) -> float | None: ...
    @property
    def deactivation(self) -> float | None: ...
    @property
    def fiber_damping(self) -> float | None: ...
    @property
    def points(self) -> Sequence[PointRecord | Surface]: ...


@spelt
def from_file(record: MuscleRecord, **numbers: Any) -> Muscle:
    """A muscle with the path and the numbers of a file, for any kind of muscle.

    Its curves are those of `Muscle`, not the file's: OpenSim replaces Thelen's and Millard's muscles by those of De
    Groote et al. in the same way.

    Parameters
    ----------
    record : MuscleData
        An entry of `Reading.muscle_data`.
    **numbers :
        Arguments of `Muscle` that replace or complement those of the file.

    See Also
    --------
    fit_lengths

    Examples
    --------
    >>> points = co.formats.PathPoint(None, (0.0, 0.05, 0.0)), co.formats.PathPoint("elbow", (-0.35, 0.02, 0.0))
    >>> record = co.formats.MuscleData("flexor", "Thelen2003Muscle", 800.0, 0.1, 0.2, points=points)
    >>> co.muscles.from_file(record, max_isometric_force=1000.0).max_isometric_force
    1000.0
    """
    instance("record", record, MuscleRecord, "an entry of muscle_data of a co.formats.Reading")
    values = {
        "max_isometric_force": record.max_isometric_force,
        "optimal_fiber_length": record.optimal_fiber_length,
        "tendon_slack_length": record.tendon_slack_length,
        "pennation": record.pennation,
        "max_velocity": record.max_contraction_velocity,
        "activation_time": record.activation,
        "deactivation_time": record.deactivation,
        "damping": record.fiber_damping,
    }
    known = {name: value for name, value in values.items() if value is not None}
    return Muscle(record.name, MusclePath([_on_path(point) for point in record.points]), **(known | numbers))


def _on_path(point: PointRecord | Surface) -> ViaPoint | Surface:
    if isinstance(point, Surface):
        return point
    return ViaPoint(point.body, _position(point), joint=point.coordinate, within=point.within)


class FileWrap(NamedTuple):
    """A surface of a file round which a muscle may wrap between two of its points, the first and the last."""

    name: str
    surface: Surface
    first: int
    last: int


@dataclass(frozen=True)
class PlacedWraps:
    """Points of a path with surfaces between them, and surfaces that are left out, lie elsewhere too or hold an end."""

    points: tuple[Any, ...]
    untouched: tuple[str, ...]
    elsewhere: tuple[str, ...]
    inside: tuple[str, ...]


_POSTURES = 200
_OFTEN = 0.05  # share of the postures, of those with contact, that counts as elsewhere


def place_wraps(model: Model, points: Sequence[PointRecord], wraps: Sequence[FileWrap]) -> PlacedWraps:
    """Surfaces of a file between the points of a path where the muscle touches them in most postures.

    OpenSim chooses between the points in every posture, which is neither smooth nor the same for two solvers. The
    postures are random, within the limits of the joints.
    """
    parts = [_on_path(point) for point in points]
    chosen: dict[int, list[FileWrap]] = {}
    untouched, elsewhere, inside = [], [], []
    for wrap in wraps:
        gaps = range(wrap.first, wrap.last)
        votes = _votes(model, parts, wrap.surface, gaps)
        if not sum(votes):
            untouched.append(wrap.name)
            continue
        gap = gaps[int(np.argmax(votes))]
        chosen.setdefault(gap, []).append(wrap)
        if count := _inside(model, parts[gap : gap + 2], wrap.surface):
            inside.append(f"{wrap.name}, {count} of {_POSTURES}")
        if max(votes) < (1 - _OFTEN) * sum(votes):
            elsewhere.append(f"{wrap.name}, {sum(votes) - max(votes)} of {sum(votes)}")
    placed: list[Any] = list(points)
    for gap in sorted(chosen, reverse=True):
        ordered = sorted(chosen[gap], key=lambda wrap: _along(model, parts[gap : gap + 2], wrap.surface))
        placed[gap + 1 : gap + 1] = [wrap.surface for wrap in ordered]
    return PlacedWraps(tuple(placed), tuple(untouched), tuple(elsewhere), tuple(inside))


def _votes(model: Model, parts: Sequence[Any], surface: Surface, gaps: Sequence[int]) -> list[int]:
    """Numbers of postures in which a path touches a surface between two points, of all where it adds least length.

    A path with an end inside a surface does not touch it, as in OpenSim.
    """
    now = symbolic_instant(model)
    rows = []
    for gap in gaps:
        start, end = (seen_from(now, surface.body, point.place(now)) for point in parts[gap : gap + 2])
        wrap = surface.wrap(start, end)
        added = ca.norm_2(wrap.first - start) + wrap.length + ca.norm_2(end - wrap.last) - ca.norm_2(end - start)
        there = ca.logic_and(parts[gap].present(now), parts[gap + 1].present(now))
        free = ca.fmin(outside(surface, start), outside(surface, end)) > 0
        touches = ca.logic_and(ca.logic_and(there, free), wrap.share > HALF)
        rows.append(ca.if_else(touches, added, np.inf))
    samples = random_postures(model, _POSTURES)
    values = np.array(ca.Function("added", [now.q], [ca.vertcat(*rows)]).map(len(samples))(samples.T))
    best = values.argmin(axis=0)[np.isfinite(values.min(axis=0))]
    return [int((best == k).sum()) for k in range(len(gaps))]


def _inside(model: Model, ends: Sequence[Any], surface: Surface) -> int:
    """Number of the postures in which one of two points lies inside of a surface."""
    now, samples = symbolic_instant(model), random_postures(model, _POSTURES)
    places = [outside(surface, seen_from(now, surface.body, point.place(now))) for point in ends]
    values = np.array(ca.Function("outside", [now.q], [ca.fmin(*places)]).map(len(samples))(samples.T))
    return int((values < 0).sum())


def _along(model: Model, ends: Sequence[Any], surface: Surface) -> float:
    """The mean place of a surface between two points, from 0 to 1, in the postures in which the path touches it."""
    now, samples = symbolic_instant(model), random_postures(model, _POSTURES)
    start, end = (seen_from(now, surface.body, point.place(now)) for point in ends)
    wrap = surface.wrap(start, end)
    middle = (wrap.first + wrap.last) / 2
    row = ca.vertcat(ca.dot(middle - start, end - start) / ca.sumsqr(end - start), wrap.share > HALF)
    places, touches = np.array(ca.Function("place", [now.q], [row]).map(len(samples))(samples.T))
    return float(np.mean(places[touches > 0])) if touches.any() else 0.5


def _position(point: PointRecord) -> Any:
    """Position for a `ViaPoint`: numbers, or a function of the instant if an entry follows a coordinate."""
    return partial(_moving, point) if any(isinstance(part, Coupling) for part in point.position) else point.position


def _moving(point: PointRecord, now: Instant) -> ca.SX:
    entries = [
        part.derivatives(coordinate(now, part.joint), 0)[0] if isinstance(part, Coupling) else ca.SX(part)
        for part in point.position
    ]
    return ca.vertcat(*entries)
