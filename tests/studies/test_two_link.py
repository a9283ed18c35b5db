"""The published two-link problems against independently converged optima.

The references were found without this library: exact switching times and indirect solution of the maximum principle
with 8th-order integration, confirmed by fine direct collocation.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import colloc as co
import colloc.studies.two_link.free_knots
import colloc.studies.two_link.joint_forces
import colloc.studies.two_link.starts
import colloc.studies.two_link.switching_arcs
from colloc.studies.two_link import lifting, prismatic_revolute
from colloc.studies.two_link import time_optimal as swing
from colloc.studies.two_link.convergence import run
from tests.support.problems import time_optimal

ROOT = Path(__file__).parents[2]
T_OPTIMAL = 0.391854539516
SWITCHES = {"shoulder": [0.195927269758], "elbow": [0.045709321233, 0.235300431370]}
T_LIFTING, COST_LIFTING = 0.51886031, 0.84487800
T_SLIDE, COST_SLIDE = 0.58578391, 0.77323476


@pytest.mark.parametrize(
    ("curve", "T"),
    [(co.BSpline(19, nodes=20), 0.39218), (co.BSpline(19, nodes=21), 0.39203), (co.BSpline(20, nodes=21), 0.39266),
     (co.BSpline(20), 0.39314), (co.BSpline(40, nodes=41), 0.39205), (co.BSpline(80, nodes=81), 0.39190)],
    ids=str,
)  # fmt: skip
def test_splines_give_what_an_independent_script_gave(curve: co.BSpline, T: float):
    solution = co.solve(time_optimal(), curve, plan=[co.refinement.Solve(tol=0.5)])
    assert solution.success
    assert solution.duration == pytest.approx(T, abs=6e-6)


def test_torques_switch_where_the_maximum_principle_says():
    solution = co.solve(time_optimal(), co.Radau(200), plan=[co.refinement.Solve(tol=1.0)])
    t = np.linspace(0, solution.duration, 20_001)
    tau = solution.at(t).tau
    for joint, name in enumerate(solution.problem.model.joint_names):
        crossings = t[1:][np.diff(np.sign(tau[:, joint])) != 0]
        np.testing.assert_allclose(crossings, SWITCHES[name], atol=0.391 / 200)


@pytest.mark.parametrize("dynamics", [co.dynamics.newton_euler, co.dynamics.lagrange])
@pytest.mark.parametrize(
    ("study", "T", "cost"), [(lifting, T_LIFTING, COST_LIFTING), (prismatic_revolute, T_SLIDE, COST_SLIDE)]
)
def test_mixed_criteria_converge(study, T, cost, dynamics):
    solution = co.solve(co.transcribe(study.problem, co.Radau(80), dynamics), solver=co.Ipopt(tol=1e-10))
    assert solution.success
    assert solution.duration == pytest.approx(T, abs=2e-5)
    assert solution.cost == pytest.approx(cost, abs=2e-7)
    assert co.verify(solution).forward_error < 1e-6


def test_the_hinge_convention_matters():
    """With the link along the slide at q2 = 0, or turned by another 90 degrees, the problem is another one."""
    stated = prismatic_revolute.problem
    for offset, T, cost in ((np.pi / 2, 0.64625971, 0.85306281), (np.pi, 0.71269488, 0.94075724)):
        slide, arm = stated.model.bodies
        turned = co.Body(
            "arm", co.dh_revolute(theta=offset, a=0.4), "slide", mass=arm.mass, com=arm.com, inertia=arm.inertia
        )
        problem = co.Problem(
            co.Model([slide, turned], gravity=(0, 0, 0)), stated.duration, stated.minimize, stated.subject_to
        )
        solution = co.solve(problem, co.Radau(60), solver=co.Ipopt(tol=1e-10))
        assert solution.duration == pytest.approx(T, abs=2e-5)
        assert solution.cost == pytest.approx(cost, abs=2e-7)


@pytest.mark.parametrize(
    ("study", "T", "cost"),
    [
        (swing, T_OPTIMAL, None),
        (lifting, T_LIFTING, COST_LIFTING),
        (prismatic_revolute, T_SLIDE, COST_SLIDE),
    ],
    ids=["time_optimal", "lifting", "slide_and_arm"],
)
def test_studies_reach_the_converged_values(study, T, cost, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    figure, numbers_file = tmp_path / "figure.png", tmp_path / "numbers.json"
    study.main(["--figure", str(figure), "--json", str(numbers_file)])
    numbers = json.loads(numbers_file.read_text(encoding="utf-8"))
    for key in ("converged.T", "bspline.T", "radau.T"):
        assert numbers[key] == pytest.approx(T, abs=2e-5), key
    if cost is not None:
        assert numbers["converged.cost"] == pytest.approx(cost, abs=1e-6)
    assert numbers["forward_error"] < 1e-4
    assert numbers["violation"] < 1e-3
    assert figure.stat().st_size > 20_000
    shown = capsys.readouterr().out
    assert "difference" in shown
    assert "B-spline: BSpline(intervals=" in shown


def test_the_papers_setting_lies_where_it_should():
    assert 0.3919 < run(swing.problem, co.BSpline(20), co.Radau(50)).numbers["paper_setting.T"] < 0.3936


def test_a_study_refuses_an_unwritable_path_before_it_computes(tmp_path: Path):
    command = [sys.executable, "-m", "colloc", "two_link.time_optimal", "--json", str(tmp_path / "no" / "file.json")]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 2
    assert "does not exist" in ended.stderr
    assert ended.stdout == ""


def test_random_starts_end_in_the_same_motion(tmp_path):
    numbers = colloc.studies.two_link.starts.main(["--quick", "--figure", str(tmp_path / "starts.png")])
    assert (tmp_path / "starts.png").stat().st_size > 20_000
    for name, T in (("time_optimal", 0.3920), ("lifting", 0.5190), ("prismatic_revolute", 0.5858)):
        assert numbers[f"T.{name}"] == pytest.approx(T, abs=1e-4)
        assert numbers[f"T.spread.{name}"] < 1e-5
        assert numbers[f"starts.{name}"] == 2
    falling = [numbers[f"T.lifting.share_{share:g}"] for share in (1e-2, 1e-3, 1e-4, 1e-5, 0)]
    assert falling == sorted(falling, reverse=True)
    assert falling[-2] == pytest.approx(falling[-1], rel=1e-4)


def test_arcs_as_phases_find_the_time_to_all_digits(tmp_path):
    numbers = colloc.studies.two_link.switching_arcs.main(["--figure", str(tmp_path / "f.png")])
    for curve, digits in (("radau", 1e-11), ("bspline", 1e-9)):
        assert numbers[f"T.{curve}"] == pytest.approx(0.391854539516, abs=digits)
        assert numbers[f"violation.{curve}"] < 1e-6
        assert numbers[f"status.{curve}"] == 1


def test_free_knots_are_worth_hundreds_of_equal_ones(tmp_path):
    numbers = colloc.studies.two_link.free_knots.main(["--quick", "--figure", str(tmp_path / "f.png")])
    assert abs(numbers["error.time_optimal.degree_7.8.free"]) < 1e-6 < numbers["error.time_optimal.degree_7.8.fixed"]
    assert numbers["corners.time_optimal"] < 1e-5
    assert abs(numbers["error.lifting"]) < 5e-6
    assert numbers["T.prismatic_revolute"] == pytest.approx(T_SLIDE, abs=2e-7)
    for key in [key for key in numbers if key.startswith("error.") and key.endswith(".free")]:
        equal = key.removesuffix("free") + "fixed"
        assert numbers[key] <= numbers[equal] + 1e-8, key


def test_a_joint_that_is_spared_costs_time(tmp_path):
    numbers = colloc.studies.two_link.joint_forces.main(["--quick", "--figure", str(tmp_path / "f.png")])
    assert numbers["solved"] == 1
    assert numbers["sensitivities.error"] < 1e-8
    assert numbers["peak.elbow"] > 20
    assert numbers["peak.elbow.limited"] == pytest.approx(15.0, abs=0.02)
    # Two ways that share no grid: refined cubic splines, and eight polynomials of degree 7 with free knots.
    assert numbers["T.limited"] == pytest.approx(0.39335, abs=3e-4)
    assert 0.6 < numbers["share.shoulder_lower"] < 0.8  # the print says that it never is
