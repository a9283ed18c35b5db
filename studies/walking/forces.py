"""Ground reactions of a step: the wrench on each foot, and the constraints that the ground puts on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import casadi as ca

import colloc as co
from colloc.models.human.stance import FORWARD, LATERAL, LIST, PITCH, VERTICAL, YAW
from colloc.studies.walking.step import DOUBLE, HALF_FOOT, Sharing, Step

SIGNAL = "trailing"  # wrench of the trailing foot during double support, over body weight (and 1 m), or shares
TOUCHED = 0.01  # fraction of the step for which a foot that has just touched, or is about to leave, carries nothing

# Names of the constraints on the centre of pressure under each foot.
PRESSURE = {"r": "pressure r", "l": "pressure l"}


@dataclass(frozen=True, eq=False)
class Feet(co.problem.Part):
    """Feet on the ground: the wrench of the trailing one during double support, and what the ground can do.

    The foot that stands is the root of the mechanism; it has what the other leaves to it.

    Parameters
    ----------
    step : Step
    """

    step: Step
    name: str = "ground"
    _signals: tuple[co.Unknown, ...] = field(init=False, repr=False)

    def __post_init__(self):
        object.__setattr__(self, "_signals", tuple(signals(self.step)))

    def contribution(self) -> co.problem.Contribution:
        """Signals of the rule of sharing, the load on the trailing foot, and its limits."""
        foot = self.step.stance.feet["l"].ball.body
        load = co.problem.ground.applied(foot, (0, 0, 0), lambda now: left(self.step, now))
        return co.problem.Contribution(unknowns=self._signals, loads=[load], statements=forces(self.step))


def right(step: Step, now: Any) -> co.dynamics.Wrench:
    """Wrench on the right foot: what the joints between world and foot transmit."""
    tau = dict(zip(step.stance.model.joint_names, ca.vertsplit(now.tau), strict=True))
    force = ca.vertcat(tau.get(LATERAL, 0), tau[VERTICAL], tau[FORWARD])
    about_heel = ca.vertcat(-tau[PITCH], tau.get(YAW, 0), tau.get(LIST, 0))
    return co.dynamics.Wrench(force, about_heel + ca.cross(ca.SX([-step.side, 0, 0]), force))


def left(step: Step, now: Any) -> co.dynamics.Wrench:
    """Wrench on the left foot: its share during double support, nothing afterwards."""
    return co.dynamics.Wrench(*(while_both(now, part) for part in share(step, now)))


def share(step: Step, now: Any) -> co.dynamics.Wrench:
    """Wrench of the trailing foot while both are on the ground."""
    if step.sharing is Sharing.DISTANCE:
        return co.problem.ground.by_distance(now.support, [step.places["l"][0], step.places["r"][0]])[0]
    if step.sharing is Sharing.PARTITION:
        parts = co.problem.ground.by_partition(now.support, [*step.places["l"], *step.places["r"]], now.trailing)
        return parts[0] + parts[1]
    signal = step.weight * now.trailing
    if step.planar:
        return co.dynamics.Wrench(ca.vertcat(0, signal[:2]), ca.vertcat(signal[2], 0, 0))
    return co.dynamics.Wrench(signal[:3], signal[3:])


def signals(step: Step) -> list[co.Unknown]:
    """Unknown signals that the rule of sharing needs."""
    if step.sharing is Sharing.DISTANCE:
        return []
    if step.sharing is Sharing.PARTITION:
        return [co.Unknown(SIGNAL, size=4, lower=-0.01, upper=1.01, guess=0.25)]
    return [co.Unknown(SIGNAL, size=3 if step.planar else 6, lower=-3.0, upper=3.0)]


def while_both(now: Any, double: ca.SX) -> ca.SX:
    """The expression during double support, zero afterwards."""
    return ca.if_else(now.t <= (DOUBLE + 1e-6) * now.duration, double, ca.SX(*double.shape))


def forces(step: Step) -> list[Any]:
    """Constraints on the ground reactions: centres of pressure, friction, transfer from one foot to the other."""
    found = _transfer(step)
    # By distance both feet share one centre of pressure, somewhere between them.
    whole = step.sharing is Sharing.DISTANCE
    # Not where a foot carries nothing: a row that can only be zero leaves an interior-point method no interior.
    phases = {"r": (DOUBLE if whole else TOUCHED, 1.0), "l": (0.0, DOUBLE - TOUCHED)}
    for side, wrench in (("r", right), ("l", left)):
        if not (whole and side == "l"):
            found.append(_rows(step, PRESSURE[side], "BW m", side, wrench, _pressure, phases[side]))
        found.append(_rows(step, f"friction {side}", "BW", side, wrench, _friction, phases[side]))
    return found


def _transfer(step: Step) -> list[Any]:
    """Transfer of the wrench: the leading foot begins with nothing and ends with the whole."""
    if step.sharing is Sharing.DISTANCE:
        return [
            co.path(
                partial(_between, step),
                lower=0.0,
                during=(0.0, DOUBLE),
                scale=0.1,
                unit="BW m",
                name="pressure of both",
            )
        ]
    if step.sharing is Sharing.PARTITION:
        points, rows = [*step.places["l"], *step.places["r"]], [0, 2] if step.planar else [0, 1, 2]
        return [
            co.path(
                lambda now: co.problem.ground.partition_rows(now.support, points, now.trailing)[rows],
                equals=0.0, during=(0.0, DOUBLE), scale=[1.0, 0.1, 0.1][: len(rows)],
                unit=["BW", "m", "m"][: len(rows)], name="partition",
            ),
            co.at(0.0, lambda now: now.trailing[2:], lower=-1e-3, upper=1e-3, scale=1.0, unit="BW", name="first touch"),
            co.at(
                DOUBLE, lambda now: now.trailing[:2], lower=-1e-3, upper=1e-3, scale=1.0, unit="BW", name="hand over"
            ),
        ]  # fmt: skip
    kept = [1, 2, 3] if step.planar else list(range(6))
    return [
        co.at(
            0.0,
            lambda now: ca.vertcat(*right(step, now))[kept] / step.weight,
            equals=0.0,
            unit="BW",
            name="first touch",
        ),
        co.at(DOUBLE, lambda now: now.trailing, equals=0.0, unit="BW", name="hand over"),
    ]


def _between(step: Step, now: Any) -> ca.SX:
    """Zero moment point of the whole between the outer sides of the feet, from the trailing ball to the heel."""
    back, front = float(step.places["l"][0][2]), step.sole[0]
    half = step.side + HALF_FOOT
    corners = [(-half, back), (-half, front), (half, front), (half, back)]
    return co.problem.ground.pressure_rows(now.support, corners) / step.weight


def _rows(
    step: Step,
    name: str,
    unit: str,
    side: str,
    wrench: Callable[[Step, Any], co.dynamics.Wrench],
    rows: Any,
    during: tuple[float, float],
) -> Any:
    return co.path(
        lambda now: rows(step, now, side, wrench(step, now)) / step.weight,
        lower=0.0,
        during=during,
        unit=unit,
        name=name,
    )


def _pressure(step: Step, now: Any, side: str, wrench: co.dynamics.Wrench) -> ca.SX:
    return co.problem.ground.pressure_rows(wrench, step.corners(now, side))


def _friction(step: Step, now: Any, side: str, wrench: co.dynamics.Wrench) -> ca.SX:
    # The free moment about the foot's middle is limited by the friction of a small patch.
    corners = step.corners(now, side)
    middle = ca.vertcat(corners[0][0] + HALF_FOOT, 0, (corners[0][1] + corners[1][1]) / 2)
    twist, limit = wrench.about(middle)[1], 0.08 * wrench.force[1]
    return ca.vertcat(co.problem.ground.friction_rows(wrench, step.friction), limit - twist, limit + twist)
