"""The walker to be drawn: landmarks over time, limbs of a plausible thickness, and pictures of them from any side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Polygon

import colloc as co
from colloc.models.human.human import Human
from colloc.plot.style import BLUE, VERMILLION
from colloc.studies.walking.report.ground import Ground, ground_reactions
from colloc.studies.walking.step import Step

RIGHT, LEFT, TRUNK, HEAD = BLUE, VERMILLION, "#5f6b7a", "#8a95a3"
STATURE = 1.741  # m, of the man to whom the thicknesses belong


class Limb(NamedTuple):
    """A tapered piece between two landmarks with a radius at each [m]."""

    start: str
    end: str
    thick: float
    thin: float
    color: str


def _limbs(side: str, color: str) -> Iterator[Limb]:
    pieces = (
        ("hip", "knee", 0.078, 0.052), ("knee", "ankle", 0.050, 0.034),
        ("instep", "heel_pad", 0.036, 0.027), ("instep", "ball_pad", 0.034, 0.022),
        ("heel_pad", "ball_pad", 0.027, 0.022), ("ball_pad", "toe_pad", 0.022, 0.013),
        ("shoulder", "elbow", 0.048, 0.036), ("elbow", "wrist", 0.035, 0.025), ("wrist", "fingertip", 0.028, 0.015),
    )  # fmt: skip
    for start, end, thick, thin in pieces:
        yield Limb(f"{start}_{side}", f"{end}_{side}", thick, thin, color)


LIMBS = (
    Limb("hip_r", "hip_l", 0.088, 0.088, TRUNK),
    Limb("pelvis", "navel", 0.105, 0.105, TRUNK),
    Limb("navel", "xiphoid", 0.105, 0.120, TRUNK),
    Limb("xiphoid", "chest", 0.120, 0.100, TRUNK),
    Limb("shoulder_r", "chest", 0.055, 0.085, TRUNK),
    Limb("shoulder_l", "chest", 0.055, 0.085, TRUNK),
    Limb("chest", "chin", 0.055, 0.050, HEAD),
    Limb("chin", "crown", 0.072, 0.090, HEAD),
    *_limbs("r", RIGHT),
    *_limbs("l", LEFT),
)
NAMES = tuple(dict.fromkeys(name for limb in LIMBS for name in (limb.start, limb.end)))


class Arrow(NamedTuple):
    """Ground reactions of a foot over time: centre of pressure [m] and force [body weight], each shape (N, 3)."""

    place: np.ndarray
    force: np.ndarray


@dataclass(frozen=True, eq=False)
class Film:
    """The walker over time.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    points : mapping of str to ndarray, shape (N, 3) [m]
        Landmarks in the world, by the names of `NAMES`.
    right, left : Arrow
        NaN where a foot carries nothing.
    thickness : float
        Factor on the radii of `LIMBS`.
    """

    t: np.ndarray
    points: dict[str, np.ndarray]
    right: Arrow
    left: Arrow
    thickness: float

    def mirrored(self, forward: float, later: float) -> Film:
        """The mirror image, a distance [m] ahead and a time [s] later."""

        def flipped(x: np.ndarray, shift: float) -> np.ndarray:
            return x * np.array([-1.0, 1.0, 1.0]) + np.array([0.0, 0.0, shift])

        def other(arrow: Arrow) -> Arrow:
            return Arrow(flipped(arrow.place, forward), flipped(arrow.force, 0.0))

        swap = {"r": "l", "l": "r"}
        points = {
            name: flipped(self.points[name[:-1] + swap[name[-1]] if name[-2] == "_" else name], forward)
            for name in self.points
        }
        return Film(self.t + later, points, other(self.left), other(self.right), self.thickness)


def film(step: Step, solution: co.Solution, s: np.ndarray) -> Film:
    """The walker at normalised times of a step."""
    found, ground = _landmarks(step.stance, solution, s), ground_reactions(step, solution, s)
    return Film(
        s * solution.duration,
        found | _padding(found),
        _arrow(ground.right),
        _arrow(ground.left),
        step.human.stature / STATURE,
    )


def strides(step: Step, solution: co.Solution, count: int, frames: int) -> Film:
    """Whole strides, each a step and its mirror image one step further, in `frames` pictures a step."""
    one = film(step, solution, np.arange(frames) / frames)
    parts = []
    for k in range(2 * count):
        shift, later = k * step.length, k * solution.duration
        parts.append(one.mirrored(shift, later) if k % 2 else one.mirrored(0, 0).mirrored(shift, later))

    def arrows(side: str) -> Arrow:
        return Arrow(*(np.vstack(rows) for rows in zip(*(getattr(part, side) for part in parts), strict=True)))

    points = {name: np.vstack([part.points[name] for part in parts]) for name in one.points}
    return Film(np.concatenate([part.t for part in parts]), points, arrows("right"), arrows("left"), one.thickness)


def _landmarks(human: Human, solution: co.Solution, s: np.ndarray) -> dict[str, np.ndarray]:
    def places(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        return tuple(now.point(*point).position for point in human.landmarks.values())

    return dict(zip(human.landmarks, solution.evaluate(places, s * solution.duration), strict=True))


def _padding(points: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Points within the flesh: contact points are on the sole, the top of the head on the skin."""
    neck = points["head_top"] - points["cervix"]
    found = {
        "chest": points["cervix"] - 0.25 * neck,
        "chin": points["cervix"] + 0.48 * neck,
        "crown": points["cervix"] + 0.68 * neck,
    }
    for side in "rl":
        heel, ball, toe, ankle = (points[f"{name}_{side}"] for name in ("heel", "ball", "toe", "ankle"))
        sole = (ball - heel) / np.linalg.norm(ball - heel, axis=1, keepdims=True)
        up = ankle - heel - ((ankle - heel) * sole).sum(axis=1, keepdims=True) * sole
        up /= np.linalg.norm(up, axis=1, keepdims=True)
        found[f"heel_pad_{side}"] = heel + 0.027 * up + 0.010 * sole
        found[f"ball_pad_{side}"] = ball + 0.022 * up
        found[f"toe_pad_{side}"] = toe + 0.013 * up - 0.010 * sole
        found[f"instep_{side}"] = ankle + 0.004 * sole
    return found


def _arrow(wrench: np.ndarray) -> Arrow:
    x, z = Ground.pressure(wrench).T
    return Arrow(np.column_stack([x, 0 * x, z]), np.where(np.isnan(x)[:, None], np.nan, wrench[:, :3]))


# Pictures in the plane ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Camera:
    """A parallel projection from the walker's right side.

    Parameters
    ----------
    ahead, above : float [rad]
        Angles by which the viewer stands ahead of the walker's side and above the horizon.
    """

    ahead: float = 0.5
    above: float = 0.16

    def axes(self) -> np.ndarray:
        """Rows: to the right, upwards, away from the viewer; shape (3, 3)."""
        a, e = self.ahead, self.above
        away = np.array([np.cos(e) * np.cos(a), -np.sin(e), -np.cos(e) * np.sin(a)])
        right = np.cross(away, [0.0, 1.0, 0.0])
        right /= np.linalg.norm(right)
        return np.array([right, np.cross(right, away), away])


def draw_walker(ax: Axes, shown: Film, frame: int, camera: Camera, at: float = 0.0) -> None:
    """The walker at one time, the pelvis above `at` on the horizontal axis, far limbs paler than near ones."""
    view = camera.axes()
    middle = shown.points["pelvis"][frame] * np.array([1.0, 0.0, 1.0])
    flat = {name: view @ (points[frame] - middle) for name, points in shown.points.items()}
    depth = {limb: (flat[limb.start][2] + flat[limb.end][2]) / 2 for limb in LIMBS}
    for limb in sorted(LIMBS, key=lambda limb: -depth[limb]):
        radii = shown.thickness * np.array([limb.thick, limb.thin])
        outline = capsule(flat[limb.start][:2], flat[limb.end][:2], *radii) + np.array([at, 0.0])
        haze = np.clip(0.30 + 0.9 * depth[limb], 0.0, 0.6)
        color = (1 - haze) * np.array(to_rgb(limb.color)) + haze
        ax.add_patch(Polygon(outline, facecolor=color, edgecolor="white", linewidth=0.5, zorder=3 - depth[limb]))


def project(points: np.ndarray, shown: Film, frame: int, camera: Camera, at: float = 0.0) -> np.ndarray:
    """Places of world points, shape (N, 3), in the picture of `draw_walker`, shape (N, 2)."""
    middle = shown.points["pelvis"][frame] * np.array([1.0, 0.0, 1.0])
    return (points - middle) @ camera.axes()[:2].T + np.array([at, 0.0])


def capsule(p: np.ndarray, q: np.ndarray, rp: float, rq: float) -> np.ndarray:
    """Outline of the convex hull of two discs, shape (N, 2)."""
    distance = float(np.hypot(*(q - p)))
    around = np.linspace(0, 2 * np.pi, 40)
    if distance <= abs(rp - rq) + 1e-9:
        centre, radius = (p, rp) if rp > rq else (q, rq)
        return centre + radius * np.column_stack([np.cos(around), np.sin(around)])
    along, bend = np.arctan2(*(q - p)[::-1]), np.arccos((rp - rq) / distance)
    back = np.linspace(along + bend, along + 2 * np.pi - bend, 20)
    front = np.linspace(along - bend, along + bend, 20)
    arcs = [c + r * np.column_stack([np.cos(a), np.sin(a)]) for c, r, a in ((p, rp, back), (q, rq, front))]
    return np.vstack(arcs)
