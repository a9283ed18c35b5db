"""A ball joint without gimbal lock: a unit quaternion for the attitude, three angular velocities about the link's axes.

For the recursions it is a chain of three screws on massless links, about x, y and z, that are at zero in every posture:
the first of them has the four positions and turns the frame of all three, see `Model.velocities`. A quaternion p of any
length represents the attitude of p / |p|, so that any curve of positions is a motion; `Problem` adds the condition of
unit length.

With p = (w, u), w its scalar part, angular velocity omega in the link's axes and |p| of any length

    p' = P(p) omega,   P(p) omega = (-u . omega, w omega + u x omega) / 2,   omega = 2 (w u' - w' u - u x u') / |p|^2

(Featherstone 2008, equation 4.13; Shuster 1993, equation 303).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb

import casadi as ca
import numpy as np

from colloc.model.body import Body
from colloc.model.joint import Joint, Limits, Screw
from colloc.model.transforms import homogeneous
from colloc.support.checks import InputError, spelt, text

QUATERNION = "quaternion"  # stands where a sequence of three angles would
BALLS = ("angles", QUATERNION)  # what readers of files make of free and ball joints
_AXES = "xyz"
_ROUNDING = 1e-15
_SMALL = 1e-2  # rad


@spelt
@dataclass(frozen=True, eq=False)
class BallScrew(Joint):
    """One of the three turns of a ball joint, about an axis of its link; made by `spherical`, for a `sequence`.

    Parameters
    ----------
    ball : str
        Name of the joint of which it is a part, and prefix of the names of positions.

    Raises
    ------
    InputError
        For limits of positions and springs, which a quaternion cannot have.

    Examples
    --------
    >>> hip = co.spherical("thigh", sequence="quaternion", mass=7.0, inertia=(0.1, 0.1, 0.02))
    >>> model = co.Model(hip)
    >>> model.position_names, model.joint_names
    (('thigh_qw', 'thigh_qx', 'thigh_qy', 'thigh_qz'), ('thigh_rx', 'thigh_ry', 'thigh_rz'))
    """

    ball: str = ""

    def __post_init__(self):
        super().__post_init__()
        if np.isfinite(self.limits.position).any():
            raise InputError(
                f"ball joint {self.ball!r} has no limits of position, as its positions are a quaternion: limit a "
                "function of the motion by co.path, or use three angles, as in sequence='zyx'"
            )
        if "stiffness" in self.passive.parts:
            raise InputError(
                f"ball joint {self.ball!r} on a quaternion has no linear spring, as it has no angle: use three, as in "
                "sequence='zyx'"
            )

    @property
    def axis_index(self) -> int:
        """Index of the axis: 0, 1 and 2 for x, y and z."""
        return int(np.argmax(self.screw.angular))

    @property
    def kind(self) -> str:
        return "ball"

    @property
    def positions(self) -> int:
        """Four for the first of the three, none for the others."""
        return 0 if self.axis_index else 4

    def position_names(self, name: str) -> tuple[str, ...]:
        text("name", name)
        return tuple(f"{self.ball}_q{letter}" for letter in f"w{_AXES}"[: self.positions])

    @property
    def position_unit(self) -> str:
        """The empty unit: a quaternion is a number."""
        return ""

    @property
    def neutral(self) -> np.ndarray:
        """The quaternion without a turn, ndarray, shape (positions,)."""
        return np.eye(4)[0, : self.positions]

    @property
    def hinge(self) -> bool:
        return False

    def coordinate(self, q: ca.SX) -> ca.SX:
        """A structural zero: the screw is at zero in every posture."""
        return ca.SX(1, 1)

    def rotation(self, q: ca.SX) -> ca.SX:
        """The identity, SX, shape (3, 3)."""
        return ca.SX.eye(3)

    def frame(self, q: ca.SX) -> ca.SX:
        """`before`, which the first of the three turns by the joint's attitude, SX, shape (4, 4)."""
        return self.before @ homogeneous(quaternion_rotation(q), ca.SX(3, 1)) if self.positions else self.before


def quaternion_rotation(p: ca.SX) -> ca.SX:
    """Rotation matrix of a quaternion of any length, scalar part first, SX, shape (3, 3).

    Examples
    --------
    >>> from colloc.model.ball import quaternion_rotation
    >>> ca.DM(quaternion_rotation(ca.SX([1.0, 1.0, 0.0, 0.0]))) @ ca.DM([0.0, 1.0, 0.0])
    DM([0, 0, 1])
    """
    u = ca.skew(p[1:])
    return ca.SX.eye(3) + 2 / ca.sumsqr(p) * (p[0] * u + u @ u)


def ball_chain(body: Body, name: str, limits: dict[str, Limits]) -> list[Body]:
    """A body on a ball joint in place of its fixed joint, with two massless links; `name` begins its joints' names."""
    joints = [f"{name}_r{letter}" for letter in _AXES]
    before, here = body.joint.before, ca.SX.eye(4)
    screws = [Screw(axis, np.zeros(3)) for axis in np.eye(3)]
    x, y, z = (
        BallScrew(here if k else before, screw, here, limits.get(joint, Limits()), name=joint, ball=name)
        for k, (joint, screw) in enumerate(zip(joints, screws, strict=True))
    )
    last = replace(body, joint=z, parent=joints[1])
    return [Body(joints[0], x, body.parent), Body(joints[1], y, joints[0]), last]


def check_balls(bodies: Sequence[Body]) -> None:
    """InputError unless the three turns of every ball joint are successive, on massless links without other bodies."""
    names = {body.name: body for body in bodies}
    children: dict[str, list[Body]] = {body.name: [] for body in bodies}
    for body in bodies:
        if body.parent is not None:
            children[body.parent].append(body)
    for k, body in enumerate(bodies):
        joint = body.joint
        if not isinstance(joint, BallScrew):
            continue
        above = None if body.parent is None else names[body.parent].joint
        follows = isinstance(above, BallScrew) and (above.ball, above.axis_index) == (joint.ball, joint.axis_index - 1)
        here = ca.SX.eye(4)
        apart = joint.axis_index > 0 and not (
            follows and bodies[k - 1].name == body.parent and _same(joint.before, here)
        )
        below = children[body.name]
        bare = body.mass.is_zero() and len(below) == 1 and _same(joint.after, here)
        goes_on = bare and isinstance(below[0].joint, BallScrew) and below[0].joint.ball == joint.ball
        if apart or (joint.axis_index < 2 and not goes_on):
            raise InputError(
                f"ball joint {joint.ball!r} must be three bodies that follow each other, the first two massless and "
                "with nothing else on them, as co.spherical makes them"
            )


def _same(transform: ca.SX, other: ca.SX) -> bool:
    return transform.is_constant() and bool(np.array_equal(np.array(ca.DM(transform)), np.array(ca.DM(other))))


def ball_velocities(p: Sequence[ca.SX]) -> list[ca.SX]:
    """Angular velocity in the link's axes and its derivatives, SX, each shape (3,), one less than derivatives of p.

    With |p|^2 omega = 2 E(p, p') both sides are differentiated as products (Leibniz).

    Parameters
    ----------
    p : sequence of SX, shape (4,)
        A quaternion of any length and its time derivatives.
    """
    omega: list[ca.SX] = []
    length = [sum((comb(k, i) * ca.dot(p[i], p[k - i]) for i in range(k + 1)), ca.SX(0)) for k in range(len(p) - 1)]
    for m in range(len(p) - 1):
        right = sum((2 * comb(m, k) * relative_turn(p[k], p[m + 1 - k]) for k in range(m + 1)), ca.SX(3, 1))
        right -= sum((comb(m, k) * length[k] * omega[m - k] for k in range(1, m + 1)), ca.SX(3, 1))
        omega.append(right / length[0])
    return omega


def relative_turn(p: ca.SX, r: ca.SX) -> ca.SX:
    """Vector part of the conjugate of p times r, SX, shape (3,): zero for unit quaternions of the same attitude."""
    return p[0] * r[1:] - r[0] * p[1:] - ca.cross(p[1:], r[1:])


def quaternion_rate(p: ca.SX, omega: ca.SX) -> ca.SX:
    """Time derivative of a quaternion that keeps its length, SX, shape (4,)."""
    return ca.vertcat(-ca.dot(p[1:], omega), p[0] * omega + ca.cross(p[1:], omega)) / 2


def gain_of_screws(omega: ca.SX, alpha: ca.SX) -> ca.SX:
    """Second derivatives of the three screws' coordinates, SX, shape (3,), at an angular acceleration in link axes.

    They differ from the angular acceleration because the later screws turn the axes of the earlier ones.
    """
    return alpha - ca.vertcat(omega[1] * omega[2], -omega[0] * omega[2], omega[0] * omega[1])


def turned_quaternion(p: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Quaternions p, shape (..., 4), turned by rotation vectors x, shape (..., 3) [rad], about the link's axes."""
    half = np.linalg.norm(x, axis=-1, keepdims=True) / 2
    w, u = np.cos(half), np.sinc(half / np.pi) * x / 2
    scalar = p[..., :1] * w - (p[..., 1:] * u).sum(axis=-1, keepdims=True)
    return np.concatenate([scalar, p[..., :1] * u + w * p[..., 1:] + np.cross(p[..., 1:], u)], axis=-1)


def turn_between(p: np.ndarray, r: np.ndarray) -> np.ndarray:
    """Rotation vectors, shape (..., 3) [rad], that turn unit quaternions p into r, each shape (..., 4).

    The angle is half a turn or more where p . r < 0; from p to its negative it is a whole turn about x.
    """
    u = p[..., :1] * r[..., 1:] - r[..., :1] * p[..., 1:] - np.cross(p[..., 1:], r[..., 1:])
    size = np.linalg.norm(u, axis=-1, keepdims=True)
    none = size <= _ROUNDING
    angle = 2 * np.arctan2(size, (p * r).sum(axis=-1, keepdims=True))
    return angle * np.where(none, np.eye(3)[0], u / np.where(none, 1.0, size))


def turn_slope(x: np.ndarray) -> np.ndarray:
    """Derivative of rotation vectors x, shape (..., 3) [rad], by small turns after them, ndarray, shape (..., 3, 3).

    The inverse of the right Jacobian of SO(3) (Sola, Deray and Atchuthan 2018, equation 144), below a whole turn.
    """
    angle = np.linalg.norm(x, axis=-1)[..., None, None]
    small = angle < _SMALL
    half = np.where(small, 1.0, angle) / 2
    bend = np.where(small, 1 / 12 + angle**2 / 720, (1 - half / np.tan(half)) / (4 * half**2))
    across = np.cross(np.eye(3), x[..., None, :])  # row i is e_i x x: the matrix of x times
    return np.eye(3) + across / 2 + bend * (across @ across)
