"""IPOPT on the same objectives, to compare with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from colloc.descent.line_search import Point
from colloc.descent.objective import Descent, DescentStatus, Objective, Stop
from colloc.descent.record import Record
from colloc.solver.monitor import IterationCallback


def ipopt(objective: Objective, x0: np.ndarray, stop: Stop | None = None) -> Descent:
    """Let IPOPT descend, under the same stopping rule.

    Without constraints IPOPT is a Newton method, too: its directions come from a sparse factorisation with a multiple
    of the identity added until the inertia is right, its steps from a filter. Without a Hessian it uses a
    limited-memory quasi-Newton approximation. The gradient norm is that of the objective as it is: nothing is scaled.

    Parameters, returned values and errors as of `steepest_descent`.
    """
    rule = stop or Stop()
    record = Record("IPOPT", objective, x0, rule)
    if (status := record.status) is not None:
        return record.result(status)
    n = record.start.x.size
    monitor = _Monitor(record, n)
    latest = monitor.latest
    value = _External("f", n, (1, 1), lambda x: latest(x).value, monitor.errors)
    gradient = _External("grad", n, (n, 1), lambda x: latest(x).gradient, monitor.errors)
    x, p, lam_f, lam_g = (ca.MX.sym(name, size) for name, size in (("x", n), ("p", 0), ("lam_f", 1), ("lam_g", 0)))
    options: dict[str, Any] = {
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "print_time": False,
        "show_eval_warnings": False,
        "iteration_callback": monitor,
        "grad_f": ca.Function("grad_f", [x, p], [value(x), gradient(x)], ["x", "p"], ["f", "grad_f_x"]),
        "ipopt": {
            "print_level": 0,
            "sb": "yes",
            "linear_solver": "mumps",
            "nlp_scaling_method": "none",
            # IPOPT's own rule, in the largest entry, must not be met before ours, in the Euclidean norm.
            "tol": 0.1 * rule.gradient / np.sqrt(n),
            "max_iter": rule.iterations,
        },
    }
    if (curvature := objective.hessian) is None:
        options["ipopt"]["hessian_approximation"] = "limited-memory"
    else:
        hessian = _External("hessian", n, (n, n), curvature, monitor.errors)
        names = ["x", "p", "lam_f", "lam_g"]
        upper = ca.triu(lam_f * hessian(x))
        options["hess_lag"] = ca.Function("hess_lag", [x, p, lam_f, lam_g], [upper], names, ["triu_hess_gamma_x_x"])
    ca.nlpsol("ipopt", "ipopt", {"x": x, "f": value(x)}, options)(x0=record.start.x)
    if monitor.errors:
        raise monitor.errors[0]
    return record.result(record.status or DescentStatus.NO_STEP)


class _External(ca.Callback):
    """A NumPy function in a CasADi graph, which would swallow exceptions: they are kept, NaN is returned."""

    def __init__(
        self,
        name: str,
        n: int,
        shape: tuple[int, int],
        function: Callable[[np.ndarray], Any],
        errors: list[BaseException],
    ):
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


class _Monitor(IterationCallback):
    """Keeps the iterates, and ends the run when the record says so."""

    def __init__(self, record: Record, n: int):
        self._record, self._point = record, record.start
        self.errors: list[BaseException] = []
        super().__init__(n)

    def latest(self, x: np.ndarray) -> Point:
        """The objective at x, computed once for value, gradient and the record."""
        if not np.array_equal(x, self._point.x):
            self._point = self._record.evaluate(x)
        return self._point

    def eval(self, arg: Any) -> list[int]:
        x = np.array(arg[ca.nlpsol_out().index("x")]).ravel()
        if not np.array_equal(x, self._record.now.x):
            self._record.append(self.latest(x))
        return [int(bool(self.errors) or self._record.status is not None)]
