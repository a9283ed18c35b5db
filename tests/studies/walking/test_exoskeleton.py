"""The walker with an exoskeleton, and the weights of a walk's cost from the walk."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.studies.walking.by_muscles import INTERVALS, PATIENT, SPEED, STEP, swinging, walk
from colloc.studies.walking.exoskeleton import main
from tests.studies.quick import numbers_of

TERMS = {
    "excitations": (10.0, lambda now: ca.sum1(now.excitation**3)),
    "lumbar": (10.0, lambda now: ca.sumsqr(now.reserve)),
    "accelerations": (1e-4, lambda now: ca.sumsqr(now.qdd[3:])),
    "trunk": (5.0, lambda now: now.q[2] ** 2),
}


def test_strong_ankles_spare_the_muscles(tmp_path_factory: pytest.TempPathFactory):
    numbers = numbers_of(main, tmp_path_factory.mktemp("exoskeleton"))
    assert numbers["points"] == 3
    assert numbers["muscles.strongest"] < 0.6 * numbers["muscles.none"]
    assert numbers["peak"] == pytest.approx(60.0, rel=1e-3)
    assert 35 < numbers["peak_time"] < 55
    assert 10 < numbers["metabolic_saving"] < 60
    assert numbers["derivative_off"] < 1e-4


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")  # of the coarse grid
def test_a_walk_has_the_weights_of_its_cost():
    made = walk()
    terms = [
        w * co.integral(lambda now, fn=fn: fn(now) / (SPEED * now.duration), name) for name, (w, fn) in TERMS.items()
    ]
    problem = replace(made.problem, minimize=sum(terms[1:], start=terms[0]))
    guess = swinging(made.walker, SPEED, STEP)
    solution = co.solve(problem, co.Radau(INTERVALS), guess=guess, solver=PATIENT, progress=False)
    weights = co.optimality.recover_weights(solution)
    np.testing.assert_allclose(weights.values, [weight for weight, _ in TERMS.values()], rtol=1e-3)
    assert weights.undetermined == ()
