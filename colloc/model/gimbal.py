"""Gimbal lock: singular postures of three angles.

Three hinges whose axes meet in one point, with massless links between them, are coordinates of a ball joint. Where the
second turns the axis of the third into that of the first, one degree of freedom is lost: the mass matrix is singular
and rates and torques grow without bound.
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.model.joint import Joint
from colloc.model.tree import Model

_COINCIDENT = 1e-12  # m; closer than this is the same point


class SingularPosture(NamedTuple):
    """A time near gimbal lock."""

    joints: tuple[str, str, str]  # the sequence, from base to tip
    t: float  # [s] when it is nearest to the lock
    angle: float  # [rad] between the axes of the first and the third joint then; zero in the lock
    body: str  # which they turn


def singular_postures(model: Model, t: np.ndarray, q: np.ndarray, within: float) -> list[SingularPosture]:
    """Every sequence of three angles that comes near its gimbal lock in a motion q (N, n) at t (N,) [s].

    A sequence is any three hinges that meet in a point, on massless links without other bodies and without symbols
    between the axes. Near means that the angle between the axes of the first and the third is below `within` [rad].
    """
    singular = []
    for triple in angle_sequences(model):
        first, second, third = (model.bodies[k].joint for k in triple)
        # Axes of the first and the third joint in the frame of the second, before it turns.
        upper, lower = _between(first, second)[:3, :3].T @ first.axis, _between(second, third)[:3, :3] @ third.axis
        turned = _turned(second.axis, lower, q[:, model.moving.index(triple[1])])
        angles = np.arctan2(np.linalg.norm(np.cross(turned, upper), axis=1), np.abs(turned @ upper))
        k = int(angles.argmin())
        if angles[k] <= within:
            one, two, three = (model.bodies[body].joint_name for body in triple)
            body = model.bodies[triple[2]].name
            singular.append(SingularPosture((one, two, three), float(t[k]), float(angles[k]), body))
    return singular


def angle_sequences(model: Model) -> list[tuple[int, int, int]]:
    """Bodies whose joints are three hinges in one point, with the first two links massless and nothing else on them.

    Joints that follow others are left out.
    """
    children = np.bincount([parent for parent in model.parents if parent >= 0], minlength=len(model.bodies))
    triples = []
    for third, second in enumerate(model.parents):
        first = model.parents[second] if second >= 0 else -1
        if first < 0 or not all(k in model.moving and model.bodies[k].joint.hinge for k in (first, second, third)):
            continue
        bare = all(model.bodies[k].mass.is_zero() and children[k] == 1 for k in (first, second))
        if bare and _meet(model, first, second) and _meet(model, second, third):
            triples.append((first, second, third))
    return triples


def _meet(model: Model, parent: int, child: int) -> bool:
    """Whether the joint frames of two links, one on the other, have one origin, in numbers."""
    place = model.bodies[parent].joint.after @ model.bodies[child].joint.before
    return place.is_constant() and bool(np.abs(np.array(ca.DM(place[:3, 3]))).max() < _COINCIDENT)


def _between(parent: Joint, child: Joint) -> np.ndarray:
    """Transform from the frame of a joint to that of the joint above it, once that has moved, shape (4, 4)."""
    return np.array(ca.DM(parent.after @ child.before))


def _turned(axis: np.ndarray, vector: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """A vector turned about a unit axis by N angles, shape (N, 3) (Rodrigues)."""
    along = axis * (axis @ vector)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    return along + cosine * (vector - along) + sine * np.cross(axis, vector)
