"""Joints that parts drive: what they exert adds up, what nothing drives is passive, and nothing is forgotten."""

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.four_bar import four_bar
from colloc.models.two_link import two_link
from tests.muscles.test_muscles import ARM, MODEL, RESERVES, reach

ENDS = [co.initial(q=(0.0, 0.5), qd=0), co.final(q=(0.3, 1.2), qd=0)]


class Constant(co.problem.Part):
    """A torque that is unknown, and the same all the time."""

    name = "constant"

    def __init__(self, joint: str):
        self.joint = joint
        self.size = co.Unknown(f"size_of_{joint}", constant=True)

    def contribution(self) -> co.problem.Contribution:
        return co.problem.Contribution(unknowns=[self.size])

    def torques(self, now: co.problem.Instant) -> dict[str, ca.SX]:
        return {self.joint: getattr(now, self.size.name)}


def labels(problem: co.Problem) -> tuple[str, ...]:
    return problem.rows["torques"].rows.labels


def test_a_joint_that_no_muscle_crosses_is_passive():
    """With the muscles and the motor of the elbow taken out, a pendulum hangs on a shoulder that muscles drive."""
    crossing = [muscle for muscle in ARM if muscle.name.startswith("elbow")]
    amputated = co.muscles.Muscles(
        MODEL, [muscle for muscle in ARM if muscle not in crossing], activation="explicit", reserves={"shoulder": 10.0}
    )
    whole = co.muscles.Muscles(MODEL, ARM, activation="explicit", reserves=RESERVES)
    assert labels(reach(amputated)) == ("muscle torque at joint shoulder",)
    assert labels(reach(whole)) == ("muscle torque at joint shoulder", "muscle torque at joint elbow")
    assert (reach(amputated).passive, reach(whole).passive) == (("elbow",), ())
    assert repr(amputated).endswith("no torque at elbow)")
    assert "no torque" not in repr(whole)
    assert [line.split() for line in repr(reach(amputated)).splitlines()][-1] == ["passive", "elbow"]
    start = [co.initial(q=(0.0, 0.5), qd=0), co.final(q={"shoulder": 0.3})]
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + 10 * ca.sumsqr(now.reserve))
    solution = co.solve(co.Problem(MODEL, 0.6, effort, start, parts=[amputated]), co.Radau(20))
    assert solution.success
    times = np.linspace(0.0, 0.6, 61)
    assert np.abs(solution.at(times).tau[:, 1]).max() < 1e-3  # N m
    assert np.abs(solution.at(times).tau[:, 0]).max() > 0.1


def test_parts_at_one_joint_add_up():
    """Two unknown constants over a fixed span of time: only their sum counts, and it is the torque."""
    arm = two_link()
    parts = [Constant("shoulder"), Constant("elbow")]
    first = co.Problem(arm, 1.0, subject_to=[co.initial(q=0.0, qd=0.0), co.final(q=0.5)], parts=parts)
    solution = co.solve(first, co.Radau(10))
    sizes = [solution.constants[part.size.name][0] for part in parts]
    np.testing.assert_allclose(solution.tau, np.tile(sizes, (solution.t.size, 1)), atol=1e-4)

    class Known(co.problem.Part):
        name = "known"

        def torques(self, now):
            return {"elbow": ca.SX(0.1)}

    both = co.Problem(arm, 1.0, subject_to=first.subject_to, parts=[*parts, Known()])
    assert labels(both) == (
        "constant torque at joint shoulder",
        "constant and known torque at joint elbow",
    )
    other = co.solve(both, co.Radau(10))
    assert other.constants["size_of_elbow"][0] == pytest.approx(sizes[1] - 0.1, abs=1e-5)


def test_without_parts_that_drive_joints_all_have_motors():
    class Wind(co.problem.Part):
        name = "wind"

        def contribution(self):
            return co.problem.Contribution(loads=[co.Load("elbow", force=(1.0, 0.0, 0.0))])

    blown = co.Problem(MODEL, 0.6, co.duration(), ENDS, parts=[Wind()])
    assert "torques" not in blown.rows
    assert blown.passive == ()
    assert [load.body for load in blown.all_loads] == ["elbow"]


def test_a_torque_that_is_said_to_be_zero_is_not_said_twice():
    bounded = co.Problem(MODEL, 0.6, subject_to=[co.bounds(tau={"elbow": (0.0, 0.0)})], parts=[Constant("shoulder")])
    assert bounded.rows["tau bounds"].rows.labels == ("tau[elbow]",)


def test_a_joint_that_is_held_where_it_is_needs_no_motor_and_is_not_passive():
    """Its torque is what holds it."""
    held = [co.bounds(q={"elbow": (0.4, 0.4)}), co.initial(q={"shoulder": 0.0}, qd=0.0), co.final(q={"shoulder": 0.5})]
    problem = co.Problem(two_link(9.81), 1.0, subject_to=held, parts=[Constant("shoulder")])
    assert problem.passive == ()
    solution = co.solve(problem, co.Radau(10))
    assert solution.success
    assert np.abs(solution.tau[:, 1]).max() > 0.1  # N m


def test_a_joint_whose_motion_is_prescribed_has_a_motor_where_that_is_said():
    """A passive joint cannot follow; a motor there has the torque of inverse dynamics."""
    prescribed = [
        co.path(lambda now: now.q[1] - 0.3 * ca.sin(3 * now.t), equals=0.0, name="prescribed"),
        co.initial(q={"shoulder": 0.0}, qd={"shoulder": 0.0}),
        co.final(q={"shoulder": 0.4}),
    ]
    free = co.Problem(MODEL, 1.0, subject_to=prescribed, parts=[Constant("shoulder")])
    with pytest.raises(co.InputError, match=r"equations .* leave out equations .*, or add actuators to joint elbow"):
        co.solve(free, co.Radau(10), progress=False)
    motors = co.Motors({"elbow": (-20.0, 20.0)})
    driven = co.Problem(MODEL, 1.0, subject_to=prescribed, parts=[Constant("shoulder"), motors])
    solution = co.solve(driven, co.Radau(10))
    t = np.linspace(0.0, 1.0, 11)
    now = solution.at(t)
    np.testing.assert_allclose(now.motor[:, 0], now.tau[:, 1], atol=1e-2)
    np.testing.assert_allclose(now.q[:, 1], 0.3 * np.sin(3 * t), atol=1e-5)


def test_bounds_on_a_joint_that_nothing_drives_are_not_taken_for_a_motor():
    elbow = co.bounds(tau={"elbow": (-10.0, 10.0)})
    with pytest.warns(co.support.InputWarning, match=r"no part drives joint elbow, .*: add co\.Motors\(\['elbow'\]\)"):
        co.Problem(MODEL, 0.6, subject_to=[elbow], parts=[Constant("shoulder")])
    co.Problem(MODEL, 0.6, subject_to=[elbow], parts=[Constant("shoulder"), co.Motors(["elbow"])])
    co.Problem(MODEL, 0.6, subject_to=[co.bounds(tau=(-10.0, 10.0))], parts=[Constant("shoulder")])


def test_what_two_parts_share_is_there_once():
    shared = Constant("elbow")
    left, right = Constant("shoulder"), Constant("shoulder")
    left.size = right.size = shared.size
    problem = co.Problem(MODEL, 0.6, parts=[left, right, shared])
    assert problem.all_unknowns == (shared.size,)


def test_misuse():
    muscles = co.muscles.Muscles(MODEL, ARM)
    with pytest.raises(co.InputError, match=r"unknowns cannot contain .*; give it among parts"):
        co.Problem(MODEL, 1.0, unknowns=[muscles])  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"no joint that moves \(driven by the constant\) named 'knee'"):
        co.Problem(MODEL, 1.0, parts=[Constant("knee")])
    with pytest.raises(co.InputError, match="two unknowns or parameters are named 'size_of_elbow'"):
        co.Problem(MODEL, 1.0, parts=[Constant("elbow"), Constant("elbow")])
    other = co.Model([co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0))])
    with pytest.raises(co.InputError, match="muscles are those of"):
        co.Problem(other, 1.0, parts=[muscles])


def test_a_spring_in_a_closed_chain_acts_the_same_in_both_ways_to_close_it():
    """At a joint that has no actuator of its own, with the crank's motor."""
    spring, motor = co.Spring("rocker", stiffness=0.5, rest=1.5), co.Motors(["crank"])
    ends = [co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 1.5}, qd={"crank": 0.0})]
    effort = co.integral(lambda now: now.motor**2)
    driven = four_bar(actuators=("crank", "rocker"))
    inside = [co.loops.IndependentJoints(driven, surplus=True), spring, motor]
    costs = []
    for chain, parts in ((driven, inside), (four_bar(), [co.loops.CutJoints(four_bar()), spring, motor])):
        problem = co.Problem(chain.model, 1.0, effort, ends, parts=parts)
        guess = lambda t, chain=chain: co.loops.assemble(chain, [0.5 + t])  # noqa: E731
        costs.append(co.solve(problem, co.Radau(10, degree=5), guess=guess, progress=False).cost)
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)
    with pytest.raises(co.InputError, match="joint 'rocker', which the spring drives, has no actuator in the chain"):
        co.Problem(chain.model, 1.0, effort, ends, parts=[co.loops.IndependentJoints(chain), spring, motor])


def test_reserves_and_tissue_beyond_the_joints_of_muscles_are_refused():
    muscles = [co.muscles.Muscle("flexor", lambda now: 0.3 - 0.03 * now.q[1], 900.0, 0.1, 0.2)]
    beyond: dict[str, Any]
    for beyond in ({"reserves": {"shoulder": 50.0}}, {"passive": {"shoulder": lambda q, qd: -q}}):
        with pytest.raises(co.InputError, match=r"joint 'shoulder' has a reserve .* elbow: add it to joints"):
            co.muscles.Muscles(MODEL, muscles, joints=["elbow"], **beyond)


def test_ligaments_are_those_of_their_model_and_have_a_curve():
    cord = co.muscles.Ligament("cord", lambda now: 0.1 + 0.03 * now.q[0], 0.1, 500.0)
    bodies = [co.Body(name, co.revolute(), mass=1.0, inertia=(1, 1, 1)) for name in MODEL.joint_names[::-1]]
    with pytest.raises(co.InputError, match="ligaments are those of"):
        co.Problem(co.Model(bodies), 1.0, parts=[co.muscles.Ligaments(MODEL, [cord])])
    with pytest.raises(co.InputError, match=r"curve of ligament 'cord' must be a co.model.CubicSpline, .* got 3"):
        replace(cord, curve=3)
