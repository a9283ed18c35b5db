"""Muscles of a MuJoCo file: actuators with the law of muscles, on tendons through sites and round geoms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.formats.muscle_data import MuscleData, PathPoint
from colloc.formats.reading import Notes
from colloc.muscles.wrapping import Cylinder, Sphere, Surface, outside
from colloc.support.display import short

_TENDON, _MUSCLE = 3, 2  # kinds of MuJoCo's transmissions and gains
_PULLEY, _SITE, _SPHERE, _CYLINDER = 2, 3, 4, 5  # kinds of a tendon's parts
_GROUPS = 31  # of actuators, which a file can disable


def switched_off(compiled: Any, actuator: int) -> bool:
    """Whether the file of a compiled model disables the group of an actuator."""
    group = int(compiled.actuator_group[actuator])
    return 0 <= group < _GROUPS and bool(int(getattr(compiled.opt, "disableactuator", 0)) >> group & 1)


def is_muscle(compiled: Any, actuator: int) -> bool:
    """Whether an actuator of a compiled model is a muscle on a tendon through sites."""
    m = compiled
    if m.actuator_gaintype[actuator] != _MUSCLE or m.actuator_trntype[actuator] != _TENDON:
        return False
    parts = _parts(m, int(m.actuator_trnid[actuator][0]))
    return all(m.wrap_type[part] in (_SITE, _SPHERE, _CYLINDER) for part in parts)


def muscles_of_mjcf(compiled: Any, body_names: Sequence[str], notes: Notes) -> list[MuscleData]:
    """Muscles of a compiled model, with their paths.

    The optimal fiber length L and the slack length of the tendon are those of MuJoCo's muscles: the range of lengths of
    the file is that of the fibers, in L, and the tendon's.

    Parameters
    ----------
    compiled : mujoco.MjModel
    body_names : sequence of str
        By the index of the body.
    notes : Notes
    """
    m, muscles = compiled, list[MuscleData]()
    for a in range(getattr(m, "nactuator", m.nu)):
        if is_muscle(m, a) and not switched_off(m, a) and (muscle := _muscle(m, a, body_names, notes)) is not None:
            muscles.append(muscle)
    if muscles:
        notes.changed.append(
            f"{len(muscles)} muscles have the curves of co.muscles.Muscle in place of MuJoCo's, and rigid tendons"
        )
    return muscles


def _muscle(m: Any, a: int, body_names: Sequence[str], notes: Notes) -> MuscleData | None:
    """The muscle of an actuator; None, with a note, if fibers or tendon would have no length."""
    name = m.actuator(a).name or f"actuator{a}"
    output = int(getattr(m, "actuator_outadr", range(a + 1))[a])
    ratio = float(m.actuator_gear[output][0])
    low, high, force, scale = (float(value) for value in m.actuator_gainprm[a][:4])
    shortest, longest = (float(value) / ratio for value in m.actuator_lengthrange[output])
    fiber = (longest - shortest) / (high - low)
    slack = shortest - low * fiber
    if ratio <= 0 or fiber <= 0 or slack <= 0:
        notes.leave_out(f"muscle with fibers of {short(fiber)} m and a tendon of {short(slack)} m", "the file", name)
        return None
    control = int(getattr(m, "actuator_ctrladr", range(a + 1))[a])
    rise, fall = (float(value) for value in m.actuator_dynprm[a][:2])
    return MuscleData(
        name,
        "muscle of MuJoCo",
        ratio * (force if force >= 0 else scale / float(m.actuator_acc0[output])),
        fiber,
        slack,
        max_contraction_velocity=float(m.actuator_gainprm[a][6]),
        activation=rise,
        deactivation=fall,
        rigid_tendon=True,
        controls=tuple(m.actuator_ctrlrange[control].tolist()) if m.actuator_ctrllimited[control] else (0.0, 1.0),
        points=tuple(_path(m, int(m.actuator_trnid[a][0]), body_names, name, notes)),
    )


def _parts(m: Any, tendon: int) -> range:
    return range(m.tendon_adr[tendon], m.tendon_adr[tendon] + m.tendon_num[tendon])


def _path(m: Any, tendon: int, body_names: Sequence[str], muscle: str, notes: Notes) -> list[PathPoint | Surface]:
    path: list[PathPoint | Surface] = []
    for part in _parts(m, tendon):
        k = int(m.wrap_objid[part])
        if m.wrap_type[part] == _SITE:
            body = int(m.site_bodyid[k])
            path.append(PathPoint(body_names[body] if body else None, tuple(m.site_pos[k].tolist())))
            continue
        surface = _surface(m, k, int(m.wrap_prm[part]), body_names)
        if surface is None:
            notes.leave_out("geom with a side site of another body, or on its axis,", "muscles", muscle)
        else:
            path.append(surface)
    kept = [part for k, part in enumerate(path) if not _holds_an_end(path, k)]
    for _ in range(len(path) - len(kept)):
        notes.leave_out(
            "geom with an end of the tendon inside, round which MuJoCo does not lead it,", "muscles", muscle
        )
    return kept


def _holds_an_end(path: Sequence[PathPoint | Surface], k: int) -> bool:
    """Whether a part of a path is a surface with a point before or after it, on the same body, inside of it."""
    surface = path[k]
    if isinstance(surface, PathPoint) or surface.side == "inside":
        return False
    points = [[part for part in parts if isinstance(part, PathPoint)] for parts in (path[:k][::-1], path[k:])]
    ends: list[Any] = [some[0].position for some in points if some and some[0].body == surface.body]
    return any(float(ca.evalf(outside(surface, ca.SX(ca.DM(end))))) < 0 for end in ends)


def _surface(m: Any, geom: int, site: int, body_names: Sequence[str]) -> Surface | None:
    """A sphere or cylinder, which a tendon passes on the side of a site if there is one."""
    body, center, radius = int(m.geom_bodyid[geom]), m.geom_pos[geom], float(m.geom_size[geom][0])
    axis = _third_axis(m.geom_quat[geom])
    ball = m.geom_type[geom] == 2
    side: Any = "shorter"
    if site >= 0:
        side = m.site_pos[site] - center
        inside = np.linalg.norm(side) < radius
        side = side if ball else side - (side @ axis) * axis
        if m.site_bodyid[site] != body or not (inside or side.any()):
            return None
        side = "inside" if inside else side
    name = body_names[body] if body else None
    return Sphere(name, center, radius, side) if ball else Cylinder(name, center, axis, radius, side)


def _third_axis(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
