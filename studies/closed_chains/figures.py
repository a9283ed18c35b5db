"""Figures of closed chains before and after a descent, for the studies of Lee, Kim, Park, Kim and Bobrow (2005)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.chains import Postures
from colloc.plot.motion import Stick
from colloc.plot.scene import make_scene
from colloc.plot.skeleton import Skeleton
from colloc.plot.style import FADE, INK, MUTED, PALETTE, dress

BEFORE = {"linestyle": (0, (2, 1.5)), "linewidth": 1.1}
AFTER = {"linestyle": "-", "linewidth": 1.8}
HANDLES = [
    Line2D([], [], color=MUTED, label="initial", **BEFORE),
    Line2D([], [], color=MUTED, label="optimised", **AFTER),
]


def postures(movement: co.descent.ChainMovement, x: np.ndarray) -> Postures:
    """All joints of a movement as a function of time."""
    return lambda t: movement.sample(x, t).q


def draw_torques(
    ax: Axes, chain: co.loops.ClosedChain, before: co.descent.ChainSample, after: co.descent.ChainSample
) -> list[Line2D]:
    """Torques of all actuators over time; returns handles for a legend."""
    columns = [(name, chain.model.joint_names.index(name)) for name in chain.actuators]
    _draw(ax, before.t, [(before.tau[:, j], after.tau[:, j]) for _, j in columns])
    dress(ax, "time [s]", "torque [N m]")
    return _named([name for name, _ in columns])


def draw_loop_forces(
    axes: Sequence[Axes], chain: co.loops.ClosedChain, before: co.descent.ChainSample, after: co.descent.ChainSample
) -> list[Line2D]:
    """Norms of the forces, then of the moments, of all loops over time; returns handles for a legend."""
    for ax, (first, second), label in zip(
        axes,
        ((before.force, after.force), (before.moment, after.moment)),
        ("loop force [N]", "loop moment [N m]"),
        strict=False,
    ):
        norms = (np.linalg.norm(values, axis=2).T for values in (first, second))
        _draw(ax, before.t, list(zip(*norms, strict=True)))
        dress(ax, "time [s]", label)
        ax.set_ylim(bottom=0)
    return _named([f"loop {loop.name}" for loop in chain.loops])


def draw_strip(figure: SubFigure, shown: Skeleton, spacing: float) -> Axes:
    """Snapshots side by side, one for every time of the stick figure."""
    shift = spacing * np.arange(shown.t.size)[:, None, None] * np.array([1.0, 0.0, 0.0])
    names = ("start", "root", "slid", "origin", "end")
    aside = replace(shown, **{name: getattr(shown, name) + shift for name in names})
    scene = make_scene(figure, 111, aside)
    for line in list(scene.ax.get_lines()):  # the world as it is for the first snapshot alone
        line.remove()
    on_world = [j for j, parent in enumerate(shown.model.parents) if parent < 0]
    for k in range(shown.t.size):
        scene.line(aside.root[k, on_world], "s", color=INK, markersize=5)
        Stick(scene, aside, k, color=FADE(0.35 + 0.65 * k / shown.t.size), width=2.0)
    scene.ax.set_xticks(shift[:, 0, 0], [f"{t:.2g} s" for t in shown.t])
    scene.ax.set_xlabel("")
    scene.ax.grid(False, axis="x")
    return scene.ax


def _draw(ax: Axes, t: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    for k, pair in enumerate(pairs):
        for values, look in zip(pair, (BEFORE, AFTER), strict=True):
            ax.plot(t, values, color=PALETTE[k % len(PALETTE)], **look)


def _named(names: Sequence[str]) -> list[Line2D]:
    handles = [Line2D([], [], color=PALETTE[k % len(PALETTE)], label=name) for k, name in enumerate(names)]
    return handles + HANDLES
