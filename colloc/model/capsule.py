"""Capsules on links and in the world, and the distance between two of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca

from colloc.support.checks import InputError, spelt, symbolic, text
from colloc.support.display import entries
from colloc.support.pickling import Portable

_TINY = 1e-12  # m2, beside squared lengths: points in place of segments
_PARALLEL = 1e-6  # squared sine of the angle below which segments count as parallel


@spelt
@dataclass(frozen=True, eq=False)
class Capsule(Portable):
    """A round bar with hemispheres at its ends, fixed to a body or to the world; a ball if both ends are one.

    Parameters
    ----------
    body : str or None
        Name of the body; None for the world.
    start, end : shape (3,) [m]
        Ends of its axis, numbers or symbols, in the link frame or the world's.
    radius : number or SX [m]

    Raises
    ------
    InputError
        For points of another shape, or a negative radius.

    Examples
    --------
    >>> forearm = co.Capsule("elbow", (-0.4, 0, 0), (0, 0, 0), radius=0.04)
    >>> pillar = co.Capsule(None, (0.5, 0.2, -1.0), (0.5, 0.2, 1.0), radius=0.05)
    >>> keep_off = co.apart(forearm, pillar, by=0.01)
    """

    body: str | None
    start: Any
    end: Any
    radius: Any

    def __post_init__(self):
        if self.body is not None:
            text("body of a capsule", self.body)
        for name, shape in (("start", (3, 1)), ("end", (3, 1)), ("radius", (1, 1))):
            object.__setattr__(self, name, symbolic(f"{name} of a capsule", getattr(self, name), shape))
        if self.radius.is_constant() and float(self.radius) < 0:
            raise InputError(f"radius of a capsule must not be negative, got {float(self.radius)}")

    @property
    def label(self) -> str:
        """Name of what it is fixed to."""
        return self.body or "world"

    def __repr__(self) -> str:
        ends = " to ".join(entries(end) for end in (self.start, self.end))
        return f"Capsule(on {self.label}, {ends}, radius {entries(self.radius)} m)"


def segment_distance(p: ca.SX, q: ca.SX, r: ca.SX, s: ca.SX) -> ca.SX:
    """Distance between the segments p to q and r to s, SX, scalar [m] (Ericson 2005, section 5.1.9).

    Its derivatives are those of the two closest points. They jump only where these jump: between segments that become
    parallel.

    Parameters
    ----------
    p, q, r, s : SX, shape (3,) [m]
    """
    u, v, w = q - p, s - r, p - r
    a, b, c = ca.sumsqr(u) + _TINY, ca.dot(u, v), ca.sumsqr(v) + _TINY
    d, e = ca.dot(u, w), ca.dot(v, w)
    # On the first line as if the second were endless, then on the second, then on the first again as that was cut.
    share = _cut((b * e - c * d) / (a * c * (1 + _PARALLEL) - b**2))
    other_share = _cut((b * share + e) / c)
    share = _cut((b * other_share - d) / a)
    return ca.sqrt(ca.sumsqr(w + share * u - other_share * v) + _TINY**2)


def _cut(share: ca.SX) -> ca.SX:
    return ca.fmin(ca.fmax(share, 0), 1)
