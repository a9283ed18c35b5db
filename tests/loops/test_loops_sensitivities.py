"""Derivatives of the inverse dynamics of closed chains: against automatic and central differences."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.loops import sensitivities as module
from colloc.models.closed.five_bar import five_bar
from colloc.models.closed.four_bar import four_bar
from colloc.models.closed.parallel_scara import parallel_scara
from colloc.models.closed.rower import oar_load, rower
from tests.support.random_loops import closed_chain
from tests.support.random_trees import evaluate, random_loads, relative_error

CASES = (
    (("spherical",), 8), (("revolute",), 11), (("on_line", "on_plane"), 9), (("spherical", "on_line"), 12),
    (("weld",), 12), (("prismatic", "planar"), 15), (("cylindrical",), 11),
)  # fmt: skip
DRIVES = ("independent", "one more", "all")
FIVE = ("waist", "upper_arm", "crank", "forearm", "rod")
MODELS = (
    four_bar(), four_bar(actuators=("rocker",)), four_bar(actuators=("crank", "coupler"), weights=(1.0, 3.0)),
    five_bar(), five_bar(actuators=("waist", "upper_arm", "rod")), five_bar(actuators=FIVE),
    parallel_scara(), rower(),
)  # fmt: skip
every_chain = pytest.mark.parametrize("number", range(len(CASES) + len(MODELS)))


class Case(NamedTuple):
    """A chain with loads, at a posture and rates of its independent joints, and weights for its torques."""

    chain: loops.ClosedChain
    loads: Sequence[co.Load]
    state: tuple[np.ndarray, np.ndarray, np.ndarray]
    weights: np.ndarray


@lru_cache
def case(number: int) -> Case:
    """Random chains, driven in three ways alternately, then the models."""
    rng = np.random.default_rng(500 + number)
    if number >= len(CASES):
        number -= len(CASES)
        return _case(rng, MODELS[number], [oar_load()] if MODELS[number].model.name == "rower" else [])
    drawn = closed_chain(rng, *CASES[number])
    chain = loops.ClosedChain(drawn.model, drawn.loops, guess=drawn.q)
    names = {
        "independent": chain.independent,
        "one more": [*chain.independent, chain.dependent[0]],
        "all": drawn.model.joint_names,
    }[DRIVES[number % len(DRIVES)]]
    weights = rng.uniform(0.5, 2.0, len(names))
    chain = loops.ClosedChain(drawn.model, drawn.loops, chain.independent, names, weights, chain.posture)
    return _case(rng, chain, random_loads(rng, drawn.model) if number % 2 else [])


def _case(rng: np.random.Generator, chain: loops.ClosedChain, loads: Sequence[co.Load]) -> Case:
    ud, udd = rng.normal(size=(2, chain.mobility))
    return Case(chain, loads, (chain.posture, ud, udd), rng.normal(size=chain.model.n))


def symbols(chain: loops.ClosedChain) -> list[ca.SX]:
    """q, ud, udd."""
    sizes = (("q", chain.model.n), ("ud", chain.mobility), ("udd", chain.mobility))
    return [ca.SX.sym(name, size) for name, size in sizes]


def solved_inside(chain: loops.ClosedChain) -> ca.Function:
    """All coordinates from the independent ones, by a root finder that CasADi differentiates."""
    n, m = chain.model.n, chain.mobility
    u, d = ca.SX.sym("u", m), ca.SX.sym("d", n - m)
    q = ca.SX(n, 1)
    q[chain.independent_dofs, :], q[chain.dependent_dofs, :] = u, d
    problem = {"x": d, "p": u, "g": loops.loop_residual(chain, q)}
    solver = ca.rootfinder("solver", "newton", problem, {"abstol": 1e-14, "error_on_fail": False})
    independent = ca.MX.sym("u", m)
    found = solver(ca.DM(chain.posture[chain.dependent_dofs]), independent)
    return ca.Function("q", [independent], [ca.Function("q", [u, d], [q])(independent, found)])


@lru_cache
def differentiated(number: int) -> list[np.ndarray]:
    """Torques and multipliers, their Jacobians by (u, ud, udd) and the Hessian, through the root finder by AD."""
    chain, loads, state, weights = case(number)
    q, ud, udd = symbols(chain)
    found = loops.chain_inverse_dynamics(chain, q, *loops.dependent_motion(chain, q, ud, udd), loads)
    function = ca.Function("f", [q, ud, udd], list(found))
    x = [ca.MX.sym(name, chain.mobility) for name in ("u", "ud", "udd")]
    tau, multipliers = function(solved_inside(chain)(x[0]), *x[1:])
    stacked = ca.vertcat(*x)
    hessian = ca.hessian(ca.dot(weights, tau), stacked)[0]
    outputs = [tau, multipliers, ca.jacobian(tau, stacked), ca.jacobian(multipliers, stacked), hessian]
    values = ca.Function("f", x, outputs)(state[0][chain.independent_dofs], *state[1:])
    return [np.array(value) for value in values]


def analytic(number: int) -> list[np.ndarray]:
    """The same by the recursions."""
    chain, loads, state, weights = case(number)
    q, ud, udd = symbols(chain)
    first = loops.chain_sensitivities(chain, q, ud, udd, loads)
    second = loops.chain_hessian(chain, q, ud, udd, ca.SX(weights), loads)
    return [np.array(x) for x in ca.Function("f", [q, ud, udd], [*first, second]).call(list(map(ca.DM, state)))]


@every_chain
def test_first_and_second_derivatives_agree_with_automatic_differentiation(number):
    for value, expected in zip(analytic(number), differentiated(number), strict=True):
        assert relative_error(value, expected) < 1e-10


@pytest.mark.parametrize("number", [0, 1, 2, 7, 9, 12, 14])
def test_derivatives_agree_with_central_differences(number):
    """With the loops solved again at every step: torques for the first, first derivatives for the second."""
    chain, loads, state, weights = case(number)
    evaluator, m = loops.ChainEvaluator(chain, loads=loads), chain.mobility
    found, hessian = evaluator.sensitivities(*state), evaluator.hessian(*state, weights)
    x, step = np.concatenate([state[0][chain.independent_dofs], *state[1:]]), 1e-5
    columns: list[list[np.ndarray]] = []
    for e in np.eye(3 * m):
        sides = []
        for sign in (1, -1):
            u, ud, udd = np.split(x + sign * step * e, 3)
            sides.append(evaluator.sensitivities(loops.assemble(chain, u), ud, udd))
        columns.append([(a - b) / (2 * step) for a, b in zip(*sides, strict=True)])
    tau, multipliers, dtau, _ = (np.stack(parts, axis=-1) for parts in zip(*columns, strict=True))
    assert relative_error(found.dtau, tau) < 1e-6
    assert relative_error(found.dmultipliers, multipliers) < 1e-6
    assert relative_error(hessian, np.einsum("i,ijk->jk", weights, dtau)) < 1e-6


def test_cases_cover_redundant_and_exact_actuation_and_other_drives_than_the_independent_joints():
    chains = [case(k).chain for k in range(len(CASES) + len(MODELS))]
    assert sum(chain.redundant for chain in chains) > 5
    assert sum(not chain.redundant for chain in chains) > 5
    exact = [chain for chain in chains if not chain.redundant]
    assert sum(set(chain.actuators) != set(chain.independent) for chain in exact) >= 2
    assert any(len(chain.loops) > 1 for chain in chains)


@pytest.mark.parametrize("loose", ["jacobians", "hessians"])
def test_a_wrong_closure_derivative_shows(monkeypatch, loose):
    """The rate of the Jacobian, then the Hessian of the closures, one part in a hundred too large."""
    number = 2  # fully driven
    right = getattr(module, loose)

    def wrong(*arguments):
        found = right(*arguments)
        return found._replace(rate=1.01 * found.rate) if loose == "jacobians" else found._replace(
            value=1.01 * found.value
        )  # fmt: skip

    monkeypatch.setattr(module, loose, wrong)
    errors = [relative_error(x, y) for x, y in zip(analytic(number), differentiated(number), strict=True)]
    assert errors[2] > 1e-5
    assert errors[4] > 1e-5


def test_loads_that_follow_the_posture_enter_the_first_derivatives_and_are_refused_by_the_second():
    """A spring on the rower's seat: against central differences."""
    chain = rower()
    q, ud, udd = symbols(chain)
    spring = co.Load("hip", force=(-300 * co.model.point_motion(chain.model, "hip", q=q).position[0], 0, 0))
    found = loops.chain_sensitivities(chain, q, ud, udd, [spring])
    function = ca.Function("f", [q, ud, udd], [found.tau, found.dtau])
    u, step, rest = chain.posture[chain.independent_dofs], 1e-6, np.zeros(chain.mobility)

    def torque(x: np.ndarray) -> np.ndarray:
        return np.array(function(loops.assemble(chain, x), rest, rest)[0]).ravel()

    steps = step * np.eye(chain.mobility)
    numeric = np.array([(torque(u + e) - torque(u - e)) / (2 * step) for e in steps]).T
    value = np.array(function(chain.posture, rest, rest)[1])[:, : chain.mobility]
    assert relative_error(value, numeric) < 1e-7
    with pytest.raises(co.InputError, match="no second derivatives: the load on 'hip' depends on the state"):
        loops.chain_hessian(chain, q, ud, udd, ca.SX.ones(chain.model.n), [spring])
    with pytest.raises(co.InputError, match="no derivatives: the load on 'hip' depends on rates"):
        loops.chain_sensitivities(chain, q, ud, udd, [co.Load("hip", force=(-ud[0], 0, 0))])


def test_rates_of_the_dependent_joints_are_derivatives_of_the_assembly():
    """Of the rower: dq/du is the basis, and the evaluator's rates and accelerations are those of a path."""
    chain = rower()
    u0, ud, udd = chain.posture[chain.independent_dofs], *np.random.default_rng(0).normal(size=(2, 5))
    t = 1e-4 * np.arange(-2, 3)
    path = loops.assemble(chain, u0 + t[:, None] * ud + t[:, None] ** 2 / 2 * udd)
    motion = loops.ChainEvaluator(chain).motion(chain.posture, ud, udd)
    first = np.array([1, -8, 0, 8, -1]) / 12e-4
    assert first @ path == pytest.approx(motion.qd, rel=1e-8, abs=1e-8)
    second = np.array([-1, 16, -30, 16, -1]) / 12e-8
    assert second @ path == pytest.approx(motion.qdd, rel=1e-5, abs=1e-5)
    q, rate, change = symbols(chain)
    jacobian = ca.jacobian(loops.dependent_motion(chain, q, rate, change).qd, rate)
    expected = evaluate([jacobian], [q, rate, change], [chain.posture, ud, udd])[0]
    assert chain.basis(chain.posture) == pytest.approx(expected, abs=1e-12)
