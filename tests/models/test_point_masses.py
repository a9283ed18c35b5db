"""The planar robot in closed form against the tree of the same mechanism, automatic differentiation and energies."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains import point_masses as pc
from colloc.models.chains.point_masses import PointMassChain
from colloc.models.chains.serial import planar_chain
from tests.support.random_trees import coordinates, evaluate, relative_error


def random_chain(rng: np.random.Generator, n: int) -> PointMassChain:
    return PointMassChain(list(rng.uniform(0.2, 0.8, n)), list(rng.uniform(0.3, 1.5, n)), gravity=9.81)


def symbolic_forward_dynamics(
    chain: PointMassChain, q: ca.SX, qd: ca.SX, u: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
    """M, C, g, qdd of absolute angles from the sums of equation 109 as printed, entry by entry."""
    n, lengths, masses = chain.n, chain.lengths, chain.masses
    mass, coriolis, gravity = ca.SX(n, n), ca.SX(n, n), ca.SX(n, 1)
    for z in range(n):
        gravity[z] = sum(masses[z:]) * lengths[z] * chain.gravity * ca.cos(q[z])
        for k in range(n):
            beyond = sum(masses[j] for j in range(z, n) if j >= k)
            mass[z, k] = lengths[z] * lengths[k] * ca.cos(q[z] - q[k]) * beyond
            coriolis[z, k] = lengths[z] * lengths[k] * ca.sin(q[z] - q[k]) * beyond
    return mass, coriolis, gravity, ca.solve(mass, u - gravity - coriolis @ qd**2)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_equations_of_relative_angles_are_those_of_the_tree(n: int):
    rng = np.random.default_rng(n)
    chain = random_chain(rng, n)
    model, symbols = chain.tree(), coordinates(chain.tree())
    x, xd, xdd = rng.uniform(-3, 3, n), rng.normal(size=n), rng.normal(size=n)
    mass, coriolis, gravity = pc.relative_terms(chain, x)
    tau = mass @ xdd + gravity + coriolis @ pc.absolute(xd) ** 2
    torque, inertia = evaluate(
        [co.dynamics.newton_euler(model, *symbols), co.dynamics.mass_matrix(model, symbols[0])], symbols, (x, xd, xdd)
    )
    assert relative_error(tau, torque.ravel()) < 1e-12
    assert relative_error(mass, inertia.reshape(n, n)) < 1e-12
    qdd = pc.forward_dynamics(chain, pc.absolute(x), pc.absolute(xd), pc.generalised_forces(tau))
    assert relative_error(pc.relative(qdd), xdd) < 1e-10
    expected = evaluate([co.dynamics.forward_dynamics(model, *symbols)], symbols, (x, xd, tau))[0]
    assert relative_error(pc.relative(qdd), expected.ravel()) < 1e-11


@pytest.mark.parametrize("n", [1, 2, 4, 7])
def test_matrices_and_tensors_against_automatic_differentiation(n: int):
    rng = np.random.default_rng(n)
    chain, symbols = random_chain(rng, n), [ca.SX.sym(name, n) for name in ("q", "qd", "u")]
    state = [rng.uniform(-3, 3, n), rng.normal(size=n), rng.normal(size=n)]
    mass, coriolis, gravity, _ = symbolic_forward_dynamics(chain, *symbols)
    terms = [(mass, pc.mass_matrix, pc.mass_tensor), (coriolis, pc.coriolis_matrix, pc.coriolis_tensor)]
    terms.append((gravity, pc.gravity_forces, pc.gravity_tensor))
    for expression, values, tensor in terms:
        jacobian = ca.jacobian(ca.vec(expression.T), symbols[0])
        value, slope = evaluate([ca.densify(expression), ca.densify(jacobian)], symbols, state)
        found = values(chain, state[0])
        assert relative_error(found, value.reshape(found.shape)) < 1e-14
        assert relative_error(tensor(chain, state[0]), slope.reshape(*found.shape, n)) < 1e-14


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_linearisation_against_automatic_differentiation(n: int):
    rng = np.random.default_rng(n)
    chain, dt = random_chain(rng, n), 0.01
    q, qd, u = (ca.SX.sym(name, n) for name in ("q", "qd", "u"))
    qdd = symbolic_forward_dynamics(chain, q, qd, u)[3]
    after = ca.vertcat(q + dt * qd, qd + dt * qdd)
    function = ca.Function("f", [q, qd, u], [after, ca.jacobian(after, ca.vertcat(q, qd)), ca.jacobian(after, u)])
    states, forces = rng.normal(size=(6, 2 * n)), rng.normal(size=(6, n))
    A, B = pc.euler_linearisation(chain, states, forces, dt)
    for k in range(len(states)):
        expected = [np.array(value) for value in function(states[k, :n], states[k, n:], forces[k])]
        assert relative_error(pc.euler_step(chain, states, forces, dt)[k], expected[0].ravel()) < 1e-12
        assert relative_error(A[k], expected[1]) < 1e-12
        assert relative_error(B[k], expected[2]) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_discretised_chain_is_the_discretised_tree(n: int):
    """Closed form and absolute angles against articulated bodies and relative ones."""
    rng = np.random.default_rng(n)
    chain, dt = random_chain(rng, n), 0.01
    closed = pc.discretised(chain, dt)
    tree = co.control.discretise(chain.tree(), dt, scheme=co.control.Scheme.EULER)
    x, u = rng.normal(size=(6, 2 * n)), rng.normal(size=(6, n))
    for k in range(6):
        assert relative_error(closed.step(k, x[k], u[k]), tree.step(k, x[k], u[k])) < 1e-12
    for found, expected in zip(closed.linearise(x, u), tree.linearise(x, u), strict=True):
        assert relative_error(found, expected) < 1e-12


def test_lagrangian_of_the_point_masses():
    """Equation 106: M and g from the kinetic and potential energy of the masses at the positions of equation 105."""
    rng = np.random.default_rng(0)
    chain = random_chain(rng, 4)
    q, qd = ca.SX.sym("q", 4), ca.SX.sym("qd", 4)
    kinetic = potential = ca.SX(0)
    for j, mass in enumerate(chain.masses, start=1):
        lengths = ca.DM(chain.lengths[:j])
        position = ca.vertcat(ca.dot(lengths, ca.cos(q[:j, :])), ca.dot(lengths, ca.sin(q[:j, :])))
        kinetic += 0.5 * mass * ca.sumsqr(ca.jacobian(position, q) @ qd)
        potential += mass * chain.gravity * position[1]
    at = rng.uniform(-3, 3, 4)
    mass, gravity = evaluate([ca.hessian(kinetic, qd)[0], ca.gradient(potential, q)], [q, qd], [at, np.zeros(4)])
    assert relative_error(pc.mass_matrix(chain, at), mass) < 1e-14
    assert relative_error(pc.gravity_forces(chain, at), gravity) < 1e-14


def test_conversions_are_products_with_L():
    n, rng = 5, np.random.default_rng(0)
    L, x = np.tri(n), rng.normal(size=(3, n))
    np.testing.assert_allclose(pc.absolute(x), x @ L.T, atol=1e-14)
    np.testing.assert_allclose(pc.relative(x), x @ np.linalg.inv(L).T, atol=1e-14)
    np.testing.assert_allclose(pc.generalised_forces(x), x @ np.linalg.inv(L), atol=1e-14)


def test_response_in_relative_angles_and_joint_torques():
    """L_x^-1 S_u L_u with dense matrices, and S_u of the system that is relative from the start."""
    n, steps, dt = 3, 7, 0.02
    rng = np.random.default_rng(0)
    chain = random_chain(rng, n)
    x, tau = rng.normal(size=(steps, 2 * n)), rng.normal(size=(steps, n))
    L = np.tri(n)
    q = x @ np.kron(np.eye(2), L).T
    S = co.control.response_matrices(*pc.euler_linearisation(chain, q, pc.generalised_forces(tau), dt))[1]
    found = pc.relative_response(S, n)
    dense = np.linalg.inv(np.kron(np.eye(2 * steps + 2), L)) @ S @ np.kron(np.eye(steps), np.linalg.inv(L).T)
    np.testing.assert_allclose(found, dense, atol=1e-12)
    direct = co.control.response_matrices(*pc.discretised(chain, dt).linearise(x, tau))[1]
    np.testing.assert_allclose(found, direct, atol=1e-12)


def test_equal_links_are_the_chain_of_point_masses():
    model = planar_chain(4, 0.3, 0.7, centre=1.0, inertia=0.0)
    symbols, state = coordinates(model), list(np.random.default_rng(0).normal(size=(3, 4)))
    trees = (PointMassChain([0.3] * 4, [0.7] * 4).tree(), model)
    found, expected = evaluate([co.dynamics.newton_euler(tree, *symbols) for tree in trees], symbols, state)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_tip_is_that_of_the_tree():
    rng = np.random.default_rng(3)
    chain, x = random_chain(rng, 4), rng.uniform(-3, 3, 4)
    found = co.Evaluator(chain.tree()).point("link4", q=x).position
    np.testing.assert_allclose(pc.tip(chain, pc.absolute(x)), found[:2], atol=1e-14)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5, 0.0], [1.0, 1.0]), "lengths must be finite and positive, got 0.0"),
        (([0.5], [-1.0]), "masses must be finite and positive, got -1.0"),
        (([0.5, 0.5], [1.0]), "equally many"),
        (([], []), "equally many"),
        (([0.5], [1.0], np.inf), "gravity must be finite, got inf"),
    ],
)
def test_impossible_chains_are_refused(arguments, message):
    with pytest.raises(co.InputError, match=message):
        PointMassChain(*arguments)
