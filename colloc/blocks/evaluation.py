"""Execution of a block's functions: on CasADi's virtual machine, or compiled for several slices at once."""

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
from colloc.kernels.options import COMPILED, INTERPRETED, NEED, VIRTUAL
from colloc.support.lazy import cached_property

if TYPE_CHECKING:
    from colloc.blocks.kernel import BlockKernel

# The automatic rule assumes this many iterations of a solve. It tries the interpreter where they take longer than the
# first of these seconds on the virtual machine, and compiled code where they take the second on the interpreter.
ITERATIONS = 100
_LOOK, _LONG = 0.02, 1.0


class Compiled(NamedTuple):
    """Functions of blocks as kernels of a library."""

    # name and kernel of every function of a block
    kernels: dict[tuple[Block, str], tuple[str, BlockKernel]]
    library: kernels.Library | None = None  # None where the functions stay on the virtual machine
    failed: bool = False  # whether there was a compiler, and it failed


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Evaluation of functions of some blocks at all their slices, inside CasADi graphs."""

    blocks: Sequence[Block]
    kinds: Sequence[str]  # which of every block's functions: "value", "gradient", "jacobian", "hessian", "gauss_newton"
    # True makes machine code of every function, False stays on CasADi's virtual machine. None has the interpreter of
    # programs evaluate them, unless they are so few that it does not even look for it. Where that writes no machine
    # code, compiled code is used if the cache has it from an earlier time or making it takes less time than it saves in
    # ITERATIONS evaluations, if those take more than a second.
    compile: bool | Compile | None

    @property
    def choice(self) -> bool | Compile | None:
        """Whether to compile further functions of the blocks: False after a failure of the compiler, with a warning."""
        return False if self.compiled.failed else self.compile

    @cached_property
    def compiled(self) -> Compiled:
        """The functions that are compiled or interpreted."""
        # A block with one slice would leave all lanes but one idle.
        functions = [(b, kind) for kind in self.kinds for b in self.blocks if b.n_slices > 1 and b.functions.has(kind)]
        if self.compile is False or not functions:
            return Compiled({})
        automatic = self.compile is None
        counts = [(b.functions.operations(kind), b.n_slices) for b, kind in functions] if automatic else []
        work = ITERATIONS * sum(n * slices for n, slices in counts)
        if automatic and VIRTUAL * work < _LOOK:
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
            library = kernels.interpret_or_none(by_name, options, compile=VIRTUAL * work > NEED)
            dear = INTERPRETED * work < COMPILED * sum(n for n, _ in counts)
            quick = INTERPRETED * work < _LONG or (library is not None and library.writes_code)
            if quick or (dear and not kernels.cached(by_name, options)):
                return Compiled(by_function, library)
        library = kernels.build_or_warn(by_name, options)
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
        self, library: kernels.Library, name: str, kernel: BlockKernel, arguments: list[ca.MX]
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
