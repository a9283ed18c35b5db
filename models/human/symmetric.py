"""A human whose left side moves as the mirror image of the right: one leg and one arm represent both.

The trunk moves in the sagittal plane, though limbs may leave it. The motion is that of the trunk with one leg and one
arm of twice the mass, inertia and strength: loads of both sides on the trunk across the plane cancel.
"""

from __future__ import annotations

from dataclasses import replace

import colloc as co
from colloc.models.human.human import Human, Point

IN_PLANE = (
    "hip_adduction",
    "hip_rotation",
    "ankle_inversion",
)  # held, so that the trunk is in the plane if the foot is


def symmetric(human: Human) -> Human:
    """The human with both sides as one, whose legs move in sagittal planes.

        jumper = symmetric(human55())
        jumper.feet["both"]

    Joints that would move trunk or head to a side or turn them, and the leg's joints of `IN_PLANE`, are held at zero.

    Parameters
    ----------
    human : Human
        From `human55`.

    Returns
    -------
    Human
        Names go without side; masses and torque limits of leg and arm are those of both sides; ground forces are those
        on both feet. The model has the markers "heel", "ball", "toe" and "head_top".
    """
    bodies = [_both(body) for body in human.model.bodies if not body.name.endswith("_l")]
    landmarks = {
        name.removesuffix("_r"): Point(point.body.removesuffix("_r"), point.at)
        for name, point in human.landmarks.items()
        if not name.endswith("_l")
    }
    markers = {mark: tuple(landmarks[mark]) for mark in ("heel", "ball", "toe", "head_top")}
    centred = replace(
        human,
        model=replace(human.model, bodies=bodies, name=f"{human.model.name}, both sides as one", markers=markers),
        landmarks=landmarks,
        parts={part: body[:-2] if body[-2:] in ("_r", "_l") else body for part, body in human.parts.items()},
        signs={name.removesuffix("_r"): sign for name, sign in human.signs.items() if not name.endswith("_l")},
    )
    across = [name for name in centred.model.joint_names if human.signs.get(name) == -1.0]
    return centred.frozen(
        dict.fromkeys([*across, *(name for name in IN_PLANE if name in centred.model.joint_names)], 0.0)
    )


def _both(body: co.Body) -> co.Body:
    """A body of the trunk unchanged, or one of the right side with mass and inertia of both."""
    parent = (body.parent or "").removesuffix("_r") or None
    if not body.name.endswith("_r"):
        return replace(body, parent=parent)
    lower, upper = body.joint.limits.torque
    joint = replace(body.joint, limits=replace(body.joint.limits, torque=(2 * lower, 2 * upper)))
    mass, inertia = 2 * body.mass, 2 * body.inertia
    return replace(body, name=body.name.removesuffix("_r"), parent=parent, joint=joint, mass=mass, inertia=inertia)
