"""A hopper that floats freely, from MuJoCo's file as its author writes it: pushed off and flown, against MuJoCo."""

from pathlib import Path
from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co

mj: Any = mujoco  # its names are not typed
TOE = (0.0, 0.0, -0.33)
FILE = """<mujoco model="hopper"><option gravity="0 0 -9.81"/>
<default><joint damping="0.1"/><geom type="capsule" size="0.025" density="900"/></default>
<worldbody><body name="trunk" pos="0 0 0.7"><freejoint name="root"/><geom size="0.06" fromto="0 0 0 0 0 0.4"/>
<body name="thigh"><joint name="hip" axis="0 1 0" range="-120 60"/><geom fromto="0 0 0 0 0 -0.3"/>
<body name="shank" pos="0 0 -0.3"><joint name="knee" axis="0 1 0" range="0 140"/><geom fromto="0 0 0 0 0 -0.3"/>
</body></body></body></worldbody><actuator>
<motor joint="hip" gear="80" ctrlrange="-1 1" ctrllimited="true"/>
<motor joint="knee" gear="80" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>"""


def hop(path: Path, file: str = FILE) -> tuple[co.Phases, dict[str, Any]]:
    """A crouch, a push with the toe in place, a flight to 0.45 m above the crouch; and a guess of postures."""
    path.write_text(file, encoding="utf-8")
    model = co.formats.from_mjcf(str(path), balls="quaternion").model
    crouch = np.array(model.neutral)
    crouch[-2:] = -0.9, 1.6
    crouch[:3] -= np.ravel(co.Evaluator(model).point("shank", TOE, q=crouch).position)
    stretched, apex = crouch.copy(), crouch.copy()
    stretched[2] += 0.25
    stretched[-2:] = apex[-2:] = -0.1, 0.2
    apex[2] += 0.45

    def toe(now: co.problem.Instant) -> ca.SX:
        return now.point("shank", TOE).position

    force = co.Unknown("force", size=3, lower=(-np.inf, -np.inf, 0), guess=(0, 0, 80.0), unit="N")
    load = co.Load("shank", force=lambda now: now.force, point=TOE)
    sliding = co.path(lambda now: 0.8 * now.force[2] - ca.sqrt(ca.sumsqr(now.force[:2]) + 1e-4), lower=0, scale=100)
    free = co.bounds(tau=dict.fromkeys(model.joint_names[:6], (0, 0)))
    effort = 1e-2 * co.integral(lambda now: ca.sumsqr(now.tau[6:]))
    start = co.initial(
        q=dict(zip(model.position_names[3:], crouch[3:].tolist(), strict=True)),
        qd=dict.fromkeys(model.joint_names[3:], 0.0),
    )
    on_ground = [start, co.path(toe, equals=0.0), sliding, free]
    in_air = [free, co.path(lambda now: toe(now)[2], lower=0), co.final(q={"root_tz": apex[2]}, qd={"root_tz": 0.0})]
    push = co.Problem(model, co.Free(0.1, 1.0, 0.4), effort, on_ground, unknowns=[force], loads=[load])
    flight = co.Problem(model, co.Free(0.05, 1.0, 0.3), effort, in_air)
    guess = {"push": co.line(crouch, stretched), "flight": co.line(stretched, apex)}
    return co.Phases({"push": push, "flight": flight}), guess


def test_accelerations_of_a_free_body_in_phases_are_continuous_by_default(tmp_path: Path):
    phases, _ = hop(tmp_path / "hopper.xml")
    curves = co.transcription.default_curves(phases, guessed=True)
    assert [int(curve.basis.continuity.min()) for curve in curves.values()] == [2, 2]
    alone = co.transcription.default_curves(phases.phases["flight"], guessed=True)[""]
    assert int(alone.basis.continuity.min()) == 1


def test_a_hopper_from_its_file_is_solved_by_the_plain_call_and_is_mujocos(tmp_path: Path):
    phases, guess = hop(tmp_path / "hopper.xml")
    solution = co.solve(phases, guess=guess, progress=False)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.cost < 0.7
    for phase in solution.phases.values():
        tau = np.asarray(phase.at(np.linspace(0, phase.duration, 2001)).tau)
        weight = 9.81 * sum(float(ca.DM(body.mass)) for body in phase.problem.model.bodies)
        assert np.abs(tau[:, :6]).max() < 3e-3 * weight  # what nothing drives is free
    theirs = mj.MjModel.from_xml_string(FILE)
    off = mj.mjtDisableBit
    theirs.opt.disableflags |= int(off.mjDSBL_CONTACT) | int(off.mjDSBL_LIMIT)
    data, shank = mj.MjData(theirs), theirs.body("shank").id
    for name, phase in solution.phases.items():
        motion = phase.at(np.linspace(0, phase.duration, 21))
        np.testing.assert_allclose(np.linalg.norm(np.asarray(motion.q)[:, 3:7], axis=1), 1.0, atol=1e-12)
        for k in range(21):
            data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.qd[k], motion.qdd[k]
            mj.mj_inverse(theirs, data)
            tau = data.qfrc_inverse.copy()
            if name == "push":
                place = data.xpos[shank] + data.xmat[shank].reshape(3, 3) @ TOE
                slope = np.zeros((3, theirs.nv))
                mj.mj_jac(theirs, data, slope, None, place, shank)
                tau -= slope.T @ np.asarray(motion.signals["force"])[k]
            np.testing.assert_allclose(np.asarray(motion.tau)[k], tau, atol=1e-9)


def test_a_hop_without_a_guess_is_no_costlier_than_with_one(tmp_path: Path):
    """With a shorter trunk the lines end in a motion that costs a quarter more, and on a coarse grid in this one."""
    phases, guess = hop(tmp_path / "hopper.xml", FILE.replace("0 0 0 0 0 0.4", "0 0 0 0 0 0.25"))
    steps = [co.refinement.Solve(), co.refinement.SeekStarts(8, quick=True)]
    blind, led = (co.solve(phases, guess=start, plan=steps, progress=False) for start in (None, guess))
    assert blind.status is led.status is co.solver.Status.SOLVED
    assert blind.cost == pytest.approx(led.cost, rel=1e-6)
