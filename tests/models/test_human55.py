"""The 55-DOF human, its frozen and scaled forms, and `Model.frozen`.

The data files are read a second time here, and screws, landmarks and segments are written out by hand.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache
from math import pi, radians
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.linalg import expm

import colloc as co
from colloc.model.kinematics import frames
from colloc.models.human.anatomy import anatomy, combined
from colloc.models.human.human import Human
from colloc.models.human.human55 import FROZEN, VIRTUAL, WALKING, human55, walking
from colloc.models.human.segments import DATA
from colloc.models.human.walker2d import walker2d
from tests.support.random_trees import (
    State,
    coordinates,
    evaluate,
    numbers,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_loads,
    random_state,
    random_tree,
)

G = 9.81
SIZES = {"male": (1.741, 73.0), "female": (1.735, 61.9), "tall": (1.95, 95.0), "small": (1.52, 48.0)}
SEXES = {"male": "male", "female": "female", "tall": "male", "small": "female"}


@cache
def human(size: str = "male") -> Human:
    return human55(*SIZES[size], SEXES[size])


def torque(model: co.Model, state: Any, loads: Any = ()) -> np.ndarray:
    symbols = coordinates(model)
    return evaluate([co.dynamics.newton_euler(model, *symbols, loads)], symbols, state)[0]


def places(model: co.Model, q: Any) -> dict[str, np.ndarray]:
    """Link frames in the world by name, each shape (4, 4)."""
    symbols, rest = coordinates(model), np.zeros(model.n)
    found = evaluate(frames(model, *symbols).position, symbols, (q, rest, rest))
    return {body.name: place for body, place in zip(model.bodies, found, strict=True)}


def points(who: Human, q: Any = None) -> dict[str, np.ndarray]:
    """Landmarks in the world."""
    where = places(who.model, np.zeros(who.model.n) if q is None else q)
    return {name: (where[body] @ [*at, 1])[:3] for name, (body, at) in who.landmarks.items()}


def posture(who: Human, values: Mapping[str, float]) -> np.ndarray:
    return np.array([values.get(name, 0.0) for name in who.model.joint_names])


def rows(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(line for line in (DATA / name).read_text("utf-8").splitlines() if line[0] != "#"))


def tables(sex: str) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Segments of de Leva and the other lengths, as printed."""
    segments = {
        row["segment"]: {key: float(value) for key, value in row.items() if "_" in key}
        for row in rows("human_segments.csv")
        if row["sex"] == sex
    }
    return segments, {row["length"]: float(row[f"{sex}_m"]) for row in rows("human_dimensions.csv")}


# Model.frozen


@pytest.mark.parametrize("seed", range(500, 520))
def test_frozen_trees_move_as_the_whole_with_joints_at_rest(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8)
    held = [name for name in model.joint_names[1:] if rng.random() < 0.5]
    state, index = random_state(rng, model), [model.joint_names.index(name) for name in held]
    for vector in (state.qd, state.qdd):
        vector[index] = 0
    frozen = model.frozen({name: state.q[k] for name, k in zip(held, index, strict=True)})
    loads = random_loads(rng, model)
    kept = [k for k in range(model.n) if k not in index]
    assert frozen.joint_names == tuple(np.array(model.joint_names)[kept])
    expected = torque(model, state, loads)[kept]
    actual = torque(frozen, [vector[kept] for vector in state], loads)
    np.testing.assert_allclose(actual, expected, rtol=1e-10, atol=1e-10)
    before, after = places(model, state.q), places(frozen, state.q[kept])
    for name, place in before.items():
        np.testing.assert_allclose(after[name], place, rtol=0, atol=1e-12)


def test_frozen_at_a_symbol():
    angle, model = ca.SX.sym("angle"), random_tree(np.random.default_rng(520), 5)
    name = model.joint_names[1]
    held = model.frozen({name: angle})
    assert [str(s) for s in held.symbols] == ["angle"]
    state = random_state(np.random.default_rng(521), held)
    symbols = coordinates(held)
    tau = evaluate([co.dynamics.newton_euler(held, *symbols)], [*symbols, angle], [*state, 0.3])[0]
    np.testing.assert_allclose(tau, torque(model.frozen({name: 0.3}), state), rtol=1e-12)


def test_frozen_keeps_the_rest():
    model = human().model
    frozen = model.frozen({"knee_flexion_r": 0.2})
    assert model.n == 55  # untouched
    assert (frozen.n, len(frozen.bodies), frozen.name) == (54, 55, model.name)
    np.testing.assert_array_equal(frozen.gravity, model.gravity)
    k = model.joint_names.index("knee_flexion_r")
    for quantity in ("position", "torque"):
        for mine, other in zip(frozen.limits(quantity), model.limits(quantity), strict=True):
            np.testing.assert_array_equal(mine, np.delete(other, k))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"knee_flexion": 0.0}, "no joint that moves named 'knee_flexion'; did you mean 'knee_flexion_"),
        ({"knee_flexion_r": float("nan")}, "value of joint 'knee_flexion_r' must be finite, got nan"),
        ({"knee_flexion_r": (1, 2)}, "value of joint 'knee_flexion_r' must be a scalar"),
        (["knee_flexion_r"], "values must be a mapping of joint name to coordinate, got ['knee_flexion_r']"),
        (dict.fromkeys(human().model.joint_names, 0.0), "model '55-DOF human' has no joint that moves"),
    ],
)
def test_frozen_explains_what_it_cannot_freeze(values, message):
    with pytest.raises(co.InputError, match=re.escape(message)):
        human().model.frozen(values)


def test_a_frozen_joint_cannot_be_frozen_again():
    with pytest.raises(co.InputError, match="no joint that moves named 'knee_flexion_r'"):
        human().model.frozen({"knee_flexion_r": 0.2}).frozen({"knee_flexion_r": 0.2})


def test_frozen_walker_moves_as_the_whole_human():
    model, walker = human().model, walking(human()).model
    assert (model.n, walker.n, len(FROZEN), len(VIRTUAL)) == (55, 38, 17, 6)
    kept = [k for k, name in enumerate(model.joint_names) if name not in FROZEN]
    state = random_state(np.random.default_rng(530), model)
    for vector in state:
        vector[[k for k in range(55) if k not in kept]] = 0
    actual, expected = torque(walker, [vector[kept] for vector in state]), torque(model, state)[kept]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


# The skeleton

# Axes of the joints in the neutral posture, of the right side, and the point that they pass through. On the left, a
# turn has the mirrored axis with its sense reversed, so that the same motion is positive.
AXES: dict[str, tuple[tuple[int, int, int], str]] = {
    "pelvis_yaw": ((0, 1, 0), "pelvis"), "pelvis_list": ((0, 0, 1), "pelvis"), "pelvis_tilt": ((1, 0, 0), "pelvis"),
    "hip_flexion": ((-1, 0, 0), "hip"), "hip_adduction": ((0, 0, 1), "hip"), "hip_rotation": ((0, 1, 0), "hip"),
    "knee_flexion": ((1, 0, 0), "knee"), "ankle_dorsiflexion": ((-1, 0, 0), "ankle"),
    "ankle_inversion": ((0, 0, 1), "ankle"), "toe_extension": ((-1, 0, 0), "ball"),
    "clavicle_elevation": ((0, 0, -1), "sternum"), "clavicle_protraction": ((0, 1, 0), "sternum"),
    "shoulder_flexion": ((-1, 0, 0), "shoulder"), "shoulder_adduction": ((0, 0, 1), "shoulder"),
    "shoulder_rotation": ((0, 1, 0), "shoulder"), "elbow_flexion": ((-1, 0, 0), "elbow"),
    "forearm_pronation": ((0, 1, 0), "elbow"), "wrist_flexion": ((-1, 0, 0), "wrist"),
    "wrist_deviation": ((0, 0, 1), "wrist"),
}  # fmt: skip
AXES |= {
    f"{level}_{turn}": (axis, level)
    for level in ("spine1", "spine2", "spine3", "spine4", "neck_lower", "neck_upper")
    for turn, axis in (("flexion", (1, 0, 0)), ("lateral", (0, 0, 1)), ("axial", (0, 1, 0)))
}
SLIDES = {"pelvis_tx_lateral": (1, 0, 0), "pelvis_ty_vertical": (0, 1, 0), "pelvis_tz_forward": (0, 0, 1)}


def by_hand(size: str) -> dict[str, np.ndarray]:
    """Points of the neutral posture from the printed tables, relative to the midpoint of the hips."""
    segments, other = tables(SEXES[size])
    length = {name: row["length_m"] for name, row in segments.items()}
    printed = (other["ankle_height"], *(length[name] for name in ("shank", "thigh", "lower_trunk", "middle_trunk")))
    scale = SIZES[size][0] / (sum(printed) + length["upper_trunk"] + length["head"])
    a = {name: scale * value for name, value in (length | other).items()}
    xiphoid = a["lower_trunk"] + a["middle_trunk"]
    cervix = xiphoid + a["upper_trunk"]
    result = {
        "pelvis": (0, 0, 0), "navel": (0, a["lower_trunk"], 0), "xiphoid": (0, xiphoid, 0), "cervix": (0, cervix, 0),
        "head_top": (0, cervix + a["head"], 0), "spine1": (0, a["lower_trunk"], 0),
        "spine2": (0, a["lower_trunk"] + a["middle_trunk"] / 2, 0), "spine3": (0, xiphoid, 0),
        "spine4": (0, (xiphoid + a["mid_shoulder"]) / 2, 0), "neck_lower": (0, cervix, 0),
        "neck_upper": (0, cervix + a["neck"], 0),
    }  # fmt: skip
    for side, x in (("r", -1), ("l", 1)):
        hip, arm, height = x * a["hip_half_width"], x * (a["sternum_half_width"] + a["clavicle"]), a["mid_shoulder"]
        knee, ankle = -a["thigh"], -a["thigh"] - a["shank"]
        sole, elbow = ankle - a["ankle_height"], height - a["upper_arm"]
        result |= {
            f"hip_{side}": (hip, 0, 0), f"knee_{side}": (hip, knee, 0), f"ankle_{side}": (hip, ankle, 0),
            f"heel_{side}": (hip, sole, -a["heel"]), f"ball_{side}": (hip, sole, a["ball"]),
            f"toe_{side}": (hip, sole, a["ball"] + a["toes"]),
            f"sternum_{side}": (x * a["sternum_half_width"], height, 0),
            f"shoulder_{side}": (arm, height, 0), f"elbow_{side}": (arm, elbow, 0),
            f"wrist_{side}": (arm, elbow - a["forearm"], 0),
            f"fingertip_{side}": (arm, elbow - a["forearm"] - a["hand"], 0),
        }  # fmt: skip
    return {name: np.array(place, dtype=float) for name, place in result.items()}


@pytest.mark.parametrize("size", SIZES)
def test_landmarks_are_where_the_tables_put_them(size):
    expected, found = by_hand(size), points(human(size))
    assert set(found) == {name for name in expected if not name.startswith(("spine", "neck", "sternum"))}
    for name, place in found.items():
        np.testing.assert_allclose(place, expected[name], rtol=0, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("size", SIZES)
def test_standing_feet_are_on_the_ground_and_the_head_at_stature(size):
    who = human(size)
    found = points(who, who.standing)
    for foot in who.feet.values():
        for body, at in foot:
            place = places(who.model, who.standing)[body] @ [*at, 1]
            assert place[1] == pytest.approx(0, abs=1e-14)
    assert found["head_top"][1] == pytest.approx(who.stature, rel=1e-14)
    assert who.stature == SIZES[size][0]


@pytest.mark.parametrize("seed", range(540, 543))
def test_frames_are_products_of_exponentials(seed):
    """T = exp(S_1 q_1) ... exp(S_n q_n) T(0) with the screws of axes and points by hand."""
    model, size = human("small").model, "small"
    where, neutral = by_hand(size), places(model, np.zeros(55))
    q = np.random.default_rng(seed).uniform(-pi, pi, 55)
    product: dict[str | None, np.ndarray] = {None: np.eye(4)}
    found = places(model, q)
    for body, angle in zip(model.bodies, q, strict=True):
        screw = np.zeros((4, 4))
        if body.name in SLIDES:
            screw[:3, 3] = SLIDES[body.name]
        else:
            side = body.name[-2:] if body.name[-2:] in ("_r", "_l") else ""
            axis, point = AXES[body.name.removesuffix(side)]
            x, y, z = axis if side != "_l" else (axis[0], -axis[1], -axis[2])
            screw[:3, :3] = [[0, -z, y], [z, 0, -x], [-y, x, 0]]
            screw[:3, 3] = np.cross(where[point + side], (x, y, z))
        product[body.name] = product[body.parent] @ expm(angle * screw)
        np.testing.assert_allclose(found[body.name], product[body.name] @ neutral[body.name], rtol=0, atol=2e-14)


@pytest.mark.parametrize(
    ("joint", "landmark", "axis", "way"),
    [
        ("pelvis_yaw", "hip_r", 2, 1), ("pelvis_list", "hip_l", 1, 1), ("pelvis_tilt", "cervix", 2, 1),
        ("hip_flexion_r", "knee_r", 2, 1), ("hip_adduction_r", "knee_r", 0, 1), ("hip_adduction_l", "knee_l", 0, -1),
        ("hip_rotation_r", "toe_r", 0, 1), ("hip_rotation_l", "toe_l", 0, -1), ("knee_flexion_l", "ankle_l", 2, -1),
        ("ankle_dorsiflexion_r", "toe_r", 1, 1), ("ankle_inversion_r", "ball_r", 0, 1),
        ("ankle_inversion_l", "ball_l", 0, -1), ("toe_extension_l", "toe_l", 1, 1),
        ("spine1_flexion", "head_top", 2, 1), ("spine2_lateral", "head_top", 0, -1),
        ("spine3_axial", "shoulder_l", 2, -1),
        ("clavicle_elevation_l", "shoulder_l", 1, 1), ("clavicle_protraction_r", "shoulder_r", 2, 1),
        ("shoulder_flexion_l", "elbow_l", 2, 1), ("shoulder_adduction_r", "elbow_r", 0, 1),
        ("elbow_flexion_r", "wrist_r", 2, 1), ("wrist_flexion_l", "fingertip_l", 2, 1),
        ("wrist_deviation_r", "fingertip_r", 0, 1), ("neck_lower_flexion", "head_top", 2, 1),
        ("neck_upper_lateral", "head_top", 0, -1),
    ],
)  # fmt: skip
def test_positive_coordinates_move_the_way_they_say(joint, landmark, axis, way):
    moved = points(human(), posture(human(), {joint: 0.1}))[landmark] - points(human())[landmark]
    assert way * moved[axis] > 1e-3


# Masses


@pytest.mark.parametrize("sex", ["male", "female"])
def test_masses_are_those_of_de_leva(sex):
    segments, _ = tables(sex)
    paired = {name for name in segments if not name.endswith("trunk") and name != "head"}
    percent = sum(row["mass_percent"] * (2 if name in paired else 1) for name, row in segments.items())
    assert percent == pytest.approx(100, abs=0.011)  # women: 99.99 as printed
    assert sum(float(body.mass) for body in human(sex).model.bodies) == pytest.approx(SIZES[sex][1], rel=1e-14)
    parts = anatomy(*SIZES[sex], sex).parts
    assert parts["thigh_l"].mass == pytest.approx({"male": 10.3368, "female": 9.1497}[sex], abs=2e-4)


@pytest.mark.parametrize("size", SIZES)
def test_parts_add_up_to_the_segments_they_were_cut_from(size):
    stature, mass = SIZES[size]
    segments, other = tables(SEXES[size])
    body, where = anatomy(stature, mass, SEXES[size]), by_hand(size)
    printed = other["ankle_height"] + sum(
        segments[name]["length_m"] for name in ("shank", "thigh", "lower_trunk", "middle_trunk", "upper_trunk", "head")
    )
    total = {"male": 100.0, "female": 99.99}[SEXES[size]]
    for name, pair, top in (
        ("middle_trunk", ("spine1", "spine2"), "xiphoid"),
        ("upper_trunk", ("spine3", "spine4"), "cervix"),
        ("head", ("neck", "head"), "head_top"),
        ("foot", ("rearfoot_r", "forefoot_r"), "toe_r"),
        ("thigh", ("thigh_l",), "hip_l"),
        ("hand", ("hand_r",), "wrist_r"),
    ):
        whole, row = combined(*(body.parts[part] for part in pair)), segments[name]
        length = row["length_m"] * stature / printed
        assert whole.mass == pytest.approx(mass * row["mass_percent"] / total, rel=1e-12)
        x, y, z = (row[f"{axis}_percent"] * length / 100 for axis in ("transverse", "longitudinal", "sagittal"))
        along = row["com_percent"] * length / 100
        if name == "foot":
            y, z = z, y
            assert whole.com[2] == pytest.approx(where[top][2] - length + along, rel=1e-10)
        else:
            assert whole.com[1] == pytest.approx(where[top][1] - along, rel=1e-10)
        np.testing.assert_allclose(whole.inertia, whole.mass * np.diag([x, y, z]) ** 2, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize(("size", "share"), [("male", 0.57), ("female", 0.56)])
def test_the_centre_of_mass_is_where_people_have_it(size, share):
    """Standing, 55 to 58 percent of stature; a little lower in women."""
    who = human(size)
    q = ca.SX.sym("q", 55)
    (height,) = evaluate([co.dynamics.center_of_mass(who.model, q)[1]], [q], [who.standing])
    assert height / who.stature == pytest.approx(share, abs=0.012)


# Dynamics


@pytest.mark.parametrize("size", ["male", "small"])
def test_torques_agree_with_pinocchio(size):
    model, rng = human(size).model, np.random.default_rng(550)
    tree, loads = pinocchio_tree(model), random_loads(rng, model)
    for _ in range(3):
        state = random_state(rng, model)
        expected, _ = pinocchio_inverse_dynamics(tree, model, state, loads)
        np.testing.assert_allclose(torque(model, state, loads), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("frozen", [False, True])
def test_mirrored_motion_has_mirrored_torques(frozen):
    who = walking(human()) if frozen else human()
    rng, mirror = np.random.default_rng(560), who.mirror
    assert sorted(mirror.partners) == list(range(who.model.n))
    for _ in range(5):
        state = random_state(rng, who.model)
        image = State(*(mirror(vector) for vector in state))
        expected = mirror(torque(who.model, state))
        np.testing.assert_allclose(torque(who.model, image), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        seen, there = points(who, state.q), points(who, image.q)
        for name, place in seen.items():
            other = name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name[-2:-1] == "_" else name
            np.testing.assert_allclose(there[other], place * (-1, 1, 1), rtol=0, atol=1e-13)


def test_mirror_of_numbers_and_symbols():
    mirror, q = human().mirror, np.random.default_rng(561).normal(size=(4, 55))
    np.testing.assert_array_equal(mirror(mirror(q)), q)
    np.testing.assert_array_equal(numbers(mirror(ca.SX(ca.DM(q.T)))).T, mirror(q))
    names = human().model.joint_names
    image = dict(zip(names, mirror(np.arange(1.0, 56.0)), strict=True))
    assert image["knee_flexion_r"] == 1 + names.index("knee_flexion_l")
    assert image["pelvis_yaw"] == -1 - names.index("pelvis_yaw")


def test_half_a_human_frozen_has_no_mirror_image():
    with pytest.raises(co.InputError, match=r"no mirror image: knee_flexion_r frozen on one side only"):
        _ = human().frozen({"knee_flexion_r": 0.0}).mirror


@pytest.mark.parametrize("sex", ["male", "female"])
def test_torques_scale_with_weight_times_stature(sex):
    """Dynamically similar motions: the same angles in times that go as the root of stature (Froude)."""
    small, large = human55(1.5, 50, sex).model, human55(2.0, 110, sex).model
    length, mass = 2.0 / 1.5, 110 / 50
    slide = np.array([unit == "m" for unit in small.position_units])
    state = random_state(np.random.default_rng(570), small)
    lengths, times = np.where(slide, length, 1.0), np.sqrt(length)
    similar = (lengths * state.q, lengths * state.qd / times, lengths * state.qdd / times**2)
    expected = torque(small, state) * mass * np.where(slide, 1.0, length)
    np.testing.assert_allclose(torque(large, similar), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    for ours, theirs in zip(large.limits("torque"), small.limits("torque"), strict=True):
        np.testing.assert_allclose(ours, theirs * mass * length, rtol=1e-14)
    for ours, theirs in zip(large.limits("position"), small.limits("position"), strict=True):
        np.testing.assert_allclose(ours, theirs * lengths, rtol=1e-14)


def test_weight_rests_on_the_pelvis():
    who = human("tall")
    tau = torque(who.model, (who.standing, np.zeros(55), np.zeros(55)))
    assert tau[who.model.joint_names.index("pelvis_ty_vertical")] == pytest.approx(95 * G, rel=1e-13)


# Limits


def test_limits_are_sane():
    model = human().model
    lower, upper = model.limits("position")
    low, high = model.limits("torque")
    names = np.array(model.joint_names)
    virtual = np.isin(names, VIRTUAL)
    hips_up = posture(human(), {"pelvis_ty_vertical": human().pelvis_height})
    assert ((lower <= hips_up) & (hips_up <= upper) & (lower < upper)).all()
    assert (np.abs(np.stack([lower, upper]))[:, ~virtual] < radians(151)).all()
    assert np.isinf(low[virtual]).all()
    assert np.isinf(high[virtual]).all()
    assert ((low < 0) & (high > 0))[~virtual].all()
    for values in (lower, upper, low, high):  # the same on both sides
        image = human().mirror.partners
        np.testing.assert_array_equal(values[list(image)], values)
    symmetric = human().mirror.signs < 0
    np.testing.assert_array_equal(lower[symmetric], -upper[symmetric])


@pytest.mark.parametrize(
    ("sex", "extension", "flexion"), [("male", 0.161, 0.113), ("female", 0.181, 0.127)]
)  # Anderson, Madigan and Nussbaum (2007), Table 3, c1 of the hip, 18 to 25 years
def test_hips_have_the_strength_of_anderson(sex, extension, flexion):
    stature, mass = SIZES[sex]
    model = human(sex).model
    low, high = model.limits("torque")
    hip = model.joint_names.index("hip_flexion_l")
    assert (-low[hip], high[hip]) == pytest.approx(np.array([extension, flexion]) * mass * G * stature, rel=1e-3)


def test_walking_narrows_ranges_and_nothing_else():
    wide, narrow = human().model, walking(human()).model
    assert set(WALKING) <= set(narrow.joint_names)
    for body in narrow.bodies:
        if not body.joint.moves:
            assert body.name in FROZEN
            continue
        old = wide.bodies[wide.index(body.name)].joint.limits
        assert body.joint.limits.torque == old.torque
        lower, upper = body.joint.limits.position
        assert (lower, upper) == WALKING.get(body.name, old.position)
        assert old.position[0] <= lower < upper <= old.position[1]


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sex": "man"}, "no sex in de Leva's tables named 'man'"),
        ({"stature": -1.7}, "stature must be finite and positive, got -1.7"),
        ({"mass": 0}, "mass must be finite and positive, got 0"),
    ],
)
def test_humans_that_cannot_be(arguments, message):
    with pytest.raises(co.InputError, match=re.escape(message)):
        human55(**arguments)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("male,thigh,HJC-KJC,0.4222,14.16", "male,thigh,HJC-KJC,0.4222,-3", "row 8 (male thigh): mass_percent must be"),
        ("male,thigh,HJC-KJC,0.4222", "male,thigh,HJC-KJC,x", "row 8 (male thigh): length_m must be a number, got 'x'"),
        ("male,hand,WJC-DAC3,0.1879,0.61,36.24", "male,hand,WJC-DAC3,0.1879,0.61,136", "com_percent must be below 100"),
        ("25.1,24.6,10.2", "25.1,4.6,10.2", "row 9 (male shank): no body has radii of gyration 25.1, 4.6, 10.2"),
        ("male,shank", "male,shin", "no segment in own.csv, row 9 (male shin) named 'shin'"),
        ("male,shank", "male,thigh", "row 9 (male thigh): the segment is there twice"),
        ("male,shank", "child,shank", "own.csv has no row for male shank"),
        ("0.4222,14.16", "0.4222,24.16", "male masses, limbs twice, add up to 120 %, not 100"),
    ],
)
def test_tables_of_segments_that_cannot_be(tmp_path, old, new, message):
    text = (DATA / "human_segments.csv").read_text("utf-8")
    assert text.count(old) >= 1
    own = tmp_path / "own.csv"
    own.write_text(text.replace(old, new, 1), encoding="utf-8")
    for make in (human55, walker2d):
        with pytest.raises(co.InputError, match=re.escape(message)):
            make(segments=own)


def test_a_table_of_ones_own(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text(
        (DATA / "human_segments.csv").read_text("utf-8").replace("female,", "girl,").replace("male,", "x,"),
        encoding="utf-8",
    )
    with pytest.raises(co.InputError, match=r"own.csv has no row for male lower_trunk"):
        human55(segments=own)
    own.write_text(
        (DATA / "human_segments.csv").read_text("utf-8").replace("0.4222,14.16", "0.4722,14.16"), encoding="utf-8"
    )
    longer = human55(segments=own).model
    assert float(longer.bodies[longer.index("hip_rotation_r")].joint.after[2, 3]) < -0.45


def test_ranges_of_joints_that_are_not_there():
    with pytest.raises(co.InputError, match="no joint that moves named 'knee_r'"):
        human().ranged({"knee_r": (0, 1)})
    with pytest.raises(co.InputError, match="lower bound exceeds upper bound"):
        human().ranged({"knee_flexion_r": (1, 0)})
