"""Robots in Pinocchio and MuJoCo, read by their own readers, asked in the coordinates of this library."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca
import mujoco
import numpy as np
import pinocchio

import colloc as co

pin: Any = pinocchio  # neither has type stubs
mj: Any = mujoco


class State(NamedTuple):
    """A state as a peer has it, and T with its velocities T qd: angles in a row here are quaternions there."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    T: np.ndarray


def turned(angles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rotation Rz Ry Rx, and the matrix that makes angular velocities in the turned axes of rates of the angles."""
    (cz, cy, cx), (sz, sy, sx) = np.cos(angles), np.sin(angles)
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    Ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    return Rz @ Ry @ Rx, np.array([[-sy, 0, 1], [cy * sx, cx, 0], [cy * cx, -sx, 0]])


def turning(angles: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Time derivative of that matrix, applied to the rates."""
    (_, cy, cx), (_, sy, sx), (_, dy, dx) = np.cos(angles), np.sin(angles), rates
    rows = [[-cy * dy, 0, 0], [-sy * dy * sx + cy * cx * dx, -sx * dx, 0], [-sy * dy * cx - cy * sx * dx, -cx * dx, 0]]
    return np.array(rows) @ rates


class PinocchioRobot:
    """A URDF file as Pinocchio reads it; `root` names the link that moves freely, if it does.

    It knows mimic joints, but not in every tree: where it refuses them it is `whole`, with a coordinate for each joint.
    """

    def __init__(self, path: str, model: co.Model, root: str | None):
        base = () if root is None else (pin.JointModelFreeFlyer(),)
        try:
            self.model, self.whole = pin.buildModelFromUrdf(path, *base, mimic=True), False
        except ValueError:
            self.model, self.whole = pin.buildModelFromUrdf(path, *base), True
        names = (model.tree if self.whole else model).joint_names
        self.data = self.model.createData()
        self._root = root
        self._at = {name: k for k, name in enumerate(names)}
        joints = list(self.model.joints)[1:]
        self.plain = all(joint.nv == 1 and "Mimic" not in joint.shortname() for joint in joints)

    def state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> State:
        """A state, each shape (n,), of all joints if `whole`; KeyError where there is a joint that is none here."""
        m = self.model
        place, T, drift = pin.neutral(m), np.zeros((m.nv, q.size)), np.zeros(m.nv)
        for label, joint in list(zip(m.names, m.joints, strict=True))[1:]:
            at, dof, kind = joint.idx_q, joint.idx_v, joint.shortname()
            if "Mimic" in kind:
                continue
            if joint.nv == 1:
                k = self._at[label]
                place[at : at + joint.nq] = q[k] if joint.nq == 1 else (np.cos(q[k]), np.sin(q[k]))
                T[dof, k] = 1.0
            elif kind == "JointModelFreeFlyer":
                name = self._root if label == "root_joint" else label
                slides = [self._at[f"{name}_t{axis}"] for axis in "xyz"]
                hinges = [self._at[f"{name}_r{axis}"] for axis in "zyx"]
                R, B = turned(q[hinges])
                place[at : at + 7] = [*q[slides], *pin.Quaternion(R).coeffs()]
                T[dof : dof + 3, slides], T[dof + 3 : dof + 6, hinges] = R.T, B
                spin = B @ qd[hinges]
                drift[dof : dof + 3] = -np.cross(spin, R.T @ qd[slides])
                drift[dof + 3 : dof + 6] = turning(q[hinges], qd[hinges])
            else:
                raise KeyError(kind)
        return State(place, T @ qd, T @ qdd + drift, T)

    def torque(self, state: State) -> np.ndarray:
        """Torques of its own velocities."""
        return pin.rnea(self.model, self.data, state.q, state.v, state.a)

    def mass(self, state: State) -> np.ndarray:
        """Mass matrix of its own velocities."""
        upper = np.triu(pin.crba(self.model, self.data, state.q))
        return upper + np.triu(upper, 1).T

    def slopes(self, state: State) -> tuple[np.ndarray, ...]:
        """Derivatives of torques by positions and velocities, where these are joint angles."""
        return pin.computeRNEADerivatives(self.model, self.data, state.q, state.v, state.a)[:2]


class MujocoRobot:
    """A file as MuJoCo has it without contacts, actuators, fluids and what else readings leave out."""

    plain = False  # MuJoCo has no derivatives but differences
    whole = True

    def __init__(self, path: str, model: co.Model):
        before = mj.get_mju_user_warning()
        mj.set_mju_user_warning(lambda message: None)  # which otherwise fill a file in the working directory
        try:
            self.model = m = mj.MjModel.from_xml_path(path)
        finally:
            mj.set_mju_user_warning(before)
        self.data = mj.MjData(m)
        m.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mj.mjtDisableBit.mjDSBL_ACTUATION)
        m.opt.density = m.opt.viscosity = 0.0
        for field in ("body_gravcomp", "tendon_stiffness", "tendon_damping", "tendon_armature", "actuator_armature"):
            getattr(m, field)[:] = 0.0
        for j in np.flatnonzero(m.jnt_type < 2):
            dofs = slice(m.jnt_dofadr[j], m.jnt_dofadr[j] + (6 if m.jnt_type[j] == 0 else 3))
            m.dof_damping[dofs] = m.dof_armature[dofs] = m.jnt_stiffness[j] = 0.0
        self._at = {name: k for k, name in enumerate(model.tree.joint_names)}

    def _label(self, j: int) -> str:
        m, body = self.model, int(self.model.jnt_bodyid[j])
        owner = m.body(body).name or f"body{body}"
        if m.joint(j).name:
            return m.joint(j).name
        return owner if m.jnt_type[j] == 0 else f"{owner}_joint{j - m.body_jntadr[body]}"

    def state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> State:
        """A state of all joints, each shape (n,); KeyError for those that are held here."""
        m = self.model
        place, T, drift = np.array(m.qpos0), np.zeros((m.nv, q.size)), np.zeros(m.nv)
        for j in range(m.njnt):
            label, at, dof = self._label(j), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            if m.jnt_type[j] > 1:
                place[at], T[dof, self._at[label]] = q[self._at[label]], 1.0
                continue
            if m.jnt_type[j] == 0:
                slides = [self._at[f"{label}_t{axis}"] for axis in "xyz"]
                place[at : at + 3], T[dof : dof + 3, slides] = q[slides], np.eye(3)
                at, dof = at + 3, dof + 3
            hinges = [self._at[f"{label}_r{axis}"] for axis in "zyx"]
            R, T[dof : dof + 3, hinges] = turned(q[hinges])
            quaternion = np.zeros(4)
            mj.mju_mat2Quat(quaternion, R.ravel())
            place[at : at + 4], drift[dof : dof + 3] = quaternion, turning(q[hinges], qd[hinges])
        return State(place, T @ qd, T @ qdd + drift, T)

    def torque(self, state: State) -> np.ndarray:
        """Torques of its own velocities, damping, springs and armature included."""
        data = self.data
        data.qpos[:], data.qvel[:], data.qacc[:] = state.q, state.v, state.a
        mj.mj_inverse(self.model, data)
        return data.qfrc_inverse.copy()

    def mass(self, state: State) -> np.ndarray:
        """Mass matrix of its own velocities, at the state whose torques were asked for last."""
        mass = np.zeros((self.model.nv, self.model.nv))
        mj.mj_fullM(self.model, self.data, mass)
        return mass


Peer = PinocchioRobot | MujocoRobot


def all_joints(model: co.Model, *vectors: np.ndarray) -> list[np.ndarray]:
    """Positions, and rates, of all joints of `model.tree`, those that follow others included."""
    motion = model.coupled_motion(*(ca.SX(ca.DM(vector)) for vector in vectors))
    parts = motion.positions, motion.rates, motion.accelerations
    return [np.array(ca.DM(part)).ravel() for part in parts[: len(vectors)]]
