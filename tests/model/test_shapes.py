"""Distances between capsules, against MuJoCo and a search; frames of bodies as the instant gives them."""

# pyright: reportArgumentType=false

import pickle
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.model.distance import segment_distance
from colloc.models.two_link import LENGTH, two_link

mj: Any = mujoco  # has no type stubs


def distance(*ends: Any) -> float:
    return float(ca.DM(segment_distance(*(ca.SX(ca.DM(end)) for end in ends))))


def searched(p: np.ndarray, q: np.ndarray, r: np.ndarray, s: np.ndarray) -> float:
    """Alternately the nearest point of one segment to that of the other: the distance is convex in both."""
    x, y = 0.5, 0.5
    for _ in range(20_000):
        y = np.clip((p + x * (q - p) - r) @ (s - r) / ((s - r) @ (s - r)), 0, 1)
        before, x = x, np.clip((r + y * (s - r) - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
        if abs(x - before) < 1e-15:
            break
    return float(np.linalg.norm(p + x * (q - p) - r - y * (s - r)))


def in_mujoco(ends: np.ndarray, radii: np.ndarray) -> float:
    def capsule(k: int) -> str:
        line = " ".join(map(repr, ends[2 * k : 2 * k + 2].ravel().tolist()))
        return f'<body><geom name="g{k}" type="capsule" fromto="{line}" size="{float(radii[k])!r}"/><freejoint/></body>'

    model = mj.MjModel.from_xml_string(f"<mujoco><worldbody>{capsule(0)}{capsule(1)}</worldbody></mujoco>")
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    return float(mj.mj_geomDistance(model, data, 0, 1, 100.0, None))


def test_distances_are_those_of_mujoco_and_of_a_search():
    rng = np.random.default_rng(0)
    for _ in range(200):
        ends, radii = rng.normal(size=(4, 3)), rng.uniform(0.01, 0.3, 2)
        found = distance(*ends)
        assert found == pytest.approx(searched(*ends), abs=1e-7)
        assert found - radii.sum() == pytest.approx(in_mujoco(ends, radii), abs=1e-6)


def test_balls_and_parallel_bars():
    x, y = np.eye(3)[:2]
    zero = np.zeros(3)
    assert distance(zero, zero, 3 * x, 3 * x) == pytest.approx(3)
    assert distance(zero, zero, x - y, x + y) == pytest.approx(1)
    assert distance(zero, x, 0.5 * y, x + 0.5 * y) == pytest.approx(0.5)
    assert distance(zero, x, 2 * x, 3 * x) == pytest.approx(1)
    assert distance(-x, x, -y, y) == pytest.approx(0, abs=1e-9)


def test_gradients_are_those_of_the_closest_points():
    rng, ends = np.random.default_rng(1), ca.SX.sym("ends", 12)
    value = segment_distance(*ca.vertsplit(ends, 3))
    gradient = ca.Function("g", [ends], [value, ca.gradient(value, ends)])
    for _ in range(50):
        at, step = rng.normal(size=12), 1e-6
        central = [(float(gradient(at + e)[0]) - float(gradient(at - e)[0])) / (2 * step) for e in step * np.eye(12)]
        np.testing.assert_allclose(np.array(gradient(at)[1]).ravel(), central, atol=1e-6)
    for still in (np.zeros(12), np.tile([1.0, 2.0, 3.0], 4)):
        assert np.isfinite(np.array(gradient(still)[1])).all()


def swing(*rows: Any) -> co.Solution:
    """A slow swing of least effort past where a ball may hang."""
    ends = [co.initial(q=(0.0, 0.5), qd=0.0), co.final(q=(1.5, 0.5), qd=0.0)]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    return co.solve(co.Problem(two_link(), 1.0, effort, [*ends, *rows]), co.BSpline(15, degree=4))


def test_an_arm_keeps_off_an_obstacle():
    forearm = co.Capsule("elbow", (-LENGTH, 0, 0), (0, 0, 0), 0.03)
    free = swing()
    tip = free.evaluate(lambda now: now.point("elbow").position, 0.5)
    ball = co.Capsule(None, tip, tip, 0.05)
    off = swing(co.clearance(forearm, ball, by=0.01))
    t = np.linspace(0, 1, 401)
    far = [s.evaluate(lambda now: now.distance(forearm, ball), t).min() for s in (free, off)]
    assert far[0] < -0.05
    assert off.success
    assert far[1] == pytest.approx(0.01, abs=1e-3)
    elbow, hand = off.evaluate(lambda now: (now.point("shoulder").position, now.point("elbow").position), t)
    along = np.linspace(0, 1, 1001)[:, None, None]
    own = np.linalg.norm(elbow + along * (hand - elbow) - tip, axis=2).min()
    assert own - 0.08 == pytest.approx(far[1], abs=1e-5)
    assert off.cost > free.cost
    assert off.problem.rows["distance of elbow and world"].rows.units == ("m",)


def test_frames_and_rotations_are_where_points_say():
    solution = swing()
    frame, turn, origin, along = solution.evaluate(
        lambda now: (
            now.frame("elbow"), now.rotation("elbow"), now.point("elbow").position,
            now.point("elbow", (0, 1, 0)).position,
        ), solution.t,
    )  # fmt: skip
    np.testing.assert_allclose(frame[:, :3, 3], origin)
    np.testing.assert_allclose(frame[:, :3, :3], turn)
    np.testing.assert_allclose(turn[:, :, 1], along - origin, atol=1e-15)
    both = solution.q.sum(axis=1)
    np.testing.assert_allclose(turn[:, 0], np.stack([np.cos(both), -np.sin(both), 0 * both], axis=1), atol=1e-15)


REFUSED = [
    (lambda: co.Capsule("a", (0, 0), (0, 0, 0), 0.1), r"start of a capsule must be of shape \(3,\)"),
    (lambda: co.Capsule("a", (0, 0, 0), (0, 0, 0), -0.1), "radius of a capsule must not be negative, got -0.1"),
    (lambda: co.Capsule(1, (0, 0, 0), (0, 0, 0), 0.1), "body of a capsule must be a non-empty string, got 1"),
    (
        lambda: co.clearance("elbow", "world"),
        r"must be a Shape \(a Capsule, a Box or a ConvexHull\), got 'elbow'",
    ),
    (lambda: swing(co.clearance(*[co.Capsule("hand", (0, 0, 0), (0, 0, 0), 0.1)] * 2)), "no body named 'hand'"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_wrong_capsules_are_refused(call, words):
    with pytest.raises(co.InputError, match=words):
        call()


def test_a_capsule_is_shown_on_one_line():
    assert repr(co.Capsule("arm", (0, 0, 0), (0, ca.SX.sym("L"), 0), 0.1)) == (
        "Capsule(on arm, (0, 0, 0) to (0, L, 0), radius 0.1 m)"
    )


def test_what_keeps_capsules_apart_can_be_sent_to_another_process():
    forearm = co.Capsule("elbow", (-LENGTH, 0, 0), (0, 0, 0), 0.03)
    ball = co.Capsule(None, (0.3, 0.3, 0.0), (0.3, 0.3, 0.0), 0.05)
    problem = co.Problem(two_link(), 1.0, co.duration(), [co.clearance(forearm, ball)])
    again = pickle.loads(pickle.dumps(problem))
    assert list(again.rows) == list(problem.rows) == ["distance of elbow and world"]
