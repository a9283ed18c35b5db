"""Figures of closed chains before and after a descent, for the studies of Lee, Kim, Park, Kim and Bobrow (2005)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.posture import Postures
from colloc.plot.skeleton import Skeleton
from colloc.plot.style import INK, MUTED, PALETTE, dress

BEFORE = {"linestyle": (0, (2, 1.5)), "linewidth": 1.1}
AFTER = {"linestyle": "-", "linewidth": 1.8}
HANDLES = [
    Line2D([], [], color=MUTED, label="initial", **BEFORE),
    Line2D([], [], color=MUTED, label="optimised", **AFTER),
]


class Limb(NamedTuple):
    """A line through the joints of some bodies, and where it is named.

    Parameters
    ----------
    color : str
    through : tuple of str
        Bodies of the stick figure, in order.
    named : int
        Number of the joint beside which the name stands.
    aside : (float, float)
        Place of the name from there, in points.
    """

    color: str
    through: tuple[str, ...]
    named: int = 0
    aside: tuple[float, float] = (0.0, 0.0)


def postures(movement: co.descent.ChainMovement, x: np.ndarray) -> Postures:
    """All joints of a movement as a function of time."""
    return lambda t: movement.sample(x, t).q


def draw_torques(
    ax: Axes,
    chain: co.loops.ClosedChain,
    before: co.descent.ChainSample,
    after: co.descent.ChainSample,
    joints: Sequence[str] | None = None,
) -> list[Line2D]:
    """Torques of all actuators, or of some of them, over time; returns handles for a legend."""
    columns = [(name, chain.model.joint_names.index(name)) for name in joints or chain.actuators]
    _draw(ax, before.t, [(before.tau[:, j], after.tau[:, j]) for _, j in columns])
    dress(ax, "time [s]", "torque [N m]")
    return _named([name.replace("_", " ") for name, _ in columns])


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


def draw_strip(ax: Axes, shown: Skeleton, limbs: Mapping[str, Limb], spacing: float) -> None:
    """Snapshots side by side, one for every time of the stick figure, in the x-y plane; limbs named in the first."""
    names = [body.name for body in shown.model.bodies]
    shift = spacing * np.arange(shown.t.size)
    for label, limb in limbs.items():
        x, y = np.moveaxis(shown.root[:, [names.index(body) for body in limb.through], :2], 2, 0)
        for k in range(shown.t.size):
            ax.plot(x[k] + shift[k], y[k], color=limb.color, linewidth=2.6, marker="o", markersize=3.5)
        ax.annotate(
            label, (x[0, limb.named], y[0, limb.named]), limb.aside, textcoords="offset points", color=limb.color,
            fontsize=10, ha="center", va="center",
        )  # fmt: skip
    ax.set_aspect("equal", adjustable="datalim")
    dress(ax, ylabel="y [m]")
    ax.set_xticks(shift, [f"{t:.2g} s" for t in shown.t])
    ax.grid(False, axis="x")


def draw_snapshots(ax: Axes, shown: Skeleton, limbs: Mapping[str, Limb]) -> None:
    """Snapshots on top of each other in the x-y plane, from light to dark; the first limb begins at the base."""
    names = [body.name for body in shown.model.bodies]
    for k in range(shown.t.size):
        shade = min(1.0, 0.2 + 0.8 * k / (shown.t.size - 1))
        for limb in limbs.values():
            x, y, _ = shown.root[k, [names.index(body) for body in limb.through]].T
            look = {"color": limb.color, "alpha": shade, "marker": "o", "markersize": 3.0}
            ax.plot(x, y, **look, linewidth=3.0 if k in (0, shown.t.size - 1) else 1.4)
    x, y, _ = shown.root[:, names.index([*limbs.values()][-1].through[-1])].T
    base = shown.root[0, names.index(next(iter(limbs.values())).through[0])]
    ax.plot(base[0], base[1], "s", color=INK, markersize=9, zorder=3)
    for k, label, aside in ((0, "start", (0, -11)), (-1, "end", (-3, 11))):
        ax.annotate(label, (x[k], y[k]), aside, textcoords="offset points", ha="center", va="center", fontsize=9)
    ax.set_aspect("equal", adjustable="box")
    dress(ax, "x [m]", "y [m]")


def _draw(ax: Axes, t: np.ndarray, pairs: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
    for k, pair in enumerate(pairs):
        for values, look in zip(pair, (BEFORE, AFTER), strict=True):
            ax.plot(t, values, color=PALETTE[k % len(PALETTE)], **look)


def _named(names: Sequence[str]) -> list[Line2D]:
    handles = [Line2D([], [], color=PALETTE[k % len(PALETTE)], label=name) for k, name in enumerate(names)]
    return handles + HANDLES
