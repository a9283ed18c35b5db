"""A solution: the motion, how it was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, finite_array
from colloc.display import Table, short
from colloc.dynamics import joint_reactions
from colloc.interrupts import heeded
from colloc.lazy import cached_property
from colloc.problem import Instant, Problem
from colloc.problem.instant import RATES
from colloc.solution.cost_size import cost_size
from colloc.solution.error import LocalError, local_error
from colloc.solution.ladder import Rung
from colloc.solution.sample import JointReactions, Sample
from colloc.solution.violations import Violation, measure_violations
from colloc.solver import Outcome, Status
from colloc.transcription import NLP, Transcription, brief


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """An answer to a problem on a transcription.

    Parameters
    ----------
    nlp : NLP
        The nonlinear program that was solved, with its problem and transcription.
    outcome : Outcome
        What the solver left behind.
    parameters : ndarray
        Values of the problem's parameters.
    ladder : tuple of Rung
        The rounds of the refinement that led here, this one the last; empty without one.
    """

    nlp: NLP
    outcome: Outcome
    parameters: np.ndarray
    ladder: tuple[Rung, ...] = ()

    @property
    def problem(self) -> Problem:
        """The problem that this answers."""
        return self.nlp.problem

    @property
    def curve(self) -> Transcription:
        """The transcription on which it was found."""
        return self.nlp.curve

    @property
    def x(self) -> np.ndarray:
        """Decision vector of the NLP."""
        return self.outcome.x

    @property
    def multipliers(self) -> dict[str, np.ndarray]:
        """Multipliers: "g" of the constraint rows, "x" of the variable bounds; positive at an upper bound."""
        return self.outcome.multipliers

    @property
    def history(self) -> dict[str, list[float]]:
        """The solver's record of every iteration: cost, infeasibility, stationarity, ..."""
        return self.outcome.history

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.outcome.iterations

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time: "build", "solve", and "callbacks" as a part of it."""
        return self.outcome.seconds

    @property
    def message(self) -> str:
        """The solver's own words."""
        return self.outcome.message

    @cached_property
    def status(self) -> Status:
        """How the solve ended; if the solver is content, judged by what happens between the nodes.

        `COARSE` if the grid is too coarse for the motion, `VIOLATED` if a constraint is violated.
        """
        if self.outcome.status is not Status.SOLVED:
            return self.outcome.status
        if max(self.error.coarse, self.cost_change) > self.outcome.tolerance:
            return Status.COARSE
        return Status.VIOLATED if self.error.bounds.max() > self.outcome.tolerance else Status.SOLVED

    @property
    def cost_change(self) -> float:
        """Relative change of the cost in the last round of a refinement; infinite if no second round came to its end.

        Zero without a refinement.
        """
        if len(self.ladder) < 2:
            return float("inf") if self.ladder else 0.0
        return abs(self.ladder[-1].cost - self.ladder[-2].cost) / self.cost_size

    @cached_property
    def cost_size(self) -> float:
        """What changes and errors of the cost are relative to: its terms' sizes, here or at a motion slightly off."""
        return cost_size(self.nlp, self.x, self.parameters)

    @cached_property
    def error(self) -> LocalError:
        """The error of the motion between the nodes, on every interval, by source; `float(error)` is the largest."""
        return local_error(self.nlp, self.x, self.parameters)

    @property
    def success(self) -> bool:
        """Whether the status is `Status.SOLVED`."""
        return self.status is Status.SOLVED

    @cached_property
    def terms(self) -> dict[str, float]:
        """The cost by named term."""
        return self.nlp.terms(self.x, self.parameters)

    @property
    def cost(self) -> float:
        """The cost, all terms together."""
        return sum(self.terms.values())

    @cached_property
    def violations(self) -> list[Violation]:
        """Every constraint row on a grid finer than the nodes, worst first."""
        return measure_violations(self.nlp, self.x, self.parameters)

    @property
    def violation(self) -> float:
        """Largest fine-grid violation over all constraints, relative to each row's natural size."""
        return max((v.relative for v in self.violations), default=0.0)

    @heeded
    def violations_at(self, t: Any) -> list[Violation]:
        """Every constraint row at given times, the worst of them for each row, worst row first.

        Parameters
        ----------
        t : shape (N,) [s]
            Within 0 .. duration. Constraints at one moment or at the ends are taken where they hold.
        """
        return measure_violations(self.nlp, self.x, self.parameters, np.atleast_1d(self._normalised(t)))

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.nlp.duration(self.x)

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Values of the unknown constants."""
        return {name: self.x[index] for name, index in self.nlp.grid.layout.constants.items()}

    @cached_property
    def nodes(self) -> Sample:
        """The motion at the nodes."""
        return self.at(np.unique(np.append(0.0, self.nlp.grid.nodes().s)) * self.duration)

    @property
    def t(self) -> np.ndarray:
        """Times of the nodes, shape (N,) [s]."""
        return self.nodes.t

    @property
    def q(self) -> np.ndarray:
        """Joint positions at the nodes, shape (N, n) [rad, m]."""
        return self.nodes.q

    @property
    def qd(self) -> np.ndarray:
        """Joint velocities at the nodes, shape (N, n)."""
        return self.nodes.qd

    @property
    def qdd(self) -> np.ndarray:
        """Joint accelerations at the nodes, shape (N, n)."""
        return self.nodes.qdd

    @property
    def tau(self) -> np.ndarray:
        """Actuator torques at the nodes, shape (N, n) [N m, N]."""
        return self.nodes.tau

    def at(self, t: Any) -> Sample:
        """The motion at any times, on the transcription's own curve.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration.

        Raises
        ------
        InputError
            For times outside the motion.
        """
        now = self.problem.instant
        varying = {**now.signals, **now.states}
        t = finite_array("t", t)
        arrays = self._evaluated([now.q, now.qd, now.qdd, now.tau, *varying.values()], t)
        values = [array[0] if t.ndim == 0 else array for array in arrays]
        return Sample(t, *values[:4], signals=dict(zip(varying, values[4:], strict=True)))

    def evaluate(self, fn: Callable[[Instant], Any], t: Any = None) -> Any:
        """Any function of the instant along the motion.

            height, force = solution.evaluate(lambda now: (now.point("hand").position[1], now.tau), t)

        Parameters
        ----------
        fn : callable
            Instant -> SX (or number), or a tuple of them.
        t : float or shape (N,) [s], optional
            Within 0 .. duration; by default the nodes.

        Returns
        -------
        ndarray or tuple of ndarray
            Of a scalar, shape (N,); of a column, (N, rows); of a matrix, (N, rows, columns). Without the first axis
            for a single time.
        """
        if not callable(fn):
            raise InputError(f"evaluate needs a function of the instant, got {fn!r}")
        times = self.t if t is None else finite_array("t", t)
        now = self.problem.instant
        found = fn(now)
        several = isinstance(found, tuple)
        try:
            expressions = [ca.densify(ca.SX(value)) for value in (found if several else (found,))]
        except (TypeError, NotImplementedError):
            raise InputError(f"a function to evaluate must return SX or a tuple of SX, got {found!r}") from None
        arrays = [
            _shaped(array, expression.shape, one=times.ndim == 0)
            for array, expression in zip(self._evaluated(expressions, times), expressions, strict=True)
        ]
        return tuple(arrays) if several else arrays[0]

    @heeded
    def _evaluated(self, expressions: list[ca.SX], t: Any) -> list[np.ndarray]:
        """Expressions in the symbols of the problem's instant at times, each ndarray, shape (N, entries)."""
        now, grid = self.problem.instant, self.nlp.grid
        if any(
            ca.depends_on(expression, ca.vertcat(*(getattr(now.slots, k) for k in RATES))) for expression in expressions
        ):
            grid = grid.with_rates
        sites = grid.anywhere(np.atleast_1d(self._normalised(t)))
        function = ca.Function("evaluate", now.slots, expressions, {"allow_free": True})
        if function.has_free():
            free = ", ".join(function.get_free())
            raise InputError(f"a function to evaluate uses symbols that this problem does not know: {free}")
        return sites.evaluate(function.call(list(sites.local.arguments)), self.x, self.parameters)

    def reactions(self, t: Any = None) -> JointReactions:
        """Internal force and moment of every joint, at the nodes or at given times.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration.
        """

        def transmitted(now: Instant) -> tuple[ca.SX, ca.SX]:
            found = joint_reactions(now.model, now.q, now.qd, now.qdd, now.loads or ())
            return found.force.T, found.moment.T

        times = self.t if t is None else np.atleast_1d(finite_array("t", t))
        return JointReactions(times, *self.evaluate(transmitted, times))

    def _normalised(self, t: Any) -> np.ndarray:
        """Times as fractions of the duration; InputError for times outside the motion."""
        T = self.duration
        wanted = f"t must be one or more times within [0, {T:.6g}] s, got {t!r}"
        times = finite_array("t", t)
        inside = (times >= -1e-9 * T) & (times <= T * (1 + 1e-9))  # False for NaN
        if times.ndim > 1 or times.size == 0 or not inside.all():
            raise InputError(wanted)
        return np.clip(times / T, 0, 1)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [("status", f"{self.status} ({self.message})"), ("duration", f"{self.duration:.8g} s")]
        rows.append(("cost", f"{self.cost:.8g}"))
        rows += [("", f"{value:.6g}  {name}") for name, value in self.terms.items()]
        seconds = ", ".join(f"{name} {value:.3f} s" for name, value in self.seconds.items())
        rows.append(("effort", f"{self.iterations} iterations; {seconds}"))
        rows.append(("error", f"{float(self.error):.1e} between nodes, most in {self.error.source}"))
        rows.append(("violation", f"{short(self.violation)} of the bound's size, between nodes included"))
        for v in [v for v in self.violations if v.relative > 1e-6][:5]:
            rows.append(("", f"{v.row}: by {v} at t = {short(v.t)} s"))
        return Table(f"Solution of {self.problem.model.name} by {brief(self.curve)}", ("", ""), rows)


def _shaped(values: np.ndarray, shape: tuple[int, int], *, one: bool) -> np.ndarray:
    """Samples (N, entries), column after column, in the shape of the expression."""
    rows, columns = shape
    found = values.reshape(-1, columns, rows).swapaxes(1, 2)
    if columns == 1:
        found = found[:, :, 0] if rows > 1 else found[:, 0, 0]
    return found[0] if one else np.ascontiguousarray(found)
