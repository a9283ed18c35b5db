"""Feedback around a predicted motion: the time-varying linear-quadratic regulator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.polynomial.legendre import leggauss

from colloc.control.discrete import Scheme, System, rollout, system_at
from colloc.control.horizon import held_joints
from colloc.control.residuals import Expansion
from colloc.control.riccati import backward
from colloc.problem import Problem
from colloc.problem.time_sets import WHOLE
from colloc.solution import Solution
from colloc.support.checks import InputError, count, finite_array, finite_number, flag, instance, interval, pair, quoted
from colloc.support.display import short

_SAME = 1e-12  # of the largest: singular values that are zero


@dataclass(frozen=True, eq=False)
class Tracking:
    """A sampled predicted motion with feedback that keeps a mechanism on it.

    Controls are held for the duration of a step, as a digital controller does: tau[k] = u[k] + gains[k] (x - x[k]) with
    the state x = (q, qd) at the beginning of step k; differences of quaternions are rotations, see `StateSpace`.

    Parameters
    ----------
    t : ndarray, shape (K + 1,) [s]
    x : ndarray, shape (K + 1, n_q + n)
        Predicted q [rad, m], then qd.
    u : ndarray, shape (K, n) [N m, N]
        Predicted torques, each the mean over its step.
    gains : ndarray, shape (K, n, 2 n)
    system : System
        The predicted mechanism, with the time step of the controller.

    Examples
    --------
    >>> plan = co.control.time_varying_lqr(solution, steps=100)
    >>> off = plan.x[0] + 0.01
    >>> x, u = co.control.rollout(plan.system, off, plan.u, reference=plan.x, gains=plan.gains)
    >>> bool(abs(x[-1] - plan.x[-1]).max() < 0.01)
    True
    """

    t: np.ndarray
    x: np.ndarray
    u: np.ndarray
    gains: np.ndarray
    system: System

    def __repr__(self) -> str:
        return (
            f"Tracking: {len(self.u)} steps of {short(self.dt)} s, {self.x.shape[1]} states, {self.u.shape[1]} torques"
        )

    @property
    def dt(self) -> float:
        """Time step [s]."""
        return float(self.t[1])

    def run(
        self,
        system: System | None = None,
        x0: np.ndarray | None = None,
        *,
        feedback: bool = True,
        limits: tuple[Any, Any] | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Execute the motion on a mechanism, which need not be the predicted one.

        Parameters
        ----------
        system : System, optional
            A system with the same time step (see `discretise`); the predicted mechanism by default.
        x0 : shape (n_q + n,), optional
            Initial state; the predicted one by default.
        feedback : bool
            If False, only the predicted torques are applied.
        limits : (lower, upper), optional
            Limits of the actuators, to which torques are clamped.

        Returns
        -------
        x : ndarray, shape (K + 1, n_q + n)
            NaN from where the motion diverges.
        u : ndarray, shape (K, n) [N m, N]
            Applied torques.

        Raises
        ------
        InputError
            For a system of other sizes or another time step.
        """
        plant: System = self.system if system is None else instance("system", system, System)
        if plant.dt is not None and not np.isclose(plant.dt, self.dt, rtol=1e-6, atol=0.0):
            raise InputError(
                f"system must have the controller's time step, {self.dt!r} s, got one of {plant.dt!r} s: "
                "use co.control.discretise(model, tracking.dt)"
            )
        flag("feedback", feedback)
        start = plant.states.checked("x0", finite_array("x0", self.x[0] if x0 is None else x0, (self.x.shape[1],)))
        bounds = None if limits is None else interval("limits", *pair("limits", limits), shape=(plant.n_u,))
        gains = self.gains if feedback else None
        return rollout(plant, start, self.u, reference=self.x, gains=gains, limits=bounds)


def time_varying_lqr(
    solution: Solution,
    *,
    steps: int = 400,
    q: Any = 0.01,
    qd: Any = 0.1,
    tau: Any = 1.0,
    final: float = 10.0,
) -> Tracking:
    """Time-varying linear-quadratic regulator around a solution.

    Minimises the sum over the steps of the squared deviations of positions, velocities and torques, each divided by
    the deviation that counts as one (Bryson's rule), along the motion linearised at every step. Torques that the
    problem prescribes as constants, such as zero at a joint without a motor, are no controls.

    Parameters
    ----------
    solution : Solution
    steps : int
        Number of steps of the controller over the whole motion.
    q, qd, tau : number or shape (n,) [rad, m], [rad/s, m/s], [N m, N]
        Deviations of equal weight; rotations about the axes of the link for a ball joint on a quaternion.
    final : float
        Weight of the last state relative to the others.

    Returns
    -------
    Tracking

    Raises
    ------
    InputError
        For loads that depend on accelerations or on unknown signals, which have no values off the motion, for closed
        chains, whose loops a discrete-time system would open, for joints that bounds hold in place, for torques that
        are all prescribed, or for a joint without inertia.

    Examples
    --------
    >>> feedback = co.control.time_varying_lqr(solution, steps=100)
    >>> feedback.gains.shape
    (100, 2, 4)
    """
    if not isinstance(solution, Solution):
        raise InputError(f"time_varying_lqr needs a Solution (see co.solve), got {quoted(solution)}")
    steps, n = count("steps", steps, at_least=1), solution.problem.model.n
    deviations = [finite_array(name, value, (n,)) for name, value in (("q", q), ("qd", qd), ("tau", tau))]
    if any((deviation <= 0).any() for deviation in deviations):
        raise InputError(f"deviations must be positive, got q={q!r}, qd={qd!r}, tau={tau!r}")
    final = finite_number("final", final, positive=True)
    t = np.linspace(0.0, solution.duration, steps + 1)
    at = solution.at(t)
    positions = solution.problem.model.of_unit_length(at.q)
    x, u = np.concatenate([positions, at.qd], axis=1), _mean_torques(solution, t)
    system = _system(solution, float(t[1]))
    Q, R = np.diag(np.concatenate(deviations[:2]) ** -2), np.diag(deviations[2] ** -2)
    weights = np.tile(Q, (steps + 1, 1, 1))
    weights[-1] *= final
    free = _free_torques(solution.problem)
    squares = np.tile(free.T @ R @ free, (steps, 1, 1))
    still = Expansion(np.zeros(weights.shape[:2]), np.zeros(squares.shape[:2]), weights, squares)
    try:
        A, B = system.linearise(x[:-1], u)
        policy = backward(A, B @ free, still)
    except np.linalg.LinAlgError:
        policy = None
    if policy is None:
        raise InputError("no feedback: along this solution the mass matrix is singular")
    return Tracking(t, x, u, free @ policy.gains, system)


def _free_torques(problem: Problem) -> np.ndarray:
    """Basis of the torques that feedback can change, shape (n, m)."""
    fixed = [equation.slopes for equation in problem.fixed_torques if equation.window == WHOLE]
    if not fixed:
        return np.eye(problem.model.n)
    _, sizes, directions = np.linalg.svd(np.array(fixed))
    basis = directions[int((sizes > _SAME * sizes[0]).sum()) :].T
    if not basis.size:
        raise InputError("no feedback: the problem prescribes the torques of all joints")
    return basis


def _mean_torques(solution: Solution, t: np.ndarray) -> np.ndarray:
    """Mean of the torques over every step: the constant torque with the same impulse."""
    points, weights = leggauss(5)
    times = t[:-1, None] + (points + 1) / 2 * np.diff(t)[:, None]
    tau = solution.at(times.ravel()).tau.reshape(*times.shape, -1)
    return np.einsum("kin,i->kn", tau, weights / 2)


def _system(solution: Solution, dt: float) -> System:
    """The solution's mechanism with its loads, constants and parameters at their values."""
    problem, now = solution.problem, solution.problem.instant
    if problem.coordinates is not None:
        raise InputError("no feedback: a discrete-time system is for trees, and would let the loops of this chain open")
    if held := held_joints(problem):
        raise InputError(f"no feedback: bounds hold {held[0]!r} in place, and a discrete-time system would let it move")
    used = ca.vertcat(*problem.model.symbols, *(load.wrench for load in problem.wrenches))
    for name, symbol in now.signals.items():
        if ca.depends_on(used, symbol):
            raise InputError(f"no feedback: a load or the model depends on the unknown signal {name!r}")
    constants = np.concatenate([np.zeros(0), *solution.constants.values()])
    symbols = ca.vertcat(now.duration, *now.constants.values(), *now.parameters.values())
    values = ca.SX(np.concatenate([[solution.duration], constants, solution.parameters]))
    return system_at(now, problem.wrenches, dt, Scheme.RUNGE_KUTTA, [symbols], [values])
