"""How do build, solve and memory grow with the number of intervals and of joints?

The time-optimal two-link problem on up to 2,000 intervals, and an effort problem of spatial chains of up to 60 joints
on four; all on CasADi's virtual machine, every point in a process of its own. Slopes are exponents: those of a straight
line through the logarithms, from 100 intervals or 8 joints on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from colloc.studies.benchmarks.scaling_point import CURVES, PATIENCE
from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

INTERVALS, FIRST_INTERVALS = (10, 20, 50, 100, 200, 500, 1000, 2000), 100
JOINTS, FIRST_JOINTS = (2, 4, 8, 15, 30, 60), 8
QUICK_INTERVALS, QUICK_JOINTS = (10, 100, 200), (2, 8, 12)
Points = dict[int, dict[str, float]]


def slope(points: Mapping[int, Mapping[str, float]], key: str, first: int) -> float:
    """Exponent of a quantity's growth from the point `first` on; NaN with fewer than two points."""
    sizes = [size for size in points if size >= first]
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(sizes), np.log([points[size][key] for size in sizes]), 1)[0])


def along_intervals(kind: str, counts: Sequence[int], repeats: int) -> tuple[Points, dict[str, float]]:
    """Points of one transcription, each the fastest of some runs, and the exponents of their growth."""
    points = {}
    for count in counts:
        runs = [fresh("scaling_point", kind, str(count))]
        while len(runs) < repeats and runs[0]["solve"] < 5.0:
            runs.append(fresh("scaling_point", kind, str(count)))
        points[count] = min(runs, key=lambda run: run["build"] + run["solve"])
    # What ran out of time tells what an iteration takes, not a solve.
    solved = {count: point for count, point in points.items() if point["solved"]}
    return points, {
        "slope": slope(solved, "solve", FIRST_INTERVALS),
        "slope_per_iteration": slope(points, "per_iteration", FIRST_INTERVALS),
        "slope_iterations": slope(solved, "iterations", FIRST_INTERVALS),
        "slope_build": slope(points, "build", FIRST_INTERVALS),
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


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.scaling", __doc__, argv, quick="up to 200 intervals and 12 joints", figure=False)
    numbers: dict[str, float] = {}
    rows: list[tuple[str, ...]] = []
    notes = []
    for kind in CURVES:
        points, found = along_intervals(kind, QUICK_INTERVALS if args.quick else INTERVALS, 1 if args.quick else 3)
        numbers |= {f"scaling.{kind}.{key}": value for key, value in found.items()}
        numbers |= {f"scaling.{kind}.{count}.{key}": v for count, point in points.items() for key, v in point.items()}
        rows += interval_rows(kind, points)
        notes.append(f"  {kind}: " + ", ".join(f"{key} {value:.2f}" for key, value in found.items()))
    header = ("intervals", "build s", "solve s", "iterations", "ms per iteration", "peak MB", "T")
    print(Table(f"Time-optimal two-link arm, at most {PATIENCE:.0f} s a solve", header, rows, notes).text())
    chains = {n: fresh("scaling_point", "dof", str(n)) for n in (QUICK_JOINTS if args.quick else JOINTS)}
    numbers |= {f"scaling.dof.{n}.{key}": value for n, point in chains.items() for key, value in point.items()}
    keys = ("build", "jacobian_ms", "gradient_ms", "hessian_ms", "peak_MB")
    found = {key: slope(chains, key, FIRST_JOINTS) for key in keys[:-1]}
    numbers |= {f"scaling.dof.slope_{key}": value for key, value in found.items()}
    lines = [(str(n), *(f"{point[key]:.3f}" for key in keys)) for n, point in chains.items()]
    notes = ["  exponents: " + ", ".join(f"{key} {value:.2f}" for key, value in found.items())]
    print(Table("Spatial chains, BSpline(4)", ("joints", *keys), lines, notes).text())
    numbers = {key: value for key, value in numbers.items() if np.isfinite(value)}  # JSON has no NaN
    return finish(args, numbers)


if __name__ == "__main__":
    main()
