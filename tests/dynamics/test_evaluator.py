"""The numeric face: shapes, single samples, state-dependent loads, and errors."""

# Wrong types are among what is tested.
# pyright: reportArgumentType=false

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link
from colloc.transcription.differences import central_difference
from tests.support.random_trees import coordinates, random_loads, random_tree


@pytest.fixture(scope="module")
def tree() -> tuple[co.Model, list[co.Load]]:
    rng = np.random.default_rng(5)
    model = random_tree(rng, 9, virtual=False)
    return model, random_loads(rng, model)


def samples(model: co.Model, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal((count, model.n)) for _ in range(3)]


def test_batches_equal_samples_one_by_one(tree):
    model, loads = tree
    evaluator = co.Evaluator(model, loads=loads)
    q, qd, qdd = samples(model, 7)
    together = evaluator.sensitivities(q, qd, qdd)
    assert [part.shape for part in together] == [(7, model.n)] + 3 * [(7, model.n, model.n)]
    for k in range(7):
        for part, one in zip(together, evaluator.sensitivities(q[k], qd[k], qdd[k]), strict=True):
            np.testing.assert_array_equal(part[k], one)


@pytest.mark.parametrize("dynamics", [co.dynamics.newton_euler, co.dynamics.lagrange, co.dynamics.lie])
def test_torque_is_the_formulations(tree, dynamics):
    model, loads = tree
    q, qd, qdd = samples(model, 4)
    symbols = coordinates(model)
    function = ca.Function("f", list(symbols), [dynamics(model, *symbols, loads)])
    expected = [np.array(function(*row)).ravel() for row in zip(q, qd, qdd, strict=True)]
    found = co.Evaluator(model, dynamics=dynamics, loads=loads).torque(q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-13)


def test_derivatives_of_springs_and_drag_are_included():
    """Against central differences of the torque."""
    loads = [
        co.Load("elbow", force=lambda now: -2.0 * now.point("elbow").velocity, point=(0.0, 0.1, 0.0)),
        co.Load("shoulder", moment=lambda now: ca.vertcat(0, 0, now.t - 3.0 * now.q[0] ** 3)),
    ]
    evaluator = co.Evaluator(two_link(9.81), loads=loads)
    state = samples(evaluator.model, 3)
    found = evaluator.sensitivities(*state, t=[0.0, 0.5, 1.0])
    h = 1e-6
    for block, part in enumerate((found.dq, found.dqd, found.dqdd)):
        for m in range(2):
            sides = []
            for sign in (1, -1):
                moved = [array.copy() for array in state]
                moved[block][:, m] += sign * h
                sides.append(evaluator.torque(*moved, t=[0.0, 0.5, 1.0]))
            np.testing.assert_allclose(part[:, :, m], (sides[0] - sides[1]) / (2 * h), atol=1e-7)


def test_forward_after_inverse_is_the_identity(tree):
    model, loads = tree
    evaluator = co.Evaluator(model, loads=loads)
    q, qd, qdd = samples(model, 6)
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, evaluator.torque(q, qd, qdd)), qdd, atol=1e-8)
    mass = evaluator.mass_matrix(q)
    np.testing.assert_allclose(mass, evaluator.sensitivities(q, qd, qdd).dqdd, atol=1e-11)
    assert np.linalg.eigvalsh(mass).min() > 0


def test_reactions_have_the_torque_along_the_axis():
    evaluator = co.Evaluator(two_link(9.81))
    q, qd, qdd = samples(evaluator.model, 5)
    found = evaluator.reactions(q, qd, qdd)
    assert found.force.shape == found.moment.shape == (5, 2, 3)
    np.testing.assert_allclose(found.moment[:, :, 2], evaluator.torque(q, qd, qdd), atol=1e-12)


def test_points_in_closed_form():
    evaluator = co.Evaluator(two_link())
    q, qd, _ = samples(evaluator.model, 5)
    tip = evaluator.point("elbow", q=q, qd=qd)
    angles = np.cumsum(q, axis=1)
    np.testing.assert_allclose(tip.position[:, 0], 0.4 * np.cos(angles).sum(axis=1), atol=1e-14)
    rates = np.cumsum(qd, axis=1)
    np.testing.assert_allclose(tip.velocity[:, 1], (0.4 * np.cos(angles) * rates).sum(axis=1), atol=1e-14)
    assert evaluator.point("elbow", q=(0.1, 0.2)).position.shape == (3,)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.torque(np.zeros((3, 3)), 0.0, 0.0), r"q must have shape \(3, 2\), got shape \(3, 3\)"),
        (lambda e: e.torque(np.zeros((3, 2)), np.zeros((4, 2)), 0.0), r"shape \(4, 2\)"),
        (lambda e: e.torque((0, 0, 0), 0.0, 0.0), r"q must have shape \(2,\), got shape \(3,\)"),
        (lambda e: e.torque((0, np.nan), 0.0, 0.0), "q must be finite"),
        (lambda e: e.torque((0, 0), (0, 0), "fast"), "qdd must be numbers, got 'fast'"),
        (lambda e: co.Evaluator("arm"), "model must be a Model, got 'arm'"),
        (lambda e: co.Evaluator(e.model, dynamics="lie"), "dynamics needs newton_euler, lagrange, lie .* got 'lie'"),
        (
            lambda e: co.Evaluator(e.model, sensitivities=co.dynamics.lie).sensitivities((0, 0), (0, 0), (0, 0)),
            "sensitivities must return Sensitivities",
        ),
        (lambda e: e.point("hand", q=(0, 0)), "no body named 'hand'"),
        (lambda e: co.Evaluator(e.model, loads=[co.Load("hand")]), "no body named 'hand'"),
        (lambda e: co.Evaluator(e.model, compile="yes"), "compile must be True, False, None or a Compile, got 'yes'"),
        (lambda e: co.Evaluator(co.Model([co.Body("a", co.revolute(), mass=ca.SX.sym("m"))])), "contains symbols"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(co.InputError, match=message):
        call(co.Evaluator(two_link()))


@pytest.mark.parametrize("choice", [False, True])
def test_memory_of_an_earlier_result_is_used_again(choice: bool):
    evaluator = co.Evaluator(two_link(), compile=choice)
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 3, 20, 2))
    found = evaluator.sensitivities(*first)
    again = evaluator.sensitivities(*second, out=found)
    assert all(np.shares_memory(a, b) for a, b in zip(found.nonzeros, again.nonzeros, strict=True))
    for mine, expected in zip(again, evaluator.sensitivities(*second), strict=True):
        np.testing.assert_array_equal(mine, expected)
    with pytest.raises(co.InputError, match="out must hold 5 samples"):
        evaluator.sensitivities(*first[:, :5], out=found)


def test_compiled_evaluations_equal_interpreted_ones():
    loads = [co.Load("elbow", force=lambda now: -0.3 * now.point("elbow").velocity, point=(0.1, 0.0, 0.0))]
    ours, other = (co.Evaluator(two_link(9.81), loads=loads, compile=choice) for choice in (True, False))
    q, qd, qdd = np.random.default_rng(0).standard_normal((3, 11, 2))
    calls = [
        lambda e: [e.torque(q, qd, qdd)],
        lambda e: list(e.sensitivities(q, qd, qdd)),
        lambda e: list(e.reactions(q, qd, qdd)),
        lambda e: [e.mass_matrix(q)],
        lambda e: [e.forward_dynamics(q, qd, qdd)],
        lambda e: list(e.point("elbow", (0.1, 0.2, 0.0), q=q, qd=qd, qdd=qdd)),
        lambda e: [e.torque(q[0], qd[0], qdd[0])],
    ]
    for call in calls:
        for mine, expected in zip(call(ours), call(other), strict=True):
            assert mine.shape == expected.shape
            np.testing.assert_allclose(mine, expected, rtol=0, atol=1e-13)


def test_an_evaluator_without_a_compiler_warns_and_works(monkeypatch: pytest.MonkeyPatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    state = (0.1, 0.2), (0.3, 0.4), (0.5, 0.6)
    with pytest.warns(co.kernels.CompileWarning, match="no C compiler found"):
        found = co.Evaluator(two_link(), compile=True).torque(*state)
    np.testing.assert_array_equal(found, co.Evaluator(two_link()).torque(*state))


def test_reaction_sensitivities_follow_loads_that_depend_on_the_state():
    """A ground reaction, for one: against differences, and the recursion alone would be wrong."""
    model = random_tree(np.random.default_rng(11), 6)
    loads = [
        co.Load(
            model.bodies[-1].name,
            force=lambda now: ca.vertcat(-40 * now.q[0], 5 * now.qd[-1] ** 2, now.qdd[0] * now.q[-1]),
            moment=lambda now: ca.vertcat(now.t, 0, ca.sin(now.q[1])),
            point=(0.1, 0.0, 0.2),
        )
    ]
    evaluator = co.Evaluator(model, loads=loads)
    state, t = samples(model, 4), np.array([0.0, 0.3, 0.6, 1.0])
    found = evaluator.reaction_sensitivities(*state, t=t)
    values = evaluator.reactions(*state, t=t)
    for own, value in zip(found.reactions, values, strict=True):
        np.testing.assert_allclose(own, value, atol=1e-12)
    for slopes, name in ((found.force, "force"), (found.moment, "moment")):
        for block, slope in enumerate(slopes):
            assert slope.shape == (4, len(model.bodies), 3, model.n)
            for m in range(model.n):

                def moved(x: np.ndarray, block: int = block, name: str = name, m: int = m) -> np.ndarray:
                    own = [array.copy() for array in state]
                    own[block][:, m] += x[0]
                    return getattr(evaluator.reactions(*own, t=t), name)

                expected = central_difference(moved, np.zeros(1), np.ones(1))
                np.testing.assert_allclose(slope[..., m], expected, atol=1e-7 * max(1.0, np.abs(expected).max()))


def test_no_samples_give_no_results():
    evaluator = co.Evaluator(two_link())
    n, bodies = evaluator.model.n, len(evaluator.model.bodies)
    none = np.zeros((0, n))
    assert evaluator.torque(none, none, none).shape == (0, n)
    assert evaluator.sensitivities(none, none, none).dq.shape == (0, n, n)
    assert evaluator.mass_matrix(none).shape == (0, n, n)
    assert evaluator.reactions(none, none, none).force.shape == (0, bodies, 3)
