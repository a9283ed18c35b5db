"""Machine code of 64-bit ARM under emulation: bit by bit what the interpreter computes there."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from colloc.kernels import Kernel
from colloc.kernels import program as programs
from colloc.kernels.compiler import QUICKLY
from colloc.kernels.source import interpreter_source
from tests.kernels.test_kernels import BINARY, SPECIAL, UNARY, columns, random_function
from tests.kernels.test_machine_code import random_arithmetic, with_code

COMPILER, EMULATOR = "aarch64-linux-gnu-gcc", "qemu-aarch64"
LANES = 2
ROOT = Path(__file__).parents[2]
_missing = [name for name in (COMPILER, EMULATOR) if shutil.which(name) is None]
pytestmark = pytest.mark.skipif(bool(_missing), reason=f"without {' and '.join(_missing)}")


@pytest.fixture(scope="module")
def executable(tmp_path_factory) -> Path:
    """The interpreter with its writer of machine code, and a main program."""
    folder = tmp_path_factory.mktemp("arm")
    main = Path(__file__).parent / "native" / "programs.c"
    (folder / "all.c").write_text("\n".join([interpreter_source(LANES, {}), main.read_text()]))
    return compiled([*QUICKLY, "-ffp-contract=fast", "-fno-math-errno"], folder / "all.c", folder / "all")


def compiled(flags: Sequence[str], source: Path, target: Path) -> Path:
    """A program for ARM that needs no other file."""
    words = [COMPILER, *flags, "-Wall", "-Wextra", "-Werror", "-static", "-pthread", "-o", target, source, "-lm"]
    run = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return target


def question(function: ca.Function, samples: np.ndarray) -> bytes:
    """A function and values of its inputs, shape (samples, LANES, inputs), as the main program reads them."""
    kernel = Kernel(function)
    placed, constants = programs._placed(kernel)
    first = sum(kernel.inputs), sum(kernel.outputs)
    given = np.zeros((len(samples), kernel.pool + constants.size, LANES))
    given[:, : first[0]] = samples.transpose(0, 2, 1)
    given[:, kernel.pool :] = constants.view(np.float64)[:, None]
    head = [len(placed), function.sz_w(), given.shape[1], given.shape[1], *first, len(samples)]
    return np.array(head, dtype=np.int64).tobytes() + placed.tobytes() + given.tobytes()


def answers(executable: Path, functions: list[ca.Function], samples: list[np.ndarray]) -> list[np.ndarray]:
    """Outputs, shape (samples, 2, outputs, LANES), of the interpreter and of the machine code."""
    asked = b"".join(map(question, functions, samples))
    run = subprocess.run([EMULATOR, str(executable)], input=asked, capture_output=True, check=False)
    assert run.returncode == 0, run.stderr
    sizes = [sum(f.nnz_out(k) for k in range(f.n_out())) for f in functions]
    shapes = [(len(x), 2, size, LANES) for x, size in zip(samples, sizes, strict=True)]
    parts = np.split(np.frombuffer(run.stdout), np.cumsum([np.prod(shape) for shape in shapes])[:-1])
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def compare(found: np.ndarray, function: ca.Function, samples: np.ndarray, tolerance: float) -> None:
    """The same bits both ways, and what CasADi's virtual machine computes here."""
    interpreted, written = found[:, 0], found[:, 1]
    np.testing.assert_array_equal(written, interpreted)
    splits = np.cumsum([function.nnz_in(k) for k in range(function.n_in())])[:-1]
    flat = samples.reshape(-1, samples.shape[-1])
    expected = np.hstack(columns(function, np.split(flat, splits, axis=1)))
    values = written.transpose(0, 2, 1).reshape(expected.shape)
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance)


def test_random_functions(executable):
    """More values than registers, more of them than a load can tell apart, and calls between them."""
    rng = np.random.default_rng(0)
    functions = [random_arithmetic(rng) for _ in range(30)]
    functions += [random_function(rng, operations) for operations in (3, 40, 300, 3000, 8000)]
    sizes = [sum(f.nnz_in(k) for k in range(f.n_in())) for f in functions]
    samples = [rng.uniform(-1, 1, (3, LANES, size)) for size in sizes]
    for found, function, x in zip(answers(executable, functions, samples), functions, samples, strict=True):
        compare(found, function, x, 1e-9)


def test_every_operation(executable):
    """On numbers, infinite and undefined ones."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    function = ca.Function("f", [x, y], [ca.vertcat(*results)])
    special = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    ordinary = 3 * np.random.default_rng(1).standard_normal((2, 60))
    samples = np.hstack([special, ordinary]).T.reshape(-1, LANES, 2)
    (found,) = answers(executable, [function], [samples])
    compare(found, function, samples, 1e-14)


def test_arithmetic_has_the_same_bits_on_all_processors(executable):
    """Sums of products are rounded once; only functions of the C library may differ."""
    rng = np.random.default_rng(5)
    function = random_arithmetic(rng, calls=False)
    samples = rng.uniform(-1, 1, (5, LANES, 6))
    (found,) = answers(executable, [function], [samples])
    here = with_code(Kernel(function), executable.parent).evaluate("f", [samples.reshape(-1, 6)])
    np.testing.assert_array_equal(found[:, 1].transpose(0, 2, 1).reshape(10, -1), np.hstack(here))


def test_functions_of_the_c_library_differ_by_few_ulp(executable):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    function = ca.Function("f", [x, y], [ca.vertcat(*results)])
    samples = np.random.default_rng(6).uniform(0, 1, (100, LANES, 2))
    (found,) = answers(executable, [function], [samples])
    there, flat = found[:, 1].transpose(0, 2, 1).reshape(200, -1), samples.reshape(-1, 2)
    (here,) = with_code(Kernel(function), executable.parent).evaluate("f", [flat[:, :1].copy(), flat[:, 1:].copy()])
    np.testing.assert_array_equal(np.isnan(there), np.isnan(here))
    np.testing.assert_array_max_ulp(np.nan_to_num(there), np.nan_to_num(here), maxulp=4)


def test_the_factorisation(tmp_path):
    """Its test in C: random systems against dense linear algebra."""
    native, sources = ROOT / "tests/solver/native/multifrontal.c", ROOT / "colloc/solver/multifrontal"
    compiled(["-O1", "-std=gnu11", "-Wno-unused", f"-I{sources}"], native, tmp_path / "test")
    run = subprocess.run([EMULATOR, str(tmp_path / "test"), "5"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize("source", ["solver/lanes.c", "control/step.c"])
def test_other_code_compiles(source):
    words = [COMPILER, "-O3", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", str(ROOT / "colloc" / source)]
    run = subprocess.run(words, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
