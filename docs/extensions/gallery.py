"""The gallery: every study with its question, its docstring, the command that runs it, its picture and its player.

Studies make the pictures in ``gallery/pictures`` and the scenes in ``gallery/scenes``: ``python docs/results.py``. This
module writes the players to ``static/players``. They share one script.
"""

import ast
import html
import json
import os
import re
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from panels import thumbnail
from reference import replace
from sphinx.application import Sphinx

import colloc.studies
from colloc.__main__ import studies
from colloc.plot.viewer import SHARED, page
from colloc.studies.results import records

FAMILIES = {
    "two_link": "Two-link arms",
    "arms": "Industrial arms, motors and springs",
    "robots": "Robots that fly, roll and pull",
    "classics": "Classic problems",
    "closed_chains": "Closed chains",
    "descents": "Descent methods",
    "sensitivities": "Sensitivities",
    "control": "Control",
    "tracking": "Measured motion",
    "jumping": "Jumping",
    "running": "Running",
    "rising": "Standing up",
    "walking": "Walking",
}
WIDE, HIGH = 1000, 640  # pixels of a player
SOURCE = Path(colloc.studies.__path__[0])


def family_page(family: str, names: dict[str, str], pictures: Path, scenes: Path) -> str:
    """All studies of a family on one page."""
    title = family_title(family)
    parts, full = [f"{title}\n{'=' * len(title)}\n"], records()
    for name, question in names.items():
        source = SOURCE / f"{name.replace('.', '/')}.py"
        source = source if source.exists() else source.with_suffix("") / "__init__.py"
        doc = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
        about = doc.partition("\n")[2].strip()
        parts.append(f".. _study-{name}:\n\n{question}\n{'-' * len(question)}\n")
        parts.append(f".. code-block:: sh\n\n   python -m colloc {name}\n")
        if (pictures / f"{name}.png").exists():
            parts.append(f".. image:: pictures/{name}.png\n   :class: picture\n   :alt: {question}\n")
            parts.append(f"*{f'Full run of {full[name].date}' if name in full else 'Quick run'}.*\n")
        if (scenes / f"{name}.json").exists():
            parts.append(player(name))
        parts.append(plain(about) + "\n")
        parts.append(f":download:`The study as a script <{os.path.relpath(source, pictures.parent)}>`\n")
    return "\n".join(parts)


def player(name: str) -> str:
    """A page that plays, in a frame that is not loaded before readers come to it."""
    look = f"max-width: {WIDE}px; aspect-ratio: {WIDE} / {HIGH}"
    title = html.escape(f"Player of {name}")
    source = f"../_static/players/{name}.html"
    frame = f'<iframe class="player" src="{source}" title="{title}" loading="lazy" style="{look}"></iframe>'
    link = f'<p class="player"><a href="{source}">The motion on a page of its own</a></p>'
    return f".. raw:: html\n\n   {frame}\n   {link}\n"


def write_players(scenes: Path, players: Path) -> None:
    """A page for every scene, and what they share."""
    players.mkdir(exist_ok=True)
    for name in SHARED:
        replace(players / name, files("colloc.plot").joinpath(name).read_text(encoding="utf-8"))
    for scene in scenes.glob("*.json"):
        data = scene.read_text(encoding="utf-8").strip()
        replace(players / f"{scene.stem}.html", page(data, json.loads(data)["title"], alone=False))


def plain(text: str) -> str:
    """A docstring as reStructuredText: what is indented stands as it is, signs of the markup are signs."""
    parts = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("    "):
            parts.append("::\n\n" + paragraph)
            continue
        pieces = re.split(r"(``.*?``|`[^`]+`)", paragraph)
        # Names in single quotes of the markup are code, as most are of studies, which have no pages to lead to.
        parts.append(
            "".join(f"``{p.strip('`')}``" if p[:1] == "`" else re.sub(r"([*|`]|_\b)", r"\\\1", p) for p in pieces)
        )
    return "\n\n".join(parts)


def write(app: Sphinx) -> None:
    """A page for every family, and the index with a picture of each study."""
    folder = Path(app.srcdir) / "gallery"
    pictures, scenes = folder / "pictures", folder / "scenes"
    write_players(scenes, Path(app.srcdir) / "static" / "players")
    known = {name: question for name, question in studies().items() if not name.startswith("benchmarks.")}
    families = {family: list(names) for family, names in groupby(known, lambda name: name.partition(".")[0])}
    order = [family for family in FAMILIES if family in families]
    order += [family for family in families if family not in FAMILIES]
    for family in order:
        names = {name: known[name] for name in families[family]}
        replace(folder / f"{family}.rst", family_page(family, names, pictures, scenes))
    (folder / "thumbnails").mkdir(exist_ok=True)
    parts = [card_row(family, {n: known[n] for n in families[family]}, folder) for family in order]
    contents = "".join(f"   {family}\n" for family in order)
    replace(folder / "index.rst", f"{HEAD}{''.join(parts)}.. toctree::\n   :hidden:\n\n{contents}")


def family_title(family: str) -> str:
    return FAMILIES.get(family, family.replace("_", " ").capitalize())


def card_row(family: str, names: dict[str, str], folder: Path) -> str:
    """Studies of a family with a frame of their players or a panel of their pictures, linked to the family's page."""
    title = family_title(family)
    head = f"{title}\n{'-' * len(title)}\n\n.. grid:: 1 2 2 2\n   :gutter: 3\n\n"
    cards = []
    for name, question in names.items():
        image = ""
        if (folder / "frames" / f"{name}.png").exists():
            image = f"      :img-top: frames/{name}.png\n      :img-alt: The player of {name} at one time\n"
        elif (picture := folder / "pictures" / f"{name}.png").exists():
            thumbnail(picture, folder / "thumbnails" / picture.name)
            image = f"      :img-top: thumbnails/{name}.png\n      :img-alt: One panel of the picture of {name}\n"
        cards.append(
            f"   .. grid-item-card:: {name.partition('.')[2]}\n      :link: study-{name}\n      :link-type: ref\n"
            f"{image}\n      {question}\n\n"
        )
    return head + "".join(cards)


HEAD = """Gallery
=======

Each study asks one question. Its answer is a table, a figure, and numbers as JSON. ``python -m colloc`` lists the
studies, and ``python -m colloc NAME`` runs one. With ``--quick`` it runs on coarser grids. A line below each picture
says whether it shows a full or a quick run.

"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
