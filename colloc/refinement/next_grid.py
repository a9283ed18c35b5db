"""The next grid: intervals of a solution are split or their degree is raised where necessary.

An interval is split in three if its error is above the tolerance. While the cost still changes, intervals are also
split that make up nine tenths (the marking of Doerfler 1996) of the possible gain on richer splines (`CostGap`): by
limits that are not reached on a whole interval, as at switches, which a grid encloses, and ripples below a bound; and
by motions that the curve cannot represent. If there is nothing to gain, or an iteration has gained nothing, all
intervals are split in two, because only a finer grid shows that a cost has converged. Each curve has its own way to
become finer (`Transcription.finer`): a `BSpline` may have jumps of the acceleration at new breakpoints of the first
kind, as switches do, and `Radau` a higher degree where the motion is smooth.

Neighbours with errors far below the tolerance are not joined again, and degrees of B-splines are not raised: on the
classic problems and the two-link time optimum (54 refinements, of which 52 are solved) joining saves 6 % of the
variables and no time, and of degrees 3, 4, 5 and 7 the default, 4, takes the fewest variables and seconds.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from colloc.curves import Transcription
from colloc.errors.local import LocalError
from colloc.problem.divided import indivisible
from colloc.solution.phases import PhasesSolution
from colloc.solution.refinement_round import RefinementRound
from colloc.solution.solution import Solution
from colloc.transcription import NLP, PhasesNLP, on_curves

PIECES = 3  # parts into which an interval with too large an error is split
NARROWEST = 1e-4  # of the duration: on narrower intervals switches cannot be distinguished from rounding
_NARROWEST_WITHOUT_LIMITS = 1e-8  # of the duration, without limits: layers at the ends of a long motion
_SHARE = 0.9  # fraction of the possible gain that an iteration aims at


def round_of(solution: Solution | PhasesSolution) -> RefinementRound:
    """The record of a solution as a refinement iteration."""
    seconds = solution.seconds.get("build", 0.0) + solution.seconds["solve"]
    return RefinementRound(
        solution.curve, solution.nlp.n_x, solution.cost, float(solution.error), seconds, solution.iterations
    )


def has_settled(solution: Solution | PhasesSolution, tol: float) -> bool:
    """Whether the cost has settled: in an iteration after which bounds have little to gain, or in a further one."""
    if solution.cost_change > tol:
        return False
    costs = [round.cost for round in solution.rounds]
    twice = len(costs) > 2 and abs(costs[-2] - costs[-3]) <= tol * solution.cost_scale
    return twice or is_near_best(solution, tol)


def is_near_best(solution: Solution | PhasesSolution, tol: float) -> bool:
    """Whether the cost exceeds the optimum by at most `tol`, relative, by estimates alone.

    Errors of states may hide a part of the excess. Where states are, a cost that has changed by more than the error of
    the grid before has gone to another basin, and estimates are not trusted.
    """
    error = solution.error["cost"]
    if not any(phase.problem.states for phase in solution.phases.values()):
        return error.total <= tol
    rounds = solution.rounds
    foreseen = len(rounds) < 2 or solution.cost_change <= max(tol, rounds[-2].error)
    return foreseen and error.total + error.hidden <= tol


def missed(error: LocalError, tol: float) -> bool:
    """Whether a source of error exceeds its aim for a tolerance."""
    return any(source.total > source.aim(tol) for source in error.sources.values())


def held_up_by_limits(solution: Solution) -> bool:
    """Whether limits that become active or inactive inside intervals make up more than half of the possible gain, in a
    problem that can be divided into arcs.
    """
    gain, problem = solution.error["cost"], solution.problem
    decisive = gain.limits.sum() > gain.per_interval.sum() / 2
    return decisive and not problem.needs_rates and not indivisible(problem)


def next_nlp(solution: Solution | PhasesSolution, tol: float, *, settled: bool) -> NLP | PhasesNLP | None:
    """The program on finer grids where necessary; None if no grid can be refined."""
    change, error = solution.cost_change, solution.error
    # If sources are small enough separately, but not together, each may have its part.
    limit = tol if missed(error, tol) or float(error) <= tol else tol / len(error.totals)
    finer = {name: next_curve(phase, tol, limit, change, settled=settled) for name, phase in solution.phases.items()}
    return _with_curves(solution, finer)


def _with_curves(
    solution: Solution | PhasesSolution, curves: Mapping[str, Transcription | None]
) -> NLP | PhasesNLP | None:
    """The program on other curves, by phase; None without any."""
    if not any(curves.values()):
        return None
    return on_curves(solution.nlp, {name: curves[name] or curve for name, curve in solution.nlp.curves.items()})


def halved(solution: Solution | PhasesSolution) -> NLP | PhasesNLP | None:
    """The program with all intervals split in two; None if they are too narrow."""
    finer = {name: _finer(phase, np.full(_widths(phase).size, 2)) for name, phase in solution.phases.items()}
    return _with_curves(solution, finer)


def next_curve(solution: Solution, tol: float, limit: float, change: float, *, settled: bool) -> Transcription | None:
    """A finer curve for a solution; None if all intervals in question are too narrow.

    Parameters
    ----------
    solution : Solution
    tol : float
        Largest error of the motion, all sources together.
    limit : float
        Largest error of one source.
    change : float
        Relative change of the cost in the last iteration.
    settled : bool
        Whether the cost no longer changes.
    """
    error = solution.error
    pieces = np.ones(_widths(solution).size, dtype=int)
    for source in error.sources.values():
        aim = source.aim(limit)
        if source.total > aim:
            # Errors that add up must be small everywhere, others below the tolerance.
            values = source.per_interval
            pieces[values > (aim if values.max() > aim else aim / values.size)] = PIECES
    switching = np.zeros(pieces.size, dtype=bool)
    if not settled:
        gain, by_limits = error.cost, error["cost"].limits
        if gain.sum() > tol / 10:
            order = np.argsort(-gain)
            marked = order[: 1 + np.searchsorted(np.cumsum(gain[order]), _SHARE * gain.sum())]
            pieces[marked] = PIECES
            switching[marked] = by_limits[marked] >= gain[marked] / 2
        if (pieces == 1).all() or change <= tol:
            pieces = np.maximum(pieces, 2)
    return _finer(solution, pieces, switching, smooth=error.bounds <= tol)


def _widths(solution: Solution) -> np.ndarray:
    """Widths of all intervals, as fractions of the duration."""
    return np.diff(solution.nlp.grid.breakpoints)


def _has_limits(nlp: NLP) -> bool:
    """Whether there are bounds or inequalities, which may become active or inactive."""
    bounded = np.isfinite(nlp.lower) | np.isfinite(nlp.upper)
    lower, upper = nlp.bounds_g
    return bool((bounded & (nlp.lower < nlp.upper)).any() or (lower < upper).any())


def _finer(
    solution: Solution, pieces: np.ndarray, switching: np.ndarray | None = None, smooth: np.ndarray | None = None
) -> Transcription | None:
    """The curve of a solution with its intervals split; None if all are too narrow.

    Parameters
    ----------
    solution : Solution
    pieces : ndarray of int, shape (intervals,)
    switching, smooth : ndarray of bool, shape (intervals,), optional
        Intervals in which accelerations may jump at new breakpoints, and in which a higher degree may replace more
        intervals; none by default.
    """
    narrowest = NARROWEST if _has_limits(solution.nlp) else _NARROWEST_WITHOUT_LIMITS
    pieces = np.where(_widths(solution) / pieces < narrowest, 1, pieces)
    if (pieces == 1).all():
        return None
    nowhere = np.zeros(pieces.size, dtype=bool)
    jumps = nowhere if switching is None or solution.problem.needs_rates else switching
    return solution.curve.finer(pieces, nowhere if smooth is None else smooth, jumps)
