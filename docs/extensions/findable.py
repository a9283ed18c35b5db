"""What readers will look for is found: words are looked up in the finished search index as its script does."""

import json
from pathlib import Path

import snowballstemmer
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# What is typed, and a page that has to be among those found.
WANTED = {
    "inverse dynamics": "theory/dynamics",
    "torque limit": "tutorials/puma",
    "gait": "tutorials/gait",
    "obstacle": "howto/constraints",
    "spring": "howto/mechanism",
    "infeasible": "howto/failures",
}


def found(index: dict[str, dict], words: str) -> set[str]:
    """Pages that contain all the words, in their text or titles."""
    stem, pages = snowballstemmer.stemmer("english").stemWord, None
    for word in words.split():
        hits: set[int] = set()
        for kind in ("terms", "titleterms"):
            numbers = index[kind].get(stem(word), [])
            hits |= {numbers} if isinstance(numbers, int) else set(numbers)
        pages = hits if pages is None else pages & hits
    return {index["docnames"][number] for number in pages or ()}


def check(app: Sphinx, failure: Exception | None) -> None:
    """ExtensionError for a page that its words do not find."""
    if failure is not None or app.builder.name != "html":
        return
    text = (Path(app.outdir) / "searchindex.js").read_text()
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    lost = [f"{words!r} does not find {page}" for words, page in WANTED.items() if page not in found(index, words)]
    if lost:
        raise ExtensionError("; ".join(lost))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("build-finished", check, priority=900)  # once the index is written
    return {"parallel_read_safe": True, "parallel_write_safe": True}
