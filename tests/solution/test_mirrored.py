"""A whole cycle from half of one."""

import casadi as ca
import numpy as np
import pytest

import colloc as co

LEGS = [
    co.Body("forward", co.prismatic((1, 0, 0), name="forward")),
    co.Body("trunk", co.revolute((0, 1, 0), name="yaw"), "forward", mass=5.0, inertia=np.eye(3)),
    co.Body("thigh_r", co.revolute(name="hip_r"), "trunk", mass=1.0, com=(0, -0.2, 0), inertia=0.1 * np.eye(3)),
    co.Body("thigh_l", co.revolute(name="hip_l"), "trunk", mass=1.0, com=(0, -0.2, 0), inertia=0.1 * np.eye(3)),
]
MODEL = co.Model(LEGS)
MIRROR = [0, 1, 3, 2]  # and the yaw changes sign


def half(push: tuple[str, ...] = ("push_r", "push_l")) -> co.Solution:
    drive = co.State("drive", rate=lambda now: now.push - now.drive, names=push)
    pushed = co.Unknown("push", names=push, lower=-5.0, upper=5.0)
    weight = co.Unknown("weight", constant=True, lower=1.0, upper=2.0, guess=1.5)
    rows = [
        co.initial(q=(0.0, 0.1, 0.4, -0.4), qd={"yaw": 0.5}),
        co.final(q=(0.6, -0.1, -0.4, 0.4)),
        co.boundary(lambda start, end: end.qd - start.qd[MIRROR] * ca.DM([1, -1, 1, 1]), equals=0.0),
        co.boundary(lambda start, end: end.drive - start.drive[[1, 0]], equals=0.0),
        co.at(0.2, lambda now: now.drive[0], equals=1.0),
    ]
    cost = co.integral(lambda now: ca.sumsqr(now.qdd) + now.weight**2 * ca.sumsqr(now.push))
    return co.solve(co.Problem(MODEL, 0.5, cost, rows, unknowns=[drive, pushed, weight]), co.Radau(6))


def test_the_second_half_is_the_mirror_image_of_the_first():
    step = half()
    whole = co.Problem(MODEL, 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)), unknowns=step.problem.unknowns)
    guess = co.solution.mirrored(step, whole, signs={"yaw": -1})
    assert guess.keys() == {"q", "drive", "push", "weight"}
    t = np.array([0.0, 0.1, 0.35])
    for signal, image, sign in (("q", MIRROR, [1, -1, 1, 1]), ("drive", [1, 0], [1, 1]), ("push", [1, 0], [1, 1])):
        first = np.asarray(getattr(step.at(t), signal))
        second = first[:, image] * sign + ([0.6, 0, 0, 0] if signal == "q" else 0)
        frames = guess[signal]
        along = [np.column_stack([np.interp(s, frames.s, column) for column in frames.q.T]) for s in (t, t + 0.5)]
        np.testing.assert_allclose(along[0], first, atol=1e-3)
        np.testing.assert_allclose(along[1][1:], second[1:], atol=1e-3)
    np.testing.assert_array_equal(guess["weight"], step.constants["weight"])
    solution = co.solve(whole, co.Radau(6), guess=guess, raise_on_failure=False, solver=co.Ipopt(max_iter=0))
    np.testing.assert_allclose(np.asarray(solution.at(0.6).q)[2:], np.asarray(step.at(0.1).q)[[3, 2]], atol=1e-2)


def test_a_problem_may_lack_components_and_have_others():
    step = half()
    fewer = co.Unknown("push", names=("push_r", "extra"), guess=(0.0, 0.7))
    whole = co.Problem(MODEL, 1.0, co.integral(lambda now: ca.sumsqr(now.push)), unknowns=[fewer])
    guess = co.solution.mirrored(step, whole, signs={"yaw": -1})
    assert guess.keys() == {"q", "push"}
    frames = guess["push"].q
    assert (frames[:, 1] == 0.7).all()
    np.testing.assert_allclose(frames[101:, 0], np.asarray(step.at(np.linspace(0, 0.5, 101)).push)[1:, 1], atol=1e-12)


def test_sides_are_whole_words_of_names():
    model = co.Model([co.Body(name, co.revolute(name=name), mass=1.0) for name in ("right_rib", "left_rib", "a_right")])
    swing = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)), [co.initial(q=0.0, qd=0.0)])
    solution = co.solve(swing, co.Radau(2))
    with pytest.raises(co.InputError, match="'a_right' has no counterpart 'a_left' on the other side"):
        co.solution.mirrored(solution, swing, sides=("right", "left"))
    guess = co.solution.mirrored(solution, swing)  # "_r" is in "right_rib", but not at the end of a word
    assert guess["q"].q.shape == (201, 3)


def test_misuse():
    step = half()
    with pytest.raises(co.InputError, match=r"velocity of 'yaw' must end as that of 'yaw' begins, .* try signs={'yaw'"):
        co.solution.mirrored(step, step.problem)
    with pytest.raises(co.InputError, match="joint or component that changes sign named 'pelvis'"):
        co.solution.mirrored(step, step.problem, signs={"pelvis": -1})
    with pytest.raises(co.InputError, match=r"sign of 'yaw' must be 1 or -1, got 0\.5"):
        co.solution.mirrored(step, step.problem, signs={"yaw": 0.5})
    with pytest.raises(co.InputError, match=r"sides must be \(right, left\)"):
        co.solution.mirrored(step, step.problem, sides=("_r",))
