"""Parts of problems from OpenSim's files: muscles, the ground, springs, motors; what of them is missing is passive."""

from dataclasses import replace
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co

LEG = Path(__file__).parent / "osim" / "leg.osim"
PENDULUM = """<OpenSimDocument Version="40000"><Model name="pendulum"><gravity>0 0 0</gravity>
  <BodySet name="bodyset"><objects><Body name="rod"><mass>1</mass><mass_center>0 -0.5 0</mass_center>
    <inertia>0.1 0.01 0.05 0 0 0</inertia></Body></objects></BodySet>
  <JointSet name="jointset"><objects><PinJoint name="hinge">
    <socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/rod</socket_child_frame>
    <coordinates><Coordinate name="angle"/></coordinates>
  </PinJoint></objects></JointSet>
  <ForceSet name="forceset"><objects>
    <SpringGeneralizedForce name="wire"><coordinate>angle</coordinate><stiffness>2.7</stiffness>
      <rest_length>0.2</rest_length><viscosity>0.12</viscosity></SpringGeneralizedForce>
    <SpringGeneralizedForce name="broken"><appliesForce>false</appliesForce><coordinate>angle</coordinate>
      </SpringGeneralizedForce>
  </objects></ForceSet></Model></OpenSimDocument>"""


@pytest.fixture(scope="module")
def leg() -> co.formats.Reading:
    return co.formats.from_osim(LEG)


@pytest.fixture(scope="module")
def muscles(leg) -> co.muscles.Muscles:
    return leg.muscles


def problem(leg: co.formats.Reading, *parts: co.problem.Part) -> co.Problem:
    return co.Problem(leg.model, 1.0, parts=parts)


def test_muscles_ground_and_motors_are_parts(leg, muscles):
    whole = problem(leg, muscles, leg.contact, leg.motors)
    assert muscles is leg.muscles
    assert [load.body for load in whole.all_loads] == ["foot"]
    assert [signal.name for signal in whole.signals] == ["activation_rate", "motor"]
    assert whole.signals[0].names == ("hamstring", "rectus", "gastroc")
    assert whole.signals[1].names == ("dorsiflexion",)
    driven = {*muscles.driven, "dorsiflexion"}
    assert "bend" in driven
    assert whole.passive == tuple(joint for joint in leg.model.joint_names if joint not in driven)
    assert {"forward", "height"} < set(whole.passive)


def test_a_knee_that_no_muscle_of_a_file_crosses_is_passive(leg, muscles):
    """Nor does one that ran over it only."""
    at_knee = [name for name, arms in zip(muscles.names, _crossed(muscles), strict=True) if "bend" in arms]
    assert at_knee
    others = [muscle for muscle in muscles.muscles if muscle.name not in at_knee]
    parts = [replace(muscles, muscles=others)] if others else []
    amputated = problem(leg, *parts, leg.motors)
    assert "bend" in amputated.passive
    low, high = amputated.limits("tau")
    knee = leg.model.joint_names.index("bend")
    assert low[knee] == high[knee] == 0.0


def _crossed(muscles: co.muscles.Muscles) -> list[set[str]]:
    """Joints about which each muscle has a moment arm."""
    rows, columns = muscles.length_graph[2].sparsity().get_triplet()
    names = muscles.model.joint_names
    return [{names[j] for i, j in zip(rows, columns, strict=True) if i == k} for k in range(len(muscles.names))]


def test_springs_of_a_file_swing_as_their_equation_says(tmp_path):
    """A mass of 0.3 kg m2 on a damped spring: a passive motion, in closed form."""
    (tmp_path / "pendulum.osim").write_text(PENDULUM, encoding="utf-8")
    reading = co.formats.from_osim(tmp_path / "pendulum.osim")
    (wire,) = reading.springs
    assert isinstance(wire, co.Spring)
    assert (wire.name, wire.stiffness, wire.rest, wire.damping) == ("wire", 2.7, 0.2, 0.12)
    assert reading.left_out == ("1 spring that is switched off of coordinates: broken",)
    start = co.initial(q=0.5, qd=0.0)
    swing = co.solve(co.Problem(reading.model, 2.0, subject_to=[start], parts=reading.springs), co.Radau(20))
    t = np.linspace(0.0, 2.0, 21)
    decay = 0.12 / 2 / 0.3
    rate = np.sqrt(2.7 / 0.3 - decay**2)
    expected = 0.2 + 0.3 * np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
    np.testing.assert_allclose(swing.at(t).q[:, 0], expected, atol=1e-5)
    with pytest.raises(co.InputError, match="the file of 'pendulum' has no muscles"):
        reading.muscles  # noqa: B018
    with pytest.raises(co.InputError, match=r"limits no torque: give co\.Motors"):
        reading.motors  # noqa: B018


def test_a_person_of_a_file_in_one_argument(leg, muscles):
    """Muscles, ground and a spring whose stiffness is to be found, as in the script of the overview."""
    spring = co.Unknown("k", lower=10, upper=1500, constant=True)  # N m/rad
    effort = co.integral(lambda now: ca.sum1(now.activation**3))
    walk = co.Problem(
        leg.model,
        co.Free(0.4, 0.6),
        effort,
        [co.initial(q={"forward": 0.0})],
        parts=[muscles, leg.contact, co.Spring("dorsiflexion", stiffness=spring)],
    )
    (row,) = [label for label in walk.rows["torques"].rows.labels if "dorsiflexion" in label]
    both = "muscle and spring" if "dorsiflexion" in muscles.driven else "spring"
    assert row == f"{both} torque at joint dorsiflexion"
    assert [constant.name for constant in walk.constants] == ["k"]


def test_what_a_file_switches_off_exerts_no_force(leg, tmp_path):
    text = LEG.read_text(encoding="utf-8")
    off = {"muscle": "gastroc", "coordinate actuator": "", "contact law": ""}
    for kind, tag in (("coordinate actuator", "CoordinateActuator"), ("contact law", "SmoothSphereHalfSpaceForce")):
        off[kind] = text.split(f'<{tag} name="')[1].split('"')[0]
    for name in off.values():
        begin = text.index(">", text.index(f'name="{name}"', text.index("<ForceSet"))) + 1
        text = f"{text[:begin]}<appliesForce>false</appliesForce>{text[begin:]}"
    (tmp_path / "off.osim").write_text(text, encoding="utf-8")
    reading = co.formats.from_osim(tmp_path / "off.osim")
    assert [record.name for record in reading.muscle_data] == ["hamstring", "rectus"]
    assert len(reading.contact_laws) == len(leg.contact_laws) - 1
    assert not np.isfinite(reading.model.limits("torque")[1]).any()
    said = [line for line in reading.left_out if "switched off" in line]
    assert sorted(said) == sorted(f"1 {kind} that is switched off of the file: {name}" for kind, name in off.items())


LEFT_OUT = """<BushingForce name="strap"><rotational_stiffness>10 0 0</rotational_stiffness></BushingForce>
  <PointToPointSpring name="band"><point1>0 -1 0</point1><stiffness>2500</stiffness><rest_length>0.8</rest_length>
  </PointToPointSpring><PathActuator name="rope"><optimal_force>50</optimal_force></PathActuator>
  <BushingForce name="loose"><appliesForce>false</appliesForce></BushingForce>"""
GUIDES = """<ConstraintSet name="constraintset"><objects><PointOnLineConstraint name="guide"/>
  <PointOnLineConstraint name="lifted"><isEnforced>false</isEnforced></PointOnLineConstraint></objects></ConstraintSet>
  <ForceSet"""


def test_forces_and_constraints_that_are_left_out_warn_once_with_their_sizes(tmp_path):
    """Not those that are switched off, nor actuators: what these do is up to their control."""
    path = tmp_path / "tied.osim"
    text = PENDULUM.replace("</objects></ForceSet>", LEFT_OUT + "</objects></ForceSet>").replace("<ForceSet", GUIDES)
    path.write_text(text, encoding="utf-8")
    with pytest.warns(co.support.InputWarning) as issued:
        reading = co.formats.from_osim(path)
    parts = (
        "PointOnLineConstraint 'guide'",
        "BushingForce 'strap' (rotational_stiffness 10 0 0)",
        "PointToPointSpring 'band' (stiffness 2500, rest_length 0.8)",
    )
    assert [str(warning.message) for warning in issued] == [
        f"forces and constraints in {str(path)!r} that are left out: {'; '.join(parts)}"
    ]
    assert {name for name in ("rope", "loose", "lifted") if name in str(reading)} == {"rope", "loose", "lifted"}
