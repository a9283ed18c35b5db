"""The program with which many solves begin, built where it is needed."""

from __future__ import annotations

from colloc.problem import Phases, Problem
from colloc.problem.ordered import check_one_cost
from colloc.refinement.starts import Curves
from colloc.support.checks import InputError, quoted
from colloc.transcription import NLP, DeferredNLP, PhasesNLP, checked_curves, default_curves
from colloc.transcription.guess import by_way_of
from colloc.transcription.nlp import Recipe


def first_program(
    problem: Problem | Phases | NLP | PhasesNLP, curve: Curves | None, *, guessed: bool = False
) -> DeferredNLP:
    """The program of a problem on a curve, by default the curve of `solve`; InputError for a curve in addition to an
    NLP.
    """
    if isinstance(problem, NLP | PhasesNLP):
        if curve is not None:
            raise InputError(f"curve must be left out for an NLP: pass it to co.transcribe, got {quoted(curve)}")
        return DeferredNLP.of(problem)
    check_one_cost(problem)
    problem = by_way_of(problem)
    curves = checked_curves(problem, default_curves(problem, guessed=guessed) if curve is None else curve)
    return DeferredNLP(problem, {name: Recipe(phase) for name, phase in curves.items()})
