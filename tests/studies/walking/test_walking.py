"""The step of walking as a problem, on the planar walker: sharings, transcriptions, Hessians, and the ground."""

import warnings
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.human.planar import VIRTUAL
from colloc.models.human.walker2d import walker2d
from colloc.studies.walking.forces import left, right
from colloc.studies.walking.problem import problem
from colloc.studies.walking.report.ground import pelvis_coordinates, pelvis_torques
from colloc.studies.walking.step import DOUBLE, FLAT_UNTIL, Sharing, Step

OPTIONS: dict[str, Any] = {"tol": 1e-3, "constr_viol_tol": 1e-4, "max_iter": 300}


def walk(
    step: Step, curve: co.BSpline | co.Radau, hessian: co.solver.Hessian = co.solver.Hessian.GAUSS_NEWTON, **options
):
    stand = step.stance.standing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)
        return co.solve(
            problem(step),
            curve,
            guess=co.line(stand, stand),
            solver=co.Ipopt(hessian=hessian, **(OPTIONS | options)),
            compile=False,
        )


def sampled(solution: co.Solution, step: Step, count: int = 61) -> dict[str, np.ndarray]:
    """Times, wrenches over body weight, torques and the foremost contact points along the motion."""
    feet, s = step.stance.feet, np.linspace(0, 1, count)[1:]

    def wanted(now: co.problem.Instant) -> tuple[ca.SX, ...]:
        wrenches = (ca.vertcat(*wrench) / step.weight for wrench in (right(step, now), left(step, now), now.support))
        return (*wrenches, now.tau, now.point(*feet["r"].heel).position, now.point(*feet["r"].ball).position)

    names = ("right", "left", "whole", "tau", "heel", "ball")
    return dict(zip(names, solution.evaluate(wanted, s * solution.duration), strict=True)) | {"s": s}


@pytest.mark.parametrize("sharing", [Sharing.FREE, Sharing.DISTANCE])
@pytest.mark.parametrize("curve", [co.BSpline(10, nodes=21), co.Radau(10, 3)], ids=str)
def test_the_planar_walker_walks(curve, sharing: Sharing):
    step = Step(walker2d(), sharing=sharing)
    # On a mesh the exact Hessian needs fewer iterations; Gauss-Newton does not always get there.
    solution = walk(
        step, curve, co.solver.Hessian.GAUSS_NEWTON if isinstance(curve, co.BSpline) else co.solver.Hessian.EXACT
    )
    assert solution.message == "Solve_Succeeded"
    found = sampled(solution, step)
    nodes = solution.t[1:] / solution.duration
    virtual = pelvis_torques(step, solution, nodes)
    assert max(np.abs(virtual[name]).max() for name in VIRTUAL) < 1e-9 * step.weight
    torque = {name: solution.tau[1:, j] for j, name in enumerate(step.stance.model.joint_names)}
    for name in set(torque) & set(virtual):  # the same joints seen from the other end
        np.testing.assert_allclose(virtual[name], torque[name], rtol=0, atol=1e-9 * step.weight)
    if isinstance(curve, co.Radau):  # between the nodes of a mesh torques are interpolated
        return
    np.testing.assert_allclose(found["right"] + found["left"], found["whole"], atol=1e-9)
    assert found["right"][:, 1].min() > -0.02
    assert found["left"][:, 1].min() > -0.02
    np.testing.assert_allclose(found["heel"][found["s"] < FLAT_UNTIL, 1:], 0.0, atol=2e-4)
    np.testing.assert_allclose(found["ball"][found["s"] > DOUBLE, 1:] - [0.0, step.sole[0]], 0.0, atol=2e-4)
    assert found["right"][:, 1].mean() > 0.7


def test_the_end_is_the_mirror_image_of_the_start_a_step_further():
    step = Step(walker2d())
    solution = walk(step, co.BSpline(10, nodes=21))
    found = solution.evaluate(lambda now: pelvis_coordinates(step, now), [0.0, solution.duration])
    shift = step.length * np.array([name == "pelvis_tz_forward" for name in step.human.model.joint_names])
    for (start, end), further, close in zip(found, (shift, 0, 0), (1e-4, 1e-3, 1e-2), strict=True):
        np.testing.assert_allclose(end, step.human.mirror(start) + further, atol=close)
    knee = solution.at(0.45 * solution.duration).q[step.stance.model.joint_names.index("knee_flexion_l")]
    assert 55 - 0.1 <= np.degrees(knee) <= 65 + 0.1


def test_gauss_newton_and_exact_hessian_find_the_same_step():
    step = Step(walker2d())
    costs = [
        walk(step, co.BSpline(10, nodes=21), h, tol=1e-6).cost
        for h in (co.solver.Hessian.GAUSS_NEWTON, co.solver.Hessian.EXACT)
    ]
    assert costs[0] == pytest.approx(costs[1], rel=1e-4)


def test_a_heavier_walker_needs_the_same_shares_of_its_strength():
    """Strength is proportional to weight times stature: at one stature the predicted step is the same."""
    costs = [walk(Step(walker2d(mass=mass)), co.BSpline(8, nodes=21)).cost for mass in (60.0, 90.0)]
    assert costs[0] == pytest.approx(costs[1], rel=1e-3)
