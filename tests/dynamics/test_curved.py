"""Joints that follow others by curves: all against CasADi's derivatives of the tree's torques by virtual work."""

import pickle

import casadi as ca
import numpy as np
import pytest

import colloc as co
from tests.dynamics.test_coupled import bodies
from tests.plot.test_viewer import scene_of

Coupling = co.model.Coupling
SPLINE = co.model.CubicSpline((-2.0, -1.0, 0.2, 0.9, 2.0), (0.3, -0.2, 0.4, 0.1, 0.5))
BENT = co.model.Polynomial((0.1, -0.4, 0.3, 0.2, 0.15, 0.1))
FIRST = Coupling("b1", -2.0, 0.3, SPLINE)
COUPLINGS = {"b3": FIRST, "b4": Coupling("b1", 0.7), "b0": Coupling("b3", 1.5, 0.2, BENT).after(FIRST)}
COUPLINGS["b5"] = Coupling("b2", curve=BENT)
RECURSIONS = ("composite", "newton_euler", "lagrange", "lie", "regular")
STATE = np.random.default_rng(1).normal(size=(3, 2))


@pytest.fixture(scope="module")
def model() -> co.Model:
    return co.Model(bodies(np.random.default_rng(0)), couplings=COUPLINGS)


@pytest.fixture(scope="module")
def truth(model) -> dict[str, np.ndarray]:
    """Torques and derivatives by CasADi, from those of the tree at positions, rates and accelerations by CasADi."""
    q, qd, qdd, mu = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd", "mu"))
    places = model.coupled_motion(q).positions
    rates = ca.jtimes(places, q, qd)
    accelerations = ca.jtimes(rates, ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    tau = co.dynamics.inverse_dynamics(co.dynamics.lagrange, model.tree, places, rates, accelerations)
    tau = ca.jacobian(places, q).T @ tau
    x = ca.vertcat(q, qd, qdd)
    hessian = ca.hessian(ca.dot(mu, tau), x)[0]
    outputs = {"tau": tau, "hessian": hessian, "places": places, "rates": rates, "accelerations": accelerations}
    outputs |= {name: ca.jacobian(tau, by) for name, by in (("dq", q), ("dqd", qd), ("dqdd", qdd))}
    values = ca.Function("truth", [q, qd, qdd, mu], list(outputs.values()))(*STATE, [1.0, -2.0])
    return {name: np.array(value) for name, value in zip(outputs, values, strict=True)}


def test_all_joints_move_with_the_coordinates(model, truth):
    assert model.joint_names == ("b1", "b2")
    motion = model.coupled_motion(*(ca.SX(ca.DM(row)) for row in STATE))
    for ours, name in ((motion.positions, "places"), (motion.rates, "rates"), (motion.accelerations, "accelerations")):
        np.testing.assert_allclose(np.array(ca.DM(ours)), truth[name], atol=1e-13)
    assert "b5 = 1 Polynomial(b2)" in repr(model)


@pytest.mark.parametrize("name", RECURSIONS)
def test_torques_and_derivatives(model, truth, name):
    recursion = getattr(co.dynamics, f"{name}_sensitivities")
    ours = co.Evaluator(model, sensitivities=recursion).sensitivities(*STATE)
    size = np.abs(truth["dq"]).max()
    np.testing.assert_allclose(ours.tau, truth["tau"].ravel(), atol=1e-13 * size)
    for slope in ("dq", "dqd", "dqdd"):
        np.testing.assert_allclose(getattr(ours, slope), truth[slope], atol=1e-12 * size)


@pytest.mark.parametrize("door", ["total_hessian", "lie_hessian"])
def test_second_derivatives(model, truth, door):
    bare = model if door == "total_hessian" else co.Model([rigid(b) for b in model.bodies], couplings=COUPLINGS)
    q, qd, qdd, mu = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd", "mu"))
    recursion = (co.dynamics.lie_hessian,) if door == "total_hessian" else ()
    hessian = getattr(co.dynamics, door)(*recursion, bare, q, qd, qdd, mu)
    ours = np.array(ca.Function("f", [q, qd, qdd, mu], [hessian])(*STATE, [1.0, -2.0]))
    if door == "total_hessian":
        theirs = truth["hessian"]
    else:
        tau = co.dynamics.inverse_dynamics(co.dynamics.lie, bare, q, qd, qdd)
        again = ca.hessian(ca.dot(mu, tau), ca.vertcat(q, qd, qdd))[0]
        theirs = np.array(ca.Function("f", [q, qd, qdd, mu], [again])(*STATE, [1.0, -2.0]))
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * np.abs(theirs).max())


def rigid(body: co.Body) -> co.Body:
    joint = co.model.Joint(body.joint.before, body.joint.screw, body.joint.after)
    return co.Body(body.name, joint, body.parent, body.mass, body.com, body.inertia)


def test_reactions_and_their_derivatives(model):
    q, qd, qdd = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    ours = co.dynamics.total_reaction_sensitivities(model, q, qd, qdd)
    for slopes, value in ((ours.force, ours.reactions.force), (ours.moment, ours.reactions.moment)):
        by = ca.jacobian(ca.vec(value), ca.vertcat(q, qd, qdd))
        gap = ca.Function("gap", [q, qd, qdd], [ca.horzcat(*slopes) - by, by])(*STATE)
        assert np.abs(np.array(gap[0])).max() < 1e-12 * np.abs(np.array(gap[1])).max()


def test_forward_dynamics_undo_inverse_dynamics(model, truth):
    evaluator, (q, qd, qdd) = co.Evaluator(model), STATE
    np.testing.assert_allclose(evaluator.mass_matrix(q), truth["dqdd"], rtol=1e-11)
    np.testing.assert_allclose(evaluator.forward_dynamics(q, qd, evaluator.torque(q, qd, qdd)), qdd, atol=1e-11)


def test_power_is_the_rate_of_energy(model):
    still = co.Model([rigid(b) for b in model.bodies], couplings=COUPLINGS)
    q, qd, qdd = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    energy = co.dynamics.kinetic_energy(still, q, qd) + co.dynamics.potential_energy(still, q)
    power = ca.jtimes(energy, ca.vertcat(q, qd), ca.vertcat(qd, qdd))
    work = ca.dot(co.dynamics.inverse_dynamics(co.dynamics.newton_euler, still, q, qd, qdd), qd)
    values = ca.Function("f", [q, qd, qdd], [power, work])(*STATE)
    assert float(values[0]) == pytest.approx(float(values[1]), rel=1e-12)


def test_points_their_jacobians_and_these_rates(model):
    q, qd, qdd = (ca.SX.sym(name, 2) for name in ("q", "qd", "qdd"))
    place = (1.0, 2.0, 3.0)
    at = co.model.point_motion(model, "b4", place, q=q, qd=qd, qdd=qdd)
    jacobian = co.dynamics.point_jacobian(model, "b4", place, q).linear
    rate = co.dynamics.point_jacobian_rate(model, "b4", place, q, qd).linear
    true = ca.jacobian(at.position, q)
    gaps = [jacobian - true, at.velocity - true @ qd, at.acceleration - jacobian @ qdd - rate @ qd]
    for gap in ca.Function("gap", [q, qd, qdd], gaps)(*STATE):
        assert np.abs(np.array(gap)).max() < 1e-11


AT, ROLLED = (-2.5, -1.3, -0.4, 0.6, 1.2), (0.0, 0.012, 0.003, -0.004, -0.006)  # beyond the limits of the knee


def knee() -> co.Model:
    """A shank that rolls on its thigh as it turns."""
    rod = {"mass": 2.0, "com": (0.0, -0.2, 0.0), "inertia": (0.03, 0.001, 0.03)}
    driven = co.Limits(position=(-2.0, 1.0), torque=(-60.0, 60.0))
    return co.Model(
        [
            co.Body("thigh", co.revolute(limits=driven), tip=(0, -0.4, 0), **rod),
            co.Body("roll", co.prismatic((1, 0, 0), co.placement((0, -0.4, 0))), "thigh"),
            co.Body("shank", co.revolute(limits=driven), "roll", tip=(0, -0.4, 0), **rod),
        ],
        couplings={"roll": Coupling("shank", curve=co.model.CubicSpline(AT, ROLLED))},
    )


def test_a_problem_solves_and_is_verified():
    problem = co.Problem(
        model=knee(),
        duration=0.6,
        minimize=co.integral(lambda now: ca.sumsqr(now.tau)),
        subject_to=[co.initial(q=(0.0, 0.0), qd=0.0), co.final(q=(0.8, -1.2), qd=0.0)],
    )
    solution = co.solve(problem, co.BSpline(16, degree=5))
    assert solution.status == co.solver.Status.SOLVED
    assert co.verify(solution).forward_error < 1e-6
    recursion = co.dynamics.by_differentiation(co.dynamics.newton_euler)
    by_casadi = co.solve(co.transcribe(problem, co.BSpline(16, degree=5), sensitivities=recursion))
    assert solution.cost == pytest.approx(by_casadi.cost, rel=1e-9)


def test_a_page_has_the_curve_in_samples():
    body = scene_of(co.plot.view(knee()))["model"]["bodies"][1]
    start, step, *samples = body["curve"]
    assert (start, step) == (-2.0, pytest.approx(0.015))
    spline = co.model.CubicSpline(AT, ROLLED)
    expected = [float(spline.derivatives(ca.SX(start + k * step), 0)[0]) for k in range(len(samples))]
    np.testing.assert_allclose(samples, expected, atol=1e-7)


def test_in_loops_curves_are_refused():
    model = co.Model(bodies(np.random.default_rng(3)), couplings={"b3": Coupling("b1", curve=SPLINE)})
    loop = co.loops.spherical_loop("tie", "b4", co.loops.Frame("b2", (0.1, 0.2, 0.3)))
    with pytest.raises(
        co.InputError, match="joint 'b3' of a loop follows joint 'b1' by a curve: in loops joints follow"
    ):
        co.loops.ClosedChain(model, [loop])


def test_limits_of_what_follows_by_a_curve_are_refused():
    links = [co.Body(f"b{k}", co.revolute(limits=co.Limits(position=(0.0, 1.0))), mass=1.0) for k in range(2)]
    with pytest.raises(co.InputError, match="joint 'b1' follows by a curve and must have no limits"):
        co.Model(links, couplings={"b1": Coupling("b0", curve=BENT)})


def test_a_model_goes_to_other_processes_and_can_be_held(model):
    again = pickle.loads(pickle.dumps(model))
    assert dict(again.couplings) == COUPLINGS
    held = model.frozen({"b1": 0.4})
    assert held.joint_names == ("b2",)
    whole = co.Evaluator(model).point("b5", (0.1, 0.2, 0.3), q=[0.4, 0.7]).position
    np.testing.assert_allclose(co.Evaluator(held).point("b5", (0.1, 0.2, 0.3), q=[0.7]).position, whole, atol=1e-12)


def test_urdf_has_no_word_for_it(tmp_path):
    model = co.Model(
        [co.Body(f"b{k}", co.revolute(), mass=1.0) for k in range(2)], couplings={"b1": Coupling("b0", curve=BENT)}
    )
    with pytest.raises(co.InputError, match="joint 'b1' follows joint 'b0' by a curve, which URDF does not support"):
        co.formats.to_urdf(model, tmp_path / "model.urdf")
