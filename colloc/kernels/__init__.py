"""SX functions compiled to machine code that works on as many slices at once as a vector register holds.

options     how to compile, and the compiler that is used
kernel      a function of one slice, and sums of products that follow it
operations  CasADi's operations in C, and their vectors
emit        an SX function as C code, in chunks
source      the C files of a library: driver, kernels
compiler    runs of the C compiler
cache       compiled libraries on disk
library     kernels compiled, loaded and evaluated
batch       functions of samples: NumPy arrays in and out, compiled or not
driver.c, lanes.h  the part of every library that is written by hand
"""

from typing import TYPE_CHECKING

from colloc.kernels.kernel import CompileError, Kernel, Pass
from colloc.kernels.options import Compile, CompileWarning, check_compile
from colloc.support.packages import present

if TYPE_CHECKING:
    from colloc.kernels.library import Library, build, build_or_warn, build_source, cached

__all__ = [
    "Compile", "CompileError", "CompileWarning", "Kernel", "Library", "Pass", "build", "build_or_warn",
    "build_source", "cached", "check_compile",
]  # fmt: skip

# Loaded on first use: what runs compilers takes longer to import than a small problem to solve.
_LATER = ("Library", "build", "build_or_warn", "build_source", "cached")
present(__name__, later=dict.fromkeys(_LATER, "colloc.kernels.library"))
