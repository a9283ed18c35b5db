"""Axes in which a mechanism moves, in its plane or in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.gridspec import SubplotSpec
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from mpl_toolkits.mplot3d.axes3d import Axes3D

from colloc.plot.skeleton import StickFigure
from colloc.plot.style import GRID, INK, MUTED, OBSTACLE, dress

_NAMES = "xyz"
_MARGIN = 0.06  # around the motion, relative to its largest extent
_THINNEST = 0.4  # smallest side of a box in space, relative to its largest
_HIGH = 4.5  # inch; parts of figures below it leave more room for the letters of axes in space
_TRANSPARENT = 0.5  # solids in space, through which what is behind them is seen


@dataclass(frozen=True, eq=False)
class Scene:
    """Axes with equal scales for the places of a stick figure."""

    ax: Axes  # two-dimensional in a plane, an Axes3D in space
    plane: tuple[int, int] | None  # world axes (right, up) shown; None in space

    def line(self, points: np.ndarray, *args: Any, **look: Any) -> Line2D:
        """Plot world points, shape (N, 3) [m]."""
        return self.ax.plot(*self._shown(points), *args, **look)[0]

    def move(self, line: Line2D, points: np.ndarray) -> None:
        """Give a line other world points, shape (N, 3) [m]."""
        if self.plane is None:
            cast(Any, line).set_data_3d(*self._shown(points))
        else:
            line.set_data(*self._shown(points))

    def solid(self, row: np.ndarray, **look: Any) -> Any:
        """Draw a capsule: its start, end and radius, shape (7,) [m]."""
        if self.plane is None:
            look |= {"edgecolor": "none", "alpha": look.get("alpha", 1.0) * _TRANSPARENT}
            solid: Any = Poly3DCollection([], **look)
            cast(Any, self.ax).add_collection3d(solid)
        else:
            solid = Polygon(np.zeros((0, 2)), linewidth=0.8, **look)
            self.ax.add_artist(solid)
        self.move_solid(solid, row)
        return solid

    def move_solid(self, solid: Any, row: np.ndarray) -> None:
        """Put a capsule elsewhere; nowhere for NaN."""
        start, end, radius = row[:3], row[3:6], float(row[6])
        if not np.isfinite(row).all():
            start, end, radius = np.zeros(3), np.zeros(3), 0.0
        if self.plane is None:
            solid.set_verts(self._inside(capsule_surface(start, end, radius)))
        else:
            axes = list(self.plane)
            solid.set_xy(capsule_outline(start[axes], end[axes], radius))

    def _inside(self, faces: np.ndarray) -> np.ndarray:
        """Faces cut off at the walls of axes in space, which do not do so by themselves."""
        low, high = np.transpose([getattr(self.ax, f"get_{name}lim")() for name in _NAMES])
        beyond = ((faces < low).all(axis=1) | (faces > high).all(axis=1)).any(axis=1)
        return faces[~beyond].clip(low, high)

    def clock(self, axis: int, speed: float, end: float) -> None:
        """Let a world axis of the plane tell the time, at some metres a second."""
        assert self.plane is not None
        shown = self.ax.xaxis if self.plane[0] == axis else self.ax.yaxis
        ticks = [t for t in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(0.0, end) if t <= end]
        shown.set_ticks([speed * t for t in ticks], [f"{t:g}" for t in ticks])
        shown.set_label_text("time [s]")

    def shadow(self, points: np.ndarray, vertical: int) -> None:
        """The shadow of a path in space on the floor, which tells near from far."""
        if self.plane is None:
            floor = getattr(self.ax, f"get_{_NAMES[vertical]}lim")()[0]
            below = np.where(np.arange(3) == vertical, floor, points)
            self.line(below, "-", color=GRID, linewidth=2.0, zorder=1.0)

    def _shown(self, points: np.ndarray) -> np.ndarray:
        return points.T if self.plane is None else points.T[list(self.plane)]


def make_scene(figure: Figure | SubFigure, place: SubplotSpec | int, figure_of: StickFigure) -> Scene:
    """Axes around a motion, with the world's origin, obstacles, and where the mechanism is attached to the world.

    An origin further away than the size of the motion is left out of view.
    """
    low, high = figure_of.view
    near = bool((np.maximum(low, -high) < (high - low).max()).all())
    if near:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    plane = figure_of.plane
    if plane is None:
        scene = Scene(_axes_in_space(figure, place, low, high, figure_of.vertical), None)
    else:
        scene = Scene(_axes_in_plane(figure, place, low, high, plane), plane)
    if near:
        scene.line(np.zeros((1, 3)), "+", color=INK, markersize=15, markeredgewidth=1.2, zorder=1.8)
    for row in figure_of.standing:
        scene.solid(row, facecolor=OBSTACLE, edgecolor=MUTED, zorder=1.1)
    scene.line(figure_of.bases, "s", color=INK, markersize=8, zorder=2.5)
    return scene


def _axes_in_plane(
    figure: Figure | SubFigure, place: SubplotSpec | int, low: np.ndarray, high: np.ndarray, plane: tuple[int, int]
) -> Axes:
    ax = figure.add_subplot(place)
    dress(ax, *(f"{_NAMES[axis]} [m]" for axis in plane))
    ax.update_datalim([corner[list(plane)] for corner in (low, high)])
    ax.margins(_MARGIN)
    ax.set_aspect("equal", adjustable="datalim")
    return ax


def _axes_in_space(
    figure: Figure | SubFigure, place: SubplotSpec | int, low: np.ndarray, high: np.ndarray, vertical: int
) -> Axes3D:
    ax = cast(Axes3D, figure.add_subplot(place, projection="3d"))
    side = high - low
    side = np.maximum(side, _THINNEST * side.max()) * (1 + _MARGIN)
    for name, centre, length in zip(_NAMES, (low + high) / 2, side, strict=True):
        getattr(ax, f"set_{name}lim")(centre - length / 2, centre + length / 2)
        getattr(ax, f"set_{name}label")(f"{name} [m]", labelpad=16 if name == _NAMES[vertical] else 5)
        axis = getattr(ax, f"{name}axis")
        axis.set_rotate_label(False)
        axis.set_major_locator(MaxNLocator(max(2, round(6 * length / side.max())), steps=[1, 2, 5, 10]))
        axis.set_tick_params(color=MUTED, labelcolor=INK, labelsize=0.8 * mpl.rcParams["font.size"])
        axis.set_pane_color("white")
    # With y or x up, the axes trade places in cyclic order: seen from here, x (or z) still runs to the right.
    ax.view_init(elev=22, azim=-60 if vertical == 2 else 30, vertical_axis=_NAMES[vertical])
    zoom = 0.82 if figure.bbox.height > _HIGH * figure.get_dpi() else 0.75  # letters keep their size
    cast(Any, ax).set_box_aspect(side, zoom=zoom)  # after the view, which it depends on; the stubs want whole numbers
    return ax


_AROUND, _ALONG = 32, 8  # corners around a capsule, and from the rim of a hemisphere to its pole


def capsule_outline(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Two half circles around the ends (2,) [m] of an axis in the plane, shape (corners, 2)."""
    way = end - start
    turn = np.arctan2(way[1], way[0]) + np.linspace(-np.pi / 2, np.pi / 2, _AROUND // 2 + 1)
    half = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.concatenate([end + half, start - half])


def capsule_surface(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Quadrangles around an axis between two ends (3,) [m] in space, shape (faces, 4, 3)."""
    way = end - start
    length = np.linalg.norm(way)
    along = way / length if length > 0 else np.array([0.0, 0.0, 1.0])
    first = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    first /= np.linalg.norm(first)
    around = np.linspace(0, 2 * np.pi, _AROUND + 1)[:, None]
    ring = np.cos(around) * first + np.sin(around) * np.cross(along, first)
    tilt = np.linspace(0, np.pi / 2, _ALONG + 1)
    rings = [start - radius * np.sin(angle) * along + radius * np.cos(angle) * ring for angle in tilt[::-1]]
    rings += [end + radius * np.sin(angle) * along + radius * np.cos(angle) * ring for angle in tilt]
    grid = np.array(rings)
    corners = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)
