"""The elastic program: limits are relaxed, each at all times by one number, at the least total cost.

    minimise   sum of w_i e_i / size_i
    subject to lower_i - e_i <= g_k(x) <= upper_i + e_i  for all rows and variables k of limit i,  e >= 0,

the smooth form of an exact L1 penalty (Gill, Murray and Saunders 2005, problem NP(gamma) with gamma to infinity), with
one elastic variable for all rows of a limit, so that its largest excess counts. The mean squared distance from the
initial motion, with a negligible weight, makes the solution unique.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.optimality.limits import Limit, relaxed_bounds
from colloc.solver import ELASTIC, ELASTIC_FROM_FAR, Start, Status
from colloc.solver.scaling import scale_at
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP
from colloc.transcription.derived_nlp import ExtendedNLP

# Weights of the mean squared distance, in natural sizes, and solvers, tried until a run converges. Far from the optimum
# a motion that stays near is quickest; the next run removes the effect of the distance.
_FAR = ((1.0, ELASTIC_FROM_FAR), (1e-2, ELASTIC_FROM_FAR), (1e-4, ELASTIC))
_NEAR = ((1e-2, ELASTIC), (1.0, ELASTIC))
_NONE = 1e-5  # of a limit's natural size: a smaller relaxation is rounding of the solver
_LEAST = 0.01  # smallest remaining fraction of a duration


class Relaxed(NamedTuple):
    """Result of an elastic run.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        A motion that meets the relaxed limits.
    amounts : ndarray
        Relaxation of every limit; exactly zero where none is needed.
    total : float
        Their total cost.
    """

    x: np.ndarray
    amounts: np.ndarray
    total: float


def smallest_relaxation(
    nlp: BaseNLP, limits: Sequence[Limit], weights: np.ndarray, x: np.ndarray, p: np.ndarray, *, near: bool = False
) -> Relaxed | None:
    """The relaxation of least total cost by a local search from x; None if the search fails.

    Parameters
    ----------
    nlp : BaseNLP
        A program without fixed variables; its bounds hold where there is no limit.
    limits : sequence of Limit
    weights : ndarray
        Cost of relaxing each limit by its natural size; infinite for a limit that must hold.
    x : ndarray, shape (n_x,)
        Initial motion.
    p : ndarray
        Parameter values.
    near : bool
        Whether x is the result of a smallest relaxation on another grid.
    """
    chosen, first = np.isfinite(weights), None
    # Relaxations due to rounding are set to zero in the next run, which makes the others exact.
    for _ in range(3):
        end = _run(nlp, limits, np.where(chosen, weights, np.inf), x, p, near or first is not None)
        if end is None:
            return first
        x, amounts = end
        sizes = np.array([limit.size for limit in limits])
        needed = amounts > _NONE * sizes
        total = float(weights[needed] @ (amounts / sizes)[needed])
        settled = first is not None and (needed == chosen).all()
        first = Relaxed(x, np.where(needed, amounts, 0.0), total)
        if settled or not needed.any():
            return first
        chosen = needed
    return first


def _run(
    nlp: BaseNLP, limits: Sequence[Limit], weights: np.ndarray, x: np.ndarray, p: np.ndarray, near: bool
) -> tuple[np.ndarray, np.ndarray] | None:
    """A motion and the relaxation of every limit; None if no run converges."""
    for anchoring, solver in _NEAR if near else _FAR:
        program = ElasticNLP(nlp, limits, weights, x, p, anchoring)
        outcome = solver.prepare(program)(program.start(near), p)
        if outcome.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if outcome.status in (Status.SOLVED, Status.ACCEPTABLE):
            return program.split(outcome.x)
    return None


@dataclass(frozen=True, eq=False)
class ElasticNLP(ExtendedNLP):
    """The elastic program of another one: its variables, then one for each limit that may be relaxed.

    Parameters
    ----------
    nlp : BaseNLP
    limits : sequence of Limit
    weights : ndarray
    anchor : ndarray, shape (n_x,)
        The initial motion.
    p : ndarray
        Parameter values at which rows are scaled.
    anchoring : float
        Weight of the mean squared distance from the anchor, in natural sizes.
    """

    limits: Sequence[Limit]
    weights: np.ndarray
    anchor: np.ndarray
    p: np.ndarray
    anchoring: float

    @cached_property
    def elastic(self) -> list[int]:
        """Numbers of the limits that may be relaxed, in the order of their variables."""
        return np.flatnonzero(np.isfinite(self.weights)).tolist()

    @cached_property
    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of all rows, then of all variables, without relaxable limits."""
        lower, upper = relaxed_bounds(self.nlp, self.limits, np.where(np.isfinite(self.weights), np.inf, 0.0))
        for name, nlp in self.nlp.phases.items():
            T = self.nlp.n_g + self.nlp.parts[name].start + nlp.grid.layout.duration
            lower[T] = np.maximum(lower[T], _LEAST * nlp.lower[nlp.grid.layout.duration])
        return lower, upper

    @cached_property
    def _rows(self) -> _ElasticRows:
        """Rows without relaxable limits, then a row for every entry of every relaxable limit."""
        lower, upper = self._bounds
        scale = scale_at(self.nlp, self.anchor, self.p).rows
        plain = np.flatnonzero(np.isfinite(lower[: self.nlp.n_g]) | np.isfinite(upper[: self.nlp.n_g]))
        parts = [
            _ElasticRows(plain, np.full(plain.size, -1), np.zeros(plain.size), lower[plain], upper[plain], scale[plain])
        ]
        for column, k in enumerate(self.elastic):
            limit, ones = self.limits[k], np.ones(self.limits[k].entries.size)
            low, high = (limit.bound, np.inf) if limit.side == "lower" else (-np.inf, limit.bound)
            parts.append(
                _ElasticRows(
                    limit.entries,
                    np.full(ones.size, column),
                    -limit.sign * ones,
                    low * ones,
                    high * ones,
                    self._sizes[column] * ones,
                )
            )
        return _ElasticRows(*map(np.concatenate, zip(*parts, strict=True)))

    @cached_property
    def _maps(self) -> tuple[ca.DM, ca.DM]:
        """Sparse matrices of the rows in terms of values and variables, and of elastic variables."""
        rows, width = self._rows, self.nlp.n_g + self.nlp.n_x
        k = np.arange(rows.entry.size)
        some = k[rows.column >= 0]
        return (
            ca.DM.triplet(k.tolist(), rows.entry.tolist(), ca.DM(np.ones(k.size)), k.size, width),
            ca.DM.triplet(
                some.tolist(), rows.column[some].tolist(), ca.DM(rows.slope[some]), k.size, len(self.elastic)
            ),
        )

    @cached_property
    def _excesses(self) -> np.ndarray:
        """Relaxation of every relaxable limit at the anchor."""
        lower, upper = (bounds[self.nlp.n_g :] for bounds in self._bounds)
        x = np.clip(self.anchor, lower, upper)
        values = np.append(np.array(self.nlp.g(x, self.p)).ravel(), x)
        outside = [
            float((self.limits[k].sign * (values[self.limits[k].entries] - self.limits[k].bound)).max())
            for k in self.elastic
        ]
        return np.maximum(np.nan_to_num(outside), 0.0)

    @cached_property
    def _sizes(self) -> np.ndarray:
        """Scales of the elastic variables: natural sizes, or relaxations at the anchor."""
        return np.maximum(self._excesses, [self.limits[k].size for k in self.elastic])

    def start(self, near: bool) -> Start:
        """The initial motion with its relaxations; `near` says that they are almost optimal."""
        x = np.append(self.anchor, self._excesses)
        return Start(np.clip(x, self.lower, self.upper), near_optimum=near)

    def split(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The motion, and the relaxation of every limit."""
        amounts = np.zeros(len(self.limits))
        amounts[self.elastic] = x[self.nlp.n_x :]
        return x[: self.nlp.n_x], amounts

    @property
    def lower(self) -> np.ndarray:
        return np.append(self._bounds[0][self.nlp.n_g :], np.zeros(len(self.elastic)))

    @property
    def upper(self) -> np.ndarray:
        return np.append(self._bounds[1][self.nlp.n_g :], np.full(len(self.elastic), np.inf))

    @property
    def scale_x(self) -> np.ndarray:
        return np.append(self.nlp.scale_x, self._sizes)

    @property
    def bounds_g(self) -> tuple[np.ndarray, np.ndarray]:
        return self._rows.lower, self._rows.upper

    @property
    def scale_g(self) -> np.ndarray:
        return self._rows.scale

    @property
    def n_g(self) -> int:
        return self._rows.entry.size

    @property
    def compile(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False: the program is small."""
        return False

    @property
    def free_duration(self) -> bool:
        return True  # most limits are relaxed somewhere: a monotone barrier first

    @cached_property
    def _curvature(self) -> np.ndarray:
        """Second derivatives of the squared distance."""
        return self.anchoring / self.nlp.n_x / self.nlp.scale_x**2

    @cached_property
    def f(self) -> ca.Function:
        _, x, e, _ = self._symbols
        weights = [self.weights[k] / self.limits[k].size for k in self.elastic]
        distance = ca.dot(ca.DM(self._curvature), (x - self.anchor) ** 2) / 2
        return self._function("f", {"f": ca.dot(ca.DM(weights), e) + distance})

    @cached_property
    def g(self) -> ca.Function:
        _, x, e, p = self._symbols
        of_values, of_elastic = self._maps
        return self._function("g", {"g": of_values @ ca.vertcat(self.nlp.g(x, p), x) + of_elastic @ e})

    @cached_property
    def jac_g(self) -> ca.Function:
        _, x, e, p = self._symbols
        of_values, of_elastic = self._maps
        rows, slopes = self.nlp.jac_g(x, p)
        values = of_values @ ca.vertcat(rows, x) + of_elastic @ e
        jacobian = ca.horzcat(of_values @ ca.vertcat(slopes, ca.DM.eye(self.nlp.n_x)), ca.MX(of_elastic))
        return self._function("jac_g", {"g": values, "jac_g_x": jacobian})

    @cached_property
    def hess_lag(self) -> ca.Function:
        _, x, _, p = self._symbols
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.n_g)
        pull = (self._maps[0].T @ lam_g)[: self.nlp.n_g]
        upper = self.nlp.hess_lag(x, p, 0.0, pull) + lam_f * ca.diag(ca.DM(self._curvature))
        none = ca.MX(len(self.elastic), len(self.elastic))
        outputs = {"triu_hess_gamma_x_x": ca.diagcat(upper, none)}
        return self._function("hess_lag", outputs, {"lam_f": lam_f, "lam_g": lam_g})

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        return {"relaxation": float(self.f(x, p))}

    def variable_name(self, k: int, x: np.ndarray) -> str:
        if k < self.nlp.n_x:
            return self.nlp.variable_name(k, x[: self.nlp.n_x])
        return f"relaxation of {self.limits[self.elastic[k - self.nlp.n_x]].name}"


class _ElasticRows(NamedTuple):
    """Rows of the elastic program: an entry of values and variables plus a slope times an elastic variable.

    Parameters
    ----------
    entry, column : ndarray of int
        Column -1 means no elastic variable.
    slope, lower, upper, scale : ndarray
    """

    entry: np.ndarray
    column: np.ndarray
    slope: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    scale: np.ndarray
