"""Figures of quantities over time, of one solution or of several on top of each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import casadi as ca
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.model import Model
from colloc.plot.figure import Canvas, Panels, figure, panels
from colloc.plot.sampling import by_phase, checked, fine_times, models
from colloc.plot.style import DASHES, INK, MUTED, Look, dress, looks_by_dof, plain
from colloc.problem import Instant
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, as_tuple, quoted, text
from colloc.support.display import shown

TIME = "time [s]"
_BOUND: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.5}
_RELEVANT = 5.0  # a bound further out than this many times the largest value is left out of view
_NOTHING = 1e-9  # what varies less than this in its unit is constant
_POSITIONS = "joint position [{}]", "joint velocity [{}/s]"
_QUATERNIONS = "unit quaternion", "angular velocity [rad/s]"
_BEARING = "bearing force [N]", "bearing moment [N m]"
_APART = 5.0  # times as small as the largest torque of a panel, and a torque has another panel
_ROUNDING = 1e-6  # of the largest torque
_MARKED = 200  # more nodes than this would hide the curve


@figure
def joints(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Joint positions and velocities over time, of one solution or of several on top of each other.

    Revolute and prismatic joints have a column of panels each, and so have ball joints on quaternions.

    Parameters
    ----------
    *solutions : Solution or PhasesSolution
        Of the same joints. The first is drawn in full lines, others in broken ones.
    labels : sequence of str, optional
        Names of the solutions.
    ax : Axes or sequence of Axes, optional
        Where to draw: positions of every unit, then velocities. By default a new figure.

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
    units = _columns(model)
    size = (8.0 if len(units) == 1 else 10.5, 5.4)
    page = panels(2, len(units), size, **canvas)
    for curve in curves:
        draw_joints(page.axes, curve.solution, curve.linestyle)
    _finish(page, curves, [*joint_handles(model, many=len(curves) > 1), *scalar_handles(model)])
    return page.figure


@figure
def torques(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Actuation over time with the nodes marked, and its bounds as dashed lines.

    Bounds are grey when all joints share them, otherwise in the joint's colour. Torques and forces have panels of their
    own, and so have joints whose torques are small beside others: where they differ five times or more. Nodes are
    marked, and bounds drawn, of a single solution only.

    Parameters
    ----------
    *solutions, labels :
        As in `joints`.
    ax : Axes or sequence of Axes, optional
        One for each panel, see there.

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
    page = panels(len(groups), 1, (8.0, 2.0 + 2.0 * len(groups)), **canvas)
    handles: list[Line2D] = []
    for curve in curves:
        handles = draw_torques(page.axes[:, 0], curve.solution, groups, curve.linestyle)
    _finish(page, curves, [*joint_handles(model, many=len(curves) > 1), *handles])
    return page.figure


@figure
def reactions(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Loads of the bearings of all joints over time: Euclidean norms of forces and moments across the axes.

    Of the internal force and moment of a joint these leave out what acts along the axis of a slide and about that of a
    hinge, which is the actuation, drawn by `torques`; ``solution.reactions()`` has all of them. In a mechanism that
    moves in a plane the moments of hinges are zero. Bodies that only some phases have leave gaps.

    Parameters
    ----------
    *solutions, labels :
        As in `joints`.
    ax : sequence of two Axes, optional
        For forces and for moments.

    Raises
    ------
    InputError
        As in `joints`.

    Examples
    --------
    >>> figure = co.plot.reactions(solution)
    """
    curves = _curves(solutions, labels)
    page = panels(2, 1, (8.0, 5.4), **canvas)
    for curve in curves:
        draw_reactions(page.axes[:, 0], curve.solution, bearing_loads(curve.solution), curve.linestyle)
    _finish(page, curves, body_handles(*solutions))
    return page.figure


class _Curve(NamedTuple):
    """One of the solutions in a figure: how it is drawn, and its legend entry where there are several."""

    solution: Solution | PhasesSolution
    linestyle: Any
    handle: Line2D | None


def _curves(solutions: Sequence[Solution | PhasesSolution], labels: Sequence[str] | None) -> list[_Curve]:
    """The solutions, which must have the same joints, with their lines."""
    if not solutions:
        raise InputError("give one or more solutions, see co.solve")
    for solution in solutions:
        checked(solution)
    for solution in solutions[1:]:
        model, first = solution.problem.model, solutions[0].problem.model
        if _coordinates(model) != _coordinates(first):
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
    curves = []
    for k, (solution, name) in enumerate(zip(solutions, names, strict=True)):
        line = DASHES[k % len(DASHES)]
        curves.append(_Curve(solution, line, Line2D([], [], color=INK, linestyle=line, label=plain(name))))
    return curves


def _finish(page: Panels, curves: Sequence[_Curve], handles: Sequence[Line2D]) -> None:
    """Names of phases and axes, a legend, and room for the longest of the motions."""
    for ax in page.axes[-1]:
        ax.set_xlabel(TIME)
    if len(curves) == 1:
        for ax in page.axes[0]:
            name_phases(ax, curves[0].solution)
    for ax in page.axes.flat if len(curves) > 1 else ():
        fit(ax, max((curve.solution for curve in curves), key=lambda solution: solution.duration))
    if not page.borrowed:
        page.figure.align_ylabels()
    page.legend([*handles, *(curve.handle for curve in curves if curve.handle is not None)])


def draw_joints(axes: np.ndarray, solution: Solution | PhasesSolution, linestyle: Any = None) -> None:
    """Positions and velocities into axes, shape (2, number of units); by a line of its own if one is given."""
    model = solution.problem.model
    sample = solution.at(fine_times(solution))
    look = _joint_looks(model, linestyle)
    of_positions = _position_looks(model, linestyle)
    for column, (unit, (positions, rates)) in zip(axes.T, _columns(model).items(), strict=True):
        labels = [label.format(unit) for label in _POSITIONS] if unit else _QUATERNIONS
        for ax, members, values, looks, label in zip(
            column, (positions, rates), (sample.q, sample.qd), (of_positions, look), labels, strict=True
        ):
            for j in members:
                ax.plot(sample.t, values[:, j], **looks[j]._asdict())
            dress(ax, ylabel=label)
            fit(ax, solution)


def name_phases(ax: Axes, solution: Solution | PhasesSolution) -> None:
    """The names of the phases above the parts of the time axis that they take, if there are any."""
    look: Any = {"ha": "center", "color": MUTED, "fontsize": 0.9 * mpl.rcParams["font.size"]}
    for name, phase in solution.phases.items():
        if name:
            middle = solution.start_times[name] + phase.duration / 2
            ax.text(middle, 1.02, plain(name), transform=ax.get_xaxis_transform(), **look)


def draw_torques(
    axes: Sequence[Axes] | np.ndarray,
    solution: Solution | PhasesSolution,
    groups: Sequence[list[int]] | None = None,
    linestyle: Any = None,
) -> list[Line2D]:
    """Actuation, one of the axes for each group of joints; returns what a legend should name beside the joints."""
    model = solution.problem.model
    groups = list(joint_units(model).values()) if groups is None else groups
    sample = solution.at(fine_times(solution))
    look = _joint_looks(model, linestyle)
    bounded, few = False, solution.t.size <= _MARKED and linestyle is None
    for ax, members in zip(axes, groups, strict=True):
        for j in members:
            ax.plot(sample.t, sample.tau[:, j], **look[j]._asdict())
            if few:
                ax.plot(
                    solution.t,
                    solution.tau[:, j],
                    ".",
                    color=look[j].color,
                    markersize=2.8 * mpl.rcParams["lines.linewidth"],
                )
        unit = model.torque_units[members[0]]
        dress(ax, ylabel=f"{'joint torque' if unit == 'N m' else 'joint force'} [{unit}]")
        fit(ax, solution)
        bounded |= linestyle is None and _draw_bounds(ax, solution, members)
    nodes = [Line2D([], [], color=MUTED, marker=".", linestyle="", label="nodes")] if few else []
    return [*nodes, Line2D([], [], color=MUTED, label="bounds", **_BOUND)] if bounded else nodes


def draw_reactions(
    axes: Sequence[Axes] | np.ndarray,
    solution: Solution | PhasesSolution,
    loads: Mapping[str, Mapping[str, np.ndarray]],
    linestyle: Any = None,
) -> None:
    """Loads of the bearings at the times of `fine_times`, from `bearing_loads`, each quantity into its axes."""
    t = fine_times(solution)
    look = _with(body_looks(solution), linestyle)
    for ax, (label, norms) in zip(axes, loads.items(), strict=True):
        for name, values in norms.items():
            ax.plot(t, values, **look[name]._asdict())
        dress(ax, ylabel=label)
        fit(ax, solution)
        ax.set_ylim(bottom=0)


def bearing_loads(solution: Solution | PhasesSolution) -> dict[str, dict[str, np.ndarray]]:
    """Norms of the forces and of the moments that joints carry across their axes, by label and body, each shape (N,).

    At the times of `fine_times`. Along the axis of a slide and about that of a hinge acts the actuator.
    """
    t = fine_times(solution)

    def across(now: Instant) -> tuple[ca.SX, ca.SX]:
        reactions = now.joint_reactions
        force, moment = [], []
        for k, body in enumerate(now.model.bodies):
            axis = body.joint.after[:3, :3].T @ ca.SX(body.joint.axis)
            whole, off = ca.SX.eye(3), ca.SX.eye(3) - axis @ axis.T
            slides = body.joint.slides and not body.joint.turns  # the thread of a screw carries the force along it
            force.append(ca.norm_2((off if slides else whole) @ reactions.force[:, k]))
            moment.append(ca.norm_2((off if body.joint.turns else whole) @ reactions.moment[:, k]))
        return ca.vertcat(*force), ca.vertcat(*moment)

    parts = [(phase.problem.model, phase.evaluate(across, times)) for phase, times in by_phase(solution, t)]
    loads: dict[str, dict[str, np.ndarray]] = {}
    for which, label in enumerate(_BEARING):
        columns = {name: np.full(t.size, np.nan) for name in body_looks(solution)}
        first = 0
        for model, values in parts:
            rows = values[which].reshape(-1, len(model.bodies))
            for body, column in zip(model.bodies, rows.T, strict=True):
                columns[body.name][first : first + len(rows)] = column
            first += len(rows)
        loads[label] = columns
    return loads


def torque_groups(*solutions: Solution | PhasesSolution) -> list[list[int]]:
    """Joints that share a panel of torques: those of a unit, split by magnitude where they differ five times or more.

    Torques that are zero, or that bounds prescribe, make no panel of their own beside others.
    """
    groups = []
    largest = np.max([np.abs(solution.tau).max(axis=0) for solution in solutions], axis=0)
    free = np.any([~prescribed(solution) for solution in solutions], axis=0)
    for members in joint_units(solutions[0].problem.model).values():
        sizes = largest[members]
        counts = free[members] & (sizes > _ROUNDING * sizes.max())
        left = [j for _, j in sorted(zip(-sizes[counts], np.array(members)[counts].tolist(), strict=True))]
        others = np.array(members)[~counts].tolist()
        while left or others:
            group = [j for j in left if largest[j] * _APART > largest[left[0]]]
            groups.append(sorted(group + others))
            left, others = [j for j in left if j not in group], []
    return groups


def prescribed(solution: Solution | PhasesSolution) -> np.ndarray:
    """Joints whose actuation bounds leave no choice, such as passive ones, shape (n,)."""
    lower, upper = solution.problem.limits("tau")
    return lower == upper


def joint_units(model: Model) -> dict[str, list[int]]:
    """Joints that share a unit: position unit to joint numbers."""
    return {unit: joints for unit, (_, joints) in _columns(model).items()}


def _columns(model: Model) -> dict[str, tuple[list[int], list[int]]]:
    """Numbers of positions and of joints by the unit of the positions; ball joints on quaternions have none."""
    columns: dict[str, tuple[list[int], list[int]]] = {}
    joint = 0
    of_balls = {places.start: (places, dofs) for places, dofs in model.balls.values()}
    for place, unit in enumerate(model.position_units):
        positions, rates = columns.setdefault(unit, ([], []))
        positions.append(place)
        if unit or place in of_balls:
            dofs = range(model.n)[of_balls[place][1]] if place in of_balls else [joint]
            rates += dofs
            joint += len(dofs)
    return columns


def _coordinates(model: Model) -> tuple[tuple[str, ...], ...]:
    """Names and units of joints and positions, which solutions in one figure share."""
    return model.joint_names, model.position_names, model.position_units


def joint_handles(model: Model, *, many: bool = False) -> list[Line2D]:
    """Legend entries of the joints that move; by colour alone where lines tell many solutions apart."""
    look = _joint_looks(model, "-" if many else None)
    return [_handle(name, line) for name, line in zip(model.joint_names, look, strict=True)]


def scalar_handles(model: Model) -> list[Line2D]:
    """Legend entries of the positions that are of no axis: the scalar parts of quaternions."""
    look = _position_looks(model)
    return [_handle(model.position_names[k], look[k]) for k in (places.start for places, _ in model.balls.values())]


def body_looks(*solutions: Solution | PhasesSolution) -> dict[str, Look]:
    """The looks of the joints of all bodies by name, fixed ones included, and those of every phase."""
    bodies: dict[str, int | None] = {}
    for model in (model for solution in solutions for model in models(solution)):
        for body, dof in zip(model.bodies, model.dofs, strict=True):
            taken = dof in bodies.values()  # by another body, in a phase of other joints
            bodies.setdefault(body.name, None if taken else dof)
    return dict(zip(bodies, looks_by_dof(list(bodies.values())), strict=True))


def body_handles(*solutions: Solution | PhasesSolution) -> list[Line2D]:
    """Legend entries of the joints of all bodies, fixed ones included; as `joint_handles`."""
    look = _with(body_looks(*solutions), "-" if len(solutions) > 1 else None)
    return [_handle(name, line) for name, line in look.items()]


def _draw_bounds(ax: Axes, solution: Solution | PhasesSolution, members: list[int]) -> bool:
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


def fit(ax: Axes, solution: Solution | PhasesSolution) -> None:
    """The whole motion, with room for the markers at both ends; a constant is drawn flat, not its round-off."""
    margin = 0.01 * solution.duration
    ax.set_xlim(-margin, solution.duration + margin)
    for start in list(solution.start_times.values())[1:]:
        ax.axvline(start, color=MUTED, linewidth=0.8, zorder=1.2)
    low, high = ax.get_ylim()
    size = max(abs(low), abs(high))
    if high - low < max(1e-6 * size, _NOTHING):
        room = 0.1 * size if size > _NOTHING else 1.0
        ax.set_ylim(low - room, high + room)


def _joint_looks(model: Model, linestyle: Any = None) -> list[Look]:
    """Looks in the order of q."""
    look = _with(dict(enumerate(looks_by_dof(range(model.n)))), linestyle)
    return list(look.values())


def _position_looks(model: Model, linestyle: Any = None) -> list[Look]:
    """Looks in the order of q: those of the joints; vector parts of quaternions as the turns about these axes."""
    look, scalar = _joint_looks(model, linestyle), Look(MUTED, "-" if linestyle is None else linestyle)
    of_balls = {places.start: dofs for places, dofs in model.balls.values()}
    looks: list[Look] = []
    joint = 0
    while len(looks) < model.n_q:
        dofs = of_balls.get(len(looks))
        looks += [look[joint]] if dofs is None else [scalar, *look[dofs]]
        joint += 1 if dofs is None else 3
    return looks


def _with(look: dict[Any, Look], linestyle: Any) -> dict[Any, Look]:
    return look if linestyle is None else {name: line._replace(linestyle=linestyle) for name, line in look.items()}


def _handle(name: str, look: Look) -> Line2D:
    return Line2D([], [], label=plain(name), **look._asdict())
