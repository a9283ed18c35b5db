"""Figures of signals over time, for one solution or several on top of each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import casadi as ca
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.model import Model
from colloc.plot.figure import Canvas, Panels, figure, panels
from colloc.plot.sampling import by_phase, fine_times, models, node_times, one_by_one, title_of
from colloc.plot.style import (
    DASHES,
    INK,
    LEGEND,
    MUTED,
    NARROW,
    LineStyle,
    dress,
    is_narrow,
    legend_below,
    plain,
    styles_by_dof,
)
from colloc.problem import Instant
from colloc.problem.signal import Signal
from colloc.problem.signals import columns_of
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, as_tuple, unknown_name
from colloc.support.display import shown

TIME = "time [s]"
_BOUND: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.5}
_RELEVANT = 5.0  # bounds beyond this multiple of the largest value are not shown
_NOTHING = 1e-9  # smaller variations, in the unit, count as constant; of others of the unit, as rounding
_QUATERNIONS = {"q": "unit quaternion", "qd": "angular velocity [rad/s]"}
_BEARING = "bearing force [N]", "bearing moment [N m]"
_CONTACT = "contact force [N]", "contact moment [N m]"  # without the pull of muscles across the joints
_NET = "net joint force [N]", "net joint moment [N m]"  # where the direction of a muscle's pull is unknown
_APART = 5.0  # ratio of torques from which they have separate panels
_ROUNDING = 1e-6  # of the largest torque
_MARKED = 200  # largest number of nodes that are marked
_TALL = 5  # panels in a column
_NAMED = 8  # components named in a legend within a panel


@figure
def joints(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Joint positions and velocities over time, of one solution or of several on top of each other.

    Revolute joints, prismatic joints and ball joints on quaternions each have a column of panels. Cases are drawn as
    several solutions.

    Parameters
    ----------
    *solutions : Solution or PhasesSolution
        Of the same joints. The first is drawn with solid lines, others with dashed ones.
    labels : sequence of str, optional
        Names of the solutions.
    ax : Axes or sequence of Axes, optional
        Axes for positions of every unit, then for velocities. By default a new figure.

    Raises
    ------
    InputError
        If arguments are not Solutions of the same joints, for a problem without joints, or for unsuitable sizes or
        axes.

    See Also
    --------
    signals : All signals, with bounds.

    Examples
    --------
    >>> figure = co.plot.joints(solution, width="column")
    """
    curves = _curves(solutions, labels, "q", "qd")
    first = curves[0].solution
    model, columns = first.problem.model, joint_panels(first)
    size = (8.0 if len(columns) == 1 else 10.5, 5.4)
    page = panels(2, len(columns), size, **canvas)
    for curve in curves:
        draw_panels(page.axes.T.ravel(), [panel for column in columns for panel in column], curve, limits=False)
    _finish(page, curves, [*joint_handles(model, many=len(curves) > 1), *scalar_handles(model)])
    return page.figure


@figure
def torques(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Actuation over time with marked nodes, and bounds as dashed lines.

    Bounds are grey if all joints share them, otherwise in the joint's colour. Torques and forces have separate panels,
    and so do joints whose torques differ by a factor of five or more. Joints with a prescribed torque of zero are left
    out. Nodes and bounds are drawn for a single solution only.

    Parameters
    ----------
    *solutions, labels :
        As in `joints`.
    ax : Axes or sequence of Axes, optional
        One for each panel, as in `joints`.

    Raises
    ------
    InputError
        As in `joints`, and if no joint is driven.

    See Also
    --------
    signals : All signals, with bounds.

    Examples
    --------
    >>> coarse = co.solve(problem, co.BSpline(10))
    >>> figure = co.plot.torques(solution, coarse, labels=["refined", "coarse"])
    """
    curves = _curves(solutions, labels, "tau")
    first, drawn = curves[0].solution, torque_panels(*(curve.solution for curve in curves))
    if not drawn:
        raise InputError(f"no joint of {title_of(first)!r} is driven: {_advice(first)}")
    page = panels(len(drawn), 1, (8.0, 2.0 + 2.0 * len(drawn)), **canvas)
    handles: list[Line2D] = []
    for curve in curves:
        handles = draw_panels(page.axes[:, 0], drawn, curve)
    driven = {j for panel in drawn for j in panel.members}
    of_joints = joint_handles(first.problem.model, many=len(curves) > 1)
    _finish(page, curves, [*(handle for j, handle in enumerate(of_joints) if j in driven), *handles])
    return page.figure


@figure
def signals(
    *solutions: Solution | PhasesSolution,
    names: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """All signals over time: joints, torques, unknown signals, states, forces of loads, with bounds and phases.

    A panel shows the components of a signal that share a unit. Components with a prescribed value of zero are left out.
    Nodes, and bounds as dashed lines, are drawn for a single solution only. Phases may have different joints.

    Parameters
    ----------
    *solutions : Solution or PhasesSolution
        With the same signals. The first is drawn with solid lines, others with dashed ones.
    names : sequence of str, optional
        Names of signals, such as ``["tau", "activation"]``; by default all except secondary ones, such as
        accelerations.
        ``print(solution.signals)`` lists them.
    labels : sequence of str, optional
        Names of the solutions.
    ax : Axes or sequence of Axes, optional
        One for each panel, column by column. By default a new figure.

    Raises
    ------
    InputError
        If arguments are not Solutions with the same signals, for unknown names, or for unsuitable sizes or axes.

    See Also
    --------
    joints : Positions and velocities side by side.
    torques : Actuation by size.

    Examples
    --------
    >>> figure = co.plot.signals(solution, names=["tau"])
    """
    chosen = _chosen(one_by_one(solutions, labels)[0], names)
    curves = _curves(solutions, labels, *chosen, alike=False)
    first, drawn = curves[0].solution, signal_panels([curve.solution for curve in curves], chosen)
    if not drawn:
        raise InputError(f"signals {shown(chosen)} of {title_of(first)!r} are all zero")
    narrow = is_narrow(canvas.get("width"), canvas.get("figsize"), NARROW)
    count = 1 if narrow or canvas.get("ax") is not None else min(3, -(-len(drawn) // _TALL))
    columns = [part.tolist() for part in np.array_split(np.arange(len(drawn)), count)]
    rows = len(columns[0])
    page = panels(rows, count, (5.0 * count + 3.0 * (count == 1), 1.2 + 1.7 * rows), **canvas)
    axes = place_columns(page.axes, columns)
    handles: list[Line2D] = []
    for curve in curves:
        handles = draw_panels(axes, drawn, curve)
    for ax, panel in zip(axes, drawn, strict=True):
        component_legend(ax, first, panel, inside=narrow or page.borrowed)
    _finish(page, curves, handles, below=True)
    return page.figure


@figure
def reactions(
    *solutions: Solution | PhasesSolution,
    labels: Sequence[str] | None = None,
    **canvas: Unpack[Canvas],
) -> Figure:
    """Bearing loads of all joints over time: Euclidean norms of forces and moments across the axes.

    They do not include the force along the axis of a slide and the moment about that of a hinge, which are the
    actuation, drawn by `torques`; ``solution.reactions()`` has all of them. In a planar mechanism the moments of hinges
    are zero. The joints of a floating base carry nothing and are left out. Bodies that only some phases have leave
    gaps.

    Where muscles cross joints, these are contact forces (`Instant.joint_contact`), or net forces if the direction of a
    muscle's pull is unknown. The axes say which.

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
    drawn = [curve.solution for curve in curves]
    loads = [bearing_loads(solution) for solution in drawn]
    names = {name for of_solution in loads for norms in of_solution.values() for name in norms}
    if not names:
        raise InputError(f"no bearing of {title_of(drawn[0])!r} carries a load: {_advice(drawn[0])}")
    page = panels(2, 1, (8.0, 5.4), **canvas)
    for curve, of_solution in zip(curves, loads, strict=True):
        draw_reactions(page.axes[:, 0], curve.solution, of_solution, curve.linestyle)
    _finish(page, curves, [handle for name, handle in body_handles(*drawn).items() if name in names])
    return page.figure


class Panel(NamedTuple):
    """Some components of a signal that share axes."""

    signal: Signal
    members: list[int]  # numbers of the components
    label: str  # label of the axis

    @property
    def unit(self) -> str:
        return self.signal.units[self.members[0]]


class Curve(NamedTuple):
    """A solution in a figure: its line style, and its legend entry if there are several."""

    solution: Solution | PhasesSolution
    linestyle: Any = None
    handle: Line2D | None = None


def _curves(
    solutions: Sequence[Solution | PhasesSolution], labels: Sequence[str] | None, *names: str, alike: bool = True
) -> list[Curve]:
    """The solutions, which must have the same signals of these names, with their line styles.

    If `alike`, all phases must have the same joints.
    """
    if not solutions:
        raise InputError("pass one or more solutions, see co.solve")
    drawn, titles = one_by_one(solutions, labels)
    for solution in drawn:
        if alike and any(name in _QUANTITIES for name in names):
            _ = solution.problem.model  # of all phases; raises InputError if they have different joints
        _check_signals(drawn[0], solution, names)
    if len(drawn) == 1 and labels is None:
        return [Curve(drawn[0])]
    curves = []
    for k, (solution, title) in enumerate(zip(drawn, titles, strict=True)):
        line = DASHES[k % len(DASHES)]
        curves.append(Curve(solution, line, Line2D([], [], color=INK, linestyle=line, label=plain(title))))
    return curves


def _check_signals(first: Solution | PhasesSolution, solution: Solution | PhasesSolution, names: Iterable[str]) -> None:
    """Raise InputError unless a solution has signals of these names, with the components of the first one."""
    for name in names:
        if name not in solution.signals:
            raise InputError(f"{title_of(solution)!r} has no joints: {_advice(solution)}")
        wanted, found = (own.signals.definitions[name] for own in (first, solution))
        if (found.components, found.units) != (wanted.components, wanted.units):
            what = "joints" if wanted.of_joints else f"components of {name}"
            listed = (shown(list(map(str, signal.components))) for signal in (wanted, found))
            raise InputError(f"solutions in one figure must have the same {what}, got {' and '.join(listed)}")


_QUANTITIES = ("q", "qd", "qdd", "tau")


def _advice(solution: Solution | PhasesSolution) -> str:
    """Advice on drawing the existing signals."""
    there = [name for name, signal in solution.signals.definitions.items() if not signal.zero.all()]
    return f"co.plot.signals(solution) draws {shown(there, 6) or 'nothing, as there are no signals'}"


def _chosen(solutions: Sequence[Solution | PhasesSolution], names: Sequence[str] | None) -> list[str]:
    """Names of the drawn signals, which every solution has."""
    there = (
        [name for name in solutions[0].signals if all(name in other.signals for other in solutions)]
        if solutions
        else []
    )
    if names is None:
        return [name for name in there if not solutions[0].signals.definitions[name].secondary]
    chosen = list(as_tuple("names", (names,) if isinstance(names, str) else names))
    for name in chosen:
        if name not in there:
            raise unknown_name("signal of the motion", name, there)
    return chosen


def _finish(page: Panels, curves: Sequence[Curve], handles: Sequence[Line2D], *, below: bool = False) -> None:
    """Add names of phases and axes, a legend, and room for the longest motion."""
    for column in page.axes.T:
        lowest = [ax for ax in column if ax.get_visible()][-1]
        lowest.set_xlabel(TIME)
        lowest.tick_params(labelbottom=True)
    if len(curves) == 1:
        for ax in page.axes[0]:
            name_phases(ax, curves[0].solution)
    for ax in page.axes.flat if len(curves) > 1 else ():
        fit(ax, max((curve.solution for curve in curves), key=lambda solution: solution.duration))
    if not page.borrowed:
        page.figure.align_ylabels()
    handles = [*handles, *(curve.handle for curve in curves if curve.handle is not None)]
    if not below:
        page.legend(handles)
    elif handles and not page.borrowed:
        legend_below(page.figure, handles)


def place_columns(axes: np.ndarray, columns: Sequence[Sequence[Any]]) -> list[Axes]:
    """The axes of panels, column by column, from axes of shape (rows, columns); others are hidden."""
    placed: list[Axes] = []
    for column, drawn in zip(axes.T, columns, strict=True):
        placed += column[: len(drawn)].tolist()
        for ax in column[len(drawn) :]:
            ax.set_visible(False)
    return placed


def name_phases(ax: Axes, solution: Solution | PhasesSolution) -> None:
    """Add names of phases above their parts of the time axis."""
    style: Any = {"ha": "center", "color": MUTED, "fontsize": 0.9 * mpl.rcParams["font.size"]}
    for name, phase in solution.phases.items():
        if name:
            middle = solution.start_times[name] + phase.duration / 2
            ax.text(middle, 1.02, plain(name), transform=ax.get_xaxis_transform(), **style)


def draw_panels(
    axes: Sequence[Axes] | np.ndarray, drawn: Sequence[Panel], curve: Curve, *, limits: bool = True
) -> list[Line2D]:
    """Draw signals into axes, one for each panel; return legend entries in addition to the components.

    With `limits` also draw nodes and bounds, for a single solution.
    """
    solution, alone = curve.solution, curve.linestyle is None
    t, names = fine_times(solution), list(dict.fromkeys(panel.signal.name for panel in drawn))
    values = solution.signals.at(t, *names) if names else {}
    at_nodes = node_times(solution)
    few = limits and alone and at_nodes.size <= _MARKED
    nodes = solution.signals.at(None, *names) if few and names else {}
    bounded = False
    for ax, (signal, members, label) in zip(axes, drawn, strict=True):
        styles = component_styles(solution, signal, curve.linestyle)
        for k in members:
            ax.plot(t, np.asarray(values[signal.name])[:, k], **styles[k]._asdict())
            if few:
                size = 2.8 * mpl.rcParams["lines.linewidth"]
                ax.plot(at_nodes, np.asarray(nodes[signal.name])[:, k], ".", color=styles[k].color, markersize=size)
        dress(ax, ylabel=label)
        fit(ax, solution)
        bounded |= limits and alone and _draw_bounds(ax, solution, signal, members)
    handles = [Line2D([], [], color=MUTED, marker=".", linestyle="", label="nodes")] if few and drawn else []
    return [*handles, Line2D([], [], color=MUTED, label="bounds", **_BOUND)] if bounded else handles


def joint_panels(solution: Solution | PhasesSolution) -> list[list[Panel]]:
    """Panels of positions and velocities of the joints, a column for each unit."""
    definitions, columns = solution.signals.definitions, []
    for unit, members in joint_units(solution.problem.model).items():
        columns.append([
            Panel(definitions[name], part, f"{definitions[name].title} [{unit}{rate}]" if unit else _QUATERNIONS[name])
            for (name, rate), part in zip((("q", ""), ("qd", "/s")), members, strict=True)
        ])  # fmt: skip
    return columns


def torque_panels(*solutions: Solution | PhasesSolution) -> list[Panel]:
    """Panels of torques and forces of driven joints, by unit and size."""
    signal = solutions[0].signals.definitions.get("tau")
    return [] if signal is None else [_unit_panel(signal, group) for group in torque_groups(*solutions)]


def signal_panels(solutions: Sequence[Solution | PhasesSolution], names: Iterable[str]) -> list[Panel]:
    """Panels of given signals, by unit, and torques also by size.

    Components held at zero are left out, and panels of rounding beside others of their unit: forces that cancel.
    """
    names, drawn = list(names), list[Panel]()
    for name in names:
        signals = [solution.signals.definitions[name] for solution in solutions]
        if name == "tau":
            drawn += torque_panels(*solutions)
            continue
        free = np.any([~signal.zero for signal in signals], axis=0)
        by_unit: dict[str, list[int]] = {}
        for k in np.flatnonzero(free).tolist():
            by_unit.setdefault(signals[0].units[k], []).append(k)
        drawn += [_unit_panel(signals[0], members) for members in by_unit.values()]
    return _visible(drawn, solutions)


def _visible(drawn: Sequence[Panel], solutions: Sequence[Solution | PhasesSolution]) -> list[Panel]:
    """Panels without those whose values are rounding beside those of others with the same unit."""
    names = {panel.signal.name for panel in drawn}
    each = [solution.signals.at(None, *names) if names else {} for solution in solutions]
    sizes: list[float] = []
    largest: dict[str, float] = {}
    for panel in drawn:
        values = [np.asarray(values[panel.signal.name])[..., panel.members] for values in each]
        sizes.append(max(float(np.nanmax(np.abs(array), initial=0.0)) for array in values))
        largest[panel.unit] = max(largest.get(panel.unit, 0.0), sizes[-1])
    return [p for p, size in zip(drawn, sizes, strict=True) if size >= _NOTHING * largest[p.unit]]


def _unit_panel(signal: Signal, members: list[int]) -> Panel:
    unit = signal.units[members[0]]
    if signal.name == "q" and not unit:
        return Panel(signal, members, _QUATERNIONS["q"])
    title = "joint force" if signal.name == "tau" and unit == "N" else signal.title
    return Panel(signal, members, plain(f"{title} [{unit}]" if unit else title))


def draw_reactions(
    axes: Sequence[Axes] | np.ndarray,
    solution: Solution | PhasesSolution,
    loads: Mapping[str, Mapping[str, np.ndarray]],
    linestyle: Any = None,
) -> None:
    """Draw bearing loads from `bearing_loads` at the times of `fine_times`, each quantity into its axes."""
    t = fine_times(solution)
    style = _with(body_styles(solution), linestyle)
    for ax, (label, norms) in zip(axes, loads.items(), strict=True):
        for name, values in norms.items():
            ax.plot(t, values, **style[name]._asdict())
        dress(ax, ylabel=label)
        fit(ax, solution)
        ax.set_ylim(bottom=0)


def bearing_loads(solution: Solution | PhasesSolution) -> dict[str, dict[str, np.ndarray]]:
    """Norms of the forces and of the moments that joints carry across their axes, by label and body, each shape (N,).

    At the times of `fine_times`. The actuator acts along the axis of a slide and about that of a hinge.
    """
    t = fine_times(solution)
    carrying, labels = _carrying(solution), _load_labels(solution)
    if not carrying:
        return {label: {} for label in labels}

    def across(now: Instant) -> tuple[ca.SX, ca.SX]:
        net, force, moment = now.joint_reactions, [], []
        for k, body in enumerate(now.model.bodies):
            known = (net.force[:, k], net.moment[:, k]) if labels == _NET else now.joint_contact(body.name)
            joint_force, joint_moment = known
            axis = body.joint.after[:3, :3].T @ ca.SX(body.joint.axis)
            whole, off = ca.SX.eye(3), ca.SX.eye(3) - axis @ axis.T
            slides = body.joint.slides and not body.joint.turns  # the thread of a screw carries the force along it
            force.append(ca.norm_2((off if slides else whole) @ joint_force))
            moment.append(ca.norm_2((off if body.joint.turns else whole) @ joint_moment))
        return ca.vertcat(*force), ca.vertcat(*moment)

    parts = [(phase.problem.model, phase.evaluate(across, times)) for phase, times in by_phase(solution, t)]
    loads: dict[str, dict[str, np.ndarray]] = {}
    for which, label in enumerate(labels):
        columns = {name: np.full(t.size, np.nan) for name in carrying}
        first = 0
        for model, values in parts:
            rows = values[which].reshape(-1, len(model.bodies))
            for body, column in zip(model.bodies, rows.T, strict=True):
                if body.name in carrying:
                    columns[body.name][first : first + len(rows)] = column
            first += len(rows)
        loads[label] = columns
    return loads


def _load_labels(solution: Solution | PhasesSolution) -> tuple[str, str]:
    """Names of the forces and moments in the joints: those of bearings, of contact beside muscles, or net ones."""
    for phase in solution.phases.values():
        now, bodies = phase.problem.instant, phase.problem.model.bodies
        try:
            if any(now.pull_on(body.name) is not None for body in bodies):
                return _CONTACT
        except InputError:
            return _NET
    return _BEARING


def _carrying(solution: Solution | PhasesSolution) -> list[str]:
    """Bodies whose joints may carry loads: all except those of an undriven floating base."""
    names: dict[str, None] = {}
    for phase in solution.phases.values():
        model, tau = phase.problem.model, phase.signals.definitions.get("tau")
        base = [0] if model.bodies else []
        while base and model.bodies[base[-1]].mass.is_zero() and base[-1] in model.parents:
            base.append(model.parents.index(base[-1]))
        dofs = [model.dofs[k] for k in base]
        slides = sum(model.bodies[k].joint.slides and not model.bodies[k].joint.turns for k in base)
        passive = tau is not None and all(dof is not None and tau.zero[dof] for dof in dofs)
        floats = passive and (len(base), slides) in ((6, 3), (3, 2))
        names |= dict.fromkeys(body.name for k, body in enumerate(model.bodies) if not (floats and k in base))
    return list(names)


def torque_groups(*solutions: Solution | PhasesSolution) -> list[list[int]]:
    """Joints that share a panel of torques: those of a unit, split where magnitudes differ by a factor of five or more.

    Torques held at zero are left out; other zero torques, and prescribed ones, do not get a separate panel.
    """
    groups = []
    signals = [solution.signals.definitions["tau"] for solution in solutions]
    largest = np.max([np.nanmax(np.abs(solution.signals["tau"]), axis=0) for solution in solutions], axis=0)
    free = np.any([~signal.fixed for signal in signals], axis=0)
    driven = np.any([~signal.zero for signal in signals], axis=0)
    for joints in _by_unit(solutions[0]):
        members = [j for j in joints if driven[j]]
        sizes = largest[members]
        counts = free[members] & (sizes > _ROUNDING * sizes.max(initial=0.0))
        left = [j for _, j in sorted(zip(-sizes[counts], np.array(members)[counts].tolist(), strict=True))]
        others = np.array(members)[~counts].tolist()
        while left or others:
            group = [j for j in left if largest[j] * _APART > largest[left[0]]]
            groups.append(sorted(group + others))
            left, others = [j for j in left if j not in group], []
    return groups


def _by_unit(solution: Solution | PhasesSolution) -> list[list[int]]:
    """Numbers of the torques of joints with the same unit."""
    first, *others = models(solution)
    if all(model.joint_names == first.joint_names for model in others):
        return [joints for _, joints in joint_units(first).values()]
    units = solution.signals.definitions["tau"].units
    return [[k for k, other in enumerate(units) if other == unit] for unit in dict.fromkeys(units)]


def joint_units(model: Model) -> dict[str, tuple[list[int], list[int]]]:
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


def joint_handles(model: Model, *, many: bool = False) -> list[Line2D]:
    """Legend entries of the joints that move; by colour only if line styles distinguish several solutions."""
    style = _joint_styles(model, "-" if many else None)
    return [_handle(name, line) for name, line in zip(model.joint_names, style, strict=True)]


def scalar_handles(model: Model) -> list[Line2D]:
    """Legend entries of positions without an axis: the scalar parts of quaternions."""
    style = _position_styles(model)
    return [_handle(model.position_names[k], style[k]) for k in (places.start for places, _ in model.balls.values())]


def body_styles(*solutions: Solution | PhasesSolution) -> dict[str, LineStyle]:
    """Styles of the joints of all bodies by name, including fixed ones, of every phase."""
    bodies: dict[str, int | None] = {}
    for model in (model for solution in solutions for model in models(solution)):
        for body, dof in zip(model.bodies, model.dofs, strict=True):
            taken = dof in bodies.values()  # used by another body, in a phase of other joints
            bodies.setdefault(body.name, None if taken else dof)
    return dict(zip(bodies, styles_by_dof(list(bodies.values())), strict=True))


def body_handles(*solutions: Solution | PhasesSolution) -> dict[str, Line2D]:
    """Legend entries of the joints of all bodies by name, including fixed ones; as in `joint_handles`."""
    style = _with(body_styles(*solutions), "-" if len(solutions) > 1 else None)
    return {name: _handle(name, line) for name, line in style.items()}


def component_legend(ax: Axes, solution: Solution | PhasesSolution, panel: Panel, *, inside: bool) -> None:
    """The names of the components in a panel, beside it, or within it where there is no room; none of a single one."""
    signal, members, _ = panel
    if signal.size == 1 and not signal.names:
        return
    styles = component_styles(solution, signal)
    shown_members = members[: _NAMED if inside else 2 * _NAMED]
    handles = [_handle(str(signal.components[k]), styles[k]) for k in shown_members]
    if more := len(members) - len(shown_members):
        handles.append(Line2D([], [], linestyle="", label=f"and {more} more"))
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.05)}
    if inside:
        place = {"loc": "best"}
    small = 0.75 * mpl.rcParams["font.size"]
    ax.legend(handles=handles, fontsize=small, ncols=-(-len(handles) // _NAMED), **LEGEND, **place)


def component_styles(solution: Solution | PhasesSolution, signal: Signal, linestyle: Any = None) -> list[LineStyle]:
    """Line styles of the components of a signal; those of a joint are the same in every figure."""
    model = models(solution)[0]
    if signal.name == "q" and model.n_q == signal.size:
        return _position_styles(model, linestyle)
    return list(_with(dict(enumerate(styles_by_dof(range(signal.size)))), linestyle).values())


def _draw_bounds(ax: Axes, solution: Solution | PhasesSolution, signal: Signal, members: list[int]) -> bool:
    """Draw bounds as dashed lines, grey if components share them; return whether any is in view."""
    styles, reach = component_styles(solution, signal), max(map(abs, ax.get_ylim()))
    view, near = list(ax.get_ylim()), False
    for name, phase in solution.phases.items():
        definition = phase.signals.definitions.get(signal.name)
        columns = {} if definition is None else {place: k for k, place in enumerate(columns_of(definition, signal))}
        places = [k for k in members if k in columns]
        if definition is None or not places:
            continue
        pairs = np.transpose([definition.lower, definition.upper])[[columns[k] for k in places]]
        shared = len(places) > 1 and bool((pairs == pairs[0]).all())
        colors, pairs = ([MUTED], pairs[:1]) if shared else ([styles[k].color for k in places], pairs)
        within = pairs[np.abs(pairs) <= _RELEVANT * reach]
        view += within.tolist()
        near |= within.size > 0
        if (pairs[:, 0] == pairs[:, 1]).all():  # prescribed values: rounding errors must not be magnified
            view += [pairs.min() - 1, pairs.max() + 1]
        start = solution.start_times[name]
        for color, pair in zip(colors, pairs, strict=True):
            for bound in pair[np.isfinite(pair)]:
                ax.plot([start, start + phase.duration], [bound, bound], color=color, **_BOUND)
    margin = 0.05 * (max(view) - min(view))
    ax.set_ylim(min(view) - margin, max(view) + margin)
    return near


def fit(ax: Axes, solution: Solution | PhasesSolution) -> None:
    """Set limits for the whole motion, with room for markers at both ends; constants are drawn flat."""
    margin = 0.01 * solution.duration
    ax.set_xlim(-margin, solution.duration + margin)
    for start in list(solution.start_times.values())[1:]:
        ax.axvline(start, color=MUTED, linewidth=0.8, zorder=1.2)
    low, high = ax.get_ylim()
    size = max(abs(low), abs(high))
    if high - low < max(1e-6 * size, _NOTHING):
        room = 0.1 * size if size > _NOTHING else 1.0
        ax.set_ylim(low - room, high + room)


def _joint_styles(model: Model, linestyle: Any = None) -> list[LineStyle]:
    """Line styles in the order of q."""
    style = _with(dict(enumerate(styles_by_dof(range(model.n)))), linestyle)
    return list(style.values())


def _position_styles(model: Model, linestyle: Any = None) -> list[LineStyle]:
    """Line styles in the order of q: those of the joints, and of rotation axes for vector parts of quaternions."""
    style, scalar = _joint_styles(model, linestyle), LineStyle(MUTED, "-" if linestyle is None else linestyle)
    of_balls = {places.start: dofs for places, dofs in model.balls.values()}
    styles: list[LineStyle] = []
    joint = 0
    while len(styles) < model.n_q:
        dofs = of_balls.get(len(styles))
        styles += [style[joint]] if dofs is None else [scalar, *style[dofs]]
        joint += 1 if dofs is None else 3
    return styles


def _with(style: dict[Any, LineStyle], linestyle: Any) -> dict[Any, LineStyle]:
    return style if linestyle is None else {name: line._replace(linestyle=linestyle) for name, line in style.items()}


def _handle(name: str, style: LineStyle) -> Line2D:
    return Line2D([], [], label=plain(name), **style._asdict())
