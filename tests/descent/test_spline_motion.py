"""Splines on plain arrays: the same value, gradient and Hessian as the NLP's, the ends met whatever the unknowns."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.descent import Movement, Stop
from colloc.models.two_link import two_link
from tests.support.problems import effort


def on_arrays(model: co.Model):
    """Half the squared torque and its derivatives at many states, as NumPy functions: CasADi differentiates it."""
    state = ca.SX.sym("state", 3 * model.n)
    q, qd, qdd = ca.vertsplit(state, model.n)
    tau = co.dynamics.newton_euler(model, q, qd, qdd)
    hessian, gradient = ca.hessian(ca.sumsqr(tau) / 2, state)
    function = ca.Function("effort", [state], [ca.sumsqr(tau) / 2, gradient, ca.densify(hessian)])

    def at_all(states: np.ndarray) -> list[np.ndarray]:
        rows = np.concatenate(list(states), axis=1)
        return [np.array([np.array(function(row)[k]).squeeze() for row in rows]) for k in range(3)]

    def running(states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        costs, slopes, _ = at_all(states)
        return costs, slopes.reshape(-1, 3, model.n).swapaxes(0, 1)

    def curvature(states: np.ndarray) -> np.ndarray:
        return at_all(states)[2].reshape(-1, 3, model.n, 3, model.n)

    return running, curvature


def plain(duration: float = 0.7) -> co.descent.SplineMotion:
    start, end = [[0.1, 0.2], [0.5, -0.3], [0.0, 1.0]], [[0.8, -0.6], [0.0, 0.4]]
    return co.descent.SplineMotion(np.array(start), np.array(end), duration, intervals=4)


def test_a_spline_of_arrays_is_that_of_the_nlp():
    """Two independent assemblies of value, gradient and Hessian."""
    motion, model = plain(), two_link(gravity=9.81)
    ends = [
        co.initial(q=(0.1, 0.2), qd=(0.5, -0.3), qdd=(0.0, 1.0)),
        co.final(q=(0.8, -0.6), qd=(0.0, 0.4)),
    ]
    found = Movement(co.transcribe(co.Problem(model, 0.7, 0.5 * co.integral(effort), ends), co.BSpline(4)))
    objective = motion.objective(*on_arrays(model))
    assert motion.size == 4
    np.testing.assert_allclose(motion.line(), found.start(), atol=1e-12)
    x = motion.line() + 0.3 * np.random.default_rng(0).standard_normal(motion.size)
    mine, theirs = ((*o.first(x), o.hessian(x)) for o in (objective, found.objective) if o.hessian is not None)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-11 * np.abs(b).max())
    run = co.descent.modified_newton(objective, motion.line(), Stop(1e-8))
    assert run.success
    assert run.value == pytest.approx(co.solve(found.nlp.problem, co.BSpline(4)).cost, rel=1e-10)
    solution = found.solution(run)
    t = np.linspace(0, 0.7, 23)
    sample = solution.at(t)
    np.testing.assert_allclose(motion.states(run.x, t), [sample.q, sample.qd, sample.qdd], atol=1e-10)


def test_ends_are_met_whatever_the_unknowns():
    motion = plain()
    states = motion.states(np.random.default_rng(0).standard_normal(motion.size), np.array([0.0, 0.7]))
    np.testing.assert_allclose(states[:, 0], motion.start, atol=1e-12)
    np.testing.assert_allclose(states[:2, 1], motion.end, atol=1e-12)


def test_without_curvature_there_is_no_hessian():
    running, _ = on_arrays(two_link())
    objective = plain().objective(running)
    assert objective.hessian is None
    assert co.descent.bfgs(objective, plain().line(), Stop(1e-6)).success


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"start": [0.0, 1.0]}, r"start must be 1 to 3 rows \(q, qd, qdd\) of n columns, got shape \(2,\)"),
        ({"end": [[0.0]]}, "end must be 1 to 3 rows"),
        ({"start": [[np.nan, 0.0]]}, "start must be finite"),
        ({"duration": 0.0}, "duration must be finite and positive"),
        ({"intervals": 0}, "intervals must be an integer >= 1"),
        ({"intervals": 1, "start": np.zeros((2, 2)), "end": np.zeros((2, 2))}, "fix 4 of 4 control points"),
        ({"degree": 2}, "degree must be an integer >= 3"),
    ],
)
def test_motions_that_cannot_be_are_refused(change: dict, match: str):
    given = {"start": [[0.0, 0.0]], "end": [[1.0, 1.0]], "duration": 1.0, "intervals": 4} | change
    with pytest.raises(co.InputError, match=match):
        co.descent.SplineMotion(**given)
