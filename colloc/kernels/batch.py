"""Functions of samples, with NumPy arrays as arguments and results."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.kernels.kernel import Kernel
from colloc.kernels.options import VIRTUAL, Compile, thread_count
from colloc.support.checks import finite_array

if TYPE_CHECKING:
    from colloc.kernels.interpreter import Interpreter

_DEFAULT = Compile()
# Of the latest number of threads, and of a copy of each kernel: with itself in its interpreter it would never go.
_interpreters: weakref.WeakKeyDictionary[Kernel, Interpreter] = weakref.WeakKeyDictionary()
_WORTH = 5e-4  # s on the virtual machine, below which the interpreter gains nothing


class Batch(NamedTuple):
    """A function of some inputs that returns nonzeros, and their places in each (row-major) result."""

    kernel: Kernel
    inputs: tuple[str, ...]
    places: list[np.ndarray]
    library: Interpreter | None = None  # of the function, as "f"
    virtual: bool = False  # whether it stays on CasADi's virtual machine

    @classmethod
    def of(
        cls,
        function: ca.Function,
        inputs: tuple[str, ...],
        places: list[np.ndarray],
        compile: bool | Compile | None = None,
    ) -> Batch:
        """A batch that an interpreter of programs evaluates, unless it is small; with False CasADi does.

        With True or options the interpreter evaluates a small one as well, after a warning where there is none.
        """
        kernel = Kernel(function)
        if not compile:
            return cls(kernel, inputs, places, virtual=compile is False)
        from colloc.kernels.interpreter import interpret_or_warn  # takes longer to import than a small problem to solve

        library = interpret_or_warn({"f": kernel}, compile if isinstance(compile, Compile) else Compile())
        return cls(kernel, inputs, places, library if library and library.kernels else None, virtual=True)

    def evaluate(
        self, values: Mapping[str, np.ndarray], samples: int, out: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Nonzeros of every result, each ndarray, shape (N, nonzeros), from inputs of shape (N, size)."""
        inputs = [values[name] for name in self.inputs]
        if not samples:
            return out or [np.zeros((0, places.size)) for places in self.places]
        if self.library is not None and inputs:
            return self.library.evaluate("f", inputs, out)
        if not self.virtual and inputs:
            results = interpreted(self.kernel, inputs, out)
            if results is not None:
                return results
        return unrolled(self.kernel.function, inputs, samples, out)


def unrolled(
    function: ca.Function, inputs: Sequence[np.ndarray], samples: int, out: list[np.ndarray] | None = None
) -> list[np.ndarray]:
    """Nonzeros of every result of a function by CasADi's virtual machine, as in `Batch.evaluate`."""
    results = out or [np.zeros((samples, function.nnz_out(k))) for k in range(function.n_out())]
    # Through buffers: converting to and from CasADi's own matrices takes as long as the dynamics.
    buffer, trigger = (function if samples == 1 else function.map(samples)).buffer()
    for k, array in enumerate(inputs):
        buffer.set_arg(k, array.data)  # pyright: ignore[reportCallIssue]
    for k, array in enumerate(results):
        buffer.set_res(k, array.data)  # pyright: ignore[reportCallIssue]
    trigger()
    return results


def interpreted(
    kernel: Kernel, inputs: Sequence[np.ndarray], out: list[np.ndarray] | None = None
) -> list[np.ndarray] | None:
    """Values of a kernel as in `Interpreter.evaluate`, or None if CasADi's virtual machine should evaluate it.

    That is the case for small work, without an interpreter of programs, and for an operation without a translation. The
    interpreter is compiled first if the cache has none.
    """
    slices = max((len(array) for k, array in enumerate(inputs) if k not in kernel.shared), default=1)
    seconds = VIRTUAL * slices * kernel.function.n_instructions()
    if seconds < _WORTH or slices == 1:
        return None
    interpreter = _interpreters.get(kernel)
    if interpreter is None or interpreter.threads != thread_count(_DEFAULT):
        from colloc.kernels.interpreter import interpret_or_none  # takes longer to import than a small problem to solve

        interpreter = interpret_or_none({"f": replace(kernel)}, _DEFAULT)
        if interpreter is None:
            return None
        _interpreters[kernel] = interpreter
    return interpreter.evaluate("f", inputs, out) if interpreter.kernels else None


def spread(nonzeros: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    """Rows of the given size with nonzeros at their places."""
    # Taking from the values with a zero at their end is three times as fast as assigning to places in zeros.
    source = np.full(size, nonzeros.shape[-1])
    source[places] = np.arange(places.size)
    padded = np.concatenate([nonzeros, np.zeros((*nonzeros.shape[:-1], 1))], axis=-1)
    return np.take(padded, source, axis=-1)


def arithmetic(function: ca.Function) -> int:
    """Number of arithmetic instructions of an SX function, without loads of inputs and constants, and stores."""
    silent = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)
    return sum(function.instruction_id(k) not in silent for k in range(function.n_instructions()))


def sample_rows(name: str, value: Any, samples: int, shape: tuple[int, ...]) -> np.ndarray:
    """Samples as contiguous rows, (N, size); a single sample or a scalar is repeated."""
    if np.ndim(value) == len(shape) + 1:
        return np.ascontiguousarray(finite_array(name, value, (samples, *shape)).reshape(samples, int(np.prod(shape))))
    return np.tile(finite_array(name, value, shape).reshape(1, -1), (samples, 1))
