"""Inverse dynamics against each other, closed forms, two other libraries, and the laws of mechanics."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import casadi as ca
import mujoco
import numpy as np
import pytest

import colloc as co
from colloc.dynamics import equations_of_motion, joint_reactions, lagrange, newton_euler
from colloc.model.kinematics import frames, point_motion
from colloc.models.two_link import INERTIA, LENGTH, MASS, two_link
from tests.support.random_trees import (
    State,
    branches,
    children,
    coordinates,
    evaluate,
    mujoco_xml,
    numbers,
    pin,
    pinocchio_inverse_dynamics,
    pinocchio_tree,
    random_inertia,
    random_loads,
    random_state,
    random_tree,
)

FORMULATIONS = {"lagrange": lagrange, "newton_euler": newton_euler}
mj: Any = mujoco

every_formulation = pytest.mark.parametrize("formulation", FORMULATIONS.values(), ids=FORMULATIONS.keys())


class Case(NamedTuple):
    """A random tree with loads, in a random state."""

    model: co.Model
    loads: list[co.Load]
    state: State


@lru_cache
def case(seed: int, virtual: bool = True, threads: bool = True) -> Case:
    """Tree number `seed`; the first twelve have 1 to 12 bodies."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, seed + 1 if seed < 12 else None, virtual=virtual, threads=threads)
    return Case(model, random_loads(rng, model, count=int(rng.integers(0, 5))), random_state(rng, model))


def torque(formulation: Any, model: co.Model, state: State, loads: Any = ()) -> np.ndarray:
    """Torque at one state."""
    symbols = coordinates(model)
    return evaluate([formulation(model, *symbols, loads)], symbols, state)[0]


def relative_error(value: np.ndarray, reference: np.ndarray) -> float:
    """Largest difference, relative to the largest reference value but at least 1."""
    return float(np.abs(value - reference).max() / max(1.0, np.abs(reference).max()))


@every_formulation
@pytest.mark.parametrize("seed", range(64))
def test_torque_agrees_with_pinocchio(formulation, seed):
    model, loads, state = case(seed)
    expected, _ = pinocchio_inverse_dynamics(pinocchio_tree(model), model, state, loads)
    assert relative_error(torque(formulation, model, state, loads), expected) < 1e-10


def test_random_trees_cover_what_they_are_meant_to_cover():
    """The agreement above is worth as much as the variety of its trees."""
    models = [case(seed).model for seed in range(64)]
    bodies = [body for model in models for body in model.bodies]
    inner_massless = [
        body for m in models for k, body in enumerate(m.bodies) if children(m, k) and float(body.mass) == 0
    ]
    tip_massless = [
        body for m in models for k, body in enumerate(m.bodies) if not children(m, k) and float(body.mass) == 0
    ]
    assert {len(model.bodies) for model in models} == set(range(1, 13))
    assert {body.joint.kind for body in bodies} == {"revolute", "prismatic", "helical", "fixed"}
    assert len(inner_massless) > 20
    assert len(tip_massless) > 20
    assert sum(len(branches(model)) > 3 for model in models) > 10
    assert sum(len(case(seed).loads) > 1 for seed in range(64)) > 20


@every_formulation
@pytest.mark.parametrize("seed", range(50))
def test_torque_agrees_with_mujoco(formulation, seed):
    model, loads, state = case(seed, virtual=False, threads=False)
    other = mj.MjModel.from_xml_string(mujoco_xml(model))
    data = mj.MjData(other)
    # Colloc's coordinate of every MuJoCo coordinate; MuJoCo numbers depth first.
    dofs = [model.joint_names.index(other.joint(k).name) for k in range(other.njnt)]
    for target, values in zip((data.qpos, data.qvel, data.qacc), state, strict=True):
        target[:] = values[dofs]
    mj.mj_inverse(other, data)
    applied = np.zeros(other.nv)
    for load in loads:
        body = other.body(load.body).id
        # MuJoCo's body frame is the joint's; colloc's link frame is `after` it.
        after = numbers(model.bodies[model.index(load.body)].joint.after)
        local = after[:3, 3] + after[:3, :3] @ numbers(load.point)
        point = data.xpos[body] + data.xmat[body].reshape(3, 3) @ local
        mj.mj_applyFT(other, data, numbers(load.force), numbers(load.moment), point, body, applied)
    expected = data.qfrc_inverse - applied
    assert relative_error(torque(formulation, model, state, loads)[dofs], expected) < 1e-10


def _flip_loads(model, loads):
    return model, [co.Load(w.body, -w.force, -w.moment, w.point) for w in loads]


def _drop_moments(model, loads):
    return model, [co.Load(w.body, w.force, point=w.point) for w in loads]


def _load_at_the_origin(model, loads):
    return model, [co.Load(w.body, w.force, w.moment) for w in loads]


def _flip_gravity(model, loads):
    return co.Model(model.bodies, gravity=-model.gravity), loads


def _forget_steiner(model, loads):
    bodies = [co.Body(b.name, b.joint, b.parent, b.mass, (0, 0, 0), b.inertia) for b in model.bodies]
    return co.Model(bodies, gravity=model.gravity), loads


def _forget_products_of_inertia(model, loads):
    bodies = [
        co.Body(b.name, b.joint, b.parent, b.mass, b.com, np.diag(numbers(b.inertia)).copy()) for b in model.bodies
    ]
    return co.Model(bodies, gravity=model.gravity), loads


@every_formulation
@pytest.mark.parametrize(
    "mistake",
    [_flip_loads, _drop_moments, _load_at_the_origin, _flip_gravity, _forget_steiner, _forget_products_of_inertia],
)
def test_the_comparison_with_pinocchio_catches_a_wrong_physics(formulation, mistake):
    """The tolerance of the agreement is far below the effect of any one of the classic mistakes."""
    rng = np.random.default_rng(3)
    model = random_tree(rng, 8, virtual=False)
    loads, state = random_loads(rng, model, count=12), random_state(rng, model)
    expected, _ = pinocchio_inverse_dynamics(pinocchio_tree(model), model, state, loads)
    wrong_model, wrong_loads = mistake(model, loads)
    assert relative_error(torque(formulation, wrong_model, state, wrong_loads), expected) > 1e-3


class Arm(NamedTuple):
    """A planar two-link arm, the numbers of its closed form, and gravity."""

    model: co.Model
    lengths: tuple[float, float]
    to_com: tuple[float, float]
    masses: tuple[float, float]
    inertias: tuple[float, float]
    gravity: float


def _published_arm() -> Arm:
    half = LENGTH / 2
    return Arm(two_link(9.81), (LENGTH, LENGTH), (half, half), (MASS, MASS), (INERTIA, INERTIA), 9.81)


def _unequal_arm() -> Arm:
    """Every number another, so that no two of them can be confused."""
    lengths, to_com, masses, inertias = (0.7, 0.45), (0.3, 0.21), (1.3, 0.8), (0.05, 0.09)
    bodies = []
    for k, name in enumerate(("upper", "lower")):
        com = (to_com[k] - lengths[k], 0, 0)
        tensor = (0.2, 0.2, inertias[k])
        bodies.append(co.Body(name, co.dh_revolute(a=lengths[k]), "upper" if k else None, masses[k], com, tensor))
    return Arm(co.Model(bodies, gravity=(0, -3.7, 0)), lengths, to_com, masses, inertias, 3.7)


def closed_form(arm: Arm, state: State, f: float) -> np.ndarray:
    """Torques of the arm with a load f pointing down at its tip: Xiang et al. (2009), equations 69 and 70."""
    (L1, L2), (l1, l2), (m1, m2), (I1, I2), g = arm[1:]
    (th1, th2), (w1, w2), (a1, a2) = state
    c1, c2, s2, c12 = np.cos(th1), np.cos(th2), np.sin(th2), np.cos(th1 + th2)
    tau1 = (
        (I1 + I2 + m1 * l1**2 + m2 * (L1**2 + l2**2 + 2 * L1 * l2 * c2)) * a1
        + (I2 + m2 * l2**2 + m2 * L1 * l2 * c2) * a2
        - 2 * m2 * L1 * l2 * w1 * w2 * s2
        - m2 * L1 * l2 * w2**2 * s2
        + m2 * g * l2 * c12
        + m1 * g * l1 * c1
        + m2 * g * L1 * c1
        + f * L2 * c12
        + f * L1 * c1
    )
    tau2 = (
        (I2 + m2 * l2**2) * a2
        + (I2 + m2 * l2**2 + m2 * L1 * l2 * c2) * a1
        + m2 * L1 * l2 * w1**2 * s2
        + m2 * g * l2 * c12
        + f * L2 * c12
    )
    return np.array([tau1, tau2])


@every_formulation
@pytest.mark.parametrize("arm", [_published_arm(), _unequal_arm()], ids=["published", "unequal"])
def test_two_link_arm_has_its_closed_form(formulation, arm):
    rng = np.random.default_rng(0)
    f = 7.3
    loads = [co.Load(arm.model.bodies[1].name, force=(0, -f, 0))]
    for _ in range(10):
        state = random_state(rng, arm.model)
        assert relative_error(torque(formulation, arm.model, state, loads), closed_form(arm, state, f)) < 1e-12


@every_formulation
def test_loads_superpose(formulation):
    """Two loads together act as the sum of what each does alone, several on one link included."""
    model, _, state = case(40)
    body = model.bodies[-1].name
    first, second = (
        co.Load(body, (1, 2, 3), (4, 5, 6), (0.1, 0.2, 0.3)),
        co.Load(body, (-3, 1, 0), (0, 2, 2), (1, 0, 0)),
    )
    none, one, two, both = (torque(formulation, model, state, w) for w in ([], [first], [second], [first, second]))
    assert np.abs(one - none).max() > 1
    assert relative_error(both - none, (one - none) + (two - none)) < 1e-12


@every_formulation
def test_load_torque_is_minus_the_jacobian_transposed_times_the_wrench(formulation):
    """The force does work at its point and the moment on the turning of the link, both by automatic derivatives."""
    rng = np.random.default_rng(7)
    model = random_tree(rng, 9)
    state = random_state(rng, model)
    load = random_loads(rng, model, count=1)[0]
    q, qd, qdd = coordinates(model)
    velocity = point_motion(model, load.body, load.point, q=q, qd=qd).velocity
    rotation = frames(model, q, qd, qdd).position[model.index(load.body)][:3, :3]
    power = ca.dot(load.force, velocity) + ca.dot(load.moment, angular_velocity(rotation, q, qd))
    expected = -evaluate([ca.gradient(power, qd)], (q, qd, qdd), state)[0]
    assert np.abs(expected).max() > 1
    effect = torque(formulation, model, state, [load]) - torque(formulation, model, state)
    assert relative_error(effect, expected) < 1e-11


def angular_velocity(rotation: ca.SX, variable: ca.SX, rate: Any = 1) -> ca.SX:
    """Angular velocity in world axes from R' = [omega]x R, the rate of R by automatic differentiation."""
    spin = ca.reshape(ca.jtimes(ca.vec(rotation), variable, ca.SX(rate)), 3, 3) @ rotation.T
    return ca.inv_skew(spin)


@pytest.mark.parametrize("seed", range(0, 64, 2))
def test_joint_reactions_agree_with_pinocchio(seed):
    """The wrench of every joint, fixed ones included (locked hinges in Pinocchio).

    Pinocchio gives it in the moving frame of the joint. A slide carries that frame along by its linear part times q;
    colloc takes the moment about the origin that stays on the parent.
    """
    model, loads, state = case(seed)
    tree = pinocchio_tree(model, lock_fixed=True)
    _, data = pinocchio_inverse_dynamics(tree, model, state, loads)
    force, moment = np.empty((2, 3, len(model.bodies)))
    for k, body in enumerate(model.bodies):
        wrench, to_link = data.f[tree.joints[k]], numbers(body.joint.after)[:3, :3].T
        slid = body.joint.screw.linear * state.q[model.dofs[k] or 0]  # zero for a fixed joint
        force[:, k] = to_link @ wrench.linear
        moment[:, k] = to_link @ (wrench.angular + np.cross(slid, wrench.linear))
    symbols = coordinates(model)
    reactions = evaluate(joint_reactions(model, *symbols, loads)[1:], symbols, state)
    assert relative_error(reactions[0].reshape(3, -1), force) < 1e-10
    assert relative_error(reactions[1].reshape(3, -1), moment) < 1e-10


class Motion(NamedTuple):
    """A model along a smooth path: what moves, as expressions of time."""

    time: ca.SX
    q: ca.SX
    qd: ca.SX
    qdd: ca.SX
    transforms: list[ca.SX]


def smooth_motion(rng: np.random.Generator, model: co.Model) -> Motion:
    """q = offset + amplitude sin(frequency t + phase) for every joint, its rates by automatic differentiation."""
    t = ca.SX.sym("t")
    offset, amplitude, frequency, phase = (ca.SX(rng.uniform(0.5, 2.0, model.n)) for _ in range(4))
    q = offset + amplitude * ca.sin(frequency * t + phase)
    qd = ca.jacobian(q, t)
    qdd = ca.jacobian(qd, t)
    rest = ca.SX(model.n, 1)
    return Motion(t, q, qd, qdd, frames(model, q, rest, rest).position)


def _com(body: co.Body, transform: ca.SX) -> ca.SX:
    return (transform @ ca.vertcat(body.com, 1))[:3]


@every_formulation
@pytest.mark.parametrize("seed", range(100, 112))
def test_power_of_torques_and_loads_is_the_rate_of_the_energy(formulation, seed):
    """tau . qd + power of the loads = d/dt (kinetic + potential energy), along a smooth motion.

    Energies come from the positions of the links alone: rates of centres of mass and of rotation matrices by
    automatic differentiation in time.
    """
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    loads = random_loads(rng, model)
    motion = smooth_motion(rng, model)
    energy = ca.SX(0)
    for body, transform in zip(model.bodies, motion.transforms, strict=True):
        com, rotation = _com(body, transform), transform[:3, :3]
        velocity = ca.jacobian(com, motion.time)
        omega = rotation.T @ angular_velocity(rotation, motion.time)
        energy += (body.mass * ca.sumsqr(velocity) + ca.dot(omega, body.inertia @ omega)) / 2
        energy -= body.mass * ca.dot(ca.SX(model.gravity), com)
    power = ca.dot(formulation(model, motion.q, motion.qd, motion.qdd, loads), motion.qd)
    for load in loads:
        transform = motion.transforms[model.index(load.body)]
        point = (transform @ ca.vertcat(load.point, 1))[:3]
        power += ca.dot(load.force, ca.jacobian(point, motion.time))
        power += ca.dot(load.moment, angular_velocity(transform[:3, :3], motion.time))
    rate = ca.jacobian(energy, motion.time)
    delivered, stored = evaluate([power, rate], [motion.time], [rng.uniform(0, 3)])
    assert relative_error(delivered, stored) < 1e-10


@pytest.mark.parametrize("seed", range(200, 212))
def test_reactions_of_the_roots_are_the_rate_of_momentum_less_gravity_and_loads(seed):
    """Newton and Euler for the whole tree, about the world's origin."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng)
    loads = random_loads(rng, model)
    motion = smooth_motion(rng, model)
    linear, angular, outside, turning = (ca.SX(3, 1) for _ in range(4))
    for body, transform in zip(model.bodies, motion.transforms, strict=True):
        com, rotation = _com(body, transform), transform[:3, :3]
        momentum = body.mass * ca.jacobian(com, motion.time)
        omega = angular_velocity(rotation, motion.time)
        weight = body.mass * ca.SX(model.gravity)
        linear += momentum
        angular += ca.cross(com, momentum) + rotation @ body.inertia @ rotation.T @ omega
        outside += weight
        turning += ca.cross(com, weight)
    for load in loads:
        point = (motion.transforms[model.index(load.body)] @ ca.vertcat(load.point, 1))[:3]
        outside += load.force
        turning += load.moment + ca.cross(point, load.force)
    needed_force = ca.jacobian(linear, motion.time) - outside
    needed_moment = ca.jacobian(angular, motion.time) - turning
    reactions = joint_reactions(model, motion.q, motion.qd, motion.qdd, loads)
    force, moment = ca.SX(3, 1), ca.SX(3, 1)
    for root in children(model, -1):
        rotation = motion.transforms[root][:3, :3]
        from_parent = rotation @ reactions.force[:, root]
        force += from_parent
        origin = model.bodies[root].joint.before[:3, 3]
        moment += rotation @ reactions.moment[:, root] + ca.cross(origin, from_parent)
    results = evaluate(
        [ca.vertcat(force, moment), ca.vertcat(needed_force, needed_moment)], [motion.time], [rng.uniform(0, 3)]
    )
    assert relative_error(*results) < 1e-10


@pytest.mark.parametrize("seed", range(0, 64, 2))
def test_actuation_is_the_reaction_along_the_screw(seed):
    """A motor carries what the joint lets through; the bearing carries the rest."""
    model, loads, state = case(seed)
    symbols = coordinates(model)
    tau, force, moment = evaluate(joint_reactions(model, *symbols, loads), symbols, state)
    for k, body in enumerate(model.bodies):
        dof = model.dofs[k]
        if dof is None:
            continue
        angular, linear = (numbers(body.joint.after)[:3, :3].T @ part for part in body.joint.screw)
        power = angular @ moment.reshape(3, -1)[:, k] + linear @ force.reshape(3, -1)[:, k]
        assert power == pytest.approx(tau[dof], rel=1e-12, abs=1e-12)


def mass_and_bias(model: co.Model, state: State, loads: Any = ()) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias at one state."""
    q, qd, _ = coordinates(model)
    mass, bias = evaluate(equations_of_motion(model, q, qd, loads), (q, qd), state[:2])
    return mass.reshape(model.n, model.n), bias


@pytest.mark.parametrize("seed", range(64))
def test_mass_matrix_agrees_with_pinocchio(seed):
    model, loads, state = case(seed)
    tree = pinocchio_tree(model)
    upper = np.triu(pin.crba(tree.model, tree.model.createData(), tree.into(state.q)))
    composite = upper + np.triu(upper, 1).T
    mass, _ = mass_and_bias(model, state, loads)
    assert relative_error(mass[np.ix_(tree.dofs, tree.dofs)], composite) < 1e-12


@pytest.mark.parametrize("seed", range(24))
def test_mass_matrix_of_massive_links_is_symmetric_positive_definite(seed):
    model, _, state = case(seed, virtual=False)
    mass, _ = mass_and_bias(model, state)
    assert relative_error(mass, mass.T) < 1e-13
    np.linalg.cholesky(mass)


@every_formulation
@pytest.mark.parametrize("seed", range(0, 64, 4))
def test_mass_matrix_and_bias_make_up_the_torque(formulation, seed):
    model, loads, state = case(seed)
    mass, bias = mass_and_bias(model, state, loads)
    assert relative_error(mass @ state.qdd + bias, torque(formulation, model, state, loads)) < 1e-11


def test_equation_of_motion_of_a_pendulum_is_its_closed_form():
    """A physical pendulum: (I + m l^2) q'' + m g l sin q = tau, q from the hanging position."""
    mass, length, inertia = 1.7, 0.6, 0.08
    bob = co.Body("bob", co.revolute(), mass=mass, com=(0, -length, 0), inertia=inertia * np.eye(3))
    state = State(np.array([0.9]), np.array([2.0]), np.array([0.0]))
    m, bias = mass_and_bias(co.Model([bob]), state)
    assert m == pytest.approx(inertia + mass * length**2, rel=1e-14)
    assert bias == pytest.approx(mass * 9.81 * length * np.sin(0.9), rel=1e-14)


@every_formulation
def test_symbolic_masses_lengths_and_loads_give_the_numeric_torque(formulation):
    """A model of symbols, evaluated, is the model of numbers."""
    rng = np.random.default_rng(11)
    properties = [random_inertia(rng) for _ in range(3)]
    lengths, wrench = rng.uniform(0.2, 0.8, 5), rng.normal(size=9)

    def build(masses: Any, coms: Any, tensors: Any, x: Any, w: Any) -> tuple[co.Model, list[co.Load]]:
        joints = (
            co.dh_revolute(theta=0.3, d=x[0], a=x[1], alpha=x[2]),
            co.prismatic((1, 2, 0), co.placement((x[3], 0.1, 0), (0, x[4], 0.2))),
            co.revolute((0, 1, 1), co.placement((0, 0, x[0]))),
        )
        parents = (None, "body0", "body0")
        bodies = [co.Body(f"body{k}", joints[k], parents[k], masses[k], coms[k], tensors[k]) for k in range(3)]
        return co.Model(bodies), [co.Load("body2", w[:3], w[3:6], w[6:])]

    m, c, tensor = ([p[key] for p in properties] for key in ("mass", "com", "inertia"))
    numeric, numeric_loads = build(m, c, tensor, lengths, wrench)
    state = random_state(rng, numeric)
    masses = [ca.SX.sym(f"m{k}") for k in range(3)]
    coms = [ca.SX.sym(f"c{k}", 3) for k in range(3)]
    tensors = [ca.SX.sym(f"I{k}", 3, 3) for k in range(3)]
    x, w = ca.SX.sym("x", 5), ca.SX.sym("w", 9)
    model, loads = build(masses, coms, tensors, x, w)
    q, qd, qdd = coordinates(model)
    result = evaluate(
        [formulation(model, q, qd, qdd, loads)],
        [q, qd, qdd, *masses, *coms, *tensors, x, w],
        [*state, *m, *c, *tensor, lengths, wrench],
    )[0]
    assert relative_error(result, torque(formulation, numeric, state, numeric_loads)) < 1e-13


@every_formulation
def test_load_on_an_unknown_body_is_refused_with_the_legal_names(formulation):
    model = two_link()
    with pytest.raises(co.InputError, match=r"no body named 'wrist' \(known: shoulder, elbow\)"):
        formulation(model, *coordinates(model), [co.Load("wrist", force=(1, 0, 0))])
