"""Muscles round surfaces of OpenSim's files against OpenSim 4.6: lengths and moment arms at random postures.

OpenSim's results are kept beside the file, and `python -m tests.formats.test_osim_wraps` writes them again where it is
installed. Two of its muscles stay behind a surface, and the straight line may pass in front: there its lengths jump.
"""

import json
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.opensim import needs_opensim, run_opensim

FILE = Path(__file__).parent / "osim" / "wraps.osim"
KEPT = FILE.with_suffix(".json")
POSTURES = np.random.default_rng(2).uniform((-1.0, -1.2, -0.6), (1.0, 1.2, 0.6), (20, 3)).round(3)
SCRIPT = """
import json
osim.Logger.setLevelString("Off")
model = osim.Model({file!r})
state = model.initSystem()
coordinates, muscles = model.getCoordinateSet(), model.getMuscles()
answers = {{muscles.get(j).getName(): [] for j in range(muscles.getSize())}}
for posture in {postures!r}:
    for i, value in enumerate(posture):
        coordinates.get(i).setValue(state, value, False)
    model.realizePosition(state)
    for j in range(muscles.getSize()):
        muscle = muscles.get(j)
        arms = [muscle.computeMomentArm(state, coordinates.get(i)) for i in range(3)]
        answers[muscle.getName()].append([round(value, 9) for value in (muscle.getLength(state), *arms)])
open("answers.json", "w").write(json.dumps(answers))
"""


def asked(folder: Path) -> dict[str, list[list[float]]]:
    run_opensim(SCRIPT.format(file=str(FILE), postures=POSTURES.tolist()), folder)
    return json.loads((folder / "answers.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def reading() -> co.formats.Reading:
    return co.formats.from_osim(FILE)


@pytest.fixture(scope="module")
def both(reading) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By muscle, lengths and moment arms here and in OpenSim, each shape (postures, 4) [m]."""
    kept, q = json.loads(KEPT.read_text(encoding="utf-8")), ca.SX.sym("q", 3)
    muscles = [co.muscles.from_file(record) for record in reading.muscle_data]
    lengths = co.muscles.path_lengths(reading.model, muscles, q)
    here = ca.Function("here", [q], [ca.horzcat(lengths, -ca.jacobian(lengths, q))])
    values = np.array([here(posture).full() for posture in POSTURES]).transpose(1, 0, 2)
    return {muscle.name: (ours, np.array(kept[muscle.name])) for muscle, ours in zip(muscles, values, strict=True)}


@pytest.mark.parametrize(
    "name", ["extensor", "crosser", "over_ball", "over_egg", "over_egg_midway", "over_egg_axially", "through_ring"]
)
def test_lengths_and_moment_arms_are_those_of_opensim(both, name):
    """Moment arms of OpenSim are those of a force along its path, which is not quite the shortest."""
    here, theirs = both[name]
    np.testing.assert_allclose(here[:, 0], theirs[:, 0], atol=1e-4)
    np.testing.assert_allclose(here[:, 1:], theirs[:, 1:], atol=2e-3)


def test_round_two_surfaces_to_the_half_millimetre_at_which_opensim_stops(both):
    here, theirs = both["over_two"]
    np.testing.assert_allclose(here[:, 0], theirs[:, 0], atol=6e-4)
    np.testing.assert_allclose(here[:, 1:], theirs[:, 1:], atol=2e-3)


@pytest.mark.parametrize("name", ["behind_bead", "behind_nut"])
def test_behind_a_surface(both, name):
    here, theirs = both[name]
    close = np.abs(here - theirs).max(axis=1) < 2e-3
    assert close.mean() > 0.7
    assert np.median(np.abs(here[:, 0] - theirs[:, 0])) < 1e-6


def test_surfaces_lie_between_the_points_where_the_muscle_touches_them(reading):
    paths = {record.name: record.points for record in reading.muscle_data}
    assert [type(part).__name__ for part in paths["over_two"]] == ["PathPoint", "Cylinder", "Cylinder", "PathPoint"]
    first, second = paths["over_two"][1:3]
    assert (first.body, second.body) == ("upper", "lower")
    assert reading.left_out == ()


@needs_opensim
def test_what_is_kept_is_what_opensim_says(tmp_path):
    kept, answers = json.loads(KEPT.read_text(encoding="utf-8")), asked(tmp_path)
    for name, rows in answers.items():
        np.testing.assert_allclose(kept[name], rows, atol=1e-8)


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        KEPT.write_text(json.dumps(asked(Path(folder))) + "\n", encoding="utf-8")
