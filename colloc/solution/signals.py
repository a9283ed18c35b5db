"""Signals of a solution by name, at the nodes or at any times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import numpy as np

from colloc.problem import Phases, Problem
from colloc.problem.signal import Signal
from colloc.problem.signals import columns_of, signals_of
from colloc.solution.sample import NamedArray
from colloc.support.checks import unknown_name
from colloc.support.display import Table, Tabular, short, shown
from colloc.support.lazy import cached_property

_LISTED = 4  # components named in the table


class PhasedMotion(Protocol):
    """The part of a solution that `Signals` uses."""

    @property
    def problem(self) -> Problem | Phases: ...
    @property
    def phases(self) -> Mapping[str, Any]: ...
    @property
    def title(self) -> str: ...
    def by_phase(self, t: Any = None) -> list[tuple[str, np.ndarray]]:
        """See `BaseSolution.by_phase`."""
        ...

    def order(self, t: Any = None) -> Any:
        """See `BaseSolution.order`."""
        ...


class Signals(Tabular, Mapping[str, NamedArray]):
    """Quantities that vary in time along a motion: values at the nodes by name, printed as a table.

    Parameters
    ----------
    solution : Solution or PhasesSolution

    Examples
    --------
    >>> solution.signals["tau"]["elbow"].shape == solution.t.shape
    True
    >>> solution.signals
    Signals of two-link arm
      name  components       unit     bounds      range
      q     shoulder, elbow  rad      none        ...
      qd    shoulder, elbow  rad/s    none        ...
      qdd   shoulder, elbow  rad/s2   none        ...
      tau   shoulder, elbow  N m      [-10, 10]   ...
    """

    def __init__(self, solution: PhasedMotion):
        self._solution = solution

    @cached_property
    def definitions(self) -> dict[str, Signal]:
        """Names, units and bounds of the signals, by name."""
        return signals_of(self._solution.problem)

    def __getitem__(self, name: str) -> NamedArray:
        if name not in self.definitions:
            raise unknown_name("signal of the motion", name, self.definitions)
        return self.at(None, name)[name]

    def __contains__(self, name: object) -> bool:
        return name in self.definitions

    def __iter__(self) -> Iterator[str]:
        return iter(self.definitions)

    def __len__(self) -> int:
        return len(self.definitions)

    def at(self, t: Any, *names: str) -> dict[str, NamedArray]:
        """Signals at given times, by name; NaN in phases without them.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration; None for the nodes.
        *names : str
            All by default.

        Returns
        -------
        dict of str to ndarray, shape (N, size)
            Without the first axis for a single time.
        """
        for name in names:
            if name not in self.definitions:
                raise unknown_name("signal of the motion", name, self.definitions)
        solution, wanted = self._solution, [self.definitions[name] for name in names or self.definitions]
        parts, order = solution.by_phase(t), solution.order(t)
        tables = [_values(solution.phases[phase], wanted, times) for phase, times in parts]
        values = {}
        for signal, *arrays in zip(wanted, *tables, strict=True):
            noun = "joint" if signal.of_joints else f"component of {signal.name}"
            values[signal.name] = NamedArray(np.concatenate(arrays)[order], signal.names, noun)
        return values

    def _table(self) -> Table:
        values, rows = self.at(None), []
        for name, signal in self.definitions.items():
            components = shown(list(map(str, signal.components)), _LISTED) if signal.size > 1 or signal.names else ""
            units = ", ".join(dict.fromkeys(unit for unit in signal.units if unit))
            table = np.asarray(values[name])
            reach = "zero" if signal.zero.all() else f"{short(np.nanmin(table))} to {short(np.nanmax(table))}"
            rows.append((name, components, units, _bounds(signal), reach))
        title = f"Signals of {self._solution.title.partition(' of ')[2].partition(' by ')[0]}"
        return Table(title, ("name", "components", "unit", "bounds", "range"), rows)


def _bounds(signal: Signal) -> str:
    pairs = list(dict.fromkeys(zip(signal.lower.tolist(), signal.upper.tolist(), strict=True)))
    if not np.isfinite(pairs).any():
        return "none"
    return shown([f"[{short(low)}, {short(high)}]" for low, high in pairs], _LISTED)


def _values(phase: Any, wanted: list[Signal], t: np.ndarray) -> list[np.ndarray]:
    """Values of signals in a phase, each shape (N, size); NaN for signals that the phase does not have."""
    known = phase.signals.definitions
    there = [known[signal.name] for signal in wanted if signal.name in known]
    arrays = phase.evaluate(lambda now: tuple(signal.at(now) for signal in there), t) if there else ()
    by_name = dict(zip((signal.name for signal in there), arrays, strict=True))
    tables = []
    for signal in wanted:
        table = np.full((t.size, signal.size), np.nan)
        if signal.name in by_name:
            table[:, columns_of(known[signal.name], signal)] = by_name[signal.name].reshape(t.size, -1)
        tables.append(table)
    return tables
