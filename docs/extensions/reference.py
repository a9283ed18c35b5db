"""Pages of the reference, one for every public name, made from the tables that `colloc` and its packages have of them.

Names are grouped by the package of colloc that defines them. Nothing is listed by hand: a new public name has its page
at the next build.
"""

import inspect
import re
import sys
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import Any

import sphinx.util.inspect
from docutils import nodes
from names import groups
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.typing import stringify_annotation

import colloc as co
from colloc.support.lazy import cached_property as made_once


def write(app: Sphinx) -> None:
    """The index, a page for every group, and one for every name."""
    source = Path(app.srcdir)
    folder = source / "reference"
    (folder / "names").mkdir(parents=True, exist_ok=True)
    found, uses = groups(), pages_by_name(source)
    for key, (title, names) in found.items():
        summary = "".join(f"   ~{name}\n" for name in names)
        entries = "".join(f"   names/{name}\n" for name in names)
        replace(
            folder / f"{key}.rst",
            f"{heading(title)}.. autosummary::\n   :nosignatures:\n\n{summary}\n.. toctree::\n   :hidden:\n\n{entries}",
        )
        for name in names:
            replace(folder / "names" / f"{name}.rst", page(name) + on_pages(uses.get(name, [])))
    rows = "".join(
        f"   * - :doc:`{title_in_menu(key, title)} <{key}>`\n     - {about(title, names)}\n"
        for key, (title, names) in found.items()
    )
    menu = "".join(f"   {title_in_menu(key, title)} <{key}>\n" for key, (title, _) in found.items())
    replace(folder / "index.rst", INDEX.format(rows=rows, menu=menu))


def title_in_menu(key: str, title: str) -> str:
    """Packages by name alone, the rest by title."""
    return title.partition(":")[0]


def about(title: str, names: list[str]) -> str:
    """The title that a package gives itself, or the names of a group."""
    if title.startswith("co."):
        return title.partition(": ")[2]
    return ", ".join(f":doc:`{name.partition('.')[2]} <names/{name}>`" for name in names)


def pages_by_name(source: Path) -> dict[str, list[tuple[str, str]]]:
    """Pages whose code uses a public name, as document and title, by the name."""
    uses: dict[str, list[tuple[str, str]]] = {}
    folders = ("tutorials", "howto", "theory", ".")
    for path in (path for folder in folders for path in sorted((source / folder).glob("*.md")) if path.stem != "index"):
        text = path.read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", text, re.M)
        code = "".join(re.findall(r"^```\{code-cell\}.*?^```$", text, re.S | re.M))
        names = set(re.findall(r"\bco\.((?:\w+\.){0,2}\w+)", code)) if title else set()
        # Of co.solver.Status.SOLVED the page is that of co.solver.Status.
        for name in sorted({".".join(name.split(".")[:end]) for name in names for end in (1, 2, 3)}):
            document = "/" + path.relative_to(source).with_suffix("").as_posix()
            uses.setdefault(f"colloc.{name}", []).append((document, title[1]))
    return uses


def on_pages(pages: list[tuple[str, str]]) -> str:
    """Links to pages that use a name, at most the first few."""
    links = ", ".join(f":doc:`{title} <{document}>`" for document, title in pages[:MOST])
    return f"\n.. rubric:: Used on these pages\n\n{links}\n" if pages else ""


def heading(title: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n"


def page(name: str) -> str:
    """The page of one public name."""
    thing = value(name)
    short = "co." + name.partition(".")[2]
    if not inspect.isclass(thing):
        kind = "function" if inspect.isfunction(thing) else "data"
        return f"{heading(short)}.. auto{kind}:: {name}\n"
    inherited = "   :inherited-members: tuple, str, Enum, Exception, Executor\n"
    members = f"   :members:\n{inherited}   :exclude-members: {HIDDEN}\n"
    return f"{heading(short)}.. autoclass:: {name}\n{members}"


def replace(path: Path, text: str) -> None:
    """Write a file if that changes it, so that pages without a change are not built again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


MOST = 6  # pages that the page of a name mentions
HIDDEN = "count, index, with_traceback, add_note, args"  # what every tuple or exception has

INDEX = """Reference
=========

These pages have every public name. Their examples share some names:

- ``co``, ``ca`` and ``np`` are colloc, CasADi and NumPy.
- ``two_link`` is the arm from ``colloc.models.two_link``, and ``model`` is ``two_link(9.81)``, the arm in gravity.
- ``problem`` and ``solution`` are those of the first script. The arm swings from rest to rest as fast as it can.
- ``q``, ``qd`` and ``qdd`` are symbols of its motion, such as ``ca.SX.sym("q", 2)``.
- ``chain`` is a four-bar linkage, ``colloc.models.closed.four_bar.four_bar()``.

.. list-table::
   :widths: 25 75

{rows}
.. toctree::
   :hidden:

{menu}"""


def linked(app: Sphinx, env: BuildEnvironment, node: pending_xref, text: nodes.TextElement) -> nodes.Node | None:
    """A link from `Solution`, `co.plot.joints` or `Status.SOLVED` in a docstring to its page.

    Other code in single quotes of the markup stays text, as do types of other libraries. None, and with that a warning,
    for a name of colloc that does not exist.
    """
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    name = re.sub(r"^(co|colloc)\.", "", re.match(r"[\w.]*", target)[0])
    ours = target.startswith(("co.", "colloc.")) or ("." in name and name.partition(".")[0] in dir(co))
    objects = env.domains["py"].objects
    # Packages of a few names first: `Status` is that of co.solver, not that of co.control.
    packages = sorted(co._PACKAGES, key=lambda package: not co._PACKAGES[package])
    for root in ("", *(f"{package}." for package in packages), "problem.ground."):
        place, (parent, _, last) = f"colloc.{root}{name}", f"colloc.{root}{name}".rpartition(".")
        if place not in objects and parent in objects and last in members(value(parent)):
            place = parent
        if place in objects and target.endswith(name):
            return env.domains["py"].resolve_xref(env, node["refdoc"], app.builder, node["reftype"], place, node, text)
    if ours and not exists(f"colloc.{name}"):
        return None
    union = alias(target)
    return nodes.inline(union, union) if union else text


def alias(name: str) -> str:
    """What a name stands for that modules of colloc give to a union of types; empty for other names."""
    for place, module in sorted(sys.modules.items()):
        if place.startswith("colloc.") and isinstance(union := vars(module).get(name), UnionType):
            return re.sub(r"~?\b(?:\w+\.)+", "", stringify_annotation(union, "smart"))
    return ""


def value(name: str) -> Any:
    """What has a full name."""
    module, _, last = name.rpartition(".")
    return getattr(import_module(module), last)


def members(thing: Any) -> set[str]:
    """Names of the attributes of a class."""
    return {*dir(thing), *getattr(thing, "__dataclass_fields__", ())} if inspect.isclass(thing) else set()


def exists(name: str) -> bool:
    """Whether a full name is that of a module, or of something in one."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            thing: Any = import_module(".".join(parts[:end]))
        except ModuleNotFoundError:
            continue
        for part in parts[end:]:
            if part in members(thing):
                return True
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def dressed(app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]) -> None:
    """Docstrings as reStructuredText: indented paragraphs before the first section are code, bars are bars."""
    sections = [k for k, line in enumerate(lines) if re.fullmatch(r"-{3,}", line)]
    end = sections[0] - 1 if sections else len(lines)
    text = [re.sub(r"\|(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\|", line) for line in lines]
    for k in range(end - 1, 0, -1):
        if text[k].startswith("    ") and not text[k - 1] and (k < 2 or not text[k - 2].startswith("    ")):
            text[k:k] = ["::", ""]
    lines[:] = text


# Sphinx writes the types of functools' properties only, and these are such.
sphinx.util.inspect.isproperty = lambda thing: isinstance(thing, property | cached_property | made_once)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)  # before autosummary looks for names
    app.connect("missing-reference", linked)
    app.connect("autodoc-process-docstring", dressed, priority=100)  # before numpydoc
    return {"parallel_read_safe": True, "parallel_write_safe": True}
