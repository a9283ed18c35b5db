"""Tests are in the tiers that their times say."""

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests import tiers

LISTED = {"a.py::test_some": 1.0, "a.py::test_more": 9.0, "a.py::test_more[1]": 8.0, "b.py::test_other": 3.0}


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tiers, "FILE", tmp_path / "durations.json")
    tiers.FILE.write_text(json.dumps(LISTED), encoding="utf-8")
    return tiers.FILE


def measured(seconds: dict[str, float], fixtures: dict[str, float] | None = None) -> tiers.Measured:
    run = tiers.Measured()
    for test, value in seconds.items():
        report: Any = SimpleNamespace(nodeid=test, user_properties=[("seconds", (value, fixtures or {}))])
        run.add(cast(pytest.TestReport, report))
    return run


@pytest.mark.parametrize(
    ("test", "expected"),
    [("a.py::test_new[2]", ["quick", "push"]), ("a.py::test_some[x]", ["push"]), ("a.py::test_more[0]", []),
     ("a.py::test_more[1]", ["long"]), ("b.py::test_other", [])],
)  # fmt: skip
def test_a_test_is_where_its_time_puts_it(test: str, expected: list[str]):
    assert tiers.tiers(test, LISTED) == expected


def test_a_fixture_that_tests_share_counts_once_for_a_function_and_for_each_of_its_cases():
    run = measured({"a.py::test_f[0]": 0.5, "a.py::test_f[1]": 0.25}, {"solved": 2.0})
    assert run.functions() == {"a.py::test_f": 2.75}
    assert run.cases() == {"a.py::test_f[0]": 2.5, "a.py::test_f[1]": 2.25}


def test_what_takes_longer_than_its_tier_allows_is_named():
    lines = measured({"a.py::test_new": 1.0, "a.py::test_some": 3.0, "b.py::test_other": 30.0}).too_long()
    assert [line.split()[0] for line in lines] == ["a.py::test_new", "b.py::test_other"]


def test_the_list_is_brought_up_to_date_for_the_files_that_ran(file: Path):
    measured({"a.py::test_some": 0.01, "a.py::test_new[0]": 7.0, "a.py::test_new[1]": 1.0}).save()
    expected = {"a.py::test_new": 8.0, "a.py::test_new[0]": 7.0, "b.py::test_other": 3.0}
    assert json.loads(file.read_text(encoding="utf-8")) == expected


def test_the_list_names_tests_that_there_are():
    root = Path(__file__).parent.parent
    listed = json.loads((root / "tests" / "durations.json").read_text(encoding="utf-8"))
    places = [tiers.function_of(name).split("::", 1) for name in listed]
    known: dict[str, set[str]] = {}
    for file in {place for place, _ in places}:
        text = (root / file).read_text(encoding="utf-8") if (root / file).exists() else ""
        known[file] = set(re.findall(r"def (test_\w+)", text))
    gone = [f"{file}::{name}" for file, name in places if name.split("::")[-1] not in known[file]]
    assert gone == [], "measure their files again: python -m pytest FILE --measure"
