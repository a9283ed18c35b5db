"""Which barrier strategy of IPOPT has the shortest tail?

Classics, random motions of random arms, every third on another transcription, and one arm whose velocity limits are
tight and whose torques are generous, as those of robots in use, from random guesses of the duration between a tenth and
ten times the right one. A default is judged by its worst cases: medians hide them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from math import pi
from typing import NamedTuple

import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_arms import peaks, random_arm, random_problem
from colloc.studies.classics.optima import CLASSICS
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table
from colloc.transcription import NLP, trajectory_from

CHOICES = {
    "default": {},
    "begun high": {"mu_strategy": "monotone", "mu_init": 0.1},  # IPOPT's own default
    "adaptive": {"mu_strategy": "adaptive"},
    "corrected": {"mu_strategy": "adaptive", "corrector_type": "affine"},
    "corrected, with a ceiling": {"mu_strategy": "adaptive", "corrector_type": "affine", "mu_max": 0.1},
}
CURVES = [co.BSpline(20), co.Radau(20), co.HermiteSimpson(30)]
LONGEST = 60.0  # s of a run
OPTIONS = (
    Option("problems", 30, "number of random problems", least=1),
    Option("guesses", 40, "number of random guesses of the duration", least=1),
)


def hasty_arm(seed: int = 2) -> co.Problem:
    """Fastest motion of seven joints whose velocity limits alone decide: torques reach for four times the hurry."""
    rng = np.random.default_rng(seed)
    model = random_arm(rng, 7, prismatic=0.0)
    start = rng.uniform(-pi / 2, pi / 2, model.n)
    end = start + rng.uniform(0.3, 1.5, model.n) * rng.choice([-1, 1], model.n)
    rates = rng.uniform(2.0, 2.6, model.n)
    T = float(np.max(np.abs(end - start) / rates))
    torques = 4 * peaks(model, start, end, T)[1]
    limits = co.bounds(qd=(-rates, rates), tau=(-torques, torques))
    ends = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    return co.Problem(model, co.Free(T / 20, 20 * T, T), co.duration(), [*ends, limits])


def straight(nlp: NLP) -> np.ndarray:
    """The default guess as a decision vector."""
    return np.clip(nlp.grid.interpolate(trajectory_from(nlp.problem, None)), nlp.lower, nlp.upper)


def motions(count: int) -> Iterator[tuple[NLP, np.ndarray]]:
    """Random problems and where they start."""
    for seed in range(count):
        nlp = co.transcribe(random_problem(seed), CURVES[seed % len(CURVES)], compile=False)
        yield nlp, straight(nlp)


def classics(count: int) -> Iterator[tuple[NLP, np.ndarray]]:
    """Classic problems on twenty Radau intervals."""
    for classic in list(CLASSICS.values())[:count]:
        nlp = co.transcribe(classic.problem(), co.Radau(20), compile=False)
        yield nlp, straight(nlp)


def hurries(count: int) -> Iterator[tuple[NLP, np.ndarray]]:
    """The hasty arm with random guesses of its duration."""
    nlp = co.transcribe(hasty_arm(), co.BSpline(30), compile=False)
    x, T = straight(nlp), nlp.grid.layout.duration
    for factor in 10 ** np.random.default_rng(0).uniform(-1, 1, count):
        start = x.copy()
        start[T] *= factor
        yield nlp, start


class Run(NamedTuple):
    """One solve: its outcome, and seconds of the processor, on which what else the machine does has little effect."""

    outcome: co.solver.Outcome
    seconds: float


def measure(cases: Iterator[tuple[NLP, np.ndarray]]) -> dict[str, list[Run]]:
    """Runs of all cases by choice."""
    found: dict[str, list[Run]] = {name: [] for name in CHOICES}
    for nlp, start in cases:
        for name, options in CHOICES.items():
            prepared = co.Ipopt(max_cpu_time=LONGEST, **options).prepare(nlp)
            begin = time.process_time()
            outcome = prepared(co.solver.Start(start), nlp.problem.parameter_values())
            found[name].append(Run(outcome, time.process_time() - begin))
    return found


def tail(runs: Sequence[Run]) -> dict[str, float]:
    """How many iterations and seconds: in the middle, in all, and at worst."""
    iterations = np.array([run.outcome.iterations for run in runs])
    seconds = np.array([run.seconds for run in runs])
    return {
        "iterations.median": float(np.median(iterations)),
        "iterations.p95": float(np.percentile(iterations, 95)),
        "iterations.max": float(iterations.max()),
        "seconds.total": float(seconds.sum()),
        "seconds.max": float(seconds.max()),
        "unsolved": float(sum(run.outcome.status is not co.solver.Status.SOLVED for run in runs)),
    }


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments(
        "benchmarks.barrier", __doc__, argv, quick="three problems and six guesses", options=OPTIONS, figure=False
    )
    problems, guesses = (3, 6) if args.quick else (args.problems, args.guesses)
    numbers: dict[str, float] = {}
    groups = {"classics": classics(problems), "problems": motions(problems), "guesses": hurries(guesses)}
    for what, cases in groups.items():
        rows = []
        for name, runs in measure(cases).items():
            found = tail(runs)
            key = f"barrier.{what}.{name}".replace(",", "").replace(" ", "_")
            numbers |= {f"{key}.{quantity}": value for quantity, value in found.items()}
            rows.append((name, *(f"{value:.3g}" for value in found.values())))
        header = ("", "iterations: median", "95 %", "worst", "s in all", "worst", "unsolved")
        print(Table(what.capitalize(), header, rows).text())
    return finish(args, numbers)


if __name__ == "__main__":
    main()
