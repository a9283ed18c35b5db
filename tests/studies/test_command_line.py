"""``python -m colloc``: the list of studies, the study that a word means, and what is said when it means none."""

import subprocess
import sys

import pytest

from colloc.__main__ import chosen, main, studies

KNOWN = {"walking.gait": "?", "walking.speeds": "?", "two_link.starts": "?", "walking.starts": "?"}


def test_every_study_is_listed_with_its_question(capsys: pytest.CaptureFixture[str]):
    assert main([]) == 0
    shown = capsys.readouterr().out
    for name, question in studies().items():
        assert f"\n{name} " in shown
        assert question in shown
    assert "walking.gait" in studies()
    assert len(studies()) > 40


@pytest.mark.parametrize(("word", "name"), [("walking.starts", "walking.starts"), ("gait", "walking.gait")])
def test_a_study_goes_by_its_name(word: str, name: str):
    assert chosen(word, KNOWN) == name


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("gate", "there is no study 'gate'; did you mean gait?"),
        ("xyzzy", "there is no study 'xyzzy' (python -m colloc lists all)"),
        ("benchmarks.scaling", "the study benchmarks.scaling is not installed with the package: run it from a"),
        ("starts", "more than one study is called starts: two_link.starts, walking.starts"),
    ],
)
def test_a_word_that_means_no_study(word: str, message: str):
    with pytest.raises(ValueError, match="study") as refused:
        chosen(word, KNOWN)
    assert str(refused.value).startswith(message)


def test_words_of_the_study_reach_it():
    command = [sys.executable, "-m", "colloc", "gait", "--speed", "fast"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "python -m colloc walking.gait: argument --speed: must be a number, got 'fast'\n"


def test_a_reader_that_has_gone_is_no_error():
    """As of ``python -m colloc | head``."""
    command = [sys.executable, "-m", "colloc"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stderr is not None
        run.stdout.close()
        assert run.stderr.read() == ""


def test_what_a_study_needs_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setitem(sys.modules, "pinocchio", None)
    for name in [name for name in sys.modules if name.startswith("colloc.studies.benchmarks.")]:
        monkeypatch.delitem(sys.modules, name)
    assert main(["benchmarks.honesty"]) == 2
    assert "benchmarks.honesty compares with pinocchio" in capsys.readouterr().err
