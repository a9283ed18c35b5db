"""Joints whose coordinates depend on those of others: gears, belts, a gripper's second finger, a sliding knee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import casadi as ca

from colloc.model.functions import CoordinateFunction
from colloc.support.checks import InputError, finite_number, quoted, spelt, text
from colloc.support.pickling import Portable


@spelt
@dataclass(frozen=True)
class Coupling(Portable):
    """The dependence of a joint on another: ratio times its coordinate, or times a curve of it, plus an offset.

    Parameters
    ----------
    joint : str
        Name of the leading joint, which must not follow another.
    ratio : float
        Per rad or m of the leader, or of the curve, in rad or m of the follower.
    offset : float [rad] or [m]
        Coordinate of the follower where the leader, or the curve, is at zero.
    curve : Polynomial, CubicSpline or an object with the same `derivatives`, optional
        Function of the leader's coordinate in place of the coordinate itself.

    Raises
    ------
    InputError
        For numbers that are not finite, or a curve without derivatives.

    See Also
    --------
    Model

    Examples
    --------
    >>> wheel = {"mass": 1.0, "inertia": (0.01, 0.01, 0.02)}
    >>> pinion = co.Body("pinion", co.revolute(), **wheel)
    >>> gear = co.Body("gear", co.revolute(placement=co.placement((0.3, 0.0, 0.0))), **wheel)
    >>> meshed = co.Model([pinion, gear], couplings={"gear": co.model.Coupling("pinion", ratio=-0.5)})
    >>> meshed.joint_names, co.Evaluator(meshed).mass_matrix([0.0])  # 0.02 + 0.5 ** 2 * 0.02
    (('pinion',), array([[0.025]]))

    The follower of a cam that lifts it by 1 mm at the top of every bend:

    >>> lift = co.model.Coupling("cam", curve=co.model.CubicSpline(x=(-1.0, 0.0, 1.0), y=(0.0, 1e-3, 0.0)))
    """

    joint: str
    ratio: float = 1.0
    offset: float = 0.0
    curve: CoordinateFunction | None = None

    def __post_init__(self):
        text("joint of a coupling", self.joint)
        for name in ("ratio", "offset"):
            object.__setattr__(self, name, finite_number(f"{name} of a coupling", getattr(self, name)))
        if self.curve is not None and not callable(getattr(self.curve, "derivatives", None)):
            raise InputError(
                f"curve of a coupling must be a Polynomial, a CubicSpline or have the same method derivatives, got "
                f"{quoted(self.curve)}"
            )

    def __str__(self) -> str:
        offset = f" {'+' if self.offset > 0 else '-'} {abs(self.offset):.4g}" if self.offset else ""
        leader = self.joint if self.curve is None else f"{type(self.curve).__name__}({self.joint})"
        return f"{self.ratio:.4g} {leader}{offset}"

    def derivatives(self, q: ca.SX, count: int) -> list[ca.SX]:
        """The follower's coordinate, SX, scalar, and its first `count` derivatives by the leader's, q."""
        identity = [q, ca.SX(1), *(ca.SX(1, 1) for _ in range(count))][: count + 1]
        of_leader = identity if self.curve is None else self.curve.derivatives(q, count)
        value, *slopes = (part if self.ratio == 1 else self.ratio * part for part in of_leader)
        return [value + self.offset if self.offset else value, *slopes]

    def after(self, leading: Coupling) -> Coupling:
        """The coupling to the leader of `leading`, in place of the joint that `leading` describes."""
        if (leading.ratio, leading.offset, leading.curve) == (1.0, 0.0, None):
            return replace(self, joint=leading.joint)
        if self.curve is None:
            offset = self.ratio * leading.offset + self.offset
            return Coupling(leading.joint, self.ratio * leading.ratio, offset, leading.curve)
        return Coupling(leading.joint, self.ratio, self.offset, Composition(self.curve, leading))


@dataclass(frozen=True)
class Composition(Portable):
    """A curve of a coordinate that itself follows another: the composition of two functions."""

    outer: CoordinateFunction
    inner: Coupling

    def derivatives(self, x: ca.SX, count: int) -> list[ca.SX]:
        """The value at x, SX, scalar, and the first `count` derivatives, four at most (Faà di Bruno)."""
        y, *g = self.inner.derivatives(x, 4)
        value, *f = self.outer.derivatives(y, 4)
        chain = [
            f[0] * g[0],
            f[1] * g[0] ** 2 + f[0] * g[1],
            f[2] * g[0] ** 3 + 3 * f[1] * g[0] * g[1] + f[0] * g[2],
            f[3] * g[0] ** 4 + 6 * f[2] * g[0] ** 2 * g[1] + f[1] * (3 * g[1] ** 2 + 4 * g[0] * g[2]) + f[0] * g[3],
        ]
        return [value, *chain][: count + 1]


class CoupledMotion(NamedTuple):
    """Motion of all joints of a tree with the coordinates of a coupled model, SX.

    Every joint has or follows one coordinate, so that each matrix, shape (tree.n, n), has at most one entry per row.
    With C the derivative of all positions by the coordinates, rates are C qd and accelerations C qdd + C' qd.
    """

    positions: ca.SX  # shape (tree.n_q,)
    bends: Sequence[ca.SX]  # C, and its first three derivatives by the coordinates
    qd: ca.SX  # shape (n,)
    qdd: ca.SX

    @property
    def C(self) -> ca.SX:
        """Rates of all joints per rate of the coordinates, shape (tree.n, n)."""
        return self.bends[0]

    @property
    def C_rate(self) -> ca.SX:
        """Time derivative of C; structurally zero for linear couplings."""
        return _scaled(self.bends[1], self.qd)

    @property
    def C_second(self) -> ca.SX:
        return _scaled(self.bends[2], self.qd**2) + _scaled(self.bends[1], self.qdd)

    @property
    def rates(self) -> ca.SX:
        """Rates of all joints, shape (tree.n,)."""
        return self.C @ self.qd

    @property
    def accelerations(self) -> ca.SX:
        """Accelerations of all joints, shape (tree.n,)."""
        return self.C @ self.qdd + self.C_rate @ self.qd


def _scaled(matrix: ca.SX, factors: ca.SX) -> ca.SX:
    return ca.sparsify(matrix @ ca.diag(factors))
