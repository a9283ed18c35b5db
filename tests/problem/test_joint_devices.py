"""Springs on one side, and torques over a cycle: devices with unknown numbers."""

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link

CURVE = co.BSpline(36)
ENDS = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
ON_THE_GRID = [co.refinement.Solve(between="nodes")]
MOTORS = co.Motors(["shoulder", "elbow"])


def reach(*parts: co.problem.Part, parameters: Any = ()) -> co.Problem:
    effort = co.integral(lambda now: ca.sumsqr(now.motor), name="effort")
    return co.Problem(two_link(9.81), 1.0, effort, ENDS, parts=[*parts, MOTORS], parameters=parameters)


def torque(part: Any, **at: Any) -> float:
    """Torque of a part at an instant of a problem with it alone, by names of the instant's values."""
    problem = reach(part)
    now = problem.instant
    value = part.torques(now)[part.joint]
    symbols = [getattr(now, name) for name in at]
    return float(ca.evalf(ca.substitute([value], symbols, [ca.SX(v) for v in at.values()])[0]))


@pytest.mark.parametrize(("side", "sign"), [("below", 1.0), ("above", -1.0)])
def test_a_spring_on_one_side_pulls_there_alone(side: str, sign: float):
    spring = co.Spring("elbow", stiffness=10.0, rest=0.5, side=side, width=0.02)
    beyond = torque(spring, q=(0.0, 0.5 - sign * 0.4), qd=(0.0, 0.0))
    assert beyond == pytest.approx(sign * 10.0 * (0.4 + 0.02**2 / 4 / 0.4), rel=1e-5)
    assert abs(torque(spring, q=(0.0, 0.5 + sign * 0.4), qd=(0.0, 0.0))) < 10.0 * 0.02**2 / 4 / 0.4
    assert torque(spring, q=(0.0, 0.5), qd=(0.0, 0.0)) == pytest.approx(sign * 10.0 * 0.01)
    assert repr(spring).endswith(f"side={side!r})")


def test_an_orthosis_of_unknown_stiffness_helps_where_it_acts():
    k = co.Unknown("k", lower=0.0, upper=50.0, constant=True)
    free = co.solve(reach(), CURVE, plan=ON_THE_GRID, progress=False)
    helped = co.solve(reach(co.Spring("elbow", k, rest=-1.0, side="below")), CURVE, plan=ON_THE_GRID, progress=False)
    useless = co.solve(reach(co.Spring("elbow", k, rest=1.5, side="above")), CURVE, plan=ON_THE_GRID, progress=False)
    assert helped.cost < 0.98 * free.cost
    assert useless.cost == pytest.approx(free.cost, rel=1e-4)


def test_an_assist_rises_and_falls_as_stated():
    assist = co.problem.Assist("elbow", peak=4.0, time=0.5, rise=0.2, fall=0.3)
    at = {share: torque(assist, t=share * 2.0, duration=2.0) for share in (0.0, 0.29, 0.3, 0.4, 0.5, 0.65, 0.8, 0.9)}
    assert at[0.5] == pytest.approx(4.0)
    assert at[0.4] == pytest.approx(2.0)  # the smooth step is a half in the middle
    assert at[0.65] == pytest.approx(2.0)
    assert max(map(abs, (at[0.0], at[0.29], at[0.3], at[0.8], at[0.9]))) < 1e-12


def test_an_assist_goes_on_in_the_next_cycle():
    late = co.problem.Assist("elbow", peak=4.0, time=0.95, rise=0.2, fall=0.2, cycle=lambda now: now.t / 2.0 + 1.0)
    assert torque(late, t=0.1, duration=2.0) == pytest.approx(2.0)  # at 1.05 of the cycle, halfway down
    assert torque(late, t=1.7, duration=2.0) == pytest.approx(2.0)
    assert torque(late, t=1.0, duration=2.0) == pytest.approx(0.0, abs=1e-12)


def test_the_best_constants_of_an_assist_are_those_of_a_search():
    peak = co.Unknown("peak", lower=0.0, upper=20.0, constant=True, unit="N m")
    time = co.Unknown("time", lower=0.2, upper=0.8, guess=0.5, constant=True)
    best = co.solve(reach(co.problem.Assist("shoulder", peak, time, 0.2, 0.2)), CURVE, plan=ON_THE_GRID, progress=False)
    found = float(best.constants["peak"][0]), float(best.constants["time"][0])

    def cost(peak: float, time: float) -> float:
        return co.solve(
            reach(co.problem.Assist("shoulder", peak, time, 0.2, 0.2)), CURVE, plan=ON_THE_GRID, progress=False
        ).cost

    assert cost(*found) == pytest.approx(best.cost, rel=1e-6)
    for step in ((0.2, 0.0), (-0.2, 0.0), (0.0, 0.02), (0.0, -0.02)):
        assert cost(found[0] + step[0], found[1] + step[1]) > best.cost


def test_the_derivative_of_the_cost_by_the_peak_is_that_of_differences():
    peak = co.Parameter("peak", 2.0)
    nlp = co.transcribe(reach(co.problem.Assist("shoulder", peak, 0.5, 0.2, 0.2)), CURVE)
    sharp = co.Ipopt(tol=1e-11)
    at = {value: co.solve(nlp, parameters={"peak": value}, solver=sharp, progress=False) for value in (1.99, 2.0, 2.01)}
    rate = co.optimality.sensitivity(at[2.0], "peak")["peak"].cost
    assert rate == pytest.approx((at[2.01].cost - at[1.99].cost) / 0.02, rel=1e-4)


def test_the_torque_is_a_signal_with_a_name():
    assist = co.problem.Assist("elbow", 4.0, 0.5, 0.2, 0.3)
    solution = co.solve(reach(assist), CURVE, plan=ON_THE_GRID, progress=False)
    values = solution.signals["assist at elbow"]
    assert values.max() > 3.9
    both = reach(assist, replace(assist, joint="shoulder"))
    assert {"assist at elbow", "assist at shoulder"} <= set(co.problem.signals_of(both))


def test_springs_with_names_are_signals_and_plain_ones_are_not():
    orthosis = co.Spring("elbow", 3.0, rest=-1.0, damping=0.1, name="orthosis")
    plain = co.Spring("elbow", 1.0), co.Spring("elbow", 2.0, side="above")
    problem = reach(orthosis, *plain)
    assert [name for name in co.problem.signals_of(problem) if " at " in name] == ["orthosis at elbow"]
    solution = co.solve(problem, CURVE, plan=ON_THE_GRID, progress=False)
    t = np.linspace(0.0, 1.0, 7)
    now = solution.at(t)
    expected = 3.0 * (-1.0 - np.asarray(now.q)[:, 1]) - 0.1 * np.asarray(now.qd)[:, 1]
    torque = np.asarray(solution.signals.at(t, "orthosis at elbow")["orthosis at elbow"]).ravel()
    np.testing.assert_allclose(torque, expected, atol=1e-12)
    assert "orthosis at elbow" in ",".join(co.problem.signals_of(problem)["orthosis at elbow"].labels)
    with pytest.raises(co.InputError, match="'orthosis at elbow'"):
        reach(orthosis, replace(orthosis, rest=0.0))


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ((1.0, 0.5, 0.0, 0.3), "rise"),
        ((1.0, 0.5, 0.6, 0.6), "1 at most together, got 1.2"),
        ((1.0, 0.5, co.Unknown("rise"), 0.3), "one constant"),
        ((np.inf, 0.5, 0.3, 0.3), "peak"),
    ],
)
def test_mistakes_in_an_assist_are_named(numbers: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.problem.Assist("elbow", *numbers)


def test_a_side_that_is_none_is_named():
    with pytest.raises(co.InputError, match="side of a spring"):
        co.Spring("elbow", 1.0, side="left")


def test_joints_of_motors_may_be_any_iterable():
    names: Any = (joint for joint in ("shoulder", "elbow"))
    assert co.Motors(names).joints == ("shoulder", "elbow")


def test_forces_of_sliding_joints_may_be_in_newtons():
    rod = co.Body("rod", co.revolute(), "cart", mass=1.0, com=(0.5, 0, 0))
    cart = co.Model([co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0), rod])
    parts = [co.Motors(["cart", "rod"], unit=["N", "N m"]), co.problem.Assist("cart", 1.0, 0.5, 0.2, 0.2, unit="N")]
    signals = co.problem.signals_of(co.Problem(cart, 1.0, parts=parts))
    assert (signals["motor"].units, signals["assist at cart"].units) == (("N", "N m"), ("N",))
    limited = co.Model([replace(cart.bodies[0], joint=co.prismatic((1, 0, 0), limits=co.Limits(torque=(-5.0, 5.0))))])
    assert co.formats.Reading(limited).motors.torque.units == ("N",)
