"""One thread for the BLAS below IPOPT's linear solver, so that an answer does not depend on the number of cores."""

from __future__ import annotations

import ctypes
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

import casadi as ca


@cache
def on_one_thread() -> None:
    """Has CasADi's own OpenBLAS compute on one thread from now on, unless $OPENBLAS_NUM_THREADS says otherwise.

    The dense blocks of these systems are too small for more: a step of the 55-DOF human takes 1.6 times the processor
    time on two threads, for 2 % of the wall time. And sums in another order are other sums, in their last digits: a
    search of a hundred iterations ends elsewhere, or not at all.
    """
    if os.environ.get("OPENBLAS_NUM_THREADS"):
        return
    ca.has_nlpsol("ipopt")  # loads it
    loaded = getattr(os, "RTLD_NOLOAD", 0)  # of several copies the one in use
    for path in Path(ca.__file__).parent.glob("*casadi-tp-openblas*"):  # none where another BLAS is linked
        with suppress(OSError, AttributeError):
            ctypes.CDLL(str(path), mode=loaded).openblas_set_num_threads(1)
