"""The C compiler and its runs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO

from colloc.kernels.kernel import CompileError
from colloc.kernels.options import CompileWarning
from colloc.support.checks import warn
from colloc.support.interrupts import uninterrupted
from colloc.support.threads import raise_if_stopped

PATIENCE = 30.0  # s, after which a run that has not ended is spoken of
TIMEOUT = 900.0  # s, of one run
_GLANCE = 0.1  # s, between looks at whether to wait on
# Straight-line code gains nothing from -O2 and -O3, which compile up to twenty times as long; the expensive
# optimisations have the pass that fuses multiply-adds. The driver is short and has loops to be vectorised.
FLAGS = ("-fPIC", "-fvisibility=hidden", "-ffp-contract=fast", "-fno-math-errno", "-DNDEBUG")
CHUNK_FLAGS = ("-O1", "-fexpensive-optimizations")
DRIVER_FLAGS = ("-O3",)
LINK_FLAGS = ("-shared", "-pthread", "-lm")
THIS_CPU = ("-march=native",), ("-mcpu=native",), ()
# Ends with its compiler, or with the process at the other end of its standard input, with all that it started: a
# compiler that hangs would outlive a Python that is killed.
_WATCHED = """
exec 3<&0 </dev/null
"$@" 3<&- & work=$!
{ read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & watch=$!
exec 3<&-
wait $work; code=$?
kill $watch
exit $code
"""


@dataclass(frozen=True)
class Compiler:
    """A command with the options for this CPU, and the macros it defines: its version and features of the CPU."""

    command: tuple[str, ...]
    macros: Mapping[str, str]

    @property
    def identity(self) -> str:
        """Text that identifies compiler and CPU."""
        return repr((self.command, sorted(self.macros.items()), FLAGS, CHUNK_FLAGS, DRIVER_FLAGS, LINK_FLAGS))


@cache
def inspect(command: tuple[str, ...], cpus: tuple[tuple[str, ...], ...] = THIS_CPU) -> Compiler:
    """The compiler of a command, with its macros and the first options for a CPU that it accepts.

    CompileError if it does not answer like a C compiler.
    """
    complaint = ""
    for cpu in cpus:
        words = (*command, *cpu)
        status, complaint = _answer([*words, "-dM", "-E", "-x", "c", os.devnull])
        defined = [line.split(" ", 2) for line in complaint.splitlines() if line.startswith("#define ")]
        macros = {parts[1]: parts[-1] for parts in defined}
        if status == 0 and "__GNUC__" in macros:
            return Compiler(words, macros)
    raise CompileError(f"{' '.join(command)} is no working GCC or Clang: {_excerpt(complaint)}")


def compile_library(
    compiler: Compiler, sources: Sequence[str], directory: Path, jobs: int, flags: Sequence[str] = DRIVER_FLAGS
) -> Path:
    """Compile C files in parallel, the first of them with separate flags, and link them in an empty directory.

    At most `jobs` compilers run at a time. CompileError if one fails, quoting it.
    """
    runs, objects = [], []
    for number, text in enumerate(sources):
        source, target = directory / f"{number}.c", directory / f"{number}.o"
        source.write_text(text, encoding="utf-8")
        chunk_flags = CHUNK_FLAGS if number else flags
        runs.append([*compiler.command, *FLAGS, *chunk_flags, "-c", str(source), "-o", str(target)])
        objects.append(str(target))
    _run_all(runs, directory, jobs)
    library = directory / "library"
    _run_all([[*compiler.command, "-o", str(library), *objects, *LINK_FLAGS]], directory, jobs)
    if not library.is_file():
        raise CompileError(f"the C compiler {compiler.command[0]} wrote no library")
    return library


@dataclass(frozen=True)
class _Compilation:
    """A running compiler, and the end of a pipe that is open as long as this process lives."""

    words: Sequence[str]
    process: subprocess.Popen[str]
    alive: IO[bytes]

    @classmethod
    def start(cls, words: Sequence[str], directory: Path | None) -> _Compilation:
        """Start a command in a directory, with its temporary files there."""
        environment = os.environ | {"LC_ALL": "C"} | ({"TMPDIR": str(directory)} if directory else {})
        theirs, ours = os.pipe()
        try:
            process = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHED, "sh", *words], stdin=theirs, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, cwd=directory, env=environment, text=True, errors="replace",
                start_new_session=True,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            os.close(ours)
            raise CompileError(f"the C compiler {words[0]} does not run: {error}") from error
        finally:
            os.close(theirs)
        return cls(words, process, os.fdopen(ours, "wb"))

    def finish(self, patience: float, timeout: float) -> tuple[int, str]:
        """Wait for its status and output; announce a long wait, and end it after a time limit."""
        begin, spoken = time.monotonic(), patience >= timeout
        while (waited := time.monotonic() - begin) < timeout:
            if waited > patience and not spoken:
                hint = "Ctrl-C ends it, compile=False does without"
                words = f"the C compiler {self.words[0]} has been running for {patience:.0f} s: {hint}"
                warn(words, CompileWarning)
                spoken = True
            raise_if_stopped()
            with suppress(subprocess.TimeoutExpired):
                output, _ = self.process.communicate(timeout=_GLANCE)
                return self.process.returncode, output
        raise CompileError(f"the C compiler took longer than {timeout:.0f} s: {' '.join(self.words)}")

    def kill(self) -> None:
        """Kill it if it still runs, with its child processes."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()  # also closes the pipe of one that has ended by itself
        self.alive.close()


def _answer(words: Sequence[str]) -> tuple[int, str]:
    """Status and output of a short run."""
    with uninterrupted():
        run = _Compilation.start(words, None)
    try:
        return run.finish(PATIENCE, PATIENCE)
    finally:
        run.kill()


def _run_all(runs: Sequence[Sequence[str]], directory: Path, jobs: int) -> None:
    """Run commands, at most `jobs` at a time; none of them outlives this call."""
    running: list[_Compilation] = []
    try:
        for words in runs:
            if len(running) == jobs:
                _check(running[0])
                running.pop(0).kill()
            with uninterrupted():  # between a process that runs and a list that knows it
                running.append(_Compilation.start(words, directory))
        for run in running:
            _check(run)
    finally:
        for run in running:
            run.kill()


def _check(run: _Compilation) -> None:
    """Wait for a compiler; CompileError with its output if it fails."""
    status, output = run.finish(PATIENCE, TIMEOUT)
    if status:
        # Of a compiler that was killed the shell says 128 and the number of the signal.
        end = f"signal {status - 128}" if status > 128 else f"status {status}"
        raise CompileError(f"the C compiler ended with {end}: {' '.join(run.words)}\n{_excerpt(output)}")


def _excerpt(output: str) -> str:
    lines = output.strip().splitlines()
    return "\n".join(lines[:10]) or "(it wrote nothing)"
