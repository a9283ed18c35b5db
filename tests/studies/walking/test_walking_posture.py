"""Arms of the walking step: swinging with the opposite leg (5.6), and clear of the hips (5.7)."""

import casadi as ca
import numpy as np
import pytest

from colloc.models.human.human55 import human55, walking
from colloc.problem import Instant
from colloc.studies.walking.posture import posture
from colloc.studies.walking.step import Step


@pytest.fixture(scope="module")
def step() -> Step:
    return Step(walking(human55()))


def room(step: Step, name: str, **degrees: float) -> np.ndarray:
    """Distance of a constraint's rows from their lower bound in a posture on the right foot, negative if violated."""
    model = step.stance.model
    q = np.array([np.radians(degrees.pop(joint, 0.0)) for joint in model.joint_names])
    assert not degrees
    rest = ca.SX(model.n, 1)
    now = Instant(model, ca.SX(0), ca.SX(step.duration), ca.SX.sym("q", model.n), rest, rest, rest)
    rows = next(condition for condition in posture(step) if condition.name == name).rows(now)
    return np.array(ca.Function("rows", [now.q], [rows.expression])(q)).ravel() - rows.lower


def test_arms_that_swing_with_the_leg_beside_them_are_seen(step):
    # The left leg ahead of the pelvis, the right one, which stands, behind.
    legs = {"hip_flexion_l": 30.0, "hip_flexion_r": -15.0, "ankle_dorsiflexion_r": 15.0}
    pace = room(step, "arm-leg coupling", **legs, shoulder_flexion_l=20.0, shoulder_flexion_r=-20.0)
    assert pace.shape == (2,)
    assert (pace < -0.01).all()
    assert (room(step, "arm-leg coupling", **legs, shoulder_flexion_l=-20.0, shoulder_flexion_r=20.0) > 0.01).all()
    only_left = room(step, "arm-leg coupling", **legs, shoulder_flexion_l=20.0, shoulder_flexion_r=20.0)
    assert only_left[0] < -0.01 < 0.01 < only_left[1]  # the left arm with the right leg, then the other pair


def test_a_hand_in_the_hip_is_seen(step):
    hanging = room(step, "wrist clear of hip")
    assert (hanging > 0).all()
    assert (hanging < 0.01).all()  # so that arms which swing at all have it active
    inside = room(step, "wrist clear of hip", shoulder_adduction_r=10.0)
    assert inside[0] < 0 < inside[1]
