"""C code for controllers: torques, accelerations, and feedback around a motion."""

from __future__ import annotations

import os

import casadi as ca
import numpy as np

from colloc.control.tracking import Tracking
from colloc.dynamics import forward_dynamics, inverse_dynamics, newton_euler
from colloc.model import Model
from colloc.support.checks import InputError, instance, spelt
from colloc.support.files import check_writable, write_atomically

UNUSED = '#pragma GCC diagnostic ignored "-Wunused-parameter"\n'  # CasADi's functions take work spaces without need
_EARLY = 1e-9  # of a step: a time that is this much before its beginning belongs to it


@spelt
def to_c(model: Model, path: str | os.PathLike[str], feedback: Tracking | None = None) -> None:
    """Write the dynamics of a model, and a controller, as functions in C without dependencies.

    The file has ``torque(q, qd, qdd)``, the torques of a motion with those of passive joints and without loads,
    ``torque_derivatives(q, qd, qdd)``, their dense Jacobians by q, qd and qdd, column after column, and
    ``acceleration(q, qd, tau)``, the inverse of ``torque``. With a controller it has ``feedback(t, x)`` as well, the
    torques u[k] + gains[k] (x - x[k]) of the step k of time t, from the state x = (q, qd). Their signature is
    CasADi's: ``int torque(const double** arg, double** res, long long int* iw, double* w, int mem)``, with the sizes
    of the workspaces iw and w from ``torque_work``.

    Parameters
    ----------
    model : Model
        Without symbols.
    path : str or PathLike
        Ends in .c.
    feedback : Tracking, optional
        From `time_varying_lqr`, for a model without quaternions.

    Raises
    ------
    InputError
        For symbols in the model, a joint without inertia, a controller of another size or of a model with quaternions,
        and a path that cannot be written.

    See Also
    --------
    time_varying_lqr, colloc.storage.to_joint_trajectory

    Examples
    --------
    >>> plan = co.control.time_varying_lqr(solution, steps=100)
    >>> co.control.to_c(solution.problem.model, "arm.c", plan)
    >>> with open("arm.c") as file:
    ...     print("feedback(const casadi_real** arg" in file.read())
    True
    """
    target = check_writable(path, (".c",))
    if instance("model", model, Model).symbols:
        raise InputError(f"C code needs a model of numbers, got one with {', '.join(map(str, model.symbols))}")
    q, qd, last = ca.SX.sym("q", model.n_q), ca.SX.sym("qd", model.n), ca.SX.sym("last", model.n)
    torque = inverse_dynamics(newton_euler, model, q, qd, last)
    slopes = [ca.densify(ca.cse(ca.jacobian(torque, by))) for by in (q, qd, last)]
    names = ["tau_q", "tau_qd", "tau_qdd"]
    functions = [
        ca.Function("torque", [q, qd, last], [ca.densify(torque)], ["q", "qd", "qdd"], ["tau"]),
        ca.Function("torque_derivatives", [q, qd, last], slopes, ["q", "qd", "qdd"], names),
        ca.Function(
            "acceleration",
            [q, qd, last],
            [ca.densify(forward_dynamics(model, q, qd, last))],
            ["q", "qd", "tau"],
            ["qdd"],
        ),
    ]
    if feedback is not None:
        functions.append(_feedback(model, instance("feedback", feedback, Tracking)))
    code = ca.CodeGenerator("colloc")
    for function in functions:
        code.add(function)
    write_atomically(target, (UNUSED + code.dump()).encode())


def _feedback(model: Model, plan: Tracking) -> ca.Function:
    """The torques of a controller, u(t, x), from tables of its steps."""
    if not model.has_plain_velocities:
        raise InputError(
            f"feedback in C is for joints of one coordinate, and {', '.join(map(repr, model.balls))} is not: make ball "
            "joints of three angles, as in sequence='zyx'"
        )
    steps, (n_u, n_x) = len(plan.u), plan.gains.shape[1:]
    if (n_u, n_x) != (model.n, 2 * model.n):
        raise InputError(f"feedback must be of a model with {model.n} joints, got one with {n_u}")
    table = np.concatenate([plan.u, plan.x[:-1], plan.gains.reshape(steps, -1)], axis=1)
    t, x = ca.MX.sym("t"), ca.MX.sym("x", n_x)
    k = ca.fmin(ca.fmax(ca.floor(t / plan.dt + _EARLY), 0), steps - 1)
    row = ca.MX(ca.DM(table.T))[:, k]
    u, expected, gains = row[:n_u], row[n_u : n_u + n_x], row[n_u + n_x :]
    return ca.Function("feedback", [t, x], [u + ca.reshape(gains, n_x, n_u).T @ (x - expected)], ["t", "x"], ["u"])
