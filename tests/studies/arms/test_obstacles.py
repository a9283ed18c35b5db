"""Arms among obstacles are clear of them by coal and plain Denavit-Hartenberg products, at 20,001 times."""

from math import pi
from typing import Any

import casadi as ca
import coal
import numpy as np
import pytest

import colloc as co
from colloc.studies.arms import bin_pick, round_a_box
from colloc.studies.arms.obstacles import CLEAR, TIMES, distances

fcl: Any = coal  # has no type stubs
DH = (  # d, a [m], alpha [rad] of the Puma 560
    (0.0, 0.0, pi / 2), (0.0, 0.4318, 0.0), (0.15005, 0.0203, -pi / 2), (0.4318, 0.0, pi / 2), (0.0, 0.0, -pi / 2),
    (0.0, 0.0, 0.0),
)  # fmt: skip
LINKS = ("waist", "shoulder", "elbow", "wrist_roll", "wrist_bend", "flange")
SLACK = 1e-3  # m: bounds are kept to a hundredth of the natural size of a distance, 0.1 m


def link_frames(q: np.ndarray) -> dict[str, np.ndarray]:
    """Transforms of all links at N postures, each shape (N, 4, 4)."""
    frames, here = {}, np.tile(np.eye(4), (len(q), 1, 1))
    for name, angle, (d, a, alpha) in zip(LINKS, q.T, DH, strict=True):
        c, s, zero, one = np.cos(angle), np.sin(angle), np.zeros(len(q)), np.ones(len(q))
        ca_, sa = np.cos(alpha), np.sin(alpha)
        rows = [
            [c, -s * ca_, s * sa, a * c],
            [s, c * ca_, -c * sa, a * s],
            [zero, sa * one, ca_ * one, d * one],
            [zero, zero, zero, one],
        ]
        here = here @ np.moveaxis(np.array(rows), 2, 0)
        frames[name] = here
    return frames


def in_coal(shape: co.model.Shape) -> tuple[Any, np.ndarray]:
    """The shape, and its place in its link or the world."""
    if isinstance(shape, co.model.Box):
        return fcl.Box(*np.array(ca.DM(shape.size))[:, 0]), np.array(ca.DM(shape.placement))
    assert isinstance(shape, co.Capsule)
    start, end = (np.array(ca.DM(point))[:, 0] for point in (shape.start, shape.end))
    along = (end - start) / np.linalg.norm(end - start)
    first = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    first /= np.linalg.norm(first)
    place = np.eye(4)
    place[:3] = np.column_stack([first, np.cross(along, first), along, (start + end) / 2])
    return fcl.Capsule(float(shape.radius), float(np.linalg.norm(end - start))), place


def least_in_coal(solution: co.Solution, pairs: Any) -> np.ndarray:
    """The least distance of every pair, shape (pairs,)."""
    q = solution.at(np.linspace(0.0, solution.duration, TIMES)).q
    frames, request = link_frames(q), fcl.DistanceRequest()
    least = []
    for a, b in pairs:
        (shape, place), (other, standing) = in_coal(a), in_coal(b)
        still = fcl.Transform3s(standing[:3, :3], standing[:3, 3])
        moved = frames[a.body] @ place
        # No two shapes are closer than the balls around them: only where these are is it worth a look.
        bound = np.linalg.norm(moved[:, :3, 3] - standing[:3, 3], axis=1) - reach(a) - reach(b)
        nearest = np.inf
        for k in np.argsort(bound):
            if bound[k] > nearest:
                break
            T = fcl.Transform3s(moved[k, :3, :3], moved[k, :3, 3])
            nearest = min(nearest, fcl.distance(shape, T, other, still, request, fcl.DistanceResult()))
        least.append(nearest)
    return np.array(least)


def reach(shape: co.model.Shape) -> float:
    """Radius of the ball around a shape."""
    corners = np.array(ca.DM(shape.corners))
    return float(np.linalg.norm(corners - corners.mean(axis=1, keepdims=True), axis=0).max() + ca.DM(shape.rounding))


@pytest.mark.parametrize("study", [round_a_box, bin_pick])
def test_an_arm_is_clear_of_what_stands_around_it_at_twenty_thousand_times(study):
    free, solution = study.solved(quick=True)
    assert solution.status == co.solver.Status.SOLVED
    ours, theirs = distances(solution, study.PAIRS)[1].min(axis=0), least_in_coal(solution, study.PAIRS)
    assert theirs.min() > CLEAR - SLACK
    assert (ours <= theirs + 1e-6).all()  # never larger than what is true
    assert (theirs - ours <= 2e-3 + 1e-6).all()  # and smaller by the smoothing at most
    assert distances(free, study.PAIRS)[1].min() < -0.05  # the way without obstacles leads through them
    assert 1.05 < solution.cost / free.cost < 1.6
