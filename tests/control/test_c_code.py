"""C code of torques and feedback, compiled and compared with Python."""

import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.two_link import two_link

STRICT = ["-std=c11", "-Wall", "-Wextra", "-Werror"]


def random_chain(rng: np.random.Generator) -> co.Model:
    """Hinges and slides along random axes, one of them damped, one with friction."""
    bodies, kinds = [], (co.revolute, co.prismatic, co.revolute, co.revolute)
    for k, kind in enumerate(kinds):
        place = co.placement(rng.normal(size=3), rng.normal(size=3))
        friction = co.model.Friction(0.3, 0.1) if k == 2 else None
        joint = kind(rng.normal(size=3).tolist(), place, passive=co.Passive(0.2 * (k == 1), friction=friction))
        parent = f"b{k - 1}" if k else None
        spread = rng.normal(size=(3, 3))
        bodies.append(
            co.Body(f"b{k}", joint, parent, 1.0, 0.1 * rng.normal(size=3), np.trace(spread @ spread.T) * np.eye(3) / 9)
        )
    return co.Model(bodies, (0.3, -0.2, -9.81))


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_compiled_functions_are_those_of_python(tmp_path):
    rng, model = np.random.default_rng(3), random_chain(np.random.default_rng(2))
    co.control.to_c(model, tmp_path / "arm.c")
    library = compiled(tmp_path / "arm.c")
    torque, acceleration = ca.external("torque", library), ca.external("acceleration", library)
    derivatives, evaluator = ca.external("torque_derivatives", library), co.Evaluator(model)
    for _ in range(5):
        q, qd, qdd = rng.normal(size=(3, model.n))
        tau = evaluator.torque(q, qd, qdd)
        np.testing.assert_allclose(np.array(torque(q, qd, qdd))[:, 0], tau, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(np.array(acceleration(q, qd, tau))[:, 0], qdd, rtol=1e-9, atol=1e-9)
        _, *slopes = evaluator.sensitivities(q, qd, qdd)
        for slope, expected in zip(derivatives(q, qd, qdd), slopes, strict=True):
            np.testing.assert_allclose(np.array(slope), np.reshape(expected, slope.shape), rtol=1e-10, atol=1e-10)
        expected = evaluator.forward_dynamics(q, qd, tau)
        np.testing.assert_allclose(np.array(acceleration(q, qd, tau))[:, 0], expected, rtol=1e-12, atol=1e-11)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_compiled_feedback_is_that_of_a_run(tmp_path):
    ends = [co.initial(q=(0.0, -1.0), qd=0.0), co.final(q=(1.0, 0.5), qd=0.0)]
    problem = co.Problem(two_link(), 0.8, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    solution = co.solve(problem, co.BSpline(8), guess=co.line((0.0, -1.0), (1.0, 0.5)))
    assert solution.success
    plan = co.control.time_varying_lqr(solution, steps=60)
    co.control.to_c(problem.model, tmp_path / "arm.c", plan)
    feedback = ca.external("feedback", compiled(tmp_path / "arm.c"))
    x, u = plan.run(x0=plan.x[0] + 0.05)
    for k in range(60):
        for part in (0.0, 0.4, 0.99):
            torques = np.array(feedback(plan.t[k] + part * plan.dt, x[k]))[:, 0]
            np.testing.assert_allclose(torques, u[k], rtol=1e-12, atol=1e-12)
    last = plan.u[-1] + plan.gains[-1] @ (x[-1] - plan.x[-2])
    np.testing.assert_allclose(np.array(feedback(5.0, x[-1]))[:, 0], last, rtol=1e-12)
    with pytest.raises(co.InputError, match="feedback must be of a model with 4 joints, got one with 2"):
        co.control.to_c(random_chain(np.random.default_rng(2)), tmp_path / "other.c", plan)


def compiled(source) -> str:
    library = source.with_suffix(".so")
    subprocess.run(["gcc", *STRICT, "-O1", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    return str(library)
