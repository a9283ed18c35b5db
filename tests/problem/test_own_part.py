"""A part of a user-defined class works like the library's: nothing depends on its kind."""

import pickle
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.storage.fingerprint import differences, fingerprint

CURVE = co.Radau(8)
LAG = 0.1  # s
STIFFEST = 8.0  # N m/rad
ENDS = [co.initial(q=(0.0, -1.5), qd=0.0, states={"lag": -1.5}), co.final(q=(1.0, -0.5), qd=0.0)]
MOTORS = co.Motors({"shoulder": 20.0, "elbow": 20.0})


class Exoskeleton(co.problem.Part):
    """A spring whose far end follows the joint with a lag: a damper in series, and a state of its own."""

    name = "exoskeleton"

    def __init__(self, joint: str, stiffest: float = STIFFEST):
        self.joint = joint
        self.stiffness = co.Unknown("k", lower=0.5, upper=stiffest, constant=True, unit="N m/rad")
        self.lag = co.State("lag", rate=self._rate, unit="rad")

    def contribution(self) -> co.problem.Contribution:
        return co.problem.Contribution(unknowns=[self.stiffness, self.lag])

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        return {self.joint: now.k * (now.lag - self._angle(now))}

    def _angle(self, now: co.problem.Instant) -> ca.SX:
        return now.q[now.model.joint_names.index(self.joint)]

    def _rate(self, now: co.problem.Instant) -> ca.SX:
        return (self._angle(now) - now.lag) / LAG


def effort(now: co.problem.Instant) -> ca.SX:
    return ca.sumsqr(now.motor)


def swing(stiffest: float = STIFFEST, motors: co.Motors = MOTORS, duration: float = 0.5) -> co.Problem:
    parts = [Exoskeleton("elbow", stiffest), motors]
    return co.Problem(two_link(), duration, co.integral(effort), ENDS, parts=parts)


def solved(problem: co.Problem, **keywords: Any) -> Any:
    return co.solve(problem, CURVE, progress=False, **keywords)


@pytest.fixture(scope="module")
def helped() -> co.Solution:
    return solved(swing())


def test_its_motion_is_that_of_a_problem_put_together_by_hand(helped: co.Solution):
    """The same unknowns, rows and costs, without any part."""
    k, lag = Exoskeleton("elbow").contribution().unknowns
    motor = co.Unknown("motor", 2, -20.0, 20.0)

    def missing(now: co.problem.Instant) -> ca.SX:
        return now.tau - now.motor - ca.vertcat(0, now.k * (now.lag - now.q[1]))

    rows = [*ENDS, co.path(missing, equals=0.0, scale=20.0)]
    by_hand = solved(co.Problem(two_link(), 0.5, co.integral(effort), rows, [k, lag, motor]))
    assert helped.status is co.solver.Status.SOLVED
    assert helped.cost == pytest.approx(by_hand.cost, rel=1e-7)
    np.testing.assert_allclose(helped.constants["k"], by_hand.constants["k"], rtol=1e-5)
    t = np.linspace(0.0, 0.5, 11)
    np.testing.assert_allclose(helped.at(t).q, by_hand.at(t).q, atol=1e-6)


def test_its_torque_and_the_motors_are_what_the_joint_has(helped: co.Solution):
    now = helped.at(helped.mesh_times[1:] - 1e-9)  # ends of intervals, which are collocation points
    spring = helped.constants["k"] * (now.lag.ravel() - now.q[:, 1])
    np.testing.assert_allclose(now.motor[:, 1] + spring, now.tau[:, 1], atol=1e-6)
    assert np.abs(spring).max() > 0.05  # N m
    check = co.verify(helped)
    assert check.local_error < 1e-4


def test_it_is_printed_by_name(helped: co.Solution):
    text = repr(helped.problem)
    for line in ("exoskeleton, motor", "k: constant", "lag: state"):
        assert line in text
    assert helped.problem.rows["torques"].rows.labels == (
        "motor torque at joint shoulder",
        "exoskeleton and motor torque at joint elbow",
    )


def test_the_answer_is_explained_and_differentiated_by_its_numbers(helped: co.Solution):
    limits = {limit.row: limit for limit in co.optimality.explain(helped).limits}
    (bound,) = [limit for row, limit in limits.items() if row == "k"]
    table = co.optimality.sensitivity(helped, "k")
    (name,) = [number.name for number in table.derivatives if "upper" in number.name]
    step = 1e-3
    below, above = (solved(swing(STIFFEST + sign * step)).cost for sign in (-1, 1))
    assert table[name].cost == pytest.approx((above - below) / (2 * step), rel=1e-3)
    assert bound.gain == pytest.approx(-table[name].cost, rel=1e-3)


def test_a_failure_names_its_torque_and_what_has_to_give_way():
    weak = co.Motors({"shoulder": 0.5, "elbow": 0.5})
    with pytest.raises(co.SolveError) as caught:
        solved(swing(motors=weak))
    explanation = co.optimality.explain(caught.value, relax="motor")
    assert {relaxation.row.partition("[")[0] for relaxation in explanation.relaxations} == {"motor"}
    relaxed = explanation.relaxed()
    assert isinstance(relaxed, co.Problem)
    assert solved(relaxed, guess=explanation.motion).outcome.status is co.solver.Status.SOLVED


def test_it_is_saved_loaded_and_sent(helped: co.Solution, tmp_path: Path):
    co.save(helped, tmp_path / "helped.npz")
    back = co.load(tmp_path / "helped.npz", swing())
    np.testing.assert_array_equal(back.x, helped.x)
    np.testing.assert_array_equal(back.at(0.2).lag, helped.at(0.2).lag)
    with pytest.raises(co.InputError, match="unknown 'k'"):
        co.load(tmp_path / "helped.npz", swing(stiffest=7.0))
    sent = pickle.loads(pickle.dumps(swing()))
    assert differences(fingerprint(sent), fingerprint(swing())) == []


def test_it_is_drawn(helped: co.Solution):
    figure = co.plot.signals(helped)
    text = " ".join(axes.get_ylabel() + axes.get_title() for axes in figure.axes)
    assert "lag" in text
    assert "motor" in text
    co.plot.summary(helped)
    co.plot.joints(helped)


def test_it_lives_in_phases_and_arcs():
    """In two phases the stiffness is one, and the state goes on where the first phase leaves it."""
    exoskeleton = Exoskeleton("elbow")
    parts = [exoskeleton, MOTORS]
    bend = co.Problem(two_link(), 0.3, co.integral(effort), [ENDS[0], co.final(q=(0.5, -1.0))], parts=parts)
    stop = co.Problem(two_link(), 0.3, co.integral(effort), [ENDS[1]], parts=parts)
    both = co.solve(co.Phases({"bend": bend, "stop": stop}), CURVE, progress=False)
    assert both.success
    assert both["bend"].constants["k"] == both["stop"].constants["k"]
    np.testing.assert_allclose(both["bend"].at(0.3).lag, both["stop"].at(0.0).lag, atol=1e-6)
