"""Does it matter where the search for a two-link optimum starts?

The three two-link problems in their paper's setting, from the straight line and from random postures between the stated
ends with random durations: Xiang, Arora and Abdel-Malek (2009, section 6.3) report that different starting points lead
to the same motion. For the lifting also as the share of the effort in the cost goes to zero, on a fine mesh, and
for none at all on one that refines itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, INK, VERMILLION, dress, styled
from colloc.problem import EndState
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.two_link import lifting, prismatic_revolute, time_optimal
from colloc.studies.two_link.convergence import PAPER

PROBLEMS = {
    "time_optimal": time_optimal.problem,
    "lifting": lifting.problem,
    "prismatic_revolute": prismatic_revolute.problem,
}
SECONDS = {"time_optimal": 1.07, "lifting": 2.44}  # Xiang et al. (2009), of the processor of their day
NOISE, HASTE = 0.5, 3.0  # rad (m) about the line; a duration between a third and three times the usual guess
SAME = 1e-4  # of T
SHARES = (1e-2, 1e-3, 1e-4, 1e-5)
FINE = co.Radau(60)
OPTIONS = (Option("starts", 10, "number of random starts", least=1),)


def random_start(problem: co.Problem, rng: np.random.Generator) -> tuple[co.Problem, Any]:
    """A problem with a random guess of its duration, and random postures about the line between its ends."""
    ends = [state.values["q"] for state in problem.subject_to if isinstance(state, EndState)]
    line = np.linspace(np.array(ends[0]), np.array(ends[1]), 6)
    line[1:-1] += rng.uniform(-NOISE, NOISE, (4, line.shape[1]))
    horizon = replace(problem.horizon, guess=problem.horizon.guess * HASTE ** rng.uniform(-1, 1))
    return replace(problem, duration=horizon), co.keyframes(dict(zip(np.linspace(0, 1, 6).tolist(), line, strict=True)))


def solved(problem: co.Problem, guess: Any = None, curve: co.curves.Transcription = PAPER) -> co.Solution:
    """The optimum in the paper's setting, or on another curve: one nonlinear program, inequalities at its nodes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # 21 nodes miss what is between them
        return co.solve(problem, curve, guess=guess, plan=[co.refinement.Solve(between="nodes")], progress=False)


@styled
def draw(runs: dict[str, list[co.Solution]], file: str) -> None:
    """The cost over the iterations, from every start."""
    figure = new_figure(figsize=(12.0, 3.8))
    axes = figure.subplots(1, len(runs))
    for ax, (name, (straight, *others)) in zip(axes, runs.items(), strict=True):
        for solution in others:
            ax.semilogy(solution.history["cost"], color=BLUE, alpha=0.45, linewidth=1.2)
        ax.semilogy(straight.history["cost"], color=VERMILLION, linewidth=2)
        ax.axhline(straight.cost, color=INK, linewidth=0.8, linestyle=(0, (1, 2)))
        ax.set_title(name.replace("_", " "), loc="left")
        dress(ax, xlabel="iteration", ylabel="cost" if ax is axes[0] else "")
    handles = [
        Line2D([], [], color=VERMILLION, linewidth=2, label="from the straight line"),
        Line2D([], [], color=BLUE, alpha=0.6, label="from random postures and durations"),
        Line2D([], [], color=INK, linewidth=0.8, linestyle=(0, (1, 2)), label="optimum"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.starts", __doc__, argv, quick="two random starts", options=OPTIONS)
    rng = np.random.default_rng(0)
    numbers: dict[str, float] = {}
    rows, notes, runs = [], [], {}
    for name, problem in PROBLEMS.items():
        found = [
            solved(problem),
            *(solved(*random_start(problem, rng)) for _ in range(2 if args.quick else args.starts)),
        ]
        durations, seconds = [s.duration for s in found], [s.seconds["build"] + s.seconds["solve"] for s in found]
        same = [T for T in durations[1:] if abs(T - durations[0]) < SAME * durations[0]]
        most, published = max(s.iterations for s in found), SECONDS.get(name)
        numbers |= {
            f"T.{name}": durations[0],
            f"T.spread.{name}": max(same, default=durations[0]) - min(same, default=durations[0]),
            f"starts.{name}": float(len(durations) - 1),
            f"starts.same.{name}": float(len(same)),
            f"iterations.{name}": float(found[0].iterations),
            f"iterations.max.{name}": float(most),
            f"seconds.{name}": float(np.median(seconds)),
        }
        rows.append(Row(f"{name}: T from the straight line [s]", durations[0]))
        rows.append(Row(f"{name}: largest difference of T among those below [s]", numbers[f"T.spread.{name}"]))
        by = "Xiang et al. 2009" if published else ""
        rows.append(Row(f"{name}: seconds, median", float(np.median(seconds)), published, by))
        line = f"  {name}: {len(same)} of {len(durations) - 1} random starts end in the same motion"
        worse = "".join(f", one in another of {T:.4g} s" for T in durations[1:] if T not in same)
        notes.append(f"{line}{worse}; {found[0].iterations} iterations from the line, at most {most}")
        runs[name] = found
    effort = lifting.effort
    for share in SHARES:
        shared = replace(lifting.problem, minimize=(1 - share) * co.duration() + share * effort)
        numbers[f"T.lifting.share_{share:g}"] = T = solved(shared, curve=FINE).duration
        rows.append(Row(f"lifting: T with {share:g} of the cost for effort [s]", T))
    alone = replace(lifting.problem, minimize=co.duration())
    numbers["T.lifting.share_0"] = fine = solved(alone, curve=FINE).duration
    refined = co.solve(alone, co.Radau(12), tol=1e-3 if args.quick else 1e-4, compile=False, progress=False)
    numbers["T.lifting.share_0.refined"] = refined.duration
    rows.append(Row("lifting: T with none, time alone [s]", fine, refined.duration, "refined"))
    print(table(args.question, rows, notes))
    draw(runs, args.figure)
    return finish(args, numbers, runs["lifting"][0])


if __name__ == "__main__":
    main()
