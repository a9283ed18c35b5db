"""The walker with muscles against OpenSim's own reading of its file, and what is made of it here."""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.muscle_walker import MuscleWalker, muscle_walker
from colloc.muscles.path import symbolic_instant

# OpenSim 4.6 at random postures: lengths [m], moment arms [m], trace of the mass matrix.
POSTURES = json.loads((Path(__file__).parent / "muscle_walker.json").read_text(encoding="utf-8"))["postures"]


@pytest.fixture(scope="module")
def walker() -> MuscleWalker:
    return muscle_walker("points")


@pytest.mark.parametrize("row", POSTURES)
def test_lengths_moment_arms_and_masses(row: dict, walker: MuscleWalker):
    now = symbolic_instant(walker.model)
    muscles = co.muscles.Muscles(walker.model, walker.muscles)
    f = ca.Function("f", [now.q], [muscles.lengths(now), muscles.moment_arms(now)])
    names = walker.model.joint_names
    q = [row["q"][joint] for joint in names]
    lengths, arms = (value.full() for value in f(q))
    np.testing.assert_allclose(lengths.ravel(), [row["lengths"][name] for name in muscles.names], atol=1e-10)
    expected = [[row["moment_arms"][muscle].get(joint, 0.0) for joint in names] for muscle in muscles.names]
    np.testing.assert_allclose(arms, expected, atol=1e-10)
    trace = np.trace(co.Evaluator(walker.model).mass_matrix(q))
    assert trace == pytest.approx(row["trace_of_mass_matrix"], rel=1e-12)


def test_a_person_of_62_kg(walker: MuscleWalker):
    assert sum(float(body.mass) for body in walker.model.bodies) == pytest.approx(62.0)
    assert walker.model.n == 10
    assert [sphere.name for sphere in walker.contact.spheres] == ["heel_r", "front_r", "heel_l", "front_l"]


def test_polynomials_are_near_the_points_and_the_same_on_both_sides(walker: MuscleWalker):
    fitted = muscle_walker().muscles
    assert all(muscle.path.length_error <= 2e-3 and muscle.path.moment_arm_error <= 2e-3 for muscle in fitted)
    now = symbolic_instant(walker.model)
    muscles = [co.muscles.Muscles(walker.model, group) for group in (walker.muscles, fitted)]
    f = ca.Function("f", [now.q], [group.lengths(now) for group in muscles])
    names = walker.model.joint_names
    mirror = [
        names.index(joint[:-2] + {"_r": "_l", "_l": "_r"}[joint[-2:]] if joint[-2] == "_" else joint) for joint in names
    ]
    q = np.array([0.0, 0.9, -0.1, 0.1, 0.4, -0.3, 0.1, -0.2, -0.5, 0.05])
    points, polynomials = (value.full().ravel() for value in f(q))
    np.testing.assert_allclose(polynomials, points, atol=4e-3)
    other = f(q[mirror])[1].full().ravel()
    np.testing.assert_allclose(polynomials[:9], other[9:], rtol=1e-12)


def test_it_stands_on_its_balls(walker: MuscleWalker):
    """Upright and at rest at some height the ground carries the weight."""
    loads = walker.contact.loads
    evaluator = co.Evaluator(walker.model, loads=loads)
    weight = 62.0 * 9.80665
    heights = np.linspace(0.85, 1.0, 400)
    q = np.zeros((400, 10))
    q[:, 1] = heights
    lift = evaluator.torque(q, 0 * q, 0 * q)[:, 1]  # what else must carry it
    assert lift[0] < 0 < lift[-1]
    assert lift[-1] == pytest.approx(weight, rel=1e-6)
    assert (np.diff(lift) > -1e-6).all()


def test_misuse():
    with pytest.raises(co.InputError, match='paths must be "polynomial" or "points"'):
        muscle_walker("splines")


def test_muscles_of_a_leg_pull_at_that_leg(walker: MuscleWalker):
    """The contact force of the left knee is the mirror image of that of the right one, in the mirrored posture."""
    muscles = co.muscles.Muscles(walker.model, walker.muscles, activation="instantaneous")
    now = co.Problem(walker.model, 1.0, co.integral(lambda now: ca.sumsqr(now.activation)), parts=[muscles]).instant
    pulls = [muscles.pull_across(now, body) for body in ("tibia_r", "tibia_l")]
    assert pulls[0] is not None
    assert pulls[1] is not None
    function = ca.Function("pulls", [now.q, now.qd, now.activation], [*pulls[0], *pulls[1]])
    q, activation = np.array([0.0, 0.9, 0.1, 0.2, 0.4, -0.6, 0.1, -0.2, -0.1, 0.2]), np.linspace(0.1, 0.9, 18)
    right = function(q, 0.0, activation)
    left = function(q[[0, 1, 2, 3, 7, 8, 9, 4, 5, 6]], 0.0, np.roll(activation, 9))
    np.testing.assert_allclose(left[2].full().ravel(), right[0].full().ravel() * [1, 1, -1], rtol=1e-12)
    np.testing.assert_allclose(left[3].full().ravel(), right[1].full().ravel() * [-1, -1, 1], rtol=1e-12)
    assert np.linalg.norm(right[0].full()) > 100.0  # N
