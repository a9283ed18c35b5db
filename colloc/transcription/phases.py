"""The nonlinear program of a motion in phases: programs of the phases side by side, and links between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves.curve import Transcription
from colloc.kernels import Compile
from colloc.problem import PhasePoint, PhaseRows, Phases
from colloc.problem.time_sets import WHOLE
from colloc.support.checks import InputError, count, finite_array, float_array, instance
from colloc.support.display import Table
from colloc.support.lazy import cached_property
from colloc.transcription.nlp import NLP, BaseNLP, Recipe, check_phases


class _Blocks(NamedTuple):
    """Blocks in the variables of all phases, and the phase of each block that has one."""

    costs: list[Block]
    constraints: list[Block]
    owners: dict[Block, str]


@dataclass(frozen=True, eq=False, repr=False)
class PhasesNLP(BaseNLP):
    """The program of a `Phases`: variables of the phases one after another; rows and costs of each phase, then those
    across.

    Parameters
    ----------
    problem : Phases
    phases : dict of str to NLP
        Programs of the phases.

    Raises
    ------
    InputError
        For a phase on a curve with free knots.

    Examples
    --------
    >>> half = co.Problem(problem.model, 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [])
    >>> both = co.Phases({"first": half, "second": half})
    >>> list(co.transcribe(both, co.BSpline(5)).phases)
    ['first', 'second']
    """

    problem: Phases
    phases: Mapping[str, NLP]

    def __post_init__(self):
        check_phases(instance("problem", self.problem, Phases).phases, self.phases, NLP)
        for name, nlp in self.phases.items():
            if nlp.curve.free:
                raise InputError(f"phase {name!r} must have fixed knots: free knots are for a single motion")
        _ = self._of_phases, self._across

    @classmethod
    def build(cls, problem: Phases, recipes: Mapping[str, Recipe]) -> PhasesNLP:
        """Build the program of a motion in phases from recipes by phase."""
        check_phases(instance("problem", problem, Phases).phases, recipes, Recipe)
        phases = {name: NLP.build(phase, recipes[name]) for name, phase in problem.phases.items()}
        return cls(problem, phases)

    def __reduce__(self) -> tuple[Any, ...]:
        # By name: the problems are those of `Phases`, which identifies them by identity.
        return PhasesNLP.build, (self.problem, {name: nlp.recipe for name, nlp in self.phases.items()})

    @property
    def in_sequence(self) -> bool:
        return self.problem.in_sequence

    @cached_property
    def parts(self) -> dict[str, slice]:
        return _parts(self.phases)

    @cached_property
    def lower(self) -> np.ndarray:
        return np.concatenate([nlp.lower for nlp in self.phases.values()])

    @cached_property
    def upper(self) -> np.ndarray:
        return np.concatenate([nlp.upper for nlp in self.phases.values()])

    @cached_property
    def _of_phases(self) -> _Blocks:
        """The blocks of the phases, in the variables of the whole program."""
        costs, constraints, owners = [], [], {}
        for name, nlp in self.phases.items():
            for blocks, moved in ((nlp.costs, costs), (_imposed(self.problem, name, nlp), constraints)):
                for block in blocks:
                    moved.append(replace(block, sites=block.sites.moved(self.parts[name].start)))
                    owners[moved[-1]] = name
        return _Blocks(costs, constraints, owners)

    @cached_property
    def _across(self) -> _Blocks:
        """The blocks that depend on several phases."""
        constraints = []
        for name, across in self.problem.rows.items():
            block = _block(name, across, self.phases, self.parts)
            # Links that follow from end conditions on both sides would be redundant.
            if rows := block.undetermined_rows(self.lower, self.upper, self.problem.parameter_values()):
                constraints.append(block.with_rows(block.rows.take(rows)))
        costs = [_block(name, across, self.phases, self.parts) for name, (_, across) in self.problem.costs.items()]
        return _Blocks(costs, constraints, {})

    @cached_property
    def costs(self) -> list[Block]:
        """The costs of the phases as blocks, then those across."""
        return self._of_phases.costs + self._across.costs

    @cached_property
    def constraints(self) -> list[Block]:
        """The constraints of the phases as blocks, then those across."""
        return self._of_phases.constraints + self._across.constraints

    @property
    def owners(self) -> Mapping[Block, str]:
        return self._of_phases.owners

    @cached_property
    def imposed(self) -> dict[str, np.ndarray]:
        """Masks of the rows of each phase's program that this program contains; these rows come first, by phase."""
        rows = {}
        for name, nlp in self.phases.items():
            blocks = _imposed(self.problem, name, nlp)
            rows[name] = np.repeat([block in blocks for block in nlp.constraints], np.diff(nlp.offsets)).astype(bool)
        return rows

    @property
    def compile(self) -> bool | Compile | None:
        """As in `BaseNLP`, the same for all phases."""
        return next(iter(self.phases.values())).compile

    @property
    def curve(self) -> dict[str, Transcription]:
        """The curves of the phases."""
        return self.curves

    @property
    def n_p(self) -> int:
        return next(iter(self.phases.values())).n_p

    @cached_property
    def scale_x(self) -> np.ndarray:
        """Natural size of every variable, as in `NLP`."""
        return np.concatenate([nlp.scale_x for nlp in self.phases.values()])

    @property
    def free_duration(self) -> bool:
        return any(nlp.free_duration for nlp in self.phases.values())

    def with_phases(self, phases: Mapping[str, NLP]) -> PhasesNLP:
        return PhasesNLP(self.problem, phases)

    def duration(self, x: np.ndarray) -> float:
        """Total duration of all phases at x [s]."""
        x = finite_array("x", x, (self.n_x,))
        return sum(nlp.duration(x[self.parts[name]]) for name, nlp in self.phases.items())

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Value of every cost term, weights included: "phase: name" for those of phases, then those across."""
        x, p = self._checked(x, p)
        terms = {}
        for name, nlp in self.phases.items():
            terms |= {f"{name}: {term}": value for term, value in nlp.terms(x[self.parts[name]], p).items()}
        for block in self.costs:
            if block not in self.owners:
                terms[block.name] = float(block.evaluate(x, p).sum())
        return terms

    def owner(self, block: Block) -> tuple[str, int | None]:
        """The prefix of a block's phase, and the entry of x that is the duration of the phase."""
        instance("block", block, Block)
        if block not in self.owners:
            return "", None
        name = self.owners[block]
        return f"{name}: ", self.parts[name].start + int(self.phases[name].grid.layout.duration[0])

    def variable_name(self, k: int, x: np.ndarray) -> str:
        """Name of a variable with its phase."""
        count("k", k, at_least=0, at_most=self.n_x - 1)
        x = float_array("x", x, (self.n_x,))
        name = next(name for name, part in self.parts.items() if k < part.stop)
        part = self.parts[name]
        return f"{name}: {self.phases[name].variable_name(k - part.start, x[part])}"

    def _table(self) -> Table:
        lines = []
        for phase, nlp in self.phases.items():
            for name, index in nlp.grid.layout.names.items():
                fixed = int((~nlp.free[index]).sum())
                lines.append(("variables", f"{phase}: {name}", str(index.size), f"{fixed} fixed" if fixed else ""))
        return Table(f"NLP: {self.spy()}", ("", "name", "count", ""), [*lines, *self._lines()])


def _imposed(problem: Phases, phase: str, nlp: NLP) -> list[Block]:
    """Constraints of a phase without equations at its start that the phase before already imposes."""
    goes_on = _going_on(problem, phase)
    return [block for block in nlp.constraints if not (block.name in goes_on and _at_start(block))]


def _going_on(problem: Phases, phase: str) -> set[str]:
    """Constraints along a whole phase that the phase before shares, so that they hold at the start already."""
    names = set()
    for statement in problem.statements:
        first, second = statement.joins or ("", "")
        if statement.keeps_motion and second == phase and first != phase:
            before = {id(rows.constraint) for rows in problem.phases[first].rows.values()}
            rows = problem.phases[phase].rows.items()
            names |= {n for n, r in rows if id(r.constraint) in before and r.constraint.where == WHOLE}
    return names


def _at_start(block: Block) -> bool:
    """Whether a block consists of equations at the start."""
    return block.n_slices == 1 and block.sites.s[0] == 0 and bool((block.rows.lower == block.rows.upper).all())


def _parts(phases: Mapping[str, NLP]) -> dict[str, slice]:
    ends = list(accumulate((nlp.n_x for nlp in phases.values()), initial=0))
    return {name: slice(a, b) for name, a, b in zip(phases, ends, ends[1:], strict=False)}


def _block(name: str, across: PhaseRows, phases: Mapping[str, NLP], parts: Mapping[str, slice]) -> Block:
    """Rows that depend on several phases."""
    sites = reduce(EvaluationPoints.beside, (_site(point, phases[point.phase], parts) for point in across.points))
    rows = across.rows._replace(expression=across.function(*sites.local.arguments))
    return Block.of(name, sites, rows).with_constant_data()


def _site(point: PhasePoint, nlp: NLP, parts: Mapping[str, slice]) -> EvaluationPoints:
    """A point of a phase in the variables of the whole program."""
    times = {"start": 0.0, "end": 1.0}
    site = nlp.grid.anywhere(np.array([times[point.time]])) if point.time in times else nlp.grid.unvarying()
    return site.moved(parts[point.phase].start)
