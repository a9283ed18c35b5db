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
pin: Any = pinocchio  # its names are not typed


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
    theirs = mujoco.MjModel.from_xml_string(xml)
    data, rng, ours = mujoco.MjData(theirs), np.random.default_rng(1), co.Evaluator(model)
    for _ in range(5):
        q, qd, qdd = rng.normal(size=12), rng.normal(size=10), rng.normal(size=10)
        for places, _ in model.balls.values():
            q[places] /= np.linalg.norm(q[places])
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(theirs, data)
        mass = np.zeros((10, 10))
        mujoco.mj_fullM(theirs, data, mass) if mujoco.__version__ >= "3.3.8" else mujoco.mj_fullM(theirs, mass, data.qM)
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
    place, turn = rng.normal(size=3), Rotation.random(random_state=3)
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
