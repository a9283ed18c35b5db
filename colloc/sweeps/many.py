"""Many problems of one pattern, in the lanes of vectors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from colloc.solution import PhasesSolution, Solution
from colloc.solution.warm_start import start_from, starts_from
from colloc.solver import Ipopt, Outcome, Start, Status
from colloc.solver.many import prepared_many
from colloc.solver.scaling import run_scale
from colloc.support.checks import InputError, finite_array, instance, spelt, unknown_name
from colloc.support.display import Table, Tabular
from colloc.support.lazy import cached_property
from colloc.support.threads import tracked
from colloc.transcription import NLP, PhasesNLP

_FEW = 4  # problems, below which vectors gain nothing


@dataclass(frozen=True, eq=False, repr=False)
class Many(Tabular, Sequence[Solution | PhasesSolution]):
    """The optima of many problems; an index gives one as a solution.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    parameters : ndarray, shape (K, n_p)
    outcomes : tuple of Outcome
        With the status of the solver, which does not consider the motion between the nodes.
    alone : tuple of int
        Problems that `Ipopt` solved one by one.

    Examples
    --------
    >>> reach = co.Parameter("reach", 1.0)
    >>> ends = [co.initial(q=0, qd=0), co.final(qd=0), co.at(1.0, lambda now: now.q[0] - now.reach, equals=0.0),
    ...     co.at(1.0, lambda now: now.q[1], equals=0.0)]
    >>> swing = co.Problem(two_link(), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends, parameters=[reach])
    >>> many = co.sweeps.solve_many(co.transcribe(swing, co.BSpline(10)), {"reach": np.linspace(0.5, 1.5, 20)})
    >>> many.cost.shape, many[3].status
    ((20,), <Status.SOLVED: 'solved'>)
    """

    nlp: NLP | PhasesNLP
    parameters: np.ndarray
    outcomes: tuple[Outcome, ...]
    alone: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.outcomes)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[number] for number in range(*k.indices(len(self)))]
        if isinstance(self.nlp, NLP):
            return Solution(self.nlp, self.outcomes[k], self.parameters[k])
        return PhasesSolution(self.nlp, self.outcomes[k], self.parameters[k])

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    @property
    def x(self) -> np.ndarray:
        """Decision vectors, shape (K, n_x)."""
        return np.array([outcome.x for outcome in self.outcomes])

    @property
    def status(self) -> tuple[Status, ...]:
        """Status of every problem."""
        return tuple(outcome.status for outcome in self.outcomes)

    @cached_property
    def cost(self) -> np.ndarray:
        """Costs, shape (K,); NaN without an optimum."""
        values = (float(self.nlp.f(o.x, p)) for o, p in zip(self.outcomes, self.parameters, strict=True))
        return np.where(self._solved, np.fromiter(values, float, len(self)), np.nan)

    @cached_property
    def duration(self) -> np.ndarray:
        """Durations [s], shape (K,); NaN without an optimum."""
        parts = ((part.start, self.nlp.phases[name].grid.layout) for name, part in self.nlp.parts.items())
        entries = [start + int(layout.duration[0]) for start, layout in parts]
        return np.where(self._solved, self.x[:, entries].sum(axis=1), np.nan)

    @property
    def _solved(self) -> np.ndarray:
        return np.array([status is Status.SOLVED for status in self.status])

    def _table(self) -> Table:
        counts = Counter(map(str, self.status))
        iterations = [outcome.iterations for outcome in self.outcomes]
        lines = [(status, str(number)) for status, number in counts.most_common()]
        lines.append(("iterations", f"{np.median(iterations):.0f}, at most {max(iterations)}"))
        lines.append(("one by one", str(len(self.alone))))
        return Table(f"Problems: {len(self)}, of {self.nlp.n_x} variables each", ("", ""), lines)


@spelt
@tracked
def solve_many(nlp: NLP | PhasesNLP, parameters: Mapping[str, Any], guesses: Any = None) -> Many:
    """Solve a problem for many values of its parameters at once.

    Programs of one pattern are solved side by side in the lanes of vectors, each with its own step lengths and barrier:
    one analysis of the pattern, functions and factors for several at once. The method is IPOPT's with a monotone
    barrier, and reaches the optima of ``co.Ipopt(mu_strategy="monotone", mu_init=0.1)`` from the same guesses, up to
    rounding. The adaptive barrier, the default for a fixed duration, may lead to another one of several optima.
    Problems that it does not solve are solved by `Ipopt` one by one, and so are all of them without a C compiler and
    for programs without a cost. Motions are on the grid of the program and not judged between its nodes: `solve` those
    that matter.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
        As `transcribe` returns it.
    parameters : mapping of str to array
        K values of some parameters by name, shape (K,) or (K, size). Others keep their defaults.
    guesses : optional
        One guess for all, as in `solve`, such as a solution; or K guesses, such as an earlier `Many`.

    Returns
    -------
    Many

    Raises
    ------
    InputError
        For unknown names and wrong shapes, and for cases of which the largest cost counts.

    See Also
    --------
    sweep : Solves for many values, each judged, refined, and started from its neighbour.

    Examples
    --------
    >>> mass = co.Parameter("payload", 1.0)  # kg
    >>> hand = co.Load("elbow", force=ca.vertcat(0, -9.81 * mass.symbol, 0))
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau))
    >>> lift = co.Problem(two_link(), 1.0, effort, problem.subject_to[:2], parameters=[mass], loads=[hand])
    >>> many = co.sweeps.solve_many(co.transcribe(lift, co.BSpline(20)), {"payload": np.linspace(0.0, 2.0, 100)})
    >>> [round(cost) for cost in many.cost[[0, 99]]]
    [3, 27]
    """
    instance("nlp", nlp, NLP | PhasesNLP, "see co.transcribe")
    if isinstance(nlp, PhasesNLP) and nlp.problem.worst:
        raise InputError(
            f"solve_many minimises sums of costs, and of these cases the largest cost counts (worst="
            f"{nlp.problem.worst:g}): leave worst out, or use co.sweep"
        )
    values = _values(nlp, parameters)
    starts = _starts(nlp, guesses, values)
    x, count = np.array([start.x for start in starts]), len(values)
    outcomes: dict[int, Outcome] = {}
    # At the default values, so that an answer does not depend on those beside it.
    usual = nlp.problem.parameter_values()
    scale = run_scale(nlp, start_from(nlp, None, usual).x, usual)
    solver = prepared_many(nlp, scale.rows) if count >= _FEW and scale.anchor is None else None
    if solver is not None:
        ends = solver(x, values)
        for k in np.flatnonzero(ends.solved).tolist():
            multipliers = {"g": ends.rows[k], "x": ends.variables[k]}
            spent = int(ends.iterations[k])
            own = scale._replace(cost=float(ends.cost[k]))
            outcomes[k] = Outcome(
                ends.x[k], multipliers, Status.SOLVED, "Solve_Succeeded", {}, spent, {}, strategy="many", scale=own
            )
    alone, prepared = [k for k in range(count) if k not in outcomes], Ipopt().prepare(nlp)
    outcomes |= {k: prepared(starts[k], values[k]) for k in alone}
    return Many(nlp, values, tuple(outcomes[k] for k in range(count)), tuple(alone))


def _values(nlp: NLP | PhasesNLP, parameters: Mapping[str, Any]) -> np.ndarray:
    """All parameters of all problems, shape (K, n_p)."""
    given = instance("parameters", parameters, Mapping)
    arrays = {name: np.atleast_1d(finite_array(f"parameter {name!r}", value)) for name, value in given.items()}
    counts = {name: len(array) for name, array in arrays.items()}
    if len(set(counts.values())) != 1 or not min(counts.values()):
        raise InputError(f"parameters must have a value for each problem, all of equal number, got {counts or 'none'}")
    count = next(iter(counts.values()))
    sizes = {p.name: p.value.size for p in next(iter(nlp.problem.phases.values())).all_parameters}
    for name, array in arrays.items():
        if name not in sizes:
            raise unknown_name("parameter", name, tuple(sizes))
        rows = array[:, None] if array.ndim == 1 and sizes[name] == 1 else array
        arrays[name] = finite_array(f"parameter {name!r}", rows, (count, sizes[name]))
    return np.array([nlp.problem.parameter_values({n: rows[k] for n, rows in arrays.items()}) for k in range(count)])


def _starts(nlp: NLP | PhasesNLP, guesses: Any, values: np.ndarray) -> list[Start]:
    """A start for every problem."""
    if isinstance(guesses, list | tuple | Many):
        if len(guesses) != len(values):
            raise InputError(f"guesses must be one for all, or {len(values)}, got {len(guesses)}")
        return [start_from(nlp, guess, p) for guess, p in zip(guesses, values, strict=True)]
    return starts_from(nlp, guesses, values)
