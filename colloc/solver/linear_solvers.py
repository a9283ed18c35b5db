"""The linear algebra below IPOPT: which linear solvers it can load, and how many threads their BLAS has.

Some linear solvers are compiled into IPOPT, others are libraries that it loads. One is our own, the C files in
multifrontal/, compiled for this machine as kernels are; IPOPT calls it as it calls HSL's MA97, and by that name.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import casadi as ca

from colloc import kernels
from colloc.kernels import Compile, CompileError, CompileWarning
from colloc.kernels.options import thread_count
from colloc.support.checks import InputError, quoted, warn

OURS = "multifrontal"
NAMES = ("mumps", "spral", "ma27", "ma57", "ma77", "ma86", "ma97", "pardiso")
_RARE = ("pardisomkl", "wsmp")  # asked for one of these, an IPOPT that does not know it prints a page
# Variables and rows from which on an iteration is mostly linear algebra, of which ours takes a half to a tenth.
_LARGE = 1000
_LIBRARIES = ("hsllib", "pardisolib")  # IPOPT's options that name libraries
_FOLDER = Path(__file__).with_name("multifrontal")
_FILES = ("multifrontal.h", "order.c", "symbolic.c", "dense.c", "numeric.c", "ma97.c")  # one unit, in this order
# Ours orders by itself and has no scaling; `ma97_u` is its USUAL, above which it lets fronts grow. Of rows that depend
# on each other rounding leaves pivots whose signs mean nothing, by which IPOPT would add to the Hessian in vain: they
# count as zero.
_MA97 = {
    "ma97_order": "amd", "ma97_scaling": "none", "linear_system_scaling": "none", "ma97_u": 1e-8, "ma97_umax": 1e-2,
    "ma97_small": 1e-12,
}  # fmt: skip


def check_linear_solver(options: Mapping[str, Any]) -> None:
    """InputError for a linear solver that cannot be loaded, with those that can."""
    name = options.get("linear_solver", "mumps")
    if name == OURS:
        if library := next((key for key in _LIBRARIES if key in options), None):
            raise InputError(f"linear_solver {OURS!r} is a library itself, got {library}={quoted(options[library])}")
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
    """Whether our own is compiled, now or before."""
    try:
        kernels.build_source(OURS, source(), Compile())
    except CompileError:
        return False
    return True


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
    except CompileError as error:
        warn(f"{error}; MUMPS is used instead of {OURS}", CompileWarning)
        return {**options, "linear_solver": "mumps"}
    # It reads the number of threads where MA97 has a parameter that ours has no use for.
    own = {"linear_solver": "ma97", "hsllib": str(path), "ma97_nemin": thread_count(Compile())}
    return {**_MA97, **options, **own}


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
