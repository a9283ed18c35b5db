"""The border to IPOPT: its options, statuses and histories."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.checks import InputError, unknown_name
from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.outcome import Outcome, Status
from colloc.solver.scaled import Hessian, ScaledNLP
from colloc.solver.sizes import sizes_at
from colloc.transcription import NLP

# The adaptive barrier took 20 to 40 % fewer iterations than the monotone one on 270 runs of the two-link problems from
# random guesses, and failed as rarely (never). MUMPS is quickest, by a quarter on splines and up to twofold on long
# meshes, if it neither permutes nor scales what is scaled already, orders by QAMD, and keeps to twice the memory it
# estimates: `python -m studies.benchmarks.kkt`.
_DEFAULTS = {
    "print_level": 0,
    "sb": "yes",
    "linear_solver": "mumps",
    "mumps_mem_percent": 100,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 6,
    "mumps_scaling": 0,
}

STRATEGIES = ("adaptive", "monotone")
PATIENCE = 200  # iterations of the first
_MAX_ITER = 3000  # IPOPT's own default

# A warm start keeps the iterate and the multipliers where they are instead of pushing them inside the bounds.
_WARM = {
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-9,
    "warm_start_slack_bound_push": 1e-9,
    "warm_start_mult_bound_push": 1e-9,
}

# L-BFGS converges by fits and starts: fifteen iterations of acceptable accuracy are no standstill.
_LIMITED_MEMORY = {"hessian_approximation": "limited-memory", "acceptable_iter": 0}

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


@dataclass(frozen=True, eq=False)
class Ipopt:
    """IPOPT for one NLP and one set of options; solves any number of times.

    Barrier strategies take turns: the first has `PATIENCE` iterations, and where it finds no optimum the second sets
    out from the same start.

    Parameters
    ----------
    nlp : NLP
    options : mapping
        IPOPT's own options, checked, on top of the defaults. With a mu_strategy of its own there is no second try.
    hessian : Hessian
    """

    nlp: NLP
    options: Mapping[str, Any]
    hessian: Hessian

    def __call__(
        self, x: np.ndarray, p: np.ndarray, multipliers: Mapping[str, np.ndarray] | None, progress: bool | None
    ) -> Outcome:
        """Solve from x, with multipliers ("g", "x") for a warm start."""
        scaled = ScaledNLP(self.nlp, sizes_at(self.nlp, x, p))
        start = scaled.start(x, p, multipliers)
        limited = self.hessian is Hessian.LIMITED_MEMORY
        warm = multipliers is not None
        own = _DEFAULTS | (_WARM if warm else {}) | (_LIMITED_MEMORY if limited else {}) | dict(self.options)
        strategies = STRATEGIES
        if "mu_strategy" in own or limited:
            strategies = [own.get("mu_strategy", STRATEGIES[0])]
        runs: list[Outcome] = []
        for k, strategy in enumerate(strategies):
            left = _left(own, runs)
            if k + 1 < len(strategies) and "max_iter" in left:
                left["max_iter"] = min(PATIENCE, left["max_iter"])
            runs.append(self._run(scaled, start, own | left | {"mu_strategy": strategy}, progress))
            if _final(runs[-1]) or min(_left(own, runs).values(), default=1) <= 0:
                break
        return _joined(runs)

    def _run(
        self, scaled: ScaledNLP, start: Mapping[str, np.ndarray], own: dict[str, Any], progress: bool | None
    ) -> Outcome:
        """One run of IPOPT."""
        begin = time.perf_counter()
        monitor = Monitor(self.nlp.n_x, self.nlp.n_g, self.nlp.f.size1_in(1))
        given = {
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "iteration_callback": monitor,
            "ipopt": own,
            **scaled.derivatives(self.hessian),
        }
        try:
            solver = ca.nlpsol("ipopt", "ipopt", scaled.problem(), given)
        except RuntimeError as error:
            raise InputError(f"IPOPT refuses these options: {own!r}") from error
        built = time.perf_counter()
        monitor.begin(start["lbg"], start["ubg"], scaled.sizes.cost, progress)
        with Interruptible(monitor):
            result = solver(**start)
        monitor.end()
        stats, best = solver.stats(), monitor.best if monitor.stop else None
        spent = sum(float(seconds) for key, seconds in stats.items() if key.startswith("t_wall_nlp_"))
        return Outcome(
            scaled.own(np.array(result["x"]).ravel() if best is None else best),
            scaled.own_multipliers(*(np.array(result[name]).ravel() for name in ("lam_g", "lam_x"))),
            _STATUS.get(stats["return_status"], Status.FAILED),
            stats["return_status"],
            _history(stats.get("iterations", {}), scaled.sizes.cost),
            # IPOPT's own count means nothing where it made no iteration at all.
            max(0, monitor.count - 1),
            {"build": built - begin, "solve": time.perf_counter() - built, "callbacks": spent},
            strategy=f"{own['mu_strategy']} barrier",
        )


def _left(own: Mapping[str, Any], runs: Sequence[Outcome]) -> dict[str, Any]:
    """Limits on iterations and time that are left after some runs."""
    iterations, seconds = (sum(values) for values in ([r.iterations for r in runs], [r.seconds["solve"] for r in runs]))
    spent = {"max_iter": iterations, "max_cpu_time": seconds, "max_wall_time": seconds}
    given = {"max_iter": _MAX_ITER} | {name: own[name] for name in spent if name in own}
    # What is no number is for IPOPT to refuse.
    return {name: limit - spent[name] for name, limit in given.items() if isinstance(limit, int | float)}


def _final(run: Outcome) -> bool:
    """Whether another strategy is out of question: an optimum, a user's will, or a run that could not begin."""
    return run.status in (Status.SOLVED, Status.INTERRUPTED) or run.iterations == 0


def _joined(runs: Sequence[Outcome]) -> Outcome:
    """The best end of several runs, with the iterations and seconds of all."""
    ranks = [Status.SOLVED, Status.INTERRUPTED, Status.ACCEPTABLE, Status.INFEASIBLE]
    best = min(runs, key=lambda run: ranks.index(run.status) if run.status in ranks else len(ranks))
    names = runs[0].history.keys()
    return replace(
        best,
        history={name: [value for run in runs for value in run.history.get(name, [])] for name in names},
        iterations=sum(run.iterations for run in runs),
        seconds={name: sum(run.seconds[name] for run in runs) for name in runs[0].seconds},
    )


def _history(recorded: Mapping[str, Sequence[float]], cost: float) -> dict[str, list[float]]:
    """IPOPT's record by names of ours, the cost in its own unit."""
    found = {_HISTORY.get(str(key), str(key)): list(map(float, values)) for key, values in recorded.items()}
    return found | {"cost": [cost * value for value in found["cost"]]} if "cost" in found else found
