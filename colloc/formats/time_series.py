"""Tables of measured or computed time series, common to files of all formats."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import pi
from typing import Any

import numpy as np

from colloc.support.checks import (
    InputError,
    finite_array,
    finite_number,
    float_array,
    mapping,
    spelt,
    text,
    unknown_name,
)

# Units that files have, in those of this library, and what one is worth in these.
_FACTORS = {
    "mm": ("m", 1e-3), "cm": ("m", 1e-2), "ms": ("s", 1e-3), "deg": ("rad", pi / 180), "°": ("rad", pi / 180),
    "Nm": ("N m", 1.0), "N*m": ("N m", 1.0), "Nmm": ("N m", 1e-3), "N mm": ("N m", 1e-3),
}  # fmt: skip
_AXES = (("x", "y", "z"), ("_x", "_y", "_z"))


@spelt
@dataclass(frozen=True, eq=False)
class TimeSeriesTable:
    """Time series with names and units at N times, such as `table["hip_flexion"]`.

    Parameters
    ----------
    t : shape (N,) [s]
        Rising.
    columns : mapping of str to array of shape (N,) or (N, k)
        NaN for missing samples. The position of a marker is a column of shape (N, 3).
    units : mapping of str to str
        Of the columns, such as "rad", "m", "N", "N m"; "" if unknown.
    metadata : mapping of str to str
        Other entries of the head of a file.

    Raises
    ------
    InputError
        For times that do not rise, columns of another length, infinite numbers, or units of unknown columns.

    See Also
    --------
    read_table, write_table

    Examples
    --------
    >>> table = co.formats.TimeSeriesTable([0.0, 0.1], {"hip": [0.2, np.nan], "hand": np.zeros((2, 3))}, {"hip": "rad"})
    >>> table
    TimeSeriesTable(2 samples from 0 to 0.1 s: hip [rad], hand (3))
    >>> table["hip"], table.vector("hand").shape
    (array([0.2, nan]), (2, 3))
    """

    t: Any
    columns: Mapping[str, Any]
    units: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self):
        t = finite_array("times of a table", self.t, (None,))
        if (disordered := np.flatnonzero(np.diff(t) <= 0)).size:
            k = int(disordered[0])
            raise InputError(f"times of a table must rise, got {t[k]:g} s before {t[k + 1]:g} s (number {k})")
        columns = {
            text("name of a column", name): _column(name, values, t.size)
            for name, values in mapping("columns of a table", self.columns).items()
        }
        units = mapping("units of a table", self.units)
        for name in units:
            if name not in columns:
                raise unknown_name("column of the table", name, columns)
        t.flags.writeable = False
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "units", {name: units.get(name, "") for name in columns})
        object.__setattr__(self, "metadata", dict(mapping("metadata of a table", self.metadata)))

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.columns)

    def __getitem__(self, name: str) -> np.ndarray:
        if isinstance(name, list | tuple):
            raise InputError(
                "select columns one by one; for several use np.column_stack([table[name] for name in names])"
            )
        if text("name of a column", name) not in self.columns:
            raise unknown_name("column of the table", name, self.columns)
        return self.columns[name]

    def vector(self, name: str) -> np.ndarray:
        """A vector over time, shape (N, 3): a column of that shape, or three that end in x, y, z.

            table.vector("ground_force_v")          # N, from ground_force_vx, ground_force_vy, ground_force_vz

        Parameters
        ----------
        name : str
            Common beginning of the three, without an underscore before the last letter.
        """
        if name in self.columns and self.columns[name].shape[1:] == (3,):
            return self.columns[name]
        for axes in _AXES:
            if all(f"{name}{axis}" in self.columns for axis in axes):
                return np.column_stack([self[f"{name}{axis}"] for axis in axes])
        starts = {column[:-1].rstrip("_") for column in self.columns if column[-1:] in "xyz"}
        vectors = [column for column, values in self.columns.items() if values.ndim == 2]
        raise unknown_name("vector of the table", name, [*vectors, *sorted(starts - {""})])

    def between(self, start: float, end: float) -> TimeSeriesTable:
        """The samples from one time to another, with times relative to the first of these.

            step = table.between(1.2, 1.9)          # s

        Parameters
        ----------
        start, end : float [s]
        """
        start, end = finite_number("start", start), finite_number("end", end)
        inside = (self.t >= start) & (self.t <= end)
        if not inside.any():
            span = f"{self.t[0]:g} to {self.t[-1]:g} s" if self.t.size else "nothing"
            raise InputError(f"there must be samples between start and end, got {start:g} and {end:g} s of {span}")
        columns = {name: values[inside] for name, values in self.columns.items()}
        return TimeSeriesTable(self.t[inside] - self.t[inside][0], columns, self.units, self.metadata)

    def flat(self) -> TimeSeriesTable:
        """The table with vectors in columns name_x, name_y and name_z, or numbered columns if not of three."""
        columns, units = {}, {}
        for name, values in self.columns.items():
            parts = {name: values} if values.ndim == 1 else dict(zip(_parts(name, values), values.T, strict=True))
            if twice := next((part for part in parts if part in columns), None):
                raise InputError(f"column {name!r} has a part {twice!r}, which is another column's name")
            columns |= parts
            units |= dict.fromkeys(parts, self.units[name])
        return TimeSeriesTable(self.t, columns, units, self.metadata)

    def __repr__(self) -> str:
        listed = [
            f"{name}{f' ({v.shape[1]})' if v.ndim == 2 else ''}{f' [{self.units[name]}]' if self.units[name] else ''}"
            for name, v in self.columns.items()
        ]
        more = f", and {len(listed) - 8} more" if len(listed) > 8 else ""
        span = f" from {self.t[0]:g} to {self.t[-1]:g} s" if self.t.size else ""
        return f"TimeSeriesTable({self.t.size} samples{span}: {', '.join(listed[:8])}{more})"

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.columns)


def in_si(unit: str) -> tuple[str, float]:
    """The library's unit for one in a file, and the factor to it: ("rad/s", 0.01745...) for "deg/s"."""
    first, slash, rest = unit.partition("/")
    known, factor = _FACTORS.get(first, (first, 1.0))
    return f"{known}{slash}{rest}", factor


def label_with_unit(name: str, unit: str) -> str:
    """Heading of a column with its unit: name [unit]."""
    return f"{name} [{unit}]" if unit else name


def split_label(label: str) -> tuple[str, str]:
    """Name and unit of a column from such a heading."""
    match = re.fullmatch(r"(.*\S)\s+\[([^\[\]]*)\]", label.strip())
    return (match[1], match[2]) if match else (label.strip(), "")


def _column(name: str, values: Any, size: int) -> np.ndarray:
    column = float_array(f"column {name!r}", values)
    if column.ndim not in (1, 2) or column.shape[0] != size or column.shape[1:] == (0,):
        raise InputError(f"column {name!r} must have shape ({size},) or ({size}, k), got shape {column.shape}")
    if np.isinf(column).any():
        raise InputError(f"column {name!r} must be finite, or NaN if missing, got {column}")
    column.flags.writeable = False
    return column


def _parts(name: str, values: np.ndarray) -> list[str]:
    ends = _AXES[1] if values.shape[1] == 3 else [f"_{k}" for k in range(values.shape[1])]
    return [f"{name}{end}" for end in ends]
