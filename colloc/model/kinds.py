"""The kinds of joints by name: hinge, slide, helix, rigid connection, and rows of Denavit and Hartenberg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import finite_number, symbolic
from colloc.model.joint import Joint, Limits, Screw
from colloc.model.transforms import homogeneous, rigid, rotation_about, unit_vector

_NONE, _Z = np.zeros(3), np.array([0.0, 0.0, 1.0])


def revolute(
    axis: Sequence[float] = (0, 0, 1), placement: Any = None, limits: Limits | None = None, *, name: str | None = None
) -> Joint:
    """Hinge about `axis` through the origin of `placement`.

    Parameters
    ----------
    axis : shape (3,)
        Direction in the placed frame; normalised.
    placement : shape (4, 4), optional
        Joint frame in the parent frame, see `placement`; the identity by default.
    limits : Limits, optional
    name : str, optional
        Name of the joint; that of its body by default.
    """
    return _placed(Screw(unit_vector("axis", axis), _NONE), placement, limits, name)


def prismatic(
    axis: Sequence[float] = (0, 0, 1), placement: Any = None, limits: Limits | None = None, *, name: str | None = None
) -> Joint:
    """Slide along `axis` of `placement`; parameters as in `revolute`."""
    return _placed(Screw(_NONE, unit_vector("axis", axis)), placement, limits, name)


def helical(
    axis: Sequence[float] = (0, 0, 1),
    pitch: float = 0.0,
    placement: Any = None,
    limits: Limits | None = None,
    *,
    name: str | None = None,
) -> Joint:
    """Thread: turns about `axis` through the origin of `placement` and advances along it; parameters as in `revolute`.

    Parameters
    ----------
    pitch : float [m/rad]
        Advance per radian, not per turn; negative for a left-handed thread.
    """
    along = unit_vector("axis", axis)
    return _placed(Screw(along, finite_number("pitch", pitch) * along), placement, limits, name)


def fixed(placement: Any = None, *, name: str | None = None) -> Joint:
    """Rigid connection: the link frame is `placement` in the parent frame."""
    return _placed(Screw(_NONE, _NONE), placement, None, name)


def dh_revolute(
    theta: Any = 0.0,
    d: Any = 0.0,
    a: Any = 0.0,
    alpha: Any = 0.0,
    limits: Limits | None = None,
    *,
    name: str | None = None,
) -> Joint:
    """Revolute joint from a row of a standard (distal) Denavit-Hartenberg table.

    The link frame is Rz(q + theta) Tz(d) Tx(a) Rx(alpha) in the parent frame (Denavit and Hartenberg 1955).

    Parameters
    ----------
    theta, alpha : number or SX [rad]
        Offset added to the joint variable; twist about the new x axis.
    d, a : number or SX [m]
    limits : Limits, optional
    name : str, optional
        Name of the joint; that of its body by default.
    """
    return Joint(ca.SX.eye(4), Screw(_Z, _NONE), _dh(theta, d, a, alpha), limits or Limits(), name)


def dh_prismatic(
    theta: Any = 0.0,
    d: Any = 0.0,
    a: Any = 0.0,
    alpha: Any = 0.0,
    limits: Limits | None = None,
    *,
    name: str | None = None,
) -> Joint:
    """Prismatic joint from a Denavit-Hartenberg row, Rz(theta) Tz(q + d) Tx(a) Rx(alpha); as in `dh_revolute`."""
    return Joint(ca.SX.eye(4), Screw(_NONE, _Z), _dh(theta, d, a, alpha), limits or Limits(), name)


def _placed(screw: Screw, placement: Any, limits: Limits | None, name: str | None) -> Joint:
    """A joint whose link frame is the placed frame once it has moved."""
    before = ca.SX.eye(4) if placement is None else rigid("placement", placement)
    return Joint(before, screw, ca.SX.eye(4), limits or Limits(), name)


def _dh(theta: Any, d: Any, a: Any, alpha: Any) -> ca.SX:
    theta, d, a, alpha = (
        symbolic(f"DH {k}", v, (1, 1)) for k, v in (("theta", theta), ("d", d), ("a", a), ("alpha", alpha))
    )
    about_z = homogeneous(rotation_about(2, theta), ca.vertcat(0, 0, d))
    about_x = homogeneous(rotation_about(0, alpha), ca.vertcat(a, 0, 0))
    return about_z @ about_x
