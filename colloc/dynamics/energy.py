"""Energies, momentum and centre of mass of the whole tree, from transforms and pseudo-inertias of the links."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import of_tree, unreduced
from colloc.dynamics.passive import rotor_energy, spring_energy
from colloc.model import Model
from colloc.model.kinematics import frames
from colloc.support.checks import InputError


class Momentum(NamedTuple):
    """Momentum of the whole tree, in world axes, SX, each shape (3,).

    Parameters
    ----------
    linear : SX [kg m/s]
    angular : SX [kg m2/s]
        About the world origin.
    centroidal : SX [kg m2/s]
        Angular momentum about the centre of mass.
    """

    linear: ca.SX
    angular: ca.SX
    centroidal: ca.SX


@of_state
@of_tree(unreduced)
def kinetic_energy(model: Model, q: ca.SX, qd: ca.SX) -> ca.SX:
    """Kinetic energy, the sum of tr(B I B') / 2 over the links, and that of the rotors in the joints.

    Parameters
    ----------
    model : Model
    q, qd : SX, shape (n,) [rad, m] and per s

    Returns
    -------
    SX, scalar [J]

    Examples
    --------
    >>> ca.Function("energy", [q, qd], [co.dynamics.kinetic_energy(model, q, qd)])([0.0, 0.0], [1.0, 0.0])
    DM(0.2)
    """
    velocity = frames(model, q, qd, ca.SX(model.n, 1)).velocity
    doubled = ca.SX(0)
    for body, b in zip(model.bodies, velocity, strict=True):
        doubled += ca.dot(b[:3, :] @ body.pseudo_inertia, b[:3, :])
    return doubled / 2 + rotor_energy(model, q, qd) if model.passive else doubled / 2


@of_state
@of_tree(unreduced)
def potential_energy(model: Model, q: ca.SX) -> ca.SX:
    """Potential energy, SX, scalar [J], of gravity and of the springs in the joints; parameters as in `kinetic_energy`.

    That of gravity is zero for a mass at the world origin.

    Examples
    --------
    >>> ca.Function("energy", [q], [co.dynamics.potential_energy(model, q)])([np.pi / 2, 0.0])
    DM(3.924)
    """
    gravity = -ca.dot(ca.SX(model.gravity), _mass_moment(model, q))
    return gravity + spring_energy(model, q) if model.passive else gravity


@of_state
def total_mass(model: Model) -> ca.SX:
    """Mass of all links, SX, scalar [kg].

    Examples
    --------
    >>> co.dynamics.total_mass(two_link())
    SX(1)
    """
    return ca.sum1(ca.vertcat(*(body.mass for body in model.bodies)))


@of_state
def center_of_mass(model: Model, q: ca.SX) -> ca.SX:
    """Centre of mass of the tree in the world frame, SX, shape (3,) [m]; parameters as in `kinetic_energy`.

    InputError for a model without mass.

    Examples
    --------
    >>> q = ca.SX.sym("q", 2)
    >>> ca.Function("centre", [q], [co.dynamics.center_of_mass(two_link(), q)])([0.0, 0.0])
    DM([0.4, 0, 0])
    """
    return _mass_moment(model, q) / _some_mass(model)


@of_state
def momentum(model: Model, q: ca.SX, qd: ca.SX) -> Momentum:
    """Linear and angular momentum of the whole tree; parameters as in `kinetic_energy`.

    InputError for a model without mass, which has no centre of mass.

    Examples
    --------
    >>> linear = co.dynamics.momentum(model, q, qd).linear
    >>> ca.Function("momentum", [q, qd], [linear])([0.0, 0.0], [1.0, 0.0]).full().ravel().round(3) + 0.0
    array([0. , 0.4, 0. ])
    """
    mass = _some_mass(model)
    moving = frames(model, q, qd, ca.SX(model.n, 1))
    # Sum of A I B': the integral of r v' with r = (x, y, z, 1), so that its last row is that of v.
    integral = ca.SX(4, 4)
    for body, a, b in zip(model.bodies, moving.position, moving.velocity, strict=True):
        integral += a @ body.pseudo_inertia @ b.T
    angular = ca.vertcat(
        integral[1, 2] - integral[2, 1], integral[2, 0] - integral[0, 2], integral[0, 1] - integral[1, 0]
    )
    linear = integral[3, :3].T
    return Momentum(linear, angular, angular - ca.cross(_mass_moment(model, q) / mass, linear))


def _mass_moment(model: Model, q: ca.SX) -> ca.SX:
    """Sum of mass times position of the centre of mass, SX, shape (3,) [kg m]."""
    rest = ca.SX(model.n, 1)
    moment = ca.SX(3, 1)
    for body, a in zip(model.bodies, frames(model, q, rest, rest).position, strict=True):
        moment += a[:3, :] @ body.pseudo_inertia[:, 3]
    return moment


def _some_mass(model: Model) -> ca.SX:
    mass = total_mass(model)
    if mass.is_zero():
        raise InputError(f"model {model.name!r} has no mass, so it has no centre of mass")
    return mass
