"""The stick figure over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Unpack

import casadi as ca
import numpy as np
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D

from colloc.plot.figure import Canvas, figure, panels
from colloc.plot.posture import Spread, drawn_model, in_turn, skeleton, skeleton_of, time_axis
from colloc.plot.sampling import checked, fine_times, one_by_one
from colloc.plot.scene import Scene, make_scene
from colloc.plot.skeleton import Pose, Skeleton, StickFigure, places, skeleton_from
from colloc.plot.style import END, FADE, LEGEND, MUTED, OBSTACLE, START, TIPS, legend_below, plain
from colloc.problem import Phases, Problem
from colloc.solution import PhasesSolution, Solution
from colloc.solution.as_guess import check_kind
from colloc.support.checks import InputError, count, instance
from colloc.transcription import phase_guesses, trajectory_from

_FINE = 401  # times of the path of a guess
_FAINT = 0.18  # opacity of shapes on bodies, which overlap


@figure
def motion(
    solution: Solution | PhasesSolution,
    frames: int = 9,
    **canvas: Unpack[Canvas],
) -> Figure:
    """The stick figure over time, with the path of every tip.

    Links extend from joint to joint and to the tips and markers of bodies; the end of a body without these and without
    children is its centre of mass. Snapshots equally spaced in time fade from light to dark, with heavier lines at
    start and end. A mechanism that moves in the x-y, x-z or y-z plane is drawn in this plane, one that moves along a
    line over time, others in space. The cross is the world's origin, squares are attachments to the world, slides are
    dotted, obstacles are grey; shapes are those that the problem keeps apart. Phases may have different mechanisms.
    Cases are drawn side by side.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    frames : int
        Number of snapshots, including start and end.
    ax : Axes, optional
        Axes that are replaced by axes of the right kind, in the plane or in space; one for each case.

    Raises
    ------
    InputError
        If `solution` is not a Solution, for fewer than two frames, or for unsuitable sizes or axes.

    Examples
    --------
    >>> figure = co.plot.motion(solution, frames=5, width="column")
    """
    checked(solution)
    count("frames", frames, at_least=2)
    drawn, names = one_by_one([solution], None)
    poses = {name: (partial(skeleton, one), fine_times(one)) for name, one in zip(names, drawn, strict=True)}
    return _page(poses, frames, canvas)


@figure
def guess(
    problem: Problem | Phases,
    guess: Any = None,
    frames: int = 9,
    **canvas: Unpack[Canvas],
) -> Figure:
    """The stick figure of the initial motion of a solve.

    Parameters
    ----------
    problem : Problem or Phases
        Unknown lengths have their guesses, parameters their values.
    guess : optional
        As in `solve`, including the default.
    frames, ax :
        As in `motion`.

    Raises
    ------
    InputError
        For a guess that does not fit the problem, and as in `motion`.

    Examples
    --------
    >>> figure = co.plot.guess(problem, co.line((0.0, -2.0), (1.0, -1.0)))
    """
    instance("problem", problem, Problem | Phases)
    count("frames", frames, at_least=2)
    times = fine_times(guess) if isinstance(guess, Solution | PhasesSolution) and guess.problem.in_sequence else None
    poses = {
        name: (pose, np.linspace(0, duration, _FINE) if times is None else times)
        for name, (pose, duration) in guess_poses(problem, guess).items()
    }
    return _page(poses, frames, canvas)


def guess_poses(problem: Problem | Phases, guess: Any) -> Mapping[str, tuple[Pose, float]]:
    """The stick figure of the initial motion of a solve, and its duration [s]; for cases one of each, by name."""
    if not all(phase.model.n for phase in problem.phases.values()):
        raise InputError("a problem of states alone has no stick figure: co.plot.signals draws its solution")
    check_kind(problem, guess)
    if isinstance(guess, Solution | PhasesSolution) and (problem.in_sequence or not guess.problem.in_sequence):
        drawn, names = one_by_one([guess], None)
        named = zip(names if len(drawn) > 1 else [""], drawn, strict=True)
        return {name: (partial(skeleton, one), one.duration) for name, one in named}
    solved = isinstance(guess, Solution)
    guesses = dict.fromkeys(problem.phases, guess) if solved else phase_guesses(problem, guess)
    starts = {name: _start(phase, guesses[name]) for name, phase in problem.phases.items()}
    if not problem.in_sequence:
        return starts
    poses, durations = zip(*starts.values(), strict=True)
    return {"": (in_turn(poses, durations), sum(durations))}


def _start(problem: Problem, guess: Any) -> tuple[Callable[[np.ndarray], Skeleton], float]:
    """The stick figure of a guess, and its duration [s]."""
    if isinstance(guess, Solution):
        return partial(skeleton_of, guess), guess.duration
    start = trajectory_from(problem, guess)
    now, values, shapes = problem.instant, problem.parameter_values(), problem.shapes
    unknown = ca.vertcat(ca.SX(0, 1), *now.constants.values(), *now.parameters.values())
    model, ties = drawn_model(problem)
    function = ca.Function("places", [now.q, unknown], [places(model, now.q, shapes)])
    numbers = np.concatenate([*(start.constant(name) for name in now.constants), values])

    def pose(t: np.ndarray) -> Skeleton:
        rows = function.map(t.size)(start.q(t / start.duration).T, np.tile(numbers[:, None], (1, t.size)))
        return skeleton_from(model, t, np.array(rows), ties, shapes)

    return pose, start.duration


def _page(poses: Mapping[str, tuple[Pose, np.ndarray]], frames: int, canvas: Canvas) -> Figure:
    """Stick figures on a new figure, side by side with their names if there are several, or in the place of axes."""
    many = len(poses) > 1
    page = panels(1, len(poses), (7.0 if not many else 5.0 * len(poses), 6.4), **canvas)
    for ax, (name, (pose, fine)) in zip(page.axes[0], poses.items(), strict=True):
        place = ax.get_subplotspec()
        if place is None:
            raise InputError("ax must be made by subplots, so that it can be replaced")
        ax.remove()
        handles = draw_poses(page.figure, place, pose, fine, frames)
        if many:
            page.figure.axes[-1].set_title(plain(name))
        if page.borrowed or many:
            style: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "ncols": 2}
            page.figure.axes[-1].legend(handles=handles, **style, **LEGEND)
        else:
            legend_below(page.figure, handles)
    return page.figure


def draw_motion(
    figure: Figure | SubFigure, place: SubplotSpec | int, solution: Solution | PhasesSolution, frames: int
) -> list[Line2D]:
    """Draw snapshots and tip paths in a part of a figure; return legend entries."""
    return draw_poses(figure, place, partial(skeleton, solution), fine_times(solution), frames)


def draw_poses(
    figure: Figure | SubFigure, place: SubplotSpec | int, pose: Pose, times: np.ndarray, frames: int
) -> list[Line2D]:
    """Draw snapshots of any stick figure in a part of a figure, with paths; return legend entries."""
    fine, shown = pose(times), pose(np.linspace(0, times[-1], frames))
    if (axis := time_axis(fine)) is not None:
        fine, shown = Spread(fine.t, *axis, fine), Spread(shown.t, *axis, shown)
    scene = make_scene(figure, place, fine)
    if axis is not None:
        scene.clock(*axis, times[-1])
    paths = draw_paths(scene, fine)
    between = [Stick(scene, shown, k, color=FADE(k / (frames - 1)), width=1.4) for k in range(1, frames - 1)]
    start = Stick(scene, shown, 0, color=START, width=2.8)
    end = Stick(scene, shown, frames - 1, color=END, width=2.8)
    for frame in (0, frames - 1):
        snapshot = shown.snapshot(frame)
        scene.shadow(np.concatenate([snapshot.links, snapshot.rails]), shown.vertical)
    start.links.set_label("start, t = 0")
    end.links.set_label(f"end, t = {times[-1]:.3g} s")
    middle = [stick.links for stick in between[len(between) // 2 :][:1]]  # represents all in the legend
    for line in middle:
        line.set_label(f"every {shown.t[1]:.3g} s")
    return [start.links, *middle, end.links, *paths, *obstacle_handles(fine)]


def draw_paths(scene: Scene, figure_of: StickFigure) -> list[Line2D]:
    """The path of the end of every chain."""
    lines = []
    for k, (name, way) in enumerate(figure_of.paths.items()):
        scene.shadow(way, figure_of.vertical)
        label, color = f"path of {plain(name)}", TIPS[k % len(TIPS)]
        lines.append(scene.line(way, color=color, linewidth=1.3, label=label, zorder=1.9))
    return lines


def obstacle_handles(figure_of: StickFigure) -> list[Line2D]:
    """Legend entries of shapes at rest in the world."""
    count = len(figure_of.standing)
    style: dict[str, Any] = {"marker": "o", "markersize": 8, "markerfacecolor": OBSTACLE, "markeredgecolor": MUTED}
    return [Line2D([], [], linestyle="", label="obstacles" if count > 1 else "obstacle", **style)] if count else []


class Stick:
    """Lines and solids that draw a mechanism at one time; `show` moves them to another."""

    def __init__(self, scene: Scene, figure_of: StickFigure, frame: int, *, color: object, width: float):
        self.scene = scene
        size = 3.0 + width
        style = {"linestyle": "", "markeredgecolor": color, "markeredgewidth": 0.6 * width}
        gap = np.full((1, 3), np.nan)
        self.links = scene.line(gap, "-", color=color, linewidth=width)
        self.rails = scene.line(gap, ":", color=color, linewidth=1.3)  # one width, so that dots of snapshots coincide
        self.carriages = scene.line(gap, marker="s", markersize=1.5 * size, markerfacecolor="white", **style)
        self.dots = scene.line(gap, marker="o", markersize=0.55 * size, markerfacecolor=color, **style)
        self.joints = scene.line(gap, marker="o", markersize=size, markerfacecolor="white", **style)
        self.tips = scene.line(gap, marker="o", markersize=0.8 * size, markerfacecolor=color, **style)
        self.solids = [scene.solid(color=color, alpha=_FAINT, zorder=1.2) for _ in figure_of.moving]
        self.show(figure_of, frame)

    @property
    def lines(self) -> list[Line2D]:
        """Lines from back to front."""
        return [self.rails, self.links, self.dots, self.carriages, self.joints, self.tips]

    def show(self, figure_of: StickFigure, frame: int) -> None:
        """Move to the posture at one time."""
        now = figure_of.snapshot(frame)
        places = (now.rails, now.links, now.dots, now.carriages, now.pins, now.tips)
        for line, points in zip(self.lines, places, strict=True):
            self.scene.move(line, points)
        for solid, number in zip(self.solids, figure_of.moving, strict=True):
            self.scene.move_solid(solid, figure_of.solids[number].at(frame))
