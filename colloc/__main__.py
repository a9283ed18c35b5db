"""The studies from the command line: ``python -m colloc`` lists them, ``python -m colloc gait --speed 1.4`` runs one.

A study has a family and a name ("walking.gait"); its name alone is enough where no other family has it ("gait"). The
words after it are its own: ``python -m colloc gait --help`` lists them.
"""

from __future__ import annotations

import ast
import io
import os
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from itertools import groupby
from pathlib import Path

HEAD = """python -m colloc STUDY [options]    runs a study: its table, its figure, its numbers
python -m colloc STUDY --help       the options of a study
"""


def studies() -> dict[str, str]:
    """Question of every study by family and name; the files and packages of `colloc.studies` that ask one.

    None of them is imported.
    """
    folder = Path(import_module("colloc.studies").__path__[0])
    questions = {}
    for path in sorted(folder.rglob("*.py")):
        title = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]
        place = path.parent if path.stem == "__init__" else path.with_suffix("")
        if title.endswith("?"):
            questions[".".join(place.relative_to(folder).parts)] = title
    return questions


def chosen(word: str, known: Mapping[str, str]) -> str:
    """Family and name of the study that a user means; a `ValueError` says which there are."""
    if word in known:
        return word
    same = [name for name in known if name.rpartition(".")[2] == word]
    if len(same) == 1:
        return same[0]
    if same:
        raise ValueError(f"more than one study is called {word}: {', '.join(same)}")
    if word.startswith("benchmarks.") and not any(name.startswith("benchmarks.") for name in known):
        raise ValueError(f"the study {word} is not installed with the package: run it from a checkout")
    close = get_close_matches(word, [*known, *(name.rpartition(".")[2] for name in known)], n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else ""
    raise ValueError(f"there is no study {word!r}{hint} (python -m colloc lists all)")


def listing(known: Mapping[str, str]) -> str:
    """All studies with their questions, family by family."""
    width = max(map(len, known))
    blocks = [HEAD]
    for _, family in groupby(known, lambda name: name.partition(".")[0]):
        blocks.append("".join(f"{name:<{width}}  {known[name]}\n" for name in family))
    return "\n".join(blocks)


def main(words: Sequence[str] | None = None) -> int:
    """The command line; returns the exit code."""
    word, *rest = (sys.argv[1:] if words is None else list(words)) or [""]
    known = studies()
    if word in ("", "-h", "--help"):
        print(listing(known))
        return 0
    try:
        name = chosen(word, known)
    except ValueError as error:
        print(f"python -m colloc: {error}", file=sys.stderr)
        return 2
    try:
        study = import_module(f"colloc.studies.{name}")
    except ModuleNotFoundError as missing:
        if (missing.name or "").startswith("colloc"):
            raise
        needs = f"{name} compares with {missing.name}, which is not installed: pip install 'colloc[test]'"
        print(f"python -m colloc: {needs}", file=sys.stderr)
        return 2
    study.main(rest)
    return 0


def piped() -> int:
    """Run the command line for a reader of its output: lines as they come, and no error if the reader has closed."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what Python flushes at its end goes there
        return 1
    return code


if __name__ == "__main__":
    raise SystemExit(piped())
