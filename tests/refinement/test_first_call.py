"""The call that users make first: rough guesses, the default curve, refinements that fail, a limit in seconds."""

import time
import warnings
from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.refinement import rounds as running
from colloc.solution.warm_start import start_from
from colloc.solver import Start
from tests.support.problems import effort, time_optimal

NONE = np.zeros(0)
CURVES = [
    co.BSpline(20),
    co.BSpline(breakpoints=co.curves.graded(20), degree=4, continuity=1),
    co.HermiteSimpson(15),
    co.Radau(12, (3, 4) * 6),
]


def reaching(*conditions: Any, duration: Any = 1.0, parameters: Any = ()) -> co.Problem:
    """Two links in gravity that move with the least effort, from rest to rest unless other conditions are named."""
    rest = [co.initial(q=(0, -2), qd=0), co.final(q=(1, -1), qd=0)]
    ends = list(conditions) or rest
    return co.Problem(two_link(9.81), duration, co.integral(effort), ends, parameters=parameters)


def start_of(problem: co.Problem, curve: Any, guess: Any, parameters: np.ndarray = NONE) -> co.Solution:
    """The motion at which a search starts."""
    nlp = co.transcribe(problem, curve, compile=False)
    x = start_from(nlp, guess, parameters).x
    idle = co.solve(nlp, solver=co.Ipopt(max_iter=0), raise_on_failure=False)
    return replace(idle, outcome=replace(idle.outcome, x=x))


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_guess_that_misses_the_ends_is_bent_by_the_cubic_of_least_squared_acceleration(curve):
    miss = np.array([[0.2, 0.5], [-0.2, -0.2]])
    T = 2.0
    start = start_of(reaching(duration=T), curve, lambda t: np.array([0, -2]) + miss[0] + t / T * (miss[1] - miss[0]))
    t = np.linspace(0, T, 101)
    np.testing.assert_allclose(start.at([0, T]).q, [[0, -2], [1, -1]], atol=1e-9)
    np.testing.assert_allclose(start.at([0, T]).qd, 0, atol=1e-9)
    # From the line that it guesses, by the cubic with its values and slopes at the ends (Hermite): in all, the cubic
    # from rest to rest.
    s = t / T
    rest_to_rest = np.array([0, -2]) + np.outer(3 * s**2 - 2 * s**3, [1, 1])
    np.testing.assert_allclose(start.at(t).q, rest_to_rest, atol=5e-3)
    assert np.abs(start.at(t).qdd).max() < 1.1 * 6 / T**2


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_what_is_asked_of_single_moments_is_met_where_it_is_linear(curve):
    problem = reaching(
        co.initial(q={"shoulder": 0.3}),
        co.at(0.4, lambda now: now.q[1] - now.goal, equals=0.0, name="by the way"),
        co.at(0.4, lambda now: ca.sin(now.q[0]) + now.tau[1], equals=0.0, name="not linear"),
        co.boundary(lambda start, end: ca.vertcat(end.q - start.q, end.qd - start.qd), equals=0.0, name="cycle"),
        parameters=[co.Parameter("goal", 0.7)],
    )
    start = start_of(problem, curve, co.line((0.0, 0.0), (1.0, 0.5)), np.array([0.9]))
    ends = start.at([0.0, 1.0])
    assert start.at(0.4).q[1] == pytest.approx(0.9, abs=1e-6)
    assert ends.q[0, 0] == pytest.approx(0.3, abs=1e-9)
    np.testing.assert_allclose(ends.q[1], ends.q[0], atol=1e-6)
    np.testing.assert_allclose(ends.qd[1], ends.qd[0], atol=1e-6)
    assert np.abs(start.at(np.linspace(0, 1, 101)).qdd).max() < 100


def test_postures_at_the_ends_stay_where_nothing_is_said_of_them():
    """Only the velocity at the end of a guess is fixed: it is met by a bend."""
    problem = reaching(co.initial(q=(0.5, -2.0)), co.final(qd=0.5))
    start = start_of(problem, co.BSpline(20), co.line((0.5, -2.0), (1.5, -1.0)))
    s = np.linspace(0, 1, 21)
    bent = np.outer(s - (s**3 - s) / 4, [1, 1])  # a beam: no curvature where the velocity is free
    np.testing.assert_allclose(start.at(s).q, np.array([0.5, -2.0]) + bent, atol=5e-3)


def test_a_rest_is_met_by_another_rhythm_on_the_same_way():
    """No joint of a closed chain may change alone: what it goes through stays."""
    problem = reaching(co.initial(q=(0, -2), qd=0), co.final(q=(1, -1)))

    def circle(t: float) -> tuple[float, float]:
        return np.sin(np.pi / 2 * t), -1 - np.cos(np.pi / 2 * t)

    start = start_of(problem, co.BSpline(40, 5), circle)
    q = start.at(np.linspace(0, 1, 101)).q
    np.testing.assert_allclose(np.hypot(q[:, 0], q[:, 1] + 1), 1, atol=1e-6)
    np.testing.assert_allclose(start.at(0.0).qd, 0, atol=1e-9)
    s = 0.3
    np.testing.assert_allclose(start.at(s).q, circle(2 * s**2 - s**3), atol=1e-6)


def test_phases_meet_where_they_are_linked():
    half = replace(reaching(co.initial(q=(0, -2), qd=0)), duration=0.5)
    both = co.Phases({"there": half, "back": replace(half, subject_to=[co.final(q=(0, -2), qd=0)])})
    nlp = co.transcribe(both, co.BSpline(8), compile=False)
    guess = {"there": co.line((0.2, -2), (1, -1)), "back": co.line((0.8, -1.3), (0.1, -1.9))}
    x = start_from(nlp, guess, NONE).x
    motion = co.solve(nlp, solver=co.Ipopt(max_iter=0), raise_on_failure=False)
    motion = replace(motion, outcome=replace(motion.outcome, x=x))
    there, back = motion.phases["there"], motion.phases["back"]
    np.testing.assert_allclose(there.at(0.5).q, back.at(0.0).q, atol=1e-6)
    np.testing.assert_allclose(there.at(0.5).qd, back.at(0.0).qd, atol=1e-6)
    np.testing.assert_allclose(back.at(0.5).q, [0, -2], atol=1e-9)


def test_an_optimum_is_where_the_next_grid_starts():
    coarse = co.solve(reaching(), co.BSpline(10), plan=[co.refinement.Solve(tol=1.0)])
    fine = co.transcribe(coarse.problem, co.BSpline(20))
    begin = replace(coarse, program=fine, outcome=replace(coarse.outcome, x=start_from(fine, coarse, NONE).x))
    t = np.linspace(0, 1, 41)
    np.testing.assert_allclose(begin.at(t).q, coarse.at(t).q, atol=1e-10)


@pytest.mark.parametrize("curve", [None, *CURVES], ids=str)
@pytest.mark.parametrize("off", [0.1, 0.3, 0.6])
def test_a_rough_guess_leads_where_none_leads(curve, off: float):
    """On a first interval of a thousandth of the motion, misses of 0.1 and 0.3 rad led to 1775 and 231,619."""
    guess = co.line((off, -2 + off), (1 - off, -1 - off))
    solution = co.solve(reaching(), curve, guess=guess, compile=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(7.50386, rel=1e-4)


def test_a_point_in_space_is_reached_without_winding_up():
    """From lines to random postures: elbow up or down, where without a bend costs of a million were found."""
    rng = np.random.default_rng(5)
    goal = co.at(1.0, lambda now: now.point("elbow").position[:2], equals=(0.3, 0.5), name="goal")
    nlp = co.transcribe(reaching(co.initial(q=(0, -2), qd=0), co.final(qd=0), goal), CURVES[0], compile=False)
    for _ in range(12):
        solution = co.solve(nlp, guess=co.line((0, -2), rng.uniform(-2, 2, 2)))
        assert solution.status is co.solver.Status.SOLVED
        assert solution.cost < 14
        assert np.abs(solution.q).max() < 8  # a turn of the elbow at most


def test_the_default_curve_has_equal_intervals_but_for_the_timed_line():
    def widths(problem: co.Problem, guess: Any = None) -> np.ndarray:
        first = co.solve(problem, guess=guess, compile=False).rounds[0]
        assert not isinstance(first.curve, dict)
        return np.diff(first.breakpoints)

    assert np.ptp(widths(reaching())) < 1e-12
    assert np.ptp(widths(time_optimal(), co.line((0.2, -2), (1, -1)))) < 1e-12
    assert np.ptp(widths(time_optimal())) > 0.01


def basins() -> co.Problem:
    """Left or right round a hill that stands between the ends: the right is the longer way."""
    slides = [
        co.Body("x", co.prismatic((1, 0, 0)), mass=1.0),
        co.Body("y", co.prismatic((0, 1, 0)), "x", mass=1.0),
    ]

    def hill(now: co.problem.Instant) -> ca.SX:
        return 60 * ca.exp(-8 * ((now.q[0] - 0.5) ** 2 + (now.q[1] - 0.1) ** 2))

    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(1, 0), qd=0)]
    model = co.Model(slides, gravity=(0, 0, 0))
    return co.Problem(model, 1.0, co.integral(lambda now: 0.01 * ca.sumsqr(now.qdd) + hill(now)), ends)


def over(side: float) -> Any:
    """A guess by way of one side of the hill."""
    return co.keyframes({0: (0, 0), 0.5: (0.5, side), 1: (1, 0)})


class Straying(running.Run):
    """Solves that end in the costlier local optimum, once or always, whatever they start from."""

    strays = 1

    def __call__(self, nlp: Any, guess: Any, begin: float) -> Any:
        strays = type(self).strays > 0
        type(self).strays -= 1
        return super().__call__(nlp, over(1.0) if strays else guess, begin)


def refined(monkeypatch: pytest.MonkeyPatch, *, strays: int) -> tuple[co.Solution, co.Solution]:
    """The motion by way of the cheaper local optimum on a coarse curve, and refined by solves that leave it."""
    coarse = co.solve(basins(), co.BSpline(8, 4, continuity=1), guess=over(-0.5), plan=[co.refinement.Solve(tol=1.0)])
    monkeypatch.setattr(Straying, "strays", strays)
    run = Straying(NONE, co.Ipopt(), False, 1e-4)
    finer = running.refined(replace(coarse, outcome=replace(coarse.outcome, tolerance=1e-4)), run)
    assert isinstance(finer, co.Solution)
    return coarse, finer


def test_a_round_that_ends_in_a_costlier_optimum_is_gone_back_on(monkeypatch: pytest.MonkeyPatch):
    coarse, finer = refined(monkeypatch, strays=1)
    assert finer.status is co.solver.Status.SOLVED
    assert finer.at(0.5).q[1] < 0
    assert finer.cost == pytest.approx(coarse.cost, rel=0.1)
    assert all(round.cost < 1.1 * coarse.cost for round in finer.rounds)


def test_where_every_finer_grid_ends_in_a_costlier_optimum_nothing_is_solved(monkeypatch: pytest.MonkeyPatch):
    coarse, finer = refined(monkeypatch, strays=100)
    assert finer.status is co.solver.Status.COARSE
    assert finer.cost == coarse.cost
    assert len(finer.rounds) == 1


def test_an_absurd_first_round_is_forgotten(monkeypatch: pytest.MonkeyPatch):
    """A search that spun the arm round on its first grid is made again from the guess on the next one."""
    problem = reaching()
    nlp = co.transcribe(problem, co.BSpline(20, 4, continuity=1))
    with pytest.warns(co.support.InputWarning, match="guess is 30 rad, more than 3 turns"):
        spun = co.solve(nlp, guess=lambda t: (30 * np.sin(6 * np.pi * t), -2 + t), plan=[co.refinement.Solve(tol=1e9)])
    absurd = 1e3 * spun.cost  # any first round that is worse than ten times what comes after it
    rounds: list[int] = []
    plain = running.round_of

    def round_of(solution: Any) -> Any:
        rounds.append(1)
        return replace(plain(solution), cost=absurd) if len(rounds) == 1 else plain(solution)

    monkeypatch.setattr(running, "round_of", round_of)
    monkeypatch.setattr(
        co.Solution, "cost", property(lambda own: absurd if own.x is spun.x else sum(own.terms.values()))
    )
    run = running.Run(NONE, co.Ipopt(), False, 1e-3)
    finer = running.refined(
        replace(spun, outcome=replace(spun.outcome, tolerance=1e-3)), run, co.line((0, -2), (1, -1))
    )
    assert finer.status is co.solver.Status.SOLVED
    assert finer.cost == pytest.approx(7.50386, rel=1e-4)
    assert max(round.cost for round in finer.rounds) < 10


def test_a_limit_in_seconds_holds_for_the_whole_call_and_keeps_the_best_motion():
    def slowly(now: co.refinement.Iteration) -> None:
        time.sleep(0.1 if now.round > 1 else 0.0)

    begin = time.perf_counter()
    with pytest.warns(
        co.refinement.SolutionWarning,
        match=r"seconds=2 ran out after refinement iteration 1: its error is .*; go on with co\.refine\(solution\)$",
    ):
        solution = co.solve(time_optimal(), tol=1e-7, seconds=2, progress=slowly, compile=False)
    assert time.perf_counter() - begin < 10
    assert solution.status is co.solver.Status.TIME_LIMIT
    assert solution.duration == pytest.approx(0.3919, abs=1e-3)
    assert len(solution.rounds) == 1
    bent = co.keyframes({0.0: (0.0, -2.0), 0.5: (3.0, 2.0), 1.0: (1.0, -1.0)})
    for guess, what in ((None, "meets all constraints at the nodes"), (bent, r"misses tau\[\w+\] .* bound -?10")):
        with pytest.warns(
            co.refinement.SolutionWarning, match=f"seconds=1e-06 ran out .*, which {what}.*guess=solution"
        ):
            first = co.solve(time_optimal(), co.BSpline(20), guess=guess, seconds=1e-6)
        assert first.status is co.solver.Status.TIME_LIMIT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert co.solve(time_optimal(), co.BSpline(20), seconds=600).success
    with pytest.raises(co.InputError, match="seconds must be finite and positive, got -1"):
        co.solve(time_optimal(), seconds=-1)


def test_a_limit_of_ipopts_own_still_is_a_failure():
    with pytest.raises(co.SolveError, match="time limit"):
        co.solve(time_optimal(), co.BSpline(20), solver=co.Ipopt(max_wall_time=1e-6))


def test_a_refinement_within_seconds_returns_what_it_refines():
    coarse = co.solve(time_optimal(), co.BSpline(8))
    with pytest.warns(co.refinement.SolutionWarning, match="ran out after refinement iteration 1:"):
        same = co.refine(coarse, 1e-6, seconds=1e-6)
    assert same.status is co.solver.Status.TIME_LIMIT
    np.testing.assert_array_equal(same.x, coarse.x)


def test_progress_says_the_round(capsys):
    rounds: list[int] = []
    co.solve(time_optimal(), tol=1e-3, progress=lambda now: rounds.append(now.round), compile=False)
    assert rounds == sorted(rounds)
    assert rounds[0] == 1
    assert rounds[-1] > 1
    co.solve(time_optimal(), tol=1e-3, progress=True, compile=False)
    assert "round 2, iteration" in capsys.readouterr().err


def test_starts_that_are_given_as_they_are_stay_as_they_are():
    nlp = co.transcribe(reaching(), co.BSpline(8))
    x = np.zeros(nlp.n_x)
    run = running.Run(NONE, co.Ipopt(max_iter=0), False, 1e-2)
    _, start = run(nlp, Start(x), 0.0)
    assert start is x


def test_a_condition_that_is_undefined_at_the_guess_is_still_said():
    """No bend can be found towards what is no number."""
    high = co.at(1.0, lambda now: ca.log(now.q[0] - 2), equals=0.0, name="log")
    problem = reaching(co.initial(q=(0.2, -2), qd=0), high)
    with pytest.raises(co.InputError, match=r"not finite at the guess: constraint log.* is nan"):
        co.solve(problem, co.BSpline(8), guess=co.line((0, -2), (1, -1)))
