"""Cases: the same as separate solves unless a constant is shared, then the same as a nested optimisation; figures."""

import json
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.two_link import two_link
from colloc.transcription.worst import WorstNLP, costs_of_cases
from tests.support.problems import effort

CURVE = co.BSpline(12)
STIFFNESS = co.Unknown("stiffness", lower=0.0, upper=100.0, constant=True, unit="N m/rad")


def solve(problem: Any, curve: Any = CURVE, **given: Any) -> Any:
    """The optimum on a curve, whose error does not matter here."""
    given = {"plan": [co.refinement.Solve(tol=1.0)], "progress": False} | given
    return co.solve(problem, curve, compile=None if curve is None else False, **given)


def ends(angle: float) -> list[Any]:
    return [co.initial(q=0.0, qd=0.0), co.final(q=angle, qd=0.0)]


def pull(now: Any) -> Any:
    """Moment of a spring between the links."""
    return ca.vertcat(0, 0, -now.stiffness * now.q[1])


def swing(angle: float, duration: Any = 0.5, **given: Any) -> co.Problem:
    """A swing of an arm whose elbow has a spring of unknown stiffness."""
    spring = co.Load("elbow", moment=pull)
    given = {"unknowns": [STIFFNESS]} | given
    return co.Problem(two_link(), duration, co.integral(effort), ends(angle), loads=[spring], **given)


@pytest.fixture(scope="module")
def cases() -> co.Cases:
    return co.Cases({"near": swing(0.3), "far": swing(1.0, 0.6)})


@pytest.fixture(scope="module")
def solution(cases: co.Cases) -> Any:
    return solve(cases)


# -- values ----------------------------------------------------------------------------------------------------------


def test_cases_that_share_nothing_are_separate_solves():
    """Each with its own model, curve, bounds and duration, one of them free."""
    limit = co.bounds(tau=(-10, 10))
    problems = {
        "arm": co.Problem(two_link(), 0.7, co.integral(effort), ends(0.8)),
        "chain": co.Problem(
            planar_chain(3),
            0.5,
            co.integral(effort),
            ends(0.2),
            parts=[co.Spring("link1", 2.0), co.Motors(["link1", "link2", "link3"])],
        ),
        "fast": co.Problem(two_link(), co.Free(0.1, 2.0), co.duration(), [*ends(1.0), limit]),
    }
    curves = {"arm": co.BSpline(10), "chain": co.Radau(5), "fast": co.BSpline(8)}
    exact = co.Ipopt(tol=1e-12)
    together = solve(co.Cases(problems), curves, solver=exact)
    alone = {name: solve(problem, curves[name], solver=exact) for name, problem in problems.items()}
    for name, one in alone.items():
        case = together[name]
        assert case.duration == pytest.approx(one.duration, rel=1e-8)
        assert case.cost == pytest.approx(one.cost, rel=1e-8)
        t = np.linspace(0, one.duration, 30)
        np.testing.assert_allclose(case.at(t * case.duration / one.duration).q, one.at(t).q, atol=1e-7)
    assert together.cost == pytest.approx(sum(one.cost for one in alone.values()), rel=1e-8)
    assert together.start_times == dict.fromkeys(problems, 0.0)


def test_a_shared_constant_is_that_of_a_nested_optimisation(solution):
    given = co.Parameter("stiffness", 10.0)
    motions = [(0.3, 0.5), (1.0, 0.6)]
    programs = [
        co.transcribe(swing(*motion, unknowns=[], parameters=[given]), CURVE, compile=False) for motion in motions
    ]

    def total(stiffness: float) -> float:
        solved = (solve(nlp, None, parameters={"stiffness": stiffness}) for nlp in programs)
        return sum(one.cost for one in solved)

    best: Any = minimize_scalar(total, bounds=(0.0, 100.0), method="bounded", options={"xatol": 1e-4})
    assert solution["near"].constants["stiffness"] == solution["far"].constants["stiffness"]
    assert solution["near"].constants["stiffness"][0] == pytest.approx(best.x, abs=1e-3)
    assert solution.cost == pytest.approx(best.fun, rel=1e-8)


def test_weights_and_prices_of_constants_enter_the_cost(cases, solution):
    price = co.final_cost(lambda ends: 0.01 * ends["near"].start.stiffness, name="price")
    heavy = solve(co.Cases(cases.phases, minimize=price, weights={"near": 3.0}))
    stiffness = heavy["near"].constants["stiffness"][0]
    assert heavy.terms["price"] == pytest.approx(0.01 * stiffness)
    given = co.Parameter("stiffness", 10.0)
    motions = {"near": (0.3, 0.5), "far": (1.0, 0.6)}
    programs = {
        name: co.transcribe(swing(*motion, unknowns=[], parameters=[given]), CURVE, compile=False)
        for name, motion in motions.items()
    }

    def total(stiffness: float) -> float:
        near, far = (solve(nlp, None, parameters={"stiffness": stiffness}).cost for nlp in programs.values())
        return 3 * near + far + 0.01 * stiffness

    assert total(stiffness) == pytest.approx(heavy.cost, rel=1e-8)
    assert min(total(stiffness - 0.3), total(stiffness + 0.3)) > heavy.cost * (1 + 1e-6)


def test_a_boundary_ties_the_durations_of_cases():
    same = co.boundary(lambda ends: ends["far"].duration - 2 * ends["near"].duration, equals=0.0)
    free = co.Free(0.2, 5.0)
    timed = {
        name: co.Problem(
            two_link(), free, 10.0 * co.duration() + co.integral(effort), [*ends(angle), co.bounds(tau=(-10, 10))]
        )
        for name, angle in (("near", 0.3), ("far", 1.0))
    }
    tied = solve(co.Cases(timed, [same]))
    assert tied["far"].duration == pytest.approx(2 * tied["near"].duration, rel=1e-8)
    assert tied.cost > solve(co.Cases(timed)).cost


def test_costs_in_order_of_importance_are_those_of_each_case():
    levels: Any = [co.duration(), co.integral(effort, name="effort")]
    problems = {
        name: co.Problem(two_link(), co.Free(0.1, 2.0), levels, [*ends(angle), co.bounds(tau=(-10, 10))])
        for name, angle in (("near", 0.5), ("far", 1.0))
    }
    together = solve(co.Cases(problems), co.BSpline(8))
    for name, problem in problems.items():
        assert together[name].duration == pytest.approx(solve(problem, co.BSpline(8)).duration, rel=1e-6)


def test_the_worst_case_is_that_of_a_nested_optimisation(cases):
    """Weights with which the costs of both cases are equal at the best stiffness."""
    balanced = co.Cases(cases.phases, weights={"near": 7.0}, worst=1.0)
    worst = solve(balanced)
    near, far = (worst[name] for name in ("near", "far"))
    weights = worst.outcome.weights
    assert sum(weights) == pytest.approx(1.0)
    given = co.Parameter("stiffness", 10.0)
    programs = [
        co.transcribe(swing(*motion, unknowns=[], parameters=[given]), CURVE, compile=False)
        for motion in ((0.3, 0.5), (1.0, 0.6))
    ]

    def largest(stiffness: float) -> float:
        first, second = (solve(nlp, None, parameters={"stiffness": stiffness}).cost for nlp in programs)
        return max(7.0 * first, second)

    best: Any = minimize_scalar(largest, bounds=(0.0, 100.0), method="bounded", options={"xatol": 1e-6})
    assert worst.cost == pytest.approx(best.fun, rel=1e-6)
    assert near.constants["stiffness"][0] == pytest.approx(best.x, rel=1e-3)
    assert near.cost / weights[0] == pytest.approx(far.cost / weights[1], rel=1e-6)  # both are the worst
    check = co.verify(worst)  # of the sum with these weights
    assert max(check.kkt.stationarity, check.kkt.feasibility) < 1e-6
    assert f"weight {weights[1]:.4g}" in str(worst)


def test_shares_of_the_worst_case_lead_from_the_sum_to_the_largest_cost(cases, solution):
    half = solve(co.Cases(cases.phases, worst=0.5))
    weights = half.outcome.weights
    assert weights == pytest.approx((0.5, 1.0))  # far is the worst
    assert half.cost == pytest.approx(0.5 * (half["near"].cost / 0.5 + half["far"].cost) + 0.5 * half["far"].cost)
    assert half["far"].cost < solution["far"].cost
    alone = solve(co.Cases({"far": cases.phases["far"]}, worst=0.5))
    assert alone.outcome.weights == pytest.approx((1.0,))
    assert alone.cost == pytest.approx(solve(cases.phases["far"]).cost, rel=1e-8)


def test_the_worst_of_durations_and_prices_of_constants():
    """The cost of a duration, and a cost across the cases: the exact derivatives, and the longest duration."""
    limit = co.bounds(tau=(-10, 10))
    problems = {
        name: co.Problem(
            two_link(),
            co.Free(0.1, 2.0),
            co.duration(),
            [*ends(angle), limit],
            unknowns=[STIFFNESS],
            loads=[co.Load("elbow", moment=pull)],
        )
        for name, angle in (("near", 0.3), ("far", 1.0))
    }
    price = co.final_cost(lambda ends: 0.1 * (ends["near"].start.stiffness - 3.0) ** 2, name="price")
    cases = co.Cases(problems, minimize=price, worst=1.0)
    nlp = co.transcribe(cases, co.BSpline(6), compile=False)
    rng = np.random.default_rng(0)
    x, p = rng.uniform(0.5, 1.5, nlp.n_x), nlp.problem.parameter_values()
    program, y = WorstNLP.at(nlp, x, p, nlp.scale_g)
    assert costs_of_cases(nlp, x, p) == pytest.approx([nlp.phases[k].duration(x[nlp.parts[k]]) for k in problems])
    assert max(program.check_derivatives(y, p).values()) < 1e-6
    worst = solve(cases, co.BSpline(6))
    assert worst["near"].duration <= worst["far"].duration * (1 + 1e-8)
    price = 0.1 * (worst["near"].constants["stiffness"][0] - 3.0) ** 2
    assert worst.cost == pytest.approx(worst["far"].duration + price, rel=1e-6)
    assert worst.cost > solve(co.Cases(problems, worst=1.0), co.BSpline(6), guess=worst).cost


def test_the_weights_of_the_worst_case_are_kept(tmp_path, cases):
    shared = co.Parameter("load", 1.0)
    problems = {name: swing(angle, parameters=[shared]) for name, angle in (("near", 0.3), ("far", 1.0))}
    worst = co.Cases(problems, weights={"near": 10.0}, worst=1.0)
    answer = solve(worst)
    co.save(answer, tmp_path / "worst.npz")
    again = co.load(tmp_path / "worst.npz", worst)
    assert again.cost == answer.cost
    assert again.outcome.weights == answer.outcome.weights
    table = co.sweep(worst, {"load": [1.0, 2.0]}, CURVE, tol=1.0)
    assert table["cost"] == pytest.approx(answer.cost, rel=1e-2)
    assert table.solution(1).cost == pytest.approx(table["cost"][1], rel=1e-12)
    assert co.multistart(worst, CURVE, starts=2, tol=1.0, progress=False).best.cost == pytest.approx(
        answer.cost, rel=1e-2
    )
    finer = co.refine(answer, 1e-3, progress=False)
    assert finer.cost == pytest.approx(answer.cost, rel=1e-2)
    assert sum(finer.outcome.weights) == pytest.approx(1.0)
    assert solve(worst, guess=answer).cost == pytest.approx(answer.cost)


# -- other uses of a solution ------------------------------------------------------------------------------------------


def test_a_solution_has_no_common_time(solution):
    for call in (solution.at, solution.violations_at, lambda t: solution.evaluate(lambda now: now.q, t)):
        with pytest.raises(co.InputError, match=r"cases have no common time: take one, as in solution\['near'\]"):
            call(0.1)
    assert solution.t.tolist() == [*solution["near"].t, *solution["far"].t]
    assert "duration   1.1 s, the sum of all cases" in str(solution)
    assert "case       far: 0.6 s" in str(solution)
    with pytest.raises(co.InputError, match=r"no case named 'fra'.*near, far"):
        solution["fra"]


def test_files_name_the_cases(tmp_path, cases, solution):
    co.save(solution, tmp_path / "both.npz")
    again = co.load(tmp_path / "both.npz", cases)
    np.testing.assert_array_equal(again["far"].tau, solution["far"].tau)
    co.storage.to_csv(solution, tmp_path / "both.csv")
    lines = [line.split(",") for line in (tmp_path / "both.csv").read_text(encoding="utf-8").splitlines()]
    assert lines[0][:2] == ["case", "t [s]"]
    assert [(name, float(t)) for name, t, *_ in lines[1:]] == [
        (name, t) for name, case in solution.phases.items() for t in case.t.tolist()
    ]


def test_derivatives_are_those_of_solves_with_other_numbers(solution):
    """The derivative of the cost by the final posture of a case, against two solves."""
    found = co.optimality.sensitivity(solution, ["far: final q"])["far: final q[elbow]"]

    def cost(elbow: float) -> float:
        moved = swing(1.0, 0.6)
        final = co.final(q=(1.0, elbow), qd=0.0)
        moved = co.Problem(
            moved.model, 0.6, moved.minimize, [moved.subject_to[0], final], moved.unknowns, loads=moved.loads
        )
        return solve(co.Cases({"near": swing(0.3), "far": moved})).cost

    assert found.cost == pytest.approx((cost(1.001) - cost(0.999)) / 0.002, rel=1e-4)
    lines = str(co.optimality.explain(solution)).splitlines()
    (line,) = (line for line in lines if "far: final q[shoulder]" in line)
    assert line.endswith("0.6 s")


def test_solutions_of_cases_are_verified_refined_and_swept(cases, solution):
    assert co.verify(solution).forward_error < 1e-9
    finer = co.refine(solution, 1e-3, progress=False)
    assert len(finer.rounds) > 1
    assert finer.status is co.solver.Status.SOLVED
    assert finer.cost == pytest.approx(solution.cost, rel=1e-2)
    pulled = co.Parameter("weight", 1.0)
    problems = {name: swing(angle, parameters=[pulled]) for name, angle in (("near", 0.3), ("far", 1.0))}
    table = co.sweep(co.Cases(problems), {"weight": [1.0, 2.0]}, co.BSpline(6), tol=1.0)
    assert table["duration"].tolist() == [1.0, 1.0]
    assert len(co.multistart(cases, co.BSpline(6), starts=2, tol=1.0, progress=False).optima) == 1


@pytest.mark.parametrize("form", ["line", "function", "signals", "case", "solution", "one"])
def test_guesses_are_for_each_case_or_all(cases, solution, form):
    guess = {
        "line": co.line((0, 0), (1, 1)),
        "function": lambda t: (2 * t, 2 * t),
        "signals": {"stiffness": 5.0},
        "case": {"far": co.line((0, 0), (1, 1))},
        "solution": solution,
        "one": solution["near"],
    }[form]
    again = solve(cases, guess=guess)
    assert again.status is co.solver.Status.SOLVED
    assert again.cost == pytest.approx(solution.cost, rel=1e-8)


# -- figures -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", [co.plot.joints, co.plot.torques, co.plot.signals, co.plot.reactions])
def test_figures_over_time_draw_cases_on_top_of_each_other(solution, draw):
    figure = draw(solution)
    drawn = [line.get_xdata() for ax in figure.axes for line in ax.lines if len(line.get_xdata()) > 10]
    assert {round(float(x[-1]), 9) for x in drawn} == {0.5, 0.6}
    assert all(x[0] == 0.0 and (np.diff(x) >= 0).all() for x in drawn)
    texts = [text.get_text() for legend in [*figure.legends, *(ax.get_legend() for ax in figure.axes)] if legend
             for text in legend.get_texts()]  # fmt: skip
    assert {"near", "far"} <= set(texts)


def test_stick_figures_and_summaries_have_a_panel_for_each_case(cases, solution):
    for figure in (co.plot.motion(solution), co.plot.guess(cases)):
        assert [ax.get_title() for ax in figure.axes] == ["near", "far"]
    assert len(co.plot.error(solution).axes) == 2
    titles = [part.get_suptitle() for part in co.plot.summary(solution).subfigs]
    assert titles[:2] == ["near: 0.5 s", "far: 0.6 s"]
    with pytest.raises(co.InputError, match="no common time"):
        co.plot.animate(solution, "both.gif")


def test_the_viewer_plays_cases_together(cases, solution):
    for page, names in (
        (co.plot.view(solution).page, ["near", "far"]),
        (co.plot.view(solution, labels=["arm"]).page, ["arm: near", "arm: far"]),
        (co.plot.view(cases).page, ["guess of near", "guess of far"]),
    ):
        assert all(f'"name":{json.dumps(name)}' in page.replace('": "', '":"') for name in names)
    shown = co.plot.view(cases)
    shown.save("live.html")
    solve(cases, progress=shown)


# -- wrong calls -------------------------------------------------------------------------------------------------------


def test_what_would_tie_cases_in_time_is_refused():
    with pytest.raises(co.InputError, match=r"cases are independent in time, and 'near to far' joins them: use"):
        co.Cases({"near": swing(0.3), "far": swing(1.0)}, [co.connect("near", "far")])
    with pytest.raises(co.InputError, match=r"no case named 'fra'.*near, far"):
        co.Cases({"near": swing(0.3), "far": swing(1.0)}, weights={"fra": 2.0})
    with pytest.raises(co.InputError, match=r"cases must be a mapping of name to Problem"):
        co.Cases([swing(0.3)])  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match=r"worst must lie in \[0, 1\], got 2"):
        co.Cases({"near": swing(0.3)}, worst=2)
    with pytest.raises(co.InputError, match=r"worst needs one cost in every case, got Cost\(nothing\) in case 'b'"):
        co.Cases({"a": swing(0.3), "b": co.Problem(two_link(), 0.5)}, worst=1.0)
    other = co.Unknown("stiffness", constant=True)
    with pytest.raises(co.InputError, match=r"cases 'far' and 'near' have different constants named 'stiffness'"):
        co.Cases({"near": swing(0.3), "far": swing(1.0, unknowns=[other])})
    with pytest.raises(co.InputError, match=r"case 'far' has another parameter named 'k' than cases before it"):
        co.Cases({name: swing(0.3, parameters=[co.Parameter("k", 1.0)]) for name in ("near", "far")})
