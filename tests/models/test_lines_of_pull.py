"""The directions in which the muscles of ready models pull on bodies, beside those that OpenSim 4.6 has."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.arm26 import arm26
from colloc.models.muscle_human import mirror_image, muscle_human, recorded_posture
from colloc.models.squat_to_stand import squat_to_stand
from colloc.muscles.path import random_postures, symbolic_instant
from colloc.muscles.pull import body_wrenches, joint_pull

# Sums of the unit vectors of the segments of OpenSim's current paths from a body, and all that it carries, to others,
# in the axes of the body: forces on it for tensions of 1 N, of the models' files at the same posture.
POSTURES = {
    "human": {
        "hip_flexion_r": 0.25, "hip_adduction_r": -0.05, "hip_rotation_r": 0.04, "knee_angle_r": 0.2,
        "ankle_angle_r": 0.08,
    },
    "arm": {"shoulder": 0.8, "elbow": 1.2},
    "squat": {"ankle": 0.2, "knee": -0.8, "hip": -0.5},
}  # fmt: skip
OPENSIM = {
    ("human", "tibia_r", 0.012): {
        "bfsh_r": (-0.0351, 0.9973, -0.0645), "gaslat_r": (0.4652, 0.8826, -0.0675),
        "gasmed_r": (0.6601, 0.7512, 0.0043), "recfem_r": (0.0814, 0.995, 0.0582), "sart_r": (0.1305, 0.9908, -0.037),
        "semimem_r": (-0.2465, 0.969, -0.018), "vaslat_r": (0.0758, 0.9945, 0.0727),
    },
    ("human", "femur_r", 0.012): {
        "addbrev_r": (0.3227, 0.6707, -0.6679), "addmagIsch_r": (-0.1612, 0.9869, -0.008),
        "glmax1_r": (-0.2067, 0.9555, -0.2106), "glmed1_r": (0.3634, 0.9259, -0.1033),
        "iliacus_r": (0.746, 0.659, -0.0956), "psoas_r": (0.7879, 0.5907, -0.1738),
        "recfem_r": (-0.0162, 0.9986, 0.0503), "tfl_r": (0.1743, 0.9847, 0.0001),
    },
    ("arm", "forearm", 0.001): {
        "TRIlong": (0.8686, 0.4948, -0.0267), "BIClong": (0.8081, 0.574, -0.1325), "BRA": (0.8602, 0.5084, 0.0398),
    },
    ("squat", "thigh", 0.15): {
        "bifemsh": (-0.2359, -0.9712, 0.0331), "med_gas": (-0.9364, -0.3496, 0.0298),
        "rect_fem": (-0.7648, -0.6434, -0.0339), "vas_int": (-0.7655, -0.6434, -0.0085),
    },
    ("squat", "pelvis", 0.02): {
        "glut_max2": (0.606, -0.7791, 0.1605), "psoas": (-0.2702, -0.9443, 0.1881),
        "semimem": (0.4991, -0.8664, -0.0122),
    },
}  # fmt: skip


@pytest.mark.parametrize("case", list(OPENSIM), ids=lambda case: f"{case[0]}, {case[1]}")
def test_pulls_are_those_of_opensim(case):
    name, body, tolerance = case
    whole = {"human": muscle_human, "arm": arm26, "squat": squat_to_stand}[name]()
    model, expected = whole.model, OPENSIM[case]
    muscles = [muscle for muscle in whole.muscles if muscle.name in expected]
    wrenches = body_wrenches(model, muscles, random_postures(model, 3))
    now = symbolic_instant(model)
    posture = [POSTURES[name].get(joint, 0.0) for joint in model.joint_names]
    for k, muscle in enumerate(muscles):
        tensions = ca.SX.eye(len(muscles))[:, k]
        pull = joint_pull(now, model.index(body), wrenches, [k], tensions)
        force = ca.Function("force", [now.q], [pull.force])(posture).full().ravel()
        assert np.linalg.norm(force - expected[muscle.name]) < tolerance, muscle.name


def test_lines_of_the_human_are_as_long_as_its_polynomials_on_both_sides():
    """Along the recorded walk, where the muscles of the left are the mirror images of those of the right."""
    human = muscle_human()
    q = ca.SX.sym("q", human.model.n)
    lines = muscle_human("points").muscles
    lengths = (co.muscles.path_lengths(human.model, muscles, q) for muscles in (human.muscles, lines))
    both = ca.Function("lengths", [q], [ca.horzcat(*lengths)])
    other, sign = mirror_image(human.model)
    for share in (0.0, 0.15, 0.3, 0.6):
        posture = ca.evalf(recorded_posture(share)).full().ravel()
        fitted, straight = both(posture).full().T
        assert np.abs(straight - fitted).max() < 2.5e-3
        image = both(sign * posture[other]).full()[:, 1]
        np.testing.assert_allclose(np.roll(image, 40), straight, atol=1e-9)
