"""Kernels as parts of CasADi graphs, from which CasADi writes C code."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import casadi as ca
import numpy as np

from colloc.kernels.interpreter import Interpreter
from colloc.kernels.kernel import Kernel


class Inlined(Interpreter):
    """Kernels that are not interpreted, but functions with passes, applied slice after slice."""

    def __init__(self, kernels: Mapping[str, Kernel]):
        self.path, self.lanes, self.threads, self.kernels = Path(), 1, 1, dict(kernels)

    def external(self, name: str, slices: int, columns: np.ndarray | None = None) -> ca.Function:
        """As `Interpreter.external`."""
        kernel = self.kernels[name]
        function = _in_one_slice(kernel).map(name, "serial", slices, sorted(kernel.shared), [])
        if columns is None:
            return function
        together = ca.Sparsity.triplet(slices, int(columns[-1]) + 1, list(range(slices)), columns.tolist())
        inputs = function.mx_in()
        sums = [values @ ca.DM(together, 1.0) for values in function.call(inputs)]
        return ca.Function(name, inputs, sums, {"always_inline": True})

    def sums(self, alike: np.ndarray) -> np.ndarray:
        """As `Interpreter.sums`; one slice after another, so that any may be added up."""
        return np.append(0, np.cumsum(~alike))


def _in_one_slice(kernel: Kernel) -> ca.Function:
    """The results of a kernel in one slice, as columns."""
    inputs = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(kernel.inputs)]
    function = kernel.function
    arguments = [ca.SX(function.sparsity_in(k), inputs[k]) for k in range(function.n_in())]
    values = function.call(arguments)
    outputs = [ca.densify(_column(value)) for value in values]
    pool = ca.vertcat(*inputs, *outputs)
    for stage in kernel.passes:
        starts = np.asarray(stage.starts)
        products = pool[np.asarray(stage.left).tolist()] * pool[np.asarray(stage.right).tolist()]
        sums = [ca.sum1(products[a:b]) for a, b in pairwise(starts.tolist())]
        outputs = [ca.densify(ca.vertcat(*sums))]
        pool = ca.vertcat(pool, outputs[0])
    return ca.Function("slice", inputs, outputs)


def _column(value: ca.SX) -> ca.SX:
    """The nonzeros in one column."""
    entries = value.nz[:]
    return entries.T if entries.shape[0] == 1 else entries
