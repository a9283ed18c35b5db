"""The page that plays motions, self-contained and without network access."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, ClassVar

import numpy as np

from colloc.plot.recording import Recording, Segment
from colloc.plot.triangles import LinkMesh
from colloc.support.files import check_writable, write_atomically

SHARED = ("viewer.css", "triangles.js", "viewer.js")  # files shared by all pages
_STEPS = 65534  # steps of the range of a column; the next number means missing
_STILL = 1e-9  # m, rad, N; a column with less variation is constant
_TRAVEL = 0.8  # of the mechanism's size: with longer or cyclic travel the camera follows
_TREND = 3  # degree of the camera's polynomial path
_SAME = 2e-3  # of the mechanism's size: tolerance of the ends of a cycle
_HEIGHT = 620  # pixels, in a notebook
_NEAR = 0.5  # of the mechanism's size: largest height above zero with a floor at zero


@dataclass(eq=False)
class Viewer:
    """A self-contained page that shows mechanisms in motion; notebooks display it.

    Parameters
    ----------
    page : str
        HTML.
    title : str

    Examples
    --------
    >>> viewer = co.plot.view(solution)
    >>> viewer.save("swing.html").name
    'swing.html'
    """

    page: str
    title: str
    _allowed: ClassVar[str] = "allow-scripts"  # permissions of the frame in a notebook

    def __repr__(self) -> str:
        return f"Viewer of {self.title}, {len(self.page) / 1e3:.0f} kB: .save('view.html'), or the last line of a cell"

    def _repr_html_(self) -> str:
        # In a frame, so that page and notebook do not share styles and keys.
        style = f"border: 0; border-radius: 8px; width: 100%; height: {_HEIGHT}px"
        about = f'title="{escape(self.title)}" sandbox="{self._allowed}" allow="fullscreen" style="{style}"'
        return f'<iframe srcdoc="{escape(self.page)}" {about}></iframe>'

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : str or PathLike
            A name that ends in .html. An existing file is replaced.

        Returns
        -------
        Path
            The file.
        """
        file = check_writable(path, (".html",))
        write_atomically(file, self.page.encode())
        return file


def viewer(
    recordings: Sequence[Recording],
    title: str,
    slow: float | None = None,
    model: Mapping[str, Any] | None = None,
    *,
    series: bool = False,
    live: bool = False,
    key: str = "",
) -> Viewer:
    """A page that plays recordings, or shows a model with movable joints.

    Parameters
    ----------
    recordings : sequence of Recording
    title : str
    slow : float, optional
        Ratio of the durations of playback and motion.
    model : mapping, optional
        Joints and points of a model.
    series : bool
        Whether the recordings are a series of iterates, shown one at a time.
    live : bool
        Whether more recordings follow: the page reloads itself.
    key : str
        Key by which a page in a notebook recognises its predecessor, and keeps its view.
    """
    data = scene(recordings, title, slow, model) | {"series": series, "live": live, "key": key}
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Viewer(page(text, title), title)


def page(data: str, title: str, *, alone: bool = True) -> str:
    """The page of a scene as JSON.

    Parameters
    ----------
    data, title : str
    alone : bool
        False for one of many pages, with the files `SHARED` beside it.
    """
    style, *scripts = map(_part, SHARED)
    script = "".join(scripts)
    parts = {
        "title": escape(title),
        "style": f"<style>{style}</style>",
        "style_source": _hash(style),
        "script": f"<script>{script}</script>",
        "script_source": _hash(script),
        "data": data.replace("<", "\\u003c"),  # so that no name can end the element or begin another
    }
    if not alone:
        parts["style"], parts["script"] = (
            '<link rel="stylesheet" href="viewer.css">',
            '<script src="triangles.js"></script>\n<script src="viewer.js"></script>',
        )
        parts["style_source"] = parts["script_source"] = "'self' file:"  # files on a disk have no common origin
    return Template(_part("viewer.html")).substitute(parts)


def _part(name: str) -> str:
    return files("colloc.plot").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """The hash of a script or style for a content security policy."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode('ascii')}'"


def scene(
    recordings: Sequence[Recording], title: str, slow: float | None, model: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The data of the page, for JSON."""
    first, size = recordings[0], max(map(_size, recordings))
    planes = {recording.plane for recording in recordings}
    lowest = min(map(_lowest, recordings))
    meshes = first.meshes
    extras: dict[str, Any] = {}
    if meshes is not None:
        extras["meshes"] = [_mesh(part, meshes.bodies) for part in meshes.parts]
    if all(recording.curves_alone for recording in recordings):
        extras["curves_alone"] = True
    return {
        "title": title,
        "up": first.up,
        "plane": list(first.plane) if first.plane is not None and len(planes) == 1 else None,
        "floor": round(min(0.0, lowest) if lowest <= _NEAR * size else lowest, 5),
        "size": round(size, 5),
        "slow": slow,
        "recordings": [_recording(recording, size) for recording in recordings],
        "model": model,
    } | extras


def _mesh(part: LinkMesh, bodies: Sequence[str]) -> dict[str, Any]:
    """Triangles with coordinates in sixteen bits, and vertex numbers in sixteen bits if they fit."""
    wide = len(part.vertices) > _STEPS
    numbers, colors = part.faces.astype("<u4" if wide else "<u2"), part.colors.astype(np.uint8)
    return {
        "body": -1 if part.body is None else bodies.index(part.body),
        "vertices": packed(part.vertices),
        "faces": base64.b64encode(numbers.tobytes()).decode("ascii"),
        "wide": wide,
        "colors": base64.b64encode(colors.tobytes()).decode("ascii"),
    }


def _recording(recording: Recording, size: float) -> dict[str, Any]:
    shift = _cycle(recording, size)
    track = _track(recording, shift)
    far = shift is not None or float(np.ptp(track, axis=0).max()) > _TRAVEL * size
    travels = far and not _anchored(recording, size)
    low, high = _box(recording, track) if travels else (recording.low, recording.high)
    ways = {} if recording.ghost else recording.paths
    return {
        "name": recording.name,
        "detail": recording.detail,
        "ghost": recording.ghost,
        "track": packed(track) if travels else None,
        "low": _rounded(low),
        "high": _rounded(high),
        "shift": shift,
        "paths": [{"name": name, "points": packed(way)} for name, way in ways.items()],
        "segments": [_segment(segment) for segment in recording.segments],
    }


def _segment(segment: Segment) -> dict[str, Any]:
    frames = {} if segment.frames is None else {"frames": packed(segment.frames)}
    return frames | {
        "name": segment.name,
        "joints": list(segment.joints),
        "t": packed(segment.t[:, None]),
        "points": packed(segment.points.reshape(segment.t.size, -1)),
        "bars": [[b.start, b.end, round(b.thick, 5), round(b.thin, 5), b.style, b.joint] for b in segment.bars],
        "faces": [[list(face.points), face.style] for face in segment.faces],
        "groups": [
            {"label": g.label, "unit": g.unit, "names": list(g.names), "values": packed(g.values)}
            for g in segment.groups
        ],
        "arrows": [
            {"name": a.name, "unit": a.unit, "rows": packed(np.hstack([a.tail, a.vector]))} for a in segment.arrows
        ],
        "polylines": [
            {"name": c.name, "rows": packed(np.column_stack([c.level, c.points.reshape(c.level.size, -1)]))}
            for c in segment.polylines
        ],
    }


def packed(values: np.ndarray) -> dict[str, Any]:
    """Columns of numbers in sixteen bits each, relative to their ranges; constant columns as one number.

    Missing values, NaN or infinite, are the largest number.

    Parameters
    ----------
    values : ndarray, shape (N, columns)

    Returns
    -------
    dict
        "n": N; "low", "step": of every column, step zero for constant ones; "data": base64 of little-endian numbers of
        the varying columns, one after another.
    """
    values = np.asarray(values, dtype=float)
    missing = ~np.isfinite(values)
    empty = missing.all(axis=0)
    low = np.where(empty, 0.0, np.min(np.where(missing, np.inf, values), axis=0, initial=np.inf))
    high = np.where(empty, 0.0, np.max(np.where(missing, -np.inf, values), axis=0, initial=-np.inf))
    varies = (high - low > _STILL) | missing.any(axis=0)
    step = np.where(varies, np.maximum(high - low, _STILL) / _STEPS, 0.0)
    low, step = (np.array([float(f"{number:.7g}") for number in row]) for row in (low, step))
    steps = np.round((values[:, varies] - low[varies]) / step[varies]).clip(0, _STEPS)
    whole = np.where(missing[:, varies], _STEPS + 1, steps).astype("<u2")
    data = base64.b64encode(whole.T.tobytes()).decode("ascii")
    return {"n": len(values), "low": low.tolist(), "step": step.tolist(), "data": data}


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 5) for value in values]


def _moving(segment: Segment) -> list[int]:
    """Points of the mechanism."""
    bars = [bar for bar in segment.bars if bar.style not in ("obstacle", "base", "rail")] or segment.bars
    return sorted({number for bar in bars for number in (bar.start, bar.end)})


def _anchored(recording: Recording, size: float) -> bool:
    """Whether a point of the mechanism is at rest."""
    first = recording.segments[0]
    if any(segment.points.shape[1] != first.points.shape[1] for segment in recording.segments):
        return False
    points = np.concatenate([segment.points for segment in recording.segments])[:, _moving(first)]
    return bool((np.ptp(points, axis=0).max(axis=1) < _SAME * size).any())


def _track(recording: Recording, shift: list[float] | None) -> np.ndarray:
    """Smoothed path of the mechanism on the floor, which a camera follows, shape (N, 3)."""
    t = np.concatenate([segment.t for segment in recording.segments])
    middle = np.concatenate([np.nanmean(s.points[:, _moving(s)], axis=1) for s in recording.segments])
    middle[:, recording.up] = 0.0
    if t.size <= _TREND or np.ptp(t) == 0:
        return middle
    s = (t / t[-1])[:, None]
    if shift is not None:  # the next cycle continues at the end of this one
        return (middle - s * shift).mean(axis=0) + s * shift
    basis = np.vander(s[:, 0], _TREND + 1)
    return basis @ np.linalg.lstsq(basis, middle, rcond=None)[0]


def _box(recording: Recording, track: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the box around the mechanism, relative to the camera's path."""
    lows, highs, first = [], [], 0
    for segment in recording.segments:
        points = _seen(recording, segment) - track[first : first + segment.t.size, None]
        lows.append(np.nanmin(points, axis=(0, 1)))
        highs.append(np.nanmax(points, axis=(0, 1)))
        first += segment.t.size
    return np.min(lows, axis=0), np.max(highs, axis=0)


def _seen(recording: Recording, segment: Segment) -> np.ndarray:
    """Points of the mechanism, of its muscles, and corners of its meshes over time, shape (N, points, 3) [m]."""
    points = [segment.points[:, _moving(segment)], *(line.points for line in segment.polylines)]
    if recording.meshes is not None and segment.frames is not None:
        points.append(recording.meshes.corners(segment.frames))
    return np.concatenate(points, axis=1)


def _size(recording: Recording) -> float:
    """The largest side of the box around the mechanism at one time [m]."""
    sides = [np.ptp(segment.points[:, _moving(segment)], axis=1).max() for segment in recording.segments]
    return max(float(np.max(sides)), 1e-6)


def _lowest(recording: Recording) -> float:
    """The lowest height of the mechanism [m]."""
    heights = []
    for segment in recording.segments:
        if recording.meshes is not None:
            heights.append(np.nanmin(_seen(recording, segment)[..., recording.up]))
        for bar in segment.bars:
            if bar.style != "obstacle":
                for number, radius in ((bar.start, bar.thick), (bar.end, bar.thin)):
                    heights.append(np.nanmin(segment.points[:, number, recording.up]) - radius)
    return float(min(heights, default=0.0))


def _cycle(recording: Recording, size: float) -> list[float] | None:
    """Displacement along the floor of a motion that ends in its initial posture; None for others."""
    first, last = recording.segments[0], recording.segments[-1]
    if first.points.shape[1] != last.points.shape[1] or first.t.size < 2:
        return None
    way = last.points[-1] - first.points[0]
    moving = [k for k in _moving(first) if np.isfinite(way[k]).all()]
    if not moving:
        return None
    shift = way[moving].mean(axis=0)
    shift[recording.up] = 0.0
    same = np.abs(way[moving] - shift).max() < _SAME * size
    return _rounded(shift) if same and np.abs(shift).max() > 0.1 * size else None
