"""Saving, loading and exporting."""

import csv
import json
import os
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from tests.support.problems import everything, time_optimal


@pytest.fixture(scope="module")
def solution() -> co.Solution:
    return co.solve(everything(), co.Radau(6))


def test_a_saved_solution_comes_back_whole(solution: co.Solution, tmp_path: Path):
    co.save(solution, tmp_path / "motion.npz")
    back = co.load(tmp_path / "motion.npz", everything())
    np.testing.assert_array_equal(back.x, solution.x)
    np.testing.assert_array_equal(back.tau, solution.tau)
    for name in ("status", "message", "cost", "terms", "curve", "iterations", "seconds", "history", "violations"):
        assert getattr(back, name) == getattr(solution, name), name
    warm = co.solve(back.problem, back.curve, guess=back)
    assert warm.iterations <= 2


def test_a_tolerance_of_the_cost_alone_comes_back(tmp_path: Path):
    solution = co.solve(time_optimal(), co.BSpline(8), compile=False, plan=[co.refinement.Solve(judge_cost=False)])
    co.save(solution, tmp_path / "motion.npz")
    back = co.load(tmp_path / "motion.npz", time_optimal(), tol=1.0)
    assert (back.outcome.tolerance, back.outcome.cost_tolerance, back.success) == (1e-2, 1.0, True)
    assert co.load(tmp_path / "motion.npz", time_optimal()).status == "too coarse a grid"


def test_the_file_reads_without_this_library(solution: co.Solution, tmp_path: Path):
    co.save(solution, tmp_path / "motion.npz")
    with np.load(tmp_path / "motion.npz", allow_pickle=False) as file:
        meta = json.loads(str(file["meta"]))
        assert file["q"].shape == (solution.t.size, 3)
    assert meta["schema"] == 1
    assert meta["status"] == "solved"
    curve = {"type": "Radau", "intervals": 6, "degree": 3, "breakpoints": None}
    assert meta["phases"][""]["curve"] == curve | {"nodes": "dense", "signal_degree": None}
    assert set(meta["versions"]) == {"colloc", "casadi", "numpy"}


def test_another_problem_is_noticed(solution: co.Solution, tmp_path: Path):
    path = tmp_path / "motion.npz"
    co.save(solution, path)
    with pytest.raises(co.InputError, match="saved for joints"):
        co.load(path, time_optimal())
    original = everything()
    other = co.Problem(
        original.model, original.duration, 2 * original.minimize, original.subject_to, original.unknowns,
        original.parameters, original.loads,
    )  # fmt: skip
    with pytest.raises(
        co.InputError, match=r"another problem, which differs in cost 'duration'; cost 'effort'; cost 'integral'"
    ):
        co.load(path, other)


def test_files_that_are_not_solutions_are_refused(tmp_path: Path):
    with pytest.raises(co.InputError, match="no file"):
        co.load(tmp_path / "missing.npz", time_optimal())
    (tmp_path / "text.npz").write_text("hello", encoding="utf-8")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "other.npz").read_bytes()[:100])
    np.savez(tmp_path / "pickle.npz", meta=np.array([{}], dtype=object))
    for name in ("text", "other", "cut", "pickle"):
        with pytest.raises(co.InputError, match="is not a saved solution"):
            co.load(tmp_path / f"{name}.npz", time_optimal())
    np.savez(tmp_path / "future.npz", meta=np.array(json.dumps({"schema": 99})))
    with pytest.raises(co.InputError, match="schema version 99"):
        co.load(tmp_path / "future.npz", time_optimal())


def test_unwritable_paths_are_refused_before_anything_is_written(solution: co.Solution, tmp_path: Path):
    for path, message in (
        (tmp_path / "no" / "motion.npz", "does not exist"),
        (tmp_path / "motion.txt", "must end in .npz"),
        (tmp_path, "must end in .npz"),
    ):
        with pytest.raises(co.InputError, match=message):
            co.save(solution, path)
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(co.InputError, match="is a directory"):
        co.save(solution, tmp_path / "folder.npz")


def test_a_failed_write_leaves_the_old_file(solution: co.Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "motion.npz"
    path.write_bytes(b"old")

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        co.save(solution, path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["motion.npz"]


def test_csv_has_units_and_every_sample(solution: co.Solution, tmp_path: Path):
    co.storage.to_csv(solution, tmp_path / "motion.csv")
    with open(tmp_path / "motion.csv", newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    assert header[:4] == ["t [s]", "q[base] [rad]", "q[arm] [rad]", "q[slide] [m]"]
    assert header[10:15] == ["tau[base] [N m]", "tau[arm] [N m]", "tau[slide] [N]", "wind[0]", "wind[1]"]
    assert len({*header}) == len(header) == 1 + sum(signal.shape[1] for signal in solution.signals.values())
    values = np.array(rows, dtype=float)
    np.testing.assert_array_equal(values[:, 0], solution.t)
    np.testing.assert_array_equal(values[:, 10:13], solution.tau)
