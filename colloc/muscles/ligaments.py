"""Ligaments: elastic cords along paths, which pull when they are longer than slack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.dynamics.instant import Instant, Reaction
from colloc.model import Model
from colloc.model.functions import CoordinateFunction
from colloc.muscles.muscles import length_graph
from colloc.muscles.pull import BodyWrenches, body_wrenches, carried_by, crossing, joint_pull
from colloc.problem.part import Contribution, Part
from colloc.problem.signal import Signal
from colloc.support.checks import (
    InputError,
    as_tuple,
    finite_number,
    function,
    instance,
    not_negative,
    quoted,
    shortened,
    spelt,
    text,
)
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True, eq=False)
class Ligament(Portable):
    """An elastic cord along a path: it pulls where its strain is positive.

    The force rises with the square of the strain up to the transition, and in a straight line beyond it, with
    continuous slope (Blankevoort and Huiskes 1991, J. Biomech. Eng. 113, equation 2). It does not depend on the
    velocity.

    Parameters
    ----------
    name : str
    path : MusclePath, or any function of the instant
    slack_length : float [m]
    stiffness : float [N]
        Force per strain in the straight part, or the unit of the curve.
    transition : float
        Strain at which the force becomes straight.
    curve : CubicSpline or an object with the same `derivatives`, optional
        Force in units of the stiffness as a function of the length over the slack length, in place of that law.

    Raises
    ------
    InputError
        For a slack length or transition that is not positive, and a negative stiffness.

    See Also
    --------
    Ligaments, PassiveTorque

    Examples
    --------
    >>> points = [co.muscles.ViaPoint("shoulder", (-0.02, 0.03, 0)), co.muscles.ViaPoint("elbow", (-0.38, 0.03, 0))]
    >>> cord = co.muscles.Ligament("collateral", co.muscles.MusclePath(points), slack_length=0.038, stiffness=500.0)
    >>> [float(ca.evalf(cord.force(ca.SX(length)))) for length in (0.038, 0.03876, 0.041)]  # N
    [0.0, 1.6..., 24.4...]
    """

    name: str
    path: Callable[[Instant], ca.SX]
    slack_length: float
    stiffness: float
    transition: float = 0.06
    curve: CoordinateFunction | None = None

    def __post_init__(self):
        text("name of a ligament", self.name)
        function(f"path of ligament {self.name!r}", self.path, "a function of the instant", "now")
        for key in ("slack_length", "transition"):
            value = finite_number(f"{key} of ligament {self.name!r}", getattr(self, key), positive=True)
            object.__setattr__(self, key, value)
        stiffness = not_negative(f"stiffness of ligament {self.name!r}", self.stiffness)
        object.__setattr__(self, "stiffness", stiffness)
        if not (self.curve is None or callable(getattr(self.curve, "derivatives", None))):
            raise InputError(
                f"curve of ligament {self.name!r} must be a co.model.CubicSpline, or an object with its method "
                f"derivatives, got {quoted(self.curve)}"
            )

    def force(self, length: ca.SX) -> ca.SX:
        """Force at a length [m], SX, scalar [N]."""
        ratio = length / self.slack_length
        if self.curve is not None:
            return ca.if_else(ratio > 1, self.stiffness * self.curve.derivatives(ratio, 0)[0], 0)
        strain, knee = ca.fmax(ratio - 1, 0), self.transition
        return self.stiffness * ca.if_else(strain < knee, strain**2 / (2 * knee), strain - knee / 2)


@spelt
@dataclass(frozen=True, eq=False)
class Ligaments(Part):
    """Ligaments of a model, a part of a problem: they exert torques at all joints that stretch them.

    Instants and figures have the signal "ligament_force" [N].

    Parameters
    ----------
    model : Model
    ligaments : sequence of Ligament

    Raises
    ------
    InputError
        For ligaments with one name, and paths through bodies that the model does not have.

    Examples
    --------
    >>> points = [co.muscles.ViaPoint("shoulder", (-0.02, 0.03, 0)), co.muscles.ViaPoint("elbow", (-0.38, 0.03, 0))]
    >>> cord = co.muscles.Ligament("collateral", co.muscles.MusclePath(points), slack_length=0.038, stiffness=500.0)
    >>> parts = [co.muscles.Ligaments(two_link(), [cord]), co.Motors(["shoulder", "elbow"])]
    >>> turn = co.Problem(two_link(), 1.0, problem.minimize, problem.subject_to[:2], parts=parts)
    >>> turn.passive
    ()
    """

    model: Model
    ligaments: Sequence[Ligament]
    name: str = "ligaments"

    def __post_init__(self):
        instance("model", self.model, Model)
        ligaments = tuple(instance("ligaments", each, Ligament) for each in as_tuple("ligaments", self.ligaments))
        names = [ligament.name for ligament in ligaments]
        if not ligaments or len(set(names)) < len(names):
            raise InputError(f"ligaments must be one or more, with different names, got {shortened(names) or 'none'}")
        object.__setattr__(self, "ligaments", ligaments)
        self._graph  # noqa: B018  # finds bodies that the model does not have

    def __repr__(self) -> str:
        return f"Ligaments({shortened(list(self.names), most=6)})"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(ligament.name for ligament in self.ligaments)

    @cached_property
    def _graph(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        ligaments: Any = self.ligaments  # which have names and paths, as muscles
        return length_graph(self.model, ligaments)

    @cached_property
    def _wrenches(self) -> BodyWrenches:
        ligaments: Any = self.ligaments
        return body_wrenches(self.model, ligaments, self.model.neutral[None])

    def contribution(self) -> Contribution:
        """The signal of forces."""
        return Contribution(signals=[Signal("ligament_force", self.forces, names=self.names, unit="N")])

    def _at(self, now: Instant) -> tuple[ca.SX, ca.SX]:
        """Forces, and slopes of lengths by displacements of the joints."""
        q, lengths, slopes = self._graph
        if now.model.position_names != self.model.position_names:
            raise InputError(
                f"the ligaments are those of {self.model.name!r}, not of {now.model.name!r}: make them with the "
                "problem's model"
            )
        lengths, slopes = ca.substitute([lengths, slopes], [q], [now.q])
        each = zip(self.ligaments, ca.vertsplit(lengths), strict=True)
        return ca.vertcat(*(ligament.force(length) for ligament, length in each)), slopes

    def forces(self, now: Instant) -> ca.SX:
        """Forces of all ligaments at an instant, SX, shape (number of ligaments,) [N]."""
        return self._at(now)[0]

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        forces, slopes = self._at(now)
        stretched = {column for _, column in zip(*slopes.sparsity().get_triplet(), strict=True)}
        total: Any = -slopes.T @ forces
        return {joint: total[k] for k, joint in enumerate(self.model.joint_names) if k in stretched}

    def pull_across(self, now: Instant, body: str) -> Reaction | None:
        """Pull of the ligaments across the joint of a body, see `Part.pull_across`; None if none crosses it."""
        index = self.model.index(body)
        ligaments = crossing(self._wrenches, carried_by(self.model, index))
        return joint_pull(now, index, self._wrenches, ligaments, self.forces(now)) if ligaments else None
