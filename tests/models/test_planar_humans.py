"""The planar jumper and runner against the 55-DOF human whose sagittal plane they are, and against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import human55
from colloc.models.human.jumper2d import jumper2d
from colloc.models.human.runner2d import runner2d
from colloc.models.human.stance import PITCH, ROLL, on_foot
from tests.models.test_human55 import points, torque
from tests.support.random_trees import (
    numbers,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_loads,
    random_state,
)

HUMANS = [(1.741, 73.0, "male"), (1.735, 61.9, "female"), (1.5, 45.0, "female")]
MAKERS = {"jumper": jumper2d, "runner": lambda *size: runner2d(*size, elbows=None), "bent": runner2d}
# de Leva (1996), Table 4, men, % of the mass: trunk and head, thigh, shank, foot, upper arm, forearm and hand
TRUNK, *LIMBS = 43.46 + 6.94, 14.16, 4.33, 1.37, 2.71, 1.62 + 0.61
LINKS = ("hip_flexion", "knee_flexion", "ankle_dorsiflexion", "shoulder_flexion", "elbow_flexion")


def planar_name(name: str, who: Human) -> str:
    """Name in the planar human of a joint of the 55-DOF human."""
    name = "trunk_tilt" if name == "pelvis_tilt" else name
    return name if name in who.model.joint_names or name[-2:] not in ("_r", "_l") else name[:-2]


def in_human(who: Human, human: Human, vector: np.ndarray, held: float) -> np.ndarray:
    """Coordinates of the human that moves as the planar one does."""
    values = dict(zip(who.model.joint_names, vector, strict=True))
    names = [(name, planar_name(name, who)) for name in human.model.joint_names]
    return np.array([values.get(ours, held if "elbow" in name else 0.0) for name, ours in names])


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("size", HUMANS)
def test_planar_humans_are_the_human_in_the_sagittal_plane(size, maker):
    """Torques of a sagittal motion do not know how far from the plane a mass is; those of two sides add up."""
    who, human = MAKERS[maker](*size), human55(*size)
    state = random_state(np.random.default_rng(640), who.model)
    held = (np.pi / 2 if maker == "bent" else 0.0, 0.0, 0.0)
    image = [in_human(who, human, *pair) for pair in zip(state, held, strict=True)]
    theirs, expected = torque(human.model, image), dict.fromkeys(who.model.joint_names, 0.0)
    for name, value in zip(human.model.joint_names, theirs, strict=True):
        if (ours := planar_name(name, who)) in expected:
            expected[ours] += value
    atol = 1e-12 * np.abs(theirs).max()
    np.testing.assert_allclose(torque(who.model, state), list(expected.values()), rtol=0, atol=atol)
    seen = points(human, image[0])
    for name, place in points(who, state.q).items():
        other = seen[name] if name in seen else seen[f"{name}_l"]
        np.testing.assert_allclose(place, other * (0, 1, 1), rtol=0, atol=1e-13, err_msg=name)


ON_FOOT = {"jumper on foot": lambda: on_foot(jumper2d(), "both"), "runner on foot": lambda: on_foot(runner2d(), "r")}


@pytest.mark.parametrize("maker", {**MAKERS, **ON_FOOT})
def test_planar_humans_agree_with_pinocchio(maker):
    model, rng = {**MAKERS, **ON_FOOT}[maker]().model, np.random.default_rng(650)
    tree, loads = pinocchio_tree(model), random_loads(rng, model)
    for _ in range(5):
        state = random_state(rng, model)
        expected, _ = pinocchio_inverse_dynamics(tree, model, state, loads)
        np.testing.assert_allclose(torque(model, state, loads), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(("who", "endings", "sides"), [(jumper2d(), [""], 2), (runner2d(), ["_r", "_l"], 1)], ids=str)
def test_masses_are_those_of_the_table(who, endings, sides):
    masses = {body.name: float(body.mass) for body in who.model.bodies if not body.mass.is_zero()}
    assert sum(masses.values()) == pytest.approx(73, rel=1e-14)
    assert masses.pop("trunk_tilt") / 73 == pytest.approx(TRUNK / 100)
    expected = {
        f"{name}{end}": sides * share / 100 for name, share in zip(LINKS, LIMBS, strict=True) for end in endings
    }
    assert {name: mass / 73 for name, mass in masses.items()} == pytest.approx(expected)


def test_degrees_of_freedom():
    assert [jumper2d().model.n, runner2d().model.n, runner2d(elbows=None).model.n] == [8, 11, 13]
    assert jumper2d().model.joint_names == ("pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt", *LINKS)


def test_limits_are_those_of_the_human_twice_for_both_sides():
    human = human55().model
    for who, sides in ((jumper2d(), 2), (runner2d(elbows=None), 1)):
        for joint, name in zip(who.model.joints, who.model.joint_names, strict=True):
            if name in who.virtual:
                assert joint.limits == co.Limits()
                continue
            one = human.bodies[human.index(name if name[-2:] in ("_r", "_l") else f"{name}_l")].joint.limits
            assert joint.limits.position == one.position
            assert joint.limits.torque == (sides * one.torque[0], sides * one.torque[1])
            assert np.isfinite(joint.limits.torque).all()


@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("size", HUMANS)
def test_planar_humans_stand_on_the_ground(size, maker):
    who = MAKERS[maker](*size)
    found = points(who, who.standing)
    assert found["head_top"][1] == pytest.approx(size[0], rel=1e-14)
    contacts = {name for name in found if name.partition("_")[0] in ("heel", "ball", "toe")}
    assert set(who.model.markers) == {"head_top"} | contacts
    for foot in who.feet.values():
        for point in foot:
            name = next(name for name, own in who.landmarks.items() if own == point)
            assert found[name][1] == pytest.approx(0, abs=1e-14)
            body, at = who.model.markers[name]
            assert (body, *numbers(at)) == (point.body, *point.at)
        assert foot.heel.at[2] < 0 < foot.ball.at[2] < foot.toe.at[2]
    rest = np.zeros(who.model.n)
    assert torque(who.model, (who.standing, rest, rest))[:2] == pytest.approx([0, 9.81 * size[1]])


@pytest.mark.parametrize(("who", "side"), [(jumper2d(), "both"), (runner2d(), "l")], ids=["jumper", "runner"])
def test_markers_stay_on_the_human_seen_from_a_foot(who, side):
    stance = on_foot(who, side)
    assert stance.virtual == ("stance_vertical", "stance_forward", PITCH, ROLL)
    before, after = points(who, who.standing), points(stance, stance.standing)
    heel = "heel" if side == "both" else f"heel_{side}"
    np.testing.assert_allclose(after[heel], 0, atol=1e-14)
    for name, (body, at) in stance.model.markers.items():
        np.testing.assert_allclose(after[name] - after[heel], before[name] - before[heel], atol=1e-14)
        assert (body, *numbers(at)) == (stance.landmarks[name].body, *stance.landmarks[name].at)


def test_mirrored_runners_change_arms_and_legs():
    runner = runner2d()
    names = runner.model.joint_names
    mirrored = [names[k] for k in runner.mirror.partners]
    swapped = {"_r": "_l", "_l": "_r"}
    assert mirrored == [name[:-2] + swapped.get(name[-2:], name[-2:]) for name in names]
    np.testing.assert_array_equal(runner.mirror.signs, 1.0)
    assert jumper2d().mirror.partners == tuple(range(8))
