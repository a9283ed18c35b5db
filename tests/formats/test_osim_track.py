"""The study of OpenSim's files: what it finds, and that OpenSim reads what it writes."""

import json

import numpy as np
import pytest

import colloc as co
from colloc.studies.tracking import joint_loads, osim_track
from tests.studies.quick import numbers_of
from tests.support.opensim import ask_opensim, needs_opensim, run_opensim


def test_angles_and_torques_are_found_and_a_hinge_misses_them(tmp_path):
    file = tmp_path / "numbers.json"
    numbers = osim_track.main(["--quick", "--json", str(file), "--figure", str(tmp_path / "figure.png")])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    assert numbers["solved.splines"] == numbers["solved.hinge"] == 1
    assert numbers["left_out"] == 0
    assert numbers["marker_rms.splines"] == pytest.approx(0.003, rel=0.02)  # the noise
    assert numbers["torque_rms.splines"] < 0.7
    assert numbers["torque_rms.hinge"] > 3.0
    assert numbers["round_trip"] < 1e-14


@needs_opensim
def test_opensim_reads_what_is_written_and_finds_the_torques(tmp_path):
    """Its inverse dynamics of the motion, less what the plate does, are the torques that were found."""
    model = co.formats.from_osim(osim_track.FILE).model
    osim_track.record(model, tmp_path)
    solution = osim_track.find(model, tmp_path, co.BSpline(8, degree=5))
    t = np.array([0.5, 1.1, 2.0])
    osim_track.write(solution, tmp_path, t)
    names = '"found.mot", "found_torques.sto", "found_reactions.mot"'
    said = run_opensim(f"print([osim.TimeSeriesTable(name).getNumRows() for name in ({names})])", tmp_path)
    assert said.split("\n")[-2] == "[3, 3, 3]"
    at = solution.at(t)
    rows = [np.column_stack([at.q[k], at.qd[k], at.qdd[k]]).tolist() for k in range(t.size)]
    states = [dict(zip(model.joint_names, map(tuple, row), strict=True)) for row in rows]
    answers = ask_opensim({str(osim_track.FILE): states}, tmp_path)[str(osim_track.FILE)]
    order = [list(states[0]).index(name) for name in model.joint_names]
    theirs = np.array([np.array(answer["torque"])[order] for answer in answers])
    plate = co.formats.read_table(tmp_path / "found_reactions.mot")
    force, point, free = (plate.vector(f"ground_{name}") for name in ("force_r_v", "force_r_p", "torque_r_"))
    moment = np.cross(point, force) + free
    loaded = np.array(theirs)
    for k in range(t.size):
        q = at.q[k]
        place = co.Evaluator(model).point("foot", (0.0, 0.0, 0.0), q=q).position
        wrench = co.Load("foot", force=force[k], moment=moment[k] - np.cross(place, force[k]))
        state = q, at.qd[k], at.qdd[k]
        loaded[k] += co.Evaluator(model, loads=[wrench]).torque(*state) - co.Evaluator(model).torque(*state)
    np.testing.assert_allclose(loaded, at.tau, atol=1e-7 * np.abs(at.tau).max())


def test_torques_of_the_squat_are_found_and_muscles_load_the_knee(tmp_path):
    numbers = numbers_of(joint_loads.main, tmp_path, size=20_000)
    assert numbers["solved"] == 1
    assert numbers["marker_rms"] == pytest.approx(0.003, rel=0.03)  # the noise
    assert numbers["error"] < 0.01  # between nodes too
    assert numbers["torque_rms"] < 5.0  # of 68 N m, from markers alone
    assert numbers["reserve"] < 2.0
    assert numbers["contact.thigh"] > 4 * numbers["net.thigh"]


def test_files_that_do_not_fit_are_refused(tmp_path):
    with pytest.raises(co.InputError, match="a recording is three files"):
        joint_loads.read(tmp_path, str(osim_track.FILE), "", "", "")
    files = joint_loads.read(tmp_path, "", "", "", "foot shank")
    with pytest.raises(co.InputError, match="must be a foot for each of the plates ground_force"):
        files.loads()
