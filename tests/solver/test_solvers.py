"""Solvers as objects: IPOPT with its options, and others that a user writes in one class."""

import pickle
import time
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, minimize

import colloc as co
from colloc.solver import Iterate, Nlpsol, Outcome, PreparedSolver, Start
from colloc.transcription import BaseNLP
from tests.support.problems import effort, time_optimal

CURVE = co.BSpline(10)


@dataclass(frozen=True)
class Fatrop:
    """Another interior-point method, of CasADi's interface; it asks nobody at its iterations."""

    max_iter: int = 500

    def limited(self, *, iterations: int) -> "Fatrop":
        return Fatrop(min(iterations, self.max_iter))

    def prepare(self, nlp: BaseNLP, /) -> PreparedSolver:
        derivatives = {
            "nlp_grad_f": ["grad_f_x"],
            "nlp_jac_g": ["g", "jac_g_x"],
            "nlp_hess_l": ["grad_gamma_x", "hess_gamma_x_x"],
        }
        options = {
            "structure_detection": "none",
            "fatrop": {"print_level": 0, "mu_init": 1e-2, "max_iter": self.max_iter},
        }
        nlpsol = Nlpsol("fatrop", nlp, derivatives, options)

        def run(start: Start, parameters: np.ndarray, on_iteration: Any = None, *, seconds: float = np.inf) -> Outcome:
            outcome = nlpsol(start, parameters, on_iteration, seconds=seconds)
            if outcome.status is co.solver.Status.FAILED and outcome.iterations >= self.max_iter:
                return replace(outcome, status=co.solver.Status.ITERATION_LIMIT)
            return outcome

        return run


class OutOfTime(Exception):
    pass


@dataclass(frozen=True)
class Slsqp:
    """SciPy's sequential quadratic programming, from dense matrices, without anything of the library's or CasADi's."""

    max_iter: int = 200

    def limited(self, *, iterations: int) -> "Slsqp":
        return Slsqp(min(iterations, self.max_iter))

    def prepare(self, nlp: BaseNLP, /) -> PreparedSolver:
        return PreparedSlsqp(nlp, self.max_iter)


@dataclass(frozen=True)
class PreparedSlsqp:
    nlp: BaseNLP
    max_iter: int

    def __call__(
        self, start: Start, parameters: np.ndarray, on_iteration: Any = None, /, *, seconds: float = np.inf
    ) -> Outcome:
        nlp, begin, costs, last = self.nlp, time.perf_counter(), [], [start.x]

        def follow(x: np.ndarray) -> None:
            last[0], elapsed = x.copy(), time.perf_counter() - begin
            costs.append(float(nlp.f(x, parameters)))
            if on_iteration is not None:
                on_iteration(Iterate(len(costs) - 1, costs[-1], float(nlp.violation(x, parameters)), elapsed, x))
            if elapsed > seconds:
                raise OutOfTime

        def jacobian(x: np.ndarray) -> Any:
            return np.array(ca.densify(nlp.jac_g(x, parameters)[1]))

        derivative: Any = jacobian
        rows = NonlinearConstraint(lambda x: np.array(nlp.g(x, parameters)).ravel(), *nlp.bounds_g, jac=derivative)
        message, status = "", co.solver.Status.TIME_LIMIT
        try:
            end: Any = minimize(
                lambda x: float(nlp.f(x, parameters)),
                start.x,
                jac=lambda x: np.array(ca.densify(nlp.grad_f(x, parameters)[1])).ravel(),
                bounds=np.column_stack([nlp.lower, nlp.upper]),
                constraints=rows,
                method="SLSQP",
                callback=follow,
                options={"ftol": 1e-12, "maxiter": self.max_iter},
            )
            message, status = end.message, co.solver.Status.SOLVED if end.success else co.solver.Status.FAILED
            last[0] = end.x
        except OutOfTime:
            pass
        multipliers = {"g": np.zeros(nlp.n_g), "x": np.zeros(nlp.n_x)}
        spent = {"build": 0.0, "solve": time.perf_counter() - begin, "callbacks": 0.0}
        return Outcome(last[0], multipliers, status, message, {"cost": costs}, len(costs), spent)


OTHERS = [Fatrop(), Slsqp()]


@pytest.mark.parametrize("solver", OTHERS, ids=repr)
def test_another_solver_finds_the_optimum_of_the_first_script(solver):
    problem = time_optimal()
    expected = co.solve(problem, co.BSpline(intervals=20, degree=3))
    solution = co.solve(problem, co.BSpline(intervals=20, degree=3), solver=solver)
    assert solution.success
    assert solution.duration == pytest.approx(expected.duration, rel=1e-6)
    np.testing.assert_allclose(solution.q, expected.q, atol=1e-4)
    assert solution.iterations > 10
    assert co.verify(solution).forward_error < 1e-2


def test_another_solver_is_refined():
    expected = co.solve(time_optimal(), CURVE, tol=1.2e-2)
    solution = co.solve(time_optimal(), CURVE, tol=1.2e-2, solver=Fatrop())
    assert solution.success
    assert len(solution.rounds) == len(expected.rounds) > 1
    assert solution.duration == pytest.approx(expected.duration, rel=1e-6)
    finer = co.refine(co.solve(time_optimal(), CURVE), 1.2e-2, solver=Fatrop())
    assert finer.duration == pytest.approx(expected.duration, rel=1e-6)


def test_the_status_of_another_solver_is_judged_like_any():
    """A success of SciPy may be too coarse a grid."""
    with pytest.warns(co.refinement.SolutionWarning, match="elbow torque switches"):
        coarse = co.solve(time_optimal(), co.Radau(2), plan=[co.refinement.Solve(between="nodes")], solver=Slsqp())
    assert coarse.outcome.status is co.solver.Status.SOLVED
    assert coarse.status is co.solver.Status.VIOLATED
    with pytest.raises(co.SolveError, match=r"iteration limit .*\n(.*\n)*allow more iterations"):
        co.solve(time_optimal(), CURVE, solver=Fatrop(3))


def test_another_solver_sweeps_on_processes_and_starts_at_random():
    gain = co.Parameter("gain", 1.0)
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=1.0, qd=0.0)]
    problem = co.Problem(
        time_optimal().model, 1.0, co.integral(lambda now: now.gain * effort(now)), ends, parameters=[gain]
    )
    table = co.sweep(co.transcribe(problem, CURVE, compile=False), {"gain": [1.0, 2.0]}, solver=Fatrop(), executor=2)
    assert list(table["status"]) == ["solved"] * 2
    np.testing.assert_allclose(table["cost"], co.sweep(problem, {"gain": [1.0, 2.0]}, CURVE)["cost"], rtol=1e-6)
    best = co.multistart(problem, CURVE, starts=3, solver=Fatrop()).best
    assert best.cost == pytest.approx(table["cost"][0], rel=1e-6)


def test_all_levels_are_solved_by_another_solver():
    ordered = replace(time_optimal(), minimize=[co.duration(), co.integral(effort)])
    other = co.solve(ordered, CURVE, solver=Fatrop())
    assert other.duration == pytest.approx(co.solve(ordered, CURVE).duration, rel=1e-6)
    in_its_time = replace(time_optimal(), duration=other.duration, minimize=co.integral(effort))
    assert other.cost == pytest.approx(co.solve(in_its_time, CURVE, guess=other).cost, rel=1e-6)


def test_another_solver_gets_time_limits_and_reports_its_iterates():
    seen: list[co.refinement.Iteration] = []
    solution = co.solve(time_optimal(), CURVE, solver=Slsqp(), progress=seen.append)
    assert seen[-1].cost == pytest.approx(solution.cost, rel=1e-9)
    assert [now.number for now in seen] == list(range(solution.iterations))
    with pytest.warns(co.refinement.SolutionWarning, match=r"seconds=0.001 ran out"):
        stopped = co.solve(time_optimal(), CURVE, solver=Slsqp(), seconds=1e-3)
    assert stopped.status is co.solver.Status.TIME_LIMIT


def test_ipopt_is_a_value():
    solver = co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON, max_iter=7)
    assert pickle.loads(pickle.dumps(solver)) == solver
    assert solver != co.Ipopt(max_iter=7)
    assert repr(solver) == "Ipopt(hessian=Hessian.GAUSS_NEWTON, max_iter=7)"
    assert isinstance(solver, co.solver.Solver)


def test_limits_for_one_run_of_many_keep_what_the_user_has_said():
    assert co.Ipopt().limited(iterations=300).options == {"max_iter": 300}
    patient = co.Ipopt(max_iter=1000)
    assert patient.limited(iterations=300) == patient


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"solver": co.Ipopt}, r"solver must be a solver, such as co.Ipopt\(max_iter=500\)"),
        ({"solver": "ipopt"}, r"solver must be a solver, such as .* got 'ipopt'"),
        ({"solver": lambda *_: None}, "solver must be a solver"),
        ({"ipopt": {"tol": 1e-5}}, "no argument of solve named 'ipopt'"),
    ],
)
def test_what_is_no_solver_is_refused_in_one_line(wrong, message):
    with pytest.raises(co.InputError, match=message) as refused:
        co.solve(time_optimal(), CURVE, **wrong)
    assert "\n" not in str(refused.value)


def test_ipopt_refuses_what_it_has_not():
    with pytest.raises(co.InputError, match="no IPOPT option named 'max_itr'; did you mean 'max_iter'"):
        co.Ipopt(max_itr=3)
    called: Any = co.Ipopt
    with pytest.raises(co.InputError, match=r"Ipopt is called as Ipopt\(\*, hessian=..., options"):
        called({"max_iter": 3})
