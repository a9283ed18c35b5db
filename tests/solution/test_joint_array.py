"""Joints by name, in answers and in tables."""

import csv
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.solution.sample import NamedArray


def swing(start: float, end: float) -> co.Problem:
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(two_link(), 1.0, co.integral(lambda now: now.tau.T @ now.tau), ends)


@pytest.fixture(scope="module")
def solution():
    return co.solve(swing(0.0, 1.0), co.BSpline(8))


@pytest.fixture(scope="module")
def phases():
    return co.solve(co.Phases({"out": swing(0.0, 1.0), "back": swing(1.0, 0.0)}), co.BSpline(6))


def test_a_joint_goes_by_its_name(solution):
    """In the order of q: shoulder, elbow."""
    for quantity in ("q", "qd", "qdd", "tau"):
        every = np.asarray(getattr(solution, quantity))
        for k, joint in enumerate(("shoulder", "elbow")):
            np.testing.assert_array_equal(getattr(solution, quantity)[joint], every[:, k])
            np.testing.assert_array_equal(getattr(solution[joint], quantity), every[:, k])
    np.testing.assert_array_equal(solution["elbow"].t, solution.t)
    one, several = solution.at(0.3), solution.at([0.3, 0.4])
    assert one.tau["elbow"] == one["elbow"].tau == one.tau[1]
    np.testing.assert_array_equal(several["elbow"].q, several.q[:, 1])


def test_in_phases_brackets_hold_the_phase_and_arrays_know_joints(phases):
    np.testing.assert_array_equal(phases.tau["elbow"], np.asarray(phases.tau)[:, 1])
    np.testing.assert_array_equal(phases["back"]["elbow"].tau, phases["back"].tau[:, 1])
    np.testing.assert_array_equal(phases.at([0.2, 1.7]).q["elbow"], np.asarray(phases.at([0.2, 1.7]).q)[:, 1])
    with pytest.raises(
        co.InputError, match=r"'elbow' is a joint, .* use solution\.tau\['elbow'\] or solution\['out'\]"
    ):
        phases["elbow"]  # fmt: skip
    with pytest.raises(co.InputError, match=r"no phase named 'bakc'; did you mean 'back'"):
        phases["bakc"]


def test_unknown_joints_are_refused(solution):
    for ask in (lambda: solution["elbw"], lambda: solution.tau["elbw"], lambda: solution.at(0.0)["elbw"]):
        with pytest.raises(co.InputError, match=r"no joint named 'elbw'; did you mean 'elbow'"):
            ask()


def test_a_joint_stands_after_other_indices(solution):
    tau = solution.tau
    assert tau[3, "elbow"] == tau["elbow"][3]
    np.testing.assert_array_equal(tau[2:5, "elbow"], np.asarray(tau)[2:5, 1])
    with pytest.raises(co.InputError, match=r'must be the last index, as in tau\[0, "elbow"\], got \(\'elbow\', 0\)'):
        tau["elbow", 0]
    with pytest.raises(co.InputError, match=r"no joint named 'elbw'; did you mean 'elbow'"):
        tau[0, "elbw"]


def test_what_is_made_of_such_an_array_is_a_plain_one(solution):
    """Names would be wrong after a slice or a product."""
    tau = solution.tau
    for made in (
        tau[:, ::-1],
        tau[0],
        tau * 2,
        -tau,
        tau.T @ tau,
        np.abs(tau),
        np.concatenate([tau, tau]),
        np.asarray(tau),
    ):
        assert type(made) is np.ndarray
    assert isinstance(tau.max(), float)
    for copy in (tau.copy(), tau.T, tau.reshape(-1)):
        with pytest.raises(co.InputError, match=r"has no names of components, got 'elbow'"):
            copy["elbow"]
    again = pickle.loads(pickle.dumps(tau))
    assert isinstance(again, NamedArray)
    np.testing.assert_array_equal(again["elbow"], tau["elbow"])
    out = np.zeros_like(np.asarray(tau))
    np.add(tau, 1, out=out)
    np.testing.assert_array_equal(out, np.asarray(tau) + 1)


def test_a_misspelt_quantity_of_an_answer_is_named(solution):
    with pytest.raises(AttributeError, match=r"no quantity of a solution named 'torque'"):
        _ = solution.torque
    with pytest.raises(AttributeError, match=r"'plot': call co\.plot\.summary\(solution\)"):
        solution.plot()
    assert not hasattr(solution, "torques")


@pytest.mark.parametrize("kind", ["solution", "phases"])
def test_a_dataframe_holds_what_a_csv_does(kind, request, tmp_path):
    pytest.importorskip("pandas")
    answer = request.getfixturevalue(kind)
    table = co.storage.to_dataframe(answer)
    co.storage.to_csv(answer, tmp_path / "motion.csv")
    with Path(tmp_path / "motion.csv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert list(table.columns) == header
    assert table["tau[elbow] [N m]"].to_numpy().tolist() == answer.tau["elbow"].tolist()
    assert [
        [str(cell) if isinstance(cell, str) else repr(float(cell)) for cell in row] for row in table.to_numpy()
    ] == rows
    assert header[0] == ("phase" if kind == "phases" else "t [s]")


def test_without_pandas_the_extra_is_named(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"co\.storage\.to_dataframe needs pandas: pip install 'colloc\[formats\]'"):
        co.storage.to_dataframe(solution)
    with pytest.raises(co.InputError, match="solution must be a Solution or PhasesSolution"):
        co.storage.to_dataframe("solution")  # pyright: ignore[reportArgumentType]
