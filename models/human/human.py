"""A model of a human with names for studies of its motion, and its mirror image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.anatomy import SIDES, Lump
from colloc.support.lazy import cached_property


class Point(NamedTuple):
    """A point fixed in a body, as in `now.point(*point)` and `co.Load(point.body, force, point=point.at)`.

    Parameters
    ----------
    body : str
    at : tuple of three numbers or SX [m]
        In the link frame.
    """

    body: str
    at: tuple[Any, Any, Any]


class Foot(NamedTuple):
    """Contact points of a foot, on the sole: behind the ankle, under the toe joint, at the tip of the toes."""

    heel: Point
    ball: Point
    toe: Point


@dataclass(frozen=True, eq=False)
class Mirror:
    """Reflection of a posture in the sagittal plane: right and left change places, lateral coordinates their sign.

    Rates, accelerations and torques reflect as coordinates do; points and forces in the world change the sign of x,
    moments those of y and z.

    Parameters
    ----------
    partners : tuple of int
        For every coordinate, the index of its source.
    signs : ndarray, shape (n,)
    """

    partners: tuple[int, ...]
    signs: np.ndarray

    def __call__(self, x: Any) -> Any:
        """The reflected vector: ndarray, shape (..., n), or SX or MX, shape (n,) or (n, samples)."""
        if isinstance(x, ca.SX | ca.MX | ca.DM):
            return ca.DM(self.signs) * x[list(self.partners), :]
        return self.signs * np.asarray(x)[..., list(self.partners)]


@dataclass(frozen=True, eq=False)
class Human:
    """A model with names for studies of human motion.

    World axes are x to the left, y up, z forward; the ground is y = 0.

    Parameters
    ----------
    model : Model
    stature, mass : float [m, kg]
    pelvis_height : float [m]
        Value of the joint `pelvis_ty_vertical` at which the soles are on the ground in the neutral posture.
    virtual : tuple of str
        Names of the joints that carry the pelvis through the world, which have no drive.
    landmarks : mapping of str to Point
        "pelvis", "navel", "xiphoid", "cervix", "head_top"; "shoulder", "elbow", "wrist", "fingertip", "hip", "knee",
        "ankle", "heel", "ball", "toe", each with "_r" or "_l", or without where both sides move as one.
    parts : mapping of str to str
        Name of the body that carries each part with mass.
    signs : mapping of str to float
        Sign of every joint's coordinate in the mirrored posture.
    strength : mapping of str to (SX, SX), optional
        Symbolic torque limits, for joints without limits in the model.

    Mass, pelvis height and landmarks may be symbols, too, see `colloc.models.human.parametrised`.
    """

    model: co.Model
    stature: float
    mass: Any
    pelvis_height: Any
    virtual: tuple[str, ...]
    landmarks: Mapping[str, Point]
    parts: Mapping[str, str]
    signs: Mapping[str, float]
    strength: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def torque_limits(self) -> dict[str, tuple[Any, Any]]:
        """Lower and upper torque limit of every joint that has them, by name, numbers or symbols [N m]."""
        lower, upper = (side.tolist() for side in self.model.limits("torque"))
        numbers = {
            name: (low, high)
            for name, low, high in zip(self.model.joint_names, lower, upper, strict=True)
            if np.isfinite(high)
        }
        return numbers | {name: limits for name, limits in self.strength.items() if name in self.model.joint_names}

    @property
    def feet(self) -> dict[str, Foot]:
        """Contact points of the right foot "r" and the left foot "l", or of "both" where these move as one."""
        endings = {"both": ""} if "heel" in self.landmarks else {side: f"_{side}" for side in SIDES}
        return {
            side: Foot(*(self.landmarks[f"{name}{end}"] for name in ("heel", "ball", "toe")))
            for side, end in endings.items()
        }

    @property
    def standing(self) -> np.ndarray:
        """Coordinates of the neutral posture with the soles on the ground, shape (n,)."""
        return np.array(ca.DM(self.upright)).ravel()

    @property
    def upright(self) -> ca.SX:
        """A standing posture, shape (n,), of a human whose pelvis height may be a symbol."""
        q = ca.SX.zeros(self.model.n)
        if "pelvis_ty_vertical" in self.model.joint_names:
            q[self.model.joint_names.index("pelvis_ty_vertical")] = self.pelvis_height
        return q

    @cached_property
    def mirror(self) -> Mirror:
        """Reflection of this model's coordinates; InputError if a joint is frozen on one side only."""
        names = self.model.joint_names
        partners = [name[:-1] + {"r": "l", "l": "r"}[name[-1]] if name[-2:-1] == "_" else name for name in names]
        if single := set(partners) - set(names):
            raise co.InputError(f"no mirror image: {', '.join(sorted(single))} frozen on one side only")
        return Mirror(tuple(map(names.index, partners)), np.array([self.signs[name] for name in names]))

    def frozen(self, values: Mapping[str, float]) -> Human:
        """This human with some joints held, see `Model.frozen`."""
        return replace(self, model=self.model.frozen(values))

    @cached_property
    def strengthless(self) -> Human:
        """This human without torque limits, whose joints exert any torque that a motion needs."""
        bodies = [_limited(body, torque=(-np.inf, np.inf)) for body in self.model.bodies]
        return replace(self, model=replace(self.model, bodies=bodies))

    def ranged(self, ranges: Mapping[str, tuple[float, float]]) -> Human:
        """This human with other position limits.

        Parameters
        ----------
        ranges : mapping of joint name to (lower, upper) [rad, m]

        Raises
        ------
        InputError
            For a joint that the model does not have, or impossible limits.
        """
        for name in ranges:
            if name not in self.model.joint_names:
                raise co.unknown_name("joint that moves", name, self.model.joint_names)
        bodies = [_limited(b, position=ranges[b.name]) if b.name in ranges else b for b in self.model.bodies]
        return replace(self, model=replace(self.model, bodies=bodies))


def _limited(body: co.Body, **limits: tuple[float, float]) -> co.Body:
    return replace(body, joint=replace(body.joint, limits=replace(body.joint.limits, **limits)))


def lump_in(frame: np.ndarray, lump: Lump) -> dict[str, Any]:
    """Mass, centre of mass and inertia as `co.Body` takes them.

    Parameters
    ----------
    frame : ndarray, shape (4, 4)
        The body's link frame in anatomical axes, in the neutral posture.
    lump : Lump
    """
    turn = frame[:3, :3]
    com, inertia = _in_frame(frame, lump.com), turn.T @ lump.inertia @ turn
    return {"mass": lump.mass, "com": com, "inertia": np.round(inertia, 15) + 0.0}


def _in_frame(frame: np.ndarray, place: np.ndarray) -> np.ndarray:
    """A place in a link frame, rounded, so that recursions can leave out zeros."""
    return np.round(frame[:3, :3].T @ (place - frame[:3, 3]), 15) + 0.0


def points_in(
    frames: Mapping[str, np.ndarray], parts: Mapping[str, str], landmarks: Mapping[str, tuple[str, np.ndarray]]
) -> dict[str, Point]:
    """Landmarks in the link frames of a model.

    Parameters
    ----------
    frames : mapping of body name to ndarray, shape (4, 4)
        Link frames in anatomical axes, in the neutral posture.
    parts : mapping of part to body name
    landmarks : mapping of name to (part, ndarray of shape (3,))
        As in `Anatomy`.
    """
    points = {}
    for name, (part, place) in landmarks.items():
        frame = frames[parts[part]]
        x, y, z = _in_frame(frame, place).tolist()
        points[name] = Point(parts[part], (x, y, z))
    return points
