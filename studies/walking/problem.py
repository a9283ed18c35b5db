"""One step of steady walking as a problem: what the walking studies solve.

The formulation of Barman (2020, chapter V, after Xiang et al. 2009): least weighted squares of torques over their
limits, subject to where the feet are (`contacts`), how the body is held (`posture`) and what the ground can do
(`Feet`). Their algorithm takes two steps, the wrench that the motion needs and then its effect on the joints; seen
from the foot that stands, both are one recursion.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

import colloc as co
from colloc.studies.walking.contacts import contacts
from colloc.studies.walking.forces import Feet, right, share, while_both
from colloc.studies.walking.posture import posture, symmetry
from colloc.studies.walking.step import DOUBLE, Sharing, Step

DURATIONS = co.Free(0.3, 1.2)  # s, of a step whose length and speed are parameters


def problem(step: Step, parameters: Sequence[co.Parameter] = ()) -> co.Problem:
    """The step as a problem, with the parameters that the step's human, speed and length are made of."""
    return co.Problem(
        model=step.stance.model,
        duration=DURATIONS if parameters else step.duration,
        minimize=co.integral(lambda now: effort(step, now), name="effort")
        + co.integral(lambda now: regularisation(step, now), name="regularisation"),
        subject_to=[*contacts(step), *posture(step), symmetry(step), *_parametrised(step, parameters)],
        parameters=parameters,
        parts=[Feet(step)],
    )


def _parametrised(step: Step, parameters: Sequence[co.Parameter]) -> list[Any]:
    """Constraints that hold by themselves if they are numbers: the duration, and torque limits."""
    if not parameters:
        return []
    strength = {name: both for name, both in step.stance.torque_limits.items() if name in step.stance.strength}

    def shares(now: co.problem.Instant) -> ca.SX:
        rows = [(now.tau[step.joint(name)] - low) / (high - low) for name, (low, high) in strength.items()]
        return ca.vertcat(*rows)

    given = co.at(1.0, lambda now: now.t / step.duration, equals=1.0, name="duration")
    strong = co.path(shares, lower=0.0, upper=1.0, unit="of the torque limits", name="strength")
    return [given, strong] if strength else [given]


def motion_only(step: Step) -> co.Problem:
    """The same without forces: a motion that keeps to its constraints with small angles and accelerations.

    A start for the search, as in the paper's first stage. Accelerations may jump from step to step.
    """
    T = step.duration

    def ease(now: co.problem.Instant) -> ca.SX:
        return ca.sumsqr(now.q) + 0.1 * ca.sumsqr(T * now.qd) + 1e-3 * ca.sumsqr(T**2 * now.qdd)

    return co.Problem(
        model=step.stance.strengthless.model,
        duration=T,
        minimize=co.integral(ease),
        subject_to=[*contacts(step), *posture(step), symmetry(step, seamless=False)],
    )


def effort(step: Step, now: co.problem.Instant, lag: float = 0.0) -> ca.SX:
    """Weighted squares of torques over their limits, or of what excites torques that lag behind it by a time [s]."""
    excited = now.tau + lag * now.tau_rate if lag else now.tau
    total = ca.SX(0)
    for name, (lower, upper) in step.stance.torque_limits.items():
        weight = next((w for start, w in step.weights.items() if name.startswith(start)), 1.0)
        total += weight * (excited[step.joint(name)] / ((upper - lower) / 2)) ** 2
    return total


def regularisation(step: Step, now: co.problem.Instant) -> ca.SX:
    """Smoothness of the pelvis and of the transfer between the feet, ankles at rest."""
    if step.sharing is not Sharing.FREE:
        return calm(step, now)
    # After its time the signal means nothing, and a little of its square keeps it at zero.
    return calm(step, now) + step.even * ca.sumsqr(while_both(now, uneven(step, now))) + 1e-4 * ca.sumsqr(now.trailing)


def calm(step: Step, now: co.problem.Instant) -> ca.SX:
    """Smoothness of the pelvis, ankles at rest."""
    pelvis = now.point(*step.stance.landmarks["pelvis"])
    ankles = [j for j, name in enumerate(now.model.joint_names) if name.startswith("ankle_dorsiflexion")]
    return step.smooth * ca.sumsqr(pelvis.acceleration / 9.81) + step.rest * ca.sumsqr(now.q[ankles])


def uneven(step: Step, now: co.problem.Instant) -> ca.SX:
    """Distance of the leading foot's force from a share that grows evenly during double support [body weight]."""
    grown, trailing = now.t / (DOUBLE * step.duration), share(step, now).force
    return ((1 - grown) * right(step, now).force - grown * trailing) / step.weight
