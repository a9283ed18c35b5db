"""Files that play a sequence of images."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np
from PIL import Image

from colloc.files import write_atomically

_HOLD = 1000  # ms that a GIF rests on its last image


def write_gif(path: Path, images: Sequence[Image.Image], fps: float) -> None:
    """An endlessly repeated GIF.

    GIF delays are whole hundredths of a second: they are rounded so that the sum keeps pace, not each on its own.
    """
    ticks = np.round(np.arange(len(images)) * 100 / fps).astype(int)
    durations = [*(10 * np.diff(ticks)).tolist(), _HOLD]
    frames, buffer = list(images[1:]), io.BytesIO()
    images[0].save(buffer, "gif", save_all=True, append_images=frames, duration=durations, loop=0, optimize=False)
    write_atomically(path, buffer.getvalue())


def write_html(path: Path, images: Sequence[Image.Image], fps: float, title: str) -> None:
    """A page with a player and all images in it; it refers to nothing outside."""
    page = Template(files("colloc.plot").joinpath("player.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        width=images[0].width,
        delay=repr(1000 / fps),
        frames=json.dumps([_encoded(image) for image in images]),
    )
    write_atomically(path, page.encode())


def _encoded(image: Image.Image) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="png", optimize=False)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
