"""Rows: functions of an instant with bounds, names, units and natural sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

_NO_BOUND = 1e19  # as in IPOPT


class Rows(NamedTuple):
    """A constraint in symbols: lower <= expression <= upper. A cost has no bounds: its rows are summed."""

    expression: ca.SX  # shape (r,)
    lower: np.ndarray  # lower, upper: shape (r,); empty for a cost
    upper: np.ndarray
    labels: tuple[str, ...]  # name of every row, with its joint where it has one; empty until a problem gives it one
    units: tuple[str, ...]  # unit of every row; empty where none is stated
    scale: np.ndarray  # shape (r,); natural size of every row, in its own unit. Empty for a cost.

    @property
    def bounded(self) -> bool:
        """Whether any row has a bound."""
        return bool((np.minimum(-self.lower, self.upper) < _NO_BOUND).any())

    def take(self, chosen: Sequence[int]) -> Rows:
        chosen = list(chosen)
        labels, units = (tuple(names[k] for k in chosen) for names in (self.labels, self.units))
        expression = self.expression[chosen]
        return Rows(expression, self.lower[chosen], self.upper[chosen], labels, units, self.scale[chosen])

    def above(self, other: Rows) -> Rows:
        """These rows, then others."""
        lower, upper, scale = (np.append(getattr(self, k), getattr(other, k)) for k in ("lower", "upper", "scale"))
        expression = ca.vertcat(self.expression, other.expression)
        return Rows(expression, lower, upper, self.labels + other.labels, self.units + other.units, scale)
