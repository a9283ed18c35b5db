"""Files in which nothing moves, as shapes that stand in the world."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.plot.triangles import link_meshes

URDF = """<robot name="cell"><link name="floor"/>
<link name="desk"><inertial><mass value="3"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <collision><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.1 0.4"/></geometry></collision></link>
<link name="post"><collision><geometry><sphere radius="0.05"/></geometry></collision></link>
<joint name="j" type="fixed"><parent link="floor"/><child link="desk"/>
  <origin xyz="0.7 0.35 -0.1" rpy="0 0 0.3"/></joint>
<joint name="k" type="fixed"><parent link="desk"/><child link="post"/><origin xyz="1 0 0"/></joint></robot>"""
MJCF = """<mujoco model="cell"><compiler angle="radian"/><worldbody>
<body name="desk" pos="0.7 0.35 -0.1" euler="0 0 0.3"><geom type="box" pos="0 0 0.1" size="0.05 0.05 0.2"/>
  <body name="post" pos="1 0 0"><geom size="0.05"/></body></body></worldbody></mujoco>"""


def _from_mjcf(path):
    pytest.importorskip("mujoco")
    return co.formats.from_mjcf(path)


@pytest.mark.parametrize(("text", "read"), [(URDF, co.formats.from_urdf), (MJCF, _from_mjcf)])
def test_what_stands_in_a_file_is_shapes_in_the_world_with_the_names_of_its_links(tmp_path, text, read):
    (path := tmp_path / "cell.xml").write_text(text, encoding="utf-8")
    reading = read(path)
    desk, post = co.formats.collision_shapes(reading)
    assert (desk.label, desk.body, post.label, post.body) == ("desk", None, "post", None)
    place = np.array(ca.DM(co.placement((0.7, 0.35, -0.1), (0.0, 0.0, 0.3))))
    np.testing.assert_allclose(reading.shapes[0].placement[:3, :3], place[:3, :3], atol=1e-12)
    np.testing.assert_allclose(reading.shapes[0].placement[:3, 3], (0.7, 0.35, 0.0), atol=1e-12)
    np.testing.assert_allclose(reading.shapes[1].placement[:3, 3], (place @ (1, 0, 0, 1))[:3], atol=1e-12)
    assert reading.model.n == 0
    bar = co.formats.LinkShape("elbow", "visual", "box", np.eye(4), {"size": "0.4 0.1 0.1"})
    assert [part.body for part in link_meshes([bar, *reading.shapes]).parts] == ["elbow", None, None]


def test_an_arm_goes_round_what_stands_in_a_file(tmp_path):
    (path := tmp_path / "cell.urdf").write_text(URDF, encoding="utf-8")
    desk, _ = co.formats.collision_shapes(co.formats.from_urdf(path))
    fore = co.Capsule("elbow", (-0.4, 0, 0), (0, 0, 0), radius=0.02)
    ends = [co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(1.4, -0.6), qd=0.0)]
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.Problem(two_link(), 1.0, effort, [*ends, co.clearance(fore, desk, by=0.01)])
    solution = co.solve(problem, co.HermiteSimpson(20), guess=co.line((0.0, 0.0), (1.4, -0.6)))
    assert solution.success
    distances = solution.evaluate(lambda now: now.distance(fore, desk), np.linspace(0.0, 1.0, 501))
    assert distances.min() > 0.01 - 1e-3
    assert distances[0] > 0.02  # the straight way leads through the desk
    straight = co.Problem(two_link(), 1.0, effort, ends)
    through = co.solve(straight, co.HermiteSimpson(20), guess=co.line((0.0, 0.0), (1.4, -0.6)))
    assert through.evaluate(lambda now: now.distance(fore, desk)).min() < 0.01


def test_an_inertia_that_no_body_has_matters_only_where_it_moves(tmp_path):
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="100" ixy="0" ixz="0" iyz="0"/></inertial>'
    box = f'<link name="box">{inertial}<collision><geometry><box size="1 1 1"/></geometry></collision></link>'
    (path := tmp_path / "box.urdf").write_text(f'<robot name="box">{box}</robot>', encoding="utf-8")
    reading = co.formats.from_urdf(path)
    assert len(co.formats.collision_shapes(reading)) == 1
    assert "inertia of link 'box', which no body has, is as it is: moments 1, 1, 100" in reading.changed
    with pytest.raises(co.InputError, match=r'no one may exceed .* inertia="nearest" or "given" accepts it'):
        co.formats.from_urdf(path, base="free")


def test_an_inertia_without_mass_is_left_out_where_nothing_moves_it(tmp_path):
    inertial = '<inertial><mass value="0"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    rod = inertial.replace('mass value="0"', 'mass value="1"')
    arm = f"""<robot name="r"><link name="base"/><link name="sonar">{inertial}</link><link name="rod">{rod}</link>
    <joint name="s" type="fixed"><parent link="base"/><child link="sonar"/></joint>
    <joint name="j" type="continuous"><parent link="base"/><child link="rod"/></joint>{{more}}</robot>"""
    (path := tmp_path / "r.urdf").write_text(arm.format(more=""), encoding="utf-8")
    reading = co.formats.from_urdf(path)
    assert any("link 'sonar' has no mass: its inertia, which nothing moves, is left out" in s for s in reading.changed)
    assert co.Evaluator(reading.model).torque([0.0], [0.0], [1.0]).item() == pytest.approx(1.0)
    carried = f"""<link name="eye">{inertial}</link>
    <joint name="e" type="fixed"><parent link="rod"/><child link="eye"/></joint>"""
    path.write_text(
        arm.format(more=carried), encoding="utf-8"
    )  # the rod moves it: its inertia matters, and is left out only when asked
    with pytest.raises(co.InputError, match=r"eye.*must be zero because its mass is zero.*nearest.*accepts it"):
        co.formats.from_urdf(path)
    assert co.formats.from_urdf(path, inertia="nearest").model.n == 1
