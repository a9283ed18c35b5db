"""Axes in which a mechanism moves, in a plane or in space."""

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
from colloc.plot.solids import Solid, outline, surface
from colloc.plot.style import GRID, INK, MUTED, OBSTACLE, dress

_NAMES = "xyz"
_MARGIN = 0.06  # margin around the motion, relative to its largest extent
_THINNEST = 0.4  # smallest side of a box in space, relative to its largest
_HIGH = 4.5  # inch; smaller parts of figures leave more room for labels of axes in space
_TRANSPARENT = 0.5  # opacity of solids in space


@dataclass(frozen=True, eq=False)
class Scene:
    """Axes with equal scales for the points of a stick figure."""

    ax: Axes  # two-dimensional in a plane, an Axes3D in space
    plane: tuple[int, int] | None  # world axes (right, up) shown; None in space

    def line(self, points: np.ndarray, *args: Any, **style: Any) -> Line2D:
        """Plot world points, shape (N, 3) [m]."""
        return self.ax.plot(*self._shown(points), *args, **style)[0]

    def move(self, line: Line2D, points: np.ndarray) -> None:
        """Give a line other world points, shape (N, 3) [m]."""
        if self.plane is None:
            cast(Any, line).set_data_3d(*self._shown(points))
        else:
            line.set_data(*self._shown(points))

    def solid(self, shape: Solid | None = None, **style: Any) -> Any:
        """Draw a shape at one time."""
        if self.plane is None:
            style |= {"edgecolor": "none", "alpha": style.get("alpha", 1.0) * _TRANSPARENT}
            drawn: Any = Poly3DCollection([], **style)
            cast(Any, self.ax).add_collection3d(drawn)
        else:
            drawn = Polygon(np.zeros((0, 2)), linewidth=0.8, **style)
            self.ax.add_artist(drawn)
        if shape is not None:
            self.move_solid(drawn, shape)
        return drawn

    def move_solid(self, drawn: Any, shape: Solid) -> None:
        """Move a drawn shape to its place at one time; hide it while it is absent."""
        there = bool(shape.there[0])
        if self.plane is None:
            drawn.set_verts(self._inside(surface(shape)) if there else [])
        else:
            corners = shape.corners[0][:, list(self.plane)]
            drawn.set_xy(outline(corners, float(shape.radius[0])) if there else np.zeros((0, 2)))

    def _inside(self, faces: list[np.ndarray]) -> list[np.ndarray]:
        """Faces clipped at the walls of axes in space, which do not clip by themselves."""
        low, high = np.transpose([getattr(self.ax, f"get_{name}lim")() for name in _NAMES])
        return [f.clip(low, high) for f in faces if not ((f < low).all(axis=0) | (f > high).all(axis=0)).any()]

    def clock(self, axis: int, speed: float, end: float) -> None:
        """Label a world axis of the plane with time, at a speed in metres per second."""
        assert self.plane is not None
        shown = self.ax.xaxis if self.plane[0] == axis else self.ax.yaxis
        ticks = [t for t in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(0.0, end) if t <= end]
        shown.set_ticks([speed * t for t in ticks], [f"{t:g}" for t in ticks])
        shown.set_label_text("time [s]")

    def shadow(self, points: np.ndarray, vertical: int) -> None:
        """Draw the shadow of a path in space on the floor, which shows depth."""
        if self.plane is None:
            floor = getattr(self.ax, f"get_{_NAMES[vertical]}lim")()[0]
            below = np.where(np.arange(3) == vertical, floor, points)
            self.line(below, "-", color=GRID, linewidth=2.0, zorder=1.0)

    def _shown(self, points: np.ndarray) -> np.ndarray:
        return points.T if self.plane is None else points.T[list(self.plane)]


def make_scene(figure: Figure | SubFigure, place: SubplotSpec | int, figure_of: StickFigure) -> Scene:
    """Axes around a motion, with the world's origin, obstacles, and the mechanism's attachments to the world.

    An origin further away than the size of the motion is out of view.
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
    for shape in figure_of.standing:
        scene.solid(shape, facecolor=OBSTACLE, edgecolor=MUTED, zorder=1.1)
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
        getattr(ax, f"set_{name}label")(f"{name} [m]", labelpad=16 if name == _NAMES[vertical] else 9)
        axis = getattr(ax, f"{name}axis")
        axis.set_rotate_label(False)
        axis.set_major_locator(MaxNLocator(max(2, round(6 * length / side.max())), steps=[1, 2, 5, 10]))
        axis.set_tick_params(color=MUTED, labelcolor=INK, labelsize=0.8 * mpl.rcParams["font.size"])
        axis.set_pane_color("white")
    # With y or x up, the axes are permuted cyclically, so that x (or z) still points to the right.
    ax.view_init(elev=22, azim=-60 if vertical == 2 else 30, vertical_axis=_NAMES[vertical])
    zoom = 0.82 if figure.bbox.height > _HIGH * figure.get_dpi() else 0.75  # letters keep their size
    cast(Any, ax).set_box_aspect(side, zoom=zoom)  # depends on the view; the stubs require integers
    return ax
