"""Every page with code as a script and as a notebook, to download below its title.

What a notebook shows below a cell, a script prints, or saves beside itself if it is a picture. Links to other pages are
words in both.
"""

import ast
import re
from pathlib import Path
from textwrap import indent
from typing import Any

import nbformat
from myst_nb.core.read import read_myst_markdown_notebook
from sphinx.application import Sphinx

FOLDER = "downloads"


def notebook(text: str) -> nbformat.NotebookNode:
    """A page as a notebook that has not run."""
    pages = read_myst_markdown_notebook(text)
    pages.metadata = {"kernelspec": pages.metadata["kernelspec"], "language_info": {"name": "python"}}
    for number, cell in enumerate(pages.cells):
        cell.id = f"cell-{number}"  # the same at every build
        if cell.cell_type == "markdown":
            cell.source = words(cell.source)
    pages.cells = [cell for cell in pages.cells if cell.source]
    nbformat.validate(pages)
    return pages


def words(text: str) -> str:
    """Markdown for any reader: without directives and pictures of the site, links to its pages as words."""
    text = re.sub(r"^```\{.*?^```$", "", text, flags=re.M | re.S)
    text = re.sub(r"!\[[^\]]*\]\((?!https?:)[^)]*\)", "", text)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def script(pages: nbformat.NotebookNode, stem: str) -> str:
    """A notebook as a script, with cells as editors know them."""
    parts, pictures = [], 0
    for cell in pages.cells:
        if cell.cell_type == "markdown":
            lines = (f"# {line}".rstrip() for line in cell.source.splitlines())
            parts.append("\n".join(("# %% [markdown]", *lines)))
            continue
        code = shown(cell.source, f"{stem}_{pictures + 1}")
        pictures += f'"{stem}_{pictures + 1}.' in code
        if "raises-exception" in cell.metadata.get("tags", ()):
            code = f"try:\n{indent(code, '    ')}\nexcept Exception as error:\n    print(repr(error))"
        parts.append(f"# %%\n{code}")
    text = "\n\n".join(parts) + "\n"
    compile(text, stem, "exec")
    return text


def shown(code: str, picture: str) -> str:
    """Code whose last line, where that is a value, is printed, or saved as a picture of this name."""
    last = ast.parse(code).body[-1]
    if not isinstance(last, ast.Expr) or code.splitlines()[last.lineno - 1].startswith("print("):
        return code
    lines = code.splitlines()
    value = ast.get_source_segment(code, last)
    comment = lines[last.end_lineno - 1].encode()[last.end_col_offset :].decode()
    if value == "figure" or re.match(r"co\.plot\.(?!save_figure|animate|view)", value):
        value = f'co.plot.save_figure({value}, "{picture}.png")'
    elif re.match(r"co\.plot\.view\(.*\)$", value, flags=re.S) and ".save(" not in value:
        value = f'{value}.save("{picture}.html")'
    return "\n".join((*lines[: last.lineno - 1], f"print({value}){comment}"))


def offer(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Writes both, and a line below the title that leads to them."""
    source = Path(app.srcdir) / f"{page}.md"
    if (
        "body" not in context
        or not source.exists()
        or "```{code-cell}" not in (text := source.read_text(encoding="utf-8"))
    ):
        return
    target = Path(app.outdir) / FOLDER / page
    target.parent.mkdir(parents=True, exist_ok=True)
    pages = notebook(text)
    target.with_suffix(".ipynb").write_text(nbformat.writes(pages), encoding="utf-8")
    target.with_suffix(".py").write_text(script(pages, target.name), encoding="utf-8")
    script_link, notebook_link = (
        f'<a href="{context["pathto"](f"{FOLDER}/{page}{suffix}", resource=True)}" download>{name}</a>'
        for suffix, name in ((".py", "script"), (".ipynb", "notebook"))
    )
    line = f'<p class="downloads">This page as a {script_link}, as a {notebook_link}</p>'
    context["body"] = context["body"].replace("</h1>", f"</h1>\n{line}", 1)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", offer)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
