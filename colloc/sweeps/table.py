"""The table of a sweep: named columns, and solutions of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np

from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, count, text, unknown_name
from colloc.support.display import Table, Tabular, short
from colloc.support.lazy import cached_property
from colloc.sweeps.cases import CaseSolver, StoredCase

COLUMNS = ("status", "reason", "warning", "cost", "duration", "error", "iterations", "variables")
_NUMBERS = COLUMNS[3:]
_SHOWN = 10  # rows shown
_WIDE = 60  # characters shown of a warning


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(Tabular):
    """The table of a sweep: a row for every case, in their order.

    Parameters
    ----------
    solver : CaseSolver
    names : tuple of str
        Names of the values that vary.
    values : ndarray, shape (cases, names)
    cases : tuple of StoredCase
        Row and file of every case, with a reason if it failed.
    interrupted : bool
        Whether the sweep was interrupted by Ctrl-C.

    Examples
    --------
    >>> from dataclasses import replace
    >>> weighed = replace(problem, parameters=[co.Parameter("nothing", 0.0)])
    >>> table = co.sweep(weighed, {"nothing": [0.0, 1.0]}, co.BSpline(10))
    >>> table["duration"].shape, table.names
    ((2,), ('nothing',))
    >>> bool(table.solution(1).duration == table["duration"][1])
    True
    """

    solver: CaseSolver
    names: tuple[str, ...]
    values: np.ndarray
    cases: tuple[StoredCase, ...]
    interrupted: bool = False

    @cached_property
    def table(self) -> np.ndarray:
        """All columns as a structured array, shape (cases,): values, status, reason, warning, numbers or nan."""
        rows = [case.row for case in self.cases]
        numbers = (*_NUMBERS, *self.solver.record)
        columns: dict[str, np.ndarray] = {name: self.values[:, k] for k, name in enumerate(self.names)}
        columns |= {name: np.array([row[name] for row in rows], dtype=str) for name in ("status", "reason")}
        columns["warning"] = np.array(["; ".join(row.get("warning", ())) for row in rows], dtype=str)
        columns |= {name: np.array([row.get(name, np.nan) for row in rows], dtype=float) for name in numbers}
        table = np.zeros(len(rows), dtype=[(name, column.dtype) for name, column in columns.items()])
        for name, column in columns.items():
            table[name] = column
        return table

    @property
    def warnings(self) -> dict[int, list[str]]:
        """Warnings of `solve`, as sentences, by number of the case; only cases with warnings."""
        return {k: case.row["warning"] for k, case in enumerate(self.cases) if case.row.get("warning")}

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, column: str) -> np.ndarray:
        columns = self.table.dtype.names or ()
        if text("column", column) not in columns:
            raise unknown_name("column", column, columns)
        return self.table[column]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.table.dtype.names or ())

    @property
    def failed(self) -> np.ndarray:
        """Numbers of the cases without a solution."""
        return np.flatnonzero(self["reason"] != "")

    def solution(self, case: int) -> Solution | PhasesSolution:
        """The solution of a case; InputError with the reason if it failed."""
        count("case", case, at_least=0, at_most=len(self) - 1)
        row, content = self.cases[case]
        if row["reason"]:
            raise InputError(f"case {case} has no solution: {row['reason']}")
        return self.solver.solution(dict(zip(self.names, self.values[case].tolist(), strict=True)), content)

    def axes(self, *names: str) -> list[np.ndarray]:
        """The distinct values of the given names, each sorted."""
        for name in names:
            if text("name that varies", name) not in self.names:
                raise unknown_name("name that varies", name, self.names)
        return [np.unique(self[name]) for name in names]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame; ImportError without pandas."""
        import pandas as pd  # pyright: ignore[reportMissingImports, reportMissingModuleSource]

        return pd.DataFrame({name: self.table[name] for name in self.table.dtype.names or ()})

    def _table(self) -> Table:
        header: Sequence[str] = self.table.dtype.names or ()
        rows = [[_cell(name, row[name]) for name in header] for row in self.table[:_SHOWN]]
        notes = [f"... {len(self) - _SHOWN} more rows"] if len(self) > _SHOWN else []
        notes.append(f"{len(self)} cases, {self.failed.size} of them without a solution")
        if self.interrupted:
            notes.append("interrupted before all cases were done")
        return Table(f"Sweep over {', '.join(self.names)}", header, rows, notes)


def _cell(column: str, value: Any) -> str:
    if column == "warning":
        return shorten(value, _WIDE, placeholder=" ...")
    return str(value) if isinstance(value, str) else short(float(value))
