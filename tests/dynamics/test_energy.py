"""Energies, momentum and centre of mass: against the equations of motion, each other, and Pinocchio."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import newton_euler
from colloc.dynamics.energy import center_of_mass, kinetic_energy, momentum, potential_energy, total_mass
from colloc.dynamics.spatial.articulated import forward_dynamics
from colloc.dynamics.spatial.composite import mass_matrix
from colloc.model.kinematics import point_motion
from colloc.models.human43 import human43
from tests.support.random_trees import (
    coordinates,
    evaluate,
    pin,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
    relative_error,
    tree_case,
)

some_trees = pytest.mark.parametrize("seed", range(1, 23, 3))


# Pinocchio leaves out the masses that are welded to the world, of which these trees have none.
@pytest.mark.parametrize("seed", [0, 2, 4, 7, 9, 11, 16, 20])
def test_everything_agrees_with_pinocchio(seed):
    model, _, state = tree_case(seed, virtual=False)
    tree = pinocchio_tree(model)
    assert 0 not in tree.joints
    data = tree.model.createData()
    at, rates = tree.into(state.q), tree.into(state.qd)
    com = pin.centerOfMass(tree.model, data, at, rates).copy()
    hg = pin.computeCentroidalMomentum(tree.model, data, at, rates)
    q, qd, _ = coordinates(model)
    found = evaluate(
        [
            kinetic_energy(model, q, qd),
            potential_energy(model, q),
            center_of_mass(model, q),
            total_mass(model),
            *momentum(model, q, qd),
        ],
        (q, qd),
        state[:2],
    )
    kinetic, potential, position, mass, linear, angular, centroidal = found
    assert kinetic == pytest.approx(pin.computeKineticEnergy(tree.model, data, at, rates), rel=1e-12)
    assert potential == pytest.approx(pin.computePotentialEnergy(tree.model, data, at), rel=1e-12, abs=1e-12)
    assert mass == pytest.approx(pin.computeTotalMass(tree.model), rel=1e-14)
    assert relative_error(position, com) < 1e-13
    assert relative_error(linear, hg.linear) < 1e-12
    assert relative_error(centroidal, hg.angular) < 1e-12
    assert relative_error(angular, hg.angular + np.cross(com, hg.linear)) < 1e-12


@some_trees
def test_kinetic_energy_is_half_the_form_of_the_mass_matrix(seed):
    model, _, state = tree_case(seed)
    q, qd, _ = coordinates(model)
    form = ca.dot(qd, mass_matrix(model, q) @ qd) / 2
    energy, expected = evaluate([kinetic_energy(model, q, qd), form], (q, qd), state[:2])
    assert energy == pytest.approx(expected, rel=1e-12, abs=1e-12)


@some_trees
def test_torque_of_gravity_is_the_gradient_of_the_potential(seed):
    model, _, state = tree_case(seed)
    q, _, _ = coordinates(model)
    rest = ca.SX(model.n, 1)
    results = evaluate([newton_euler(model, q, rest, rest), ca.gradient(potential_energy(model, q), q)], [q], [state.q])
    assert relative_error(*results) < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_torques_and_loads_deliver_what_the_energy_gains(seed):
    """dE/dt = tau . qd + power of the loads, with the accelerations that the forward dynamics gives."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 6, virtual=False)
    state = random_state(rng, model)
    loads = [co.Load(load.body, load.force, point=load.point) for load in random_loads(rng, model)]
    q, qd, tau = coordinates(model)
    energy = kinetic_energy(model, q, qd) + potential_energy(model, q)
    gain = ca.jtimes(energy, ca.vertcat(q, qd), ca.vertcat(qd, forward_dynamics(model, q, qd, tau, loads)))
    power = ca.dot(tau, qd)
    for load in loads:
        power += ca.dot(load.force, point_motion(model, load.body, load.point, q=q, qd=qd).velocity)
    assert relative_error(*evaluate([gain, power], (q, qd, tau), state)) < 1e-10


@some_trees
def test_linear_momentum_is_the_mass_times_the_velocity_of_the_centre_of_mass(seed):
    model, _, state = tree_case(seed, virtual=False)
    q, qd, _ = coordinates(model)
    velocity = ca.jtimes(center_of_mass(model, q), q, qd)
    assert (
        relative_error(*evaluate([momentum(model, q, qd).linear, total_mass(model) * velocity], (q, qd), state[:2]))
        < 1e-12
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_free_body_keeps_its_momentum(seed):
    """Six joints to the world without torque, and limbs that are driven: only gravity changes the momentum."""
    rng = np.random.default_rng(seed)
    limbs = random_tree(rng, 4, virtual=False)
    slides = [co.prismatic(axis) for axis in np.eye(3).tolist()]
    hinges = [co.dh_revolute(alpha=np.pi / 2), co.dh_revolute(alpha=-np.pi / 2), co.dh_revolute()]
    base = [co.Body(f"free{k}", joint, f"free{k - 1}" if k else None) for k, joint in enumerate([*slides, *hinges])]
    base[-1] = co.Body("free5", hinges[-1], "free4", **random_inertia(rng))
    limbs = [co.Body(b.name, b.joint, b.parent or "free5", b.mass, b.com, b.inertia) for b in limbs.bodies]
    model = co.Model([*base, *limbs], gravity=(1.0, -9.0, 3.0))
    q, qd, tau = coordinates(model)
    tau = ca.vertcat(ca.SX(6, 1), tau[6:])
    held, state = momentum(model, q, qd), random_state(rng, model)
    motion = ca.vertcat(q, qd), ca.vertcat(qd, forward_dynamics(model, q, qd, tau))
    rates = [ca.jtimes(part, *motion) for part in held]
    weight = total_mass(model) * ca.SX(model.gravity)
    expected = [weight, ca.cross(center_of_mass(model, q), weight), ca.SX(3, 1)]
    symbols = (q, qd, *ca.symvar(tau))
    values = (*state[:2], *state.qdd[6:])
    results = evaluate([ca.vertcat(*rates), ca.vertcat(*expected)], symbols, values)
    assert relative_error(*results) < 1e-9


def test_the_human_weighs_what_its_table_says_and_stands_symmetric():
    model = human43()
    q = ca.SX.sym("q", model.n)
    mass, position = evaluate([total_mass(model), center_of_mass(model, q)], [q], [np.zeros(model.n)])
    assert mass == pytest.approx(77.5)
    assert position[0] == pytest.approx(0, abs=1e-12)


def test_a_model_without_mass_has_no_centre():
    model = co.Model([co.Body("ghost", co.revolute())], name="phantom")
    q, qd, _ = coordinates(model)
    for ask in (lambda: center_of_mass(model, q), lambda: momentum(model, q, qd)):
        with pytest.raises(co.InputError, match="model 'phantom' has no mass"):
            ask()
    assert evaluate([kinetic_energy(model, q, qd), potential_energy(model, q)], (q, qd), ([1.0], [2.0])) == [0, 0]
