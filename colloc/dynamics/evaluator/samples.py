"""Results of an evaluator: arrays with a row for every sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from colloc.kernels.batch import spread
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class TorqueSensitivities:
    """Actuator torques of N samples and their derivatives.

    Derivatives come as the nonzeros that a tree leaves; dq, dqd and dqdd are filled in on first use, which on a long
    batch takes longer than to compute them.

    Parameters
    ----------
    tau : ndarray, shape (N, n) [N m, N]
    nonzeros : tuple of three ndarray, shape (N, structural nonzeros)
        Of dq, dqd and dqdd.
    places : tuple of three ndarray of int
        Where they stand in the rows, one after another, of an (n, n) matrix.

    Examples
    --------
    >>> still = np.zeros((5, 2))
    >>> tau, dq, dqd, dqdd = co.Evaluator(problem.model).sensitivities(still, still, still)
    >>> dq.shape
    (5, 2, 2)
    """

    tau: np.ndarray
    nonzeros: tuple[np.ndarray, np.ndarray, np.ndarray]
    places: tuple[np.ndarray, np.ndarray, np.ndarray]

    @cached_property
    def dq(self) -> np.ndarray:
        """dtau_i/dq_m at (k, i, m), ndarray, shape (N, n, n)."""
        return self._matrices(0)

    @cached_property
    def dqd(self) -> np.ndarray:
        """dtau_i/dqd_m at (k, i, m), ndarray, shape (N, n, n)."""
        return self._matrices(1)

    @cached_property
    def dqdd(self) -> np.ndarray:
        """dtau_i/dqdd_m at (k, i, m), ndarray, shape (N, n, n)."""
        return self._matrices(2)

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter((self.tau, self.dq, self.dqd, self.dqdd))

    def _matrices(self, k: int) -> np.ndarray:
        *samples, n = self.tau.shape
        return spread(self.nonzeros[k], self.places[k], n * n).reshape(*samples, n, n)


class ReactionSamples(NamedTuple):
    """The wrench that every body's joint transmits, each shape (N, n_bodies, 3) [N], [N m]; see `joint_reactions`."""

    force: np.ndarray
    moment: np.ndarray


class PointSamples(NamedTuple):
    """Position, velocity and acceleration of a point, ndarray, each shape (N, 3), world frame."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class StateDerivatives(NamedTuple):
    """Derivatives of a vector of every joint by q, qd and qdd, ndarray, each shape (N, n_bodies, 3, n)."""

    dq: np.ndarray
    dqd: np.ndarray
    dqdd: np.ndarray


class ReactionSensitivitySamples(NamedTuple):
    """The wrench that every body's joint transmits, and its derivatives.

    Parameters
    ----------
    reactions : ReactionSamples
    force, moment : StateDerivatives
        Entry (k, b, c, m) of `force.dq` is the derivative of component c of the force at body b by q_m.
    """

    reactions: ReactionSamples
    force: StateDerivatives
    moment: StateDerivatives


class SplineSensitivities(NamedTuple):
    """Torques along a spline and their derivatives by its data.

    Parameters
    ----------
    tau : ndarray, shape (N, n) [N m, N]
    points : ndarray, shape (N, n, size, n_q)
        Entry (k, i, j, m) is the derivative of torque i by control point j of position m.
    breakpoints : ndarray, shape (N, n, intervals - 1)
        By the inner breakpoints, as fractions of the duration.
    duration : ndarray, shape (N, n)
        By the duration [s].
    """

    tau: np.ndarray
    points: np.ndarray
    breakpoints: np.ndarray
    duration: np.ndarray
