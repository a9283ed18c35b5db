"""Measured walking, to compare predictions with: studies/walking/report/data/curves.csv and events.csv.

No prediction is computed from these tables.
"""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

DATA = Path(__file__).parent / "data"


class Band(NamedTuple):
    """Mean and standard deviation of a curve over the stride, each ndarray, shape (N,)."""

    percent: np.ndarray
    mean: np.ndarray
    sd: np.ndarray

    def rms(self, percent: np.ndarray, values: np.ndarray) -> float:
        """Root of the mean squared distance of a curve from the mean, at the percentages of the table."""
        return float(np.sqrt(np.mean((np.interp(self.percent, percent, values) - self.mean) ** 2)))

    def off(self, percent: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Distance of a curve from the mean in standard deviations, both straight between the table's percentages."""
        whole = self.closed()
        mean, sd = (np.interp(percent, whole.percent, column) for column in (whole.mean, whole.sd))
        return (values - mean) / sd

    def closed(self) -> Band:
        """The band with 100 % of the stride added, which is 0 % of the next."""
        return Band(np.append(self.percent, 100.0), *(np.append(x, x[0]) for x in (self.mean, self.sd)))


class Fact(NamedTuple):
    """A published value, its standard deviation and its time in the stride; NaN where none is given."""

    source: str
    pace: str
    value: float
    sd: float
    percent: float


@cache
def bands() -> dict[str, Band]:
    """Winter's curves of adults at natural cadence: hip, knee, ankle [deg], vertical, fore_aft [body weight]."""
    found: dict[str, list[list[float]]] = {}
    for row in _rows("curves.csv"):
        found.setdefault(row["variable"], []).append([float(row[name]) for name in ("percent", "mean", "sd")])
    return {name: Band(*np.array(rows).T) for name, rows in found.items()}


@cache
def facts() -> dict[str, list[Fact]]:
    """Published values of every event, such as "vertical.peak_1"."""
    found: dict[str, list[Fact]] = {}
    for row in _rows("events.csv"):
        numbers = [float(row[name] or "nan") for name in ("value", "sd", "percent")]
        found.setdefault(f"{row['variable']}.{row['event']}", []).append(Fact(row["source"], row["pace"], *numbers))
    return found


def fact(event: str, source: str, pace: str = "") -> Fact | None:
    """Published value of an event by a source, None if it gives none."""
    matching = (f for f in facts().get(event, ()) if f.source == source and f.pace.startswith(pace))
    return next(matching, None)


def _rows(name: str) -> list[dict[str, str]]:
    with open(DATA / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))
