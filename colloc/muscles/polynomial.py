"""Lengths of muscles as polynomials in the coordinates that they cross, fitted together with their moment arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Model
from colloc.muscles.muscle import Muscle
from colloc.muscles.muscles import length_graph
from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    finite_number,
    flag,
    instance,
    interval,
    mapping,
    pair,
    spelt,
    text,
    unknown_name,
)
from colloc.support.pickling import Portable

_FEWEST = 10  # postures


@dataclass(frozen=True, eq=False)
class LengthPolynomial(Portable):
    """Length of a muscle as a polynomial, with the errors of its fit.

    Parameters
    ----------
    joints : tuple of str
        Joints whose coordinates are the variables.
    powers : ndarray, shape (terms, joints)
    coefficients : ndarray, shape (terms,) [m]
        Of the products of powers of (q - middle) / half.
    middle, half : ndarray, shape (joints,) [rad, m]
    length_error, moment_arm_error : float [m]
        Root mean squares over postures that are not fitted; of moment arms the largest over joints.
    line : callable, optional
        The path to which it was fitted, which has the direction of the muscle's pull: see `Instant.joint_contact`.

    See Also
    --------
    fit_lengths

    Examples
    --------
    >>> line = co.muscles.LengthPolynomial(
    ...     ("elbow",), np.array([[0], [1]]), np.array([0.3, -0.02]), np.zeros(1), np.ones(1), 0.0, 0.0
    ... )
    >>> solution.evaluate(line, [0.0, 0.2]).round(3)  # m, at q = (0, -2) first
    array([0.34 , 0.347])
    """

    joints: tuple[str, ...]
    powers: np.ndarray
    coefficients: np.ndarray
    middle: np.ndarray
    half: np.ndarray
    length_error: float
    moment_arm_error: float
    line: Callable[[Instant], ca.SX] | None = None

    def __repr__(self) -> str:
        errors = f"length to {1e3 * self.length_error:.2g} mm, moment arms to {1e3 * self.moment_arm_error:.2g} mm"
        return f"LengthPolynomial({', '.join(self.joints)}: {len(self.powers)} terms, {errors})"

    def __call__(self, now: Instant) -> ca.SX:
        """Length at an instant, SX, scalar [m]."""
        names = now.model.position_names
        for joint in self.joints:
            if joint not in names:
                raise unknown_name("joint with a coordinate of its own", joint, names)
        indices = [names.index(joint) for joint in self.joints]
        variables = ca.vertsplit((now.q[indices] - ca.SX(self.middle)) / ca.SX(self.half))
        length = ca.SX(0)
        for coefficient, exponents in zip(self.coefficients.tolist(), self.powers.tolist(), strict=True):
            factors = (variable**power for variable, power in zip(variables, exponents, strict=True) if power)
            length += prod(factors, start=ca.SX(coefficient))
        return length


@spelt
def fit_lengths(
    model: Model,
    muscles: Sequence[Muscle],
    ranges: Mapping[str, tuple[float, float]] | None = None,
    *,
    length_tolerance: float = 1e-3,
    moment_arm_tolerance: float = 1e-3,
    min_degree: int = 1,
    max_degree: int = 9,
    thin: bool = True,
    postures: int = 2000,
    seed: int = 0,
) -> list[Muscle]:
    """The same muscles with polynomials for paths, smooth functions of the coordinates that each crosses.

    Length and moment arms are fitted together to random postures, with the lowest degree that meets the tolerances;
    terms that the tolerances do not need are dropped, smallest first. Errors are at as many other postures.

    Parameters
    ----------
    model : Model
    muscles : sequence of Muscle
    ranges : mapping of str to (float, float), optional [rad, m]
        By joint, the range of its coordinate; by default the limits of the joint's position.
    length_tolerance, moment_arm_tolerance : float [m]
        Root mean squares over the postures, of every moment arm.
    min_degree, max_degree : int
        Of the polynomials.
    thin : bool
        Whether terms are dropped; if not, polynomials are more exact than needed.
    postures : int
        Number of postures to fit.
    seed : int

    Returns
    -------
    list of Muscle
        Their `path` is a `LengthPolynomial`, which has the errors.

    Raises
    ------
    InputError
        For a muscle that crosses a joint without a range or limits, or a ball joint on a quaternion, and for errors
        above the tolerances.

    Notes
    -----
    As in Van den Bogert et al. 2013 (Comput. Methods Biomech. Biomed. Engin. 16) and Falisse et al. 2019.

    Examples
    --------
    >>> origin = co.muscles.ViaPoint("shoulder", (-0.3, 0.03, 0.0))
    >>> insertion = co.muscles.ViaPoint("elbow", (-0.35, 0.02, 0.0))
    >>> flexor = co.muscles.Muscle("flexor", co.muscles.MusclePath([origin, insertion]), 900.0, 0.15, 0.2)
    >>> [fitted] = co.muscles.fit_lengths(two_link(), [flexor], {"elbow": (0.0, 2.0)})
    >>> fitted.path.joints, len(fitted.path.powers), fitted.path.moment_arm_error < 1e-3
    (('elbow',), 4, True)
    """
    muscles = as_tuple("muscles", muscles)
    length_tolerance = finite_number("length_tolerance", length_tolerance, positive=True)
    moment_arm_tolerance = finite_number("moment_arm_tolerance", moment_arm_tolerance, positive=True)
    count("max_degree", max_degree, at_least=1, at_most=12)
    count("min_degree", min_degree, at_least=1, at_most=max_degree)
    flag("thin", thin)
    count("postures", postures, at_least=_FEWEST)
    lower, upper = _ranges(instance("model", model, Model), ranges)
    shares = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2 * postures, model.n))
    fitted, degrees = [], range(min_degree, max_degree + 1)
    for muscle in muscles:
        q, length, slopes = length_graph(model, [muscle])
        crossed = sorted(set(slopes.sparsity().get_triplet()[1]))
        for ball, (_, turns) in model.balls.items():
            if any(turns.start <= k < turns.stop for k in crossed):
                raise InputError(
                    f"muscle {muscle.name!r} crosses ball joint {ball!r}, which is on a quaternion: make it of three "
                    "angles, as in sequence='zyx', or keep the muscle's path"
                )
        for joint in (model.joint_names[k] for k in crossed if not np.isfinite(upper[k] - lower[k])):
            raise InputError(f"muscle {muscle.name!r} crosses {joint!r}, which needs a range or limits of position")
        middle, half = (upper[crossed] + lower[crossed]) / 2, (upper[crossed] - lower[crossed]) / 2
        scales = middle, half
        x = shares[:, crossed]
        tolerances = np.array([length_tolerance, *np.full(len(crossed), moment_arm_tolerance)])
        posture = np.tile(model.neutral, (len(x), 1))
        posture[:, [model.position_names.index(model.joint_names[k]) for k in crossed]] = middle + half * x
        values = ca.Function("length", [q], [ca.vertcat(length, slopes[crossed].T)]).map(len(x))(posture.T).full().T
        values[:, 1:] *= half  # by x, as the polynomial is
        joints = tuple(model.joint_names[k] for k in crossed)
        path = _fit(f"muscle {muscle.name!r}", joints, x, values, scales, tolerances, degrees, thin=thin)
        line = getattr(muscle.path, "line", None) or muscle.path
        fitted.append(replace(muscle, path=replace(path, line=line)))
    return fitted


@spelt
def fit_samples(
    joints: Sequence[str],
    q: Any,
    lengths: Any,
    moment_arms: Any,
    *,
    length_tolerance: float = 1e-3,
    moment_arm_tolerance: float = 1e-3,
    max_degree: int = 9,
) -> LengthPolynomial:
    """A polynomial for a length that is known at some postures: measured, or from another program.

    It is fitted to the first half of the postures, as in `fit_lengths`; errors are at the second half.

    Parameters
    ----------
    joints : sequence of str
        That the muscle crosses.
    q : ndarray, shape (N, joints) [rad, m]
        Random postures: the polynomial holds in the box that they fill.
    lengths : ndarray, shape (N,) [m]
    moment_arms : ndarray, shape (N, joints) [m]
        Positive where the muscle pulls towards larger coordinates: the derivatives of the length, negated.
    length_tolerance, moment_arm_tolerance : float [m]
        As in `fit_lengths`.
    max_degree : int

    Returns
    -------
    LengthPolynomial
        The `path` of a `Muscle`.

    Raises
    ------
    InputError
        For errors above the tolerances.

    Examples
    --------
    >>> q = np.random.default_rng(0).uniform(0.0, 2.0, (200, 1))
    >>> path = co.muscles.fit_samples(["elbow"], q, 0.3 - 0.02 * np.sin(q[:, 0]), 0.02 * np.cos(q))
    >>> path.joints, path.moment_arm_error < 1e-3
    (('elbow',), True)
    """
    joints = tuple(text(f"joints[{k}]", joint) for k, joint in enumerate(as_tuple("joints", joints)))
    length_tolerance = finite_number("length_tolerance", length_tolerance, positive=True)
    moment_arm_tolerance = finite_number("moment_arm_tolerance", moment_arm_tolerance, positive=True)
    count("max_degree", max_degree, at_least=1, at_most=12)
    q = finite_array("q", q, (None, len(joints)))
    lengths = finite_array("lengths", lengths, (len(q),))
    moment_arms = finite_array("moment_arms", moment_arms, q.shape)
    if len(q) < _FEWEST:
        raise InputError(f"a length is fitted to {_FEWEST} postures or more, got {len(q)}")
    lower, upper = q.min(axis=0), q.max(axis=0)
    for joint in (joint for joint, same in zip(joints, lower == upper, strict=True) if same):
        raise InputError(f"{joint!r} must move in q, got the same coordinate in all postures")
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    values = np.column_stack([lengths, -moment_arms * half])
    tolerances = np.array([length_tolerance, *np.full(len(joints), moment_arm_tolerance)])
    return _fit("a muscle", joints, (q - middle) / half, values, (middle, half), tolerances, range(1, max_degree + 1))


def _ranges(model: Model, ranges: Mapping[str, tuple[float, float]] | None) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of every joint; infinite without ranges and limits, and for the turns of ball joints on quaternions."""
    places, dofs = np.isin(model.position_names, model.joint_names), np.isin(model.joint_names, model.position_names)
    lower, upper = np.full(model.n, -np.inf), np.full(model.n, np.inf)
    lower[dofs], upper[dofs] = (side[places] for side in model.limits("position"))
    for joint, ends in mapping("ranges", ranges or {}).items():
        if joint not in model.joint_names:
            raise unknown_name("joint that moves", joint, model.joint_names)
        k = model.joint_names.index(joint)
        lower[k], upper[k] = interval(f"range of {joint!r}", *pair(f"range of {joint!r}", ends), ())
    return lower, upper


def _fit(
    name: str,
    joints: tuple[str, ...],
    x: np.ndarray,
    values: np.ndarray,
    scales: tuple[np.ndarray, np.ndarray],
    tolerances: np.ndarray,
    degrees: range,
    *,
    thin: bool = True,
) -> LengthPolynomial:
    """A fit to half of the samples x and values, lengths and their derivatives by x, with errors at the others."""
    middle, half = scales
    weights = np.hstack([1.0, 1 / half])  # derivatives by coordinates, in metres, as lengths are
    fit, rest = slice(len(x) // 2), slice(len(x) // 2, None)
    errors = np.full(len(weights), np.inf)
    for degree in degrees:
        powers = _powers(len(joints), degree)
        q, r = np.linalg.qr((_terms(powers, x[fit]) * weights[:, None]).reshape(-1, len(powers)))
        right = q.T @ (values[fit] * weights).ravel()
        test = _terms(powers, x[rest]) * weights[:, None]

        def fitted(kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            coefficients = np.linalg.lstsq(r[:, kept], right, rcond=None)[0]  # noqa: B023
            deviations = test[:, :, kept] @ coefficients - values[rest] * weights  # noqa: B023
            return coefficients, np.sqrt(np.mean(deviations**2, axis=0))

        kept = np.arange(len(powers))
        coefficients, errors = fitted(kept)
        if (errors > tolerances).any():
            continue
        while thin and len(kept) > 1:
            fewer = np.delete(kept, np.argmin(np.abs(coefficients)))
            fewer_coefficients, fewer_errors = fitted(fewer)
            if (fewer_errors > tolerances).any():
                break
            kept, coefficients, errors = fewer, fewer_coefficients, fewer_errors
        length_error, arm_error = float(errors[0]), float(errors[1:].max(initial=0.0))
        return LengthPolynomial(joints, powers[kept], coefficients, middle, half, length_error, arm_error)
    raise InputError(
        f"the length of {name} is no polynomial of degree {degrees[-1]} to {tolerances[0]:g} m and its moment "
        f"arms to {tolerances[1]:g} m: errors of {errors[0]:.2g} m and {errors[1:].max():.2g} m; allow more, or narrow "
        f"the ranges of {', '.join(joints)}"
    )


def _powers(variables: int, degree: int) -> np.ndarray:
    """Exponents of all products of up to `degree` factors, shape (terms, variables)."""
    factors = (c for d in range(degree + 1) for c in combinations_with_replacement(range(variables), d))
    return np.array([[chosen.count(k) for k in range(variables)] for chosen in factors])


def _terms(powers: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Products of powers at the samples x, and their derivatives, shape (P, 1 + k, terms)."""
    columns = [np.prod(x[:, None, :] ** powers, axis=2)]
    for k in range(powers.shape[1]):
        lower = powers.copy()
        lower[:, k] = np.maximum(lower[:, k] - 1, 0)
        columns.append(powers[:, k] * np.prod(x[:, None, :] ** lower, axis=2))
    return np.stack(columns, axis=1)
