"""Two LBR iiwas with a box, against Pinocchio's constrained dynamics and a second formulation."""

import numpy as np
import pytest

import colloc as co
from colloc.studies.robots import two_iiwas
from tests.studies.quick import numbers_of
from tests.support.random_loops import constrained_acceleration


def test_the_least_torques_of_two_iiwas_are_those_of_the_cut_loop(tmp_path):
    numbers = numbers_of(two_iiwas.main, tmp_path)
    assert numbers["least.solved"] == 1
    assert numbers["least.effort"] == pytest.approx(1651.0, rel=5e-3)
    assert numbers["least.difference"] < 1e-2
    assert numbers["least.gap"] < 1e-9
    assert numbers["least.forward"] < 1e-6


def test_fourteen_torques_of_two_iiwas_move_them_as_in_pinocchio():
    chain, rng = two_iiwas.chain(), np.random.default_rng(3)
    assert (chain.mobility, len(chain.actuators), chain.passive) == (8, 14, ())
    evaluator = co.loops.ChainEvaluator(chain)
    for _ in range(3):
        free = chain.posture[chain.independent_dofs] + rng.uniform(-0.1, 0.1, 8)
        q, rates, changes = co.loops.assemble(chain, free), rng.normal(size=8), 3 * rng.normal(size=8)
        motion = evaluator.motion(q, rates, changes)
        tau = evaluator.forces(q, rates, changes).tau
        found = constrained_acceleration(chain, q, motion.qd, tau)
        np.testing.assert_allclose(found, motion.qdd, atol=1e-8)
