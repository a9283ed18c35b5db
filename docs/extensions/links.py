"""Every link of the finished pages that stays among them leads somewhere: to a file, and to a place in it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError


class Page(HTMLParser):
    """Links and anchors of a page.

    Attributes
    ----------
    links, anchors : set of str
    """

    def __init__(self, text: str):
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in {"href", "src"} and value:
                self.links.add(value)
            elif name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value or "")


def broken(folder: Path) -> list[str]:
    """Links of the pages in a folder that lead nowhere, each with its page."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(folder.rglob("*.html"))}
    lost = []
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else None
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and anchors is not None and anchor not in anchors):
                lost.append(f"{link} on {path.relative_to(folder.resolve())}")
    return lost


def check(app: Sphinx, failure: Exception | None) -> None:
    """ExtensionError for links that lead nowhere."""
    if failure is None and app.builder.name == "html" and (lost := broken(Path(app.outdir))):
        raise ExtensionError(f"{len(lost)} links lead nowhere: {'; '.join(lost[:20])}")


def point_back(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Links from the code to its page, as viewcode takes all that a module defines for names of one package."""

    def corrected(link: re.Match[str]) -> str:
        name, place = link[2], link[3]
        last = name.rpartition(".")[2]
        return f'{link[1]}{name}.html#{name}{place.partition(f".{last}")[2]}"'

    if pagename.startswith("_modules/"):
        context["body"] = re.sub(r"(reference/names/)([\w.]+)\.html#([\w.]+)\"", corrected, context["body"])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", point_back)
    app.connect("build-finished", check, priority=900)  # once all is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
