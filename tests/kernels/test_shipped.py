"""Libraries that come with a wheel: which of them a CPU is given, and that they need no compiler."""

import ctypes
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.control.native import ship_step
from colloc.kernels import Compile, CompileError, Kernel, interpret, ship_interpreter, shipped
from colloc.kernels.cache import SUFFIX
from colloc.models.two_link import two_link
from colloc.solver import linear_solvers
from tests.kernels.test_kernels import columns, random_function, random_inputs
from tests.support.problems import time_optimal

TOLD = {"linux": shipped._V4, "win32": shipped._V3}.get(sys.platform, frozenset())
KINDS = [kind for kind in shipped.KINDS.get(shipped._machine(), ()) if kind.instructions <= TOLD]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("compiled")
    try:
        made = [*ship_interpreter(folder), *linear_solvers.ship_multifrontal(folder), *ship_step(folder)]
    except CompileError as error:
        pytest.skip(str(error))
    assert len(made) == 3 * len(KINDS)
    return folder


@pytest.fixture(autouse=True)
def alone(folder, monkeypatch, tmp_path) -> None:
    """No compiler, and an empty cache."""
    monkeypatch.setattr(shipped, "FOLDER", folder)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("COLLOC_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_kind_of_cpu_computes_the_same(kind, monkeypatch):
    if not kind.instructions <= shipped._instructions():
        pytest.skip("this CPU lacks some of its instructions")
    monkeypatch.setattr(shipped, "_instructions", lambda: kind.instructions)
    rng = np.random.default_rng(0)
    kernel = Kernel(random_function(rng, 3000))
    inputs = random_inputs(rng, kernel, 11)
    interpreter = interpret({"f": kernel}, Compile(threads=1), compile=False)
    assert interpreter.path.name.endswith(f"-{kind.name}{SUFFIX}")
    for values, expected in zip(interpreter.evaluate("f", inputs), columns(kernel.function, inputs), strict=True):
        np.testing.assert_allclose(values, expected, rtol=1e-8, atol=1e-8)


def test_a_problem_is_solved_by_them_without_a_compiler():
    linear_solvers._is_built.cache_clear()
    assert linear_solvers.default_linear_solver(10_000, None) == linear_solvers.OURS
    solver = co.Ipopt(linear_solver=linear_solvers.OURS)
    with_them = co.solve(time_optimal(), co.BSpline(20), solver=solver)
    without = co.solve(time_optimal(), co.BSpline(20), compile=False)
    assert with_them.status is without.status
    np.testing.assert_allclose(with_them.cost, without.cost, rtol=1e-7)
    linear_solvers._is_built.cache_clear()


def test_a_controller_steps_without_a_compiler():
    still = co.integral(lambda now: 1e-3 * ca.sumsqr(now.tau) + ca.sumsqr(now.q))
    hold = co.Problem(two_link(9.81), 0.5, still, [co.initial(q=0.0, qd=0.0)])
    tick = co.control.receding(hold, co.BSpline(6), tick=0.02)(q=(0.1, 0.0), qd=(0.0, 0.0))
    assert tick.trusted, tick.message


@pytest.mark.parametrize(
    ("command", "begin", "machine", "kinds"),
    [("aarch64-linux-gnu-gcc", b"\x7fELF", b"\xb7", ["any"]), ("x86_64-w64-mingw32-gcc", b"MZ", b"", ["v3", "any"])],
)
def test_a_compiler_for_another_platform_is_given_its_kinds(command, begin, machine, kinds, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", os.defpath)
    if shutil.which(command) is None:
        pytest.skip(f"needs {command}")
    monkeypatch.setenv("CC", command)
    libraries, steps = ship_interpreter(tmp_path), ship_step(tmp_path)
    for made in (libraries, steps):
        assert [library.stem.rpartition("-")[2] for library in made] == kinds
    for head in (library.read_bytes() for library in [*libraries, *steps]):
        assert head.startswith(begin)
        assert head[18:].startswith(machine)  # e_machine, EM_AARCH64


def test_none_is_used_of_another_text_or_against_the_user(folder):
    text = linear_solvers.source()
    assert shipped.shipped("multifrontal", text, Compile()) is not None
    for name, other, options in (
        ("multifrontal", text + " ", Compile()), ("other", text, Compile()), ("multifrontal", text, Compile(lanes=2)),
        ("multifrontal", text, Compile(compiler="gcc")),
    ):  # fmt: skip
        assert shipped.shipped(name, other, options) is None


def test_one_that_cannot_be_loaded_is_passed_over(monkeypatch, tmp_path):
    text = linear_solvers.source()
    for kind in KINDS:
        (tmp_path / shipped._file("multifrontal", text, kind)).write_bytes(b"of a newer C library")
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    assert shipped.shipped("multifrontal", text, Compile()) is None


@pytest.mark.parametrize("lacking", [None, "avx2_0", "fma"])
def test_macos_tells_the_instructions_of_avx2(lacking, monkeypatch):
    def sysctlbyname(name, value, size, *_):
        assert name.startswith(b"hw.optional.")
        assert size._obj.value == ctypes.sizeof(value._obj) == 4
        value._obj.value = int(name != f"hw.optional.{lacking}".encode())
        return 0

    shipped._instructions.cache_clear()
    monkeypatch.setattr(shipped.sys, "platform", "darwin")
    monkeypatch.setattr(shipped.ctypes, "CDLL", lambda _: SimpleNamespace(sysctlbyname=sysctlbyname))
    has_all = shipped._instructions() >= shipped.KINDS["x86_64"][1].instructions
    shipped._instructions.cache_clear()
    assert has_all is (lacking is None)
