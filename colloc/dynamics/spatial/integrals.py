"""Integrals over the mass of links, and over everything that a joint carries, in world axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.dynamics.spatial.links import WorldLink, added, fixed_in
from colloc.model import Body, Load, Model, check_loads


class Composite(NamedTuple):
    """Integrals over the mass that a joint carries, and sums over the loads on it."""

    mass: ca.SX  # scalar
    moment: ca.SX  # shape (3,); integral of r
    inertia: ca.SX  # shape (3, 3), lower triangle; integral of r r' - (r . r) 1: minus the inertia tensor.
    momentum: ca.SX  # shape (3,); integral of v, the time derivative of r
    # shape (3, 3); integral of v r' - (r . v) 1: minus the moment of the velocities turned by a unit rotation.
    gyration: ca.SX
    wrench: ca.SX  # shape (6,); inertial wrench less the wrench of the loads
    force: ca.SX  # shape (3,); sum of the loads' forces
    turning: ca.SX  # shape (3, 3); change of the loads' moment when forces and moments turn, about points at rest


def composites(model: Model, links: list[WorldLink], loads: Sequence[Load] = ()) -> list[Composite]:
    """Integrals over everything that a joint carries, for every joint."""
    carried = link_integrals(model, links, loads)
    for k, _, parent in reversed(model.walk()):
        if parent >= 0:
            pairs = zip(carried[parent], carried[k], strict=True)
            carried[parent] = Composite(*(a + b for a, b in pairs))
    return carried


def link_integrals(model: Model, links: list[WorldLink], loads: Sequence[Load] = ()) -> list[Composite]:
    """The integrals over each link alone, with the loads that act on it."""
    integrals = [_integrals(body, link) for body, link in zip(model.bodies, links, strict=True)]
    check_loads(model, loads)
    for load in loads:
        k = model.index(load.body)
        at = links[k].origin.value + links[k].rotation @ load.point
        # A turn of the force F and the moment M by a small rotation u changes the moment about the reference point by
        # at x (u x F) + u x M.
        turning = ca.dot(at, load.force) * ca.SX.eye(3) - load.force @ at.T - ca.skew(load.moment)
        integrals[k] = integrals[k]._replace(
            wrench=integrals[k].wrench - ca.vertcat(ca.cross(at, load.force) + load.moment, load.force),
            force=integrals[k].force + load.force,
            turning=integrals[k].turning + turning,
        )
    return integrals


def symmetric(lower: ca.SX) -> ca.SX:
    """The symmetric matrix with this lower triangle."""
    return lower + ca.tril(lower, False).T


def _integrals(body: Body, link: WorldLink) -> Composite:
    """Integrals over a link, without loads."""
    com = added(link.origin, fixed_in(link, body.com))
    moment, momentum, force = (body.mass * part for part in com)
    second, turned, spin = _about_com(body, link)
    # Integrals of r r' and of v r', of which the trace is taken off.
    second, turned = second + ca.tril(moment @ com.value.T), turned + com.rate @ moment.T
    return Composite(
        mass=body.mass,
        moment=moment,
        inertia=second - ca.trace(second) * ca.SX.eye(3),
        momentum=momentum,
        gyration=turned - ca.trace(turned) * ca.SX.eye(3),
        wrench=ca.vertcat(spin + ca.cross(com.value, force), force),
        force=ca.SX(3, 1),
        turning=ca.SX(3, 3),
    )


def _about_com(body: Body, link: WorldLink) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Integrals of r r' (lower triangle), v r' and r x a about the centre of mass, in world axes."""
    # The integral of r r' in link axes.
    distribution = ca.trace(body.inertia) / 2 * ca.SX.eye(3) - body.inertia
    if not (distribution.is_constant() or _is_diagonal(distribution)):
        second = ca.tril(link.rotation @ distribution @ link.rotation.T)
    else:
        ball, rods = _ball_and_rods(distribution)
        if ball == 0 and len(rods) == 1:  # all that turns is one vector
            weight, direction = rods[0]
            r, v, a = fixed_in(link, direction)
            return ca.tril(weight * r @ r.T), v @ (weight * r).T, ca.cross(weight * r, a)
        second = ca.tril(ball * ca.SX.eye(3))
        for weight, direction in rods:
            r = link.rotation @ direction
            second += ca.tril(weight * r @ r.T)
    full = symmetric(second)
    turned = ca.horzcat(*(ca.cross(link.omega, column) for column in ca.horzsplit(full)))
    spin = ca.vertcat(turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1])
    inertia = ca.trace(distribution) * ca.SX.eye(3) - full
    return second, turned, inertia @ link.alpha + ca.cross(link.omega, spin)


def _ball_and_rods(distribution: ca.SX) -> tuple[float, list[tuple[ca.SX, ca.SX]]]:
    """A second moment of mass as ball 1 + sum of weight d d', with as few and as sparse directions d as possible.

    The ball is the smallest eigenvalue, the directions are the columns of a pivoted Cholesky factor of what remains.
    """
    units = ca.horzsplit(ca.SX.eye(3))
    if not distribution.is_constant():
        return 0.0, [(distribution[k, k], units[k]) for k in range(3) if not distribution[k, k].is_zero()]
    numbers = np.array(ca.DM(distribution))
    diagonal = _is_diagonal(distribution)
    smallest = np.diag(numbers).min() if diagonal else np.linalg.eigvalsh(numbers).min()
    noise = 0.0 if diagonal else 1e-15 * np.abs(numbers).max()
    ball = float(smallest) if abs(smallest) > noise else 0.0
    rest = numbers - ball * np.eye(3)
    rods = []
    while np.diag(rest).max() > 4 * noise:
        pivot = int(np.argmax(np.diag(rest)))
        direction = rest[:, pivot] / rest[pivot, pivot]
        rods.append((ca.SX(rest[pivot, pivot]), ca.sparsify(ca.SX(direction))))
        rest = rest - rest[pivot, pivot] * np.outer(direction, direction)
        rest[pivot, :] = rest[:, pivot] = 0.0
    return ball, rods


def _is_diagonal(matrix: ca.SX) -> bool:
    return all(matrix[i, j].is_zero() for i in range(3) for j in range(3) if i != j)
