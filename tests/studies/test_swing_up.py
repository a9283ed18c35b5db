"""The study of swing-ups: starts as stated, and their known optima."""

from __future__ import annotations

import json

import numpy as np
import pytest

from colloc.studies.classics import swing_up


def test_starts_begin_and_end_where_the_problem_does():
    swing = swing_up.SWINGS["cart_pole"]
    first, *others = swing_up.starts(swing, 200, np.random.default_rng(0))
    np.testing.assert_array_equal(first.q, [swing.start, swing.end])
    middle = np.array([guess.q[1:-1] for guess in others])
    for guess in others:
        np.testing.assert_array_equal(guess.q[[0, -1]], [swing.start, swing.end])
    np.testing.assert_allclose(middle.std(axis=0), [swing.spread] * 3, rtol=0.2)
    np.testing.assert_allclose(middle.mean(axis=0)[1], np.mean([swing.start, swing.end], axis=0), atol=0.5)


def test_the_study_in_its_quick_form(tmp_path):
    file, film = tmp_path / "numbers.json", tmp_path / "film.html"
    words = ["--quick", "--json", str(file), "--animation", str(film), "--figure", str(tmp_path / "figure.png")]
    numbers = swing_up.main(words)
    assert numbers == json.loads(file.read_text(encoding="utf-8"))
    assert numbers["cart_pole.cost"] == pytest.approx(57.94478, rel=1e-6)
    assert numbers["cart_pole.cost.second"] == pytest.approx(58.80767, rel=1e-5)
    assert numbers["cart_pole.cost.line"] == pytest.approx(58.80767, rel=1e-3)  # on 40 intervals
    assert numbers["acrobot.cost"] == pytest.approx(175.28654, rel=1e-6)
    for name in swing_up.SWINGS:
        assert numbers[f"{name}.status"] == 1
        assert numbers[f"{name}.starts.best"] >= 1
        assert numbers[f"{name}.terminal_miss"] < 1e-4
        assert numbers[f"{name}.local_error"] < 2e-6
    for written in (film, tmp_path / "figure.png"):
        assert written.stat().st_size > 20_000
