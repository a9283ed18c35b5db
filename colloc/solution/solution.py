"""A solution: the motion, how it was computed, and how accurate it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Self, cast

import casadi as ca
import numpy as np

from colloc.curves import Transcription, brief
from colloc.dynamics.instant import RATES
from colloc.errors.cost import cost_scale
from colloc.errors.gap import CostGap
from colloc.errors.local import LocalError, local_error
from colloc.errors.violations import Violation, measure_violations
from colloc.problem import Instant, Phases, Problem
from colloc.problem.ordered import OrderedCosts
from colloc.problem.user_functions import check_numbers, error_context
from colloc.solution.refinement_round import RefinementRound
from colloc.solution.sample import JointReactions, JointSample, NamedArray, Sample, read_only
from colloc.solution.signals import Signals
from colloc.solution.starts import Starts
from colloc.solver import Outcome, Status
from colloc.solver.quadratic import quadratic_optimum
from colloc.support.checks import InputError, finite_array, finite_number, function, quoted, text
from colloc.support.display import Table, short
from colloc.support.lazy import cached_property, kept_by
from colloc.support.named import Named
from colloc.support.stopwatch import part
from colloc.transcription import NLP, DeferredNLP, PhasesNLP

_FUNCTIONS = {  # by the word with which a method of other libraries begins
    "plot": "co.plot.summary(solution)",
    "save": "co.save(solution, path)",
    "view": "co.plot.view(solution)",
    "animate": "co.plot.animate(solution, path)",
    "verify": "co.verify(solution)",
    "refine": "co.refine(solution)",
    "certify": "co.optimality.certify(solution)",
    "explain": "co.optimality.explain(solution)",
    "to": "co.storage.to_csv(solution, path)",
}
_LISTED = 1e-6  # of a row's natural size: larger violations are listed


def of_motion(measure: Callable[[Any], Any]) -> Any:
    """A property that depends only on the motion, and is shared by all solutions with this motion."""
    return kept_by("measured")(part("judge")(measure))


# Fraction of the tolerance: a smaller estimated distance from the best cost needs no finer grid to confirm it. Of 249
# motions none is further away than four times the estimate: `benchmarks.gap`.
SURE = 0.25


@dataclass(frozen=True, eq=False)
class Measured:
    """A motion and its measured properties, shared by all solutions that have this motion.

    Parameters
    ----------
    x, parameters : ndarray
        Decision vector of the program, and values of its parameters.
    status : Status
        Status from the solver; errors of the cost are estimated for an optimum only.
    """

    x: np.ndarray | None = None
    parameters: np.ndarray | None = None
    status: Status | None = None

    def is_of(self, solution: BaseSolution) -> bool:
        """Whether it is the motion of a solution."""
        same = self.x is solution.outcome.x and self.parameters is solution.parameters
        return same and self.status is solution.outcome.status


class BaseSolution(Named[Any], ABC):
    """The common part of `Solution` and `PhasesSolution`."""

    _noun = "quantity of a solution"

    program: NLP | PhasesNLP | DeferredNLP
    outcome: Outcome
    parameters: np.ndarray
    rounds: tuple[RefinementRound, ...]
    starts: Starts | None
    plan: tuple[str, ...]
    ordered: OrderedCosts | None
    measured: Measured

    def __post_init__(self) -> None:
        if not self.measured.is_of(self):
            motion = Measured(self.outcome.x, self.parameters, self.outcome.status)
            object.__setattr__(self, "measured", motion)

    @property
    @abstractmethod
    def problem(self) -> Problem | Phases:
        """The problem that was solved."""

    @property
    @abstractmethod
    def curve(self) -> Transcription | dict[str, Transcription]:
        """The curve of the motion, or of every phase."""

    @property
    @abstractmethod
    def nlp(self) -> NLP | PhasesNLP:
        """The nonlinear program that was solved, with its problem and transcription."""

    @property
    @abstractmethod
    def phases(self) -> Mapping[str, Solution]:
        """Every phase as a solution; a motion without phases is one phase with an empty name."""

    @property
    @abstractmethod
    def start_times(self) -> dict[str, float]:
        """Start times of the phases [s]."""

    @property
    @abstractmethod
    def error(self) -> LocalError:
        """Error of the motion between the nodes, on every interval, by source; `float(error)` is the sum."""

    @property
    @abstractmethod
    def violations(self) -> list[Violation]:
        """Every constraint row on a grid finer than the nodes, worst first."""

    @property
    @abstractmethod
    def duration(self) -> float:
        """Duration of the motion [s]."""

    @property
    @abstractmethod
    def cost_scale(self) -> float:
        """Scale of changes and errors of the cost: sizes of its terms, here or at a slightly different motion."""

    @property
    @abstractmethod
    def mesh_times(self) -> np.ndarray:
        """Ends of the intervals of its grid, shape (intervals + 1,) [s]."""

    @property
    @abstractmethod
    def nodes(self) -> Sample:
        """The motion at the nodes."""

    @property
    @abstractmethod
    def title(self) -> str:
        """Heading of the answer as a table."""

    @abstractmethod
    def at(self, t: Any) -> Sample:
        """The motion at any times, on the curve of the transcription.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration.

        Raises
        ------
        InputError
            For times outside the motion, and for phases with different joints: use ``solution["flight"].at``.
        """

    @abstractmethod
    def evaluate(self, fn: Callable[[Instant], Any], t: Any = None) -> Any:
        """Any function of the instant along the motion."""

    @abstractmethod
    def violations_at(self, t: Any = None) -> list[Violation]:
        """Largest violation of every constraint row at the nodes or at given times, worst row first.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration. Constraints at one time or at the ends are evaluated where they hold.
        """

    @property
    @abstractmethod
    def constants(self) -> dict[str, np.ndarray]:
        """Values of the unknown constants."""

    @abstractmethod
    def reactions(self, t: Any = None) -> JointReactions:
        """Net force and moment that the parent exerts on each body at its joint, at the nodes or at given times.

        Muscles that cross a joint carry a part of them: `Instant.joint_contact` is the force in the joint itself.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration.
        """

    @cached_property
    def signals(self) -> Signals:
        """All quantities that vary in time, by name, printed as a table; also attributes: ``solution.thrust``.

        Use brackets for a name that is an attribute already, such as `x`: `solution.signals["x"]`.
        """
        return Signals(self)

    def _named(self) -> Mapping[str, NamedArray]:
        return self.signals

    def _legal(self) -> list[str]:
        return list(dict.fromkeys([*self.signals, *super()._legal()]))

    def _no_attribute(self, name: str) -> str:
        call = _FUNCTIONS.get(name.partition("_")[0])
        return super()._no_attribute(name) if call is None else f"a solution has no {name!r}: call {call}"

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
        """Record of the solver's iterations: cost, infeasibility, stationarity, ..."""
        return self.outcome.history

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return self.outcome.iterations

    @property
    def seconds(self) -> dict[str, float]:
        """Wall time [s] of the call, "call", and its parts, which add up to it.

        "build": programs and their functions; "starts": search for cheaper optima; "solve": the solver, of which
        "callbacks" are functions and derivatives; "judge": error estimates; "switches": division into arcs; "other":
        the rest.
        """
        return self.outcome.seconds

    @property
    def message(self) -> str:
        """Message of the solver."""
        return self.outcome.message

    @cached_property
    def status(self) -> Status:
        """How the solve ended; a solve that converged is also judged by the motion between the nodes.

        `COARSE` if the grid is too coarse for the motion, `VIOLATED` if a constraint is violated.
        """
        if self.outcome.status is not Status.SOLVED:
            return self.outcome.status
        tolerance = self.outcome.tolerance
        if self.outcome.judges_motion and self.error.motion_error > tolerance:
            return Status.COARSE
        if self.exceeds(tolerance):
            return Status.VIOLATED
        costly = self.outcome.judges_cost and self.error["cost"].total > self.outcome.cost_tolerance
        costly = costly or self.exceeds_tolerance_in_sum
        unconfirmed = self.cost_change > tolerance and self.outcome.cost_tolerance > SURE * tolerance
        return Status.COARSE if costly or unconfirmed else Status.SOLVED

    def exceeds(self, tolerance: float) -> bool:
        """Whether an accurate motion exceeds its bounds; unlike the status, independent of the error of the cost.

        Parameters
        ----------
        tolerance : float
            Largest permitted excess, relative to natural sizes.
        """
        tolerance = finite_number("tolerance", tolerance, positive=True)
        if self.outcome.status is not Status.SOLVED or not self.outcome.judges_motion:
            return False
        return self.error.motion_error <= self.outcome.tolerance and bool(self.error.bounds.max() > tolerance)

    @property
    def judged_error(self) -> LocalError:
        """The error that determines the status, without the cost's if its distance from the best is not judged."""
        return self.error if self.outcome.judges_cost else self.error.without("cost")

    @property
    def exceeds_tolerance_in_sum(self) -> bool:
        """Whether the sum of all sources of error that determine the status exceeds the tolerance."""
        outcome = self.outcome
        most = max(outcome.tolerance, outcome.cost_tolerance if outcome.judges_cost else 0.0)
        return outcome.judges_motion and float(self.judged_error) > most

    @property
    def cost_change(self) -> float:
        """Relative change of the cost in the last refinement iteration; infinite if there was no second one.

        Zero without refinement.
        """
        if len(self.rounds) < 2:
            return float("inf") if self.rounds else 0.0
        return abs(self.rounds[-1].cost - self.rounds[-2].cost) / self.cost_scale

    @property
    def success(self) -> bool:
        """Whether the status is `Status.SOLVED`."""
        return self.status is Status.SOLVED

    @of_motion
    def terms(self) -> dict[str, float]:
        """The cost by named term."""
        return self.nlp.terms(self.x, self.parameters)

    @property
    def cost(self) -> float:
        """The sum of all terms of the cost."""
        return sum(self.terms.values())

    @property
    def levels(self) -> dict[str, float]:
        """Costs in their order of importance, by name: those held at their optimum, then the one that is minimised."""
        if self.ordered is None:
            return {" + ".join(self.terms): self.cost}
        return dict(zip(self.ordered.names, (*self.ordered.costs, self.cost), strict=False))

    @property
    def violation(self) -> float:
        """Largest violation of all constraints on the fine grid, relative to each row's natural size."""
        return max((v.relative for v in self.violations), default=0.0)

    @property
    def t(self) -> np.ndarray:
        """Times of the nodes, shape (N,) [s]."""
        return self.nodes.t

    @property
    def q(self) -> NamedArray:
        """Joint positions at the nodes, shape (N, n) [rad, m]; `q["elbow"]` is one joint."""
        return self.nodes.q

    @property
    def qd(self) -> NamedArray:
        """Joint velocities at the nodes, shape (N, n)."""
        return self.nodes.qd

    @property
    def qdd(self) -> NamedArray:
        """Joint accelerations at the nodes, shape (N, n)."""
        return self.nodes.qdd

    @property
    def tau(self) -> NamedArray:
        """Actuator torques at the nodes, shape (N, n) [N m, N]."""
        return self.nodes.tau

    def _normalised(self, t: Any) -> np.ndarray:
        """Times as fractions of the duration; InputError for times outside the motion."""
        T = self.duration
        times = finite_array("t", t)
        inside = (times >= -1e-9 * T) & (times <= T * (1 + 1e-9))  # False for NaN
        if times.ndim > 1 or times.size == 0 or not inside.all():
            got = np.array2string(times, threshold=6) if times.ndim < 2 else f"shape {times.shape}"
            raise InputError(f"t must be one or more times within [0, {T:.6g}] s, got {got}")
        return np.clip(times / T, 0, 1)

    def by_phase(self, t: Any = None) -> list[tuple[str, np.ndarray]]:
        """The phases that contain given times, in order, each with its times since the start of the phase [s].

        A time where two phases meet belongs to the later one. A motion without phases is one phase with an empty name.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration; None for the nodes of every phase.
        """
        if t is None:
            return [(name, phase.t) for name, phase in self.phases.items()]
        times, numbers = self._numbered(t)
        return [
            (name, np.clip(times[numbers == k] - self.start_times[name], 0.0, phase.duration))
            for k, (name, phase) in enumerate(self.phases.items())
            if (numbers == k).any()
        ]

    def order(self, t: Any = None) -> Any:
        """Index of each time among the times sorted by phase; a number for a single time, a full slice for None."""
        if t is None:
            return slice(None)
        _, numbers = self._numbered(t)
        order = np.argsort(np.argsort(numbers, kind="stable"), kind="stable")
        return order[0] if np.ndim(t) == 0 else order

    def _numbered(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """Times within the motion, and the number of the phase of each."""
        times = np.atleast_1d(self._normalised(t)) * self.duration
        numbers = np.searchsorted(list(self.start_times.values()), times, side="right") - 1
        return times, np.clip(numbers, 0, len(self.phases) - 1)

    def cost_gap(self) -> CostGap:
        """A new estimate of the distance of the cost from the best; `error` keeps its result."""
        by_ipopt = partial(quadratic_optimum, compile=self.nlp.compile)
        return CostGap(self.program, self.x, self.parameters, self.cost_scale, by_ipopt)

    def _details(self) -> list[tuple[str, str]]:
        return []

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling: the deferred program, and arrays and names that follow from it."""
        with suppress(InputError):  # values that are not finite, or different joints
            _ = self.status, self.terms, self.nodes
        fields = {name: value for name, value in vars(self).items() if name != "signals"}  # which are functions
        return fields | {"program": DeferredNLP.of(self.program)}

    def __deepcopy__(self, memo: Any) -> Self:
        # The program never changes, and neither do problems.
        copy: Any = self
        return replace(copy, outcome=deepcopy(self.outcome, memo), parameters=self.parameters.copy())

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        together = "" if self.problem.in_sequence else ", the sum of all cases"
        rows = [("status", self._verdict()), ("duration", f"{self.duration:.8g} s{together}")]
        rows += self._details() + self._turns()
        if self.ordered is not None:
            rows += [("kept", f"{cost:.8g}  {name}") for name, cost in list(self.levels.items())[:-1]]
        rows.append(("cost", f"{self.cost:.8g}"))
        rows += [("", f"{value:.6g}  {name}") for name, value in self.terms.items()]
        seconds = ", ".join(f"{name} {value:.3f} s" for name, value in self.seconds.items())
        rows.append(("effort", f"{self.iterations} iterations; {seconds}"))
        if self.plan:
            rows.append(("plan", ", ".join(self.plan) + ("; one start" if self.starts is None else "")))
        if self.starts is not None:
            rows.append(("starts", str(self.starts)))
        error = self.judged_error
        rows.append(("error", f"{float(error):.1e} between nodes, most in {error.source}"))
        return Table(self.title, ("", ""), rows + self._violated())

    def _verdict(self) -> str:
        """The status with the message of the solver; a motion that is only judged at its nodes says so."""
        judged = self.outcome.judges_motion or self.status is not Status.SOLVED
        between = "" if judged else f" at its nodes, not judged between them with tol={self.outcome.tolerance:g}"
        return f"{self.status}{between} ({self.message})"

    def _turns(self) -> list[tuple[str, str]]:
        """Lines of the table about final angles that were prescribed up to whole turns."""
        lines = []
        for phase in self.phases.values():
            for end in phase.problem.up_to_turns:
                angle, joint = (
                    float(phase.at(phase.duration).q[end.index]),
                    phase.problem.model.position_names[end.index],
                )
                turns = round((angle - end.value) / (2 * np.pi))
                lines.append(("turns", f"{joint} ends at {short(angle)} rad, {turns:+d} from {short(end.value)} rad"))
        return lines

    def _violated(self) -> list[tuple[str, str]]:
        """Lines of the table about violations, and about errors of equations between the nodes of a solved motion."""
        equations = [v for v in self.violations if v.equation and self.outcome.status is Status.SOLVED]
        violations = [v for v in self.violations if v not in equations]
        worst = violations[0].relative if violations else 0.0
        # The natural size of a bound at zero is one unit, which the reader must see.
        relative = "".join(f" of its row's natural size, {v.in_unit(v.size)}" for v in violations[:1] if v.relative > 0)
        lines = [("violation", f"{short(worst)}{relative}, including between nodes"), *_places(violations)]
        if places := _places(equations):
            strays = sum(self.error[source].total for source in ("dynamics", "equations"))
            lines += [("equations", f"relative error of the motion between nodes: {strays:.1e}"), *places]
        return lines


@dataclass(frozen=True, eq=False, repr=False)
class Solution(BaseSolution):
    """An answer to a problem on a transcription.

    Parameters
    ----------
    program : NLP or DeferredNLP
        The nonlinear program that was solved, with its problem and transcription. A program from another process or
        from a file is built on first use.
    outcome : Outcome
        Result of the solver.
    parameters : ndarray
        Values of the problem's parameters.
    rounds : tuple of RefinementRound
        The refinement iterations that led here, this one last; empty without refinement.
    starts : Starts or None
        Results of the starts; None if the guess was the only one. Not stored in files.
    plan : tuple of str
        Steps that produced this answer, see `solve`. Not stored in files.
    ordered : OrderedCosts, optional
        For costs in order of importance: the original problem, and the costs that are held.
    measured : Measured
        The motion and its measured properties, shared with other solutions of the same motion.
    total_cost_scale : float
        Scale of the cost of the whole motion if this is a phase: lower limit of the scale of its cost's errors.
    part_of : (CostGap, str), optional
        Distance of the cost of the whole motion from the best, and the name of this phase.

    Examples
    --------
    >>> solution.status, round(solution.duration, 3)
    (<Status.SOLVED: 'solved'>, 0.392)
    >>> solution.at(0.1).tau.round(1)
    array([10., 10.])
    >>> solution.tau.shape == solution.q.shape
    True
    """

    program: NLP | DeferredNLP
    outcome: Outcome
    parameters: np.ndarray
    rounds: tuple[RefinementRound, ...] = ()
    total_cost_scale: float = 0.0
    part_of: tuple[CostGap, str] | None = None
    starts: Starts | None = None
    plan: tuple[str, ...] = ()
    ordered: OrderedCosts | None = None
    measured: Measured = field(default_factory=Measured)

    def __getitem__(self, joint: str) -> JointSample:
        """One joint at the nodes: `solution["elbow"].tau`, shape (N,)."""
        return self.nodes[text("name of a joint", joint)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.problem.model.joint_names)

    @property
    def phases(self) -> dict[str, Solution]:
        return {"": self}

    @property
    def start_times(self) -> dict[str, float]:
        return {"": 0.0}

    @property
    def problem(self) -> Problem:
        return cast(Problem, self.program.problem)

    @property
    def nlp(self) -> NLP:
        return cast(NLP, self.program.built)

    @property
    def curve(self) -> Transcription:
        return self.program.curves[""]

    @of_motion
    def cost_scale(self) -> float:
        return max(cost_scale(self.nlp, self.x, self.parameters), self.total_cost_scale)

    @of_motion
    def error(self) -> LocalError:
        gap, name = self.part_of or (self.cost_gap(), "")
        # The distance from the best means nothing for an iterate that is no optimum of its own program.
        share = partial(gap.share, name) if self.outcome.status is Status.SOLVED else None
        return local_error(self.program, self.x, self.parameters, self.cost_scale, share)

    @of_motion
    def violations(self) -> list[Violation]:
        return measure_violations(self.nlp, self.x, self.parameters)

    def violations_at(self, t: Any = None) -> list[Violation]:
        times = self.t if t is None else t
        return measure_violations(self.nlp, self.x, self.parameters, np.atleast_1d(self._normalised(times)))

    @of_motion
    def duration(self) -> float:
        return self.nlp.duration(self.x)

    @property
    def mesh_times(self) -> np.ndarray:
        return self.nlp.grid.breakpoints * self.duration

    @property
    def title(self) -> str:
        return f"Solution of {self.problem.model.name} by {brief(self.curve)}"

    @property
    def constants(self) -> dict[str, np.ndarray]:
        return {name: self.x[index] for name, index in self.nlp.grid.layout.constants.items()}

    @of_motion
    def nodes(self) -> Sample:
        return read_only(self.at(np.unique(np.append(0.0, self.nlp.grid.nodes().s)) * self.duration))

    def at(self, t: Any) -> Sample:
        now = self.problem.instant
        varying = {**now.signals, **now.states}
        t = finite_array("t", t)
        arrays = self._evaluated([now.q, now.qd, now.qdd, now.tau, *varying.values()], t)
        values = [array[0] if t.ndim == 0 else array for array in arrays]
        moving = [
            NamedArray(value, self.problem.model.names(quantity))
            for quantity, value in zip(("q", "qd", "qdd", "tau"), values, strict=False)
        ]
        names = [tuple(u.names) for u in (*self.problem.signals, *self.problem.states)]
        signals = {
            name: NamedArray(value, components, f"component of {name}")
            for name, value, components in zip(varying, values[4:], names, strict=True)
        }
        return Sample(t, *moving, signals=signals)

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
            Shape (N,) for a scalar, (N, rows) for a column, (N, rows, columns) for a matrix; no first axis for a single
            time.
        """
        function("evaluate", fn, "a function of the instant", "now")
        times = self.t if t is None else finite_array("t", t)
        now = self.problem.instant
        with error_context("evaluate", self.problem.model.joint_names):
            result = fn(now)
        several = isinstance(result, tuple)
        try:
            expressions = [ca.densify(ca.SX(value)) for value in (result if several else (result,))]
        except (TypeError, NotImplementedError):
            raise InputError(f"a function to evaluate must return SX or a tuple of SX, got {quoted(result)}") from None
        arrays = [
            _shaped(array, expression.shape, single=times.ndim == 0)
            for array, expression in zip(self._evaluated(expressions, times), expressions, strict=True)
        ]
        return tuple(arrays) if several else arrays[0]

    def reactions(self, t: Any = None) -> JointReactions:
        def transmitted(now: Instant) -> tuple[ca.SX, ca.SX]:
            reactions = now.joint_reactions
            return reactions.force.T, reactions.moment.T

        times = self.t if t is None else np.atleast_1d(finite_array("t", t))
        names = tuple(body.name for body in self.problem.model.bodies)
        force, moment = self.evaluate(transmitted, times)
        return JointReactions(times, force, moment, names)

    def _evaluated(self, expressions: list[ca.SX], t: Any) -> list[np.ndarray]:
        """Values of expressions in the symbols of the problem's instant, each shape (N, entries)."""
        now, grid = self.problem.instant, self.nlp.grid
        rates = ca.vertcat(*(getattr(now.slots, k) for k in RATES))
        if any(ca.depends_on(expression, rates) for expression in expressions):
            grid = grid.with_rates
        sites = grid.anywhere(np.atleast_1d(self._normalised(t)))
        function = ca.Function("evaluate", now.slots, expressions, {"allow_free": True})
        if function.has_free():
            free = ", ".join(function.get_free())
            raise InputError(f"a function to evaluate must use symbols of this problem only, got {free}")
        arrays = sites.evaluate(function.call(list(sites.local.arguments)), self.x, self.parameters)
        if any(np.isnan(array).any() for array in arrays):
            check_numbers("evaluate", function)
        return arrays


def _shaped(values: np.ndarray, shape: tuple[int, int], *, single: bool) -> np.ndarray:
    """Samples (N, entries), in column-major order, in the shape of the expression."""
    rows, columns = shape
    samples = values.reshape(values.shape[0], columns, rows).swapaxes(1, 2)
    if columns == 1:
        samples = samples[:, 0, 0] if rows == 1 else samples[:, :, 0]
    return samples[0] if single else np.ascontiguousarray(samples)


def _places(violations: list[Violation]) -> list[tuple[str, str]]:
    """Lines about the largest violations, with row and time."""
    return [("", f"{v.row}: by {v} at t = {short(v.t)} s") for v in violations if v.relative > _LISTED][:5]
