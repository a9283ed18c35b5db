"""The study of a lift: its limit acts on the force in the disc, which is checked by hand, and its price."""

import json

import numpy as np
import pytest

import colloc as co
from colloc.studies.rising import lift


def test_the_study_writes_what_it_returns(tmp_path):
    file, figure = tmp_path / "numbers.json", tmp_path / "figure.png"
    numbers = lift.main(["--quick", "--json", str(file), "--figure", str(figure)])
    assert json.loads(file.read_text(encoding="utf-8")) == numbers
    assert figure.stat().st_size > 10_000
    assert numbers["free.solved"] == numbers["limited.solved"] == 1
    assert numbers["free.compression"] == pytest.approx(4733, rel=0.01)
    assert numbers["limited.compression"] == pytest.approx(lift.LIMIT, rel=1e-3)
    assert numbers["free.net"] < 0.3 * lift.LIMIT  # so that a limit on it would not act
    assert 0.4 < numbers["free.cost"] < numbers["limited.cost"] < 0.5
    assert max(numbers["free.error"], numbers["limited.error"]) < 1e-2


def test_the_compression_is_the_pull_of_the_muscles_and_the_weight_above():
    """The net force less the tensions along the first segments above the disc, by hand."""
    made = lift.lift(None)
    solution = co.solve(made.problem, co.Radau(12), guess=co.line(lift.START, lift.END), tol=None, progress=False)
    t, model = 0.4, made.problem.model
    net = solution.reactions([t]).force[0, model.index("trunk")]
    erector, abdominals = solution.evaluate(made.muscles.tendon_forces, t)
    to_trunk = solution.evaluate(lambda now: now.rotation("trunk"), t).T
    pulls = np.zeros(3)
    disc = lift.SEGMENTS["pelvis"][2] * lift.STATURE
    for tension, below, above in (
        (erector, (-0.07, disc - 0.10, 0.0), (-0.06, 0.0, 0.0)),
        (abdominals, (0.08, disc - 0.12, 0.0), (0.09, 0.22, 0.0)),
    ):
        start, end = (
            solution.evaluate(lambda now, at=at: now.point(*at).position, t)
            for at in (("pelvis", below), ("trunk", above))
        )
        pulls += tension * to_trunk @ (start - end) / np.linalg.norm(start - end)
    assert solution.evaluate(lift.compression, t) == pytest.approx((net - pulls)[1], rel=1e-9)
    assert erector > 500.0
