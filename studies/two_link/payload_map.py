"""What do load and effort share make of the best lift, and what does a map of it cost?

The lift of Xiang, Arora and Abdel-Malek (2009, example 2) over loads from none to 12 N and shares of the effort from
0.001 to 0.1: cost, duration, and which joint is at its torque limit. The map is computed by worker processes and once
more by a single one, and a line of it by `solve` in a loop, each case from the one before.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor

import casadi as ca
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import colloc as co
from colloc.models.two_link import two_link
from colloc.plot.style import GRID, ORANGE, SKY, VERMILLION, dress, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.two_link.lifting import CONVERGED, GRAVITY, LOAD, U, problem
from colloc.studies.workers import WORKERS, workers

LIMIT = 10.0  # N m
_COLORS, _LIMITED = (GRID, SKY, ORANGE, VERMILLION), ("none", "shoulder", "elbow", "both")
CURVE = co.BSpline(20)
LEAP = 0.1  # s between neighbours, which are two kinds of lift then
OPTIONS = (Option("size", 40, "loads, and as many shares", least=2), *WORKERS)


def ease(now: co.problem.Instant) -> ca.SX:
    """The duration's part of the cost."""
    return 1 - now.share


def effort(now: co.problem.Instant) -> ca.SX:
    """The effort's part."""
    return now.share * ca.sumsqr(now.tau)


def hanging(now: co.problem.Instant) -> ca.SX:
    """The load's weight."""
    return ca.vertcat(0, -now.load, 0)


def lifting() -> co.Problem:
    """The lift with load and share as parameters."""
    return co.Problem(
        model=two_link(GRAVITY),
        duration=problem.duration,
        minimize=co.integral(ease, name="ease") + co.integral(effort, name="effort"),
        subject_to=problem.subject_to,
        parameters=[co.Parameter("load", LOAD), co.Parameter("share", U)],
        loads=[co.Load("elbow", force=hanging)],
    )


def cases(size: int) -> dict[str, np.ndarray]:
    """Loads [N] and shares of the effort."""
    return {"load": np.linspace(0.0, 12.0, size), "share": np.geomspace(1e-3, 0.1, size)}


def limited(solution: co.Solution) -> float:
    """Which joint is at its torque limit: 0 none, 1 the shoulder, 2 the elbow, 3 both."""
    shoulder, elbow = np.abs(solution.tau).max(axis=0).tolist()
    return float(shoulder > 0.999 * LIMIT) + 2 * float(elbow > 0.999 * LIMIT)


def mapped(size: int, executor: Executor | int | None) -> tuple[co.sweeps.Sweep, float]:
    """The map, and the seconds that it took."""
    begin = time.perf_counter()
    found = co.sweep(lifting(), cases(size), CURVE, record={"limited": limited}, executor=executor)
    return found, time.perf_counter() - begin


def per_case(size: int) -> tuple[float, float]:
    """Processor seconds a case in a sweep in this process, and in a loop of warm re-solves, along some lines."""
    loads, shares = cases(size).values()
    few = {"load": loads[: max(2, size // 10)], "share": shares}
    begin = time.process_time()
    co.sweep(lifting(), few, CURVE, record={"limited": limited})
    swept, begin = time.process_time() - begin, time.process_time()
    nlp, first = co.transcribe(lifting(), CURVE), None
    for load in few["load"].tolist():
        guess = first
        for share in shares.tolist():
            guess = co.solve(nlp, parameters={"load": load, "share": share}, guess=guess, progress=False)
            limited(guess)
            first = guess if share == shares[0] else first
    count = few["load"].size * size
    return swept / count, (time.process_time() - begin) / count


def kinds(found: co.sweeps.Sweep) -> dict[str, float]:
    """Where the two kinds of lift meet, and up to which share of the effort a joint is at its limit."""
    loads, shares = found.axes("load", "share")
    duration, at = (found[name].reshape(loads.size, shares.size) for name in ("duration", "limited"))
    leaps = np.concatenate([np.abs(np.diff(duration, axis=axis)).ravel() for axis in (0, 1)])
    leaps = leaps[leaps > LEAP]
    numbers = {"leaps": float(leaps.size)}
    if leaps.size:
        numbers |= {"leap.least": float(leaps.min()), "leap.most": float(leaps.max())}
    for name, kind in (("shoulder", 1), ("elbow", 2)):
        numbers[f"limited.{name}.largest_share"] = float(shares[np.isin(at, (kind, 3)).any(axis=0)].max(initial=0.0))
    return numbers


@styled
def draw(found: co.sweeps.Sweep) -> Figure:
    """Cost, duration and active limit, side by side."""
    page = Figure(figsize=(12.0, 3.9), layout="constrained")
    *maps, last = page.subplots(1, 3)
    for ax, value, title in zip(maps, ("cost", "duration"), ("cost", "duration [s]"), strict=True):
        co.plot.map(found, "load", "share", value, ax=ax, units={"load": "N"})
        ax.set_title(title, loc="left")
    loads, shares = found.axes("load", "share")
    kinds = found["limited"].reshape(loads.size, shares.size).T
    last.pcolormesh(kinds, cmap=ListedColormap(_COLORS), vmin=-0.5, vmax=3.5)
    for axis, first in ((last.xaxis, maps[0].xaxis), (last.yaxis, maps[0].yaxis)):
        axis.set_ticks(first.get_ticklocs(), [label.get_text() for label in first.get_ticklabels()])
    last.set_title("at its torque limit", loc="left")
    dress(last)
    last.grid(False)
    marks = [
        Line2D([], [], marker="s", markersize=9, linestyle="", color=color, label=label)
        for color, label in zip(_COLORS, _LIMITED, strict=True)
    ]
    last.legend(handles=marks, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    for ax in (*maps, last):
        ax.set_xlabel("load [N]")
        ax.set_ylabel("share of the effort")
    return page


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.payload_map", __doc__, argv, quick="six loads and shares", options=OPTIONS)
    size = 6 if args.quick else args.size
    with workers(args.workers, args.scheduler) as several:
        found, seconds = mapped(size, several)
    _, alone = mapped(size, 1)
    swept, warm = per_case(size)
    paper = co.sweep(lifting(), [{"load": LOAD, "share": U}], CURVE)
    numbers = {
        "cases": float(len(found)),
        "failed": float(found.failed.size),
        "seconds": seconds,
        "seconds.one_worker": alone,
        "speedup": alone / seconds,
        "per_case": swept,
        "per_case_ratio": swept / warm,
        "T.paper": float(paper["duration"][0]),
        "iterations.mean": float(found["iterations"].mean()),
    }
    numbers |= kinds(found)
    rows = [
        Row("cases", numbers["cases"]),
        Row("failed", numbers["failed"]),
        Row("seconds, on the workers", seconds),
        Row("seconds, on one worker", alone),
        Row("times as fast as one", numbers["speedup"]),
        Row("processor seconds a case", swept),
        Row("over those of a warm re-solve", numbers["per_case_ratio"]),
        Row("T of the paper's case [s]", numbers["T.paper"], CONVERGED["T"], "lifting"),
    ]
    print(table(args.question, rows))
    co.plot.save_figure(draw(found), args.figure)
    film = paper.solution(0)
    assert isinstance(film, co.Solution)
    return finish(args, numbers, film)


if __name__ == "__main__":
    main()
