"""How do build, solve and memory grow with the number of intervals, joints, phases and cases?

The time-optimal two-link problem on up to 2,000 intervals, and on Radau's points up to 100,000, of which fifteen
iterations are looked at in place of a solve; an effort problem of spatial chains of up to 200 joints on four intervals;
an effort of two links in up to 100 phases; what a sweep of up to 100,000 cases does beside solving them. Solved as the
plain call does, chains on CasADi's virtual machine, every point in a process of its own, in seconds of the processor;
`build` ends at the first iterate. Slopes are exponents: those of a straight line through the logarithms, from 100
intervals, 8 joints or 10 phases on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from colloc.studies.benchmarks.scaling_point import CURVES, PATIENCE
from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

INTERVALS, MANY_INTERVALS, FIRST_INTERVALS = (10, 20, 50, 100, 200, 500, 1000, 2000), (10_000, 30_000, 100_000), 100
JOINTS, FIRST_JOINTS = (2, 4, 8, 15, 30, 60, 120, 200), 8
PHASES, FIRST_PHASES = (1, 3, 10, 30, 100), 10
CASES = (1000, 10_000, 100_000)
QUICK_INTERVALS, QUICK_JOINTS, QUICK_PHASES, QUICK_CASES = (10, 100, 200), (2, 8, 12), (1, 10, 20), (100, 1000)
REPEATED = 5.0  # s: what takes less is run three times, of which the fastest counts
OPTIONS = (
    Option("intervals", MANY_INTERVALS[-1], "the largest number of intervals; 100,000 take 9 GB", least=10),
    Option("joints", JOINTS[-1], "the largest number of joints", least=8),
)
Points = dict[int, dict[str, float]]


def slope(points: Mapping[int, Mapping[str, float]], key: str, first: int) -> float:
    """Exponent of a quantity's growth from the point `first` on; NaN with fewer than two points."""
    sizes = [size for size in points if size >= first]
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log([points[size][key] for size in sizes]), 1)[0])


def measured(kind: str, counts: Sequence[int], repeats: int = 1) -> Points:
    """Points of one kind, each the fastest of some runs if these are short."""
    points = {}
    for count in counts:
        runs = [fresh("scaling_point", kind, str(count))]
        while len(runs) < repeats and runs[0]["build"] + runs[0]["solve"] < REPEATED:
            runs.append(fresh("scaling_point", kind, str(count)))
        points[count] = min(runs, key=lambda run: run.get("build", 0.0) + run.get("solve", 0.0))
    return points


def exponents(points: Points, first: int) -> dict[str, float]:
    """How seconds, iterations and memory of solves grow from a size on."""
    # A solve that is cut short gives the time of an iteration, not of a solve.
    solved = {count: point for count, point in points.items() if point["solved"]}
    return {
        "slope": slope(solved, "solve", first),
        "slope_per_iteration": slope(points, "per_iteration", first),
        "slope_iterations": slope(solved, "iterations", first),
        "slope_build": slope(points, "build", first),
        "slope_memory": slope(points, "peak_MB", first),
        "unsolved": float(len(points) - len(solved)),
    }


def interval_rows(kind: str, points: Points) -> list[tuple[str, ...]]:
    """Table rows of one transcription."""
    return [
        (
            f"{kind} {count}",
            f"{point['build']:.3f}",
            f"{point['solve']:.3f}" + ("" if point["solved"] else " unsolved"),
            f"{point['iterations']:.0f}",
            f"{1e3 * point['per_iteration']:.2f}",
            f"{point['peak_MB']:.0f}",
            f"{point['T']:.8f}",
        )
        for count, point in points.items()
    ]


def intervals_of(kind: str, largest: int, quick: bool) -> Sequence[int]:
    """Numbers of intervals, or of phases, at which a kind is looked at."""
    if kind == "phases":
        return QUICK_PHASES if quick else PHASES
    counts = QUICK_INTERVALS if quick else (*INTERVALS, *MANY_INTERVALS) if kind == "radau" else INTERVALS
    return [count for count in counts if count <= largest]


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "up to 200 intervals, 12 joints, 20 phases"
    args = arguments("benchmarks.scaling", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    numbers: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    notes = []
    for kind in (*CURVES, "phases"):
        counts = intervals_of(kind, args.intervals, args.quick)
        points = measured(kind, counts, 1 if args.quick else 3)
        found = exponents(points, FIRST_PHASES if kind == "phases" else FIRST_INTERVALS)
        numbers |= {f"scaling.{kind}.{key}": value for key, value in found.items()}
        numbers |= {f"scaling.{kind}.{count}.{key}": v for count, point in points.items() for key, v in point.items()}
        rows += interval_rows(kind, points)
        notes.append(f"  {kind}: " + ", ".join(f"{key} {value:.2f}" for key, value in found.items()))
    header = ("intervals, phases", "build s", "solve s", "iterations", "ms per iteration", "peak MB", "T")
    print(Table(f"Two links, at most {PATIENCE:.0f} s a solve", header, rows, notes).text())
    chains = measured("dof", QUICK_JOINTS if args.quick else [n for n in JOINTS if n <= args.joints])
    numbers |= {f"scaling.dof.{n}.{key}": value for n, point in chains.items() for key, value in point.items()}
    keys = ("build", "jacobian_ms", "gradient_ms", "hessian_ms", "peak_MB")
    found = {key: slope(chains, key, FIRST_JOINTS) for key in keys[:-1]}
    numbers |= {f"scaling.dof.slope_{key}": value for key, value in found.items()}
    lines = [(str(n), *(f"{point[key]:.3f}" for key in keys)) for n, point in chains.items()]
    notes = ["  exponents: " + ", ".join(f"{key} {value:.2f}" for key, value in found.items())]
    print(Table("Spatial chains, BSpline(4)", ("joints", *keys), lines, notes).text())
    sweeps = measured("cases", QUICK_CASES if args.quick else CASES)
    numbers |= {f"scaling.cases.{n}.{key}": value for n, point in sweeps.items() for key, value in point.items()}
    lines = [(str(n), f"{point['per_case_ms']:.3f}", f"{point['peak_MB']:.0f}") for n, point in sweeps.items()]
    print(Table("Sweeps of nothing", ("cases", "ms a case", "peak MB"), lines).text())
    numbers = {key: value for key, value in numbers.items() if np.isfinite(value)}  # JSON has no NaN
    return finish(args, numbers)


if __name__ == "__main__":
    main()
