"""The step of walking as the thesis prints it: what its constraints ask for, and that it has an answer."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.problem import Instant
from colloc.studies.walking.as_printed import anatomical, measured, solved
from colloc.studies.walking.printed import INSTANTS, TOLERANCE, TOUCHES, constraints, curve, printed
from colloc.studies.walking.relaxation import RELAXED, relaxations
from colloc.studies.walking.report.printed import creep, crept, stride, violations
from colloc.studies.walking.step import DOUBLE, Step


@pytest.fixture(scope="module")
def step() -> Step:
    return Step(anatomical())


@pytest.fixture(scope="module")
def solutions(step) -> tuple[co.Solution, co.Solution]:
    return solved(step)


def test_a_motion_is_found_from_zero_and_then_one_of_less_effort(step, solutions):
    for found in solutions:
        assert found.outcome.status is co.solver.Status.SOLVED
        assert max(violations(step, found, 1).values()) < 0.2 * TOLERANCE  # at the instants
    torque = solutions[0].evaluate(lambda now: now.tau, solutions[0].t)
    lower, upper = step.human.model.limits("torque")
    driven = np.isfinite(upper)
    largest = np.maximum(np.abs(lower), np.abs(upper))[driven]
    before = np.trapezoid(((torque[:, driven] / largest) ** 2).sum(axis=1), solutions[0].t)
    assert solutions[1].cost == pytest.approx(0.2553, rel=0.03)  # searches from elsewhere end between 0.243 and 0.258
    assert solutions[1].cost < 0.6 * before


def test_nothing_holds_the_pelvis_and_both_feet_carry_the_whole(step, solutions):
    names, tau = step.human.model.joint_names, solutions[1].tau
    for name in step.human.virtual:
        assert np.abs(tau[:, names.index(name)]).max() < 1e-9 * step.weight


def test_feet_creep_between_the_instants(step, solutions):
    s, speed = creep(step.human, solutions[1])
    at = np.interp(np.linspace(0, 1, INSTANTS), s, speed)
    assert at.max() < 3**0.5 * 1.2 * TOLERANCE
    assert 0.06 < speed.max() < 0.13  # m/s
    assert 1e-3 < crept(step.human, solutions[1]) < 6e-3  # m
    trailing = step.human.feet["l"].ball
    t = np.linspace(0, DOUBLE * step.duration, 41)  # while it stands
    place = solutions[1].evaluate(lambda now: now.point(*trailing).position, t)
    assert np.linalg.norm(np.diff(place, axis=0), axis=1).max() / (t[1] - t[0]) < speed.max() * 1.01


def test_the_library_calls_so_few_control_points_too_coarse(step, solutions):
    """IPOPT solves both stages, and the motion strays between the instants."""
    numbers = measured(step, *solutions)
    assert (numbers["converged"], numbers["solved"]) == (1.0, 0.0)
    assert solutions[1].status is co.solver.Status.COARSE
    failed = replace(solutions[1], outcome=replace(solutions[1].outcome, status=co.solver.Status.ITERATION_LIMIT))
    assert measured(step, solutions[0], failed)["converged"] == 0.0
    assert 2 < numbers["beyond_ranges_deg"] < 5


def test_the_leading_foot_takes_all_at_once(step, solutions):
    """Sharing by distance: the zero moment point does not wait between the feet."""
    seen = stride(step, solutions[1])
    assert seen.curves["vertical"][0] > 0.7
    assert seen.curves["vertical"][seen.percent > 50 * (1 + DOUBLE)] == pytest.approx(0)
    assert (
        seen.peaks["vertical.peak_1"].value > seen.peaks["vertical.valley"].value < seen.peaks["vertical.peak_2"].value
    )


def test_within_the_ranges_of_our_own_step_something_must_give_way(solutions):
    (amount,) = relaxations(Step(walking(human55())), solutions[0], kinds=["contact velocity"]).values()
    assert 5e-4 < amount < 0.01  # m/s, beyond the tolerance


def test_as_printed_nothing_must_give_way(step, solutions):
    (amount,) = relaxations(step, solutions[0], kinds=["contact velocity"]).values()
    assert amount < 1e-5


def test_standing_still_violates_what_it_should(step):
    """Upright at the first heel's place, by hand: (5.9) and (5.10) fail, (5.2), (5.3), (5.6) and (5.7) hold."""
    n, stand = step.human.model.n, step.human.standing
    now = Instant(
        step.human.model, ca.SX(0), ca.SX(step.duration), ca.SX.sym("q", n), ca.SX(n, 1), ca.SX(n, 1), ca.SX(n, 1)
    )
    kinds = constraints(step)
    assert set(RELAXED) < set(kinds)

    def outside(kind: str) -> float:
        worst = 0.0
        for row in kinds[kind]:
            found = row.rows(now)
            value = np.array(ca.Function("rows", [now.q], [found.expression])(stand)).ravel()
            worst = max(worst, float(np.maximum(found.lower - value, value - found.upper).max()))
        return worst

    for kind in (
        "joint angles",
        "joint torques",
        "contact height",
        "contact velocity",
        "arm-leg coupling",
        "wrist clear of hip",
    ):
        assert outside(kind) < 1e-6, kind
    assert outside("knee at mid swing") == pytest.approx(np.radians(55))
    assert outside("foot positions") > 0.05


def test_rows_are_those_of_eleven_instants(step):
    nlp = co.transcribe(printed(step, co.duration()), curve(), compile=False)
    touching = sum(round((last - first) * (INSTANTS - 1)) + 1 for first, last in TOUCHES.values())
    n, driven = step.human.model.n, int(np.isfinite(step.human.model.limits("torque")[1]).sum())
    sides = 6 * 3 + 4 * 4 + 4 * 4  # of the polygons
    rows = INSTANTS * (n + driven + 1 + 2) + 4 * touching + (6 * INSTANTS - touching) + sides + 2 * n + 1 + 8
    assert nlp.n_g == rows == 1100
    assert nlp.n_x - 1 == 6 * n
