"""Directives for tables that are made when the pages are built, from the full runs in `studies/results`.

    ```{runs} two_link
    ```

are the tables of a family's studies, `{measured} benchmarks` those of the benchmarks, `{peers} squat` a table of the
comparison with other tools, `{optima} table` has published optima beside ours, and `{provenance} results` lists the
runs with their day, commit and machine.
"""

import optima
import peers
from docutils import nodes
from rows import benchmark_tables, provenance, run_tables
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from colloc.studies.results import records


class Generated(SphinxDirective):
    """A directive with one word, whose Markdown is made at the build."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        word = self.arguments[0]
        place = nodes.container(classes=["generated", word])
        self.state.nested_parse(self.text(word).splitlines(), self.content_offset, place)
        self.env.note_reread()  # numbers may change without the page
        return [place]

    def text(self, word: str) -> str:
        """The Markdown."""
        raise NotImplementedError


class Runs(Generated):
    """The tables of a family."""

    def text(self, word: str) -> str:
        return run_tables(word, records())


class Measured(Generated):
    """The tables of the benchmarks."""

    def text(self, word: str) -> str:
        return benchmark_tables(records())


class Provenance(Generated):
    """The runs of a page."""

    def text(self, word: str) -> str:
        return provenance(word, records())


class Peers(Generated):
    """A table of the comparison with other tools."""

    def text(self, word: str) -> str:
        return peers.tables(records()[peers.STUDY].numbers)[word]


class Optima(Generated):
    """Published optima beside ours."""

    def text(self, word: str) -> str:
        return optima.TEXTS[word](optima.results(records()["classics.published"].numbers))


def setup(app: Sphinx) -> dict[str, bool]:
    directives = {
        "runs": Runs, "measured": Measured, "provenance": Provenance, "peers": Peers, "optima": Optima,
    }  # fmt: skip
    for name, directive in directives.items():
        app.add_directive(name, directive)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
