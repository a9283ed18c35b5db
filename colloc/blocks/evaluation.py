"""Execution of a block's functions: on CasADi's virtual machine, or for several slices at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from colloc import kernels
from colloc.blocks.block import Block
from colloc.blocks.slices import Slices, nonzeros
from colloc.kernels import Compile
from colloc.kernels.options import VIRTUAL
from colloc.support.lazy import cached_property

if TYPE_CHECKING:
    from colloc.blocks.kernel import BlockKernel

# The automatic rule assumes this many iterations of a solve. It takes the interpreter where they take longer than these
# seconds on the virtual machine.
ITERATIONS = 100
_LOOK = 0.02


class Compiled(NamedTuple):
    """Functions of blocks as kernels of a library."""

    # name and kernel of every function of a block
    kernels: dict[tuple[Block, str], tuple[str, BlockKernel]]
    library: kernels.Interpreter | None = None  # None where the functions stay on the virtual machine
    failed: bool = False  # whether a library was asked for, and there is none


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of functions of some blocks at all their slices, inside CasADi graphs."""

    blocks: Sequence[Block]
    kinds: Sequence[str]  # which of every block's functions: "value", "gradient", "jacobian", "hessian", "gauss_newton"
    # True has the interpreter of programs evaluate every function, False stays on CasADi's virtual machine. None has
    # the interpreter evaluate them unless there is little to do, whether or not the cache has it: answers would else
    # differ in their last digits between the first run on a machine and later ones.
    compile: bool | Compile | None

    @property
    def choice(self) -> bool | Compile | None:
        """`compile` for further functions of the blocks: False where a library was asked for and there is none."""
        return False if self.compiled.failed else self.compile

    @cached_property
    def compiled(self) -> Compiled:
        """The functions that do not stay on the virtual machine."""
        # A block with one slice would leave all lanes but one idle.
        functions = [(b, kind) for kind in self.kinds for b in self.blocks if b.n_slices > 1 and b.functions.has(kind)]
        if self.compile is False or not functions:
            return Compiled({})
        automatic = self.compile is None
        counts = [b.functions.operations(kind) * b.n_slices for b, kind in functions] if automatic else []
        seconds = VIRTUAL * ITERATIONS * sum(counts)
        if automatic and seconds < _LOOK:
            return Compiled({})
        from colloc.blocks.kernel import block_kernel  # a small problem does without

        by_function = {
            (b, kind): (f"{kind}_{number}", block_kernel(b, kind)) for number, (b, kind) in enumerate(functions)
        }
        by_name = {name: kernel.kernel for name, kernel in by_function.values()}
        options = self.compile if isinstance(self.compile, Compile) else Compile()
        if options.inline:
            from colloc.kernels.inlined import Inlined  # rarely needed

            return Compiled(by_function, Inlined(by_name))
        if automatic:
            return Compiled(by_function, kernels.interpret_or_none(by_name, options))
        library = kernels.interpret_or_warn(by_name, options)
        return Compiled(by_function, library, failed=library is None)

    def apply(
        self, block: Block, kind: str, x: ca.MX, p: ca.MX, *multipliers: ca.MX
    ) -> tuple[ca.MX, ca.Sparsity, Slices]:
        """One of a block's functions at every slice.

        The nonzeros, MX column, slice after slice; their pattern in a slice; the slices of its local variables.
        """
        arguments = [block.sites.slices.gather(x), ca.DM(block.sites.data), p, *multipliers]
        name, kernel = self.compiled.kernels.get((block, kind), ("", None))
        library = self.compiled.library
        if library is not None and kernel is not None and name in library.kernels:
            return self._call(library, name, kernel, arguments)
        function = getattr(block.functions, kind)
        if function.nnz_out() == 0:
            return ca.MX(0, 1), function.sparsity_out(0), block.sites.slices
        mapped = function.map("map", "serial", block.n_slices, [2], []) if block.n_slices > 1 else function
        # CasADi takes the zeros of a function that is constant for absent.
        values = ca.project(mapped(*arguments), mapped.sparsity_out(0))
        return nonzeros(values), function.sparsity_out(0), block.sites.slices

    def _call(
        self, library: kernels.Interpreter, name: str, kernel: BlockKernel, arguments: list[ca.MX]
    ) -> tuple[ca.MX, ca.Sparsity, Slices]:
        slices, columns = kernel.slices, None
        if kernel.pattern.nnz() == 0:
            return ca.MX(0, 1), kernel.pattern, slices
        if kernel.additive:
            # Values of the same entries of x are added up where they are computed: less to write and to copy.
            columns = library.sums((slices.index[:, 1:] == slices.index[:, :-1]).all(axis=0))
            slices = slices.take(np.unique(columns, return_index=True)[1])
        values = library.external(name, kernel.slices.size, columns)(*arguments, *map(ca.DM, kernel.extra))
        return ca.vec(values), kernel.pattern, slices
