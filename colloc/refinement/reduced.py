"""A program without limits that a cost keeps torques away from: fewer rows to differentiate and to eliminate.

Torques whose squares are minimised stay small by themselves, and in many joints most of their limits never hold. They
are set aside. An optimum that meets them is the answer, whose message says so; else the whole program is solved, from
where the search began, as the optimum without limits may lie in another and costlier basin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.solver import Outcome, Start
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, BaseNLP, PhasesNLP
from colloc.transcription.derived_nlp import DerivedNLP
from colloc.transcription.nlp import ProgramCache

_MET = 1e-8  # of a row's natural size
_MANY = 20  # torques of one instant: with fewer a search takes little less time, and ends in as many iterations
_CLOSE = 0.9  # of a limit: an optimum that comes so close may be held there


@dataclass(frozen=True, eq=False)
class ReducedNLP(DerivedNLP):
    """Another program without some of its inequalities.

    Parameters
    ----------
    nlp : BaseNLP
    aside : mapping of int to ndarray of bool
        By the number of a constraint block, which of its rows are set aside, at all of its slices.
    """

    aside: Mapping[int, np.ndarray]

    def start(self, start: Start) -> Start:
        """A start of the other program as one of this."""
        if start.multipliers is None:
            return start
        return start._replace(multipliers={"g": start.multipliers["g"][self._kept], "x": start.multipliers["x"]})

    def lifted(self, outcome: Outcome) -> Outcome:
        """The end of a run as one of the other program: what is set aside pushes nothing."""
        multipliers, scale = np.zeros(self.nlp.n_g), outcome.scale
        multipliers[self._kept] = outcome.multipliers["g"]
        if scale is not None:
            rows = self.nlp.scale_g.copy()
            rows[self._kept] = scale.rows
            scale = scale._replace(rows=rows)
        return replace(outcome, multipliers={**outcome.multipliers, "g": multipliers}, scale=scale)

    def holds(self, x: np.ndarray, p: np.ndarray) -> bool:
        """Whether the limits that are set aside are met at x."""
        return self._peak(x, p) <= 1 + _MET

    def suits(self, start: Start, p: np.ndarray) -> bool:
        """Whether a start can do without the limits: from an optimum that comes close to one, a search cannot."""
        return not (start.near_optimum or start.multipliers is not None) or self._peak(start.x, p) < _CLOSE

    @property
    def n_aside(self) -> int:
        """Number of rows that are set aside."""
        return self.nlp.n_g - self._kept.size

    def _peak(self, x: np.ndarray, p: np.ndarray) -> float:
        """Largest value of the rows that are set aside, relative to their limits; infinite where one is no number."""
        peaks = []
        for number, rows in self.aside.items():
            block = self.nlp.constraints[number]
            values, low, high = block.evaluate(x, p), block.rows.lower, block.rows.upper
            peaks.append(np.maximum(values / high[:, None], values / low[:, None])[rows].max())
        return float(np.nan_to_num(max(peaks), nan=np.inf))

    @cached_property
    def cache(self) -> ProgramCache:
        """That of all programs without these limits: one is made anew for every solve of the other program."""
        key = ("without", *((number, rows.tobytes()) for number, rows in self.aside.items()))
        return self.nlp.cache.setdefault(key, ProgramCache())

    @cached_property
    def _kept(self) -> np.ndarray:
        """Numbers of the other program's rows that are here."""
        masks = []
        for number, block in enumerate(self.nlp.constraints):
            rows = ~self.aside[number] if number in self.aside else np.ones(block.n_rows, dtype=bool)
            masks.append(np.tile(rows, block.n_slices))
        return np.flatnonzero(np.concatenate([np.zeros(0, dtype=bool), *masks]))

    @cached_property
    def _remaining(self) -> dict[Block, Block]:
        """The blocks that are left, and which of the other program's they are."""
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


def reduced(nlp: NLP | PhasesNLP) -> NLP | PhasesNLP | ReducedNLP:
    """A program without limits of torques that its cost keeps small; itself where there are none."""
    aside = {} if _minimises_time(nlp) else _kept_small(nlp)
    largest = max((np.count_nonzero(rows) for rows in aside.values()), default=0)
    return ReducedNLP(nlp, aside) if largest >= _MANY else nlp


def _kept_small(nlp: BaseNLP) -> dict[int, np.ndarray]:
    """Limits to either side of zero of torques that are squared in the cost.

    By the number of a constraint block which of its rows, ndarray of bool; blocks without such rows are left out.
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
        only = ~np.array(ca.which_depends(block.expression, block.functions.local.w, 1, True), dtype=bool)
        small = np.array([bool(joints) and joints <= squared[name] for joints in _torques_of(block)])
        chosen = only & small & (rows.lower < 0) & (rows.upper > 0)
        if chosen.any():
            limits[number] = chosen
    return limits


def _torques_of(block: Block) -> list[set[int]]:
    """The torques, by number, that each row of a block contains."""
    torques = block.functions.torques
    joints: list[set[int]] = [set() for _ in range(block.n_rows)]
    if torques is not None:
        for row, joint in zip(*ca.jacobian_sparsity(block.expression, torques.symbols).get_triplet(), strict=True):
            joints[row].add(joint)
    return joints


def _minimises_time(nlp: NLP | PhasesNLP) -> bool:
    """Whether the cost grows with a duration by itself: limits are what such motions end at."""
    problems = [nlp.problem, *(phase.problem for phase in nlp.phases.values())]
    return any(term.fn is None for problem in problems for term in problem.minimize.terms)
