"""Forms of a program: the same optimum and multipliers, in fewer iterations, or the cheaper of two answers."""

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.refinement import forms
from colloc.refinement.forms import is_exact, is_underactuated, minimises_squared_torques
from colloc.studies.classics.arms import kelly
from tests.support.problems import effort, time_optimal

SWING = kelly()
REACH = replace(time_optimal(), duration=1.0, minimize=co.integral(effort))
CURVE = co.HermiteSimpson(16)


def solved(problem: Any, form: str, curve: Any = CURVE, **kwargs: Any) -> co.Solution:
    """An answer that is not judged between its nodes."""
    return co.solve(problem, curve, plan=[co.refinement.Solve(tol=1.0, form=form)], **kwargs)


@pytest.mark.parametrize("problem", [SWING, REACH, time_optimal()], ids=["swing-up", "reach", "time"])
def test_both_forms_end_at_one_optimum_with_the_same_multipliers(problem: co.Problem):
    compact, lifted = solved(problem, "compact"), solved(problem, "lifted")
    assert "lifted" in lifted.outcome.strategy
    assert "lifted" not in compact.outcome.strategy
    assert lifted.cost == pytest.approx(compact.cost, rel=1e-7)
    assert lifted.x == pytest.approx(compact.x, abs=1e-4 * np.abs(compact.x).max())
    for name, values in compact.multipliers.items():
        assert lifted.multipliers[name] == pytest.approx(values, abs=1e-3 * np.abs(values).max() + 1e-8)
    nlp, x = lifted.nlp, lifted.x
    gradient = nlp.grad_f(x, [])[1] + nlp.jac_g(x, [])[1].T @ lifted.multipliers["g"]
    slope = (np.array(gradient).ravel() + lifted.multipliers["x"]) * nlp.scale_x * nlp.free
    assert np.abs(slope).max() < 1e-7 * lifted.outcome.scale.cost  # pyright: ignore[reportOptionalMemberAccess]


def test_a_swing_up_takes_few_iterations_to_what_a_statement_with_the_force_as_unknown_ends_at():
    lifted = solved(SWING, "auto", co.HermiteSimpson(64))
    assert lifted.iterations <= 15
    tied = co.path(lambda now: ca.vertcat(now.tau[0] - now.force, now.tau[1]), equals=0.0)
    force = co.Unknown("force", lower=-20.0, upper=20.0)
    limits = [limit for limit in SWING.subject_to if not isinstance(limit, co.problem.Bounds)]
    cost = co.integral(lambda now: now.force**2)
    again = co.Problem(SWING.model, 2.0, cost, [*limits, tied], unknowns=[force])
    assert solved(again, "auto", co.HermiteSimpson(64)).cost == pytest.approx(lifted.cost, rel=1e-3)


def test_squared_torques_are_what_pays():
    assert minimises_squared_torques(co.transcribe(SWING, CURVE))
    assert not minimises_squared_torques(co.transcribe(time_optimal(), CURVE))
    assert is_exact(co.Ipopt())
    assert not is_exact(co.Ipopt(hessian=co.solver.Hessian.LIMITED_MEMORY))
    pushed = co.Load("pole", force=lambda now: (-now.q[0], 0.0, 0.0))
    assert not minimises_squared_torques(co.transcribe(replace(SWING, loads=[pushed]), CURVE))
    steady = co.Load("pole", force=(1.0, 0.0, 0.0))
    assert minimises_squared_torques(co.transcribe(replace(SWING, loads=[steady]), CURVE))


def test_driven_joints_go_on_in_lifted_form_where_the_compact_one_takes_long(monkeypatch: pytest.MonkeyPatch):
    assert is_underactuated(co.transcribe(SWING, CURVE))
    assert not is_underactuated(co.transcribe(REACH, CURVE))
    quick = solved(REACH, "auto")
    assert "lifted" not in quick.outcome.strategy
    monkeypatch.setattr(forms, "_QUICK", 2)
    slow = solved(REACH, "auto")
    assert "lifted" in slow.outcome.strategy
    assert slow.iterations > 2
    assert slow.cost == pytest.approx(quick.cost, rel=1e-9)


def test_a_race_keeps_the_cheaper_answer_and_counts_all_iterations():
    ends = {form: solved(SWING, form) for form in ("compact", "lifted", "race")}
    assert ends["race"].cost <= min(ends["compact"].cost, ends["lifted"].cost) * (1 + 1e-9)
    assert ends["race"].iterations == ends["compact"].iterations + ends["lifted"].iterations


def test_a_lifted_program_that_is_not_solved_is_solved_as_it_is():
    stuck = co.Ipopt(max_iter=5)
    assert solved(SWING, "lifted", solver=stuck, raise_on_failure=False).iterations == 5


def test_multipliers_are_a_start_of_the_program_itself():
    first = solved(SWING, "lifted")
    again = solved(first.nlp, "lifted", None, guess=first)
    assert again.iterations <= 3
    assert "lifted" not in again.outcome.strategy


def test_progress_sees_the_variables_of_the_motion():
    seen = []
    solution = solved(SWING, "lifted", progress=lambda now: seen.append(now.x.size))
    assert set(seen) == {solution.x.size}


def test_a_form_that_does_not_exist_is_refused():
    with pytest.raises(co.InputError, match="form must be"):
        co.refinement.Solve(form="both")
