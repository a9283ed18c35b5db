"""The distance between two convex shapes: exact between capsules, otherwise smooth and never larger than the true one.

Between the hulls of the points p and q it is the most that a plane can separate them by, over all unit normals n,

    max_n ( min_i n'p_i - max_j n'q_j ),

negative where they overlap: then how far they must move apart, at least near the best n there is. Minimum and maximum
are smoothed by logarithms of sums of exponentials, which err to one side (Boyd and Vandenberghe 2004, section 3.1.5),

    min_i x_i - e log N  <=  -e log sum_i exp(-x_i / e)  <=  min_i x_i,

so that what any n whatever says of the distance is no more than the truth. It therefore does not matter to safety by
what search n comes: Newton's method on the sphere, from the line of centres, while e falls from the size of the shapes
to what is wanted, each step damped as for generalised self-concordant functions (Sun and Tran-Dinh 2019, equation 19).
The search itself is not differentiated. By the envelope theorem the gradient needs no derivative of n at its optimum,
and second derivatives need the first one of n, which is that of one more Newton step (Christianson 1994).
"""

from __future__ import annotations

import casadi as ca
import numpy as np

_TINY = 1e-12  # m2, beside squared lengths: points in place of segments
_PARALLEL = 1e-6  # squared sine of the angle below which segments count as parallel
_WIDE = 0.3  # of the size of the shapes: the smoothing with which a search begins
_NARROWING, _LAST = 24, 8  # steps of a search, while the smoothing falls and after it
_TRUST = 6.0  # spread of the exponents over a step beyond which it is shortened
_FLAT = 1e-3  # of the smoothing, added to the curvature
_FINE = 2.0**40  # parts of one to which a direction is rounded


def hull_distance(p: ca.SX, q: ca.SX, smoothing: float) -> ca.SX:
    """Distance between the convex hulls of two sets of points, SX, scalar [m].

    Parameters
    ----------
    p, q : SX, shape (3, N), (3, M) [m]
    smoothing : float [m]
        By how much it may be too small, at most; of segments and points it is exact.
    """
    if p.shape[1] <= 2 and q.shape[1] <= 2:
        return segment_distance(p[:, 0], p[:, -1], q[:, 0], q[:, -1])
    width = smoothing / np.log(p.shape[1] * q.shape[1])
    size = _extent(p) + _extent(q)
    n = _unit(ca.sum2(p) / p.shape[1] - ca.sum2(q) / q.shape[1])
    wide = ca.fmax(_WIDE * size, width)
    for k in range(_NARROWING + _LAST):
        share = min(k / (_NARROWING - 1), 1.0)
        gap = _Gap(p, q, n, wide ** (1 - share) * width**share)
        step = gap.step()
        spread = gap.spread(step) / _TRUST + 1e-12
        n = _unit(n + ca.log1p(spread) / spread * step)
    # Rounding has no derivative: none is taken of the search, nor of what it began with.
    n = _unit(ca.floor(n * _FINE) / _FINE)
    step = _Gap(p, q, n, width).step()
    n = _unit(n + step / ca.sqrt(1 + ca.sumsqr(step) * (size / (_TRUST * width)) ** 2))
    return _Gap(p, q, n, width).value


class _Gap:
    """What a plane with the unit normal n separates two hulls by, and its first two derivatives by n."""

    def __init__(self, p: ca.SX, q: ca.SX, n: ca.SX, width: ca.SX | float):
        self.p, self.q, self.n, self.width = p, q, n, width
        (near, self._p, spread_p), (far, self._q, spread_q) = (_soft_max(x, m, width) for x, m in ((p, -n), (q, n)))
        self.value = -near - far
        self.slope = self._p - self._q
        self.bend = (spread_p + spread_q) / width

    def step(self) -> ca.SX:
        """Newton's step on the sphere towards the widest gap, orthogonal to n."""
        n, bend = self.n, self.bend
        # With K the second derivative on the tangent plane, and J a right angle's turn in it: 1/K = J'K J / det K.
        slack = ca.fmax(ca.dot(n, self.slope), 0) + _FLAT * self.width
        turned = ca.cross(n, self.slope)
        across = ca.trace(bend) - ca.dot(n, bend @ n)
        determinant = ca.dot(n, _adjugate(bend) @ n) + slack * across + slack**2
        return ca.cross(bend @ turned + slack * turned, n) / determinant

    def spread(self, step: ca.SX) -> ca.SX:
        """How much a step changes exponents of points of one hull more than those of others."""
        widest = ca.SX(0)
        for points in (self.p, self.q):
            moved = ca.vertsplit(points.T @ step)
            widest = ca.fmax(widest, _largest(moved) - _smallest(moved))
        return widest / self.width


def _soft_max(points: ca.SX, n: ca.SX, width: ca.SX | float) -> tuple[ca.SX, ca.SX, ca.SX]:
    """A smooth upper bound of the largest n'p, the mean of the points by their part in it, and their covariance."""
    if points.shape[1] == 1:
        return ca.dot(points, n), points, ca.SX(3, 3)
    exponents = points.T @ n / width
    shift = ca.floor(_largest(ca.vertsplit(exponents)))  # a whole number, without derivative
    weights = ca.exp(exponents - shift)
    total = ca.sum1(weights)
    weights = weights / total
    mean = points @ weights
    apart = points - ca.repmat(mean, 1, points.shape[1])
    return width * (shift + ca.log(total)), mean, (apart * ca.repmat(weights.T, 3, 1)) @ apart.T


def _largest(entries: list[ca.SX]) -> ca.SX:
    top = entries[0]
    for entry in entries[1:]:
        top = ca.fmax(top, entry)
    return top


def _smallest(entries: list[ca.SX]) -> ca.SX:
    return -_largest([-entry for entry in entries])


def _extent(points: ca.SX) -> ca.SX:
    """Twice the distance from the first point to the furthest, which is no less than the size, and does not turn."""
    return 2 * _largest([ca.norm_2(point - points[:, 0]) for point in ca.horzsplit(points)])


def _unit(vector: ca.SX) -> ca.SX:
    return vector / ca.sqrt(ca.sumsqr(vector) + _TINY**2)


def _adjugate(matrix: ca.SX) -> ca.SX:
    """Of a symmetric matrix, shape (3, 3)."""
    first, second, third = ca.horzsplit(matrix)
    return ca.horzcat(ca.cross(second, third), ca.cross(third, first), ca.cross(first, second)).T


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
