"""Pinocchio as its user calls it from Python: one sample after another."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

import colloc as co

try:
    import pinocchio
except ImportError:  # the benchmark then goes without
    pinocchio = None

pin: Any = pinocchio  # has no type stubs


class PinocchioLoop:
    """Torques and their derivatives of a model, by Pinocchio.

    Pinocchio wants joints numbered depth first, so its coordinates come in an order of their own.

    Parameters
    ----------
    model : Model
        With numbers only and without fixed joints.
    """

    def __init__(self, model: co.Model):
        self._model = pin.Model()
        self._model.gravity.linear = np.array([float(k) for k in model.gravity])
        self._dofs: list[int] = []
        for root in (k for k, parent in enumerate(model.parents) if parent == -1):
            self._add(model, root, 0, pin.SE3.Identity())
        self._data = self._model.createData()
        self._places = np.argsort(self._dofs)

    def _add(self, model: co.Model, k: int, carrier: int, offset: Any) -> None:
        body, dof = model.bodies[k], model.dofs[k]
        assert dof is not None, f"body {body.name!r} has a fixed joint"
        before, after = (pin.SE3(_numbers(side)) for side in (body.joint.before, body.joint.after))
        joint = self._model.addJoint(carrier, _joint(body.joint), offset * before, body.name)
        self._dofs.append(dof)
        inertia = pin.Inertia(float(body.mass), _numbers(body.com).ravel(), _numbers(body.inertia))
        self._model.appendBodyToJoint(joint, inertia, after)
        for child in (child for child, parent in enumerate(model.parents) if parent == k):
            self._add(model, child, joint, after)

    def ordered(self, samples: np.ndarray) -> np.ndarray:
        """Samples of this library in Pinocchio's order of coordinates, shape (N, n)."""
        return np.ascontiguousarray(samples[:, self._dofs])

    def back(self, values: np.ndarray) -> np.ndarray:
        """Vectors (N, n) or matrices (N, n, n) in this library's order."""
        values = values[:, self._places]
        return values if values.ndim == 2 else values[:, :, self._places]

    def torque(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Torques of ordered samples, ndarray, shape (N, n)."""
        found, model, data = np.empty_like(q), self._model, self._data
        for k in range(q.shape[0]):
            found[k] = pin.rnea(model, data, q[k], qd[k], qdd[k])
        return found

    def derivatives(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> None:
        """Torques and derivatives of ordered samples, each overwritten by the next."""
        model, data = self._model, self._data
        for k in range(q.shape[0]):
            pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])

    def kept_derivatives(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[np.ndarray, ...]:
        """Torques and derivatives of ordered samples, kept: shape (N, n) and three times (N, n, n)."""
        model, data = self._model, self._data
        tau = np.empty_like(q)
        dq, dqd, dqdd = (np.empty((*q.shape, q.shape[1])) for _ in range(3))
        for k in range(q.shape[0]):
            dq[k], dqd[k], dqdd[k] = pin.computeRNEADerivatives(model, data, q[k], qd[k], qdd[k])
            tau[k] = data.tau
        return tau, dq, dqd, dqdd


def _joint(joint: co.model.Joint) -> Any:
    """Joint of Pinocchio; about or along z its special one, which is faster."""
    axis = np.asarray(joint.axis, dtype=float)
    if joint.turns and joint.slides:
        return pin.JointModelHelicalUnaligned(axis, float(axis @ joint.screw.linear))
    if np.array_equal(axis, [0, 0, 1]):
        return pin.JointModelRZ() if joint.turns else pin.JointModelPZ()
    make = pin.JointModelRevoluteUnaligned if joint.turns else pin.JointModelPrismaticUnaligned
    return make(axis)


def _numbers(matrix: Any) -> np.ndarray:
    return np.array(ca.DM(matrix))
