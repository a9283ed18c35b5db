"""The protocol of solvers: prepared once for a program, then run from several starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from colloc.solver.progress import OnIteration
from colloc.support.checks import InputError, quoted
from colloc.transcription import BaseNLP

FOR_ONE_RUN = 1e-2  # tolerance of the solution of a single run


class Status(StrEnum):
    """The end of a solve. Only `SOLVED` is success.

    `SADDLE` is a stationary motion with a direction of descent, from which no start reached an optimum. `INFEASIBLE` is
    based on the evidence of `SeekFeasible` in `colloc.refinement`. If only a solver reports infeasibility, which holds
    near its last iterate and on its grid, the status is `NOT_FOUND`.

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
        In the unit of the cost.
    rows : ndarray, shape (n_g,)
        Scale of every constraint row, in its unit.
    anchor : ndarray, shape (n_x,), optional
        Point from which the squared distance, in variables of natural size, is minimised if the cost is constant.

    Examples
    --------
    >>> solution.outcome.scale.rows.shape == (solution.nlp.n_g,)
    True
    """

    cost: float
    rows: np.ndarray
    anchor: np.ndarray | None = None


class Start(NamedTuple):
    """A decision vector to start from, with optional further data.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Within the bounds of the variables.
    multipliers : mapping of str to ndarray, optional
        "g" of the constraint rows and "x" of the variable bounds, of an optimum nearby.
    near_optimum : bool
        Whether x is an optimum of the same problem on another grid.
    bounds : (ndarray, ndarray), optional
        Narrower lower and upper bounds that fix no variable: a trust region around an optimum.
    scale : Scale, optional
        Scale of an earlier run (`Outcome.scale`); by default computed at x.

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
    """Result of a run, in the unscaled units of the NLP.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Decision vector.
    multipliers : dict of str to ndarray
        "g" of the constraint rows and "x" of the variable bounds; CasADi's signs (positive at an upper bound).
    status : Status
        Status from the solver, which does not consider the motion between the nodes.
    message : str
        Message of the solver.
    history : dict of str to list of float
        Record of every iteration: cost, infeasibility (primal) and stationarity (dual infeasibility) in scaled
        variables, and further entries of the solver. Runs of several strategies are concatenated.
    iterations : int
        Iterations of all runs; 0 if the solver could not begin.
    seconds : dict of str to float
        Wall time: "solve", of which "callbacks" in functions and derivatives; "build" before.
    tolerance : float
        Largest error between nodes, relative, of an answer that counts as solved.
    cost_tolerance : float
        The tolerance of the cost.
    strategy : str
        Strategy of a solver that may try several, such as "adaptive barrier".
    scale : Scale, optional
        Scale of the program, for a later run; not stored in files.
    weights : tuple of float
        Weights of cases with whose sum the motion is optimal, where the largest cost counts.
    best : tuple of ndarray, shape (n_x,)
        Best iterates of runs that ended at the iteration limit, whose last ones may be worse; not stored in files.

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
    weights: tuple[float, ...] = ()
    best: tuple[np.ndarray, ...] = ()

    @property
    def judges_motion(self) -> bool:
        """Whether the motion between the nodes is judged: not if errors as large as the motion are tolerated."""
        return self.tolerance < 1.0

    @property
    def judges_cost(self) -> bool:
        """Whether the distance from the best cost is judged: not if an error as large as the cost is tolerated."""
        return self.cost_tolerance < 1.0


class PreparedSolver(Protocol):
    """A solver prepared for one program, which is run from several starts.

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
        """Run the solver.

        Parameters
        ----------
        start : Start
        parameters : ndarray
        on_iteration : callable, optional
            Called with an `Iterate` at every iteration; an error that it raises ends the run and is raised again.
        seconds : float
            Time limit of the run, which then ends with its best iterate and `Status.TIME_LIMIT`.
        """
        ...


@runtime_checkable
class Solver(Protocol):
    """An object that solves nonlinear programs for `solve`, `sweep` and `multistart`, with these two methods.

    `Nlpsol` runs any CasADi solver, with scaling and monitoring, so that about twenty lines make a solver. A sweep on
    several processes pickles it.

    Examples
    --------
    >>> isinstance(co.Ipopt(max_iter=500), co.solver.Solver)
    True
    """

    def prepare(self, nlp: BaseNLP, /) -> PreparedSolver:
        """Prepare the solver for a program, for runs from many starts.

        Parameters
        ----------
        nlp : NLP or PhasesNLP
            The program: minimise f over x, with lower <= x <= upper and bounds_g on g, all functions of (x,
            parameters).
        """
        ...

    def limited(self, *, iterations: int) -> Solver:
        """The solver with a limit of iterations, for one run of many.

        Parameters
        ----------
        iterations : int
            Limit of a run, which ends with `Status.ITERATION_LIMIT`, unless the user has set one.
        """
        ...


def check_solver(solver: object) -> Solver:
    """Return the argument `solver` of users; raise InputError for anything else."""
    if isinstance(solver, type) or not isinstance(solver, Solver):
        raise InputError(
            f"solver must be a solver, such as co.Ipopt(max_iter=500), or have its methods, got {quoted(solver)}"
        )
    return solver
