"""Words of the pages: how they are counted, and that there are no more than a reader has patience for."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
words = import_module("words")
PAGES = words.pages()
MOST = 28_450

PAGE = """---
file_format: mystnb
---

# A short title

Two words. See [the other page](other.md) for `co.solve(a, b)`:

```{code-cell} python
solution = co.solve(problem)
```

- one item of four words
  on two lines
- $x^2 + y$ is small

| name | meaning |
|---|---|
| `tau` | torque of a joint |

```{note}
Also this.
```

<!-- not this -->
"""


def test_words_of_a_page():
    page = words.read(PAGE)
    assert page.prose.splitlines() == [
        "# A short title", "Two words. See the other page for x:", "one item of four words on two lines", "x is small",
        "Also this.",
    ]  # fmt: skip
    assert page.cells == ["name", "meaning", "x", "torque of a joint"]
    assert page.longest_cell == 4
    assert [len(sentence.split()) for sentence in page.sentences] == [2, 6, 8, 3, 2]
    assert page.median_sentence == 3
    assert page.words == 4 + 8 + 8 + 3 + 2 + 7


def test_pages_have_few_words():
    assert len(PAGES) > 40
    counted = words.sums(PAGES)
    assert sum(counted.values()) == sum(page.words for page in PAGES.values()) <= MOST, counted


@pytest.mark.parametrize("place", PAGES)
def test_sentences_and_cells_are_short(place: str):
    assert PAGES[place].longest_cell <= words.CELL
    assert PAGES[place].median_sentence <= words.SENTENCE
