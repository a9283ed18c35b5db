"""Numbers of full runs: what is kept of them, and when they are older than the code."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from colloc.__main__ import studies
from colloc.studies import results
from colloc.studies.results import FOLDER, Record, changed, code, digests, made, records, texts

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
kept = import_module("results")


def test_what_is_kept_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    run = made("two_link.lifting", {"converged.T": 0.5}, 12.34, ["models.two_link", "curves"])
    run.write()
    assert results.records() == {"two_link.lifting": run}
    assert (run.seconds, run.since) == (12.3, "")


def test_without_git_a_run_has_no_commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert results.commit() == ""


def test_every_record_is_of_a_study():
    assert {path.stem for path in FOLDER.glob("*.json")} <= studies().keys()
    for name, run in records().items():
        assert run.study == name
        assert run.date[:2] == "20"
        assert run.numbers
        assert all(len(kept.split()[0]) == 12 for kept in run.code.values())


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small package that stands for colloc."""
    for path, text in {
        "solver/__init__.py": "",
        "solver/ipopt.py": '"""Words."""\n\n\ndef limit(n):\n    if n < 0:\n        raise ValueError(f"below {n}")\n',
        "solver/fast/sum.c": "/* Sum. */ int f(void) { return 1; }\n",
        "curves/radau.py": "POINTS = 3\n",
        "plot/bars.py": "WIDTH = 3\n",
    }.items():  # fmt: skip
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    monkeypatch.setattr(results, "PACKAGE", tmp_path)
    return tmp_path


LOADED = ("solver", "solver.ipopt", "plot.bars", "__main__", "studies.reporting")


def test_a_run_is_older_when_code_that_it_loaded_has_changed(package: Path):
    run = made("two_link.lifting", {}, 1.0, LOADED)
    assert [kept.split()[1:] for kept in run.code.values()] == [["__init__", "ipopt"]]
    assert run.since == ""
    for path, change, since in (
        ("solver/ipopt.py", ("Words.", "Other words."), ""),
        ("solver/ipopt.py", ("n < 0:", "n < 0:  # steps"), ""),
        ("solver/ipopt.py", ("def", "\n\ndef"), ""),
        ("solver/ipopt.py", ("below", "under"), ""),
        ("solver/ipopt.py", ("n < 0", "n < 1"), "solver"),
        ("solver/fast/sum.c", ("Sum", "One"), ""),
        ("solver/fast/sum.c", ("return 1", "return 2"), "solver"),
        ("curves/radau.py", ("3", "4"), ""),
        ("plot/bars.py", ("3", "4"), ""),
    ):
        text = (package / path).read_text(encoding="utf-8")
        (package / path).write_text(text.replace(*change), encoding="utf-8")
        assert run.since == since, (path, change)
        (package / path).write_text(text, encoding="utf-8")
    (package / "solver" / "ipopt.py").unlink()
    assert run.since == "solver"
    assert Record(**{**vars(run), "code": {}}).since == "all"


def test_code_that_changes_during_a_run_is_noticed(package: Path):
    before, run = texts(), made("two_link.lifting", {}, 1.0, LOADED)
    path = package / "solver" / "ipopt.py"
    path.write_text(path.read_text(encoding="utf-8").replace("Words.", "Other words."), encoding="utf-8")
    assert not changed(before, run)
    path.write_text(path.read_text(encoding="utf-8").replace("n < 0", "n < 1"), encoding="utf-8")
    assert changed(before, run)


def test_the_modules_of_a_study_are_those_that_its_processes_load():
    """By a run in a process of its own, which starts another one in turn."""
    if sys.flags.ignore_environment:
        pytest.skip("needs a Python that reads PYTHONPATH")
    script = "import subprocess, sys, colloc.curves.radau\n"
    script += "subprocess.run([sys.executable, '-c', 'from colloc.curves import bspline'], check=True)\n"
    script += "assert 'colloc.curves.bspline' not in sys.modules or True\n"
    loaded = kept.loaded([sys.executable, "-c", script], ROOT, None)
    assert {"curves", "curves.radau", "curves.bspline"} <= loaded
    assert "colloc.studies.two_link.lifting" not in loaded


def test_what_is_not_a_number_in_code_does_not_count():
    text = '"""A file."""\n\nX = 1  # one\n\n\ndef f():\n    """A function,\n    of X."""\n    # X\n    return X\n'
    assert code('"""Another."""\nX = 1  # one\ndef f():\n    return X\n') == code(text)
    assert code(text.replace("= 1", "= 2")) != code(text)
    assert code("int f(void); // a\n", ".c") == code("/* b\n*/ int  f(void);\n", ".c") == "int f(void);"
    assert "solver" in digests(["solver.ipopt", "plot.bars"])


def test_runs_are_renewed_within_a_time_the_shortest_first(monkeypatch: pytest.MonkeyPatch):
    """Each is kept at once, what fails is named, and what takes longer than is left is not begun."""
    known = {f"a.{s}": Record(f"a.{s}", "2026-01-01", "", "", s, {}, {}) for s in (900.0, 2.0, 30.0)}
    monkeypatch.setattr(kept, "records", lambda: known)
    ran = []

    def run(name: str, **options: object) -> None:
        ran.append(name)
        if name == "a.30.0":
            raise RuntimeError("failed: no")

    monkeypatch.setattr(kept, "run", run)
    assert [record.study for record in kept.shortest_first()] == ["a.2.0", "a.30.0", "a.900.0"]
    left = kept.renew([record.study for record in kept.shortest_first()], 10.0)
    assert ran == ["a.2.0", "a.30.0"]
    assert left[0] == "a.30.0: failed: no"
    assert re.fullmatch(r"a\.900\.0: takes 900 s, (599|600) s were left", left[1])
    assert kept.renew(["a.2.0"], float("inf")) == []


def test_one_command_lists_all_runs_and_what_has_changed_since():
    for name, run in records().items():
        (line,) = [line for line in kept.listing().splitlines() if line.split()[:1] == [name]]
        assert run.date in line
        assert run.since in line
