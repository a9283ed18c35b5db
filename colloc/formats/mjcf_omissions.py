"""Forces of a MuJoCo file that are left out, with their sizes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from colloc.support.display import short, shown

_SPEED, _STEP = 1.0, 0.3  # of the sample motion [rad/s, m/s], and time from the first posture to its posture [s]
_TELLING = 1e-6  # share of the torques below which a force is not mentioned
_OF_TENDONS = ("tendon_stiffness", "tendon_damping", "tendon_armature")  # the last is not in older versions
_FREE, _BALL = 0, 1  # kinds of MuJoCo's joints


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
        Such as "the medium (density 1000, viscosity 0.001): torques change by 94 %".
    """
    omissions = _omissions(compiled)
    if not omissions:
        return []
    full = _torques(compiled)
    lines = []
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

    def without_tendons(model: Any) -> None:
        for name in of_tendons:
            getattr(model, name)[:] = 0.0

    def without_springs(model: Any) -> None:
        model.jnt_stiffness[balls] = 0.0

    def without_compensation(model: Any) -> None:
        model.body_gravcomp[:] = 0.0

    omissions: dict[str, Callable[[Any], None]] = {}
    if m.opt.density or m.opt.viscosity:
        omissions[f"the medium (density {m.opt.density:g}, viscosity {m.opt.viscosity:g})"] = without_medium
    of_tendons = [name for name in _OF_TENDONS if hasattr(m, name)]
    acting = [k for k in range(m.ntendon) if any(np.any(getattr(m, name)[k]) for name in of_tendons)]
    if names := [m.tendon(k).name or f"tendon{k}" for k in acting]:
        omissions[f"springs, dampers and armatures of tendons ({shown(names, 6)})"] = without_tendons
    balls = np.flatnonzero(((m.jnt_type == _FREE) | (m.jnt_type == _BALL)) & (m.jnt_stiffness != 0))
    if balls.size:
        omissions["springs of free and ball joints"] = without_springs
    if m.body_gravcomp.any():
        omissions["gravity compensation"] = without_compensation
    return omissions


def _torques(m: Any) -> np.ndarray:
    """MuJoCo's torques at the sample state, without contacts and other constraints, shape (nv,)."""
    import mujoco  # the caller has it

    library: Any = mujoco
    model = copy.copy(m)
    model.opt.disableflags |= int(library.mjtDisableBit.mjDSBL_CONSTRAINT)
    data, rng = library.MjData(model), np.random.default_rng(0)
    data.qvel[:] = _SPEED * rng.standard_normal(model.nv)
    library.mj_integratePos(model, data.qpos, data.qvel, _STEP)
    data.qacc[:] = rng.standard_normal(model.nv)
    library.mj_inverse(model, data)
    return np.array(data.qfrc_inverse)
