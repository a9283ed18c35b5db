"""Windows for figures that pyplot does not know."""

from __future__ import annotations

import os
from typing import Any

import matplotlib as mpl
from matplotlib.backends.registry import BackendFilter, backend_registry
from matplotlib.figure import Figure

from colloc.support.checks import InputError, instance, warn


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
