"""Files that play a sequence of images."""

from __future__ import annotations

import base64
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np
from PIL import Image

from colloc.support.files import check_writable, write_atomically

_HOLD = 1000  # ms that a GIF rests on its last image
_FRAME = 34, 90  # pixels that the page has beside and below its images


def write_gif(path: Path, images: Sequence[Image.Image], fps: float) -> None:
    """An endlessly repeated GIF.

    GIF delays are whole hundredths of a second: they are rounded so that the sum keeps pace, not each on its own.
    """
    ticks = np.round(np.arange(len(images)) * 100 / fps).astype(int)
    durations = [*(10 * np.diff(ticks)).tolist(), _HOLD]
    frames, buffer = list(images[1:]), io.BytesIO()
    images[0].save(buffer, "gif", save_all=True, append_images=frames, duration=durations, loop=0, optimize=False)
    write_atomically(path, buffer.getvalue())


@dataclass(frozen=True, eq=False)
class Player:
    """A page with a player and all images in it, which refers to nothing outside; notebooks show it where it is.

    Parameters
    ----------
    page : str
        HTML.
    title : str
    width, height : int [pixels]
        Of the images.
    """

    page: str
    title: str
    width: int
    height: int

    def __repr__(self) -> str:
        return f"Player of {self.title}, {len(self.page) / 1e6:.1f} MB: .save('film.html'), or the last line of a cell"

    def _repr_html_(self) -> str:
        # In a frame, so that page and notebook know nothing of each other's styles and keys.
        wide, high = self.width + _FRAME[0], self.height + _FRAME[1]
        look = f"border: 0; width: 100%; max-width: {wide}px; height: {high}px"
        about = f'title="{escape(self.title)}" sandbox="allow-scripts" style="{look}"'
        return f'<iframe srcdoc="{escape(self.page)}" {about}></iframe>'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or PathLike
            Ends in .html. An existing file is replaced.

        Returns
        -------
        Path
            The file.
        """
        file = check_writable(path, (".html",))
        write_atomically(file, self.page.encode())
        return file


def player(images: Sequence[Image.Image], fps: float, title: str) -> Player:
    """A player of images."""
    page = Template(files("colloc.plot").joinpath("player.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        width=images[0].width,
        delay=repr(1000 / fps),
        frames=json.dumps([_encoded(image) for image in images]),
    )
    return Player(page, title, images[0].width, images[0].height)


def _encoded(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="png", optimize=False)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
