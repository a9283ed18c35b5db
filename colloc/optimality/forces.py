"""First derivatives of the Lagrangian by a motion, as forces of rows, bounds and costs along time.

A row at a site depends on the splines and their derivatives in the normalised time there. Its multiplier times the
slopes by these is a force on each of them. Forces along the path are densities in the limit of fine grids, represented
by polynomials on every interval. Forces of bounds on positions and velocities, of ends and at single times may be
jumps.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import NamedTuple

import casadi as ca
import numpy as np
from numpy.polynomial import legendre

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives
from colloc.curves.spline_basis import SplineBasis
from colloc.optimality.contact import contact
from colloc.problem import ConstraintRows, natural_size
from colloc.support.checks import InputError
from colloc.transcription import NLP, BaseNLP, FreeKnotsGrid, Grid, PhasesNLP
from colloc.transcription.grid import ORDERS

_AT_BREAKPOINT = 1e-9  # of the normalised time


class LocalSpline(NamedTuple):
    """A spline and its derivatives among the local variables of a grid; the last derivative is a control, others are
    states.

    Parameters
    ----------
    name : "q", "signals" or "states"
    columns : list of ndarray of int
        The local variables of the spline, then of each derivative.
    """

    name: str
    columns: list[np.ndarray]


class Forces(NamedTuple):
    """Forces on the local variables of a phase.

    Parameters
    ----------
    s : ndarray, shape (K,)
        Normalised times at which the forces act.
    interval : ndarray of int, shape (K,)
        Their intervals.
    values : ndarray, shape (K, w + 2)
        Derivatives of the Lagrangian by the local variables, by explicit normalised time, and T times the derivative by
        the duration T for a fixed motion in time.
    degree : ndarray of int, shape (K,)
        Degree of the polynomial on the interval that contains the force; -1 for a force at a single time.
    idle : ndarray, shape (K,)
        Multipliers of bounds on states times the distance from the bound, in units of the cost: zero in contact.
    """

    s: np.ndarray
    interval: np.ndarray
    values: np.ndarray
    degree: np.ndarray
    idle: np.ndarray

    def density(self, ends: np.ndarray) -> np.ndarray:
        """Legendre coefficients, by interval, of the forces that are not jumps, shape (degree + 1, intervals, w).

        The polynomials have the same moments as the forces.
        """
        along = self.degree >= 0
        widths, k, values = np.diff(ends), self.interval[along], self.values[along]
        place = 2 * (self.s[along] - ends[k]) / widths[k] - 1
        coefficients = np.zeros((self.degree.max(initial=0) + 1, widths.size, self.values.shape[1]))
        polynomials = legendre.legvander(place, len(coefficients) - 1)
        for order, coefficient in enumerate(coefficients):
            moments = np.where(self.degree[along] >= order, polynomials[:, order], 0.0)
            np.add.at(coefficient, k, moments[:, None] * values)
            coefficient *= ((2 * order + 1) / widths)[:, None]
        return coefficients

    @property
    def jumps(self) -> Forces:
        """The forces at single times."""
        return Forces(*(array[self.degree < 0] for array in self))


def local_splines(grid: Grid) -> list[LocalSpline]:
    """The splines of a grid, in the order of its local variables."""
    splines, end = [], 0
    for name, orders in (("q", 4 if grid.rates else 3), ("signals", 2 if grid.rates else 1), ("states", 2)):
        size = grid.layout[name].shape[1]
        splines.append(LocalSpline(name, [end + k * size + np.arange(size) for k in range(orders)]))
        end += orders * size
    return splines


def row_density(nlp: NLP, block: Block, multipliers: np.ndarray) -> np.ndarray:
    """Densities of multipliers in the normalised time, Legendre coefficients, shape (degree + 1, intervals, rows).

    Parameters
    ----------
    nlp : NLP
        Program of the block's phase.
    block : Block
        Rows along the path.
    multipliers : ndarray, shape (rows, sites)
    """
    grid, sites = nlp.grid, block.sites
    acting = _shared_out(grid, sites.s, sites.interval, multipliers.T, _degree(grid, block))
    return acting.density(grid.breakpoints)


def forces(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, lam_g: np.ndarray, lam_x: np.ndarray) -> dict[str, Forces]:
    """All forces on every phase of a program, at a point with multipliers.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    x : ndarray, shape (n_x,)
    p : ndarray, shape (n_p,)
    lam_g : ndarray, shape (n_g,)
    lam_x : ndarray, shape (n_x,)
        Multipliers of fixed variables are ignored, as they follow from the others.

    Returns
    -------
    dict of phase to Forces

    Raises
    ------
    InputError
        For a phase with unknown breakpoints, or with dependent joints of a closed chain.
    """
    for name, phase in nlp.phases.items():
        _check_phase(name, phase)
    parts: dict[str, list[Forces]] = {name: [] for name in nlp.phases}
    for block, multipliers in _with_multipliers(nlp, lam_g):
        slopes, explicit = _slopes(block, x, p, multipliers)
        local, idle = block.sites.slices.local(x), _idle(block, x, p, multipliers)
        for name, force in _by_phase(nlp, x, block, slopes, explicit, local, idle):
            parts[name].append(force)
    at = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    pull = np.where(nlp.free, lam_x, -at.lagrangian_gradient(lam_g))
    for name, phase in nlp.phases.items():
        parts[name].append(_of_bounds(phase, x[nlp.parts[name]], pull[nlp.parts[name]]))
    return {name: _joined(nlp.phases[name].grid, acting) for name, acting in parts.items()}


def _check_phase(name: str, nlp: NLP) -> None:
    of_phase = f" of phase {name!r}" if name else ""
    if isinstance(nlp.grid, FreeKnotsGrid):
        raise InputError(f"costates{of_phase} need a curve with fixed breakpoints, got {nlp.curve}")
    if nlp.problem.coordinates is not None:
        raise InputError(f"costates{of_phase} need independent joints, got a closed chain")


def _with_multipliers(nlp: BaseNLP, lam_g: np.ndarray) -> list[tuple[Block, np.ndarray]]:
    """Blocks, each with its multipliers, shape (rows, sites): ones for costs."""
    blocks = [(block, np.ones((block.n_rows, block.n_slices))) for block in nlp.costs]
    for block, (first, end) in zip(nlp.constraints, pairwise(nlp.offsets.tolist()), strict=True):
        blocks.append((block, lam_g[first:end].reshape(block.n_slices, block.n_rows).T))
    return blocks


def _slopes(block: Block, x: np.ndarray, p: np.ndarray, lam: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Multipliers times derivatives of rows by the local variables, shape (rows, sites, w), and by explicit normalised
    time, (rows, sites); a cost is one row.
    """
    local, size = block.sites.local, block.n_slices
    value = block.functions.value(local.w, local.d, local.p)
    value, lam = (ca.sum1(value), lam[:1]) if block.is_cost else (value, lam)
    if block.is_cost:
        slopes = ca.densify(block.functions.gradient(local.w, local.d, local.p).T)
    else:
        slopes = ca.densify(block.functions.jacobian(local.w, local.d, local.p))
    in_time = ca.jacobian(value, local.d[0]) if local.d.numel() else ca.SX(value.shape[0], 1)
    function = ca.Function("slopes", [local.w, local.d, local.p], [slopes, ca.densify(in_time)])
    mapped = function.map("slopes", "serial", size, [2], []) if size > 1 else function
    values, explicit = mapped(block.sites.slices.local(x), block.sites.data, p)
    return np.array(values).reshape(len(lam), size, -1) * lam[:, :, None], np.array(explicit) * lam


def _idle(block: Block, x: np.ndarray, p: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """Multipliers of rows times the distances from their bounds, shape (rows, sites); a cost is one row."""
    if block.is_cost:
        return np.zeros((1, lam.shape[1]))
    values = block.evaluate(x, p)
    lower, upper = (np.reshape(side, (-1, 1)) for side in (block.rows.lower, block.rows.upper))
    distance = np.where(lam > 0, upper - values, values - lower)
    return np.abs(lam) * np.where(np.isfinite(distance), np.abs(distance), 0.0)


def _by_phase(
    nlp: BaseNLP,
    x: np.ndarray,
    block: Block,
    slopes: np.ndarray,
    explicit: np.ndarray,
    local: np.ndarray,
    idle: np.ndarray,
) -> list[tuple[str, Forces]]:
    """The forces of a block on each phase that it depends on."""
    if isinstance(nlp, PhasesNLP) and block not in nlp.owners:
        across = nlp.problem.rows.get(block.name) or nlp.problem.costs[block.name][1]
        seen = [(point.phase, point.time) for point in across.points]
    else:
        name = nlp.owners[block]
        along = _along(nlp.phases[name], x[nlp.parts[name]], block, slopes, explicit, local, idle)
        if along is not None:
            return [(name, along)]
        seen = [(name, "start"), (name, "end")]
    sizes = [_size(nlp.phases[name].grid, time) for name, time in seen]
    parts = []
    for (name, time), (first, end) in zip(seen, pairwise(accumulate(sizes, initial=0)), strict=True):
        some = slopes[:, :, first:end].sum(axis=0)
        parts.append((name, _at_end(nlp.phases[name].grid, time, some, local[first:end])))
    return parts


def _size(grid: Grid, time: str) -> int:
    """Number of local variables at an end of a phase, or of constants."""
    sites = grid.unvarying() if time == "all along" else grid.anywhere(np.zeros(1))
    return sites.local.w.shape[0]


def _at_end(grid: Grid, time: str, slopes: np.ndarray, local: np.ndarray) -> Forces:
    """Forces of one site at the start or the end of a phase, or on constants, which are assigned to the end."""
    size = _size(grid, "end")
    values, seen = np.zeros((1, size + 2)), np.zeros((size, 1))
    if time != "all along":
        values[:, :size], seen = slopes, local
    elif shared := size - _varying(grid):  # the last local variables; without any, nothing depends on this site
        values[:, size - shared : size], seen[size - shared :] = slopes, local
    values[:, -1] = _by_duration(grid, values[:, :size], seen)
    return _jumps(grid, np.array([0.0 if time == "start" else 1.0]), values)


def _along(
    nlp: NLP,
    x: np.ndarray,
    block: Block,
    slopes: np.ndarray,
    explicit: np.ndarray,
    local: np.ndarray,
    idle: np.ndarray,
) -> Forces | None:
    """Forces of a block of one phase with one time at each site; None if a site has both ends."""
    grid, sites, size = nlp.grid, block.sites, _size(nlp.grid, "end")
    entry = nlp.problem.rows.get(block.name)
    if slopes.shape[2] == 2 * size:
        return None
    if slopes.shape[2] != size:
        assert entry is not None
        return _of_polygon(nlp, block, slopes.sum(axis=0), x, entry)
    orders = dict(zip(entry.rows.labels, entry.orders, strict=True)) if entry else {}
    labels = ("",) if block.is_cost else block.rows.labels
    dense = np.array([block.n_slices > 1 and (block.is_cost or orders.get(label, 0) >= 2) for label in labels])
    parts = []
    for chosen in (dense, ~dense):
        values = np.column_stack([slopes[chosen].sum(axis=0), explicit[chosen].sum(axis=0), np.zeros(sites.size)])
        values[:, -1] = _by_duration(grid, values[:, :size], local)
        if not chosen.any():
            continue
        if chosen is dense:
            parts.append(_shared_out(grid, sites.s, sites.interval, values, _degree(grid, block)))
        else:
            parts.append(_jumps(grid, sites.s, values)._replace(idle=idle[chosen].sum(axis=0)))
    return _joined(grid, parts)


def _of_polygon(nlp: NLP, block: Block, slopes: np.ndarray, x: np.ndarray, bounds: ConstraintRows) -> Forces:
    """Forces of bounds on the control points of a derivative of the joints.

    The duration in these rows only converts derivatives to rates.
    """
    bounded = list(bounds.constraint.bounded_joints(nlp.problem.model).values())
    grid, order, T = nlp.grid, ORDERS[bounded[0][0]], nlp.duration(x)
    columns, basis, points = local_splines(grid)[0].columns, grid.basis, x[grid.layout["q"]]
    if order == len(columns) - 1:  # bounds on controls do not enter the costates
        return _joined(grid, [])
    for _ in range(order):
        points = np.diff(points, axis=0) * basis.differences()[:, None]
        basis = basis.derivative()
    n = columns[order].size
    pull = np.zeros((basis.size, n))
    pull[np.searchsorted(basis.greville(), block.sites.s - _AT_BREAKPOINT)] = slopes[:, :n]
    sides = np.array([[-np.inf], [np.inf]]) * np.ones(n)
    sides[:, [joint for _, joint in bounded]] = np.array([bounds.rows.lower, bounds.rows.upper]) * T**order
    return _of_control_points(grid, basis, columns[order], points, pull, sides)


def _of_control_points(
    grid: Grid, basis: SplineBasis, columns: np.ndarray, points: np.ndarray, pull: np.ndarray, sides: np.ndarray
) -> Forces:
    """Forces of bounds on control points, at the times at which they act on the splines.

    Parameters
    ----------
    grid : Grid
    basis : SplineBasis
    columns : ndarray of int, shape (n,)
        The local variables of the splines.
    points, pull : ndarray, shape (basis.size, n)
        Control points and multipliers.
    sides : ndarray, shape (2, n)
        Lower and upper bounds.
    """
    parts, sizes = [], natural_size(sides[0], sides[1])
    for j, column in enumerate(columns.tolist()):
        acting = contact(basis, points[:, j], pull[:, j], (sides[0, j], sides[1, j]), sizes[j])
        values = np.zeros((acting.s.size, _size(grid, "end") + 2))
        values[:, column] = acting.values
        parts.append(Forces(acting.s, acting.interval, values, np.where(acting.dense, 1, -1), acting.idle))
    return _joined(grid, parts)


def _by_duration(grid: Grid, slopes: np.ndarray, local: np.ndarray) -> np.ndarray:
    """T times the derivative of the Lagrangian by T at constant rates of the motion, shape (K,)."""
    total = np.zeros(slopes.shape[0])
    for spline in local_splines(grid):
        for order, columns in enumerate(spline.columns):
            total += order * (slopes[:, columns] * local[columns].T).sum(axis=1)
    if grid.problem.horizon.lower < grid.problem.horizon.upper:
        T = _varying(grid)  # the first constant
        total += slopes[:, T] * local[T]
    return total


def _varying(grid: Grid) -> int:
    """Number of local variables that vary along the motion, which come first."""
    return sum(columns.size for spline in local_splines(grid) for columns in spline.columns)


def _joined(grid: Grid, parts: list[Forces]) -> Forces:
    none = _jumps(grid, np.zeros(0), np.zeros((0, _size(grid, "end") + 2)))
    return Forces(*map(np.concatenate, zip(none, *parts, strict=True)))


def _jumps(grid: Grid, s: np.ndarray, values: np.ndarray) -> Forces:
    return Forces(s, grid.basis.interval(s), values, np.full(s.size, -1), np.zeros(s.size))


def _degree(grid: Grid, block: Block) -> int:
    """Degree of the densities whose moments are the forces of a block, as the freedoms of the motion determine."""
    if block.is_cost:  # at Gauss points
        return grid.basis.degree
    smooth = int(grid.basis.continuity.max(initial=1))
    freedoms = int(grid.basis.degrees.min()) - smooth
    return max(0, min(freedoms, 2 if smooth > 1 else freedoms) - 1)


def _shared_out(grid: Grid, s: np.ndarray, interval: np.ndarray | None, values: np.ndarray, degree: int) -> Forces:
    """Forces along the path; a force between intervals with continuous accelerations is divided between both."""
    assert interval is not None
    ends, widths = grid.breakpoints, np.diff(grid.breakpoints)
    at = np.abs(s[:, None] - ends).argmin(axis=1)
    smooth = np.concatenate([[False], grid.basis.continuity >= 2, [False]])
    split = smooth[at] & (np.abs(s - ends[at]) < _AT_BREAKPOINT)
    left, right, once = at[split] - 1, at[split], ~split
    share = (widths[left] / (widths[left] + widths[right]))[:, None]
    s = np.concatenate([s[once], s[split], s[split]])
    values = np.concatenate([values[once], values[split] * share, values[split] * (1 - share)])
    interval = np.concatenate([interval[once], left, right])
    return Forces(s, interval, values, np.full(s.size, degree), np.zeros(s.size))


def _of_bounds(nlp: NLP, x: np.ndarray, multipliers: np.ndarray) -> Forces:
    """Forces of bounds on control points of joints, states, and signals with rates; and of ends that fix control
    points.

    At an end the first three control points determine positions, velocities and accelerations.
    """
    grid, parts = nlp.grid, []
    for spline in local_splines(grid):
        index = grid.layout[spline.name]
        if not index.size or len(spline.columns) == 1:
            continue
        basis, pull = grid.splines[spline.name], multipliers[index]
        if spline.name == "q":
            for s in (0.0, 1.0):
                inward = slice(None, 3) if s == 0 else slice(None, -4, -1)
                parts.append(_of_end(grid, spline, s, ~nlp.free[index[inward]], pull[inward]))
        fixed = ~nlp.free[index]
        values = np.zeros((len(index), _size(grid, "end") + 2))
        values[:, spline.columns[0]] = np.where(fixed, pull, 0.0)
        parts.append(_jumps(grid, basis.greville(), values))
        pull[fixed] = 0.0
        # Of bounds that hold in a window only those of control points with multipliers.
        lower = np.where(pull < 0, nlp.lower[index], -np.inf).max(axis=0)
        upper = np.where(pull > 0, nlp.upper[index], np.inf).min(axis=0)
        sides = np.array([np.minimum(lower, upper), np.maximum(lower, upper)])
        parts.append(_of_control_points(grid, basis, spline.columns[0], x[index], pull, sides))
    return _joined(grid, parts)


def _of_end(grid: Grid, spline: LocalSpline, s: float, fixed: np.ndarray, pull: np.ndarray) -> Forces:
    """Forces of the end's conditions, removed from those of the control points in place."""
    values, weight = np.zeros((1, _size(grid, "end") + 2)), grid.end(s).weight
    count = np.cumprod(fixed, axis=0).sum(axis=0)  # number of fixed control points from the end on
    for j, k in enumerate(count.tolist()):
        if k:
            on_derivatives = np.linalg.solve(weight[:k, :k].T, pull[:k, j])
            for order in range(min(k, len(spline.columns))):
                values[0, spline.columns[order][j]] = on_derivatives[order]
            pull[:k, j] = 0.0
    return _jumps(grid, np.array([s]), values)
