"""The muscles of a model in a problem: unknowns, equations, and their state along a motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant, Reaction
from colloc.model import Model
from colloc.muscles.activation import SHARPNESS, activation_rate, activation_rows
from colloc.muscles.fibers import Fibers, Numbers, imbalance, with_compliant_tendon, with_rigid_tendon
from colloc.muscles.metabolics import CORNERS, MetabolicRate, metabolic_rate, muscle_masses
from colloc.muscles.muscle import Muscle
from colloc.muscles.path import random_postures, symbolic_instant
from colloc.muscles.pull import BodyWrenches, body_wrenches, carried_by, crossing, joint_pull
from colloc.problem import Condition, Contribution, Part, Signal, State, Unknown, at, path
from colloc.support.checks import (
    InputError,
    as_tuple,
    choice,
    finite_number,
    function,
    instance,
    mapping,
    not_negative,
    shortened,
    spelt,
    symbolic,
    unknown_name,
    warn,
)
from colloc.support.display import short
from colloc.support.lazy import cached_property

TENDONS = ("rigid", "compliant")
ACTIVATIONS = ("implicit", "explicit", "instantaneous")

_POSTURES = 21  # that a muscle's fibers are looked at in
_NO_ARM = 1e-9  # m
_SHORTEST, _LONGEST = 0.4, 1.6  # optimal lengths at which fibers give a force worth having


@spelt
@dataclass(frozen=True, eq=False)
class Muscles(Part):
    """Muscles that drive the joints of a model: a part of a problem.

    The torque of every joint that a muscle crosses, and of those with a reserve or a passive torque, is moment arms
    times tendon forces, plus passive torque and reserve. The only states are activations and the tension of compliant
    tendons. Unknowns of a problem are `activation` with `activation_rate` or `excitation`, `tension` (in maximal
    isometric forces) and `reserve`, one entry for each muscle or reserve.

    Parameters
    ----------
    model : Model
    muscles : sequence of Muscle
    tendons : {"rigid", "compliant"}
        With compliant tendons their tension is a state, and its equation the balance of fibers and tendons.
    activation : {"implicit", "explicit", "instantaneous"}
        The control: rates of activation within the limits of excitation; excitations; or activations themselves, as
        free signals.
    reserves : mapping of str to float [N m, N]
        By joint, the size of an additional actuator, whose signal lies between -1 and 1.
    passive : mapping of str to callable
        By joint, torque as a function of coordinate and velocity, such as a `PassiveTorque`.
    lower : float
        Least activation.
    joints : sequence of str, optional
        Joints at which they act; by default those they cross and those with a reserve or a passive torque.
    sharpness : float
        Of the transition between rise and fall of explicit activation. With 10, the default, activation rises and falls
        by separate time constants. With 0.1, as published and OpenSim's default, it follows the excitation by a mean of
        both, and squared excitations have smooth optima. With 10 these pulse, since short bursts are the cheapest way
        to hold an activation that rises fast and falls slowly.

    See Also
    --------
    fit_lengths

    Examples
    --------
    >>> origin = co.muscles.ViaPoint("shoulder", (-0.3, 0.03, 0.0))
    >>> insertion = co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0.0))
    >>> flexor = co.muscles.Muscle("flexor", co.muscles.MusclePath([origin, insertion]), 900.0, 0.15, 0.2)
    >>> arm = co.muscles.Muscles(two_link(), [flexor], reserves={"shoulder": 50.0, "elbow": 10.0})
    >>> effort = co.integral(lambda now: ca.sumsqr(now.activation) + ca.sumsqr(now.reserve))
    >>> bend = co.Problem(two_link(), 0.5, effort, problem.subject_to[:2], parts=[arm])
    >>> [unknown.name for unknown in bend.all_unknowns]
    ['activation_rate', 'activation', 'reserve']
    """

    model: Model
    muscles: Sequence[Muscle]
    tendons: str = "rigid"
    activation: str = "implicit"
    reserves: Mapping[str, float] = field(default_factory=dict)
    passive: Mapping[str, Callable[[Any, Any], Any]] = field(default_factory=dict)
    lower: float = 0.01
    joints: Sequence[str] | None = None
    sharpness: float = SHARPNESS
    name = "muscle"

    def __post_init__(self):
        instance("model", self.model, Model)
        muscles = as_tuple("muscles", self.muscles)
        for k, muscle in enumerate(muscles):
            instance(f"muscles[{k}]", muscle, Muscle, "co.muscles.from_file makes one of what a file says")
        names = [muscle.name for muscle in muscles]
        if not names or len(set(names)) < len(names):
            raise InputError(f"muscles must be one or more with different names, got {', '.join(names) or 'none'}")
        choice("tendons", self.tendons, TENDONS)
        choice("activation", self.activation, ACTIVATIONS)
        slackless = [muscle.name for muscle in muscles if muscle.tendon_slack_length == 0]
        if slackless and self.tendons == "compliant":
            raise InputError(
                "a compliant tendon needs a positive tendon_slack_length, which is 0 for "
                f'{shortened(slackless, most=6)}: give one, or tendons="rigid"'
            )
        for what in ("reserves", "passive"):
            object.__setattr__(self, what, dict(mapping(what, getattr(self, what))))
        for joint in [*self.reserves, *self.passive, *(self.joints or ())]:
            if joint not in self.model.joint_names:
                raise unknown_name("joint that moves", joint, self.model.joint_names)
        if self.joints is not None:
            joints = as_tuple("joints", self.joints)
            object.__setattr__(self, "joints", joints)
            if idle := [joint for joint in (*self.reserves, *self.passive) if joint not in joints]:
                raise InputError(
                    f"joint {idle[0]!r} has a reserve or a passive torque, and is not among the joints at which the "
                    f"muscles act, {shortened(joints, most=6)}: add it to joints"
                )
        for joint, size in self.reserves.items():
            finite_number(f"reserve of {joint!r}", size, positive=True)
        for joint, torque in self.passive.items():
            if joint not in self.model.position_names:
                raise InputError(
                    f"joint {joint!r} is on a quaternion: a passive torque needs a coordinate, such as those of a ball "
                    "joint of three angles, sequence='zyx'"
                )
            function(f"passive torque of {joint!r}", torque, "a function of coordinate and velocity", "q", "qd")
        not_negative("least activation", self.lower, at_most=0.99)
        finite_number("sharpness", self.sharpness, positive=True)
        object.__setattr__(self, "muscles", muscles)
        self._check_lengths()

    def __repr__(self) -> str:
        reserves = f", reserves of {', '.join(self.reserves)}" if self.reserves else ""
        listed = shortened(self.names, most=6)
        idle = [joint for joint in self.model.joint_names if joint not in self.driven]
        none = f", no torque at {shortened(idle, most=6)}" if idle else ""
        return f"Muscles({listed}: {self.tendons} tendons, {self.activation} activation{reserves}{none})"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(muscle.name for muscle in self.muscles)

    @cached_property
    def _numbers(self) -> Numbers:
        return Numbers(self.muscles)

    @cached_property
    def length_graph(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Positions as symbols, lengths of the paths and their derivatives by displacements of the joints."""
        return length_graph(self.model, self.muscles)

    @cached_property
    def driven(self) -> tuple[str, ...]:
        if self.joints is not None:
            return tuple(self.joints)
        crossed = {self.model.joint_names[k] for k in self.length_graph[2].sparsity().get_triplet()[1]}
        return tuple(joint for joint in self.model.joint_names if joint in {*crossed, *self.reserves, *self.passive})

    @cached_property
    def _ratios(self) -> ca.Function | None:
        """Lengths of fibers over optimal ones and largest moment arms at a posture; None if numbers are unknown."""
        (q, lengths, slopes), numbers = self.length_graph, self._numbers
        ratios = (lengths - numbers.slack) / (numbers.fiber * ca.cos(numbers.pennation))
        largest = ca.vertcat(*(ca.norm_inf(row) for row in ca.vertsplit(slopes)))
        function = ca.Function("fibers", [q], [ratios, largest], {"allow_free": True})
        return None if function.has_free() else function

    def _check_lengths(self) -> None:
        """InputWarning for muscles that no joint stretches, and for those whose fibers are usable nowhere."""
        if self._ratios is None:
            return
        samples = random_postures(self.model, _POSTURES)
        arms = np.array(self._ratios.map(len(samples))(samples.T)[1])
        still = arms.max(axis=1) < _NO_ARM
        if still.any():
            listed = shortened([self.names[k] for k in np.flatnonzero(still).tolist()], most=6)
            warn(f"no joint stretches {listed}: are all points on bodies that move together?")
        where = f"in {len(samples)} postures within the limits of the joints"
        for sentence in self._unusable(samples, where, ~still):
            warn(sentence)

    def doubts(self, q: np.ndarray, where: str) -> list[str]:
        """Sentences about fibers without a usable length at any of some postures, see `Part.doubts`."""
        return self._unusable(q, where, np.full(len(self.names), True))

    def _unusable(self, q: np.ndarray, where: str, which: np.ndarray) -> list[str]:
        if self._ratios is None:
            return []
        values = np.array(self._ratios.map(len(q))(q.T)[0])
        sentences = []
        for k in np.flatnonzero(((values.max(axis=1) < _SHORTEST) | (values.min(axis=1) > _LONGEST)) & which).tolist():
            ends = dict.fromkeys(short(end) for end in (values[k].min(), values[k].max()))
            slack = short(float(ca.evalf(self._numbers.slack[k])))
            sentences.append(
                f"fibers of {self.names[k]} are {' to '.join(ends)} times their optimal length {where}, and usable "
                f"from {_SHORTEST} to {_LONGEST}: is tendon_slack_length {slack} m, are all lengths in m?"
            )
        return sentences

    def contribution(self) -> Contribution:
        """Unknowns, rows for limits of excitation, sizes of torques, and signals.

        These are "fiber_length", "tendon_force", and as secondary ones "fiber_velocity", "metabolic_rate", and
        "moment_arm_elbow" for each joint that muscles cross.
        """
        rows = []
        if self.activation == "implicit":
            labels = [f"{name} {way}" for way in ("falls", "rises") for name in self.names]
            rows.append(path(self._activation_rows, lower=0.0, unit="1/s", name="activation", labels=labels))
        return Contribution(self._unknowns, statements=rows, sizes=self._sizes, signals=self._signals)

    @cached_property
    def _signals(self) -> list[Signal]:
        names = self.names
        signals = [
            Signal("fiber_length", self._fiber_lengths, names=names, unit="m"),
            Signal("tendon_force", self.tendon_forces, names=names, unit="N"),
            Signal("fiber_velocity", self._fiber_velocities, names=names, unit="m/s", secondary=True),
            Signal("metabolic_rate", self._metabolic_rates, names=names, unit="W", secondary=True),
        ]
        slopes = self.length_graph[2].sparsity()
        for dof, joint in enumerate(self.model.joint_names):
            if crossing := [k for k in range(len(names)) if slopes.has_nz(k, dof)]:
                arms, title = partial(self._arms_at, crossing, dof), f"moment arm at {joint}"
                crossing_names = [names[k] for k in crossing]
                unit = "m" if self.model.torque_units[dof] == "N m" else ""
                name = f"moment_arm_{joint}"
                signals.append(Signal(name, arms, names=crossing_names, unit=unit, title=title, secondary=True))
        return signals

    @cached_property
    def _unknowns(self) -> list[State | Unknown]:
        names, lower = self.names, self.lower
        size: dict[str, Any] = {"size": len(names), "names": names}
        bounded: dict[str, Any] = {**size, "lower": lower, "upper": 1.0, "guess": 0.1}
        unknowns: list[State | Unknown] = []
        if self.activation == "instantaneous":
            unknowns.append(Unknown("activation", **bounded))
        elif self.activation == "implicit":
            unknowns.append(Unknown("activation_rate", unit="1/s", **size))
            unknowns.append(State("activation", rate=_stated_rate, **bounded))
        else:
            unknowns.append(Unknown("excitation", **bounded))
            unknowns.append(State("activation", rate=self._activation_rate, **bounded))
        if self.tendons == "compliant":
            bounded |= {"lower": 1e-3, "upper": 5.0}
            unknowns.append(State("tension", residual=self._imbalance, **bounded))
        if self.reserves:
            motors = tuple(self.reserves)
            unknowns.append(Unknown("reserve", len(motors), -1.0, 1.0, names=motors))
        return unknowns

    @property
    def _sizes(self) -> dict[str, float]:
        """Natural sizes of the driven joints' torques: a tenth of the torque of all muscles together, at least 1."""
        q, _, slopes = self.length_graph
        size = ca.substitute(ca.fabs(slopes).T @ self._numbers.force / 10, q, ca.SX(self.model.neutral))
        numeric = ca.evalf(size).full().ravel() if not ca.symvar(size) else np.ones(self.model.n)
        sizes = dict(zip(self.model.joint_names, np.maximum(numeric, 1.0).tolist(), strict=True))
        return {joint: sizes[joint] for joint in self.driven}

    def steady(self, s: float = 0.0) -> Condition:
        """Constant tensions at one time, a fraction of the duration: compliant tendons in a motion from rest.

        Without it tendons and fibers may begin, at no cost, in a state that decays within milliseconds.
        """
        if self.tendons != "compliant":
            raise InputError('steady tensions need tendons="compliant"')
        return at(s, lambda now: now.rate("tension"), equals=0.0, unit="1/s", name="steady tension")

    def lengths(self, now: Instant) -> ca.SX:
        """Lengths of the paths, SX, shape (m,) [m]."""
        return self._at(now)[0]

    def moment_arms(self, now: Instant) -> ca.SX:
        """Moment arms of every muscle about every joint, SX, shape (m, n) [m]: its shortening per unit of the joint.

        Those of a ball joint on a quaternion are about the axes of its link.
        """
        return -self._at(now)[1]

    def _at(self, now: Instant) -> tuple[ca.SX, ca.SX]:
        q, lengths, slopes = self.length_graph
        self._check_model(now)
        lengths, slopes = ca.substitute([lengths, slopes], [q], [now.q])
        return lengths, slopes

    def _check_model(self, now: Instant) -> None:
        if now.model.position_names != self.model.position_names:
            raise InputError(
                f"the muscles are those of {self.model.name!r}, not of {now.model.name!r}: make them with the "
                "problem's model"
            )

    def fibers(self, now: Instant) -> Fibers:
        """State of fibers and tendons, see `Fibers`; for costs, constraints and `Solution.evaluate`.

        Parameters
        ----------
        now : Instant
        """
        return self._fibers(now, *self._at(now))

    def _fibers(self, now: Instant, lengths: ca.SX, slopes: ca.SX) -> Fibers:
        velocities = slopes @ now.qd
        if self.tendons == "rigid":
            return with_rigid_tendon(self._numbers, now.activation, lengths, velocities)
        rate = now.rate("tension")
        return with_compliant_tendon(self._numbers, now.activation, lengths, velocities, now.tension, rate)

    def _fiber_lengths(self, now: Instant) -> ca.SX:
        return self.fibers(now).length

    def _fiber_velocities(self, now: Instant) -> ca.SX:
        return self.fibers(now).velocity

    def _metabolic_rates(self, now: Instant) -> ca.SX:
        return self.metabolic_rate(now).total

    def _arms_at(self, muscles: Sequence[int], dof: int, now: Instant) -> ca.SX:
        return self.moment_arms(now)[list(muscles), dof]

    def tendon_forces(self, now: Instant) -> ca.SX:
        """Tendon forces, SX, shape (m,) [N]."""
        return self._tendon_forces(now, *self._at(now))

    def _tendon_forces(self, now: Instant, lengths: ca.SX, slopes: ca.SX) -> ca.SX:
        if self.tendons == "compliant":
            return self._numbers.force * now.tension
        return self._fibers(now, lengths, slopes).tendon_force

    def torques(self, now: Instant) -> dict[str, ca.SX]:
        """Torques of muscles, passive tissue and reserves together, by joint, SX, scalar [N m, N]."""
        lengths, slopes = self._at(now)
        total = -slopes.T @ self._tendon_forces(now, lengths, slopes)
        indices = {joint: k for k, joint in enumerate(self.model.joint_names)}
        for joint, torque in self.passive.items():
            k = indices[joint]
            total[k] += torque(now.q[self.model.position_names.index(joint)], now.qd[k])
        for joint, signal in zip(self.reserves, ca.vertsplit(now.reserve) if self.reserves else (), strict=True):
            total[indices[joint]] += self.reserves[joint] * signal
        return {joint: total[indices[joint]] for joint in self.driven}

    @cached_property
    def _wrenches(self) -> BodyWrenches:
        return body_wrenches(self.model, self.muscles, random_postures(self.model, _POSTURES))

    def pull_across(self, now: Instant, body: str) -> Reaction | None:
        """Pull of the muscles across the joint of a body, see `Part.pull_across`; None if none crosses it.

        Fitted lengths have no points: the pull is that of their `line`, see `LengthPolynomial`.
        """
        self._check_model(now)
        index = self.model.index(body)
        muscles = crossing(self._wrenches, carried_by(self.model, index))
        pointless = self._without_points(index)
        if not muscles and not pointless:
            return None
        if pointless:
            raise InputError(
                f"muscles {shortened(pointless, most=6)} cross the joint of {body!r}, and their lengths say nothing of "
                "the direction of their pull: make them by fit_lengths, or give the polynomial a line, as in "
                "replace(path, line=co.muscles.MusclePath(points))"
            )
        return joint_pull(now, index, self._wrenches, muscles, self.tendon_forces(now))

    def _without_points(self, index: int) -> list[str]:
        """Names of the muscles without points that the joint of a body stretches, or, if fixed, that of its parent."""
        model, (q, lengths, _) = self.model, self.length_graph
        while not range(model.n_q)[model.places[index]] and model.parents[index] >= 0:
            index = model.parents[index]
        stretched = ca.jacobian_sparsity(lengths, q[model.places[index]])
        rows = set(stretched.get_triplet()[0])
        pairs = enumerate(zip(self.names, self._wrenches.by_body, strict=True))
        return [name for k, (name, bodies) in pairs if not bodies and k in rows]

    def metabolic_rate(self, now: Instant, fibers: Fibers | None = None, sharpness: float = CORNERS) -> MetabolicRate:
        """Metabolic power of each muscle, see `MetabolicRate`; from the activation if there is no excitation.

        Add 1.2 W for each kilogram of the body for its metabolic rate at rest.

        Parameters
        ----------
        now : Instant
        fibers : Fibers, optional
            In place of those of the instant.
        sharpness : float [1/W]
            Of two corners: at the least heat of a muscle, and at a total of zero. The default, 10, as in OpenSim and
            PredSim, smooths within some 0.1 W, of hundreds for a leg, and Newton's method takes hundreds of iterations.
            With 1 rates are less by up to 0.14 W for each corner.
        """
        finite_number("sharpness", sharpness, positive=True)
        excitation = now.excitation if self.activation == "explicit" else now.activation
        return metabolic_rate(self._numbers, self.fibers(now) if fibers is None else fibers, excitation, sharpness)

    @cached_property
    def masses(self) -> np.ndarray:
        """Masses of the muscles, shape (m,) [kg]: optimal fibers with a cross-section from the specific tension."""
        return ca.evalf(muscle_masses(self._numbers)).full().ravel()

    def tendon_energy(self, now: Instant) -> ca.SX:
        """Energy of compliant tendons, SX, shape (m,) [J]."""
        numbers = self._numbers
        return numbers.force * numbers.slack * numbers.curve("tendon_energy", now.tension)

    def _activation_rate(self, now: Instant) -> ca.SX:
        rise, fall = self._numbers.column("activation_time"), self._numbers.column("deactivation_time")
        return activation_rate(now.excitation, now.activation, rise, fall, self.sharpness)

    def _activation_rows(self, now: Instant) -> ca.SX:
        rise, fall = self._numbers.column("activation_time"), self._numbers.column("deactivation_time")
        return activation_rows(now.activation_rate, now.activation, rise, fall)

    def _imbalance(self, now: Instant) -> ca.SX:
        return imbalance(self._numbers, self.fibers(now))


def _lengths(muscles: Sequence[Muscle], now: Instant) -> ca.SX:
    """Lengths of the paths at an instant, SX, shape (m,) [m]; InputError for a path that returns no scalar."""
    lengths = [ca.SX(muscle.path(now)) for muscle in muscles]
    for muscle, length in zip(muscles, lengths, strict=True):
        if length.shape != (1, 1):
            raise InputError(f"path of muscle {muscle.name!r} must give a scalar, got shape {length.shape}")
    return ca.vertcat(*lengths)


def _stated_rate(now: Instant) -> ca.SX:
    return now.activation_rate


def length_graph(model: Model, muscles: Sequence[Muscle]) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Positions as symbols, lengths of paths and their derivatives by displacements of the joints."""
    now = symbolic_instant(model)
    lengths = _lengths(muscles, now)
    if ca.depends_on(lengths, ca.vertcat(now.t, now.duration, now.qd, now.qdd, now.tau)):
        raise InputError("the lengths of muscles must depend on positions alone")
    slopes = ca.jacobian(lengths, now.q)
    if not model.has_plain_velocities:
        slopes = ca.sparsify(slopes @ model.per_displacement(now.q))
    return now.q, lengths, slopes


@spelt
def path_lengths(model: Model, muscles: Sequence[Muscle], q: ca.SX) -> ca.SX:
    """Lengths of the paths of muscles at a posture, SX, shape (m,) [m].

    Parameters
    ----------
    model : Model
    muscles : sequence of Muscle
    q : SX, shape (n_q,) [rad, m]

    See Also
    --------
    Muscles.lengths

    Examples
    --------
    >>> points = [co.muscles.ViaPoint("shoulder", (-0.3, 0.03, 0)), co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0))]
    >>> flexor = co.muscles.Muscle("flexor", co.muscles.MusclePath(points), 900.0, 0.15, 0.2)
    >>> ca.evalf(co.muscles.path_lengths(two_link(), [flexor], ca.SX([0.0, 1.5]))).full().round(3)  # m
    array([[0.284]])
    """
    instance("model", model, Model)
    now = replace(symbolic_instant(model), q=symbolic("q", q, (model.n_q, 1)))
    checked = [instance("muscles", muscle, Muscle) for muscle in as_tuple("muscles", muscles)]
    return _lengths(checked, now)
