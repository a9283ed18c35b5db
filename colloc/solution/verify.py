"""Verification: does the motion follow from its torques, hold its constraints, and satisfy first-order optimality?"""

from __future__ import annotations

from dataclasses import dataclass, field

import casadi as ca
import numpy as np
from numpy.polynomial import chebyshev

from colloc.checks import InputError, finite_number
from colloc.display import Table, short
from colloc.dynamics import forward_dynamics
from colloc.model import check_forward
from colloc.model.gimbal import SingularPosture, singular_postures
from colloc.solution.solution import Solution
from colloc.solution.violations import Violation
from colloc.transcription import NLP

NEAR_LOCK = np.radians(5.0)  # angle between the outer axes of three that counts as near gimbal lock
_DEGREE = 9  # of the polynomial that hands an interval's torque to the integrator


@dataclass(frozen=True)
class KKT:
    """First-order optimality residuals, in the NLP's scaled variables and rows.

    Parameters
    ----------
    stationarity : float
        Largest entry of the gradient of the Lagrangian.
    feasibility : float
        Largest violation of a bound.
    complementarity : float
        Largest product of a multiplier with the distance to its bound.
    sign : float
        Largest multiplier that pushes away from its bound.
    """

    stationarity: float
    feasibility: float
    complementarity: float
    sign: float


@dataclass(frozen=True, repr=False)
class Verification:
    """What an independent look at a solution found.

    Parameters
    ----------
    forward_error : float [rad, m]
        Largest deviation of any joint when the torques are integrated forward from the initial state.
    terminal_miss : float [rad, m]
        The same at the end alone.
    joint_errors : ndarray, shape (n,) [rad, m]
        Largest deviation of every joint.
    violations : list of Violation
        Every constraint row on a fine grid, worst first.
    kkt : KKT
    singular : list of SingularPosture
        Sequences of three angles that come near gimbal lock, within 5 degrees.
    """

    forward_error: float
    terminal_miss: float
    joint_errors: np.ndarray
    violations: list[Violation]
    kkt: KKT
    singular: list[SingularPosture] = field(default_factory=list)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            (
                "forward simulation",
                f"largest joint deviation {self.forward_error:.2e}, at the end {self.terminal_miss:.2e}",
            ),
            ("KKT residuals", ", ".join(f"{name} {value:.1e}" for name, value in vars(self.kkt).items())),
        ]
        for names, t, angle in self.singular:
            near = f"{', '.join(names)}: {np.degrees(angle):.1f} degrees from gimbal lock at t = {short(t)} s"
            rows.append(("singular posture", near))
        worst = [v for v in self.violations if v.relative > 1e-6][:8]
        rows += [("violation", f"{v.row}: {v} at t = {short(v.t)} s") for v in worst]
        rows.append(("", f"{len(self.violations) - len(worst)} constraint rows {'more ' if worst else ''}hold to 1e-6"))
        return Table("Verification", ("", ""), rows)


def verify(solution: Solution, *, tolerance: float = 1e-10) -> Verification:
    """Check a solution by means it was not made with.

    The torques are integrated forward by CVODES (variable order and step), interval by interval, as Xiang et al.
    (2009) did with a commercial code. An unstable motion amplifies small errors: the deviation then says more about
    the motion than about the solution.

    Parameters
    ----------
    solution : Solution
    tolerance : float
        Relative and absolute tolerance of the integrator.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        For a mechanism with joints that carry no inertia, which cannot be simulated forward; names the joints.
    """
    if not isinstance(solution, Solution):
        raise InputError(f"verify needs a Solution (see co.solve), got {solution!r}")
    tolerance = finite_number("tolerance", tolerance, positive=True)
    deviation = _forward(solution, tolerance)
    joint_errors = deviation.max(axis=0)
    return Verification(
        float(joint_errors.max()),
        float(deviation[-1].max()),
        joint_errors,
        list(solution.violations),
        kkt(solution.nlp, solution.x, solution.parameters, solution.multipliers["g"], solution.multipliers["x"]),
        _singular(solution),
    )


def _singular(solution: Solution) -> list[SingularPosture]:
    """Where three angles come near gimbal lock, looked for between nodes as well."""
    edges = solution.nlp.grid.breakpoints * solution.duration
    t = np.unique(np.linspace(edges[:-1], edges[1:], 11))
    return singular_postures(solution.problem.model, t, solution.at(t).q, NEAR_LOCK)


def _forward(solution: Solution, tolerance: float) -> np.ndarray:
    """|simulated - predicted| joint positions at the ends of all intervals, shape (intervals + 1, n)."""
    n, T = solution.problem.model.n, solution.duration
    edges = solution.nlp.grid.breakpoints * T
    step = _integrator(solution, tolerance)
    # Torque on an interval: the polynomial through its values at Chebyshev points, all inside the interval, so that
    # a jump at an end is not seen.
    u = chebyshev.chebpts1(_DEGREE + 1)
    to_coefficients = np.linalg.inv(chebyshev.chebvander(u, _DEGREE))
    times = edges[:-1, None] + (u + 1) / 2 * np.diff(edges)[:, None]
    sample = solution.at(times.ravel())
    applied = np.column_stack([sample.tau, *sample.signals.values()]).reshape(len(edges) - 1, _DEGREE + 1, -1)
    start = solution.at(0.0)
    state = np.concatenate([start.q, start.qd])
    constants = np.concatenate([np.zeros(0), *solution.constants.values()])
    predicted = solution.at(edges).q
    deviation = np.zeros_like(predicted)
    for k in range(len(edges) - 1):
        coefficients = (to_coefficients @ applied[k]).ravel("F")
        p = np.concatenate([coefficients, constants, solution.parameters, [edges[k], edges[k + 1]]])
        state = np.array(step(x0=state, p=p)["xf"]).ravel()
        deviation[k + 1] = np.abs(state[:n] - predicted[k + 1])
    return deviation


def _integrator(solution: Solution, tolerance: float) -> ca.Function:
    """One interval of forward dynamics in the normalised time u of [0, 1]."""
    problem, n = solution.problem, solution.problem.model.n
    now, slots = problem.instant, problem.instant.slots
    check_forward(problem.wrenches, now.qdd)
    acceleration = forward_dynamics(problem.model, now.q, now.qd, now.tau, problem.wrenches)
    simulate = ca.Function("simulate", slots, [acceleration])
    q, qd, u = ca.MX.sym("q", n), ca.MX.sym("qd", n), ca.MX.sym("u")
    columns = n + slots.signals.shape[0]
    coefficients = ca.MX.sym("c", _DEGREE + 1, columns)
    sizes = (("k", slots.constants.shape[0]), ("p", slots.parameters.shape[0]), ("t", 2))
    c, p, ends = (ca.MX.sym(name, size) for name, size in sizes)
    applied = coefficients.T @ _chebyshev_basis(2 * u - 1)
    t = ends[0] + u * (ends[1] - ends[0])
    qdd = simulate(t, solution.duration, q, qd, ca.MX.nan(n, 1), applied[:n], applied[n:], c, p)
    rate = (ends[1] - ends[0]) * ca.vertcat(qd, qdd)
    ode = {"x": ca.vertcat(q, qd), "t": u, "p": ca.vertcat(ca.vec(coefficients), c, p, ends), "ode": rate}
    options = {"abstol": tolerance, "reltol": tolerance, "max_num_steps": 100_000}
    return ca.integrator("forward", "cvodes", ode, 0.0, 1.0, options)


def _chebyshev_basis(v: ca.MX) -> ca.MX:
    """Chebyshev polynomials T_0 .. T_degree at v."""
    values = [ca.MX(1), v]
    for _ in range(_DEGREE - 1):
        values.append(2 * v * values[-1] - values[-2])
    return ca.vertcat(*values)


def kkt(nlp: NLP, x: np.ndarray, p: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray) -> KKT:
    """Optimality residuals of a point of an NLP with multipliers (positive at an upper bound)."""
    gradient = np.array(nlp.grad_f(x, p)[1] + nlp.jac_g(x, p)[1].T @ lam_g).ravel() + lam_x
    values = np.concatenate([x / nlp.scale_x, np.array(nlp.g(x, p)).ravel() / nlp.scale_g])
    low_g, high_g = nlp.bounds_g
    lower = np.concatenate([nlp.lower / nlp.scale_x, low_g / nlp.scale_g])
    upper = np.concatenate([nlp.upper / nlp.scale_x, high_g / nlp.scale_g])
    multipliers = np.concatenate([lam_x * nlp.scale_x, lam_g * nlp.scale_g])
    free = lower < upper  # the multiplier of an equality may have either sign and any gap
    above, below = np.maximum(multipliers, 0)[free], np.maximum(-multipliers, 0)[free]
    gap_above, gap_below = (upper - values)[free], (values - lower)[free]
    # A multiplier at a bound that does not exist has the wrong sign.
    wrong = np.concatenate([above[np.isinf(gap_above)], below[np.isinf(gap_below)]])
    products = [
        pull[np.isfinite(gap)] * gap[np.isfinite(gap)] for pull, gap in ((above, gap_above), (below, gap_below))
    ]
    return KKT(
        float(np.abs(gradient * nlp.scale_x)[nlp.free].max(initial=0.0)),
        float(np.maximum(lower - values, values - upper).max(initial=0.0).clip(min=0.0)),
        float(np.abs(np.concatenate(products)).max(initial=0.0)),
        float(wrong.max(initial=0.0)),
    )
