"""A closed chain in a problem: the independent joints are coordinates, the loops are solved at every instant.

The motion of the independent joints u determines all others, q = q(u) with phi(q(u)) = 0, and the torques of the
actuators (Lee, Kim, Park, Kim and Bobrow 2005, equations 26 to 46), as on a tree: no loop force is unknown, loops are
always closed, and limits, costs and constraints are functions of the closed chain.

phi(q) = 0 has no closed form. The dependent joints are therefore splines as well, which meet it at collocation points.
At every instant steps of Newton's method lead from these splines to the closed posture: they are part of the
expressions, and differentiated with them. Two suffice, since a gap of 1e-3 at the spline is one of 1e-12 after them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import casadi as ca
import numpy as np

from colloc.dynamics import InverseDynamics, mass_matrix, newton_euler
from colloc.dynamics import inverse_dynamics as tree_torques
from colloc.loops.arguments import of_instant
from colloc.loops.assembly import assemble, implied_ends, nearby, on_one_branch
from colloc.loops.inverse_dynamics import actuation, driven
from colloc.loops.loop_loads import loop_loads
from colloc.loops.mechanism import ClosedChain
from colloc.loops.posture import pivots
from colloc.loops.reduction import (
    Reduction,
    constraint_jacobian,
    loop_residual,
    reduce,
    reduced_motion,
    state_tangent,
)  # fmt: skip
from colloc.loops.sensitivities import chain_hessian, chain_sensitivities, motion_curvature
from colloc.model import Load, Model
from colloc.problem import Condition, Contribution, Coordinates, Instant, JointState, Unknown, path
from colloc.support.checks import InputError, finite_array, flag, instance
from colloc.support.lazy import cached_property

_CORRECTIONS = 2
_SURPLUS = "surplus_torques"


@dataclass(frozen=True, eq=False)
class IndependentJoints(Coordinates):
    """A closed chain as a part of a problem of its tree: its independent joints move, the others follow.

    Without a guess the independent joints move uniformly, from the chain's assembled posture; the first posture of a
    guess determines the branch. Joints without actuators have no torque. A ball joint on a quaternion must be
    independent with all of its turns or with none.

    See `CutJoints` for all joints as coordinates and the loop forces as unknowns.

    Parameters
    ----------
    chain : ClosedChain
    surplus : bool
        With more actuators than degrees of freedom: whether the cost determines how they share a load. The force in the
        null space is then free (equations 42 and 43), and the surplus torques are an unknown signal, "surplus_torques".
        By default the chain's weights determine it (equations 72 and 73).

    Raises
    ------
    InputError
        For `surplus` of a chain with no more actuators than degrees of freedom, and a ball joint that is independent
        with only some of its turns.

    Examples
    --------
    >>> turn = co.Problem(
    ...     model=chain.model,
    ...     duration=1.0,
    ...     minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau)),
    ...     subject_to=[co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 2.5}, qd={"crank": 0.0})],
    ...     parts=[co.loops.IndependentJoints(chain)],
    ... )
    >>> swing = co.solve(turn, co.BSpline(20))
    >>> bool(co.loops.closure_error(chain, swing.q).max() < 1e-9)
    True
    """

    chain: ClosedChain
    surplus: bool = False
    name = "chain"
    _surplus_torques: Unknown | None = field(init=False, repr=False)

    def __post_init__(self):
        instance("chain", self.chain, ClosedChain).independent_places  # noqa: B018 - raises where there are none
        if flag("surplus", self.surplus) and not self.chain.redundant:
            raise InputError(
                f"the chain has {self.chain.mobility} degrees of freedom and as many actuators, none in surplus: "
                "leave out surplus=True"
            )
        torques = None
        if self.surplus:
            units = [self.model.torque_units[self.chain.actuator_dofs[k]] for k in self._surplus]
            torques = Unknown(_SURPLUS, names=[self.chain.actuators[k] for k in self._surplus], unit=units)
        object.__setattr__(self, "_surplus_torques", torques)

    def __repr__(self) -> str:
        return f"IndependentJoints({self.chain!r})"

    @property
    def loops(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.chain.loops)

    def contribution(self) -> Contribution:
        """The surplus torques, if they are free; no torque in freedoms without an actuator."""
        unknowns = [self._surplus_torques] if self._surplus_torques else []
        return Contribution(unknowns=unknowns, passive=self.chain.passive)

    @property
    def model(self) -> Model:
        return self.chain.model

    @property
    def independent(self) -> list[int]:
        return self.chain.independent_dofs

    @property
    def passive(self) -> list[str]:
        driven = (*self.chain.actuators, *self.chain.passive)
        return [name for name in self.model.joint_names if name not in driven]

    @cached_property
    def _surplus(self) -> list[int]:
        """Indices of the actuators in surplus; those of independent joints are chosen last."""
        actuators = self.chain.actuator_dofs
        needed = pivots(
            self.chain.basis(self.chain.posture)[actuators].T,
            [k for k, dof in enumerate(actuators) if dof in self.independent],
        )
        return [k for k in range(len(actuators)) if k not in needed]

    @property
    def posture(self) -> np.ndarray:
        """The posture of the chain's assembly, shape (n_q,)."""
        return self.chain.posture

    @property
    def closure(self) -> Condition:
        """Residual of the independent rows, zero."""
        chain = self.chain
        loops = [chain.loops[k].name for k in chain.closures.row_loops[chain.rows]]
        labels = tuple(f"loop {name} is closed [{k}]" for k, name in enumerate(loops))
        return replace(path(self._residual, equals=0.0, name="closed loops"), labels=labels)

    def _residual(self, now: Instant) -> ca.SX:
        return loop_residual(self.chain, now.q)

    @of_instant
    def motion(self, q: ca.SX, qd: ca.SX, qdd: ca.SX) -> JointState:
        for _ in range(_CORRECTIONS):
            step = reduce(self.chain, q).dependent(loop_residual(self.chain, q))
            q = q - self.model.per_displacement(q) @ step
        rates = reduced_motion(reduce(self.chain, q), qd[self.independent], qdd[self.independent])
        return JointState(q, *rates)

    @of_instant
    def tangent(self, now: Instant) -> ca.SX:
        J = constraint_jacobian(self.chain, now.q, now.qd, now.qdd)
        return state_tangent(reduce(self.chain, now.q), now.qd, now.qdd, J)

    @of_instant
    def inverse_dynamics(self, now: Instant, loads: Sequence[Load], dynamics: InverseDynamics) -> ca.SX:
        reduction = reduce(self.chain, now.q)
        tree = tree_torques(dynamics, self.model, now.q, now.qd, now.qdd, loads)
        if not self.surplus:
            return ca.densify(actuation(reduction, tree)[0].tau)
        return ca.densify(driven(self.chain, self._shared(reduction, tree, now.signals[_SURPLUS])))

    @of_instant
    def has_torque_derivatives(self, now: Instant, loads: Sequence[Load]) -> bool:
        """Whether torques have the derivatives of `chain_sensitivities` and `chain_hessian`.

        They have not with torques in surplus, ball joints on quaternions, and loads that vary.
        """
        varying = ca.vertcat(*now.slots._replace(parameters=ca.SX(0, 1)))
        constant = not any(ca.depends_on(load.wrench, varying) for load in loads)
        return constant and not self.surplus and self.model.has_plain_velocities

    @of_instant
    def torque_slopes(self, now: Instant, loads: Sequence[Load]) -> ca.SX:
        return chain_sensitivities(self.chain, now.q, *self._rates(now), loads).dtau

    @property
    def has_motion_derivatives(self) -> bool:
        """Whether the motion has the derivatives of `motion_curvature`: not with ball joints on quaternions."""
        return self.model.has_plain_velocities

    @of_instant
    def motion_curvature(self, now: Instant, multipliers: Sequence[ca.SX]) -> ca.SX:
        return motion_curvature(reduce(self.chain, now.q), now.qd, now.qdd, multipliers)

    @of_instant
    def torque_curvature(self, now: Instant, loads: Sequence[Load], multipliers: ca.SX) -> ca.SX:
        return chain_hessian(self.chain, now.q, *self._rates(now), multipliers, loads)

    def _rates(self, now: Instant) -> tuple[ca.SX, ca.SX]:
        return now.qd[self.independent], now.qdd[self.independent]

    def _shared(self, reduction: Reduction, tree: ca.SX, surplus: ca.SX) -> ca.SX:
        """Torques of the actuators, with those in surplus known: A tau = N' tau of the tree."""
        A = reduction.basis[self.chain.actuator_dofs, :].T
        needed = [k for k in range(A.shape[1]) if k not in self._surplus]
        torques = ca.SX(A.shape[1], 1)
        torques[self._surplus] = surplus
        torques[needed] = ca.solve(A[:, needed], reduction.basis.T @ tree - A[:, self._surplus] @ surplus)
        return torques

    @of_instant
    def acceleration(self, now: Instant, loads: Sequence[Load]) -> ca.SX:
        reduction = reduce(self.chain, now.q)
        N, zero = reduction.basis, ca.SX(self.chain.mobility, 1)
        steady = reduced_motion(reduction, now.qd[self.independent], zero).qdd
        left = now.tau - tree_torques(newton_euler, self.model, now.q, now.qd, steady, loads)
        return steady + N @ ca.solve(N.T @ mass_matrix(self.model, now.q) @ N, N.T @ left)

    @of_instant
    def multipliers(self, now: Instant, loads: Sequence[Load] = ()) -> ca.SX:
        """Multipliers of the independent rows, SX, shape (r,) [N, N m]; see `loop_wrenches`.

            solution.evaluate(lambda now: joints.multipliers(now, problem.wrenches), t)

        Parameters
        ----------
        now : Instant
        loads : sequence of Load
            Of the environment.
        """
        tree = tree_torques(newton_euler, self.model, now.q, now.qd, now.qdd, loads)
        return reduce(self.chain, now.q).multipliers(tree - self.inverse_dynamics(now, loads, newton_euler))

    @of_instant
    def closing_loads(self, now: Instant, loads: Sequence[Load]) -> tuple[Load, ...]:
        """The forces in the loops."""
        forces = self.multipliers(now, loads)
        return tuple(load.at(now) for load in loop_loads(self.chain, lambda _: forces))

    def implied(self, prescribed: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prescribed positions and velocities at the ends that follow from others, as the loops are closed."""
        return implied_ends(self.chain, prescribed, still)

    def on_one_branch(self, q: np.ndarray, other: np.ndarray) -> bool:
        """Whether two closed postures are on one branch of the chain, each shape (n_q,)."""
        return on_one_branch(self.chain, q, other)

    def postures(self, q: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """Closed postures with the independent coordinates of q, each shape (N, n_q); see `assemble`.

        Where these leave the reach of the chain, or its branch, they are the closed postures nearest to q.
        """
        wanted = finite_array("q", q, (None, self.model.n_q))
        start = None if start is None else finite_array("start", start, (self.model.n_q,))
        try:
            return assemble(self.chain, wanted[:, self.chain.independent_places], start)
        except InputError:
            return nearby(self.chain, wanted)
