"""An instant of the motion: the argument of the functions in a problem."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import casadi as ca

from colloc.dynamics.newtonian.recursion import Reactions, joint_reactions
from colloc.dynamics.newtonian.root_wrench import Wrench, root_wrench
from colloc.model import Load, Model
from colloc.model.distance import hull_distance
from colloc.model.kinematics import Frames, PointMotion, frame_in, frames, point_in
from colloc.model.shapes import SHAPES, Shape
from colloc.support.checks import InputError, finite_number, instance, text, unknown_name, warn
from colloc.support.lazy import cached_property
from colloc.support.named import Named


class Slots(NamedTuple):
    """The arguments of a function of the instant, each an SX column.

    Signals, states, constants and parameters are stacked in the order of the problem.
    """

    t: ca.SX
    duration: ca.SX
    q: ca.SX
    qd: ca.SX
    qdd: ca.SX
    jerk: ca.SX
    tau: ca.SX
    tau_rate: ca.SX
    signals: ca.SX
    signal_rates: ca.SX
    states: ca.SX
    state_rates: ca.SX
    constants: ca.SX
    parameters: ca.SX


class Reaction(NamedTuple):
    """Force and moment of a joint on a body, in the axes of its link frame, SX, each shape (3,) [N], [N m].

    The moment is about the origin of the joint on the parent. See `colloc.dynamics.joint_reactions`.

    Examples
    --------
    >>> weight = solution.evaluate(lambda now: now.reaction("elbow").force, 0.1)
    >>> weight.shape
    (3,)
    """

    force: ca.SX
    moment: ca.SX


# Slots that do not vary along the motion.
SHARED = ("duration", "constants", "parameters")

# Fields that quantities are made of, and no quantities.
_INSIDE = ("changes", "rates", "loads", "pull_across", "part_signals")

# Slots that a transcription fills only where something depends on them.
RATES = ("jerk", "tau_rate", "signal_rates")


@dataclass(frozen=True, eq=False)
class Instant(Named[ca.SX]):
    """The state of the mechanism at one time, in symbols.

    Unknowns and parameters of the problem are attributes, and so are signals of its parts, such as the lengths of
    cables.

    Parameters
    ----------
    model : Model
    t, duration : SX, scalar [s]
    q, qd, qdd : SX, shape (n,) [rad, m] and per s, per s2
    tau : SX, shape (n,) [N m, N]
    signals, states, constants, parameters : mapping of str to SX
    changes : mapping of str to SX
        Time derivatives of signals and states, if known.
    rates : (SX, SX), optional
        `jerk` and `tau_rate`, which are known along the motion of a problem.
    loads : sequence of Load, optional
        Loads on the links at this instant, if known.
    pull_across : callable, optional
        Instant and body -> Reaction or None: the pull of muscles across the joint of the body, see `joint_contact`.
    part_signals : mapping of str to callable
        Signals of parts as functions of the instant, Instant -> SX, shape (size,).

    Examples
    --------
    >>> float(solution.evaluate(lambda now: ca.norm_2(now.point("elbow").velocity), 0.2).round(2))
    3.26
    >>> power = co.integral(lambda now: ca.dot(now.tau, now.qd))
    """

    _noun = "quantity of an instant"

    model: Model
    t: ca.SX
    duration: ca.SX
    q: ca.SX
    qd: ca.SX
    qdd: ca.SX
    tau: ca.SX
    signals: Mapping[str, ca.SX] = field(default_factory=dict)
    states: Mapping[str, ca.SX] = field(default_factory=dict)
    constants: Mapping[str, ca.SX] = field(default_factory=dict)
    parameters: Mapping[str, ca.SX] = field(default_factory=dict)
    changes: Mapping[str, ca.SX] = field(default_factory=dict)
    rates: tuple[ca.SX, ca.SX] | None = None
    loads: Sequence[Load] | None = None
    pull_across: Callable[[Instant, str], Reaction | None] | None = None
    part_signals: Mapping[str, Callable[[Instant], ca.SX]] = field(default_factory=dict)

    @property
    def jerk(self) -> ca.SX:
        """Third derivatives of the joint coordinates, shape (n,) [rad/s3, m/s3]."""
        return self._third("jerk")

    @property
    def tau_rate(self) -> ca.SX:
        """Time derivatives of the actuator torques along the motion, shape (n,) [N m/s, N/s]."""
        return self._third("tau_rate")

    def rate(self, name: str) -> ca.SX:
        """Time derivative of a state or an unknown signal, SX, shape (size,) [1/s].

            co.integral(lambda now: ca.sumsqr(now.rate("thrust")))

        Rates of signals need a curve on which signals are continuous, such as BSpline(20, degree=5).
        """
        if text("name of a state or signal", name) not in self.changes:
            raise unknown_name("state or signal of a problem", name, list(self.changes))
        return self.changes[name]

    def _third(self, name: str) -> ca.SX:
        if self.rates is None:
            raise InputError(f"{name} is known along the motion of a problem only, not in an evaluator or in control")
        return self.rates[RATES.index(name)]

    def _named(self) -> dict[str, Any]:
        return {**self.part_signals, **self.signals, **self.states, **self.constants, **self.parameters}

    def _value(self, name: str) -> ca.SX:
        if self._named()[name] is not self.part_signals.get(name):
            return super()._value(name)
        if name not in self._of_parts:
            self._of_parts[name] = self.part_signals[name](self)
        return self._of_parts[name]

    @cached_property
    def _of_parts(self) -> dict[str, ca.SX]:
        """Signals of parts that were read, by name."""
        return {}

    def _legal(self) -> list[str]:
        return [*self._named(), *(name for name in RESERVED if name not in _INSIDE)]

    @cached_property
    def _frames(self) -> Frames:
        return frames(self.model, self.q, self.qd, self.qdd)

    def point(self, body: str, point: Any = (0, 0, 0)) -> PointMotion:
        """Position, velocity and acceleration in the world frame of a point fixed in a link.

        Parameters
        ----------
        body : str
            Or the name of a marker, which has the axes of its link; also in `frame`, `rotation`, `angular_velocity`.
        point : shape (3,) [m]
            In the link frame; its origin by default.
        """
        return point_in(self._frames, *self.model.in_link(body, point))

    def frame(self, body: str) -> ca.SX:
        """Homogeneous transform from a link's frame to the world, SX, shape (4, 4) [1, m].

        co.path(lambda now: now.frame("elbow")[1, 1], lower=0.9)          # its y axis stays upright
        """
        return frame_in(self._frames.position, self.model, body)

    def rotation(self, body: str) -> ca.SX:
        """Rotation from a link's frame to the world, SX, shape (3, 3): its columns are the link's axes.

        co.Load("elbow", force=lambda now: now.rotation("elbow") @ ca.vertcat(0, -5.0, 0))          # N, along its y
        """
        return self.frame(body)[:3, :3]

    def angular_velocity(self, body: str) -> ca.SX:
        """Angular velocity of a link in the world frame, SX, shape (3,) [rad/s].

        co.at(1.0, lambda now: now.angular_velocity("elbow"), equals=0.0, unit="rad/s")
        """
        index, _ = self.model.in_link(body)
        spin = self._frames.velocity[index][:3, :3] @ self._frames.position[index][:3, :3].T
        return ca.densify(ca.vertcat(spin[2, 1], spin[0, 2], spin[1, 0]))

    def distance(self, a: Shape, b: Shape, smoothing: float = 2e-3) -> ca.SX:
        """Distance between the surfaces of two shapes, SX, scalar [m].

        Negative where they overlap: between capsules until their axes meet, between other shapes the shortest motion
        apart in directions near that of their centres. See `colloc.model.distance`.

        Parameters
        ----------
        a, b : Capsule, Box or ConvexHull
        smoothing : float [m]
            Largest underestimation unless both shapes are capsules, which makes the distance smooth.
        """
        instance("a", a, Shape, SHAPES)
        instance("b", b, Shape, SHAPES)
        width = finite_number("smoothing", smoothing, positive=True)
        a_core, b_core = (s.core if s.body is None else s.core.placed(self.frame(s.body)) for s in (a, b))
        return hull_distance(a_core, b_core, width) - a.rounding - b.rounding

    def marker(self, name: str) -> PointMotion:
        """Position, velocity and acceleration in the world frame of a marker of the model.

        co.path(lambda now: now.marker("toe").position[1], lower=0.0)          # m
        """
        if text("name of a marker", name) not in self.model.markers:
            raise unknown_name(f"marker of {self.model.name!r}", name, self.model.markers)
        return self.point(*self.model.markers[name])

    def reaction(self, body: str) -> Reaction:
        """Net force and moment that the parent exerts on a body, including the effect of loads.

        This is the force in the joint only if no muscles cross it: see `joint_contact`.

        co.path(lambda now: ca.norm_2(now.reaction("elbow").force), upper=15.0)          # N

        Warns
        -----
        InputWarning
            If muscles cross the joint.
        """
        if self.pull_on(body) is not None:
            warn(
                f"the reaction of {body!r} is the net force, not that in the joint, because muscles pull across it: "
                f"now.joint_contact({body!r}) leaves out their pull, now.joint_reactions has the net force"
            )
        return self._net_reaction(body)

    def joint_contact(self, body: str) -> Reaction:
        """Force and moment that the joint itself exerts on a body: the reaction less the pull of crossing muscles.

        It is what cartilage, ligaments and reserves carry, about the origin of the joint on the parent, in the axes of
        the body's link frame. `now.rotation(body)` turns it into the world.

        co.path(lambda now: ca.norm_2(now.joint_contact("elbow").force), upper=3400.0)          # N

        Raises
        ------
        InputError
            For a muscle that crosses the joint whose path has no points, such as a polynomial without a `line`.
        """
        net, pulled = self._net_reaction(body), self.pull_on(body)
        return net if pulled is None else Reaction(net.force - pulled.force, net.moment - pulled.moment)

    def _net_reaction(self, body: str) -> Reaction:
        index = self.model.index(body)
        return Reaction(self.joint_reactions.force[:, index], self.joint_reactions.moment[:, index])

    def pull_on(self, body: str) -> Reaction | None:
        """Pull of muscles on a body and all that it carries, across its joint; None if none crosses the joint."""
        self.model.index(body)
        return None if self.pull_across is None else self.pull_across(self, body)

    @cached_property
    def joint_reactions(self) -> Reactions:
        """Reactions of all joints, including the effect of loads; see `colloc.dynamics.joint_reactions`.

        solution.evaluate(lambda now: now.joint_reactions.force)                     # N, a column for each body
        """
        if self.loads is None:
            raise InputError("joint reactions are known along the motion of a problem only, and not to its loads")
        return joint_reactions(self.model, self.q, self.qd, self.qdd, self.loads)

    @cached_property
    def support(self) -> Wrench:
        """The wrench that must act on the mechanism without loads, about the world's origin; see `root_wrench`."""
        return root_wrench(self.model, self.q, self.qd, self.qdd)

    @cached_property
    def slots(self) -> Slots:
        """All values, as the arguments of a function of the instant."""
        groups = self.signals, self._changes(self.signals), self.states, self._changes(self.states)
        stacked = [ca.vertcat(ca.SX(0, 1), *group.values()) for group in (*groups, self.constants, self.parameters)]
        jerk, tau_rate = self.rates or (ca.SX(0, 1), ca.SX(0, 1))
        return Slots(self.t, self.duration, self.q, self.qd, self.qdd, jerk, self.tau, tau_rate, *stacked)

    def _changes(self, group: Mapping[str, ca.SX]) -> dict[str, ca.SX]:
        return {name: self.changes[name] for name in group if name in self.changes}


@dataclass(frozen=True, eq=False)
class Displaced(Instant):
    """An instant at which every link may be displaced a little by itself, as if no joint held it.

    Parameters
    ----------
    displacements : SX, shape (6, n_bodies)
        Of every link, a small translation [m] of its origin and a small rotation [rad], in the axes of the link.
    """

    displacements: ca.SX = field(default_factory=ca.SX)

    @cached_property
    def _frames(self) -> Frames:
        whole = frames(self.model, self.q, self.qd, self.qdd)
        moved = []
        for k, frame in enumerate(whole.position):
            shift, turn = self.displacements[:3, k], self.displacements[3:, k]
            moved.append(frame @ ca.vertcat(ca.horzcat(ca.SX.eye(3) + ca.skew(turn), shift), ca.SX([[0, 0, 0, 1]])))
        return whole._replace(position=moved)


# Attributes of an instant, whose names unknowns and parameters cannot have.
RESERVED = tuple(dict.fromkeys([*(f.name for f in fields(Instant)), *(n for n in vars(Instant) if n[0] != "_")]))


def depends_on_rates(function: ca.Function) -> bool:
    """Whether a function of the slots of one instant, or of two, depends on jerk or rates."""
    inputs = function.sx_in()
    rates = [symbol for name, symbol in zip(Slots._fields * 2, inputs, strict=False) if name in RATES]
    return ca.depends_on(function.call(inputs)[0], ca.vertcat(*rates))
