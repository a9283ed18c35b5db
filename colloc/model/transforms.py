"""Homogeneous transforms (4x4) of symbols and numbers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from colloc.support.checks import InputError, angles, quoted, spelt, symbolic, vector

_LAST_ROW = ca.SX(np.array([[0.0, 0.0, 0.0, 1.0]]))


@spelt
def placement(translation: Any = (0, 0, 0), rpy: Any = (0, 0, 0)) -> ca.SX:
    """Homogeneous transform from a translation and roll, pitch, yaw about fixed axes (as in URDF).

    Parameters
    ----------
    translation : shape (3,) [m]
    rpy : shape (3,) [rad]
        The rotation is Rz(yaw) Ry(pitch) Rx(roll).

    Returns
    -------
    SX, shape (4, 4)

    Examples
    --------
    >>> ca.evalf(co.placement((0.1, 0.0, 0.0), rpy=(0.0, 0.0, np.pi / 2))).full().round(3)
    array([[ 0. , -1. ,  0. ,  0.1],
           [ 1. ,  0. ,  0. ,  0. ],
           [ 0. ,  0. ,  1. ,  0. ],
           [ 0. ,  0. ,  0. ,  1. ]])
    """
    turns = symbolic("rpy", rpy, (3, 1))
    angles("rpy", turns)
    roll, pitch, yaw = ca.vertsplit(turns)
    rotation = rotation_about(2, yaw) @ rotation_about(1, pitch) @ rotation_about(0, roll)
    return homogeneous(rotation, symbolic("translation", translation, (3, 1)))


def homogeneous(rotation: ca.SX, translation: ca.SX) -> ca.SX:
    """4x4 transform from a 3x3 rotation and a translation."""
    return ca.vertcat(ca.horzcat(rotation, translation), _LAST_ROW)


def inverse(transform: ca.SX) -> ca.SX:
    """Inverse of a rigid homogeneous transform."""
    rotation_t = transform[:3, :3].T
    return homogeneous(rotation_t, -rotation_t @ transform[:3, 3])


def axis_rotation(axis: np.ndarray, cosine: ca.SX, sine: ca.SX) -> ca.SX:
    """Rotation about a constant unit axis (Rodrigues)."""
    along, across, turning = _about(*axis.tolist())
    return along + cosine * across + sine * turning


@lru_cache(maxsize=256)
def _about(*axis: float) -> tuple[ca.SX, ca.SX, ca.SX]:
    """The matrices of Rodrigues' formula for an axis: along it, across it, and the cross product with it."""
    x, y, z = axis
    along = ca.SX(np.outer(axis, axis))
    return along, ca.SX.eye(3) - along, ca.SX(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))


def rotation_about(axis: int, angle: ca.SX) -> ca.SX:
    """Rotation about x, y or z (axis 0, 1 or 2) by an angle [rad]."""
    return axis_rotation(np.eye(3)[axis], *_cos_sin(angle))


def rigid(name: str, transform: Any) -> ca.SX:
    """A homogeneous transform of numbers or symbols; InputError for numbers that are not rigid."""
    matrix = symbolic(name, transform, (4, 4))
    if matrix.is_constant():
        numbers = ca.evalf(matrix).full()
        rotation = numbers[:3, :3]
        skewed = np.abs(rotation @ rotation.T - np.eye(3)) > 1e-9 + 1e-5 * np.eye(3)
        orthogonal = not skewed.any() and np.linalg.det(rotation) > 0
        if not orthogonal or not np.array_equal(numbers[3], [0, 0, 0, 1]):
            raise InputError(f"{name} must be a rigid homogeneous transform, got {quoted(numbers.tolist())}")
    return matrix


def unit_vector(name: str, direction: Any) -> np.ndarray:
    """A direction, normalised, shape (3,); InputError where it has none."""
    components = vector(name, direction, 3)
    longest = float(np.abs(components).max())  # whose square may be too large, or too small, for a float
    if longest < 1e-12:
        raise InputError(f"{name} must be a non-zero vector of shape (3,), got {quoted(direction)}")
    components = components / longest
    return components / np.linalg.norm(components)


def across(axis: np.ndarray) -> np.ndarray:
    """Two unit vectors that make a right-handed triad with an axis, shape (2, 3); unit axes where they can be."""
    least = np.eye(3)[np.argmin(np.abs(axis))]
    second = np.cross(axis, least)
    second /= np.linalg.norm(second)
    return np.array([np.cross(second, axis), second]) + 0.0  # no -0


def _cos_sin(angle: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Cosine and sine, exactly 0 and ±1 at multiples of pi/2 so that structural zeros stay zeros."""
    cosine, sine = ca.cos(angle), ca.sin(angle)
    if not angle.is_constant():
        return cosine, sine

    def snap(x: float) -> ca.SX:
        return ca.SX(round(x) if abs(x - round(x)) < 1e-15 else x)

    return snap(float(cosine)), snap(float(sine))
