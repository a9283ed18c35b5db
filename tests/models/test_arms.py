"""Arms of today against their makers' files, as other programs read them."""

from __future__ import annotations

import numpy as np
import pytest

import colloc as co
from colloc.models.iiwa import iiwa
from colloc.models.panda import panda
from colloc.models.puma560 import puma560
from colloc.models.ur5 import ur5

# Torques by Pinocchio 4.1.0: of panda.urdf in example-robot-data 6.0.0 without hand, of kuka_iiwa/model.urdf in
# pybullet_data 3.2.7, and of the UR5 in the frames of its ROS description, from physical_parameters.yaml.
BY_PINOCCHIO = [
    (panda, (1.555665814688, -45.098754997046, 1.958213123770, 16.150222286719, -0.501693154311, -0.965642324632,
             0.074838699171)),
    (iiwa, (1.537090892337, -46.24670952362, 1.425978606493, 14.54083469113, -0.1702359297353, -0.2292020756546,
            0.001191672742)),
    (ur5, (-0.1401889619534, -30.59127773998, -7.019930440291, 0.7289230868810, -0.06051947635401, -0.000154668392)),
]  # fmt: skip


@pytest.mark.parametrize(("make", "expected"), BY_PINOCCHIO, ids=["panda", "iiwa", "ur5"])
def test_an_arm_needs_the_torques_of_its_makers_file(make, expected):
    model = make()
    k = np.arange(1, model.n + 1)
    tau = co.Evaluator(model).torque(np.sin(k), np.cos(2 * k), np.sin(3 * k))
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("make", [panda, iiwa, ur5, lambda: puma560(motors=True)], ids=["panda", "iiwa", "ur5", "puma"])
def test_an_arm_has_limits_on_every_joint_and_can_stretch_out(make):
    model = make()
    for quantity in ("position", "velocity", "torque"):
        assert np.isfinite(model.limits(quantity)).all(), quantity
    rng, (lower, upper) = np.random.default_rng(0), model.limits("position")
    held = co.Evaluator(model).torque(rng.uniform(lower, upper, (500, model.n)), 0 * lower, 0 * lower)
    assert (np.abs(held) < model.limits("torque")[1]).all()


def test_panda_alone_has_published_limits_of_acceleration():
    np.testing.assert_array_equal(panda().limits("acceleration")[1], (15, 7.5, 10, 12.5, 15, 20, 20))
    assert np.isinf(ur5().limits("acceleration")).all()


def test_the_motors_of_the_puma_are_those_of_its_printed_inertia():
    """Diagonal of the mass matrix printed in the documentation of Corke's Robotics Toolbox, at its nominal pose."""
    puma = puma560(motors=True)
    q = np.tile([0, np.pi / 4, np.pi, 0, np.pi / 4, 0], (6, 1))
    column = co.Evaluator(puma).torque(q, 0 * q, np.eye(6)) - co.Evaluator(puma).torque(q, 0 * q, 0 * q)
    printed = np.array([3.6594, 4.4137, 0.9378, 0.1925, 0.1713, 0.1941])
    printed[0] += 0.0075 * np.cos(q[0, 1] + q[0, 2]) ** 2  # the third link's inertia, raised
    np.testing.assert_allclose(np.diag(column), printed, atol=6e-5)
