"""How soon does a new installation answer for the first time, and what do compilers and caches change?

Whole processes, from the start of Python to the answer: `import colloc`, the README's first script, a Panda's plain
call, a step of the 55-DOF human (two programs), an effort of all its 55 joints, and the first walk of the human with 80
muscles. Each runs

wheel      with the libraries that wheels bring, without a C compiler, and an empty cache
compiler   from a checkout, with a C compiler, and an empty cache
neither    from a checkout, without a C compiler: CasADi evaluates the functions, MUMPS factorises
again      from a checkout, after that with a compiler, with its cache

Seconds are the processor's, of a process and of the compilers that it started. Modules are compiled to bytecode before,
as pip does.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

import colloc as co
from colloc.kernels import ship_interpreter
from colloc.solver.lanes import ship_lanes
from colloc.solver.linear_solvers import ship_multifrontal
from colloc.studies.benchmarks.cold_starts_point import MOTIONS
from colloc.studies.benchmarks.timing import ROOT, fresh
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

FOLDERS = ("colloc", "models", "studies")
WAYS = ("wheel", "compiler", "neither", "again")
NO_COMPILER = {"CC": "no-compiler"}
ASKED = {"import": 0.35, "wheel": 10.0, "compiler": 5.0}  # s
OPTIONS = (
    Option("motions", ",".join(MOTIONS), "which, with commas between them"),
    Option("runs", 3, "number of runs of each, of which the median counts", least=1),
)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    quick = "the import and the first script, once"
    args = arguments("benchmarks.cold_starts", __doc__, argv, quick=quick, options=OPTIONS, figure=False)
    motions = ["import", "script"] if args.quick else args.motions.split(",")
    if not set(motions) <= set(MOTIONS):
        raise co.InputError(f"motions must be some of {', '.join(MOTIONS)}, got {args.motions!r}")
    numbers: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as directory:
        wheel = installed(Path(directory) / "wheel")
        for root in (ROOT, wheel):
            folders = [str(root / name) for name in FOLDERS]
            subprocess.run([sys.executable, "-m", "compileall", "-q", *folders], check=True)
        for motion in motions:
            runs = [started(motion, Path(directory), wheel) for _ in range(1 if args.quick else args.runs)]
            numbers |= compared(motion, runs)
    print(report(motions, numbers).text())
    return finish(args, numbers)


def installed(folder: Path) -> Path:
    """A copy of the checkout with the libraries that wheels have."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "figures", "results"))
    libraries = folder / "colloc" / "kernels" / "compiled"
    libraries.mkdir()
    for ship in (ship_interpreter, ship_multifrontal, ship_lanes):
        ship(libraries)
    return folder


def started(motion: str, directory: Path, wheel: Path) -> dict[str, dict[str, float]]:
    """Numbers of a motion in every way, in turn."""
    found = {}
    with tempfile.TemporaryDirectory(dir=directory) as empty:
        for way in WAYS:
            cache = Path(empty) / ("compiler" if way == "again" else way)
            environment = {"COLLOC_CACHE_DIR": str(cache), "PYTHONPATH": ""}
            environment |= NO_COMPILER if way in ("wheel", "neither") else {}
            root = wheel if way == "wheel" else ROOT
            found[way] = fresh("cold_starts_point", motion, environment=environment, root=root)
    return found


def compared(motion: str, runs: Sequence[Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    """Medians of the seconds of a motion, and the largest relative difference of its costs."""
    numbers = {}
    for way in WAYS:
        for part in ("total", "compilers", "import", "iterations"):
            if part in runs[0][way]:
                numbers[f"{motion}.{way}.{part}"] = median(run[way][part] for run in runs)
    if "cost" in runs[0]["again"]:
        costs = [run[way]["cost"] for run in runs for way in WAYS]
        numbers[f"{motion}.difference"] = max(costs) / min(costs) - 1
    return numbers


def report(motions: Sequence[str], numbers: Mapping[str, float]) -> Table:
    """The table."""
    rows = []
    for motion in motions:
        difference = numbers.get(f"{motion}.difference")
        seconds = (f"{numbers[f'{motion}.{way}.total']:.2f}" for way in WAYS)
        rows.append((motion, *seconds, "" if difference is None else f"{difference:.0e}"))
    notes = [f"  asked: {', '.join(f'{name} {seconds:g} s' for name, seconds in ASKED.items())}"]
    return Table("First answers, seconds of the processor", ("", *WAYS, "costs differ by"), rows, notes)


if __name__ == "__main__":
    main()
