"""Parts: drives, springs, loops and loads of a mechanism, with all that they add to a problem.

A muscle consists of unknown signals, states, bounds on how fast it activates, and a torque; a cut loop of forces, loads
on two bodies and equations that keep it closed. A part holds these together:
`Problem(model, duration, cost, statements, parts=[muscles, loops, ground])`.

Where parts drive joints, the torque of inverse dynamics equals the sum of their torques at every joint that they drive,
and zero at all others: a joint that no part drives is passive. Ideal motors are a part as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import casadi as ca
import numpy as np

from colloc.dynamics import mass_matrix
from colloc.dynamics.instant import Instant, Reaction
from colloc.model import Load, Model, Shape
from colloc.problem.conditions import Condition
from colloc.problem.signal import Signal
from colloc.problem.statement import Statement
from colloc.problem.time_sets import WHOLE
from colloc.problem.unknowns import Parameter, State, Unknown
from colloc.problem.user_functions import error_context
from colloc.support.checks import InputError, as_tuple, instance, quoted, unknown_name
from colloc.support.pickling import Portable

_BRISK = 10.0  # rad/s2 or m/s2: what accelerates a joint by this is the natural size of its torque


@dataclass(frozen=True)
class Contribution:
    """All that a part adds to a problem, except for its torques.

    Parameters
    ----------
    unknowns : sequence of Unknown and State
        The same objects at every call.
    parameters : sequence of Parameter
    loads : sequence of Load
        On bodies; torques at joints are `Part.torques`.
    statements : sequence of statements
        Such as `path` and `at`.
    passive : sequence of str
        Joints without a torque unless a part drives them.
    moved : sequence of str
        Bodies that the loads move: all joints between the world and them are passive, unless a part drives them.
    sizes : mapping of str to float [N m, N]
        Natural sizes of torques, by joint; by default the torque that accelerates the joint by 10 rad/s2 or m/s2.
    shapes : sequence of Shape
        For pictures.
    signals : sequence of Signal
        Functions of the instant that are listed, drawn and saved like other signals, such as fiber lengths.

    Examples
    --------
    >>> lag = co.State("lag", rate=lambda now: (now.command - now.lag) / 0.02)
    >>> co.problem.Contribution(unknowns=[lag, co.Unknown("command")]).loads
    ()
    """

    unknowns: Sequence[Unknown | State] = ()
    parameters: Sequence[Parameter] = ()
    loads: Sequence[Load] = ()
    statements: Sequence[Statement] = ()
    passive: Sequence[str] = ()
    moved: Sequence[str] = ()
    sizes: Mapping[str, float] = field(default_factory=dict)
    shapes: Sequence[Shape] = ()
    signals: Sequence[Signal] = ()


class Part(Portable):
    """A drive, spring, loop or load of a mechanism, such as muscles, motors, or the ground.

    A class of your own overrides `contribution`, `torques` or both.

    Attributes
    ----------
    name : str
        Used in reports, as in "muscle torque at joint elbow".
    loops : tuple of str
        Names of the loops that it keeps closed.

    See Also
    --------
    Spring, Motors, Thrusters, Cables, Wheels, Grip, colloc.muscles.Muscles, colloc.loops.CutJoints, GroundContact

    Examples
    --------
    >>> class Brake(co.problem.Part):
    ...     name = "brake"
    ...
    ...     def __init__(self, joint):
    ...         self.joint = joint
    ...         self.strength = co.Unknown("strength", lower=0.0, upper=5.0, constant=True)  # N m s/rad
    ...
    ...     def contribution(self):
    ...         return co.problem.Contribution(unknowns=[self.strength])
    ...
    ...     def torques(self, now):
    ...         return {self.joint: -now.strength * now.qd[now.model.joint_names.index(self.joint)]}
    >>> parts = [Brake("elbow"), co.Motors(["shoulder", "elbow"])]
    >>> braked = co.Problem(two_link(), 1.0, problem.minimize, problem.subject_to[:2], parts=parts)
    """

    name: str = "part"

    @property
    def loops(self) -> tuple[str, ...]:
        return ()

    def contribution(self) -> Contribution:
        """Additions to a problem; none by default."""
        return Contribution()

    def torques(self, now: Instant) -> Mapping[str, ca.SX]:
        """Torques at an instant, by the joints that the part drives, SX, scalar [N m, N]."""
        return {}

    def pull_across(self, now: Instant, body: str) -> Reaction | None:
        """Force and moment that the part exerts across the joint of a body, and not through it; None by default.

        It acts on the body and all that it carries, about the origin of the joint on the parent, in the axes of the
        body. `Instant.joint_contact` is the reaction without it. Loads on bodies are no part of either.
        """
        return None

    def way(self, prescribed: np.ndarray) -> np.ndarray | None:
        """Postures of a motion between prescribed ends, shape (N, n_q), in place of a straight line as a guess.

        Parameters
        ----------
        prescribed : ndarray, shape (2, n_q) [rad, m]
            NaN for coordinates that are not prescribed.
        """
        return None

    def implied(self, prescribed: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prescribed positions, shape (2, n_q), and velocities, shape (2, n), at the ends that follow from others.

        Parameters
        ----------
        prescribed : ndarray, shape (2, n_q) [rad, m]
            NaN for coordinates that are not prescribed.
        still : ndarray of bool, shape (2, n)
            Joints whose prescribed velocity is zero.
        """
        return np.zeros(prescribed.shape, dtype=bool), np.zeros(still.shape, dtype=bool)

    def doubts(self, q: np.ndarray, where: str) -> Sequence[str]:
        """Sentences about what the part cannot do at any of some postures of a guess; none by default.

        They are warnings before a solve, and stand in the message of one that fails.

        Parameters
        ----------
        q : ndarray, shape (N, n_q) [rad, m]
        where : str
            Place of the postures, for the sentences, such as "at the start of the guess".
        """
        return ()

    def on_one_branch(self, q: np.ndarray, other: np.ndarray) -> bool:
        """Whether two postures, each shape (n_q,), belong to one branch of a closed chain; True by default."""
        return True

    def constraint_equations(self, now: Instant) -> Mapping[str, ca.SX]:
        """Equations that determine unknown forces together with the accelerations, by the signal of these forces.

        They are zero along the motion, and affine in the instant's qdd. A simulation solves them for the forces, one
        for each component of the signal, in place of the values that a solution has at that time. None by default.
        """
        return {}


class StatedParts(Part):
    """Signals and pulls of parts, whose unknowns, loads, statements and torques are those of the problem.

    Parameters
    ----------
    parts : sequence of Part
    """

    name = "stated parts"

    def __init__(self, parts: Sequence[Part]):
        self.parts = tuple(parts)

    def contribution(self) -> Contribution:
        """The signals of all parts."""
        return Contribution(signals=joint_contribution(self.parts).signals)

    def pull_across(self, now: Instant, body: str) -> Reaction | None:
        return pull_of(self.parts, now, body)

    def constraint_equations(self, now: Instant) -> Mapping[str, ca.SX]:
        return {name: rows for part in self.parts for name, rows in part.constraint_equations(now).items()}

    def on_one_branch(self, q: np.ndarray, other: np.ndarray) -> bool:
        return all(part.on_one_branch(q, other) for part in self.parts)


def joint_contribution(parts: Sequence[Part]) -> Contribution:
    """The sum of the parts' contributions; objects that several of them share appear once."""
    each = [instance(f"contribution of {quoted(part)}", part.contribution(), Contribution) for part in parts]

    def once(name: str) -> tuple:
        items = [item for added in each for item in as_tuple(name, getattr(added, name))]
        return tuple({id(item): item for item in items}.values())

    return Contribution(
        **{name: once(name) for name in ("unknowns", "parameters", "loads", "statements", "shapes", "signals")},
        passive=tuple(dict.fromkeys(joint for added in each for joint in added.passive)),
        moved=tuple(dict.fromkeys(body for added in each for body in added.moved)),
        sizes={
            joint: max(added.sizes.get(joint, 0.0) for added in each)
            for joint in dict.fromkeys(joint for added in each for joint in added.sizes)
        },
    )


def pull_of(parts: Sequence[Part], now: Instant, body: str) -> Reaction | None:
    """Sum of the pulls of all parts across the joint of a body; None if none of them crosses it."""
    each = [pulled for part in parts if (pulled := part.pull_across(now, body)) is not None]
    if not each:
        return None
    zero = ca.SX(3, 1)
    return Reaction(sum((pulled.force for pulled in each), zero), sum((pulled.moment for pulled in each), zero))


Drivers = dict[str, list[tuple[str, ca.SX]]]  # by joint, names of the parts that drive it and what they exert


def drivers(parts: Sequence[Part], now: Instant) -> Drivers:
    """By joint that parts drive, in the order of the model: names of these parts and the sum of their torques.

    InputError for a joint that the model does not have, and a torque that is no scalar.
    """
    names = now.model.joint_names
    exerted: Drivers = {}
    for part in parts:
        with error_context(f"torques of the {part.name}", names):
            torques = dict(part.torques(now))
        for joint, torque in torques.items():
            if joint not in names:
                raise unknown_name(f"joint that moves (driven by the {part.name})", joint, names)
            if ca.SX(torque).shape != (1, 1):
                raise InputError(
                    f"{part.name} torque at joint {joint!r} must be a scalar, got shape {ca.SX(torque).shape}"
                )
            exerted.setdefault(joint, []).append((part.name, ca.SX(torque)))
    return {joint: exerted[joint] for joint in names if joint in exerted}


def torque_balance(parts: Sequence[Part], sizes: Mapping[str, float], now: Instant, driven: Drivers) -> Condition:
    """Equality of the torque of inverse dynamics and of parts, one row for each joint that parts drive.

    Parameters
    ----------
    parts : sequence of Part
    sizes : mapping of str to float [N m, N]
        Natural sizes that parts contribute.
    now : Instant
    driven : Drivers
        Of this instant.
    """
    model = now.model
    natural = dict(zip(model.joint_names, _brisk_torques(model), strict=True)) | dict(sizes)
    units = dict(zip(model.joint_names, model.torque_units, strict=True))
    names = [" and ".join(dict.fromkeys(name for name, _ in torques)) for torques in driven.values()]
    labels = tuple(f"{by} torque at joint {joint}" for by, joint in zip(names, driven, strict=True))
    scale = [natural[joint] for joint in driven]
    torques = partial(_excess, parts=tuple(parts), known=(now, driven))
    return Condition("torques", torques, 0.0, 0.0, WHOLE, scale, [units[joint] for joint in driven], labels)


def _excess(now: Instant, parts: Sequence[Part], known: tuple[Instant, Drivers]) -> ca.SX:
    """Torques of inverse dynamics less those of parts, SX, one for each joint that they drive."""
    instant, driven = known
    exerted = driven if now is instant else drivers(parts, now)
    names = now.model.joint_names
    return ca.vertcat(*(now.tau[names.index(joint)] - sum(tau for _, tau in exerted[joint]) for joint in driven))


def _brisk_torques(model: Model) -> np.ndarray:
    """Torques that accelerate each joint by 10 rad/s2 or m/s2 in the neutral posture, shape (n,); 1 if symbolic."""
    inertia = ca.densify(ca.diag(mass_matrix(model, ca.SX(model.neutral))))
    sizes = np.ones(model.n) if ca.symvar(inertia) else _BRISK * ca.evalf(inertia).full().ravel()
    return np.where(np.isfinite(sizes) & (sizes > 0), sizes, 1.0)
