"""Dynamics at many samples at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

from colloc.curves.spline_basis import SplineBasis
from colloc.dynamics.evaluator.samples import (
    PointSamples,
    ReactionSamples,
    ReactionSensitivitySamples,
    SplineSensitivities,
    StateDerivatives,
    TorqueSensitivities,
)
from colloc.dynamics.evaluator.spline import PositionSlopes, spline_sensitivities
from colloc.dynamics.formulation import DerivativeRecursion, InverseDynamics, check_formulation
from colloc.dynamics.instant import Instant
from colloc.dynamics.inverse import inverse_dynamics, total_sensitivities
from colloc.dynamics.newtonian.recursion import joint_reactions, newton_euler
from colloc.dynamics.newtonian.sensitivities import total_reaction_sensitivities
from colloc.dynamics.spatial.articulated import forward_dynamics
from colloc.dynamics.spatial.composite import composite_sensitivities, mass_matrix
from colloc.kernels import Compile, check_compile
from colloc.kernels.batch import Batch, arithmetic, sample_rows, spread
from colloc.model import Load, Model, check_forward, check_loads
from colloc.support.checks import InputError, angles, as_tuple, finite_array, function, instance, spelt
from colloc.support.interrupts import reraise_interrupt
from colloc.support.lazy import cached_property

INPUTS = ("t", "q", "qd", "qdd", "tau")
_MANY_TURNS = 6 * np.pi  # rad: a posture beyond it may be in degrees


@spelt
class Evaluator:
    """Dynamics of a model evaluated at many samples at once.

    Every method takes arrays of shape (N, n), or (n,) for one sample, without that axis in the results. Positions q of
    a model with ball joints on quaternions have shape (N, n_q), and derivatives by q are by small displacements of the
    n joints at constant velocities and accelerations: see `Model.per_displacement`.

    Parameters
    ----------
    model : Model
        Without symbols.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics.
    sensitivities : callable
        Derivative recursion.
    loads : sequence of Load
        May be functions of t, q and qd.
    compile : bool, Compile or None
        By default an interpreter, which a C compiler (GCC or Clang) compiles once for a machine, evaluates large
        batches, and CasADi's virtual machine small ones. With True the interpreter evaluates all; without a compiler
        the virtual machine does, after a CompileWarning. False always uses it.

    Examples
    --------
    >>> evaluator = co.Evaluator(problem.model)
    >>> q = np.zeros((5, 2))
    >>> evaluator.torque(q, 0.0 * q, 0.0 * q + 1.0).shape
    (5, 2)
    >>> evaluator.sensitivities(q, 0.0 * q, 0.0 * q).dqdd[0].round(3)  # the mass matrix
    array([[0.4 , 0.16],
           [0.16, 0.12]])
    """

    @reraise_interrupt
    def __init__(
        self,
        model: Model,
        *,
        dynamics: InverseDynamics = newton_euler,
        sensitivities: DerivativeRecursion = composite_sensitivities,
        loads: Sequence[Load] = (),
        compile: bool | Compile | None = None,
    ):
        instance("model", model, Model)
        loads = as_tuple("loads", loads)
        check_loads(model, loads)
        check_formulation(dynamics, function("sensitivities", sensitivities, "a recursion"))
        check_compile(compile)
        if model.symbols:
            raise InputError(f"model {model.name!r} contains symbols, an evaluator needs numbers: {model.symbols}")
        self.model = model
        self._dynamics, self._recursion = dynamics, sensitivities
        self._compile = compile
        q, qd, qdd, tau = (ca.SX.sym(name, len(model.names(name))) for name in ("q", "qd", "qdd", "tau"))
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

    def sensitivities(
        self, q: Any, qd: Any, qdd: Any, t: Any = 0.0, *, out: TorqueSensitivities | None = None
    ) -> TorqueSensitivities:
        """Actuator torques and their derivatives; parameters as in `torque`.

        Parameters
        ----------
        out : TorqueSensitivities, optional
            An earlier result for as many samples, whose memory is overwritten: on a long batch new memory takes as long
            as the computation.
        """
        batch = self._sensitivities
        if out is not None:
            instance("out", out, TorqueSensitivities)
        values, single = self._values(batch, None if out is None else out.nonzeros, q=q, qd=qd, qdd=qdd, t=t)
        tau, dq, dqd, dqdd = (array[0] for array in values) if single else values
        tau = spread(tau, batch.places[0], self.model.n)
        return TorqueSensitivities(tau, (dq, dqd, dqdd), (batch.places[1], batch.places[2], batch.places[3]))

    @property
    def operations(self) -> int:
        """Number of scalar instructions for torque and sensitivities, without inputs and outputs."""
        return arithmetic(self._sensitivities.kernel.function)

    def reactions(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> ReactionSamples:
        """Internal force and moment of every joint; parameters as in `torque`."""
        shapes = [(len(self.model.bodies), 3)] * 2
        return ReactionSamples(*self._evaluate(self._reactions, shapes, q=q, qd=qd, qdd=qdd, t=t))

    def reaction_sensitivities(self, q: Any, qd: Any, qdd: Any, t: Any = 0.0) -> ReactionSensitivitySamples:
        """Internal force and moment of every joint, and their derivatives; parameters as in `torque`.

        Loads that depend on the state are differentiated with it (Barman 2020, equations 3.72 to 3.91). Derivatives by
        q are by displacements, see `Model.displaced`.

            slopes = evaluator.reaction_sensitivities(q, qd, qdd)
            slopes.reactions.force, slopes.force.dq                    # (N, n_bodies, 3), (N, n_bodies, 3, n)
        """
        bodies, n = len(self.model.bodies), self.model.n
        shapes = [(bodies, 3)] * 2 + [(bodies, 3, n)] * 6
        slopes = self._evaluate(self._reaction_sensitivities, shapes, q=q, qd=qd, qdd=qdd, t=t)
        return ReactionSensitivitySamples(
            ReactionSamples(*slopes[:2]), StateDerivatives(*slopes[2:5]), StateDerivatives(*slopes[5:])
        )

    def spline_sensitivities(self, basis: SplineBasis, points: Any, duration: float, s: Any) -> SplineSensitivities:
        """Torques along a spline and their derivatives by control points, breakpoints and duration, each at a fixed s.

        Xiang, Arora and Abdel-Malek (2009), equations 41 and 42; Barman (2020), equations 4.13 to 4.17, where times
        are not divided by the duration.

            basis = co.BSpline(8, degree=4).basis
            slopes = evaluator.spline_sensitivities(basis, points, 1.5, np.linspace(0, 1, 50))

        Parameters
        ----------
        basis : SplineBasis
            Of the same degree everywhere, such as `BSpline.basis`.
        points : shape (basis.size, n_q)
            Control points of the positions; quaternions may have any length.
        duration : float [s]
        s : shape (N,)
            Normalised times, at which loads have t = s duration.
        """
        return spline_sensitivities(self._along_splines, basis, points, duration, s, self.model.n_q)

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

    @reraise_interrupt
    def point(self, body: str, point: Any = (0, 0, 0), *, q: Any, qd: Any = 0.0, qdd: Any = 0.0) -> PointSamples:
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
        return PointSamples(*self._evaluate(function, [(3,)] * 3, q=q, qd=qd, qdd=qdd))

    @cached_property
    def _along_splines(self) -> Any:
        plain = self.model.has_plain_velocities
        return self.sensitivities if plain else PositionSlopes(self.model, self.sensitivities)

    @cached_property
    def _torque(self) -> Batch:
        now = self._now
        return self._function([inverse_dynamics(self._dynamics, self.model, now.q, now.qd, now.qdd, self._loads)])

    @cached_property
    def _sensitivities(self) -> Batch:
        now = self._now
        return self._function([*total_sensitivities(self._recursion, self.model, now.q, now.qd, now.qdd, self._loads)])

    @cached_property
    def _reactions(self) -> Batch:
        now = self._now
        reactions = joint_reactions(self.model, now.q, now.qd, now.qdd, self._loads)
        return self._function([reactions.force.T, reactions.moment.T])

    @cached_property
    def _reaction_sensitivities(self) -> Batch:
        now = self._now
        slopes = total_reaction_sensitivities(self.model, now.q, now.qd, now.qdd, self._loads)
        return self._function([slopes.reactions.force.T, slopes.reactions.moment.T, *slopes.force, *slopes.moment])

    @cached_property
    def _mass_matrix(self) -> Batch:
        return self._function([mass_matrix(self.model, self._now.q)])

    @cached_property
    def _forward_dynamics(self) -> Batch:
        now = self._now
        check_forward(self._loads, now.qdd)
        return self._function([forward_dynamics(self.model, now.q, now.qd, now.tau, self._loads)])

    def _function(self, expressions: list[ca.SX]) -> Batch:
        now = self._now
        values = [expression.nz[:] for expression in expressions]  # entries that are always zero are not computed
        together = ca.vertcat(*values)
        inputs = {name: getattr(now, name) for name in INPUTS if ca.depends_on(together, getattr(now, name))}
        function = ca.Function("f", list(inputs.values()), [ca.densify(value) for value in values])
        triplets = [(np.array(e.sparsity().get_triplet(), dtype=int), e.shape[1]) for e in expressions]
        places = [row * width + column for (row, column), width in triplets]
        return Batch.of(function, tuple(inputs), places, self._compile)

    def _evaluate(self, batch: Batch, shapes: list[tuple[int, ...]], **inputs: Any) -> list[np.ndarray]:
        values, single = self._values(batch, None, **inputs)
        arrays = [
            spread(array, places, int(np.prod(shape))).reshape(len(array), *shape)
            for array, places, shape in zip(values, batch.places, shapes, strict=True)
        ]
        return [array[0] for array in arrays] if single else arrays

    @cached_property
    def _hinges(self) -> np.ndarray:
        return np.flatnonzero(self.model.hinge_angles)

    @reraise_interrupt
    def _values(
        self, batch: Batch, memory: Sequence[np.ndarray] | None, **values: Any
    ) -> tuple[list[np.ndarray], bool]:
        """The one place where numbers go in and come out: nonzeros of results, and whether samples lack an axis."""
        values = {name: finite_array(name, value) for name, value in values.items()}
        count = max((value.shape[0] for name, value in values.items() if name != "t" and value.ndim == 2), default=None)
        shapes = {name: () if name == "t" else (len(self.model.names(name)),) for name in INPUTS}
        samples = 1 if count is None else count
        inputs = {name: sample_rows(name, values.get(name, 0.0), samples, shapes[name]) for name in INPUTS}
        if count is None and np.abs(inputs["q"]).max(initial=0.0) > _MANY_TURNS:
            angles("q", inputs["q"][0, self._hinges], turns=3)
        if memory is None:
            return batch.evaluate(inputs, samples), count is None
        # The memory of all results but the first, which is small.
        arrays = [np.zeros((samples, batch.places[0].size)), *map(np.atleast_2d, memory)]
        for array, places in zip(arrays, batch.places, strict=True):
            if array.shape != (samples, places.size):
                raise InputError(f"out must hold {samples} samples of this evaluator, got shape {array.shape}")
        return batch.evaluate(inputs, samples, arrays), count is None
