"""Second-order conditions of a program's solution: minimum, saddle or maximum, and flat directions.

They concern the Hessian of the Lagrangian on the directions that active constraints leave free (Nocedal and Wright
2006, theorems 12.5 and 12.6). A constraint with a clear multiplier is strongly active and stays active. Weakly active
constraints are left out of the active ones, which makes the condition stricter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from colloc.blocks.numeric import NumericDerivatives, row_values
from colloc.optimality.active_set import ActiveSet, active_set
from colloc.support.display import short
from colloc.transcription import NLP, BaseNLP

LARGEST = 800  # largest number of variables for dense matrices, which take seconds
_FLAT = 1e-6  # of the cost: second derivative along a movement by the natural size up to which it is flat
_ROUNDING = 1e-12  # of the largest second derivative: rounding error if the cost is almost zero
_RANK = 1e-8  # of the largest singular value: below, rows are dependent
_NAMED = 0.1  # smallest share of a movement that is named
_FALL = 1e-4  # of the cost: required decrease before another limit is met, a hundredth of `solve`'s tolerance
_FALL_BY_SQUARES = 1e-3  # the same after a Gauss-Newton run, which leaves shallow saddles in thousands of iterations
_SOFT = 1e-9  # of unit rows: compliance that makes dependent rows harmless
_EXACT = 1e-9  # relative error of the solution of a factorised system
_STEEPEST = 1e9  # largest negative curvature, relative to the cost, of the search
_BLOCK, _ITERATIONS = 4, 8  # vectors and iterations of inverse iteration
_CANDIDATES = 20  # directions of least curvature whose decrease is computed
_NEAREST = 1e-6  # smallest distance from an inactive limit that counts
_PRODUCTS = 12  # products with the Hessian in the search for its least curvature
_BESIDE = 1e-4  # of natural sizes: step of the differences of gradients


@dataclass(frozen=True)
class DirectionContent:
    """Content of a set of directions: the quantities that move.

    Parameters
    ----------
    shares : dict of str to float
        Shares of the mean square in natural sizes, by joint, signal, state, constant or duration, largest first.
    span : (float, float) or None [s]
        Times of the middle 80 % of the movement with the largest share; None for constants.
    """

    shares: dict[str, float]
    span: tuple[float, float] | None

    def __str__(self) -> str:
        named = [f"{name} ({share:.0%})" for name, share in self.shares.items() if share >= _NAMED]
        when = "" if self.span is None else f", t = {short(self.span[0])} to {short(self.span[1])} s"
        return ", ".join(named) + when


@dataclass(frozen=True)
class SecondOrder:
    """The inertia of the reduced Hessian.

    Parameters
    ----------
    kind : "minimum", "saddle", "maximum", "flat" or "undecided"
        "flat" is a minimum except for directions along which the cost does not change to second order; "undecided" if
        the cost only falls where weakly active constraints are released, or up to nearby limits.
    positive, negative, flat : int
        Numbers of directions along which the cost rises, falls, and does not change.
    weak : int
        Number of weakly active rows and variables.
    least : float
        Least second derivative of the cost, relative to the cost, along a movement with a largest component of natural
        size; infinite without freedoms.
    falling, level : DirectionContent or None
        Content of the directions of descent, and of the flat ones.
    """

    kind: str
    positive: int
    negative: int
    flat: int
    weak: int
    least: float
    falling: DirectionContent | None
    level: DirectionContent | None

    @property
    def freedoms(self) -> int:
        """Number of directions that active constraints leave."""
        return self.positive + self.negative + self.flat

    def __str__(self) -> str:
        weak = f"{self.weak} weakly active constraint{'s' if self.weak > 1 else ''}"
        if not self.freedoms:
            return "minimum: active constraints leave no freedom" + (f"; {weak}" if self.weak else "")
        kinds = {"rising": self.positive, "falling": self.negative, "flat": self.flat}
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        by = "".join(f"; {word} by {move}" for word, move in (("falls", self.falling), ("flat", self.level)) if move)
        if self.kind == "undecided":
            while_ = f"while {weak} hold" if self.weak else "far before other limits are met"
            return f"undecided: no direction of descent {while_}, otherwise {counts} of {self.freedoms} directions{by}"
        return f"{self.kind} along {counts} of {self.freedoms} directions{by}" + (f"; {weak}" if self.weak else "")


def second_order(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], cost: float
) -> SecondOrder:
    """The inertia of the Hessian of the Lagrangian on the directions that active constraints leave free.

    Parameters as in `active_set`.
    """
    active = active_set(nlp, x, p, multipliers, cost)
    at = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    answer = _inertia(nlp, at, multipliers["g"], cost, active)
    if not answer.negative or falling_direction(nlp, x, p, multipliers, cost) is not None:
        return answer
    return replace(answer, kind="undecided")


def falling_direction(
    nlp: BaseNLP,
    x: np.ndarray,
    p: np.ndarray,
    multipliers: dict[str, np.ndarray],
    cost: float,
    *,
    by_squares: bool = False,
) -> np.ndarray | None:
    """A direction along which the cost falls while all active constraints hold; None if there is none.

    Such a direction violates the second-order necessary conditions. Flat directions do not count, nor those along which
    the cost falls by less than 1e-4 of its size before another limit is met, or 1e-3 after a Gauss-Newton run: in time
    optima on fine grids a limit is always near. Usually one factorisation shows that there is none.

    Other parameters as in `active_set`.

    Returns
    -------
    ndarray, shape (n_x,), or None
        Its largest entry is of the natural size of its variable.
    """
    at = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    active = active_set(nlp, x, p, multipliers, cost).with_weak
    terms = _lagrangian(nlp, at, multipliers["g"], cost, active)
    if not terms.free.size or terms.is_convex(_FALL):
        return None
    moves = terms.steepest() if terms.free.size <= LARGEST else terms.falling()
    moves = moves / np.abs(moves).max(axis=0, initial=1e-300)
    falls = -(moves * np.array(terms.hessian @ moves)).sum(axis=0)
    directions, gains = _gains(nlp, at, active, moves[:, falls > terms.flat], falls[falls > terms.flat])
    least = _FALL_BY_SQUARES if by_squares else _FALL
    return directions[:, gains.argmax()] if gains.max(initial=0.0) > least else None


def may_fall(nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], cost: float) -> bool:
    """Whether a falling direction may exist, judged by first derivatives and the Gauss-Newton Hessian.

    Lanczos' method seeks the least curvature relative to the Gauss-Newton Hessian; differences of gradients give the
    products with the Hessian. After a Gauss-Newton run, exact second derivatives would take about as long as the run.

    Parameters as of `active_set`.
    """
    at = NumericDerivatives(nlp.costs, nlp.constraints, x, p)
    active = active_set(nlp, x, p, multipliers, cost).with_weak
    squares = _lagrangian(nlp, at, multipliers["g"], cost, active, "gauss_newton")
    if not squares.free.size:
        return False
    sizes, pushes = natural_sizes(nlp)[squares.free], np.where(active.rows != 0, multipliers["g"], 0.0)

    def bent(move: np.ndarray) -> np.ndarray:
        step, length = np.zeros(nlp.n_x), _BESIDE / np.abs(move).max()
        step[squares.free] = length * sizes * move
        sides = [replace(at, x=x + sign * step).lagrangian_gradient(pushes) for sign in (1, -1)]
        return (sides[0] - sides[1])[squares.free] * sizes / (2 * length * cost)

    moves = squares.least(bent)
    if moves is None:
        return True
    size = np.abs(moves[0]).max(axis=0, initial=1e-300)
    _, gains = _gains(nlp, at, active, moves[0] / size, moves[1] / size**2)
    return gains.max(initial=0.0) > _FALL_BY_SQUARES / 2


def _gains(
    nlp: BaseNLP, at: NumericDerivatives, active: ActiveSet, moves: np.ndarray, falls: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Directions of all variables from those of free ones in natural sizes, and the decrease of the cost along each."""
    directions = np.zeros((nlp.n_x, falls.size))
    directions[active.free] = moves * natural_sizes(nlp)[active.free, None]
    return directions, falls / 2 * _room(nlp, at, active, directions) ** 2


def _distances(nlp: BaseNLP, at: NumericDerivatives, active: ActiveSet) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distances of inactive rows and variables above and below them, not negative, and a mask of these."""
    values = np.append(row_values(nlp.constraints, at.x, at.p), at.x)
    lower, upper = (np.append(*sides) for sides in zip(nlp.bounds_g, (nlp.lower, nlp.upper), strict=True))
    loose = np.append(active.rows, active.variables) == 0
    return np.maximum(upper - values, 0.0)[loose], np.maximum(values - lower, 0.0)[loose], loose


def _room(nlp: BaseNLP, at: NumericDerivatives, active: ActiveSet, directions: np.ndarray) -> np.ndarray:
    """Distance along directions, to both sides, before an inactive bound is met; at most 1."""
    above, below, loose = _distances(nlp, at, active)
    above, below = above[:, None], below[:, None]
    slopes = np.vstack([np.array(at.jacobian @ directions), directions])[loose]
    room = []
    for rates in (slopes, -slopes):
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.where(rates > 0, above / rates, np.where(rates < 0, below / -rates, np.inf))
        room.append(np.minimum(steps.min(axis=0, initial=1.0), 1.0))
    return np.maximum(*room)


def content(nlp: BaseNLP, x: np.ndarray, direction: np.ndarray) -> DirectionContent:
    """Content of a direction, shape (n_x,), at x."""
    return _movement(nlp, x, (direction / natural_sizes(nlp))[:, None])


@dataclass(frozen=True, eq=False)
class _Lagrangian:
    """Second derivatives of the Lagrangian relative to the cost, and slopes of active rows, by free variables.

    Parameters
    ----------
    free : ndarray of int
        The free variables.
    hessian, jacobian : DM
        In variables of natural size, with unit rows.
    metric : DM
        Quadratic form, half of the mean square of the changes of inactive rows and variables relative to their nearer
        limits, and of all variables relative to natural sizes. It is at most 1 for a movement that meets no limit on
        either side.
    sizes : ndarray
        Scales of the variables by the widths of intervals, relative to natural sizes.
    """

    free: np.ndarray
    hessian: ca.DM
    jacobian: ca.DM
    metric: ca.DM
    sizes: np.ndarray

    @property
    def flat(self) -> float:
        """Curvature up to which a direction is flat."""
        return max(_FLAT, _ROUNDING * float(ca.mmax(ca.fabs(self.hessian)))) if self.hessian.nnz() else _FLAT

    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Curvatures, shape (freedoms,), and directions, (free, freedoms), on active rows, from dense matrices."""
        directions = _null_space(self.jacobian.full() * self.sizes) * self.sizes[:, None]
        values, vectors = np.linalg.eigh(directions.T @ self.hessian.full() @ directions)
        moves = directions @ vectors
        return values / np.maximum(np.abs(moves).max(axis=0, initial=0.0), 1e-300) ** 2, moves

    def steepest(self) -> np.ndarray:
        """Directions of least curvature relative to the metric, shape (free, some), from dense matrices."""
        directions = _null_space(self.jacobian.full() * self.sizes) * self.sizes[:, None]
        lengths = np.linalg.cholesky(directions.T @ self.metric.full() @ directions)
        moves = np.linalg.solve(lengths, directions.T).T
        values, vectors = np.linalg.eigh(moves.T @ self.hessian.full() @ moves)
        return moves @ vectors[:, values < 0][:, :_CANDIDATES]

    def is_convex(self, shift: float) -> bool:
        """Whether one factorisation shows that all curvatures relative to the metric are above -shift; False if it is
        inaccurate.
        """
        return self._convex_factors(shift) is not None

    def _convex_factors(self, shift: float) -> Sequence[Any] | None:
        """Factors as in `_factors`; None if they are inaccurate or a curvature is below -shift."""
        factors = self._factors(shift)
        return None if factors is None or int((factors[0] > 0).sum()) < self.free.size else factors

    def falling(self) -> np.ndarray:
        """Directions of approximately least curvature, shape (free, some), by inverse iteration; possibly none.

        The inertia for growing shifts brackets that curvature within a factor of ten.
        """
        shift, none = _FALL, np.zeros((self.free.size, 0))
        while not self.is_convex(10 * shift):
            shift *= 10
            if shift > _STEEPEST:
                return none
        factors = self._factors(3 * shift)
        if factors is None:
            return none
        count = self.jacobian.shape[0]
        block = np.random.default_rng(0).standard_normal((self.free.size, _BLOCK))
        for _ in range(_ITERATIONS):
            right = np.vstack([np.array(self.metric @ block), np.zeros((count, _BLOCK))])
            block = np.linalg.qr(np.array(ca.ldl_solve(right, *factors))[: self.free.size])[0]
        return block @ np.linalg.eigh(block.T @ np.array(self.hessian @ block))[1]

    def least(self, bent: Callable[[np.ndarray], np.ndarray]) -> tuple[np.ndarray, np.ndarray] | None:
        """Directions of negative curvature of another Hessian, shape (free, some), and their curvatures, negated.

        Lanczos' method, relative to this Hessian, with full orthogonalisation; None if this Hessian is not convex or a
        product is not finite.

        Parameters
        ----------
        bent : callable
            Products with the other Hessian.
        """
        factors = self._convex_factors(_FALL)
        if factors is None:
            return None
        count, none = self.jacobian.shape[0], np.zeros((self.free.size, 0))
        basis, weighted, images, shifted = none, none, none, self.hessian + _FALL * self.metric
        image = np.random.default_rng(0).standard_normal(self.free.size)
        for _ in range(min(_PRODUCTS, self.free.size)):
            move = np.array(ca.ldl_solve(np.append(image, np.zeros(count)), *factors)).ravel()[: self.free.size]
            size = np.linalg.norm(move)
            for _ in range(2):
                move = move - basis @ (weighted.T @ move)
            if np.linalg.norm(move) <= _RANK * size:
                break
            weight = np.array(shifted @ move).ravel()
            length = np.sqrt(move @ weight)
            basis, weighted = np.column_stack([basis, move / length]), np.column_stack([weighted, weight / length])
            image = bent(basis[:, -1])
            images = np.column_stack([images, image])
        if not np.isfinite(images).all():
            return None
        values, vectors = np.linalg.eigh(basis.T @ images)
        return basis @ vectors[:, values < 0], -values[values < 0]

    def _factors(self, shift: float) -> Sequence[Any] | None:
        """Factors of the conditions plus a multiple of the metric, LDL' without pivots; None if inaccurate."""
        count = self.jacobian.shape[0]
        upper = ca.horzcat(self.hessian + shift * self.metric, self.jacobian.T)
        matrix = ca.vertcat(upper, ca.horzcat(self.jacobian, -_SOFT * ca.DM.eye(count)))
        factors = ca.ldl(matrix)
        right = np.random.default_rng(0).standard_normal((matrix.shape[0], 1))
        solution = np.array(ca.ldl_solve(right, *factors))
        off = np.linalg.norm(np.array(matrix @ solution) - right)
        exact = off < _EXACT * float(ca.norm_fro(matrix)) * np.linalg.norm(solution)  # False for NaN
        return [np.array(factors[0]).ravel(), *factors[1:]] if exact else None


def _lagrangian(
    nlp: BaseNLP,
    at: NumericDerivatives,
    multipliers: np.ndarray,
    cost: float,
    active: ActiveSet,
    kind: str = "hessian",
) -> _Lagrangian:
    """Second derivatives at a solution with given active constraints; multipliers of others count as zero.

    With "gauss_newton" in place of "hessian", those of sums of squares by their first derivatives.
    """
    free, rows = active.free, active.active
    natural, moving = natural_sizes(nlp)[free], free.tolist()
    size = ca.diag(ca.DM(natural))
    above, below, loose = _distances(nlp, at, active)
    nearest = np.maximum(np.minimum(above, below), _NEAREST)
    bounded = np.isfinite(nearest)
    slopes = ca.vertcat(at.jacobian, ca.DM.eye(nlp.n_x))[np.flatnonzero(loose)[bounded].tolist(), moving] @ size
    slopes = ca.diag(ca.DM(1 / nearest[bounded])) @ slopes
    metric = slopes.T @ slopes / max(2 * slopes.shape[0], 1) + ca.DM.eye(free.size) / (2 * free.size)
    jacobian = at.jacobian[rows.tolist(), moving] @ size
    lengths = np.sqrt(np.array(ca.sum2(jacobian**2)).ravel())
    jacobian = ca.diag(ca.DM(1 / np.where(lengths > 0, lengths, 1.0))) @ jacobian
    hessian = at.hessian(kind, np.where(active.rows != 0, multipliers, 0.0))[moving, moving]
    return _Lagrangian(free, size @ hessian @ size / cost, jacobian, metric, nlp.scale_x[free] / natural)


def _inertia(
    nlp: BaseNLP, at: NumericDerivatives, multipliers: np.ndarray, cost: float, active: ActiveSet
) -> SecondOrder:
    """The second-order conditions of a solution with given active constraints."""
    terms = _lagrangian(nlp, at, multipliers, cost, active)
    curvature, movements = terms.modes()
    moves = np.zeros((nlp.n_x, curvature.size))
    moves[terms.free] = movements
    falling, level = curvature < -terms.flat, np.abs(curvature) <= terms.flat
    negative, flat = int(falling.sum()), int(level.sum())
    return SecondOrder(
        _kind(curvature.size - negative - flat, negative, flat),
        curvature.size - negative - flat,
        negative,
        flat,
        active.weak,
        float(curvature.min(initial=np.inf)),
        _movement(nlp, at.x, moves[:, falling]) if negative else None,
        _movement(nlp, at.x, moves[:, level]) if flat else None,
    )


def _kind(positive: int, negative: int, flat: int) -> str:
    if negative:
        return "saddle" if positive + flat else "maximum"
    return "flat" if flat else "minimum"


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the null space of a matrix, shape (columns, freedoms)."""
    if not matrix.shape[0]:
        return np.eye(matrix.shape[1])
    # The rows of a program differ much in size: each is normalised.
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    triangle = np.linalg.qr(matrix / np.where(lengths > 0, lengths, 1.0)).R
    _, sizes, vectors = np.linalg.svd(triangle)
    return vectors[int((sizes > _RANK * sizes.max(initial=0.0)).sum()) :].T


def natural_sizes(nlp: BaseNLP) -> np.ndarray:
    """Natural sizes of the variables, independent of the widths of intervals, shape (n_x,)."""
    widths = [phase.grid.variable_scale(np.ones(phase.n_x)) for phase in nlp.phases.values()]
    return nlp.scale_x / np.concatenate(widths)


def _movement(nlp: BaseNLP, x: np.ndarray, moves: np.ndarray) -> DirectionContent:
    """Content of directions, shape (n_x, directions), in natural sizes."""
    square = (moves / np.abs(moves).max(axis=0)) ** 2 @ np.ones(moves.shape[1])
    shares, spans = {}, {}
    for name, phase in nlp.phases.items():
        part, before, start = square[nlp.parts[name]], f"{name}: " if name else "", x[nlp.parts[name]]
        for label, index, times in _groups(phase, start):
            shares[before + label] = float(part[index].mean())  # mean over control points
            spans[before + label] = _span(part[index], times)
    total = sum(shares.values())
    shares = dict(sorted(((name, share / total) for name, share in shares.items()), key=lambda share: -share[1]))
    return DirectionContent(shares, spans[next(iter(shares))])


def _groups(nlp: NLP, x: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray | None]]:
    """Names of the quantities of a phase, with their entries, and the times of control points."""
    names, splines, T = nlp.column_names, nlp.grid.splines, nlp.duration(x)
    for name, index in nlp.grid.layout.names.items():
        if name in names:
            yield from ((label, index[:, j], splines[name].greville() * T) for j, label in enumerate(names[name]))
        else:
            yield name, index.ravel(), None


def _span(squares: np.ndarray, times: np.ndarray | None) -> tuple[float, float] | None:
    """Times of the middle 80 %."""
    if times is None or not squares.sum():
        return None
    below = np.cumsum(squares) / squares.sum()
    return float(times[np.searchsorted(below, 0.1)]), float(times[np.searchsorted(below, 0.9)])
