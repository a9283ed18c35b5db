"""Is an exact Hessian worth its evaluations in motions by muscles, or is L-BFGS, which needs none, there sooner?

The same nonlinear programs from the same starts, on one grid each: a human who stands up, an arm that bends its elbow
as fast as it can, half a stride of a planar walker. Second derivatives by algorithmic differentiation were quicker than
L-BFGS in balance, and slower in walking, with Falisse et al. (2019, PLOS ONE 14); *virtual* is the exact Hessian on
CasADi's virtual machine, though its formulas are the library's. Seconds are those of the processor by IPOPT's own
clock, the least of some rounds: the Hessian, the other callbacks, the linear algebra, and what is left. The linear
solver is MUMPS throughout, the tolerance IPOPT's own, 1e-8, which L-BFGS may take long to reach: *near* are the
iterations from which on the cost is within 0.1 % of the exact Hessian's optimum, and equations hold to 1e-4.
"""

from __future__ import annotations

import re
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import colloc as co
from colloc.solver import Hessian
from colloc.studies.arms import elbow
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.rising import squat
from colloc.studies.walking import by_muscles
from colloc.support.display import Table

WAYS: Mapping[str, tuple[Hessian, bool | None]] = {  # and whether it is compiled
    "exact": (Hessian.EXACT, None),
    "virtual": (Hessian.EXACT, False),
    "limited_memory": (Hessian.LIMITED_MEMORY, None),
}
PARTS = {
    "seconds": "OverallAlgorithm",
    "callbacks": "Function Evaluations",
    "hessian": "Lagrangian Hessian",
    "linear_algebra": "PDSystemSolverTotal",
}
MOST = 3000  # iterations
NEAR, HELD = 1e-3, 1e-4  # of the cost, and of the equations in their natural sizes
OPTIONS = (Option("rounds", 3, "number of rounds, of which the quickest counts", least=1),)


class Program(NamedTuple):
    """A problem on a grid, and where the search begins if not where `co.solve` would."""

    problem: co.Problem
    curve: co.curves.Transcription
    guess: Any = None


class Run(NamedTuple):
    """Result of a program in one of `WAYS`.

    Parameters
    ----------
    solved : bool
    cost : float
    iterations : int
    seconds : mapping of str to float
        Of the processor, by `PARTS` [s].
    history : mapping of str to sequence of float
        As that of a `Solution`.
    """

    solved: bool
    cost: float
    iterations: int
    seconds: Mapping[str, float]
    history: Mapping[str, Sequence[float]]

    def near(self, cost: float) -> int | None:
        """Iterations from which on the cost is near a known one and equations hold, None if there are none."""
        off = np.abs(np.array(self.history["cost"]) / cost - 1) > NEAR
        far = np.flatnonzero(off | (np.array(self.history["infeasibility"]) > HELD))
        count = int(far[-1]) + 1 if far.size else 0
        return count if count < off.size else None


def standing_up(way: str) -> Program:
    """From a squat to upright, by one of the ways of `rising.squat`."""
    return Program(squat.rise(way).problem, squat.curve())


def bending(tendons: str) -> Program:
    """An elbow in the least time, as in `arms.elbow`."""
    return Program(elbow.bend(tendons).problem, co.Radau(elbow.INTERVALS))


def walking() -> Program:
    """Half a stride on the first grid of `walking.by_muscles`."""
    made = by_muscles.walk()
    guess = by_muscles.swinging(made.walker, by_muscles.SPEED, by_muscles.STEP)
    return Program(made.problem, co.Radau(by_muscles.INTERVALS), guess)


PROGRAMS: Mapping[str, Callable[[], Program]] = {
    "squat, motors": lambda: standing_up("motors"),
    "squat, stiff tendons": lambda: standing_up("rigid"),
    "squat, tendons that give": lambda: standing_up("compliant"),
    "squat, a free foot": lambda: standing_up("free"),
    "elbow, stiff tendons": lambda: bending("rigid"),
    "elbow, tendons that give": lambda: bending("compliant"),
    "walk": walking,
}


def measured(program: Program, way: str) -> Run:
    """A program solved in one of `WAYS`, with the seconds that IPOPT writes down of itself."""
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        log, (hessian, compile) = Path(directory) / "ipopt.txt", WAYS[way]
        options = {"linear_solver": "mumps", "max_iter": MOST, "print_timing_statistics": "yes"}
        options |= {"output_file": str(log), "file_print_level": 3, "file_append": "yes"}
        solution = co.solve(
            program.problem, program.curve, guess=program.guess, plan=[co.refinement.Solve(between="nodes")],
            solver=co.Ipopt(hessian=hessian, **options), compile=compile, raise_on_failure=False, progress=False,
        )  # fmt: skip
        written = log.read_text(encoding="utf-8")
    seconds = {
        part: sum(map(float, re.findall(rf"^ *{name}\.*: +([\d.]+)", written, flags=re.MULTILINE)))
        for part, name in PARTS.items()
    }
    solved = solution.outcome.status is co.solver.Status.SOLVED
    return Run(solved, solution.cost, solution.iterations, seconds, solution.history)


def quickest(program: Program, rounds: int) -> dict[str, Run]:
    """The program in all ways, in turn, and of each the round that took the least."""
    runs: dict[str, list[Run]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            runs[way].append(measured(program, way))
    return {way: min(several, key=lambda run: run.seconds["seconds"]) for way, several in runs.items()}


def cells(name: str, way: str, run: Run, near: int | None) -> tuple[str, ...]:
    """A row of the table."""
    total, callbacks, hessian, algebra = (run.seconds[part] for part in PARTS)
    parts = (hessian, callbacks - hessian, algebra, total - callbacks - algebra)
    shares = tuple(f"{100 * part / total:.0f}" for part in parts)
    end = f"{run.cost:.8g}" if run.solved else "no optimum"
    return (name, way.replace("_", " "), str(run.iterations), str(near or ""), f"{total:.3f}", *shares, end)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.hessian", __doc__, argv, quick="who stands up on stiff tendons, once", options=OPTIONS, figure=False
    )
    names = ("squat, stiff tendons",) if args.quick else tuple(PROGRAMS)
    numbers: dict[str, float] = {}
    rows = []
    for name in names:
        runs = quickest(PROGRAMS[name](), 1 if args.quick else args.rounds)
        key = "hessian." + name.replace(",", "").replace(" ", "_")
        for way, run in runs.items():
            numbers |= {f"{key}.{way}.{part}": seconds for part, seconds in run.seconds.items()}
            numbers |= {f"{key}.{way}.iterations": float(run.iterations), f"{key}.{way}.solved": float(run.solved)}
            numbers[f"{key}.{way}.cost"] = run.cost
            near = run.near(runs["exact"].cost)
            if near is not None:
                numbers[f"{key}.{way}.near"] = float(near)
            rows.append(cells(name if way == "exact" else "", way, run, near))
            print("  ".join(rows[-1]), file=sys.stderr)
        for way in ("virtual", "limited_memory"):
            numbers[f"{key}.{way}.ratio"] = runs[way].seconds["seconds"] / runs["exact"].seconds["seconds"]
    shares = ("% Hessian", "% other callbacks", "% linear algebra", "% rest")
    header = ("", "Hessian", "iterations", "near", "s", *shares, "cost")
    print(Table(args.question, header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
