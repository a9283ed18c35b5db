"""Linear solvers of IPOPT: which ones it can load, and the number of threads of their BLAS.

Some linear solvers are compiled into IPOPT, others are libraries that it loads. One is part of this package, the C
files in multifrontal/, compiled for this machine like kernels; IPOPT calls it through the interface and the name of
HSL's MA97.
"""

from __future__ import annotations

import ctypes
import hashlib
import io
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca

from colloc import kernels
from colloc.kernels import Compile, CompileError, CompileWarning
from colloc.kernels.options import cache_directory, thread_count
from colloc.solver import trial
from colloc.support.checks import InputError, quoted, warn

OURS = "multifrontal"
NAMES = ("mumps", "spral", "ma27", "ma57", "ma77", "ma86", "ma97", "pardiso")
_RARE = ("pardisomkl", "wsmp")  # an IPOPT without one of these prints a page when it is requested
# Variables and rows from which on linear algebra dominates an iteration; multifrontal takes a half to a tenth of it.
_LARGE = 1000
_LIBRARIES = ("hsllib", "pardisolib")  # options of IPOPT that name libraries
_FOLDER = Path(__file__).with_name("multifrontal")
_FILES = ("multifrontal.h", "order.c", "symbolic.c", "dense.c", "numeric.c", "ma97.c")  # one unit, in this order
# Multifrontal has its own ordering and no scaling; `ma97_u` is its USUAL_THRESHOLD, above which fronts may grow.
# Dependent rows leave pivots of rounding size with meaningless signs, for which IPOPT would regularise the Hessian
# needlessly: pivots up to `ma97_small` of their row count as zero.
_MA97 = {
    "ma97_order": "amd", "ma97_scaling": "none", "linear_system_scaling": "none", "ma97_u": 1e-8, "ma97_umax": 1e-2,
    "ma97_small": 1e-12,
}  # fmt: skip
# The line that IPOPT prints, and its replacement of equal length, since IPOPT may still have the file open.
_PRINTED, _SHOWN = "running with linear solver ma97.", "running with colloc multifrontal"
_BANNER = 5  # print level of IPOPT from which on it names the linear solver
_TRIAL = 60.0  # s, time limit of the trial
_stdout_lock, _renaming = threading.Lock(), [0]  # runs that print with the replaced name


def check_linear_solver(options: Mapping[str, Any]) -> None:
    """Raise InputError for a linear solver that cannot be loaded; names those that can."""
    name = options.get("linear_solver", "mumps")
    if name == OURS:
        if library := next((key for key in _LIBRARIES if key in options), None):
            raise InputError(f"linear_solver {OURS!r} is a library itself, got {library}={quoted(options[library])}")
        if _is_refused(source()):
            version = ca.CasadiMeta.version()
            raise InputError(f"linear_solver {OURS!r} does not fit the IPOPT of CasADi {version}; try 'mumps'")
        return
    libraries = tuple((key, options[key]) for key in _LIBRARIES if isinstance(options.get(key), str))
    if name == "mumps" or (isinstance(name, str) and name in NAMES + _RARE and _loads(name, libraries)):
        return
    legal = ", ".join([*(solver for solver in NAMES if _loads(solver, libraries)), OURS])
    hint = f"; IPOPT's options {' and '.join(_LIBRARIES)} name libraries to be loaded" if name in NAMES else ""
    raise InputError(f"linear_solver must be one that this IPOPT can load ({legal}), got {quoted(name)}{hint}")


def default_linear_solver(size: int, compile: bool | Compile | None) -> str:
    """Multifrontal for large programs, if compiling is permitted; otherwise MUMPS.

    Parameters
    ----------
    size : int
        Variables and rows.
    compile : bool, Compile or None
        As in `solve`.
    """
    return OURS if size >= _LARGE and compile is not False and _is_built() else "mumps"


@cache
def _is_built() -> bool:
    """Whether multifrontal is or can be compiled, and fits IPOPT."""
    try:
        return _fits(multifrontal())
    except CompileError:
        return False


@cache
def _is_refused(text: str) -> bool:
    """Whether multifrontal is compiled and does not fit IPOPT."""
    with suppress(CompileError):
        return not _fits(multifrontal())
    return False


@cache
def _fits(library: Path) -> bool:
    """Whether IPOPT and a library agree on their interface: tried once per library, machine and CasADi.

    IPOPT passes structures without a guaranteed layout. A successful trial is recorded beside the compiled libraries,
    if possible.
    """
    hashed = hashlib.sha256(library.read_bytes())
    hashed.update(
        repr((ca.CasadiMeta.version(), ca.__file__, Path(trial.__file__).read_text(encoding="utf-8"))).encode()
    )
    tried: Path | None = None
    with suppress(CompileError, OSError):
        tried = cache_directory(Compile()) / f"{hashed.hexdigest()[:32]}.tried"
        if tried.is_file():
            return True
    fits = _tried(library)
    if fits and tried is not None:
        with suppress(OSError):
            tried.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            tried.touch()
    return fits


def _tried(library: Path) -> bool:
    """The trial in a separate process, or in this one where none can be started."""
    words = [sys.executable, "-P", trial.__file__, str(library)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        run = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=environment,
            timeout=_TRIAL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    except OSError:
        return trial.runs_alike(str(library))
    if not run.stdout.startswith("begun"):  # no Python that finds CasADi
        return trial.runs_alike(str(library))
    return run.returncode == 0


@cache
def source() -> str:
    """The C files of multifrontal, concatenated."""
    texts = [f'#line 1 "{name}"\n{(_FOLDER / name).read_text(encoding="utf-8")}' for name in _FILES]
    return "".join(texts).replace(f'#include "{_FILES[0]}"\n', "\n")


def multifrontal() -> Path:
    """The library of multifrontal, compiled if it is neither in the package nor in the cache.

    CompileError as in `kernels.build_source`.
    """
    from colloc.kernels.compiler import LOOPS  # takes longer to import than a small problem to solve

    # In half the time of -O3, with its digits and its speed.
    return kernels.build_source(OURS, source(), Compile(), LOOPS)


def ship_multifrontal(folder: Path) -> list[Path]:
    """Compile multifrontal for wheels, into a folder."""
    return kernels.ship(OURS, source(), lambda *_: source(), folder)


def in_terms_of_ipopt(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options for IPOPT, with `multifrontal` compiled; MUMPS with a CompileWarning if that fails."""
    if options.get("linear_solver") != OURS:
        return dict(options)
    try:
        # Requested at every run, so that the cache keeps it: IPOPT loads it by its path.
        path = multifrontal()
        if not _fits(path):
            raise CompileError(f"{OURS} does not fit the IPOPT of CasADi {ca.CasadiMeta.version()}")
    except CompileError as error:
        warn(f"{error}; MUMPS is used instead of {OURS}", CompileWarning)
        return {**options, "linear_solver": "mumps"}
    ctypes.CDLL(str(path))  # also keeps the library loaded, with its analysed patterns, when IPOPT releases it
    # The number of threads is passed in a parameter of MA97 that multifrontal does not need.
    of_ma97 = {"linear_solver": "ma97", "hsllib": kernels.loaded_name(path), "ma97_nemin": thread_count(Compile())}
    return {**_MA97, **options, **of_ma97}


@contextmanager
def shown_by_name(options: Mapping[str, Any]) -> Iterator[None]:
    """A context in which IPOPT's output, on standard output and in its file, names multifrontal if it is used."""
    if options.get("linear_solver") != OURS:
        yield
        return
    prints = options.get("print_level", 0) >= _BANNER
    file = options.get("output_file") if options.get("file_print_level", _BANNER) >= _BANNER else None
    try:
        if prints:
            _rename(1)
        yield
    finally:
        if prints:
            _rename(-1)
        if isinstance(file, str) and file:
            with suppress(OSError):
                _rename_in(Path(file))


class _Renamed(io.TextIOBase):
    """Standard output with the replaced name."""

    def __init__(self, stream: Any):
        self.stream = stream

    def write(self, text: str, /) -> int:
        return self.stream.write(text.replace(_PRINTED, _SHOWN))

    def flush(self) -> None:
        self.stream.flush()


def _rename(change: int) -> None:
    """Count runs that print."""
    with _stdout_lock:
        _renaming[0] += change
        if not isinstance(sys.stdout, _Renamed) and _renaming[0]:
            sys.stdout = _Renamed(sys.stdout)
        elif isinstance(sys.stdout, _Renamed) and not _renaming[0]:
            sys.stdout = sys.stdout.stream


def _rename_in(file: Path) -> None:
    """Replace the name in IPOPT's file."""
    if not file.is_file():
        return
    with file.open("r+b") as stream:
        text, old = stream.read(), _PRINTED.encode()
        place = -1
        while (place := text.find(old, place + 1)) >= 0:
            stream.seek(place)
            stream.write(_SHOWN.encode())


@cache
def _loads(name: str, libraries: tuple[tuple[str, str], ...]) -> bool:
    """Whether IPOPT solves a program of one variable with a linear solver."""
    if name == "ma97" and not _has_ma97(libraries):
        return False
    x = ca.MX.sym("x")
    options = {"print_level": 0, "sb": "yes", "option_file_name": "", "linear_solver": name, **dict(libraries)}
    try:
        solver = ca.nlpsol("ipopt", "ipopt", {"x": x, "f": (x - 1) ** 2}, {"print_time": False, "ipopt": options})
        solver(x0=0.0)
    except RuntimeError:  # unknown to this IPOPT
        return False
    return solver.stats()["success"]


def _has_ma97(libraries: tuple[tuple[str, str], ...]) -> bool:
    """Whether HSL's library has HSL_MA97; without it IPOPT would crash."""
    suffix = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    try:
        return hasattr(ctypes.CDLL(dict(libraries).get("hsllib", f"libhsl.{suffix}")), "ma97_default_control_d")
    except OSError:
        return _loads("ma27", libraries)  # then HSL is compiled into IPOPT


@cache
def on_one_thread() -> None:
    """Make CasADi's OpenBLAS compute on one thread from now on, unless $OPENBLAS_NUM_THREADS is set.

    The dense blocks of these systems are too small for more: on two threads a step of the 55-DOF human takes 1.6 times
    the processor time to save 2 % of the wall time. Also, the order of sums changes their last digits, so that a search
    of a hundred iterations may end elsewhere, or not at all.
    """
    if os.environ.get("OPENBLAS_NUM_THREADS"):
        return
    ca.has_nlpsol("ipopt")  # loads the library
    loaded = getattr(os, "RTLD_NOLOAD", 0)  # the copy in use, of several
    for path in Path(ca.__file__).parent.glob("*casadi-tp-openblas*"):  # none if another BLAS is linked
        with suppress(OSError, AttributeError):
            ctypes.CDLL(str(path), mode=loaded).openblas_set_num_threads(1)
