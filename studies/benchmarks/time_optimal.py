"""What does the library cost on a problem that solves in milliseconds?

The time-optimal two-link problem from script start to solution, import included: this library against the same
nonlinear programs written by hand in plain CasADi, in fresh processes that take turns.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from colloc.display import Table
from colloc.files import check_writable
from studies.reporting import write_json

ROOT = Path(__file__).parent.parent.parent
KINDS = ("spline", "hermite_simpson")
PARTS = ("import", "build", "solve", "total")


def run_once(module: str, kind: str) -> dict[str, float]:
    """One cold run in a process of its own."""
    command = [sys.executable, "-m", f"studies.benchmarks.{module}", kind]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, env=environment)
    return json.loads(done.stdout)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--runs", type=int, default=9)
    args = parser.parse_args(argv)
    if args.json:
        check_writable(args.json, (".json",))
    numbers: dict[str, float] = {}
    rows = []
    for kind in KINDS:
        pairs = [(run_once("with_colloc", kind), run_once("plain_casadi", kind)) for _ in range(args.runs + 1)][1:]
        for part in PARTS:
            ours, plain = (median(pair[k][part] for pair in pairs) for k in (0, 1))
            ratio = median(a[part] / b[part] for a, b in pairs)
            numbers |= {f"{kind}.{part}.ours": ours, f"{kind}.{part}.plain": plain, f"{kind}.{part}.ratio": ratio}
            rows.append((kind, part, f"{1e3 * ours:.1f} ms", f"{1e3 * plain:.1f} ms", f"{ratio:.2f}"))
        for k, name in enumerate(("ours", "plain")):
            numbers[f"{kind}.T.{name}"] = pairs[0][k]["T"]
        iterations = [str(int(pairs[0][k]["iterations"])) for k in (0, 1)]
        rows.append((kind, "iterations", *iterations, ""))
    header = ("", "", "ours", "plain CasADi", "ratio, pair by pair")
    print(Table(f"Time-optimal two-link arm, cold, medians of {args.runs} pairs", header, rows).text())
    write_json(args.json, numbers)
    return numbers


if __name__ == "__main__":
    main()
