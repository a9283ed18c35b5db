"""The numeric face of the dynamics: NumPy arrays in, NumPy arrays out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.checks import finite_array
from colloc.dynamics import (
    DerivativeRecursion,
    InverseDynamics,
    check_formulation,
    composite_sensitivities,
    forward_dynamics,
    joint_reactions,
    mass_matrix,
    newton_euler,
    total_sensitivities,
)
from colloc.errors import InputError
from colloc.model import Load, Model, check_loads
from colloc.problem import Instant


class TorqueSensitivities(NamedTuple):
    """Actuator torques of N samples and their derivatives.

    Parameters
    ----------
    tau : ndarray, shape (N, n) [N m, N]
    dq, dqd, dqdd : ndarray, shape (N, n, n)
        Entry (k, i, m) is dtau_i/dq_m, dtau_i/dqd_m, dtau_i/dqdd_m at sample k.
    """

    tau: np.ndarray
    dq: np.ndarray
    dqd: np.ndarray
    dqdd: np.ndarray


class Reactions(NamedTuple):
    """What every body's joint transmits, ndarray, each shape (N, n_bodies, 3) [N], [N m]; see `joint_reactions`."""

    force: np.ndarray
    moment: np.ndarray


class Motion(NamedTuple):
    """Position, velocity and acceleration of a point, ndarray, each shape (N, 3), world frame."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class Evaluator:
    """Dynamics of a model evaluated at many samples at once.

    Every method takes arrays of shape (N, n), or (n,) for one sample, whose axis the results then lack as well.

    Parameters
    ----------
    model : Model
        Without symbols.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics.
    sensitivities : callable
        Derivative recursion.
    loads : sequence of Load
        They may be functions of t, q and qd.
    """

    def __init__(
        self,
        model: Model,
        *,
        dynamics: InverseDynamics = newton_euler,
        sensitivities: DerivativeRecursion = composite_sensitivities,
        loads: Sequence[Load] = (),
    ):
        if not isinstance(model, Model):
            raise InputError(f"model must be a Model, got {model!r}")
        check_loads(model, loads)
        check_formulation(dynamics, sensitivities)
        if model.symbols:
            raise InputError(f"model {model.name!r} contains symbols, an evaluator needs numbers: {model.symbols}")
        self.model = model
        self._dynamics, self._recursion = dynamics, sensitivities
        q, qd, qdd, tau = (ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd", "tau"))
        self._now = Instant(model, ca.SX.sym("t"), ca.SX.nan(), q, qd, qdd, tau)
        self._loads = [load.at(self._now) for load in loads]

    def __repr__(self) -> str:
        names = f"torque by {self._dynamics.__name__}, derivatives by {self._recursion.__name__}"
        return f"Evaluator of {self.model.name}, {self.model.n} DOF: {names}"

    def torque(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> np.ndarray:
        """Actuator torques that produce a motion.

        Parameters
        ----------
        q, qd, qdd : shape (N, n) [rad, m] and per s, per s2
        t : float or shape (N,) [s]
            For loads that depend on time.

        Returns
        -------
        ndarray, shape (N, n) [N m, N]
        """
        return self._evaluate(self._torque, [(self.model.n,)], q=q, qd=qd, qdd=qdd, t=t)[0]

    def sensitivities(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> TorqueSensitivities:
        """Actuator torques and their derivatives; parameters as in `torque`."""
        n = self.model.n
        shapes = [(n,), (n, n), (n, n), (n, n)]
        return TorqueSensitivities(*self._evaluate(self._sensitivities, shapes, q=q, qd=qd, qdd=qdd, t=t))

    @property
    def operations(self) -> int:
        """Scalar instructions of one evaluation of torque and sensitivities, inputs and outputs not counted."""
        return arithmetic(self._sensitivities.function)

    def reactions(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> Reactions:
        """Internal force and moment of every joint; parameters as in `torque`."""
        shapes = [(len(self.model.bodies), 3)] * 2
        return Reactions(*self._evaluate(self._reactions, shapes, q=q, qd=qd, qdd=qdd, t=t))

    def mass_matrix(self, q: Any) -> np.ndarray:
        """Joint-space mass matrix, ndarray, shape (N, n, n).

        Parameters
        ----------
        q : shape (N, n) [rad, m]
        """
        return self._evaluate(self._mass_matrix, [(self.model.n, self.model.n)], q=q)[0]

    def forward_dynamics(self, q: Any, qd: Any, tau: Any, t: Any = 0.0) -> np.ndarray:
        """Accelerations that torques produce.

        Parameters
        ----------
        q, qd, tau : shape (N, n)
        t : float or shape (N,) [s]

        Returns
        -------
        ndarray, shape (N, n) [rad/s2, m/s2]

        Raises
        ------
        InputError
            For a chain without inertia, naming its joints.
        """
        return self._evaluate(self._forward_dynamics, [(self.model.n,)], q=q, qd=qd, tau=tau, t=t)[0]

    def point(self, body: str, point: Any = (0, 0, 0), *, q: Any, qd: Any = 0.0, qdd: Any = 0.0) -> Motion:
        """Motion of a point fixed in a link, in the world frame.

        Parameters
        ----------
        body : str
        point : shape (3,) [m]
            In the link frame.
        q, qd, qdd : shape (N, n)
            Rates are zero by default.
        """
        function = self._function(list(self._now.point(body, point)))
        return Motion(*self._evaluate(function, [(3,)] * 3, q=q, qd=qd, qdd=qdd))

    @cached_property
    def _torque(self) -> _Batch:
        now = self._now
        return self._function([self._dynamics(self.model, now.q, now.qd, now.qdd, self._loads)])

    @cached_property
    def _sensitivities(self) -> _Batch:
        now = self._now
        return self._function([*total_sensitivities(self._recursion, self.model, now.q, now.qd, now.qdd, self._loads)])

    @cached_property
    def _reactions(self) -> _Batch:
        now = self._now
        found = joint_reactions(self.model, now.q, now.qd, now.qdd, self._loads)
        return self._function([found.force.T, found.moment.T])

    @cached_property
    def _mass_matrix(self) -> _Batch:
        return self._function([mass_matrix(self.model, self._now.q)])

    @cached_property
    def _forward_dynamics(self) -> _Batch:
        now = self._now
        return self._function([forward_dynamics(self.model, now.q, now.qd, now.tau, self._loads)])

    def _function(self, expressions: list[ca.SX]) -> _Batch:
        now = self._now
        values = [expression.nz[:] for expression in expressions]  # entries that are always zero are not computed
        function = ca.Function("f", [now.t, now.q, now.qd, now.qdd, now.tau], values)
        triplets = [(np.array(e.sparsity().get_triplet(), dtype=int), e.shape[1]) for e in expressions]
        return _Batch(function, [row * width + column for (row, column), width in triplets])

    def _evaluate(self, batch: _Batch, shapes: list[tuple[int, ...]], **given: Any) -> list[np.ndarray]:
        """The one place where numbers go in and come out: map a function over samples."""
        count = max(
            (np.shape(value)[0] for name, value in given.items() if name != "t" and np.ndim(value) == 2), default=None
        )
        samples = 1 if count is None else count
        inputs = [_rows("t", given.get("t", 0.0), samples, ())]
        inputs += [_rows(name, given.get(name, 0.0), samples, (self.model.n,)) for name in ("q", "qd", "qdd", "tau")]
        arrays = []
        for values, places, shape in zip(batch.evaluate(inputs), batch.places, shapes, strict=True):
            array = np.zeros((samples, int(np.prod(shape))))
            array[:, places] = values
            arrays.append(array.reshape(samples, *shape))
        return [array[0] for array in arrays] if count is None else arrays


class _Batch(NamedTuple):
    """A function of the instant that returns nonzeros, and where they belong in each (row-major) result."""

    function: ca.Function
    places: list[np.ndarray]

    def evaluate(self, inputs: list[np.ndarray]) -> list[np.ndarray]:
        """Nonzeros of every result, each ndarray, shape (N, nonzeros), from inputs of shape (N, size)."""
        samples = inputs[0].shape[0]
        results = [np.zeros((samples, places.size)) for places in self.places]
        # Through buffers: converting to and from CasADi's own matrices takes as long as the dynamics.
        buffer, trigger = self.function.map(samples).buffer()
        for k, array in enumerate(inputs):
            buffer.set_arg(k, array.data)  # pyright: ignore[reportCallIssue]
        for k, array in enumerate(results):
            buffer.set_res(k, array.data)  # pyright: ignore[reportCallIssue]
        trigger()
        return results


def arithmetic(function: ca.Function) -> int:
    """Number of arithmetic instructions of an SX function: loads of inputs and constants, and stores, not counted."""
    silent = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)
    return sum(function.instruction_id(k) not in silent for k in range(function.n_instructions()))


def _rows(name: str, value: Any, samples: int, shape: tuple[int, ...]) -> np.ndarray:
    """Samples as contiguous rows, (N, size); a single sample or a scalar is repeated."""
    if np.ndim(value) == len(shape) + 1:
        return np.ascontiguousarray(finite_array(name, value, (samples, *shape)).reshape(samples, -1))
    return np.tile(finite_array(name, value, shape).reshape(1, -1), (samples, 1))
