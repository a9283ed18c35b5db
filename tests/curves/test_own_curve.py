"""A curve written from outside: it solves, refines, is swept, saved and loaded like those of the library."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.curves import CURVES, Points, Transcription, collocation_points, mesh_ends, register
from colloc.curves.spline_basis import SplineBasis
from tests.curves.test_convergence import OMEGA, START, TIGHT, T, exact_oscillator_cost, mass_on_a_rail, oscillator
from tests.errors.test_error import SHARP
from tests.storage.test_phases_files import GUESS, bounce
from tests.support.problems import time_optimal


def chebyshev(count: int) -> np.ndarray:
    """Roots of the Chebyshev polynomial of that degree on [0, 1]."""
    return (1 - np.cos((np.arange(count) + 0.5) * np.pi / count)) / 2


@dataclass(frozen=True, repr=False)
class Chebyshev(Transcription):
    """Accelerations of degree `degree` - 1 that may jump between intervals, collocated at Chebyshev points."""

    intervals: int | None = None
    degree: int = 3
    breakpoints: Sequence[float] | None = None

    @property
    def basis(self) -> SplineBasis:
        return SplineBasis.of(mesh_ends(self.intervals, self.breakpoints), self.degree + 1, 1)

    def collocation_points(self) -> Points:
        return collocation_points(self.basis, chebyshev)


class Borrowed:
    """A class that is derived from nothing, and leaves all answers to a curve of the library."""

    def __init__(self, curve: Any):
        self.curve = curve
        self.basis, self.signals, self.free, self.spacing = curve.basis, curve.signals, False, curve.spacing
        self.node_points, self.collocation_points = curve.node_points, curve.collocation_points

    def with_breakpoints(self, breakpoints: np.ndarray) -> "Borrowed":
        return Borrowed(self.curve.with_breakpoints(breakpoints))

    def finer(self, pieces: np.ndarray, smooth: np.ndarray, switching: np.ndarray) -> "Borrowed":
        return Borrowed(self.curve.finer(pieces, smooth, switching))

    def coarser(self, intervals: int) -> "Borrowed":
        return Borrowed(self.curve.coarser(intervals))

    def to_dict(self) -> dict[str, Any]:
        return {"curve": repr(self.curve)}


def lifted(reach: float) -> co.Problem:
    """Two links that move to where a sweep says, with least squared torque in a second."""
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(reach, -1.0), qd=0.0)]
    return co.Problem(time_optimal().model, 1.0, co.integral(lambda now: now.tau.T @ now.tau), ends)


@pytest.mark.parametrize(("degree", "intervals"), [(2, (10, 20, 40)), (3, (8, 16, 32)), (4, (4, 8, 16))])
def test_its_cost_converges_with_twice_the_order_of_its_accelerations(degree, intervals):
    costs = np.array([co.solve(oscillator(), Chebyshev(n, degree), solver=TIGHT).cost for n in intervals])
    errors = np.abs(costs - exact_oscillator_cost())
    slopes = np.log2(errors[:-1] / errors[1:])
    assert abs(slopes[-1] - 2 * degree) < 0.35, (errors, slopes)


@pytest.mark.parametrize(
    ("degree", "intervals", "order"), [(2, (20, 40, 80), 2), (3, (8, 16, 32), 4), (5, (4, 8, 16), 6)]
)
def test_passive_joints_converge_with_the_order_of_quadrature_at_its_points(degree, intervals, order):
    """k symmetric points integrate one degree more exactly where k is odd, which ends of intervals inherit."""
    spring = co.path(lambda now: now.qdd[0] + OMEGA**2 * now.q[0], equals=0.0)
    cost = co.integral(lambda now: now.tau[0] ** 2)
    problem = co.Problem(mass_on_a_rail(), T, cost, [co.initial(q=START[0], qd=START[1]), spring])
    exact = START[0] * np.cos(OMEGA * T) + START[1] / OMEGA * np.sin(OMEGA * T)
    ends = [co.solve(problem, Chebyshev(n, degree), plan=[co.refinement.Solve(tol=10.0)]).at(T).q[0] for n in intervals]
    errors = np.abs(np.array(ends) - exact)
    slopes = np.log2(errors[:-1] / errors[1:])
    assert abs(slopes[-1] - order) < 0.35, (errors, slopes)


def test_it_is_refined_to_the_optimum_that_other_curves_have():
    solution = co.solve(time_optimal(), Chebyshev(8), tol=1e-4, compile=False, progress=False)
    assert solution.success
    assert isinstance(solution.curve, Chebyshev)
    assert len(solution.rounds) > 1
    assert SHARP - 1e-7 < solution.duration < SHARP * 1.0002
    again = co.refine(solution, 1e-5)
    assert again.success
    assert SHARP - 1e-8 < again.duration <= solution.duration


def test_it_is_saved_and_loaded_with_the_rounds_of_its_refinement(tmp_path: Path):
    solution = co.solve(lifted(1.0), Chebyshev(6, 4), tol=1e-4, compile=False, progress=False)
    co.save(solution, tmp_path / "motion.npz")
    again = co.load(tmp_path / "motion.npz", lifted(1.0))
    assert again.curve == solution.curve
    assert [round.curve for round in again.rounds] == [round.curve for round in solution.rounds]
    np.testing.assert_array_equal(again.x, solution.x)


def test_a_file_whose_curve_is_not_known_says_what_to_import(tmp_path: Path):
    co.save(co.solve(lifted(1.0), Chebyshev(6), compile=False, progress=False), tmp_path / "motion.npz")
    script = "import colloc as co\nfrom tests.support.problems import time_optimal\nco.load(PATH, time_optimal())"
    script = script.replace("PATH", repr(str(tmp_path / "motion.npz")))
    end = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stderr
    assert "its curve is a Chebyshev of tests.curves.test_own_curve: import tests.curves.test_own_curve before" in end


def test_it_is_swept(tmp_path: Path):
    settings: dict[str, Any] = {"progress": False}
    grid = {"reach": [0.8, 1.0, 1.2]}
    table = co.sweep(lifted, grid, Chebyshev(12), folder=tmp_path, **settings)
    other = co.sweep(lifted, grid, co.Radau(12), **settings)
    assert table.failed.size == 0
    np.testing.assert_allclose(table["cost"], other["cost"], rtol=1e-12)
    from_files = co.sweep(lifted, grid, Chebyshev(12), folder=tmp_path, **settings)
    assert from_files.solution(1).curve == Chebyshev(12)


def test_many_starts_are_screened_on_a_coarser_one():
    assert Chebyshev(40, 4).coarser(13) == Chebyshev(13, 4)
    settings: dict[str, Any] = {"starts": 3, "progress": False}
    best, reference = (co.multistart(time_optimal(), curve, **settings).best for curve in (Chebyshev(20), co.Radau(20)))
    assert best.curve == Chebyshev(20)
    assert best.duration == pytest.approx(reference.duration, rel=1e-9)


def test_it_carries_phases_alone_and_beside_others():
    settings: dict[str, Any] = {"guess": GUESS, "compile": False, "progress": False}
    curves = {"fall": Chebyshev(6, 4), "rise": co.BSpline(8, degree=5)}
    alone, beside = (co.solve(bounce(), curve, **settings) for curve in (Chebyshev(6, 4), curves))
    reference = co.solve(bounce(), co.Radau(6, 4), tol=1e-4, **settings)
    assert alone.success
    assert beside.success
    assert alone.cost == pytest.approx(reference.cost, rel=1e-3)
    assert beside.cost == pytest.approx(reference.cost, rel=1e-3)


def test_phases_on_it_are_refined_saved_and_loaded(tmp_path: Path):
    solution = co.solve(bounce(), Chebyshev(6), guess=GUESS, tol=1e-3, compile=False, progress=False)
    assert solution.success
    co.save(solution, tmp_path / "bounce.npz")
    again: Any = co.load(tmp_path / "bounce.npz", bounce())
    assert again.curve == solution.curve
    assert again.cost == solution.cost


def test_a_class_derived_from_nothing_is_a_curve_if_it_answers_all_questions():
    solution = co.solve(lifted(1.0), Borrowed(co.Radau(6)), tol=1e-4, compile=False, progress=False)
    assert solution.success
    assert isinstance(solution.curve, Borrowed)
    assert solution.cost == pytest.approx(co.solve(lifted(1.0), co.Radau(6), tol=1e-4, compile=False).cost, rel=1e-12)


def test_an_object_that_is_no_curve_is_refused_with_what_it_lacks():
    with pytest.raises(co.InputError, match=r"curve must be BSpline, HermiteSimpson or Radau, got 20$"):
        co.solve(time_optimal(), 20)  # pyright: ignore[reportArgumentType, reportCallIssue]
    with pytest.raises(co.InputError, match=r"HermiteSimpson or Radau, got <class"):
        co.solve(time_optimal(), Chebyshev)  # pyright: ignore[reportArgumentType, reportCallIssue]
    half = type("Half", (), {name: getattr(Borrowed, name) for name in ("finer", "coarser")})()
    with pytest.raises(co.InputError, match=r"which lacks basis, .*, to_dict: derive it from colloc\.curves\.Transc"):
        co.solve(time_optimal(), half)  # pyright: ignore[reportArgumentType, reportCallIssue]
    rough = replace(co.Radau(3).basis, continuity=np.zeros(2, dtype=int))
    for basis, message in ((3, "must be a SplineBasis"), (rough, "with continuous first derivatives")):
        wrong: Any = Borrowed(co.Radau(3))
        wrong.basis = basis
        with pytest.raises(co.InputError, match=f"the basis of Borrowed .*{message}"):
            co.solve(time_optimal(), wrong)
    wrong = Borrowed(co.Radau(3))
    wrong.node_points = lambda: np.linspace(0, 1, 5)
    with pytest.raises(co.InputError, match=r"Borrowed\.node_points must return colloc\.curves\.Points, got array"):
        co.solve(time_optimal(), wrong)


def test_a_name_of_the_library_is_not_taken():
    with pytest.raises(co.InputError, match="needs another name: Radau is colloc's"):
        register(type("Radau", (), {}))
    assert CURVES["Radau"] is co.Radau
