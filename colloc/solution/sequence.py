"""The answer to a motion in phases, read as one motion or phase by phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, cast

import numpy as np

from colloc.curves import Transcription
from colloc.errors.cost import cost_scale
from colloc.errors.local import LocalError
from colloc.errors.violations import Violation
from colloc.problem import Instant, Sequence
from colloc.solution.refinement_round import RefinementRound
from colloc.solution.sample import JointArray, JointReactions, Sample
from colloc.solution.solution import BaseSolution, Solution
from colloc.solver import Outcome
from colloc.support.checks import InputError, finite_array, text, unknown_name
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP, SequenceNLP

_MOVING = ("q", "qd", "qdd", "tau")


@dataclass(frozen=True, eq=False, repr=False)
class SequenceSolution(BaseSolution):
    """An answer to a `Sequence`: one motion from 0 to the sum of all durations, and `solution["flight"]` of each phase.

    Where phases meet a quantity may have two values; at that time it is the later one, and `nodes` hold both.

    Parameters
    ----------
    program : SequenceNLP or DeferredNLP
    outcome : Outcome
    parameters : ndarray
    rounds : tuple of RefinementRound
        As in `Solution`.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> first = co.Problem(problem.model, 0.5, effort, problem.subject_to[:1])
    >>> second = co.Problem(problem.model, 0.5, effort, problem.subject_to[1:2])
    >>> solution = co.solve(co.Sequence({"first": first, "second": second}), co.BSpline(10))
    >>> solution.duration, solution["second"].duration, solution.at(0.75).q.shape
    (1.0, 0.5, (2,))
    """

    program: SequenceNLP | DeferredNLP
    outcome: Outcome
    parameters: np.ndarray
    rounds: tuple[RefinementRound, ...] = ()

    @property
    def problem(self) -> Sequence:
        """The sequence that this answers."""
        return cast(Sequence, self.program.problem)

    @property
    def nlp(self) -> SequenceNLP:
        """The nonlinear program that was solved, with its problem and transcription."""
        return cast(SequenceNLP, self.program.built)

    @property
    def curve(self) -> dict[str, Transcription]:
        """The transcriptions of the phases."""
        return self.program.curves

    @cached_property
    def phases(self) -> dict[str, Solution]:
        """Every phase as a solution of its own, whose time begins with it; multipliers of links are left out.

        Those of equations at its start that the phase before imposes are zero.
        """
        found, row = {}, 0
        for name, nlp in self.nlp.phases.items():
            part = self.nlp.parts[name]
            held = self.nlp.imposed[name]
            rows = np.zeros(nlp.n_g)
            rows[held] = self.multipliers["g"][row : row + held.sum()]
            multipliers = {"g": rows, "x": self.multipliers["x"][part]}
            outcome = replace(self.outcome, x=self.x[part], multipliers=multipliers)
            found[name] = Solution(nlp, outcome, self.parameters, total_cost_scale=self.cost_scale)
            row += held.sum()
        return found

    def __getitem__(self, phase: str) -> Solution:
        if text("name of a phase", phase) not in self.phases:
            first = next(iter(self.phases))
            if any(phase in own.problem.model.joint_names for own in self.phases.values()):
                raise InputError(
                    f"{phase!r} is a joint, and in brackets stands a phase: ask solution.tau[{phase!r}], or "
                    f"solution[{first!r}][{phase!r}]"
                )
            raise unknown_name("phase", phase, self.phases)
        return self.phases[phase]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.phases)

    @cached_property
    def start_times(self) -> dict[str, float]:
        """When every phase begins [s]."""
        ends = accumulate((own.duration for own in self.phases.values()), initial=0.0)
        return dict(zip(self.phases, ends, strict=False))

    @cached_property
    def duration(self) -> float:
        """Duration of all phases together [s]."""
        return sum(own.duration for own in self.phases.values())

    @cached_property
    def cost_scale(self) -> float:
        """What changes and errors of the cost are relative to: the sizes of all terms, of the phases and across."""
        phases = self.nlp.phases.items()
        parts = (cost_scale(nlp, self.x[self.nlp.parts[name]], self.parameters) for name, nlp in phases)
        across = (abs(self.terms[name]) for name in self.problem.costs)
        return sum(parts) + sum(across)

    @property
    def mesh_times(self) -> np.ndarray:
        """Ends of the intervals of all phases, shape (intervals + 1,) [s]."""
        return np.append(
            0.0, np.concatenate([self.start_times[name] + own.mesh_times[1:] for name, own in self.phases.items()])
        )

    @property
    def title(self) -> str:
        """Models, phases and curves."""
        models = ", ".join(dict.fromkeys(problem.model.name for problem in self.problem.phases.values()))
        return f"Solution of {models} in {len(self.phases)} phases by {self.nlp.described_curve}"

    @cached_property
    def error(self) -> LocalError:
        """The error between the nodes on all intervals, phase after phase, by source; `float(error)` is the largest.

        The parts of the cost's error add up; of all else the worst phase counts.
        """
        return LocalError.joined(self.mesh_times, [phase.error for phase in self.phases.values()])

    @cached_property
    def violations(self) -> list[Violation]:
        """Every row of every phase on a grid finer than the nodes, and those across phases, worst first."""
        found = []
        for name, own in self.phases.items():
            found += [self._of_whole(name, v) for v in own.violations]
        for block in self.nlp.constraints:
            if block not in self.nlp.owners:
                rows, values = block.rows, block.evaluate(self.x, self.parameters)[:, 0]
                amounts = np.maximum(0.0, np.maximum(rows.lower - values, values - rows.upper))
                own = zip(rows.labels, amounts.tolist(), rows.scale.tolist(), rows.units, strict=True)
                for label, amount, size, unit in own:
                    found.append(Violation(block.name, label, amount, amount / size, 0.0, unit, size))
        return sorted(found, key=lambda v: -v.relative)

    @cached_property
    def nodes(self) -> Sample:
        """The motion at the nodes of all phases; where phases meet before and after."""
        return self._joined([(name, own.nodes, self.start_times[name]) for name, own in self.phases.items()])

    def at(self, t: Any) -> Sample:
        """The motion at any times, on the transcriptions' own curves.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration.

        Raises
        ------
        InputError
            For times outside the motion, and where phases have different joints: those take ``solution["flight"].at``.
        """
        times = np.atleast_1d(self._normalised(t)) * self.duration
        parts = [(name, self[name].at(own), self.start_times[name]) for name, own in self.by_phase(times)]
        found, order = self._joined(parts), self._order(times)
        pick = order[0] if np.ndim(t) == 0 else order
        signals = {name: values[pick] for name, values in found.signals.items()}
        q, qd, qdd, tau = (JointArray(getattr(found, k)[pick], found.q.joints) for k in _MOVING)
        return Sample(finite_array("t", t), q, qd, qdd, tau, signals)

    def evaluate(self, fn: Callable[[Instant], Any], t: Any = None) -> Any:
        """Any function of the instant along the motion, in every phase with its own model and unknowns.

            height = solution.evaluate(lambda now: now.point("trunk").position[1])

        Parameters
        ----------
        fn, t :
            As in `Solution.evaluate`. The instant's own t and duration are those of the phase.

        Returns
        -------
        ndarray or tuple of ndarray
            As there.

        Raises
        ------
        InputError
            As there, and where the function has another shape in one phase than in another.
        """
        if t is None:
            return self._concatenated([(name, own.evaluate(fn)) for name, own in self.phases.items()])
        times = np.atleast_1d(self._normalised(t)) * self.duration
        found = self._concatenated([(name, self[name].evaluate(fn, own)) for name, own in self.by_phase(times)])
        order = self._order(times)
        pick = order[0] if np.ndim(t) == 0 else order
        return tuple(part[pick] for part in found) if isinstance(found, tuple) else found[pick]

    def reactions(self, t: Any = None) -> JointReactions:
        """Internal force and moment of every joint, at the nodes or at given times.

        Of the bodies of all phases by name; NaN in phases without them.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration.
        """
        if t is None:
            times, parts, order = self.t, [own.reactions() for own in self.phases.values()], slice(None)
        else:
            times = np.atleast_1d(finite_array("t", t))
            parts = [self[name].reactions(own) for name, own in self.by_phase(times)]
            order = self._order(self._normalised(times) * self.duration)
        every = [own.problem.model.bodies for own in self.phases.values()]
        bodies = tuple(dict.fromkeys(body.name for bodies in every for body in bodies))
        force, moment = (
            np.concatenate([_by_body(getattr(part, what), part.bodies, bodies) for part in parts])[order]
            for what in ("force", "moment")
        )
        return JointReactions(times, force, moment, bodies)

    def violations_at(self, t: Any) -> list[Violation]:
        """Every constraint row of the phases at given times, the worst of them for each row, worst row first.

        Parameters
        ----------
        t : shape (N,) [s]
            Within 0 .. duration.
        """
        times, found = np.atleast_1d(self._normalised(t)) * self.duration, []
        for name, own in self.by_phase(times):
            found += [self._of_whole(name, v) for v in self[name].violations_at(own)]
        return sorted(found, key=lambda v: -v.relative)

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Values of the unknown constants of all phases; of one that several have, such as impulses, the last one's."""
        return {name: value for own in self.phases.values() for name, value in own.constants.items()}

    def _concatenated(self, parts: list[tuple[str, Any]]) -> Any:
        """Arrays, or tuples of arrays, of one phase after another."""
        shapes = {}
        for name, found in parts:
            own = found if isinstance(found, tuple) else (found,)
            shapes.setdefault(tuple(array.shape[1:] for array in own), name)
        if len(shapes) > 1:
            (one, first), (other, second) = list(shapes.items())[:2]
            raise InputError(
                f"the function has shape {_words(one)} in phase {first!r} and {_words(other)} in {second!r}: ask each, "
                f"as in solution[{first!r}].evaluate(fn, t)"
            )
        if isinstance(parts[0][1], tuple):
            return tuple(np.concatenate(own) for own in zip(*(found for _, found in parts), strict=True))
        return np.concatenate([found for _, found in parts])

    def _of_whole(self, phase: str, own: Violation) -> Violation:
        """A violation of a phase, named with it, at the time of the whole motion."""
        constraint, row = (f"{phase}: {what}" for what in (own.constraint, own.row))
        return own._replace(constraint=constraint, row=row, t=own.t + self.start_times[phase])

    def _phase_of(self, times: np.ndarray) -> np.ndarray:
        """Number of the phase at times, the later one where two meet."""
        return np.clip(
            np.searchsorted(list(self.start_times.values()), times, side="right") - 1, 0, len(self.phases) - 1
        )

    def by_phase(self, t: Any) -> list[tuple[str, np.ndarray]]:
        """The phases in which times lie, in their order, each with its times since its own start [s].

        Where two phases meet, a time is of the later one.

        Parameters
        ----------
        t : float or shape (N,) [s]
            Within 0 .. duration.
        """
        times = np.atleast_1d(self._normalised(t)) * self.duration
        numbers, found = self._phase_of(times), []
        for k, (name, own) in enumerate(self.phases.items()):
            if (inside := numbers == k).any():
                found.append((name, np.clip(times[inside] - self.start_times[name], 0.0, own.duration)))
        return found

    def _order(self, times: np.ndarray) -> np.ndarray:
        """Where each of the times stands among those sorted by phase."""
        return np.argsort(np.argsort(self._phase_of(times), kind="stable"), kind="stable")

    def _joined(self, parts: list[tuple[str, Sample, float]]) -> Sample:
        """Samples of some phases one after another; what a phase does not have of a signal is NaN there."""
        joints = {self[name].problem.model.joint_names for name, _, _ in parts}
        if len(joints) > 1:
            names = ", ".join(name for name, _, _ in parts)
            raise InputError(f"phases {names} have different joints: ask each, as in solution[{parts[0][0]!r}].at(t)")
        t = np.concatenate([start + sample.t for _, sample, start in parts])
        names = parts[0][1].q.joints
        q, qd, qdd, tau = (
            JointArray(np.concatenate([getattr(sample, k) for _, sample, _ in parts]), names) for k in _MOVING
        )
        names = dict.fromkeys(name for _, sample, _ in parts for name in sample.signals)
        signals = {name: _beneath([_signal(sample, name) for _, sample, _ in parts]) for name in names}
        return Sample(t, q, qd, qdd, tau, signals)

    def __getstate__(self) -> dict[str, Any]:
        # The phases' solutions follow from the whole.
        return {name: value for name, value in super().__getstate__().items() if name != "phases"}

    def _details(self) -> list[tuple[str, str]]:
        return [("phase", f"{name}: {own.duration:.8g} s") for name, own in self.phases.items()]


def solution_of(
    program: NLP | SequenceNLP | DeferredNLP, outcome: Outcome, parameters: np.ndarray
) -> Solution | SequenceSolution:
    """What a solver left of a program as a solution, of one motion or of one in phases."""
    kind: Any = Solution if "" in program.curves else SequenceSolution
    return kind(program, outcome, parameters)


def _by_body(values: np.ndarray, bodies: tuple[str, ...], every: tuple[str, ...]) -> np.ndarray:
    """Vectors of some bodies among those of all, NaN of the others."""
    found = np.full((len(values), len(every), 3), np.nan)
    found[:, [every.index(body) for body in bodies]] = values
    return found


def _signal(sample: Sample, name: str) -> np.ndarray:
    return sample.signals.get(name, np.zeros((sample.t.size, 0)))


def _beneath(parts: list[np.ndarray]) -> np.ndarray:
    """Tables one after another, narrower ones filled with NaN."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate([
        np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=np.nan) for part in parts
    ])  # fmt: skip


def _words(shapes: tuple[tuple[int, ...], ...]) -> str:
    """Shapes at one time: (3,), or (3,) and () of several."""
    return " and ".join(map(str, shapes))
