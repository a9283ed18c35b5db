"""Figures and the axes in them: our own, of any size, or the user's."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.plot.style import LEGEND, WIDTHS, legend_beside
from colloc.plot.window import show
from colloc.support.checks import InputError, choice, finite_number, pair, quoted

_FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}  # TrueType, which journals take, and programs can edit


class Picture(Figure):
    """A figure that pyplot does not know: shown once by a notebook, freed when nobody holds it."""

    def show(self, warn: bool = True) -> None:
        """Open a window, as `colloc.plot.show`."""
        show(self)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """As in matplotlib; the letters of PDF and PostScript files are TrueType."""
        fonts = {key: value for key, value in _FONTS.items() if mpl.rcParams[key] == mpl.rcParamsDefault[key]}
        with mpl.rc_context(fonts):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        # Notebooks know matplotlib's figures once pyplot has been imported; until then they ask the figure itself.
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()


def new_figure(size: tuple[float, float] = (8.0, 6.0), width: Any = None, figsize: Any = None) -> Picture:
    """An empty figure.

    Parameters
    ----------
    size : (float, float) [inch]
        Width and height where nothing else is asked for.
    width : "column", "page" or float, optional [inch]
        The height follows, a narrow figure is higher for its width.
    figsize : (float, float), optional [inch]
        Width and height.

    Raises
    ------
    InputError
        For other sizes, or both.
    """
    if width is not None and figsize is not None:
        raise InputError(f"give width or figsize, not both, got width={width!r}, figsize={figsize!r}")
    if figsize is not None:
        sides = pair("figsize", figsize, "(width, height)")
        size = (finite_number("figsize", sides[0], positive=True), finite_number("figsize", sides[1], positive=True))
    elif width is not None:
        inches = WIDTHS[choice("width", width, tuple(WIDTHS))] if isinstance(width, str) else width
        wide = finite_number("width", inches, positive=True)
        size = (wide, size[1] * (0.5 + 0.5 * wide / size[0]))
    elif list(mpl.rcParams["figure.figsize"]) != list(mpl.rcParamsDefault["figure.figsize"]):
        size = tuple(mpl.rcParams["figure.figsize"])
    figure = Picture(figsize=size)
    FigureCanvasAgg(figure)  # which can draw, unlike the one that figures begin with
    return figure


class Panels(NamedTuple):
    """Axes to draw in, and who they belong to.

    Parameters
    ----------
    figure : Figure
    axes : ndarray of Axes, shape (rows, columns)
    given : bool
        Whether they are the user's own.
    """

    figure: Figure
    axes: np.ndarray
    given: bool

    def legend(self, handles: Sequence[Line2D]) -> None:
        """A legend beside or below our own figure, in the first of the user's axes."""
        if self.given:
            self.axes.flat[0].legend(handles=list(handles), **LEGEND)
        else:
            legend_beside(self.figure, handles)


def panels(
    shape: tuple[int, int],
    size: tuple[float, float],
    ax: Any,
    width: Any,
    figsize: Any,
    *,
    heights: tuple[float, ...] | None = None,
) -> Panels:
    """Axes of a new figure, or the user's.

    Parameters
    ----------
    shape : (int, int)
        Rows and columns.
    size, width, figsize :
        As in `new_figure`.
    ax : Axes or sequence of Axes, optional
        As many as there are panels, row after row.
    heights : tuple of float, optional
        Of the rows, relative.

    Raises
    ------
    InputError
        For anything else.
    """
    if ax is None:
        figure = new_figure(size, width, figsize)
        return Panels(figure, figure.subplots(*shape, squeeze=False, sharex=True, height_ratios=heights), given=False)
    if width is not None or figsize is not None:
        raise InputError("axes have their size: give ax, or width or figsize, not both")
    given = _listed(ax)
    if len(given) != shape[0] * shape[1] or not all(isinstance(one, Axes) for one in given):
        count = shape[0] * shape[1]
        what = "must be Axes" if count == 1 else f"must be a list of {count} Axes ({shape[0]} rows, {shape[1]} columns)"
        raise InputError(f"ax {what}, got {quoted(ax)}")
    figure = given[0].figure
    return Panels(cast(Figure, figure), np.array(given, dtype=object).reshape(shape), given=True)


def _listed(axes: Any) -> list[Any]:
    """What may be a list of Axes, lists of them, or an array, in a list."""
    if isinstance(axes, np.ndarray):
        return axes.ravel().tolist()
    if isinstance(axes, list | tuple):
        return [one for item in axes for one in _listed(item)]
    return [axes]
