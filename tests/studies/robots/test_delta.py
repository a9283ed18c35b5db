"""The delta robot, against its closed form, virtual work, and Pinocchio's dynamics with all six rods."""

import numpy as np
import pytest

import colloc as co
from colloc.studies.robots import delta
from tests.studies.quick import numbers_of
from tests.support.random_loops import constrained_acceleration

SPREAD = 0.1  # m, between the rods of a pair


def test_a_delta_robot_lifts_a_load_over_a_ridge_as_virtual_work_says(tmp_path):
    numbers = numbers_of(delta.main, tmp_path)
    assert numbers["fastest.solved"] == numbers["least.solved"] == 1
    for name in ("fastest", "least"):
        assert numbers[f"{name}.kinematics"] < 1e-8
        assert numbers[f"{name}.virtual_work"] < 1e-8
        assert numbers[f"{name}.torque"] < 1.01 * delta.TORQUE
        assert numbers[f"{name}.clear"] > -1e-3
    assert numbers["fastest.T"] == pytest.approx(0.2284, rel=0.01)
    assert numbers["fastest.effort"] > numbers["least.effort"]


def six_rods() -> co.loops.ClosedChain:
    """All six rods, on a platform that nothing but they holds: slides and three hinges, at the pick."""
    tree = delta.robot()
    here = dict(zip(tree.model.joint_names, tree.posture.tolist(), strict=True)) | dict(
        zip(("x", "y", "platform"), delta.PICK, strict=True)
    )
    single = {body.name: body for body in tree.model.bodies}
    moment = delta.RODS_MASS / 2 * delta.ROD**2 / 12
    bodies = [single["x"], single["y"], co.Body("z", single["platform"].joint, "y")]
    bodies += [co.Body("roll", co.revolute((1, 0, 0)), "z"), co.Body("pitch", co.revolute((0, 1, 0)), "roll")]
    inertia = (0.01, 0.01, 0.01)
    bodies.append(co.Body("platform", co.revolute((0, 0, 1)), "pitch", delta.LOAD, inertia=inertia))
    loops, guess = [], [*delta.PICK, 0.0, 0.0, 0.0]
    for k, arm in enumerate(delta.MOTORS):
        bodies.append(single[arm])
        guess.append(here[arm])
        for sign in (-1, 1):
            name, beside = f"{arm}_{sign:+d}", SPREAD / 2 * sign
            elbow = co.placement((delta.ARM, beside, 0))
            bodies.append(co.Body(f"{name}_swing", co.revolute((0, 1, 0), elbow), arm))
            middle = (delta.ROD / 2, 0, 0)
            rod = co.Body(
                name, co.revolute((0, 0, 1)), f"{name}_swing", delta.RODS_MASS / 2, middle, (0, moment, moment)
            )
            bodies.append(rod)
            guess += [here[f"swing{k + 1}"], here[f"rod{k + 1}"]]
            at = delta.PLATFORM * delta.OUT[k] + beside * delta.SIDE[k]
            ends = co.loops.Frame("platform", at), co.loops.Frame(name, (delta.ROD, 0, 0))
            loops.append(co.loops.spherical_loop(name, *ends))
    model = co.Model(bodies, gravity=(0, 0, -delta.GRAVITY))
    return co.loops.ClosedChain(model, loops, ("x", "y", "z"), delta.MOTORS, guess=guess)


def test_pairs_of_rods_hold_the_platform_level_and_take_the_torques_of_single_rods():
    chain, rng = six_rods(), np.random.default_rng(1)
    names = chain.model.joint_names
    assert chain.mobility == 3
    for _ in range(3):
        place = np.array(delta.PICK) + rng.uniform(-0.1, 0.1, 3)
        velocity, acceleration = rng.normal(size=(2, 3)) * ((1.0,), (10.0,))
        q = co.loops.assemble(chain, place)
        motors = [names.index(name) for name in delta.MOTORS]
        np.testing.assert_allclose(q[motors], delta.motor_angles(place), atol=1e-9)
        np.testing.assert_allclose(q[3:6], 0.0, atol=1e-9)
        qd = co.loops.ChainEvaluator(chain).motion(q, velocity, acceleration).qd
        tau = np.zeros(chain.model.n)
        tau[motors] = delta.motor_torques(place[None], velocity[None], acceleration[None])[0]
        found = constrained_acceleration(chain, q, qd, tau)
        np.testing.assert_allclose(found[:3], acceleration, atol=1e-8)
        np.testing.assert_allclose(found[3:6], 0.0, atol=1e-8)
