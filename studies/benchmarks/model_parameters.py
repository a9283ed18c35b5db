"""What do masses and lengths that are parameters cost, beside the same numbers as constants of the program?

Callbacks of two compiled programs, that of the model and that of `colloc.problem.parametrised` with the same numbers,
in turns: a Panda lifted with least effort, and a step of the 55-DOF human, the latter without its exact Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.models.human.parametrised import parametrised
from colloc.models.panda import panda
from colloc.studies.benchmarks.timing import alternately, buffered
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking.problem import problem
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import POINTS, posed
from colloc.support.display import Table

CALLBACKS = ("g", "grad_f", "jac_g", "gauss_newton", "hess_lag")
OPTIONS = (Option("rounds", 60, "turns of each callback", least=3),)


class Pair(NamedTuple):
    """The same program with numbers as constants and as parameters."""

    constants: co.transcription.NLP
    parameters: co.transcription.NLP


def arm() -> Pair:
    """The Panda, from one posture to another with least effort."""
    model = panda()
    middle = np.mean(model.limits("position"), axis=0)
    ends = [co.initial(q=middle, qd=0.0), co.final(q=middle + 0.3, qd=0.0)]
    stated = co.Problem(model, 1.0, co.integral(lambda now: ca.sumsqr(now.tau)), ends)
    general = co.problem.parametrised(model)
    other = replace(stated, model=general.model, parameters=[general.numbers])
    return Pair(*(co.transcribe(own, co.BSpline(20), compile=True) for own in (stated, other)))


def person() -> Pair:
    """A step of the 55-DOF human, whose speed, step length and duration are parameters, too."""
    general, speed, length = parametrised(human55()), co.Parameter("speed", 1.2), co.Parameter("length", 0.6)
    own, curve = posed(Step(walking(human55())), POINTS)
    other, _ = posed(Step(walking(general.human), speed=speed.symbol, length=length.symbol), POINTS)
    stated = (problem(own), problem(other, [*general.parameters, speed, length]))
    return Pair(*(co.transcribe(one, curve, compile=True) for one in stated))


def callback(nlp: co.transcription.NLP, name: str) -> Callable[[], object]:
    """A callback as IPOPT calls it, at a random point."""
    function, random = getattr(nlp, name), np.random.default_rng(0)
    x, p = 0.1 * random.standard_normal(nlp.n_x), nlp.problem.parameter_values()
    x[-1] = 0.5  # s, where the duration is a variable
    multipliers = np.append(1.0, np.random.default_rng(1).standard_normal(nlp.n_g))
    given = [x, p, multipliers[:1], multipliers[1:]]
    return buffered(function, given[: function.n_in()])[0]


def measured(pair: Pair, names: Sequence[str], rounds: int) -> dict[str, float]:
    """Seconds with parameters over seconds with constants, least of all turns."""
    found = {}
    for name in names:
        calls: Mapping[str, Callable[[], object]] = {kind: callback(nlp, name) for kind, nlp in pair._asdict().items()}
        times = alternately(calls, rounds)
        found[name] = times["parameters"].minimum / times["constants"].minimum
    return found


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.model_parameters", __doc__, argv, quick="the Panda alone", options=OPTIONS, figure=False
    )
    pairs = {"panda": (arm, CALLBACKS)} | ({} if args.quick else {"human": (person, CALLBACKS[:-1])})
    numbers, rows = {}, []
    for who, (pair, names) in pairs.items():
        ratios = measured(pair(), names, args.rounds)
        numbers |= {f"{who}.{name}": ratio for name, ratio in ratios.items()}
        rows.append((who, *(f"{ratios[name]:.3f}" if name in ratios else "" for name in CALLBACKS)))
    print(Table("Seconds with parameters over seconds with constants", ("", *CALLBACKS), rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
