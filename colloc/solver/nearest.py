"""Costs that no variable moves, such as zero: every motion that meets the constraints is an optimum.

A solver that is given nothing to go by ends far away, or nowhere. It is given the distance to its start.
"""

from __future__ import annotations

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.transcription import Program


def is_moved(nlp: Program, x: np.ndarray, p: np.ndarray) -> bool:
    """Whether the cost depends on a free variable, with these parameters.

    Parameters
    ----------
    nlp : Program
    x : ndarray, shape (n_x,)
        Where to look at slopes first: one that is not zero settles it.
    p : ndarray
        Parameter values; a term may have the weight zero.
    """
    slopes = np.array(nlp.grad_f(x, p)[1]).ravel()[nlp.free]
    return bool(slopes.any()) or any(_moved(block, nlp.free, p) for block in nlp.costs)


def _moved(block: Block, free: np.ndarray, p: np.ndarray) -> bool:
    local, slices = block.sites.local, block.sites.slices
    (values,) = block.value.call([local.w, local.d, ca.SX(p)])  # of what is times zero nothing remains
    _, entries = slices.expand(np.flatnonzero(ca.which_depends(values, local.w)))
    read = free[slices.index[slices.column[entries]]]
    return bool((read & (slices.weight[entries] != 0)).any())
