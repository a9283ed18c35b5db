"""How far a motion strays under torques that are handed over as few numbers: what several sources of error start from.

On an interval of degree p the torque of a joint becomes the polynomial through its p - 1 Gauss points, or the value
that an equation fixes, such as the zero torque of a passive joint. What the motion needs beyond that is integrated over
the interval, with the equations of motion linearised about the motion: the one-interval error of Haman and Rao (2024),
to first order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.curves.quadrature import gauss, lagrange_integrals, lagrange_values
from colloc.errors.gap import GapByInterval
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP

_SINGULAR = 1e-10  # of the largest eigenvalue: an eigenvalue below is zero


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion whose errors are measured.

    Parameters
    ----------
    program : NLP or DeferredNLP
    x, p : ndarray
        Decision vector and parameters.
    total_cost_scale : float
        Scale of the cost of the motion of which this is a phase: errors of the cost are relative to no less.
    gap : callable, optional
        Of an optimum of its program, what returns by how much it costs more than it need, in units of the cost.
    """

    program: NLP | DeferredNLP
    x: np.ndarray
    p: np.ndarray
    total_cost_scale: float = 0.0
    gap: Callable[[], GapByInterval] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Motion, (DeferredNLP.of(self.program), self.x, self.p, self.total_cost_scale, self.gap)

    @property
    def nlp(self) -> NLP:
        """Its program, built."""
        return cast(NLP, self.program.built)

    @cached_property
    def widths(self) -> np.ndarray:
        """Widths of the intervals, shape (intervals,) [s]."""
        return np.diff(self.nlp.grid.breakpoints) * self.nlp.duration(self.x)

    @property
    def ends(self) -> np.ndarray:
        """When the intervals end, shape (intervals,) [s]."""
        return np.cumsum(self.widths)

    @cached_property
    def torques(self) -> TorqueError:
        """The error of torques that are handed over as few numbers."""
        return _torque_error(self)


class TorqueError(NamedTuple):
    """The error of torques that are handed over as few numbers, and how far the motion strays under them.

    Parameters
    ----------
    position : ndarray, shape (intervals, n) [rad, m]
        Largest change of position within every interval.
    torque : ndarray, shape (intervals, n)
        Torque needed less torque handed over, relative to the largest of the joint (of any joint, if it is passive).
    size : ndarray, shape (n,) [rad, m]
        Largest position of every joint.
    total : ndarray, shape (n,) [rad, m]
        Largest change of position over the whole motion, by joints whose torque is fixed.
    share : ndarray, shape (intervals, n) [rad, m]
        What every interval has of it.
    """

    position: np.ndarray
    torque: np.ndarray
    size: np.ndarray
    total: np.ndarray
    share: np.ndarray


class Deviation(NamedTuple):
    """Changes of position that wrong accelerations lead to, to first order.

    Parameters
    ----------
    local : ndarray, shape (intervals, n)
        Largest change of position within every interval, counted from its start.
    total : ndarray, shape (n,)
        Largest change of position over the whole motion, since what an interval does to the velocity goes on.
    share : ndarray, shape (intervals, n)
        What every interval has of that: a narrow one strays by little, and leaves a velocity behind.
    """

    local: np.ndarray
    total: np.ndarray
    share: np.ndarray


def deviation(acceleration: np.ndarray, moves: np.ndarray, widths: np.ndarray, ends: np.ndarray) -> Deviation:
    """Accelerations at Gauss points of every interval integrated twice.

    Parameters
    ----------
    acceleration : ndarray, shape (intervals, points, m)
        Of the joints that move by themselves.
    moves : ndarray, shape (intervals, points, n, m)
        Motion of all joints for one unit of these; that of the last point is taken for the end.
    widths, ends : ndarray, shape (intervals,) [s]
        Widths of the intervals and when they end.
    """
    fine = gauss(acceleration.shape[1])[0]
    once = lagrange_integrals(fine, np.append(fine, 1.0))
    h = widths[:, None, None]
    position = np.einsum("ef,ifn->ien", once @ once[:-1], acceleration) * h**2
    velocity = np.einsum("f,ifn->in", once[-1], acceleration) * widths[:, None]
    local = (np.concatenate([moves, moves[:, -1:]], axis=1) @ position[..., None])[..., 0]
    # What an interval leaves behind, position + velocity (t - end), at the ends of it and of all that follow.
    behind = position[:, -1] - velocity * ends[:, None]
    whole = _times(moves[:, -1], np.cumsum(behind, axis=0) + np.cumsum(velocity, axis=0) * ends[:, None])
    furthest = np.abs(whole).argmax(axis=0)
    rows = moves[furthest, -1, np.arange(furthest.size)].T
    share = np.abs(behind @ rows + velocity @ rows * ends[furthest])
    share[np.arange(len(share))[:, None] > furthest] = 0.0
    return Deviation(np.abs(local).max(axis=1), np.abs(whole).max(axis=0), share)


def _torque_error(motion: Motion) -> TorqueError:
    """All intervals, those of equal degree together."""
    grid, problem, widths, ends = motion.nlp.grid, motion.nlp.problem, motion.widths, motion.ends
    n, intervals = problem.model.n, grid.basis.intervals
    position, torque, share = np.zeros((3, intervals, n))
    if not n:
        return TorqueError(position, torque, np.zeros(0), np.zeros(0), share)
    lower, upper = problem.limits("tau")
    fixed = np.flatnonzero(lower == upper).tolist()
    free = [j for j in range(n) if j not in fixed]
    size, largest, total = np.zeros((3, n))
    for degree in np.unique(grid.basis.degrees).tolist():
        chosen = np.flatnonzero(grid.basis.degrees == degree)
        coarse, fine = gauss(max(degree - 1, 1))[0], gauss(degree + 3)[0]
        q, tau, N, by_state = _along(motion, chosen, np.append(coarse, fine), coarse.size)
        needed = tau[:, coarse.size :]
        missing = np.einsum("fk,ikn->ifn", lagrange_values(coarse, fine), tau[:, : coarse.size]) - needed
        for j in fixed:
            missing[:, :, j] = lower[j] - needed[:, :, j]
        transposed = N.swapaxes(-1, -2)
        strays = _accelerations(by_state, _times(transposed, missing), fine, widths[chosen])
        position[chosen] = deviation(strays, N, widths[chosen], ends[chosen]).local
        torque[chosen] = np.abs(missing).max(axis=1)
        if fixed:
            missing[:, :, free] = 0.0
            strays = _times(_inverse(by_state[2]), _times(transposed, missing))
            of_fixed = deviation(strays, N, widths[chosen], ends[chosen])
            total += of_fixed.total
            share[chosen] = of_fixed.share
        size = np.maximum(size, np.abs(q).max(axis=(0, 1)))
        largest = np.maximum(largest, np.abs(tau).max(axis=(0, 1)))
    largest[fixed] = largest.max()
    return TorqueError(position, torque / np.where(largest > 0, largest, 1.0), size, total, share)


def _along(
    motion: Motion, chosen: np.ndarray, u: np.ndarray, first: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The motion at the same points u of some intervals, and its equations of motion linearised from point `first` on.

    Positions and torques, each shape (intervals, points, n); what all joints move by with the m that move by
    themselves, (intervals, points, n, m); stiffness, damping and mass matrix of these, (3, intervals, points, m, m).
    """
    grid, problem = motion.nlp.grid, motion.nlp.problem
    n, now = problem.model.n, problem.instant
    points = points_inside(grid.breakpoints, u).take((chosen[:, None] * u.size + np.arange(u.size)).ravel())
    sites = grid.on(points)

    def expressions() -> list[ca.SX]:
        arguments = sites.local.arguments
        function = problem.function("model", ca.vertcat(problem.model.screw_coordinates(now.q), now.tau))
        moves, _, slopes = grid.torques.slopes(arguments)
        return [function(*arguments), moves, slopes]

    values, moves, slopes = sites.evaluate_again(
        "equations of motion", expressions, motion.x, motion.p, virtual=motion.nlp.compile is False
    )
    values, m = values.reshape(chosen.size, u.size, 2 * n), moves.shape[1] // n
    # Matrices were evaluated column by column.
    N = moves.reshape(chosen.size, u.size, m, n)[:, first:].swapaxes(-1, -2)
    by_state = np.moveaxis(slopes.reshape(chosen.size, u.size, 3, m, m)[:, first:], 2, 0).swapaxes(-1, -2)
    return values[:, :, :n], values[:, :, n:], N, by_state


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
    accelerations = np.zeros_like(missing)
    for k, h in enumerate(widths.tolist()):
        damped, stiff = inverse[k] @ C[k], inverse[k] @ K[k]
        pull = h * np.einsum("ef,eij->eifj", once, damped) + h**2 * np.einsum("ef,eij->eifj", twice, stiff)
        matrix = np.eye(count * n) + pull.reshape(count * n, -1)
        accelerations[k] = np.linalg.solve(matrix, free[k].ravel()).reshape(count, n)
    return accelerations


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
