"""Figures and the axes in them, of any size or the user's; their windows and files."""

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

_FONTS: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42}  # TrueType, which journals take, and programs can edit
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
    """A figure that pyplot does not know: shown once by a notebook, freed when nobody holds it."""

    def show(self, warn: bool = True) -> None:
        """Open a window, as `colloc.plot.show`."""
        show(self)

    def savefig(self, *args: Any, **kwargs: Any) -> None:
        """As in matplotlib; the letters of PDF and PostScript files are TrueType."""
        fonts = {key: value for key, value in _FONTS.items() if mpl.rcParams[key] == mpl.rcParamsDefault[key]}
        self.draw_without_rendering()  # matplotlib's layout takes two passes to make room for aligned labels
        with mpl.rc_context(fonts):
            super().savefig(*args, **kwargs)

    def _repr_png_(self) -> bytes:
        # Notebooks know matplotlib's figures once pyplot has been imported; until then they ask the figure itself.
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", bbox_inches="tight")
        return buffer.getvalue()


def new_figure(size: tuple[float, float] = (8.0, 6.0), width: Any = None, figsize: Any = None) -> Picture:
    """An empty figure; InputError for sizes [inch] that cannot be, or both a width and a figsize.

    `size` is width and height where nothing else is asked for; with a `width`, "column", "page" or a number, the height
    follows, a narrow figure is higher for its width.
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
    """Axes to draw in, and who they belong to."""

    figure: Figure
    axes: np.ndarray  # shape (rows, columns)
    borrowed: bool  # whether the user passed them

    def legend(self, handles: Sequence[Line2D]) -> None:
        """A legend beside or below our own figure, in the first of the user's axes."""
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
    **canvas: Unpack[Canvas],
) -> Panels:
    """Axes of a new figure, or the user's; InputError for anything else.

    `size` is width and height [inch] where nothing else is asked for, `heights` those of the rows, relative. The canvas
    has axes, as many as there are panels, row after row; or the size, as in `new_figure`.
    """
    ax, width, figsize = (canvas.get(name) for name in ("ax", "width", "figsize"))
    if ax is None:
        figure = new_figure(size, width, figsize)
        axes = figure.subplots(rows, columns, squeeze=False, sharex=True, height_ratios=heights)
        return Panels(figure, axes, borrowed=False)
    if width is not None or figsize is not None:
        raise InputError("axes have their size: give ax, or width or figsize, not both")
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
    """How large a new figure is."""

    width: str | float | None
    figsize: tuple[float, float] | None


class Canvas(TypedDict, total=False):
    """Where to draw: into the user's axes, or on a new figure."""

    ax: Axes | Sequence[Axes] | None
    width: str | float | None
    figsize: tuple[float, float] | None


def figure(draw: Callable[P, Figure], narrow: float = NARROW) -> Callable[P, Figure]:
    """A function that draws in our style, with the arguments of its `Size` or `Canvas` among those that users see.

    The function takes these as ``**canvas: Unpack[Canvas]``, last of all; in its docstring "Raises" follows on
    "Parameters", since sizes, and the figure returned, are put between them here. Figures less wide than `narrow`
    [inch] have smaller letters and lines.
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
    """Open a window for each of some figures, and go on when all are closed.

    As ``plt.show()`` does, which shows pyplot's own figures too: in a notebook figures appear below the cell, and where
    windows live beside the prompt (``plt.ion()``, ``%matplotlib qt``) it returns at once. A notebook shows a figure
    that is the last line of a cell without it.

    Parameters
    ----------
    *figures : Figure

    Raises
    ------
    InputError
        For no figure, or anything but figures.

    Warns
    -----
    InputWarning
        Where no window can be opened, as on a server without a display; not if the backend was chosen
        (``MPLBACKEND=agg``, ``matplotlib.use("agg")``).

    Examples
    --------
    >>> co.plot.show(co.plot.joints(solution), co.plot.motion(solution))
    """
    if not figures:
        raise InputError("give one or more figures, as in co.plot.show(co.plot.joints(solution))")
    for figure in figures:
        instance("figure", figure, Figure, "as co.plot.joints returns one")
    import matplotlib.pyplot as plt

    backend = mpl.get_backend()
    if backend.lower() in backend_registry.list_builtin(BackendFilter.NON_INTERACTIVE):
        chosen = os.environ.get("MPLBACKEND") or not mpl.rcParams["backend_fallback"]
        if not chosen:
            warn(
                f"no window can be opened: matplotlib draws with {backend!r} here; write the figure to a file, as in "
                'co.plot.save_figure(figure, "figure.png")'
            )
        return
    for figure in figures:
        _adopt(plt, figure)
    plt.show()


def _adopt(plt: Any, figure: Figure) -> None:
    """Make a figure one of pyplot's, unless it is."""
    manager = figure.canvas.manager
    if manager is None or not plt.fignum_exists(manager.num) or plt.figure(manager.num) is not figure:
        # pyplot opens windows for figures that it makes; here it makes one that there is. From 3.11 on plt.figure takes
        # such a figure itself.
        plt.figure(FigureClass=lambda *_, **__: figure)


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: float = 150) -> Path:
    """Write a figure to a file, atomically: it is complete or absent.

    Parameters
    ----------
    figure : Figure
    path : str or PathLike
        Ends in .png, .pdf or .svg. An existing file is replaced.
    dpi : float [1/inch]
        Dots per inch.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        For anything but a Figure, a path that cannot be written, another suffix, or a resolution that is not positive.

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
