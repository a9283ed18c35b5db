"""A planar arm of two links: torques and their derivatives in closed form, as published."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import INERTIA, LENGTH, MASS, two_link
from tests.dynamics.test_formulations import FORMULATIONS, RECURSIONS
from tests.support.random_trees import State, derivatives, random_state, relative_error, torque


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


PUBLISHED = Arm((LENGTH, LENGTH), (LENGTH / 2, LENGTH / 2), (MASS, MASS), (INERTIA, INERTIA), 9.8062)
UNEQUAL = Arm((0.7, 0.45), (0.3, 0.21), (1.3, 0.8), (0.05, 0.09), 3.7)  # no two numbers can be confused


def closed_form(arm: Arm, state: State, f: float) -> np.ndarray:
    """Torques of the arm with a load f pointing down at its tip: Xiang et al. (2009), equations 69 and 70."""
    (L1, L2), (l1, l2), (m1, m2), (I1, I2), g = arm
    (th1, th2), (w1, w2), (a1, a2) = state
    c1, c2, s2, c12 = np.cos(th1), np.cos(th2), np.sin(th2), np.cos(th1 + th2)
    tau1 = (
        (I1 + I2 + m1 * l1**2 + m2 * (L1**2 + l2**2 + 2 * L1 * l2 * c2)) * a1
        + (I2 + m2 * l2**2 + m2 * L1 * l2 * c2) * a2
        - 2 * m2 * L1 * l2 * w1 * w2 * s2
        - m2 * L1 * l2 * w2**2 * s2
        + m2 * g * l2 * c12
        + m1 * g * l1 * c1
        + m2 * g * L1 * c1
        + f * L2 * c12
        + f * L1 * c1
    )
    tau2 = (
        (I2 + m2 * l2**2) * a2
        + (I2 + m2 * l2**2 + m2 * L1 * l2 * c2) * a1
        + m2 * L1 * l2 * w1**2 * s2
        + m2 * g * l2 * c12
        + f * L2 * c12
    )
    return np.array([tau1, tau2])


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
def test_torques_and_their_derivatives_are_the_closed_forms(arm):
    f, state = 7.3, random_state(np.random.default_rng(0), arm.model)
    loads = [co.Load("lower", force=(0, -f, 0))]
    for name, formulation in FORMULATIONS.items():
        assert relative_error(torque(formulation, arm.model, state, loads), closed_form(arm, state, f)) < 1e-12, name
    for name, recursion in RECURSIONS.items():
        _, *slopes = derivatives(recursion, arm.model, state, loads)
        for value, expected in zip(slopes, closed_form_gradients(arm, state, f), strict=True):
            assert relative_error(value, expected) < 1e-12, name


def test_the_published_arm_is_the_ready_made_one():
    state = State(*np.random.default_rng(1).normal(size=(3, 2)))
    ours, published = (
        torque(co.dynamics.lie, model, state) for model in (two_link(PUBLISHED.gravity), PUBLISHED.model)
    )
    assert relative_error(ours, published) < 1e-12
