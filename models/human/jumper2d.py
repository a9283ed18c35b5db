"""A planar human who jumps with both legs and arms alike, with the sagittal numbers of the 55-DOF human."""

from __future__ import annotations

from pathlib import Path

from colloc.models.human.anatomy import TABLE, anatomy
from colloc.models.human.human import Human
from colloc.models.human.planar import BOTH_AS_ONE, planar


def jumper2d(
    stature: float | None = None,
    mass: float | None = None,
    sex: str = "male",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    segments: str | Path = TABLE,
) -> Human:
    """Trunk, thighs, shanks, feet, upper arms and forearms in the sagittal plane; both sides are one; 8 DOF.

    The plane is x = 0 with y up and z forward, see `colloc.models.human.planar`. Pelvis and trunk have no ranges.
    Torque limits are those of both sides together, isometric and independent of speed, so that jumps are higher than
    people's. Parameters and errors as in `human55`.

    Returns
    -------
    Human
        Bodies "pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt", "hip_flexion", "knee_flexion",
        "ankle_dorsiflexion", "shoulder_flexion", "elbow_flexion". Landmarks go without side, the feet are
        `feet["both"]`, and the model has the markers "heel", "ball", "toe" and "head_top".
    """
    body = anatomy(stature, mass, sex, segments)
    return planar(body, sex, BOTH_AS_ONE, arms=True, held=False, gravity=gravity, name="planar jumper")
