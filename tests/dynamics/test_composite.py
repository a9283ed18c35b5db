"""Sensitivities and mass matrix by composite inertias: special mechanisms, and the structure that Lagrange's equations
impose; `test_formulations.py` compares them on random trees."""

from __future__ import annotations

import time
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import by_differentiation, newton_euler
from colloc.dynamics.spatial.composite import composite_sensitivities, mass_matrix
from colloc.models.chains.serial import spatial_chain
from colloc.models.human43 import human43
from colloc.models.puma560 import puma560
from colloc.models.stanford import stanford
from colloc.models.two_link import two_link
from tests.support.random_trees import (
    State,
    coordinates,
    derivatives,
    evaluate,
    numbers,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
    random_unit,
    relative_error,
    tree_case,
)

BY_CASADI = by_differentiation(newton_euler)
some_trees = pytest.mark.parametrize("seed", range(3, 23, 4))


def assert_agree(model: co.Model, loads: Any = (), tolerance: float = 1e-12, seed: int = 0) -> None:
    """Torques and derivatives in a random state, against CasADi's of the Newton-Euler recursion."""
    state = random_state(np.random.default_rng(seed), model)
    found, expected = (derivatives(f, model, state, loads) for f in (composite_sensitivities, BY_CASADI))
    for value, reference in zip(found, expected, strict=True):
        assert relative_error(value, reference) < tolerance


@pytest.mark.parametrize("build", [two_link, puma560, stanford, human43, lambda: spatial_chain(9)])
def test_sensitivities_of_the_ready_made_models(build):
    assert_agree(build(), seed=1)


@pytest.mark.parametrize("seed", range(3))
def test_loads_stay_in_the_world_while_the_joints_move(seed):
    """dtau/dq with loads, against differences of Pinocchio's torques with the loads carried into the moved frames."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    loads, state, tree = random_loads(rng, model, count=9), random_state(rng, model), pinocchio_tree(model)
    slope, unloaded = (derivatives(composite_sensitivities, model, state, w)[1] for w in (loads, ()))
    assert np.abs(slope - unloaded).max() > 1
    step = 1e-5
    for k, unit in enumerate(np.eye(model.n)):
        ahead, behind = (
            pinocchio_inverse_dynamics(tree, model, state._replace(q=state.q + side * step * unit), loads)[0]
            for side in (1, -1)
        )
        assert relative_error(slope[:, k], (ahead - behind) / (2 * step)) < 1e-7


def _gantry(branches: int) -> co.Model:
    """Two slides with masses, not at their frames' origins, that carry one or more arms."""
    rng = np.random.default_rng(branches)

    def body(name: str, joint: co.model.Joint, parent: str | None) -> co.Body:
        return co.Body(name, joint, parent, **random_inertia(rng))

    skew = co.placement((0.3, -0.2, 0.5), (0.4, 0.1, -0.7))
    bodies = [
        body("bridge", co.prismatic((1, 0, 0), skew), None),
        body("plate", co.fixed(skew), "bridge"),
        body("trolley", co.dh_prismatic(0.2, 0.1, 0.3, np.pi / 2), "plate"),
    ]
    for k in range(branches):
        bodies.append(body(f"upper{k}", co.revolute(tuple(random_unit(rng)), skew), "trolley"))
        bodies.append(body(f"lower{k}", co.dh_revolute(0.0, 0.2, 0.4, np.pi / 2), f"upper{k}"))
    return co.Model(bodies, gravity=(1.0, -9.0, 2.0))


@pytest.mark.parametrize("branches", [0, 1, 3])
def test_slides_that_carry_a_whole_tree(branches):
    """The reference point travels with them, whether the tree ends, turns or forks after the last slide."""
    model = _gantry(branches)
    assert_agree(model, random_loads(np.random.default_rng(0), model))


@pytest.mark.parametrize("inertia", [(0, 0, 0), (0, 2, 2), (2, 2, 2), (1, 2, 2), (3, 2, 2), (3, 4, 5)])
@pytest.mark.parametrize("turned", [False, True])
def test_every_shape_of_a_body(inertia, turned):
    """Particle, rod, ball, long and flat bodies of revolution, and a general one; in link axes and askew."""
    axes = numbers(co.placement(rpy=(0.3, 0.5, -0.2)))[:3, :3] if turned else np.eye(3)
    tensor = axes @ np.diag(np.array(inertia, dtype=float)) @ axes.T
    bodies = [
        co.Body(f"body{k}", co.dh_revolute(0.1, 0.2, 0.3, 0.7), f"body{k - 1}" if k else None, 1.5, (0.1, 0, 0), tensor)
        for k in range(3)
    ]
    assert_agree(co.Model(bodies), tolerance=1e-13, seed=2)


def test_joints_on_different_branches_have_no_entries():
    """A trunk with two arms, numbered trunk, left, left, right, right."""
    rng = np.random.default_rng(4)
    parents = (None, "b0", "b1", "b0", "b3")
    bodies = [
        co.Body(f"b{k}", co.revolute(tuple(random_unit(rng))), p, **random_inertia(rng)) for k, p in enumerate(parents)
    ]
    model = co.Model(bodies)
    arms = np.kron(np.eye(2), np.ones((2, 2)))
    related = np.block([[np.ones((1, 1)), np.ones((1, 4))], [np.ones((4, 1)), arms]]).astype(bool)
    q, qd, qdd = coordinates(model)
    for block in (*composite_sensitivities(model, q, qd, qdd)[1:], mass_matrix(model, q)):
        assert related[tuple(map(list, block.sparsity().get_triplet()))].all()


@some_trees
def test_half_the_derivative_by_velocity_is_the_coriolis_matrix_of_the_christoffel_symbols(seed):
    """The velocity torque is the quadratic form of the Christoffel symbols c_ijk of the mass matrix, so its derivative
    is 2 C with C_ij = sum_k c_ijk qd_k; then dM/dt - 2 C is skew-symmetric."""
    model, _, state = tree_case(seed)
    q = ca.SX.sym("q", model.n)
    by_q = ca.jacobian(ca.vec(ca.densify(mass_matrix(model, q))), q)
    slopes = evaluate([by_q], [q], [state.q])[0].reshape(model.n, model.n, model.n)  # M is symmetric
    christoffel = (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1)) / 2
    coriolis = christoffel @ state.qd
    value = derivatives(composite_sensitivities, model, state._replace(qdd=0 * state.qdd))[2]
    assert relative_error(value, 2 * coriolis) < 1e-11
    rate = slopes @ state.qd
    defect = rate - value
    assert relative_error(defect, -defect.T) < 1e-11
    assert abs(state.qd @ defect @ state.qd) < 1e-10 * max(1.0, np.abs(rate).max() * state.qd @ state.qd)


@some_trees
def test_derivatives_satisfy_the_conditions_of_helmholtz(seed):
    """Identities of all equations of motion of a Lagrangian: the symmetric part of dtau/dqd is dM/dt, and the
    antisymmetric part of dtau/dq is half the time derivative of that of dtau/dqd. Forces at points of the links derive
    from a potential, moments do not."""
    model, loads, state = tree_case(seed)
    loads = [co.Load(load.body, load.force, point=load.point) for load in loads]
    q, qd, qdd = coordinates(model)
    _, dq, dqd, _ = composite_sensitivities(model, q, qd, qdd, loads)
    dense = ca.vec(ca.densify(dqd))
    n, along = model.n, (ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    in_time = ca.reshape(ca.jtimes(dense, *along), n, n)
    mass_in_time = ca.reshape(ca.jtimes(ca.vec(ca.densify(mass_matrix(model, q))), q, qd), n, n)
    results = evaluate([dq, dqd, in_time, mass_in_time], (q, qd, qdd), state)
    dq, dqd, in_time, mass_in_time = (value.reshape(n, n, order="A") for value in results)
    assert relative_error((dqd + dqd.T) / 2, mass_in_time) < 1e-11
    assert relative_error(dq - dq.T, (in_time - in_time.T) / 2) < 1e-10


@some_trees
def test_stiffness_of_gravity_is_symmetric(seed):
    model, _, state = tree_case(seed)
    at_rest = State(state.q, 0 * state.qd, 0 * state.qdd)
    value = derivatives(composite_sensitivities, model, at_rest)[1]
    assert relative_error(value, value.T) < 1e-12


def operations(inputs: Any, outputs: Any) -> int:
    """Scalar operations of a graph, sines and cosines included; inputs, outputs and constants are none."""
    function = ca.Function("count", list(inputs), list(outputs))
    free = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST}
    return sum(function.instruction_id(k) not in free for k in range(function.n_instructions()))


def test_operations_of_the_human():
    """Measured: 29,166, against 50,814 of automatic differentiation; 617 + 617 + 739 entries."""
    model = human43()
    symbols = coordinates(model)
    start = time.process_time()
    results = composite_sensitivities(model, *symbols)
    assert time.process_time() - start < 2.0  # measured 0.26 s
    assert operations(symbols, results) <= 30_000
    assert sum(block.nnz() for block in results[1:]) <= 1_975
    assert operations(symbols[:1], [mass_matrix(model, symbols[0])]) <= 5_600


def test_operations_of_a_long_chain():
    """40 hinges on skew axes with full inertias: 6.6 times fewer than automatic differentiation (83,757 against
    553,621). Axes at right angles make differentiation cheaper; with `spatial_chain` the factor is 3.7."""
    rng = np.random.default_rng(1)
    bodies = []
    for k in range(40):
        place = co.placement(rng.uniform(-0.5, 0.5, 3), rng.uniform(-np.pi, np.pi, 3))
        joint = co.revolute(tuple(random_unit(rng)), place)
        bodies.append(co.Body(f"link{k}", joint, f"link{k - 1}" if k else None, **random_inertia(rng)))
    model = co.Model(bodies)
    symbols = coordinates(model)
    results = composite_sensitivities(model, *symbols)
    tau = newton_euler(model, *symbols)
    reference = operations(symbols, [tau, ca.jacobian(tau, ca.vertcat(*symbols))])
    assert 5 * operations(symbols, results) < reference
    assert_agree(model, tolerance=1e-11)


def test_cost_grows_with_the_square_of_the_length():
    """Operations of alternating chains: 20 joints to 40 joints less than fourfold."""
    counts = []
    for n in (20, 40):
        model = spatial_chain(n)
        symbols = coordinates(model)
        counts.append(operations(symbols, composite_sensitivities(model, *symbols)))
    assert counts[1] < 4 * counts[0]
