"""Tables in CSV and Parquet files, with headings name [unit], and as those of pandas."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from colloc.formats.lines import at_line, check_labels, check_times, numbers_of, read_lines
from colloc.formats.time_series import TimeSeriesTable, in_si, label_with_unit, split_label
from colloc.support.checks import InputError, quoted
from colloc.support.files import check_readable, refused

if TYPE_CHECKING:
    from pandas import DataFrame  # pyright: ignore[reportMissingImports]


def headed(table: TimeSeriesTable) -> tuple[list[str], list[np.ndarray]]:
    """Headings with units, and columns, of a table without vectors; time is the first."""
    flat = table.flat()
    labels = [label_with_unit(name, flat.units[name]) for name in flat.names]
    return ["time [s]", *labels], [flat.t, *flat.columns.values()]


def csv_bytes(header: Sequence[str], columns: Sequence[Iterable[Any]]) -> bytes:
    """Columns as the content of a CSV file, from which numbers are read back exactly."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    for row in zip(*columns, strict=True):
        writer.writerow([value if isinstance(value, str) else repr(float(value)) for value in row])
    return buffer.getvalue().encode()


def read_csv(path: str | os.PathLike[str]) -> TimeSeriesTable:
    """The table in a CSV file; see `read_table`."""
    lines = read_lines(path, "CSV file")
    try:
        reader = csv.reader(lines, strict=True)
        filled = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        raise InputError(f"{str(path)!r} cannot be read as a CSV file: {error}") from None
    if not filled:
        raise at_line(path, 1, "names of columns must be in the first line that is not empty")
    (heading, header), rows = filled[0], filled[1:]
    if len(header) == 1 and ";" in header[0]:
        raise at_line(path, heading, f"columns must be separated by commas, got semicolons: {quoted(header[0])}")
    check_labels(path, heading, [label.strip() for label in header], "column")
    values = [_row(path, line, [cell.strip() for cell in row], header) for line, row in rows]
    columns = np.array(values).reshape(len(rows), len(header)).T
    check_times(path, columns[0].tolist(), [line for line, _ in rows])
    return _table(path, header, list(columns))


def data_frame(header: Sequence[str], columns: Sequence[Any], asked: str) -> DataFrame:
    """Columns as a table of pandas; ImportError without it, which names the request."""
    return _pandas(asked).DataFrame(dict(zip(header, columns, strict=True)))


def parquet_bytes(table: TimeSeriesTable) -> bytes:
    """A table as the content of a Parquet file."""
    _arrow()
    buffer = io.BytesIO()
    data_frame(*headed(table), "a Parquet file").to_parquet(buffer, engine="pyarrow", index=False)
    return buffer.getvalue()


def read_parquet(path: str | os.PathLike[str]) -> TimeSeriesTable:
    """The table in a Parquet file; see `read_table`."""
    pandas = _pandas("a Parquet file")
    _arrow()
    file = check_readable(path, "Parquet file")
    with refused(path, "cannot be read as a Parquet file"):
        frame = pandas.read_parquet(file, engine="pyarrow")
    if isinstance(frame.index.name, str):
        frame = frame.reset_index()
    for label, column in frame.items():
        if column.dtype.kind not in "iuf":
            raise InputError(f"{str(path)!r}: column {label!r} must be numbers, got {column.dtype}")
    return _table(path, [str(label) for label in frame], [column.to_numpy(dtype=float) for _, column in frame.items()])


def _pandas(asked: str) -> Any:
    """The module pandas, an extra; ImportError without it, which names the request."""
    try:
        import pandas  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError(f"{asked} needs pandas: pip install 'colloc[formats]'") from error
    return pandas


def _arrow() -> None:
    """ImportError without pyarrow, an extra, by which pandas reads and writes Parquet."""
    try:
        import pyarrow  # noqa: F401  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise ImportError("a Parquet file needs pyarrow: pip install 'colloc[formats]'") from error


def _row(path: str | os.PathLike[str], line: int, row: list[str], header: list[str]) -> list[float]:
    if len(row) != len(header):
        raise at_line(path, line, f"there must be {len(header)} columns, got {len(row)}")
    return numbers_of(path, line, row, header)


def _table(path: str | os.PathLike[str], header: list[str], columns: list[np.ndarray]) -> TimeSeriesTable:
    """A table from headings and columns, the first of which is time; all in SI units and radians."""
    labels = [split_label(label) for label in header]
    name, unit = labels[0] if labels else ("", "")
    seconds, factor = in_si(unit or "s")
    if name.lower() not in ("t", "time") or seconds != "s":
        raise InputError(f"{str(path)!r}: the first column must be time, in s or ms, got {quoted(header[:1])}")
    check_labels(path, 1, [name for name, _ in labels], "column")
    units = {name: in_si(unit) for name, unit in labels[1:]}
    values = {name: column * units[name][1] for (name, _), column in zip(labels[1:], columns[1:], strict=True)}
    return TimeSeriesTable(columns[0] * factor, values, {name: unit for name, (unit, _) in units.items()})
