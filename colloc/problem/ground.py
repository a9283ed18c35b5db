"""Ground reactions on the plane y = 0, y pointing up: the wrench that a motion needs, shared between feet.

Two steps (Xiang et al. 2009, Int. J. Numer. Meth. Engng 79): inverse dynamics without the ground gives the wrench that
must act on the whole mechanism (`Instant.support`); the feet apply it as loads. The joints between the world and the
mechanism then transmit nothing, as long as the shares add up to the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics import Wrench
from colloc.dynamics.instant import Instant
from colloc.model import Load
from colloc.problem.track import Record, record
from colloc.support.arguments import array, callback, expressions, instance_of, list_of, number, string, validated
from colloc.support.checks import InputError, float_array

_COMPONENTS = [(f"{name} {axis}", unit) for name, unit in (("force", "N"), ("moment", "N m")) for axis in "xyz"]
_OFF = 0.002  # share of the range of a force or moment by which splines of a plate without a deviation may be off


class Contact(NamedTuple):
    """The point at which a wrench meets the ground.

    Parameters
    ----------
    x, z : SX [m]
        Point of the ground plane about which the horizontal moments vanish: the zero moment point of the whole, the
        centre of pressure of one foot.
    free : SX [N m]
        Moment about the vertical through it.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> co.problem.ground.zero_moment_point(wrench).x
    DM(0.1)
    """

    x: ca.SX
    z: ca.SX
    free: ca.SX


@validated(wrench=instance_of(Wrench))
def zero_moment_point(wrench: Wrench) -> Contact:
    """The point at which a wrench meets the ground; not a number where it has no vertical force.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> point = co.problem.ground.zero_moment_point(wrench)
    >>> float(point.x)  # m
    0.1
    """
    (fx, fy, fz), (mx, my, mz) = ca.vertsplit(wrench.force), ca.vertsplit(wrench.moment)
    x, z = mz / fy, -mx / fy
    return Contact(x, z, my - fx * z + fz * x)


@validated(wrench=instance_of(Wrench), points=list_of(expressions(3)))
def by_distance(wrench: Wrench, points: Sequence[ca.SX]) -> list[Wrench]:
    """Shares of two feet by the distance of the zero moment point: the nearer foot carries more.

    Each share acts along a line through the common zero moment point, so that the shares add up exactly. This causes a
    large moment about a foot while the point lies between the feet. The ratio is that of the point's projection on the
    line between the feet, which is smooth where distances are not.

    Parameters
    ----------
    wrench : Wrench
        Of both feet together.
    points : two SX, each shape (3,) [m]
        A reference point of each foot, in the world.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> feet = ca.DM([0.0, 0.0, 0.1]), ca.DM([0.4, 0.0, -0.1])
    >>> [share.force[1] for share in co.problem.ground.by_distance(wrench, feet)]
    [SX(490), SX(210)]
    """
    if len(points) != 2:
        raise InputError(f"points must be two, one for each foot, got {len(points)}")
    first, second = points
    contact, line = zero_moment_point(wrench), second - first
    along = (contact.x - first[0]) * line[0] + (contact.z - first[2]) * line[2]
    ratio = ca.fmin(ca.fmax(along / (line[0] ** 2 + line[2] ** 2), 0.0), 1.0)
    return [wrench.scaled(1 - ratio), wrench.scaled(ratio)]


@validated(wrench=instance_of(Wrench), points=list_of(expressions(3)), shares=expressions(None))
def by_partition(wrench: Wrench, points: Sequence[ca.SX], shares: ca.SX) -> list[Wrench]:
    """Shares of contact points by a partition of unity (Xiang 2019, J. Biomech. Engng 141).

    At each point its share of the force and of the free moment acts. They add up to the whole if the shares sum to one
    and their mean position is the zero moment point: `partition_rows`.

    Parameters
    ----------
    wrench : Wrench
    points : sequence of SX, each shape (3,) [m]
    shares : SX, shape (len(points),)
        Unknown signals, 0 to 1.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> points = ca.DM([0.0, 0.0, 0.0]), ca.DM([0.4, 0.0, 0.0])
    >>> [share.force[1] for share in co.problem.ground.by_partition(wrench, points, ca.DM([0.75, 0.25]))]
    [SX(525), SX(175)]
    """
    _check_shares(points, shares)
    free = zero_moment_point(wrench).free
    vertical = ca.SX([0.0, 1.0, 0.0])
    return [
        Wrench(share * wrench.force, ca.cross(point, share * wrench.force) + share * free * vertical)
        for point, share in zip(points, ca.vertsplit(shares), strict=True)
    ]


@validated(wrench=instance_of(Wrench), points=list_of(expressions(3)), shares=expressions(None))
def partition_rows(wrench: Wrench, points: Sequence[ca.SX], shares: ca.SX) -> ca.SX:
    """Rows that are zero where `by_partition` adds up: shape (3,) [1, m, m].

    With shares between 0 and 1 it also keeps the zero moment point within the convex hull of the points.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> points = ca.DM([0.0, 0.0, 0.0]), ca.DM([0.4, 0.0, 0.0])
    >>> ca.DM(co.problem.ground.partition_rows(wrench, points, ca.DM([0.75, 0.25])))  # it acts at 0.25 0.4 m
    DM([0, 0, 0])
    """
    _check_shares(points, shares)
    contact, mean = zero_moment_point(wrench), ca.horzcat(*points) @ shares
    return ca.vertcat(ca.sum1(shares) - 1, mean[0] - contact.x, mean[2] - contact.z)


def _check_shares(points: Sequence[ca.SX], shares: ca.SX) -> None:
    if len(points) == 0 or len(points) != shares.shape[0]:
        raise InputError(f"every point needs a share, got {len(points)} points and {shares.shape[0]} shares")


@validated(body=string(), at=array(3), wrench=callback("a function of the instant"))
def applied(body: str, at: Sequence[float], wrench: Callable[[Instant], Wrench]) -> Load:
    """A wrench on a body as a load.

    Parameters
    ----------
    body : str
    at : shape (3,) [m]
        Point in the link frame about which the moment is taken; any point of the body is correct.
    wrench : callable
        Function of the instant.

    Examples
    --------
    >>> up = co.dynamics.Wrench(ca.DM([0, 10, 0]), ca.DM([0, 0, 0]))
    >>> co.problem.ground.applied("elbow", (0, 0, 0), lambda now: up).body
    'elbow'
    """
    return Load(body, partial(_force, wrench), partial(_moment, wrench, body, at), at)


def _force(wrench: Callable[[Instant], Wrench], now: Instant) -> ca.SX:
    return wrench(now).force


def _moment(wrench: Callable[[Instant], Wrench], body: str, at: Sequence[float], now: Instant) -> ca.SX:
    return wrench(now).about(now.point(body, at).position)


def _constant_or_sampled(name: str, value: Any, sizes: dict[str, int]) -> np.ndarray:
    """A vector at N times, shape (N, 3), or one for all of them, shape (3,), which may have NaN."""
    numbers = float_array(name, value)
    if numbers.shape not in ((sizes["N"], 3), (3,)):
        raise InputError(f"{name} must have shape ({sizes['N']}, 3), or (3,) if constant, got shape {numbers.shape}")
    return numbers


@validated(
    body=string(),
    times=array("N"),
    force=array("N", 3),
    point=_constant_or_sampled,
    torque=_constant_or_sampled,
)
def recorded(
    body: str,
    times: Any,
    force: Any,
    point: Any,
    torque: Any = (0.0, 0.0, 0.0),
    *,
    deviation: Any = 0.0,
    cutoff: float | None = None,
    degree: int = 3,
    pieces: int | None = None,
) -> Load:
    """The record of a force plate, as a load on the body that stood on it.

    Splines represent the force and its moment about the world's origin, which, unlike the point where it acts, is
    well-defined when the plate is unloaded. As in `track` they interpolate, smooth a known noise, or are least-squares
    fits. Before the first and after the last sample the load is constant.

    Parameters
    ----------
    body : str
    times : shape (N,) [s]
        Rising, counted from the start of the motion.
    force : shape (N, 3) [N]
        On the body, in the world's axes.
    point : shape (N, 3) or (3,) [m]
        Where the force acts, in the world; may be NaN where the force is zero.
    torque : shape (N, 3) or (3,) [N m]
        About that point; none by default.
    deviation : float or shape (6,)
        Standard deviation of the noise: of the force [N] and of its moment about the origin [N m].
        Leave it out for data that have been filtered.
    cutoff : float, optional [Hz]
        Frequency of a low-pass filter of force and moment, as in `track`, instead of a deviation. Take that of the
        markers: forces with higher frequencies than the motion cause peaks of joint torques at a heel strike that
        nobody exerts (Kristianslund, Krosshaug and van den Bogert 2012).
    degree, pieces :
        As in `track`: where splines are off the record, as at a heel strike, there are more pieces. Without a deviation
        they may be off by 0.2 % of the range of force and moment.

    Raises
    ------
    InputError
        For times that do not rise, fewer samples than degree + 1, and points or torques that are not finite under a
        force.
    InputWarning
        For splines that are further off than that, or than six deviations, in newtons and at the time.

    See Also
    --------
    colloc.formats.from_c3d

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 101)  # s
    >>> force = np.column_stack([0.0 * t, 10.0 + 5.0 * np.sin(3.0 * t), 0.0 * t])  # N
    >>> push = co.problem.ground.recorded("elbow", t, force, np.tile([0.4, 0.0, 0.0], (101, 1)))
    >>> pushed = co.Problem(two_link(), 1.0, problem.minimize, loads=[push])
    """
    at, turn = np.broadcast_to(point, np.shape(force)), np.broadcast_to(torque, np.shape(force))
    bare = ~np.any(force, axis=1)
    undefined = ~np.isfinite(np.hstack([at, turn])).all(axis=1)
    if (undefined & ~bare).any():
        k = int(np.flatnonzero(undefined & ~bare)[0])
        raise InputError(
            f"point and torque on {body!r} must be finite where there is a force, got {at[k]} m and {turn[k]} N m at "
            f"{times[k]:g} s (number {k})"
        )
    moment = np.where(bare[:, None], 0.0, np.cross(at, force)) + np.where(np.isfinite(turn), turn, 0.0)
    values = np.hstack([force, moment])
    ranges = np.ptp(values, axis=0)
    largest = np.repeat([ranges[:3].max(), ranges[3:].max()], 3)  # of force and moment, whatever the direction
    share = _OFF * largest / np.maximum(ranges, np.finfo(float).tiny)
    label = f"load on {body}"
    known = {"share": share, "components": _COMPONENTS, "impacts": True, "cutoff": cutoff}
    plate = record(label, times, values, deviation, degree, pieces, **known)
    return applied(body, (0.0, 0.0, 0.0), partial(_recorded_wrench, plate))


def _recorded_wrench(plate: Record, now: Instant) -> Wrench:
    t = ca.fmin(ca.fmax(now.t, float(plate.times[0])), float(plate.times[-1]))
    value = plate.value(t)
    return Wrench(value[:3], value[3:])


@validated(wrench=instance_of(Wrench), friction=number(positive=True))
def friction_rows(wrench: Wrench, friction: float) -> ca.SX:
    """Rows that are nonnegative where a foot does not slip: the four sides of a pyramid inside the friction cone [N].

    Parameters
    ----------
    wrench : Wrench
    friction : float
        Coefficient of friction; the pyramid's edges lie on the cone.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> co.problem.ground.friction_rows(wrench, friction=0.8)  # N to spare
    DM([395.98, 395.98, 395.98, 395.98])
    """
    x, y, z = ca.vertsplit(wrench.force)
    limit = friction / 2**0.5 * y
    return ca.vertcat(limit - x, limit + x, limit - z, limit + z)


@validated(wrench=instance_of(Wrench), corners=list_of(expressions(2)))
def pressure_rows(wrench: Wrench, corners: Sequence[tuple[Any, Any]]) -> ca.SX:
    """Rows that are nonnegative where the centre of pressure lies in a convex polygon, one a side [N m].

    Each is the vertical force times the distance of the centre of pressure from the side, a moment about the side that
    is linear in the wrench. An unloaded foot is therefore legal, and the vertical force cannot pull.

    Parameters
    ----------
    wrench : Wrench
    corners : sequence of (x, z) [m]
        Counter-clockwise seen from above with z forward and x to the left, that is from z to x to -z.

    Examples
    --------
    >>> wrench = co.dynamics.Wrench(force=ca.DM([0, 700, 0]), moment=ca.DM([0, 0, 70]))  # about the world's origin
    >>> foot = [(0.0, -0.05), (0.0, 0.05), (0.25, 0.05), (0.25, -0.05)]  # x, z [m]
    >>> ca.evalf(co.problem.ground.pressure_rows(wrench, foot)).full().ravel().round(3)
    array([ 70.,  35., 105.,  35.])
    """
    if len(corners) < 3:
        raise InputError(f"corners must be three or more, got {len(corners)}")
    vertices = [ca.vertsplit(ca.SX(corner)) for corner in corners]
    rows = []
    for (x0, z0), (x1, z1) in zip(vertices, [*vertices[1:], vertices[0]], strict=True):
        # The centre of pressure is where Fy x = Mz and Fy z = -Mx.
        fy, length = wrench.force[1], ca.sqrt((x1 - x0) ** 2 + (z1 - z0) ** 2)
        area = (z1 - z0) * (wrench.moment[2] - x0 * fy) + (x1 - x0) * (wrench.moment[0] + z0 * fy)
        rows.append(area / length)
    return ca.vertcat(*rows)
