"""One table, two forms: text for a terminal, HTML for a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import casadi as ca


@dataclass(frozen=True)
class Table:
    """A titled table of strings."""

    title: str  # one line above the table
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()  # lines below the table

    def text(self) -> str:
        """Columns aligned with spaces."""
        cells = [list(self.header), *[list(row) for row in self.rows]] if any(self.header) else list(self.rows)
        widths = [max((len(row[k]) for row in cells), default=0) for k in range(len(self.header))]
        lines = ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells]
        return "\n".join([self.title, *lines, *self.notes])

    def html(self) -> str:
        """A plain HTML table."""
        from html import escape  # nobody but a notebook asks

        def line(row: Sequence[str], tag: str) -> str:
            return "<tr>" + "".join(f"<{tag} style='text-align:left'>{escape(c)}</{tag}>" for c in row) + "</tr>"

        head = line(self.header, "th") if any(self.header) else ""
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        body = "".join(line(row, "td") for row in self.rows)
        return f"<div><b>{escape(self.title)}</b><table>{head}{body}</table>{notes}</div>"


class Tabular:
    """An object that is shown as a table: as text in a terminal, as HTML in a notebook."""

    def _table(self) -> Table:
        raise NotImplementedError

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


def as_call(thing: Any) -> str:
    """A dataclass as its constructor call, without arguments at their defaults."""
    values = [(field.name, getattr(thing, field.name), field.default) for field in fields(thing)]
    arguments = ", ".join(f"{name}={value!r}" for name, value, default in values if value != default)
    return f"{type(thing).__name__}({arguments})"


def short(value: float) -> str:
    """Number for a table: four significant digits, infinities as ±inf."""
    return f"{value:.4g}"


def entries(matrix: ca.SX) -> str:
    """Numbers and expressions of a scalar or vector on one line: "0.5", "(0, -9.81, load)"."""
    cells = [short(float(e)) if e.is_constant() else str(e) for e in (matrix[k] for k in range(matrix.numel()))]
    return cells[0] if len(cells) == 1 else f"({', '.join(cells)})"


def shown(names: Sequence[str], limit: int = 12) -> str:
    """Names on one line; a long list ends with the number of the others."""
    listed = ", ".join(names[:limit])
    return listed if len(names) <= limit else f"{listed}, ... ({len(names)} in all)"
