"""The hopper against its source's Lagrangian in other coordinates, against Pinocchio, and in the air."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.hopper import LENGTH, STIFFNESS, hopper
from tests.support.random_trees import (
    State,
    coordinates,
    evaluate,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_state,
)

SEEDS = range(5)


def torque(model: co.Model, state: State) -> np.ndarray:
    """Forces of the actuators, including springs."""
    return co.Evaluator(model).torque(*state)


@pytest.mark.parametrize("seed", SEEDS)
def test_hopper_moves_as_lagrange_says(seed):
    """Energies of two bodies in the plane, by the place of the foot and absolute angles, as in Raibert (1984)."""
    m1, m2, i1, i2, r1, r2, rest, k, g = 1.0, 10.0, 1.0, 10.0, 0.5, 0.4, 1.0, 1000.0, 9.8
    theirs = ca.SX.sym("foot x, foot y, leg angle, body angle, leg length", 5)
    foot, leg, body, w = theirs[:2], theirs[2], theirs[3], theirs[4]

    def along(angle, length):
        return length * ca.vertcat(-ca.sin(angle), ca.cos(angle))

    hip = foot + along(leg, w)
    rates, accelerations = ca.SX.sym("rates", 5), ca.SX.sym("accelerations", 5)
    centres = ((m1, foot + along(leg, r1)), (m2, hip + along(body, r2)))
    speeds = [(m, ca.jtimes(place, theirs, rates)) for m, place in centres]
    kinetic = sum(m / 2 * ca.sumsqr(v) for m, v in speeds) + i1 / 2 * rates[2] ** 2 + i2 / 2 * rates[3] ** 2
    potential = sum(m * g * place[1] for m, place in centres) + k / 2 * (w - rest) ** 2
    momenta = ca.gradient(kinetic, rates)
    forces = ca.jtimes(momenta, ca.vertcat(theirs, rates), ca.vertcat(rates, accelerations))
    forces += ca.gradient(potential - kinetic, theirs)
    # Ours by theirs: place of the hip, angle of the body, of the leg from the body, length.
    ours = ca.vertcat(hip, body, leg - body, w)
    J = ca.jacobian(ours, theirs)
    rate = J @ rates
    given = ca.vertcat(ours, rate, ca.jtimes(rate, ca.vertcat(theirs, rates), ca.vertcat(rates, accelerations)))
    rng = np.random.default_rng(seed)
    at = [rng.normal(size=5) for _ in range(3)]
    state, expected, jacobian = evaluate([given, forces, J], [theirs, rates, accelerations], at)
    tau = torque(hopper(), State(*np.split(state, 3)))
    np.testing.assert_allclose(jacobian.T @ tau, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_hopper_agrees_with_pinocchio():
    model, rng = hopper(stiffness=0.0), np.random.default_rng(660)
    tree = pinocchio_tree(model)
    for _ in range(5):
        state = random_state(rng, model)
        expected, _ = pinocchio_inverse_dynamics(tree, model, state, ())
        np.testing.assert_allclose(torque(model, state), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_foot_is_a_leg_below_the_hip():
    model = hopper()
    q, _, _ = coordinates(model)
    foot = co.model.point_motion(model, *model.markers["foot"], q=q).position
    place = evaluate([foot], [q], [[0.3, 1.2, 0.5, -0.5 + np.pi / 2, 0.8]])[0]  # the leg stretched along x
    np.testing.assert_allclose(place, [1.1, 1.2, 0.0], atol=1e-15)
    assert sum(float(body.mass) for body in model.bodies) == 11


def test_in_the_air_it_falls_and_the_spring_pushes_both_ways():
    """At rest with the leg compressed by c: the centre of mass falls with g, the spring's force is STIFFNESS c."""
    model = hopper()
    q = np.array([0.0, 2.0, 0.0, 0.0, LENGTH - 0.1])
    qdd = co.Evaluator(model).forward_dynamics(q[None], np.zeros((1, 5)), np.zeros((1, 5)))[0]
    body, leg = qdd[1], qdd[1] - qdd[4]
    assert (10 * body + leg) / 11 == pytest.approx(-9.8)
    assert 10 * (body + 9.8) == pytest.approx(0.1 * STIFFNESS)
    assert qdd[[0, 2, 3]] == pytest.approx(0.0, abs=1e-12)
