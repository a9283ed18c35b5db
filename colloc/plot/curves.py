"""Quantities over time, drawn into axes: joint positions and velocities, torques, reactions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from colloc.model import Model
from colloc.plot.sampling import fine_times
from colloc.plot.style import MUTED, Look, dress, looks, plain
from colloc.solution import SequenceSolution, Solution

TIME = "time [s]"
_BOUND: dict[str, Any] = {"linestyle": "--", "linewidth": 1.2, "zorder": 1.5}
_RELEVANT = 5.0  # a bound further out than this many times the largest value is left out of view
_NOTHING = 1e-9  # what varies less than this in its unit is constant
_POSITIONS = "joint position [{}]", "joint velocity [{}/s]"
_APART, _TOGETHER = 100.0, 10.0  # largest over smallest torque of a panel that is split, and of the panels it becomes
_ROUNDING = 1e-6  # of the largest torque
_MARKED = 200  # more nodes than this would hide the curve


def draw_joints(axes: np.ndarray, solution: Solution | SequenceSolution, linestyle: Any = None) -> None:
    """Positions and velocities into axes, shape (2, number of units); by a line of its own if one is given."""
    model = solution.problem.model
    sample = solution.at(fine_times(solution))
    look = _joint_looks(model, linestyle)
    for column, (unit, members) in zip(axes.T, joint_units(model).items(), strict=True):
        for ax, values, label in zip(column, (sample.q, sample.qd), _POSITIONS, strict=True):
            for j in members:
                ax.plot(sample.t, values[:, j], **look[j]._asdict())
            dress(ax, ylabel=label.format(unit))
            fit(ax, solution)


def name_phases(ax: Axes, solution: Solution | SequenceSolution) -> None:
    """The names of the phases above the parts of the time axis that they take, if there are any."""
    if isinstance(solution, SequenceSolution):
        size = 0.9 * mpl.rcParams["font.size"]
        for name, own in solution.phases.items():
            middle = solution.starts[name] + own.duration / 2
            ax.text(
                middle, 1.02, plain(name), transform=ax.get_xaxis_transform(), ha="center", color=MUTED, fontsize=size
            )  # fmt: skip


def draw_torques(
    axes: Sequence[Axes] | np.ndarray,
    solution: Solution | SequenceSolution,
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
    axes: Sequence[Axes] | np.ndarray, solution: Solution | SequenceSolution, linestyle: Any = None
) -> None:
    """Norm of the internal force into the first of the axes, of the internal moment into the second."""
    found = solution.reactions(fine_times(solution))
    look = _with(looks(solution.problem.model), linestyle)
    panels = ((found.force, "joint force, norm [N]"), (found.moment, "joint moment, norm [N m]"))
    for ax, (vectors, label) in zip(axes, panels, strict=True):
        for body, norm in enumerate(np.linalg.norm(vectors, axis=2).T):
            ax.plot(found.t, norm, **look[body]._asdict())
        dress(ax, ylabel=label)
        fit(ax, solution)
        ax.set_ylim(bottom=0)


def torque_groups(*solutions: Solution | SequenceSolution) -> list[list[int]]:
    """Joints that share a panel of torques: those of a unit, split by magnitude where they differ a hundredfold."""
    found = []
    largest = np.max([np.abs(solution.tau).max(axis=0) for solution in solutions], axis=0)
    for members in joint_units(solutions[0].problem.model).values():
        sizes = largest[members]
        some = sizes > _ROUNDING * sizes.max()  # others are zero but for rounding
        if not some.any() or sizes[some].min() * _APART > sizes.max():
            found.append(members)
            continue
        left = [j for _, j in sorted(zip(-sizes[some], np.array(members)[some].tolist(), strict=True))]
        nothing = np.array(members)[~some].tolist()
        while left:
            group = [j for j in left if largest[j] * _TOGETHER >= largest[left[0]]]
            found.append(sorted(group + nothing))
            left, nothing = [j for j in left if j not in group], []
    return found


def joint_units(model: Model) -> dict[str, list[int]]:
    """Joints that share a unit: position unit to joint numbers."""
    found: dict[str, list[int]] = {}
    for j, unit in enumerate(model.position_units):
        found.setdefault(unit, []).append(j)
    return found


def joint_handles(model: Model, *, many: bool = False) -> list[Line2D]:
    """Legend entries of the joints that move; by colour alone where lines tell many solutions apart."""
    look = _joint_looks(model, "-" if many else None)
    return [_handle(name, own) for name, own in zip(model.joint_names, look, strict=True)]


def body_handles(model: Model, *, many: bool = False) -> list[Line2D]:
    """Legend entries of the joints of all bodies, fixed ones included; as `joint_handles`."""
    look = _with(looks(model), "-" if many else None)
    return [_handle(body.name, own) for body, own in zip(model.bodies, look, strict=True)]


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


def fit(ax: Axes, solution: Solution | SequenceSolution) -> None:
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


def _joint_looks(model: Model, linestyle: Any = None) -> list[Look]:
    """Looks in the order of q."""
    look = [look for look, dof in zip(looks(model), model.dofs, strict=True) if dof is not None]
    return _with(look, linestyle)


def _with(look: list[Look], linestyle: Any) -> list[Look]:
    return look if linestyle is None else [own._replace(linestyle=linestyle) for own in look]


def _handle(name: str, look: Look) -> Line2D:
    return Line2D([], [], label=plain(name), **look._asdict())
