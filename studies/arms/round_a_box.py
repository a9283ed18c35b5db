"""How much more effort does it cost a PUMA 560 to move round a box that stands in its way?

The arm, with its motors, swings its hand in 1.5 s from one side of a tall box to the other, from rest to rest, with the
least sum of squares of torques over their limits. Upper arm, forearm and hand are capsules that stay 1 cm away from the
box. The search begins with three postures in a row: beside the box, above it, and on its other side. Begun with the
straight line, which leads deep through the box, it ends inside: there no small change leads out on either side.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import colloc as co
from colloc.models.puma560 import puma560
from colloc.studies.arms.obstacles import FOREARM, HAND, UPPER_ARM, compare, least_effort
from colloc.studies.reporting import arguments, finish

BOX = co.model.Box(None, (0.4, 0.24, 0.9), co.placement((0.55, 0.0, -0.15)), name="box")
PAIRS = [(link, BOX) for link in (UPPER_ARM, FOREARM, HAND)]
DURATION = 1.5  # s
DOWN = np.diag([1.0, -1.0, -1.0])  # the hand points down
FINGERS = (0.0, 0.0, 0.12)  # m, in the flange's frame


def postures(model: co.Model) -> list[np.ndarray]:
    """Postures with the hand beside the box, above it, and on its other side."""
    bent = (0.6, -2.2, 0.0, -0.5, 0.0)
    start, end = (
        co.model.reach(
            model, "flange", (x, y, -0.1), point=FINGERS, rotation=DOWN, start=(np.arctan2(y, x) + 0.3, *bent)
        )
        for x, y in ((0.5, -0.45), (0.3, 0.6))
    )
    return [start, co.model.reach(model, "flange", (0.45, 0.0, 0.5), start=(start + end) / 2), end]


def solved(*, quick: bool = False) -> tuple[co.Solution, co.Solution]:
    """The best motion without the box, and round it."""
    model = puma560(motors=True)
    start, above, end = postures(model)
    curve = co.BSpline(16, degree=4) if quick else None
    free = co.solve(least_effort(model, start, end, DURATION), curve)
    guess = co.keyframes({0.0: start, 0.5: above, 1.0: end})
    return free, co.solve(least_effort(model, start, end, DURATION, PAIRS), curve, guess=guess)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.round_a_box", __doc__, argv)
    numbers, solution = compare(args, solved, PAIRS, PAIRS, "the box")
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
