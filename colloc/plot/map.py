"""A sweep as a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Unpack

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from colloc.plot.figure import Canvas, figure, panels
from colloc.plot.style import FADE, INK, MUTED, dress, plain
from colloc.support.checks import InputError, flag, instance, mapping, quoted, text, unknown_name
from colloc.sweeps import Sweep

_TICKS = 8  # largest number of ticks along an axis


@figure
def map(
    table: Sweep,
    x: str,
    y: str,
    value: str = "cost",
    *,
    log: bool = False,
    units: Mapping[str, str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """A column of a sweep over two of its values; cases without a solution are gaps, marked by crosses.

    Values are equally spaced, whatever their differences.

    Parameters
    ----------
    table : Sweep
        From `sweep`, over a grid of two values.
    x, y : str
        Names of the values along the axes.
    value : str
        A column of numbers, such as "cost", "duration" or a recorded one.
    log : bool
        Whether colours show the logarithm of the value.
    units : mapping of str to str, optional
        Units for the labels, by name: ``{"load": "kg", "duration": "s"}``.
    ax : Axes, optional
        By default those of a new figure.

    Raises
    ------
    InputError
        If `table` is not a Sweep, for a name that does not vary, a column without numbers, several cases at one place,
        units of other names, or a logarithm of values that are not positive.

    Examples
    --------
    >>> from dataclasses import replace
    >>> effort = co.integral(lambda now: now.gain * ca.sumsqr(now.tau))
    >>> parameters = [co.Parameter("gain", 1.0), co.Parameter("nothing", 1.0)]
    >>> weighed = replace(problem, minimize=co.duration() + 1e-3 * effort, parameters=parameters)
    >>> table = co.sweep(weighed, {"gain": [1.0, 2.0], "nothing": [0.0, 1.0]}, co.BSpline(10))
    >>> figure = co.plot.map(table, "gain", "nothing", "duration", units={"duration": "s"})
    """
    instance("table", table, Sweep, "see co.sweep")
    across, up = table.axes(x, y)
    if x == y:
        raise InputError(f"x and y must be two of {', '.join(table.names)}, got {quoted(x)} twice")
    column = table[value]
    if column.dtype.kind != "f":
        raise InputError(f"value must be a column of numbers, got {quoted(value)}, a column of text")
    finite = column[np.isfinite(column)]
    if flag("log", log) and not (finite > 0).all():
        raise InputError(f"log needs values above zero, got {quoted(value)} down to {finite.min():g}")
    names = {name: plain(name) for name in (x, y, value)}
    for name, unit in mapping("units", units).items():
        if name not in names:
            raise unknown_name("drawn name (with a unit)", name, list(names))
        names[name] += f" [{plain(text('unit', unit))}]"
    place = np.searchsorted(up, table[y]), np.searchsorted(across, table[x])
    if len(set(zip(*place, strict=True))) < len(table):
        others = ", ".join(name for name in table.names if name not in (x, y))
        raise InputError(f"the cases must differ in {x} or {y}, several differ only in {others or 'nothing'}")
    cells = np.full((up.size, across.size), np.nan)
    cells[place] = column
    page = panels(1, 1, (6.4, 4.6), **canvas)
    ax: Axes = page.axes[0, 0]
    mesh = ax.pcolormesh(np.ma.masked_invalid(cells), cmap=FADE, norm="log" if log and finite.size else "linear")
    bar = page.figure.colorbar(mesh, ax=ax, label=names[value])
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    if log and finite.size:
        decades = np.log10(finite.max() / finite.min())
        subs = range(1, 10) if decades < 1 else (1, 2, 5) if decades < 2 else (1,)
        bar.ax.yaxis.set_major_locator(LogLocator(subs=subs))
        bar.ax.yaxis.set_major_formatter("{x:g}")
        bar.ax.yaxis.set_minor_locator(NullLocator())
    gaps = np.isnan(column)
    dress(ax, names[x], names[y])
    ax.grid(False)
    for axis, values, most in ((ax.xaxis, across, _fitting(ax, across)), (ax.yaxis, up, _TICKS)):
        some = np.arange(0, values.size, -(-values.size // most))
        axis.set_ticks(some + 0.5, [f"{number:.3g}" for number in values[some]])
    if gaps.any():
        style = {"marker": "x", "linestyle": "", "color": MUTED, "markersize": 5}
        ax.plot(place[1][gaps] + 0.5, place[0][gaps] + 0.5, **style)
        page.legend([Line2D([], [], label="no solution", **style)])
    bar.ax.tick_params(color=MUTED, labelcolor=INK, labelsize=0.9 * mpl.rcParams["font.size"], length=3)
    return page.figure


def _fitting(ax: Axes, values: np.ndarray) -> int:
    """How many labels of these values fit below axes, side by side."""
    letters = max(len(f"{number:.3g}") for number in values) + 1
    width = ax.get_window_extent().width / ax.figure.dpi * 72
    return int(np.clip(width / (0.6 * letters * mpl.rcParams["font.size"]), 1, _TICKS))
