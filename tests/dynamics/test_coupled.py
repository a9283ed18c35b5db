"""Joints that follow others: all against the same tree without couplings, by virtual work; problems and loops."""

import importlib
import pickle
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import colloc as co

Coupling = co.model.Coupling
COUPLINGS = {"b3": Coupling("b1", -2.0, 0.3), "b4": Coupling("b1", 0.7), "b0": Coupling("b5", 1.5)}
RECURSIONS = ("composite", "newton_euler", "lagrange", "lie", "regular")


def bodies(rng: np.random.Generator) -> list[co.Body]:
    """Six links, of which the fourth follows an ancestor, the fifth a cousin and the root a descendant."""
    links = []
    for k in range(6):
        spread = rng.normal(size=(3, 3))
        tensor = np.trace(spread @ spread.T) * np.eye(3) - spread @ spread.T
        make = co.revolute if k % 3 else co.prismatic
        passive = co.Passive(0.3, 1.0, 0.2, 0.1, friction=co.model.Friction(0.2, 0.3))
        axis, place = rng.normal(size=3).tolist(), co.placement(rng.normal(size=3), rng.uniform(-1, 1, 3))
        parent = None if k == 0 else f"b{max(0, k - 1 - k % 2)}"
        joint = make(axis, place, passive=passive)
        links.append(co.Body(f"b{k}", joint, parent, mass=1.0 + k, com=rng.normal(size=3), inertia=tensor))
    return links


@pytest.fixture(scope="module")
def pair() -> tuple[co.Model, co.Model]:
    links = bodies(np.random.default_rng(0))
    return co.Model(links, couplings=COUPLINGS), co.Model(links)


@pytest.fixture(scope="module")
def state() -> tuple[np.ndarray, ...]:
    """q, qd, qdd of the coordinates, and of all joints, written out."""
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 3))
    every = [np.array([1.5 * x[2], x[0], x[1], -2.0 * x[0], 0.7 * x[0], x[2]]) for x in (q, qd, qdd)]
    every[0][3] += 0.3
    return q, qd, qdd, *every


C = np.array([[0, 0, 1.5], [1, 0, 0], [0, 1, 0], [-2, 0, 0], [0.7, 0, 0], [0, 0, 1]])


def test_coordinates_are_those_of_joints_that_follow_none(pair):
    model, tree = pair
    assert model.joint_names == ("b1", "b2", "b5")
    assert (model.n, model.n_q, model.tree.n) == (3, 3, 6)
    assert model.tree.joint_names == tree.joint_names
    assert np.array_equal(np.array(ca.DM(model.coupled_motion(ca.SX(3, 1)).C)), C)
    assert "b3 = -2 b1 + 0.3" in repr(model)


@pytest.mark.parametrize("name", RECURSIONS)
def test_torques_and_derivatives_are_the_trees_by_virtual_work(pair, state, name):
    recursion = getattr(co.dynamics, f"{name}_sensitivities")
    ours, theirs = (co.Evaluator(model, sensitivities=recursion) for model in pair)
    q, qd, qdd, *every = state
    mine, tree = ours.sensitivities(q, qd, qdd), theirs.sensitivities(*every)
    np.testing.assert_allclose(mine.tau, C.T @ tree.tau, atol=1e-11)
    for slope in ("dq", "dqd", "dqdd"):
        np.testing.assert_allclose(getattr(mine, slope), C.T @ getattr(tree, slope) @ C, atol=1e-10)


def test_recursions_agree_with_differentiation_of_a_formulation(pair, state):
    q, qd, qdd = state[:3]
    by_hand = co.Evaluator(pair[0]).sensitivities(q, qd, qdd)
    for formulation in (co.dynamics.newton_euler, co.dynamics.lagrange, co.dynamics.lie):
        recursion = co.dynamics.by_differentiation(formulation)
        by_casadi = co.Evaluator(pair[0], sensitivities=recursion).sensitivities(q, qd, qdd)
        for one, other in zip(by_hand, by_casadi, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-10)


def test_second_derivatives_are_those_of_casadi(pair, state):
    symbols, mu = [ca.SX.sym(name, 3) for name in ("q", "qd", "qdd")], ca.SX.sym("mu", 3)
    q, qd, qdd = symbols
    hessian = co.dynamics.total_hessian(co.dynamics.lie_hessian, pair[0], q, qd, qdd, mu)
    tau = co.dynamics.inverse_dynamics(co.dynamics.newton_euler, pair[0], q, qd, qdd)
    difference = hessian - ca.hessian(ca.dot(mu, tau), ca.vertcat(*symbols))[0]
    value = ca.Function("difference", [*symbols, mu], [difference])(*state[:3], [1.0, -2.0, 3.0])
    assert np.abs(np.array(value)).max() < 1e-9


def test_forward_dynamics_undo_inverse_dynamics(pair, state):
    evaluator, (q, qd, qdd) = co.Evaluator(pair[0]), state[:3]
    np.testing.assert_allclose(evaluator.mass_matrix(q), evaluator.sensitivities(q, qd, qdd).dqdd, atol=1e-11)
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, evaluator.torque(q, qd, qdd)), qdd, atol=1e-11)


def test_forward_dynamics_name_the_joint_without_inertia():
    light = [co.Body("a", co.revolute()), co.Body("b", co.revolute(), "a"), co.Body("c", co.revolute(), mass=1.0)]
    heavy = [*light[:2], co.Body("c", co.revolute(), mass=1.0, com=(1.0, 0, 0))]
    model = co.Model(heavy, couplings={"b": Coupling("a")})
    with pytest.raises(co.InputError, match="no inertia resists joint 'a'; give"):
        co.Evaluator(model).forward_dynamics([0.0, 0.0], [0.0, 0.0], [0.0, 0.0])


def test_power_is_the_rate_of_energy(pair, state):
    """d/dt of kinetic and potential energy is torque times rate, less what damping and friction take."""
    frictionless = [
        co.Body(b.name, type(b.joint)(b.joint.before, b.joint.screw, b.joint.after), b.parent, b.mass, b.com, b.inertia)
        for b in pair[0].bodies
    ]
    model = co.Model(frictionless, couplings=COUPLINGS)
    q, qd, qdd = (ca.SX.sym(name, 3) for name in ("q", "qd", "qdd"))
    energy = co.dynamics.kinetic_energy(model, q, qd) + co.dynamics.potential_energy(model, q)
    power = ca.jtimes(energy, ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    work = ca.dot(co.dynamics.inverse_dynamics(co.dynamics.newton_euler, model, q, qd, qdd), qd)
    values = ca.Function("f", [q, qd, qdd], [power, work])(*state[:3])
    assert float(values[0]) == pytest.approx(float(values[1]), rel=1e-12)


def test_jacobians_and_loads_go_with_the_coordinates(pair, state):
    q, qd, qdd = state[:3]
    symbols = [ca.SX.sym(name, 3) for name in ("q", "qd", "qdd")]
    at = co.model.point_motion(pair[0], "b4", (1.0, 2.0, 3.0), q=symbols[0])
    jacobian = co.dynamics.point_jacobian(pair[0], "b4", (1.0, 2.0, 3.0), symbols[0]).linear
    gap = ca.Function("gap", symbols, [jacobian - ca.jacobian(at.position, symbols[0])])(q, qd, qdd)
    assert np.abs(np.array(gap)).max() < 1e-12
    drag = co.Load("b3", force=lambda now: now.point("b4").velocity, point=(1.0, 2.0, 3.0))
    loaded, step = co.Evaluator(pair[0], loads=[drag]), 1e-6
    moved = [(loaded.torque(q + h, qd, qdd) - loaded.torque(q - h, qd, qdd)) / (2 * step) for h in step * np.eye(3)]
    size = np.abs(moved).max()
    np.testing.assert_allclose(loaded.sensitivities(q, qd, qdd).dq, np.transpose(moved), atol=1e-8 * size)


def gripper() -> co.Model:
    """A hand on a slide whose two fingers close together."""
    limits = co.Limits(position=(0.0, 0.04), torque=(-20.0, 20.0))
    finger = {"mass": 0.1, "inertia": (1e-4, 1e-4, 1e-5)}
    hand = co.Body("hand", co.prismatic((0, 0, 1), limits=co.Limits(torque=(-50.0, 50.0))), mass=1.0)
    left = co.Body("left", co.prismatic((0, 1, 0), limits=limits), "hand", **finger)
    right = co.Body("right", co.prismatic((0, -1, 0), limits=co.Limits(position=(0.0, 0.03))), "hand", **finger)
    return co.Model([hand, left, right], gravity=(0, 0, -9.81), couplings={"right": Coupling("left")})


def test_a_problem_sees_the_coordinates_that_are_left():
    model = gripper()
    assert model.limits("position")[1].tolist() == [np.inf, 0.03]  # the tighter of both fingers
    problem = co.Problem(
        model=model,
        duration=0.5,
        minimize=0.5 * co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(0.2, 0.03), qd=0.0)],
    )
    solution = co.solve(problem, co.BSpline(10, degree=5))
    assert solution.status == co.solver.Status.SOLVED
    # Both fingers, 0.2 kg, by the cubic of least effort: |a| = 6 d / T2 at the ends; the integral of its square.
    share = 0.5 * 0.2**2 * 12 * 0.03**2 / 0.5**3
    lifted = 0.5 * (1.2**2 * 12 * 0.2**2 / 0.5**3 + (1.2 * 9.81) ** 2 * 0.5)
    assert solution.cost == pytest.approx(share + lifted, rel=1e-6)
    assert co.verify(solution).forward_error < 1e-6
    right = solution.evaluate(lambda now: now.point("right").position, 0.5)
    np.testing.assert_allclose(right, [0.0, -0.03, 0.2], atol=1e-8)


def test_a_loop_may_contain_joints_that_follow_each_other():
    links = bodies(np.random.default_rng(3))
    model = co.Model(links, couplings={"b3": Coupling("b1", -2.0, 0.3), "b5": Coupling("b2", 0.5)})
    loop = co.loops.spherical_loop("tie", "b4", co.loops.Frame("b2", (0.1, 0.2, 0.3)))
    symbols = [ca.SX.sym(name, model.n) for name in ("q", "qd", "qdd")]
    closures = importlib.import_module("colloc.loops.closure")
    path = closures.joint_path(model, loop, symbols[0])
    residual = closures.residual(loop, path.transform)
    moved, mu = closures.moving(path, *symbols[1:]), ca.SX([1.0, -2.0, 0.5])
    ours = [closures.loop_jacobian(loop, model.n, moved).value, closures.loop_hessian(loop, model.n, moved, mu).value]
    theirs = [ca.jacobian(residual, symbols[0]), ca.hessian(ca.dot(mu, residual), symbols[0])[0]]
    for mine, other in zip(ours, theirs, strict=True):
        gap = ca.Function("gap", symbols, [mine - other])(*np.random.default_rng(4).normal(size=(3, model.n)))
        assert np.abs(np.array(gap)).max() < 1e-11


def test_one_program_for_many_models_keeps_to_their_couplings():
    arm = co.problem.parametrised(gripper())
    other = replace(gripper(), couplings={"right": Coupling("left", 2.0)})
    (values,) = arm.values(gripper()).values()
    assert values.size == len(arm.names)
    with pytest.raises(co.InputError, match="couplings must be right = Coupling"):
        arm.values(other)


def test_a_model_goes_to_other_processes_with_its_couplings(pair):
    again = pickle.loads(pickle.dumps(pair[0]))
    assert dict(again.couplings) == COUPLINGS
    assert again.joint_names == pair[0].joint_names


def test_holding_a_leader_holds_what_follows(pair):
    held = pair[0].frozen({"b1": 0.4})
    assert held.joint_names == ("b2", "b5")
    assert list(held.couplings) == ["b0"]
    q = np.random.default_rng(5).normal(size=2)
    whole = co.Evaluator(pair[0]).point("b5", (0.1, 0.2, 0.3), q=[0.4, *q]).position
    np.testing.assert_allclose(co.Evaluator(held).point("b5", (0.1, 0.2, 0.3), q=q).position, whole, atol=1e-12)


@pytest.mark.parametrize(
    ("couplings", "words"),
    [
        ({"b9": Coupling("b1")}, r"no joint that moves named 'b9'"),
        ({"b1": Coupling("b9")}, r"no joint that moves named 'b9'"),
        ({"b1": Coupling("b2"), "b2": Coupling("b3")}, r"joint 'b1' follows 'b2', which follows another joint"),
        ({"b1": Coupling("b1")}, r"joint 'b1' follows 'b1'"),
        ({"b1": "b2"}, r"coupling of joint 'b1' must be a Coupling"),
    ],
)
def test_couplings_that_cannot_be_are_refused(couplings, words):
    with pytest.raises(co.InputError, match=words):
        co.Model(bodies(np.random.default_rng(0)), couplings=couplings)


def test_limits_that_exclude_each_other_are_refused():
    joints = [co.revolute(limits=co.Limits(position=(0.0, 1.0))), co.revolute(limits=co.Limits(position=(2.0, 3.0)))]
    links = [co.Body(f"b{k}", joint, mass=1.0) for k, joint in enumerate(joints)]
    with pytest.raises(co.InputError, match="limits of position of joint 'b0' exclude those of joints that follow it"):
        co.Model(links, couplings={"b1": Coupling("b0")})
