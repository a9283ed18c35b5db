"""What every study shares: its command line, its table, and its figures as JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from colloc import InputError
from colloc.display import Table
from colloc.files import check_writable, write_atomically


@dataclass(frozen=True)
class Row:
    """A computed value beside a published or independently converged one.

    Parameters
    ----------
    what : str
    ours : float
    reference : float, optional
    source : str
        Where the reference is from.
    """

    what: str
    ours: float
    reference: float | None = None
    source: str = ""

    def cells(self) -> tuple[str, str, str, str, str]:
        """What, ours, reference, difference, source."""
        ours = _number(self.ours)
        if self.reference is None:
            return (self.what, ours, "", "", self.source)
        return (self.what, ours, _number(self.reference), f"{self.ours - self.reference:+.1e}", self.source)


def arguments(
    description: str | None, figure: str, argv: Sequence[str] | None, animation: str | None = None
) -> argparse.Namespace:
    """Parse --json, --figure, --quick and, with a default given, --animation; paths are checked before all else."""
    parser = argparse.ArgumentParser(description=(description or "").strip().splitlines()[0])
    parser.add_argument("--json", metavar="FILE", help="write the study's numbers as flat JSON")
    parser.add_argument("--figure", metavar="FILE", default=figure, help="where the figure goes (default %(default)s)")
    parser.add_argument("--quick", action="store_true", help="coarser grids, for a first look")
    if animation:
        parser.add_argument(
            "--animation", metavar="FILE", default=animation, help="a page or GIF (default %(default)s)"
        )
    parsed = parser.parse_args(argv)
    try:
        check_writable(parsed.figure, (".png", ".pdf", ".svg"))
        if animation:
            check_writable(parsed.animation, (".html", ".gif"))
        if parsed.json:
            check_writable(parsed.json, (".json",))
    except InputError as error:
        parser.error(str(error))
    return parsed


def table(title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """The study's table as text."""
    header = ("", "ours", "reference", "difference", "source of the reference")
    return Table(title, header, [row.cells() for row in rows], notes).text()


def write_json(path: str | None, numbers: Mapping[str, float]) -> None:
    """Write numbers as flat JSON, if a path is given."""
    if path:
        write_atomically(Path(path), (json.dumps(dict(numbers), indent=2) + "\n").encode())


def _number(value: float) -> str:
    return f"{value:.8f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"
