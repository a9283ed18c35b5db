"""Everything about a solution on one page."""

from __future__ import annotations

from matplotlib.figure import Figure

from colloc.plot.curves import (
    TIME,
    body_handles,
    draw_joints,
    draw_reactions,
    draw_torques,
    joint_units,
    name_phases,
    torque_groups,
)
from colloc.plot.motion import draw_motion
from colloc.plot.panels import new_figure
from colloc.plot.sampling import checked
from colloc.plot.style import INK, VERMILLION, legend_below, plain, styled
from colloc.solution import SequenceSolution, Solution

_FRAMES = 9


@styled
def summary(solution: Solution | SequenceSolution, *, figsize: tuple[float, float] | None = None) -> Figure:
    """Joint motion, torques, reactions and the stick figure on one page, with duration and status.

    Parameters
    ----------
    solution : Solution or SequenceSolution
    figsize : (float, float), optional [inch]
        As in `joints`.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but a Solution.

    Examples
    --------
    >>> figure = co.plot.summary(solution)
    """
    model = checked(solution).problem.model
    units = len(joint_units(model))
    figure = new_figure((13.0, 9.0), None, figsize)
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    above, below = right.subfigures(2, 1, squeeze=False, height_ratios=(2.2, 1))[:, 0]
    groups = torque_groups(solution)
    by_unit = [[g for g in groups if g[0] in members] for members in joint_units(model).values()]
    rows = max(map(len, by_unit))
    curves = left.subplots(2 + rows, units, sharex=True, squeeze=False)
    forces = below.subplots(1, 2)
    draw_joints(curves[:2], solution)
    for ax in curves[0]:
        name_phases(ax, solution)
    order = [(curves[2 + k, column], group) for column, own in enumerate(by_unit) for k, group in enumerate(own)]
    torque_handles = draw_torques([ax for ax, _ in order], solution, [group for _, group in order])
    for column, own in enumerate(by_unit):
        for ax in curves[2 + len(own) :, column]:
            ax.set_visible(False)
    draw_reactions(forces, solution)
    for ax in (*(curves[1 + len(own), column] for column, own in enumerate(by_unit)), *forces):
        ax.set_xlabel(TIME)
        ax.tick_params(labelbottom=True)
    left.align_ylabels()
    legend_below(above, draw_motion(above, 111, solution, _FRAMES))
    legend_below(figure, [*body_handles(model), *torque_handles])
    title = f"{plain(model.name)}: {solution.duration:.4g} s, {solution.status}"
    figure.suptitle(title, fontsize=13, fontweight="bold", color=INK if solution.success else VERMILLION)
    return figure
