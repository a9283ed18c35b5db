"""The factorisation below IPOPT: solutions and inertia against dense linear algebra, and what cannot be factorised."""

import ctypes
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.kernels import Compile, CompileError, CompileWarning, build_source
from colloc.kernels.compiler import LOOPS, OPTIMISED, compile_library, inspect
from colloc.kernels.options import compiler_command
from colloc.solution.warm_start import start_from
from colloc.solver import linear_solvers
from colloc.studies.classics.optima import CLASSICS
from colloc.studies.classics.states import brachistochrone
from colloc.studies.walking.by_muscles import SPEED, STEP, swinging, walk
from tests.support.problems import time_optimal

SINGULAR = -7


class Control(ctypes.Structure):
    """HSL_MA97's, of which ours reads two thresholds and, as the number of threads, `nemin`."""

    _fields_ = [
        ("f_arrays", ctypes.c_int), ("action", ctypes.c_int), ("threads", ctypes.c_int),
        ("multiplier", ctypes.c_double), ("more", ctypes.c_int * 3),
        ("small", ctypes.c_double), ("u", ctypes.c_double), ("rest", ctypes.c_double * 40),
    ]  # fmt: skip


class Info(ctypes.Structure):
    _fields_ = [
        ("flag", ctypes.c_int), ("more", ctypes.c_int * 8), ("delays", ctypes.c_int), ("entries", ctypes.c_long),
        ("work", ctypes.c_long), ("negative", ctypes.c_int), ("fronts", ctypes.c_int), ("pairs", ctypes.c_int),
        ("rest", ctypes.c_double * 20),
    ]  # fmt: skip


@pytest.fixture(scope="module")
def code() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(linear_solvers.multifrontal()))
    except CompileError as error:
        pytest.skip(str(error))


class Factors:
    """A symmetric matrix as IPOPT hands it over: the pattern of its lower triangle by columns, then values."""

    def __init__(self, code: ctypes.CDLL, pattern: np.ndarray, u: float = 1e-8, threads: int = 1):
        self.code, self.n = code, len(pattern)
        self.columns, self.rows = (
            part.astype(np.int32) for part in np.nonzero(np.triu(pattern | np.eye(self.n, dtype=bool)))
        )
        starts = np.concatenate([[0], np.cumsum(np.bincount(self.columns, minlength=self.n))])
        self.pattern = (starts + 1).astype(np.int32), (self.rows + 1).astype(np.int32)
        self.control, self.info = Control(), Info()
        self.analysis, self.factors = ctypes.c_void_p(), ctypes.c_void_p()
        code.ma97_default_control_d(ctypes.byref(self.control))
        self.control.f_arrays, self.control.action = 1, 0
        self.control.u, self.control.threads = u, threads
        self._call("analyse", 0, self.n, *self.pattern, None, self.analysis, self.control, self.info, None)

    def factorise(self, matrix: np.ndarray) -> int:
        values = np.ascontiguousarray(matrix[self.rows, self.columns])
        self._call("factor", 4, *self.pattern, values, self.analysis, self.factors, self.control, self.info, None)
        return self.info.flag

    def solve(self, right: np.ndarray) -> np.ndarray:
        x = np.array(right, dtype=float, order="F")
        count = 1 if x.ndim == 1 else x.shape[1]
        self._call("solve", 0, count, x, self.n, self.analysis, self.factors, self.control, self.info)
        return x

    def __del__(self):
        self._call("finalise", self.analysis, self.factors)

    def _call(self, name: str, *arguments):
        def passed(one):
            if isinstance(one, np.ndarray):
                return ctypes.c_void_p(one.ctypes.data)
            return one if isinstance(one, int | None) else ctypes.byref(one)

        getattr(self.code, f"ma97_{name}_d")(*map(passed, arguments))


def random_kkt(rng: np.random.Generator, n: int, rows: int, density: float) -> np.ndarray:
    """[[H, J'], [J, 0]] with an indefinite H, half of its diagonal zero, and J of full rank."""
    H = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
    H = H + H.T + np.diag(rng.normal(size=n) * rng.integers(0, 2, n))
    J = rng.normal(size=(rows, n)) * (rng.random((rows, n)) < density) + np.eye(rows, n)
    return np.block([[H, J.T], [J, np.zeros((rows, rows))]])


def well_posed(seed: int, **shape) -> np.ndarray:
    rng = np.random.default_rng(seed)
    while True:
        matrix = random_kkt(rng, **shape)
        if np.linalg.cond(matrix) < 1e6:
            return matrix


@pytest.mark.parametrize("density", [0.02, 0.1, 0.5])
@pytest.mark.parametrize(("n", "rows"), [(1, 0), (2, 1), (7, 3), (40, 20), (150, 60)])
@pytest.mark.parametrize("seed", range(4))
def test_solutions_and_inertia_are_those_of_dense_linear_algebra(code, seed, n, rows, density):
    if density < 0.1 and n > 40:
        density = 0.05  # with fewer entries there is hardly a regular one
    matrix = well_posed(seed, n=n, rows=rows, density=density)
    factors = Factors(code, matrix != 0, u=0.01)
    right = np.random.default_rng(seed).normal(size=(n + rows, 3))
    assert factors.factorise(matrix) == 0
    np.testing.assert_allclose(factors.solve(right), np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-8)
    assert factors.info.negative == (np.linalg.eigvalsh(matrix) < 0).sum()


def test_the_flags_that_compile_sooner_change_no_digit(code, tmp_path):
    """Than -O3, by this compiler: solutions, inertia and counts of random systems, small and large fronts."""
    compiler = inspect(compiler_command(Compile()))
    optimised = ctypes.CDLL(str(compile_library(compiler, linear_solvers.source(), tmp_path, OPTIMISED)))
    rng = np.random.default_rng(0)
    small, large = well_posed(0, n=150, rows=60, density=0.05), well_posed(0, n=300, rows=100, density=0.5)
    for matrix in (small, large, chain(rng, 24, 30, 1.0)):
        right, answers = rng.normal(size=(len(matrix), 3)), []
        for library in (code, optimised):
            factors = Factors(library, matrix != 0, u=0.01)
            assert factors.factorise(matrix) == 0
            info = factors.info
            numbers = info.negative, info.delays, info.pairs, info.entries, info.work
            answers.append((numbers, factors.solve(right).tobytes()))
        assert answers[0] == answers[1]


def test_a_column_without_a_pivot_waits_for_its_neighbours(code):
    """A zero on the diagonal, eliminated first for its one neighbour, has none; its inertia is exact all the same."""
    n, rng = 60, np.random.default_rng(0)
    dense = rng.normal(size=(n, n))
    matrix = np.block([[np.zeros((n, n)), np.eye(n)], [np.eye(n), dense + dense.T]])
    factors = Factors(code, matrix != 0)
    assert factors.factorise(matrix) == 0
    assert factors.info.delays > 0
    assert factors.info.negative == n
    right = np.arange(2.0 * n)
    np.testing.assert_allclose(factors.solve(right), np.linalg.solve(matrix, right), atol=1e-9)


def test_multipliers_wait_for_their_variables_within_a_front(code):
    """Zeros on the diagonal come first; all are eliminated in the one front there is, and none is weak."""
    rng = np.random.default_rng(0)
    J, H = rng.normal(size=(90, 150)), rng.normal(size=(150, 150))
    matrix = np.block([[np.zeros((90, 90)), J], [J.T, H @ H.T]])
    factors, right = Factors(code, np.ones_like(matrix, dtype=bool)), np.arange(240.0)
    assert factors.factorise(matrix) == 0
    assert factors.info.negative == 90
    np.testing.assert_allclose(matrix @ factors.solve(right), right, atol=1e-7)


def test_fronts_stay_small_where_much_is_added_to_the_hessian(code):
    """No pivot is then large enough beside its column, until nearly all fronts have become one."""
    problem = CLASSICS["linear_tangent_steering"].problem()
    program = co.transcription.transcribe(problem, co.BSpline(40, degree=4, continuity=1))
    rng = np.random.default_rng(0)
    x, multipliers = rng.normal(size=program.n_x), rng.normal(size=program.n_g)
    J = program.jac_g(x, [])[1].full()
    H = np.triu(program.hess_lag(x, [], 1.0, multipliers).full())
    H = H + np.triu(H, 1).T + 1e11 * np.eye(len(H))
    matrix = np.block([[H, J.T], [J, np.zeros((len(J), len(J)))]])
    usual, strict = Factors(code, matrix != 0), Factors(code, matrix != 0, u=2e-8)
    without_delays = usual.info.entries
    assert usual.factorise(matrix) == strict.factorise(matrix) == 0
    assert usual.info.entries < 1.5 * without_delays < 10 * without_delays < strict.info.entries
    assert usual.info.negative == strict.info.negative == len(J)


def step_pattern(intervals: int) -> np.ndarray:
    """Where the systems of half a stride by muscles have entries."""
    step = walk()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is not solved
        begun = co.solve(
            step.problem,
            co.Radau(intervals),
            guess=swinging(step.walker, SPEED, STEP),
            solver=co.Ipopt(max_iter=0, linear_solver="mumps"),
            raise_on_failure=False,
        )
    J, H = (
        ca.DM(function.sparsity_out(name), 1.0).full() != 0
        for function, name in ((begun.nlp.jac_g, "jac_g_x"), (begun.nlp.hess_lag, "triu_hess_gamma_x_x"))
    )
    return np.block([[H, J.T], [J, np.zeros((len(J), len(J)), dtype=bool)]])


def test_factors_grow_as_the_intervals_of_a_motion_by_muscles(code):
    """Minimum degree alone gathers what belongs to all intervals in one front: three times as much for twice as many.

    Cut at levels of a search in breadth, in place of the fewest variables, they have 310,000 entries on 24.
    """
    entries = [Factors(code, step_pattern(intervals)).info.entries for intervals in (12, 24)]
    assert entries[1] < 2.2 * entries[0]
    assert entries[1] < 270_000


@pytest.mark.parametrize("decades", [6, 12, 24])
def test_systems_that_are_only_badly_scaled_are_not_singular(code, decades):
    """Rows and columns scaled up or down: what counts as zero is relative to the size of the row."""
    for seed in range(10):
        matrix = well_posed(seed, n=40, rows=4, density=0.2)
        scale = 10.0 ** (decades / 2 * np.random.default_rng(seed).choice([-1, 1], len(matrix)))
        factors = Factors(code, matrix != 0)
        factors.control.small = 1e-12
        right = np.ones(len(matrix))
        assert factors.factorise(matrix * np.outer(scale, scale)) == 0
        assert factors.info.negative == (np.linalg.eigvalsh(matrix) < 0).sum()
        found = scale * factors.solve(scale * right)
        np.testing.assert_allclose(found, np.linalg.solve(matrix, right), rtol=1e-5, atol=1e-7)


def test_rows_that_depend_on_each_other_are_singular_at_any_scale(code):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        J = rng.normal(size=(12, 40)) * (rng.random((12, 40)) < 0.3)
        J[-1], J[-2] = 2 * J[0] - J[1], J[3]
        J *= 10.0 ** rng.uniform(-2, 2, (12, 1))
        matrix = np.block([[np.diag(rng.uniform(0.1, 3, 40)), J.T], [J, np.zeros((12, 12))]])
        factors = Factors(code, matrix != 0)
        factors.control.small = 1e-12
        assert factors.factorise(matrix) == SINGULAR


def test_the_same_pattern_with_other_numbers_has_another_inertia(code):
    matrix = well_posed(1, n=30, rows=10, density=0.2)
    factors = Factors(code, matrix != 0, u=0.01)
    for shift in (0.0, 20.0, -20.0, 0.0):
        shifted = matrix + np.diag(np.r_[np.full(30, shift), np.zeros(10)])
        assert factors.factorise(shifted) == 0
        assert factors.info.negative == (np.linalg.eigvalsh(shifted) < 0).sum()


@pytest.mark.parametrize("empty", [0, 5, 9])
def test_what_is_singular_is_said_to_be(code, empty):
    matrix = well_posed(2, n=10, rows=0, density=0.5)
    matrix[empty] = matrix[:, empty] = 0.0
    assert Factors(code, matrix != 0).factorise(matrix) == SINGULAR


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_not_factorised(code, value):
    matrix = well_posed(3, n=10, rows=4, density=0.5)
    factors = Factors(code, np.ones_like(matrix, dtype=bool))
    broken = matrix.copy()
    broken[3, 5] = broken[5, 3] = value
    assert factors.factorise(broken) == SINGULAR
    assert factors.factorise(matrix) == 0  # and the next one is
    np.testing.assert_allclose(matrix @ factors.solve(np.ones(14)), 1.0, atol=1e-8)


def test_instances_do_not_know_each_other_and_threads_have_the_same_digits(code):
    matrices = [well_posed(seed, n=60, rows=20, density=0.1) for seed in range(6)]
    right = np.ones(80)

    def answer(matrix: np.ndarray) -> bytes:
        factors, other = Factors(code, matrix != 0), Factors(code, matrices[0] != 0)
        factors.factorise(matrix)
        other.factorise(matrices[0] * 3.0)
        return factors.solve(right).tobytes() + other.solve(right).tobytes()

    alone = [answer(matrix) for matrix in matrices]
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(answer, matrices * 5)) == alone * 5


def chain(rng: np.random.Generator, blocks: int, size: int, tie: float) -> np.ndarray:
    """A band of blocks, each an indefinite KKT matrix tied to the next, with a share of delayed pivots."""
    n = blocks * size
    matrix = np.zeros((n, n))
    for k in range(blocks):
        own = slice(k * size, (k + 1) * size)
        matrix[own, own] = random_kkt(rng, size - size // 3, size // 3, 0.3)
        if k:
            before = slice((k - 1) * size, k * size)
            matrix[own, before] = tie * rng.normal(size=(size, size)) * (rng.random((size, size)) < 0.05)
            matrix[before, own] = matrix[own, before].T
    return matrix


class Threads(NamedTuple):
    """The code with a count of threads that are begun, of which every other one is refused if so wished."""

    text: str
    code: ctypes.CDLL
    begun: ctypes.c_int
    refused: ctypes.c_int


@pytest.fixture(scope="module")
def threads() -> Threads:
    counted = """#include <pthread.h>
__attribute__((visibility("default"))) int begun, refused;
static int begin(pthread_t *thread, const pthread_attr_t *how, void *(*work)(void *), void *argument)
{
    return begun++ % 2 && refused ? -1 : pthread_create(thread, how, work, argument);
}
#define pthread_create begin
"""
    text = linear_solvers.source()
    text = text.replace("#include <pthread.h>\n", counted).replace("WORTH_A_THREAD 1e6", "WORTH_A_THREAD 1e4")
    try:
        code = ctypes.CDLL(str(build_source("threads", text, Compile(), LOOPS)))
    except CompileError as error:
        pytest.skip(str(error))
    return Threads(text, code, *(ctypes.c_int.in_dll(code, name) for name in ("begun", "refused")))


@pytest.mark.parametrize("refused", [0, 1])
@pytest.mark.parametrize("u", [1e-8, 0.1])
@pytest.mark.parametrize("tie", [0.0, 1e-3])
def test_several_threads_find_the_same_bits(threads: Threads, tie: float, u: float, refused: int):
    """Of blocks each tied to the next, or to none; with pivots that wait; also where there are fewer than asked for."""
    rng = np.random.default_rng(0)
    matrix = chain(rng, 24, 30, tie)
    right, answers = rng.normal(size=len(matrix)), []
    threads.refused.value = refused
    for count, most in ((1, 0), (2, 1), (3, 2), (7, 6), (1000, 63)):
        threads.begun.value = 0
        factors = Factors(threads.code, matrix != 0, u, count)
        for _ in range(2):  # the memory of the first time is used again
            assert factors.factorise(matrix) == 0
        assert min(most, 2) <= threads.begun.value / 2 <= most
        info = factors.info
        numbers = info.negative, info.delays, info.pairs, info.entries, info.work
        answers.append((numbers, factors.solve(right).tobytes()))
    assert len(set(answers)) == 1
    (negative, delays, *_), _ = answers[0]
    assert negative == (np.linalg.eigvalsh(matrix) < 0).sum()
    assert delays > 0


def test_whichever_thread_comes_upon_what_is_singular_says_so(threads: Threads):
    threads.refused.value = 0
    matrix = chain(np.random.default_rng(5), 24, 30, 1e-3)
    factors = Factors(threads.code, matrix != 0, threads=4)
    for place in range(0, len(matrix), 90):
        wrong = matrix.copy()
        wrong[place] = wrong[:, place] = 0.0
        assert factors.factorise(wrong) == SINGULAR
    assert factors.factorise(matrix) == 0
    right = np.ones(len(matrix))
    np.testing.assert_allclose(factors.solve(right), np.linalg.solve(matrix, right), rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_a_walk_has_the_threads_of_the_environment_and_the_same_bits(threads: Threads, monkeypatch):
    monkeypatch.setattr(linear_solvers, "source", lambda: threads.text)
    step, iterates = walk(), []
    for count in (1, 2):
        monkeypatch.setenv("OMP_NUM_THREADS", str(count))
        threads.begun.value = threads.refused.value = 0
        solution = co.solve(
            step.problem,
            co.Radau(12),
            guess=swinging(step.walker, SPEED, STEP),
            solver=co.Ipopt(max_iter=3, linear_solver="multifrontal"),
            raise_on_failure=False,
        )
        assert (threads.begun.value > 0) == (count > 1)
        iterates.append(solution.x.tobytes())
    assert iterates[0] == iterates[1]


def test_ipopt_comes_to_the_same_answer():
    theirs, ours = (
        co.solve(
            time_optimal(),
            co.BSpline(10),
            plan=[co.refinement.Solve(between="nodes")],
            solver=co.Ipopt(linear_solver=name),
        )
        for name in ("mumps", "multifrontal")
    )
    assert ours.status is theirs.status
    assert ours.message == theirs.message == "Solve_Succeeded"
    assert ours.iterations == theirs.iterations
    np.testing.assert_allclose(ours.cost, theirs.cost, rtol=1e-9)
    np.testing.assert_allclose(ours.x, theirs.x, atol=1e-7)


def both(problem: co.Problem) -> tuple[co.Solution, co.Solution]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.support.InputWarning)
        theirs, ours = (
            co.solve(
                problem,
                co.BSpline(10),
                solver=co.Ipopt(linear_solver=name),
                plan=[co.refinement.Solve(between="nodes")],
                raise_on_failure=False,
            )
            for name in ("mumps", "multifrontal")
        )
    return theirs, ours


def test_a_constraint_stated_twice_is_solved_too():
    """The system is singular until IPOPT adds to it."""
    twice = [
        co.at(0.5, lambda now: now.q[0], equals=0.5, name="there"),
        co.at(0.5, lambda now: 2.0 * now.q[0], equals=1.0, name="there again"),
    ]
    problem = time_optimal()
    problem = co.Problem(problem.model, problem.duration, problem.minimize, [*problem.subject_to, *twice])
    nlp = co.transcribe(problem, co.BSpline(10))
    start = co.solver.Start(start_from(nlp, None, np.zeros(0)).x)  # `solve` leaves one of the two out
    theirs, ours = (co.Ipopt(linear_solver=name).prepare(nlp)(start, np.zeros(0)) for name in ("mumps", "multifrontal"))
    assert ours.message == theirs.message == "Solve_Succeeded"
    np.testing.assert_allclose(float(nlp.f(ours.x, [])), float(nlp.f(theirs.x, [])), rtol=1e-7)


def test_rows_that_depend_on_each_other_at_the_guess_take_no_more_iterations():
    """States that are guessed constant: what rounding leaves of a pivot is no sign that IPOPT may count."""
    theirs, ours = (
        co.solve(
            brachistochrone(),
            co.BSpline(40, 4, continuity=1),
            solver=co.Ipopt(linear_solver=name),
            plan=[co.refinement.Solve(between="nodes")],
        )
        for name in ("mumps", "multifrontal")
    )
    assert ours.message == theirs.message == "Solve_Succeeded"
    assert ours.iterations <= theirs.iterations + 10
    np.testing.assert_allclose(ours.cost, theirs.cost, rtol=1e-9)


def test_a_restoration_phase_has_an_instance_of_its_own():
    """IPOPT looks for the least violation where there is no motion that is quick enough."""
    problem = time_optimal()
    problem = co.Problem(problem.model, co.Free(0.1, 0.2), problem.minimize, problem.subject_to)
    theirs, ours = both(problem)
    assert ours.message == theirs.message == "Infeasible_Problem_Detected"


def test_without_a_compiler_it_is_mumps(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(tmp_path / "none"))
    solver = co.Ipopt(linear_solver="multifrontal")
    with pytest.warns(CompileWarning, match="MUMPS is used instead of multifrontal"):
        solution = co.solve(
            time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")], compile=False, solver=solver
        )
    assert solution.message == "Solve_Succeeded"


def test_what_it_cannot_factorise_mumps_tries(monkeypatch, tmp_path):
    """A linear solver that calls every system singular ends no run."""
    library = linear_solvers.source()
    broken = library.replace("int flag = factorise(", "int flag = SINGULAR; if (!flag) factorise(")
    assert broken != library
    monkeypatch.setattr(linear_solvers, "source", lambda: broken)
    monkeypatch.setattr(linear_solvers, "_fits", lambda library: True)
    solution = co.solve(
        time_optimal(),
        co.BSpline(10),
        plan=[co.refinement.Solve(between="nodes")],
        solver=co.Ipopt(linear_solver="multifrontal"),
    )
    assert solution.message == "Solve_Succeeded"


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    """A cache of its own, in which nothing has been tried."""
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path))
    for kept in (linear_solvers._fits, linear_solvers._is_refused, linear_solvers._is_built):
        kept.cache_clear()
    yield tmp_path
    linear_solvers._is_built.cache_clear()


@pytest.mark.parametrize(
    "other",
    [
        ("int num_neg, num_sup", "int another, num_neg, num_sup"),
        ("long num_factor, num_flops", "int num_factor, num_flops"),
        ("int f_arrays, action, nemin;", "int f_arrays; long action, nemin;"),
        ("p->negative += d[0] < 0", "p->negative += 0"),
    ],
    ids=["another entry", "another type", "control", "inertia"],
)
def test_a_library_that_ipopt_calls_in_another_way_is_refused(empty_cache, monkeypatch, other):
    changed = linear_solvers.source().replace(*other)
    assert changed != linear_solvers.source()
    monkeypatch.setattr(linear_solvers, "source", lambda: changed)
    with pytest.raises(co.InputError, match="linear_solver 'multifrontal' does not fit the IPOPT of CasADi"):
        co.Ipopt(linear_solver="multifrontal")
    assert linear_solvers.default_linear_solver(10_000, None) == "mumps"
    with pytest.warns(CompileWarning, match="does not fit the IPOPT"):
        assert linear_solvers.in_terms_of_ipopt({"linear_solver": "multifrontal"})["linear_solver"] == "mumps"
    assert not list(empty_cache.glob("*.tried"))


def test_it_is_tried_once_for_a_machine(empty_cache, monkeypatch):
    co.Ipopt(linear_solver="multifrontal")
    assert len(list(empty_cache.glob("*.tried"))) == 1
    monkeypatch.setattr(linear_solvers, "_tried", lambda library: pytest.fail("tried again"))
    linear_solvers._fits.cache_clear()
    linear_solvers._is_refused.cache_clear()
    co.Ipopt(linear_solver="multifrontal")


def test_it_is_tried_in_this_process_where_there_is_no_other(empty_cache, monkeypatch, tmp_path):
    library = linear_solvers.multifrontal()
    for python in (str(tmp_path / "none"), "/bin/true"):
        monkeypatch.setattr(linear_solvers.sys, "executable", python)
        assert linear_solvers._tried(library)


def test_ipopt_names_it(tmp_path, capsys):
    """Not the code whose interface it has, neither on the screen nor in a file, which others append to."""
    file = tmp_path / "log.txt"
    for _ in range(2):
        co.solve(
            time_optimal(), co.BSpline(10), plan=[co.refinement.Solve(between="nodes")],
            solver=co.Ipopt(
                linear_solver="multifrontal", print_level=5, output_file=str(file), file_append="yes"
            ),
        )  # fmt: skip
    for printed in (capsys.readouterr().out, file.read_text(encoding="utf-8")):
        assert printed.count(", running with colloc multifrontal\n") == 2
        assert "ma97" not in printed
        assert printed.count("EXIT: Optimal Solution Found.") == 2
    co.solve(time_optimal(), co.BSpline(10), solver=co.Ipopt(linear_solver="mumps", print_level=5))
    assert "running with linear solver MUMPS" in capsys.readouterr().out


PATTERNS = """
import casadi as ca
from colloc.solver.linear_solvers import in_terms_of_ipopt
options = in_terms_of_ipopt({"linear_solver": "multifrontal", "print_level": 0, "sb": "yes", "option_file_name": ""})
x = ca.MX.sym("x", 2)
for _ in range(2):
    solver = ca.nlpsol("f", "ipopt", {"x": x, "f": ca.sumsqr(x - 1)}, {"print_time": False, "ipopt": options})
    solver(x0=0)
    del solver
    print(sum(options["hsllib"] in line for line in open("/proc/self/maps")) > 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the map of the memory as Linux has it")
def test_patterns_are_remembered_from_solver_to_solver():
    """The library remains in memory, although IPOPT lets go of it."""
    run = subprocess.run([sys.executable, "-c", PATTERNS], capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["True"] * 2, run.stderr


def test_another_library_beside_it_is_refused():
    with pytest.raises(co.InputError, match=r"is a library itself, got hsllib='libhsl\.so'"):
        co.Ipopt(linear_solver="multifrontal", hsllib="libhsl.so")
