"""A planar four-bar linkage, crank and rocker.

Round numbers, chosen here: a Grashof linkage (the crank and the ground, 0.2 m and 0.5 m, are together no longer than
coupler and rocker, 0.4 m each, and the crank is the shortest), so that the crank turns all the way round. Links are
slender and uniform.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import colloc as co

CRANK, COUPLER, ROCKER, GROUND = 0.2, 0.4, 0.4, 0.5  # m
LINEAR_DENSITY = 2.0  # kg/m


def four_bar(
    gravity: Sequence[float] = (0.0, -9.81, 0.0), actuators: Sequence[str] = ("crank",), weights: Any = 1.0
) -> co.loops.ClosedChain:
    """Crank, coupler and rocker in the x-y plane; the crank's pivot is the origin, the rocker's at (0.5, 0, 0) m.

    Angles are 0 where a link continues its parent's x axis, or the world's; they count from there about z. The loop is
    cut at the pin between coupler and rocker, as a hinge in space, of which the plane needs two rows of five.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    actuators : sequence of str
        Among "crank", "coupler" and "rocker".
    weights : float or shape (actuators,)

    Returns
    -------
    ClosedChain
        Mobility 1, independent joint "crank", assembled with the coupler above the line from crank to rocker pivot.
    """
    model = co.Model(
        [
            slender("crank", CRANK, 0.0),
            slender("coupler", COUPLER, CRANK, "crank"),
            slender("rocker", ROCKER, GROUND),
        ],
        gravity=gravity,
        name="four-bar linkage",
    )
    pin = co.loops.revolute_loop(
        "pin", co.loops.Frame("coupler", (COUPLER, 0, 0)), co.loops.Frame("rocker", (ROCKER, 0, 0))
    )
    return co.loops.ClosedChain(model, [pin], ("crank",), actuators, weights, guess=(1.0, -0.4, 1.8))


def slender(name: str, length: float, along: float, parent: str | None = None, height: float = 0.0) -> co.Body:
    """A uniform link along its x axis, hinged about z at (along, height, 0) of its parent."""
    mass = LINEAR_DENSITY * length
    moment = mass * length**2 / 12
    joint = co.revolute(placement=co.placement((along, height, 0)))
    return co.Body(name, joint, parent, mass, (length / 2, 0, 0), (0, moment, moment), tip=(length, 0, 0))
