"""The human with muscles in space against OpenSim's own reading of its file."""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.muscle_human import MuscleHuman, mirror_image, muscle_human, recorded_emg, recorded_posture
from colloc.models.panda import panda
from colloc.muscles.path import symbolic_instant

# OpenSim 4.6 at random states: generalised forces, trace of the mass matrix; of the right leg lengths, moment arms [m].
OPENSIM = json.loads((Path(__file__).parent / "muscle_human.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def human() -> MuscleHuman:
    return muscle_human()


@pytest.mark.parametrize("state", OPENSIM["states"])
def test_masses_and_inverse_dynamics(state: dict, human: MuscleHuman):
    """Patellae, of 70 g, follow polynomials here and splines there."""
    evaluator = co.Evaluator(human.model)
    trace = np.trace(evaluator.mass_matrix(state["q"]))
    assert trace == pytest.approx(state["mass"], rel=2e-6)
    torque = evaluator.torque(state["q"], state["qd"], state["qdd"])
    np.testing.assert_allclose(torque, state["torque"], atol=2e-5 * np.abs(state["torque"]).max())


@pytest.mark.parametrize("posture", OPENSIM["postures"])
def test_lengths_and_moment_arms(posture: dict, human: MuscleHuman):
    names = human.model.joint_names
    q = np.zeros(human.model.n)
    q[[names.index(f"{joint}_r") for joint in OPENSIM["joints"]]] = posture["q"]
    lengths, arms = (value.full() for value in geometry(human)(q))
    for k, name in enumerate(OPENSIM["muscles"]):
        path = human.muscles[k].path
        assert human.muscles[k].name == f"{name}_r"
        assert isinstance(path, co.muscles.LengthPolynomial)
        assert abs(lengths[k, 0] - posture["length"][k]) < 5 * path.length_error
        for joint, arm in posture["moment_arm"][name].items():
            there = names.index(f"{OPENSIM['joints'][int(joint)]}_r")
            assert abs(arms[k, there] - arm) < 5 * path.moment_arm_error, name


def test_errors_of_the_polynomials_are_small(human: MuscleHuman):
    lengths, arms = np.transpose([(m.path.length_error, m.path.moment_arm_error) for m in human.muscles])
    assert np.sort(lengths)[-9] < 3.1e-4  # all but four a side
    assert np.sort(arms)[-7] <= 1e-3  # all but three
    assert lengths.max() < 2.2e-3
    assert arms.max() < 3.1e-3


def test_the_left_side_is_the_mirror_image(human: MuscleHuman):
    """Of mechanics, muscles and balls."""
    other, sign = mirror_image(human.model)
    rng = np.random.default_rng(0)
    q, qd, qdd = rng.uniform(-0.3, 0.3, (3, human.model.n))
    q[1] = 0.9
    evaluator = co.Evaluator(human.model, loads=human.contact.loads)
    torque = evaluator.torque(q, qd, qdd)
    image = evaluator.torque(*(sign * x[other] for x in (q, qd, qdd)))
    np.testing.assert_allclose(image, sign * torque[other], atol=1e-9 * np.abs(torque).max())
    here, there = (geometry(human)(x)[0].full().ravel() for x in (q, sign * q[other]))
    np.testing.assert_allclose(here[:40], there[40:], rtol=1e-12)


def test_a_person_of_85_kg_who_stands(human: MuscleHuman):
    assert repr(human) == "MuscleHuman(31 joints, 80 muscles, 13 motors, 12 spheres)"
    """Upright and at rest at some height the ground carries the weight."""
    mass = sum(float(body.mass) for body in human.model.bodies)
    assert mass == pytest.approx(85.26985, abs=1e-5)
    assert (human.model.n, len(human.muscles), len(human.contact.spheres)) == (31, 80, 12)
    evaluator = co.Evaluator(human.model, loads=human.contact.loads)
    heights = np.linspace(0.85, 1.1, 60)
    q = np.zeros((60, 31))
    q[:, 1] = heights
    lift = evaluator.torque(q, 0 * q, 0 * q)[:, 1]  # what else must carry it
    assert lift[0] < 0 < lift[-1]
    assert lift[-1] == pytest.approx(mass * 9.80665, rel=1e-6)


def test_points_and_surfaces_are_where_the_muscles_are():
    drawn = geometry(muscle_human("points"))
    for posture in OPENSIM["postures"][:1]:
        model = muscle_human().model
        q = np.zeros(model.n)
        q[[model.joint_names.index(f"{joint}_r") for joint in OPENSIM["joints"]]] = posture["q"]
        shorter = np.array(posture["length"]) - drawn(q)[0].full()[:40, 0]
        assert np.abs(shorter).max() < 5e-3


def test_misuse():
    with pytest.raises(co.InputError, match='paths must be "polynomial" or "points"'):
        muscle_human("splines")
    with pytest.raises(co.InputError, match='must be "polynomial" or "points"'):
        muscle_human(["points"])  # pyright: ignore[reportArgumentType]
    with pytest.raises(co.InputError, match="that of muscle_human, got 'Panda'"):
        mirror_image(panda())


def geometry(human: MuscleHuman) -> ca.Function:
    """Lengths and moment arms at a posture."""
    now, muscles = symbolic_instant(human.model), co.muscles.Muscles(human.model, human.muscles)
    return ca.Function("geometry", [now.q], [muscles.lengths(now), muscles.moment_arms(now)])


def test_half_a_stride_later_the_recorded_posture_is_its_mirror_image(human: MuscleHuman):
    other, sign = mirror_image(human.model)
    now, later = (ca.evalf(recorded_posture(s)).full().ravel() for s in (0.2, 0.7))
    np.testing.assert_allclose(later, sign * now[other], atol=1e-12)
    lower, upper = human.model.limits("position")
    stride = np.hstack([ca.evalf(recorded_posture(s)).full() for s in np.linspace(0, 1, 41)]).T
    assert ((stride > lower - 0.05) & (stride < upper + 0.05)).all()
    knee = np.degrees(stride[:, human.model.joint_names.index("knee_angle_r")])
    assert 60 < knee.max() < 75


def test_recorded_muscles_work_when_those_of_people_do():
    """Soleus and gastrocnemius in late stance, tibialis at heel strike, vasti after it (Perry 1992)."""
    emg, percent = recorded_emg(), np.arange(0.0, 100.0, 4.0)
    assert all(activity.shape == (25,) and (activity >= 0).all() and activity.max() <= 1 for activity in emg.values())
    times = {
        "gasmed": (40, 55), "soleus": (40, 55), "tibant": (0, 10), "semimem": (0, 10), "vaslat": (4, 20),
        "vasmed": (4, 20), "glmed1": (4, 20),
    }  # fmt: skip
    for muscle, (first, last) in times.items():
        assert first <= percent[np.argmax(emg[muscle])] <= last, muscle
