"""The recursion on SE(3) and its derivatives: against the print, term by term; `test_formulations.py` has the rest."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import by_differentiation
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
    coordinates,
    derivatives,
    evaluate,
    numbers,
    random_inertia,
    random_state,
    random_tree,
    relative_error,
    tree_case,
)

ROOM = "colloc.dynamics.liegroup"
RECURSION = [import_module(f"{ROOM}.recursion")]
DERIVATIVES = [import_module(f"{ROOM}.{name}") for name in ("sensitivities", "hessian")]


BY_CASADI = by_differentiation(newton_euler)


def by_casadi_twice(model: co.Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, weights: ca.SX, loads: Any = ()) -> ca.SX:
    """Hessian of the weighted sum of the torques, by automatic differentiation."""
    return ca.hessian(ca.dot(weights, newton_euler(model, q, qd, qdd, loads)), ca.vertcat(q, qd, qdd))[0]


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
    """The tolerances of `test_formulations.py` are far below the effect of a missing or wrong term."""
    modules, name, wrong = mistake
    for module in modules:
        monkeypatch.setattr(module, name, wrong)
    model, loads, state = tree_case(6)
    assert loads
    found, expected = (derivatives(f, model, state, loads) for f in (lie_sensitivities, BY_CASADI))
    assert max(relative_error(*pair) for pair in zip(found, expected, strict=True)) > 1e-3
    if modules is DERIVATIVES:
        symbols, weights = coordinates(model), ca.SX(np.random.default_rng(6).normal(size=model.n))
        hessians = [f(model, *symbols, weights, loads) for f in (lie_hessian, by_casadi_twice)]
        assert relative_error(*evaluate(hessians, symbols, state)) > 1e-3


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
def moving_case(seed: int) -> tuple[co.Model, State, np.ndarray]:
    """A tree of five bodies without fixed joints in a random state, and a multiplier of each torque."""
    rng = np.random.default_rng(seed)
    while True:
        model = random_tree(rng, 5)
        if model.n == 5:
            return model, random_state(rng, model), rng.normal(size=5)


@pytest.mark.parametrize("seed", range(4))
def test_equations_of_the_paper_give_the_same_derivatives(seed):
    """Equations 53 to 60 one by one, with the inverses of 53 to 55 put right."""
    model, state, multipliers = moving_case(seed)
    symbols = coordinates(model)
    tau, *blocks = derivatives(lie_sensitivities, model, state)
    hessian = evaluate([lie_hessian(model, *symbols, ca.SX(multipliers))], symbols, state)[0]
    print_ = paper(model, state)
    assert relative_error(tau, print_.tau) < 1e-10
    assert relative_error(np.hstack(blocks), print_.first) < 1e-10
    assert relative_error(hessian, np.tensordot(multipliers, print_.second, 1)) < 1e-10


def test_equations_53_to_55_as_printed_do_not():
    model, state, _ = moving_case(0)
    _, *blocks = derivatives(lie_sensitivities, model, state)
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
        tau = newton_euler(model, *symbols)
        expressions = [
            [lie(model, *symbols)],
            list(lie_sensitivities(model, *symbols)),
            [lie_hessian(model, *symbols, weights)],
            [tau, *(ca.jacobian(tau, x) for x in symbols)],
            [by_casadi_twice(model, *symbols, weights)],
        ]
        return [ca.Function("f", [*symbols, weights], x).n_instructions() for x in expressions]

    short, long = operations(12), operations(24)
    torque, first, second, *_ = (b / a for a, b in zip(short, long, strict=True))
    assert torque < 2.3
    assert max(first, second) < 4.4
    assert long[1] < long[3]
    assert long[2] < long[4] / 4
