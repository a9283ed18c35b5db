"""A solution: the motion, how it was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.curves import Transcription, brief
from colloc.dynamics import joint_reactions
from colloc.errors.cost_scale import cost_size
from colloc.errors.local import LocalError, local_error
from colloc.errors.violations import Violation, measure_violations
from colloc.problem import Instant, Problem
from colloc.problem.instant import RATES
from colloc.problem.user_functions import blamed, check_numbers
from colloc.solution.answer import Answer
from colloc.solution.by_joint import ByJoint
from colloc.solution.ladder import Rung
from colloc.solution.sample import JointMotion, JointReactions, Sample
from colloc.solver import Outcome
from colloc.support.checks import InputError, finite_array, function, quoted, text
from colloc.support.lazy import cached_property
from colloc.transcription import NLP


@dataclass(frozen=True, eq=False, repr=False)
class Solution(Answer):
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
    whole : float
        Size of the cost of the motion of which this is a phase: what errors of its cost are measured by, at least.

    Examples
    --------
    >>> solution.status, round(solution.duration, 3)
    (<Status.SOLVED: 'solved'>, 0.392)
    >>> solution.at(0.1).tau.round(1)
    array([10., 10.])
    >>> solution.tau.shape == solution.q.shape
    True
    """

    nlp: NLP
    outcome: Outcome
    parameters: np.ndarray
    ladder: tuple[Rung, ...] = ()
    whole: float = 0.0

    def __getitem__(self, joint: str) -> JointMotion:
        """One joint at the nodes: `solution["elbow"].tau`, shape (N,)."""
        return self.nodes[text("name of a joint", joint)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.problem.model.joint_names)

    @property
    def phases(self) -> dict[str, Solution]:
        """This motion as one phase, without a name."""
        return {"": self}

    @property
    def starts(self) -> dict[str, float]:
        """When every phase begins [s]."""
        return {"": 0.0}

    @property
    def problem(self) -> Problem:
        """The problem that this answers."""
        return self.nlp.problem

    @property
    def curve(self) -> Transcription:
        """The transcription on which it was found."""
        return self.nlp.curve

    @cached_property
    def cost_size(self) -> float:
        """What changes and errors of the cost are relative to: its terms' sizes, here or at a motion slightly off."""
        return max(cost_size(self.nlp, self.x, self.parameters), self.whole)

    @cached_property
    def error(self) -> LocalError:
        """The error of the motion between the nodes, on every interval, by source; `float(error)` is the largest."""
        return local_error(self.nlp, self.x, self.parameters, self.whole)

    @cached_property
    def violations(self) -> list[Violation]:
        """Every constraint row on a grid finer than the nodes, worst first."""
        return measure_violations(self.nlp, self.x, self.parameters)

    def violations_at(self, t: Any) -> list[Violation]:
        """Every constraint row at given times, the worst of them for each row, worst row first.

        Parameters
        ----------
        t : shape (N,) [s]
            Within 0 .. duration. Constraints at one moment or at the ends are taken where they hold.
        """
        return measure_violations(self.nlp, self.x, self.parameters, np.atleast_1d(self._normalised(t)))

    @cached_property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return self.nlp.duration(self.x)

    @property
    def edges(self) -> np.ndarray:
        """Ends of the intervals of its grid, shape (intervals + 1,) [s]."""
        return self.nlp.grid.breakpoints * self.duration

    @property
    def title(self) -> str:
        """Model and curve."""
        return f"Solution of {self.problem.model.name} by {brief(self.curve)}"

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Values of the unknown constants."""
        return {name: self.x[index] for name, index in self.nlp.grid.layout.constants.items()}

    @cached_property
    def nodes(self) -> Sample:
        """The motion at the nodes."""
        return self.at(np.unique(np.append(0.0, self.nlp.grid.nodes().s)) * self.duration)

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
        moving = [
            ByJoint(value, self.problem.model.names(quantity))
            for quantity, value in zip(("q", "qd", "qdd", "tau"), values, strict=False)
        ]
        return Sample(t, *moving, signals=dict(zip(varying, values[4:], strict=True)))

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
        function("evaluate", fn, "a function of the instant", "now")
        times = self.t if t is None else finite_array("t", t)
        now = self.problem.instant
        with blamed("evaluate", self.problem.model.joint_names):
            found = fn(now)
        several = isinstance(found, tuple)
        try:
            expressions = [ca.densify(ca.SX(value)) for value in (found if several else (found,))]
        except (TypeError, NotImplementedError):
            raise InputError(f"a function to evaluate must return SX or a tuple of SX, got {quoted(found)}") from None
        arrays = [
            _shaped(array, expression.shape, one=times.ndim == 0)
            for array, expression in zip(self._evaluated(expressions, times), expressions, strict=True)
        ]
        return tuple(arrays) if several else arrays[0]

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
        names = tuple(body.name for body in self.problem.model.bodies)
        force, moment = self.evaluate(transmitted, times)
        return JointReactions(times, force, moment, names)

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
        found = sites.evaluate(function.call(list(sites.local.arguments)), self.x, self.parameters)
        if any(np.isnan(array).any() for array in found):
            check_numbers("evaluate", function)
        return found


def _shaped(values: np.ndarray, shape: tuple[int, int], *, one: bool) -> np.ndarray:
    """Samples (N, entries), column after column, in the shape of the expression."""
    rows, columns = shape
    found = values.reshape(values.shape[0], columns, rows).swapaxes(1, 2)
    if columns == 1:
        found = found[:, 0, 0] if rows == 1 else found[:, :, 0]
    return found[0] if one else np.ascontiguousarray(found)
