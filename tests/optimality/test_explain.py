"""Reasons of a failed problem, and limits of a solved one: closed forms, and solves with other limits.

The sliding mass goes from rest to rest on cubic splines whose accelerations may jump between an even number of
intervals: bang-bang motion is on the grid, and what it takes is 4 m d / T^2.
"""

import warnings
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from tests.campaigns import explained
from tests.campaigns.relaxations import check
from tests.support.infeasible import infeasible
from tests.support.problems import effort, time_optimal

SLIDE = co.BSpline(8, continuity=1)
MASS = 2.0  # kg
EXACT = co.Ipopt(tol=1e-11, acceptable_tol=1e-11)


def slide(
    *more, duration: co.Free | float = 1.0, ends=(0.0, 3.0), limits: co.Limits | None = None, **rest
) -> co.Problem:
    """From rest to rest in a second, as a rule."""
    model = co.Model([co.Body("mass", co.prismatic((1, 0, 0), limits=limits), mass=MASS)], gravity=(0, 0, 0))
    stated = [co.initial(q=ends[0], qd=0.0), co.final(q=ends[1], qd=0.0)]
    return co.Problem(model, duration, co.integral(effort), [*stated, *more], **rest)


def failed(problem: Any, curve: co.curves.Transcription = SLIDE, **options: Any) -> Any:
    last = co.solve(problem, curve, plan=[co.refinement.Solve(between="nodes")], raise_on_failure=False, **options)
    assert last.status not in (co.solver.Status.SOLVED, co.solver.Status.COARSE)
    return last


def needed(explanation: co.optimality.Explanation) -> dict[tuple[str, str], float]:
    return {(relaxation.row, relaxation.side): relaxation.needed for relaxation in explanation.relaxations}


def is_feasible(problem: Any, curve: co.curves.Transcription = SLIDE, guess: Any = None) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of durations at their bounds, and coarse grids
        last = co.solve(
            problem, curve, plan=[co.refinement.Solve(between="nodes")], guess=guess, raise_on_failure=False
        )
    return last.outcome.status is co.solver.Status.SOLVED


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tau bounds", {("tau[mass]", "upper"): 4 * MASS * 3.0, ("tau[mass]", "lower"): -4 * MASS * 3.0}),
        ("duration", {("duration", "upper"): (4 * MASS * 3.0 / 10) ** 0.5}),
        ("final", {("final q[mass]", "lower"): 10 / (4 * MASS)}),
        ("initial", {("initial q[mass]", "upper"): 3.0 - 10 / (4 * MASS)}),
    ],
)
def test_what_a_sliding_mass_needs_is_its_closed_form(name, expected):
    last = failed(slide(co.bounds(tau=(-10.0, 10.0))))
    explanation = co.optimality.explain(last, relax=name)
    assert needed(explanation) == pytest.approx(expected, rel=1e-4)
    assert is_feasible(explanation.relaxed(), guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.5), guess=explanation.motion)


def test_bounds_give_way_before_what_is_prescribed():
    """A posture 1.75 m of 3 m short or a duration half as long again is less than two forces 140 % larger."""
    last = failed(slide(co.bounds(tau=(-10.0, 10.0))))
    assert {relaxation.constraint for relaxation in co.optimality.explain(last).relaxations} == {"tau bounds"}
    prescribed = co.optimality.explain(last, relax=["final", "initial", "duration"])
    (relaxation,) = prescribed.relaxations
    assert (relaxation.constraint, relaxation.joint, relaxation.side) == ("duration", "", "upper")
    assert relaxation.amount == pytest.approx(2.4**0.5 - 1, rel=1e-4)
    assert np.isnan(relaxation.t)
    assert repr(prescribed).startswith("no feasible motion found: duration must be 1.549 s (prescribed: 1 s)\n")


def test_a_relaxation_says_what_when_and_in_which_unit():
    last = failed(slide(co.bounds(tau=(-10.0, 40.0))))
    (relaxation,) = co.optimality.explain(last, relax=["tau bounds"]).relaxations
    assert (relaxation.constraint, relaxation.row, relaxation.joint) == ("tau bounds", "tau[mass]", "mass")
    assert (relaxation.side, relaxation.bound, relaxation.unit) == ("lower", -10.0, "N")
    # With 40 N ahead and U to brake, 2 m d = T^2 / (1 / 40 + 1 / U), and braking begins at U / (40 + U), or on the grid
    # an interval later.
    brake = 1 / (1 / (2 * 3.0 * MASS) - 1 / 40)
    assert relaxation.needed == pytest.approx(-brake, rel=0.05)
    assert 0 <= relaxation.t - brake / (40 + brake) <= 1 / 8
    words = f"tau[mass] must go down to {relaxation.needed:.4g} N (bound: -10 N) at t = {relaxation.t:.4g} s"
    assert str(relaxation) == words


def test_two_values_at_one_moment_give_way_by_their_difference():
    same = [co.at(0.5, lambda now, k=k: now.q[0] + k, equals=1.0 + 1.5 * k) for k in (0, 1)]
    explanation = co.optimality.explain(failed(slide(*same)))
    assert sum(relaxation.amount for relaxation in explanation.relaxations) == pytest.approx(0.5, rel=1e-4)
    assert is_feasible(explanation.relaxed(), guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.99), guess=explanation.motion)


def test_bounds_of_signals_and_constants_give_way():
    push = co.Unknown("push", lower=-1.0, upper=1.0)
    load = co.Unknown("load", size=2, lower=0.0, upper=3.0, guess=1.0, constant=True)
    heavy = co.at(0.5, lambda now: now.push + now.load[1], lower=5.0, name="heavy")
    last = failed(slide(heavy, unknowns=[push, load]), co.Radau(5))
    for name, expected in (("push", {("push", "upper"): 2.0}), ("load", {("load[1]", "upper"): 4.0})):
        explanation = co.optimality.explain(last, relax=name)
        assert needed(explanation) == pytest.approx(expected, rel=1e-4)
        relaxed = explanation.relaxed()
        assert is_feasible(relaxed, co.Radau(5), guess=explanation.motion)
        assert not is_feasible(explanation.relaxed(0.9), co.Radau(5), guess=explanation.motion)


def test_ends_and_bounds_of_states_give_way():
    """A tank that fills at one unit a second."""
    level = co.State("level", rate=lambda now: now.flow, upper=2.0)
    flow = co.Unknown("flow", lower=-1.0, upper=1.0)
    ends = [co.initial(states={"level": 0.0}), co.final(states={"level": 1.75})]
    tank = co.Problem(co.Model.empty(), 1.0, co.integral(lambda now: now.flow**2), ends, unknowns=[level, flow])
    last = failed(tank, co.Radau(5))
    for name, expected in (
        ("final", {("final level", "lower"): 1.0}),
        ("flow", {("flow", "upper"): 1.75}),
        ("duration", {("duration", "upper"): 1.75}),
    ):
        explanation = co.optimality.explain(last, relax=name)
        assert needed(explanation) == pytest.approx(expected, rel=1e-4)
        assert is_feasible(explanation.relaxed(), co.Radau(5), guess=explanation.motion)
    assert needed(co.optimality.explain(last)) == pytest.approx({("flow", "upper"): 1.75}, rel=1e-4)


def test_limits_of_the_model_give_way():
    """A way of 3 m in a second takes a mean speed of 3 m/s."""
    problem = slide(limits=co.Limits(velocity=(-1.0, 2.0), position=(-1.0, 4.0)))
    explanation = co.optimality.explain(failed(problem), relax="qd bounds")
    ((name, speed),) = needed(explanation).items()
    assert name == ("qd[mass]", "upper")
    assert speed > 3.0
    relaxed = explanation.relaxed()
    assert relaxed.model.limits("velocity")[1] == pytest.approx(2.0 + 1.01 * (speed - 2.0))
    assert relaxed.model.limits("position")[1] == 4.0
    assert is_feasible(relaxed, guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.5), guess=explanation.motion)


def test_bounds_on_positions_during_a_part_of_the_motion_give_way():
    early = co.bounds(q={"mass": (2.0, 5.0)}, during=(0.25, 0.5))
    speed = co.bounds(qd=(-4.0, 4.0))
    explanation = co.optimality.explain(failed(slide(early, speed)), relax="q bounds")
    ((name, place),) = needed(explanation).items()
    assert name == ("q[mass]", "lower")
    assert 0.0 <= place <= 1.0  # in a quarter of a second at 4 m/s
    assert explanation.relaxations[0].t == pytest.approx(0.25, abs=0.07)
    assert is_feasible(explanation.relaxed(), guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.5), guess=explanation.motion)


def coasting() -> co.Problem:
    """A cart that nothing drives, and on it a slide that is: their centre of mass stays where it is."""
    cart = co.Body("cart", co.prismatic((1, 0, 0)), mass=MASS)
    load = co.Body("load", co.prismatic((1, 0, 0)), parent="cart", mass=MASS)
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=(1.0, 0.0), qd=0.0), co.bounds(tau={"cart": (0.0, 0.0)})]
    return co.Problem(co.Model([cart, load], gravity=(0, 0, 0)), 1.0, co.integral(effort), ends)


def test_equations_along_the_path_are_the_last_to_give_way():
    last = failed(coasting())
    explanation = co.optimality.explain(last, relax=["final", "tau bounds"])
    assert needed(explanation) == pytest.approx({("final q[cart]", "lower"): 0.0}, abs=1e-6)
    explanation = co.optimality.explain(last, relax="tau bounds")
    assert all(relaxation.equation for relaxation in explanation.relaxations)
    forces = {("tau[cart]", "upper"): 4 * 2 * MASS, ("tau[cart]", "lower"): -4 * 2 * MASS}
    assert needed(explanation) == pytest.approx(forces, rel=1e-4)
    assert is_feasible(explanation.relaxed(), guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.5), guess=explanation.motion)


def test_phases_and_what_is_stated_across_them_give_way():
    """There and back, each in 0.3 s where torques of 10 N m take 0.392 s, and half a second in all."""
    start, torques = co.initial(q=(0.0, -2.0), qd=0.0), co.bounds(tau=(-10.0, 10.0))
    there = co.Problem(two_link(), co.Free(0.1, 0.3), co.integral(effort), [start, torques])
    home = co.final(q=(0.0, -2.0), qd=0.0)
    back = co.Problem(two_link(), co.Free(0.1, 0.3), co.integral(effort), [torques, home])
    touch = co.boundary(lambda phases: phases["back"].start.q, equals=(1.0, -1.0), name="touch")
    both = co.Phases({"there": there, "back": back}, [touch], duration=co.Free(0.1, 0.5))
    last, curve = failed(both, co.BSpline(6)), co.BSpline(6)
    explanation = co.optimality.explain(last, relax="duration")
    by_phase = {relaxation.phase: relaxation.needed for relaxation in explanation.relaxations}
    assert by_phase["there"] == pytest.approx(by_phase["back"], rel=1e-3)
    assert by_phase[""] == pytest.approx(by_phase["there"] + by_phase["back"], rel=1e-4)
    assert is_feasible(explanation.relaxed(), curve, guess=explanation.motion)
    assert not is_feasible(explanation.relaxed(0.5), curve, guess=explanation.motion)
    explanation = co.optimality.explain(last, relax="touch")
    assert {relaxation.row for relaxation in explanation.relaxations} <= {"touch, q[shoulder]", "touch, q[elbow]"}
    assert is_feasible(explanation.relaxed(), curve, guess=explanation.motion)


def test_a_failure_without_a_limit_to_blame_is_reported_with_a_motion_to_begin_with():
    problem = slide(co.bounds(tau=(-25.0, 25.0)))
    last = failed(problem, solver=co.Ipopt(max_iter=1))
    explanation = co.optimality.explain(last)
    assert explanation.relaxations == ()
    assert "explanation.motion meets all limits" in repr(explanation)
    assert explanation.motion is not None
    assert explanation.motion.violation < 1e-6
    assert is_feasible(explanation.relaxed(), guess=explanation.motion)


@pytest.mark.parametrize("seed", range(8))
def test_relaxations_of_random_infeasible_problems_make_them_feasible_and_half_of_them_do_not(seed):
    check(seed)


def test_random_infeasible_problems_are_of_all_kinds():
    kinds = {infeasible(seed)[0] for seed in range(8)}
    assert len(kinds) == 8


def test_an_error_is_explained_like_its_solution_and_points_here():
    with pytest.raises(co.SolveError, match=r"co\.optimality\.explain") as caught:
        co.solve(slide(co.bounds(tau=(-10.0, 10.0))), SLIDE)
    explanation = co.optimality.explain(caught.value)
    assert explanation.solution is caught.value.solution
    assert needed(explanation).keys() == {("tau[mass]", "upper"), ("tau[mass]", "lower")}


# Limits of an answer


def central(of, value: float, step: float) -> float:
    """By how much the cost changes per unit."""
    costs = [
        co.solve(of(value + h), SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")]).cost
        for h in (step, -step)
    ]
    return (costs[0] - costs[1]) / (2 * step)


def limited(force=33.0, speed=4.3, end=3.0, duration=1.0, rest=0.0) -> co.Problem:
    """Force and speed are at their bounds for a while."""
    problem = slide(co.bounds(tau=(-force, force), qd={"mass": (-90.0, speed)}), duration=duration, ends=(0.0, end))
    stated = [co.initial(q=0.0, qd=0.0), co.final(q=end, qd=rest)]
    return replace(problem, subject_to=[*stated, problem.subject_to[-1]])


def test_the_gain_of_a_limit_is_the_derivative_of_the_cost_by_it():
    explanation = co.optimality.explain(
        co.solve(limited(), SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")])
    )
    gains = {(limit.row, limit.side): limit.gain for limit in explanation.limits}
    speed = gains["qd[mass]", "upper"]
    assert speed == pytest.approx(-central(lambda v: limited(speed=v), 4.3, 1e-4), rel=1e-5)
    force = gains["tau[mass]", "upper"] + gains["tau[mass]", "lower"]
    assert force == pytest.approx(-central(lambda v: limited(force=v), 33.0, 1e-4), rel=1e-5)
    end = gains["final q[mass]", "lower"]
    assert end == pytest.approx(central(lambda v: limited(end=v), 3.0, 1e-4), rel=1e-5)
    stop = gains["final qd[mass]", "upper"]
    assert stop == pytest.approx(-central(lambda v: limited(rest=v), 0.0, 1e-4), rel=1e-5)
    duration = gains["duration", "upper"]
    assert duration == pytest.approx(-central(lambda v: limited(duration=v), 1.0, 1e-4), rel=1e-5)


def test_limits_stated_once_are_summed_over_times_and_ranked_by_what_a_percent_gains():
    solution = co.solve(time_optimal(), co.BSpline(10), solver=EXACT, plan=[co.refinement.Solve(between="nodes")])
    limits = co.optimality.explain(solution).limits
    assert len({(limit.place, limit.side) for limit in limits}) == len(limits)
    torques = [limit for limit in limits if not limit.prescribed]
    assert {limit.constraint for limit in torques} == {"tau bounds"}
    assert torques == list(limits[: len(torques)])
    percents = [limit.of_percent for limit in torques]
    assert percents == sorted(percents, reverse=True)
    # With all torques a share larger, the same motion is quicker by half of that: T goes with 1 / sqrt(U).
    assert sum(limit.gain * 0.01 * 10.0 for limit in torques) == pytest.approx(0.005 * solution.duration, rel=1e-6)


def test_bounds_of_unknowns_are_among_what_limits():
    """A payload as heavy as torques allow, of which at most 2 kg are there."""
    mass = co.Unknown("mass", lower=0.0, upper=2.0, guess=1.0, constant=True)
    hand = co.Load("elbow", force=ca.vertcat(0, -9.81 * mass.symbol, 0))
    stated = time_optimal().subject_to[:2]
    most = -1.0 * co.final_cost(lambda now: now.mass)
    lift = co.Problem(two_link(), 0.5, most, stated, unknowns=[mass], loads=[hand])
    (limit,) = co.optimality.explain(co.solve(lift, co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])).limits
    assert (limit.constraint, limit.row, limit.side, limit.bound) == ("mass", "mass", "upper", 2.0)
    assert limit.gain == pytest.approx(1.0, rel=1e-6)
    assert np.isnan(limit.first)


def test_phases_have_limits_of_their_own_and_in_common():
    """Two slides one after the other, and how long they may take together."""
    there = replace(slide(), duration=co.Free(0.1, 5.0))
    back = replace(slide(ends=(3.0, 0.0)), duration=co.Free(0.1, 5.0))

    def lasting(seconds: float) -> co.Phases:
        return co.Phases({"there": there, "back": back}, duration=seconds)

    def cost(seconds: float) -> float:
        return co.solve(lasting(seconds), SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")]).cost

    limits = co.optimality.explain(
        co.solve(lasting(2.0), SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")])
    ).limits
    gains = {(limit.phase, limit.row, limit.side): limit.gain for limit in limits}
    # The least squared force of a way is 12 m^2 d^2 / T^3.
    assert gains["", "duration", "upper"] == pytest.approx(36 * MASS**2 * 3.0**2, rel=1e-4)
    assert gains["", "duration", "upper"] == pytest.approx((cost(1.9999) - cost(2.0001)) / 2e-4, rel=1e-6)
    assert gains["back", "final q[mass]", "upper"] == pytest.approx(24 * MASS**2 * 3.0, rel=1e-4)


def test_the_condition_of_active_rows_is_that_of_their_scaled_jacobian():
    solution = co.solve(limited(), SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")])
    explanation, nlp = co.optimality.explain(solution), solution.nlp
    active = np.abs(solution.multipliers["g"]) > 1e-7
    jacobian = np.array(nlp.jac_g(solution.x, solution.parameters)[1])[active][:, nlp.free] * nlp.scale_x[nlp.free]
    rows = jacobian / np.linalg.norm(jacobian, axis=1, keepdims=True)
    assert explanation.condition == pytest.approx(np.linalg.cond(rows), rel=1e-6)
    assert explanation.dependent == ()


def test_active_rows_that_follow_from_others_are_named():
    twice = [
        co.at(0.5, lambda now: now.q[0], equals=1.4, name="half way"),
        co.at(0.5, lambda now: 2 * now.q[0], equals=2.8, name="the same"),
    ]
    explanation = co.optimality.explain(co.solve(slide(*twice), SLIDE, plan=[co.refinement.Solve(between="nodes")]))
    assert explanation.condition > 1e9
    (sentence,) = explanation.dependent
    assert "half way at t = 0.5 s" in sentence
    assert "the same at t = 0.5 s" in sentence
    assert sentence in repr(explanation)


def best_of(problem: co.Problem) -> co.Solution:
    answer = co.solve(problem, SLIDE, solver=EXACT, plan=[co.refinement.Solve(between="nodes")])
    assert isinstance(answer, co.Solution)
    return answer


def test_a_limit_beside_which_another_one_holds_gains_nothing():
    """A force bounded twice, once by half of it, and an end that a stop fixes as well."""
    once = best_of(limited())
    half = co.path(lambda now: now.tau[0] / 2, lower=-33.0 / 2, upper=33.0 / 2, name="half")
    twice = best_of(replace(limited(), subject_to=[*limited().subject_to, half]))
    gains, again = (
        {(limit.row, limit.side): limit.gain for limit in co.optimality.explain(answer).limits}
        for answer in (once, twice)
    )
    assert twice.cost == pytest.approx(once.cost, rel=1e-8)
    assert ("tau[mass]", "upper") in gains
    assert not {row for row, _ in again} & {"tau[mass]", "half"}
    for limit in ("qd[mass]", "upper"), ("final q[mass]", "lower"), ("duration", "upper"):
        assert again[limit] == pytest.approx(gains[limit], rel=1e-5)
    wider = best_of(replace(limited(34.0), subject_to=[*limited(34.0).subject_to, half]))
    assert wider.cost == pytest.approx(once.cost, rel=1e-7)


def test_an_end_that_bounds_fix_as_well_gains_to_the_side_that_is_open():
    """Past the end is a stop: only a nearer end gains, as much as it does without the stop."""
    stop = co.path(lambda now: now.q[0], upper=3.0, name="stop")
    stopped = best_of(replace(limited(), subject_to=[*limited().subject_to, stop]))
    explanation = co.optimality.explain(stopped)
    gains = {(limit.row, limit.side): limit.gain for limit in explanation.limits}
    assert "stop" not in {row for row, _ in gains}
    assert gains["final q[mass]", "lower"] == pytest.approx(central(lambda v: limited(end=v), 3.0, 1e-4), rel=1e-4)
    assert max(limit.of_percent for limit in explanation.limits) < stopped.cost


def turning_wheel() -> co.Solution:
    """A shortest time by the plain call, whose grid has points where the torque switches."""
    wheel = co.Body("wheel", co.revolute(), mass=1.0, inertia=(0.015, 0.015, 0.03))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=5.0, qd=0.0)]
    stated = [*ends, co.bounds(tau=(-3.0, 3.0), qd=(-15.0, 15.0))]
    answer = co.solve(co.Problem(co.Model([wheel], gravity=(0, 0, 0)), co.Free(0.01, 20.0), co.duration(), stated))
    assert isinstance(answer, co.Solution)
    return answer


def test_a_percent_gains_less_than_the_derivative_where_other_bounds_are_met():
    """Others are inactive by a hair at switches."""
    torques = [one for one in explained.percents_of(turning_wheel()) if one.limit.constraint == "tau bounds"]
    assert max(one.by_derivative / one.solved for one in torques) > 1.1
    for one in torques:
        assert one.forecast == pytest.approx(one.solved, rel=0.02)


@pytest.mark.parametrize(
    ("seed", "row", "excess"),
    [(65, "tau[link0]", 1.5), (222, "qd[link1]", 5.0), (197, "qd[link1]", 0.1), (11, "q[link2]", 0)],
)
def test_a_percent_of_random_limits_gains_what_a_solve_finds(seed: int, row: str, excess: float):
    """Limits of torque, speed and position, whose derivatives say more than a percent gains, or no more."""
    all_of_them = [one for one in explained.percents(seed) if not np.isnan(one.forecast + one.solved)]
    assert max(one.by_derivative / one.solved for one in all_of_them if one.limit.row == row) > 1 + excess
    for one in all_of_them:
        assert one.forecast == pytest.approx(one.solved, rel=0.02)


def test_a_percent_is_exact_for_linear_dynamics_and_squares():
    once = explained.percents_of(best_of(limited()))
    assert {one.limit.row for one in once} >= {"tau[mass]", "qd[mass]", "final q[mass]"}
    for one in once:
        assert one.forecast == pytest.approx(one.solved, rel=1e-3 if one.limit.constraint == "duration" else 1e-4)


def test_a_percent_gains_up_to_another_limit_on_the_same_quantity():
    """A force bounded again by half a percent more: its derivative stays, and 1 % of it gains half."""
    more = 1.005 * 33.0
    again = co.path(lambda now: now.tau[0], lower=-more, upper=more, name="again")
    twice = explained.percents_of(best_of(replace(limited(), subject_to=[*limited().subject_to, again])))
    forces = [one for one in twice if one.limit.row == "tau[mass]"]
    assert forces
    for one in forces:
        assert one.forecast == pytest.approx(one.solved, rel=1e-5)
        assert one.forecast == pytest.approx(one.by_derivative / 2, rel=0.02)


def test_a_percent_that_is_not_computed_is_said_to_be_a_limit(monkeypatch: pytest.MonkeyPatch):
    """Programs that are too large, and without an optimum nearby."""
    answer = best_of(limited())
    known = co.optimality.explain(answer)
    for constant, note in (("_WORK", "variables and"), ("_FAR", "no optimum was found with 1 % more of")):
        with monkeypatch.context() as patch:
            patch.setattr(f"colloc.optimality.expanded.{constant}", 0)
            unknown = co.optimality.explain(answer)
        by_derivative, gains = (sorted(limit.gain for limit in one.limits) for one in (unknown, known))
        assert by_derivative == pytest.approx(gains)
        assert np.isnan([limit.of_percent for limit in unknown.limits]).all()
        (sentence,) = unknown.notes
        assert note in sentence
        assert sentence in repr(unknown)
        assert "falls by up to" in repr(unknown).splitlines()[0]
    assert known.notes == ()


@pytest.mark.parametrize("seed", [1, 13, 22])
def test_forecasts_of_problems_with_redundant_rows_are_what_solves_without_them_find(seed):
    explanation = explained.check(seed)
    assert explanation is not None
    assert explanation.limits


def test_an_answer_without_active_limits_says_so():
    free = co.Problem(slide().model, 1.0, co.integral(effort), [])
    explanation = co.optimality.explain(co.solve(free, SLIDE, plan=[co.refinement.Solve(between="nodes")]))
    assert explanation.limits == ()
    assert repr(explanation).startswith("no active limit")


# On the screen


def test_the_most_useful_line_comes_first_and_all_fits_on_a_screen():
    explained = [
        co.optimality.explain(co.solve(time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")])),
        co.optimality.explain(failed(slide(co.bounds(tau=(-10.0, 10.0))))),
    ]
    starts = [
        r"the cost 0.3969 falls by 0.24 % if tau[shoulder] <= 10 N m is relaxed by 1 %",
        "no feasible motion found: tau[mass] must",
    ]
    for explanation, start in zip(explained, starts, strict=True):
        lines = repr(explanation).splitlines()
        assert lines[0].startswith(start)
        assert len(lines) <= 24
        assert max(map(len, lines)) <= 120
        assert explanation._repr_html_().count("<tr>") == sum(line.startswith("  ") for line in lines)


def test_what_may_be_relaxed_is_known_by_name():
    last = failed(slide(co.bounds(tau=(-10.0, 10.0))))
    with pytest.raises(co.InputError, match=r"'torque bounds'.*did you mean 'tau bounds'"):
        co.optimality.explain(last, relax="torque bounds")
    with pytest.raises(co.InputError, match="relax is for failed solves, this one is solved"):
        co.optimality.explain(co.solve(slide(), SLIDE, plan=[co.refinement.Solve(between="nodes")]), relax="tau bounds")
    with pytest.raises(co.InputError, match="solution must be a Solution"):
        co.optimality.explain(last.x)
    with pytest.raises(co.InputError, match="share must be finite and positive, got 0"):
        co.optimality.explain(last).relaxed(0)
