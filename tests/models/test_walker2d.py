"""The planar walker against the 55-DOF human whose sagittal plane it is, and against Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import human55
from colloc.models.human.planar import VIRTUAL
from colloc.models.human.walker2d import walker2d
from tests.models.test_human55 import points, torque
from tests.models.test_planar_humans import HUMANS
from tests.support.random_trees import (
    State,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_loads,
    random_state,
)


def in_human(walker: Human, human: Human, vector: np.ndarray) -> np.ndarray:
    """Coordinates of the human that moves as the walker does."""
    values = dict(zip(walker.model.joint_names, vector, strict=True))
    values["pelvis_tilt"] = values.pop("trunk_tilt")
    return np.array([values.get(name, 0.0) for name in human.model.joint_names])


@pytest.mark.parametrize("size", HUMANS)
def test_walker_is_the_human_in_the_sagittal_plane(size):
    """Torques of a sagittal motion do not know how far from the plane a mass is."""
    walker, human = walker2d(*size), human55(*size)
    state = random_state(np.random.default_rng(600), walker.model)
    image = [in_human(walker, human, vector) for vector in state]
    names = ["pelvis_tilt" if name == "trunk_tilt" else name for name in walker.model.joint_names]
    index = [human.model.joint_names.index(name) for name in names]
    expected = torque(human.model, image)[index]
    np.testing.assert_allclose(torque(walker.model, state), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    ours, theirs = points(walker, state.q), points(human, image[0])
    assert set(ours) == set(theirs)
    for name, place in theirs.items():
        np.testing.assert_allclose(ours[name], place * (0, 1, 1), rtol=0, atol=1e-13, err_msg=name)


@pytest.mark.parametrize("size", HUMANS)
def test_walker_has_the_limits_of_the_human(size):
    walker, human = walker2d(*size).model, human55(*size).model
    for body in walker.bodies:
        name = body.name if body.name != "trunk_tilt" else "pelvis_tilt"
        assert body.joint.limits == human.bodies[human.index(name)].joint.limits


def test_walker_has_seven_links():
    walker = walker2d()
    assert (walker.model.n, len(walker.model.bodies), len(VIRTUAL)) == (9, 9, 3)
    masses = {body.name: float(body.mass) for body in walker.model.bodies if not body.mass.is_zero()}
    assert len(masses) == 7
    assert sum(masses.values()) == pytest.approx(73, rel=1e-14)
    # de Leva (1996), Table 4, men: trunk, head and arms; thigh; shank; foot
    assert masses["trunk_tilt"] / 73 == pytest.approx(0.4346 + 0.0694 + 2 * (0.0271 + 0.0162 + 0.0061))
    for side in "rl":
        assert masses[f"hip_flexion_{side}"] / 73 == pytest.approx(0.1416)
        assert masses[f"knee_flexion_{side}"] / 73 == pytest.approx(0.0433)
        assert masses[f"ankle_dorsiflexion_{side}"] / 73 == pytest.approx(0.0137)
    assert set(walker.parts.values()) == set(masses)


@pytest.mark.parametrize("size", HUMANS)
def test_walker_stands_on_the_ground(size):
    walker = walker2d(*size)
    found = points(walker, walker.standing)
    for side, foot in walker.feet.items():
        heights = [found[f"{name}_{side}"][1] for name in ("heel", "ball", "toe")]
        np.testing.assert_allclose(heights, 0, atol=1e-14)
        assert foot.heel.at[2] < 0 < foot.ball.at[2] < foot.toe.at[2]
    assert found["head_top"][1] == pytest.approx(size[0], rel=1e-14)
    rest = np.zeros(9)
    tau = torque(walker.model, (walker.standing, rest, rest))
    assert tau[:2] == pytest.approx([0, 9.81 * size[1]])


def test_walker_agrees_with_pinocchio():
    model, rng = walker2d().model, np.random.default_rng(610)
    tree, loads = pinocchio_tree(model), random_loads(rng, model)
    for _ in range(5):
        state = random_state(rng, model)
        expected, _ = pinocchio_inverse_dynamics(tree, model, state, loads)
        np.testing.assert_allclose(torque(model, state, loads), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_mirrored_steps_have_mirrored_torques():
    walker, rng = walker2d(), np.random.default_rng(620)
    mirror = walker.mirror
    assert mirror.partners == (0, 1, 2, 6, 7, 8, 3, 4, 5)
    state = random_state(rng, walker.model)
    image = State(*(mirror(vector) for vector in state))
    expected = mirror(torque(walker.model, state))
    np.testing.assert_allclose(torque(walker.model, image), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_torques_scale_with_weight_times_stature():
    """Dynamically similar motions: the same angles in times that go as the root of stature (Froude)."""
    small, large, length, mass = walker2d(1.4, 40).model, walker2d(2.1, 120).model, 1.5, 3.0
    slide = np.array([unit == "m" for unit in small.position_units])
    state, lengths = random_state(np.random.default_rng(630), small), np.where(slide, length, 1.0)
    similar = (lengths * state.q, lengths * state.qd / np.sqrt(length), lengths * state.qdd / length)
    expected = torque(small, state) * mass * np.where(slide, 1.0, length)
    np.testing.assert_allclose(torque(large, similar), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_walkers_that_cannot_be():
    with pytest.raises(co.InputError, match=r"stature must be finite and positive, got 0"):
        walker2d(stature=0)
    with pytest.raises(co.InputError, match="no sex in de Leva's tables named 'child'"):
        walker2d(sex="child")
