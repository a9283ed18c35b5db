"""A program in the variables and with the costs of another one, whose constraints differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from colloc.blocks.block import Block
from colloc.kernels import Compile
from colloc.transcription import NLP, BaseNLP


@dataclass(frozen=True, eq=False)
class AlteredNLP(BaseNLP):
    """Another program, with other constraints.

    Parameters
    ----------
    nlp : BaseNLP
    """

    nlp: BaseNLP

    @property
    def costs(self) -> Sequence[Block]:
        return self.nlp.costs

    @property
    def constraints(self) -> Sequence[Block]:
        return self.nlp.constraints

    @property
    def lower(self) -> np.ndarray:
        return self.nlp.lower

    @property
    def upper(self) -> np.ndarray:
        return self.nlp.upper

    @property
    def compile(self) -> bool | Compile | None:  # pyright: ignore[reportIncompatibleVariableOverride]  # it has no other
        """Whether the blocks' functions run as compiled kernels."""
        return self.nlp.compile

    @property
    def phases(self) -> Mapping[str, NLP]:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The programs of the phases, which are not altered."""
        return self.nlp.phases

    @property
    def n_p(self) -> int:
        return self.nlp.n_p

    @property
    def scale_x(self) -> np.ndarray:
        return self.nlp.scale_x

    @property
    def free_duration(self) -> bool:
        return self.nlp.free_duration

    @property
    def parts(self) -> Mapping[str, slice]:
        return self.nlp.parts

    def with_phases(self, phases: Mapping[str, NLP]) -> Self:
        raise NotImplementedError("constraints are altered on one grid")

    def terms(self, x: np.ndarray, p: np.ndarray) -> dict[str, float]:
        return self.nlp.terms(x, p)

    @property
    def owners(self) -> Mapping[Block, str]:
        return self.nlp.owners

    def owner(self, block: Block) -> tuple[str, int | None]:
        return self.nlp.owner(block)

    def variable_name(self, k: int, x: np.ndarray) -> str:
        return self.nlp.variable_name(k, x)
