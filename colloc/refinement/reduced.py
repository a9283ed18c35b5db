"""A program without limits that a cost keeps torques away from: fewer rows to differentiate and to eliminate.

Torques whose squares are minimised stay small by themselves, and most of their limits never hold. They are set aside;
at the optimum they are looked at, and brought back where they count.
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
_MANY = 1000  # rows: with fewer a search takes little less time, and may as well end in another basin
_FAR = 0.5  # of a limit: farther than torques move from one optimum to another where few limits are brought back


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
        multipliers = np.zeros(self.nlp.n_g)
        multipliers[self._kept] = outcome.multipliers["g"]
        return replace(outcome, multipliers={**outcome.multipliers, "g": multipliers})

    def holds(self, x: np.ndarray, p: np.ndarray) -> bool:
        """Whether the limits that are set aside are met at x."""
        return all((peaks[rows] <= 1 + _MET).all() for peaks, rows in self._peaks(x, p).values())

    def with_limits(self, x: np.ndarray, p: np.ndarray) -> BaseNLP:
        """The program with the limits brought back that are near or exceeded at x."""
        far = {number: rows & (peaks < _FAR) for number, (peaks, rows) in self._peaks(x, p).items()}
        far = {number: rows for number, rows in far.items() if rows.any()}
        return ReducedNLP(self.nlp, far) if far else self.nlp

    def _peaks(self, x: np.ndarray, p: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Of every block with limits aside, largest values of its rows relative to these; which of them are aside."""
        peaks = {}
        for number, rows in self.aside.items():
            block = self.nlp.constraints[number]
            values, low, high = block.evaluate(x, p), block.rows.lower, block.rows.upper
            peaks[number] = np.maximum(values / high[:, None], values / low[:, None]).max(axis=1), rows
        return peaks

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
        return {left: self.nlp.owners[block] for left, block in self._remaining.items() if block in self.nlp.owners}

    def owner(self, block: Block) -> tuple[str, int | None]:
        return self.nlp.owner(self._remaining.get(block, block))


def reduced(nlp: NLP | PhasesNLP) -> NLP | PhasesNLP | ReducedNLP:
    """A program without limits of torques that its cost keeps small; itself where there are none."""
    aside = {} if _minimises_time(nlp) else _kept_small(nlp)
    count = sum(np.count_nonzero(rows) * nlp.constraints[number].n_slices for number, rows in aside.items())
    return ReducedNLP(nlp, aside) if count >= _MANY else nlp


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
