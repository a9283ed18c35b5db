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

    The plane is x = 0 with y up and z forward, see `colloc.models.human.planar`. Nothing keeps pelvis and trunk in a
    range. Torque limits are those of both sides together, isometric ones that the speed of a muscle does not reduce, so
    that jumps come out higher than people's.

    Parameters
    ----------
    stature, mass, sex
        As in `human55`.
    gravity : shape (3,) [m/s2]
    segments : str or Path
        Table of segments to use in place of de Leva's (1996), a file as `colloc.models.human.segments` describes it.

    Returns
    -------
    Human
        Bodies "pelvis_tz_forward", "pelvis_ty_vertical", "trunk_tilt", "hip_flexion", "knee_flexion",
        "ankle_dorsiflexion", "shoulder_flexion", "elbow_flexion". Landmarks go without side, the feet are
        `feet["both"]`, and the model has the markers "heel", "ball", "toe" and "head_top".

    Raises
    ------
    InputError
        For a stature or a mass that is not positive, an unknown sex, or an impossible table; names the row.
    """
    body = anatomy(stature, mass, sex, segments)
    return planar(body, sex, BOTH_AS_ONE, arms=True, held=False, gravity=gravity, name="planar jumper")
