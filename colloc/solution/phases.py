"""The answer to a motion in phases, as one motion or phase by phase."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, cast

import numpy as np

from colloc.curves import Transcription
from colloc.errors.cost import cost_scale
from colloc.errors.gap import CostGap
from colloc.errors.local import LocalError
from colloc.errors.violations import Violation
from colloc.problem import Instant, Phases
from colloc.problem.ordered import OrderedCosts
from colloc.solution.refinement_round import RefinementRound
from colloc.solution.sample import JointReactions, NamedArray, Sample, read_only
from colloc.solution.solution import BaseSolution, Measured, Solution, of_motion
from colloc.solution.starts import Starts
from colloc.solver import Outcome, Status
from colloc.support.checks import InputError, finite_array, text, unknown_name
from colloc.support.display import short
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP, PhasesNLP
from colloc.transcription.worst import costs_of_cases

_MOVING = ("q", "qd", "qdd", "tau")


@dataclass(frozen=True, eq=False, repr=False)
class PhasesSolution(BaseSolution):
    """An answer to a `Phases`: one motion from 0 to the sum of all durations; `solution["flight"]` is one phase.

    Where phases meet, a quantity may have two values: `at` returns the later one, `nodes` holds both.

    An answer to `Cases` has no common time: the time of each case starts at zero, `nodes` holds one case after the
    other, and `at` is that of a case, as in ``solution["5 kg"].at(t)``. `duration` is the sum of all.

    Parameters
    ----------
    program : PhasesNLP or DeferredNLP
    outcome, parameters, rounds, starts, plan, ordered, measured :
        As in `Solution`.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> first = co.Problem(problem.model, 0.5, effort, problem.subject_to[:1])
    >>> second = co.Problem(problem.model, 0.5, effort, problem.subject_to[1:2])
    >>> solution = co.solve(co.Phases({"first": first, "second": second}), co.BSpline(10))
    >>> solution.duration, solution["second"].duration, solution.at(0.75).q.shape
    (1.0, 0.5, (2,))
    """

    program: PhasesNLP | DeferredNLP
    outcome: Outcome
    parameters: np.ndarray
    rounds: tuple[RefinementRound, ...] = ()
    starts: Starts | None = None
    plan: tuple[str, ...] = ()
    ordered: OrderedCosts | None = None
    measured: Measured = field(default_factory=Measured)

    @property
    def problem(self) -> Phases:
        return cast(Phases, self.program.problem)

    @property
    def nlp(self) -> PhasesNLP:
        return cast(PhasesNLP, self.program.built)

    @property
    def curve(self) -> dict[str, Transcription]:
        return self.program.curves

    @cached_property
    def phases(self) -> dict[str, Solution]:
        """Every phase as a solution whose time starts at zero; multipliers of links are left out.

        Multipliers of equations that the phase before imposes at the start are zero.
        """
        solutions, row, (gap, motions) = {}, 0, self._motions
        for name, nlp in self.nlp.phases.items():
            part, imposed, motion = self.nlp.parts[name], self.nlp.imposed[name], motions[name]
            rows, end = np.zeros(nlp.n_g), row + imposed.sum()
            rows[imposed] = self.multipliers["g"][row:end]
            multipliers = {"g": rows, "x": self.multipliers["x"][part]}
            outcome = replace(self.outcome, x=motion.x, multipliers=multipliers)
            phase = Solution(nlp, outcome, self.parameters, (), self.cost_scale, (gap, name), measured=motion)
            solutions[name], row = phase, end
        return solutions

    @of_motion
    def _motions(self) -> tuple[CostGap, dict[str, Measured]]:
        """The distance of the cost from the best, and the motions of all phases, which keep their errors."""
        status = self.outcome.status
        motions = {name: Measured(self.x[part], self.parameters, status) for name, part in self.nlp.parts.items()}
        return self.cost_gap(), motions

    def __getitem__(self, name: str) -> Solution:
        noun = self.problem.noun
        if text(f"name of a {noun}", name) not in self.phases:
            first = next(iter(self.phases))
            if any(name in phase.problem.model.joint_names for phase in self.phases.values()):
                raise InputError(
                    f"{name!r} is a joint, and the brackets take a {noun}: use solution.tau[{name!r}] or "
                    f"solution[{first!r}][{name!r}]"
                )
            raise unknown_name(noun, name, self.phases)
        return self.phases[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.phases)

    @cached_property
    def start_times(self) -> dict[str, float]:
        return self._begins if self.problem.in_sequence else dict.fromkeys(self.phases, 0.0)

    @property
    def _begins(self) -> dict[str, float]:
        """Durations of all phases or cases before each."""
        ends = accumulate((phase.duration for phase in self.phases.values()), initial=0.0)
        return dict(zip(self.phases, ends, strict=False))

    @of_motion
    def duration(self) -> float:
        return sum(phase.duration for phase in self.phases.values())

    @of_motion
    def cost_scale(self) -> float:
        phases = self.nlp.phases.items()
        parts = (cost_scale(nlp, self.x[self.nlp.parts[name]], self.parameters) for name, nlp in phases)
        across = (abs(self.terms[name]) for name in self.problem.costs)
        return sum(parts) + sum(across)

    @property
    def mesh_times(self) -> np.ndarray:
        begins = self._begins
        ends = [begins[name] + phase.mesh_times[1:] for name, phase in self.phases.items()]
        return np.append(0.0, np.concatenate(ends))

    @property
    def title(self) -> str:
        models = ", ".join(dict.fromkeys(problem.model.name for problem in self.problem.phases.values()))
        return f"Solution of {models} in {len(self.phases)} {self.problem.noun}s by {self.nlp.described_curve}"

    @of_motion
    def error(self) -> LocalError:
        """Error between the nodes on all intervals, phase after phase, by source; `float(error)` is the sum.

        Errors of the cost add up over phases; other sources take the maximum over phases.
        """
        return LocalError.joined(self.mesh_times, [phase.error for phase in self.phases.values()])

    @of_motion
    def violations(self) -> list[Violation]:
        violations = [self._of_whole(name, v) for name, phase in self.phases.items() for v in phase.violations]
        for block in self.nlp.constraints:
            if block not in self.nlp.owners:
                rows, values = block.rows, block.evaluate(self.x, self.parameters)[:, 0]
                amounts = np.maximum(0.0, np.maximum(rows.lower - values, values - rows.upper))
                columns = rows.labels, amounts.tolist(), rows.scale.tolist(), rows.units
                for label, amount, size, unit in zip(*columns, strict=True):
                    violations.append(Violation(block.name, label, amount, amount / size, 0.0, unit, size))
        return sorted(violations, key=lambda v: -v.relative)

    @of_motion
    def nodes(self) -> Sample:
        """The motion at the nodes of all phases; twice where phases meet, before and after."""
        return read_only(self._sampled(None))

    def _normalised(self, t: Any) -> np.ndarray:
        if not self.problem.in_sequence:
            first = next(iter(self.phases))
            raise InputError(f"cases have no common time: take one, as in solution[{first!r}]")
        return super()._normalised(t)

    def at(self, t: Any) -> Sample:
        self._normalised(t)  # None, which stands for the nodes, is not a time
        return self._sampled(t)

    def _sampled(self, t: Any) -> Sample:
        """The motion at given times, or at the nodes; NaN for signals that a phase does not have."""
        phases = [(self[name], self.start_times[name], times) for name, times in self.by_phase(t)]
        models = [phase.problem.model for phase, *_ in phases]
        if len({(model.joint_names, model.position_names) for model in models}) > 1:
            names = ", ".join(name for name, _ in self.by_phase(t))
            raise InputError(
                f"phases {names} have different joints: use one phase, as in solution[{self.by_phase(t)[0][0]!r}].at(t)"
            )
        samples = [phase.nodes if t is None else phase.at(times) for phase, _, times in phases]
        order = self.order(t)
        q, qd, qdd, tau = (
            NamedArray(np.concatenate([getattr(sample, k) for sample in samples])[order], models[0].names(k))
            for k in _MOVING
        )
        names = dict.fromkeys(name for sample in samples for name in sample.signals)
        whole = np.concatenate([start + times for _, start, times in phases]) if t is None else finite_array("t", t)
        return Sample(whole, q, qd, qdd, tau, self.signals.at(t, *names) if names else {})

    def evaluate(self, fn: Callable[[Instant], Any], t: Any = None) -> Any:
        """Any function of the instant along the motion, in every phase with its own model and unknowns.

            height = solution.evaluate(lambda now: now.point("trunk").position[1])

        Parameters
        ----------
        fn, t :
            As in `Solution.evaluate`. The t and duration of the instant are those of the phase.

        Returns
        -------
        ndarray or tuple of ndarray
            As there.

        Raises
        ------
        InputError
            As there, and if the function has different shapes in different phases.
        """
        if t is None:
            return self._concatenated([(name, phase.evaluate(fn)) for name, phase in self.phases.items()])
        values = self._concatenated([(name, self[name].evaluate(fn, times)) for name, times in self.by_phase(t)])
        order = self.order(t)
        return tuple(array[order] for array in values) if isinstance(values, tuple) else values[order]

    def reactions(self, t: Any = None) -> JointReactions:
        """See `Solution.reactions`; for the bodies of all phases by name, NaN in phases without them.

        Parameters
        ----------
        t : shape (N,) [s], optional
            Within 0 .. duration.
        """
        if t is None:
            times, parts, order = self.t, [phase.reactions() for phase in self.phases.values()], slice(None)
        else:
            times = np.atleast_1d(finite_array("t", t))
            parts, order = [self[name].reactions(seconds) for name, seconds in self.by_phase(times)], self.order(times)
        models = (phase.problem.model for phase in self.phases.values())
        bodies = tuple(dict.fromkeys(body.name for model in models for body in model.bodies))
        force, moment = (
            np.concatenate([_by_body(getattr(part, quantity), part.bodies, bodies) for part in parts])[order]
            for quantity in ("force", "moment")
        )
        return JointReactions(times, force, moment, bodies)

    def violations_at(self, t: Any = None) -> list[Violation]:
        violations = [
            self._of_whole(name, v) for name, times in self.by_phase(t) for v in self[name].violations_at(times)
        ]
        return sorted(violations, key=lambda v: -v.relative)

    @property
    def constants(self) -> dict[str, np.ndarray]:
        """Unknown constants of all phases; the last phase's value for a name that several phases have, such as
        impulses.
        """
        return {name: value for phase in self.phases.values() for name, value in phase.constants.items()}

    def _of_whole(self, phase: str, violation: Violation) -> Violation:
        """A violation of a phase with the phase's name, at the time of the whole motion."""
        constraint, row = (f"{phase}: {name}" for name in (violation.constraint, violation.row))
        return violation._replace(constraint=constraint, row=row, t=violation.t + self.start_times[phase])

    def _concatenated(self, parts: list[tuple[str, Any]]) -> Any:
        """Arrays, or tuples of arrays, of one phase after another."""
        phases = {}
        for name, values in parts:
            arrays = values if isinstance(values, tuple) else (values,)
            phases.setdefault(" and ".join(str(array.shape[1:]) for array in arrays), name)
        if len(phases) > 1:
            (shape, first), (another, second) = list(phases.items())[:2]
            raise InputError(
                f"the function has shape {shape} in phase {first!r} and {another} in {second!r}: use one phase, "
                f"as in solution[{first!r}].evaluate(fn, t)"
            )
        if isinstance(parts[0][1], tuple):
            return tuple(np.concatenate(arrays) for arrays in zip(*(values for _, values in parts), strict=True))
        return np.concatenate([values for _, values in parts])

    def __getstate__(self) -> dict[str, Any]:
        # The phases' solutions follow from the fields.
        return {name: value for name, value in super().__getstate__().items() if name != "phases"}

    def _details(self) -> list[tuple[str, str]]:
        lines = {name: f"{name}: {phase.duration:.8g} s" for name, phase in self.phases.items()}
        if self.outcome.weights:
            costs = costs_of_cases(self.nlp, self.x, self.parameters).tolist()
            for name, cost, weight in zip(lines, costs, self.outcome.weights, strict=True):
                lines[name] += f", cost {short(cost)}, weight {short(weight)}"
        return [(self.problem.noun, line) for line in lines.values()]


def solution_of(
    program: NLP | PhasesNLP | DeferredNLP, outcome: Outcome, parameters: np.ndarray
) -> Solution | PhasesSolution:
    """The solution of a program from the outcome of a solver, `Solution` or `PhasesSolution`."""
    kind: Any = Solution if "" in program.curves else PhasesSolution
    if outcome.weights:
        parameters = cast(Phases, program.problem).with_weights(parameters, np.array(outcome.weights))
    return kind(program, outcome, parameters)


def initial_motion(program: NLP | PhasesNLP, x: np.ndarray, parameters: np.ndarray) -> Solution | PhasesSolution:
    """The motion at a decision vector from which a solver may start."""
    zeros = {"g": np.zeros(program.n_g), "x": np.zeros(program.n_x)}
    seconds = {"build": 0.0, "solve": 0.0, "callbacks": 0.0}
    return solution_of(program, Outcome(x, zeros, Status.INTERRUPTED, "a guess", {}, 0, seconds), parameters)


def _by_body(values: np.ndarray, bodies: tuple[str, ...], all_bodies: tuple[str, ...]) -> np.ndarray:
    """Vectors of some bodies in the columns of all bodies, NaN for the others."""
    vectors = np.full((len(values), len(all_bodies), 3), np.nan)
    vectors[:, [all_bodies.index(body) for body in bodies]] = values
    return vectors
