"""Strength at a speed, and the jump of a planar human in its quick form."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.human.jumper2d import jumper2d
from colloc.models.human.runner2d import runner2d
from colloc.models.human.strength import SPEEDS, share, strength
from colloc.studies.jumping import figures, jump
from colloc.studies.jumping.phases import FRICTION, GROUND, Jump
from tests.studies.quick import numbers_and_solution


@pytest.mark.parametrize("name", SPEEDS)
def test_strength_falls_with_speed_as_published(name):
    """Three quarters and half of the isometric torque at C4 and C5, all of it where the muscle lengthens."""
    for c4, c5 in SPEEDS[name]:
        shares = [float(share(ca.DM(speed), c4, c5)) for speed in (-30.0, -1.0, 0.0, c4, c5, 100.0)]
        assert shares[:2] == pytest.approx([1.0, 1.0], abs=5e-3)
        assert shares[2] == pytest.approx(1.0, abs=0.05)
        assert shares[3:5] == pytest.approx([0.75, 0.5], abs=5e-3)
        assert 0 < shares[5] < 0.25
        many = np.array([float(share(ca.DM(speed), c4, c5)) for speed in np.linspace(-20, 60, 400)])
        assert (np.diff(many) <= 1e-12).all()


@pytest.mark.parametrize("human", [jumper2d(), runner2d()], ids=["jumper", "runner"])
def test_strength_is_left_where_torques_are_within_their_limits(human):
    model = human.model
    upper = model.limits("torque")[1]
    driven = np.isfinite(upper)
    problem = co.Problem(model, 1.0, co.duration())
    rows = ca.Function("rows", list(problem.instant.slots), [strength(human)(problem.instant)], {"allow_free": False})
    slots = {
        name: np.zeros(slot.shape)
        for name, slot in zip(problem.instant.slots._fields, problem.instant.slots, strict=True)
    }
    slots["tau"] = np.where(driven, 0.9 * upper, 0.0)
    left = np.array(rows(*slots.values())).reshape(-1, 2)
    assert left.shape == (driven.sum(), 2)
    np.testing.assert_allclose(left[:, 1], 0.1, atol=0.05)  # a tenth of the limit that it is near
    slots["qd"] = np.full((model.n, 1), 20.0)  # shortening: hardly any torque is left
    assert (np.array(rows(*slots.values())).reshape(-1, 2)[:, 1] < 0).all()
    slots["qd"] = -slots["qd"]
    np.testing.assert_allclose(np.array(rows(*slots.values())).reshape(-1, 2)[:, 1], 0.1, atol=0.01)


def test_the_jumper_stands_on_its_heels_and_balls():
    posed = Jump(jumper2d())
    assert posed.weight == pytest.approx(73.0 * 9.81)
    assert sum(posed.foot) == pytest.approx(0.2508, rel=1e-3)  # de Leva's foot without 5 mm of heel, by stature
    rest = np.zeros((1, posed.model.n))
    tau = co.Evaluator(posed.model).torque(posed.human.standing[None], rest, rest)[0]
    assert tau[posed.joint(GROUND[0])] == pytest.approx(posed.weight)
    apex = posed.push.instant
    height = ca.Function("apex", [apex.q, apex.qd], [posed.apex(apex)])
    still, rising = (float(height(posed.human.standing, qd)) for qd in (rest.T, posed.posture(stance_vertical=2.0)))
    assert rising - still == pytest.approx(2.0**2 / (2 * 9.81))


def test_a_jumper_whose_arms_are_held_starts_from_the_same_postures():
    still = Jump(jumper2d().frozen({"shoulder_flexion": 0.0, "elbow_flexion": 0.0}))
    assert still.model.n == Jump(jumper2d()).model.n - 2
    for phase, own in Jump(jumper2d()).guess().items():
        for s, posture in still.guess()[phase].items():
            np.testing.assert_array_equal(posture, own[s][: still.model.n])


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Numbers of the quick study, and the jump itself."""
    folder = tmp_path_factory.mktemp("jump")
    film = folder / "film.html"
    found = numbers_and_solution(jump, "solved", folder, "--animation", str(film))
    assert film.stat().st_size > 20_000
    return found


def test_the_jump_in_its_quick_form(quick):
    numbers, solution = quick
    assert numbers["planar.solved"] == 1
    assert 0.27 < numbers["planar.height"] < 0.32
    assert numbers["planar.flight_time.error"] < 1e-5
    assert numbers["planar.momentum_error"] < 1e-3
    assert numbers["planar.violation"] < 2e-2
    assert list(solution.phases) == ["push", "toes", "flight", "landing"]


def test_the_ground_does_what_the_phases_say(quick):
    solution = quick[1]
    posed = Jump(jumper2d())
    y, z, turn = (posed.joint(name) for name in GROUND)
    for name in ("push", "toes", "landing"):
        tau = solution[name].at(np.linspace(0, solution[name].duration, 200)).tau / posed.weight
        assert (tau[:, y] > -1e-3).all()
        assert (np.abs(tau[:, z]) < FRICTION * tau[:, y] + 1e-2).all()
    flying = solution["flight"].at(np.linspace(0, solution["flight"].duration, 200))
    assert np.abs(flying.tau[:, [y, z, turn]]).max() < 0.02 * posed.weight
    assert (flying.q[:, [y, turn]] > -1e-6).all()
    heel, ball, forward = solution.constants["impulse"]
    assert heel > -1e-6
    assert ball > -1e-6
    assert abs(forward) <= FRICTION * (heel + ball) + 1e-6
    before, after = (solution[name] for name in ("flight", "landing"))
    lost = [
        s.evaluate(lambda now: co.dynamics.momentum(now.model, now.q, now.qd).linear, t)
        for s, t in ((before, before.duration), (after, 0.0))
    ]
    np.testing.assert_allclose((lost[1] - lost[0])[1:], [heel + ball, forward], rtol=1e-5, atol=1e-5)


def test_the_ground_presses_within_the_feet(quick):
    solution, posed = quick[1], Jump(jumper2d())
    t = np.linspace(0, solution.duration, 200)
    (arrow,) = figures.pushes(posed, solution, t)
    ball = solution.evaluate(lambda now: now.point(*posed.human.feet["both"].ball).position, t)
    behind, ahead = posed.foot
    from_ball = (arrow.tail - ball)[:, 2]
    assert np.nanmin(from_ball) > -behind - 1e-3
    assert np.nanmax(from_ball) < ahead + 1e-3
    starts = solution.start_times
    assert np.nanmax(np.abs(from_ball[(t > starts["toes"]) & (t < starts["flight"])])) < 5e-3  # on the balls
    flies = (t > starts["flight"]) & (t < starts["landing"])
    assert np.isnan(arrow.vector[flies]).all()
    assert np.isfinite(arrow.vector[t < starts["toes"]]).all()


def test_the_jumper_in_the_film_is_the_jumper(quick):
    solution, posed = quick[1], Jump(jumper2d())
    t = np.linspace(0, solution.duration, 30)
    q = figures.seen_from_pelvis(posed, solution, t)
    for name in ("toe", "heel", "head_top", "fingertip"):
        there = solution.evaluate(lambda now, name=name: now.point(*posed.human.landmarks[name]).position, t)
        body, at = posed.jumper.landmarks[name]
        np.testing.assert_allclose(co.Evaluator(posed.jumper.model).point(body, at, q=q).position, there, atol=1e-9)


def test_the_ground_gives_the_momentum_that_the_flight_takes_along(quick):
    """The integral of its force less the weight, by samples of the torques alone."""
    solution, posed = quick[1], Jump(jumper2d())
    given = np.zeros(2)
    for name in ("push", "toes"):
        t = np.linspace(0, solution[name].duration, 4001)
        force = solution[name].at(t).tau[:, [posed.joint(joint) for joint in GROUND[:2]]]
        given += np.trapezoid(force - [posed.weight, 0.0], t, axis=0)
    expected = 73.0 * quick[0]["planar.take_off_speed"]
    assert given[0] == pytest.approx(expected, rel=1e-3)
    flown = np.diff(
        solution["flight"].evaluate(lambda now: co.dynamics.center_of_mass(now.model, now.q)[2], [0.0, 0.4])
    )
    assert given[1] / 73.0 * 0.4 == pytest.approx(flown[0], abs=1e-3)
