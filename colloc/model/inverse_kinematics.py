"""Inverse kinematics: a posture that puts a point of a body in a place, for guesses and end states."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from colloc.model.kinematics import frames
from colloc.model.tree import Model
from colloc.support.checks import (
    InputError,
    count,
    finite_array,
    finite_number,
    instance,
    quoted,
    spelt,
    symbolic,
    vector,
)

_STEPS = 200  # of one search
_DAMPING = (1e-10, 1e6)  # of a step, relative, least and most
_LIMB = 1.0  # m, at which a wrong direction counts as much as a wrong place


@spelt
def reach(
    model: Model,
    body: str,
    target: Any,
    *,
    point: Any = (0.0, 0.0, 0.0),
    rotation: Any = None,
    start: Any = None,
    tol: float = 1e-6,
    tries: int = 20,
    seed: int = 0,
) -> np.ndarray:
    """A posture within the joint limits in which a point of a body is at a place, near a given posture.

    Parameters
    ----------
    model : Model
        Of numbers, without symbols.
    body : str
    target : shape (3,) [m]
        Where the point is to be, in the world frame.
    point : shape (3,) [m]
        In the link frame; its origin by default.
    rotation : shape (3, 3), optional
        How the link is to be turned, its axes in the world as columns; left open by default.
    start : shape (n,) [rad, m], optional
        Posture to begin from; by default the one nearest to zero within the limits.
    tol : float [m]
        How far off the point may be; of a rotation, how many radians times 1 m.
    tries : int
        Searches, the first from `start`, others from random postures around it.
    seed : int

    Returns
    -------
    q : ndarray, shape (n,)
        Of all postures found the nearest to the start; joints that do not move the body stay there.

    Raises
    ------
    InputError
        For a model with symbols, arguments of another shape, and a place that was not reached: tells how near the best
        try came.

    See Also
    --------
    keyframes : A guess from postures.

    Notes
    -----
    Levenberg and Marquardt's method on the joints that are not held by a limit (Nocedal and Wright 2006, section 10.3).

    Examples
    --------
    >>> q = co.model.reach(two_link(), "elbow", (0.3, 0.6, 0.0), start=(0.0, 1.0))
    >>> q.round(3)
    array([0.531, 1.152])
    >>> end, guess = co.final(q=q, qd=0.0), co.line((0.0, 1.0), q)
    """
    index = instance("model", model, Model).index(body)
    if model.symbols:
        raise InputError(f"reach needs a model of numbers, got one with {', '.join(map(str, model.symbols))}")
    lower, upper = model.limits("position")
    rest = np.clip(model.neutral, lower, upper) if start is None else finite_array("start", start, (model.n_q,))
    if (rest < lower - 1e-9).any() or (rest > upper + 1e-9).any():
        raise InputError(f"start must lie within the joint limits, {lower} to {upper}, got {quoted(start)}")
    tolerance = finite_number("tol", tol, positive=True)
    count("tries", tries, at_least=1)
    q = ca.SX.sym("q", model.n_q)
    miss = _miss(model, index, q, vector("target", target, 3), point, _checked(rotation))
    function = ca.Function("miss", [q], [miss, ca.jacobian(miss, q)])
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    best, nearest = np.inf, None
    for attempt in range(tries):
        begin = rest if attempt == 0 else _around(rng, rest, lower, upper)
        posture, miss_by = _search(function, np.clip(begin, lower, upper), lower, upper)
        best = min(best, miss_by)
        nearer = nearest is None or np.linalg.norm(posture - rest) < np.linalg.norm(nearest - rest)
        if miss_by <= tolerance and nearer:
            nearest = posture
        if nearest is not None and attempt == 0:
            break  # what is found from the start itself is the one near it
    if nearest is None:
        raise InputError(
            f"{body!r} does not reach {tuple(np.asarray(target, dtype=float).tolist())}: the nearest of {tries} tries "
            f"misses by {best:.3g} m; is the place within reach and the joints' limits?"
        )
    return nearest


def _miss(model: Model, index: int, q: ca.SX, target: np.ndarray, point: Any, rotation: np.ndarray | None) -> ca.SX:
    """By how much a posture is wrong, SX, shape (3,) or (6,) [m]."""
    zero = ca.SX(model.n, 1)
    frame = frames(model, q, zero, zero).position[index]
    place = (frame @ ca.vertcat(symbolic("point", point, (3, 1)), 1))[:3]
    if rotation is None:
        return place - target
    return ca.vertcat(place - target, _LIMB * ca.vec(frame[:3, :3] - rotation) / np.sqrt(2))


def _checked(rotation: Any) -> np.ndarray | None:
    if rotation is None:
        return None
    matrix = finite_array("rotation", rotation, (3, 3))
    if not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise InputError(f"rotation must be a rotation matrix, got\n{matrix}")
    return matrix


def _around(rng: np.random.Generator, rest: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A random posture within the limits; where there is none, within half a turn or a metre of a posture."""
    low, high = np.where(np.isfinite(lower), lower, rest - np.pi), np.where(np.isfinite(upper), upper, rest + np.pi)
    return rng.uniform(low, np.maximum(low, high))


def _search(function: ca.Function, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float]:
    """A posture where the miss is least, and how much that is [m]."""
    damping = 1e-3
    miss, slopes = (np.array(part) for part in function(q))
    for _ in range(_STEPS):
        gradient = slopes.T @ miss[:, 0]
        blocked = ((q <= lower) & (gradient > 0)) | ((q >= upper) & (gradient < 0))
        free = np.flatnonzero(~blocked)
        if not free.size or np.abs(gradient[free]).max() < 1e-15:
            break
        J = slopes[:, free]
        step = np.linalg.solve(J.T @ J + damping * np.eye(free.size), -gradient[free])
        new = q.copy()
        new[free] = np.clip(q[free] + step, lower[free], upper[free])
        new_miss, new_slopes = (np.array(part) for part in function(new))
        if np.linalg.norm(new_miss) < np.linalg.norm(miss):
            q, miss, slopes, damping = new, new_miss, new_slopes, max(damping / 10, _DAMPING[0])
        elif (damping := damping * 10) > _DAMPING[1]:
            break
    return q, float(np.linalg.norm(miss))
