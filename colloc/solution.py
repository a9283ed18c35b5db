"""A solution: the motion, how it was found, and how far it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.display import Table, short
from colloc.dynamics import joint_reactions
from colloc.errors import InputError, unknown_name
from colloc.problem import Problem
from colloc.transcription import NLP, Motion, Transcription
from colloc.violations import Violation


class Status(StrEnum):
    """How a solve ended. Only `SOLVED` is success."""

    SOLVED = "solved"
    VIOLATED = "violated between nodes"
    ACCEPTABLE = "solved to acceptable level only"
    INFEASIBLE = "infeasible"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    FAILED = "failed"


@dataclass(frozen=True)
class Sample:
    """The motion at N times, or at one.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd, tau : ndarray, shape (N, n)
        [rad, m] and per s, per s2; [N m, N]. Without the first axis for a single time.
    signals : dict of str to ndarray, shape (N, size)
        The unknown signals; also attributes under their own names.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    signals: dict[str, np.ndarray]

    def __getattr__(self, name: str) -> np.ndarray:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.signals:
            legal = ["t", "q", "qd", "qdd", "tau", *self.signals]
            raise AttributeError(str(unknown_name("quantity of a sample", name, legal)))
        return self.signals[name]


class JointReactions(NamedTuple):
    """Internal force and moment of every joint over time: what the parent exerts on the body.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    force : ndarray, shape (N, n_bodies, 3) [N]
    moment : ndarray, shape (N, n_bodies, 3) [N m]
        About the joint's origin. Both in the axes of the body's link frame.
    """

    t: np.ndarray
    force: np.ndarray
    moment: np.ndarray


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """An answer to a problem on a transcription.

    Parameters
    ----------
    nlp : NLP
        The nonlinear program that was solved, with its problem and transcription.
    x : ndarray
        Its decision vector.
    parameters : ndarray
        Values of the problem's parameters.
    status : Status
    message : str
        IPOPT's own words.
    cost : float
    terms : dict of str to float
        The cost by named term.
    violations : list of Violation
        Every constraint row on a grid finer than the nodes, worst first.
    multipliers : dict of str to ndarray
        "g" of the constraint rows and "x" of the variable bounds; CasADi's signs (positive at an upper bound).
    history : dict of str to list of float
        IPOPT's record of every iteration: obj, inf_pr, inf_du, mu, ...
    iterations : int
    seconds : dict of str to float
        "build" and "solve" wall time.
    """

    nlp: NLP
    x: np.ndarray
    parameters: np.ndarray
    status: Status
    message: str
    cost: float
    terms: dict[str, float]
    violations: Sequence[Violation]
    multipliers: dict[str, np.ndarray]
    history: dict[str, list[float]]
    iterations: int
    seconds: dict[str, float]

    @property
    def success(self) -> bool:
        """Whether the status is `Status.SOLVED`."""
        return self.status is Status.SOLVED

    @property
    def duration(self) -> float:
        """Duration of the motion [s]."""
        return float(self.x[self.nlp.grid.segments["duration"][0]])

    @property
    def violation(self) -> float:
        """Largest fine-grid violation over all constraints, relative to each row's natural size."""
        return max((v.relative for v in self.violations), default=0.0)

    @property
    def problem(self) -> Problem:
        """The problem this answers."""
        return self.nlp.problem

    @property
    def curve(self) -> Transcription:
        """The transcription it was found on."""
        return self.nlp.curve

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

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Values of the unknown constants."""
        sizes = [u.size for u in self.problem.constants]
        start = self.x.size - sum(sizes)
        parts = np.split(self.x[start:], np.cumsum(sizes)[:-1]) if sizes else []
        return {u.name: part for u, part in zip(self.problem.constants, parts, strict=True)}

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
        times = self._times(t)
        sites = self.nlp.grid.anywhere(np.clip(np.atleast_1d(times) / self.duration, 0, 1))
        stacked = sites.evaluate(sites.local.inputs[2:7], self.x, self.parameters)
        sizes = [u.size for u in self.problem.signals]
        parts = np.split(stacked[4], np.cumsum(sizes)[:-1], axis=1) if sizes else []
        signals = {u.name: part for u, part in zip(self.problem.signals, parts, strict=True)}
        one = times.ndim == 0
        arrays = [a[0] if one else a for a in stacked[:4]]
        return Sample(times, *arrays, signals={k: v[0] if one else v for k, v in signals.items()})

    def reactions(self, t: Any = None) -> JointReactions:
        """Internal force and moment of every joint, at the nodes or at given times.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration.
        """
        times = self.t if t is None else np.atleast_1d(self._times(t))
        sites = self.nlp.grid.anywhere(np.clip(times / self.duration, 0, 1))
        now = self.problem.instant
        found = joint_reactions(self.problem.model, now.q, now.qd, now.qdd, self.problem.wrenches)
        function = ca.Function("reactions", now.inputs, [ca.vec(found.force), ca.vec(found.moment)])
        outputs = list(function(*sites.local.inputs))
        force, moment = sites.evaluate(outputs, self.x, self.parameters)
        bodies = len(self.problem.model.bodies)
        return JointReactions(times, force.reshape(-1, bodies, 3), moment.reshape(-1, bodies, 3))

    def _times(self, t: Any) -> np.ndarray:
        T = self.duration
        wanted = f"t must be one or more times within [0, {T:.6g}] s, got {t!r}"
        try:
            times = np.asarray(t, dtype=float)
        except (TypeError, ValueError):
            raise InputError(wanted) from None
        inside = (times >= -1e-9 * T) & (times <= T * (1 + 1e-9))  # False for NaN
        if times.ndim > 1 or times.size == 0 or not inside.all():
            raise InputError(wanted)
        return times

    def motion(self, problem: Problem) -> Motion:
        """The solution as a guess for another problem; unknowns it does not have take their own guesses."""
        own = {u.name: u.size for u in self.problem.unknowns}
        default = {u.name: u.guess for u in problem.unknowns}

        def sampled(name: str, s: np.ndarray) -> np.ndarray:
            return getattr(self.at(s * self.duration), name)

        def signal(name: str, s: np.ndarray) -> np.ndarray:
            known = own.get(name) == default[name].size and name not in self.constants
            return sampled(name, s) if known else np.tile(default[name], (s.size, 1))

        return Motion(
            lambda s: sampled("q", s),
            lambda s: sampled("qd", s),
            lambda s: sampled("qdd", s),
            self.duration,
            signal,
            lambda name: self.constants[name] if name in self.constants else default[name],
        )

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
        rows.append(("violation", f"{short(self.violation)} of the bound's size, between nodes included"))
        for v in [v for v in self.violations if v.relative > 1e-6][:5]:
            rows.append(("", f"{v.row}: by {short(v.amount)} at t = {short(v.t)} s"))
        return Table(f"Solution of {self.problem.model.name} by {self.curve}", ("", ""), rows)
