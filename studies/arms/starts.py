"""How many optima have the motions of a three-link arm, of a PUMA 560, and of a walker, and who finds the best?

An arm of three links in gravity whose duration and effort both count, a PUMA 560 with its motors that saves effort in a
given time, and a step of the planar walker of `walking.gait2d`. Each is searched from many random motions by
`multistart`; optima are those of its coarse grid, costs those of the curve that is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from math import isfinite
from typing import Any, NamedTuple

import casadi as ca
from matplotlib.figure import Figure

import colloc as co
from colloc.models.chains.serial import planar_chain
from colloc.models.human.walker2d import walker2d
from colloc.models.puma560 import puma560
from colloc.plot.style import styled
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking import gait2d
from colloc.studies.walking.problem import problem as walking
from colloc.studies.walking.step import Step
from colloc.studies.workers import WORKERS, workers
from colloc.support.display import Table

FEWEST = 3  # starts of which one is random
OPTIONS = (
    Option("starts", 100, "starts of each arm", least=FEWEST),
    Option("steps", 6, f"starts of the walker, with fewer than {FEWEST} none", least=0),
    *WORKERS,
)


class Search(NamedTuple):
    """A problem, its curve, and options of the solver."""

    problem: co.Problem
    curve: co.curves.Transcription
    ipopt: Mapping[str, Any]


def squared_torque(now: co.problem.Instant) -> ca.SX:
    """Rate of the effort."""
    return ca.sumsqr(now.tau)


EFFORT = co.integral(squared_torque, "effort")


def three_links() -> Search:
    """From hanging on one side to hanging on the other, quickly and with little effort."""
    start, end = (-1.5, 0.2, 0.1), (1.5, -0.3, 0.4)  # rad
    limits = co.bounds(tau=(-8.0, 8.0))  # N m
    conditions = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0), limits]
    problem = co.Problem(planar_chain(3), co.Free(0.3, 5.0), co.duration() + 0.01 * EFFORT, conditions)
    return Search(problem, co.BSpline(20), {})


def puma() -> Search:
    """A PUMA 560 from one posture to another in two and a half seconds, with the least effort."""
    start, end = (-1.0, 0.2, -1.0, 0.0, 0.5, 0.0), (1.5, 2.5, -2.5, 1.0, 0.8, 0.3)  # rad
    conditions = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    problem = co.Problem(puma560(motors=True), 2.5, EFFORT, conditions)
    return Search(problem, co.BSpline(20), {})


def walker() -> Search:
    """A step of the planar walker."""
    step = Step(walker2d().ranged(gait2d.ANKLES))
    return Search(walking(step), gait2d.SPLINE, gait2d.IPOPT)


SEARCHES = {"three_links": three_links, "puma": puma, "walker": walker}


def searched(search: Search, starts: int, executor: Executor | int) -> tuple[co.sweeps.Optima, float]:
    """Optima that the starts reach, and seconds of the search."""
    begin = time.perf_counter()
    problem, curve, ipopt = search
    several = None if executor == 1 else executor  # one worker is this process
    found = co.multistart(
        co.transcribe(problem, curve, compile=True), starts=starts, executor=several, solver=co.Ipopt(**ipopt)
    )
    return found, time.perf_counter() - begin


def numbers_of(found: co.sweeps.Optima) -> dict[str, float]:
    """How many optima there are, the share of random starts that end in the best, and what `solve` alone misses.

    Optima and shares are those of the coarse grid. Nan where no random start ends in an optimum, or `solve` in none.
    """
    random = [start for start in found.starts if start.number and start.near is None]
    usual = [optimum.solution.cost for optimum in found.optima if optimum.from_default_guess]
    return {
        "optima": float(len({start.group for start in found.starts} - {None})),
        "best_share": sum(start.group == 0 for start in random) / len(random),
        "unseen": found.unseen,
        "failed": float(sum(start.group is None for start in found.starts)),
        "cost": found.best.cost,
        "missed": usual[0] / found.best.cost - 1 if usual else float("nan"),
    }


@styled
def draw(found: Mapping[str, co.sweeps.Optima]) -> Figure:
    """The ladders of optima, one below the other."""
    page = Figure(figsize=(9.0, 3.4 * len(found)), layout="constrained")
    for ax, (name, optima) in zip(page.subplots(len(found), squeeze=False)[:, 0], found.items(), strict=True):
        co.plot.optima(optima, ax=ax)
        title = ax.get_title(loc="left")
        ax.set_title(f"{name.replace('_', ' ')}: {title}", loc="left")
    return page


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("arms.starts", __doc__, argv, quick="sixteen starts, no walker", options=OPTIONS)
    counts = dict.fromkeys(SEARCHES, 16 if args.quick else int(args.starts))
    counts["walker"] = 0 if args.quick else int(args.steps)
    every, numbers, rows = {}, {}, []
    with workers(args.workers, args.scheduler) as several:
        for name, state in SEARCHES.items():
            if counts[name] < FEWEST:
                continue
            found, seconds = searched(state(), counts[name], several)
            every[name], own = found, numbers_of(found)
            numbers |= {f"{key}.{name}": value for key, value in own.items() if isfinite(value)}
            numbers[f"seconds.{name}"] = seconds
            shares = (f"{own['best_share']:.0%}", f"{own['unseen']:.0%}", f"{own['missed']:.1%}")
            cells = (str(counts[name]), f"{own['optima']:.0f}", *shares, f"{own['cost']:.6g}", f"{seconds:.1f}")
            rows.append((name.replace("_", " "), *cells))
    header = ("", "starts", "optima", "random ones in the best", "unseen", "solve is costlier by", "cost", "s")
    print(Table(args.question, header, rows).text())
    co.plot.save_figure(draw(every), args.figure)
    return finish(args, numbers, every["three_links"].best)


if __name__ == "__main__":
    main()
