"""Force plates as loads, and files that become tracked motions and files again."""

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.problem import ground

T = np.linspace(0.0, 1.0, 41)  # s
FORCE = np.column_stack([3 * np.sin(4 * T), 20 + 5 * np.cos(3 * T), T])  # N
POINT = np.column_stack([0.3 + 0.1 * T, 0.0 * T, 0.2 * T**2])  # m
TORQUE = np.column_stack([0.0 * T, np.cos(2 * T), 0.0 * T])  # N m


def exact(now: co.problem.Instant) -> co.dynamics.Wrench:
    """The wrench of which samples are taken, about the world's origin."""
    t = now.t
    force = ca.vertcat(3 * ca.sin(4 * t), 20 + 5 * ca.cos(3 * t), t)
    point = ca.vertcat(0.3 + 0.1 * t, 0, 0.2 * t**2)
    return co.dynamics.Wrench(force, ca.cross(point, force) + ca.vertcat(0, ca.cos(2 * t), 0))


def wrench_of(load: co.Load, t: Any) -> np.ndarray:
    """Force and moment about the origin of the link's frame at times and one posture, shape (N, 6)."""
    model = two_link()
    time, q = ca.SX.sym("t"), ca.SX([0.3, -0.8])
    now = co.problem.Instant(model, time, ca.SX(1), q, ca.SX.zeros(2), ca.SX.zeros(2), ca.SX.sym("tau", 2))
    at = load.at(now)
    return np.array(ca.Function("wrench", [time], [ca.vertcat(at.force, at.moment)])(np.asarray(t)[None])).T


def test_a_plate_is_the_wrench_that_it_measured():
    """At samples to rounding; between them with the order of the splines."""
    load = ground.recorded("elbow", T, FORCE, POINT, TORQUE)
    np.testing.assert_allclose(wrench_of(load, T), wrench_of(ground.applied("elbow", (0, 0, 0), exact), T), atol=1e-12)
    fine = np.linspace(0.0, 1.0, 777)
    true, errors = wrench_of(ground.applied("elbow", (0, 0, 0), exact), fine), []
    for every in (4, 2, 1):
        samples = slice(None, None, every)
        coarse = ground.recorded("elbow", T[samples], FORCE[samples], POINT[samples], TORQUE[samples])
        errors.append(np.abs(wrench_of(coarse, fine) - true).max())
    assert errors[0] / errors[1] > 2**3.5
    assert errors[1] / errors[2] > 2**3.5
    assert errors[2] < 1e-5


def test_a_force_at_a_point_of_the_body_is_a_plain_load():
    """A constant force that follows a point of the link, which the plate sees move."""
    q = np.column_stack([0.5 * T, -T])
    place = co.Evaluator(two_link()).point("elbow", (-0.1, 0.0, 0.0), q=q).position
    force = np.tile([1.0, -5.0, 0.0], (T.size, 1))
    record = ground.recorded("elbow", T, force, place)
    plain = co.Load("elbow", force=(1.0, -5.0, 0.0), point=(-0.1, 0.0, 0.0))
    line, motions = (q[0], q[-1]), []
    for load in (record, plain):
        effort = co.integral(lambda now: ca.sumsqr(now.q - ca.vertcat(0.5 * now.t, -now.t)))
        fit = co.solve(co.Problem(two_link(9.81), 1.0, effort, loads=[load]), co.BSpline(4), guess=co.line(*line))
        motions.append(fit.at(T).tau)
    np.testing.assert_allclose(motions[0], motions[1], atol=1e-5)


def test_a_bare_plate_has_no_point():
    force, point = FORCE.copy(), POINT.copy()
    force[:10] = 0.0
    point[:10] = np.nan
    load = ground.recorded("elbow", T, force, point, degree=1)
    values = wrench_of(load, T)
    np.testing.assert_array_equal(values[:10], np.zeros((10, 6)))
    whole = wrench_of(ground.recorded("elbow", T, FORCE, POINT, degree=1), T)
    np.testing.assert_allclose(values[10:], whole[10:], atol=1e-12)


def test_beyond_the_record_the_load_stays():
    load = ground.recorded("elbow", T + 0.2, FORCE, POINT)
    np.testing.assert_allclose(wrench_of(load, [0.0, 0.1, 0.2])[:, :3], np.tile(FORCE[0], (3, 1)), atol=1e-12)
    np.testing.assert_allclose(wrench_of(load, [1.2, 1.5])[:, :3], np.tile(FORCE[-1], (2, 1)), atol=1e-12)


def test_noise_is_smoothed():
    """A stated deviation, for forces and moments."""
    rng, t = np.random.default_rng(3), np.linspace(0.0, 1.0, 101)
    force = np.column_stack([0 * t, 20 + 5 * np.cos(3 * t), 0 * t])
    noisy = force + 0.5 * rng.standard_normal(force.shape)
    at = np.zeros(3)
    sigma = np.repeat([0.5, 1e-3], 3)
    smooth, rough = (
        wrench_of(ground.recorded("elbow", t, noisy, np.tile(at, (101, 1)), deviation=d), t)[:, :3] - force
        for d in (sigma, 0.0)
    )
    assert np.sqrt(np.mean(rough**2)) > 0.4
    assert np.sqrt(np.mean(smooth**2)) < 0.2


def test_a_cutoff_filters_forces_and_moments():
    """As the file of a laboratory that has filtered them, and without a word about the distance."""
    t, force = strike()
    filtered = ground.recorded("elbow", t, force, (0.1, 0.0, 0.0), cutoff=20.0, degree=5)
    value = wrench_of(filtered, t)
    np.testing.assert_allclose(value[:, 5], value[-1, 5] / value[-1, 1] * value[:, 1], atol=1e-6 * force.max())
    before, after = (np.ptp(wrench[t < 0.6, 1]) for wrench in (force, value))
    assert 0.6 * before < after < 0.8 * before
    assert value[t > 0.8, 1] == pytest.approx(force[t > 0.8, 1], rel=2e-2)


def test_one_point_and_torque_may_serve_all_samples():
    same = ground.recorded("elbow", T, FORCE, np.tile([0.1, 0.0, 0.2], (41, 1)), np.tile([0.0, 2.0, 0.0], (41, 1)))
    load = ground.recorded("elbow", T, FORCE, (0.1, 0.0, 0.2), (0.0, 2.0, 0.0))
    np.testing.assert_array_equal(wrench_of(load, T), wrench_of(same, T))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((T, FORCE, np.full_like(POINT, np.nan)), r"point and torque on 'elbow' must be finite where there is a force"),
        ((T, FORCE[:-1], POINT), "must have shape"),
        ((T, FORCE, POINT[:, :2]), r"point must have shape \(41, 3\), or \(3,\) if constant, got shape \(41, 2\)"),
        ((T, FORCE, POINT, 0.0), r"torque must have shape \(41, 3\), or \(3,\) if constant, got shape \(\)"),
        ((T[::-1], FORCE, POINT), "times of 'load on elbow' must rise"),
        ((T, np.full_like(FORCE, np.inf), POINT), "force must be finite"),
    ],
)
def test_what_is_no_record_is_refused(arguments: tuple, message: str):
    with pytest.raises(co.InputError, match=message):
        ground.recorded("elbow", *arguments)


def strike(seconds: float = 1.5) -> tuple[np.ndarray, np.ndarray]:
    """Times at 1000 Hz and a vertical force with a heel strike of 600 N in 8 ms at 0.5 s, on a step of 1000 N."""
    t = np.linspace(0.0, seconds, int(1000 * seconds) + 1)
    force = 1000.0 / (1 + np.exp(-(t - 0.5) / 0.002)) + 600.0 * np.exp(-(((t - 0.51) / 0.004) ** 2))
    return t, np.column_stack([0 * t, force, 0 * t])


@pytest.mark.parametrize("degree", [1, 3, 5])
def test_a_heel_strike_stays_sharp_and_the_rest_is_smoothed(degree: int):
    t, force = strike()
    noisy = force + 5.0 * np.random.default_rng(0).standard_normal(force.shape)
    load = ground.recorded(
        "elbow", t, noisy, np.tile([0.1, 0.0, 0.0], (t.size, 1)), degree=degree, deviation=[5.0] * 3 + [0.5] * 3
    )
    off = wrench_of(load, t)[:, :3] - force
    assert np.abs(off).max() < 8 * 5.0
    assert np.sqrt(np.mean(off[(t < 0.4) | (t > 0.6)] ** 2)) < 5.0 / 2


def test_a_plate_that_pieces_cannot_follow_warns_with_newtons_and_time():
    t, force = strike()
    point, deviation = np.tile([0.1, 0.0, 0.0], (t.size, 1)), [5.0] * 3 + [0.5] * 3
    with pytest.warns(co.support.InputWarning, match="splines of 50 pieces are off by") as warnings:
        load = ground.recorded("elbow", t, force, point, deviation=deviation, pieces=50)
    assert len(warnings) == 1
    off = np.abs(wrench_of(load, t)[:, 1] - force[:, 1])
    said = str(warnings[0].message)
    assert f"off by {off.max():.4g} N in force y at {t[off.argmax()]:g} s, with a deviation of 5 N stated" in said


def test_a_filtered_plate_of_a_walk_is_followed_within_a_fifth_of_a_percent():
    """136 samples at 100 Hz, which are more than a hundred pieces."""
    t, force = strike(1.35)
    load = ground.recorded("elbow", t[::10], force[::10], np.tile([0.1, 0.0, 0.0], (136, 1)))
    assert np.abs(wrench_of(load, t[::10])[:, :3] - force[::10]).max() < 0.002 * np.ptp(force)


# -- files to tracked motions to files ---------------------------------------------------------------------------------


def followed(table: co.formats.TimeSeriesTable, curve: co.BSpline) -> co.Solution:
    names = two_link().joint_names
    record = co.track(table.t, np.column_stack([table[name] for name in names]), of=lambda now: now.q, degree=5)
    problem = co.Problem(two_link(9.81), table.t[-1], record)
    return co.solve(
        problem, curve, guess=co.line((0.0, 0.0), (0.3, 0.3)), solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)
    )


def motion(columns: dict[str, np.ndarray]) -> co.formats.TimeSeriesTable:
    return co.formats.TimeSeriesTable(T, columns, dict.fromkeys(columns, "rad"))


def back(table: co.formats.TimeSeriesTable, curve: co.BSpline, folder: Path) -> np.ndarray:
    """Largest distance of a motion from itself, out to a file, tracked, and out to a file again [rad]."""
    co.formats.write_table(table, folder / "before.mot", degrees=True)
    fit = followed(co.formats.read_table(folder / "before.mot"), curve)
    co.formats.write_table(co.storage.coordinate_table(fit, T), folder / "after.mot", degrees=True)
    after = co.formats.read_table(folder / "after.mot")
    return np.array([np.abs(after[name] - table[name]).max() for name in table.names])


def test_motions_that_are_splines_come_back(tmp_path: Path):
    rng = np.random.default_rng(2)
    columns = {name: np.polynomial.polynomial.polyval(T, rng.standard_normal(6)) for name in two_link().joint_names}
    assert back(motion(columns), co.BSpline(3, degree=5), tmp_path).max() < 1e-8


def test_motions_come_back_within_the_error_of_splines(tmp_path: Path):
    """Best splines of degree d on intervals of width h are off by no more than K h^(d+1) max |q^(d+1)|, K of degree 3
    at most 5/384 (Hall and Meyer 1976)."""
    columns = {"shoulder": 0.5 * np.sin(5 * T), "elbow": np.cos(4 * T)}
    derivatives = np.array([0.5 * 5**4, 4.0**4])
    errors = []
    for intervals in (5, 10, 20):
        error = back(motion(columns), co.BSpline(intervals, degree=3), tmp_path)
        assert (error < 5 / 384 * intervals**-4.0 * derivatives).all()
        errors.append(error)
    assert (errors[0] / errors[1] > 2**3.5).all()
    assert (errors[1] / errors[2] > 2**3.5).all()


# -- inverse kinematics and inverse dynamics at once -----------------------------------------------------------------


def standing() -> co.Model:
    """A foot that slides and turns freely in the sagittal plane, with a leg on it."""
    foot = co.Body(
        "foot", co.revolute(name="foot_rz"), "rise", mass=2.0, com=(0.05, -0.04, 0), inertia=(0.0, 0.01, 0.01)
    )
    hinge = co.revolute(name="ankle")
    leg = co.Body("leg", hinge, "foot", mass=30.0, com=(0.02, 0.5, 0), inertia=(2.0, 0.0, 2.0))
    markers = {"heel": ("foot", (-0.06, -0.05, 0)), "toe": ("foot", (0.2, -0.05, 0)), "hip": ("leg", (0.05, 0.9, 0))}
    slide = co.Body("slide", co.prismatic(axis=(1, 0, 0), name="foot_tx"))
    rise = co.Body("rise", co.prismatic(axis=(0, 1, 0), name="foot_ty"), "slide")
    return co.Model([slide, rise, foot, leg], markers=markers)


def test_markers_and_a_plate_give_the_torques_and_leave_no_residual(tmp_path: Path):
    """Of a motion that is known, through files: what nothing drives is explained by the ground alone."""
    model, t = standing(), np.linspace(0.0, 1.0, 201)
    time = ca.SX.sym("t")
    sway = ca.vertcat(0.02 * time**2, 0.08 + 0.01 * ca.sin(3 * time), 0.05 * ca.sin(2 * time), 0.2 * ca.cos(3 * time))
    rate = ca.jacobian(sway, time)
    q, qd, qdd = (np.array(x).T for x in ca.Function("sway", [time], [sway, rate, ca.jacobian(rate, time)])(t[None]))
    evaluator = co.Evaluator(model)
    seen = {
        name: evaluator.point(body, np.array(ca.DM(at))[:, 0], q=q).position
        for name, (body, at) in model.markers.items()
    }
    symbols = [ca.SX.sym(name, 4) for name in "abc"]
    support = ca.Function("support", symbols, [*co.dynamics.root_wrench(model, symbols[0], symbols[1], symbols[2])])
    force, moment = (np.array(part).T for part in support(q.T, qd.T, qdd.T))
    point = np.column_stack([moment[:, 2], 0 * t, -moment[:, 0]]) / force[:, 1:2]
    free = moment - np.cross(point, force)
    columns = {f"plate_v{axis}": force[:, k] for k, axis in enumerate("xyz")}
    columns |= {f"plate_p{axis}": point[:, k] for k, axis in enumerate("xyz")}
    co.formats.write_table(co.formats.TimeSeriesTable(t, seen), tmp_path / "sway.trc")
    co.formats.write_table(co.formats.TimeSeriesTable(t, columns), tmp_path / "sway_grf.mot")

    markers, plate = (co.formats.read_table(tmp_path / name) for name in ("sway.trc", "sway_grf.mot"))
    follow = co.track(
        markers.t,
        np.hstack([markers[name] for name in markers.names]),
        of=lambda now: ca.vertcat(*(now.marker(name).position for name in markers.names)),
        weight=1e6,
        degree=5,
    )
    load = ground.recorded("foot", plate.t, plate.vector("plate_v"), plate.vector("plate_p"), free, degree=5)
    residual = co.integral(lambda now: ca.sumsqr(now.tau[:3]), name="residuals")
    problem = co.Problem(model, 1.0, follow + residual, loads=[load])
    motion = co.solve(problem, co.BSpline(16, degree=5), guess=co.line(q[0], q[0]))
    np.testing.assert_allclose(motion.at(t).q, q, atol=1e-7)
    np.testing.assert_allclose(motion.at(t).tau[:, :3], 0.0, atol=2e-3)  # of 310 N
    np.testing.assert_allclose(motion.at(t).tau["ankle"], evaluator.torque(q, qd, qdd)[:, 3], atol=2e-3)
