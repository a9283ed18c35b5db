"""Pages of the viewer as Chromium shows them, where it is installed: they run, and names stay text."""

import re
import shutil
import subprocess
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import colloc as co
from colloc.models.human.human55 import human55
from colloc.plot.viewer import SHARED, Viewer, page
from tests.plot.test_viewer import HOSTILE, Page
from tests.support.problems import time_optimal

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = "--headless --no-sandbox --disable-gpu --dump-dom"

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium")


def shown(file: Path, folder: Path, address: str = "", seconds: int = 3) -> str:
    """The elements of a page after some seconds of its own time."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS.split(), f"--virtual-time-budget={1000 * seconds}", f"--user-data-dir={folder}/profile"]
    command.append(f"{file.as_uri()}{address}")
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def text_of(elements: str, name: str) -> str:
    found = re.search(rf'id="{name}"[^>]*>(.*?)</', elements, re.DOTALL)
    assert found is not None, name
    return unescape(found[1])


def test_a_humanoid_is_played(tmp_path: Path):
    model, t = human55().model, np.linspace(0, 2, 81)
    q = 0.3 * np.sin(t[:, None] + np.arange(model.n))
    elements = shown(co.plot.view(model, q, t).save(tmp_path / "human.html"), tmp_path, "#t=1.5&theme=dark")
    assert text_of(elements, "clock") == "1.50 / 2.00 s"
    assert 'class="dark"' in elements
    assert elements.count('class="chip') == 52


def test_the_first_picture_waits_for_no_frame_of_the_browser(tmp_path: Path):
    t = np.linspace(0, 1, 11)
    file = co.plot.view(time_optimal().model, np.column_stack([t, -t]), t).save(tmp_path / "still.html")
    policy, no_frames = (
        r'<meta http-equiv="Content-Security-Policy"[^>]*>',
        "<script>requestAnimationFrame = () => 0;</script>",
    )
    file.write_text(re.sub(policy, no_frames, file.read_text(encoding="utf-8")), encoding="utf-8")
    assert text_of(shown(file, tmp_path, "#t=0.5"), "clock") == "0.50 / 1.00 s"


def test_iterates_of_a_solve_are_chosen_by_the_address(tmp_path: Path):
    viewer = co.plot.view(time_optimal())
    file = viewer.save(tmp_path / "iterates.html")
    solution = co.solve(time_optimal(), co.BSpline(8), progress=viewer)
    last = shown(file, tmp_path, "#play=0")
    assert text_of(last, "which") == "end"
    assert text_of(last, "detail").startswith(str(solution.status))
    first = shown(file, tmp_path, "#step=0&t=0")
    assert text_of(first, "which") == "iterate 0"
    assert text_of(first, "clock").split(" / ")[0] == "0.00"


def test_in_a_notebook_the_camera_stays_where_it_was_put(tmp_path: Path):
    """Two frames, one in place of the other, as notebooks do when a page is updated."""
    viewer = co.plot.view(time_optimal())
    frames = []

    def watch(now: co.refinement.Iteration) -> None:
        viewer(now)
        if now.number in (4, 8):
            viewer._show(viewer._drawn(now), live=True)
            frames.append(viewer._repr_html_())

    viewer.save(tmp_path / "iterates.html")
    co.solve(time_optimal(), co.BSpline(8), progress=watch)
    other = co.plot.view(time_optimal())
    other.save(tmp_path / "other.html")
    other._show(viewer._drawn(viewer._kept[0]), live=True)
    templates = "".join(f"<template>{frame}</template>" for frame in [*frames, other._repr_html_()])
    file = tmp_path / "notebook.html"
    file.write_text(
        f"""<div></div>{templates}<p id="seen"></p><script>
      const [output, said] = ["div", "p"].map(name => document.querySelector(name)), views = [];
      const keys = "dddwwws+";
      function show(number) {{
        output.replaceChildren(document.querySelectorAll("template")[number].content.cloneNode(true));
        const frame = output.querySelector("iframe");
        frame.onload = () => {{
          const page = frame.contentDocument, before = page.getElementById("camera").value;
          if (number === 0) for (const key of keys) page.dispatchEvent(new KeyboardEvent("keydown", {{ key: key }}));
          setTimeout(() => {{
            const scene = JSON.parse(page.getElementById("data").textContent);
            const state = new URLSearchParams(sessionStorage.getItem(scene.key));
            views.push([before, ...["turn", "tilt", "zoom"].map(name => (+state.get(name)).toFixed(4))].join(" "));
            if (number < 2) show(number + 1); else said.textContent = views.join("; ");
          }}, 600);
        }};
      }}
      show(0);</script>""",
        encoding="utf-8",
    )
    # A busy machine may not get to the end in a page's few seconds.
    said = next(filter(None, (text_of(shown(file, tmp_path, seconds=s), "seen") for s in (5, 20, 80))))
    first, second, third = said.split("; ")
    assert first.startswith("oblique ")
    assert second == first.replace("oblique", "free")
    assert third.startswith("oblique ")  # of another viewer
    assert third != first


def test_names_with_markup_are_shown_as_text(tmp_path: Path):
    joint = co.revolute(name="<img src=x onerror=alert(1)>")
    model = co.Model([co.Body("rod", joint, mass=1.0, com=(0.5, 0, 0))], name=HOSTILE)
    elements = shown(co.plot.view(model).save(tmp_path / "names.html"), tmp_path)
    assert text_of(elements, "detail") == "1 joint"
    assert "<img" not in re.sub(r"<script.*?</script>", "", elements, flags=re.DOTALL)
    assert elements.count("&lt;img src=x onerror=alert(1)&gt;") >= 1


def test_pages_run_with_their_script_beside_them(tmp_path: Path):
    t = np.linspace(0, 1, 11)
    viewer = co.plot.view(time_optimal().model, np.column_stack([t, -t]), t)
    for name in SHARED:
        shutil.copy(Path(co.__file__).parent / "plot" / name, tmp_path / name)
    file = tmp_path / "shared.html"
    file.write_text(page(Page(viewer).texts["script"][0], viewer.title, alone=False), encoding="utf-8")
    assert isinstance(viewer, Viewer)
    assert text_of(shown(file, tmp_path, "#t=0.5"), "clock") == "0.50 / 1.00 s"
