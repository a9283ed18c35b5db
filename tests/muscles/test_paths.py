"""Lengths of paths against straight lines, shortest curves found by search, and differences."""

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize

import colloc as co
from colloc.models.two_link import two_link
from colloc.muscles.path import symbolic_instant
from colloc.muscles.wrapping import length_round

V = co.muscles.ViaPoint
MODEL = two_link()


def length_function(path: Callable[..., ca.SX], model: co.Model = MODEL) -> ca.Function:
    now = symbolic_instant(model)
    length = path(now)
    return ca.Function("length", [now.q], [length, ca.jacobian(length, now.q)])


def hand(q: np.ndarray, point: tuple[float, float]) -> np.ndarray:
    """A point of the second link's frame, which has its origin at the link's end, in the world."""
    a, b = q[0], q[0] + q[1]
    x, y = 0.4 + point[0], point[1]
    elbow = 0.4 * np.array([np.cos(a), np.sin(a)])
    return elbow + np.array([np.cos(b) * x - np.sin(b) * y, np.sin(b) * x + np.cos(b) * y])


def test_a_straight_path():
    path = length_function(co.muscles.MusclePath([V(None, (0.0, 0.1, 0.0)), V("elbow", (-0.3, 0.02, 0.0))]))
    for q in np.random.default_rng(0).uniform(-2, 2, (5, 2)):
        length = np.linalg.norm(hand(q, (-0.3, 0.02)) - [0.0, 0.1])
        assert float(path(q)[0]) == pytest.approx(length, rel=1e-9)


def test_points_that_come_and_go():
    a, b, c = V(None, (0.0, 0.1, 0.0)), (-0.2, 0.06, 0.0), V("elbow", (-0.3, 0.02, 0.0))
    sometimes = length_function(co.muscles.MusclePath([a, V("elbow", b, joint="elbow", within=(0.0, 1.0)), c]))
    always = length_function(co.muscles.MusclePath([a, V("elbow", b), c]))
    never = length_function(co.muscles.MusclePath([a, c]))
    for q, same in (([0.3, 0.5], always), ([0.3, -0.1], never), ([0.3, 1.1], never)):
        np.testing.assert_allclose(sometimes(q)[0], same(q)[0], rtol=1e-12)
        np.testing.assert_allclose(sometimes(q)[1].full(), same(q)[1].full(), atol=1e-12)


def test_a_point_that_moves_in_its_body():
    a = V(None, (0.0, 0.1, 0.0))
    path = length_function(co.muscles.MusclePath([a, V("elbow", lambda now: ca.vertcat(-0.3, 0.1 * now.q[1], 0.0))]))
    q = np.array([0.4, 0.7])
    assert float(path(q)[0]) == pytest.approx(np.linalg.norm(hand(q, (-0.3, 0.07)) - [0.0, 0.1]), rel=1e-9)


def test_only_what_lies_between_its_bodies_moves_it():
    path = co.muscles.MusclePath([V("shoulder", (-0.3, 0.03, 0.0)), V("elbow", (-0.35, 0.02, 0.0))])
    assert path.crossed(MODEL) == [1]
    assert length_function(path)([0.0, 0.5])[1].sparsity().nnz() == 1
    both = co.muscles.MusclePath([V(None, (0.0, 0.1, 0.0)), *path.points])
    assert both.crossed(MODEL) == [0, 1]


def shortest_round_a_cylinder(a: np.ndarray, b: np.ndarray, radius: float) -> float:
    """Two lines and a helix counterclockwise round the z axis, by search for where they meet it from outside."""

    def meeting(x: np.ndarray) -> np.ndarray:
        u = np.array([x[0], x[0] + x[1]])
        return np.column_stack([radius * np.cos(u), radius * np.sin(u), x[2:]])

    def length(x: np.ndarray) -> float:
        first, last = meeting(x)
        return float(np.linalg.norm(first - a) + np.hypot(radius * x[1], x[3] - x[2]) + np.linalg.norm(b - last))

    def outside(x: np.ndarray) -> np.ndarray:
        first, last = meeting(x)
        return np.array([(a - first)[:2] @ first[:2] / radius, (b - last)[:2] @ last[:2] / radius, x[1]])

    first = np.arctan2(a[1], a[0]) + 0.3
    arc = np.mod(np.arctan2(b[1], b[0]) - 0.3 - first, 2 * np.pi)
    start = [first, arc, (2 * a[2] + b[2]) / 3, (a[2] + 2 * b[2]) / 3]
    constraint = {"type": "ineq", "fun": outside}
    found = minimize(length, start, method="SLSQP", constraints=constraint, options={"ftol": 1e-14, "maxiter": 300})
    return float(found.fun)


def test_round_a_cylinder_it_is_the_shortest():
    rng = np.random.default_rng(1)
    cylinder = co.muscles.Cylinder(None, (0.0, 0.0, 0.0), (0, 0, 1), radius=0.05)
    for _ in range(10):
        angle, turn = rng.uniform(0, 2 * np.pi), rng.uniform(2.5, 4.5)
        a, b = (
            np.array([r * np.cos(u), r * np.sin(u), z])
            for r, u, z in zip(rng.uniform(0.07, 0.2, 2), (angle, angle + turn), rng.uniform(-0.1, 0.1, 2), strict=True)
        )
        length = float(ca.evalf(length_round(cylinder, ca.SX(a), ca.SX(b))))
        assert length == pytest.approx(shortest_round_a_cylinder(a, b, 0.05), rel=1e-7)


def test_a_pull_round_a_cylinder_is_along_the_shortest_path():
    """By differences of the length that SLSQP finds; of length one."""
    a, b, h = np.array([0.12, 0.02, -0.03]), np.array([-0.1, -0.06, 0.08]), 1e-4
    end = ca.SX.sym("a", 3)
    round_it = length_round(co.muscles.Cylinder(None, (0.0, 0.0, 0.0), (0, 0, 1), radius=0.05), end, ca.SX(b))
    pull = -ca.Function("f", [end], [ca.gradient(round_it, end)])(a).full().ravel()
    steps = h * np.eye(3)
    slopes = [shortest_round_a_cylinder(a + x, b, 0.05) - shortest_round_a_cylinder(a - x, b, 0.05) for x in steps]
    np.testing.assert_allclose(pull, -np.array(slopes) / (2 * h), atol=1e-5)
    assert np.linalg.norm(pull) == pytest.approx(1.0, abs=1e-9)


def test_beside_a_surface_it_is_straight():
    a, b = np.array([-0.2, -0.06, 0.0]), np.array([0.2, -0.07, 0.1])
    for surface in (
        co.muscles.Cylinder(None, (0.0, 0.0, 0.0), (0, 0, 1), radius=0.05),
        co.muscles.Sphere(None, (0.0, 0.0, 0.0), radius=0.05),
    ):
        length = float(ca.evalf(length_round(surface, ca.SX(a), ca.SX(b))))
        assert length == pytest.approx(np.linalg.norm(b - a), rel=1e-9)


def test_a_sphere_is_a_cylinder_across_its_plane():
    a, b = np.array([-0.1, -0.01, 0.0]), np.array([0.12, -0.02, 0.0])
    round_z = co.muscles.Cylinder(None, (0.0, 0.0, 0.0), (0, 0, 1), radius=0.05)
    cylinder = length_round(round_z, ca.SX(a), ca.SX(b))
    turned = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    sphere = co.muscles.Sphere(None, (0.1, 0.2, 0.3), radius=0.05)
    rotated = length_round(sphere, ca.SX(turned @ a + [0.1, 0.2, 0.3]), ca.SX(turned @ b + [0.1, 0.2, 0.3]))
    assert float(ca.evalf(rotated)) == pytest.approx(float(ca.evalf(cylinder)), rel=1e-9)
    assert float(ca.evalf(cylinder)) > np.linalg.norm(b - a) + 1e-3


def test_moment_arms_are_differences_of_lengths():
    cylinder = co.muscles.Cylinder("shoulder", (0, 0, 0), (0, 0, 1), 0.03)
    points = [V(None, (-0.1, -0.03, 0)), V("shoulder", (-0.1, -0.03, 0)), cylinder, V("elbow", (-0.35, -0.02, 0))]
    muscle = co.muscles.Muscle("extensor", co.muscles.MusclePath(points), 1000.0, 0.1, 0.4)
    muscles, now, h = co.muscles.Muscles(MODEL, [muscle]), symbolic_instant(MODEL), 1e-6
    f = ca.Function("f", [now.q], [muscles.lengths(now), muscles.moment_arms(now)])
    for q in ([0.2, 0.4], [-0.4, 1.2]):
        for k in range(2):
            step = h * np.eye(2)[k]
            slope = float(f(q + step)[0] - f(q - step)[0]) / (2 * h)
            assert float(f(q)[1][0, k]) == pytest.approx(-slope, rel=1e-7)


def test_misuse():
    a, b = V(None, (0, 0, 0)), V("elbow", (0, 0, 0))
    surface = co.muscles.Sphere("elbow", (0, 0, 0), 0.1)
    gone = V("elbow", (0, 0, 0), joint="elbow", within=(0, 1))
    for points in ([a], [surface, a], [a, surface], [surface, surface, b], [a, gone]):
        with pytest.raises(co.InputError, match="an unconditional ViaPoint"):
            co.muscles.MusclePath(points)
    with pytest.raises(co.InputError, match="both joint and within"):
        V("elbow", (0, 0, 0), joint="elbow")
    with pytest.raises(co.InputError, match="radius of a sphere must be finite and positive"):
        co.muscles.Sphere("elbow", (0, 0, 0), -0.1)
