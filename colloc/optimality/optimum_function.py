"""Motions as functions of the numbers of their problem, with derivatives, for learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colloc.optimality.active_set import sharp_optimum
from colloc.optimality.crossover import crossover
from colloc.optimality.gradient import Of, check_function, check_of, rate_of_samples
from colloc.optimality.kkt import DataChange, KKTSystem, Rate
from colloc.optimality.numbers import moves, program_in_numbers
from colloc.optimality.sensitivity import check_optimum, degenerate, duration_entries, fixed_models
from colloc.solution import PhasesSolution, Solution, solution_of
from colloc.solution.solution_query import solution_query
from colloc.solution.solve_error import SolveError
from colloc.solver import Ipopt, Start, Status
from colloc.support.checks import InputError, as_tuple, finite_array, text, unknown_name, warn
from colloc.support.display import short, shown
from colloc.support.lazy import cached_property
from colloc.transcription import BaseNLP
from colloc.transcription.derived_nlp import BoundedNLP

_KEPT = 8  # optima that are kept, among them those whose pull-backs are wanted

Pullback = Callable[[Any], np.ndarray]


@dataclass(frozen=True, eq=False)
class OptimumFunction:
    """Numbers that depend on an optimum, as a function of numbers of its problem; see `optimum_function`.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        The optimum from which all others are found.
    of : "cost", "duration" or callable
    by : tuple of str
        Names of parameters and other numbers.
    t : ndarray, shape (N,) or () [s]
        Times of a function.

    Examples
    --------
    >>> mass = co.Parameter("mass", 1.0)
    >>> push = co.Problem(None, 1.0, co.integral(lambda now: now.force ** 2), [
    ...     co.initial(states={"z": (0.0, 0.0)}), co.final(states={"z": (1.0, 0.0)})],
    ...     [co.Unknown("force"), co.State("z", 2, rate=lambda now: [now.z[1], now.force / now.mass])],
    ...     parameters=[mass])
    >>> effort = co.optimality.optimum_function(co.solve(push), "cost", "mass")
    >>> value, pullback = effort.with_pullback([2.0])
    >>> bool(abs(pullback(1.0) / value - 2 / 2.0) < 1e-6)  # the effort grows with the square of the mass
    True
    """

    solution: Solution | PhasesSolution
    of: Of
    by: tuple[str, ...]
    t: np.ndarray

    @property
    def base(self) -> np.ndarray:
        """The numbers of the solution, one after the other in the order of `by`, shape (n,)."""
        return self._numbers.base

    def __call__(self, parameters: Any) -> np.ndarray:
        """The numbers for other values of the parameters.

        Parameters
        ----------
        parameters : array, shape (n,)
            One after the other, in the order of `by`.

        Returns
        -------
        ndarray
            Of shape () for the cost and the duration, else of the shape of the function's values at the times.

        Raises
        ------
        SolveError
            If the problem with these values has no optimum that can be reached from the solution.
        """
        return self._value(self._optimum(parameters)[0])

    def with_pullback(self, parameters: Any) -> tuple[np.ndarray, Pullback]:
        """The numbers, and the function from weights of these numbers to the derivative of their sum.

        Parameters
        ----------
        parameters : array, shape (n,)

        Returns
        -------
        ndarray
        callable
            Array of the shape of the numbers -> ndarray, shape (n,); NaN where the problem has no solution if one
            parameter changes alone.

        Raises
        ------
        SolveError
            As for a call.

        Warns
        -----
        InputWarning
            If the derivative is one-sided or not unique.
        """
        solution, kkt = self._optimum(parameters)
        value = self._value(solution)
        if sentences := degenerate(kkt):
            warn(f"the derivative of the optimum is in doubt: {'; '.join(sentences)}")

        def pullback(weights: Any) -> np.ndarray:
            pushes = finite_array("weights", weights, value.shape)
            return self._numbers.derivatives(self._rate(solution, kkt, pushes), kkt)

        return value, pullback

    @cached_property
    def _numbers(self) -> _ByParameters | _ByNumbers:
        names = list(self._sizes)
        if all(name in self.solution.problem.parameter_places for name in names):
            return _ByParameters(self.solution, names)
        sizes = self._sizes.items()
        entries = ([name] if size == 1 else [f"{name}[{k}]" for k in range(size)] for name, size in sizes)
        names = [entry for some in entries for entry in some]
        _check_once(names)
        return _ByNumbers(self.solution, names)

    @property
    def _sizes(self) -> dict[str, int]:
        """Sizes by name: of a parameter those of its value."""
        places = self.solution.problem.parameter_places
        return {name: places[name].stop - places[name].start if name in places else 1 for name in self.by}

    def _shown(self, values: np.ndarray) -> str:
        parts = np.split(values, np.cumsum(list(self._sizes.values()))[:-1])
        pairs = zip(self._sizes, parts, strict=True)
        return ", ".join(f"{name} = {shown(list(map(short, part)))}" for name, part in pairs)

    @cached_property
    def _optima(self) -> dict[bytes, tuple[Solution | PhasesSolution, KKTSystem]]:
        return {}

    def _optimum(self, parameters: Any) -> tuple[Solution | PhasesSolution, KKTSystem]:
        """The optimum for other values, and its conditions."""
        values = finite_array("parameters", parameters, self.base.shape)
        if (key := values.tobytes()) not in self._optima:
            while len(self._optima) >= _KEPT:
                del self._optima[next(iter(self._optima))]
            self._optima[key] = self._found(values)
        return self._optima[key]

    def _found(self, values: np.ndarray) -> tuple[Solution | PhasesSolution, KKTSystem]:
        (nlp, p), base, whole = self._numbers.at(values), self.solution, self._numbers.program
        # Always from the same start, so that an answer does not depend on those before.
        outcome = Ipopt().prepare(nlp)(Start(np.clip(base.x, nlp.lower, nlp.upper), base.multipliers), p)
        solution = solution_of(whole, outcome, p)
        if outcome.status is not Status.SOLVED:
            raise SolveError(
                f"no optimum was reached from the solution ({outcome.message}) for {self._shown(values)}; try "
                "co.solve there, or a solution at nearer values",
                solution,
            )
        conditions = crossover(nlp, p, sharp_optimum(solution, nlp))
        return replace(solution, outcome=replace(outcome, x=conditions.optimum.x)), conditions

    def _value(self, solution: Solution | PhasesSolution) -> np.ndarray:
        if isinstance(self.of, str):
            return np.asarray(getattr(solution, self.of), dtype=float)
        return np.asarray(solution.evaluate(self.of, self.t), dtype=float)

    def _rate(self, solution: Solution | PhasesSolution, kkt: KKTSystem, weights: np.ndarray) -> Rate:
        """Derivative of the weighted sum of the numbers."""
        if not isinstance(self.of, str):
            moving = self._numbers.durations_change
            return rate_of_samples(solution, kkt, self.of, self.t, weights, moving=moving)
        rate = kkt.cost_rate if self.of == "cost" else kkt.rate_of(duration_entries(solution))
        return Rate(*(float(weights) * part for part in rate))


def _check_once(names: Sequence[str]) -> None:
    if twice := [name for name in names if names.count(name) > 1]:
        raise InputError(f"by must have every number once, got {twice[0]!r} twice")


class _ByParameters:
    """Parameters of the problem as numbers, shape (n,).

    Parameters
    ----------
    solution : Solution or PhasesSolution
    names : sequence of str
    """

    def __init__(self, solution: Solution | PhasesSolution, names: Sequence[str]):
        places = solution.problem.parameter_places
        self._parameters = solution.parameters
        self._entries = np.concatenate([np.arange(places[name].start, places[name].stop) for name in names])
        self.program, self.base = solution.nlp, self._parameters[self._entries]
        self.durations_change = solution.nlp.free_duration

    def at(self, values: np.ndarray) -> tuple[BaseNLP, np.ndarray]:
        """The program with other numbers, and its parameters."""
        p = self._parameters.copy()
        p[self._entries] = values
        return self.program, p

    def derivatives(self, rate: Rate, kkt: KKTSystem) -> np.ndarray:
        """Derivatives by the numbers, of the optimum with these conditions."""
        values = rate.parameters[self._entries]
        if not kkt.undetermined.size:
            return values
        size = kkt.parameters.size
        still = DataChange(np.zeros(size), np.zeros(kkt.nlp.n_g), np.zeros(kkt.nlp.n_x))
        alone = [still._replace(parameters=row) for row in np.eye(size)[self._entries]]
        return np.where([kkt.agrees(move) for move in alone], values, np.nan)


class _ByNumbers:
    """Masses, lengths, limits, postures, durations and parameters as numbers; the interface of `_ByParameters`."""

    def __init__(self, solution: Solution | PhasesSolution, names: Sequence[str]):
        nlp, optimum, self._solution = solution.nlp, sharp_optimum(solution), solution
        self._whole = program_in_numbers(nlp, solution.parameters, compiled=True)
        self.program, sides = self._whole.nlp, []
        for side in (-1, 1):  # all that a number bounds, active or not
            rows, variables = (np.where(part == 2, 2, side) for part in (optimum.rows, optimum.variables))
            sides.append(moves(nlp, self._whole, replace(optimum, rows=rows, variables=variables)))
        (low, stuck), (high, _) = sides
        for name in names:
            if name in stuck:
                raise InputError(f"{name!r} cannot change alone, since other numbers of the problem determine it")
            if name not in low:
                unknown = unknown_name("number", name, (*solution.problem.parameter_places, *low))
                raise InputError(f"{unknown}{fixed_models(solution)}")
        self._names = names
        self._low, self._high = ([numbers[name][1] for name in names] for numbers in (low, high))
        self.base = np.array([low[name][0].value for name in names])
        bounds = zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True)
        self._bounded = BoundedNLP(self.program, *(np.append(*pair) for pair in bounds))
        entries = duration_entries(solution) > 0
        self.durations_change = nlp.free_duration or any(move.variables[entries].any() for move in self._low)

    def at(self, values: np.ndarray) -> tuple[BaseNLP, np.ndarray]:
        p, low, high = self._whole.parameters.copy(), self._bounded.low.copy(), self._bounded.high.copy()
        for step, lower, upper in zip(values - self.base, self._low, self._high, strict=True):
            p += step * lower.parameters
            low += step * np.append(lower.rows, lower.variables)
            high += step * np.append(upper.rows, upper.variables)
        return self._bounded.with_bounds(low, high), p

    def derivatives(self, rate: Rate, kkt: KKTSystem) -> np.ndarray:
        numbers, _ = moves(self._solution.nlp, self._whole, kkt.optimum)
        active = [numbers[name][1] for name in self._names]
        return np.array([rate.of(move) if kkt.agrees(move) else np.nan for move in active])


@solution_query()
def optimum_function(
    solution: Solution | PhasesSolution, of: Of, by: str | Iterable[str], t: Any = None
) -> OptimumFunction:
    """Numbers that depend on an optimum, as a function of numbers of its problem, with derivatives.

    A call solves the problem for other values, from the solution and on its grid, without a judgement between the
    nodes: `solve` the problem for values that matter. `torch_function` and `jax_function` make it a layer of a network.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        An optimum, of a problem with a cost.
    of : "cost", "duration" or callable
        A function takes an instant and returns an SX scalar or column.
    by : str or sequence of str
        Names of parameters of the problem (`Parameter`), which are fastest, and of other numbers as `sensitivity` lists
        them: ``"mass of body 'elbow'"``, ``"tau[elbow] upper"``, ``"final q[elbow]"``.
    t : float or shape (N,) [s], optional
        Times of a function, fixed even if the duration changes; by default the nodes of the solution.

    Returns
    -------
    OptimumFunction

    Raises
    ------
    InputError
        For a solution that is no optimum, or has no cost; for a name that no number has, one that comes twice, and a
        number that cannot change alone; for times outside of the solution; for costs in order of importance, and cases
        of which the largest cost counts.

    See Also
    --------
    gradient : The gradient at one solution, by all numbers of its problem.
    sweep : Solves for many values, each judged.

    Examples
    --------
    >>> goal = co.Parameter("goal", (1.0, -1.0))
    >>> reach = co.Problem(two_link(), 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [
    ...     co.initial(q=(0.0, -2.0), qd=0.0), co.final(qd=0.0), co.at(1.0, lambda now: now.q - now.goal, equals=0.0),
    ...     co.bounds(tau=(-12.0, 12.0))], parameters=[goal])
    >>> effort = co.optimality.optimum_function(co.solve(reach, co.BSpline(20)), "cost", "goal")
    >>> value, pullback = effort.with_pullback([1.1, -1.0])
    >>> pullback(1.0).shape
    (2,)
    """
    check_optimum(solution)
    check_of(of, t)
    names = tuple(text("by", name) for name in ((by,) if isinstance(by, str) else as_tuple("by", by)))
    if not names:
        raise InputError("by must be the name of a number, or a sequence of such, got none")
    _check_once(names)
    if solution.ordered is not None:
        raise InputError(
            "the optimum of a list of costs depends on those of all its levels: solve a problem with one cost, such as "
            "their weighted sum"
        )
    if isinstance(solution, PhasesSolution) and solution.problem.worst:
        raise InputError(
            f"cases of which the largest cost counts (worst={solution.problem.worst:g}) have other weights at other "
            "numbers: leave worst out, or solve for every number by co.solve"
        )
    function = OptimumFunction(solution, of, names, solution.t if t is None else finite_array("t", t))
    if not isinstance(of, str):
        check_function(solution, of, function.t)
    _ = function.base  # raises for names that no number has
    return function
