"""Verification of dynamics, constraints and first-order optimality by independent means."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from colloc.errors.violations import Violation
from colloc.model.gimbal import SingularPosture, angle_sequences, singular_postures
from colloc.solution.phases import PhasesSolution
from colloc.solution.simulation import growth, simulate
from colloc.solution.solution import Solution
from colloc.solution.solution_query import solution_query
from colloc.support.checks import finite_number
from colloc.support.display import Table, short
from colloc.transcription import BaseNLP

NEAR_LOCK = np.radians(5.0)  # angle between the outer of three axes below which gimbal lock is near
_NOTICEABLE = 1e-6  # smallest deviation of a joint that the table comments on [rad, m]
_UNSTABLE = 100.0  # growth factor from which the deviation of the whole motion says little about the solution


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
        Largest multiplier with the wrong sign.
    """

    stationarity: float
    feasibility: float
    complementarity: float
    sign: float


@dataclass(frozen=True, repr=False)
class Verification:
    """Result of an independent check of a solution.

    Parameters
    ----------
    forward_error : float [rad, m]
        Largest deviation of any joint when the torques are integrated forward from the initial state, or of a `State`
        under its equation, relative to its natural size and largest value.
    terminal_miss : float [rad, m]
        Largest deviation at the end.
    joint_errors : ndarray, shape (n + m,) [rad, m]
        Largest deviation of every joint, then of every state.
    local_errors : ndarray, shape (intervals, n + m) [rad, m]
        Deviation of every joint and state at the end of every interval, each simulated from the solution's state at its
        start: the error of the solution without its growth along an unstable motion.
    growth : float
        Factor by which a deviation can grow under unchanged torques; see `colloc.solution.simulation.growth`.
    violations : list of Violation
        Every constraint row on a fine grid, worst first.
    kkt : KKT
    singular : list of SingularPosture
        Sequences of three angles within 5 degrees of gimbal lock.

    Examples
    --------
    >>> bool(co.verify(solution).forward_error < 1e-9)
    True
    """

    forward_error: float
    terminal_miss: float
    joint_errors: np.ndarray
    local_errors: np.ndarray
    growth: float
    violations: list[Violation]
    kkt: KKT
    singular: list[SingularPosture] = field(default_factory=list)

    @property
    def local_error(self) -> float:
        """Largest deviation of any joint over one interval [rad, m]."""
        return float(self.local_errors.max(initial=0.0))

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        rows = [
            (
                "forward simulation",
                f"largest deviation {self.forward_error:.2e}, at the end {self.terminal_miss:.2e}",
            ),
            ("interval by interval", f"largest deviation {self.local_error:.2e}{self._where()}"),
            ("stability", f"errors grow up to {self.growth:.2g}-fold along this motion{self._advice()}"),
            ("KKT residuals", ", ".join(f"{name} {value:.1e}" for name, value in vars(self.kkt).items())),
        ]
        for names, t, angle, _ in self.singular:
            near = f"{', '.join(names)}: {np.degrees(angle):.1f} degrees from gimbal lock at t = {short(t)} s"
            rows.append(("singular posture", near))
        worst = [v for v in self.violations if v.relative > 1e-6][:8]
        rows += [("violation", f"{v.row}: {v} at t = {short(v.t)} s") for v in worst]
        rows.append(("", f"{len(self.violations) - len(worst)} constraint rows {'more ' if worst else ''}hold to 1e-6"))
        return Table("Verification", ("", ""), rows)

    def _where(self) -> str:
        worst, intervals = int(self.local_errors.max(axis=1).argmax()), len(self.local_errors)
        return f", in interval {worst + 1} of {intervals}" if self.local_error > _NOTICEABLE and intervals > 1 else ""

    def _advice(self) -> str:
        return ": judge by the intervals" if self.growth > _UNSTABLE and self.forward_error > _NOTICEABLE else ""


@solution_query()
def verify(solution: Solution | PhasesSolution, *, tolerance: float = 1e-12) -> Verification:
    """Check a solution by methods independent of the solve.

    The torques are integrated forward by CVODES (variable order and step), as Xiang et al. (2009) did with a commercial
    code: from the initial state, and on every interval from the solution's state at its start (Haman and Rao 2024). A
    torque that follows from the state by an equation, such as a muscle torque, is evaluated at the simulated state. An
    unstable motion amplifies errors by a factor that is computed as well. If that factor is large, judge the solution
    by the deviations of the intervals, not by that of the whole motion.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        In a motion with phases, every phase is integrated from its own initial state. Links and impacts between phases
        are checked in `violations`.
    tolerance : float
        Relative and absolute tolerance of the integrator.

    Returns
    -------
    Verification

    Raises
    ------
    InputError
        If joints carry no inertia, so that the mechanism cannot be simulated forward; names the joints.

    See Also
    --------
    refine : Finer grids, for a solution that fails the check.
    Solution : Error estimates made by the solve itself.

    Examples
    --------
    >>> check = co.verify(solution)
    >>> bool(check.forward_error < 1e-9), bool(check.kkt.feasibility < 1e-6)
    (True, True)
    """
    tolerance = finite_number("tolerance", tolerance, positive=True)
    phases, starts = solution.phases, solution.start_times
    names = column_names(solution)
    simulated = {name: simulate(phase, tolerance) for name, phase in phases.items()}
    joint_errors, local = np.zeros(len(names)), []
    for name, deviations in simulated.items():
        columns = [names.index(column) for column in _names(phases[name])]
        np.maximum.at(joint_errors, columns, deviations.whole.max(axis=0))
        local.append(np.zeros((len(deviations.local), len(names))))
        local[-1][:, columns] = deviations.local
    return Verification(
        float(joint_errors.max(initial=0.0)),
        max(float(deviations.whole[-1].max(initial=0.0)) for deviations in simulated.values()),
        joint_errors,
        np.concatenate(local),
        max(growth(phase) for phase in phases.values()),
        list(solution.violations),
        kkt(solution.nlp, solution.x, solution.parameters, solution.multipliers["g"], solution.multipliers["x"]),
        [near._replace(t=starts[name] + near.t) for name, phase in phases.items() for near in near_locks(phase)],
    )


def column_names(solution: Solution | PhasesSolution) -> list[str]:
    """Names of the columns of a verification's errors: joints, then components of states, of all phases."""
    return list(dict.fromkeys(name for phase in solution.phases.values() for name in _names(phase)))


def _names(solution: Solution) -> tuple[str, ...]:
    """Names of the columns of the simulation: joints, then components of states."""
    states = (label for state in solution.problem.states for label in state.labels)
    return (*solution.problem.model.joint_names, *states)


def near_locks(solution: Solution) -> list[SingularPosture]:
    """Sequences of three angles within 5 degrees of gimbal lock, between nodes too."""
    if not angle_sequences(solution.problem.model):
        return []
    mesh = solution.mesh_times
    t = np.unique(np.linspace(mesh[:-1], mesh[1:], 11))
    return singular_postures(solution.problem.model, t, solution.at(t).q, NEAR_LOCK)


def kkt(
    nlp: BaseNLP,
    x: np.ndarray,
    p: np.ndarray,
    lam_g: np.ndarray,
    lam_x: np.ndarray,
    scale_g: np.ndarray | None = None,
) -> KKT:
    """Optimality residuals of a point of an NLP with multipliers (positive at an upper bound).

    Rows are divided by `scale_g`, shape (n_g,), by default their natural sizes.
    """
    scale_g = nlp.scale_g if scale_g is None else scale_g
    gradient = np.array(nlp.grad_f(x, p)[1] + nlp.jac_g(x, p)[1].T @ lam_g).ravel() + lam_x
    values = np.concatenate([x / nlp.scale_x, np.array(nlp.g(x, p)).ravel() / scale_g])
    low_g, high_g = nlp.bounds_g
    lower = np.concatenate([nlp.lower / nlp.scale_x, low_g / scale_g])
    upper = np.concatenate([nlp.upper / nlp.scale_x, high_g / scale_g])
    multipliers = np.concatenate([lam_x * nlp.scale_x, lam_g * scale_g])
    free = lower < upper  # the multiplier of an equality may have either sign and any gap
    above, below = np.maximum(multipliers, 0)[free], np.maximum(-multipliers, 0)[free]
    gap_above, gap_below = (upper - values)[free], (values - lower)[free]
    # A multiplier at an infinite bound has the wrong sign.
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
