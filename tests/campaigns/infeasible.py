"""Random problems that no motion solves, by construction: none may be solved, and what stands in the way is named.

Where the library has a proof the status is "infeasible", else "no feasible motion found"; either way the message names
the statement, and the smallest relaxation makes the problem feasible.
"""

from __future__ import annotations

import warnings
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart
from tests.support.infeasible import infeasible as infeasible_motion

_SNIPPET = """
from tests.campaigns import infeasible
infeasible.check({seed})
"""
# Names, one of which the message of each kind must contain; "torques" may be strong enough for a swing.
_NAMES = {
    "speeds": ("qd",),
    "goal": ("goal",),
    "end": ("stop",),
    "contradiction": ("high", "low"),
    "passing": ("qd", "first", "second"),
    "wall": ("wall",),
    "tip": ("speed",),
    "push": ("spent", "push", "place", "speed"),
    "held": ("tau",),
}
_FEASIBLE = (co.solver.Status.SOLVED, co.solver.Status.COARSE, co.solver.Status.VIOLATED)


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem."""
    return attempt_apart("infeasible", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=300.0)


def check(seed: int) -> co.solver.Status:
    """Solve the problem of a seed by the call with its curve, and assert that it fails with the reason."""
    kind, problem, curve = infeasible(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            solution = co.solve(problem, curve, compile=False)
        except co.SolveError as error:
            said, last = str(error), error.solution
        else:
            raise AssertionError(f"{kind}: an infeasible problem is {solution.status}")
        assert any(name in said for name in _NAMES[kind]), f"{kind}: no cause named: {said}"
        explanation = co.optimality.explain(last)
        assert explanation.relaxations, f"{kind}: no relaxation is named"
        relaxed: Any = explanation.relaxed()
        again = co.solve(relaxed, curve, guess=explanation.motion, compile=False, raise_on_failure=False)
    assert again.status in _FEASIBLE, f"{kind}: the relaxed problem is {again.status}"
    return last.status


def infeasible(seed: int) -> tuple[str, Any, co.curves.Transcription]:
    """The kind of a seed's problem, the problem and a curve."""
    rng = np.random.default_rng([35, seed])
    kind = list(_NAMES)[seed % len(_NAMES)]
    if kind == "push":
        return kind, _push(rng), co.Radau(8)
    if kind == "held":
        return kind, _held(rng), co.BSpline(10)
    while (found := infeasible_motion(seed))[0] != kind:
        seed += 1
    return found


def _push(rng: np.random.Generator) -> co.Problem:
    """A mass moved from rest to rest by less than 12 d^2 / T^3, the least integral of the squared push."""
    d, T, share = float(rng.uniform(0.5, 3)), float(rng.uniform(0.5, 3)), float(rng.uniform(0.3, 0.9))
    push = co.Unknown("push")
    place = co.State("place", rate=lambda now: now.speed)
    speed = co.State("speed", rate=lambda now: now.push)
    spent = co.State("spent", rate=lambda now: now.push**2, lower=0.0, upper=share * 12 * d**2 / T**3)
    ends = [
        co.initial(states={"place": 0.0, "speed": 0.0, "spent": 0.0}),
        co.final(states={"place": d, "speed": 0.0}),
    ]
    return co.Problem(co.Model.empty(), T, co.integral(lambda now: now.push**2), ends, [push, place, speed, spent])


def _held(rng: np.random.Generator) -> co.Problem:
    """A pendulum that stays within 3 degrees of horizontal, by less torque than its weight needs."""
    m, r, share = float(rng.uniform(0.5, 3)), float(rng.uniform(0.2, 1)), float(rng.uniform(0.3, 0.9))
    inertia = m * r**2 / 3 * np.array([0.01, 1.0, 1.0])
    body = co.Body("arm", co.revolute((0, 0, 1)), mass=m, com=(r, 0, 0), inertia=inertia)
    weak = share * 9.81 * m * r * np.cos(0.05)
    near = co.bounds(q=(-0.05, 0.05), tau=(-weak, weak))
    # Falling for a second from rest takes it farther than the 0.1 rad that there are.
    ends = [co.initial(qd=0.0), co.final(qd=0.0), near]
    return co.Problem(co.Model([body], gravity=(0, -9.81, 0)), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
