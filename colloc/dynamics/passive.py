"""Torques of the passive parts of joints: rotors, dampers, springs and friction.

The actuator torque is that of the rigid bodies plus

    armature qdd + damping qd + stiffness (q - rest) + level tanh(qd / velocity).

The recursions have no passive parts. `colloc.dynamics.inverse`, mass matrix, forward dynamics and energies add them.
Torques of a joint depend on its coordinate alone, so that matrices of derivatives are diagonal.

Armature is the inertia of a rotor reflected through the gear: gear ratio squared times that of the rotor. As usual the
rotor spins fast relative to its carrier, whose rotation has no effect on it (Featherstone 2008, section 9.6).
"""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from colloc.dynamics.coupled import by_rows, of_tree, unreduced
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.model import Model


class _Parts(NamedTuple):
    """Passive parts of the joints that move, SX, each shape (n,)."""

    damping: ca.SX
    stiffness: ca.SX
    rest: ca.SX
    armature: ca.SX
    level: ca.SX
    velocity: ca.SX


@of_tree(by_rows)
def passive_torque(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> ca.SX:
    """Torque for the passive parts in addition to that for the rigid bodies, SX, shape (n,) [N m, N]."""
    p = _parts(model)
    return (
        p.armature * qdd
        + p.damping * qd
        + p.stiffness * (model.screw_coordinates(q) - p.rest)
        + p.level * ca.tanh(qd / p.velocity)
    )


@of_tree(reduced_sensitivities)
def passive_sensitivities(model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> Sensitivities:
    """The passive torque and its derivatives by q, qd and qdd: of springs, of dampers and friction, of rotors."""
    p = _parts(model)
    friction = p.level / p.velocity * (1 - ca.tanh(qd / p.velocity) ** 2)
    slopes = _diagonal(p.stiffness), _diagonal(p.damping + friction), _diagonal(p.armature)
    return Sensitivities(passive_torque(model, q, qd, qdd), *slopes)


def passive_hessian(model: Model, qd: ca.SX, multipliers: ca.SX) -> ca.SX:
    """Hessian of multipliers' passive torque by qd, SX, shape (n, n), diagonal, sparse; all others are zero.

    For models without couplings.
    """
    p = _parts(model)
    share = ca.tanh(qd / p.velocity)
    return _diagonal(-2 * multipliers * p.level / p.velocity**2 * share * (1 - share**2))


def armature(model: Model) -> ca.SX:
    """Inertia of every joint's rotor, SX, shape (n,) [kg m2, kg]."""
    return _parts(model).armature


@of_tree(unreduced)
def rotor_energy(model: Model, q: ca.SX, qd: ca.SX) -> ca.SX:
    """Kinetic energy of the rotors, SX, scalar [J], at the coordinates q and rates qd, SX, shape (n,)."""
    return ca.dot(armature(model) * qd, qd) / 2


@of_tree(unreduced)
def spring_energy(model: Model, q: ca.SX) -> ca.SX:
    """Potential energy of the springs, zero at rest, SX, scalar [J], at the coordinates q, SX, shape (n,)."""
    p = _parts(model)
    stretch = model.screw_coordinates(q) - p.rest
    return ca.dot(p.stiffness * stretch, stretch) / 2


def _parts(model: Model) -> _Parts:
    frictionless = (ca.SX(0), ca.SX(1))  # no level, at any velocity
    rows = []
    for passive in (joint.passive for joint in model.joints):
        friction = passive.friction
        smoothed = frictionless if friction is None else (friction.level, friction.velocity)
        rows.append((passive.damping, passive.stiffness, passive.rest, passive.armature, *smoothed))
    return _Parts(*(ca.vertcat(*column) for column in zip(*rows, strict=True)))


def _diagonal(entries: ca.SX) -> ca.SX:
    """Diagonal matrix of the entries that are not identically zero."""
    return ca.sparsify(ca.diag(entries))
