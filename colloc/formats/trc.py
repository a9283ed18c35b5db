"""Markers in .trc files, a format of Motion Analysis that OpenSim reads."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from colloc.formats.lines import at_line, check_count, check_labels, check_times, numbers_of, read_lines
from colloc.formats.numbers import parse_count
from colloc.formats.sto import check_words
from colloc.formats.time_series import TimeSeriesTable, in_si
from colloc.formats.unit_checks import check_extent, check_step, without_zeros
from colloc.support.checks import InputError, quoted

_HEAD = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"
_UNITS = ("m", "cm", "mm")


def read_trc(path: str | os.PathLike[str]) -> TimeSeriesTable:
    """The markers in a .trc file, in metres; see `read_table`."""
    lines = read_lines(path, "TRC file")
    if len(lines) < 5 or not lines[0].startswith("PathFileType"):
        raise at_line(path, 1, f"a TRC file begins with PathFileType, got {quoted(lines[0])}")
    keys, values = lines[1].split(), lines[2].split()
    if len(keys) != len(values):
        raise at_line(path, 3, f"there must be a value for each of {', '.join(keys)}, got {len(values)}")
    metadata = dict(zip(keys, values, strict=True))
    size, count = (_count(path, metadata, key) for key in ("NumMarkers", "NumFrames"))
    if metadata.get("Units") not in _UNITS:
        raise at_line(path, 3, f"Units must be m, cm or mm, got {quoted(metadata.get('Units'))}")
    rows = [(k, line) for k, line in enumerate(lines[5:], 6) if line.strip()]
    names = _names(path, lines[3], size, [row for _, row in rows[:1]])
    size = len(names)
    labels = ["Time", *(f"{name} {axis}" for name in names for axis in "XYZ")]
    samples = np.array([_row(path, line, row, labels) for line, row in rows]).reshape(len(rows), 1 + 3 * size)
    check_times(path, samples[:, 0].tolist(), [line for line, _ in rows])
    check_count(path, 3, "NumFrames", count, len(rows))
    check_step(path, samples[:, 0], metadata.get("DataRate", ""))
    _, factor = in_si(metadata["Units"])
    places = factor * samples[:, 1:].reshape(len(rows), size, 3)
    columns = without_zeros(path, {name: places[:, k] for k, name in enumerate(names)})
    check_extent(path, np.stack([*columns.values()], axis=1), metadata["Units"]) if names else None
    rates = {key: value for key, value in metadata.items() if key not in ("NumFrames", "NumMarkers", "Units")}
    return TimeSeriesTable(samples[:, 0], columns, dict.fromkeys(names, "m"), rates)


def trc_bytes(table: TimeSeriesTable, path: Path) -> bytes:
    """A table of markers as the content of a .trc file, in metres."""
    for name, values in table.columns.items():
        if values.shape[1:] != (3,):
            raise InputError(f"a TRC file holds markers, of shape (N, 3), got {name!r} of shape {values.shape}")
        if table.units[name] not in ("m", ""):
            raise InputError(f"a TRC file holds places in metres, got {name!r} in {table.units[name]!r}")
    check_words(table, path)
    n = table.t.size
    rate = f"{(n - 1) / (table.t[-1] - table.t[0]):.10g}" if n > 1 else table.metadata.get("DataRate", "1")
    head = [rate, rate, str(n), str(len(table.columns)), "m", rate, "1", str(n)]
    axes = "\t".join(f"{axis}{k + 1}" for k in range(len(table.columns)) for axis in "XYZ")
    lines = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        _HEAD,
        "\t".join(head),
        "\t".join(["Frame#", "Time", *(f"{name}\t\t" for name in table.names)]),
        f"\t\t{axes}",
        "",
    ]
    places = np.hstack([table.t[:, None], *table.columns.values()]).tolist()
    rows = ["\t".join([str(k), *map(repr, row)]) for k, row in enumerate(places, 1)]
    return "\n".join([*lines, *rows, ""]).encode()


def _count(path: str | os.PathLike[str], metadata: dict[str, str], key: str) -> int:
    word = metadata.get(key, "")
    try:
        return parse_count(word)
    except ValueError:
        raise at_line(path, 3, f"{key} must be a number of them, got {quoted(word)}") from None


def _names(path: str | os.PathLike[str], line: str, size: int, first: list[str]) -> list[str]:
    """The names of markers, between tabs, or between spaces in heads that are aligned by them; by the first row."""
    cells = [cell.strip() for cell in line.split("\t")]
    if not _begins(cells) and _begins(line.split()):
        cells = line.split()
    if not _begins(cells):
        raise at_line(path, 4, f"the columns must begin with Frame# and Time, got {quoted(line[:40])}")
    names = [cell for cell in cells[2:] if cell]
    if len(names) != size:
        if any(len(row.rstrip().split("\t")) > 2 + 3 * len(names) for row in first):
            raise at_line(path, 4, f"NumMarkers is {size}, and {len(names)} are named: {quoted(names)}")
        check_count(path, 3, "NumMarkers", size, len(names))
    check_labels(path, 4, names, "marker")
    return names


def _begins(cells: list[str]) -> bool:
    """Whether cells are the heading of a table of markers."""
    return [cell.lower() for cell in cells[:2]] in (["frame#", "time"], ["frame#", "times"])


def _row(path: str | os.PathLike[str], line: int, row: str, labels: list[str]) -> list[float]:
    # Cells at the end that are empty may be left out, and there may be one too many, there and before the number.
    cells = [cell.strip() for cell in row.split("\t")]
    while len(cells) > 1 + len(labels) and not (cells[-1] and cells[0]):
        cells.pop(-1 if not cells[-1] else 0)
    cells = cells[1:]
    if len(cells) > len(labels):
        raise at_line(path, line, f"there must be {len(labels)} columns after the frame's number, got {len(cells)}")
    cells += [""] * (len(labels) - len(cells))
    return numbers_of(path, line, cells, labels)
