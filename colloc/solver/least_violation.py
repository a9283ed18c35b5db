"""The program of least violation: every row may be violated, with the least mean square in natural sizes.

    minimise   1/2 sum of w_k s_k^2 + anchoring
    subject to lower_k <= g_k(x) + c_k s_k <= upper_k  for all rows k,

with natural sizes c_k, and w_k such that rows along a path count by their mean. Every point has slacks s that satisfy
its rows, so that a search starts feasible and ends at a minimum: zero if x is feasible. The mean squared distance from
the start, with a negligible weight, makes the minimum unique.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.solver.ipopt import Ipopt
from colloc.solver.scaling import scale_at
from colloc.solver.solver import Scale, Start, Status
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP
from colloc.transcription.derived_nlp import ExtendedNLP

_ANCHORING = 1e-6
_SOLVER = Ipopt(mu_strategy="monotone", max_iter=250, tol=1e-7, acceptable_tol=1e-5, acceptable_iter=5)


class LeastViolation(NamedTuple):
    """Result of a search for the least violation.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
    left : float
        Root mean square of the remaining violations, in natural sizes.
    row : str
        Name and time of the row with the largest violation.
    status : Status
        SOLVED at a minimum.
    iterations : int
    """

    x: np.ndarray
    left: float
    row: str
    status: Status
    iterations: int


def least_violation(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, seconds: float = np.inf) -> LeastViolation:
    """A point of least violation near x, shape (n_x,), with parameters p; raise KeyboardInterrupt after Ctrl-C."""
    program = _LeastViolationNLP(nlp, np.clip(x, nlp.lower, nlp.upper), p)
    outcome = _SOLVER.prepare(program)(program.start, p, seconds=seconds)
    if outcome.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    x, slacks = np.split(outcome.x, [nlp.n_x])
    left, row = np.sqrt(program.weights @ slacks**2), int(np.argmax(np.abs(slacks))) if slacks.size else 0
    name = nlp.row_name(row, x) if slacks.size else ""
    status = Status.SOLVED if outcome.status is Status.ACCEPTABLE else outcome.status
    return LeastViolation(x, float(left), name, status, outcome.iterations)


@dataclass(frozen=True, eq=False)
class _LeastViolationNLP(ExtendedNLP):
    """The program of least violation of another one: its variables, then a slack for every row.

    Parameters
    ----------
    nlp : BaseNLP
    anchor : ndarray, shape (n_x,)
        The initial point.
    p : ndarray
        Parameter values at which rows are scaled.
    """

    anchor: np.ndarray
    p: np.ndarray

    @cached_property
    def weights(self) -> np.ndarray:
        """Weights of the squared slacks."""
        counts = [np.full(block.n_rows * block.n_slices, block.n_slices) for block in self.nlp.constraints]
        return 1.0 / np.concatenate([np.zeros(0), *counts])

    @property
    def start(self) -> Start:
        """The anchor with slacks that satisfy its rows; the cost is not scaled by the start."""
        values, (lower, upper) = np.array(self.nlp.g(self.anchor, self.p)).ravel(), self.bounds_g
        slacks = (np.clip(values, lower, upper) - values) / self.nlp.scale_g
        return Start(np.append(self.anchor, slacks), scale=Scale(1.0, self.scale_g))

    @property
    def lower(self) -> np.ndarray:
        return np.append(self.nlp.lower, np.full(self.n_g, -np.inf))

    @property
    def upper(self) -> np.ndarray:
        return np.append(self.nlp.upper, np.full(self.n_g, np.inf))

    @property
    def scale_x(self) -> np.ndarray:
        return np.append(self.nlp.scale_x, np.ones(self.n_g))

    @property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        return self.nlp.bounds_g

    @cached_property
    def scale_g(self) -> np.ndarray:
        return scale_at(self.nlp, self.anchor, self.p).rows

    @property
    def n_g(self) -> int:
        return self.nlp.n_g

    @cached_property
    def _curvature(self) -> np.ndarray:
        """Second derivatives of the cost, a diagonal."""
        return np.append(_ANCHORING / self.nlp.n_x / self.nlp.scale_x**2, self.weights)

    @cached_property
    def f(self) -> ca.Function:
        away = self._symbols[0] - ca.DM(np.append(self.anchor, np.zeros(self.n_g)))
        return self._function("f", {"f": ca.dot(ca.DM(self._curvature), away**2) / 2})

    @cached_property
    def _slacks(self) -> ca.DM:
        return ca.diag(ca.DM(self.nlp.scale_g))

    @cached_property
    def g(self) -> ca.Function:
        _, x, slacks, p = self._symbols
        return self._function("g", {"g": self.nlp.g(x, p) + self._slacks @ slacks})

    @cached_property
    def jac_g(self) -> ca.Function:
        _, x, slacks, p = self._symbols
        values, slopes = self.nlp.jac_g(x, p)
        jacobian = ca.horzcat(slopes, ca.MX(self._slacks))
        return self._function("jac_g", {"g": values + self._slacks @ slacks, "jac_g_x": jacobian})

    @cached_property
    def hess_lag(self) -> ca.Function:
        _, x, _, p = self._symbols
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.n_g)
        of_rows = ca.diagcat(self.nlp.hess_lag(x, p, 0.0, lam_g), ca.MX(self.n_g, self.n_g))
        outputs = {"triu_hess_gamma_x_x": of_rows + lam_f * ca.diag(ca.DM(self._curvature))}
        return self._function("hess_lag", outputs, {"lam_f": lam_f, "lam_g": lam_g})

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        return {"violation": float(self.f(x, p))}

    def variable_name(self, k: int, x: np.ndarray) -> str:
        if k < self.nlp.n_x:
            return self.nlp.variable_name(k, x[: self.nlp.n_x])
        return f"violation of {self.nlp.row_name(k - self.nlp.n_x, x[: self.nlp.n_x])}"
