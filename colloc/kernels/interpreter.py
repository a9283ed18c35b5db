"""The library that evaluates programs: one for all functions, compiled once for a machine."""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.kernels.cache import find
from colloc.kernels.compiler import QUICKLY
from colloc.kernels.kernel import CompileError, Kernel
from colloc.kernels.library import loaded_name, machine_key, new_entry, target
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
from colloc.support.checks import InputError, count, unknown_name, warn
from colloc.support.progress import announce

_SECONDS = 1.0  # that its compilation takes
# Of every kernel, by the library that evaluates it.
_programs: weakref.WeakKeyDictionary[Kernel, dict[Path, np.ndarray]] = weakref.WeakKeyDictionary()
_failed: list[str] = []  # what has been warned of
_scratch = threading.local()  # work memory of each thread
_libraries: dict[tuple[Path, str], Path] = {}  # those in memory, by directory and key


class Interpreter:
    """Kernels as programs, evaluated by one library for all of them, without compilation.

    Twice as fast where the library writes machine code of programs: on x86-64 with AVX2, and on 64-bit ARM. `lanes`
    slices are in one vector, and an evaluation uses at most `threads` threads. Kernels with an operation without a
    translation are left out, `left_out` says why.
    """

    def __init__(self, path: Path, kernels: Mapping[str, Kernel], threads: int):
        self.path, self.threads = path, threads
        self._code = ctypes.CDLL(str(path))
        self.lanes = int(self._code.lanes())
        self._programs: dict[str, np.ndarray] = {}
        self.left_out: dict[str, CompileError] = {}
        for name, kernel in kernels.items():
            try:
                known = _programs.setdefault(kernel, {})
                if path not in known:
                    known[path] = program(kernel, self._code)
                self._programs[name] = known[path]
            except CompileError as error:
                self.left_out[name] = error
        self.kernels = {name: kernels[name] for name in self._programs}

    @property
    def writes_code(self) -> bool:
        """Whether its programs are machine code."""
        return all(map(has_code, self._programs.values()))

    def __repr__(self) -> str:
        return f"Interpreter of {', '.join(self.kernels)}: {self.threads} threads, {self.path.name}"

    def external(self, name: str, slices: int, columns: np.ndarray | None = None) -> ca.Function:
        """A kernel as a CasADi function of matrices with a column per slice; shared inputs have one column.

        Each slice is added to a column of the results, counted from 0 in ascending order; only slices in the same
        `lanes` may share one, see `sums`. By default all are different.
        """
        words = self._words(name)
        count("slices", slices, at_least=1)
        # The library answers the questions for shapes that CasADi asks in this thread. That it could have been
        # removed from the cache in the meantime does not matter: it is in memory, under this path.
        width = 0 if columns is None else int(columns[-1]) + 1
        self._code.set_program(self._program(name))
        self._code.set_shape(*map(ctypes.c_longlong, (slices, self.threads, width)))
        raw = ca.external("program", loaded_name(self.path))
        inputs = [ca.MX.sym(f"x{k}", raw.sparsity_in(k)) for k in range(1, raw.n_in() - 1)]
        sizes = np.concatenate([[slices, self.threads, width], [] if columns is None else columns])
        outputs = raw.call([ca.MX(ca.DM(words.view(np.float64))), *inputs, ca.MX(ca.DM(sizes))])
        # Inlined, so that a graph that calls it holds the external itself, and nothing is copied on the way.
        return ca.Function(name, inputs, outputs, {"always_inline": True})

    def sums(self, alike: np.ndarray) -> np.ndarray:
        """Columns for `external` that add up neighbouring slices that are evaluated together.

        `alike`, shape (slices - 1,), says whether each slice may be added to the one before it.
        """
        together = np.arange(1, alike.size + 1) % self.lanes != 0
        return np.append(0, np.cumsum(~(alike & together)))

    def evaluate(
        self, name: str, inputs: Sequence[np.ndarray], out: Sequence[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Values of a kernel at N slices, each shape (N, size), in `out` if it is given.

        Inputs are of shape (N, size), or (size,) for shared ones; all arrays are C-contiguous. InputError for other
        shapes and types.
        """
        program, kernel = self._program(name), self.kernels[name]
        varying = [x for k, x in enumerate(inputs) if k not in kernel.shared] or out or [np.empty((1, 0))]
        slices = np.shape(varying[0])[0] if np.ndim(varying[0]) else 1
        shapes = [(n,) if k in kernel.shared else (slices, n) for k, n in enumerate(kernel.inputs)]
        _check_arrays("inputs", inputs, shapes)
        shapes = [(slices, n) for n in kernel.results]
        results = [np.empty(shape) for shape in shapes] if out is None else list(out)
        _check_arrays("out", results, shapes)
        if not all(array.flags.writeable for array in results):
            raise InputError("out must be writeable")
        sizes = ctypes.c_longlong(slices), ctypes.c_longlong(self.threads)
        status = self._code.program_evaluate(
            program, _pointers(inputs), _pointers(results), *sizes, self._work(program, *sizes)
        )
        if status:
            raise RuntimeError(f"kernel {name!r} failed with status {status}")
        return results

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
        program, one = self._program(name), ctypes.c_longlong(1)
        numbers = np.array([every, [len(array) for array in inputs]], dtype=np.int64)
        self._code.program_vectors(
            program, _pointers(inputs), _pointers([out]), ctypes.c_longlong(count),
            ctypes.c_void_p(numbers[0].ctypes.data), ctypes.c_void_p(numbers[1].ctypes.data),
            self._work(program, one, one),
        )  # fmt: skip

    def _words(self, name: str) -> np.ndarray:
        if name not in self._programs:
            raise unknown_name("kernel", name, self._programs)
        return self._programs[name]

    def _program(self, name: str) -> ctypes.c_void_p:
        return ctypes.c_void_p(self._words(name).ctypes.data)

    def _work(self, *arguments: Any) -> ctypes.c_void_p:
        """Work memory of the calling thread, reused between calls: new memory costs a page fault every 4 kB."""
        size = self._code.program_doubles
        size.restype = ctypes.c_longlong
        needed = size(*arguments)
        if getattr(_scratch, "array", np.empty(0)).size < needed:
            _scratch.array = np.empty(needed)
        return ctypes.c_void_p(_scratch.array.ctypes.data)


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


def interpret_or_none(kernels: Mapping[str, Kernel], options: Compile) -> Interpreter | None:
    """As `interpret`, but None without a library; one warning for a compiler that fails."""
    try:
        return interpret(kernels, options, compile=not _failed)
    except CompileError as error:
        if not _failed and _has_compiler(options):
            _failed.append(str(error))
            warn(f"{error}; CasADi's virtual machine is used instead", CompileWarning)
        return None


def interpret_or_warn(kernels: Mapping[str, Kernel], options: Compile) -> Interpreter | None:
    """As `interpret`, but None without a library; a CompileWarning says what CasADi's virtual machine evaluates."""
    instead = "CasADi's virtual machine is used instead"
    try:
        interpreter = interpret(kernels, options, compile=True)
    except CompileError as error:
        warn(f"{error}; {instead}", CompileWarning)
        return None
    for message in sorted({str(error) for error in interpreter.left_out.values()}):
        warn(f"{message}; {instead}", CompileWarning)
    return interpreter


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
    return new_entry(compiler, text, directory, key, QUICKLY)  # its loops are spelt in vectors: -O3 gains nothing


def _check_arrays(what: str, arrays: Sequence[np.ndarray], shapes: Sequence[tuple[int, ...]]) -> None:
    fits = len(arrays) == len(shapes) and all(
        isinstance(array, np.ndarray) and array.dtype == np.float64 and array.flags.c_contiguous
        and array.shape == shape for array, shape in zip(arrays, shapes, strict=True)
    )  # fmt: skip
    if not fits:
        types = [f"{getattr(array, 'dtype', type(array))} {np.shape(array)}" for array in arrays]
        raise InputError(f"{what} must be C-contiguous float64 of shapes {list(shapes)}, got {types}")


def _pointers(arrays: Sequence[np.ndarray]) -> ctypes.Array[ctypes.c_void_p]:
    return (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
