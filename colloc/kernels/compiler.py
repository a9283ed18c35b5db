"""The C compiler: what it is, and its runs."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from colloc.kernels.kernel import CompileError

TIMEOUT = 900.0  # s, of one run
# Straight-line code gains nothing from -O2 and -O3, which compile up to twenty times as long; the expensive
# optimisations have the pass that fuses multiply-adds. The driver is short and has loops to be vectorised.
FLAGS = ("-fPIC", "-fvisibility=hidden", "-ffp-contract=fast", "-fno-math-errno", "-w")
CHUNK_FLAGS = ("-O1", "-fexpensive-optimizations")
DRIVER_FLAGS = ("-O3",)
LINK_FLAGS = ("-shared", "-pthread", "-lm")


@dataclass(frozen=True)
class Compiler:
    """A command with the options for this CPU, and the macros it defines: its version and what the CPU has."""

    command: tuple[str, ...]
    macros: Mapping[str, str]

    @property
    def identity(self) -> str:
        """Everything that tells one compiler and CPU from another."""
        return repr((self.command, sorted(self.macros.items()), FLAGS, CHUNK_FLAGS, DRIVER_FLAGS, LINK_FLAGS))


@cache
def inspect(command: tuple[str, ...]) -> Compiler:
    """The compiler of a command, asked for its macros.

    Raises
    ------
    CompileError
        If it does not answer like a C compiler.
    """
    complaint = ""
    for cpu in (("-march=native",), ("-mcpu=native",), ()):
        words = (*command, *cpu)
        try:
            answer = subprocess.run(
                [*words, "-dM", "-E", "-x", "c", os.devnull], capture_output=True, text=True, timeout=60, check=False
            )
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise CompileError(f"the C compiler {command[0]} does not run: {error}") from error
        defined = [line.split(" ", 2) for line in answer.stdout.splitlines() if line.startswith("#define ")]
        macros = {words[1]: words[-1] for words in defined}
        complaint = answer.stderr
        if answer.returncode == 0 and "__GNUC__" in macros:
            return Compiler(words, macros)
    raise CompileError(f"{' '.join(command)} is no GCC or Clang that works: {_excerpt(complaint)}")


def compile_library(compiler: Compiler, sources: Sequence[str], directory: Path, jobs: int) -> Path:
    """Compile C files, the first of them the driver, side by side, and link them.

    Parameters
    ----------
    compiler : Compiler
    sources : sequence of str
        Texts of the files.
    directory : Path
        Empty, for everything that is written.
    jobs : int
        Most compilers at a time.

    Raises
    ------
    CompileError
        If a compiler fails, quoting it.
    """
    runs, objects = [], []
    for number, text in enumerate(sources):
        source, target = directory / f"{number}.c", directory / f"{number}.o"
        source.write_text(text)
        flags = DRIVER_FLAGS if number == 0 else CHUNK_FLAGS
        runs.append([*compiler.command, *FLAGS, *flags, "-c", str(source), "-o", str(target)])
        objects.append(str(target))
    _run_all(runs, directory, jobs)
    library = directory / "library"
    _run_all([[*compiler.command, "-o", str(library), *objects, *LINK_FLAGS]], directory, jobs)
    if not library.is_file():
        raise CompileError(f"the C compiler {compiler.command[0]} wrote no library")
    return library


def _run_all(runs: Sequence[Sequence[str]], directory: Path, jobs: int) -> None:
    """Run commands, at most `jobs` at a time; none of them outlives this call."""
    running: list[subprocess.Popen[str]] = []
    try:
        for words in runs:
            if len(running) == jobs:
                _finish(running[0])
                del running[0]
            with _uninterrupted():  # between a process that runs and a list that knows it
                running.append(_start(words, directory))
        for process in running:
            _finish(process)
    finally:
        for process in running:
            _kill(process)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put off Ctrl-C."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(words: Sequence[str], directory: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"TMPDIR": str(directory), "LC_ALL": "C"}
    try:
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=directory,
            env=environment, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except OSError as error:
        raise CompileError(f"the C compiler {words[0]} does not run: {error}") from error


def _finish(process: subprocess.Popen[str]) -> None:
    """Wait for a compiler, and say what it complained about."""
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        raise CompileError(f"the C compiler took longer than {TIMEOUT:.0f} s: {_shown(process)}") from None
    if process.returncode:
        end = f"signal {-process.returncode}" if process.returncode < 0 else f"status {process.returncode}"
        raise CompileError(f"the C compiler ended with {end}: {_shown(process)}\n{_excerpt(output)}")


def _kill(process: subprocess.Popen[str]) -> None:
    """Kill a compiler that still runs, with the processes that it started itself."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.communicate()  # also closes the pipe of one that has ended by itself


def _shown(process: subprocess.Popen[str]) -> str:
    return " ".join(map(str, process.args)) if isinstance(process.args, list) else str(process.args)


def _excerpt(output: str) -> str:
    """The first lines of what a compiler wrote."""
    lines = output.strip().splitlines()
    return "\n".join(lines[:10]) or "(it wrote nothing)"
