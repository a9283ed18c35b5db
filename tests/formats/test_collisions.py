"""Shapes of files against the programs that the files are for: MuJoCo and Pinocchio."""

# pyright: reportArgumentType=false

import struct
from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pinocchio
import pytest

import colloc as co

mj: Any = mujoco  # has no type stubs
pin: Any = pinocchio
SMOOTHING = 1e-4  # m

URDF = """<robot name="arm">
  <link name="base"><collision><origin xyz="0 0 -0.2"/><geometry><cylinder radius="0.1" length="0.3"/></geometry>
    </collision></link>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><origin xyz="0.2 0 0" rpy="0.3 0.1 0.2"/><geometry><box size="0.3 0.06 0.08"/></geometry></collision>
  </link>
  <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
    <collision><origin xyz="0.15 0 0"/><geometry><mesh filename="package://arm/wedge.obj" scale="0.1 0.1 0.2"/>
    </geometry></collision>
    <collision><origin xyz="0.4 0 0"/><geometry><sphere radius="0.05"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="2"/></joint>
  <joint name="bend" type="revolute"><origin xyz="0.4 0 0"/><parent link="upper"/><child link="fore"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="2"/></joint>
</robot>"""
WEDGE = np.array([[-1, -1, -1], [1, -1, -1], [0, 1, -1], [0, 0, 1.0], [0.5, 0, 0.5]])
MJCF = """<mujoco model="arm"><asset><mesh name="wedge" vertex="{wedge}"/></asset><worldbody>
  <geom name="table" type="box" size="0.5 0.5 0.02" pos="0 0 -0.5" euler="5 10 20"/>
  <body name="upper" pos="0 0 0.2" euler="10 0 30"><joint name="turn" axis="0 1 0.2"/>
    <geom name="bar" type="capsule" fromto="0 0 0 0.3 0 0.1" size="0.04"/>
    <geom name="looks" type="box" size="0.1 0.1 0.1" contype="0" conaffinity="0"/>
    <body name="fore" pos="0.4 0 0.1"><joint name="bend" axis="0 1 0"/>
      <geom name="palm" type="mesh" mesh="wedge" pos="0.2 0 0" euler="0 40 0"/>
      <body name="hand" pos="0.3 0 0"><joint name="roll" axis="1 0 0"/>
        <geom name="drum" type="cylinder" size="0.05 0.1" pos="0.1 0.1 0"/>
        <geom name="ball" type="sphere" size="0.06" pos="0.2 0 0"/></body></body></body></worldbody></mujoco>"""


def urdf(folder: Path) -> co.formats.Reading:
    lines = [f"v {x} {y} {z}" for x, y, z in WEDGE] + ["f 1 2 3", "f 1 2 4", "f 2 3 4", "f 3 1 4", "f 1 2 5"]
    (folder / "wedge.obj").write_text("\n".join(lines), encoding="utf-8")
    (folder / "arm.urdf").write_text(URDF, encoding="utf-8")
    return co.formats.from_urdf(folder / "arm.urdf")


def distances(model: co.Model, pairs: Any) -> ca.Function:
    problem = co.Problem(model, 1.0, co.duration())
    now = problem.instant
    return ca.Function("far", [now.q], [ca.vertcat(*(now.distance(a, b, SMOOTHING) for a, b in pairs))])


def test_shapes_of_a_urdf_are_where_pinocchio_has_their_links(tmp_path):
    reading = urdf(tmp_path)
    base, upper, wedge, ball = shapes = co.formats.collision_shapes(reading)
    assert [shape.label for shape in shapes] == ["base", "upper", "fore", "fore 2"]
    model = pin.buildModelFromUrdf(str(tmp_path / "arm.urdf"))
    data, rng = model.createData(), np.random.default_rng(0)
    q = ca.SX.sym("q", 2)
    places = ca.Function("places", [q], [_world(reading.model, shape, q) for shape in (upper, wedge, ball, base)])
    for _ in range(20):
        at = rng.uniform(-3, 3, 2)
        pin.framesForwardKinematics(model, data, at)
        box, points, centre, prism = (np.array(part).T for part in places(at))
        frames = [data.oMf[model.getFrameId(name)] for name in ("upper", "fore", "fore")]
        turn = pin.rpy.rpyToMatrix(0.3, 0.1, 0.2)
        corner = frames[0].act(turn @ np.array([0.15, 0.03, 0.04]) + np.array([0.2, 0.0, 0.0]))
        assert np.linalg.norm(box - corner, axis=1).min() < 1e-9
        tip = frames[1].act(np.array([0.15, 0.0, 0.2]))
        assert np.linalg.norm(points - tip, axis=1).min() < 1e-9
        np.testing.assert_allclose(centre[0], frames[2].act(np.array([0.4, 0.0, 0.0])), atol=1e-12)
        assert (np.hypot(prism[:, 0], prism[:, 1]) >= 0.1).all()
        assert sorted(set(prism[:, 2].round(9))) == [-0.35, -0.05]


def _world(model: co.Model, shape: Any, q: ca.SX) -> ca.SX:
    return ca.horzcat(*(co.model.point_motion(model, shape.body, p, q=q).position for p in ca.horzsplit(shape.corners)))


def test_distances_between_shapes_of_mjcf_are_those_of_mujoco(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(MJCF.format(wedge=" ".join(map(str, (0.1 * WEDGE).ravel()))), encoding="utf-8")
    reading = co.formats.from_mjcf(path)
    table, bar, palm, drum, ball = shapes = co.formats.collision_shapes(reading)
    assert [shape.label for shape in shapes] == ["world", "upper", "fore", "hand", "hand 2"]
    assert table.body is None
    names = {table: "table", bar: "bar", palm: "palm", drum: "drum", ball: "ball"}
    pairs = [(table, bar), (table, palm), (bar, ball), (palm, ball), (table, drum)]
    function = distances(reading.model, pairs)
    compiled = mj.MjModel.from_xml_path(str(path))
    data, rng = mj.MjData(compiled), np.random.default_rng(1)
    compared = 0
    for _ in range(60):
        data.qpos[:] = rng.uniform(-2, 2, 3)
        mj.mj_kinematics(compiled, data)
        ours = np.array(function(data.qpos))[:, 0]
        for (a, b), far in zip(pairs, ours, strict=True):
            numbers = [compiled.geom(names[shape]).id for shape in (a, b)]
            theirs = mj.mj_geomDistance(compiled, data, *numbers, 10.0, None)
            if theirs < 0.02:
                continue
            compared += 1
            slack = 2e-3 if drum in (a, b) else 0.0  # the prism around a cylinder is that much thicker
            assert -1e-5 <= theirs - far <= SMOOTHING + slack + 1e-5
    assert compared > 100


def test_pairs_are_those_that_might_meet(tmp_path):
    reading = urdf(tmp_path)
    base, upper, wedge, ball = co.formats.collision_shapes(reading)
    shelf = co.model.Box(None, (0.1, 1.0, 0.02), co.placement((0.6, 0.0, 0.3)), name="shelf")
    model = reading.model
    pairs = co.model.avoidance_pairs(model, [base, upper, wedge, ball, shelf])
    # The base does not move, and has nothing to do with the shelf; it and the upper arm are neighbours.
    assert [(a.label, b.label) for a, b in pairs] == [
        ("base", "fore"), ("base", "fore 2"), ("upper", "shelf"), ("fore", "shelf"), ("fore 2", "shelf"),
    ]  # fmt: skip
    folded = co.model.avoidance_pairs(model, [base, upper, ball], {"folded": {"bend": 3.0}})
    assert folded == ()  # where the ball lies in the base
    assert co.model.avoidance_pairs(model, [base, ball]) == ()  # neighbours, with nothing between them
    with pytest.raises(co.InputError, match=r"no joint \(of posture 'home'\) named 'bent'"):
        co.model.avoidance_pairs(model, [base], {"home": {"bent": 0.0}})
    with pytest.raises(co.InputError, match="no body named 'hand'"):
        co.model.avoidance_pairs(model, [co.model.Box("hand", (1, 1, 1))])


def test_meshes_are_read_from_text_and_binary(tmp_path):
    corners = WEDGE[[0, 1, 2, 0, 1, 3]].reshape(2, 3, 3)
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x} {y} {z}\n" for x, y, z in facet)
        + "endloop\nendfacet\n"
        for facet in corners
    )
    (tmp_path / "text.stl").write_text(f"solid wedge\n{facets}endsolid\n", encoding="utf-8")
    binary = b"solid".ljust(80) + struct.pack("<I", 2)
    for facet in corners:
        binary += struct.pack("<12fH", 0, 0, 0, *facet.ravel(), 0)
    (tmp_path / "binary.STL").write_bytes(binary)
    wanted = np.unique(WEDGE[:4], axis=0)
    for name in ("text.stl", "binary.STL"):
        np.testing.assert_allclose(co.formats.mesh_vertices(tmp_path / name), wanted)
    (tmp_path / "empty.obj").write_text("o nothing\n", encoding="utf-8")
    with pytest.raises(co.InputError, match="has no vertices"):
        co.formats.mesh_vertices(tmp_path / "empty.obj")
    with pytest.raises(co.InputError, match=r"read from .obj and .stl files, got 'a.dae'"):
        co.formats.mesh_vertices("a.dae")


def test_what_cannot_be_read_is_left_out_by_name(tmp_path):
    text = URDF.replace("wedge.obj", "wedge.dae").replace("<sphere", "<torus")
    (tmp_path / "arm.urdf").write_text(text, encoding="utf-8")
    reading = co.formats.from_urdf(tmp_path / "arm.urdf")
    with pytest.warns(co.support.InputWarning, match=r"fore \(no file 'package://arm/wedge.dae'\), fore 2 \(a torus\)"):
        shapes = co.formats.collision_shapes(reading)
    assert len(shapes) == 2
    (tmp_path / "arm.urdf").write_text(URDF.replace('radius="0.05"', 'radius="big"'), encoding="utf-8")
    (tmp_path / "wedge.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1", encoding="utf-8")
    with pytest.raises(co.InputError, match="radius of the sphere of 'fore' must be 1 number, got 'big'"):
        co.formats.collision_shapes(co.formats.from_urdf(tmp_path / "arm.urdf"))


SCENES = {
    "table.urdf": """<robot name="table"><link name="top"><collision><origin xyz="0 0 0.05"/>
        <geometry><box size="0.6 1 0.1"/></geometry></collision></link>
      <link name="lamp"><collision><geometry><sphere radius="0.2"/></geometry></collision></link>
      <joint name="stand" type="fixed"><parent link="top"/><child link="lamp"/><origin xyz="0.3 0 0.5" rpy="0 0 1.57"/>
      </joint></robot>""",
    "table.xml": """<mujoco model="table"><worldbody><body name="top">
      <geom type="box" size="0.3 0.5 0.05" pos="0 0 0.05"/>
      <body name="lamp" pos="0.3 0 0.5" euler="0 0 90"><geom size="0.2"/></body></body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("file", SCENES)
def test_a_file_in_which_nothing_moves_is_a_scene_of_obstacles(tmp_path, file):
    """A point passes over the lamp, which stands in its way, in the place that the scene is given."""
    path = tmp_path / file
    path.write_text(SCENES[file], encoding="utf-8")
    reading = (co.formats.from_urdf if path.suffix == ".urdf" else co.formats.from_mjcf)(path)
    assert reading.model.n == 0
    assert "no body of 'table' moves: its shapes are fixed to the world" in str(reading)
    top, lamp = co.formats.collision_shapes(reading, placement=co.placement((1.0, 0.0, 0.0)))
    assert (top.body, lamp.body, top.name, lamp.name) == (None, None, "top", "lamp")
    assert isinstance(lamp, co.Capsule)
    assert np.array(ca.DM(lamp.start)).ravel() == pytest.approx([1.3, 0.0, 0.5])
    slides = [
        co.Body("x", co.prismatic((1, 0, 0))),
        co.Body("z", co.prismatic((0, 0, 1)), "x", mass=1.0, inertia=(0.1, 0.1, 0.1)),
    ]
    point = co.Model(slides, gravity=(0, 0, 0))
    ball = co.Capsule("z", (0, 0, 0), (0, 0, 0), radius=0.1)
    ends = [co.initial(q=(0.0, 0.55), qd=0.0), co.final(q=(2.6, 0.55), qd=0.0)]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    over = co.solve(co.Problem(point, 1.0, effort, [*ends, co.clearance(ball, lamp)]), co.BSpline(16))
    assert over.status is co.solver.Status.SOLVED
    distance = np.linalg.norm(over.at(np.linspace(0, 1, 501)).q - [1.3, 0.5], axis=1)
    assert distance.min() == pytest.approx(0.3, abs=1e-4)
