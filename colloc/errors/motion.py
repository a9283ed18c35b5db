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
from colloc.problem import Problem
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP

_SINGULAR = 1e-10  # of the largest eigenvalue: an eigenvalue below is zero
_BRISK = 10.0  # rad/s2 or m/s2: a force that accelerates by this is as large as a weight


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
    drift : Deviation
        From a motion in which torques that equations fix, as those of passive joints, have their values.
    push : ndarray, shape (intervals, n)
        Largest amount by which torques miss the values that equations fix, relative to the largest that acts at the
        joint: inertia times acceleration, of the motion or of 10 rad/s2 or m/s2, as a weight has.
    """

    position: np.ndarray
    torque: np.ndarray
    size: np.ndarray
    drift: Deviation
    push: np.ndarray


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

    def relative(self, size: np.ndarray) -> tuple[np.ndarray, float]:
        """Error of every interval, shape (intervals,), and of the whole motion, relative to 1 + the joints' sizes."""
        per_interval = (np.maximum(self.local, self.share) / (1 + size)).max(axis=1, initial=0.0)
        return per_interval, float((self.total / (1 + size)).max(initial=0.0))


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
    position, torque, share, local, push = np.zeros((5, intervals, n))
    size, largest, acting, total = np.zeros((4, n))
    if not n:
        return TorqueError(position, torque, size, Deviation(local, total, share), push)
    slopes = _slopes(problem)
    to_joints = np.linalg.pinv(slopes)
    for degree in sorted(set(grid.basis.degrees.tolist())):
        chosen = np.flatnonzero(grid.basis.degrees == degree)
        coarse, fine = gauss(max(degree - 1, 1))[0], gauss(degree + 3)[0]
        path = _along(motion, chosen, np.append(coarse, fine), coarse.size)
        handed = np.einsum("fk,ikn->ifn", lagrange_values(coarse, fine), path.tau[:, : coarse.size])
        needed = path.tau[:, coarse.size :]
        missing = handed - _times(to_joints, path.missed(handed)) - needed
        strays = _accelerations(path.by_state, _times(path.N.swapaxes(-1, -2), missing), fine, widths[chosen])
        position[chosen] = deviation(strays, path.N, widths[chosen], ends[chosen]).local
        torque[chosen] = np.abs(missing).max(axis=1)
        if slopes.size:
            missed = path.missed(needed)
            local[chosen], more, share[chosen] = deviation(path.yielding(missed), path.N, widths[chosen], ends[chosen])
            total += more
            push[chosen] = np.abs(_times(to_joints, missed)).max(axis=1)
            acting = np.maximum(acting, path.acting())
        size = np.maximum(size, np.abs(path.q).max(axis=(0, 1)))
        largest = np.maximum(largest, np.abs(path.tau).max(axis=(0, 1)))
    largest[slopes.any(axis=0)] = largest.max()
    torque /= np.where(largest > 0, largest, 1.0)
    push /= np.where(acting > 0, acting, 1.0)
    return TorqueError(position, torque, size, Deviation(local, total, share), push)


def _slopes(problem: Problem) -> np.ndarray:
    """What equations that fix torques change by with these, shape (equations, n)."""
    return np.array([equation.slopes for equation in problem.fixed_torques]).reshape(-1, problem.model.n)


class _Path(NamedTuple):
    """A motion at the same points of some intervals, and its equations of motion linearised, from point `first` on.

    Parameters
    ----------
    q, tau : ndarray, shape (intervals, all points, n)
    qdd : ndarray, shape (intervals, points, n)
    N : ndarray, shape (intervals, points, n, m)
        Motion of all joints for one unit of the m that move by themselves.
    inertia : ndarray, shape (intervals, points, n, m)
        Torques for accelerations of these.
    by_state : ndarray, shape (3, intervals, points, m, m)
        Stiffness, damping and mass matrix of these.
    slopes : ndarray, shape (equations, n)
    values : ndarray, shape (intervals, points, equations)
        What equations fix torques at: slopes tau = values.
    held : ndarray of bool, shape (intervals, points, equations)
        Where they do.
    """

    q: np.ndarray
    tau: np.ndarray
    qdd: np.ndarray
    N: np.ndarray
    inertia: np.ndarray
    by_state: np.ndarray
    slopes: np.ndarray
    values: np.ndarray
    held: np.ndarray

    def missed(self, tau: np.ndarray) -> np.ndarray:
        """By how much torques, (intervals, points, n), miss the equations, shape (intervals, points, equations)."""
        return self.held * (tau @ self.slopes.T - self.values)

    def yielding(self, missed: np.ndarray) -> np.ndarray:
        """Accelerations, shape (intervals, points, m), that meet the equations and change the motion least.

        That is, in Gauss's sense, by the kinetic energy of the change: passive joints give way, and driven ones keep to
        their paths. Units, signs of rows, and how often a row is stated do not count.
        """
        J = self.held[..., None] * (self.slopes @ self.inertia)
        yields = _inverse(self.by_state[2]) @ J.swapaxes(-1, -2)
        return _times(yields, _times(_inverse(J @ yields), missed))

    def acting(self) -> np.ndarray:
        """The largest torque that acts at every joint, shape (n,) [N m, N]: weights, or inertia in the motion."""
        free = self.N.shape[-2] == self.N.shape[-1]
        moved = _times(self.inertia, self.qdd if free else _times(np.linalg.pinv(self.N), self.qdd))
        weight = _BRISK * np.einsum("...nm,...nm->...n", self.inertia, self.N)
        return np.maximum(np.abs(weight), np.abs(moved)).max(axis=(0, 1))


def _along(motion: Motion, chosen: np.ndarray, u: np.ndarray, first: int) -> _Path:
    """The motion at points u of some intervals."""
    grid, problem = motion.nlp.grid, motion.nlp.problem
    n, now, fixed = problem.model.n, problem.instant, problem.fixed_torques
    points = points_inside(grid.breakpoints, u).take((chosen[:, None] * u.size + np.arange(u.size)).ravel())
    sites = grid.on(points)

    def expressions() -> list[ca.SX]:
        arguments, values = sites.local.arguments, [equation.value for equation in fixed]
        wanted = ca.vertcat(problem.model.screw_coordinates(now.q), now.tau, now.qdd, *values)
        return [problem.function("model", wanted)(*arguments), *grid.torques.slopes(arguments)]

    values, N, inertia, slopes = sites.evaluate_again(
        "equations of motion", expressions, motion.x, motion.p, virtual=motion.nlp.compile is False
    )
    m = N.shape[1] // n
    # Matrices were evaluated column by column.
    N, inertia = (part.reshape(chosen.size, u.size, m, n)[:, first:].swapaxes(-1, -2) for part in (N, inertia))
    by_state = np.moveaxis(slopes.reshape(chosen.size, u.size, 3, m, m)[:, first:], 2, 0).swapaxes(-1, -2)
    held = [sites.within(equation.window) for equation in fixed]
    held = np.reshape(held, (len(fixed), chosen.size, u.size))[:, :, first:].transpose(1, 2, 0)
    q, tau, qdd, given = np.split(values.reshape(chosen.size, u.size, -1), [n, 2 * n, 3 * n], axis=-1)
    return _Path(q, tau, qdd[:, first:], N, inertia, by_state, _slopes(problem), given[:, first:], held)


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
