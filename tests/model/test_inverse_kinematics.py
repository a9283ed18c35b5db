"""Postures that reach a place, against closed forms and forward kinematics."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.model.kinematics import frames
from colloc.models.panda import panda
from colloc.models.two_link import LENGTH, two_link


def place(model: co.Model, body: str, q: np.ndarray) -> np.ndarray:
    """Transform of a body, by the recursion in numbers."""
    zero = ca.SX(model.n, 1)
    symbols = ca.SX.sym("q", model.n)
    return np.array(ca.Function("T", [symbols], [frames(model, symbols, zero, zero).position[model.index(body)]])(q))


def test_two_links_have_the_closed_form():
    """The law of cosines gives the elbow, of either sign."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        radius, angle = rng.uniform(0.1, 0.78), rng.uniform(-3, 3)
        target = radius * np.array([np.cos(angle), np.sin(angle), 0.0])
        start = rng.uniform(-2, 2, 2)
        q = co.model.reach(two_link(), "elbow", target, start=start)
        elbow = np.arccos(radius**2 / (2 * LENGTH**2) - 1)
        assert abs(np.cos(q[1]) - np.cos(elbow)) < 1e-5
        shoulder = angle - np.arctan2(np.sin(q[1]), np.cos(q[1])) / 2  # both links are equally long
        assert np.cos(q[0] - shoulder) == pytest.approx(1.0, abs=1e-9)


def test_a_stretched_arm_leaves_its_singular_posture():
    q = co.model.reach(two_link(), "elbow", (0.4, 0.0, 0.0))
    assert q == pytest.approx(np.sign(q[1]) * np.array([-np.pi / 3, 2 * np.pi / 3]), abs=1e-5)


@pytest.mark.parametrize("turned", [False, True])
def test_every_posture_of_a_panda_is_found_again(turned):
    """Within its limits, the hand where it was; with its rotation if that is asked for."""
    model, rng = panda(), np.random.default_rng(1)
    lower, upper = model.limits("position")
    hand = model.bodies[-1].name
    for _ in range(10):
        wanted = place(model, hand, rng.uniform(lower, upper))
        q = co.model.reach(model, hand, wanted[:3, 3], rotation=wanted[:3, :3] if turned else None)
        found = place(model, hand, q)
        np.testing.assert_allclose(found[:3, 3], wanted[:3, 3], atol=1e-6)
        if turned:
            np.testing.assert_allclose(found[:3, :3], wanted[:3, :3], atol=2e-6)
        assert ((lower <= q) & (q <= upper)).all()


def test_a_point_beside_the_origin_and_joints_that_do_not_matter():
    bodies = [*two_link().bodies, co.Body("tail", co.revolute(), mass=1.0, com=(0.1, 0, 0))]
    model, start = co.Model(bodies), np.array([0.3, 0.4, 0.7])
    q = co.model.reach(model, "elbow", (0.3, 0.2, 0.1), point=(-0.1, 0.0, 0.1), start=start)
    assert place(model, "elbow", q) @ [-0.1, 0.0, 0.1, 1.0] == pytest.approx([0.3, 0.2, 0.1, 1.0], abs=1e-6)
    assert q[2] == 0.7


def test_limits_hold_and_what_is_out_of_reach_is_told():
    reachable = (0.4, 0.0, 0.0)
    down = co.Limits(position=(-3.0, 0.0))
    bodies = [co.Body("upper", co.dh_revolute(a=0.4)), co.Body("lower", co.dh_revolute(a=0.4, limits=down), "upper")]
    q = co.model.reach(co.Model(bodies), "lower", reachable)
    assert q[1] == pytest.approx(-2 * np.pi / 3, abs=1e-5)
    with pytest.raises(
        co.InputError, match=r"'lower' does not reach \(1\.0, 0\.0, 0\.0\): the nearest .* misses by 0\.2 m"
    ):
        co.model.reach(co.Model(bodies), "lower", (1.0, 0.0, 0.0), tries=3)  # fmt: skip


REFUSED = [
    (lambda: co.model.reach(two_link(), "elbw", (0, 0, 0)), "no body named 'elbw'; did you mean 'elbow'"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0)), r"target must have shape \(3,\)"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0, 0), rotation=np.ones((3, 3))), "must be a rotation matrix"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0, 0), start=(0, 0, 0)), r"start must have shape \(2,\)"),
    (
        lambda: co.model.reach(co.Model([co.Body("a", co.dh_revolute(a=ca.SX.sym("L")))]), "a", (0, 0, 0)),
        "got one with L",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_wrong_arguments_are_refused(call, words):
    with pytest.raises(co.InputError, match=words):
        call()
