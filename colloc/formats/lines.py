"""Reading tables of text: lines, cells and numbers, with errors that name the place in the file."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from colloc.formats.numbers import parse_number
from colloc.support.checks import InputError, quoted, warn
from colloc.support.files import read_whole

_MISSING = {"", "nan", "-nan", "+nan", "na", "nan(ind)", "-nan(ind)", "1.#qnan", "-1.#ind", "1.#ind"}


def read_lines(path: str | os.PathLike[str], kind: str) -> list[str]:
    """The lines of a text file of a kind, such as "TRC file", in UTF-8 or Latin-1; InputError for other files."""
    raw = read_whole(path, kind)
    if b"\0" in raw:
        raise InputError(f"{str(path)!r} is no {kind}: it is not text")
    try:
        content = raw.decode("utf-8-sig")
    except UnicodeError:
        content = raw.decode("latin-1")
        word = next(word for word in content.split() if not word.isascii())
        warn(f"{str(path)!r} is not UTF-8 and is read as Latin-1, with words such as {quoted(word)}")
    return content.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def at_line(path: str | os.PathLike[str], line: int, message: str) -> InputError:
    """The error for a line of a file, counted from 1."""
    return InputError(f"{str(path)!r}, line {line}: {message}")


def cells_of(line: str) -> list[str]:
    """The cells of a line between tabs, or between spaces in lines without tabs."""
    return [cell.strip() for cell in line.rstrip("\t ").split("\t")] if "\t" in line.strip() else line.split()


def numbers_of(path: str | os.PathLike[str], line: int, cells: Sequence[str], labels: Sequence[str]) -> list[float]:
    """The numbers in the cells of a line, NaN for empty cells; labels are those of the columns."""
    try:
        numbers = [parse_number(cell) for cell in cells]
    except ValueError:
        numbers = [_number(path, line, *pair) for pair in zip(cells, labels, strict=True)]
    if any(number in (float("inf"), -float("inf")) for number in numbers):
        label = labels[next(k for k, number in enumerate(numbers) if abs(number) == float("inf"))]
        raise at_line(path, line, f"{label!r} must be finite, or nan for a missing sample, got an infinite number")
    return numbers


def _number(path: str | os.PathLike[str], line: int, cell: str, label: str) -> float:
    if cell.lower() in _MISSING:
        return float("nan")
    try:
        return parse_number(cell)
    except ValueError:
        comma = "; use a decimal point" if re.fullmatch(r"[-+]?\d*,\d+([eE][-+]?\d+)?", cell) else ""
        raise at_line(path, line, f"{label!r} must be a number, nan or empty, got {quoted(cell)}{comma}") from None


def check_times(path: str | os.PathLike[str], times: Sequence[float], lines: Sequence[int]) -> None:
    """InputError unless the times in some lines are ascending numbers."""
    for k, (time, line) in enumerate(zip(times, lines, strict=True)):
        if time != time:
            raise at_line(path, line, "the time is missing")
        if k and time <= times[k - 1]:
            raise at_line(path, line, f"times must rise, got {time:g} s after {times[k - 1]:g} s")


def check_count(path: str | os.PathLike[str], line: int, key: str, announced: int | str, there: int) -> None:
    """Warn of a head that announces another number of rows or columns than there are."""
    if str(announced) != str(there):
        warn(
            f"{str(path)!r}, line {line}: {key} is {announced}, and there are {there}, which are read: is it truncated?"
        )


def check_labels(path: str | os.PathLike[str], line: int, labels: Sequence[str], what: str) -> None:
    """InputError unless all columns or markers have different names."""
    before = set[str]()
    for k, label in enumerate(labels):
        if not label:
            raise at_line(path, line, f"{what} {k + 1} has no name")
        if label in before:
            raise at_line(path, line, f"two {what}s are named {label!r}; names must be unique")
        before.add(label)
