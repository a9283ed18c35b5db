"""URDF files, against Pinocchio's reader."""

import importlib.util
import math
import os
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.formats.urdf import nearest_inertia

pin: Any = pinocchio  # has no type stubs
KINDS = ("revolute", "continuous", "prismatic", "fixed")


def numbers(values) -> str:
    return " ".join(map(repr, np.asarray(values, dtype=float).tolist()))


def random_inertial(rng: np.random.Generator) -> str:
    """Of a body that may exist: eight point masses."""
    mass, points = rng.uniform(0.5, 2.0, 8), rng.normal(size=(8, 3))
    points -= mass @ points / mass.sum()
    inertia = (points * mass[:, None]).T @ points
    inertia = np.trace(inertia) * np.eye(3) - inertia
    entries = {f"i{'xyz'[a]}{'xyz'[b]}": inertia[a, b] for a in range(3) for b in range(a, 3)}
    tensor = " ".join(f'{key}="{value!r}"' for key, value in ((k, float(v)) for k, v in entries.items()))
    origin = f'<origin xyz="{numbers(rng.normal(size=3))}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
    return f'<inertial>{origin}<mass value="{float(mass.sum())!r}"/><inertia {tensor}/></inertial>'


def random_urdf(rng: np.random.Generator, count: int) -> str:
    """A random tree of all kinds of joints, its elements in no order."""
    parts = [f'<link name="link0">{random_inertial(rng)}<visual><geometry/></visual></link>']
    for k in range(1, count):
        kind = KINDS[int(rng.integers(4))] if k > 1 else "revolute"
        limit = f'lower="{rng.uniform(-2, -1)}" upper="{rng.uniform(1, 2)}"' if kind != "continuous" else ""
        limit = f'<limit {limit} effort="{rng.uniform(5, 9)}" velocity="{rng.uniform(1, 3)}"/>'
        dynamics = f'<dynamics damping="{rng.uniform(0, 1)}" friction="{rng.uniform(0, 1)}"/>'
        parts.append(
            f'<joint name="joint{k}" type="{kind}"><parent link="link{rng.integers(k)}"/><child link="link{k}"/>'
            f'<origin xyz="{numbers(rng.normal(size=3))}" rpy="{numbers(rng.uniform(-3, 3, 3))}"/>'
            f'<axis xyz="{numbers(rng.normal(size=3))}"/>{limit if kind != "fixed" else ""}{dynamics}</joint>'
        )
        parts.append(f'<link name="link{k}">{random_inertial(rng) if rng.random() < 0.8 else ""}</link>')
    rng.shuffle(parts)
    return f'<?xml version="1.0"?><robot name="tree">{"".join(parts)}<gazebo/><material name="grey"/></robot>'


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "robot.urdf"
    path.write_text(text, encoding="utf-8")
    return path


def in_pinocchio(model: Any, names: tuple[str, ...], q: np.ndarray, rates: list[np.ndarray]):
    """Configuration and rates in Pinocchio's order; of a continuous joint it has cosine and sine."""
    configuration, moved = pin.neutral(model), [np.zeros(model.nv) for _ in rates]
    for k, name in enumerate(names):
        joint = model.joints[model.getJointId(name)]
        own = [q[k]] if joint.nq == 1 else [math.cos(q[k]), math.sin(q[k])]
        configuration[joint.idx_q : joint.idx_q + joint.nq] = own
        for vector, given in zip(moved, rates, strict=True):
            vector[joint.idx_v] = given[k]
    return configuration, moved


@pytest.mark.parametrize("seed", range(10))
def test_torques_and_frames_are_those_of_pinocchio(tmp_path, seed):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 4 + seed)
    theirs, ours = pin.buildModelFromXML(text), co.formats.from_urdf(written(tmp_path, text)).model
    assert set(ours.joint_names) == set(theirs.names) - {"universe"}
    q, qd, qdd = rng.normal(size=(3, ours.n))
    configuration, (v, a) = in_pinocchio(theirs, ours.joint_names, q, [qd, qdd])
    data = theirs.createData()
    torque = pin.rnea(theirs, data, configuration, v, a)
    order = [theirs.joints[theirs.getJointId(name)].idx_v for name in ours.joint_names]
    symbols = [ca.SX.sym(name, ours.n) for name in ("q", "qd", "qdd")]
    found = ca.Function("torque", symbols, [co.dynamics.newton_euler(ours, symbols[0], symbols[1], symbols[2])])(
        q, qd, qdd
    )
    scale = max(1.0, np.abs(torque).max())
    np.testing.assert_allclose(np.array(found).ravel(), torque[order], atol=1e-9 * scale, rtol=0)
    pin.framesForwardKinematics(theirs, data, configuration)
    at: Any = ca.SX(ca.DM(q))
    for body in ours.bodies:
        place = data.oMf[theirs.getFrameId(body.name)]
        position = co.model.point_motion(ours, body.name, (0.1, 0.2, 0.3), q=at).position
        np.testing.assert_allclose(np.array(ca.DM(position)).ravel(), place.act(np.array([0.1, 0.2, 0.3])), atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_limits_damping_and_friction_are_those_of_pinocchio(tmp_path, seed):
    text = random_urdf(np.random.default_rng(seed), 10)
    theirs = pin.buildModelFromXML(text)
    ours = co.formats.from_urdf(written(tmp_path, text), friction_velocity=0.02).model
    for joint in ours.joints:
        own = theirs.joints[theirs.getJointId(joint.name)]
        assert joint.limits.torque == pytest.approx((-theirs.effortLimit[own.idx_v], theirs.effortLimit[own.idx_v]))
        assert joint.limits.velocity[1] == pytest.approx(theirs.velocityLimit[own.idx_v])
        assert float(joint.passive.damping) == pytest.approx(theirs.damping[own.idx_v])
        assert joint.passive.friction is not None
        assert float(joint.passive.friction.level) == pytest.approx(theirs.friction[own.idx_v])
        assert float(joint.passive.friction.velocity) == 0.02
        range_ = (-math.inf, math.inf)
        if own.nq == 1:
            range_ = (theirs.lowerPositionLimit[own.idx_q], theirs.upperPositionLimit[own.idx_q])
        assert joint.limits.position == pytest.approx(range_)


def test_joints_come_in_the_order_of_a_walk_from_the_root(tmp_path):
    def joint(name: str, parent: str, child: str) -> str:
        ends = f'<parent link="{parent}"/><child link="{child}"/>'
        axis = "" if name == "wag" else '<axis xyz="0 1 0"/>'
        return f'<joint name="{name}" type="continuous">{ends}{axis}</joint>'

    links = "".join(f'<link name="{name}"/>' for name in ("tip", "hand", "base", "tail"))
    rows = joint("wag", "base", "tail") + joint("wrist", "hand", "tip") + joint("turn", "base", "hand")
    reading = co.formats.from_urdf(written(tmp_path, f'<robot name="r">{links}{rows}</robot>'))
    assert reading.changed == ("joint 'wag' has no <axis>: it is x, (1, 0, 0), by the rules of the format",)
    model = reading.model
    assert [body.name for body in model.bodies] == ["base", "tail", "hand", "tip"]
    assert model.joint_names == ("wag", "turn", "wrist")
    assert model.name == "r"
    assert model.gravity.tolist() == [0, 0, -9.81]
    assert model.joints[0].axis.tolist() == [1, 0, 0]  # the format's own default


LINKS = '<link name="a"/><link name="b"/>\n'


def hinge(inner: str = "", kind: str = "continuous", ends: str = '<parent link="a"/><child link="b"/>') -> str:
    return f'<joint name="j" type="{kind}">{ends}{inner}</joint>'


def robot(inner: str) -> str:
    """Its content begins on the second line."""
    return f'<robot name="r">\n{inner}</robot>'


SECOND = hinge(ends='<parent link="c"/><child link="b"/>').replace('"j"', '"k"')
BACK = hinge(ends='<parent link="b"/><child link="a"/>').replace('"j"', '"k"')
MASS = '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>'
REFUSED = {
    "no limit": (
        robot(LINKS + hinge(kind="revolute")),
        r"'j' must have one <limit>, got 0; limits=\{'position': \{'j': None\}\} does without it \(line 3\)",
    ),
    "two axes": (robot(LINKS + hinge("<axis/><axis/>")), r"joint 'j' must have one <axis>, got 2 \(line 3\)"),
    "axis of text": (
        robot(LINKS + hinge('\n<axis xyz="x y z"/>')),
        r"xyz of axis of joint 'j' must be 3 finite numbers, got 'x y z' \(line 4\)",
    ),
    "axis of two": (robot(LINKS + hinge('<axis xyz="0 1"/>')), r"must be 3 finite numbers, got '0 1' \(line 3\)"),
    "no axis": (robot(LINKS + hinge('<axis xyz="0 0 0"/>')), r"axis of joint 'j' must be a non-zero vector"),
    "infinite": (robot(LINKS + hinge('<dynamics damping="inf"/>')), r"damping of joint 'j' must be a finite number"),
    "negative damping": (robot(LINKS + hinge('<dynamics damping="-1"/>')), r"damping must not be .* \(line 3\)"),
    "kind": (robot(LINKS + hinge(kind="ball")), r"joint 'j' is of type 'ball'; supported are revolute.*line 3"),
    "limits crossed": (
        robot(LINKS + hinge('\n<limit lower="1" upper="0"/>', "revolute")),
        r"position limits of joint '\w+' are exchanged, lower=1, upper=0: .* \(line 4\)",
    ),
    "unknown link": (robot('<link name="a"/>\n' + hinge()), r"no link \(of joint 'j'\) named 'b'.*\(line 3\)"),
    "unknown leader": (
        robot(LINKS + hinge('\n<mimic joint="k"/>')),
        r"no joint \(mimic of joint 'j'\) named 'k' \(known: j\) \(line 4\)",
    ),
    "mimics itself": (robot(LINKS + hinge('<mimic joint="j"/>')), r"joints mimic each other in a circle: j -> j"),
    "two parents": (
        robot(LINKS + '<link name="c"/>\n' + hinge() + SECOND),
        r"link 'b' is carried by two joints.*\(line 4\)",
    ),
    "two roots": (robot(LINKS), r"one link that no joint carries, got a, b \(line 1\)"),
    "circle": (robot('<link name="a"/>' + hinge(ends='<parent link="a"/><child link="a"/>')), r"carries, got none"),
    "aside": (
        robot('<link name="c"/>' + LINKS + hinge() + BACK),
        r"2 links form a circle that is not connected to 'c'",
    ),
    "two links": (robot('<link name="a"/>\n' * 2), r"two links are named 'a'; names must be unique \(line 3\)"),
    "no name": (robot("<link/>"), r"a link must have name=.*\(line 2\)"),
    "impossible": (
        robot(f'<link name="b">\n<inertial>{MASS}</inertial></link><link name="a"/>' + hinge()),
        r"'b' is physically impossible.*; inertia=\"nearest\" or \"given\" accepts it \(line 3\)",
    ),
    "negative mass": (
        robot(f'<link name="a"><inertial>{MASS.replace("1", "-1", 1)}</inertial></link>'),
        r"mass of body 'a' must not be negative, got -1.0 \(line 2\)",
    ),
    "macros": ('<robot xmlns:xacro="x"><xacro:macro/></robot>', r"got none; it has macros, which are expanded in"),
    "nothing": ('<robot name="r"/>', r"got none; it has no link at all: macros are read .* \(line 1\)"),
    "parent of another": (robot(LINKS + hinge(ends='<parent link="aa"/><child link="b"/>')), r"'aa'; did you mean 'a'"),
    "other": ("<sdf/>", r"its root is <sdf>, not <robot>"),
    "half": ("<robot>\n<link", r"cannot be read as a URDF: unclosed token: line 2"),
    "encoding": ('<?xml version="1.0" encoding="none"?><robot/>', r"cannot be read as a URDF"),
    "deep": ("<a>" * 2000, r"a URDF has at most 1000 elements within each other \(line 1\)"),
    "bomb": (
        '\n<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + robot('<link name="&b;"/>'),
        r"a URDF has no document type, got <!DOCTYPE r> \(line 2\)",
    ),
    "stranger's file": (
        '<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + robot("&a;"),
        r"a URDF has no document type",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_read_is_refused_by_name(tmp_path, case):
    text, words = REFUSED[case]
    with pytest.raises(co.InputError, match=words):
        co.formats.from_urdf(written(tmp_path, text))


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_tool_whose_hand_is_in_another_file_is_read_as_if_the_hand_stood_in_its_own(tmp_path, base):
    inertial = f"<inertial>{MASS.replace('9', '1')}</inertial>"
    tool = f'<link name="b">{inertial}</link>' + hinge('<origin xyz="1 2 3"/><axis xyz="0 1 0"/>')
    reading = co.formats.from_urdf(written(tmp_path, robot(tool)), base=base)
    assert reading.changed == ("link 'a', which is not in the file, is the base, without mass",)
    whole = co.formats.from_urdf(written(tmp_path, robot('<link name="a"/>' + tool)), base=base)
    assert whole.changed == ()
    assert [body.name for body in reading.model.bodies] == [body.name for body in whole.model.bodies]
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, whole.model.n_q))
    q, qd, qdd = whole.model.of_unit_length(q), qd[: whole.model.n], qdd[: whole.model.n]
    mine, expected = (co.Evaluator(each.model).torque(q, qd, qdd) for each in (reading, whole))
    np.testing.assert_array_equal(mine, expected)


def test_files_that_are_none_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.urdf", os.devnull):
        with pytest.raises(co.InputError, match="is no file"):
            co.formats.from_urdf(path)
    (tmp_path / "bytes.urdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(co.InputError, match="cannot be read as a URDF"):
        co.formats.from_urdf(tmp_path / "bytes.urdf")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ('effort="1" velocity="0"', r"joint j cannot move: the velocity limit is 0; limits="),
        ('effort="0" velocity="1"', r"joint j has no motor: the effort limit is 0, which holds the torque at zero"),
    ],
)
def test_a_joint_that_may_not_move_or_has_no_motor_is_doubted(tmp_path, limits, words):
    still = hinge(f'<axis xyz="0 1 0"/><limit lower="0" upper="1" {limits}/>', kind="revolute")
    with pytest.warns(co.support.InputWarning, match=words):
        co.formats.from_urdf(written(tmp_path, robot(LINKS + still)))


def hand(second: str = '<mimic joint="left" multiplier="-2" offset="0.5"/>', third: str = "") -> str:
    """A palm with masses, a finger, and others that follow it."""
    rng = np.random.default_rng(2)
    links = "".join(f'<link name="{n}">{random_inertial(rng)}</link>' for n in ("palm", "left", "right", "thumb"))
    rows = [("left", "palm", "left", ""), ("right", "palm", "right", second), ("thumb", "right", "thumb", third)]
    joints = "".join(
        f'<joint name="{name}" type="{"prismatic" if name == "thumb" else "revolute"}">'
        f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{numbers(rng.normal(size=3))}"/>'
        f'<axis xyz="{numbers(rng.normal(size=3))}"/><limit lower="-1" upper="2" effort="9" velocity="9"/>'
        f'<dynamics damping="0.5"/>{mimic}</joint>'
        for name, parent, child, mimic in rows
    )
    return f'<robot name="hand">{links}{joints}</robot>'


@pytest.mark.parametrize("third", ["", '<mimic joint="left" multiplier="0.7"/>'])
def test_mimic_joints_are_no_coordinates_as_in_pinocchio(tmp_path, third):
    text = hand(third=third)
    ours = co.formats.from_urdf(written(tmp_path, text)).model
    theirs = pin.buildModelFromXML(text, mimic=True)
    assert ours.joint_names == (("left",) if third else ("left", "thumb"))
    assert theirs.nv == ours.n
    q, qd, qdd = np.random.default_rng(3).normal(size=(3, ours.n))
    data = theirs.createData()
    evaluator = co.Evaluator(ours)
    damping = np.array([0.5 * (1 + 4 + (0.49 if third else 0)), *([] if third else [0.5])])
    np.testing.assert_allclose(
        evaluator.torque(q, qd, qdd), pin.rnea(theirs, data, q, qd, qdd) + damping * qd, rtol=1e-11, atol=1e-11
    )
    upper = np.triu(pin.crba(theirs, data, q))
    np.testing.assert_allclose(evaluator.mass_matrix(q), upper + np.triu(upper, 1).T, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(ours.limits("position")[0][0], max(-1.0, (0.5 - 2.0) / 2.0))  # of right: 0.5 - 2 q <= 2


def test_a_mimic_of_a_mimic_follows_the_first(tmp_path):
    model = co.formats.from_urdf(
        written(tmp_path, hand(third='<mimic joint="right" multiplier="3" offset="1"/>'))
    ).model
    assert model.joint_names == ("left",)
    assert str(model.couplings["thumb"]) == "-6 left + 2.5"  # 3 (-2 q + 0.5) + 1


def test_floating_and_planar_joints_are_chains(tmp_path):
    rng = np.random.default_rng(6)
    places = {kind: f'xyz="{numbers(rng.normal(size=3))}" rpy="{numbers(rng.normal(size=3))}"' for kind in ("f", "p")}
    text = (
        f'<robot name="r"><link name="a"/><link name="b">{random_inertial(rng)}</link>'
        f'<link name="c">{random_inertial(rng)}</link>'
        f'<joint name="f" type="floating"><parent link="a"/><child link="b"/><origin {places["f"]}/></joint>'
        '<joint name="p" type="planar"><parent link="b"/><child link="c"/>'
        f'<origin {places["p"]}/><axis xyz="0 0 2"/></joint></robot>'
    )
    model = co.formats.from_urdf(written(tmp_path, text), balls="angles").model
    base = ("f_tx", "f_ty", "f_tz", "f_rz", "f_ry", "f_rx")
    assert model.joint_names == (*base, "p_t1", "p_t2", "p_r")
    theirs = pin.buildModelFromXML(text)
    data, q = theirs.createData(), rng.uniform(-1, 1, 9)
    turned = pin.Quaternion(pin.utils.rotate("z", q[3]) @ pin.utils.rotate("y", q[4]) @ pin.utils.rotate("x", q[5]))
    configuration = np.array([*q[:3], *turned.coeffs(), *q[6:8], math.cos(q[8]), math.sin(q[8])])
    pin.framesForwardKinematics(theirs, data, configuration)
    point = np.array([0.1, 0.2, 0.3])
    for name in ("b", "c"):
        place = data.oMf[theirs.getFrameId(name)].act(point)
        np.testing.assert_allclose(co.Evaluator(model).point(name, point, q=q).position, place, atol=1e-12)
    # Energies are the same, at rates that move the bodies alike: those of the joint that are last are plain in both.
    v = rng.normal(size=3)
    symbols = [ca.SX.sym(name, 9) for name in ("q", "qd")]
    energy = ca.Function("energy", symbols, [co.dynamics.kinetic_energy(model, *symbols)])(q, [0] * 6 + [*v])
    c, s = math.cos(q[8]), math.sin(q[8])  # theirs is in the axes of the link that has turned
    local = [c * v[0] + s * v[1], -s * v[0] + c * v[1], v[2]]
    theirs_energy = pin.computeKineticEnergy(theirs, data, configuration, np.array([0.0] * 6 + local))
    assert float(energy) == pytest.approx(theirs_energy, rel=1e-11)


def test_the_plane_of_a_planar_joint_is_across_its_axis(tmp_path):
    text = robot(LINKS.replace('name="b"/>', 'name="b"><inertial>' + MASS.replace('"9"', '"1"') + "</inertial></link>")
                 + hinge('<axis xyz="1 2 -2"/>', kind="planar"))  # fmt: skip
    evaluator = co.Evaluator(co.formats.from_urdf(written(tmp_path, text)).model)
    normal = np.array([1.0, 2.0, -2.0]) / 3
    moved = evaluator.point("b", q=[0.3, -0.4, 1.0]).position
    assert moved @ normal == pytest.approx(0.0, abs=1e-15)
    assert np.linalg.norm(moved) == pytest.approx(0.5, rel=1e-14)
    np.testing.assert_allclose(evaluator.point("b", normal, q=[0.0, 0.0, 1.0]).position, normal, atol=1e-15)


def test_a_free_base_has_the_energy_of_pinocchios_free_flyer_and_no_motor(tmp_path):
    text = hand(second="")
    reading = co.formats.from_urdf(written(tmp_path, text), base="free")
    model = reading.model
    base = tuple(f"palm_{letter}" for letter in ("tx", "ty", "tz", "rx", "ry", "rz"))
    assert model.joint_names == (*base, "left", "right", "thumb")
    assert model.position_names[3:7] == ("palm_qw", "palm_qx", "palm_qy", "palm_qz")
    assert model.limits("torque")[1].tolist() == [0.0] * 6 + [9.0] * 3
    theirs = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    data = theirs.createData()
    rng = np.random.default_rng(8)
    q, qd = model.of_unit_length(rng.uniform(-1, 1, 10)), rng.normal(size=9)
    order = [theirs.joints[theirs.getJointId(name)].idx_v for name in ("left", "right", "thumb")]
    configuration, v = np.zeros(theirs.nq), np.zeros(theirs.nv)
    configuration[:7] = [*q[:3], *q[4:7], q[3]]
    v[:6] = [*(pin.Quaternion(*q[3:7]).toRotationMatrix().T @ qd[:3]), *qd[3:6]]
    configuration[[k + 1 for k in order]], v[order] = q[7:], qd[6:]
    symbols = [ca.SX.sym("q", 10), ca.SX.sym("qd", 9)]
    energies = [co.dynamics.kinetic_energy(model, *symbols), co.dynamics.potential_energy(model, symbols[0])]
    kinetic, potential = ca.Function("energies", symbols, energies)(q, qd)
    assert float(kinetic) == pytest.approx(pin.computeKineticEnergy(theirs, data, configuration, v), rel=1e-11)
    assert float(potential) == pytest.approx(pin.computePotentialEnergy(theirs, data, configuration), rel=1e-11)


def test_joints_may_be_held(tmp_path):
    path = written(tmp_path, hand())
    held = co.formats.from_urdf(path, hold={"thumb": 0.3}).model
    assert held.joint_names == ("left",)
    whole = co.Evaluator(co.formats.from_urdf(path).model).point("thumb", q=[0.2, 0.3]).position
    np.testing.assert_allclose(co.Evaluator(held).point("thumb", q=[0.2]).position, whole, atol=1e-14)
    with pytest.raises(co.InputError, match="no joint that moves named 'right'"):
        co.formats.from_urdf(path, hold={"right": 0.3})  # which follows


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_inertia_is_possible_and_nothing_possible_is_nearer(seed):
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    tensor = axes @ np.diag([0.1, 0.3, 0.9]) @ axes.T

    def second(inertia: np.ndarray) -> np.ndarray:
        return np.trace(inertia) / 2 * np.eye(3) - inertia

    nearest = nearest_inertia(tensor)
    assert np.linalg.eigvalsh(second(nearest))[0] >= -1e-15
    off = np.linalg.norm(second(nearest) - second(tensor))
    assert off == pytest.approx(0.25)  # 0.9 exceeds 0.1 + 0.3 by twice the negative second moment
    for _ in range(200):
        spread = rng.normal(size=(3, 3))
        possible = second(nearest) + rng.uniform(0, 1) * (spread @ spread.T * 0.2 - second(nearest))
        assert np.linalg.norm(possible - second(tensor)) >= off - 1e-12


def test_an_impossible_inertia_is_refused_replaced_or_kept(tmp_path):
    text = robot(
        LINKS.replace('name="b"/>', f'name="b"><inertial>{MASS}</inertial></link>') + hinge('<axis xyz="0 0 1"/>')
    )
    path = written(tmp_path, text)
    with pytest.raises(co.InputError, match="physically impossible"):
        co.formats.from_urdf(path)
    kept, nearest = (co.formats.from_urdf(path, inertia=inertia) for inertia in ("given", "nearest"))
    assert kept.changed == ("inertia of link 'b', which no body has, is as it is: moments 1, 1, 9",)
    assert co.Evaluator(kept.model).mass_matrix([0.0]).item() == 9.0
    # Second moments 4.5, 4.5, -3.5 of x, y, z become 4.5, 4.5, 0: the moments are their sums in pairs.
    assert nearest.changed == ("inertia of link 'b', which no body has: moments 1, 1, 9 are 4.5, 4.5, 9",)
    assert co.Evaluator(nearest.model).mass_matrix([0.0]).item() == pytest.approx(9.0)


def test_noise_of_an_inertia_is_measured_by_the_mass_too():
    """A point mass, whose moments of 1e-18 kg m2 are what subtraction of moments has left."""
    noise = (2e-18, -1e-18, 4e-18)
    assert co.Body("point", co.revolute(), mass=1.0, inertia=noise).mass.is_constant()
    with pytest.raises(co.InputError, match="physically impossible"):
        co.Body("point", co.revolute(), mass=1e-9, inertia=noise)


STRANGE = """<robot name="strange"><link name="base"><contact/><self_filter/></link>
  <link name="arm"><contact/>
    <visual><origin xyz="1 2 3"/><geometry><mesh filename="package://arm.dae" scale="1 1 1"/></geometry></visual>
    <collision><geometry><box size="1 2 3"/></geometry></collision></link><link name="tool"/>
  <joint name="turn" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <calibration/><kinematic/></joint>
  <joint name="mount" type="fixed"><parent link="arm"/><child link="tool"/><origin xyz="0 0 1"/></joint>
  <gazebo/><gazebo/><material name="grey"/>
  <transmission name="t1"><joint name="turn"/>
    <actuator name="m"><mechanicalReduction>-50</mechanicalReduction></actuator></transmission>
  <transmission name="t2"><joint name="none"/></transmission>
</robot>"""


def test_what_others_put_there_is_reported_and_what_they_say_of_links_is_handed_on(tmp_path):
    reading = co.formats.from_urdf(written(tmp_path, STRANGE))
    assert reading.left_out == (
        "2 <gazebo> of the robot",
        "2 <transmission> but for gear ratios of the robot: t1, t2",
        "2 <contact> of links: base, arm",
        "1 <self_filter> of links: base",
        "1 <calibration> of joints: turn",
        "1 <kinematic> of joints: turn",
    )
    assert dict(reading.gears) == {"turn": -50.0}
    mesh, box = reading.shapes
    assert (mesh.body, mesh.role, mesh.kind, mesh.numbers["filename"]) == ("arm", "visual", "mesh", "package://arm.dae")
    assert mesh.placement[:3, 3].tolist() == [1.0, 2.0, 3.0]
    assert (box.role, box.kind, dict(box.numbers)) == ("collision", "box", {"size": "1 2 3"})
    assert list(reading.model.markers) == ["tool"]
    assert "read 3 bodies, 1 joint that moves, 1 marker, 1 gear ratio, 2 shapes" in repr(reading)
    assert "left out" in reading._repr_html_()
    assert repr(pickle.loads(pickle.dumps(reading))) == repr(reading)


def test_postures_of_an_srdf_come_with_their_names(tmp_path):
    states = (
        '<group_state name="home" group="g"><joint name="left" value="0.5"/><joint name="right" value="1"/>'
        "</group_state>"
        '<group_state name="up" group="g"><joint name="thumb" value="0.1"/></group_state>'
        '<group_state name="up" group="h"><joint name="left" value="0.2"/></group_state><disable_collisions/>'
    )
    srdf = tmp_path / "hand.srdf"
    srdf.write_text(f'<robot name="hand">{states}</robot>', encoding="utf-8")
    reading = co.formats.from_urdf(written(tmp_path, hand()), srdf=srdf)
    assert dict(reading.postures) == {"home": {"left": 0.5}, "g/up": {"thumb": 0.1}, "h/up": {"left": 0.2}}
    assert "1 joint that the model does not have of posture 'home': right" in reading.left_out
    srdf.write_text(
        '<robot><group_state name="a">\n<joint name="left" value="x"/></group_state></robot>', encoding="utf-8"
    )
    with pytest.raises(co.InputError, match=r"value of joint 'left' in group state 'a' must be a finite.*\(line 2\)"):
        co.formats.from_urdf(written(tmp_path, hand()), srdf=srdf)


def test_macros_are_expanded_by_xacro(tmp_path):
    path = tmp_path / "robot.xacro"
    macro = (
        '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="n" value="joint"/>'
        '<link name="a"/><link name="b"/><joint name="${n}_1" type="continuous"><parent link="a"/><child link="b"/>'
        '<axis xyz="0 0 ${1 + 1}"/></joint></robot>'
    )
    path.write_text(macro, encoding="utf-8")
    if importlib.util.find_spec("xacro") is None:
        with pytest.raises(co.InputError, match=r"needs the package xacro, which is not installed: pip install"):
            co.formats.from_urdf(path)
        return
    assert co.formats.from_urdf(path).model.joint_names == ("joint_1",)
    path.write_text(macro.replace("1 + 1", "1 +"), encoding="utf-8")
    with pytest.raises(co.InputError, match="cannot be expanded by xacro"):
        co.formats.from_urdf(path)
    include = '<xacro:include filename="$(find none_description)/urdf/none.xacro"/>'
    path.write_text(macro.replace("<link", include + "<link", 1), encoding="utf-8")
    with pytest.raises(co.InputError, match=r"cannot be expanded by xacro: \$\(find \.\.\.\) asks ROS"):
        co.formats.from_urdf(path)


def same_mechanism(one: co.Model, other: co.Model) -> None:
    """Names, numbers, limits and couplings, to rounding in the angles of placements."""
    assert one.joint_names == other.joint_names
    assert dict(one.couplings) == dict(other.couplings)
    assert set(one.markers) == set(other.markers)
    for a, b in zip(one.bodies, other.bodies, strict=True):
        assert (a.name, a.parent, a.joint.kind, a.joint.limits) == (b.name, b.parent, b.joint.kind, b.joint.limits)
        assert a.joint_name == b.joint_name
        np.testing.assert_allclose(a.joint.axis, b.joint.axis, atol=1e-15)
        for mine, theirs in (
            (a.joint.before, b.joint.before),
            (a.joint.after, b.joint.after),
            (ca.vertcat(a.mass, a.com), ca.vertcat(b.mass, b.com)),
            (a.inertia, b.inertia),
            (a.joint.passive.values, b.joint.passive.values),
        ):
            np.testing.assert_allclose(np.array(ca.DM(mine)), np.array(ca.DM(theirs)), rtol=1e-14, atol=2e-15)


@pytest.mark.parametrize("seed", range(10))
def test_a_model_comes_back_from_a_file_as_it_was(tmp_path, seed):
    text = random_urdf(np.random.default_rng(seed), 12) if seed else hand()
    first = co.formats.from_urdf(written(tmp_path, text)).model
    assert [line for line in co.formats.to_urdf(first, tmp_path / "again.urdf") if "friction" not in line] == []
    same_mechanism(first, co.formats.from_urdf(tmp_path / "again.urdf").model)


@pytest.mark.parametrize("seed", range(3))
def test_placements_in_which_roll_and_yaw_are_one_come_back_too(tmp_path, seed):
    rng = np.random.default_rng(seed)
    for pitch in (np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9, 1.5707963):
        place = co.placement(rng.normal(size=3), (rng.uniform(-3, 3), pitch, rng.uniform(-3, 3)))
        arm = co.Model([co.Body("base", co.fixed()), co.Body("arm", co.revolute((0, 0, 1), place), "base", mass=1.0)])
        co.formats.to_urdf(arm, tmp_path / "arm.urdf")
        again = co.formats.from_urdf(tmp_path / "arm.urdf").model.bodies[1].joint.before
        np.testing.assert_allclose(np.array(ca.DM(again)), np.array(ca.DM(place)), atol=1e-15)


def test_frames_behind_joints_and_bases_that_move_are_written_as_links(tmp_path):
    """Rows of Denavit and Hartenberg, on a world that the format needs a link for."""
    link = {"mass": 1.0, "com": (-0.2, 0.01, 0.0), "inertia": (0.01, 0.02, 0.02)}
    limits = co.Limits(torque=(-1.0, 2.0))
    rows = [co.dh_revolute(0.1, 0.2, 0.3, 0.4, limits), co.dh_prismatic(0.1, 0.2, 0.3, 0.4)]
    arm = co.Model(
        [co.Body("one", rows[0], **link), co.Body("two", rows[1], "one", **link)],
        gravity=(0, 0, -9.81),
        markers={"tip": ("two", (0.1, 0.2, 0.3))},
    )
    left_out = co.formats.to_urdf(arm, tmp_path / "arm.urdf")
    assert left_out == ("torque limits [-1, 2] of joint 'one'",)
    again = co.formats.from_urdf(tmp_path / "arm.urdf").model
    assert [body.name for body in again.bodies] == ["world", "one_before", "one", "two_before", "two", "tip"]
    assert again.joint_names == ("one", "two")
    assert again.limits("position")[1].tolist() == [math.inf, math.inf]
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    np.testing.assert_allclose(
        co.Evaluator(again).torque(q, qd, qdd), co.Evaluator(arm).torque(q, qd, qdd), rtol=1e-13, atol=1e-13
    )
    tip = co.Evaluator(arm).point("two", (0.1, 0.2, 0.3), q=q).position
    np.testing.assert_allclose(co.Evaluator(again).point("tip", q=q).position, tip, atol=1e-15)


def test_pinocchio_reads_what_is_written(tmp_path):
    first = co.formats.from_urdf(written(tmp_path, hand())).model
    co.formats.to_urdf(first, tmp_path / "again.urdf")
    theirs = pin.buildModelFromUrdf(str(tmp_path / "again.urdf"), mimic=True)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 2))
    passive = np.array([0.5 * 5, 0.5]) * qd
    expected = pin.rnea(theirs, theirs.createData(), q, qd, qdd) + passive
    np.testing.assert_allclose(co.Evaluator(first).torque(q, qd, qdd), expected, rtol=1e-11, atol=1e-11)


def test_what_a_urdf_cannot_say_is_refused_or_listed(tmp_path):
    spring = co.Passive(stiffness=1.0, armature=0.1)
    sprung = co.Model([co.Body("a", co.revolute(passive=spring), mass=1.0)])
    assert co.formats.to_urdf(sprung, tmp_path / "a.urdf") == (
        "gravity (0, -9.81, 0) m/s2",
        "stiffness of joint 'a'",
        "armature of joint 'a', but for Drake",
    )
    thread = co.Model([co.Body("a", co.model.helical(pitch=0.1), mass=1.0)])
    with pytest.raises(co.InputError, match="joint 'a' is helical, which URDF does not support"):
        co.formats.to_urdf(thread, tmp_path / "a.urdf")
    heavy = co.Model([co.Body("a", co.revolute(), mass=ca.SX.sym("m"))])
    with pytest.raises(co.InputError, match="contains symbols, a URDF needs numbers"):
        co.formats.to_urdf(heavy, tmp_path / "a.urdf")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("", "path must be a file name, got ''"),
        (".", "'.' is a directory"),
        ("none/a.urdf", "'none' of 'a.urdf' does not"),
    ],
)
def test_a_path_at_which_no_urdf_can_be_is_refused_by_name(place, words):
    with pytest.raises(co.InputError, match=words):
        co.formats.to_urdf(co.Model([co.Body("a", co.revolute(), mass=1.0)]), place)


def flying() -> co.Model:
    """A trunk that flies from somewhere, with a lever."""
    trunk = co.floating("trunk", co.placement((0.1, 0.2, 0.3), (0.4, 0.5, 0.6)), sequence="quaternion", mass=2.0,
                        com=(0.1, 0.0, -0.1), inertia=(0.1, 0.2, 0.15))  # fmt: skip
    link = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (0.01, 0.02, 0.02)}
    ends = co.Limits(position=(-3.0, 3.0))
    lever = co.Body("lever", co.revolute((0, 1, 0), co.placement((0.3, 0, 0)), ends), "trunk", **link)
    return co.Model([*trunk, lever], gravity=(0, 0, -9.81))


def test_what_floats_on_a_quaternion_is_a_floating_joint_to_all(tmp_path):
    """It comes back as it was, and Pinocchio's free-flyer has its torques."""
    model, path = flying(), tmp_path / "flying.urdf"
    assert co.formats.to_urdf(model, path) == ()
    again = co.formats.from_urdf(path).model
    assert (again.position_names, again.joint_names) == (model.position_names, model.joint_names)
    rng = np.random.default_rng(3)
    q, qd, qdd = model.of_unit_length(rng.normal(size=model.n_q)), *rng.normal(size=(2, model.n))
    torque = co.Evaluator(model).torque(q, qd, qdd)
    np.testing.assert_allclose(co.Evaluator(again).torque(q, qd, qdd), torque, rtol=1e-13, atol=1e-13)
    theirs = pin.buildModelFromUrdf(str(path))
    R = pin.Quaternion(*q[3:7]).toRotationMatrix()
    spin = qd[3:6]
    v, a = (np.concatenate([R.T @ rate[:3], rate[3:]]) for rate in (qd, qdd))
    a[:3] -= np.cross(spin, v[:3])
    tau = pin.rnea(theirs, theirs.createData(), np.concatenate([q[:3], q[4:7], q[3:4], q[7:]]), v, a)
    np.testing.assert_allclose(np.concatenate([R @ tau[:3], tau[3:]]), torque, rtol=1e-11, atol=1e-11)


def test_what_floating_joints_of_a_file_do_not_say_is_listed_and_ball_joints_are_refused(tmp_path):
    limits = {"trunk_tz": co.Limits(position=(0.0, 2.0)), "trunk_rx": co.Limits(torque=(0.0, 0.0))}
    trunk = co.floating("trunk", sequence="quaternion", mass=2.0, inertia=(0.1, 0.2, 0.15), limits=limits)
    unsaid = co.formats.to_urdf(co.Model(trunk, (0, 0, -9.81)), tmp_path / "trunk.urdf")
    assert unsaid == ("position limits [0, 2] of joint 'trunk_tz'", "torque limits [0, 0] of joint 'trunk_rx'")
    hip = co.Model(co.spherical("thigh", sequence="quaternion", mass=2.0, inertia=(0.1, 0.2, 0.15)))
    marked = co.Model(trunk, markers={"there": ("trunk_tx", (0, 0, 0))})
    for model, name in ((hip, "thigh"), (marked, "trunk")):
        with pytest.raises(co.InputError, match=f"ball joint '{name}' is on a quaternion, and URDF has no ball joints"):
            co.formats.to_urdf(model, tmp_path / "ball.urdf")


@pytest.mark.parametrize(("balls", "moment"), [("angles", 9.0), ("quaternion", 1.0)])  # of the first turn: rz, rx
def test_an_inertia_that_no_body_has_is_as_given_on_a_free_base(tmp_path, balls, moment):
    tensor = '<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/>'
    text = f'<robot name="b"><link name="b"><inertial><mass value="0"/>{tensor}</inertial></link></robot>'
    model = co.formats.from_urdf(written(tmp_path, text), base="free", inertia="given", balls=balls).model
    assert co.Evaluator(model).mass_matrix(model.neutral)[3, 3] == pytest.approx(moment)


def rotor(joint: str, gear: str, inertia: str) -> str:
    """A transmission as Drake's models have it, with a reduction of 1 beside Drake's own."""
    return (
        f'<transmission name="to {joint}"><joint name="{joint}"/><actuator name="m"><mechanicalReduction>1'
        f'</mechanicalReduction>{gear}<drake:rotor_inertia value="{inertia}"/></actuator></transmission>'
    )


@pytest.mark.parametrize("seed", range(2))
def test_rotors_of_drakes_files_are_armatures_as_pinocchio_adds_them(tmp_path, seed):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 6)
    there: Any = pin.buildModelFromXML(text)
    names = list(there.names[1:])
    gears, rotors = rng.uniform(-160, 160, len(names)).tolist(), rng.uniform(1e-5, 1e-4, len(names)).tolist()
    motors = [
        rotor(n, f'<drake:gear_ratio value="{g}"/>', f"{r}") for n, g, r in zip(names, gears, rotors, strict=True)
    ]
    reading = co.formats.from_urdf(written(tmp_path, text.replace("</robot>", "".join(motors) + "</robot>")))
    assert dict(reading.gears) == dict(zip(names, gears, strict=True))
    for name, gear, inertia in zip(names, gears, rotors, strict=True):
        there.armature[there.joints[there.getJointId(name)].idx_v] = gear**2 * inertia
    model = reading.model
    q, qd, qdd = rng.normal(size=(3, model.n))
    configuration, rates = in_pinocchio(there, model.joint_names, q, [qd, qdd])
    torques = pin.rnea(there, there.createData(), configuration, *rates)
    bare = [
        replace(body.joint, passive=replace(body.joint.passive, damping=0.0, friction=None)) for body in model.bodies
    ]
    moved = co.Model([replace(b, joint=j) for b, j in zip(model.bodies, bare, strict=True)], model.gravity)
    expected = [torques[there.joints[there.getJointId(name)].idx_v] for name in model.joint_names]
    np.testing.assert_allclose(co.Evaluator(moved).torque(q, qd, qdd), expected, rtol=1e-11, atol=1e-11)


def test_armatures_are_written_as_rotors_that_others_pass_over(tmp_path):
    link = {"mass": 1.0, "com": (0.2, 0.0, 0.0), "inertia": (0.01, 0.02, 0.02)}
    driven = [co.revolute((0, 1, 0), passive=co.Passive(armature=0.3)), co.dh_revolute(a=0.4, alpha=0.5)]
    wrist = replace(driven[1], passive=co.Passive(armature=0.07))
    model = co.Model([co.Body("a", driven[0], **link), co.Body("b", wrist, "a", **link)], (0.0, 0.0, -9.81))
    path = tmp_path / "arm.urdf"
    assert co.formats.to_urdf(model, path) == tuple(f"armature of joint {name!r}, but for Drake" for name in "ab")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2))
    expected = co.Evaluator(model).torque(q, qd, qdd)
    np.testing.assert_allclose(co.Evaluator(co.formats.from_urdf(path).model).torque(q, qd, qdd), expected, rtol=1e-12)
    theirs: Any = pin.buildModelFromUrdf(str(path))
    without = expected - np.array([0.3, 0.07]) * qdd
    configuration, rates = in_pinocchio(theirs, model.joint_names, q, [qd, qdd])
    np.testing.assert_allclose(pin.rnea(theirs, theirs.createData(), configuration, *rates), without, rtol=1e-11)
    mj: Any = mujoco
    assert mj.MjModel.from_xml_path(str(path)).nv == 2


@pytest.mark.parametrize(
    ("gear", "inertia", "words"),
    [("", "-1e-4", "must not be negative"), ("", "much", "drake:rotor_inertia of transmission 'to j'"),
     ('<drake:gear_ratio value="x"/>', "1", "drake:gear_ratio of transmission 'to j'")],
)  # fmt: skip
def test_wrong_rotors_are_refused(tmp_path, gear, inertia, words):
    with pytest.raises(co.InputError, match=words):
        co.formats.from_urdf(written(tmp_path, robot(LINKS + hinge() + rotor("j", gear, inertia))))


def test_a_hint_lifts_the_limits_of_some_joints_only(tmp_path):
    axis, end = '<axis xyz="0 1 0"/>', '<parent link="b"/><child link="c"/>'
    driven = hinge(f'{axis}<limit lower="0" upper="1" effort="3" velocity="1"/>', kind="revolute")
    idle = hinge(f'{axis}<limit lower="0" upper="1" effort="0" velocity="1"/>', kind="revolute", ends=end)
    text = robot(LINKS + '<link name="c"/>' + driven + idle.replace('name="j"', 'name="k"'))
    with pytest.warns(
        co.support.InputWarning, match=r"joint k has no motor.* limits=\{'torque': \{'k': None\}\} lifts"
    ):
        co.formats.from_urdf(written(tmp_path, text))
    model = co.formats.from_urdf(written(tmp_path, text), limits={"torque": {"k": None}}).model
    assert [joint.limits.torque for joint in model.joints if joint.moves] == [(-3.0, 3.0), (-math.inf, math.inf)]
