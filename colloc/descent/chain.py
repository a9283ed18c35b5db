"""Movements of closed chains: splines of the independent coordinates, the loops solved at every instant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.descent.objective import Objective
from colloc.descent.spline import SplineMotion
from colloc.kernels import Compile
from colloc.kernels.batch import Batch
from colloc.loops import ChainEvaluator, ClosedChain, assemble, closure_error
from colloc.loops.reduction import posture_derivatives
from colloc.model import Load
from colloc.model.tree import plain_only
from colloc.problem import Cost, Instant
from colloc.support.checks import InputError, finite_array, instance, quoted
from colloc.support.lazy import cached_property


class ChainSample(NamedTuple):
    """A closed chain in motion at N times.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    q, qd, qdd : ndarray, shape (N, n) [rad, m] and per s, per s2
        Of all joints.
    tau : ndarray, shape (N, n) [N m, N]
        Zero at passive joints.
    force, moment : ndarray, shape (N, loops, 3) [N], [N m]
        Of the loops, see `colloc.loops.ChainForces`.
    gap : ndarray, shape (N,) [m, rad]
        Closure error of the loops, see `colloc.loops.closure_error`.

    Examples
    --------
    >>> co.descent.ChainSample._fields
    ('t', 'q', 'qd', 'qdd', 'tau', 'force', 'moment', 'gap')
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    tau: np.ndarray
    force: np.ndarray
    moment: np.ndarray
    gap: np.ndarray


@dataclass(frozen=True, eq=False)
class ChainMovement:
    """Half the time integral of tau' W tau of a closed chain, as a function of the control points.

    Splines move the independent coordinates; the others and their rates follow, then the torques, of least weighted
    square where the actuation is redundant, and their derivatives (Lee et al. 2005, section V). W holds the weights of
    the chain's actuators. Bounds on independent coordinates are those of the motion; other conditions on postures can
    be added as a soft cost.

    Parameters
    ----------
    chain : ClosedChain
    motion : SplineMotion
        Of the independent joints, in their order.
    loads : sequence of Load
        Loads without symbols.
    compile : bool, Compile or None
        Whether an interpreter evaluates the dynamics, see `colloc.Evaluator`.
    soft : Cost, optional
        Costs of the posture to be added, `co.penalty` or `co.integral` of functions of q and of points of links.

    Raises
    ------
    InputError
        For a motion of another number of coordinates than the chain has freedoms, ball joints on quaternions, a soft
        cost of anything but the posture, and as `colloc.loops.ChainEvaluator`.

    Examples
    --------
    >>> start, end = np.array([[0.5], [0.0], [0.0]]), np.array([[2.5], [0.0], [0.0]])  # q, qd and qdd of the crank
    >>> movement = co.descent.ChainMovement(chain, co.descent.SplineMotion(start, end, duration=1.0, intervals=6))
    >>> run = co.descent.modified_newton(movement.objective, movement.start())
    >>> run.status, movement.sample(run.x, np.linspace(0.0, 1.0, 11)).tau.shape
    (<DescentStatus.CONVERGED: 'converged'>, (11, 3))
    """

    chain: ClosedChain
    motion: SplineMotion
    loads: Sequence[Load] = ()
    compile: bool | Compile | None = False
    soft: Cost | None = None
    _dynamics: ChainEvaluator = field(init=False)
    _posture: Batch | None = field(init=False)

    def __post_init__(self):
        plain_only("a movement of a chain by descent", instance("chain", self.chain, ClosedChain).model)
        object.__setattr__(self, "_dynamics", ChainEvaluator(self.chain, loads=self.loads, compile=self.compile))
        if self.chain.passive:
            raise InputError(
                f"freedoms of the chain have no actuator ({', '.join(self.chain.passive)}), which descents need: "
                "use IndependentJoints or CutJoints in a Problem"
            )
        instance("motion", self.motion, SplineMotion)
        if self.motion.n != self.chain.mobility:
            raise InputError(
                f"motion must have {self.chain.mobility} coordinates, those of joints "
                f"{', '.join(self.chain.independent)}, got {self.motion.n}"
            )
        object.__setattr__(self, "_posture", None if self.soft is None else _posture_cost(self.chain, self.soft))

    @cached_property
    def objective(self) -> Objective:
        """The cost, its gradient and Hessian; infinite if the loops cannot be closed."""
        return self.motion.objective(self._running, self._curvature)

    def start(self) -> np.ndarray:
        """Unknowns of the uniform motion from one end to the other, see `SplineMotion.line`.

        Raises
        ------
        InputError
            If the loops cannot be closed along it.
        """
        line = self.motion.line()
        assemble(self.chain, self.motion.states(line)[0])
        return line

    def sample(self, x: np.ndarray, t: np.ndarray | None = None) -> ChainSample:
        """The movement at any times.

        Parameters
        ----------
        x : ndarray, shape (size,)
            Unknowns of the spline.
        t : ndarray, shape (N,) [s], optional
            By default the times of the quadrature.

        Raises
        ------
        InputError
            Where the loops cannot be closed.
        """
        times = self.motion.quadrature[0] if t is None else finite_array("t", t, (None,))
        u, ud, udd = self.motion.states(x, times)
        q = assemble(self.chain, u)
        forces = self._dynamics.forces(q, ud, udd)
        return ChainSample(
            times, q, *self._dynamics.motion(q, ud, udd), forces.tau, forces.force, forces.moment,
            closure_error(self.chain, q),
        )  # fmt: skip

    @cached_property
    def _weights(self) -> np.ndarray:
        """Weights of all joints, shape (n,)."""
        weights = np.zeros(self.chain.model.n)
        weights[self.chain.actuator_dofs] = self.chain.weights
        return weights

    def _running(self, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        u, ud, udd = states
        try:
            q = assemble(self.chain, u)
            derivatives = self._dynamics.sensitivities(q, ud, udd)
        except InputError:  # open, singular, or not driven: the line search must take a shorter step
            return np.full(len(u), np.inf), np.zeros_like(states)
        weighted = self._weights * derivatives.tau
        slopes = np.einsum("tn,tnc->tc", weighted, derivatives.dtau)
        costs, slopes = 0.5 * (weighted * derivatives.tau).sum(axis=1), slopes.reshape(len(u), 3, -1).swapaxes(0, 1)
        if self._posture is not None:
            value, gradient, _ = self._posture.evaluate({"q": q}, len(q))
            costs += value[:, 0]
            slopes[0] += gradient
        return costs, slopes

    def _curvature(self, states: np.ndarray) -> np.ndarray:
        u, ud, udd = states
        q = assemble(self.chain, u)
        derivatives = self._dynamics.sensitivities(q, ud, udd)
        squares = np.einsum("tnc,n,tnd->tcd", derivatives.dtau, self._weights, derivatives.dtau, optimize=True)
        bent = squares + self._dynamics.hessian(q, ud, udd, self._weights * derivatives.tau)
        bent = bent.reshape(len(u), 3, self.motion.n, 3, self.motion.n)
        if self._posture is not None:
            hessian = self._posture.evaluate({"q": q}, len(q))[2]
            bent[:, 0, :, 0, :] += hessian.reshape(len(u), self.motion.n, self.motion.n)
        return bent


def _posture_cost(chain: ClosedChain, soft: Cost) -> Batch:
    """Value, gradient and Hessian of a cost by the independent coordinates, as a function of all joints."""
    if not isinstance(soft, Cost) or any(term.fn is None or term.final for term in soft.terms):
        raise InputError(
            f"soft must be a co.penalty or co.integral of the posture, or a sum of them, got {quoted(soft)}"
        )
    n = chain.model.n
    q, qd, qdd, tau, times = (ca.SX.sym(*each) for each in (("q", n), ("qd", n), ("qdd", n), ("tau", n), ("t", 2)))
    now = Instant(chain.model, times[0], times[1], q, qd, qdd, tau)
    value = ca.SX(0)
    for term in soft.terms:
        assert term.fn is not None
        value += term.weight * term.fn(now)
        if ca.depends_on(value, ca.vertcat(qd, qdd, tau, times)):
            raise InputError(f"soft cost {term.name!r} must depend only on the posture: on q, and points of links")
    outputs = [ca.densify(ca.vec(part)) for part in (value, *posture_derivatives(chain, q, value))]
    return Batch.of(ca.Function("soft", [q], ca.cse(outputs)), ("q",), [np.arange(o.shape[0]) for o in outputs])
