"""Deviation of a motion under interpolated torques, on which several sources of error are based.

On an interval of degree p the torque of a joint is replaced by the polynomial through its p - 1 Gauss points, or by the
value that an equation prescribes, such as the zero torque of a passive joint. The difference from the required torque
is integrated over the interval with the equations of motion linearised about the motion: the one-interval error of
Haman and Rao (2024), to first order.
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

_SINGULAR = 1e-10  # of the largest eigenvalue: smaller ones count as zero
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
        Scale of the cost of the whole motion if this is a phase: lower limit of the scale of errors of the cost.
    gap : callable, optional
        For an optimum of its program, a function that returns its `CostGap`.
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
        """The program, built."""
        return cast(NLP, self.program.built)

    @cached_property
    def widths(self) -> np.ndarray:
        """Widths of the intervals, shape (intervals,) [s]."""
        return np.diff(self.nlp.grid.breakpoints) * self.nlp.duration(self.x)

    @property
    def ends(self) -> np.ndarray:
        """Ends of the intervals, shape (intervals,) [s]."""
        return np.cumsum(self.widths)

    @cached_property
    def torques(self) -> TorqueError:
        """The error of torques that are handed over as few numbers."""
        return _torque_error(self)


class TorqueError(NamedTuple):
    """The error of interpolated torques, and the deviation of the motion under them.

    Parameters
    ----------
    position : ndarray, shape (intervals, n) [rad, m]
        Largest change of position within every interval.
    torque : ndarray, shape (intervals, n)
        Required minus interpolated torque, relative to the largest of the joint (of any joint, if it is passive).
    size : ndarray, shape (n,) [rad, m]
        Largest position of every joint.
    drift : Deviation
        From a motion in which torques prescribed by equations, such as those of passive joints, have their values.
    push : ndarray, shape (intervals, n)
        Largest difference between torques and the values that equations prescribe, relative to the largest torque at
        the joint: inertia times acceleration, of the motion or of 10 rad/s2 or m/s2, that of a weight.
    """

    position: np.ndarray
    torque: np.ndarray
    size: np.ndarray
    drift: Deviation
    push: np.ndarray


class Deviation(NamedTuple):
    """Changes of position due to wrong accelerations, to first order.

    Parameters
    ----------
    local : ndarray, shape (intervals, n)
        Largest change of position within every interval, from its start.
    total : ndarray, shape (n,)
        Largest change of position over the whole motion: changes of velocity in an interval persist.
    share : ndarray, shape (intervals, n)
        Part of each interval in the total: a narrow interval deviates little, but changes the velocity.
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
        Of the independent joints.
    moves : ndarray, shape (intervals, points, n, m)
        Motion of all joints per unit of these; that of the last point is used for the end.
    widths, ends : ndarray, shape (intervals,) [s]
        Widths and ends of the intervals.
    """
    fine = gauss(acceleration.shape[1])[0]
    once = lagrange_integrals(fine, np.append(fine, 1.0))
    h = widths[:, None, None]
    position = np.einsum("ef,ifn->ien", once @ once[:-1], acceleration) * h**2
    velocity = np.einsum("f,ifn->in", once[-1], acceleration) * widths[:, None]
    local = (np.concatenate([moves, moves[:, -1:]], axis=1) @ position[..., None])[..., 0]
    # Effect of an interval, position + velocity (t - end), at the ends of this and all later intervals.
    behind = position[:, -1] - velocity * ends[:, None]
    whole = _times(moves[:, -1], np.cumsum(behind, axis=0) + np.cumsum(velocity, axis=0) * ends[:, None])
    furthest = np.abs(whole).argmax(axis=0)
    rows = moves[furthest, -1, np.arange(furthest.size)].T
    share = np.abs(behind @ rows + velocity @ rows * ends[furthest])
    share[np.arange(len(share))[:, None] > furthest] = 0.0
    return Deviation(np.abs(local).max(axis=1), np.abs(whole).max(axis=0), share)


def _torque_error(motion: Motion) -> TorqueError:
    """The error on all intervals; intervals of equal degree are evaluated together."""
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
    """Derivatives of equations that prescribe torques with respect to these, shape (equations, n)."""
    return np.array([equation.slopes for equation in problem.fixed_torques]).reshape(-1, problem.model.n)


class _Path(NamedTuple):
    """A motion at the same points of some intervals, and its linearised equations of motion, from point `first` on.

    Parameters
    ----------
    q, tau : ndarray, shape (intervals, all points, n)
    qdd : ndarray, shape (intervals, points, n)
    N : ndarray, shape (intervals, points, n, m)
        Motion of all joints per unit of the m independent ones.
    inertia : ndarray, shape (intervals, points, n, m)
        Torques per acceleration of these.
    by_state : ndarray, shape (3, intervals, points, m, m)
        Stiffness, damping and mass matrix of these.
    slopes : ndarray, shape (equations, n)
    values : ndarray, shape (intervals, points, equations)
        Prescribed values: slopes tau = values.
    held : ndarray of bool, shape (intervals, points, equations)
        Where the equations hold.
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
        """Residuals of the equations at torques (intervals, points, n), shape (intervals, points, equations)."""
        return self.held * (tau @ self.slopes.T - self.values)

    def yielding(self, missed: np.ndarray) -> np.ndarray:
        """Accelerations, shape (intervals, points, m), that satisfy the equations and change the motion least.

        The change is measured by its kinetic energy (Gauss): passive joints move, driven ones keep to their paths.
        Units, signs and repetitions of rows do not matter.
        """
        J = self.held[..., None] * (self.slopes @ self.inertia)
        yields = _inverse(self.by_state[2]) @ J.swapaxes(-1, -2)
        return _times(yields, _times(_inverse(J @ yields), missed))

    def acting(self) -> np.ndarray:
        """The largest torque at every joint, shape (n,) [N m, N]: weight, or inertia times acceleration."""
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
    """Accelerations relative to the motion, shape (intervals, points, n), under torques that differ from the required
    ones.

    To first order M a + C v + K x = missing, with v and x the integrals of a, collocated at the Gauss points, so that
    damping and springs limit the deviation of a light joint.

    Parameters
    ----------
    by_state : ndarray, shape (3, intervals, points, n, n)
        K, C and M, at the Gauss points, of the n independent joints.
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
    """Inverse of the mass matrix; zero in singular directions, in which joints follow no torque.

    Singular directions are found after scaling to a unit diagonal, since joints differ in units and size.
    """
    d = np.diagonal(M, axis1=-2, axis2=-1)
    d = np.sqrt(np.where(d > 0, d, 1.0))
    sizes = d[..., :, None] * d[..., None, :]
    return np.linalg.pinv(M / sizes, rcond=_SINGULAR, hermitian=True) / sizes
