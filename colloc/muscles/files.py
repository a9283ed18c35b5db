"""Muscles of what files say of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.model import Coupling, Model
from colloc.muscles.muscle import Muscle
from colloc.muscles.path import between, others_at_rest
from colloc.support.checks import spelt


class PointRecord(Protocol):
    """A point of a path as a file has it; entries of its position may follow coordinates."""

    @property
    def body(self) -> str | None: ...
    @property
    def position(self) -> tuple[float | Coupling, ...]: ...
    @property
    def coordinate(self) -> str | None: ...


class MuscleRecord(Protocol):
    """A muscle as a file has it: a `colloc.formats.MuscleData`, or what has the same attributes."""

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
    def points(self) -> Sequence[PointRecord]: ...

    def length(self, model: Model, q: ca.SX) -> ca.SX:
        """Of its path, SX, scalar [m]."""
        ...


@spelt
def from_file(record: MuscleRecord, **numbers: Any) -> Muscle:
    """A muscle with the path and the numbers that a file has for it, whatever the kind of muscle there.

    Its curves are those of `Muscle`, not the file's: OpenSim replaces Thelen's and Millard's muscles by those of De
    Groote et al. in the same way. Paths go straight where the file wraps them round surfaces.

    Parameters
    ----------
    record : MuscleData
        An entry of `Reading.muscles`.
    **numbers :
        Arguments of `Muscle` in place of the file's, or beside them.

    See Also
    --------
    fit_lengths : Smooth polynomials in place of paths whose points come and go.

    Examples
    --------
    >>> points = co.formats.PathPoint(None, (0.0, 0.05, 0.0)), co.formats.PathPoint("elbow", (-0.35, 0.02, 0.0))
    >>> record = co.formats.MuscleData("flexor", "Thelen2003Muscle", 800.0, 0.1, 0.2, points=points)
    >>> co.muscles.from_file(record, max_isometric_force=1000.0).max_isometric_force
    1000.0
    """
    values = {
        "max_isometric_force": record.max_isometric_force,
        "optimal_fiber_length": record.optimal_fiber_length,
        "tendon_slack_length": record.tendon_slack_length,
        "pennation": record.pennation,
        "max_velocity": record.max_contraction_velocity,
        "activation_time": record.activation,
        "deactivation_time": record.deactivation,
    }
    known = {name: value for name, value in values.items() if value is not None}
    return Muscle(record.name, partial(_length, record), **(known | numbers))


def _length(record: MuscleRecord, now: Instant) -> ca.SX:
    model = now.model
    follows = [part.joint for point in record.points for part in point.position if isinstance(part, Coupling)]
    follows += [point.coordinate for point in record.points if point.coordinate is not None]
    leaders = (model.couplings[name].joint if name in model.couplings else name for name in follows)
    crossed = between(model, [point.body for point in record.points])
    crossed.update(model.joint_names.index(name) for name in leaders)
    return record.length(model, others_at_rest(model, now.q, sorted(crossed)))
