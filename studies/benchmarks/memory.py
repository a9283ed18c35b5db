"""Does a worker that solves one case of a sweep after another keep to the memory that it began with?

Fastest swings of a two-link arm under torque limits that vary from case to case, in one worker process. Its largest
memory so far is recorded after every case: it can only grow, and ends where it was after a tenth of the cases if
nothing is kept.
"""

from __future__ import annotations

import resource
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

import colloc as co
from colloc.models.two_link import two_link
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

CURVE = co.BSpline(10)
OPTIONS = (Option("cases", 2000, "number of cases", least=20),)
SHARES = (0.01, 0.1, 0.5, 1.0)


def peak(_: co.Solution) -> float:
    """Largest memory that the process has had [MB]."""
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return largest / (1e6 if sys.platform == "darwin" else 1e3)  # bytes there, kilobytes elsewhere


def problem() -> co.Problem:
    """The fastest swing, with the torque limit of both joints as a parameter [N m]."""
    limit = co.Parameter("limit", 10.0)
    return co.Problem(
        two_link(),
        co.Free(0.1, 5.0),
        co.duration(),
        [
            co.initial(q=(0.0, -2.0), qd=0.0),
            co.final(q=(1.0, -1.0), qd=0.0),
            co.path(lambda now: now.tau / now.limit, lower=-1.0, upper=1.0, name="limit"),
        ],
        parameters=[limit],
    )


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.memory", __doc__, argv, quick="forty cases", options=OPTIONS, figure=False)
    count = 40 if args.quick else args.cases
    limits = {"limit": np.linspace(5.0, 20.0, count)}
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as worker:
        table = co.sweep(
            co.transcribe(problem(), CURVE, compile=False),
            limits,
            record={"memory": peak},
            executor=worker,
            progress=False,
        )
    memory = np.sort(table["memory"])  # in the order in which cases were solved
    marks = {share: float(memory[max(int(share * count) - 1, 0)]) for share in SHARES}
    numbers = {f"memory.{share:g}": value for share, value in marks.items()}
    numbers |= {"cases": float(count), "failed": float(table.failed.size), "growth": marks[1.0] / marks[0.1] - 1}
    rows = [(f"{share:.0%} of {count} cases", f"{value:.1f} MB") for share, value in marks.items()]
    notes = [f"  from a tenth of the cases to all: {numbers['growth']:+.2%}; failed: {table.failed.size}"]
    print(Table("Largest memory of a worker", ("after", "so far"), rows, notes).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
