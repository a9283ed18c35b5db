"""Torques, and the motion of dependent joints, in rows: separate symbols, with their derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class Intermediate:
    """Torques, or the motion of dependent joints, as symbols, with their derivatives in the local variables w."""

    symbols: ca.SX  # symbols, values: shape (k,); the quantities, and what they stand for as expressions in w
    values: ca.SX
    linearised: Callable[[], ca.SX]  # their slopes
    # multipliers, SX, shape (k,) -> Hessian in w of multipliers' values, SX, shape (len(w), len(w)), sparse
    curvature: Callable[[ca.SX], ca.SX]
    # whether gradients of sums, too, are to be made of the slopes, because a recursion was asked for
    recursive: bool = False

    @cached_property
    def slopes(self) -> ca.SX:
        """Derivatives in w, shape (k, len(w)), sparse; made on first use, as rows without them do not need these."""
        return self.linearised()

    def resolve(self, expressions: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions with the values in place of the symbols."""
        return list(ca.substitute(list(expressions), [self.symbols], [self.values]))

    def beside(self, more: ca.SX) -> Intermediate:
        """The quantities with additional local variables, on which they do not depend."""
        k, extra = self.symbols.shape[0], more.shape[0]

        def curvature(multipliers: ca.SX) -> ca.SX:
            return ca.diagcat(self.curvature(multipliers), ca.SX(extra, extra))

        return replace(self, linearised=lambda: ca.horzcat(self.slopes, ca.SX(k, extra)), curvature=curvature)

    def above(self, other: Intermediate) -> Intermediate:
        """These quantities, then others, in the same local variables."""
        ends = [0, self.symbols.shape[0], self.symbols.shape[0] + other.symbols.shape[0]]

        def curvature(multipliers: ca.SX) -> ca.SX:
            first, second = ca.vertsplit(multipliers, ends)
            return self.curvature(first) + other.curvature(second)

        return Intermediate(
            ca.vertcat(self.symbols, other.symbols),
            ca.vertcat(self.values, other.values),
            lambda: ca.vertcat(self.slopes, other.slopes),
            curvature,
            self.recursive or other.recursive,
        )
