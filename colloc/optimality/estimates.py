"""Standard errors of the unknown constants of a fit to records, and constants that the records do not determine.

An optimum that tracks samples y is a function of them, by its conditions. To first order an unknown constant moves by

    d theta = S dy,  covariance of theta = S diag(sigma**2) S'

for samples with independent noise, whatever the weights of the fit (Bard 1974, "Nonlinear parameter estimation",
section 7-5). S follows from one solve with the factorised conditions for each constant: the splines of a record are
linear in its samples, and their control points are parameters of the program.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from colloc.optimality.active_set import sharp_optimum
from colloc.optimality.crossover import crossover
from colloc.optimality.kkt import KKTSystem
from colloc.optimality.restated import with_costs
from colloc.problem import Cost, Parameter
from colloc.problem.rows import unique
from colloc.problem.track import Tracked, records_in, with_points
from colloc.solution import PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.solver import Status
from colloc.support.checks import InputError, finite_array, mapping, text, unknown_name
from colloc.support.display import Table, Tabular, short, shown

_NORMAL = 1.959964  # standard errors to either side in an interval of 95 %
_BIASED = 0.25  # of a standard error: larger biases are named
_LOOSE = 0.5  # of a constant: larger standard errors are named
_TIED = 0.95  # correlation from which two constants are named together
_FLAT = 1e-6  # of a direction in which nothing changes: parts that count


@dataclass(frozen=True, eq=False, repr=False)
class Estimates(Tabular):
    """Unknown constants of a fit with their standard errors; see `standard_errors`.

    Parameters
    ----------
    names, units : tuple of str
        Of every constant, components of vectors one by one.
    values : ndarray, shape (m,)
    errors : ndarray, shape (m,)
        Standard errors: infinite if the records do not determine a constant, NaN if it is at a bound.
    covariance : ndarray, shape (m, m)
        To first order; zero for constants without a finite standard error.
    deviations : dict of str to ndarray
        Standard deviation of the noise of every component, by record.
    biases : ndarray, shape (m,)
        By how much the smoothing of the records moves a constant, to first order: samples of this very motion without
        noise would move it so. Zero for records without deviation or cutoff.
    remarks : tuple of str
        Sentences about constants that the records determine badly, or not at all.

    Examples
    --------
    >>> friction = co.Unknown("friction", lower=0.0, constant=True, unit="N m s")
    >>> rod = co.Model([co.Body("rod", co.revolute(), mass=1.0, com=(0, -0.5, 0), inertia=0.1 * np.eye(3))])
    >>> start = co.initial(q=1.0, qd=0.0)
    >>> fall = co.Problem(rod, 2.0, subject_to=[start], parts=[co.Spring("rod", damping=0.3)])
    >>> t = np.linspace(0.0, 2.0, 101)
    >>> noise = 0.01 * np.random.default_rng(0).standard_normal((101, 1))
    >>> record = co.track(t, co.solve(fall, co.Radau(20)).at(t).q + noise, lambda now: now.q, name="angle")
    >>> damper = co.Spring("rod", damping=friction)
    >>> fit = co.solve(co.Problem(rod, 2.0, record, [start], parts=[damper]), co.Radau(20))
    >>> estimates = co.optimality.standard_errors(fit)
    >>> low, high = estimates.interval("friction")
    >>> bool(low < 0.3 < high), bool(high - low < 0.02)
    (True, True)
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: np.ndarray
    errors: np.ndarray
    covariance: np.ndarray
    deviations: Mapping[str, np.ndarray]
    biases: np.ndarray
    remarks: tuple[str, ...]

    def __getitem__(self, name: str) -> float:
        """The standard error of a constant."""
        return float(self.errors[self._place(name)])

    def interval(self, name: str) -> tuple[float, float]:
        """The interval that contains the true constant in 95 % of all recordings."""
        k = self._place(name)
        half = _NORMAL * self.errors[k]
        return float(self.values[k] - half), float(self.values[k] + half)

    @property
    def correlation(self) -> np.ndarray:
        """Correlations of the errors, shape (m, m); zero for constants without a finite standard error."""
        sizes = np.sqrt(np.diag(self.covariance))
        scale = np.divide(1.0, sizes, out=np.zeros(sizes.size), where=sizes > 0)
        return self.covariance * np.outer(scale, scale)

    def _place(self, name: str) -> int:
        if text("name of a constant", name) not in self.names:
            raise unknown_name("constant", name, self.names)
        return self.names.index(name)

    def _table(self) -> Table:
        rows = [
            (name, f"{short(value)} {unit}".rstrip(), short(error), " .. ".join(map(short, self.interval(name))))
            for name, unit, value, error in zip(self.names, self.units, self.values, self.errors, strict=True)
        ]
        noise = [f"  noise of {name}: {shown([*map(short, sizes)])}" for name, sizes in self.deviations.items()]
        notes = [*noise, *(f"  {remark}" for remark in self.remarks)]
        return Table("Estimates", ("constant", "value", "standard error", "95 %"), rows, notes)


@solution_query()
def standard_errors(solution: Solution | PhasesSolution, deviations: Mapping[str, Any] | None = None) -> Estimates:
    """Standard errors of unknown constants that are identified from records: masses, stiffnesses, frictions.

    The problem minimises the distance from one record or several, see `track`, with constants among its unknowns. Their
    covariance is the effect of independent noise of all samples on the optimum, to first order: small against the
    curvature of the problem. Limits that are active stay so. Other terms of the cost, such as a little effort, may pull
    constants away from their true values: errors contain neither this bias nor noise that samples share.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        An optimum whose cost contains records. Of several recordings, with the same constants, the solution of `Cases`.
    deviations : mapping of str to float or shape (k,), optional
        Standard deviation of the noise of a record's components, by the name of its term. By default they are estimated
        from the differences between motion and samples, for as many freedoms as the motion has left.

    Returns
    -------
    Estimates
        With sentences about constants that the records do not determine, or only together.

    Raises
    ------
    InputError
        For a solution without records or constants, one that is no optimum, or fewer samples than freedoms if no
        deviations are stated.

    See Also
    --------
    sensitivity : Derivatives of an optimum by the numbers of its problem.
    recover_weights : Weights of a cost from records.

    Examples
    --------
    >>> scale = co.Unknown("scale", constant=True)
    >>> record = co.track([0, 1, 2, 3, 4], [0.1, 0.9, 2.1, 2.9, 4.1], lambda now: now.scale * now.t, name="line")
    >>> fit = co.solve(co.Problem(None, 4.0, record, unknowns=[scale]), co.Radau(4))
    >>> estimates = co.optimality.standard_errors(fit, {"line": 0.1})
    >>> bool(0.015 < estimates["scale"] < 0.025)
    True
    """
    if solution.outcome.status not in (Status.SOLVED, Status.ACCEPTABLE):
        raise InputError(f"solution must be an optimum, got one with status {solution.status}")
    records = _records(solution)
    names, units, index = _constants(solution)
    points = [record.tracked.record.points for record in records]
    parameters = [Parameter(f"points_{k}_of_records", values.ravel("F")) for k, values in enumerate(points)]
    nlp = with_costs(solution.nlp, _costs(solution, records, parameters), parameters, compiled=False)
    p = np.concatenate([solution.parameters, *(parameter.value for parameter in parameters)])
    kkt = crossover(nlp, p, sharp_optimum(solution))
    noise = _noise(solution, records, kkt, {} if deviations is None else mapping("deviations", deviations))
    flat, held = _flat(kkt, index), kkt.optimum.variables[index] != 0
    maps = [record.tracked.record.maps() for record in records]
    moves = np.zeros((index.size, sum(part.shape[1] for of_record in maps for part in of_record)))
    for k in np.flatnonzero(~flat & ~held).tolist():
        rate = kkt.rate_of(np.eye(1, nlp.n_x, int(index[k]))[0]).parameters[solution.parameters.size :]
        moves[k] = _by_samples(maps, rate)
    sigma = [np.full(part.shape[1], d) for of_record, each in zip(maps, noise, strict=True)
             for part, d in zip(of_record, each.tolist(), strict=True)]  # fmt: skip
    covariance = (moves * np.concatenate(sigma) ** 2) @ moves.T
    errors = np.where(flat, np.inf, np.where(held, np.nan, np.sqrt(np.diag(covariance))))
    stated = {record.name: each for record, each in zip(records, noise, strict=True)}
    biases = moves @ np.concatenate([part for record in records for part in _misfits(solution, record)])
    found = Estimates(names, units, solution.x[index], errors, covariance, stated, biases, ())
    return replace(found, remarks=_remarks(found))


class _Recorded(NamedTuple):
    """A record in the cost of a phase."""

    phase: str
    name: str
    tracked: Tracked


def _records(solution: Solution | PhasesSolution) -> list[_Recorded]:
    found: dict[str, _Recorded] = {}
    for phase, problem in solution.problem.phases.items():
        for tracked, _ in records_in(problem.minimize):
            name = unique(f"{phase}: {tracked.label}" if phase else tracked.label, found)
            found[name] = _Recorded(phase, name, tracked)
    if not found:
        raise InputError("the cost of the solution must contain records, as co.track makes them")
    return list(found.values())


def _constants(solution: Solution | PhasesSolution) -> tuple[tuple[str, ...], tuple[str, ...], np.ndarray]:
    """Names, units and variables of all unknown constants; those that phases share once."""
    places: dict[str, tuple[str, int]] = {}
    for name, phase in solution.nlp.phases.items():
        first = solution.nlp.parts[name].start
        for unknown in phase.problem.constants:
            entries = first + phase.grid.layout.constants[unknown.name]
            for label, unit, entry in zip(unknown.labels, unknown.units, entries.tolist(), strict=True):
                places.setdefault(label, (unit, entry))
    if not places:
        raise InputError("the problem must have unknown constants, as in co.Unknown('mass', constant=True)")
    units, index = zip(*places.values(), strict=True)
    return tuple(places), units, np.array(index)


def _costs(
    solution: Solution | PhasesSolution, records: list[_Recorded], parameters: list[Parameter]
) -> dict[str, Cost]:
    """The costs of the phases with the control points of their records as parameters."""
    symbolic = {
        id(record.tracked): with_points(record.tracked, parameter.symbol)
        for record, parameter in zip(records, parameters, strict=True)
    }
    return {
        name: Cost(tuple(replace(term, fn=symbolic.get(id(term.fn), term.fn)) for term in problem.minimize.terms))
        for name, problem in solution.problem.phases.items()
    }


def _noise(
    solution: Solution | PhasesSolution, records: list[_Recorded], kkt: KKTSystem, stated: Mapping[str, Any]
) -> list[np.ndarray]:
    """Deviations of the noise of all components of every record, each shape (k,)."""
    for name in stated:
        if name not in {record.name for record in records}:
            raise unknown_name("record", name, [record.name for record in records])
    samples = sum(int(_inside(solution, record).sum()) for record in records)
    freedoms = kkt.optimum.free.size - kkt.optimum.active.size
    noise = []
    for name, label, tracked in records:
        record = tracked.record
        if label in stated:
            each = finite_array(f"deviation of {label!r}", stated[label], (record.size,))
            if (each <= 0).any():
                raise InputError(f"deviation of {label!r} must be positive, got {shown(list(map(short, each)))}")
            noise.append(each)
            continue
        if samples <= freedoms:
            raise InputError(
                f"{samples} samples do not tell the noise from {freedoms} freedoms of the motion: state deviations, as "
                f"in {{{label!r}: 0.01}}"
            )
        recorded = _Recorded(name, label, tracked)
        counts = np.maximum(_inside(solution, recorded).sum(axis=0), 1)
        variances = np.array([part @ part for part in _misfits(solution, recorded)]) / counts
        noise.append(np.sqrt(variances * samples / (samples - freedoms)))
    return noise


def _misfits(solution: Solution | PhasesSolution, recorded: _Recorded) -> list[np.ndarray]:
    """Motion less samples by component, missing samples left out; zero for those before or after the motion."""
    phase, record = solution.phases[recorded.phase], recorded.tracked.record
    at = phase.evaluate(recorded.tracked.measured, np.clip(record.times, 0.0, phase.duration))
    off = np.where(_inside(solution, recorded), at.reshape(-1, record.size) - record.samples, 0.0)
    return [off[seen, k] for k, seen in enumerate(record.present.T)]


def _inside(solution: Solution | PhasesSolution, recorded: _Recorded) -> np.ndarray:
    """Whether there is a sample during the motion, bools, shape (N, k)."""
    record, T = recorded.tracked.record, solution.phases[recorded.phase].duration
    return record.present & (record.times >= -1e-9 * T)[:, None] & (record.times <= (1 + 1e-9) * T)[:, None]


def _by_samples(maps: list[list[np.ndarray]], rate: np.ndarray) -> np.ndarray:
    """Derivatives by all samples, record after record and component after component, from those by control points."""
    parts, first = [], 0
    for component in (component for record in maps for component in record):
        parts.append(rate[first : first + len(component)] @ component)
        first += len(component)
    return np.concatenate(parts)


def _flat(kkt: KKTSystem, index: np.ndarray) -> np.ndarray:
    """Mask of the variables that can move without changing cost and active rows."""
    free = kkt.optimum.free
    part = np.zeros(kkt.nlp.n_x)
    if kkt.undetermined.size:
        part[free] = np.abs(kkt.undetermined[: free.size]).max(axis=1)
    return part[index] > _FLAT * max(float(part.max(initial=0.0)), _FLAT)


def _remarks(found: Estimates) -> tuple[str, ...]:
    """Sentences about constants that the records determine badly or not at all."""
    names, sizes = np.array(found.names), np.abs(found.values)
    remarks = []
    if flat := names[np.isinf(found.errors)].tolist():
        together = " (only a combination of them)" if len(flat) > 1 else ""
        remarks.append(f"not determined by the records: {shown(flat)}{together}")
    if held := names[np.isnan(found.errors)].tolist():
        remarks.append(f"at a bound, which hides what the records say: {shown(held)}")
    biased = np.isfinite(found.errors) & (np.abs(found.biases) > _BIASED * found.errors)
    for name, bias, error in zip(names[biased].tolist(), found.biases[biased], found.errors[biased], strict=True):
        remarks.append(
            f"the smoothing of the records moves {name} by about {short(bias)}, {abs(bias) / error:.1f} standard "
            "errors: track them without deviation or cutoff"
        )
    loose = np.isfinite(found.errors) & (found.errors > _LOOSE * sizes)
    for name, error, value in zip(names[loose].tolist(), found.errors[loose], found.values[loose], strict=True):
        remarks.append(f"hardly determined: {name}, {short(value)} with a standard error of {short(error)}")
    for j, k in np.argwhere(np.triu(np.abs(found.correlation) > _TIED, 1)).tolist():
        tied = f"correlation {found.correlation[j, k]:.3f}"
        remarks.append(f"{names[j]} and {names[k]} are determined better together than each alone: {tied}")
    return tuple(remarks)
