"""Figure of a predicted stride in front of measured walking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle

from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, GREEN, INK, MUTED, ORANGE, PURPLE, VERMILLION, dress, legend_below, styled
from colloc.studies.walking.picture.body import LEFT, RIGHT, Camera, Film, draw_walker, film, project
from colloc.studies.walking.report.errors import Clock
from colloc.studies.walking.report.ground import Ground, ground_reactions
from colloc.studies.walking.report.norms import bands
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.report.stride import ANGLES, Stride
from colloc.studies.walking.step import DOUBLE, Step

BAND, WIDE = "#d3d9e0", "#eceff2"
FORCE = GREEN
TOE_OFF = 50 * (1 + DOUBLE)
SHOWN = (0.0, 0.1, 0.2, 0.34, 0.48, 0.62, 0.76, 0.88, 1.0)  # times of the snapshots in the step
REACH = 0.55  # m, length of an arrow of one body weight
LOOKS: Sequence[dict[str, Any]] = (
    {"color": BLUE, "linewidth": 2.2},
    {"color": ORANGE, "linewidth": 1.5, "linestyle": (0, (5, 1.5))},
    {"color": PURPLE, "linewidth": 1.5, "linestyle": (0, (1.5, 1.2))},
    {"color": GREEN, "linewidth": 1.3, "linestyle": (0, (6, 1.5, 1, 1.5))},
)
PANELS = {
    "hip": "hip flexion [deg]", "knee": "knee flexion [deg]", "ankle": "ankle dorsiflexion [deg]",
    "vertical": "vertical force [body weight]", "fore_aft": "fore-aft force [body weight]",
    "lateral": "medial force [body weight]",
}  # fmt: skip
# Where the times of the path are written, in points from their marks.
MARKS = {0.0: (0, 9), DOUBLE / 2: (0, 9), DOUBLE: (-24, -20), 0.6: (-6, 26), 1.0: (26, -20)}


@styled
def gait_figure(reports: Mapping[str, Report]) -> Figure:
    """Everything about a predicted stride on one page.

    Snapshots over the step, joint angles and ground reactions over a stride in front of Winter's band, internal joint
    forces, convergence, and the path of the zero moment point between the feet.

    Parameters
    ----------
    reports : mapping of str to Report
        Reports by their names in the legend; the first is drawn in all panels, others as curves beside it.
    """
    main = next(iter(reports.values()))
    figure = new_figure(figsize=(13.0, 16.2))
    grid = figure.add_gridspec(5, 3, height_ratios=(1.36, 1, 1, 1, 1.2))
    draw_snapshots(figure.add_subplot(grid[0, :]), main)
    drawn = 5 if main.step.planar else 6
    draw_curves([figure.add_subplot(grid[1 + k // 3, k % 3]) for k in range(drawn)], reports)
    if main.step.planar:
        rest = (grid[2, 2], grid[3, 0], grid[3, 1:])
        draw_path_in_time(figure.add_subplot(grid[4, :]), main)
    else:
        rest = (grid[3, 0], grid[3, 1], grid[3, 2])
        draw_path(figure.add_subplot(grid[4, :]), main)
    draw_internal(figure.add_subplot(rest[0]), main)
    draw_cost(figure.add_subplot(rest[1]), reports)
    draw_residuals(figure.add_subplot(rest[2]), main)
    step = main.step
    figure.suptitle(
        f"Predicted walking at {step.speed:g} m/s, steps of {step.length:.3g} m, {step.human.mass:.3g} kg: "
        f"{main.solution.status}",
        fontsize=13,
        fontweight="bold",
        color=INK if main.found else VERMILLION,
    )
    legend_below(figure, cast(Sequence[Line2D], handles(reports)))
    return figure


def draw_snapshots(ax: Axes, report: Report) -> None:
    """The walker over the step, set apart, with the ground reactions."""
    camera, shown = Camera(), film(report.step, report.solution, np.array(SHOWN))
    apart = 1.2
    for frame, s in enumerate(SHOWN):
        at = apart * frame
        ax.add_patch(_shadow(at))
        draw_walker(ax, shown, frame, camera, at)
        _draw_arrows(ax, shown, frame, camera, at)
        ax.text(at, -0.30, _phase(s), ha="center", va="top", fontsize=9, linespacing=1.35)
    ax.set_xlim(-0.62, apart * (len(SHOWN) - 1) + 0.66)
    ax.set_ylim(-0.55, 1.80 * report.step.human.stature / 1.741)
    ax.set_aspect("equal")
    ax.set_axis_off()


def _shadow(at: float) -> Polygon:
    around = np.linspace(0, 2 * np.pi, 60)
    return Polygon(np.column_stack([at + 0.46 * np.cos(around), 0.075 * np.sin(around)]), color="#eef0f3", zorder=0)


def _draw_arrows(ax: Axes, shown: Film, frame: int, camera: Camera, at: float) -> None:
    for arrow in (shown.right, shown.left):
        place, force = arrow.place[frame], arrow.force[frame]
        if np.isnan(place).any():
            continue
        tail, head = project(np.array([place, place + REACH * force]), shown, frame, camera, at)
        style = "-|>,head_width=0.22,head_length=0.45"
        for color, width in (("white", 4.5), (FORCE, 2.2)):
            look = {"arrowstyle": style, "color": color, "linewidth": width, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", head, tail, arrowprops=look, zorder=8)


def _phase(s: float) -> str:
    named = {0.0: "right heel strikes", DOUBLE: "left toe off", 1.0: "left heel strikes"}
    return f"{50 * s:.0f} %\n{named.get(s, '')}"


def draw_curves(axes: Sequence[Axes], reports: Mapping[str, Report | Stride]) -> None:
    """Joint angles and ground reactions of the right side over a stride, in front of Winter's band."""
    for ax, (name, label) in zip(axes, PANELS.items(), strict=False):
        if band := bands().get(name):
            x, mean, sd = band.closed()
            if name not in ANGLES:  # no force in swing, whatever the band of the source
                sd = np.where(x > TOE_OFF + 5, 0, sd)
            for reach, color in ((2, WIDE), (1, BAND)):
                ax.fill_between(x, mean - reach * sd, mean + reach * sd, color=color, linewidth=0)
            ax.plot(x, mean, color=MUTED, linewidth=1.2)
        for look, report in reversed(list(zip(LOOKS, reports.values(), strict=False))):
            ax.plot(report.percent, report.curves[name], **look)
        far = [report.distances[name] for report in reports.values()] if name in bands() else []
        title = f"beyond 2 SD {' / '.join(f'{one.beyond:.0f}' for one in far)} %" if far else ""
        dress_stride(ax, label)
        ax.set_title(title, loc="right", fontsize=9, color=MUTED)


def dress_stride(ax: Axes, label: str) -> None:
    """An axis of the stride with toe-off and the strike of the other foot marked."""
    dress(ax, xlabel="stride [%]", ylabel=label)
    ax.set_xlim(0, 100)
    ax.set_xticks([0, 20, 40, 60, 80, 100])
    for at in (50 * DOUBLE, 50, TOE_OFF):
        ax.axvline(at, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1.2)


def draw_internal(ax: Axes, report: Report) -> None:
    """Norms of the internal forces of hip, knee and ankle."""
    for (name, norm), color in zip(report.internal.items(), (BLUE, VERMILLION, GREEN), strict=True):
        ax.plot(report.percent, norm, color=color, label=name)
    dress_stride(ax, "internal force [body weight]")
    ax.set_ylim(bottom=0)
    ax.legend(loc="upper right", frameon=False)


def draw_cost(ax: Axes, reports: Mapping[str, Report]) -> None:
    """The objective over the iterations, from the motion without forces on."""
    for look, report in zip(LOOKS, reports.values(), strict=False):
        ax.plot(report.solution.history["cost"], **look)
    ax.set_yscale("log")
    dress(ax, xlabel="iteration", ylabel="objective")


def draw_residuals(ax: Axes, report: Report) -> None:
    """Infeasibilities and barrier over the iterations."""
    history = report.solution.history
    for key, label, color in (
        ("infeasibility", "primal", BLUE),
        ("stationarity", "dual", VERMILLION),
        ("barrier", "barrier", GREEN),
    ):
        ax.plot(history[key], color=color, label=label, linewidth=1.5)
    ax.set_yscale("log", nonpositive="clip")
    dress(ax, xlabel="iteration", ylabel="infeasibility, barrier")
    ax.legend(loc="upper right", frameon=False)


def draw_path(ax: Axes, report: Report) -> None:
    """Zero moment point and centres of pressure from above, with the feet and the bounds of their pressure."""
    step = report.step
    fine = ground_reactions(step, report.solution, np.linspace(0, 1, 401))
    both = fine.s <= DOUBLE + 1e-9
    for out, z, color in ((1, -step.length, LEFT), (-1, 0.0, RIGHT), (1, step.length, LEFT)):
        _draw_foot(ax, step, out, z, color)
    _draw_limits(ax, step)
    for wrench, color, label in (
        (fine.whole, INK, "zero moment point"),
        (fine.left, LEFT, "centre of pressure, left foot"),
        (fine.right, RIGHT, "centre of pressure, right foot"),
    ):
        x, z = Ground.pressure(wrench).T
        shown = np.full(both.shape, True) if color == INK else both
        ax.plot(z[shown], x[shown], color="white", linewidth=3.6, zorder=3)
        ax.plot(z[shown], x[shown], color=color, linewidth=1.8 if color == INK else 2.6, label=label, zorder=3.1)
    x, z = Ground.pressure(fine.whole).T
    for s, offset in MARKS.items():
        at = (z[k := round(s * 400)], x[k])
        ax.plot(*at, "o", color=INK, markersize=4.5, markerfacecolor="white", zorder=5)
        line = {"arrowstyle": "-", "color": MUTED, "linewidth": 0.7, "shrinkB": 3} if offset[0] else None
        ax.annotate(
            f"{50 * s:.0f} %", at, offset, textcoords="offset points", ha="center", fontsize=8, zorder=6,
            arrowprops=line,
        )  # fmt: skip
    dress(ax, xlabel="forward [m]", ylabel="to the left [m]")
    ax.set_aspect("equal")
    ax.set_xlim(-step.length - 0.08, step.length + 0.36)
    ax.set_ylim(-0.17, 0.17)
    ax.legend(loc="lower right", frameon=False, ncols=1)


def draw_path_in_time(ax: Axes, report: Report) -> None:
    """Zero moment point and centres of pressure of a planar walker over the step."""
    step = report.step
    fine = ground_reactions(step, report.solution, np.linspace(0, 1, 401))
    percent = 50 * fine.s
    for side, wrench, color, name in (("l", fine.left, LEFT, "left"), ("r", fine.right, RIGHT, "right")):
        shown = fine.s <= (DOUBLE if side == "l" else 1.0) + 1e-9
        corners = [step.corners(Clock(s * step.duration, step.duration), side) for s in fine.s[shown]]
        z = np.array([[float(point[1]) for point in four] for four in corners])
        ax.fill_between(percent[shown], z.min(axis=1), z.max(axis=1), color=color, alpha=0.12, linewidth=0)
        place = Ground.pressure(wrench)[shown, 1]
        ax.plot(percent[shown], place, color=color, linewidth=2.6, label=f"centre of pressure, {name} foot")
    ax.plot(percent, Ground.pressure(fine.whole)[:, 1], color=INK, linewidth=1.4, label="zero moment point")
    ax.axvline(50 * DOUBLE, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)))
    dress(ax, xlabel="stride [%], the right foot in front; shaded: where a foot may press", ylabel="forward [m]")
    ax.set_xlim(0, 50)
    ax.legend(loc="lower right", frameon=False)


def _draw_foot(ax: Axes, step: Step, out: int, z: float, color: str) -> None:
    """Outline of a sole with its heel at z; its lateral side, to the left for out = 1, bulges."""
    x, (ball, toe) = out * step.side, step.sole
    along = np.array([-0.11, -0.06, 0.12, 0.40, 0.62, 0.80, 0.96, 1.04, 1.00, 0.84, 0.66, 0.42, 0.15, -0.04])
    across = np.array([0.0, 0.11, 0.145, 0.145, 0.19, 0.20, 0.12, -0.03, -0.14, -0.19, -0.17, -0.09, -0.12, -0.10])
    outline = _smooth(np.column_stack([z + toe * along, x + out * toe * 0.95 * across]))
    ax.add_patch(Polygon(outline, facecolor=color, alpha=0.10, linewidth=0, zorder=1))
    ax.add_patch(Polygon(outline, fill=False, edgecolor=color, linewidth=1.2, alpha=0.8, zorder=1.5))
    ax.plot([z, z + ball, z + toe], [x] * 3, "+", color=color, markersize=6, zorder=1.6)


def _smooth(points: np.ndarray, per_side: int = 12) -> np.ndarray:
    """Closed Catmull-Rom curve through points."""
    before, after, far = (np.roll(points, -k, axis=0) for k in (-1, 1, 2))
    u = np.linspace(0, 1, per_side, endpoint=False)[None, :, None]
    a, b, c, d = (p[:, None] for p in (before, points, after, far))
    curve = 0.5 * (2 * b + (c - a) * u + (2 * a - 5 * b + 4 * c - d) * u**2 + (3 * b - a - 3 * c + d) * u**3)
    return curve.reshape(-1, 2)


def _draw_limits(ax: Axes, step: Step) -> None:
    """Rectangles within which a foot may press, as they move while the foot rolls."""
    for s in np.linspace(0, 1, 11):
        for side in "rl" if s <= DOUBLE else "r":
            corners = np.array(step.corners(Clock(s * step.duration, step.duration), side), dtype=float)
            (x0, z0), (x1, z1) = corners.min(axis=0), corners.max(axis=0)
            color = RIGHT if side == "r" else LEFT
            ax.add_patch(Rectangle((z0, x0), z1 - z0, x1 - x0, fill=False, edgecolor=color, linewidth=0.7, alpha=0.35))


def handles(reports: Mapping[str, Report | Stride]) -> list[Line2D | Patch]:
    """Entries of the legend: strides by name, Winter's band, marks."""
    ours = [Line2D([], [], label=f"predicted, {name}", **look) for look, name in zip(LOOKS, reports, strict=False)]
    marks = Line2D([], [], color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)), label="toe off, strike of the other foot")
    return [
        *ours,
        Line2D([], [], color=MUTED, linewidth=1.2, label="Winter (1991), mean"),
        Patch(color=BAND, label="± one standard deviation"),
        Patch(color=WIDE, label="± two"),
        marks,
        Line2D([], [], color=FORCE, linewidth=2.2, marker=">", label="ground reaction"),
    ]
