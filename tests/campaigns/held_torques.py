"""Passive joints of random mechanisms in random motions, stated in several ways: the error of a motion is the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import casadi as ca
import numpy as np

import colloc as co
from colloc.errors.local import local_error
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart
from tests.support.random_trees import random_tree

Statement = co.problem.Statement
_CURVES = (co.Radau(5), co.HermiteSimpson(6), co.BSpline(7), co.BSpline(4, degree=5, continuity=1))
_ROUNDING = 1e-7
_SNIPPET = """
from tests.campaigns import held_torques
held_torques.check({seed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One mechanism."""
    return attempt_apart("passive joints", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=300.0)


def _row(factor: float, joint: int) -> Callable[[co.problem.Instant], ca.SX]:
    return lambda now: factor * now.tau[joint]


def statements(names: Sequence[str], passive: Sequence[int], factor: float) -> dict[str, list[Statement]]:
    """Ways to say that joints, by their numbers, are passive."""
    columns = list(passive)
    return {
        "bounds": [co.bounds(tau={names[j]: (0.0, 0.0) for j in columns})],
        "one path": [co.path(lambda now: now.tau[columns], equals=0.0, name="passive")],
        "signs": [co.path(lambda now: -now.tau[columns], equals=0.0, name="passive")],
        "apart": [co.path(_row(factor, j), equals=0.0, name=f"passive {names[j]}") for j in columns],
        "sums": [co.path(lambda now: ca.cumsum(now.tau[columns]), equals=0.0, name="passive")],
        "twice": [
            co.bounds(tau={names[j]: (0.0, 0.0) for j in columns}),
            co.path(_row(factor, columns[0]), equals=0.0, name="again"),
        ],
    }


def check(seed: int) -> None:
    """Measure one random motion of one random mechanism by all statements."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 6)), virtual=False)
    passive = sorted(rng.choice(model.n, int(rng.integers(1, model.n + 1)), replace=False).tolist())
    curve = _CURVES[int(rng.integers(len(_CURVES)))]
    totals, x = {}, None
    for how, rows in statements(model.joint_names, passive, float(rng.uniform(-9, 9))).items():
        nlp = co.transcribe(co.Problem(model, 1.3, co.integral(lambda now: ca.sumsqr(now.tau)), rows), curve)
        x = rng.uniform(-1, 1, nlp.n_x) if x is None else x
        error = local_error(nlp, x, np.zeros(0)).without("cost")
        totals[how] = np.concatenate(
            [[error["dynamics"].total, error["equations"].total], error.dynamics, error.equations]
        )
        assert error["equations"].total > 0
        np.testing.assert_allclose(totals[how], totals["bounds"], rtol=_ROUNDING, atol=1e-12, err_msg=how)
