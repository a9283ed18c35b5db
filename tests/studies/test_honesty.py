"""The judge of the honesty benchmark is right itself, and its problems are what they claim to be."""

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.studies.benchmarks import honesty
from colloc.studies.benchmarks.judge import judge, strayed
from colloc.studies.benchmarks.random_motions import colloc_problem, pinocchio_model, random_case
from tests.studies.quick import numbers_of

pin: Any = pinocchio
MASS, FORCE, T = 2.0, 50.0, 0.4
STEP = FORCE / MASS * T**2 / 4  # a half of the time pushed, the other half braked


def slider() -> Any:
    """A mass on a slide, in Pinocchio."""
    world = pin.Model()
    joint = world.addJoint(0, pin.JointModelPX(), pin.SE3.Identity(), "slide")
    world.appendBodyToJoint(joint, pin.Inertia(MASS, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return world


def motion(at: Any) -> co.Solution:
    """The part of a solution of four intervals that a judge reads."""
    return cast(co.Solution, SimpleNamespace(duration=T, mesh_times=T * np.linspace(0, 1, 5), at=at))


def pushed_and_braked(wrong: float = 0.0) -> co.Solution:
    """The fastest motion of the mass; its forces wrong by some newtons."""

    def at(t: Any) -> SimpleNamespace:
        t = np.asarray(t, dtype=float)[..., None]
        before = t < T / 2
        q = FORCE / MASS * np.where(before, t**2 / 2, T**2 / 4 - (T - t) ** 2 / 2)
        qd, qdd = FORCE / MASS * np.where(before, t, T - t), FORCE / MASS * np.where(before, 1.0, -1.0)
        return SimpleNamespace(q=q, qd=qd, qdd=qdd, tau=MASS * qdd + wrong)

    return motion(at)


def test_the_judge_finds_a_true_motion_true():
    verdict = judge(slider(), pushed_and_braked(), (np.zeros(1), np.full(1, STEP)), {})
    assert verdict.error < 1e-13
    assert verdict.overstep < 1e-13


def test_the_judge_measures_a_false_torque():
    verdict = judge(slider(), pushed_and_braked(wrong=0.3), (np.zeros(1), np.full(1, STEP)), {})
    np.testing.assert_allclose(verdict.local_errors, 0.3 / MASS * (T / 4) ** 2 / 2, rtol=1e-9)
    assert verdict.error == pytest.approx(verdict.local_errors.sum())


def test_the_judge_measures_what_few_numbers_make_of_a_torque():
    def at(t: Any) -> SimpleNamespace:
        t = np.asarray(t, dtype=float)[..., None]
        return SimpleNamespace(q=t**3 / 6, qd=t**2 / 2, qdd=t, tau=MASS * t)

    np.testing.assert_allclose(strayed(slider(), motion(at), [1] * 4), (T / 4) ** 3 / 12, rtol=1e-9)
    assert strayed(slider(), motion(at), [2] * 4).max() < 1e-13
    assert judge(slider(), motion(at), (np.zeros(1), np.zeros(1)), {}).error < 1e-13


@pytest.mark.parametrize(
    ("quantity", "bound", "overstep"),
    [("tau", FORCE, 0.0), ("tau", 40.0, 0.25), ("qd", 4.0, 0.25), ("q", 0.5, 1.0)],
)
def test_the_judge_measures_limits(quantity, bound, overstep):
    limits = {quantity: (np.full(1, -bound), np.full(1, bound))}
    verdict = judge(slider(), pushed_and_braked(), (np.zeros(1), np.full(1, STEP)), limits)
    assert verdict.overstep == pytest.approx(overstep, abs=1e-2)  # Gauss points do not lie at the very peak


def test_the_judge_looks_at_the_ends():
    assert judge(slider(), pushed_and_braked(), (np.zeros(1), np.ones(1)), {}).overstep == pytest.approx(0)
    assert judge(slider(), pushed_and_braked(), (np.zeros(1), np.full(1, 1.1)), {}).overstep == pytest.approx(0.1)


@pytest.mark.parametrize("seed", range(20))
def test_both_libraries_see_the_same_mechanism(seed):
    case, rng = random_case(seed), np.random.default_rng(seed)
    problem, world = colloc_problem(case), pinocchio_model(case.links, case.gravity)
    states = rng.normal(size=(3, 5, case.n))
    expected = [pin.rnea(world, world.createData(), *state) for state in zip(*states, strict=True)]
    np.testing.assert_allclose(co.Evaluator(problem.model).torque(*states), expected, rtol=1e-10, atol=1e-10)


def test_seeds_name_problems_of_every_kind():
    cases = [random_case(seed) for seed in range(60)]
    assert {case.n for case in cases} == set(range(2, 7))
    assert {case.cost for case in cases} == {"time", "effort", "mixed"}
    assert {bool(case.gravity.any()) for case in cases} == {True, False}
    assert {link.slides for case in cases for link in case.links} == {True, False}
    assert any(link.parent < k - 1 for case in cases for k, link in enumerate(case.links))
    assert {tuple(sorted(case.limits)) for case in cases} >= {(), ("tau",), ("qd", "tau"), ("q", "qd", "tau")}
    np.testing.assert_array_equal(random_case(7).start, random_case(7).start)


def test_splines_are_never_refuted(tmp_path: Path):
    numbers = numbers_of(honesty.main, tmp_path, size=None)
    assert all(math.isfinite(value) for value in numbers.values())
    for way in honesty.CURVES:
        ends = [numbers[f"{end}.{way}"] for end in ("solved", "violated", "coarse", "failed")]
        assert sum(ends) == numbers[f"tried.{way}"] == 4
    assert numbers["refuted.bspline"] == numbers["overstepped.bspline"] == numbers["failed.bspline"] == 0
    assert numbers["error.max.bspline"] < 1e-9
