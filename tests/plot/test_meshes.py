"""Meshes of files in the viewer: where Pinocchio and MuJoCo have them, shown by Chromium without a network."""

# pyright: reportArgumentType=false

import base64
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio
import pytest
from PIL import Image

import colloc as co
from colloc.plot import triangles as reading_of_meshes
from colloc.plot.triangles import LinkMesh, link_meshes, triangles
from colloc.plot.viewer import Viewer
from tests.plot.test_viewer import NODE, scene_of, unpacked

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = (
    "--headless --no-sandbox --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist "
    "--window-size=600,450"
)
mj: Any = mujoco  # has no type stubs
pin: Any = pinocchio

CORNERS = np.array([[0, 0, 0], [0.4, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
INERTIA = '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/>'
URDF = f"""<robot name="arm">
  <material name="orange"><color rgba="1 0.5 0 1"/></material>
  <link name="base"><visual><geometry><cylinder radius="0.08" length="0.2"/></geometry></visual></link>
  <link name="upper"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>{INERTIA}</inertial>
    <visual><origin xyz="0 0 0.02" rpy="0.1 0.2 0.3"/><geometry><mesh filename="package://arm/wedge.obj"/></geometry>
      <material name="red"><color rgba="1 0 0 1"/></material></visual>
    <visual><geometry><mesh filename="wedge.dae"/></geometry></visual></link>
  <link name="fore"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>{INERTIA}</inertial>
    <visual><origin xyz="0.1 0 0" rpy="0 0.5 0"/><geometry><mesh filename="wedge.stl" scale="0.5 0.5 -1"/></geometry>
      <material name="orange"/></visual>
    <collision><geometry><sphere radius="1"/></geometry></collision></link>
  <link name="hand"><inertial><mass value="1"/>{INERTIA}</inertial>
    <collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision></link>
  <joint name="turn" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" effort="10" velocity="5"/></joint>
  <joint name="bend" type="revolute"><origin xyz="0.4 0 0" rpy="0.2 0 0"/><parent link="upper"/><child link="fore"/>
    <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="5"/></joint>
  <joint name="wrist" type="fixed"><origin xyz="0.3 0 0"/><parent link="fore"/><child link="hand"/></joint>
</robot>"""
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
  <asset><unit name="meter" meter="1"/><up_axis>Z_UP</up_axis></asset>
  <library_effects><effect id="paint"><profile_COMMON><technique sid="common"><lambert><diffuse>
    <color>0 0 1 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
  <library_materials><material id="blue"><instance_effect url="#paint"/></material></library_materials>
  <library_geometries><geometry id="wedge"><mesh>
    <source id="places"><float_array id="numbers" count="12">{corners}</float_array><technique_common>
      <accessor source="#numbers" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
      <param name="Z" type="float"/></accessor></technique_common></source>
    <vertices id="corners"><input semantic="POSITION" source="#places"/></vertices>
    <triangles count="4" material="blue"><input semantic="VERTEX" source="#corners" offset="0"/><p>{faces}</p>
    </triangles></mesh></geometry></library_geometries>
  <library_visual_scenes><visual_scene id="scene"><node><matrix>0 -1 0 0.1  1 0 0 0.2  0 0 1 0.3  0 0 0 1</matrix>
    <instance_geometry url="#wedge"><bind_material><technique_common>
    <instance_material symbol="blue" target="#blue"/></technique_common></bind_material></instance_geometry>
    </node></visual_scene></library_visual_scenes><scene><instance_visual_scene url="#scene"/></scene></COLLADA>"""


@pytest.fixture
def arm(tmp_path: Path) -> co.formats.Reading:
    """An arm with a mesh in every format."""
    folder = tmp_path / "arm"
    folder.mkdir()
    lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    (folder / "wedge.obj").write_text("\n".join(lines), encoding="utf-8")
    facets = [f"facet normal 0 0 0\nouter loop\n{_vertices(CORNERS[face])}\nendloop\nendfacet" for face in FACES]
    (folder / "wedge.stl").write_text("solid wedge\n" + "\n".join(facets) + "\nendsolid wedge\n", encoding="utf-8")
    numbers = {"corners": " ".join(map(str, CORNERS.ravel())), "faces": " ".join(map(str, FACES.ravel()))}
    (folder / "wedge.dae").write_text(DAE.format(**numbers), encoding="utf-8")
    (folder / "arm.urdf").write_text(URDF, encoding="utf-8")
    return co.formats.from_urdf(folder / "arm.urdf")


def _vertices(corners: np.ndarray) -> str:
    return "\n".join(f"vertex {x} {y} {z}" for x, y, z in corners)


def placements(viewer: Viewer, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Times of a page, and where the body of a number is at them, shape (N, 4, 4)."""
    (segment,) = scene_of(viewer)["recordings"][0]["segments"]
    rows = unpacked(segment["frames"]).reshape(segment["frames"]["n"], -1, 3, 4)[:, body]
    return unpacked(segment["t"])[:, 0], np.concatenate([rows, np.tile([[[0.0, 0.0, 0.0, 1.0]]], (len(rows), 1, 1))], 1)


def mesh_of(packed: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the triangles of a page, shape (M, 3, 3), and their colours."""
    faces = np.frombuffer(base64.b64decode(packed["faces"]), "<u4" if packed["wide"] else "<u2").reshape(-1, 3)
    colors = np.frombuffer(base64.b64decode(packed["colors"]), np.uint8).reshape(-1, 4)
    return unpacked(packed["vertices"])[faces], colors


def test_links_are_where_pinocchio_has_them(arm: co.formats.Reading, tmp_path: Path):
    t = np.linspace(0.0, 2.0, 9)
    q = np.column_stack([np.sin(t), 0.5 - t])
    viewer = co.plot.view(arm.model, q, t, meshes=arm.shapes)
    file = str(tmp_path / "arm" / "arm.urdf")
    model = pin.buildModelFromUrdf(file)
    data = model.createData()
    bodies = link_meshes(arm.shapes).bodies
    assert set(bodies) == {"base", "upper", "fore", "hand"}
    for number, link in enumerate(bodies):
        times, frames = placements(viewer, number)
        np.testing.assert_allclose(times, t, atol=1e-4)
        for time, frame in zip(t, frames, strict=True):
            pin.framesForwardKinematics(model, data, np.array([np.sin(time), 0.5 - time]))
            np.testing.assert_allclose(frame, data.oMf[model.getFrameId(link)].homogeneous, atol=3e-5)


def test_meshes_have_the_vertices_that_pinocchio_reads(arm: co.formats.Reading, tmp_path: Path):
    file, q = str(tmp_path / "arm" / "arm.urdf"), np.array([0.3, -0.4])
    model = pin.buildModelFromUrdf(file)
    packages = [str(tmp_path), str(tmp_path / "arm")]
    whole = URDF.replace('filename="wedge', 'filename="package://arm/wedge')
    (tmp_path / "whole.urdf").write_text(whole, encoding="utf-8")
    geometry = pin.buildGeomFromUrdf(
        model, str(tmp_path / "whole.urdf"), pin.GeometryType.VISUAL, package_dirs=packages
    )
    data, placed = model.createData(), geometry.createData()
    pin.framesForwardKinematics(model, data, q)
    pin.updateGeometryPlacements(model, data, geometry, placed)
    theirs = {
        Path(shape.meshPath).name: [place.act(vertex) for vertex in shape.geometry.vertices()]
        for shape, place in zip(geometry.geometryObjects, placed.oMg, strict=True)
        if "wedge" in shape.meshPath
    }
    meshes = [shape for shape in arm.shapes if shape.kind == "mesh"]
    assert len(meshes) == len(theirs) == 3
    for shape in meshes:
        assert shape.file is not None
        frame, (part,) = data.oMf[model.getFrameId(shape.body)], triangles(shape)
        ours = unique([frame.act(vertex) for vertex in part.vertices])
        assert len(ours) == 4
        np.testing.assert_allclose(ours, unique(theirs[shape.file.name]), atol=2e-5)
        assert part.volume == pytest.approx(0.4 * 0.1 * 0.1 / 6 * (0.25 if "scale" in shape.numbers else 1.0))


def color_of(part: Any) -> list[int]:
    return part.visual.material.main_color.tolist()


def unique(points: Any) -> np.ndarray:
    return np.unique(np.round(np.array(points), 5), axis=0)


def test_colours_are_those_of_the_mesh_before_those_of_the_model(arm: co.formats.Reading):
    wedge, painted, small = (shape for shape in arm.shapes if shape.kind == "mesh")
    assert (wedge.color, painted.color, small.color) == ((1, 0, 0, 1), None, (1, 0.5, 0, 1))
    assert [color_of(triangles(shape)[0]) for shape in (wedge, painted, small)] == [
        [255, 0, 0, 255],
        [0, 0, 255, 255],
        [255, 128, 0, 255],
    ]


def test_links_without_looks_are_drawn_as_they_collide(arm: co.formats.Reading):
    assert sorted(str(part.body) for part in link_meshes(arm.shapes).parts) == [
        "base",
        "fore",
        "hand",
        "upper",
        "upper",
    ]


def test_the_page_has_the_triangles_of_the_files(arm: co.formats.Reading):
    meshes = link_meshes(arm.shapes)
    packed = scene_of(co.plot.view(arm.model, meshes=arm.shapes))["meshes"]
    assert [mesh["body"] for mesh in packed] == [meshes.bodies.index(str(part.body)) for part in meshes.parts]
    for mesh, part in zip(packed, meshes.parts, strict=True):
        corners, colors = mesh_of(mesh)
        np.testing.assert_allclose(corners, part.vertices[part.faces], atol=2e-5)
        np.testing.assert_array_equal(colors, part.colors)
    wedge = next(part for part in meshes.parts if part.body == "upper")
    assert len(wedge.vertices) == len(wedge.faces) == 4


def test_large_meshes_are_thinned_and_the_page_says_so(arm: co.formats.Reading, monkeypatch: pytest.MonkeyPatch):
    ball = co.formats.LinkShape("hand", "visual", "sphere", np.eye(4), {"radius": "0.1"})
    whole = link_meshes([ball])
    assert whole.size == whole.total == 1280
    monkeypatch.setattr(reading_of_meshes, "_LIMIT", 500)
    thin = link_meshes([ball])
    assert 100 < thin.size <= 500
    assert thin.total == 1280
    np.testing.assert_allclose(np.linalg.norm(thin.parts[0].vertices, axis=1), 0.1, rtol=0.1)
    (recording,) = scene_of(co.plot.view(arm.model, meshes=[ball]))["recordings"]
    assert recording["detail"] == f"meshes thinned from 1,280 to {thin.size} triangles"


def test_colours_of_single_triangles_are_kept(arm: co.formats.Reading):
    import trimesh
    from trimesh.visual import ColorVisuals

    part = trimesh.Trimesh(CORNERS, FACES, process=False)
    paint = np.array([[255, 0, 0, 255], [0, 255, 0, 255], [0, 0, 255, 255], [9, 9, 9, 100]])
    part.visual = ColorVisuals(part, face_colors=paint)
    np.testing.assert_array_equal(reading_of_meshes._colors(part), paint)
    part.visual.face_colors = [1, 2, 3, 4]
    np.testing.assert_array_equal(reading_of_meshes._colors(part), [[1, 2, 3, 4]])


def test_vertices_that_are_merged_lose_the_triangles_between_them():
    part = LinkMesh("hand", CORNERS + 0.0, FACES, np.arange(16).reshape(4, 4))
    close = np.vstack([part.vertices, part.vertices[1] + 1e-4])  # a fifth vertex beside the second
    finer = part._replace(vertices=close, faces=np.vstack([FACES, [1, 4, 2]]), colors=np.arange(20).reshape(5, 4))
    merged = reading_of_meshes._merged(finer, 1e-2)
    assert len(merged.vertices) == 4
    np.testing.assert_array_equal(merged.colors, part.colors)
    corners = merged.vertices[merged.faces]
    np.testing.assert_allclose(corners, part.vertices[part.faces], atol=1e-4)


@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_normals_are_smooth_around_and_sharp_at_edges():
    box, ball = (
        link_meshes([co.formats.LinkShape("hand", "visual", kind, np.eye(4), numbers)]).parts[0]
        for kind, numbers in (("box", {"size": "1 1 1"}), ("sphere", {"radius": "1"}))
    )
    script = Path(co.__file__).parent / "plot" / "triangles.js"
    code = f"const page = require({json.dumps(str(script))}), v = JSON.parse(require('fs').readFileSync(0, 'utf8'));"
    code += "process.stdout.write(JSON.stringify(v.map(([p, f]) => Array.from(page.cornersOf(p, f, 0.6)))));"
    parts = json.dumps([[part.vertices.ravel().tolist(), part.faces.ravel().tolist()] for part in (box, ball)])
    done = subprocess.run([str(NODE), "-e", code], input=parts, capture_output=True, text=True, check=True)
    flat, round_ = (np.array(rows).reshape(-1, 6) for rows in json.loads(done.stdout))
    np.testing.assert_allclose(np.sort(np.abs(flat[:, 3:]), axis=1), np.tile([0, 0, 1], (36, 1)), atol=1e-6)
    assert ((flat[:, :3] * flat[:, 3:]).sum(axis=1) > 0.4).all()  # outwards
    assert ((round_[:, :3] * round_[:, 3:]).sum(axis=1) > 0.999).all()


def test_shapes_of_mujoco_are_where_it_has_them(tmp_path: Path):
    corners = " ".join(map(str, np.add(CORNERS, (0.1, 0.2, 0.3)).ravel()))
    text = f"""<mujoco model="arm"><asset><mesh name="wedge" vertex="{corners}"/>
      <material name="green" rgba="0 1 0 1"/></asset><worldbody><light pos="0 0 3"/>
      <body name="upper" pos="0 0 0.2" euler="10 0 30"><joint name="turn" axis="0 1 0.2"/>
        <geom type="mesh" mesh="wedge" pos="0.2 0 0" euler="0 40 0" material="green"/>
        <geom type="ellipsoid" size="0.1 0.2 0.3" pos="0.3 0 0" rgba="0 0 1 0.5"/>
        <geom type="capsule" size="0.1 0.2" pos="0.3 0 0"/></body></worldbody></mujoco>"""
    (tmp_path / "arm.xml").write_text(text, encoding="utf-8")
    reading = co.formats.from_mjcf(tmp_path / "arm.xml")
    model = mj.MjModel.from_xml_path(str(tmp_path / "arm.xml"))
    data = mj.MjData(model)
    data.qpos[:] = 0.7
    mj.mj_forward(model, data)
    viewer = co.plot.view(reading.model, (0.7,), meshes=reading.shapes)
    (row,) = placements(viewer, 0)[1]
    np.testing.assert_allclose(row[:3, 3], data.body("upper").xpos, atol=1e-6)
    np.testing.assert_allclose(row[:3, :3], data.body("upper").xmat.reshape(3, 3), atol=1e-6)
    mesh, ball, rod = (triangles(shape)[0] for shape in reading.shapes)
    assert mesh.volume == pytest.approx(0.4 * 0.1 * 0.1 / 6)
    assert [color_of(part) for part in (mesh, ball)] == [[0, 255, 0, 255], [0, 0, 255, 128]]
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = data.body("upper").xmat.reshape(3, 3), data.body("upper").xpos
    start, end = int(model.mesh_vertadr[0]), int(model.mesh_vertadr[0]) + int(model.mesh_vertnum[0])
    theirs = model.mesh_vert[start:end] @ data.geom_xmat[0].reshape(3, 3).T + data.geom_xpos[0]
    mesh.apply_transform(frame)
    np.testing.assert_allclose(unique(mesh.vertices), unique(theirs), atol=1e-5)
    for part, number in ((ball, 1), (rod, 2)):
        np.testing.assert_allclose(part.bounds.mean(axis=0), model.geom_pos[number], atol=1e-6)
    np.testing.assert_allclose(ball.extents, [0.2, 0.4, 0.6], rtol=1e-2)
    np.testing.assert_allclose(rod.extents, [0.2, 0.2, 0.6], rtol=1e-2)


def test_a_solution_is_played_with_its_obstacles(arm: co.formats.Reading):
    pillar = co.Capsule(None, (0.6, 0.6, -0.5), (0.6, 0.6, 0.5), radius=0.05)
    hand = co.Capsule("hand", (0, 0, 0), (0, 0, 0), radius=0.05)
    block = co.model.Box(None, (0.2, 0.3, 0.4), co.placement((-0.6, -0.6, 0)))
    ends = co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(0.5, 0.3), qd=0.0)
    effort = co.integral(lambda now: now.tau[0] ** 2 + now.tau[1] ** 2)
    rules = [*ends, co.clearance(hand, pillar), co.clearance(hand, block)]
    solution = co.solve(co.Problem(arm.model, 0.5, effort, rules), co.BSpline(6))
    viewer = co.plot.view(solution, meshes=arm.shapes)
    (segment,) = scene_of(viewer)["recordings"][0]["segments"]
    assert "obstacle" in {bar[4] for bar in segment["bars"]}
    assert "obstacle" in {look for _, look in segment["faces"]}
    data = co.Evaluator(arm.model)
    times, frames = placements(viewer, link_meshes(arm.shapes).bodies.index("hand"))
    assert len(times) > 80
    for time, frame in zip(times[::20], frames[::20], strict=True):
        where = data.point("hand", q=solution.at(time).q).position
        np.testing.assert_allclose(frame[:3, 3], np.ravel(where), atol=1e-4)
    low, high = (np.array(scene_of(viewer)["recordings"][0][side]) for side in ("low", "high"))
    assert high[2] - low[2] > 0.2  # sticks of an arm that hardly leaves a plane have no height, its meshes have
    both = scene_of(co.plot.view([solution, solution], meshes=arm.shapes))
    assert all(recording["segments"][0]["frames"]["n"] > 20 for recording in both["recordings"])


def test_what_is_not_there_is_refused_by_name(arm: co.formats.Reading, tmp_path: Path):
    (tmp_path / "arm" / "wedge.obj").unlink()
    with pytest.raises(co.InputError, match=r"missing meshes: 'package://arm/wedge.obj' of 'upper'; packages were"):
        co.plot.view(arm.model, meshes=arm.shapes)
    (tmp_path / "arm" / "wedge.obj").write_text("v 0 0 0\n", encoding="utf-8")
    with pytest.raises(co.InputError, match=r"wedge.obj' (has no triangles|cannot be read)"):
        co.plot.view(arm.model, meshes=arm.shapes)

    def shape(body: str | None, kind: str, **numbers: str) -> co.formats.LinkShape:
        return co.formats.LinkShape(body, "visual", kind, np.eye(4), numbers, str(tmp_path))

    (tmp_path / "hand.vtp").write_text("", encoding="utf-8")
    (tmp_path / "hand.dae").write_text("<COLLADA", encoding="utf-8")
    cases = (
        ([], "must contain the shape of a body"),
        ([shape(None, "sphere", radius="1")], "must contain the shape of a body"),
        ([shape("hand", "mesh", filename="hand.vtp")], "must be files with the suffix .obj, .stl, .dae, got"),
        ([shape("hand", "mesh", filename="hand.dae")], "hand.dae' cannot be read as a mesh"),
        ([shape("hnad", "sphere", radius="1")], "no body of a shape named 'hnad'; did you mean 'hand'"),
        ([shape("hand", "plane")], "no kind of shape named 'plane'"),
        ([shape("hand", "box", size="1 2")], "size of the box of 'hand' must be 3 numbers, got '1 2'"),
    )
    for shapes, words in cases:
        with pytest.raises(co.InputError, match=words):
            co.plot.view(arm.model, meshes=shapes)
    problem = co.Problem(arm.model, 1.0, co.integral(lambda now: now.tau[0] ** 2))
    with pytest.raises(co.InputError, match="meshes are for a Model, a ClosedChain or solutions"):
        co.plot.view(problem, meshes=[shape("hand", "sphere", radius="1")])  # pyright: ignore[reportCallIssue]


def test_without_readers_of_meshes_the_error_names_the_extra(arm: co.formats.Reading, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "trimesh", None)
    with pytest.raises(ImportError, match=r"pip install 'colloc\[meshes\]'"):
        co.plot.view(arm.model, meshes=arm.shapes)


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")
def test_chromium_shows_the_meshes_without_a_network(arm: co.formats.Reading, tmp_path: Path):
    assert CHROMIUM is not None
    viewer = co.plot.view(arm.model, meshes=arm.shapes)
    file, picture = viewer.save(tmp_path / "arm.html"), tmp_path / "arm.png"
    command = [CHROMIUM, *FLAGS.split(), "--host-resolver-rules=MAP * ~NOTFOUND", f"--screenshot={picture}"]
    command += [f"--user-data-dir={tmp_path}/profile"]
    seen = (0, 0)
    for milliseconds in (3_000, 15_000, 60_000):  # of the page's own time, in which a busy machine may not get far
        budget = f"--virtual-time-budget={milliseconds}"
        try:
            subprocess.run([*command, budget, file.as_uri()], check=True, timeout=120, capture_output=True)
        except subprocess.TimeoutExpired:
            continue
        red, green, blue = np.moveaxis(np.array(Image.open(picture).convert("RGB"), dtype=int), -1, 0)
        wedge = (red > 120) & (green < 60) & (blue < 60)  # the OBJ file's
        painted = (blue > 90) & (red < 50) & (green < 60)  # the DAE file's
        seen = int(wedge.sum()), int(painted.sum())
        if min(seen) > 300:
            return
    if not picture.exists():
        pytest.skip("Chromium draws nothing in six minutes")
    raise AssertionError(f"pixels of the meshes: {seen}")


ROBOTS = [Path(place) / "cmeel.prefix" / "share" / "example-robot-data" / "robots" for place in sys.path]
ROBOTS = [place for place in ROBOTS if place.is_dir()]


@pytest.mark.skipif(not ROBOTS, reason="example-robot-data is not installed")
@pytest.mark.parametrize("name", ["panda_description/urdf/panda", "ur_description/urdf/ur5_robot"])
def test_robots_are_where_pinocchio_has_them(name: str):
    file = ROBOTS[0] / f"{name}.urdf"
    reading = co.formats.from_urdf(file, inertia="nearest")
    model = pin.buildModelFromUrdf(str(file), mimic=True)
    packages = [str(ROBOTS[0].parents[1])]
    geometry = pin.buildGeomFromUrdf(model, str(file), pin.GeometryType.VISUAL, package_dirs=packages)
    q = np.random.default_rng(3).uniform(-0.5, 0.5, reading.model.n_q)
    data, placed = model.createData(), geometry.createData()
    pin.forwardKinematics(model, data, q)
    pin.updateGeometryPlacements(model, data, geometry, placed)
    viewer = co.plot.view(reading.model, q, meshes=reading.shapes)
    bodies = link_meshes(reading.shapes).bodies
    looks = [shape for shape in reading.shapes if shape.role == "visual"]
    assert len(looks) == len(geometry.geometryObjects)
    theirs = {
        (str(s.meshPath), s.name.rpartition("_")[0]): place
        for s, place in zip(geometry.geometryObjects, placed.oMg, strict=True)
    }
    for shape in looks:
        (frame,) = placements(viewer, bodies.index(shape.body))[1]
        np.testing.assert_allclose(
            frame @ shape.placement,
            theirs[str(shape.file), shape.body].homogeneous,
            atol=1e-6,
        )
