"""Campaigns tell a good end from a bad one."""

import numpy as np
import pytest

from tests.campaigns.__main__ import campaigns, report, run
from tests.campaigns.attempt import Attempt, Outcome
from tests.campaigns.child import attempt_apart

ENDS = {
    "import colloc as co; co.BSpline(0)": Outcome.FINE,
    "1 / 0": Outcome.RAW_TRACEBACK,
    "assert 1 == 2, 'one is two'": Outcome.NONSENSE,
    "assert False, 'lost or torn file: a.npz'": Outcome.LOST_FILE,
    "import os; os.abort()": Outcome.CRASH,
    "import time; time.sleep(60)": Outcome.HANG,
    "pass": Outcome.FINE,
}


@pytest.mark.parametrize(("snippet", "end"), ENDS.items())
def test_every_end_of_a_child_is_distinguished(snippet: str, end: Outcome):
    assert attempt_apart("snippet", snippet, seconds=1.0 if end is Outcome.HANG else 60.0).outcome is end


def test_the_report_counts_and_shows_what_did_not_end_well():
    good, bad = Attempt("sum", Outcome.FINE), Attempt("sum", Outcome.NONSENSE, "assert 1 + 1 == 3", "it is 2")
    text = report({"arithmetic": [(0, good), (1, bad)]}, seed=7)
    assert "# arithmetic 1, sum: silent nonsense: it is 2\nassert 1 + 1 == 3" in text
    assert text.splitlines()[2].split() == ["arithmetic", "sum", "2", "1", "1"]


def test_a_campaign_draws_the_same_tries_from_the_same_seed():
    def campaign(rng: np.random.Generator) -> Attempt:
        return Attempt(str(rng.integers(1_000_000)), Outcome.FINE)

    (_, first), *_ = run("name", campaign, 3, 5, 0.0)
    (_, again), *_ = run("name", campaign, 3, 5, 0.0)
    (_, other), *_ = run("name", campaign, 4, 5, 0.0)
    assert first.kind == again.kind != other.kind


def test_campaigns_are_found():
    assert "threads" in campaigns()
