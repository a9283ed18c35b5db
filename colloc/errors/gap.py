"""How much less a motion could cost: a Newton step of its program on splines that can do more than its own.

A cost error that looks at the motion alone sees nothing of what its curve forbids: a smooth spline on its way from one
bound to the other costs time, and violates nothing. What it costs is the optimum's distance, to second order, on a
richer curve: every interval in two, accelerations that may jump between all of them, nodes as close again. The motion
itself is such a spline, so that nothing has to be solved anew: its program is expanded there, the cost and the rows to
first order and the Lagrangian to second,

    min over d of  g'd + d'Hd / 2,  A d within the room that the rows have left,

a quadratic program, solved twice. Its multipliers are estimates of the costates that the coarse program does not have
(zero wherever a spline stays below a bound); the first time, H is that of the sums of squares in the cost alone, as the
curvature of the rows takes multipliers. With H = 0 and bounds on the torques alone this is the Hamiltonian gap, the sum
over time of |switching function| times the room below the bound, for the best costates that there are (see
docs/theory/errors); with it, the decrement of Newton's method.

What it says is that of the valley in which the motion lies, and to second order: where the step is larger than the
motion's own size, or the problem bends the other way, the first of the two programs counts, which is convex.
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
from colloc.blocks.numeric import gradient_at, hessian_at, jacobian_at
from colloc.curves import BSpline
from colloc.curves.curve import Transcription
from colloc.curves.mesh import split
from colloc.numerics.bspline import SplineBasis
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, DeferredNLP, FreeKnotsGrid, SequenceNLP, on_curves

PIECES = 2  # of every interval, on the richer curve
_UNBOUNDED = 1e15  # of a row: a bound that far away is none
_FLAT = 1e-3  # of the curvature: slopes below are small
_FAR = 10.0  # natural sizes of the variables, to which the expansion is not taken seriously


class Share(NamedTuple):
    """What every interval of a phase has of the gap, in units of the cost, each shape (intervals,).

    Parameters
    ----------
    limits : ndarray
        By limits that are not met where they pay: at switches, or by ripples below a bound.
    curve : ndarray
        By all else: motions that the curve has not, equations that it misses.
    rows : mapping of str to ndarray
        By name, what limits on rows, such as "tau[elbow]", have of the first.
    """

    limits: np.ndarray
    curve: np.ndarray
    rows: Mapping[str, np.ndarray]

    @property
    def per_interval(self) -> np.ndarray:
        """Both together, shape (intervals,)."""
        return self.limits + self.curve


class NewtonStep(NamedTuple):
    """The step to the optimum on the richer curve, in its variables.

    Parameters
    ----------
    d : ndarray, shape (n_x,)
    curvature : ndarray, shape (n_x,)
        H d.
    rows : ndarray, shape (n_g,)
        A d.
    lam_g, lam_x : ndarray
        Multipliers of rows and variables, of CasADi's signs.
    far : bool
        Whether it leaves the neighbourhood in which the expansion means something.
    """

    d: np.ndarray
    curvature: np.ndarray
    rows: np.ndarray
    lam_g: np.ndarray
    lam_x: np.ndarray
    far: bool


@dataclass(frozen=True, eq=False)
class CostGap:
    """The distance of a motion's cost from the optimum of its problem, estimated.

    Parameters
    ----------
    program : NLP, SequenceNLP or DeferredNLP
    x, p : ndarray
        Decision vector and parameters.
    """

    program: NLP | SequenceNLP | DeferredNLP
    x: np.ndarray
    p: np.ndarray

    def __reduce__(self) -> tuple[Any, ...]:
        return CostGap, (DeferredNLP.of(self.program), self.x, self.p)

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
    def richer(self) -> NLP | SequenceNLP:
        """The program on curves that can do more."""
        nlp = self.program.built.with_phases({name: phase for name, (phase, _) in self._phases.items()})
        return on_curves(nlp, {name: _richer(phase) for name, (phase, _) in self._phases.items()})

    @cached_property
    def point(self) -> np.ndarray:
        """The motion in the variables of the richer program."""
        return np.concatenate([_embedded(*self._phases[name], phase) for name, phase in self.richer.phases.items()])

    @cached_property
    def step(self) -> NewtonStep:
        """The step to its optimum."""
        return _newton_step(self.richer, self.point, self.p)

    @cached_property
    def shares(self) -> dict[str, Share]:
        """What the intervals of every phase have of it."""
        return _shares(self.richer, self.step, {name: phase for name, (phase, _) in self._phases.items()})

    @property
    def total(self) -> float:
        """The whole of it, in units of the cost; negative where equations that the motion misses cost more."""
        return float(sum(share.per_interval.sum() for share in self.shares.values()))


def _richer(nlp: NLP) -> Transcription:
    """Twice the intervals, of the highest degree of a curve, with accelerations that may jump unless they must not."""
    basis, smooth = nlp.grid.basis, nlp.problem.needs_rates
    degree = max(4 if smooth else 3, basis.degree)
    breakpoints = split(basis.breakpoints, np.full(basis.intervals, PIECES))
    return BSpline(breakpoints=breakpoints, degree=degree, continuity=2 if smooth else 1)


def _embedded(nlp: NLP, x: np.ndarray, richer: NLP) -> np.ndarray:
    """A motion in the variables of a richer program, whose splines hold it as it is."""
    grid, fine = nlp.grid, richer.grid
    values: dict[str, Any] = {
        name: x[index] for name, index in grid.layout.names.items() if name not in ("q", "signals", "states")
    }
    splines = {
        "q": (grid.basis, fine.basis),
        "signals": (nlp.curve.signals, richer.curve.signals),
        "states": (grid.states, fine.states),
    }
    for name, (basis, finer) in splines.items():
        if grid.layout[name].size:
            s, interval = finer.sites()
            values[name] = finer.interpolate(_along(basis, x[grid.layout[name]], s, interval // PIECES))
    return fine.layout.filled(values)


def _along(basis: SplineBasis, points: np.ndarray, s: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """A spline at normalised times, by the polynomials of given intervals, shape (N, size)."""
    index = np.minimum(basis.first[interval][:, None] + np.arange(basis.degree + 1), basis.size - 1)
    return np.einsum("nk,nkj->nj", basis.values(s, 0, interval), points[index])


def _newton_step(nlp: NLP | SequenceNLP, x: np.ndarray, p: np.ndarray) -> NewtonStep:
    """The step from x to the optimum of the program as it is expanded there."""
    costs, constraints = nlp.costs, nlp.constraints
    rows = np.concatenate([np.zeros(0), *(block.evaluate(x, p).T.ravel() for block in constraints)])
    # Bounds that are loose tell no size.
    free, scale_x, scale_g = nlp.free, np.minimum(nlp.scale_x, np.maximum(np.abs(x), 1.0)), nlp.scale_g
    gradient = gradient_at(costs, x, p)
    slope = float(np.abs(gradient * scale_x)[free].max(initial=0.0))
    if not slope:  # any motion that meets the constraints is as good
        still, unmoved = np.zeros(x.size), np.zeros(rows.size)
        return NewtonStep(still, still, unmoved, unmoved, still, far=False)
    columns = np.flatnonzero(free).tolist()
    A = jacobian_at(constraints, x, p)
    scaled = ca.diag(ca.DM(1 / scale_g)) @ A[:, columns] @ ca.diag(ca.DM(scale_x[free]))
    # What is violated between nodes is the business of other sources: it is neither mended nor made worse.
    low, high = nlp.bounds_g[0] - rows, nlp.bounds_g[1] - rows
    equal = nlp.bounds_g[0] == nlp.bounds_g[1]
    low, high = np.where(equal, low, np.minimum(low, 0.0)), np.where(equal, high, np.maximum(high, 0.0))
    least, most = np.minimum(nlp.lower - x, 0.0) / scale_x, np.maximum(nlp.upper - x, 0.0) / scale_x
    low, high = np.where(low < -_UNBOUNDED, -np.inf, low), np.where(high > _UNBOUNDED, np.inf, high)
    room = {"a": scaled, "lba": low / scale_g, "uba": high / scale_g}
    room |= {"lbx": np.maximum(least, -_FAR)[free], "ubx": np.minimum(most, _FAR)[free]}
    lam_g, step = np.zeros(rows.size), None
    for kind in ("gauss_newton", "hessian"):
        H = hessian_at(kind, costs, constraints if kind == "hessian" else (), x, p, lam_g)
        H_scaled = ca.diag(ca.DM(scale_x[free])) @ H[columns, columns] @ ca.diag(ca.DM(scale_x[free]))
        # Where the slope all but vanishes, as of an optimum that costs nothing, the curvature tells the size.
        size = max(slope, _FLAT * float(ca.norm_inf(ca.vec(H_scaled)))) if H_scaled.nnz() else slope
        small = H_scaled / size
        solver = ca.conic("step", "piqp", {"h": small.sparsity(), "a": scaled.sparsity()}, {"error_on_fail": False})
        result = solver(h=small, g=(gradient * scale_x)[free] / size, **room)
        d, lam_x = np.zeros((2, x.size))
        d[free], lam_x[free] = np.array(result["x"]).ravel() * scale_x[free], np.array(result["lam_x"]).ravel()
        far = not solver.stats()["success"] or bool((np.abs(d / scale_x) > 0.99 * _FAR).any())
        if step is not None and far:
            return _shortened(step, gradient, H)
        lam_g = np.array(result["lam_a"]).ravel() * size / scale_g
        bend, moved = (np.array(matrix @ d).ravel() for matrix in (H, A))
        step = NewtonStep(d, bend, moved, lam_g, lam_x * size / scale_x, far)
    assert step is not None
    return step


def _shortened(step: NewtonStep, gradient: np.ndarray, H: ca.DM) -> NewtonStep:
    """The step of the first program, as far as the curvature that it knows nothing of lets it gain."""
    gain, bend = -float(gradient @ step.d), np.array(H @ step.d).ravel()
    curvature = float(step.d @ bend)
    if gain <= 0 or curvature <= 0:
        return step
    length = min(1.0, gain / curvature)
    share = (length * gain - length**2 * curvature / 2) / (gain - float(step.d @ step.curvature) / 2)
    return step._replace(d=share * step.d, rows=share * step.rows)


def _shares(richer: NLP | SequenceNLP, step: NewtonStep, phases: Mapping[str, NLP]) -> dict[str, Share]:
    """What the step gains by interval of the phases' own grids: d'Hd / 2 + lam_g'A d + lam_x'd, term by term."""
    sizes = {name: nlp.grid.basis.intervals for name, nlp in phases.items()}
    rows = {name: defaultdict[str, np.ndarray](partial(np.zeros, size)) for name, size in sizes.items()}
    shares = {name: Share(np.zeros(size), np.zeros(size), rows[name]) for name, size in sizes.items()}
    in_rows, everywhere = step.lam_g * step.rows, 0.0
    for block, first in zip(richer.constraints, richer.offsets, strict=False):
        gains = in_rows[first : first + block.n_rows * block.n_slices].reshape(block.n_slices, block.n_rows)
        equal = block.rows.lower == block.rows.upper
        owner = _owner(richer, block)
        if owner is None:
            everywhere += float(gains.sum())
            continue
        basis, interval = phases[owner].grid.basis, block.sites.interval
        place = basis.interval(block.sites.s) if interval is None else interval // PIECES
        for label, gain, equation in zip(block.rows.labels, gains.T, equal.tolist(), strict=True):
            if not equation:
                np.add.at(rows[owner][label], place, gain)
        np.add.at(shares[owner].limits, place, gains[:, ~equal].sum(axis=1))
        np.add.at(shares[owner].curve, place, gains[:, equal].sum(axis=1))
    for name, phase in richer.phases.items():
        part, basis, share = richer.parts[name], phases[name].grid.basis, shares[name]
        by_bound, by_bend = (step.lam_x * step.d)[part], (step.curvature * step.d / 2)[part]
        rest = np.ones(by_bound.size, dtype=bool)
        splines = {"q": phase.grid.basis, "signals": phase.curve.signals, "states": phase.grid.states}
        for quantity, spline in splines.items():
            index = phase.grid.layout[quantity] - phase.grid.layout.offset
            place = basis.interval(spline.greville())
            np.add.at(share.limits, place, by_bound[index].sum(axis=1))
            np.add.at(share.curve, place, by_bend[index].sum(axis=1))
            rest[index] = False
        share.curve[:] += (by_bound + by_bend)[rest].sum() / basis.intervals
    count = sum(share.curve.size for share in shares.values())
    for share in shares.values():
        share.curve[:] += everywhere / count
    return shares


def _owner(nlp: NLP | SequenceNLP, block: Block) -> str | None:
    """The phase of a block; None of what links phases."""
    return "" if isinstance(nlp, NLP) else nlp.owners.get(block)
