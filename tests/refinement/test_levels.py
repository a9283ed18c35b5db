"""Costs in order of importance: each is minimised while those before it are kept."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain
from tests.support.problems import effort, time_optimal

CURVES = [co.BSpline(12), co.BSpline(12, continuity=1), co.Radau(8), co.HermiteSimpson(12)]
TORQUES = np.array([20.0, 20.0, 20.0])
EFFORT = co.integral(effort, name="effort")
ROUGH = [co.refinement.Solve(tol=10.0)]
FAST_THEN_CALM = [co.duration(), EFFORT]


def chain(minimize: Any, **more: Any) -> co.Problem:
    """Three links in a plane, of which the first is slow and decides the time."""
    ends = [co.initial(q=[-1.5, 0.0, 0.0], qd=0.0), co.final(q=[0.2, 0.1, 0.0], qd=0.0)]
    limits = co.bounds(tau=(-TORQUES, TORQUES), qd={"link1": (-4.0, 4.0)})
    return co.Problem(planar_chain(3), co.Free(0.1, 5.0), minimize, [*ends, limits], **more)


def slides(minimize: Any, duration: co.Free | float = 1.0) -> co.Problem:
    """Two masses of 4 and 1 kg on slides of their own, each moved by 1 m from rest to rest."""
    heavy = co.Body("heavy", co.prismatic((1, 0, 0)), None, 4.0)
    light = co.Body("light", co.prismatic((0, 1, 0)), None, 1.0)
    model = co.Model([heavy, light], gravity=(0.0, 0.0, 0.0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), co.bounds(tau=(-60.0, 60.0))]
    return co.Problem(model, duration, minimize, ends)


def squares(solution: co.Solution) -> np.ndarray:
    """Mean squared torques of all joints."""
    return (solution.at(np.linspace(0, solution.duration, 1001)).tau ** 2).mean(axis=0)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_time_stays_and_the_torques_fall(curve):
    fastest = co.solve(chain(co.duration()), curve, plan=ROUGH)
    calm = co.solve(chain(FAST_THEN_CALM), curve, plan=ROUGH)
    assert calm.outcome.status is co.solver.Status.SOLVED
    assert calm.duration == pytest.approx(fastest.duration, abs=1e-9)
    assert squares(calm).sum() < 0.98 * squares(fastest).sum()
    assert squares(calm)[2] < 0.9 * squares(fastest)[2]
    assert np.abs(calm.nodes.tau / TORQUES).max() < 1 + 1e-6
    assert co.verify(calm).kkt.stationarity < 1e-5
    assert calm.iterations > fastest.iterations


def test_the_second_cost_is_that_of_a_problem_in_the_optimal_duration():
    fast, curve = time_optimal(), co.BSpline(20)
    both = co.solve(replace(fast, minimize=FAST_THEN_CALM), curve, plan=ROUGH)
    first = co.solve(fast, curve, plan=ROUGH)
    by_hand = co.solve(replace(fast, duration=first.duration, minimize=EFFORT), curve, guess=first, plan=ROUGH)
    assert both.levels == pytest.approx({"duration": first.duration, "effort": 71.066771}, rel=1e-7)
    assert both.cost == pytest.approx(by_hand.cost, rel=1e-7)
    assert "kept       0.39314103  duration" in repr(both)
    assert both.plan == ("Solve(tol=10.0)", "then Solve()")


def test_a_free_slide_beside_one_that_decides_moves_as_if_alone():
    """The light mass has time, and its least squared force, 12 m^2 d^2 / T^3."""
    costs = [co.duration(), co.integral(lambda now: now.tau[1] ** 2)]
    curve = co.BSpline(10, degree=3, continuity=1)  # a breakpoint is where the heavy one's force switches
    calm = co.solve(replace(slides(costs), duration=co.Free(0.1, 10.0, 1.5)), curve)
    T = calm.duration
    assert pytest.approx(np.sqrt(4 * 4 / 60.0), rel=1e-6) == T
    assert calm.cost == pytest.approx(12.0 / T**3, rel=1e-6)
    assert calm.q[:, 1] == pytest.approx(3 * (calm.t / T) ** 2 - 2 * (calm.t / T) ** 3, abs=1e-4)


def test_an_integral_is_kept_while_another_is_minimised():
    """Forces of each slide in turn, each at its closed form, 12 m^2 d^2 / T^3, and the third has nothing to change."""
    heavy, light = (
        co.integral(lambda now, k=k: now.tau[k] ** 2, name=name) for k, name in enumerate(["heavy", "light"])
    )
    solution = co.solve(slides([heavy, light, co.integral(lambda now: now.qdd[0] ** 2, name="jolt")]), co.Radau(6))
    assert solution.success
    assert list(solution.levels) == ["heavy", "light", "jolt"]
    assert solution.levels["heavy"] == pytest.approx(12.0 * 16.0, rel=1e-6)
    assert solution.levels["light"] == pytest.approx(12.0, rel=1e-6)
    assert solution.levels["jolt"] == pytest.approx(12.0, rel=2e-4)
    for joint, mass in enumerate((4.0, 1.0)):
        squared = solution.evaluate(lambda now, k=joint: now.tau[k] ** 2, np.linspace(0, 1, 2001))
        assert np.trapezoid(squared, dx=1 / 2000) <= 12.0 * mass**2 * (1 + 3e-4)


@pytest.mark.filterwarnings("ignore:the duration ended at its upper bound")
def test_a_cost_at_the_end_is_kept_beside_an_integral_and_the_duration():
    """How far the light mass gets within 1.5 s for its effort and time, then as quickly as that allows."""
    far = -8.0 * co.final_cost(lambda now: now.q[1]) + 0.5 * co.integral(lambda now: now.tau[1] ** 2) + co.duration()
    problem = slides(far, co.Free(0.5, 1.5, 1.0))
    problem = replace(problem, subject_to=[problem.subject_to[0], problem.subject_to[2], co.final(q={"heavy": 1.0})])
    alone = co.solve(problem, co.Radau(8))
    quick = co.solve(replace(problem, minimize=[far, co.duration()]), co.Radau(8))
    assert quick.ordered is not None
    (kept,) = quick.ordered.bounds
    assert quick.ordered.costs[0] == pytest.approx(alone.cost, rel=1e-6)
    assert alone.duration - 0.1 < quick.duration < alone.duration - 1e-6
    T, q = quick.duration, quick.at(quick.duration).q[1]
    force = np.trapezoid(quick.evaluate(lambda now: now.tau[1] ** 2, np.linspace(0, T, 2001)), dx=T / 2000)
    assert -8.0 * q + 0.5 * force + T == pytest.approx(kept, abs=1e-4)


def test_of_phases_costs_add_up_level_by_level():
    start, _, torques = time_optimal().subject_to
    there = replace(time_optimal(), minimize=FAST_THEN_CALM, subject_to=[start, torques])
    back = replace(there, subject_to=[torques, co.final(q=(0.0, -2.0), qd=0.0)])
    touch = co.boundary(lambda phases: phases["back"].start.q, equals=(1.0, -1.0))
    both, curve = co.Phases({"there": there, "back": back}, [touch]), co.BSpline(12)
    calm = co.solve(both, curve, plan=ROUGH)
    plain = replace(both, phases={name: replace(p, minimize=co.duration()) for name, p in both.phases.items()})
    fastest = co.solve(plain, curve, plan=ROUGH)
    assert calm.outcome.status is co.solver.Status.SOLVED
    assert calm.duration == pytest.approx(fastest.duration, abs=1e-9)
    phases = {name: replace(phase, minimize=EFFORT) for name, phase in plain.phases.items()}
    by_hand = co.solve(replace(plain, phases=phases, duration=fastest.duration), curve, guess=fastest, plan=ROUGH)
    assert calm.cost == pytest.approx(by_hand.cost, rel=1e-6)
    mixed = [EFFORT + 10 * co.duration(), co.integral(lambda now: ca.sumsqr(now.qdd), name="jolt")]
    smooth = replace(both, phases={name: replace(p, minimize=mixed) for name, p in both.phases.items()})
    motion = co.solve(smooth, co.Radau(8), plan=ROUGH)
    assert motion.ordered is not None
    (first,) = motion.ordered.costs
    spent = sum(
        np.trapezoid(p.evaluate(effort, np.linspace(0, p.duration, 2001)), dx=p.duration / 2000)
        for p in motion.phases.values()
    )
    assert first - 1e-3 <= spent + 10 * motion.duration <= first * (1 + 1.1e-4) + 1e-3


def test_parameters_and_added_nodes_are_kept():
    push = co.Parameter("push", 2.0)
    load = co.Load("link3", force=(push.symbol, 0, 0))
    stated = chain(FAST_THEN_CALM, parameters=[push], loads=[load])
    calm = co.solve(stated, co.BSpline(12), parameters={"push": 3.0}, plan=ROUGH)
    fastest = co.solve(
        chain(co.duration(), parameters=[push], loads=[load]), co.BSpline(12), parameters={"push": 3.0}, plan=ROUGH
    )
    assert calm.parameters == pytest.approx([3.0])
    assert calm.duration == pytest.approx(fastest.duration, abs=1e-9)


def test_a_file_keeps_what_is_kept(tmp_path: Path):
    stated, path = replace(time_optimal(), minimize=FAST_THEN_CALM), tmp_path / "calm.npz"
    calm = co.solve(stated, co.BSpline(12), plan=ROUGH)
    co.save(calm, path)
    back = co.load(path, replace(time_optimal(), minimize=FAST_THEN_CALM))
    assert back.levels == calm.levels
    np.testing.assert_array_equal(back.x, calm.x)
    with pytest.raises(co.InputError, match="keeps 1 costs, the problem has 1"):
        co.load(path, time_optimal())
    with pytest.raises(co.InputError, match="is of another problem"):
        co.load(path, replace(stated, minimize=[2 * co.duration(), EFFORT]))


def test_refining_refines_all_levels():
    stated = replace(time_optimal(), minimize=FAST_THEN_CALM)
    coarse = co.solve(stated, co.BSpline(10), plan=ROUGH)
    finer = co.refine(coarse, 1e-3)
    assert finer.duration == pytest.approx(0.391854539516, rel=1e-3)
    assert coarse.duration > finer.duration + 1e-3
    assert finer.levels["duration"] == finer.duration
    with pytest.raises(co.InputError, match="refine at switches needs a motion with one cost"):
        co.refine(coarse, at="switches")


def test_a_level_that_is_cut_short_leaves_the_one_before():
    def slowly(now: co.refinement.Iteration) -> None:
        if now.nlp.problem.minimize.is_duration is False:
            time.sleep(3.0)

    with pytest.warns(co.refinement.SolutionWarning, match="seconds="):
        stopped = co.solve(
            replace(time_optimal(), minimize=FAST_THEN_CALM), co.BSpline(10), progress=slowly, seconds=2.5, plan=ROUGH
        )
    assert stopped.status is co.solver.Status.TIME_LIMIT
    assert stopped.problem.minimize.is_duration


def test_what_takes_one_cost_refuses_several():
    stated = replace(time_optimal(), minimize=FAST_THEN_CALM)
    for call in (
        lambda: co.transcribe(stated, co.BSpline(6)),
        lambda: co.multistart(stated, co.BSpline(6)),
        lambda: co.sweep(lambda mass: stated, {"mass": [1.0]}, co.BSpline(6)).solution(0),
    ):
        with pytest.raises(co.InputError, match=r"minimize has costs in order of importance, which co.solve"):
            call()
    with pytest.raises(co.InputError, match="or a list of costs in order of importance, got 3"):
        replace(time_optimal(), minimize=[co.duration(), 3])
    with pytest.raises(co.InputError, match="must return an SX scalar"):
        replace(time_optimal(), minimize=[co.duration(), co.integral(lambda now: now.tau)])
    assert "then (2)    (1 * effort)" in repr(stated)


def test_ordered_costs_add_and_scale_level_by_level():
    levels = replace(time_optimal(), minimize=[co.duration(), EFFORT]).minimize
    more = 2.0 * (levels + 3.0 * co.duration())
    assert [[(term.name, term.weight) for term in level.terms] for level in more.levels] == [
        [("duration", 2.0), ("duration", 6.0)], [(EFFORT.terms[0].name, 2.0)],
    ]  # fmt: skip
    assert len(sum([levels, levels], start=levels).later) == 1
