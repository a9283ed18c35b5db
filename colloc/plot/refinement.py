"""Refinement of a grid, and errors on every interval."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator, NullFormatter

from colloc.plot.figure import Canvas, figure, panels
from colloc.plot.sampling import checked, one_by_one
from colloc.plot.style import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, VERMILLION, dress, plain
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError

_COLORS = {"dynamics": BLUE, "cost": ORANGE, "equations": GREEN, "bounds": VERMILLION}  # others are PURPLE
_LOWEST = 1e-12  # smaller errors are rounding


@figure
def rounds(
    solution: Solution | PhasesSolution,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Refinement iterations: error and change of the cost, and breakpoints of every iteration.

    Phases are drawn one above the other.

    Parameters
    ----------
    solution : Solution or PhasesSolution
        A solution with `rounds`, from `solve` with `tol` or from `refine`.
    ax : sequence of two Axes, optional
        For the errors and for the breakpoints; by default a new figure.

    Raises
    ------
    InputError
        If `solution` is not a Solution, or was not refined.

    Examples
    --------
    >>> figure = co.plot.rounds(solution)
    """
    rounds = checked(solution).rounds
    if not rounds:
        raise InputError("solution must be a refined one: pass tol= to co.solve, or use co.refine")
    page = panels(2, 1, (8.0, 5.6), heights=(2, 3), **canvas)
    above, below = page.axes[:, 0]
    costs = np.array([round.cost for round in rounds])
    change = np.append(np.nan, np.abs(np.diff(costs)) / np.abs(costs[1:]))
    k = np.arange(1, len(rounds) + 1)
    marked = {"marker": ".", "markersize": 7, "linewidth": 1.5}
    above.semilogy(k, [max(round.error, _LOWEST) for round in rounds], color=VERMILLION, label="error", **marked)
    above.semilogy(k, np.maximum(change, _LOWEST), color=BLUE, label="change of the cost", **marked)
    above.axhline(solution.outcome.tolerance, color=MUTED, linestyle="--", linewidth=1.0, label="tolerance")
    dress(above, ylabel="relative")
    low, high = above.get_ylim()
    above.set_ylim(min(low, high / 20), high)  # at least a decade, so that ticks are powers of ten
    above.yaxis.set_minor_formatter(NullFormatter())
    for number, round in zip(k, rounds, strict=True):
        ends = round.breakpoints
        below.plot(np.full(ends.size, number), ends, linestyle="", marker="_", markersize=14, color=INK, alpha=0.7)
    curve = rounds[-1].curve
    phases = list(curve) if isinstance(curve, Mapping) else []
    dress(
        below,
        xlabel="refinement iteration",
        ylabel=f"breakpoints\n(fraction of {'each phase' if phases else 'the duration'})",
    )
    if phases:  # one above the other with equal heights, since their durations change in every iteration
        edges = np.arange(len(phases) + 1) / len(phases)
        for edge in edges:
            below.axhline(edge, color=MUTED, linewidth=0.8)
        below.set_yticks((edges[:-1] + edges[1:]) / 2, phases)
        below.tick_params(axis="y", length=0)
        below.grid(visible=False, axis="y")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    below.set_xticks(
        k,
        [
            f"{number}\n{round.variables} variables\n{round.seconds:.2g} s"
            for number, round in zip(k, rounds, strict=True)
        ],
    )
    below.set_xlim(0.5, len(rounds) + 0.5)
    page.legend(above.get_lines())
    return page.figure


@figure
def error(
    solution: Solution | PhasesSolution,
    **canvas: Unpack[Canvas],
) -> Figure:
    """The error between the nodes on every interval, by source, against the tolerance.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    ax : Axes, optional
        By default those of a new figure; one for each case.

    Raises
    ------
    InputError
        If `solution` is not a Solution.

    Examples
    --------
    >>> figure = co.plot.error(solution)
    """
    drawn, names = one_by_one([solution], None)
    page = panels(len(drawn), 1, (8.0, 1.2 + 2.4 * len(drawn)), **canvas)
    handles: dict[str, Line2D] = {}
    for ax, one, case in zip(page.axes[:, 0], drawn, names, strict=True):
        for name, source in one.error.sources.items():
            values, color = source.per_interval, _COLORS.get(name, PURPLE)
            if values.max() > _LOWEST:
                steps = ax.stairs(np.maximum(values, _LOWEST), one.error.t, baseline=None, color=color, linewidth=1.6)
                steps.set_label(name)
                handles[name] = Line2D([], [], color=color, linewidth=1.6, label=name)
        ax.set_yscale("log")
        tolerance = solution.outcome.tolerance
        limit = ax.axhline(tolerance, color=MUTED, linestyle="--", linewidth=1.0, label="tolerance")
        handles["tolerance"] = limit
        dress(ax, "time [s]", "relative error")
        if len(drawn) > 1:
            ax.set_title(plain(case))
    page.axes[0, 0].set_xlim(0, max(one.duration for one in drawn))
    page.legend([*(handle for name, handle in handles.items() if name != "tolerance"), handles["tolerance"]])
    return page.figure
