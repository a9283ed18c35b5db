"""Everything about a solution on one page."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, Unpack

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from colloc.plot.figure import Picture, Size, figure, new_figure
from colloc.plot.motion import draw_motion
from colloc.plot.over_time import (
    TIME,
    bearing_loads,
    body_handles,
    draw_joints,
    draw_reactions,
    draw_torques,
    joint_units,
    name_phases,
    prescribed,
    scalar_handles,
    torque_groups,
)
from colloc.plot.sampling import checked, title_of
from colloc.plot.style import INK, NARROW, VERMILLION, WIDTHS, is_narrow, legend_below, plain
from colloc.solution import PhasesSolution, Solution

_FRAMES = 9
_SMALL = 10.0  # inch; pages less wide have smaller letters
_PANEL, _PICTURE = 1.5, 3.8  # inch; heights of panels and of the stick figure in a column
_NOTHING = 1e-6  # of the other loads: moments below it are rounding


@partial(figure, narrow=_SMALL)
def summary(
    solution: Solution | PhasesSolution,
    **size: Unpack[Size],
) -> Figure:
    """Joint motion, torques, what joints carry and the stick figure on one page, with duration and status.

    Torques that bounds prescribe, such as those of a base that floats, are left out, and so is what bearings do not
    carry, such as moments in a plane. In the width of a column the panels are below each other.

    Parameters
    ----------
    solution : Solution or PhasesSolution

    Raises
    ------
    InputError
        For anything but a Solution, or sizes that cannot be drawn in.

    Examples
    --------
    >>> figure = co.plot.summary(solution, width="page")
    """
    model = checked(solution).problem.model
    fixed = prescribed(solution)
    groups = torque_groups(solution)
    groups = [group for group in groups if not fixed[group].all()] or groups
    by_unit = [[g for g in groups if g[0] in members] for members in joint_units(model).values()]
    loads = _of_weight(solution)
    page = _layout(2 + max(map(len, by_unit)), len(loads), size)
    curves = page.curves.subplots(2 + max(map(len, by_unit)), len(by_unit), sharex=True, squeeze=False)
    forces = [] if page.loads is None else _in_line(page.loads, len(loads), column=page.column)
    draw_joints(curves[:2], solution)
    for ax in curves[0]:
        name_phases(ax, solution)
    order = [(curves[2 + k, column], group) for column, rows in enumerate(by_unit) for k, group in enumerate(rows)]
    torque_handles = draw_torques([ax for ax, _ in order], solution, [group for _, group in order])
    for column, rows in enumerate(by_unit):
        for ax in curves[2 + len(rows) :, column]:
            ax.set_visible(False)
    draw_reactions(forces, solution, loads)
    for ax in (*(curves[1 + len(rows), column] for column, rows in enumerate(by_unit)), *forces):
        ax.set_xlabel(TIME)
        ax.tick_params(labelbottom=True)
    page.curves.align_ylabels()
    legend_below(page.motion, draw_motion(page.motion, 111, solution, _FRAMES))
    legend_below(page.figure, [*body_handles(solution), *scalar_handles(model), *torque_handles])
    title = f"{plain(title_of(solution))}: {solution.duration:.4g} s, {solution.status}"
    color = INK if solution.success else VERMILLION
    page.figure.suptitle(title, fontsize=1.3 * mpl.rcParams["font.size"], fontweight="bold", color=color, wrap=True)
    return page.figure


class _Page(NamedTuple):
    """A figure and its parts: for the stick figure, for curves, for what joints carry, if they carry anything."""

    figure: Picture
    motion: SubFigure
    curves: SubFigure
    loads: SubFigure | None
    column: bool


def _layout(rows: int, loads: int, size: Size) -> _Page:
    """A page with curves on the left, or a column with everything below each other."""
    if is_narrow(size.get("width"), size.get("figsize"), NARROW):
        heights = [_PICTURE, _PANEL * rows] + [_PANEL * loads] * (loads > 0)
        figure = new_figure((WIDTHS["column"], 1.0 + sum(heights)), **size)
        motion, curves, *below = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        return _Page(figure, motion, curves, below[0] if below else None, column=True)
    figure = new_figure((13.0, 9.0), **size)
    curves, right = figure.subfigures(1, 2, squeeze=False)[0]
    heights = [2.2, 1.0] if loads else [1.0]
    motion, *below = right.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    return _Page(figure, motion, curves, below[0] if below else None, column=False)


def _in_line(part: SubFigure, count: int, *, column: bool) -> list[Axes]:
    """Axes below each other in a column, else side by side."""
    shape = (count, 1) if column else (1, count)
    return part.subplots(*shape, squeeze=False).ravel().tolist()


def _of_weight(solution: Solution | PhasesSolution) -> dict[str, dict[str, np.ndarray]]:
    """Loads of the bearings, without those that are but rounding."""
    loads = bearing_loads(solution)
    largest = {label: max(float(np.nanmax(values)) for values in norms.values()) for label, norms in loads.items()}
    size = max(*largest.values(), float(np.abs(solution.tau).max()))
    return {label: norms for label, norms in loads.items() if largest[label] > _NOTHING * size}
