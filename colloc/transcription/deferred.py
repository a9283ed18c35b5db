"""Programs that are built when they are needed: what goes to other processes, and what a file holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from colloc.curves.curve import Transcription
from colloc.problem import Phases, Problem
from colloc.support.lazy import cached_property
from colloc.transcription.nlp import NLP, Recipe
from colloc.transcription.phases import PhasesNLP
from colloc.transcription.transcribe import build_program


@dataclass(frozen=True, eq=False)
class DeferredNLP:
    """The program of a problem that is built on first use."""

    problem: Problem | Phases
    recipes: Mapping[str, Recipe]  # of a Problem that of the phase ""

    @classmethod
    def of(cls, nlp: NLP | PhasesNLP | DeferredNLP) -> DeferredNLP:
        """A program as one that is still to be built."""
        if isinstance(nlp, DeferredNLP):
            return nlp
        return cls(nlp.problem, {name: phase.recipe for name, phase in nlp.phases.items()})

    @cached_property
    def built(self) -> NLP | PhasesNLP:
        """The program itself."""
        return build_program(self.problem, self.recipes)

    @property
    def curves(self) -> dict[str, Transcription]:
        """The curve of every phase."""
        return {name: recipe.curve for name, recipe in self.recipes.items()}

    @property
    def has_extra_nodes(self) -> bool:
        """Whether any phase has nodes beside its curve's own."""
        return any(recipe.extra is not None for recipe in self.recipes.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return DeferredNLP, (self.problem, self.recipes)
