"""The regular Lagrangian equations: the same torque, at the cost of the fourth power of the number of links."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.dynamics.lagrangian.closed_form import mass_matrix_terms, regular_lagrange, regular_sensitivities
from colloc.dynamics.lagrangian.recursion import lagrange
from tests.dynamics.test_lagrange_sensitivities import chain, instructions
from tests.support.random_trees import (
    coordinates,
    evaluate,
    relative_error,
    tree_case,
)


@pytest.mark.parametrize("seed", [0, 2, 4, 5])
def test_coriolis_torques_are_quadratic_in_the_rates(seed):
    model, _, state = tree_case(seed)
    q, qd, _ = coordinates(model)
    _, velocity, _ = mass_matrix_terms(model, q, qd)
    once, thrice = (evaluate([velocity], (q, qd), (state.q, scale * state.qd))[0] for scale in (1, 3))
    assert relative_error(thrice, 9 * once) < 1e-12


def test_mass_matrix_of_a_fork_has_no_entry_between_its_prongs():
    prongs = [co.Body(name, co.revolute((1, 0, 0)), "base", mass=1.0) for name in ("left", "right")]
    model = co.Model([co.Body("base", co.revolute(), mass=1.0), *prongs])
    mass, _, _ = mass_matrix_terms(model, *coordinates(model)[:2])
    assert not mass.sparsity().has_nz(1, 2)
    assert mass.nnz() == 7


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
