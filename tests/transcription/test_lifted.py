"""Programs with torques as variables: the same motions, costs and optima as in the variables of the motion alone."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.transcription.lifted import LiftedNLP
from tests.support.problems import effort, everything, time_optimal


def squares(**kwargs: Any) -> co.Problem:
    """Least effort within limits of torque and speed."""
    problem = time_optimal()
    return co.Problem(
        problem.model, 1.0, co.integral(effort), [*problem.subject_to, co.bounds(qd=(-9.0, 9.0))], **kwargs
    )


def in_phases() -> co.Phases:
    """Two motions one after the other."""
    return co.Phases({"there": squares(), "back": squares()})


@pytest.mark.parametrize("curve", [co.BSpline(6), co.Radau(4), co.HermiteSimpson(5)])
@pytest.mark.parametrize("problem", [squares(), everything(), in_phases()], ids=["squares", "everything", "phases"])
def test_values_and_derivatives_are_those_of_the_other_program(problem: Any, curve: Any):
    nlp = co.transcribe(problem, curve)
    rng = np.random.default_rng(0)
    x, p = np.clip(0.5 + 0.1 * rng.standard_normal(nlp.n_x), nlp.lower, nlp.upper), problem.parameter_values()
    lifted = LiftedNLP.at(nlp, x, p)
    z = lifted.start(x, p)
    assert lifted.n_x == z.size == lifted.scale_x.size > nlp.n_x
    assert float(lifted.f(z, p)) == pytest.approx(float(nlp.f(x, p)), rel=1e-12)
    rows = np.array(lifted.g(z, p)).ravel()
    assert rows[: nlp.n_g] == pytest.approx(np.array(nlp.g(x, p)).ravel(), abs=1e-9)
    assert np.abs(rows[nlp.n_g :]).max() < 1e-9
    z[nlp.n_x :] += rng.standard_normal(z.size - nlp.n_x)  # what is lifted need not be what the motion needs
    assert max(lifted.check_derivatives(z, p).values()) < 1e-6


def test_eliminating_the_torques_gives_the_other_gradient():
    nlp = co.transcribe(squares(), co.HermiteSimpson(6))
    x = co.solve(nlp, plan=[co.refinement.Solve(tol=1.0)]).x + 1e-3 * nlp.free
    lifted = LiftedNLP.at(nlp, x, np.zeros(0))
    z, m = lifted.start(x, np.zeros(0)), nlp.n_x
    slope, jacobian = np.array(lifted.grad_f(z, [])[1]).ravel(), lifted.jac_g(z, [])[1]
    equations = jacobian[nlp.n_g :, :]
    pulls = np.linalg.solve(np.array(equations[:, m:]).T, -slope[m:])
    eliminated = slope[:m] + np.array(equations[:, :m]).T @ pulls
    assert eliminated == pytest.approx(np.array(nlp.grad_f(x, [])[1]).ravel(), rel=1e-9, abs=1e-9)


def test_rows_and_variables_keep_their_names():
    nlp = co.transcribe(squares(), co.BSpline(5))
    x = np.clip(np.ones(nlp.n_x), nlp.lower, nlp.upper)
    lifted = LiftedNLP.at(nlp, x, np.zeros(0))
    assert lifted.row_name(0) == nlp.row_name(0)
    assert lifted.row_name(nlp.n_g).startswith("tau[shoulder] lifted at s =")
    assert lifted.variable_name(0, x) == nlp.variable_name(0, x)
    assert lifted.variable_name(nlp.n_x, x) == "lifted torque 0"


def test_equations_stay_in_the_variables_of_the_motion():
    problem = co.Problem(squares().model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau[0])), squares().subject_to[:2])
    held = co.Problem(problem.model, 1.0, problem.minimize, [*problem.subject_to, co.bounds(tau={"elbow": (0.0, 0.0)})])
    nlp = co.transcribe(held, co.BSpline(5))
    lifted = LiftedNLP.at(nlp, np.clip(np.ones(nlp.n_x), nlp.lower, nlp.upper), np.zeros(0))
    assert {block.name for block in lifted.constraints} == {block.name for block in nlp.constraints} | {
        "lifted torques"
    }
    assert lifted.constraints[-1].rows.labels == ("tau[shoulder] lifted",)
