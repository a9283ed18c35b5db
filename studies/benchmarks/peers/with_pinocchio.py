"""Inverse dynamics and their derivatives in Pinocchio, called from Python a sample at a time."""

# pyright: reportMissingImports=false, reportAttributeAccessIssue=false, reportIndexIssue=false
# The tool is not in every environment, and has no type stubs.
from __future__ import annotations

from typing import Any


def inverse_dynamics(body: Any, effort: int) -> dict[str, Any]:
    """Torques and all first derivatives of a batch of samples."""
    # [inverse_dynamics
    import numpy as np
    import pinocchio

    world = pinocchio.buildModelFromUrdf(body.urdf)
    world.gravity.linear = np.array(body.gravity)
    data = world.createData()
    order = [body.names.index(name) for name in world.names if name in body.names]
    q, v, a = (np.array(part)[:, order] for part in (body.q, body.qd, body.qdd))
    q = [pinocchio.integrate(world, pinocchio.neutral(world), angles) for angles in q]  # endless hinges are circles
    samples = list(zip(q, v, a, strict=True))
    # inverse_dynamics]

    def torques() -> list[Any]:
        return [pinocchio.rnea(world, data, *sample) for sample in samples]

    def derivatives() -> None:
        for sample in samples:
            pinocchio.computeRNEADerivatives(world, data, *sample)

    return {
        "calls": {"torque": (torques, len(samples)), "derivatives": (derivatives, len(samples))},
        "values": torques()[0].tolist(),
        "names": [body.names[k] for k in order],
    }
