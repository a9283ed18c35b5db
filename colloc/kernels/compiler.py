"""The C compiler and its runs."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from colloc.kernels.kernel import CompileError
from colloc.kernels.options import CompileWarning
from colloc.support.checks import warn
from colloc.support.interrupts import uninterrupted
from colloc.support.threads import raise_if_stopped

PATIENCE = 30.0  # s, after which a run that has not ended is spoken of
TIMEOUT = 900.0  # s, of one run
_GLANCE = 0.1  # s, between looks at whether to wait on
FLAGS = ("-fPIC", "-fvisibility=hidden", "-ffp-contract=fast", "-fno-math-errno", "-DNDEBUG")
OPTIMISED = ("-O3",)
QUICKLY = ("-O1", "-fexpensive-optimizations")  # which have the pass that fuses multiply-adds
# Loops over rows and columns in vectors, and unrolled where their length is known: code as fast as by -O3.
LOOPS = (*QUICKLY, "-ftree-vectorize", "-fpeel-loops")
LINK_FLAGS = ("-shared", "-pthread", "-lm")
# On Windows the stack is not aligned for wide vectors, and GCC does not know that; temporary files are not found in a
# folder whose name has letters of another alphabet, unless they lie beside the objects; and nor are the compiler's
# libraries when the compiled one is loaded.
UNALIGNED = "-Wa,-muse-unaligned-vector-move"
FLAGS_OF_WINDOWS, LINK_FLAGS_OF_WINDOWS = ("-save-temps=obj",), ("-static",)
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
    def flags(self) -> tuple[str, ...]:
        """Options of all C files."""
        if "_WIN32" not in self.macros:
            return FLAGS
        others = FLAGS_OF_WINDOWS if "__clang__" in self.macros else (*FLAGS_OF_WINDOWS, UNALIGNED)
        return *(flag for flag in FLAGS if flag != "-fPIC"), *others

    @property
    def link_flags(self) -> tuple[str, ...]:
        """Options of a library."""
        return LINK_FLAGS + ((*FLAGS_OF_WINDOWS, *LINK_FLAGS_OF_WINDOWS) if "_WIN32" in self.macros else ())


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
        if "_MSC_VER" in macros:
            complaint = "it is for Microsoft's C library; use that of MinGW-w64"
    raise CompileError(f"{' '.join(command)} is no working GCC or Clang: {_excerpt(complaint)}")


def compile_library(compiler: Compiler, text: str, directory: Path, flags: Sequence[str] = OPTIMISED) -> Path:
    """Compile a C file in an empty directory. CompileError if that fails, quoting the compiler."""
    # Relative to the directory, as some compilers on Windows do not find a path with foreign letters; with a suffix, as
    # one would be appended there.
    source, target, library = "library.c", "library.o", "library.so"
    (directory / source).write_text(text, encoding="utf-8")
    for options in (
        [*compiler.flags, *flags, "-c", source, "-o", target], ["-o", library, target, *compiler.link_flags],
    ):  # fmt: skip
        status, output = _answer([*compiler.command, *options], directory)
        if status:
            # Of a compiler that was killed the shell says 128 and the number of the signal.
            end = f"signal {status - 128}" if status > 128 else f"status {status}"
            raise CompileError(f"the C compiler ended with {end}: {' '.join(compiler.command)}\n{_excerpt(output)}")
    if not (directory / library).is_file():
        raise CompileError(f"the C compiler {compiler.command[0]} wrote no library")
    return directory / library


@dataclass(frozen=True)
class _Compilation:
    """A running compiler, and what ends it when it is closed, also by the end of this process.

    That is the end of a pipe, and a job on Windows.
    """

    words: Sequence[str]
    process: subprocess.Popen[str]
    alive: Any

    @classmethod
    def start(cls, words: Sequence[str], directory: Path | None) -> _Compilation:
        """Start a command in a directory, with its temporary files there."""
        temporary = ("TMP", "TEMP") if sys.platform == "win32" else ("TMPDIR",)
        environment = os.environ | {"LC_ALL": "C"} | (dict.fromkeys(temporary, ".") if directory else {})
        if sys.platform == "win32":
            return cls._start_in_job(words, directory, environment)
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

    @classmethod
    def _start_in_job(
        cls, words: Sequence[str], directory: Path | None, environment: Mapping[str, str]
    ) -> _Compilation:
        """Start a command on Windows, in a job and without a window."""
        # Programs of a compiler are looked for beside it.
        path = os.pathsep.join([os.path.dirname(words[0]), environment.get("PATH", "")])
        flags = getattr(subprocess, "CREATE_NO_WINDOW", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
        try:
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=directory,
                env={**environment, "PATH": path}, text=True, errors="replace", creationflags=flags,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise CompileError(f"the C compiler {words[0]} does not run: {error}") from error
        return cls(words, process, _Job(process))

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
            if sys.platform == "win32":
                self.alive.close()
                self.process.kill()
            else:
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()  # also closes the pipe of one that has ended by itself
        self.alive.close()


class _Job:
    """A process and those that it starts, on Windows: they end when the job is closed."""

    def __init__(self, process: subprocess.Popen[str]):
        kernel = ctypes.WinDLL("kernel32")  # pyright: ignore[reportAttributeAccessIssue]
        kernel.CreateJobObjectW.restype = handle = ctypes.c_void_p
        self._close, self._job = kernel.CloseHandle, handle(kernel.CreateJobObjectW(None, None))
        limits = ctypes.create_string_buffer(144)  # JOBOBJECT_EXTENDED_LIMIT_INFORMATION, its LimitFlags from byte 16
        limits[16:20] = (0x2000).to_bytes(4, "little")  # JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
        kernel.SetInformationJobObject(self._job, 9, limits, len(limits))
        kernel.AssignProcessToJobObject(self._job, handle(int(process._handle)))  # pyright: ignore[reportAttributeAccessIssue]

    def close(self) -> None:
        """End what still runs."""
        job, self._job = self._job, None
        if job is not None:
            self._close(job)


def _answer(words: Sequence[str], directory: Path | None = None) -> tuple[int, str]:
    """Status and output of a run, which does not outlive this call: a short one without a directory."""
    with uninterrupted():
        run = _Compilation.start(words, directory)
    try:
        return run.finish(PATIENCE, TIMEOUT if directory else PATIENCE)
    finally:
        run.kill()


def _excerpt(output: str) -> str:
    lines = output.strip().splitlines()
    return "\n".join(lines[:10]) or "(it wrote nothing)"
