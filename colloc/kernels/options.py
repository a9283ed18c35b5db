"""Options for the compilation and execution of kernels, and their defaults."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from colloc.kernels.kernel import CompileError
from colloc.support.checks import InputError, count, flag, quoted, spelt, text

LANES = (1, 2, 4, 8)
VIRTUAL = 4e-9  # s for an instruction in a slice, by CasADi's virtual machine
MOST_THREADS = 256  # the driver's


class CompileWarning(UserWarning):
    """A library could not be compiled; the answers are the same, but take longer.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", co.kernels.CompileWarning)
    ...     evaluator = co.Evaluator(problem.model, compile=True)
    """


@spelt
@dataclass(frozen=True)
class Compile:
    """Options for the library that evaluates functions.

    Parameters
    ----------
    threads : int, optional
        Largest number of threads of an evaluation; by default $OMP_NUM_THREADS, or the CPUs of this process.
    compiler : str, optional
        Command of a GCC or Clang, on Windows of MinGW-w64, which may have options; by default $CC, or the first of
        gcc, clang and cc.
    lanes : int, optional
        Slices in one vector: 1, 2, 4 or 8; by default as many as the CPU's registers hold.
    cache : path, optional
        Directory of compiled libraries; by default $COLLOC_CACHE_DIR, or colloc in the user's cache directory.
    inline : bool
        If True, nothing is compiled: functions become parts of CasADi's graphs, of which it can write C code.

    Raises
    ------
    InputError
        For values other than these.

    Examples
    --------
    >>> one = co.kernels.Compile(threads=1)
    >>> evaluator = co.Evaluator(problem.model, compile=one)
    """

    threads: int | None = None
    compiler: str | None = None
    lanes: int | None = None
    cache: str | os.PathLike[str] | None = None
    inline: bool = False

    def __post_init__(self) -> None:
        flag("inline", self.inline)
        if self.threads is not None:
            count("threads", self.threads, at_least=1, at_most=MOST_THREADS)
        if self.compiler is not None and not _words(text("compiler", self.compiler)):
            raise InputError(f"compiler must be a command such as 'gcc', got {quoted(self.compiler)}")
        if self.lanes is not None and count("lanes", self.lanes, at_least=1) not in LANES:
            raise InputError(f"lanes must be 1, 2, 4 or 8, got {quoted(self.lanes)}")
        if self.cache is not None and not (isinstance(self.cache, str | os.PathLike) and _named(self.cache)):
            raise InputError(f"cache must be a directory, got {quoted(self.cache)}")


def check_compile(compile: object) -> None:
    """InputError for anything but True, False, None or a Compile."""
    if not (compile is None or isinstance(compile, bool | Compile)):
        raise InputError(f"compile must be True, False, None or a Compile, got {quoted(compile)}")


def thread_count(options: Compile) -> int:
    """Largest number of threads of an evaluation."""
    if options.threads is not None:
        return options.threads
    wished = os.environ.get("OMP_NUM_THREADS", "")
    if wished.isascii() and wished.isdigit() and int(wished) > 0:
        return min(int(wished), MOST_THREADS)
    return min(processors(), MOST_THREADS)


def processors() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def lane_count(options: Compile, macros: Mapping[str, str]) -> int:
    """Slices in one vector, by the compiler's macros for this CPU."""
    if options.lanes is not None:
        return options.lanes
    return 8 if "__AVX512F__" in macros else 4 if "__AVX__" in macros else 2


def compiler_command(options: Compile) -> tuple[str, ...]:
    """Command of the C compiler, found on the PATH; CompileError if there is none."""
    wished = options.compiler or os.environ.get("CC")
    for command in [wished] if wished else ["gcc", "clang", "cc"]:
        words = _words(command)
        path = shutil.which(words[0]) if words else None
        if path:
            return (os.path.abspath(path), *words[1:])
    raise CompileError(f"no C compiler found: {wished or 'neither gcc, clang nor cc'}")


def cache_directory(options: Compile) -> Path:
    """Directory of compiled libraries; CompileError without one, such as for a user without a home."""
    chosen = options.cache or os.environ.get("COLLOC_CACHE_DIR")
    try:
        if chosen:
            return Path(chosen).expanduser().absolute()
        # A relative path would be another directory in every working directory.
        if (xdg := Path(os.environ.get("XDG_CACHE_HOME", ""))).is_absolute():
            return xdg / "colloc"
        home = Path.home()
    except (OSError, RuntimeError) as error:
        raise CompileError(f"no directory for compiled kernels: {error}; set $COLLOC_CACHE_DIR") from error
    if not home.is_absolute():
        raise CompileError(f"no directory for compiled kernels: home is {str(home)!r}; set $COLLOC_CACHE_DIR")
    return home / {"darwin": "Library/Caches", "win32": "AppData/Local"}.get(sys.platform, ".cache") / "colloc"


def _named(path: str | os.PathLike[str]) -> bool:
    try:
        return 0 not in os.fsencode(path) and bool(os.fspath(path))
    except (ValueError, TypeError):
        return False


def _words(command: str) -> list[str]:
    """Words of a command; empty if its quotes do not match."""
    try:
        if sys.platform == "win32":  # where \ separates folders
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError:
        return []
