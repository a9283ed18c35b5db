"""What the ground may do to the feet of a step of walking, and how the wrench passes from one to the other."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any

import casadi as ca

import colloc as co
from colloc import ground
from colloc.dynamics import Wrench
from studies.walking.contacts import DOUBLE

if TYPE_CHECKING:
    from studies.walking.step import Step

Share = Callable[[Any], Wrench]
TOUCHED = 0.01  # of the step


class Sharing(Enum):
    """What the trailing foot carries of the wrench during double support.

    FREE
        A wrench of its own, an unknown signal.
    DISTANCE
        By the distance of the zero moment point from the trailing ball and the leading heel.
    PARTITION
        By a partition of unity over the contact points, unknown signals.
    """

    FREE = "free"
    DISTANCE = "by distance"
    PARTITION = "by partition"


def forces(step: Step) -> list[Any]:
    """Centres of pressure, friction, and how the wrench passes from one foot to the other."""
    found = _passing(step)
    # By distance both feet share one centre of pressure, somewhere between them.
    whole = step.sharing is Sharing.DISTANCE
    # Not where a foot carries nothing: a row that can only be zero leaves an interior-point method no interior.
    phases = {"r": (DOUBLE if whole else TOUCHED, 1.0), "l": (0.0, DOUBLE - TOUCHED)}
    for side, wrench in (("r", step.right), ("l", step.left)):
        if not (whole and side == "l"):
            found.append(_rows(step, f"pressure {side}", side, wrench, _pressure, phases[side]))
        found.append(_rows(step, f"friction {side}", side, wrench, _friction, phases[side]))
    return found


def _passing(step: Step) -> list[Any]:
    """That the leading foot begins with nothing and ends with the whole."""
    if step.sharing is Sharing.DISTANCE:
        return [co.path(partial(_between, step), lower=0.0, during=(0.0, DOUBLE), scale=0.1, name="pressure of both")]
    if step.sharing is Sharing.PARTITION:
        points, rows = [*step.places["l"], *step.places["r"]], [0, 2] if step.planar else [0, 1, 2]
        return [
            co.path(
                lambda now: ground.partition_rows(now.support, points, now.trailing)[rows],
                equals=0.0, during=(0.0, DOUBLE), scale=[1.0, 0.1, 0.1][: len(rows)], name="partition",
            ),
            co.at(0.0, lambda now: now.trailing[2:], lower=-1e-3, upper=1e-3, scale=1.0, name="first touch"),
            co.at(DOUBLE, lambda now: now.trailing[:2], lower=-1e-3, upper=1e-3, scale=1.0, name="hand over"),
        ]  # fmt: skip
    kept = [1, 2, 3] if step.planar else list(range(6))
    return [
        co.at(0.0, lambda now: ca.vertcat(*step.right(now))[kept] / step.weight, equals=0.0, name="first touch"),
        co.at(DOUBLE, lambda now: now.trailing, equals=0.0, name="hand over"),
    ]


def _between(step: Step, now: Any) -> ca.SX:
    """Zero moment point of the whole between the outer sides of the feet, from the trailing ball to the heel."""
    back, front = float(step.places["l"][0][2]), step.sole[0]
    half = step.side + 0.04
    corners = [(-half, back), (-half, front), (half, front), (half, back)]
    return ground.pressure_rows(now.support, corners) / step.weight


def _rows(step: Step, name: str, side: str, wrench: Share, rows: Any, during: tuple[float, float]) -> Any:
    return co.path(lambda now: rows(step, now, side, wrench(now)) / step.weight, lower=0.0, during=during, name=name)


def _pressure(step: Step, now: Any, side: str, wrench: Wrench) -> ca.SX:
    return ground.pressure_rows(wrench, step.corners(now, side))


def _friction(step: Step, now: Any, side: str, wrench: Wrench) -> ca.SX:
    # The free moment about the foot's middle is limited by the friction of a small patch.
    corners = step.corners(now, side)
    middle = ca.vertcat(corners[0][0] + 0.04, 0, (corners[0][1] + corners[1][1]) / 2)
    twist, limit = wrench.about(middle)[1], 0.08 * wrench.force[1]
    return ca.vertcat(ground.friction_rows(wrench, step.friction), limit - twist, limit + twist)
