"""Climbing stairs: each walk starts from the one on lower stairs, and treads push only feet that stand on them."""

import warnings
from functools import partial

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.studies.walking import stairs_by_muscles as stairs


@pytest.fixture(scope="module")
def low():
    made = stairs.climb()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # a coarse grid
        return made, stairs.solve(made, (0.0, 0.04), 0)


def test_a_climb_starts_from_a_level_walk(low):
    made, solution = low
    assert solution.outcome.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(0.0368, rel=0.02)
    rise = np.asarray(solution.q[-1] - solution.q[0])[:2]
    mirrored = solution.q[0, made.walker.model.joint_names.index("hip_flexion_l")]
    assert rise == pytest.approx([stairs.DEPTH, 0.04], abs=1e-6)
    assert solution.q[-1, made.walker.model.joint_names.index("hip_flexion_r")] == pytest.approx(mirrored, abs=1e-6)


def test_feet_stay_clear_of_the_stairs_and_on_their_treads(low):
    made, solution = low
    balls, t = made.walker.contact.spheres, np.linspace(0.0, solution.duration, 101)
    assert solution.evaluate(partial(stairs.clearance, balls), t).min() > -stairs.SUNK - 5e-3
    force = solution.evaluate(lambda now: ca.vertcat(*(b.force(now)[1] for b in balls)), t)
    swings = (t > 0.45 * solution.duration) & (t < 0.55 * solution.duration)
    assert np.abs(force[swings][:, [ball.name.endswith("_r") for ball in balls]]).max() < 5.0  # N


def test_treads_carry_the_weight_and_do_its_work(low):
    """Momentum over half a stride, and the height that the centre of mass gains."""
    made, solution = low
    numbers = stairs.measured(made, solution)
    assert numbers["mean_force"] == pytest.approx(1.0, abs=0.02)
    center = solution.evaluate(lambda now: co.dynamics.center_of_mass(now.model, now.q)[1], [0.0, solution.duration])
    assert float(center[1] - center[0]) == pytest.approx(0.04, abs=1e-6)
