"""Curves of a stride, their extremes, and their distance from measured walking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from colloc.studies.walking.report.norms import bands

ANGLES = {"hip": "hip_flexion", "knee": "knee_flexion", "ankle": "ankle_dorsiflexion"}
DIRECTIONS = {"lateral": 0, "vertical": 1, "fore_aft": 2}  # lateral: to the left, which is medial for the right foot
COMPARED = ("hip", "knee", "ankle", "vertical", "fore_aft")


class Event(NamedTuple):
    """An extreme of a curve within a part of the stride [%]."""

    largest: bool
    start: float
    end: float


class Peak(NamedTuple):
    """An extreme value and its time [% of the stride]."""

    value: float
    percent: float


class Distance(NamedTuple):
    """Distance of a curve from a measured one, all along.

    Parameters
    ----------
    beyond : float [%]
        Part of the time, of the stride for angles and of stance for forces, that it is two standard deviations away.
    worst : float
        Largest distance in standard deviations, with its sign.
    percent : float
        Where that is [% of the stride].
    """

    beyond: float
    worst: float
    percent: float


# Event names are those of studies/walking/report/data/events.csv. The valley is sought between the two peaks.
EVENTS: Mapping[str, Event] = {
    "vertical.peak_1": Event(True, 0, 25),
    "vertical.peak_2": Event(True, 35, 62),
    "fore_aft.braking": Event(False, 0, 30),
    "fore_aft.propulsion": Event(True, 30, 62),
    "lateral.medial": Event(True, 5, 60),
    "hip.strike": Event(True, 0, 0),
    "hip.extension": Event(False, 30, 75),
    "hip.flexion": Event(True, 65, 100),
    "knee.strike": Event(True, 0, 0),
    "knee.loading": Event(True, 5, 25),
    "knee.stance": Event(False, 25, 50),
    "knee.swing": Event(True, 55, 95),
    "ankle.loading": Event(False, 0, 15),
    "ankle.stance": Event(True, 20, 58),
    "ankle.push_off": Event(False, 50, 75),
    "ankle_moment.push_off": Event(True, 30, 62),
    "ankle_power.push_off": Event(True, 35, 65),
}


class Stride(NamedTuple):
    """Curves of the right side over a stride.

    Parameters
    ----------
    percent : ndarray, shape (N,)
        Times [% of the stride].
    curves : mapping of str to ndarray, shape (N,)
        As in `Report.curves`; those of `COMPARED` at least.
    """

    percent: np.ndarray
    curves: Mapping[str, np.ndarray]

    @property
    def peaks(self) -> dict[str, Peak]:
        """Extremes of the curves by name of the event."""
        found = {
            name: _peak(self.percent, self.curves[curve], event)
            for name, event in EVENTS.items()
            if (curve := name.split(".")[0]) in self.curves
        }
        between = (found[f"vertical.peak_{k}"].percent for k in (1, 2))
        return found | {"vertical.valley": _peak(self.percent, self.curves["vertical"], Event(False, *between))}

    @property
    def rms(self) -> dict[str, float]:
        """Distance of the curves from Winter's means [deg, body weight]."""
        return {name: bands()[name].rms(self.percent, self.curves[name]) for name in COMPARED}

    @property
    def distances(self) -> dict[str, Distance]:
        """Distance of the curves from Winter's in his standard deviations; of forces while the foot stands."""
        found = {}
        for name in COMPARED:
            counts = np.abs(self.curves["vertical"]) > 1e-6 if name in DIRECTIONS else np.full(self.percent.shape, True)
            off = bands()[name].off(self.percent, self.curves[name])[counts]
            worst = int(np.abs(off).argmax())
            beyond = 100 * float((np.abs(off) > 2).mean())
            found[name] = Distance(beyond, float(off[worst]), float(self.percent[counts][worst]))
        return found

    @property
    def distance_numbers(self) -> dict[str, float]:
        """These under flat names."""
        found = {f"beyond_2_sd.{name}": one.beyond for name, one in self.distances.items()}
        found |= {f"worst_sd.{name}": one.worst for name, one in self.distances.items()}
        return found | {f"worst_sd.{name}.percent": one.percent for name, one in self.distances.items()}


def _peak(percent: np.ndarray, values: np.ndarray, event: Event) -> Peak:
    inside = np.flatnonzero((percent >= event.start - 1e-9) & (percent <= event.end + 1e-9))
    best = inside[(values if event.largest else -values)[inside].argmax()]
    return Peak(float(values[best]), float(percent[best]))
