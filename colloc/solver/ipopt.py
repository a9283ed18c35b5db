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

from colloc.solver.linear_algebra import on_one_thread
from colloc.solver.linear_solvers import check_linear_solver
from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.nearest import is_moved
from colloc.solver.outcome import Outcome, Status
from colloc.solver.progress import Asked
from colloc.solver.scaled import Hessian, ScaledNLP
from colloc.solver.sizes import sizes_at
from colloc.solver.start import Start
from colloc.support.checks import InputError, finite_number, mapping, text, unknown_name
from colloc.transcription import Program

# MUMPS is quickest, by a quarter on splines and up to twofold on long meshes, if it neither permutes nor scales what is
# scaled already, orders by QAMD, and keeps to twice the memory it estimates: `python -m colloc benchmarks.kkt`.
_DEFAULTS = {
    "print_level": 0,
    "sb": "yes",
    "option_file_name": "",  # by default ipopt.opt of the working directory, which may name libraries to be loaded
    "linear_solver": "mumps",
    "mumps_mem_percent": 100,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 6,
    "mumps_scaling": 0,
    "mu_init": 1e-2,
}

# A barrier chosen anew at every iteration throws a free duration about: guessed badly it takes up to 1,003 iterations
# where the monotone barrier, begun low, takes 109, for the same median: `python -m colloc benchmarks.barrier`. In a
# given duration tails are alike and the adaptive one has the lower median, a quarter on human gait; from an optimum
# nearby, multipliers included, it is there at once.
STRATEGIES = ("monotone", "adaptive")
PATIENCE = 300  # iterations of the first
_MAX_ITER, _TOL = 3000, 1e-8  # IPOPT's own defaults
# Each of a thousand bounds adds the last barrier parameter to the cost, which a monotone barrier relates to the
# tolerance; a tenth of it costs an iteration.
_GAP = 0.1

# A warm start keeps the iterate and the multipliers where they are instead of pushing them inside the bounds.
_WARM = {
    "mu_init": 1e-6,
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-6,
    "warm_start_slack_bound_push": 1e-6,
    "warm_start_mult_bound_push": 1e-6,
}

# Near an optimum a barrier begun high, or a step inside the bounds, leads to another one. Multipliers that fit the
# barrier serve better than those of another grid.
_NEAR = {
    "mu_init": 1e-5,
    "bound_push": 1e-5,
    "bound_frac": 1e-5,
    "slack_bound_push": 1e-5,
    "slack_bound_frac": 1e-5,
    "bound_mult_init_method": "mu-based",
}

# L-BFGS converges by fits and starts: fifteen iterations of acceptable accuracy in a row mean no standstill.
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
    """IPOPT options by name.

    InputError names close matches of an unknown key, and the linear solvers that can be loaded where another is named.
    """
    for key, value in mapping("ipopt", options).items():
        text("name of an IPOPT option", key)
        if not isinstance(value, str):
            finite_number(f"IPOPT option {key}", value)
        if key == "hessian_approximation":
            raise InputError(
                "say hessian=co.solver.Hessian.LIMITED_MEMORY or EXACT in place of IPOPT's hessian_approximation"
            )
        if key not in option_names():
            raise unknown_name("IPOPT option", key, sorted(option_names()))
    check_linear_solver(options or {})
    return dict(options or {})


@dataclass(frozen=True, eq=False)
class Ipopt:
    """IPOPT for one NLP and one set of options; solves any number of times.

    The barrier is monotone in a free duration or near an optimum, adaptive in a given one or from multipliers. A run
    that finds no optimum within `PATIENCE` iterations is followed by one with the other barrier from the same start,
    and the better end counts. L-BFGS, slow by nature, has one run and all iterations. Of a cost that no variable moves,
    such as zero, the nearest motion to the start is sought that meets the constraints.

    Parameters
    ----------
    nlp : Program
    options : mapping
        IPOPT's own options, checked, on top of the defaults. With a mu_strategy of its own there is no second try.
    hessian : Hessian
    round : int
        Of a refinement, for the progress line.
    """

    nlp: Program
    options: Mapping[str, Any]
    hessian: Hessian
    round: int = 1

    def __call__(self, start: Start, p: np.ndarray, progress: Asked) -> Outcome:
        """Solve from a start."""
        on_one_thread()
        anchor = None if is_moved(self.nlp, start.x, p) else start.x
        scaled = ScaledNLP(self.nlp, sizes_at(self.nlp, start.x, p), anchor)
        given = scaled.start(start, p)
        limited, warm = self.hessian is Hessian.LIMITED_MEMORY, start.multipliers is not None
        usual = _DEFAULTS | (_LIMITED_MEMORY if limited else {})
        special = _WARM if warm else _NEAR if start.near and not limited else {}
        own = usual | special | dict(self.options)
        adaptive = warm or not (self.nlp.free_duration or start.near)
        first, second = STRATEGIES[::-1] if adaptive else STRATEGIES
        if "mu_strategy" in own or limited:
            return self._run(scaled, given, own, own.get("mu_strategy", first), progress)
        limit = own.get("max_iter", _MAX_ITER)
        # What is no number IPOPT refuses.
        patience = min(PATIENCE, limit) if isinstance(limit, int) else limit
        run = self._run(scaled, given, own | {"max_iter": patience}, first, progress)
        left = _left(own, run)
        if run.status in (Status.SOLVED, Status.INTERRUPTED) or run.iterations == 0 or min(left.values()) <= 0:
            return run
        return _better(run, self._run(scaled, given, usual | dict(self.options) | left, second, progress))

    def _run(
        self,
        scaled: ScaledNLP,
        start: Mapping[str, np.ndarray],
        own: Mapping[str, Any],
        strategy: str,
        progress: Asked,
    ) -> Outcome:
        """One run of IPOPT with one barrier strategy."""
        own = dict(own) | {"mu_strategy": strategy}
        if strategy == "monotone" and isinstance(tol := own.get("tol", _TOL), float):
            own = {"compl_inf_tol": _GAP * tol} | own
        begin = time.perf_counter()
        monitor = Monitor(self.nlp.n_x, self.nlp.n_g, self.nlp.f.size1_in(1))
        settings = {
            "no_nlp_grad": True,
            "calc_lam_p": False,
            "print_time": False,
            "show_eval_warnings": False,
            "iteration_callback": monitor,
            "ipopt": own,
            **scaled.derivatives(self.hessian),
        }
        try:
            solver = ca.nlpsol("ipopt", "ipopt", scaled.problem(), settings)
        except RuntimeError as error:
            if not self.options:
                raise
            raise InputError(f"IPOPT refuses these options: {dict(self.options)!r}") from error
        built = time.perf_counter()
        monitor.begin(start["lbg"], start["ubg"], scaled.sizes.cost, scaled.own, progress, self.round)
        with Interruptible(monitor):
            result = solver(**start)
        monitor.end()
        stats = solver.stats()
        status = _STATUS.get(stats["return_status"], Status.FAILED)
        # Ctrl-C may come when IPOPT no longer asks: the optimum is then the best iterate, and the interruption counts.
        stopped = monitor.stop or status is Status.TIME_LIMIT
        best = monitor.best if stopped and status is not Status.SOLVED else None
        history = _history(stats.get("iterations", {}), scaled.sizes.cost)
        if scaled.anchor is not None:
            value = float(self.nlp.f(scaled.anchor, start["p"]))  # wherever the motion is
            history["cost"] = [value] * len(history.get("cost", []))
        spent = sum(float(seconds) for key, seconds in stats.items() if key.startswith("t_wall_nlp_"))
        return Outcome(
            scaled.own(np.array(result["x"]).ravel() if best is None else best),
            scaled.own_multipliers(*(np.array(result[name]).ravel() for name in ("lam_g", "lam_x"))),
            Status.INTERRUPTED if monitor.stop else status,
            stats["return_status"],
            history,
            # IPOPT's own count means nothing where it made no iteration at all.
            max(0, monitor.count - 1),
            {"build": built - begin, "solve": time.perf_counter() - built, "callbacks": spent},
            strategy=f"{strategy} barrier",
        )


def _left(own: Mapping[str, Any], run: Outcome) -> dict[str, Any]:
    """Limits on iterations and time that are left after a run."""
    left = {"max_iter": own.get("max_iter", _MAX_ITER) - run.iterations}
    return left | {name: own[name] - run.seconds["solve"] for name in ("max_cpu_time", "max_wall_time") if name in own}


def _better(first: Outcome, second: Outcome) -> Outcome:
    """The better end of two runs, with the iterations and seconds of both."""
    order = (Status.SOLVED, Status.INTERRUPTED, Status.ACCEPTABLE, Status.INFEASIBLE)
    ranks = [order.index(run.status) if run.status in order else len(order) for run in (first, second)]
    names = [name for name in first.history if name in second.history]
    return replace(
        first if ranks[0] < ranks[1] else second,
        history={name: first.history[name] + second.history[name] for name in names},
        iterations=first.iterations + second.iterations,
        seconds={name: seconds + second.seconds[name] for name, seconds in first.seconds.items()},
    )


def _history(recorded: Mapping[str, Sequence[float]], cost: float) -> dict[str, list[float]]:
    """IPOPT's record by names of ours, the cost in its own unit."""
    found = {_HISTORY.get(str(key), str(key)): list(map(float, values)) for key, values in recorded.items()}
    return found | {"cost": [cost * value for value in found["cost"]]} if "cost" in found else found
