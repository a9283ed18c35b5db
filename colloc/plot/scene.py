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
from matplotlib.ticker import MaxNLocator
from mpl_toolkits.mplot3d.axes3d import Axes3D

from colloc.plot.skeleton import Skeleton
from colloc.plot.style import GRID, INK, MUTED, dress

_NAMES = "xyz"
_MARGIN = 0.06  # around the motion, relative to its largest extent
_THINNEST = 0.4  # smallest side of a box in space, relative to its largest


@dataclass(frozen=True, eq=False)
class Scene:
    """Axes with equal scales for the places of a stick figure.

    Parameters
    ----------
    ax : Axes
        Two-dimensional in a plane, an Axes3D in space.
    plane : (int, int) or None
        World axes (right, up) shown; None in space.
    """

    ax: Axes
    plane: tuple[int, int] | None

    def line(self, points: np.ndarray, *args: Any, **look: Any) -> Line2D:
        """Plot world points, shape (N, 3) [m]."""
        return self.ax.plot(*self._shown(points), *args, **look)[0]

    def move(self, line: Line2D, points: np.ndarray) -> None:
        """Give a line other world points, shape (N, 3) [m]."""
        if self.plane is None:
            cast(Any, line).set_data_3d(*self._shown(points))
        else:
            line.set_data(*self._shown(points))

    def shadow(self, points: np.ndarray, vertical: int) -> None:
        """What a path in space would cast on the floor: it tells near from far."""
        if self.plane is None:
            floor = getattr(self.ax, f"get_{_NAMES[vertical]}lim")()[0]
            below = np.where(np.arange(3) == vertical, floor, points)
            self.line(below, "-", color=GRID, linewidth=2.0, zorder=1.0)

    def _shown(self, points: np.ndarray) -> np.ndarray:
        return points.T if self.plane is None else points.T[list(self.plane)]


def make_scene(figure: Figure | SubFigure, place: SubplotSpec | int, figure_of: Skeleton) -> Scene:
    """Empty axes around a motion, with the world's origin and where the mechanism is attached to the world.

    An origin further away than the size of the motion is left out of view.
    """
    low, high = figure_of.extent
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
    cast(Any, ax).set_box_aspect(side, zoom=0.9)  # after the view, which it depends on; the stubs want whole numbers
    return ax
