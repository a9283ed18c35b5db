"""Lengths of muscles as polynomials in the coordinates that they cross, fitted together with their moment arms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import Any

import casadi as ca
import numpy as np

from colloc.dynamics.instant import Instant
from colloc.model import Model
from colloc.muscles.fit import fit_polynomial
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
    shortened,
    spelt,
    text,
    unknown_name,
    warn,
)
from colloc.support.pickling import Portable
from colloc.support.progress import Progress

_FEWEST = 10  # postures
_FEW = 5  # postures that tell most muscles from their mirror images
_SAME = 1e-7  # m


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
    keep: bool = False,
    progress: bool | None = None,
) -> list[Muscle]:
    """The same muscles with polynomials for paths, smooth functions of the coordinates that each crosses.

    Length and moment arms are fitted together to random postures, with the lowest degree that meets the tolerances;
    terms that the tolerances do not need are dropped, smallest first. Errors are at as many other postures. A muscle
    whose lengths and moment arms at all these postures are those of another, as of one on the other side, gets the
    polynomial of that one in its own coordinates.

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
    keep : bool
        Whether muscles that no polynomial fits keep their paths, with a warning. By default they are an error.
    progress : bool, optional
        Whether to show a bar; by default in terminals and notebooks.

    Returns
    -------
    list of Muscle
        Their `path` is a `LengthPolynomial`, which has the errors.

    Raises
    ------
    InputError
        For a muscle that crosses a joint without a range or limits, or a ball joint on a quaternion, and for errors
        above the tolerances.

    Warns
    -----
    InputWarning
        For muscles that keep their paths.

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
    flag("keep", keep)
    lower, upper = _ranges(instance("model", model, Model), ranges)
    shares = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2 * postures, model.n))
    fitted: list[Muscle] = []
    known: list[_Sampled] = []
    misfits: list[str] = []
    with Progress(len(muscles), "fit_lengths", progress) as bar:
        for muscle in muscles:
            sampled = _Sampled.of(model, instance("muscles", muscle, Muscle), (lower, upper), shares)
            found = next((found for other in known if (found := sampled.like(other)) is not None), None)
            if found is None:
                tolerances = np.array([length_tolerance, *np.full(len(sampled.joints), moment_arm_tolerance)])
                found = sampled.fit(tolerances, range(min_degree, max_degree + 1), thin=thin)
                known.append(replace(sampled, found=found))
            if isinstance(found, LengthPolynomial):
                line = getattr(muscle.path, "line", None) or muscle.path
                muscle = replace(muscle, path=replace(found, line=line))
            elif keep:
                misfits.append(f"{muscle.name} ({found.sizes})")
            else:
                raise found
            fitted.append(muscle)
            bar.step(sampled.name)
    if misfits:
        warn(
            f"{len(misfits)} of {len(muscles)} muscles keep their paths, which no polynomial of degree "
            f"{max_degree} fits to {length_tolerance:g} m and moment arms to {moment_arm_tolerance:g} m: "
            f"{shortened(misfits, most=6)}"
        )
    return fitted


class Misfit(InputError):
    """A length that no polynomial fits, with the sizes of its errors."""

    def __init__(self, message: str, sizes: str):
        super().__init__(message)
        self.sizes = sizes


@dataclass(frozen=True, eq=False)
class _Sampled:
    """Lengths of a muscle and their derivatives at random postures of the joints that it crosses."""

    name: str
    joints: tuple[str, ...]
    at: Callable[[np.ndarray], np.ndarray]  # values, shape (N, 1 + k), at shares of the ranges, shape (N, k)
    x: np.ndarray
    values: np.ndarray
    middle: np.ndarray
    half: np.ndarray
    found: LengthPolynomial | Misfit | None = None

    @staticmethod
    def of(model: Model, muscle: Muscle, ends: tuple[np.ndarray, np.ndarray], shares: np.ndarray) -> _Sampled:
        q, length, slopes = length_graph(model, [muscle])
        crossed = sorted(set(slopes.sparsity().get_triplet()[1]))
        lower, upper = ends
        for ball, (_, turns) in model.balls.items():
            if any(turns.start <= k < turns.stop for k in crossed):
                raise InputError(
                    f"muscle {muscle.name!r} crosses ball joint {ball!r}, which is on a quaternion: make it of three "
                    "angles, as in sequence='zyx', or keep the muscle's path"
                )
        for joint in (model.joint_names[k] for k in crossed if not np.isfinite(upper[k] - lower[k])):
            raise InputError(f"muscle {muscle.name!r} crosses {joint!r}, which needs a range or limits of position")
        middle, half = (upper[crossed] + lower[crossed]) / 2, (upper[crossed] - lower[crossed]) / 2
        function = ca.Function("length", [q], [ca.vertcat(length, slopes[crossed].T)])
        places = [model.position_names.index(model.joint_names[k]) for k in crossed]

        def at(x: np.ndarray) -> np.ndarray:
            posture = np.tile(model.neutral, (len(x), 1))
            posture[:, places] = middle + half * x
            values = function.map(len(x))(posture.T).full().T
            values[:, 1:] *= half  # by x, as the polynomial is
            return values

        x = shares[:, crossed]
        joints = tuple(model.joint_names[k] for k in crossed)
        return _Sampled(muscle.name, joints, at, x, at(x), middle, half)

    def fit(self, tolerances: np.ndarray, degrees: range, *, thin: bool) -> LengthPolynomial | Misfit:
        scales = self.middle, self.half
        try:
            return _fit(
                f"muscle {self.name!r}", self.joints, self.x, self.values, scales, tolerances, degrees, thin=thin
            )
        except Misfit as misfit:
            return misfit

    def like(self, other: _Sampled) -> LengthPolynomial | Misfit | None:
        """The result for another muscle of the same lengths, in the coordinates of this one; None for other lengths."""
        if (signs := self.signs_of(other)) is None or not isinstance(other.found, LengthPolynomial):
            return None if signs is None else other.found
        coefficients = np.prod(signs**other.found.powers, axis=1) * other.found.coefficients
        return replace(other.found, joints=self.joints, coefficients=coefficients, middle=self.middle)

    def signs_of(self, other: _Sampled) -> np.ndarray | None:
        """Signs of coordinates with which the lengths of this muscle are those of another; None if there are none."""
        if len(self.joints) != len(other.joints) or not np.allclose(self.half, other.half, rtol=1e-9, atol=0.0):
            return None
        for signs in map(np.array, product((1.0, -1.0), repeat=len(self.joints))):
            if np.allclose(self.middle, other.middle * signs, atol=1e-9) and all(
                np.abs(self.at(x * signs) * np.hstack([1.0, signs]) - values).max() < _SAME
                for x, values in ((other.x[:_FEW], other.values[:_FEW]), (other.x, other.values))
            ):
                return signs
        return None


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
    powers, coefficients, errors = fit_polynomial(x, values, weights, tolerances, degrees, thin=thin)
    if (errors <= tolerances).all():
        length_error, arm_error = float(errors[0]), float(errors[1:].max(initial=0.0))
        return LengthPolynomial(joints, powers, coefficients, middle, half, length_error, arm_error)
    sizes = f"{errors[0]:.2g} m and {errors[1:].max():.2g} m"
    raise Misfit(
        f"the length of {name} is no polynomial of degree {degrees[-1]} to {tolerances[0]:g} m and its moment "
        f"arms to {tolerances[1]:g} m: errors of {sizes}; allow more, or narrow the ranges of {', '.join(joints)}",
        sizes,
    )
