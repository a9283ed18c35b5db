"""How many iterations do the largest walking motions take, beside another version of the library?

The walk by 18 muscles, the human of 80 muscles, the problem of PredSim and a step of the 55-DOF human, by the studies
of each version. Every study is a process of its own, and the versions take turns. Iterations of the walks by muscles
are those on their first grids; seconds are the processor's, of the whole process with imports, building and judgement.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median

import colloc as co
from colloc.studies.benchmarks.timing import ROOT
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

# Numbers of the studies that count iterations; of the two walks by muscles those on the first grid.
COUNTS = {
    "walking.by_muscles": ("first.iterations",),
    "walking.human_by_muscles": ("followed.first.iterations", "predicted.first.iterations"),
    "walking.predsim": ("iterations",),
    "walking.gait": ("iterations",),
}
OPTIONS = (
    Option("motions", ",".join(COUNTS), "studies, with commas between them"),
    Option("other", "", "directory of another version of the library, such as a git worktree"),
)
ASKED = 0.6  # median ratio of iterations


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "the studies with --quick, on coarse grids"
    args = arguments("benchmarks.motions", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    motions = args.motions.split(",")
    if not set(motions) <= set(COUNTS):
        raise co.InputError(f"motions must be some of {', '.join(COUNTS)}, got {args.motions!r}")
    versions = {"": ROOT} | ({"other.": Path(args.other).resolve()} if args.other else {})
    numbers: dict[str, float] = {}
    for motion in motions:
        for prefix, root in reversed(versions.items()):
            iterations, seconds = measured(motion, root, quick=args.quick)
            numbers |= {f"{prefix}{motion}.iterations": iterations, f"{prefix}{motion}.seconds": seconds}
    if args.other:
        for what in ("iterations", "seconds"):
            ratios = {m: numbers[f"{m}.{what}"] / numbers[f"other.{m}.{what}"] for m in motions}
            numbers |= {f"{motion}.{what}.ratio": ratio for motion, ratio in ratios.items()}
            numbers[f"{what}.ratio"] = median(ratios.values())
    print(report(motions, numbers, both=bool(args.other)).text())
    return finish(args, numbers)


def measured(motion: str, root: Path, *, quick: bool) -> tuple[float, float]:
    """Iterations and seconds of the processor of a study, by the version of the library in a directory."""
    with tempfile.TemporaryDirectory() as directory:
        file, figure = Path(directory) / "numbers.json", str(Path(directory) / "figure.png")
        words = [motion, *(["--quick"] if quick else []), "--json", str(file), "--figure", figure]
        command = [sys.executable, "-m", "colloc", *words]
        if motion == "walking.gait":  # one step; the study has many
            walk = str(Path(directory) / "walk.npz")
            command = [sys.executable, "-m", "colloc.studies.benchmarks.waiting_point", "gait", walk]
        before = _seconds_of_children()
        environment = os.environ | {"PYTHONPATH": str(root)}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=root, env=environment)
        seconds = _seconds_of_children() - before
        numbers = json.loads(file.read_text(encoding="utf-8") if file.exists() else done.stdout)
    return sum(numbers[name] for name in COUNTS[motion]), seconds


def _seconds_of_children() -> float:
    """Seconds of the processor of all processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def report(motions: Sequence[str], numbers: dict[str, float], *, both: bool) -> Table:
    """The table."""
    header, notes = ("", "iterations", "s"), []
    lines = [(m, f"{numbers[f'{m}.iterations']:.0f}", f"{numbers[f'{m}.seconds']:.1f}") for m in motions]
    if both:
        header = (*header, "other: iterations", "s", "ratio of iterations", "of seconds")
        lines = [
            (
                *line,
                f"{numbers[f'other.{motion}.iterations']:.0f}",
                f"{numbers[f'other.{motion}.seconds']:.1f}",
                f"{numbers[f'{motion}.iterations.ratio']:.2f}",
                f"{numbers[f'{motion}.seconds.ratio']:.2f}",
            )
            for motion, line in zip(motions, lines, strict=True)
        ]
        notes = [
            f"  median ratio of iterations {numbers['iterations.ratio']:.2f} (asked: {ASKED}), of seconds "
            f"{numbers['seconds.ratio']:.2f}"
        ]
    return Table("Large motions", header, lines, notes)


if __name__ == "__main__":
    main()
