"""Convergence of a solver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from colloc.descent import Descent
from colloc.plot.figure import Canvas, Size, figure, new_figure, panels
from colloc.plot.sampling import checked
from colloc.plot.style import BLUE, GREEN, INK, MUTED, PALETTE, VERMILLION, dress, legend_below, plain
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, as_tuple, quoted

_RESIDUALS = (
    ("infeasibility", "primal infeasibility", BLUE),
    ("stationarity", "dual infeasibility", VERMILLION),
    ("barrier", "barrier parameter", GREEN),
)
_MARKED = 100  # iterations of a curve with markers
_ROUNDING = 1e-14  # of the cost: smaller differences are rounding
_LINEAR = 10  # iterations up to which their axis is linear
_DASHES: tuple[Any, ...] = ("-", "-", "-", (0, (3.5, 1.5)))  # line styles that keep coinciding methods visible
_ITERATIONS = (0, 2, 4, 6, 8, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)  # ticks


@figure
def convergence(
    solution: Solution | PhasesSolution,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Cost, primal and dual infeasibility and barrier parameter at every iteration.

    Values are those of the solver, in its scaled variables; zero is not visible on the logarithmic axis. For a descent
    without constraints the dual infeasibility is the gradient norm.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    ax : sequence of two Axes, optional
        For the cost and for the rest; by default a new figure.

    Raises
    ------
    InputError
        If `solution` is not a Solution, or has no recorded iterations.

    Examples
    --------
    >>> figure = co.plot.convergence(solution)
    """
    history = checked(solution).history
    if not history.get("cost"):
        raise InputError("solution must have recorded iterations for a plot of convergence, got none")
    page = panels(2, 1, (8.0, 5.6), heights=(2, 3), **canvas)
    above, below = page.axes[:, 0]
    marker = {"marker": ".", "markersize": 5, "linewidth": 1.5}
    above.plot(range(len(history["cost"])), history["cost"], color=INK, **marker)
    dress(above, ylabel="cost")
    for key, label, color in (residual for residual in _RESIDUALS if residual[0] in history):
        below.plot(range(len(history[key])), history[key], color=color, label=label, **marker)
    below.set_yscale("log", nonpositive="clip")
    dress(below, xlabel="iteration", ylabel="infeasibility and barrier")
    below.set_xlim(-0.5, max(len(history["cost"]), 2) - 0.5)
    below.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    page.legend(below.get_lines())
    return page.figure


@figure
def descents(
    runs: Sequence[Descent],
    **size: Unpack[Size],
) -> Figure:
    """Several methods on one objective: cost and gradient norm over iterations and time.

    The cost is drawn as its distance from the lowest cost of all methods, on a logarithmic axis; distances within
    rounding are not drawn.

    Parameters
    ----------
    runs : sequence of Descent

    Raises
    ------
    InputError
        If the sequence is empty or contains anything but Descents.

    Examples
    --------
    >>> bowl = co.descent.Objective(lambda x: (float(x @ x), 2 * x), lambda x: 2 * np.eye(x.size))
    >>> runs = [method(bowl, np.ones(3)) for method in (co.descent.bfgs, co.descent.modified_newton)]
    >>> figure = co.plot.descents(runs)
    """
    methods = as_tuple("runs", runs)
    if not methods or not all(isinstance(run, Descent) for run in methods):
        raise InputError(f"runs must be one or more Descents, as co.descent.bfgs returns, got {quoted(runs)}")
    figure = new_figure((9.0, 6.0), **size)
    axes = figure.subplots(2, 2, sharex="col", sharey="row")
    legend_below(figure, draw_descents(axes, methods))
    return figure


def draw_descents(axes: np.ndarray, runs: Sequence[Descent]) -> list[Line2D]:
    """Draw cost and gradient norm (rows) over iterations and time (columns) into axes (2, 2); return legend entries."""
    best = min(float(run.history.value.min()) for run in runs)
    rounding = _ROUNDING * abs(best)
    for k, run in enumerate(runs):
        history = run.history
        excess = np.where(history.value - best > rounding, history.value - best, np.nan)
        style: dict[str, Any] = {"color": PALETTE[k % len(PALETTE)], "linewidth": 1.4, "markersize": 4}
        style["linestyle"] = _DASHES[k % len(_DASHES)]
        style["marker"] = "." if run.iterations < _MARKED else ""
        style["label"] = plain(run.method if run.success else f"{run.method} ({run.status})")
        for column, along in zip(axes.T, (np.arange(excess.size), history.seconds), strict=True):
            for ax, values in zip(column, (excess, history.gradient_norm), strict=True):
                ax.semilogy(along, values, **style)
    for tolerance in {run.stop.gradient for run in runs}:
        for ax in axes[1]:
            ax.axhline(tolerance, color=MUTED, linestyle="--", linewidth=1.0)
    dress(axes[0, 0], ylabel="cost above the lowest found")
    dress(axes[0, 1])
    dress(axes[1, 0], "iteration", "gradient norm")
    dress(axes[1, 1], "time [s]")
    # Some methods take ten iterations and others hundreds: linear up to ten, logarithmic beyond.
    axes[1, 0].set_xscale("symlog", linthresh=_LINEAR, linscale=1.5)
    longest = max(run.iterations for run in runs)
    if longest > _LINEAR:
        axes[1, 0].set_xlabel(f"iteration (logarithmic beyond {_LINEAR}, the dotted line)")
        for ax in axes[:, 0]:
            ax.axvline(_LINEAR, color=MUTED, linestyle=":", linewidth=1.0)
    ticks = [k for k in _ITERATIONS if k <= longest] or [0]
    axes[1, 0].set_xticks(ticks, list(map(str, ticks)))
    axes[1, 0].set_xlim(-0.5, 1.1 * max(longest, 2))
    axes[1, 1].set_xscale("log")
    return axes[0, 0].get_lines()[: len(runs)]
