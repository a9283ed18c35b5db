"""The border to IPOPT: scaling, options, and its exact sparse derivatives."""

from __future__ import annotations

import time
from collections.abc import Mapping
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, unknown_name
from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.outcome import Outcome, Status
from colloc.transcription import NLP
from colloc.transcription.slices import triplet

# The adaptive barrier took 20 to 40 % fewer iterations than the monotone one on 270 runs of the two-link problems from
# random guesses, and failed as rarely (never). MUMPS is quickest, by a quarter on splines and up to twofold on long
# meshes, if it neither permutes nor scales what is scaled already, orders by QAMD, and keeps to twice the memory it
# estimates: `python -m studies.benchmarks.kkt`.
_DEFAULTS = {
    "print_level": 0,
    "sb": "yes",
    "linear_solver": "mumps",
    "mu_strategy": "adaptive",
    "mumps_mem_percent": 100,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 6,
    "mumps_scaling": 0,
}


# A warm start keeps the iterate and the multipliers where they are instead of pushing them inside the bounds.
_WARM = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-9,
    "warm_start_slack_bound_push": 1e-9,
    "warm_start_mult_bound_push": 1e-9,
}

_STATUS = {
    "Solve_Succeeded": Status.SOLVED,
    "Feasible_Point_Found": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.ACCEPTABLE,
    "Infeasible_Problem_Detected": Status.INFEASIBLE,
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Maximum_CpuTime_Exceeded": Status.TIME_LIMIT,
    "Maximum_WallTime_Exceeded": Status.TIME_LIMIT,
    "User_Requested_Stop": Status.INTERRUPTED,
    "Diverging_Iterates": Status.DIVERGED,
}


# Names of what every solver can say of an iteration; what else IPOPT records keeps its own name.
_HISTORY = {"obj": "cost", "inf_pr": "infeasibility", "inf_du": "stationarity", "mu": "barrier"}


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
    """

    EXACT = "exact"
    GAUSS_NEWTON = "Gauss-Newton"
    LIMITED_MEMORY = "limited memory"


@cache
def option_names() -> frozenset[str]:
    """Names of IPOPT's options."""
    return frozenset(Path(__file__).with_name("ipopt_options.txt").read_text().split())


def check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """IPOPT options by name; InputError names close matches of an unknown key."""
    for key in options or {}:
        if key == "hessian_approximation":
            raise InputError("say hessian=co.Hessian.LIMITED_MEMORY or EXACT in place of IPOPT's hessian_approximation")
        if key not in option_names():
            raise unknown_name("IPOPT option", key, sorted(option_names()))
    return dict(options or {})


def check_hessian(hessian: object, nlp: NLP) -> None:
    """InputError for anything but a Hessian that this problem has."""
    if not isinstance(hessian, Hessian):
        raise InputError(f"hessian must be one of {', '.join(map(str, Hessian))}, got {hessian!r}")
    if hessian is Hessian.GAUSS_NEWTON and all(block.weights is None for block in nlp.costs):
        terms = ", ".join(nlp.problem.integrands)
        raise InputError(f"Gauss-Newton needs a cost that contains squares, such as ca.sumsqr(now.tau); got {terms}")


class Ipopt:
    """IPOPT for one NLP and one set of options; solves any number of times.

    IPOPT sees every variable and row divided by its natural size (from its bounds), and is handed grad_f, jac_g and
    hess_lag, so that CasADi differentiates nothing itself.

    Parameters
    ----------
    nlp : NLP
    options : mapping
        IPOPT's own options, checked, on top of the defaults.
    hessian : Hessian
    warm : bool
        Whether runs start from multipliers.
    """

    def __init__(self, nlp: NLP, options: Mapping[str, Any], hessian: Hessian, *, warm: bool = False):
        self.nlp, self.warm = nlp, warm
        self._monitor = Monitor(nlp.n_x, nlp.n_g, nlp.f.size1_in(1))
        own = _DEFAULTS | (_WARM if warm else {}) | dict(options)
        given = {
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "iteration_callback": self._monitor,
            "grad_f": self._grad_f(),
            "jac_g": self._jac_g(),
            "ipopt": own,
        }
        if hessian is Hessian.LIMITED_MEMORY:
            own["hessian_approximation"] = "limited-memory"
        else:
            given["hess_lag"] = self._hess_lag(nlp.hess_lag if hessian is Hessian.EXACT else nlp.gauss_newton)
        try:
            self._solver = ca.nlpsol("ipopt", "ipopt", self._problem(), given)
        except RuntimeError as error:
            raise InputError(f"IPOPT refuses these options: {own!r}") from error

    def __call__(
        self, x: np.ndarray, p: np.ndarray, multipliers: Mapping[str, np.ndarray] | None, progress: bool | None
    ) -> Outcome:
        """Solve from x, with multipliers ("g", "x") for a warm start."""
        begin = time.perf_counter()
        nlp, sx, sg = self.nlp, self.nlp.scale_x, self.nlp.scale_g
        lower_g, upper_g = (side / sg for side in nlp.bounds_g)
        start = {"x0": x / sx, "p": p, "lbx": nlp.lower / sx, "ubx": nlp.upper / sx, "lbg": lower_g, "ubg": upper_g}
        if multipliers is not None:
            start |= {"lam_g0": multipliers["g"] * sg, "lam_x0": multipliers["x"] * sx}
        self._monitor.begin(lower_g, upper_g, progress)
        with Interruptible(self._monitor):
            result = self._solver(**start)
        self._monitor.end()
        stats = self._solver.stats()
        best = self._monitor.best if self._monitor.stop else None
        x_end = np.array(result["x"]).ravel() if best is None else best
        spent = sum(float(seconds) for key, seconds in stats.items() if key.startswith("t_wall_nlp_"))
        return Outcome(
            x_end * sx,
            {"g": np.array(result["lam_g"]).ravel() / sg, "x": np.array(result["lam_x"]).ravel() / sx},
            _STATUS.get(stats["return_status"], Status.FAILED),
            stats["return_status"],
            {
                _HISTORY.get(str(key), str(key)): list(map(float, values))
                for key, values in stats.get("iterations", {}).items()
            },
            int(stats.get("iter_count", 0)),
            {"solve": time.perf_counter() - begin, "callbacks": spent},
        )

    def _symbols(self) -> tuple[ca.MX, ca.MX, ca.MX]:
        """Scaled variables, parameters, and the variables in their own units."""
        x, p = ca.MX.sym("x", self.nlp.n_x), ca.MX.sym("p", self.nlp.f.size1_in(1))
        return x, p, x * self.nlp.scale_x

    def _problem(self) -> dict[str, ca.MX]:
        x, p, own = self._symbols()
        return {"x": x, "p": p, "f": self.nlp.f(own, p), "g": self.nlp.g(own, p) / self.nlp.scale_g}

    def _grad_f(self) -> ca.Function:
        x, p, own = self._symbols()
        f, gradient = self.nlp.grad_f(own, p)
        return ca.Function("grad_f", [x, p], [f, gradient * self.nlp.scale_x], ["x", "p"], ["f", "grad_f_x"])

    def _jac_g(self) -> ca.Function:
        x, p, own = self._symbols()
        g, jacobian = self.nlp.jac_g(own, p)
        factors = _entry_scale(jacobian.sparsity(), 1 / self.nlp.scale_g, self.nlp.scale_x)
        scaled = jacobian * ca.DM(jacobian.sparsity(), factors)
        return ca.Function("jac_g", [x, p], [g / self.nlp.scale_g, scaled], ["x", "p"], ["g", "jac_g_x"])

    def _hess_lag(self, own_hessian: ca.Function) -> ca.Function:
        x, p, own = self._symbols()
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", self.nlp.n_g)
        hessian = own_hessian(own, p, lam_f, lam_g / self.nlp.scale_g)
        factors = _entry_scale(hessian.sparsity(), self.nlp.scale_x, self.nlp.scale_x)
        scaled = hessian * ca.DM(hessian.sparsity(), factors)
        names = ["x", "p", "lam_f", "lam_g"]
        return ca.Function("hess_lag", [x, p, lam_f, lam_g], [scaled], names, ["triu_hess_gamma_x_x"])


def _entry_scale(sparsity: ca.Sparsity, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    row, column = triplet(sparsity)
    return rows[row] * columns[column]
