"""The menu at the side, resolved once for a folder of pages rather than for every page, which took half of the writing.

Pages of a folder have the same links; only the marks of the current page and of those above it differ.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

LEVEL = re.compile(r'<li class="toctree-l(\d)')


def unmarked(menu: str, link: str) -> str:
    """The menu of a page without its marks, where its own entry has a link."""
    return menu.replace(" current", "").replace('"current ', '"').replace('href="#"', f'href="{link}"')


def marked(menu: str, link: str) -> str:
    """The menu with the entry of a link, and all entries above it, marked as current."""
    place = menu.find(f'href="{link}"')
    if place < 0:
        return menu
    levels = list(LEVEL.finditer(menu, 0, place))
    wanted = int(levels[-1][1])
    for found in reversed(levels):
        if int(found[1]) == wanted:
            menu = f"{menu[: found.end()]} current{menu[found.end() :]}"
            wanted -= 1
    return menu.replace(f'href="{link}"', 'href="#"', 1)


def shared(menus: dict[str, str], app: Sphinx, page: str, template: str, context: dict[str, Any], tree: Any) -> None:
    """Let a page have the menu of its folder."""
    if (resolve := context.get("toctree")) is None:
        return
    folder = page.rpartition("/")[0]
    link = app.builder.get_relative_uri(f"{folder}/none".lstrip("/"), page)  # as from its neighbours

    def menu(**options: Any) -> str:
        if folder not in menus:
            menus[folder] = unmarked(resolve(**options), link)
        return marked(menus[folder], link)

    context["toctree"] = menu


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("html-page-context", partial(shared, {}), priority=400)  # before that of the theme
    return {"parallel_read_safe": True, "parallel_write_safe": True}
