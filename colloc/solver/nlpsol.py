"""Any solver of CasADi's `nlpsol`, prepared for one program and run from several starts."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.progress import OnIteration
from colloc.solver.scaling import Hessian, ScaledNLP, run_scale, unscaled_costs
from colloc.solver.solver import Outcome, Start, Status
from colloc.support.checks import InputError
from colloc.support.stopwatch import note_within, part
from colloc.transcription import BaseNLP

_SETTINGS = {"calc_lam_p": False, "print_time": False, "show_eval_warnings": False}
_FUNCTIONS = {"nlp_grad": ("f", "g", "grad_gamma_x", "grad_gamma_p")}  # derivatives that any solver may require
# CasADi objects that a program keeps, with factors of its matrices: 8 kB per variable or row. Making a new one takes
# 1 % of a solve with thousands of variables.
_IDLE, _LARGE = 4, 2000
_lock = threading.Lock()


class RefusedOptions(RuntimeError):
    """Raised when CasADi or the solver rejects options."""


class _Instance(NamedTuple):
    """A CasADi object, which only one thread at a time may run, and its description."""

    made_from: tuple[Any, ...]
    solver: ca.Function
    monitor: Monitor


class Nlpsol:
    """A CasADi solver, prepared for one program.

    It uses the derivatives of the program's blocks, as CasADi would take longer and cannot differentiate compiled code.
    The program is scaled, with scales as parameters that are computed at every start unless the start has a scale.
    After Ctrl-C or at the time limit the solver stops at the next iteration, with its best iterate.

    Objects made at the first run are kept with the program, for all solvers with the same plugin and options.
    Simultaneous runs, in several threads or nested, each have their own CasADi object.

    Parameters
    ----------
    plugin : str
        Name of the solver in CasADi, such as "fatrop".
    nlp : NLP or PhasesNLP
    functions : mapping of str to sequence of str
        Names and outputs of the derivatives that this solver requires, of f, g, grad_f_x, jac_g_x, grad_gamma_x,
        hess_gamma_x_x and triu_hess_gamma_x_x (upper half), where gamma = lam_f f + lam_g' g. For a solver made without
        them, ``nlpsol(...).get_function()`` lists the names, and each of these functions its outputs.
    options : mapping, optional
        Options of `nlpsol`; those of the solver itself are usually nested under its name. If CasADi rejects them, the
        first run raises RuntimeError.
    hessian : Hessian
        EXACT or GAUSS_NEWTON.
    statuses : mapping of str to Status, optional
        Status by the solver's name of the end of a run; other names are SOLVED or FAILED according to CasADi.

    Examples
    --------
    >>> functions = {"nlp_grad_f": ["f", "grad_f_x"], "nlp_jac_g": ["g", "jac_g_x"]}
    >>> quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}
    >>> prepared = co.solver.Nlpsol("ipopt", solution.nlp, functions, {"ipopt": quiet})
    >>> prepared(co.solver.Start(solution.x), solution.parameters).status
    <Status.SOLVED: 'solved'>
    """

    def __init__(
        self,
        plugin: str,
        nlp: BaseNLP,
        functions: Mapping[str, Sequence[str]],
        options: Mapping[str, Any] | None = None,
        hessian: Hessian = Hessian.EXACT,
        statuses: Mapping[str, Status] | None = None,
    ):
        self._plugin, self._nlp, self._hessian, self._statuses = plugin, nlp, hessian, statuses or {}
        self._options = dict(options or {})
        defaults = {} if self._options.get("no_nlp_grad") else _FUNCTIONS
        self._functions = {name: tuple(outputs) for name, outputs in (defaults | dict(functions)).items()}

    def __call__(
        self,
        start: Start,
        parameters: np.ndarray,
        on_iteration: OnIteration | None = None,
        /,
        *,
        seconds: float = np.inf,
    ) -> Outcome:
        """See `PreparedSolver`."""
        return self.run(start, parameters, on_iteration, seconds=seconds)[0]

    def run(
        self,
        start: Start,
        parameters: np.ndarray,
        on_iteration: OnIteration | None = None,
        *,
        seconds: float = np.inf,
    ) -> tuple[Outcome, dict[str, Any]]:
        """The outcome of a run, and CasADi's record of it."""
        begin = time.perf_counter()
        with part("build"):
            scale = run_scale(self._nlp, start.x, parameters) if start.scale is None else start.scale
            if scale.rows.shape != (self._nlp.n_g,):
                raise InputError(f"scale.rows must have {self._nlp.n_g} entries, got shape {scale.rows.shape}")
            scaled = ScaledNLP(self._nlp, scale.anchor is not None)
            instance = self._idle(scaled) or self._new(scaled)
        arguments, monitor, built = scaled.arguments(start, parameters, scale), instance.monitor, time.perf_counter()
        monitor.begin((arguments["lbg"], arguments["ubg"]), scale.cost, scaled.unscaled, on_iteration, seconds)
        with part("solve"), Interruptible(monitor):
            result = instance.solver(**arguments)
        monitor.end()
        stats = instance.solver.stats()
        message = str(stats["return_status"])
        status = self._statuses.get(message, Status.SOLVED if stats["success"] else Status.FAILED)
        if monitor.out_of_time and status is not Status.SOLVED:
            status = Status.TIME_LIMIT
        # Ctrl-C may come after the solver's last check: the optimum is then the best iterate, with the status of
        # an interruption.
        stopped, limited = monitor.stop or status is Status.TIME_LIMIT, status is Status.ITERATION_LIMIT
        best = monitor.best if stopped and status is not Status.SOLVED else None
        callbacks = sum(float(spent) for key, spent in stats.items() if key.startswith("t_wall_nlp_"))
        note_within("callbacks", callbacks)
        outcome = Outcome(
            scaled.unscaled(np.array(result["x"]).ravel() if best is None else best),
            scaled.unscaled_multipliers(np.array(result["lam_g"]).ravel(), np.array(result["lam_x"]).ravel(), scale),
            Status.INTERRUPTED if monitor.stop else status,
            message,
            monitor.history | {"cost": unscaled_costs(self._nlp, monitor.history["cost"], parameters, scale)},
            monitor.count - 1 if monitor.count else int(stats["iter_count"]),
            {"build": built - begin, "solve": time.perf_counter() - built, "callbacks": callbacks},
            scale=scale,
            best=(scaled.unscaled(monitor.best),) if limited and monitor.best is not None else (),
        )
        # Files of a solver are complete when it is deleted.
        writes = "output_file" in self._options.get(self._plugin, {})
        if self._nlp.n_x + self._nlp.n_g < _LARGE and not writes:
            with _lock:
                idle = self._nlp.cache.setdefault("idle", [])
                idle.append(instance)
                del idle[:-_IDLE]
        return outcome, stats

    def _made_from(self, scaled: ScaledNLP) -> tuple[Any, ...]:
        return self._plugin, self._functions, self._options, self._hessian, scaled.anchored

    def _idle(self, scaled: ScaledNLP) -> _Instance | None:
        """An idle object of an earlier run, reserved for the caller."""
        with _lock:
            idle = self._nlp.cache.get("idle", [])
            for k, instance in enumerate(idle):
                if _equal(instance.made_from, self._made_from(scaled)):
                    return idle.pop(k)
        return None

    def _new(self, scaled: ScaledNLP) -> _Instance:
        problem = scaled.problem()
        monitor = Monitor(self._nlp.n_x, self._nlp.n_g, problem["p"].numel())
        settings = {**_SETTINGS, "iteration_callback": monitor, **self._options}
        settings["cache"] = {
            name: scaled.function(name, outputs, self._hessian) for name, outputs in self._functions.items()
        }
        try:
            return _Instance(self._made_from(scaled), ca.nlpsol(self._plugin, self._plugin, problem, settings), monitor)
        except RuntimeError as error:
            raise RefusedOptions(*error.args) from error


def _equal(one: object, other: object) -> bool:
    """Whether two descriptions are equal; False if they cannot be compared, such as those with arrays."""
    try:
        return bool(one == other)
    except (ValueError, RuntimeError, NotImplementedError):
        return False
