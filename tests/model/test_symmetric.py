"""The human whose sides move as one: the same torques and momentum as the whole human in a symmetric motion."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.human.human55 import FROZEN, human55
from colloc.models.human.stance import VERTICAL, on_foot
from colloc.models.human.symmetric import IN_PLANE, symmetric
from colloc.studies.jumping.jump import spatial
from colloc.studies.jumping.phases import Jump

WHOLE = human55().frozen(dict.fromkeys(FROZEN, 0.0))
ONE = symmetric(WHOLE)


def mirrored(values: np.ndarray) -> np.ndarray:
    """Values of the joints of both sides as one at those of the whole human, zero where it stays in the plane."""
    ours = dict(zip(ONE.model.joint_names, values, strict=True))
    return np.array(
        [ours.get(name[:-2] if name[-2:] in ("_r", "_l") else name, 0.0) for name in WHOLE.model.joint_names]
    )


@pytest.fixture(scope="module")
def motion():
    """A symmetric motion of a moment: q, qd and qdd of both sides as one, and of the whole human."""
    rng = np.random.default_rng(3)
    own = rng.uniform(-0.4, 0.4, (3, ONE.model.n))
    return own, np.array([mirrored(values) for values in own])


def torques(model: co.Model, motion: np.ndarray) -> dict[str, float]:
    q, qd, qdd = (ca.SX(ca.DM(k)) for k in motion)
    tau = co.dynamics.newton_euler(model, q, qd, qdd, [])
    return dict(zip(model.joint_names, np.array(ca.DM(tau)).ravel().tolist(), strict=True))


def test_torques_of_one_side_are_those_of_both(motion):
    ours, theirs = (torques(human.model, given) for human, given in zip((ONE, WHOLE), motion, strict=True))
    for name, value in ours.items():
        both = [theirs[k] for k in (name, f"{name}_r", f"{name}_l") if k in theirs]
        assert value == pytest.approx(sum(both), abs=1e-9)
        assert len(both) == 1 or both[0] == pytest.approx(both[1], abs=1e-9)


def test_nothing_drives_the_whole_human_out_of_the_plane(motion):
    """Across the plane the two sides need opposite torques: what holds both sides as one is not needed."""
    theirs = torques(WHOLE.model, motion[1])
    for name in ("pelvis_tx_lateral", "pelvis_yaw", "pelvis_list", "spine1_lateral", "spine2_axial"):
        assert theirs[name] == pytest.approx(0.0, abs=1e-9)


def test_mass_and_momentum_are_those_of_both_sides(motion):
    ours, theirs = (
        co.dynamics.momentum(human.model, *(ca.SX(ca.DM(k)) for k in given[:2]))
        for human, given in zip((ONE, WHOLE), motion, strict=True)
    )
    np.testing.assert_allclose(ca.DM(ours.linear)[1:], ca.DM(theirs.linear)[1:], atol=1e-12)
    np.testing.assert_allclose(ca.DM(ours.centroidal)[0], ca.DM(theirs.centroidal)[0], atol=1e-10)
    assert float(ca.DM(sum(body.mass for body in ONE.model.bodies))) == pytest.approx(WHOLE.mass)


def test_strength_is_that_of_both_sides():
    upper = dict(zip(WHOLE.model.joint_names, WHOLE.model.limits("torque")[1], strict=True))
    for name, limit in zip(ONE.model.joint_names, ONE.model.limits("torque")[1], strict=True):
        if np.isfinite(limit):
            assert limit == pytest.approx(2 * upper[f"{name}_r"] if f"{name}_r" in upper else upper[name])
    assert not set(IN_PLANE) & set(ONE.model.joint_names)


def test_the_jumper_stands_on_its_soles():
    posed = Jump(spatial(None, None))
    assert posed.foot == pytest.approx((0.178391, 0.072447), abs=1e-6)
    stand = ca.SX(ca.DM(posed.human.standing))
    for mark in ("heel", "ball", "toe"):
        height = co.model.point_motion(posed.model, *posed.model.markers[mark], q=stand).position[1]
        assert float(height) == pytest.approx(0.0, abs=1e-12)
    tau = torques(posed.model, np.array([posed.human.standing, *np.zeros((2, posed.model.n))]))
    assert tau[VERTICAL] == pytest.approx(posed.weight)
    assert on_foot(posed.jumper, "both").model.n == posed.model.n + 1  # the pitch about the heel
