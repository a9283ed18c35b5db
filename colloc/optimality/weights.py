"""Weights of a cost from recorded motions: inverse optimal control."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from colloc.optimality.active_set import sharp_optimum
from colloc.optimality.along import Samples, expression_in
from colloc.optimality.crossover import crossover
from colloc.optimality.kkt import DataChange
from colloc.optimality.restated import with_costs
from colloc.optimality.stationarity import least_combination, stationary_weights
from colloc.problem import Cost, Parameter
from colloc.problem.cost import NOTHING, weighed
from colloc.problem.track import Tracked, records_in
from colloc.solution import PhasesSolution, Solution, solution_of
from colloc.solution.solution_query import solution_query
from colloc.solver import PreparedSolver, Start, Status, chosen_solver
from colloc.support.checks import InputError, instance, mapping, shortened, unknown_name
from colloc.support.display import Table, Tabular, short, shown
from colloc.transcription import NLP, PhasesNLP

_WEIGHTS = "weights_of_terms"  # the parameter
_LEAST = 1e-4  # share with which a fit begins at least
_STEPS = 30  # of the fit
_SMALL = 1e-8  # relative change of the squared residuals with which it ends
_DAMPING = 1e-3  # of the fit, at first
_FELT = 1e-3  # share of the terms whose interval is judged
_LOOSE = 0.1  # of a weight: wider half intervals are named
_DOUBT = 1e-3  # misfit beyond which a motion is no optimum
_NORMAL = 1.96  # standard errors to either side in an interval of 95 %


@dataclass(frozen=True, eq=False, repr=False)
class Weights(Tabular):
    """Weights of the terms of a cost; see `recover_weights`.

    Parameters
    ----------
    names : tuple of str
        Names of the terms.
    values : ndarray, shape (m,)
        Only ratios matter: the sum is that of the absolute weights in the given cost.
    lower, upper : ndarray, shape (m,)
        Interval of every weight: all values that explain the motion as well; of noisy records 95 % intervals. Terms
        that cannot change the motion have the weight 0 and an infinite interval.
    lengths : ndarray, shape (m,)
        Lengths of the gradients of the terms; see `shares`.
    misfit : float
        Without records the length of the weighed gradients that limits do not balance, relative to the sum of their
        lengths: 0 for an optimum. With records the standard deviation of the residuals, weighed as in `track`.
    cost : Cost
        The terms with these weights.
    solution : Solution or PhasesSolution or None
        With records the optimum with these weights.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="torques")
    >>> smooth = co.integral(lambda now: ca.sumsqr(now.qdd), name="accelerations")
    >>> reach = co.Problem(two_link(9.81), 1.0, effort + 0.2 * smooth, problem.subject_to[:2])
    >>> weights = co.optimality.recover_weights(co.solve(reach, co.BSpline(15)))
    >>> round(weights["accelerations"], 3), weights.undetermined
    (0.2, ())
    """

    names: tuple[str, ...]
    values: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    lengths: np.ndarray
    misfit: float
    cost: Cost
    solution: Solution | PhasesSolution | None = None

    @property
    def shares(self) -> np.ndarray:
        """Share of every term in the sum of the lengths of gradients. Weights depend on units, shares do not."""
        sizes = self.values * self.lengths
        return sizes / max(float(sizes.sum()), 1e-300)

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Terms whose interval is wider than their weight; of small terms, wider than a thousandth of all."""
        sizes, silent = self.values * self.lengths, np.isinf(self.upper)
        width = (np.where(silent, 0.0, self.upper) - self.lower) * self.lengths
        wide = silent | (width > np.maximum(sizes, _FELT * sizes.sum()))
        return tuple(name for name, opened in zip(self.names, wide.tolist(), strict=True) if opened)

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise unknown_name("term", name, self.names)
        return float(self.values[self.names.index(name)])

    def _table(self) -> Table:
        columns = zip(self.names, self.values, self.lower, self.upper, self.shares, strict=True)
        rows = [
            (name, short(value), f"{short(low)} .. {short(high)}", f"{100 * share:.3g} %")
            for name, value, low, high, share in columns
        ]
        notes = [f"  misfit {short(self.misfit)}"]
        if self.solution is None and self.misfit > _DOUBT:
            notes.append("  the motion is not an optimum of these terms: a term or a limit is missing, or it has noise")
        if self.undetermined:
            notes.append(f"  not determined by the motion: {shown(self.undetermined)}")
        loose = [
            f"{name} ({100 * half / value:.0f} %)"
            for name, value, half in zip(self.names, self.values, (self.upper - self.lower) / 2, strict=True)
            if name not in self.undetermined and _LOOSE * value < half
        ]
        if loose:
            notes.append(f"  known to no better than a tenth: {shown(loose)}; other motions or torques would tell more")
        return Table("Weights of a cost", ("term", "weight", "interval", "share"), rows, notes)


@solution_query()
def recover_weights(
    solution: Solution | PhasesSolution, cost: Any = None, *, records: Any = None, solver: Any = None
) -> Weights:
    """Weights of a cost for which a motion is an optimum: inverse optimal control.

    The conditions of an optimum are linear in weights and multipliers: a convex quadratic program finds both, with
    multipliers of limits that have the right signs (Keshavarz, Wang and Boyd 2011). This is exact for an optimum, and
    needs no other solve. With the samples of noisy records, its weights are the start of a fit: the optimum of the
    problem with these weights is as close as possible to the samples (Mombaur, Truong and Laumond 2010, "From human to
    humanoid locomotion", with derivatives of the optimum in place of a search). Intervals of a fit are the bound of
    Cramer and Rao to first order: if they are wide, no other method gets more from these records. Records of torques
    beside angles, more motions, and more samples tell more.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        The motion: an optimum of unknown origin, or the motion nearest to records, ``co.solve(replace(problem,
        minimize=co.track(...)))``. Of several motions, with one set of weights, the solution of `Cases`.
    cost : Cost, or mapping of str to Cost, optional
        Terms with different names; of phases and cases by name, where terms of one name share a weight. By default
        those of the solution's problem. The fit starts at the weights by the conditions of an optimum.
    records : Cost, or mapping of str to Cost, optional
        Measured samples, as `track` takes them; of phases and cases by name. Samples beyond the end of a motion are
        compared with its end.
    solver : Solver, optional
        Of the optima during the fit; IPOPT by default.

    Returns
    -------
    Weights
        With an interval for every weight, and the names of those that the motion does not determine.

    Raises
    ------
    InputError
        For a single term, terms of equal names, costs across phases, or a problem that is not solved at the start of
        the fit.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="torques")
    >>> smooth = co.integral(lambda now: ca.sumsqr(now.qdd), name="accelerations")
    >>> reach = co.Problem(two_link(9.81), 1.0, effort + 0.2 * smooth, problem.subject_to[:2])
    >>> motion = co.solve(reach, co.BSpline(15))
    >>> t = np.linspace(0.0, 1.0, 101)
    >>> q = motion.at(t).q + 0.01 * np.random.default_rng(0).standard_normal((101, 2))
    >>> weights = co.optimality.recover_weights(motion, effort + smooth, records=co.track(t, q, lambda now: now.q))
    >>> bool(weights.lower[1] < 0.2 / 1.2 * 2 < weights.upper[1])
    True
    """
    costs = _by_phase("cost", solution, cost, {k: phase.minimize for k, phase in solution.problem.phases.items()})
    program = _weighed_program(solution, costs)
    optimum = sharp_optimum(solution)
    at = stationary_weights(program.nlp, optimum, np.array([program.parameters(e) for e in np.eye(program.size)]))
    if records is None:
        return program.result(at.weights, (at.lower, at.upper), at.lengths, at.misfit)
    fit = _Fit(program, at.lengths, _tracked(solution, records), chosen_solver(solver), optimum.x)
    return fit.result(at.weights, np.isinf(at.upper))


class _Program(NamedTuple):
    """A program whose parameters end with the weights of the terms."""

    nlp: NLP | PhasesNLP
    names: tuple[str, ...]
    given: dict[str, float]  # weights in the given cost
    fixed: np.ndarray  # the other parameters
    cost: Cost  # all terms with the weight 1

    @property
    def size(self) -> int:
        return len(self.names)

    def parameters(self, weights: np.ndarray) -> np.ndarray:
        return np.append(self.fixed, weights)

    def result(
        self,
        shares: np.ndarray,
        ends: tuple[np.ndarray, np.ndarray],
        lengths: np.ndarray,
        misfit: float,
        solution: Solution | PhasesSolution | None = None,
    ) -> Weights:
        """Weights from shares and their intervals."""
        factor = sum(map(abs, self.given.values())) / max(float((shares / lengths).sum()), 1e-300)
        values, lower, upper = (factor * side / lengths for side in (shares, *ends))
        terms = zip(self.cost.terms, values.tolist(), strict=True)
        cost = Cost(tuple(replace(term, weight=value) for term, value in terms))
        return Weights(self.names, values, lower, upper, lengths, misfit, cost, solution)


def _by_phase(
    what: str, solution: Solution | PhasesSolution, given: Any, default: Mapping[str, Cost]
) -> dict[str, Cost]:
    """Costs by phase; one cost for all phases is allowed."""
    names = list(solution.problem.phases)
    if given is None:
        return dict(default)
    if isinstance(given, Cost):
        return dict.fromkeys(names, given)
    costs = mapping(what, given)
    for name, cost in costs.items():
        if name not in names:
            raise unknown_name("phase", name, names)
        instance(f"{what} of {name!r}", cost, Cost, "see co.integral, co.track")
    return {name: costs.get(name, NOTHING) for name in names}


def _weighed_program(solution: Solution | PhasesSolution, costs: Mapping[str, Cost]) -> _Program:
    """The program of a motion with the weights of its terms as parameters."""
    terms = {}
    for cost in costs.values():
        names = [term.name for term in cost.terms]
        if len(set(names)) < len(names):
            raise InputError(
                f"terms of a cost with unknown weights must have different names, got {shortened(names)}: "
                "pass name= to co.integral"
            )
        for term in cost.terms:
            terms.setdefault(term.name, term)
    if len(terms) < 2:
        raise InputError(f"cost must have two terms or more, got {shortened([*terms]) if terms else 'none'}")
    if isinstance(solution, PhasesSolution) and solution.problem.minimize.terms:
        raise InputError("weights are those of costs of phases; state a cost of the whole as one of a phase")
    order = list(terms)
    weights = Parameter(_WEIGHTS, np.ones(len(order)))
    phases = {
        name: Cost(tuple(replace(weighed(t, _WEIGHTS, order.index(t.name)), weight=1.0) for t in cost.terms))
        for name, cost in costs.items()
    }
    program = with_costs(solution.nlp, phases, [weights])
    given = {name: term.weight for name, term in terms.items()}
    once = Cost(tuple(replace(term, weight=1.0) for term in terms.values()))
    return _Program(program, tuple(order), given, solution.parameters, once)


def _tracked(solution: Solution | PhasesSolution, records: Any) -> list[tuple[str, Tracked, float]]:
    """Phase, record and weight of everything that was recorded."""
    costs = _by_phase("records", solution, records, {})
    found = [(name, record, weight) for name, cost in costs.items() for record, weight in records_in(cost)]
    if not found or len(found) < sum(len(cost.terms) for cost in costs.values()):
        raise InputError("records must be made by co.track")
    return found


class _Fit(NamedTuple):
    """The fit of optima to samples, by Levenberg and Marquardt's method in shares that are positive or zero."""

    program: _Program
    lengths: np.ndarray
    records: list[tuple[str, Tracked, float]]
    solver: Any
    x: np.ndarray

    def result(self, shares: np.ndarray, silent: np.ndarray) -> Weights:
        """The weights of the best fit, with intervals of 95 %."""
        prepared: PreparedSolver = self.solver.prepare(self.program.nlp)
        heard = ~silent
        shares = np.where(heard, np.maximum(shares, _LEAST), 0.0)
        shares /= shares.sum()
        best = self._optimum(prepared, shares, Start(self.x))
        if best is None:
            raise InputError("the problem is not solved with the weights by the conditions of an optimum")
        damping, residuals, slopes = _DAMPING, self._residuals(best), self._slopes(best, shares)
        for _ in range(_STEPS):
            step = np.zeros(shares.size)
            step[heard] = _step(residuals, slopes[:, heard], shares[heard], damping)
            tried = self._optimum(prepared, shares + step, Start(best.x, best.multipliers, near_optimum=True))
            left = residuals if tried is None else self._residuals(tried)
            fall = 1 - float(left @ left) / max(float(residuals @ residuals), 1e-300)
            if tried is not None and fall > 0:
                shares, best, residuals, damping = shares + step, tried, left, damping / 10
                slopes = self._slopes(best, shares)
            else:
                damping *= 10
            if abs(fall) < _SMALL or damping > 1e6:
                break
        return self._judged(best, shares, residuals, slopes, silent)

    def _judged(
        self, best: Any, shares: np.ndarray, residuals: np.ndarray, slopes: np.ndarray, silent: np.ndarray
    ) -> Weights:
        """Intervals to first order in the weights: those round the best fit without signs, cut at zero."""
        heard, total = ~silent, float((shares / self.lengths).sum())
        turn = np.linalg.svd(np.ones((1, int(heard.sum()))))[2][1:].T  # only ratios count
        along = slopes[:, heard] @ turn
        variance = float(residuals @ residuals) / max(residuals.size - turn.shape[1], 1)
        # Of the weights, which add up to their sum today.
        weights = shares[heard] / self.lengths[heard]
        change = (np.eye(weights.size) - weights[:, None] / total) / self.lengths[heard] @ turn
        inverse = np.linalg.pinv(along, rcond=1e-9)
        middle = weights - change @ (inverse @ residuals)
        errors = _NORMAL * np.sqrt(variance) * np.linalg.norm(change @ inverse, axis=1)
        lower, upper = np.zeros(shares.size), np.full(shares.size, np.inf)
        lower[heard] = np.clip(middle - errors, 0.0, weights) * self.lengths[heard]
        upper[heard] = np.maximum(middle + errors, weights) * self.lengths[heard]
        return self.program.result(shares, (lower, upper), self.lengths, variance**0.5, best)

    def _optimum(self, prepared: PreparedSolver, shares: np.ndarray, start: Start) -> Any:
        """The optimum with some weights, or None."""
        weights = shares / self.lengths
        p = self.program.parameters(weights / weights.sum())
        outcome = prepared(start, p)
        done = outcome.status in (Status.SOLVED, Status.ACCEPTABLE)
        return solution_of(self.program.nlp, outcome, p) if done else None

    def _residuals(self, solution: Any) -> np.ndarray:
        """Weighted differences between an optimum and the samples."""
        parts = []
        for name, of, weight in self.records:
            phase, record = solution.phases[name], of.record
            at = phase.evaluate(of.measured, np.clip(record.times, 0.0, phase.duration))
            apart = np.sqrt(weight * of.weights) * (at.reshape(record.samples.shape) - record.samples)
            parts.append(apart[record.present])
        return np.concatenate(parts)

    def _slopes(self, solution: Any, shares: np.ndarray) -> np.ndarray:
        """Derivatives of the residuals by the shares, shape (samples, m); a common factor of shares has no effect."""
        nlp, p, size = self.program.nlp, solution.parameters, shares.size
        kkt = crossover(nlp, p, sharp_optimum(solution))
        still = DataChange(np.zeros(p.size), np.zeros(nlp.n_g), np.zeros(nlp.n_x))
        rates = 1 / self.lengths / (shares / self.lengths).sum()
        columns = []
        for k, rate in enumerate(rates.tolist()):
            along = np.zeros(p.size)
            along[p.size - size + k] = rate
            change = kkt.change(still._replace(parameters=along))[0]
            columns.append(np.concatenate([self._moved(solution, r, change, along) for r in self.records]))
        return np.column_stack(columns)

    def _moved(
        self, solution: Any, of: tuple[str, Tracked, float], change: np.ndarray, along: np.ndarray
    ) -> np.ndarray:
        """The change of the residuals of a record when the decision vector changes."""
        name, of_record, weight = of
        phase, part, record = self.program.nlp.phases[name], self.program.nlp.parts[name], of_record.record
        t = np.clip(record.times, 0.0, solution.phases[name].duration)
        at_times = Samples(phase, expression_in(phase, of_record.measured), t, solution.x[part], solution.parameters)
        rates = at_times.rates(np.nan_to_num(change[part]), along, 0.0)
        return (np.sqrt(weight * of_record.weights) * rates)[record.present]


def _step(residuals: np.ndarray, slopes: np.ndarray, shares: np.ndarray, damping: float) -> np.ndarray:
    """The damped step to shares that are not negative and add up to one.

    As they add up to one, residuals that are linear in them are a combination of columns.
    """
    columns = slopes + (residuals - slopes @ shares)[:, None]
    size = np.sqrt(damping * np.square(slopes).sum(axis=0).max(initial=0.0)) + 1e-300
    stay = size * (np.eye(shares.size) - shares[:, None])
    return least_combination(np.vstack([columns, stay])) - shares
