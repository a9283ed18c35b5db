"""The human seen from a foot is the human seen from the pelvis: same lengths, same masses, same torques."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.model.kinematics import frames
from colloc.models.human.human import Human
from colloc.models.human.human55 import VIRTUAL, human55, walking
from colloc.models.human.stance import LATERAL, LIST, PITCH, ROLL, VERTICAL, YAW, on_foot
from colloc.models.human.walker2d import walker2d
from tests.support.random_trees import coordinates, evaluate, numbers

HUMANS = {"human55": lambda: walking(human55(1.6, 55.0, "female")), "walker2d": lambda: walker2d()}
MARKS = ("heel", "ball", "ankle")  # three points of the body that stands, not in a line


@pytest.fixture(scope="module", params=HUMANS)
def human(request) -> Human:
    return HUMANS[request.param]()


def points(who: Human, q: np.ndarray) -> np.ndarray:
    """All landmarks in the world, in the order of their names, shape (landmarks, 3)."""
    symbols, rest = coordinates(who.model), np.zeros(who.model.n)
    found = evaluate(frames(who.model, *symbols).position, symbols, (q, rest, rest))
    names = sorted(who.landmarks)
    return np.array([(found[who.model.index(who.landmarks[k].body)] @ [*who.landmarks[k].at, 1])[:3] for k in names])


def distances(places: np.ndarray) -> np.ndarray:
    return np.linalg.norm(places[:, None] - places[None], axis=2)


def inner(who: Human, q: np.ndarray) -> dict[str, float]:
    return {name: value for name, value in zip(who.model.joint_names, q, strict=True) if name not in who.virtual}


@pytest.mark.parametrize("side", ["r", "l"])
def test_lengths_and_masses_stay(human, side):
    stance, rng = on_foot(human, side), np.random.default_rng(700)
    joints = inner(human, rng.uniform(-0.5, 0.5, human.model.n))
    q, p = (np.array([joints.get(name, 0.0) for name in who.model.joint_names]) for who in (human, stance))
    np.testing.assert_allclose(distances(points(stance, p)), distances(points(human, q)), rtol=0, atol=1e-14)
    masses = [sorted(float(b.mass) for b in who.model.bodies if not b.mass.is_zero()) for who in (human, stance)]
    np.testing.assert_array_equal(masses[0], masses[1])
    for name in joints:
        before, after = (who.model.bodies[who.model.index(name)].joint.limits for who in (human, stance))
        assert before == after


def test_standing_is_zero_with_the_heel_in_the_origin(human):
    stance = on_foot(human, "r")
    np.testing.assert_array_equal(stance.standing, 0.0)
    ours, theirs = points(stance, stance.standing), points(human, human.standing)
    np.testing.assert_allclose(ours - ours[sorted(human.landmarks).index("heel_r")], ours, rtol=0, atol=1e-15)
    np.testing.assert_allclose(ours - ours[0], theirs - theirs[0], rtol=0, atol=1e-14)


def test_the_foot_pitches_about_the_heel_and_rolls_about_the_ball(human):
    stance = on_foot(human, "r")
    names, marks = stance.model.joint_names, sorted(stance.landmarks)
    for joint, still, rises in ((PITCH, "heel_r", "ball_r"), (ROLL, "ball_r", "heel_r")):
        place = points(stance, 0.2 * np.array([name == joint for name in names]))
        stand = points(stance, stance.standing)
        np.testing.assert_allclose(place[marks.index(still)], stand[marks.index(still)], rtol=0, atol=1e-15)
        assert place[marks.index(rises)][1] > 0.02


def test_torques_do_not_depend_on_where_the_tree_begins(human):
    """A random motion of both trees, the foot's coordinates found from the pelvis' by least squares."""
    stance, rng, names = on_foot(human, "r"), np.random.default_rng(710), human.model.joint_names
    state = [rng.uniform(-0.4, 0.4, human.model.n) for _ in range(3)]
    joints = [dict(zip(names, part, strict=True)) for part in state]
    base = [k for k, name in enumerate(stance.model.joint_names) if name in stance.virtual and name != ROLL]
    foot, theirs = _foot(stance), [numbers(part) for part in _foot(human)(*state)]
    mine = [np.array([part.get(name, 0.0) for name in stance.model.joint_names]) for part in joints]
    for order, part in enumerate(mine):
        for _ in range(20 if order == 0 else 1):  # positions by Gauss-Newton; rates are linear
            found = [numbers(value) for value in foot(*mine)]
            part[base] -= np.linalg.lstsq(found[3][:, base], found[order] - theirs[order], rcond=None)[0]
        np.testing.assert_allclose(numbers(foot(*mine)[order]), theirs[order], rtol=0, atol=1e-11)
    found = []
    for who, motion in ((human, state), (stance, mine)):
        symbols = coordinates(who.model)
        tau = evaluate([co.dynamics.newton_euler(who.model, *symbols)], symbols, motion)[0]
        found.append(inner(who, tau))
    left_out = {"toe_extension_r"} | {n for n in names if n.endswith("_r") and n.startswith(("hip", "knee", "ankle"))}
    # Nothing acts on the pelvis in the one tree, on the foot in the other: between them torques differ.
    for name in set(found[0]) - left_out:
        assert found[1][name] == pytest.approx(found[0][name], abs=1e-9), name
    assert max(abs(found[1][name] - found[0][name]) for name in left_out & set(found[0])) > 1e-3


def _foot(who: Human) -> ca.Function:
    """Positions, rates and accelerations of the marks, and the slope of the positions, from q, qd, qdd."""
    q, qd, qdd = symbols = coordinates(who.model)
    moved = [co.model.point_motion(who.model, *who.landmarks[f"{m}_r"], q=q, qd=qd, qdd=qdd) for m in MARKS]
    parts = [ca.vertcat(*(getattr(m, part) for m in moved)) for part in ("position", "velocity", "acceleration")]
    return ca.Function("foot", list(symbols), [*parts, ca.jacobian(parts[0], q)])


def test_sides_are_right_and_left(human):
    with pytest.raises(co.InputError, match="side must be one of r, l, got 'right'"):
        on_foot(human, "right")


def test_names_of_the_joints_of_the_foot():
    assert on_foot(walking(human55()), "l").virtual == (
        LATERAL, VERTICAL, "stance_forward", YAW, LIST, PITCH, ROLL,
    )  # fmt: skip
    assert set(VIRTUAL).isdisjoint(on_foot(human55(), "r").model.joint_names)
