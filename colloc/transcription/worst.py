"""The program of cases in which the largest of their costs counts.

Of costs J_k, the largest is the smallest w that none exceeds: minimise w subject to J_k <= w. The multipliers of these
rows are weights with which the sum of the costs has the same optimum.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.support.lazy import cached_property
from colloc.transcription.derived_nlp import ExtendedNLP
from colloc.transcription.phases import PhasesNLP


@dataclass(frozen=True, eq=False)
class WorstNLP(ExtendedNLP):
    """The program of cases with one more variable, the largest cost, and a row for each case after all others.

    The cost is (1 - share) times the sum of the costs of the cases plus `share` times the largest, and costs across.

    Parameters
    ----------
    nlp : PhasesNLP
        Of `Cases` whose costs have weights that are a parameter.
    rows : ndarray, shape (n_g,)
        Sizes of its rows.
    size : float
        That of the largest cost.
    """

    nlp: PhasesNLP
    rows: np.ndarray
    size: float

    @cached_property
    def _share(self) -> float:
        return self.nlp.problem.worst

    @classmethod
    def at(cls, nlp: PhasesNLP, x: np.ndarray, p: np.ndarray, rows: np.ndarray) -> tuple[WorstNLP, np.ndarray]:
        """The program with sizes at a decision vector of the other one, and that vector with the largest cost."""
        largest = float(costs_of_cases(nlp, x, p).max())
        return cls(nlp, rows, abs(largest) or 1.0), np.append(x, largest)

    def weights(self, multipliers: np.ndarray) -> np.ndarray:
        """Weights of the cases with whose sum a motion is optimal, from the multipliers of all rows."""
        return 1 - self._share + multipliers[self.nlp.n_g :]

    @property
    def lower(self) -> np.ndarray:
        return np.append(self.nlp.lower, -np.inf)

    @property
    def upper(self) -> np.ndarray:
        return np.append(self.nlp.upper, np.inf)

    @property
    def scale_x(self) -> np.ndarray:
        return np.append(self.nlp.scale_x, self.size)

    @property
    def n_g(self) -> int:
        return self.nlp.n_g + len(self.nlp.phases)

    @cached_property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        low, high = self.nlp.bounds_g
        count = len(self.nlp.phases)
        return np.append(low, np.full(count, -np.inf)), np.append(high, np.zeros(count))

    @cached_property
    def scale_g(self) -> np.ndarray:
        return np.append(self.rows, np.full(len(self.nlp.phases), self.size))

    def _weighted(self, p: ca.MX, weights: ca.MX | np.ndarray) -> ca.MX:
        """Symbols of the parameters with weights of the cases."""
        place = self.nlp.problem.weights_in_parameters
        return ca.vertcat(p[: place.start, :], weights, p[place.stop :, :])

    def _alone(self, p: ca.MX) -> list[ca.MX]:
        """Parameters with which the cost is that of one case, and costs across."""
        return [self._weighted(p, weights) for weights in np.eye(len(self.nlp.phases))]

    def _of_none(self, p: ca.MX) -> ca.MX:
        return self._weighted(p, np.zeros(len(self.nlp.phases)))

    @cached_property
    def f(self) -> ca.Function:
        _, x, w, p = self._symbols
        summed = self.nlp.f(x, self._weighted(p, np.full(len(self.nlp.phases), 1 - self._share)))
        return self._function("f", {"f": summed + self._share * w})

    @cached_property
    def grad_f(self) -> ca.Function:
        _, x, w, p = self._symbols
        summed, slope = self.nlp.grad_f(x, self._weighted(p, np.full(len(self.nlp.phases), 1 - self._share)))
        outputs = {"f": summed + self._share * w, "grad_f_x": ca.vertcat(slope, self._share)}
        return self._function("grad_f", outputs)

    @cached_property
    def g(self) -> ca.Function:
        _, x, w, p = self._symbols
        across = self.nlp.f(x, self._of_none(p))
        excesses = [self.nlp.f(x, alone) - across - w for alone in self._alone(p)]
        return self._function("g", {"g": ca.vertcat(self.nlp.g(x, p), *excesses)})

    @cached_property
    def jac_g(self) -> ca.Function:
        both, x, _, p = self._symbols
        _, across = self.nlp.grad_f(x, self._of_none(p))
        rows, n = [ca.horzcat(self.nlp.jac_g(x, p)[1], ca.MX(self.nlp.n_g, 1))], self.nlp.n_x
        for part, alone in zip(self.nlp.parts.values(), self._alone(p), strict=True):
            slope = (self.nlp.grad_f(x, alone)[1] - across)[part].T
            rows.append(ca.horzcat(ca.MX(1, part.start), slope, ca.MX(1, n - part.stop), -1))
        return self._function("jac_g", {"g": self.g(both, p), "jac_g_x": ca.vertcat(*rows)})

    @cached_property
    def hess_lag(self) -> ca.Function:
        return self._hessian(self.nlp.hess_lag)

    @cached_property
    def gauss_newton(self) -> ca.Function:
        return self._hessian(self.nlp.gauss_newton)

    def _hessian(self, of_nlp: ca.Function) -> ca.Function:
        _, x, _, p = self._symbols
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.n_g)
        first, rows = lam_g[: self.nlp.n_g], lam_g[self.nlp.n_g :]
        upper = of_nlp(x, self._weighted(p, lam_f * (1 - self._share) + rows), 1, first)
        if self.nlp.problem.costs:  # whose multiplier is not 1
            upper += (lam_f - 1) * of_nlp(x, self._of_none(p), 1, ca.MX.zeros(self.nlp.n_g))
        inputs = {"lam_f": lam_f, "lam_g": lam_g}
        return self._function("hess_lag", {"triu_hess_gamma_x_x": ca.diagcat(upper, ca.MX(1, 1))}, inputs)


def costs_of_cases(nlp: PhasesNLP, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Costs of all cases, whatever the weights among the parameters, shape (cases,)."""
    count = len(nlp.phases)
    *costs, across = (
        float(nlp.f(x, nlp.problem.with_weights(p, weights))) for weights in (*np.eye(count), np.zeros(count))
    )
    return np.array(costs) - across
