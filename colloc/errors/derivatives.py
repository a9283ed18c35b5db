"""Derivatives of a program at a motion: in numbers at first, by graphs where it is looked at again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import casadi as ca
import numpy as np

from colloc.blocks.block import Block
from colloc.blocks.numeric import NumericDerivatives, SecondDerivatives
from colloc.support.lazy import cached_property
from colloc.transcription import NLP, PhasesNLP

_OFTEN = 3  # looks from which on graphs are used: to build them takes six looks in numbers, and one by graphs a tenth


@dataclass(frozen=True, eq=False)
class GraphDerivatives:
    """Derivatives by a program's own functions; those by variables that are fixed are zero.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    x, p : ndarray
        Decision vector and parameters.
    """

    nlp: NLP | PhasesNLP
    x: np.ndarray
    p: np.ndarray

    @cached_property
    def gradient(self) -> np.ndarray:
        """Gradient of the cost, shape (n_x,)."""
        return np.array(self.nlp.grad_f(self.x, self.p)[1]).ravel()

    @cached_property
    def jacobian(self) -> ca.DM:
        """Jacobian of the rows, sparse, shape (n_g, n_x)."""
        return self.nlp.jac_g(self.x, self.p)[1]

    def second_derivatives(self, kind: str, multipliers: np.ndarray) -> SecondDerivatives:
        """Those of the cost and of multipliers' rows, of kind "hessian" or "gauss_newton"."""
        function = self.nlp.hess_lag if kind == "hessian" else self.nlp.gauss_newton
        upper = function(self.x, self.p, 1.0, multipliers)
        return SecondDerivatives([(ca.triu2symm(upper), ca.DM.eye(self.nlp.n_x))], self.nlp.n_x)

    @cached_property
    def convex(self) -> SecondDerivatives:
        """Those of the cost as far as it bends upwards, as of `NumericDerivatives`."""
        if all(self._bends_up_by_squares(block) for block in self.nlp.costs):
            return self.second_derivatives("gauss_newton", np.zeros(self.nlp.n_g))
        return NumericDerivatives(self.nlp.costs, (), self.x, self.p).convex

    def _bends_up_by_squares(self, block: Block) -> bool:
        return block.has_positive_weights(self.p) or not block.functions.hessian.nnz_out(0)


Derivatives: TypeAlias = NumericDerivatives | GraphDerivatives


def derivatives_at(nlp: NLP | PhasesNLP, x: np.ndarray, p: np.ndarray) -> Derivatives:
    """Derivatives of a program, by graphs from its third motion on."""
    nlp.cache["looks"] = looks = nlp.cache.get("looks", 0) + 1
    return NumericDerivatives(nlp.costs, nlp.constraints, x, p) if looks < _OFTEN else GraphDerivatives(nlp, x, p)
