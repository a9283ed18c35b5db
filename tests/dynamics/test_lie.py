"""The recursion on SE(3) and its derivatives: against Newton-Euler, automatic and numerical derivatives, and print."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics.liegroup.hessian import lie_hessian
from colloc.dynamics.liegroup.recursion import lie
from colloc.dynamics.liegroup.sensitivities import coriolis, lie_sensitivities
from colloc.dynamics.liegroup.twists import (
    Ad,
    ad,
    ad_dual,
    link_screw,
    spatial_inertia,
    wrench_at_origin,
    wrench_turning,
)
from colloc.dynamics.newtonian.recursion import newton_euler
from tests.support.random_trees import (
    State,
    branches,
    coordinates,
    evaluate,
    numbers,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
)

ROOM = "colloc.dynamics.liegroup"
RECURSION = [import_module(f"{ROOM}.recursion")]
DERIVATIVES = [import_module(f"{ROOM}.{name}") for name in ("sensitivities", "hessian")]
SIZES = (*range(1, 16), 20, 25, 30, 40, 40)  # bodies of tree number 0, 1, ...
Symbols = tuple[ca.SX, ca.SX, ca.SX]
every_seed = pytest.mark.parametrize("seed", range(len(SIZES)))
small_seeds = pytest.mark.parametrize("seed", range(10))


class Case(NamedTuple):
    """A random tree with loads on two trees of three, in a random state."""

    model: co.Model
    loads: list[co.Load]
    state: State
    multipliers: np.ndarray


@lru_cache
def case(seed: int) -> Case:
    """Tree number `seed`."""
    rng = np.random.default_rng(1000 + seed)
    model = random_tree(rng, SIZES[seed])
    loads = random_loads(rng, model, count=int(rng.integers(1, 6))) if seed % 3 else []
    return Case(model, loads, random_state(rng, model), rng.normal(size=model.n))


def differentiated(model: co.Model, symbols: Symbols, loads: Any) -> list[ca.SX]:
    """Newton-Euler torques and their Jacobians by q, qd, qdd, by automatic differentiation."""
    tau = newton_euler(model, *symbols, loads)
    return [tau, *(ca.jacobian(tau, x) for x in symbols)]


def differentiated_twice(model: co.Model, symbols: Symbols, weights: ca.SX, loads: Any) -> ca.SX:
    """Hessian of the weighted sum of the torques, by automatic differentiation."""
    return ca.hessian(ca.dot(weights, newton_euler(model, *symbols, loads)), ca.vertcat(*symbols))[0]


@lru_cache
def reference(seed: int) -> list[np.ndarray]:
    """Values of Newton-Euler torques and their automatic derivatives."""
    model, loads, state, _ = case(seed)
    symbols = coordinates(model)
    return evaluate(differentiated(model, symbols, loads), symbols, state)


def relative_error(value: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest expected value but at least 1."""
    assert value.shape == expected.shape
    return float(np.abs(value - expected).max() / max(1.0, np.abs(expected).max()))


def test_trees_cover_what_they_are_meant_to_cover():
    models = [case(seed).model for seed in range(len(SIZES))]
    bodies = [body for model in models for body in model.bodies]
    assert {body.joint.kind for body in bodies} == {"revolute", "prismatic", "helical", "fixed"}
    assert sum(float(body.mass) == 0 for body in bodies) > 50
    assert sum(len(branches(model)) > 3 for model in models) > 8
    assert max(model.n for model in models) > 25
    assert sum(len(case(seed).loads) > 1 for seed in range(len(SIZES))) > 8


@every_seed
def test_torque_agrees_with_newton_euler(seed):
    model, loads, state, _ = case(seed)
    symbols = coordinates(model)
    tau = evaluate([lie(model, *symbols, loads)], symbols, state)[0]
    assert relative_error(tau, reference(seed)[0]) < 1e-10


@every_seed
def test_sensitivities_agree_with_automatic_differentiation(seed):
    model, loads, state, _ = case(seed)
    symbols = coordinates(model)
    found = evaluate(lie_sensitivities(model, *symbols, loads), symbols, state)
    for value, expected in zip(found, reference(seed), strict=True):
        assert relative_error(value, expected) < 1e-9


@pytest.mark.parametrize("seed", [*range(15), 18])
def test_sensitivities_agree_with_central_differences(seed):
    model, loads, state, _ = case(seed)
    symbols = coordinates(model)
    torque = ca.Function("torque", list(symbols), [newton_euler(model, *symbols, loads)])
    found = evaluate(lie_sensitivities(model, *symbols, loads)[1:], symbols, state)
    step = 1e-5
    for k, block in enumerate(found):
        sides = []
        for sign in (1, -1):
            columns = [np.repeat(part[:, None], model.n, axis=1) for part in state]
            columns[k] = columns[k] + sign * step * np.eye(model.n)
            sides.append(np.array(torque.map(model.n)(*columns)))
        numeric = (sides[0] - sides[1]) / (2 * step)
        assert relative_error(block.reshape(numeric.shape), numeric) < 1e-6


def related(model: co.Model) -> np.ndarray:
    """Whether one coordinate is an ancestor of the other, or the same; shape (n, n)."""
    pairs = np.eye(model.n, dtype=bool)
    for k, dof in enumerate(model.dofs):
        above = model.parents[k]
        while dof is not None and above >= 0:
            other = model.dofs[above]
            if other is not None:
                pairs[dof, other] = pairs[other, dof] = True
            above = model.parents[above]
    return pairs


def stored(matrix: ca.SX) -> np.ndarray:
    """Whether an entry is stored; every stored entry must be more than a plain zero."""
    assert not any(matrix.nz[k].is_zero() for k in range(matrix.nnz()))
    return np.array(ca.DM(matrix.sparsity(), 1)) == 1


@every_seed
def test_only_related_joints_have_entries(seed):
    model, loads, _, _ = case(seed)
    expected = differentiated(model, coordinates(model), loads)
    found = lie_sensitivities(model, *coordinates(model), loads)
    assert found.tau.shape == (model.n, 1)
    assert found.tau.is_dense()
    for block, automatic in zip(found[1:], expected[1:], strict=True):
        assert block.shape == (model.n, model.n)
        assert not stored(block)[~related(model)].any()
        assert block.nnz() <= 1.05 * automatic.nnz() + 1  # neither sees all zeros that cancel
    hessian = lie_hessian(model, *coordinates(model), ca.SX.sym("l", model.n), loads)
    assert not stored(hessian)[~np.tile(related(model), (3, 3))].any()


def test_torques_of_a_slide_on_the_world_do_not_depend_on_its_position_and_rate():
    """Galileo: without loads, the columns are empty, not just zero."""
    bodies = [
        co.Body("cart", co.prismatic((1, 2, 0)), mass=2.0),
        co.Body("arm", co.revolute((0, 1, 1), co.placement((0.1, 0.2, 0.3), (0.4, 0.5, 0.6))), "cart", 1.0, (0, 1, 2)),
    ]
    model = co.Model(bodies)
    found = lie_sensitivities(model, *coordinates(model))
    assert found.dq[:, 0].nnz() == found.dqd[:, 0].nnz() == 0
    assert found.dq[:, 1].nnz() == found.dqd[0, 1].nnz() + 1 == 2


@small_seeds
def test_hessian_agrees_with_automatic_differentiation(seed):
    model, loads, state, multipliers = case(seed)
    symbols, weights = coordinates(model), ca.SX.sym("l", model.n)
    expected = differentiated_twice(model, symbols, weights, loads)
    found = lie_hessian(model, *symbols, weights, loads)
    assert found.shape == expected.shape
    assert found.nnz() <= 1.05 * expected.nnz() + 4
    values = evaluate([found, expected], [*symbols, weights], [*state, multipliers])
    assert relative_error(*values) < 1e-9
    assert np.array_equal(values[0], values[0].T)


@pytest.mark.parametrize("seed", [12, 13, 15])
def test_hessian_agrees_with_central_differences_of_the_sensitivities(seed):
    model, loads, state, multipliers = case(seed)
    symbols = coordinates(model)
    gradient = ca.horzcat(*lie_sensitivities(model, *symbols, loads)[1:]).T @ multipliers
    x, point, step = ca.vertcat(*symbols), np.concatenate(state), 1e-5
    slope = ca.Function("slope", [x], [gradient]).map(3 * model.n)
    sides = [np.array(slope(point[:, None] + sign * step * np.eye(x.numel()))) for sign in (1, -1)]
    found = evaluate([lie_hessian(model, *symbols, ca.SX(multipliers), loads)], symbols, state)[0]
    assert relative_error(found, (sides[0] - sides[1]) / (2 * step)) < 1e-6


def _nothing(*arguments: ca.SX) -> ca.SX:
    return ca.SX(6, 6)


MISTAKES = {
    "no ad-dual in the forces": (RECURSION, "ad_dual", _nothing),
    "bracket reversed in the velocities": (RECURSION, "ad", lambda x: -ad(x)),
    "no ad-dual in the derivatives": (DERIVATIVES, "ad_dual", _nothing),
    "bracket reversed in the derivatives": (DERIVATIVES, "ad", lambda x: -ad(x)),
    "no change of the velocity forces": (DERIVATIVES, "coriolis", _nothing),
    "velocity forces reversed": (DERIVATIVES, "coriolis", lambda *x: -coriolis(*x)),
    "loads that turn with the link": (DERIVATIVES, "wrench_turning", _nothing),
    "loads that turn too far": (DERIVATIVES, "wrench_turning", lambda *x: 2 * wrench_turning(*x)),
}


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES.keys())
def test_the_comparisons_catch_a_wrong_term(mistake, monkeypatch):
    """The tolerances above are far below the effect of a term that is missing or has the wrong sign."""
    modules, name, wrong = mistake
    for module in modules:
        monkeypatch.setattr(module, name, wrong)
    model, loads, state, multipliers = case(7)
    symbols = coordinates(model)
    found = evaluate(lie_sensitivities(model, *symbols, loads), symbols, state)
    errors = [relative_error(*pair) for pair in zip(found, reference(7), strict=True)]
    assert max(errors) > 1e-3
    if modules is DERIVATIVES:
        weights = ca.SX(multipliers)
        hessians = (
            lie_hessian(model, *symbols, weights, loads),
            differentiated_twice(model, symbols, weights, loads),
        )
        assert relative_error(*evaluate(hessians, symbols, state)) > 1e-3


def test_loads_are_given_and_not_differentiated():
    """A load that depends on the state is held in its value; its own derivatives are chained elsewhere."""
    model, _, state, multipliers = case(8)
    symbols, held = coordinates(model), ca.SX.sym("w", 9)
    q, qd, _ = symbols
    wrench = ca.vertcat(q[0] ** 2, ca.sin(qd[1]), q[2], qd[0], q[1] * qd[2], 1, q[0], 0.2, qd[1])
    name = model.bodies[-1].name

    def loads(w: ca.SX) -> list[co.Load]:
        return [co.Load(name, w[:3], w[3:6], w[6:])]

    weights = ca.SX(multipliers)
    expected = [
        *differentiated(model, symbols, loads(held)),
        differentiated_twice(model, symbols, weights, loads(held)),
    ]
    found = [
        *lie_sensitivities(model, *symbols, loads(wrench)),
        lie_hessian(model, *symbols, weights, loads(wrench)),
    ]
    value = evaluate([wrench], symbols, state)[0]
    pairs = zip(evaluate(found, symbols, state), evaluate(expected, [*symbols, held], [*state, value]), strict=True)
    assert max(relative_error(*pair) for pair in pairs) < 1e-9


def test_symbolic_masses_lengths_and_loads_are_allowed():
    """A model of symbols, evaluated, has the derivatives of Newton-Euler with the same symbols."""
    rng = np.random.default_rng(3)
    x, tensor, w = ca.SX.sym("x", 9), ca.SX.sym("I", 3, 3), ca.SX.sym("w", 9)
    bodies = [
        co.Body("a", co.dh_revolute(0.3, x[0], x[1], x[2]), None, x[3], x[4:7], tensor),
        co.Body("b", co.prismatic((1, 2, 0), co.placement((x[7], 0.1, 0), (0, x[8], 0.2))), "a", x[3] / 2, x[:3]),
        co.Body("c", co.dh_revolute(0, 0, x[1], np.pi / 2), "b", x[3], x[4:7], 2 * tensor),
    ]
    model, loads = co.Model(bodies), [co.Load("c", w[:3], w[3:6], w[6:])]
    symbols, weights = coordinates(model), ca.SX.sym("l", model.n)
    found = [
        *lie_sensitivities(model, *symbols, loads),
        lie(model, *symbols, loads),
        lie_hessian(model, *symbols, weights, loads),
    ]
    by_differentiation = differentiated(model, symbols, loads)
    expected = [*by_differentiation, by_differentiation[0], differentiated_twice(model, symbols, weights, loads)]
    values = [*random_state(rng, model), rng.normal(size=3), rng.uniform(0.1, 1, 9)]
    values += [random_inertia(rng)["inertia"], rng.normal(size=9)]
    arguments = [*symbols, weights, x, tensor, w]
    pairs = zip(evaluate(found, arguments, values), evaluate(expected, arguments, values), strict=True)
    assert max(relative_error(*pair) for pair in pairs) < 1e-9


@pytest.mark.parametrize("formulation", [lie, lie_sensitivities])
def test_load_on_an_unknown_body_is_refused_with_the_legal_names(formulation):
    model = case(0).model
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: body0\)"):
        formulation(model, *coordinates(model), [co.Load("wrist", force=(1, 0, 0))])


class Expansion(NamedTuple):
    """Torques and their first and second derivatives by (q, qd, qdd), shapes (n,), (n, 3n), (n, 3n, 3n)."""

    tau: np.ndarray
    first: np.ndarray
    second: np.ndarray


def paper(model: co.Model, state: State, *, inverse: bool = True) -> Expansion:
    """Equations 21 to 25 and 53 to 60 of Lee et al. (2005) in NumPy, term by term, for trees without fixed joints.

    Parameters
    ----------
    model : Model
    state : State
    inverse : bool
        Whether Ad is that of the inverse of f in equations 53 to 55, as it must be; False for what is printed.
    """
    n = model.n
    v, a, dv, da, ddv, dda, maps, first_maps = ([] for _ in range(8))
    screws = [numbers(link_screw(body.joint)) for body in model.bodies]
    dq, dqd, dqdd = np.eye(3 * n).reshape(3, n, 3 * n)
    for k, (body, p) in enumerate(zip(model.bodies, model.parents, strict=True)):
        f = numbers(body.joint.transform(ca.SX(state.q[k])))
        maps.append(Ad_(np.linalg.inv(f)))
        first_maps.append(maps[k] if inverse else Ad_(f))
        s, ad_s, qd, qdd = screws[k], ad_(screws[k]), state.qd[k], state.qdd[k]
        above = np.zeros(6), np.r_[0, 0, 0, -model.gravity], *(np.zeros((6, *[3 * n] * m)) for m in (2, 2, 1, 1))
        if p >= 0:
            above = v[p], a[p], ddv[p], dda[p], dv[p], da[p]
        v0, a0, ddv0, dda0 = (np.tensordot(maps[k], part, 1) for part in above[:4])
        dv0, da0 = (first_maps[k] @ part for part in above[4:])
        v.append(v0 + s * qd)
        a.append(a0 + s * qdd + ad_(v[k]) @ s * qd)
        dv.append(dv0 + np.outer(s, dqd[k]) - np.outer(ad_s @ v[k], dq[k]))
        inside = np.outer(first_maps[k] @ above[1], dq[k]) + dv[k] * qd + np.outer(v[k], dqd[k])
        da.append(da0 + np.outer(s, dqdd[k]) - ad_s @ inside)
        inside = np.einsum("i,aj->aij", dq[k], dv0) + np.einsum("ai,j->aij", dv[k], dq[k])
        ddv.append(ddv0 - np.tensordot(ad_s, inside, 1))
        inside = both(da0, dq[k]) + ddv[k] * qd + both(dv[k], dqd[k])
        inside -= np.einsum("a,i,j->aij", ad_s @ a0, dq[k], dq[k])
        dda.append(dda0 - np.tensordot(ad_s, inside, 1))
    result = Expansion(np.empty(n), np.empty((n, 3 * n)), np.empty((n, 3 * n, 3 * n)))
    own = zip(model.bodies, v, a, dv, da, ddv, dda, strict=True)
    forces = [list(own_forces(body, *motion)) for body, *motion in own]
    for k in reversed(range(n)):
        (f, df, ddf), s, ad_s, p = forces[k], screws[k], -ad_(screws[k]).T, model.parents[k]
        for block, force in zip(result, forces[k], strict=True):
            block[k] = np.tensordot(s, force, 1)
        if p >= 0:
            turned = np.einsum("a,i,j->aij", ad_s @ f, dq[k], dq[k])
            carried = f, df + np.outer(ad_s @ f, dq[k]), ddf + np.tensordot(ad_s, turned + both(df, dq[k]), 1)
            back = maps[k].T, first_maps[k].T, maps[k].T
            forces[p] = [x + np.tensordot(m, y, 1) for m, x, y in zip(back, forces[p], carried, strict=True)]
    return result


def own_forces(body: co.Body, v, a, dv, da, ddv, dda) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The terms of a link alone in equations 24, 55 and 59."""
    j = numbers(spatial_inertia(body.mass, body.com, body.inertia))
    columns = np.array([ad_(x) for x in dv.T])  # ad of every column
    f = j @ a - ad_(v).T @ j @ v
    df = j @ da - np.einsum("iba,b->ai", columns, j @ v) - ad_(v).T @ j @ dv
    cross_terms = np.einsum("iba,bj->aij", columns, j @ dv)
    second = np.array([[ad_(x) for x in row] for row in ddv.transpose(1, 2, 0)])
    ddf = np.tensordot(j, dda, 1) - np.einsum("ijba,b->aij", second, j @ v) - np.tensordot(ad_(v).T @ j, ddv, 1)
    return f, df, ddf - cross_terms - cross_terms.transpose(0, 2, 1)


def both(columns: np.ndarray, row: np.ndarray) -> np.ndarray:
    """columns_i row_j + columns_j row_i, shape (6, 3n, 3n)."""
    product = np.einsum("ai,j->aij", columns, row)
    return product + product.transpose(0, 2, 1)


def skew(x: np.ndarray) -> np.ndarray:
    """Matrix of the cross product."""
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def Ad_(f: np.ndarray) -> np.ndarray:
    """Equation 15."""
    return np.block([[f[:3, :3], np.zeros((3, 3))], [skew(f[:3, 3]) @ f[:3, :3], f[:3, :3]]])


def ad_(x: np.ndarray) -> np.ndarray:
    """Equation 16."""
    return np.block([[skew(x[:3]), np.zeros((3, 3))], [skew(x[3:]), skew(x[:3])]])


@lru_cache
def moving_case(seed: int) -> Case:
    """A tree of five bodies without fixed joints, without loads."""
    rng = np.random.default_rng(seed)
    while True:
        model = random_tree(rng, 5)
        if model.n == 5:
            return Case(model, [], random_state(rng, model), rng.normal(size=5))


@pytest.mark.parametrize("seed", range(4))
def test_equations_of_the_paper_give_the_same_derivatives(seed):
    """Equations 53 to 60 one by one, with the inverses of 53 to 55 put right."""
    model, _, state, multipliers = moving_case(seed)
    symbols = coordinates(model)
    tau, *blocks = evaluate(lie_sensitivities(model, *symbols), symbols, state)
    hessian = evaluate([lie_hessian(model, *symbols, ca.SX(multipliers))], symbols, state)[0]
    print_ = paper(model, state)
    assert relative_error(tau, print_.tau) < 1e-10
    assert relative_error(np.hstack(blocks), print_.first) < 1e-10
    assert relative_error(hessian, np.tensordot(multipliers, print_.second, 1)) < 1e-10


def test_equations_53_to_55_as_printed_do_not():
    model, _, state, _ = moving_case(0)
    symbols = coordinates(model)
    blocks = evaluate(lie_sensitivities(model, *symbols)[1:], symbols, state)
    assert relative_error(paper(model, state, inverse=False).first, np.hstack(blocks)) > 0.1


def test_maps_on_twists_and_wrenches_obey_their_laws():
    """Equations 15 to 18 and 47 to 49: products, power, the bracket, and the derivative along a screw."""
    rng = np.random.default_rng(0)
    first, second = (numbers(co.placement(rng.normal(size=3), rng.normal(size=3))) for _ in range(2))
    x, y, z, wrench = rng.normal(size=(4, 6))

    def value(matrix: ca.SX) -> np.ndarray:
        return numbers(matrix)

    map_1, map_2 = value(Ad(ca.SX(first))), value(Ad(ca.SX(second)))
    assert value(Ad(ca.SX(first @ second))) == pytest.approx(map_1 @ map_2)
    assert map_1 == pytest.approx(Ad_(first))
    bracket = {name: value(ad(ca.SX(twist))) for name, twist in (("x", x), ("y", y))}
    assert bracket["x"] @ y == pytest.approx(-bracket["y"] @ x)
    assert value(ad(ca.SX(bracket["x"] @ y))) == pytest.approx(
        bracket["x"] @ bracket["y"] - bracket["y"] @ bracket["x"]
    )
    assert value(ad(ca.SX(map_1 @ x))) @ map_1 == pytest.approx(map_1 @ bracket["x"])
    assert value(ad_dual(ca.SX(x))) @ wrench @ z == pytest.approx(wrench @ (bracket["x"] @ z))
    joint, q = co.revolute(tuple(x[:3]), ca.SX(first)), ca.SX.sym("q")
    rate = ca.jacobian(ca.vec(Ad(joint.transform(q))), q)
    along = ca.vec(Ad(joint.transform(q)) @ ad(link_screw(joint)))
    assert relative_error(*evaluate([rate, along], [q], [0.7])) < 1e-14


def test_spatial_inertia_gives_the_kinetic_energy():
    rng = np.random.default_rng(1)
    body = co.Body("a", co.revolute(), **random_inertia(rng))
    j = numbers(spatial_inertia(body.mass, body.com, body.inertia))
    omega, v = rng.normal(size=(2, 3))
    at_com = v + np.cross(omega, numbers(body.com))
    energy = (float(body.mass) * at_com @ at_com + omega @ numbers(body.inertia) @ omega) / 2
    twist = np.r_[omega, v]
    assert twist @ j @ twist / 2 == pytest.approx(energy)
    assert np.array_equal(j, j.T)


def test_change_of_the_velocity_forces_is_its_formula():
    """B x = -(J ad_V + ad*_V J) x - ad*_x J V of the docstring, and w' B(v) x = -v' B(w) x."""
    rng = np.random.default_rng(2)
    body = co.Body("a", co.revolute(), **random_inertia(rng))
    properties = body.mass, body.com, body.inertia
    j = numbers(spatial_inertia(*properties))
    v, w, x = rng.normal(size=(3, 6))
    b = numbers(coriolis(*properties, ca.SX(v)))
    assert b @ x == pytest.approx(-(j @ ad_(v) + ad_(v).T @ j) @ x - ad_(x).T @ j @ v)
    assert w @ b @ x == pytest.approx(-v @ numbers(coriolis(*properties, ca.SX(w))) @ x)


def test_turning_of_a_wrench_is_its_derivative():
    rng = np.random.default_rng(3)
    force, moment, point, theta = rng.normal(size=(4, 3))
    angle = ca.SX.sym("angle")
    turn = co.revolute(tuple(theta)).transform(angle)[:3, :3].T
    turned = wrench_at_origin(turn @ force, turn @ moment, ca.SX(point))
    rate = evaluate([ca.jacobian(turned, angle)], [angle], [0.0])[0]
    twist = np.r_[theta / np.linalg.norm(theta), rng.normal(size=3)]
    assert numbers(wrench_turning(ca.SX(force), ca.SX(moment), ca.SX(point))) @ twist == pytest.approx(rate)


def spatial_chain(n: int) -> co.Model:
    """A chain of n hinges with twisted axes and full inertias."""
    tensor = np.array([[0.01, 0.001, 0], [0.001, 0.02, 0.002], [0, 0.002, 0.02]])
    bodies = []
    for k in range(n):
        joint = co.dh_revolute(a=0.3, d=0.1 * (k % 2), alpha=(np.pi / 2, -np.pi / 2, 0.4)[k % 3])
        bodies.append(co.Body(f"b{k}", joint, f"b{k - 1}" if k else None, 1 + 0.1 * k, (-0.15, 0.01, 0.02), tensor))
    return co.Model(bodies)


def test_operations_grow_no_faster_than_the_entries():
    """Linear in the links for the torque, quadratic for both derivatives, and fewer than automatic ones."""

    def operations(n: int) -> list[int]:
        model = spatial_chain(n)
        symbols, weights = coordinates(model), ca.SX.sym("l", n)
        expressions = [
            [lie(model, *symbols)],
            list(lie_sensitivities(model, *symbols)),
            [lie_hessian(model, *symbols, weights)],
            differentiated(model, symbols, ()),
            [differentiated_twice(model, symbols, weights, ())],
        ]
        return [ca.Function("f", [*symbols, weights], x).n_instructions() for x in expressions]

    short, long = operations(12), operations(24)
    torque, first, second, *_ = (b / a for a, b in zip(short, long, strict=True))
    assert torque < 2.3
    assert max(first, second) < 4.4
    assert long[1] < long[3]
    assert long[2] < long[4] / 4
