"""Inverse dynamics in MuJoCo: mj_inverse, and its derivatives by mjd_inverseFD, which takes differences."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any


def inverse_dynamics(body: Any, effort: int) -> dict[str, Any]:
    """Torques and all first derivatives of a batch of samples."""
    # [inverse_dynamics
    from pathlib import Path

    import mujoco
    import numpy as np

    # MuJoCo wants every moving link to have a mass.
    light = '<mujoco><compiler boundmass="1e-9" boundinertia="1e-9" discardvisual="true"/></mujoco></robot>'
    world = mujoco.MjModel.from_xml_string(Path(body.urdf).read_text(encoding="utf-8").replace("</robot>", light))
    world.opt.gravity[:] = body.gravity
    world.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data = mujoco.MjData(world)
    names = [world.joint(k).name for k in range(world.njnt)]
    order = [body.names.index(name) for name in names]
    samples = list(zip(*(np.array(part)[:, order] for part in (body.q, body.qd, body.qdd)), strict=True))
    # inverse_dynamics]
    n = world.nv
    slopes = [np.zeros((n, n)) for _ in range(3)]

    def torques() -> list[Any]:
        values = []
        for data.qpos[:], data.qvel[:], data.qacc[:] in samples:
            mujoco.mj_inverse(world, data)
            values.append(data.qfrc_inverse.copy())
        return values

    def derivatives() -> None:
        for data.qpos[:], data.qvel[:], data.qacc[:] in samples[:50]:
            mujoco.mjd_inverseFD(world, data, 1e-6, False, *slopes, None, None, None, None)

    return {
        "calls": {"torque": (torques, len(samples)), "derivatives": (derivatives, 50)},
        "values": torques()[0].tolist(),
        "names": names,
    }
