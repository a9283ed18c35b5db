"""OpenSim's files against OpenSim 4.6: frames, markers, paths, masses and forces, at random states.

The files in the folder beside are this project's own. OpenSim's results for them are kept in a file, which

    python -m tests.formats.test_osim

writes again where OpenSim is installed, and tests there compare what is kept with what it says.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.model.kinematics import frames
from tests.support.opensim import ask_opensim, needs_opensim, run_opensim

FOLDER = Path(__file__).parent / "osim"
KEPT = FOLDER / "opensim.json"
FILES = ("joints", "leg", "old", "shoulder")
State = dict[str, tuple[float, float, float]]


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.osim"


def random_states(name: str, count: int = 3) -> list[State]:
    """States within the limits of the joints."""
    model, rng = co.formats.from_osim(path_of(name)).model, np.random.default_rng(5)
    low, high = np.clip(model.limits("position"), -10.0, 10.0)
    numbers = [(rng.uniform(low, high), *rng.normal(size=(2, model.n))) for _ in range(count)]
    rounded = [np.round(rows, 3).T.tolist() for rows in numbers]
    return [{joint: tuple(row) for joint, row in zip(model.joint_names, rows, strict=True)} for rows in rounded]


@pytest.fixture(scope="module")
def kept() -> dict[str, Any]:
    return json.loads(KEPT.read_text(encoding="utf-8"))


def length_of(record: co.formats.MuscleData, model: co.Model, q: ca.SX) -> ca.SX:
    return co.muscles.path_lengths(model, [co.muscles.from_file(record)], q)


@pytest.mark.parametrize("name", FILES)
def test_everything_is_where_and_as_heavy_as_in_opensim(kept, name):
    reading = co.formats.from_osim(path_of(name))
    model = reading.model
    evaluator, q = co.Evaluator(model), ca.SX.sym("q", model.n)
    places = ca.Function("places", [q], frames(model, q, ca.SX(model.n, 1), ca.SX(model.n, 1)).position)
    lengths = {m.name: ca.Function("length", [q], [length_of(m, model, q)]) for m in reading.muscle_data}
    assert len(kept[name]) == 3
    for case in kept[name]:
        state, answer = case["state"], case["answer"]
        Q, QD, QDD = np.array([state[joint] for joint in model.joint_names]).T
        frame = {body.name: np.array(place) for body, place in zip(model.bodies, places.call([Q]), strict=True)}
        for body, place in answer["bodies"].items():
            np.testing.assert_allclose(frame[body][:3], place, atol=1e-13, err_msg=body)
        for marker, (body, point) in model.markers.items():
            here = frame[body] @ np.append(np.array(ca.DM(point)).ravel(), 1.0)
            np.testing.assert_allclose(here[:3], answer["markers"][marker], atol=1e-13, err_msg=marker)
        for muscle, length in lengths.items():
            assert float(length(Q)) == pytest.approx(answer["muscles"][muscle], abs=1e-13)
        order = [list(state).index(joint) for joint in model.joint_names]
        tau, mass = np.array(answer["torque"])[order], np.array(answer["mass"])[np.ix_(order, order)]
        np.testing.assert_allclose(evaluator.mass_matrix(Q), mass, atol=1e-13 * np.abs(mass).max())
        np.testing.assert_allclose(evaluator.torque(Q, QD, QDD), tau, atol=1e-12 * np.abs(tau).max())
        for joint, coupling in model.couplings.items():  # coordinates that depend on others are tree joints
            if joint in answer["dependent"]:
                leader = ca.SX(state[coupling.joint][0])
                assert float(coupling.derivatives(leader, 0)[0]) == pytest.approx(answer["dependent"][joint], abs=1e-14)


@needs_opensim
@pytest.mark.parametrize("name", FILES)
def test_what_is_kept_is_what_opensim_says(kept, name, tmp_path):
    states = [case["state"] for case in kept[name]]
    assert states == [{k: list(v) for k, v in state.items()} for state in random_states(name)]
    answers = ask_opensim({str(path_of(name)): states}, tmp_path)[str(path_of(name))]
    for case, answer in zip(kept[name], answers, strict=True):
        for part in ("torque", "mass", "markers", "muscles", "bodies", "dependent"):
            left, right = case["answer"][part], answer[part]
            if isinstance(left, dict):
                assert list(left) == list(right)
                left, right = list(left.values()), list(right.values())
            np.testing.assert_allclose(np.array(left), np.array(right), rtol=1e-10, atol=1e-10)


def test_the_leg_is_read_with_all_that_it_says():
    reading = co.formats.from_osim(path_of("leg"))
    model = reading.model
    assert set(model.joint_names) == {
        "tilt", "forward", "height", "flexion", "adduction", "rotation", "bend", "dorsiflexion"
    }  # fmt: skip
    assert model.gravity.tolist() == [0.0, -9.80665, 0.0]
    assert {joint: coupling.joint for joint, coupling in model.couplings.items()} == {
        "knee_translation1": "bend", "knee_translation2": "bend", "ankle_rotation1": "dorsiflexion",
        **{f"patellofemoral_{axis}": "bend" for axis in ("translation1", "translation2", "rotation1")},
    }  # fmt: skip
    assert reading.changed == (
        "coordinate 'dorsiflexion' moves a massless body alone, which axes of joint 'ankle' follow",
        "coordinate 'toe_angle' is locked: it is held at 0.1",
    )
    assert reading.left_out == ("1 wrapping surface that they touch in no posture of muscles: condyle of gastroc",)
    at = dict(zip(model.joint_names, zip(*model.limits("position"), strict=True), strict=True))
    assert (at["bend"], at["forward"], at["rotation"]) == ((-2.0, 0.2), (-5.0, 5.0), (-0.7, 0.7))
    drive = model.joint_names.index("dorsiflexion")
    assert [float(side[drive]) for side in model.limits("torque")] == [-30.0, 60.0]
    assert reading.postures["initial"]["height"] == 0.95
    assert "toe_angle" not in reading.postures["initial"]


def test_muscles_and_contact_are_data():
    reading = co.formats.from_osim(path_of("leg"))
    hamstring, rectus, gastroc = reading.muscle_data
    assert (hamstring.kind, hamstring.max_isometric_force) == ("Thelen2003Muscle", 2500.0)
    assert (hamstring.optimal_fiber_length, hamstring.tendon_slack_length, hamstring.pennation) == (0.1, 0.31, 0.1)
    assert (hamstring.activation, hamstring.deactivation, hamstring.controls) == (0.012, 0.05, (0.01, 1.0))
    via: Any = hamstring.points[1]
    assert via.coordinate == "bend"
    assert via.within == pytest.approx((-0.6, 0.2), abs=1.1e-5)
    assert (rectus.max_contraction_velocity, rectus.rigid_tendon) == (12.0, True)
    assert (hamstring.fiber_damping, rectus.fiber_damping, gastroc.fiber_damping) == (None, 0.03, 0.0)
    assert [co.muscles.from_file(m).damping for m in reading.muscle_data] == [0.01, 0.03, 0.0]
    assert rectus.points[1] == co.formats.PathPoint("patella", (0.01, 0.04, 0.0))
    moving: Any = rectus.points[2]
    x, y, z = moving.position
    assert all(isinstance(part, co.model.Coupling) and part.joint == "bend" for part in (x, y, z))
    assert [point.body for point in gastroc.points] == ["thigh", "foot"]
    heel, floor = reading.contact_shapes
    assert (heel.kind, heel.body, heel.radius, floor.kind, floor.body) == ("sphere", "foot", 0.035, "half-space", None)
    np.testing.assert_allclose(heel.placement[:3, 3], (0.03, 0.01, 0.0))
    np.testing.assert_allclose(floor.placement[:3, 0], (0.0, -1.0, 0.0), atol=1e-15)  # it fills what is below
    (law,) = reading.contact_laws
    assert (law.shapes, law.numbers["stiffness"], law.numbers["dissipation"]) == (("heel", "floor"), 1e6, 2.0)


def test_for_optimisation_joints_follow_polynomials_near_the_splines():
    given = co.formats.from_osim(path_of("leg")).model
    reading = co.formats.from_osim(path_of("leg"), smooth=1e-4)
    assert all(isinstance(coupling.curve, co.model.Polynomial) for coupling in reading.model.couplings.values())
    (line,) = [line for line in reading.changed if "polynomials" in line]
    assert line.startswith("4 joints follow polynomials, at most ")
    worst = float(line.split()[6])
    assert 1e-6 < worst <= 1e-4
    angles = np.linspace(-2.0, 0.2, 301)
    bend = given.joint_names.index("bend")
    q = np.zeros((angles.size, given.n))
    q[:, bend] = angles
    off = [
        np.abs(np.array([float(ca.DM(c.derivatives(ca.SX(x), 0)[0])) for x in angles]) - theirs).max()
        for joint, c in reading.model.couplings.items()
        if c.joint == "bend"
        for theirs in [[float(ca.DM(given.couplings[joint].derivatives(ca.SX(x), 0)[0])) for x in angles]]
    ]
    assert max(off) == pytest.approx(worst, rel=0.05)
    with pytest.raises(co.InputError, match="smooth must be"):
        co.formats.from_osim(path_of("leg"), smooth=0.0)


def test_a_problem_of_joints_that_follow_polynomials_is_solved():
    """The third derivative of a cubic spline jumps at its points, and with it the slopes of torques."""
    model = co.formats.from_osim(path_of("leg"), smooth=1e-4).model
    model = model.frozen({"tilt": 0.1, "forward": 0.0, "height": 0.95})
    start = dict.fromkeys(model.joint_names, 0.0)
    problem = co.Problem(
        model,
        0.5,
        co.integral(lambda now: ca.sumsqr(now.tau)),
        [co.initial(q=start, qd=0.0), co.final(q=start | {"flexion": 0.7, "bend": -1.4}, qd=0.0)],
    )
    solution = co.solve(problem, co.BSpline(10, degree=5), plan=[co.refinement.Solve(judge_cost=False)])
    assert solution.status is co.solver.Status.SOLVED
    assert solution.error["cost"].total < 0.2
    assert solution.iterations < 100


def test_what_a_locked_coordinate_moves_is_where_it_holds_it(tmp_path):
    text = path_of("leg").read_text(encoding="utf-8")
    locked = text.replace("<range>-2 0.2</range>", "<range>-2 0.2</range><locked>true</locked>", 1)
    path = tmp_path / "locked.osim"
    path.write_text(locked, encoding="utf-8")
    still, free = co.formats.from_osim(path), co.formats.from_osim(path_of("leg"))
    assert "bend" not in still.model.joint_names
    q = np.full(still.model.n, 0.1)
    every = [-0.3 if joint == "bend" else 0.1 for joint in free.model.joint_names]
    for mine, other in zip(still.muscle_data, free.muscle_data, strict=True):
        ours = float(ca.evalf(length_of(mine, still.model, ca.SX(ca.DM(q)))))
        assert ours == pytest.approx(float(ca.evalf(length_of(other, free.model, ca.SX(ca.DM(every))))), abs=1e-14)


def test_constraints_close_loops(tmp_path):
    text = path_of("joints").read_text(encoding="utf-8")
    constraints = """<ConstraintSet name="constraintset"><objects>
      <WeldConstraint name="welded"><socket_frame1>/ground</socket_frame1>
        <socket_frame2>/jointset/weld/weld_body_offset</socket_frame2></WeldConstraint>
      <PointConstraint name="pinned"><socket_body_1>/bodyset/ball_body</socket_body_1>
        <socket_body_2>/bodyset/planar_body</socket_body_2><location_body_1>0.1 0.2 0.3</location_body_1>
      </PointConstraint></objects></ConstraintSet>"""
    path = tmp_path / "loops.osim"
    path.write_text(text.replace("<BodySet", f"{constraints}<BodySet"), encoding="utf-8")
    welded, pinned = co.formats.from_osim(path).loops
    assert (welded.name, welded.first.body, welded.second.body) == ("welded", None, "weld_body")
    assert (pinned.name, pinned.first.body, pinned.second.body) == ("pinned", "ball_body", "planar_body")
    np.testing.assert_allclose(np.array(ca.DM(pinned.first.placement))[:3, 3], (0.1, 0.2, 0.3))


PENDULUM = """<OpenSimDocument Version="40000">
<Model name="pendulum">
<BodySet name="bodyset"><objects><Body name="rod"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects>\
</BodySet>
<JointSet name="jointset"><objects><PinJoint name="hinge">
<socket_parent_frame>/ground</socket_parent_frame>
<socket_child_frame>/bodyset/rod</socket_child_frame>
<coordinates><Coordinate name="angle"/></coordinates></PinJoint></objects></JointSet>
</Model></OpenSimDocument>"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "<OpenSimDocument",
            "<!DOCTYPE x [<!ENTITY a 'b'>]><OpenSimDocument",
            r"has no document type, got <!DOCTYPE x>",
        ),
        ("</Model>", "", r"cannot be read as a model of OpenSim: mismatched tag: line 8"),
        ("OpenSimDocument", "Other", r"is no model of OpenSim: its root is <Other>"),
        ('"40000"', '"10900"', r"the file is of version 10900 .* load it in OpenSim 4 and save it again.*\(line 1\)"),
        (
            "<mass>1</mass>",
            "<mass>one</mass>",
            r"<mass> of '/bodyset/rod' must be a finite number, got 'one' \(line 3\)",
        ),
        (
            "PinJoint",
            "ScrewJoint",
            r"joint 'hinge' is a ScrewJoint; supported are WeldJoint, PinJoint.*line 4",
        ),
        (
            "PinJoint",
            "ConstantCurvatureJoint",
            r"joint 'hinge' is a ConstantCurvatureJoint and has 3 coordinates, got 1 \(line 4\)",
        ),
        (
            "/bodyset/rod",
            "/bodyset/rot",
            r"'/jointset/hinge' names '/bodyset/rot', which the file does not have \(line 4\)",
        ),
        ("<mass>1</mass>", "<mass>-1</mass>", r"mass of body 'rod' must not be negative, got -1.0 \(line 3\)"),
        ('<Coordinate name="angle"/>', "", r"joint 'hinge' is a PinJoint and has 1 coordinates, got 0 \(line 4\)"),
        (
            "/ground",
            "/bodyset/rod",
            r"body 'rod' is not connected to the ground by joints: give it a FreeJoint \(line 3\)",
        ),
        (
            'name="angle"/>',
            'name="angle"><range>1</range></Coordinate>',
            r"<range> of .* must be 2 finite numbers, got '1'",
        ),
        (
            '<Coordinate name="angle"/>',
            '<Coordinate name="a"/><Coordinate name="a"/>',
            r"two components are '/jointset/hinge/a'",
        ),
    ],
)
def test_bad_files_are_refused_by_name_and_line(tmp_path, old, new, words):
    path = tmp_path / "bad.osim"
    path.write_text(PENDULUM.replace(old, new), encoding="utf-8")
    with pytest.raises(co.InputError, match=words):
        co.formats.from_osim(path)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "<PolynomialFunction><coefficients>0.004 -0.002 0.012 -0.41</coefficients></PolynomialFunction>",
            "<PiecewiseLinearFunction><x>-1 0 0</x><y>0 1 0</y></PiecewiseLinearFunction>",
            r"translation2 of joint 'knee': x of straight pieces must increase, got",
        ),
        (
            "<coordinates>bend</coordinates>",
            "<coordinates>bend tilt</coordinates>",
            "follows bend and tilt; an axis can",
        ),
        ("-2.1 -0.9 0.4", "-2.1 -2.1 0.4", r"translation2 of joint 'patellofemoral': x of a spline must increase"),
        ("<axis>0 0 2</axis>", "<axis>0 0 0</axis>", r"axis of rotation1 of joint 'knee' must be a non-zero vector"),
        (
            "<independent_coordinate_names>bend<",
            "<independent_coordinate_names>bent<",
            r"no coordinate \(of coordinate",
        ),
    ],
)
def test_joints_that_cannot_be_are_refused(tmp_path, old, new, words):
    text = path_of("leg").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "bad.osim"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(co.InputError, match=words):
        co.formats.from_osim(path)


def test_the_shoulder_is_read_with_all_that_it_says():
    reading = co.formats.from_osim(path_of("shoulder"))
    assert reading.model.joint_names == ("bow", "abduction", "elevation", "upward", "winging", "raise")
    assert reading.changed == (
        "marker 'acromion' is there twice: the other one is 'acromion_0'",
        "joint 'ribs' (ScapulothoracicJoint) is a chain of axes x, y, z, with torques of the rates of its angles",
        "ranges of 1 coordinates are more than a turn, in radians as OpenSim reads them: bow (-10 to 10 rad)",
    )
    assert reading.model.limits("position")[1][0] == 10.0
    turn = reading.model.couplings["turn"]
    assert (turn.joint, turn.curve) == ("raise", None)
    assert turn.ratio == pytest.approx(1 / 3, rel=1e-12)


def test_corners_of_straight_pieces_are_rounded_and_said(tmp_path):
    path = tmp_path / "corner.osim"
    path.write_text(
        path_of("shoulder").read_text(encoding="utf-8").replace("-0.5 0 0.25", "-0.5 0 0.5"), encoding="utf-8"
    )
    reading = co.formats.from_osim(path)
    curve = reading.model.couplings["turn"].curve
    assert isinstance(curve, co.model.RoundedLine)
    assert "joint 'turn' follows straight pieces, whose corners are rounded by 0.00125" in reading.changed
    at = [float(curve.derivatives(ca.SX(x), 0)[0]) for x in (-1.0, 0.0, 0.6)]
    assert at == pytest.approx([-1 / 3, 0.0, 0.4], abs=1.3e-3)


TURNING = """
model = osim.Model("turning.osim")
state = model.initSystem()
angle = model.getCoordinateSet().get("bend")
def energy(q):
    angle.setValue(state, q)
    angle.setSpeedValue(state, 1.5)
    model.realizeDynamics(state)
    return model.calcKineticEnergy(state) + model.calcPotentialEnergy(state)
h = 1e-3
e = [energy(0.4 + k * h) for k in (-3, -2, -1, 1, 2, 3)]
rate = 1.5 * (-e[0] + 9 * e[1] - 45 * e[2] + 45 * e[3] - 9 * e[4] + e[5]) / (60 * h)
energy(0.4)
force = osim.InverseDynamicsSolver(model).solve(state, osim.Vector(1, 0.0)).get(0)
print("power", 1.5 * force, "rate", rate)
"""


@needs_opensim
def test_where_three_axes_turn_with_one_coordinate_power_is_the_rate_of_opensims_energy(tmp_path):
    """And its own inverse dynamics are not: terms with velocities are off, so that files with such knees differ."""
    turns = "".join(
        f'<TransformAxis name="rotation{k + 1}"><coordinates>bend</coordinates><axis>{axis}</axis>'
        f"<PolynomialFunction><coefficients>{bent}</coefficients></PolynomialFunction></TransformAxis>"
        for k, (axis, bent) in enumerate((("0 0 1", "1 0"), ("0 1 0", "0.4 -0.2 0"), ("1 0 0", "0.3 0.5 0.1")))
    )
    slides = "".join(
        f'<TransformAxis name="translation{k + 1}"><coordinates></coordinates><axis>{axis}</axis></TransformAxis>'
        for k, axis in enumerate(("1 0 0", "0 1 0", "0 0 1"))
    )
    text = PENDULUM.replace("</coordinates>", f"</coordinates><SpatialTransform>{turns}{slides}</SpatialTransform>")
    text = text.replace("PinJoint", "CustomJoint").replace('"angle"', '"bend"')
    text = text.replace("<mass>1</mass>", "<mass>1</mass><mass_center>0.1 -0.5 0.2</mass_center>")
    (tmp_path / "turning.osim").write_text(text, encoding="utf-8")
    model = co.formats.from_osim(tmp_path / "turning.osim").model
    said = run_opensim(TURNING, tmp_path).split("\n")[-2].split()
    power, rate = float(said[1]), float(said[3])
    ours = 1.5 * float(co.Evaluator(model).torque([0.4], [1.5], [0.0])[0])
    assert ours == pytest.approx(rate, rel=1e-9)
    assert abs(power - rate) > 1e-3 * abs(rate)


def write() -> None:
    """Keep what OpenSim says of the files."""
    states = {str(path_of(name)): random_states(name) for name in FILES}
    with tempfile.TemporaryDirectory() as folder:
        answers = ask_opensim(states, Path(folder))
    kept = {
        name: [
            {"state": state, "answer": answer}
            for state, answer in zip(states[str(path_of(name))], answers[str(path_of(name))], strict=True)
        ]
        for name in FILES
    }
    KEPT.write_text(
        "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in kept.items()) + "\n}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    write()
