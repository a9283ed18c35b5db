"""Libraries of fixed C code: from the package or the cache, or compiled."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import casadi as ca

from colloc.kernels.cache import build_directory, evict, find, store
from colloc.kernels.compiler import OPTIMISED, Compiler, compile_library, inspect
from colloc.kernels.options import Compile, cache_directory, compiler_command, lane_count
from colloc.kernels.shipped import shipped


def loaded_name(path: Path) -> str:
    """The name by which C libraries open a library that is loaded.

    On Windows they do not find all paths with letters outside of ASCII; there the file's name leads to what this
    process has loaded.
    """
    return path.name if sys.platform == "win32" and not str(path).isascii() else str(path)


def build_source(name: str, text: str, options: Compile, flags: Sequence[str] = OPTIMISED) -> Path:
    """The library of one C file; the flags are for GCC, other compilers optimise.

    CompileError without a working compiler, or a cache directory that only the user can write.
    """
    if library := shipped(name, text, options):
        return library
    directory, key = cache_directory(options), machine_key(options, " ".join([*flags, text]))
    if library := find(directory, key):
        return library
    compiler = target(options)[0]
    return new_entry(compiler, text, directory, key, OPTIMISED if "__clang__" in compiler.macros else flags)


def new_entry(compiler: Compiler, text: str, directory: Path, key: str, flags: Sequence[str] = OPTIMISED) -> Path:
    """A new entry of the cache."""
    with build_directory(directory) as inside:
        path = store(directory, key, compile_library(compiler, text, inside, flags))
    evict(directory, path)
    return path


def target(options: Compile) -> tuple[Compiler, int]:
    """The compiler, and the number of slices in one vector; CompileError without a compiler."""
    compiler = inspect(compiler_command(options))
    return compiler, lane_count(options, compiler.macros)


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
