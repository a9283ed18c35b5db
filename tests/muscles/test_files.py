"""Muscles of what OpenSim's files say of them."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.muscles.files import FileWrap, place_wraps
from colloc.muscles.path import random_postures, symbolic_instant

LEG = Path(__file__).parents[1] / "formats" / "osim" / "leg.osim"


def test_numbers_and_moment_arms():
    """Lengths are held against OpenSim's in `tests.formats.test_osim`."""
    reading = co.formats.from_osim(LEG)
    model = reading.model
    muscles = co.muscles.Muscles(model, [co.muscles.from_file(record) for record in reading.muscle_data])
    now, h = symbolic_instant(model), 1e-6
    f = ca.Function("f", [now.q], [muscles.lengths(now), muscles.moment_arms(now)])
    q = np.random.default_rng(0).uniform(-0.4, 0.4, model.n_q)
    np.testing.assert_allclose(
        ca.evalf(co.muscles.path_lengths(model, muscles.muscles, ca.SX(q))).full(), f(q)[0].full()
    )
    for j in range(model.n_q):
        step = h * np.eye(model.n_q)[j]
        slope = (f(q + step)[0] - f(q - step)[0]).full().ravel() / (2 * h)
        np.testing.assert_allclose(f(q)[1].full()[:, j], -slope, atol=1e-8)
    for muscle, record in zip(muscles.muscles, reading.muscle_data, strict=True):
        assert muscle.max_isometric_force == record.max_isometric_force
        assert muscle.max_velocity == record.max_contraction_velocity


def test_polynomials_of_the_joints_that_it_crosses_alone():
    """Not of those that move the whole body, on which the file's lengths depend by rounding alone."""
    reading = co.formats.from_osim(LEG)
    record = next(record for record in reading.muscle_data if record.name == "gastroc")
    muscles = co.muscles.Muscles(reading.model, [co.muscles.from_file(record)])
    moved = {reading.model.position_names[k] for k in muscles.length_graph[2].sparsity().get_triplet()[1]}
    assert moved
    assert not any("pelvis" in joint for joint in moved)


def test_numbers_of_ones_own():
    record = co.formats.from_osim(LEG).muscle_data[0]
    stronger = co.muscles.from_file(record, max_isometric_force=2.0 * record.max_isometric_force, damping=0.1)
    assert stronger.max_isometric_force == 2.0 * record.max_isometric_force
    assert stronger.damping == 0.1
    with pytest.raises(co.InputError, match="no argument of Muscle named 'force'"):
        co.muscles.from_file(record, force=1.0)


def test_balls_of_a_file_touch_the_ground():
    reading = co.formats.from_osim(LEG)
    (heel,) = reading.contact.spheres
    assert (heel.name, heel.body, heel.radius, heel.stiffness, heel.static_friction) == (
        "heel",
        "foot",
        0.035,
        1e6,
        0.8,
    )
    np.testing.assert_allclose(ca.DM(heel.center).full().ravel(), [0.03, 0.01, 0.0])


def test_a_half_space_in_any_pose_is_a_plane_on_its_body():
    """A half-space fills x > 0 of its axes."""
    reading = co.formats.from_osim(LEG)
    heel, floor = reading.contact_shapes
    place = ca.evalf(co.placement((0.2, -0.1, 0.0), (0.1, 0.2, 0.3))).full()
    pedal = replace(floor, body="shank", placement=place)
    (ball,) = replace(reading, contact_shapes=(heel, pedal)).contact.spheres
    plane = ball.surface
    assert isinstance(plane, co.problem.Plane)
    assert (plane.body, plane.name) == ("shank", "floor")
    np.testing.assert_allclose(ca.DM(plane.point).full().ravel(), place[:3, 3])
    np.testing.assert_allclose(ca.DM(plane.normal).full().ravel(), -place[:3, 0])


def test_contact_that_is_no_ball_on_the_ground_is_refused():
    reading = co.formats.from_osim(LEG)
    (law,), (heel, floor) = reading.contact_laws, reading.contact_shapes
    cases = [
        ((heel, floor), replace(law, kind="HuntCrossleyForce"), "must be a SmoothSphereHalfSpaceForce"),
        ((heel, heel), law, "got a SmoothSphereHalfSpaceForce of sphere"),
        ((replace(heel, body=None), floor), law, "sphere 'heel' must have a radius, and a body that moves"),
    ]
    for shapes, changed, message in cases:
        with pytest.raises(co.InputError, match=message):
            replace(reading, contact_shapes=shapes, contact_laws=(changed,)).contact  # noqa: B018


def test_postures_in_which_an_end_lies_inside_of_a_surface_are_counted():
    """The same count by places of the point in the same random postures."""
    model = two_link()
    ball = co.muscles.Sphere(None, (0.5, -0.2, 0.0), 0.3)
    ends = co.formats.PathPoint(None, (0.1, 0.4, 0.0)), co.formats.PathPoint("elbow", (-0.1, 0.0, 0.0))
    placed = place_wraps(model, ends, [FileWrap("ball", ball, 0, 1)])
    evaluator = co.Evaluator(model)
    places = [np.ravel(evaluator.point("elbow", (-0.1, 0.0, 0.0), q=q).position) for q in random_postures(model, 200)]
    count = int((np.linalg.norm(np.array(places) - ball.center, axis=1) < ball.radius).sum())
    assert 5 < count < 150
    assert placed.inside == (f"ball, {count} of 200",)
    assert [type(part).__name__ for part in placed.points] == ["PathPoint", "Sphere", "PathPoint"]
