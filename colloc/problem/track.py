"""A cost for tracking: squared distances of the motion from measured time series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from math import ceil
from typing import Any

import casadi as ca
import numpy as np

from colloc.curves.spline_basis import SplineBasis, cox_de_boor
from colloc.problem.cost import Cost, integral
from colloc.problem.rows import column, name_of
from colloc.problem.smoothing import (
    basis_on,
    closest,
    finer_sites,
    low_pass,
    sample_basis,
    smoothed,
    smoothers,
    spline_matrix,
)
from colloc.support.checks import (
    InputError,
    count,
    finite_array,
    finite_number,
    float_array,
    quoted,
    spelt,
    text,
    warn,
)
from colloc.support.display import short

_HIGHEST = 7  # degree
_MOST = 100  # polynomials by default: each costs operations at every node
_FINEST = 400  # polynomials, where fewer are off the samples
_PER_PERIOD = 6  # polynomials in a period of the cutoff frequency, which change what it keeps by 1e-3
_NOISE = 6.0  # standard deviations by which splines may be off a sample
_ROUNDING = 1e-9  # of the largest sample, and in its unit
_OFF = 0.01  # share of the range of its samples by which a component without a deviation may be off


@spelt
def track(
    times: Any,
    values: Any,
    of: Callable[[Any], Any],
    *,
    weight: Any = 1.0,
    deviation: Any = 0.0,
    cutoff: float | None = None,
    degree: int = 3,
    pieces: int | None = None,
    name: str | None = None,
) -> Cost:
    """The distance from measured time series: the time integral of weight times the squared distances.

    Splines represent the samples, so that nodes need not be at sample times, and durations may be free. They
    interpolate, or, with the standard deviation of the noise or a cutoff frequency, smooth. Samples that are NaN
    are left out, component by component: the weight falls linearly to zero at the time of a missing sample, and within
    one interval beyond the first and the last sample. A motion may therefore be longer than the record, or shorter.
    With a cutoff, splines bridge gaps shorter than half of its period, and around longer ones the weight falls within
    that time. The terms are squares for `Hessian.GAUSS_NEWTON`.

    Parameters
    ----------
    times : shape (N,) [s]
        Rising, counted from the start of the motion.
    values : shape (N,) or (N, k)
        Samples of any quantity: joint angles, coordinates of markers, forces; NaN where missing.
    of : callable
        Instant -> the measured quantity, SX scalar or column of k, in the unit of the values.
    weight : float or shape (k,)
        Positive; cost per second and square of the unit of the values.
    deviation : float or shape (k,)
        Standard deviation of the noise, in the unit of the values; 0 smooths nothing.
    cutoff : float, optional [Hz]
        Frequency of which splines keep half, instead of a deviation. They are low-pass filters: a degree of 5 is a
        Butterworth filter of order 3 that runs forward and backward, 3 one of order 2 (`colloc.problem.smoothing`).
    degree : int
        Of the splines, 1 to 7, with degree - 1 continuous derivatives: exact Hessians with a free duration need two.
    pieces : int, optional
        Number of polynomials in the splines, at most N - degree, which interpolate. By default that number, but not
        over 100: splines of longer records are least-squares fits unless they smooth. Without a deviation, polynomials
        that are off a sample by over 1 % of its component's range are halved, up to 400 in all. With a cutoff there are
        six in each of its periods.
    name : str, optional
        Name of the term in reports.

    Raises
    ------
    InputError
        For times that do not rise, values of another shape, infinite ones, or a component with fewer than degree + 1
        samples; when the problem is made, for a function of another size than the values.
    InputWarning
        For splines that are off by more than that, or by more than six deviations, with the distance and the time: an
        outlier, or a long record.

    See Also
    --------
    integral

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 101)  # s
    >>> hand = np.column_stack([0.6 + 0.1 * np.cos(t), 0.2 * np.sin(t), 0.0 * t])  # m
    >>> record = co.track(t, hand, of=lambda now: now.point("elbow").position, weight=1 / 0.005**2, deviation=0.001)
    >>> follow = co.Problem(two_link(), 1.0, record)
    >>> fit = co.solve(follow, co.BSpline(10), guess=co.line((-0.5, 1.0), (0.0, 1.0)))
    >>> bool(np.abs(fit.evaluate(lambda now: now.point("elbow").position, t) - hand).max() < 1e-3)
    True
    """
    label = name_of("track", of, name, "now") or "track"
    measured = record(label, times, values, deviation, degree, pieces, cutoff=cutoff)
    weights = finite_array(f"weight of {label!r}", weight, (measured.size,))
    if (weights <= 0).any():
        raise InputError(f"weight of {label!r} must be positive, got {quoted(weight)}")
    return integral(Tracked(label, measured, of, weights), label)


@spelt
def track_motion(
    times: Any,
    positions: Any,
    *,
    weight: Any = 1e5,
    acceleration: float = 1.0,
    cutoff: float | None = None,
    degree: int = 5,
    name: str = "motion",
) -> Cost:
    """The distance from a recorded motion of all joints, in positions and accelerations.

    Accelerations are the second derivatives of the splines through the positions. Without them a motion that follows a
    record to micrometres may shake between its nodes wherever that saves effort.

    Parameters
    ----------
    times : shape (N,) [s]
        Rising, counted from the start of the motion.
    positions : shape (N, n) [rad, m]
        Of all joints of the model, without quaternions: angles of inverse kinematics, or ``solution.at(times).q``.
    weight : float or shape (n,)
        Positive; cost per second and square of a position.
    acceleration : float
        Positive; cost per second and square of an acceleration.
    cutoff : float, optional [Hz]
        As in `track`, of a low-pass filter of the positions.
    degree : int
        Of the splines, 3 to 7.
    name : str
        Of the term in reports.

    Raises
    ------
    InputError
        As in `track`.

    Examples
    --------
    >>> t = np.linspace(0.0, 1.0, 101)  # s
    >>> angles = np.column_stack([-0.5 + 0.5 * t, 1.0 + 0.2 * np.sin(3.0 * t)])  # rad
    >>> follow = co.Problem(two_link(), 1.0, co.problem.track_motion(t, angles, cutoff=6.0))
    >>> fit = co.solve(follow, co.BSpline(10, degree=5), guess=co.line(angles[0], angles[-1]))
    >>> bool(np.abs(fit.at(t).q - angles).max() < 1e-3)
    True
    """
    count("degree of a tracked motion", degree, at_least=3, at_most=_HIGHEST)
    measured = record(name, times, positions, degree=degree, cutoff=cutoff)
    accelerations = spline_matrix(measured.basis, measured.times, 2) @ measured.points
    where = track(times, positions, _positions, weight=weight, cutoff=cutoff, degree=degree, name=name)
    strength = finite_number(f"acceleration of {name!r}", acceleration, positive=True)
    label = f"{name}, accelerations"
    off = partial(_accelerations_off, measured, record(label, times, accelerations), strength)
    return where + integral(off, label)


def _positions(now: Any) -> ca.SX:
    return now.q


def _accelerations_off(positions: Record, accelerations: Record, strength: float, now: Any) -> ca.SX:
    # Not a record of its own: standard errors count only what was measured.
    return strength * ca.sumsqr(positions.presence(now.t) * (now.qdd - accelerations.value(now.t)))


@dataclass(frozen=True, eq=False)
class Tracked:
    """The weighted squared distances of a motion from measured samples at an instant."""

    label: str
    record: Record
    of: Callable[[Any], Any]  # instant -> what was measured
    weights: np.ndarray  # shape (k,)

    def measured(self, now: Any) -> ca.SX:
        """The quantity that was measured, SX, shape (k,)."""
        size = self.record.size
        value = column(f"track {self.label!r}", self.of(now), size)
        if value.shape != (size, 1):
            raise InputError(f"track {self.label!r} has values of size {size}, its function shape {value.shape}")
        return value

    def __call__(self, now: Any) -> ca.SX:
        # The weight of a time belongs into the residual: a free duration moves the nodes, and Gauss-Newton takes only
        # what does not vary for a weight.
        residual = self.record.presence(now.t) * (self.measured(now) - self.record.value(now.t))
        return ca.dot(self.weights, residual**2)


def records_in(cost: Cost) -> list[tuple[Tracked, float]]:
    """The records in a cost, with their weights; other terms are left out."""
    return [(term.fn, term.weight) for term in cost.terms if isinstance(term.fn, Tracked)]


def with_points(measured: Tracked, points: ca.SX) -> Tracked:
    """The distances from a record with symbols as control points, SX, shape (size * k,), component after component."""
    shape = measured.record.points.shape
    return replace(measured, record=replace(measured.record, points=ca.reshape(points, *shape)))


@dataclass(frozen=True, eq=False)
class Record:
    """Time series of k components as splines."""

    times: np.ndarray  # shape (N,) [s]
    samples: np.ndarray  # shape (N, k); NaN where missing
    deviations: np.ndarray  # shape (k,); deviations of the noise for which splines smooth, 0 of closest splines
    cutoff: float | None  # frequency of low-pass filters [Hz]
    present: np.ndarray  # bools, shape (N, k); whether there is a sample
    basis: SplineBasis  # over the times
    points: Any  # ndarray or SX, shape (size, k); control points

    @property
    def size(self) -> int:
        return self.present.shape[1]

    @property
    def largest(self) -> np.ndarray:
        """The largest absolute value of every component, shape (k,)."""
        return np.nanmax(np.abs(self.samples), axis=0)

    def maps(self) -> list[np.ndarray]:
        """For every component the map from its samples, missing ones left out, to its control points, (size, N)."""
        each = zip(self.present.T, self.samples.T, self.deviations, strict=True)
        return [_map(self.basis, self.times[seen], y[seen], sigma, self.cutoff) for seen, y, sigma in each]

    def value(self, t: ca.SX) -> ca.SX:
        """The splines at a time, SX, shape (k,); extrapolated by the polynomials at the ends."""
        points = self.points if isinstance(self.points, ca.SX) else ca.DM(self.points)
        return ca.SX(ca.mtimes(points.T, _functions(self.basis, t)))

    def presence(self, t: ca.SX) -> ca.SX:
        """Weights of the components at a time, SX, shape (k,): broken lines through those at the times of samples."""
        steps = np.diff(self.times)
        padded = np.concatenate([[self.times[0] - steps[0]], self.times, [self.times[-1] + steps[-1]]])
        heights = self.present.astype(float)
        if self.cutoff is not None:
            heights = np.column_stack([_fading(self.times, seen, 0.5 / self.cutoff) for seen in self.present.T])
        heights = np.pad(heights, ((1, 1), (0, 0)))
        patterns, of_component = np.unique(heights, axis=1, return_inverse=True)
        shapes = [_broken_line(padded, column, t) for column in patterns.T]
        return ca.vertcat(*(shapes[k] for k in of_component.ravel()))


def record(
    label: str,
    times: Any,
    values: Any,
    deviation: Any = 0.0,
    degree: int = 3,
    pieces: int | None = None,
    *,
    cutoff: float | None = None,
    share: Any = _OFF,
    components: Sequence[tuple[str, str]] | None = None,
    impacts: bool = False,
) -> Record:
    """Splines through samples, with arguments, warnings and errors of `track`, which begin with the label.

    Without a deviation, splines may be off by a share of a component's range, a float or an array of shape (k,), and by
    any distance with a cutoff. Components have names and units for the warning. Where there are impacts, splines that
    smooth are not trusted to tell them from noise.
    """
    t, y = _samples(label, times, values, degree)
    deviations = finite_array(f"deviation of {label!r}", deviation, (y.shape[1],))
    if (deviations < 0).any():
        raise InputError(f"deviation of {label!r} must not be negative, got {quoted(deviation)}")
    if cutoff is not None:
        _check_cutoff(label, t, deviations, cutoff)
    size = _default_pieces(t, degree, cutoff) if pieces is None else pieces
    basis = sample_basis(t, degree, count(f"pieces of {label!r}", size, at_least=1, at_most=t.size - degree))
    if cutoff is not None:
        return Record(t, y, deviations, cutoff, ~np.isnan(y), basis, _control_points(t, y, basis, deviations, cutoff))
    ranges = np.nanmax(y, axis=0) - np.nanmin(y, axis=0)
    allowed = np.where(deviations > 0, _NOISE * deviations, share * ranges)
    most = basis.intervals if pieces is not None else max(min(t.size - degree, _FINEST), basis.intervals)
    basis, points, off, smoothing = _fitted(t, y, basis, deviations, allowed, most, impacts)
    named = components or [(f"component {k}", "") for k in range(y.shape[1])]
    _check_misfit(label, t, off / np.maximum(allowed, _ROUNDING), off, deviations, basis.intervals, named)
    return Record(t, y, smoothing, None, ~np.isnan(y), basis, points)


def _samples(label: str, times: Any, values: Any, degree: int) -> tuple[np.ndarray, np.ndarray]:
    """Times, shape (N,), and values, shape (N, k), of a record for splines of a degree."""
    text("track name", label)
    t = finite_array(f"times of {label!r}", times, (None,))
    count(f"degree of {label!r}", degree, at_least=1, at_most=_HIGHEST)
    if t.size <= degree:
        raise InputError(
            f"times of {label!r} must be at least {degree + 1} for splines of degree {degree}, got {quoted(t)}"
        )
    if (disordered := np.flatnonzero(np.diff(t) <= 0)).size:
        k = int(disordered[0])
        raise InputError(f"times of {label!r} must rise, got {t[k]:g} s before {t[k + 1]:g} s (number {k})")
    y = float_array(f"values of {label!r}", values)
    if y.ndim not in (1, 2) or y.shape[0] != t.size or 0 in y.shape:
        raise InputError(f"values of {label!r} must have shape ({t.size},) or ({t.size}, k), got shape {y.shape}")
    y = y.reshape(t.size, -1)
    if np.isinf(y).any():
        raise InputError(f"values of {label!r} must be finite, or NaN if missing, got {quoted(values)}")
    for k, samples in enumerate((~np.isnan(y)).sum(axis=0).tolist()):
        if samples <= degree:
            raise InputError(
                f"component {k} of the values of {label!r} has {samples} samples that are numbers; splines of degree "
                f"{degree} need {degree + 1}"
            )
    return t, y


def _default_pieces(t: np.ndarray, degree: int, cutoff: float | None) -> int:
    """The number of polynomials, unless the user states it."""
    size = _MOST if cutoff is None else ceil(_PER_PERIOD * cutoff * (t[-1] - t[0]))
    return min(t.size - degree, size)


def _check_cutoff(label: str, t: np.ndarray, deviations: np.ndarray, cutoff: Any) -> None:
    """InputError for a cutoff that samples do not determine, or beside a deviation."""
    finite_number(f"cutoff of {label!r}", cutoff, positive=True)
    if deviations.any():
        raise InputError(f"{label!r} must be smoothed by a deviation or by a cutoff, got both")
    highest = 0.5 / float(np.median(np.diff(t)))
    if cutoff >= highest:
        raise InputError(
            f"cutoff of {label!r} must be below half the rate of its samples, {highest:g} Hz, got {cutoff:g} Hz"
        )


def _fitted(
    t: np.ndarray,
    y: np.ndarray,
    basis: SplineBasis,
    deviations: np.ndarray,
    allowed: np.ndarray,
    most: int,
    impacts: bool,
) -> tuple[SplineBasis, np.ndarray, np.ndarray, np.ndarray]:
    """Splines with enough pieces: basis, control points, distances from samples (N, k), deviations that smooth them.

    There are more pieces where splines that do not smooth are off. Smoothing splines have one strength for a whole
    component, and are off at outliers. A component with an impact is not smoothed any more, but fitted.
    """
    sharp, degree = deviations == 0, basis.degree
    sites = np.linspace(0, t.size - 1, basis.intervals + degree).astype(int)
    allowed = np.maximum(allowed, _ROUNDING * np.nanmax(np.abs(y), axis=0) + _ROUNDING)

    while True:
        smoothing = np.where(sharp, 0.0, deviations)
        points = _control_points(t, y, basis, smoothing, None)
        off = np.nan_to_num(np.abs(spline_matrix(basis, t) @ points - y))
        wrong = np.where((off > allowed) & (sharp | impacts), off / allowed, 0.0)
        finer = finer_sites(sites, wrong.max(axis=1), most + degree)
        if finer.size == sites.size or not wrong.any():
            return basis, points, off, smoothing
        basis, sites = basis_on(t, finer, degree), finer
        if impacts:
            sharp = sharp | wrong.any(axis=0)


def _control_points(
    t: np.ndarray, y: np.ndarray, basis: SplineBasis, deviations: np.ndarray, cutoff: float | None
) -> np.ndarray:
    """Control points (size, k) of low-pass filters, or of smoothing or closest splines with and without deviations."""
    points, present = np.zeros((basis.size, y.shape[1])), ~np.isnan(y)
    patterns, of_component = np.unique(present, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        alike = of_component.ravel() == number
        if cutoff is not None:
            points[:, alike] = low_pass(basis, t[pattern], cutoff) @ y[np.ix_(pattern, alike)]
            continue
        exact, noisy = np.flatnonzero(alike & (deviations == 0)), np.flatnonzero(alike & (deviations > 0))
        if exact.size:
            points[:, exact] = closest(basis, t[pattern], y[np.ix_(pattern, exact)])
        if noisy.size:
            points[:, noisy] = smoothed(basis, t[pattern], y[np.ix_(pattern, noisy)], deviations[noisy])
    return points


def _check_misfit(
    label: str,
    t: np.ndarray,
    excess: np.ndarray,
    off: np.ndarray,
    deviations: np.ndarray,
    pieces: int,
    components: Sequence[tuple[str, str]],
) -> None:
    """Warn of splines that are off their samples by more than is allowed, with the distance and the time."""
    sample, k = (int(index) for index in np.unravel_index(np.argmax(excess), excess.shape))
    if excess[sample, k] <= 1:
        return
    name, unit = components[k]
    here = f" {unit}" if unit else ""
    stated = f"a deviation of {short(deviations[k])}{here}" if deviations[k] else "no deviation"
    warn(
        f"{label!r}: splines of {pieces} pieces are off by {short(off[sample, k])}{here} in {name} at "
        f"{t[sample]:g} s, with {stated} stated; check these samples, or try more pieces=, a smaller degree= or a "
        "larger deviation="
    )


def _map(basis: SplineBasis, t: np.ndarray, y: np.ndarray, deviation: float, cutoff: float | None) -> np.ndarray:
    """The map from samples to control points of their spline, shape (size, N)."""
    if cutoff is not None:
        return low_pass(basis, t, cutoff)
    if not deviation:
        return closest(basis, t, np.eye(t.size))
    points, samples = smoothers(basis, t, y[:, None], np.array([deviation]))[0]
    return points @ samples


def _inside(breakpoints: np.ndarray, t: ca.SX) -> list[ca.SX]:
    """For every piece between breakpoints 1 if t lies on it, else 0; the first and the last are unbounded."""
    after = [ca.SX(1), *(t >= float(b) for b in breakpoints[1:-1]), ca.SX(0)]
    return [after[k] - after[k + 1] for k in range(breakpoints.size - 1)]


def _functions(basis: SplineBasis, t: ca.SX) -> ca.SX:
    """All basis functions at a time, SX, shape (size,)."""
    p, here = basis.degree, _inside(basis.breakpoints, t)
    knots = basis.breakpoints[basis.knots()]
    around = [
        sum((here[k] * float(knots[basis.first[k] + 1 + j]) for k in range(len(here))), ca.SX(0)) for j in range(2 * p)
    ]
    local = cox_de_boor(t, around)
    functions = [ca.SX(0)] * basis.size
    for k, first in enumerate(basis.first.tolist()):
        for j in range(p + 1):
            functions[first + j] = functions[first + j] + here[k] * local[j]
    return ca.vertcat(*functions)


def _fading(t: np.ndarray, present: np.ndarray, reach: float) -> np.ndarray:
    """Weights at samples, shape (N,): gaps shorter than a reach [s] count as present, and around others they fall."""
    seen = np.flatnonzero(present)
    missing = ~present
    for first, last in pairwise(seen):
        if t[last] - t[first] < reach:
            missing[first + 1 : last] = False
    if not missing.any():
        return np.ones(t.size)
    return np.clip(np.abs(t[:, None] - t[missing]).min(axis=1) / reach, 0.0, 1.0)


def _broken_line(t: np.ndarray, heights: np.ndarray, at: ca.SX) -> ca.SX:
    """The piecewise linear function through points, SX scalar; constant beyond its ends."""
    slopes = np.concatenate([[0.0], np.diff(heights) / np.diff(t), [0.0]])
    height = ca.SX(float(heights[0]))
    for k in np.flatnonzero(np.diff(slopes)).tolist():
        height = height + float(slopes[k + 1] - slopes[k]) * ca.fmax(at - float(t[k]), 0)
    return height
