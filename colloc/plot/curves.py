"""Quantities over time: joint positions and velocities, torques, reactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.model import Model
from colloc.plot.sampling import checked, fine_times
from colloc.plot.style import MUTED, Look, dress, legend_beside, looks, plain, styled
from colloc.solution import SequenceSolution, Solution

TIME = "time [s]"
_BOUND: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.5}
_RELEVANT = 5.0  # a bound further out than this many times the largest value is left out of view
_NOTHING = 1e-9  # what varies less than this in its unit is constant
_MARKED = 200  # more nodes than this would hide the curve


@styled
def joints(solution: Solution | SequenceSolution) -> Figure:
    """Joint positions and velocities over time.

    Revolute and prismatic joints have a column of panels each.

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
    >>> figure = co.plot.joints(solution)
    """
    model = checked(solution).problem.model
    units = joint_units(model)
    width = 8.0 if len(units) == 1 else 10.5
    figure, axes = plt.subplots(2, len(units), figsize=(width, 5.4), sharex=True, squeeze=False)
    draw_joints(axes, solution)
    for ax in axes[-1]:
        ax.set_xlabel(TIME)
    figure.align_ylabels()
    legend_beside(figure, joint_handles(model))
    return figure


@styled
def torques(solution: Solution | SequenceSolution) -> Figure:
    """Actuation over time with the nodes marked, and its bounds as dashed lines.

    Bounds are grey when all joints share them, otherwise in the joint's colour.

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
    >>> figure = co.plot.torques(solution)
    """
    model = checked(solution).problem.model
    units = joint_units(model)
    figure, axes = plt.subplots(len(units), 1, figsize=(8.0, 2.0 + 2.0 * len(units)), sharex=True, squeeze=False)
    handles = draw_torques(axes[:, 0], solution)
    name_phases(axes[0, 0], solution)
    axes[-1, 0].set_xlabel(TIME)
    legend_beside(figure, [*joint_handles(model), *handles])
    return figure


@styled
def reactions(solution: Solution | SequenceSolution) -> Figure:
    """Euclidean norms of the internal force and moment of every joint over time.

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
    >>> figure = co.plot.reactions(solution)
    """
    model = checked(solution).problem.model
    figure, axes = plt.subplots(2, 1, figsize=(8.0, 5.4), sharex=True)
    draw_reactions(axes, solution)
    name_phases(axes[0], solution)
    axes[-1].set_xlabel(TIME)
    figure.align_ylabels()
    legend_beside(figure, body_handles(model))
    return figure


def draw_joints(axes: np.ndarray, solution: Solution | SequenceSolution) -> None:
    """Positions and velocities into axes, shape (2, number of units)."""
    model = solution.problem.model
    sample = solution.at(fine_times(solution))
    look = _joint_looks(model)
    for column, (unit, members) in zip(axes.T, joint_units(model).items(), strict=True):
        panels = ((sample.q, f"joint position [{unit}]"), (sample.qd, f"joint velocity [{unit}/s]"))
        for ax, (values, label) in zip(column, panels, strict=True):
            for j in members:
                ax.plot(sample.t, values[:, j], **look[j]._asdict())
            dress(ax, ylabel=label)
            _fit(ax, solution)
        name_phases(column[0], solution)


def name_phases(ax: Axes, solution: Solution | SequenceSolution) -> None:
    """The names of the phases above the parts of the time axis that they take, if there are any."""
    if isinstance(solution, SequenceSolution):
        for name, own in solution.phases.items():
            middle = solution.starts[name] + own.duration / 2
            ax.text(
                middle, 1.02, plain(name), transform=ax.get_xaxis_transform(), ha="center", color=MUTED, fontsize=9
            )  # fmt: skip


def draw_torques(axes: Sequence[Axes] | np.ndarray, solution: Solution | SequenceSolution) -> list[Line2D]:
    """Actuation, one of the axes for each unit; returns what a legend should name beside the joints."""
    model = solution.problem.model
    sample = solution.at(fine_times(solution))
    look = _joint_looks(model)
    bounded, few = False, solution.t.size <= _MARKED
    for ax, members in zip(axes, joint_units(model).values(), strict=True):
        for j in members:
            ax.plot(sample.t, sample.tau[:, j], **look[j]._asdict())
            if few:
                ax.plot(solution.t, solution.tau[:, j], ".", color=look[j].color, markersize=5)
        unit = model.torque_units[members[0]]
        dress(ax, ylabel=f"{'joint torque' if unit == 'N m' else 'joint force'} [{unit}]")
        _fit(ax, solution)
        bounded |= _draw_bounds(ax, solution, members)
    nodes = [Line2D([], [], color=MUTED, marker=".", linestyle="", label="nodes")] if few else []
    return [*nodes, Line2D([], [], color=MUTED, label="bounds", **_BOUND)] if bounded else nodes


def draw_reactions(axes: Sequence[Axes] | np.ndarray, solution: Solution | SequenceSolution) -> None:
    """Norm of the internal force into the first of the axes, of the internal moment into the second."""
    found = solution.reactions(fine_times(solution))
    look = looks(solution.problem.model)
    panels = ((found.force, "joint force, norm [N]"), (found.moment, "joint moment, norm [N m]"))
    for ax, (vectors, label) in zip(axes, panels, strict=True):
        for body, norm in enumerate(np.linalg.norm(vectors, axis=2).T):
            ax.plot(found.t, norm, **look[body]._asdict())
        dress(ax, ylabel=label)
        _fit(ax, solution)
        ax.set_ylim(bottom=0)


def joint_units(model: Model) -> dict[str, list[int]]:
    """Joints that share a unit: position unit to joint numbers."""
    found: dict[str, list[int]] = {}
    for j, unit in enumerate(model.position_units):
        found.setdefault(unit, []).append(j)
    return found


def joint_handles(model: Model) -> list[Line2D]:
    """Legend entries of the joints that move."""
    return [_handle(name, look) for name, look in zip(model.joint_names, _joint_looks(model), strict=True)]


def body_handles(model: Model) -> list[Line2D]:
    """Legend entries of the joints of all bodies, fixed ones included."""
    return [_handle(body.name, look) for body, look in zip(model.bodies, looks(model), strict=True)]


def _draw_bounds(ax: Axes, solution: Solution | SequenceSolution, members: list[int]) -> bool:
    """Dashed lines, grey if the joints share them; whether any is in view: far ones do not stretch the axis."""
    pairs = np.transpose(solution.problem.limits("tau"))[members]
    look = _joint_looks(solution.problem.model)
    shared = len(members) > 1 and bool((pairs == pairs[0]).all())
    colors, pairs = ([MUTED], pairs[:1]) if shared else ([look[j].color for j in members], pairs)
    low, high = ax.get_ylim()
    near = pairs[np.abs(pairs) <= _RELEVANT * max(abs(low), abs(high))]
    low, high = min([low, *near]), max([high, *near])
    if (pairs[:, 0] == pairs[:, 1]).all():  # actuation that is prescribed: its round-off is not to be magnified
        low, high = min(low, pairs.min() - 1), max(high, pairs.max() + 1)
    for color, pair in zip(colors, pairs, strict=True):
        for bound in pair[np.isfinite(pair)]:
            ax.axhline(bound, color=color, **_BOUND)
    margin = 0.05 * (high - low)
    ax.set_ylim(low - margin, high + margin)
    return near.size > 0


def _fit(ax: Axes, solution: Solution | SequenceSolution) -> None:
    """The whole motion, with room for the markers at both ends; a constant is drawn flat, not its round-off."""
    margin = 0.01 * solution.duration
    ax.set_xlim(-margin, solution.duration + margin)
    if isinstance(solution, SequenceSolution):
        for start in list(solution.starts.values())[1:]:
            ax.axvline(start, color=MUTED, linewidth=0.8, zorder=1.2)
    low, high = ax.get_ylim()
    size = max(abs(low), abs(high))
    if high - low < max(1e-6 * size, _NOTHING):
        room = 0.1 * size if size > _NOTHING else 1.0
        ax.set_ylim(low - room, high + room)


def _joint_looks(model: Model) -> list[Look]:
    """Looks in the order of q."""
    return [look for look, dof in zip(looks(model), model.dofs, strict=True) if dof is not None]


def _handle(name: str, look: Look) -> Line2D:
    return Line2D([], [], label=plain(name), **look._asdict())
