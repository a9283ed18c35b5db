"""What the README says is true."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co
from tests.support.problems import time_optimal

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def test_the_script_in_the_readme_runs_as_printed(monkeypatch: pytest.MonkeyPatch):
    import matplotlib.pyplot as plt

    script = re.findall(r"```python\n(.*?)```", README, re.S)[0]
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {}
    exec(compile(script, "README.md", "exec"), names)
    plt.close("all")
    solution = names["solution"]
    assert isinstance(solution, co.Solution)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(0.391854539516, rel=1e-3)
    assert solution.q.shape == solution.tau.shape == (solution.t.size, 2)


def test_the_motion_in_phases_in_the_readme_runs_as_printed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(re.findall(r"```python\n(.*?)```", README, re.S)[1], "README.md", "exec"), names)
    hop, solution = names["hop"], names["solution"]
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(0.6)
    assert solution["flight"].duration == pytest.approx(0.13, abs=0.005)
    assert solution["landing"].constants["impulse"] == pytest.approx(1.7, abs=0.05)
    # The guess and the curves of which the text below tells.
    guess = {"flight": co.line((0.0, 1.0), (0.0, 0.8))}
    curves = {"push": co.BSpline(10), "flight": co.Radau(4), "landing": co.BSpline(10)}
    assert co.solve(hop, curves, guess=guess, progress=False).cost == pytest.approx(solution.cost, rel=1e-3)


def test_the_evaluator_in_the_readme_runs_as_printed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    exec(compile(re.findall(r"```python\n(.*?)```", README, re.S)[2], "README.md", "exec"), names)
    assert names["tau"].shape == (1000, 43)
    assert names["dqdd"].shape == (1000, 43, 43)


def test_a_solve_in_another_process_in_the_readme_runs_as_printed(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("cloudpickle")
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, re.S)
    names: dict[str, Any] = {"__name__": "__main__", "co": co, "problem": time_optimal()}
    exec(compile(blocks[3], "README.md", "exec"), names)
    assert names["solution"].status is co.solver.Status.SOLVED


def test_many_starts_in_the_readme_run_as_printed():
    import matplotlib.pyplot as plt

    block = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "multistart" in b)
    names: dict[str, Any] = {"co": co, "problem": time_optimal()}
    exec(compile(block, "README.md", "exec"), names)
    plt.close("all")
    assert names["found"].best.duration == pytest.approx(0.393141, rel=1e-5)


def test_a_parameter_study_in_the_readme_runs_as_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    block = next(b for b in re.findall(r"```python\n(.*?)```", README, re.S) if "co.sweep" in b)
    names: dict[str, Any] = {"co": co, "problem": time_optimal()}
    exec(compile(block, "README.md", "exec"), names)
    table = names["table"]
    assert table.failed.size == 0
    assert (np.diff(table["duration"]) > 0).all()
    assert len(list((tmp_path / "gains").glob("case_*.npz"))) == 4


def test_all_scripts_run_as_one(tmp_path: Path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(re.findall(r"```python\n(.*?)```", README, re.S)))
    own = os.environ | {"PYTHONPATH": str(ROOT), "MPLBACKEND": "Agg"}
    command = [sys.executable, "-W", "error", str(script)]
    ended = subprocess.run(command, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_there_are_exactly_two_set_up_commands():
    commands = re.findall(r"```sh\n(.*?)```", README, re.S)
    assert len(commands) == 2
    assert all(len(command.strip().splitlines()) == 1 for command in commands)
    assert commands[1].strip().endswith("-m pytest")


def test_names_in_the_readme_exist():
    for name in re.findall(r"\bco\.(\w+)", README):
        assert hasattr(co, name), name


def test_nothing_names_a_place_a_user_does_not_have():
    pattern = re.compile(r"\.\./shared|/(?:work|farm|tmp|root|home)/")
    folders = ("colloc", "colloc/models", "colloc/studies")
    for path in [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]:
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".csv", ".cff"}:
            assert not pattern.search(path.read_text()), path
