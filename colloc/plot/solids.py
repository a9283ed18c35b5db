"""Geometry of drawn shapes: corners, outlines in a plane, faces in space."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np

_AROUND, _ALONG = 32, 8  # corners around a capsule, and from the rim of a hemisphere to its pole
_FLAT = 1e-7  # of the size of a hull: tolerance of corners on a plane
_MANY = 48  # largest number of corners of a hull that is drawn exactly


class Solid(NamedTuple):
    """A shape over time: the hull of corners, rounded by a radius; NaN while it is absent."""

    corners: np.ndarray  # shape (N, k, 3) [m], in the world frame
    radius: np.ndarray  # shape (N,) [m]

    def at(self, frame: int) -> Solid:
        """The shape at one time, as a solid of one time."""
        return Solid(self.corners[frame : frame + 1], self.radius[frame : frame + 1])

    @property
    def there(self) -> np.ndarray:
        """Mask of the times at which it is present, shape (N,)."""
        return np.isfinite(self.radius) & np.isfinite(self.corners).all(axis=(1, 2))

    @property
    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box around it at every time, each shape (N, 3)."""
        radius = self.radius[:, None]
        return self.corners.min(axis=1) - radius, self.corners.max(axis=1) + radius

    @property
    def faces(self) -> list[np.ndarray]:
        """Numbers of the corners of the faces of the hull, counterclockwise as seen from outside."""
        frame = int(self.there.argmax())
        return hull_faces(self.corners[frame])


def hull_faces(corners: np.ndarray) -> list[np.ndarray]:
    """Faces of the convex hull of points, shape (k, 3): numbers of their corners, counterclockwise from outside.

    Flat hulls have two, points and segments none. Of many points only the outermost are used.
    """
    if len(corners) > _MANY:
        chosen = _sticking_out(corners, _MANY)
        return [chosen[face] for face in hull_faces(corners[chosen])]
    centred = corners - corners.mean(axis=0)
    size = float(np.abs(centred).max(initial=0.0))
    triples = np.array(list(combinations(range(len(corners)), 3)), dtype=int).reshape(-1, 3)
    first, second, third = (centred[column] for column in triples.T)
    normals = np.cross(second - first, third - first)
    length = np.linalg.norm(normals, axis=1)
    proper = length > _FLAT * size**2
    normals, first = normals[proper] / length[proper, None], first[proper]
    heights = normals @ centred.T - (normals * first).sum(axis=1)[:, None]  # of all corners above all planes
    faces: dict[tuple[int, ...], np.ndarray] = {}
    for sign in (1.0, -1.0):
        for k in np.flatnonzero((sign * heights).max(axis=1, initial=0.0) <= _FLAT * size):
            on = np.flatnonzero(np.abs(heights[k]) <= _FLAT * size)
            key = (*on.tolist(), int(sign * np.sign(normals[k][np.abs(normals[k]).argmax()])))
            if key not in faces:
                faces[key] = _around(centred[on], sign * normals[k], on)
    return list(faces.values())


def _around(points: np.ndarray, normal: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Numbers of the corners of a flat hull, ordered around a normal."""
    x = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
    flat = points @ np.column_stack([x / np.linalg.norm(x), np.cross(normal, x / np.linalg.norm(x))])
    return numbers[flat_hull(flat)]


def _sticking_out(corners: np.ndarray, count: int) -> np.ndarray:
    """Numbers of the points that are furthest in evenly distributed directions."""
    k = np.arange(count) + 0.5
    tilt, turn = np.arccos(1 - 2 * k / count), np.pi * (1 + 5**0.5) * k
    ways = np.stack([np.cos(turn) * np.sin(tilt), np.sin(turn) * np.sin(tilt), np.cos(tilt)])
    return np.unique((corners @ ways).argmax(axis=0))


def flat_hull(points: np.ndarray) -> np.ndarray:
    """Numbers of the corners of the convex hull of points in a plane, shape (k, 2), counterclockwise (Andrew 1979)."""
    order = np.lexsort(points.T[::-1])
    slack = 1e-12 * float(np.ptp(points, axis=0).max(initial=0.0)) ** 2

    def half(numbers: np.ndarray) -> list[int]:
        chain: list[int] = []
        for k in numbers:
            while len(chain) > 1:
                a, b = points[chain[-1]] - points[chain[-2]], points[k] - points[chain[-1]]
                if a[0] * b[1] - a[1] * b[0] > slack:
                    break
                chain.pop()
            chain.append(int(k))
        return chain[:-1]

    return np.array(half(order) + half(order[::-1]) or [int(order[0])], dtype=int)


def outline(corners: np.ndarray, radius: float) -> np.ndarray:
    """Outline of the rounded hull of points (k, 2) [m] in a plane, shape (corners, 2)."""
    turn = np.linspace(0, 2 * np.pi, _AROUND, endpoint=False)
    circle = radius * np.column_stack([np.cos(turn), np.sin(turn)])
    points = (corners[:, None] + circle).reshape(-1, 2)
    return points[flat_hull(points)]


def surface(solid: Solid) -> list[np.ndarray]:
    """Polygons, each shape (corners, 3), around a solid of one time; rounded edges of hulls are left out."""
    corners, radius = solid.corners[0], float(solid.radius[0])
    if len(corners) <= 2:
        return list(capsule_surface(corners[0], corners[-1], radius))
    return [corners[face] + radius * face_normals(corners[face, None])[0] for face in solid.faces]


def face_normals(polygon: np.ndarray) -> np.ndarray:
    """Unit normals, shape (N, 3), of a polygon over time, shape (corners, N, 3), with counterclockwise corners."""
    following = np.roll(polygon, -1, axis=0)
    normal = np.cross(polygon - polygon[0], following - polygon[0]).sum(axis=0)
    return normal / np.linalg.norm(normal, axis=1, keepdims=True)


def capsule_surface(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Quadrangles around an axis between two ends (3,) [m] in space, shape (faces, 4, 3)."""
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
