"""The swing of a hanging chain by one motor, in its quick form: closed, balanced, and confirmed by simulation."""

from pathlib import Path

import colloc.studies.closed_chains.hanging_chain as study
from tests.studies.quick import numbers_of


def test_four_links_swing_upright(tmp_path: Path):
    numbers = numbers_of(study.main, tmp_path)
    assert numbers["hanging_chain.4.solved"] == 1
    assert numbers["hanging_chain.4.gap"] < 1e-6
    assert numbers["hanging_chain.4.missed"] < 1e-5
    assert numbers["hanging_chain.4.unbalanced"] < 1e-4
    assert numbers["hanging_chain.4.local"] < 1e-4


def test_every_chain_has_one_motor_and_passive_freedoms():
    for links in study.LINKS:
        chain = study.hanging_chain(links)
        assert (chain.mobility, len(chain.passive)) == (links - 2, links - 3)
