"""The error of a solution on every interval, by source.

The motion is a spline and the torque its inverse dynamics, so that no equation of motion is ever violated. A grid can
be too coarse in these respects:

    dynamics    interpolated torques: see `motion`
    cost        error of its integral, and excess over the optimum: see `cost` and `gap`
    equations   equations along the path, including those of states, between their collocation points: deviation of the
                motion if they are satisfied, see `equations` and `states`
    forces      the largest forces that hold passive joints: see `forces`
    bounds      inequalities, imposed at nodes: see `violations`

All are relative: positions to 1 + the largest of the joint (Betts 2010, section 4.7), the cost to the sum of its terms'
sizes (`cost_scale`), rows to their natural size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, overload

import numpy as np

from colloc.errors.cost import CostError, cost_error
from colloc.errors.dynamics import DynamicsError, dynamics_error
from colloc.errors.equations import equation_error
from colloc.errors.forces import force_error
from colloc.errors.gap import GapByInterval
from colloc.errors.motion import Motion
from colloc.errors.source import Deferred, Source
from colloc.errors.violations import bound_error
from colloc.support.checks import unknown_name
from colloc.support.display import Table, short
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP

# Sources by name, in the order of reports.
_MEASURES: Mapping[str, Callable[[Motion], Source]] = {
    "dynamics": dynamics_error,
    "cost": cost_error,
    "equations": equation_error,
    "forces": force_error,
    "bounds": bound_error,
}


@dataclass(frozen=True, eq=False, repr=False)
class LocalError:
    """The error of a motion on every interval of its grid; `float(error)` is the sum of its sources.

    Parameters
    ----------
    t : ndarray, shape (intervals + 1,) [s]
        Ends of the intervals.
    deferred : mapping of str to Deferred
        The sources by name; `error["cost"]` is one of them.

    Examples
    --------
    >>> list(solution.error.totals)
    ['dynamics', 'cost', 'equations', 'forces', 'bounds']
    >>> solution.error["cost"].total == solution.error.totals["cost"]
    True
    >>> solution.error["cost"].limits.shape == solution.error.cost.shape  # by interval
    True
    """

    t: np.ndarray
    deferred: Mapping[str, Deferred]

    @classmethod
    def joined(cls, t: np.ndarray, phases: Sequence[LocalError]) -> LocalError:
        """The error of a motion in phases on all intervals, phase after phase, with ends t [s]."""
        return cls(t, {name: Deferred(partial(_joined, name, phases)) for name in phases[0].deferred})

    @overload
    def __getitem__(self, name: Literal["dynamics"]) -> DynamicsError: ...

    @overload
    def __getitem__(self, name: Literal["cost"]) -> CostError: ...

    @overload
    def __getitem__(self, name: str) -> Source: ...

    def __getitem__(self, name: str) -> Source:
        if name not in self.deferred:
            raise unknown_name("source of error", name, list(self.deferred))
        return self.deferred[name].source

    def without(self, name: str) -> LocalError:
        """The error without one source, which is then not measured."""
        if name not in self.deferred:
            raise unknown_name("source of error", name, list(self.deferred))
        return LocalError(self.t, {other: source for other, source in self.deferred.items() if other != name})

    @property
    def sources(self) -> dict[str, Source]:
        """All sources by name, in the order of reports."""
        return {name: deferred.source for name, deferred in self.deferred.items()}

    @property
    def totals(self) -> dict[str, float]:
        """Relative error of the whole motion by source.

        Equations, prescribed torques and the quadrature add up over intervals; other sources take the worst interval.
        """
        return {name: source.total for name, source in self.sources.items()}

    @property
    def dynamics(self) -> np.ndarray:
        """Relative deviation of the motion within every interval, shape (intervals,)."""
        return self["dynamics"].per_interval

    @property
    def cost(self) -> np.ndarray:
        """Relative error of the cost on every interval, shape (intervals,)."""
        return self["cost"].per_interval

    @property
    def equations(self) -> np.ndarray:
        """Relative error of equations along the path on every interval, shape (intervals,)."""
        return self["equations"].per_interval

    @property
    def bounds(self) -> np.ndarray:
        """Relative error of inequalities on every interval, shape (intervals,)."""
        return self["bounds"].per_interval

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints, in the order of `position` and `torque`."""
        return self["dynamics"].joints

    @property
    def position(self) -> np.ndarray:
        """Deviation of each joint within an interval, shape (intervals, n) [rad, m]."""
        return self["dynamics"].position

    @property
    def torque(self) -> np.ndarray:
        """Required minus interpolated torque, relative to the largest, shape (intervals, n)."""
        return self["dynamics"].torque

    @cached_property
    def profile(self) -> np.ndarray:
        """The largest relative error of any source on every interval, shape (intervals,)."""
        return np.max([source.per_interval for source in self.sources.values()], axis=0)

    @property
    def motion_error(self) -> float:
        """Error of the motion as a solution of its equations: the sum of all sources except bounds and the cost."""
        return float(
            LocalError(self.t, {k: source for k, source in self.deferred.items() if k not in ("bounds", "cost")})
        )

    @property
    def source(self) -> str:
        """The source of the largest error."""
        totals = self.totals
        return max(totals, key=lambda name: totals[name])

    @property
    def interval(self) -> int:
        """The interval with the largest error of `source`."""
        return self[self.source].worst

    def sentence(self, source: str) -> str:
        """A sentence about one source, with the place of its largest error."""
        return self[source].described(self.t)

    def __float__(self) -> float:
        # Or a source that is judged alone, if that is larger.
        sources = self.sources.values()
        alone = max((source.total for source in sources if source.judged_alone), default=0.0)
        return max(alone, sum(source.total for source in sources if not source.judged_alone))

    def __str__(self) -> str:
        return self.sentence(self.source)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = []
        for name, source in self.sources.items():
            k = source.worst
            where = f"{short(self.t[k])} .. {short(self.t[k + 1])} s"
            lines.append((name, f"{source.total:.1e}", f"{source.per_interval[k]:.1e}", f"{k}", where))
        header = ("source", "in all", "largest", "interval", "time")
        return Table(f"Error between nodes: {float(self):.1e}", header, lines)


def _joined(name: str, phases: Sequence[LocalError]) -> Source:
    first, *later = (phase[name] for phase in phases)
    return first.joined(later)


def local_error(
    program: NLP | DeferredNLP,
    x: np.ndarray,
    p: np.ndarray,
    total_cost_scale: float = 0.0,
    gap: Callable[[], GapByInterval] | None = None,
) -> LocalError:
    """The error of a motion on every interval.

    Parameters
    ----------
    program : NLP or DeferredNLP
    x, p : ndarray
        Decision vector and parameters.
    total_cost_scale : float
        Scale of errors of the cost, if it is larger than that of this motion.
    gap : callable, optional
        For an optimum of the program, a function that returns its `CostGap`.
    """
    motion = Motion(program, x, p, total_cost_scale, gap)
    deferred = {name: Deferred(partial(measure, motion)) for name, measure in _MEASURES.items()}
    return LocalError(motion.nlp.grid.breakpoints * motion.nlp.duration(x), deferred)
