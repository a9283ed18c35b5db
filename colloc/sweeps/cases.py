"""The cases of a sweep: a grid or a table of values, and who warm-starts whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from colloc.support.checks import InputError, as_tuple, finite_array, finite_number, mapping, quoted, text


def listed(cases: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """Names and values of all cases, shape (cases, names): of a grid all combinations, the last name varying fastest.

    Parameters
    ----------
    cases : mapping of str to sequence, or sequence of mappings
    """
    if isinstance(cases, Mapping):
        names = tuple(text("name in cases", name) for name in cases)
        axes = [finite_array(f"cases of {name!r}", cases[name], (None,)) for name in names]
        table = np.array(list(product(*axes)), dtype=float)
    else:
        rows = as_tuple("cases", cases)
        for row in rows:
            if not isinstance(row, Mapping) or set(row) != set(rows[0]):
                raise InputError(f"cases must be mappings of the same names to numbers, got {quoted(row)}")
        names = tuple(text("name in cases", name) for name in (rows[0] if rows else ()))
        table = np.array([[finite_number(f"{name!r} of a case", row[name]) for name in names] for row in rows])
    if not names or not table.size:
        raise InputError(
            f"cases must hold one case or more, such as {{'payload': [0.0, 1.0, 2.0]}}, got {quoted(cases)}"
        )
    return names, table


def forerunners(table: np.ndarray, *, grid: bool = True) -> list[int | None]:
    """For every case the nearest before it, values over their ranges, the latest of equals; none for the first.

    In a grid that is its neighbour along the last name, and where a line begins that along the name before: lines are
    independent of each other. In a table names have no steps, and distance alone counts.
    """
    width = np.ptp(table, axis=0)
    scaled = table / np.where(width > 0, width, 1.0)
    found: list[int | None] = [None]
    for k in range(1, len(scaled)):
        distance = np.round(np.abs(scaled[:k] - scaled[k]).sum(axis=1), 12)
        # Steps of different names are as good as each other where they are one step of a grid.
        changed = (scaled[:k] != scaled[k]).sum(axis=1)
        order = np.lexsort((-np.arange(k), distance, changed) if grid else (-np.arange(k), distance))
        found.append(int(order[0]))
    return found


def checked_record(record: Mapping[str, Any] | None, taken: Iterable[str]) -> dict[str, Any]:
    """Columns of the caller's own; InputError for a name that is taken, or what cannot be called."""
    names: Sequence[str] = tuple(taken)
    own = {} if record is None else dict(mapping("record", record))
    for name, fn in own.items():
        if text("name in record", name) in names:
            raise InputError(f"record cannot have {name!r}, which is a column already: {', '.join(names)}")
        if not callable(fn):
            raise InputError(f"record {name!r} must be a function of the solution, got {quoted(fn)}")
    return own
