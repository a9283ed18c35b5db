"""The front of two or three costs."""

from __future__ import annotations

from itertools import combinations
from typing import Unpack

import numpy as np
from matplotlib.figure import Figure

from colloc.plot.figure import Canvas, figure, panels
from colloc.plot.style import BLUE, FADE, MUTED, dress, plain
from colloc.support.checks import instance
from colloc.sweeps import Front


@figure
def front(table: Front, **canvas: Unpack[Canvas]) -> Figure:
    """The costs of all points of a front, two by two; of three costs the third is a colour.

    Points to which others are better in all costs are hollow.

    Parameters
    ----------
    table : Front
        From `co.sweeps.pareto_front`.
    ax : Axes, optional
        Of two costs; by default that of a new figure.

    Raises
    ------
    InputError
        For anything but a Front.

    Examples
    --------
    >>> from dataclasses import replace
    >>> effort = co.integral(lambda now: ca.sumsqr(now.tau), name="effort")
    >>> smooth = co.integral(lambda now: ca.sumsqr(now.qdd), name="accelerations")
    >>> table = co.sweeps.pareto_front(replace(problem, duration=0.8), [effort, smooth], co.Radau(8), points=4)
    >>> figure = co.plot.front(table)
    """
    instance("table", table, Front, "see co.sweeps.pareto_front")
    pairs = list(combinations(range(len(table.names)), 2))
    size = (5.2 if len(pairs) == 1 else 3.6 * len(pairs), 3.8)
    page = panels(1, len(pairs), size, share_x=False, **canvas)
    names = [plain(name) for name in table.names]
    hollow = np.isin(np.arange(len(table)), table.dominated)
    for ax, (across, up) in zip(page.axes[0], pairs, strict=True):
        x, y = table.values[:, across], table.values[:, up]
        if len(pairs) == 1:
            ax.plot(x, y, color=MUTED, linewidth=1.0, zorder=1)
            ax.scatter(x, y, s=28, edgecolors=BLUE, facecolors=np.where(hollow, "white", BLUE), zorder=2)
        else:
            third = ({0, 1, 2} - {across, up}).pop()
            marks = ax.scatter(x, y, s=28, c=table.values[:, third], cmap=FADE, edgecolors=BLUE, zorder=2)
            ax.scatter(x[hollow], y[hollow], s=28, facecolors="white", edgecolors=BLUE, zorder=3)
            page.figure.colorbar(marks, ax=ax, label=names[third])
        dress(ax, names[across], names[up])
    return page.figure
