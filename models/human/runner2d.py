"""A planar runner of nine links, two of them arms, with the sagittal numbers of the 55-DOF human."""

from __future__ import annotations

from math import pi
from pathlib import Path

from colloc.models.human.anatomy import TABLE, anatomy
from colloc.models.human.human import Human
from colloc.models.human.planar import ONE_BY_ONE, planar


def runner2d(
    stature: float | None = None,
    mass: float | None = None,
    sex: str = "male",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    segments: str | Path = TABLE,
    elbows: float | None = pi / 2,
) -> Human:
    """Trunk, two thighs, two shanks, two feet and two bent arms in the sagittal plane; 11 DOF.

    The plane is x = 0 with y up and z forward, see `colloc.models.human.planar`. Pelvis and trunk have no ranges;
    torque limits are isometric and independent of speed. Other parameters and errors as in `human55`.

    Parameters
    ----------
    elbows : float, optional [rad]
        Angle at which the elbows are held; None lets them move, for 13 DOF and eleven links.

    Returns
    -------
    Human
        Bodies "pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt" and, with "_r" and "_l", "hip_flexion",
        "knee_flexion", "ankle_dorsiflexion", "shoulder_flexion", "elbow_flexion". Its model has the markers "heel",
        "ball" and "toe" of either side, and "head_top".
    """
    body = anatomy(stature, mass, sex, segments)
    runner = planar(body, sex, ONE_BY_ONE, arms=True, held=False, gravity=gravity, name="planar runner")
    return runner if elbows is None else runner.frozen({f"elbow_flexion_{side}": elbows for side in "rl"})
