"""Do twenty starts find the best optimum that is known of motions of arms with three to six joints?

Ten kinds of arms between random postures: the reference, and the same kinds between other postures, which nothing in
the search was chosen by. The best known optima and the shares of starts that lead to each lie in
``data/best_known.json``, with the command that makes them again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import colloc as co
from colloc.models.chains.serial import planar_chain, spatial_chain
from colloc.models.puma560 import puma560
from colloc.models.scara import scara
from colloc.models.stanford import stanford
from colloc.models.ur5 import ur5
from colloc.studies.arms.starts import EFFORT
from colloc.studies.benchmarks.random_arms import random_arm
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table
from colloc.support.files import write_atomically

FILE = Path(__file__).parent / "data" / "best_known.json"
SETS = {"reference": 0, "held_out": 1}  # seeds of the postures
SEARCHED, KEPT, SEED = 500, 12, 1000  # starts and refined optima of the search for the best, and its seed
STARTS, SAME = 20, 1e-3  # what is tried, and the relative distance in cost that counts as found
LISTED = 12  # optima of the coarse grid in the file
CURVE = co.BSpline(20)
WIDEST = 2.0  # rad, of random postures
OPTIONS = (
    Option("runs", 6, "searches of each motion, one a seed", least=1),
    Option("search", False, f"make the file of the best known optima again, from {SEARCHED} starts each"),
)


def two_arms() -> co.Model:
    """A trunk that leans, and two arms of two links each, in a vertical plane."""
    rod = {"mass": 1.0, "com": (0.15, 0.0, 0.0), "inertia": (0.0, 0.0075, 0.0075)}
    shoulder, elbow = co.placement((0.0, 0.5, 0.0)), co.placement((0.3, 0.0, 0.0))
    bodies = [co.Body("trunk", co.revolute((0, 0, 1)), None, 3.0, (0.0, 0.25, 0.0), (0.06, 0.0, 0.06))]
    for side in ("left", "right"):
        bodies.append(co.Body(f"{side} upper arm", co.revolute((0, 0, 1), shoulder), "trunk", **rod))
        bodies.append(co.Body(f"{side} forearm", co.revolute((0, 0, 1), elbow), f"{side} upper arm", **rod))
    return co.Model(bodies, name="two arms")


def between(model: co.Model, rng: np.random.Generator) -> list[Any]:
    """From rest to rest between random postures within the joints' ranges."""
    lower, upper = np.clip(model.limits("position"), -WIDEST, WIDEST)
    start, end = rng.uniform(lower, upper, (2, model.n))
    return [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]


def effort(model: co.Model, duration: float, rng: np.random.Generator) -> co.Problem:
    """The least effort in a given duration [s]."""
    return co.Problem(model, duration, EFFORT, between(model, rng))


def mixed(model: co.Model, share: float, torque: Sequence[float], rng: np.random.Generator) -> co.Problem:
    """Duration and a share of the effort, within torque limits [N m, N]."""
    limits = co.bounds(tau=(-np.array(torque), np.array(torque)))
    horizon = co.Free(0.3, 5.0)
    return co.Problem(model, horizon, co.duration() + share * EFFORT, [*between(model, rng), limits])


def passive(rng: np.random.Generator) -> co.Problem:
    """Three links that hang, the last on a joint without a motor, swung to another posture in a second."""
    free = co.bounds(tau={"link3": (0.0, 0.0)})
    end = (*rng.uniform(-WIDEST, WIDEST, 2), 0.0)
    ends = [co.initial(q=(-np.pi / 2, 0.0, 0.0), qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(planar_chain(3), 1.0, EFFORT, [*ends, free])


KINDS: dict[str, Callable[[np.random.Generator], co.Problem]] = {
    "planar 3": lambda rng: mixed(planar_chain(3), 0.01, (8.0, 8.0, 8.0), rng),
    "planar 4": lambda rng: effort(planar_chain(4, 0.3), 0.7, rng),
    "spatial 4": lambda rng: effort(spatial_chain(4), 0.7, rng),
    "random 5": lambda rng: effort(random_arm(rng, 5), 0.7, rng),
    "two arms": lambda rng: effort(two_arms(), 0.8, rng),
    "passive": passive,
    "scara": lambda rng: mixed(scara(), 1e-4, (150.0, 80.0, 200.0, 20.0), rng),
    "stanford": lambda rng: effort(stanford(), 1.5, rng),
    "ur5": lambda rng: effort(ur5(), 1.5, rng),
    "puma": lambda rng: effort(puma560(), 1.5, rng),
}


QUICK = ["planar 3", "spatial 4"]


def problem(kind: str, seed: int) -> co.Problem:
    """The motion of a kind between the postures of a seed."""
    return KINDS[kind](np.random.default_rng([seed, list(KINDS).index(kind)]))


def searched(kind: str, seed: int) -> dict[str, Any]:
    """The best known cost of a motion, and the optima of the coarse grid with the shares of random starts in each."""
    begin = time.process_time()
    found = co.multistart(
        co.transcribe(problem(kind, seed), CURVE, compile=True),
        starts=co.refinement.SearchSettings(SEARCHED, seed=SEED, keep=KEPT),
    )
    random = [start for start in found.starts if start.number and start.near is None]
    groups = sorted({start.group for start in found.starts if start.group is not None})
    optima = []
    for group in groups[:LISTED]:
        cost = min(start.cost for start in found.starts if start.group == group)
        share = sum(start.group == group for start in random) / len(random)
        optima.append({"cost": round(cost, 6), "share": round(share, 4)})
    seconds = round(time.process_time() - begin, 1)
    return {"cost": found.best.cost, "optima": len(groups), "seconds": seconds, "coarse": optima}


def search() -> None:
    """The file, made again."""
    content = {
        "command": "python -m colloc benchmarks.best_known --search",
        "starts": SEARCHED,
        "seed": SEED,
        **{name: {kind: searched(kind, seed) for kind in KINDS} for name, seed in SETS.items()},
    }
    write_atomically(FILE, (json.dumps(content, indent=1) + "\n").encode())


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "two motions, one search each"
    args = arguments("benchmarks.best_known", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    if args.search:
        search()
    known = json.loads(FILE.read_text(encoding="utf-8"))
    rows, numbers = [], {}
    kinds, runs = (QUICK, 1) if args.quick else (list(KINDS), int(args.runs))
    for name, seed in SETS.items():
        every = []
        for kind in kinds:
            stated, best = problem(kind, seed), known[name][kind]
            begin = time.process_time()
            costs = [
                co.multistart(
                    co.transcribe(stated, CURVE, compile=True), starts=co.refinement.SearchSettings(STARTS, seed=k)
                ).best.cost
                for k in range(runs)
            ]
            seconds = (time.process_time() - begin) / runs
            gaps = np.array(costs) / best["cost"] - 1
            every += list(gaps)
            share = best["coarse"][0]["share"]
            cells = (
                f"{np.mean(gaps < SAME):.0%}",
                f"{max(0.0, gaps.max()):.1%}",
                f"{np.sum(gaps < -SAME)}",
                f"{seconds:.1f}",
            )
            rows.append((f"{name}: {kind}", str(best["optima"]), f"{share:.1%}", *cells))
        numbers |= {f"found.{name}": float(np.mean(np.array(every) < SAME)), f"gap.{name}": float(np.mean(every))}
        numbers |= {f"better.{name}": float(np.sum(np.array(every) < -SAME)), f"runs.{name}": float(len(every))}
    header = ("", "optima", "in the best", "found", "largest gap", "better than known", "s")
    print(Table(f"{STARTS} starts against the best of {SEARCHED}", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
