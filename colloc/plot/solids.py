"""Capsules as polygons: their outline in a plane, their surface in space."""

from __future__ import annotations

import numpy as np

_AROUND, _ALONG = 32, 8  # corners around a capsule, and from the rim of a hemisphere to its pole


def capsule_outline(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Two half circles around the ends of an axis in the plane, shape (corners, 2).

    Parameters
    ----------
    start, end : ndarray, shape (2,) [m]
    radius : float [m]
    """
    way = end - start
    turn = np.arctan2(way[1], way[0]) + np.linspace(-np.pi / 2, np.pi / 2, _AROUND // 2 + 1)
    half = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.concatenate([end + half, start - half])


def capsule_surface(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Quadrangles around an axis in space, shape (faces, 4, 3).

    Parameters
    ----------
    start, end : ndarray, shape (3,) [m]
    radius : float [m]
    """
    way = end - start
    length = np.linalg.norm(way)
    along = way / length if length > 0 else np.array([0.0, 0.0, 1.0])
    first = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    first /= np.linalg.norm(first)
    around = np.linspace(0, 2 * np.pi, _AROUND + 1)[:, None]
    ring = np.cos(around) * first + np.sin(around) * np.cross(along, first)
    tilt = np.linspace(0, np.pi / 2, _ALONG + 1)
    rings = [start - radius * np.sin(angle) * along + radius * np.cos(angle) * ring for angle in tilt[::-1]]
    rings += [end + radius * np.sin(angle) * along + radius * np.cos(angle) * ring for angle in tilt]
    grid = np.array(rings)
    corners = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(corners, axis=2).reshape(-1, 4, 3)
