"""What does a user wait for: the plain call on arms, from the start of Python to the answer?

Every motion is a process of its own: a pair of random postures of a Panda, a UR5 or an LBR iiwa in the least time, of a
Puma 560 with least effort, or a random problem of a random arm; with the interpreter of programs in the cache, and in
turn on CasADi's virtual machine alone. Seconds are the processor's, of this process and those that it started; those of
callbacks are of the last round alone. Modules have been compiled to bytecode before, as they are where a library is
installed.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

ARMS = ("panda", "ur5", "iiwa", "puma", "random")
WAYS = ("interpreter", "vm")
PARTS = ("import", "solve", "callbacks", "total")
OPTIONS = (
    Option("pairs", 5, "number of motions of every arm", least=1),
    Option("first", 0, "seed of the first", least=0),
)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.waiting", __doc__, argv, quick="one motion of two arms", options=OPTIONS, figure=False)
    arms, pairs = (("ur5", "random"), 1) if args.quick else (ARMS, args.pairs)
    with tempfile.TemporaryDirectory() as directory:
        bytecode = {"PYTHONPYCACHEPREFIX": str(Path(directory) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
        cache = bytecode | {"COLLOC_CACHE_DIR": directory}
        compilation = fresh("waiting_point", "compile", environment=cache)["total"]
        for arm in arms:
            fresh("waiting_point", arm, "0", "interpreter", environment=cache)  # leaves the bytecode
        with tempfile.TemporaryDirectory() as empty:
            environment = bytecode | {"COLLOC_CACHE_DIR": empty}
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
    return finish(args, numbers)


def row(arm: str, runs: Sequence[dict[str, dict[str, float]]]) -> tuple[str, ...]:
    """A line of the table."""
    seconds = (f"{median(run[way][part] for run in runs):.2f}" for way in WAYS for part in PARTS)
    return arm, f"{sum(run['interpreter']['solved'] for run in runs):.0f} of {len(runs)}", *seconds


def notes(numbers: dict[str, float]) -> list[str]:
    """What the table comes to."""
    return [
        f"  all motions: median {numbers['arms.median']:.2f}, at most {numbers['arms.worst']:.2f}; on the virtual "
        f"machine {numbers['arms.median.vm']:.2f} and {numbers['arms.worst.vm']:.2f}",
        f"  the virtual machine over the interpreter, median of the ratios: {numbers['arms.speedup.total']:.2f}, "
        f"of callbacks {numbers['arms.speedup.callbacks']:.1f}; costs differ by {numbers['arms.difference']:.1e}",
        f"  first ever on a machine: {numbers['arms.first']:.2f}, and {numbers['arms.compilation']:.2f} of compilation",
    ]


if __name__ == "__main__":
    main()
