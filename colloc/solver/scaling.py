"""The scaled program of a solver: variables, rows and cost divided by their scales, with derivatives of this library.

The NLP has scales of its variables and of most rows. Those of the cost, and of rows that must be zero, are computed at
the start of a run. They are parameters of the scaled program, whose functions are made once for all runs:

    (parameters of the NLP, scale of the cost, scales of rows that must be zero, anchor if there is one).

Rows of one kind, such as the torque of a passive joint at all times, have one scale. Scales of the NLP are constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.slices import triplet
from colloc.kernels.batch import unrolled
from colloc.solver.degenerate import cost_depends_on_variables
from colloc.solver.solver import Scale, Start
from colloc.support.checks import InputError, quoted
from colloc.transcription import BaseNLP

_UNBOUNDED = 1e19  # IPOPT's nlp_upper_bound_inf
NEARBY = 1e-3  # distance of a second point from the start, in natural sizes of the variables
STEEP = 100.0  # slopes up to this are harmless: IPOPT scales a cost down to it by default


class Hessian(Enum):
    """The second derivatives of the Lagrangian for a solver.

    EXACT
        All of them.
    GAUSS_NEWTON
        J'J of the costs that are sums of squares (sums, differences and constant multiples of squares in the integrand,
        such as ``ca.sumsqr(now.tau)``); the curvature of residuals and constraints is left out. Never indefinite, with
        first derivatives only; converges linearly if residuals or multipliers are large.
    LIMITED_MEMORY
        The solver's quasi-Newton approximation (L-BFGS in IPOPT), from gradients only.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> slow = co.Problem(problem.model, 1.0, effort, problem.subject_to)
    >>> co.solve(slow, co.BSpline(20), solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON)).status
    <Status.SOLVED: 'solved'>
    """

    EXACT = "exact"
    GAUSS_NEWTON = "Gauss-Newton"
    LIMITED_MEMORY = "limited memory"


def check_hessian(hessian: object) -> Hessian:
    """Return the argument; raise InputError unless it is a Hessian."""
    if not isinstance(hessian, Hessian):
        raise InputError(f"hessian must be one of {', '.join(map(str, Hessian))}, got {quoted(hessian)}")
    return hessian


def scale_at(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> Scale:
    """Scales for a run from x, shape (n_x,), by values and by slopes in variables of natural size one.

    The scale of the cost is its value, or a hundredth of its largest slope if that is larger. Without it, the optimum
    would depend on the unit of the cost, as tolerances of solvers are absolute. The scale of a row follows from its
    bounds; if they give none, as in tau = 0, it is the largest slope of that row at all times. Value and slopes may
    vanish at the start by symmetry, so that they are computed at a second point nearby as well. If they vanish, like
    those of squares at zero, the cost grows with the distance: its scale is the geometric mean of that at the second
    point and that at a natural distance.
    """
    step = NEARBY * np.random.default_rng(0).uniform(-1, 1, nlp.n_x) * nlp.scale_x * nlp.free
    points = (x, np.clip(x + step, nlp.lower, nlp.upper))
    at, beside = (_cost_size(nlp, point, p) for point in points)
    rows, groups = nlp.scale_g.copy(), _row_groups(nlp)
    if groups.first.size:
        largest = np.max([_steepest(nlp, groups, point, p) for point in points], axis=0)[groups.number]
        rows = np.where((groups.number > 0) & (largest > 0), largest, rows)
    return Scale(float(scale_of_costs(np.asarray(at), np.asarray(beside))), rows)


def scale_of_costs(at: np.ndarray, beside: np.ndarray) -> np.ndarray:
    """Scales of costs from their sizes at a point and at one nearby, one without either."""
    size = np.where(at < NEARBY**2 * beside, beside / NEARBY, np.maximum(at, beside))
    return np.where(size > 0, size, 1.0)


def run_scale(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> Scale:
    """Scales for a run from x, with x as the anchor where no variable changes the cost.

    With a zero cost, for example, every feasible motion is an optimum. A solver without a cost may end far away or
    fail: it minimises the distance from x.
    """
    scale = scale_at(nlp, x, p)
    return scale if cost_depends_on_variables(nlp, x, p) else scale._replace(anchor=x)


def _cost_size(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> float:
    value, gradient = (np.array(part).ravel() for part in nlp.grad_f(x, p))
    size = max(abs(float(value[0])), float(np.abs(gradient * nlp.scale_x).max(initial=0.0)) / STEEP)
    return size if np.isfinite(size) else 0.0


class _RowGroups(NamedTuple):
    """Rows with zero bounds, which give no scale, grouped by row of their constraint at all times.

    Parameters
    ----------
    number : ndarray of int, shape (n_g,)
        Group of every row, from 1 on; 0 for rows with a scale.
    first : ndarray of int
        The first row of every group.
    entry : ndarray of int
        Group of every entry of the Jacobian; 0 for all others.
    row, column : ndarray of int
        Row and column of every entry of the Jacobian.
    """

    number: np.ndarray
    first: np.ndarray
    entry: np.ndarray
    row: np.ndarray
    column: np.ndarray


def _row_groups(nlp: BaseNLP) -> _RowGroups:
    if "row groups" not in nlp.cache:
        lower, upper = nlp.bounds_g
        unscaled = np.isin(lower, (0.0, -np.inf)) & np.isin(upper, (0.0, np.inf)) & (nlp.scale_g == 1)
        constraint, count = np.full(nlp.n_g, -1), 0
        for block, first, end in zip(nlp.constraints, nlp.offsets, nlp.offsets[1:], strict=False):
            constraint[first:end] = np.tile(count + np.arange(block.n_rows), block.n_slices)
            count += block.n_rows
        unscaled &= constraint >= 0
        chosen, first = np.unique(constraint[unscaled], return_index=True)
        group = np.zeros(count + 1, dtype=int)  # the last one, 0, is for rows without a group
        group[chosen] = 1 + np.arange(chosen.size)
        row, column = triplet(nlp.jac_g.sparsity_out(1))
        of_row = group[constraint]
        nlp.cache["row groups"] = _RowGroups(
            np.where(unscaled, of_row, 0), np.flatnonzero(unscaled)[first], of_row[row], row, column
        )
    return nlp.cache["row groups"]


def _steepest(nlp: BaseNLP, groups: _RowGroups, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Largest derivative in every group by variables of natural size one, shape (groups + 1,)."""
    _, slopes = unrolled(nlp.jac_g, [np.ascontiguousarray(values, dtype=float) for values in (x, p)], 1)
    entries = np.abs(slopes.ravel()) * nlp.scale_x[groups.column]
    steepest = np.zeros(groups.first.size + 1)
    np.maximum.at(steepest, groups.entry, np.where(np.isfinite(entries), entries, 0.0))
    return steepest


@dataclass(frozen=True, eq=False)
class ScaledNLP:
    """An NLP in variables, rows and cost of natural size one, for a solver of CasADi's interface `nlpsol`.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    anchored : bool
        Whether the squared distance to an anchor, in variables of natural size, is added to the cost.
    """

    nlp: BaseNLP
    anchored: bool = False

    def parameters(self, p: np.ndarray, scale: Scale) -> np.ndarray:
        """Values of all parameters of the scaled program."""
        anchor = np.zeros(0) if scale.anchor is None else scale.anchor / self.nlp.scale_x
        return np.concatenate([p, [scale.cost], scale.rows[_row_groups(self.nlp).first], anchor])

    def problem(self) -> dict[str, ca.MX]:
        """Variables, parameters, cost and rows as `nlpsol` takes them."""
        x, p = ca.MX.sym("x", self.nlp.n_x), self._symbols()
        # Constant rows may have no entries, which `nlpsol` rejects.
        f, g = (ca.densify(function(x * self.nlp.scale_x, p.p)) for function in (self.nlp.f, self.nlp.g))
        return {"x": x, "p": p.all, "f": f / p.cost + self._distance(x, p), "g": g / self._row_scales(p)}

    def function(self, name: str, outputs: Sequence[str], hessian: Hessian = Hessian.EXACT) -> ca.Function:
        """A function of (x, p), or of (x, p, lam_f, lam_g) with the Lagrangian, with CasADi's name; made once.  Raise
        InputError for a Gauss-Newton Hessian of a cost without squares.

        Parameters
        ----------
        name : str
        outputs : sequence of str
            Of f, g, grad_f_x, jac_g_x, grad_gamma_x, grad_gamma_p (zero), hess_gamma_x_x and its upper half
            triu_hess_gamma_x_x, where gamma = lam_f f + lam_g' g.
        hessian : Hessian
            EXACT or GAUSS_NEWTON.
        """
        key = ("function", name, tuple(outputs), hessian, self.anchored)
        if key not in self.nlp.cache:
            self.nlp.cache[key] = self._function(name, outputs, hessian)
        return self.nlp.cache[key]

    def _function(self, name: str, outputs: Sequence[str], hessian: Hessian) -> ca.Function:
        x, p = ca.MX.sym("x", self.nlp.n_x), self._symbols()
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.nlp.n_g)
        values, lagrangian = {"grad_gamma_p": ca.MX.zeros(p.all.numel())}, "grad_gamma_x" in outputs
        # Graphs of outputs that are not needed would take as long as the others.
        if lagrangian or {"f", "grad_f_x"} & {*outputs}:
            values["f"], values["grad_f_x"] = self._gradient(x, p)
        if lagrangian or {"g", "jac_g_x"} & {*outputs}:
            values["g"], values["jac_g_x"] = self._jacobian(x, p)
        if lagrangian:
            values["grad_gamma_x"] = lam_f * values["grad_f_x"] + values["jac_g_x"].T @ lam_g
        if any("hess" in output for output in outputs):
            values["triu_hess_gamma_x_x"] = upper = self._hessian(x, p, lam_f, lam_g, hessian)
            values["hess_gamma_x_x"] = ca.triu2symm(upper)
        inputs = {"x": x, "p": p.all}
        if any("gamma" in output for output in outputs):
            inputs |= {"lam_f": lam_f, "lam_g": lam_g}
        return ca.Function(name, [*inputs.values()], [values[output] for output in outputs], [*inputs], [*outputs])

    def _symbols(self) -> _Parameters:
        groups = _row_groups(self.nlp)
        sizes = (self.nlp.n_p, 1, groups.first.size, self.nlp.n_x if self.anchored else 0)
        symbols, ends = ca.MX.sym("p", sum(sizes)), np.cumsum([0, *sizes]).tolist()
        p, cost, scales, anchor = (symbols[first:end, :] for first, end in pairwise(ends))
        return _Parameters(symbols, p, cost, ca.vertcat(1.0, scales), anchor)

    def arguments(self, start: Start, p: np.ndarray, scale: Scale) -> dict[str, np.ndarray]:
        """Arguments of a run, with bounds and, for a warm start, multipliers."""
        nlp, sx, sg, sf = self.nlp, self.nlp.scale_x, scale.rows, scale.cost
        lower, upper = _scaled_bounds(*((nlp.lower, nlp.upper) if start.bounds is None else start.bounds), sx)
        lower_g, upper_g = _scaled_bounds(*nlp.bounds_g, sg)
        arguments = {"x0": start.x / sx, "p": self.parameters(p, scale)}
        arguments |= {"lbx": lower, "ubx": upper, "lbg": lower_g, "ubg": upper_g}
        if start.multipliers is not None:
            arguments |= {"lam_g0": start.multipliers["g"] * sg / sf, "lam_x0": start.multipliers["x"] * sx / sf}
        return arguments

    def unscaled(self, x: np.ndarray) -> np.ndarray:
        """A decision vector in the units of the NLP."""
        return x * self.nlp.scale_x

    def unscaled_multipliers(self, lam_g: np.ndarray, lam_x: np.ndarray, scale: Scale) -> dict[str, np.ndarray]:
        """Multipliers in the units of the NLP; zero if only the distance to a point is minimised."""
        if self.anchored:
            return {"g": np.zeros(lam_g.size), "x": np.zeros(lam_x.size)}
        return {"g": lam_g / scale.rows * scale.cost, "x": lam_x / self.nlp.scale_x * scale.cost}

    def _distance(self, x: ca.MX, p: _Parameters) -> ca.MX:
        """Half the squared distance to the anchor; zero without one."""
        return ca.sumsqr(x - p.anchor) / 2 if self.anchored else ca.MX(0)

    def _gradient(self, x: ca.MX, p: _Parameters) -> tuple[ca.MX, ca.MX]:
        f, gradient = self.nlp.grad_f(x * self.nlp.scale_x, p.p)
        distance = self._distance(x, p)
        return ca.densify(f) / p.cost + distance, gradient * (self.nlp.scale_x / p.cost) + ca.gradient(distance, x)

    def _row_scales(self, p: _Parameters) -> ca.MX | ca.DM:
        groups = _row_groups(self.nlp)
        known = ca.DM(self.nlp.scale_g)
        return known * p.groups[groups.number.tolist()] if groups.first.size else known

    def _jacobian(self, x: ca.MX, p: _Parameters) -> tuple[ca.MX, ca.MX]:
        g, jacobian = self.nlp.jac_g(x * self.nlp.scale_x, p.p)
        groups, pattern = _row_groups(self.nlp), jacobian.sparsity()
        factors = ca.MX(ca.DM(pattern, (1 / self.nlp.scale_g)[groups.row] * self.nlp.scale_x[groups.column]))
        if groups.first.size:
            factors *= ca.MX(pattern, (1 / p.groups)[groups.number[groups.row].tolist()])
        return g / self._row_scales(p), jacobian * factors

    def _hessian(self, x: ca.MX, p: _Parameters, lam_f: ca.MX, lam_g: ca.MX, hessian: Hessian) -> ca.MX:
        """The upper half of the Lagrangian's Hessian."""
        if hessian is Hessian.GAUSS_NEWTON and all(block.weights is None for block in self.nlp.costs):
            terms = ", ".join(label for block in self.nlp.costs for label in block.rows.labels)
            raise InputError(
                f"Gauss-Newton needs a cost that contains squares, such as ca.sumsqr(now.tau); got {terms}"
            )
        function = self.nlp.gauss_newton if hessian is Hessian.GAUSS_NEWTON else self.nlp.hess_lag
        upper = function(x * self.nlp.scale_x, p.p, lam_f / p.cost, lam_g / self._row_scales(p))
        row, column = triplet(upper.sparsity())
        scaled = upper * ca.DM(upper.sparsity(), self.nlp.scale_x[row] * self.nlp.scale_x[column])
        return scaled + lam_f * ca.DM.eye(self.nlp.n_x) if self.anchored else scaled


def unscaled_costs(nlp: BaseNLP, costs: list[float], p: np.ndarray, scale: Scale) -> list[float]:
    """A solver's record of the cost, in the unit of the cost, without the distance to a point."""
    if scale.anchor is not None:
        return [float(nlp.f(scale.anchor, p))] * len(costs)  # constant for all motions
    return [scale.cost * cost for cost in costs]


class _Parameters(NamedTuple):
    """Symbols of all parameters of a scaled program, and their parts."""

    all: ca.MX
    p: ca.MX
    cost: ca.MX
    groups: ca.MX  # 1, then the scale of every group of rows
    anchor: ca.MX


def _scaled_bounds(lower: np.ndarray, upper: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds in natural sizes; bounds that IPOPT takes for infinite are made infinite before scaling."""
    wide = lower < upper
    lower = np.where(wide & (lower <= -_UNBOUNDED), -np.inf, lower)
    return lower / scale, np.where(wide & (upper >= _UNBOUNDED), np.inf, upper) / scale
