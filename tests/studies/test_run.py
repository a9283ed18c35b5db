"""The planar runner's step in its quick form: two phases whose mirror image goes on."""

from __future__ import annotations

import numpy as np
import pytest

import colloc as co
from colloc.models.human.runner2d import runner2d
from colloc.problem import Connection
from colloc.studies.running import run
from colloc.studies.running.step import FRICTION, RATE, Step
from tests.studies.quick import numbers_and_solution

STEP = Step(runner2d(), 3.0, 0.32)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Numbers of the quick study, and the step itself."""
    folder = tmp_path_factory.mktemp("run")
    film = folder / "film.html"
    found = numbers_and_solution(run, "solved", folder, "--animation", str(film))
    assert film.stat().st_size > 20_000
    return found


def test_the_run_in_its_quick_form(quick):
    numbers = quick[0]
    assert numbers["planar.solved"] == 1
    assert numbers["planar.error"] < 0.05  # of the cost, on as few intervals as these
    assert numbers["planar.stride"] == pytest.approx(2 * 3.0 * 0.32)
    assert 0.2 < numbers["planar.contact_time"] < 0.3
    assert 1.5 < numbers["planar.peak_force"] < 2.5
    assert numbers["planar.violation"] < 1e-2


def test_the_ground_pushes_each_foot_in_turn(quick):
    """As arrows of the film: the left foot's are the right one's a step later and further on."""
    solution, t = quick[1], np.linspace(0, 0.64, 401)
    right, left = run.pushes(STEP, solution)(t)
    stands = np.isfinite(right.tail[:, 0])
    assert stands.mean() == pytest.approx(solution["stance"].duration / 0.64, abs=0.01)
    later = np.flatnonzero(stands) + 200
    np.testing.assert_allclose(left.tail[later], right.tail[stands] + [0, 0, 3.0 * 0.32], atol=1e-9)
    np.testing.assert_allclose(left.vector[later], right.vector[stands], atol=1e-6)
    assert np.abs(right.tail[stands, 1]).max() < 0.02  # m, above the ground
    impulse = right.vector[stands, 1].mean() * solution["stance"].duration
    assert impulse == pytest.approx(STEP.weight * 0.32, rel=0.02)  # carries the weight through the step


def test_a_step_goes_on_as_its_mirror_image(quick):
    stance, flight = (quick[1][name] for name in ("stance", "flight"))
    first, last = stance.at(0.0), flight.at(flight.duration)
    ahead = np.eye(11)[0] * 3.0 * 0.32
    np.testing.assert_allclose(STEP.runner.mirror(last.q), first.q + ahead, atol=1e-6)
    np.testing.assert_allclose(STEP.runner.mirror(last.qd), first.qd, atol=1e-5)
    pose = run.stride(STEP, quick[1])(np.array([0.1, 0.32 - 1e-9, 0.32 + 1e-9]))
    np.testing.assert_allclose(pose.end[1], pose.end[2], atol=1e-6)  # two steps in one film


def test_the_ground_holds_the_ball_and_carries_the_runner(quick):
    numbers, solution = quick
    stance, flight = (solution[name] for name in ("stance", "flight"))
    t = np.linspace(0, stance.duration, 300)
    forward, up = stance.at(t).force.T
    assert up.min() > -1e-3
    assert (np.abs(forward) <= FRICTION * up + 1e-2).all()
    assert np.abs(np.diff(up) / np.diff(t)).max() < RATE * 1.02
    assert [up[0], up[-1]] == pytest.approx([0.0, 0.0], abs=1e-6)
    ball = stance.evaluate(lambda now: now.marker("ball_r").position[1:], t)
    assert np.abs(ball).max() < 1e-4
    for phase in (stance, flight):
        own = phase.at(np.linspace(0, phase.duration, 300))
        assert np.abs(own.tau[:, :3]).max() < 1e-2 * STEP.weight
    assert numbers["planar.impulse_error"] < 1e-2  # the weight's impulse through the whole step
    momentum = [
        phase.evaluate(lambda now: co.dynamics.momentum(now.model, now.q, now.qd).linear[1], s)
        for phase, s in ((stance, 0.0), (stance, stance.duration))
    ]
    gained = np.trapezoid(STEP.weight * (up - 1), t)
    assert momentum[1] - momentum[0] == pytest.approx(gained, abs=0.01 * STEP.weight * stance.duration)


def test_the_run_in_three_dimensions_states_the_same_problem():
    """One row more for what leaves the plane, and as many forces as the ball's place has coordinates."""
    spatial = Step(run.spatial(), 3.0, 0.32)
    assert spatial.runner.model.n == 32
    assert not spatial.planar
    assert spatial.isometric.keys() >= {"hip_adduction_r", "spine1_lateral", "ankle_inversion_l"}
    assert not STEP.isometric
    ours, theirs = (step.sequence.phases["stance"] for step in (STEP, spatial))
    assert [p.rows["place of the ball"].rows.lower.size for p in (ours, theirs)] == [2, 3]
    assert [u.size for p in (ours, theirs) for u in p.signals] == [2, 3]
    assert list(ours.rows)[:2] == list(theirs.rows)[:2]
    mirrored = next(iter(spatial.sequence.subject_to))
    assert isinstance(mirrored, Connection)
    assert mirrored.joints is not None
    assert mirrored.joints["pelvis_list"] == ("pelvis_list", -1.0)
    assert mirrored.joints["hip_adduction_r"] == ("hip_adduction_l", 1.0)
    for phase, postures in spatial.guess().items():
        assert all(q.shape == (32,) for q in postures.values()), phase
