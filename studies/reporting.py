"""Command line, table and JSON of the studies, the same for all."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import NoReturn

import colloc as co
from colloc.support.display import Table
from colloc.support.files import check_writable, write_atomically

FIGURES = (".png", ".pdf", ".svg")
FILMS = (".html", ".gif")
MEANINGS = {".html": "a page that plays it, .html", ".gif": "a film, .gif"}
Film = co.Solution | co.solution.PhasesSolution | Callable[[str, float], object]


@dataclass(frozen=True)
class Option:
    """A number, a switch or a text that the command line of one study takes, beside what all take.

    Parameters
    ----------
    name : str
        Name without the dashes in front: "step-length" is given as ``--step-length 0.7``.
    default : int, float, False, str or None
        An int makes it a whole number, False a switch, a str a text.
    meaning : str
        Meaning and unit, for the help.
    above, least : float, optional
        Bound that it must exceed, and bound that it may reach.
    """

    name: str
    default: float | str | None
    meaning: str
    above: float | None = None
    least: float | None = None

    def read(self, text: str) -> float:
        """The number, if it is a legal one."""
        whole = isinstance(self.default, int)
        try:
            value = int(text) if whole else float(text)
        except ValueError:
            value = float("nan")
        if not isfinite(value):
            raise argparse.ArgumentTypeError(f"must be a {'whole ' if whole else ''}number, got {text!r}")
        if self.above is not None and value <= self.above:
            raise argparse.ArgumentTypeError(f"must be above {self.above:g}, got {text}")
        if self.least is not None and value < self.least:
            raise argparse.ArgumentTypeError(f"must be at least {self.least:g}, got {text}")
        return value


class _Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def arguments(
    study: str,
    doc: str | None,
    argv: Sequence[str] | None,
    *,
    quick: str = "coarser grids, for a first look",
    options: Sequence[Option] = (),
    figure: bool = True,
    animation: tuple[str, ...] = FILMS,
) -> argparse.Namespace:
    """Command line of a study: --json, --quick, --figure, --animation, and options of its own.

    Paths are checked at once: nobody waits for a study that cannot write its answer.

    Parameters
    ----------
    study : str
        Family and name, such as "two_link.lifting"; the figure is called after it.
    doc : str
        The study's docstring, whose first line is its question.
    argv : sequence of str, optional
        The words of the command line, those of the process by default.
    quick : str
        Meaning of --quick, for the help.
    options : sequence of Option
    figure : bool
        Whether the study draws one.
    animation : tuple of str
        Suffixes of what `finish` writes of the motion; empty for a study without one, as for one without a figure.

    Returns
    -------
    argparse.Namespace
        All of these by name, None for a file that nobody wants, and `question`.
    """
    question = (doc or study).strip().splitlines()[0]
    parser = _Parser(prog=f"python -m colloc {study}", description=question)
    parser.add_argument("--json", metavar="FILE", help="write the numbers as flat JSON")
    parser.add_argument("--quick", action="store_true", help=quick)
    if figure:
        default = f"{study.replace('.', '_')}.png"
        parser.add_argument("--figure", metavar="FILE", default=default, help="the figure (default %(default)s)")
    animation = animation if figure else ()
    if animation:
        meaning = " or ".join(MEANINGS[suffix] for suffix in animation)
        parser.add_argument("--animation", metavar="FILE", help=f"the motion: {meaning}")
    for option in options:
        if option.default is False:
            parser.add_argument(f"--{option.name}", action="store_true", help=option.meaning)
            continue
        if isinstance(option.default, str):
            parser.add_argument(f"--{option.name}", metavar="TEXT", default=option.default, help=option.meaning)
            continue
        default = "" if option.default is None else " (default %(default)s)"
        parser.add_argument(
            f"--{option.name}", metavar="N", type=option.read, default=option.default, help=option.meaning + default
        )
    parsed = parser.parse_args(argv)
    try:
        for name, suffixes in (("json", (".json",)), ("figure", FIGURES), ("animation", animation)):
            if getattr(parsed, name, None) is not None:
                check_writable(getattr(parsed, name), suffixes)
    except co.InputError as error:
        parser.error(str(error))
    parsed.question = question
    return parsed


@dataclass(frozen=True)
class Row:
    """A computed value beside a published or independently converged one.

    Parameters
    ----------
    what : str
    ours : float
    reference : float, optional
    source : str
        Source of the reference.
    """

    what: str
    ours: float
    reference: float | None = None
    source: str = ""

    def cells(self) -> tuple[str, str, str, str, str]:
        """Cells of the table: what, ours, reference, difference, source."""
        ours = _number(self.ours)
        if self.reference is None:
            return (self.what, ours, "", "", self.source)
        return (self.what, ours, _number(self.reference), f"{self.ours - self.reference:+.1e}", self.source)


def table(title: str, rows: Sequence[Row], notes: Sequence[str] = ()) -> str:
    """Table of a study as text."""
    header = ("", "ours", "reference", "difference", "source of the reference")
    return Table(title, header, [row.cells() for row in rows], notes).text()


def finish(args: argparse.Namespace, numbers: Mapping[str, float], film: Film | None = None) -> dict[str, float]:
    """Numbers of a study; writes them as flat JSON, and its motion as a film, if asked for; says where pictures are.

    Parameters
    ----------
    args : Namespace
        From `arguments`.
    numbers : mapping of str to float
    film : Solution, PhasesSolution or callable, optional
        The motion, or what writes the film to a path, a .gif at a number of frames per second; for studies with a
        motion.
    """
    if film is not None and args.animation:
        fps = 10.0 if args.quick else 30.0
        if not isinstance(film, co.Solution | co.solution.PhasesSolution):
            film(args.animation, fps)
        elif args.animation.lower().endswith(".gif"):
            co.plot.animate(film, args.animation, fps)
        else:
            co.plot.view(film).save(args.animation)
    for kind in ("figure", "animation"):
        if path := getattr(args, kind, None):
            print(f"  {kind}: {path}")
    if args.json:
        write_atomically(Path(args.json), (json.dumps(dict(numbers), indent=2) + "\n").encode())
    return dict(numbers)


def _number(value: float) -> str:
    return f"{value:.8f}" if 1e-3 <= abs(value) < 1e4 else f"{value:.2e}"
