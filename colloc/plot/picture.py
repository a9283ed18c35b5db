"""Files of figures."""

from __future__ import annotations

import io
import os
from pathlib import Path

from matplotlib.figure import Figure

from colloc.support.checks import finite_number, instance
from colloc.support.files import check_writable, write_atomically

FORMATS = (".png", ".pdf", ".svg")
_LARGEST = 10_000.0  # dots per inch


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
