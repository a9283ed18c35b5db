"""Derivatives of the recursive Lagrangian dynamics against four other ways to get them, and a closed form."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import by_differentiation, newton_euler
from colloc.dynamics.lagrangian.recursion import lagrange
from colloc.dynamics.lagrangian.sensitivities import lagrange_sensitivities
from tests.support.random_trees import (
    State,
    coordinates,
    derivatives,
    random_inertia,
    random_state,
    random_unit,
    relative_error,
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
        _, *found = derivatives(lagrange_sensitivities, arm.model, state, loads)
        for value, expected in zip(found, closed_form_gradients(arm, state, f), strict=True):
            assert relative_error(value, expected) < 1e-12


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
