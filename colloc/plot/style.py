"""The style of figures: colours, fonts, grid, legends. matplotlib's global settings are not changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from colloc.model import Model
from colloc.support.checks import spelt

P = ParamSpec("P")
R = TypeVar("R")

# Okabe and Ito's palette, distinguishable with every common colour vision; its yellow is too pale for a line.
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"
PALETTE = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1.5, 1.2)), (0, (6, 1.5, 1.5, 1.5)))
LEGEND: dict[str, Any] = {"frameon": False, "handlelength": 2.2}
_ENTRY = 0.21  # height of a legend entry [inch]
INK, MUTED, GRID = "#262626", "#8c8c8c", "#e4e4e4"
OBSTACLE = "#d2d2d2"
FADE = LinearSegmentedColormap.from_list("time", ["#c6dbef", "#6baed6", "#2878b5", "#08306b"])

START, END = ORANGE, "#08306b"  # postures at both ends
TIPS = (PURPLE, GREEN, SKY, VERMILLION, INK)  # paths of the tips

_SIZE, _SMALL = 10.0, 8.0  # points; of figures as wide as a page, and as a column
_COLUMN, _PAGE = 3.5, 7.16  # inch; of journals in two columns
NARROW = 5.0  # inch; narrower figures have smaller letters, and legends below
WIDTHS = {"column": _COLUMN, "page": _PAGE}

STYLE: dict[Any, Any] = {
    "font.size": _SIZE,
    "axes.titlesize": "medium",
    "axes.labelsize": "medium",
    "legend.fontsize": 0.9 * _SIZE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.facecolor": "white",
    "axes.axisbelow": True,
    "grid.color": GRID,  # of axes in space, which use only this
    "grid.linewidth": 0.8,
    "figure.facecolor": "white",
    "figure.dpi": 110.0,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.08,
    "figure.constrained_layout.h_pad": 0.08,
    "lines.linewidth": 1.8,
    "lines.solid_capstyle": "round",
    "lines.solid_joinstyle": "round",
}


def styled(draw: Callable[P, R], narrow: float = NARROW) -> Callable[P, R]:
    """Decorate a drawing function with the library's style, except for rcParams that the user has set.

    Letters and lines are smaller if a keyword argument `width` or `figsize` is below `narrow` inches.
    """

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        small = is_narrow(kwargs.get("width"), kwargs.get("figsize"), narrow)
        with mpl.rc_context(_style(narrow=small)):
            return draw(*args, **kwargs)

    return spelt(drawn)


def is_narrow(width: Any, figsize: Any, narrow: float) -> bool:
    """Whether a figure is narrower than `narrow`; sizes are checked when the figure is made."""
    if isinstance(width, str):
        width = WIDTHS.get(width)
    elif isinstance(figsize, list | tuple) and figsize:
        width = figsize[0]
    return isinstance(width, int | float) and width < narrow


def _style(*, narrow: bool) -> dict[Any, Any]:
    """The library's settings, except for those that the user has changed."""
    default = mpl.rcParamsDefault
    settings = {key: value for key, value in STYLE.items() if mpl.rcParams[key] == default[key]}
    if narrow and "font.size" in settings:
        settings["font.size"] = _SMALL
    if narrow and "lines.linewidth" in settings:
        settings["lines.linewidth"] = 1.2
    if "legend.fontsize" in settings:
        settings["legend.fontsize"] = 0.9 * settings.get("font.size", mpl.rcParams["font.size"])
    return settings


class LineStyle(NamedTuple):
    """Colour and dash pattern of one joint, the same in every figure."""

    color: str
    linestyle: Any


def plain(name: str) -> str:
    """A name as literal text for matplotlib, in which dollar signs and leading underscores have no meaning."""
    return (" " if name.startswith("_") else "") + name.replace("$", r"\$")


def body_joint_styles(model: Model) -> list[LineStyle]:
    """The style of every body's joint."""
    return styles_by_dof(model.dofs)


def styles_by_dof(dofs: Sequence[int | None]) -> list[LineStyle]:
    """The styles of joints by coordinates; joints that move use the palette first, in the order of q."""
    palette = _palette()
    fixed = iter(range(1 + max((dof for dof in dofs if dof is not None), default=-1), 2 * len(dofs)))
    order = [next(fixed) if dof is None else dof for dof in dofs]
    return [LineStyle(palette[k % len(palette)], DASHES[k // len(palette) % len(DASHES)]) for k in order]


def _palette() -> Sequence[str]:
    """The library's colours, or those of the user's cycle."""
    key = "axes.prop_cycle"
    if mpl.rcParams[key] == mpl.rcParamsDefault[key]:
        return PALETTE
    return mpl.rcParams[key].by_key().get("color", PALETTE)


def dress(ax: Axes, xlabel: str = "", ylabel: str = "") -> None:
    """Add labels and a light grid, and remove spines.

    Ticks are made when a figure is drawn, when STYLE is no longer active: their style is set explicitly.
    """
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    ax.grid(True, color=GRID, linewidth=0.8, linestyle="-")
    ax.tick_params(which="major", color=MUTED, labelcolor=INK, labelsize=0.9 * mpl.rcParams["font.size"], length=3)
    ax.tick_params(which="minor", length=0)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(MUTED)


def legend_beside(figure: Figure, handles: Sequence[Line2D]) -> None:
    """Add a legend to the right of all panels, where it covers no curve; long ones have several columns.

    Narrow figures have it below.
    """
    if figure.get_figwidth() < NARROW:
        legend_below(figure, handles)
        return
    rows = max(1, int((figure.get_figheight() - 0.4) / _ENTRY))
    figure.legend(handles=list(handles), loc="outside right upper", ncols=-(-len(handles) // rows), **LEGEND)


def legend_below(figure: Figure | SubFigure, handles: Sequence[Line2D]) -> None:
    """Add a legend below all panels, in rows; none for no entries."""
    if not handles:
        return
    widest = 0.5 + 0.0065 * mpl.rcParams["font.size"] * max(len(str(handle.get_label())) for handle in handles)  # inch
    ncols = min(len(handles), max(1, int(figure.bbox.width / figure.get_dpi() / widest)))
    figure.legend(handles=list(handles), loc="outside lower center", ncols=ncols, **LEGEND)
