"""Moments of a problem's motion in symbols of their own, and the loads that act then."""

from __future__ import annotations

import casadi as ca

from colloc.model import Load
from colloc.problem.instant import Instant
from colloc.problem.statement import Statement
from colloc.problem.user_functions import blamed
from colloc.support.checks import InputError


def moment(problem: Statement, suffix: str = "", duration: ca.SX | None = None) -> Instant:
    """An instant in fresh symbols, named with a suffix, as loads see it, which do not know each other.

    Parameters
    ----------
    problem : Problem
    suffix : str
        Without one, signals and states have their own symbols, which they can give once; constants and parameters
        always do.
    duration : SX, optional
        A fresh symbol by default.
    """
    n = problem.model.n
    vectors = [ca.SX.sym("q" + suffix, problem.model.n_q)]
    vectors += [ca.SX.sym(name + suffix, n) for name in ("qd", "qdd", "tau")]
    signals, states = (
        {u.name: ca.SX.sym(u.name + suffix, u.size) if suffix else u.symbol for u in group}
        for group in (problem.signals, problem.states)
    )
    varying = (*problem.signals, *problem.states)
    return Instant(
        problem.model,
        ca.SX.sym("t" + suffix),
        ca.SX.sym("duration") if duration is None else duration,
        *vectors,
        signals=signals,
        states=states,
        changes={u.name: ca.SX.sym(f"{u.name}'{suffix}", u.size) for u in varying},
        rates=(ca.SX.sym("jerk" + suffix, n), ca.SX.sym("tau_rate" + suffix, n)),
        constants={u.name: u.symbol for u in problem.constants},
        parameters={p.name: p.symbol for p in problem.parameters},
    )


def loads_at(problem: Statement, now: Instant) -> tuple[Load, ...]:
    """The loads that a problem states, at one of its moments.

    Raises
    ------
    InputError
        For a load that depends on what follows from loads.
    """
    found = []
    for load in problem.loads:
        with blamed(f"the load on {load.body!r}", problem.model.joint_names):
            found.append(load.at(now))
        if ca.depends_on(found[-1].wrench, ca.vertcat(now.jerk, now.tau_rate, *now.changes.values())):
            raise InputError(
                f"the load on {load.body!r} depends on jerk, or on rates of torques, signals or states, which "
                "follow from loads"
            )
    return tuple(found)
