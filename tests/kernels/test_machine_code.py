"""Programs as machine code: against their interpretation, and where there is none."""

import ctypes
import gc
import os
import pickle
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import casadi as ca
import numpy as np
import pytest

from colloc.kernels import Compile, CompileWarning, Interpreter, Kernel, interpret, loaded_name
from colloc.kernels import interpreter as interpreters
from colloc.kernels import program as programs
from tests.kernels.test_kernels import BINARY, LANES, SPECIAL, UNARY, columns, random_function, random_inputs
from tests.platforms import needs_unix

ARM = platform.machine() in ("aarch64", "arm64")
WRITTEN = [lanes for lanes in LANES if lanes in ((2,) if ARM else (4, 8))]  # slices in a vector of machine code
NARROW = [lanes for lanes in LANES if lanes not in WRITTEN]
NUMBER = programs._HEAD - 1  # the word of a program with the number of its code
END = int(np.full(4, 204, dtype=np.uint16).view(np.int64)[0])  # of the runs


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("interpreter")


def library(kernel: Kernel, folder: Path, lanes: int | None = None) -> Interpreter:
    return interpret({"f": kernel}, Compile(threads=2, cache=folder, lanes=lanes), compile=True)


def with_code(kernel: Kernel, folder: Path, lanes: int | None = None) -> Interpreter:
    """A library that has machine code of a kernel."""
    interpreter = library(kernel, folder, lanes)
    if not interpreter._programs["f"][NUMBER]:
        pytest.skip("no machine code is written for this CPU")
    return interpreter


@contextmanager
def another(interpreter: Interpreter, **changes: int) -> Iterator[Interpreter]:
    """The program with another number, or with nothing to interpret."""
    words = interpreter._programs["f"].copy()
    words[NUMBER] = changes.get("number", words[NUMBER])
    if "runs" in changes:
        words[int(words[8])] = changes["runs"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(interpreter._programs, "f", words)
        yield interpreter


def runs_code(interpreter: Interpreter, inputs: list[np.ndarray]) -> bool:
    """Whether values are the same with nothing to interpret."""
    expected = interpreter.evaluate("f", inputs)
    interpreter.evaluate("f", [0.5 * x for x in inputs])  # leaves other values in the work memory
    with another(interpreter, runs=END):
        found = interpreter.evaluate("f", inputs)
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(found, expected, strict=True))


def compare(interpreter: Interpreter, inputs: list[np.ndarray], absolute: float = 1e-13) -> None:
    """Values against those of interpretation, whose products are part of the same sums."""
    found = interpreter.evaluate("f", inputs)
    with another(interpreter, number=0):
        expected = interpreter.evaluate("f", inputs)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=absolute)


@pytest.mark.parametrize("lanes", WRITTEN)
def test_every_operation(folder, lanes):
    """On numbers, infinite and undefined ones, next to values that outlive a call and whatever else is in registers."""
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y", 2)
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    kernel = Kernel(ca.Function("f", [x, y], [ca.horzcat(*results), ca.horzcat(*results[::-1])]))
    first, second = (grid.reshape(-1, 1) for grid in np.meshgrid(SPECIAL, SPECIAL))
    rng = np.random.default_rng(lanes)
    ordinary = 3 * rng.standard_normal((2, len(first), 1))
    inputs = [np.hstack([special, usual]) for special, usual in zip((first, second), ordinary, strict=True)]
    interpreter = with_code(kernel, folder, lanes)
    assert runs_code(interpreter, inputs)
    compare(interpreter, inputs, absolute=0)


@pytest.mark.parametrize("lanes", WRITTEN)
@pytest.mark.parametrize("operations", [3, 40, 300, 3000])
def test_more_values_than_registers(folder, lanes, operations):
    """Of graphs with shared inputs, outputs that are inputs or none, and numbers of slices that fill no vector."""
    rng = np.random.default_rng(operations)
    kernel = Kernel(random_function(rng, operations), shared=frozenset({1}))
    interpreter = with_code(kernel, folder, lanes)
    for slices in range(1, 22):
        compare(interpreter, random_inputs(rng, kernel, slices))


_ARITHMETIC = [
    lambda a, b, c, d: 0.5 * (a * b + c),
    lambda a, b, c, d: 0.5 * (c - a * b),
    lambda a, b, c, d: 0.5 * (a * b - c),
    lambda a, b, c, d: 0.5 * (a * b + c * d),
    lambda a, b, c, d: 0.5 * (a * b - c * d),
    lambda a, b, c, d: 0.5 * (a * a + b),
    lambda a, b, c, d: 0.5 * (a + a),
    lambda a, b, c, d: 0.5 * (a + c),
    lambda a, b, c, d: 0.5 * (c - a),
    lambda a, b, c, d: -a,
    lambda a, b, c, d: a / (1 + b * b),
    lambda a, b, c, d: 1 / (2 + ca.fabs(a)),
    lambda a, b, c, d: ca.sqrt(1 + ca.fabs(a)) / 2,
    lambda a, b, c, d: ca.sin(a),
]


def random_arithmetic(rng: np.random.Generator, calls: bool = True) -> ca.Function:
    """Sums of products in all orders of who is read last, constants and inputs among them; no value exceeds 1."""
    x = ca.SX.sym("x", 6)
    values = [*ca.vertsplit(x), ca.SX(0.3), ca.SX(-0.7)]
    for _ in range(int(rng.integers(3, 400))):
        a, b, c, d = (values[k] for k in rng.integers(max(0, len(values) - 50), len(values), 4))
        values.append(_ARITHMETIC[rng.integers(14 if calls else 13)](a, b, c, d))
    chosen = [values[k] for k in rng.permutation(len(values))]
    return ca.Function("f", [x], [ca.vertcat(*chosen[:20]), ca.vertcat(*chosen[2:])])


@pytest.mark.parametrize("lanes", WRITTEN)
def test_random_arithmetic(folder, lanes):
    rng = np.random.default_rng(lanes)
    for slices in range(1, 41):
        kernel = Kernel(random_arithmetic(rng))
        interpreter, inputs = with_code(kernel, folder, lanes), [rng.uniform(-1, 1, (slices, 6))]
        compare(interpreter, inputs)
        for found, expected in zip(interpreter.evaluate("f", inputs), columns(kernel.function, inputs), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_more_places_than_16_bits_can_number(folder):
    rng = np.random.default_rng(0)
    kernel = Kernel(random_function(rng, 3000), extra=(70_000,))
    interpreter = with_code(kernel, folder)
    assert interpreter._programs["f"][7] == 1
    compare(interpreter, random_inputs(rng, kernel, 9))


def code_of(interpreter: Interpreter, function: ca.Function, room: int) -> np.ndarray:
    """Machine code of a function in so many bytes, none if they are too few."""
    kernel = Kernel(function)
    placed, constants = programs._placed(kernel)
    given = placed, function.sz_w(), kernel.pool + constants.size
    return programs._written(interpreter._code.write_code, *given, np.empty(room, dtype=np.uint8))[0]


def keep(interpreter: Interpreter, number: int, code: np.ndarray) -> int:
    """Have a library keep code under a number; see `keep_code`."""
    size = ctypes.c_longlong(code.size)
    return interpreter._code.keep_code(ctypes.c_longlong(number), programs._pointer(code), size, b"f")


def test_code_can_be_wrong(folder):
    """The code under the program's number runs: with that of a difference for a sum, the values differ."""
    x = ca.SX.sym("x", 2)
    interpreter, inputs = with_code(Kernel(ca.Function("f", [x], [x[0] + x[1]])), folder), [np.ones((9, 2))]
    for number, result, expected in ((1, x[0] + x[1], 2.0), (2, x[0] - x[1], 0.0)):
        assert keep(interpreter, number, code_of(interpreter, ca.Function("f", [x], [result]), 800)) == 1
        with another(interpreter, number=number):
            np.testing.assert_array_equal(interpreter.evaluate("f", inputs)[0], expected)
    with another(interpreter, number=3):  # nobody has kept
        np.testing.assert_array_equal(interpreter.evaluate("f", inputs)[0], 2.0)


def test_too_much_code_is_not_kept(folder):
    x = ca.SX.sym("x")
    interpreter = with_code(Kernel(ca.Function("f", [x], [x + 1])), folder)
    much = np.empty(2**28, dtype=np.uint8)
    assert keep(interpreter, 4, much) == -1
    with another(interpreter, number=4):
        np.testing.assert_array_equal(interpreter.evaluate("f", [np.ones((9, 1))])[0], 2.0)
    assert keep(interpreter, 5, much[: 2**27]) == 1
    assert keep(interpreter, 6, much[: 2**27]) == -1  # as long as the other half has an owner
    interpreter._code.drop_code(ctypes.c_longlong(5))
    assert keep(interpreter, 6, much[: 2**27]) == 1
    interpreter._code.drop_code(ctypes.c_longlong(6))


@pytest.mark.parametrize("lanes", NARROW)
def test_narrow_vectors_are_interpreted(folder, lanes):
    rng = np.random.default_rng(lanes)
    kernel = Kernel(random_function(rng, 300))
    interpreter, inputs = library(kernel, folder, lanes), random_inputs(rng, kernel, 5)
    assert interpreter._programs["f"][NUMBER] == 0
    assert not runs_code(interpreter, inputs)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the map of the memory as Linux has it")
def test_code_is_kept_once_and_cannot_be_written(folder):
    """By several threads that make the program at the same time, and evaluate it."""
    kernel = Kernel(random_function(np.random.default_rng(7), 5000))
    with_code(Kernel(random_function(np.random.default_rng(8), 10)), folder)
    before = executable()
    interpreter = with_code(kernel, folder)
    made = executable() - before
    inputs = random_inputs(np.random.default_rng(7), kernel, 30)
    expected = interpreter.evaluate("f", inputs)

    def again(_: int) -> list[np.ndarray]:
        twin = Kernel(kernel.function)
        return library(twin, folder).evaluate("f", inputs)

    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(again, range(12)):
            for mine, theirs in zip(found, expected, strict=True):
                np.testing.assert_array_equal(mine, theirs)
    assert {rights for _, rights in made} == {"r-xp"}
    assert executable() - before == made


def executable() -> set[tuple[str, str]]:
    """The ends and the rights of all memory that is executable and belongs to no file."""
    lines = [line.split() for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()]
    return {(words[0], words[1]) for words in lines if "x" in words[1] and len(words) == 5}


def executable_bytes() -> int:
    ends = (ends.split("-") for ends, _ in executable())
    return sum(int(end, 16) - int(begin, 16) for begin, end in ends)


@pytest.mark.skipif(sys.platform != "linux", reason="reads the map of the memory as Linux has it")
def test_code_is_given_back_when_nobody_has_its_program(folder):
    """A hundred at a time: of those that are dropped a few are kept, in case that a function of CasADi's remains."""
    x = ca.SX.sym("x", 3)
    codes = [Kernel(ca.Function("f", [x], [ca.sin(k * x) * x])) for k in range(100)]
    kept = [with_code(kernel, folder) for kernel in codes]
    most = executable_bytes()
    kept.clear()
    codes.clear()
    gc.collect()
    least = executable_bytes()
    assert least < most
    for turn in range(3):
        for k in range(100):
            with_code(Kernel(ca.Function("f", [x], [ca.cos((k + 100 * turn + 0.5) * x) * x])), folder)
        gc.collect()
        assert executable_bytes() <= least + 2 * 4096


def drop_many(interpreter: Interpreter) -> None:
    """Have a library keep and drop as many codes as it keeps of those that nobody has."""
    for number in range(1000, 1070):
        assert keep(interpreter, number, np.zeros(100, dtype=np.uint8)) == 1
        interpreter._code.drop_code(ctypes.c_longlong(number))


def test_functions_outlive_their_code(folder):
    """They are interpreted then."""
    kernel = Kernel(random_function(np.random.default_rng(11), 400))
    inputs = [x.T for x in random_inputs(np.random.default_rng(11), kernel, 20)]
    function = with_code(kernel, folder).external("f", 20)
    expected = [np.array(result) for result in function.call(inputs)]
    other = with_code(Kernel(random_function(np.random.default_rng(12), 10)), folder)
    interpreters._programs.pop(kernel)
    del kernel
    gc.collect()
    for again, values in zip(function.call(inputs), expected, strict=True):
        np.testing.assert_array_equal(np.array(again), values)
    drop_many(other)
    for again, values in zip(function.call(inputs), expected, strict=True):
        np.testing.assert_allclose(np.array(again), values, rtol=1e-13, atol=1e-13)


def test_code_that_runs_is_not_given_back(folder):
    """An evaluation of a program that nobody has goes on, while as many others come and go as are kept."""
    kernel = Kernel(random_function(np.random.default_rng(11), 1000))
    interpreter = with_code(kernel, folder)
    inputs = random_inputs(np.random.default_rng(1), kernel, 10_000)
    expected = interpreter.evaluate("f", inputs)
    interpreter._programs["f"] = interpreter._programs["f"].copy()  # which owns no code
    interpreters._programs.pop(kernel)
    gc.collect()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(interpreter.evaluate, "f", inputs)
        while not running.done():
            time.sleep(0.02)  # it has begun
            drop_many(interpreter)
    for again, values in zip(running.result(), expected, strict=True):
        np.testing.assert_allclose(again, values, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("operations", [10, 1000])
def test_the_writer_stays_within_its_room(folder, operations):
    kernel = Kernel(random_function(np.random.default_rng(operations), operations))
    interpreter = with_code(kernel, folder)
    placed, constants = programs._placed(kernel)
    given = placed, kernel.function.sz_w(), kernel.pool + constants.size
    whole, _ = programs._written(interpreter._code.write_code, *given, np.empty(10**6, dtype=np.uint8))
    assert whole.size < 60 * (len(placed) + 1)
    for room in (0, 1, 200, whole.size // 2, whole.size - 1, whole.size, whole.size + 512):
        memory = np.full(room + 2000, 0xCC, dtype=np.uint8)
        written, _ = programs._written(interpreter._code.write_code, *given, memory[:room])
        assert (memory[room:] == 0xCC).all()
        assert written.size == (0 if room <= whole.size else whole.size)


@pytest.mark.parametrize(
    ("kept", "message"),
    [(-1, "all memory for machine code is taken by other functions"), (0, "no memory for machine code.*allow-jit")],
)
def test_it_is_said_once_why_there_is_no_code(kept, message, folder, monkeypatch):
    monkeypatch.setattr(programs, "_warned", [])
    x = ca.SX.sym("x")
    interpreter = with_code(Kernel(ca.Function("f", [x], [x + 1])), folder)
    without: Any = SimpleNamespace(
        schedule=interpreter._code.schedule, write_code=interpreter._code.write_code, keep_code=lambda *_: kept
    )
    with pytest.warns(CompileWarning, match=message):
        words = programs.program(Kernel(ca.Function("f", [x], [x + 2])), without)
    assert words[NUMBER] == 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        programs.program(Kernel(ca.Function("f", [x], [x + 3])), without)


ALONE = """
import os, sys, threading, time
import casadi as ca, numpy as np
from colloc.kernels import Compile, Kernel, interpret
def made(name, k):
    x = ca.SX.sym("x", 3)
    kernel = Kernel(ca.Function(name, [x], [ca.sin(x + k) * x]))
    return interpret({"f": kernel}, Compile(cache=sys.argv[1]), compile=False)
library, values = made("torques", 0), np.arange(30.0).reshape(10, 3)
if sys.argv[2] == "perf":
    path = f"/tmp/perf-{os.getpid()}.map"
    print(open(path).read() if os.path.exists(path) else "none")
    if os.path.exists(path): os.unlink(path)
else:
    stop = False
    def work(first):
        much = bytes(50_000_000)
        while not stop:
            library._code.keep_code(first, much, len(much), b"f")
            library._code.drop_code(first)
            made("f", first).evaluate("f", [values])
    threads = [threading.Thread(target=work, args=(k + 1,)) for k in range(2)]
    for thread in threads: thread.start()
    for _ in range(20):
        time.sleep(0.01)
        child = os.fork()
        if not child:
            library.evaluate("f", [values])
            library._code.keep_code(12345, bytes(100), 100, b"f")
            os._exit(0)
        for _ in range(1000):
            done, status = os.waitpid(child, os.WNOHANG)
            if done: break
            time.sleep(0.01)
        else:
            os.kill(child, 9)
            status = 1
        if status: os._exit(1)
    stop = True
    for thread in threads: thread.join()
"""


def alone(folder: Path, what: str, **environment: str) -> str:
    with_code(Kernel(random_function(np.random.default_rng(3), 40)), folder)
    words = [sys.executable, "-W", "ignore", "-c", ALONE, str(folder), what]
    run = subprocess.run(words, check=False, capture_output=True, text=True, env=os.environ | environment)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_a_child_forked_while_others_make_programs_evaluates(folder):
    needs_unix("fork")
    alone(folder, "forks")


def test_a_map_of_code_for_perf_is_written_on_request(folder):
    needs_unix("perf")
    assert alone(folder, "perf") == "none\n"
    begin, size, name = alone(folder, "perf", COLLOC_PERF_MAP="1").split()
    assert int(begin, 16) % 4096 == 0
    assert 0 < int(size, 16) < 10_000
    assert name == "colloc:torques"


AWAY = """
import ctypes, pickle, sys
import numpy as np
if sys.argv[2] == "refused":
    # From now on no memory becomes executable that was not (PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN).
    if ctypes.CDLL(None).prctl(65, 1, 0, 0, 0):
        sys.exit(77)
    from colloc.kernels import Compile, Kernel, interpret
    import casadi as ca
    x = ca.SX.sym("x", 3)
    kernel = Kernel(ca.Function("f", [x], [ca.sin(x) * x]))
    library = interpret({"f": kernel}, Compile(cache=sys.argv[1]), compile=False)
    values = np.arange(30.0).reshape(10, 3)
    np.testing.assert_allclose(library.evaluate("f", [values])[0], np.sin(values) * values, rtol=1e-14)
    assert all(len(line.split()) > 5 for line in open("/proc/self/maps") if "x" in line.split()[1])
else:
    function, inputs, expected = pickle.loads(sys.stdin.buffer.read())
    for found, values in zip(function.call(inputs), expected, strict=True):
        np.testing.assert_allclose(found, values, rtol=1e-13)
"""


def away(how: str, folder: Path, given: bytes = b"") -> int:
    """Run the above in another process."""
    run = subprocess.run([sys.executable, "-c", AWAY, str(folder), how], input=given, check=False, capture_output=True)
    assert run.returncode in (0, 77), run.stderr.decode()
    return run.returncode


def test_another_process_interprets(folder):
    kernel = Kernel(random_function(np.random.default_rng(3), 400))
    inputs = [x.T for x in random_inputs(np.random.default_rng(3), kernel, 20)]
    function = with_code(kernel, folder).external("f", 20)
    expected = [np.array(result) for result in function.call(inputs)]
    away("there", folder, pickle.dumps((function, inputs, expected)))


def test_on_windows_a_path_outside_of_ascii_is_replaced_by_its_name(monkeypatch):
    plain, other = Path("folder/f.dll"), Path("häuser/f.dll")
    monkeypatch.setattr(sys, "platform", "linux")
    assert loaded_name(other) == str(other)
    monkeypatch.setattr(sys, "platform", "win32")
    assert (loaded_name(plain), loaded_name(other)) == (str(plain), "f.dll")


def test_without_executable_memory_programs_are_interpreted(folder):
    needs_unix("prctl")
    with_code(Kernel(random_function(np.random.default_rng(3), 40)), folder)
    if away("refused", folder) == 77:
        pytest.skip("this system cannot refuse memory that becomes executable")
