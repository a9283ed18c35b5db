"""Postures that reach a place, against closed forms and forward kinematics."""

import re

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import least_squares

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


def test_limits_hold_and_goals_out_of_reach_are_reported():
    reachable = (0.4, 0.0, 0.0)
    down = co.Limits(position=(-3.0, 0.0))
    bodies = [co.Body("upper", co.dh_revolute(a=0.4)), co.Body("lower", co.dh_revolute(a=0.4, limits=down), "upper")]
    q = co.model.reach(co.Model(bodies), "lower", reachable)
    assert q[1] == pytest.approx(-2 * np.pi / 3, abs=1e-5)
    with pytest.raises(
        co.InputError, match=r"'lower' does not reach \(1\.0, 0\.0, 0\.0\), missed by 0\.2 m \(the nearest of 3 tries\)"
    ):
        co.model.reach(co.Model(bodies), "lower", (1.0, 0.0, 0.0), tries=3)  # fmt: skip


# Several frames at once ----------------------------------------------------------------------------------------------

REACH = 0.4, 0.35, 0.12  # m, of an arm: upper arm, forearm, hand
LIMITS = ((-2.0, 2.0), (-1.6, 1.6), (-1.5, 2.5), (-2.8, 2.8), (-2.4, 0.2), (-1.7, 1.7), (-1.2, 1.2))  # rad


def torso() -> co.Model:
    """A trunk that turns and bends, and two arms of seven joints on it."""

    def hinge(axis: tuple[int, int, int], limits: tuple[float, float], place: tuple[float, float, float] = (0, 0, 0)):
        return co.revolute(axis, co.placement(place), limits=co.Limits(position=limits))

    bodies = [
        co.Body("waist", hinge((0, 0, 1), (-1.5, 1.5)), mass=5.0),
        co.Body("chest", hinge((0, 1, 0), (-0.4, 1.2)), "waist", mass=5.0),
    ]
    for side, y in (("l", 0.2), ("r", -0.2)):
        axes = ((0, 1, 0), (1, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0))
        places = ((0, y, 0.5), (0, 0, 0), (0, 0, 0), (0, 0, -REACH[0]), (0, 0, 0), (0, 0, -REACH[1]), (0, 0, 0))
        parent = "chest"
        for k, (axis, place, limits) in enumerate(zip(axes, places, LIMITS, strict=True)):
            name = f"hand_{side}" if k == 6 else f"arm{k}_{side}"
            bodies.append(co.Body(name, hinge(axis, limits, place), parent, mass=1.0))
            parent = name
    return co.Model(bodies, gravity=(0.0, 0.0, -9.81))


def hands(q: np.ndarray) -> list[np.ndarray]:
    """Both hands of the torso by products of homogeneous matrices, written by hand."""

    def turn(axis: str, angle: float) -> np.ndarray:
        c, s, T = np.cos(angle), np.sin(angle), np.eye(4)
        i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
        T[i, i], T[i, j], T[j, i], T[j, j] = c, -s, s, c
        return T

    def shift(x: float, y: float, z: float) -> np.ndarray:
        T = np.eye(4)
        T[:3, 3] = x, y, z
        return T

    chest, ends = turn("z", q[0]) @ turn("y", q[1]), []
    for arm, y in ((q[2:9], 0.2), (q[9:16], -0.2)):
        upper = chest @ shift(0, y, 0.5) @ turn("y", arm[0]) @ turn("x", arm[1]) @ turn("z", arm[2])
        fore = upper @ shift(0, 0, -REACH[0]) @ turn("y", arm[3]) @ turn("z", arm[4])
        ends.append(fore @ shift(0, 0, -REACH[1]) @ turn("x", arm[5]) @ turn("y", arm[6]))
    return ends


FINGERS = np.array([0.0, 0.0, -REACH[2], 1.0])


def residuals(q: np.ndarray, left: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Left fingers and left hand's axes off a transform, right fingers off a place."""
    first, second = hands(q)
    turned = (first[:3, :3] - left[:3, :3]).T.ravel() / np.sqrt(2)
    return np.concatenate([(first @ FINGERS - left @ FINGERS)[:3], turned, (second @ FINGERS)[:3] - place])


def both(left: np.ndarray, place: np.ndarray) -> list[co.model.Target]:
    return [
        co.model.Target("hand_l", (left @ FINGERS)[:3], left[:3, :3], FINGERS[:3]),
        co.model.Target("hand_r", place, point=FINGERS[:3]),
    ]


def test_two_hands_are_where_matrices_by_hand_put_them():
    """Within the limits, from many postures; SciPy's least squares reach the same targets from the same start."""
    model, rng = torso(), np.random.default_rng(3)
    lower, upper = model.limits("position")
    for _ in range(6):
        left, right = hands(rng.uniform(lower, upper))
        place = (right @ FINGERS)[:3]
        q = co.model.reach(model, both(left, place))
        assert ((lower <= q) & (q <= upper)).all()
        miss = residuals(q, left, place)
        assert max(np.linalg.norm(part) for part in np.split(miss, [3, 12])) < 1e-6
        near = q + rng.uniform(-0.02, 0.02, model.n)
        close = least_squares(residuals, near.clip(lower, upper), bounds=(lower, upper), args=(left, place), xtol=1e-15)
        assert np.abs(close.fun).max() < 1e-6


def test_what_cannot_be_reached_together_is_named_with_the_least_misses():
    """Hands 3 m from each other, on arms that span less: the sum of squared misses is as small as SciPy's.

    The sum is what is least; how it is divided hardly matters to it, and differs.
    """
    model = torso()
    lower, upper = model.limits("position")
    start = np.zeros(model.n)
    start[3], start[10] = 1.5, -1.5  # arms out
    left, place = np.eye(4), np.array([0.1, -1.5, 0.6])
    left[:3, 3] = 0.1, 1.5, 0.6
    best = least_squares(residuals, start, bounds=(lower, upper), args=(left, place))
    with pytest.raises(co.InputError) as refused:
        co.model.reach(model, both(left, place), start=start, tries=1)
    message = str(refused.value)
    reported = [float(word) for word in re.findall(r"by ([0-9.e-]+) (?:m|rad)", message)]
    assert "'hand_l' does not reach" in message
    assert "'hand_l' is not turned" in message
    assert "'hand_r' does not reach" in message
    reported[1] = 2 * np.sin(reported[1] / 2)
    assert np.dot(reported, reported) == pytest.approx(2 * best.cost, rel=5e-3)


def test_only_what_is_missed_is_named():
    """Of two arms that share nothing, the one that is 0.8 m long and asked for 1 m."""
    arms = co.Model([
        co.Body(f"{part}_{side}", co.dh_revolute(a=0.4), f"upper_{side}" if part == "lower" else None, mass=1.0)
        for side in "ab" for part in ("upper", "lower")
    ])  # fmt: skip
    far = [co.model.Target("lower_a", (0.3, 0.2, 0.0)), co.model.Target("lower_b", (0.0, 1.0, 0.0))]
    with pytest.raises(co.InputError) as refused:
        co.model.reach(arms, far, tries=3)
    assert str(refused.value).startswith("'lower_b' does not reach (0.0, 1.0, 0.0), missed by 0.2 m (the nearest of 3")
    assert "lower_a" not in str(refused.value)


def test_an_orientation_alone_and_joints_that_do_not_move_it():
    model = torso()
    start = np.clip(0.1 * np.arange(16.0), *model.limits("position"))
    ahead = np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])  # fingers point ahead
    q = co.model.reach(model, [co.model.Target("hand_r", rotation=ahead)], start=start)
    np.testing.assert_allclose(hands(q)[1][:3, :3], ahead, atol=2e-6)
    np.testing.assert_array_equal(q[2:9], start[2:9])


REFUSED = [
    (lambda: co.model.reach(two_link(), "elbw", (0, 0, 0)), "no body named 'elbw'; did you mean 'elbow'"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0)), r"target must have shape \(3,\)"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0, 0), rotation=np.ones((3, 3))), "must be a rotation matrix"),
    (lambda: co.model.reach(two_link(), "elbow", (0, 0, 0), start=(0, 0, 0)), r"start must have shape \(2,\)"),
    (lambda: co.model.reach(two_link(), "elbow"), r"target must be where 'elbow' is to be, shape \(3,\)"),
    (lambda: co.model.reach(two_link(), []), "one Target at least"),
    (
        lambda: co.model.reach(two_link(), ["elbow"]),  # pyright: ignore[reportArgumentType]
        "body must be a Target",
    ),
    (lambda: co.model.reach(two_link(), [co.model.Target("elbw", (0, 0, 0))]), "no body named 'elbw'"),
    (lambda: co.model.reach(two_link(), [co.model.Target("elbow", (0, 0, 0))], (0, 0, 0)), "a Target has its own"),
    (lambda: co.model.Target("elbow"), "needs a position, a rotation, or both"),
    (lambda: co.model.Target("elbow", (0, 0)), r"position must have shape \(3,\)"),
    (
        lambda: co.model.reach(co.Model([co.Body("a", co.dh_revolute(a=ca.SX.sym("L")))]), "a", (0, 0, 0)),
        "got one with L",
    ),
]


@pytest.mark.parametrize(("call", "words"), REFUSED)
def test_wrong_arguments_are_refused(call, words):
    with pytest.raises(co.InputError, match=words):
        call()


def test_a_tool_is_reached_by_the_name_of_its_frame():
    """A marker has the axes of its link, a link without mass on a fixed joint has its own."""
    arm = [
        co.Body(f"l{k}", co.revolute(axis, co.placement((0.3 * (k > 0), 0, 0))), f"l{k - 1}" if k else None, mass=1.0)
        for k, axis in enumerate([(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)])
    ]
    mounted = co.placement((0.1, 0.05, 0.2), (0.3, -0.4, 0.5))
    tool = co.Body("tool0", co.fixed(mounted), "l5")
    model = co.Model([*arm, tool], (0, 0, -9.81), markers={"tip": ("l5", (0.1, 0.05, 0.2))})
    posture = np.array([0.3, -0.4, 0.9, 0.2, 0.5, -0.3])
    q = ca.SX.sym("q", 6)
    link = frames(model, q, ca.SX(6, 1), ca.SX(6, 1)).position[5]
    there = np.array(ca.Function("tool", [q], [link @ mounted])(posture))
    found = co.model.reach(model, "tool0", there[:3, 3], rotation=there[:3, :3], start=posture + 0.1)
    np.testing.assert_allclose(np.array(ca.Function("tool", [q], [link @ mounted])(found)), there, atol=1e-6)
    axes = np.array(ca.Function("link", [q], [link[:3, :3]])(posture))
    found = co.model.reach(model, "tip", there[:3, 3], rotation=axes, start=posture + 0.1)
    np.testing.assert_allclose(np.array(ca.Function("tool", [q], [link @ mounted])(found)), there, atol=1e-6)
    with pytest.raises(co.InputError, match="no body or marker named 'tool'; did you mean 'tool0'"):
        co.model.reach(model, "tool", (0.0, 0.0, 0.0))


def test_instants_know_the_position_and_axes_of_every_frame():
    """Of links, of links without mass on fixed joints, and of markers, against their transforms by hand."""
    mounted = co.placement((0.4, 0.1, 0.0), (0.0, 0.2, 0.3))
    rod = co.Body("rod", co.revolute(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    model = co.Model([rod, co.Body("tool", co.fixed(mounted), "rod")], markers={"tip": ("rod", (0.4, 0.1, 0.0))})
    turn = np.array([[np.cos(0.7), -np.sin(0.7), 0], [np.sin(0.7), np.cos(0.7), 0], [0, 0, 1]])
    evaluator = co.Evaluator(model)
    here = turn @ (0.4, 0.1, 0.0)
    for frame in ("tip", "tool"):
        np.testing.assert_allclose(evaluator.point(frame, q=[0.7]).position, here, atol=1e-14)
    offset = np.array(ca.DM(mounted))[:3, :3] @ (0.0, 0.0, 1.0)
    np.testing.assert_allclose(evaluator.point("tool", (0, 0, 1.0), q=[0.7]).position, here + turn @ offset, atol=1e-14)
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=0.7, qd=0.5)]
    motion = co.solve(
        co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends),
        co.BSpline(6),
        guess=co.line(0.0, 0.7),
    )
    assert motion.success
    for frame, axes in (("tip", turn), ("tool", turn @ np.array(ca.DM(mounted))[:3, :3])):
        whole = motion.evaluate(lambda now, frame=frame: (now.frame(frame), now.angular_velocity(frame)), 1.0)
        np.testing.assert_allclose(whole[0][:3, :3], axes, atol=1e-9)
        np.testing.assert_allclose(whole[0][:3, 3], here, atol=1e-9)
        np.testing.assert_allclose(whole[1], (0, 0, 0.5), atol=1e-9)
