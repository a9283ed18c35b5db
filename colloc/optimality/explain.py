"""Reasons why a problem fails, or limits that determine its solution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from colloc.optimality.elastic import Relaxed, smallest_relaxation
from colloc.optimality.expanded import ExpandedOptimum
from colloc.optimality.gains import multiplier_set
from colloc.optimality.limits import Limit, LimitPlace, entry_times, limits_of, relaxed_bounds
from colloc.optimality.multipliers import multipliers_without_fixed
from colloc.optimality.wider_limits import with_wider_limits
from colloc.problem import Phases, Problem
from colloc.solution import PhasesSolution, Solution
from colloc.solution.more_nodes import with_nodes
from colloc.solution.solution_query import solution_query
from colloc.solution.solve_error import SolveError
from colloc.solution.warm_start import start_from
from colloc.solver import Outcome, Status
from colloc.solver.diagnosis import dependent_rows
from colloc.solver.quadratic import quadratic_optimum
from colloc.support.checks import InputError, as_tuple, finite_number, quoted, spelt, text, unknown_name
from colloc.support.display import Table, short, shown
from colloc.transcription import BaseNLP, DeferredNLP
from colloc.transcription.nlp import Recipe
from colloc.transcription.transcribe import build_program

# Costs of relaxing a limit by its natural size: prescribed values are usually the purpose of a motion, and equations
# along the path its physics, so that both cost more than bounds.
_PRESCRIBED, _LAST = 1e2, 1e4
_MARGIN = 1.01
_LEAST = 1e-6  # of the cost: smallest gain of relaxing a limit by its natural size that is listed
_SMALL = 1e-5  # of the cost: smallest decrease by the derivative for 1 % beside which other bounds are considered
_EXCHANGES = 5  # largest number of times that nodes are added where limits are exceeded between them
_LISTED, _FEW = 12, 3  # limits, and dependent rows, in a table
_SINGULAR = 1e9  # condition number from which rows count as dependent
_SHARE = 1e-3  # of the relaxation of a limit, or of its largest multiplier: smaller ones count as zero
_CLOSE = 1e-6  # of a natural size: closer values are at the bound
_DENSE_ENTRIES = 4_000_000  # a condition number beyond this size would take longer than the solve


@dataclass(frozen=True, eq=False)
class Relaxation(Limit):
    """A limit that has to be relaxed, by one number at all times.

    Parameters
    ----------
    place : LimitPlace
        Place in the problem; also available as `phase` and `constraint`, the name of the constraint or the unknown, or
        "duration".
    side : "lower" or "upper"
    row : str
        Label of the row, including its joint.
    joint : str
        Empty without a joint.
    bound : float
        The stated bound.
    unit : str
        Empty without a unit.
    size : float
        Natural size of the limit, in its unit, by which relaxations are compared.
    prescribed : bool
        Whether a value is prescribed instead of bounded.
    equation : bool
        Whether a value is prescribed along a part of the motion, such as a torque of zero.
    entries : ndarray of int
        Bounded rows of the program, and bounded variables plus the number of rows.
    needed : float
        The bound that makes the problem feasible.
    t : float [s]
        Time at which it is first reached; NaN for a duration, for constants, and across phases.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> hasty = co.Problem(two_link(), 0.3, effort, problem.subject_to)
    >>> last = co.solve(hasty, co.BSpline(10), raise_on_failure=False)
    >>> (relaxation,) = co.optimality.explain(last, relax="duration").relaxations
    >>> print(relaxation)
    duration must be 0.3969 s (prescribed: 0.3 s)
    >>> relaxation.constraint, relaxation.side, relaxation.bound, relaxation.unit
    ('duration', 'upper', 0.3, 's')
    """

    needed: float
    t: float

    @property
    def amount(self) -> float:
        """Required relaxation; positive."""
        return abs(self.needed - self.bound)

    def __str__(self) -> str:
        when = "" if np.isnan(self.t) else f" at t = {self.t:.4g} s"
        verb = "be" if self.prescribed else "reach" if self.side == "upper" else "go down to"
        limit = "prescribed" if self.prescribed else "bound"
        return f"{self.name} must {verb} {_number(self, self.needed)} ({limit}: {_number(self, self.bound)}){when}"


@dataclass(frozen=True, eq=False)
class ActiveLimit(Limit):
    """An active limit whose relaxation decreases the cost.

    Parameters
    ----------
    place, side, row, joint, bound, unit, size, prescribed, equation, entries :
        As in `Relaxation`.
    gain : float
        Derivative of the cost by this limit alone at all times, positive if relaxing it decreases the cost: the sum of
        its multipliers, the least one if they are not unique. It is valid until another bound is met.
    of_percent : float
        Decrease of the cost if this limit alone is relaxed by 1 % of its bound, or of its natural size if the bound is
        zero. Bounds that are met on the way are included. The curve stays the same, and limits are linear over the
        step. NaN if it is small or could not be computed, see `Explanation.notes`.
    first, last : float [s]
        First and last time at which it is active; NaN for a duration and for constants.

    Examples
    --------
    >>> limit = co.optimality.explain(solution).limits[0]
    >>> limit.row, limit.side, limit.bound, limit.unit
    ('tau[shoulder]', 'upper', 10.0, 'N m')
    """

    gain: float
    of_percent: float
    first: float
    last: float


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """Reasons why a problem fails, or limits that determine its solution; returned by `explain`.

    Parameters
    ----------
    solution : Solution
        The explained solution.
    relaxations : tuple of Relaxation
        For a failure: relaxations that make the problem feasible, of least total size, the largest first.
    motion : Solution or None
        For a failure: a motion that meets the relaxed limits, as a guess for the relaxed problem; None without
        relaxations.
    limits : tuple of ActiveLimit
        For a solution: active limits, bounds before prescribed values, ranked by `of_percent`.
    condition : float
        For a solution: condition number of the Jacobian of the active rows by the variables within their bounds, with
        unit rows and variables of natural size; NaN for large programs.
    dependent : tuple of str
        For a solution: sentences about active rows that follow from others.
    notes : tuple of str
        For a solution: sentences about limits whose `of_percent` is unknown.

    Examples
    --------
    >>> explanation = co.optimality.explain(solution)
    >>> len(explanation.limits) > 4, explanation.relaxations
    (True, ())
    """

    solution: Solution | PhasesSolution
    relaxations: tuple[Relaxation, ...] = ()
    motion: Solution | PhasesSolution | None = None
    limits: tuple[ActiveLimit, ...] = ()
    condition: float = float("nan")
    dependent: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @spelt
    def relaxed(self, share: float = _MARGIN) -> Problem | Phases:
        """The problem with the relaxations applied; prescribed values become intervals.

        Parameters
        ----------
        share : float
            Factor of the relaxations. The default adds 1 %, since a problem that is just feasible leaves a solver no
            room.

        Raises
        ------
        InputError
            For joint limits in the model of a closed chain whose loops are solved at every instant.
        """
        return relaxed_problem(self.solution.problem, self.relaxations, finite_number("share", share, positive=True))

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        if self.solution.outcome.status in _ANSWERS:
            return _answer_table(self)
        return _failure_table(self)


_ANSWERS = (Status.SOLVED, Status.ACCEPTABLE, Status.SADDLE)


@solution_query(Solution | PhasesSolution | SolveError)
def explain(
    solution: Solution | PhasesSolution | SolveError, *, relax: str | Sequence[str] | None = None
) -> Explanation:
    """Reasons why a problem fails, or limits that determine its solution.

    For a failure: the smallest relaxation that makes the problem feasible. The program is solved again with limits that
    can be relaxed at a cost, each at all times by one number, relative to its natural size (the elastic problem of
    Gill, Murray and Saunders 2005, NP(gamma)). Bounds, including those of unknowns, are relaxed first. Prescribed
    values at the ends, at single times or of a duration cost a hundred times as much. Equations along the path, such as
    a torque of zero, are relaxed only if nothing else helps; equations of states, closures, links and impacts never.
    The result is a local optimum, the better of two searches from the last iterate and from the default guess of
    `solve`.

    For a solution: the active limits, ranked by the decrease of the cost if one of them is relaxed by 1 %, and the
    conditioning of the equations. Limits that another limit would replace are left out.

    Parameters
    ----------
    solution : Solution, PhasesSolution or SolveError
    relax : str or sequence of str, optional
        Names of the constraints and unknowns, or "duration", that may be relaxed. By default all that can be.

    Returns
    -------
    Explanation

    Raises
    ------
    InputError
        For names that the problem does not have, and for names with a solution that has not failed.

    See Also
    --------
    verify : Verification of a solution.

    Examples
    --------
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> hasty = co.Problem(two_link(), 0.3, effort, problem.subject_to)
    >>> try:
    ...     co.solve(hasty, co.BSpline(20))
    ... except co.SolveError as error:
    ...     explanation = co.optimality.explain(error)
    >>> print(explanation.relaxations[0])
    tau[shoulder] must reach 2... N m (bound: 10 N m) at t = ... s
    >>> relaxed = co.solve(explanation.relaxed(), co.BSpline(20), guess=explanation.motion)
    >>> relaxed.outcome.status
    <Status.SOLVED: 'solved'>
    """
    last = solution.solution if isinstance(solution, SolveError) else solution
    names = None if relax is None else [text("relax", name) for name in _listed(relax)]
    if last.outcome.status in _ANSWERS:
        if names is not None:
            raise InputError(f"relax is for failed solves, this one is {last.status}: leave out relax={quoted(relax)}")
        return _of_answer(last)
    return _of_failure(last, names)


def _listed(relax: str | Sequence[str]) -> Sequence[str]:
    return [relax] if isinstance(relax, str) else as_tuple("relax", relax)


def relaxed_problem(problem: Problem | Phases, relaxations: Sequence[Relaxation], share: float) -> Problem | Phases:
    """A problem with limits relaxed by `share` times the relaxations."""
    amounts: dict[LimitPlace, tuple[float, float]] = {}
    for relaxation in relaxations:
        down, up = amounts.get(relaxation.place, (0.0, 0.0))
        by = share * relaxation.amount
        amounts[relaxation.place] = (down, by) if relaxation.side == "upper" else (by, up)
    return with_wider_limits(problem, amounts)


def _opened(problem: Problem | Phases, recipes: Mapping[str, Recipe], equations: bool = False) -> BaseNLP:
    """The program of a motion without fixed variables: end states as rows, durations as variables."""
    sizes: dict[LimitPlace, tuple[float, float]] = {}
    for phase, part in problem.phases.items():
        half = part.horizon.lower / 2
        sizes[LimitPlace(phase, "duration", "duration", 0)] = half, half
        for name, entry in part.rows.items():
            at_ends = {end.row for end in part.end_values.get(name, ())}
            for r, size in enumerate(entry.rows.scale.tolist()):
                along = equations and bool(entry.rows.lower[r] == entry.rows.upper[r])
                if r in at_ends or along:
                    sizes[LimitPlace(phase, "row", name, r)] = size, size
    once = {name: recipe._replace(compile=False) for name, recipe in recipes.items()}
    return build_program(with_wider_limits(problem, sizes), once)


def _of_failure(last: Solution | PhasesSolution, names: Sequence[str] | None) -> Explanation:
    """The smallest relaxation, without equations along the path if possible."""
    starts = [last.x] if np.isfinite(last.x).all() else []
    starts.append(start_from(last.nlp, None, last.parameters).x)
    for equations in (False, True):
        explanation = _relaxed(last, names, equations, starts, DeferredNLP.of(last.nlp).recipes)
        if explanation is not None:
            return explanation
    return Explanation(last)


def _relaxed(
    last: Solution | PhasesSolution,
    names: Sequence[str] | None,
    equations: bool,
    starts: Sequence[np.ndarray],
    recipes: Mapping[str, Recipe],
) -> Explanation | None:
    """The smallest relaxation with which limits also hold between the nodes; None if none is found."""
    explanation = None
    for exchange in range(_EXCHANGES):
        nlp = _opened(last.problem, recipes, equations)
        limits = limits_of(nlp, last.problem)
        _check_names(names, limits)
        if equations and not any(limit.equation for limit in limits):
            break
        weights = np.array([_weight(limit, names, equations) for limit in limits])
        ends = [smallest_relaxation(nlp, limits, weights, x, last.parameters, near=exchange > 0) for x in starts]
        best = min((end for end in ends if end is not None), key=lambda end: end.total, default=None)
        if best is None:
            break
        explanation, starts = _explained(last, nlp, limits, best, recipes), [best.x]
        if explanation.motion is None or explanation.motion.error.bounds.max() <= last.outcome.tolerance:
            break
        recipes = DeferredNLP.of(with_nodes(explanation.motion, last.outcome.tolerance)).recipes
    return explanation


def _weight(limit: Limit, names: Sequence[str] | None, equations: bool) -> float:
    if (names is not None and limit.constraint not in names) or (limit.equation and not equations):
        return np.inf
    return _LAST if limit.equation else _PRESCRIBED if limit.prescribed else 1.0


def _check_names(names: Sequence[str] | None, limits: Sequence[Limit]) -> None:
    known = {limit.constraint for limit in limits}
    for name in names or ():
        if name not in known:
            raise unknown_name("constraint or unknown with limits (relax)", name, known)


def _explained(
    last: Solution | PhasesSolution,
    nlp: BaseNLP,
    limits: Sequence[Limit],
    end: Relaxed,
    recipes: Mapping[str, Recipe],
) -> Explanation:
    """The relaxations and the motion from the result of an elastic run."""
    values, times = _values(nlp, end.x, last.parameters), entry_times(nlp, end.x)
    relaxations = []
    for limit, amount in zip(limits, end.amounts.tolist(), strict=True):
        if amount > 0:
            beyond = limit.sign * (values[limit.entries] - limit.bound)
            t = float(times[limit.entries[beyond >= beyond.max() - _SHARE * amount]].min())
            relaxations.append(Relaxation(**vars(limit), needed=limit.bound + limit.sign * amount, t=t))
    relaxations.sort(key=lambda relaxation: -relaxation.amount / relaxation.size)
    program = DeferredNLP(relaxed_problem(last.problem, relaxations, _MARGIN), recipes)
    none = {"g": np.zeros(program.built.n_g), "x": np.zeros(program.built.n_x)}
    message = "meets the relaxed limits, at any cost"
    seconds, tolerance = {"build": 0.0, "solve": 0.0}, last.outcome.tolerance
    outcome = Outcome(end.x, none, Status.ITERATION_LIMIT, message, {}, 0, seconds, tolerance)
    return Explanation(last, tuple(relaxations), type(last)(program, outcome, last.parameters))


def _values(nlp: BaseNLP, x: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Values of all rows, then of all variables."""
    return np.append(np.array(nlp.g(x, p)).ravel(), x)


def _of_answer(solution: Solution | PhasesSolution) -> Explanation:
    """Active limits by the decrease of the cost, and the conditioning of the active rows."""
    x, p, nlp = solution.x, solution.parameters, _opened(solution.problem, DeferredNLP.of(solution.nlp).recipes)
    multipliers = multipliers_without_fixed(solution.nlp, solution.multipliers, nlp, x, p)
    limits, values = limits_of(nlp, solution.problem), _values(nlp, x, p)
    sides, alone = _active(nlp, limits, values, multipliers / solution.cost_scale)
    every, times, active = multiplier_set(nlp, x, p, multipliers, sides), entry_times(nlp, x), []
    for limit, entries in zip(limits, alone, strict=True):
        pull = np.maximum(limit.sign * multipliers[entries], 0.0)
        if pull.sum() * limit.size <= _LEAST * solution.cost_scale:
            continue
        gain = every.least(entries, limit.sign)
        if gain * limit.size > _LEAST * solution.cost_scale:
            when = times[entries[pull > _SHARE * pull.max()]]
            active.append((limit, gain, when.min(), when.max()))
    by_ipopt = partial(quadratic_optimum, compile=solution.nlp.compile)
    optimum = ExpandedOptimum(nlp, x, p, values, multipliers, limits, solution.cost_scale, by_ipopt)
    return Explanation(solution, **_percents(optimum, active), **_conditioning(solution))


def _percents(optimum: ExpandedOptimum, active: Sequence[tuple[Limit, float, float, float]]) -> dict[str, Any]:
    """Active limits with the decreases of the cost for 1 %, and notes about those that are unknown.

    Parameters
    ----------
    optimum : ExpandedOptimum
    active : sequence of (Limit, float, float, float)
        Limits with their `ActiveLimit.gain`, `first` and `last`.
    """
    ranked = sorted(active, key=lambda one: (one[0].prescribed, -one[1] * _percent(one[0])))
    affordable, listed, small, left, failed = optimum.affordable if active else 0, [], 0, 0, []
    for limit, gain, first, last in ranked:
        by, of_percent = _percent(limit), np.nan
        if gain * by < _SMALL * optimum.scale:
            small += 1
        elif affordable <= len(listed) - small:
            left += 1
        elif np.isnan(of_percent := optimum.decrease(limit, by, gain * by)):
            failed.append(limit.name)
        listed.append(ActiveLimit(**vars(limit), gain=gain, of_percent=of_percent, first=first, last=last))
    notes = []
    if small:
        notes.append(f"up to: by the derivative, where that is less than {100 * _SMALL:g} % of the cost")
    if left:
        size = f"{optimum.nlp.n_x} variables and {optimum.nlp.n_g} rows"
        notes.append(f"up to: by the derivative, for {left} of {len(listed)} limits of a program of {size}")
    if failed:
        notes.append(f"up to: by the derivative, as no optimum was found with 1 % more of {shown(failed, 2)}")
    listed.sort(key=lambda limit: (limit.prescribed, -_at_most(limit)))
    return {"limits": tuple(listed), "notes": tuple(notes)}


def _percent(limit: Limit) -> float:
    """1 % of a bound, or of the natural size if the bound is zero."""
    return 0.01 * (abs(limit.bound) or limit.size)


def _at_most(limit: ActiveLimit) -> float:
    """Decrease of the cost for 1 %; if it is unknown, that by the derivative, the most in a convex program."""
    return limit.gain * _percent(limit) if np.isnan(limit.of_percent) else limit.of_percent


def _active(
    nlp: BaseNLP, limits: Sequence[Limit], values: np.ndarray, multipliers: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Active rows and variables, and the entries of every limit that no other limit bounds equally.

    Parameters
    ----------
    nlp : BaseNLP
        Without fixed variables: prescribed values are limits.
    limits : sequence of Limit
    values, multipliers : ndarray, shape (n_g + n_x,)
        Multipliers relative to the cost.

    Returns
    -------
    ndarray of int, shape (n_g + n_x,)
        1 at an upper bound, -1 at a lower one, 2 for equations, else 0.
    list of ndarray of int
        Entries of every limit.
    """
    size = np.append(nlp.scale_g, nlp.scale_x)
    lower, upper = relaxed_bounds(nlp, limits, np.zeros(len(limits)))
    # An active bound has a small distance and a large multiplier.
    push = (
        np.where(multipliers > 0, upper - values, values - lower)
        <= np.maximum(np.abs(multipliers) * size, _CLOSE) * size
    )
    sides = np.where(push, np.where(multipliers > 0, 1, -1), 0)
    sides = np.where(lower >= upper, 2, sides)
    active, holders = [], {side: np.zeros(size.size, dtype=int) for side in (1, -1)}
    for limit in limits:
        narrowest = (upper if limit.side == "upper" else lower)[limit.entries]
        active.append(limit.entries[limit.sign * (limit.bound - narrowest) <= _CLOSE * limit.size])
        holders[limit.sign][active[-1]] += 1
    return sides, [some[holders[limit.sign][some] == 1] for limit, some in zip(limits, active, strict=True)]


def _conditioning(solution: Solution | PhasesSolution) -> dict[str, Any]:
    """Condition number of the active rows, and those that follow from others."""
    nlp, x, p = solution.nlp, solution.x, solution.parameters
    values, (lower, upper) = np.array(nlp.g(x, p)).ravel(), nlp.bounds_g
    close = _CLOSE * nlp.scale_g
    rows = np.flatnonzero((values > upper - close) | (values < lower + close))
    away = np.minimum(x - nlp.lower, nlp.upper - x) > _CLOSE * nlp.scale_x
    free = np.flatnonzero(nlp.free & away)
    if not rows.size or rows.size * free.size > _DENSE_ENTRIES:
        return {}
    dense = nlp.jac_g(x, p)[1][rows.tolist(), free.tolist()].full() * nlp.scale_x[free]
    norms = np.linalg.norm(dense, axis=1, keepdims=True)
    sizes = np.linalg.svd(dense / np.where(norms > 0, norms, 1.0), compute_uv=False)
    condition = float(sizes[0] / sizes[-1]) if rows.size <= free.size and sizes[-1] > 0 else float("inf")
    dependent = dependent_rows(nlp, x, p, rows=rows, variables=free) if condition > _SINGULAR else []
    return {"condition": condition, "dependent": tuple(dependent)}


def _failure_table(explanation: Explanation) -> Table:
    status, relaxations = explanation.solution.status, explanation.relaxations
    if explanation.motion is None:
        return Table(f"{status}: no relaxation of limits was found that makes the problem feasible", ("",), [])
    if not relaxations:
        hint = "explanation.motion meets all limits: use it as a guess, as in co.solve(..., guess=explanation.motion)"
        return Table(f"{status}: {hint}", ("",), [])
    more = f", and {len(relaxations) - 1} more" if len(relaxations) > 1 else ""
    rows = [
        (r.name, _number(r, r.bound), _number(r, r.needed), f"{short(100 * r.amount / r.size)} %", _time(r.t, r.t))
        for r in relaxations[:_LISTED]
    ]
    note = "explanation.relaxed() is the problem with these limits plus 1 %, explanation.motion a guess for it"
    title = f"{status}: {next(iter(relaxations))}{more}"
    return Table(title, ("limit", "stated", "needed", "of its size", "at"), rows, [note])


def _answer_table(explanation: Explanation) -> Table:
    solution, limits = explanation.solution, explanation.limits
    scale = solution.cost_scale
    rows = [
        (
            limit.name,
            f"{'=' if limit.prescribed else '<=' if limit.side == 'upper' else '>='} {_number(limit, limit.bound)}",
            f"{short(limit.gain)}{f' per {limit.unit}' if limit.unit else ''}",
            f"{'up to ' if np.isnan(limit.of_percent) else ''}{100 * _at_most(limit) / scale:.2g} %",
            _time(limit.first, limit.last),
        )
        for limit in limits[:_LISTED]
    ]
    notes = [f"and {len(limits) - _LISTED} more"] if len(limits) > _LISTED else []
    if not np.isnan(explanation.condition):
        notes.append(f"condition of the active rows: {explanation.condition:.1e}")
    notes += [f"  {sentence}" for sentence in explanation.dependent[:_FEW]]
    notes += explanation.notes
    title = f"no active limit increases the cost, {short(solution.cost)}"
    for name, stated, _, percent, _ in rows[:1]:
        title = f"the cost {short(solution.cost)} falls by {percent} if {name} {stated} is relaxed by 1 %"
    return Table(title, ("limit", "stated", "derivative", "1 % gains", "active"), rows, notes)


def _number(limit: Limit, value: float) -> str:
    """A number with a limit's unit."""
    return f"{short(value)} {limit.unit}".rstrip()


def _time(first: float, last: float) -> str:
    """Times of activity as text; empty without a time."""
    if np.isnan(first):
        return ""
    return f"{first:.3g} s" if first == last else f"{first:.3g} .. {last:.3g} s"
