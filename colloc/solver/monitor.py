"""Monitoring of a CasADi solver: the best iterate so far, progress, Ctrl-C and the time limit."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import casadi as ca
import numpy as np

from colloc.solver.progress import Iterate, OnIteration
from colloc.support.interrupts import Handler, handler
from colloc.support.threads import stop_requested

_MET = 1e-6  # infeasibility of a feasible iterate


def merit(infeasibility: float, cost: float) -> tuple[float, float]:
    """Merit of an iterate, less is better: feasible ones are compared by cost, others by their infeasibility."""
    return (0.0, cost) if infeasibility < _MET else (infeasibility, 0.0)


class IterationCallback(ca.Callback):
    """Interface of a callback at every iteration, as CasADi requires it; derived classes evaluate it."""

    def __init__(self, n_x: int, n_g: int = 0, n_p: int = 0):
        ca.Callback.__init__(self)
        self._sizes = {"x": n_x, "f": 1, "g": n_g, "lam_x": n_x, "lam_g": n_g, "lam_p": n_p}
        self.construct("monitor", {})

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return ca.nlpsol_out(i)

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return ca.Sparsity.dense(self._sizes[ca.nlpsol_out(i)])


class Monitor(IterationCallback):
    """Keep the best iterate and a record, report every iteration, and stop the solver on request.

    Attributes
    ----------
    stop : bool
        Set from outside, or after an error of a user's function: the solver ends at its next iteration.
    out_of_time : bool
        Whether the solver was stopped by the time limit.
    best : ndarray or None
        The best iterate, in the solver's variables.
    count : int
        Number of iterates.
    history : dict of str to list of float
        The solver's cost, and the infeasibility, of every iterate.
    """

    def begin(
        self,
        bounds: tuple[np.ndarray, np.ndarray],
        cost: float,
        unscaled: Callable[[np.ndarray], np.ndarray],
        on_iteration: OnIteration | None = None,
        seconds: float = np.inf,
    ) -> None:
        """Prepare for a solve with bounds on g, the scale of the cost, and the function that unscales x."""
        self._bounds, self._cost, self._unscaled, self._on_iteration = bounds, cost, unscaled, on_iteration
        self._error: BaseException | None = None
        self._start, self._seconds, self.count = time.perf_counter(), seconds, 0
        self.stop, self.out_of_time, self.best, self._merit = False, False, None, (np.inf, np.inf)
        self.history: dict[str, list[float]] = {"cost": [], "infeasibility": []}

    def end(self) -> None:
        """Release the data of this run; raise the error of a user's function."""
        del self._unscaled, self._on_iteration, self._bounds
        error, self._error = self._error, None
        if error is not None:
            raise error

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Any, res: Any) -> int:
        # Buffers, since converting CasADi's matrices takes longer than the callbacks of a small problem.
        x, f, g = (np.frombuffer(arg[k]) for k in range(3))
        outside = np.maximum(self._bounds[0] - g, g - self._bounds[1])
        infeasibility, cost = max(0.0, float(outside.max(initial=0.0))), self._cost * float(f[0])
        if (now := merit(infeasibility, cost)) <= self._merit:
            self.best, self._merit = x.copy(), now
        seconds = time.perf_counter() - self._start
        self.history["cost"].append(float(f[0]))
        self.history["infeasibility"].append(infeasibility)
        if self._on_iteration is not None and self._error is None:
            try:
                self._on_iteration(Iterate(self.count, cost, infeasibility, seconds, self._unscaled(x)))
            except BaseException as error:  # CasADi would print it and continue
                self._error, self.stop = error, True
        self.count += 1
        self.out_of_time = seconds > self._seconds
        if stop_requested():  # not `stop = stop or stop_requested()`: Ctrl-C may set it meanwhile
            self.stop = True
        np.frombuffer(res[0])[0] = self.stop or self.out_of_time
        return 0


class Stoppable(Protocol):
    """A monitor that ends a run when `stop` is true."""

    stop: bool


class Interruptible:
    """While active, the first Ctrl-C asks the monitor to stop; a second one interrupts as usual."""

    def __init__(self, monitor: Stoppable):
        self._monitor = monitor
        self._previous: Handler | None = None

    def __enter__(self) -> None:
        self._previous = handler()
        if self._previous is not None:
            signal.signal(signal.SIGINT, self._ask)

    def __exit__(self, *exc: object) -> None:
        self._restore()

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._monitor.stop = True
        self._restore()

    def _restore(self) -> None:
        # Also if a context that was entered just before Ctrl-C has restored this handler.
        if self._previous is not None and signal.getsignal(signal.SIGINT) == self._ask:
            signal.signal(signal.SIGINT, self._previous)
