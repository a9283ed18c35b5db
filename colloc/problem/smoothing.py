"""Splines through measured samples: interpolating ones, and smoothing ones for a known noise.

A smoothing spline minimises the sum of squared residuals plus lambda times the integral of its squared m-th
derivative, m = (degree + 1) // 2 (Reinsch 1967, "Smoothing by spline functions"; quintic ones, with m = 3, are what
Woltring 1986, "A Fortran package for generalized, cross-validatory spline smoothing and differentiation", advises for
markers). For noise of standard deviation sigma, lambda is the one with the least

    RSS(lambda) + 2 sigma^2 tr A(lambda),  A the map from samples to the spline at their times,

which estimates, up to a constant, the squared distance of the spline from the signal without noise (Craven and Wahba
1979, section 2; Woltring's choice for a known noise).

For samples dt apart the spline keeps the share 1 / (1 + lambda dt w^2m) of an oscillation of angular frequency w, as a
Butterworth filter of order m does that runs forward and backward. A cutoff frequency f, of which half is kept, is
lambda = 1 / (dt (2 pi f)^2m), see Woltring 1986 as well.
"""

from __future__ import annotations

import numpy as np

from colloc.curves.quadrature import gauss
from colloc.curves.spline_basis import SplineBasis

_NONE = 1e-8  # of the largest singular value: a combination of control points that samples hardly see
_NOTHING = 1e-14  # a share that is rounding
_LAMBDAS = np.logspace(-10, 14, 481)  # in units that make both parts of equal size


def sample_basis(times: np.ndarray, degree: int, pieces: int) -> SplineBasis:
    """Splines with degree - 1 continuous derivatives, whose control points sit as densely as the samples.

    Inner breakpoints are the means of `degree` neighbours among evenly chosen sample times, shape (N,), ascending,
    which keeps interpolation well-conditioned up to the ends (de Boor 1978, chapter XIII). N - degree pieces, the
    largest number, interpolate.
    """
    return _basis_between(
        np.interp(np.linspace(0, times.size - 1, pieces + degree), np.arange(times.size), times), degree
    )


def _basis_between(sites: np.ndarray, degree: int) -> SplineBasis:
    inside = np.zeros(0)  # of a single polynomial, on fewer sites than there are neighbours
    if sites.size > degree + 1:
        inside = np.lib.stride_tricks.sliding_window_view(sites[1:-1], degree).mean(axis=1)
    return SplineBasis.of(np.concatenate([sites[:1], inside, sites[-1:]]), degree, degree - 1)


def basis_on(times: np.ndarray, sites: np.ndarray, degree: int) -> SplineBasis:
    """As `sample_basis`, on chosen samples: their indices, ascending ints from the first to the last."""
    return _basis_between(times[sites], degree)


def finer_sites(sites: np.ndarray, excess: np.ndarray, most: int) -> np.ndarray:
    """Chosen samples with new ones halfway between those around samples that are off, a number at most in all.

    `excess` says by how much each sample is off, shape (N,), and is zero where none is needed. Gaps between chosen
    samples where it is largest come first, those with less than a third of it in a later round.
    """
    inside = np.maximum.reduceat(np.append(excess, 0.0), sites)[:-1]
    inside = np.maximum(inside, excess[sites[1:]])
    around = np.maximum(
        inside, np.maximum(np.append(inside[1:], 0.0), np.append(0.0, inside[:-1]))
    )  # in neighbours too
    wide = np.flatnonzero((np.diff(sites) > 1) & (around > 0) & (around >= around.max() / 3))
    chosen = wide[np.argsort(-around[wide], kind="stable")][: max(most - sites.size, 0)]
    return np.sort(np.append(sites, (sites[chosen] + sites[chosen + 1]) // 2))


def closest(basis: SplineBasis, times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Control points (size, k) of the splines closest to samples (N, k) in the sense of least squares.

    In gaps of the record the sum of squared jumps of the highest derivative is minimised. Polynomials of the splines'
    degree are reproduced, also across gaps.
    """
    Q, R = np.linalg.qr(spline_matrix(basis, times))
    U, s, Vt = np.linalg.svd(R)
    rank = int((s > _NONE * s[0]).sum())
    points, unseen = Vt[:rank].T @ ((U.T @ (Q.T @ values))[:rank] / s[:rank, None]), Vt[rank:].T
    highest = spline_matrix(basis, (basis.breakpoints[1:] + basis.breakpoints[:-1]) / 2, basis.degree)
    jumps = np.diff(highest, axis=0) / np.abs(highest).max()
    return points - unseen @ np.linalg.lstsq(jumps @ unseen, jumps @ points, rcond=None)[0]


def smoothed(basis: SplineBasis, times: np.ndarray, values: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """Control points (size, k) of smoothing splines; the noise of each column of values (N, k) has a deviation, > 0."""
    columns = zip(smoothers(basis, times, values, deviations), values.T, strict=True)
    return np.column_stack([points @ (samples @ y) for (points, samples), y in columns])


def smoothers(
    basis: SplineBasis, times: np.ndarray, values: np.ndarray, deviations: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Two factors, (size, r) and (r, N), of the map from samples to control points, for each column of values (N, k).

    The maps depend on the values by the choice of lambda.
    """
    combinations, g, _ = _modes(basis, times)
    V = spline_matrix(basis, times) @ combinations
    damped = [_damped(V, g, y, sigma) for y, sigma in zip(values.T, deviations.tolist(), strict=True)]
    return [(combinations / row, V.T) for row in damped]


def low_pass(basis: SplineBasis, times: np.ndarray, cutoff: float) -> np.ndarray:
    """The map from samples to control points, shape (size, N), that keeps half of an oscillation at the cutoff [Hz]."""
    m, step = (basis.degree + 1) // 2, float(np.median(np.diff(times)))
    combinations, g, unit = _modes(basis, times)
    strength = 1 / (step * (2 * np.pi * cutoff) ** (2 * m)) / unit
    return combinations / (g + strength * (1 - g)) @ (spline_matrix(basis, times) @ combinations).T


def _modes(basis: SplineBasis, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Combinations of control points in columns, the share of each that samples see, the unit of lambda.

    They are M-orthonormal, M = B'B + roughness: samples see of each the share g, and roughness 1 - g.
    """
    B, roughness = spline_matrix(basis, times), _roughness(basis)
    unit = np.trace(B.T @ B) / np.trace(roughness)
    inverse = np.linalg.inv(np.linalg.cholesky(B.T @ B + unit * roughness))
    g, U = np.linalg.eigh(inverse @ (B.T @ B) @ inverse.T)
    g = np.clip(g, 0, 1)
    g[-((basis.degree + 1) // 2) :] = 1  # polynomials without an m-th derivative
    return inverse.T @ U, g, float(unit)


def _damped(V: np.ndarray, g: np.ndarray, y: np.ndarray, sigma: float) -> np.ndarray:
    """Divisors of the coefficients of a spline in the columns of V, shape (size,)."""
    z, damping = V.T @ y, np.outer(_LAMBDAS, 1 - g)
    damped = g + damping
    rss = (damping / damped) ** 2 @ (z**2 / np.maximum(g, _NOTHING))  # beyond that of the closest spline
    freedoms = (g / damped).sum(axis=1)
    with np.errstate(over="ignore"):  # of a tiny sigma
        return damped[np.argmin(rss / sigma / sigma + 2 * freedoms)]


def spline_matrix(basis: SplineBasis, s: np.ndarray, derivative: int = 0) -> np.ndarray:
    """All basis functions, or derivatives of them, at all s: shape (s.size, size)."""
    interval = basis.interval(s)
    matrix = np.zeros((s.size, basis.size))
    columns = basis.first[interval][:, None] + np.arange(basis.degree + 1)
    np.put_along_axis(matrix, columns, basis.values(s, derivative, interval), axis=1)
    return matrix


def _roughness(basis: SplineBasis) -> np.ndarray:
    """Integrals of products of m-th derivatives, shape (size, size)."""
    points, weights = gauss(basis.degree)
    ends, widths = basis.breakpoints, np.diff(basis.breakpoints)
    s = (ends[:-1, None] + widths[:, None] * points).ravel()
    D = spline_matrix(basis, s, (basis.degree + 1) // 2)
    return D.T @ (D * np.outer(widths, weights).ravel()[:, None])
