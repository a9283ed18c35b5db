"""IPOPT on a smooth function of NumPy arrays, without constraints beside bounds on its variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from colloc.solver.linear_algebra import on_one_thread
from colloc.solver.monitor import Interruptible, IterationCallback

Evaluate = Callable[[np.ndarray], Any]


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
    """Descend from x0 until told to stop; the caller keeps what it sees.

    Without constraints IPOPT is a Newton method: its directions come from a sparse factorisation with a multiple of the
    identity added until the inertia is right, its steps from a filter. Without a Hessian it uses a limited-memory
    quasi-Newton approximation. Nothing is scaled. Bounds are kept to the digit.

    Parameters
    ----------
    value, gradient, hessian : callables
        ndarray, shape (n,) -> float; shape (n,); shape (n, n). What they raise is raised again.
    x0 : ndarray, shape (n,)
    bounds : (lower, upper), each shape (n,)
        Infinite where there is none.
    done : callable
        Called at every iterate; True ends the run.
    tolerance : float
        Of the largest entry of the gradient.
    iterations : int
        Limit.
    """
    n, errors = x0.size, []
    monitor = _Monitor(n, done, errors)
    f, grad = _External("f", n, (1, 1), value, errors), _External("grad", n, (n, 1), gradient, errors)
    x, p, lam_f, lam_g = (ca.MX.sym(name, size) for name, size in (("x", n), ("p", 0), ("lam_f", 1), ("lam_g", 0)))
    options: dict[str, Any] = {
        "no_nlp_grad": True,
        "calc_lam_p": False,
        "print_time": False,
        "show_eval_warnings": False,
        "iteration_callback": monitor,
        "grad_f": ca.Function("grad_f", [x, p], [f(x), grad(x)], ["x", "p"], ["f", "grad_f_x"]),
        "ipopt": {
            "print_level": 0,
            "sb": "yes",
            "option_file_name": "",
            "linear_solver": "mumps",
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
    """A NumPy function in a CasADi graph, which would swallow exceptions: they are kept, NaN is returned."""

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


class _Monitor(IterationCallback):
    """Hands every iterate over, and ends the run when told to."""

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
