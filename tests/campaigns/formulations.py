"""Random trees of up to 40 bodies: all formulations, CasADi's derivatives and Pinocchio's agree."""

from __future__ import annotations

import numpy as np

from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart
from tests.dynamics.test_formulations import assert_derivatives_agree
from tests.support.random_trees import Case, random_loads, random_state, random_tree

_SNIPPET = """
from tests.campaigns import formulations
formulations.check({seed})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One mechanism."""
    return attempt_apart("mechanism", _SNIPPET.format(seed=int(rng.integers(1_000_000))), seconds=120.0)


def check(seed: int) -> None:
    """Compare on ten trees, mostly small ones."""
    rng = np.random.default_rng(seed)
    for _ in range(10):
        model = random_tree(rng, 1 + int(39 * rng.random() ** 3))
        case = Case(model, random_loads(rng, model, count=int(rng.integers(0, 5))), random_state(rng, model))
        assert_derivatives_agree(case, f"seed {seed}", tolerance=1e-9)
