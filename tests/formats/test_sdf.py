"""SDF files, against URDFs of the same robots in Pinocchio, and against closed forms."""

from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest
from scipy.spatial.transform import Rotation

import colloc as co
from colloc.models.closed.four_bar import four_bar
from tests.support.random_loops import constrained_acceleration

pin: Any = pinocchio  # has no type stubs
INERTIAL = (
    "<inertial><pose>{pose}</pose><mass>{mass}</mass><inertia><ixx>{ixx}</ixx><ixy>{ixy}</ixy><ixz>{ixz}</ixz>"
    "<iyy>{iyy}</iyy><iyz>{iyz}</iyz><izz>{izz}</izz></inertia></inertial>"
)
ROD = INERTIAL.format(pose="0 0 -.5 0 0 0", mass=1, ixx=0.1, ixy=0, ixz=0, iyy=0.1, iyz=0, izz=0.01)


def numbers(values: Any) -> str:
    return " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def random_pose(rng: np.random.Generator) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = Rotation.from_quat(rng.normal(size=4)).as_matrix(), rng.normal(size=3)
    return pose


def angles(pose: np.ndarray) -> str:
    """Roll, pitch and yaw about fixed axes."""
    return numbers(Rotation.from_matrix(pose[:3, :3]).as_euler("xyz"))


def posed(rng: np.random.Generator, pose: np.ndarray, frames: dict[str, np.ndarray], default: str) -> str:
    """A <pose> relative to any of some frames, in one of three forms."""
    name = str(rng.choice(list(frames)))
    local = np.linalg.inv(frames[name]) @ pose
    turn, relative = Rotation.from_matrix(local[:3, :3]), f'relative_to="{name}"' if name != default else ""
    form = int(rng.integers(3))
    if form == 0:
        text, how = numbers(turn.as_quat()), 'rotation_format="quat_xyzw"'
    else:
        text, how = numbers(turn.as_euler("xyz", degrees=form == 1)), 'degrees="true"' if form == 1 else ""
    return f"<pose {relative} {how}>{numbers(local[:3, 3])} {text}</pose>"


def random_robot(rng: np.random.Generator, count: int) -> tuple[str, str]:
    """The same random tree as an SDF, with poses and axes in any frames, and as a URDF."""
    sdf, urdf, frames = [], [], {"__model__": np.eye(4)}
    for k in range(count):
        pose, about = random_pose(rng), random_pose(rng)
        points = rng.normal(size=(3, 8))
        moments = points @ points.T
        tensor = np.trace(moments) * np.eye(3) - moments
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": float(tensor[i, j]) for i in range(3) for j in range(i, 3)}
        inertial = INERTIAL.format(pose=f"{numbers(about[:3, 3])} {angles(about)}", mass=2.5, **entries)
        attributes = " ".join(f'{name}="{value!r}"' for name, value in entries.items())
        place = f'<origin xyz="{numbers(about[:3, 3])}" rpy="{angles(about)}"/>'
        sdf.append(f'<link name="link{k}">{posed(rng, pose, frames, "__model__")}{inertial}</link>')
        urdf.append(
            f'<link name="link{k}"><inertial>{place}<mass value="2.5"/><inertia {attributes}/></inertial></link>'
        )
        frames[f"link{k}"] = pose
        parent = "base" if k == 0 else f"link{rng.integers(k)}"
        kind = ("revolute", "continuous", "prismatic", "fixed")[int(rng.integers(4)) if k else 0]
        axis = rng.normal(size=3)  # in the link frame
        joint = pose @ random_pose(rng)  # whose origin must be on the axis
        joint[:3, 3] = (pose @ [*(rng.normal() * axis), 1.0])[:3]
        expressed = str(rng.choice(list(frames)))
        within = frames[expressed][:3, :3].T @ pose[:3, :3] @ axis
        frames[f"joint{k}"] = joint
        at = posed(rng, joint, {name: value for name, value in frames.items() if name != f"joint{k}"}, f"link{k}")
        axis_text = (
            f'<axis><xyz expressed_in="{expressed}">{numbers(within)}</xyz>'
            "<limit><lower>-1.5</lower><upper>2</upper><effort>7</effort><velocity>3</velocity></limit>"
            "<dynamics><damping>.3</damping></dynamics></axis>"
        )
        sdf.append(
            f'<joint name="joint{k}" type="{kind}"><parent>{parent if k else "world"}</parent><child>link{k}</child>'
            f"{at}{axis_text if kind != 'fixed' else ''}</joint>"
        )
        local = np.linalg.inv(frames[parent] if k else np.eye(4)) @ pose
        limit = '<limit lower="-1.5" upper="2" effort="7" velocity="3"/>' if kind != "fixed" else ""
        urdf.append(
            f'<joint name="joint{k}" type="{kind}"><parent link="{parent}"/><child link="link{k}"/>'
            f'<origin xyz="{numbers(local[:3, 3])}" rpy="{angles(local)}"/><axis xyz="{numbers(axis)}"/>{limit}</joint>'
        )
    rng.shuffle(sdf)
    return (
        f'<sdf version="1.9"><model name="tree">{"".join(sdf)}</model></sdf>',
        f'<robot name="tree"><link name="base"/>{"".join(urdf)}</robot>',
    )


def read(folder: Path, content: str, **options: Any) -> co.formats.Reading:
    path = folder / "robot.sdf"
    path.write_text(content if content.startswith("<sdf") else f'<sdf version="1.9">{content}</sdf>', encoding="utf-8")
    return co.formats.from_sdf(path, **options)


def model_of(*parts: str, version: str = "1.9", name: str = "robot") -> str:
    return f'<sdf version="{version}"><model name="{name}">{"".join(parts)}</model></sdf>'


def joint(name: str, kind: str, parent: str, child: str, *parts: str) -> str:
    return f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{"".join(parts)}</joint>'


@pytest.mark.parametrize("seed", range(8))
def test_torques_and_frames_are_those_of_the_urdf_in_pinocchio(tmp_path: Path, seed: int):
    rng = np.random.default_rng(seed)
    sdf, urdf = random_robot(rng, 3 + seed)
    reading, theirs = read(tmp_path, sdf), pin.buildModelFromXML(urdf)
    ours = reading.model
    assert set(ours.joint_names) == set(theirs.names) - {"universe"}
    q, qd, qdd = rng.uniform(-1, 1, (3, ours.n))
    configuration, rates = pin.neutral(theirs), np.zeros((2, theirs.nv))
    for k, name in enumerate(ours.joint_names):
        each = theirs.joints[theirs.getJointId(name)]
        configuration[each.idx_q : each.idx_q + each.nq] = q[k] if each.nq == 1 else (np.cos(q[k]), np.sin(q[k]))
        rates[:, each.idx_v] = qd[k], qdd[k]
    data = theirs.createData()
    torques = pin.rnea(theirs, data, configuration, *rates)
    expected = [torques[theirs.joints[theirs.getJointId(name)].idx_v] for name in ours.joint_names] + 0.3 * qd
    found = co.Evaluator(ours).torque(q, qd, qdd)
    assert np.abs(found - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())
    pin.framesForwardKinematics(theirs, data, configuration)
    for k in range(3 + seed):
        assert np.abs(turned(ours, q, f"link{k}") - data.oMf[theirs.getFrameId(f"link{k}")].homogeneous).max() < 1e-12
    limits = [each.limits for each in ours.joints if each.moves]
    assert {limit.torque for limit in limits} == {(-7.0, 7.0)}
    assert {limit.velocity for limit in limits} == {(-3.0, 3.0)}
    assert reading.changed == reading.left_out == ()


def turned(model: co.Model, q: Any, body: str) -> np.ndarray:
    """The link frame of a body in the world."""
    place, here = np.eye(4), body
    while here is not None:
        k = model.index(here)
        at = [] if model.dofs[k] is None else np.asarray(q, dtype=float)[model.places[k]]
        place = np.array(ca.evalf(model.bodies[k].joint.transform(ca.SX(ca.DM(at))))) @ place
        here = model.bodies[k].parent
    return place


@pytest.mark.parametrize("balls", ["angles", "quaternion"])
def test_balls_turn_about_the_joint_frame_and_carry_their_link_beyond_it(tmp_path: Path, balls: str):
    ball = joint("ball", "ball", "world", "rod", "<pose>0 0 .5 .3 0 0</pose>")
    reading = read(tmp_path, model_of(f'<link name="rod">{ROD}</link>', ball), balls=balls)
    rotation = Rotation.from_euler("ZYX", (0.4, -0.7, 1.1))
    q = rotation.as_quat()[[3, 0, 1, 2]] if balls == "quaternion" else (0.4, -0.7, 1.1)
    assert reading.model.joint_names == tuple(f"ball_r{k}" for k in ("xyz" if balls == "quaternion" else "zyx"))
    tilt, centre = Rotation.from_euler("x", 0.3), np.array([0, 0, 0.5])
    whole = (tilt * rotation * tilt.inv()).as_matrix()
    found = turned(reading.model, q, "rod")
    assert np.abs(found[:3, :3] - whole).max() < 1e-12
    assert np.abs(found[:3, 3] - (centre - whole @ centre)).max() < 1e-12


@pytest.mark.parametrize("kind", ["universal", "revolute2"])
def test_joints_of_two_axes_turn_about_the_first_and_then_the_second(tmp_path: Path, kind: str):
    axes = "<axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><limit><effort>2</effort></limit></axis2>"
    model = read(tmp_path, model_of(f'<link name="rod">{ROD}</link>', joint("hip", kind, "world", "rod", axes))).model
    assert model.joint_names == ("hip_1", "hip_2")
    expected = Rotation.from_euler("XY", (0.5, -0.3)).as_matrix()
    assert np.abs(turned(model, (0.5, -0.3), "rod")[:3, :3] - expected).max() < 1e-12
    assert model.limits("torque")[1].tolist() == [np.inf, 2.0]


@pytest.mark.parametrize(
    ("pitch", "advance"),
    [("<screw_thread_pitch>.01</screw_thread_pitch>", 0.01), ("<thread_pitch>-628.318530718</thread_pitch>", 0.01)],
)
def test_screws_advance_by_their_pitch_in_a_turn(tmp_path: Path, pitch: str, advance: float):
    """The older element has radians per metre of a left-handed thread."""
    axis = "<axis><xyz>0 0 1</xyz></axis>"
    screw = joint("screw", "screw", "world", "rod", axis, pitch)
    model = read(tmp_path, model_of(f'<link name="rod">{ROD}</link>', screw)).model
    place = turned(model, [np.pi / 2], "rod")
    assert place[2, 3] == pytest.approx(advance / 4, rel=1e-9)
    assert np.abs(place[:3, :3] - Rotation.from_euler("z", np.pi / 2).as_matrix()).max() < 1e-12


@pytest.mark.parametrize(
    ("version", "flag", "by_model"), [("1.4", "", True), ("1.6", "1", True), ("1.6", "0", False), ("1.7", "", False)]
)
def test_axes_of_old_versions_are_in_the_frame_of_the_model(tmp_path: Path, version: str, flag: str, by_model: bool):
    said = f"<use_parent_model_frame>{flag}</use_parent_model_frame>" if flag else ""
    hinge = joint("hinge", "revolute", "world", "rod", f"<axis><xyz>0 1 0</xyz>{said}</axis>")
    link = f'<link name="rod"><pose>0 0 0 0 0 1.5707963267948966</pose>{ROD}</link>'
    place = turned(read(tmp_path, model_of(link, hinge, version=version)).model, [0.7], "rod")[:3, :3]
    axis = (0, 1, 0) if by_model else (-1, 0, 0)
    expected = (Rotation.from_rotvec(0.7 * np.array(axis)) * Rotation.from_euler("z", np.pi / 2)).as_matrix()
    assert np.abs(place - expected).max() < 1e-12


def closed_four_bar(circle: bool) -> str:
    """The four-bar of the models in its assembled posture, the last pin as a joint that a second parent has."""
    chain = four_bar()
    at = {body.name: turned(chain.model, chain.posture, body.name) for body in chain.model.bodies}
    links = ['<link name="base"/>'] if circle else []
    for body in chain.model.bodies:
        inertia = np.array(ca.DM(body.inertia))
        entries = {f"i{'xyz'[i]}{'xyz'[j]}": float(inertia[i, j]) for i in range(3) for j in range(i, 3)}
        com = f"{numbers(np.array(ca.DM(body.com)).ravel())} 0 0 0"
        inertial = INERTIAL.format(pose=com, mass=float(body.mass), **entries)
        pose = f"<pose>{numbers(at[body.name][:3, 3])} {angles(at[body.name])}</pose>"
        links.append(f'<link name="{body.name}">{pose}{inertial}</link>')
    axis = "<axis><xyz>0 0 1</xyz><limit><effort>{effort}</effort></limit></axis>"
    ground = "base" if circle else "world"
    joints = [
        joint("motor", "revolute", ground, "crank", axis.format(effort=50)),
        joint("knee", "revolute", "crank", "coupler", axis.format(effort=0)),
        joint("hinge", "revolute", ground, "rocker", axis.format(effort=0)),
        joint("pin", "revolute", "coupler", "rocker", '<pose relative_to="rocker">.4 0 0 0 0 0</pose>', axis),
    ]
    if circle:
        joints[2] = joint("hinge", "revolute", "rocker", "base", '<pose relative_to="rocker"/>', axis.format(effort=0))
    return model_of(*links, *(text.replace("{effort}", "0") for text in joints))


@pytest.mark.parametrize("circle", [False, True])
def test_a_second_parent_closes_a_loop_that_moves_as_the_model_in_code(tmp_path: Path, circle: bool):
    reading = read(tmp_path, closed_four_bar(circle), gravity=(0, -9.81, 0))
    chain, other = reading.chain(), four_bar()
    assert (chain.mobility, chain.actuators, len(reading.loops)) == (1, ("motor",), 1)
    assert np.abs(chain.posture).max() < 1e-9  # where the file has it
    u, udd = np.array([1.7]), np.array([-2.3])
    found, wanted = (co.loops.ChainEvaluator(each) for each in (chain, other))
    torque = wanted.forces(other.posture, u, udd).tau[0]
    tau = found.forces(chain.posture, u, udd).tau
    assert tau[0] == pytest.approx(torque, rel=1e-12)
    motion = found.motion(chain.posture, u, udd)
    assert np.abs(constrained_acceleration(chain, chain.posture, motion.qd, tau) - motion.qdd).max() < 1e-9


@pytest.mark.parametrize(
    ("kind", "axis", "loop"),
    [("fixed", "", "weld"), ("ball", "", "spherical"), ("prismatic", "<axis><xyz>1 0 0</xyz></axis>", "prismatic")],
)
def test_joints_of_other_types_close_loops_too(tmp_path: Path, kind: str, axis: str, loop: str):
    hinge = "<axis><xyz>0 0 1</xyz></axis>"
    links = "".join(f'<link name="{name}">{ROD}</link>' for name in "ab")
    joints = joint("one", "revolute", "world", "a", hinge) + joint("two", "revolute", "a", "b", hinge)
    reading = read(tmp_path, model_of(links, joints, joint("last", kind, "world", "b", axis)))
    assert [(each.name, each.kind) for each in reading.loops] == [("last", loop)]
    assert reading.model.joint_names == ("one", "two")


def test_models_without_a_joint_to_the_world_are_fixed_or_free(tmp_path: Path):
    links = f'<pose>0 0 2 0 0 0</pose><link name="base">{ROD}</link><link name="arm">{ROD}</link>'
    hinge = joint("hinge", "revolute", "base", "arm", "<axis><xyz>0 1 0</xyz></axis>")
    fixed = read(tmp_path, model_of(links, hinge))
    assert fixed.model.joint_names == ("hinge",)
    assert fixed.changed == ("link 'base', which no joint carries, is fixed; base='free' lets it move",)
    assert turned(fixed.model, [0.0], "arm")[2, 3] == 2.0
    free = read(tmp_path, model_of(links, hinge), base="free").model
    assert free.joint_names == (*(f"base_{end}" for end in ("tx", "ty", "tz", "rx", "ry", "rz")), "hinge")
    assert free.limits("torque")[1][:6].tolist() == [0.0] * 6


def test_a_static_model_is_a_scene_of_shapes(tmp_path: Path):
    shape = '<collision name="c"><geometry><sphere><radius>.2</radius></sphere></geometry></collision>'
    link = f'<link name="rod"><pose>0 0 1 0 0 0</pose>{ROD}{shape}</link>'
    reading = read(tmp_path, model_of("<static>true</static><pose>3 0 0 0 0 0</pose>", link, HINGE), base="free")
    assert reading.model.n == 0
    (ball,) = co.formats.collision_shapes(reading)
    assert ball.body is None
    assert reading.shapes[0].placement[:3, 3].tolist() == [3.0, 0.0, 1.0]
    assert reading.changed[0] == "joint 'hinge' is fixed, as the model is static"


def test_frames_are_bodies_and_markers_and_shapes_have_sizes(tmp_path: Path):
    shape = (
        '<collision name="c"><pose>0 0 1 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry></collision>'
        '<visual name="v"><geometry><mesh><uri>model://arm/rod.dae</uri></mesh></geometry>'
        "<material><diffuse>1 0 0 1</diffuse></material></visual>"
    )
    hinge = joint("hinge", "revolute", "world", "rod", "<axis><xyz>0 1 0</xyz></axis>")
    tool = '<frame name="tool" attached_to="rod"><pose>0 0 -1 0 1 0</pose></frame>'
    tip = '<frame name="tip" attached_to="tool"><pose>.1 0 0 0 0 0</pose></frame>'
    reading = read(tmp_path, model_of(f'<link name="rod">{ROD}{shape}</link>', hinge, tip, tool))
    assert list(reading.model.markers) == ["tip", "tool"]
    expected = np.array([0.1 * np.cos(1.0), 0, -1 - 0.1 * np.sin(1.0)])
    assert np.abs(turned(reading.model, [0.0], "tip")[:3, 3] - expected).max() < 1e-12
    mesh, box = sorted(reading.shapes, key=lambda each: each.kind, reverse=True)
    assert (box.kind, box.entries("size", 3).tolist(), box.placement[2, 3]) == ("box", [1.0, 2.0, 3.0], 1.0)
    assert (mesh.numbers["filename"], mesh.color) == ("model://arm/rod.dae", (1.0, 0.0, 0.0, 1.0))


def test_joints_follow_others_and_springs_are_read(tmp_path: Path):
    links = "".join(f'<link name="{name}">{ROD}</link>' for name in "ab")
    spring = "<dynamics><spring_stiffness>3</spring_stiffness><spring_reference>.2</spring_reference></dynamics>"
    mimic = '<mimic joint="one"><multiplier>2</multiplier><offset>.5</offset><reference>.1</reference></mimic>'
    one = joint("one", "revolute", "world", "a", f"<axis><xyz>0 1 0</xyz>{spring}</axis>")
    two = joint("two", "revolute", "a", "b", f"<axis><xyz>0 1 0</xyz>{mimic}</axis>")
    model = read(tmp_path, model_of(links, one, two)).model
    assert model.joint_names == ("one",)
    coupling = model.couplings["two"]
    assert (coupling.joint, coupling.ratio) == ("one", 2.0)
    assert coupling.offset == pytest.approx(0.3)
    passive = next(each.passive for each in model.joints if each.name == "one")
    assert (passive.stiffness, passive.rest) == (3.0, 0.2)


def test_a_world_has_gravity_and_what_is_not_read_is_listed(tmp_path: Path):
    hinge = joint("hinge", "revolute", "world", "rod", "<axis><xyz>0 1 0</xyz></axis>", "<sensor name='s'/>")
    world = '<world name="w"><gravity>0 0 -1.6</gravity><light/>{}</world>'
    inner = model_of(f'<link name="rod">{ROD}<gravity>0</gravity></link>', hinge, "<plugin/>")
    model = inner.removeprefix('<sdf version="1.9">').removesuffix("</sdf>")
    with pytest.warns(co.support.InputWarning, match="link rod has weight, though the file switches its gravity off"):
        reading = read(tmp_path, world.format(model))
    assert reading.model.gravity.tolist() == [0.0, 0.0, -1.6]
    assert set(reading.left_out) == {
        "1 <light> of the world", "1 <plugin> of the model", "1 <gravity> of links: rod", "1 <sensor> of joints: hinge"
    }  # fmt: skip
    on = read(tmp_path, inner.replace("<gravity>0", "<gravity>true"))
    assert on.model.gravity.tolist() == [0.0, 0.0, -9.81]
    assert "gravity" not in str(on.left_out)


HINGE = joint("hinge", "revolute", "world", "rod", "<axis><xyz>0 1 0</xyz></axis>")
LINK = f'\n<link name="rod">{ROD}</link>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('<model name="a"/>\n<model name="b"/>', r"one model, got 'a', 'b'.*\(line 2\)"),
        ("<world/>", r"one model, got none.*\(line 1\)"),
        (f'<model name="a">{LINK}\n<include/></model>', r"<include> is not read.*\(line 3\)"),
        ('<model name="a">\n<model name="b"/></model>', r"model 'b' within a model is not read.*\(line 2\)"),
        (
            f'<model name="a">{LINK}{HINGE.replace("rod", "bar")}</model>',
            r"no frame \(of 'hinge'\) named 'bar'.*line 2",
        ),
        (
            f'<model name="a">{LINK}{HINGE.replace("revolute", "gearbox")}</model>',
            r"'hinge' is of type 'gearbox'; supp.*screw; write it as two joints, of which one has a <mimic>",
        ),
        (
            f'<model name="a">{LINK}{HINGE}\n<frame name="f" attached_to="g"/>'
            '<frame name="g" attached_to="f"/></model>',
            r"frames go in a circle: f -> g -> f \(line 3\)",
        ),
        (
            f'<model name="a">{LINK}{HINGE.replace("<xyz>", "<limit><lower>1</lower><upper>0</upper></limit><xyz>")}'
            "</model>",
            r"position limits of joint 'hinge' are exchanged, lower=1, upper=0: .*\(line 2\)",
        ),
        (
            f'<model name="a">{LINK.replace("-.5 0 0 0", "0")}{HINGE}</model>',
            r"<pose> of <inertial> '' must be 6 finite",
        ),
    ],
)
def test_what_is_not_read_is_refused_with_its_line(tmp_path: Path, content: str, words: str):
    with pytest.raises(co.InputError, match=words):
        read(tmp_path, content)


def test_links_without_an_inertial_have_that_of_the_format(tmp_path: Path):
    reading = read(tmp_path, model_of('<link name="rod"/>', HINGE))
    assert float(reading.model.bodies[0].mass) == 1.0
    assert reading.changed == ("link 'rod' has no <inertial>: it has 1 kg and 1 kg m2, by the rules of the format",)


def test_rotors_and_limits_of_acceleration_are_those_of_drake(tmp_path: Path):
    text = (
        f'<sdf version="1.7"><model name="m"><link name="rod">{ROD}</link><joint name="j" type="revolute">'
        "<parent>world</parent><child>rod</child><axis><xyz>0 1 0</xyz><limit><lower>-1</lower><upper>1</upper>"
        "<drake:acceleration>8.65</drake:acceleration></limit></axis><drake:gear_ratio>160</drake:gear_ratio>"
        "<drake:rotor_inertia>{}</drake:rotor_inertia></joint></model></sdf>"
    )
    path = tmp_path / "rotor.sdf"
    path.write_text(text.format(7.5e-5), encoding="utf-8")
    reading = co.formats.from_sdf(path)
    assert reading.left_out == ()
    assert reading.model.joints[0].limits.acceleration == (-8.65, 8.65)
    # Steiner's moment of the rod, and the rotor's inertia times the ratio squared.
    assert co.Evaluator(reading.model).mass_matrix([0.3]).item() == pytest.approx(0.1 + 0.25 + 160**2 * 7.5e-5)
    path.write_text(text.format(-1), encoding="utf-8")
    with pytest.raises(co.InputError, match=r"drake:rotor_inertia must not be negative, got -1 \(line 1\)"):
        co.formats.from_sdf(path)
