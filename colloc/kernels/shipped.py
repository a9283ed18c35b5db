"""Libraries of fixed C code in wheels, compiled for kinds of CPUs, so that no compiler is needed.

`ship` makes them for a wheel; a checkout has none.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from colloc.kernels.cache import SUFFIX
from colloc.kernels.compiler import compile_library, inspect
from colloc.kernels.options import Compile, compiler_command, lane_count

FOLDER = Path(__file__).with_name("compiled")


class Kind(NamedTuple):
    """CPUs with the same instructions, by their name for compilers, and the instructions' names on Linux."""

    name: str
    flags: tuple[str, ...] = ()
    instructions: frozenset[str] = frozenset()


_V3 = frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"])
_V4 = _V3 | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
_X86 = Kind("v4", ("-march=x86-64-v4",), _V4), Kind("v3", ("-march=x86-64-v3",), _V3)
# Of each machine, the best first.
KINDS = {"x86_64": (*_X86, Kind("any")), "aarch64": (Kind("any"),)}
_ALIASES = {"AMD64": "x86_64", "arm64": "aarch64"}  # of Windows and macOS
_PF_AVX2 = 40  # PF_AVX2_INSTRUCTIONS_AVAILABLE of Windows
# Names of macOS for instructions of v3; a CPU that has them has the others, too.
_MACOS = ("avx1_0", "avx2_0", "bmi1", "bmi2", "f16c", "fma")


def shipped(name: str, text: str, options: Compile) -> Path | None:
    """The package's library of exactly this text for this CPU, or None.

    None as well if the user has chosen a compiler or a number of lanes.
    """
    if options.compiler is not None or options.lanes is not None or not FOLDER.is_dir():
        return None
    kinds = (kind for kind in KINDS.get(_machine(), ()) if kind.instructions <= _instructions())
    return next((path for kind in kinds if _loads(path := FOLDER / _file(name, text, kind))), None)


def ship(name: str, text: str, source: Callable[[int, Mapping[str, str]], str], folder: Path) -> list[Path]:
    """Compile a library for every kind of CPU of the compiler's platform, which may be another one, into a folder.

    `text` identifies the version of the library; `source` is its C code, by lanes and the compiler's macros.
    CompileError without a compiler.
    """
    paths, command = [], compiler_command(Compile())
    macros = inspect(command, ((),)).macros
    kinds = next((kinds for machine, kinds in KINDS.items() if f"__{machine}__" in macros), ())
    windows = "_WIN32" in macros
    common = _V4 if "__linux__" in macros else _V3  # see `_instructions`
    for kind in (kind for kind in kinds if kind.instructions <= common):
        compiler = inspect(command, (kind.flags,))
        with tempfile.TemporaryDirectory() as directory:
            code = source(lane_count(Compile(), compiler.macros), compiler.macros)
            library = compile_library(compiler, code, Path(directory))
            paths.append(folder / _file(name, text, kind, ".dll" if windows else ".so"))
            paths[-1].write_bytes(library.read_bytes())
    return paths


@cache
def _file(name: str, text: str, kind: Kind, suffix: str = SUFFIX) -> str:
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}-{kind.name}{suffix}"


@cache
def _loads(path: Path) -> bool:
    """Whether the library exists, and this machine's C library is not too old for it."""
    with suppress(OSError):
        return path.is_file() and bool(ctypes.CDLL(str(path)))
    return False


def _machine() -> str:
    """This machine's name on Linux."""
    return _ALIASES.get(platform.machine(), platform.machine())


@cache
def _instructions() -> frozenset[str]:
    """Instructions of this CPU, up to AVX2 on Windows, which does not tell all of AVX-512, and on macOS."""
    if sys.platform == "win32":
        return _V3 if ctypes.windll.kernel32.IsProcessorFeaturePresent(_PF_AVX2) else frozenset()
    if sys.platform == "darwin":
        return _V3 if all(map(_macos_has, _MACOS)) else frozenset()
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("flags"):
                return frozenset(line.split())
    return frozenset()


def _macos_has(instructions: str) -> bool:
    value, size = ctypes.c_int(0), ctypes.c_size_t(ctypes.sizeof(ctypes.c_int))
    name = f"hw.optional.{instructions}".encode()
    failed = ctypes.CDLL(None).sysctlbyname(name, ctypes.byref(value), ctypes.byref(size), None, ctypes.c_size_t(0))
    return not failed and value.value == 1
