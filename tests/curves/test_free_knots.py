"""Knots as unknowns: derivatives by knots, the program in which they are free, and what they find."""

import warnings

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.curves.spline_basis import SplineBasis
from colloc.models.two_link import two_link
from colloc.transcription import FreeKnotsGrid
from colloc.transcription.differences import central_difference
from tests.support.random_trees import random_tree

ENDS = np.array([0.0, 0.15, 0.35, 0.6, 0.8, 1.0])


def swing(*more, duration=None) -> co.Problem:
    """The time-optimal swing of Xiang, Arora and Abdel-Malek (2009, equation 66)."""
    return co.Problem(
        model=two_link(),
        duration=co.Free(lower=0.1, upper=5.0, guess=1.0) if duration is None else duration,
        minimize=co.duration() if duration is None else co.integral(lambda now: ca.sumsqr(now.tau), name="effort"),
        subject_to=[
            co.initial(q=(0.0, -2.0), qd=0.0),
            co.final(q=(1.0, -1.0), qd=0.0),
            co.bounds(tau=(-10.0, 10.0)),
            *more,
        ],
    )


def spline(basis: SplineBasis, points: np.ndarray, s: np.ndarray, order: int) -> np.ndarray:
    interval = basis.interval(s)
    index = np.minimum(basis.first[interval][:, None] + np.arange(basis.degree + 1), basis.size - 1)
    return np.einsum("nk,nkc->nc", basis.values(s, order), points[index])


@pytest.mark.parametrize(("degree", "continuity"), [(3, 2), (3, 1), (5, 1), (4, (1, 2, 3, 0)), (2, 0)])
def test_the_derivative_of_a_spline_by_a_breakpoint_is_a_spline(degree, continuity):
    rng = np.random.default_rng(degree)
    basis = SplineBasis.of(ENDS, degree, np.array(continuity))
    points, s = rng.standard_normal((basis.size, 2)), rng.uniform(0, 1, 50)
    for k in range(1, ENDS.size - 1):
        by_knot, own = basis.by_breakpoint(points, k)
        for order in range(3):

            def moved(tenths: np.ndarray, order: int = order) -> np.ndarray:
                return spline(SplineBasis(tenths / 10, basis.degrees, basis.continuity), points, s, order).ravel()

            expected = 10 * central_difference(moved, 10 * ENDS, np.eye(ENDS.size)[k])
            np.testing.assert_allclose(spline(by_knot, own, s, order).ravel(), expected, atol=1e-7, rtol=1e-7)


@pytest.mark.parametrize("floats", [False, True])
def test_torques_have_derivatives_by_all_that_makes_a_spline(floats):
    """Of hinges and slides, and of a body that floats on a quaternion with an arm on it."""
    model, rng = random_tree(np.random.default_rng(3)), np.random.default_rng(3)
    if floats:
        base = co.floating("base", sequence="quaternion", mass=2.0, com=(0.1, 0, 0.2), inertia=(0.3, 0.2, 0.4))
        model = co.Model([*base, co.Body("arm", co.revolute((0.6, 0, 0.8)), "base", mass=1.0, com=(0.3, 0.1, 0))])
    evaluator, s, T = co.Evaluator(model), np.linspace(0, 1, 9), 0.7
    basis = SplineBasis.of(ENDS, 4, 2)
    points = rng.standard_normal((basis.size, model.n_q))
    if floats:
        points[:, 3:7] = np.array([1.0, 0.5, -0.5, 0.2]) + 0.3 * points[:, 3:7]
    found = evaluator.spline_sensitivities(basis, points, T, s)
    symbols = [ca.SX.sym(name, model.n_q) for name in ("q", "q1", "q2")]
    velocities = ca.Function("velocities", symbols, [symbols[0], *model.velocities(*symbols)])

    def torque(given: np.ndarray) -> np.ndarray:
        own = SplineBasis(np.concatenate([[0.0], given[1:5], [1.0]]), basis.degrees, basis.continuity)
        state = [spline(own, given[5:].reshape(points.shape), s, order) / given[0] ** order for order in range(3)]
        return evaluator.torque(*(np.array(part).T for part in velocities(*(part.T for part in state)))).ravel()

    given = np.concatenate([[T], ENDS[1:-1], points.ravel()])
    by_points = found.points.reshape(*found.tau.shape, -1)
    together = np.concatenate([found.duration[..., None], found.breakpoints, by_points], axis=2)
    for _ in range(5):
        v = rng.standard_normal(given.size)
        expected = central_difference(torque, given, v).reshape(found.tau.shape)
        np.testing.assert_allclose(together @ v, expected, rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize(
    "curve",
    [
        co.BSpline(6, knots="free"),
        co.BSpline(breakpoints=(0, 0.1, 0.3, 0.5, 1), degree=5, continuity=1, knots="free"),
        co.BSpline(5, degree=4, continuity=(1, 2, 3, 1), knots="free"),
    ],
    ids=repr,
)
def test_the_program_with_free_knots_is_the_one_on_its_breakpoints(curve):
    """Values as without the knots; first and second derivatives by differences."""
    limits, wide = co.bounds(qd=(-20.0, 20.0), qdd=(-900.0, 900.0)), co.boundary(lambda a, b: b.q[0] - a.q[0], upper=9)
    limited, effort = swing(limits, wide), co.integral(lambda now: ca.sumsqr(now.tau), name="effort")
    problem = co.Problem(
        limited.model,
        limited.duration,
        co.duration() + 1e-3 * effort + co.final_cost(lambda now: now.q[0]),
        limited.subject_to,
        unknowns=[co.Unknown("push", 1, lower=-1.0, upper=1.0)],
        loads=[co.Load("elbow", force=lambda now: ca.vertcat(now.push, 0, 0))],
    )
    free = co.transcribe(problem, curve, compile=False)
    assert isinstance(free.grid, FreeKnotsGrid)
    rng, p = np.random.default_rng(0), problem.parameter_values()
    x = free.grid.interpolate(co.transcription.trajectory_from(problem, None))
    x += 0.1 * rng.standard_normal(x.size) * free.free * free.scale_x
    x[free.grid.layout["knots"][1:-1, 0]] += 0.02 * rng.standard_normal(curve.intervals - 1)
    held = co.transcribe(problem, free.grid.curve_at(x), compile=False)
    y = free.grid.without_knots(x)
    assert float(free.f(x, p)) == pytest.approx(float(held.f(y, p)), rel=1e-13)
    rows, expected = (np.array(nlp.g(z, p)).ravel() for nlp, z in ((free, x), (held, y)))
    np.testing.assert_allclose(rows[: expected.size], expected, rtol=1e-12, atol=1e-9)
    assert free.n_g == held.n_g + curve.intervals
    assert max(free.check_derivatives(x, p).values()) < 1e-8


def test_free_knots_find_the_switches():
    """Eight intervals do what hundreds of equal ones do: the exact optimum switches three times."""
    exact, switches = 0.391854539516, np.array([0.045709321233, 0.195927269758, 0.235300431370])
    curve = co.BSpline(8, degree=7, continuity=1)
    given = co.solve(swing(), curve, compile=False)
    found = co.solve(swing(), co.BSpline(8, degree=7, continuity=1, knots="free"), compile=False)
    assert found.status is co.solver.Status.SOLVED
    assert 0 < found.duration - exact < 1e-6 < 1e-5 < given.duration - exact
    times = found.nlp.grid.breakpoints * found.duration
    assert np.abs(times[:, None] - switches).min(axis=0).max() < 1e-5
    ends = tuple(found.nlp.grid.breakpoints.tolist())
    assert found.curve == co.BSpline(breakpoints=ends, degree=7, continuity=1)


def test_free_knots_never_cost_more_than_given_ones():
    for curve in (co.BSpline(8), co.BSpline(6, degree=5, continuity=1)):
        for problem in (swing(), swing(duration=1.0)):
            given = co.solve(problem, curve, compile=False)
            with warnings.catch_warnings():
                warnings.simplefilter(
                    "ignore", co.refinement.SolutionWarning
                )  # a search of few rounds may not have settled
                found = co.solve(problem, co.BSpline(**_own(curve), knots="free"), compile=False)
            assert found.outcome.status is co.solver.Status.SOLVED  # however coarse the grid
            assert found.cost <= given.cost * (1 + 1e-7)
            assert np.diff(found.nlp.grid.breakpoints).min() >= 1e-3 * (1 - 1e-6)


def _own(curve: co.BSpline) -> dict:
    return {"intervals": curve.intervals, "degree": curve.degree, "continuity": curve.continuity}


def test_breakpoints_where_constraints_change_stay():
    window = co.bounds(tau=(-5.0, 5.0), during=(0.25, 0.5))
    found = co.solve(swing(window), co.BSpline(8, degree=5, continuity=1, knots="free"), compile=False)
    ends = found.nlp.grid.breakpoints
    assert found.status is co.solver.Status.SOLVED
    assert {0.25, 0.5} <= set(ends.tolist())
    assert not np.allclose(ends, np.linspace(0, 1, 9))
    with pytest.raises(co.InputError, match=r"free knots need a breakpoint at s = 0\.3, where constraint"):
        co.transcribe(swing(co.at(0.3, lambda now: now.q[0], lower=-9.0)), co.BSpline(8, knots="free"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"knots": "moving"}, 'knots must be "fixed" or "free", got \'moving\''),
        ({"knots": "free", "nodes": 20}, "nodes of free knots move with them"),
        ({"knots": "free", "spacing": (0.3, 1.0)}, "must hold on the intervals given, 0.25 to 0.25 wide"),
        ({"knots": "free", "spacing": 0.1}, r"spacing must be \(lower, upper\), got 0.1"),
        ({"knots": "free", "spacing": (0.0, 1.0)}, "positive"),
    ],
)
def test_options_that_make_no_sense(arguments, message):
    with pytest.raises(co.InputError, match=message):
        co.BSpline(4, **arguments)
