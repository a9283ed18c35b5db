"""The moving stick figure as a GIF."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from colloc.plot.motion import Stick, draw_paths
from colloc.plot.posture import skeleton
from colloc.plot.sampling import checked, fine_times, title_of
from colloc.plot.scene import Scene, make_scene
from colloc.plot.skeleton import Pose, StickFigure
from colloc.plot.style import END, plain, styled
from colloc.solution import PhasesSolution, Solution
from colloc.support.checks import InputError, finite_number, quoted
from colloc.support.files import check_writable, write_atomically

_MOST = 100_000  # frames of a film
_SHORT, _COMFORTABLE = 1.0, 3.0  # s; motions shorter than the first are slowed down to about the second
_FASTEST_GIF = 50.0  # frames per second; browsers do not play GIFs faster
_COLORS = 256
_HOLD = 1000  # ms that a GIF pauses on its last image


def animate(
    solution: Solution | PhasesSolution,
    path: str | os.PathLike[str],
    fps: float = 30,
    slow: float | None = None,
) -> Path:
    """Write the moving stick figure with the path of every tip and the time as a GIF, where `view` cannot be used.

    Parameters
    ----------
    solution : Solution or PhasesSolution
    path : str or PathLike
        A name that ends in .gif. An existing file is replaced.
    fps : float [1/s]
        Frames per second, at most 50.
    slow : float, optional
        Ratio of the durations of animation and motion; shown if it is not 1. By default real time, with motions shorter
        than a second slowed down to about three seconds.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    InputError
        Before anything is drawn: if `solution` is not a Solution, or for a path that cannot be written, another suffix,
        or a rate or factor that is not positive.

    See Also
    --------
    view : A page that plays the motion, seen from all sides.

    Examples
    --------
    >>> co.plot.animate(solution, "swing.gif", fps=10).name
    'swing.gif'
    """
    name = title_of(checked(solution))
    return write_gif(partial(skeleton, solution), fine_times(solution), name, path, fps, slow)


def write_gif(
    pose: Pose, fine: np.ndarray, name: str, path: str | os.PathLike[str], fps: float = 30, slow: float | None = None
) -> Path:
    """Write the film of any stick figure, with paths through times `fine`, shape (N,) [s], from 0 to the end."""
    file = check_writable(path, (".gif",))
    if finite_number("fps", fps, positive=True) > _FASTEST_GIF:
        raise InputError(f"fps must be at most {_FASTEST_GIF:g} in a .gif, got {quoted(fps)}")
    images, rate = _film(pose, fine, name, fps, slow)
    _save(file, images, rate)
    return file


def _save(path: Path, images: list[Image.Image], fps: float) -> None:
    """An endlessly repeated GIF.

    GIF delays are whole hundredths of a second: they are rounded so that their sum is correct.
    """
    ticks = np.round(np.arange(len(images)) * 100 / fps).astype(int)
    durations = [*(10 * np.diff(ticks)).tolist(), _HOLD]
    frames, buffer = images[1:], io.BytesIO()
    images[0].save(buffer, "gif", save_all=True, append_images=frames, duration=durations, loop=0, optimize=False)
    write_atomically(path, buffer.getvalue())


@styled
def _film(pose: Pose, fine: np.ndarray, name: str, fps: float, slow: float | None) -> tuple[list[Image.Image], float]:
    """All images, and the number per second."""
    T, rate = float(fine[-1]), finite_number("fps", fps, positive=True)
    factor = slowdown(T) if slow is None else finite_number("slow", slow, positive=True)
    if T * factor * rate > _MOST:
        raise InputError(f"slow={slow!r} and fps={fps!r} need more than {_MOST} frames: choose smaller values")
    times = np.linspace(0, T, max(2, round(T * factor * rate) + 1))
    images = list(_images(_Film(pose(times), pose(fine), plain(name) + remark(factor))))
    return images, (times.size - 1) / (T * factor)  # the rate at which an integer number of frames fills the duration


class _Film:
    """A figure in which only the mechanism, its paths and the time are redrawn in each frame."""

    def __init__(self, frames: StickFigure, fine: StickFigure, heading: str):
        self.frames, self.fine = frames, fine
        self.figure = Figure(figsize=(6.4, 5.8))
        self.canvas = FigureCanvasAgg(self.figure)
        self.scene: Scene = make_scene(self.figure, 111, self.fine)
        ahead = draw_paths(self.scene, self.fine)
        self.behind = draw_paths(self.scene, self.fine)
        for line in ahead:
            line.set_alpha(0.3)
        self.stick = Stick(self.scene, frames, 0, color=END, width=2.8)
        self.scene.ax.set_title(heading, loc="left")
        self.clock = self.scene.ax.set_title("t = 0", loc="right")
        self.canvas.draw()  # fixes the layout
        self.figure.set_layout_engine("none")
        self.moving: list[Any] = [*self.stick.solids, *self.behind, *self.stick.lines, self.clock]
        for artist in self.moving:
            artist.set_animated(True)
        self.canvas.draw()
        self.still = self.canvas.copy_from_bbox(self.figure.bbox)

    def image(self, frame: int) -> Image.Image:
        """One frame."""
        t = self.frames.t[frame]
        passed = int(np.searchsorted(self.fine.t, t, side="right"))
        for line, (name, way) in zip(self.behind, self.fine.paths.items(), strict=True):
            now = self.frames.paths[name][frame] if name in self.frames.paths else np.full(3, np.nan)
            self.scene.move(line, np.vstack([way[:passed], now]))
        self.stick.show(self.frames, frame)
        self.clock.set_text(f"t = {t:.{_digits(self.frames.t)}f} s")
        self.canvas.restore_region(self.still)
        for solid in self.stick.solids if self.scene.plane is None else ():
            solid.do_3d_projection()  # done by the axes, unless artists are drawn one by one
        for artist in self.moving:
            self.figure.draw_artist(artist)
        return Image.fromarray(np.asarray(self.canvas.buffer_rgba())).convert("RGB")


def _images(film: _Film) -> Iterator[Image.Image]:
    """All frames, with the palette of the last one, which contains all colours."""
    count = film.frames.t.size
    palette = _palette(film.image(count - 1))
    for frame in range(count):
        yield film.image(frame).quantize(palette=palette, dither=Image.Dither.NONE)


def remark(factor: float) -> str:
    """Text about the speed of the animation; none in real time."""
    if factor == 1:
        return ""
    return f", {factor:.3g}× slower" if factor > 1 else f", {1 / factor:.3g}× faster"


def _palette(image: Image.Image) -> Image.Image:
    """The most frequent colours of an image, unchanged, so that white stays white.

    One of each cell of 8 levels, as Pillow does not search for the nearest colour within a cell.
    """
    colors, counts = np.unique(np.asarray(image).reshape(-1, 3), axis=0, return_counts=True)
    colors = colors[np.argsort(-counts)]
    _, first = np.unique(colors // 8, axis=0, return_index=True)
    palette = Image.new("P", (1, 1))
    palette.putpalette(colors[np.sort(first)[:_COLORS]].ravel().tolist())
    return palette


def slowdown(duration: float) -> float:
    """Default ratio of the durations of animation and motion."""
    return 1.0 if duration >= _SHORT else float(round(_COMFORTABLE / duration))


def _digits(times: np.ndarray) -> int:
    """Number of decimals that distinguishes consecutive frames."""
    return max(2, int(np.ceil(-np.log10(times[1] - times[0]))))
