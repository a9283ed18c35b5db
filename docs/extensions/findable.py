"""What readers will look for is found: common words are entries of the index, which the search ranks before all else.

A search for such words finds their page first, at the section whose title has one of them. The finished search index is
scored as Sphinx's searchtools.js does.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

# Words that are typed, by the page that has to be first.
WANTED = {
    "start": ("install", "first script"),
    "howto/certificates": ("certificate", "costates", "optimality"),
    "howto/cluster": ("cluster", "parallel", "threads"),
    "howto/constraints": ("torque limit", "torque limits", "constraint", "waypoint", "end effector", "end posture"),
    "howto/curves": ("spline", "grid", "number of nodes", "tolerance"),
    "howto/failures": ("infeasible", "status", "failed solve", "does not converge"),
    "howto/fast": ("slow", "compile", "speed", "machine code"),
    "howto/figures": ("plot", "figure"),
    "howto/files": ("save", "load a solution", "export", "csv"),
    "howto/files_of_others": ("urdf", "mujoco", "mjcf", "opensim"),
    "howto/mechanism": (
        "gravity", "joint limits", "payload", "inertia", "spring", "friction", "damping", "closed chain",
        "floating base", "quaternion",
    ),
    "howto/muscles": ("muscle", "tendon"),
    "howto/obstacles": ("obstacle", "collision", "self-collision"),
    "howto/parameters": ("parameter study", "sweep", "multistart", "local optimum", "initial guess"),
    "howto/phases": ("phases", "impact"),
    "howto/recordings": ("motion capture", "markers", "force plate"),
    "howto/sensitivity": ("sensitivity",),
    "howto/solvers": ("solver", "linear solver"),
    "howto/states": ("differential equation",),
    "howto/tracking": ("tracking", "follow a trajectory"),
    "howto/viewer": ("animation", "viewer", "video"),
    "theory/curves": ("collocation",),
    "theory/dynamics": ("inverse dynamics", "newton-euler", "jacobian"),
    "theory/errors": ("accuracy", "error estimate"),
    "tutorials/contact": ("contact",),
    "tutorials/control_loop": ("feedback", "mpc", "model predictive control"),
    "tutorials/gait": ("gait", "walking"),
    "tutorials/two_link": ("free time", "free duration", "minimum time", "fastest motion"),
}  # fmt: skip
TITLE, WHOLE = 15, 100  # scores of a title and of an entry of the index that is all that was typed


def enter(app: Sphinx, document: nodes.document) -> None:
    """Entries for the words of a page."""
    entries = [
        ("single", words, place(document, words), "main", None)
        for words in WANTED.get(app.env.current_document.docname, ())
    ]
    if entries:
        next(document.findall(nodes.section)).insert(1, addnodes.index(entries=entries))


def place(document: nodes.document, words: str) -> str:
    """Name of the section whose title has one of the words, or of the page."""
    sections = list(document.findall(nodes.section))
    for section in sections[1:]:
        title = section.next_node(nodes.title).astext().lower()
        if any(word.rstrip("s") in title for word in words.split() if len(word) > 3):
            return section["ids"][0]
    return sections[0]["ids"][0]


def first(index: dict[str, dict], words: str) -> str:
    """The first page that a search finds by titles or main entries of the index; empty for none."""
    scores: dict[int, float] = {}
    for title, places in index["alltitles"].items():
        if words in title.lower() and len(words) >= len(title) / 2:
            for number, _ in places:
                score = round(TITLE * len(words) / len(title)) + (index["titles"][number] == title)
                scores[number] = max(score, scores.get(number, 0))
    for entry, places in index["indexentries"].items():
        if words in entry and len(words) >= len(entry) / 2:
            for number, _, main in places:
                if main:
                    scores[number] = max(round(WHOLE * len(words) / len(entry)), scores.get(number, 0))
    best = max(scores.values(), default=0)
    pages = [index["docnames"][number] for number, score in scores.items() if score == best]
    return pages[0] if len(pages) == 1 else ""


def check(app: Sphinx, failure: Exception | None) -> None:
    """ExtensionError for words that do not find their page first."""
    if failure is not None or app.builder.name != "html":
        return
    text = (Path(app.outdir) / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    if not WANTED.keys() <= set(index["docnames"]):
        if lost := WANTED.keys() - app.env.found_docs:
            raise ExtensionError(f"pages that are looked for are not there: {', '.join(sorted(lost))}")
        return  # a build of some pages
    lost = [f"{words!r} does not find {page} first" for page, every in WANTED.items() for words in every
            if first(index, words) != page]  # fmt: skip
    if lost:
        raise ExtensionError("; ".join(lost))


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", enter)
    app.connect("build-finished", check, priority=900)  # once the index is written
    return {"env_version": 2, "parallel_read_safe": True, "parallel_write_safe": True}
