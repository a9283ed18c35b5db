"""Walking in phases of free durations: what the phases ask for, and the planar step that comes of it."""

from __future__ import annotations

import numpy as np
import pytest

import colloc as co
from colloc.models.human.walker2d import walker2d
from colloc.problem import Window
from colloc.studies.walking import durations
from colloc.studies.walking.forces import right, share
from colloc.studies.walking.gait2d import ANKLES
from colloc.studies.walking.phases import BOTH, SCHEDULE, PhasedStep
from colloc.studies.walking.problem import problem
from colloc.studies.walking.report.errors import PROMISED
from colloc.studies.walking.step import Step
from tests.studies.quick import numbers_and_solution

POSED = PhasedStep(Step(walker2d().ranged(ANKLES)))


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Numbers of the quick study, and the step itself."""
    return numbers_and_solution(durations, "planar", tmp_path_factory.mktemp("durations"))


def test_phases_ask_for_all_that_the_step_asks_for():
    """Every constraint of the step is one of some phase, over a part of the schedule that is as long."""
    whole = {n: r.constraint for n, r in problem(POSED.step).rows.items() if not n.startswith("q bounds")}
    lasting = dict.fromkeys(whole, 0.0)
    for phase, (start, end) in SCHEDULE.items():
        for name, rows in POSED.sequence.phases[phase].rows.items():
            where = rows.constraint.where
            if name in lasting:
                lasting[name] += (where.end - where.start) * (end - start) if isinstance(where, Window) else 1.0
    for name, constraint in whole.items():
        where = constraint.where
        if name != "symmetry":  # across the phases
            assert lasting[name] == pytest.approx(where.end - where.start if isinstance(where, Window) else 1.0), name


def test_the_step_is_found_and_keeps_to_the_limits_of_the_gait(quick):
    numbers, found = quick
    assert found.solution.outcome.status is co.solver.Status.SOLVED
    assert found.solution.error.motion_error < 1e-2
    assert found.solution.error["cost"].total < 0.2  # on as few intervals as these
    assert sum(found.shares.values()) == pytest.approx(1.0, abs=1e-9)
    assert found.solution.duration == pytest.approx(0.5)
    assert numbers["planar.stance"] == pytest.approx(54.6, abs=0.5)
    assert numbers["planar.cost"] == pytest.approx(0.0249, rel=0.01)
    for kind, limit in PROMISED.items():
        assert found.worst[kind] <= limit, kind


def test_forces_carry_the_walker_and_go_on_from_phase_to_phase(quick):
    found = quick[1]
    vertical = found.stride.curves["vertical"]
    assert np.abs(np.diff(vertical)).max() < 0.25  # of body weight, within a quarter of a percent
    assert np.trapezoid(vertical, found.stride.percent) / 100 == pytest.approx(0.5, abs=1e-3)  # one foot of two
    step, both = POSED.step, found.solution[BOTH]
    ends = both.evaluate(lambda now: (share(step, now).force / step.weight, right(step, now).force / step.weight))
    np.testing.assert_allclose(ends[0][-1], 0.0, atol=1e-6)  # handed over
    np.testing.assert_allclose(ends[1][0], 0.0, atol=1e-6)  # first touch


def test_muscles_without_lag_are_those_of_the_step():
    lagging = PhasedStep(POSED.step, lag=0.05)
    assert not POSED.sequence.phases[BOTH].needs_rates
    assert lagging.sequence.phases[BOTH].needs_rates
