"""The least by which one kind of constraint must give way for the step as printed to have a motion."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

import colloc as co
from colloc.problem import Condition
from colloc.studies.walking.printed import INSTANTS, IPOPT, constraints, curve, loads, unlimited
from colloc.studies.walking.step import Step

# Kinds that may give way, what a unit of slack means in them, the amount's name with its unit, and the unit's size.
RELAXED = {
    "joint angles": (np.radians(5), "angle_deg", float(np.degrees(1.0))),
    "contact velocity": (0.1, "velocity_m_per_s", 1.0),
    "symmetry": (0.1, "symmetry_rad_and_rad_per_s", 1.0),
}
SLIGHT = 1e-6  # weight of squared accelerations where slack is minimised, so that nothing is left undetermined


def relaxations(
    step: Step, guess: co.Solution, instants: int = INSTANTS, kinds: Sequence[str] = tuple(RELAXED)
) -> dict[str, float]:
    """Least relaxation of one kind of constraint alone with which a motion is found, by the name of the amount.

    Infinite where none was found. Searched locally, from a motion: it may be less, it cannot be more.
    """
    order = list(RELAXED)
    slack = co.Unknown("slack", size=len(order), lower=0.0, upper=100.0, guess=1.0, constant=True)
    allowed = co.Parameter("allowed", np.zeros(len(order)))
    rows = [
        row
        for kind, stated in constraints(step, instants).items()
        for one in stated
        for row in (_relaxed(one, order.index(kind), RELAXED[kind][0]) if kind in RELAXED else [one])
    ]
    cost = co.final_cost(lambda now: ca.sum1(now.slack)) + SLIGHT * co.integral(lambda now: ca.sumsqr(now.qdd / 30))
    problem = co.Problem(
        unlimited(step.human).model,
        step.duration,
        cost,
        rows,
        unknowns=[slack],
        parameters=[allowed],
        loads=loads(step),
    )
    nlp, found = co.transcribe(problem, curve(instants)), {}
    for kind in kinds:
        size, name, unit = RELAXED[kind]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)
            end = co.solve(
                nlp, guess=guess, parameters={"allowed": [float(own == kind) for own in order]},
                plan=[co.refinement.Solve(between="nodes")], solver=co.Ipopt(**IPOPT), raise_on_failure=False,
            )  # fmt: skip
        amount = float(end.constants["slack"][order.index(kind)]) * size * unit
        found[name] = amount if end.outcome.status is co.solver.Status.SOLVED else np.inf
    return found


def _relaxed(row: Condition, k: int, size: float) -> list[Condition]:
    """Both sides of a condition with slack."""

    def eased(sign: float, *now: co.problem.Instant) -> ca.SX:
        return row.fn(*now) + sign * size * now[0].slack[k] * now[0].allowed[k]

    below = replace(row, name=f"{row.name}, below", fn=partial(eased, -1.0), lower=-np.inf)
    above = replace(row, name=f"{row.name}, above", fn=partial(eased, 1.0), upper=np.inf)
    return [below, above]
