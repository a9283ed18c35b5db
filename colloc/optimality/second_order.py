"""What kind of stationary point a program's answer is: minimum, saddle or maximum, and what is flat about it.

Second-order conditions look at the Hessian of the Lagrangian on the movements that active constraints leave free
(Nocedal and Wright 2006, theorems 12.5 and 12.6). A constraint is strongly active if its multiplier says so: then an
optimum does not leave it. One that is at its bound without pushing is left out of the active ones, which asks for more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from colloc.blocks.numeric import NumericDerivatives
from colloc.optimality.active_set import ActiveSet, active_set
from colloc.support.display import short
from colloc.transcription import NLP, BaseNLP

LARGEST = 800  # variables, of which dense matrices are formed and taken apart, in seconds
_FLAT = 1e-6  # second derivative of the cost along a movement by the natural size, relative to the cost
_RANK = 1e-8  # of the largest singular value: a row that follows from others
_NAMED = 0.1  # share of a movement from which on it is named


@dataclass(frozen=True)
class DirectionContent:
    """What moves along some directions.

    Parameters
    ----------
    shares : dict of str to float
        By joint, signal, state, constant or duration, in natural sizes: shares of mean squares, largest first.
    span : (float, float) or None [s]
        When what has the largest share moves, but for a tenth at either end; None for what does not vary in time.
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
        Flat is what is a minimum but for directions along which the cost does not change to second order; undecided
        where something falls unless constraints hold that barely push.
    positive, negative, flat : int
        Numbers of directions along which the cost rises, falls, and does neither.
    weak : int
        Number of rows and variables at a bound that barely push.
    least : float
        The least second derivative of the cost along a movement whose largest part is as large as its natural size,
        relative to the cost; infinite where nothing can move.
    falling, level : DirectionContent or None
        What moves along the directions of descent, and along flat ones.
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
        weak = f"{self.weak} constraint{'s' if self.weak > 1 else ''} at a bound with hardly a push"
        if not self.freedoms:
            return "minimum: active constraints leave no freedom" + (f"; {weak}" if self.weak else "")
        kinds = {"rising": self.positive, "falling": self.negative, "flat": self.flat}
        counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
        by = "".join(f"; {word} by {move}" for word, move in (("falls", self.falling), ("flat", self.level)) if move)
        if self.kind == "undecided":
            return f"undecided: nothing falls while {weak} hold, else {counts} of {self.freedoms} directions{by}"
        return f"{self.kind} along {counts} of {self.freedoms} directions{by}" + (f"; {weak}" if self.weak else "")


def second_order(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: dict[str, np.ndarray], cost: float
) -> SecondOrder:
    """The inertia of the Hessian of the Lagrangian on what active constraints leave free.

    Parameters as of `active_set`.
    """
    active = active_set(nlp, x, p, multipliers, cost)
    answer = _inertia(nlp, x, p, multipliers["g"], cost, active)
    if not (answer.negative and active.weak):
        return answer
    least = _inertia(nlp, x, p, multipliers["g"], cost, active.with_weak)
    return answer if least.negative else replace(answer, kind="undecided")


def _inertia(
    nlp: BaseNLP, x: np.ndarray, p: np.ndarray, multipliers: np.ndarray, cost: float, active: ActiveSet
) -> SecondOrder:
    """The second-order conditions of an answer that some constraints hold."""
    free, rows = active.free, active.active
    scale = nlp.scale_x[free]
    at, moving = NumericDerivatives(nlp.costs, nlp.constraints, x, p), free.tolist()
    jacobian = at.jacobian[rows.tolist(), moving].full() * scale / nlp.scale_g[rows, None]
    hessian = at.hessian("hessian", multipliers)[moving, moving].full() * scale * scale[:, None]
    directions = _null_space(jacobian)
    values, vectors = np.linalg.eigh(directions.T @ hessian @ directions)
    moves = np.zeros((nlp.n_x, values.size))
    moves[free] = (directions @ vectors) * scale[:, None] / _natural_sizes(nlp)[free, None]
    curvature = values / np.maximum(np.abs(moves).max(axis=0, initial=0.0), 1e-300) ** 2 / cost
    falling, level = curvature < -_FLAT, np.abs(curvature) <= _FLAT
    negative, flat = int(falling.sum()), int(level.sum())
    return SecondOrder(
        _kind(values.size - negative - flat, negative, flat),
        values.size - negative - flat,
        negative,
        flat,
        active.weak,
        float(curvature.min(initial=np.inf)),
        _movement(nlp, x, moves[:, falling]) if negative else None,
        _movement(nlp, x, moves[:, level]) if flat else None,
    )


def _kind(positive: int, negative: int, flat: int) -> str:
    if negative:
        return "saddle" if positive + flat else "maximum"
    return "flat" if flat else "minimum"


def _null_space(matrix: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what a matrix takes to zero, shape (columns, freedoms)."""
    if not matrix.shape[0]:
        return np.eye(matrix.shape[1])
    # The rows of a program differ much in size: every one counts the same.
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    triangle = np.linalg.qr(matrix / np.where(lengths > 0, lengths, 1.0)).R
    _, sizes, vectors = np.linalg.svd(triangle)
    return vectors[int((sizes > _RANK * sizes.max(initial=0.0)).sum()) :].T


def _natural_sizes(nlp: BaseNLP) -> np.ndarray:
    """Natural sizes of the variables, whatever the widths of the intervals, shape (n_x,)."""
    widths = [phase.grid.variable_scale(np.ones(phase.n_x)) for phase in nlp.phases.values()]
    return nlp.scale_x / np.concatenate(widths)


def _movement(nlp: BaseNLP, x: np.ndarray, moves: np.ndarray) -> DirectionContent:
    """What moves along directions, shape (n_x, directions), in natural sizes."""
    square = (moves / np.abs(moves).max(axis=0)) ** 2 @ np.ones(moves.shape[1])
    shares, spans = {}, {}
    for name, phase in nlp.phases.items():
        part, before, start = square[nlp.parts[name]], f"{name}: " if name else "", x[nlp.parts[name]]
        for label, index, times in _groups(phase, start):
            shares[before + label] = float(part[index].mean())  # of a joint's control points, as of one duration
            spans[before + label] = _span(part[index], times)
    total = sum(shares.values())
    shares = dict(sorted(((name, share / total) for name, share in shares.items()), key=lambda share: -share[1]))
    return DirectionContent(shares, spans[next(iter(shares))])


def _groups(nlp: NLP, x: np.ndarray) -> Iterator[tuple[str, np.ndarray, np.ndarray | None]]:
    """Names of what the variables of a phase are, with their entries, and the times of control points."""
    names, splines, T = nlp.column_names, nlp.grid.splines, nlp.duration(x)
    for name, index in nlp.grid.layout.names.items():
        if name in names:
            yield from ((label, index[:, j], splines[name].greville() * T) for j, label in enumerate(names[name]))
        else:
            yield name, index.ravel(), None


def _span(squares: np.ndarray, times: np.ndarray | None) -> tuple[float, float] | None:
    """Times between which all but a tenth at either end lies."""
    if times is None or not squares.sum():
        return None
    below = np.cumsum(squares) / squares.sum()
    return float(times[np.searchsorted(below, 0.1)]), float(times[np.searchsorted(below, 0.9)])
