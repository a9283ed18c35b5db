"""Warnings of recordings whose numbers contradict the units in their heads, and of hidden markers at the origin."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping

import numpy as np

from colloc.model import Model
from colloc.support.checks import shortened, warn
from colloc.support.display import short

_SIZES = (0.2, 20.0)  # m, of the space in which a person moves
_ROWS = 100  # from which on a table with steps of a second or more is not taken for one of few samples
_SMALL = 3.2  # an angle in radians


def without_zeros(path: str | os.PathLike[str], places: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Markers, each shape (N, 3), with NaN where all three coordinates are zero, and a warning that names them."""
    hidden = {name: (values == 0).all(axis=1) for name, values in places.items()}
    counts = [f"{name} ({int(here.sum())} of {here.size})" for name, here in hidden.items() if here.any()]
    if counts:
        warn(
            f"{str(path)!r}: samples of markers at exactly 0 0 0, as many programs write hidden ones, are read as "
            f"missing: {shortened(counts)}"
        )
    return {name: np.where(hidden[name][:, None], np.nan, values) for name, values in places.items()}


def check_extent(path: str | os.PathLike[str], places: np.ndarray, unit: str) -> None:
    """Warn of markers [m], shape (N, k, 3), that fill a space of people if their unit is 1000 times off."""
    seen = places[np.isfinite(places).all(axis=2)]
    if places.shape[1] < 3 or not seen.size:
        return
    size = float(np.ptp(seen, axis=0).max())
    for other, factor in (("m", 1e3), ("mm", 1e-3)):
        if other != unit and _SIZES[0] <= factor * size <= _SIZES[1]:
            warn(f"{str(path)!r}: Units are {unit}, and all markers are within {short(size)} m: are they in {other}?")


def check_step(path: str | os.PathLike[str], t: np.ndarray, rate: str = "") -> None:
    """Warn of times that are milliseconds by the rate in the head, or by steps of many samples of a second or more."""
    if t.size < 2:
        return
    step = float(np.median(np.diff(t)))
    try:
        hertz = float(rate)
    except ValueError:
        hertz = 0.0
    if hertz > 0 and step * hertz > 100:
        warn(f"{str(path)!r}: DataRate is {hertz:g} Hz, and samples are {step:g} s apart: are times in milliseconds?")
    elif not hertz and t.size >= _ROWS and step >= 1:
        warn(f"{str(path)!r}: {t.size} samples are {step:g} s apart: are times in milliseconds?")


def check_angles(
    path: str | os.PathLike[str], columns: Mapping[str, tuple[str, np.ndarray]], degrees: bool, model: Model
) -> None:
    """Warn of angles far beyond the limits of their joints, and of many angles in degrees that are all small.

    Columns are by name: the coordinate, and the numbers of the file.
    """
    limits = dict(zip(model.position_names, zip(*model.limits("position"), strict=True), strict=True))
    largest = {name: float(np.nanmax(np.abs(values), initial=0.0)) for name, (_, values) in columns.items()}
    if degrees:
        if len(largest) >= 3 and 0.5 < max(largest.values()) <= _SMALL:
            warn(
                f"{str(path)!r}: inDegrees is yes, and none of {len(largest)} angles exceeds "
                f"{max(largest.values()):.3g} degrees: if they are in radians, write inDegrees=no in the head"
            )
        return
    beyond = []
    for name, (coordinate, _) in columns.items():
        end = max(map(abs, limits[coordinate]))
        if math.isfinite(end) and largest[name] > max(3 * end, _SMALL):
            low, high = map(float, limits[coordinate])
            beyond.append(f"{name} reaches {largest[name]:.4g} rad, with limits of {short(low)} to {short(high)} rad")
    if beyond:
        warn(
            f"{str(path)!r}: inDegrees is no, or missing, and {len(beyond)} angles are far beyond their limits: "
            f"{beyond[0]}. If they are in degrees, write inDegrees=yes in the head"
        )
