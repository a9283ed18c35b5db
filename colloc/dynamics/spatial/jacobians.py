"""Jacobians of points fixed in a link, and their time derivatives."""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import of_tree
from colloc.model import CoupledMotion, Model
from colloc.model.joint import sparse_vector
from colloc.model.kinematics import frames, point_in


class PointJacobian(NamedTuple):
    """Jacobian of a point and of the link that carries it, or its time derivative, in world axes.

    Parameters
    ----------
    linear : SX, shape (3, n), sparse
        Velocity of the point per joint rate; only joints that carry the body have a column.
    angular : SX, shape (3, n), sparse
        Angular velocity of the link per joint rate.
    """

    linear: ca.SX
    angular: ca.SX


@of_state
def point_jacobian(model: Model, body: str, point: Any, q: ca.SX) -> PointJacobian:
    """Jacobian of a point fixed in a link.

    Parameters
    ----------
    model : Model
    body : str
    point : shape (3,) [m]
        In the link frame.
    q : SX, shape (n,) [rad, m]

    Raises
    ------
    InputError
        For a body that does not exist or a point of another shape.

    Examples
    --------
    >>> q = ca.SX.sym("q", 2)
    >>> J = co.dynamics.point_jacobian(two_link(), "elbow", (0, 0, 0), q).linear
    >>> ca.Function("J", [q], [J])([0.0, 0.0]).full().round(3) + 0.0
    array([[0. , 0. ],
           [0.8, 0.4],
           [0. , 0. ]])
    """
    return _jacobians(model, body, point, q, ca.SX(model.n, 1))[0]


@of_state
def point_jacobian_rate(model: Model, body: str, point: Any, q: ca.SX, qd: ca.SX) -> PointJacobian:
    """Time derivative of the Jacobian of a point fixed in a link; parameters as in `point_jacobian`.

    The point accelerates by J qdd + (dJ/dt) qd.

    Examples
    --------
    >>> rate = co.dynamics.point_jacobian_rate(model, "elbow", (0, 0, 0), q, qd)
    >>> rate.linear.shape
    (3, 2)
    """
    return _jacobians(model, body, point, q, qd)[1]


def _reduced_columns(
    tree: tuple[PointJacobian, PointJacobian], motion: CoupledMotion
) -> tuple[PointJacobian, PointJacobian]:
    jacobian, rate = tree
    changing = zip(rate, jacobian, strict=True)
    return (
        PointJacobian(*(part @ motion.C for part in jacobian)),
        PointJacobian(*(ca.sparsify(moved @ motion.C + part @ motion.C_rate) for moved, part in changing)),
    )


@of_tree(_reduced_columns)
def _jacobians(model: Model, body: str, point: Any, q: ca.SX, qd: ca.SX) -> tuple[PointJacobian, PointJacobian]:
    """The Jacobian and its time derivative, joint by joint from the body to the base."""
    moving = frames(model, q, qd, ca.SX(model.n, 1))
    k = model.index(body)
    at = point_in(moving, k, point)
    linear, angular, linear_rate, angular_rate = (ca.SX(3, model.n) for _ in range(4))
    while k >= 0:
        joint, dof, parent = model.bodies[k].joint, model.dofs[k], model.parents[k]
        if dof is not None:
            # The frame of the joint's screw, and its time derivative.
            frame = joint.frame(q[model.places[k]])
            placed = frame if parent < 0 else moving.position[parent] @ frame
            placed_rate = ca.SX(4, 4) if parent < 0 else moving.velocity[parent] @ frame
            axis, slide = (placed[:3, :3] @ sparse_vector(part) for part in joint.screw)
            axis_rate, slide_rate = (placed_rate[:3, :3] @ sparse_vector(part) for part in joint.screw)
            arm, arm_rate = at.position - placed[:3, 3], at.velocity - placed_rate[:3, 3]
            angular[:, dof], angular_rate[:, dof] = axis, axis_rate
            linear[:, dof] = ca.cross(axis, arm) + slide
            linear_rate[:, dof] = ca.cross(axis_rate, arm) + ca.cross(axis, arm_rate) + slide_rate
        k = parent
    return (
        PointJacobian(ca.sparsify(linear), ca.sparsify(angular)),
        PointJacobian(ca.sparsify(linear_rate), ca.sparsify(angular_rate)),
    )
