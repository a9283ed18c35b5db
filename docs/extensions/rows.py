"""Markdown tables of numbers from full runs, which `tables` puts into pages.

`tables/results.toml` says which numbers of a study's full run are shown, and what others publish. For benchmarks,
`tables/benchmarks.json` has numbers, and expressions that replace them once a full run is kept.
"""

import json
import re
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import median
from typing import Any

import peers
from peers import markdown

from colloc.__main__ import studies
from colloc.studies.results import Record

FOLDER = Path(__file__).parent.parent / "tables"
FUNCTIONS: dict[str, Callable[[list[float]], float]] = {
    "min": min, "max": max, "most": lambda many: max(map(abs, many)), "sum": sum, "median": median, "count": len,
}  # fmt: skip
NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?")
FEW = 3  # values that stand side by side; of more the least and the largest are shown


def rows_of() -> dict[str, list[list[str]]]:
    """Rows by study: quantity, expression, unit, and what others have."""
    return {
        study: kept["rows"]
        for study, kept in tomllib.loads((FOLDER / "results.toml").read_text(encoding="utf-8")).items()
    }


def benchmarks() -> dict[str, dict[str, Any]]:
    """By benchmark its day, commit and machine, and rows: quantity, number, unit, expression."""
    return json.loads((FOLDER / "benchmarks.json").read_text(encoding="utf-8"))


def values(expression: str, numbers: Mapping[str, float]) -> list[float]:
    """Numbers that an expression means: [factor *] [function] key [- or / key or number]; * in a key is any text.

    KeyError for a key that is not there.
    """
    if part := re.fullmatch(r"(.+?) ([-/]) (.+)", expression):
        first, second = values(part[1], numbers), values(part[3], numbers)
        pairs = zip(first, second if len(second) > 1 else second * len(first), strict=True)
        return [a - b if part[2] == "-" else a / b for a, b in pairs]
    *words, pattern = expression.replace(" * ", " ").split()
    if NUMBER.fullmatch(pattern):
        return [float(pattern)]
    many = [value for key, value in numbers.items() if fnmatchcase(key, pattern)]
    if not many:
        raise KeyError(pattern)
    for word in reversed(words):
        many = [FUNCTIONS[word](many)] if word in FUNCTIONS else [float(word) * value for value in many]
    return many


def shown(expression: str, numbers: Mapping[str, float]) -> str:
    """Values of an expression as text: one, a few, or from the least to the largest."""
    formula, _, form = expression.partition(":")
    many = values(formula, numbers)
    texts = [written(value, form) for value in many]
    if len(set(texts)) == 1:
        return texts[0]
    if len(texts) <= FEW:
        return ", ".join(texts)
    return f"{written(min(many), form)} to {written(max(many), form)}"


def written(value: float, form: str) -> str:
    """A number in a format, whole numbers as such, and a point where rounding would write an exponent."""
    if not form:
        return f"{value:,.0f}" if value == round(value) else f"{value:.3g}"
    text = format(value, form)
    if "e+" in text:
        return f"{float(text):,.0f}"
    return "0" if float(text.replace(",", "")) == 0 else text


def run_tables(family: str, kept: Mapping[str, Record]) -> str:
    """Markdown of the studies of a family: question, day of the run, and numbers beside those of others."""
    parts, questions = [], studies()
    for study, rows in rows_of().items():
        if study.partition(".")[0] != family:
            continue
        run, name = kept.get(study), study.partition(".")[2]
        day = f"Run of {run.date}." if run else "Not recorded."
        parts.append(f"{{ref}}`{name} <study-{study}>`: *{questions[study]}* {day}")
        if run:
            lines = [(what, f"{shown(term, run.numbers)} {unit}", other) for what, term, unit, other in rows]
            parts.append(markdown(("", "colloc", "published or independent"), lines))
    return "\n\n".join(parts)


def benchmark_tables(kept: Mapping[str, Record]) -> str:
    """Markdown of all benchmarks: question and day, and a table of numbers, from full runs where these are kept."""
    parts, questions = [], studies()
    for study, entry in benchmarks().items():
        run, lines = kept.get(study), []
        for what, number, unit, term in entry["rows"]:
            if value := shown(term, run.numbers) if term and run else number:
                lines.append((what, f"{value} {unit}", *([entry["day"] if not term else ""] if run else [])))
        day = run.date if run else entry["day"]
        parts.append(f"`{study.partition('.')[2]}`: *{questions[study]}* Run of {day}.")
        parts.append(markdown(("", "colloc", *(["earlier run"] if run else [])), lines))
    return "\n\n".join(parts)


def provenance(page: str, kept: Mapping[str, Record]) -> str:
    """Markdown table of the runs of a page: study, day, commit, seconds, machine, what has changed since."""
    rows = []
    for study in {"results": rows_of(), "benchmarks": benchmarks(), "compared": [peers.STUDY]}[page]:
        if run := kept.get(study):
            changed = run.since.replace("all", "not known")
            seconds = run.numbers.get("seconds", run.seconds)  # of all parts of a run in parts
            rows.append((f"`{study}`", run.date, run.commit, f"{seconds:,.0f}", run.machine, changed))
        elif page == "benchmarks":
            entry = benchmarks()[study]
            rows.append((f"`{study}`", entry["day"], entry["commit"], "", entry["machine"], "not known"))
    return markdown(("study", "day", "commit", "seconds", "machine", "code changed since in"), rows)
