"""Common parts of all studies: one command line that reports mistakes in one line, and names that follow from the
place.
"""

import ast
import json
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import colloc as co
from colloc import studies
from colloc.studies.reporting import Option, Row, arguments, finish, table
from tests.support.problems import time_optimal

ROOT = Path(studies.__file__).parent
DOCS = ROOT.parent / "docs"
LISTED = ("results.md", "benchmarks.md", "tables/results.toml", "tables/benchmarks.json")
PAGES = "".join((DOCS / page).read_text(encoding="utf-8") for page in LISTED)
DOC = """How long is a piece of string?

More of it.
"""
SHARED = re.compile(r"from colloc\.studies\.reporting import .*\barguments\b")
STUDIES = [path for path in sorted(ROOT.rglob("*.py")) if SHARED.search(path.read_text(encoding="utf-8"))]
OPTIONS = (Option("speed", 1.2, "m/s", above=0.0), Option("points", 13, "number", least=6), Option("mass", None, "kg"))


def name(path: Path) -> str:
    """Family and name of a study, from its path, or that of its package."""
    place = path.parent if path.stem == "__init__" else path.with_suffix("")
    return ".".join(place.relative_to(ROOT).parts)


@pytest.mark.parametrize("path", STUDIES, ids=name)
def test_every_study_asks_a_question_and_goes_by_its_place(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    question = (ast.get_docstring(tree) or "").splitlines()[0]
    assert question.endswith("?")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    named = [ast.literal_eval(call.args[0]) for call in calls if getattr(call.func, "id", "") == "arguments"]
    assert named == [name(path)]
    assert f'"{name(path)}"' in PAGES or f"`{name(path)}`" in PAGES


def test_no_two_files_of_studies_or_models_import_each_other():
    files = {
        ".".join(("colloc", *path.relative_to(ROOT.parent).with_suffix("").parts)).removesuffix(".__init__"): path
        for folder in ("studies", "models")
        for path in (ROOT.parent / folder).rglob("*.py")
    }
    graph: dict[str, set[str]] = {}
    for module, path in files.items():
        taken = [
            node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.ImportFrom)
        ]
        named = {f"{node.module}.{alias.name}" for node in taken for alias in node.names}
        graph[module] = ({str(node.module) for node in taken} | named) & files.keys() - {module}
    assert graph["colloc.studies.walking.problem"] >= {"colloc.studies.walking.step", "colloc.studies.walking.forces"}
    list(TopologicalSorter(graph).static_order())  # CycleError names a circle


def test_files_are_called_after_the_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    args = arguments("string.length", DOC, [])
    assert (args.figure, args.animation) == ("string_length.png", None)
    assert (args.json, args.quick, args.question) == (None, False, "How long is a piece of string?")


class _Film:
    """Notes what it is asked to write."""

    written: list[tuple[str, float]]

    def __init__(self):
        self.written = []

    def __call__(self, path: str, fps: float) -> None:
        self.written.append((path, fps))


def test_a_film_is_written_on_request():
    film = _Film()
    finish(arguments("string.length", DOC, []), {}, film)
    finish(arguments("string.length", DOC, ["--animation", "a.gif", "--quick"]), {}, film)
    assert film.written == [("a.gif", 10.0)]


@pytest.mark.parametrize(("file", "begins"), [("swing.html", b"<!DOCTYPE html>"), ("swing.gif", b"GIF8")])
def test_the_film_of_a_solution_is_a_viewer_or_a_stick_figure(file: str, begins: bytes, tmp_path: Path):
    args = arguments("string.length", DOC, ["--animation", str(tmp_path / file), "--quick"])
    finish(args, {}, co.solve(time_optimal(), co.BSpline(6), plan=[co.refinement.Solve(tol=1.0)], progress=False))
    assert (tmp_path / file).read_bytes().startswith(begins)


@pytest.mark.parametrize("path", STUDIES, ids=name)
def test_every_study_draws_and_every_one_with_a_motion_films(path: Path):
    """Benchmarks print, and one draws times; that costs grow with the joints, or are those of others, is no motion."""
    calls = [node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    made = {call.func.id: call for call in calls if isinstance(call.func, ast.Name)}
    options_off = {word.arg for word in made["arguments"].keywords if not getattr(word.value, "value", True)}
    benchmark = name(path).startswith("benchmarks.")
    assert ("figure" in options_off) == (benchmark and name(path) != "benchmarks.ticks")
    still = name(path) in ("sensitivities.formulations", "classics.published") or benchmark
    assert len(made["finish"].args) == (2 if still else 3)


def test_options_are_numbers():
    args = arguments("string.length", DOC, ["--speed", "2", "--points", "8"], options=OPTIONS)
    assert (args.speed, args.points, args.mass) == (2.0, 8, None)
    assert isinstance(args.points, int)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--speed", "-1"], "argument --speed: must be above 0, got -1"),
        (["--speed", "fast"], "argument --speed: must be a number, got 'fast'"),
        (["--speed", "inf"], "argument --speed: must be a number, got 'inf'"),
        (["--points", "5"], "argument --points: must be at least 6, got 5"),
        (["--points", "6.5"], "argument --points: must be a whole number, got '6.5'"),
        (["--figure", "a.txt"], "file name must end in .png or .pdf or .svg, got 'a.txt'"),
        (["--animation", "a.mp4"], "file name must end in .html or .gif, got 'a.mp4'"),
        (["--json", "no/such/place.json"], f"directory {str(Path('no/such'))!r} of 'place.json' does not exist"),
        (["--slow"], "unrecognized arguments: --slow"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_are_reported_in_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        arguments("string.length", DOC, words, options=OPTIONS)
    assert ended.value.code == 2
    assert capsys.readouterr().err == f"python -m colloc string.length: {message}\n"


def test_numbers_are_written_and_returned(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    file, figure = tmp_path / "numbers.json", tmp_path / "figure.png"
    args = arguments("string.length", DOC, ["--json", str(file), "--figure", str(figure)])
    assert finish(args, {"length": 2.0}) == json.loads(file.read_text(encoding="utf-8")) == {"length": 2.0}
    assert capsys.readouterr().out == f"  figure: {figure}\n"


def test_ours_stands_beside_the_reference():
    shown = table("Lengths", [Row("length [m]", 2.0, 1.5, "a ruler"), Row("error", 1e-9)], ["  a note"])
    assert "2.00000000  1.50000000  +5.0e-01    a ruler" in shown
    assert "1.00e-09" in shown
    assert shown.splitlines()[-1] == "  a note"
