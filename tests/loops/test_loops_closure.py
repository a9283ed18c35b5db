"""Closures: residual, Jacobian and the derivatives of both, against Pinocchio, AD and central differences."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc import loops
from colloc.loops import closure as module
from colloc.loops.closure import joint_path, loop_hessian, loop_jacobian, loop_wrench, moving, residual
from tests.support.random_loops import (
    HELD,
    KINDS,
    Closed,
    closed_chain,
    geometric_jacobian,
    held_rows,
    relative_placement,
)
from tests.support.random_trees import coordinates, evaluate

every_kind = pytest.mark.parametrize("kind", KINDS)


@lru_cache
def case(kind: str, seed: int = 0) -> Closed:
    """A chain of nine bodies closed by one loop."""
    return closed_chain(np.random.default_rng([seed, KINDS.index(kind)]), (kind,), 9)


def anywhere(chain: Closed, seed: int = 1) -> list[np.ndarray]:
    """A state in which the loop is open."""
    rng = np.random.default_rng(seed)
    return [chain.q + 0.4 * rng.normal(size=chain.model.n), *rng.normal(size=(2, chain.model.n))]


@every_kind
def test_residual_vanishes_where_the_frames_coincide_up_to_what_is_free(kind):
    for seed in range(4):
        chain = case(kind, seed)
        q, *_ = coordinates(chain.model)
        phi = residual(chain.loops[0], joint_path(chain.model, chain.loops[0], q).transform)
        assert phi.shape == (HELD[kind], 1)
        assert np.abs(evaluate([phi], [q], [chain.q])[0]).max() < 1e-14


@every_kind
def test_relative_transform_agrees_with_pinocchio(kind):
    chain = case(kind)
    q, *_ = coordinates(chain.model)
    state = anywhere(chain)
    found = evaluate([joint_path(chain.model, chain.loops[0], q).transform], [q], state[:1])[0]
    assert found == pytest.approx(relative_placement(chain.model, chain.loops[0], state[0]), abs=1e-13)


@every_kind
def test_jacobian_is_the_gradient_of_the_residual_and_its_rates_are_its_derivatives(kind):
    """Also where the loop is open: J, J' and J'' against AD."""
    chain = case(kind)
    loop, n = chain.loops[0], chain.model.n
    q, qd, qdd = symbols = coordinates(chain.model)
    still = joint_path(chain.model, loop, q)
    phi = residual(loop, still.transform)
    J = ca.jacobian(phi, q)
    rate = ca.reshape(ca.jtimes(ca.vec(J), q, qd), J.shape)
    second = ca.reshape(ca.jtimes(ca.vec(rate), q, qd) + ca.jtimes(ca.vec(J), q, qdd), J.shape)
    found = evaluate(loop_jacobian(loop, n, moving(still, qd, qdd)), symbols, anywhere(chain))
    for value, expected in zip(found, evaluate([J, rate, second], symbols, anywhere(chain)), strict=True):
        assert value == pytest.approx(expected, abs=1e-11)
        assert np.abs(value).max() > 1e-3


@every_kind
def test_hessian_and_its_rates_agree_with_automatic_differentiation(kind):
    chain = case(kind)
    loop, n = chain.loops[0], chain.model.n
    q, qd, qdd = coordinates(chain.model)
    mu = ca.SX.sym("mu", loop.rows)
    still = joint_path(chain.model, loop, q)
    H = ca.hessian(ca.dot(mu, residual(loop, still.transform)), q)[0]
    rate = ca.reshape(ca.jtimes(ca.vec(H), q, qd), H.shape)
    second = ca.reshape(ca.jtimes(ca.vec(rate), q, qd) + ca.jtimes(ca.vec(H), q, qdd), H.shape)
    symbols, values = (q, qd, qdd, mu), [*anywhere(chain), np.random.default_rng(2).normal(size=loop.rows)]
    found = evaluate(loop_hessian(loop, n, moving(still, qd, qdd), mu), symbols, values)
    for value, expected in zip(found, evaluate([H, rate, second], symbols, values), strict=True):
        assert value == pytest.approx(expected, abs=1e-11)


@every_kind
def test_jacobian_agrees_with_central_differences_of_pinocchios_kinematics(kind):
    """The residual is recomputed from Pinocchio's placement of the frames."""
    chain = case(kind)
    loop, (q, *_) = chain.loops[0], anywhere(chain)
    symbols = coordinates(chain.model)
    still = joint_path(chain.model, loop, symbols[0])
    J = evaluate(loop_jacobian(loop, chain.model.n, moving(still, *symbols[1:])), symbols, anywhere(chain))[0]
    step = 1e-6
    sides = [
        np.array([
            np.einsum("ij,kji->k", relative_placement(chain.model, loop, q + sign * step * e), loop.forms)
            for e in np.eye(chain.model.n)
        ])
        for sign in (1, -1)
    ]  # fmt: skip
    assert J.reshape(loop.rows, -1) == pytest.approx((sides[0] - sides[1]).T / (2 * step), abs=1e-8)


@every_kind
def test_closed_rows_span_what_the_kind_holds(kind):
    """Same row space as the textbook's held directions of Pinocchio's relative velocity."""
    chain = case(kind)
    symbols = coordinates(chain.model)
    still = joint_path(chain.model, chain.loops[0], symbols[0])
    zero = np.zeros(chain.model.n)
    moved = moving(still, *symbols[1:])
    J = evaluate(loop_jacobian(chain.loops[0], chain.model.n, moved), symbols, [chain.q, zero, zero])[0]
    J, expected = J.reshape(HELD[kind], -1), geometric_jacobian(chain, chain.q)
    both = np.linalg.svd(np.vstack([J, expected]), compute_uv=False)
    assert (both > 1e-10 * both[0]).sum() == HELD[kind]


@every_kind
def test_wrench_of_a_multiplier_does_no_work_along_what_is_free(kind):
    """And pushes along what is held with the multiplier's own size."""
    chain = case(kind)
    loop = chain.loops[0]
    transform = ca.SX(relative_placement(chain.model, loop, chain.q))
    wrenches = np.array([
        np.array(ca.DM(loop_wrench(loop, transform, ca.SX(e)))).ravel() for e in np.eye(loop.rows)
    ])  # fmt: skip
    wrenches = np.hstack([wrenches[:, 3:], wrenches[:, :3]])  # (force, moment), at the second frame's origin
    held = held_rows(kind, chain.axes[0])
    assert wrenches @ (np.eye(6) - held.T @ held) == pytest.approx(0, abs=1e-12)
    assert wrenches @ wrenches.T == pytest.approx(np.eye(loop.rows), abs=1e-12)


def test_a_wrong_screw_rate_breaks_the_derivatives(monkeypatch):
    """The bracket the wrong way round."""
    chain = case("revolute")
    q, qd, qdd = symbols = coordinates(chain.model)
    loop, right = chain.loops[0], module.ad
    found = []
    for bracket in (right, lambda x: -right(x)):
        monkeypatch.setattr(module, "ad", bracket)
        moved = moving(joint_path(chain.model, loop, q), qd, qdd)
        found.append(evaluate(loop_jacobian(loop, chain.model.n, moved)[1:], symbols, anywhere(chain)))
    for value, wrong in zip(*found, strict=True):
        assert np.abs(value - wrong).max() > 1e-2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: loops.weld("", "a"), "loop name must be a non-empty string"),
        (lambda: loops.weld("w", "a", "a"), "loop 'w' ties 'a' to itself"),
        (lambda: loops.weld("w", None), "loop 'w' ties 'the world' to itself"),
        (lambda: loops.weld("w", 3), "first of loop 'w' must be a Frame"),
        (lambda: loops.revolute_loop("w", "a", axis=(0, 0, 0)), "axis must be a non-zero vector"),
        (lambda: loops.Frame("a", ca.SX.sym("l", 3)), "placement of the frame on 'a' must be numbers"),
        (lambda: loops.Frame("a", 2 * np.eye(4)), "placement must be a rigid homogeneous transform"),
    ],
)
def test_wrong_input_is_named(make, message):
    with pytest.raises(co.InputError, match=message):
        make()
