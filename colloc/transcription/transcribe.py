"""Entry point of the transcription: from a problem and curves to a program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from colloc.curves.curve import Transcription, check_curve
from colloc.curves.mesh import Points
from colloc.dynamics import DerivativeRecursion, InverseDynamics, newton_euler
from colloc.kernels import Compile
from colloc.problem import Phases, Problem
from colloc.problem.ordered import check_one_cost
from colloc.support.checks import InputError, instance, spelt, unknown_name
from colloc.support.interrupts import reraise_interrupt
from colloc.transcription.guess import by_way_of, default_curves
from colloc.transcription.nlp import NLP, Recipe
from colloc.transcription.phases import PhasesNLP


@overload
def transcribe(
    problem: Problem,
    curve: Transcription | None = None,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> NLP: ...


@overload
def transcribe(
    problem: Phases,
    curve: Transcription | Mapping[str, Transcription] | None = None,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> PhasesNLP: ...


@spelt
@reraise_interrupt
def transcribe(
    problem: Problem | Phases,
    curve: Transcription | Mapping[str, Transcription] | None = None,
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    *,
    compile: bool | Compile | None = None,
) -> NLP | PhasesNLP:
    """The nonlinear program of a problem on a curve, which can be inspected, checked or solved.

    Parameters
    ----------
    problem : Problem or Phases
    curve : BSpline, HermiteSimpson or Radau, optional
        For `Phases` one curve for all phases, or a mapping of phase to curve; by default that of `solve`.
    dynamics : newton_euler, lagrange or lie
        Formulation of the inverse dynamics; the result is the same.
    sensitivities : optional
        Recursion for the first derivatives of the torques, combined with `lie_hessian` for the second; or
        `by_differentiation(dynamics)` for both. By default `composite_sensitivities` from eight joints on, and
        differentiation below. The gradient of the cost is always computed by one reverse sweep.
    compile : bool or Compile, optional
        As in `solve`.

    Returns
    -------
    NLP or PhasesNLP

    See Also
    --------
    solve : Builds and solves in one step.

    Examples
    --------
    >>> nlp = co.transcribe(problem, co.BSpline(20))
    >>> co.solve(nlp).status
    <Status.SOLVED: 'solved'>
    """
    instance("problem", problem, Problem | Phases)
    problem = by_way_of(problem)
    return program_of(problem, default_curves(problem) if curve is None else curve, dynamics, sensitivities, compile)


def program_of(
    problem: Problem | Phases,
    curve: Transcription | Mapping[str, Transcription],
    dynamics: InverseDynamics = newton_euler,
    sensitivities: DerivativeRecursion | None = None,
    compile: bool | Compile | None = None,
) -> NLP | PhasesNLP:
    """The program of a problem with or without phases; parameters as in `transcribe`."""
    curves = checked_curves(problem, curve)
    check_one_cost(problem)
    recipes = {name: Recipe(curves[name], dynamics, sensitivities, None, compile) for name in problem.phases}
    return build_program(problem, recipes)


def build_program(problem: Problem | Phases, recipes: Mapping[str, Recipe]) -> NLP | PhasesNLP:
    """The program of a problem from recipes by phase."""
    if isinstance(problem, Phases):
        return PhasesNLP.build(problem, recipes)
    return NLP.build(problem, recipes[""])


def checked_curves(problem: Problem | Phases, curve: object) -> dict[str, Transcription]:
    """A curve for every phase, from one curve for all or a mapping; raise InputError for anything else."""
    if not isinstance(curve, Mapping) or ("" in problem.phases and "" not in curve):
        return dict.fromkeys(problem.phases, check_curve(curve))
    for name in curve:
        if name not in problem.phases:
            raise unknown_name("phase", name, problem.phases)
    if missing := [name for name in problem.phases if name not in curve]:
        raise InputError(f"curve must have an entry for every phase, missing: {', '.join(missing)}")
    return {name: check_curve(curve[name]) for name in problem.phases}


def on_curves(
    nlp: NLP | PhasesNLP,
    curves: Mapping[str, Transcription],
    extra: Mapping[str, Points | None] | None = None,
) -> NLP | PhasesNLP:
    """The program of the same motion on other curves, or with more nodes; unchanged phases keep their programs.

    `extra` are nodes in addition to those of the curve, for phases that keep their curve; by default unchanged.
    """
    phases = dict(nlp.phases)
    for name, phase in nlp.phases.items():
        nodes = phase.grid.extra if extra is None else extra[name]
        if curves[name] != phase.curve:
            phases[name] = phase.on_curve(curves[name])
        elif nodes is not phase.grid.extra:
            phases[name] = phase.on_curve(phase.curve, nodes)
    return nlp.with_phases(phases)
