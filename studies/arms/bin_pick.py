"""How does a PUMA 560 take a box out of one shelf and put it into another with the least effort?

The arm, with its motors, holds a box of 8 by 12 by 10 cm in the lower bay of one shelf, and in 1.5 s puts it to rest in
the upper bay of another. The box in the hand and the hand stay 1 cm away from all ten boards, which is 20 pairs of
convex shapes at every node; the forearm, of which nothing is asked, is clear of them as well. The search begins with
four postures in a row: in the shelf, before it, before the other and in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import colloc as co
from colloc.models.puma560 import puma560
from colloc.studies.arms.obstacles import FOREARM, HAND, compare, least_effort
from colloc.studies.reporting import arguments, finish

DURATION = 1.5  # s
TURNED = np.radians(55.0)  # from the x axis to either shelf
FAR, BEFORE = 0.8, 0.55  # m, from the waist to the middle of a shelf, and to where the box is clear of it
HEIGHTS = -0.1, 0.22  # m, at which the box is taken, and put
HELD = (0.0, 0.0, 0.2)  # m, the middle of the box in the flange's frame
ITEM = co.model.Box("flange", (0.08, 0.12, 0.1), co.placement(HELD), name="box in the hand")


def shelf(turn: float, name: str) -> list[co.model.Box]:
    """Three boards and two sides, open to the front and the back."""
    there = co.placement(rpy=(0.0, 0.0, turn))
    boards = [("board", (0.3, 0.5, 0.02), (FAR, 0.0, z)) for z in (-0.3, 0.05, 0.4)]
    sides = [("side", (0.3, 0.02, 0.72), (FAR, y, 0.05)) for y in (-0.26, 0.26)]
    return [
        co.model.Box(None, size, there @ co.placement(at), name=f"{name} {part} {k}")
        for k, (part, size, at) in enumerate(boards + sides)
    ]


BOARDS = shelf(-TURNED, "first") + shelf(TURNED, "second")
KEPT_APART = [(link, board) for link in (ITEM, HAND) for board in BOARDS]
PAIRS = [*KEPT_APART, *((FOREARM, board) for board in BOARDS)]  # that are looked at afterwards


def postures(model: co.Model) -> list[np.ndarray]:
    """In the first shelf, before it, before the second, in it; the hand points straight in."""
    inside, before = [], []
    for turn, height in zip((-TURNED, TURNED), HEIGHTS, strict=True):
        ahead = np.array([np.cos(turn), np.sin(turn), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        turned = np.column_stack([down, np.cross(ahead, down), ahead])

        def there(far: float, start: Sequence[float], a=ahead, z=height, turned=turned) -> np.ndarray:
            place = far * a + np.array([0.0, 0.0, z])
            return co.model.reach(model, "flange", place, point=HELD, rotation=turned, start=start, tries=40)

        inside.append(there(FAR, (turn + 0.3, 0.5, -1.8, 0.0, -0.5, 0.0)))
        before.append(there(BEFORE, inside[-1]))
    return [inside[0], before[0], before[1], inside[1]]


def solved(*, quick: bool = False) -> tuple[co.Solution, co.Solution]:
    """The best motion without the shelves, and between them."""
    model = puma560(motors=True)
    way = postures(model)
    curve = co.BSpline(20, degree=4) if quick else None
    free = co.solve(least_effort(model, way[0], way[-1], DURATION), curve)
    guess = co.keyframes(dict(zip((0.0, 0.3, 0.7, 1.0), way, strict=True)))
    problem = least_effort(model, way[0], way[-1], DURATION, KEPT_APART)
    return free, co.solve(problem, curve, guess=guess)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.bin_pick", __doc__, argv)
    numbers, solution = compare(args, solved, KEPT_APART, PAIRS, "the shelves")
    return finish(args, numbers, solution)


if __name__ == "__main__":
    main()
