"""Bodies that turn or move freely: one constructor each, with coordinates of a tree on massless links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from colloc.model.ball import QUATERNION, ball_chain
from colloc.model.body import Body
from colloc.model.joint import Limits
from colloc.model.kinds import fixed, prismatic, revolute
from colloc.support.checks import InputError, mapping, quoted, spelt, text, unknown_name

_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
FREE = ("tx", "ty", "tz", "rz", "ry", "rx")  # how the coordinates of a body that moves freely end, in the sequence zyx


@spelt
def floating(
    name: str,
    placement: Any = None,
    *,
    sequence: str = QUATERNION,
    mass: Any = 0.0,
    com: Any = (0.0, 0.0, 0.0),
    inertia: Any = (0.0, 0.0, 0.0),
    tip: Any = None,
    limits: Mapping[str, Limits] | None = None,
) -> list[Body]:
    """A body that moves freely through the world: three slides and a ball joint.

    The positions of a pelvis are pelvis_tx, pelvis_ty, pelvis_tz [m], the place of its frame along the fixed axes, and
    its attitude, as in `spherical`: a unit quaternion, pelvis_qw to pelvis_qz, or three angles [rad] in a `sequence`,
    such as pelvis_rz, pelvis_ry, pelvis_rx with "zyx".
    Such a base has no drive: hold its torques at zero (`bounds`, or limits of (0, 0)), or apply loads.

    Parameters
    ----------
    name : str
        Name of the body, with which the names of its coordinates begin.
    placement : shape (4, 4), optional
        Frame of the body at q = 0, in the world; slides and turns are along and about its axes.
    sequence, mass, com, inertia, tip
        As in `spherical`.
    limits : mapping of coordinate name to Limits, optional

    Returns
    -------
    list of Body
        Five massless ones and the body itself, last.

    Raises
    ------
    InputError
        As in `spherical`.

    See Also
    --------
    spherical, fixed

    Examples
    --------
    >>> pelvis = co.Model(co.floating("pelvis", mass=12.0, inertia=(0.1, 0.1, 0.1)))
    >>> pelvis.joint_names
    ('pelvis_tx', 'pelvis_ty', 'pelvis_tz', 'pelvis_rx', 'pelvis_ry', 'pelvis_rz')
    >>> pelvis.position_names[3:]
    ('pelvis_qw', 'pelvis_qx', 'pelvis_qy', 'pelvis_qz')
    """
    text("body name", name)
    return free_chain(Body(name, fixed(placement), None, mass, com, inertia, tip), name, sequence, limits)


@spelt
def spherical(
    name: str,
    placement: Any = None,
    *,
    parent: str | None = None,
    sequence: str = QUATERNION,
    mass: Any = 0.0,
    com: Any = (0.0, 0.0, 0.0),
    inertia: Any = (0.0, 0.0, 0.0),
    tip: Any = None,
    limits: Mapping[str, Limits] | None = None,
) -> list[Body]:
    """A body on a ball joint: a unit quaternion, or three hinges whose axes meet in a point.

    The positions of a thigh are thigh_qw, thigh_qx, thigh_qy and thigh_qz, a unit quaternion with its scalar part
    first; a problem keeps its length. Velocities, accelerations and torques are thigh_rx, thigh_ry and thigh_rz, about
    the axes of the body itself: `Model.n_q` is `Model.n` + 1. No posture is singular. A quaternion and its negative are
    the same attitude: a motion takes the shorter way round, or that of its guess, and from a quaternion to exactly its
    negative a whole turn. `Model.neutral` is the posture without a turn.

    With a sequence of letters the coordinates are angles [rad], thigh_rz, thigh_ry and thigh_rx with "zyx": the
    rotation is Rz Ry Rx, each turn about the axis that the turns before it have moved. An axis that occurs twice is
    numbered: thigh_rz, thigh_rx, thigh_rz2 in "zxz". Angles can have limits of position and springs, as in models of
    humans. They have singular postures, where the second makes the axes of the first and the third parallel (±90
    degrees where the three letters differ, 0 or 180 where the third is the first again): rates and torques grow without
    bound there, and `solve` and `verify` say so.

    Parameters
    ----------
    name : str
        Name of the body, with which the names of its coordinates begin.
    placement : shape (4, 4), optional
        Joint frame in the parent frame, see `placement`; the identity by default.
    parent : str, optional
        Name of the parent body; the world by default.
    sequence : str
        "quaternion", or three of the letters x, y and z, no two neighbours equal.
    mass, com, inertia, tip
        As in `Body`.
    limits : mapping of coordinate name to Limits, optional

    Returns
    -------
    list of Body
        Two massless ones and the body itself, last; its joint has the last coordinate's name.

    Raises
    ------
    InputError
        For an unknown sequence or coordinate, and as in `Body`.

    See Also
    --------
    revolute, floating

    Examples
    --------
    >>> thigh = co.spherical("thigh", co.placement((0, 0, 0.1)), mass=7.0, inertia=(0.1, 0.1, 0.02))
    >>> co.Model(thigh).n_q, co.Model(thigh).n
    (4, 3)
    >>> co.Model(co.spherical("thigh", sequence="zyx", mass=7.0, inertia=(0.1, 0.1, 0.02))).joint_names
    ('thigh_rz', 'thigh_ry', 'thigh_rx')
    """
    body = Body(name, fixed(placement), parent, mass, com, inertia, tip)
    return _chain(body, name, {}, sequence, limits)


def _turns(name: str, sequence: str) -> dict[str, tuple[float, float, float]]:
    """Axes of the hinges by the names of their coordinates."""
    letters = isinstance(sequence, str) and len(sequence) == 3 and set(sequence) <= set(_AXES)
    if not letters or sequence[1] in (sequence[0], sequence[2]):
        raise InputError(
            "sequence must be three of the letters x, y and z, no two neighbours alike, as in 'zyx', or 'quaternion', "
            f"got {quoted(sequence)}"
        )
    last = f"{sequence[2]}2" if sequence[2] == sequence[0] else sequence[2]
    return {f"{name}_r{label}": _AXES[label[0]] for label in (*sequence[:2], last)}


def free_chain(
    body: Body, name: str, sequence: str = QUATERNION, limits: Mapping[str, Limits] | None = None
) -> list[Body]:
    """A body that moves freely in place of its fixed joint, as in `floating`; `name` begins its coordinates' names."""
    slides = {f"{name}_t{axis}": _AXES[axis] for axis in "xyz"}
    return _chain(body, name, slides, sequence, limits)


def _chain(
    body: Body,
    name: str,
    slides: Mapping[str, Sequence[float]],
    sequence: str,
    limits: Mapping[str, Limits] | None,
) -> list[Body]:
    """A body on slides, and on three hinges in a sequence or a ball joint; `name` begins its coordinates' names."""
    if not (isinstance(sequence, str) and sequence == QUATERNION):
        return joint_chain(body, slides, _turns(name, sequence), limits)
    limits = dict(mapping("limits", limits))
    coordinates = [*slides, *(f"{name}_r{axis}" for axis in "xyz")]
    for coordinate in limits:
        if text("coordinate", coordinate) not in coordinates:
            raise unknown_name(f"coordinate of body {body.name!r}", coordinate, coordinates)
    if not slides:
        return ball_chain(body, name, limits)
    carriage = Body(f"{list(slides)[-1]}", fixed(body.joint.before), body.parent)
    chain = joint_chain(carriage, slides, {}, {k: v for k, v in limits.items() if k in slides})
    turned = replace(body, joint=fixed(), parent=carriage.name)
    return [*chain, *ball_chain(turned, name, limits)]


def joint_chain(
    body: Body,
    slides: Mapping[str, Sequence[float]],
    hinges: Mapping[str, Sequence[float]],
    limits: Mapping[str, Limits] | None = None,
) -> list[Body]:
    """A body on several joints in one place, slides first, with massless links between them.

    The fixed joint of the body places the joints; the body is the last. Slides and hinges are axes (3,) by the names of
    their coordinates, each moved by the joints before it. InputError for limits of an unknown coordinate.

    Examples
    --------
    >>> from colloc.model.floating import joint_chain
    >>> trolley = co.Body("trolley", co.fixed(), mass=2.0)
    >>> co.Model(joint_chain(trolley, {"x": (1, 0, 0)}, {"yaw": (0, 0, 1)})).joint_names
    ('x', 'yaw')
    """
    limits, axes = mapping("limits", limits), {**slides, **hinges}
    for coordinate in limits:
        if text("coordinate", coordinate) not in axes:
            raise unknown_name(f"coordinate of body {body.name!r}", coordinate, list(axes))
    chain: list[Body] = []
    for coordinate, axis in axes.items():
        place = None if chain else body.joint.before  # the others start where the one before them ends
        make = prismatic if coordinate in slides else revolute
        joint = make(axis, place, limits.get(coordinate), name=coordinate)
        chain.append(Body(coordinate, joint, chain[-1].name if chain else body.parent))
    return [*chain[:-1], replace(body, joint=chain[-1].joint, parent=chain[-1].parent)]
