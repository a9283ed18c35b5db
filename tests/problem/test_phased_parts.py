"""Thrusters, cables, wheels and grips in motions of several phases, against closed forms."""

from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.problem import Cable, Cables, Grip, Thruster, Thrusters
from tests.problem.test_force_parts import HUB, RADIUS, TRACK, model_of, two_wheeled

QUIET: dict[str, Any] = {"progress": False}
AT_REST = co.initial(q=0.0, qd=0.0)


def test_a_thruster_burns_coasts_and_brakes():
    """4 m with 2 m/s2 and 1 s of coasting between: a second each, at 2 m/s."""
    model = model_of([co.Body("x", co.prismatic((1, 0, 0)), mass=2.0)])
    jet = Thrusters([Thruster("jet", "x", (1, 0, 0), lower=-4.0, upper=4.0)])
    burn = co.Problem(model, co.Free(0.05, 5.0), co.duration(), [AT_REST], parts=[jet])
    coast = co.Problem(model, 1.0, subject_to=[co.bounds(tau=(0.0, 0.0))])
    brake = co.Problem(model, co.Free(0.05, 5.0), co.duration(), [co.final(q=4.0, qd=0.0)], parts=[jet])
    solution = co.solve(co.Phases({"burn": burn, "coast": coast, "brake": brake}), **QUIET)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(3.0, abs=1e-6)
    thrust = solution.signals.at([0.5, 1.5, 2.5], "thrust")["thrust"]
    np.testing.assert_allclose(thrust, [[4.0], [np.nan], [-4.0]], atol=1e-4)


def test_cables_pull_there_and_back_and_their_lengths_are_limited_by_name():
    """1 m from one winch to the other and back, bang-bang: 2 sqrt(d / a) each way; a length at its limit is at 3 m."""
    mass = model_of([co.Body("mass", co.prismatic((1, 0, 0)), mass=1.0)])
    pull = Cables([Cable(n, "mass", (0, 0, 0), (x, 0, 0), upper=4.0) for n, x in (("l", -2), ("r", 2))])
    short = co.path(lambda now: now.cable_length[0], upper=3.0, unit="m")
    there = [co.initial(q=-1.0, qd=0.0), co.final(q=1.0, qd=0.0), short]
    ways = {"there": there, "back": [co.final(q=-1.0, qd=0.0), short]}
    phases = {n: co.Problem(mass, co.Free(0.1, 9.0), co.duration(), rows, parts=[pull]) for n, rows in ways.items()}
    solution = co.solve(co.Phases(phases), co.Radau(4), **QUIET)
    assert solution.status is co.solver.Status.SOLVED
    assert solution.duration == pytest.approx(4 * (2.0 / 4.0) ** 0.5, rel=1e-6)
    assert np.max(solution.cable_length["l"]) == pytest.approx(3.0, abs=1e-6)


def test_a_platform_rolls_ahead_and_then_turns_on_the_spot():
    model, wheels = two_wheeled()
    parts = [wheels, co.Motors(dict.fromkeys(("left", "right"), 0.5))]
    stop = dict.fromkeys(("left", "right"), 0.0)
    ahead = [AT_REST, co.final(q={"x": 1.0, "y": 0.0, "hull": 0.0}, qd={"x": 0.0, "hull": 0.0})]
    turn = [co.final(q={"hull": 1.0}, qd=stop)]
    phases = {
        name: co.Problem(model, co.Free(0.5, 9.0), co.duration(), rows, parts=parts)
        for name, rows in (("ahead", ahead), ("turn", turn))
    }
    solution = co.solve(co.Phases(phases), co.Radau(6), **QUIET)
    assert solution.status is co.solver.Status.SOLVED
    inertia = 2.0 + 2 * HUB / RADIUS**2
    turned = 0.1 + 2 * (0.5 * TRACK**2 + HUB) + 2 * HUB * (TRACK / RADIUS) ** 2
    force = 0.5 / RADIUS
    assert solution["ahead"].duration == pytest.approx(2 * (inertia / (2 * force)) ** 0.5, rel=2e-3)
    assert solution["turn"].duration == pytest.approx(2 * (turned / (2 * force * TRACK)) ** 0.5, rel=2e-3)


def test_a_cup_limits_a_motion_until_it_lets_go():
    """With the box by 4 m/s2, as its shear allows; back without it by 20 m/s2."""
    cart = co.Body("cart", co.prismatic((1, 0, 0)), mass=1.0)
    box = co.Body("box", co.fixed(), "cart", mass=2.0)
    drive = co.bounds(tau={"cart": (-20.0, 20.0)})
    cup = Grip("box", (0, 1, 0), pull=60.0, shear=8.0)
    free = co.Free(0.1, 5.0)
    carry = co.Problem(co.Model([cart, box]), free, co.duration(), [drive, AT_REST, co.final(q=1.0, qd=0)], parts=[cup])
    back = co.Problem(co.Model([cart]), free, co.duration(), [drive, co.final(q=0.0, qd=0.0)])
    solution = co.solve(co.Phases({"carry": carry, "back": back}), co.Radau(4), **QUIET)
    assert solution.status is co.solver.Status.SOLVED
    assert solution["carry"].duration == pytest.approx(1.0, rel=1e-4)
    assert solution["back"].duration == pytest.approx(2 * 20**-0.5, rel=1e-4)
    assert np.nanmax(solution.grip["across"]) == pytest.approx(8.0, abs=1e-4)


def test_parts_in_cases_are_solved_together():
    """One bound of a thruster for two loads: the durations are those of the two masses."""
    jet = Thrusters([Thruster("jet", "x", (1, 0, 0), lower=-4.0, upper=4.0)])
    cases = {
        f"{mass:g} kg": co.Problem(
            model_of([co.Body("x", co.prismatic((1, 0, 0)), mass=mass)]), co.Free(0.05, 9.0), co.duration(),
            [AT_REST, co.final(q=1.0, qd=0.0)], parts=[jet],
        )
        for mass in (1.0, 4.0)
    }  # fmt: skip
    solution = co.solve(co.Cases(cases), co.Radau(4), **QUIET)
    assert [case.duration for case in solution.phases.values()] == pytest.approx([1.0, 2.0], rel=1e-6)


def test_a_motor_that_only_the_phase_without_the_part_has_is_named():
    model = model_of([co.Body("x", co.prismatic((1, 0, 0)), mass=2.0)])
    burn = co.Problem(model, 1.0, parts=[Thrusters([Thruster("jet", "x", (1, 0, 0))])])
    with pytest.warns(co.support.InputWarning, match="phase 'coast' has ideal motors at joints x, .* phase 'burn'"):
        co.Phases({"burn": burn, "coast": co.Problem(model, 1.0)})
    for held in (co.bounds(tau=(0.0, 0.0)), co.bounds(tau=(-1.0, 1.0)), co.path(lambda now: now.tau, equals=0.0)):
        co.Phases({"burn": burn, "coast": co.Problem(model, 1.0, subject_to=[held])})
