"""One process of the benchmark of cold starts. Run as a script: prints seconds of the processor as JSON."""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import colloc as co

IMPORTED = time.process_time()  # from the start of Python


def imported() -> None:
    """Nothing: `import colloc` alone."""


def first_script() -> co.Solution:
    """The first script of the README."""
    from colloc.models.two_link import two_link

    ends: list[Any] = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    limits = co.bounds(tau=(-10.0, 10.0))
    problem = co.Problem(two_link(), co.Free(0.1, 5.0, guess=1.0), co.duration(), [*ends, limits])
    return co.solve(problem, progress=False)


def panda() -> co.Solution:
    """A Panda's fastest motion between two postures, by the plain call."""
    from colloc.models.panda import panda as model

    start, end = (0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8), (1.2, 0.4, -0.5, -1.5, 0.5, 2.0, -0.6)
    return co.solve(co.transcription.point_to_point(model(), start, end), progress=False)


def gait() -> co.Solution:
    """A step of the 55-DOF human with the weighted objective of `walking.gait`, in two programs."""
    from colloc.models.human.human55 import human55, walking
    from colloc.studies.walking.step import Step
    from colloc.studies.walking.walk import walk

    return walk(Step(walking(human55()))).solution


def human() -> co.Solution:
    """The 55-DOF human with a free base between two postures, least torques, on one coarse curve."""
    import casadi as ca
    import numpy as np

    from colloc.models.human.human55 import human55

    model = human55().model
    lower, upper = (np.clip(side, -1.0, 1.0) for side in model.limits("position"))
    start, end = (lower + upper) / 2 + (upper - lower) / 4 * np.random.default_rng(0).uniform(-1, 1, (2, model.n))
    effort = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.Problem(model, 1.0, effort, [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)])
    return co.solve(problem, co.BSpline(8, 4), plan=[co.refinement.Solve()], progress=False)


def muscles() -> co.Solution:
    """Half a stride of the human with 80 muscles beside a recorded walk, as `walking.human_by_muscles` starts."""
    from colloc.studies.walking.human_by_muscles import FOLLOWING, SPEED, STEP, recorded, solved, walk

    made = walk()
    return solved(made, recorded(made, SPEED, STEP), FOLLOWING, rounds=0)[0]


MOTIONS: dict[str, Callable[[], co.Solution | None]] = {
    "import": imported,
    "script": first_script,
    "panda": panda,
    "gait": gait,
    "human": human,
    "muscles": muscles,
}


def main(name: str) -> dict[str, float]:
    """Seconds from the start of Python to the answer, with those of compilers, and what the answer is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solution = MOTIONS[name]()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    compilers = children.ru_utime + children.ru_stime
    found = {"total": time.process_time() + compilers, "compilers": compilers, "import": IMPORTED}
    if solution is not None:
        found |= {"cost": solution.cost, "iterations": float(solution.iterations)}
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1])))
