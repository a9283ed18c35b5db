"""The nonlinear program of a motion in phases: those of the phases side by side, and what links them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import accumulate

import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints
from colloc.curves.curve import Transcription, brief
from colloc.kernels import Compile
from colloc.problem import Across, Link, Place
from colloc.problem import Sequence as Phases
from colloc.problem.where import WHOLE
from colloc.support.checks import InputError, count, finite_array, float_array, instance
from colloc.support.display import Table
from colloc.support.lazy import cached_property
from colloc.transcription.nlp import NLP
from colloc.transcription.program import Motion, Program


@dataclass(frozen=True, eq=False, repr=False)
class SequenceNLP(Program):
    """The program of a `Sequence`: variables of the phases one after another; rows and costs of each, then of all.

    Parameters
    ----------
    problem : Sequence
    phases : dict of str to NLP
        Those of the phases alone.
    costs, constraints : sequence of Block
    lower, upper : ndarray, shape (n_x,)
        Bounds of the variables.
    owners : mapping of Block to str
        The phase of every block that has one.
    compile : bool, Compile or None
        As in `NLP`.

    Examples
    --------
    >>> half = co.Problem(problem.model, 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [])
    >>> both = co.Sequence({"first": half, "second": half})
    >>> list(co.transcribe(both, co.BSpline(5)).phases)
    ['first', 'second']
    """

    problem: Phases
    phases: dict[str, NLP]
    costs: Sequence[Block]
    constraints: Sequence[Block]
    lower: np.ndarray
    upper: np.ndarray
    owners: Mapping[Block, str]
    compile: bool | Compile | None = None

    @cached_property
    def parts(self) -> dict[str, slice]:
        """Every phase's entries of a decision vector."""
        return _parts(self.phases)

    @cached_property
    def held(self) -> dict[str, np.ndarray]:
        """Which rows of every phase's own program this one has, each ndarray of bool; they come first, by phase."""
        found = {}
        for name, nlp in self.phases.items():
            own = _held(self.problem, name, nlp)
            found[name] = np.repeat([block in own for block in nlp.constraints], np.diff(nlp.offsets)).astype(bool)
        return found

    @property
    def curve(self) -> dict[str, Transcription]:
        """The curves of the phases."""
        return {name: nlp.curve for name, nlp in self.phases.items()}

    @property
    def n_p(self) -> int:
        """Number of parameters."""
        return next(iter(self.phases.values())).n_p

    @cached_property
    def scale_x(self) -> np.ndarray:
        """Natural size of every variable, from its bounds; of control points also from the width that they govern."""
        return np.concatenate([nlp.scale_x for nlp in self.phases.values()])

    @property
    def free_duration(self) -> bool:
        """Whether the duration of any phase is unknown."""
        return any(nlp.free_duration for nlp in self.phases.values())

    @property
    def motions(self) -> Sequence[Motion]:
        """The phases."""
        return [Motion(f"{name}: ", self.parts[name], nlp.problem, nlp.grid) for name, nlp in self.phases.items()]

    @property
    def described_curve(self) -> str:
        """The curves, for messages."""
        return ", ".join(dict.fromkeys(brief(curve) for curve in self.curve.values()))

    def duration(self, x: np.ndarray) -> float:
        """Duration of all phases together at x [s]."""
        x = finite_array("x", x, (self.n_x,))
        return sum(nlp.duration(x[self.parts[name]]) for name, nlp in self.phases.items())

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        """Value of every cost term, weights included: those of the phases under "phase: name", then those across."""
        x, p = self._checked(x, p)
        found = {}
        for name, nlp in self.phases.items():
            found |= {f"{name}: {term}": value for term, value in nlp.terms(x[self.parts[name]], p).items()}
        for block in self.costs:
            if block not in self.owners:
                found[block.name] = float(block.evaluate(x, p).sum())
        return found

    def owner(self, block: Block) -> tuple[str, int | None]:
        """The phase of a block, to be put before names, and the entry of x that is its duration."""
        instance("block", block, Block)
        if block not in self.owners:
            return "", None
        name = self.owners[block]
        return f"{name}: ", self.parts[name].start + int(self.phases[name].grid.layout.duration[0])

    def variable_name(self, k: int, x: np.ndarray) -> str:
        """What a variable is, with its phase."""
        count("k", k, at_least=0, at_most=self.n_x - 1)
        x = float_array("x", x, (self.n_x,))
        name = next(name for name, part in self.parts.items() if k < part.stop)
        part = self.parts[name]
        return f"{name}: {self.phases[name].variable_name(k - part.start, x[part])}"

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = []
        for phase, nlp in self.phases.items():
            for name, index in nlp.grid.layout.names.items():
                fixed = int((~nlp.free[index]).sum())
                lines.append(("variables", f"{phase}: {name}", str(index.size), f"{fixed} fixed" if fixed else ""))
        return Table(f"NLP: {self.spy()}", ("", "name", "count", ""), [*lines, *self._lines()])


def side_by_side(problem: Phases, phases: Mapping[str, NLP], compile: bool | Compile | None) -> SequenceNLP:
    """The program of a sequence from those of its phases.

    Raises
    ------
    InputError
        For a phase on a curve with free knots.
    """
    parts, costs, constraints, owners = _parts(phases), [], [], {}
    for name, nlp in phases.items():
        if getattr(nlp.curve, "free", False):
            raise InputError(f"phase {name!r} must have given knots, as free ones are those of a single motion")
        for own, every in ((nlp.costs, costs), (_held(problem, name, nlp), constraints)):
            for block in own:
                every.append(replace(block, sites=block.sites.moved(parts[name].start)))
                owners[every[-1]] = name
    lower, upper = (np.concatenate([getattr(nlp, side) for nlp in phases.values()]) for side in ("lower", "upper"))
    for name, across in problem.rows.items():
        block = _block(name, across, phases, parts)
        # What end conditions on both sides say already would stand there twice.
        if rows := block.undetermined_rows(lower, upper, problem.parameter_values()):
            constraints.append(replace(block, rows=block.rows.take(rows)))
    costs += [_block(name, across, phases, parts) for name, (_, across) in problem.costs.items()]
    return SequenceNLP(problem, dict(phases), costs, constraints, lower, upper, owners, compile)


def _held(problem: Phases, phase: str, nlp: NLP) -> list[Block]:
    """Constraints of a phase but for equations at its start that the phase before imposes already."""
    goes_on = _going_on(problem, phase)
    return [block for block in nlp.constraints if not (block.name in goes_on and _at_start(block))]


def _going_on(problem: Phases, phase: str) -> set[str]:
    """Constraints along the whole of a phase that hold at its start already: those that the phase before has, too."""
    found = set()
    for link in problem.subject_to:
        if isinstance(link, Link) and link.second == phase and link.first != phase and link.keeps_motion:
            before = {id(rows.constraint) for rows in problem.phases[link.first].rows.values()}
            own = problem.phases[phase].rows.items()
            found |= {n for n, r in own if id(r.constraint) in before and r.constraint.where == WHOLE}
    return found


def _at_start(block: Block) -> bool:
    """Whether a block is equations at the start alone."""
    return block.n_slices == 1 and block.sites.s[0] == 0 and bool((block.rows.lower == block.rows.upper).all())


def _parts(phases: Mapping[str, NLP]) -> dict[str, slice]:
    ends = list(accumulate((nlp.n_x for nlp in phases.values()), initial=0))
    return {name: slice(a, b) for name, a, b in zip(phases, ends, ends[1:], strict=False)}


def _block(name: str, across: Across, phases: Mapping[str, NLP], parts: Mapping[str, slice]) -> Block:
    """Rows that see several phases at once."""
    sites = reduce(EvaluationPoints.beside, (_site(place, phases[place.phase], parts) for place in across.places))
    rows = across.rows._replace(expression=across.function(*sites.local.arguments))
    return Block(name, sites, rows).with_constant_data()


def _site(place: Place, nlp: NLP, parts: Mapping[str, slice]) -> EvaluationPoints:
    """One place in the variables of the sequence."""
    moments = {"start": 0.0, "end": 1.0}
    varies = place.moment in moments
    site = nlp.grid.anywhere(np.array([moments[place.moment]])) if varies else nlp.grid.unvarying()
    return site.moved(parts[place.phase].start)
