"""Classic problems: their mechanisms against formulas and Pinocchio, and their known optima."""

import json
from dataclasses import replace
from math import cos, pi, sin
from typing import Any

import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.models import manutec_r3 as manutec
from colloc.models.acrobot import acrobot
from colloc.models.cart_pole import cart_pole
from colloc.models.manutec_r3 import manutec_r3
from colloc.studies.classics import optima, switches
from colloc.studies.classics.arms import two_bars
from colloc.studies.classics.optima import CLASSICS
from colloc.studies.classics.points import particle

pin: Any = pinocchio
SEEDS = range(5)


def state(seed: int, n: int) -> np.ndarray:
    """Random q, qd, qdd, shape (3, n)."""
    return np.random.default_rng(seed).normal(size=(3, n))


def torque(model: co.Model, given: np.ndarray) -> np.ndarray:
    """Actuator torques of the library, shape (n,)."""
    return co.Evaluator(model).torque(*given[:, None])[0]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("constants", [(5.775, 1.35, 0.815), (11 / 3, 3 / 2, 4 / 3)])
def test_two_bars_have_the_mass_matrix_of_their_constants(constants, seed):
    a, b, c = constants
    (_, q2), (v1, v2), qdd = given = state(seed, 2)
    M = np.array([[a + 2 * b * cos(q2), c + b * cos(q2)], [c + b * cos(q2), c]])
    centrifugal = b * sin(q2) * np.array([-v2 * (2 * v1 + v2), v1**2])
    np.testing.assert_allclose(torque(two_bars(a, b, c), given), M @ qdd + centrifugal, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_two_rods_with_a_tip_mass_move_as_published(seed):
    """The rates of Weinreb and Bryson's absolute angles: 4/3, 7/3, 3/2 are the inertias of rods of 1 kg and 1 m."""
    q, qd, u = state(seed, 2)
    s, c, x1, x2 = sin(q[1]), cos(q[1]), qd[0], qd.sum()
    D = 31 / 36 + 9 / 4 * s**2
    x1d = (s * (9 / 4 * c * x1**2 + 2 * x2**2) + 4 / 3 * (u[0] - u[1]) - 3 / 2 * c * u[1]) / D
    x2d = -(s * (9 / 4 * c * x2**2 + 7 / 2 * x1**2) - 7 / 3 * u[1] + 3 / 2 * c * (u[0] - u[1])) / D
    moved = np.array([q, qd, [x1d, x2d - x1d]])
    np.testing.assert_allclose(torque(two_bars(11 / 3, 3 / 2, 4 / 3), moved), u, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_cart_pole_moves_as_published(seed):
    """Newton for the cart and the pole along the rail, moments about the pole's hinge: Kelly (2017), section 6."""
    m1, m2, length, g = 1.0, 0.3, 0.5, 9.81
    (_, q2), (_, v2), (a1, a2) = given = state(seed, 2)
    force = (m1 + m2) * a1 + m2 * length * (a2 * cos(q2) - v2**2 * sin(q2))
    moment = m2 * length * (length * a2 + a1 * cos(q2) + g * sin(q2))
    np.testing.assert_allclose(torque(cart_pole(), given), [force, moment], rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_acrobot_moves_as_published(seed):
    """Spong (1995), with angles from hanging instead of from the horizontal."""
    m1 = m2 = l1 = 1.0
    lc1, lc2, I1, I2, g = 0.5, 1.0, 0.083, 0.33, 9.8
    (q1, q2), (v1, v2), qdd = given = state(seed, 2)
    d22 = m2 * lc2**2 + I2
    d12 = d22 + m2 * l1 * lc2 * cos(q2)
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * cos(q2)) + I1 + I2
    h = m2 * l1 * lc2 * sin(q2) * np.array([-(v2**2) - 2 * v2 * v1, v1**2])
    lower = m2 * lc2 * g * sin(q1 + q2)
    weight = np.array([(m1 * lc1 + m2 * l1) * g * sin(q1) + lower, lower])
    expected = np.array([[d11, d12], [d12, d22]]) @ qdd + h + weight
    np.testing.assert_allclose(torque(acrobot(), given), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_manutec_agrees_with_pinocchio_and_three_rotors(seed):
    """The links in Pinocchio; beside them the rotors' energy, in which the third turns with the second link."""
    world = pin.Model()
    world.gravity.linear = np.array([0, 0, -9.81])
    joints = (pin.JointModelRZ(), pin.JointModelRX(), pin.JointModelRX())
    links = (
        pin.Inertia(1.0, np.zeros(3), np.diag([1.16, 1.16, 1.16])),
        pin.Inertia(56.5, np.array([0.172, 0, 0.205]), np.array([[2.58, 0, -0.46], [0, 2.73, 0], [-0.46, 0, 0.64]])),
        pin.Inertia(60.3, np.array([0.028, 0, 0.202]), np.array([[5.41, 0, 0.33], [0, 5.60, 0], [0.33, 0, 0.39]])),
    )
    for k, (joint, link, height) in enumerate(zip(joints, links, (0.0, 0.0, 0.5), strict=True)):
        place = pin.SE3(np.eye(3), np.array([0, 0, height]))
        world.appendBodyToJoint(world.addJoint(k, joint, place, f"joint{k}"), link, pin.SE3.Identity())
    rotors = np.diag([14.3325, 57.33, 4.68])
    rotors[1, 2] = rotors[2, 1] = 0.078
    given = state(seed, 3)
    expected = pin.rnea(world, world.createData(), *given) + rotors @ given[2]
    np.testing.assert_allclose(torque(manutec_r3(), given), expected, rtol=1e-12)


def test_manutec_has_its_limits():
    limits = [body.joint.limits for body in manutec_r3().bodies]
    assert [each.torque[1] for each in limits] == [945.0, 1890.0, 540.0]
    assert [each.velocity[1] for each in limits] == list(manutec.RATES)
    free = [body.joint.limits for body in manutec_r3(torque_only=True).bodies]
    assert [each.torque for each in free] == [each.torque for each in limits]
    assert all(np.isinf(each.velocity).all() and np.isinf(each.position).all() for each in free)


def test_a_particle_is_as_heavy_along_every_slide():
    np.testing.assert_allclose(torque(particle("xyz", 2.0), np.ones((3, 3))), 2.0)
    np.testing.assert_allclose(torque(particle("xy", 2.0, gravity=10.0), np.zeros((3, 2))), [0.0, 20.0])


def known(*breakpoints: float, continuity: int = 1) -> co.BSpline:
    """Cubics that meet where forces are known to jump."""
    return co.BSpline(breakpoints=breakpoints, continuity=continuity)


@pytest.mark.parametrize(
    ("name", "curve", "error"),
    [
        ("double_integrator", known(0, 1 / 2, 1), 1e-7),
        ("double_integrator", co.BSpline(40), 1e-3),
        ("double_integrator_speed", known(0, 4 / 29, 25 / 29, 1), 1e-7),  # 0.08 s of the 0.58 s to gain speed
        ("bryson_denham", known(0, 1 / 3, 2 / 3, 1, continuity=2), 1e-6),  # at the wall during the middle third
        ("breakwell", known(0, 0.3, 0.7, 1, continuity=2), 1e-6),
        ("van_der_pol", co.BSpline(80), 1e-4),
        ("cops_arm", co.BSpline(80), 1e-3),
        ("hanging_chain", co.HermiteSimpson(80), 1e-3),
        ("acrobot", co.Radau(80), 1e-5),
        ("acrobot", co.HermiteSimpson(80), 1e-4),
        ("manutec_energy", co.BSpline(40), 1e-4),
        ("manutec_energy", co.Radau(40), 1e-4),
        ("manutec_time", co.BSpline(40, degree=4, continuity=1), 1e-3),
    ],
    ids=str,
)
def test_a_curve_comes_to_a_known_optimum(name: str, curve: Any, error: float):
    solution = co.solve(CLASSICS[name].problem(), curve)
    assert solution.success
    assert solution.cost == pytest.approx(CLASSICS[name].optimum, rel=error)


# The others have two optima each, or take longer.
REFINED = (
    "double_integrator", "double_integrator_speed", "bryson_denham", "breakwell", "van_der_pol", "brachistochrone",
    "brachistochrone_flat", "tangent_steering", "two_link", "hanging_chain", "acrobot", "manutec_energy",
    "manutec_time_torque_only",
)  # fmt: skip


@pytest.mark.parametrize("name", REFINED)
def test_refined_answers_are_right_to_their_tolerance(name: str):
    solution = co.solve(CLASSICS[name].problem(), tol=1e-4)
    assert solution.success
    assert solution.cost == pytest.approx(CLASSICS[name].optimum, rel=1e-4)


def test_the_acrobot_stands_up_in_a_simulation():
    solution = co.solve(CLASSICS["acrobot"].problem(), co.Radau(80))
    np.testing.assert_allclose(solution.q[-1], [pi, 0.0], atol=1e-8)
    assert co.verify(solution).terminal_miss < 1e-2


def test_the_study_in_its_quick_form(tmp_path, capsys):
    file = tmp_path / "numbers.json"
    numbers = optima.main(["--quick", "--intervals", "20", "--json", str(file)])
    assert numbers == json.loads(file.read_text(encoding="utf-8"))
    for way in optima.ways(20):
        assert numbers[f"wrong.{way}"] == 0
        assert numbers[f"manutec_energy.{way}.cost"] == pytest.approx(20.404247, rel=1e-3)
    assert "closed form" in capsys.readouterr().out


def test_costates_of_motions_in_arcs_are_those_of_the_maximum_principle(tmp_path):
    numbers = switches.main(["--quick", "--figure", str(tmp_path / "switches.png")])
    assert (tmp_path / "switches.png").stat().st_size > 20_000
    costs = {"two_links": 0.391854539516, "wall": 4.0, "slide": 1.8016031225, "catalysts": -0.0480556859}
    assert {name: numbers[f"{name}.arcs"] for name in costs} == {"two_links": 4, "wall": 3, "slide": 1, "catalysts": 3}
    for name, cost in costs.items():
        assert numbers[f"{name}.cost"] == pytest.approx(cost, abs=1e-9)
        assert numbers[f"{name}.costates"] < 1e-4
        assert numbers[f"{name}.hamiltonian"] < 1e-5
    assert numbers["two_links.hamiltonian"] < 1e-6
    assert numbers["two_links.off"] < 1e-6


def test_wrong_costates_are_seen_by_every_means():
    """The forms can disagree: costates that are off by a thousandth are."""
    for case in switches.cases(quick=True)[1:]:
        answer = switches.answered(case)
        assert answer.miss < 1e-4
        assert replace(answer, costates=1.001 * answer.costates).miss > 5e-4
