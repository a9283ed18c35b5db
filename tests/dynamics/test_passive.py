"""Passive parts of joints: rotors, dampers, springs and friction, in torques, derivatives, energies and motions."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, cast

import casadi as ca
import mujoco
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import colloc as co
from colloc import loops
from colloc.dynamics import (
    by_differentiation,
    equations_of_motion,
    inverse_dynamics,
    kinetic_energy,
    lie_hessian,
    potential_energy,
    total_hessian,
    total_sensitivities,
)
from colloc.loops.cut_joints import CutJoints
from colloc.models.closed.five_bar import five_bar
from tests.support.random_trees import (
    Case,
    State,
    coordinates,
    evaluate,
    mujoco_xml,
    pin,
    pinocchio_mass_matrix,
    pinocchio_tree,
    random_loads,
    random_state,
    random_tree,
    relative_error,
    torque,
)

mj: Any = mujoco
FORMULATIONS = [co.dynamics.newton_euler, co.dynamics.lagrange, co.dynamics.lie, co.dynamics.regular_lagrange]
RECURSIONS = [
    co.dynamics.composite_sensitivities,
    co.dynamics.newton_euler_sensitivities,
    co.dynamics.lagrange_sensitivities,
    co.dynamics.lie_sensitivities,
    by_differentiation(co.dynamics.newton_euler),
]
some_trees = pytest.mark.parametrize("seed", range(5))


def passive(rng: np.random.Generator, model: co.Model, *, friction: bool = True) -> co.Model:
    """The same model, every part on about three joints of four."""
    bodies = []
    for body in model.bodies:
        if body.joint.moves:
            damping, stiffness, rest, armature = rng.uniform(0.1, 2, 4) * (rng.random(4) < 0.75)
            rubbing = (
                co.model.Friction(rng.uniform(0.5, 3), rng.uniform(0.3, 1))
                if friction and rng.random() < 0.75
                else None
            )
            parts = co.Passive(damping, stiffness, rest, armature, rubbing)
            body = replace(body, joint=replace(body.joint, passive=parts))
        bodies.append(body)
    return replace(model, bodies=bodies)


def case(seed: int, *, friction: bool = True, loads: int = 2, **kind: Any) -> Case:
    """Tree number `seed`."""
    rng = np.random.default_rng([41, seed])
    model = passive(rng, random_tree(rng, int(rng.integers(2, 8)), **kind), friction=friction)
    return Case(model, random_loads(rng, model, count=loads), random_state(rng, model))


def total_torque(formulation: Any, model: co.Model, state: State, loads: Any = ()) -> np.ndarray:
    """Torque with what passive joints add, at one state."""
    return torque(partial(inverse_dynamics, formulation), model, state, loads)


@some_trees
def test_the_torque_of_passive_joints_is_what_the_docstring_says(seed):
    """In numbers, joint by joint, on top of the same formulation of the rigid bodies."""
    model, loads, state = case(seed)
    passive = np.zeros(model.n)
    for k, (joint, q, qd, qdd) in enumerate(zip(model.joints, *state, strict=True)):
        passive[k] += float(joint.passive.armature) * qdd + float(joint.passive.damping) * qd
        passive[k] += float(joint.passive.stiffness) * (q - float(joint.passive.rest))
        if joint.passive.friction is not None:
            passive[k] += float(joint.passive.friction.level) * np.tanh(qd / float(joint.passive.friction.velocity))
    for formulation in FORMULATIONS:
        expected = torque(formulation, model, state, loads) + passive
        assert relative_error(total_torque(formulation, model, state, loads), expected) < 1e-13, formulation


@some_trees
def test_torque_and_acceleration_agree_with_mujoco(seed):
    """Which knows damping, springs with a rest position and armature; its friction is of another kind."""
    model, _, state = case(seed, friction=False, loads=0, virtual=False, threads=False)
    other = mj.MjModel.from_xml_string(mujoco_xml(model))
    dofs = [model.joint_names.index(other.joint(k).name) for k in range(other.njnt)]
    for k, joint in enumerate(model.joints[dof] for dof in dofs):
        other.dof_damping[k], other.dof_armature[k] = float(joint.passive.damping), float(joint.passive.armature)
        other.jnt_stiffness[k], other.qpos_spring[k] = float(joint.passive.stiffness), float(joint.passive.rest)
    data = mj.MjData(other)
    for target, values in zip((data.qpos, data.qvel, data.qacc), state, strict=True):
        target[:] = values[dofs]
    mj.mj_inverse(other, data)
    for formulation in FORMULATIONS:
        tau = total_torque(formulation, model, state)
        assert relative_error(tau[dofs], data.qfrc_inverse) < 1e-10, formulation
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = state.q[dofs], state.qd[dofs], tau[dofs]
    mj.mj_forward(other, data)
    assert relative_error(data.qacc, state.qdd[dofs]) < 1e-8


@some_trees
def test_armature_agrees_with_pinocchio(seed):
    model, _, state = case(seed, friction=False, loads=0, virtual=False)
    rotors = [
        replace(b, joint=replace(b.joint, passive=replace(b.joint.passive, damping=0, stiffness=0)))
        for b in model.bodies
    ]
    model = replace(model, bodies=rotors)
    tree = pinocchio_tree(model)
    tree.model.armature = tree.into(np.array([float(joint.passive.armature) for joint in model.joints]))
    data, (q, qd, qdd) = tree.model.createData(), map(tree.into, state)
    expected = tree.back(pin.rnea(tree.model, data, q, qd, qdd))
    assert relative_error(total_torque(co.dynamics.newton_euler, model, state), expected) < 1e-10
    evaluator = co.Evaluator(model)
    assert relative_error(evaluator.mass_matrix(state.q), pinocchio_mass_matrix(tree, model, state.q)) < 1e-12
    tau = 10 * np.random.default_rng(seed).normal(size=model.n)
    found = evaluator.forward_dynamics(state.q, state.qd, tau)
    assert relative_error(found, tree.back(pin.aba(tree.model, data, q, qd, tree.into(tau)))) < 1e-10


@some_trees
def test_forward_dynamics_and_equations_of_motion_undo_inverse_dynamics(seed):
    model, loads, state = case(seed, virtual=False)
    q, qd, _ = coordinates(model)
    tau = total_torque(co.dynamics.newton_euler, model, state, loads)
    forward = co.dynamics.forward_dynamics(model, q, qd, ca.SX(tau), loads)
    mass, bias = equations_of_motion(model, q, qd, loads)
    found = evaluate([forward, ca.solve(mass, tau - bias)], [q, qd], state[:2])
    assert max(relative_error(value, state.qdd) for value in found) < 1e-9


@some_trees
def test_sensitivities_agree_with_automatic_derivatives_of_the_torque(seed):
    """A load that depends on the state included."""
    model, loads, state = case(seed)
    q, qd, _ = symbols = coordinates(model)
    loads = [*loads, co.Load(model.bodies[-1].name, force=ca.vertcat(ca.sin(q[0]), qd[0] ** 2, qd[-1] * q[-1]))]
    tau = inverse_dynamics(co.dynamics.newton_euler, model, *symbols, loads)
    expected = [tau, *(ca.jacobian(tau, x) for x in symbols)]
    references = evaluate(expected, symbols, state)
    for recursion in RECURSIONS:
        found = evaluate(total_sensitivities(recursion, model, *symbols, loads), symbols, state)
        for name, value, reference in zip(("tau", "dq", "dqd", "dqdd"), found, references, strict=True):
            assert relative_error(value, reference) < 1e-12, (recursion, name)


@some_trees
def test_the_hessian_agrees_with_automatic_derivatives_of_the_torque(seed):
    model, loads, state = case(seed)
    symbols, weights = coordinates(model), ca.SX.sym("l", model.n)
    tau = inverse_dynamics(co.dynamics.newton_euler, model, *symbols, loads)
    expected = ca.hessian(ca.dot(weights, tau), ca.vertcat(*symbols))[0]
    found = total_hessian(lie_hessian, model, *symbols, weights, loads)
    values = [*state, np.random.default_rng(seed).normal(size=model.n)]
    assert relative_error(*evaluate([found, expected], [*symbols, weights], values)) < 1e-10


def test_models_without_passive_joints_pay_nothing():
    """The entry points return the recursions' expressions themselves."""
    model = random_tree(np.random.default_rng(3), 6)
    symbols, weights = coordinates(model), ca.SX.sym("l", model.n)

    def count(outputs: Any) -> int:
        return ca.Function("f", [*symbols, weights], list(outputs)).n_instructions()

    recursion = co.dynamics.composite_sensitivities
    assert count([inverse_dynamics(co.dynamics.lie, model, *symbols)]) == count([co.dynamics.lie(model, *symbols)])
    assert count(total_sensitivities(recursion, model, *symbols)) == count(recursion(model, *symbols))
    hessians = total_hessian(lie_hessian, model, *symbols, weights), lie_hessian(model, *symbols, weights)
    assert count(hessians[:1]) == count(hessians[1:])


@some_trees
def test_energy_is_lost_at_the_power_of_dampers_and_friction(seed):
    """Along a free motion, without actuators; springs and rotors keep what they take."""
    model, _, state = case(seed, loads=0, virtual=False)
    q, qd, _ = coordinates(model)
    energy = kinetic_energy(model, q, qd) + potential_energy(model, q)
    acceleration = co.dynamics.forward_dynamics(model, q, qd, ca.SX(model.n, 1))
    rate = ca.jtimes(energy, ca.vertcat(q, qd), ca.vertcat(qd, acceleration))
    lost = braking(model, state.qd)
    found = evaluate([rate], [q, qd], state[:2])[0]
    assert lost > 0
    assert relative_error(found, np.array([-lost])) < 1e-9


def oscillator(**parts: Any) -> co.Model:
    """A mass of 2 kg on a horizontal slide."""
    return co.Model(
        [co.Body("mass", co.prismatic((1, 0, 0), passive=co.Passive(**parts)), mass=2.0)], name="oscillator"
    )


def test_a_damped_oscillator_has_its_closed_form():
    """x = rest + exp(-delta t) (cos w t + delta / w sin w t) with the rotor's 0.5 kg beside the mass."""
    damping, stiffness, rest, rotor = 0.8, 30.0, 0.3, 0.5
    evaluator = co.Evaluator(oscillator(damping=damping, stiffness=stiffness, rest=rest, armature=rotor))

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        return np.array([x[1], evaluator.forward_dynamics(x[:1], x[1:], np.zeros(1))[0]])

    t = np.linspace(0, 3, 31)
    found = solve_ivp(rate, (0, 3), [rest + 1, 0], t_eval=t, rtol=1e-11, atol=1e-12).y[0]
    delta = damping / (2 * (2 + rotor))
    w = np.sqrt(stiffness / (2 + rotor) - delta**2)
    assert found == pytest.approx(rest + np.exp(-delta * t) * (np.cos(w * t) + delta / w * np.sin(w * t)), abs=1e-9)


def test_friction_brings_a_mass_to_rest_as_coulomb_says():
    """Fast against the smoothing velocity it decelerates by level / mass."""
    evaluator = co.Evaluator(oscillator(friction=co.model.Friction(3.0, 1e-3)))
    assert evaluator.forward_dynamics([0.0], [2.0], [0.0]) == pytest.approx([-1.5], rel=1e-12)
    assert evaluator.forward_dynamics([0.0], [-2.0], [0.0]) == pytest.approx([1.5], rel=1e-12)


@pytest.mark.parametrize("curve", [co.BSpline(12, degree=5), co.HermiteSimpson(16), co.Radau(4, degree=5)])
@pytest.mark.parametrize("sensitivities", [None, co.dynamics.composite_sensitivities])
def test_the_cheapest_motion_is_the_one_that_the_spring_makes_by_itself(curve, sensitivities):
    """Half a swing of a spring without damping takes pi sqrt(m / k) and no force at all."""
    stiffness = 50.0
    half = np.pi * np.sqrt((2 + 1) / stiffness)
    problem = co.Problem(
        oscillator(stiffness=stiffness, rest=0.1, armature=1.0),
        half,
        co.integral(lambda now: ca.sumsqr(now.tau)),
        [co.initial(q=-0.4, qd=0.0), co.final(q=0.6, qd=0.0)],
    )
    # Whatever a spline adds to nothing is much of it.
    nlp = co.transcribe(problem, curve, sensitivities=sensitivities)
    solution = co.solve(nlp, progress=False, plan=[co.refinement.Solve(tol=10.0)])
    assert solution.cost < 1e-3
    assert solution.q[:, 0] == pytest.approx(0.1 - 0.5 * np.cos(np.pi * solution.t / half), abs=1e-4)


@pytest.mark.parametrize("sensitivities", [None, co.dynamics.composite_sensitivities])
@pytest.mark.parametrize("hessian", [co.solver.Hessian.EXACT, co.solver.Hessian.GAUSS_NEWTON])
def test_a_passive_arm_is_solved_verified_and_compiled(sensitivities, hessian):
    """The forward simulation of verify meets the same dampers, rotors and friction, either Hessian the same optimum."""
    problem, cheapest = arm_problem()
    # IPOPT's tolerance is relative to the gradient at the guess; Gauss-Newton, which converges linearly, stops just
    # below it.
    nlp = co.transcribe(problem, co.HermiteSimpson(15), sensitivities=sensitivities, compile=True)
    solution = co.solve(nlp, solver=co.Ipopt(hessian=hessian, tol=1e-9), progress=False)
    report = co.verify(solution)
    assert report.forward_error < 1e-3
    assert report.kkt.stationarity < 1e-5
    assert solution.cost == pytest.approx(cheapest, rel=1e-6)


@lru_cache
def arm_problem() -> tuple[co.Problem, float]:
    """From rest to rest with least squared torque, and what that costs."""
    model = passive(np.random.default_rng(5), random_tree(np.random.default_rng(6), 3, virtual=False))
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=0.5, qd=0.0)]
    problem = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    return problem, co.solve(problem, co.HermiteSimpson(15), progress=False).cost


def passive_chain() -> loops.ClosedChain:
    """A five-bar with something on every joint, driven by two of them."""
    chain = five_bar()
    rng = np.random.default_rng(8)
    return loops.ClosedChain(
        passive(rng, chain.model), chain.loops, chain.independent, chain.actuators, 1.0, chain.posture
    )


def test_actuators_of_a_closed_chain_feed_its_energy_and_all_its_brakes():
    """Passive joints, which no actuator drives, brake and spring as well: power balance of the whole chain."""
    chain, u, ud, udd = passive_chain(), *chain_motion()
    q, model = loops.assemble(chain, u), chain.model
    evaluator = loops.ChainEvaluator(chain)
    tau = evaluator.forces(q, ud, udd).tau
    qd, qdd = evaluator.motion(q, ud, udd)
    x, v, _ = coordinates(model)
    energy = kinetic_energy(model, x, v) + potential_energy(model, x)
    rate = ca.jtimes(energy, ca.vertcat(x, v), ca.vertcat(qd, qdd))
    stored = evaluate([rate], [x, v], [q, qd])[0]
    assert tau @ qd == pytest.approx(stored[0] + braking(model, qd), rel=1e-10)


def test_derivatives_of_a_passive_closed_chain_agree_with_differences():
    """Along assembled postures; and the Hessian with differences of the derivatives."""
    chain, x = passive_chain(), np.concatenate(chain_motion())
    evaluator, m, step = loops.ChainEvaluator(chain), chain.mobility, 1e-5

    def at(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return loops.assemble(chain, x[:m]), x[m : 2 * m], x[2 * m :]

    weights = np.linspace(0.5, 1.5, chain.model.n)
    sides = [[evaluator.sensitivities(*at(x + sign * step * e)) for e in np.eye(3 * m)] for sign in (1, -1)]
    slope = np.array([(a.tau - b.tau) / (2 * step) for a, b in zip(*sides, strict=True)]).T
    bend = np.array([weights @ (a.dtau - b.dtau) / (2 * step) for a, b in zip(*sides, strict=True)])
    assert relative_error(evaluator.sensitivities(*at(x)).dtau, slope) < 1e-7
    assert relative_error(evaluator.hessian(*at(x), weights), bend) < 1e-6


def test_a_cut_loop_knows_the_passive_parts_of_the_chain():
    """The torques of the problem are those of the chain's own inverse dynamics."""
    chain = passive_chain()
    start = chain.posture[chain.independent_dofs]
    ends = [dict(zip(chain.independent, start + shift, strict=True)) for shift in (0.0, 0.2)]
    still = dict.fromkeys(chain.independent, 0.0)
    problem = co.Problem(
        chain.model,
        0.5,
        co.integral(lambda now: ca.sumsqr(now.tau)),
        [co.initial(q=ends[0], qd=still), co.final(q=ends[1], qd=still)],
        parts=[CutJoints(chain)],
    )
    guess = lambda t: loops.assemble(chain, start + 0.4 * t)  # noqa: E731
    solution = co.solve(problem, co.Radau(6, degree=4), guess=guess, progress=False)
    sample, dofs = solution.at(0.2), chain.independent_dofs
    q = loops.assemble(chain, sample.q[dofs], sample.q)
    tau = loops.ChainEvaluator(chain).forces(q, sample.qd[dofs], sample.qdd[dofs]).tau
    assert sample.tau == pytest.approx(tau, abs=1e-4)


def chain_motion() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coordinates, rates and accelerations of the independent joints."""
    chain, rng = five_bar(), np.random.default_rng(9)
    start = chain.posture[chain.independent_dofs]
    return start + 0.1, rng.normal(size=start.size), 3 * rng.normal(size=start.size)


def braking(model: co.Model, qd: np.ndarray) -> float:
    """Power that dampers and friction take."""
    power = 0.0
    for joint, v in zip(model.joints, qd, strict=True):
        power += float(joint.passive.damping) * v**2
        if joint.passive.friction is not None:
            power += float(joint.passive.friction.level) * np.tanh(v / float(joint.passive.friction.velocity)) * v
    return power


def test_symbols_of_passive_parts_may_be_parameters_and_unknowns():
    """The stiffness that saves all effort is found as an unknown: that of the oscillator tuned to the duration."""
    stiffness, rotor = co.Unknown("stiffness", constant=True, guess=20.0, lower=0.0), co.Parameter("rotor", 1.0)
    model = oscillator(stiffness=stiffness.symbol, rest=0.1, armature=rotor.symbol)
    assert {symbol.name() for symbol in model.symbols} == {"stiffness", "rotor"}
    problem = co.Problem(
        model, 0.5, co.integral(lambda now: ca.sumsqr(now.tau)), [co.initial(q=-0.4, qd=0.0), co.final(q=0.6, qd=0.0)],
        unknowns=[stiffness], parameters=[rotor],
    )  # fmt: skip
    solution = co.solve(problem, co.BSpline(10, degree=5), progress=False, plan=[co.refinement.Solve(tol=10.0)])
    assert solution.constants["stiffness"] == pytest.approx((2 + 1) * (np.pi / 0.5) ** 2, rel=1e-4)


def test_a_rotor_makes_a_joint_without_links_fit_for_simulation():
    model = co.Model([co.Body("motor", co.revolute(passive=co.Passive(armature=0.5)))])
    assert co.Evaluator(model).forward_dynamics([0.0], [0.0], [2.0]) == pytest.approx([4.0])
    damped = co.Model([co.Body("motor", co.revolute(passive=co.Passive(damping=0.5)))])
    with pytest.raises(co.InputError, match="no inertia resists joint 'motor'"):
        co.Evaluator(damped).forward_dynamics([0.0], [0.0], [2.0])


def test_the_table_lists_passive_parts_below():
    model = oscillator(damping=0.1, stiffness=3, rest=0.2, armature=1, friction=co.model.Friction(2, 0.01))
    assert (
        repr(model).splitlines()[-1] == "mass: damping 0.1, stiffness 3 about 0.2, armature 1, friction 2 from 0.01 on"
    )


@pytest.mark.parametrize("name", ["damping", "stiffness", "armature"])
@pytest.mark.parametrize("make", [co.revolute, co.prismatic, co.model.helical, co.dh_revolute, co.dh_prismatic])
def test_negative_parts_are_refused(make, name):
    negative, pair, positive = ({name: value} for value in cast(list[Any], [-1, (1, 2), 2.0]))
    with pytest.raises(co.InputError, match=rf"{name} must not be negative, got -1\.0"):
        make(passive=co.Passive(**negative))
    with pytest.raises(co.InputError, match=rf"{name} must be a scalar, got \(1, 2\)"):
        make(passive=co.Passive(**pair))
    assert make(passive=co.Passive(**positive)).passive.parts == (name,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 0.1), r"friction level must not be negative, got -1\.0"),
        ((1.0, -0.1), r"friction velocity must not be negative, got -0\.1"),
        ((1.0, 0.0), r"friction velocity must be positive, got 0"),
        ((np.nan, 1.0), r"friction level must be finite, got nan"),
    ],
)
def test_impossible_friction_is_refused(arguments, message):
    with pytest.raises(co.InputError, match=message):
        co.model.Friction(*arguments)


def test_friction_of_another_type_and_dampers_of_fixed_joints_are_refused():
    level: Any = (2.0, 0.1)
    with pytest.raises(co.InputError, match=r"friction must be a Friction, got \(2\.0, 0\.1\)"):
        co.revolute(passive=co.Passive(friction=level))
    with pytest.raises(co.InputError, match="a fixed joint has no damping and no armature"):
        replace(co.fixed(), passive=co.Passive(damping=1.0, armature=2.0))


def test_a_joint_that_is_held_has_no_passive_parts():
    sprung, damped = (co.revolute(passive=part) for part in (co.Passive(stiffness=3.0), co.Passive(damping=1.0)))
    model = co.Model([co.Body("one", sprung), co.Body("two", damped, "one")])
    assert not model.frozen({"two": 0.5}).bodies[1].joint.passive.parts
    assert model.frozen({"one": 0.5}).joints[0].passive.parts == ("damping",)
