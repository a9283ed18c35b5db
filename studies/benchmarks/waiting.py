"""What does a user wait for, from the start of Python to the answer, and what does it consist of?

Parts, each by its own name in ``--parts``:

arms        the plain call: every motion is a process of its own: a pair of random postures of a Panda, a UR5 or an LBR
            iiwa in the least time, of a Puma 560 with least effort, or a random problem of a random arm; with the
            interpreter of programs in the cache, and in turn on CasADi's virtual machine alone. Seconds of callbacks
            are of all rounds, but not of the search for other starts.
gait        a step of the 55-DOF human, to the table of `walking.gait`, with what was compiled before, and without
walks       steps of people of 45 to 110 kg at 0.8 to 1.6 m/s, drawn at random, found from that step
standing    the same from standing still
effort43    IPOPT's linear algebra on the 43-DOF effort problem, MUMPS over ours, an iteration: `linear_algebra`
scaling     exponent of an iteration's time over intervals, two links on Radau's points: `scaling`

Seconds are the processor's, of a process and those that it started. Modules have been compiled to bytecode before, as
they are where a library is installed. The targets for these numbers stand beside them in the last table.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean, median

import colloc as co
from colloc.studies.benchmarks import linear_algebra, scaling
from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

ARMS = ("panda", "ur5", "iiwa", "puma", "random")
WAYS = ("interpreter", "vm")
PARTS = ("import", "solve", "callbacks", "total")
ALL = ("arms", "gait", "walks", "standing", "effort43", "scaling")
# Targets: upper limits, lower limits for the two ratios of others to colloc, and shares solved.
ASKED = {
    "arms.median": 0.5, "arms.worst": 1.5, "arms.first": 0.6, "gait.script": 4.0, "gait.cold": 6.5,
    "walks.solved": 1.0, "walks.iterations": 80.0, "effort43.factor_ratio": 5.0, "scaling.slope": 1.05,
}  # fmt: skip
OPTIONS = (
    Option("parts", ",".join(ALL), "which parts, with commas between them"),
    Option("pairs", 5, "number of motions of every arm", least=1),
    Option("first", 0, "seed of the first of them, and of the first walker", least=0),
    Option("walkers", 60, "number of people who walk", least=1),
    Option("intervals", 100_000, "the largest number of intervals", least=100),
)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "one motion of two arms, slopes up to 200 intervals"
    args = arguments("benchmarks.waiting", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    parts = ["arms", "scaling"] if args.quick else args.parts.split(",")
    if not set(parts) <= set(ALL):
        raise co.InputError(f"parts must be some of {', '.join(ALL)}, got {args.parts!r}")
    numbers: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        environment = {"PYTHONPYCACHEPREFIX": str(Path(directory) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
        if "arms" in parts:
            numbers |= plain_calls(("ur5", "random") if args.quick else ARMS, args, environment)
        if {"gait", "walks", "standing"} & set(parts):
            numbers |= steps(parts, range(args.first, args.first + args.walkers), environment)
    if "effort43" in parts:
        *_, last = linear_algebra.paired(linear_algebra.HUMAN)
        numbers["effort43.factor_ratio"] = linear_algebra.compared(last)["ratio_each"]
    if "scaling" in parts:
        points = scaling.measured("radau", scaling.intervals_of("radau", args.intervals, args.quick))
        exponents = scaling.exponents(points, scaling.FIRST_INTERVALS)
        numbers["scaling.slope"] = exponents["slope_per_iteration"]
        numbers["scaling.slope.build"] = exponents["slope_build"]
    rows = [(name, f"{numbers[name]:.3g}", f"{asked:g}") for name, asked in ASKED.items() if name in numbers]
    print(Table("Waiting times", ("", "is", "asked"), rows).text())
    return finish(args, numbers)


def steps(parts: Sequence[str], walkers: range, environment: Mapping[str, str]) -> dict[str, float]:
    """A step of the mean man with what was compiled before and without, and steps of others; their numbers."""
    numbers: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        cache = {**environment, "COLLOC_CACHE_DIR": directory}
        file = str(Path(directory) / "walk.npz")
        if {"gait", "walks"} & set(parts):
            cold, warm = (fresh("waiting_point", "gait", file, environment=cache) for _ in range(2))
            numbers |= {"gait.script": warm["total"], "gait.cold": cold["total"]}
            numbers |= {f"gait.{name}": warm[name] for name in ("solver", "iterations", "solved")}
            numbers["gait.compilers"] = cold["compilers"]
            print(Table("A step", ("", ""), [(name, f"{value:.3g}") for name, value in numbers.items()]).text())
        for part, start in {"walks": [file], "standing": []}.items():
            if part in parts:
                walks = [fresh("waiting_point", "walker", str(k), *start, environment=cache) for k in walkers]
                numbers |= people(part, walks)
    return numbers


def people(part: str, walks: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The table and the numbers of steps of several people."""
    numbers = {f"{part}.people": float(len(walks)), f"{part}.solved": mean(walk["solved"] for walk in walks)}
    numbers[f"{part}.ended"] = mean(walk["ended"] for walk in walks)
    numbers[f"{part}.iterations"] = median(walk["iterations"] for walk in walks if walk["ended"])
    numbers[f"{part}.seconds"] = median(walk["total"] for walk in walks)
    header = ("mass, kg", "speed, m/s", "solved", "iterations", "s")
    lines = [
        (f"{walk['mass']:.0f}", f"{walk['speed']:.2f}", yes(walk), f"{walk['iterations']:.0f}", f"{walk['total']:.1f}")
        for walk in walks
    ]
    print(Table("People who walk", header, lines, [f"  {k}: {v:.3g}" for k, v in numbers.items()]).text())
    return numbers


def yes(walk: Mapping[str, float]) -> str:
    """How a walk ended."""
    return "yes" if walk["solved"] else "too coarse" if walk["ended"] else "no"


def plain_calls(arms: Sequence[str], args: Namespace, bytecode: Mapping[str, str]) -> dict[str, float]:
    """The plain call on some arms; its numbers."""
    pairs = 1 if args.quick else args.pairs
    with tempfile.TemporaryDirectory() as directory:
        cache = {**bytecode, "COLLOC_CACHE_DIR": directory}
        compilation = fresh("waiting_point", "compile", environment=cache)["total"]
        for arm in arms:
            fresh("waiting_point", arm, "0", "interpreter", environment=cache)  # leaves the bytecode
        with tempfile.TemporaryDirectory() as empty:
            environment = {**bytecode, "COLLOC_CACHE_DIR": empty}
            first = fresh("waiting_point", arms[0], "0", "interpreter", environment=environment)
        runs = [
            {way: fresh("waiting_point", arm, str(args.first + k), way, environment=cache) for way in WAYS}
            for k in range(pairs)
            for arm in arms
        ]
    numbers = {
        "arms.motions": float(len(runs)),
        "arms.solved": float(sum(run["interpreter"]["solved"] for run in runs)),
        "arms.difference": max(abs(run["interpreter"]["cost"] / run["vm"]["cost"] - 1) for run in runs),
        "arms.compilation": compilation,
        "arms.first": first["total"] - compilation,
    }
    for way in WAYS:
        seconds = {part: [run[way][part] for run in runs] for part in PARTS}
        suffix = "" if way == "interpreter" else ".vm"
        numbers[f"arms.median{suffix}"], numbers[f"arms.worst{suffix}"] = (
            median(seconds["total"]),
            max(seconds["total"]),
        )
        for part in PARTS[:-1]:
            numbers[f"arms.{part}{suffix}"] = median(seconds[part])
    for part in ("total", "callbacks"):
        ratios = [run["vm"][part] / run["interpreter"][part] for run in runs]
        numbers[f"arms.speedup.{part}"] = median(ratios)
    lines = [row(arm, runs[k :: len(arms)]) for k, arm in enumerate(arms)]
    header = ("", "solved", *(f"{part} {way}" for way in WAYS for part in PARTS))
    print(Table("The plain call, median of the processor's seconds", header, lines, notes(numbers)).text())
    return numbers


def row(arm: str, runs: Sequence[dict[str, dict[str, float]]]) -> tuple[str, ...]:
    """A line of the table."""
    seconds = (f"{median(run[way][part] for run in runs):.2f}" for way in WAYS for part in PARTS)
    return arm, f"{sum(run['interpreter']['solved'] for run in runs):.0f} of {len(runs)}", *seconds


def notes(numbers: dict[str, float]) -> list[str]:
    """Summary of the table, in lines."""
    return [
        f"  all motions: median {numbers['arms.median']:.2f}, at most {numbers['arms.worst']:.2f}; on the virtual "
        f"machine {numbers['arms.median.vm']:.2f} and {numbers['arms.worst.vm']:.2f}",
        f"  the virtual machine over the interpreter, median of the ratios: {numbers['arms.speedup.total']:.2f}, "
        f"of callbacks {numbers['arms.speedup.callbacks']:.1f}; costs differ by {numbers['arms.difference']:.1e}",
        f"  first ever on a machine: {numbers['arms.first']:.2f}, and {numbers['arms.compilation']:.2f} of compilation",
    ]


if __name__ == "__main__":
    main()
