"""User-defined meshes: breakpoints, continuity, degrees, and bounds that hold at all times."""

# Wrong types are refused.
# pyright: reportArgumentType=false

import warnings

import casadi as ca
import numpy as np
import pytest
from scipy.interpolate import BSpline

import colloc as co
from colloc.curves.curve import collocates_inequalities
from colloc.models.two_link import two_link
from tests.support.problems import effort, everything, time_optimal

ENDS = (0.0, 0.02, 0.1, 0.35, 0.36, 0.8, 1.0)
CURVES = [
    co.BSpline(breakpoints=ENDS),
    co.BSpline(4, continuity=1),
    co.BSpline(breakpoints=ENDS, degree=5, continuity=(1, 4, 2, 3, 1)),
    co.HermiteSimpson(breakpoints=ENDS),
    co.Radau(breakpoints=ENDS, degree=2),
    co.Radau(breakpoints=ENDS, degree=(1, 4, 3, 3, 2, 5)),
    co.Radau(5, degree=(3, 3, 2, 3, 4)),
]


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_derivatives_equal_central_differences(curve):
    nlp = co.transcribe(everything(), curve)
    rng = np.random.default_rng(0)
    x = np.clip(0.5 + 0.3 * rng.standard_normal(nlp.n_x), np.maximum(nlp.lower, -10), np.minimum(nlp.upper, 10))
    assert max(nlp.check_derivatives(x, [1.5]).values()) < 1e-8


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_the_motion_follows_from_its_torques(curve):
    """Smooth effort on each mesh: cost near the converged one, forward simulation where the method is exact."""
    ends = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    problem = co.Problem(two_link(), 1.0, co.integral(effort), ends)
    solution = co.solve(problem, curve, compile=False, plan=[co.refinement.Solve(tol=0.03)])  # 0.01 each of two sources
    best = co.solve(problem, co.Radau(20, 5), compile=False)
    excess = solution.cost / best.cost - 1
    assert -1e-4 < excess < 0.02
    assert excess / 2 < solution.error.cost.sum() < max(10 * excess, 1e-5)
    if isinstance(curve, co.BSpline):
        assert solution.cost > best.cost * (1 - 1e-9)
        assert co.verify(solution).forward_error < 1e-6


@pytest.mark.parametrize("make", [co.BSpline, co.HermiteSimpson, co.Radau])
def test_equal_intervals_written_out_change_nothing(make):
    written = make(breakpoints=np.linspace(0, 1, 9))
    assert written.intervals == 8
    a, b = (co.transcribe(everything(), curve) for curve in (make(8), written))
    x = np.random.default_rng(0).standard_normal(a.n_x)
    for name in ("f", "g"):
        ours, theirs = (np.array(getattr(nlp, name)(x, [1.5])) for nlp in (a, b))
        np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.abs(ours).max())


def test_equal_degrees_written_out_change_nothing():
    a, b = (co.transcribe(everything(), co.Radau(4, degree)) for degree in (3, (3, 3, 3, 3)))
    x = np.random.default_rng(0).standard_normal(a.n_x)
    np.testing.assert_allclose(np.array(a.g(x, [1.5])), np.array(b.g(x, [1.5])), rtol=1e-13)


@pytest.mark.parametrize("continuity", [1, 2])
def test_knots_are_repeated_as_often_as_continuity_wants(continuity: int):
    curve = co.BSpline(breakpoints=(0, 0.3, 0.7, 1), continuity=continuity)
    solution = co.solve(time_optimal(), curve, raise_on_failure=False)
    layout, s = solution.nlp.grid.layout, np.linspace(0, 1, 101)
    knots = [0] * 4 + [0.3] * (3 - continuity) + [0.7] * (3 - continuity) + [1] * 4
    expected = BSpline(np.array(knots, dtype=float), solution.x[layout["q"]], 3)(s)
    np.testing.assert_allclose(solution.at(s * solution.duration).q, expected, atol=1e-12)
    before, after = solution.at(np.array([0.3 - 1e-7, 0.3 + 1e-7]) * solution.duration).qdd
    assert (np.abs(after - before).max() > 1.0) == (continuity == 1)


def test_both_sides_of_a_jump_are_nodes():
    """Torque limits hold before and after a breakpoint at which accelerations may jump."""
    nodes = co.transcribe(time_optimal(), co.BSpline(2, continuity=1)).grid.nodes().s
    np.testing.assert_allclose(nodes, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])


@pytest.mark.parametrize("make", [co.Radau, co.HermiteSimpson])
def test_nodes_are_a_time_once_or_exactly_twice(make):
    """Whatever the widths: a solution's times at the nodes rise strictly."""
    for seed in range(20):
        widths = np.random.default_rng(seed).random(12) ** 3 + 1e-6
        curve = make(breakpoints=[0.0, *(np.cumsum(widths) / widths.sum())[:-1], 1.0])
        s = np.unique(curve.node_points().s)
        assert np.diff(s).min() > 0.1 * np.diff(curve.breakpoints).min()


def test_breakpoints_at_the_switches_make_the_time_optimum_sharp():
    """The two-link arm switches three times; cubics whose accelerations jump there beat forty smooth intervals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        even = co.solve(time_optimal(), co.BSpline(20, degree=5), compile=False)
        jumps = co.solve(time_optimal(), co.BSpline(20, degree=5, continuity=1), compile=False)
    assert abs(jumps.duration - 0.391854539516) < 0.2 * abs(even.duration - 0.391854539516)


@pytest.mark.parametrize("curve", [co.BSpline(12), co.BSpline(breakpoints=ENDS, continuity=1)], ids=str)
@pytest.mark.parametrize("duration", [1.0, co.Free(0.5, 2.0, 1.0)], ids=["fixed", "free"])
def test_velocity_bounds_on_splines_hold_at_all_times(curve: co.BSpline, duration):
    stated = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0), co.bounds(qd={"shoulder": (-0.1, 1.4)})]
    cost = co.integral(effort)
    if isinstance(duration, co.Free):
        cost = cost + 10 * co.duration()
    problem = co.Problem(two_link(), duration, cost, stated)
    solution = co.solve(problem, curve, compile=False)
    fastest = solution.at(np.linspace(0, solution.duration, 5000)).qd[:, 0].max()
    assert 1.2 < fastest <= 1.4 + 1e-7
    (rows,) = [block for block in solution.nlp.constraints if block.name == "qd bounds"]
    assert rows.n_slices == solution.nlp.grid.layout["q"].shape[0] - 1


def test_velocity_bounds_during_a_part_hold_at_all_times_within_whole_intervals():
    stated = [co.initial(q=(0, -1), qd=0), co.final(q=(1, 0.5), qd=0)]
    window = co.bounds(qd={"shoulder": (-0.1, 0.9)}, during=(0.25, 0.6))
    solution = co.solve(co.Problem(two_link(), 1.0, co.integral(effort), [*stated, window]), co.BSpline(8))
    inside, outside = solution.at(np.linspace(0.25, 0.5, 2001)).qd, solution.at(np.linspace(0.7, 1, 101)).qd
    assert inside[:, 0].max() <= 0.9 + 1e-7
    assert outside[:, 0].max() > 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: co.BSpline(), r"BSpline needs intervals \(their number\) or breakpoints"),
        (lambda: co.Radau(breakpoints=(0, 0.5, 0.4, 1)), "Radau breakpoints must rise from 0 to 1 by at least 1e-09"),
        (lambda: co.Radau(breakpoints=(0, 0.5)), "must rise from 0 to 1"),
        (lambda: co.HermiteSimpson(breakpoints=0.5), "HermiteSimpson breakpoints must be a list, got 0.5"),
        (lambda: co.HermiteSimpson(3, breakpoints=(0, 1)), "has 1 intervals by its breakpoints, got intervals=3"),
        (lambda: co.BSpline(breakpoints=(0, np.nan, 1)), "BSpline breakpoint must be finite"),
        (lambda: co.BSpline(4, continuity=0), "BSpline continuity must be an integer from 1 to 2, got 0"),
        (lambda: co.BSpline(4, continuity=3), "BSpline continuity must be an integer from 1 to 2, got 3"),
        (lambda: co.BSpline(4, continuity=(1, 2)), r"BSpline continuity must be one integer or 3, got \(1, 2\)"),
        (lambda: co.Radau(3, degree=(3, 2)), r"Radau degree must be one integer or 3, got \(3, 2\)"),
        (lambda: co.Radau(2, degree=(3, 10)), "Radau degree must be an integer from 1 to 9, got 10"),
    ],
)
def test_meshes_that_cannot_be_are_refused(make, message: str):
    with pytest.raises(co.InputError, match=message):
        make()


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_a_mesh_shows_as_the_call_that_makes_it(curve):
    assert eval(repr(curve), {name: getattr(co, name) for name in ("BSpline", "HermiteSimpson", "Radau")}) == curve


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_files_keep_the_mesh(curve, tmp_path):
    problem = co.Problem(two_link(), 1.0, co.integral(lambda now: ca.sumsqr(now.qdd)), [co.final(q=(1, 1))])
    solution = co.solve(problem, curve)
    co.save(solution, tmp_path / "motion.npz")
    again = co.load(tmp_path / "motion.npz", problem)
    assert again.curve == curve
    np.testing.assert_array_equal(again.q, solution.q)


@pytest.mark.parametrize("curve", [co.BSpline(5), co.Radau(4), co.HermiteSimpson(4)], ids=str)
def test_splines_are_made_once(curve):
    """They are asked for at every turn where a program is built."""
    assert curve.basis is curve.basis
    grid = co.transcribe(time_optimal(), curve, compile=False).grid
    assert grid.splines["signals"] is grid.splines["signals"]
    assert grid.basis is curve.basis


def test_radau_inequalities_may_hold_where_equations_do():
    dense, alone = co.Radau(3, degree=4), co.Radau(3, degree=4, nodes="collocation")
    assert np.array_equal(alone.node_points().s, alone.collocation_points().s)
    assert dense.node_points().s.size > alone.node_points().s.size
    assert alone.coarser(2) == co.Radau(2, degree=4)
    with pytest.raises(co.InputError, match='Radau nodes must be "dense" or "collocation"'):
        co.Radau(3, nodes="few")


def test_spline_inequalities_may_hold_where_equations_do(tmp_path):
    curve = co.BSpline(3, degree=5, continuity=1, nodes="collocation")
    assert np.array_equal(curve.node_points().s, curve.collocation_points().s)
    assert curve.node_points().s.size == 12
    with pytest.raises(co.InputError, match='BSpline nodes must be "collocation"'):
        co.BSpline(3, nodes="dense")
    problem = time_optimal()
    solution = co.solve(problem, curve, raise_on_failure=False, plan=[co.refinement.Solve(tol=1.0)])
    co.save(solution, tmp_path / "motion.npz")
    assert co.load(tmp_path / "motion.npz", problem).curve == curve


def test_radau_signals_may_have_fewer_freedoms_than_accelerations():
    assert co.Radau(3, degree=5).signals.size == 15
    assert co.Radau(3, degree=5, signal_degree=2).signals.size == 9
    with pytest.raises(co.InputError, match="Radau signal_degree must be"):
        co.Radau(3, degree=5, signal_degree=5)


def test_inequalities_are_collocated_where_that_is_asked_for():
    assert not any(collocates_inequalities(curve) for curve in CURVES)
    assert collocates_inequalities(co.Radau(breakpoints=ENDS, degree=(1, 4, 3, 3, 2, 5), nodes="collocation"))
