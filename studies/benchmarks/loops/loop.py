"""An arm of MuJoCo that a controller leads along a moving target, with noise in what is measured."""

# pyright: reportAttributeAccessIssue=false
# MuJoCo has no type stubs.
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np


class Step(Protocol):
    """A controller: torques, and the processor's seconds that they took."""

    def __call__(
        self, q: np.ndarray, qd: np.ndarray, goal: np.ndarray, rate: np.ndarray
    ) -> tuple[np.ndarray, float]: ...


def target(task: Any) -> Callable[[float], tuple[np.ndarray, np.ndarray]]:
    """Positions and velocities of the target at a time."""
    home, wide, turns = np.array(task.home), np.array(task.amplitude), 2 * np.pi / np.array(task.period)
    return lambda t: (home + wide * np.sin(turns * t), wide * turns * np.cos(turns * t))


def play(task: Any, step: Step) -> dict[str, Any]:
    """Run the loop; the distance from the target, the excess of limits, and seconds of all ticks.

    Parameters
    ----------
    task : namespace
        The problem of `benchmarks.ticks`.
    step : Step
    """
    import mujoco

    arm = mujoco.MjModel.from_xml_path(task.urdf)
    arm.opt.gravity[:], arm.opt.timestep = task.gravity, task.tick / task.substeps
    arm.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    data, rng, at = mujoco.MjData(arm), np.random.default_rng(0), target(task)
    data.qpos[:] = task.home
    most = np.array([task.position, task.speed, task.torque])
    misses, beyond, seconds = [], [], []
    for k in range(task.ticks):
        goal, rate = at(k * task.tick)
        q = data.qpos + task.noise[0] * rng.standard_normal(arm.nq)
        qd = data.qvel + task.noise[1] * rng.standard_normal(arm.nv)
        tau, spent = step(q, qd, goal, rate)
        data.qfrc_applied[:] = tau
        for _ in range(task.substeps):
            mujoco.mj_step(arm, data)
        misses.append(float(np.abs(data.qpos - at((k + 1) * task.tick)[0]).max()))
        beyond.append((np.abs([data.qpos - task.home, data.qvel, tau]) / most).max(axis=1).tolist())
        seconds.append(spent)
    return {"misses": misses, "limits": np.max(beyond, axis=0).tolist(), "seconds": seconds}
