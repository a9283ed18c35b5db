"""Kernels against CasADi's virtual machine and NumPy."""

# Wrong types are among what is tested.
# pyright: reportArgumentType=false

import resource
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from colloc.kernels import Compile, CompileWarning, Interpreter, Kernel, Pass, interpret, interpret_or_warn
from colloc.kernels.compiler import inspect
from colloc.kernels.library import target
from colloc.kernels.operations import EXPRESSIONS, FUNCTIONS, vector_names
from colloc.kernels.options import compiler_command, lane_count, thread_count
from colloc.kernels.source import interpreter_source
from colloc.support.checks import InputError
from tests.platforms import needs_unix

WIDEST = lane_count(Compile(), inspect(compiler_command(Compile())).macros)
LANES = [lanes for lanes in (1, 2, 4, 8) if lanes <= WIDEST]
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-310, 1.0, -1.0, 0.5, -2.5, 3.0, 710.0])

UNARY = {
    name: getattr(ca, name)
    for name in (
        *("sqrt", "exp", "expm1", "log", "log1p", "erf", "floor", "ceil", "fabs", "sign"),
        *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    )
} | {
    "neg": lambda x: -x,
    "sq": lambda x: x * x,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
    "not": ca.logic_not,
    "constpow": lambda x: x**2.5,
    "constants": lambda x: ca.fmin(x * 1e-17 + np.pi, np.inf),
    "nan": lambda x: ca.fmax(x, np.nan),
}
BINARY = {
    "fmin": ca.fmin,
    "fmax": ca.fmax,
    "fmod": ca.fmod,
    "remainder": ca.remainder,
    "atan2": ca.atan2,
    "hypot": ca.hypot,
    "copysign": ca.copysign,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: x**y,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
    "and": ca.logic_and,
    "or": ca.logic_or,
    "if_else": lambda x, y: ca.if_else(x > y, x, y - 1),
}
# CasADi for Windows has these from MinGW-w64: they lose the sign of a zero, and asinh is undefined at 1e300.
BY_NUMPY = {"asinh": np.arcsinh, "atanh": np.arctanh} if sys.platform == "win32" else {}


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory):
    """One library for all tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLLOC_CACHE_DIR", str(tmp_path_factory.mktemp("interpreter")))
        yield


def make(kernels: Mapping[str, Kernel], options: Compile) -> Interpreter:
    return interpret(kernels, options, compile=True)


def on_threads(library: Interpreter, threads: int) -> Interpreter:
    """The same library on other threads."""
    return Interpreter(library.path, library.kernels, threads)


def columns(function: ca.Function, inputs: list[np.ndarray]) -> list[np.ndarray]:
    """Results of CasADi's virtual machine, slice by slice."""
    rows = [function.call([ca.DM(x[k]) for x in inputs]) for k in range(len(inputs[0]))]
    return [np.array([np.array(row[i]).ravel() for row in rows]) for i in range(function.n_out())]


def random_function(rng: np.random.Generator, operations: int) -> ca.Function:
    """A graph whose values live long: every operation reads any two earlier ones."""
    x, y = ca.SX.sym("x", 5), ca.SX.sym("y", 3)
    values = ca.vertcat(x, y, 0.7)
    while (count := values.numel() - 9) < operations:
        # Several at once, as the graph grows: one by one takes as long as all tests of kernels.
        several = min(operations - count, 1 + count // 20)
        a, b = (values[rng.integers(0, values.numel(), several).tolist()] for _ in range(2))
        results = ca.horzcat(a + b, a - b, ca.sin(a * b), a * b / (1 + b**2), ca.fmax(a, b), ca.cos(a))
        values = ca.vertcat(values, results[(np.arange(several) + several * rng.integers(0, 6, several)).tolist()])
    chosen = values[rng.permutation(values.numel()).tolist()]
    return ca.Function("random", [x, y], [chosen[:11], ca.SX(0, 1), x[0], chosen[11:]])


def random_inputs(rng: np.random.Generator, kernel: Kernel, slices: int) -> list[np.ndarray]:
    shapes = [(n,) if k in kernel.shared else (slices, n) for k, n in enumerate(kernel.inputs)]
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("lanes", LANES)
def test_every_operation(lanes):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    expressions = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    function = ca.Function("f", [x, y], [ca.vertcat(*expressions)])
    present = {function.instruction_id(k) for k in range(function.n_instructions())}
    assert present >= (EXPRESSIONS.keys() | FUNCTIONS.keys()) - {ca.OP_ASSIGN, ca.OP_LIFT}
    library = make({"all": Kernel(function)}, Compile(lanes=lanes))
    rng = np.random.default_rng(lanes)
    first, second = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    for pair in ([first, second], 3 * rng.standard_normal((2, 200)), rng.uniform(0, 1, (2, 50))):
        inputs = [np.ascontiguousarray(values).reshape(-1, 1) for values in pair]
        (found,), (expected,) = library.evaluate("all", inputs), columns(function, inputs)
        for k, name in enumerate([*UNARY, *BINARY]):
            if name in BY_NUMPY:
                with np.errstate(all="ignore"):
                    expected[:, k] = BY_NUMPY[name](inputs[0][:, 0])
            np.testing.assert_allclose(found[:, k], expected[:, k], rtol=1e-14, atol=1e-300, err_msg=name)
            zero = (expected[:, k] == 0) & (name not in ("fmin", "fmax"))  # C leaves open which zero is the lesser
            np.testing.assert_array_equal(np.signbit(found[zero, k]), np.signbit(expected[zero, k]), err_msg=name)


def test_operation_without_translation_is_named():
    x = ca.SX.sym("x")
    kernels = {name: Kernel(ca.Function("f", [x], [f(x)])) for name, f in (("inverse", ca.erfinv), ("sine", ca.sin))}
    with pytest.warns(CompileWarning, match="no operation OP_ERFINV; CasADi's virtual machine is used instead"):
        library = interpret_or_warn(kernels, Compile())
    assert library is not None
    assert list(library.kernels) == ["sine"]


@pytest.mark.parametrize("lanes", LANES)
def test_random_graphs(lanes):
    rng = np.random.default_rng(3)
    kernels = {name: Kernel(random_function(rng, 300)) for name in ("one", "two")}
    library = make(kernels, Compile(lanes=lanes))
    for name, kernel in kernels.items():
        for slices in range(1, 21):
            inputs = random_inputs(rng, kernel, slices)
            for found, expected in zip(library.evaluate(name, inputs), columns(kernel.function, inputs), strict=True):
                np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        inputs = random_inputs(rng, kernel, 0)
        assert [found.shape for found in library.evaluate(name, inputs)] == [(0, n) for n in kernel.outputs]


def random_pass(rng: np.random.Generator, pool: int, targets: int, terms: int) -> Pass:
    lengths = rng.integers(0, terms + 1, targets)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return Pass(starts, rng.integers(0, pool, starts[-1]), rng.integers(0, pool, starts[-1]))


def pooled(kernel: Kernel, inputs: list[np.ndarray], slices: int) -> np.ndarray:
    """Results of a kernel with passes, by NumPy."""
    full = [np.tile(x, (slices, 1)) if k in kernel.shared else x for k, x in enumerate(inputs)]
    pool = np.hstack([*full, *columns(kernel.function, full[: kernel.function.n_in()])])
    for one in kernel.passes:
        products = pool[:, one.left] * pool[:, one.right]
        sums = [products[:, a:b].sum(axis=1) for a, b in zip(one.starts[:-1], one.starts[1:], strict=True)]
        pool = np.hstack([pool, np.array(sums).reshape(one.targets, slices).T])
    return pool[:, pool.shape[1] - kernel.results[0] :]


@pytest.fixture(scope="module")
def sums() -> Interpreter:
    """Kernels with passes: few, many and no terms, places beyond 16 bits, shared and further inputs."""
    rng = np.random.default_rng(8)
    function = random_function(rng, 50)
    start = 8 + 6 + 2 + sum(Kernel(function).outputs)
    small = (random_pass(rng, start, 41, 9), random_pass(rng, start + 41, 30, 40))
    large = (random_pass(rng, start, 70_000, 1), random_pass(rng, start + 70_000, 13, 300))
    kernels = {
        "small": Kernel(function, (6, 2), frozenset({1, 2}), small),
        "large": Kernel(function, (6, 2), frozenset(), large),
        "empty": Kernel(function, (6, 2), frozenset({0}), (random_pass(rng, start, 5, 0), random_pass(rng, 1, 0, 0))),
    }
    return make(kernels, Compile(threads=2))


@pytest.mark.parametrize("name", ["small", "large", "empty"])
@pytest.mark.parametrize("slices", [1, 8, 13])
def test_passes(sums, name, slices):
    kernel = sums.kernels[name]
    inputs = random_inputs(np.random.default_rng(slices), kernel, slices)
    (found,) = sums.evaluate(name, inputs)
    np.testing.assert_allclose(found, pooled(kernel, inputs, slices), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lanes", LANES)
@pytest.mark.parametrize("rows", [3, 8, 29])
def test_neighbouring_slices_added_up(lanes, rows):
    rng = np.random.default_rng(rows)
    x = ca.SX.sym("x", rows)
    kernel = Kernel(ca.Function("f", [x], [ca.sin(x)]))
    library = make({"sin": kernel}, Compile(lanes=lanes, threads=2))
    for slices in (1, 7, 8, 9, 30):
        (inputs,) = random_inputs(rng, kernel, slices)
        alike = rng.random(slices - 1) < 0.7
        place = library.sums(alike)
        assert place[-1] + 1 >= -(-slices // lanes)
        assert (alike | (np.diff(place) == 1)).all()
        found = np.array(library.external("sin", slices, place)(inputs.T))
        expected = [np.sin(inputs[place == k]).sum(axis=0) for k in range(place[-1] + 1)]
        np.testing.assert_allclose(found, np.array(expected).T, rtol=0, atol=1e-14)


def test_threads_change_no_bit(sums):
    kernel = sums.kernels["small"]
    inputs = random_inputs(np.random.default_rng(0), kernel, 5003)
    results = [on_threads(sums, threads).evaluate("small", inputs)[0] for threads in (1, 2, 7, 256)]
    for found in results[1:]:
        np.testing.assert_array_equal(found, results[0])


def test_evaluations_at_the_same_time(sums):
    inputs = random_inputs(np.random.default_rng(0), sums.kernels["small"], 1000)
    (expected,) = sums.evaluate("small", inputs)
    with ThreadPoolExecutor(4) as pool:
        for (found,) in pool.map(lambda _: sums.evaluate("small", inputs), range(20)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory as Linux does")
def test_evaluation_when_no_thread_can_be_had(sums):
    """Nor as many as were wished; a few find the stacks of threads that have ended."""
    library = on_threads(sums, 30)
    inputs = random_inputs(np.random.default_rng(0), sums.kernels["small"], 50_000)
    out = library.evaluate("small", inputs)
    expected = out[0].copy()
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**20, limits[1]))  # less than the stack of a thread
    try:
        library.evaluate("small", inputs, out)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    np.testing.assert_array_equal(out[0], expected)


def test_results_into_given_arrays(sums):
    inputs = random_inputs(np.random.default_rng(0), sums.kernels["small"], 9)
    out = [np.full((9, 30), np.nan)]
    assert sums.evaluate("small", inputs, out)[0] is out[0]
    np.testing.assert_array_equal(out[0], sums.evaluate("small", inputs)[0])


def test_external_has_columns_of_slices(sums):
    """Also two numbers of slices at once, in any order, and after the file is removed."""
    kernel = sums.kernels["small"]
    functions = {slices: sums.external("small", slices) for slices in (3, 21, 2000)}
    for slices in (21, 3, 2000, 21):
        inputs = random_inputs(np.random.default_rng(slices), kernel, slices)
        function = functions[slices]
        assert function.size_in(0) == (5, slices)
        assert function.size_in(1) == (3, 1)
        found = np.array(function(*[x.T for x in inputs])).T
        np.testing.assert_array_equal(found, sums.evaluate("small", inputs)[0])


def test_external_after_its_file_was_evicted(tmp_path):
    needs_unix("files that can be removed while they are loaded")
    x = ca.SX.sym("x", 2)
    library = make({"f": Kernel(ca.Function("f", [x], [x**2]))}, Compile(cache=tmp_path))
    library.path.unlink()
    np.testing.assert_array_equal(library.external("f", 2)(ca.DM([[1, 2], [3, 4]])), [[1, 4], [9, 16]])


def test_external_in_graphs(sums):
    kernel = sums.kernels["small"]
    inputs = random_inputs(np.random.default_rng(1), kernel, 6)
    symbols = [ca.MX.sym(f"x{k}", *np.shape(x.T)[:2]) for k, x in enumerate(inputs)]
    first, second = sums.external("small", 6), sums.external("small", 3)
    halves = [[x if x.shape[1] == 1 else x[:, side] for x in symbols] for side in (slice(0, 3), slice(3, 6))]
    difference = first(*symbols) - ca.horzcat(*(second(*half) for half in halves))
    function = ca.Function("f", symbols, [difference, 2 * first(*symbols)])
    zero, twice = function(*[x.T for x in inputs])
    np.testing.assert_array_equal(zero, np.zeros((30, 6)))
    np.testing.assert_array_equal(np.array(twice).T, 2 * sums.evaluate("small", inputs)[0])


def test_ipopt_solves_with_externals():
    """minimise the sum of (x - 1)^4 subject to x0 + x1^2 = c for 11 slices, derivatives by kernels throughout."""
    x, c, s = ca.SX.sym("x", 2), ca.SX.sym("c"), ca.SX.sym("s", 2)
    f, g = ca.sumsqr((x - 1) ** 2), x[0] + x[1] ** 2 - c
    hessian = ca.hessian(s[0] * f + s[1] * g, x)[0]
    kernels = {
        "f": Kernel(ca.Function("f", [x], [f])),
        "g": Kernel(ca.Function("g", [x, c], [g]), shared=frozenset({1})),
        "df": Kernel(ca.Function("df", [x], [ca.gradient(f, x)])),
        "dg": Kernel(ca.Function("dg", [x], [ca.gradient(g, x)])),
        "h": Kernel(ca.Function("h", [x, s], [ca.diag(hessian)])),
    }
    library, n = make(kernels, Compile()), 11
    call = {name: library.external(name, n) for name in kernels}
    z, p, lam_f, lam_g = ca.MX.sym("z", 2 * n), ca.MX.sym("p"), ca.MX.sym("lf"), ca.MX.sym("lg", n)
    nodes = ca.reshape(z, 2, n)
    total, rows = ca.sum2(call["f"](nodes)), call["g"](nodes, p).T
    weights = ca.vertcat(ca.repmat(lam_f, 1, n), lam_g.T)
    column = np.arange(2 * n)
    jacobian = ca.Sparsity.triplet(n, 2 * n, list(column // 2), list(column))
    options = {
        "grad_f": ca.Function("grad_f", [z, p], [total, ca.vec(call["df"](nodes))]),
        "jac_g": ca.Function("jac_g", [z, p], [rows, ca.MX(jacobian, ca.vec(call["dg"](nodes)))]),
        "hess_lag": ca.Function("hess_lag", [z, p, lam_f, lam_g], [ca.diag(ca.vec(call["h"](nodes, weights)))]),
        "ipopt": {"print_level": 0, "sb": "yes"},
        "print_time": False,
        "no_nlp_grad": True,
        "calc_lam_p": False,
    }
    solver = ca.nlpsol("solver", "ipopt", {"x": z, "p": p, "f": total, "g": rows}, options)
    solution = np.array(solver(x0=0.5, p=1.5, lbg=0, ubg=0)["x"]).reshape(n, 2)
    assert solver.stats()["success"]
    np.testing.assert_allclose(solution[:, 0] + solution[:, 1] ** 2, 1.5, atol=1e-7)
    # Stationary: the gradients of objective and constraint are parallel.
    slope = 4 * (solution - 1) ** 3
    np.testing.assert_allclose(slope[:, 1], 2 * solution[:, 1] * slope[:, 0], atol=1e-6)


def test_functions_without_operations():
    x, nothing = ca.SX.sym("x", 3), ca.SX(0, 1)
    kernels = {
        "copy": Kernel(ca.Function("f", [x, nothing], [x[::-1], nothing, ca.SX([1, np.nan])])),
        "none": Kernel(ca.Function("f", [], [ca.SX(2)])),
    }
    library = make(kernels, Compile())
    first, second, third = library.evaluate("copy", [np.arange(6.0).reshape(2, 3), np.zeros((2, 0))])
    np.testing.assert_array_equal(first, [[2, 1, 0], [5, 4, 3]])
    assert second.shape == (2, 0)
    np.testing.assert_array_equal(third, [[1, np.nan]] * 2)
    np.testing.assert_array_equal(library.evaluate("none", []), [[[2]]])
    np.testing.assert_array_equal(library.external("none", 3).call([])[0], [[2, 2, 2]])


def test_sparse_inputs_and_outputs_are_their_nonzeros():
    x, y = ca.SX.sym("x", ca.Sparsity.lower(3)), ca.SX.sym("y", 2, 2)
    results = [ca.sin(x) @ ca.SX([1, 0, 2]), x.T, ca.diag(y[0, :].T), ca.SX(4, 4)]
    function = ca.Function("f", [x, y], results)
    library = make({"f": Kernel(function)}, Compile())
    rng = np.random.default_rng(2)
    inputs = [rng.standard_normal((11, function.nnz_in(k))) for k in range(2)]
    found = library.evaluate("f", inputs)
    assert [values.shape[1] for values in found] == [function.nnz_out(k) for k in range(4)]
    for k, (a, b) in enumerate(zip(*inputs, strict=True)):
        expected = function.call([ca.DM(function.sparsity_in(0), a), ca.DM(function.sparsity_in(1), b)])
        for values, matrix in zip(found, expected, strict=True):
            np.testing.assert_allclose(values[k], np.array(matrix.nonzeros()), rtol=1e-15, atol=0)


def test_wrong_kernels_are_refused():
    x, y = ca.SX.sym("x", 2), ca.MX.sym("y")
    good = ca.Function("f", [x], [x])
    with pytest.raises(InputError, match="Function of SX"):
        Kernel(ca.Function("f", [y], [y]))
    with pytest.raises(InputError, match="shared"):
        Kernel(good, shared=frozenset({1}))
    with pytest.raises(InputError, match="extra"):
        Kernel(good, extra=(-1,))
    for starts, left in ([0, 2], [0]), ([0, 1], [4]), ([1, 1], []), ([0, 1], [0.5]), ([[0], [1]], [0]), ([0, 1], [-1]):
        with pytest.raises(InputError, match="pass 0"):
            Kernel(good, passes=(Pass(np.array(starts), np.array(left), np.zeros(len(left), dtype=int)),))


def test_wrong_arrays_are_refused(sums):
    inputs = random_inputs(np.random.default_rng(0), sums.kernels["small"], 4)
    first, *others = inputs
    for wrong in (inputs[:-1], *([x, *others] for x in (first.T, first.astype(np.float32), first[:3], first[0], 1.0))):
        with pytest.raises(InputError, match="inputs must be"):
            sums.evaluate("small", wrong)
    for out in ([np.zeros((4, 29))], [np.zeros((30, 4)).T], []):
        with pytest.raises(InputError, match="out must be"):
            sums.evaluate("small", inputs, out)
    with pytest.raises(InputError, match="did you mean 'small'"):
        sums.evaluate("smal", inputs)
    with pytest.raises(InputError, match="slices"):
        sums.external("small", 0)


def test_choices(monkeypatch):
    for wrong in ({"threads": 0}, {"threads": 1.5}, {"compiler": ""}, {"compiler": "'"}, {"lanes": 3}, {"cache": ""}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            Compile(**wrong)
    for text, threads in (("3", 3), ("999999", 256)):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert thread_count(Compile()) == threads
    for text in ("", "0", "-2", "4,2", "many"):
        monkeypatch.setenv("OMP_NUM_THREADS", text)
        assert thread_count(Compile()) >= 1
    assert thread_count(Compile(threads=5)) == 5
    monkeypatch.setenv("CC", "cc -O0")
    assert compiler_command(Compile())[1:] == ("-O0",)


@pytest.mark.parametrize("lanes", LANES)
def test_no_compiler_warns_of_what_is_written_by_hand(lanes, tmp_path):
    options = Compile(lanes=lanes)
    compiler, _ = target(options)
    vectors = vector_names(lanes, compiler.macros)
    (tmp_path / "all.c").write_text(interpreter_source(lanes, vectors), encoding="utf-8")
    words = [*compiler.command, "-fsyntax-only", "-Wall", "-Wextra", "-Werror", str(tmp_path / "all.c")]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
