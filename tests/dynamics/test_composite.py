"""Sensitivities and mass matrix by composite inertias: against automatic derivatives, Pinocchio, and the structure
that Lagrange's equations impose."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import lagrange, newton_euler
from colloc.dynamics.spatial.composite import composite_sensitivities, mass_matrix
from colloc.models.chains.serial import spatial_chain
from colloc.models.human43 import human43
from colloc.models.puma560 import puma560
from colloc.models.stanford import stanford
from colloc.models.two_link import two_link
from tests.support.random_trees import (
    State,
    coordinates,
    evaluate,
    numbers,
    pin,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
    random_unit,
)

NAMES = ("tau", "dq", "dqd", "dqdd")


class Case(NamedTuple):
    """A random tree with loads, in a random state."""

    model: co.Model
    loads: list[co.Load]
    state: State


@lru_cache
def case(seed: int, virtual: bool = True) -> Case:
    """Tree number `seed`; the first twelve have 1 to 12 bodies."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, seed + 1 if seed < 12 else None, virtual=virtual)
    return Case(model, random_loads(rng, model, count=int(rng.integers(0, 5))), random_state(rng, model))


def by_composites(model: co.Model, state: State, loads: Any = ()) -> list[np.ndarray]:
    """Torque, shape (n,), and its three derivatives, each shape (n, n), at one state."""
    symbols = coordinates(model)
    return squares(evaluate(composite_sensitivities(model, *symbols, loads), symbols, state))


def squares(results: list[np.ndarray]) -> list[np.ndarray]:
    """A vector and matrices, which may be 1 by 1."""
    tau, *blocks = results
    return [tau, *(block.reshape(len(tau), len(tau)) for block in blocks)]


def by_differentiation(model: co.Model, loads: Any = ()) -> tuple[tuple[ca.SX, ca.SX, ca.SX], list[ca.SX]]:
    """Symbols, and what CasADi makes of the Newton-Euler recursion."""
    symbols = coordinates(model)
    tau = newton_euler(model, *symbols, loads)
    return symbols, [tau, *(ca.jacobian(tau, x) for x in symbols)]


def relative_error(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference, relative to the largest reference value but at least 1."""
    return float(np.abs(value - reference).max() / max(1.0, np.abs(reference).max()))


@pytest.mark.parametrize("seed", range(64))
def test_sensitivities_agree_with_automatic_derivatives(seed):
    model, loads, state = case(seed)
    symbols, graph = by_differentiation(model, loads)
    expected = squares(evaluate(graph, symbols, state))
    for name, value, reference in zip(NAMES, by_composites(model, state, loads), expected, strict=True):
        assert relative_error(value, reference) < 1e-12, name


def test_the_trees_above_cover_what_they_are_meant_to_cover():
    cases = [case(seed) for seed in range(64)]
    bodies = [body for c in cases for body in c.model.bodies]
    assert {body.joint.kind for body in bodies} == {"revolute", "prismatic", "helical", "fixed"}
    assert sum(float(body.mass) == 0 for body in bodies) > 50
    assert sum(len(c.loads) > 1 for c in cases) > 30
    assert sum(c.model.bodies[0].joint.kind == "prismatic" for c in cases) > 20
    assert sum(sum(p < 0 for p in c.model.parents) > 1 for c in cases) > 10


@pytest.mark.parametrize("build", [two_link, puma560, stanford, human43, lambda: spatial_chain(9)])
def test_sensitivities_of_the_ready_made_models(build):
    model = build()
    state = random_state(np.random.default_rng(1), model)
    symbols, graph = by_differentiation(model)
    for value, reference in zip(by_composites(model, state), squares(evaluate(graph, symbols, state)), strict=True):
        assert relative_error(value, reference) < 1e-12


@pytest.mark.parametrize("seed", range(40))
def test_sensitivities_agree_with_pinocchio(seed):
    """Without loads: Pinocchio holds a force in the moving joint frame, not in the world."""
    model, _, state = case(seed)
    tree = pinocchio_tree(model)
    data = tree.model.createData()
    pin.computeRNEADerivatives(tree.model, data, *map(tree.into, state))
    order = np.ix_(tree.dofs, tree.dofs)
    upper = np.triu(data.M)
    expected = (data.dtau_dq, data.dtau_dv, upper + np.triu(upper, 1).T)
    tau, *blocks = by_composites(model, state)
    assert relative_error(tau, tree.back(data.tau)) < 1e-11
    for name, block, reference in zip(NAMES[1:], blocks, expected, strict=True):
        assert relative_error(block[order], reference) < 1e-11, name


@pytest.mark.parametrize("seed", range(8))
def test_loads_stay_in_the_world_while_the_joints_move(seed):
    """dtau/dq with loads, against differences of Pinocchio's torques with the loads carried into the moved frames."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    loads, state, tree = random_loads(rng, model, count=9), random_state(rng, model), pinocchio_tree(model)
    slope = by_composites(model, state, loads)[1]
    assert np.abs(slope - by_composites(model, state)[1]).max() > 1
    step = 1e-5
    for k, unit in enumerate(np.eye(model.n)):
        ahead, behind = (
            pinocchio_inverse_dynamics(tree, model, state._replace(q=state.q + side * step * unit), loads)[0]
            for side in (1, -1)
        )
        assert relative_error(slope[:, k], (ahead - behind) / (2 * step)) < 1e-7


def test_symbolic_masses_lengths_and_loads_give_the_numeric_sensitivities():
    """A model of symbols, evaluated, is the model of numbers; two of its inertias are diagonal, one is full."""
    rng = np.random.default_rng(11)
    properties = [random_inertia(rng) for _ in range(3)]
    lengths, wrench = rng.uniform(0.2, 0.8, 5), rng.normal(size=9)
    for k in (0, 1):
        properties[k]["inertia"] = np.diag(properties[k]["inertia"]).copy()

    def build(masses: Any, coms: Any, tensors: Any, x: Any, w: Any) -> tuple[co.Model, list[co.Load]]:
        joints = (
            co.dh_revolute(theta=0.3, d=x[0], a=x[1], alpha=x[2]),
            co.prismatic((1, 2, 0), co.placement((x[3], 0.1, 0), (0, x[4], 0.2))),
            co.revolute((0, 1, 1), co.placement((0, 0, x[0]))),
        )
        parents = (None, "body0", "body0")
        bodies = [co.Body(f"body{k}", joints[k], parents[k], masses[k], coms[k], tensors[k]) for k in range(3)]
        return co.Model(bodies), [co.Load("body2", w[:3], w[3:6], w[6:])]

    m, c, tensor = ([p[key] for p in properties] for key in ("mass", "com", "inertia"))
    numeric, numeric_loads = build(m, c, tensor, lengths, wrench)
    state = random_state(rng, numeric)
    masses = [ca.SX.sym(f"m{k}") for k in range(3)]
    coms = [ca.SX.sym(f"c{k}", 3) for k in range(3)]
    tensors = [ca.SX.sym("I0", 3), ca.SX.sym("I1", 3), ca.SX.sym("I2", 3, 3)]
    x, w = ca.SX.sym("x", 5), ca.SX.sym("w", 9)
    model, loads = build(masses, coms, tensors, x, w)
    q, qd, qdd = coordinates(model)
    inputs = [q, qd, qdd, *masses, *coms, *tensors, x, w]
    results = evaluate(
        composite_sensitivities(model, q, qd, qdd, loads), inputs, [*state, *m, *c, *tensor, lengths, wrench]
    )
    for value, reference in zip(results, by_composites(numeric, state, numeric_loads), strict=True):
        assert relative_error(value, reference) < 1e-13


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
    rng = np.random.default_rng(0)
    state, loads = random_state(rng, model), random_loads(rng, model)
    symbols, graph = by_differentiation(model, loads)
    expected = squares(evaluate(graph, symbols, state))
    for value, reference in zip(by_composites(model, state, loads), expected, strict=True):
        assert relative_error(value, reference) < 1e-12


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
    model = co.Model(bodies)
    state = random_state(np.random.default_rng(2), model)
    symbols, graph = by_differentiation(model)
    for value, reference in zip(by_composites(model, state), squares(evaluate(graph, symbols, state)), strict=True):
        assert relative_error(value, reference) < 1e-13


@pytest.mark.parametrize("seed", range(64))
def test_nothing_is_stored_that_vanishes_identically(seed):
    """One entry more than automatic differentiation finds is the most that cancellation hides from the recursion."""
    model, loads, _ = case(seed)
    symbols, (_, *expected) = by_differentiation(model, loads)
    _, *blocks = composite_sensitivities(model, *symbols, loads)
    assert not any(block.nz[k].is_zero() for block in blocks for k in range(block.nnz()))
    assert sum(block.nnz() for block in blocks) <= sum(block.nnz() for block in expected) + 1


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


def mass(model: co.Model, q: np.ndarray) -> np.ndarray:
    """Mass matrix at one configuration."""
    symbol = ca.SX.sym("q", model.n)
    return evaluate([mass_matrix(model, symbol)], [symbol], [q])[0].reshape(model.n, model.n)


@pytest.mark.parametrize("seed", range(40))
def test_mass_matrix_agrees_with_pinocchio_and_with_the_derivative_by_acceleration(seed):
    model, loads, state = case(seed)
    tree = pinocchio_tree(model)
    upper = np.triu(pin.crba(tree.model, tree.model.createData(), tree.into(state.q)))
    value = mass(model, state.q)
    assert relative_error(value[np.ix_(tree.dofs, tree.dofs)], upper + np.triu(upper, 1).T) < 1e-12
    np.testing.assert_allclose(value, by_composites(model, state, loads)[3], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(24))
def test_mass_matrix_of_massive_links_is_symmetric_positive_definite(seed):
    model, _, state = case(seed, virtual=False)
    value = mass(model, state.q)
    assert np.array_equal(value, value.T)
    np.linalg.cholesky(value)


@pytest.mark.parametrize("seed", range(24))
def test_mass_matrix_and_bias_make_up_the_torque(seed):
    """By another formulation, the Lagrangian one."""
    model, loads, state = case(seed)
    symbols = coordinates(model)
    still = evaluate([lagrange(model, *symbols, loads)], symbols, state._replace(qdd=0 * state.qdd))[0]
    moving = evaluate([lagrange(model, *symbols, loads)], symbols, state)[0]
    assert relative_error(mass(model, state.q) @ state.qdd, moving - still) < 1e-11


@pytest.mark.parametrize("seed", range(24))
def test_half_the_derivative_by_velocity_is_the_coriolis_matrix_of_the_christoffel_symbols(seed):
    """The velocity torque is the quadratic form of the Christoffel symbols c_ijk of the mass matrix, so its derivative
    is 2 C with C_ij = sum_k c_ijk qd_k; then dM/dt - 2 C is skew-symmetric."""
    model, _, state = case(seed)
    q = ca.SX.sym("q", model.n)
    by_q = ca.jacobian(ca.vec(ca.densify(mass_matrix(model, q))), q)
    slopes = evaluate([by_q], [q], [state.q])[0].reshape(model.n, model.n, model.n)  # M is symmetric
    christoffel = (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1)) / 2
    coriolis = christoffel @ state.qd
    value = by_composites(model, state._replace(qdd=0 * state.qdd))[2]
    assert relative_error(value, 2 * coriolis) < 1e-11
    rate = slopes @ state.qd
    defect = rate - value
    assert relative_error(defect, -defect.T) < 1e-11
    assert abs(state.qd @ defect @ state.qd) < 1e-10 * max(1.0, np.abs(rate).max() * state.qd @ state.qd)


@pytest.mark.parametrize("seed", range(24))
def test_derivatives_satisfy_the_conditions_of_helmholtz(seed):
    """What any equations of motion of a Lagrangian obey: the symmetric part of dtau/dqd is dM/dt, and the
    antisymmetric part of dtau/dq is half the time derivative of that of dtau/dqd. Forces at points of the links derive
    from a potential, moments do not."""
    model, loads, state = case(seed)
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


@pytest.mark.parametrize("seed", range(12))
def test_stiffness_of_gravity_is_symmetric(seed):
    model, _, state = case(seed)
    value = by_composites(model, State(state.q, 0 * state.qd, 0 * state.qdd))[1]
    assert relative_error(value, value.T) < 1e-12


def test_a_wrong_derivative_would_be_noticed():
    """The tolerance of the agreement is far below the effect of a load whose moment is forgotten in the derivative."""
    rng = np.random.default_rng(3)
    model = random_tree(rng, 8)
    loads, state = random_loads(rng, model, count=12), random_state(rng, model)
    without = [co.Load(load.body, load.force, point=load.point) for load in loads]
    assert relative_error(by_composites(model, state, without)[1], by_composites(model, state, loads)[1]) > 1e-3


def test_load_on_an_unknown_body_is_refused_with_the_legal_names():
    model = two_link()
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: shoulder, elbow\)"):
        composite_sensitivities(model, *coordinates(model), [co.Load("wrist", force=(1, 0, 0))])


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
    state = random_state(rng, model)
    function = ca.Function("differentiated", [*symbols], [ca.jacobian(tau, x) for x in symbols])
    for value, expected in zip(by_composites(model, state)[1:], function.call([ca.DM(x) for x in state]), strict=True):
        assert relative_error(value, np.array(expected)) < 1e-11


def test_cost_grows_with_the_square_of_the_length():
    """Operations of alternating chains: 20 joints to 40 joints less than fourfold."""
    counts = []
    for n in (20, 40):
        model = spatial_chain(n)
        symbols = coordinates(model)
        counts.append(operations(symbols, composite_sensitivities(model, *symbols)))
    assert counts[1] < 4 * counts[0]
