"""The protocol of solvers: prepared once for a program, then run from one start after another."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from colloc.solver.progress import OnIteration
from colloc.support.checks import InputError, quoted
from colloc.transcription import BaseNLP

FOR_ONE_RUN = 1e-2  # tolerance by which the answer of a single run is judged


class Status(StrEnum):
    """How a solve ended. Only `SOLVED` is success.

    `SADDLE` is what is stationary where the cost falls beside it, and no start there has led to an optimum.
    `INFEASIBLE` is proved: see `SeekFeasible` in `colloc.refinement`. What a solver alone calls infeasible, which holds
    near its last iterate and on its grid, is `NOT_FOUND`.

    Examples
    --------
    >>> solution.status
    <Status.SOLVED: 'solved'>
    >>> solution.status is co.solver.Status.SOLVED
    True
    """

    SOLVED = "solved"
    VIOLATED = "violated between nodes"
    COARSE = "too coarse a grid"
    ACCEPTABLE = "solved to acceptable level only"
    SADDLE = "saddle"
    INFEASIBLE = "infeasible"
    NOT_FOUND = "no feasible motion found"
    ITERATION_LIMIT = "iteration limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"
    DIVERGED = "diverged"
    FAILED = "failed"


class Scale(NamedTuple):
    """Divisors of the cost and of the rows in a run.

    Parameters
    ----------
    cost : float
        In the cost's own unit.
    rows : ndarray, shape (n_g,)
        Of every constraint row, in its own unit.
    anchor : ndarray, shape (n_x,), optional
        Point the squared distance to which, in variables of natural size, is minimised where the cost is constant.

    Examples
    --------
    >>> solution.outcome.scale.rows.shape == (solution.nlp.n_g,)
    True
    """

    cost: float
    rows: np.ndarray
    anchor: np.ndarray | None = None


class Start(NamedTuple):
    """A decision vector to start from, and what is known of it.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Within the bounds of the variables.
    multipliers : mapping of str to ndarray, optional
        "g" of the constraint rows and "x" of the variable bounds, of an optimum close by.
    near_optimum : bool
        Whether x is an optimum of the same problem on another grid.
    bounds : (ndarray, ndarray), optional
        Narrower lower and upper bounds of the variables, none of which they fix: a trust region around an optimum.
    scale : Scale, optional
        That of an earlier run (`Outcome.scale`), to be kept; by default it is taken from x.

    Examples
    --------
    >>> again = co.solver.Start(solution.x, solution.multipliers)
    >>> prepared = co.Ipopt().prepare(solution.nlp)
    >>> prepared(again, solution.parameters).status
    <Status.SOLVED: 'solved'>
    """

    x: np.ndarray
    multipliers: Mapping[str, np.ndarray] | None = None
    near_optimum: bool = False
    bounds: tuple[np.ndarray, np.ndarray] | None = None
    scale: Scale | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """The end of a run, in the NLP's own (unscaled) units.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Decision vector.
    multipliers : dict of str to ndarray
        "g" of the constraint rows and "x" of the variable bounds; CasADi's signs (positive at an upper bound).
    status : Status
        What the solver says; it knows nothing of what happens between the nodes.
    message : str
        The solver's own words.
    history : dict of str to list of float
        Its record of every iteration: cost, infeasibility (primal) and stationarity (dual infeasibility) in its own
        scaled variables, and what else it has.
        Runs of several strategies stand one after the other.
    iterations : int
        Those of all runs; 0 where the solver could not begin.
    seconds : dict of str to float
        Wall time: "solve", of which "callbacks" in functions and derivatives; "build" before.
    tolerance : float
        Largest error between nodes, relative, of an answer that counts as solved.
    cost_tolerance : float
        The same of the cost alone.
    strategy : str
        How the solver came to this end, where it may try several ways: "monotone barrier", say.
    scale : Scale, optional
        By which the program was divided, for a later run; it is not stored in files.

    Examples
    --------
    >>> solution.outcome.message
    'Solve_Succeeded'
    """

    x: np.ndarray
    multipliers: dict[str, np.ndarray]
    status: Status
    message: str
    history: dict[str, list[float]]
    iterations: int
    seconds: dict[str, float]
    tolerance: float = FOR_ONE_RUN
    cost_tolerance: float = FOR_ONE_RUN
    strategy: str = ""
    scale: Scale | None = None

    @property
    def judges_motion(self) -> bool:
        """Whether what happens between the nodes counts: not where errors as large as the motion are tolerated."""
        return self.tolerance < 1.0

    @property
    def judges_cost(self) -> bool:
        """Whether the distance from the best motion counts: not where as much as the whole cost is tolerated."""
        return self.cost_tolerance < 1.0


class PreparedSolver(Protocol):
    """A solver that is ready for one program, and is run from one start after another.

    Examples
    --------
    >>> prepared = co.Ipopt().prepare(solution.nlp)
    >>> prepared(co.solver.Start(solution.x), solution.parameters, seconds=10.0).status
    <Status.SOLVED: 'solved'>
    """

    def __call__(
        self,
        start: Start,
        parameters: np.ndarray,
        on_iteration: OnIteration | None = None,
        /,
        *,
        seconds: float = np.inf,
    ) -> Outcome:
        """The end of a run.

        Parameters
        ----------
        start : Start
        parameters : ndarray
        on_iteration : callable, optional
            To be called with an `Iterate` at every iteration; what it raises ends the run and is raised.
        seconds : float
            Time limit of the run, which then ends with its best iterate and `Status.TIME_LIMIT`.
        """
        ...


@runtime_checkable
class Solver(Protocol):
    """An object that solves nonlinear programs, as `solve` and its relatives take it, with these two methods.

    `Nlpsol` runs any solver that CasADi knows, scaled and watched, so that a class of some twenty lines is a solver.
    A sweep on several processes pickles it.

    Examples
    --------
    >>> isinstance(co.Ipopt(max_iter=500), co.solver.Solver)
    True
    """

    def prepare(self, nlp: BaseNLP, /) -> PreparedSolver:
        """This solver, ready for a program, for runs from many starts.

        Parameters
        ----------
        nlp : NLP or PhasesNLP
            Minimise its f over x, lower <= x <= upper and bounds_g of its g, all functions of (x, parameters).
        """
        ...

    def limited(self, *, iterations: int) -> Solver:
        """The solver for one run of many.

        Parameters
        ----------
        iterations : int
            Where a run gives up, with `Status.ITERATION_LIMIT`, unless its user has set a limit.
        """
        ...


def check_solver(solver: object) -> Solver:
    """A solver as users give it; InputError for anything else."""
    if isinstance(solver, type) or not isinstance(solver, Solver):
        raise InputError(
            f"solver must be a solver, such as co.Ipopt(max_iter=500) or what has its methods, got {quoted(solver)}"
        )
    return solver
