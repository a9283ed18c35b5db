"""The program that a solver sees: variables, rows and cost divided by their sizes, with derivatives of our own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import casadi as ca
import numpy as np

from colloc.blocks.slices import triplet
from colloc.solver.sizes import Sizes
from colloc.solver.start import Start
from colloc.support.checks import InputError, quoted
from colloc.transcription import Program

_NO_BOUND = 1e19  # IPOPT's nlp_upper_bound_inf


class Hessian(Enum):
    """What a solver takes for the second derivatives of the Lagrangian.

    EXACT
        All of them.
    GAUSS_NEWTON
        J'J of the costs that are sums of squares (sums, differences and constant multiples of squares in the integrand,
        such as ``ca.sumsqr(now.tau)``); the curvature of residuals and constraints is left out. Never indefinite, and
        first derivatives are all it takes; converges linearly where residuals or multipliers are large.
    LIMITED_MEMORY
        IPOPT's own quasi-Newton approximation (L-BFGS), from gradients alone.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> slow = co.Problem(problem.model, 1.0, effort, problem.subject_to)
    >>> co.solve(slow, co.BSpline(20), hessian=co.solver.Hessian.GAUSS_NEWTON).status
    <Status.SOLVED: 'solved'>
    """

    EXACT = "exact"
    GAUSS_NEWTON = "Gauss-Newton"
    LIMITED_MEMORY = "limited memory"


def check_hessian(hessian: object, nlp: Program) -> None:
    """InputError for anything but a Hessian that this problem has."""
    if not isinstance(hessian, Hessian):
        raise InputError(f"hessian must be one of {', '.join(map(str, Hessian))}, got {quoted(hessian)}")
    if hessian is Hessian.GAUSS_NEWTON and all(block.weights is None for block in nlp.costs):
        terms = ", ".join(label for block in nlp.costs for label in block.rows.labels)
        raise InputError(f"Gauss-Newton needs a cost that contains squares, such as ca.sumsqr(now.tau); got {terms}")


@dataclass(frozen=True, eq=False)
class ScaledNLP:
    """An NLP in variables, rows and cost of natural size one, for a solver of CasADi's interface `nlpsol`.

    Parameters
    ----------
    nlp : Program
    sizes : Sizes
        Of the cost and the rows; those of the variables are the NLP's own.
    anchor : ndarray, shape (n_x,), optional
        Place the squared distance to which, in variables of natural size, is added to the cost.
    """

    nlp: Program
    sizes: Sizes
    anchor: np.ndarray | None = None

    def problem(self) -> dict[str, ca.MX]:
        """Variables, parameters, cost and rows as `nlpsol` takes them."""
        x, p, own = self._symbols()
        # What nothing moves may have no entries, which `nlpsol` does not take.
        f, g = (ca.densify(function(own, p)) for function in (self.nlp.f, self.nlp.g))
        return {"x": x, "p": p, "f": f / self.sizes.cost + self._distance(x), "g": g / self.sizes.rows}

    def derivatives(self, hessian: Hessian) -> dict[str, ca.Function]:
        """Functions grad_f, jac_g and, unless the solver approximates it, hess_lag: CasADi differentiates nothing."""
        found = {"grad_f": self._grad_f(), "jac_g": self._jac_g()}
        if hessian is Hessian.LIMITED_MEMORY:
            return found
        return found | {
            "hess_lag": self._hess_lag(self.nlp.hess_lag if hessian is Hessian.EXACT else self.nlp.gauss_newton)
        }

    def start(self, start: Start, p: np.ndarray) -> dict[str, np.ndarray]:
        """Arguments of a run, with bounds and, for a warm start, multipliers."""
        nlp, sx, sg, sf = self.nlp, self.nlp.scale_x, self.sizes.rows, self.sizes.cost
        lower, upper = (nlp.lower, nlp.upper) if start.bounds is None else start.bounds
        lower, upper = _sides(lower, upper, sx)
        lower_g, upper_g = _sides(*nlp.bounds_g, sg)
        given = {"x0": start.x / sx, "p": p, "lbx": lower, "ubx": upper, "lbg": lower_g, "ubg": upper_g}
        if start.multipliers is not None:
            given |= {"lam_g0": start.multipliers["g"] * sg / sf, "lam_x0": start.multipliers["x"] * sx / sf}
        return given

    def own(self, x: np.ndarray) -> np.ndarray:
        """A decision vector in the NLP's own units."""
        return x * self.nlp.scale_x

    def own_multipliers(self, lam_g: np.ndarray, lam_x: np.ndarray) -> dict[str, np.ndarray]:
        """Multipliers in the NLP's own units; where all that counts is the distance to a place, none are needed."""
        if self.anchor is not None:
            return {"g": np.zeros(lam_g.size), "x": np.zeros(lam_x.size)}
        return {"g": lam_g / self.sizes.rows * self.sizes.cost, "x": lam_x / self.nlp.scale_x * self.sizes.cost}

    def _symbols(self) -> tuple[ca.MX, ca.MX, ca.MX]:
        """Scaled variables, parameters, and the variables in their own units."""
        x, p = ca.MX.sym("x", self.nlp.n_x), ca.MX.sym("p", self.nlp.f.size1_in(1))
        return x, p, x * self.nlp.scale_x

    def _distance(self, x: ca.MX) -> ca.MX:
        """Half the squared distance to the anchor; zero without one."""
        return ca.MX(0) if self.anchor is None else ca.sumsqr(x - self.anchor / self.nlp.scale_x) / 2

    def _grad_f(self) -> ca.Function:
        x, p, own = self._symbols()
        f, gradient = self.nlp.grad_f(own, p)
        distance = self._distance(x)
        f = ca.densify(f) / self.sizes.cost + distance
        scaled = gradient * (self.nlp.scale_x / self.sizes.cost) + ca.gradient(distance, x)
        return ca.Function("grad_f", [x, p], [f, scaled], ["x", "p"], ["f", "grad_f_x"])

    def _jac_g(self) -> ca.Function:
        x, p, own = self._symbols()
        g, jacobian = self.nlp.jac_g(own, p)
        factors = _entry_scale(jacobian.sparsity(), 1 / self.sizes.rows, self.nlp.scale_x)
        scaled = jacobian * ca.DM(jacobian.sparsity(), factors)
        return ca.Function("jac_g", [x, p], [g / self.sizes.rows, scaled], ["x", "p"], ["g", "jac_g_x"])

    def _hess_lag(self, own_hessian: ca.Function) -> ca.Function:
        x, p, own = self._symbols()
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.nlp.n_g)
        hessian = own_hessian(own, p, lam_f / self.sizes.cost, lam_g / self.sizes.rows)
        factors = _entry_scale(hessian.sparsity(), self.nlp.scale_x, self.nlp.scale_x)
        scaled = hessian * ca.DM(hessian.sparsity(), factors)
        if self.anchor is not None:
            scaled += lam_f * ca.DM.eye(self.nlp.n_x)
        names = ["x", "p", "lam_f", "lam_g"]
        return ca.Function("hess_lag", [x, p, lam_f, lam_g], [scaled], names, ["triu_hess_gamma_x_x"])


def _sides(lower: np.ndarray, upper: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds in natural sizes; what IPOPT takes for none it would no longer know once it is scaled."""
    wide = lower < upper
    lower = np.where(wide & (lower <= -_NO_BOUND), -np.inf, lower)
    return lower / scale, np.where(wide & (upper >= _NO_BOUND), np.inf, upper) / scale


def _entry_scale(sparsity: ca.Sparsity, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    row, column = triplet(sparsity)
    return rows[row] * columns[column]
