"""A kernel for compilation: a function of one slice, and sums of products of its inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import casadi as ca
import numpy as np

from colloc.support.checks import InputError, count, quoted
from colloc.support.lazy import cached_property


class CompileError(RuntimeError):
    """Kernels that cannot be compiled, stored or loaded here."""


class Pass(NamedTuple):
    """Sums of products over the pool: target t becomes the sum over k of pool[left[k]] * pool[right[k]]."""

    starts: np.ndarray  # ints, shape (targets + 1,); the terms of target t are starts[t] <= k < starts[t + 1]
    left: np.ndarray  # left, right: ints, shape (terms,); places in the pool, before the pass's own targets
    right: np.ndarray

    @property
    def targets(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, eq=False)
class Kernel:
    """A function that is evaluated at many slices at once.

    Values of inputs and outputs are their nonzeros. The pool of a slice is all inputs one after another (those of the
    function, then the extra ones), the function's outputs, and the targets of every pass. The results are the
    function's outputs, or the targets of the last pass if there is one.

    Raises
    ------
    InputError
        For another kind of function, and for places outside the pool.
    """

    function: ca.Function  # of SX
    extra: tuple[int, ...] = ()  # sizes of further inputs, which only the passes read
    shared: frozenset[int] = frozenset()  # numbers of the inputs that are the same for every slice
    passes: tuple[Pass, ...] = ()

    def __post_init__(self) -> None:
        function = self.function
        if not isinstance(function, ca.Function) or not function.is_a("SXFunction") or function.has_free():
            raise InputError(f"function must be a Function of SX without free symbols, got {quoted(function)}")
        for size in self.extra:
            count("extra", size, at_least=0)
        if not self.shared <= set(range(len(self.inputs))):
            raise InputError(f"shared must be numbers of the {len(self.inputs)} inputs, got {sorted(self.shared)}")
        start = sum(self.inputs) + sum(self.outputs)
        for number, stage in enumerate(self.passes):
            _check_pass(number, stage, start)
            start += stage.targets

    @cached_property
    def inputs(self) -> tuple[int, ...]:
        """Sizes of all inputs."""
        return tuple(self.function.nnz_in(k) for k in range(self.function.n_in())) + tuple(self.extra)

    @cached_property
    def outputs(self) -> tuple[int, ...]:
        """Numbers of nonzeros of the function's outputs."""
        return tuple(self.function.nnz_out(k) for k in range(self.function.n_out()))

    @property
    def results(self) -> tuple[int, ...]:
        """Sizes of the kernel's results."""
        return (self.passes[-1].targets,) if self.passes else self.outputs

    @property
    def pool(self) -> int:
        """Values of one slice."""
        return sum(self.inputs) + sum(self.outputs) + sum(stage.targets for stage in self.passes)


def pass_table(kernel: Kernel) -> np.ndarray:
    """All passes one after another, ints, in the format of the driver: targets by their number of terms."""
    parts, first = [np.zeros(0, dtype=np.int64)], sum(kernel.inputs) + sum(kernel.outputs)
    for stage in kernel.passes:
        starts, pairs = np.asarray(stage.starts), np.column_stack([stage.left, stage.right])
        lengths = np.diff(starts)
        for terms in sorted(set(lengths.tolist())):
            chosen = np.flatnonzero(lengths == terms)
            fours, ones = divmod(chosen.size, 4)
            factors = pairs[starts[chosen, None] + np.arange(terms)]  # (targets, terms, 2)
            together = factors[: 4 * fours].reshape(fours, 4, terms, 2).transpose(0, 2, 1, 3).reshape(fours, 8 * terms)
            parts.append(np.array([fours, ones, terms]))
            parts.append(np.column_stack([first + chosen[: 4 * fours].reshape(fours, 4), together]))
            parts.append(np.column_stack([first + chosen[4 * fours :], factors[4 * fours :].reshape(ones, 2 * terms)]))
        first += stage.targets
    return np.concatenate([np.ravel(part) for part in parts])


def _check_pass(number: int, stage: Pass, start: int) -> None:
    """Check a pass whose first target has place `start` in the pool."""
    starts, left, right = arrays = [np.asarray(array) for array in stage]
    terms = len(left)
    if any(array.ndim != 1 or not np.issubdtype(array.dtype, np.integer) for array in arrays) or terms != len(right):
        raise InputError(f"pass {number} must be vectors of integers, left as long as right")
    if starts.size == 0 or starts[0] != 0 or starts[-1] != terms or (np.diff(starts) < 0).any():
        raise InputError(f"starts of pass {number} must rise from 0 to the {terms} terms, got {starts}")
    places = np.concatenate([left, right])
    if terms and (places.min() < 0 or places.max() >= start):
        raise InputError(f"pass {number} reads places {places.min()} to {places.max()}, legal are 0 to {start - 1}")
