"""Forces of a MuJoCo file that are left out, with their sizes."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from colloc.support.display import short, shown

_SPEED, _STEP = 1.0, 0.3  # of the sample motion [rad/s, m/s], and time from the first posture to its posture [s]
_TELLING = 1e-6  # share of the torques below which a force is not mentioned
_FREE, _BALL = 0, 1  # kinds of MuJoCo's joints
# Forces that are not read, with the fields of a compiled model that hold them; older versions do not have all.
_FIELDS = {
    "springs, dampers and armatures of tendons": (
        "tendon_stiffness", "tendon_stiffnesspoly", "tendon_damping", "tendon_dampingpoly", "tendon_armature"
    ),
    "springs and dampers of joints beyond the linear": ("jnt_stiffnesspoly", "jnt_springyield", "dof_dampingpoly"),
    "dampers and armatures of actuators": ("actuator_damping", "actuator_dampingpoly", "actuator_armature"),
    "flexible bodies": (
        "flex_stiffness", "flex_bending", "flex_damping", "flex_edgestiffness", "flex_edgedamping"
    ),
}  # fmt: skip


def omitted_forces(compiled: Any) -> list[str]:
    """Forces of a compiled model that the reader leaves out, each with the largest change of torques without it.

    The torques are those of MuJoCo's inverse dynamics, without its constraints, in a random posture near the first one,
    with velocities and accelerations of about one unit.

    Parameters
    ----------
    compiled : mujoco.MjModel

    Returns
    -------
    list of str
        Such as "the medium (density 1000, viscosity 0.001): torques change by 94 %"; friction and limits of tendons,
        which are constraints there, with their sizes.
    """
    lines = _tendon_constraints(compiled)
    omissions = _omissions(compiled)
    if not omissions:
        return lines
    full = _torques(compiled)
    for what, leave_out in omissions.items():
        other = copy.copy(compiled)
        leave_out(other)
        share = np.abs(_torques(other) - full).max(initial=0.0) / max(np.abs(full).max(initial=0.0), 1e-300)
        if share > _TELLING:
            lines.append(f"{what}: torques change by {short(100 * share)} % in a sample state")
    return lines


def _omissions(m: Any) -> dict[str, Callable[[Any], None]]:
    """Descriptions of forces, each with a function that removes it from a compiled model."""

    def without_medium(model: Any) -> None:
        model.opt.density = model.opt.viscosity = 0.0

    def without_fields(model: Any, fields: Sequence[str]) -> None:
        for field in fields:
            getattr(model, field)[:] = 0.0

    def without_springs(model: Any) -> None:
        model.jnt_stiffness[balls] = 0.0

    def without_compensation(model: Any) -> None:
        model.body_gravcomp[:] = 0.0

    omissions: dict[str, Callable[[Any], None]] = {}
    if m.opt.density or m.opt.viscosity:
        omissions[f"the medium (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"] = without_medium
    for what, fields in _FIELDS.items():
        acting = [field for field in fields if np.any(getattr(m, field, 0.0))]
        if acting:
            omissions[what + _tendons(m, acting)] = partial(without_fields, fields=acting)
    balls = np.flatnonzero(((m.jnt_type == _FREE) | (m.jnt_type == _BALL)) & (m.jnt_stiffness != 0))
    if balls.size:
        omissions["springs of free and ball joints"] = without_springs
    if m.body_gravcomp.any():
        omissions["gravity compensation"] = without_compensation
    return omissions


def _tendons(m: Any, fields: Sequence[str]) -> str:
    """The names of tendons on which some fields act, in brackets."""
    rows = [np.reshape(getattr(m, field), (m.ntendon, -1)).any(axis=1) for field in fields if field[:6] == "tendon"]
    names = [_tendon(m, k) for k in np.flatnonzero(np.any(rows, axis=0))]
    return f" ({shown(names, 6)})" if names else ""


def _tendon_constraints(m: Any) -> list[str]:
    """Friction and limits of tendons, by name and size."""
    off, library, lines = int(m.opt.disableflags), _library(), list[str]()
    rubbed, limited = np.flatnonzero(m.tendon_frictionloss), np.flatnonzero(m.tendon_limited)
    if rubbed.size and not off & int(library.mjtDisableBit.mjDSBL_FRICTIONLOSS):
        listed = [f"{_tendon(m, k)} {short(float(m.tendon_frictionloss[k]))} N" for k in rubbed]
        lines.append(f"friction of tendons ({shown(listed, 6)})")
    if limited.size and not off & int(library.mjtDisableBit.mjDSBL_LIMIT):
        listed = [f"{_tendon(m, k)} {' to '.join(short(float(end)) for end in m.tendon_range[k])}" for k in limited]
        lines.append(f"limits of tendons ({shown(listed, 6)})")
    return lines


def _tendon(m: Any, k: Any) -> str:
    return m.tendon(int(k)).name or f"tendon{k}"


def _library() -> Any:
    import mujoco  # the caller has it

    return mujoco


def _torques(m: Any) -> np.ndarray:
    """MuJoCo's torques at the sample state, without contacts and other constraints, shape (nv,)."""
    library = _library()
    model = copy.copy(m)
    model.opt.disableflags |= int(library.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, rng = library.MjData(model), np.random.default_rng(0)
    data.qvel[:] = _SPEED * rng.standard_normal(model.nv)
    library.mj_integratePos(model, data.qpos, data.qvel, _STEP)
    data.qacc[:] = rng.standard_normal(model.nv)
    library.mj_inverse(model, data)
    return np.array(data.qfrc_inverse)
