"""Programs without some rows, which are faster to differentiate and to eliminate.

Torques whose squares are minimised stay small, and in mechanisms with many joints most of their limits are never
active; equations that follow from others make systems singular. Both are left out. An optimum that satisfies them is
the answer, and its message says so. Otherwise a program with them is solved from the original start: the optimum
without limits may be in another and costlier basin, and equations may be redundant at one place only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.problem import Rows
from colloc.refinement.redundant import redundant_rows
from colloc.solver import Outcome, Start
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, BaseNLP, PhasesNLP
from colloc.transcription.derived_nlp import DerivedNLP
from colloc.transcription.nlp import ProgramCache

_MET = 1e-7  # of a row's natural size
_MANY = 20  # torques of one instant: fewer save little time and no iterations
_ROWS = 1000  # rows in total: smaller programs are as fast with them
_CLOSE = 0.9  # of a limit: it stays if an optimum comes closer


@dataclass(frozen=True, eq=False)
class ReducedNLP(DerivedNLP):
    """Another program without some of its rows.

    Parameters
    ----------
    nlp : BaseNLP
    aside : mapping of int to ndarray of bool
        Masks of the rows that are left out, at all slices, by number of the constraint block.
    """

    aside: Mapping[int, np.ndarray]

    def start(self, start: Start) -> Start:
        """A start of the other program in terms of this one."""
        if start.multipliers is None:
            return start
        return start._replace(multipliers={"g": start.multipliers["g"][self._kept], "x": start.multipliers["x"]})

    def lifted(self, outcome: Outcome) -> Outcome:
        """An outcome in terms of the other program; rows that are left out have zero multipliers."""
        multipliers, scale = np.zeros(self.nlp.n_g), outcome.scale
        multipliers[self._kept] = outcome.multipliers["g"]
        if scale is not None:
            rows = self.nlp.scale_g.copy()
            rows[self._kept] = scale.rows
            scale = scale._replace(rows=rows)
        return replace(outcome, multipliers={**outcome.multipliers, "g": multipliers}, scale=scale)

    def holds(self, x: np.ndarray, p: np.ndarray) -> bool:
        """Whether the rows that are left out are satisfied at x."""
        for values, rows in self._set_aside(x, p):
            outside = np.maximum(rows.lower[:, None] - values, values - rows.upper[:, None]) / rows.scale[:, None]
            if not (outside <= _MET).all():
                return False
        return True

    def peak(self, x: np.ndarray, p: np.ndarray) -> float:
        """Largest value of limited torques, relative to their limits; infinite if one is NaN."""
        shares = [
            np.maximum(values / rows.upper[:, None], values / rows.lower[:, None]).max()
            for values, rows in self._set_aside(x, p)
        ]
        return float(np.nan_to_num(max(shares), nan=np.inf))

    def _set_aside(self, x: np.ndarray, p: np.ndarray) -> Iterator[tuple[np.ndarray, Rows]]:
        """Values and rows that are left out, block by block."""
        for number, chosen in self.aside.items():
            block = self.nlp.constraints[number]
            yield block.evaluate(x, p)[chosen], block.rows.take(np.flatnonzero(chosen).tolist())

    @property
    def described(self) -> str:
        """The rows that are left out, as text."""
        limits, equations = 0, []
        for number, chosen in self.aside.items():
            block = self.nlp.constraints[number]
            equal = chosen & (block.rows.lower == block.rows.upper)
            limits += int(np.count_nonzero(chosen & ~equal)) * block.n_slices
            equations += [self.nlp.owner(block)[0] + block.rows.labels[row] for row in np.flatnonzero(equal)]
        words = [f"{limits} limits of torques set aside"] if limits else []
        if equations:
            words.append(f"left out, as they follow from other equations: {', '.join(dict.fromkeys(equations))}")
        return ", ".join(words)

    @cached_property
    def cache(self) -> ProgramCache:
        """Shared by all programs without these rows: a new one is made for every solve of the other program."""
        key = ("without", *((number, rows.tobytes()) for number, rows in self.aside.items()))
        return self.nlp.cache.setdefault(key, ProgramCache())

    @cached_property
    def _kept(self) -> np.ndarray:
        """Numbers of the other program's rows that remain."""
        masks = []
        for number, block in enumerate(self.nlp.constraints):
            rows = ~self.aside[number] if number in self.aside else np.ones(block.n_rows, dtype=bool)
            masks.append(np.tile(rows, block.n_slices))
        return np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *masks]))

    @cached_property
    def _remaining(self) -> dict[Block, Block]:
        """The remaining blocks, and their numbers in the other program."""
        blocks = {}
        for number, block in enumerate(self.nlp.constraints):
            if number not in self.aside:
                blocks[block] = block
            elif kept := np.flatnonzero(~self.aside[number]).tolist():
                blocks[block.with_rows(block.rows.take(kept))] = block
        return blocks

    @property
    def constraints(self) -> Sequence[Block]:
        return list(self._remaining)

    @property
    def owners(self) -> Mapping[Block, str]:
        owners = self.nlp.owners
        return {**owners, **{left: owners[block] for left, block in self._remaining.items() if block in owners}}

    def owner(self, block: Block) -> tuple[str, int | None]:
        return self.nlp.owner(self._remaining.get(block, block))


def programs(nlp: NLP | PhasesNLP, start: Start, p: np.ndarray) -> list[BaseNLP]:
    """Programs with more and more rows, the last of which is the complete one.

    They are solved one after another, from the same start, until the rows that are left out hold at the optimum. If the
    start is an optimum close to a limit, limits stay.
    """
    limits, equations = without_limits(nlp), redundant_rows(nlp, start.x, p)
    few = [ReducedNLP(nlp, equations)] if equations else []
    if isinstance(limits, ReducedNLP):
        from_optimum = start.near_optimum or start.multipliers is not None
        if not from_optimum or limits.peak(start.x, p) < _CLOSE:
            aside = dict(limits.aside)
            for number, rows in equations.items():
                aside[number] = aside.get(number, False) | rows
            few.insert(0, ReducedNLP(nlp, aside))
    return [*few, nlp]


def without_limits(nlp: NLP | PhasesNLP) -> NLP | PhasesNLP | ReducedNLP:
    """A program without limits of torques that its cost keeps small; unchanged if these are few."""
    aside = {} if _minimises_time(nlp) else _kept_small(nlp)
    counts = {number: int(np.count_nonzero(rows)) for number, rows in aside.items()}
    in_all = sum(count * nlp.constraints[number].n_slices for number, count in counts.items())
    return ReducedNLP(nlp, aside) if max(counts.values(), default=0) >= _MANY and in_all >= _ROWS else nlp


def _kept_small(nlp: BaseNLP) -> dict[int, np.ndarray]:
    """Limits, on both sides of zero, of torques that are squared in the cost.

    Masks of rows by number of the constraint block; blocks without such rows are left out.
    """
    squared: dict[str, set[int]] = {}
    for block in nlp.costs:
        if block.weights is not None:
            squared.setdefault(nlp.owners.get(block, ""), set()).update(*_torques_of(block))
    limits = {}
    for number, block in enumerate(nlp.constraints):
        name, rows = nlp.owners.get(block, ""), block.rows
        if block.n_slices == 1 or name not in squared or block.functions.torques is None:
            continue
        local = block.functions.local
        moving = local.w if local.dependent is None else ca.vertcat(local.w, local.dependent.symbols)
        only = ~np.array(ca.which_depends(block.expression, moving, 1, True), dtype=bool)
        small = np.array([bool(joints) and joints <= squared[name] for joints in _torques_of(block)])
        chosen = only & small & (rows.lower < 0) & (rows.upper > 0)
        if chosen.any():
            limits[number] = chosen
    return limits


def _torques_of(block: Block) -> list[set[int]]:
    """Numbers of the torques that each row of a block contains."""
    torques = block.functions.torques
    joints: list[set[int]] = [set() for _ in range(block.n_rows)]
    if torques is not None:
        for row, joint in zip(*ca.jacobian_sparsity(block.expression, torques.symbols).get_triplet(), strict=True):
            joints[row].add(joint)
    return joints


def _minimises_time(nlp: NLP | PhasesNLP) -> bool:
    """Whether the cost grows with a duration: such motions have active limits."""
    problems = [nlp.problem, *(phase.problem for phase in nlp.phases.values())]
    return any(term.fn is None for problem in problems for term in problem.minimize.terms)
