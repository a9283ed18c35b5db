"""A closed chain in a problem: all joints are coordinates, the loops are cut, and the forces there are unknowns.

The tree moves under the forces that its loops transmit, a load on either side of every cut (Xiang et al. 2009,
equation 38): the torques of the problem are then those of the actuators, and passive joints have none. What is left is
to hold the loops closed. As differential-algebraic equations

    q'' = f(q, q', tau, mu),    phi(q) = 0

are of index 3: phi(q) = 0 says nothing of the loop forces mu until it has been differentiated twice. So the index is
reduced to 1: J q'' + J' q' = 0 at every collocation point, which together with the torques determines q'' and mu there,
and phi = 0, J q' = 0 once, at the start, from where the motion carries them on. Said again anywhere they would follow
from the other rows, whose Jacobian would lose its rank.

What opens the loops after that is what the equations are off between collocation points: at the ends of intervals of
order 2 degree - 1 for `Radau` and 4 for `HermiteSimpson`, the orders of their points, inside of at most degree + 2 and
4 (Ascher, Christiansen and Russell 1981). A grid too coarse for the motion, which an optimum may well exploit, shows as
an acceleration of the gap between nodes, and the solution says so; `colloc.loops.closure_error` measures the gap
itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter

import casadi as ca

from colloc.loops.arguments import of_instant
from colloc.loops.loop_loads import loop_loads
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import constraint_jacobian, loop_residual
from colloc.model import Load
from colloc.problem import Instant, Statement, Unknown, at, bounds, path
from colloc.support.checks import instance
from colloc.support.pickling import Portable


@dataclass(frozen=True, eq=False)
class CutJoints(Portable):
    """The unknowns, constraints and loads that a closed chain adds to a problem of its tree.

    States at the ends are given for the independent joints alone, since the others follow. The guess picks the branch.
    The loop forces are splines as accelerations are: on every interval of one degree less than `Radau` has, and free to
    jump between intervals, or quadratic and continuous in `HermiteSimpson`. Passive joints have no torque at the
    collocation points, and next to none between them. Actuators share a load as the cost wants them to, whatever the
    chain's weights.

    See `IndependentJoints` for loops that are solved at every instant.

    Parameters
    ----------
    chain : ClosedChain
    name : str
        Of the signal with the multipliers.

    Attributes
    ----------
    multipliers : Unknown, of size r [N, N m]
        Of the chain's rows that count, see `colloc.loops.loop_wrenches`.

    Examples
    --------
    >>> cut = co.loops.CutJoints(chain)
    >>> turn = co.Problem(
    ...     model=chain.model,
    ...     duration=1.0,
    ...     minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau)),
    ...     subject_to=[
    ...         co.initial(q={"crank": 0.5}, qd={"crank": 0.0}),
    ...         co.final(q={"crank": 2.5}, qd={"crank": 0.0}),
    ...         *cut.constraints,
    ...     ],
    ...     unknowns=[cut.multipliers],
    ...     loads=cut.loads,
    ... )
    >>> swing = co.solve(turn, co.Radau(20, degree=7), guess=lambda t: co.loops.assemble(chain, [0.5 + 2.0 * t]))
    >>> swing.at(0.3).cut_forces.shape, bool(co.loops.closure_error(chain, swing.q).max() < 1e-6)
    ((2,), True)
    """

    chain: ClosedChain
    name: str = "cut_forces"
    multipliers: Unknown = field(init=False)

    def __post_init__(self):
        instance("chain", self.chain, ClosedChain)
        object.__setattr__(self, "multipliers", Unknown(self.name, self.chain.rows.size))

    @property
    def loads(self) -> tuple[Load, ...]:
        """The forces of the loops: on the second body of each, and the opposite on the first."""
        return loop_loads(self.chain, attrgetter(self.name))

    @property
    def constraints(self) -> tuple[Statement, ...]:
        """Closure: in position and velocity at the start, in acceleration all along; passive joints without torque."""
        chain = self.chain
        loops = [chain.loops[k].name for k in chain.closures.row_loops[chain.rows]]
        labels = [f"loop {name}, row {loops[:k].count(name)} of {loops.count(name)}" for k, name in enumerate(loops, 1)]
        passive = [name for name in chain.model.joint_names if name not in chain.actuators]
        idle = (bounds(tau=dict.fromkeys(passive, (0.0, 0.0))),) if passive else ()
        return (
            at(0.0, self.gap, equals=0.0, name="loops closed at the start", labels=labels),
            at(0.0, self.gap_rate, equals=0.0, name="loops closed in rate at the start", labels=labels),
            path(self.gap_acceleration, equals=0.0, name="loops stay closed", labels=labels),
            *idle,
        )

    @of_instant
    def gap(self, now: Instant) -> ca.SX:
        """Residual phi of the rows that count, SX, shape (r,) [m, rad]; zero where the loops are closed."""
        return loop_residual(self.chain, now.q)

    @of_instant
    def gap_rate(self, now: Instant) -> ca.SX:
        """Rate J q' of `gap`."""
        still = ca.SX(self.chain.model.n, 1)
        return constraint_jacobian(self.chain, now.q, still, still).value @ now.qd

    @of_instant
    def gap_acceleration(self, now: Instant) -> ca.SX:
        """Acceleration J q'' + J' q' of `gap`."""
        J = constraint_jacobian(self.chain, now.q, now.qd, ca.SX(self.chain.model.n, 1))
        return J.value @ now.qdd + J.rate @ now.qd
