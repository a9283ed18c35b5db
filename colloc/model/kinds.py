"""The kinds of joints by name: hinge, slide, helix, rigid connection, and rows of Denavit and Hartenberg."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.joint import Joint, Limits, Screw
from colloc.model.passive import Passive
from colloc.model.transforms import homogeneous, rigid, rotation_about, unit_vector
from colloc.support.checks import angles, finite_number, flag, spelt, symbolic

_NONE, _Z = np.zeros(3), np.array([0.0, 0.0, 1.0])


@spelt
def revolute(
    axis: Sequence[float] = (0, 0, 1),
    placement: Any = None,
    limits: Limits | None = None,
    *,
    name: str | None = None,
    passive: Passive | None = None,
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
    passive : Passive, optional
        Damper, spring, rotor and friction.

    See Also
    --------
    prismatic, helical, spherical, dh_revolute

    Examples
    --------
    >>> hip = co.revolute(axis=(0, 0, 1), placement=co.placement((0, 0.1, 0)), passive=co.Passive(damping=0.5))
    """
    screw, before = Screw(unit_vector("axis", axis), _NONE), _placed(placement)
    return _joint(before, screw, _identity(), limits, name, passive)


@spelt
def prismatic(
    axis: Sequence[float] = (0, 0, 1),
    placement: Any = None,
    limits: Limits | None = None,
    *,
    name: str | None = None,
    passive: Passive | None = None,
) -> Joint:
    """Slide along `axis` of `placement`; parameters as in `revolute`.

    See Also
    --------
    revolute, helical, dh_prismatic

    Examples
    --------
    >>> cart = co.Body("cart", co.prismatic(axis=(1, 0, 0), limits=co.Limits(position=(-2.0, 2.0))), mass=1.0)
    """
    screw, before = Screw(_NONE, unit_vector("axis", axis)), _placed(placement)
    return _joint(before, screw, _identity(), limits, name, passive)


@spelt
def helical(
    axis: Sequence[float] = (0, 0, 1),
    pitch: float = 0.0,
    placement: Any = None,
    limits: Limits | None = None,
    *,
    name: str | None = None,
    passive: Passive | None = None,
) -> Joint:
    """Thread: turns about `axis` through the origin of `placement` and advances along it; parameters as in `revolute`.

    Parameters
    ----------
    pitch : float [m/rad]
        Advance per radian, not per turn; negative for a left-handed thread.

    See Also
    --------
    revolute, prismatic

    Examples
    --------
    >>> screw = co.model.helical(axis=(0, 0, 1), pitch=0.005 / (2 * np.pi))  # 5 mm a turn
    """
    along = unit_vector("axis", axis)
    screw, before = Screw(along, finite_number("pitch", pitch) * along), _placed(placement)
    return _joint(before, screw, _identity(), limits, name, passive)


@spelt
def fixed(placement: Any = None, *, name: str | None = None) -> Joint:
    """Rigid connection: the link frame is `placement` in the parent frame.

    See Also
    --------
    placement

    Examples
    --------
    >>> tool = co.Body("tool", co.fixed(co.placement((0.1, 0.0, 0.0))), "elbow", mass=0.2)
    >>> co.Model([*problem.model.bodies, tool]).n
    2
    """
    return Joint(_placed(placement), Screw(_NONE, _NONE), _identity(), name=name)


@spelt
def dh_revolute(
    theta: Any = 0.0,
    d: Any = 0.0,
    a: Any = 0.0,
    alpha: Any = 0.0,
    limits: Limits | None = None,
    *,
    modified: bool = False,
    name: str | None = None,
    passive: Passive | None = None,
) -> Joint:
    """Revolute joint from a row of a Denavit-Hartenberg table, standard (distal) or modified (proximal).

    The link frame is Rz(q + theta) Tz(d) Tx(a) Rx(alpha) in the parent frame (Denavit and Hartenberg 1955). By a
    modified row it is Rx(alpha) Tx(a) Rz(q + theta) Tz(d), with a and alpha of the preceding link, which such tables
    have in the same row (Craig 1989, equation 3.6).

    Parameters
    ----------
    theta, alpha : number or SX [rad]
        Offset added to the joint variable; twist about the x axis.
    d, a : number or SX [m]
    modified : bool
        Whether the table is a modified one.
    limits, name, passive : optional
        As in `revolute`.

    See Also
    --------
    dh_prismatic, revolute

    Examples
    --------
    >>> link = {"mass": 0.5, "com": (-0.2, 0, 0)}  # the frame is at the far end of the link
    >>> one, two = co.Body("one", co.dh_revolute(a=0.4), **link), co.Body("two", co.dh_revolute(a=0.4), "one", **link)
    >>> co.Evaluator(co.Model([one, two])).point("two", q=[0.0, np.pi / 2]).position.round(3)
    array([0.4, 0.4, 0. ])
    >>> first = co.dh_revolute(d=0.333, modified=True)  # of a Panda, as its maker prints the table
    """
    before, after = _dh(theta, d, a, alpha, modified)
    return _joint(before, Screw(_Z, _NONE), after, limits, name, passive)


@spelt
def dh_prismatic(
    theta: Any = 0.0,
    d: Any = 0.0,
    a: Any = 0.0,
    alpha: Any = 0.0,
    limits: Limits | None = None,
    *,
    modified: bool = False,
    name: str | None = None,
    passive: Passive | None = None,
) -> Joint:
    """Prismatic joint from a Denavit-Hartenberg row, Rz(theta) Tz(q + d) Tx(a) Rx(alpha); as in `dh_revolute`.

    By a modified row Rx(alpha) Tx(a) Rz(theta) Tz(q + d).

    See Also
    --------
    dh_revolute, prismatic

    Examples
    --------
    >>> column = co.dh_prismatic(alpha=np.pi, limits=co.Limits(position=(0.0, 0.2)))  # m
    """
    before, after = _dh(theta, d, a, alpha, modified)
    return _joint(before, Screw(_NONE, _Z), after, limits, name, passive)


def _joint(
    before: ca.SX, screw: Screw, after: ca.SX, limits: Limits | None, name: str | None, passive: Passive | None
) -> Joint:
    """A joint; None stands for no limits and no passive parts."""
    limits, passive = Limits() if limits is None else limits, Passive() if passive is None else passive
    return Joint(before, screw, after, limits, name, passive)


def _identity() -> ca.SX:
    return ca.SX.eye(4)


def _placed(placement: Any) -> ca.SX:
    return _identity() if placement is None else rigid("placement", placement)


def _dh(theta: Any, d: Any, a: Any, alpha: Any, modified: bool) -> tuple[ca.SX, ca.SX]:
    """Transforms before and after the motion of the joint, which is along or about z."""
    theta, d, a, alpha = (
        symbolic(f"DH {k}", v, (1, 1)) for k, v in (("theta", theta), ("d", d), ("a", a), ("alpha", alpha))
    )
    angles("DH theta", theta)
    angles("DH alpha", alpha)
    about_z = homogeneous(rotation_about(2, theta), ca.vertcat(0, 0, d))
    about_x = homogeneous(rotation_about(0, alpha), ca.vertcat(a, 0, 0))
    return (about_x, about_z) if flag("modified", modified) else (_identity(), about_z @ about_x)
