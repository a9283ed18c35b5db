"""Many starts in one call: where they lead, which motion is the answer, and what a first call looks for by itself."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.ur5 import ur5
from colloc.refinement import seek_starts
from colloc.refinement.random_motions import random_start
from colloc.refinement.starts import distance, motion_features
from colloc.solution.starts import Basin, Starts
from colloc.studies.arms.starts import three_links
from colloc.studies.classics.arms import kelly, spong, willigenburg
from colloc.transcription.final_postures import posture_at_end
from tests.support.problems import effort, time_optimal

FROM_GUESS = [co.refinement.Solve(), co.refinement.Refine(1e-3, confirm=False), co.refinement.AtSwitches()]
COARSE = pytest.mark.filterwarnings("ignore::colloc.refinement.failure.SolutionWarning")


def throw() -> co.Problem:
    """A ball thrown as far as an arm of two links can, from a hand 1.5 m above the ground where the arm is level."""

    def rod(length: float, mass: float) -> dict[str, Any]:
        across = mass * length**2 / 12
        return {"mass": mass, "com": (length / 2, 0.0, 0.0), "inertia": (0.0, across, across)}

    upper = co.Body("upper", co.revolute((0, 0, 1)), **rod(0.35, 2.5))
    fore = co.Body(
        "fore", co.revolute((0, 0, 1), co.placement((0.35, 0, 0))), "upper", tip=(0.35, 0, 0), **rod(0.35, 1.8)
    )

    def width(now: co.problem.Instant) -> ca.SX:
        hand = now.point("fore", (0.35, 0, 0))
        (x, y, _), (vx, vy, _) = ca.vertsplit(hand.position), ca.vertsplit(hand.velocity)
        return x + vx * (vy + ca.sqrt(vy**2 + 2 * 9.81 * (y + 1.5) + 1e-6)) / 9.81

    limits = co.bounds(q=((-3.5, -0.1), (2.0, 2.6)), tau=((-20, -15), (20, 15)))
    cost = co.final_cost(lambda now: -width(now)) + 1e-5 * co.integral(effort)
    return co.Problem(co.Model([upper, fore]), co.Free(0.2, 1.0), cost, [co.initial(q=(-2.5, 0.5), qd=0.0), limits])


@pytest.mark.parametrize(
    ("problem", "most"),
    [
        (throw(), -19.64),
        (spong(), 175.286 * 1.001),
        (three_links().problem, 0.63),
        (willigenburg(), 1.2245),
        (kelly(), 57.96),
    ],
    ids=["throw", "acrobot", "three links", "two bars", "cart and pole"],
)
def test_the_plain_call_leaves_a_bad_optimum(problem: co.Problem, most: float):
    """From the straight line alone three links end at 0.742, the cart and pole at 58.808."""
    solution = co.solve(problem, compile=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost <= most


def test_the_answer_is_the_same_in_every_call_and_says_where_the_starts_led():
    one, two = (co.solve(kelly(), compile=False) for _ in range(2))
    assert np.array_equal(one.x, two.x)
    assert one.starts == two.starts
    assert one.starts is not None
    assert not one.starts.from_guess
    assert one.starts.basins[0].cost == pytest.approx(one.cost, rel=1e-3)
    assert f"starts     {one.starts}" in repr(one)
    alone = co.solve(kelly(), compile=False, plan=FROM_GUESS)
    assert alone.starts is None
    assert alone.cost > 1.01 * one.cost


def test_where_all_starts_agree_three_are_enough_and_the_motion_is_that_of_the_guess():
    one, alone = co.solve(time_optimal()), co.solve(time_optimal(), plan=FROM_GUESS)
    assert one.starts == Starts((Basin(alone.rounds[0].cost, (0, 1, 2), True),), ())
    assert str(one.starts) == "3: all end in this motion"
    assert np.array_equal(one.x, alone.x)


def test_starts_that_agree_on_another_motion_than_that_of_the_guess_are_tried_at_once():
    """On six intervals joints that do not limit the time move otherwise; the first grid leads to the same."""
    model, rng = ur5(), np.random.default_rng([34, 0])
    start, end = 0.8 * np.pi * rng.uniform(-1, 1, (2, model.n))
    problem = co.transcription.point_to_point(model, start, end)
    one, alone = co.solve(problem), co.solve(problem, plan=FROM_GUESS)
    assert one.starts is not None
    assert [basin.starts for basin in one.starts.basins] == [(0, 1, 2, 3)]
    assert one.cost == pytest.approx(alone.cost, rel=1e-9)


@COARSE
def test_a_curve_is_solved_from_the_guess_alone_unless_starts_are_asked_for():
    curve = co.HermiteSimpson(25)
    alone, several = (
        co.solve(kelly(), curve),
        co.solve(kelly(), curve, plan=[co.refinement.Solve(), co.refinement.SeekStarts(12)]),
    )
    assert alone.starts is None
    assert several.starts is not None
    assert several.starts.count == 12
    numbers = [*several.starts.failed, *(k for basin in several.starts.basins for k in basin.starts)]
    assert sorted(numbers) == list(range(12))
    assert several.curve == curve
    assert alone.cost == pytest.approx(58.81, rel=1e-2)
    assert several.cost == pytest.approx(57.94, rel=1e-2)
    again = co.solve(co.transcribe(kelly(), curve), plan=[co.refinement.Solve(), co.refinement.SeekStarts(12)])
    assert again.cost == pytest.approx(several.cost, rel=1e-9)


@COARSE
def test_the_motion_of_a_guess_stays_unless_another_is_clearly_cheaper(monkeypatch: pytest.MonkeyPatch):
    """The two swing-ups differ by 1.5 %."""
    curve, guess = co.HermiteSimpson(25), co.line((0.0, 0.0), (1.0, np.pi))
    assert co.solve(
        kelly(), curve, guess=guess, plan=[co.refinement.Solve(), co.refinement.SeekStarts(12)]
    ).cost == pytest.approx(57.94, rel=1e-2)
    monkeypatch.setattr(seek_starts, "QUICK", seek_starts.QuickSearch(clearly=0.02))
    kept = co.solve(kelly(), curve, guess=guess, plan=[co.refinement.Solve(), co.refinement.SeekStarts(12)])
    assert kept.cost == pytest.approx(58.81, rel=1e-3)
    assert kept.starts is not None
    assert kept.starts.from_guess
    assert kept.starts.basins[1].cost < kept.cost


def test_a_guess_that_leads_nowhere_is_rescued_by_the_straight_line():
    """Five turns of the elbow within its limits there are not: the first start after the guess is the line."""
    stated = time_optimal()
    with pytest.warns(co.support.InputWarning, match="guess is 38 rad, more than 3 turns"):
        solution = co.solve(
            stated,
            co.BSpline(10),
            guess=lambda t: (0.0, -2.0 + 40 * t),
            plan=[co.refinement.Solve(), co.refinement.SeekStarts(3)],
        )
    assert solution.duration == pytest.approx(co.solve(stated, co.BSpline(10)).duration, rel=1e-3)


def test_phases_and_states_have_starts_and_what_has_no_joints_none():
    half = replace(time_optimal(), subject_to=[co.initial(q=(0, -2), qd=0), co.bounds(tau=(-10, 10))])
    both = co.Phases({"there": half, "back": replace(half, subject_to=time_optimal().subject_to[1:])})
    solution = co.solve(
        both,
        co.BSpline(6),
        plan=[
            co.refinement.Solve(),
            co.refinement.SeekStarts(3),
            co.refinement.Refine(0.1),
            co.refinement.AtSwitches(),
        ],
    )
    assert solution.starts is not None
    assert solution.starts.count == 3
    push = co.Unknown("push", lower=-1.0, upper=1.0)
    place, speed = co.State("place", rate=lambda now: now.speed), co.State("speed", rate=lambda now: now.push)
    ends = [co.initial(states={"place": 0.0, "speed": 0.0}), co.final(states={"place": 1.0, "speed": 0.0})]
    cost = co.integral(lambda now: now.push**2)
    moved = co.Problem(None, 2.5, cost, ends, [push, place, speed])  # pyright: ignore[reportArgumentType]
    assert co.solve(moved, compile=False).starts is None


def test_the_time_that_there_is_holds_for_the_starts_as_well():
    begin = time.perf_counter()
    with pytest.warns(co.refinement.SolutionWarning, match=r"seconds=3 ran out"):
        late = co.solve(
            time_optimal(), co.BSpline(8), plan=[co.refinement.Solve(), co.refinement.SeekStarts(100_000)], seconds=3.0
        )
    assert time.perf_counter() - begin < 20
    assert late.outcome.status is co.solver.Status.TIME_LIMIT
    assert late.duration == pytest.approx(0.4000283, rel=1e-5)


def test_ctrl_c_among_the_starts_returns_the_best_so_far(monkeypatch: pytest.MonkeyPatch):
    usual, runs = co.Ipopt.prepare, []

    def prepared(self: Any, nlp: Any) -> Any:
        def interrupted(*args: Any, **given: Any) -> Any:
            runs.append(usual(self, nlp)(*args, **given))
            return replace(runs[-1], status=co.solver.Status.INTERRUPTED) if len(runs) == 3 else runs[-1]

        return interrupted

    monkeypatch.setattr(co.Ipopt, "prepare", prepared)
    solution = co.solve(kelly(), co.BSpline(20), plan=[co.refinement.Solve(), co.refinement.SeekStarts(30)])
    assert len(runs) == 3
    assert solution.status is co.solver.Status.INTERRUPTED
    assert solution.cost == pytest.approx(runs[0].history["cost"][-1], rel=1e-4)


def test_motions_are_compared_by_where_the_joints_are_and_how_long_it_takes():
    """Against the motion as the solution gives it, on two grids of one motion, and another one twice as long."""
    problem = time_optimal()
    coarse, fine = (co.solve(problem, co.BSpline(n), plan=[co.refinement.Solve(tol=1.0)]) for n in (8, 20))
    for solution in (coarse, fine):
        q = solution.at(np.linspace(0, solution.duration, 17)).q / np.pi
        numbers = np.append(np.log(solution.duration), q.ravel())
        np.testing.assert_allclose(motion_features(solution.nlp, solution.x), numbers, atol=1e-12)
    assert distance(motion_features(coarse.nlp, coarse.x), motion_features(fine.nlp, fine.x)) < 0.05
    slower = fine.x.copy()
    slower[fine.nlp.grid.layout.duration] *= 2
    assert distance(motion_features(fine.nlp, slower), motion_features(fine.nlp, fine.x)) == pytest.approx(np.log(2))


def test_what_is_said_of_the_starts():
    others = (Basin(2.0, (0, 3), True), Basin(3.5, (4,), False))
    assert str(Starts((Basin(1.0, (1,), True), *others), (2,))) == (
        "5: 1 ends in this motion, not the guess; 3 in 2 others, costs from 2; 1 fails"
    )
    assert str(Starts((others[0], others[1]), ())) == (
        "3: 2 end in this motion, including the guess; 1 in 1 other, costs from 3.5"
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [(1, "count must be an integer >= 2, got 1"), (2.5, "count must be an integer >= 2, got 2.5")],
)
def test_a_number_of_starts_is_a_count(wrong: Any, message: str):
    with pytest.raises(co.InputError, match=message):
        co.solve(time_optimal(), plan=[co.refinement.Solve(), co.refinement.SeekStarts(wrong)])


@pytest.mark.parametrize("lowest", [-3.0, -np.inf])
def test_random_starts_of_states_alone_lead_round_a_hill_on_its_other_side(lowest: float):
    """From the costlier side; the cheaper optimum is that of the plain call, from a straight line."""
    hill = co.integral(lambda now: now.ux**2 + now.uy**2 + 20 * ca.exp(-(now.x**2 + (now.y - 0.3) ** 2) / 0.2))
    x = co.State("x", rate=lambda now: now.ux)
    y = co.State("y", rate=lambda now: now.uy, lower=lowest, upper=3.0)
    ends = [co.initial(states={"x": -1.0, "y": 0.5}), co.final(states={"x": 1.0, "y": 0.5})]
    controls = [co.Unknown("ux"), co.Unknown("uy")]
    problem = co.Problem(None, 1.0, hill, ends, [x, y, *controls])  # pyright: ignore[reportArgumentType]
    below = {"x": co.line(-1.0, 1.0), "y": co.keyframes({0.0: 0.5, 0.5: -0.6, 1.0: 0.5})}
    plan = [co.refinement.Solve(), co.refinement.SeekStarts(6)]
    plain, alone = co.solve(problem, co.BSpline(20)), co.solve(problem, co.BSpline(20), guess=below)
    best = co.solve(problem, co.BSpline(20), guess=below, plan=plan)
    assert alone.cost == pytest.approx(8.9696, rel=1e-4)
    assert best.status is co.solver.Status.SOLVED
    assert best.cost == pytest.approx(plain.cost, rel=1e-8) == pytest.approx(6.218277, rel=1e-6)
    assert best.starts is not None
    assert [basin.cost for basin in best.starts.basins] == pytest.approx([best.cost, alone.cost], rel=1e-6)


TWO = co.Model(
    [
        co.Body("upper", co.revolute(), mass=2, com=(0.3, 0, 0), inertia=(0.01, 0.06, 0.06)),
        co.Body(
            "lower", co.revolute(placement=co.placement((0.6, 0, 0)), limits=co.Limits(position=(-2.5, 2.0))),
            "upper", mass=1.5, com=(0.25, 0, 0), inertia=(0.01, 0.04, 0.04),
        ),
    ],
    gravity=(0, 0, -9.81),
)  # fmt: skip


def swing(*goals: Any, q: Any = None) -> co.Problem:
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=q, qd=0.0), co.bounds(tau=(-6, 6))]
    return co.Problem(TWO, co.Free(0.05, 10.0), co.duration(), [*ends, *goals])


def heading(angle: float) -> co.problem.Statement:
    """The first joint's angle up to whole turns, by cosine and sine."""
    return co.at(1.0, lambda now: ca.vertcat(ca.cos(now.q[0] - angle) - 1, ca.sin(now.q[0] - angle)), equals=0.0)


@pytest.mark.parametrize("seed", range(3))
def test_random_starts_end_where_equations_of_the_end_hold(seed):
    tip = co.at(1.0, lambda now: now.point("lower", (0.5, 0, 0)).position[:2], equals=(0.7, -0.4))
    for goal in (tip, heading(2.8)):
        nlp = co.transcribe(swing(goal), co.BSpline(8))
        ends = random_start(nlp, [1.0], np.random.default_rng(seed))[nlp.grid.layout["q"]][-1]
        if goal is tip:
            hand = co.Evaluator(TWO).point("lower", (0.5, 0, 0), q=ends).position
            np.testing.assert_allclose(np.ravel(hand)[:2], (0.7, -0.4), atol=1e-5)
        else:
            assert np.cos(ends[0] - 2.8) == pytest.approx(1.0, abs=1e-5)
        assert -2.5 <= ends[1] <= 2.0


def test_a_posture_at_the_end_keeps_what_is_prescribed_or_stays_where_nothing_meets_the_equations():
    problem = swing(heading(2.0), q={"lower": 0.3})
    q = posture_at_end(problem, 1.0, np.array([0.1, 0.3]), np.array([False, True]))
    np.testing.assert_allclose(q, (2.0, 0.3), atol=1e-5)
    near = np.array([0.1, 0.2])
    far = swing(co.at(1.0, lambda now: now.point("lower").position[:2], equals=(9.0, 0.0)))
    np.testing.assert_array_equal(posture_at_end(far, 1.0, near, np.array([False, False])), near)
    np.testing.assert_array_equal(posture_at_end(far, 0.0, near, np.array([True, True])), near)


def test_half_a_turn_by_cosine_and_sine_is_as_fast_as_by_its_angle():
    """Either way round, from a straight line whose end is half a turn away from the goal."""
    plan = [co.refinement.Solve(tol=1.0), co.refinement.SeekStarts(8)]
    turned, plain = (
        co.solve(problem, co.BSpline(12), plan=plan, progress=False).cost
        for problem in (swing(heading(np.pi), q={"lower": 0.0}), swing(q=(np.pi, 0.0)))
    )
    assert turned <= plain * (1 + 1e-4)
