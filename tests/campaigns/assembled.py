"""Random trees with random loops that can be closed: assembled within a turn of a guess, and within limits of joints.

Loops of one to four kinds, of one to six equations each, tie bodies where they are at a random posture. Some joints
have limits around it; guesses are up to 1.5 rad or m away from it.
"""

from __future__ import annotations

import numpy as np

import colloc as co
from tests.campaigns.attempt import Attempt
from tests.campaigns.child import attempt_apart
from tests.support.random_loops import KINDS, closed_chain, with_limits

_SNIPPET = """
from tests.campaigns import assembled
assembled.check({seed}, {loops})
"""


def attempt(rng: np.random.Generator) -> Attempt:
    """One chain of one to four loops."""
    loops = int(rng.integers(1, 5))
    snippet = _SNIPPET.format(seed=int(rng.integers(1_000_000)), loops=loops)
    return attempt_apart(f"{loops} loops", snippet, seconds=300.0)


def check(seed: int, loops: int) -> None:
    """Raise AssertionError for a chain that is open, beyond limits, or more than a turn from its guess."""
    rng = np.random.default_rng(seed)
    try:
        drawn = closed_chain(rng, tuple(rng.choice(KINDS, loops).tolist()), 6 + 6 * loops)
    except AssertionError:
        return  # no independent loops of these kinds were drawn
    model = with_limits(rng, drawn, 0.5)
    guess = drawn.q + rng.uniform(0.1, 1.5) * rng.uniform(-1, 1, model.n)
    chain = co.loops.ClosedChain(model, drawn.loops, guess=guess)
    lower, upper = model.limits("position")
    assert co.loops.closure_error(chain, chain.posture) < 1e-9, "the chain is open"
    assert ((lower <= chain.posture) & (chain.posture <= upper)).all(), "the chain is beyond limits"
    assert np.abs(chain.posture - guess).max() < 2 * np.pi, "the chain is more than a turn from its guess"
