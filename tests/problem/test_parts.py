"""Parts in problems: what drives a joint adds up there, what nothing drives is passive, and nothing is forgotten."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
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


def labels(problem: co.Problem) -> list[str]:
    return [label for name in ("torques", "passive joints") for label in problem.rows[name].rows.labels]


def test_a_joint_that_no_muscle_crosses_is_passive():
    """With the muscles and the motor of the elbow taken out, a pendulum hangs on a shoulder that muscles drive."""
    crossing = [muscle for muscle in ARM if muscle.name.startswith("elbow")]
    amputated = co.muscles.Muscles(
        MODEL, [muscle for muscle in ARM if muscle not in crossing], activation="explicit", reserves={"shoulder": 10.0}
    )
    whole = co.muscles.Muscles(MODEL, ARM, activation="explicit", reserves=RESERVES)
    assert labels(reach(amputated)) == ["muscle torque at joint shoulder", "torque at passive joint elbow"]
    assert reach(whole).rows["torques"].rows.labels[1] == "muscle torque at joint elbow"
    assert "passive joints" not in reach(whole).rows
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
    assert both.rows["torques"].rows.labels == (
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
    assert not {"torques", "passive joints"} & set(blown.rows)
    assert [load.body for load in blown.all_loads] == ["elbow"]


def test_a_torque_that_is_said_to_be_zero_is_not_said_twice():
    bounded = co.Problem(MODEL, 0.6, subject_to=[co.bounds(tau={"elbow": (0.0, 0.0)})], parts=[Constant("shoulder")])
    assert "passive joints" not in bounded.rows


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
