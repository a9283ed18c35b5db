"""Page that plays a predicted walk: two strides, force arrows, and a camera that goes round."""

from __future__ import annotations

import json
from html import escape
from pathlib import Path
from string import Template

import numpy as np

from colloc.studies.walking.picture.body import LIMBS, NAMES, Arrow, strides
from colloc.studies.walking.report.report import Report
from colloc.support.files import write_atomically

TEMPLATE = Path(__file__).parent / "player.html"
FRAMES = 50  # pictures of a step
STRIDES = 2


def write_animation(report: Report, path: str | Path) -> None:
    """Write a page that holds everything it needs and draws on a canvas.

    Parameters
    ----------
    report : Report
    path : str or Path
        A .html file; replaced if it exists.
    """
    step, solution = report.step, report.solution
    film = strides(step, solution, STRIDES, FRAMES)
    points = np.stack([film.points[name] for name in NAMES], axis=1)
    scene = {
        "limbs": [
            [NAMES.index(limb.start), NAMES.index(limb.end), limb.thick, limb.thin, limb.color] for limb in LIMBS
        ],
        "points": _short(points.reshape(points.shape[0], -1), 4),
        "arrows": [_arrow(film.right), _arrow(film.left)],
        "pelvis": NAMES.index("pelvis"),
        "thickness": film.thickness,
        "length": step.length,
        "side": step.side,
        "sole": step.sole,
        "steps": 2 * STRIDES,
        "duration": solution.duration,
    }
    subtitle = f"{step.speed:g} m/s, steps of {step.length:.3g} m in {solution.duration:.3g} s"
    page = Template(TEMPLATE.read_text(encoding="utf-8")).substitute(
        title=escape(f"{report.step.human.model.name}, predicted walking"),
        subtitle=escape(subtitle),
        scene=json.dumps(scene, separators=(",", ":")),
    )
    write_atomically(Path(path), page.encode())


def _short(values: np.ndarray, digits: int) -> list:
    """Numbers of few digits, None in place of NaN."""
    rounded = np.round(values, digits).astype(object)
    rounded[np.isnan(values)] = None
    return rounded.tolist()


def _arrow(arrow: Arrow) -> list:
    return _short(np.hstack([arrow.place[:, [0, 2]], arrow.force]), 4)
