"""Published optima beside ours, in Markdown, from the numbers of the study `classics.published`."""

from collections.abc import Mapping
from math import floor, log10, nan

from peers import markdown

from colloc.studies.classics.published import STATEMENTS
from colloc.studies.classics.published.statement import Published, published

HEADER = (
    "problem", "published", "plain call", "digits agreed", "finer grid", "certificate", "iterations, last grid", "s",
)  # fmt: skip
MOST = 12  # digits shown


def results(numbers: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Numbers by row of optima.csv, of those that were solved."""
    rows: dict[str, dict[str, float]] = {}
    for key, value in numbers.items():
        name, _, what = key.partition(".")
        if what:
            rows.setdefault(name, {})[what] = value
    return {name: rows[name] for name in published() if name in rows}


def digits(ours: float, other: float) -> int:
    """How many significant digits two numbers have in common."""
    off = abs(ours - other) / (abs(other) or 1.0)
    return MOST if off == 0 else max(0, min(MOST, floor(-log10(2 * off))))


def table(rows: Mapping[str, Mapping[str, float]]) -> str:
    """Every problem: published and ours, digits, certificate, iterations and seconds of the processor."""
    known, body = published(), []
    for name, one in rows.items():
        mark = "" if STATEMENTS[name].curve is None else " (first grid stated)"
        value = f"{one['value']:.10g}" if "value" in one else ""
        if not one["solved"]:
            value += " (not solved)"
        agreed = str(digits(one["value"], one["published"])) if "value" in one else ""
        finer = f"{one['finer']:.{MOST}g}" if "finer" in one else ""
        certificate = {0.0: "fails", 1.0: "passes"}.get(one.get("certified", -1.0), "")
        body.append((
            title(known[name]) + mark, f"{one['published']:.10g}", value, agreed, finer, certificate,
            f"{one['iterations']:.0f}", f"{one['seconds']:.1f}",
        ))  # fmt: skip
    return markdown(HEADER, body)


def better(rows: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence for every problem whose published value our motion undercuts, or exceeds where it is maximised."""
    return "\n".join(differing(rows, ours_is_better=True))


def costlier(rows: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence for every problem whose published value is better than the optimum that our motion comes to."""
    return "\n".join(differing(rows, ours_is_better=False))


def differing(rows: Mapping[str, Mapping[str, float]], *, ours_is_better: bool) -> list[str]:
    """Sentences on the problems that are right, and not as published."""
    known, lines = published(), []
    for name, one in rows.items():
        ours, theirs = one.get("finer", one.get("value", nan)), one["published"]
        gain = (theirs - ours) * STATEMENTS[name].factor
        if not one["right"] or abs(one["value"] - theirs) <= known[name].room or (gain > 0) != ours_is_better:
            continue
        by = f"{100 * abs(gain / theirs):.2g} % {'better' if ours_is_better else 'worse'}"
        proof = {1.0: " A certificate passes.", 0.0: " A certificate fails."}.get(one.get("certified", nan), "")
        lines.append(
            f"- **{title(known[name])}**: {theirs:.10g} published, {ours:.10g} here, {by}. {sentence(name)}{proof}"
        )
    return lines


def still_open(rows: Mapping[str, Mapping[str, float]]) -> str:
    """A sentence for every problem that is not solved, or solved elsewhere."""
    known, lines = published(), []
    for name, one in rows.items():
        if not one["right"]:
            how = "is solved at another local optimum" if one["solved"] else "is not solved to its tolerance in time"
            value = f", and ends at {one['value']:.8g}" if "value" in one else ""
            lines.append(f"- **{title(known[name])}** (published: {one['published']:.10g}) {how}{value}.")
    return "\n".join(lines) or "None."


def sentence(name: str) -> str:
    """Why the published value is not the optimum, as the statement has it."""
    why = STATEMENTS[name].why
    return why[:1].upper() + why[1:] + "."


def title(row: Published) -> str:
    """The name of a row in words."""
    return row.name.replace("_", " ")


TEXTS = {"table": table, "better": better, "costlier": costlier, "open": still_open}
