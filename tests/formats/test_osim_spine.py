"""Spines of constant curvature and shoulder blades on an ellipsoid, beside OpenSim 4.6."""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.opensim import needs_opensim, run_opensim

FOLDER = Path(__file__).parent / "osim"
FILE, KEPT = FOLDER / "spine.osim", FOLDER / "spine.json"
NAMES = ("tilt", "bending", "extension", "twist", "glide", "rise", "turn")
BODIES = ("chest", "scapula")
# The neutral angles of the arc are 0.1, 0.4 and -0.2 rad: the first two postures bend about one axis, the third is
# straight, where OpenSim sets the chest beside the arc by up to 0.5 mm within 1e-3 rad, and so is 0.01 rad off.
POSTURES = np.array(
    [
        (0.3, -0.1, -0.7, 0.3, 0.5, -0.4, 0.2),
        (-0.2, 0.6, -0.4, -0.5, -0.8, 0.9, -0.7),
        (0.1, -0.09, -0.4, 0.2, 0.3, 0.6, 0.8),
        (0.5, 0.5, 0.3, 0.4, 0.9, 0.7, -0.3),
        (0.0, 0.8, 0.5, -0.6, -0.5, -0.9, 0.6),
    ]
)
SCRIPT = """
model = osim.Model({file!r})
state = model.initSystem()
rows = []
for posture in {postures!r}:
    for name, value in zip({names!r}, posture):
        model.getCoordinateSet().get(name).setValue(state, value, False)
    model.realizePosition(state)
    places = [model.getBodySet().get(body).getTransformInGround(state) for body in {bodies!r}]
    rows.append([[[*(X.R().get(i, j) for j in range(3)), X.p().get(i)] for i in range(3)] for X in places])
import json
open("answers.json", "w").write(json.dumps(rows))
"""


def asked(folder: Path) -> np.ndarray:
    """Frames in OpenSim, shape (postures, bodies, 3, 4)."""
    run_opensim(SCRIPT.format(file=str(FILE), postures=POSTURES.tolist(), names=NAMES, bodies=BODIES), folder)
    return np.array(json.loads((folder / "answers.json").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def reading() -> co.formats.Reading:
    return co.formats.from_osim(FILE)


def frames_of(reading: co.formats.Reading) -> np.ndarray:
    now = co.Problem(reading.model, 1.0).instant
    function = ca.Function("frames", [now.q], [ca.horzcat(*(now.frame(body)[:3, :] for body in BODIES))])
    return np.array([np.hsplit(function(posture).full(), 2) for posture in POSTURES])


def test_bodies_are_where_they_are_in_opensim(reading):
    """Exactly where the arc bends about one axis; elsewhere its end is off by no more than the report says."""
    assert reading.model.joint_names == NAMES
    here, there = frames_of(reading), np.array(json.loads(KEPT.read_text(encoding="utf-8")))
    np.testing.assert_allclose(here[..., :3], there[..., :3], atol=1e-12)
    np.testing.assert_allclose(here[:3, ..., 3], there[:3, ..., 3], atol=2e-9)
    off = np.abs(here[3:, ..., 3] - there[3:, ..., 3]).max()
    assert 1e-5 < off < 2.271e-3


def test_the_report_has_the_error_of_the_arc(reading):
    assert reading.changed == (
        "joint 'lumbar' (ConstantCurvatureJoint) is a chain of slides and axes x, z, y: exact where it bends about "
        "one of x and z, and at most 0.002271 m off where it bends about both",
        "joint 'ribs' (EllipsoidJoint) is a chain of axes x, y, z, with torques of the rates of its angles",
    )


def test_the_error_of_the_arc_is_the_largest_over_its_ranges():
    """Against the arc of OpenSim's formulas, 20 cm long, whose end lies in the plane of both tangents."""
    x, z = np.meshgrid(np.linspace(-0.7, 0.9, 81), np.linspace(-0.6, 0.9, 81))
    tangent = np.stack([-np.sin(z), np.cos(x) * np.cos(z), np.cos(z) * np.sin(x)])
    sine = np.maximum(np.hypot(tangent[0], tangent[2]), 1e-9)
    bend = np.arcsin(sine)
    end = (
        np.stack([(1 - np.cos(bend)) * tangent[0] / sine, np.sin(bend), (1 - np.cos(bend)) * tangent[2] / sine]) / bend
    )
    leg = [np.where(np.abs(t) < 1e-6, 1.0, 2 * np.tan(t / 2) / np.where(t == 0, 1.0, t)) for t in (x, z)]
    chain = (sum(leg) - 1) / 2 * (tangent + np.array([0.0, 1.0, 0.0])[:, None, None])
    assert 0.2 * np.linalg.norm(chain - end, axis=0).max() == pytest.approx(2.271e-3, rel=1e-3)


@needs_opensim
def test_what_is_kept_is_what_opensim_says(tmp_path):
    np.testing.assert_allclose(asked(tmp_path), json.loads(KEPT.read_text(encoding="utf-8")), atol=1e-10)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        KEPT.write_text(json.dumps(np.round(asked(Path(folder)), 12).tolist()) + "\n", encoding="utf-8")
