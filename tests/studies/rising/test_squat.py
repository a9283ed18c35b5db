"""Standing up from a squat: the same answers by L-BFGS, and by an integrator and muscles that are not ours."""

import json
from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc.models.squat_to_stand import squat_to_stand
from colloc.studies.rising.squat import FOOT, LEAST, RESERVE, SOLE, curve, main, rise


def test_the_study_writes_what_it_returns(tmp_path):
    paths = {kind: tmp_path / name for kind, name in (("json", "a.json"), ("figure", "a.png"), ("animation", "a.html"))}
    words = [word for kind, path in paths.items() for word in (f"--{kind}", str(path))]
    numbers = main(["--quick", *words])
    assert json.loads(paths["json"].read_text(encoding="utf-8")) == numbers
    assert paths["figure"].stat().st_size > 10_000
    assert paths["animation"].stat().st_size > 50_000
    assert numbers["rigid.cost"] == pytest.approx(0.148576, rel=1e-3)
    assert numbers["rigid.lift"] < 0.0 < numbers["motors.lift"]


def test_a_free_foot_stands_between_heel_and_toes():
    """The ground's force from the accelerations of the bodies, by differences of where they are."""
    solution = co.solve(rise("free").problem, curve(), progress=False)
    assert solution.success
    model, h = squat_to_stand().model, 1e-4
    t = np.linspace(0.02, 0.98, 400)  # of the ends' accelerations the differences know nothing
    places, masses, total = {}, {}, 0.0
    for body in model.bodies:
        mass, com = float(body.mass), np.array(ca.DM(body.com)).ravel()
        masses[body.name], total = mass, total + mass
        at = [
            solution.evaluate(lambda now, b=body.name, c=com: now.point(b, c).position, t + shift)
            for shift in (-h, 0, h)
        ]
        places[body.name] = at[1], (at[0] - 2 * at[1] + at[2]) / h**2
    lift = total * 9.80665 + np.sum([m * places[name][1][:, 1] for name, m in masses.items()], axis=0)
    assert lift.min() > 200.0
    forward = np.sum([m * places[name][1][:, 0] for name, m in masses.items()], axis=0)
    # The ankle's torque is what the ground's force, which acts on the sole, does about it.
    pressure = (solution.at(t).tau[:, 0] - SOLE * forward) / lift
    assert FOOT[0] - 2e-3 < pressure.min() < FOOT[0] + 2e-3
    assert pressure.max() < FOOT[1]


def test_the_body_rises_so_by_another_integrator():
    """Interval by interval from the states where it begins, as errors grow fourfold in 60 ms near upright."""
    made = rise("rigid")
    solution = co.solve(made.problem, curve(), tol=1e-2, progress=False)
    driven = made.muscles
    assert driven is not None
    model, evaluator = made.problem.model, co.Evaluator(made.problem.model)
    torque = solution.evaluate(lambda now: ca.vertcat(*driven.torques(now).values()), np.linspace(0, 1, 50))
    np.testing.assert_allclose(torque, solution.at(np.linspace(0, 1, 50)).tau, atol=0.5)

    def rate(t: float, state: np.ndarray) -> np.ndarray:
        q, qd, a = state[:3], state[3:6], state[6:]
        e = solution.at(t).excitation
        smooth = np.tanh(0.1 * (e - a)) / 2
        lag = 0.5 + 1.5 * a
        da = ((smooth + 0.5) / (0.010 * lag) + lag / 0.040 * (0.5 - smooth)) * (e - a)
        return np.concatenate([qd, evaluator.forward_dynamics(q, qd, solution.at(t).tau), da])

    edges = solution.mesh_times
    for begin, end in list(pairwise(edges))[::4]:
        now, then = solution.at(begin), solution.at(end)
        start = np.concatenate([now.q, now.qd, now.activation])
        reached = solve_ivp(rate, (begin, end - 1e-12), start, rtol=1e-8, atol=1e-10).y[:, -1]
        np.testing.assert_allclose(reached, np.concatenate([then.q, then.qd, then.activation]), atol=2e-4)
    assert RESERVE * np.abs(solution.at(np.linspace(0, 1, 200)).reserve).max() < 0.1
    assert solution.at(0.0).activation == pytest.approx(np.full(9, LEAST), abs=1e-6)
    assert model.n == 3


@pytest.mark.parametrize("way", ["rigid", "compliant"])
def test_exact_hessians_and_lbfgs_find_the_same(way: str):
    program = co.transcribe(rise(way).problem, curve())
    lbfgs = co.Ipopt(hessian=co.solver.Hessian.LIMITED_MEMORY, max_iter=1000)
    exact = co.solve(program, plan=[co.refinement.Solve(between="nodes")], progress=False)
    limited = co.solve(program, plan=[co.refinement.Solve(between="nodes")], solver=lbfgs, progress=False)
    assert exact.outcome.status is limited.outcome.status is co.solver.Status.SOLVED
    assert limited.cost == pytest.approx(exact.cost, rel=1e-5)
    assert limited.iterations > 4 * exact.iterations
