"""Markers in .trc files, a format of Motion Analysis that OpenSim reads."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from colloc.formats.lines import at_line, check_labels, check_times, numbers_of, read_lines
from colloc.formats.numbers import parse_count
from colloc.formats.sto import check_words
from colloc.formats.time_series import TimeSeriesTable, in_si
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
    names = _names(path, lines[3], size)
    rows = [(k, line) for k, line in enumerate(lines[5:], 6) if line.strip()]
    labels = ["Time", *(f"{name} {axis}" for name in names for axis in "XYZ")]
    samples = np.array([_row(path, line, row, labels) for line, row in rows]).reshape(len(rows), 1 + 3 * size)
    check_times(path, samples[:, 0].tolist(), [line for line, _ in rows])
    if len(rows) != count:
        raise at_line(path, 3, f"NumFrames is {count}, and there are {len(rows)}: is the file truncated?")
    _, factor = in_si(metadata["Units"])
    places = factor * samples[:, 1:].reshape(len(rows), size, 3)
    columns = {name: places[:, k] for k, name in enumerate(names)}
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


def _names(path: str | os.PathLike[str], line: str, size: int) -> list[str]:
    cells = [cell.strip() for cell in line.split("\t")]
    if [cell.lower() for cell in cells[:2]] != ["frame#", "time"]:
        raise at_line(path, 4, f"the columns must begin with Frame# and Time, got {quoted(line[:40])}")
    names = [cell for cell in cells[2:] if cell]
    if len(names) != size:
        raise at_line(path, 4, f"NumMarkers is {size}, and {len(names)} are named: {quoted(names)}")
    check_labels(path, 4, names, "marker")
    return names


def _row(path: str | os.PathLike[str], line: int, row: str, labels: list[str]) -> list[float]:
    # Cells at the end that are empty may be left out, and there may be one too many.
    cells = [cell.strip() for cell in row.split("\t")][1:]
    while len(cells) > len(labels) and not cells[-1]:
        cells.pop()
    if len(cells) > len(labels):
        raise at_line(path, line, f"there must be {len(labels)} columns after the frame's number, got {len(cells)}")
    cells += [""] * (len(labels) - len(cells))
    return numbers_of(path, line, cells, labels)
