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


class Coordinates:
    """All joints of a model, those included that follow others, at coordinates that may have quaternions in them."""

    def __init__(self, model: co.Model, *, whole: bool = True):
        self.model = model.tree if whole else model
        self.places = {name: k for k, name in enumerate(self.model.position_names)}
        self.dofs = {name: k for k, name in enumerate(self.model.joint_names)}
        self._motion = None
        if whole and model.couplings:
            q, qd, qdd = (ca.SX.sym(name, size) for name, size in (("q", model.n_q), ("qd", model.n), ("qdd", model.n)))
            motion = model.coupled_motion(q, qd, qdd)
            rows = [motion.positions, motion.rates, motion.accelerations, ca.densify(motion.C)]
            self._motion = ca.Function("joints", [q, qd, qdd], rows)

    def of_joints(self, *vectors: np.ndarray) -> tuple[np.ndarray, ...]:
        """Positions, rates and accelerations of the joints, and their rates per rate of the coordinates."""
        if self._motion is None:
            return (*vectors, np.eye(vectors[1].size))
        q, qd, qdd, C = (np.array(part) for part in self._motion(*vectors))
        return q.ravel(), qd.ravel(), qdd.ravel(), C

    def turns(self, name: str) -> tuple[list[int], list[int], bool]:
        """Where the attitude of a free or ball joint is in positions, and its rates; and whether by a quaternion."""
        if f"{name}_qw" in self.places:
            letters = [f"{name}_r{axis}" for axis in "xyz"]
            return [self.places[f"{name}_q{axis}"] for axis in "wxyz"], [self.dofs[joint] for joint in letters], True
        letters = [f"{name}_r{axis}" for axis in "zyx"]
        return [self.places[joint] for joint in letters], [self.dofs[joint] for joint in letters], False

    def slides(self, name: str) -> tuple[list[int], list[int]]:
        """Where the place of a free joint is in positions, and its rates."""
        names = [f"{name}_t{axis}" for axis in "xyz"]
        return [self.places[slide] for slide in names], [self.dofs[slide] for slide in names]

    def attitude(self, name: str, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Rotation, and angular velocity in its axes as B times the rates, and what of its derivative B' rates is."""
        places, dofs, quaternion = self.turns(name)
        if quaternion:
            R = np.zeros(9)
            mj.mju_quat2Mat(R, q[places] / np.linalg.norm(q[places]))
            return R.reshape(3, 3), np.eye(3), np.zeros(3)
        return *turned(q[places]), turning(q[places], qd[dofs])


class PinocchioRobot:
    """A URDF file as Pinocchio reads it; `root` names the link that moves freely, if it does.

    It knows mimic joints, but not in every tree: where it refuses them it has a coordinate for each joint.
    """

    def __init__(self, path: str, model: co.Model, root: str | None):
        base = () if root is None else (pin.JointModelFreeFlyer(),)
        try:
            self.model, whole = pin.buildModelFromUrdf(path, *base, mimic=True), False
        except ValueError:
            self.model, whole = pin.buildModelFromUrdf(path, *base), True
        self.data = self.model.createData()
        self._root, self._joints = root, Coordinates(model, whole=whole)
        joints = list(self.model.joints)[1:]
        self.plain = all(joint.nv == 1 and "Mimic" not in joint.shortname() for joint in joints)

    def state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> State:
        """A state at coordinates of the model; KeyError where there is a joint that is none here."""
        m, at_joints = self.model, self._joints
        q, qd, qdd, C = at_joints.of_joints(q, qd, qdd)
        place, T, drift = pin.neutral(m), np.zeros((m.nv, qd.size)), np.zeros(m.nv)
        for label, joint in list(zip(m.names, m.joints, strict=True))[1:]:
            at, dof, kind = joint.idx_q, joint.idx_v, joint.shortname()
            if "Mimic" in kind:
                continue
            if joint.nv == 1:
                k = at_joints.places[label]
                place[at : at + joint.nq] = q[k] if joint.nq == 1 else (np.cos(q[k]), np.sin(q[k]))
                T[dof, at_joints.dofs[label]] = 1.0
            elif kind == "JointModelFreeFlyer":
                name = str(self._root) if label == "root_joint" else label
                (at_slides, slides), (_, turns, _) = at_joints.slides(name), at_joints.turns(name)
                R, B, change = at_joints.attitude(name, q, qd)
                place[at : at + 7] = [*q[at_slides], *pin.Quaternion(R).coeffs()]
                T[dof : dof + 3, slides], T[dof + 3 : dof + 6, turns] = R.T, B
                drift[dof : dof + 3] = -np.cross(B @ qd[turns], R.T @ qd[slides])
                drift[dof + 3 : dof + 6] = change
            else:
                raise KeyError(kind)
        return State(place, T @ qd, T @ qdd + drift, T @ C)

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

    def resistances(self) -> dict[str, tuple[float, float]]:
        """Damping and friction of joints of one degree of freedom as it has read them; its torques have neither."""
        m = self.model
        single = [(name, j.idx_v) for name, j in zip(m.names, m.joints, strict=True) if j.nv == 1 and j.nvExtended == 1]
        return {name: (float(m.damping[k]), float(m.upperDryFrictionLimit[k])) for name, k in single}


class MujocoRobot:
    """A file as MuJoCo has it without contacts, actuators, fluids and what else readings leave out."""

    plain = False  # MuJoCo has no derivatives but differences

    def __init__(self, path: str, model: co.Model):
        before = mj.get_mju_user_warning()
        mj.set_mju_user_warning(lambda message: None)  # which otherwise fill a file in the working directory
        try:
            self.model = m = mj.MjModel.from_xml_path(path)
        finally:
            mj.set_mju_user_warning(before)
        self.data, self._joints = mj.MjData(m), Coordinates(model)
        self._flags = int(m.opt.disableflags)
        m.opt.disableflags |= int(mj.mjtDisableBit.mjDSBL_CONSTRAINT) | int(mj.mjtDisableBit.mjDSBL_ACTUATION)
        m.opt.density = m.opt.viscosity = 0.0
        m.opt.noslip_iterations, m.opt.integrator = 0, int(mj.mjtIntegrator.mjINT_EULER)  # others have no differences
        for field in ("body_gravcomp", "tendon_stiffness", "tendon_damping", "tendon_armature", "actuator_armature"):
            getattr(m, field)[:] = 0.0
        for j in np.flatnonzero(m.jnt_type < 2):
            m.jnt_stiffness[j] = 0.0
            first, count = int(m.jnt_dofadr[j]) + (3 if m.jnt_type[j] == 0 else 0), 3
            if not self._joints.turns(self._label(int(j)))[2]:  # of three angles a reading leaves it out
                m.dof_damping[first : first + count] = m.dof_armature[first : first + count] = 0.0
        held = [
            e for e in range(m.neq) if m.eq_type[e] == mj.mjtEq.mjEQ_JOINT and m.eq_obj2id[e] < 0 and m.eq_active0[e]
        ]
        self._held = {self._label(int(m.eq_obj1id[e])): float(m.eq_data[e][0]) for e in held}

    def _label(self, j: int) -> str:
        m, body = self.model, int(self.model.jnt_bodyid[j])
        owner = m.body(body).name or f"body{body}"
        if m.joint(j).name:
            return m.joint(j).name
        return owner if m.jnt_type[j] == 0 else f"{owner}_joint{j - m.body_jntadr[body]}"

    def state(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> State:
        """A state at coordinates of the model."""
        m, at_joints = self.model, self._joints
        q, qd, qdd, C = at_joints.of_joints(q, qd, qdd)
        place, T, drift = np.array(m.qpos0), np.zeros((m.nv, qd.size)), np.zeros(m.nv)
        for j in range(m.njnt):
            label, at, dof = self._label(j), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            if label in self._held and label not in at_joints.dofs:
                place[at] += self._held[label]
                continue
            if m.jnt_type[j] > 1:
                place[at], T[dof, at_joints.dofs[label]] = q[at_joints.places[label]], 1.0
                continue
            if m.jnt_type[j] == 0:
                places, slides = at_joints.slides(label)
                place[at : at + 3], T[dof : dof + 3, slides] = q[places], np.eye(3)
                at, dof = at + 3, dof + 3
            R, B, change = at_joints.attitude(label, q, qd)
            T[dof : dof + 3, at_joints.turns(label)[1]] = B
            quaternion = np.zeros(4)
            mj.mju_mat2Quat(quaternion, R.ravel())
            place[at : at + 4], drift[dof : dof + 3] = quaternion, change
        return State(place, T @ qd, T @ qdd + drift, T @ C)

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

    def slopes(self, state: State) -> tuple[np.ndarray, ...]:
        """Derivatives of torques by positions and velocities, by its own differences."""
        self.torque(state)
        by_q, by_v = np.zeros((2, self.model.nv, self.model.nv))
        mj.mjd_inverseFD(self.model, self.data, 1e-6, False, by_q, by_v, None, None, None, None, None)
        return by_q, by_v

    def resistances(self) -> dict[str, tuple[float, float]]:
        """Friction loss of joints of one degree of freedom that slide, of its constraints; damping is in torques."""
        m, data = self.model, self.data
        with _Enabled(m, self._flags, "EQUALITY", "LIMIT", "CONTACT"):
            data.qpos[:], data.qvel[:], data.qacc[:] = m.qpos0, 1e9, 0.0  # beyond all that its solver smooths
            mj.mj_inverse(m, data)
        rows = np.flatnonzero(data.efc_type[: data.nefc] == int(mj.mjtConstraint.mjCNSTR_FRICTION_DOF))
        level = np.zeros(m.nv)
        level[data.efc_id[rows]] = -data.efc_force[rows]
        single = np.flatnonzero(m.jnt_type > 1)
        return {self._label(int(j)): (np.nan, float(level[m.jnt_dofadr[j]])) for j in single}

    def violations(self, state: State) -> dict[str, np.ndarray]:
        """Of connects, welds and couplings of joints by their names, how far they are from being met."""
        m, data = self.model, self.data
        with _Enabled(m, self._flags, "FRICTIONLOSS", "LIMIT", "CONTACT"):
            data.qpos[:], data.qvel[:] = state.q, 0.0
            mj.mj_forward(m, data)
        rows = np.flatnonzero(data.efc_type[: data.nefc] == int(mj.mjtConstraint.mjCNSTR_EQUALITY))
        of = {e: data.efc_pos[rows[data.efc_id[rows] == e]].copy() for e in range(m.neq)}
        for e in np.flatnonzero(m.eq_type == int(mj.mjtEq.mjEQ_WELD)):
            of[int(e)][3:] /= m.eq_data[e][10]  # the scale of torques
        return {m.equality(e).name or f"equality{e}": rows for e, rows in of.items()}


class _Enabled:
    """Constraints of a model, but for some, for a while."""

    def __init__(self, model: Any, flags: int, *without: str):
        self._model, self._before = model, int(model.opt.disableflags)
        self._during = flags
        for name in without:
            self._during |= int(getattr(mj.mjtDisableBit, f"mjDSBL_{name}"))

    def __enter__(self) -> None:
        self._model.opt.disableflags = self._during

    def __exit__(self, *error: object) -> None:
        self._model.opt.disableflags = self._before


Peer = PinocchioRobot | MujocoRobot
