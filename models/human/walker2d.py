"""A planar walker of seven links with the sagittal numbers of the 55-DOF human."""

from __future__ import annotations

from pathlib import Path

from colloc.models.human.anatomy import TABLE, anatomy
from colloc.models.human.human import Human
from colloc.models.human.planar import ONE_BY_ONE, planar


def walker2d(
    stature: float | None = None,
    mass: float | None = None,
    sex: str = "male",
    gravity: tuple[float, float, float] = (0.0, -9.81, 0.0),
    segments: str | Path = TABLE,
) -> Human:
    """Trunk, two thighs, two shanks and two feet in the sagittal plane; 9 DOF.

    The plane is x = 0 with y up and z forward, see `colloc.models.human.planar`. The trunk has the mass of pelvis,
    spine, neck, head and hanging arms, and leans within the range of the 55-DOF human's `pelvis_tilt`. Parameters and
    errors as in `human55`.

    Returns
    -------
    Human
        Bodies "pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt" and, with "_r" and "_l", "hip_flexion",
        "knee_flexion", "ankle_dorsiflexion".
    """
    body = anatomy(stature, mass, sex, segments)
    return planar(body, sex, ONE_BY_ONE, arms=False, held=True, gravity=gravity, name="planar walker")
