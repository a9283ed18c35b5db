"""The library that evaluates programs: one for all functions, compiled once for a machine."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from colloc.kernels.cache import find
from colloc.kernels.compiler import CHUNK_FLAGS
from colloc.kernels.kernel import CompileError, Kernel
from colloc.kernels.library import Library, _pointers, machine_key, new_entry, target
from colloc.kernels.operations import runs, vector_names
from colloc.kernels.options import (
    Compile,
    CompileWarning,
    cache_directory,
    compiler_command,
    thread_count,
)
from colloc.kernels.program import has_code, program
from colloc.kernels.shipped import ship, shipped
from colloc.kernels.source import interpreter_source
from colloc.support.checks import warn
from colloc.support.progress import announce

_SECONDS = 1.0  # that its compilation takes
# Of every kernel, by the library that evaluates it.
_programs: weakref.WeakKeyDictionary[Kernel, dict[Path, np.ndarray]] = weakref.WeakKeyDictionary()
_failed: list[str] = []  # what has been warned of
_libraries: dict[tuple[Path, str], Path] = {}  # those in memory, by directory and key


class Interpreter(Library):
    """Kernels as programs, evaluated by one library for all of them, without compilation.

    As fast as compiled kernels where the library writes machine code of programs (x86-64 with AVX2), else half as fast.
    Kernels with an operation without a translation are left out.
    """

    def __init__(self, path: Path, kernels: Mapping[str, Kernel], threads: int):
        super().__init__(path, kernels, 0, threads)
        self.lanes = int(self._code.lanes())
        self._programs: dict[str, np.ndarray] = {}
        for name, kernel in kernels.items():
            with suppress(CompileError):
                known = _programs.setdefault(kernel, {})
                if path not in known:
                    known[path] = program(kernel, self._code)
                self._programs[name] = known[path]
        self.kernels = {name: kernels[name] for name in self._programs}
        self._symbols = dict.fromkeys(self._programs, "program")

    @property
    def writes_code(self) -> bool:
        """Whether its programs are machine code, as fast as compiled kernels."""
        return all(map(has_code, self._programs.values()))

    def __repr__(self) -> str:
        return f"Interpreter of {', '.join(self.kernels)}: {self.threads} threads, {self.path.name}"

    def evaluate_vectors(
        self, name: str, inputs: Sequence[np.ndarray], count: int, every: Sequence[int], out: np.ndarray
    ) -> None:
        """Values of the first result of a kernel at slices that are the lanes of vectors already, by one thread.

        Parameters
        ----------
        name : str
        inputs : sequence of ndarray, shape (blocks, size, lanes)
            C-contiguous. Batch b takes the block ``b // every % blocks`` of each input.
        count : int
            Batches.
        every : sequence of int
            One for each input.
        out : ndarray, shape (count, nonzeros, lanes)
        """
        (words,) = self._leading(name)
        program, one = ctypes.c_void_p(words.ctypes.data), ctypes.c_longlong(1)
        numbers = np.array([every, [len(array) for array in inputs]], dtype=np.int64)
        self._code.program_vectors(
            program, _pointers(inputs), _pointers([out]), ctypes.c_longlong(count),
            ctypes.c_void_p(numbers[0].ctypes.data), ctypes.c_void_p(numbers[1].ctypes.data),
            self._work("program", program, one, one),
        )  # fmt: skip

    def _leading(self, name: str) -> list[np.ndarray]:
        words = self._programs[name]
        self._code.set_program(ctypes.c_void_p(words.ctypes.data))
        return [words]


def interpret(kernels: Mapping[str, Kernel], options: Compile, *, compile: bool) -> Interpreter:
    """Kernels as programs of a library from the wheel or the cache, or compiled if `compile` allows it.

    CompileError without a library.
    """
    if library := shipped("interpreter", runs(), options):
        return Interpreter(library, kernels, thread_count(options))
    directory = cache_directory(options)
    key = machine_key(options)
    path = _libraries.get((directory, key)) or find(directory, key)
    if path is None and not compile:
        raise CompileError(f"{directory} has no interpreter of programs")
    if path is None:
        path = _compiled(directory, key, options)
    try:
        interpreter = Interpreter(path, kernels, thread_count(options))
    except (OSError, AttributeError) as error:
        with suppress(OSError):
            path.unlink()
        raise CompileError(f"the interpreter of programs cannot be loaded: {error}") from error
    _libraries[directory, key] = path
    return interpreter


def interpret_or_none(kernels: Mapping[str, Kernel], options: Compile, *, compile: bool) -> Interpreter | None:
    """As `interpret`, but None without a library; one warning for a compiler that fails."""
    try:
        return interpret(kernels, options, compile=compile and not _failed)
    except CompileError as error:
        if compile and not _failed and _has_compiler(options):
            _failed.append(str(error))
            warn(f"{error}; CasADi's virtual machine is used instead", CompileWarning)
        return None


def ship_interpreter(folder: Path) -> list[Path]:
    """Compile the library for wheels; see `shipped`."""
    return ship("interpreter", runs(), lambda n, macros: interpreter_source(n, vector_names(n, macros)), folder)


def _has_compiler(options: Compile) -> bool:
    try:
        return bool(compiler_command(options))
    except CompileError:
        return False


def _compiled(directory: Path, key: str, options: Compile) -> Path:
    announce("compiling what evaluates functions, once, as a cache keeps it", _SECONDS)
    compiler, lanes = target(options)
    text = interpreter_source(lanes, vector_names(lanes, compiler.macros))
    return new_entry(compiler, [text], directory, key, CHUNK_FLAGS)  # its loops are spelt in vectors: -O3 gains nothing
