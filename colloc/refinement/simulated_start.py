"""An initial motion that satisfies the equations of motion: simulated forward under the torques of a guess.

A guess that never touches the ground on which a body must fall gives a search no information about it. A simulated body
falls and touches.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.problem import Problem
from colloc.solution.phases import initial_motion
from colloc.solution.simulation import (
    explicit_torques,
    forward_acceleration,
    state_rate_function,
    values_of_unknowns,
)
from colloc.solution.solution import Solution
from colloc.support.checks import InputError
from colloc.transcription import NLP, PhasesNLP, Trajectory
from colloc.transcription.blend import blended

_STEPS = 6  # steps in every interval, with constant torques and signals
_OPTIONS = {"abstol": 1e-6, "reltol": 1e-6, "max_num_steps": 20_000}


def simulated_start(nlp: NLP | PhasesNLP, x: np.ndarray, p: np.ndarray) -> np.ndarray | None:
    """A decision vector of a motion simulated phase by phase, then deformed to meet end conditions; None if impossible.

    Each phase starts from the positions, velocities and states of x, and has its duration, torques and signals within
    their bounds; passive joints get the prescribed torque. Closed chains are not simulated.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    x : ndarray, shape (n_x,)
        The guess.
    p : ndarray
        Parameter values.
    """
    guess = initial_motion(nlp, x, p)
    moved = x.copy()
    for name, phase in guess.phases.items():
        if phase.problem.coordinates is not None:
            return None
        try:
            moved[nlp.parts[name]] = nlp.phases[name].grid.interpolate(_simulated(phase))
        except (RuntimeError, InputError):  # the motion diverges, or a load depends on accelerations
            return None
    if not np.isfinite(moved).all():
        return None
    return np.clip(blended(nlp, moved, p[None])[0], nlp.lower, nlp.upper)


def _simulated(guess: Solution) -> Trajectory:
    """The motion under the torques of a guess."""
    problem, n_q, n = guess.problem, guess.problem.model.n_q, guess.problem.model.n
    times = np.linspace(0.0, guess.duration, _STEPS * guess.nlp.grid.basis.intervals + 1)
    sample, (signals, states, _) = guess.at(times), values_of_unknowns(guess, times)
    lower, upper = problem.limits("tau")
    inputs = np.hstack([np.clip(np.nan_to_num(sample.tau), lower, upper), signals])[:-1]
    constants = np.concatenate([np.zeros(0), *guess.constants.values(), guess.parameters])
    start = np.concatenate([sample.q[0], sample.qd[0], states[0]])
    step = forward_integrator(problem, guess.duration, times)
    path = np.vstack([start, np.array(step(x0=start, u=inputs.T, p=constants)["xf"]).T])
    s, columns = times / guess.duration, {}
    first = n_q + n
    for state in problem.states:
        columns[state.name] = path[:, first : first + state.size]
        first += state.size
    first = 0
    for signal in problem.signals:
        columns[signal.name] = signals[:, first : first + signal.size]
        first += signal.size

    def along(values: np.ndarray, at: np.ndarray) -> np.ndarray:
        return np.column_stack([np.zeros((at.size, 0)), *(np.interp(at, s, column) for column in values.T)])

    return Trajectory(
        lambda at: along(path[:, :n_q], at),
        guess.duration,
        lambda name, at: along(columns[name], at),
        lambda name: guess.constants[name],
    )


def forward_integrator(problem: Problem, duration: float, times: np.ndarray) -> ca.Function:
    """Positions, velocities and states at all times except the first; torques and signals are piecewise constant."""
    slots, n_q, n = problem.instant.slots, problem.model.n_q, problem.model.n
    m, t = slots.states.shape[0], ca.SX.sym("t")
    x, u = ca.SX.sym("x", n_q + n + m), ca.SX.sym("u", n + slots.signals.shape[0])
    q, qd, y = ca.vertsplit(x, np.cumsum([0, n_q, n, m]).tolist())
    nothing = {name: ca.SX.nan(getattr(slots, name).shape) for name in ("qdd", "jerk", "tau_rate", "signal_rates")}
    rates = ca.SX.zeros(m)  # initial values for the equations of states
    instant = slots._replace(
        t=t, duration=duration, q=q, qd=qd, signals=u[n:], states=y, state_rates=rates, tau=u[:n], **nothing
    )
    joints, torques = explicit_torques(problem)
    tau = ca.SX(u[:n])
    tau[joints] = torques(*instant)
    instant = instant._replace(tau=tau)
    acceleration = problem.function("model", forward_acceleration(problem))(*instant)
    state_rates = state_rate_function(problem)(*instant._replace(qdd=acceleration))
    rate = ca.vertcat(problem.model.position_rates(q, qd), acceleration, state_rates)
    ode = {"x": x, "t": t, "u": u, "p": ca.vertcat(slots.constants, slots.parameters), "ode": rate}
    return ca.integrator("forward", "cvodes", ode, 0.0, times[1:].tolist(), _OPTIONS)
