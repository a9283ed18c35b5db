"""Rigid impacts between two phases, on the world or between two bodies.

The impulse p of a contact acts on the body that hits, and its opposite on the body that is hit, at the same place. With
v = J qd the velocity of the one relative to the other, both along the stated directions,

    M (qd+ - qd-) = J' p,    v+ = -e v-,

so that v+ - v- = J M^-1 J' p. Momentum is conserved, as the place is the same for both bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.dynamics import mass_matrix
from colloc.dynamics.instant import Instant
from colloc.dynamics.rows import Rows
from colloc.problem.phase_functions import Joining, PhaseEnds, joint_pairs, mapped_joints, position_jumps, zero_rows
from colloc.problem.unknowns import Unknown
from colloc.problem.user_functions import error_context
from colloc.support.checks import InputError, finite_array, flag, function, mapping, quoted, spelt, text
from colloc.support.lazy import cached_property

_AXES = "xyz"

Directions = str | Callable[[Instant], Any]


@dataclass(frozen=True, eq=False)
class Impact(Joining):
    """A rigid impact between two phases; made by `impact`."""

    first: str
    second: str
    markers: Mapping[str, Directions]
    on: str | None = None
    turns: str = ""
    joints: Mapping[str, tuple[str, float]] | None = None
    jumps: tuple[str, ...] = ()
    restitution: tuple[float, ...] = (0.0,)  # for every direction
    held: bool = False
    impulse: str = "impulse"

    @property
    def name(self) -> str:
        return f"impact from {self.first} to {self.second}"

    def unknowns_of(self, phase: str) -> tuple[Unknown, ...]:
        return (self.unknown,) if phase == self.second else ()

    @cached_property
    def unknown(self) -> Unknown:
        """The impulse, a constant of the second phase [N s], and about axes of turns [N m s]."""
        return Unknown(self.impulse, len(self._components), constant=True)

    @property
    def _components(self) -> list[tuple[str, str]]:
        """Name and unit of the velocity along every direction."""
        axes = [(marker, axis) for marker, along in self.markers.items() for axis in _letters(along)]
        return [(" ".join(pair).strip(), "m/s") for pair in axes] + [(f"turn {axis}", "rad/s") for axis in self.turns]

    def rows(self, ends: Mapping[str, PhaseEnds]) -> Rows:
        """Jumps of positions, momenta less the impulse, and velocities of the contacts, to be zero."""
        before, after = ends[self.first].end, ends[self.second].start
        names = after.model.joint_names
        pairs = joint_pairs(self, before.model, after.model)
        if missing := [joint for joint in names if joint not in pairs]:
            raise InputError(f"an impact needs all joints of phase {self.second!r}: {', '.join(missing)} not linked")
        earlier = [before.model.joint_names.index(pairs[joint][0]) for joint in names]
        factors = ca.SX([pairs[joint][1] for joint in names])
        qd = factors * before.qd[earlier]
        speeds = self._speeds(after)
        impulse = after.constants[self.impulse]
        # J' p, velocities being linear in qd.
        jump = mass_matrix(after.model, after.q) @ (after.qd - qd) - ca.gradient(ca.dot(impulse, speeds), after.qd)
        in_order = {joint: pairs[joint] for joint in names}
        expressions, labels, units = position_jumps(self, in_order, before, after)
        expressions.append(jump)
        labels += [f"{self.name}, momentum[{joint}]" for joint in names]
        units += ["kg m2/s" if unit == "rad" else "kg m/s" for unit in after.model.screw_units]
        if not self.held:
            expressions.append(speeds + ca.DM(self.restitution) * ca.substitute(speeds, after.qd, qd))
            labels += [f"{self.name}, {component}" for component, _ in self._components]
            units += [unit for _, unit in self._components]
        return zero_rows(self.name, expressions, labels, units)

    def _speeds(self, now: Instant) -> ca.SX:
        """Velocities of the markers, relative to the body that is hit, along the directions; then of turns."""
        speeds = [ca.SX(0, 1)]
        for marker, along in self.markers.items():
            place, velocity = now.marker(marker).position, now.marker(marker).velocity
            if self.on is not None:
                self._check_apart(now, marker)
                local = now.rotation(self.on).T @ (place - now.point(self.on).position)
                velocity = velocity - now.point(self.on, local).velocity
            speeds.append(self._directions(now, marker, along).T @ velocity)
        if self.turns:
            body = now.model.markers[next(iter(self.markers))][0]
            turning = now.angular_velocity(body)
            turning = turning if self.on is None else turning - now.angular_velocity(self.on)
            speeds += [turning[_AXES.index(axis)] for axis in self.turns]
        return ca.vertcat(*speeds)

    def _check_apart(self, now: Instant, marker: str) -> None:
        """InputError for a marker of the body that it should hit."""
        if now.model.markers[marker][0] == self.on:
            raise InputError(f"marker {marker!r} is on {self.on!r}, the body that it should hit; take one on the other")

    def _directions(self, now: Instant, marker: str, along: Directions) -> ca.SX:
        """Unit vectors along which a marker hits, SX, shape (3, k)."""
        if isinstance(along, str):
            return ca.SX.eye(3)[:, [_AXES.index(axis) for axis in along]]
        with error_context(f"direction of marker {marker!r}"):
            normal = ca.SX(along(now))
        if normal.shape != (3, 1):
            raise InputError(f"direction of marker {marker!r} must have shape (3,), got shape {normal.shape}")
        return normal / ca.norm_2(normal)


def _letters(along: Directions) -> str | tuple[str]:
    """World axes one by one, or the only direction of a function, without a name."""
    return along if isinstance(along, str) else ("",)


@spelt
def impact(
    first: str,
    second: str,
    markers: Mapping[str, Directions],
    *,
    on: str | None = None,
    turns: str = "",
    joints: Mapping[str, Any] | None = None,
    jumps: Sequence[str] = (),
    restitution: float | Sequence[float] = 0.0,
    held: bool = False,
    impulse: str = "impulse",
) -> Impact:
    """A rigid impact: positions are continuous, and velocities jump by the impulse p of contacts.

    M (qd+ - qd-) = J' p, and along the directions of contacts J qd+ = -e J qd- (Hurmuzlu and Marghitu 1994). With one
    0 <= e <= 1 for all directions no energy is created.

    Both bodies of a blow or a catch belong to one model, such as a tree with several roots. The impulse acts on the
    body of the marker, and the opposite one on the other body, at the place of the marker. State by `at` that the
    bodies touch there, and by `boundary` that the impulse pushes, or stays within a friction cone.

    Loops that are closed before and after an impact would transmit impulses as well: such mechanisms are refused.

    A body that is caught becomes part of the hand by an impact that sticks, such as ``on="ball"`` with "xyz", and with
    ``turns="xyz"`` where it does not turn in the hand. In the second phase a loop ties it to the hand, as a
    `loops.CutJoints`, whose forces are those of the grip and can be bounded; the impact is then `held`.

    Parameters
    ----------
    first, second : str
        Names of the phases.
    markers : mapping of str to str or callable
        World axes along which each marker of the model hits something, such as "y" where it may slide, "xy" or "xyz"
        where it sticks. Or a function of the instant for a single direction, SX, shape (3,), such as the normal of a
        moving face. The impulse is undetermined along directions in which no joint can move the marker.
    on : str, optional
        Body that the markers hit; by default the world.
    turns : str
        World axes about which the body of the first marker does not turn relative to the other one after the impact.
    joints, jumps :
        As in `connect`, such as for a motion that continues as its mirror image; all joints of the second phase are
        linked.
    restitution : float or shape (number of directions,)
        e, 0 to 1, and 0 with `turns` or `held`. With different values energy may be created.
    held : bool
        Whether the second phase determines the velocities of its contacts, such as by an equation for their positions.
    impulse : str
        Name of the impulse p, shape (number of directions,) [N s], about the axes of `turns` [N m s], a constant of the
        second phase, for costs and constraints of the Phases and in `Solution.constants`. Functions of the phase itself
        cannot use it.

    See Also
    --------
    connect

    Examples
    --------
    >>> hit = co.impact("flight", "landing", {"sole": "y"})
    >>> blow = co.impact("swing", "drive", {"face": lambda now: now.rotation("nail")[:, 1]}, on="nail", restitution=0.5)
    >>> pushes = co.boundary(lambda phases: phases["drive"].start.impulse[0], lower=0.0, unit="N s")
    >>> catch = co.impact("flight", "hold", {"palm": "xyz"}, on="ball", turns="xyz", held=True)
    """
    text("first phase of an impact", first)
    text("second phase of an impact", second)
    markers = dict(mapping("markers of an impact", markers))
    for marker, along in markers.items():
        text("marker of an impact", marker)
        if callable(along):
            function(f"direction of marker {marker!r}", along, "a function of the instant", "now")
        else:
            _check_axes(f"axes of marker {marker!r}", along)
    if not markers:
        raise InputError("an impact needs a marker")
    if on is not None:
        text("body that an impact is on", on)
    if not isinstance(turns, str):
        raise InputError(f"turns of an impact must be letters of axes, as in 'xyz', got {quoted(turns)}")
    if turns:
        _check_axes("turns of an impact", turns)
    flag("held", held)
    links = mapped_joints(joints, jumps)
    count = sum(len(_letters(along)) for along in markers.values()) + len(turns)
    e = finite_array("restitution", restitution, (count,))
    if not ((e >= 0) & (e <= 1)).all():
        raise InputError(f"restitution must lie in [0, 1], got {quoted(restitution)}")
    if turns and e.any():
        raise InputError(
            f"restitution of an impact after which bodies do not turn must be 0, got {quoted(restitution)}"
        )
    if held and e.any():
        raise InputError(
            f"restitution of an impact that is held must be 0, as the second phase determines the velocities of its "
            f"contacts, got {quoted(restitution)}"
        )
    return Impact(first, second, markers, on, turns, *links, tuple(e.tolist()), held, text("impulse", impulse))


def _check_axes(what: str, axes: Any) -> None:
    if not isinstance(axes, str) or not axes or len(set(axes)) < len(axes) or not set(axes) <= set(_AXES):
        raise InputError(f"{what} must be some of the letters xyz, got {quoted(axes)}")
