"""Point Jacobians: against the motion of the point, automatic derivatives, Pinocchio, and virtual work."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import newton_euler
from colloc.dynamics.spatial.jacobians import point_jacobian, point_jacobian_rate
from colloc.model.kinematics import frames, point_motion
from colloc.models.human43 import human43
from colloc.models.two_link import LENGTH, two_link
from tests.support.random_trees import State, coordinates, evaluate, pin, pinocchio_tree, relative_error, tree_case

some_trees = pytest.mark.parametrize("seed", range(1, 24, 3))


class Case(NamedTuple):
    """A point of a random tree in a random state."""

    model: co.Model
    body: str
    point: np.ndarray
    state: State


def case(seed: int) -> Case:
    """A point of tree number `seed`."""
    (model, _, state), rng = tree_case(seed), np.random.default_rng(seed)
    body = model.bodies[int(rng.integers(len(model.bodies)))].name
    return Case(model, body, rng.normal(size=3), state)


def both(model: co.Model, body: str, point: Any, state: State) -> tuple[np.ndarray, np.ndarray]:
    """Linear over angular Jacobian and its rate, each shape (6, n), at one state."""
    q, qd, _ = coordinates(model)
    parts = (point_jacobian(model, body, point, q), point_jacobian_rate(model, body, point, q, qd))
    results = evaluate([ca.vertcat(*part) for part in parts], (q, qd), state[:2])
    return results[0].reshape(6, model.n), results[1].reshape(6, model.n)


@some_trees
def test_jacobian_and_its_rate_agree_with_pinocchio(seed):
    model, body, point, state = case(seed)
    tree, k = pinocchio_tree(model), model.index(body)
    frame = tree.model.addFrame(
        pin.Frame("point", tree.joints[k], tree.offsets[k] * pin.SE3(np.eye(3), point), pin.FrameType.OP_FRAME)
    )
    data = tree.model.createData()
    at, rates = tree.into(state.q), tree.into(state.qd)
    pin.computeJointJacobiansTimeVariation(tree.model, data, at, rates)
    pin.updateFramePlacements(tree.model, data)
    axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
    value, rate = both(model, body, point, state)
    expected = pin.getFrameJacobian(tree.model, data, frame, axes).reshape(6, model.n)
    assert relative_error(value[:, tree.dofs], expected) < 1e-13
    expected = pin.getFrameJacobianTimeVariation(tree.model, data, frame, axes).reshape(6, model.n)
    assert relative_error(rate[:, tree.dofs], expected) < 1e-12


@some_trees
def test_point_moves_by_its_jacobian(seed):
    """Position by position, velocity and acceleration of the same point by the recursion of the transforms."""
    model, body, point, state = case(seed)
    q, qd, qdd = coordinates(model)
    motion = point_motion(model, body, point, q=q, qd=qd, qdd=qdd)
    jacobian, rate = point_jacobian(model, body, point, q), point_jacobian_rate(model, body, point, q, qd)
    pairs = [
        (jacobian.linear, ca.jacobian(motion.position, q)),
        (jacobian.linear @ qd, motion.velocity),
        (jacobian.linear @ qdd + rate.linear @ qd, motion.acceleration),
    ]
    for found, expected in pairs:
        assert relative_error(*evaluate([found, expected], (q, qd, qdd), state)) < 1e-11


@some_trees
def test_link_turns_by_its_angular_jacobian(seed):
    """dR/dt = [omega]x R, with the time derivative of R by automatic differentiation."""
    model, body, point, state = case(seed)
    q, qd, _ = coordinates(model)
    rest = ca.SX(model.n, 1)
    rotation = frames(model, q, rest, rest).position[model.index(body)][:3, :3]
    expected = ca.reshape(ca.jtimes(ca.vec(rotation), q, qd), 3, 3)
    found = ca.skew(point_jacobian(model, body, point, q).angular @ qd) @ rotation
    assert relative_error(*evaluate([found, expected], (q, qd), state[:2])) < 1e-12


@some_trees
def test_rate_is_the_time_derivative(seed):
    model, body, point, state = case(seed)
    q, qd, _ = coordinates(model)
    value = ca.vertcat(*point_jacobian(model, body, point, q))
    in_time = ca.reshape(ca.jtimes(ca.vec(ca.densify(value)), q, qd), 6, model.n)
    rate = ca.vertcat(*point_jacobian_rate(model, body, point, q, qd))
    assert relative_error(*evaluate([rate, in_time], (q, qd), state[:2])) < 1e-12


@some_trees
def test_a_load_works_through_the_jacobian(seed):
    """tau changes by -J' w under a wrench w."""
    model, body, point, state = case(seed)
    symbols = coordinates(model)
    force, moment = np.array([3.0, -2.0, 5.0]), np.array([1.0, 4.0, -2.0])
    change = newton_euler(model, *symbols, [co.Load(body, force, moment, point)]) - newton_euler(model, *symbols)
    linear, angular = point_jacobian(model, body, point, symbols[0])
    results = evaluate([change, -(linear.T @ ca.SX(force) + angular.T @ ca.SX(moment))], symbols, state)
    assert relative_error(*results) < 1e-11


def test_jacobian_of_the_two_link_arm_is_its_closed_form():
    """The tip of two equal links: x = L (c1 + c12), y = L (s1 + s12)."""
    model = two_link(9.81)
    q, qd = np.array([0.4, 0.9]), np.array([1.5, -0.7])
    value, rate = both(model, "elbow", (0, 0, 0), State(q, qd, qd))
    s1, c1, s12, c12 = np.sin(q[0]), np.cos(q[0]), np.sin(q.sum()), np.cos(q.sum())
    w = qd.sum()
    assert value[:2] == pytest.approx(LENGTH * np.array([[-s1 - s12, -s12], [c1 + c12, c12]]))
    assert rate[:2] == pytest.approx(
        LENGTH * np.array([[-c1 * qd[0] - c12 * w, -c12 * w], [-s1 * qd[0] - s12 * w, -s12 * w]])
    )
    assert value[3:] == pytest.approx(np.array([[0, 0], [0, 0], [1, 1]]))


def test_only_joints_that_carry_the_body_have_a_column():
    """The right foot of the human: pelvis and right leg, and no rotation by the slides."""
    model = human43()
    q, qd, _ = coordinates(model)
    foot = model.joint_names[12]
    linear, angular = point_jacobian(model, foot, (0, 0, 0), q)
    assert set(linear.sparsity().get_triplet()[1]) == set(range(13))
    assert set(angular.sparsity().get_triplet()[1]) == set(range(3, 13))
    assert linear[:, :3].nnz() == 3  # unit vectors
    assert set(point_jacobian_rate(model, foot, (0, 0, 0), q, qd).linear.sparsity().get_triplet()[1]) == set(
        range(3, 13)
    )


def test_unknown_body_and_misshapen_point_are_refused():
    model = two_link()
    q = ca.SX.sym("q", 2)
    with pytest.raises(co.InputError, match=r"no body named 'hand' \(known: shoulder, elbow\)"):
        point_jacobian(model, "hand", (0, 0, 0), q)
    with pytest.raises(co.InputError, match="point must be of shape"):
        point_jacobian(model, "elbow", (0, 0), q)
