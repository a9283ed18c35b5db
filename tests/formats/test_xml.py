"""A format from outside, by hand: a few elements of MJCF, read by what all formats in XML share."""

from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.formats.xml import child_of, number_of, read_root, text_of, vector_of
from colloc.model.floating import joint_chain

mj: Any = mujoco  # its names are not typed

HUNG = """<mujoco><worldbody>
  <body name="trolley" pos="0 0 1"><inertial mass="2" pos="0 0 0.1" diaginertia="0.1 0.2 0.15"/>
    <joint name="along" type="slide" axis="1 0 0"/><joint name="yaw" type="hinge" axis="0 0 1"/>
    <body name="rod" pos="0.1 0 -0.2"><inertial mass="0.5" pos="0 0 -0.3" diaginertia="0.02 0.02 0.001"/>
      <joint name="swing" type="hinge" axis="0 1 0"/></body>
  </body>
</worldbody></mujoco>"""


def from_mjcf(path: str) -> co.Model:
    """Bodies with slides and hinges in their origins."""
    world = child_of(read_root(path, "MJCF", "mujoco"), "worldbody", "the model")
    return co.Model([body for element in world for body in bodies(element, None)], (0, 0, -9.81))


def bodies(element: Element, parent: str | None) -> Iterator[co.Body]:
    name, what = text_of(element, "name", "a body"), f"body {element.get('name')!r}"
    axes = {"slide": {}, "hinge": {}}
    for joint in element.findall("joint"):
        axes[text_of(joint, "type", what)][text_of(joint, "name", what)] = vector_of(joint, "axis", what).tolist()
    mass = child_of(element, "inertial", what)
    place = co.fixed(co.placement(vector_of(element, "pos", what)))
    numbers = number_of(mass, "mass", what), vector_of(mass, "pos", what), vector_of(mass, "diaginertia", what)
    yield from joint_chain(co.Body(name, place, parent, *numbers), axes["slide"], axes["hinge"])
    for child in element.findall("body"):
        yield from bodies(child, name)


def test_a_format_of_ones_own_moves_as_in_its_own_program(tmp_path):
    path = tmp_path / "hung.xml"
    path.write_text(HUNG, encoding="utf-8")
    model, rng = from_mjcf(str(path)), np.random.default_rng(7)
    assert model.joint_names == ("along", "yaw", "swing")
    theirs = mj.MjModel.from_xml_string(HUNG)
    data, (q, qd, qdd) = mj.MjData(theirs), rng.normal(size=(3, 3))
    data.qpos, data.qvel, data.qacc = q, qd, qdd
    mj.mj_inverse(theirs, data)
    assert co.Evaluator(model).torque(q, qd, qdd) == pytest.approx(data.qfrc_inverse, rel=1e-10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HUNG.replace("mujoco>", "robot>"), "is no MJCF: its root is <robot>, not <mujoco>"),
        (
            HUNG.replace('0 0 1"><inertial', '0 one"><inertial'),
            "pos of body 'trolley' must be 3 finite numbers, got '0 one' \\(line 2\\)",
        ),
        (HUNG.replace('<body name="rod"', "<body"), r"a body must have name=.*\(line 4\)"),
        ("<!DOCTYPE x><mujoco/>", "a MJCF has no document type, got <!DOCTYPE x>"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_by_name(tmp_path, text, message):
    path = tmp_path / "wrong.xml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(co.InputError, match=message):
        from_mjcf(str(path))
