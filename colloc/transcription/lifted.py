"""Programs with torques as additional variables, tied to the motion by equations, which need fewer iterations.

In positions alone, a torque in a cost or a limit is a nonlinear function of all joints. As a variable u, with the
equation tau(q, qd, qdd) - u = 0, a squared torque is convex and a limit is a bound on one variable, and Newton's method
satisfies the equations on the way: see Albersmeyer and Diehl (2010), "The lifted Newton method and its application in
optimization", SIAM Journal on Optimization 20. The feasible motions and the optima are the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation_points import EvaluationPoints, LocalView
from colloc.blocks.functions import BlockFunctions
from colloc.blocks.slices import Slices
from colloc.dynamics.rows import Rows
from colloc.support.lazy import cached_property
from colloc.transcription.derived_nlp import DerivedNLP
from colloc.transcription.nlp import BaseNLP, ProgramCache

_LEAST = 1e-2  # smallest size of a torque, relative to the largest at the same sites

_SitesKey = tuple[str, bytes, bytes]  # key: phase, times and intervals of sites


@dataclass(frozen=True, eq=False)
class _Lifted:
    """Torques at the sites of one or several blocks, as variables."""

    block: Block  # the first of the blocks
    joints: list[int]
    index: np.ndarray  # ints, shape (joints, sites); their entries of the decision vector

    def seen_by(self, block: Block, view: LocalView) -> EvaluationPoints:
        """The sites of a block, extended by these variables."""
        return replace(block.sites, local=view, slices=block.sites.slices.beside(Slices.of(self.index)))

    def lift(self, block: Block) -> Block:
        """One of the blocks in terms of these variables."""
        made, key, torques = block.functions.kernels, ("lifted", *self.joints), block.functions.torques
        if key not in made:
            assert torques is not None
            local = block.sites.local
            lifted = torques.symbols[self.joints]
            dependent = None if local.dependent is None else local.dependent.beside(lifted)
            view = LocalView(ca.vertcat(local.w, lifted), local.d, local.p, dependent=dependent)
            made[key] = BlockFunctions(view, block.rows, block.weights)
        return replace(block, sites=self.seen_by(block, made[key].local), functions=made[key])

    def equations(self, names: Sequence[str]) -> Block:
        """The equations: torques minus these variables; `names` are those of all joints."""
        local = self.block.sites.local
        made, key, torques = local.functions, ("torques less variables", *self.joints), local.torques
        if key not in made:
            assert torques is not None
            u, zero = ca.SX.sym("u", len(self.joints)), np.zeros(len(self.joints))
            view = LocalView(ca.vertcat(local.w, u), local.d, local.p, torques=torques.beside(u))
            labels, units = tuple(f"tau[{names[k]}] lifted" for k in self.joints), ("",) * zero.size
            rows = Rows(torques.symbols[self.joints] - u, zero, zero, labels, units, np.ones(zero.size))
            made[key] = BlockFunctions(view, rows)
        return replace(
            self.block, name="lifted torques", sites=self.seen_by(self.block, made[key].local), functions=made[key]
        )


@dataclass(frozen=True, eq=False)
class LiftedNLP(DerivedNLP):
    """Another program with the torques in its costs and inequalities as additional variables, after its own.

    Rows of the other program come first, in their order, then the equations.

    Parameters
    ----------
    nlp : BaseNLP
        A program that takes its bounds from its blocks.
    sizes : tuple of float
        Natural sizes of the torques, one per row of the equations at a site; see `at`.
    """

    sizes: tuple[float, ...]

    @classmethod
    def at(cls, nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> LiftedNLP:
        """The program with sizes of torques from their values at x, shape (n_x,), rounded to powers of ten."""
        bare, sizes = cls(nlp, ()), []
        for torques in bare.torques(x, p):
            largest = np.abs(torques).max(axis=1, initial=0.0)
            largest = np.maximum(largest, _LEAST * largest.max(initial=0.0))
            sizes += np.where(
                largest > 0, 10.0 ** np.round(np.log10(np.where(largest > 0, largest, 1.0))), 1.0
            ).tolist()
        return cls(nlp, tuple(sizes))

    def start(self, x: np.ndarray, p: np.ndarray, share: float = 1.0) -> np.ndarray:
        """Decision vector, shape (n_x,), from one of the other program, with torques scaled by `share`."""
        return np.concatenate([x, *(share * torques.ravel("F") for torques in self.torques(x, p))])

    def torques(self, x: np.ndarray, p: np.ndarray) -> list[np.ndarray]:
        """Torques at a decision vector of the other program, by set of sites, each shape (joints, sites)."""
        padded = np.append(x, np.zeros(self.n_x - self.nlp.n_x))
        return [block.evaluate(padded, p) for block in self._equations]

    def compact(self, x: np.ndarray, multipliers: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """A decision vector and multipliers, "g" of the rows and "x" of the bounds, in terms of the other program."""
        n = self.nlp.n_x
        return x[:n], {"g": multipliers["g"][: self.nlp.n_g], "x": multipliers["x"][:n]}

    @cached_property
    def _sets(self) -> dict[_SitesKey, _Lifted]:
        """The lifted torques, by sites."""
        blocks: dict[_SitesKey, list[Block]] = {}
        for block in (*self.nlp.costs, *self.nlp.constraints):
            if torques_to_lift(block):
                blocks.setdefault(self._key(block), []).append(block)
        sets, first = {}, self.nlp.n_x
        for key, some in blocks.items():
            joints = sorted(set().union(*map(torques_to_lift, some)))
            index = first + np.arange(some[0].n_slices * len(joints)).reshape(-1, len(joints)).T
            sets[key], first = _Lifted(some[0], joints, index), first + index.size
        return sets

    def _key(self, block: Block) -> _SitesKey:
        interval = block.sites.interval
        return self._phase(block), block.sites.s.tobytes(), b"" if interval is None else interval.tobytes()

    def _phase(self, block: Block) -> str:
        return self.nlp.owners.get(block, "")

    @cached_property
    def _made_from(self) -> dict[Block, Block]:
        """All blocks except the equations, and the blocks of the other program from which they were made."""
        blocks = (*self.nlp.costs, *self.nlp.constraints)
        return {self._sets[self._key(b)].lift(b) if torques_to_lift(b) else b: b for b in blocks}

    @cached_property
    def _equations(self) -> dict[Block, Block]:
        """The equations, with the blocks of the other program at their sites."""
        names = {name: phase.problem.model.joint_names for name, phase in self.nlp.phases.items()}
        return {some.equations(names[self._phase(some.block)]): some.block for some in self._sets.values()}

    @cached_property
    def costs(self) -> Sequence[Block]:
        return list(self._made_from)[: len(self.nlp.costs)]

    @cached_property
    def constraints(self) -> Sequence[Block]:
        return [*list(self._made_from)[len(self.nlp.costs) :], *self._equations]

    @cached_property
    def owners(self) -> Mapping[Block, str]:
        owners = self.nlp.owners
        return {new: owners[old] for new, old in (self._made_from | self._equations).items() if old in owners}

    def owner(self, block: Block) -> tuple[str, int | None]:
        return self.nlp.owner((self._made_from | self._equations).get(block, block))

    @cached_property
    def _infinite(self) -> np.ndarray:
        return np.full(sum(some.index.size for some in self._sets.values()), np.inf)

    @cached_property
    def lower(self) -> np.ndarray:
        return np.append(self.nlp.lower, -self._infinite)

    @cached_property
    def upper(self) -> np.ndarray:
        return np.append(self.nlp.upper, self._infinite)

    @cached_property
    def scale_x(self) -> np.ndarray:
        sets = list(self._sets.values())
        ends = np.cumsum([0, *(len(some.joints) for some in sets)]).tolist()
        tiled = [
            np.tile(self.sizes[a:b], some.index.shape[1]) for some, (a, b) in zip(sets, pairwise(ends), strict=True)
        ]
        return np.concatenate([self.nlp.scale_x, *tiled])

    @cached_property
    def cache(self) -> ProgramCache:
        """Shared by all programs lifted in the same way: a new one is made for every solve of the other program."""
        return self.nlp.cache.setdefault(("lifted", self.sizes), ProgramCache())

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        return self.nlp.terms(x[: self.nlp.n_x], p)

    def variable_name(self, k: int, x: np.ndarray) -> str:
        return self.nlp.variable_name(k, x[: self.nlp.n_x]) if k < self.nlp.n_x else f"lifted torque {k - self.nlp.n_x}"


def torques_to_lift(block: Block) -> set[int]:
    """Joints whose torques appear in a cost, or in inequalities at several sites."""
    torques, rows = block.functions.torques, block.rows
    equations = rows.lower.size and (rows.lower == rows.upper).all()
    if torques is None or equations or block.n_slices == 1:
        return set()
    return set(ca.jacobian_sparsity(block.expression, torques.symbols).get_triplet()[1])
