"""The search for a feasible motion, and the proof that there is none."""

import re
import warnings

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.refinement.simulated_start import simulated_start
from colloc.solution.warm_start import start_from
from colloc.solver.least_violation import least_violation
from tests.campaigns import feasible, infeasible
from tests.support.problems import effort

Status, Solve, SeekFeasible = co.solver.Status, co.refinement.Solve, co.refinement.SeekFeasible
STRAIGHT = [Solve(between="nodes"), SeekFeasible()]


def disc(drop: float = 0.3, T: float = 1.3) -> co.Problem:
    """A disc that nothing drives falls on the ground, slides and rolls on to 1 m from where it was dropped."""
    radius = 0.2
    bodies = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("y", co.prismatic((0, 1, 0)), parent="x"),
        co.Body("turn", co.revolute((0, 0, 1)), parent="y", mass=1.0, inertia=(0.01, 0.01, 0.02)),
    ]
    ground = co.problem.GroundContact([co.problem.ContactSphere("turn", (0, 0, 0), radius, stiffness=1e5)])
    return co.Problem(
        co.Model(bodies, gravity=(0, -9.81, 0)),
        T,
        co.integral(lambda now: ca.sumsqr(now.qd)),
        [
            co.initial(q=(0.0, radius + drop, 0.0), qd={"y": 0.0}),
            co.final(q={"x": 1.0}, qd={"y": 0.0}),
            co.bounds(tau=(0.0, 0.0)),
        ],
        parts=[ground],
    )


def slide(*more, distance: float = 3.0) -> co.Problem:
    """A mass moved in a second."""
    model = co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=2.0)], gravity=(0, 0, 0))
    return co.Problem(model, 1.0, co.integral(effort), [co.initial(q=0, qd=0), co.final(q=distance, qd=0), *more])


def test_a_simulated_start_falls_where_the_straight_line_stays_in_the_air():
    problem = disc()
    nlp = co.transcribe(problem, co.Radau(40))
    line = start_from(nlp, None, np.zeros(0)).x
    x = simulated_start(nlp, line, np.zeros(0))
    assert x is not None
    heights = [part[nlp.grid.layout["q"]][:, 1] for part in (line, x)]
    assert heights[0].min() > 0.4
    assert heights[1].min() < 0.2
    t = np.linspace(0, 0.2, 5)  # in the air, but for the bend to the end's height
    fallen = np.interp(t / 1.3, nlp.grid.basis.greville(), heights[1])
    np.testing.assert_allclose(fallen, 0.5 - 9.81 * t**2 / 2, atol=0.03)


def test_a_disc_that_must_touch_the_ground_is_seen_to():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of a grid that is not refined
        found = co.solve(disc(), plan=STRAIGHT)
    assert found.outcome.status is Status.SOLVED
    assert found.plan[-1] == "SeekFeasible()"
    assert found.outcome.strategy.endswith("from a simulated motion on 40 intervals")
    assert found.q[:, 1].min() < 0.2


@pytest.mark.parametrize("speed", [2.9, 3.1])
def test_the_least_violation_is_zero_just_where_a_motion_exists(speed):
    """A mass that keeps its speed at both ends needs the mean speed."""
    problem = slide(co.bounds(qd=(-speed, speed)))
    free = co.Problem(problem.model, 1.0, problem.minimize, [co.initial(q=0), co.final(q=3), problem.subject_to[2]])
    nlp = co.transcribe(free, co.BSpline(10))
    end = least_violation(nlp, start_from(nlp, None, np.zeros(0)).x, np.zeros(0))
    assert end.status is Status.SOLVED
    assert (end.left < 1e-4) == (speed > 3)
    if speed < 3:
        assert end.row.startswith("qd[mass]")
        # The mean of the violation is 0.1 m/s, and constant, in sizes of the bound.
        np.testing.assert_allclose(end.left, 0.1 / 2.9, rtol=0.05)


def test_linear_rows_that_contradict_each_other_are_a_proof():
    with pytest.raises(co.SolveError, match=r"(?s)infeasible.*linear.*contradict.*qd\[mass\].*explain") as raised:
        co.solve(slide(co.bounds(qd=(-2, 2))), co.BSpline(10))
    assert raised.value.solution.status is Status.INFEASIBLE
    assert co.solve(slide(co.bounds(qd=(-5, 5))), co.BSpline(10)).success


def test_without_a_proof_it_is_said_what_was_tried():
    """The straight way up and the long way round violate the torque's bounds by different amounts."""
    ends = [co.initial(q=(0, 0), qd=0), co.final(q=(3, 0), qd=0), co.bounds(tau=(-1, 1))]
    problem = co.Problem(two_link(9.81), 0.3, co.integral(effort), ends)
    with pytest.raises(co.SolveError) as raised:
        co.solve(problem, co.BSpline(10))
    said, last = str(raised.value), raised.value.solution
    if last.status is Status.NOT_FOUND:
        assert re.search(
            r"from the straight line, .*a random motion on 10, 20, 40 intervals: .* left, most at tau", said
        )
        assert "a motion may exist" in said
    else:
        assert last.status is Status.INFEASIBLE


def test_a_limit_of_iterations_or_a_motion_that_exists_ends_the_search_at_once():
    few = co.solve(disc(), co.Radau(10), solver=co.Ipopt(max_iter=3), raise_on_failure=False)
    assert few.status is Status.ITERATION_LIMIT
    assert few.message == "Maximum_Iterations_Exceeded"
    assert co.solve(slide(), co.BSpline(10)).plan == ("Solve()",)


@pytest.mark.parametrize("seed", range(5))
def test_what_a_simulated_motion_solves_is_never_called_infeasible(seed):
    assert feasible.check(seed) is Status.SOLVED


@pytest.mark.parametrize("seed", [0, 2, 3, 5, 7, 8])
def test_what_no_motion_solves_is_named_and_relaxed(seed):
    assert infeasible.check(seed) in (Status.INFEASIBLE, Status.NOT_FOUND)
