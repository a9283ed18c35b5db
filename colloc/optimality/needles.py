"""Other values of the signals for a short time: variations that no derivative at the motion shows.

The necessary conditions of first and second order look at controls nearby. Where rates or costs are nonlinear in a
signal, a value far away may have a smaller Hamiltonian: the motion is then the best among motions with nearly the same
signals (a weak minimum), and no strong one (Pontryagin et al. 1962; Liberzon 2012, section 3.4.3).
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.curves import Points
from colloc.optimality.costates import Costates, costate_of, costate_points
from colloc.optimality.forces import local_splines
from colloc.problem import Slots
from colloc.solution import Solution
from colloc.transcription import Grid

_LEVELS = 17  # values of a signal between its bounds
_FACTORS = np.array([0.0, 0.1, 0.3, 0.6, 1.0, 1.7, 3.0, 10.0])  # without bounds, of its largest value, on both sides
_NEWTON = 4  # steps to accelerations and rates that meet the equations: one where they are linear in these
_MET = 1e-6  # of the natural size of a row: a larger violation excludes a value


class Needles(NamedTuple):
    """The best other values of signals at every instant.

    Parameters
    ----------
    gain : ndarray, shape (N,)
        Decrease of the Hamiltonian, in units of the cost per second; not negative.
    number : ndarray of int, shape (N,)
        Component of the signals, side by side, with another value.
    level : ndarray, shape (N,)
        That value, in the unit of the signal; NaN where no value has a smaller Hamiltonian.
    """

    gain: np.ndarray
    number: np.ndarray
    level: np.ndarray


def needles(phase: Solution, along: Costates) -> Needles:
    """Other values of one signal at a time, between its bounds, at the times of the costates of a phase.

    Accelerations and rates of states follow by the equations of the problem, and rows that these values violate exclude
    them.
    """
    grid, T = phase.nlp.grid, phase.duration
    s, interval = costate_points(phase.nlp)
    sites = grid.on(Points(s, interval))
    w, data = sites.slices.local(phase.x), sites.data
    joints, signals, states = (spline.columns for spline in local_splines(grid))
    place = signals[0]
    best = Needles(np.zeros(s.size), np.zeros(s.size, dtype=int), np.full(s.size, np.nan))
    if grid.rates or not place.size:
        return best
    rates = np.concatenate([joints[-1], states[-1]])
    power = np.concatenate([np.full(joints[-1].size, 2), np.ones(states[-1].size, dtype=int)])
    costate = np.hstack([costate_of(along, "q", 1), costate_of(along, "states", 0)]) / T**power
    at = _PathRows(phase, grid, place.tolist(), rates.tolist(), s)
    cost, _, violation = at(w, data)
    for k in np.flatnonzero(at.nonlinear).tolist():
        for level in _levels(phase, k, w[place[k]]):
            other = w.copy()
            other[place[k]] = level
            other = at.met(other, data)
            value, _, beyond = at(other, data)
            change = value - cost + (costate * (other[rates] - w[rates]).T).sum(axis=1)
            better = (-change > best.gain) & (beyond <= np.maximum(violation, _MET))  # false where one is not finite
            best.gain[better], best.number[better], best.level[better] = -change[better], k, level
    return best


def _levels(phase: Solution, number: int, now: np.ndarray) -> np.ndarray:
    """Other values of a signal, whose values along the motion are `now`."""
    lower, upper = (
        np.concatenate([getattr(u, side) for u in phase.problem.signals])[number] for side in ("lower", "upper")
    )
    if np.isfinite(upper - lower):
        return np.linspace(lower, upper, _LEVELS)
    size = float(np.abs(now).max()) or 1.0
    return np.unique(np.clip(size * np.concatenate([-_FACTORS, _FACTORS]), lower, upper))


class _PathRows:
    """The cost per second and the rows along the path of a phase, as functions of local variables."""

    def __init__(self, phase: Solution, grid: Grid, signals: list[int], rates: list[int], s: np.ndarray):
        problem, local = phase.problem, grid.on(Points(s[:1], np.zeros(1, dtype=int))).local
        slots = Slots(*local.arguments)
        cost = sum((weight * fn(*slots) for weight, fn in problem.integrands.values()), ca.SX(0))
        entries = [entry for entry in problem.rows.values() if entry.constraint.where.along]
        rows = ca.vertcat(ca.SX(0, 1), *(entry.function(*slots) / ca.DM(entry.rows.scale) for entry in entries))
        cost, rows = local.resolved([cost, rows])
        holds = [np.tile(entry.constraint.where.covers(s), (entry.rows.scale.size, 1)) for entry in entries]
        mask = np.vstack([np.zeros((0, s.size), dtype=bool), *holds])
        lower, upper = (
            np.concatenate([np.zeros(0), *(getattr(entry.rows, side) / entry.rows.scale for entry in entries)])
            for side in ("lower", "upper")
        )
        self._lower = np.where(mask, lower[:, None], -np.inf)
        self._upper = np.where(mask, upper[:, None], np.inf)
        self._equal, self._rates, self._p = lower == upper, rates, phase.parameters
        self.nonlinear = np.array(ca.which_depends(ca.vertcat(cost, rows), local.w[signals], 2, False))
        slopes = ca.jacobian(rows[np.flatnonzero(self._equal).tolist()], local.w[rates])
        self._values = ca.Function("rows", [local.w, local.d, local.p], [cost, rows])
        self._slopes = ca.Function("slopes", [local.w, local.d, local.p], [slopes])

    def __call__(self, w: np.ndarray, data: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cost, (N,), the rows, (r, N), and the largest violation of one, (N,)."""
        cost, rows = (np.array(value) for value in self._values.map(w.shape[1])(w, data, self._p))
        beyond = np.maximum(self._lower - rows, rows - self._upper)
        return cost.ravel(), rows, beyond.max(axis=0, initial=0.0)

    def met(self, w: np.ndarray, data: np.ndarray) -> np.ndarray:
        """Local variables whose accelerations and rates meet the equations, as far as these allow it."""
        w, N = w.copy(), w.shape[1]
        for _ in range(_NEWTON):
            off = (self(w, data)[1] - self._lower)[self._equal]
            off = np.where(np.isfinite(off), off, 0.0)
            slopes = np.array(self._slopes.map(N)(w, data, self._p)).reshape(off.shape[0], N, -1).transpose(1, 0, 2)
            if not off.size or np.abs(off).max() < _MET / 10 or not np.isfinite(slopes).all():
                break
            w[self._rates] -= np.einsum("nrk,kn->rn", np.linalg.pinv(slopes), off)
        return w
