"""A closed chain in a problem: all joints are coordinates, the loops are cut, and the forces there are unknowns.

The tree moves under the forces of its loops, a load on either side of every cut (Xiang et al. 2009, equation 38): the
torques of the problem are then those of the actuators, and passive joints have none. The loops must stay closed. The
differential-algebraic equations

    q'' = f(q, q', tau, mu),    phi(q) = 0

have index 3: phi(q) = 0 determines the loop forces mu only after two differentiations. The index is therefore reduced
to 1, with the gap stabilised (Baumgarte 1972): at every collocation point

    phi'' + 2 a phi' + a^2 phi = 0,    phi'' = J q'' + J' q',    a = settling / duration,

which together with the torques determines q'' and mu there, and phi = 0, J q' = 0 once, at the start. At any other time
these would follow from the other rows, and the Jacobian would lose its rank. A motion with closed loops meets the same
equations for any a. Without the stabilisation loops open on a coarse grid, which an optimum exploits, and stay open.

The loops open by the errors of the equations between collocation points: at the ends of intervals of order
2 degree - 1 for `Radau` and 4 for `HermiteSimpson`, the orders of their points, inside of order degree + 1 and 4
(Ascher, Christiansen and Russell 1981). A grid too coarse for the motion shows as an acceleration of the gap between
nodes, which the solution reports; `colloc.loops.closure_error` measures the gap itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import casadi as ca
import numpy as np

from colloc.loops.arguments import of_instant
from colloc.loops.assembly import closed_way, implied_ends, on_one_branch
from colloc.loops.loop_loads import loop_loads
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import constraint_jacobian, loop_residual
from colloc.problem import Contribution, Instant, Part, Unknown, at, path
from colloc.support.checks import finite_number, instance


@dataclass(frozen=True, eq=False)
class CutJoints(Part):
    """A closed chain whose loops are cut, as a part of a problem of its tree.

    Values at the ends that follow from others, as the loops are closed, are no further equations. Without a guess, the
    motion is guessed by a short way through closed postures; a guess determines the branch. The loop forces are
    splines like accelerations: of one degree less than `Radau` on every interval, with jumps between intervals, or
    quadratic and continuous in `HermiteSimpson`. Joints without actuators have no torque at the collocation points, and
    almost none between them, unless other parts drive them. The cost determines how actuators share a load; the
    chain's weights have no effect.

    See `IndependentJoints` for loops that are solved at every instant.

    Parameters
    ----------
    chain : ClosedChain
    name : str
        Name of the signal with the multipliers of the chain's independent rows, of size r [N, N m], see
        `colloc.loops.loop_wrenches`.
    settling : float
        Number of time constants of the gap in a motion, positive. On the same grid, chains of four to six passive links
        are closed to 1e-5 m with 20, and to 1e-6 m with 200.

    Raises
    ------
    InputError
        For no chain, and a `settling` that is not positive.

    Examples
    --------
    >>> turn = co.Problem(
    ...     model=chain.model,
    ...     duration=1.0,
    ...     minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau)),
    ...     subject_to=[co.initial(q={"crank": 0.5}, qd={"crank": 0.0}), co.final(q={"crank": 2.5}, qd={"crank": 0.0})],
    ...     parts=[co.loops.CutJoints(chain)],
    ... )
    >>> swing = co.solve(turn, co.Radau(20, degree=7), guess=lambda t: co.loops.assemble(chain, [0.5 + 2.0 * t]))
    >>> swing.at(0.3).cut_forces.shape, bool(co.loops.closure_error(chain, swing.q).max() < 1e-6)
    ((2,), True)
    """

    chain: ClosedChain
    name: str = "cut_forces"
    settling: Any = 20.0
    _multipliers: Unknown = field(init=False, repr=False)

    def __post_init__(self):
        instance("chain", self.chain, ClosedChain)
        object.__setattr__(self, "settling", finite_number("settling", self.settling, positive=True))
        object.__setattr__(self, "_multipliers", Unknown(self.name, self.chain.rows.size))

    @property
    def loops(self) -> tuple[str, ...]:
        return tuple(loop.name for loop in self.chain.loops)

    def contribution(self) -> Contribution:
        """Forces of the loops as signals and loads, and closure in position and velocity at the start.

        In acceleration the loops are closed along the motion.
        """
        chain = self.chain
        loops = [chain.loops[k].name for k in chain.closures.row_loops[chain.rows]]
        labels = [f"loop {name}, row {loops[:k].count(name)} of {loops.count(name)}" for k, name in enumerate(loops, 1)]
        return Contribution(
            unknowns=[self._multipliers],
            # The force on the second body of each loop, and the opposite on the first.
            loads=loop_loads(chain, attrgetter(self.name)),
            statements=[
                at(0.0, self.gap, equals=0.0, name="loops closed at the start", labels=labels),
                at(0.0, self.gap_rate, equals=0.0, name="loops closed in rate at the start", labels=labels),
                path(self._settling, equals=0.0, name="loops stay closed", labels=labels),
            ],
            passive=[name for name in chain.model.joint_names if name not in chain.actuators],
        )

    def way(self, prescribed: np.ndarray) -> np.ndarray:
        """Closed postures between prescribed ends, shape (N, n_q)."""
        return closed_way(self.chain, prescribed)

    def implied(self, prescribed: np.ndarray, still: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Prescribed positions and velocities at the ends that follow from others, as the loops are closed."""
        return implied_ends(self.chain, prescribed, still)

    def on_one_branch(self, q: np.ndarray, other: np.ndarray) -> bool:
        """Whether two closed postures are on one branch of the chain, each shape (n_q,)."""
        return on_one_branch(self.chain, q, other)

    def constraint_equations(self, now: Instant) -> dict[str, ca.SX]:
        """The equations of the gap, which determine the loop forces."""
        return {self.name: self._settling(now)}

    def _settling(self, now: Instant) -> ca.SX:
        """The equation of the gap along the motion, SX, shape (r,) [m/s2, rad/s2]."""
        a = self.settling / now.duration
        return self.gap_acceleration(now) + 2 * a * self.gap_rate(now) + a**2 * self.gap(now)

    @of_instant
    def gap(self, now: Instant) -> ca.SX:
        """Residual phi of the independent rows, SX, shape (r,) [m, rad]; zero where the loops are closed."""
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
