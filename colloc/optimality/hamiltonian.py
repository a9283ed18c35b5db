"""The Hamiltonian of the continuous problem along a motion, its switching functions, and its excess over the minimum.

With positions and velocities as states, and accelerations a, signals u and rates of states as controls,

    H = L + lam_q qd + lam_qd a + lam_x x'

is minimal at every instant over the controls within their bounds (Pontryagin et al. 1962). Torques are linear in the
accelerations, and so are bounds on them: at an instant the minimisation is a quadratic program, in which nonlinear rows
are linearised. The integral of the possible decrease of H over time approximates the possible decrease of the cost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves import Points
from colloc.optimality.costates import Costates, costate_of, costate_points, integral_to
from colloc.optimality.forces import Forces, local_splines
from colloc.problem import ConstraintRows, Problem, Slots
from colloc.solution import Solution
from colloc.transcription import Grid

_STEP = 10.0  # of the largest value of a control along the motion: range of other controls
_LEAST = 1e-3  # of the largest control of its kind: a smaller one counts as constant
_VANISHED = 1e-8  # of the largest slope of a row along the motion: with less it does not depend on the controls
_ACCURACY = 1e-10  # tolerance of the program at every instant, whose numbers are about one
_INSIDE = 1e-9  # of the normalised time: shift of interval ends into the interval
_SIMPSON = np.array([1.0, 4.0, 2.0, 4.0, 2.0, 4.0, 1.0]) / 18  # weights on an interval, for the points of costates


@dataclass(frozen=True)
class Instants:
    """Results of the minimum principle for a phase at the times of its costates.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
        Since the phase began.
    hamiltonian : ndarray, shape (N,)
        In units of the cost per second.
    drift : ndarray, shape (N,)
        Change of the Hamiltonian since the start due to explicit time in the problem.
    expected : float
        Mean of the Hamiltonian that a free duration requires: zero unless the problem contains time or duration; NaN
        for a fixed duration.
    segment : ndarray of int, shape (N,)
        Number of the segment. Segments end where constraints begin, end or hold at one time, and the Hamiltonian may
        jump.
    gain : ndarray, shape (N,)
        Decrease of the Hamiltonian under the best controls within their bounds; NaN where their program was not solved.
    weights : ndarray, shape (N,) [s]
        Of integrals over time.
    switching : dict of str to ndarray, shape (N,)
        Derivative by every torque and signal, or by jerk where that controls the motion.
    controls : dict of str to ndarray, shape (N,)
        Values of the torques and signals, or of jerk, by the same names.
    states : ndarray, shape (N, k)
        Values of the states, in the order of their costates.
    gain_by : dict of str to float
        Contribution of every torque and signal to the integral of the gain, to first order.
    idle : float
        Multipliers of bounds on positions, velocities and states times the distance from these bounds.
    """

    t: np.ndarray
    hamiltonian: np.ndarray
    drift: np.ndarray
    expected: float
    segment: np.ndarray
    gain: np.ndarray
    weights: np.ndarray
    switching: dict[str, np.ndarray]
    controls: dict[str, np.ndarray]
    states: np.ndarray
    gain_by: dict[str, float]
    idle: float


class _Controls(NamedTuple):
    """The cost and the rows along the path at N places, and their derivatives by c controls.

    Parameters
    ----------
    cost : ndarray, shape (N,)
        Per second.
    slope, curvature : ndarray, shape (N, c) and (N, c, c)
    below, above : ndarray, shape (N, r)
        Distance of every row from its bounds, relative to its natural size.
    rows : ndarray, shape (N, r, c)
        Slopes of the rows, relative to the natural size.
    torques : ndarray, shape (N, n, c)
        Slopes of the torques.
    tau : ndarray, shape (N, n)
    equations : ndarray of bool, shape (r,)
        Mask of the rows that are differential equations of states.
    """

    cost: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray
    below: np.ndarray
    above: np.ndarray
    rows: np.ndarray
    torques: np.ndarray
    tau: np.ndarray
    equations: np.ndarray


def instants(phase: Solution, along: Costates, acting: Forces) -> Instants:
    """The minimum principle at the times of a phase's costates.

    Parameters
    ----------
    phase : Solution
    along : Costates
    acting : Forces
        Forces whose integrals are the costates.
    """
    problem, grid, T = phase.problem, phase.nlp.grid, phase.duration
    s, interval = costate_points(phase.nlp)
    sites = grid.on(Points(s, interval))
    inside = s + np.tile(np.linspace(_INSIDE, -_INSIDE, _SIMPSON.size), grid.breakpoints.size - 1)
    local, at = sites.slices.local(phase.x).T, _controls(phase, sites, inside)
    hamiltonian, force, controls, states = at.cost.copy(), [], [], {}
    for spline in local_splines(grid):
        costates = [costate_of(along, spline.name, order) for order in range(len(spline.columns) - 1)]
        for order, costate in enumerate(costates, 1):
            hamiltonian += (costate * local[:, spline.columns[order]]).sum(axis=1) / T**order
            states[spline.name, order - 1] = local[:, spline.columns[order - 1]] / T ** (order - 1)
        controls.append(local[:, spline.columns[-1]] / T ** len(costates))
        force.append(costates[-1] if costates else np.zeros_like(controls[-1]))
    force = at.slope + np.hstack(force)
    step, gain = _least(at, force, _reach(problem, grid, np.hstack(controls)))
    alone = _ungoverned(at.rows, s)
    step[alone], gain[alone] = 0.0, 0.0
    switching, share, values = _switching(phase, at, force, step, np.hstack(controls))
    weights = (np.diff(grid.breakpoints)[:, None] * T * _SIMPSON).ravel()
    integrated = sum(phase.terms[name] for name in problem.integrands)
    free = problem.horizon.lower < problem.horizon.upper
    return Instants(
        t=along.t,
        hamiltonian=hamiltonian,
        drift=integral_to(phase.nlp, acting, np.array([acting.values.shape[1] - 2]))[:, 0] / T,
        expected=(integrated - float(acting.values[:, -1].sum())) / T if free else np.nan,
        segment=np.searchsorted(_edges(problem), inside),
        gain=gain,
        weights=weights,
        switching=switching,
        controls=values,
        states=np.hstack([states[name] for name in along.names]),
        gain_by={name: float(weights @ part) for name, part in share.items()},
        idle=float(acting.idle.sum()),
    )


def _edges(problem: Problem) -> np.ndarray:
    """Normalised times inside the motion at which constraints begin, end, or hold at a single time."""
    where = [rows.constraint.where for rows in problem.rows.values()]
    return np.unique([s for place in where for s in place.moments if 0 < s < 1])


def _controls(phase: Solution, sites: EvaluationPoints, inside: np.ndarray) -> _Controls:
    """Cost and rows along the path of a phase at sites, as functions of the controls.

    Parameters
    ----------
    phase : Solution
    sites : EvaluationPoints
    inside : ndarray, shape (N,)
        Normalised times of the sites, shifted into their intervals, as a bound may hold on one side of an end only.
    """
    problem, T, local = phase.problem, phase.duration, sites.local
    splines, slots = local_splines(phase.nlp.grid), Slots(*local.arguments)
    columns = np.concatenate([spline.columns[-1] for spline in splines]).tolist()
    # The local variables are derivatives in the normalised time: controls times powers of T.
    unit = ca.diag(ca.DM(np.concatenate([np.full(k.columns[-1].size, T ** (len(k.columns) - 1)) for k in splines])))
    entries, lower, upper, equations = _rows_along(problem, inside)
    cost = sum((weight * fn(*slots) for weight, fn in problem.integrands.values()), ca.SX(0))
    rows = ca.vertcat(ca.SX(0, 1), *(entry.function(*slots) / ca.DM(entry.rows.scale) for entry in entries))
    controls = local.w[columns]
    # The length of a quaternion, on which nothing depends, is kept: otherwise its control would be arbitrary.
    balls = [places for places, _ in problem.model.balls.values()]
    lengths = [ca.dot(slots.q[places], controls[places]) / T**2 for places in balls]
    cost, rows, tau = local.resolved([cost, ca.vertcat(rows, *lengths), slots.tau])
    curvature, slope = ca.hessian(cost, controls)
    jacobians = [ca.jacobian(rows, controls) @ unit, ca.jacobian(tau, controls) @ unit]
    expressions = [cost, unit @ slope, unit @ curvature @ unit, rows, tau, *jacobians]
    values = sites.evaluate([ca.densify(k) for k in expressions], phase.x, phase.parameters)
    by_row, by_torque = (table.reshape(sites.size, len(columns), -1).transpose(0, 2, 1) for table in values[5:])
    goes_on = values[3][:, values[3].shape[1] - len(balls) :]
    lower, upper = np.hstack([lower, goes_on]), np.hstack([upper, goes_on])
    equations = np.append(equations, np.zeros(len(balls), dtype=bool))
    steered = (by_row != 0).any(axis=(0, 2))
    return _Controls(
        cost=values[0][:, 0],
        slope=values[1],
        curvature=values[2].reshape(sites.size, len(columns), len(columns)),
        below=np.maximum(values[3] - lower, 0.0)[:, steered],
        above=np.maximum(upper - values[3], 0.0)[:, steered],
        rows=by_row[:, steered],
        torques=by_torque,
        tau=values[4],
        equations=equations[steered],
    )


def _rows_along(problem: Problem, s: np.ndarray) -> tuple[list[ConstraintRows], np.ndarray, np.ndarray, np.ndarray]:
    """Constraints along the path; bounds of their rows at times, relative to natural sizes and infinite where they do
    not hold; and a mask of the equations of states.
    """
    entries, lower, upper, equations = [], [np.zeros((s.size, 0))], [np.zeros((s.size, 0))], [np.zeros(0, bool)]
    names = {state.equation_name for state in problem.states}
    for name, entry in problem.rows.items():
        where, rows = entry.constraint.where, entry.rows
        if where.along:
            holds = where.covers(s)
            entries.append(entry)
            lower.append(np.where(holds[:, None], rows.lower / rows.scale, -np.inf))
            upper.append(np.where(holds[:, None], rows.upper / rows.scale, np.inf))
            equations.append(np.full(rows.scale.size, name in names))
    return entries, np.hstack(lower), np.hstack(upper), np.concatenate(equations)


def _reach(problem: Problem, grid: Grid, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Room below and above the value of every control, each shape (N, c)."""
    largest, first, sizes = np.abs(controls).max(axis=0), 0, []
    for spline in local_splines(grid):
        kind = largest[first : first + spline.columns[-1].size]
        sizes.append(np.maximum(kind, _LEAST * kind.max(initial=0.0)))
        first += kind.size
    size = np.concatenate(sizes)
    size = _STEP * np.where(size > 0, size, 1.0)
    below, above = (np.tile(size, (len(controls), 1)) for _ in range(2))
    if not grid.rates and problem.signals:
        first = grid.layout["q"].shape[1]
        lower, upper = (np.concatenate([getattr(u, side) for u in problem.signals]) for side in ("lower", "upper"))
        some = slice(first, first + lower.size)
        below[:, some] = np.clip(controls[:, some] - lower, 0.0, below[:, some])
        above[:, some] = np.clip(upper - controls[:, some], 0.0, above[:, some])
    return below, above


def _least(at: _Controls, force: np.ndarray, reach: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The step to the controls that minimise the Hamiltonian, shape (N, c), and the decrease, (N,).

    One quadratic program contains all instants side by side.
    """
    below, above = reach
    N, c = force.shape
    if not c:
        return force, np.zeros(N)
    unit = np.maximum(below, above).max(axis=0)
    values, vectors = np.linalg.eigh((at.curvature + at.curvature.transpose(0, 2, 1)) / 2 * unit[:, None] * unit)
    curvature = np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0.0), vectors)
    slope = force * unit
    size = max(float(np.abs(slope).max()), float(np.abs(curvature).max()), 1e-300)
    hessian, jacobian = (_beside(blocks) for blocks in (curvature / size, at.rows * unit))
    options = {"piqp": {"verbose": False, "eps_abs": _ACCURACY, "eps_rel": _ACCURACY}, "error_on_fail": False}
    solver = ca.conic("least", "piqp", {"h": hessian.sparsity(), "a": jacobian.sparsity()}, options)
    most = np.abs(at.rows * unit).sum(axis=2) + 1.0  # a value beyond all steps stands for no bound
    limits = {
        "lba": -np.minimum(at.below, most).ravel(),
        "uba": np.minimum(at.above, most).ravel(),
        "lbx": -(below / unit).ravel(),
        "ubx": (above / unit).ravel(),
    }
    relative = np.array(solver(h=hessian, g=(slope / size).ravel(), a=jacobian, **limits)["x"]).reshape(N, c)
    if not solver.stats()["success"]:  # NaN instead of a number that may be too small
        return np.zeros_like(force), np.full(N, np.nan)
    step = relative * unit
    return step, -((slope * relative).sum(axis=1) + np.einsum("ni,nij,nj->n", relative, curvature, relative) / 2)


def _ungoverned(rows: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Mask of isolated instants at which a row does not depend on the controls, bool, shape (N,).

    An example is the power of a force at rest. The minimum principle holds at almost all times.

    Parameters
    ----------
    rows : ndarray, shape (N, r, c)
        Slopes of the rows.
    s : ndarray, shape (N,)
        The instants, rising; two where intervals meet.
    """
    sizes = np.linalg.norm(rows, axis=2)
    times, number = np.unique(s, return_inverse=True)
    lost = np.zeros(times.size + 2, dtype=bool)
    lost[1 + number[(sizes < _VANISHED * sizes.max(axis=0)).any(axis=1)]] = True
    return (lost[1:-1] & ~lost[:-2] & ~lost[2:])[number]


def _beside(blocks: np.ndarray) -> ca.DM:
    """A sparse matrix with dense blocks, shape (N, rows, columns), along its diagonal."""
    N, rows, columns = blocks.shape
    row = (np.arange(N)[:, None, None] * rows + np.arange(rows)[None, None, :] + np.zeros((1, columns, 1), int)).ravel()
    starts = np.arange(N * columns + 1) * rows
    return ca.DM(ca.Sparsity(N * rows, N * columns, starts.tolist(), row.tolist()), blocks.transpose(0, 2, 1).ravel())


def _switching(
    phase: Solution, at: _Controls, force: np.ndarray, step: np.ndarray, controls: np.ndarray
) -> list[dict[str, np.ndarray]]:
    """Switching functions, contributions to the gain, and values of torques and signals, each shape (N,).

    Rates of states are eliminated by their equations, and accelerations by torques: M' sigma = dH/da.
    """
    problem, grid = phase.problem, phase.nlp.grid
    splines = {spline.name: spline.columns[-1].size for spline in local_splines(grid)}
    n, m = splines["q"], splines["signals"]
    force = force.copy()
    if at.equations.any():
        rows = at.rows[:, at.equations]
        multipliers = _solved(rows[:, :, n + m :].transpose(0, 2, 1), force[:, n + m :])
        force -= np.einsum("nrc,nr->nc", rows, multipliers)
    if grid.rates:
        names = [f"jerk[{joint}]" for joint in problem.model.position_names]
        along, moved, values = force[:, :n], step[:, :n], controls[:, :n]
    else:
        names = [f"tau[{joint}]" for joint in problem.model.joint_names]
        along = _solved(at.torques[:, :, :n].transpose(0, 2, 1), force[:, :n])
        moved, values = np.einsum("ntc,nc->nt", at.torques, step), at.tau
    of_signals = force[:, n : n + m]
    if not grid.rates:  # with constant torques
        of_signals = of_signals - np.einsum("ntc,nt->nc", at.torques[:, :, n : n + m], along)
    names += [label for signal in problem.signals for label in signal.labels]
    switching = np.hstack([along, of_signals])
    shares = -switching * np.hstack([moved, step[:, n : n + m]])
    values = np.hstack([values, controls[:, n : n + m]])
    return [dict(zip(names, table.T, strict=True)) for table in (switching, shares, values)]


def _solved(matrices: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Solutions of linear systems, or least squares solutions, shape (N, columns)."""
    if not matrices.shape[2]:
        return np.zeros((len(matrices), 0))
    return np.einsum("nij,nj->ni", np.linalg.pinv(matrices), values)
