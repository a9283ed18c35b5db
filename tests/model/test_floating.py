"""Free bodies and ball joints in coordinates of a tree, and where their angles become singular."""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.model.gimbal import singular_postures
from colloc.model.kinematics import frames
from tests.support.random_trees import (
    coordinates,
    evaluate,
    numbers,
    pin,
    pinocchio_joint,
    random_inertia,
    random_state,
    random_unit,
)

SEQUENCES = ["".join(s) for s in product("xyz", repeat=3) if s[0] != s[1] != s[2]]
PLACE = co.placement((0.3, -0.2, 0.5), (0.4, -0.3, 0.9))


def free_body(sequence: str) -> co.Model:
    """A floating pelvis alone."""
    properties = random_inertia(np.random.default_rng(0))
    return co.Model(co.floating("pelvis", PLACE, sequence=sequence, **properties), name="free body")


def ball(sequence: str) -> co.Model:
    """A thigh on a ball joint, on a carrier that turns and slides."""
    rng = np.random.default_rng(1)
    carrier = co.Body("carrier", co.model.helical((1, 2, 3), 0.2), **random_inertia(rng))
    thigh = co.spherical("thigh", PLACE, parent="carrier", sequence=sequence, **random_inertia(rng))
    return co.Model([carrier, *thigh], name="ball joint")


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_angles_are_those_of_scipy_about_moving_axes(sequence):
    model, rng = free_body(sequence), np.random.default_rng(2)
    state = random_state(rng, model)
    symbols = coordinates(model)
    found = evaluate([frames(model, *symbols).position[-1]], symbols, state)[0]
    expected = np.eye(4)
    expected[:3, :3] = Rotation.from_euler(sequence.upper(), state.q[3:]).as_matrix()
    expected[:3, 3] = state.q[:3]
    assert found == pytest.approx(numbers(PLACE) @ expected, abs=1e-14)


def test_free_bodies_and_balls_are_on_quaternions_by_default():
    free, hung = co.Model(co.floating("pelvis", mass=1.0)), co.Model(co.spherical("thigh", mass=1.0))
    assert free.position_names[3:] == ("pelvis_qw", "pelvis_qx", "pelvis_qy", "pelvis_qz")
    assert (free.n_q, free.n, hung.n_q, hung.n) == (7, 6, 4, 3)
    for end, named in (
        (co.initial(q=0.0), "no turn is .1, 0, 0, 0., see model.neutral"),
        (co.final(q={"pelvis_rz": 1.0}), "'pelvis_rz' is a velocity of ball joint 'pelvis'.* sequence='zyx'"),
    ):
        with pytest.raises(co.InputError, match=named):
            co.Problem(free, 1.0, subject_to=[end])
    with pytest.raises(co.InputError, match=r"no limits of position.* sequence='zyx'"):
        co.spherical("thigh", limits={"thigh_rx": co.Limits(position=(-1.0, 1.0))})


def test_there_are_twelve_sequences():
    assert len(SEQUENCES) == 12


def test_coordinates_are_named_after_the_body():
    names = ("pelvis_tx", "pelvis_ty", "pelvis_tz", "pelvis_rz", "pelvis_ry", "pelvis_rx")
    model = free_body("zyx")
    assert model.joint_names == names
    assert model.position_units == ("m",) * 3 + ("rad",) * 3
    assert [model.bodies[-1].name, model.index("pelvis")] == ["pelvis", 5]
    assert [float(body.mass) > 0 for body in model.bodies] == [False] * 5 + [True]
    assert ball("zxz").joint_names == ("carrier", "thigh_rz", "thigh_rx", "thigh_rz2")


def test_limits_go_by_coordinates():
    model = co.Model(co.floating("pelvis", limits={"pelvis_ty": co.Limits(position=(0.5, 1.5))}))
    assert model.limits("position")[0].tolist() == [-np.inf, 0.5, *[-np.inf] * 5]
    with pytest.raises(co.InputError, match=r"no coordinate of body 'pelvis' named 'pelvis_yaw'.*\(known: pelvis_tx, "):
        co.floating("pelvis", limits={"pelvis_yaw": co.Limits()})


@pytest.mark.parametrize("sequence", ["zy", "zzx", "xyy", "abc", "zyxz", 3, None])
def test_sequences_that_cannot_be_are_refused(sequence):
    for make in (co.floating, co.spherical):
        with pytest.raises(co.InputError, match=r"sequence must be three of the letters x, y and z, no two neighbours"):
            make("body", sequence=sequence)


def test_a_body_is_refused_as_any_other():
    with pytest.raises(co.InputError, match="mass of body 'pelvis' must not be negative, got -1"):
        co.floating("pelvis", mass=-1)


class Twist(NamedTuple):
    """Motion of a joint in the body's own axes (linear, angular) as Pinocchio has it, and how rates make it."""

    velocity: np.ndarray
    acceleration: np.ndarray
    map: np.ndarray


def body_twist(rotation: Any, position: Any, x: ca.SX, v: ca.SX, values: Any) -> Twist:
    """v = E qd and a = E qdd + E' qd from the place of a frame as a function of its coordinates."""
    spin = [ca.inv_skew(rotation.T @ ca.reshape(ca.jacobian(ca.vec(rotation), x[k]), 3, 3)) for k in range(x.numel())]
    E = ca.vertcat(rotation.T @ ca.jacobian(position, x), ca.horzcat(*spin))
    rate = ca.reshape(ca.jtimes(ca.vec(E), x, v), *E.shape)
    q, qd, qdd = values
    E, rate = evaluate([E, rate], [x, v], [q, qd])
    return Twist(E @ qd, E @ qdd + rate @ qd, E)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_floating_base_with_a_limb_agrees_with_pinocchios_free_flyer(sequence):
    """Places in a quaternion, rates in the axes of the body; torques by virtual power."""
    rng = np.random.default_rng(3)
    pelvis, limb = random_inertia(rng), random_inertia(rng)
    joint = co.model.helical(tuple(random_unit(rng)), 0.1, co.placement(rng.normal(size=3), rng.normal(size=3)))
    bodies = [*co.floating("pelvis", PLACE, sequence=sequence, **pelvis), co.Body("limb", joint, "pelvis", **limb)]
    model = co.Model(bodies, gravity=(1, -9, 3))
    state = random_state(rng, model)
    x, v, _ = symbols = coordinates(model)
    moved = ca.SX(np.linalg.inv(numbers(PLACE))) @ frames(model, *symbols).position[5]
    twist = body_twist(moved[:3, :3], moved[:3, 3], x[:6], v[:6], [part[:6] for part in state])

    other = pin.Model()
    other.gravity.linear = model.gravity
    root = other.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3(numbers(PLACE)), "root")
    tip = other.addJoint(root, pinocchio_joint(joint), pin.SE3(numbers(joint.before)), "limb")
    for index, properties in ((root, pelvis), (tip, limb)):
        inertia = pin.Inertia(properties["mass"], properties["com"], properties["inertia"])
        other.appendBodyToJoint(index, inertia, pin.SE3.Identity())
    turn = Rotation.from_euler(sequence.upper(), state.q[3:6]).as_quat()
    q = np.concatenate([state.q[:3], turn, state.q[6:]])
    velocity, acceleration = (np.concatenate([a, b[6:]]) for a, b in zip(twist[:2], state[1:], strict=True))
    found = pin.rnea(other, other.createData(), q, velocity, acceleration)
    expected = np.concatenate([twist.map.T @ found[:6], found[6:]])
    tau = evaluate([co.dynamics.newton_euler(model, *symbols)], symbols, state)[0]
    assert tau == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_ball_joint_agrees_with_pinocchios(sequence):
    model, rng = ball(sequence), np.random.default_rng(4)
    state = random_state(rng, model)
    x, v, _ = symbols = coordinates(model)
    turn = numbers(PLACE)[:3, :3].T @ ca.SX(
        evaluate([model.bodies[0].joint.transform(x[0])], [x], [state.q])[0][:3, :3].T
    )
    rotation = turn @ ca.substitute(frames(model, *symbols).position[-1][:3, :3], x[0], state.q[0])
    twist = body_twist(rotation, ca.SX(3, 1), x[1:], v[1:], [part[1:] for part in state])

    other = pin.Model()
    other.gravity.linear = model.gravity
    root = other.addJoint(0, pinocchio_joint(model.bodies[0].joint), pin.SE3.Identity(), "carrier")
    tip = other.addJoint(root, pin.JointModelSpherical(), pin.SE3(numbers(PLACE)), "thigh")
    for index, body in ((root, model.bodies[0]), (tip, model.bodies[-1])):
        inertia = pin.Inertia(float(body.mass), numbers(body.com), numbers(body.inertia))
        other.appendBodyToJoint(index, inertia, pin.SE3.Identity())
    q = np.concatenate([state.q[:1], Rotation.from_euler(sequence.upper(), state.q[1:]).as_quat()])
    velocity, acceleration = (np.concatenate([b[:1], a[3:]]) for a, b in zip(twist[:2], state[1:], strict=True))
    found = pin.rnea(other, other.createData(), q, velocity, acceleration)
    expected = np.concatenate([found[:1], twist.map[3:].T @ found[1:]])
    tau = evaluate([co.dynamics.newton_euler(model, *symbols)], symbols, state)[0]
    assert tau == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_posture_is_near_singular_where_the_mass_matrix_is(sequence):
    """The angle to the lock, and the mass matrix, whose determinant goes with the sine of that angle squared."""
    rng = np.random.default_rng(5)
    model = co.Model(co.spherical("thigh", PLACE, sequence=sequence, **random_inertia(rng)))
    lock = 0.0 if sequence[0] == sequence[2] else np.pi / 2
    offsets = np.array([1.0, 0.1, 0.01])
    q = rng.uniform(-1, 1, (3, 3))
    q[:, 1] = lock + offsets
    for k, offset in enumerate(offsets):
        (found,) = singular_postures(model, np.array([2.0]), q[k : k + 1], within=2.0)
        assert found.joints == model.joint_names
        assert found.t == 2.0
        assert found.angle == pytest.approx(offset, rel=1e-9)
    sizes = [np.linalg.det(mass) for mass in co.Evaluator(model).mass_matrix(q)]
    assert sizes[1] / sizes[2] == pytest.approx((np.sin(0.1) / np.sin(0.01)) ** 2, rel=1e-6)
    assert singular_postures(model, np.array([2.0]), q[:1], within=np.radians(5)) == []


def test_sequences_are_found_by_what_they_are():
    """Rows of Denavit and Hartenberg make a ball joint as well; a gimbal whose frames have mass is a mechanism."""

    def wrist(**frame: Any) -> co.Model:
        return co.Model([
            co.Body("first", co.dh_revolute(alpha=np.pi / 2), **frame),
            co.Body("second", co.dh_revolute(alpha=-np.pi / 2), "first"),
            co.Body("third", co.dh_revolute(a=0.2), "second", mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)),
        ])  # fmt: skip

    t, straight = np.array([0.0]), np.zeros((1, 3))
    assert [found.joints for found in singular_postures(wrist(), t, straight, 0.1)] == [("first", "second", "third")]
    assert singular_postures(wrist(mass=0.1), t, straight, 0.1) == []
    length = ca.SX.sym("length")
    hand = co.Model([*co.spherical("hand", co.placement((length, 0, 0)), sequence="xyx", mass=1.0)])
    assert len(singular_postures(hand, t, straight, 0.1)) == 1


def test_solve_and_verify_report_gimbal_lock_with_body_and_time():
    """A top is tipped about one axis to 3 degrees from where its angles end; tipped less, nothing is reported."""
    for tip, count in ((87.0, 1), (60.0, 0)):
        top = co.spherical("top", sequence="zyx", mass=1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 0.01))
        problem = co.Problem(
            co.Model(top, gravity=(0, 0, 0)),
            1.0,
            co.integral(lambda now: ca.sumsqr(now.tau)),
            [
                co.initial(q=0.0, qd=0.0),
                co.final(q=(0.0, np.radians(tip), 0.0), qd=0.0),
                co.bounds(q={"top_rz": (0.0, 0.0), "top_rx": (0.0, 0.0)}),  # where these turn it is cheaper
            ],
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            solution = co.solve(problem, co.HermiteSimpson(10), progress=False)
        named = [str(warning.message) for warning in caught]
        assert [n.partition(", where")[0] for n in named] == count * [
            "body 'top' is 3.0 degrees from gimbal lock at t = 1 s"
        ]
        report = co.verify(solution)
        assert len(report.singular) == count
        assert ("gimbal lock" in repr(report)) == bool(count)
        for joints, t, angle, body in report.singular:
            assert body == "top"
            assert joints == ("top_rz", "top_ry", "top_rx")
            assert [t, np.degrees(angle)] == pytest.approx([1.0, 3.0], abs=1e-6)


def test_a_failure_and_a_time_limit_name_gimbal_lock():
    """A top that ends in it, by a solver that stops too early."""
    top = co.Model(co.spherical("top", sequence="zyx", mass=1.0, inertia=(0.3, 0.2, 0.4)), gravity=(0, 0, 0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=(0.0, np.pi / 2, 0.0), qd=0.0)]
    problem = co.Problem(top, co.Free(0.1, 9.0), co.duration(), [*ends, co.bounds(tau=(-1.0, 1.0))])
    word = r"body 'top' is 0\.0 degrees from gimbal lock .* sequence=\"quaternion\""
    with pytest.raises(co.SolveError, match=word):
        co.solve(problem, co.HermiteSimpson(6), solver=co.Ipopt().limited(iterations=2), progress=False)
    with pytest.warns(co.refinement.SolutionWarning, match=word):
        co.solve(problem, progress=False, seconds=0.01, raise_on_failure=False)


def test_a_thrown_body_flies_as_galileo_says():
    """Nothing drives it: a parabola, and a steady spin about a principal axis."""
    names = [f"ball_{kind}{axis}" for kind in "tr" for axis in "xyz"]
    free = dict.fromkeys(names, co.Limits(torque=(0, 0)))
    model = co.Model(co.floating("ball", sequence="yzx", mass=0.4, inertia=(1e-3, 2e-3, 1e-3), limits=free))
    start = [co.initial(q=0.0, qd=(1.0, 5.0, 0.0, 3.0, 0.0, 0.0))]
    problem = co.Problem(model, 0.8, co.integral(lambda now: ca.sumsqr(now.qdd)), start)
    solution = co.solve(problem, co.HermiteSimpson(8), progress=False)
    expected = [0.8, 5 * 0.8 - 9.81 / 2 * 0.8**2, 0.0, 3 * 0.8, 0.0, 0.0]
    assert solution.q[-1] == pytest.approx(expected, abs=1e-7)
    assert co.verify(solution).forward_error < 1e-6


def test_hinges_that_follow_others_lock_nothing():
    """A knee whose axis turns as it bends has one freedom, and none to lose."""
    hinges = {"bend": (1, 0, 0), "tip": (0, 0, 1), "turn": (0, 1, 0)}
    masses = {"turn": {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}}
    parents = dict(zip(hinges, (None, "bend", "tip"), strict=True))
    bodies = [co.Body(name, co.revolute(axis), parents[name], **masses.get(name, {})) for name, axis in hinges.items()]
    follows = {name: co.model.Coupling("bend", ratio=0.3) for name in ("tip", "turn")}
    knee = co.Model(bodies, couplings=follows)
    assert singular_postures(knee, np.zeros(1), np.zeros((1, 1)), within=2.0) == []
    assert len(singular_postures(co.Model(bodies), np.zeros(1), np.zeros((1, 3)), within=2.0)) == 1
