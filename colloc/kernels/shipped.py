"""Libraries of fixed C code that come with a wheel, compiled for kinds of CPUs: where one serves, nothing is compiled.

`ship` makes them where a wheel is made; a checkout has none.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from colloc.kernels.compiler import compile_library, inspect
from colloc.kernels.options import Compile, compiler_command, lane_count

FOLDER = Path(__file__).with_name("compiled")


class Kind(NamedTuple):
    """CPUs that have the same instructions, as compilers name them, and their names in /proc/cpuinfo."""

    name: str
    flags: tuple[str, ...] = ()
    instructions: frozenset[str] = frozenset()


_V3 = frozenset(["avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"])
_V4 = _V3 | frozenset(["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"])
_X86 = Kind("v4", ("-march=x86-64-v4",), _V4), Kind("v3", ("-march=x86-64-v3",), _V3)
# Of each machine, the best first.
KINDS = {"x86_64": (*_X86, Kind("any")), "aarch64": (Kind("any"),), "arm64": (Kind("any"),)}


def shipped(name: str, text: str, options: Compile) -> Path | None:
    """The library that came with the package for this CPU; None without one of just this text.

    None, too, where the user has chosen a compiler or a number of lanes.
    """
    if options.compiler is not None or options.lanes is not None or not FOLDER.is_dir():
        return None
    kinds = (kind for kind in KINDS.get(platform.machine(), ()) if kind.instructions <= _instructions())
    return next((path for kind in kinds if _loads(path := FOLDER / _file(name, text, kind))), None)


def ship(name: str, text: str, source: Callable[[int, Mapping[str, str]], str], folder: Path) -> list[Path]:
    """Compile a library for every kind of CPU of this machine's make, into a folder.

    `text` tells the library from those of other versions; `source` is its C code, by lanes and the compiler's macros.
    CompileError without a compiler.
    """
    paths = []
    for kind in KINDS.get(platform.machine(), ()):
        compiler = inspect(compiler_command(Compile()), (kind.flags,))
        with tempfile.TemporaryDirectory() as directory:
            texts = [source(lane_count(Compile(), compiler.macros), compiler.macros)]
            library = compile_library(compiler, texts, Path(directory), 1)
            paths.append(folder / _file(name, text, kind))
            paths[-1].write_bytes(library.read_bytes())
    return paths


@cache
def _file(name: str, text: str, kind: Kind) -> str:
    return f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}-{kind.name}.so"


@cache
def _loads(path: Path) -> bool:
    """Whether there is such a library, and this machine's C library is not too old for it."""
    with suppress(OSError):
        return path.is_file() and bool(ctypes.CDLL(str(path)))
    return False


@cache
def _instructions() -> frozenset[str]:
    """What this CPU has, where Linux says it."""
    with suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("flags"):
                return frozenset(line.split())
    return frozenset()
