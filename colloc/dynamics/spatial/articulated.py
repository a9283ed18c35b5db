"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, chapter 7).

All quantities are in world axes about the reference point of the tree, as in `composite`, so that articulated inertias
add without any transformation. A rotor in a joint adds its armature to the inertia along that joint alone.
Velocity-product accelerations and gravity are in the wrench of each link, taken at qdd = 0; what is propagated outward
afterwards is only the acceleration that the joints' qdd add.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import casadi as ca
import numpy as np

from colloc.dynamics.arguments import of_state
from colloc.dynamics.equations import equations_of_motion
from colloc.dynamics.passive import passive_torque
from colloc.dynamics.spatial.composite import mass_matrix
from colloc.dynamics.spatial.integrals import Composite, link_integrals, symmetric
from colloc.dynamics.spatial.links import world_links
from colloc.model import Load, Model
from colloc.support.checks import InputError

_VANISHING = 1e-10  # articulated inertia along a joint, relative to what rounding can tell from zero


@of_state
def forward_dynamics(model: Model, q: ca.SX, qd: ca.SX, tau: ca.SX, loads: Sequence[Load] = ()) -> ca.SX:
    """Accelerations that the actuator torques produce.

    Parameters
    ----------
    model : Model
    q, qd : SX, shape (n,) [rad, m] and per s
    tau : SX, shape (n,) [N m, N]
    loads : sequence of Load

    Returns
    -------
    SX, shape (n,) [rad/s2, m/s2]

    Raises
    ------
    InputError
        If a joint has no inertia in any configuration, such as one that carries only massless links: the mass matrix is
        then singular and accelerations are undetermined.

    Examples
    --------
    >>> tau = ca.SX.sym("tau", 2)
    >>> fall = ca.Function("fall", [q, qd, tau], [co.dynamics.forward_dynamics(model, q, qd, tau)])
    >>> fall([-np.pi / 2, 0.0], 0.0, 0.0).full().round(9).ravel() + 0.0  # it hangs still
    array([0., 0.])
    """
    if model.couplings:
        return _by_mass_matrix(model, q, qd, tau, loads)
    _check_inertia(model)
    rest = ca.SX(model.n, 1)
    links = world_links(model, q, qd, rest)
    integrals = link_integrals(model, links, loads)
    articulated = [_spatial(body_integrals) for body_integrals in integrals]
    wrench = [body_integrals.wrench for body_integrals in integrals]
    net_torques = tau - passive_torque(model, q, qd, rest) if model.passive else tau
    # Per joint: acceleration by its net torque alone, and per unit acceleration of the link above.
    drive: list[ca.SX] = [ca.SX(0)] * len(links)
    drag: list[ca.SX] = [ca.SX(6, 1)] * len(links)
    for k, body, parent, torque in reversed(model.walk(net_torques)):
        screw = links[k].screw.value
        if body.joint.moves:
            resisted = symmetric(articulated[k]) @ screw
            inverse = 1 / (ca.dot(screw, resisted) + body.joint.passive.armature)
            net = torque - ca.dot(screw, wrench[k])
            drive[k], drag[k] = inverse * net, inverse * resisted
            articulated[k] -= ca.tril(resisted @ drag[k].T)
            wrench[k] += drag[k] * net
        if parent >= 0:
            articulated[parent] += articulated[k]
            wrench[parent] += wrench[k]
    qdd: list[ca.SX] = []
    acceleration: list[ca.SX] = []
    for k, body, parent in model.walk():
        acceleration.append(ca.SX(6, 1) if parent < 0 else acceleration[parent])
        if body.joint.moves:
            qdd.append(drive[k] - ca.dot(drag[k], acceleration[k]))
            acceleration[k] += qdd[-1] * links[k].screw.value
    return ca.vertcat(*qdd)


def _by_mass_matrix(model: Model, q: ca.SX, qd: ca.SX, tau: ca.SX, loads: Sequence[Load]) -> ca.SX:
    """Forward dynamics of a model with couplings, which connect branches of the tree."""
    mass, bias = equations_of_motion(model, q, qd, loads)
    _check_mass(model)
    return ca.ldl_solve(tau - bias, *ca.ldl(ca.tril2symm(ca.tril(mass))))


def _check_mass(model: Model) -> None:
    """InputError naming the joints that move in the null space of the mass matrix."""
    q = ca.SX.sym("q", model.n_q)
    symbols = ca.vertcat(q, *model.symbols)
    numbers = ca.Function("generic", [symbols], [mass_matrix(model, q)])
    mass = np.array(numbers(np.random.default_rng(0).uniform(0.5, 1.5, symbols.shape[0])))
    sizes, motions = np.linalg.eigh(mass)
    if sizes[0] <= _VANISHING * sizes[-1]:
        moving = np.abs(motions[:, 0])
        _refuse(model, [model.joint_names[j] for j in np.flatnonzero(moving > 0.1 * moving.max())])


def _spatial(integrals: Composite) -> ca.SX:
    """Spatial inertia about the reference point, SX, shape (6, 6), lower triangle."""
    return ca.vertcat(
        ca.horzcat(-integrals.inertia, ca.SX(3, 3)),
        ca.horzcat(ca.skew(integrals.moment).T, integrals.mass * ca.SX.eye(3)),
    )


def _check_inertia(model: Model) -> None:
    """InputError naming the joints along which the articulated inertia vanishes identically.

    The recursion runs on numbers at one configuration without symmetries, also for symbols of the model: an inertia
    that is zero there, up to rounding, is zero everywhere.
    """
    screws, inertias, rotors = _generic_numbers(model)
    total = [np.abs(inertia) for inertia in inertias]  # a bound of the sums from which a small inertia comes out
    without = []
    for k, body, parent in reversed(model.walk()):
        if body.joint.moves:
            screw = screws[k]
            resisted = inertias[k] @ screw
            along = screw @ resisted + rotors[k]
            if along <= _VANISHING * (np.abs(screw) @ total[k] @ np.abs(screw) + rotors[k]):
                without.append(body.joint_name)
            else:
                inertias[k] = inertias[k] - np.outer(resisted, resisted) / along
        if parent >= 0:
            inertias[parent] = inertias[parent] + inertias[k]
            total[parent] = total[parent] + total[k]
    if without:
        _refuse(model, without[::-1])


def _refuse(model: Model, without: Sequence[str]) -> NoReturn:
    names = ", ".join(map(repr, without))
    raise InputError(
        f"forward dynamics of model {model.name!r} is singular: with the joints beyond free, no inertia resists "
        f"joint {names}; give a link there inertia, or fix the joint (inverse dynamics needs neither)"
    )


def _generic_numbers(model: Model) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Screw and armature of every joint and spatial inertia of every link at an arbitrary configuration."""
    rng = np.random.default_rng(0)
    q, rest = ca.SX.sym("q", model.n_q), ca.SX(model.n, 1)
    symbols = ca.vertcat(q, *model.symbols)
    links = world_links(model, q, rest, rest)
    screws = [link.screw.value for link in links]
    inertias = [symmetric(_spatial(integrals)) for integrals in link_integrals(model, links)]
    rotors = ca.vertcat(*(body.joint.passive.armature for body in model.bodies))
    numbers = ca.Function("generic", [symbols], [ca.horzcat(*screws), ca.horzcat(*inertias), rotors])
    columns, blocks, armatures = (np.array(value) for value in numbers(rng.uniform(0.5, 1.5, symbols.shape[0])))
    return list(columns.T), np.hsplit(blocks, len(links)), armatures.ravel()
