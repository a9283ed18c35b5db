"""Derivatives of the recursive Lagrangian dynamics against four other ways to get them, and a closed form."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import newton_euler
from colloc.dynamics.lagrangian.recursion import lagrange
from colloc.dynamics.lagrangian.sensitivities import lagrange_sensitivities
from tests.support.random_trees import (
    State,
    coordinates,
    evaluate,
    pin,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
    random_unit,
)


class Case(NamedTuple):
    """A random tree with loads, in a random state."""

    model: co.Model
    loads: list[co.Load]
    state: State


@lru_cache
def case(seed: int) -> Case:
    """Tree number `seed`, of 1 to 12 bodies."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, seed % 12 + 1)
    return Case(model, random_loads(rng, model, count=int(rng.integers(0, 6))), random_state(rng, model))


def relative_error(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference, relative to the largest reference value but at least 1."""
    return float(np.abs(value - reference).max() / max(1.0, np.abs(reference).max()))


def sensitivities(recursion: Any, model: co.Model, state: State, loads: Any = ()) -> list[np.ndarray]:
    """Values of tau, shape (n,), and dq, dqd, dqdd, each shape (n, n)."""
    symbols = coordinates(model)
    tau, *slopes = evaluate(recursion(model, *symbols, loads), symbols, state)
    return [tau, *(slope.reshape(model.n, model.n) for slope in slopes)]


def differentiated(model: co.Model, *arguments: Any) -> list[ca.SX]:
    """Torque of the Newton-Euler recursion and its Jacobians by automatic differentiation."""
    tau = newton_euler(model, *arguments)
    return [tau, *(ca.jacobian(tau, x) for x in arguments[:3])]


def chain(n: int, **link: Any) -> co.Model:
    """A spatial chain of identical links on skew hinges, or on what `link` says."""
    rng = np.random.default_rng(0)
    link = {"joint": co.dh_revolute(0.3, 0.2, 0.4, 0.7), **random_inertia(rng), **link}
    bodies = [co.Body(f"body{k}", parent=f"body{k - 1}" if k else None, **link) for k in range(n)]
    return co.Model(bodies, gravity=9.81 * random_unit(rng))


def instructions(expressions: Any, symbols: Any) -> int:
    """Operations of a Function, with its inputs and outputs."""
    return ca.Function("f", list(symbols), list(expressions)).n_instructions()


@pytest.mark.parametrize("seed", range(48))
def test_sensitivities_agree_with_automatic_differentiation_of_newton_euler(seed):
    model, loads, state = case(seed)
    found = sensitivities(lagrange_sensitivities, model, state, loads)
    for value, expected in zip(found, sensitivities(differentiated, model, state, loads), strict=True):
        assert relative_error(value, expected) < 1e-12


@pytest.mark.parametrize("seed", range(0, 48, 2))
def test_sensitivities_agree_with_central_differences(seed):
    model, loads, state = case(seed)
    symbols = coordinates(model)
    torque = ca.Function("torque", symbols, [newton_euler(model, *symbols, loads)])
    _, *slopes = sensitivities(lagrange_sensitivities, model, state, loads)
    step = 1e-5
    for k, slope in enumerate(slopes):
        differences = np.empty((model.n, model.n))
        for m, change in enumerate(step * np.eye(model.n)):
            ahead, behind = (
                torque(*(x + sign * change * (i == k) for i, x in enumerate(state))).full().ravel() for sign in (1, -1)
            )
            differences[:, m] = (ahead - behind) / (2 * step)
        assert relative_error(slope, differences) < 1e-6


@pytest.mark.parametrize("seed", range(1, 48, 4))
def test_sensitivities_agree_with_pinocchio(seed):
    """Its analytical derivatives are a third recursion. They take no loads that keep their direction in the world."""
    model, _, state = case(seed)
    tree = pinocchio_tree(model)
    data = tree.model.createData()  # owns the results
    by_q, by_qd, upper = pin.computeRNEADerivatives(tree.model, data, *map(tree.into, state))
    expected = (by_q, by_qd, np.triu(upper) + np.triu(upper, 1).T)
    _, *slopes = sensitivities(lagrange_sensitivities, model, state)
    for slope, other in zip(slopes, expected, strict=True):
        assert relative_error(slope[np.ix_(tree.dofs, tree.dofs)], other) < 1e-12


@pytest.mark.parametrize("seed", range(48))
def test_entries_are_stored_only_along_lines_of_descent(seed):
    model, loads, _ = case(seed)
    count = len(model.bodies)
    attached = np.eye(count)
    for child, parent in enumerate(model.parents):
        if parent >= 0:
            attached[child, parent] = 1
    descends = np.linalg.matrix_power(attached, count) > 0
    moving = [k for k, dof in enumerate(model.dofs) if dof is not None]
    allowed = (descends | descends.T)[np.ix_(moving, moving)]
    for slope in lagrange_sensitivities(model, *coordinates(model), loads)[1:]:
        stored = np.array(ca.DM(slope.sparsity(), 1)) != 0
        assert not (stored & ~allowed).any()


def test_chain_stores_all_entries_and_a_bush_its_diagonal():
    stem = chain(5)
    bush = co.Model([co.Body(b.name, b.joint, None, b.mass, b.com, b.inertia) for b in stem.bodies])
    _, *full = lagrange_sensitivities(stem, *coordinates(stem))
    _, *diagonal = lagrange_sensitivities(bush, *coordinates(bush))
    assert [slope.nnz() for slope in full] == [25, 25, 25]
    assert all(slope.sparsity().is_diag() for slope in diagonal)


def test_entries_that_are_plainly_zero_are_not_stored():
    """No torque depends on how far and how fast a gantry has moved, in uniform gravity."""
    gantry = [co.Body("x", co.prismatic((1, 0, 0)), mass=2.0), co.Body("y", co.prismatic((0, 1, 0)), "x", 1.0)]
    model = co.Model(gantry)
    found = lagrange_sensitivities(model, *coordinates(model))
    assert (found.dq.nnz(), found.dqd.nnz(), found.dqdd.nnz()) == (0, 0, 2)
    _, *slopes = sensitivities(differentiated, model, State(*np.ones((3, 2))))
    assert not np.any(slopes[:2])


class Arm(NamedTuple):
    """The numbers of a planar two-link arm."""

    lengths: tuple[float, float]
    to_com: tuple[float, float]
    masses: tuple[float, float]
    inertias: tuple[float, float]
    gravity: float

    @property
    def model(self) -> co.Model:
        """The arm; moments of inertia about the other two axes are arbitrary."""
        bodies = []
        for k, name in enumerate(("upper", "lower")):
            com, tensor = (self.to_com[k] - self.lengths[k], 0, 0), (0.2, 0.2, self.inertias[k])
            joint = co.dh_revolute(a=self.lengths[k])
            bodies.append(co.Body(name, joint, "upper" if k else None, self.masses[k], com, tensor))
        return co.Model(bodies, gravity=(0, -self.gravity, 0))


PUBLISHED = Arm((0.4, 0.4), (0.2, 0.2), (0.5, 0.5), (0.1, 0.1), 9.8062)
UNEQUAL = Arm((0.7, 0.45), (0.3, 0.21), (1.3, 0.8), (0.05, 0.09), 3.7)  # no two numbers can be confused


def closed_form_gradients(arm: Arm, state: State, f: float) -> list[np.ndarray]:
    """Gradients of the torques with a load f pointing down at the tip: Xiang et al. (2009), equations 71 to 82.

    The left-hand sides of equations 75 and 76 are printed as derivatives by th1 and th2; they are those by the
    accelerations.
    """
    (L1, L2), (l1, l2), (m1, m2), (I1, I2), g = arm
    (th1, th2), (w1, w2), (a1, a2) = state
    s1, s2, c2, s12 = np.sin(th1), np.sin(th2), np.cos(th2), np.sin(th1 + th2)
    couple = m2 * L1 * l2
    weight = -m2 * g * l2 * s12 - f * L2 * s12
    dq11 = weight - m1 * g * l1 * s1 - m2 * g * L1 * s1 - f * L1 * s1  # 71
    dq12 = couple * (-2 * s2 * a1 - s2 * a2 - 2 * w1 * w2 * c2 - w2**2 * c2) + weight  # 72
    dq = [[dq11, dq12], [weight, couple * (-s2 * a1 + w1**2 * c2) + weight]]  # 77, 78
    dqd = [[-2 * couple * w2 * s2, -2 * couple * (w1 + w2) * s2], [2 * couple * w1 * s2, 0]]  # 73, 74, 79, 80
    tip, both = I2 + m2 * l2**2, I2 + m2 * l2**2 + couple * c2  # 82, and 76 or 81
    dqdd = [[I1 + I2 + m1 * l1**2 + m2 * (L1**2 + l2**2 + 2 * L1 * l2 * c2), both], [both, tip]]  # 75
    return [np.array(slope) for slope in (dq, dqd, dqdd)]


@pytest.mark.parametrize("arm", [PUBLISHED, UNEQUAL], ids=["published", "unequal"])
def test_two_link_arm_has_its_closed_form_gradients(arm):
    rng = np.random.default_rng(0)
    f = 7.3
    loads = [co.Load("lower", force=(0, -f, 0))]
    for _ in range(10):
        state = random_state(rng, arm.model)
        _, *found = sensitivities(lagrange_sensitivities, arm.model, state, loads)
        for value, expected in zip(found, closed_form_gradients(arm, state, f), strict=True):
            assert relative_error(value, expected) < 1e-12


def test_symbolic_masses_lengths_and_loads_give_the_numeric_derivatives():
    rng = np.random.default_rng(11)
    wrench = rng.normal(size=9)
    values = [0.3, 0.5, 1.2, 0.7, *wrench]

    def build(x: Any) -> tuple[co.Model, list[co.Load]]:
        first = co.Body("first", co.dh_revolute(0.3, x[0], x[1], x[2]), None, x[3], (x[0], 0.1, 0.2), (0.1, 0.2, 0.2))
        second = co.Body("second", co.prismatic((1, 2, 0), co.placement((x[1], 0.1, 0), (0, x[2], 0.2))), "first")
        third = co.Body("third", co.revolute((0, 1, 1)), "second", 2 * x[3], (0.1, x[1], 0), (x[0], x[0], x[0]))
        return co.Model([first, second, third]), [co.Load("third", x[4:7], x[7:10], x[10:13])]

    x = ca.SX.sym("x", len(values))
    model, loads = build(x)
    numeric, numeric_loads = build(np.array(values))
    symbols, state = coordinates(model), random_state(rng, model)
    found = evaluate(lagrange_sensitivities(model, *symbols, loads), (*symbols, x), (*state, values))
    expected = evaluate(differentiated(numeric, *symbols, numeric_loads), symbols, state)
    for value, other in zip(found, expected, strict=True):
        assert relative_error(value, other) < 1e-12


def test_loads_count_as_given():
    """A load that follows the motion is not differentiated, wherever it depends on it."""
    model, _, state = case(8)
    symbols = coordinates(model)
    w = ca.SX.sym("w", 9)
    wrench = ca.vertcat(*(ca.sin(k + ca.sum1(symbols[k % 3])) for k in range(9)))
    body = model.bodies[-1].name
    following = lagrange_sensitivities(model, *symbols, [co.Load(body, wrench[:3], wrench[3:6], wrench[6:])])
    held = differentiated(model, *symbols, [co.Load(body, w[:3], w[3:6], w[6:])])
    given = evaluate([wrench], symbols, state)[0]
    for value, other in zip(
        evaluate(following, symbols, state), evaluate(held, (*symbols, w), (*state, given)), strict=True
    ):
        assert relative_error(value, other) < 1e-12


def test_coordinates_may_be_expressions():
    """On a curve q(x), the derivatives by q, qd, qdd chain to the derivative by its shape x."""
    model, loads, _ = case(9)
    rng = np.random.default_rng(9)
    x = ca.SX.sym("x", 4)
    q, qd, qdd = (ca.sin(ca.SX(rng.normal(size=(model.n, 4))) @ x) for _ in range(3))
    found = lagrange_sensitivities(model, q, qd, qdd, loads)
    chained = found.dq @ ca.jacobian(q, x) + found.dqd @ ca.jacobian(qd, x) + found.dqdd @ ca.jacobian(qdd, x)
    direct = ca.jacobian(newton_euler(model, q, qd, qdd, loads), x)
    value, expected = evaluate([chained, direct], [x], [rng.normal(size=4)])
    assert relative_error(value, expected) < 1e-12


def test_nothing_is_left_to_automatic_differentiation(monkeypatch):
    def refuse(*_: Any) -> None:
        raise AssertionError("CasADi was asked for a derivative")

    for name in ("jacobian", "gradient", "jtimes", "hessian", "linearize"):
        monkeypatch.setattr(ca, name, refuse)
    model, loads, _ = case(7)
    lagrange_sensitivities(model, *coordinates(model), loads)


def test_load_on_an_unknown_body_is_refused_with_the_legal_names():
    model = PUBLISHED.model
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: upper, lower\)"):
        lagrange_sensitivities(model, *coordinates(model), [co.Load("wrist", force=(1, 0, 0))])


def test_operations_are_linear_for_the_torque_and_quadratic_for_its_derivatives():
    """Of identical links every one adds the same; a polynomial's differences beyond its degree vanish."""
    torque, slopes = [], []
    for n in range(4, 13):
        model = chain(n)
        symbols = coordinates(model)
        torque.append(instructions([lagrange(model, *symbols)], symbols))
        slopes.append(instructions(lagrange_sensitivities(model, *symbols), symbols))
    assert not np.diff(torque, 2).any()
    assert not np.diff(slopes, 3).any()
    assert (np.diff(slopes, 2) > 0).all()


def test_direct_differentiation_needs_fewer_operations_than_the_automatic_one_of_the_same_recursion():
    model = chain(10)
    symbols = coordinates(model)
    tau = lagrange(model, *symbols)
    automatic = [tau, *(ca.jacobian(tau, x) for x in symbols)]
    assert instructions(lagrange_sensitivities(model, *symbols), symbols) < 0.9 * instructions(automatic, symbols)
