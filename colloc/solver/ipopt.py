"""Interface to IPOPT: options, statuses and histories, for motions and for smooth functions without constraints."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.solver.linear_solvers import (
    OURS,
    check_linear_solver,
    default_linear_solver,
    in_terms_of_ipopt,
    on_one_thread,
    shown_by_name,
)
from colloc.solver.monitor import Interruptible, IterationCallback
from colloc.solver.nlpsol import Nlpsol, RefusedOptions
from colloc.solver.progress import OnIteration
from colloc.solver.scaling import Hessian, check_hessian, unscaled_costs
from colloc.solver.solver import Outcome, PreparedSolver, Solver, Start, Status, check_solver
from colloc.support.checks import InputError, finite_number, mapping, spelt, text, unknown_name
from colloc.transcription import BaseNLP

Evaluate = Callable[[np.ndarray], Any]

# MUMPS is fastest, by a quarter on splines and up to twofold on long meshes, without permuting and scaling of scaled
# systems, with QAMD ordering, and with twice its estimate of memory: `python -m colloc benchmarks.kkt`.
_QUIET = {
    "print_level": 0,
    "sb": "yes",
    "option_file_name": "",  # default: ipopt.opt in the working directory, which could name libraries to be loaded
    "linear_solver": "mumps",
}
_DEFAULTS = _QUIET | {
    "mumps_mem_percent": 100,
    "mumps_permuting_scaling": 0,
    "mumps_pivot_order": 6,
    "mumps_scaling": 0,
    "mu_init": 1e-2,
}

# With a free duration the adaptive barrier is unreliable: from bad guesses it takes up to 1,003 iterations, the
# monotone barrier with a low start 109, with equal medians: `python -m colloc benchmarks.barrier`. Corrected steps and
# a ceiling of the barrier save a third in the median, but take five times as many on some problems, and lead others to
# costlier optima. With a fixed duration the tails are similar and the adaptive barrier has the lower median, by a
# quarter on human gait.
STRATEGIES = ("monotone", "adaptive")
PATIENCE = 300  # iterations of the first run
_MAX_ITER, _TOL = 3000, 1e-8  # IPOPT's own defaults
# Each of a thousand bounds adds the last barrier parameter to the cost, which is therefore related to the tolerance. A
# monotone barrier ends at a tenth of what is asked for; near an optimum an adaptive one is asked for that tenth.
_GAPS = {"monotone": 0.1, "adaptive": 0.01}

# A warm start keeps the iterate and the multipliers instead of pushing them inside the bounds.
_WARM = {
    "mu_init": 1e-6,
    "warm_start_init_point": "yes",
    "warm_start_bound_push": 1e-6,
    "warm_start_slack_bound_push": 1e-6,
    "warm_start_mult_bound_push": 1e-6,
}

# Near an optimum a high initial barrier, or a step inside the bounds, leads to another one. Multipliers that fit the
# barrier are better than those of another grid. An adaptive barrier takes half the iterations of a monotone one there.
_NEAR = {
    "mu_init": 1e-5,
    "bound_push": 1e-5,
    "bound_frac": 1e-5,
    "slack_bound_push": 1e-5,
    "slack_bound_frac": 1e-5,
    "bound_mult_init_method": "mu-based",
}

# L-BFGS converges irregularly: fifteen consecutive iterations of acceptable accuracy are no stagnation.
_LIMITED_MEMORY = {"hessian_approximation": "limited-memory", "acceptable_iter": 0}

# Functions of first and second derivatives that IPOPT requires.
_FIRST = {"nlp_grad_f": ("f", "grad_f_x"), "nlp_jac_g": ("g", "jac_g_x")}
_SECOND = {"nlp_hess_l": ("triu_hess_gamma_x_x",)}

STATUS_OF_MESSAGE = {
    "Solve_Succeeded": Status.SOLVED,
    "Feasible_Point_Found": Status.SOLVED,
    "Solved_To_Acceptable_Level": Status.ACCEPTABLE,
    "Infeasible_Problem_Detected": Status.NOT_FOUND,
    "Maximum_Iterations_Exceeded": Status.ITERATION_LIMIT,
    "Maximum_CpuTime_Exceeded": Status.TIME_LIMIT,
    "Maximum_WallTime_Exceeded": Status.TIME_LIMIT,
    "User_Requested_Stop": Status.INTERRUPTED,
    "Diverging_Iterates": Status.DIVERGED,
} | dict.fromkeys(
    (
        "Search_Direction_Becomes_Too_Small", "Restoration_Failed", "Error_In_Step_Computation",
        "Not_Enough_Degrees_Of_Freedom", "Invalid_Problem_Definition", "Invalid_Option", "Invalid_Number_Detected",
        "Unrecoverable_Exception", "NonIpopt_Exception_Thrown", "Insufficient_Memory", "Internal_Error",
    ),
    Status.FAILED,
)  # fmt: skip


# Common names of the records of all solvers; other records of IPOPT keep their names.
_HISTORY = {"obj": "cost", "inf_pr": "infeasibility", "inf_du": "stationarity", "mu": "barrier"}


@cache
def option_names() -> frozenset[str]:
    """Names of IPOPT's options."""
    return frozenset(Path(__file__).with_name("ipopt_options.txt").read_text(encoding="utf-8").split())


def check_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    """IPOPT options by name.

    Raise InputError with close matches of an unknown key, or with the linear solvers that can be loaded.
    """
    checked = dict(mapping("ipopt", options))
    for key, value in checked.items():
        text("name of an IPOPT option", key)
        if not isinstance(value, str):
            finite_number(f"IPOPT option {key}", value)
        if key == "hessian_approximation":
            raise InputError(
                "use hessian=co.solver.Hessian.LIMITED_MEMORY or EXACT instead of IPOPT's hessian_approximation"
            )
        if key not in option_names():
            raise unknown_name("IPOPT option", key, sorted(option_names()))
    check_linear_solver(checked)
    return checked


def chosen_solver(solver: Solver | None) -> Solver:
    """The solver of a call: IPOPT with the library's defaults unless another is passed."""
    return Ipopt() if solver is None else check_solver(solver)


@spelt
@dataclass(frozen=True, init=False)
class Ipopt:
    """IPOPT, an interior-point method and the default solver.

    The barrier is monotone from a guess with a free duration, and adaptive otherwise. A
    run without an optimum within `PATIENCE` iterations is followed by a run with the other barrier from the same start,
    and the better result counts. L-BFGS, which is slow, and a start within a trust region have one run with all
    iterations; near an optimum the barrier of L-BFGS is monotone. If no variable changes the cost, the feasible motion
    nearest to the start is sought.

    Parameters
    ----------
    hessian : Hessian
        EXACT, GAUSS_NEWTON or LIMITED_MEMORY.
    **options
        IPOPT options by name, in addition to the library's defaults: ``max_iter=500``, ``tol=1e-10``,
        ``linear_solver="ma57"``. With an explicit ``mu_strategy`` there is no second run. From a thousand variables and
        rows on the default ``linear_solver`` is "multifrontal", part of this library, unless compiling is disabled; in
        smaller programs, and if it ends without a step, "mumps".

    Raises
    ------
    InputError
        For options that IPOPT does not have, or a linear solver that it cannot load.

    Examples
    --------
    >>> patient = co.Ipopt(max_iter=10_000, tol=1e-10)
    >>> co.solve(problem, co.BSpline(20), solver=patient).status
    <Status.SOLVED: 'solved'>
    """

    hessian: Hessian
    options: Mapping[str, Any]

    def __init__(self, *, hessian: Hessian = Hessian.EXACT, **options: Any):
        object.__setattr__(self, "hessian", check_hessian(hessian))
        object.__setattr__(self, "options", check_options(options))

    def __repr__(self) -> str:
        options = [f"{name}={value!r}" for name, value in self.options.items()]
        return f"Ipopt({', '.join([f'hessian={self.hessian}', *options])})"

    def limited(self, *, iterations: int) -> Ipopt:
        """See `Solver.limited`."""
        return Ipopt(hessian=self.hessian, **({"max_iter": iterations} | dict(self.options)))

    def prepare(self, nlp: BaseNLP, /) -> PreparedSolver:
        """Prepare IPOPT for a program; objects made in a run are kept with the program for later runs.

        Examples
        --------
        >>> prepared = co.Ipopt().prepare(solution.nlp)
        >>> prepared(co.solver.Start(solution.x, solution.multipliers), solution.parameters).iterations < 5
        True
        """
        return _PreparedIpopt(self, nlp)


@dataclass(frozen=True, eq=False)
class _PreparedIpopt:
    """IPOPT prepared for a program, with one object for every set of options, which depend on the start."""

    ipopt: Ipopt
    nlp: BaseNLP

    def __call__(
        self,
        start: Start,
        parameters: np.ndarray,
        on_iteration: OnIteration | None = None,
        /,
        *,
        seconds: float = np.inf,
    ) -> Outcome:
        """Run once, or twice with different barriers."""
        on_one_thread()
        nlp, deadline = self.nlp, time.perf_counter() + seconds
        limited_memory, warm = self.ipopt.hessian is Hessian.LIMITED_MEMORY, start.multipliers is not None
        defaults = _DEFAULTS | (_LIMITED_MEMORY if limited_memory else {})
        special = _WARM if warm else _NEAR if start.near_optimum and not limited_memory else {}
        linear_solver = {"linear_solver": default_linear_solver(nlp.n_x + nlp.n_g, nlp.compile)}
        options = defaults | special | linear_solver | dict(self.ipopt.options)
        trusted = start.bounds is not None

        def run_once(options: dict[str, Any], start: Start) -> Outcome:
            return self._run(options, start, parameters, on_iteration, deadline - time.perf_counter())

        def run(options: dict[str, Any], strategy: str, start: Start) -> Outcome:
            options = options | {"mu_strategy": strategy}
            outcome = run_once(options, start)
            if outcome.status is not Status.FAILED or options["linear_solver"] != OURS:
                return outcome
            # No step could be computed, perhaps because the factors are inaccurate.
            again = run_once(options | {"linear_solver": "mumps"}, start._replace(scale=outcome.scale))
            return _better(outcome, again)

        slow = limited_memory if start.near_optimum else nlp.free_duration
        first, second = STRATEGIES if slow and not (warm or trusted) else STRATEGIES[::-1]
        if "mu_strategy" in options or limited_memory or trusted:
            return run(options, options.get("mu_strategy", first), start)
        limit = options.get("max_iter", _MAX_ITER)
        # IPOPT rejects NaN.
        patience = min(PATIENCE, limit) if isinstance(limit, int) else limit
        outcome = run(options | {"max_iter": patience}, first, start)
        left = _left(options, outcome)
        if outcome.status in (Status.SOLVED, Status.INTERRUPTED) or outcome.iterations == 0 or min(left.values()) <= 0:
            return outcome
        if time.perf_counter() > deadline:
            return outcome
        options = defaults | linear_solver | dict(self.ipopt.options) | left
        return _better(outcome, run(options, second, start._replace(scale=outcome.scale)))

    def _stated(self) -> dict[str, Any]:
        """The user's options, without a valid limit of iterations, which may be that of one run of many."""
        limit = self.ipopt.options.get("max_iter")
        valid = isinstance(limit, int) and limit >= 0
        return {name: value for name, value in self.ipopt.options.items() if not (valid and name == "max_iter")}

    def _run(
        self,
        options: dict[str, Any],
        start: Start,
        parameters: np.ndarray,
        on_iteration: OnIteration | None,
        seconds: float,
    ) -> Outcome:
        """One run of IPOPT with one barrier strategy."""
        hessian, strategy = self.ipopt.hessian, options["mu_strategy"]
        # A barrier of the user's choice may not go below a limit of its own.
        chosen = any(name.startswith("mu_") for name in self.ipopt.options)
        sharp = strategy == "monotone" or (start.near_optimum and not chosen)
        if sharp and strategy in _GAPS and isinstance(tol := options.get("tol", _TOL), float):
            options = {"compl_inf_tol": _GAPS[strategy] * tol} | options
        if self.ipopt.options and not _go_together(frozenset(options.items())):
            raise InputError(f"IPOPT rejects these options together: {self._stated()!r}")
        functions = _FIRST if hessian is Hessian.LIMITED_MEMORY else _FIRST | _SECOND
        settings = {"ipopt": in_terms_of_ipopt(options), "no_nlp_grad": True}  # which IPOPT does not need
        nlpsol = Nlpsol("ipopt", self.nlp, functions, settings, hessian, STATUS_OF_MESSAGE)
        try:
            with shown_by_name(options):
                outcome, stats = nlpsol.run(start, parameters, on_iteration, seconds=seconds)
        except RefusedOptions as error:
            if not (stated := self._stated()):
                raise
            raise InputError(f"IPOPT rejects these options: {stated!r}") from error
        history = _history(stats.get("iterations", {}))
        if "cost" in history and outcome.scale is not None:
            history["cost"] = unscaled_costs(self.nlp, history["cost"], parameters, outcome.scale)
        # IPOPT's count is meaningless without any iteration.
        iterations = outcome.iterations if history.get("cost") else 0
        return replace(outcome, history=history, iterations=iterations, strategy=f"{strategy} barrier")


# From an optimum to the same one with almost no barrier. With a barrier of 1e-9, a bound with multiplier 1e-5 has an
# equal distance, and a time optimum has a dozen such weakly active bounds too many.
SHARPENING = Ipopt(mu_strategy="monotone", compl_inf_tol=1e-13, bound_relax_factor=0.0, mu_init=1e-9, max_iter=60)

# For relaxed limits, in natural sizes, well below the smallest relaxation that counts; and from far away, where a high
# initial barrier is fastest.
ELASTIC = Ipopt(max_iter=300, tol=1e-7, acceptable_tol=1e-5, acceptable_constr_viol_tol=1e-7)
ELASTIC_FROM_FAR = Ipopt(**ELASTIC.options, mu_init=0.1, mu_strategy="monotone")


def to_the_last_digit(solver: Solver) -> Solver:
    """IPOPT with the tightest tolerances of equations and bounds, keeping user options; other solvers unchanged."""
    if not isinstance(solver, Ipopt):
        return solver
    return Ipopt(hessian=solver.hessian, **({"tol": 1e-11, "bound_relax_factor": 0.0} | dict(solver.options)))


@cache
def _go_together(options: frozenset[tuple[str, Any]]) -> bool:
    """Whether IPOPT takes options that are valid one by one, tried on a parabola.

    IPOPT finds out after it has made its linear solver, and cannot delete a loaded one that was never used.
    """
    x = ca.MX.sym("x")
    settings = dict(options) | _QUIET | {"linear_solver": "mumps", "max_iter": 0}
    settings.pop("output_file", None)
    try:
        probe = ca.nlpsol("probe", "ipopt", {"x": x, "f": x**2}, {"ipopt": settings, "print_time": False})
        probe(x0=1.0)
    except RuntimeError:
        return True  # an option by itself is wrong, which the run itself says
    return probe.stats()["return_status"] != "Invalid_Option"


def _left(options: Mapping[str, Any], run: Outcome) -> dict[str, Any]:
    """Remaining limits of iterations and time after a run."""
    left = {"max_iter": options.get("max_iter", _MAX_ITER) - run.iterations}
    return left | {
        name: options[name] - run.seconds["solve"] for name in ("max_cpu_time", "max_wall_time") if name in options
    }


def _better(first: Outcome, second: Outcome) -> Outcome:
    """The better outcome of two runs, with the iterations and seconds of both."""
    order = (Status.SOLVED, Status.INTERRUPTED, Status.ACCEPTABLE, Status.NOT_FOUND)
    ranks = [order.index(run.status) if run.status in order else len(order) for run in (first, second)]
    names = [name for name in first.history if name in second.history]
    return replace(
        first if ranks[0] < ranks[1] else second,
        history={name: first.history[name] + second.history[name] for name in names},
        iterations=first.iterations + second.iterations,
        seconds={name: seconds + second.seconds[name] for name, seconds in first.seconds.items()},
        best=first.best + second.best,
    )


def _history(recorded: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """IPOPT's record, by common names."""
    return {_HISTORY.get(str(key), str(key)): list(map(float, values)) for key, values in recorded.items()}


def minimise(
    value: Evaluate,
    gradient: Evaluate,
    hessian: Evaluate | None,
    x0: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    *,
    done: Callable[[np.ndarray], bool],
    tolerance: float,
    iterations: int,
) -> None:
    """Descend from x0, shape (n,), by IPOPT until it is stopped; the caller records the iterates.

    Without constraints IPOPT is a Newton method: directions come from a sparse factorisation with a multiple of the
    identity added until the inertia is right, step lengths from a filter. Without a Hessian it uses a limited-memory
    quasi-Newton approximation. Nothing is scaled. Bounds, which may be infinite, hold exactly.

    `done` is called at every iterate; True ends the run. `tolerance` limits the largest entry of the gradient. Errors
    of the functions are raised again.
    """
    n, errors = x0.size, []
    monitor = _Stopper(n, done, errors)
    f, grad = _External("f", n, (1, 1), value, errors), _External("grad", n, (n, 1), gradient, errors)
    x, p, lam_f, lam_g = (ca.MX.sym(name, size) for name, size in (("x", n), ("p", 0), ("lam_f", 1), ("lam_g", 0)))
    options: dict[str, Any] = {
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "print_time": False,
        "show_eval_warnings": False,
        "iteration_callback": monitor,
        "grad_f": ca.Function("grad_f", [x, p], [f(x), grad(x)], ["x", "p"], ["f", "grad_f_x"]),
        "ipopt": _QUIET
        | {
            "nlp_scaling_method": "none",
            "bound_relax_factor": 0.0,
            "tol": tolerance,
            "max_iter": iterations,
        },
    }
    if hessian is None:
        options["ipopt"]["hessian_approximation"] = "limited-memory"
    else:
        curvature = _External("hessian", n, (n, n), hessian, errors)
        names = ["x", "p", "lam_f", "lam_g"]
        upper = ca.triu(lam_f * curvature(x))
        options["hess_lag"] = ca.Function("hess_lag", [x, p, lam_f, lam_g], [upper], names, ["triu_hess_gamma_x_x"])
    on_one_thread()
    solver = ca.nlpsol("ipopt", "ipopt", {"x": x, "f": f(x)}, options)
    with Interruptible(monitor):
        solver(x0=x0, lbx=bounds[0], ubx=bounds[1])
    if errors:
        raise errors[0]
    if monitor.stop:
        raise KeyboardInterrupt


class _External(ca.Callback):
    """A NumPy function in a CasADi graph. CasADi swallows exceptions: they are stored, and NaN is returned."""

    def __init__(self, name: str, n: int, shape: tuple[int, int], function: Evaluate, errors: list[BaseException]):
        ca.Callback.__init__(self)
        self._n, self._shape, self._function, self._errors = n, shape, function, errors
        self.construct(name, {})

    def get_n_in(self) -> int:
        return 1

    def get_n_out(self) -> int:
        return 1

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._n)

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(*self._shape)

    def eval(self, arg: Any) -> list[ca.DM]:
        if not self._errors:
            try:
                return [ca.DM(self._function(np.array(arg[0]).ravel()))]
            except BaseException as error:
                self._errors.append(error)
        return [ca.DM.nan(*self._shape)]


class _Stopper(IterationCallback):
    """Passes every iterate on, and ends the run on request."""

    def __init__(self, n: int, done: Callable[[np.ndarray], bool], errors: list[BaseException]):
        self._done, self._errors, self.stop = done, errors, False
        super().__init__(n)

    def eval(self, arg: Any) -> list[int]:
        x = np.array(arg[ca.nlpsol_out().index("x")]).ravel()
        try:
            done = self._done(x)
        except BaseException as error:
            done = True
            self._errors.append(error)
        return [int(done or self.stop or bool(self._errors))]
