"""Where a block's functions run: on CasADi's virtual machine, or compiled for several slices at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from colloc import kernels
from colloc.blocks.block import Block
from colloc.blocks.slices import Slices, nonzeros
from colloc.kernels import Compile
from colloc.kernels.options import COMPILED

if TYPE_CHECKING:
    from colloc.blocks.kernel import BlockKernel

# What the automatic rule expects: iterations of a solve, and seconds per instruction that the virtual machine takes.
ITERATIONS = 100
INTERPRETED = 4e-9


class Evaluation:
    """Evaluates functions of some blocks at all their slices, inside CasADi graphs.

    Parameters
    ----------
    blocks : sequence of Block
    kinds : sequence of str
        Which of every block's functions: "value", "gradient", "jacobian", "hessian", "gauss_newton".
    choice : bool, Compile or None
        Whether to compile, and how. None uses what the cache has from an earlier time, and compiles where that is
        expected to take less time than ITERATIONS evaluations on the virtual machine; if those take less than a
        second it does not even look.
    """

    def __init__(self, blocks: Sequence[Block], kinds: Sequence[str], choice: bool | Compile | None):
        # A block with one slice would leave all lanes but one idle.
        self._wanted = [(b, kind) for kind in kinds for b in blocks if b.n_slices > 1 and b.has(kind)]
        self._found: dict[tuple[Block, str], tuple[str, BlockKernel]] = {}
        self.choice = choice
        self.library = None if choice is False else self._compiled()

    def _compiled(self) -> kernels.Library | None:
        choice = self.choice
        options = choice if isinstance(choice, Compile) else Compile()
        counts = [(b.operations(kind), b.n_slices) for b, kind in self._wanted] if choice is None else []
        interpreted = ITERATIONS * INTERPRETED * sum(n * slices for n, slices in counts)
        if not self._wanted or (choice is None and interpreted < 1.0):
            return None
        from colloc.blocks.kernel import block_kernel  # a small problem does without

        self._found = {
            (b, kind): (f"{kind}_{number}", block_kernel(b, kind)) for number, (b, kind) in enumerate(self._wanted)
        }
        wanted = {name: found.kernel for name, found in self._found.values()}
        if (
            choice is None
            and interpreted < COMPILED * sum(n for n, _ in counts)
            and not kernels.cached(wanted, options)
        ):
            return None
        library = kernels.build_or_warn(wanted, options)
        if library is None:
            self.choice = False  # who asks the next machine need not hear it again
        return library

    def apply(
        self, block: Block, kind: str, x: ca.MX, p: ca.MX, *multipliers: ca.MX
    ) -> tuple[ca.MX, ca.Sparsity, Slices]:
        """One of a block's functions at every slice.

        Returns
        -------
        MX column, Sparsity, Slices
            The nonzeros, slice after slice; their pattern in a slice; the slices in whose local variables it is meant.
        """
        given = [block.sites.slices.gather(x), ca.DM(block.sites.data), p, *multipliers]
        if self.library is not None and (block, kind) in self._found:
            return self._call(self.library, *self._found[block, kind], given)
        function = getattr(block, kind)
        if function.nnz_out() == 0:
            return ca.MX(0, 1), function.sparsity_out(0), block.sites.slices
        mapped = function.map("map", "serial", block.n_slices, [2], []) if block.n_slices > 1 else function
        # CasADi takes the zeros of a function that is constant for absent.
        values = ca.project(mapped(*given), mapped.sparsity_out(0))
        return nonzeros(values), function.sparsity_out(0), block.sites.slices

    def _call(
        self, library: kernels.Library, name: str, found: BlockKernel, given: list[ca.MX]
    ) -> tuple[ca.MX, ca.Sparsity, Slices]:
        """The compiled function."""
        slices, columns = found.slices, None
        if found.pattern.nnz() == 0:
            return ca.MX(0, 1), found.pattern, slices
        if found.additive:
            # What belongs to the same entries of x is added up where it is computed: less to write and to carry.
            columns = library.sums((slices.index[:, 1:] == slices.index[:, :-1]).all(axis=0))
            slices = slices.take(np.unique(columns, return_index=True)[1])
        values = library.external(name, found.slices.size, columns)(*given, *map(ca.DM, found.extra))
        return ca.vec(values), found.pattern, slices
