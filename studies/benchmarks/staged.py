"""How does the factorisation below IPOPT compare with Fatrop, which is made for problems in stages?

The same programs in the one form that Fatrop takes: two links and a Panda from rest to rest in a second, least squared
torques within bounds, on explicit steps of equal length, x[k + 1] = F(x[k], u[k]), with CasADi's derivatives for all.
The comparison is of the remaining processor seconds of an iteration without them: linear algebra, line search and the
solver's own work.

A staged form has no free duration, no parameters that all stages share, and no smooth curve through several intervals.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.dynamics import forward_dynamics
from colloc.models.panda import panda
from colloc.models.two_link import two_link
from colloc.solver.linear_solvers import OURS, in_terms_of_ipopt
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

SOLVERS = ("fatrop", "mumps", OURS)
TOL = 1e-8


class Arm(NamedTuple):
    """Arm, start and end [rad], and largest torques [N m]."""

    model: co.Model
    start: Sequence[float]
    end: Sequence[float]
    torques: np.ndarray


class Staged(NamedTuple):
    """A program whose variables and rows stand in the order of its stages, and how it is called."""

    nlp: dict[str, ca.SX]
    call: dict[str, Any]


class Run(NamedTuple):
    """Result: everything except derivatives took `rest` seconds per iteration."""

    cost: float
    iterations: int
    rest: float


ARMS = {
    "two links": Arm(two_link(), (0.0, -2.0), (1.0, -1.0), np.full(2, 10.0)),
    "Panda": Arm(
        panda(), (0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7), (1.0, 0.3, -0.5, -1.2, 0.6, 2.0, -0.3),
        np.array([87.0, 87.0, 87.0, 87.0, 12.0, 12.0, 12.0]),
    ),
}  # fmt: skip


def staged(arm: Arm, steps: int) -> Staged:
    """A motion of one second in so many steps: velocities by the accelerations before, positions by the new ones."""
    n, h = arm.model.n, 1.0 / steps
    q, qd, tau = (ca.SX.sym(name, n) for name in ("q", "qd", "tau"))
    later = qd + h * forward_dynamics(arm.model, q, qd, tau)
    step = ca.Function("step", [ca.vertcat(q, qd), tau], [ca.vertcat(q + h * later, later)])
    ends = [np.concatenate([q, np.zeros(n)]) for q in (arm.start, arm.end)]
    states = [ca.SX.sym(f"x{k}", 2 * n) for k in range(steps + 1)]
    controls = [ca.SX.sym(f"u{k}", n) for k in range(steps)]
    variables, rows, start, bound = [], [], [], []
    for k, x in enumerate(states):
        variables.append(x)
        start.append(ends[0] + (ends[1] - ends[0]) * k / steps)
        bound.append(np.full(2 * n, np.inf))
        if k < steps:
            variables.append(controls[k])
            start.append(np.zeros(n))
            bound.append(arm.torques)
            rows.append(states[k + 1] - step(x, controls[k]))
        if k in (0, steps):
            rows.append(x - ends[k > 0])
    cost = h * sum(ca.sumsqr(u / arm.torques) for u in controls)
    upper = np.concatenate(bound)
    nlp = {"x": ca.vertcat(*variables), "f": ca.SX(cost), "g": ca.vertcat(*rows)}
    return Staged(nlp, {"x0": np.concatenate(start), "lbx": -upper, "ubx": upper, "lbg": 0.0, "ubg": 0.0})


def solver_of(program: Staged, name: str) -> ca.Function:
    """Fatrop, or IPOPT with a linear solver."""
    if name == "fatrop":
        structure = {"structure_detection": "auto", "equality": [True] * program.nlp["g"].numel()}
        options = {**structure, "fatrop": {"print_level": 0, "tol": TOL}}
        return ca.nlpsol("fatrop", "fatrop", program.nlp, {"print_time": False, **options})
    options = in_terms_of_ipopt({"linear_solver": name, "print_level": 0, "sb": "yes", "tol": TOL})
    return ca.nlpsol("ipopt", "ipopt", program.nlp, {"print_time": False, "ipopt": options})


def solved(program: Staged, solver: ca.Function) -> Run:
    """A program's optimum."""
    begin = time.process_time()
    cost = float(solver(**program.call)["f"])
    seconds, stats = time.process_time() - begin, solver.stats()
    if not stats["success"]:
        return Run(np.nan, stats["iter_count"], np.nan)
    derivatives = sum(value for key, value in stats.items() if key.startswith("t_proc_nlp_"))
    return Run(cost, stats["iter_count"], (seconds - derivatives) / stats["iter_count"])


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.staged", __doc__, argv, quick="few steps, once", figure=False)
    steps = {"two links": (50,), "Panda": ()} if args.quick else {"two links": (50, 500, 2000), "Panda": (20, 50)}
    rounds = 1 if args.quick else 5
    numbers: dict[str, float] = {}
    rows = []
    for name, arm in ARMS.items():
        for count in steps[name]:
            program = staged(arm, count)
            solvers = {name: solver_of(program, name) for name in SOLVERS}
            turns = [{name: solved(program, solver) for name, solver in solvers.items()} for _ in range(rounds)]
            rest = {solver: float(np.median([turn[solver].rest for turn in turns])) for solver in SOLVERS}
            key = f"{name.replace(' ', '_')}.{count}"
            for solver, run in turns[0].items():
                numbers[f"{key}.{solver}.ms"] = 1e3 * rest[solver]
                numbers[f"{key}.{solver}.cost"] = run.cost
                numbers[f"{key}.{solver}.iterations"] = run.iterations
            for solver in ("fatrop", "mumps"):
                numbers[f"{key}.{solver}_over_ours"] = rest[solver] / rest[OURS]
            cells = (f"{1e3 * rest[solver]:.2f} ({turns[0][solver].iterations})" for solver in SOLVERS)
            rows.append((f"{name}, {count} steps", str(program.nlp["x"].numel()), *cells))
    header = ("", "variables", "Fatrop", "IPOPT, MUMPS", "IPOPT, ours")
    print(Table("Milliseconds an iteration without derivatives (iterations)", header, rows).text())
    return finish(args, numbers)
