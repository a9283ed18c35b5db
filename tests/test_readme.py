"""The README and the tutorials are true."""

import os
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.support.problems import time_optimal

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


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


def cells(page: str) -> list[str]:
    """Blocks of code of a page, which run one after another."""
    return re.findall(r"```\{code-cell\} python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), re.S)


def test_the_hop_of_the_tutorial_is_that_of_other_curves_and_guesses():
    names: dict[str, Any] = {}
    for cell in cells("tutorials/phases.md")[:5]:
        exec(compile(cell, "phases.md", "exec"), names)
    hop, solution = names["hop"], names["solution"]
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(0.6)
    assert solution["flight"].duration == pytest.approx(0.13, abs=0.005)
    assert solution["landing"].constants["impulse"] == pytest.approx(1.7, abs=0.05)
    guess = {"flight": co.line((0.0, 1.0), (0.0, 0.8))}
    curves = {"push": co.BSpline(10), "flight": co.Radau(4), "landing": co.BSpline(10)}
    assert co.solve(hop, curves, guess=guess, progress=False).cost == pytest.approx(solution.cost, rel=1e-3)


def test_many_starts_and_a_study_of_a_parameter(tmp_path: Path):
    found = co.multistart(time_optimal(), co.BSpline(20), starts=20)
    assert found.best.duration == pytest.approx(0.393141, rel=1e-5)
    gain = co.Parameter("gain", 1.0)
    effort = co.integral(lambda now: now.gain * ca.sumsqr(now.tau), "effort")
    weighed = replace(time_optimal(), minimize=co.duration() + 1e-3 * effort, parameters=[gain])
    cases, folder = {"gain": [0.1, 0.3, 1.0, 3.0]}, tmp_path / "gains"
    table = co.sweep(weighed, cases, co.BSpline(20), record={"peak": lambda s: abs(s.tau).max()}, folder=folder)
    assert table.failed.size == 0
    assert (np.diff(table["duration"]) > 0).all()
    assert len(list(folder.glob("case_*.npz"))) == 4


def test_a_solve_in_another_process_comes_back_the_same():
    pytest.importorskip("cloudpickle")
    problem = time_optimal()
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        solution = executor.submit(co.solve, problem, co.BSpline(20)).result()
    assert (solution.x == co.solve(problem, co.BSpline(20)).x).all()


def test_the_script_runs_without_a_warning(tmp_path: Path):
    script = tmp_path / "readme.py"
    script.write_text("\n".join(re.findall(r"```python\n(.*?)```", README, re.S)), encoding="utf-8")
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
    folders = ("colloc", "models", "studies")
    for path in [*ROOT.glob("*"), *(path for folder in folders for path in (ROOT / folder).rglob("*"))]:
        if path.is_file() and path.suffix in {".py", ".md", ".toml", ".csv", ".cff"}:
            assert not pattern.search(path.read_text(encoding="utf-8")), path
