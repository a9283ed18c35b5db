"""A solution on one page."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Unpack, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from colloc.plot.figure import Picture, Size, figure, new_figure
from colloc.plot.motion import draw_motion
from colloc.plot.over_time import (
    TIME,
    Curve,
    Panel,
    bearing_loads,
    body_handles,
    component_legend,
    draw_panels,
    draw_reactions,
    joint_panels,
    joint_units,
    name_phases,
    place_columns,
    scalar_handles,
    signal_panels,
    torque_panels,
)
from colloc.plot.sampling import checked, models, title_of
from colloc.plot.style import INK, NARROW, VERMILLION, WIDTHS, is_narrow, legend_below, plain
from colloc.solution import PhasesSolution, Solution

_FRAMES = 9
_SMALL = 10.0  # inch; narrower pages have smaller letters
_PANEL, _PICTURE = 1.5, 3.8  # inch; heights of panels and of the stick figure in a column
_TALL = 6  # panels in a column of a problem without joints
_NOTHING = 1e-6  # of the other loads: smaller moments are rounding


@partial(figure, narrow=_SMALL)
def summary(
    solution: Solution | PhasesSolution,
    **size: Unpack[Size],
) -> Figure:
    """Joint motion, torques, unknown signals and states, bearing loads and the stick figure on one page.

    Signals held at zero, such as torques of a floating base, and zero bearing loads, such as moments in a plane, are
    left out. Without joints there is no stick figure. Cases are side by side, each with its signals below. In the width
    of a column the panels are below each other. The title has duration and status.

    Parameters
    ----------
    solution : Solution or PhasesSolution

    Raises
    ------
    InputError
        If `solution` is not a Solution, or for unsuitable sizes.

    Examples
    --------
    >>> figure = co.plot.summary(solution, width="page")
    """
    if not checked(solution).problem.in_sequence:
        return _of_cases(solution, size)
    bodies = [model for model in models(solution) if model.bodies]
    columns = _panel_columns(solution)
    loads = _of_weight(solution)
    page = _layout(max(map(len, columns)), len(columns), len(loads), size, bodies=bool(bodies))
    axes = page.curves.subplots(max(map(len, columns)), len(columns), sharex=True, squeeze=False)
    drawn = [panel for column in columns for panel in column]
    placed = place_columns(axes, columns)
    handles = draw_panels(placed, drawn, Curve(solution))
    for ax in axes[0]:
        name_phases(ax, solution)
    for ax, panel in zip(placed, drawn, strict=True):
        if not panel.signal.of_joints:
            component_legend(ax, solution, panel, inside=True)
    forces = [] if page.loads is None else _in_line(page.loads, len(loads), column=page.column)
    draw_reactions(forces, solution, loads)
    for ax in (*(axes[len(column) - 1, k] for k, column in enumerate(columns)), *forces):
        ax.set_xlabel(TIME)
        ax.tick_params(labelbottom=True)
    page.curves.align_ylabels()
    if page.motion is not None:
        legend_below(page.motion, draw_motion(page.motion, 111, solution, _FRAMES))
        handles = [*body_handles(solution).values(), *scalar_handles(solution.problem.model), *handles]
    legend_below(page.figure, handles)
    _set_title(page.figure, solution, f"{solution.duration:.4g} s")
    return page.figure


def _set_title(page: Figure, solution: Solution | PhasesSolution, what: str) -> None:
    """The model, a remark and the status."""
    style: Any = {"fontsize": 1.3 * mpl.rcParams["font.size"], "fontweight": "bold", "wrap": True}
    color = INK if solution.success else VERMILLION
    page.suptitle(f"{plain(title_of(solution))}: {what}, {solution.status}", color=color, **style)


def _of_cases(solution: Solution | PhasesSolution, size: Size) -> Figure:
    """A column for each case: the stick figure, and the signals below."""
    columns = {name: [p for part in _panel_columns(case) for p in part] for name, case in solution.phases.items()}
    rows = max(map(len, columns.values()))
    page = new_figure((5.0 * len(columns), 2.0 + _PICTURE + _PANEL * rows), **size)
    parts = page.subfigures(2, len(columns), squeeze=False, height_ratios=(_PICTURE, 1.0 + _PANEL * rows))
    for (above, below), (name, case) in zip(parts.T, solution.phases.items(), strict=True):
        above.suptitle(f"{plain(name)}: {case.duration:.4g} s")
        if any(model.bodies for model in models(case)):
            legend_below(above, draw_motion(above, 111, case, _FRAMES))
        axes = below.subplots(rows, 1, sharex=True, squeeze=False)
        placed = place_columns(axes, [columns[name]])
        draw_panels(placed, columns[name], Curve(case))
        for ax, panel in zip(placed, columns[name], strict=True):
            component_legend(ax, case, panel, inside=True)
        placed[-1].set_xlabel(TIME)
        placed[-1].tick_params(labelbottom=True)
        below.align_ylabels()
    _set_title(page, solution, f"{len(columns)} cases")
    return page


def _panel_columns(solution: Solution | PhasesSolution) -> list[list[Panel]]:
    """Panels in columns: one for each unit of the joints, with their torques, and other signals below."""
    definitions = solution.signals.definitions
    others = [name for name, signal in definitions.items() if not (signal.of_joints or signal.secondary)]
    columns: list[list[Panel]] = []
    if any(signal.of_joints for signal in definitions.values()):
        columns = joint_panels(solution)
        for column, (_, joints) in zip(columns, joint_units(solution.problem.model).values(), strict=True):
            column += [panel for panel in torque_panels(solution) if panel.members[0] in joints]
    panels = signal_panels([solution], others)
    columns = columns or [[] for _ in range(-(-len(panels) // _TALL) or 1)]
    for panel in panels:
        min(columns, key=len).append(panel)
    return columns


class _Page(NamedTuple):
    """A figure and its parts for the stick figure, for curves, and for bearing loads, if any."""

    figure: Picture
    motion: SubFigure | None
    curves: SubFigure
    loads: SubFigure | None
    column: bool


def _layout(rows: int, columns: int, loads: int, size: Size, *, bodies: bool) -> _Page:
    """A page with curves on the left, or a single column."""
    narrow = is_narrow(size.get("width"), size.get("figsize"), NARROW)
    if not bodies:
        figure = new_figure((WIDTHS["column"] if narrow else 3.0 + 5.0 * columns, 1.5 + _PANEL * rows), **size)
        return _Page(figure, None, cast(SubFigure, figure.subfigures()), None, column=narrow)
    if narrow:
        heights = [_PICTURE, _PANEL * rows] + [_PANEL * loads] * (loads > 0)
        figure = new_figure((WIDTHS["column"], 1.0 + sum(heights)), **size)
        motion, curves, *below = figure.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
        return _Page(figure, motion, curves, below[0] if below else None, column=True)
    figure = new_figure((13.0, max(9.0, 1.5 + _PANEL * rows)), **size)
    curves, right = figure.subfigures(1, 2, squeeze=False)[0]
    heights = [2.2, 1.0] if loads else [1.0]
    motion, *below = right.subfigures(len(heights), 1, squeeze=False, height_ratios=heights)[:, 0]
    return _Page(figure, motion, curves, below[0] if below else None, column=False)


def _in_line(part: SubFigure, count: int, *, column: bool) -> list[Axes]:
    """Axes below each other in a column, otherwise side by side."""
    shape = (count, 1) if column else (1, count)
    return part.subplots(*shape, squeeze=False).ravel().tolist()


def _of_weight(solution: Solution | PhasesSolution) -> dict[str, dict[str, np.ndarray]]:
    """Bearing loads without those that are only rounding."""
    loads = bearing_loads(solution)
    largest = {
        label: max((float(np.nanmax(values)) for values in norms.values()), default=0.0)
        for label, norms in loads.items()
    }
    size = max(*largest.values(), float(np.abs(solution.tau).max(initial=0.0)))
    return {label: norms for label, norms in loads.items() if largest[label] > _NOTHING * size}
