"""SX functions compiled to machine code that works on as many slices at once as a vector register holds."""

from colloc.kernels.kernel import CompileError, Kernel, Pass
from colloc.kernels.library import Library, build, cached
from colloc.kernels.options import Compile

__all__ = ["Compile", "CompileError", "Kernel", "Library", "Pass", "build", "cached"]
