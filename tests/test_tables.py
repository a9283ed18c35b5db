"""Tables that pages make from full runs: numbers are in their runs, all runs are shown, and how numbers are written."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

from colloc.__main__ import studies
from colloc.studies.results import Record, records

DOCS = Path(__file__).parents[1] / "docs"
sys.path.insert(0, str(DOCS / "extensions"))
peers, rows = import_module("peers"), import_module("rows")
FAMILIES = {study.partition(".")[0] for study in rows.rows_of()}


def test_every_number_of_a_table_is_in_its_run():
    kept, benchmarks = records(), rows.benchmarks()
    terms = {study: [term for _, term, _, _ in lines] for study, lines in rows.rows_of().items()}
    terms |= {study: [term for _, _, _, term in entry["rows"] if term] for study, entry in benchmarks.items()}
    for study in terms.keys() & kept.keys():
        for term in terms[study]:
            assert rows.shown(term, kept[study].numbers), (study, term)
    assert sum(map(len, terms.values())) > 200


def test_every_run_and_every_study_with_rows_is_on_a_page():
    shown = rows.rows_of().keys() | rows.benchmarks().keys() | {peers.STUDY}
    assert records().keys() <= shown <= studies().keys()
    pages = {name: (DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("results", "benchmarks", "compared")}
    assert set(re.findall(r"{runs} (\w+)", pages["results"])) == FAMILIES
    assert set(re.findall(r"{peers} (\w+)", pages["compared"])) == {
        *peers.PROBLEMS,
        "summary",
        "reasons",
        "human43",
        "ticks",
    }
    for name, text in pages.items():
        assert f"{{provenance}} {name}" in text
    assert "{measured} benchmarks" in pages["benchmarks"]


def test_cells_are_short_and_rows_are_whole():
    kept = records()
    made = [rows.run_tables(family, kept) for family in FAMILIES]
    made += [*rows.benchmark_tables(kept).split("\n\n"), *peers.tables(kept[peers.STUDY].numbers).values()]
    made += [rows.provenance(page, kept) for page in ("results", "benchmarks", "compared")]
    for table in made:
        lines = [line.strip("|").split("|") for line in table.splitlines() if line.startswith("|")]
        assert len({len(line) for line in lines}) <= 1, table
        assert max((len(cell.split()) for line in lines for cell in line), default=0) <= 40


def test_expressions():
    numbers = {"a.1": 1.0, "a.2": 3.0, "b": 4.0, "c": -7.0}
    for term, expected in (
        ("b - a.1", [3.0]), ("1e3 * max a.*", [3e3]), ("count a.*", [2]), ("sum a.* / b", [1.0]),
        ("a.* / a.*", [1.0, 1.0]), ("b - 0.5", [3.5]), ("most [bc]", [7.0]), ("median a.*", [2.0]), ("-1 * c", [7.0]),
        ("100 * b - 100", [300.0]),
    ):  # fmt: skip
        assert rows.values(term, numbers) == expected, term
    with pytest.raises(KeyError, match="d"):
        rows.values("max d", numbers)


def test_numbers_as_text():
    numbers = {
        "T": 0.3918554,
        "n": 29166.0,
        "e": 5.4e-8,
        "few.1": 1.0,
        "few.2": 2.5,
        **{f"many.{k}": k / 2 for k in range(9)},
    }
    for term, expected in (
        ("T:.4f", "0.3919"), ("T", "0.392"), ("n", "29,166"), ("n:.2g", "29,000"), ("e:.0e", "5e-08"),
        ("few.*", "1, 2.5"), ("many.*", "0 to 4"), ("0 * T:.1e", "0"),
    ):  # fmt: skip
        assert rows.shown(term, numbers) == expected, term


def test_a_benchmark_shows_its_full_run_once_it_is_kept(monkeypatch: pytest.MonkeyPatch):
    entry = {
        "day": "2026-11-22",
        "rows": [["calls", "5", "ms", "ms"], ["at most", "7", "ms", ""], ["dense", "", "ms", "dense"]],
    }
    monkeypatch.setattr(rows, "benchmarks", lambda: {"benchmarks.evaluate": entry})
    assert "| calls | 5 ms |" in rows.benchmark_tables({})
    assert "dense" not in rows.benchmark_tables({})
    run = Record("benchmarks.evaluate", "2026-12-01", "", "", 1.0, {}, {"ms": 4.0, "dense": 6.0})
    table = rows.benchmark_tables({run.study: run})
    assert "| calls | 4 ms |" in table
    assert "| at most | 7 ms | 2026-11-22 |" in table
    assert "| dense | 6 ms |" in table
