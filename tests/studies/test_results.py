"""Numbers of full runs: what is kept of them, when they are older than the code, and that pages quote them right."""

import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pytest

from colloc.__main__ import studies
from colloc.studies import results
from colloc.studies.results import FOLDER, Record, code, imported, library, made, records


def test_what_is_kept_is_read_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    run = made("two_link.lifting", {"converged.T": 0.5}, 12.34)
    run.write()
    assert results.records() == {"two_link.lifting": run}
    assert (run.seconds, run.since) == (12.3, "")


def test_every_record_is_of_a_study():
    assert {path.stem for path in FOLDER.glob("*.json")} <= studies().keys()
    for name, run in records().items():
        assert run.study == name
        assert run.date[:2] == "20"
        assert run.numbers
        assert run.since in ("", "library", "study", "library, study")


def test_numbers_are_older_than_what_has_changed():
    run = made("two_link.lifting", {}, 1.0)
    assert Record(**{**vars(run), "library_code": "0"}).since == "library"
    assert Record(**{**vars(run), "study_code": "0"}).since == "study"


def test_a_study_is_its_file_and_what_it_imports():
    lifting = imported("colloc.studies.two_link.lifting")
    assert lifting == {
        f"colloc.{name}" for name in ("models.two_link", "studies.two_link.lifting", "studies.two_link.convergence")
    }
    assert lifting < imported("colloc.studies.two_link.free_knots")
    assert "colloc.models.human.human55" in imported("colloc.studies.walking.gait")
    assert len(library()) == 12


def test_words_are_no_code():
    text = '"""A file."""\n\nX = 1  # one\n\n\ndef f():\n    """A function,\n    of X."""\n    # X\n    return X\n'
    assert code(text) == "X = 1  # one\ndef f():\n    return X\n"
    assert code('"""Another."""\nX = 1  # one\ndef f():\n    return X\n') == code(text)


def test_one_command_lists_all_runs_and_what_has_changed_since():
    command = [sys.executable, str(ROOT / "docs" / "results.py")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for name, run in records().items():
        (line,) = [line for line in shown.splitlines() if line.split()[:1] == [name]]
        assert run.date in line
        assert run.since in line


ROOT = Path(__file__).parents[2]
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
