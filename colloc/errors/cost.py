"""The error of the cost, and the scale of costs.

The scale is the sum of the terms' sizes, or the cost of a small movement if the terms vanish. An optimum may cost
nothing, as when a course is tracked exactly. The digits of such a cost are rounding errors that no finer grid confirms:
they are compared with the cost of a motion that is off by a thousandth of its own range.

The error is that of the problem's quadrature against one of twice as many points, and, for an optimum, the excess of
the cost that is due to the curve: see `gap`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import casadi as ca
import numpy as np

from colloc.curves.mesh import points_inside
from colloc.curves.quadrature import gauss
from colloc.errors.gap import GapByInterval
from colloc.errors.motion import Motion
from colloc.errors.source import Source
from colloc.problem import natural_size
from colloc.transcription import NLP

_OFF = 1e-3  # of the range of the motion
_ROUNDING = 1e-10  # of a position: smaller movements count as none
_TOLERANCE = 1e-7  # of a natural size, ten times that of IPOPT: smaller movements count as none too


@dataclass(frozen=True, eq=False)
class CostError(Source):
    """The error of the cost, with the part that is due to limits which the motion should reach and does not.

    Parameters
    ----------
    limits : ndarray, shape (intervals,)
        The relative part of the error due to such limits.
    rows : mapping of str to float
        The part of the total due to the limits of each row, by name.
    hidden : float
        Largest relative part of the excess that errors of equations may hide in the total; infinite if unknown.
    """

    limits: np.ndarray
    rows: Mapping[str, float]
    hidden: float

    def described(self, t: np.ndarray) -> str:
        """The sentence with numbers, place and limit of the largest error; t as in `Source`."""
        said = super().described(t)
        limit = max(self.rows, key=lambda name: self.rows[name], default="")
        if not limit or self.rows[limit] < self.total / 4:
            return said
        return f"{said[:-1]}; {limit} should be at its limit there)"

    def joined(self, later: Sequence[Self]) -> Self:
        """See `Source.joined`."""
        phases = (self, *later)
        limits = np.concatenate([phase.limits for phase in phases])
        rows = {name: sum(phase.rows.get(name, 0.0) for phase in phases) for phase in phases for name in phase.rows}
        hidden = sum(phase.hidden for phase in phases)
        return replace(super().joined(later), limits=limits, rows=rows, hidden=hidden)


def cost_error(motion: Motion) -> CostError:
    """Error of the cost, or its excess over the optimum, relative to its scale."""
    scale, quadrature = _quadrature_error(motion)
    nothing = np.zeros(quadrature.size)
    share = motion.gap() if motion.gap else GapByInterval(nothing, nothing, {}, np.inf)
    return CostError(
        quadrature + np.abs(share.per_interval) / scale,
        float(quadrature.sum() + abs(share.per_interval.sum()) / scale),
        adds_up=True,
        sentence="the cost is inaccurate, or above the optimum, by about {share}",
        limits=np.abs(share.limits) / scale,
        rows={name: float(gain.sum()) / scale for name, gain in share.rows.items()},
        hidden=share.hidden / scale,
    )


def _quadrature_error(motion: Motion) -> tuple[float, np.ndarray]:
    """The scale of the cost, and the relative error of its integral on every interval."""
    nlp, x, p = motion.nlp, motion.x, motion.p
    grid, problem, T = nlp.grid, nlp.problem, nlp.duration(x)
    widths = np.diff(grid.breakpoints)
    scale = motion.total_cost_scale or cost_scale(nlp, x, p)
    if problem.minimize.is_duration or not problem.integrands:
        return scale, np.zeros(widths.size)
    sums = []
    for count in (grid.basis.degree + 1, 2 * grid.basis.degree + 2):
        points, weights = gauss(count)
        sites = grid.on(points_inside(grid.breakpoints, points))

        def integrand(arguments: Sequence[ca.SX] = sites.local.arguments) -> list[ca.SX]:
            return [ca.vertcat(*(factor * function(*arguments) for factor, function in problem.integrands.values()))]

        (costs,) = sites.evaluate_again("integrands", integrand, x, p, virtual=nlp.compile is False)
        shares = (costs.reshape(widths.size, count, -1) * weights[:, None]).sum(axis=1) * widths[:, None] * T
        sums.append(shares.sum(axis=1))
        scale = max(scale, float(np.abs(shares).sum()))
    return scale, np.abs(sums[0] - sums[1]) / scale


def cost_scale(nlp: NLP, x: np.ndarray, p: np.ndarray) -> float:
    """Scale of the cost at x: the sum of its terms' sizes at x, or near x if that is larger.

    Parameters
    ----------
    nlp : NLP
    x, p : ndarray
        Decision vector and parameters.
    """
    step = _movement(nlp, x) * nlp.free
    places = (x, *(np.clip(x + sign * _OFF * step, nlp.lower, nlp.upper) for sign in (1, -1)))
    sizes = np.array([sum(abs(value) for value in nlp.terms(place, p).values()) for place in places])
    return max(float(sizes[np.isfinite(sizes)].max(initial=0.0)), 1e-300)


def _movement(nlp: NLP, x: np.ndarray) -> np.ndarray:
    """A movement of every variable by about its size, smooth in time and zero at fixed ends, shape (n_x,).

    The size of a joint, signal or state is its range in the motion, so that small motions are judged like large ones;
    without movement, it is the natural size.
    """
    rng, layout = np.random.default_rng(0), nlp.grid.layout
    movement = rng.uniform(0.5, 1.0, nlp.n_x) * rng.choice((-1.0, 1.0), nlp.n_x)
    natural = np.minimum(natural_size(nlp.lower, nlp.upper), 1.0)
    sizes = np.where(x != 0, np.abs(x), natural)
    for name, spline in nlp.grid.splines.items():
        index = layout[name] - layout.offset
        if not index.size:
            continue
        s, free = spline.greville()[:, None], nlp.free[index]
        shape = 16 * s**2 * (1 - s) ** 2 + free[0] * (1 - s) ** 2 * (1 + 2 * s) + free[-1] * s**2 * (3 - 2 * s)
        movement[index] = shape / 2 * movement[index[0]]
        way, least = np.ptp(x[index], axis=0), natural[index].min(axis=0)
        still = _ROUNDING * (1 + np.abs(x[index]).max(axis=0)) + _TOLERANCE * least
        sizes[index] = np.where(way > still, way, least)
    return movement * sizes
