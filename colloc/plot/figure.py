"""Figures and axes, new or the user's; their windows and files."""

from __future__ import annotations

import inspect
import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, ParamSpec, TypedDict, Unpack, cast, get_args, get_type_hints

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.registry import BackendFilter, backend_registry
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from colloc.plot.style import LEGEND, NARROW, WIDTHS, legend_beside, styled
from colloc.support.checks import InputError, choice, finite_number, instance, pair, quoted, warn
from colloc.support.files import check_writable, write_atomically

_FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}  # TrueType: journals accept it, programs edit it
FORMATS = (".png", ".pdf", ".svg")
_LARGEST = 10_000.0  # dots per inch
_SIZES = """\
width : "column", "page" or float, optional [inch]
    Of the figure: as a column of a journal (3.5), as a page of it (7.16).
figsize : (float, float), optional [inch]

Returns
-------
Figure
"""
P = ParamSpec("P")


class Picture(Figure):
    """A figure outside pyplot: shown once by a notebook, freed with its last reference."""

    def show(self, warn: bool = True) -> None:
        """Open a window, as `colloc.plot.show`."""
        show(self)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """As in matplotlib, with TrueType fonts in PDF and PostScript files."""
        fonts = {key: value for key, value in _FONTS.items() if mpl.rcParams[key] == mpl.rcParamsDefault[key]}
        self.draw_without_rendering()  # matplotlib's layout needs two passes to make room for aligned labels
        with mpl.rc_context(fonts):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        # Notebooks display figures of matplotlib once pyplot has been imported; until then they use this method.
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()


def new_figure(size: tuple[float, float] = (8.0, 6.0), width: Any = None, figsize: Any = None) -> Picture:
    """An empty figure; raise InputError for invalid sizes [inch], or both a width and a figsize.

    `size` is the default width and height; with a `width`, "column", "page" or a number, the height follows, relatively
    larger for narrow figures.
    """
    if width is not None and figsize is not None:
        raise InputError(f"pass width or figsize, not both, got width={width!r}, figsize={figsize!r}")
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
    FigureCanvasAgg(figure)  # a canvas that can draw, unlike the initial one
    return figure


class Panels(NamedTuple):
    """Axes to draw in, new or the user's."""

    figure: Figure
    axes: np.ndarray  # shape (rows, columns)
    borrowed: bool  # whether the user passed them

    def legend(self, handles: Sequence[Line2D]) -> None:
        """Add a legend beside or below a new figure, or in the first of the user's axes."""
        if self.borrowed:
            self.axes.flat[0].legend(handles=list(handles), **LEGEND)
        else:
            legend_beside(self.figure, handles)


def panels(
    rows: int,
    columns: int,
    size: tuple[float, float],
    *,
    heights: tuple[float, ...] | None = None,
    share_x: bool = True,
    **canvas: Unpack[Canvas],
) -> Panels:
    """Axes of a new figure, or the user's; raise InputError for anything else.

    `size` is the default width and height [inch], `heights` are relative heights of rows. The canvas has axes, one for
    each panel, row by row; or a size, as in `new_figure`.
    """
    ax, width, figsize = (canvas.get(name) for name in ("ax", "width", "figsize"))
    if ax is None:
        figure = new_figure(size, width, figsize)
        axes = figure.subplots(rows, columns, squeeze=False, sharex=share_x, height_ratios=heights)
        return Panels(figure, axes, borrowed=False)
    if width is not None or figsize is not None:
        raise InputError("pass either ax, or width or figsize: axes have a size already")
    axes, count = _listed(ax), rows * columns
    if len(axes) != count or not all(isinstance(item, Axes) for item in axes):
        what = "must be Axes" if count == 1 else f"must be a list of {count} Axes ({rows} rows, {columns} columns)"
        raise InputError(f"ax {what}, got {quoted(ax)}")
    return Panels(cast(Figure, axes[0].figure), np.array(axes, dtype=object).reshape(rows, columns), borrowed=True)


def _listed(axes: Any) -> list[Any]:
    """Axes in one list, from an array, a list, or lists of lists."""
    if isinstance(axes, np.ndarray):
        return axes.ravel().tolist()
    if isinstance(axes, list | tuple):
        return [ax for item in axes for ax in _listed(item)]
    return [axes]


class Size(TypedDict, total=False):
    """The size of a new figure."""

    width: str | float | None
    figsize: tuple[float, float] | None


class Canvas(TypedDict, total=False):
    """The user's axes, or the size of a new figure."""

    ax: Axes | Sequence[Axes] | None
    width: str | float | None
    figsize: tuple[float, float] | None


def figure(draw: Callable[P, Figure], narrow: float = NARROW) -> Callable[P, Figure]:
    """Decorate a drawing function with the library's style, and show the arguments of its `Size` or `Canvas` to users.

    The function takes these as ``**canvas: Unpack[Canvas]``; in its docstring "Raises" must follow "Parameters", since
    sizes, and the returned figure, are inserted between them. Figures narrower than `narrow` [inch] have smaller
    letters and lines.
    """
    signature = inspect.signature(draw, eval_str=True)
    *parameters, options = signature.parameters.values()
    for name, kind in get_type_hints(get_args(options.annotation)[0]).items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    documented: Any = draw
    documented.__signature__ = signature.replace(parameters=parameters)
    documented.__doc__ = inspect.cleandoc(draw.__doc__ or "").replace("\n\nRaises\n", f"\n{_SIZES}\nRaises\n", 1)
    return styled(draw, narrow)


def show(*figures: Figure) -> None:
    """Open a window for each figure, and return when all are closed.

    Like ``plt.show()``, which also shows pyplot's figures: in a notebook figures appear below the cell, and in
    interactive mode (``plt.ion()``, ``%matplotlib qt``) it returns at once. A notebook displays a figure in the last
    line of a cell by itself.

    Parameters
    ----------
    *figures : Figure

    Raises
    ------
    InputError
        Without figures, or for other objects.

    Warns
    -----
    InputWarning
        If no window can be opened, as on a server without a display; not if the backend was chosen (``MPLBACKEND=agg``,
        ``matplotlib.use("agg")``).

    Examples
    --------
    >>> co.plot.show(co.plot.joints(solution), co.plot.motion(solution))
    """
    if not figures:
        raise InputError("pass one or more figures, as in co.plot.show(co.plot.joints(solution))")
    for figure in figures:
        instance("figure", figure, Figure, "as co.plot.joints returns one")
    import matplotlib.pyplot as plt

    backend = mpl.get_backend()
    if backend.lower() in backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE):
        chosen = os.environ.get("MPLBACKEND") or not mpl.rcParams["backend_fallback"]
        if not chosen:
            warn(
                f"no window can be opened: matplotlib uses {backend!r} here; write the figure to a file, as in "
                'co.plot.save_figure(figure, "figure.png")'
            )
        return
    for figure in figures:
        _adopt(plt, figure)
    plt.show()


def _adopt(plt: Any, figure: Figure) -> None:
    """Register a figure with pyplot, unless it is."""
    manager = figure.canvas.manager
    if manager is None or not plt.fignum_exists(manager.num) or plt.figure(manager.num) is not figure:
        # pyplot opens windows for figures that it makes; here it adopts an existing one, as plt.figure does by
        # itself from 3.11 on.
        plt.figure(FigureClass=lambda *_, **__: figure)


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: float = 150) -> Path:
    """Write a figure to a file, atomically: it is complete or absent.

    Parameters
    ----------
    figure : Figure
    path : str or PathLike
        A name that ends in .png, .pdf or .svg. An existing file is replaced.
    dpi : float [1/inch]
        Dots per inch.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        If `figure` is not a Figure, for a path that cannot be written, another suffix, or a resolution that is not
        positive.

    Examples
    --------
    >>> co.plot.save_figure(co.plot.joints(solution), "joints.png").name
    'joints.png'
    """
    instance("figure", figure, Figure, "as co.plot.joints returns one")
    file = check_writable(path, FORMATS)
    dots = finite_number("dpi", dpi, positive=True, at_most=_LARGEST)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=file.suffix.lower()[1:], dpi=dots)
    write_atomically(file, buffer.getvalue())
    return file
