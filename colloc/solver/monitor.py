"""Watching IPOPT from inside: the best iterate so far, a progress line, Ctrl-C."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Protocol

import casadi as ca
import numpy as np

from colloc.solver.progress import Asked, Step, shown
from colloc.support.interrupts import Handler, handler
from colloc.support.threads import stop_requested


class IterationCallback(ca.Callback):
    """What CasADi must know of a callback at every iteration; derived classes evaluate it.

    Parameters
    ----------
    n_x, n_g, n_p : int
        Sizes of the NLP.
    """

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
    """Keeps the best iterate, shows progress, and stops when asked to."""

    def begin(
        self,
        lower: np.ndarray,
        upper: np.ndarray,
        cost: float,
        own: Callable[[np.ndarray], np.ndarray],
        progress: Asked,
        round: int = 1,
    ) -> None:
        """Prepare for a solve with these bounds on g, this size of the cost and `own` units of the variables."""
        self._lower, self._upper, self._cost, self._own = lower, upper, cost, own
        self._shown, self._error = shown(progress, round), None
        self._start, self.count = time.perf_counter(), 0
        self.stop, self.best, self._merit = False, None, (np.inf, np.inf)

    def end(self) -> None:
        """Finish the progress line; raise what a user's function has raised."""
        if self._shown is not None:
            self._shown.close()
        if self._error is not None:
            raise self._error

    def has_eval_buffer(self) -> bool:
        return True

    def eval_buffer(self, arg: Any, res: Any) -> int:
        # Buffers, since converting CasADi's matrices takes longer than the callbacks of a small problem.
        x, f, g = (np.frombuffer(arg[k]) for k in range(3))
        outside = np.maximum(self._lower - g, g - self._upper)
        infeasibility = max(0.0, float(outside.max(initial=0.0)))
        # Feasible iterates are compared by cost, others by their infeasibility.
        merit = (0.0, float(f[0])) if infeasibility < 1e-6 else (infeasibility, 0.0)
        if merit <= self._merit:
            self.best, self._merit = x.copy(), merit
        if self._shown is not None and self._error is None:
            seconds = time.perf_counter() - self._start
            step = Step(self.count, self._cost * float(f[0]), infeasibility, seconds, self._own(x))
            try:
                self._shown.tell(step)
            except BaseException as error:  # CasADi would print it and go on
                self._error, self.stop = error, True
        self.count += 1
        if stop_requested():  # not `stop = stop or stop_requested()`: Ctrl-C may set it meanwhile
            self.stop = True
        np.frombuffer(res[0])[0] = self.stop
        return 0


class Stoppable(Protocol):
    """What ends a run when `stop` is true."""

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
        # Also where a context that was entered just before Ctrl-C has put this handler back.
        if self._previous is not None and signal.getsignal(signal.SIGINT) == self._ask:
            signal.signal(signal.SIGINT, self._previous)
