"""The linear solver's own test in C, in short, every warning of its compiler an error; `.ci/sanitize` has it long."""

import subprocess
from pathlib import Path

import pytest

from colloc.kernels import Compile, CompileError
from colloc.kernels.options import compiler_command
from colloc.solver import linear_solvers
from tests.platforms import needs_unix

SOURCE = Path(__file__).parent / "native" / "multifrontal.c"


def test_random_systems_forks_and_failing_allocations(tmp_path):
    needs_unix("fork")
    try:
        compiler = compiler_command(Compile())
    except CompileError as error:
        pytest.skip(str(error))
    folder, program = Path(linear_solvers.__file__).with_name("multifrontal"), str(tmp_path / "test")
    words = [
        *compiler,
        "-O1",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{folder}",
        "-pthread",
        str(SOURCE),
        "-o",
        program,
        "-lm",
    ]
    built = subprocess.run(words, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    run = subprocess.run([program, "80"], capture_output=True, text=True, check=False, timeout=100)
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("80 systems")
