"""What every answer can tell, be it of one motion or of a motion in phases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from colloc.errors.local import LocalError
from colloc.errors.violations import Violation
from colloc.problem import Instant
from colloc.solution.by_joint import ByJoint
from colloc.solution.ladder import Rung
from colloc.solution.sample import JointReactions, Sample
from colloc.solver import Outcome, Status
from colloc.support.checks import InputError, finite_array, unknown_name
from colloc.support.display import Table, short
from colloc.support.lazy import cached_property
from colloc.transcription import Program

_TOLD = 1e-6  # of a row's natural size: a violation beyond is listed


class Answer(ABC):
    """An answer to a problem, as its solver left it.

    Attributes
    ----------
    nlp : NLP or SequenceNLP
        The nonlinear program that was solved, with its problem and transcription.
    outcome : Outcome
        What the solver left behind.
    parameters : ndarray
        Values of the problem's parameters.
    ladder : tuple of Rung
        The rounds of the refinement that led here, this one the last; empty without one.
    """

    nlp: Program
    outcome: Outcome
    parameters: np.ndarray
    ladder: tuple[Rung, ...]

    @property
    @abstractmethod
    def error(self) -> LocalError:
        """The error of the motion between the nodes, on every interval, by source; `float(error)` is the largest."""

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
        """What changes and errors of the cost are relative to: its terms' sizes, here or at a motion slightly off."""

    @property
    @abstractmethod
    def edges(self) -> np.ndarray:
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
        """The motion at any times, on the transcription's own curve."""

    @abstractmethod
    def evaluate(self, fn: Callable[[Instant], Any], t: Any = None) -> Any:
        """Any function of the instant along the motion."""

    @abstractmethod
    def reactions(self, t: Any = None) -> JointReactions:
        """Internal force and moment of every joint, at the nodes or at given times."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        legal = [own for own in dir(type(self)) if not own.startswith("_")]
        hint = "; pictures are in co.plot, as in co.plot.summary(solution)" if name.startswith("plot") else ""
        raise AttributeError(str(unknown_name("quantity of a solution", name, legal)) + hint)

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
        return abs(self.ladder[-1].cost - self.ladder[-2].cost) / self.cost_scale

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

    @property
    def violation(self) -> float:
        """Largest fine-grid violation over all constraints, relative to each row's natural size."""
        return max((v.relative for v in self.violations), default=0.0)

    @property
    def t(self) -> np.ndarray:
        """Times of the nodes, shape (N,) [s]."""
        return self.nodes.t

    @property
    def q(self) -> ByJoint:
        """Joint positions at the nodes, shape (N, n) [rad, m]; of one joint `q["elbow"]`, as in what follows."""
        return self.nodes.q

    @property
    def qd(self) -> ByJoint:
        """Joint velocities at the nodes, shape (N, n)."""
        return self.nodes.qd

    @property
    def qdd(self) -> ByJoint:
        """Joint accelerations at the nodes, shape (N, n)."""
        return self.nodes.qdd

    @property
    def tau(self) -> ByJoint:
        """Actuator torques at the nodes, shape (N, n) [N m, N]."""
        return self.nodes.tau

    def _normalised(self, t: Any) -> np.ndarray:
        """Times as fractions of the duration; InputError for times outside the motion."""
        T = self.duration
        times = finite_array("t", t)
        inside = (times >= -1e-9 * T) & (times <= T * (1 + 1e-9))  # False for NaN
        if times.ndim > 1 or times.size == 0 or not inside.all():
            got = np.array2string(times, threshold=6)
            raise InputError(f"t must be one or more times within [0, {T:.6g}] s, got {got}")
        return np.clip(times / T, 0, 1)

    def _details(self) -> list[tuple[str, str]]:
        """More lines of the table."""
        return []

    def __getstate__(self) -> dict[str, Any]:
        """What goes to other processes: the program as a recipe, and of what follows from it arrays and names."""
        with suppress(InputError):  # of what is not finite, or of different joints
            _ = self.status, self.terms, self.nodes
        return dict(vars(self))

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [("status", f"{self.status} ({self.message})"), ("duration", f"{self.duration:.8g} s")]
        rows += self._details()
        rows.append(("cost", f"{self.cost:.8g}"))
        rows += [("", f"{value:.6g}  {name}") for name, value in self.terms.items()]
        seconds = ", ".join(f"{name} {value:.3f} s" for name, value in self.seconds.items())
        rows.append(("effort", f"{self.iterations} iterations; {seconds}"))
        rows.append(("error", f"{float(self.error):.1e} between nodes, most in {self.error.source}"))
        return Table(self.title, ("", ""), rows + self._violated())

    def _violated(self) -> list[tuple[str, str]]:
        """Lines of the table on what is violated; of equations that a solved motion meets how far it strays."""
        apart = [v for v in self.violations if v.equation and self.outcome.status is Status.SOLVED]
        other = [v for v in self.violations if v not in apart]
        worst = other[0].relative if other else 0.0
        # Of a bound at zero the natural size is one unit, which a reader must know.
        relative = "".join(f" of its row's natural size, {v.in_unit(v.size)}" for v in other[:1] if v.relative > 0)
        lines = [("violation", f"{short(worst)}{relative}, between nodes included"), *_places(other)]
        if places := _places(apart):
            strays = max(self.error.totals[source] for source in ("dynamics", "equations"))
            lines += [("equations", f"off between nodes: the motion strays by {strays:.1e}, relative"), *places]
        return lines


def _places(violations: list[Violation]) -> list[tuple[str, str]]:
    """Lines on the worst of some violations, and where they are."""
    return [("", f"{v.row}: by {v} at t = {short(v.t)} s") for v in violations if v.relative > _TOLD][:5]
