"""How far a solution can be trusted between the nodes: its error on every interval, by source.

The motion is a spline and the torque its inverse dynamics, so that no equation of motion is ever violated. What a grid
can be too coarse for is

    dynamics    torques handed over as few numbers: on an interval of degree p a polynomial through its p - 1 Gauss
                points, or the value that an equation fixes, such as the zero torque of a passive joint. The rest,
                integrated over the interval with the equations of motion linearised about the solution, is how far the
                motion strays there: the one-interval error of Haman and Rao (2024), to first order.
    cost        how far its integral is off: the quadrature of the problem against one of twice as many points; and how
                much too high it may be, if torques cost anything: the squared torque beyond those polynomials, about
                what a finer grid would save
    equations   equations along the path, those of states among them, collocated at few sites: by how far the motion
                strays if they are met
    bounds      inequalities, imposed at nodes

All are relative: positions to 1 + the largest of the joint (Betts 2010, section 4.7), the cost to the sum of its terms'
sizes (`cost_size`), rows to their natural size.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.errors.cost_scale import cost_size
from colloc.errors.equations import drift, equation_error
from colloc.errors.states import state_error
from colloc.errors.violations import excesses
from colloc.numerics.quadrature import gauss, lagrange_integrals, lagrange_values
from colloc.problem import Window
from colloc.support.display import Table, short
from colloc.support.lazy import cached_property
from colloc.transcription import NLP

_BEYOND = 1.1  # what a grid finer than that of the excesses finds, at most, over them
_SINGULAR = 1e-10  # of the largest eigenvalue: an eigenvalue below is zero
SOURCES = ("dynamics", "cost", "equations", "bounds")


@dataclass(frozen=True, eq=False, repr=False)
class LocalError:
    """The error of a motion on every interval of its grid; `float(error)` is the largest of its `totals`.

    Parameters
    ----------
    t : ndarray, shape (intervals + 1,) [s]
        Ends of the intervals.
    joints : tuple of str
    position : ndarray, shape (intervals, n) [rad, m]
        How far each joint strays within an interval, under the torques held there.
    torque : ndarray, shape (intervals, n)
        Torque needed less torque held, relative to the largest torque of the joint (of any joint, if it is passive).
    dynamics, cost, equations, bounds : ndarray, shape (intervals,)
        Relative errors by source.
    totals : dict of str to float
        Relative error of the whole motion by source. What violates physics adds up, interval after interval: equations,
        joints whose torque is given, the quadrature. Of all else the worst interval counts.
    """

    t: np.ndarray
    joints: tuple[str, ...]
    position: np.ndarray
    torque: np.ndarray
    dynamics: np.ndarray
    cost: np.ndarray
    equations: np.ndarray
    bounds: np.ndarray
    totals: dict[str, float]

    @cached_property
    def profile(self) -> np.ndarray:
        """The largest relative error of any source on every interval, shape (intervals,)."""
        return np.max([getattr(self, name) for name in SOURCES], axis=0)

    @property
    def coarse(self) -> float:
        """The largest error of a source other than bounds."""
        return max(self.totals[name] for name in SOURCES if name != "bounds")

    @property
    def source(self) -> str:
        """The source of the largest error."""
        return max(self.totals, key=lambda name: self.totals[name])

    @property
    def interval(self) -> int:
        """The interval with the largest error of that source."""
        return int(getattr(self, self.source).argmax())

    def sentence(self, source: str) -> str:
        """What one of the sources does, and where most."""
        k, size = int(getattr(self, source).argmax()), self.totals[source]
        where = f"interval {k}, t = {short(self.t[k])} .. {short(self.t[k + 1])} s"
        if source == "dynamics":
            j = int(self.torque[k].argmax())
            return (
                f"between nodes {self.joints[j]} needs {self.torque[k, j]:.0%} more torque than it is given and strays "
                f"by {short(self.position[k, j])} ({where})"
            )
        if source == "equations":
            return f"between nodes equations are not met, which moves the motion by {short(size)} (most in {where})"
        if source == "cost":
            share = f"{size:.1%}" if size >= 1e-3 else f"{short(size)} of its size"
            return f"the cost is off, or higher than it need be, by about {share} (most in {where})"
        return f"between nodes a bound is off by {short(size)} of its natural size (most in {where})"

    def __float__(self) -> float:
        return max(self.totals.values())

    def __str__(self) -> str:
        return self.sentence(self.source)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = []
        for name in SOURCES:
            values = getattr(self, name)
            k = int(values.argmax())
            where = f"{short(self.t[k])} .. {short(self.t[k + 1])} s"
            lines.append((name, f"{self.totals[name]:.1e}", f"{values[k]:.1e}", f"{k}", where))
        header = ("source", "in all", "largest", "interval", "time")
        return Table(f"Error between nodes: {float(self):.1e}", header, lines)


def local_error(nlp: NLP, x: np.ndarray, p: np.ndarray, whole: float = 0.0) -> LocalError:
    """The error of a motion on every interval.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    whole : float
        Size of a cost that errors of this motion's own are relative to, if it is more.
    """
    position, torque, unresolved, size, drifts = _strayed(nlp, x, p)
    bounds = np.zeros(len(position))
    # What holds at one moment holds there, and cannot be violated between nodes.
    along = [name for name, stated in nlp.problem.rows.items() if isinstance(stated.constraint.where, Window)]
    for excess in excesses(nlp, x, p, names=along):
        rows = excess.stated.rows
        if (chosen := rows.lower < rows.upper).any():
            relative = _BEYOND * (excess.amount / rows.scale[:, None])[chosen].max(axis=0)
            np.maximum.at(bounds, np.minimum(excess.interval, bounds.size - 1), relative)
    relative, cost = position / (1 + size), _cost_error(nlp, x, p, unresolved, whole)
    equations, drifted = equation_error(nlp, x, p, size)
    states, strayed = state_error(nlp, x, p)
    equations, drifted = np.maximum(equations, states), max(drifted, strayed)
    dynamics = max(float(relative.max(initial=0.0)), float((drifts / (1 + size)).max(initial=0.0)))
    totals = {"dynamics": dynamics, "cost": float(cost.sum()), "equations": drifted, "bounds": float(bounds.max())}
    return LocalError(
        nlp.grid.breakpoints * nlp.duration(x),
        nlp.problem.model.joint_names,
        position,
        torque,
        relative.max(axis=1, initial=0.0),
        cost,
        equations,
        bounds,
        totals,
    )


def _strayed(nlp: NLP, x: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, ...]:
    """How far the motion strays, and torque beyond polynomials.

    Position and relative torque errors, each shape (intervals, n); squared torque beyond polynomials, relative to that
    of the motion, shape (intervals,); size of positions, and drift of joints with given torques, each shape (n,).
    """
    grid, problem = nlp.grid, nlp.problem
    n, intervals, widths = problem.model.n, grid.basis.intervals, np.diff(grid.breakpoints) * nlp.duration(x)
    position, torque = np.zeros((2, intervals, n))
    now = problem.instant
    if not n:
        return position, torque, np.zeros(intervals), np.zeros(0), np.zeros(0)
    function = problem.function("model", ca.vertcat(problem.model.screw_coordinates(now.q), now.tau))
    fixed, value = _fixed_torques(nlp)
    free = [j for j in range(n) if j not in fixed]
    size, largest, whole = np.zeros((3, n))
    squares = 0.0
    for degree in np.unique(grid.basis.degrees).tolist():
        own = np.flatnonzero(grid.basis.degrees == degree)
        given, fine = gauss(max(degree - 1, 1))[0], gauss(degree + 3)[0]
        u = np.append(given, fine)
        points = points_inside(grid.breakpoints, u).take((own[:, None] * u.size + np.arange(u.size)).ravel())
        sites = grid.on(points)
        arguments = sites.local.arguments
        moves, _, slopes = grid.torques.slopes(arguments)
        values, moves, slopes = sites.evaluate([function(*arguments), moves, slopes], x, p)
        values, k = values.reshape(own.size, u.size, 2 * n), given.size
        tau = values[:, :, n:]
        # Columns came one after another.
        m = moves.shape[1] // n
        N = moves.reshape(own.size, u.size, m, n)[:, k:].swapaxes(-1, -2)
        by_state = np.moveaxis(slopes.reshape(own.size, u.size, 3, m, m)[:, k:], 2, 0).swapaxes(-1, -2)
        held = np.einsum("fk,ikn->ifn", lagrange_values(given, fine), tau[:, :k])
        missing = held - tau[:, k:]
        for j in fixed:
            missing[:, :, j] = value[j] - tau[:, k:, j]
        strays = _accelerations(by_state, _times(N.swapaxes(-1, -2), missing), fine, widths[own])
        position[own] = drift(strays, N, widths[own]).local
        torque[own] = np.abs(missing).max(axis=1)
        if fixed:
            missing[:, :, free] = 0.0
            strays = _times(_inverse(by_state[2]), _times(N.swapaxes(-1, -2), missing))
            whole += drift(strays, N, widths[own]).whole
        squares += float(widths[own] @ (tau**2).mean(axis=1).sum(axis=1))
        size = np.maximum(size, np.abs(values[:, :, :n]).max(axis=(0, 1)))
        largest = np.maximum(largest, np.abs(tau).max(axis=(0, 1)))
    largest[fixed] = largest.max()
    unresolved = widths * (torque[:, free] ** 2).sum(axis=1) / max(squares, 1e-300)
    return position, torque / np.where(largest > 0, largest, 1.0), unresolved, size, whole


def _accelerations(by_state: np.ndarray, missing: np.ndarray, fine: np.ndarray, widths: np.ndarray) -> np.ndarray:
    """Accelerations away from the motion, shape (intervals, points, n), under torques that miss what it needs.

    To first order M a + C v + K x = missing, with v and x the integrals of a: collocated at the Gauss points, by which
    a light joint that is damped or held by a spring does not stray further than it can.

    Parameters
    ----------
    by_state : ndarray, shape (3, intervals, points, n, n)
        K, C and M, at the Gauss points, of the n joints that move by themselves.
    missing : ndarray, shape (intervals, points, n)
        Generalised forces.
    fine : ndarray, shape (points,)
    widths : ndarray, shape (intervals,) [s]
    """
    K, C, M = by_state
    _, count, n = missing.shape
    once, inverse = lagrange_integrals(fine, fine), _inverse(M)
    twice, free = once @ once, _times(inverse, missing)
    found = np.zeros_like(missing)
    for k, h in enumerate(widths.tolist()):
        damped, stiff = inverse[k] @ C[k], inverse[k] @ K[k]
        pull = h * np.einsum("ef,eij->eifj", once, damped) + h**2 * np.einsum("ef,eij->eifj", twice, stiff)
        whole = np.eye(count * n) + pull.reshape(count * n, -1)
        found[k] = np.linalg.solve(whole, free[k].ravel()).reshape(count, n)
    return found


def _times(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return (matrices @ vectors[..., None])[..., 0]


def _inverse(M: np.ndarray) -> np.ndarray:
    """Accelerations that torques cause; none where the mass matrix is singular: such joints follow no torque.

    Judged after scaling to a diagonal of ones, as joints are in radians and metres, fingers and trunks.
    """
    d = np.diagonal(M, axis1=-2, axis2=-1)
    d = np.sqrt(np.where(d > 0, d, 1.0))
    sizes = d[..., :, None] * d[..., None, :]
    return np.linalg.pinv(M / sizes, rcond=_SINGULAR, hermitian=True) / sizes


def _fixed_torques(nlp: NLP) -> tuple[list[int], np.ndarray]:
    """Joints whose torque is given all along, and its values, shape (n,)."""
    lower, upper = nlp.problem.limits("tau")
    return np.flatnonzero(lower == upper).tolist(), lower


def _cost_error(nlp: NLP, x: np.ndarray, p: np.ndarray, unresolved: np.ndarray, size: float) -> np.ndarray:
    """Error of the cost on every interval, relative to the size of the whole, shape (intervals,).

    The difference of two quadratures, and the share of squared torque that is unresolved.
    """
    grid, problem, T = nlp.grid, nlp.problem, nlp.duration(x)
    widths = np.diff(grid.breakpoints)
    if problem.minimize.is_duration or not problem.integrands:
        return np.zeros(widths.size)
    values = [abs(value) for value in nlp.terms(x, p).values()]
    total = max(cost_size(nlp, x, p), size)
    kinds = [term.fn is not None and not term.terminal for term in problem.minimize.terms]
    on_motion = sum(value for value, integrated in zip(values, kinds, strict=True) if integrated)
    sums = []
    for count in (grid.basis.degree + 1, 2 * grid.basis.degree + 2):
        points, weights = gauss(count)
        sites = grid.on(points_inside(grid.breakpoints, points))
        terms = [factor * function(*sites.local.arguments) for factor, function in problem.integrands.values()]
        (costs,) = sites.evaluate([ca.vertcat(*terms)], x, p)
        shares = (costs.reshape(widths.size, count, -1) * weights[:, None]).sum(axis=1) * widths[:, None] * T
        sums.append(shares.sum(axis=1))
        total = max(total, float(np.abs(shares).sum()))
    return np.abs(sums[0] - sums[1]) / total + unresolved * on_motion / total
