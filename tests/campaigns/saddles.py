"""Motions that are stationary by symmetry, with a cheaper one beside them: the symmetric one is never called solved.

Every problem has a mirror, and its guess lies in it: so do all iterates of Newton's method, to rounding. A start beside
the mirror leads to a cheaper motion, whose cost is the second opinion.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.cart_pole import cart_pole
from colloc.studies.classics.points import particle
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart

_CHEAPER = 1e-3  # of the cost of the symmetric motion: what the other motion must save to refute it
_OFF = 1e-3  # rad, m: what is closer to the mirror is in it
_WITHOUT = [co.refinement.Solve(tol=1.0)]  # nothing between nodes is judged: the saddle alone counts
_CURVES = (co.BSpline(12), co.BSpline(8, degree=5, continuity=1), co.Radau(8, 3), co.HermiteSimpson(16))
_SNIPPET = """
from tests.campaigns import saddles
saddles.check({seed})
"""


class Mirrored(NamedTuple):
    """A problem with a mirror.

    Parameters
    ----------
    kind : str
    problem : Problem
    inside, beside : guess
        In the mirror, and off it.
    """

    kind: str
    problem: co.Problem
    inside: Any
    beside: Any

    def is_inside(self, motion: co.Solution) -> bool:
        """Whether a motion is in the mirror."""
        columns = {"hill": [1], "fluid": [1], "body": [1], "arm": [1, 2], "column": [0], "cart": [0, 1], "state": []}
        off = np.append(motion.q[:, columns[self.kind]], motion.nodes.signals.get("s", np.zeros(0)))
        return bool(np.abs(off).max() < _OFF)


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem on a transcription."""
    seed = int(rng.integers(1_000_000))
    return attempt_apart(list(_KINDS)[seed % len(_KINDS)], _SNIPPET.format(seed=seed), seconds=120.0)


def mirrored(seed: int) -> tuple[Mirrored, co.curves.Transcription]:
    """The problem of a seed and a curve for it."""
    rng = np.random.default_rng([41, seed])
    kind, make = list(_KINDS.items())[seed % len(_KINDS)]
    return Mirrored(kind, *make(rng)), _CURVES[seed // len(_KINDS) % len(_CURVES)]


def check(seed: int) -> tuple[co.Solution, co.Solution]:
    """Solve from the mirror, and assert that no costlier motion in it is called solved."""
    case, curve = mirrored(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        options: dict[str, Any] = {"plan": _WITHOUT, "compile": False, "raise_on_failure": False}
        answer = co.solve(case.problem, curve, guess=case.inside, **options)
        other = co.solve(case.problem, curve, guess=case.beside, **options)
    assert other.outcome.status is co.solver.Status.SOLVED, f"{case.kind}: no motion from beside the mirror"
    excess = (answer.cost - other.cost) / max(abs(answer.cost), answer.cost_scale)
    solved = answer.outcome.status is co.solver.Status.SOLVED
    at_saddle = case.is_inside(answer) and excess > _CHEAPER
    assert not (solved and at_saddle), f"{case.kind}: solved {excess:.1e} above the motion beside the mirror"
    return answer, other


def _ridge(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A particle over a hill that stands straight between its ends."""
    height, width, c = 10 ** rng.uniform(1.5, 3), rng.uniform(0.1, 0.3), rng.uniform(-0.3, 0.3)

    def rate(now: Any) -> ca.SX:
        return ca.sumsqr(now.tau) + height * ca.exp(-((now.q[0] - c) ** 2 + now.q[1] ** 2) / (2 * width**2))

    ends = [co.initial(q=(-1.0, 0.0), qd=0.0), co.final(q=(1.0, 0.0), qd=0.0)]
    problem = co.Problem(particle("xy"), 1.0, co.integral(rate), ends)
    side = rng.choice((-1, 1)) * 2 * width
    return problem, co.line((-1.0, 0.0), (1.0, 0.0)), _bow((-1.0, 0.0), (1.0, 0.0), (0.0, side))


def _bow(start: Any, end: Any, beside: Any) -> Callable[[float], np.ndarray]:
    """A line that is bent by an amount at mid-time, as shares of the time."""
    start, end, beside = (np.array(part, dtype=float) for part in (start, end, beside))
    return lambda t: start + t * (end - start) + 4 * t * (1 - t) * beside


def _body(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A particle over a body that is easier to pass at the side than over the top."""
    a, b = rng.uniform(0.25, 0.45), rng.uniform(0.15, 0.25)
    high = a + rng.uniform(0.15, 0.4)

    def outside(now: Any) -> ca.SX:
        return (now.q[0] / a) ** 2 + (now.q[1] / b) ** 2 + (now.q[2] / high) ** 2

    ends = [co.initial(q=(-1.0, 0.0, 0.0), qd=0.0), co.final(q=(1.0, 0.0, 0.0), qd=0.0)]
    cost = co.integral(lambda now: ca.sumsqr(now.tau))
    problem = co.Problem(particle("xyz"), 1.0, cost, [*ends, co.path(outside, lower=1.0, name="body")])
    start, end = (-1.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    return problem, _bow(start, end, (0.0, 0.0, 2 * high)), _bow(start, end, (0.0, 2 * b, 0.3 * b))


def _column(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A column that is pressed and rests on springs that stiffen: it buckles, to either side."""
    load, stiff = rng.uniform(1.2, 12) * np.pi**4, 10 ** rng.uniform(1, 4)
    ends = [co.initial(q=0.0), co.final(q=0.0)]
    cost = co.integral(lambda now: now.tau**2 - load * now.q**2 + stiff * now.q**4)
    problem = co.Problem(particle("x"), 1.0, cost, ends)
    return problem, co.line(0.0, 0.0), _bow(0.0, 0.0, np.sqrt(load / stiff) * rng.choice((-1, 1)))


def _state(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A state on top of a double well, from there and back."""
    depth, place = 10 ** rng.uniform(1.7, 3), rng.uniform(0.5, 2)
    state, drive = co.State("s", rate=lambda now: now.drive), co.Unknown("drive")
    cost = co.integral(lambda now: now.drive**2 + depth * ((now.s / place) ** 2 - 1) ** 2 + now.tau**2)
    ends = [co.initial(q=0.0, qd=0.0, states={"s": 0.0}), co.final(q=1.0, qd=0.0, states={"s": 0.0})]
    problem = co.Problem(particle("x"), 1.0, cost, ends, [state, drive])
    line = co.line(0.0, 1.0)
    return problem, {"q": line}, {"q": line, "s": lambda t: 4 * t * (1 - t) * place * rng.choice((-1, 1))}


def _arm(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """An arm, straight along the slide that carries it, past a hill: its elbow goes up or down."""
    lengths, height, width = rng.uniform(0.3, 0.6, 2), 10 ** rng.uniform(1.5, 3), rng.uniform(0.1, 0.2)
    bodies = [co.Body("slide", co.prismatic((1, 0, 0)), None, rng.uniform(0.5, 2))]
    for k, (name, length) in enumerate(zip(("upper", "lower"), lengths, strict=True)):
        place = co.placement((lengths[0], 0, 0) if k else (0, 0, 0))
        com, inertia = (length / 2, 0, 0), length**2 / 12 * np.diag([0.01, 1, 1])
        parent = "upper" if k else "slide"
        bodies.append(co.Body(name, co.revolute((0, 0, 1), place), parent, 1.0, com, inertia, tip=(length, 0, 0)))
    hill = lengths.sum() + 0.5

    def rate(now: Any) -> ca.SX:
        tip = now.point("lower").position
        return 0.1 * ca.sumsqr(now.tau) + height * ca.exp(-((tip[0] - hill) ** 2 + tip[1] ** 2) / (2 * width**2))

    ends = [co.initial(q=(0.0, 0.0, 0.0), qd=0.0), co.final(q=(1.0, 0.0, 0.0), qd=0.0)]
    horizon = co.Free(0.5, 2.0) if rng.random() < 0.3 else 1.0
    cost = co.integral(rate) + (co.duration() if isinstance(horizon, co.Free) else 0 * co.duration())
    problem = co.Problem(co.Model(bodies, gravity=(0, 0, 0)), horizon, cost, ends)
    side = rng.choice((-1, 1))
    start, end = (0.0, 0.0, 0.0), (1.0, 0.0, 0.0)
    return problem, co.line(start, end), _bow(start, end, (0.0, 0.6 * side, -0.3 * side))


def _cart(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A pole that hangs from a cart which ends where it began; that it swings is worth more than it takes."""
    wish, T = 10 ** rng.uniform(1.5, 2.5), rng.uniform(0.8, 1.5)

    def rate(now: Any) -> ca.SX:
        return ca.sumsqr(now.tau) + wish * ca.cos(now.q[1])

    ends = [co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(0.0, 0.0), qd=0.0), co.bounds(tau=(-100.0, 100.0))]
    problem = co.Problem(cart_pole(rng.uniform(0.0, 2.0)), T, co.integral(rate), ends)
    side = rng.choice((-1, 1))
    return problem, co.line((0.0, 0.0), (0.0, 0.0)), _bow((0.0, 0.0), (0.0, 0.0), (0.0, 2.0 * side))


def _mud(rng: np.random.Generator) -> tuple[co.Problem, Any, Any]:
    """A particle as fast as its forces allow through a fluid that is thick straight between its ends."""
    thick, width, force = 10 ** rng.uniform(1, 2), rng.uniform(0.15, 0.3), rng.uniform(10, 40)

    def thickness(now: Any) -> ca.SX:
        return thick * ca.exp(-(now.q[0] ** 2 + now.q[1] ** 2) / (2 * width**2))

    effort = co.integral(lambda now: 1e-3 * ca.sumsqr(now.push))
    push = co.Unknown("push", 2, -force, force)
    moves = co.path(lambda now: now.tau - now.push + thickness(now) * now.qd, equals=0.0)
    ends = [co.initial(q=(-1.0, 0.0), qd=0.0), co.final(q=(1.0, 0.0), qd=0.0)]
    problem = co.Problem(particle("xy"), co.Free(0.1, 10.0), co.duration() + effort, [*ends, moves], [push])
    start, end = (-1.0, 0.0), (1.0, 0.0)
    side = rng.choice((-1, 1)) * 2.5 * width
    return problem, co.line(start, end), _bow(start, end, (0.0, side))


_KINDS = {
    "hill": _ridge, "body": _body, "column": _column, "state": _state, "arm": _arm, "cart": _cart, "fluid": _mud,
}  # fmt: skip
