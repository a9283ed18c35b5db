"""Moco's example of planar walking: the published walk is followed, a cheaper one found, and the knees are spared."""

from dataclasses import replace
from math import pi

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.studies.walking import knee_loads
from colloc.studies.walking.by_muscles import SPEED
from colloc.studies.walking.tracking_by_muscles import LIMITS, as_guess, following, main, published
from tests.studies.quick import numbers_of

KNEE = "tibia_r"


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return numbers_of(main, tmp_path_factory.mktemp("walk"))


def test_it_follows(quick: dict[str, float]):
    """Moco 4.6 finds 1.353 on its 50 intervals, with the record filtered at 6 Hz; on this grid errors are large."""
    assert quick["following.cost"] == pytest.approx(quick["following.track"] + quick["following.effort"], rel=1e-9)
    assert quick["following.cost"] == pytest.approx(1.03, abs=0.06)
    assert quick["following.effort"] == pytest.approx(0.81, abs=0.03)
    assert quick["following.simulated"] < 5e-3


def test_it_walks_more_cheaply_on_its_own(quick: dict[str, float]):
    assert quick["predicted.cost"] == pytest.approx(0.134, rel=0.02)
    assert quick["predicted.mean_force"] == pytest.approx(1.0, abs=1e-2)
    assert quick["predicted.step_length"] / quick["predicted.first.cost"] > 0
    assert 1 / (2 * quick["predicted.strides_per_second"]) * SPEED == pytest.approx(quick["predicted.step_length"])


def test_the_published_walk_is_half_a_stride_within_the_limits():
    walk, made = published(), following(published())
    joints = made.walker.model.joint_names
    assert walk.q.shape == walk.qd.shape == (walk.t.size, len(joints)) == (50, 10)
    lower, upper = np.transpose([LIMITS[joint] for joint in joints])
    assert (walk.q > lower - 1e-9).all()
    assert (walk.q < upper + 0.02).all()
    mean = walk.q[-1, 0] / walk.t[-1]
    assert mean == pytest.approx(1.33, abs=0.01)  # m/s
    assert walk.qd[:, 0].mean() == pytest.approx(mean, rel=0.01)
    assert LIMITS["knee_angle_r"][0] == pytest.approx(np.radians(-50))
    assert LIMITS["ankle_angle_l"] == (-pi / 12, pytest.approx(np.radians(25)))


def test_the_guess_is_the_published_walk():
    walk = published()
    guess = as_guess(walk)
    assert isinstance(guess, co.transcription.Keyframes)
    np.testing.assert_allclose(guess.q[[0, -1]], walk.q[[0, -1]])


# -- the force in the knees ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def knees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, float]:
    return numbers_of(knee_loads.main, tmp_path_factory.mktemp("knees"))


def test_a_price_spares_the_knees(knees: dict[str, float]):
    assert knees["0.first"] == pytest.approx(4.1, abs=0.2)
    assert knees["0.5.first"] == pytest.approx(3.17, abs=0.15)
    assert knees["0.5.second"] < knees["0.second"] < 2.6
    assert knees["0.effort"] < knees["0.5.effort"] < 1.0
    assert knees["0.5.net"] == pytest.approx(knees["0.net"], rel=0.05)  # which does not show it


def test_a_leg_that_hangs_is_held_by_the_knee_against_the_pull_of_the_muscles():
    """At rest without the ground the net force is the weight of shank and foot; the contact force adds the pull."""
    made = knee_loads.spared(0.5)
    now, model, muscles = made.problem.instant, made.problem.model, made.muscles
    weight = knee_loads.weight_of(model)
    assert weight == pytest.approx(62.0 * 9.80665, rel=0.01)
    states = [now.q, now.qd, now.qdd, now.activation]
    bare = replace(now, loads=())
    parts = [knee_loads.knee(KNEE, weight, bare) * weight, bare.joint_reactions.force[:, model.index(KNEE)]]
    pull = muscles.pull_across(bare, KNEE)
    assert pull is not None
    function = ca.Function("knee", states, [*parts, pull.force])
    q = np.zeros(model.n)
    contact, net, pulled = (value.full().ravel() for value in function(q, 0.0, 0.0, 0.3))
    np.testing.assert_allclose(contact, net - pulled, atol=1e-9)
    below = "tibia_r", "talus_r", "calcn_r", "toes_r"
    lower_leg = sum(float(body.mass) for body in model.bodies if body.name in below)
    np.testing.assert_allclose(net, [0.0, lower_leg * 9.80665, 0.0], atol=1e-6)
    assert np.linalg.norm(pulled) > weight
