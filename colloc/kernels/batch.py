"""Functions of samples: how NumPy arrays go in and come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.kernels.kernel import Kernel
from colloc.kernels.options import Compile
from colloc.support.checks import finite_array

if TYPE_CHECKING:
    from colloc.kernels.library import Library


class Batch(NamedTuple):
    """A function of some inputs that returns nonzeros, and where they belong in each (row-major) result."""

    function: ca.Function
    inputs: tuple[str, ...]
    places: list[np.ndarray]
    library: Library | None

    @classmethod
    def of(
        cls, function: ca.Function, inputs: tuple[str, ...], places: list[np.ndarray], options: Compile | None
    ) -> Batch:
        """A batch that is compiled if options are given and a compiler is found."""
        if options is None:
            return cls(function, inputs, places, None)
        from colloc.kernels.library import build_or_warn  # takes longer to import than a small problem to solve

        return cls(function, inputs, places, build_or_warn({"f": Kernel(function)}, options))

    def evaluate(
        self, values: Mapping[str, np.ndarray], samples: int, out: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Nonzeros of every result, each ndarray, shape (N, nonzeros), from inputs of shape (N, size)."""
        inputs = [values[name] for name in self.inputs]
        if not samples:
            return out or [np.zeros((0, places.size)) for places in self.places]
        if self.library is not None and inputs:
            return self.library.evaluate("f", inputs, out)
        results = out or [np.zeros((samples, places.size)) for places in self.places]
        # Through buffers: converting to and from CasADi's own matrices takes as long as the dynamics.
        buffer, trigger = self.function.map(samples).buffer()
        for k, array in enumerate(inputs):
            buffer.set_arg(k, array.data)  # pyright: ignore[reportCallIssue]
        for k, array in enumerate(results):
            buffer.set_res(k, array.data)  # pyright: ignore[reportCallIssue]
        trigger()
        return results


def spread(nonzeros: np.ndarray, places: np.ndarray, size: int) -> np.ndarray:
    """Rows of the given size with nonzeros at their places."""
    # Taking from the values with a zero at their end is three times as fast as assigning to places in zeros.
    source = np.full(size, nonzeros.shape[-1])
    source[places] = np.arange(places.size)
    padded = np.concatenate([nonzeros, np.zeros((*nonzeros.shape[:-1], 1))], axis=-1)
    return np.take(padded, source, axis=-1)


def arithmetic(function: ca.Function) -> int:
    """Number of arithmetic instructions of an SX function: loads of inputs and constants, and stores, not counted."""
    silent = (ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST)
    return sum(function.instruction_id(k) not in silent for k in range(function.n_instructions()))


def sample_rows(name: str, value: Any, samples: int, shape: tuple[int, ...]) -> np.ndarray:
    """Samples as contiguous rows, (N, size); a single sample or a scalar is repeated."""
    if np.ndim(value) == len(shape) + 1:
        return np.ascontiguousarray(finite_array(name, value, (samples, *shape)).reshape(samples, int(np.prod(shape))))
    return np.tile(finite_array(name, value, shape).reshape(1, -1), (samples, 1))
