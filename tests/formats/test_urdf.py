"""URDF files, against Pinocchio's reader."""

import math
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest

import colloc as co

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
    path.write_text(text)
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
    theirs, ours = pin.buildModelFromXML(text), co.formats.from_urdf(written(tmp_path, text))
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
    theirs, ours = pin.buildModelFromXML(text), co.formats.from_urdf(written(tmp_path, text), friction_velocity=0.02)
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
    with pytest.warns(co.support.InputWarning, match=r"joint 'wag' has no <axis>: it is taken to be x"):
        model = co.formats.from_urdf(written(tmp_path, f'<robot name="r">{links}{rows}</robot>'))
    assert [body.name for body in model.bodies] == ["base", "tail", "hand", "tip"]
    assert model.joint_names == ("wag", "turn", "wrist")
    assert model.name == "r"
    assert model.gravity.tolist() == [0, 0, -9.81]
    assert model.joints[0].axis.tolist() == [1, 0, 0]  # the format's own default


LINKS = '<link name="a"/><link name="b"/>'


def hinge(inner: str = "", kind: str = "continuous", ends: str = '<parent link="a"/><child link="b"/>') -> str:
    return f'<joint name="j" type="{kind}">{ends}{inner}</joint>'


def robot(inner: str) -> str:
    return f'<robot name="r">{inner}</robot>'


SECOND = hinge(ends='<parent link="c"/><child link="b"/>').replace('"j"', '"k"')
BACK = hinge(ends='<parent link="b"/><child link="a"/>').replace('"j"', '"k"')
MASS = '<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="9"/>'
REFUSED = {
    "floating": (robot(LINKS + hinge(kind="floating")), r"joint 'j' is of type 'floating'; what can be read: revolute"),
    "planar": (robot(LINKS + hinge(kind="planar")), r"joint 'j' is of type 'planar'"),
    "mimic": (robot(LINKS + hinge('<mimic joint="k"/>')), r"joint 'j' has a <mimic>, which is not read"),
    "no limit": (robot(LINKS + hinge(kind="revolute")), r"joint 'j' must have one <limit>, got 0"),
    "two axes": (robot(LINKS + hinge("<axis/><axis/>")), r"joint 'j' must have one <axis>, got 2"),
    "axis of text": (robot(LINKS + hinge('<axis xyz="x y z"/>')), r"xyz of axis of joint 'j' must be 3 finite numbers"),
    "axis of two": (robot(LINKS + hinge('<axis xyz="0 1"/>')), r"must be 3 finite numbers, got '0 1'"),
    "no axis": (robot(LINKS + hinge('<axis xyz="0 0 0"/>')), r"axis must be a non-zero vector"),
    "infinite": (robot(LINKS + hinge('<dynamics damping="inf"/>')), r"damping of joint 'j' must be a finite number"),
    "unknown link": (robot('<link name="a"/>' + hinge()), r"no link \(of joint 'j'\) named 'b'"),
    "two parents": (
        robot(LINKS + '<link name="c"/>' + hinge() + SECOND),
        r"link 'b' is carried by two joints",
    ),
    "two roots": (robot(LINKS), r"one link that no joint carries, got a, b"),
    "circle": (robot('<link name="a"/>' + hinge(ends='<parent link="a"/><child link="a"/>')), r"carries, got none"),
    "aside": (
        robot('<link name="c"/>' + LINKS + hinge() + BACK),
        r"2 links hang on each other in a circle, and not on 'c'",
    ),
    "two links": (robot('<link name="a"/>' * 2), r"two links are named 'a'"),
    "no name": (robot("<link/>"), r"a link must have name="),
    "impossible": (robot(f'<link name="a"><inertial>{MASS}</inertial></link>'), r"'a' is physically impossible"),
    "nothing moves": (robot('<link name="a"/>'), r"no joint that moves"),
    "xacro": ('<robot xmlns:xacro="x"><xacro:macro/></robot>', r"the robot has a <\{x\}macro>, which is not read"),
    "other": ("<sdf/>", r"its root is <sdf>, not <robot>"),
    "half": ("<robot><link", r"cannot be read as a URDF: unclosed token"),
    "encoding": ('<?xml version="1.0" encoding="none"?><robot/>', r"cannot be read as a URDF"),
    "bomb": (
        '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>' + robot('<link name="&b;"/>'),
        r"a URDF has no document type, got <!DOCTYPE r>",
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


def test_files_that_are_none_are_refused(tmp_path):
    for path in (tmp_path, tmp_path / "none.urdf", "/dev/zero"):
        with pytest.raises(co.InputError, match="is no file"):
            co.formats.from_urdf(path)
    (tmp_path / "bytes.urdf").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(co.InputError, match="cannot be read as a URDF"):
        co.formats.from_urdf(tmp_path / "bytes.urdf")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ('effort="1" velocity="0"', r"joint 'j' cannot move: its velocity limit is 0$"),
        ('effort="0" velocity="1"', r"joint 'j' has no motor: its effort limit is 0, which holds its torque at zero"),
    ],
)
def test_a_joint_that_may_not_move_or_has_no_motor_is_doubted(tmp_path, limits, words):
    still = hinge(f'<axis xyz="0 1 0"/><limit lower="0" upper="1" {limits}/>', kind="revolute")
    with pytest.warns(co.support.InputWarning, match=words):
        co.formats.from_urdf(written(tmp_path, robot(LINKS + still)))
