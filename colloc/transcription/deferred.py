"""Programs that are built on first use, for other processes and for files."""

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
    recipes: Mapping[str, Recipe]  # recipes by phase; "" for a Problem

    @classmethod
    def of(cls, nlp: NLP | PhasesNLP | DeferredNLP) -> DeferredNLP:
        """A built program as a deferred one."""
        if isinstance(nlp, DeferredNLP):
            return nlp
        return cls(nlp.problem, {name: phase.recipe for name, phase in nlp.phases.items()})

    @cached_property
    def built(self) -> NLP | PhasesNLP:
        """The program, built on first use."""
        return build_program(self.problem, self.recipes)

    @property
    def curves(self) -> dict[str, Transcription]:
        """The curve of every phase."""
        return {name: recipe.curve for name, recipe in self.recipes.items()}

    @property
    def has_extra_nodes(self) -> bool:
        """Whether any phase has nodes in addition to those of its curve."""
        return any(recipe.extra is not None for recipe in self.recipes.values())

    def __reduce__(self) -> tuple[Any, ...]:
        return DeferredNLP, (self.problem, self.recipes)
