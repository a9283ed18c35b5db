"""Inverse dynamics of closed chains: against Lagrange multipliers, Pinocchio's constrained dynamics, the classical
matrix method for the four-bar, the paper's own formulas, and the balance of power."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.dynamics import kinetic_energy, lagrange, lie, newton_euler, potential_energy
from colloc.models.closed.five_bar import five_bar
from colloc.models.closed.four_bar import COUPLER, CRANK, LINEAR_DENSITY, ROCKER, four_bar
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.rower import rower
from colloc.models.closed.slider_crank import CRANK as THROW
from colloc.models.closed.slider_crank import PISTON_MASS, ROD, slider_crank
from tests.support.random_loops import HELD, Closed, closed_chain, multiplier_forward, pinocchio_forward
from tests.support.random_trees import coordinates, evaluate, random_loads, relative_error

# Kinds of loops and number of bodies: every kind alone, then several at once.
CASES = (
    (("weld",), 12), (("revolute",), 11), (("prismatic",), 12), (("cylindrical",), 11), (("spherical",), 9),
    (("planar",), 10), (("on_line",), 8), (("on_plane",), 8), (("spherical", "on_line"), 12),
    (("revolute", "planar"), 15), (("cylindrical", "on_plane", "spherical"), 16), (("prismatic", "spherical"), 15),
    (("weld", "spherical"), 16), (("spherical", "spherical"), 13),
)  # fmt: skip
MODELS = (four_bar, slider_crank, five_bar, parallel_scara, rower)
every_case = pytest.mark.parametrize("number", range(len(CASES)))
pinocchio_cases = [k for k, (kinds, _) in enumerate(CASES) if set(kinds) <= {"weld", "spherical"}]


@lru_cache
def case(number: int) -> tuple[Closed, loops.ClosedChain, list[co.Load]]:
    """A random closed chain, fully driven where the number is odd, with loads where it is not a multiple of three."""
    rng = np.random.default_rng(7000 + number)
    drawn = closed_chain(rng, *CASES[number])
    names = drawn.model.joint_names if number % 2 else None
    weights = rng.uniform(0.5, 2.0, drawn.model.n) if number % 2 else 1.0
    chain = loops.ClosedChain(drawn.model, drawn.loops, actuators=names, weights=weights, guess=drawn.q)
    return drawn, chain, random_loads(rng, drawn.model) if number % 3 else []


def rates(chain: loops.ClosedChain, seed: int = 3) -> np.ndarray:
    """Rates and accelerations of the independent joints, (2, mobility)."""
    return np.random.default_rng(seed).normal(size=(2, chain.mobility))


@every_case
def test_torques_and_loop_forces_agree_with_lagrange_multipliers(number):
    """The torques drive the tree with constraints to the same accelerations; the loop forces are the multipliers."""
    drawn, chain, loads = case(number)
    evaluator, q = loops.ChainEvaluator(chain, loads=loads), chain.posture
    motion, forces = evaluator.motion(q, *rates(chain)), evaluator.forces(q, *rates(chain))
    expected = multiplier_forward(drawn, q, motion.qd, forces.tau, loads)
    assert relative_error(motion.qdd, expected.qdd) < 1e-7
    assert relative_error(np.stack([forces.force, forces.moment], axis=1), expected.wrenches) < 1e-7
    assert chain.rows.size == sum(HELD[loop.kind] for loop in chain.loops)


@pytest.mark.parametrize("number", pinocchio_cases)
def test_torques_and_loop_forces_agree_with_pinocchios_constrained_dynamics(number):
    drawn, chain, _ = case(number)
    evaluator, q = loops.ChainEvaluator(chain), chain.posture
    motion, forces = evaluator.motion(q, *rates(chain)), evaluator.forces(q, *rates(chain))
    qdd, wrenches = pinocchio_forward(drawn, q, motion.qd, forces.tau)
    assert relative_error(motion.qdd, qdd) < 1e-10
    assert relative_error(np.stack([forces.force, forces.moment], axis=1), wrenches) < 1e-10


@every_case
def test_power_of_the_actuators_is_the_rate_of_energy(number):
    """And the loops do no work."""
    _, chain, _ = case(number)
    q, qd, qdd = symbols = coordinates(chain.model)
    energy = kinetic_energy(chain.model, q, qd) + potential_energy(chain.model, q)
    power = ca.jtimes(energy, q, qd) + ca.jtimes(energy, qd, qdd)
    found = loops.chain_inverse_dynamics(chain, *symbols)
    work = ca.dot(loops.loop_torques(chain, q, found.multipliers), qd)
    motion = loops.ChainEvaluator(chain).motion(chain.posture, *rates(chain))
    rate, supplied, lost, size = evaluate(
        [power, ca.dot(found.tau, qd), work, ca.norm_1(found.multipliers)], symbols, [chain.posture, *motion]
    )
    assert supplied == pytest.approx(rate, rel=1e-9, abs=1e-9)
    assert np.abs(lost).max() < 1e-12 * max(1.0, float(size[0]))


@every_case
def test_tree_less_loop_torques_is_the_actuation(number):
    """The form with cut-joint forces as unknowns; any formulation of the tree will do."""
    _, chain, loads = case(number)
    symbols = coordinates(chain.model)
    state = [chain.posture, *loops.ChainEvaluator(chain).motion(chain.posture, *rates(chain))]
    values = []
    for dynamics in (newton_euler, lie, lagrange):
        found = loops.chain_inverse_dynamics(chain, *symbols, loads, dynamics)
        rest = dynamics(chain.model, *symbols, loads) - loops.loop_torques(chain, symbols[0], found.multipliers)
        values += evaluate([found.tau, rest], symbols, state)
    for value in values[1:]:
        assert relative_error(value, values[0]) < 1e-9
    passive = [k for k in range(chain.model.n) if k not in chain.actuator_dofs]
    assert not values[0][passive].any()


@every_case
def test_accelerations_keep_the_loops_closed(number):
    """A second-order step of all joints leaves a residual of third order."""
    _, chain, _ = case(number)
    motion = loops.ChainEvaluator(chain).motion(chain.posture, *rates(chain))
    gaps = []
    for t in (1e-3, 5e-4):
        q = chain.posture + t * motion.qd + t**2 / 2 * motion.qdd
        gaps.append(np.abs(chain.closures.at(q)[0]).max())
    assert gaps[1] < 0.15 * gaps[0] + 1e-12


@pytest.mark.parametrize("make", [four_bar, slider_crank, five_bar, rower])
def test_exactly_actuated_torques_are_the_papers(make):
    """Equation 31: tau_a = tau_ra - (J_p^-1 J_a)' tau_rp, with the independent joints driven."""
    chain = loops.ClosedChain(make().model, make().loops, make().independent, guess=make().posture)
    evaluator, q = loops.ChainEvaluator(chain), chain.posture
    tau = evaluator.forces(q, *rates(chain)).tau
    reduced = co.Evaluator(chain.model).torque(q, *evaluator.motion(q, *rates(chain)))
    J = chain.closures.at(q)[1][chain.rows]
    active, passive = chain.independent_dofs, chain.dependent_dofs
    ratio = np.linalg.solve(J[:, passive], J[:, active])
    assert tau[active] == pytest.approx(reduced[active] - ratio.T @ reduced[passive], rel=1e-10, abs=1e-10)


def test_redundant_torques_are_the_papers():
    """Equations 45, 72 and 73, of the five-bar with elbow and rod driven as well."""
    weights = np.array([1.0, 2.0, 0.5, 3.0, 0.7])
    chain = five_bar(actuators=("waist", "upper_arm", "crank", "forearm", "rod"), weights=weights)
    exact, redundant = (loops.ChainEvaluator(each).forces(chain.posture, *rates(chain)) for each in (five_bar(), chain))
    phi = chain.basis(chain.posture)[3:]
    W_u, W_v, tau_ea = np.diag(weights[:3]), np.diag(weights[3:]), exact.tau[:3]
    tau_v = np.linalg.solve(phi @ W_u @ phi.T + W_v, phi @ W_u @ tau_ea)
    assert redundant.tau[3:] == pytest.approx(tau_v, rel=1e-11)
    assert redundant.tau[:3] == pytest.approx(tau_ea - phi.T @ tau_v, rel=1e-11)
    assert weights @ redundant.tau**2 < weights @ exact.tau**2


@pytest.mark.parametrize("actuator", ["crank", "coupler", "rocker"])
def test_four_bar_agrees_with_the_classical_matrix_method(actuator):
    """Nine equations of Newton and Euler for three free bodies, with eight pin forces and one torque."""
    chain = four_bar(actuators=(actuator,))
    rate, change = rates(chain, 5)
    evaluator = loops.ChainEvaluator(chain)
    for q in loops.assemble(chain, np.linspace(1.0, 5.5, 10)[:, None]):
        motion = evaluator.motion(q, rate, change)
        expected, pin_force = _matrix_method(actuator, q, motion.qd, motion.qdd)
        found = evaluator.forces(q, rate, change)
        assert found.tau.sum() == pytest.approx(expected, rel=1e-10)
        turn = _unit(q[0] + q[1])  # the first frame is the coupler's
        turned = np.array([[turn[0], turn[1]], [-turn[1], turn[0]]]) @ pin_force
        assert found.force[0] == pytest.approx([*turned, 0.0], rel=1e-9, abs=1e-10)


def _unit(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def _matrix_method(actuator: str, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> tuple[float, np.ndarray]:
    """Torque, and force of the coupler on the rocker, of a four-bar.

    Unknown are the forces at the crank's pivot (on the crank), at its pin (on the coupler), at the far pin (on the
    rocker) and at the rocker's pivot (on the rocker), and the torque.
    """
    angles, omegas, alphas = ([x[0], x[0] + x[1], x[2]] for x in (q, qd, qdd))
    pin = CRANK * (alphas[0] * _unit(angles[0] + np.pi / 2) - omegas[0] ** 2 * _unit(angles[0]))
    bases = [np.zeros(2), pin, np.zeros(2)]  # accelerations of the links' origins
    acting = [[(0, 1, 0.0), (1, -1, 1.0)], [(1, 1, 0.0), (2, -1, 1.0)], [(2, 1, 1.0), (3, 1, 0.0)]]
    driven = {"crank": (1, 0, 0), "coupler": (-1, 1, 0), "rocker": (0, 0, 1)}[actuator]
    matrix, right = np.zeros((9, 9)), np.zeros(9)
    for k, (length, base) in enumerate(zip((CRANK, COUPLER, ROCKER), bases, strict=True)):
        mass, ahead, side = LINEAR_DENSITY * length, _unit(angles[k]), _unit(angles[k] + np.pi / 2)
        acceleration = base + length / 2 * (alphas[k] * side - omegas[k] ** 2 * ahead)
        right[3 * k : 3 * k + 2] = mass * (acceleration + np.array([0.0, 9.81]))
        right[3 * k + 2] = mass * length**2 / 12 * alphas[k]
        for joint, sign, end in acting[k]:
            arm = (end - 0.5) * length * ahead
            matrix[3 * k : 3 * k + 2, 2 * joint : 2 * joint + 2] = sign * np.eye(2)
            matrix[3 * k + 2, 2 * joint : 2 * joint + 2] = sign * np.array([-arm[1], arm[0]])
        matrix[3 * k + 2, 8] = driven[k]
    found = np.linalg.solve(matrix, right)
    return found[8], found[4:6]


def test_piston_moves_by_its_closed_form_and_its_force_needs_its_torque():
    """x = r cos a + sqrt(l^2 - r^2 sin^2 a); on massless links, torque = piston force times dx/da."""
    chain = slider_crank()
    a = np.linspace(-3.0, 3.0, 25)
    x = THROW * np.cos(a) + np.sqrt(ROD**2 - THROW**2 * np.sin(a) ** 2)
    q = loops.assemble(chain, a[:, None])
    assert q[:, 2] == pytest.approx(x, abs=1e-12)
    slope = piston_slope(a)
    motion = loops.ChainEvaluator(chain).motion(q, 2.0, 0.0)
    assert motion.qd[:, 2] == pytest.approx(2.0 * slope, abs=1e-12)
    light = [co.Body(b.name, b.joint, b.parent, PISTON_MASS if b.name == "piston" else 0) for b in chain.model.bodies]
    pushed = loops.ClosedChain(co.Model(light, gravity=(0, 0, 0)), chain.loops, ("crank",), guess=chain.posture)
    forces = loops.ChainEvaluator(pushed, loads=[co.Load("piston", force=(-50.0, 0, 0))]).forces(q, 0.0, 0.0)
    assert forces.tau[:, 0] == pytest.approx(50.0 * slope, abs=1e-10)
    assert forces.tau[:, 1:] == pytest.approx(0)


def piston_slope(a: np.ndarray) -> np.ndarray:
    """dx/da of the slider-crank."""
    return -THROW * np.sin(a) - THROW**2 * np.sin(a) * np.cos(a) / np.sqrt(ROD**2 - THROW**2 * np.sin(a) ** 2)


def test_gravity_across_the_plane_of_a_planar_loop_costs_nothing():
    """The parallel SCARA with gravity along its axes: the arms carry the forearms in bending, the slide the quill."""
    chain = parallel_scara()
    found = loops.ChainEvaluator(chain).forces(chain.posture, 0.0, 0.0)
    assert found.tau == pytest.approx([0, 0, 0, 0, -9.81, 0], abs=1e-10)
    assert found.force == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("make", MODELS)
def test_batch_is_the_samples_one_by_one(make):
    chain = make()
    evaluator = loops.ChainEvaluator(chain)
    u = chain.posture[chain.independent_dofs] + 0.05 * np.arange(4)[:, None]
    q = loops.assemble(chain, u)
    many = evaluator.forces(q, 1.0, 0.5)
    assert many.force.shape == (4, len(chain.loops), 3)
    for k in range(4):
        for whole, one in zip(many, evaluator.forces(q[k], 1.0, 0.5), strict=True):
            assert whole[k] == pytest.approx(one, rel=1e-14, abs=1e-14)


def test_compiled_functions_give_the_same():
    chain = five_bar()
    arguments = (np.tile(chain.posture, (3, 1)), 1.0, 0.5)
    plain, compiled = loops.ChainEvaluator(chain), loops.ChainEvaluator(chain, compile=True)
    pairs = [*zip(plain.forces(*arguments), compiled.forces(*arguments), strict=True)]
    pairs += zip(plain.sensitivities(*arguments), compiled.sensitivities(*arguments), strict=True)
    pairs.append((plain.hessian(*arguments, 1.0), compiled.hessian(*arguments, 1.0)))
    for expected, value in pairs:
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
