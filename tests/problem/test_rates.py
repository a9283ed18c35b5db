"""Jerk and torque rates: closed forms, Pinocchio, differences of the torque, derivatives, and what is refused."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.chains.serial import planar_chain, spatial_chain
from colloc.models.two_link import two_link
from colloc.solution.as_guess import trajectory_of
from tests.support.problems import effort, everything
from tests.support.random_trees import pin, pinocchio_tree, random_tree

MASS = 2.0


def mass() -> co.Model:
    return co.Model([co.Body("mass", co.prismatic((1, 0, 0)), mass=MASS)], gravity=(0, 0, 0))


def at_rest(start: float, goal: float) -> list:
    return [co.initial(q=start, qd=0, qdd=0), co.final(q=goal, qd=0, qdd=0)]


@pytest.mark.parametrize(("curve", "rel"), [(co.BSpline(20, degree=5), 1e-9), (co.HermiteSimpson(20), 1e-5)], ids=str)
def test_minimum_jerk_is_flash_and_hogans(curve, rel: float):
    """q = 10 s^3 - 15 s^4 + 6 s^5 (Flash and Hogan 1985), whose squared jerk integrates to 720."""
    squared = co.integral(lambda now: ca.sumsqr(now.jerk))
    solution = co.solve(co.Problem(mass(), 1.0, squared, at_rest(0, 1)), curve, progress=False)
    assert solution.cost == pytest.approx(720, rel=rel)
    t = np.linspace(0, 1, 33)
    assert solution.at(t).q[:, 0] == pytest.approx(10 * t**3 - 15 * t**4 + 6 * t**5, abs=10 * rel)
    jerk, rate = solution.evaluate(lambda now: (now.jerk, now.tau_rate), t)
    assert rate == pytest.approx(MASS * jerk, rel=1e-12)
    if curve.basis.degree == 5:
        assert jerk == pytest.approx(60 - 360 * t + 360 * t**2, abs=1e-5)


def test_without_a_curve_one_is_chosen_on_which_accelerations_do_not_jump():
    squared = co.integral(lambda now: ca.sumsqr(now.jerk))
    solution = co.solve(co.Problem(mass(), 1.0, squared, at_rest(0, 1)), progress=False)
    assert solution.cost == pytest.approx(720, rel=1e-3)


# Bounds on velocity, acceleration and jerk, the distance, and the lengths of the phases of constant jerk.
COAST = np.sqrt(0.25**2 + 4 * 1.5 / 2) / 2 - 0.25 * 3 / 2
PROFILES = {
    "all": ((1.0, 2.0, 8.0), 2.0, [0.25, 0.25, 0.25, 1.25, 0.25, 0.25, 0.25]),  # distance / 1 + 1 / 2 + 2 / 8 in all
    "no cruise": ((9.0, 2.0, 8.0), 1.5, [0.25, COAST, 0.25, 0.25, COAST, 0.25]),
    "jerk alone": ((9.0, 9.0, 8.0), 0.25, [np.cbrt(0.25 / 16)] * 4),
}


@pytest.mark.parametrize("curve", [{"degree": 3}, {"degree": 4, "continuity": 2}], ids=["cubic", "quartic"])
@pytest.mark.parametrize("by_torque", [False, True], ids=["jerk", "torque rate"])
@pytest.mark.parametrize("profile", PROFILES)
def test_fastest_motions_of_limited_jerk_are_the_textbooks(profile: str, by_torque: bool, curve):
    """Phases of constant jerk (Biagiotti and Melchiorri 2008, section 3.4), which splines through them contain."""
    (speed, acceleration, jerk), distance, phases = PROFILES[profile]
    held = {"tau_rate": (-MASS * jerk, MASS * jerk)} if by_torque else {"jerk": (-jerk, jerk)}
    bounds = co.bounds(qd=(-speed, speed), qdd=(-acceleration, acceleration), **held)
    problem = co.Problem(mass(), co.Free(0.1, 10, 3), co.duration(), [*at_rest(0, distance), bounds])
    ends = np.append(0, np.cumsum(phases))
    solution = co.solve(problem, co.BSpline(breakpoints=ends / ends[-1], **curve), progress=False)
    assert solution.success
    assert solution.duration == pytest.approx(ends[-1], rel=1e-6)


@pytest.mark.parametrize(
    ("start", "goal", "speed", "acceleration", "jerk", "rate", "duration"),
    [
        ((-0.83, -0.61), (-0.57, 0.72), (0.45, 0.66), (2.5, 3.5), (39, 30), (-0.13, 0.03), 2.309361471861472),
        ((-0.22, 0.03), (-0.14, 0.17), (1.2, 1.4), (1.9, 2.9), (29, 15), (-0.59, 0.69), 1.0134260187391628),
        ((-0.83, -0.53), (0.6, 0.16), (0.41, 0.82), (2.4, 1.5), (31, 9), (0, 0), 3.7360575662208233),
    ],
)
def test_two_slides_of_limited_jerk_are_as_fast_as_ruckigs(
    start, goal, speed, acceleration, jerk, rate, duration: float
):
    """Durations by ruckig 0.19.4 (Berscheid and Kroeger 2021); the curve knows nothing of their phases."""
    slides = co.Model(
        [co.Body(name, co.prismatic(axis), mass=1.0) for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0)))]
    )
    v, a, j = (np.array(bound) for bound in (speed, acceleration, jerk))
    held = co.bounds(qd=(-v, v), qdd=(-a, a), jerk=(-j, j))
    ends = [co.initial(q=start, qd=rate, qdd=0), co.final(q=goal, qd=0, qdd=0)]
    problem = co.Problem(slides, co.Free(0.05, 20, 2 * duration), co.duration(), [*ends, held])
    solution = co.solve(problem, co.BSpline(20), tol=1e-4, progress=False)
    assert solution.success
    assert 0 < solution.duration / duration - 1 < 1e-4


@pytest.mark.parametrize("dynamics", [co.dynamics.newton_euler, co.dynamics.lagrange, co.dynamics.lie])
def test_torque_rates_are_those_of_the_torque(dynamics):
    """With loads that vary with time, posture, velocity and unknown signals, in joints of all kinds."""
    nlp = co.transcribe(everything(), co.BSpline(8, degree=5), dynamics)
    solution = co.solve(nlp, progress=False, plan=[co.refinement.Solve(tol=10.0)])
    t, h = np.linspace(0.03, 0.97, 15) * solution.duration, 1e-5 * solution.duration
    far, near = ((solution.at(t + k * h).tau - solution.at(t - k * h).tau) / (2 * k * h) for k in (2, 1))
    rate = solution.evaluate(lambda now: now.tau_rate, t)
    assert rate == pytest.approx((4 * near - far) / 3, abs=1e-6 * np.abs(rate).max())
    jerk = solution.evaluate(lambda now: now.jerk, t)
    assert jerk == pytest.approx((solution.at(t + h).qdd - solution.at(t - h).qdd) / (2 * h), abs=1e-3)


@pytest.mark.parametrize("seed", range(6))
def test_torque_rates_agree_with_pinocchio(seed: int):
    """dtau/dt = dtau/dq qd + dtau/dqd qdd + M jerk."""
    model = random_tree(np.random.default_rng(seed), 4, virtual=False)
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.jerk)), at_rest(0.2, 1.1))
    solution = co.solve(problem, co.BSpline(4, degree=5), progress=False)
    tree = pinocchio_tree(model)
    data, t = tree.model.createData(), 0.31
    now, jerk = solution.at(t), solution.evaluate(lambda now: now.jerk, t)
    q, qd, qdd, jerk = (tree.into(value) for value in (now.q, now.qd, now.qdd, jerk))
    dq, dqd, M = pin.computeRNEADerivatives(tree.model, data, q, qd, qdd)
    M = np.triu(M) + np.triu(M, 1).T
    expected = tree.back(dq @ qd + dqd @ qdd + M @ jerk)
    found = solution.evaluate(lambda now: now.tau_rate, t)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * np.abs(expected).max())


def limited(model: co.Model, *more, **bounds) -> co.Problem:
    return co.Problem(
        model,
        co.Free(0.2, 3.0, 1.0),
        co.duration() + 1e-3 * co.integral(effort) + 1e-7 * co.integral(lambda now: ca.sumsqr(now.tau_rate)),
        [co.initial(q=0.1, qd=0), co.final(q=0.9, qd=0), *more, co.bounds(**bounds)],
    )


@pytest.mark.parametrize("sensitivities", [None, co.dynamics.composite_sensitivities])
def test_derivatives_are_exact(sensitivities):
    problem = limited(
        spatial_chain(3),
        co.path(lambda now: now.jerk[0] * now.tau_rate[1] + now.tau[2], upper=1e4, during=(0.2, 0.8)),
        co.at(0.4, lambda now: now.tau_rate[2], upper=1e4),
        co.boundary(lambda start, end: end.tau_rate - start.jerk, upper=1e4),
        jerk=(-3e3, 3e3),
        tau_rate=(-1e3, 1e3),
    )
    nlp = co.transcribe(problem, co.BSpline(5, degree=5), sensitivities=sensitivities)
    x = nlp.grid.interpolate(
        trajectory_of(co.solve(nlp, progress=False, plan=[co.refinement.Solve(tol=10.0)]), problem)
    )
    x += 1e-3 * np.random.default_rng(0).standard_normal(x.size)
    for kind, error in nlp.check_derivatives(x).items():
        assert error < 1e-6, kind


def test_bounds_on_an_arm_hold_between_the_nodes():
    """Jerk at all times, by its control points; torque rates at the nodes, and nearly so between them."""
    ends = [co.initial(q=(0, -1), qd=0, qdd=0), co.final(q=(1, 0.5), qd=0, qdd=0)]
    held = co.bounds(jerk=(-300, 300), tau_rate={"elbow": (-60, 60)}, tau=(-20, 20))
    problem = co.Problem(two_link(9.81), co.Free(0.2, 3, 1), co.duration(), [*ends, held])
    solution = co.solve(problem, co.BSpline(20, degree=5), progress=False)
    jerk, rate = solution.evaluate(lambda now: (now.jerk, now.tau_rate), np.linspace(0, solution.duration, 997))
    assert np.abs(jerk).max() == pytest.approx(300, rel=1e-2)
    assert np.abs(jerk).max() < 300 * (1 + 1e-6)
    assert np.abs(rate[:, 1]).max() == pytest.approx(60, rel=1e-2)
    rows = {v.row: v.unit for v in solution.violations}
    assert rows["jerk[shoulder]"] == "rad/s3"
    assert rows["tau_rate[elbow]"] == "N m/s"


def test_bounds_during_a_part_hold_there():
    problem = co.Problem(
        mass(),
        1.0,
        co.integral(lambda now: ca.sumsqr(now.jerk)),
        [*at_rest(0, 1), co.bounds(jerk=(-20, 20), during=(0.4, 0.6))],
    )
    solution = co.solve(problem, co.BSpline(10, degree=5), progress=False)
    inside, outside = np.linspace(0.4, 0.6, 50), np.linspace(0, 0.3, 50)
    assert np.abs(solution.evaluate(lambda now: now.jerk, inside)).max() < 20 + 1e-6
    assert np.abs(solution.evaluate(lambda now: now.jerk, outside)).max() > 60


def test_who_asks_for_no_rates_has_no_variables_for_them():
    plain = co.Problem(planar_chain(2), 1.0, co.integral(effort), at_rest(0, 1))
    nlp = co.transcribe(plain, co.BSpline(5))
    assert not nlp.grid.rates
    assert nlp.costs[0].sites.local.w.shape == (6, 1)  # q, qd and qdd of two joints
    # Their values are there all the same.
    solution = co.solve(plain, co.BSpline(5), progress=False, plan=[co.refinement.Solve(tol=10.0)])
    assert solution.evaluate(lambda now: now.jerk).shape == solution.q.shape


@pytest.mark.parametrize("curve", [co.Radau(10), co.BSpline(10, degree=5, continuity=1)], ids=str)
def test_jumping_accelerations_are_refused(curve):
    problem = co.Problem(mass(), 1.0, co.integral(effort), [*at_rest(0, 1), co.bounds(jerk=(-99, 99))])
    with pytest.raises(co.InputError, match=r"continuous accelerations.*BSpline\(20, degree=5\)"):
        co.transcribe(problem, curve)
    with pytest.raises(co.InputError, match=r"continuous accelerations"):
        co.transcribe(co.Problem(mass(), 1.0, co.integral(lambda now: now.tau_rate[0] ** 2), at_rest(0, 1)), curve)


def test_misuse_is_explained():
    with pytest.raises(co.InputError, match="at least one of q, qd, qdd, jerk, tau, tau_rate"):
        co.bounds()
    load = co.Load("mass", force=lambda now: ca.vertcat(now.jerk, 0, 0))
    with pytest.raises(co.InputError, match="load on 'mass' depends on jerk, or on rates of torques"):
        co.Problem(mass(), 1.0, co.integral(effort), loads=[load])
    with pytest.raises(co.InputError, match="jerk is known along the motion of a problem only"):
        co.Evaluator(mass(), loads=[load])
    with pytest.raises(co.InputError, match="bounds on jerk"):
        co.Problem(mass(), 1.0, co.integral(effort), [co.bounds(jerk=(1, 2)), co.bounds(jerk=(3, 4))])
