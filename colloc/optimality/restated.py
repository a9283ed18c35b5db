"""The program of a motion with other costs and more parameters, on the same grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from colloc.problem import Cost, Parameter
from colloc.transcription import NLP, PhasesNLP


def with_costs(
    nlp: NLP | PhasesNLP, costs: Mapping[str, Cost], parameters: Sequence[Parameter], *, compiled: bool = True
) -> NLP | PhasesNLP:
    """A program with other costs of its phases, and parameters after all others.

    Parameters
    ----------
    nlp : NLP or PhasesNLP
    costs : mapping of str to Cost
        By phase.
    parameters : sequence of Parameter
    compiled : bool
        False for functions that are evaluated a few times.
    """
    phases, programs = {}, {}
    for name, problem in nlp.problem.phases.items():
        extended = [*problem.all_parameters, *parameters]
        phases[name] = problem.restated(problem.statements, minimize=costs[name], parameters=extended)
    whole = replace(nlp.problem, phases=phases) if isinstance(nlp, PhasesNLP) else None
    for name, problem in (phases if whole is None else whole.phases).items():
        made = nlp.phases[name].for_problem(problem)
        programs[name] = made if compiled else replace(made, compile=False)
    return programs[""] if whole is None else PhasesNLP(whole, programs)
