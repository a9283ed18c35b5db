"""The border to IPOPT: its options, statuses and histories."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, unknown_name
from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.outcome import Outcome, Status
from colloc.solver.scaled import Hessian, ScaledNLP
from colloc.transcription import NLP

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


class Ipopt:
    """IPOPT for one NLP and one set of options; solves any number of times.

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
        self._scaled = ScaledNLP(nlp)
        self._monitor = Monitor(nlp.n_x, nlp.n_g, nlp.f.size1_in(1))
        own = _DEFAULTS | (_WARM if warm else {}) | dict(options)
        if hessian is Hessian.LIMITED_MEMORY:
            own["hessian_approximation"] = "limited-memory"
        given = {
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "iteration_callback": self._monitor,
            "ipopt": own,
            **self._scaled.derivatives(hessian),
        }
        try:
            self._solver = ca.nlpsol("ipopt", "ipopt", self._scaled.problem(), given)
        except RuntimeError as error:
            raise InputError(f"IPOPT refuses these options: {own!r}") from error

    def __call__(
        self, x: np.ndarray, p: np.ndarray, multipliers: Mapping[str, np.ndarray] | None, progress: bool | None
    ) -> Outcome:
        """Solve from x, with multipliers ("g", "x") for a warm start."""
        begin = time.perf_counter()
        start = self._scaled.start(x, p, multipliers)
        self._monitor.begin(start["lbg"], start["ubg"], progress)
        with Interruptible(self._monitor):
            result = self._solver(**start)
        self._monitor.end()
        stats = self._solver.stats()
        best = self._monitor.best if self._monitor.stop else None
        history = stats.get("iterations", {})
        spent = sum(float(seconds) for key, seconds in stats.items() if key.startswith("t_wall_nlp_"))
        return Outcome(
            self._scaled.own(np.array(result["x"]).ravel() if best is None else best),
            self._scaled.own_multipliers(*(np.array(result[name]).ravel() for name in ("lam_g", "lam_x"))),
            _STATUS.get(stats["return_status"], Status.FAILED),
            stats["return_status"],
            {_HISTORY.get(str(key), str(key)): list(map(float, values)) for key, values in history.items()},
            int(stats.get("iter_count", 0)),
            {"solve": time.perf_counter() - begin, "callbacks": spent},
        )
