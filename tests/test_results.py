"""Numbers of full runs: what is kept of them, and when they are older than the code."""

from pathlib import Path

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
