"""Inverse dynamics against each other, closed forms, two other libraries, and the laws of mechanics."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import equations_of_motion, joint_reactions, lagrange, lie, newton_euler
from colloc.model.kinematics import frames, point_motion
from tests.support.random_trees import (
    State,
    children,
    coordinates,
    evaluate,
    numbers,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_loads,
    random_state,
    random_tree,
    relative_error,
    torque,
    tree_case,
)

mj: Any = mujoco

every_formulation = pytest.mark.parametrize("formulation", [lagrange, newton_euler, lie])


@every_formulation
def test_loads_superpose(formulation):
    """Two loads together act as the sum of what each does alone, several on one link included."""
    model, _, state = tree_case(12)
    body = model.bodies[-1].name
    first, second = (
        co.Load(body, (1, 2, 3), (4, 5, 6), (0.1, 0.2, 0.3)),
        co.Load(body, (-3, 1, 0), (0, 2, 2), (1, 0, 0)),
    )
    none, one, two, both = (torque(formulation, model, state, w) for w in ([], [first], [second], [first, second]))
    assert np.abs(one - none).max() > 1
    assert relative_error(both - none, (one - none) + (two - none)) < 1e-12


@every_formulation
def test_load_torque_is_minus_the_jacobian_transposed_times_the_wrench(formulation):
    """The force does work at its point and the moment on the turning of the link, both by automatic derivatives."""
    rng = np.random.default_rng(7)
    model = random_tree(rng, 9)
    state = random_state(rng, model)
    load = random_loads(rng, model, count=1)[0]
    q, qd, qdd = coordinates(model)
    velocity = point_motion(model, load.body, load.point, q=q, qd=qd).velocity
    rotation = frames(model, q, qd, qdd).position[model.index(load.body)][:3, :3]
    power = ca.dot(load.force, velocity) + ca.dot(load.moment, angular_velocity(rotation, q, qd))
    expected = -evaluate([ca.gradient(power, qd)], (q, qd, qdd), state)[0]
    assert np.abs(expected).max() > 1
    effect = torque(formulation, model, state, [load]) - torque(formulation, model, state)
    assert relative_error(effect, expected) < 1e-11


def angular_velocity(rotation: ca.SX, variable: ca.SX, rate: Any = 1) -> ca.SX:
    """Angular velocity in world axes from R' = [omega]x R, the rate of R by automatic differentiation."""
    spin = ca.reshape(ca.jtimes(ca.vec(rotation), variable, ca.SX(rate)), 3, 3) @ rotation.T
    return ca.inv_skew(spin)


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_joint_reactions_agree_with_pinocchio(seed):
    """The wrench of every joint, fixed ones included (locked hinges in Pinocchio).

    Pinocchio gives it in the moving frame of the joint. A slide carries that frame along by its linear part times q;
    colloc takes the moment about the origin that stays on the parent.
    """
    model, loads, state = tree_case(seed)
    tree = pinocchio_tree(model, lock_fixed=True)
    _, data = pinocchio_inverse_dynamics(tree, model, state, loads)
    force, moment = np.empty((2, 3, len(model.bodies)))
    for k, body in enumerate(model.bodies):
        wrench, to_link = data.f[tree.joints[k]], numbers(body.joint.after)[:3, :3].T
        slid = body.joint.screw.linear * state.q[model.dofs[k] or 0]  # zero for a fixed joint
        force[:, k] = to_link @ wrench.linear
        moment[:, k] = to_link @ (wrench.angular + np.cross(slid, wrench.linear))
    symbols = coordinates(model)
    reactions = evaluate(joint_reactions(model, *symbols, loads)[1:], symbols, state)
    assert relative_error(reactions[0].reshape(3, -1), force) < 1e-10
    assert relative_error(reactions[1].reshape(3, -1), moment) < 1e-10


class Motion(NamedTuple):
    """A model along a smooth path: what moves, as expressions of time."""

    time: ca.SX
    q: ca.SX
    qd: ca.SX
    qdd: ca.SX
    transforms: list[ca.SX]


def smooth_motion(rng: np.random.Generator, model: co.Model) -> Motion:
    """q = offset + amplitude sin(frequency t + phase) for every joint, its rates by automatic differentiation."""
    t = ca.SX.sym("t")
    offset, amplitude, frequency, phase = (ca.SX(rng.uniform(0.5, 2.0, model.n)) for _ in range(4))
    q = offset + amplitude * ca.sin(frequency * t + phase)
    qd = ca.jacobian(q, t)
    qdd = ca.jacobian(qd, t)
    rest = ca.SX(model.n, 1)
    return Motion(t, q, qd, qdd, frames(model, q, rest, rest).position)


def _com(body: co.Body, transform: ca.SX) -> ca.SX:
    return (transform @ ca.vertcat(body.com, 1))[:3]


@every_formulation
@pytest.mark.parametrize("seed", range(100, 104))
def test_power_of_torques_and_loads_is_the_rate_of_the_energy(formulation, seed):
    """tau . qd + power of the loads = d/dt (kinetic + potential energy), along a smooth motion.

    Energies come from the positions of the links alone: rates of centres of mass and of rotation matrices by
    automatic differentiation in time.
    """
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    loads = random_loads(rng, model)
    motion = smooth_motion(rng, model)
    energy = ca.SX(0)
    for body, transform in zip(model.bodies, motion.transforms, strict=True):
        com, rotation = _com(body, transform), transform[:3, :3]
        velocity = ca.jacobian(com, motion.time)
        omega = rotation.T @ angular_velocity(rotation, motion.time)
        energy += (body.mass * ca.sumsqr(velocity) + ca.dot(omega, body.inertia @ omega)) / 2
        energy -= body.mass * ca.dot(ca.SX(model.gravity), com)
    power = ca.dot(formulation(model, motion.q, motion.qd, motion.qdd, loads), motion.qd)
    for load in loads:
        transform = motion.transforms[model.index(load.body)]
        point = (transform @ ca.vertcat(load.point, 1))[:3]
        power += ca.dot(load.force, ca.jacobian(point, motion.time))
        power += ca.dot(load.moment, angular_velocity(transform[:3, :3], motion.time))
    rate = ca.jacobian(energy, motion.time)
    delivered, stored = evaluate([power, rate], [motion.time], [rng.uniform(0, 3)])
    assert relative_error(delivered, stored) < 1e-10


@pytest.mark.parametrize("seed", range(200, 204))
def test_reactions_of_the_roots_are_the_rate_of_momentum_less_gravity_and_loads(seed):
    """Newton and Euler for the whole tree, about the world's origin."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    loads = random_loads(rng, model)
    motion = smooth_motion(rng, model)
    linear, angular, outside, turning = (ca.SX(3, 1) for _ in range(4))
    for body, transform in zip(model.bodies, motion.transforms, strict=True):
        com, rotation = _com(body, transform), transform[:3, :3]
        momentum = body.mass * ca.jacobian(com, motion.time)
        omega = angular_velocity(rotation, motion.time)
        weight = body.mass * ca.SX(model.gravity)
        linear += momentum
        angular += ca.cross(com, momentum) + rotation @ body.inertia @ rotation.T @ omega
        outside += weight
        turning += ca.cross(com, weight)
    for load in loads:
        point = (motion.transforms[model.index(load.body)] @ ca.vertcat(load.point, 1))[:3]
        outside += load.force
        turning += load.moment + ca.cross(point, load.force)
    needed_force = ca.jacobian(linear, motion.time) - outside
    needed_moment = ca.jacobian(angular, motion.time) - turning
    reactions = joint_reactions(model, motion.q, motion.qd, motion.qdd, loads)
    force, moment = ca.SX(3, 1), ca.SX(3, 1)
    for root in children(model, -1):
        rotation = motion.transforms[root][:3, :3]
        from_parent = rotation @ reactions.force[:, root]
        force += from_parent
        origin = model.bodies[root].joint.before[:3, 3]
        moment += rotation @ reactions.moment[:, root] + ca.cross(origin, from_parent)
    results = evaluate(
        [ca.vertcat(force, moment), ca.vertcat(needed_force, needed_moment)], [motion.time], [rng.uniform(0, 3)]
    )
    assert relative_error(*results) < 1e-10


@pytest.mark.parametrize("seed", range(0, 24, 3))
def test_actuation_is_the_reaction_along_the_screw(seed):
    """A motor carries what the joint lets through; the bearing carries the rest."""
    model, loads, state = tree_case(seed)
    symbols = coordinates(model)
    tau, force, moment = evaluate(joint_reactions(model, *symbols, loads), symbols, state)
    for k, body in enumerate(model.bodies):
        dof = model.dofs[k]
        if dof is None:
            continue
        angular, linear = (numbers(body.joint.after)[:3, :3].T @ part for part in body.joint.screw)
        power = angular @ moment.reshape(3, -1)[:, k] + linear @ force.reshape(3, -1)[:, k]
        assert power == pytest.approx(tau[dof], rel=1e-12, abs=1e-12)


def mass_and_bias(model: co.Model, state: State, loads: Any = ()) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias at one state."""
    q, qd, _ = coordinates(model)
    mass, bias = evaluate(equations_of_motion(model, q, qd, loads), (q, qd), state[:2])
    return mass.reshape(model.n, model.n), bias


def test_equation_of_motion_of_a_pendulum_is_its_closed_form():
    """A physical pendulum: (I + m l^2) q'' + m g l sin q = tau, q from the hanging position."""
    mass, length, inertia = 1.7, 0.6, 0.08
    bob = co.Body("bob", co.revolute(), mass=mass, com=(0, -length, 0), inertia=inertia * np.eye(3))
    state = State(np.array([0.9]), np.array([2.0]), np.array([0.0]))
    m, bias = mass_and_bias(co.Model([bob]), state)
    assert m == pytest.approx(inertia + mass * length**2, rel=1e-14)
    assert bias == pytest.approx(mass * 9.81 * length * np.sin(0.9), rel=1e-14)
