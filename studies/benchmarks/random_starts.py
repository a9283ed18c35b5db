"""How much longer than usual does a time optimum take from the worst of a hundred random starts?

Three fastest motions from rest to rest: two links within torque limits, a Panda within its maker's, a cart-pole whose
pole nothing drives. Each start has a duration between a third and three times that of the default guess, and all
control points off the straight line by up to half a radian (or metre), each by itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import colloc as co
from colloc.models.cart_pole import cart_pole
from colloc.models.panda import panda
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.two_link import time_optimal
from colloc.support.display import Table
from colloc.transcription import NLP, trajectory_from

NOISE, HASTE = 0.5, 3.0
LONGEST = 60.0  # s of a run
OPTIONS = (Option("starts", 100, "number of random starts of each problem", least=2),)


def arm() -> co.Problem:
    """A Panda between two postures in the middle of its range, by time alone."""
    model = panda()
    start = np.array([-1.0, 0.2, -0.5, -1.2, 0.3, 1.2, -0.6])
    end = np.array([0.8, -0.4, 0.6, -2.0, -0.5, 2.2, 0.7])
    return co.Problem(model, co.Free(0.1, 10.0), co.duration(), [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)])


def passive() -> co.Problem:
    """A cart that moves by a metre, the pole hanging at rest before and after."""
    ends = [co.initial(q=0.0, qd=0.0), co.final(q={"cart": 1.0, "pole": 0.0}, qd=0.0)]
    limits = co.bounds(tau={"cart": (-10.0, 10.0), "pole": (0.0, 0.0)}, q={"cart": (-1.0, 2.0)})
    return co.Problem(cart_pole(), co.Free(0.2, 10.0, 1.5), co.duration(), [*ends, limits])


PROBLEMS: dict[str, tuple[Callable[[], co.Problem], Any]] = {
    "two_link": (lambda: time_optimal.problem, co.BSpline(20)),
    "panda": (arm, co.BSpline(20)),
    "cart_pole": (passive, co.Radau(15)),
}


def random_start(nlp: NLP, rng: np.random.Generator) -> np.ndarray:
    """A decision vector within the bounds."""
    layout = nlp.grid.layout
    x = nlp.grid.interpolate(trajectory_from(nlp.problem, None))
    x[layout["q"]] += rng.uniform(-NOISE, NOISE, layout["q"].shape)
    x[layout.duration] *= HASTE ** rng.uniform(-1, 1)
    return np.clip(x, nlp.lower, nlp.upper)


def runs(nlp: NLP, count: int, options: dict[str, Any]) -> list[tuple[co.solver.Outcome, float]]:
    """Outcomes from random starts, with seconds of the processor, on which what else the machine does has no effect."""
    rng, found = np.random.default_rng(0), []
    prepared = co.Ipopt(max_cpu_time=LONGEST, **options).prepare(nlp)
    for _ in range(count):
        start, begin = random_start(nlp, rng), time.process_time()
        outcome = prepared(co.solver.Start(start), nlp.problem.parameter_values())
        found.append((outcome, time.process_time() - begin))
    return found


def numbers_of(found: Sequence[tuple[co.solver.Outcome, float]], nlp: NLP) -> dict[str, float]:
    """Medians and worst cases, failures counted with the work they took, and how many ends are the best."""
    iterations = np.array([outcome.iterations for outcome, _ in found], dtype=float)
    seconds = np.array([spent for _, spent in found])
    durations = np.array([nlp.duration(o.x) for o, _ in found if o.status is co.solver.Status.SOLVED])
    best = durations.min(initial=np.inf)
    return {
        "iterations.median": float(np.median(iterations)),
        "iterations.max": float(iterations.max()),
        "iterations.ratio": float(iterations.max() / np.median(iterations)),
        "seconds.median": float(np.median(seconds)),
        "seconds.max": float(seconds.max()),
        "seconds.ratio": float(seconds.max() / np.median(seconds)),
        "solved": float(durations.size),
        "best": float(np.count_nonzero(durations < best * (1 + 1e-4))),
        "T.best": float(best),
        "T.worst": float(durations.max(initial=0.0)),
    }


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.random_starts", __doc__, argv, quick="four starts", options=OPTIONS, figure=False)
    rows, numbers = [], {}
    for name, (stated, curve) in PROBLEMS.items():
        nlp = co.transcribe(stated(), curve, compile=False)
        found = numbers_of(runs(nlp, 4 if args.quick else args.starts, {}), nlp)
        numbers |= {f"{name}.{quantity}": value for quantity, value in found.items()}
        rows.append((name, *(f"{value:.4g}" for value in found.values())))
    header = ("", "iterations", "worst", "ratio", "s", "worst", "ratio", "solved", "in the best", "T [s]", "worst")
    print(Table("Random starts", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
