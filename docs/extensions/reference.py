"""Pages of the reference, one for every public name, made from what the packages list in `__all__`.

Names are grouped by the package of colloc that defines them. Nothing is listed by hand: a new public name has its page
at the next build.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from names import groups
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment


def write(app: Sphinx) -> None:
    """The index, a page for every group, and one for every name."""
    folder = Path(app.srcdir) / "reference"
    (folder / "names").mkdir(parents=True, exist_ok=True)
    found = groups()
    for key, (title, names) in found.items():
        summary = "".join(f"   ~{name}\n" for name in names)
        entries = "".join(f"   names/{name}\n" for name in names)
        replace(
            folder / f"{key}.rst",
            f"{heading(title)}.. autosummary::\n\n{summary}\n.. toctree::\n   :hidden:\n\n{entries}",
        )
        for name in names:
            replace(folder / "names" / f"{name}.rst", page(name))
    replace(folder / "index.rst", INDEX + "".join(f"   {key}\n" for key in found))


def heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def page(name: str) -> str:
    """The page of one public name."""
    module, _, last = name.rpartition(".")
    value = getattr(import_module(module), last)
    short = "co." + name.partition(".")[2]
    if not inspect.isclass(value):
        kind = "function" if inspect.isfunction(value) else "data"
        return f"{heading(short)}.. auto{kind}:: {name}\n"
    members = f"   :members:\n   :inherited-members: tuple, str, Enum, Exception\n   :exclude-members: {HIDDEN}\n"
    return f"{heading(short)}.. autoclass:: {name}\n{members}"


def replace(path: Path, text: str) -> None:
    """Write a file if that changes it: what has not changed is not built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


HIDDEN = "count, index, with_traceback, add_note, args"  # what every tuple or exception has

INDEX = """Reference
=========

Every public name. In the examples ``co`` is ``import colloc as co``, ``ca`` is ``import casadi as ca``, ``np`` is NumPy
and ``two_link`` the arm from ``colloc.models.two_link``; ``problem`` and ``solution`` are those of the first script:
this arm swings from rest to rest, as fast as its torques allow.

.. toctree::
   :maxdepth: 1

"""


def linked(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.Node | None:
    """What docstrings call `Solution` or `co.plot.joints` is a link to colloc.Solution and colloc.plot.joints."""
    if node.get("refdomain") != "py":
        return None
    target = re.sub(r"^(co|colloc)\.", "", node["reftarget"])
    objects = env.domains["py"].objects
    places = [f"colloc.{target}", *(f"colloc.{root}.{target}" for root in ("dynamics", "plot", "loops"))]
    for name in places:
        if name in objects:
            return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], name, node, text)
    return None


def dressed(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings as reStructuredText: indented paragraphs before the first section are code, bars are bars."""
    sections = [k for k, line in enumerate(lines) if re.fullmatch(r"-{3,}", line)]
    end = sections[0] - 1 if sections else len(lines)
    text = [re.sub(r"\|(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\|", line) for line in lines]
    for k in range(end - 1, 0, -1):
        if text[k].startswith("    ") and not text[k - 1] and (k < 2 or not text[k - 2].startswith("    ")):
            text[k:k] = ["::", ""]
    lines[:] = text


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)  # before autosummary looks for names
    app.connect("missing-reference", linked)
    app.connect("autodoc-process-docstring", dressed, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
