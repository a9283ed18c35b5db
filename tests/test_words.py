"""Plain words: no private ones in pages, docstrings, comments and messages, and no sentence that begins with "What".

`words.csv` lists the private words, each a regular expression, with the plain ones, and what around them is allowed: a
term of the field, or the same letters in another sense.
"""

import ast
import csv
import io
import re
import tokenize
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
with (ROOT / "tests" / "words.csv").open(encoding="utf-8") as file:
    WORDS = [(row["word"], row["allowed"]) for row in csv.DictReader(file)]
FOLDERS = ("colloc", "models", "studies", "tests", "docs")
FILES = [
    *(
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not {"build", "test_words.py"} & {*path.parts}
    ),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "build" not in path.parts),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
]
ROOMS = [path for path in sorted((ROOT / "colloc").iterdir()) if path.is_dir()]
PLAIN = [*ROOMS, *(ROOT / name for name in ("models", "studies", "tests"))]  # no sentence begins with "What" there


@cache
def source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def texts(path: Path) -> list[str]:
    """Pages without their code; docstrings, comments and messages of a module, a paragraph each."""
    if path.suffix == ".md":
        page = re.sub(r"^```.*?^```", "", source(path), flags=re.S | re.M)
        return [" ".join(part.split()) for part in re.split(r"\n\s*\n|\n(?=\s*[-|*\d]+ )", page)]
    tree = ast.walk(ast.parse(source(path)))
    strings = [node.value for node in tree if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    parts = [part for text in strings if " " in text for part in re.split(r"\n\s*\n", text)]
    return [" ".join(part.split()) for part in (*parts, *comments(path))]


def comments(path: Path) -> list[str]:
    """Comments of a module, each over all of its lines."""
    parts, last = [], -1
    for token in tokenize.generate_tokens(io.StringIO(source(path)).readline):
        if token.type == tokenize.COMMENT:
            alone = token.line.lstrip().startswith("#")
            if alone and token.start[0] == last + 1:
                parts[-1] += " " + token.string.lstrip("# ")
            else:
                parts.append(token.string.lstrip("# "))
            last = token.start[0] if alone else -1
    return parts


def private(word: str, allowed: str, text: str) -> str:
    """The first private use of a word in a text; "" where there is none."""
    pattern = re.compile(rf"\b(?:{word})\b", re.I)
    spared = [match.span() for match in re.finditer(allowed, text)] if allowed else []
    for match in pattern.finditer(text):
        if not any(begin <= match.start() and match.end() <= end for begin, end in spared):
            return text[max(0, match.start() - 60) : match.end() + 60]
    return ""


def test_no_private_word_is_read():
    """Files that have none of them, even with a line's end in the middle, are not parsed."""
    gaps = "|".join(word.replace(" ", r"[\s#]+") for word, _ in WORDS)
    files = [path for path in FILES if re.search(rf"\b(?:{gaps})\b", source(path), re.I)]
    uses = [(path.name, use) for path in files for text in texts(path) for row in WORDS if (use := private(*row, text))]
    assert not uses


def statements(text: str) -> list[str]:
    """Sentences that begin with "What" or "Who" and are no questions."""
    pattern = r"""(?:^|(?<=[.?!"] ))(?:What|Who|Whose)\b(?:[^.?!]|[.](?=\S| [a-z(]))*[.?!]?"""
    return [sentence for sentence in re.findall(pattern, text.strip()) if not sentence.endswith("?")]


def test_statements_are_distinguished_from_questions():
    assert statements("What a body weighs [N].") == ["What a body weighs [N]."]
    assert statements("True. Who calls, e.g. f.g(x), waits. What for? Nothing.") == ["Who calls, e.g. f.g(x), waits."]
    assert not statements("What is the least time? It says what it is. Whatever holds, holds.")
    assert private("valley", "valley of a force", "a valley of a force, a Valley of costs").endswith("Valley of costs")
    assert not private("dear", "", "dearth")


def names(path: Path) -> set[str]:
    """Parts of the names that a module defines or uses: "q" and "max" of `q_max`."""
    tokens = tokenize.generate_tokens(io.StringIO(source(path)).readline)
    return {part for token in tokens if token.type == tokenize.NAME for part in token.string.split("_")}


def test_no_private_word_is_part_of_a_name():
    private = ("told", "valley", "dear", "heir", "heirs")
    files = [path for path in FILES if path.suffix == ".py" and any(word in source(path) for word in private)]
    assert not [(path.name, word) for path in files for word in private if word in names(path)]


@pytest.mark.parametrize("folder", PLAIN, ids=lambda folder: folder.name)
def test_no_statement_begins_with_what(folder: Path):
    paths = (path for path in sorted(folder.rglob("*.py")) if path.name != "test_words.py")
    files = [path for path in paths if re.search(r"\bWh(at|o|ose)\b", source(path))]
    assert not [(path.name, line) for path in files for text in texts(path) for line in statements(text)]
