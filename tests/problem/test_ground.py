"""Ground reactions: the wrench that a motion needs, how it is shared, and that nothing is left for virtual joints."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import Wrench, root_wrench
from colloc.models.human.human55 import VIRTUAL, Human, human55, walking
from colloc.problem import ground

G = 9.81


@pytest.fixture(scope="module")
def human() -> Human:
    return walking(human55())


def state(human: Human, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    n = human.model.n
    return [human.standing + 0.2 * rng.standard_normal(n), rng.standard_normal(n), rng.standard_normal(n)]


def numbers(expressions: list[ca.SX], symbols: list[ca.SX], values: list[np.ndarray]) -> list[np.ndarray]:
    return [np.array(x) for x in ca.Function("numbers", symbols, expressions).call(list(map(ca.DM, values)))]


def symbols(n: int) -> list[ca.SX]:
    return [ca.SX.sym(name, n) for name in ("q", "qd", "qdd")]


def random_wrench(rng: np.random.Generator) -> Wrench:
    force, moment = rng.standard_normal((2, 3))
    return Wrench(ca.SX(force + np.array([0, 5, 0])), ca.SX(moment))


def test_support_is_the_rate_of_momentum_less_gravity(human: Human):
    """Against d/dt of the momentum by differentiation, and weight at the centre of mass."""
    model = human.model
    q, qd, qdd = given = symbols(model.n)
    wrench, found = root_wrench(model, q, qd, qdd), co.dynamics.momentum(model, q, qd)
    com, mass = co.dynamics.center_of_mass(model, q), human.mass
    rates = [ca.jtimes(p, ca.vertcat(q, qd), ca.vertcat(qd, qdd)) for p in found]
    gravity = ca.DM(model.gravity) * mass
    about = {name: rate for name, rate in zip(found._fields, rates, strict=True)}
    linear = about["linear"]
    angular = about["angular"]
    expected = [linear - gravity, angular - ca.cross(com, gravity)]
    values = numbers([*wrench, *expected], given, state(human))
    np.testing.assert_allclose(values[0], values[2], atol=1e-9 * mass * G)
    np.testing.assert_allclose(values[1], values[3], atol=1e-9 * mass * G)


def test_standing_needs_the_weight_under_the_centre_of_mass(human: Human):
    zero = np.zeros(human.model.n)
    given = symbols(human.model.n)
    wrench = root_wrench(human.model, given[0], given[1], given[2])
    contact = ground.zero_moment_point(wrench)
    com = co.dynamics.center_of_mass(human.model, given[0])
    force, x, z, free, place = numbers([wrench.force, *contact, com], given, [human.standing, zero, zero])
    np.testing.assert_allclose(force.ravel(), [0, human.mass * G, 0], atol=1e-9)
    assert (x.item(), z.item()) == pytest.approx((place[0].item(), place[2].item()), abs=1e-12)
    assert free.item() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_about_the_zero_moment_point_only_the_free_moment_is_left(seed: int):
    wrench = random_wrench(np.random.default_rng(seed))
    contact = ground.zero_moment_point(wrench)
    left = np.array(ca.DM(wrench.about(ca.vertcat(contact.x, 0, contact.z)))).ravel()
    np.testing.assert_allclose(left, [0, float(contact.free), 0], atol=1e-13)


@pytest.mark.parametrize("seed", range(5))
def test_shares_by_distance_add_up(seed: int):
    rng = np.random.default_rng(seed)
    wrench = random_wrench(rng)
    points = [ca.SX([0.1, 0, -0.3]), ca.SX([-0.1, 0, 0.3])]
    shares = ground.by_distance(wrench, points)
    for k in range(2):
        total = shares[0][k] + shares[1][k]
        np.testing.assert_allclose(np.array(ca.DM(total)), np.array(ca.DM(wrench[k])), atol=1e-13)


def test_the_foot_at_the_zero_moment_point_carries_all():
    points = [ca.SX([0.1, 0, -0.3]), ca.SX([-0.1, 0, 0.3])]
    for k in range(2):
        force = ca.SX([1.0, 700.0, -2.0])
        wrench = Wrench(force, ca.cross(points[k], force))
        shares = ground.by_distance(wrench, points)
        assert float(shares[k].force[1]) == pytest.approx(700)
        assert float(shares[1 - k].force[1]) == pytest.approx(0, abs=1e-9)


def test_a_partition_of_unity_adds_up_where_its_rows_vanish():
    points = [ca.SX([-0.05, 0, 0.0]), ca.SX([-0.05, 0, 0.2]), ca.SX([0.05, 0, -0.3]), ca.SX([0.05, 0, -0.4])]
    shares = np.array([0.2, 0.4, 0.3, 0.1])
    place = sum(share * np.array(ca.DM(point)).ravel() for share, point in zip(shares, points, strict=True))
    force, free = np.array([10.0, 700.0, -50.0]), 4.0
    wrench = Wrench(ca.SX(force), ca.SX(np.cross(place, force) + np.array([0, free, 0])))
    np.testing.assert_allclose(np.array(ca.DM(ground.partition_rows(wrench, points, ca.SX(shares)))), 0, atol=1e-14)
    parts = ground.by_partition(wrench, points, ca.SX(shares))
    for k in range(2):
        total = np.array(ca.DM(sum((part[k] for part in parts), ca.SX(3, 1)))).ravel()
        np.testing.assert_allclose(total, np.array(ca.DM(wrench[k])).ravel(), atol=1e-12)
    moved = np.array(ca.DM(ground.partition_rows(wrench, points, ca.SX(shares[::-1].copy()))))
    assert np.abs(moved).max() > 1e-2


@pytest.mark.parametrize(
    ("x", "z", "inside"),
    [(0.0, 0.1, True), (0.049, 0.199, True), (0.06, 0.1, False), (0.0, -0.01, False), (-0.06, 0.1, False)],
)
def test_pressure_rows_tell_inside_from_outside(x: float, z: float, inside: bool):
    corners = [(-0.05, 0.0), (-0.05, 0.2), (0.05, 0.2), (0.05, 0.0)]
    force = ca.SX([30.0, 700.0, -80.0])
    wrench = Wrench(force, ca.cross(ca.SX([x, 0, z]), force) + ca.SX([0, 7.0, 0]))
    rows = np.array(ca.DM(ground.pressure_rows(wrench, corners))).ravel()
    assert (rows.min() >= 0) == inside
    # Each row is the vertical force times the distance from a side.
    distances = [x + 0.05, 0.2 - z, 0.05 - x, z]
    np.testing.assert_allclose(rows, 700 * np.array(distances), atol=1e-12)


def test_friction_rows_are_inside_the_cone():
    rng = np.random.default_rng(0)
    for _ in range(50):
        force = rng.uniform(-1, 1, 3) * [1, 1, 1]
        rows = np.array(ca.DM(ground.friction_rows(Wrench(ca.SX(force), ca.SX(3, 1)), 0.6)))
        if rows.min() >= 0:
            assert np.hypot(force[0], force[2]) <= 0.6 * force[1] + 1e-12
    straight = np.array(ca.DM(ground.friction_rows(Wrench(ca.SX([0.3, 1.0, 0.3]), ca.SX(3, 1)), 0.6)))
    assert straight.min() > 0


@pytest.mark.parametrize("seed", range(3))
def test_virtual_torques_vanish_whatever_the_shares(human: Human, seed: int):
    """By construction, also their derivatives, and with the wrong sign of a share they do not."""
    feet, n = human.feet, human.model.n

    def right(now: co.problem.Instant) -> Wrench:
        return Wrench(ca.SX([20.0, 300.0, -50.0]), ca.SX([1.0, 2.0, 3.0])) + now.support.scaled(0.3)

    def left(now: co.problem.Instant) -> Wrench:
        return now.support - right(now)

    bodies = feet["r"].ball.body, feet["l"].toe.body
    loads = [ground.applied(bodies[0], (0, 0, 0), right), ground.applied(bodies[1], (0, 0.1, 0), left)]
    virtual = [human.model.joint_names.index(name) for name in VIRTUAL]
    evaluator = co.Evaluator(human.model, loads=loads)
    found = evaluator.sensitivities(*state(human, seed))
    weight = human.mass * G
    assert np.abs(found.tau[virtual]).max() < 1e-9 * weight
    assert np.abs(found.tau).max() > 0.01 * weight
    for slopes in (found.dq, found.dqd, found.dqdd):
        assert np.abs(slopes[virtual]).max() < 1e-9 * weight * n
    other = co.Evaluator(human.model, loads=[loads[0], ground.applied(bodies[1], (0, 0, 0), right)])
    assert np.abs(other.torque(*state(human, seed))[virtual]).max() > 0.1 * weight


def test_derivatives_with_a_load_that_follows_from_accelerations(human: Human):
    """The recursion with such loads against automatic differentiation of the torque."""
    load = ground.applied(human.feet["r"].ball.body, (0, 0, 0), lambda now: now.support.scaled(0.7))
    found = co.Evaluator(human.model, loads=[load]).sensitivities(*state(human))
    other = co.Evaluator(
        human.model, loads=[load], sensitivities=co.dynamics.by_differentiation(co.dynamics.newton_euler)
    )
    for mine, expected in zip(found, other.sensitivities(*state(human)), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-9 * np.abs(expected).max())


def test_forward_dynamics_refuses_such_a_load(human: Human):
    load = ground.applied(human.feet["r"].ball.body, (0, 0, 0), lambda now: now.support)
    evaluator = co.Evaluator(human.model, loads=[load])
    with pytest.raises(co.InputError, match=r"no forward dynamics: the load on 'ankle_inversion_r' depends on acc"):
        evaluator.forward_dynamics(*state(human))
