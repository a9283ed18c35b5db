"""Every formulation of torque and sensitivities against every other, and Pinocchio, on 200 random trees."""

from typing import Any

import casadi as ca
import numpy as np
import pinocchio
import pytest

import colloc as co
from colloc.dynamics import by_differentiation
from tests.support.random_trees import coordinates, pinocchio_tree, random_loads, random_state, random_tree

pin: Any = pinocchio

RECURSIONS = {
    "composite": co.dynamics.composite_sensitivities,
    "newton_euler": co.dynamics.newton_euler_sensitivities,
    "lie": co.dynamics.lie_sensitivities,
    "lagrange": co.dynamics.lagrange_sensitivities,
    "ad": by_differentiation(co.dynamics.newton_euler),
}


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest error over the size of the block, at least 1."""
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def blocks(recursion, model: co.Model, loads=(), parameters=()) -> ca.Function:
    """tau, dq, dqd, dqdd of a state."""
    symbols = coordinates(model)
    return ca.Function("f", [*symbols, *parameters], [ca.densify(part) for part in recursion(model, *symbols, loads)])


def differences(found, expected) -> list[float]:
    return [relative(np.array(a), np.array(b)) for a, b in zip(found, expected, strict=True)]


@pytest.mark.slow
@pytest.mark.parametrize("group", range(20))
def test_formulations_ad_and_pinocchio_agree(group: int):
    """Ten trees a group, 1 to 40 bodies: all joint kinds, virtual massless links, loads, any gravity."""
    rng = np.random.default_rng(100 + group)
    for k in range(10):
        size = 1 + int(39 * rng.random() ** 3) if k else 40 - group
        model = random_tree(rng, size)
        state, loads = random_state(rng, model), random_loads(rng, model)
        expected = blocks(RECURSIONS["ad"], model, loads)(*state)
        for name in ("newton_euler", "lie", "lagrange"):
            found = blocks(RECURSIONS[name], model, loads)(*state)
            assert max(differences(found, expected)) < 1e-9, (group, k, name)
        share = ca.SX.sym("share")  # of the loads: Pinocchio's derivatives know none
        shared = [co.Load(load.body, share * load.force, share * load.moment, load.point) for load in loads]
        composite = blocks(RECURSIONS["composite"], model, shared, [share])
        assert max(differences(composite(*state, 1), expected)) < 1e-9, (group, k, "composite")
        assert max(differences(composite(*state, 0), pinocchio_blocks(model, state))) < 1e-9, (group, k, "pinocchio")
        symbols = coordinates(model)
        for name, formulation in (
            ("lagrange", co.dynamics.lagrange),
            ("lie", co.dynamics.lie),
        ):  # newton_euler's is the expected one
            torque = ca.Function("f", list(symbols), [formulation(model, *symbols, loads)])(*state)
            assert relative(np.array(torque), np.array(expected[0])) < 1e-9, (group, k, name)


def pinocchio_blocks(model: co.Model, state) -> list[np.ndarray]:
    """tau, dq, dqd, dqdd of Pinocchio's analytical derivatives, in our order of joints."""
    tree = pinocchio_tree(model)
    data = tree.model.createData()
    pin.computeRNEADerivatives(tree.model, data, *(tree.into(vector) for vector in state))
    mass = np.triu(data.M) + np.triu(data.M, 1).T
    derivatives = (np.apply_along_axis(tree.back, 1, block) for block in (data.dtau_dq, data.dtau_dv, mass))
    return [tree.back(data.tau)[:, None], *(np.apply_along_axis(tree.back, 0, block) for block in derivatives)]


@pytest.mark.parametrize("name", RECURSIONS)
def test_only_structural_nonzeros_are_stored(name: str):
    """An entry needs one joint to be an ancestor of the other; AD's pattern is never exceeded."""
    rng = np.random.default_rng(7)
    model = random_tree(rng, 15)
    symbols = coordinates(model)
    automatic = RECURSIONS["ad"](model, *symbols, ())
    for block, reference in zip(RECURSIONS[name](model, *symbols, ())[1:], automatic[1:], strict=True):
        extra = ca.Sparsity.nnz(block.sparsity() + reference.sparsity()) - reference.nnz()
        assert extra <= 0.05 * reference.nnz(), (name, block.nnz(), reference.nnz())
