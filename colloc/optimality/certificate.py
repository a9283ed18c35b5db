"""Certificates: the conditions of an optimum, line by line, each with a number and a tolerance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from colloc.optimality.costates import Costates, costates
from colloc.optimality.forces import forces
from colloc.optimality.hamiltonian import Instants, instants
from colloc.optimality.needles import needles
from colloc.optimality.second_order import LARGEST, SecondOrder, content, falling_direction, second_order
from colloc.solution import PhasesSolution, Solution, Verification, verify
from colloc.solution.solution_query import solution_query
from colloc.solution.verify import column_names, kkt
from colloc.solver.scaling import scale_at
from colloc.support.checks import InputError, relative_tolerance
from colloc.support.display import Table, short

_PROGRAM = 1e-6  # tolerance of residuals of the program, relative to natural sizes and the cost
_SOLVED = 1e-4  # residual beyond which IPOPT calls nothing solved: its constr_viol_tol and compl_inf_tol
_SECOND = "as in minimize=[co.duration(), effort]"
_TOLERANCE = 1e-3  # tolerance of the continuous problem, if the answer was not judged by one


@dataclass(frozen=True)
class CertificateLine:
    """One condition of a certificate.

    Parameters
    ----------
    condition : str
    passed : bool or None
        None if the condition was not checked or is undecided.
    value, tolerance : float
        The judged number and its limit; NaN if there is none.
    detail : str
        Meaning of the number and place of its maximum, or the reason why there is none.
    """

    condition: str
    passed: bool | None
    value: float = np.nan
    tolerance: float = np.nan
    detail: str = ""

    def cells(self) -> tuple[str, ...]:
        """Condition, verdict, value, tolerance and detail as text."""
        verdict = {True: "pass", False: "FAIL", None: "open"}[self.passed]
        numbers = ("" if np.isnan(number) else f"{number:.1e}" for number in (self.value, self.tolerance))
        return (self.condition, verdict, *numbers, self.detail)


@dataclass(frozen=True, repr=False)
class Certificate:
    """Results of the conditions of an optimum for a solution.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    lines : tuple of CertificateLine
    costates : dict of str to Costates
        By phase; empty without costates.
    instants : dict of str to Instants
        Hamiltonian and switching functions, by phase.
    second_order : SecondOrder or None
        None if not checked.
    verification : Verification or None
        The forward simulation; None if impossible.

    Examples
    --------
    >>> certificate = co.optimality.certify(solution, tol=1e-2)
    >>> certificate["Hamiltonian, free duration"].passed, certificate["minimum principle"].passed
    (True, True)
    """

    solution: Solution | PhasesSolution
    lines: tuple[CertificateLine, ...]
    costates: dict[str, Costates] = field(default_factory=dict)
    instants: dict[str, Instants] = field(default_factory=dict)
    second_order: SecondOrder | None = None
    verification: Verification | None = None

    @property
    def passed(self) -> bool:
        """Whether no line fails; open lines do not count."""
        return all(line.passed is not False for line in self.lines)

    def __getitem__(self, condition: str) -> CertificateLine:
        for line in self.lines:
            if line.condition == condition:
                return line
        raise InputError(
            f"no condition named {condition!r} (known: {', '.join(repr(line.condition) for line in self.lines)})"
        )

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        counts = [sum(line.passed is verdict for line in self.lines) for verdict in (True, False, None)]
        title = f"Certificate: {counts[0]} pass, {counts[1]} fail, {counts[2]} open"
        return Table(title, ("condition", "", "value", "tolerance", ""), [line.cells() for line in self.lines])


@solution_query()
def certify(solution: Solution | PhasesSolution, *, tol: float | None = None) -> Certificate:
    """Check the conditions of an optimum: of the program, and of the continuous problem.

    For the program: residuals of the first-order conditions, in natural sizes and relative to the cost, and the
    second-order conditions of a minimum. For the continuous problem, with the costates that follow from the multipliers
    (`costates`): Pontryagin's minimum principle at every instant, the course of the Hamiltonian, and transversality at
    the ends; and a forward simulation under the torques.

    A line that fails says that the condition does not hold within the tolerance, on coarse grids because a finer one is
    needed: at this tolerance `solve` does not call such an answer solved. A line that is open was not checked or is
    undecided, and says why. Open lines are also residuals between 1e-6, the tolerance of the program's conditions, and
    the tolerances of solvers; optima with flat directions; and conditions that costates on this grid miss although the
    estimated error of the cost, which needs no costates, is within the tolerance. The minimum principle is judged by
    its integral over time, which approximates the possible decrease of the cost, the Hamiltonian by its mean deviation,
    and the forward simulation by deviations [rad], of slides relative to the longest travel if that is less than 1 m.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    tol : float, optional
        Tolerance of the conditions of the continuous problem, relative to the cost; by default that of the solution's
        status.

    Returns
    -------
    Certificate

    Raises
    ------
    InputError
        If `solution` is not a finite Solution, or `tol` is not between 0 and 1.

    See Also
    --------
    verify : The forward simulation alone.
    colloc.plot.certificate : Plot of switching functions and of the Hamiltonian.

    Examples
    --------
    >>> certificate = co.optimality.certify(solution)
    >>> certificate["stationarity"].passed
    True
    """
    if tol is None:
        tol = solution.outcome.tolerance if solution.outcome.judges_motion else _TOLERANCE
    tol = relative_tolerance("tol", tol)
    if not np.isfinite(solution.x).all():
        raise InputError("solution must be finite, got variables that are not")
    kind, of_minimum = _minimum(solution)
    simulated, forward = _simulated(solution, tol)
    along, principle, continuous = _continuous(solution, tol)
    program = list(_program(solution))
    if all(line.passed is not False for line in program):
        continuous = [_excused(line, solution, tol) for line in continuous]
    return Certificate(solution, (*program, *continuous, of_minimum, forward), along, principle, kind, simulated)


def _program(solution: Solution | PhasesSolution) -> Iterator[CertificateLine]:
    """The first-order conditions of the program; lines fail by the scales of the run, and pass by natural scales."""
    nlp, x, p = solution.nlp, solution.x, solution.parameters
    scale, size = solution.outcome.scale or scale_at(nlp, x, p), solution.cost_scale
    residuals = kkt(nlp, x, p, solution.multipliers["g"], solution.multipliers["x"], scale.rows)
    details = {
        "stationarity": "gradient of the Lagrangian",
        "feasibility": "violation of a row or bound",
        "complementarity": "multiplier times distance from the bound",
        "sign": "multiplier of the wrong sign",
    }
    for name, detail in details.items():
        residual, of_cost = getattr(residuals, name), name != "feasibility"
        value = residual / size if of_cost else residual
        passed = True if value <= _PROGRAM else None
        if residual > _SOLVED * (max(size, scale.cost) if of_cost else 1.0):
            passed = False
        if passed is None:
            detail += ": within the tolerance of the solver only; solver=co.Ipopt(tol=1e-10) requires more"
        yield CertificateLine(name, passed, value, _PROGRAM, detail)


def _excused(line: CertificateLine, solution: Solution | PhasesSolution, tol: float) -> CertificateLine:
    """A line that stays open if costates alone contradict the answer: see `certify`."""
    if line.passed is not False:
        return line
    if not solution.outcome.judges_cost:
        return replace(line, passed=None, detail=f"the error of the cost was not estimated: {line.detail}")
    error = solution.error["cost"].total
    if error > tol:
        return line
    detail = f"undecided, as the estimated error of the cost is only {error:.1e}; a smaller tol decides: {line.detail}"
    return replace(line, passed=None, detail=detail)


def _continuous(
    solution: Solution | PhasesSolution, tol: float
) -> tuple[dict[str, Costates], dict[str, Instants], list[CertificateLine]]:
    """Pontryagin's conditions."""
    names = ("minimum principle", "Hamiltonian, constant", "Hamiltonian, free duration", "transversality")
    try:
        along = costates(solution)
    except InputError as reason:
        return {}, {}, [CertificateLine(name, None, detail=f"not checked: {reason}") for name in names]
    lam_g, lam_x = (solution.multipliers[name] for name in ("g", "x"))
    acting = forces(solution.nlp, solution.x, solution.parameters, lam_g, lam_x)
    at = {name: instants(phase, along[name], acting[name]) for name, phase in solution.phases.items()}
    rate = solution.cost_scale / solution.duration
    # Force on a duration at its bound.
    pull = {
        name: float(lam_x[solution.nlp.parts[name]][phase.grid.layout.duration[0]])
        for name, phase in solution.nlp.phases.items()
    }
    principle = _principle(at, solution.cost_scale, tol)
    if principle.passed:
        principle = _beside_needles(principle, solution, along, at, tol)
    lines = [
        principle,
        _steadiness(names[1], at, rate, solution.duration, tol, excused=principle.passed is True),
        _free_duration(
            names[2], {name: abs(_mean(now) - now.expected + pull[name]) / rate for name, now in at.items()}, tol
        ),
        _transversality(names[3], solution, along, at, tol),
    ]
    return along, at, lines


def _principle(at: dict[str, Instants], cost: float, tol: float) -> CertificateLine:
    """Gain of other controls, with their names, and gain that bounds with early multipliers may hide."""
    idle = sum(now.idle for now in at.values()) / cost
    value = sum(float(now.weights @ now.gain) for now in at.values()) / cost + idle
    if np.isnan(value):
        return CertificateLine(
            "minimum principle", None, detail="undecided: the programs of the instants were not solved"
        )
    shares = {
        f"{phase}: {name}" if phase else name: share for phase, now in at.items() for name, share in now.gain_by.items()
    }
    worst = max(shares, key=lambda name: shares[name], default="")
    by = f", most by {worst}" if value > tol and worst else ""
    if value > tol and idle > value / 2:
        by = ", most where bounds on positions, velocities or states have multipliers before they are reached"
    detail = f"gain of other controls within their bounds{by}"
    return CertificateLine("minimum principle", bool(value <= tol), value, tol, detail)


def _beside_needles(
    principle: CertificateLine,
    solution: Solution | PhasesSolution,
    along: dict[str, Costates],
    at: dict[str, Instants],
    tol: float,
) -> CertificateLine:
    """The line, open if signals far from those of the motion have a smaller Hamiltonian."""
    value, worst, where = 0.0, 0.0, ""
    for name, phase in solution.phases.items():
        other, now = needles(phase, along[name]), at[name]
        value += float(now.weights @ other.gain) / solution.cost_scale
        k = int(other.gain.argmax())
        if other.gain[k] > worst:
            labels = [label for signal in phase.problem.signals for label in signal.labels]
            worst = float(other.gain[k])
            where = f"such as {labels[other.number[k]]} = {short(other.level[k])} at t = {short(now.t[k])} s"
            where += f", in phase {name!r}" if name else ""
    if value <= tol:
        return principle
    detail = (
        f"gain of signals far from those of the motion, {where}: a cheaper optimum may have them; use them in a guess"
    )
    return CertificateLine("minimum principle", None, value, tol, detail)


def _mean(now: Instants) -> float:
    return float(now.weights @ now.hamiltonian / now.weights.sum())


def _steady(now: Instants) -> np.ndarray:
    """Deviation of the Hamiltonian from its mean in every segment, without the effect of explicit time, shape (N,)."""
    values = now.hamiltonian - now.drift
    for segment in np.unique(now.segment):
        part = now.segment == segment
        values[part] -= now.weights[part] @ values[part] / now.weights[part].sum()
    return values


def _steadiness(
    condition: str, at: dict[str, Instants], rate: float, T: float, tol: float, *, excused: bool
) -> CertificateLine:
    """The line of the mean deviation of the Hamiltonian, the derivative of the cost by the timing of the motion.

    The deviation is of the order of the square root of the gain: controls that take a time h from bound to bound cost
    h^2, and the Hamiltonian is off by h. If other controls gain no more than the tolerance, a deviation between the
    tolerance and its root is undecided.
    """
    steady = {phase: _steady(now) for phase, now in at.items()}
    value = sum(float(at[phase].weights @ np.abs(off)) for phase, off in steady.items()) / (rate * T)
    worst = max(steady, key=lambda phase: np.abs(steady[phase]).max())
    now, off = at[worst], np.abs(steady[worst])
    but = " without the effect of explicit time" if now.drift.any() else ""
    of_phase = f", in phase {worst!r}" if worst else ""
    detail = f"mean deviation{but}; largest {short(off.max() / rate)}, at t = {short(now.t[off.argmax()])} s{of_phase}"
    if excused and tol < value <= np.sqrt(tol):
        detail = f"undecided, as controls that gain less than the tolerance may cause it: {detail}"
        return CertificateLine(condition, None, value, tol, detail)
    return CertificateLine(condition, bool(value <= tol), value, tol, detail)


def _worst(condition: str, values: dict[str, float], tol: float, detail: Callable[[str], str]) -> CertificateLine:
    """A line about the worst phase."""
    phase = max(values, key=lambda name: values[name])
    of_phase = f", in phase {phase!r}" if phase else ""
    return CertificateLine(condition, bool(values[phase] <= tol), values[phase], tol, detail(phase) + of_phase)


def _free_duration(condition: str, values: dict[str, float], tol: float) -> CertificateLine:
    free = {name: value for name, value in values.items() if not np.isnan(value)}
    if not free:
        return CertificateLine(condition, None, detail="not checked: the duration is fixed")
    return _worst(condition, free, tol, lambda _: "mean of the Hamiltonian minus the cost of the duration itself")


def _transversality(
    condition: str,
    solution: Solution | PhasesSolution,
    along: dict[str, Costates],
    at: dict[str, Instants],
    tol: float,
) -> CertificateLine:
    """Costates at the end that neither conditions there nor the next phase explain."""
    values = {}
    for name, phase in along.items():
        sizes = np.abs(phase.all).max(axis=0, initial=0.0)
        # If costates are rounding errors, the value they would have if the whole cost depended on their state.
        states = np.maximum(1.0, np.abs(at[name].states).max(axis=0, initial=0.0))
        sizes = np.maximum(sizes, solution.cost_scale / states)
        values[name] = float((np.abs(phase.after_end) / sizes).max(initial=0.0))
    return _worst(condition, values, tol, lambda _: "costates that the conditions at the end do not explain")


def _minimum(solution: Solution | PhasesSolution) -> tuple[SecondOrder | None, CertificateLine]:
    """The second-order conditions of the program."""
    nlp, x, p, multipliers = solution.nlp, solution.x, solution.parameters, solution.multipliers
    size = int(nlp.free.sum())
    if size > LARGEST:
        direction = falling_direction(nlp, x, p, multipliers, solution.cost_scale)
        if direction is not None:
            detail = f"saddle: the cost falls along {content(nlp, x, direction)}"
            return None, CertificateLine("local minimum", False, detail=detail)
        reason = f"no direction of descent found; not checked in full: {size} variables, more than {LARGEST}"
        return None, CertificateLine("local minimum", None, detail=reason)
    order = second_order(nlp, x, p, multipliers, solution.cost_scale)
    passed = {"minimum": True, "flat": None, "undecided": None}.get(order.kind, False)
    cure = f"; a second cost resolves flat directions, {_SECOND}" if passed is None and order.flat else ""
    return order, CertificateLine("local minimum", passed, detail=f"{order}{cure}")


def _simulated(solution: Solution | PhasesSolution, tol: float) -> tuple[Verification | None, CertificateLine]:
    """The forward simulation under the torques, interval by interval."""
    try:
        simulated = verify(solution)
    except InputError as reason:
        return None, CertificateLine("forward simulation", None, detail=f"not checked: {reason}")
    value = float((simulated.local_errors / _sizes(solution)).max(initial=0.0))
    detail = f"largest deviation of an interval; of the whole motion {simulated.forward_error:.1e}"
    return simulated, CertificateLine("forward simulation", bool(value <= tol), value, tol, detail)


def _sizes(solution: Solution | PhasesSolution) -> np.ndarray:
    """Sizes of the errors of a forward simulation, one for each column: the longest travel of slides of less than 1 m.

    Others are 1, of radians and of states, whose errors are relative.
    """
    travels: dict[str, float] = {}
    for phase in solution.phases.values():
        model = phase.problem.model
        for name, unit, q in zip(model.position_names, model.position_units, phase.nodes.q.T, strict=True):
            if unit == "m":
                travels[name] = max(travels.get(name, 0.0), float(np.ptp(q)))
    longest = max(travels.values(), default=0.0)
    return np.array([min(longest, 1.0) or 1.0 if name in travels else 1.0 for name in column_names(solution)])
