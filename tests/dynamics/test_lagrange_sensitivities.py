"""Derivatives of the recursive Lagrangian dynamics: which entries are stored, and what they take."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.dynamics import by_differentiation, newton_euler
from colloc.dynamics.lagrangian.recursion import lagrange
from colloc.dynamics.lagrangian.sensitivities import lagrange_sensitivities
from tests.support.random_trees import (
    State,
    coordinates,
    derivatives,
    random_inertia,
    random_unit,
)


def chain(n: int, **link: Any) -> co.Model:
    """A spatial chain of identical links on skew hinges, or on what `link` says."""
    rng = np.random.default_rng(0)
    link = {"joint": co.dh_revolute(0.3, 0.2, 0.4, 0.7), **random_inertia(rng), **link}
    bodies = [co.Body(f"body{k}", parent=f"body{k - 1}" if k else None, **link) for k in range(n)]
    return co.Model(bodies, gravity=9.81 * random_unit(rng))


def instructions(expressions: Any, symbols: Any) -> int:
    """Operations of a Function, with its inputs and outputs."""
    return ca.Function("f", list(symbols), list(expressions)).n_instructions()


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
    _, *slopes = derivatives(by_differentiation(newton_euler), model, State(*np.ones((3, 2))))
    assert not np.any(slopes[:2])


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
