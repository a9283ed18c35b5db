"""The stick figure of a mechanism: where its joints and link origins are in the world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from colloc.interrupts import heeded
from colloc.lazy import cached_property
from colloc.model import Model
from colloc.model.joint import sparse
from colloc.model.kinematics import frames
from colloc.solution import SequenceSolution, Solution

_FLAT = 1e-9  # m; closer than this is the same place


@dataclass(frozen=True, eq=False)
class Skeleton:
    """The stick figure at N times; all places in the world frame, ndarray, shape (N, n_bodies, 3) [m].

    A link runs from its parent's origin to its joint's root, along the axis if the joint slides on it, on to its own
    origin. With standard DH that is the far end of the link. Where the origin is at the joint instead, and no child
    sits elsewhere on the link, nothing is known of its far end: its centre of mass stands for it.

    Parameters
    ----------
    model : Model
    t : ndarray, shape (N,) [s]
    start : ndarray
        Origin of the parent; the root for a body on the world.
    root : ndarray
        Where the joint sits: its axis starts here.
    slid : ndarray
        End of the slide, or of the advance of a helix; the root for a joint that does not slide.
    origin : ndarray
        Origin of the link frame.
    end : ndarray
        Origin, or centre of mass as told above.
    markers : ndarray, shape (N, n_markers, 3)
        Where the model's markers are.
    ties : tuple of (int, int, bool), optional
        Of every loop that closes the mechanism: the bodies whose origins it ties together, and whether it lets one
        slide along the other.
    """

    model: Model
    t: np.ndarray
    start: np.ndarray
    root: np.ndarray
    slid: np.ndarray
    origin: np.ndarray
    end: np.ndarray
    markers: np.ndarray
    ties: tuple[tuple[int, int, bool], ...] = ()

    @cached_property
    def floats(self) -> list[int]:
        """Massless bodies by which a floating base slides through the world: coordinates, nothing to be drawn."""
        massless: list[bool] = []
        for body, parent in zip(self.model.bodies, self.model.parents, strict=True):
            massless.append(body.mass.is_zero() and (parent < 0 or massless[parent]))
        joints = [body.joint for body in self.model.bodies]
        return [k for k, joint in enumerate(joints) if joint.slides and not joint.turns and massless[k]]

    @cached_property
    def slides(self) -> list[int]:
        """Bodies with a joint that slides and is part of the mechanism."""
        slides = [k for k, body in enumerate(self.model.bodies) if body.joint.slides]
        return [k for k in slides if k not in self.floats]

    @cached_property
    def hinges(self) -> list[int]:
        """Bodies with a joint that turns."""
        return [k for k, body in enumerate(self.model.bodies) if body.joint.turns]

    @cached_property
    def tips(self) -> list[int]:
        """Bodies without children, and without a loop that ends there."""
        taken = {*self.model.parents, *(k for first, second, _ in self.ties for k in (first, second))}
        return [k for k in range(len(self.model.bodies)) if k not in taken]

    @cached_property
    def bases(self) -> np.ndarray:
        """Where the mechanism is attached to the world, shape (attachments, 3) [m]; empty for a floating base."""
        return self.root[0, [k for k, p in enumerate(self.model.parents) if p < 0 and k not in self.floats]]

    def links(self, frame: int) -> np.ndarray:
        """All links at one time, as one line with gaps, shape (points, 3) [m]."""
        gap = np.full_like(self.root[frame], np.nan)
        parts = [self.start, self.root, None, self.slid, self.origin, self.end, None]
        lines = np.stack([gap if part is None else part[frame] for part in parts], axis=1)
        return np.delete(lines, self.floats, axis=0).reshape(-1, 3)

    def rails(self, frame: int) -> np.ndarray:
        """All slides at one time, as one line with gaps, shape (points, 3) [m]."""
        first, second = ([tie[side] for tie in self.ties] for side in (0, 1))
        near = np.concatenate([self.root[frame, self.slides], self.origin[frame, first]])
        far = np.concatenate([self.slid[frame, self.slides], self.origin[frame, second]])
        return np.stack([near, far, np.full_like(near, np.nan)], axis=1).reshape(-1, 3)

    def carriages(self, frame: int) -> np.ndarray:
        """Ends of all slides at one time, shape (slides, 3) [m]."""
        tied = [second for _, second, slides in self.ties if slides]
        return np.concatenate([self.slid[frame, self.slides], self.origin[frame, tied]])

    def pins(self, frame: int) -> np.ndarray:
        """All hinges at one time, shape (hinges, 3) [m]."""
        tied = [second for _, second, slides in self.ties if not slides]
        return np.concatenate([self.root[frame, self.hinges], self.origin[frame, tied]])

    @cached_property
    def extent(self) -> tuple[np.ndarray, np.ndarray]:
        """Corners of the box that holds everything drawn, each shape (3,) [m]."""
        drawn = [k for k in range(len(self.model.bodies)) if k not in self.floats]
        places = [self.start, self.root, self.slid, self.origin, self.end]
        every = np.concatenate([*(place[:, drawn].reshape(-1, 3) for place in places), self.markers.reshape(-1, 3)])
        return every.min(axis=0), every.max(axis=0)

    @cached_property
    def plane(self) -> tuple[int, int] | None:
        """World axes (right, up) of the coordinate plane the mechanism moves in; None in space."""
        low, high = self.extent
        flat = [axis for axis in (2, 1, 0) if high[axis] - low[axis] < _FLAT]
        if not flat:
            return None
        # A motion along a line lies in two planes: take the one that shows the vertical.
        normal = next((axis for axis in flat if axis != self.vertical), flat[0])
        right, up = (axis for axis in range(3) if axis != normal)
        return (up, right) if right == self.vertical else (right, up)

    @property
    def vertical(self) -> int:
        """The world axis closest to gravity; z without gravity."""
        gravity = np.abs(self.model.gravity)
        return int(gravity.argmax()) if gravity.any() else 2


Pose = Callable[[np.ndarray], Skeleton]  # of times, shape (N,) [s]


@heeded
def skeleton(solution: Solution | SequenceSolution, t: np.ndarray) -> Skeleton:
    """The stick figure of a solution at times t, shape (N,) [s]."""
    values = solution.evaluate(lambda now: places(now.model, now.q), t)
    return assembled(solution.problem.model, t, values.T)


def assembled(
    model: Model, t: np.ndarray, values: np.ndarray, ties: tuple[tuple[int, int, bool], ...] = ()
) -> Skeleton:
    """The stick figure of the values of `places` at N times, shape (15 n_bodies + 3 n_markers, N)."""
    bodies = len(model.bodies)
    of_bodies, markers = values.T[:, : 15 * bodies], values.T[:, 15 * bodies :].reshape(t.size, -1, 3)
    start, root, slid, origin, com = of_bodies.reshape(t.size, 5, bodies, 3).transpose(1, 0, 2, 3)
    # Measured rather than read off the joints, whose lengths may be unknowns of the problem.
    point_like = (np.abs(origin - root).max(axis=(0, 2)) < _FLAT).tolist()
    for body, parent in enumerate(model.parents):
        if parent >= 0 and np.abs(root[:, body] - origin[:, parent]).max() >= _FLAT:
            point_like[parent] = False
    end = np.where(np.array(point_like)[:, None], com, origin)
    return Skeleton(model, t, start, root, slid, origin, end, markers, ties)


@heeded
def places(model: Model, q: ca.SX) -> ca.SX:
    """Starts, roots, ends of slides, origins and centres of mass of all bodies, and the markers [m].

    SX, shape (15 n_bodies + 3 n_markers,).
    """
    zero = ca.SX(model.n, 1)
    transforms = frames(model, q, zero, zero).position
    columns = []
    for body, parent, own in zip(model.bodies, model.parents, transforms, strict=True):
        above = ca.SX.eye(4) if parent < 0 else transforms[parent]
        placed = above @ body.joint.before
        root, origin = placed[:3, 3], own[:3, 3]
        slid = root
        if body.joint.slides:
            axis = placed[:3, :3] @ sparse(body.joint.axis)
            slid = root + axis * ca.dot(axis, origin - root)
        columns.append([root if parent < 0 else above[:3, 3], root, slid, origin, origin + own[:3, :3] @ body.com])
    of_bodies = (place for places in zip(*columns, strict=True) for place in places)
    markers = (transforms[model.index(body)] @ ca.vertcat(point, 1) for body, point in model.markers.values())
    return ca.densify(ca.vertcat(*of_bodies, *(marker[:3] for marker in markers)))
