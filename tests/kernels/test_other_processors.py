"""Programs on other processors, under emulation: machine code of 64-bit ARM, and the interpreter of RISC-V."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import casadi as ca
import numpy as np
import pytest

from colloc.kernels import Kernel
from colloc.kernels import program as programs
from colloc.kernels.compiler import QUICKLY
from colloc.kernels.operations import ZERO_AT_ZERO
from colloc.kernels.source import interpreter_source
from tests.kernels.test_kernels import BINARY, SPECIAL, UNARY, columns, random_function
from tests.kernels.test_machine_code import random_arithmetic, with_code

LANES = 2
ROOT = Path(__file__).parents[2]


class Emulated(NamedTuple):
    """A processor other than this one, and whether programs become machine code on it."""

    name: str
    writes_code: bool

    def compile(self, flags: Sequence[str], source: Path) -> None:
        """A program beside a C file that needs no other file; skips the test without the tools."""
        compiler = f"{self.name}-linux-gnu-gcc"
        for tool in (compiler, f"qemu-{self.name}"):
            if shutil.which(tool) is None:
                pytest.skip(f"without {tool}")
        words = [compiler, *flags, "-Wall", "-Wextra", "-Werror", "-static", "-pthread", str(source), "-lm"]
        target = str(source.with_suffix(""))
        run = subprocess.run([*words, "-o", target], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr

    def run(self, program: Path, *words: str, asked: bytes = b"") -> bytes:
        """Standard output of a program."""
        run = subprocess.run([f"qemu-{self.name}", str(program), *words], input=asked, capture_output=True, check=False)
        assert run.returncode == 0, run.stdout[-1000:] + run.stderr
        return run.stdout


ARM, RISC_V = Emulated("aarch64", True), Emulated("riscv64", False)


@pytest.fixture(scope="module", params=[ARM, RISC_V], ids=lambda processor: processor.name)
def processor(request, tmp_path_factory) -> tuple[Emulated, Path]:
    """One with a program: the interpreter with its writer of machine code, and a main program."""
    return program_of(request.param, tmp_path_factory.mktemp(request.param.name), interpreter_source(LANES, {}))


def program_of(emulated: Emulated, folder: Path, source: str) -> tuple[Emulated, Path]:
    """A processor, and a program for it of the interpreter's source."""
    main = (ROOT / "tests/kernels/native/programs.c").read_text(encoding="utf-8")
    (folder / "all.c").write_text(source + main, encoding="utf-8")
    emulated.compile([*QUICKLY, "-ffp-contract=fast", "-fno-math-errno"], folder / "all.c")
    return emulated, folder / "all"


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


def answers(
    processor: tuple[Emulated, Path], functions: list[ca.Function], samples: list[np.ndarray]
) -> list[np.ndarray]:
    """Outputs, shape (samples, 2, outputs, LANES), of the interpreter and of the machine code, if there is any."""
    emulated, program = processor
    asked = b"".join(map(question, functions, samples))
    found = emulated.run(program, *([] if emulated.writes_code else ["interpreter"]), asked=asked)
    sizes = [sum(f.nnz_out(k) for k in range(f.n_out())) for f in functions]
    shapes = [(len(x), 2, size, LANES) for x, size in zip(samples, sizes, strict=True)]
    parts = np.split(np.frombuffer(found), np.cumsum([np.prod(shape) for shape in shapes])[:-1])
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


def test_random_functions(processor):
    """More values than registers, more of them than a load can tell apart, and calls between them."""
    rng = np.random.default_rng(0)
    functions = [random_arithmetic(rng) for _ in range(30)]
    functions += [random_function(rng, operations) for operations in (3, 40, 300, 3000, 8000)]
    sizes = [sum(f.nnz_in(k) for k in range(f.n_in())) for f in functions]
    samples = [rng.uniform(-1, 1, (3, LANES, size)) for size in sizes]
    for found, function, x in zip(answers(processor, functions, samples), functions, samples, strict=True):
        compare(found, function, x, 1e-9)


def test_memory_by_the_rules_of_apples_processors(tmp_path):
    """It is written and run in turn; where it is refused, there is no machine code."""
    (tmp_path / "libkern").mkdir()
    (tmp_path / "libkern/OSCacheControl.h").touch()
    native = ROOT / "tests/kernels/native"
    before, after = ((native / name).read_text(encoding="utf-8") for name in ("apple.c", "programs.c"))
    (tmp_path / "all.c").write_text(before + interpreter_source(LANES, {}) + after, encoding="utf-8")
    ARM.compile([*QUICKLY, "-ffp-contract=fast", "-fno-math-errno", f"-I{tmp_path}"], tmp_path / "all.c")
    rng = np.random.default_rng(7)
    functions = [random_arithmetic(rng) for _ in range(5)]
    samples = [rng.uniform(-1, 1, (3, LANES, function.nnz_in(0))) for function in functions]
    found = answers((ARM, tmp_path / "all"), functions, samples)
    for values, function, x in zip(found, functions, samples, strict=True):
        compare(values, function, x, 1e-9)
    command, asked = ["qemu-aarch64", "-E", "REFUSED=1", str(tmp_path / "all")], question(functions[0], samples[0])
    refused = subprocess.run(command, input=asked, check=False)
    assert refused.returncode == 2


def test_every_operation(processor):
    """On numbers, infinite and undefined ones."""
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    function = ca.Function("f", [x, y], [ca.vertcat(*results)])
    special = np.array(np.meshgrid(SPECIAL, SPECIAL)).reshape(2, -1)
    ordinary = 3 * np.random.default_rng(1).standard_normal((2, 60))
    samples = np.hstack([special, ordinary]).T.reshape(-1, LANES, 2)
    (found,) = answers(processor, [function], [samples])
    compare(found, function, samples, 1e-14)


def test_arithmetic_has_the_same_bits_on_all_processors(processor):
    """Sums of products are rounded once; only functions of the C library may differ."""
    rng = np.random.default_rng(5)
    function = random_arithmetic(rng, calls=False)
    samples = rng.uniform(-1, 1, (5, LANES, 6))
    (found,) = answers(processor, [function], [samples])
    here = with_code(Kernel(function), processor[1].parent).evaluate("f", [samples.reshape(-1, 6)])
    np.testing.assert_array_equal(found[:, 1].transpose(0, 2, 1).reshape(10, -1), np.hstack(here))


def test_functions_of_the_c_library_differ_by_few_ulp(processor):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    results = [f(x) for f in UNARY.values()] + [f(x, y) for f in BINARY.values()]
    function = ca.Function("f", [x, y], [ca.vertcat(*results)])
    samples = np.random.default_rng(6).uniform(0, 1, (100, LANES, 2))
    (found,) = answers(processor, [function], [samples])
    there, flat = found[:, 1].transpose(0, 2, 1).reshape(200, -1), samples.reshape(-1, 2)
    (here,) = with_code(Kernel(function), processor[1].parent).evaluate("f", [flat[:, :1].copy(), flat[:, 1:].copy()])
    np.testing.assert_array_equal(np.isnan(there), np.isnan(here))
    np.testing.assert_array_max_ulp(np.nan_to_num(there), np.nan_to_num(here), maxulp=4)


def test_zeros_keep_their_signs(tmp_path):
    """Vector functions of glibc 2.41 drop them: sin, expm1 and log1p. Here all of them do."""
    vectors = {name: f"_ZGVnN2v_{name}" for name in ZERO_AT_ZERO}
    text = interpreter_source(LANES, vectors)
    for name, symbol in vectors.items():
        text += f"\nV {symbol}(V x) {{ return (V){{{name}(x[0]) + 0.0, {name}(x[1]) + 0.0}}; }}"
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [ca.vertcat(*[UNARY[name](x) for name in ZERO_AT_ZERO])])
    samples = np.array([[[0.0], [-0.0]], [[np.nan], [5e-324]], [[0.5], [-0.5]]])
    (found,) = answers(program_of(ARM, tmp_path, text), [function], [samples])
    compare(found, function, samples, 1e-15)
    np.testing.assert_array_equal(np.signbit(found[0]), [[[False, True]] * len(ZERO_AT_ZERO)] * 2)


def test_the_factorisation(tmp_path):
    """Its test in C: random systems against dense linear algebra."""
    source = tmp_path / "test.c"
    source.write_text((ROOT / "tests/solver/native/multifrontal.c").read_text(encoding="utf-8"), encoding="utf-8")
    ARM.compile(["-O1", "-std=gnu11", "-Wno-unused", f"-I{ROOT / 'colloc/solver/multifrontal'}"], source)
    ARM.run(source.with_suffix(""), "5")


@pytest.mark.parametrize("source", ["solver/lanes.c", "control/step.c"])
def test_other_code_compiles(source, tmp_path):
    code = (ROOT / "colloc" / source).read_text(encoding="utf-8")
    (tmp_path / "test.c").write_text(f"{code}\nint main(void) {{ return 0; }}\n", encoding="utf-8")
    ARM.compile(["-O3"], tmp_path / "test.c")
