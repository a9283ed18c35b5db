"""The gallery: every study with its question, what its file says, the command that runs it, and its picture.

Pictures lie in ``gallery/pictures``, made by the studies themselves: ``python docs/pictures.py``.
"""

import ast
import re
from itertools import groupby
from pathlib import Path

from reference import replace
from sphinx.application import Sphinx

import colloc
from colloc.__main__ import studies

FAMILIES = {
    "two_link": "Two-link arms",
    "arms": "Industrial arms, motors and springs",
    "classics": "Classic problems",
    "closed_chains": "Closed chains",
    "descents": "Descent methods",
    "sensitivities": "Sensitivities",
    "control": "Control",
    "tracking": "Measured motion",
    "jumping": "Jumping",
    "running": "Running",
    "walking": "Walking",
}
SOURCE = Path(colloc.__file__).parent / "studies"


def family_page(family: str, names: dict[str, str], pictures: Path) -> str:
    """All studies of a family on one page."""
    title = FAMILIES.get(family, family.replace("_", " ").capitalize())
    parts = [f"{title}\n{'=' * len(title)}\n"]
    for name, question in names.items():
        doc = ast.get_docstring(ast.parse((SOURCE / f"{name.replace('.', '/')}.py").read_text())) or ""
        about = doc.partition("\n")[2].strip()
        parts.append(f"{question}\n{'-' * len(question)}\n\n.. code-block:: sh\n\n   python -m colloc {name}\n")
        if (pictures / f"{name}.png").exists():
            parts.append(f".. image:: pictures/{name}.png\n   :class: picture\n   :alt: {question}\n")
        parts.append(plain(about) + "\n")
    return "\n".join(parts)


def plain(text: str) -> str:
    """A docstring as reStructuredText: what is indented stands as it is, signs of the markup are signs."""
    parts = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("    "):
            parts.append("::\n\n" + paragraph)
            continue
        pieces = re.split(r"(``.*?``)", paragraph)
        parts.append("".join(p if p.startswith("``") else re.sub(r"([*|`]|_\b)", r"\\\1", p) for p in pieces))
    return "\n\n".join(parts)


def write(app: Sphinx) -> None:
    """A page for every family, and the index with a picture of each study."""
    folder = Path(app.srcdir) / "gallery"
    pictures = folder / "pictures"
    known = {name: question for name, question in studies().items() if not name.startswith("benchmarks.")}
    families = {family: list(names) for family, names in groupby(known, lambda name: name.partition(".")[0])}
    order = [family for family in FAMILIES if family in families]
    order += [family for family in families if family not in FAMILIES]
    for family in order:
        replace(folder / f"{family}.rst", family_page(family, {n: known[n] for n in families[family]}, pictures))
    cards = []
    for name in (name for family in order for name in families[family]):
        image = f"      :img-top: pictures/{name}.png\n" if (pictures / f"{name}.png").exists() else ""
        cards.append(
            f"   .. grid-item-card:: {name}\n      :link: {name.partition('.')[0]}\n      :link-type: doc\n{image}\n"
            f"      {known[name]}\n"
        )
    contents = "".join(f"   {family}\n" for family in order)
    replace(
        folder / "index.rst",
        f"{HEAD}.. grid:: 1 2 2 3\n   :gutter: 3\n\n" + "\n".join(cards) + f"\n.. toctree::\n   :hidden:\n\n{contents}",
    )


HEAD = """Gallery
=======

Every study asks one question and answers it with a table, a figure and its numbers as JSON. ``python -m colloc`` lists
them, ``python -m colloc NAME`` runs one; ``--quick`` runs it on coarser grids. The pictures here are of quick runs.

"""


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
