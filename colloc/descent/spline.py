"""Clamped splines as plain arrays, for integrals outside a `Problem`, such as those of closed chains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import SplineBasis
from colloc.descent.box import box_of
from colloc.descent.objective import Objective
from colloc.support.checks import InputError, count, finite_array, finite_number, function
from colloc.support.lazy import cached_property

Running = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
Curvature = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class SplineMotion:
    """Motions of n coordinates on clamped B-splines that meet given states at both ends.

    k prescribed derivatives (position, velocity, acceleration) determine the k control points next to an end; the
    others are the unknowns x, point after point (Lee et al. 2005, section II). The end conditions hold for all x.

    Parameters
    ----------
    start, end : shape (k, n), k from 1 to 3
        Positions, and optionally velocities and accelerations.
    duration : float [s]
    intervals : int
        Polynomial pieces; each coordinate has intervals + degree control points.
    degree : int
        At least 3 (cubic), so that accelerations are continuous.
    lower, upper : float or shape (n,), optional
        Bounds on positions, imposed on control points, whose hull contains the spline (equation 7).

    Raises
    ------
    InputError
        For numbers that do not fit, ends that leave no control point free, or that are not within the bounds.

    Examples
    --------
    >>> at_rest = np.array([[0.0], [0.0]]), np.array([[1.0], [0.0]])  # position and velocity at start and end
    >>> motion = co.descent.SplineMotion(*at_rest, duration=1.0, intervals=6)
    """

    start: np.ndarray
    end: np.ndarray
    duration: float
    intervals: int
    degree: int = 3
    lower: Any = -np.inf
    upper: Any = np.inf

    def __post_init__(self):
        for name in ("start", "end"):
            shape = finite_array(name, getattr(self, name)).shape
            if len(shape) != 2 or not 1 <= shape[0] <= 3 or shape[1] == 0 or shape[1] != np.shape(self.start)[-1]:
                raise InputError(f"{name} must be 1 to 3 rows (q, qd, qdd) of n columns, got shape {shape}")
            object.__setattr__(self, name, finite_array(name, getattr(self, name), shape))
        finite_number("duration", self.duration, positive=True)
        count("intervals", self.intervals, at_least=1)
        count("degree", self.degree, at_least=3)
        if (points := self.intervals + self.degree) <= (fixed := len(self.start) + len(self.end)):
            raise InputError(f"the ends fix {fixed} of {points} control points and none is free; use more intervals")
        for name, end in (("start", self.start), ("end", self.end)):
            if not np.array_equal(box_of(self.lower, self.upper, self.n).project(end[0]), end[0]):
                raise InputError(f"{name} must be within bounds {self.lower!r} and {self.upper!r}, got {end[0]}")

    @property
    def n(self) -> int:
        """Number of coordinates."""
        return self.start.shape[1]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return (self.intervals + self.degree - len(self.start) - len(self.end)) * self.n

    @cached_property
    def _spline(self) -> SplineBasis:
        return SplineBasis.of(np.linspace(0, 1, self.intervals + 1), self.degree, self.degree - 1)

    @cached_property
    def quadrature(self) -> tuple[np.ndarray, np.ndarray]:
        """Times and weights, each shape (N,) [s]: degree + 1 Gauss points on every interval, as `BSpline` has."""
        points, weights = gauss(self.degree + 1)
        width = self.duration / self.intervals
        times = (np.arange(self.intervals)[:, None] + points).ravel() * width
        return times, np.tile(weights * width, self.intervals)

    def basis(self, t: np.ndarray) -> np.ndarray:
        """Basis functions and their two derivatives in time, shape (3, N, control points), at times t, shape (N,)."""
        s = finite_array("t", t, (None,)) / self.duration
        columns = self._spline.first[self._spline.interval(s)][:, None] + np.arange(self.degree + 1)
        derivatives = np.zeros((3, s.size, self._spline.size))
        for order in range(3):
            values = self._spline.values(s, order) / self.duration**order
            np.put_along_axis(derivatives[order], columns, values, axis=1)
        return derivatives

    @cached_property
    def _settled(self) -> np.ndarray:
        """Control points, with zeros for free ones."""
        points = np.zeros((self.intervals + self.degree, self.n))
        first, last = self.basis(np.array([0.0, self.duration])).swapaxes(0, 1)
        i, j = len(self.start), len(self.end)
        points[:i] = np.linalg.solve(first[:i, :i], self.start)
        points[-j:] = np.linalg.solve(last[:j, -j:], self.end)
        return points

    def _free(self, points: np.ndarray) -> np.ndarray:
        return points[..., len(self.start) : points.shape[-1] - len(self.end)]

    def states(self, x: np.ndarray, t: np.ndarray | None = None) -> np.ndarray:
        """Positions, velocities and accelerations, shape (3, N, n).

        Parameters
        ----------
        x : ndarray, shape (size,)
        t : ndarray, shape (N,) [s], optional
            By default the times of the quadrature.
        """
        points = self._settled.copy()
        points[len(self.start) : len(points) - len(self.end)] = finite_array("x", x, (self.size,)).reshape(-1, self.n)
        return self.basis(self.quadrature[0] if t is None else t) @ points

    def line(self) -> np.ndarray:
        """Unknowns of the uniform motion from one end to the other, as far as end conditions permit."""
        s = self._spline.greville()[:, None]
        points = (1 - s) * self.start[0] + s * self.end[0]
        return points[len(self.start) : len(points) - len(self.end)].ravel()

    def nearest(self, q: np.ndarray) -> np.ndarray:
        """Unknowns of the motion of least squared distance from given positions, such as those of a coarser motion.

        Parameters
        ----------
        q : ndarray, shape (N, n)
            At the times of the quadrature.
        """
        basis = self.basis(self.quadrature[0])[0]
        shape = (self.quadrature[0].size, self.n)
        return np.linalg.lstsq(self._free(basis), finite_array("q", q, shape) - basis @ self._settled)[0].ravel()

    def objective(self, running: Running, curvature: Curvature | None = None) -> Objective:
        """The time integral of a cost of the state.

        Parameters
        ----------
        running : callable
            States at all times of the quadrature, shape (3, N, n) -> costs, shape (N,), and their gradients in the
            state, shape (3, N, n).
        curvature : callable, optional
            States -> Hessians of the costs in the state, shape (N, 3, n, 3, n).

        Returns
        -------
        Objective
            Of x, shape (size,), within the bounds; with a Hessian if there is a curvature.
        """
        function("running", running, "a function of the states", "states")
        if curvature is not None:
            function("curvature", curvature, "a function of the states", "states")
        times, weights = self.quadrature
        basis = self._free(self.basis(times))

        def first(x: np.ndarray) -> tuple[float, np.ndarray]:
            costs, slopes = running(self.states(x))
            return float(weights @ costs), np.einsum("ktf,t,ktj->fj", basis, weights, slopes, optimize=True).ravel()

        def hessian(x: np.ndarray) -> np.ndarray:
            assert curvature is not None
            bent = curvature(self.states(x)) * weights[:, None, None, None, None]
            matrix = np.einsum("ktf,tkjpl,pth->fjhl", basis, bent, basis, optimize=True)
            return matrix.reshape(self.size, self.size)

        lower, upper = (np.tile(np.broadcast_to(b, self.n), self.size // self.n) for b in (self.lower, self.upper))
        return Objective(first, None if curvature is None else hessian, lower, upper)
