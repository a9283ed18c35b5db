"""Joints whose limits do not determine a shortest time, named where refinement does not end well."""

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.refinement.failure import _out_of_time
from colloc.refinement.next_grid import round_of
from colloc.refinement.warnings import idle_joints


def with_wheel(torque: float) -> co.Problem:
    """An arm that turns by 1 rad in the shortest time, with a wheel off its axis, at the end of the arm."""

    def motor(most: float) -> co.Limits:
        return co.Limits(torque=(-most, most))

    inertia: Any = (0.01, 0.01, 0.01)
    arm = co.Body("arm", co.revolute(limits=motor(1.0)), None, 1.0, (0.3, 0, 0), inertia)
    hub = co.revolute(placement=co.placement((1.0, 0, 0)), limits=motor(torque))
    model = co.Model([arm, co.Body("wheel", hub, "arm", 1.0, (0.1, 0, 0), inertia)], gravity=(0, 0, 0))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    return co.Problem(model, co.Free(0.1, 5.0), co.duration(), ends)


def solve(problem: co.Problem) -> co.Solution:
    return co.solve(problem, co.BSpline(8), progress=False, plan=[co.refinement.Solve(tol=1.0)])


def test_a_joint_is_idle_if_another_limit_of_it_changes_nothing():
    idle, wider = solve(with_wheel(1e5)), solve(with_wheel(3e5))
    assert idle.duration == pytest.approx(wider.duration, rel=1e-5)
    most = np.abs(idle.tau[:, 1]).max()
    assert idle_joints(idle).startswith(
        f"no limit of wheel determines the shortest time (torque of wheel up to {most:.4g}"
    )
    busy, weaker = solve(with_wheel(0.3)), solve(with_wheel(0.2))
    assert weaker.duration > 1.01 * busy.duration
    assert idle_joints(busy) == ""


def test_of_another_cost_nothing_is_said():
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    effort = co.integral(lambda now: now.tau[0] ** 2)
    assert idle_joints(solve(co.Problem(two_link(), 1.0, effort, ends))) == ""


def test_a_refinement_out_of_time_names_the_joint_and_what_to_try():
    coarse = solve(with_wheel(1e5))
    late = _out_of_time(replace(coarse, rounds=(round_of(coarse),)), seconds=3.0)
    assert re.search(r"co\.refine\(solution\); no limit of wheel determines .*: add a small price", late)
