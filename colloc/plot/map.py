"""A sweep as a map."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.checks import InputError, instance, quoted
from colloc.many import Sweep
from colloc.plot.panels import panels
from colloc.plot.style import FADE, INK, MUTED, dress, plain, styled


@styled
def map(
    table: Sweep,
    x: str,
    y: str,
    value: str = "cost",
    *,
    ax: Axes | None = None,
    width: str | float | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """A column of a sweep over two of the values that vary; cases without an answer are gaps, marked by crosses.

    Parameters
    ----------
    table : Sweep
        From `sweep`, over a grid of two values.
    x, y : str
        What varies along the axes.
    value : str
        A column of numbers, such as "cost", "duration" or one recorded.
    ax : Axes, optional
        By default those of a new figure.
    width : "column", "page" or float, optional [inch]
    figsize : (float, float), optional [inch]
        As in `joints`.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but a Sweep, a name that does not vary, a column without numbers, or several cases at a place.

    Examples
    --------
    >>> from dataclasses import replace
    >>> effort = co.integral(lambda now: now.gain * ca.sumsqr(now.tau))
    >>> parameters = [co.Parameter("gain", 1.0), co.Parameter("nothing", 1.0)]
    >>> weighed = replace(problem, minimize=co.duration() + 1e-3 * effort, parameters=parameters)
    >>> table = co.sweep(weighed, {"gain": [1.0, 2.0], "nothing": [0.0, 1.0]}, co.BSpline(10))
    >>> figure = co.plot.map(table, "gain", "nothing", "duration")
    """
    instance("table", table, Sweep, "see co.sweep")
    across, up = table.axes(x, y)
    if x == y:
        raise InputError(f"x and y must be two of {', '.join(table.names)}, got {quoted(x)} twice")
    column = table[value]
    if column.dtype.kind != "f":
        raise InputError(f"value must be a column of numbers, got {quoted(value)}, which holds text")
    place = np.searchsorted(up, table[y]), np.searchsorted(across, table[x])
    if len(set(zip(*place, strict=True))) < len(table):
        others = ", ".join(name for name in table.names if name not in (x, y))
        raise InputError(f"several cases have the same {x} and {y}: they differ in {others or 'nothing'}")
    cells = np.full((up.size, across.size), np.nan)
    cells[place] = column
    page = panels((1, 1), (6.4, 4.6), ax, width, figsize)
    own: Axes = page.axes[0, 0]
    mesh = own.pcolormesh(across, up, np.ma.masked_invalid(cells), shading="nearest", cmap=FADE)
    bar = page.figure.colorbar(mesh, ax=own, label=plain(value))
    bar.outline.set_visible(False)  # pyright: ignore[reportCallIssue]
    gaps = np.isnan(column)
    dress(own, plain(x), plain(y))
    own.grid(False)
    if gaps.any():
        look = {"marker": "x", "linestyle": "", "color": MUTED, "markersize": 5}
        own.plot(table[x][gaps], table[y][gaps], **look)
        page.legend([Line2D([], [], label="no answer", **look)])
    bar.ax.tick_params(color=MUTED, labelcolor=INK, labelsize=9, length=3)
    return page.figure
