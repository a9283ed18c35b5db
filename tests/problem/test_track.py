"""Measured time series: splines through samples, missing ones, markers, derivatives, Gauss-Newton, wrong calls."""

# pyright: reportArgumentType=false

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import LENGTH, two_link
from colloc.problem.track import Record, record
from colloc.studies.tracking import track_markers
from tests.support.problems import effort
from tests.transcription.test_nlp import compare_with_automatic_differentiation

CURVES = [co.BSpline(6), co.BSpline(8, degree=5), co.Radau(5), co.HermiteSimpson(6)]
POWER = [co.path(lambda now: now.tau[0] * now.qd[0], upper=50.0, name="power")]
T = np.linspace(0.0, 1.0, 51)
COURSE = np.column_stack([0.5 * np.sin(2 * T), np.cos(3 * T)])  # rad


def splines(measured: Record, t: Any) -> tuple[np.ndarray, np.ndarray]:
    """Value and presence at times, each shape (N, k)."""
    x = ca.SX.sym("t")
    function = ca.Function("splines", [x], [measured.value(x), measured.presence(x)])
    value, presence = function(np.asarray(t)[None])
    return np.array(value).T, np.array(presence).T


def marked() -> co.Model:
    return replace(two_link(9.81), markers={"wrist": ("elbow", (0, 0, 0)), "strap": ("shoulder", (-0.1, 0.02, 0.01))})


def recorded(model: co.Model, q: np.ndarray = COURSE) -> dict[str, np.ndarray]:
    evaluator = co.Evaluator(model)
    places = {name: (body, np.array(ca.DM(point))[:, 0]) for name, (body, point) in model.markers.items()}
    return {name: evaluator.point(*place, q=q).position for name, place in places.items()}


def tracking(
    model: co.Model | None = None, duration: Any = 1.0, deviation: float = 0.0, **given: Any
) -> tuple[co.Problem, dict[str, np.ndarray]]:
    """The two-link arm with both markers recorded, the wrist out of sight for a while in x."""
    model = marked() if model is None else model
    seen = recorded(marked())
    rng = np.random.default_rng(3)
    seen = {name: places + deviation * rng.standard_normal(places.shape) for name, places in seen.items()}
    seen["wrist"][20:26, 0] = np.nan
    cost = [
        co.track(
            T, y, of=lambda now, n=name: now.marker(n).position, weight=1e4, deviation=deviation, degree=5, name=name
        )
        for name, y in seen.items()
    ]
    return co.Problem(model, duration, cost[0] + cost[1] + given.pop("cost", 0 * co.duration()), **given), seen


# -- splines through samples ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("degree", range(1, 8))
@pytest.mark.parametrize("gap", [slice(0, 0), slice(5, 8), slice(0, 3), slice(30, 36)], ids=str)
def test_polynomials_of_their_degree_are_reproduced_across_gaps(degree: int, gap: slice):
    rng = np.random.default_rng(degree)
    for t in (np.linspace(0, 2, 60), np.sort(rng.uniform(0, 2, 140))):
        c = rng.standard_normal((degree + 1, 2))
        values = np.polynomial.polynomial.polyval(t, c).T
        missing = values.copy()
        missing[gap, 1] = np.nan
        fine = np.linspace(t[0], t[-1], 301)
        found, presence = splines(record("record", t, missing, degree=degree), fine)
        expected = np.polynomial.polynomial.polyval(fine, c).T
        counts = presence > 0  # in the middle of long gaps rounding grows
        np.testing.assert_allclose(found[counts], expected[counts], rtol=0, atol=1e-6)


@pytest.mark.parametrize("degree", range(1, 8))
def test_samples_are_interpolated_with_textbook_order(degree: int):
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 2, 40))
    noise = rng.standard_normal(40)
    np.testing.assert_allclose(splines(record("record", t, noise, degree=degree), t)[0][:, 0], noise, atol=1e-6)
    fine, errors = np.linspace(0, 2, 501), []
    for samples in (21, 41):
        t = np.linspace(0, 2, samples)
        found, _ = splines(record("record", t, np.sin(3 * t), degree=degree), fine)
        errors.append(np.abs(found[:, 0] - np.sin(3 * fine)).max())
    assert np.log2(errors[0] / errors[1]) > degree + 0.5


def test_long_records_get_the_pieces_that_they_need_or_a_warning():
    """Twenty seconds with a fast part: 100 pieces of 0.2 s would be off by 0.7."""
    t = np.linspace(0, 20, 2001)
    y = np.sin(t) + np.where(np.abs(t - 10) < 0.5, np.sin(4 * np.pi * (t - 10)) ** 3, 0.0)
    found = splines(record("record", t, y), t)[0][:, 0]
    assert np.abs(found - y).max() < 0.01 * np.ptp(y)
    with pytest.warns(co.support.InputWarning, match="'chirp': splines of 100 pieces are off by 0.* in component 0 at"):
        record("chirp", t, y, pieces=100)
    quiet = record("record", t, np.sin(t))
    assert quiet.basis.intervals == 100


def test_outliers_and_long_records_that_are_smoothed_are_named():
    t = np.linspace(0, 2, 201)
    y = np.sin(3 * t) + 0.003 * np.random.default_rng(0).standard_normal(t.size)
    assert record("marker", t, y, 0.003, degree=5).basis.intervals == 100
    y[100] += 0.3
    with pytest.warns(
        co.support.InputWarning, match=r"are off by 0\.\d* in component 0 at 1 s, .* check these samples"
    ):
        record("marker", t, y, 0.003, degree=5)
    t = np.linspace(0, 60, 6001)
    with pytest.warns(co.support.InputWarning, match="splines of 100 pieces are off by .* more pieces="):
        record("walk", t, np.sin(2 * np.pi * t), 0.003, degree=5)
    assert record("walk", t, np.sin(2 * np.pi * t), 0.003, degree=5, pieces=400).basis.intervals == 400


def test_cubic_splines_are_those_of_scipy():
    """Not-a-knot, on the same breakpoints: five samples, whose middle one is the only breakpoint inside."""
    from scipy.interpolate import make_interp_spline

    t, y = np.linspace(0, 1, 5), np.array([0.0, 1.0, -0.5, 0.3, 2.0])
    fine = np.linspace(0, 1, 101)
    found, _ = splines(record("record", t, y), fine)
    np.testing.assert_allclose(found[:, 0], make_interp_spline(t, y, k=3)(fine), atol=1e-12)


@pytest.mark.parametrize("degree", [3, 5])
def test_noise_is_smoothed_away_as_well_as_the_best_lambda_would(degree: int):
    from scipy.interpolate import make_smoothing_spline

    rng = np.random.default_rng(1)
    t = np.linspace(0, 2, 101)
    clean = np.sin(4 * t)[:, None]
    noisy = clean + 0.05 * rng.standard_normal((101, 40))
    measured = record("record", t, noisy, deviation=0.05, degree=degree)
    found, _ = splines(measured, t)
    error = np.sqrt(np.mean((found - clean) ** 2))
    theirs = np.column_stack([make_smoothing_spline(t, y)(t) for y in noisy.T])  # by cross-validation
    assert error < 1.05 * np.sqrt(np.mean((theirs - clean) ** 2))
    assert error < 0.02
    assert 0.045 < np.sqrt(np.mean((found - noisy) ** 2)) < 0.05


@pytest.mark.parametrize("degree", [3, 5])
def test_a_cutoff_is_a_butterworth_filter_forward_and_backward(degree: int):
    """SciPy's, between the beginning and the end of a record, where both depend on what they assume beyond it."""
    from scipy.signal import butter, sosfiltfilt

    t = np.linspace(0.0, 3.0, 601)
    y = (
        np.sin(2 * np.pi * 1.3 * t)
        + 0.3 * np.cos(2 * np.pi * 6.0 * t)
        + 0.2 * np.random.default_rng(0).normal(size=601)
    )
    theirs = sosfiltfilt(butter((degree + 1) // 2, 6.0, fs=200.0, output="sos"), y)
    measured = record("walk", t, y, cutoff=6.0, degree=degree)
    value, middle = splines(measured, t)[0][:, 0], (t > 0.5) & (t < 2.5)
    assert np.abs(value - theirs)[middle].max() < 0.01
    np.testing.assert_allclose(measured.maps()[0] @ y, measured.points[:, 0], atol=1e-9)


def test_a_cutoff_keeps_half_of_an_oscillation_across_a_gap():
    t = np.linspace(0.0, 4.0, 401)
    y = np.cos(2 * np.pi * 5.0 * t)
    y[190:196] = np.nan
    value = splines(record("walk", t, y, cutoff=5.0, degree=5), t)[0][:, 0]
    middle = ((t > 1.0) & (t < 1.6)) | ((t > 2.25) & (t < 3.0))
    np.testing.assert_allclose(value[middle], 0.5 * y[middle], atol=0.01)


def test_a_filter_bridges_short_gaps_and_fades_around_long_ones():
    """A marker that flickers counts as seen; else the fit of a model that misses it by some mm would shake."""
    t = np.linspace(0.0, 2.0, 201)
    y = np.column_stack([np.sin(t), np.sin(t), np.sin(t)])
    y[20:60:2, 0] = np.nan  # flickers
    y[100:130, 1] = np.nan  # longer than half a period of 5 Hz
    measured = record("markers", t, y, cutoff=5.0, degree=5)
    presence = splines(measured, t)[1]
    np.testing.assert_allclose(presence[:, [0, 2]], 1.0, rtol=1e-12)
    np.testing.assert_allclose(
        presence[[85, 95, 99, 100, 115, 129, 130, 135, 145], 1], [1, 0.5, 0.1, 0, 0, 0, 0.1, 0.6, 1], atol=1e-12
    )
    interpolated = splines(record("markers", t, y), t)[1][:, 0]
    np.testing.assert_allclose(interpolated[20:60], np.tile([0.0, 1.0], 20), atol=1e-12)


def test_a_tracked_motion_keeps_its_torques_where_others_are_cheaper():
    """Against the torques of the functions behind the samples, with a cost of torques beside it."""
    t = np.linspace(0.05, 0.95, 101)
    q = np.column_stack([0.5 * np.sin(2 * t), np.cos(3 * t)])
    qd = np.column_stack([np.cos(2 * t), -3 * np.sin(3 * t)])
    qdd = np.column_stack([-2 * np.sin(2 * t), -9 * np.cos(3 * t)])
    arm, misses = two_link(9.81), []
    true, size = co.Evaluator(arm).torque(q, qd, qdd), np.array([50.0, 20.0])
    for follow in (
        co.track(T, COURSE, lambda now: now.q, weight=1e5, degree=5),
        co.problem.track_motion(T, COURSE),
    ):
        problem = co.Problem(arm, 1.0, follow + 100 * co.integral(lambda now: ca.sumsqr(now.tau / size)))
        fit = co.solve(
            problem, co.BSpline(10, 5), guess=co.line(*COURSE[[0, -1]]), plan=[co.refinement.Solve(judge_cost=False)]
        )
        assert fit.status is co.solver.Status.SOLVED
        misses.append(np.abs(fit.at(t).tau - true).max() / np.abs(true).max())
    assert misses[1] < 0.01
    assert misses[1] < misses[0] / 8


def test_accelerations_count_only_where_positions_were_measured():
    """In a gap the spline of the positions is no measurement: any acceleration costs nothing there."""
    t = np.linspace(0.0, 1.0, 101)
    angles = np.column_stack([np.sin(3 * t), np.cos(3 * t)])
    angles[30:70, 0] = np.nan
    problem = co.Problem(two_link(), 1.0, co.problem.track_motion(t, angles))
    off = problem.integrands["motion, accelerations"][1]
    still = co.problem.Slots(*(ca.DM.zeros(slot.shape) for slot in problem.instant.slots))._replace(t=0.5)
    values = [float(off(*still._replace(qdd=ca.DM(qdd)))) for qdd in ((0.0, 0.0), (9.0, 0.0))]
    assert values[0] == pytest.approx((9 * np.cos(1.5)) ** 2, rel=1e-3)  # of the second joint alone
    assert values[1] == values[0]


def test_every_component_has_a_noise_of_its_own():
    t = np.linspace(0, 1, 30)
    y = np.random.default_rng(0).standard_normal((30, 2))
    found, _ = splines(record("record", t, y, deviation=(0.0, 1e300)), t)
    np.testing.assert_allclose(found[:, 0], y[:, 0], atol=1e-9)
    np.testing.assert_allclose(found[:, 1], np.polyval(np.polyfit(t, y[:, 1], 1), t), atol=1e-6)  # what is never rough


def test_missing_samples_and_times_beyond_the_record_do_not_count():
    t = np.linspace(1.0, 2.0, 11)
    y = np.column_stack([t, t**2])
    y[4:6, 0] = np.nan
    at = np.array([0.5, 0.89, 0.95, 1.0, 1.3, 1.35, 1.4, 1.45, 1.5, 1.55, 1.6, 2.0, 2.05, 2.2])
    _, presence = splines(record("record", t, y), at)
    expected = [0, 0, 0.5, 1, 1, 0.5, 0, 0, 0, 0.5, 1, 1, 0.5, 0]
    np.testing.assert_allclose(presence[:, 0], expected, atol=1e-9)
    expected[5:10] = [1] * 5
    np.testing.assert_allclose(presence[:, 1], expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_an_exact_record_gives_the_motion_back():
    problem, seen = tracking()
    assert np.isnan(seen["wrist"]).any()
    solution = co.solve(problem, co.BSpline(8, degree=5))
    np.testing.assert_allclose(solution.at(T).q, COURSE, atol=2e-6)
    found = solution.evaluate(lambda now: now.marker("wrist").position, T)
    np.testing.assert_allclose(found, recorded(marked())["wrist"], atol=1e-6)


# -- in a problem ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", [1.0, co.Free(0.5, 1.6, 0.9)], ids=["given", "free"])
@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_derivatives_equal_automatic_differentiation(curve: Any, duration: Any):
    length = co.Unknown("length", lower=0.1, upper=1.0, guess=0.4, constant=True)
    model = marked()
    arm = replace(model.bodies[1], joint=co.dh_revolute(a=length.symbol))
    problem, _ = tracking(
        replace(model, bodies=[model.bodies[0], arm]),
        duration,
        cost=co.integral(effort),
        subject_to=POWER,
        unknowns=[length],
    )
    compare_with_automatic_differentiation(problem, curve, [])


@pytest.mark.parametrize("duration", [1.0, co.Free(0.5, 0.99, 0.7)], ids=["given", "free"])
@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_gauss_newton_finds_the_optimum_of_the_exact_hessian(duration: Any):
    end = [co.final(q=COURSE[45])] if isinstance(duration, co.Free) else []
    problem, _ = tracking(duration=duration, deviation=0.002, subject_to=end)
    tight: dict[str, Any] = {"tol": 1e-10}
    exact, gauss_newton = (
        co.solve(problem, co.BSpline(8, degree=5), solver=co.Ipopt(hessian=hessian, **tight))
        for hessian in (co.solver.Hessian.EXACT, co.solver.Hessian.GAUSS_NEWTON)
    )
    assert gauss_newton.cost == pytest.approx(exact.cost, rel=1e-9)
    np.testing.assert_allclose(gauss_newton.q, exact.q, atol=1e-5)
    assert gauss_newton.duration == pytest.approx(exact.duration, abs=1e-6)
    if isinstance(duration, co.Free):
        assert exact.duration == pytest.approx(0.9, abs=5e-3)


def test_all_of_a_track_is_squares_even_if_the_duration_is_free():
    problem, _ = tracking(duration=co.Free(0.5, 1.6, 0.9))
    costs = co.transcribe(problem, co.BSpline(4)).costs
    assert [block.name for block in costs if "wrist" in block.rows.labels] == ["squares"]
    assert list(costs[-1].rows.labels) == ["wrist"] * 2 + ["strap"] * 3  # the wrist stays in the plane


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_lengths_are_found_from_markers():
    """Static scaling: segments as unknown constants, markers that move with them."""
    upper, lower = (co.Unknown(f"{side}_length", 1, 0.2, 0.8, 0.5, constant=True) for side in ("upper", "lower"))
    bodies = [
        replace(body, joint=co.dh_revolute(a=unknown.symbol))
        for body, unknown in zip(two_link(9.81).bodies, (upper, lower), strict=True)
    ]
    strap = ca.vertcat(0.3 - upper.symbol, 0.02, 0.01)  # 0.3 m from the shoulder, however long the arm is
    model = co.Model(bodies, markers={"wrist": ("elbow", (0, 0, 0)), "strap": ("shoulder", strap)})
    problem, _ = tracking(model, unknowns=[upper, lower])
    solution = co.solve(
        problem, co.BSpline(8, degree=5), tol=1e-4, raise_on_failure=False, guess=co.line((0, 1), (1, -1))
    )
    assert solution.constants["upper_length"] == pytest.approx(LENGTH, abs=1e-5)
    assert solution.constants["lower_length"] == pytest.approx(LENGTH, abs=1e-5)


# -- the study ---------------------------------------------------------------------------------------------------------


def test_markers_and_a_force_plate_give_angles_torques_lengths_and_masses(tmp_path: Path):
    files = {"--json": tmp_path / "numbers.json", "--figure": tmp_path / "figure.png"}
    track_markers.main(["--quick", *(word for name, file in files.items() for word in (name, str(file)))])
    numbers = json.loads(files["--json"].read_text(encoding="utf-8"))
    assert files["--figure"].stat().st_size > 20_000
    assert numbers["solved"] == 1
    assert numbers["angle_rms"] < 0.003 < 10 * numbers["angle_rms"]
    assert numbers["torque_rms"] < 1.0 < 5.0 < numbers["torque_rms.markers_alone"]
    assert numbers["length_error"] < 1e-3
    assert numbers["mass_error.body"] < 1e-3 < numbers["mass_error"] < 0.08  # the noise hides the legs' shares


# -- markers -----------------------------------------------------------------------------------------------------------


def test_markers_are_points_of_bodies():
    model = marked()
    solution = co.solve(
        co.Problem(model, 1.0, co.integral(effort), [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]), co.BSpline(6)
    )
    t = np.linspace(0, 1, 7)
    for part in range(3):
        by_name = solution.evaluate(lambda now, k=part: now.marker("strap")[k], t)
        np.testing.assert_array_equal(
            by_name, solution.evaluate(lambda now, k=part: now.point("shoulder", (-0.1, 0.02, 0.01))[k], t)
        )


def test_the_table_lists_markers():
    assert "marker strap: on shoulder at (-0.1, 0.02, 0.01) m" in repr(marked())
    assert list(marked().frozen({"elbow": 0.3}).markers) == ["wrist", "strap"]
    assert dict(two_link().markers) == dict(co.Model.empty().markers) == {}


def test_the_stick_figure_shows_markers():
    from colloc.plot.posture import skeleton_of

    model = marked()
    problem = co.Problem(model, 1.0, co.integral(effort), [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)])
    solution = co.solve(problem, co.BSpline(6))
    t = np.array([0.0, 0.4, 1.0])
    shown = skeleton_of(solution, t).markers
    expected = recorded(model, solution.at(t).q)
    np.testing.assert_allclose(shown, np.stack([expected["wrist"], expected["strap"]], axis=1), atol=1e-12)


# -- wrong calls -------------------------------------------------------------------------------------------------------


def of(now: co.problem.Instant) -> ca.SX:
    return now.q


Y = COURSE
HOLED = np.where(np.arange(2) == 1, np.nan, COURSE)
WRONG = {
    "times that fall": (lambda: co.track(T[::-1], Y, of), "times of 'of' must rise, got 1 s before 0.98 s"),
    "times twice": (lambda: co.track(np.repeat(T[:26], 2)[:51], Y, of), "times of 'of' must rise, got 0 s before 0 s"),
    "times that are NaN": (lambda: co.track(np.where(T > 0.5, np.nan, T), Y, of), "times of 'of' must be finite"),
    "a single time": (lambda: co.track([0.0], [1.0], of), "times of 'of' must be at least 4 for splines of degree 3"),
    "a table of times": (lambda: co.track(Y, Y, of), "times of 'of' must have shape"),
    "values of another length": (lambda: co.track(T, Y[:-1], of), r"shape \(51,\) or \(51, k\), got shape \(50, 2\)"),
    "a box of values": (lambda: co.track(T, np.zeros((51, 2, 2)), of), "values of 'of' must have shape"),
    "values without columns": (lambda: co.track(T, np.zeros((51, 0)), of), "values of 'of' must have shape"),
    "infinite values": (lambda: co.track(T, Y / (T > 0)[:, None], of), "values of 'of' must be finite"),
    "text for values": (lambda: co.track(T, "values", of), "values of 'of' must be numbers"),
    "all NaN": (lambda: co.track(T, HOLED, of), "component 1 of the values of 'of' has 0 samples"),
    "too few": (lambda: co.track(T, np.where(T < 0.05, T, np.nan), of), "component 0 .* has 3 samples"),
    "a weight of zero": (lambda: co.track(T, Y, of, weight=(1.0, 0.0)), "weight of 'of' must be positive"),
    "three weights": (lambda: co.track(T, Y, of, weight=(1.0, 1.0, 1.0)), "weight of 'of' must have shape"),
    "negative noise": (lambda: co.track(T, Y, of, deviation=-1.0), "deviation of 'of' must not be negative"),
    "a cutoff of zero": (lambda: co.track(T, Y, of, cutoff=0.0), "cutoff of 'of' must be finite and positive"),
    "a cutoff beyond the samples": (
        lambda: co.track(T, Y, of, cutoff=25.0),
        "below half the rate of its samples, 25 Hz",
    ),
    "two filters": (lambda: co.track(T, Y, of, cutoff=6.0, deviation=0.1), "by a deviation or by a cutoff, got both"),
    "a motion of lines": (lambda: co.problem.track_motion(T, Y, degree=2), "tracked motion must be an integer from 3"),
    "accelerations for nothing": (
        lambda: co.problem.track_motion(T, Y, acceleration=0.0),
        "acceleration of 'motion' must be finite and positive",
    ),
    "degree 0": (lambda: co.track(T, Y, of, degree=0), "degree of 'of' must be an integer from 1 to 7"),
    "too many pieces": (lambda: co.track(T, Y, of, pieces=49), "pieces of 'of' must be an integer from 1 to 48"),
    "no function": (lambda: co.track(T, Y, Y), "track needs a function of the instant"),
    "a name": (lambda: co.track(T, Y, of, name=3), "track name must be"),
    "a function of another size": (
        lambda: co.Problem(two_link(), 1.0, co.track(T, Y[:, 0], of)),
        r"track 'of' has values of size 1, its function shape \(2, 1\)",
    ),
    "a function of nothing": (
        lambda: co.Problem(two_link(), 1.0, co.track(T, Y, lambda now: None, name="angles")),
        "track 'angles' must return SX",
    ),
    "an unknown marker": (
        lambda: co.Problem(marked(), 1.0, co.track(T, Y, lambda now: now.marker("wirst").position)),
        "no marker of 'two-link arm' named 'wirst'; did you mean 'wrist'",
    ),
    "a marker on an unknown body": (
        lambda: replace(two_link(), markers={"wrist": ("ellbow", (0, 0, 0))}),
        "no body of marker 'wrist' named 'ellbow'; did you mean 'elbow'",
    ),
    "a marker that is a body": (lambda: replace(two_link(), markers={"wrist": "elbow"}), "marker 'wrist' must be"),
    "a marker in the plane": (
        lambda: replace(two_link(), markers={"wrist": ("elbow", (0, 0))}),
        "point of marker 'wrist' must be of shape",
    ),
    "a marker nowhere": (
        lambda: replace(two_link(), markers={"wrist": ("elbow", (0, np.nan, 0))}),
        "point of marker 'wrist' must be finite",
    ),
    "a marker without a name": (
        lambda: replace(two_link(), markers={3: ("elbow", (0, 0, 0))}),
        "name of a marker must be",
    ),
    "no markers": (lambda: replace(two_link(), markers=None), "markers must be a Mapping"),
    "a marker's name that is a list": (
        lambda: co.Problem(marked(), 1.0, co.integral(lambda now: now.marker([1]).position[0])),
        "name of a marker must be",
    ),
    "a rate's name that is a list": (
        lambda: co.Problem(marked(), 1.0, co.integral(lambda now: now.rate([1]))),
        "name of a state or signal must be",
    ),
    "a list of markers": (lambda: replace(two_link(), markers=["wrist"]), "markers must be a Mapping"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_calls_are_named(wrong: str):
    call, message = WRONG[wrong]
    with np.errstate(divide="ignore", invalid="ignore"), pytest.raises(co.InputError, match=message):
        call()
