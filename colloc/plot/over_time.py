"""Figures of quantities over time, of one solution or of several on top of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.plot.curves import (
    TIME,
    bearing_loads,
    body_handles,
    draw_joints,
    draw_reactions,
    draw_torques,
    fit,
    joint_handles,
    joint_units,
    name_phases,
    torque_groups,
)
from colloc.plot.panels import Panels, panels
from colloc.plot.sampling import checked
from colloc.plot.style import DASHES, INK, plain, styled
from colloc.solution import SequenceSolution, Solution
from colloc.support.checks import InputError, as_tuple, quoted, text
from colloc.support.display import shown


@styled
def joints(
    *solutions: Solution | SequenceSolution,
    labels: Sequence[str] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    width: str | float | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Joint positions and velocities over time, of one solution or of several on top of each other.

    Revolute and prismatic joints have a column of panels each.

    Parameters
    ----------
    *solutions : Solution or SequenceSolution
        Of the same joints. The first is drawn in full lines, others in broken ones.
    labels : sequence of str, optional
        Names of the solutions.
    ax : Axes or sequence of Axes, optional
        Where to draw: positions of every unit, then velocities. By default a new figure.
    width : "column", "page" or float, optional [inch]
        Of the figure: as a column of a journal (3.5), as a page of it (7.16).
    figsize : (float, float), optional [inch]

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        For anything but Solutions of the same joints, or sizes and axes that cannot be drawn in.

    Examples
    --------
    >>> figure = co.plot.joints(solution, width="column")
    """
    curves = _curves(solutions, labels)
    model = solutions[0].problem.model
    units = joint_units(model)
    size = (8.0 if len(units) == 1 else 10.5, 5.4)
    page = panels((2, len(units)), size, ax, width, figsize)
    for curve in curves:
        draw_joints(page.axes, curve.solution, curve.linestyle)
    _finish(page, curves, joint_handles(model, many=len(curves) > 1))
    return page.figure


@styled
def torques(
    *solutions: Solution | SequenceSolution,
    labels: Sequence[str] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    width: str | float | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """Actuation over time with the nodes marked, and its bounds as dashed lines.

    Bounds are grey when all joints share them, otherwise in the joint's colour. Torques and forces have panels of their
    own, and so have joints whose torques are small beside others: where they differ five times or more. Nodes are
    marked, and bounds drawn, of a single solution only.

    Parameters
    ----------
    *solutions, labels, width, figsize :
        As in `joints`.
    ax : Axes or sequence of Axes, optional
        One for each panel, see there.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        As in `joints`.

    Examples
    --------
    >>> coarse = co.solve(problem, co.BSpline(10))
    >>> figure = co.plot.torques(solution, coarse, labels=["refined", "coarse"])
    """
    curves = _curves(solutions, labels)
    model, groups = solutions[0].problem.model, torque_groups(*solutions)
    page = panels((len(groups), 1), (8.0, 2.0 + 2.0 * len(groups)), ax, width, figsize)
    handles: list[Line2D] = []
    for curve in curves:
        handles = draw_torques(page.axes[:, 0], curve.solution, groups, curve.linestyle)
    _finish(page, curves, [*joint_handles(model, many=len(curves) > 1), *handles])
    return page.figure


@styled
def reactions(
    *solutions: Solution | SequenceSolution,
    labels: Sequence[str] | None = None,
    ax: Axes | Sequence[Axes] | None = None,
    width: str | float | None = None,
    figsize: tuple[float, float] | None = None,
) -> Figure:
    """What the bearings of all joints carry over time: Euclidean norms of forces and moments across the axes.

    Of the internal force and moment of a joint these leave out what acts along the axis of a slide and about that of a
    hinge, which is the actuation, drawn by `torques`; ``solution.reactions()`` has all of them. In a mechanism that
    moves in a plane the moments of hinges are zero. Bodies that only some phases have leave gaps.

    Parameters
    ----------
    *solutions, labels, width, figsize :
        As in `joints`.
    ax : sequence of two Axes, optional
        For forces and for moments.

    Returns
    -------
    Figure

    Raises
    ------
    InputError
        As in `joints`.

    Examples
    --------
    >>> figure = co.plot.reactions(solution)
    """
    curves = _curves(solutions, labels)
    page = panels((2, 1), (8.0, 5.4), ax, width, figsize)
    for curve in curves:
        draw_reactions(page.axes[:, 0], curve.solution, bearing_loads(curve.solution), curve.linestyle)
    _finish(page, curves, body_handles(*solutions))
    return page.figure


class _Curve(NamedTuple):
    """One of the solutions in a figure: how it is drawn, and its legend entry where there are several."""

    solution: Solution | SequenceSolution
    linestyle: Any
    handle: Line2D | None


def _curves(solutions: Sequence[Solution | SequenceSolution], labels: Sequence[str] | None) -> list[_Curve]:
    """The solutions, which must have the same joints, with their lines."""
    if not solutions:
        raise InputError("give one or more solutions, see co.solve")
    for solution in solutions:
        checked(solution)
    for other in solutions[1:]:
        model, first = other.problem.model, solutions[0].problem.model
        if (model.joint_names, model.position_units) != (first.joint_names, first.position_units):
            raise InputError(
                f"solutions in one figure must have the same joints, got {shown(first.joint_names)} and "
                f"{shown(model.joint_names)}"
            )
    names = [f"solution {k + 1}" for k in range(len(solutions))] if labels is None else as_tuple("labels", labels)
    if len(names) != len(solutions):
        raise InputError(f"labels must be one for each of {len(solutions)} solutions, got {quoted(labels)}")
    for name in names:
        text("label", name)
    if len(solutions) == 1 and labels is None:
        return [_Curve(solutions[0], None, None)]
    found = []
    for k, (solution, name) in enumerate(zip(solutions, names, strict=True)):
        line = DASHES[k % len(DASHES)]
        found.append(_Curve(solution, line, Line2D([], [], color=INK, linestyle=line, label=plain(name))))
    return found


def _finish(page: Panels, curves: Sequence[_Curve], handles: Sequence[Line2D]) -> None:
    """Names of phases and axes, a legend, and room for the longest of the motions."""
    for ax in page.axes[-1]:
        ax.set_xlabel(TIME)
    if len(curves) == 1:
        for ax in page.axes[0]:
            name_phases(ax, curves[0].solution)
    for ax in page.axes.flat if len(curves) > 1 else ():
        fit(ax, max((curve.solution for curve in curves), key=lambda solution: solution.duration))
    if not page.given:
        page.figure.align_ylabels()
    page.legend([*handles, *(curve.handle for curve in curves if curve.handle is not None)])
