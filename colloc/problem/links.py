"""What links phases of a motion: continuity, mirrored or not, and rigid impacts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import casadi as ca
import numpy as np

from colloc.dynamics import mass_matrix
from colloc.model import Model
from colloc.problem.instant import Instant
from colloc.problem.rows import Rows, bounded
from colloc.problem.unknowns import Unknown
from colloc.support.checks import InputError, as_tuple, finite_number, flag, mapping, quoted, spelt, text, unknown_name
from colloc.support.lazy import cached_property

_AXES = "xyz"


class _Ends(Protocol):
    @property
    def start(self) -> Instant: ...

    @property
    def end(self) -> Instant: ...


@dataclass(frozen=True, eq=False)
class Link:
    """A phase that goes on where another ends; made by `link`.

    Parameters
    ----------
    first, second : str
        Names of the phases.
    joints : mapping of str to (str, float), optional
        For joints of the second phase the joint of the first that each goes on from, and its factor.
    apart : tuple of str
        Joints of the second phase whose positions may jump.
    q, qd, qdd, states : bool
        Whether positions, velocities, accelerations and states go on.
    """

    first: str
    second: str
    joints: Mapping[str, tuple[str, float]] | None = None
    apart: tuple[str, ...] = ()
    q: bool = True
    qd: bool = True
    qdd: bool = False
    states: bool = True

    @property
    def name(self) -> str:
        """Name of the constraint."""
        return f"{self.first} to {self.second}"

    @property
    def keeps_motion(self) -> bool:
        """Whether all joints have the positions and velocities that they had."""
        return self.q and self.qd and self.joints is None and not self.apart

    def rows(self, ends: Mapping[str, _Ends]) -> Rows:
        """What jumps, to be zero."""
        before, after = ends[self.first].end, ends[self.second].start
        expressions, labels, units = [], [], []
        pairs = _pairs(self, before.model, after.model, linked=self.q or self.qd or self.qdd)
        of_position = after.model.position_units
        for quantity, wanted, unit in (("q", self.q, "{}"), ("qd", self.qd, "{}/s"), ("qdd", self.qdd, "{}/s2")):
            for joint, (other, factor) in pairs.items() if wanted else ():
                j, i = after.model.joint_names.index(joint), before.model.joint_names.index(other)
                if not (quantity == "q" and joint in self.apart):
                    expressions.append(getattr(after, quantity)[j] - factor * getattr(before, quantity)[i])
                    labels.append(f"{self.name}, {quantity}[{joint}]")
                    units.append(unit.format(of_position[j]))
        for state in after.states.keys() & before.states.keys() if self.states else ():
            size = after.states[state].shape[0]
            expressions.append(after.states[state] - before.states[state])
            labels += [f"{self.name}, {state}"] if size == 1 else [f"{self.name}, {state}[{k}]" for k in range(size)]
            units += [""] * size
        return _zero(self.name, expressions, labels, units)


@spelt
def link(
    first: str,
    second: str,
    *,
    joints: Mapping[str, Any] | None = None,
    apart: Sequence[str] = (),
    q: bool = True,
    qd: bool = True,
    qdd: bool = False,
    states: bool = True,
) -> Link:
    """A phase that goes on where another ends.

    Phases in a row are linked by themselves. A link from the last phase to the first makes the motion cyclic; one that
    exchanges left and right makes the next cycle the mirror image.

    Parameters
    ----------
    first, second : str
        Names of the phases: the end of the first goes on at the start of the second.
    joints : mapping of str to str or (str, float), optional
        For every joint of the second phase that is linked the joint of the first that it goes on from, with a factor of
        1 or the one given. By default joints of the same name, which both phases must have.
    apart : sequence of str
        Joints of the second phase whose positions may jump, such as the way gone by a step.
    q, qd, qdd, states : bool
        Whether positions, velocities, accelerations and the states that both phases have go on without a jump.

    See Also
    --------
    impact : Velocities that jump.

    Examples
    --------
    >>> mirrored = co.link("step", "step", joints={"hip_l": "hip_r", "hip_r": "hip_l", "sway": ("sway", -1.0)})
    """
    text("first phase of a link", first)
    text("second phase of a link", second)
    for what, value in (("q", q), ("qd", qd), ("qdd", qdd), ("states", states)):
        flag(f"{what} of a link", value)
    return Link(first, second, *_mapped(joints, apart), q, qd, qdd, states)


@dataclass(frozen=True, eq=False)
class Impact:
    """A rigid impact between two phases; made by `impact`."""

    first: str
    second: str
    markers: Mapping[str, str]
    joints: Mapping[str, tuple[str, float]] | None = None
    apart: tuple[str, ...] = ()
    restitution: float = 0.0
    held: bool = False
    impulse: str = "impulse"

    @property
    def name(self) -> str:
        """Name of the constraint."""
        return f"impact from {self.first} to {self.second}"

    @cached_property
    def unknown(self) -> Unknown:
        """The impulse, a constant of the second phase [N s]."""
        return Unknown(self.impulse, sum(map(len, self.markers.values())), constant=True)

    def rows(self, ends: Mapping[str, _Ends]) -> Rows:
        """Jumps of positions, momenta that no impulse explains, velocities of what has hit, to be zero."""
        before, after = ends[self.first].end, ends[self.second].start
        names = after.model.joint_names
        pairs = _pairs(self, before.model, after.model)
        if missing := [joint for joint in names if joint not in pairs]:
            raise InputError(f"an impact needs all joints of phase {self.second!r}: {', '.join(missing)} not linked")
        places = [before.model.joint_names.index(pairs[joint][0]) for joint in names]
        factors = ca.SX([pairs[joint][1] for joint in names])
        q, qd = factors * before.q[places], factors * before.qd[places]
        speeds = self._along(after)
        impulse = after.constants[self.impulse]
        # J' p, velocities being linear in qd.
        jump = mass_matrix(after.model, after.q) @ (after.qd - qd) - ca.gradient(ca.dot(impulse, speeds), after.qd)
        kept = [j for j, joint in enumerate(names) if joint not in self.apart]
        expressions = [(after.q - q)[kept], jump]
        labels = [f"{self.name}, q[{names[j]}]" for j in kept] + [f"{self.name}, momentum[{joint}]" for joint in names]
        momenta = ["kg m2/s" if unit == "rad" else "kg m/s" for unit in after.model.position_units]
        units = [*(after.model.position_units[j] for j in kept), *momenta]
        if not self.held:
            expressions.append(speeds + self.restitution * ca.substitute(speeds, after.qd, qd))
            labels += [f"{self.name}, {m} {axis}" for m, axes in self.markers.items() for axis in axes]
            units += ["m/s"] * self.unknown.size
        return _zero(self.name, expressions, labels, units)

    def _along(self, now: Instant) -> ca.SX:
        """Velocities of the markers along their axes."""
        found = []
        for marker, axes in self.markers.items():
            velocity = now.marker(marker).velocity
            found += [velocity[_AXES.index(axis)] for axis in axes]
        return ca.vertcat(*found)


@spelt
def impact(
    first: str,
    second: str,
    markers: Mapping[str, str],
    *,
    joints: Mapping[str, Any] | None = None,
    apart: Sequence[str] = (),
    restitution: float = 0.0,
    held: bool = False,
    impulse: str = "impulse",
) -> Impact:
    """A rigid impact: positions are continuous, and velocities jump by the impulse p of contacts.

    M (qd+ - qd-) = J' p, and along the contacts' axes J qd+ = -e J qd- (Hurmuzlu and Marghitu 1994). With 0 <= e <= 1
    along the normal, or e = 0 along all axes, no energy is created.

    Parameters
    ----------
    first, second : str
        Names of the phases.
    markers : mapping of str to str
        For each marker of the model that hits something the world axes along which it does, such as "y" where it may
        slide, "xy" or "xyz". Axes along which no joint can move it leave the impulse undetermined.
    joints, apart :
        As in `link`, for a motion that goes on as its mirror image, say; all joints of the second phase are linked.
    restitution : float
        e, 0 to 1.
    held : bool
        Whether the second phase says itself how fast its contacts are, such as by an equation for their positions.
    impulse : str
        Name of the impulse p, shape (number of axes,) [N s], a constant of the second phase: for costs and constraints
        of the Sequence, such as that what is hit pushes, and in `Solution.constants`. The phase's own functions are
        called before there is an impulse.

    See Also
    --------
    link : What goes on from phase to phase, and how.

    Examples
    --------
    >>> hit = co.impact("flight", "landing", {"sole": "y"})
    """
    text("first phase of an impact", first)
    text("second phase of an impact", second)
    axes = {}
    for marker, own in mapping("markers of an impact", markers).items():
        text("marker of an impact", marker)
        if not isinstance(own, str) or not own or len(set(own)) < len(own) or not set(own) <= set(_AXES):
            raise InputError(f"axes of marker {marker!r} must be some of the letters xyz, got {quoted(own)}")
        axes[marker] = own
    if not axes:
        raise InputError("an impact needs a marker")
    e = finite_number("restitution", restitution)
    if not 0 <= e <= 1:
        raise InputError(f"restitution must lie in [0, 1], got {quoted(restitution)}")
    flag("held", held)
    return Impact(first, second, axes, *_mapped(joints, apart), e, held, text("impulse", impulse))


def _mapped(joints: Any, apart: Any) -> tuple[dict[str, tuple[str, float]] | None, tuple[str, ...]]:
    """Joints with factors from what a user gave, and the names of those apart."""
    pairs = None if joints is None else {}
    for joint, other in mapping("joints of a link", joints).items():
        text("joint of a link", joint)
        given = (other, 1.0) if isinstance(other, str) else as_tuple(f"joint of a link, {joint!r}", other)
        if len(given) != 2:
            raise InputError(f"joints of a link must map to a name, or to a name and a factor, got {quoted(other)}")
        assert pairs is not None
        pairs[joint] = text(f"joint of a link, {joint!r}", given[0]), finite_number(f"factor of {joint!r}", given[1])
    return pairs, tuple(text("joint apart", joint) for joint in as_tuple("apart", apart))


def _pairs(link: Link | Impact, first: Model, second: Model, *, linked: bool = True) -> Mapping[str, tuple[str, float]]:
    """Which joint of the second phase goes on from which of the first."""
    for joint in link.apart:
        if joint not in (second.joint_names if link.joints is None else link.joints):
            raise unknown_name("linked joint (apart)", joint, second.joint_names)
    if link.joints is None:
        if not linked or set(first.joint_names) == set(second.joint_names):
            return {joint: (joint, 1.0) for joint in second.joint_names if joint in first.joint_names}
        alone = sorted(set(first.joint_names) ^ set(second.joint_names))
        raise InputError(
            f"phases {link.first!r} and {link.second!r} have different joints ({', '.join(alone)}); say which goes "
            f"on from which: co.link({link.first!r}, {link.second!r}, joints={{...}})"
        )
    for joint, (other, _) in link.joints.items():
        for name, model, phase in ((joint, second, link.second), (other, first, link.first)):
            if name not in model.joint_names:
                raise unknown_name(f"joint in phase {phase!r}", name, model.joint_names)
    return link.joints


def _zero(name: str, expressions: list[ca.SX], labels: list[str], units: list[str]) -> Rows:
    """Rows that must be zero; none where there are no expressions."""
    if not expressions:
        none = np.zeros(0)
        return Rows(ca.SX(0, 1), none, none, (), (), none)
    return bounded(name, ca.vertcat(*expressions), 0.0, 0.0, unit=units, labels=labels)
