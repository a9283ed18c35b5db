"""Whether a program has one answer where a solver says so, and no other beside it: a proof by interval Newton.

What an answer meets with its active constraints are equations, F(z) = 0, of the variables that move and the multipliers
of active rows. For a box Z around z, with J bounds on the slopes of F in all of Z and C about the inverse of the slope,

    K = z - C F(z) + (I - C J) (Z - z)    inside of Z

proves that Z holds one solution and no other (Krawczyk 1969; Rump 2010, theorem 13.3). What is proved is of the program
in its numbers as they are rounded, from the functions that CasADi has; not of the problem that it approximates.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.slices import triplet
from colloc.optimality.active_set import ActiveSet
from colloc.optimality.intervals import EPS, Interval, NoIntervals, evaluate, interval_sum, run_sums, scaled, scattered
from colloc.transcription import BaseNLP

LARGEST = 400  # variables and multipliers
_STEPS = 3  # of Newton's method, before a box is laid around its end
_WIDTHS = (1e-10, 1e-9, 1e-8, 1e-7)  # of boxes at least, in natural sizes, one after another


@dataclass(frozen=True)
class Uniqueness:
    """What the test says.

    Parameters
    ----------
    proved : bool or None
        None where it was not tried.
    radius : float
        How far from the solver's answer the variables of the box reach, in natural sizes; NaN unless proved.
    reason : str
        Why it was not tried, or what it failed on; empty if proved.
    """

    proved: bool | None
    radius: float = np.nan
    reason: str = ""


@dataclass(frozen=True)
class _KrawczykSystem:
    """The equations of an answer with its active constraints.

    Parameters
    ----------
    nlp : BaseNLP
    p : ndarray
    x : ndarray
        Values of the variables that do not move, among others.
    free, rows : ndarray of int
        Variables that move, and active rows.
    bounds : ndarray
        What active rows are equal to.
    """

    nlp: BaseNLP
    p: np.ndarray
    x: np.ndarray
    free: np.ndarray
    rows: np.ndarray
    bounds: np.ndarray

    def boxes(self, z: np.ndarray, radius: np.ndarray | float) -> tuple[Interval, Interval]:
        """All variables, and the multipliers of all rows, in a box."""
        around = Interval.of(z, radius)
        variables, multipliers = (Interval.of(values) for values in (self.x, np.zeros(self.nlp.n_g)))
        lower, upper = (side.copy() for side in variables)
        lower[self.free], upper[self.free] = (side[: self.free.size] for side in around)
        below, above = (side.copy() for side in multipliers)
        below[self.rows], above[self.rows] = (side[self.free.size :] for side in around)
        return Interval(lower, upper), Interval(below, above)

    def values(self, z: np.ndarray, radius: np.ndarray | float = 0.0) -> tuple[Interval, Interval]:
        """Bounds on the gradient of the Lagrangian, shape (n_x,), and on the rows, (n_g,)."""
        variables, multipliers = self.boxes(z, radius)
        gradient, rows = Interval.of(np.zeros(self.nlp.n_x)), []
        for block, lam in _blocks(self.nlp, multipliers):
            local = _local(block, variables)
            arguments = [local, Interval.of(block.sites.data), Interval.of(self.p[:, None])]
            function = block.functions.gradient if block.is_cost else block.functions.jacobian
            (slopes,) = evaluate(function, arguments, block.n_slices)
            row, column = triplet(function.sparsity_out(0))
            column = row if block.is_cost else column
            if not block.is_cost:
                slopes = _times(slopes, lam.take(row))
                (value,) = evaluate(block.functions.value, arguments, block.n_slices)
                rows.append(_dense(value, block))
            gradient = interval_sum(gradient, _scattered(self.nlp.n_x, block, column, slopes))
        low, high = (
            np.concatenate([np.zeros(0), *(getattr(r, side).T.ravel() for r in rows)]) for side in Interval._fields
        )
        return gradient, Interval(low, high)

    def equations(self, z: np.ndarray) -> Interval:
        """Bounds on F at a point."""
        gradient, rows = self.values(z)
        active = interval_sum(rows.take(self.rows), Interval.of(-self.bounds))
        return Interval(*(np.append(a[self.free], b) for a, b in zip(gradient, active, strict=True)))

    def slopes(self, z: np.ndarray, radius: np.ndarray | float) -> Interval:
        """Bounds on the derivatives of F in a box, shape (size, size)."""
        variables, multipliers = self.boxes(z, radius)
        n, m = self.nlp.n_x, self.nlp.n_g
        hessian, jacobian = Interval.of(np.zeros((n, n))), Interval.of(np.zeros((m, n)))
        offsets = iter(self.nlp.offsets.tolist())
        for block, lam in _blocks(self.nlp, multipliers):
            arguments = [_local(block, variables), Interval.of(block.sites.data), Interval.of(self.p[:, None])]
            weight = Interval.of(np.ones((1, 1))) if block.is_cost else lam
            (second,) = evaluate(block.functions.hessian, [*arguments, weight], block.n_slices)
            hessian = interval_sum(hessian, _curvature(n, block, second))
            if not block.is_cost:
                (first,) = evaluate(block.functions.jacobian, arguments, block.n_slices)
                jacobian = interval_sum(jacobian, _slopes(m, n, block, next(offsets), first))
        H, J = (part.take(np.ix_(rows, self.free)) for part, rows in ((hessian, self.free), (jacobian, self.rows)))
        corner = np.zeros((self.rows.size, self.rows.size))
        return Interval(*(np.block([[h, j.T], [j, corner]]) for h, j in zip(H, J, strict=True)))


def locally_unique(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], active: ActiveSet
) -> Uniqueness:
    """Whether an answer is the only one of a program near by, proved by an interval Newton test.

    Parameters
    ----------
    nlp : BaseNLP
    x, p : ndarray
    multipliers : dict of str to ndarray
        "g" and "x".
    active : ActiveSet
    """
    free, rows = active.free, active.active
    size = free.size + rows.size
    if size > LARGEST:
        return Uniqueness(None, reason=f"size, {size} variables and multipliers, more than {LARGEST}")
    if active.weak:
        return Uniqueness(None, reason=f"constraints at a bound with hardly a push, {active.weak} of them")
    pushed = np.where(multipliers["x"] > 0, nlp.upper, nlp.lower)
    low, high = nlp.bounds_g
    sides = np.where(multipliers["g"] > 0, high, low)
    x = np.where(active.variables == 0, x, np.where(nlp.free, pushed, nlp.lower))
    system = _KrawczykSystem(nlp, p, x, free, rows, np.where(low == high, low, sides)[rows])
    try:
        with np.errstate(all="ignore"):  # what is undefined, as zero times what may be anything, may be anything
            return _test(system, np.append(x[system.free], multipliers["g"][rows]))
    except NoIntervals as reason:
        return Uniqueness(None, reason=f"no intervals of {reason}")


def _test(system: _KrawczykSystem, z: np.ndarray) -> Uniqueness:
    start, inverse = z, None
    for _ in range(_STEPS):
        inverse = _inverse(system.slopes(z, 0.0).middle)
        if inverse is None:
            return Uniqueness(False, reason="active constraints depend on each other, or a direction is flat")
        z = z - inverse @ system.equations(z).middle
    assert inverse is not None
    if not np.isfinite(z).all():
        return Uniqueness(False, reason="Newton's method does not converge")
    size = z.size
    values, gamma = system.equations(z), (size + 2) * EPS
    miss = np.abs(inverse @ values.middle) + np.abs(inverse) @ (values.radius + gamma * np.abs(values.middle)) * (
        1 + gamma
    )
    natural = np.append(system.nlp.scale_x[system.free], np.maximum(np.abs(z[system.free.size :]), 1e-3))
    for width in _WIDTHS:
        radius = 2 * miss + width * natural
        slopes = system.slopes(z, radius)
        if not np.isfinite(slopes.magnitude).all():
            break
        off = np.abs(np.eye(size) - inverse @ slopes.middle) + gamma * (np.abs(inverse) @ np.abs(slopes.middle) + 1)
        reach = miss + (off + np.abs(inverse) @ slopes.radius) @ radius * (1 + 4 * gamma)
        if (reach < radius).all():
            return _admissible(system, z, radius, np.abs(z - start)[: system.free.size])
    return Uniqueness(False, reason="no box is taken into itself")


def _inverse(matrix: np.ndarray) -> np.ndarray | None:
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    return inverse if np.isfinite(inverse).all() else None


def _admissible(system: _KrawczykSystem, z: np.ndarray, radius: np.ndarray, moved: np.ndarray) -> Uniqueness:
    """Whether in all of a box other constraints hold with room, and multipliers push as they should."""
    nlp, free = system.nlp, system.free
    gradient, rows = system.values(z, radius)
    variables, multipliers = system.boxes(z, radius)
    low, high = nlp.bounds_g
    passive = np.ones(nlp.n_g, bool)
    passive[system.rows] = False
    inside = (rows.lower > low) & (rows.upper < high)
    above, below = (multipliers.lower > 0) & np.isfinite(high), (multipliers.upper < 0) & np.isfinite(low)
    pushes = ((low == high) | above | below)[system.rows]
    room = (variables.lower > nlp.lower)[free] & (variables.upper < nlp.upper)[free]
    at_bound = nlp.free.copy()
    at_bound[free] = False
    # What is held at its upper bound is pushed up: the gradient falls there.
    right = np.where(system.x == nlp.upper, gradient.upper < 0, gradient.lower > 0)[at_bound]
    for fine, reason in (
        (inside[passive].all(), "a row that is not active comes to its bound in the box"),
        (room.all(), "a variable comes to its bound in the box"),
        (pushes.all() and right.all(), "a multiplier may be zero in the box"),
    ):
        if not fine:
            return Uniqueness(False, reason=reason)
    reach = (moved + radius[: free.size]) / nlp.scale_x[free]
    return Uniqueness(True, float(reach.max(initial=0.0)))


def _blocks(nlp: BaseNLP, multipliers: Interval) -> list[tuple[Block, Interval]]:
    """Costs, then constraints with their multipliers, shape (rows, sites)."""
    blocks = [(block, Interval.of(np.ones((1, 1)))) for block in nlp.costs]
    for block, (first, end) in zip(nlp.constraints, pairwise(nlp.offsets.tolist()), strict=True):
        lower, upper = (side[first:end].reshape(block.n_slices, block.n_rows).T for side in multipliers)
        blocks.append((block, Interval(lower, upper)))
    return blocks


def _local(block: Block, x: Interval) -> Interval:
    """Bounds on the local variables of all slices, shape (w, N)."""
    slices = block.sites.slices
    return run_sums(scaled(x.take(slices.index[slices.column]), slices.weight), slices.starts[:-1])


def _times(a: Interval, b: Interval) -> Interval:
    corners = [x * y for x in a for y in b]
    lower, upper = np.minimum.reduce(corners), np.maximum.reduce(corners)
    return Interval(np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf))


def _dense(values: Interval, block: Block) -> Interval:
    """Rows of a block, zeros that are not stored put in, shape (rows, N)."""
    row, _ = triplet(block.functions.value.sparsity_out(0))
    lower, upper = (np.zeros((block.n_rows, block.n_slices)) for _ in range(2))
    lower[row], upper[row] = values
    return Interval(lower, upper)


def _scattered(n: int, block: Block, local: np.ndarray, values: Interval) -> Interval:
    """Derivatives in local variables as derivatives in the variables, run_sums, shape (n,)."""
    slices = block.sites.slices
    source, place = slices.expand(local)
    terms = scaled(values.take(source), slices.weight[place])
    return scattered((n,), slices.index[slices.column[place]].ravel(), Interval(*(side.ravel() for side in terms)))


def _slopes(m: int, n: int, block: Block, first: int, values: Interval) -> Interval:
    """The Jacobian of a block's rows, from the first of them on, among m rows and n variables."""
    entries, sites = block.sites.slices.jacobian(block.functions.jacobian.sparsity_out(0)), np.arange(block.n_slices)
    terms = scaled(values.take(entries.source), entries.weight)
    row = first + entries.row[:, None] + block.n_rows * sites
    place = row * n + block.sites.slices.index[entries.column]
    return scattered((m, n), place.ravel(), Interval(*(side.ravel() for side in terms)))


def _curvature(n: int, block: Block, values: Interval) -> Interval:
    """The Hessian of a block, both triangles."""
    slices = block.sites.slices
    first, second = triplet(block.functions.hessian.sparsity_out(0))
    source, a = slices.expand(first)
    again, b = slices.expand(second[source])
    source, a = source[again], a[again]
    terms = scaled(scaled(values.take(source), slices.weight[a]), slices.weight[b])
    i, j = slices.index[slices.column[a]], slices.index[slices.column[b]]
    mirrored = np.repeat((first != second)[source], block.n_slices)
    place = np.concatenate([(i * n + j).ravel(), (j * n + i).ravel()[mirrored]])
    flat = Interval(*(side.ravel() for side in terms))
    both = Interval(*(np.concatenate([side, side[mirrored]]) for side in flat))
    return scattered((n, n), place, both)
