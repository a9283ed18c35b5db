"""Contact with planes in any pose, belts, boxes and bars, by balls, ellipsoids and rows of balls."""

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.muscles.path import symbolic_instant

BALL = [
    co.Body("x", co.prismatic((1, 0, 0))),
    co.Body("y", co.prismatic((0, 1, 0)), "x"),
    co.Body("z", co.prismatic((0, 0, 1)), "y"),
    co.Body("a", co.revolute((1, 0, 0)), "z"),
    co.Body("b", co.revolute((0, 1, 0)), "a"),
    co.Body("ball", co.revolute((0, 0, 1)), "b", mass=2.0, inertia=0.01 * np.eye(3)),
]
MODEL = co.Model(BALL)
DESK = [co.Body("rise", co.prismatic((0, 1, 0)), mass=1.0), co.Body("desk", co.revolute((0, 0, 1)), "rise", mass=3.0)]
FALLING = co.Model([co.Body("y", co.prismatic((0, 1, 0)), mass=2.0)])
WITH_DESK = co.Model([*BALL, *DESK])


def values(quantity: Any, q: Any, qd: Any, model: co.Model = MODEL) -> np.ndarray:
    return function(quantity, model)(ca.DM(q), ca.DM(qd)).full().ravel()


def function(quantity: Any, model: co.Model = MODEL) -> ca.Function:
    now = symbolic_instant(model)
    return ca.Function("value", [now.q, now.qd], [quantity(now)])


def state(seed: int, turn: Rotation) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A ball near the ground in a turned world: its place and angles, and its velocity and spin."""
    rng = np.random.default_rng(seed)
    place, velocity, spin = np.array([0.3, 0.035, -0.2]), rng.uniform(-0.3, 0.3, 3), rng.normal(size=3)
    return turn.apply(place), turn.apply(velocity), turn.apply(spin)


@pytest.mark.parametrize("seed", range(3))
def test_a_plane_in_any_pose_pushes_as_the_ground_does_in_a_turned_world(seed: int):
    turn, shift = (
        Rotation.from_rotvec(np.random.default_rng(seed).normal(size=3)),
        np.random.default_rng(seed).normal(size=3),
    )
    plane = co.problem.Plane(shift + turn.apply([0.7, 0.0, 0.4]), 3.0 * turn.apply([0, 1, 0]))
    forces = []
    for world, surface, offset in ((Rotation.identity(), None, 0.0 * shift), (turn, plane, shift)):
        place, velocity, spin = state(seed, world)
        on: dict[str, Any] = {} if surface is None else {"surface": surface}
        ball = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, **on)
        force = values(ball.force, [*(place + offset), 0, 0, 0], [*velocity, *spin])
        forces.append(world.inv().apply(force))
    assert np.linalg.norm(forces[0]) > 10
    np.testing.assert_allclose(forces[1], forces[0], rtol=1e-9)


def test_a_belt_pulls_what_stands_on_it_and_nothing_that_moves_with_it():
    belt = co.problem.Plane(velocity=(-1.2, 0.0, 0.0), name="belt")
    ball, bare = (
        co.problem.ContactSphere("ball", (0, 0, 0), 0.05, surface=belt),
        co.problem.ContactSphere("ball", (0, 0, 0), 0.05),
    )
    q = [0, 0.04, 0, 0, 0, 0]
    assert abs(values(ball.force, q, [-1.2, 0, 0, 0, 0, 0])[0]) < 1e-9
    np.testing.assert_allclose(
        values(ball.force, q, np.zeros(6)), values(bare.force, q, [1.2, 0, 0, 0, 0, 0]), rtol=1e-12
    )
    fast = co.problem.Plane(velocity=lambda now: ca.vertcat(-1.2 * now.t, 0, 0), name="belt")
    by_time = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, surface=fast)
    now = symbolic_instant(MODEL)
    force = ca.Function("force", [now.q, now.qd, now.t], [by_time.force(now)])
    np.testing.assert_allclose(
        force(q, np.zeros(6), 1.0).full().ravel(), values(ball.force, q, np.zeros(6)), rtol=1e-12
    )


def distance_from_box(point: np.ndarray, half: np.ndarray) -> float:
    beyond = np.abs(point) - half
    return float(np.linalg.norm(np.maximum(beyond, 0)) + min(beyond.max(), 0.0))


def test_the_distance_from_a_box_is_the_true_one_but_for_its_rounded_edges():
    size, turn = np.array([0.5, 0.08, 0.4]), Rotation.from_euler("xyz", [0.3, -0.5, 0.2])
    center = np.array([0.2, 0.4, -0.1])
    box = co.model.Box(None, size, co.placement(center, (0.3, -0.5, 0.2)))
    ball = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, surface=box)
    indentation = function(ball.indentation)
    for point in np.random.default_rng(1).uniform(-0.4, 0.4, (200, 3)):
        world = turn.apply(point) + center
        depth = float(indentation([*world, 0, 0, 0], 0))
        true = 0.05 - distance_from_box(point, size / 2)
        rounded = 5e-3 * (np.sqrt(3) - 1)  # by which a corner is cut
        assert true - rounded - 1e-4 < depth < true + 1e-3
    above = turn.apply([0.1, 0.04 + 0.045, 0.05]) + center
    depth = values(ball.indentation, [*above, 0, 0, 0], np.zeros(6))[0]
    assert depth == pytest.approx(0.005, abs=2e-6)
    force = values(ball.force, [*above, 0, 0, 0], np.zeros(6))
    np.testing.assert_allclose(turn.inv().apply(force) / np.linalg.norm(force), [0, 1, 0], atol=1e-5)


def test_a_handrail_pushes_away_from_its_axis():
    rail = co.Capsule(None, (0, 1.0, -1.0), (0, 1.0, 1.0), 0.02, name="rail")
    hand = co.problem.ContactSphere("ball", (0, 0, 0), 0.03, surface=rail)
    assert hand.name == "ball on rail"
    at = np.array([0.6, 0.8]) * 0.045  # from the axis, 5 mm deep
    force = values(hand.force, [at[0], 1.0 + at[1], 0.3, 0, 0, 0], np.zeros(6))
    np.testing.assert_allclose(force / np.linalg.norm(force), [0.6, 0.8, 0.0], atol=1e-9)
    level = co.problem.ContactSphere("ball", (0, 0, 0), 0.03)
    assert np.linalg.norm(force) == pytest.approx(values(level.force, [0, 0.025, 0, 0, 0, 0], np.zeros(6))[1], rel=1e-9)


@pytest.mark.parametrize("moving", ["plane", "box"])
def test_a_surface_on_a_body_is_pushed_by_the_opposite_force(moving: str):
    """Action and reaction: together both loads have neither a force nor a moment about the origin."""
    shapes: dict[str, Any] = {
        "plane": co.problem.Plane((0.1, 0.02, 0), (0.1, 1, -0.2), body="desk"),
        "box": co.model.Box("desk", (0.6, 0.04, 0.5), co.placement((0.05, 0.0, 0.0), (0.1, 0.0, 0.0))),
    }
    ball = co.problem.ContactSphere("ball", (0.01, -0.02, 0.03), 0.05, surface=shapes[moving])
    q, qd = [0.2, 0.85, 0.05, 0.1, -0.2, 0.3, 0.8, 0.05], [0.1, -0.5, 0.2, 0.3, 0.4, -0.2, 0.3, 0.6]
    first, second = ball.loads

    def total(now: co.problem.Instant) -> ca.SX:
        wrenches = []
        for load in (load.at(now) for load in (first, second)):
            wrenches.append(ca.vertcat(load.force, ca.cross(now.point(load.body, load.point).position, load.force)))
        return ca.vertcat(sum(wrenches), wrenches[0])

    both = values(total, q, qd, WITH_DESK)
    assert np.linalg.norm(both[6:9]) > 100
    np.testing.assert_allclose(both[:6], 0, atol=1e-9 * float(np.linalg.norm(both[6:9])))


def test_what_lies_still_on_a_moving_surface_does_not_rub():
    """A ball and a desk that turn about one axis together: no slip, though both move."""
    desk = co.problem.Plane((0, 0.02, 0), (0, 1, 0), body="desk")
    ball = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, surface=desk)
    x, y, spin = 0.2, 0.02 + 0.045, 0.7
    q = [x, y, 0, 0, 0, 0, 0, 0]
    together = values(ball.force, q, [-spin * y, spin * x, 0, 0, 0, spin, 0, spin], WITH_DESK)
    apart = values(ball.force, q, [0, 0, 0, 0, 0, 0, 0, spin], WITH_DESK)
    assert abs(together[0]) < 1e-9 * together[1]
    assert abs(apart[0]) > 0.001 * abs(apart[1])


def test_an_ellipsoid_touches_where_it_is_lowest_with_its_curvature_there():
    """Extent by a search over its surface, curvature by differences of the extent on the sphere of normals."""
    half, turn = np.array([0.12, 0.03, 0.05]), Rotation.from_euler("xyz", [0.3, 0.2, -0.4])
    sole = co.problem.ContactEllipsoid("ball", (0.01, 0.02, 0.0), radius=half, orientation=turn.as_matrix())
    q = [0.1, 0.04, 0.0, 0.2, -0.1, 0.3]
    attitude = Rotation.from_matrix(values(lambda now: now.rotation("ball"), q, np.zeros(6)).reshape(3, 3))
    center = values(lambda now: now.point("ball", (0.01, 0.02, 0.0)).position, q, np.zeros(6))

    def height(angles: np.ndarray) -> float:
        u, v = angles
        unit = np.array([np.cos(u) * np.cos(v), np.sin(u) * np.cos(v), np.sin(v)])
        return float((center + attitude.apply(turn.apply(half * unit)))[1])

    lowest = min(minimize(height, start, tol=1e-12).fun for start in ((0.1, 0.1), (2.0, 0.1), (4.0, -0.5)))
    assert values(sole.indentation, q, np.zeros(6))[0] == pytest.approx(-lowest, abs=1e-9)

    # Radii of curvature of a convex body are the eigenvalues of the second derivative of its extent.
    normal = (attitude * turn).inv().apply([0, 1, 0])
    basis = np.linalg.svd(normal[None])[2][1:]

    def extent(s: np.ndarray) -> float:
        n = normal + s @ basis
        return float(np.linalg.norm(half * n))

    h, steps = 1e-4, np.eye(2)
    bend = [
        [sum(a * b * extent(h * (a * i + b * j)) for a in (1, -1) for b in (1, -1)) / (4 * h**2) for j in steps]
        for i in steps
    ]
    radius = np.sqrt(np.linalg.det(bend))
    same = co.problem.ContactSphere("ball", (0, 0, 0), radius)
    depth = float(-lowest)
    push = values(sole.force, q, np.zeros(6))[1]
    assert push == pytest.approx(values(same.force, [0, radius - depth, 0, 0, 0, 0], np.zeros(6))[1], rel=1e-5)


def test_an_ellipsoid_with_equal_axes_is_a_ball():
    form = co.problem.ContactEllipsoid("ball", (0.01, 0.02, 0), radius=(0.05, 0.05, 0.05), static_friction=0.9)
    ball = co.problem.ContactSphere("ball", (0.01, 0.02, 0), 0.05, static_friction=0.9)
    q, qd = [0.1, 0.03, 0.2, 0.5, 0.2, -0.4], [0.3, -0.2, 0.1, 0.5, -0.6, 0.7]
    for name in ("indentation", "force"):
        np.testing.assert_allclose(values(getattr(form, name), q, qd), values(getattr(ball, name), q, qd), rtol=1e-12)


def test_a_row_of_balls_stands_level():
    """A capsule that lies on the ground: no moment about its middle, and a righting one where it tilts."""
    row = co.problem.ContactSphere("ball", (-0.1, 0, 0), 0.03, name="sole").row((0.1, 0, 0), number=5)
    sole = co.problem.GroundContact(row)
    moment = lambda now: now.point("ball").position[0] * 0 + sole.wrench(now).moment[2]  # noqa: E731
    assert abs(values(moment, [0, 0.028, 0, 0, 0, 0], np.zeros(6))[0]) < 1e-9
    assert values(moment, [0, 0.028, 0, 0, 0, 0.01], np.zeros(6))[0] < -1.0


def at_rest(ball: co.problem.ContactSphere, name: str) -> float:
    """An unknown constant that lets 2 kg rest with the ball's centre at 0.48 m."""
    rest = [co.bounds(q=(0.48, 0.48)), co.at(0.2, lambda now: now.tau, equals=0.0)]
    cost = co.final_cost(lambda now: 1e-9 * getattr(now, name))
    solution = co.solve(co.Problem(FALLING, 0.2, cost, rest, parts=[ball]), co.Radau(3))
    assert solution.success
    return float(solution.constants[name][0])


def test_stiffness_and_height_may_be_unknown():
    """The stiffness of a seat, and the height of another, by a search for where the force is the weight."""
    stiffness = co.Unknown("stiffness", lower=1e3, upper=1e6, guess=2e4, constant=True)
    height = co.Unknown("height", lower=0.2, upper=0.6, guess=0.45, constant=True)
    soft, high = co.problem.Plane((0, 0.44, 0), name="soft"), co.problem.Plane((0, height, 0), name="high")
    ground, weight = co.problem.ContactSphere("y", (0, 0, 0), 0.05, 1e5), 2.0 * 9.81

    def excess(depth: float) -> float:
        return values(ground.force, [0.05 - depth], [0.0], FALLING)[1] - weight

    law = 1e5 * weight / (excess(0.01) + weight)
    assert at_rest(
        co.problem.ContactSphere("y", (0, 0, 0), 0.05, stiffness, surface=soft), "stiffness"
    ) == pytest.approx(law, rel=1e-5)
    top = 0.48 - 0.05 + float(np.asarray(brentq(excess, 0, 0.04)))
    assert at_rest(co.problem.ContactSphere("y", (0, 0, 0), 0.05, 1e5, surface=high), "height") == pytest.approx(top)


def test_a_step_of_terrain_of_your_own():
    class Waves(co.problem.Surface):
        name = "waves"

        def distance(self, now: co.problem.Instant, point: ca.SX) -> ca.SX:
            return point[1] - 0.02 * ca.sin(10 * point[0])

    ball = co.problem.ContactSphere("ball", (0, 0, 0), 0.05, surface=Waves())
    level, crest = co.problem.ContactSphere("ball", (0, 0, 0), 0.05), np.pi / 20
    force = values(ball.force, [crest, 0.065, 0, 0, 0, 0], np.zeros(6))
    np.testing.assert_allclose(force, values(level.force, [0, 0.045, 0, 0, 0, 0], np.zeros(6)), rtol=1e-9, atol=1e-9)


def test_a_solved_problem_draws_and_names_its_surface():
    box = co.model.Box(None, (0.4, 0.05, 0.4), co.placement((0, 0.4, 0)), name="stool")
    seat = co.problem.GroundContact([co.problem.ContactSphere("y", (0, 0, 0), 0.05, 2e4, surface=box)])
    start = [co.initial(q=0.47, qd=0.0), co.bounds(tau=(0, 0))]
    problem = co.Problem(FALLING, 0.1, co.final_cost(lambda now: 1e-9 * now.q**2), start, parts=[seat])
    assert [shape.label for shape in problem.shapes] == ["stool"]
    assert repr(seat) == "GroundContact(y on stool)"
    solution, t = co.solve(problem, co.Radau(8)), np.linspace(0.0, 0.1, 5)
    force = solution.signals.at(t, "contact_ground")["contact_ground"]
    upward = solution.evaluate(lambda now: seat.spheres[0].force(now)[1], t)
    assert upward.max() > 10.0
    np.testing.assert_allclose(np.asarray(force).ravel(), upward, rtol=1e-6)


def test_misuse():
    sphere = co.problem.ContactSphere
    with pytest.raises(
        co.InputError, match=r"surface of a contact sphere must be a co.problem.Plane, a co.model.Box or"
    ):
        sphere("ball", (0, 0, 0), 0.05, surface="ground")
    with pytest.raises(co.InputError, match=r"'ball' must meet a surface of another body, got one of 'ball'"):
        sphere("ball", (0, 0, 0), 0.05, name="ball", surface=co.problem.Plane(body="ball"))
    with pytest.raises(co.InputError, match=r"normal of plane 'wall' must not be zero"):
        co.problem.Plane(normal=(0, 0, 0), name="wall")
    with pytest.raises(co.InputError, match=r"stiffness of contact sphere 'ball' must be constant .* got Unknown"):
        sphere("ball", (0, 0, 0), 0.05, co.Unknown("k"))
    with pytest.raises(co.InputError, match=r"point of plane 'seat' must be constant and of size 1"):
        co.problem.Plane((0, co.Unknown("h"), 0), name="seat")
    with pytest.raises(
        co.InputError, match=r"radius of contact ellipsoid 'ball' must be positive, got \(0.1, 0, 0.1\)"
    ):
        co.problem.ContactEllipsoid("ball", (0, 0, 0), (0.1, 0.0, 0.1))
    with pytest.raises(co.InputError, match=r"orientation of contact ellipsoid 'ball' must be a rotation"):
        co.problem.ContactEllipsoid("ball", (0, 0, 0), (0.1, 0.1, 0.1), orientation=2 * np.eye(3))
