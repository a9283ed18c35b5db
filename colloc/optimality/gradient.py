"""The gradient of one number that depends on an optimum, by one solution with the transposed conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.optimality.along import Samples, expression_in, times_by_phase
from colloc.optimality.kkt import KKTSystem, Rate
from colloc.optimality.sensitivity import Sensitivity, duration_entries, sensitivity
from colloc.problem import Instant
from colloc.problem.user_functions import error_context
from colloc.solution import PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.support.checks import InputError, finite_array, function, quoted, unknown_name
from colloc.support.display import Table, short

Of = str | Callable[[Instant], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Gradient:
    """Derivatives of one number by the numbers of a problem; see `gradient`.

    Parameters
    ----------
    value : float
        The number itself.
    derivatives : mapping of str to float
        By name of the numbers of the problem; NaN where the problem has no solution if one changes alone.
    units : mapping of str to str
        Of the numbers of the problem.
    degenerate : tuple of str
        Sentences about bounds and directions that make a derivative one-sided or undetermined; usually empty.

    Examples
    --------
    >>> by_mass = co.optimality.gradient(solution, "duration", "mass")
    >>> by_mass["mass of body 'elbow'"] > 0  # s per kg
    True
    """

    value: float
    derivatives: Mapping[str, float]
    units: Mapping[str, str]
    degenerate: tuple[str, ...]

    def __getitem__(self, name: str) -> float:
        if name not in self.derivatives:
            raise unknown_name("number", name, tuple(self.derivatives))
        return self.derivatives[name]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.derivatives)

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> Table:
        lines = [(name, short(value), self.units[name]) for name, value in self.derivatives.items()]
        notes = [f"  {sentence}" for sentence in self.degenerate]
        return Table(f"Gradient of {short(self.value)}", ("number", "derivative", "per"), lines, notes)


@solution_query()
def gradient(
    solution: Solution | PhasesSolution,
    of: Of,
    by: str | Iterable[str] | None = None,
    *,
    t: Any = None,
    weights: Any = None,
) -> Gradient:
    """Gradient of one number that depends on an optimum, by all numbers of its problem at once.

    The number is the cost, the duration, or a weighted sum of a function of the instant at some times. Weights are the
    derivatives of a loss by the values of the function: the result is a vector-Jacobian product. It takes one solution
    with the transposed and factorised conditions of the optimum, however many numbers the problem has.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        An optimum, of a problem with a cost.
    of : "cost", "duration" or callable
        A function takes an instant and returns an SX scalar or column, as for `Sensitivity.evaluate`.
    by : str or sequence of str, optional
        Numbers whose names contain this, or one of these; by default all.
    t : float or shape (N,) [s], optional
        Times of a function, within 0 .. duration; by default the nodes. Times are fixed, even if the duration changes.
    weights : array, shape of the function's values, optional
        One for each value; by default ones.

    Returns
    -------
    Gradient

    Raises
    ------
    InputError
        As for `sensitivity`; and for weights of another shape than the values.

    See Also
    --------
    sensitivity : Derivatives of the whole motion by each number.
    optimum_function : Optima as functions of parameters, with such products.

    Notes
    -----
    Derivatives are those of the motion on its grid, and hold as long as the same bounds are active.
    `Gradient.degenerate` names rows and variables where this is in doubt.

    Examples
    --------
    >>> loss = co.optimality.gradient(solution, lambda now: now.q[0], "mass", t=0.1, weights=2.0)
    >>> bool(abs(loss.value - 2 * solution.at(0.1).q[0]) < 1e-6)
    True
    """
    check_of(of, t, weights)
    table = sensitivity(solution, by)
    numbers = {derivative.name: derivative for derivative in table.derivatives}
    if isinstance(of, str):
        value, derivatives = getattr(solution, of), {name: getattr(d, of) for name, d in numbers.items()}
    else:
        value, derivatives = _of_function(solution, table, of, t, weights)
    return Gradient(float(value), derivatives, {name: d.unit for name, d in numbers.items()}, table.degenerate)


def check_of(of: Of, t: Any = None, weights: Any = None) -> None:
    """Raise InputError unless `of` names a number of a solution, or is a function, for which alone times are given."""
    if not isinstance(of, str):
        function("of", of, "a function of the instant", "now")
    elif of not in ("cost", "duration"):
        raise InputError(f'of must be "cost", "duration" or a function of the instant, got {quoted(of)}')
    elif t is not None or weights is not None:
        raise InputError(f"t and weights belong to a function of the instant, got them for the {of}")


def check_function(solution: Solution | PhasesSolution, fn: Callable[[Instant], Any], t: Any) -> None:
    """Raise InputError for times outside of a solution, and a function that is no scalar or column there."""
    for name, *_ in times_by_phase(solution, None if t is None else np.atleast_1d(finite_array("t", t))):
        phase = solution.nlp.phases[name]
        with error_context("of", phase.problem.model.joint_names):
            several = isinstance(fn(phase.problem.instant), tuple)
        if several:
            raise InputError("of must return a scalar or a column, got a tuple: join its entries by ca.vertcat")
        expression_in(phase, fn)


def _of_function(
    solution: Solution | PhasesSolution, table: Sensitivity, fn: Callable[[Instant], Any], t: Any, weights: Any
) -> tuple[float, dict[str, float]]:
    """The weighted sum of a function's values, and its derivatives by the numbers of a table."""
    check_function(solution, fn, t)
    values = np.asarray(solution.evaluate(fn, t), dtype=float)
    weights = np.ones(values.shape) if weights is None else finite_array("weights", weights)
    if weights.shape != values.shape:
        raise InputError(f"weights must have the shape of the function's values, {values.shape}, got {weights.shape}")
    durations = duration_entries(solution) > 0
    moving = solution.nlp.free_duration or any(move.variables[durations].any() for move in table.moves.values())
    rate = rate_of_samples(solution, table.kkt, fn, t, weights, moving=moving)
    sums = {name: rate.of(move) if table.kkt.agrees(move) else np.nan for name, move in table.moves.items()}
    return float((weights * values).sum()), {name: sums[name] for name in table.names}


def rate_of_samples(
    solution: Solution | PhasesSolution,
    kkt: KKTSystem,
    fn: Callable[[Instant], Any],
    t: Any,
    weights: np.ndarray,
    *,
    moving: bool,
) -> Rate:
    """Derivative of a weighted sum of a function's values at fixed times.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        Its phases contain the times.
    kkt : KKTSystem
    fn, t
        As for `gradient`.
    weights : ndarray, shape of the values
    moving : bool
        Whether durations may change.
    """
    parts = times_by_phase(solution, None if t is None else np.atleast_1d(t))
    rows = weights.reshape(sum(place.size for _, place, _ in parts), -1)
    by_x, by_parameters, earlier = np.zeros(kkt.nlp.n_x), np.zeros(kkt.parameters.size), []
    at = {name: (place, seconds) for name, place, seconds in parts}
    for name, phase in kkt.nlp.phases.items():
        part = solution.nlp.parts[name]
        if name in at:
            place, seconds = at[name]
            samples = Samples(phase, expression_in(phase, fn), seconds, kkt.optimum.x[part], kkt.parameters)
            slope, by_p, start = samples.pulled_back(rows[place], moving=moving)
            by_x[part] += slope
            by_parameters += by_p
            by_x[earlier] += start  # the start is the sum of the durations before
        if solution.problem.in_sequence:
            earlier.append(part.start + int(phase.grid.layout.duration[0]))
    rate = kkt.rate_of(by_x)
    return rate._replace(parameters=rate.parameters + by_parameters)
