"""A foot on a pedal and a hand on a rim: their forces by the limb's own dynamics, and the published shares."""

import json

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.rower import FOREARM, HAND
from colloc.studies.closed_chains import cyclist, wheelchair


def limb_alone(model, crank, body, point, q, qd, qdd, tau):
    """Force of a limb's end that is left of its torques after its own motion, shape (2,) [N], by least squares."""
    torque = co.dynamics.newton_euler(model, ca.SX(q), ca.SX(qd), ca.SX(qdd))
    symbols = ca.SX.sym("q", model.n)
    place = co.model.point_motion(model, body, point, q=symbols).position[:2]
    jacobian = np.array(ca.Function("J", [symbols], [ca.jacobian(place, symbols)])(q))
    rows, left = np.arange(model.n) != crank, tau - np.array(ca.evalf(torque)).ravel()
    return np.linalg.lstsq(jacobian[:, rows].T, left[rows], rcond=None)[0]


def test_the_pedal_gets_what_the_leg_does_not_need():
    ride = cyclist.ride()
    solution = co.solve(ride.problem, co.Radau(16), guess=ride.guess, tol=None, progress=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(0.06839, rel=1e-3)
    ball = np.array(ca.DM(ride.chain.loops[0].first.placement[:3, 3])).ravel()
    t = solution.t[[5, 17, 30]]  # nodes, where torques are those of the muscles
    now = solution.at(t)
    force = solution.evaluate(lambda now: now.rotation("crank")[:2, :2] @ cyclist.on_the_crank(now), t)
    for k in range(t.size):
        alone = limb_alone(
            ride.chain.model, 3, "calcn_r", ball, now.q[k], now.qd[k], now.qdd[k], np.asarray(now.tau)[k]
        )
        np.testing.assert_allclose(force[k], alone, atol=0.5)
    numbers = cyclist.measured(solution)
    assert numbers["power"] == pytest.approx(cyclist.POWER, rel=1e-3)
    assert 26 < numbers["effectiveness"] < 58  # 32 +- 6 and 48 +- 10 %
    assert 60 < numbers["peak.at"] < 120


def test_a_hand_that_pushes_along_the_rim_only_costs_the_arm_more(tmp_path):
    file, figure = tmp_path / "numbers.json", tmp_path / "figure.png"
    numbers = wheelchair.main(["--json", str(file), "--figure", str(figure)])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    assert figure.stat().st_size > 10_000
    assert 60 < numbers["any.effective"] < 75
    assert numbers["along.effective"] == pytest.approx(100.0, abs=1e-3)
    assert 3 < numbers["times"] < 4.5


def test_the_rim_gets_what_the_arm_does_not_need():
    problem = wheelchair.push("any")
    solution = wheelchair.solve(problem)
    hand, t = (0.0, -FOREARM.length - HAND, 0.0), solution.t[[4, 10, 20]]
    now = solution.at(t)
    force = solution.evaluate(lambda now: now.rotation("rim")[:2, :2] @ wheelchair.on_the_rim(now), t)
    for k in range(t.size):
        alone = limb_alone(problem.model, 2, "elbow", hand, now.q[k], now.qd[k], now.qdd[k], np.asarray(now.tau)[k])
        np.testing.assert_allclose(force[k], alone, atol=1e-6)
    t = np.linspace(0.0, wheelchair.DURATION, 2001)
    power = solution.evaluate(wheelchair.on_the_rim, t)[:, 0] * wheelchair.RIM * wheelchair.RATE
    assert np.trapezoid(power, t) == pytest.approx(wheelchair.WORK, rel=1e-3)
