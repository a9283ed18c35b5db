"""SX functions evaluated at as many slices at once as a vector register holds: interpreted, or as machine code.

options     options of compilation, and the default compiler
kernel      a function of one slice, and sums of products that follow it
operations  CasADi's operations in C, and their vectors
source      the C file of the interpreter
compiler    runs of the C compiler
cache       compiled libraries on disk
shipped     libraries that come with a wheel
library     libraries of fixed C code, found or compiled
program     kernels as data
inlined     kernels in CasADi graphs, for C code
interpreter a library that evaluates programs, compiled once for a machine
batch       functions of samples: NumPy arrays in and out
*.c, *.h    the code of the interpreter; x86_64.c and aarch64.c encode machine code
"""

from typing import TYPE_CHECKING

from colloc.kernels.kernel import CompileError, Kernel, Pass
from colloc.kernels.options import Compile, CompileWarning, check_compile
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.kernels.interpreter import (
        Interpreter,
        interpret,
        interpret_or_none,
        interpret_or_warn,
        ship_interpreter,
    )
    from colloc.kernels.library import build_source, loaded_name
    from colloc.kernels.shipped import ship

__all__ = [
    "Compile", "CompileError", "CompileWarning", "Interpreter", "Kernel", "Pass", "build_source", "check_compile",
    "interpret", "interpret_or_none", "interpret_or_warn", "loaded_name", "ship", "ship_interpreter",
]  # fmt: skip

# Loaded on first use: what runs compilers takes longer to import than a small problem to solve.
_LATER = {
    "colloc.kernels.library": ("build_source", "loaded_name"),
    "colloc.kernels.interpreter": (
        "Interpreter", "interpret", "interpret_or_none", "interpret_or_warn", "ship_interpreter",
    ),
    "colloc.kernels.shipped": ("ship",),
}  # fmt: skip
register_public(__name__, lazy={name: module for module, names in _LATER.items() for name in names})
