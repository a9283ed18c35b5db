"""The viewer of a problem shows the iterates of a solve, while it runs and afterwards."""

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.plot import live
from colloc.plot.live import LiveViewer
from tests.plot.test_viewer import scene_of, unpacked
from tests.support.problems import time_optimal

CURVE = co.BSpline(8)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """All kept iterates are in the last page, however slow this machine is today."""
    monkeypatch.setattr(live, "_LEAST", 1e9)


def viewer_of(problem: co.Problem) -> LiveViewer:
    return co.plot.view(problem)


def file_said(words: str) -> Path:
    """The file of which a line on standard error speaks."""
    begin, _, address = words.strip().partition("file://")
    assert begin == "colloc: the iterates are shown at "
    return Path(address)


def test_the_page_holds_the_iterates_and_the_answer(capsys: pytest.CaptureFixture[str]):
    seen: list[co.refinement.Iteration] = []
    viewer = viewer_of(time_optimal())
    assert [recording["name"] for recording in scene_of(viewer)["recordings"]] == ["guess"]

    class Both:
        """Messages to the viewer, and those at the end."""

        def __call__(self, now: co.refinement.Iteration) -> None:
            seen.append(now)
            viewer(now)

        def finish(self, answer: Any) -> None:
            assert isinstance(answer, co.Solution)
            viewer.finish(answer)

    solution = co.solve(time_optimal(), CURVE, plan=[co.refinement.Solve(between="nodes")], progress=Both())
    scene = scene_of(viewer)
    assert scene["series"]
    assert not scene["live"]
    *iterates, end = scene["recordings"]
    assert len(iterates) == len(seen) == solution.iterations + 1 <= 25
    assert [r["name"] for r in iterates] == [f"iterate {k}" for k in range(len(seen))]
    for now, recording in zip(seen, iterates, strict=True):
        (segment,) = recording["segments"]
        t = unpacked(segment["t"])[:, 0]
        assert t[-1] == pytest.approx(now.solution.duration, rel=1e-6)
        position = next(group for group in segment["groups"] if group["label"] == "position")
        q = now.solution.at(t.clip(0, now.solution.duration)).q
        np.testing.assert_allclose(unpacked(position["values"]), q, atol=1e-3)
    assert end["name"] == "end"
    assert end["detail"].startswith(f"{solution.status}, cost ")
    assert unpacked(end["segments"][0]["t"])[-1, 0] == pytest.approx(solution.duration)
    assert file_said(capsys.readouterr().err).read_text(encoding="utf-8") == viewer.page


def test_many_iterates_are_thinned_evenly(tmp_path: Path):
    viewer = viewer_of(time_optimal())
    viewer.save(tmp_path / "iterates.html")
    solution = co.solve(time_optimal(), CURVE, plan=[co.refinement.Solve(between="nodes")], progress=viewer)
    count, numbers = solution.iterations + 1, []
    last = co.refinement.Iteration(0, 1.0, 0.1, 0.0, solution.nlp, solution.x, solution.parameters)
    for number in range(100 + count):
        viewer(replace(last, number=number))
        numbers.append(number)
    viewer.finish(None)
    names = [recording["name"] for recording in scene_of(viewer)["recordings"]]
    kept = [int(name.removeprefix("iterate ")) for name in names]
    assert len(kept) <= live._KEPT + 1
    assert kept[0] == 0
    assert kept[-1] == numbers[-1]
    assert len(set(np.diff(kept[:-1]))) == 1


def test_the_file_to_which_it_was_saved_is_kept_up_to_date(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(live, "_PAUSE", 0.0)
    monkeypatch.setattr(live, "_SHARE", 1e9)
    viewer, file = viewer_of(time_optimal()), tmp_path / "iterates.html"
    viewer.save(file)
    pages: list[str] = []
    show = viewer._show

    def watch(*arguments: Any, **options: Any) -> None:
        show(*arguments, **options)
        pages.append(file.read_text(encoding="utf-8"))

    monkeypatch.setattr(viewer, "_show", watch)
    co.solve(time_optimal(), CURVE, progress=viewer)
    counts = [page.count('"name":"iterate ') for page in pages[:-1]]
    assert len(counts) > 3
    assert counts == sorted(counts)
    assert all('"live":true' in page for page in pages[:-1])
    assert '"live":false' in pages[-1]
    assert pages[-1] == viewer.page
    assert capsys.readouterr().err == ""


def test_pages_take_a_small_share_of_a_solve(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """By a clock of the test's: pages take a second each, iterations 0.2 s."""
    monkeypatch.setattr(live, "_LEAST", 0.3)
    now = [0.0]
    monkeypatch.setattr(live.time, "perf_counter", lambda: now[0])
    viewer = viewer_of(time_optimal())
    viewer.save(tmp_path / "iterates.html")
    solution = co.solve(time_optimal(), CURVE, progress=viewer)
    iteration = co.refinement.Iteration(0, 1.0, 0.1, 0.0, solution.nlp, solution.x, solution.parameters)
    shown: list[float] = []

    def show(*_: Any, **__: Any) -> None:
        now[0] += 1.0
        shown.append(now[0])

    monkeypatch.setattr(viewer, "_show", show)
    for number in range(1000):
        viewer(replace(iteration, number=number))
        now[0] += 0.2
        assert len(shown) <= 1 + 1 + 0.03 * now[0]
    assert len(shown) >= 5


def test_the_last_page_has_fewer_iterates_where_they_take_long(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(live, "_LEAST", 0.0)
    monkeypatch.setattr(live, "_SHARE", 1e-9)
    viewer = viewer_of(time_optimal())
    viewer.save(tmp_path / "iterates.html")
    co.solve(time_optimal(), CURVE, progress=viewer)
    names = [recording["name"] for recording in scene_of(viewer)["recordings"]]
    assert names[0] == "iterate 0"
    assert names[-1] == "end"
    assert 3 <= len(names) <= live._FEW + 2


def test_a_solve_that_fails_leaves_its_last_iterate(tmp_path: Path):
    impossible = replace(time_optimal(), duration=0.05)
    viewer, file = viewer_of(impossible), tmp_path / "iterates.html"
    viewer.save(file)
    with pytest.raises(co.SolveError):
        co.solve(impossible, CURVE, progress=viewer)
    end = scene_of(viewer)["recordings"][-1]
    assert end["name"] == "end"
    assert end["detail"].startswith("infeasible")
    before, guess = viewer.page, co.line((0.0,), (1.0,))  # of one joint
    with pytest.raises(co.InputError):
        co.solve(impossible, CURVE, guess=guess, progress=viewer)
    assert viewer.page == before


def test_refinements_say_the_round_and_a_viewer_begins_again(tmp_path: Path):
    viewer = viewer_of(time_optimal())
    viewer.save(tmp_path / "iterates.html")
    rough = co.solve(time_optimal(), co.BSpline(4), progress=viewer, plan=[co.refinement.Solve(tol=1.0)])
    first = {recording["name"] for recording in scene_of(viewer)["recordings"]}
    co.refine(rough, 1e-2, progress=viewer)
    second = {recording["name"] for recording in scene_of(viewer)["recordings"]} - {"end"}
    assert second
    assert all(name.startswith("round ") for name in second)
    assert not first & second


def test_a_notebook_shows_it_below_the_cell(monkeypatch: pytest.MonkeyPatch):
    pages: list[str] = []

    class Handle:
        def update(self, shown: LiveViewer) -> None:
            pages.append(shown.page)

    def display(shown: LiveViewer, *, display_id: bool) -> Handle:
        assert display_id
        pages.append(shown.page)
        return Handle()

    module = ModuleType("IPython.display")
    module.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ModuleType("IPython"))
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(live, "in_notebook", lambda: True)
    monkeypatch.setattr(live, "_PAUSE", 0.0)
    viewer = viewer_of(time_optimal())
    co.solve(time_optimal(), CURVE, progress=viewer)
    assert len(pages) >= 2
    assert pages[-1] == viewer.page
    assert '"live":true' in pages[0]


def test_the_answer_is_passed_to_any_object_with_a_method_for_it():
    class Watcher:
        answers: list[Any]

        def __init__(self):
            self.answers = []

        def __call__(self, now: co.refinement.Iteration) -> None:
            if now.number == 5:
                raise RuntimeError("enough")

        def finish(self, answer: Any) -> None:
            self.answers.append(answer)

    watcher = Watcher()
    with pytest.raises(RuntimeError, match="enough"):
        co.solve(time_optimal(), CURVE, progress=watcher)
    assert watcher.answers == [None]
