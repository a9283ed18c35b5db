"""Ball joints on a quaternion: four positions, three velocities about the link's axes, and no gimbal lock."""

from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pinocchio
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.model.kinematics import point_motion

dynamics = co.dynamics
pin: Any = pinocchio  # its names are not typed, nor MuJoCo's
mj: Any = mujoco


def random_tree(rng: np.random.Generator) -> tuple[co.Model, Any]:
    """Balls and hinges on each other, here and in Pinocchio."""
    gravity, bodies, theirs = (0.3, -9.81, 1.0), [], pin.Model()
    theirs.gravity.linear = np.array(gravity)
    for k, (kind, parent) in enumerate([("ball", -1), ("hinge", 0), ("ball", 1), ("ball", 1), ("hinge", 3)]):
        place = co.placement(rng.normal(size=3), rng.uniform(-1, 1, 3))
        spread = rng.normal(size=(3, 3))
        tensor = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        mass, com, T = rng.uniform(1, 3), rng.normal(size=3), np.array(ca.DM(place))
        joint = pin.JointModelSpherical() if kind == "ball" else pin.JointModelRZ()
        number = theirs.addJoint(parent + 1, joint, pin.SE3(T[:3, :3], T[:3, 3]), f"b{k}")
        theirs.appendBodyToJoint(number, pin.Inertia(mass, com, tensor), pin.SE3.Identity())
        spec, of = {"mass": mass, "com": com, "inertia": tensor}, None if parent < 0 else f"b{parent}"
        hinge = co.Body(f"b{k}", co.revolute((0, 0, 1), place, name=f"b{k}"), of, **spec)
        ball = co.spherical(f"b{k}", place, parent=of, sequence="quaternion", **spec)
        bodies += ball if kind == "ball" else [hinge]
    return co.Model(bodies, gravity), theirs


def test_all_formulations_take_a_ball_joint_as_pinocchio_does():
    rng = np.random.default_rng(5)
    model, theirs = random_tree(rng)
    data = theirs.createData()
    assert (model.n, model.n_q) == (theirs.nv, theirs.nq) == (11, 14)
    q, v, a = pin.randomConfiguration(theirs, -np.ones(14), np.ones(14)), rng.normal(size=11), rng.normal(size=11)
    ours = q.copy()
    for joint in theirs.joints:
        if joint.nq == 4:  # (x, y, z, w) there, of length one
            part = slice(joint.idx_q, joint.idx_q + 4)
            ours[part] = np.roll(q[part], 1) * rng.uniform(0.5, 2)
    expected = pin.rnea(theirs, data, q, v, a)
    upper = np.triu(pin.crba(theirs, data, q))
    mass = upper + np.triu(upper, 1).T
    symbols = ca.SX.sym("q", 14), ca.SX.sym("v", 11), ca.SX.sym("a", 11)

    def value(expression: ca.SX, third: np.ndarray = a) -> np.ndarray:
        return np.array(ca.Function("f", symbols, [expression])(ours, v, third)).squeeze()

    size = np.abs(expected).max()
    for name in ("newton_euler", "lagrange", "lie", "regular_lagrange"):
        assert np.abs(value(getattr(dynamics, name)(model, *symbols)) - expected).max() < 1e-12 * size
    recursions = ("composite", "newton_euler", "lagrange", "lie")
    for slopes in (getattr(dynamics, f"{name}_sensitivities")(model, *symbols) for name in recursions):
        assert np.abs(value(slopes.tau) - expected).max() < 1e-12 * size
        assert np.abs(value(ca.densify(slopes.dqdd)) - mass).max() < 1e-12 * np.abs(mass).max()
    assert value(dynamics.forward_dynamics(model, *symbols), expected) == pytest.approx(a, rel=1e-9)
    load = [co.Load("b2", (1, -2, 3), (0.5, 0.2, -0.4), (0.1, 0.2, 0.3))]
    loaded = [value(getattr(dynamics, name)(model, *symbols, load)) for name in ("newton_euler", "lagrange", "lie")]
    assert np.array(loaded[1:]) == pytest.approx(np.array([loaded[0]] * 2), rel=1e-10)


def test_velocities_are_those_with_which_points_move():
    model, _ = random_tree(np.random.default_rng(6))
    q, v, a = symbols = ca.SX.sym("q", 14), ca.SX.sym("v", 11), ca.SX.sym("a", 11)
    point = (0.1, 0.2, 0.3)
    motion = point_motion(model, "b4", point, q=q, qd=v, qdd=a)
    rate = model.position_rates(q, v)
    differences = [
        ca.jacobian(motion.position, q) @ rate - motion.velocity,
        ca.jacobian(motion.velocity, q) @ rate + ca.jacobian(motion.velocity, v) @ a - motion.acceleration,
        dynamics.point_jacobian(model, "b4", point, q).linear @ v - motion.velocity,
        model.velocities(q, rate)[0] - v,
    ]
    numbers = np.random.default_rng(7).normal(size=36)
    off = ca.Function("f", symbols, [ca.vertcat(*differences)])(numbers[:14], numbers[14:25], numbers[25:])
    assert np.abs(np.array(off)).max() < 1e-11


def floating_arm() -> tuple[co.Model, str]:
    """A base that moves freely with a hinge and a ball joint on it, here and as MuJoCo's XML."""
    base = {"mass": 2.0, "com": (0.1, -0.05, 0.2), "inertia": (0.3, 0.2, 0.4)}
    arm, hand = {"mass": 1.0, "com": (0.3, 0, 0), "inertia": (0.01, 0.05, 0.05)}, {"mass": 0.5, "com": (0.1, 0, 0.02)}
    bodies = [
        *co.floating("base", sequence="quaternion", **base),
        co.Body("arm", co.revolute((0, 1, 0), co.placement((0.2, 0.1, 0))), "base", **arm),
        *co.spherical("hand", co.placement((0.6, 0, 0)), parent="arm", sequence="quaternion",
                      inertia=(0.01, 0.02, 0.03), **hand),
    ]  # fmt: skip
    xml = """<mujoco><option gravity="0 0 -9.81"/><worldbody><body name="base"><freejoint/>
      <inertial mass="2" pos="0.1 -0.05 0.2" diaginertia="0.3 0.2 0.4"/>
      <body name="arm" pos="0.2 0.1 0"><joint type="hinge" axis="0 1 0"/>
        <inertial mass="1" pos="0.3 0 0" diaginertia="0.01 0.05 0.05"/>
        <body name="hand" pos="0.6 0 0"><joint type="ball"/>
          <inertial mass="0.5" pos="0.1 0 0.02" diaginertia="0.01 0.02 0.03"/>
    </body></body></body></worldbody></mujoco>"""
    return co.Model(bodies, (0, 0, -9.81)), xml


def test_a_floating_arm_is_mujocos_with_a_free_joint():
    model, xml = floating_arm()
    theirs = mj.MjModel.from_xml_string(xml)
    data, rng, ours = mj.MjData(theirs), np.random.default_rng(1), co.Evaluator(model)
    for _ in range(5):
        q, qd, qdd = rng.normal(size=12), rng.normal(size=10), rng.normal(size=10)
        for places, _ in model.balls.values():
            q[places] /= np.linalg.norm(q[places])
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mj.mj_inverse(theirs, data)
        mass = np.zeros((10, 10))
        mj.mj_fullM(theirs, data, mass) if mj.__version__ >= "3.3.8" else mj.mj_fullM(theirs, mass, data.qM)
        assert np.abs(ours.torque(q, qd, qdd) - data.qfrc_inverse).max() < 1e-11 * np.abs(data.qfrc_inverse).max()
        assert np.abs(ours.mass_matrix(q) - mass).max() < 1e-11 * mass.max()
        assert ours.forward_dynamics(q, qd, data.qfrc_inverse) == pytest.approx(qdd, rel=1e-9)


def test_a_floating_body_is_pinocchios_free_flyer():
    inertia, com, rng = np.array([0.3, 0.2, 0.4]), np.array([0.1, -0.05, 0.2]), np.random.default_rng(2)
    theirs = pin.Model()
    number = theirs.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    theirs.appendBodyToJoint(number, pin.Inertia(2.0, com, np.diag(inertia)), pin.SE3.Identity())
    data = theirs.createData()
    ours = co.Evaluator(co.Model(co.floating("base", sequence="quaternion", mass=2.0, com=com, inertia=inertia),
                                 (0, 0, -9.81)))  # fmt: skip
    place, turn = rng.normal(size=3), Rotation.from_quat(rng.normal(size=4))
    R, v, omega, a, alpha = turn.as_matrix(), *rng.normal(size=(4, 3))
    # Theirs are velocities along the axes of the body, of which the acceleration is that of the components.
    spatial = np.concatenate([R.T @ a - np.cross(omega, R.T @ v), alpha])
    q = np.concatenate([place, turn.as_quat()])
    expected = pin.rnea(theirs, data, q, np.concatenate([R.T @ v, omega]), spatial)
    tau = ours.torque(np.concatenate([place, np.roll(turn.as_quat(), 1)]), np.append(v, omega), np.append(a, alpha))
    assert np.append(R.T @ tau[:3], tau[3:]) == pytest.approx(expected, rel=1e-11)
    mass = ours.mass_matrix(np.concatenate([place, np.roll(turn.as_quat(), 1)]))
    to_world = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), np.eye(3)]])
    assert to_world.T @ mass @ to_world == pytest.approx(pin.crba(theirs, data, q), abs=1e-11)


def test_derivatives_by_displacements_are_differences():
    model, _ = floating_arm()
    rng, ours, h = np.random.default_rng(4), co.Evaluator(model), 1e-5
    q, qd, qdd = rng.normal(size=12), rng.normal(size=10), rng.normal(size=10)
    symbol = ca.SX.sym("q", 12)
    moves = np.array(ca.Function("moves", [symbol], [ca.densify(model.per_displacement(symbol))])(q))
    slopes = ours.sensitivities(q, qd, qdd)
    for j in range(10):
        step, moved = h * np.eye(10)[j], h * moves[:, j]
        differences = [
            (ours.torque(*(x + d for x, d in zip((q, qd, qdd), ends, strict=True)))
             - ours.torque(*(x - d for x, d in zip((q, qd, qdd), ends, strict=True)))) / (2 * h)
            for ends in ((moved, 0, 0), (0 * q, step, 0 * step), (0 * q, 0 * step, step))
        ]  # fmt: skip
        for slope, difference in zip((slopes.dq, slopes.dqd, slopes.dqdd), differences, strict=True):
            assert slope[:, j] == pytest.approx(difference, abs=1e-7)


def test_the_hessian_of_torques_bends_along_turns_about_one_axis():
    """Second differences of the torque, in directions of displacements, velocities and accelerations together."""
    model, _ = floating_arm()
    rng, h = np.random.default_rng(14), 1e-3
    q, weights = model.of_unit_length(rng.normal(size=12)), rng.normal(size=10)
    rates, ours = rng.normal(size=20), co.Evaluator(model)
    symbols = x, v, a = ca.SX.sym("q", 12), ca.SX.sym("v", 10), ca.SX.sym("a", 10)
    hessian = dynamics.total_hessian(dynamics.lie_hessian, model, x, v, a, ca.SX(weights))
    for stretch in (1.0, 1.7):
        values = stretch * q[3:7], rates[:10], rates[10:]
        found = np.array(
            ca.Function("f", [*symbols], [ca.densify(hessian)])(np.r_[q[:3], values[0], q[7:]], *values[1:])
        )
        assert found.shape == (30, 30)
        for direction in rng.normal(size=(10, 30)):
            turn, change = np.split(direction, [10])
            along = [
                weights @ ours.torque(model.displaced(q, step * turn), *np.split(rates + step * change, 2))
                for step in (-2 * h, -h, 0.0, h, 2 * h)
            ]
            bend = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) @ along / (12 * h**2)
            assert direction @ found @ direction == pytest.approx(bend, rel=1e-6, abs=1e-5)


def test_a_tumbling_body_keeps_momentum_and_energy_through_every_attitude():
    """Near the middle axis a body turns over again and again (Dzhanibekov), which three angles do not survive."""
    inertia = np.array([0.3, 0.2, 0.4])
    model = co.Model(co.floating("body", sequence="quaternion", mass=1.5, inertia=inertia), (0, 0, 0))
    now = co.Evaluator(model)
    q, qd = ca.SX.sym("q", 7), ca.SX.sym("qd", 6)
    rate = ca.Function(
        "rate", [q, qd], [model.position_rates(q, qd), co.dynamics.forward_dynamics(model, q, qd, 0 * qd)]
    )
    measures = ca.Function(
        "measures", [q, qd], [*co.dynamics.momentum(model, q, qd), co.dynamics.kinetic_energy(model, q, qd)]
    )

    def motion(_: float, state: np.ndarray) -> np.ndarray:
        return np.concatenate([np.array(part).ravel() for part in rate(state[:7], state[7:])])

    start = np.concatenate([[0.1, 0.2, 0.3], [1, 0, 0, 0], [0.5, 0.4, -0.3], [3.0, 0.02, 0.01]])
    run = solve_ivp(motion, (0, 20), start, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=np.linspace(0, 20, 101))
    values = np.array([np.concatenate([np.array(p).ravel() for p in measures(y[:7], y[7:])]) for y in run.y.T])
    assert np.abs(values - values[0]).max() < 1e-9
    attitudes = Rotation.from_quat(np.roll(run.y[3:7].T, -1, axis=1))
    assert attitudes.as_matrix()[:, 0, 0].min() < -0.9  # it turned over
    # Euler's equations on their own.
    euler = solve_ivp(
        lambda _, w: np.cross(inertia * w, w) / inertia, (0, 20), start[10:], "DOP853", run.t, rtol=1e-12, atol=1e-13
    )
    assert run.y[10:] == pytest.approx(euler.y, abs=1e-9)
    assert now.torque(run.y[:7].T, run.y[7:].T, np.zeros((101, 6)))[:, :3] == pytest.approx(0, abs=1e-12)


def test_a_body_is_turned_as_eulers_equations_say():
    inertia, angle, axis = np.array([0.3, 0.2, 0.4]), 2.5, np.array([1.0, 2.0, 3.0]) / np.sqrt(14)
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=inertia), (0, 0, 0))
    end = np.append(np.cos(angle / 2), np.sin(angle / 2) * axis)
    ends = [co.initial(q=model.neutral, qd=0.0), co.final(q=end, qd=0.0)]
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    solution = co.solve(problem, co.BSpline(12, degree=5), progress=False, tol=1e-3)
    assert solution.cost < 12 * angle**2 * ((inertia * axis) ** 2).sum()  # about the axis between its ends

    def omega(t: float, h: float = 1e-4) -> np.ndarray:
        first, last = (Rotation.from_quat(np.roll(np.asarray(solution.at(t + d).q), -1)) for d in (-h, h))
        return (first.inv() * last).as_rotvec() / (2 * h)

    t, h = 0.37, 1e-4
    momentum_rate = inertia * (omega(t + h) - omega(t - h)) / (2 * h) + np.cross(omega(t), inertia * omega(t))
    sample = solution.at(t)
    assert np.asarray(sample.qd) == pytest.approx(omega(t), abs=1e-6)
    assert np.asarray(sample.tau) == pytest.approx(momentum_rate, abs=1e-5)
    assert (solution.qd["top_rz"][-1], solution.q["top_qw"][-1]) == pytest.approx((0.0, end[0]), abs=1e-9)


def test_a_motion_without_torque_is_the_tumbling_that_scipy_integrates():
    inertia, start = np.array([0.3, 0.2, 0.4]), np.array([3.0, 0.5, 0.4])
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=inertia), (0, 0, 0))
    free = [co.initial(q=model.neutral, qd=start), co.bounds(tau=(0.0, 0.0))]
    solution = co.solve(co.Problem(model, 2.0, subject_to=free), co.BSpline(40, degree=7), progress=False)

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        w, u, omega = y[0], y[1:4], y[4:]
        turn = np.append(-u @ omega, w * omega + np.cross(u, omega)) / 2
        return np.append(turn, np.cross(inertia * omega, omega) / inertia)

    t = np.linspace(0, 2, 41)
    run = solve_ivp(rates, (0, 2), np.append(model.neutral, start), "DOP853", t, rtol=1e-12, atol=1e-13)
    sample = solution.at(t)
    assert np.asarray(sample.q) == pytest.approx(run.y[:4].T, abs=1e-8)
    assert np.asarray(sample.qd) == pytest.approx(run.y[4:].T, abs=1e-7)
    momentum = solution.evaluate(lambda now: co.dynamics.momentum(model, now.q, now.qd).angular, t)
    assert np.abs(momentum - momentum[0]).max() < 1e-8
    check = co.verify(solution)
    assert check.forward_error < 1e-7
    assert check.local_error < 1e-8


def turned(curve: co.curves.Transcription, **arguments: Any) -> co.Solution:
    """A body turned from rest to rest."""
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)), (0, 0, 0))
    ends = [co.initial(q=model.neutral, qd=0.0), co.final(q=(0.6, 0.0, 0.48, 0.64), qd=0.0)]
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    return co.solve(problem, curve, progress=False, **arguments)


@pytest.mark.parametrize("curve", [co.BSpline(12, degree=5), co.HermiteSimpson(16), co.Radau(10)])
def test_every_curve_keeps_the_length_and_passes_verification(curve: co.curves.Transcription):
    solution, best = turned(curve), turned(co.BSpline(24, degree=6))
    assert solution.cost == pytest.approx(best.cost, rel=1e-5)
    t = np.linspace(0, 1, 101)
    assert np.linalg.norm(solution.at(t).q, axis=1) == pytest.approx(1, abs=1e-5)
    check = co.verify(solution)
    assert check.forward_error < 1e-7
    assert check.kkt.stationarity < 1e-6


def test_a_certificate_knows_that_the_length_of_a_quaternion_costs_nothing():
    certificate = co.optimality.certify(turned(co.BSpline(14, degree=6)))
    assert certificate.passed
    for line in ("minimum principle", "Hamiltonian, constant", "transversality", "local minimum"):
        assert certificate[line].passed


def test_files_keep_positions_and_velocities_apart(tmp_path: Any):
    solution = turned(co.BSpline(10, degree=5))
    co.save(solution, tmp_path / "turned.npz")
    loaded = co.load(tmp_path / "turned.npz", solution.problem)
    assert np.array_equal(loaded.q, solution.q)
    assert (loaded.q.shape[1], loaded.qd.shape[1]) == (4, 3)
    angles = co.Model(co.spherical("top", sequence="xyz", mass=1.0, inertia=(0.3, 0.2, 0.4)), (0, 0, 0))
    other = co.Problem(angles, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)))
    with pytest.raises(co.InputError, match="positions"):
        co.load(tmp_path / "turned.npz", other)
    names = co.storage.coordinate_table(solution).names
    assert names == ("top_qw", "top_qx", "top_qy", "top_qz")


def test_derivatives_of_reactions_are_those_by_small_turns():
    """Against differences of eighth order of the reactions, with a load that follows the hand."""
    model, _ = floating_arm()
    drag = co.Load("hand", force=lambda now: -0.5 * now.point("hand").velocity, point=(0.1, 0, 0))
    evaluator, rng = co.Evaluator(model, loads=[drag]), np.random.default_rng(6)
    q, (qd, qdd) = model.of_unit_length(rng.normal(size=12)), rng.normal(size=(2, 10))
    slopes = evaluator.reaction_sensitivities(q, qd, qdd)
    exact = evaluator.reactions(q, qd, qdd)
    np.testing.assert_allclose(slopes.reactions.force, exact.force, atol=1e-12)
    moved = {
        "dq": lambda x: (model.displaced(q, x), qd, qdd),
        "dqd": lambda x: (q, qd + x, qdd),
        "dqdd": lambda x: (q, qd, qdd + x),
    }
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    for name, state in moved.items():
        for part in ("force", "moment"):
            for k, direction in enumerate(0.01 * np.eye(10)):
                steps = [
                    getattr(evaluator.reactions(*state(j * direction)), part)
                    - getattr(evaluator.reactions(*state(-j * direction)), part)
                    for j in range(1, 5)
                ]
                column = sum(w * step for w, step in zip(weights, steps, strict=True)) / 0.01
                np.testing.assert_allclose(getattr(getattr(slopes, part), name)[..., k], column, atol=1e-10)


def test_phases_hand_a_quaternion_on():
    model = co.Model(co.spherical("top", sequence="quaternion", mass=1.0, inertia=(0.3, 0.2, 0.4)), (0, 0, 0))
    effort, end = co.integral(lambda now: ca.sumsqr(now.tau)), (0.6, 0.0, 0.48, 0.64)
    first = co.Problem(model, 0.5, effort, [co.initial(q=model.neutral, qd=0.0)])
    second = co.Problem(model, 0.5, effort, [co.final(q=end, qd=0.0)])
    both = co.solve(co.Phases({"first": first, "second": second}), co.BSpline(8, degree=5), progress=False)
    assert both.cost == pytest.approx(turned(co.BSpline(24, degree=6)).cost, rel=1e-5)
    assert both["second"].q[0] == pytest.approx(both["first"].q[-1], abs=1e-8)
    with pytest.raises(co.InputError, match="cannot map ball joints"):
        co.Phases({"a": first, "b": second}, [co.connect("a", "b", joints={"top_rx": ("top_rx", -1.0)})])


@pytest.mark.parametrize("seed", range(2))
def test_impacts_conserve_what_mujocos_mass_matrix_and_jacobian_say(seed):
    """Rates after the impact of a hand, and its impulse, computed from MuJoCo's matrices, meet the rows."""
    rng, e = np.random.default_rng(seed), 0.4
    model, xml = floating_arm()
    place = rng.normal(size=3)
    model = co.Model(model.bodies, model.gravity, markers={"palm": ("hand", place)})
    theirs = mj.MjModel.from_xml_string(xml)
    data, q, before = mj.MjData(theirs), model.of_unit_length(rng.normal(size=12)), rng.normal(size=10)
    data.qpos[:] = q
    mj.mj_forward(theirs, data)
    mass, J = np.zeros((10, 10)), np.zeros((3, 10))
    mj.mj_fullM(theirs, data, mass) if mj.__version__ >= "3.3.8" else mj.mj_fullM(theirs, mass, data.qM)
    hand = data.body("hand")
    mj.mj_jac(theirs, data, J, None, hand.xpos + hand.xmat.reshape(3, 3) @ place, hand.id)
    impulse = np.linalg.solve(J @ np.linalg.solve(mass, J.T), -(1 + e) * J @ before)
    after = before + np.linalg.solve(mass, J.T @ impulse)
    still = co.Problem(model, 1.0)
    across = co.Phases({"a": still, "b": still}, [co.impact("a", "b", {"palm": "xyz"}, restitution=e)]).rows[
        "impact from a to b"
    ]
    fields = co.problem.Slots._fields
    slots: list[Any] = [np.zeros(across.function.size1_in(k)) for k in range(across.function.n_in())]
    for offset, velocity in ((0, before), (len(fields), after)):
        slots[offset + fields.index("q")], slots[offset + fields.index("qd")] = q, velocity
    slots[len(fields) + fields.index("constants")] = impulse
    rows = np.array(across.function(*slots)).ravel()
    assert rows.size == 10 + 10 + 3
    np.testing.assert_allclose(rows, 0.0, atol=1e-11 * np.abs(mass).max() * np.abs(after).max())
    slots[len(fields) + fields.index("constants")] = 1.1 * impulse
    assert np.abs(np.array(across.function(*slots))).max() > 1e-3


def test_a_plate_falls_on_a_corner_and_tumbles_on():
    """It rises by no effort, and with the energy that it had."""
    plate = co.floating("plate", sequence="quaternion", mass=2.0, inertia=(0.1, 0.2, 0.25))
    model = co.Model(plate, (0, 0, -9.81), markers={"corner": ("plate", (0.5, 0.4, -0.1))})
    q = model.of_unit_length(np.array([0, 0, 1.0, 1.0, 0.2, -0.1, 0.3]))
    start = co.initial(q=q, qd=[0.2, 0.1, 0, 0.5, -0.3, 1])
    touches = co.at(1.0, lambda now: now.marker("corner").position[2], equals=0.0)
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    fall = co.Problem(model, co.Free(0.05, 1.0, guess=0.35), effort, [start, touches])
    rise = co.Problem(model, 0.2, effort)
    hit = co.impact("fall", "rise", {"corner": "z"}, restitution=1.0)
    motion = co.solve(co.Phases({"fall": fall, "rise": rise}, [hit]), co.Radau(8), progress=False)

    def energy(now: co.problem.Instant) -> ca.SX:
        return co.dynamics.kinetic_energy(model, now.q, now.qd) + co.dynamics.potential_energy(model, now.q)

    assert motion.cost < 1e-6
    values = motion.evaluate(energy, np.linspace(0, motion.duration, 9))
    np.testing.assert_allclose(values, values[0], rtol=1e-5)
    before, after = motion["fall"], motion["rise"]
    speeds = [
        phase.evaluate(lambda now: now.marker("corner").velocity[2], t)
        for phase, t in ((before, before.duration), (after, 0.0))
    ]
    np.testing.assert_allclose(speeds[0], -speeds[1], rtol=1e-6)
    np.testing.assert_allclose(before.q[-1], after.q[0], atol=1e-8)


def test_figures_have_a_panel_of_quaternions():
    solution = turned(co.BSpline(8, degree=5))
    figure = co.plot.joints(solution)
    assert [ax.get_ylabel() for ax in figure.axes] == ["unit quaternion", "angular velocity [rad/s]"]
    assert [len(ax.lines) for ax in figure.axes] == [4, 3]
    assert co.plot.torques(solution).axes
    assert co.plot.summary(solution).axes
    assert co.plot.view(solution)


def test_what_takes_one_coordinate_a_joint_says_so():
    model, _ = floating_arm()
    with pytest.raises(co.InputError, match="ball joint"):
        model.frozen({"hand_rx": 0.0})
    with pytest.raises(co.InputError, match="no limits of position"):
        co.spherical("a", sequence="quaternion", limits={"a_rx": co.Limits(position=(-1.0, 1.0))})
    with pytest.raises(co.InputError, match="of length one"):
        co.Problem(model, 1.0, subject_to=[co.final(q=np.ones(12))])
    with pytest.raises(co.InputError, match=r"must have shape \(\.\.\., 12\)"):
        model.of_unit_length(np.ones(10))
    with pytest.raises(co.InputError, match="leave out sensitivities"):
        co.transcribe(co.Problem(model, 1.0), co.BSpline(5), sensitivities=co.dynamics.lie_sensitivities)


def test_readers_make_quaternions_of_free_and_ball_joints(tmp_path: Any):
    ours, xml = floating_arm()
    (tmp_path / "arm.xml").write_text(xml, encoding="utf-8")
    reading = co.formats.from_mjcf(tmp_path / "arm.xml", balls="quaternion")
    rng = np.random.default_rng(8)
    q, qd, qdd = rng.normal(size=12), rng.normal(size=10), rng.normal(size=10)
    assert reading.model.n_q == 12
    assert reading.postures["initial"]["base_qw"] == 1.0
    first, second = co.Evaluator(ours), co.Evaluator(reading.model)
    assert second.torque(q, qd, qdd) == pytest.approx(first.torque(q, qd, qdd), rel=1e-11)
    off_centre = xml.replace('<joint type="ball"/>', '<joint type="ball" pos="0.05 -0.02 0.03"/>')
    (tmp_path / "arm.xml").write_text(off_centre, encoding="utf-8")
    shifted = co.Evaluator(co.formats.from_mjcf(tmp_path / "arm.xml", balls="quaternion").model)
    theirs = mj.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mj.MjData(theirs)
    q[3:7], q[8:] = q[3:7] / np.linalg.norm(q[3:7]), q[8:] / np.linalg.norm(q[8:])
    data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
    mj.mj_inverse(theirs, data)
    assert shifted.torque(q, qd, qdd) == pytest.approx(data.qfrc_inverse, rel=1e-10)
    text = """<robot name="r"><link name="hull"><inertial><mass value="2"/><origin xyz="0.1 0 0.2"/>
      <inertia ixx="0.3" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.4"/></inertial></link></robot>"""
    (tmp_path / "hull.urdf").write_text(text, encoding="utf-8")
    hull = co.formats.from_urdf(tmp_path / "hull.urdf", base="free", balls="quaternion").model
    assert hull.position_names[3:] == ("hull_qw", "hull_qx", "hull_qy", "hull_qz")
    attitude = Rotation.from_quat(rng.normal(size=4)).as_quat()
    buoy = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    expected = pin.crba(buoy, buoy.createData(), np.append(np.zeros(3), attitude))
    mass = co.Evaluator(hull).mass_matrix(np.append(np.zeros(3), np.roll(attitude, 1)))
    assert mass[3:, 3:] == pytest.approx(expected[3:, 3:], abs=1e-11)


def test_postures_that_reach_have_quaternions_of_length_one():
    model, _ = floating_arm()
    target, tip = (0.5, 0.6, 0.7), (0.2, 0.0, 0.0)
    turn = Rotation.from_rotvec((0.5, 1.0, 2.0)).as_matrix()
    q = co.model.reach(model, "hand", target, point=tip, rotation=turn)
    assert co.Evaluator(model).point("hand", tip, q=q).position == pytest.approx(target, abs=1e-6)
    assert [np.linalg.norm(q[places]) for places, _ in model.balls.values()] == pytest.approx([1.0, 1.0], abs=1e-12)


def test_displacements_are_scipys_rotation_vectors_and_go_back():
    model, _ = floating_arm()
    rng, places = np.random.default_rng(5), model.balls["base"][0]
    q, x = model.of_unit_length(rng.normal(size=(6, 12))), rng.normal(size=(6, 10))
    moved = model.displaced(q, x)
    for name, (where, dofs) in model.balls.items():
        before = Rotation.from_quat(q[:, where], scalar_first=True)
        after = before * Rotation.from_rotvec(x[:, dofs])
        np.testing.assert_allclose(
            np.abs((after.as_quat(scalar_first=True) * moved[:, where]).sum(1)), 1.0, err_msg=name
        )
    for a, b, way in zip(q, moved, x, strict=True):
        np.testing.assert_allclose(model.displacement(a, b), way, atol=1e-12)
    step = 1e-6
    symbols = ca.SX.sym("q", 12)
    slope = ca.Function("slope", [symbols], [model.per_displacement(symbols)])(q[0])
    np.testing.assert_allclose((model.displaced(q[0], step * x[0]) - q[0]) / step, np.array(slope) @ x[0], atol=1e-5)
    around = np.array(q[0])
    around[places] *= -1
    assert np.linalg.norm(model.displacement(q[0], around)) == pytest.approx(2 * np.pi)
    with pytest.raises(co.InputError, match=r"q and x must have shapes \(\.\.\., 12\) and \(\.\.\., 10\)"):
        model.displaced(q, q)


def test_an_initial_quaternion_with_its_scalar_part_last_is_named():
    model = co.Model(co.floating("hull", mass=1.0, inertia=(0.1, 0.1, 0.1)))
    with pytest.warns(co.support.InputWarning, match="of ball joint 'hull' is .0, 0, 0, 1., half a turn about z"):
        co.Problem(model, 1.0, subject_to=[co.initial(q=(0, 0, 0, 0, 0, 0, 1))])
    co.Problem(model, 1.0, subject_to=[co.initial(q=model.neutral), co.final(q=(0, 0, 0, 0, 0, 0, 1))])
