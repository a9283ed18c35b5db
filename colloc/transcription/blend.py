"""Guesses deformed smoothly, over the whole motion, to meet conditions at single times.

A spline that is only moved at its start gets there within its first interval h, with accelerations of miss / h^2: 1e5
rad/s2 if it misses a posture by 0.1 rad and the interval takes a thousandth of a second. A search from there is
unreliable. Therefore the guess is changed as a whole, by the correction of least squared acceleration that meets the
conditions: positions, velocities and accelerations at the ends, and all equations at single times, between the ends or
between phases, that do not involve torques. Nonlinear conditions take several such corrections.

If a motion starts or ends at rest and its guess does not, no posture needs to change: the guess passes through the same
postures with another timing, so that closed loops stay closed.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.polynomial import legendre

from colloc.curves.quadrature import gauss
from colloc.problem import Problem
from colloc.transcription.nlp import BaseNLP, Phase
from colloc.transcription.trajectory import Trajectory

_DEGREE = 11  # degree of the polynomials of corrections, smooth even with some conditions inside
# In addition to squared accelerations, in a motion of unit duration, squared positions have a small weight, and a large
# one at the ends, where a velocity is to be met by a bend rather than by another posture.
_INSIDE, _ENDS = 1.0, 1e4
_STEPS = 20
_NEARER = 0.1  # largest fraction of the residuals that a full step may leave
_TURN = 0.5  # rad, largest turn in a step that leaves more
_INSTANT = 1e-6  # of the duration: step of the difference that detects motion of a guess
_MET = 1e-6  # rad, m and per s: harmless residual of a start
_TOGETHER = 256  # starts whose conditions are evaluated at once

_Conditions = tuple[np.ndarray, np.ndarray]  # slopes, shape (m, n_x), and residuals, (m,)


def resting(problem: Problem, guess: Trajectory) -> Trajectory:
    """A guess retimed to start and end at rest, if the problem prescribes zero velocities there."""
    q = guess.q(np.array([0.0, _INSTANT, 1.0 - _INSTANT, 1.0]))
    way, steps = np.ptp(q, axis=0).max(initial=0.0), np.abs(np.diff(q, axis=0)).max(axis=1, initial=0.0)
    moves = steps[[0, 2]] > 1e-2 * _INSTANT * way
    starts, ends = moves & _at_rest(problem)
    if not (starts or ends):
        return guess

    def later(s: np.ndarray) -> np.ndarray:
        """Hermite's cubic from 0 to 1, with slope 0 at ends at rest and slope 1 at others."""
        cubic = s**2 * (3 - 2 * s) + (1 - starts) * s * (1 - s) ** 2 - (1 - ends) * s**2 * (1 - s)
        return guess.q(np.clip(cubic, 0, 1))

    return replace(guess, q=later)


def _at_rest(problem: Problem) -> np.ndarray:
    """Whether the velocities prescribed at the start, and at the end, are all zero, shape (2,); False without any."""
    velocities_at: tuple[list[float], list[float]] = ([], [])
    for values in problem.end_values.values():
        for end in values:
            if end.quantity == "qd":
                velocities_at[int(end.s)].append(end.value)
    return np.array([bool(velocities) and not any(velocities) for velocities in velocities_at])


def blended(nlp: BaseNLP, x: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
    """Decision vectors whose motions meet the conditions at single times, by Newton's method from a guess x.

    One for every row of the parameters, shape (K, n_p). Durations, signals, states and constants do not change.
    """
    spaces: list[_CorrectionSpace] = []
    ends = [x] * len(parameters)
    searches = {k: _search(nlp, x, spaces) for k in range(len(parameters))}
    points = {k: next(search) for k, search in searches.items()}
    while points:  # the conditions of many are evaluated at once
        some = list(points)[:_TOGETHER]
        conditions = _conditions(nlp, np.array([points[k] for k in some]), parameters[some])
        for k, condition in zip(some, conditions, strict=True):
            try:
                points[k] = searches[k].send(condition)
            except StopIteration as end:
                ends[k] = end.value
                del points[k]
    return ends


def _search(
    nlp: BaseNLP, x: np.ndarray, spaces: list[_CorrectionSpace]
) -> Generator[np.ndarray, _Conditions, np.ndarray]:
    """One decision vector; yields points, and receives the conditions there.

    The spaces of corrections are made when they are first needed.
    """
    slopes, misses = yield x
    if np.abs(misses).max(initial=0.0) <= _MET:
        return x
    if not spaces:
        spaces.extend(_CorrectionSpace(motion, x) for motion in nlp.motions)
    for _ in range(_STEPS):
        pulls = np.hstack([space.pulled(slopes) for space in spaces])
        change = np.split(np.linalg.lstsq(pulls, misses, rcond=1e-10)[0], np.cumsum([s.count for s in spaces])[:-1])
        turn = max(space.turn(part) for space, part in zip(spaces, change, strict=True))
        # Linear conditions take one step. For nonlinear ones a long step would wind joints up.
        for share in (1.0, min(1.0, _TURN / turn) if turn else 1.0):
            moved = x.copy()
            for space, part in zip(spaces, change, strict=True):
                space.apply(moved, share * part)
            slopes, left = yield moved
            if np.linalg.norm(left) <= _NEARER * np.linalg.norm(misses):
                break
        if not np.linalg.norm(left) < np.linalg.norm(misses):
            break  # contradictory conditions
        x, misses = moved, left
        if np.abs(misses).max() <= _MET:
            break
    return x


def _conditions(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> list[_Conditions]:
    """Conditions on the control points of the joints, at x with p, shapes (K, n_x) and (K, n_p)."""
    joints = np.zeros(nlp.n_x, dtype=bool)
    for motion in nlp.motions:
        layout = motion.grid.layout
        joints[layout["q"] - layout.offset + motion.part.start] = True
    fixed = np.flatnonzero(joints & ~nlp.free)
    held = np.zeros((fixed.size, nlp.n_x))
    held[np.arange(fixed.size), fixed] = 1.0
    blocks = [block.equations(joints, x, p) for block in nlp.constraints if block.n_slices == 1]
    conditions = []
    for k, point in enumerate(x):
        slopes, misses = [held], [nlp.lower[fixed] - point[fixed]]
        for rows, values in blocks:
            finite = np.isfinite(values[k]) & np.isfinite(rows[k]).all(axis=1)  # others are reported elsewhere
            slopes.append(rows[k][finite])
            misses.append(values[k][finite])
        conditions.append((np.vstack(slopes), np.concatenate(misses)))
    return conditions


class _CorrectionSpace:
    """Polynomials of the normalised time that may be added to the joints of a motion.

    The duration in the decision vector x turns derivatives into accelerations in time.
    """

    def __init__(self, motion: Phase, x: np.ndarray):
        grid, self._motion = motion.grid, motion
        layout = grid.layout
        self._index = layout["q"] - layout.offset + motion.part.start
        duration = float(x[layout.duration - layout.offset + motion.part.start][0])
        values = legendre.legvander(2 * grid.basis.sites()[0] - 1, _DEGREE)
        # Normalised, so that all directions cost the same: size = L L', coefficients L'^-1 y.
        size = _size() / duration**3
        self._shapes = grid.basis.interpolate(values) @ np.linalg.inv(np.linalg.cholesky(size)).T

    @property
    def count(self) -> int:
        """Number of coefficients."""
        return self._shapes.shape[1] * self._index.shape[1]

    def pulled(self, slopes: np.ndarray) -> np.ndarray:
        """Slopes by the coefficients, shape (m, count), from slopes by the decision vector, shape (m, n_x)."""
        return np.einsum("mij,ik->mjk", slopes[:, self._index], self._shapes).reshape(len(slopes), -1)

    def turn(self, coefficients: np.ndarray) -> float:
        """Largest turn of a joint by a correction [rad]; sliding joints do not count."""
        turning = np.array([unit == "rad" for unit in self._motion.problem.model.position_units], dtype=bool)
        return float(np.abs(self._added(coefficients)[:, turning]).max(initial=0.0))

    def _added(self, coefficients: np.ndarray) -> np.ndarray:
        """A correction as control points, shape (points, n)."""
        return self._shapes @ coefficients.reshape(-1, self._shapes.shape[1]).T

    def apply(self, x: np.ndarray, coefficients: np.ndarray) -> None:
        """Add a correction to a decision vector, and recompute dependent joints of a closed chain."""
        x[self._index] += self._added(coefficients)
        coordinates = self._motion.problem.coordinates
        if coordinates is not None:
            basis = self._motion.grid.basis
            s, interval = basis.sites()
            seen = basis.first[interval][:, None] + np.arange(basis.degree + 1)
            seen = np.minimum(seen, basis.size - 1)  # basis functions beyond an interval's degree are zero
            q = np.einsum("ik,ikj->ij", basis.values(s, interval=interval), x[self._index][seen])
            x[self._index] = basis.interpolate(coordinates.postures(q, q[0]))


@cache
def _size() -> np.ndarray:
    """Cost of corrections, as a quadratic form of their coefficients in a motion of unit duration."""
    points, weights = gauss(_DEGREE + 1)
    every = np.eye(_DEGREE + 1)
    bends = legendre.legval(2 * points - 1, legendre.legder(every, 2) * 4.0)
    positions, ends = legendre.legval(2 * points - 1, every), legendre.legval(np.array([-1.0, 1.0]), every)
    return (bends * weights) @ bends.T + _INSIDE * (positions * weights) @ positions.T + _ENDS * ends @ ends.T
