"""Random problems that a simulated motion solves: none may be called infeasible.

Torques or controls are drawn first and simulated, for the most part by SciPy. Limits, durations and end states are
those of the motion, with little room, so that it solves the problem, and the straight line as a rule does not.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

import colloc as co
from colloc.refinement.simulated_start import forward_integrator
from colloc.studies.benchmarks.random_motions import Case, colloc_problem, pin, pinocchio_model, random_case
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_JOINTS = 3  # at most: many small problems find more than a few large ones
_ROOM = 1.1  # of the largest torque, speed or control of the known motion
_SNIPPET = """
from tests.campaigns import feasible
feasible.check({seed})
"""
effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem."""
    return attempt_apart("feasible", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=300.0)


def check(seed: int) -> co.solver.Status:
    """Solve the problem of a seed by the plain call, and assert that it is not called infeasible."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        warnings.simplefilter("ignore", co.support.InputWarning)  # of joints that turn more than once
        kind, problem = feasible(seed)
        status = co.solve(problem, seconds=120.0, raise_on_failure=False).status
    assert status is not co.solver.Status.INFEASIBLE, f"{kind}: a feasible problem is called infeasible"
    return status


def feasible(seed: int) -> tuple[str, co.Problem | co.Phases]:
    """The kind of a seed's problem, and the problem."""
    rng = np.random.default_rng([34, seed])
    kind, make = list(_KINDS.items())[seed % len(_KINDS)]
    return kind, make(rng, seed)


def _case(seed: int) -> Case:
    """A mechanism of few joints."""
    while (case := random_case(seed)).n > _JOINTS:
        seed += 1000
    return case


def _waves(rng: np.random.Generator, sizes: np.ndarray, T: float) -> Callable[[float], np.ndarray]:
    """Sums of two sines."""
    factors, rates, phases = rng.normal(size=(2, sizes.size)), rng.uniform(0.5, 3.0, (2, 1)), rng.uniform(0, 6, (2, 1))
    return lambda t: sizes * (factors * np.sin(rates * 2 * t / T + phases)).sum(axis=0)


def _simulated(rng: np.random.Generator, case: Case, driven: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Duration, positions and velocities, and torques of a mechanism under random torques of some joints."""
    world, n, T = pinocchio_model(case.links, case.gravity), case.n, float(rng.uniform(0.4, 1.2))
    data = world.createData()
    resting = np.abs(pin.rnea(world, data, case.start, np.zeros(n), np.zeros(n)))
    tau = _waves(rng, driven * (1.0 + resting), T)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return np.append(y[n:], pin.aba(world, data, y[:n], y[n:], tau(t)))

    times = np.linspace(0, T, 201)
    path = solve_ivp(rate, (0, T), np.append(case.start, np.zeros(n)), t_eval=times, rtol=1e-9, atol=1e-9).y.T
    return T, path, np.array([tau(t) for t in times])


def _arm(rng: np.random.Generator, seed: int, driven: np.ndarray | None = None) -> co.Problem:
    """From rest to where random torques lead, within little more than these and than their speeds."""
    case = _case(seed)
    T, path, tau = _simulated(rng, case, np.ones(case.n) if driven is None else driven[: case.n])
    strongest, fastest = _ROOM * np.abs(tau).max(axis=0), _ROOM * np.abs(path[:, case.n :]).max(axis=0)
    return co.Problem(
        colloc_problem(case).model,
        T,
        effort,
        [
            co.initial(q=path[0, : case.n], qd=0.0),
            co.final(q=path[-1, : case.n], qd=path[-1, case.n :]),
            co.bounds(tau=(-strongest, strongest), qd=(-fastest, fastest)),
        ],
    )


def _underactuated(rng: np.random.Generator, seed: int) -> co.Problem:
    """An arm whose last joint nothing drives."""
    n = _case(seed).n
    return _arm(rng, seed, np.append(np.ones(n - 1), 0.0))


def _phases(rng: np.random.Generator, seed: int) -> co.Phases:
    """An arm by way of where it is half-way."""
    case = _case(seed)
    T, path, tau = _simulated(rng, case, np.ones(case.n))
    strongest = _ROOM * np.abs(tau).max(axis=0)
    model, limit, n = colloc_problem(case).model, co.bounds(tau=(-strongest, strongest)), case.n
    first = [co.initial(q=path[0, :n], qd=0.0), co.final(q=path[100, :n]), limit]
    last = [co.final(q=path[-1, :n], qd=path[-1, n:]), limit]
    return co.Phases({"first": co.Problem(model, T / 2, effort, first), "last": co.Problem(model, T / 2, effort, last)})


def _states(rng: np.random.Generator, seed: int) -> co.Problem:
    """Nonlinear equations of states."""
    n, m, T = int(rng.integers(2, 5)), int(rng.integers(1, 3)), float(rng.uniform(0.5, 3.0))
    A, B, C = rng.normal(size=(n, n)), rng.normal(size=(n, m)), rng.normal(size=(n, n))
    control = _waves(rng, np.ones(m), T)
    start = rng.normal(size=n)

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return A @ y - y**3 + C @ np.sin(2 * y) + B @ control(t)

    times = np.linspace(0, T, 201)
    path = solve_ivp(rate, (0, T), start, t_eval=times, rtol=1e-9, atol=1e-9).y.T
    most = _ROOM * np.abs([control(t) for t in times]).max(axis=0)
    low, high = path.min(axis=0) - 0.05, path.max(axis=0) + 0.05
    u = co.Unknown("u", m, lower=-most, upper=most)
    y = co.State(
        "y",
        n,
        rate=lambda now: A @ now.y - now.y**3 + C @ ca.sin(2 * now.y) + B @ now.u,
        lower=low,
        upper=high,
    )
    ends = [co.initial(states={"y": start}), co.final(states={"y": path[-1]})]
    return co.Problem(co.Model.empty(), T, co.integral(lambda now: ca.sumsqr(now.u)), ends, [u, y])


def _contact(rng: np.random.Generator, seed: int) -> co.Problem:
    """A disc that falls on the ground and slides and rolls on to where it comes to be."""
    radius, T, way = float(rng.uniform(0.1, 0.3)), float(rng.uniform(0.4, 1.0)), float(rng.uniform(-1.5, 1.5))
    bodies = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), parent="x"),
        co.Body("turn", co.revolute((0, 0, 1)), parent="y", mass=1.0, inertia=radius**2 / 4 * np.array([1, 1, 2])),
    ]
    model = co.Model(bodies, gravity=(0, -9.81, 0))
    sphere = co.problem.ContactSphere("turn", (0, 0, 0), radius, stiffness=float(10 ** rng.uniform(3.5, 5)))
    parts, nothing = [co.problem.GroundContact([sphere])], co.bounds(tau=(0.0, 0.0))
    start = np.array([0.0, radius + float(rng.uniform(0.02, 0.3)), 0.0, way, 0.0, 0.0])
    free = co.Problem(model, T, co.integral(lambda now: ca.sumsqr(now.qd)), [nothing], parts=parts)
    times = np.linspace(0, T, 201)
    fall = forward_integrator(free, T, times)
    end = np.array(fall(x0=start, u=np.zeros((3, 200)), p=[])["xf"])[:, -1]
    ends = [co.initial(q=start[:3], qd={"y": 0.0, "turn": 0.0}), co.final(q={"x": end[0]})]
    return co.Problem(model, T, free.minimize, [*ends, nothing], parts=parts)


_KINDS = {
    "arm": _arm,
    "underactuated": _underactuated,
    "phases": _phases,
    "states": _states,
    "contact": _contact,
}
