"""Does the plain call come to the optima that others publish?

Every row of optima.csv is a problem of optimal control with the optimum that a tool, a book or a closed form has for
it. Each is stated from its equations, with no guess but that of its source, and solved by `co.solve(problem, tol=...)`;
the swimmer alone, which has many local optima, begins with strokes on a finer grid.
An answer is right if it comes within 1e-6 of the published value, or within half a unit of its last digit where that
is more; no more is asked of the call than that, and no less than 1e-3. Answers are refined further for digits of ours,
with the conditions of an optimum (`co.optimality.certify`). Where the published value is not the optimum, the statement
says so, and what it is: an answer that comes to that one, to as many digits as are published, is right.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from math import isfinite, nan
from typing import Any, NamedTuple

import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import GREEN, MUTED, VERMILLION, dress, legend_below, styled
from colloc.studies.classics.published.aircraft import AIRCRAFT
from colloc.studies.classics.published.bodies import BODIES
from colloc.studies.classics.published.cars import CARS
from colloc.studies.classics.published.curves import CURVES
from colloc.studies.classics.published.fits import FITS
from colloc.studies.classics.published.flights import FLIGHTS
from colloc.studies.classics.published.integrators import INTEGRATORS
from colloc.studies.classics.published.machines import MACHINES
from colloc.studies.classics.published.orbits import ORBITS
from colloc.studies.classics.published.oscillators import OSCILLATORS
from colloc.studies.classics.published.processes import PROCESSES
from colloc.studies.classics.published.reactors import REACTORS
from colloc.studies.classics.published.rockets import ROCKETS
from colloc.studies.classics.published.statement import Published, Statement, published
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

STATEMENTS: dict[str, Statement] = (
    INTEGRATORS | CURVES | ROCKETS | AIRCRAFT | MACHINES | PROCESSES
    | OSCILLATORS | REACTORS | FLIGHTS | ORBITS | BODIES | CARS | FITS
)  # fmt: skip
NOT_STATED: dict[str, str] = {
    "bressgott_notorious": "its data are random numbers that every run draws again",
    "mk2_five_link": "its equations of motion are in a program that is not published with it",
}  # why, by name
DEFAULT = 1e-3  # of a call without a curve
FINER = 0.1  # tolerance of the digits of ours, over that of the answer
OPTIONS = (
    Option("only", "", "names of rows, with commas between them; all by default"),
    Option("tol", 1e-6, "tolerance of the answers whose published digits are as many", above=0.0),
    Option("seconds", 120.0, "time limit of an answer, and of every attempt at a finer one [s]", above=0.0),
    Option("plain", False, "no digits of ours, and no certificates"),
)
SHOWN = (1e-12, 1.0)  # of relative distances
QUICK = ("lqr_half_tanh", "double_integrator_fuel", "bolza_free_tf", "nonsmooth_turnpike")


class Answer(NamedTuple):
    """The answer to one row.

    Parameters
    ----------
    row : Published
    statement : Statement
    status : str
    value : float
        Like the published one; NaN where there is no motion.
    iterations : int
    seconds : float
        Processor time.
    finer : float
        Value on a finer grid; NaN where that was not tried, or is not solved.
    certified : bool, optional
        Whether no condition of an optimum fails there; None where that was not tried.
    """

    row: Published
    statement: Statement
    status: str
    value: float
    iterations: int
    seconds: float
    finer: float = nan
    certified: bool | None = None

    @property
    def solved(self) -> bool:
        """Whether the library calls it solved."""
        return self.status == co.solver.Status.SOLVED

    @property
    def as_published(self) -> bool:
        """Whether it comes to the published value."""
        return abs(self.value - self.row.optimum) <= self.row.room

    @property
    def as_known(self) -> bool:
        """Whether it comes to the optimum as the statement has it, to as many digits as are published."""
        known = self.statement.optimum
        return known is not None and abs(self.value - known) <= self.row.room

    @property
    def right(self) -> bool:
        """Whether it is solved, and comes to the optimum."""
        return self.solved and (self.as_known if self.statement.optimum is not None else self.as_published)

    @property
    def error(self) -> float:
        """Difference from the published value, relative unless that is zero."""
        return (self.value - self.row.optimum) / (abs(self.row.optimum) or 1.0)

    def numbers(self) -> dict[str, float]:
        """Numbers for JSON."""
        numbers = {
            "value": self.value, "published": self.row.optimum, "error": self.error, "solved": float(self.solved),
            "right": float(self.right), "iterations": float(self.iterations), "seconds": self.seconds,
            "finer": self.finer, "certified": nan if self.certified is None else float(self.certified),
        }  # fmt: skip
        return {key: value for key, value in numbers.items() if isfinite(value)}

    def cells(self) -> tuple[str, ...]:
        """Cells of the table: name, status, ours, published, error, right, finer, certificate, iterations, seconds."""
        verdict = "right" if self.right else "wrong" if self.solved else ""
        if self.right and not self.as_published:
            verdict = "better"
        certificate = {None: "", True: "pass", False: "FAIL"}[self.certified]
        numbers = [f"{value:{form}}" if isfinite(value) else "" for value, form in (
            (self.value, ".10g"), (self.row.optimum, ".10g"), (self.error, "+.1e"))]  # fmt: skip
        finer = f"{self.finer:.12g}" if isfinite(self.finer) else ""
        work = (f"{self.iterations}", f"{self.seconds:.2f}")
        return (self.row.name, self.status, *numbers, verdict, finer, certificate, *work)


def tolerance(row: Published, tol: float) -> float:
    """The tolerance of an answer, no finer than the digits that it is compared with."""
    return max(tol, min(row.room / (abs(row.optimum) or 1.0), DEFAULT))


def answer(row: Published, statement: Statement, tol: float, seconds: float, *, plain: bool = False) -> Answer:
    """The answer of the plain call, and unless `plain` the digits of a finer grid with its certificate."""
    tol = statement.tol or tolerance(row, tol)
    begin = time.process_time()
    guess = statement.guess() if statement.guess else None
    problem: Any = statement.problem()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the status says it too
        solution = co.solve(
            problem, statement.curve, tol=tol, guess=guess, seconds=seconds, progress=False, raise_on_failure=False
        )
        used = time.process_time() - begin
        value = statement.factor * solution.cost
        ours = Answer(row, statement, str(solution.status), value, solution.iterations, used)
        if plain or not ours.solved:
            return ours
        finer = closer(solution, FINER * tol, seconds)
        if finer is None:
            return ours
        certificate = co.optimality.certify(finer)
    return ours._replace(finer=statement.factor * finer.cost, certified=certificate.passed)


def closer(solution: Any, tol: float, seconds: float) -> Any:
    """The motion in arcs that meet at its switches, or where that fails on a finer grid; None where both fail."""
    for at in ("switches", None) if isinstance(solution, co.Solution) else (None,):
        try:
            finer = co.refine(solution, tol, at=at, seconds=seconds, progress=False)
        except co.InputError:  # a motion that cannot be divided: its functions see the duration
            continue
        if finer.success:
            return finer
    return None


@styled
def draw(answers: Sequence[Answer], file: str) -> None:
    """How far every answer is from the published value, and which of them are called solved."""
    figure = new_figure(figsize=(9.0, 1.6 + 0.2 * len(answers)))
    ax = figure.subplots()
    colors = [GREEN if one.right else VERMILLION if one.solved else MUTED for one in answers]
    for row, (one, color) in enumerate(zip(answers, colors, strict=True)):
        off = np.clip(abs(one.error) if isfinite(one.error) else SHOWN[1], *SHOWN)
        ax.plot(off, row, "o" if one.solved else "x", color=color, markersize=5, clip_on=False)
    ax.set(xscale="log", xlim=SHOWN, ylim=(len(answers) - 0.5, -0.5))
    ax.set_yticks(range(len(answers)), [one.row.name.replace("_", " ") for one in answers])
    dress(ax, "relative distance from the published value")
    looks = {"right": (GREEN, "o"), "solved and wrong": (VERMILLION, "o"), "not solved": (MUTED, "x")}
    handles = [Line2D([], [], color=c, marker=m, linestyle="", label=label) for label, (c, m) in looks.items()]
    legend_below(figure, handles)
    co.plot.save_figure(figure, file)


def chosen(words: str, rows: dict[str, Published], *, quick: bool) -> list[str]:
    """Names of the rows to solve; InputError for a name that is not one of them."""
    names = [name.strip() for name in words.split(",") if name.strip()]
    if unknown := [name for name in names if name not in rows]:
        raise co.InputError(f"optima.csv has no row {unknown[0]!r}; rows are {', '.join(rows)}")
    return names or [name for name in (QUICK if quick else rows) if name in STATEMENTS]


def totals(answers: Sequence[Answer]) -> dict[str, float]:
    """Counts of the rows, those that are right by the plain call alone among them, iterations and processor seconds."""
    counts = {
        "rows": len(answers),
        "right": sum(one.right for one in answers),
        "plain": sum(one.right and one.statement.curve is None for one in answers),
        "wrong": sum(one.solved and not one.right for one in answers),
        "infeasible": sum(one.status == co.solver.Status.INFEASIBLE for one in answers),
        "finer": sum(isfinite(one.finer) for one in answers),
        "certified": sum(one.certified is True for one in answers),
        "iterations": sum(one.iterations for one in answers),
        "seconds": sum(one.seconds for one in answers),
    }
    return {key: float(value) for key, value in counts.items()}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("classics.published", __doc__, argv, quick="a handful of rows", options=OPTIONS)
    rows = published()
    answers = []
    for name in chosen(args.only, rows, quick=args.quick):
        answers.append(answer(rows[name], STATEMENTS[name], args.tol, args.seconds, plain=args.plain))
        print("  ".join(answers[-1].cells()))
    numbers = {f"{one.row.name}.{key}": value for one in answers for key, value in one.numbers().items()}
    numbers |= totals(answers)
    right, wrong, infeasible = (int(numbers[key]) for key in ("right", "wrong", "infeasible"))
    notes = [f"  {right} of {len(answers)} right, {wrong} solved and wrong, {infeasible} called infeasible"]
    notes += [
        f"  {one.row.name}: first grid {one.statement.curve}" for one in answers if one.statement.curve is not None
    ]
    notes += [f"  {one.row.name}: {one.statement.why}" for one in answers if one.statement.why]
    notes += [f"  {name} is not stated: {why}" for name, why in NOT_STATED.items()]
    notes += [f"  {name} is not stated yet" for name in rows if name not in STATEMENTS and name not in NOT_STATED]
    header = (
        "problem", "status", "ours", "published", "error", "verdict", "on a finer grid", "certificate", "iterations",
        "seconds",
    )  # fmt: skip
    draw(answers, args.figure)
    print(Table("Published optima", header, [one.cells() for one in answers], notes).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
