"""Every formulation of the torques, every recursion of their derivatives and the Hessian on the same random trees.

They share no term with each other, so that they agree only where all are right. They are compared with the Newton-Euler
recursion differentiated by CasADi, central differences, Pinocchio and MuJoCo.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import by_differentiation, equations_of_motion, lie_hessian, mass_matrix
from colloc.dynamics.lagrangian.closed_form import mass_matrix_terms
from tests.support.random_trees import (
    Case,
    branches,
    children,
    coordinates,
    evaluate,
    mujoco_xml,
    numbers,
    pin,
    pinocchio_inverse_dynamics,
    pinocchio_mass_matrix,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
    related,
    relative_error,
    symmetric_in_order,
    torque,
    tree_case,
)

mj: Any = mujoco
SEEDS = range(24)
every_tree = pytest.mark.parametrize("seed", SEEDS)
some_trees = pytest.mark.parametrize("seed", range(0, 24, 3))
FORMULATIONS = {
    "newton_euler": co.dynamics.newton_euler,
    "lagrange": co.dynamics.lagrange,
    "lie": co.dynamics.lie,
    "regular_lagrange": co.dynamics.regular_lagrange,
}
RECURSIONS = {
    "composite": co.dynamics.composite_sensitivities,
    "newton_euler": co.dynamics.newton_euler_sensitivities,
    "lagrange": co.dynamics.lagrange_sensitivities,
    "lie": co.dynamics.lie_sensitivities,
    "regular": co.dynamics.regular_sensitivities,
    "differentiated lagrange": by_differentiation(co.dynamics.lagrange),
}
# By which the torques and their derivatives may differ from those of CasADi.
TOLERANCES = {"newton_euler": 1e-11, "lie": 1e-10}
BY_HAND = ["composite", "newton_euler", "lagrange", "lie", "regular"]
every_recursion = pytest.mark.parametrize("name", BY_HAND)


def affordable(functions: dict[str, Any], model: co.Model) -> dict[str, Any]:
    """Those whose graphs stay small on this tree: the closed form grows with the fourth power of its size."""
    return {name: f for name, f in functions.items() if len(model.bodies) <= 6 or not name.startswith("regular")}


def test_the_trees_cover_what_they_are_meant_to_cover():
    """The agreement below is worth as much as the variety of its trees."""
    cases = [tree_case(seed) for seed in SEEDS]
    bodies = [(case.model, k, body) for case in cases for k, body in enumerate(case.model.bodies)]
    massless = [bool(children(model, k)) for model, k, body in bodies if float(body.mass) == 0]
    assert {len(case.model.bodies) for case in cases} == {*range(1, 13), 20, 40}
    assert {body.joint.kind for _, _, body in bodies} == {"revolute", "prismatic", "helical", "fixed"}
    assert massless.count(True) > 20  # inside
    assert massless.count(False) > 10  # at a tip
    assert max(case.model.n for case in cases) > 25
    assert sum(len(branches(case.model)) > 3 for case in cases) > 6
    assert sum(sum(parent < 0 for parent in case.model.parents) > 1 for case in cases) > 6
    assert sum(len(case.loads) > 1 for case in cases) > 8
    assert sum(case.model.bodies[0].joint.kind == "prismatic" for case in cases) > 6
    assert sum(len(affordable(FORMULATIONS, case.model)) == len(FORMULATIONS) for case in cases) > 6


@every_tree
def test_torques_agree_with_pinocchio(seed):
    model, loads, state = tree_case(seed)
    expected, _ = pinocchio_inverse_dynamics(pinocchio_tree(model), model, state, loads)
    for name, formulation in affordable(FORMULATIONS, model).items():
        assert relative_error(torque(formulation, model, state, loads), expected) < 1e-10, name


@some_trees
def test_torques_agree_with_mujoco(seed):
    model, loads, state = tree_case(seed, virtual=False, threads=False)
    other = mj.MjModel.from_xml_string(mujoco_xml(model))
    data = mj.MjData(other)
    # Colloc's coordinate of every MuJoCo coordinate; MuJoCo numbers depth first.
    dofs = [model.joint_names.index(other.joint(k).name) for k in range(other.njnt)]
    for target, values in zip((data.qpos, data.qvel, data.qacc), state, strict=True):
        target[:] = values[dofs]
    mj.mj_inverse(other, data)
    applied = np.zeros(other.nv)
    for load in loads:
        body = other.body(load.body).id
        # MuJoCo's body frame is the joint's; colloc's link frame is `after` it.
        after = numbers(model.bodies[model.index(load.body)].joint.after)
        local = after[:3, 3] + after[:3, :3] @ numbers(load.point)
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ local
        mj.mj_applyFT(other, data, numbers(load.force), numbers(load.moment), point, body, applied)
    for name, formulation in affordable(FORMULATIONS, model).items():
        found = torque(formulation, model, state, loads)[dofs]
        assert relative_error(found, data.qfrc_inverse - applied) < 1e-10, name


def scaled(loads: Sequence[co.Load], share: Any) -> list[co.Load]:
    """Loads of which only a share acts."""
    return [co.Load(load.body, share * load.force, share * load.moment, load.point) for load in loads]


def assert_derivatives_agree(case: Case, label: str = "", tolerance: float | None = None) -> None:
    """Torques and derivatives of all recursions: by CasADi with the loads, by Pinocchio, which knows none, without;
    and no entry is stored between joints of different branches, or that is plainly zero."""
    model, loads, state = case
    symbols, share = coordinates(model), ca.SX.sym("share")
    allowed = related(model)[np.ix_(*2 * [[k for k, dof in enumerate(model.dofs) if dof is not None]])]
    automatic = by_differentiation(co.dynamics.newton_euler)(model, *symbols, scaled(loads, share))
    expected = evaluate([*map(ca.densify, automatic)], [*symbols, share], [*state, 1])
    tree = pinocchio_tree(model)
    data = tree.model.createData()
    pin.computeRNEADerivatives(tree.model, data, *map(tree.into, state))
    slopes = (np.apply_along_axis(tree.back, 1, slope) for slope in (data.dtau_dq, data.dtau_dv))
    unloaded = [np.apply_along_axis(tree.back, 0, slope) for slope in slopes]
    unloaded = [tree.back(data.tau), *unloaded, symmetric_in_order(tree, data.M)]
    for name, recursion in affordable(RECURSIONS, model).items():
        result = recursion(model, *symbols, scaled(loads, share))
        function = ca.Function("f", [*symbols, share], list(map(ca.densify, result)))
        for loaded, references in ((1, expected), (0, unloaded)):
            for part, value, reference in zip(result._fields, function(*state, loaded), references, strict=True):
                error = relative_error(np.array(value).reshape(reference.shape), reference)
                limit = tolerance or TOLERANCES.get(name, 1e-12 if loaded else 1e-11)
                assert error < limit, (label, name, part, loaded)
        if name in BY_HAND:
            assert_sparse(result[1:], automatic[1:], allowed, name)


def assert_sparse(blocks: Sequence[ca.SX], automatic: Sequence[ca.SX], allowed: np.ndarray, name: str) -> None:
    """Neither the recursions nor CasADi see all zeros that cancel."""
    for block, reference in zip(blocks, automatic, strict=True):
        assert block.shape == reference.shape
        entries = ca.sparsify(block) if name == "regular" else block  # which looks for no zeros
        assert not (stored(entries, name) & ~allowed).any(), name
        assert entries.nnz() <= 1.05 * reference.nnz() + 1, name
    if name == "composite":
        assert sum(block.nnz() for block in blocks) <= sum(block.nnz() for block in automatic) + 1


def stored(matrix: ca.SX, label: str = "") -> np.ndarray:
    """Whether an entry is stored; every stored entry must be more than a plain zero."""
    assert not any(matrix.nz[k].is_zero() for k in range(matrix.nnz())), label
    return np.array(ca.DM(matrix.sparsity(), 1)) == 1


@every_tree
def test_derivatives_agree_with_automatic_ones_and_pinocchios(seed):
    assert_derivatives_agree(tree_case(seed))


@some_trees
def test_automatic_derivatives_agree_with_central_differences(seed):
    model, loads, state = tree_case(seed)
    symbols = coordinates(model)
    torques = ca.Function("torque", list(symbols), [co.dynamics.newton_euler(model, *symbols, loads)]).map(model.n)
    recursion, step = by_differentiation(co.dynamics.newton_euler), 1e-5 * np.eye(model.n)
    for k, slope in enumerate(evaluate(recursion(model, *symbols, loads)[1:], symbols, state)):
        columns = [[np.tile(part[:, None], model.n) + sign * step * (i == k) for i, part in enumerate(state)]
                   for sign in (1, -1)]  # fmt: skip
        ahead, behind = (np.array(torques(*side)) for side in columns)
        assert relative_error(slope.reshape(model.n, -1), (ahead - behind) / 2e-5) < 1e-6


@pytest.mark.parametrize("seed", range(10))
def test_the_hessian_agrees_with_automatic_differentiation(seed):
    model, loads, state = tree_case(seed)
    symbols, weights = coordinates(model), ca.SX.sym("l", model.n)
    expected = ca.hessian(ca.dot(weights, co.dynamics.newton_euler(model, *symbols, loads)), ca.vertcat(*symbols))[0]
    found = lie_hessian(model, *symbols, weights, loads)
    assert found.shape == expected.shape
    assert found.nnz() <= 1.05 * expected.nnz() + 4
    moving = [k for k, dof in enumerate(model.dofs) if dof is not None]
    assert not stored(found)[~np.tile(related(model)[np.ix_(moving, moving)], (3, 3))].any()
    multipliers = np.random.default_rng(seed).normal(size=model.n)
    values = evaluate([found, expected], [*symbols, weights], [*state, multipliers])
    assert relative_error(*values) < 1e-9
    assert np.array_equal(values[0], values[0].T)


@pytest.mark.parametrize("seed", [11, 12])
def test_the_hessian_agrees_with_central_differences_of_the_derivatives(seed):
    model, loads, state = tree_case(seed)
    symbols, multipliers = coordinates(model), np.random.default_rng(seed).normal(size=model.n)
    gradient = ca.horzcat(*co.dynamics.lie_sensitivities(model, *symbols, loads)[1:]).T @ multipliers
    x, point, step = ca.vertcat(*symbols), np.concatenate(state), 1e-5
    slope = ca.Function("slope", [x], [gradient]).map(3 * model.n)
    ahead, behind = (np.array(slope(point[:, None] + sign * step * np.eye(x.numel()))) for sign in (1, -1))
    found = evaluate([lie_hessian(model, *symbols, ca.SX(multipliers), loads)], symbols, state)[0]
    assert relative_error(found, (ahead - behind) / (2 * step)) < 1e-6


@every_tree
def test_mass_matrices_agree_with_pinocchio(seed):
    model, _, state = tree_case(seed)
    q, qd, _ = coordinates(model)
    found = {"equations": equations_of_motion(model, q, qd)[0], "composite": mass_matrix(model, q)}
    if len(model.bodies) <= 6:
        found["regular"] = mass_matrix_terms(model, q, qd)[0]
    expected = pinocchio_mass_matrix(pinocchio_tree(model), model, state.q)
    for name, value in zip(found, evaluate([*found.values()], (q, qd), state[:2]), strict=True):
        assert relative_error(value.reshape(expected.shape), expected) < 1e-12, name


@some_trees
def test_mass_matrices_of_massive_links_are_symmetric_positive_definite(seed):
    model, _, state = tree_case(seed, virtual=False)
    q, qd, _ = coordinates(model)
    matrices = [equations_of_motion(model, q, qd)[0], mass_matrix(model, q)]
    by_equations, composite = (m.reshape(model.n, -1) for m in evaluate(matrices, (q, qd), state[:2]))
    assert relative_error(by_equations, by_equations.T) < 1e-13
    assert np.array_equal(composite, composite.T)
    np.linalg.cholesky(by_equations)
    np.linalg.cholesky(composite)


@some_trees
def test_mass_matrix_and_bias_make_up_the_torque(seed):
    """Of every formulation; with the closed form, whose bias is the sum of velocity torques and static ones."""
    model, loads, state = tree_case(seed)
    q, qd, _ = coordinates(model)
    mass, bias = evaluate([*equations_of_motion(model, q, qd, loads)], (q, qd), state[:2])
    total = mass.reshape(model.n, -1) @ state.qdd + bias
    for name, formulation in affordable(FORMULATIONS, model).items():
        assert relative_error(torque(formulation, model, state, loads), total) < 1e-11, name
    if len(model.bodies) <= 6:
        _, velocity, static = mass_matrix_terms(model, q, qd, loads)
        fast, still, at_rest = evaluate([velocity, static, ca.substitute(velocity, qd, 0 * qd)], (q, qd), state[:2])
        assert relative_error(fast + still, bias) < 1e-12
        assert not ca.depends_on(static, qd)
        assert not at_rest.any()


def _flip_loads(model, loads):
    return model, [co.Load(w.body, -w.force, -w.moment, w.point) for w in loads]


def _drop_moments(model, loads):
    return model, [co.Load(w.body, w.force, point=w.point) for w in loads]


def _load_at_the_origin(model, loads):
    return model, [co.Load(w.body, w.force, w.moment) for w in loads]


def _flip_gravity(model, loads):
    return co.Model(model.bodies, gravity=-model.gravity), loads


def _forget_steiner(model, loads):
    bodies = [co.Body(b.name, b.joint, b.parent, b.mass, (0, 0, 0), b.inertia) for b in model.bodies]
    return co.Model(bodies, gravity=model.gravity), loads


def _forget_products_of_inertia(model, loads):
    bodies = [
        co.Body(b.name, b.joint, b.parent, b.mass, b.com, np.diag(numbers(b.inertia)).copy()) for b in model.bodies
    ]
    return co.Model(bodies, gravity=model.gravity), loads


@pytest.mark.parametrize(
    "mistake",
    [_flip_loads, _drop_moments, _load_at_the_origin, _flip_gravity, _forget_steiner, _forget_products_of_inertia],
)
def test_the_comparison_with_pinocchio_catches_a_wrong_physics(mistake):
    """The tolerance of the agreement is far below the effect of any one of the classic mistakes."""
    rng = np.random.default_rng(3)
    model = random_tree(rng, 8, virtual=False)
    loads, state = random_loads(rng, model, count=12), random_state(rng, model)
    expected, _ = pinocchio_inverse_dynamics(pinocchio_tree(model), model, state, loads)
    wrong_model, wrong_loads = mistake(model, loads)
    for formulation in affordable(FORMULATIONS, model).values():
        assert relative_error(torque(formulation, wrong_model, state, wrong_loads), expected) > 1e-3


@every_recursion
def test_a_forgotten_moment_would_be_noticed_in_the_derivatives(name):
    rng = np.random.default_rng(3)
    model = random_tree(rng, 4)
    loads, state = random_loads(rng, model, count=12), random_state(rng, model)
    symbols, (_, without) = coordinates(model), _drop_moments(model, loads)
    both = (RECURSIONS[name](model, *symbols, w).dq for w in (without, loads))
    assert relative_error(*evaluate(list(both), symbols, state)) > 1e-3


def test_symbolic_masses_lengths_and_loads_give_the_numeric_values():
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

    known: list[list[Any]] = [[p[key] for p in properties] for key in ("mass", "com", "inertia")]
    numeric, numeric_loads = build(known[0], known[1], known[2], lengths, wrench)
    masses = [ca.SX.sym(f"m{k}") for k in range(3)]
    coms = [ca.SX.sym(f"c{k}", 3) for k in range(3)]
    tensors = [ca.SX.sym("I0", 3), ca.SX.sym("I1", 3), ca.SX.sym("I2", 3, 3)]
    x, w = ca.SX.sym("x", 5), ca.SX.sym("w", 9)
    model, loads = build(masses, coms, tensors, x, w)
    symbols, weights = coordinates(model), ca.SX([1.0, -2.0, 0.5])

    def everything(*arguments: Any) -> list[ca.SX]:
        model, *_, loads = arguments
        parts = [formulation(*arguments) for formulation in FORMULATIONS.values()]
        parts += [ca.densify(part) for recursion in RECURSIONS.values() for part in recursion(*arguments)]
        reactions = co.dynamics.reaction_sensitivities(*arguments)
        parts += [*reactions.force, *reactions.moment, lie_hessian(model, *symbols, weights, loads)]
        return parts

    state = random_state(rng, numeric)
    found = evaluate(
        everything(model, *symbols, loads),
        [*symbols, *masses, *coms, *tensors, x, w],
        [*state, *known[0], *known[1], *known[2], lengths, wrench],
    )
    expected = evaluate(everything(numeric, *symbols, numeric_loads), symbols, state)
    for value, reference in zip(found, expected, strict=True):
        assert relative_error(value, reference) < 1e-13


@every_recursion
def test_loads_count_as_given(name):
    """A load that follows the motion is not differentiated, wherever it depends on it; nor by the Hessian."""
    rng = np.random.default_rng(8)
    model = random_tree(rng, 4)
    symbols, state, w = coordinates(model), random_state(rng, model), ca.SX.sym("w", 9)
    wrench = ca.vertcat(*(ca.sin(k + ca.sum1(symbols[k % 3])) for k in range(9)))

    def loads(w: ca.SX) -> list[co.Load]:
        return [co.Load(model.bodies[-1].name, w[:3], w[3:6], w[6:])]

    weights = ca.SX(rng.normal(size=model.n))
    following = [
        *RECURSIONS[name](model, *symbols, loads(wrench)),
        lie_hessian(model, *symbols, weights, loads(wrench)),
    ]
    held = [*by_differentiation(co.dynamics.newton_euler)(model, *symbols, loads(w))]
    held.append(ca.hessian(ca.dot(weights, held[0]), ca.vertcat(*symbols))[0])
    value = evaluate([wrench], symbols, state)[0]
    found = evaluate(following, symbols, state)
    for mine, other in zip(found, evaluate(held, (*symbols, w), (*state, value)), strict=True):
        assert relative_error(mine, other) < 1e-12


@every_recursion
def test_coordinates_may_be_expressions(name):
    """On a curve q(x), the derivatives by q, qd, qdd chain to the derivative by its shape x."""
    rng = np.random.default_rng(9)
    model = random_tree(rng, 4)
    loads, x = random_loads(rng, model), ca.SX.sym("x", 4)
    q, qd, qdd = (ca.sin(ca.SX(rng.normal(size=(model.n, 4))) @ x) for _ in range(3))
    found = RECURSIONS[name](model, q, qd, qdd, loads)
    chained = found.dq @ ca.jacobian(q, x) + found.dqd @ ca.jacobian(qd, x) + found.dqdd @ ca.jacobian(qdd, x)
    direct = ca.jacobian(co.dynamics.newton_euler(model, q, qd, qdd, loads), x)
    value, expected = evaluate([chained, direct], [x], [rng.normal(size=4)])
    assert relative_error(value, expected) < 1e-12


@every_recursion
def test_nothing_is_left_to_automatic_differentiation(name, monkeypatch):
    def refuse(*_: Any) -> None:
        raise AssertionError("CasADi was asked for a derivative")

    for method in ("jacobian", "gradient", "tangent", "hessian", "jtimes", "forward", "reverse", "linearize"):
        monkeypatch.setattr(ca, method, refuse)
    model, loads, _ = tree_case(4)
    RECURSIONS[name](model, *coordinates(model), loads)
    if name == "newton_euler":
        co.dynamics.reaction_sensitivities(model, *coordinates(model), loads)
    if name == "lie":
        lie_hessian(model, *coordinates(model), ca.SX.sym("l", model.n), loads)


@pytest.mark.parametrize(
    "function",
    [*FORMULATIONS.values(), *RECURSIONS.values(), co.dynamics.reaction_sensitivities],
    ids=lambda f: f.__name__,
)
def test_load_on_an_unknown_body_is_refused_with_the_legal_names(function):
    model = co.Model([co.Body("upper", co.revolute(), mass=1), co.Body("lower", co.revolute(), "upper", mass=1)])
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: upper, lower\)"):
        function(model, *coordinates(model), [co.Load("wrist", force=(1, 0, 0))])
