"""SX functions evaluated at as many slices at once as a vector register holds: interpreted, or as machine code.

options     options of compilation, and the default compiler
kernel      a function of one slice, and sums of products that follow it
operations  CasADi's operations in C, and their vectors
emit        an SX function as C code, in chunks
source      the C files of a library: driver, kernels
compiler    runs of the C compiler
cache       compiled libraries on disk
shipped     libraries that come with a wheel
library     kernels compiled, loaded and evaluated
program     kernels as data
inlined     kernels in CasADi graphs, for C code
interpreter a library that evaluates programs, compiled once for a machine
batch       functions of samples: NumPy arrays in and out, compiled or not
code_memory.c, driver.c, interpreter.c, lanes.h, machine_code.c, values.c  C code that is not generated
"""

from typing import TYPE_CHECKING

from colloc.kernels.kernel import CompileError, Kernel, Pass
from colloc.kernels.options import Compile, CompileWarning, check_compile
from colloc.support.packages import register_public

if TYPE_CHECKING:
    from colloc.kernels.interpreter import Interpreter, interpret, interpret_or_none, ship_interpreter
    from colloc.kernels.library import Library, build, build_or_warn, build_source, cached, loaded_name
    from colloc.kernels.shipped import ship

__all__ = [
    "Compile", "CompileError", "CompileWarning", "Interpreter", "Kernel", "Library", "Pass", "build", "build_or_warn",
    "build_source", "cached", "check_compile", "interpret", "interpret_or_none", "loaded_name", "ship",
    "ship_interpreter",
]  # fmt: skip

# Loaded on first use: what runs compilers takes longer to import than a small problem to solve.
_LATER = {
    "colloc.kernels.library": ("Library", "build", "build_or_warn", "build_source", "cached", "loaded_name"),
    "colloc.kernels.interpreter": ("Interpreter", "interpret", "interpret_or_none", "ship_interpreter"),
    "colloc.kernels.shipped": ("ship",),
}
register_public(__name__, lazy={name: module for module, names in _LATER.items() for name in names})
