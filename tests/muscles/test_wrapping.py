"""Paths round surfaces: smooth where they first touch, the shortest, the same round a sphere of every kind."""

from collections.abc import Callable

import casadi as ca
import numpy as np
import pytest
from scipy.spatial import ConvexHull

import colloc as co
from colloc.models.two_link import two_link
from colloc.muscles.path import symbolic_instant
from colloc.muscles.wrapping import Surface, length_round

Cylinder, Ellipsoid, Sphere, Torus = co.muscles.Cylinder, co.muscles.Ellipsoid, co.muscles.Sphere, co.muscles.Torus
V = co.muscles.ViaPoint
SIDE, ORIGIN = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
SURFACES = [
    Cylinder(None, ORIGIN, (0, 0, 1), 0.05),
    Cylinder(None, ORIGIN, (0, 0, 1), 0.05, side=SIDE),
    Cylinder(None, ORIGIN, (0, 0, 1), 0.05, side="shorter", length=0.3),
    Sphere(None, ORIGIN, 0.05),
    Sphere(None, ORIGIN, 0.05, side=SIDE),
    Ellipsoid(None, ORIGIN, (0.05, 0.06, 0.04)),
    Ellipsoid(None, ORIGIN, (0.05, 0.06, 0.04), side=SIDE, method="axial"),
    Torus(None, (0.08, 0.0, 0.0), (0, 1, 0), radius=0.05, tube=0.02),
]


def along_a_line(surface: Surface, x: np.ndarray) -> np.ndarray:
    """Length, slope and curvature as both ends move towards the axis, to the place x, shape (N, 3)."""
    shift = ca.SX.sym("x")
    ends = ca.vertcat(shift, -0.12, 0.01), ca.vertcat(shift + 0.01, 0.14, -0.02)
    length = length_round(surface, *ends)
    slope = ca.jacobian(length, shift)
    f = ca.Function("f", [shift], [ca.vertcat(length, slope, ca.jacobian(slope, shift))])
    return f.map(len(x))(x).full().T


@pytest.mark.parametrize("surface", SURFACES, ids=lambda surface: type(surface).__name__)
def test_moment_arms_have_no_kink_where_a_path_first_touches(surface):
    x = np.linspace(0.09, 0.02, 4001)
    length, slope, curvature = along_a_line(surface, x).T
    straight = np.hypot(0.01, np.hypot(0.26, 0.03))
    assert length[0] == pytest.approx(straight, abs=1e-7)
    assert length[-1] > straight + 1e-3
    np.testing.assert_allclose(np.diff(length), (slope[1:] + slope[:-1]) / 2 * np.diff(x), atol=2e-7)
    assert np.abs(np.diff(curvature)).max() < 0.05 * np.ptp(curvature)


@pytest.mark.parametrize("method", ["hybrid", "midpoint", "axial"])
def test_a_sphere_as_an_ellipsoid(method):
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    round_one = Ellipsoid(None, ORIGIN, (0.05, 0.0500001, 0.05), method=method)
    lengths = ca.vertcat(*(length_round(surface, a, b) for surface in (round_one, Sphere(None, ORIGIN, 0.05))))
    f, rng = ca.Function("f", [a, b], [lengths]), np.random.default_rng(0)
    for _ in range(20):
        ends = [size * (x := rng.normal(size=3)) / np.linalg.norm(x) for size in (0.12, 0.09)]
        ellipsoid, sphere = f(*ends).full().ravel()
        assert ellipsoid == pytest.approx(sphere, abs=1e-6)


def shortest_in_a_plane(a: np.ndarray, b: np.ndarray, radii: np.ndarray) -> float:
    """The shortest string round an ellipsoid in a plane through both ends, from hulls of points of its sections."""
    line = (b - a) / np.linalg.norm(b - a)
    across = np.linalg.svd(line[None])[2][1:]
    directions = np.linspace(0, 2 * np.pi, 720, endpoint=False)
    best = np.inf
    for turn in np.linspace(0, np.pi, 180, endpoint=False):
        up = np.cos(turn) * across[0] + np.sin(turn) * across[1]
        normal = np.cross(line, up)
        frame = np.column_stack([line, up])
        metric, offset = np.diag(radii**-2.0), (normal @ a) * normal
        middle = -np.linalg.solve(frame.T @ metric @ frame, frame.T @ metric @ offset)
        inner = middle @ frame.T @ metric @ frame @ middle
        level = 1 - offset @ metric @ offset + inner
        if level <= 0:
            continue
        root = np.linalg.cholesky(np.linalg.inv(frame.T @ metric @ frame))
        section = middle + np.sqrt(level) * np.column_stack([np.cos(directions), np.sin(directions)]) @ root.T
        points = np.vstack([(a - offset) @ frame, (b - offset) @ frame, section])
        hull = ConvexHull(points).vertices.tolist()
        if 0 in hull and 1 in hull:
            start = hull.index(0)
            ring = hull[start:] + hull[:start] + [0]
            cut = ring.index(1)
            for chain in (ring[: cut + 1], ring[cut:]):
                best = min(best, np.linalg.norm(np.diff(points[chain], axis=0), axis=1).sum())
    return float(best)


def test_round_an_ellipsoid_it_is_hardly_longer_than_the_shortest_in_a_plane():
    radii = np.array([0.05, 0.06, 0.04])
    for a, b in (((-0.1, 0.03, 0.01), (0.09, 0.035, -0.02)), ((-0.08, -0.05, 0.0), (0.07, -0.02, 0.03))):
        ours = float(ca.evalf(length_round(Ellipsoid(None, ORIGIN, radii), ca.SX(a), ca.SX(b))))
        best = shortest_in_a_plane(np.array(a), np.array(b), radii)
        assert np.linalg.norm(np.subtract(a, b)) + 1e-3 < best - 1e-5 < ours < 1.01 * best


def test_on_the_side_it_goes_the_longer_way_if_need_be():
    a, b = ca.SX([-0.02, -0.1, 0.0]), ca.SX([-0.02, 0.1, 0.0])  # beside the axis, on the other side
    left, right = (
        float(ca.evalf(length_round(Cylinder(None, ORIGIN, (0, 0, 1), 0.05, side=(way, 0, 0)), a, b)))
        for way in (-1.0, 1.0)
    )
    tangents = np.sqrt(0.02**2 + 0.1**2 - 0.05**2)
    angle = np.arctan2(0.1, -0.02)
    assert right == pytest.approx(2 * tangents + 2 * 0.05 * (angle - np.arctan2(tangents, 0.05)), rel=1e-9)
    assert left == pytest.approx(2 * tangents + 2 * 0.05 * (np.pi - angle - np.arctan2(tangents, 0.05)), rel=1e-9)


@pytest.mark.parametrize(
    "make",
    [lambda side: Cylinder(None, ORIGIN, (0, 0, 1), 0.05, side=side), lambda side: Sphere(None, ORIGIN, 0.05, side)],
)
def test_the_mirror_image_of_a_path_is_as_long(make):
    """Also where all four points of contact are on the side, or none."""
    side, mirrored = (0.8, 0.6, 0.0), (0.8, -0.6, 0.0)
    a, b = ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    lengths = ca.vertcat(*(length_round(make(way), a, b) for way in (side, mirrored)))
    f, rng, flip = ca.Function("f", [a, b], [lengths]), np.random.default_rng(3), np.array([1.0, -1.0, 1.0])
    for _ in range(300):
        ends = [rng.uniform(0.055, 0.2) * (x := rng.normal(size=3)) / np.linalg.norm(x[:2]) for _ in range(2)]
        here, there = f(*ends).full()[0, 0], f(*(end * flip for end in ends)).full()[1, 0]
        assert here == pytest.approx(there, abs=1e-9)


def test_a_path_stays_on_its_side_of_a_sphere_when_the_straight_line_leaves_it():
    """Both ends move past the sphere on the other side: tangents and an arc that grow, without a jump."""
    radius, side = 0.05, (1.0, 0.0, 0.0)
    shift = ca.SX.sym("x")
    ends = ca.vertcat(-shift, -0.12, 0.0), ca.vertcat(-shift, 0.12, 0.0)
    f = ca.Function("f", [shift], [length_round(Sphere(None, ORIGIN, radius, side), *ends)])
    x = np.linspace(0.01, 0.1, 10)
    tangent = np.sqrt(x**2 + 0.12**2 - radius**2)
    half_arc = np.pi - np.arctan2(0.12, x) - np.arctan2(tangent, radius)
    expected = 2 * (tangent + radius * half_arc)
    np.testing.assert_allclose(f.map(10)(x).full()[0], expected, rtol=1e-9)


def tight_string(
    a: np.ndarray, b: np.ndarray, outside: Callable[[ca.SX], ca.SX], way: np.ndarray, count: int = 80
) -> np.ndarray:
    """Points of a string of many pieces, shape (count + 2, 3), pulled tight from a way, outside of surfaces."""
    x = ca.SX.sym("x", 3, count)
    pieces = ca.horzcat(x, ca.SX(b)) - ca.horzcat(ca.SX(a), x)
    program = {"x": ca.vec(x), "f": (count + 1) * ca.sumsqr(pieces), "g": ca.vec(outside(x))}
    quiet = {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes", "tol": 1e-10}}
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(way), axis=0)))
    shares = np.linspace(0.0, along[-1], count + 2)[1:-1]
    start = np.array([np.interp(shares, along, row) for row in way])
    tight = ca.nlpsol("string", "ipopt", program, quiet)(x0=start.T.ravel(), lbg=0.0)["x"]
    return np.vstack([a, tight.full().reshape(count, 3), b])


def test_round_two_skew_cylinders_it_is_as_long_as_a_tight_string():
    """A calf muscle that bends over the condyles and again over the shank: OpenSim states up to 8 mm less of such."""
    centers, radii = np.array([[0.0, 0.0, 0.0], [0.01, -0.09, 0.0]]), (0.026, 0.06)
    axes = np.array([[0.0, 0.0, 1.0], [-0.1, -0.17, 0.98]])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    a, b = np.array([0.012, 0.035, -0.02]), np.array([-0.03, -0.42, -0.005])
    surfaces = [
        Cylinder(None, center, axis, radius, side=(-1.0, 0.0, 0.0))
        for center, axis, radius in zip(centers, axes, radii, strict=True)
    ]
    length = float(ca.evalf(co.muscles.MusclePath([V(None, a), *surfaces, V(None, b)])(symbolic_instant(two_link()))))

    def outside(x: ca.SX) -> ca.SX:
        rows = []
        for center, axis, radius in zip(centers, axes, radii, strict=True):
            away = x - ca.SX(center)
            rows.append((ca.sum1(away**2) - (ca.SX(axis).T @ away) ** 2) / radius**2 - 1)
        return ca.vertcat(*rows)

    bends = (-0.03, 0.01, -0.018), (-0.04, -0.03, -0.018), (-0.07, -0.09, -0.015), (-0.06, -0.15, -0.015)
    way = np.column_stack([a, *bends, b])
    string = tight_string(a, b, outside, way, count=160)
    assert length > np.linalg.norm(b - a) + 0.01
    assert length == pytest.approx(np.linalg.norm(np.diff(string, axis=0), axis=1).sum(), abs=5e-5)


def test_pulls_round_an_ellipsoid_are_nearer_to_those_of_the_shortest_string_than_its_straight_pieces():
    radii, rng = np.array([0.07, 0.17, 0.07]), np.random.default_rng(5)
    surface, a, b = Ellipsoid(None, ORIGIN, radii), ca.SX.sym("a", 3), ca.SX.sym("b", 3)
    wrap, length = surface.wrap(a, b), length_round(surface, a, b)
    pulls = -ca.horzcat(ca.gradient(length, a), ca.gradient(length, b))
    f = ca.Function("f", [a, b], [pulls, ca.horzcat(wrap.first, wrap.last), wrap.share])
    by_work, by_pieces = [], []
    while len(by_work) < 24:
        ends = [rng.uniform(1.1, 2.0) * (x := rng.normal(size=3)) / np.linalg.norm(x / radii) for _ in range(2)]
        pulled, contact, share = (value.full() for value in f(*ends))
        if share < 1:
            continue
        way = np.column_stack([ends[0], contact[:, 0], contact.mean(axis=1), contact[:, 1], ends[1]])
        string = tight_string(ends[0], ends[1], lambda x: ca.sum1((x / ca.SX(radii)) ** 2) - 1, way)
        for k, along in enumerate((string[1] - string[0], string[-2] - string[-1])):
            along /= np.linalg.norm(along)
            piece = contact[:, k] - ends[k]
            by_work.append(np.linalg.norm(pulled[:, k] - along))
            by_pieces.append(np.linalg.norm(piece / np.linalg.norm(piece) - along))
    assert np.median(by_work) < 0.005
    assert np.median(by_work) < 0.5 * np.median(by_pieces)
    assert np.quantile(by_work, 0.9) < 0.06


def test_beyond_the_ends_of_a_cylinder_it_is_straight():
    short = Cylinder(None, ORIGIN, (0, 0, 1), 0.05, side="shorter", length=0.1)
    for height, bent in ((0.0, True), (0.06, False)):
        a, b = ca.SX([-0.1, 0.01, height]), ca.SX([0.1, 0.01, height])
        assert (float(ca.evalf(length_round(short, a, b))) > 0.2 + 1e-3) == bent


def test_round_two_surfaces_it_is_the_shortest():
    """In a plane: two circles of one side, with the arcs between their common tangent."""
    r, far = 0.03, 0.2
    first = Cylinder(None, (-far / 2, 0, 0), (0, 0, 1), r, side=(0, 1, 0))
    second = Cylinder(None, (far / 2, 0, 0), (0, 0, 1), r, side=(0, 1, 0))
    model = two_link()
    path = co.muscles.MusclePath([V(None, (-0.2, -0.05, 0)), first, second, V(None, (0.2, -0.05, 0))])
    reached = float(ca.evalf(path(symbolic_instant(model))))
    beside = np.array([0.1, 0.05])  # from a center to the end of the path, mirrored
    tangent = np.sqrt(beside @ beside - r**2)
    turn = np.pi / 2 + np.arctan2(beside[1], beside[0]) - np.arctan2(tangent, r)
    assert reached == pytest.approx(2 * (tangent + r * turn) + far, rel=1e-6)


def test_a_muscle_that_wraps_moves_a_joint():
    """An extensor round the elbow lifts the forearm: its moment arm is the radius."""
    model = two_link(9.81)
    pulley = Cylinder("shoulder", ORIGIN, (0, 0, 1), 0.03)
    points = [V("shoulder", (-0.3, -0.03, 0)), pulley, V("elbow", (-0.35, -0.02, 0))]
    extensor = co.muscles.Muscle("extensor", co.muscles.MusclePath(points), 4000.0, 0.15, 0.25)
    arm = co.muscles.Muscles(model, [extensor], reserves={"shoulder": 100.0, "elbow": 30.0})
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + 10 * ca.sumsqr(now.reserve))
    ends = [co.initial(q=(0.0, 1.8), qd=0.0), co.final(q=(0.0, 0.9), qd=0.0)]
    bent = co.solve(co.Problem(model, 0.5, effort, ends, parts=[arm]), co.Radau(12))
    assert bent.success
    moved = bent.evaluate(lambda now: arm.moment_arms(now)[0, 1], [0.0, 0.25, 0.5])
    np.testing.assert_allclose(np.abs(moved), 0.03, atol=1e-3)


def test_misuse():
    for make, message in (
        (lambda: Ellipsoid(None, ORIGIN, (0.1, 0.1, -0.1)), "radii of an ellipsoid must be finite and positive"),
        (lambda: Ellipsoid(None, ORIGIN, (0.1, 0.1, 0.1), axes=np.ones((3, 3))), "columns of a rotation"),
        (lambda: Ellipsoid(None, ORIGIN, (0.1, 0.1, 0.1), side=(1, 1, 0)), "along one of its axes"),
        (lambda: Torus(None, ORIGIN, (0, 0, 1), 0.1, 0.2), "tube of a torus must be below its radius of 0.1 m"),
        (lambda: Cylinder(None, ORIGIN, (0, 0, 1), 0.1, side=(0, 0, 2)), "must point away from its axis"),
        (lambda: Sphere(None, ORIGIN, 0.1, side="counterclockwise"), 'side of a sphere must be "shorter" or "inside"'),
    ):
        with pytest.raises(co.InputError, match=message):
            make()


def test_a_muscle_without_a_tendon_has_a_rigid_one():
    model = two_link()
    path = co.muscles.MusclePath([V("shoulder", (-0.1, 0.03, 0)), V("elbow", (-0.35, 0.02, 0))])
    muscle = co.muscles.Muscle("short", path, 500.0, 0.15, 0.0)
    assert co.muscles.Muscles(model, [muscle]).names == ("short",)
    with pytest.raises(co.InputError, match="which is 0 for short"):
        co.muscles.Muscles(model, [muscle], tendons="compliant")
