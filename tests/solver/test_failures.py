"""A failed solve says why, in a few lines, and what cannot succeed does not begin."""

import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solver.degenerate import constant_rows
from tests.support.problems import effort, time_optimal

ROOT = Path(__file__).parents[2]
CURVES = [co.BSpline(10), co.Radau(10), co.HermiteSimpson(10)]


def swing(*more, cost: co.problem.Cost | None = None) -> co.Problem:
    """From rest to rest in a second."""
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(two_link(), 1.0, cost or co.integral(effort), [*ends, *more])


def reason(problem: co.Problem, curve) -> tuple[str, co.Solution]:
    """Messages of failed solves, and their last iterates."""
    with pytest.raises(co.SolveError) as caught:
        co.solve(problem, curve, solver=co.Ipopt(max_iter=400))
    assert isinstance(caught.value.solution, co.Solution)
    return str(caught.value), caught.value.solution


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_velocities_too_small_for_the_time_are_named(curve):
    said, _ = reason(swing(co.bounds(qd=(-0.7, 0.7))), curve)
    assert "infeasible" in said
    assert "above its upper bound 0.7" in said
    conflict = said.split("cannot be met together with:")[1]
    assert "qd[shoulder]" in conflict
    assert "qd[elbow]" in conflict
    for joint in ("shoulder", "elbow"):
        assert f"initial q[{joint}], which must equal 0" in conflict
        assert f"final q[{joint}], which must equal 1" in conflict


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_end_conditions_that_have_no_part_in_it_are_not_named(curve):
    """The shoulder is too slow for its way; the elbow is not limited, and on its way wherever it has to go."""
    said, _ = reason(swing(co.bounds(qd={"shoulder": (-0.7, 0.7)})), curve)
    conflict = said.split("cannot be met together with:")[1]
    assert "initial q[shoulder], which must equal 0" in conflict
    assert "final q[shoulder], which must equal 1" in conflict
    assert "elbow" not in conflict


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_velocities_at_the_ends_are_among_what_conflicts(curve):
    """Nothing that starts so fast can stop before the limit."""
    rows = [co.initial(q=0.0, qd=3.0), co.bounds(q=(-0.1, 1.1), qdd=(-3.0, 3.0))]
    said, _ = reason(co.Problem(two_link(), 1.0, co.integral(effort), rows), curve)
    conflict = said.split("cannot be met together with:")[1]
    assert "initial qd[shoulder], which must equal 3" in conflict
    assert "initial q[elbow], which must equal 0" in conflict


def test_values_at_a_moment_and_states_at_the_ends_are_among_what_conflicts():
    level = co.State("level", rate=lambda now: now.push)
    push = co.Unknown("push", lower=-1.0, upper=1.0)
    rows = [co.initial(states={"level": 0.0}), co.final(states={"level": 3.0})]
    problem = co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.push**2), rows, unknowns=[level, push])
    said, _ = reason(problem, co.Radau(5))
    conflict = said.split("cannot be met together with:")[1]
    assert "initial level, which must equal 0" in conflict
    assert "final level, which must equal 3" in conflict
    both = [co.at(0.4, lambda now: now.q[0], equals=0.0), co.at(0.6, lambda now: now.q[0], equals=2.0)]
    said, _ = reason(swing(*both, co.bounds(qd=(-3.0, 3.0))), co.Radau(10))
    conflict = said.split("cannot be met together with:")[1]
    assert "at 0.4" in said
    assert "at 0.6" in said
    assert "which must equal" in conflict


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_bounds_on_variables_are_among_what_conflicts(curve):
    bounds = co.bounds(q=(-0.2, 1.2))
    said, _ = reason(swing(bounds, co.at(0.5, lambda now: now.q[0] + now.q[1], lower=3.0)), curve)
    assert "q[elbow] at t = 0." in said.split("cannot be met together with:")[1]
    assert "at its upper bound 1.2" in said


def test_unknowns_are_among_what_conflicts():
    push = co.Unknown("push", lower=-1.0, upper=1.0, guess=0.0)
    payload = co.Unknown("payload", size=2, lower=0.0, upper=3.0, guess=1.0, constant=True)
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    impossible = co.at(0.5, lambda now: now.push + now.payload[1], lower=5.0)
    problem = co.Problem(two_link(), 1.0, co.integral(effort), [*ends, impossible], unknowns=[push, payload])
    said, _ = reason(problem, co.Radau(5))
    conflict = said.split("cannot be met together with:")[1]
    assert "push at t = 0." in conflict
    assert "payload[1], at its upper bound 3" in conflict


@pytest.mark.parametrize("curve", CURVES, ids=str)
@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        (co.path(lambda now: 5.0 + 0 * now.q[0], upper=2.0), "path at t = 0 s: 5, above its upper bound 2"),
        (co.path(lambda now: now.t, upper=0.5), "path at t = 1 s: 1, above its upper bound 0.5"),
        (co.boundary(lambda a, b: b.q[0] - a.q[0], equals=2.0), "boundary at t = 1 s: 1, must equal 2"),
        (co.path(lambda now: now.q[0], lower=1.1), "path at t = 0 s: 0, below its lower bound 1.1"),
    ],
    ids=["constant", "time", "ends", "start"],
)
def test_what_no_variable_moves_fails_without_a_solve(curve, constraint, words):
    said, solution = reason(swing(constraint), curve)
    assert solution.status is co.solver.Status.INFEASIBLE
    assert solution.iterations == 0
    assert f"{words}, and no variable changes it" in said


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_row_that_is_zero_whatever_the_posture_is_still_a_row(curve):
    """A hinge about x moves nothing along x: CasADi would leave the row out."""
    link = co.Body("link", co.revolute((1.0, 0.0, 0.0)), mass=1.0, com=(0.0, 0.3, 0.0), inertia=np.eye(3))
    tip = co.at(0.5, lambda now: now.point("link", (0.0, 0.1, 0.0)).position[0], equals=1e3, name="tip")
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    problem = co.Problem(co.Model([link]), 1.0, co.integral(effort), [*ends, tip])
    nlp = co.transcribe(problem, curve)
    assert nlp.g.size1_out(0) == nlp.n_g
    said, _ = reason(problem, curve)
    assert "tip at t = 0.5 s: 0, must equal 1000, and no variable changes it" in said


def test_constant_rows_that_hold_do_no_harm():
    problem = swing(co.path(lambda now: now.t, upper=1.0))
    nlp = co.transcribe(problem, co.Radau(5))
    assert constant_rows(nlp).any()
    assert co.solve(nlp, plan=[co.refinement.Solve(between="nodes")]).outcome.status is co.solver.Status.SOLVED


@pytest.mark.parametrize(
    ("cost", "constraints", "words"),
    [
        (
            co.integral(lambda now: ca.acos(now.q[0]) + 1e-6 * ca.sumsqr(now.tau), name="angle"),
            [],
            "the derivative of cost term 'angle' at s = 0.9",
        ),
        (None, [co.path(lambda now: ca.sqrt(now.q[0] + 0.01), upper=2)], "the derivative of constraint path at s = 0."),
        (co.integral(lambda now: ca.log(now.q[0] + 0.01)), [], "near the last iterate: cost term 'integral' is nan"),
    ],
    ids=["cost", "constraint", "beside"],
)
def test_what_is_not_finite_on_the_way_is_one_line(cost, constraints, words, capfd):
    said, _ = reason(swing(*constraints, cost=cost), co.BSpline(10))
    status, line = said.splitlines()
    assert status.startswith("failed after")
    assert words in line
    assert capfd.readouterr() == ("", "")  # CasADi would write thousands of lines


@pytest.mark.parametrize("name", ["ma27", "ma57", "ma77", "ma86", "ma97", "pardiso", "wsmp", "magic", 3])
def test_linear_solvers_that_cannot_be_loaded_are_refused(name):
    """In a process of its own, which IPOPT would crash with ma97."""
    code = (
        "import colloc as co; from tests.support.problems import time_optimal\n"
        f"try: co.solve(time_optimal(), co.BSpline(5), solver=co.Ipopt(linear_solver={name!r}, hsllib='none.so'))\n"
        "except co.InputError as error: print(error)"
    )
    words = [sys.executable, "-c", code]
    child = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert child.returncode == 0
    assert "linear_solver must be one that this IPOPT can load (mumps" in child.stdout
    assert f"got {name!r}" in child.stdout


def test_another_linear_solver_comes_to_the_same_answer():
    answers = [
        co.solve(
            time_optimal(),
            co.BSpline(10),
            solver=co.Ipopt(linear_solver=name),
            plan=[co.refinement.Solve(between="nodes")],
        ).cost
        for name in ("mumps", "spral")
    ]
    assert answers[1] == pytest.approx(answers[0], rel=1e-7)


def test_options_are_not_read_from_the_working_directory(tmp_path, monkeypatch, capfd):
    """IPOPT's ipopt.opt could name a library to be loaded."""
    (tmp_path / "ipopt.opt").write_text("max_iter 1\noutput_file written.txt\nfile_print_level 5\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    solution = co.solve(time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])
    assert solution.outcome.status is co.solver.Status.SOLVED
    assert not (tmp_path / "written.txt").exists()
    assert capfd.readouterr() == ("", "")
    problem = time_optimal()
    chosen = co.Ipopt(option_file_name="ipopt.opt")
    assert np.isfinite(
        co.solve(problem, co.BSpline(10), solver=chosen, plan=[co.refinement.Solve(between="nodes")]).cost
    )
    assert (tmp_path / "written.txt").exists()
