"""Page on which a predicted walk is viewed: a stride that goes on, with the forces of the ground."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from colloc.plot.bars import RoundBar
from colloc.plot.recording import CurveGroup, ForceArrow, Recording, Segment
from colloc.plot.viewer import viewer
from colloc.studies.walking.picture.body import LIMBS, NAMES, Arrow, strides
from colloc.studies.walking.report.report import Report

FRAMES = 80  # pictures of a step
SLOW = 2.0
ANGLES = ("hip", "knee", "ankle")


def write_animation(report: Report, path: str | Path) -> None:
    """Write a page that holds everything it needs.

    Parameters
    ----------
    report : Report
    path : str or Path
        A .html file; replaced if it exists.
    """
    step, solution = report.step, report.solution
    shown = strides(step, solution, 1, FRAMES)
    onward = np.array([0.0, 0.0, 2 * step.length])  # m, in a stride, after which all is as it was

    def closed(rows: np.ndarray, shift: np.ndarray) -> np.ndarray:
        return np.vstack([rows, rows[:1] + shift])

    def arrow(side: str, pressed: Arrow) -> ForceArrow:
        force = closed(pressed.force, 0 * onward) * step.weight
        return ForceArrow(f"ground, {side} foot", "N", closed(pressed.place, onward), force)

    t = np.append(shown.t, 2 * solution.duration)
    points = np.stack([closed(shown.points[name], onward) for name in NAMES], axis=1)
    bars = tuple(
        RoundBar(NAMES.index(start), NAMES.index(end), shown.thickness * thick, shown.thickness * thin, color)
        for start, end, thick, thin, color in LIMBS
    )
    arrows = arrow("right", shown.right), arrow("left", shown.left)
    upward = np.nan_to_num(np.column_stack([arrow.vector[:, 1] for arrow in arrows]) / step.weight)
    percent = 50 * t / solution.duration
    angles = np.column_stack([np.interp(percent, report.percent, report.curves[name]) for name in ANGLES])
    groups = (
        CurveGroup("upward force", "body weight", ("right foot", "left foot"), upward),
        CurveGroup("angle of the right side", "deg", ANGLES, angles),
    )
    low, high = points.min(axis=(0, 1)), points.max(axis=(0, 1))
    words = f"{step.speed:g} m/s, steps of {step.length:.3g} m in {solution.duration:.3g} s"
    segment = Segment(t, points, bars, groups=groups, arrows=arrows)
    title = f"{step.human.model.name}, predicted walking"
    viewer([Recording(title, (segment,), {}, low, high, 1, detail=words)], title, SLOW).save(path)
