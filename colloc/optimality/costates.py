"""Costates of the continuous problem from the multipliers of the program.

A program in splines is a weak form: its stationarity says that the forces of all rows, bounds and costs together do no
work in any movement of the splines. The costates are integrals of these forces from the start. In the normalised time,
with derivatives q' and q'', and D the density of forces on each,

    pi_0' = -D_q,    pi_1' = -D_q' - pi_0,    0 = pi_1 + D_q''    (the last as far as splines can tell)

start from the forces of end conditions and links at the start, and are zero after those at the end. Integration removes
the noise of multipliers on a coarse grid.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import factorial

import numpy as np
from numpy.polynomial import legendre

from colloc.optimality.forces import Forces, forces, local_splines, row_density
from colloc.solution import PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.transcription import NLP, BaseNLP

_PLACES = np.linspace(-1.0, 1.0, 7)  # points of an interval at which costates are sampled, including its ends
_SAME = 1e-12  # of the normalised time: rounding error of equal times


@dataclass(frozen=True)
class Costates:
    """Costates along one phase: derivatives of the remaining cost by each position, velocity and state.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
        Time since the start of the phase: seven times on every interval of the grid, including its ends.
    interval : ndarray of int, shape (N,)
        Number of the interval.
    lam_q, lam_qd : ndarray, shape (N, n)
        Of positions and velocities, in units of the cost per rad or m, and per rad/s or m/s.
    lam_states : ndarray, shape (N, m)
        Of the components of all states.
    lam_higher : ndarray, shape (N, k)
        Of accelerations and signals if the problem contains their rates; otherwise k = 0.
    after_end : ndarray, shape (n + n + m + k,)
        Values after the conditions at the end: zero up to residuals of the program.
    densities : dict of str to ndarray, shape (N,)
        Multipliers per second of rows along the path, by label: positive at an upper bound. On smooth splines they are
        means over an interval.

    Examples
    --------
    >>> along = co.optimality.costates(solution)[""]
    >>> along.lam_q.shape == along.lam_qd.shape == (along.t.size, 2)
    True
    """

    t: np.ndarray
    interval: np.ndarray
    lam_q: np.ndarray
    lam_qd: np.ndarray
    lam_states: np.ndarray
    lam_higher: np.ndarray
    after_end: np.ndarray
    densities: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def names(self) -> list[tuple[str, int]]:
        """The columns of `all`: "q", "signals" or "states", and the order of the derivative."""
        higher = [("q", 2), ("signals", 0)] if self.lam_higher.shape[1] else []
        return [("q", 0), ("q", 1), ("states", 0), *higher]

    @property
    def all(self) -> np.ndarray:
        """Costates of positions, velocities, states and higher derivatives side by side, shape (N, n + n + m + k)."""
        return np.hstack([self.lam_q, self.lam_qd, self.lam_states, self.lam_higher])


@solution_query()
def costates(solution: Solution | PhasesSolution) -> dict[str, Costates]:
    """The costates of the continuous problem, from the multipliers of the program.

    They may jump where bounds on positions or velocities are active, and between phases by the multipliers of links and
    impacts. Their accuracy depends on the grid: `certify` checks the conditions of an optimum.

    Parameters
    ----------
    solution : Solution or PhasesSolution

    Returns
    -------
    dict of str to Costates
        By phase; the name is empty without phases.

    Raises
    ------
    InputError
        For a curve with unknown breakpoints, and for dependent joints of closed chains.

    See Also
    --------
    certify : Conditions of an optimum, checked by costates.

    Examples
    --------
    >>> phase = co.optimality.costates(solution)[""]
    >>> float(abs(phase.after_end).max()) < 1e-6
    True
    """
    lam_g, lam_x = (solution.multipliers[name] for name in ("g", "x"))
    acting = forces(solution.nlp, solution.x, solution.parameters, lam_g, lam_x)
    return {
        name: _integrated(phase.nlp, phase.duration, acting[name], _densities(solution.nlp, name, lam_g))
        for name, phase in solution.phases.items()
    }


def costate_of(along: Costates, name: str, order: int) -> np.ndarray:
    """Costates of a derivative of "q", "signals" or "states", shape (N, size)."""
    n = along.lam_q.shape[1]
    first = {("q", 0): along.lam_q, ("q", 1): along.lam_qd, ("states", 0): along.lam_states}
    higher = {("q", 2): along.lam_higher[:, :n], ("signals", 0): along.lam_higher[:, n:]}
    return (first | higher)[name, order]


def costate_points(nlp: NLP) -> tuple[np.ndarray, np.ndarray]:
    """Normalised times of the costates, and their intervals, each shape (N,)."""
    ends = nlp.grid.breakpoints
    s = ends[:-1, None] + np.diff(ends)[:, None] * (_PLACES + 1) / 2
    return s.ravel(), np.repeat(np.arange(ends.size - 1), _PLACES.size)


def integral_to(nlp: NLP, acting: Forces, columns: np.ndarray) -> np.ndarray:
    """Integrals of columns of the forces from the start to the points of the costates, shape (N, columns)."""
    (total,), _ = _chained(nlp, acting, [columns])
    return -total


def _integrated(nlp: NLP, T: float, acting: Forces, densities: dict[str, np.ndarray]) -> Costates:
    along, after = {}, {}
    for spline in local_splines(nlp.grid):
        values, ends = _chained(nlp, acting, spline.columns[:-1])
        for order, (value, end) in enumerate(zip(values, ends, strict=True)):
            along[spline.name, order], after[spline.name, order] = value * T**order, end * T**order
    s, interval = costate_points(nlp)
    names = [("q", 0), ("q", 1), ("states", 0)]
    higher = [name for name in along if name not in names]
    return Costates(
        s * T,
        interval,
        lam_q=along["q", 0],
        lam_qd=along["q", 1],
        lam_states=along["states", 0],
        lam_higher=np.hstack([np.zeros((s.size, 0)), *(along[name] for name in higher)]),
        after_end=np.concatenate([after[name] for name in (*names, *higher)]),
        densities={label: density / T for label, density in densities.items()},
    )


def _chained(nlp: NLP, acting: Forces, orders: list[np.ndarray]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Solutions of pi_0' = -D_0, pi_k' = -D_k - pi_(k - 1), from zero before the start.

    Parameters
    ----------
    nlp : NLP
    acting : Forces
    orders : list of ndarray of int
        The columns of D_0, D_1, ...

    Returns
    -------
    list of ndarray, shape (N, columns)
        At the points of the costates.
    list of ndarray, shape (columns,)
        After the end.
    """
    ends, density, jumps = nlp.grid.breakpoints, acting.density(nlp.grid.breakpoints), acting.jumps
    s, _ = costate_points(nlp)
    first = np.tile(_PLACES < 1, ends.size - 1)  # forces at the end of an interval are included at its last point
    elapsed = s[:, None] - jumps.s
    acted = (elapsed > _SAME) | ((np.abs(elapsed) <= _SAME) & first[:, None])
    half = np.diff(ends)[:, None] / 2
    values, after, below = [], [], None
    for k, columns in enumerate(orders):
        rate = -density[:, :, columns]
        if below is not None:
            rate = _added(rate, -below)
        below = legendre.legint(rate, lbnd=-1, axis=0) * half
        steps = below.sum(axis=0)
        below[0] += np.cumsum(steps, axis=0) - steps
        value = np.moveaxis(legendre.legval(_PLACES, below), 2, 1).reshape(s.size, -1)
        end = below.sum(axis=0)[-1]
        for i in range(k + 1):
            pull, power = jumps.values[:, orders[i]], k - i
            factor = -((-1) ** power) / factorial(power)
            value = value + factor * (np.where(acted, elapsed, 0.0) ** power * acted) @ pull
            end = end + factor * (1 - jumps.s) ** power @ pull
        values.append(value)
        after.append(end)
    return values, after


def _added(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sum of polynomials of different degrees, coefficients along the first axis."""
    total = np.zeros((max(len(a), len(b)), *a.shape[1:]))
    total[: len(a)] += a
    total[: len(b)] += b
    return total


def _densities(nlp: BaseNLP, phase: str, lam_g: np.ndarray) -> dict[str, np.ndarray]:
    """Multipliers of rows along the path, per unit of the normalised time, at the points of the costates."""
    program, densities = nlp.phases[phase], {}
    for k, block in enumerate(nlp.constraints):
        if nlp.owners.get(block) != phase or block.n_slices == 1 or block.sites.interval is None:
            continue
        multipliers = lam_g[nlp.offsets[k] : nlp.offsets[k + 1]].reshape(block.n_slices, block.n_rows).T
        values = legendre.legval(_PLACES, row_density(program, block, multipliers))
        for label, value in zip(block.rows.labels, values.transpose(1, 0, 2), strict=True):
            densities[label] = densities.get(label, 0.0) + value.ravel()
    return densities
