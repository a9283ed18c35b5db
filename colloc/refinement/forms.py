"""Forms in which a program is solved: in its own variables, or with torques as additional variables.

If squares of torques are minimised and joints are passive, lifted programs need a fifth to two thirds of the
iterations. If all joints are driven, most programs are as fast in compact form; the others reach the same optimum in
fewer iterations if they continue lifted. Time-optimal motions gain nothing, and with contact lifted programs need more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import casadi as ca
import numpy as np

from colloc.solver import Hessian, Ipopt, Outcome, Scale, Solver, Start, Status
from colloc.transcription import BaseNLP, PhasesNLP
from colloc.transcription.lifted import LiftedNLP, torques_to_lift

FORMS = ("auto", "compact", "lifted", "race")
PATIENCE = 300  # largest number of iterations of a lifted program
_QUICK = 30  # iterations after which most motions of driven joints have converged, and others are near their optimum
_CUT_SHORT = (Status.INTERRUPTED, Status.TIME_LIMIT)
# Fraction of the guess's torques with which a lifted program starts. With all of them, a bad guess gives large initial
# multipliers and a less convex Lagrangian: over 45 mechanisms the median is 30 iterations, 12 end costlier than in
# compact form and 13 cheaper. With half it is 23, 7 and 11, with none 22, 11 and 14.
_SHARE = 0.5
# Tolerance of rows, as in IPOPT, and of slopes, in which errors of multipliers of lifted torques add up: with a slope
# of 1e-6 the cost could gain some 1e-12.
_TOL, _SLOPE = 1e-8, 1e-6
_MEAN = 100.0  # mean size of multipliers above which the tolerance grows with them, as in IPOPT

EndOf = Callable[[Solver, BaseNLP, Start], Outcome]


def ends_in_form(form: str, solver: Solver, nlp: BaseNLP, start: Start, p: np.ndarray, end_of: EndOf) -> list[Outcome]:
    """The outcome of a program in its own variables, then those of other runs, earlier or worse.

    Parameters
    ----------
    form : "auto", "compact", "lifted" or "race"
    solver : Solver
    nlp : BaseNLP
    start : Start
        With multipliers, or within a trust region, the program is solved in compact form.
    p : ndarray, shape (n_p,)
    end_of : callable
        Function of (solver, program, start) that returns the outcome of a run.
    """
    known = start.multipliers is not None or start.bounds is not None
    if form == "compact" or known or not any(map(torques_to_lift, (*nlp.costs, *nlp.constraints))):
        return [end_of(solver, nlp, start)]
    earlier, first = [], start
    if form == "auto":
        if not (is_exact(solver) and minimises_squared_torques(nlp)):
            return [end_of(solver, nlp, start)]
        if not is_underactuated(nlp):
            compact = end_of(solver.limited(iterations=_QUICK), nlp, start)
            if compact.status is not Status.ITERATION_LIMIT or compact.iterations < _QUICK:
                return [compact]
            earlier, first = [compact], start._replace(x=compact.x)
    lifted = [*_lifted_ends(solver, nlp, first, p, end_of), *earlier]
    status, iterations = lifted[0].status, lifted[0].iterations
    limited = status is Status.ITERATION_LIMIT and iterations < PATIENCE
    if status in _CUT_SHORT or limited or (status is Status.SOLVED and form != "race"):
        return lifted
    compact = end_of(solver, nlp, start)
    if status is not Status.SOLVED and compact.status in (*_CUT_SHORT, Status.INFEASIBLE, Status.NOT_FOUND):
        return [compact, *lifted]
    ends = sorted((compact, lifted[0]), key=lambda end: (end.status is not Status.SOLVED, float(nlp.f(end.x, p))))
    return ends + lifted[1:]


def is_exact(solver: Solver) -> bool:
    """Whether a solver is IPOPT with exact second derivatives, for which lifting was measured to help."""
    return isinstance(solver, Ipopt) and solver.hessian is Hessian.EXACT


def is_underactuated(nlp: BaseNLP) -> bool:
    """Whether the torque of a joint is prescribed along a motion, such as zero for a passive joint."""
    return any(phase.problem.fixed_torques for phase in nlp.phases.values())


def minimises_squared_torques(nlp: BaseNLP) -> bool:
    """Whether squares of torques are minimised, but not time, without loads that depend on the motion.

    Loads such as contact, and muscles, make torques stiff functions of the motion.
    """
    problems = [phase.problem for phase in nlp.phases.values()]
    sums = [*problems, *([nlp.problem] if isinstance(nlp, PhasesNLP) else [])]
    if any(term.fn is None for problem in sums for term in problem.minimize.terms):
        return False
    for problem in problems:
        now = problem.instant
        motion = ca.vertcat(now.q, now.qd, now.qdd, now.slots.signals, now.slots.states)
        if any(ca.depends_on(load.wrench, motion) for load in problem.wrenches):
            return False
    return any(block.weights is not None and torques_to_lift(block) for block in nlp.costs)


def _lifted_ends(solver: Solver, nlp: BaseNLP, start: Start, p: np.ndarray, end_of: EndOf) -> list[Outcome]:
    """The outcome of the lifted program in terms of the original one, then the outcome before confirmation, if any."""
    lifted = LiftedNLP.at(nlp, start.x, p)
    first = lifted.start(start.x, p, 1.0 if start.near_optimum else _SHARE)
    end = end_of(solver.limited(iterations=PATIENCE), lifted, start._replace(x=first, scale=None))
    x, multipliers = lifted.compact(end.x, end.multipliers)
    scale = None if end.scale is None else Scale(end.scale.cost, end.scale.rows[: nlp.n_g])
    strategy = f"{end.strategy}, lifted torques"
    best = tuple(lifted.compact(point, end.multipliers)[0] for point in end.best)
    end = replace(end, x=x, multipliers=multipliers, scale=scale, strategy=strategy, best=best)
    if end.status is not Status.SOLVED or _is_optimum(nlp, end, p):
        return [end]
    again = end_of(solver, nlp, Start(end.x, end.multipliers, scale=end.scale))
    if again.status is not Status.SOLVED:
        return [end if again.status in _CUT_SHORT else again, end]
    history = {name: end.history[name] + again.history[name] for name in end.history.keys() & again.history.keys()}
    return [replace(again, strategy=end.strategy, history=history), end]


def _is_optimum(nlp: BaseNLP, end: Outcome, p: np.ndarray) -> bool:
    """Whether stationarity and rows hold within the tolerances of IPOPT."""
    if end.scale is None:
        return False
    _, slope = nlp.grad_f(end.x, p)
    values, jacobian = nlp.jac_g(end.x, p)
    multipliers = end.multipliers["g"]
    gradient = np.array(slope + jacobian.T @ multipliers).ravel() + end.multipliers["x"]
    rows, (low, high) = np.array(values).ravel(), nlp.bounds_g
    off = np.maximum(low - rows, rows - high) / end.scale.rows
    sizes = np.abs(np.append(multipliers * end.scale.rows, end.multipliers["x"] * nlp.scale_x)) / end.scale.cost
    tolerance = _SLOPE * max(1.0, sizes.mean() / _MEAN)
    stationarity = np.abs(gradient * nlp.scale_x)[nlp.free].max(initial=0.0) / end.scale.cost
    return bool(stationarity <= tolerance and off.max(initial=0.0) <= _TOL)
