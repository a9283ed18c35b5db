"""What many starts have found: the ladder of their costs."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from colloc.checks import instance
from colloc.many import Found, Optima
from colloc.plot.panels import panels
from colloc.plot.style import BLUE, MUTED, dress, styled


@styled
def optima(
    found: Optima,
    *,
    ax: Axes | None = None,
    width: str | float | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """The ladder of the starts: what each has come to on the coarse grid, by cost; a rung is one optimum.

    Parameters
    ----------
    found : Optima
        From `multistart`.
    ax : Axes, optional
        To draw in; by default in a new figure.
    width : "column", "page" or float, optional [inch]
    figsize : (float, float), optional [inch]
        As in `joints`.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but Optima.

    Examples
    --------
    >>> figure = co.plot.optima(co.multistart(problem, co.BSpline(10), starts=4))
    """
    instance("found", found, Optima, "see co.multistart")
    solved = sorted((s for s in found.starts if s.group is not None), key=lambda s: s.cost)
    page = panels((1, 1), (8.0, 3.8), ax, width, figsize)
    rungs = page.axes[0, 0]
    size = found.best.cost_size
    above = {s.number: 100 * (s.cost - solved[0].cost) / size for s in solved}
    for group in dict.fromkeys(s.group for s in solved):
        rung = [k for k, s in enumerate(solved, 1) if s.group == group]
        height = above[solved[rung[0] - 1].number]
        rungs.plot([rung[0] - 0.4, rung[-1] + 0.4], [height] * 2, color=MUTED, linewidth=1.0, zorder=1)
        if len(rung) < _NAMED * len(found.starts):
            continue  # words would be wider than the rung
        words = f"{len(rung)} start{'s' if len(rung) > 1 else ''}"
        end = (rung[-1] + 0.4, height)
        below = {"xytext": (0, -5), "textcoords": "offset points", "ha": "right", "va": "top"}
        rungs.annotate(words, end, fontsize=8, color=MUTED, **below)
    for k, start in enumerate(solved, 1):
        rungs.plot(k, above[start.number], markeredgecolor=BLUE, markerfacecolor=_fill(start), **_MARK)
    dress(rungs, "starts, by cost", "above the best [%]")
    rungs.xaxis.set_major_locator(MaxNLocator(integer=True))
    rungs.set_xlim(0.3, len(found.starts) + 0.7)
    highest = max(above.values(), default=0.0)
    rungs.set_ylim(-0.12 * max(highest, _LEAST), 1.08 * max(highest, _LEAST))
    rungs.set_title(f"{len(found.starts)} starts, {len(found.starts) - len(solved)} without an optimum", loc="left")
    kinds = (("usual guess", "black"), ("random", BLUE), ("near an earlier end", "white"))
    marks = [Line2D([], [], markeredgecolor=BLUE, markerfacecolor=fill, label=label, **_MARK) for label, fill in kinds]
    page.legend(marks)
    return page.figure


_NAMED = 1 / 12  # share of the starts from which on the words fit below a rung
_LEAST = 1.0  # %, so that what is one optimum looks like one
_MARK = {"marker": "o", "markersize": 6, "linestyle": "", "zorder": 3}


def _fill(start: Found) -> str:
    if start.number == 0:
        return "black"
    return BLUE if start.near is None else "white"
