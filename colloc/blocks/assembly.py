"""Values and sparse derivatives of a program, assembled from those of its blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.evaluation import Evaluation
from colloc.blocks.slices import scatter


class Assembly(NamedTuple):
    """The common parts of all functions of a program."""

    evaluation: Evaluation  # of the blocks
    x: ca.MX  # x, p: MX, shapes (n_x,), (n_p,)
    p: ca.MX
    # bools, shape (n_x,); variables that are not fixed: derivatives are taken with respect to them alone
    free: np.ndarray

    @property
    def xp(self) -> tuple[ca.MX, ca.MX]:
        return self.x, self.p

    def cost(self, costs: Sequence[Block]) -> ca.MX:
        """The summed rows of the costs."""
        return sum((ca.sum1(self.evaluation.apply(b, "value", self.x, self.p)[0]) for b in costs), ca.MX(0))

    def rows(self, constraints: Sequence[Block]) -> ca.MX:
        """The rows of the constraints, one block after another."""
        values = (self.evaluation.apply(b, "value", self.x, self.p)[0] for b in constraints)
        return ca.vertcat(ca.MX(0, 1), *values)

    def gradient(self, costs: Sequence[Block]) -> ca.MX:
        """The gradient of the summed costs, a dense column of the free variables."""
        parts = []
        for b in costs:
            values, _, slices = self.evaluation.apply(b, "gradient", self.x, self.p)
            entries = slices.gradient()
            rows = slices.index[entries.row]
            parts.append((values, entries, rows, np.zeros_like(rows)))
        return ca.densify(scatter(self.free.size, 1, parts, rows=self.free))

    def jacobian(self, constraints: Sequence[Block], offsets: np.ndarray) -> ca.MX:
        """The Jacobian of the rows; those of a block begin at its offset."""
        parts = []
        for b, first in zip(constraints, offsets, strict=False):
            values, pattern, slices = self.evaluation.apply(b, "jacobian", self.x, self.p)
            entries = slices.jacobian(pattern)
            rows = first + entries.row[:, None] + b.n_rows * np.arange(b.n_slices)
            parts.append((values, entries, rows, slices.index[entries.column]))
        return scatter(int(offsets[-1]), self.free.size, parts, columns=self.free)

    def hessian(self, kind: str, multipliers: Mapping[Block, ca.MX]) -> ca.MX:
        """The upper triangle of the Hessian of blocks times multipliers: of rows, shape (r, N), of costs, (1, N)."""
        parts = []
        for b, lam in multipliers.items():
            if b.functions.has(kind):
                values, pattern, slices = self.evaluation.apply(b, kind, self.x, self.p, lam)
                entries = slices.hessian(pattern)
                index = slices.index.astype(np.int32)  # one for every entry of every slice makes hundreds of MB
                i, j = index[entries.row], index[entries.column]
                parts.append((values, entries, np.minimum(i, j), np.maximum(i, j)))
                del i, j
        return scatter(self.free.size, self.free.size, parts, rows=self.free, columns=self.free)
