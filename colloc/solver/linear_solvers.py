"""The linear algebra below IPOPT: which linear solvers it can load, and how many threads their BLAS has.

Some linear solvers are compiled into IPOPT, others are libraries that it loads. One is our own, the C files in
multifrontal/, compiled for this machine as kernels are; IPOPT calls it as it calls HSL's MA97, and by that name.
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
_RARE = ("pardisomkl", "wsmp")  # asked for one of these, an IPOPT that does not know it prints a page
# Variables and rows from which on an iteration is mostly linear algebra, of which ours takes a half to a tenth.
_LARGE = 1000
_LIBRARIES = ("hsllib", "pardisolib")  # IPOPT's options that name libraries
_FOLDER = Path(__file__).with_name("multifrontal")
_FILES = ("multifrontal.h", "order.c", "symbolic.c", "dense.c", "numeric.c", "ma97.c")  # one unit, in this order
# Ours orders by itself and has no scaling; `ma97_u` is its USUAL_THRESHOLD, above which it lets fronts grow. Of rows
# that depend on each other rounding leaves pivots whose signs mean nothing, and for which IPOPT would add to the
# Hessian without need: a pivot that is no larger than `ma97_small` of its row is taken as zero.
_MA97 = {
    "ma97_order": "amd", "ma97_scaling": "none", "linear_system_scaling": "none", "ma97_u": 1e-8, "ma97_umax": 1e-2,
    "ma97_small": 1e-12,
}  # fmt: skip
# What IPOPT prints of ours, and what it shows instead, as long as that, since it may have the file still open.
_PRINTED, _SHOWN = "running with linear solver ma97.", "running with colloc multifrontal"
_BANNER = 5  # IPOPT's level of printing from which on it names the linear solver
_TRIAL = 60.0  # s, that the trial of our own may take
_stdout_lock, _renaming = threading.Lock(), [0]  # runs that print under another name


def check_linear_solver(options: Mapping[str, Any]) -> None:
    """InputError for a linear solver that cannot be loaded, with those that can."""
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
    """Our own for programs that are large enough to gain by it, where anything may be compiled; else MUMPS.

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
    """Whether our own is compiled, now or before, and fits IPOPT."""
    try:
        return _fits(kernels.build_source(OURS, source(), Compile()))
    except CompileError:
        return False


@cache
def _is_refused(text: str) -> bool:
    """Whether our own is compiled and does not fit IPOPT."""
    with suppress(CompileError):
        return not _fits(kernels.build_source(OURS, text, Compile()))
    return False


@cache
def _fits(library: Path) -> bool:
    """Whether IPOPT and a library of ours understand each other: tried once for it, this machine and this CasADi.

    IPOPT hands over structures of its own, whose layout nobody promises. That the trial went well is kept beside the
    compiled libraries, where that can be done.
    """
    hashed = hashlib.sha256(library.read_bytes())
    hashed.update(repr((ca.CasadiMeta.version(), ca.__file__, Path(trial.__file__).read_text())).encode())
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
    """The C files of our own, one after the other."""
    texts = [f'#line 1 "{name}"\n{(_FOLDER / name).read_text()}' for name in _FILES]
    return "".join(texts).replace(f'#include "{_FILES[0]}"\n', "\n")


def ship_multifrontal(folder: Path) -> list[Path]:
    """Compile our own for wheels, into a folder."""
    return kernels.ship(OURS, source(), lambda *_: source(), folder)


def in_terms_of_ipopt(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options as IPOPT understands them, `multifrontal` compiled; MUMPS and a CompileWarning where that cannot be."""
    if options.get("linear_solver") != OURS:
        return dict(options)
    try:
        # Asked for at every run, so that the cache keeps it: IPOPT loads it by its path.
        path = kernels.build_source(OURS, source(), Compile())
        if not _fits(path):
            raise CompileError(f"{OURS} does not fit the IPOPT of CasADi {ca.CasadiMeta.version()}")
    except CompileError as error:
        warn(f"{error}; MUMPS is used instead of {OURS}", CompileWarning)
        return {**options, "linear_solver": "mumps"}
    ctypes.CDLL(str(path))  # which stays loaded when IPOPT lets go of it, and with it the patterns that it has analysed
    # It reads the number of threads where MA97 has a parameter that ours does not need.
    own = {"linear_solver": "ma97", "hsllib": str(path), "ma97_nemin": thread_count(Compile())}
    return {**_MA97, **options, **own}


@contextmanager
def shown_by_name(options: Mapping[str, Any]) -> Iterator[None]:
    """A context in which IPOPT's output, on standard output and in its file, has the name of ours where it is used."""
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
    """Standard output, where IPOPT names our own."""

    def __init__(self, stream: Any):
        self.stream = stream

    def write(self, text: str, /) -> int:
        return self.stream.write(text.replace(_PRINTED, _SHOWN))

    def flush(self) -> None:
        self.stream.flush()


def _rename(change: int) -> None:
    """One run more, or less, that prints."""
    with _stdout_lock:
        _renaming[0] += change
        if not isinstance(sys.stdout, _Renamed) and _renaming[0]:
            sys.stdout = _Renamed(sys.stdout)
        elif isinstance(sys.stdout, _Renamed) and not _renaming[0]:
            sys.stdout = sys.stdout.stream


def _rename_in(file: Path) -> None:
    """The name in IPOPT's file, in its place."""
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
    """Whether IPOPT solves a program of one variable with it."""
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
    """Whether HSL_MA97 is in HSL's library, since IPOPT crashes where it is not."""
    suffix = {"darwin": "dylib", "win32": "dll"}.get(sys.platform, "so")
    try:
        return hasattr(ctypes.CDLL(dict(libraries).get("hsllib", f"libhsl.{suffix}")), "ma97_default_control_d")
    except OSError:
        return _loads("ma27", libraries)  # then HSL is compiled into IPOPT


@cache
def on_one_thread() -> None:
    """Have CasADi's own OpenBLAS compute on one thread from now on, unless $OPENBLAS_NUM_THREADS says otherwise.

    The dense blocks of these systems are too small for more: a step of the 55-DOF human takes 1.6 times the processor
    time on two threads, for 2 % of the wall time. And sums in another order are other sums, in their last digits: a
    search of a hundred iterations ends elsewhere, or not at all.
    """
    if os.environ.get("OPENBLAS_NUM_THREADS"):
        return
    ca.has_nlpsol("ipopt")  # loads it
    loaded = getattr(os, "RTLD_NOLOAD", 0)  # of several copies that in use
    for path in Path(ca.__file__).parent.glob("*casadi-tp-openblas*"):  # none where another BLAS is linked
        with suppress(OSError, AttributeError):
            ctypes.CDLL(str(path), mode=loaded).openblas_set_num_threads(1)
