"""Motion of frames and points against explicit products, derivatives along a path, SciPy and Pinocchio."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.model.kinematics import frames, point_in, point_motion
from colloc.model.transforms import inverse
from colloc.models.two_link import LENGTH, two_link
from tests.support.random_trees import (
    State,
    coordinates,
    evaluate,
    numbers,
    pin,
    pinocchio_tree,
    random_state,
    random_tree,
)

SEEDS = range(300, 306)


def motion_of_a_point(seed: int) -> tuple[co.Model, State, str, np.ndarray]:
    """A random tree in a random state, and a random point of one of its links."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    return model, random_state(rng, model), model.bodies[int(rng.integers(len(model.bodies)))].name, rng.normal(size=3)


@pytest.mark.parametrize("seed", SEEDS)
def test_point_motion_agrees_with_pinocchio(seed):
    model, state, body, point = motion_of_a_point(seed)
    tree, k = pinocchio_tree(model), model.index(body)
    place = tree.offsets[k] * pin.SE3(np.eye(3), point)
    frame = tree.model.addFrame(pin.Frame("point", tree.joints[k], 0, place, pin.FrameType.OP_FRAME))
    data = tree.model.createData()
    pin.forwardKinematics(tree.model, data, *map(tree.into, state))
    pin.updateFramePlacements(tree.model, data)
    axes = pin.LOCAL_WORLD_ALIGNED
    expected = (
        data.oMf[frame].translation,
        pin.getFrameVelocity(tree.model, data, frame, axes).linear,
        pin.getFrameClassicalAcceleration(tree.model, data, frame, axes).linear,
    )
    q, qd, qdd = coordinates(model)
    result = evaluate(point_motion(model, body, point, q=q, qd=qd, qdd=qdd), (q, qd, qdd), state)
    for value, reference in zip(result, expected, strict=True):
        assert value == pytest.approx(reference, rel=1e-11, abs=1e-11)


@pytest.mark.parametrize("seed", SEEDS)
def test_frame_rates_are_the_time_derivatives_along_a_path(seed):
    """On q(t) = q + qd t + qdd t^2 / 2, at t = 0, by automatic differentiation of the positions."""
    model, state, _, _ = motion_of_a_point(seed)
    t = ca.SX.sym("t")
    rest = ca.SX(model.n, 1)
    q, qd, qdd = map(ca.SX, state)
    along = ca.horzcat(*[ca.vec(p) for p in frames(model, q + qd * t + qdd * t**2 / 2, rest, rest).position])
    velocity = ca.jtimes(along, t, ca.SX(1))
    acceleration = ca.jtimes(velocity, t, ca.SX(1))
    recursion = frames(model, q, qd, qdd)
    for derivative, transforms in ((velocity, recursion.velocity), (acceleration, recursion.acceleration)):
        expected = evaluate([derivative], [t], [0.0])[0].ravel()
        result = np.array(ca.DM(ca.horzcat(*[ca.vec(m) for m in transforms]))).ravel()
        assert result == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_point_rates_are_the_finite_differences_along_a_path(seed):
    """Sixth-order central differences of positions only: no derivative formula and no differentiation tool."""
    model, (q, qd, qdd), body, point = motion_of_a_point(seed)
    symbols = coordinates(model)
    place = ca.Function("place", [symbols[0]], [point_motion(model, body, point, q=symbols[0]).position])
    h = 2e-3
    p = [np.array(place(q + qd * t + qdd * t**2 / 2)).ravel() for t in h * np.arange(-3, 4)]
    velocity = (45 * (p[4] - p[2]) - 9 * (p[5] - p[1]) + (p[6] - p[0])) / (60 * h)
    acceleration = (270 * (p[4] + p[2]) - 27 * (p[5] + p[1]) + 2 * (p[6] + p[0]) - 490 * p[3]) / (180 * h**2)
    result = point_motion(model, body, point, q=symbols[0], qd=symbols[1], qdd=symbols[2])
    _, v, a = evaluate(result, symbols, (q, qd, qdd))
    assert v == pytest.approx(velocity, rel=1e-6, abs=1e-6)
    assert a == pytest.approx(acceleration, rel=1e-6, abs=1e-6)


def test_tip_of_the_two_link_arm_is_where_trigonometry_puts_it():
    q, w, acc = np.array([0.4, -1.1]), np.array([1.5, 0.7]), np.array([-2.0, 3.0])
    model = two_link()
    symbols = coordinates(model)
    result = point_motion(model, "elbow", q=symbols[0], qd=symbols[1], qdd=symbols[2])
    angle, rate, change = np.cumsum(q), np.cumsum(w), np.cumsum(acc)
    outward = LENGTH * np.array([np.cos(angle), np.sin(angle)])
    across = LENGTH * np.array([-np.sin(angle), np.cos(angle)])
    position, velocity, acceleration = evaluate(result, symbols, (q, w, acc))
    assert position == pytest.approx([*outward.sum(axis=1), 0], rel=1e-14)
    assert velocity == pytest.approx([*(across @ rate), 0], rel=1e-14)
    assert acceleration == pytest.approx([*(across @ change - outward @ rate**2), 0], rel=1e-13)


def test_rates_left_out_of_point_motion_are_zero():
    model = two_link()
    q, qd, qdd = coordinates(model)
    at_rest = point_motion(model, "elbow", q=q)
    state = (np.array([0.4, -1.1]), np.zeros(2), np.zeros(2))
    assert not np.any(evaluate([at_rest.velocity, at_rest.acceleration], (q, qd, qdd), state))
    moving = point_motion(model, "elbow", q=q, qd=qd).acceleration
    spinning = point_motion(model, "elbow", q=q, qd=qd, qdd=ca.SX(2, 1)).acceleration
    one, two = evaluate([moving, spinning], (q, qd, qdd), (state[0], [1.0, 2.0], [5.0, 5.0]))
    assert one == pytest.approx(two, abs=0)
    assert np.abs(one).max() > 1


def test_a_point_may_be_symbolic():
    model = two_link()
    q, qd, qdd = coordinates(model)
    point = ca.SX.sym("r", 3)
    moving = frames(model, q, qd, qdd)
    state = (np.array([0.2, 0.3]), np.array([1.0, -1.0]), np.array([0.5, 2.0]))
    symbolic = evaluate(point_in(moving, 1, point), (q, qd, qdd, point), (*state, [0.1, 0.2, 0.3]))
    numeric = evaluate(point_in(moving, 1, (0.1, 0.2, 0.3)), (q, qd, qdd), state)
    assert np.array(symbolic) == pytest.approx(np.array(numeric), rel=1e-14)


def test_point_motion_refuses_an_unknown_body_and_names_the_known():
    with pytest.raises(co.InputError, match=r"no body named 'elbo'; did you mean 'elbow'\? \(known: shoulder, elbow\)"):
        point_motion(two_link(), "elbo", q=ca.SX.sym("q", 2))


def test_point_motion_refuses_a_point_of_another_shape():
    with pytest.raises(co.InputError, match=r"point must be of shape \(3,\), got \(1, 2\)"):
        point_motion(two_link(), "elbow", (1, 2), q=ca.SX.sym("q", 2))


def about(axis: int, angle: float) -> np.ndarray:
    """4x4 rotation about x, y or z, written out."""
    c, s = np.cos(angle), np.sin(angle)
    matrix = np.eye(4)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def along(axis: int, distance: float) -> np.ndarray:
    """4x4 translation along x, y or z."""
    matrix = np.eye(4)
    matrix[axis, 3] = distance
    return matrix


def transform_at(joint: co.model.Joint, q: float) -> np.ndarray:
    """Numeric transform of a joint."""
    symbol = ca.SX.sym("q")
    return evaluate([joint.transform(symbol)], [symbol], [q])[0]


@pytest.mark.parametrize("seed", range(3))
def test_revolute_dh_row_is_its_four_elementary_motions(seed):
    """Standard DH: Rz(q + theta) Tz(d) Tx(a) Rx(alpha)."""
    q, theta, d, a, alpha = np.random.default_rng(seed).uniform(-3, 3, 5)
    expected = about(2, q + theta) @ along(2, d) @ along(0, a) @ about(0, alpha)
    assert transform_at(co.dh_revolute(theta, d, a, alpha), q) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_prismatic_dh_row_is_its_four_elementary_motions(seed):
    """Standard DH: Rz(theta) Tz(q + d) Tx(a) Rx(alpha)."""
    q, theta, d, a, alpha = np.random.default_rng(seed).uniform(-3, 3, 5)
    expected = about(2, theta) @ along(2, q + d) @ along(0, a) @ about(0, alpha)
    assert transform_at(co.dh_prismatic(theta, d, a, alpha), q) == pytest.approx(expected, abs=1e-14)


def test_a_dh_row_may_be_symbolic():
    q, theta, d, a, alpha = symbols = [ca.SX.sym(name) for name in ("q", "theta", "d", "a", "alpha")]
    result = evaluate([co.dh_revolute(theta, d, a, alpha).transform(q)], symbols, [0.3, -0.7, 0.2, 0.5, 1.1])[0]
    assert result == pytest.approx(transform_at(co.dh_revolute(-0.7, 0.2, 0.5, 1.1), 0.3), abs=1e-15)


@pytest.mark.parametrize("seed", range(2))
def test_revolute_joint_turns_about_its_normalised_axis_in_the_placed_frame(seed):
    rng = np.random.default_rng(seed)
    axis, q = rng.normal(size=3), 0.8
    place = numbers(co.placement(rng.normal(size=3), rng.normal(size=3)))
    expected = np.eye(4)
    expected[:3, :3] = Rotation.from_rotvec(q * axis / np.linalg.norm(axis)).as_matrix()
    assert transform_at(co.revolute(axis.tolist(), place), q) == pytest.approx(place @ expected, abs=1e-14)


@pytest.mark.parametrize("seed", range(2))
def test_prismatic_joint_slides_along_its_normalised_axis_in_the_placed_frame(seed):
    rng = np.random.default_rng(seed)
    axis, q = rng.normal(size=3), 0.8
    place = numbers(co.placement(rng.normal(size=3), rng.normal(size=3)))
    expected = np.eye(4)
    expected[:3, 3] = q * axis / np.linalg.norm(axis)
    assert transform_at(co.prismatic(axis.tolist(), place), q) == pytest.approx(place @ expected, abs=1e-14)


def test_fixed_joint_stays_at_its_placement():
    place = co.placement((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))
    assert transform_at(co.fixed(place), 1.7) == pytest.approx(numbers(place), abs=0)


@pytest.mark.parametrize("seed", SEEDS)
def test_constant_twists_differentiate_the_transforms(seed):
    """dT/dq = T Xi = Z T and d2T/dq2 = T Xi Xi, against automatic differentiation."""
    q = ca.SX.sym("q")
    for body in random_tree(np.random.default_rng(seed)).bodies:
        joint = body.joint
        t = joint.transform(q)
        first = ca.reshape(ca.jacobian(ca.vec(t), q), 4, 4)
        second = ca.reshape(ca.jacobian(ca.vec(first), q), 4, 4)
        # The same screw in the parent's frame.
        z = t @ joint.twist @ inverse(t)
        wanted = (first, first, second, ca.jacobian(ca.vec(z), q))
        claimed = (t @ joint.twist, z @ t, t @ joint.twist @ joint.twist, ca.SX(16, 1))
        for expected, result in zip(wanted, claimed, strict=True):
            assert difference(result, expected, q) < 1e-14
        assert (difference(joint.twist, ca.SX(4, 4), q) > 0) == joint.moves


def difference(one: ca.SX, two: ca.SX, symbol: ca.SX) -> float:
    """Largest difference of two expressions at a few values of their symbol."""
    function = ca.Function("difference", [symbol], [ca.norm_inf(ca.vec(one - two))])
    return max(float(ca.DM(function(value))) for value in (-2.1, 0.0, 0.7))


@pytest.mark.parametrize("seed", range(3))
def test_placement_follows_the_roll_pitch_yaw_of_scipy(seed):
    """URDF: roll, pitch, yaw about the fixed axes x, y, z in this order, which is Rz(yaw) Ry(pitch) Rx(roll)."""
    rng = np.random.default_rng(seed)
    translation, rpy = rng.normal(size=3), rng.uniform(-3, 3, 3)
    result = numbers(co.placement(translation, rpy))
    assert result[:3, :3] == pytest.approx(Rotation.from_euler("xyz", rpy).as_matrix(), abs=1e-14)
    assert result[:3, 3] == pytest.approx(translation, abs=0)
    assert result[3].tolist() == [0, 0, 0, 1]


def test_placement_may_be_symbolic():
    x, r = ca.SX.sym("x", 3), ca.SX.sym("r", 3)
    values: Any = ([0.1, 0.2, 0.3], [0.4, -0.5, 0.6])
    assert evaluate([co.placement(x, r)], [x, r], values)[0] == pytest.approx(numbers(co.placement(*values)), abs=1e-15)


@pytest.mark.parametrize("quarter", [-2, -1, 0, 1, 2, 3, 4])
def test_right_angles_are_exact(quarter):
    """Cosine and sine of multiples of pi/2 are integers, so that zeros of the model stay zeros of its graphs."""
    alpha = numbers(co.dh_revolute(alpha=quarter * np.pi / 2).after)
    roll = numbers(co.placement(rpy=(quarter * np.pi / 2, 0, 0)))
    assert np.array_equal(alpha, np.round(alpha))
    assert np.array_equal(roll, alpha)


def test_joints_without_offsets_start_at_the_identity():
    for joint in (co.revolute(), co.prismatic(), co.fixed(), co.dh_revolute(), co.dh_prismatic()):
        assert np.array_equal(transform_at(joint, 0.0), np.eye(4))
