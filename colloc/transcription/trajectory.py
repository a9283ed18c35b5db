"""A motion as functions of the normalised time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from colloc.problem import Problem, State, Unknown


@dataclass(frozen=True)
class Trajectory:
    """A motion given by functions of the normalised time s, such as a guess."""

    q: Callable[[np.ndarray], np.ndarray]  # ndarray (N,) -> ndarray (N, n) [rad, m]
    duration: float  # [s]
    signal: Callable[[str, np.ndarray], np.ndarray]  # (name, ndarray (N,)) -> ndarray (N, size)
    constant: Callable[[str], np.ndarray]  # name -> ndarray (size,)

    def signals(self, unknowns: Sequence[Unknown | State], s: np.ndarray) -> np.ndarray:
        """Signals or states at s, side by side, shape (N, total size)."""
        return np.column_stack([np.zeros((s.size, 0)), *(self.signal(u.name, s) for u in unknowns)])

    def shared(self, problem: Problem) -> dict[str, np.ndarray | float]:
        """Duration and constants of a problem, by name."""
        return {"duration": self.duration} | {u.name: self.constant(u.name) for u in problem.constants}
