"""Inverse kinematics: a posture in which bodies reach targets, for guesses and end states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import casadi as ca
import numpy as np

from colloc.model.kinematics import frame_in, frames
from colloc.model.transforms import across, unit_vector
from colloc.model.tree import Model
from colloc.support.checks import (
    InputError,
    as_tuple,
    count,
    finite_array,
    finite_number,
    function,
    instance,
    quoted,
    spelt,
    symbolic,
    text,
    vector,
)

_STEPS = 200  # of one search
_DAMPING = (1e-10, 1e6)  # of a step, relative, least and most
_POSTURES = 8  # searches for different postures
_REACHED = 1e-6  # m, largest error of such a posture
_DIFFERENT = 0.5  # rad or m, least distance between two
_LIMB = 1.0  # m, at which a wrong direction counts as much as a wrong place


@dataclass(frozen=True, eq=False)
class Target:
    """A target of a body: a place, a rotation or a direction, or both; as a function of the instant, its error.

    `at` and `path` take a target as a function whose value is to be zero. Its rows are independent, as many as the
    target takes freedoms, and vanish at the target alone: those of rotations and directions are twice the tangent of
    half the angle, which does not exist at half a turn. A tool that may spin about its axis has two rows, a point on a
    line two, on a plane or a surface one.

    Parameters
    ----------
    body : str
        Or a marker, which has the axes of its body.
    position : shape (3,) [m], optional
        Of the point, in the world frame; free by default.
    rotation : shape (3, 3), optional
        Axes of the link frame in the world, as columns; free by default.
    point : shape (3,) [m]
        In the link frame; its origin by default.
    along : shape (3,), optional
        Direction of a line through `position`, in the world, on which the point may be anywhere.
    normal : shape (3,), optional
        Normal of a plane through `position`, in the world, on which the point may be anywhere.
    surface : callable, optional
        A place in the world, SX, shape (3,) [m], -> SX, scalar [m]: zero on the surface of the point, and elsewhere
        about the distance. In place of `position`.
    axis : shape (3,), optional
        An axis of the link frame about which the body may spin, in place of `rotation`.
    direction : shape (3,), optional
        Of the axis in the world.

    Raises
    ------
    InputError
        For arguments of another shape, a matrix that is no rotation, a target without a place, a rotation and a
        direction, and arguments that exclude each other.

    See Also
    --------
    reach, colloc.at, colloc.path

    Examples
    --------
    >>> co.model.Target("hand", (0.3, 0.0, 0.5), point=(0.0, 0.0, 0.1)).position
    array([0.3, 0. , 0.5])
    >>> drill = co.model.Target("tool", (0.5, 0.2, 0.0), axis=(0, 0, 1), direction=(0, 0, -1))
    >>> drilled = co.at(1.0, drill)
    >>> wiped = co.path(co.model.Target("tool", (0.0, 0.0, 0.4), normal=(0, 0, 1)), during=(0.2, 0.8))
    """

    body: str
    position: Any = None
    rotation: Any = None
    point: Any = (0.0, 0.0, 0.0)
    along: Any = None
    normal: Any = None
    surface: Callable[[ca.SX], Any] | None = None
    axis: Any = None
    direction: Any = None

    def __post_init__(self) -> None:
        text("body", self.body)
        set_to, free = partial(object.__setattr__, self), self.along is not None or self.normal is not None
        if (self.axis is None) != (self.direction is None):
            raise InputError(f"the target of {self.body!r} needs both axis and direction, or neither")
        if all(value is None for value in (self.position, self.rotation, self.surface, self.axis)):
            raise InputError(f"the target of {self.body!r} needs a position, a rotation, or both")
        for one, other in (("along", "normal"), ("position", "surface"), ("rotation", "axis")):
            if getattr(self, one) is not None and getattr(self, other) is not None:
                raise InputError(f"the target of {self.body!r} has {one} or {other}, not both")
        if free and self.position is None:
            raise InputError(f"the target of {self.body!r} needs a position through which its line or plane goes")
        if self.surface is not None:
            function("surface", self.surface, "a function of the place", "place")
        for name in ("position", "point"):
            if getattr(self, name) is not None:
                set_to(name, vector(name, getattr(self, name), 3))
        for name in ("along", "normal", "axis", "direction"):
            if getattr(self, name) is not None:
                set_to(name, unit_vector(name, getattr(self, name)))
        if self.rotation is not None:
            set_to("rotation", _rotation(self.rotation))

    def __call__(self, now: Any) -> ca.SX:
        """The error at an instant, SX, shape (number of rows,) [m, rad], zero at the target alone."""
        frame = now.frame(self.body)
        rows = [ca.SX(0, 1), self._place(frame), *self._turns(frame[:3, :3])]
        return ca.vertcat(*rows)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the rows."""
        places = 1 if self.normal is not None or self.surface is not None else 2 if self.along is not None else 3
        places = places if self._has_place else 0
        return ("m",) * places + ("rad",) * (3 * (self.rotation is not None) + 2 * (self.axis is not None))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the rows."""
        kind = {"m": "place", "rad": "turn" if self.axis is None else "lean"}
        return tuple(f"{kind[unit]} {self.units[:k].count(unit)}" for k, unit in enumerate(self.units, 1))

    def _place(self, frame: ca.SX) -> ca.SX:
        """Distances from the place, SX, shape (0,) to (3,) [m]."""
        place = (frame @ ca.vertcat(symbolic("point", self.point, (3, 1)), 1))[:3]
        if self.surface is not None:
            distance = ca.SX(self.surface(place))
            if distance.shape != (1, 1):
                raise InputError(f"surface of {self.body!r} must return an SX scalar, got shape {distance.shape}")
            return distance
        if self.position is None:
            return ca.SX(0, 1)
        directions = np.eye(3)
        if self.along is not None:
            directions = across(self.along)
        elif self.normal is not None:
            directions = self.normal[None]
        return ca.DM(directions) @ (place - self.position)

    def _turns(self, rotation: ca.SX) -> list[ca.SX]:
        """Twice the tangent of half the angle from the rotation, or the direction, about axes of the link."""
        if self.axis is not None:
            ahead = rotation.T @ self.direction  # in the link frame
            return [2 * (ca.DM(across(self.axis)) @ ahead) / (1 + ca.dot(self.axis, ahead))]
        if self.rotation is None:
            return []
        turned = self.rotation.T @ rotation
        spin = ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
        return [2 * spin / (1 + ca.trace(turned))]

    def misses(self, frame: ca.SX) -> list[ca.SX]:
        """Errors of the place and of the rotation or direction that exist everywhere, for a search [m]."""
        misses = [place] if (place := self._place(frame)).numel() else []
        if self.rotation is not None:  # 2 sin(angle / 2), the angle for small ones
            misses.append(_LIMB * ca.vec(frame[:3, :3] - self.rotation) / np.sqrt(2))
        if self.axis is not None:
            misses.append(_LIMB * (frame[:3, :3] @ self.axis - self.direction))
        return misses

    def missed(self, sizes: Sequence[float], tolerance: float) -> list[str]:
        """Texts on the lengths of `misses` that exceed a tolerance."""
        places, texts = int(self._has_place), []
        if places and sizes[0] > tolerance:
            goal = "its surface" if self.surface is not None else tuple(self.position.tolist())
            through = "the line through " if self.along is not None else ""
            through = "the plane through " if self.normal is not None else through
            texts.append(f"{self.body!r} does not reach {through}{goal}, missed by {sizes[0]:.3g} m")
        if len(sizes) > places and sizes[-1] > tolerance:
            angle = 2 * np.arcsin(min(sizes[-1] / (2 * _LIMB), 1.0))
            texts.append(f"{self.body!r} is not turned as asked, but off by {angle:.3g} rad")
        return texts

    @property
    def _has_place(self) -> bool:
        return self.position is not None or self.surface is not None


def _rotation(value: Any) -> np.ndarray:
    matrix = finite_array("rotation", value, (3, 3))
    if not np.allclose(matrix @ matrix.T, np.eye(3), atol=1e-6) or np.linalg.det(matrix) < 0:
        raise InputError(f"rotation must be a rotation matrix, got\n{matrix}")
    return matrix


@spelt
def reach(
    model: Model,
    body: str | Sequence[Target],
    target: Any = None,
    *,
    point: Any = (0.0, 0.0, 0.0),
    rotation: Any = None,
    start: Any = None,
    tol: float = 1e-6,
    tries: int = 20,
    seed: int = 0,
) -> np.ndarray:
    """A posture within the joint limits in which bodies reach their targets, near a start.

    Parameters
    ----------
    model : Model
        Of numbers, without symbols.
    body : str or sequence of Target
        One body or frame, such as a tool's, or targets of one or more.
    target : shape (3,) [m]
        Position of the point of one body, in the world frame.
    point : shape (3,) [m]
        In the link frame of one body; its origin by default.
    rotation : shape (3, 3), optional
        Axes of its link frame in the world, as columns; free by default.
    start : shape (n,) [rad, m], optional
        Start of the search; by default the posture nearest to zero within the limits.
    tol : float [m]
        Largest allowed error of every point; the angle of a rotation [rad] times 1 m.
    tries : int
        Number of searches: one from `start`, others from random postures around it.
    seed : int

    Returns
    -------
    q : ndarray, shape (n,)
        The solution nearest to the start; joints that move none of the bodies stay there.

    Raises
    ------
    InputError
        For a model with symbols, arguments of another shape, and targets that are not reached, with the distances of
        the best search.

    See Also
    --------
    keyframes

    Notes
    -----
    Levenberg and Marquardt's method on the joints that are not held by a limit (Nocedal and Wright 2006, section 10.3).
    The best search has the least sum of squared residuals.

    Examples
    --------
    >>> q = co.model.reach(two_link(), "elbow", (0.3, 0.6, 0.0), start=(0.0, 1.0))
    >>> q.round(3)
    array([0.531, 1.152])
    >>> end, guess = co.final(q=q, qd=0.0), co.line((0.0, 1.0), q)
    >>> up = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    >>> both = [co.model.Target("shoulder", (0.0, 0.4, 0.0)), co.model.Target("elbow", rotation=up)]
    >>> bool(np.allclose(co.model.reach(two_link(), both), (np.pi / 2, 0.0), atol=1e-5))
    True
    """
    instance("model", model, Model)
    if model.symbols:
        raise InputError(f"reach needs a model of numbers, got one with {', '.join(map(str, model.symbols))}")
    targets = _targets(model, body, target, point, rotation)
    lower, upper = model.limits("position")
    rest = np.clip(model.neutral, lower, upper) if start is None else finite_array("start", start, (model.n_q,))
    if (rest < lower - 1e-9).any() or (rest > upper + 1e-9).any():
        raise InputError(f"start must lie within the joint limits, {lower} to {upper}, got {quoted(start)}")
    tolerance = finite_number("tol", tol, positive=True)
    count("tries", tries, at_least=1)
    function, lengths = _functions(model, targets)
    rng = np.random.default_rng(count("seed", seed, at_least=0))
    best, closest, nearest = np.inf, rest, None
    for attempt in range(tries):
        begin = rest if attempt == 0 else _around(rng, rest, lower, upper)
        posture, miss_by = _search(function, np.clip(begin, lower, upper), lower, upper)
        if miss_by < best:
            best, closest = miss_by, posture
        nearer = nearest is None or np.linalg.norm(posture - rest) < np.linalg.norm(nearest - rest)
        if nearer and float(ca.mmax(lengths(posture))) <= tolerance:
            nearest = posture
        if nearest is not None and attempt == 0:
            break  # what is found from the start itself is the one near it
    if nearest is None:
        missed = _missed(targets, np.array(lengths(closest))[:, 0], tolerance)
        raise InputError(f"{missed} (the nearest of {tries} tries); is that within reach and the joints' limits?")
    return model.of_unit_length(nearest)


def postures_reaching(
    model: Model, targets: Sequence[Target], start: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> list[np.ndarray]:
    """Different postures within bounds, each shape (n,), in which bodies reach targets, the nearest to a start first.

    Some of those that exist, from the start and from random postures; none if they find none.
    """
    function, lengths = _functions(model, targets)
    rng, found = np.random.default_rng(0), []
    for attempt in range(_POSTURES):
        begin = start if attempt == 0 else _around(rng, start, lower, upper)
        posture, _ = _search(function, np.clip(begin, lower, upper), lower, upper)
        if float(ca.mmax(lengths(posture))) <= _REACHED:
            found.append(model.of_unit_length(posture))
    found.sort(key=lambda posture: float(np.linalg.norm(posture - start)))
    different: list[np.ndarray] = []
    for posture in found:
        if all(np.linalg.norm(posture - other) > _DIFFERENT for other in different):
            different.append(posture)
    return different


def _functions(model: Model, targets: Sequence[Target]) -> tuple[ca.Function, ca.Function]:
    """Functions of a posture: all errors with their slopes, and the length of every error."""
    q = ca.SX.sym("q", model.n_q)
    residuals = _residuals(model, targets, q)
    miss = ca.vertcat(*residuals)
    function = ca.Function("miss", [q], [miss, ca.jacobian(miss, q)])
    return function, ca.Function("lengths", [q], [ca.vertcat(*map(ca.norm_2, residuals))])


def _targets(model: Model, body: Any, target: Any, point: Any, rotation: Any) -> tuple[Target, ...]:
    """Targets of existing bodies, from the arguments of `reach`."""
    if isinstance(body, str):
        model.in_link(body)
        if target is None:
            raise InputError(f"target must be where {body!r} is to be, shape (3,), or body a list of Target")
        return (Target(body, vector("target", target, 3), rotation, point),)
    targets = tuple(instance("body", item, Target, "or names one body") for item in as_tuple("body", body))
    if not targets:
        raise InputError("body must be a body or one Target at least, got none")
    if target is not None or rotation is not None or np.any(np.asarray(point) != 0):
        raise InputError("target, point and rotation are for one body: a Target has its own")
    for item in targets:
        model.in_link(item.body)
    return targets


def _residuals(model: Model, targets: Sequence[Target], q: ca.SX) -> list[ca.SX]:
    """Errors of a posture in every position and rotation, one after another [m]."""
    zero = ca.SX(model.n, 1)
    position = frames(model, q, zero, zero).position
    return [miss for item in targets for miss in item.misses(frame_in(position, model, item.body))]


def _missed(targets: Sequence[Target], residuals: np.ndarray, tolerance: float) -> str:
    """The missed targets and their distances as text, from the lengths of all residuals."""
    sizes, parts = iter(residuals.tolist()), []
    for item in targets:
        count = len(item.misses(ca.SX.eye(4)))
        parts += item.missed([next(sizes) for _ in range(count)], tolerance)
    return "; ".join(parts)


def _around(rng: np.random.Generator, rest: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """A random posture within the limits; without limits, within half a turn or a metre of a posture."""
    low, high = np.where(np.isfinite(lower), lower, rest - np.pi), np.where(np.isfinite(upper), upper, rest + np.pi)
    return rng.uniform(low, np.maximum(low, high))


def _search(function: ca.Function, q: np.ndarray, lower: np.ndarray, upper: np.ndarray) -> tuple[np.ndarray, float]:
    """A posture at a local minimum of the error, and that error [m]."""
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
