"""The regular Lagrangian equations: the same torque, at the cost of the fourth power of the number of links."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import by_differentiation, equations_of_motion, newton_euler
from colloc.dynamics.lagrangian.recursion import lagrange
from colloc.dynamics.lagrangian.regular import regular_lagrange, regular_sensitivities, regular_terms
from tests.dynamics.test_lagrange_sensitivities import Case, chain, instructions, relative_error, sensitivities
from tests.support.random_trees import coordinates, evaluate, random_inertia, random_loads, random_state, random_tree


@lru_cache
def case(seed: int) -> Case:
    """Tree number `seed`, of 1 to 6 bodies."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, seed % 6 + 1)
    return Case(model, random_loads(rng, model, count=int(rng.integers(0, 5))), random_state(rng, model))


def torques(formulation: Any, model: co.Model, loads: Any, state: Any) -> list[np.ndarray]:
    """Torque of a formulation, and of Newton and Euler."""
    symbols = coordinates(model)
    both = [f(model, *symbols, loads) for f in (formulation, newton_euler)]
    return evaluate(both, symbols, state)


@pytest.mark.parametrize("seed", range(36))
def test_torque_agrees_with_newton_euler(seed):
    value, expected = torques(regular_lagrange, *case(seed))
    assert relative_error(value, expected) < 1e-12


@pytest.mark.parametrize("seed", range(0, 36, 2))
def test_terms_are_the_mass_matrix_and_the_bias(seed):
    """M, and V + G, by automatic differentiation of another recursion; V vanishes at rest and G knows no rate."""
    model, loads, state = case(seed)
    q, qd, _ = coordinates(model)
    mass, velocity, static = regular_terms(model, q, qd, loads)
    terms = [mass, velocity, static, *equations_of_motion(model, q, qd, loads)]
    m, v, g, expected_mass, bias = evaluate(terms, (q, qd), state[:2])
    assert relative_error(m, expected_mass) < 1e-12
    assert relative_error(v + g, bias) < 1e-12
    assert not ca.depends_on(static, qd)
    assert not evaluate([velocity], (q, qd), (state.q, np.zeros(model.n)))[0].any()


@pytest.mark.parametrize("seed", range(0, 36, 5))
def test_coriolis_torques_are_quadratic_in_the_rates(seed):
    model, _, state = case(seed)
    q, qd, _ = coordinates(model)
    _, velocity, _ = regular_terms(model, q, qd)
    once, thrice = (evaluate([velocity], (q, qd), (state.q, scale * state.qd))[0] for scale in (1, 3))
    assert relative_error(thrice, 9 * once) < 1e-12


def test_mass_matrix_of_a_fork_has_no_entry_between_its_prongs():
    prongs = [co.Body(name, co.revolute((1, 0, 0)), "base", mass=1.0) for name in ("left", "right")]
    model = co.Model([co.Body("base", co.revolute(), mass=1.0), *prongs])
    mass, _, _ = regular_terms(model, *coordinates(model)[:2])
    assert not mass.sparsity().has_nz(1, 2)
    assert mass.nnz() == 7


def test_symbolic_mass_and_length():
    x = ca.SX.sym("x", 2)
    rng = np.random.default_rng(5)
    state = random_state(rng, chain(2))
    inertia = {key: value for key, value in random_inertia(rng).items() if key != "mass"}

    def build(length: Any, mass: Any) -> co.Model:
        joint = co.dh_revolute(0.3, length, 0.2, 0.4)
        return co.Model([co.Body(f"body{k}", joint, "body0" if k else None, mass, **inertia) for k in range(2)])

    symbols = coordinates(chain(2))
    (value,) = evaluate([regular_lagrange(build(x[0], x[1]), *symbols)], (*symbols, x), (*state, [0.7, 1.3]))
    (expected,) = evaluate([newton_euler(build(0.7, 1.3), *symbols)], symbols, state)
    assert relative_error(value, expected) < 1e-12


@pytest.mark.parametrize("seed", range(30))
def test_sensitivities_agree_with_the_recursion_and_with_automatic_differentiation(seed):
    model, loads, state = case(seed)
    found = sensitivities(regular_sensitivities, model, state, loads)
    for other in (co.dynamics.lagrange_sensitivities, by_differentiation(regular_lagrange)):
        for mine, theirs in zip(found, sensitivities(other, model, state, loads), strict=True):
            assert relative_error(mine, theirs) < 1e-12


def test_sensitivities_agree_with_central_differences():
    model, loads, state = case(4)
    symbols = coordinates(model)
    _, *slopes = sensitivities(regular_sensitivities, model, state, loads)
    step = 1e-5
    for k, slope in enumerate(slopes):
        for m in range(model.n):
            moved = [np.array(part, dtype=float) for part in state], [np.array(part, dtype=float) for part in state]
            moved[0][k][m] += step
            moved[1][k][m] -= step
            ahead, behind = (evaluate([regular_lagrange(model, *symbols, loads)], symbols, x)[0] for x in moved)
            assert relative_error((ahead - behind) / (2 * step), slope[:, m]) < 1e-7


def test_sensitivities_of_a_fork_have_no_entry_between_its_prongs():
    prongs = [co.Body(name, co.revolute((1, 0, 0)), "base", mass=1.0) for name in ("left", "right")]
    model = co.Model([co.Body("base", co.revolute(), mass=1.0), *prongs])
    for slope in regular_sensitivities(model, *coordinates(model))[1:]:
        assert not slope.sparsity().has_nz(1, 2)


@lru_cache
def operations(formulation: Any, n: int) -> int:
    symbols = coordinates(chain(n))
    found = formulation(chain(n), *symbols)
    return instructions(list(found) if isinstance(found, tuple) else [found], symbols)


def test_operations_grow_with_the_fourth_power_where_the_recursion_is_linear():
    sizes = (4, 6, 8, 10)

    def slope(formulation: Any) -> float:
        counts = [operations(formulation, n) for n in sizes]
        return float(np.polyfit(np.log(sizes), np.log(counts), 1)[0])

    assert 3.3 < slope(regular_lagrange) < 4.3  # 3.51; a cubic term fades only slowly
    assert 0.9 < slope(lagrange) < 1.2


def test_operations_are_a_polynomial_of_fourth_degree():
    """Of identical links, so that the fifth differences vanish and the fourth do not."""
    counts = [operations(regular_lagrange, n) for n in range(2, 9)]
    assert (np.diff(counts, 4) > 0).all()
    assert not np.diff(counts, 5).any()


def test_operations_of_the_sensitivities_are_a_polynomial_of_fifth_degree():
    counts = [operations(regular_sensitivities, n) for n in range(2, 9)]
    assert (np.diff(counts, 5) > 0).all()
    assert not np.diff(counts, 6).any()
