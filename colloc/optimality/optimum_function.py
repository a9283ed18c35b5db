"""Motions as functions of the parameters of their problem, with derivatives, for learning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from colloc.optimality.active_set import sharp_optimum
from colloc.optimality.crossover import crossover
from colloc.optimality.gradient import Of, check_of, rate_of_samples
from colloc.optimality.kkt import KKTSystem, Rate
from colloc.optimality.sensitivity import check_optimum, degenerate, duration_entries
from colloc.solution import PhasesSolution, Solution
from colloc.solution.solution_query import solution_query
from colloc.solution.solve_error import SolveError
from colloc.solver import Ipopt, Start, Status
from colloc.support.checks import InputError, as_tuple, finite_array, text, unknown_name, warn
from colloc.support.display import short, shown
from colloc.support.lazy import cached_property

_KEPT = 8  # optima that are kept, among them those whose pull-backs are wanted

Pullback = Callable[[Any], np.ndarray]


@dataclass(frozen=True, eq=False)
class OptimumFunction:
    """Numbers that depend on an optimum, as a function of parameters of its problem; see `optimum_function`.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        The optimum from which all others are found.
    of : "cost", "duration" or callable
    by : tuple of str
        Names of parameters.
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
        """The parameters of the solution, one after the other in the order of `by`, shape (n,)."""
        return self.solution.parameters[self._entries]

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
            Array of the shape of the numbers -> ndarray, shape (n,).

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
            return self._rate(solution, kkt, pushes).parameters[self._entries]

        return value, pullback

    @cached_property
    def _places(self) -> dict[str, slice]:
        """Entries of each parameter in those of the problem."""
        places = self.solution.problem.parameter_places
        for name in self.by:
            if name not in places:
                raise unknown_name("parameter", name, tuple(places))
        return {name: places[name] for name in self.by}

    @cached_property
    def _entries(self) -> np.ndarray:
        return np.concatenate([np.arange(place.start, place.stop) for place in self._places.values()])

    @cached_property
    def _optima(self) -> dict[bytes, tuple[Solution | PhasesSolution, KKTSystem]]:
        return {}

    @cached_property
    def _prepared(self) -> Any:
        return Ipopt().prepare(self.solution.nlp)

    def _optimum(self, parameters: Any) -> tuple[Solution | PhasesSolution, KKTSystem]:
        """The optimum for other values, and its conditions."""
        values = finite_array("parameters", parameters, self._entries.shape)
        if (key := values.tobytes()) not in self._optima:
            while len(self._optima) >= _KEPT:
                del self._optima[next(iter(self._optima))]
            self._optima[key] = self._found(values)
        return self._optima[key]

    def _found(self, values: np.ndarray) -> tuple[Solution | PhasesSolution, KKTSystem]:
        base, nlp = self.solution, self.solution.nlp
        p = base.parameters.copy()
        p[self._entries] = values
        # Always from the same start, so that an answer does not depend on those before.
        outcome = self._prepared(Start(np.clip(base.x, nlp.lower, nlp.upper), base.multipliers), p)
        if outcome.status is not Status.SOLVED:
            raise SolveError(
                f"no optimum was reached from the solution ({outcome.message}) for {self._shown(values)}; try "
                "co.solve there, or a solution at nearer values",
                replace(base, outcome=outcome, parameters=p),
            )
        conditions = crossover(nlp, p, sharp_optimum(replace(base, outcome=outcome, parameters=p)))
        sharp = replace(outcome, x=conditions.optimum.x)
        return replace(base, outcome=sharp, parameters=p), conditions

    def _shown(self, values: np.ndarray) -> str:
        sizes = [place.stop - place.start for place in self._places.values()]
        parts = np.split(values, np.cumsum(sizes)[:-1])
        return ", ".join(f"{name} = {shown(list(map(short, part)))}" for name, part in zip(self.by, parts, strict=True))

    def _value(self, solution: Solution | PhasesSolution) -> np.ndarray:
        if isinstance(self.of, str):
            return np.asarray(getattr(solution, self.of), dtype=float)
        return np.asarray(solution.evaluate(self.of, self.t), dtype=float)

    def _rate(self, solution: Solution | PhasesSolution, kkt: KKTSystem, weights: np.ndarray) -> Rate:
        """Derivative of the weighted sum of the numbers."""
        if not isinstance(self.of, str):
            moving = solution.nlp.free_duration
            return rate_of_samples(solution, kkt, self.of, self.t, weights, moving=moving)
        rate = kkt.cost_rate if self.of == "cost" else kkt.rate_of(duration_entries(solution))
        return Rate(*(float(weights) * part for part in rate))


@solution_query()
def optimum_function(
    solution: Solution | PhasesSolution, of: Of, by: str | Iterable[str], t: Any = None
) -> OptimumFunction:
    """Numbers that depend on an optimum, as a function of parameters of its problem, with derivatives.

    A call solves the problem for other values, from the solution and on its grid, without a judgement between the
    nodes: `solve` the problem for values that matter. `torch_function` and `jax_function` make it a layer of a network.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        An optimum, of a problem with a cost.
    of : "cost", "duration" or callable
        A function takes an instant and returns an SX scalar or column.
    by : str or sequence of str
        Names of parameters of the problem (`Parameter`): masses, goals, weights of a cost.
    t : float or shape (N,) [s], optional
        Times of a function, fixed even if the duration changes; by default the nodes of the solution.

    Returns
    -------
    OptimumFunction

    Raises
    ------
    InputError
        For a solution that is no optimum, or has no cost; for a name that no parameter has.

    See Also
    --------
    gradient : The gradient at one solution, by masses, lengths and limits too.
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
        raise InputError("by must be the name of a parameter, or a sequence of such, got none")
    function = OptimumFunction(solution, of, names, solution.t if t is None else finite_array("t", t))
    _ = function.base  # raises for names that no parameter has
    return function
