"""The layout: every entry of the decision vector has one name, and its bounds."""

import numpy as np
import pytest

import colloc as co
from colloc.problem import Window
from colloc.transcription.layout import lay_out
from tests.support.problems import everything

CURVES = [co.BSpline(4), co.HermiteSimpson(3), co.Radau(3), co.Radau(2, degree=(1, 4))]


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_every_entry_has_exactly_one_name(curve):
    layout = co.transcribe(everything(), curve).grid.layout
    named = np.concatenate([index.ravel() for index in layout.names.values()])
    np.testing.assert_array_equal(np.sort(named), np.arange(layout.size))
    assert set(layout.names) >= {"q", "signals", "duration", "payload"}


@pytest.mark.parametrize("curve", CURVES, ids=str)
def test_bounds_belong_to_what_is_named(curve):
    """`everything` bounds its slide, its signal, its constant and its duration."""
    problem = everything()
    layout = co.transcribe(problem, curve).grid.layout
    slide = problem.model.joint_names.index("slide")
    assert (layout.upper[layout["q"][:, slide]] == 0.6).all()
    assert (layout.lower[layout["signals"]] == -3.0).all()
    np.testing.assert_array_equal([layout.lower[layout.duration], layout.upper[layout.duration]], [[0.2], [3.0]])
    np.testing.assert_array_equal(layout.upper[layout.constants["payload"]], [2.0])


def test_a_second_motion_stands_behind_the_first():
    """An offset moves every entry and no bound."""
    problem = everything()
    first, second = lay_out(problem, 5, 4), lay_out(problem, 5, 4, offset=100)
    for name, index in first.names.items():
        np.testing.assert_array_equal(second.names[name], index + 100)
    np.testing.assert_array_equal(first.lower, second.lower)
    narrow = (Window(0.0, 0.5), np.full(3, -0.1), np.full(3, 0.1))
    chosen = np.array([True, False, True, False, False])
    bounds = [layout.narrowed(problem, chosen, narrow).upper for layout in (first, second)]
    np.testing.assert_array_equal(bounds[0], bounds[1])
    assert (bounds[0][first["q"][chosen]] == 0.1).all()
    assert (bounds[0][first["q"][~chosen]] > 0.1).all()


def test_values_are_filled_in_by_name():
    problem = everything()
    layout = lay_out(problem, 2, 1, offset=7)
    x = layout.filled({"q": np.arange(6.0).reshape(2, 3), "duration": 9.0, "payload": 0.4, "unheard of": 1.0})
    np.testing.assert_array_equal(x, [0, 1, 2, 3, 4, 5, 0, 0, 9, 0.4])
