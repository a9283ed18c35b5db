"""Compiled kernels: built or loaded, and called from CasADi and from NumPy."""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from colloc.kernels.cache import build_directory, evict, find, store
from colloc.kernels.compiler import DRIVER_FLAGS, Compiler, compile_library, inspect
from colloc.kernels.kernel import CompileError, Kernel
from colloc.kernels.operations import vector_names
from colloc.kernels.options import (
    COMPILED,
    Compile,
    CompileWarning,
    cache_directory,
    compiler_command,
    lane_count,
    processors,
    thread_count,
)
from colloc.kernels.shipped import shipped
from colloc.kernels.source import sources
from colloc.support.checks import InputError, count, unknown_name, warn
from colloc.support.progress import announce

_scratch = threading.local()  # work memory of each thread, whichever library it calls


class Library:
    """Compiled kernels in memory, by name in the order in which they were compiled.

    `lanes` slices are in one vector, and an evaluation uses at most `threads` threads.
    """

    def __init__(self, path: Path, kernels: Mapping[str, Kernel], lanes: int, threads: int):
        self.path, self.lanes, self.threads, self.kernels = path, lanes, threads, dict(kernels)
        self._symbols = {name: f"kernel_{number}" for number, name in enumerate(self.kernels)}
        self._code = ctypes.CDLL(str(path))
        self._set_shape = self._code.set_shape

    def __repr__(self) -> str:
        return f"Library of {', '.join(self.kernels)}: {self.threads} threads, {self.path.name}"

    def external(self, name: str, slices: int, columns: np.ndarray | None = None) -> ca.Function:
        """A kernel as a CasADi function of matrices with a column per slice; shared inputs have one column.

        Each slice is added to a column of the results, counted from 0 in ascending order; only slices in the same
        `lanes` may share one, see `sums`. By default all are different.
        """
        symbol, leading = self._symbol(name), self._leading(name)
        count("slices", slices, at_least=1)
        # The library answers the questions for shapes that CasADi asks in this thread. That it could have been
        # removed from the cache in the meantime does not matter: it is in memory, under this path.
        width = 0 if columns is None else int(columns[-1]) + 1
        self._set_shape(*map(ctypes.c_longlong, (slices, self.threads, width)))
        raw = ca.external(symbol, loaded_name(self.path))
        inputs = [ca.MX.sym(f"x{k}", raw.sparsity_in(k)) for k in range(len(leading), raw.n_in() - 1)]
        sizes = np.concatenate([[slices, self.threads, width], [] if columns is None else columns])
        program = [ca.MX(ca.DM(words.view(np.float64))) for words in leading]
        outputs = raw.call([*program, *inputs, ca.MX(ca.DM(sizes))])
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
        symbol, kernel = self._symbol(name), self.kernels[name]
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
        leading = [ctypes.c_void_p(words.ctypes.data) for words in self._leading(name)]
        status = getattr(self._code, f"{symbol}_evaluate")(
            *leading, _pointers(inputs), _pointers(results), *sizes, self._work(symbol, *leading, *sizes)
        )
        if status:
            raise RuntimeError(f"kernel {name!r} failed with status {status}")
        return results

    def _symbol(self, name: str) -> str:
        if name not in self._symbols:
            raise unknown_name("kernel", name, self._symbols)
        return self._symbols[name]

    def _leading(self, name: str) -> list[np.ndarray]:
        """Arguments of a kernel's functions before its inputs."""
        return []

    def _work(self, symbol: str, *arguments: Any) -> ctypes.c_void_p:
        """Work memory of the calling thread, reused between calls: new memory costs a page fault every 4 kB."""
        size = getattr(self._code, f"{symbol}_doubles")
        size.restype = ctypes.c_longlong
        needed = size(*arguments)
        if getattr(_scratch, "array", np.empty(0)).size < needed:
            _scratch.array = np.empty(needed)
        return ctypes.c_void_p(_scratch.array.ctypes.data)


def loaded_name(path: Path) -> str:
    """The name by which C libraries open a library that is loaded.

    On Windows the file's name leads to what is loaded. Paths that are not in the alphabet of the system would not.
    """
    return path.name if sys.platform == "win32" else str(path)


def build(kernels: Mapping[str, Kernel], options: Compile) -> Library:
    """Kernels compiled to machine code, or loaded if the cache has them.

    CompileError without a working compiler, a cache directory that only the user can write, or a translation of an
    operation.
    """
    compiler, lanes = target(options)
    directory, key = cache_directory(options), _key(kernels, compiler, lanes)
    path = find(directory, key)
    if path is None:
        work = sum(kernel.function.n_instructions() for kernel in kernels.values())
        announce(f"compiling {len(kernels)} functions, once, as a cache keeps them", COMPILED * work)
        texts = sources(list(kernels.values()), lanes, vector_names(lanes, compiler.macros))
        path = new_entry(compiler, texts, directory, key)
    try:
        return Library(path, kernels, lanes, thread_count(options))
    except (OSError, AttributeError) as error:
        with suppress(OSError):
            path.unlink()
        raise CompileError(f"compiled kernels cannot be loaded: {error}") from error


def build_source(name: str, text: str, options: Compile) -> Path:
    """The library of one C file: from the package or the cache, or compiled; CompileError as in `build`."""
    if library := shipped(name, text, options):
        return library
    directory, key = cache_directory(options), machine_key(options, text)
    return find(directory, key) or new_entry(target(options)[0], [text], directory, key)


def new_entry(
    compiler: Compiler, texts: Sequence[str], directory: Path, key: str, flags: Sequence[str] = DRIVER_FLAGS
) -> Path:
    """A new entry of the cache; the flags are those of its first file."""
    with build_directory(directory) as inside:
        path = store(directory, key, compile_library(compiler, texts, inside, processors(), flags))
    evict(directory, path)
    return path


def build_or_warn(kernels: Mapping[str, Kernel], options: Compile) -> Library | None:
    """As `build`, but a library without kernels, after a CompileWarning, if they cannot be compiled."""
    try:
        return build(kernels, options)
    except CompileError as error:
        warn(f"{error}; CasADi's virtual machine is used instead", CompileWarning)
        return None


def cached(kernels: Mapping[str, Kernel], options: Compile) -> bool:
    """Whether `build` would find these kernels compiled; never raises CompileError."""
    try:
        compiler, lanes = target(options)
        return find(cache_directory(options), _key(kernels, compiler, lanes)) is not None
    except CompileError:
        return False


def target(options: Compile) -> tuple[Compiler, int]:
    """The compiler, and the number of slices in one vector; CompileError without a compiler."""
    compiler = inspect(compiler_command(options))
    return compiler, lane_count(options, compiler.macros)


def _key(kernels: Mapping[str, Kernel], compiler: Compiler, lanes: int) -> str:
    """Hash of all that a library depends on, including the kernels and this package."""
    parts = compiler.identity, lanes, sorted(vector_names(lanes, compiler.macros).items()), own_code()
    hashed = hashlib.sha256(repr(parts).encode())
    for kernel in kernels.values():
        hashed.update(kernel.digest)
    return hashed.hexdigest()[:32]


def machine_key(options: Compile, text: str = "") -> str:
    """Hash of all that a library of fixed C code, and of some text, depends on.

    It does not call a compiler, which takes longer than a small problem.
    """
    command = compiler_command(options)
    status = os.stat(command[0])
    compiler = command, status.st_size, status.st_mtime_ns
    parts = ca.CasadiMeta.version(), own_code(), compiler, options.lanes, _cpu(), text
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


@cache
def _cpu() -> str:
    """Text that identifies the instructions of this CPU among those that share a cache."""
    with suppress(OSError):
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            lines = file.read(2**14).splitlines()
        return "\n".join(line for line in lines if line.startswith(("flags", "Features", "CPU part")))
    return f"{platform.machine()} {platform.processor()}"


@cache
def own_code() -> str:
    """Hash of this package."""
    hashed = hashlib.sha256()
    for path in sorted(Path(__file__).parent.iterdir()):
        if path.suffix in (".py", ".c", ".h"):
            hashed.update(path.read_bytes())
    return hashed.hexdigest()


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
