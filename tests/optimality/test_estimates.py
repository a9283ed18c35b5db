"""Standard errors of identified constants, against regression in closed form and simulated recordings."""

from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.problem.smoothing import spline_matrix
from colloc.problem.track import records_in

TIMES = np.linspace(0.0, 2.0, 81)
NOISE = 0.02
CURVE = co.Radau(12)
START = co.initial(q=1.0, qd=0.0)
STIFFNESS, DAMPING = 2.0, 0.3


def regression(seed: int = 0, every: int = 1) -> co.Problem:
    """A line through samples: an offset and a slope, and no motion."""
    names = ("offset", "slope")
    samples = 0.5 + 2.0 * TIMES + NOISE * np.random.default_rng(seed).standard_normal(TIMES.size)
    unknowns = [co.Unknown(name, constant=True, unit="m") for name in names]
    record = co.track(TIMES[::every], samples[::every], lambda now: now.offset + now.slope * now.t, name="line")
    return co.Problem(co.Model.empty(), 2.0, record, unknowns=unknowns)


def test_a_line_has_the_errors_of_linear_regression():
    fit = co.solve(regression(), co.Radau(80), progress=False)
    estimates = co.optimality.standard_errors(fit, {"line": NOISE})
    assert (estimates.names, estimates.units) == (("offset", "slope"), ("m", "m"))
    design = np.column_stack([np.ones(TIMES.size), TIMES])
    textbook = NOISE**2 * np.linalg.inv(design.T @ design)
    # The fit minimises an integral, not a sum: the two samples at the ends count half.
    np.testing.assert_allclose(estimates.errors, np.sqrt(np.diag(textbook)), rtol=0.03)
    correlation = textbook[0, 1] / np.sqrt(textbook[0, 0] * textbook[1, 1])
    assert estimates.correlation[0, 1] == pytest.approx(correlation, abs=0.02)
    low, high = estimates.interval("slope")
    assert high - low == pytest.approx(2 * 1.96 * estimates["slope"], rel=1e-3)
    assert low < 2.0 < high


def test_the_covariance_is_that_of_the_integral_to_rounding():
    """The fit is linear in the samples: its derivatives are fits to unit samples."""
    fit = co.solve(regression(every=8), CURVE, progress=False)
    covariance = co.optimality.standard_errors(fit, {"line": NOISE}).covariance
    t, moves = TIMES[::8], []
    for k in range(t.size):
        record = co.track(t, np.eye(t.size)[k], lambda now: now.offset + now.slope * now.t, name="line")
        unit = co.solve(co.Problem(co.Model.empty(), 2.0, record, unknowns=fit.problem.unknowns), CURVE, progress=False)
        moves.append(np.concatenate(list(unit.constants.values())))
    np.testing.assert_allclose(covariance, NOISE**2 * np.array(moves).T @ np.array(moves), rtol=1e-5)


def test_the_noise_is_estimated_from_the_residuals():
    fit = co.solve(regression(), CURVE, progress=False)
    estimates = co.optimality.standard_errors(fit)
    design = np.column_stack([np.ones(TIMES.size), TIMES])
    values = np.concatenate(list(fit.constants.values()))
    samples = 0.5 + 2.0 * TIMES + NOISE * np.random.default_rng(0).standard_normal(TIMES.size)
    residuals = samples - design @ values
    expected = np.sqrt((residuals**2).sum() / (TIMES.size - 2))
    assert estimates.deviations["line"] == pytest.approx([expected], rel=1e-6)


@pytest.mark.parametrize("deviation", [0.0, 0.2])
def test_the_bias_of_smoothed_records_is_that_of_linear_regression(deviation: float):
    """Fewer of the swings of a sine are left by smoothing: an amplitude and an offset come out smaller and larger."""
    shape = lambda t: np.column_stack([np.sin(5 * t), np.ones_like(t)])  # noqa: E731
    samples = shape(TIMES) @ [1.0, 0.3] + 0.2 * np.random.default_rng(4).standard_normal(TIMES.size)
    record = co.track(
        TIMES, samples, lambda now: now.size * ca.sin(5 * now.t) + now.offset, name="sine", deviation=deviation
    )
    unknowns = [co.Unknown(name, constant=True) for name in ("size", "offset")]
    fit = co.solve(co.Problem(co.Model.empty(), 2.0, record, unknowns=unknowns), co.Radau(80), progress=False)
    estimates = co.optimality.standard_errors(fit, {"sine": 0.2})
    tracked = records_in(record)[0][0].record
    t = np.linspace(0.0, 2.0, 2001)
    exact = shape(TIMES) @ np.concatenate(list(fit.constants.values()))
    points = tracked.maps()[0] @ exact  # of splines through samples of the fit without noise
    expected = np.linalg.lstsq(shape(t), spline_matrix(tracked.basis, t) @ points, rcond=None)[0] - np.concatenate(
        list(fit.constants.values())
    )
    np.testing.assert_allclose(estimates.biases, expected, atol=1e-4)
    assert (estimates.biases[0] < -0.01) == (deviation > 0)
    moved = "the smoothing of the records moves size by about -" in repr(estimates)
    assert moved == (deviation > 0)


def rod(parts: list[co.problem.Part], record: Any = None, constraints: Any = (START,)) -> co.Problem:
    """A rod on springs that swings from a known posture at rest."""
    body = co.Body("rod", co.revolute(), mass=1.0, com=(0, -0.5, 0), inertia=0.1 * np.eye(3))
    cost = () if record is None else (record,)
    return co.Problem(co.Model([body]), 2.0, *cost, subject_to=constraints, parts=parts)


def unknown(name: str, guess: float, upper: float = 20.0) -> co.Unknown:
    return co.Unknown(name, lower=0.0, upper=upper, guess=guess, constant=True)


@pytest.fixture(scope="module")
def angles() -> np.ndarray:
    true = co.solve(rod([co.Spring("rod", STIFFNESS, damping=DAMPING)]), co.Radau(24), progress=False)
    return true.at(TIMES).q[:, 0]


def identified(angles: np.ndarray, seed: int, parts: Any = None) -> co.Solution:
    samples = angles + NOISE * np.random.default_rng(seed).standard_normal(TIMES.size)
    record = co.track(TIMES, samples, lambda now: now.q, name="angle", deviation=NOISE)
    spring = co.Spring("rod", unknown("stiffness", 1.0), damping=unknown("damping", 0.1))
    return co.solve(rod(parts or [spring], record), CURVE, progress=False)


def covered(angles: np.ndarray, count: int) -> np.ndarray:
    """Whether each interval of 95 % has the true value, shape (count, 2)."""
    true = np.array([STIFFNESS, DAMPING])
    inside = []
    for seed in range(count):
        estimates = co.optimality.standard_errors(identified(angles, seed))
        ends = np.array([estimates.interval(name) for name in ("stiffness", "damping")])
        inside.append((ends[:, 0] < true) & (true < ends[:, 1]))
    return np.array(inside)


def test_intervals_of_200_recordings_have_the_true_values_as_often_as_stated(angles: np.ndarray):
    share = covered(angles, 200).mean(axis=0)
    assert ((share >= 0.92) & (share <= 0.98)).all(), share


def test_a_few_recordings_are_covered_and_scatter_by_the_standard_error(angles: np.ndarray):
    fits = [identified(angles, seed) for seed in range(8)]
    scatter = np.std([fit.constants["stiffness"][0] for fit in fits], ddof=1)
    error = co.optimality.standard_errors(fits[0], {"angle": NOISE})["stiffness"]
    assert 0.4 < scatter / error < 1.8  # of 8 samples: 99.9 % lie within


def test_constants_that_only_act_together_are_named(angles: np.ndarray):
    springs = [co.Spring("rod", unknown(f"k{k}", guess), damping=0.15) for k, guess in enumerate((1.2, 0.7))]
    estimates = co.optimality.standard_errors(identified(angles, 0, springs))
    assert np.isinf(estimates.errors).all()
    assert estimates.remarks == ("not determined by the records: k0, k1 (only a combination of them)",)
    assert "only a combination" in repr(estimates)


def test_a_constant_without_effect_is_named_alone(angles: np.ndarray):
    far = co.Spring("rod", unknown("stop", 1.0), rest=4.0, side="above", width=1e-6)
    spring = co.Spring("rod", unknown("stiffness", 1.0), damping=unknown("damping", 0.1))
    estimates = co.optimality.standard_errors(identified(angles, 0, [spring, far]))
    assert any("determined" in remark and "stop" in remark for remark in estimates.remarks)
    assert np.isfinite([estimates["stiffness"], estimates["damping"]]).all()
    assert not 0 < estimates["stop"] < 20.0


def test_a_constant_at_its_bound_is_named(angles: np.ndarray):
    spring = co.Spring("rod", unknown("stiffness", 1.0, upper=1.5), damping=unknown("damping", 0.1))
    estimates = co.optimality.standard_errors(identified(angles, 0, [spring]))
    assert np.isnan(estimates["stiffness"])
    assert any("at a bound" in remark and "stiffness" in remark for remark in estimates.remarks)


def test_two_recordings_of_one_device_have_smaller_errors(angles: np.ndarray):
    def recording(seed: int, parts: Any) -> co.Problem:
        samples = angles + NOISE * np.random.default_rng(seed).standard_normal(TIMES.size)
        return rod(parts, co.track(TIMES, samples, lambda now: now.q, name="angle", deviation=NOISE))

    parts = [co.Spring("rod", unknown("stiffness", 1.0), damping=unknown("damping", 0.1))]
    one = co.solve(recording(0, parts), CURVE, progress=False)
    two = co.solve(co.Cases({"a": recording(0, parts), "b": recording(1, parts)}), CURVE, progress=False)
    errors = [
        co.optimality.standard_errors(solution, dict.fromkeys(names, NOISE)).errors
        for solution, names in ((one, ["angle"]), (two, ["a: angle", "b: angle"]))
    ]
    np.testing.assert_allclose(errors[1], errors[0] / np.sqrt(2), rtol=0.03)


@pytest.mark.parametrize(
    ("build", "deviations", "message"),
    [
        (lambda: rod([co.Motors(["rod"])], co.integral(lambda now: now.motor**2, name="effort")), None, "records"),
        (regression, {"lin": 0.1}, "line"),
        (regression, {"line": -0.1}, "positive"),
    ],
)
def test_mistakes_are_named(build: Any, deviations: Any, message: str):
    solution = co.solve(build(), CURVE, progress=False)
    with pytest.raises(co.InputError, match=message):
        co.optimality.standard_errors(solution, deviations)


def test_samples_before_and_after_the_motion_tell_nothing_of_the_noise():
    t = np.arange(-4.0, 9.0)
    y = t + np.tile([0.1, -0.1, -0.1, 0.1, 0.05], 3)[: t.size]
    record = co.track(t, y, lambda now: now.scale * now.t, name="line")
    scale = co.Unknown("scale", constant=True)
    fit = co.solve(co.Problem(None, 4.0, record, unknowns=[scale]), co.Radau(4), progress=False)  # pyright: ignore[reportArgumentType]
    inside = (t >= 0) & (t <= 4)
    off = fit.constants["scale"] * t[inside] - y[inside]
    noise = co.optimality.standard_errors(fit).deviations["line"]
    np.testing.assert_allclose(noise, np.sqrt(off @ off / (5 - 1)), rtol=1e-9)  # one freedom
