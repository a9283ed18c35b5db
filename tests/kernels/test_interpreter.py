"""Programs: what the interpreter is given, and when it is used."""

import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.kernels import Compile, CompileError, CompileWarning, Interpreter, Kernel, interpret, interpret_or_none
from colloc.kernels import batch as batches
from colloc.kernels import interpreter as interpreters
from colloc.kernels import program as programs
from colloc.kernels.batch import Batch, interpreted
from colloc.kernels.cache import SUFFIX
from colloc.models.chains.serial import spatial_chain
from tests.kernels.test_kernels import columns, random_function, random_inputs
from tests.support.problems import effort, time_optimal


@pytest.fixture(scope="module")
def options(tmp_path_factory) -> Compile:
    return Compile(threads=2, cache=tmp_path_factory.mktemp("interpreter"))


def library(kernel: Kernel, options: Compile) -> Interpreter:
    return interpret({"f": kernel}, options, compile=True)


@pytest.mark.parametrize("operations", [10, 3000, 40_000, 150_000])
def test_long_functions(options, operations):
    """Shorter than a window of the schedule, longer, and with more values alive than 16 bits can number."""
    rng = np.random.default_rng(operations)
    kernel = Kernel(random_function(rng, operations))
    assert (kernel.function.sz_w() > 2**16) == (operations == 150_000)
    inputs = random_inputs(rng, kernel, 11)
    for found, expected in zip(
        library(kernel, options).evaluate("f", inputs), columns(kernel.function, inputs), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_sums_and_products_in_every_combination(options):
    """Of which the interpreter makes one instruction each; infinite and undefined values go the same way."""
    x = ca.SX.sym("x", 4)
    a, b, c, d = ca.vertsplit(x)
    once = [a * b + c, c + a * b, a * b - c, c - a * b, a * b + c * d, a * b - c * d, a * b + a * b, a * a - b * b]
    shared = c * d
    twice = [shared + a * b, a * b - shared, shared - a, shared, shared + shared, (a * b + c) * d + (c * d - a) * b]
    kernel = Kernel(ca.Function("f", [x], [ca.vertcat(*once), ca.vertcat(*twice)]))
    values = np.array([0.0, 1.5, -2.0, np.inf, np.nan])
    inputs = [np.stack([grid.ravel() for grid in np.meshgrid(*[values] * 4)], axis=1)]
    for found, expected in zip(
        library(kernel, options).evaluate("f", inputs), columns(kernel.function, inputs), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_programs_can_be_wrong(options):
    """Every instruction of a program matters: with another operation, the values differ."""
    x = ca.SX.sym("x", 2)
    kernel = Kernel(ca.Function("f", [x], [ca.sin(x[0]) + x[1], x[0] / x[1], ca.fmax(x[0], x[1])]))
    interpreter, inputs = library(kernel, options), [np.random.default_rng(0).uniform(1, 2, (9, 2))]
    right, words = interpreter.evaluate("f", inputs), interpreter._programs["f"].copy()
    words[programs._HEAD - 1] = 0  # without machine code
    code = words.view(np.uint16)[4 * int(words[8]) : 4 * int(words[9])]
    for operation, other in (
        (ca.OP_SIN, ca.OP_COS),
        (ca.OP_ADD, ca.OP_SUB),
        (ca.OP_DIV, ca.OP_MUL),
        (ca.OP_FMAX, ca.OP_FMIN),
    ):
        (place,) = np.flatnonzero((code[:-1] == operation) & (code[1:] == 1))[:1]
        code[place] = other
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(interpreter._programs, "f", words)
            wrong = interpreter.evaluate("f", inputs)
        assert max(np.abs(mine - theirs).max() for mine, theirs in zip(wrong, right, strict=True)) > 1e-3
        code[place] = operation


@pytest.mark.parametrize("seed", range(4))
def test_instructions_are_those_that_casadi_tells_of(monkeypatch, seed):
    """All of them and of every kind, although CasADi is asked for a few only."""
    function = random_function(np.random.default_rng(seed), 500)
    expected = programs._accessed(function, np.arange(function.n_instructions()))
    asked, accessed = [], programs._accessed
    monkeypatch.setattr(programs, "_accessed", lambda of, chosen: asked.append(chosen.size) or accessed(of, chosen))
    np.testing.assert_array_equal(programs._read(function), expected)
    assert asked == [programs._SAMPLES]
    assert {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_MUL} < set(expected[:, 0].tolist())


def test_instructions_that_cannot_be_read_are_asked_for(monkeypatch):
    """A serialized function of another version of CasADi may look otherwise."""
    function = random_function(np.random.default_rng(6), 300)
    expected = programs.instructions(function)
    monkeypatch.setattr(ca.Function, "serialize", lambda self: "ab" * 4000)
    np.testing.assert_array_equal(programs._read(function), expected)


def test_no_operation_means_no_kernel(options):
    """Instructions that the interpreter lacks are left to CasADi, the rest is interpreted."""
    x = ca.SX.sym("x")
    kernels = {
        "inverse": Kernel(ca.Function("f", [x], [ca.erfinv(x)])),
        "sine": Kernel(ca.Function("f", [x], [ca.sin(x)])),
    }
    assert list(interpret(kernels, options, compile=True).kernels) == ["sine"]
    batch = Batch.of(kernels["inverse"].function, ("x",), [np.arange(1)])
    samples = np.linspace(-0.9, 0.9, 200_000)[:, None]
    (found,) = batch.evaluate({"x": samples}, len(samples))
    np.testing.assert_allclose(found[[0, -1], 0], [float(ca.erfinv(-0.9)), float(ca.erfinv(0.9))], rtol=1e-12)


def test_one_library_for_all_functions(options, monkeypatch):
    first = library(Kernel(random_function(np.random.default_rng(0), 20)), options)
    monkeypatch.setattr("colloc.kernels.library.compile_library", lambda *_: pytest.fail("compiled again"))
    monkeypatch.setattr(interpreters, "_libraries", {})
    second = library(Kernel(random_function(np.random.default_rng(1), 20)), options)
    assert second.path == first.path
    assert "Interpreter of f" in repr(second)


def test_programs_at_the_same_time(options):
    """Several threads make the programs of several functions, and evaluate them."""
    kernels = [Kernel(random_function(np.random.default_rng(k), 2000)) for k in range(6)]
    inputs = [random_inputs(np.random.default_rng(k), kernel, 300) for k, kernel in enumerate(kernels)]

    def values(k: int) -> list[np.ndarray]:
        return library(kernels[k % 6], options).evaluate("f", inputs[k % 6])

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(values, range(24)))
    for k, results in enumerate(found):
        for mine, theirs in zip(results, values(k), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_functions_outlive_their_interpreter(options):
    """A program is part of the function that evaluates it: of copies and of what is read from a file, too."""
    kernel = Kernel(random_function(np.random.default_rng(3), 400))
    inputs = random_inputs(np.random.default_rng(3), kernel, 20)
    expected = library(kernel, options).evaluate("f", inputs)
    function = library(kernel, options).external("f", 20)
    interpreters._programs.pop(kernel)
    del kernel
    copied = pickle.loads(pickle.dumps(function))
    for again in (function, copied):
        for mine, theirs in zip(again.call([x.T for x in inputs]), expected, strict=True):
            np.testing.assert_array_equal(np.array(mine).T, theirs)


def test_little_work_is_left_to_casadi(options, monkeypatch):
    kernel = Kernel(random_function(np.random.default_rng(3), 400))
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(options.cache))
    few, many = (random_inputs(np.random.default_rng(3), kernel, slices) for slices in (10, 10_000))
    assert interpreted(kernel, few) is None
    found = interpreted(kernel, many)
    assert found is not None
    assert len(found[0]) == 10_000


def lift() -> co.Problem:
    """Least squared torque over a given time, with torque bounds: enough to do for an interpreter to be looked for."""
    ends = [co.initial(q=0.1, qd=0.0), co.final(q=0.4, qd=0.0)]
    return co.Problem(spatial_chain(5), 1.0, co.integral(effort), [*ends, co.bounds(tau=(-40, 40))])


@pytest.mark.parametrize("curve", [co.BSpline(10), co.HermiteSimpson(10), co.Radau(8)], ids=str)
def test_the_interpreter_evaluates_by_default(options, monkeypatch, curve):
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(options.cache))
    library(Kernel(random_function(np.random.default_rng(0), 20)), options)
    default, virtual = (co.transcribe(lift(), curve, compile=choice) for choice in (None, False))
    assert isinstance(default._first.compiled.library, Interpreter)
    assert virtual._first.compiled.library is None
    found, expected = co.solve(default), co.solve(virtual)
    assert found.status is expected.status
    assert found.cost == pytest.approx(expected.cost, rel=1e-9)


def test_where_there_is_none_it_is_compiled_if_there_is_a_lot_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path))
    assert co.transcribe(time_optimal(), co.BSpline(10))._first.compiled.library is None
    assert not list(tmp_path.glob(f"*{SUFFIX}"))
    assert isinstance(co.transcribe(lift(), co.BSpline(100))._first.compiled.library, Interpreter)
    assert len(list(tmp_path.glob(f"*{SUFFIX}"))) == 1


def test_without_a_compiler_nothing_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    kernel = Kernel(random_function(np.random.default_rng(0), 20))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert interpret_or_none({"f": kernel}, Compile()) is None
    with pytest.raises(CompileError, match="no C compiler found"):
        interpret({"f": kernel}, Compile(), compile=True)


def test_a_compiler_that_fails_is_warned_of_once(monkeypatch, tmp_path):
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(interpreters, "_failed", [])
    broken = Compile(compiler=f'"{sys.executable}" -c exit(3)')
    kernel, options = Kernel(random_function(np.random.default_rng(0), 20)), broken
    with pytest.warns(CompileWarning, match="virtual machine is used instead"):
        assert interpret_or_none({"f": kernel}, options) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert interpret_or_none({"f": kernel}, options) is None


def test_a_batch_may_stay_on_the_virtual_machine(monkeypatch):
    monkeypatch.setattr(batches, "interpreted", lambda *_: pytest.fail("interpreted"))
    function = random_function(np.random.default_rng(3), 400)
    batch = Batch.of(function, ("x", "y"), [np.arange(function.nnz_out(k)) for k in range(4)], False)
    x, y = random_inputs(np.random.default_rng(1), batch.kernel, 500)
    found = batch.evaluate({"x": x, "y": y}, 500)
    for mine, theirs in zip(found, columns(function, [x, y]), strict=True):
        np.testing.assert_array_equal(mine, theirs)
