"""Muscles in problems: what they need, what they give along a motion, and the same computed from their numbers."""

import warnings
from functools import partial
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.interpolate import KroghInterpolator
from scipy.optimize import brentq

import colloc as co
from colloc.models.two_link import two_link
from tests.support.random_trees import pin, pinocchio_tree

MODEL = two_link()
V = co.muscles.ViaPoint
RANGES = {"shoulder": (-0.5, 1.2), "elbow": (0.0, 2.2)}
RESERVES = {"shoulder": 10.0, "elbow": 10.0}
JOINT = {"shoulder_flexor": 0, "shoulder_extensor": 0, "elbow_flexor": 1, "elbow_extensor": 1}


def arm() -> list[co.muscles.Muscle]:
    """A flexor and an extensor a joint, with polynomials for paths."""
    upper, lower = ("shoulder", (-0.3, 0.03, 0.0)), ("shoulder", (-0.3, -0.03, 0.0))
    round_elbow = co.muscles.Cylinder("shoulder", (0, 0, 0), (0, 0, 1), 0.03)
    round_shoulder = co.muscles.Cylinder(None, (0, 0, 0), (0, 0, 1), 0.03)
    paths = {
        "elbow_flexor": ([V(*upper), V("elbow", (-0.35, 0.02, 0.0))], 1200.0, 0.15, 0.20),
        "elbow_extensor": ([V(*lower), round_elbow, V("elbow", (-0.35, -0.02, 0.0))], 1200.0, 0.15, 0.20),
        "shoulder_flexor": ([V(None, (-0.1, 0.05, 0.0)), V(*upper)], 2000.0, 0.10, 0.08),
        "shoulder_extensor": ([V(None, (-0.1, -0.05, 0.0)), round_shoulder, V(*lower)], 2000.0, 0.10, 0.08),
    }
    made = [co.muscles.Muscle(name, co.muscles.MusclePath(path), *numbers) for name, (path, *numbers) in paths.items()]
    return co.muscles.fit_lengths(MODEL, made, RANGES)


ARM = arm()


def reach(muscles: co.muscles.Muscles, *more: co.problem.Condition) -> co.Problem:
    effort = co.integral(lambda now: ca.sumsqr(now.activation) + 10 * ca.sumsqr(now.reserve))
    ends = [co.initial(q=(0.0, 0.5), qd=0), co.final(q=(0.3, 1.2), qd=0)]
    return co.Problem(MODEL, 0.6, effort, [*ends, *more], parts=[muscles])


def both_torques(muscles: co.muscles.Muscles, now: co.problem.Instant) -> ca.SX:
    torques = muscles.torques(now)
    return ca.vertcat(*(torques[joint] for joint in MODEL.joint_names))


@pytest.fixture(scope="module")
def rigid() -> tuple[co.muscles.Muscles, co.Solution]:
    muscles = co.muscles.Muscles(MODEL, ARM, activation="explicit", reserves=RESERVES)
    return muscles, co.solve(reach(muscles), co.Radau(20))


@pytest.fixture(scope="module")
def compliant() -> tuple[co.muscles.Muscles, co.Solution]:
    muscles = co.muscles.Muscles(MODEL, ARM, tendons="compliant", activation="explicit", reserves=RESERVES)
    return muscles, co.solve(reach(muscles, muscles.steady()), co.Radau(20))


def test_both_are_solved(rigid, compliant):
    for _, solution in (rigid, compliant):
        assert solution.status is co.solver.Status.SOLVED
    assert rigid[1].cost == pytest.approx(0.00284, rel=0.01)
    assert compliant[1].cost == pytest.approx(0.00262, rel=0.01)


@pytest.mark.parametrize("activation", ["implicit", "instantaneous"])
def test_the_kind_of_activation_hardly_matters_to_a_slow_motion(activation: str, rigid):
    muscles = co.muscles.Muscles(MODEL, ARM, activation=activation, reserves=RESERVES)
    solution = co.solve(reach(muscles), co.Radau(20))
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost == pytest.approx(rigid[1].cost, rel=3e-3)
    assert solution.cost < rigid[1].cost * (1 + 1e-4) or activation == "implicit"


@pytest.mark.parametrize("sharpness", [0.1, 50.0])
def test_activation_follows_as_sharply_as_said(sharpness: float):
    """De Groote et al. 2016, equations 1 and 2, in plain numbers."""
    muscles = co.muscles.Muscles(MODEL, ARM, activation="explicit", sharpness=sharpness)
    excitation, activation = np.array([0.9, 0.05, 0.3, 0.5]), np.array([0.2, 0.4, 0.31, 0.5])
    now: Any = SimpleNamespace(excitation=ca.SX(excitation), activation=ca.SX(activation))
    [state] = [unknown for unknown in muscles.contribution().unknowns if isinstance(unknown, co.State)]
    assert state.rate is not None
    rate = ca.evalf(ca.SX(state.rate(now)))
    expected = activation_rates(activation, excitation, sharpness)
    np.testing.assert_allclose(rate.full()[:, 0], expected, rtol=1e-12)


def test_a_sharpness_that_is_none_is_refused():
    with pytest.raises(co.InputError, match="sharpness must be"):
        co.muscles.Muscles(MODEL, ARM, sharpness=0.0)


def paths(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Lengths of the paths, rates of these and moment arms about the one joint that each crosses, shape (3, 4)."""
    rows = []
    for muscle in ARM:
        p, j = muscle.path, JOINT[muscle.name]
        x, powers = (q[j] - p.middle[0]) / p.half[0], p.powers[:, 0]
        arm_ = -(p.coefficients * powers) @ x ** np.maximum(powers - 1, 0) / p.half[0]
        rows.append((p.coefficients @ x**powers, -arm_ * qd[j], arm_))
    return np.array(rows).T


def fiber_force(muscle: co.muscles.Muscle, activation: float, length: float, velocity: float) -> float:
    """Along the fibers, in maximal isometric forces; of no pennation."""
    c, stretch, rate = muscle.curves, length / muscle.optimal_fiber_length, velocity
    return activation * c.active_force(stretch) * c.force_velocity(rate) + c.passive_force(stretch) + 0.01 * rate


def speed_limit(muscle: co.muscles.Muscle) -> float:
    """Of the fibers [m/s]."""
    return 10 * muscle.optimal_fiber_length


def tensions(q: np.ndarray, qd: np.ndarray, activation: np.ndarray) -> np.ndarray:
    """Of rigid tendons, in maximal isometric forces."""
    return np.array(
        [
            fiber_force(muscle, activation[k], length - muscle.tendon_slack_length, rate / speed_limit(muscle))
            for k, (muscle, length, rate) in enumerate(zip(ARM, *paths(q, qd)[:2], strict=True))
        ]
    )


def torques(q: np.ndarray, qd: np.ndarray, tension: np.ndarray, reserve: np.ndarray) -> np.ndarray:
    """Of muscles and reserves about both joints [N m]."""
    torque = 10.0 * reserve
    for k, muscle in enumerate(ARM):
        torque[JOINT[muscle.name]] += paths(q, qd)[2, k] * muscle.max_isometric_force * tension[k]
    return torque


def tension_rates(q: np.ndarray, qd: np.ndarray, activation: np.ndarray, tension: np.ndarray) -> np.ndarray:
    """Of compliant tendons [1/s]: at the velocity at which the fibers pull as hard as the tendon."""
    rates = []
    for k, (muscle, length, rate) in enumerate(zip(ARM, *paths(q, qd)[:2], strict=True)):
        c, slack = muscle.curves, muscle.tendon_slack_length
        fiber = length - slack * c.tendon_length(tension[k])
        pull = partial(fiber_force, muscle, activation[k], fiber)
        velocity: Any = brentq(lambda v, pull=pull, k=k: pull(v) - tension[k], -20.0, 20.0, xtol=1e-14)
        rates.append((rate - velocity * speed_limit(muscle)) * c.tendon_stiffness(tension[k]) / slack)
    return np.array(rates)


def activation_rates(activation: np.ndarray, excitation: np.ndarray, sharpness: float = 10.0) -> np.ndarray:
    """De Groote et al. 2016, equations 1 and 2 [1/s]."""
    share = 0.5 + 0.5 * np.tanh(sharpness * (excitation - activation))
    slowing = 0.5 + 1.5 * activation
    return (share / (0.015 * slowing) + (1 - share) * slowing / 0.060) * (excitation - activation)


def test_torques_are_forces_times_arms_by_plain_numbers(rigid):
    """Fibers and moment arms computed again, in NumPy, from the solution's signals alone."""
    muscles, solution = rigid
    for t in (0.11, 0.32, 0.5):
        now = solution.at(t)
        torque = torques(now.q, now.qd, tensions(now.q, now.qd, now.activation), now.reserve)
        np.testing.assert_allclose(now.tau, torque, atol=2e-2)  # N m, of 10: between collocation points
        np.testing.assert_allclose(solution.evaluate(partial(both_torques, muscles), t), torque, atol=1e-9)


@pytest.mark.parametrize("tendons", ["rigid", "compliant"])
@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_errors_of_a_coarse_motion_by_muscles_are_those_that_scipy_finds(tendons: str):
    """Excitations and reserves drive muscles and these the arm, in NumPy, Pinocchio's bodies and SciPy's steps."""
    muscles = co.muscles.Muscles(MODEL, ARM, tendons=tendons, activation="explicit", reserves=RESERVES)
    solution = co.solve(reach(muscles), co.Radau(4), progress=False)
    names = ("activation", "tension") if tendons == "compliant" else ("activation",)
    tree = pinocchio_tree(MODEL)
    data = tree.model.createData()

    def rates(t: float, x: np.ndarray, signals) -> np.ndarray:
        q, qd, activation, tension = x[:2], x[2:4], x[4:8], x[8:]
        if tendons == "compliant":
            tension_rate = tension_rates(q, qd, activation, tension)
        else:
            tension, tension_rate = tensions(q, qd, activation), x[:0]
        excitation, reserve = np.split(signals(t), [4])
        inputs = (tree.into(part) for part in (q, qd, torques(q, qd, tension, reserve)))
        qdd = tree.back(pin.aba(tree.model, data, *inputs))
        return np.concatenate([qd, qdd, activation_rates(activation, excitation), tension_rate])

    edges = solution.mesh_times
    at = solution.at(edges)
    ends = np.hstack([at.q, at.qd, *(getattr(at, name) for name in names)])
    whole, errors = ends[0], []
    for k in range(4):
        t = edges[k] + (edges[k + 1] - edges[k]) * (1 - np.cos(np.pi * (np.arange(25) + 0.5) / 25)) / 2
        now = solution.at(t)
        signals = KroghInterpolator(t, np.hstack([now.excitation, now.reserve]))
        both = [
            solve_ivp(rates, edges[k : k + 2], x, method="LSODA", rtol=1e-10, atol=1e-12, args=(signals,)).y[:, -1]
            for x in (ends[k], whole)
        ]
        whole = both[1]
        errors.append(np.abs(np.delete(both - ends[k + 1], [2, 3], axis=1)))
    check = co.verify(solution, tolerance=1e-10)
    local, carried = np.swapaxes(errors, 0, 1)
    assert local[:, :2].max() > 1e-4
    # States relative to their natural size, half their range but one at most, and the most they come to.
    now, natural = solution.at(np.linspace(0.0, 0.6, 2000)), {"activation": 0.495, "tension": 1.0}
    size = np.hstack([natural[name] + np.abs(getattr(now, name)).max(axis=0) for name in names])
    local[:, 2:] /= size
    carried[:, 2:] /= size
    assert check.local_errors == pytest.approx(local, rel=5e-4, abs=1e-8)
    assert check.joint_errors == pytest.approx(carried.max(axis=0), rel=5e-4, abs=1e-8)


def test_tendon_and_fibers_pull_alike_and_lose_no_power(compliant):
    muscles, solution = compliant
    times = np.linspace(0.05, 0.55, 11)
    fibers = {
        name: solution.evaluate(lambda now, name=name: getattr(muscles.fibers(now), name), times)
        for name in ("force", "cosine", "tendon_force", "fiber_power", "tendon_power", "path_velocity")
    }
    np.testing.assert_allclose(fibers["force"] * fibers["cosine"], fibers["tendon_force"], atol=3.0)  # N, of 2000
    left = fibers["fiber_power"] + fibers["tendon_power"] + fibers["tendon_force"] * fibers["path_velocity"]
    np.testing.assert_allclose(left, 0.0, atol=0.5)  # W
    energy = solution.evaluate(muscles.tendon_energy, [0.1, 0.5])
    t, w = np.polynomial.legendre.leggauss(60)
    power = solution.evaluate(lambda now: muscles.fibers(now).tendon_power, 0.3 + 0.2 * t)
    np.testing.assert_allclose(0.2 * w @ power, energy[0] - energy[1], atol=2e-3)  # J


def test_metabolic_rates_and_masses(rigid):
    muscles, solution = rigid
    rates = solution.evaluate(lambda now: muscles.metabolic_rate(now).total, np.linspace(0, 0.6, 13))
    assert rates.shape == (13, 4)
    assert (rates > 0.5 * muscles.masses).all()
    assert rates.max() < 200  # W


def test_blunt_corners_make_rates_less_by_what_is_said(rigid):
    muscles, solution = rigid
    sharp, blunt = (
        solution.evaluate(
            lambda now, sharpness=sharpness: muscles.metabolic_rate(now, sharpness=sharpness).total,
            np.linspace(0, 0.6, 61),
        )
        for sharpness in (1e4, 1.0)
    )
    assert (blunt - sharp).max() < 0.03  # W
    assert -0.3 < (blunt - sharp).min() < -0.1
    with pytest.raises(co.InputError, match="sharpness must be"):
        solution.evaluate(lambda now: muscles.metabolic_rate(now, sharpness=-1.0).total, 0.1)


def test_passive_torques_count(rigid):
    knee = co.muscles.HUMAN_JOINTS["knee"]
    assert knee(0.13, 2.0) == pytest.approx(-6.09 + 11.03 * np.exp(-11.33 * 2.53) - 0.2)
    muscles, solution = rigid
    bound = co.muscles.Muscles(MODEL, ARM, activation="explicit", reserves=RESERVES, passive={"elbow": knee})
    now = solution.at(0.2)
    torques = [solution.evaluate(partial(both_torques, group), 0.2) for group in (muscles, bound)]
    np.testing.assert_allclose(torques[1] - torques[0], [0.0, knee(now.q[1], now.qd[1])], rtol=1e-9)


def test_misuse():
    for arguments, message in [
        ({"muscles": []}, "with different names, got none"),
        ({"muscles": [ARM[0], ARM[0]]}, "elbow_flexor, elbow_flexor"),
        ({"tendons": "soft"}, "tendons must be"),
        ({"activation": "none"}, "activation must be"),
        ({"reserves": {"knee": 1.0}}, "joint that moves"),
        ({"reserves": {"elbow": -1.0}}, "reserve of 'elbow' must be"),
        ({"lower": -0.1}, "least activation must not be negative"),
    ]:
        with pytest.raises(co.InputError, match=message):
            co.muscles.Muscles(**{"model": MODEL, "muscles": ARM, **arguments})
    moving = co.muscles.Muscle("moving", lambda now: 0.3 + 0.01 * now.qd[0], 100.0, 0.1, 0.2)
    with pytest.raises(co.InputError, match="must depend on positions alone"):
        co.muscles.Muscles(MODEL, [moving]).driven  # noqa: B018
    with pytest.raises(co.InputError, match="optimal_fiber_length of muscle 'x' must be"):
        co.muscles.Muscle("x", lambda now: now.q[0], 100.0, -0.1, 0.2)


def one(path: co.muscles.MusclePath, fiber: float = 0.1, slack: float = 0.2, **numbers: Any) -> co.muscles.Muscle:
    return co.muscles.Muscle("biceps", path, 600.0, fiber, slack, **numbers)


def test_muscles_that_cannot_work_are_named_before_any_solve():
    point, forearm = co.muscles.ViaPoint, hinge()
    sound = co.muscles.MusclePath([point(None, (0.02, 0.28, 0)), point("forearm", (0.02, -0.045, 0))])
    fixed = co.muscles.MusclePath([point("forearm", (0.0, 0.1, 0)), point("forearm", (0.0, 0.2, 0))])
    for muscle, words in {
        one(sound, slack=1.0): r"biceps are -7\.\d+ to -6\.\d+ times .* is tendon_slack_length 1 m",
        one(sound, 160.0, 170.0): r"biceps are -1\.\d+ to -1\.\d+ times .* tendon_slack_length 170 m",
        one(sound, 0.1, 0.01): r"biceps are [23]\.\d+ to [23]\.\d+ times",
        one(fixed): "no joint stretches biceps: are all points on bodies that move together",
    }.items():
        with pytest.warns(co.support.InputWarning, match=words):
            co.muscles.Muscles(forearm, [muscle])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        co.muscles.Muscles(forearm, [one(sound, slack=0.17)])
    with pytest.raises(co.InputError, match=r"pennation of muscle 'biceps' must be from 0 to below pi/2 rad, got 20"):
        one(sound, pennation=20)
    with pytest.warns(co.support.InputWarning, match="activation_time of muscle 'biceps' is 15 s: milliseconds"):
        one(sound, activation_time=15.0)


def hinge() -> co.Model:
    joint = co.revolute(limits=co.Limits(position=(0.0, 2.4)))
    return co.Model([co.Body("forearm", joint, mass=1.5, com=(0, -0.15, 0), inertia=(0.02, 0.001, 0.02))])


def stretched_trunk() -> co.muscles.Muscles:
    """An extensor that a trunk stretches too far between 0.2 and 1.4 rad, by its fibers and tendon, not elsewhere."""
    hinge = co.revolute(name="lumbar", limits=co.Limits(position=(-0.5, 1.9)))
    trunk = co.Body("trunk", hinge, mass=30.0, com=(0.25, 0.0, 0.0), inertia=(0.1, 1.0, 1.0))
    path = co.muscles.MusclePath([V(None, (-0.06, -0.1, 0.0)), V("trunk", (0.25, 0.06, 0.0))])
    return co.muscles.Muscles(
        co.Model([trunk]), [co.muscles.Muscle("erector", path, 7000.0, 0.12, 0.16)], reserves={"lumbar": 10.0}
    )


def test_fibers_out_of_range_at_the_guess_are_named_before_a_solve_and_where_it_fails():
    part = stretched_trunk()  # without a warning: some postures within the limits are good
    effort = co.integral(lambda now: ca.sumsqr(now.activation))

    def bend(start: float) -> co.Problem:
        return co.Problem(part.model, 0.5, effort, [co.initial(q=start, qd=0.0), co.final(q=0.8, qd=0.0)], parts=[part])

    motion = {"plan": [co.refinement.Solve(between="nodes")], "progress": False}
    with (
        pytest.warns(co.support.InputWarning, match=r"erector are 1.729 to 1.781 times .* all along the"),
        pytest.raises(co.SolveError, match=r"all along the guess, and usable from 0.4 to 1.6: is"),
    ):
        co.solve(bend(0.4), co.Radau(6), **motion)
    with pytest.raises(co.SolveError) as failed:
        co.solve(bend(-0.4), co.Radau(6), **motion)
    assert "fibers of erector are 1.781 times their optimal length at the end of the guess" in str(failed.value)
    assert "at the start" not in str(failed.value)
