"""Forces at contact times that are equivalent to multipliers of control points.

A bound on the control points of a spline bounds the spline. Multipliers of control points are forces on functions that
extend over several intervals. Those of the continuous problem act only where the spline is at its bound: as a density
on arcs, with jumps where these begin and end (Jacobson, Lele and Speyer 1971).

Not all multipliers can be represented in this way: next to an arc a control point may be at the bound while the spline
is approaching it. The remainder acts at the times of the control points, which preserves the sum of the forces and
their moment. Its price, multiplier times distance from the bound, is a loss of the dual problem.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import SplineBasis

_CONTACT = 1e-4  # of the natural size: a closer spline is at its bound
_MET = 1e-3  # of the largest multiplier: free remainder of the least squares
_EVEN = 1e-2  # weight of jumps of a density between arcs, to which splines are almost insensitive
_ACCURACY = 1e-12  # tolerance of the least squares, whose numbers are about one
_LITTLE = 1e-4  # of the largest multiplier, and of the largest part of the measure
_PLACES = np.linspace(0.0, 1.0, 7)  # points of an interval at which contact is checked


class BoundContact(NamedTuple):
    """Forces in time that are equivalent to multipliers of control points.

    Parameters
    ----------
    s : ndarray, shape (K,)
    interval : ndarray of int, shape (K,)
    values : ndarray, shape (K,)
    dense : ndarray of bool, shape (K,)
        Mask of the forces that are part of a linear density on the interval.
    idle : ndarray, shape (K,)
        The forces times the distance of the spline from its bound.
    """

    s: np.ndarray
    interval: np.ndarray
    values: np.ndarray
    dense: np.ndarray
    idle: np.ndarray


def contact(
    basis: SplineBasis, points: np.ndarray, pull: np.ndarray, bounds: tuple[float, float], size: float
) -> BoundContact:
    """Forces where a spline is at its bounds; the remainder acts at the control points.

    Parameters
    ----------
    basis : SplineBasis
    points, pull : ndarray, shape (basis.size,)
        Control points and their multipliers, positive at the upper bound.
    bounds : (float, float)
    size : float
        Natural size of the spline.
    """
    parts = [
        _on_one_side(basis, sign * points, np.maximum(sign * pull, 0.0), sign * bound, size, sign)
        for sign, bound in ((1.0, bounds[1]), (-1.0, bounds[0]))
        if (sign * pull > 0).any()
    ]
    none = BoundContact(np.zeros(0), np.zeros(0, int), np.zeros(0), np.zeros(0, bool), np.zeros(0))
    return BoundContact(*map(np.concatenate, zip(none, *parts, strict=True)))


def _on_one_side(
    basis: SplineBasis, points: np.ndarray, pull: np.ndarray, bound: float, size: float, sign: float
) -> BoundContact:
    """The forces of an upper bound, times a sign."""
    jumps, arcs = _candidates(basis, points, bound, size)
    nodes, weights = gauss(basis.degree + 1)
    widths = np.diff(basis.breakpoints)
    s = basis.breakpoints[arcs, None] + widths[arcs, None] * nodes
    at = np.repeat(arcs, nodes.size)
    hats = np.stack([1 - nodes, nodes]) * weights  # a falling and a rising density over an interval
    columns = [_functions(basis, jumps[0], jumps[1])]
    inside = _functions(basis, s.ravel(), at).reshape(arcs.size, nodes.size, basis.size)
    columns += [np.einsum("anb,n->ab", inside, hat) * widths[arcs, None] for hat in hats]
    matrix = np.vstack(columns).T
    measure, rest = _nonnegative(matrix, _jumps_of_density(arcs, jumps[0].size), pull)
    single, (falling, rising) = measure[: jumps[0].size], measure[jumps[0].size :].reshape(2, -1)
    density = (falling[:, None] * hats[0] + rising[:, None] * hats[1]) * widths[arcs, None]
    greville, interval = basis.sites()
    some = rest != 0
    places = np.concatenate([jumps[0], s.ravel(), greville[some]])
    intervals = np.concatenate([jumps[1], at, interval[some]])
    amounts = np.concatenate([single, density.ravel(), rest[some]])
    # The remainder may be negative: then the distance to the other bound counts.
    room = np.maximum(bound - _functions(basis, places, intervals) @ points, 0.0) + 2 * size * (amounts < 0)
    dense = np.zeros(places.size, dtype=bool)
    dense[single.size : single.size + density.size] = True
    return BoundContact(places, intervals, sign * amounts, dense, np.abs(amounts) * room)


def _candidates(
    basis: SplineBasis, points: np.ndarray, bound: float, size: float
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Times where contact begins, ends or is isolated, with their intervals; intervals entirely in contact."""
    s = basis.breakpoints[:-1, None] + np.diff(basis.breakpoints)[:, None] * _PLACES
    at = np.repeat(np.arange(basis.intervals), _PLACES.size)
    values = (_functions(basis, s.ravel(), at) @ points).reshape(s.shape)
    touching = np.less(np.abs(values - bound), _CONTACT * size)
    whole = np.asarray(touching.all(axis=1))
    beside = np.pad(whole, 1)
    edge = touching & ~whole[:, None]
    edge[:, 0] |= whole & ~beside[:-2]
    edge[:, -1] |= whole & ~beside[2:]
    return (s[edge], at.reshape(s.shape)[edge]), np.flatnonzero(whole)


def _functions(basis: SplineBasis, s: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """All basis functions at times, shape (N, basis.size)."""
    dense = np.zeros((s.size, basis.size + basis.degree))
    columns = basis.first[interval][:, None] + np.arange(basis.degree + 1)
    np.put_along_axis(dense, columns, basis.values(s, 0, interval), axis=1)
    return dense[:, : basis.size]


def _jumps_of_density(arcs: np.ndarray, single: int) -> np.ndarray:
    """Rows that penalise differences of the density between neighbouring arcs.

    The columns are `single` jumps, then falling and rising densities over the arcs.
    """
    next_to = np.flatnonzero(np.diff(arcs) == 1)
    rows, each = np.zeros((next_to.size, single + 2 * arcs.size)), np.arange(next_to.size)
    rows[each, single + next_to + 1], rows[each, single + arcs.size + next_to] = 1.0, -1.0
    return rows


def _nonnegative(matrix: np.ndarray, even: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Nonnegative least squares: amounts of the columns, and the remainder of the values.

    Remainders cost `_MET` of the largest value; rows of `even` are satisfied as far as possible.
    """
    count, size, lengths = matrix.shape[1], values.max(), np.linalg.norm(matrix, axis=0)
    seen, large = matrix.any(axis=1), values > _LITTLE * size
    rows, alone = seen | large, np.eye(values.size)[:, large]
    smooth = _EVEN * even / lengths * lengths.mean() if count else even
    every = np.block([[(matrix / lengths)[rows], alone[rows]], [smooth, np.zeros((len(even), alone.shape[1]))]])
    wanted = np.append(values[rows] / size, np.zeros(len(even)))
    cost = np.append(np.zeros(count), np.full(alone.shape[1], _MET))
    normal = ca.sparsify(ca.DM(every.T @ every))
    options = {"piqp": {"verbose": False, "eps_abs": _ACCURACY, "eps_rel": _ACCURACY}, "error_on_fail": False}
    solver = ca.conic("measure", "piqp", {"h": normal.sparsity()}, options)
    amounts = np.maximum(np.array(solver(h=normal, g=cost - every.T @ wanted, lbx=0.0)["x"]).ravel(), 0.0)
    # An interior point method leaves small amounts everywhere: columns with more are solved again, exactly.
    some = amounts > _LITTLE * amounts.max()
    while True:
        exact = np.linalg.lstsq(every[:, some], wanted, rcond=None)[0]
        if (exact >= 0).all():
            break
        some[np.flatnonzero(some)[exact < 0]] = False
    amounts[~some], amounts[some] = 0.0, exact
    measure = size * amounts[:count] / lengths
    return measure, values - matrix @ measure
