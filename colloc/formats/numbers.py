"""Numbers in files: in ASCII, and without extensions of Python's syntax."""

from __future__ import annotations

_LONGEST = 18  # digits of a count


def parse_number(word: str) -> float:
    """The number in a word, which may be nan or inf; ValueError for digits of other scripts, and underscores."""
    if "_" in word or not word.isascii():
        raise ValueError(f"{word!r} is no number")
    return float(word)


def parse_numbers(text: str) -> list[float]:
    """The numbers between the spaces of a text; ValueError for anything else."""
    return [parse_number(word) for word in text.split()]


def parse_count(word: str) -> int:
    """The digits of a word as a number; ValueError for anything else, and for too many digits."""
    if not (word.isascii() and word.isdecimal() and len(word) <= _LONGEST):
        raise ValueError(f"{word!r} is no count")
    return int(word)
