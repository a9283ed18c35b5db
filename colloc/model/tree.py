"""The model: a tree of bodies in a gravity field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.ball import (
    BallScrew,
    ball_velocities,
    check_balls,
    gain_of_screws,
    quaternion_rate,
    turn_between,
    turned_quaternion,
)
from colloc.model.body import Body, Load
from colloc.model.coupling import CoupledMotion, Coupling
from colloc.model.joint import Joint, JointMotion, Limits
from colloc.model.kinds import fixed
from colloc.model.table import bodies_table
from colloc.support.checks import (
    InputError,
    as_tuple,
    choice,
    finite_array,
    instance,
    pair,
    quoted,
    spelt,
    symbolic,
    symbols,
    text,
    unknown_name,
    vector,
    warn,
)
from colloc.support.display import Table, Tabular, short
from colloc.support.lazy import cached_property
from colloc.support.pickling import Portable

QUANTITIES = ("q", "qd", "qdd", "jerk", "tau", "tau_rate")  # what a joint's limits, ends and bounds are of
_HEAVY = 100.0  # m/s2, of the gravity on no planet
_POINT = 1e-5  # m: a smaller radius of gyration is that of a point, but for rounding
_FAR, _FAR_IN_GYRATIONS = 5.0, 30.0  # m and radii of gyration, from the frame to the centre of mass
_DENSEST = 1e7  # kg/m3, the mass over the cube of its radius of gyration: 8e4 of a ball of steel
_LONG = 50.0  # m, which few machines measure
_NO_LENGTH = 1e-9  # of a quaternion
_SAME = 1e-9  # of products of quaternions: closer to -1 it is a whole turn, closer to 0 half a turn
_BENDS = 4  # derivatives of what joints follow, as second derivatives of torques need them


@spelt
@dataclass(frozen=True, eq=False, repr=False)
class Model(Tabular, Portable):
    """An open tree of rigid bodies.

    Parameters
    ----------
    bodies : sequence of Body
        Parents before their children. Every joint that moves adds one degree of freedom, in this order.
    gravity : shape (3,) [m/s2]
        Gravity acceleration in the world frame.
    name : str
    markers : mapping of str to (str, shape (3,) [m])
        Points fixed in bodies, by name: body and place in its link frame. Instants give their motion by
        `now.marker("wrist")`. They are frames with the axes of their bodies; a frame with axes of its own is a body
        without mass on a joint that is `fixed`.
    couplings : mapping of str to Coupling
        By the name of the joint that follows, which has no coordinate and no actuator. Its limits of position, velocity
        and acceleration are added to those of the leading joint; with a curve it has none.

    Raises
    ------
    InputError
        For repeated names of bodies or of joints, a missing parent, a cycle, bodies out of tree order, a marker on an
        unknown body, or a coupling of joints that do not move or follow each other, or by a curve of a joint with
        limits.

    Examples
    --------
    >>> cart = co.Body("cart", co.prismatic(axis=(1, 0, 0)), mass=1.0)
    >>> pole = co.Body("pole", co.revolute(), parent="cart", mass=0.3, com=(0, -0.5, 0))
    >>> model = co.Model([cart, pole], gravity=(0, -9.81, 0), markers={"tip": ("pole", (0, -0.5, 0))})
    >>> model.n, model.joint_names
    (2, ('cart', 'pole'))
    """

    bodies: Sequence[Body]
    gravity: Any = (0.0, -9.81, 0.0)
    name: str = "model"
    markers: Mapping[str, Any] = field(default_factory=dict)
    couplings: Mapping[str, Coupling] = field(default_factory=dict)

    def __post_init__(self):
        bodies = as_tuple("bodies", self.bodies)
        if not bodies:
            raise InputError("a model needs at least one body")
        for body in bodies:
            if not isinstance(body, Body):
                raise InputError(f"bodies must be Body objects, got {quoted(body)}")
        text("name of a model", self.name)
        _check_tree(bodies)
        check_balls(bodies)
        object.__setattr__(self, "bodies", bodies)
        gravity = vector("gravity", self.gravity, 3) + 0.0  # no -0
        gravity.flags.writeable = False
        object.__setattr__(self, "gravity", gravity)
        names = [body.joint_name for body in bodies if body.joint.moves]
        if not names:
            raise InputError(f"model {self.name!r} has no joint that moves")
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two joints are named {name!r}; names must be unique")
        object.__setattr__(self, "couplings", MappingProxyType(_checked_couplings(bodies, self.couplings)))
        instance("markers", self.markers, Mapping, "of name to (body, point)")
        markers = {name: self._marker(name, place) for name, place in self.markers.items()}
        object.__setattr__(self, "markers", MappingProxyType(markers))
        for quantity in ("position", "velocity", "acceleration") if self.couplings else ():
            names = self.names("q" if quantity == "position" else "qd")
            for name, lower, upper in zip(names, *self.limits(quantity), strict=True):
                if lower > upper:
                    raise InputError(f"limits of {quantity} of joint {name!r} exclude those of joints that follow it")
        _warn_unlikely(self)

    def _marker(self, name: Any, place: Any) -> tuple[str, ca.SX]:
        text("name of a marker", name)
        body, point = pair(f"marker {name!r}", place, "(body, point)")
        if text(f"body of marker {name!r}", body) not in (names := [b.name for b in self.bodies]):
            raise unknown_name(f"body of marker {name!r}", body, names)
        return body, symbols(f"point of marker {name!r}", point, (3,))

    @classmethod
    def empty(cls) -> Model:
        """A model without bodies, for a problem of states alone; `Problem` takes None for it."""
        return _NoMechanism((), np.zeros(3), "no mechanism", {})

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """Index of the parent of every body; -1 is the world."""
        index = {body.name: k for k, body in enumerate(self.bodies)}
        return tuple(-1 if body.parent is None else index[body.parent] for body in self.bodies)

    @cached_property
    def leaders(self) -> tuple[int, ...]:
        """For every body the one whose joint has its coordinate: itself, unless its joint follows another's."""
        index = {body.joint_name: k for k, body in enumerate(self.bodies) if body.joint.moves}
        joints = [(body.joint_name, body.joint.moves) for body in self.bodies]
        return tuple(
            index[self.couplings[name].joint] if moves and name in self.couplings else k
            for k, (name, moves) in enumerate(joints)
        )

    @cached_property
    def dofs(self) -> tuple[int | None, ...]:
        """Index of the coordinate that every body's joint has or follows; None for a fixed joint."""
        order = {k: dof for dof, k in enumerate(self.moving)}
        return tuple(order.get(leader) for leader in self.leaders)

    @cached_property
    def moving(self) -> tuple[int, ...]:
        """Index of the body whose joint has coordinate 0, 1, ...; the inverse of `dofs`."""
        return tuple(k for k, body in enumerate(self.bodies) if body.joint.moves and self.leaders[k] == k)

    @cached_property
    def tree(self) -> Model:
        """The same bodies without couplings: all moving joints have a coordinate."""
        return replace(self, couplings={}) if self.couplings else self

    @cached_property
    def curved(self) -> bool:
        """Whether any joint follows another by a curve, so that ratios of rates vary."""
        return any(coupling.curve is not None for coupling in self.couplings.values())

    def coupled_motion(self, q: ca.SX, qd: ca.SX | None = None, qdd: ca.SX | None = None) -> CoupledMotion:
        """Motion of all joints of `tree` with the coordinates, at q, SX, shape (n_q,), and qd, qdd, SX, shape (n,).

        Rates left out are zero.
        """
        _check_column("coupled_motion", q, self.n_q)
        for rate in (qd, qdd):
            if rate is not None:
                _check_column("coupled_motion", rate, self.n)
        rest = ca.SX(self.n, 1)
        joints = [self._position(k, q, _BENDS) for k, body in enumerate(self.bodies) if body.joint.moves]
        positions, *slopes = zip(*joints, strict=True)
        places = [dof for dof in self.dofs if dof is not None]
        rows, size = list(range(len(places))), (len(places), self.n)
        bends = [ca.sparsify(ca.SX.triplet(rows, places, ca.densify(ca.vertcat(*column)), *size)) for column in slopes]
        return CoupledMotion(ca.vertcat(*positions), bends, rest if qd is None else qd, rest if qdd is None else qdd)

    def _position(self, k: int, q: ca.SX, count: int = 0) -> list[ca.SX]:
        """Positions of a body's joint, SX, shape (positions,), and derivatives of a single position by its leader."""
        position = q[self.places[k]]
        coupling = Coupling(self.bodies[k].joint_name)  # to itself
        if self.leaders[k] != k:
            coupling = self.couplings[self.bodies[k].joint_name]
        return coupling.derivatives(position, count)

    def walk(self, *vectors: ca.SX) -> list[tuple[int, Body, int, *tuple[ca.SX, ...]]]:
        """The bodies from the base to the tips, each with the entry of its joint in some vectors of the joints' motion.

            for k, body, parent, qd_k in model.walk(qd): ...
            for k, body, parent, tau_k in reversed(model.walk(tau)): ...

        Parameters
        ----------
        *vectors : SX, shape (tree.n,)

        Returns
        -------
        list of (k, body, parent, entry, ...)
            Index of the body, the body, index of its parent (-1 is the world), and one SX scalar per vector: a
            structural zero where the joint is fixed, so that the terms it enters vanish.
        """
        zero, tree = ca.SX(1, 1), self.tree
        for column in vectors:
            _check_column("walk", column, tree.n)
        rows = zip(self.bodies, self.parents, tree.dofs, strict=True)
        return [
            (k, body, parent, *(zero if dof is None else column[dof] for column in vectors))
            for k, (body, parent, dof) in enumerate(rows)
        ]

    def joint_motions(
        self, q: ca.SX, qd: ca.SX | None = None, qdd: ca.SX | None = None
    ) -> list[tuple[int, Body, int, JointMotion]]:
        """The bodies from the base to the tips, each with the motion of its joint, for recursions.

            for k, body, parent, (position, rate, change) in model.joint_motions(q, qd, qdd): ...

        Parameters
        ----------
        q : SX, shape (n_q,) [rad, m]
        qd, qdd : SX, shape (n,), optional [rad/s, m/s] and per s
            Zero by default.

        Returns
        -------
        list of (k, body, parent, JointMotion)
            Index of the body, the body, index of its parent (-1 is the world), and the motion of its joint.
        """
        _check_column("joint_motions", q, self.n_q)
        if self.couplings:
            motion = self.coupled_motion(q, qd, qdd)
            return self.tree.joint_motions(motion.positions, motion.rates, motion.accelerations)
        rest = ca.SX(self.n, 1)
        qd, qdd = rest if qd is None else qd, rest if qdd is None else qdd
        steps = self.walk(qd, self.screw_accelerations(qd, qdd))
        return [
            (k, body, parent, JointMotion(q[self.places[k]], rate, change)) for k, body, parent, rate, change in steps
        ]

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Entries of q for the positions of every body's joint, or of its leader."""
        joints = zip(self.bodies, self.leaders, strict=True)
        sizes = [body.joint.positions if leader == k else 0 for k, (body, leader) in enumerate(joints)]
        slices = [slice(start, end) for start, end in pairwise(np.cumsum([0, *sizes]).tolist())]
        return tuple(slices[leader] for leader in self.leaders)

    @cached_property
    def n_q(self) -> int:
        """Number of positions, the entries of q: `n` unless there are ball joints on quaternions."""
        return sum(joint.positions for joint in self.joints)

    @cached_property
    def balls(self) -> Mapping[str, tuple[slice, slice]]:
        """Entries of q for every ball joint's quaternion, and of qd for its angular velocity, by the joint's name."""
        order = {k: dof for dof, k in enumerate(self.moving)}
        firsts = [(k, self.bodies[k].joint) for k in self.moving]
        return {
            joint.ball: (self.places[k], slice(order[k], order[k] + 3))
            for k, joint in firsts
            if isinstance(joint, BallScrew) and joint.positions
        }

    def _by_joint(self, positions: Sequence[ca.SX], rates: Sequence[ca.SX]) -> Iterator[tuple[bool, list[ca.SX]]]:
        """Parts of vectors of positions, then of rates: for every ball joint (True), and for every other coordinate."""
        of_balls = {places.start: (places, dofs) for places, dofs in self.balls.values()}
        q, qd = 0, 0
        while q < self.n_q:
            ball = q in of_balls
            places, dofs = of_balls.get(q, (slice(q, q + 1), slice(qd, qd + 1)))
            yield ball, [*(x[places] for x in positions), *(x[dofs] for x in rates)]
            q, qd = places.stop, dofs.stop

    def velocities(self, q: ca.SX, *rates: ca.SX) -> tuple[ca.SX, ...]:
        """Velocities of the joints, their time derivatives and so on, from time derivatives of their positions.

        For a joint of one degree of freedom they are dq/dt, d2q/dt2 and so on; for a ball joint on a quaternion the
        angular velocity in the axes of the link, and the time derivatives of its components.

        Parameters
        ----------
        q : SX, shape (n_q,) [rad, m]
        *rates : SX, shape (n_q,)
            First, second, ... time derivatives of q.

        Returns
        -------
        tuple of SX, each shape (n,)
            One for each of `rates`.
        """
        for column in (q, *rates):
            _check_column("velocities", column, self.n_q)
        if self.has_plain_velocities:
            return rates
        columns = [ball_velocities(part) if ball else part[1:] for ball, part in self._by_joint((q, *rates), ())]
        return tuple(ca.vertcat(*column) for column in zip(*columns, strict=True))

    @property
    def has_plain_velocities(self) -> bool:
        """Whether velocities are the time derivatives of positions, entry by entry."""
        return self.n_q == self.n

    def position_rates(self, q: ca.SX, qd: ca.SX) -> ca.SX:
        """Time derivatives of the positions, SX, shape (n_q,), from the joints' velocities: inverse of `velocities`."""
        _check_column("position_rates", q, self.n_q)
        _check_column("position_rates", qd, self.n)
        if self.has_plain_velocities:
            return qd
        parts = self._by_joint([q], [qd])
        return ca.vertcat(*(quaternion_rate(p, rate) if ball else rate for ball, (p, rate) in parts))

    def per_displacement(self, q: ca.SX) -> ca.SX:
        """Derivative of the positions by displacements of the joints, SX, shape (n_q, n), sparse.

        A ball joint is displaced by small turns about the axes of its link, all others by their coordinates.
        """
        rates = ca.SX.sym("rates", self.n)
        return ca.jacobian(self.position_rates(q, rates), rates)

    def displacement_rates(self, qd: ca.SX) -> ca.SX:
        """Rates of displacements of a motion per displacement, SX, shape (n, n), sparse.

        To first order x' = v + A x, with displacements x, changes v of velocities and this A: it is -omega x for a ball
        joint, as a small turn is constant in the world's axes, and zero for others.
        """
        _check_column("displacement_rates", qd, self.n)
        rates = ca.SX(self.n, self.n)
        for _, dofs in self.balls.values():
            rates[dofs, dofs] = -ca.skew(qd[dofs])
        return rates

    @cached_property
    def neutral(self) -> np.ndarray:
        """Positions of joints at their placements, ndarray, shape (n_q,)."""
        return np.concatenate([np.zeros(0), *(joint.neutral for joint in self.joints)])

    def of_unit_length(self, q: np.ndarray) -> np.ndarray:
        """Positions with normalised quaternions, ndarray, shape (..., n_q); one of length zero becomes no turn."""
        positions = finite_array("q", q)
        if positions.shape[-1:] != (self.n_q,):
            raise InputError(f"q must have shape (..., {self.n_q}), got shape {positions.shape}")
        for places, _ in self.balls.values():
            length = np.linalg.norm(positions[..., places], axis=-1, keepdims=True)
            none = length < _NO_LENGTH
            scaled = positions[..., places] / np.where(none, 1.0, length)
            positions[..., places] = np.where(none, self.neutral[places], scaled)
        return positions

    def normalised(self, q: ca.SX) -> ca.SX:
        """Positions with normalised quaternions, SX, shape (n_q,), as `of_unit_length` for symbols; same attitudes."""
        _check_column("normalised", q, self.n_q)
        if self.has_plain_velocities:
            return q
        return ca.vertcat(*(p / ca.norm_2(p) if ball else p for ball, (p,) in self._by_joint([q], [])))

    def displaced(self, q: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Positions from which the joints are displaced, ndarray, shape (..., n_q).

        Parameters
        ----------
        q : shape (..., n_q) [rad, m]
        x : shape (..., n) [rad, m]
            For a ball joint on a quaternion a rotation vector in the axes of the link; for all others the change of
            their coordinates.

        See Also
        --------
        displacement

        Examples
        --------
        >>> top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
        >>> top.displaced(top.neutral, np.array([np.pi, 0.0, 0.0])).round(12)
        array([0., 1., 0., 0.])
        """
        positions, displacements = finite_array("q", q), finite_array("x", x)
        if positions.shape[-1:] != (self.n_q,) or displacements.shape[-1:] != (self.n,):
            raise InputError(
                f"q and x must have shapes (..., {self.n_q}) and (..., {self.n}), got {positions.shape} and "
                f"{displacements.shape}"
            )
        if self.has_plain_velocities:
            return positions + displacements
        shape = np.broadcast_shapes(positions.shape[:-1], displacements.shape[:-1])
        moved = np.array(np.broadcast_to(positions, (*shape, self.n_q)))
        places, dofs = self._single
        moved[..., places] += displacements[..., dofs]
        for places, dofs in self.balls.values():
            moved[..., places] = turned_quaternion(positions[..., places], displacements[..., dofs])
        return moved

    def displacement(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """Displacement of the joints from one posture to another, ndarray, shape (n,) [rad, m]: see `displaced`.

        Parameters
        ----------
        start, end : shape (n_q,) [rad, m]
            With unit quaternions. If those of a joint are more than a right angle apart as vectors, it makes more than
            half a turn.
        """
        start, end = finite_array("start", start, (self.n_q,)), finite_array("end", end, (self.n_q,))
        if self.has_plain_velocities:
            return end - start
        x = np.empty(self.n)
        places, dofs = self._single
        x[dofs] = end[places] - start[places]
        for places, dofs in self.balls.values():
            x[dofs] = turn_between(start[places], end[places])
        return x

    def by_shortest_turns(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        """The posture `end`, ndarray, shape (n_q,), with quaternions on the side of those of `start`.

        A quaternion and its negative are one attitude: no ball joint then makes more than half a turn, unless `end` has
        exactly the negative quaternion, which stands for a whole turn. At exactly half a turn the sign stays.

        Examples
        --------
        >>> top = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)))
        >>> top.by_shortest_turns(top.neutral, np.array([-0.8, 0.0, 0.0, 0.6]))
        array([ 0.8, -0. , -0. , -0.6])
        """
        start, turned = finite_array("start", start, (self.n_q,)), np.array(finite_array("end", end, (self.n_q,)))
        for places, _ in self.balls.values():
            if -1 + _SAME < start[places] @ turned[places] < -_SAME:
                turned[places] *= -1
        return turned

    @cached_property
    def _single(self) -> tuple[np.ndarray, np.ndarray]:
        """Indices of the joints of one degree of freedom in q, and in qd."""
        of_q, of_qd = np.ones(self.n_q, dtype=bool), np.ones(self.n, dtype=bool)
        for places, dofs in self.balls.values():
            of_q[places], of_qd[dofs] = False, False
        return np.flatnonzero(of_q), np.flatnonzero(of_qd)

    def screw_coordinates(self, q: ca.SX) -> ca.SX:
        """Displacements along the joints' screws, SX, shape (n,) [rad, m], at positions q, SX, shape (n_q,)."""
        _check_column("screw_coordinates", q, self.n_q)
        return ca.vertcat(*(self.bodies[k].joint.coordinate(q[self.places[k]]) for k in self.moving))

    def screw_accelerations(self, qd: ca.SX, qdd: ca.SX) -> ca.SX:
        """Second derivatives of the joints' screw coordinates, SX, shape (n,): accelerations for the recursions.

        They are qdd where a joint is one screw. For the recursions a joint of several degrees of freedom is a chain of
        screws on massless links that are at zero in every posture. The rates of the chain are the joint's velocities;
        its accelerations differ from the joint's by products of velocities.
        """
        for column in (qd, qdd):
            _check_column("screw_accelerations", column, self.n)
        if self.has_plain_velocities:
            return qdd
        parts = self._by_joint([], [qd, qdd])
        return ca.vertcat(*(gain_of_screws(*part) if ball else part[1] for ball, part in parts))

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joints with coordinates, in the order of qd; by default those of their bodies."""
        return tuple(self.bodies[k].joint_name for k in self.moving)

    @cached_property
    def position_names(self) -> tuple[str, ...]:
        """Names of the positions, in the order of q: those of joints, and hip_qw, hip_qx and so on for a ball joint."""
        bodies = [self.bodies[k] for k in self.moving]
        return tuple(name for body in bodies for name in body.joint.position_names(body.joint_name))

    @cached_property
    def joints(self) -> tuple[Joint, ...]:
        """The joints with coordinates, in the order of q."""
        return tuple(self.bodies[k].joint for k in self.moving)

    @property
    def n(self) -> int:
        """Number of degrees of freedom, the entries of qd, qdd and tau."""
        return len(self.joint_names)

    @cached_property
    def torque_units(self) -> tuple[str, ...]:
        """Unit of every joint's actuation: N m where it turns, N for a slide."""
        return tuple("N m" if joint.turns else "N" for joint in self.joints)

    @cached_property
    def hinge_angles(self) -> tuple[bool, ...]:
        """Whether each position is the angle of a hinge, in radians and rarely beyond a turn."""
        return tuple(joint.hinge for joint in self.joints for _ in range(joint.positions))

    @cached_property
    def position_units(self) -> tuple[str, ...]:
        """Unit of every position: rad where the joint turns, m for a slide, none for a quaternion."""
        return tuple(joint.position_unit for joint in self.joints for _ in range(joint.positions))

    @cached_property
    def screw_units(self) -> tuple[str, ...]:
        """Unit of every joint's displacement along its screw; the unit of velocities without "/s"."""
        return tuple("rad" if joint.turns else "m" for joint in self.joints)

    def names(self, quantity: str) -> tuple[str, ...]:
        """Names of the entries of a quantity: of positions for "q", of joints for all others, such as "qd" or "tau"."""
        choice("quantity", quantity, QUANTITIES)
        return self.position_names if quantity == "q" else self.joint_names

    def limits(self, quantity: str) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper joint limits, each shape (n,), of "position", "velocity", "torque" or "acceleration".

        Those of positions have shape (n_q,). Limits of joints that follow are part of their leaders', except for
        torques, which they do not have.
        """
        choice("quantity", quantity, ("position", "velocity", "torque", "acceleration"))
        repeats = [joint.positions if quantity == "position" else 1 for joint in self.joints]
        sides = np.array([getattr(joint.limits, quantity) for joint in self.joints]).reshape(-1, 2)
        if quantity != "torque":
            for body, dof in zip(self.bodies, self.dofs, strict=True):
                coupling = self.couplings.get(body.joint_name) if body.joint.moves else None
                if coupling is not None and dof is not None and coupling.ratio and coupling.curve is None:
                    offset = coupling.offset if quantity == "position" else 0.0
                    ends = np.sort((np.array(getattr(body.joint.limits, quantity)) - offset) / coupling.ratio)
                    sides[dof] = max(sides[dof, 0], ends[0]), min(sides[dof, 1], ends[1])
        rows = np.repeat(sides, repeats, axis=0)
        return rows[:, 0], rows[:, 1]

    def index(self, body: str) -> int:
        """Position of a body in `bodies`; InputError for a name that does not exist."""
        text("name of a body", body)
        for k, candidate in enumerate(self.bodies):
            if candidate.name == body:
                return k
        raise unknown_name("body", body, [b.name for b in self.bodies])

    def in_link(self, frame: str, point: Any = (0.0, 0.0, 0.0)) -> tuple[int, ca.SX]:
        """Index of the link that carries a frame, and a point of the frame in that link's frame, SX, shape (3,) [m].

        Frames are bodies, and markers with the axes of their links; InputError for other names.
        """
        place = symbolic("point", point, (3, 1))
        names = [body.name for body in self.bodies]
        if text("name of a frame", frame) in names:
            return names.index(frame), place
        if frame not in self.markers:
            raise unknown_name("body or marker" if self.markers else "body", frame, [*names, *self.markers])
        body, origin = self.markers[frame]
        return names.index(body), origin + place

    def joints_to(self, body: str) -> tuple[str, ...]:
        """Names of the joints with coordinates between the world and a body, outermost first."""
        k, names = self.index(body), []
        while k >= 0:
            if (dof := self.dofs[k]) is not None:
                names.append(self.joint_names[dof])
            k = self.parents[k]
        return tuple(dict.fromkeys(names))

    def frozen(self, values: Mapping[str, Any]) -> Model:
        """This mechanism with some joints held, which are no longer coordinates and have no limits.

        All bodies keep their names, masses and link frames, so that loads and points keep their meaning. Joints that
        follow a held one are held with it. Values may lie outside the joint's limits.

        Parameters
        ----------
        values : mapping of joint name to number or SX [rad, m]
            Coordinates at which these joints are held.

        Raises
        ------
        InputError
            For a joint that does not exist or does not move, or if no moving joint is left.
        """
        if not isinstance(values, Mapping):
            raise InputError(f"values must be a mapping of joint name to coordinate, got {quoted(values)}")
        for name in values:
            if text("name of a joint", name) not in self.joint_names:
                raise unknown_name("joint that moves", name, self.joint_names)
        values = dict(values)
        for body in self.bodies:
            if isinstance(body.joint, BallScrew) and body.joint_name in values:
                raise InputError(f"joint {body.joint_name!r} is part of a ball joint, which cannot be held")
        for name, coupling in self.couplings.items():
            if coupling.joint in values:
                leader = symbolic(f"value of joint {coupling.joint!r}", values[coupling.joint], (1, 1))
                (values[name],) = coupling.derivatives(leader, 0)
        bodies = [_fixed_at(b, values[b.joint_name]) if b.joint_name in values else b for b in self.bodies]
        couplings = {name: coupling for name, coupling in self.couplings.items() if name not in values}
        return replace(self, bodies=bodies, couplings=couplings)

    @cached_property
    def symbols(self) -> list[ca.SX]:
        """The symbols in masses, lengths, inertias and tips, and in the passive parts of joints."""
        parts = [ca.vertcat(b.mass, b.com, ca.vec(b.inertia), *b.joint.symbols) for b in self.bodies]
        tips = [body.tip for body in self.bodies if body.tip is not None]
        return ca.symvar(ca.vertcat(ca.SX(0, 1), *parts, *tips))

    @cached_property
    def passive(self) -> bool:
        """Whether any joint has damping, a spring, armature or friction."""
        return any(body.joint.passive.parts for body in self.bodies)

    @cached_property
    def idle(self) -> tuple[int, ...]:
        """Coordinates of joints that move no mass and have no passive parts."""
        loaded = [False] * len(self.bodies)  # whether a body carries mass that its own joint moves, or other bodies
        for k in reversed(range(len(self.bodies))):
            loaded[k] = loaded[k] or _resists(self.bodies[k])
            if (parent := self.parents[k]) >= 0 and (loaded[k] or not self.bodies[k].mass.is_zero()):
                loaded[parent] = True
        resisted = {leader for k, leader in enumerate(self.leaders) if loaded[k] or self.bodies[k].joint.passive.parts}
        return tuple(j for j, k in enumerate(self.moving) if k not in resisted)

    def _table(self) -> Table:
        gravity = ", ".join(map(short, self.gravity))
        title = f"{self.name}: {self.n} DOF, {len(self.bodies)} bodies, gravity ({gravity}) m/s2"
        return bodies_table(title, self.bodies, self.markers, self.couplings)


class _NoMechanism(Model):
    """A model without bodies, which is illegal for users' models."""

    def __post_init__(self):
        """Check nothing."""


def _resists(body: Body) -> bool:
    """Whether the joint of a body moves mass of this body."""
    if body.mass.is_zero() or not body.joint.moves:
        return False
    twist = body.joint.twist
    spread = twist[:3, :] @ body.pseudo_inertia @ twist[:3, :].T  # its trace is what resists the rate
    return not spread.is_constant() or float(ca.trace(spread)) > 0


def _fixed_at(body: Body, value: Any) -> Body:
    coordinate = symbolic(f"value of joint {body.joint_name!r}", value, (1, 1))
    return replace(body, joint=fixed(body.joint.transform(coordinate)))


def _check_tree(bodies: tuple[Body, ...]) -> None:
    places = {body.name: k for k, body in enumerate(bodies)}
    for k, body in enumerate(bodies):
        if places[body.name] != k:
            raise InputError(f"two bodies are named {body.name!r}; names must be unique")
    for body in bodies:
        if body.parent is not None and text(f"parent of body {body.name!r}", body.parent) not in places:
            others = [name for name in places if name != body.name]
            raise unknown_name(f"parent of body {body.name!r} among the bodies", body.parent, others)
    for k, body in enumerate(bodies):
        if body.parent is not None and places[body.parent] >= k:
            _check_cycle(bodies, places, body)
            raise InputError(f"body {body.name!r} is listed before its parent {body.parent!r}; list parents first")


def _check_cycle(bodies: tuple[Body, ...], places: Mapping[str, int], body: Body) -> None:
    """InputError where the parents of a body lead back to one of them."""
    path, above = {body.name: 0}, body.parent
    while above is not None and above not in path:
        path[above] = len(path)
        above = bodies[places[above]].parent
    if above is not None:
        raise InputError(f"the bodies form a cycle: {' -> '.join([*list(path)[path[above] :], above])}")


def _checked_couplings(bodies: tuple[Body, ...], couplings: Any) -> dict[str, Coupling]:
    """Couplings of joints with one position each, to joints that follow none."""
    instance("couplings", couplings, Mapping, "of the name of a joint to a Coupling")
    joints = {body.joint_name: body.joint for body in bodies if body.joint.moves}
    for name, coupling in couplings.items():
        instance(f"coupling of joint {name!r}", coupling, Coupling)
        for which in (name, coupling.joint):
            if text("joint that is coupled", which) not in joints:
                raise unknown_name("joint that moves", which, joints)
            if joints[which].positions != 1:
                raise InputError(f"joint {which!r} has {joints[which].positions} positions: it cannot be coupled")
        if coupling.joint in couplings:
            raise InputError(f"joint {name!r} follows {coupling.joint!r}, which follows another joint: name its leader")
        if coupling.curve is not None and joints[name].limits != Limits():
            raise InputError(f"joint {name!r} follows by a curve and must have no limits: give them to the leader")
    return dict(couplings)


def _check_column(function: str, column: object, size: int) -> None:
    if not isinstance(column, ca.SX) or column.shape != (size, 1):
        raise InputError(f"{function} takes SX of shape ({size},), got {quoted(column)}")


def plain_only(what: str, model: Model) -> None:
    """InputError, beginning with `what`, for a model whose velocities are not time derivatives of its positions."""
    if not model.has_plain_velocities:
        raise InputError(
            f"{what} takes joints of one coordinate each, and {', '.join(map(repr, model.balls))} of {model.name!r} "
            "is on a quaternion: make it of three angles, as in sequence='zyx'"
        )


def check_loads(model: Model, loads: Sequence[Load]) -> None:
    """InputError unless every load acts on a body of the model."""
    for load in as_tuple("loads", loads):
        if not isinstance(load, Load):
            raise InputError(f"loads must be Load objects, got {quoted(load)}")
        model.index(load.body)


def _warn_unlikely(model: Model) -> None:
    """InputWarning for likely mistakes: gravity that points upwards, gravity and lengths not in SI units."""
    _warn_of_gravity(model.gravity)
    for body in model.bodies:
        if doubt := _unlikely_lengths(body):
            warn(f"body {body.name!r} has {doubt} lengths are in m, masses in kg, inertias in kg m2")
            return


def _warn_of_gravity(gravity: np.ndarray) -> None:
    words = f"gravity ({', '.join(map(short, gravity))})"
    if (size := float(np.linalg.norm(gravity))) > _HEAVY:
        warn(f"{words} is {short(size)} m/s2, more than on any planet: cm/s2? on Earth it is 9.81 m/s2")
    for axis, pull in zip("yz", gravity[1:].tolist(), strict=True):
        if pull > 0 and np.count_nonzero(gravity) == 1:
            down = tuple(-np.abs(gravity).round(6))
            down = ", ".join(short(value + 0.0) for value in down)
            warn(
                f"{words} pulls along +{axis}: upwards? it is the acceleration of falling bodies, ({down}) where "
                f"{axis} points up"
            )


def _unlikely_lengths(body: Body) -> str:
    """Advice on lengths of a body that seem to be in another unit; "" for likely ones."""
    places = [("a link frame off its joint by", part[:3, 3]) for part in (body.joint.before, body.joint.after)]
    places.append(("a centre of mass off its frame by", body.com))
    lengths = [(_norm(place), what) for what, place in places if place.is_constant()]
    gyration = _gyration(body)
    far, what = max([*lengths, (gyration, "a radius of gyration of")])
    if far > _LONG:
        return f"{what} {short(far)} m: millimetres?"
    if gyration < _POINT:
        return ""
    if body.com.is_constant() and (far := _norm(body.com)) > max(_FAR, _FAR_IN_GYRATIONS * gyration):
        return (
            f"a centre of mass off its frame by {short(far)} m, and a radius of gyration of {short(gyration)} m: which?"
        )
    if (mass := float(body.mass)) > _DENSEST * gyration**3:
        return f"{short(mass)} kg and a radius of gyration of {short(gyration)} m, denser than any matter: grams?"
    return ""


def _gyration(body: Body) -> float:
    """The largest radius of gyration [m]; zero without numeric mass and inertia."""
    if not (body.inertia.is_constant() and body.mass.is_constant() and float(body.mass) > 0):
        return 0.0
    return float(np.sqrt(np.linalg.eigvalsh(np.array(ca.DM(body.inertia))).max() / float(body.mass)))


def _norm(vector: ca.SX) -> float:
    return float(np.linalg.norm(ca.evalf(vector).full()))
