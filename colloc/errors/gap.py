"""Excess of a motion's cost over the optimum: a Newton step of its program on richer splines.

An estimate from the motion alone misses everything that its curve forbids: a smooth spline on its way from one bound to
the other costs time, and violates nothing. The excess is the distance from the optimum, to second order, on a richer
curve: every interval halved, accelerations that may jump between all of them, and limits at as many Gauss points as
these have freedoms (with more points the piece that holds a switch stays below its limits, and a tenth of the gap is
missed). The motion itself is such a spline, so that nothing has to be solved again: the program is expanded there, the
cost and the rows to first order and the Lagrangian to second,

    min over d of  g'd + d'Hd / 2,  A d within the room that the rows have left,

a quadratic program. Its multipliers estimate the costates that the coarse program does not have (zero wherever a spline
stays below a bound). The curvature of the rows requires multipliers, so H is first that of the cost alone, made convex;
if the rest of the curvature changes the gain of that step, the program is solved again with all of it. With H = 0 and
bounds on the torques alone this is the Hamiltonian gap, the time integral of |switching function| times the room below
the bound, for the best costates (see docs/theory/errors); with H it is the decrement of Newton's method.

The estimate is valid in the basin of the motion, and to second order. If the step is larger than the size of the
motion, or the problem is not convex, the first of the two programs counts, which is convex.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives, SecondDerivatives
from colloc.curves import BSpline
from colloc.curves.curve import Transcription
from colloc.curves.mesh import points_inside, split
from colloc.curves.spline_basis import SplineBasis
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP, FreeKnotsGrid, PhasesNLP, on_curves
from colloc.transcription.quadratic import QuadraticOptimum, QuadraticProgram, QuadraticSolver, by_piqp

PIECES = 2  # parts of every interval, on the richer curve
_UNBOUNDED = 1e15  # natural sizes of a row: farther bounds are ignored
_LOOSE = 1e3  # times the steepest slope: wider bounds of a row give no size
_DOUBT = 1e-6  # of the scale of the cost: a less certain result is not accepted as an optimum
_SAME = 0.2  # of the first gain: smaller effects of curvature need no second program
_FILL = 500_000  # entries of a factor: an iteration of PIQP takes 20 ms then, and sixty may fail
_EVEN = 200_000  # entries from which on PIQP takes no less time than the other solver, where it does find the optimum
_FAR = 10.0  # natural sizes of the variables: the expansion is not trusted beyond


class GapByInterval(NamedTuple):
    """Parts of the gap by interval of a phase, in units of the cost, each shape (intervals,).

    Parameters
    ----------
    limits : ndarray
        Part due to limits that the motion should reach: at switches, or because of ripples below a bound.
    curve : ndarray
        The rest: motions that the curve cannot represent, errors of equations.
    rows : mapping of str to ndarray
        Part of `limits` by name of the row, such as "tau[elbow]".
    hidden : float
        Largest part of the gap that errors of equations may hide; infinite if the expansion is not trusted.
    """

    limits: np.ndarray
    curve: np.ndarray
    rows: Mapping[str, np.ndarray]
    hidden: float

    @property
    def per_interval(self) -> np.ndarray:
        """The sum of both, shape (intervals,)."""
        return self.limits + self.curve

    def times(self, factor: float) -> GapByInterval:
        """The gap multiplied by a number."""
        rows = {name: row * factor for name, row in self.rows.items()}
        return self._replace(limits=self.limits * factor, curve=self.curve * factor, rows=rows)


class NewtonStep(NamedTuple):
    """The step to the optimum on the richer curve, in the variables of its program.

    Parameters
    ----------
    d : ndarray, shape (n_x,)
    curvature : ndarray, shape (n_x,)
        H d.
    rows : ndarray, shape (n_g,)
        A d.
    lam_g, lam_x : ndarray
        Multipliers of rows and variables, with CasADi's signs.
    doubt : float
        Difference between the gain of the step and the gain by the multipliers, in units of the cost; infinite without
        a step.
    far : bool
        Whether the step leaves the neighbourhood in which the expansion is valid.
    """

    d: np.ndarray
    curvature: np.ndarray
    rows: np.ndarray
    lam_g: np.ndarray
    lam_x: np.ndarray
    doubt: float
    far: bool


@dataclass(frozen=True, eq=False)
class CostGap:
    """Estimate of the distance of a motion's cost from the optimum of its problem.

    Parameters
    ----------
    program : NLP, PhasesNLP or DeferredNLP
    x, p : ndarray
        Decision vector and parameters.
    scale : float
        Scale of the cost; the estimate is accurate to 1e-6 relative to it.
    solver : callable
        Solver of quadratic programs on which PIQP fails.
    """

    program: NLP | PhasesNLP | DeferredNLP
    x: np.ndarray
    p: np.ndarray
    scale: float
    solver: QuadraticSolver

    def __reduce__(self) -> tuple[Any, ...]:
        return CostGap, (DeferredNLP.of(self.program), self.x, self.p, self.scale, self.solver)

    @cached_property
    def _phases(self) -> dict[str, tuple[NLP, np.ndarray]]:
        """Programs of the phases on fixed breakpoints, each with its decision vector."""
        nlp = self.program.built
        phases = {name: (phase, self.x[nlp.parts[name]]) for name, phase in nlp.phases.items()}
        for name, (phase, x) in phases.items():
            if isinstance(phase.grid, FreeKnotsGrid):
                phases[name] = phase.on_curve(phase.grid.curve_at(x)), phase.grid.without_knots(x)
        return phases

    @cached_property
    def richer(self) -> NLP | PhasesNLP:
        """The program on richer curves."""
        nlp = self.program.built
        if "richer" in nlp.cache:
            return nlp.cache["richer"]
        fixed = nlp.with_phases({name: phase for name, (phase, _) in self._phases.items()})
        richer = on_curves(fixed, {name: _richer(phase) for name, (phase, _) in self._phases.items()})
        if not any(isinstance(phase.grid, FreeKnotsGrid) for phase in nlp.phases.values()):
            nlp.cache["richer"] = richer
        return richer

    @cached_property
    def point(self) -> np.ndarray:
        """The motion in the variables of the richer program."""
        return np.concatenate([_embedded(*self._phases[name], phase) for name, phase in self.richer.phases.items()])

    @cached_property
    def step(self) -> NewtonStep:
        """The step to the optimum of the richer program."""
        return _QuadraticModel(self.richer, self.point, self.p, self.scale, self.solver).step()

    @cached_property
    def _signed_shares(self) -> dict[str, GapByInterval]:
        """Gains and losses of the step on the intervals of every phase."""
        return _shares(self.richer, self.step, {name: phase for name, (phase, _) in self._phases.items()})

    @cached_property
    def shares(self) -> dict[str, GapByInterval]:
        """Parts of the gap by interval of every phase; the magnitudes of the phases' parts add up to that of the gap.

        If one phase gains at the expense of another, gains and losses may be much larger than the sum.
        """
        size = sum(abs(share.per_interval.sum()) for share in self._signed_shares.values())
        factor = abs(self.total) / size if 0 < size < np.inf else 1.0
        return {name: share.times(factor) for name, share in self._signed_shares.items()}

    def share(self, phase: str) -> GapByInterval:
        """Parts of one phase."""
        return self.shares[phase]

    @cached_property
    def total(self) -> float:
        """The gap in units of the cost; negative if errors of equations cost more."""
        return float(sum(share.per_interval.sum() for share in self._signed_shares.values()))


def _richer(nlp: NLP) -> Transcription:
    """The richer grid: twice the intervals, the highest degree of the curve, accelerations that may jump."""
    basis = nlp.grid.basis
    breakpoints = split(basis.breakpoints, np.full(basis.intervals, PIECES))
    if nlp.problem.needs_rates:  # limits on jerk at Gauss points alone are exceeded between them
        return BSpline(breakpoints=breakpoints, degree=max(4, basis.degree), continuity=2)
    return BSpline(breakpoints=breakpoints, degree=max(3, basis.degree), continuity=1, nodes="collocation")


def _embedded(nlp: NLP, x: np.ndarray, richer: NLP) -> np.ndarray:
    """A motion in the variables of a richer program, whose splines represent it exactly."""
    grid, fine = nlp.grid, richer.grid
    values: dict[str, Any] = {name: x[index] for name, index in grid.layout.names.items() if name not in grid.splines}
    for name, basis in grid.splines.items():
        if grid.layout[name].size:
            values[name] = _refined(basis, x[grid.layout[name]], fine.splines[name])
    return fine.layout.filled(values)


def _refined(basis: SplineBasis, points: np.ndarray, fine: SplineBasis) -> np.ndarray:
    """Control points of the same spline in a finer basis that contains it, interval by interval."""
    count = fine.degree + 1
    s, interval = points_inside(fine.breakpoints, (1 - np.cos(np.pi * (np.arange(count) + 0.5) / count)) / 2)
    functions = fine.values(s, 0, interval).reshape(-1, count, count)
    along = _along(basis, points, s, interval // PIECES).reshape(-1, count, points.shape[1])
    refined = np.zeros((fine.size, points.shape[1]))
    refined[fine.first[:, None] + np.arange(count)] = np.linalg.solve(functions, along)
    return refined


def _along(basis: SplineBasis, points: np.ndarray, s: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """A spline at normalised times, by the polynomials of given intervals, shape (N, size)."""
    index = np.minimum(basis.first[interval][:, None] + np.arange(basis.degree + 1), basis.size - 1)
    return np.einsum("nk,nkj->nj", basis.values(s, 0, interval), points[index])


class _QuadraticModel:
    """A program expanded at a point, scaled by the cost's scale and by the sizes of variables and rows.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    x, p : ndarray
        Decision vector and parameters.
    scale : float
        Of the cost.
    solver : callable
        Solver of quadratic programs on which PIQP fails.
    """

    def __init__(
        self,
        nlp: NLP | PhasesNLP,
        x: np.ndarray,
        p: np.ndarray,
        scale: float,
        solver: QuadraticSolver,
    ):
        self._nlp, self._x, self._p, self._solver = nlp, x, p, solver
        self._derivatives = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
        self._gradient, self._A = self._derivatives.gradient, self._derivatives.jacobian
        # Loose bounds give no size.
        self._sizes = np.minimum(nlp.scale_x, np.maximum(np.abs(x), 1.0))
        self._columns, self._unit = np.flatnonzero(nlp.free).tolist(), ca.diag(ca.DM(self._sizes[nlp.free]))
        slope = np.abs(self._gradient * self._sizes)[nlp.free].max(initial=0.0)
        self._scale, self._doubt = max(scale, float(slope)), _DOUBT * scale
        rows = self._A[:, self._columns] @ self._unit
        steepest = float(ca.mmax(ca.fabs(rows))) if rows.nnz() else 1.0
        self._sizes_g = np.minimum(nlp.scale_g, _LOOSE * steepest)
        # Bounds of equations give no size. Equations of stiff contact have slopes of 1e6 in natural sizes, with
        # which PIQP and IPOPT take several times as long, or stop far from an optimum.
        steepness = np.sqrt(np.array(ca.sum2(rows**2)).ravel()) / self._sizes_g
        equal = nlp.bounds_g[0] == nlp.bounds_g[1]
        self._sizes_g = np.where(equal, self._sizes_g * np.maximum(steepness, 1.0), self._sizes_g)
        self._rows = ca.diag(ca.DM(1 / self._sizes_g)) @ rows
        self._room = self._bounds()

    def _bounds(self) -> tuple[np.ndarray, ...]:
        """Room of rows (low, high) and of free variables (least, most)."""
        nlp, x = self._nlp, self._x
        values = np.concatenate([np.zeros(0), *(block.evaluate(x, self._p).T.ravel() for block in nlp.constraints)])
        low, high = nlp.bounds_g[0] - values, nlp.bounds_g[1] - values
        # Violations between nodes are judged by other sources: they are neither repaired nor made worse.
        equal = nlp.bounds_g[0] == nlp.bounds_g[1]
        low, high = np.where(equal, low, np.minimum(low, 0.0)), np.where(equal, high, np.maximum(high, 0.0))
        low, high = np.where(low < -_UNBOUNDED, -np.inf, low), np.where(high > _UNBOUNDED, np.inf, high)
        least, most = np.minimum(nlp.lower - x, 0.0) / self._sizes, np.maximum(nlp.upper - x, 0.0) / self._sizes
        room = (low / self._sizes_g, high / self._sizes_g)
        return *room, np.maximum(least, -_FAR)[nlp.free], np.minimum(most, _FAR)[nlp.free]

    def step(self) -> NewtonStep:
        """The step to the optimum, with the full curvature if that leads to an optimum nearby."""
        if not self._gradient[self._columns].any():  # all feasible motions are equally good
            still, unmoved = np.zeros(self._x.size), np.zeros(self._nlp.n_g)
            return NewtonStep(still, still, unmoved, unmoved, still, 0.0, far=False)
        convex = self._derivatives.convex.matrix
        program = self._program(convex)
        fill = self._fill(program)
        large = fill > _FILL
        in_turn = (by_piqp, self._solver) if fill < _EVEN else (self._solver, by_piqp)
        solvers = in_turn[:1] if large else in_turn
        optimum = program.optimum(*solvers, doubt=self._doubt / self._scale)
        first = self._newton_step(optimum, convex)
        hessian = self._derivatives.second_derivatives("hessian", first.lam_g)
        if abs(hessian.along(first.d) - first.d @ first.curvature) < _SAME * abs(self._gradient @ first.d):
            return first
        if large:
            return self._shortened(first, hessian)
        H = hessian.matrix
        second = self._newton_step(self._program(H).optimum(by_piqp), H)
        if self._gradient @ second.d > second.d @ second.curvature / 2:
            return first  # gains from negative curvature are beyond the range of the expansion
        return self._shortened(first, hessian) if second.far else second

    def _fill(self, program: QuadraticProgram) -> int:
        """The fill of a program, shared by programs of the same sparsity pattern."""
        patterns, kept = (program.H.sparsity(), program.A.sparsity()), self._nlp.cache
        if kept.get("fill", ((), 0))[0] != patterns:
            kept["fill"] = patterns, program.fill
        return kept["fill"][1]

    def _program(self, H: ca.DM) -> QuadraticProgram:
        """The quadratic program with the Hessian H."""
        scaled = self._unit @ H[self._columns, self._columns] @ self._unit
        gradient = (self._gradient * self._sizes)[self._nlp.free]
        return QuadraticProgram(scaled / self._scale, gradient / self._scale, self._rows, *self._room)

    def _newton_step(self, optimum: QuadraticOptimum, H: ca.DM) -> NewtonStep:
        """The optimum of the quadratic program with the Hessian H, in the units of the program."""
        free, d, lam_x = self._nlp.free, np.zeros(self._x.size), np.zeros(self._x.size)
        if not np.isfinite(optimum.doubt):
            return NewtonStep(d, d, np.zeros(self._nlp.n_g), np.zeros(self._nlp.n_g), lam_x, np.inf, far=True)
        d[free], lam_x[free] = optimum.d * self._sizes[free], optimum.lam_x * self._scale / self._sizes[free]
        curvature, rows = (np.array(matrix @ d).ravel() for matrix in (H, self._A))
        lam_g = optimum.lam_a * self._scale / self._sizes_g
        near = (
            optimum.solved
            and optimum.doubt * self._scale < self._doubt
            and bool((np.abs(optimum.d) < 0.99 * _FAR).all())
        )
        return NewtonStep(d, curvature, rows, lam_g, lam_x, optimum.doubt * self._scale, far=not near)

    def _shortened(self, step: NewtonStep, hessian: SecondDerivatives) -> NewtonStep:
        """The step of the first program, shortened to where the neglected curvature lets it gain most."""
        gain, curvature = -float(self._gradient @ step.d), hessian.along(step.d)
        if not (gain > 0 and curvature > 0):
            return step
        length = min(1.0, gain / curvature)
        share = (length * gain - length**2 * curvature / 2) / (gain - float(step.d @ step.curvature) / 2)
        return step._replace(d=share * step.d, rows=share * step.rows, far=True)


def _shares(richer: NLP | PhasesNLP, step: NewtonStep, phases: Mapping[str, NLP]) -> dict[str, GapByInterval]:
    """Gain of the step by interval of the phases' grids: d'Hd / 2 + lam_g'A d + lam_x'd, term by term."""
    shares = {name: _nothing(nlp.grid.basis.intervals) for name, nlp in phases.items()}
    missed = {name: np.zeros(nlp.grid.basis.intervals) for name, nlp in phases.items()}
    # Links between phases, and the uncertain part, belong to no interval.
    everywhere, gains = step.doubt, step.lam_g * step.rows
    for block, first in zip(richer.constraints, richer.offsets, strict=False):
        gain, name = gains[first : first + block.n_rows * block.n_slices], richer.owners.get(block)
        if name is None:
            everywhere += float(gain.sum())
        else:
            rows = gain.reshape(block.n_slices, block.n_rows).T
            _add_rows(shares[name], missed[name], block, rows, phases[name].grid.basis)
    for name, phase in richer.phases.items():
        part = richer.parts[name]
        by_bound, by_bend = (step.lam_x * step.d)[part], (step.curvature * step.d / 2)[part]
        _add_variables(shares[name], phase, by_bound, by_bend, phases[name].grid.basis)
    count = sum(share.curve.size for share in shares.values())
    for share in shares.values():
        share.curve[:] += everywhere / count
    return {
        name: share._replace(hidden=np.inf if step.far else float(np.abs(missed[name]).sum()))
        for name, share in shares.items()
    }


def _nothing(intervals: int) -> GapByInterval:
    return GapByInterval(np.zeros(intervals), np.zeros(intervals), defaultdict(partial(np.zeros, intervals)), 0.0)


def _add_rows(share: GapByInterval, missed: np.ndarray, block: Block, gains: np.ndarray, basis: SplineBasis) -> None:
    """Add the gains of a block's rows, shape (rows, slices), to the intervals of the phase in which they lie.

    `missed`, shape (intervals,), collects those of equations.
    """
    interval = block.sites.interval
    place = basis.interval(block.sites.s) if interval is None else interval // PIECES
    for label, gain, lower, upper in zip(block.rows.labels, gains, block.rows.lower, block.rows.upper, strict=True):
        np.add.at(share.curve if lower == upper else share.limits, place, gain)
        np.add.at(missed if lower == upper else share.rows[label], place, gain)


def _add_variables(
    share: GapByInterval, nlp: NLP, by_bound: np.ndarray, by_bend: np.ndarray, basis: SplineBasis
) -> None:
    """Add the gains of a phase's variables to the intervals on which they have most influence."""
    rest = np.ones(by_bound.size, dtype=bool)
    for name, spline in nlp.grid.splines.items():
        index = nlp.grid.layout[name] - nlp.grid.layout.offset
        place = basis.interval(spline.greville())
        np.add.at(share.limits, place, by_bound[index].sum(axis=1))
        np.add.at(share.curve, place, by_bend[index].sum(axis=1))
        rest[index] = False
    share.curve[:] += (by_bound + by_bend)[rest].sum() / basis.intervals
