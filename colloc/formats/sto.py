"""Tables in OpenSim's .sto and .mot files, which differ only in their names."""

from __future__ import annotations

import os
import re
from math import pi
from pathlib import Path

import numpy as np

from colloc.formats.lines import at_line, cells_of, check_count, check_labels, check_times, numbers_of, read_lines
from colloc.formats.time_series import TimeSeriesTable, in_si
from colloc.formats.unit_checks import check_angles, check_step
from colloc.model import Model
from colloc.support.checks import InputError, quoted, warn

# Naming conventions of OpenSim's tools, the only source of units: ends of names, without regard to case.
_CONVENTIONS = (
    (r".*_t[xyz]|t[xyz]", "m"),
    (r".*force.*_v[xyz]|.*_force", "N"),
    (r".*force.*_p[xyz]", "m"),
    (r".*(torque|moment).*_m?[xyz]|.*_moment", "N m"),
    (r".*_on_.*_in_.*_f[xyz]", "N"),
    (r".*_on_.*_in_.*_m[xyz]", "N m"),
    (r".*_on_.*_in_.*_p[xyz]", "m"),
    (r".*/activation|.*\.activation|.*_activation|.*_excitation", ""),
)
# Entries of a head about the table itself or its writer.
_SAID = ("version", "DataType", "nRows", "nColumns", "inDegrees", "OpenSimVersion", "Units")
# Last parts of paths such as /jointset/ground_pelvis/pelvis_tx/speed, and what they add to the unit of the coordinate.
_RATES = {"value": "", "speed": "/s", "u": "/s", "accel": "/s2"}


def read_sto(path: str | os.PathLike[str], model: Model | None) -> TimeSeriesTable:
    """The table in a .sto or .mot file, with angles in radians; see `read_table`."""
    lines = read_lines(path, "table of OpenSim's")
    end = next((k for k, line in enumerate(lines) if line.strip().lower() == "endheader"), None)
    if end is None:
        raise InputError(f"{str(path)!r} is no OpenSim table: it has no line endheader")
    metadata = _metadata(lines[:end])
    degrees = _in_degrees(path, lines[:end], metadata)
    width = _width(path, lines[:end], metadata)
    filled = [(k + 1, line) for k, line in enumerate(lines) if k > end and line.strip()]
    if not filled:
        raise at_line(path, end + 1, "names of columns must follow endheader")
    (heading, names), rows = filled[0], filled[1:]
    labels = cells_of(names)
    if labels[0].lower() not in ("time", "times", "t"):
        raise at_line(path, heading, f"the first column must be time, got {quoted(labels[0])}")
    check_labels(path, heading, labels, "column")
    values = np.array([_row(path, line, row, labels, width) for line, row in rows]).reshape(
        len(rows), 1 + (len(labels) - 1) * width
    )
    check_times(path, values[:, 0].tolist(), [line for line, _ in rows])
    for key, size in (("nRows", len(rows)), ("nColumns", len(labels))):
        if key in metadata:
            check_count(path, _line_of(lines[:end], key), key, metadata[key], size)
    check_step(path, values[:, 0])
    columns, units = {}, {}
    for k, name in enumerate(labels[1:]):
        column = values[:, 1 + k * width : 1 + (k + 1) * width]
        if width == 1:
            units[name] = _unit(name, degrees, model)
            columns[name] = column[:, 0] * (pi / 180 if degrees and units[name].startswith("rad") else 1.0)
        else:
            units[name], factor = in_si(metadata.get("Units", ""))
            columns[name] = column * factor
    if model is not None and width == 1:
        angles = {name: _coordinate(name)[0] for name, unit in units.items() if unit == "rad"}
        places = {name: 1 + k for k, name in enumerate(labels[1:])}
        check_angles(path, {name: (joint, values[:, places[name]]) for name, joint in angles.items()}, degrees, model)
    rest = {key: value for key, value in metadata.items() if key not in _SAID}
    return TimeSeriesTable(values[:, 0], columns, units, rest)


def sto_bytes(table: TimeSeriesTable, path: Path, degrees: bool) -> bytes:
    """A table as the content of a .sto or .mot file."""
    vectors = bool(table.columns) and all(values.shape[1:] == (3,) for values in table.columns.values())
    table, degrees = (table, False) if vectors else (table.flat(), degrees)  # vectors are places, no angles
    check_words(table, path)
    if not vectors and (gap := next((name for name, values in table.columns.items() if np.isnan(values).any()), None)):
        warn(
            f"column {gap!r} for {path.name!r} has gaps, and many of OpenSim's tools stop reading at the first; "
            "use between(start, end) for a part of the table"
        )
    head = {key: value for key, value in table.metadata.items() if key not in ("header", *_SAID)}
    head |= {"version": "3", "DataType": "Vec3"} if vectors else {"version": "1"}
    head |= {"Units": "m"} if vectors and set(table.units.values()) == {"m"} else {}
    head |= {"nRows": str(table.t.size), "nColumns": str(1 + len(table.columns))}
    head |= {"inDegrees": "yes" if degrees else "no"}
    title = " ".join(table.metadata.get("header", path.stem).split())
    lines = [title, *(f"{key}={value}" for key, value in head.items()), "endheader", "\t".join(["time", *table.names])]
    factors = [180 / pi if degrees and unit.startswith("rad") else 1.0 for unit in table.units.values()]
    cells = [[repr(t)] for t in table.t.tolist()]
    for values, factor in zip(table.columns.values(), factors, strict=True):
        for row, sample in zip(cells, (factor * values).tolist(), strict=True):
            row.append(",".join(map(repr, sample)) if vectors else repr(sample))
    return "\n".join([*lines, *("\t".join(row) for row in cells), ""]).encode()


def check_words(table: TimeSeriesTable, path: Path) -> None:
    """InputError for names that OpenSim would read as two."""
    for name in table.names:
        if re.search(r"[\s,]", name):
            raise InputError(f"names of columns in {path.name!r} must be without spaces and commas, got {name!r}")
    for key, value in table.metadata.items():
        if re.search(r"[\n\r=]", key + value):
            raise InputError(f"metadata for {path.name!r} must be lines key=value, got {key!r}: {value!r}")


def reaction_columns(
    name: str, force: np.ndarray, point: np.ndarray, torque: np.ndarray
) -> dict[str, tuple[np.ndarray, str]]:
    """Columns of a ground reaction under OpenSim's names, and their units; all arrays have shape (N, 3)."""
    vectors = {f"force_{name}_v": (force, "N"), f"force_{name}_p": (point, "m"), f"torque_{name}_": (torque, "N m")}
    return {
        f"ground_{stem}{axis}": (column, unit)
        for stem, (values, unit) in vectors.items()
        for axis, column in zip("xyz", values.T, strict=True)
    }


def _metadata(head: list[str]) -> dict[str, str]:
    pairs = [line.split("=", 1) for line in head if "=" in line]
    free = [line.strip() for line in head if "=" not in line and line.strip()]
    return ({"header": " ".join(free)} if free else {}) | {key.strip(): value.strip() for key, value in pairs}


def _line_of(head: list[str], key: str) -> int:
    return next(k for k, line in enumerate(head, 1) if line.split("=", 1)[0].strip() == key)


def _in_degrees(path: str | os.PathLike[str], head: list[str], metadata: dict[str, str]) -> bool:
    word = metadata.get("inDegrees", "no")
    if word.lower() not in ("yes", "no", "y", "n", "true", "false"):
        raise at_line(path, _line_of(head, "inDegrees"), f"inDegrees must be yes or no, got {quoted(word)}")
    return word.lower()[:1] in ("y", "t")


def _width(path: str | os.PathLike[str], head: list[str], metadata: dict[str, str]) -> int:
    widths = {"double": 1, "Vec3": 3, "UnitVec3": 3, "Vec6": 6, "SpatialVec": 6, "Quaternion": 4}
    kind = metadata.get("DataType", "double")
    if kind not in widths:
        raise at_line(
            path, _line_of(head, "DataType"), f"DataType must be one of {', '.join(widths)}, got {quoted(kind)}"
        )
    return widths[kind]


def _row(path: str | os.PathLike[str], line: int, row: str, labels: list[str], width: int) -> list[float]:
    cells = cells_of(row)
    if len(cells) != len(labels):
        raise at_line(path, line, f"there must be {len(labels)} columns, got {len(cells)}")
    if width == 1:
        return numbers_of(path, line, cells, labels)
    parts = [cell.split(",") for cell in cells[1:]]
    for label, part in zip(labels[1:], parts, strict=True):
        if len(part) != width:
            raise at_line(path, line, f"{label!r} must be {width} numbers with commas between them, got {len(part)}")
    flat = [number.strip() for part in parts for number in part]
    return numbers_of(
        path, line, [cells[0], *flat], [labels[0], *(label for label in labels[1:] for _ in range(width))]
    )


def _coordinate(name: str) -> tuple[str, str]:
    """The coordinate of a column, and what its path adds to the unit."""
    *before, last = name.split("/")
    return (before[-1], _RATES[last]) if before and last in _RATES else (name, "")


def _unit(name: str, degrees: bool, model: Model | None) -> str:
    """The unit of a column: the model's for a coordinate, else by the naming conventions of OpenSim's tools."""
    coordinate, rate = _coordinate(name)
    if model is not None:
        known = dict(zip(model.position_names, model.position_units, strict=True))
        if coordinate in known:
            return f"{known[coordinate]}{rate}"
    for pattern, unit in _CONVENTIONS:
        if re.fullmatch(pattern, coordinate, flags=re.IGNORECASE):
            return f"{unit}{rate}" if unit else ""
    return f"rad{rate}" if (degrees and model is None) else ""
