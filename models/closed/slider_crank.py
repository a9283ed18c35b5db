"""A slider-crank: crank, connecting rod and piston.

Round numbers, chosen here. Crank and rod are slender and uniform, the piston moves along x through the crank's pivot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import colloc as co

CRANK, ROD = 0.1, 0.3  # m
CRANK_MASS, ROD_MASS, PISTON_MASS = 1.0, 0.8, 0.5  # kg


def slider_crank(
    gravity: Sequence[float] = (0.0, -9.81, 0.0), actuators: Sequence[str] = ("crank",), weights: Any = 1.0
) -> co.loops.ClosedChain:
    """Crank about z at the origin, rod, and a piston that slides along x; the loop is cut at the piston's pin.

    Parameters
    ----------
    gravity : shape (3,) [m/s2]
    actuators : sequence of str
        Among "crank", "rod" and "piston".
    weights : float or shape (actuators,)

    Returns
    -------
    ClosedChain
        Mobility 1, independent joint "crank", assembled with the piston at positive x.
    """

    def link(length: float, mass: float) -> dict[str, Any]:
        moment = mass * length**2 / 12
        return {"mass": mass, "com": (length / 2, 0, 0), "inertia": (0, moment, moment)}

    model = co.Model(
        [
            co.Body("crank", co.revolute(), **link(CRANK, CRANK_MASS)),
            co.Body("rod", co.revolute(placement=co.placement((CRANK, 0, 0))), "crank", **link(ROD, ROD_MASS)),
            co.Body("piston", co.prismatic((1, 0, 0)), mass=PISTON_MASS),
        ],
        gravity=gravity,
        name="slider-crank",
    )
    pin = co.loops.revolute_loop("pin", co.loops.Frame("rod", (ROD, 0, 0)), "piston")
    return co.loops.ClosedChain(model, [pin], ("crank",), actuators, weights, guess=(0.5, -0.7, 0.4))
