"""Joints that a time optimum leaves free, settled by a second cost without a change of the time."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain
from tests.support.problems import effort, time_optimal

CURVES = [co.BSpline(12), co.BSpline(12, continuity=1), co.Radau(8), co.HermiteSimpson(12)]
TORQUES = np.array([20.0, 20.0, 20.0])
EFFORT = co.integral(effort)


def chain(minimize: co.problem.Cost | None = None, duration: co.Free | float | None = None) -> co.Problem:
    """Three links in a plane, of which the first is slow and decides the time."""
    ends = [co.initial(q=[-1.5, 0.0, 0.0], qd=0.0), co.final(q=[0.2, 0.1, 0.0], qd=0.0)]
    limits = co.bounds(tau=(-TORQUES, TORQUES), qd={"link1": (-4.0, 4.0)})
    free = co.Free(0.1, 5.0) if duration is None else duration
    return co.Problem(planar_chain(3), free, minimize or co.duration(), [*ends, limits])


def squares(solution: co.Solution) -> np.ndarray:
    """Mean squared torques of all joints."""
    return (solution.at(np.linspace(0, solution.duration, 1001)).tau ** 2).mean(axis=0)


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_time_stays_and_the_torques_fall(curve):
    fastest = co.solve(chain(), curve, plan=[co.refinement.Solve(tol=10.0)])
    calm = co.refinement.tie_break(fastest, EFFORT)
    assert calm.outcome.status is co.solver.Status.SOLVED
    assert calm.duration == fastest.duration
    assert squares(calm).sum() < 0.98 * squares(fastest).sum()
    assert squares(calm)[2] < 0.9 * squares(fastest)[2]
    assert calm.curve == fastest.curve
    assert np.abs(calm.nodes.tau / TORQUES).max() < 1 + 1e-6
    assert co.verify(calm).kkt.stationarity < 1e-5


def test_a_free_slide_beside_one_that_decides_moves_as_if_alone():
    """Two masses on slides of their own: the light one has time, and its least squared force, 12 m^2 d^2 / T^3."""
    heavy = co.Body("heavy", co.prismatic((1, 0, 0)), None, 4.0)
    light = co.Body("light", co.prismatic((0, 1, 0)), None, 1.0)
    model = co.Model([heavy, light], gravity=(0.0, 0.0, 0.0))
    problem = co.Problem(
        model,
        co.Free(0.1, 10.0, 1.5),
        co.duration(),
        [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0), co.bounds(tau=(-8.0, 8.0))],
    )
    curve = co.BSpline(10, degree=3, continuity=1)  # a breakpoint is where the heavy one's force switches
    fastest = co.solve(problem, curve)
    assert fastest.duration == pytest.approx(np.sqrt(2.0), rel=1e-6)
    calm = co.refinement.tie_break(fastest, co.integral(lambda now: now.tau[1] ** 2))
    T = fastest.duration
    assert calm.duration == T
    assert calm.cost == pytest.approx(12.0 / T**3, rel=1e-6)
    assert calm.q[:, 1] == pytest.approx(3 * (calm.t / T) ** 2 - 2 * (calm.t / T) ** 3, abs=1e-4)


def test_dynamics_nodes_and_parameters_are_kept():
    push = co.Parameter("push", 2.0)
    load = co.Load("link3", force=(push.symbol, 0, 0))
    stated = chain()
    problem = co.Problem(
        stated.model, stated.horizon, co.duration(), stated.subject_to, parameters=[push], loads=[load]
    )
    nlp = co.transcribe(problem, co.BSpline(12), co.dynamics.lie)
    fastest = co.solve(nlp, parameters={"push": 3.0}, plan=[co.refinement.Solve(tol=10.0)])
    calm = co.refinement.tie_break(fastest, EFFORT)
    assert calm.nlp.grid.torques.names == fastest.nlp.grid.torques.names
    assert calm.parameters == pytest.approx([3.0])
    if fastest.nlp.grid.extra is not None:
        assert calm.nlp.grid.extra is not None


def test_what_is_no_time_optimum_is_refused():
    mixed = co.solve(chain(0.9 * co.duration() + 0.1 * EFFORT), co.BSpline(6), plan=[co.refinement.Solve(tol=10.0)])
    with pytest.raises(co.InputError, match=r"free duration that alone has a cost, got costs duration, effort"):
        co.refinement.tie_break(mixed, EFFORT)
    with pytest.warns(co.refinement.SolutionWarning, match="the cost contains the duration, which is given"):
        given = co.solve(chain(co.duration(), 1.0), co.BSpline(6), plan=[co.refinement.Solve(tol=10.0)])
    with pytest.raises(co.InputError, match="free duration that alone has a cost"):
        co.refinement.tie_break(given, EFFORT)
    early = co.solve(time_optimal(), co.BSpline(6), solver=co.Ipopt(max_iter=3), raise_on_failure=False)
    with pytest.raises(co.InputError, match="must be an optimum, got one that ended iteration limit"):
        co.refinement.tie_break(early, EFFORT)
    with pytest.raises(co.InputError, match="cost must be a Cost"):
        co.refinement.tie_break(early, lambda now: ca.sumsqr(now.tau))  # pyright: ignore[reportArgumentType]
