"""Words of prose, longest cell of a table, median length of sentences and reading ease of every page that is written.

    python docs/words.py                       lists the pages, folders, and the sum beside their budgets
    python docs/words.py --beside FOLDER       with the reading ease of the same pages in another checkout's docs

Code, comments, mathematics and what the build generates do not count; text of tables does. Code in a line counts as one
word. Flesch's reading ease is that of textstat, where it is installed.
"""

import argparse
import re
from pathlib import Path
from statistics import mean, median
from typing import NamedTuple

from colloc.support.display import Table

DOCS = Path(__file__).parent
BUDGETS = {"howto": 13_600, "tutorials": 7_000, "theory": 4_000, "others": 4_100}  # words
CELL, SENTENCE = 40, 18  # words in the longest cell of a table, and in the median sentence
BOXES = "(?:note|tip|warning|admonition|seealso|dropdown)"  # directives with prose
APART = ("build", "reference", "gallery", "paper")  # made by the build, or no page of the site


class Page(NamedTuple):
    """A page without its code.

    Parameters
    ----------
    prose : str
        Paragraphs, headings and items of lists, a line each.
    cells : list of str
        Cells of tables.
    """

    prose: str
    cells: list[str]

    @property
    def words(self) -> int:
        """Words of prose and tables."""
        return sum(len(text.split()) for text in (self.prose, *self.cells))

    @property
    def sentences(self) -> list[str]:
        """Sentences of paragraphs and lists."""
        lines = [line for line in self.prose.splitlines() if not line.startswith("#")]
        parts = [part for line in lines for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*(\[\"])", line)]
        return [part for part in parts if len(part.split()) > 1]

    @property
    def longest_cell(self) -> int:
        """Words of the longest cell."""
        return max((len(cell.split()) for cell in self.cells), default=0)

    @property
    def median_sentence(self) -> float:
        """Median of the words of sentences."""
        return float(median([len(sentence.split()) for sentence in self.sentences] or [0]))


def read(text: str) -> Page:
    """A page in Markdown as words."""
    text = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.S)
    text = re.sub(r"<!--.*?-->|^%.*$", "", text, flags=re.S | re.M)
    text = re.sub(rf"^(`{{3,}}|:{{3,}})\{{{BOXES}\}}.*?\n(.*?)^\1$", r"\2", text, flags=re.S | re.M)
    text = re.sub(r"^(`{3,}|:{3,}).*?^\1$", "", text, flags=re.S | re.M)
    text = re.sub(r"\$\$.*?\$\$", "", text, flags=re.S)
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)(\{[^}]*\})?", "", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\{[\w-]+\}`([^`<]*?)\s*(<[^`]*>)?`", r"\1", text)
    text = re.sub(r"`[^`]*`|\$[^$\n]+\$", "x", text)
    text = re.sub(r"\*\*|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)", "", text)
    cells, lines = [], []
    for block in re.split(r"\n\s*\n|\n(?=#|\s*[-*] |\s*\d+\. |\|)", text):
        if block.startswith("|"):
            row = [cell.strip() for cell in block.strip().strip("|").split("|")]
            cells += [] if all(re.fullmatch(r":?-+:?|", cell) for cell in row) else row
        else:
            lines.append(re.sub(r"^\s*([-*]|\d+\.|\([\w-]+\)=) ?", "", " ".join(block.split())))
    return Page("\n".join(line for line in lines if line), cells)


def pages(docs: Path = DOCS) -> dict[str, Page]:
    """All pages that are written by hand, by their places."""
    paths = (path for path in sorted(docs.rglob("*.md")) if path.relative_to(docs).parts[0] not in APART)
    return {path.relative_to(docs).as_posix(): read(path.read_text(encoding="utf-8")) for path in paths}


def group(place: str) -> str:
    """The group of a page in `BUDGETS`."""
    folder = place.partition("/")[0]
    return folder if folder in BUDGETS else "others"


def sums(read_pages: dict[str, Page]) -> dict[str, int]:
    """Words by group."""
    return {name: sum(page.words for place, page in read_pages.items() if group(place) == name) for name in BUDGETS}


def ease(page: Page | None) -> str:
    """Flesch's reading ease; empty without a page, or without textstat."""
    try:
        import textstat
    except ModuleNotFoundError:
        return ""
    text = " ".join(sentence.rstrip(".:") + "." for sentence in page.sentences) if page else ""
    return f"{textstat.flesch_reading_ease(text):.0f}" if text else ""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beside", metavar="FOLDER", type=Path)
    args = parser.parse_args()
    ours, others = pages(), pages(args.beside) if args.beside else {}
    rows = [
        (
            place,
            str(page.words),
            str(page.longest_cell),
            f"{page.median_sentence:g}",
            ease(page),
            ease(others.get(place)),
        )
        for place, page in ours.items()
    ]
    gains = [float(row[4]) - float(row[5]) for row in rows if row[4] and row[5]]
    notes = [f"  reading ease above that beside, mean of {len(gains)} pages: {mean(gains):.1f}"] if gains else []
    print(Table("Pages", ("page", "words", "longest cell", "median sentence", "ease", "beside"), rows, notes).text())
    totals = [(name, str(words), str(BUDGETS[name])) for name, words in sums(ours).items()]
    totals.append(("all", str(sum(sums(ours).values())), str(sum(BUDGETS.values()))))
    print(Table("Words", ("", "words", "budget"), totals).text())


if __name__ == "__main__":
    main()
