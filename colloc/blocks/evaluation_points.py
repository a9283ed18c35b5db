"""Points along the motion where functions of the instant are evaluated, as slices of the decision vector."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.intermediate import Intermediate
from colloc.blocks.slices import Slices, sparse_matrix
from colloc.kernels import Kernel
from colloc.kernels.batch import interpreted, unrolled
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class LocalView:
    """An instant, or both ends of a motion, in terms of a slice of the decision vector."""

    # w, d, p: SX columns; the slice's local variables, its constant data (such as the normalised time) and the
    # problem's parameters
    w: ca.SX
    d: ca.SX
    p: ca.SX
    # the `Slots` of the instant (of both instants, one after the other) as expressions in w, d, p and the torques
    arguments: Sequence[ca.SX] = ()
    torques: Intermediate | None = None  # what the symbols of the torques stand for
    dependent: Intermediate | None = None  # likewise, of the motion of dependent joints
    # what has been made of functions of the instant, by what they are: it is the same on every grid
    functions: dict[Hashable, Any] = field(default_factory=dict)

    @cached_property
    def with_share(self) -> tuple[ca.SX, LocalView]:
        """A constant for each site, and this view with it."""
        share = ca.SX.sym("share")
        data = ca.vertcat(self.d, share)
        return share, LocalView(self.w, data, self.p, self.arguments, self.torques, self.dependent)

    def resolved(self, expressions: Sequence[ca.SX]) -> list[ca.SX]:
        """Expressions in w, d and p alone."""
        for intermediate in (self.torques, self.dependent):
            expressions = intermediate.resolve(expressions) if intermediate else expressions
        return list(expressions)


@dataclass(frozen=True, eq=False)
class EvaluationPoints:
    """A local view at N points of a motion, its sites."""

    local: LocalView
    slices: Slices
    data: np.ndarray  # shape (len(local.d), N)
    s: np.ndarray  # shape (N,); normalised time of every site
    # ints, shape (N,); the interval whose polynomial each site sees, where it sees one
    interval: np.ndarray | None = None

    @property
    def size(self) -> int:
        """N, the number of sites."""
        return self.s.size

    def take(self, chosen: np.ndarray) -> EvaluationPoints:
        interval = None if self.interval is None else self.interval[chosen]
        return EvaluationPoints(self.local, self.slices.take(chosen), self.data[:, chosen], self.s[chosen], interval)

    def moved(self, offset: int) -> EvaluationPoints:
        """These sites for variables at an offset in a longer vector."""
        return replace(self, slices=self.slices.moved(offset))

    def during(self, window: tuple[float, float]) -> EvaluationPoints:
        """The sites within a part of the motion, from a fraction of its duration to another one."""
        return self.take(self.within(window))

    def outside(self, window: tuple[float, float]) -> EvaluationPoints:
        """The sites that are not within a part of the motion."""
        return self.take(~self.within(window))

    def within(self, window: tuple[float, float]) -> np.ndarray:
        """Whether sites lie within a part of the motion, ndarray of bool, shape (N,)."""
        start, end = window
        return (self.s >= start - 1e-9) & (self.s <= end + 1e-9)

    def beside(self, end: EvaluationPoints) -> EvaluationPoints:
        """Points with the instants of both."""
        near, far = self.local, end.local
        w, d = ca.SX.sym("w end", far.w.shape[0]), ca.SX.sym("d end", far.d.shape[0])
        arguments = ca.substitute(far.resolved(far.arguments), [far.w, far.d], [w, d])
        local = LocalView(
            ca.vertcat(near.w, w), ca.vertcat(near.d, d), near.p, (*near.resolved(near.arguments), *arguments)
        )
        return EvaluationPoints(local, self.slices.beside(end.slices), np.vstack([self.data, end.data]), end.s)

    def map_from(self, n_x: int) -> ca.DM:
        """The linear map from a decision vector to the local variables of all sites, one below the other; cached."""
        if n_x not in self._maps:
            slices, count = self.slices, self.local.w.shape[0]
            place = slices.row + count * np.arange(slices.size)[:, None]
            # Its columns are in order as they come, those of the map would have to be sorted.
            transposed = sparse_matrix(
                n_x, count * slices.size, slices.index[slices.column].T.ravel(), place.ravel(), slices.weight.T.ravel()
            )
            self._maps[n_x] = transposed.T
        return self._maps[n_x]

    @cached_property
    def _maps(self) -> dict[int, ca.DM]:
        return {}

    def evaluate(self, expressions: Sequence[ca.SX], x: np.ndarray, parameters: np.ndarray) -> list[np.ndarray]:
        """Values of expressions in the local view at all sites, each ndarray, shape (N, entries), by columns."""
        return self._values(self._kernel(expressions), x, parameters, virtual=True)

    def evaluate_again(
        self,
        key: Hashable,
        expressions: Callable[[], Sequence[ca.SX]],
        x: np.ndarray,
        parameters: np.ndarray,
        *,
        virtual: bool = False,
    ) -> list[np.ndarray]:
        """`evaluate` for expressions whose function is made once for all grids of the problem, and cached by a key.

        `virtual` says whether CasADi's virtual machine evaluates them in any case.
        """
        made = self.local.functions
        if key not in made:
            made[key] = self._kernel(expressions())
        return self._values(made[key], x, parameters, virtual=virtual)

    def _kernel(self, expressions: Sequence[ca.SX]) -> Kernel:
        local = self.local
        outputs = [ca.densify(ca.vec(expression)) for expression in local.resolved(expressions)]
        return Kernel(ca.Function("at", [local.w, local.d, local.p], outputs), shared=frozenset({2}))

    def _values(self, kernel: Kernel, x: np.ndarray, parameters: np.ndarray, *, virtual: bool) -> list[np.ndarray]:
        inputs = [self.slices.local(x).T, self.data.T, np.asarray(parameters)]
        inputs = [np.ascontiguousarray(values, dtype=float) for values in inputs]
        results = None if virtual else interpreted(kernel, inputs)
        if results is None:
            inputs[2] = np.tile(inputs[2], (self.size, 1))
            results = unrolled(kernel.function, inputs, self.size)
        return results


class Quadrature(NamedTuple):
    """A rule for integrals over the normalised time: the sum over sites of width times share times the integrand."""

    sites: EvaluationPoints
    share: ca.SX  # constant data of the sites
    width: ca.SX  # positive, in the local variables; 1 where no width varies

    @classmethod
    def of(cls, sites: EvaluationPoints, shares: np.ndarray, width: ca.SX | None = None) -> Quadrature:
        """A rule with shares, ndarray, shape (N,)."""
        share, local = sites.local.with_share
        weighted = replace(sites, local=local, data=np.vstack([sites.data, shares]))
        return cls(weighted, share, ca.SX(1) if width is None else width)
