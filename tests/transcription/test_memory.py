"""Kept memory, and peak memory of large problems."""

import gc
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.blocks import functions, slices
from tests.support.problems import effort, everything

ROOT = Path(__file__).parents[2]


def chain(joints: int) -> co.Problem:
    """Least effort of a chain of equal links."""
    parents = [None, *(f"link {k}" for k in range(joints))]
    bodies = [
        co.Body(f"link {k}", co.dh_revolute(a=0.3), parent=parents[k], mass=1.0, com=(-0.15, 0, 0), inertia=3 * (0.01,))
        for k in range(joints)
    ]
    ends = [co.initial(q=0.0, qd=0.0), co.final(q=0.1, qd=0.0)]
    return co.Problem(co.Model(bodies), 1.0, co.integral(effort), ends)


@pytest.mark.parametrize("problem", [everything(), chain(9)], ids=["everything", "chain"])
@pytest.mark.parametrize("kind", ["hess_lag", "gauss_newton"])
def test_hessians_in_parts_and_in_numbers_are_the_same(problem, kind, monkeypatch):
    def hessian() -> ca.DM:
        nlp = co.transcribe(problem, co.BSpline(4), compile=False)
        rng = np.random.default_rng(0)
        x, lam = rng.uniform(0.2, 0.8, nlp.n_x), rng.standard_normal(nlp.n_g)
        return getattr(nlp, kind)(x, nlp.problem.parameter_values(), 1.3, lam)

    usual = hessian()
    monkeypatch.setattr(functions, "_LARGE", 0)
    monkeypatch.setattr(slices, "_CHUNK", 50)
    again = hessian()
    assert again.shape == usual.shape
    scale = float(ca.norm_inf(usual))
    np.testing.assert_allclose(np.array(ca.densify(again)), np.array(ca.densify(usual)), atol=1e-13 * scale)


def test_operations_are_counted_where_products_are_made_in_numbers(monkeypatch):
    (cost,) = co.transcribe(chain(3), co.BSpline(4), compile=False).costs
    symbols = cost.functions.operations("hessian")
    monkeypatch.setattr(functions, "_LARGE", 0)
    (cost,) = co.transcribe(chain(3), co.BSpline(4), compile=False).costs
    assert 0.3 * symbols < cost.functions.operations("hessian") < 3 * symbols


@pytest.mark.filterwarnings("ignore::colloc.refinement.SolutionWarning")
def test_a_problem_keeps_functions_of_its_solves_and_no_program():
    problem = chain(2)

    def functions_after(intervals: int) -> int:
        co.solve(problem, co.BSpline(intervals), plan=[co.refinement.Solve(between="nodes")])
        gc.collect()
        return sum(isinstance(one, ca.Function) for one in gc.get_objects())

    first = functions_after(4)
    known = set(vars(problem))
    assert [functions_after(intervals) for intervals in (4, 5, 6)] == [first] * 3
    assert set(vars(problem)) == known
    assert len(problem.formulations) == 1
    assert not [one for one in gc.get_referrers(problem) if isinstance(one, co.transcription.NLP)]


def test_a_chain_of_sixty_joints_forms_its_hessian_within_a_gigabyte():
    code = """
import re
from pathlib import Path
import numpy as np
import colloc as co
from tests.transcription.test_memory import chain
nlp = co.transcribe(chain(60), co.BSpline(10), compile=False)
nlp.hess_lag(np.clip(0.1, nlp.lower, nlp.upper), [], 1.0, np.zeros(nlp.n_g))
print(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])  # getrusage counts the parent's, too
"""
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}", "OMP_NUM_THREADS": "1", "PATH": ""}
    words = [sys.executable, "-c", code]
    child = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    assert int(child.stdout) < 1e6  # kB
