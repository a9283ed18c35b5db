"""Random infeasible problems: the relaxation that is named makes each feasible, and half of it does not."""

from __future__ import annotations

import warnings

import numpy as np

import colloc as co
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart
from tests.support.infeasible import infeasible

_FEASIBLE = (co.solver.Status.SOLVED, co.solver.Status.COARSE)
_SNIPPET = """
from tests.campaigns import relaxations
relaxations.check({seed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One problem."""
    return attempt_apart("relaxation", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=300.0)


def check(seed: int) -> co.optimality.Explanation:
    """Explain the failure of a problem, and assert that its relaxations are needed, and enough."""
    kind, problem, curve = infeasible(seed)
    last = co.solve(problem, curve, compile=False, raise_on_failure=False)
    assert last.status not in _FEASIBLE, f"{kind}: the problem is feasible"
    explanation = co.optimality.explain(last)
    assert isinstance(explanation.motion, co.Solution), f"{kind}: no relaxation is named"
    # A search from elsewhere may show that torques thought too weak are not: the problem is solved from there.
    shares = ((1.01, True), (0.5, False)) if explanation.relaxations else ((1.0, True),)
    for share, enough in shares:
        relaxed = explanation.relaxed(share)
        assert isinstance(relaxed, co.Problem)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of coarse grids
            again = co.solve(relaxed, curve, guess=explanation.motion, compile=False, raise_on_failure=False)
        assert (again.status in _FEASIBLE) == enough, f"{kind}: {share:.0%} of the relaxation is {again.status}"
    return explanation
