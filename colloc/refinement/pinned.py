"""A program with some of its limits as equations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.optimality.limits import Limit
from colloc.refinement.altered import AlteredNLP
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class PinnedNLP(AlteredNLP):
    """Another program, some of whose limits hold as equations wherever it has them.

    Parameters
    ----------
    nlp : BaseNLP
    limits : sequence of Limit
        Those that hold; of this program.
    left_out : sequence of Limit
        Those that do not hold at all: what follows from others would leave a solver no room as an inequality.
    """

    limits: Sequence[Limit]
    left_out: Sequence[Limit] = ()

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of all rows, then of all variables."""
        sides = zip(self.nlp.bounds_g, (self.nlp.lower, self.nlp.upper), strict=True)
        lower, upper = (np.append(*side) for side in sides)
        for limit in self.left_out:
            free = limit.entries[lower[limit.entries] < upper[limit.entries]]
            (upper if limit.sign > 0 else lower)[free] = limit.sign * np.inf
        for limit in self.limits:
            free = limit.entries[lower[limit.entries] < upper[limit.entries]]
            lower[free] = upper[free] = limit.bound
        return lower, upper

    @property
    def lower(self) -> np.ndarray:
        return self._bounds[0][self.nlp.n_g :]

    @property
    def upper(self) -> np.ndarray:
        return self._bounds[1][self.nlp.n_g :]

    @property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        lower, upper = self._bounds
        return lower[: self.nlp.n_g], upper[: self.nlp.n_g]

    def multipliers(self, x: np.ndarray, p: np.ndarray, end: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Multipliers of a run's end as those of the other program: of what is pinned, too.

        A solver leaves out what is fixed; there the gradient of the Lagrangian tells.
        """
        gradient = np.array(self.nlp.grad_f(x, p)[1] + self.nlp.jac_g(x, p)[1].T @ end["g"]).ravel()
        return {"g": end["g"], "x": np.where(self.nlp.free & ~self.free, -gradient, end["x"])}

    @property
    def scale_g(self) -> np.ndarray:
        return self.nlp.scale_g

    @property
    def f(self) -> ca.Function:
        return self.nlp.f

    @property
    def g(self) -> ca.Function:
        return self.nlp.g

    @property
    def grad_f(self) -> ca.Function:
        return self.nlp.grad_f

    @property
    def jac_g(self) -> ca.Function:
        return self.nlp.jac_g

    @property
    def hess_lag(self) -> ca.Function:
        return self.nlp.hess_lag

    @property
    def gauss_newton(self) -> ca.Function:
        return self.nlp.gauss_newton
