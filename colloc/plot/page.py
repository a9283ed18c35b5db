"""Everything about a solution on one page."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from colloc.plot.curves import TIME, body_handles, draw_joints, draw_reactions, draw_torques, joint_units
from colloc.plot.motion import draw_motion
from colloc.plot.sampling import checked
from colloc.plot.style import INK, VERMILLION, legend_below, plain, styled
from colloc.solution import SequenceSolution, Solution

_FRAMES = 9


@styled
def summary(solution: Solution | SequenceSolution) -> Figure:
    """Joint motion, torques, reactions and the stick figure on one page, with duration and status.

    Parameters
    ----------
    solution : Solution or SequenceSolution

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
    figure = plt.figure(figsize=(13.0, 9.0))
    left, right = figure.subfigures(1, 2, squeeze=False)[0]
    above, below = right.subfigures(2, 1, squeeze=False, height_ratios=(2.2, 1))[:, 0]
    curves = left.subplots(3, units, sharex=True, squeeze=False)
    forces = below.subplots(1, 2)
    draw_joints(curves[:2], solution)
    torque_handles = draw_torques(curves[2], solution)
    draw_reactions(forces, solution)
    for ax in (*curves[2], *forces):
        ax.set_xlabel(TIME)
    left.align_ylabels()
    legend_below(above, draw_motion(above, 111, solution, _FRAMES))
    legend_below(figure, [*body_handles(model), *torque_handles])
    title = f"{plain(model.name)}: {solution.duration:.4g} s, {solution.status}"
    figure.suptitle(title, fontsize=13, fontweight="bold", color=INK if solution.success else VERMILLION)
    return figure
