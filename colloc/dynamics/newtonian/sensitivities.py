"""Derivatives of the recursive Newton-Euler inverse dynamics: direct differentiation, in moving (link) coordinates.

Barman (2020), chapter III, steps 3 to 10, for trees with fixed joints and any number of loads: actuator torques, and
the internal force and moment of every joint. Each coordinate has one outward pass over the links that it moves and
one inward pass over these links and the links that carry its joint. The passes of all coordinates run side by side:
a derivative is a sparse matrix with a column for every q, then every qd, then every qdd, and nothing is stored or
computed in the column of a coordinate that cannot matter to the link.

With a the axis of a revolute joint in link axes, a vector v that comes from the parent has d(R' v)/dq = R' v x a and
a vector w that goes to the parent d(R w)/dq = R (a x w): this is the R_j,i of the print. Positions and velocities
(steps 5 and 6) are not needed, because step 7 is written with omega x (omega x r).

Differences from print (automatic differentiation agrees with this module):

- (3.15) to (3.22) The derivatives of alpha by qd and qdd are not carried from link to link. They follow from those of
  omega, because both belong to one smooth motion. This also corrects (3.18), i = j, where the axis is differentiated.
- (3.13) A slide turns with its parent: domega/dqd is R' times the parent's, not 0.
- (3.51), last line: domega/dqdd is printed, which is 0; dalpha/dqdd is meant. (3.61), first line: a dot is missing.
- (3.52), i = j: the arm of a slide grows along a, which adds alpha x a + omega x (omega x a). The alpha is printed as
  omega x (the axis).
- (3.67), (3.68) The sign of g. Gravity is an upward acceleration of the world here, and step 7 differentiates it.
- (3.76), j = k: the rotation in the value of a load is printed as differentiated; that belongs to (3.77) alone.
- (3.76) to (3.91) A `Load` is what the environment applies, so it is subtracted.
- (3.79), (3.87), (3.91) A load has no derivative by qd and qdd; the inertial part keeps its own.
- (3.83) The arm of a slide grows under all that its joint carries: a x F is missing in the dmoment/dq of that joint.
- (3.85), j = k: the lever arm of the load in its own link is missing; (r_k + dx_j) x dF is meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca

from colloc.dynamics.arguments import of_state
from colloc.dynamics.coupled import by_state, of_tree
from colloc.dynamics.formulation import Sensitivities, reduced_sensitivities
from colloc.dynamics.loads import Differentiated, loads_in_links, with_varying_loads
from colloc.dynamics.newtonian.recursion import (
    LinkMotion,
    Reactions,
    joint_reactions,
    link_motions,
    link_wrenches,
    reduced_reactions,
)
from colloc.dynamics.passive import passive_sensitivities
from colloc.model import CoupledMotion, Load, Model


class Derivatives(NamedTuple):
    """Derivatives of a stack of vectors with respect to q, qd and qdd, SX, each shape (3 n_bodies, n), sparse.

    Rows 3k to 3k + 2 belong to body k. Column m is stored there only when joint m is an ancestor of the body's
    joint, the same joint, or a descendant.
    """

    dq: ca.SX
    dqd: ca.SX
    dqdd: ca.SX


class ReactionSensitivities(NamedTuple):
    """Joint reactions and their derivatives.

    Parameters
    ----------
    reactions : Reactions
        See `joint_reactions`.
    actuation : Sensitivities
        See `newton_euler_sensitivities`.
    force, moment : Derivatives
        Of the reactions' force [N] and moment [N m], in link axes and about the point of `Reactions`; their columns
        in turn make up the rows.
    """

    reactions: Reactions
    actuation: Sensitivities
    force: Derivatives
    moment: Derivatives


def _reduced_reactions(tree: ReactionSensitivities, motion: CoupledMotion) -> ReactionSensitivities:
    force, moment = (Derivatives(*by_state(slopes, motion)) for slopes in (tree.force, tree.moment))
    reactions = reduced_reactions(tree.reactions, motion)
    return ReactionSensitivities(reactions, reduced_sensitivities(tree.actuation, motion), force, moment)


# Force, moment (3,) and their derivatives (3, 3 n) of every link; lists that the inward pass adds to.
_Wrenches = tuple[list[ca.SX], list[ca.SX], list[ca.SX], list[ca.SX]]


class _LinkSlopes(NamedTuple):
    """Sensitivities of a link's motion, in link axes; SX, each shape (3, 3 n), columns q, qd, qdd."""

    omega: ca.SX
    alpha: ca.SX
    acceleration: ca.SX


@of_state
@of_tree(reduced_sensitivities)
def newton_euler_sensitivities(
    model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> Sensitivities:
    """Actuator torques of a motion, and their derivatives; parameters as in `composite_sensitivities`.

    Barman (2020), equations 3.92 to 3.95. Force, moment and point of loads are taken as constant; the rotation of the
    link under them is differentiated.

    Examples
    --------
    >>> tau, dq, dqd, dqdd = co.dynamics.newton_euler_sensitivities(model, q, qd, qdd)
    >>> ca.Function("mass", [q, qd, qdd], [dqdd])([0.0, 0.0], 0.0, 0.0)
    DM(
    [[0.4, 0.16],
     [0.16, 0.12]])
    """
    return reaction_sensitivities(model, q, qd, qdd, loads).actuation


@of_state
@of_tree(_reduced_reactions)
def reaction_sensitivities(
    model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> ReactionSensitivities:
    """Internal force and moment of every joint and their derivatives; parameters as in `composite_sensitivities`.

    Barman (2020), equations 3.72 to 3.91.

    Examples
    --------
    >>> sensitivities = co.dynamics.reaction_sensitivities(model, q, qd, qdd)
    >>> type(sensitivities).__name__
    'ReactionSensitivities'
    """
    links = link_motions(model, q, qd, qdd)
    slopes = _outward_slopes(model, links, qd)
    force, moment = link_wrenches(model, links)
    dforce, dmoment = _wrench_slopes(model, links, slopes)
    _subtract_loads(model, links, slopes, loads, (force, moment, dforce, dmoment))
    tau, dtau = _inward(model, links, (force, moment, dforce, dmoment))
    reactions = Reactions(tau, ca.horzcat(*force), ca.horzcat(*moment))
    dq, dqd, dqdd = _split(model, dtau)
    # The mass matrix is symmetric: what an acceleration does to the ancestors of its joint is known already.
    actuation = Sensitivities(tau, dq, dqd, ca.tril2symm(ca.tril(dqdd)))
    return ReactionSensitivities(reactions, actuation, _split(model, dforce), _split(model, dmoment))


@of_state
def total_reaction_sensitivities(
    model: Model, q: ca.SX, qd: ca.SX, qdd: ca.SX, loads: Sequence[Load] = ()
) -> ReactionSensitivities:
    """`reaction_sensitivities` with the effect of loads that depend on the state, such as a ground reaction.

    Parameters as there. Torques of passive parts are part of the actuation. For ball joints on quaternions dq is by
    displacements, and computed by CasADi, as in `total_sensitivities`.

    Examples
    --------
    >>> sensitivities = co.dynamics.total_reaction_sensitivities(model, q, qd, qdd)
    >>> type(sensitivities).__name__
    'ReactionSensitivities'
    """

    def stacked(loads: Sequence[Load]) -> Differentiated:
        reactions, actuation, *derivatives = reaction_sensitivities(model, q, qd, qdd, loads)
        values = ca.vertcat(actuation.tau, ca.vec(reactions.force), ca.vec(reactions.moment))
        return values, [ca.vertcat(*parts) for parts in zip(actuation[1:], *derivatives, strict=True)]

    if model.has_plain_velocities:
        values, slopes = with_varying_loads(stacked, q, qd, qdd, loads)
    else:
        tau, force, moment = joint_reactions(model, q, qd, qdd, loads)
        values = ca.vertcat(tau, ca.vec(force), ca.vec(moment))
        by_q, by_qd, by_qdd = (ca.jacobian(values, part) for part in (q, qd, qdd))
        slopes = [ca.sparsify(by_q @ model.per_displacement(q)), by_qd, by_qdd]
    bodies = len(model.bodies)
    ends = [0, model.n, model.n + 3 * bodies, model.n + 6 * bodies]
    tau, *vectors = ca.vertsplit(values, ends)
    torque_slopes, *derivatives = zip(*(ca.vertsplit(slope, ends) for slope in slopes), strict=True)
    actuation = Sensitivities(tau, *torque_slopes)
    if model.passive:
        passive = passive_sensitivities(model, q, qd, qdd)
        actuation = Sensitivities(*(rigid + more for rigid, more in zip(actuation, passive, strict=True)))
    reactions = Reactions(actuation.tau, *(ca.reshape(vector, 3, bodies) for vector in vectors))
    return ReactionSensitivities(reactions, actuation, *(Derivatives(*parts) for parts in derivatives))


def _outward_slopes(model: Model, links: list[LinkMotion], qd: ca.SX) -> list[_LinkSlopes]:
    """Steps 3, 4 and 7 for every link."""
    n = model.n
    slopes: list[_LinkSlopes] = []
    for k, _, parent in model.walk():
        link, dof = links[k], model.dofs[k]
        omega, alpha, acceleration = _from_parent(model, links, slopes, link, parent)
        if dof is not None:
            axis, slide = link.axis, link.slide
            acceleration -= 2 * ca.skew(slide * qd[dof]) @ omega
            alpha -= ca.skew(axis * qd[dof]) @ omega
            # A turn about the axis leaves the screw as it is, so that omega and alpha turn as a whole. The acceleration
            # does so at the joint's origin; the arm is fixed in the link but for its growth by the slide.
            at_joint = link.acceleration - _field(link, link.arm)
            omega[:, dof], alpha[:, dof], turned = (ca.cross(v, axis) for v in (link.omega, link.alpha, at_joint))
            acceleration[:, dof] = turned + _field(link, slide)
            acceleration[:, n + dof] = 2 * ca.cross(link.omega, slide)
            acceleration[:, 2 * n + dof] = slide
            omega[:, n + dof] = axis
        # In link axes alpha is the time derivative of omega, hence these two.
        by_q, by_qd = omega[:, :n], omega[:, n : 2 * n]
        alpha = ca.horzcat(alpha[:, :n], 2 * by_q - ca.skew(link.omega) @ by_qd, by_qd)
        acceleration += _field_slopes(link, link.arm, omega, alpha)
        slopes.append(_LinkSlopes(omega, alpha, acceleration))
    return slopes


def _from_parent(
    model: Model, links: list[LinkMotion], slopes: list[_LinkSlopes], link: LinkMotion, parent: int
) -> _LinkSlopes:
    """The parent's slopes at the joint's origin, in link axes: columns of the joint's ancestors."""
    if parent < 0:
        return _LinkSlopes(*(ca.SX(3, 3 * model.n) for _ in range(3)))
    omega, alpha, acceleration = slopes[parent]
    acceleration += _field_slopes(links[parent], link.root, omega, alpha)
    return _LinkSlopes(*(link.rotation.T @ x for x in (omega, alpha, acceleration)))


def _field(link: LinkMotion, point: ca.SX) -> ca.SX:
    """Acceleration of a point fixed in the link, less that of the origin of its coordinates."""
    return ca.cross(link.alpha, point) + ca.cross(link.omega, ca.cross(link.omega, point))


def _field_slopes(link: LinkMotion, point: ca.SX, omega: ca.SX, alpha: ca.SX) -> ca.SX:
    """Derivatives of `_field` for a given point; omega x (omega x r) is omega (omega . r) - r (omega . omega)."""
    swing = link.omega @ point.T - 2 * point @ link.omega.T + ca.dot(link.omega, point) * ca.SX.eye(3)
    return swing @ omega - ca.skew(point) @ alpha


def _wrench_slopes(model: Model, links: list[LinkMotion], slopes: list[_LinkSlopes]) -> tuple[list[ca.SX], list[ca.SX]]:
    """Step 8: derivatives of every link's inertial force and of its moment about the link origin."""
    dforce, dmoment = [], []
    for body, link, (omega, alpha, acceleration) in zip(model.bodies, links, slopes, strict=True):
        inertial = body.mass * (acceleration + _field_slopes(link, body.com, omega, alpha))
        momentum = body.inertia @ link.omega
        spin = body.inertia @ alpha + (ca.skew(link.omega) @ body.inertia - ca.skew(momentum)) @ omega
        dforce.append(inertial)
        dmoment.append(spin + ca.skew(body.com) @ inertial)
    return dforce, dmoment


def _subtract_loads(
    model: Model, links: list[LinkMotion], slopes: list[_LinkSlopes], loads: Sequence[Load], wrenches: _Wrenches
) -> None:
    """Equations 3.76 to 3.91 on the loaded links; the inward pass propagates them."""
    force, moment, dforce, dmoment = wrenches
    n = model.n
    for j, applied, turning, point in loads_in_links(model, [link.rotation for link in links], loads):
        force[j] -= applied
        moment[j] -= turning + ca.cross(links[j].arm + point, applied)
        # A constant vector of the world, seen from a link that turns by z dq, changes by v x z dq; z is domega/dqd.
        turned = ca.horzcat(slopes[j].omega[:, n : 2 * n], ca.SX(3, 2 * n))
        dforce[j] -= ca.skew(applied) @ turned
        dmoment[j] -= (ca.skew(turning) + ca.skew(point) @ ca.skew(applied)) @ turned


def _inward(model: Model, links: list[LinkMotion], wrenches: _Wrenches) -> tuple[ca.SX, list[ca.SX]]:
    """Steps 9 and 10: wrenches of the joints from those of the links; torques and rows of their derivatives."""
    force, moment, dforce, dmoment = wrenches
    tau, dtau = ([ca.SX(0)] * model.n for _ in range(2))
    for j, _, parent in reversed(model.walk()):
        link, dof = links[j], model.dofs[j]
        dmoment[j] += ca.skew(link.arm) @ dforce[j]  # about the joint's origin from here on
        if dof is not None:
            dmoment[j][:, dof] += ca.cross(link.slide, force[j])  # the arm grows under all that the joint carries
            tau[dof] = ca.dot(link.axis, moment[j]) + ca.dot(link.slide, force[j])
            dtau[dof] = link.axis.T @ dmoment[j] + link.slide.T @ dforce[j]
        if parent >= 0:
            carried = link.rotation @ force[j]
            force[parent] += carried
            moment[parent] += link.rotation @ moment[j] + ca.cross(links[parent].arm + link.root, carried)
            push, turn = ca.SX(dforce[j]), ca.SX(dmoment[j])
            if dof is not None:
                push[:, dof] += ca.cross(link.axis, force[j])
                turn[:, dof] += ca.cross(link.axis, moment[j])
            push = link.rotation @ push
            dforce[parent] += push
            dmoment[parent] += link.rotation @ turn + ca.skew(link.root) @ push
    return ca.vertcat(*tau), dtau


def _split(model: Model, rows: list[ca.SX]) -> Derivatives:
    n, stacked = model.n, ca.vertcat(*rows)
    return Derivatives(*(ca.sparsify(stacked[:, k * n : (k + 1) * n]) for k in range(3)))
