"""Tornado plot of the sensitivities of an optimum."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.optimality import Derivative, Sensitivity
from colloc.plot.figure import Canvas, figure, panels
from colloc.plot.style import BLUE, INK, NARROW, VERMILLION, dress, legend_below, plain
from colloc.support.checks import InputError, choice, count, instance
from colloc.support.display import short

_ROW, _FRAME = 0.27, 1.3  # inch, of the figure's height
_WIDE = 0.62  # inch, height of a row
_SMALL = 5.5  # points


@figure
def tornado(
    sensitivity: Sensitivity,
    of: str = "cost",
    *,
    most: int = 15,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Effect of a percent of every number on the cost or the duration: bars to both sides, the longest first.

    The change of each number is shown with its name: a percent of its value, or a hundredth of its unit if the value is
    zero. Bars are derivatives times this change.

    Parameters
    ----------
    sensitivity : Sensitivity
        From `colloc.optimality.sensitivity`.
    of : "cost" or "duration"
    most : int
        Largest number of bars.
    ax : Axes, optional
        To draw in; by default in a new figure.

    Raises
    ------
    InputError
        If `sensitivity` is not a Sensitivity, or has no effects.

    Examples
    --------
    >>> figure = co.plot.tornado(co.optimality.sensitivity(solution, ["tau", "mass"]))
    """
    instance("sensitivity", sensitivity, Sensitivity, "see co.optimality.sensitivity")
    choice("of", of, ("cost", "duration"))
    count("most", most, at_least=1)
    changes = {d: getattr(d, of) * d.step for d in sensitivity.derivatives}
    bars = sorted((d for d in changes if abs(changes[d]) > 0), key=lambda d: -abs(changes[d]))[:most]
    if not bars:
        raise InputError(f"sensitivity has no number that changes the {of}")
    page = panels(1, 1, (8.0, _FRAME + _ROW * len(bars)), **canvas)
    ax, places = page.axes[0, 0], np.arange(len(bars))
    values = np.array([changes[d] for d in bars])
    ax.barh(places, values, _WIDE, color=VERMILLION)
    ax.barh(places, -values, _WIDE, color=BLUE)
    ax.axvline(0.0, color=INK, linewidth=1.0)
    narrow = page.figure.get_figwidth() < NARROW
    ax.set_yticks(places, [plain(d.name) + ("\n" if narrow else ", ") + _step(d) for d in bars])
    ax.invert_yaxis()
    ax.set_ylim(len(bars) - 0.4, -0.6)
    dress(ax, "change of the duration [s]" if of == "duration" else "change of the cost")
    ax.grid(visible=False, axis="y")
    ax.tick_params(axis="y", length=0)
    if narrow:  # two lines per bar
        ax.tick_params(axis="y", labelsize=_SMALL)
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlim(-1.08 * abs(values).max(), 1.08 * abs(values).max())
    colors = {"number up": VERMILLION, "number down": BLUE}
    handles = [
        Line2D([], [], color=color, linewidth=7, solid_capstyle="butt", label=label) for label, color in colors.items()
    ]
    if page.borrowed:
        page.legend(handles)
    else:
        legend_below(page.figure, handles)
    return page.figure


def _step(derivative: Derivative) -> str:
    """The change of a number to both sides."""
    return f"±{short(derivative.step)} {derivative.unit}".rstrip()
