"""Any solver that CasADi's `nlpsol` knows, built for one program and run from a start."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.solver.monitor import Interruptible, Monitor
from colloc.solver.progress import Tell
from colloc.solver.scaling import Hessian, ScaledNLP
from colloc.solver.solver import Outcome, Start, Status

_SETTINGS = {"calc_lam_p": False, "print_time": False, "show_eval_warnings": False}
_FUNCTIONS = {"nlp_grad": ("f", "g", "grad_gamma_x", "grad_gamma_p")}  # what any solver may ask for


class Nlpsol:
    """A solver of CasADi's for one scaled program.

    It gets the derivatives of the program's own blocks: CasADi would take longer for those that are not named below,
    and has none of compiled code. At every iteration it is asked to stop after Ctrl-C or when its seconds are over, and
    then ends with its best iterate.

    Parameters
    ----------
    plugin : str
        Its name in CasADi: "fatrop", say.
    scaled : ScaledNLP
    functions : mapping of str to sequence of str
        Name and outputs of the derivatives that this solver asks for, as in `ScaledNLP.function`: without them,
        ``nlpsol(...).get_function()`` lists the names, and each of these functions its outputs.
    options : mapping, optional
        As `nlpsol` takes them; those of the solver itself mostly stand below its name. RuntimeError where CasADi
        refuses them.
    hessian : Hessian
        EXACT or GAUSS_NEWTON.

    Attributes
    ----------
    stats : dict
        What CasADi has recorded of the last run.

    Examples
    --------
    >>> scaled = co.solver.ScaledNLP.at(solution.nlp, solution.x, solution.parameters)
    >>> functions = {"nlp_grad_f": ["f", "grad_f_x"], "nlp_jac_g": ["g", "jac_g_x"]}
    >>> quiet = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}
    >>> run = co.solver.Nlpsol("ipopt", scaled, functions, {"ipopt": quiet})
    >>> run(co.solver.Start(solution.x), solution.parameters).status
    <Status.SOLVED: 'solved'>
    """

    def __init__(
        self,
        plugin: str,
        scaled: ScaledNLP,
        functions: Mapping[str, Sequence[str]],
        options: Mapping[str, Any] | None = None,
        hessian: Hessian = Hessian.EXACT,
    ):
        begin = time.perf_counter()
        self._scaled, self._monitor = scaled, Monitor(scaled.nlp.n_x, scaled.nlp.n_g, scaled.nlp.f.size1_in(1))
        settings = {**_SETTINGS, "iteration_callback": self._monitor, **(options or {})}
        wanted = {**({} if settings.get("no_nlp_grad") else _FUNCTIONS), **functions}
        settings["cache"] = {name: scaled.function(name, outputs, hessian) for name, outputs in wanted.items()}
        self._solver = ca.nlpsol(plugin, plugin, scaled.problem(), settings)
        self._build = time.perf_counter() - begin
        self.stats: dict[str, Any] = {}

    def __call__(
        self,
        start: Start,
        parameters: np.ndarray,
        tell: Tell | None = None,
        *,
        statuses: Mapping[str, Status] | None = None,
        seconds: float = np.inf,
    ) -> Outcome:
        """The end of a run.

        Parameters
        ----------
        start : Start
        parameters : ndarray
        tell : callable, optional
            Called with an `Iterate` at every iteration.
        statuses : mapping of str to Status, optional
            By what the solver calls the end of a run; what is not among them is SOLVED or FAILED as CasADi says.
        seconds : float
            What the run may take.
        """
        scaled, monitor, begin = self._scaled, self._monitor, time.perf_counter()
        arguments = scaled.start(start, parameters)
        monitor.begin((arguments["lbg"], arguments["ubg"]), scaled.scale.cost, scaled.unscaled, tell, seconds)
        with Interruptible(monitor):
            result = self._solver(**arguments)
        monitor.end()
        self.stats = self._solver.stats()
        message = str(self.stats["return_status"])
        status = (statuses or {}).get(message, Status.SOLVED if self.stats["success"] else Status.FAILED)
        if monitor.late and status is not Status.SOLVED:
            status = Status.TIME_LIMIT
        # Ctrl-C may come when the solver no longer asks: the optimum is then the best iterate, and the interruption
        # counts.
        stopped = monitor.stop or status is Status.TIME_LIMIT
        best = monitor.best if stopped and status is not Status.SOLVED else None
        callbacks = sum(float(spent) for key, spent in self.stats.items() if key.startswith("t_wall_nlp_"))
        return Outcome(
            scaled.unscaled(np.array(result["x"]).ravel() if best is None else best),
            scaled.unscaled_multipliers(*(np.array(result[name]).ravel() for name in ("lam_g", "lam_x"))),
            Status.INTERRUPTED if monitor.stop else status,
            message,
            monitor.history | {"cost": scaled.unscaled_costs(monitor.history["cost"], parameters)},
            monitor.count - 1 if monitor.count else int(self.stats["iter_count"]),
            {"build": self._build, "solve": time.perf_counter() - begin, "callbacks": callbacks},
        )
