"""What does the library cost on a problem that solves in milliseconds?

The time-optimal two-link problem from script start to solution, import included: this library against the same
nonlinear programs written by hand in plain CasADi, in fresh processes that take turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from colloc.studies.benchmarks.timing import fresh
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

WAYS = {"ours": "with_colloc", "plain": "plain_casadi"}
ALONE = {"OMP_NUM_THREADS": "1"}
OPTIONS = (Option("runs", 9, "pairs of runs", least=1),)
KINDS = ("spline", "hermite_simpson")
PARTS = ("import", "build", "solve", "total")


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.time_optimal", __doc__, argv, quick="two pairs", options=OPTIONS, figure=False)
    runs = 2 if args.quick else args.runs
    numbers: dict[str, float] = {}
    rows = []
    for kind in KINDS:
        # One thread for both; the first pair warms the disk's cache.
        pairs = [[fresh(way, kind, environment=ALONE) for way in WAYS.values()] for _ in range(runs + 1)][1:]
        for part in PARTS:
            ours, plain = (median(pair[k][part] for pair in pairs) for k in (0, 1))
            ratio = median(a[part] / b[part] for a, b in pairs)
            numbers |= {f"{kind}.{part}.ours": ours, f"{kind}.{part}.plain": plain, f"{kind}.{part}.ratio": ratio}
            rows.append((kind, part, f"{1e3 * ours:.1f} ms", f"{1e3 * plain:.1f} ms", f"{ratio:.2f}"))
        for k, name in enumerate(WAYS):
            numbers[f"{kind}.T.{name}"] = pairs[0][k]["T"]
        iterations = [str(int(pairs[0][k]["iterations"])) for k in (0, 1)]
        rows.append((kind, "iterations", *iterations, ""))
    header = ("", "", "ours", "plain CasADi", "ratio, pair by pair")
    print(Table(f"Time-optimal two-link arm, cold, medians of {runs} pairs", header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
