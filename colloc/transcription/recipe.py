"""Programs as recipes: what goes to other processes in their place, to be built there when they are needed."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from colloc.curves.curve import Transcription
from colloc.curves.mesh import Points
from colloc.dynamics import DerivativeRecursion, InverseDynamics
from colloc.kernels import Compile
from colloc.problem import Problem
from colloc.problem import Sequence as Phases
from colloc.transcription.nlp import NLP
from colloc.transcription.sequence import SequenceNLP, side_by_side
from colloc.transcription.transcribe import built


class Recipe(NamedTuple):
    """What a program is made of beside its problem; parameters as of `transcribe`, and nodes beside the curve's own."""

    curve: Transcription
    dynamics: InverseDynamics
    sensitivities: DerivativeRecursion | None
    extra: Points | None
    compile: bool | Compile | None


def _reduced(nlp: NLP) -> tuple[Any, ...]:
    return _to_be_built, (nlp.problem, _recipe_of(nlp))


def _reduced_phases(nlp: SequenceNLP) -> tuple[Any, ...]:
    if "_build" in vars(nlp):
        return _phases_to_be_built, nlp._build.args
    # By the phases' names: their problems are those of the sequence, which knows its own by identity.
    recipes = {name: _recipe_of(own) for name, own in nlp.phases.items()}
    return _phases_to_be_built, (nlp.problem, recipes, nlp.compile)


copyreg.pickle(NLP, _reduced)
copyreg.pickle(SequenceNLP, _reduced_phases)


def to_be_built(
    problem: Problem | Phases, recipe: Recipe | Mapping[str, Recipe], compile: bool | Compile | None
) -> NLP | SequenceNLP:
    """A program that builds itself when it is first needed; of a sequence from the recipes of its phases."""
    if isinstance(problem, Phases):
        assert not isinstance(recipe, Recipe)
        return _phases_to_be_built(problem, recipe, compile)
    assert isinstance(recipe, Recipe)
    return _to_be_built(problem, recipe)


def for_own_problem(nlp: NLP | SequenceNLP, problem: Problem | Phases) -> NLP | SequenceNLP:
    """A program that has come back from another process, for the problem from which it was made there."""
    make, (_, *recipe) = (_reduced if isinstance(nlp, NLP) else _reduced_phases)(nlp)  # pyright: ignore[reportArgumentType]
    return make(problem, *recipe)


def _recipe_of(nlp: NLP) -> Recipe:
    """The recipe of a program, whether it is built or not."""
    if "_build" in vars(nlp):
        return nlp._build.args[1]
    return Recipe(nlp.curve, *nlp.grid.torques.given, nlp.grid.extra, nlp.compile)


def _to_be_built(problem: Problem, recipe: Recipe) -> NLP:
    """A program that builds itself when it is first needed."""
    nlp = object.__new__(NLP)
    build = partial(_build, problem, recipe)
    vars(nlp).update(problem=problem, curve=recipe.curve, compile=recipe.compile, _build=build)
    return nlp


def _build(problem: Problem, recipe: Recipe) -> NLP:
    return built(problem, *recipe)


def _phases_to_be_built(problem: Phases, recipes: Mapping[str, Recipe], compile: bool | Compile | None) -> SequenceNLP:
    """The same of a motion in phases."""
    nlp = object.__new__(SequenceNLP)
    build = partial(_build_phases, problem, recipes, compile)
    vars(nlp).update(problem=problem, compile=compile, _build=build)
    return nlp


def _build_phases(problem: Phases, recipes: Mapping[str, Recipe], compile: bool | Compile | None) -> SequenceNLP:
    return side_by_side(problem, {name: _build(own, recipes[name]) for name, own in problem.phases.items()}, compile)
