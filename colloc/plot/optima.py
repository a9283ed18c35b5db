"""The costs that many starts reached, as a ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Unpack

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from colloc.plot.figure import Canvas, Panels, figure, panels
from colloc.plot.style import BLUE, MUTED, dress
from colloc.support.checks import instance
from colloc.sweeps import Optima, StartResult


@figure
def optima(
    found: Optima,
    **canvas: Unpack[Canvas],
) -> Figure:
    """The results of the starts on the coarse grid, ordered by cost; each rung of the ladder is one optimum.

    If all starts reached the same optimum, their distance from it on a logarithmic axis, with the limit of equal costs.

    Parameters
    ----------
    found : Optima
        From `multistart`.
    ax : Axes, optional
        To draw in; by default in a new figure.

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
    page = panels(1, 1, (8.0, 3.8), **canvas)
    rungs = page.axes[0, 0]
    size = found.best.cost_scale
    above = {s.number: 100 * (s.cost - solved[0].cost) / size for s in solved}
    groups = dict.fromkeys(s.group for s in solved)
    if len(groups) == 1:
        return _one_optimum(page, len(found.starts), solved, above)
    for group in groups:
        rung = [k for k, s in enumerate(solved, 1) if s.group == group]
        height = above[solved[rung[0] - 1].number]
        rungs.plot([rung[0] - 0.4, rung[-1] + 0.4], [height] * 2, color=MUTED, linewidth=1.0, zorder=1)
        if len(rung) < _NAMED * len(found.starts):
            continue  # the text would be wider than the rung
        words = f"{len(rung)} start{'s' if len(rung) > 1 else ''}"
        end = (rung[-1] + 0.4, height)
        below = {"xytext": (0, -5), "textcoords": "offset points", "ha": "right", "va": "top"}
        rungs.annotate(words, end, fontsize=8, color=MUTED, **below)
    highest = max(above.values(), default=0.0)
    rungs.set_ylim(-0.12 * max(highest, _LEAST), 1.08 * max(highest, _LEAST))
    failed = len(found.starts) - len(solved)
    rungs.set_title(f"{len(found.starts)} starts, {failed} without an optimum", loc="left")
    page.legend(_marks(rungs, len(found.starts), solved, above))
    return page.figure


def _one_optimum(page: Panels, starts: int, solved: Sequence[StartResult], above: Mapping[int, float]) -> Figure:
    """Differences of the costs of all starts."""
    ends = page.axes[0, 0]
    ends.set_yscale("log")
    limit = ends.axhline(100 * Optima.same_cost, color=MUTED, linestyle="--", linewidth=1.0, label="equal costs")
    # The best results are drawn slightly below the rest, as zero is not on the axis.
    floor = min((height for height in above.values() if height > _ROUNDING), default=_ROUNDING) / 3
    marks = _marks(ends, starts, solved, {number: max(height, floor) for number, height in above.items()})
    ends.set_ylim(floor / 3, 100 * Optima.same_cost * 10)
    failed = "" if len(solved) == starts else f", {starts - len(solved)} without one"
    ends.set_title(f"{starts} starts, one optimum{failed}", loc="left")
    page.legend([*marks, limit])
    return page.figure


def _marks(ax: Axes, starts: int, solved: Sequence[StartResult], above: Mapping[int, float]) -> list[Line2D]:
    """A mark for every start, by cost, and entries of a legend."""
    for k, start in enumerate(solved, 1):
        ax.plot(k, above[start.number], markeredgecolor=BLUE, markerfacecolor=_fill(start), **_MARK)
    dress(ax, "starts, by cost", "above the best [%]")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(0.3, starts + 0.7)
    kinds = {"black": "usual guess", BLUE: "random", "white": "near an earlier result"}
    drawn = {_fill(start) for start in solved}
    return [
        Line2D([], [], markeredgecolor=BLUE, markerfacecolor=fill, label=label, **_MARK)
        for fill, label in kinds.items()
        if fill in drawn
    ]


_NAMED = 1 / 12  # fraction of the starts from which on the text fits below a rung
_LEAST = 1.0  # %, so that one optimum looks like one
_ROUNDING = 1e-13  # %
_MARK = {"marker": "o", "markersize": 6, "linestyle": "", "zorder": 3}


def _fill(start: StartResult) -> str:
    if start.number == 0:
        return "black"
    return BLUE if start.near is None else "white"
