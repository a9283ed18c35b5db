"""Loops in companion files of URDFs, against the same chain in code and against Pinocchio."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co
from tests.support.random_loops import constrained_acceleration

BAR = (
    '<inertial><origin xyz="{x} 0 0"/><mass value="{m}"/>'
    '<inertia ixx="0" ixy="0" ixz="0" iyy="{i}" iyz="0" izz="{i}"/></inertial>'
)
BARS = {"crank": (0.2, 0.4), "rod": (0.4, 0.8), "rocker": (0.4, 0.8)}  # m, kg
PAIRS = [["rod end", "rocker end"]]
GUESS = (1.0, -0.4, 1.8)


def joint(name: str, parent: str, child: str, x: float, kind: str = "revolute") -> str:
    limit = '<limit lower="-4" upper="4" effort="50" velocity="20"/>' if kind == "revolute" else ""
    return (
        f'<joint name="{name}" type="{kind}">{limit}<origin xyz="{x} 0 0"/><axis xyz="0 0 1"/>'
        f'<parent link="{parent}"/><child link="{child}"/></joint>'
    )


def four_bar() -> str:
    """Four bars with the loop open at two frames that are links without mass."""
    parts = ['<link name="base"/><link name="rod end"/><link name="rocker end"/>']
    for name, (length, mass) in BARS.items():
        inertial = BAR.format(x=length / 2, m=mass, i=mass * length**2 / 12)
        parts.append(f'<link name="{name}">{inertial}</link>')
    parts += [joint("motor", "base", "crank", 0.0), joint("pin", "crank", "rod", 0.2)]
    parts += [joint("hinge", "base", "rocker", 0.5), joint("to rod", "rod", "rod end", 0.4, "fixed")]
    return f'<robot name="bars">{"".join(parts)}{joint("to rocker", "rocker", "rocker end", 0.4, "fixed")}</robot>'


def read(folder: Path, content: Any, name: str = "robot.json", **options: Any) -> co.formats.Reading:
    (folder / "robot.urdf").write_text(four_bar(), encoding="utf-8")
    (folder / name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return co.formats.from_urdf(folder / "robot.urdf", loops=folder / name, **options)


@pytest.mark.parametrize("kind", ["3d", "3D"])
@pytest.mark.parametrize("pair", [["rod end", "rocker end"], ["to rod", "to rocker"]])
def test_a_four_bar_with_one_motor_moves_as_in_pinocchio(tmp_path: Path, kind: str, pair: list[str]):
    """Frames are named by links, or by the joints that carry them."""
    reading = read(tmp_path, {"closed_loop": [pair], "type": [kind], "name_mot": ["motor"]})
    chain = reading.chain(guess=GUESS)
    assert (chain.mobility, chain.actuators, reading.actuators) == (1, ("motor",), ("motor",))
    q, evaluator = chain.posture, co.loops.ChainEvaluator(chain)
    motion = evaluator.motion(q, np.array([1.3]), np.array([-0.7]))
    tau = evaluator.forces(q, np.array([1.3]), np.array([-0.7])).tau
    assert np.flatnonzero(tau).tolist() == [0]
    qdd = constrained_acceleration(chain, q, motion.qd, tau)
    assert np.abs(qdd - motion.qdd).max() < 1e-9


def test_yaml_says_the_same_as_json(tmp_path: Path):
    content = {"closed_loop": PAIRS, "type": ["3d"], "name_mot": ["motor"]}
    text = "# of the author\nclosed_loop: [['rod end', 'rocker end']]\ntype:\n  - 3D\nname_mot: [motor]\n"
    one, other = read(tmp_path, content), read(tmp_path, text, "robot.yaml")
    assert one.actuators == other.actuators
    assert [loop.kind for loop in (*one.loops, *other.loops)] == ["spherical", "spherical"]
    assert one.loops[0].name == other.loops[0].name == "rod end to rocker end"
    assert "1 loop, 1 motor" in str(one)


def test_json_needs_no_package_and_yaml_names_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    (loop,) = read(tmp_path, {"closed_loop": PAIRS}).loops
    assert loop.kind == "weld"  # where no type is stated
    with pytest.raises(co.InputError, match=r"is no JSON, and YAML needs the package PyYAML.*colloc\[yaml\]"):
        read(tmp_path, "closed_loop: []", "robot.yaml")


@pytest.mark.parametrize("balls", ["angles", "quaternion"])
def test_joints_of_another_kind_are_those_of_the_companion(tmp_path: Path, balls: str):
    kinds = {"joint_name": ["pin", "hinge"], "joint_type": ["SPHERICAL", "UJOINT_ZX"]}
    model = read(tmp_path, {"closed_loop": [], "name_mot": ["motor"], **kinds}, balls=balls).model
    turns = "xyz" if balls == "quaternion" else "zyx"
    assert model.joint_names == ("motor", *(f"pin_r{k}" for k in turns), "hinge_rz", "hinge_rx")
    held = read(tmp_path, {"joint_name": ["pin"], "joint_type": ["FIXED"]})
    assert held.model.joint_names == ("motor", "hinge")
    assert held.changed[-1] == "joint 'pin', revolute, is FIXED, as the companion file has it"


def test_a_motor_at_a_joint_that_is_held_is_left_out(tmp_path: Path):
    reading = read(tmp_path, {"closed_loop": PAIRS, "name_mot": ["motor", "pin"]}, hold={"pin": 0.1})
    assert reading.actuators == ("motor",)
    assert reading.left_out == ("1 motor of joints that are fixed, are held or follow others: pin",)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            {"closed_loop": [["rod end", "roker end"]]},
            r"no frame \(of closed_loop\[0\]\) named 'roker end'; did you mean",
        ),
        ({"closed_loop": [["rod end"]]}, r"closed_loop\[0\] must be the names of two frames, got \['rod end'\]"),
        (
            {"closed_loop": PAIRS, "type": ["2d"]},
            r"type of a loop must be '6d' \(welded\) or '3d' \(a ball joint\), got",
        ),
        ({"closed_loop": PAIRS, "type": ["6d", "6d"]}, "type must have one entry for each of closed_loop, 1, got 2"),
        ({"name_mot": ["mot"]}, r"no joint \(in name_mot\) named 'mot'; did you mean 'motor'\?"),
        ({"name_mot": "motor"}, "name_mot must be a list, got 'motor'"),
        ({"joint_name": ["pin"], "joint_type": ["HINGE"]}, "joint_type of 'pin' must be 'SPHERICAL', 'FIXED' or such"),
        ([1, 2], "must map names such as 'closed_loop' to lists, got"),
        ("a: [", "cannot be read as YAML: while parsing"),
    ],
)
def test_other_content_is_refused_by_name(tmp_path: Path, content: Any, words: str):
    with pytest.raises(co.InputError, match=words):
        read(tmp_path, content)


def test_joints_that_are_missing_raise_a_warning(tmp_path: Path):
    with pytest.warns(co.support.InputWarning, match="joint_name lists joints that the robot does not have: 'knee'"):
        read(tmp_path, {"joint_name": ["knee"], "joint_type": ["SPHERICAL"]})


def test_a_file_without_loops_is_no_chain_and_an_unknown_posture_is_named(tmp_path: Path):
    with pytest.raises(co.InputError, match="the file of 'bars' has no loops"):
        read(tmp_path, {}).chain()
    with pytest.raises(co.InputError, match="no posture named 'home'"):
        read(tmp_path, {"closed_loop": PAIRS, "type": ["3d"]}).chain("home")
