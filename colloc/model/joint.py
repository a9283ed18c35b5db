"""One joint: T(q) = before * exp(screw * q) * after, whichever way it was described."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import finite_array, interval, symbolic
from colloc.errors import InputError

REVOLUTE, PRISMATIC, FIXED = "revolute", "prismatic", "fixed"
_FREE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Limits:
    """Limits of one joint, each (lower, upper); infinite where there is none.

    Parameters
    ----------
    position : [rad] or [m]
    velocity : [rad/s] or [m/s]
    torque : [N m] or [N]
    """

    position: tuple[float, float] = _FREE
    velocity: tuple[float, float] = _FREE
    torque: tuple[float, float] = _FREE

    def __post_init__(self):
        for name in ("position", "velocity", "torque"):
            try:
                lower, upper = getattr(self, name)
            except (TypeError, ValueError):
                raise InputError(f"limits {name} must be (lower, upper), got {getattr(self, name)!r}") from None
            interval(f"limits {name}", lower, upper)


@dataclass(frozen=True, eq=False)
class Joint:
    """A joint with at most one degree of freedom between a parent frame and a link frame.

    The homogeneous transform from link frame to parent frame is
    ``before @ exp(axis * q) @ after``. The axis passes through the origin of the frame that `before` places.

    Parameters
    ----------
    kind : "revolute", "prismatic" or "fixed"
    axis : ndarray, shape (3,)
        Unit vector in the frame placed by `before`; zero for a fixed joint.
    before, after : SX, shape (4, 4)
        Constant homogeneous transforms (lengths in m; numbers or symbols).
    limits : Limits
    """

    kind: str
    axis: np.ndarray
    before: ca.SX
    after: ca.SX
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self):
        if not isinstance(self.limits, Limits):
            raise InputError(f"limits must be a Limits, got {self.limits!r}")

    @property
    def moves(self) -> bool:
        """Whether the joint has a degree of freedom."""
        return self.kind != FIXED

    def transform(self, q: ca.SX) -> ca.SX:
        """Homogeneous transform from the link frame to the parent frame.

        Parameters
        ----------
        q : SX, scalar [rad] or [m]

        Returns
        -------
        SX, shape (4, 4)
        """
        if self.kind == FIXED:
            return self.before @ self.after
        if self.kind == PRISMATIC:
            motion = homogeneous(ca.SX.eye(3), ca.SX(self.axis) * q)
        else:
            motion = homogeneous(axis_rotation(self.axis, ca.cos(q), ca.sin(q)), ca.SX(3, 1))
        return self.before @ motion @ self.after

    @property
    def twist(self) -> ca.SX:
        """Constant body twist as a 4x4 matrix Xi: dT/dq = T Xi, d2T/dq2 = T Xi Xi.

        With Z = before S before^-1 this is the same derivative as dT/dq = Z T (Xiang et al. 2009, equation 13).
        """
        screw = ca.SX(4, 4)
        if self.kind == REVOLUTE:
            screw[:3, :3] = ca.skew(ca.SX(self.axis))
        elif self.kind == PRISMATIC:
            screw[:3, 3] = self.axis
        return inverse(self.after) @ screw @ self.after


def revolute(axis: Sequence[float] = (0, 0, 1), placement: Any = None, limits: Limits | None = None) -> Joint:
    """Hinge about `axis` through the origin of `placement`.

    Parameters
    ----------
    axis : shape (3,)
        Direction in the placed frame; normalised.
    placement : shape (4, 4), optional
        Joint frame in the parent frame, see `placement`; the identity by default.
    limits : Limits, optional
    """
    return Joint(REVOLUTE, _unit(axis), _placed(placement), ca.SX.eye(4), limits or Limits())


def prismatic(axis: Sequence[float] = (0, 0, 1), placement: Any = None, limits: Limits | None = None) -> Joint:
    """Slide along `axis` of `placement`; parameters as in `revolute`."""
    return Joint(PRISMATIC, _unit(axis), _placed(placement), ca.SX.eye(4), limits or Limits())


def fixed(placement: Any = None) -> Joint:
    """Rigid connection: the link frame is `placement` in the parent frame."""
    return Joint(FIXED, np.zeros(3), _placed(placement), ca.SX.eye(4))


def dh_revolute(theta: Any = 0.0, d: Any = 0.0, a: Any = 0.0, alpha: Any = 0.0, limits: Limits | None = None) -> Joint:
    """Revolute joint from a row of a standard (distal) Denavit-Hartenberg table.

    The link frame is Rz(q + theta) Tz(d) Tx(a) Rx(alpha) in the parent frame (Denavit and Hartenberg 1955).

    Parameters
    ----------
    theta, alpha : number or SX [rad]
        Offset added to the joint variable; twist about the new x axis.
    d, a : number or SX [m]
    """
    return Joint(REVOLUTE, np.array([0.0, 0.0, 1.0]), ca.SX.eye(4), _dh(theta, d, a, alpha), limits or Limits())


def dh_prismatic(theta: Any = 0.0, d: Any = 0.0, a: Any = 0.0, alpha: Any = 0.0, limits: Limits | None = None) -> Joint:
    """Prismatic joint from a standard Denavit-Hartenberg row: Rz(theta) Tz(q + d) Tx(a) Rx(alpha)."""
    return Joint(PRISMATIC, np.array([0.0, 0.0, 1.0]), ca.SX.eye(4), _dh(theta, d, a, alpha), limits or Limits())


def placement(translation: Any = (0, 0, 0), rpy: Any = (0, 0, 0)) -> ca.SX:
    """Homogeneous transform from a translation and roll, pitch, yaw about fixed axes (as in URDF).

    Parameters
    ----------
    translation : shape (3,) [m]
    rpy : shape (3,) [rad]
        The rotation is Rz(yaw) Ry(pitch) Rx(roll).

    Returns
    -------
    SX, shape (4, 4)
    """
    roll, pitch, yaw = ca.vertsplit(symbolic("rpy", rpy, (3, 1)))
    rotation = _rotation(2, yaw) @ _rotation(1, pitch) @ _rotation(0, roll)
    return homogeneous(rotation, symbolic("translation", translation, (3, 1)))


def homogeneous(rotation: ca.SX, translation: ca.SX) -> ca.SX:
    """4x4 transform from a 3x3 rotation and a translation."""
    return ca.vertcat(ca.horzcat(rotation, translation), ca.SX(np.array([[0.0, 0.0, 0.0, 1.0]])))


def inverse(transform: ca.SX) -> ca.SX:
    """Inverse of a rigid homogeneous transform."""
    rotation_t = transform[:3, :3].T
    return homogeneous(rotation_t, -rotation_t @ transform[:3, 3])


def axis_rotation(axis: np.ndarray, cosine: ca.SX, sine: ca.SX) -> ca.SX:
    """Rotation about a constant unit axis (Rodrigues)."""
    k = ca.SX(np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]]))
    along = ca.SX(np.outer(axis, axis))
    return along + cosine * (ca.SX.eye(3) - along) + sine * k


def _rotation(axis: int, angle: ca.SX) -> ca.SX:
    return axis_rotation(np.eye(3)[axis], *_cos_sin(angle))


def _cos_sin(angle: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Cosine and sine, exactly 0 and ±1 at multiples of pi/2 so that structural zeros stay zeros."""
    cosine, sine = ca.cos(angle), ca.sin(angle)
    if not angle.is_constant():
        return cosine, sine

    def snap(x: float) -> ca.SX:
        return ca.SX(round(x) if abs(x - round(x)) < 1e-15 else x)

    return snap(float(cosine)), snap(float(sine))


def _dh(theta: Any, d: Any, a: Any, alpha: Any) -> ca.SX:
    theta, d, a, alpha = (
        symbolic(f"DH {k}", v, (1, 1)) for k, v in (("theta", theta), ("d", d), ("a", a), ("alpha", alpha))
    )
    about_z = homogeneous(_rotation(2, theta), ca.vertcat(0, 0, d))
    about_x = homogeneous(_rotation(0, alpha), ca.vertcat(a, 0, 0))
    return about_z @ about_x


def _placed(transform: Any) -> ca.SX:
    if transform is None:
        return ca.SX.eye(4)
    matrix = symbolic("placement", transform, (4, 4))
    if matrix.is_constant():
        numbers = np.array(ca.DM(matrix))
        rotation = numbers[:3, :3]
        rigid = np.allclose(rotation @ rotation.T, np.eye(3), atol=1e-9) and np.linalg.det(rotation) > 0
        if not rigid or not np.array_equal(numbers[3], [0, 0, 0, 1]):
            raise InputError(f"placement must be a rigid homogeneous transform, got\n{numbers}")
    return matrix


def _unit(axis: Any) -> np.ndarray:
    vector = finite_array("axis", axis, (3,))
    length = float(np.linalg.norm(vector))
    if np.ndim(axis) == 0 or length < 1e-12:
        raise InputError(f"axis must be a non-zero vector of shape (3,), got {axis!r}")
    return vector / length
