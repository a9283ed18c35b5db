"""Distances of convex shapes against coal (GJK and EPA), closed forms and differences; what is smoothed, and how."""

# pyright: reportArgumentType=false

from functools import cache
from itertools import product
from typing import Any

import casadi as ca
import coal
import numpy as np
import pytest

import colloc as co
from colloc.model.distance import hull_distance
from colloc.model.shapes import Core

fcl: Any = coal  # has no type stubs
SMOOTHING = 1e-3  # m
TOLERANCE = 1e-8  # m, of coal and of this
UNIT = np.array(list(product((-0.5, 0.5), repeat=3)))


def rotation(rng: np.random.Generator) -> np.ndarray:
    """A random one, from an orthogonal basis of random vectors."""
    basis = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return basis * np.sign(np.linalg.det(basis))


def core(corners: ca.SX) -> Core:
    """The core with these corners: of eight a box, in the order of `UNIT`, of two a segment, of others a hull."""
    if corners.shape[1] == 8:
        first = corners[:, 0]
        return Core(ca.sum2(corners) / 8, ca.horzcat(*(corners[:, k] - first for k in (4, 2, 1))) / 2)
    if corners.shape[1] == 2:
        return Core(ca.sum2(corners) / 2, (corners[:, 1] - corners[:, 0]) / 2)
    return Core(corners, ca.SX(3, 0))


@cache
def distance_function(corners: int, others: int, smoothing: float = SMOOTHING) -> ca.Function:
    p, q = ca.SX.sym("p", 3, corners), ca.SX.sym("q", 3, others)
    return ca.Function("distance", [p, q], [hull_distance(core(p), core(q), smoothing)])


def in_coal(shape: Any, turn: np.ndarray, place: np.ndarray, other: Any, other_turn: Any, other_place: Any) -> float:
    request, result = fcl.DistanceRequest(), fcl.DistanceResult()
    return float(
        fcl.distance(
            shape,
            fcl.Transform3s(turn, place),
            other,
            fcl.Transform3s(np.asarray(other_turn), np.asarray(other_place)),
            request,
            result,
        )
    )


def hull_in_coal(points: np.ndarray) -> Any:
    listed = fcl.StdVec_Vec3s()
    for point in points:
        listed.append(point)
    return fcl.Convex.convexHull(listed, True, "")


def random_shape(rng: np.random.Generator, kind: str) -> tuple[np.ndarray, float, Any]:
    """Corners, radius, and the same for fcl."""
    if kind == "ball":
        radius = rng.uniform(0.02, 0.3)
        return np.zeros((1, 3)), radius, fcl.Sphere(radius)
    if kind == "capsule":
        radius, half = rng.uniform(0.02, 0.2), rng.uniform(0.05, 0.4)
        return np.array([[0, 0, -half], [0, 0, half]]), radius, fcl.Capsule(radius, 2 * half)
    if kind == "box":
        size = rng.uniform(0.04, 1.0, 3)
        return UNIT * size, 0.0, fcl.Box(*size)
    points = rng.normal(size=(12, 3)) * rng.uniform(0.05, 0.3, 3)
    return points, 0.0, hull_in_coal(points)


KINDS = ("ball", "capsule", "box", "hull")
PAIRS = [(a, b) for k, a in enumerate(KINDS) for b in KINDS[k:]]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_ten_thousand_random_pairs_agree_with_coal_to_the_smoothing_and_are_never_further_apart(first, second):
    rng = np.random.default_rng(PAIRS.index((first, second)))
    errors, clear = [], 0
    for _ in range(1000):
        (p, a, shape), (q, b, other) = random_shape(rng, first), random_shape(rng, second)
        turn, place = rotation(rng), rng.normal(size=3)
        place *= rng.uniform(0.1, 1.5) / np.linalg.norm(place)
        function = distance_function(len(p), len(q))
        ours = float(function((p @ turn.T + place).T, q.T)) - a - b
        theirs = in_coal(shape, turn, place, other, np.eye(3), np.zeros(3))
        core = theirs + a + b  # between the hulls that are rounded
        if core > 1e-3:
            errors.append(theirs - ours)
            clear += 1
        else:  # they overlap: what is said is no less than how deep
            assert ours <= max(theirs, -a - b) + 1e-6
    least, most = min(errors), max(errors)
    exact = len(p) <= 2 and len(q) <= 2
    assert clear > 400
    assert least > -TOLERANCE * 10
    assert most < (1e-6 if exact else SMOOTHING)
    if not exact:
        assert most > 0.02 * SMOOTHING  # so that the bound is no idle one


def test_faces_that_lie_on_each_other_are_too_close_by_what_four_corners_make():
    box = ca.DM(UNIT.T)
    for other, corners in ((ca.DM.zeros(3, 1), 1), (box * ca.DM([0.5, 0.5, 0.2]), 8)):
        height = 0.1 * (corners == 8)
        value = float(distance_function(8, corners)(box, other + ca.DM([0.0, 0.0, 0.8])))
        width = SMOOTHING / np.log(8 * corners)
        upper = np.log(4) + (np.log(4) if corners == 8 else 0.0)
        assert value == pytest.approx(0.3 - height - width * upper, abs=1e-9)


def test_overlapping_boxes_are_as_deep_as_they_must_be_moved():
    box = ca.DM(UNIT.T)
    for way in ([0.7, 0.1, 0.0], [0.1, -0.9, 0.2], [0.0, 0.1, 0.6]):
        deep = float(distance_function(8, 8)(box + ca.DM(way), box))
        assert deep == pytest.approx(max(np.abs(way)) - 1.0, abs=SMOOTHING)


def moved(corners: np.ndarray, pose: ca.SX) -> ca.SX:
    """Points turned by three angles and shifted."""
    x, y, z = (ca.SX.eye(3) for _ in range(3))
    for k, matrix in enumerate((x, y, z)):
        a, b = (j for j in range(3) if j != k)
        c, s = ca.cos(pose[k]), ca.sin(pose[k])
        matrix[a, a], matrix[b, b], matrix[a, b], matrix[b, a] = c, c, -s, s
    return x @ y @ z @ ca.DM(corners.T) + ca.repmat(pose[3:], 1, len(corners))


@pytest.mark.parametrize(("first", "second"), [("capsule", "box"), ("box", "box"), ("ball", "hull"), ("hull", "box")])
def test_first_and_second_derivatives_are_those_of_differences(first, second):
    rng = np.random.default_rng(3)
    (p, *_), (q, *_) = random_shape(rng, first), random_shape(rng, second)
    pose = ca.SX.sym("pose", 6)
    value = hull_distance(core(moved(p, pose)), core(ca.SX(ca.DM(q.T))), SMOOTHING)
    hessian, gradient = ca.hessian(value, pose)
    function = ca.Function("f", [pose], [value, gradient, hessian])
    step, compared = 1e-6, 0
    for _ in range(60):
        at = rng.normal(size=6)
        at[3:] *= rng.uniform(0.3, 1.0) / np.linalg.norm(at[3:])
        here, slope, bend = (np.array(part) for part in function(at))
        if here < 0.01:
            continue
        compared += 1
        around = [[np.array(part) for part in function(at + sign * step * e)] for e in np.eye(6) for sign in (1, -1)]
        rise = [(up[0] - down[0]).item() / (2 * step) for up, down in zip(around[::2], around[1::2], strict=True)]
        turn = [(up[1] - down[1])[:, 0] / (2 * step) for up, down in zip(around[::2], around[1::2], strict=True)]
        np.testing.assert_allclose(slope[:, 0], rise, atol=1e-7)
        np.testing.assert_allclose(bend, turn, atol=1e-5 * (1 + np.abs(bend).max()))
    assert compared > 15


def test_derivatives_are_finite_where_boxes_lie_in_line_touch_and_coincide():
    pose = ca.SX.sym("pose", 6)
    value = hull_distance(core(moved(UNIT, pose)), core(ca.SX(ca.DM(UNIT.T))), SMOOTHING)
    function = ca.Function("f", [pose], [value, *ca.hessian(value, pose)[::-1]])
    for place in ([0, 0, 1.5], [0, 0, 1.0], [0, 0, 0.5], [0, 0, 0], [1, 1, 1], [2, 2, 0], [1e-9, 0, 0]):
        for part in function([0, 0, 0, *place]):
            assert np.isfinite(np.array(part)).all()


def test_hulls_around_clouds_hold_all_of_their_points():
    rng = np.random.default_rng(4)
    cloud = rng.normal(size=(400, 3)) * (0.3, 0.2, 0.1)
    whole = hull_in_coal(cloud)
    for most in (6, 12, 24, 60):
        hull = co.model.hull_around("hand", cloud, most=most)
        corners, radius = np.array(ca.DM(hull.corners)).T, float(ca.DM(hull.rounding))
        assert len(corners) <= most
        for point in cloud[::20]:
            far = in_coal(fcl.Sphere(1e-6), np.eye(3), point, hull_in_coal(corners), np.eye(3), np.zeros(3))
            assert far <= radius + 2e-6
    assert whole.num_points > 24
    assert radius < 0.01


def test_a_smoothing_that_is_none_and_shapes_that_are_none_are_refused():
    a, b = co.model.Box("elbow", (0.1, 0.1, 0.1)), co.model.Box(None, (1.0, 1.0, 0.1), name="table")
    with pytest.raises(co.InputError, match="smoothing must be finite and positive, got 0"):
        co.clearance(a, b, smoothing=0.0)
    with pytest.raises(co.InputError, match="size of a box must not be negative, got -1"):
        co.model.Box(None, (1, -1, 1))
    with pytest.raises(co.InputError, match="placement of a box must be of shape"):
        co.model.Box(None, (1, 1, 1), (0, 0, 1))
    with pytest.raises(co.InputError, match="number of points of a hull must be an integer >= 1, got 0"):
        co.model.ConvexHull(None, [])
    with pytest.raises(co.InputError, match="points of a hull must be a list, got 3"):
        co.model.ConvexHull(None, 3)
