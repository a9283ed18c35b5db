"""Forward dynamics: inverse of the inverse dynamics, two other libraries, and what it must refuse."""

from __future__ import annotations

from typing import Any

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import newton_euler
from colloc.dynamics.spatial.articulated import forward_dynamics
from colloc.dynamics.spatial.composite import mass_matrix
from colloc.models.human43 import human43
from colloc.models.puma560 import puma560
from colloc.models.two_link import two_link
from tests.support.random_trees import (
    coordinates,
    evaluate,
    mujoco_xml,
    pin,
    pinocchio_tree,
    random_inertia,
    random_state,
    random_tree,
    relative_error,
    torque,
    tree_case,
)

mj: Any = mujoco


def accelerations(model: co.Model, q: np.ndarray, qd: np.ndarray, tau: np.ndarray, loads: Any = ()) -> np.ndarray:
    """Accelerations at one state."""
    symbols = coordinates(model)
    return evaluate([forward_dynamics(model, *symbols, loads)], symbols, (q, qd, tau))[0]


@pytest.mark.parametrize("seed", range(1, 22, 2))
def test_forward_dynamics_undoes_inverse_dynamics(seed):
    model, loads, state = tree_case(seed, virtual=False)
    tau = torque(newton_euler, model, state, loads)
    assert relative_error(accelerations(model, state.q, state.qd, tau, loads), state.qdd) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_forward_dynamics_agrees_with_pinocchio(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, virtual=False)
    state, tau, tree = random_state(rng, model), 10 * rng.normal(size=model.n), pinocchio_tree(model)
    expected = pin.aba(tree.model, tree.model.createData(), tree.into(state.q), tree.into(state.qd), tree.into(tau))
    assert relative_error(accelerations(model, state.q, state.qd, tau), tree.back(expected)) < 1e-10


@pytest.mark.parametrize("seed", range(8))
def test_forward_dynamics_agrees_with_mujoco(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 8, virtual=False, threads=False)
    state, tau = random_state(rng, model), 10 * rng.normal(size=model.n)
    other = mj.MjModel.from_xml_string(mujoco_xml(model))
    data = mj.MjData(other)
    dofs = [model.joint_names.index(other.joint(k).name) for k in range(other.njnt)]
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state.q[dofs], state.qd[dofs], tau[dofs]
    mj.mj_forward(other, data)
    assert relative_error(accelerations(model, state.q, state.qd, tau)[dofs], data.qacc) < 1e-8


def test_a_pendulum_falls_by_its_closed_form():
    """(I + m l^2) q'' = tau - m g l sin q, q from the hanging position."""
    m, length, inertia, q, tau = 1.7, 0.6, 0.08, 0.9, 2.0
    bob = co.Body("bob", co.revolute(), mass=m, com=(0, -length, 0), inertia=inertia * np.eye(3))
    expected = (tau - m * 9.81 * length * np.sin(q)) / (inertia + m * length**2)
    result = accelerations(co.Model([bob]), np.array([q]), np.array([3.0]), np.array([tau]))
    assert result == pytest.approx(expected, rel=1e-14)


def test_massless_links_inside_a_chain_need_no_inertia():
    """A point mass on three slides of which two are massless, and a rigid body on three hinges through one point."""
    slides = [co.Body("x", co.prismatic((1, 0, 0))), co.Body("y", co.prismatic((0, 1, 0)), "x")]
    slides.append(co.Body("z", co.prismatic((0, 0, 1)), "y", mass=2.0))
    zero, push = np.zeros(3), np.array([1.0, 2.0, 3.0])
    assert accelerations(co.Model(slides, gravity=(0, 0, -9.81)), zero, zero, push) == pytest.approx(
        [0.5, 1, 1.5 - 9.81]
    )
    body = {"mass": 1.0, "com": (0.1, 0, 0), "inertia": (1.0, 1.5, 2.0)}
    wrist = [
        co.Body("a", co.dh_revolute(alpha=np.pi / 2)),
        co.Body("b", co.dh_revolute(alpha=-np.pi / 2), "a"),
        co.Body("c", co.dh_revolute(), "b", **body),
    ]
    model = co.Model(wrist)
    state = random_state(np.random.default_rng(0), model)
    assert (
        relative_error(accelerations(model, state.q, state.qd, torque(newton_euler, model, state)), state.qdd) < 1e-12
    )


def test_refused_exactly_when_the_mass_matrix_is_singular():
    """Trees with massless links, particles and rods anywhere; the other oracle is an eigenvalue at another posture."""
    refused = 0
    for seed in range(16):
        rng = np.random.default_rng(seed)
        model = random_tree(rng)
        symbols, state = coordinates(model), random_state(rng, model)
        value = evaluate([mass_matrix(model, symbols[0])], symbols[:1], state[:1])[0].reshape(model.n, model.n)
        eigenvalues = np.linalg.eigvalsh(value)
        if eigenvalues[0] <= 1e-10 * eigenvalues[-1]:
            refused += 1
            with pytest.raises(co.InputError, match=r"is singular: .* no inertia resists joint"):
                forward_dynamics(model, *symbols)
        else:
            tau = torque(newton_euler, model, state)
            assert relative_error(accelerations(model, state.q, state.qd, tau), state.qdd) < 1e-8, seed
    assert 4 < refused < 12


def _two_link_with(*beyond: co.Body) -> co.Model:
    return co.Model([*two_link(9.81).bodies, *beyond], name="arm")


@pytest.mark.parametrize(
    ("beyond", "named"),
    [
        ([co.Body("wrist", co.dh_revolute(), "elbow")], "'wrist'"),
        (
            [co.Body("wrist", co.dh_revolute(), "elbow"), co.Body("finger", co.prismatic(), "wrist")],
            "'wrist', 'finger'",
        ),
        ([co.Body("wrist", co.revolute((1, 2, 3)), "elbow", mass=1.0)], "'wrist'"),
        ([co.Body("wrist", co.revolute((1, 2, 3)), "elbow", 1.0, (-0.1, -0.2, -0.3))], "'wrist'"),
        ([co.Body("wrist", co.revolute((1, 0, 0)), "elbow", 1.0, (0.3, 0, 0), (0, 0.1, 0.1))], "'wrist'"),
    ],
    ids=["massless", "massless chain", "particle at the origin", "particle on the axis", "rod along the axis"],
)
def test_joint_without_inertia_is_named(beyond, named):
    """Inverse dynamics of the same model works."""
    model = _two_link_with(*beyond)
    with pytest.raises(co.InputError, match=rf"model 'arm' is singular: .* no inertia resists joint {named}; "):
        forward_dynamics(model, *coordinates(model))
    assert np.isfinite(torque(newton_euler, model, random_state(np.random.default_rng(0), model))).all()


def test_two_hinges_about_one_axis_are_refused():
    """Either moves the body; the inner one is left without inertia when the outer one is free."""
    rng = np.random.default_rng(0)
    bodies = [co.Body("inner", co.revolute()), co.Body("outer", co.revolute(), "inner", **random_inertia(rng))]
    model = co.Model(bodies)
    with pytest.raises(co.InputError, match="resists joint 'inner';"):
        forward_dynamics(model, *coordinates(model))


def test_the_human_of_slender_rods_is_refused_with_the_three_joints():
    with pytest.raises(co.InputError, match="'j29_right_forearm', 'j38_left_forearm', 'j41_neck_roll'"):
        forward_dynamics(human43(), *coordinates(human43()))


def test_a_small_inertia_is_not_taken_for_none():
    """A pen of 10 g that turns about its own axis at the end of an arm a metre long."""
    pen = {"mass": 0.01, "com": (0, 0, 0.05), "inertia": (1e-5, 1e-5, 1e-7)}
    model = _two_link_with(co.Body("pen", co.revolute(placement=co.placement(rpy=(0.3, 0.2, 0.1))), "elbow", **pen))
    state = random_state(np.random.default_rng(0), model)
    tau = torque(newton_euler, model, state)
    assert relative_error(accelerations(model, state.q, state.qd, tau), state.qdd) < 1e-8


def test_symbolic_masses_count_as_positive():
    """A mass that is a symbol makes a regular model; a massless joint beside it is found all the same."""
    mass, length = ca.SX.sym("m"), ca.SX.sym("l")
    arm = co.Body("arm", co.dh_revolute(a=length), None, mass, (-length / 2, 0, 0), (0, 0, mass * length**2 / 12))
    model = co.Model([arm])
    q, qd, tau = coordinates(model)
    result = evaluate([forward_dynamics(model, q, qd, tau)], [q, qd, tau, mass, length], [0.0, 1.0, 3.0, 2.0, 0.5])[0]
    assert result == pytest.approx((3.0 - 2.0 * 9.81 * 0.25) / (2.0 * 0.5**2 / 3), rel=1e-14)
    model = co.Model([arm, co.Body("hand", co.dh_revolute(), "arm")])
    with pytest.raises(co.InputError, match="joint 'hand'"):
        forward_dynamics(model, *coordinates(model))


def test_derivatives_of_the_forward_dynamics_are_those_of_the_inverse():
    """d qdd/d tau = M^-1, of the PUMA 560, by automatic differentiation through the algorithm."""
    model = puma560()
    q, qd, tau = coordinates(model)
    by_torque = ca.jacobian(forward_dynamics(model, q, qd, tau), tau)
    state = random_state(np.random.default_rng(0), model)
    inverse, value = evaluate([by_torque, mass_matrix(model, q)], (q, qd, tau), state)
    assert relative_error(inverse @ value, np.eye(model.n)) < 1e-11
