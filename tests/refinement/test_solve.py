"""Solving: statuses, guesses, options, interruption, warm starts."""

import re
import signal
import warnings
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solution.as_guess import trajectory_of
from colloc.solver.monitor import Monitor
from colloc.studies.classics.points import particle
from tests.support.problems import effort, everything, time_optimal

CURVES = [co.BSpline(20), co.HermiteSimpson(20), co.Radau(20)]


def quiet(problem: co.Problem, curve, **options) -> co.Solution:
    """Solve without the warning about overshoot between nodes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(problem, curve, **options)


def smooth(parameters: list[co.Parameter] | None = None, loads: list[co.Load] | None = None) -> co.Problem:
    """Least effort in one second: no active bounds, the same answer on every transcription."""
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    return co.Problem(two_link(9.81), 1.0, co.integral(effort), ends, parameters=parameters or [], loads=loads or [])


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_torque_limits_below_gravity_end_in_an_error_that_names_them(curve):
    problem = co.Problem(
        two_link(9.81),
        co.Free(0.1, 0.3, 0.2),
        co.duration(),
        [co.initial(q=(0, 0), qd=0), co.final(q=(1, 0), qd=0), co.bounds(tau=(-1, 1))],
    )
    with pytest.raises(co.SolveError, match=r"(?s)infeasible after \d+ iterations.*tau\[shoulder\] at t = ") as caught:
        co.solve(problem, curve)
    last = caught.value.solution
    assert last.status is co.solver.Status.INFEASIBLE
    assert not last.success
    assert last.q.shape[1] == 2
    assert last.violation > 0.05
    assert co.solve(problem, curve, raise_on_failure=False).status is co.solver.Status.INFEASIBLE


@pytest.mark.parametrize("curve", [*CURVES, None], ids=str)
def test_an_arm_too_weak_to_be_lifted_straight_is_swung_up(curve):
    """Where IPOPT from the straight line ends in a local infeasibility."""
    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(1, 0), qd=0), co.bounds(tau=(-1, 1))]
    problem = co.Problem(two_link(9.81), co.Free(0.1, 5.0, 1.0), co.duration(), ends)
    last = co.solve(problem, curve, plan=[co.refinement.Solve()], raise_on_failure=False)
    assert last.status is co.solver.Status.NOT_FOUND
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of twenty splines
        swung = co.solve(problem, curve)
    assert swung.plan[1].startswith("SeekFeasible(")
    assert swung.duration < 2.3
    if curve != co.BSpline(20):
        assert swung.success
        assert co.verify(swung).forward_error < 1e-6


def test_a_fact_stated_twice_is_named_when_the_solve_fails():
    problem = co.Problem(
        two_link(), 1.0, co.integral(effort),
        [
            co.initial(q=(0, 0), qd=0),
            co.at(0, lambda now: now.q[0], equals=0.5, name="again"),
            co.final(q=(1, 0), qd=0),
        ],
    )  # fmt: skip
    with pytest.raises(co.SolveError, match="linearly dependent") as caught:
        co.solve(problem, co.HermiteSimpson(10))
    assert "again at t = 0 s, whose variables are fixed by end conditions" in str(caught.value)


def test_sparse_nodes_are_not_called_solved():
    """A quintic with as many torque nodes as control points oscillates in between, whatever IPOPT reports."""
    with pytest.warns(co.refinement.SolutionWarning) as said:
        solution = co.solve(
            time_optimal(), co.BSpline(19, degree=5, nodes=21), plan=[co.refinement.Solve(between="nodes")]
        )
    # This much more than a bound is no switch.
    assert any(re.search(r"tau\[.*\] is violated .*, \d+ times its natural size", str(one.message)) for one in said)
    assert any("the duration ended at its lower bound, 0.1 s" in str(one.message) for one in said)
    assert solution.message == "Solve_Succeeded"
    assert solution.status is co.solver.Status.VIOLATED
    assert solution.violations[0].amount > 10


def test_nodes_are_added_to_sparse_ones():
    """The same spline where limits hold at all times."""
    solution = co.solve(time_optimal(), co.BSpline(19, degree=5, nodes=21))
    assert solution.success
    assert solution.violation < 1e-2
    assert solution.duration > 0.391854539516
    assert solution.duration == pytest.approx(co.solve(time_optimal(), co.BSpline(19, degree=5)).duration, abs=5e-4)


@pytest.mark.parametrize("degree", [3, 4, 5, 7])
def test_default_nodes_keep_the_overshoot_small(degree):
    solution = co.solve(time_optimal(), co.BSpline(20, degree=degree))
    assert solution.success
    assert solution.violation < 1e-2
    assert solution.duration > 0.391854539516  # no answer may beat the exact optimum and respect the bounds


def test_positions_stay_within_bounds_between_nodes():
    """Convex hull: a spline whose control points are bounded cannot leave the bounds anywhere."""
    problem = time_optimal()
    limit = 0.95 * co.solve(problem, co.BSpline(20)).at(np.linspace(0, 0.39, 500)).q[:, 1].min()
    tight = co.Problem(problem.model, problem.duration, problem.minimize, [*problem.subject_to, co.bounds(q=(-2, 9))])
    solution = co.solve(tight, co.BSpline(20))
    assert limit > -3
    assert solution.at(np.linspace(0, solution.duration, 5001)).q.min() >= -2 - 1e-7


def test_acceptable_is_not_success():
    options = {"tol": 1e-30, "acceptable_tol": 1e-6, "acceptable_iter": 1, "max_iter": 200}
    solution = co.solve(smooth(), co.BSpline(8), solver=co.Ipopt(**options), raise_on_failure=False)
    assert solution.message == "Solved_To_Acceptable_Level"
    assert solution.status is co.solver.Status.ACCEPTABLE
    assert not solution.success
    with pytest.raises(co.SolveError, match=r"Level\)\nerror.solution is this motion, nearly an optimum") as caught:
        co.solve(smooth(), co.BSpline(8), solver=co.Ipopt(**options))
    np.testing.assert_array_equal(caught.value.solution.x, solution.x)


def test_a_search_at_the_iteration_limit_returns_its_best_motion():
    """The third iterate exceeds the torques by 60 %, while the second one meets all constraints."""
    seen: list[co.refinement.Iteration] = []
    with pytest.raises(co.SolveError, match="go on from the best iterate, which meets all constraints") as caught:
        co.solve(time_optimal(), co.BSpline(10), solver=co.Ipopt(max_iter=3), progress=seen.append)
    assert seen[-1].infeasibility > 0.5
    cheapest = min((iterate for iterate in seen if iterate.infeasibility < 1e-6), key=lambda iterate: iterate.cost)
    best = caught.value.solution
    np.testing.assert_array_equal(best.x, cheapest.x)
    assert np.abs(best.tau).max() <= 10.0 + 1e-5


def test_the_iteration_limit_is_a_status_with_the_best_iterate():
    with pytest.raises(co.SolveError, match="iteration limit after 3 iterations") as caught:
        co.solve(time_optimal(), co.BSpline(10), solver=co.Ipopt(max_iter=3))
    assert caught.value.solution.status is co.solver.Status.ITERATION_LIMIT
    assert len(caught.value.solution.history["infeasibility"]) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_itr": 10}, "no IPOPT option named 'max_itr'; did you mean 'max_iter'"),
        ({"max_iter": "many"}, "IPOPT rejects these options"),
        (
            {"mehrotra_algorithm": "yes", "corrector_type": "affine", "linear_solver": "multifrontal"},
            r"IPOPT rejects these options together: \{'mehrotra_algorithm': 'yes', 'corr",
        ),
        ({"linear_solver": "magic"}, r"must be one that this IPOPT can load \(mumps.*got 'magic'"),
    ],
)
def test_bad_ipopt_options_are_refused(options, message, capfd):
    with pytest.raises(co.InputError, match=message):
        co.solve(time_optimal(), co.BSpline(5), solver=co.Ipopt(**options))


def test_ipopt_options_reach_ipopt():
    limited = co.solve(smooth(), co.BSpline(8), solver=co.Ipopt(hessian=co.solver.Hessian.LIMITED_MEMORY))
    exact = co.solve(smooth(), co.BSpline(8))
    assert limited.iterations > exact.iterations
    assert limited.cost == pytest.approx(exact.cost, rel=1e-6)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_every_kind_of_guess_leads_to_the_same_optimum(curve):
    problem = smooth()
    reference = co.solve(problem, co.Radau(40, 4)).cost
    on_another_curve = co.solve(problem, co.HermiteSimpson(7))
    guesses = [
        None,
        co.line((0, -1), (1, 0.5)),
        co.keyframes({0: (0, -1), 0.4: (1, 1), 1: (1, 0.5)}),
        lambda t: (t**2, np.sin(t) - 1),
        on_another_curve,
    ]
    for guess in guesses:
        assert co.solve(problem, curve, guess=guess).cost == pytest.approx(reference, rel=2e-5)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_solution_packed_on_its_own_grid_is_itself(curve):
    solution = co.solve(everything(), curve)
    np.testing.assert_allclose(
        solution.nlp.grid.interpolate(trajectory_of(solution, solution.problem)), solution.x, atol=1e-7
    )


@pytest.mark.parametrize(
    ("guess", "message"),
    [
        (co.line((0, 1, 2), (1, 2, 3)), r"guess postures must have shape \(2,\), got shape \(3,\)"),
        (lambda t: (t, t, t), r"guess at t = 0 s must have shape \(2,\)"),
        (lambda t: (t, np.nan), "must be finite"),
        ("straight", "guess must be co.line"),
    ],
)
def test_bad_guesses_are_refused(guess, message):
    with pytest.raises(co.InputError, match=message):
        co.solve(smooth(), co.BSpline(5), guess=guess)


def test_formulations_are_functions():
    wrongs: list[dict[str, Any]] = [
        {"dynamics": "lagrange"}, {"sensitivities": "composite"}, {"sensitivities": co.dynamics.newton_euler},
    ]  # fmt: skip
    for wrong in wrongs:
        with pytest.raises(co.InputError, match=next(iter(wrong))):
            co.solve(co.transcribe(smooth(), co.BSpline(5), **wrong))


def test_bad_keyframes_are_refused():
    with pytest.raises(co.InputError, match="keyframes must run from 0 to 1"):
        co.keyframes({0: (0, 0), 0.5: (1, 1)})
    with pytest.raises(co.InputError, match="guess postures must all have shape"):
        co.keyframes({0: (0, 0), 1: (1, 1, 1)})


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_warm_start_is_a_matter_of_an_iteration_or_two(curve):
    cold, exact = (quiet(time_optimal(), curve, solver=co.Ipopt(tol=tol)) for tol in (1e-8, 1e-11))
    warm = quiet(cold.problem, curve, guess=cold)
    assert cold.iterations > 8
    assert warm.iterations <= 2
    # The barrier keeps the cold one as far from the optimum as its tolerance lets it; the warm one may come closer.
    assert cold.cost == pytest.approx(exact.cost, rel=5e-7)
    assert abs(warm.cost - exact.cost) <= abs(cold.cost - exact.cost) + 1e-7 * exact.cost


def test_a_failed_solve_can_be_continued_from_its_last_iterate():
    problem = time_optimal()
    stopped = co.solve(problem, co.BSpline(20), solver=co.Ipopt(max_iter=5), raise_on_failure=False)
    continued = co.solve(problem, co.BSpline(20), guess=stopped)
    assert continued.duration == pytest.approx(co.solve(problem, co.BSpline(20)).duration, rel=1e-6)


def test_parameters_change_without_transcribing_again():
    load = co.Parameter("load", 0.0)
    problem = smooth([load], [co.Load("elbow", force=ca.vertcat(0, -load.symbol, 0))])
    nlp = co.transcribe(problem, co.BSpline(24))
    first = co.solve(nlp)
    heavy = co.solve(nlp, parameters={"load": 20.0})
    assert heavy.nlp is first.nlp is nlp
    fixed = smooth(loads=[co.Load("elbow", force=(0, -20, 0))])
    assert heavy.cost == pytest.approx(co.solve(fixed, co.BSpline(24)).cost, rel=1e-9)
    assert heavy.cost > first.cost


@pytest.mark.parametrize("choice", [False, True])
def test_a_sweep_pays_the_build_once_and_starts_warm(choice: bool):
    """Ten payloads on one NLP; each start is the optimum before, multipliers included."""
    load = co.Parameter("load", 0.0)
    problem = smooth([load], [co.Load("elbow", force=ca.vertcat(0, -load.symbol, 0))])
    nlp = co.transcribe(problem, co.BSpline(24), compile=choice)
    last, loads, warm = co.solve(nlp), np.linspace(2.0, 20.0, 10), []
    cold = [co.solve(nlp, parameters={"load": value}) for value in loads]
    for value in loads:
        last = co.solve(nlp, parameters={"load": value}, guess=last)
        warm.append(last)
    for a, b in zip(warm, cold, strict=True):
        assert a.cost == pytest.approx(b.cost, rel=1e-7)
    assert 2 * sum(a.iterations for a in warm) < sum(b.iterations for b in cold)


@pytest.mark.parametrize(
    "given",
    [{"curve": co.BSpline(3)}, {"compile": True}],
    ids=lambda given: next(iter(given)),
)
def test_an_nlp_brings_what_it_was_made_with(given: dict):
    (name,) = given
    with pytest.raises(co.InputError, match=f"{name} must be left out for an NLP: pass it to co.transcribe"):
        co.solve(co.transcribe(smooth(), co.BSpline(5)), **given)


def test_an_unknown_signal_and_an_unknown_constant():
    """An assisting force with a price, and a payload to be chosen as small as allowed."""
    push = co.Unknown("push", lower=-50, upper=50)
    payload = co.Unknown("payload", lower=0.5, upper=2.0, guess=1.0, constant=True)
    inertia = (0, 0.1, 0.1)
    model = co.Model([co.Body("arm", co.revolute(), mass=payload.symbol, com=(0.4, 0, 0), inertia=inertia)])
    problem = co.Problem(
        model,
        1.0,
        co.integral(lambda now: now.tau[0] ** 2 + now.push**2),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)],
        unknowns=[push, payload],
        loads=[co.Load("arm", force=ca.vertcat(0, push.symbol, 0), point=(0.8, 0, 0))],
    )
    answers = [co.solve(problem, curve) for curve in (co.BSpline(20), co.HermiteSimpson(30), co.Radau(20))]
    for answer in answers:
        assert answer.constants["payload"][0] == pytest.approx(0.5, abs=1e-6)
        assert answer.cost == pytest.approx(answers[-1].cost, rel=1e-4)
        # Optimal sharing: d/d(push) of tau^2 + push^2 with tau = ... - 0.8 cos(q) push.
        sample = answer.at(np.linspace(0.05, 0.95, 10))
        np.testing.assert_allclose(sample.push[:, 0], 0.8 * np.cos(sample.q[:, 0]) * sample.tau[:, 0], atol=0.05)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_formulations_give_the_same_optimum(curve):
    a, b = co.solve(smooth(), curve), co.solve(co.transcribe(smooth(), curve, co.dynamics.lagrange))
    assert a.cost == pytest.approx(b.cost, rel=1e-10)
    np.testing.assert_allclose(a.q, b.q, atol=1e-7)


def test_ctrl_c_returns_the_best_iterate(monkeypatch: pytest.MonkeyPatch):
    """The signal arrives during the fourth iteration, as from a keyboard."""
    watch, seen = Monitor.eval_buffer, []

    def interrupted(self: Monitor, arg: Any, res: Any) -> int:
        seen.append(np.frombuffer(arg[0]).copy())
        if len(seen) == 4:
            signal.raise_signal(signal.SIGINT)
        return watch(self, arg, res)

    monkeypatch.setattr(Monitor, "eval_buffer", interrupted)
    before = signal.getsignal(signal.SIGINT)
    solution = co.solve(time_optimal(), co.BSpline(20))
    assert solution.status is co.solver.Status.INTERRUPTED
    assert solution.iterations < 10
    scaled = solution.x / solution.nlp.scale_x
    assert any(np.allclose(scaled, iterate, atol=1e-12) for iterate in seen)
    assert signal.getsignal(signal.SIGINT) is before


def test_progress_is_one_updating_line(capfd):
    co.solve(time_optimal(), co.BSpline(320), progress=True)
    shown = capfd.readouterr().err
    assert shown.count("\n") == 1
    assert "\riteration" in shown
    assert "infeasibility" in shown
    co.solve(time_optimal(), co.BSpline(10))
    captured = capfd.readouterr()
    assert captured.err == ""
    assert captured.out == ""


def test_a_motion_through_a_thin_wall_needs_a_guess_around_it():
    """Between two nodes it is beyond the wall; a guess around it, as the warning asks for, is solved."""
    disc, wall = co.Capsule("y", (0, 0, 0), (0, 0, 0), 0.05), co.Capsule(None, (0, -1, 0), (0, 0.5, 0), 0.05)
    ends = [co.initial(q=(-1, 0), qd=0), co.final(q=(1, 0), qd=0), co.clearance(disc, wall)]
    problem = co.Problem(particle("xy"), 2.0, co.integral(effort), ends)
    with pytest.warns(co.refinement.SolutionWarning, match="passes through between two nodes, .* guess=co.keyframes"):
        through = co.solve(problem, co.BSpline(12))
    assert through.status is co.solver.Status.VIOLATED
    around = co.solve(problem, co.BSpline(12), tol=1e-2, guess=co.keyframes({0: (-1, 0), 0.5: (0, 0.8), 1: (1, 0)}))
    assert around.status is co.solver.Status.SOLVED
    t = np.linspace(0, 2, 2001)
    assert around.evaluate(lambda now: now.distance(disc, wall), t).min() > -1e-3
