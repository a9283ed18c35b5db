"""The pages: what they name exists, and what they print as code is run when they are built."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import colloc as co
from colloc.__main__ import studies

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
menu, panels = import_module("menu"), import_module("panels")
PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if "build" not in path.parts)
IDS = [str(path.relative_to(ROOT)) for path in PAGES]


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_all_python_on_a_page_is_run(path: Path):
    """Other tools' code is text; ours is in cells, which the build runs."""
    for language, code in re.findall(r"^```([^\n]*)\n(.*?)^```$", path.read_text(encoding="utf-8"), re.S | re.M):
        assert language, f"a block without a language in {path}"
        assert not (language in {"python", "py"} and "import colloc" in code), f"code that nobody runs in {path}"


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_names_on_a_page_exist(path: Path):
    for name in re.findall(r"\bco\.((?:\w+\.)*\w+)", path.read_text(encoding="utf-8")):
        thing: object = co
        for part in name.split("."):
            if thing is not co and not hasattr(thing, "__all__"):
                break  # an attribute of a class or of an answer
            assert hasattr(thing, part), f"co.{name} in {path}"
            thing = getattr(thing, part)


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_studies_on_a_page_exist(path: Path):
    known = studies()
    words = {*known, *(name.rpartition(".")[2] for name in known), "NAME", "STUDY", "FAMILY.NAME", "benchmarks.NAME"}
    for name in re.findall(r"python -m colloc (\w[\w.]+)", path.read_text(encoding="utf-8")):
        assert name in words, f"{name} in {path}"


GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = r"`((?:[\w.-]+/)+(?:[\w-]+\.\w+)?|[\w-]+\.(?:py|md|toml))`"  # folders and files


def test_files_that_the_guide_for_contributors_names_exist():
    names = re.findall(NAMED, GUIDE)
    assert len(names) > 50
    for name in names:
        assert (ROOT / name).exists() or name == "index.md", name


def test_what_the_tables_of_the_guide_name_is_in_the_files_of_its_row():
    for row in re.findall(r"^\| .*`.*\|$", GUIDE, re.M):
        paths = [ROOT / name for name in re.findall(NAMED, row)]
        files = [file for path in paths for file in ([path] if path.is_file() else path.rglob("*.py"))]
        words = {word for file in files for word in re.findall(r"\w+", file.read_text(encoding="utf-8"))}
        assert set(re.findall(r"`(\w+)`", row)) <= words, row


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_of_the_front_door_lead_somewhere(name: str):
    links = re.findall(r"\]\(([^)#]+)", (ROOT / name).read_text(encoding="utf-8"))
    for link in links:
        assert link.startswith("https://") or (ROOT / link).exists(), link


def test_the_menu_of_a_folder_is_marked_for_each_of_its_pages():
    """As Sphinx marks it for a page by itself."""

    def written(current: str) -> str:
        """Two folders of two pages each, and a page."""

        def entry(level: int, page: str, text: str, below: str = "") -> str:
            mark, link = (" current", "#") if page == current else ("", f"{page}.html")
            mark = mark or (" current" if 'href="#"' in below else "")
            look = "current reference" if link == "#" else "reference"
            return f'<li class="toctree-l{level}{mark}"><a class="{look} internal" href="{link}">{text}</a>{below}</li>'

        folders = (entry(1, k, k, "".join(f"<ul>{entry(2, f'{k}{p}', p)}</ul>" for p in "xy")) for k in "ab")
        return f"<ul>{''.join(folders)}{entry(1, 'c', 'c')}</ul>"

    def plain(text: str) -> str:
        return text.replace("current reference", "reference")

    neutral = menu.unmarked(written("ay"), "ay.html")
    assert neutral == written("nowhere")
    for page in ("a", "ax", "ay", "b", "bx", "by", "c"):
        assert menu.marked(neutral, f"{page}.html") == plain(written(page)), page
    assert menu.marked(neutral, "d.html") == neutral


def test_the_gallery_cuts_panels_along_white_lines():
    """Two dark panels, 190 by 90 and 80 by 40 pixels, and edges that are sought two pixels within the first."""
    ink = np.full((100, 300), 255, np.uint8)
    ink[5:95, 5:195] = 0
    ink[5:45, 205:285] = 0
    panel = panels.cut(Image.fromarray(ink), (0.0, 0.0, 0.644, 1.0))
    dark = np.asarray(panel.convert("L")) == 0
    assert dark.any(axis=0).sum() == 190
    assert dark.any(axis=1).sum() == 90
    assert panel.size == (190 + 2 * panels.MARGIN, 90 + 2 * panels.MARGIN)


def test_panels_are_those_of_studies_and_all_of_one_size(tmp_path: Path):
    assert set(panels.PANELS) <= set(studies())
    for picture in sorted((ROOT / "docs" / "gallery" / "pictures").glob("two_link.*.png")):
        panels.thumbnail(picture, tmp_path / picture.name)
        with Image.open(tmp_path / picture.name) as image:
            assert image.size == panels.SIZE


def test_scenes_are_those_of_players_and_have_all_that_the_viewer_reads():
    sys.path.insert(0, str(ROOT / "docs"))
    results = import_module("results")
    assert set(results.FRAMES) <= results.PLAYED - set(panels.PANELS)
    for name in results.FRAMES:
        with Image.open(results.SCENES.parent / "frames" / f"{name}.png") as image:
            assert image.size == panels.SIZE
    assert {path.stem for path in results.SCENES.glob("*.json")} == results.PLAYED
    arm = co.Model([co.Body("rod", co.revolute(), mass=1.0, com=(0.5, 0, 0))])
    viewer = co.plot.view(arm, np.zeros((2, 1)), (0.0, 1.0))
    expected = json.loads(results.scene_in(viewer.page))
    for path in results.SCENES.glob("*.json"):
        scene = json.loads(path.read_text(encoding="utf-8"))
        assert set(expected) - {"series", "live", "key"} <= set(scene)
        for recording in scene["recordings"]:
            assert set(recording) == set(expected["recordings"][0])
            for segment in recording["segments"]:
                assert set(segment) == set(expected["recordings"][0]["segments"][0])
