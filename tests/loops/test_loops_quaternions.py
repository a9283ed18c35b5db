"""Closed chains of bodies that float or hang on ball joints, by unit quaternions: against AD, Pinocchio and MuJoCo."""

from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import mujoco
import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc import loops
from colloc.loops.closure import joint_path, loop_hessian, loop_jacobian, moving, residual
from tests.support.random_loops import KINDS, constructor
from tests.support.random_trees import evaluate, numbers, random_inertia, random_unit

pin: Any = pinocchio  # its names are not typed, nor MuJoCo's
mj: Any = mujoco
# A floating base, a limb of a ball and a hinge, another ball on that, and a third on the base.
BODIES = (("base", "free", None), ("thigh", "ball", "base"), ("shank", "hinge", "thigh"),
          ("foot", "ball", "shank"), ("arm", "ball", "base"), ("hand", "hinge", "arm"))  # fmt: skip


class Pair(NamedTuple):
    """The same tree here and in Pinocchio, and which of its joints carries each body by name."""

    model: co.Model
    theirs: Any
    joints: dict[str, int]


@lru_cache
def pair(seed: int) -> Pair:
    rng = np.random.default_rng(seed)
    bodies, theirs, joints = [], pin.Model(), {}
    theirs.gravity.linear = gravity = np.array([0.3, -9.81, 1.0])
    for name, kind, parent in BODIES:
        spec, axis = random_inertia(rng), random_unit(rng)
        place = co.placement((0, 0, 0) if kind == "free" else rng.normal(size=3), rpy=rng.uniform(-1, 1, 3))
        of = joints.get(parent, 0)
        if kind == "free":
            place = co.placement()
            number = theirs.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), "slides")
            number = theirs.addJoint(number, pin.JointModelSpherical(), pin.SE3.Identity(), name)
            bodies += co.floating(name, sequence="quaternion", **spec)
        elif kind == "ball":
            number = theirs.addJoint(of, pin.JointModelSpherical(), pin.SE3(numbers(place)), name)
            bodies += co.spherical(name, place, parent=parent, sequence="quaternion", **spec)
        else:
            number = theirs.addJoint(of, pin.JointModelRevoluteUnaligned(axis), pin.SE3(numbers(place)), name)
            bodies.append(co.Body(name, co.revolute(tuple(axis), place), parent, **spec))
        tensor = np.array(spec["inertia"], dtype=float)
        tensor = tensor if tensor.ndim == 2 else np.diag(tensor)
        own = pin.Inertia(float(spec["mass"]), np.array(spec["com"], dtype=float), tensor)
        theirs.appendBodyToJoint(number, own, pin.SE3.Identity())
        joints[name] = number
    model = co.Model(bodies, gravity)
    assert (model.n, model.n_q) == (theirs.nv, theirs.nq) == (17, 21)
    return Pair(model, theirs, joints)


def into(model: co.Model, q: np.ndarray) -> np.ndarray:
    """Positions as Pinocchio has them, scalar parts last."""
    theirs = q.copy()
    for places, _ in model.balls.values():
        theirs[places] = np.roll(q[places], -1)
    return theirs


def frames(pair: Pair, q: np.ndarray) -> dict[str | None, np.ndarray]:
    """Link frames in the world by Pinocchio."""
    data = pair.theirs.createData()
    pin.forwardKinematics(pair.theirs, data, into(pair.model, q))
    return {None: np.eye(4), **{name: data.oMi[number].homogeneous for name, number in pair.joints.items()}}


def tied(pair: Pair, rng: np.random.Generator, q: np.ndarray, kind: str, first: str | None, second: str | None) -> Any:
    """A loop between two bodies that is closed at q."""
    world, here = frames(pair, q), numbers(co.placement(0.3 * rng.normal(size=3), rpy=rng.uniform(-1, 1, 3)))
    there = np.linalg.inv(world[second]) @ world[first] @ here
    ends = loops.Frame(first, here), loops.Frame(second, there)
    axis = () if kind in ("weld", "spherical") else (random_unit(rng),)
    return constructor(kind)(f"{first} to {second}", *ends, *axis)


def posture(pair: Pair, rng: np.random.Generator) -> np.ndarray:
    return pair.model.of_unit_length(rng.normal(size=pair.model.n_q))


@lru_cache
def chain(seed: int) -> loops.ClosedChain:
    """Hand and foot welded or pinned to one another, and the base tied to the ground, in ways that differ by seed."""
    rng, of = np.random.default_rng([seed, 1]), pair(seed)
    q = posture(of, rng)
    kinds = (("spherical", "spherical"), ("weld", "spherical"), ("revolute", "on_plane"), ("planar", "weld"))[seed % 4]
    ties = [tied(of, rng, q, kinds[0], "hand", "foot"), tied(of, rng, q, kinds[1], None, "thigh")]
    return loops.ClosedChain(of.model, ties, guess=q)


@pytest.mark.parametrize("ends", [("foot", "hand"), ("hand", None), (None, "foot"), ("thigh", "arm")])
@pytest.mark.parametrize("kind", KINDS)
def test_jacobians_hessians_and_their_rates_are_those_of_the_residual(kind: str, ends: Any):
    """By automatic differentiation through the quaternions, at postures in which the loop is open."""
    rng, of = np.random.default_rng(7), pair(0)
    model = of.model
    loop = tied(of, rng, posture(of, rng), kind, *ends)
    q, v, a, mu = ca.SX.sym("q", 21), ca.SX.sym("v", 17), ca.SX.sym("a", 17), ca.SX.sym("mu", loop.rows)
    path = joint_path(model, loop, q)
    phi, moved = residual(loop, path.transform), moving(path, v, a)
    J, H = loop_jacobian(loop, 17, moved), loop_hessian(loop, 17, moved, mu)
    rate, state = model.position_rates(q, v), ca.vertcat(q, v)

    def along(expression: ca.SX) -> ca.SX:
        return ca.reshape(ca.jtimes(ca.vec(ca.densify(expression)), state, ca.vertcat(rate, a)), *expression.shape)

    turned = ca.jacobian(J.value.T @ mu, q) @ model.per_displacement(q)
    expected = [ca.jacobian(phi, q) @ model.per_displacement(q), along(J.value), along(along(J.value))]
    expected += [turned + model.displacement_rates(J.value.T @ mu) / 2, along(H.value), along(along(H.value))]
    values = [posture(of, rng), *rng.normal(size=(2, 17)), rng.normal(size=loop.rows)]
    pairs = evaluate([*J, *H, *expected], [q, v, a, mu], values)
    for found, wanted in zip(pairs[:6], pairs[6:], strict=True):
        assert np.abs(found - wanted).max() < 1e-11 * max(1.0, np.abs(wanted).max())
    assert np.abs(pairs[3] - pairs[3].T).max() < 1e-12


@pytest.mark.parametrize("seed", [0, 1])
def test_torques_and_loop_forces_make_pinocchio_accelerate_as_the_chain_does(seed: int):
    of, rng, here = pair(seed), np.random.default_rng(seed), chain(seed)
    q, m = here.posture, here.mobility
    ud, udd = rng.normal(size=(2, m))
    evaluator = loops.ChainEvaluator(here)
    motion, forces = evaluator.motion(q, ud, udd), evaluator.forces(q, ud, udd)
    assert np.abs(forces.tau[here.dependent_dofs]).max() == 0
    models, datas = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for loop in here.loops:
        ends = [
            (0 if f.body is None else of.joints[f.body], pin.SE3(numbers(f.placement)))
            for f in (loop.first, loop.second)
        ]
        kind = {"weld": pin.ContactType.CONTACT_6D, "spherical": pin.ContactType.CONTACT_3D}[loop.kind]
        models.append(pin.RigidConstraintModel(kind, of.theirs, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL))
        datas.append(models[-1].createData())
    data = of.theirs.createData()
    pin.initConstraintDynamics(of.theirs, data, models, datas)
    qdd = pin.constraintDynamics(of.theirs, data, into(of.model, q), motion.qd, forces.tau, models, datas)
    assert np.abs(qdd - motion.qdd).max() < 1e-9 * np.abs(motion.qdd).max()
    size = np.abs(forces.force).max()
    for k, each in enumerate(datas):  # its force acts on the first frame
        assert np.abs(each.contact_force.linear + forces.force[k]).max() < 1e-9 * size
        if here.loops[k].kind == "weld":
            assert np.abs(each.contact_force.angular + forces.moment[k]).max() < 1e-9 * size


SPLIT = ("base_ty", "base_tz", "base_ry", "shank", "foot_ry", "arm_rx", "arm_ry", "arm_rz")  # turns alone, of seed 3


def test_ball_joints_are_taken_as_a_whole_where_that_can_be():
    for seed in range(4):
        assert len(chain(seed).independent_places) > chain(seed).mobility
    with pytest.raises(co.InputError, match="of the turns of ball joint 'base' only base_ry is independent"):
        loops.IndependentJoints(loops.ClosedChain(chain(3).model, chain(3).loops, SPLIT, guess=chain(3).posture))


DRIVEN = [(0, "least"), (1, "one more"), (2, "all"), (3, "all"), (3, "some turns alone")]


@pytest.mark.parametrize(("seed", "drive"), DRIVEN)
def test_derivatives_are_differences_by_small_turns(seed: int, drive: str):
    """The independent joints displaced, the others closed again by Newton's method, and components of rates held."""
    here, rng = chain(seed), np.random.default_rng(seed)
    names = {"one more": [*here.independent, here.dependent[0]], "all": here.model.joint_names}.get(
        drive, here.independent
    )
    ties = (here.model, here.loops, here.independent)
    if drive == "some turns alone":
        ties, names = (*ties[:2], SPLIT), [*SPLIT, "thigh_rx"]
    here = loops.ClosedChain(*ties, names, rng.uniform(0.5, 2.0, len(names)), here.posture)
    m, q = here.mobility, here.posture
    ud, udd = rng.normal(size=(2, m))
    loads = [co.Load("shank", (1.0, -2.0, 0.5), (0.3, 0.1, -0.2), (0.1, 0.0, 0.2))]
    evaluator = loops.ChainEvaluator(here, loads=loads)
    found, h = evaluator.sensitivities(q, ud, udd), 1e-5
    for k, direction in enumerate(np.eye(3 * m)):
        sides = []
        for sign in (h, -h):
            x, dud, dudd = np.split(sign * direction, 3)
            there = here.closures.displaced(q, here.basis(q) @ x)
            # Newton's corrections are of second order in the step, and at dependent joints alone.
            there = here.closures.close(there, here.rows, here.dependent_dofs)
            sides.append(evaluator.forces(there, ud + dud, udd + dudd))
        for part, slope in (("tau", found.dtau), ("multipliers", found.dmultipliers)):
            difference = (getattr(sides[0], part) - getattr(sides[1], part)) / (2 * h)
            assert np.abs(slope[:, k] - difference).max() < 1e-6 * max(1.0, np.abs(slope).max())


def test_the_motion_keeps_the_loops_closed():
    """Positions that go on with the velocities stay closed to third order in the step."""
    here, rng = chain(1), np.random.default_rng(3)
    ud, udd = rng.normal(size=(2, here.mobility))
    qd, qdd = loops.ChainEvaluator(here).motion(here.posture, ud, udd)
    gaps = []
    for h in (1e-2, 5e-3):
        # x' = v + ..., so that h v + h2 a / 2 is the turn about one axis up to third order.
        there = here.model.displaced(here.posture, h * qd + h**2 / 2 * qdd)
        gaps.append(loops.closure_error(here, there[None])[0])
    assert np.log2(gaps[0] / gaps[1]) == pytest.approx(3, abs=0.3)


# A body that floats, held by two legs: a ball and a hinge each, one foot on a pin of the ground, the other on the body
# of the first, welded.
FLOATING = """<mujoco><compiler angle="radian"/><option gravity="0.5 -1 -9.81"/><worldbody>
<body name="trunk" pos="0 0 1"><freejoint name="root"/><geom type="box" size="0.3 0.2 0.1" pos="0.05 0 0"/>
  <body name="thigh" pos="0.2 0.1 -0.1"><joint name="hip" type="ball"/>
    <geom type="capsule" fromto="0 0 0 0.1 0 -0.4" size="0.04"/>
    <body name="shank" pos="0.1 0 -0.4"><joint name="knee" axis="0 1 0.2"/>
      <geom type="capsule" fromto="0 0 0 -0.1 0 -0.4" size="0.03"/></body></body>
  <body name="arm" pos="-0.2 0.1 0.1"><joint name="shoulder" type="ball"/>
    <geom type="capsule" fromto="0 0 0 -0.2 0.3 0" size="0.04"/>
    <body name="wrist" pos="-0.2 0.3 0"><joint name="elbow" axis="1 0 0"/><joint name="twist" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0.2 0.1" size="0.03"/>
      <body name="hand" pos="0 0.2 0.1"><joint name="grip" type="ball"/><geom type="sphere" size="0.05" pos="0.1 0 0"/>
</body></body></body></body></worldbody>
<contact><exclude body1="trunk" body2="thigh"/></contact>
<equality><connect name="ground" body1="shank" anchor="-0.1 0 -0.4"/>
<weld name="hold" body1="hand" body2="thigh"/></equality></mujoco>"""


def test_a_floating_chain_of_a_file_obeys_mujocos_equations_of_motion(tmp_path: Any):
    """M qdd + bias = tau + J' mu and J qdd + J' qd = 0, with mass matrix, bias and Jacobians of points by MuJoCo."""
    (tmp_path / "floating.xml").write_text(FLOATING, encoding="utf-8")
    reading = co.formats.from_mjcf(tmp_path / "floating.xml", balls="quaternion")
    theirs = mj.MjModel.from_xml_string(FLOATING)
    theirs.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONTACT)
    data, rng, n = mj.MjData(theirs), np.random.default_rng(2), theirs.nv
    model = reading.model
    assert (model.n, model.n_q) == (theirs.nv, theirs.nq) == (18, 22)
    here = loops.ClosedChain(model, reading.loops, guess=theirs.qpos0)
    assert here.posture == pytest.approx(theirs.qpos0, abs=1e-9)
    assert here.mobility == 9
    evaluator = loops.ChainEvaluator(here)
    for _ in range(3):
        q = here.closures.displaced(here.posture, here.basis(here.posture) @ rng.uniform(-0.2, 0.2, 9))
        q = here.closures.close(q)
        ud, udd = rng.normal(size=(2, 9))
        (qd, qdd), forces = evaluator.motion(q, ud, udd), evaluator.forces(q, ud, udd)
        data.qpos[:], data.qvel[:] = q, qd
        mj.mj_forward(theirs, data)
        mass = np.zeros((n, n))
        mj.mj_fullM(theirs, data, mass)
        load, turned, scale = np.zeros(n), [], np.abs(forces.tau).max()
        for k, loop in enumerate(here.loops):
            ends = []
            for frame in (loop.first, loop.second):
                body = theirs.body(frame.body).id if frame.body else 0
                place = numbers(frame.placement)
                axes = data.xmat[body].reshape(3, 3) @ place[:3, :3]
                point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ place[:3, 3]
                J, rate = np.zeros((6, n)), np.zeros((6, n))
                mj.mj_jac(theirs, data, J[:3], J[3:], point, body)
                mj.mj_jacDot(theirs, data, rate[:3], rate[3:], point, body)
                ends.append((J, J @ qdd + rate @ qd, axes))
            (first, gain, axes), (second, other, _) = ends
            wrench = np.concatenate([axes @ forces.force[k], axes @ forces.moment[k]])
            held = slice(0, 6 if loop.kind == "weld" else 3)
            load += (second - first)[held].T @ wrench[held]  # on the second body, at the same point as the opposite
            turned.append(np.abs((gain - other)[held]).max())
        assert np.abs(mass @ qdd + data.qfrc_bias - forces.tau - load).max() < 1e-9 * scale
        assert max(turned) < 1e-9 * np.abs(qdd).max()


def plate() -> tuple[co.Model, list[Any]]:
    """A plate on a ball joint, a leg of hinges, slide and socket under it, and three rings that turn with it."""
    rod, post = {"mass": 0.4, "inertia": (0.01, 0.01, 0.01)}, co.placement((0.0, 0.0, 0.5))
    bodies = [
        *co.spherical("plate", post, sequence="quaternion", mass=2.0, com=(0.05, 0, 0.1), inertia=(0.1, 0.15, 0.2)),
        co.Body("swing", co.revolute((1, 0, 0), co.placement((0.4, 0.1, 0))), **rod),
        co.Body("lean", co.revolute((0, 1, 0)), "swing", **rod),
        co.Body("leg", co.prismatic((0, 0, 1)), "lean", com=(0, 0, 0.2), **rod),
        co.Body("yaw", co.revolute((0, 0, 1), post), **rod),
        co.Body("pitch", co.revolute((0, 1, 0)), "yaw", **rod),
        co.Body("roll", co.revolute((1, 0, 0)), "pitch", **rod),
    ]
    socket = loops.spherical_loop("socket", "leg", loops.Frame("plate", (0.4, 0.0, 0.0)))
    return co.Model(bodies, gravity=(0, 0, -9.81)), [socket, loops.weld("clutch", "roll", "plate")]


TURNS, RINGS = ("plate_rx", "plate_ry", "plate_rz"), ("yaw", "pitch", "roll")
TURN = np.array([0.5, -0.4, 0.6])  # rad, about the axes of the plate


@lru_cache
def plates(independent: tuple[str, ...]) -> loops.ClosedChain:
    model, ties = plate()
    guess = np.concatenate([model.neutral[:4], [0.0, 0.0, 0.5], np.zeros(3)])
    return loops.ClosedChain(model, ties, independent, TURNS, guess=guess)


def stops(chain: loops.ClosedChain) -> list[Any]:
    """From rest to rest, in the coordinates of the independent joints."""
    start = plates(TURNS).posture
    end = loops.assemble(plates(TURNS), chain.model.displaced(start, np.concatenate([TURN, np.zeros(6)]))[:4])
    names, rest = chain.model.position_names, dict.fromkeys(chain.independent, 0.0)
    ends = [{names[k]: float(q[k]) for k in chain.independent_places} for q in (start, end)]
    return [co.initial(q=ends[0], qd=rest), co.final(q=ends[1], qd=rest)]


EFFORT = 0.5 * co.integral(lambda now: ca.sumsqr(now.tau))


def test_the_same_turn_by_a_quaternion_by_three_rings_and_with_the_loops_cut():
    """Independent is the ball, then the rings, from which the quaternion of the ball follows; then all are."""
    costs = []
    for independent in (TURNS, RINGS):
        here = plates(independent)
        problem = co.Problem(
            here.model, 1.0, parts=[loops.IndependentJoints(here)], minimize=EFFORT, subject_to=stops(here)
        )
        found = co.solve(problem, co.BSpline(20, degree=5))
        costs.append(found.cost)
        assert loops.closure_error(here, found.q).max() < 1e-12
        assert np.linalg.norm(found.q[:, :4], axis=1) == pytest.approx(1, abs=1e-6)
        assert co.verify(found).forward_error < 1e-9
    here = plates(TURNS)

    def guess(t: float) -> np.ndarray:
        way = np.concatenate([(3 * t**2 - 2 * t**3) * TURN, np.zeros(6)])
        return loops.assemble(here, here.model.displaced(here.posture, way)[:4])

    problem = co.Problem(
        here.model,
        1.0,
        minimize=EFFORT,
        subject_to=stops(here),
        parts=[loops.CutJoints(here)],
    )
    found = co.solve(problem, co.Radau(8, degree=6), guess=guess)
    assert loops.closure_error(here, found.q).max() < 1e-8
    assert costs == pytest.approx([found.cost] * 2, rel=1e-7)


def test_a_ball_joint_follows_its_quaternion_and_keeps_its_sign():
    here, rng = plates(TURNS), np.random.default_rng(5)
    way = np.concatenate([TURN, np.zeros(6)])
    samples = np.array([here.model.displaced(here.posture, s * way)[:4] for s in np.linspace(0, 1, 4)])
    for sign in (1.0, -1.0):
        q = loops.assemble(here, sign * samples)
        assert q[:, :4] == pytest.approx(sign * samples, abs=1e-12)
        assert loops.closure_error(here, q).max() < 1e-10
    back = loops.assemble(plates(RINGS), q[:, 7:])
    turn = np.abs((back[:, :4] * samples).sum(axis=1))
    assert turn == pytest.approx(1, abs=1e-12)
    longer = loops.assemble(here, 2.5 * samples[-1], guess=rng.normal(1.0, 0.01) * q[-1])
    assert longer[:4] == pytest.approx(samples[-1], abs=1e-9)


def test_what_has_no_coordinate_or_no_second_derivative_is_refused():
    model, ties = plate()
    with pytest.raises(co.InputError, match="inside of ball joint 'plate'"):
        loops.ClosedChain(model, [loops.spherical_loop("socket", "leg", "plate_rx")])
    guess = np.concatenate([model.neutral[:4], [0.0, 0.0, 0.5], np.zeros(3)])
    spinning = loops.ClosedChain(model, ties[:1], ("plate_rx", "plate_ry", "leg", *RINGS), guess=guess)
    for refused in (loops.IndependentJoints, lambda chain: loops.assemble(chain, np.zeros(6))):
        with pytest.raises(co.InputError, match="of the turns of ball joint 'plate' only plate_rx, plate_ry are"):
            refused(spinning)
    assert loops.ChainEvaluator(spinning).forces(spinning.posture, np.zeros(6), np.zeros(6)).tau.shape == (9,)
    with pytest.raises(co.InputError, match="Hessian of a chain's torques takes joints of one coordinate each"):
        loops.ChainEvaluator(spinning).hessian(spinning.posture, np.zeros(6), np.zeros(6), np.zeros(9))
    ends = np.zeros((3, 6))
    with pytest.raises(co.InputError, match="a movement of a chain by descent takes joints of one coordinate each"):
        co.descent.ChainMovement(spinning, co.descent.SplineMotion(ends, ends, 1.0, intervals=6))
