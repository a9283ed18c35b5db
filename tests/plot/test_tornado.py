"""The tornado of a sensitivity: bars as long as a percent of every number moves the cost, the longest on top."""

import casadi as ca
import numpy as np
import pytest
from matplotlib.figure import Figure

import colloc as co
from colloc.models.two_link import two_link


@pytest.fixture(scope="module")
def sensitivity() -> co.optimality.Sensitivity:
    ends = [co.initial(q=(0.0, -2.0), qd=0.0), co.final(q=(1.0, -1.0), qd=0.0)]
    lift = co.Problem(two_link(9.81), 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    return co.optimality.sensitivity(co.solve(lift, co.BSpline(10), raise_on_failure=False))


def bars(figure: Figure) -> tuple[list[str], np.ndarray]:
    """Labels from the top, and the length of the bar that stands for the number up."""
    (ax,) = figure.axes
    up = ax.containers[0]
    return [label.get_text() for label in ax.get_yticklabels()], np.array([bar.get_width() for bar in up])


def test_bars_are_what_a_percent_moves(sensitivity: co.optimality.Sensitivity):
    names, lengths = bars(co.plot.tornado(sensitivity, most=5))
    np.testing.assert_allclose(lengths, sensitivity.effects[:5], rtol=1e-12)
    assert [name.rpartition(", ±")[0] for name in names] == list(sensitivity.names[:5])
    assert names[sensitivity.names.index("duration")].endswith("duration, ±0.01 s")


def test_bars_of_the_duration_are_those_that_change_it(sensitivity: co.optimality.Sensitivity):
    names, lengths = bars(co.plot.tornado(sensitivity, "duration"))
    assert names == ["duration, ±0.01 s"]
    np.testing.assert_allclose(lengths, 0.01)


def test_narrow_figures_have_two_lines_to_a_bar(sensitivity: co.optimality.Sensitivity):
    names, _ = bars(co.plot.tornado(sensitivity, width="column"))
    assert all("\n±" in name for name in names)


def test_nothing_to_draw_is_said(sensitivity: co.optimality.Sensitivity):
    masses = co.optimality.sensitivity(sensitivity.solution, "mass")
    with pytest.raises(co.InputError, match="no number that changes the duration"):
        co.plot.tornado(masses, "duration")
    with pytest.raises(co.InputError, match="most"):
        co.plot.tornado(masses, most=0)
