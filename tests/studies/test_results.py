"""Numbers of full runs: what is kept of them, when they are older than the code, and that pages quote them right."""

import re
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import NamedTuple

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
        (tmp_path / path).write_text(text)
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
        text = (package / path).read_text()
        (package / path).write_text(text.replace(*change))
        assert run.since == since, (path, change)
        (package / path).write_text(text)
    (package / "solver" / "ipopt.py").unlink()
    assert run.since == "solver"
    assert Record(**{**vars(run), "code": {}}).since == "all"


def test_code_that_changes_during_a_run_is_noticed(package: Path):
    before, run = texts(), made("two_link.lifting", {}, 1.0, LOADED)
    path = package / "solver" / "ipopt.py"
    path.write_text(path.read_text().replace("Words.", "Other words."))
    assert not changed(before, run)
    path.write_text(path.read_text().replace("n < 0", "n < 1"))
    assert changed(before, run)


def test_the_modules_of_a_study_are_those_that_its_processes_load():
    """By a run in a process of its own, which starts another one in turn."""
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


QUOTING = {name: (ROOT / name).read_text() for name in ("README.md", "docs/results.md", "docs/compared.md")}
NUMERAL = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e-?\d+)?")
FUNCTIONS = {"min": min, "max": max, "sum": sum, "median": median, "count": len}
DAGGER = "†"  # a number of a run that was not recorded


class Quotation(NamedTuple):
    """A number on a page: as it is written, = if it is rounded or a range, > if it is a bound, and where it is from."""

    study: str
    text: str
    relation: str
    source: str


def quotations(page: str) -> tuple[list[Quotation], dict[str, set[str]]]:
    """Numbers on a page that are ours, and by study those that are of others or were chosen: its last comment."""
    (comment,) = re.findall(r"<!-- Where numbers come from.*?\n(.*?)-->", page, re.S)
    ours, others = [], {}
    for line in re.split(r"\n(?=\S)", comment.strip()):
        study, _, items = line.partition(":")
        for item in " ".join(items.split()).rstrip(";").split("; "):
            if item.startswith("given "):
                others.setdefault(study, set()).update(item.split()[1:])
                continue
            text, relation, source = re.split(r" ([=>]) ", item, maxsplit=1)
            ours.append(Quotation(study, text, relation, source))
    return ours, others


def values(source: str, numbers: Mapping[str, float]) -> list[float]:
    """Numbers of a run that an expression means: [factor *] [function] key [- or / key or number], keys with * many."""
    if part := re.fullmatch(r"(.+?) ([-/]) (.+)", source):
        first, second = values(part[1], numbers), values(part[3], numbers)
        pairs = zip(first, second if len(second) > 1 else second * len(first), strict=True)
        return [a - b if part[2] == "-" else a / b for a, b in pairs]
    *words, pattern = source.replace(" * ", " ").split()
    if NUMERAL.fullmatch(pattern):
        return [float(pattern)]
    many = [value for key, value in numbers.items() if fnmatchcase(key, pattern)]
    assert many, f"no number {pattern}"
    for word in reversed(words):
        many = [FUNCTIONS[word](many)] if word in FUNCTIONS else [float(word) * value for value in many]
    return many


def numerals(text: str) -> list[str]:
    return [numeral.rstrip(",") for numeral in NUMERAL.findall(text)]


def step(numeral: str) -> float:
    """Unit of the last digit that is written."""
    digits, _, exponent = numeral.replace(",", "").partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def agrees(quotation: Quotation, many: Sequence[float]) -> bool:
    """Whether a number, written with few digits, as a range, or as a bound, is what was measured."""
    written = numerals(quotation.text) or ["0"]  # none
    low, high = float(written[0].replace(",", "")), float(written[-1].replace(",", ""))
    half = 0.5 * step(written[-1]) * (1 + 1e-9)
    if quotation.relation == ">":
        return all(abs(value) <= high for value in many)
    return all(low - half <= value <= high + half for value in many)


def passages(page: str, study: str) -> str:
    """The row of a study, or all text where it has none."""
    rows = [line for line in page.splitlines() if line.startswith(f"| `{study}` ")]
    return rows[0].rstrip("| ").rpartition(" | ")[2] if rows else prose(page)


def prose(page: str) -> str:
    """A page without its tables, its code and its comment."""
    text = "\n".join(line for line in page.partition("<!--")[0].splitlines() if not line.startswith("|"))
    return " ".join(re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", "", text, flags=re.S).split())


@pytest.mark.parametrize("name", QUOTING)
def test_numbers_on_pages_are_those_of_full_runs(name: str):
    page, kept = QUOTING[name], records()
    wrong = []
    for quotation in quotations(page)[0]:
        passage = passages(page, quotation.study)
        assert quotation.text in passage, quotation
        if quotation.study not in kept:
            assert DAGGER in passage, quotation
            continue
        many = values(quotation.source, kept[quotation.study].numbers)
        if not agrees(quotation, many):
            wrong.append(f"{quotation.study}: {quotation.text}, but {quotation.source} = {many}")
    assert not wrong, "\n".join(wrong)


def test_every_number_of_the_results_has_a_source():
    """A full run, or the text of others; what a run that was not recorded found is marked."""
    page, kept = QUOTING["docs/results.md"], records()
    ours, others = quotations(page)
    rows = re.findall(r"^\| `(\w+\.\w+)` ", page, re.M)
    assert len(rows) == len(set(rows)) > 25
    for study in rows:
        assert (DAGGER in passages(page, study)) == (study not in kept), study
    for study in {*rows, *(quotation.study for quotation in ours)} & kept.keys():
        quoted = {numeral for q in ours if q.study == study for numeral in numerals(q.text)}
        if study in rows:
            left = set(numerals(passages(page, study))) - quoted - others.get(study, set())
            assert not left, f"{study}: {left}"
    text = {numeral for q in ours if q.study not in rows for numeral in numerals(q.text)}
    assert set(numerals(prose(page))) <= text | others.get("walking", set())


def test_rounded_numbers_ranges_and_bounds():
    for text, value, relation, right in (
        ("0.3919 s", 0.391855, "=", True), ("0.3918 s", 0.391855, "=", False), ("within 5e-8", 4.6e-8, "=", True),
        ("2e-8", 8.6e-8, ">", False), ("1e-7", -8.6e-8, ">", True), ("60 to 130", 123.0, "=", True),
        ("60 to 120", 123.0, "=", False), ("29,166", 29166.0, "=", True), ("none of", 0.0, "=", True),
        ("none of", 1.0, "=", False),
    ):  # fmt: skip
        assert agrees(Quotation("", text, relation, ""), [value]) == right, text
    numbers = {"a.1": 1.0, "a.2": 3.0, "b": 4.0}
    assert values("b - a.1", numbers) == [3.0]
    assert values("1e3 * max a.*", numbers) == [3e3]
    assert values("count a.*", numbers) == [2]
    assert values("sum a.* / b", numbers) == [1.0]
    assert values("a.* / a.*", numbers) == [1.0, 1.0]
    assert values("b - 0.5", numbers) == [3.5]
