"""How a grid was refined, and what its error is on every interval."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from colloc.checks import InputError
from colloc.plot.sampling import checked
from colloc.plot.style import BLUE, GREEN, INK, MUTED, ORANGE, VERMILLION, dress, legend_below, styled
from colloc.solution import SequenceSolution, Solution
from colloc.solution.error import SOURCES

_COLORS = dict(zip(SOURCES, (BLUE, ORANGE, GREEN, VERMILLION), strict=True))
_LOWEST = 1e-12  # errors below it are rounding


@styled
def ladder(solution: Solution | SequenceSolution) -> Figure:
    """The rounds of a refinement: error and change of the cost, and where the breakpoints of every round lie.

    Parameters
    ----------
    solution : Solution or SequenceSolution
        With a `ladder`, from `solve` with `tol` or from `refine`.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but a Solution, or one that was not refined.

    Examples
    --------
    >>> figure = co.plot.ladder(solution)
    """
    rounds = checked(solution).ladder
    if not rounds:
        raise InputError("solution was not refined: give tol= to co.solve, or use co.refine")
    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 5.6), sharex=True, height_ratios=(2, 3))
    costs = np.array([rung.cost for rung in rounds])
    change = np.append(np.nan, np.abs(np.diff(costs)) / np.abs(costs[1:]))
    k = np.arange(1, len(rounds) + 1)
    marked = {"marker": ".", "markersize": 7, "linewidth": 1.5}
    above.semilogy(k, [max(rung.error, _LOWEST) for rung in rounds], color=VERMILLION, label="error", **marked)
    above.semilogy(k, np.maximum(change, _LOWEST), color=BLUE, label="change of the cost", **marked)
    above.axhline(solution.outcome.tolerance, color=MUTED, linestyle="--", linewidth=1.0, label="tolerance")
    dress(above, ylabel="relative")
    for number, rung in zip(k, rounds, strict=True):
        ends = rung.breakpoints
        below.plot(np.full(ends.size, number), ends, linestyle="", marker="_", markersize=14, color=INK, alpha=0.7)
    dress(below, xlabel="round", ylabel="breakpoints (fraction of the duration)")
    below.xaxis.set_major_locator(MaxNLocator(integer=True))
    below.set_xticks(
        k,
        [f"{number}\n{rung.variables} variables\n{rung.seconds:.2g} s" for number, rung in zip(k, rounds, strict=True)],
    )
    below.set_xlim(0.5, len(rounds) + 0.5)
    legend_below(figure, above.get_lines())
    return figure


@styled
def error(solution: Solution | SequenceSolution) -> Figure:
    """The error between the nodes on every interval, by source, against the tolerance.

    Parameters
    ----------
    solution : Solution or SequenceSolution

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but a Solution.

    Examples
    --------
    >>> figure = co.plot.error(solution)
    """
    found = checked(solution).error
    figure, ax = plt.subplots(figsize=(8.0, 3.6))
    for name in SOURCES:
        values = getattr(found, name)
        if values.max() > _LOWEST:
            ax.stairs(
                np.maximum(values, _LOWEST), found.t, baseline=None, color=_COLORS[name], label=name, linewidth=1.6
            )
    ax.set_yscale("log")
    ax.axhline(solution.outcome.tolerance, color=MUTED, linestyle="--", linewidth=1.0, label="tolerance")
    ax.set_xlim(0, solution.duration)
    dress(ax, "time [s]", "relative error")
    figure.legend(loc="outside lower center", ncols=len(SOURCES) + 1, frameon=False, handlelength=2.2)
    return figure
