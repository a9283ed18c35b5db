"""Dynamics of closed chains as functions of NumPy arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.kernels import Compile, check_compile
from colloc.kernels.batch import Batch, sample_rows
from colloc.loops.inverse_dynamics import chain_inverse_dynamics, loop_wrenches
from colloc.loops.mechanism import ClosedChain
from colloc.loops.posture import CLOSED, RANK
from colloc.loops.reduction import constraint_jacobian, dependent_motion, loop_residual
from colloc.loops.sensitivities import chain_hessian, chain_sensitivities
from colloc.model import Load, check_loads
from colloc.support.checks import InputError, as_tuple, finite_array, instance
from colloc.support.display import shown
from colloc.support.lazy import cached_property


class ChainMotion(NamedTuple):
    """Rates and accelerations of all joints, ndarray, each shape (N, n).

    Examples
    --------
    >>> co.loops.ChainMotion._fields
    ('qd', 'qdd')
    """

    qd: np.ndarray
    qdd: np.ndarray


class ChainForces(NamedTuple):
    """Torques of the actuators of a chain and wrenches of its loops, at N samples.

    Parameters
    ----------
    tau : ndarray, shape (N, n) [N m, N]
        Zero at passive joints.
    multipliers : ndarray, shape (N, r) [N, N m]
    force, moment : ndarray, shape (N, loops, 3) [N], [N m]
        Of the first body of a loop on the second, at the origin of the second frame and in the axes of the first.

    Examples
    --------
    >>> co.loops.ChainForces._fields
    ('tau', 'multipliers', 'force', 'moment')
    """

    tau: np.ndarray
    multipliers: np.ndarray
    force: np.ndarray
    moment: np.ndarray


class ChainDerivatives(NamedTuple):
    """Torques and multipliers with their derivatives by (u, ud, udd), at N samples.

    Parameters
    ----------
    tau : ndarray, shape (N, n)
    multipliers : ndarray, shape (N, r)
    dtau : ndarray, shape (N, n, 3 mobility)
    dmultipliers : ndarray, shape (N, r, 3 mobility)

    Examples
    --------
    >>> co.loops.ChainDerivatives._fields
    ('tau', 'multipliers', 'dtau', 'dmultipliers')
    """

    tau: np.ndarray
    multipliers: np.ndarray
    dtau: np.ndarray
    dmultipliers: np.ndarray


class ChainEvaluator:
    """Dynamics of a closed chain evaluated at many samples at once.

    Every method takes arrays with one row per sample, or one sample without that axis: q of all joints, closed (see
    `assemble`), and ud, udd of the independent ones. For ball joints on quaternions derivatives by u are by small turns
    about the axes of the link, at constant components ud and udd.

    Parameters
    ----------
    chain : ClosedChain
    loads : sequence of Load
        Of numbers.
    compile : bool, Compile or None
        Whether an interpreter evaluates the functions, see `colloc.Evaluator`.

    Examples
    --------
    >>> co.loops.ChainEvaluator(chain).forces(chain.posture, [0.0], [0.0]).tau.round(2) + 0.0  # at rest
    array([0.52, 0.  , 0.  ])
    """

    def __init__(self, chain: ClosedChain, *, loads: Sequence[Load] = (), compile: bool | Compile | None = None):
        instance("chain", chain, ClosedChain)
        check_loads(chain.model, as_tuple("loads", loads))
        for load in loads:
            if any(callable(part) for part in (load.force, load.moment, load.point)) or ca.symvar(load.wrench):
                raise InputError(f"the load on {load.body!r} must be numbers")
        check_compile(compile)
        self.chain, self._loads = chain, tuple(loads)
        self._compile = compile
        n, m = chain.model.n, chain.mobility
        self._q, self._ud, self._udd = ca.SX.sym("q", chain.model.n_q), ca.SX.sym("ud", m), ca.SX.sym("udd", m)
        self._weights = ca.SX.sym("weights", n)

    def __repr__(self) -> str:
        return f"ChainEvaluator of {self.chain!r}"

    def motion(self, q: Any, ud: Any, udd: Any) -> ChainMotion:
        """Rates and accelerations of all joints.

        Parameters
        ----------
        q : shape (N, n_q) [rad, m]
        ud, udd : shape (N, mobility)

        Raises
        ------
        InputError
            For a sample with open loops, or with undetermined dependent joints.
        """
        n = self.chain.model.n
        return ChainMotion(*self._evaluate(self._motion, [(n,), (n,)], q=q, ud=ud, udd=udd))

    def forces(self, q: Any, ud: Any, udd: Any) -> ChainForces:
        """Actuator torques and loop forces that produce a motion; parameters as in `motion`.

        Raises
        ------
        InputError
            As in `motion`, and at an actuator singularity, which is named.
        """
        shapes = [(self.chain.model.n,), (self.chain.rows.size,), (len(self.chain.loops), 6)]
        tau, multipliers, wrenches = self._evaluate(self._forces, shapes, driven=True, q=q, ud=ud, udd=udd)
        return ChainForces(tau, multipliers, wrenches[..., 3:], wrenches[..., :3])

    def sensitivities(self, q: Any, ud: Any, udd: Any) -> ChainDerivatives:
        """Torques, multipliers and their derivatives; parameters and errors as in `forces`."""
        n, r, columns = self.chain.model.n, self.chain.rows.size, 3 * self.chain.mobility
        shapes = [(n,), (r,), (n, columns), (r, columns)]
        return ChainDerivatives(*self._evaluate(self._sensitivities, shapes, driven=True, q=q, ud=ud, udd=udd))

    def hessian(self, q: Any, ud: Any, udd: Any, weights: Any) -> np.ndarray:
        """Hessian of weights' tau by (u, ud, udd), ndarray, shape (N, 3 mobility, 3 mobility).

        Parameters
        ----------
        q, ud, udd
            As in `forces`.
        weights : shape (N, n)
        """
        size = 3 * self.chain.mobility
        return self._evaluate(
            self._hessian, [(size, size)], driven=True, q=q, ud=ud, udd=udd, weights=weights
        )[0]  # fmt: skip

    @cached_property
    def _state(self) -> Batch:
        still = ca.SX(self.chain.model.n, 1)
        J = constraint_jacobian(self.chain, self._q, still, still).value
        return self._function([loop_residual(self.chain, self._q), J], {"q": self._q})

    @cached_property
    def _motion(self) -> Batch:
        return self._function([*dependent_motion(self.chain, self._q, self._ud, self._udd)])

    @cached_property
    def _forces(self) -> Batch:
        motion = dependent_motion(self.chain, self._q, self._ud, self._udd)
        actuation = chain_inverse_dynamics(self.chain, self._q, *motion, self._loads)
        wrenches = loop_wrenches(self.chain, self._q, actuation.multipliers)
        return self._function([*actuation, ca.horzcat(*wrenches).T])

    @cached_property
    def _sensitivities(self) -> Batch:
        return self._function([*chain_sensitivities(self.chain, self._q, self._ud, self._udd, self._loads)])

    @cached_property
    def _hessian(self) -> Batch:
        hessian = chain_hessian(self.chain, self._q, self._ud, self._udd, self._weights, self._loads)
        return self._function([hessian], {**self._inputs, "weights": self._weights})

    @property
    def _inputs(self) -> dict[str, ca.SX]:
        return {"q": self._q, "ud": self._ud, "udd": self._udd}

    def _function(self, expressions: list[ca.SX], inputs: dict[str, ca.SX] | None = None) -> Batch:
        inputs = self._inputs if inputs is None else inputs
        rows = [ca.densify(ca.vec(expression.T)) for expression in expressions]
        function = ca.Function("f", list(inputs.values()), ca.cse(rows))
        return Batch.of(function, tuple(inputs), [np.arange(row.shape[0]) for row in rows], self._compile)

    def _evaluate(
        self, batch: Batch, shapes: list[tuple[int, ...]], driven: bool = False, **values: Any
    ) -> list[np.ndarray]:
        values = {name: finite_array(name, value) for name, value in values.items()}
        samples = max((len(value) for value in values.values() if value.ndim == 2), default=None)
        sizes = {"q": self._q, "ud": self._ud, "udd": self._udd, "weights": self._weights}
        count = 1 if samples is None else samples
        inputs = {name: sample_rows(name, value, count, (sizes[name].shape[0],)) for name, value in values.items()}
        self._check(inputs["q"], driven)
        results = batch.evaluate(inputs, count)
        arrays = [rows.reshape(count, *shape) for rows, shape in zip(results, shapes, strict=True)]
        return [array[0] for array in arrays] if samples is None else arrays

    def _check(self, q: np.ndarray, driven: bool) -> None:
        """InputError for the first sample that is open, singular, or not driven."""
        chain, n = self.chain, self.chain.model.n
        phi, J = self._state.evaluate({"q": q}, len(q))
        gaps = np.abs(phi).max(axis=1)
        if (gaps > 100 * CLOSED).any():
            k = int(np.argmax(gaps > 100 * CLOSED))
            loop = chain.loops[int(chain.closures.row_loops[chain.rows[np.abs(phi[k]).argmax()]])]
            raise InputError(f"q at sample {k}: loop {loop.name!r} is open by {gaps[k]:.3g}; see colloc.loops.assemble")
        J = J.reshape(len(q), phi.shape[1], n)
        dependent, independent = J[:, :, chain.dependent_dofs], J[:, :, chain.independent_dofs]
        singular = np.linalg.cond(dependent) > 1 / RANK
        if singular.any():
            raise InputError(
                f"q at sample {int(singular.argmax())} is singular: with {shown(chain.independent)} held, other joints "
                "still move"
            )
        if driven and chain.actuator_dofs != chain.independent_dofs:
            basis = np.zeros((len(q), n, chain.mobility))
            basis[:, chain.independent_dofs] = np.eye(chain.mobility)
            basis[:, chain.dependent_dofs] = -np.linalg.solve(dependent, independent)
            if stuck := chain.undriven(basis):
                raise InputError(f"actuator singularity at sample {stuck[0]}: {stuck[1]}")
