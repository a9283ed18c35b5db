"""Objects come back unchanged from other processes: models, problems, curves, programs, solutions, reasons."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.closed.five_bar import five_bar
from colloc.models.human.human55 import human55
from colloc.problem import Instant
from colloc.storage.fingerprint import fingerprint
from colloc.studies.benchmarks.random_motions import colloc_problem, random_case
from colloc.support import pickling
from tests.platforms import needs_unix
from tests.storage.test_phases_files import CURVES, GUESS, bounce
from tests.support.problems import everything, time_optimal
from tests.support.random_trees import random_loads, random_tree

pytest.importorskip("cloudpickle", reason="lambdas are pickled by value")


@pytest.fixture(scope="module", params=["spawn", "forkserver"])
def elsewhere(request: pytest.FixtureRequest) -> Iterator[Executor]:
    """Another process, which has what its start method gives it and nothing else."""
    needs_unix("Pinocchio, which other processes import with these tests,")
    context = multiprocessing.get_context(request.param)
    with ProcessPoolExecutor(1, mp_context=context) as executor:
        yield executor


@pytest.fixture
def without_cloudpickle(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    pickling._pickler.cache_clear()
    yield
    pickling._pickler.cache_clear()


def there_and_back(thing: Any) -> Any:
    return pickle.loads(pickle.dumps(thing))


def solved(problem: Any, curve: Any, guess: Any = None) -> Any:
    return co.solve(problem, curve, guess=guess, compile=False, progress=False)


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    """Whether two fingerprints are the same to the bit."""
    return one.keys() == other.keys() and all(np.array_equal(one[k], other[k], equal_nan=True) for k in one)


@pytest.mark.filterwarnings("ignore:joint.* no mass:colloc.support.InputWarning")  # bodies at the tips may have none
@pytest.mark.parametrize("seed", range(4))
def test_random_models_and_loads_come_back_as_they_were(seed: int):
    rng = np.random.default_rng([18, seed])
    model = random_tree(rng, 5)
    loads = random_loads(rng, model)
    effort = co.integral(lambda now: ca.sumsqr(now.tau), "effort")
    problem = co.Problem(model, 1.0, effort, loads=loads)
    assert same(fingerprint(there_and_back(problem)), fingerprint(problem))
    back = there_and_back(model)
    assert repr(back) == repr(model)
    assert same(fingerprint(co.Problem(back, 1.0, effort, loads=there_and_back(loads))), fingerprint(problem))


def test_symbols_in_model_loads_and_functions_are_the_same_afterwards():
    problem = there_and_back(everything())
    assert same(fingerprint(problem), fingerprint(everything()))
    payload = next(u for u in problem.unknowns if u.name == "payload")
    assert ca.is_equal(problem.model.bodies[2].mass, payload.symbol)
    assert ca.is_equal(problem.instant.payload, payload.symbol)


def test_a_symbol_in_the_closure_of_a_lambda_is_that_of_the_problem():
    gain = co.Parameter("gain", 2.0)
    stated = time_optimal()
    cost = co.integral(lambda now: gain.symbol * ca.sumsqr(now.tau), "effort")
    problem = co.Problem(stated.model, 1.0, cost, stated.subject_to, parameters=[gain])
    assert same(fingerprint(there_and_back(problem)), fingerprint(problem))


@pytest.mark.parametrize("seed", range(2))
def test_random_problems_solved_elsewhere_have_the_same_optimum_to_the_bit(elsewhere: Executor, seed: int):
    while len(random_case(seed).links) > 3:
        seed += 100
    problem, curve = colloc_problem(random_case(seed)), co.BSpline(12)
    here = solved(problem, curve)
    there = elsewhere.submit(solved, problem, curve).result()
    assert there.status is here.status
    assert np.array_equal(there.x, here.x)
    assert there.history == here.history
    assert np.array_equal(there.error.dynamics, here.error.dynamics)


def test_a_warm_start_elsewhere_is_the_same_to_the_bit(elsewhere: Executor):
    problem = time_optimal()
    first = solved(problem, co.Radau(8))
    for curve in (co.Radau(8), co.Radau(11)):
        here, there = solved(problem, curve, first), elsewhere.submit(solved, problem, curve, first).result()
        assert np.array_equal(here.x, there.x)
        assert here.iterations == there.iterations


def test_a_motion_in_phases_comes_back(elsewhere: Executor):
    sequence = bounce()
    assert same(fingerprint(there_and_back(sequence)), fingerprint(sequence))
    here, there = solved(sequence, CURVES, GUESS), elsewhere.submit(solved, sequence, CURVES, GUESS).result()
    assert np.array_equal(here.x, there.x)
    assert here.status is there.status
    assert np.array_equal(here["rise"].at(0.1).tau, there["rise"].at(0.1).tau)
    assert here.violations_at(0.2) == there.violations_at(0.2)


def test_closed_chains_come_back():
    chain = five_bar(actuators=("waist", "upper_arm", "crank", "forearm"))
    assert np.array_equal(there_and_back(chain).posture, chain.posture)
    effort = co.integral(effort_of)
    for loops in (co.loops.IndependentJoints(chain, surplus=True), co.loops.CutJoints(chain)):
        problem = co.Problem(chain.model, 1.0, effort, parts=[loops])
        assert same(fingerprint(there_and_back(problem)), fingerprint(problem))


def effort_of(now: Instant) -> ca.SX:
    return ca.sumsqr(now.tau)


def test_a_solution_is_light_and_builds_its_program_on_demand():
    solution = solved(everything(), co.Radau(6))
    back = there_and_back(solution)
    assert "built" not in vars(back.program)
    for name in ("status", "terms", "duration", "history", "seconds", "iterations", "cost"):
        assert getattr(back, name) == getattr(solution, name), name
    assert np.array_equal(back.tau, solution.tau)
    assert "built" not in vars(back.program)
    assert repr(back) == repr(solution)
    again = there_and_back(back)  # whether it has been built or not
    assert np.array_equal(again.at(0.1).tau, solution.at(0.1).tau)
    assert len(pickle.dumps(again)) < 50_000
    assert co.refine(again, 1e-2).success


def test_a_program_is_built_anew_of_what_it_was_built_from():
    nlp = there_and_back(co.transcribe(time_optimal(), co.BSpline(10), co.dynamics.lie, compile=False))
    assert nlp.grid.torques.names == ("lie", "differentiation of lie")
    assert np.array_equal(co.solve(nlp).x, co.solve(co.transcribe(time_optimal(), co.BSpline(10), co.dynamics.lie)).x)


def test_an_answer_that_is_none_goes_with_its_reason(elsewhere: Executor):
    stated = time_optimal()
    problem = co.Problem(stated.model, 0.1, subject_to=stated.subject_to)
    with pytest.raises(co.SolveError, match="infeasible") as raised:
        elsewhere.submit(solved, problem, co.BSpline(10)).result()
    assert raised.value.solution.status == "infeasible"


def test_copies_share_what_never_changes():
    problem = everything()
    assert copy.copy(problem) is copy.deepcopy(problem) is problem
    assert copy.deepcopy(problem.model) is problem.model
    solution = solved(problem, co.Radau(6))
    deep = copy.deepcopy(solution)
    assert deep.nlp is solution.nlp
    assert deep.x is not solution.x
    assert np.array_equal(deep.at(0.1).tau, solution.at(0.1).tau)


@pytest.mark.parametrize("curve", [co.BSpline(8, continuity=1), co.HermiteSimpson(4), co.Radau(3, degree=(3, 4, 5))])
def test_curves_come_back_equal(curve: Any):
    assert there_and_back(curve) == copy.deepcopy(curve) == curve


def test_the_human_is_small_and_quick_to_send():
    human = human55()
    sent = pickle.dumps(human.model)
    assert len(sent) < 200_000
    q, qd, qdd = (ca.SX.sym(name, human.model.n) for name in ("q", "qd", "qdd"))
    values = np.linspace(-0.3, 0.3, human.model.n)
    torques = [
        ca.Function("tau", [q, qd, qdd], [co.dynamics.newton_euler(model, q, qd, qdd)])(values, values, values)
        for model in (human.model, pickle.loads(sent))
    ]
    assert np.array_equal(np.array(torques[0]), np.array(torques[1]))


def test_without_cloudpickle_functions_of_modules_go_and_lambdas_say_what_they_need(without_cloudpickle: None):
    times = np.linspace(0.0, 1.0, 5)
    named = co.integral(effort_of) + co.penalty(effort_of, upper=3.0, weight=2.0) + co.track(times, times, first_joint)
    stated = time_optimal()
    problem = co.Problem(stated.model, 1.0, named, stated.subject_to)
    assert same(fingerprint(there_and_back(problem)), fingerprint(problem))
    text = r"<lambda> \(.*test_pickling.py, line \d+\) cannot be sent .*cloudpickle \(pip install 'colloc\[cluster\]'\)"
    with pytest.raises(co.InputError, match=text):
        pickle.dumps(co.Problem(stated.model, 1.0, co.integral(lambda now: now.q[0]), stated.subject_to))
    solution = solved(co.Problem(stated.model, 1.0, co.integral(lambda now: now.q[0] ** 2)), co.BSpline(4))
    error = there_and_back(co.SolveError("no optimum", solution))
    assert str(error) == "no optimum"
    with pytest.raises(AttributeError, match="stayed in the process that solved"):
        _ = error.solution


def first_joint(now: Instant) -> ca.SX:
    return now.q[0]
