"""Functions of the instant along an optimum, at fixed times: their derivatives by changes, and backwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.blocks.evaluation_points import EvaluationPoints, LocalView
from colloc.problem import Instant, Slots
from colloc.problem.rows import column
from colloc.problem.user_functions import error_context
from colloc.solution import BaseSolution
from colloc.support.checks import InputError
from colloc.support.lazy import cached_property
from colloc.transcription import NLP


def expression_in(nlp: NLP, fn: Callable[[Instant], Any]) -> ca.SX:
    """A function of the instant in the symbols of a problem."""
    with error_context("evaluate", nlp.problem.model.joint_names):
        value = column("evaluate", fn(nlp.problem.instant), 1)
    if value.shape[1] != 1:
        raise InputError(f"a function to evaluate must return a scalar or a column, got shape {value.shape}")
    return ca.densify(value)


def times_by_phase(solution: BaseSolution, t: np.ndarray | None) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Phases with the indices of their times, and these times since the start of the phase [s]; nodes for None."""
    parts = solution.by_phase(t)
    places = np.arange(sum(times.size for _, times in parts)) if t is None else np.argsort(solution.order(t))
    ends = np.cumsum([times.size for _, times in parts])
    return [(name, place, times) for (name, times), place in zip(parts, np.split(places, ends[:-1]), strict=True)]


@dataclass(frozen=True, eq=False)
class Samples:
    """A function of the instant at fixed times of a phase.

    If the duration changes, the instant at a fixed time is another fraction of the motion.

    Parameters
    ----------
    nlp : NLP
        Of the phase.
    expression : SX, shape (rows,)
    t : ndarray, shape (N,) [s]
        Since the start of the phase.
    x, parameters : ndarray
        Decision vector of the phase, and parameters.
    """

    nlp: NLP
    expression: ca.SX
    t: np.ndarray
    x: np.ndarray
    parameters: np.ndarray

    def rates(self, x: np.ndarray, parameters: np.ndarray, start: float) -> np.ndarray:
        """The derivative along a change, shape (N, rows).

        Parameters
        ----------
        x, parameters : ndarray
            Changes of the decision vector and of the parameters.
        start : float [s]
            Change of the start of the phase.
        """
        later = -(start + self._s * float(x[self._duration]))  # change of the time since the start at these points
        moving = bool(later.any())
        sites = self._sites(moving=moving)
        local, values = sites.local, self._values(sites.local, moving=moving)
        w, p = (ca.SX.sym(name, part.shape[0]) for name, part in (("dw", local.w), ("dp", local.p)))
        values[0] = ca.jtimes(values[0], ca.vertcat(local.w, local.p), ca.vertcat(w, p))
        fixed, *passing = self._at_all(sites, [w, p], values, [sites.slices.local(x), parameters])
        return fixed.T + later[:, None] * passing[0].T if passing else fixed.T

    def pulled_back(self, weights: np.ndarray, *, moving: bool) -> tuple[np.ndarray, np.ndarray, float]:
        """Derivatives of the sum of weights times values by the decision vector, the parameters, and the start.

        Parameters
        ----------
        weights : ndarray, shape (N, rows)
        moving : bool
            Whether the start or the duration of the phase may change.
        """
        sites = self._sites(moving=moving)
        local, weight = sites.local, ca.SX.sym("weight", *self.expression.shape)
        total, *rates = (ca.dot(weight, value) for value in self._values(local, moving=moving))
        outputs = [ca.gradient(total, local.w), ca.gradient(total, local.p), *rates]
        by_w, by_p, *passing = self._at_all(sites, [weight], outputs, [weights.T])
        slices, by_x = sites.slices, np.zeros(self.x.size)
        np.add.at(by_x, slices.index[slices.column], slices.weight * by_w[slices.row])
        if not passing:
            return by_x, by_p.sum(axis=1), 0.0
        by_x[self._duration] -= float(passing[0].ravel() @ self._s)
        return by_x, by_p.sum(axis=1), -float(passing[0].sum())

    @property
    def _duration(self) -> int:
        return int(self.nlp.grid.layout.duration[0])

    @cached_property
    def _s(self) -> np.ndarray:
        """Normalised times, shape (N,)."""
        return np.clip(self.t / self.nlp.duration(self.x), 0.0, 1.0)

    def _sites(self, *, moving: bool) -> EvaluationPoints:
        return (self.nlp.grid.with_rates if moving else self.nlp.grid).anywhere(self._s)

    def _values(self, local: LocalView, *, moving: bool) -> list[ca.SX]:
        """The function, and its rate where instants at fixed times move along the motion, in a local view."""
        now, expressions = self.nlp.problem.instant, [self.expression]
        if moving:
            expressions.append(_time_derivative(self.nlp, self.expression, now.slots))
        values = ca.Function("evaluate", now.slots, expressions)(*local.arguments)
        return list(local.resolved(values if isinstance(values, tuple) else [values]))

    def _at_all(
        self, sites: EvaluationPoints, inputs: list[ca.SX], outputs: list[ca.SX], extra: list[np.ndarray]
    ) -> list[np.ndarray]:
        """Expressions in w, d, p and further inputs at all times, each of shape (entries, N).

        Further inputs have one column for all times, or one for each.
        """
        local, count = sites.local, self.t.size
        function = ca.Function("at", [local.w, local.d, local.p, *inputs], list(map(ca.densify, outputs)))
        shared = [2, *(3 + k for k, values in enumerate(extra) if values.ndim == 1)]
        arguments = [sites.slices.local(self.x), sites.data, self.parameters, *extra]
        return [
            np.array(array).reshape(-1, count)
            for array in function.map("map", "serial", count, shared, []).call(arguments)
        ]


def _time_derivative(nlp: NLP, expression: ca.SX, slots: Slots) -> ca.SX:
    """Total time derivative of an expression; raise InputError for jerk or rates of torques or signals."""
    rates = ca.vertcat(slots.jerk, slots.tau_rate, slots.signal_rates, slots.state_rates)
    if ca.depends_on(expression, rates):
        raise InputError("a function to evaluate must not contain jerk or rates if the duration changes")
    moving = ca.vertcat(slots.t, slots.q, slots.qd, slots.qdd, slots.tau, slots.signals, slots.states)
    speeds = nlp.problem.model.position_rates(slots.q, slots.qd)
    parts = 1, speeds, slots.qdd, slots.jerk, slots.tau_rate, slots.signal_rates, slots.state_rates
    return ca.jtimes(expression, moving, ca.vertcat(*parts))
