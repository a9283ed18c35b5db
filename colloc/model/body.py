"""A rigid body with the joint that carries it, and the loads that act on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.joint import Joint
from colloc.support.checks import InputError, flag, function, quoted, spelt, symbolic, text
from colloc.support.display import entries
from colloc.support.pickling import Portable

_ROUNDING = 1e-9  # of a tensor, relative to its largest entry
_HEAVIEST = 1e15  # kg or kg m2: more than any ship, and far from where sums of products overflow
_PLACE = 1e-6  # m, an uncertainty of the place of any body's mass


@spelt
@dataclass(frozen=True, eq=False)
class Body(Portable):
    """A rigid link and the joint to its parent.

    Parameters
    ----------
    name : str
    joint : Joint
        Places the link frame relative to the parent's link frame. Its name is that of the body by default.
    parent : str, optional
        Name of the parent body; the world by default.
    mass : number or SX [kg]
        Zero for a virtual link.
    com : shape (3,) [m]
        Centre of mass in the link frame.
    inertia : shape (3, 3), or (3,) for a diagonal tensor [kg m2]
        About the centre of mass, in the axes of the link frame.
    tip : shape (3,), optional [m]
        Far end of the body in the link frame, for pictures.
    any_inertia : bool
        Whether inertias that no mass distribution has are accepted, such as some that are published.

    Raises
    ------
    InputError
        For a negative mass or an inertia that no mass distribution can have.

    Examples
    --------
    >>> rod = {"mass": 1.0, "com": (0.0, -0.5, 0.0), "inertia": (1 / 12, 0.0, 1 / 12)}
    >>> upper = co.Body("upper", co.revolute(axis=(0, 0, 1)), **rod)
    >>> hinge = co.revolute(placement=co.placement((0, -1, 0)))
    >>> lower = co.Body("lower", hinge, parent="upper", tip=(0, -1, 0), **rod)
    >>> co.Model([upper, lower]).joint_names
    ('upper', 'lower')
    """

    name: str
    joint: Joint
    parent: str | None = None
    mass: Any = 0.0
    com: Any = (0.0, 0.0, 0.0)
    inertia: Any = (0.0, 0.0, 0.0)
    tip: Any = None
    any_inertia: bool = False

    def __post_init__(self):
        text("body name", self.name)
        if not isinstance(self.joint, Joint):
            raise InputError(f"joint of body {self.name!r} must be a Joint (see co.revolute), got {quoted(self.joint)}")
        if self.parent is not None and not isinstance(self.parent, str):
            raise InputError(
                f"parent of body {self.name!r} must be the name of a body, got {quoted(self.parent)}; the third "
                "argument is the parent, so write mass=, com= and inertia= by name"
            )
        if self.parent is not None:
            text(f"parent of body {self.name!r}", self.parent)
        label = f"of body {self.name!r}"
        object.__setattr__(self, "mass", symbolic(f"mass {label}", self.mass, (1, 1)))
        object.__setattr__(self, "com", symbolic(f"com {label}", self.com, (3, 1)))
        object.__setattr__(self, "inertia", _tensor(f"inertia {label}", self.inertia))
        if self.tip is not None:
            object.__setattr__(self, "tip", symbolic(f"tip {label}", self.tip, (3, 1)))
        if self.mass.is_constant() and float(self.mass) < 0:
            raise InputError(f"mass {label} must not be negative, got {float(self.mass)}")
        if self.mass.is_constant() and float(self.mass) > _HEAVIEST:
            raise InputError(f"mass {label} must be at most {_HEAVIEST:g} kg, got {float(self.mass):g}: which unit?")
        if self.inertia.is_constant():
            tensor, mass = np.array(ca.DM(self.inertia)), float(self.mass) if self.mass.is_constant() else None
            _check_symmetry(f"inertia {label}", tensor)
            if (largest := float(np.abs(tensor).max())) > _HEAVIEST:
                raise InputError(
                    f"inertia {label} must be at most {_HEAVIEST:g} kg m2, got {largest:g}: in which unit?"
                )
            if flag("any_inertia", self.any_inertia):
                return
            _check_inertia(f"inertia {label}", tensor, mass or 0.0)
            if mass == 0 and tensor.any():
                got = quoted(tensor.tolist())
                raise InputError(
                    f"inertia {label} must be zero because its mass is zero, got {got}: give it a mass, as in mass=1.0"
                )

    def __repr__(self) -> str:
        parts = [repr(self.name), self.joint.kind, f"on {self.parent!r}" if self.parent else "on the world"]
        mass = "massless" if self.mass.is_zero() else f"{entries(self.mass)} kg"
        tip = [] if self.tip is None else [f"tip at {entries(self.tip)} m"]
        return f"Body({', '.join([*parts, mass, *tip])})"

    @property
    def joint_name(self) -> str:
        """Name of the joint that carries the body; the body's by default."""
        return self.joint.name or self.name

    @property
    def pseudo_inertia(self) -> ca.SX:
        """Pseudo-inertia about the origin of the link frame, SX, shape (4, 4).

        The integral of r r' over the mass, with r = (x, y, z, 1) in the link frame: the inertia matrix of the
        recursive Lagrangian dynamics (Xiang et al. 2009, equation 17; general form in Hollerbach 1980).
        """
        moment = self.mass * self.com
        second = ca.trace(self.inertia) / 2 * ca.SX.eye(3) - self.inertia + moment @ self.com.T
        return ca.vertcat(ca.horzcat(second, moment), ca.horzcat(moment.T, self.mass))


@spelt
@dataclass(frozen=True, eq=False)
class Load(Portable):
    """The wrench that the environment applies to a link.

    It enters the actuator torque as -J' w. Each part may be numbers, SX, or a function of the instant that returns
    either (a spring, a drag). The function may use time, positions, velocities, unknowns and parameters, but not
    torques, which depend on the load. A load that uses accelerations (a ground reaction that follows from the motion)
    is legal in inverse dynamics only.

    Parameters
    ----------
    body : str
        Name of the loaded body.
    force : shape (3,) or callable [N]
        In the world frame.
    moment : shape (3,) or callable [N m]
        In the world frame.
    point : shape (3,) or callable [m]
        Point of application, in the link frame.

    Examples
    --------
    >>> payload = co.Load("elbow", force=(0.0, -10.0, 0.0))  # N, at the origin of the link's frame
    >>> drag = co.Load("elbow", force=lambda now: -0.5 * now.point("elbow").velocity)
    >>> co.Evaluator(problem.model, loads=[payload]).torque([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])
    array([8., 4.])
    """

    body: str
    force: Any = (0.0, 0.0, 0.0)
    moment: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)

    def __post_init__(self):
        text("body of a load", self.body)
        for name in ("force", "moment", "point"):
            what, value = f"{name} of the load on {self.body!r}", getattr(self, name)
            if callable(value):
                function(what, value, "a function of the instant", "now")
            else:
                object.__setattr__(self, name, symbolic(what, value, (3, 1)))

    def __repr__(self) -> str:
        parts = []
        for name, unit in (("force", "N"), ("moment", "N m"), ("point", "m")):
            value = getattr(self, name)
            if callable(value):
                parts.append(f"{name} a function")
            elif not value.is_zero():
                parts.append(f"{name} {entries(value)} {unit}")
        return f"Load(on {', '.join([repr(self.body), *parts])})"

    def at(self, now: Any) -> Load:
        """The load with its functions evaluated at an instant.

        Raises
        ------
        InputError
            For a function that depends on torques.
        """
        if not hasattr(now, "tau"):
            raise InputError(f"a load is taken at an Instant, got {quoted(now)}")
        parts = [part(now) if callable(part) else part for part in (self.force, self.moment, self.point)]
        load = Load(self.body, *parts)
        if ca.depends_on(load.wrench, now.tau):
            raise InputError(f"the load on {self.body!r} must not depend on torques")
        return load

    @property
    def wrench(self) -> ca.SX:
        """Force, moment and point of a load without functions in one column, SX, shape (9,)."""
        return ca.vertcat(self.force, self.moment, self.point)


def check_forward(loads: Sequence[Load], qdd: ca.SX) -> None:
    """InputError for loads that depend on accelerations, which forward dynamics computes."""
    for load in loads:
        if ca.depends_on(load.wrench, qdd):
            raise InputError(f"no forward dynamics: the load on {load.body!r} depends on accelerations")


def _tensor(name: str, value: Any) -> ca.SX:
    """Inertia as a 3x3 tensor, from a tensor or its diagonal."""
    if isinstance(value, ca.SX | ca.DM | np.ndarray):
        diagonal = value.shape in ((3,), (3, 1))
    else:
        flat = isinstance(value, list | tuple) and not any(isinstance(row, Sequence | np.ndarray) for row in value)
        diagonal = flat and len(value) == 3
    return ca.diag(symbolic(name, value, (3, 1))) if diagonal else symbolic(name, value, (3, 3))


def _check_symmetry(name: str, tensor: np.ndarray) -> None:
    if np.abs(tensor - tensor.T).max() > _ROUNDING * max(float(np.abs(tensor).max()), 1e-300):
        raise InputError(f"{name} must be symmetric, got {tensor.tolist()}")


def _check_inertia(name: str, tensor: np.ndarray, mass: float) -> None:
    principal = np.linalg.eigvalsh(tensor)
    # Rounding errors of the tensor, and of the place of its mass.
    noise = _ROUNDING * float(np.abs(tensor).max()) + mass * _PLACE**2
    # The largest principal moment cannot exceed the sum of the other two for any mass distribution.
    if principal[2] > principal[0] + principal[1] + noise:  # which a negative moment violates too
        raise InputError(
            f"{name} is physically impossible: principal moments {principal} must be >= 0 and no one may exceed "
            f"the sum of the other two, got {tensor.tolist()}"
        )
