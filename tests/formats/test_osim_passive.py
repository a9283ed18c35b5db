"""Passive torques of OpenSim's files, limit forces, expressions and ligaments, against OpenSim 4.6."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.opensim import needs_opensim, run_opensim


def ligament(kind: str, name: str, numbers: str) -> str:
    places = (("/ground", "0.02 0.03 0.01"), ("/bodyset/thigh", "0.01 -0.2 0"), ("/bodyset/shank", "0.03 -0.05 0.02"))
    points = "".join(
        f'<PathPoint name="{name}{k}"><socket_parent_frame>{frame}</socket_parent_frame>'
        f"<location>{place}</location></PathPoint>"
        for k, (frame, place) in enumerate(places)
    )
    path = f'<GeometryPath name="path"><PathPointSet><objects>{points}</objects></PathPointSet></GeometryPath>'
    return f'<{kind} name="{name}">{path}{numbers}</{kind}>'


def leg() -> str:
    """Two hinges and a slide, with one force of each kind."""
    bodies = "".join(
        f'<Body name="{name}"><mass>{mass}</mass><mass_center>0 -0.2 0</mass_center>'
        "<inertia>0.1 0.02 0.1 0 0 0</inertia></Body>"
        for name, mass in (("thigh", 7), ("shank", 3), ("toe", 1))
    )
    joints = "".join(
        f'<{kind} name="j{name}"><socket_parent_frame>{parent}</socket_parent_frame>'
        f'<socket_child_frame>/bodyset/{child}</socket_child_frame><coordinates><Coordinate name="{name}"/>'
        f"</coordinates></{kind}>"
        for kind, name, parent, child in (
            ("PinJoint", "hip", "/ground", "thigh"),
            ("PinJoint", "knee", "/bodyset/thigh", "shank"),
            ("SliderJoint", "slide", "/bodyset/shank", "toe"),
        )
    )
    limits = (
        "<upper_stiffness>2</upper_stiffness><upper_limit>{}</upper_limit><lower_stiffness>3</lower_stiffness>"
        "<lower_limit>{}</lower_limit><damping>0.02</damping><transition>{}</transition>"
    )
    forces = "".join(
        [
            f'<CoordinateLimitForce name="stop"><coordinate>knee</coordinate>{limits.format(20, -30, 15)}'
            "</CoordinateLimitForce>",
            f'<CoordinateLimitForce name="end"><coordinate>slide</coordinate>{limits.format(0.1, -0.1, 0.05)}'
            "</CoordinateLimitForce>",
            '<ExpressionBasedCoordinateForce name="tissue"><coordinate>hip</coordinate>'
            "<expression>-2.44*exp(5.05*(q-0.81))+1.51*exp(-2*(q+0.5))-1.5*qdot^3+sin(q)</expression>"
            "</ExpressionBasedCoordinateForce>",
            ligament(
                "Blankevoort1991Ligament",
                "cord",
                "<slack_length>0.3</slack_length><linear_stiffness>500</linear_stiffness>"
                "<damping_coefficient>0</damping_coefficient>",
            ),
            ligament("Ligament", "band", "<resting_length>0.28</resting_length><pcsa_force>800</pcsa_force>"),
        ]
    )
    return (
        f'<OpenSimDocument Version="40000"><Model name="leg"><gravity>0 -9.8 0</gravity><BodySet name="bodyset">'
        f'<objects>{bodies}</objects></BodySet><JointSet name="jointset"><objects>{joints}</objects></JointSet>'
        f'<ForceSet name="forceset"><objects>{forces}</objects></ForceSet></Model></OpenSimDocument>'
    )


STATES = np.array(
    [
        [0.3, -0.7, 0.2, 0.5, -0.3, 0.4],
        [-0.6, 0.45, -0.13, -0.2, 0.8, 0.1],
        [1.1, 0.2, 0.02, 0.0, 0.3, -0.5],
        [0.1, -0.45, -0.4, 0.3, -0.1, 0.2],
    ]
)  # q and qd of hip, knee and slide
SAID = np.array(  # by OpenSim 4.6: torques on hip, knee and slide
    [
        [9.004575872273975, 30.19450265027172, -0.20800000000000018],
        [2.2978698053103983, -50.933766133791984, 0.06006527999999989],
        [-0.15244657520142724, -12.127210067405164, 0.0],
        [8.166958875064022, -1.1957675720430059, 0.8959999999999999],
    ]
)
SCRIPT = """
model = osim.Model("leg.osim")
state = model.initSystem()
names = ("hip", "knee", "slide")
for row in STATES:
    for k, name in enumerate(names):
        model.getCoordinateSet().get(name).setValue(state, row[k])
        model.getCoordinateSet().get(name).setSpeedValue(state, row[3 + k])
    total = []
    for on in (False, True):
        for k in range(model.getForceSet().getSize()):
            model.getForceSet().get(k).setAppliesForce(state, on)
        model.realizeDynamics(state)
        total.append(osim.InverseDynamicsSolver(model).solve(state, osim.Vector(3, 0.0)).to_numpy())
    print(*(total[0] - total[1]).tolist())
"""


@pytest.fixture
def reading(tmp_path: Path) -> co.formats.Reading:
    (tmp_path / "leg.osim").write_text(leg(), encoding="utf-8")
    return co.formats.from_osim(tmp_path / "leg.osim")


def test_passive_torques_are_those_of_opensim(reading):
    assert [spring.joint for spring in reading.springs] == ["knee", "slide", "hip"]
    assert reading.left_out == ("1 damping of ligaments: cord",)
    parts = [*reading.springs, reading.ligaments]
    balance = co.Problem(reading.model, 1.0, parts=parts)
    assert balance.passive == ()
    q, qd = ca.SX.sym("q", 3), ca.SX.sym("qd", 3)
    now = co.problem.Instant(reading.model, ca.SX(0), ca.SX(1), q, qd, ca.SX(3, 1), ca.SX(3, 1))
    total = [ca.SX(0)] * 3
    for part in parts:
        for joint, torque in part.torques(now).items():
            total[reading.model.joint_names.index(joint)] += torque
    torques = ca.Function("torques", [q, qd], [ca.vertcat(*total)])
    ours = np.array(torques.map(4)(STATES[:, :3].T, STATES[:, 3:].T)).T
    assert (np.abs(SAID).max(axis=0) > 0.1).all()
    np.testing.assert_allclose(ours, SAID, rtol=1e-9, atol=1e-9)


@needs_opensim
def test_opensim_says_so(reading, tmp_path):
    said = run_opensim(f"STATES = np.array({STATES.tolist()})\n" + SCRIPT, tmp_path)
    rows = [[float(word) for word in line.split()] for line in said.strip().split("\n")[-4:]]
    np.testing.assert_allclose(rows, SAID, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("expression", ["q+", "__import__('os')", "q.real", "speed", "exp(q", "[q]", "open(q)", "q==1"])
def test_what_is_no_expression_is_refused_with_its_line(expression: str, tmp_path: Path):
    (tmp_path / "bad.osim").write_text(leg().replace("+sin(q)", f"+{expression}"), encoding="utf-8")
    with pytest.raises(co.InputError, match=r"expression must be of q and qdot, with .* \(line 1\)"):
        co.formats.from_osim(tmp_path / "bad.osim")


def test_a_ligament_pulls_across_its_joint_as_its_force_says(reading):
    """The pull on the shank lies in the direction of the last piece of the path, with the size of the force."""
    q = ca.SX(STATES[2, :3])
    now = co.problem.Instant(reading.model, ca.SX(0), ca.SX(1), q, ca.SX(3, 1), ca.SX(3, 1), ca.SX(3, 1))
    pull = reading.ligaments.pull_across(now, "shank")
    assert pull is not None
    forces = np.array(ca.DM(ca.evalf(reading.ligaments.forces(now)))).ravel()
    assert (forces > 1.0).all()
    assert float(ca.norm_2(ca.evalf(pull.force))) == pytest.approx(forces.sum(), rel=1e-9)
