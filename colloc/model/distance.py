"""The distance between two convex shapes: exact between capsules, otherwise smooth and never larger than the true one.

Between the hulls of the corners p and q it is the largest gap of a separating plane, over all unit normals n,

    max_n ( min_i n'p_i - max_j n'q_j ),

negative where they overlap: then the shortest motion apart, at least near the best n. Minimum and maximum are smoothed
by logarithms of sums of exponentials, which err to one side (Boyd and Vandenberghe 2004, section 3.1.5),

    min_i x_i - e log N  <=  -e log sum_i exp(-x_i / e)  <=  min_i x_i,

so that the gap for any n is a lower bound of the distance, and safety does not depend on the search for n. That is
Newton's method on the sphere, from the line of centres, while e falls from the size of the shapes to its final value,
each step damped as for generalised self-concordant functions (Sun and Tran-Dinh 2019, equation 19).
The search itself is not differentiated. By the envelope theorem the gradient needs no derivative of n at its optimum,
and second derivatives need the first one of n, which is that of one more Newton step (Christianson 1994).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.model.shapes import Core

_TINY = 1e-12  # m2, beside squared lengths: points in place of segments
_PARALLEL = 1e-6  # squared sine of the angle below which segments count as parallel
_WIDE = 0.3  # of the size of the shapes: the smoothing with which a search begins
_NARROWING, _LAST = 24, 8  # steps of a search, while the smoothing falls and after it
_TRUST = 6.0  # spread of the exponents over a step beyond which it is shortened
_FLAT = 1e-3  # of the smoothing, added to the curvature
_FINE = 2.0**40  # parts of one to which a direction is rounded


def hull_distance(a: Core, b: Core, smoothing: float) -> ca.SX:
    """Distance between the convex hulls of two cores in one frame, SX, scalar [m].

    Parameters
    ----------
    a, b : Core
    smoothing : float [m]
        Largest underestimation; the distance between segments and points is exact.
    """
    if max(a.points.shape[1], b.points.shape[1], a.edges.shape[1], b.edges.shape[1]) <= 1:
        return segment_distance(*_ends(a), *_ends(b))
    return _smooth_distance(*(part.shape[1] for part in (*a, *b)), smoothing)(*a, *b)


def _ends(core: Core) -> tuple[ca.SX, ca.SX]:
    """The ends of a segment; a point twice."""
    half = ca.sum2(core.edges)
    return core.points - half, core.points + half


@lru_cache(maxsize=64)  # the graph is the same for all pairs of as many points and edges, and long
def _smooth_distance(points: int, edges: int, others: int, other_edges: int, smoothing: float) -> ca.Function:
    symbols = [ca.SX.sym(f"x{k}", 3, count) for k, count in enumerate((points, edges, others, other_edges))]
    a, b = Core(*symbols[:2]), Core(*symbols[2:])
    width = smoothing / (np.log(points * others) + np.log(2) * (edges + other_edges))
    size = _extent(a) + _extent(b)
    n = _unit(ca.sum2(a.points) / points - ca.sum2(b.points) / others)
    wide = ca.fmax(_WIDE * size, width)
    for k in range(_NARROWING + _LAST):
        share = min(k / (_NARROWING - 1), 1.0)
        gap = _Gap(a, b, n, wide ** (1 - share) * width**share)
        step = gap.step()
        spread = gap.spread(step) / _TRUST + 1e-12
        n = _unit(n + ca.log1p(spread) / spread * step)
    # Rounding has no derivative: none is taken of the search and of its start.
    n = _unit(ca.floor(n * _FINE) / _FINE)
    step = _Gap(a, b, n, width).step()
    n = _unit(n + step / ca.sqrt(1 + ca.sumsqr(step) * (size / (_TRUST * width)) ** 2))
    return ca.Function("distance", symbols, [_Gap(a, b, n, width).value])


class _Gap:
    """The gap between two cores along a unit normal n, and its first two derivatives by n."""

    def __init__(self, a: Core, b: Core, n: ca.SX, width: ca.SX | float):
        self.a, self.b, self.n, self.width = a, b, n, width
        near, far = _support(a, -n, width), _support(b, n, width)
        self.value = -near.height - far.height
        self.slope = near.mean - far.mean
        self.bend = (near.spread + far.spread) / width

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
        """Largest difference that a step makes between the exponents of corners of one core."""
        widest = ca.SX(0)
        for core in (self.a, self.b):
            moved = ca.vertsplit(core.points.T @ step)
            across = 2 * ca.sum1(ca.fabs(core.edges.T @ step))
            widest = ca.fmax(widest, _largest(moved) + _largest([-entry for entry in moved]) + across)
        return widest / self.width


class _Support(NamedTuple):
    """A smooth upper bound of the largest n'x over the corners x of a core."""

    height: ca.SX
    mean: ca.SX  # of the corners by their part in it, shape (3,)
    spread: ca.SX  # their covariance, shape (3, 3)


def _support(core: Core, n: ca.SX, width: ca.SX | float) -> _Support:
    """A `_Support`: sums over corners are products of sums over points and over both ends of every edge."""
    points, edges = core
    height, mean, spread = ca.dot(points[:, 0], n), points[:, 0], ca.SX(3, 3)
    if points.shape[1] > 1:
        exponents = points.T @ n / width
        shift = ca.floor(_largest(ca.vertsplit(exponents)))  # a whole number, without derivative
        weights = ca.exp(exponents - shift)
        total = ca.sum1(weights)
        height, weights = width * (shift + ca.log(total)), weights / total
        mean = points @ weights
        apart = points - ca.repmat(mean, 1, points.shape[1])
        spread = (apart * ca.repmat(weights.T, 3, 1)) @ apart.T
    for edge in ca.horzsplit(edges) if edges.shape[1] else ():
        exponent = ca.dot(edge, n) / width
        shift = ca.floor(ca.fabs(exponent))
        ahead, behind = ca.exp(exponent - shift), ca.exp(-exponent - shift)
        share = (ahead - behind) / (ahead + behind)
        height += width * (shift + ca.log(ahead + behind))
        mean += share * edge
        spread += (1 - share**2) * (edge @ edge.T)
    return _Support(height, mean, spread)


def _largest(entries: list[ca.SX]) -> ca.SX:
    top = entries[0]
    for entry in entries[1:]:
        top = ca.fmax(top, entry)
    return top


def _extent(core: Core) -> ca.SX:
    """An upper bound of the size that does not depend on rotation."""
    reach = _largest([ca.norm_2(point - core.points[:, 0]) for point in ca.horzsplit(core.points)])
    lengths = [ca.norm_2(edge) for edge in ca.horzsplit(core.edges)] if core.edges.shape[1] else []
    return 2 * (reach + ca.sum1(ca.vertcat(0, *lengths)))


def _unit(vector: ca.SX) -> ca.SX:
    return vector / ca.sqrt(ca.sumsqr(vector) + _TINY**2)


def _adjugate(matrix: ca.SX) -> ca.SX:
    """Adjugate of a symmetric matrix, shape (3, 3)."""
    first, second, third = ca.horzsplit(matrix)
    return ca.horzcat(ca.cross(second, third), ca.cross(third, first), ca.cross(first, second)).T


def segment_distance(p: ca.SX, q: ca.SX, r: ca.SX, s: ca.SX) -> ca.SX:
    """Distance between the segments p to q and r to s, SX, scalar [m] (Ericson 2005, section 5.1.9).

    The points are SX, shape (3,) [m]. Derivatives are those of the two closest points, and jump only where these do:
    between segments that become parallel.
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
