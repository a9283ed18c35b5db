"""An arm of 2 joints and 6 muscles: OpenSim's arm26.

Bodies, joints and muscles are those of "arm26" (J. Reinbolt, A. Seth, A. Habib, S. Hamner; CC BY 3.0), made from the
upper limb of Holzbaur et al. 2005. Lengths of muscles are polynomials here; points and wrapping surfaces of the source
give the directions of their pull.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import colloc as co

DATA = Path(__file__).parent / "data" / "arm26.json"
SHOULDER_AXIS, ELBOW_AXIS = (-0.0589, 0.0023, 0.99826), (0.0494, 0.0366, 0.99811)
HAND = (-0.0011, -0.2356, 0.0943)  # the styloid of the radius, in the frame of the forearm [m]


class Arm26(NamedTuple):
    """A model and its muscles."""

    model: co.Model
    muscles: tuple[co.muscles.Muscle, ...]


@cache
def arm26() -> Arm26:
    """Upper arm, and forearm with the hand, which hang down at zero; 3.4 kg.

    Joints "shoulder" (elevation forward) and "elbow" (flexion) turn about axes that are nearly z; x is forward, y up.
    Muscles are "TRIlong", "TRIlat", "TRImed" (triceps), "BIClong", "BICshort" (biceps) and "BRA" (brachialis); their
    lengths hold for shoulders from -0.6 to 1.7 rad. No muscle crosses the shoulder alone: without deltoid and
    pectoralis the arm is hard to lift.
    """
    shoulder, elbow = co.Limits(position=(-0.6, 1.7)), co.Limits(position=(0.0, 2.269))  # rad
    place, middle = co.placement((-0.01755, -0.007, 0.17)), co.placement((0.0061, -0.2904, -0.0123))
    bodies = [
        co.Body(
            "upper_arm", co.revolute(SHOULDER_AXIS, placement=place, limits=shoulder, name="shoulder"), None,
            1.86457, (0.0, -0.180496, 0.0), np.diag([0.01481, 0.004551, 0.013193]),
        ),
        co.Body(
            "forearm", co.revolute(ELBOW_AXIS, placement=middle, limits=elbow, name="elbow"), "upper_arm",
            1.53432, (0.0, -0.181479, 0.0), np.diag([0.019281, 0.001571, 0.020062]),
        ),
    ]  # fmt: skip
    rows = json.loads(DATA.read_text(encoding="utf-8"))["muscles"]
    return Arm26(
        co.Model(bodies, gravity=(0.0, -9.80665, 0.0), name="arm26"),
        tuple(_muscle(name, **row) for name, row in rows.items()),
    )


def _muscle(name: str, points: list[Any], length: dict[str, Any], **numbers: Any) -> co.muscles.Muscle:
    vectors = {key: np.array(length[key]) for key in ("powers", "coefficients", "middle", "half")}
    errors = {key: length[key] for key in ("length_error", "moment_arm_error")}
    line = co.muscles.MusclePath([_on_path(point) for point in points])
    path = co.muscles.LengthPolynomial(tuple(length["joints"]), **vectors, **errors, line=line)
    return co.muscles.Muscle(name, path, **numbers)


def _on_path(part: Any) -> co.muscles.ViaPoint | co.muscles.Cylinder | co.muscles.Ellipsoid:
    if isinstance(part, list):
        return co.muscles.ViaPoint(*part)
    return co.muscles.Ellipsoid(**part) if "radii" in part else co.muscles.Cylinder(**part)
