"""How many iterations does the least effort take, with torques as variables and without?

Random arms and chains move from rest to rest with the least integral of squared torques, a third of them with a passive
joint, half of the others within limits of torque. Each is solved once, on a curve, in the variables of the motion
(compact), with torques as variables, too (lifted), and in the form that the library chooses (auto). The forms have the
same optima, but from a straight line they may end at different ones: how many are costlier or cheaper than in compact
form is counted. Beside them stands the swing-up of Kelly's cart-pole (2017, SIAM Review 59) on 64 intervals, and what
solving its program once more takes of the processor.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from math import pi
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.benchmarks.random_arms import peaks, random_arm
from colloc.studies.classics.arms import kelly
from colloc.studies.reporting import Option, arguments, finish
from colloc.support.display import Table

FORMS = ("compact", "lifted", "auto")
KINDS = ("driven arm", "passive joint", "driven chain")
CURVES = (co.BSpline(16), co.HermiteSimpson(24), co.Radau(12))
SWING = co.HermiteSimpson(64)
SAME = 1e-3  # of the cost
OPTIONS = (Option("mechanisms", 60, "number of random mechanisms", least=3),)


class Case(NamedTuple):
    """A motion of a random mechanism, and the curve on which it is sought."""

    kind: str
    problem: co.Problem
    curve: co.BSpline | co.HermiteSimpson | co.Radau


def random_chain(rng: np.random.Generator, n: int) -> co.Model:
    """Planar chain of rods that hangs from the world.

    Parameters
    ----------
    rng : Generator
    n : int
        Number of joints.
    """
    bodies, length = [], 0.0
    for k in range(n):
        joint = co.revolute(axis=(0, 0, 1), placement=co.placement((0.0, -length, 0.0)))
        length, mass = rng.uniform(0.3, 1.0), rng.uniform(0.5, 2.0)
        inertia = mass * length**2 / 12
        parent = f"rod{k}" if k else None
        bodies.append(co.Body(f"rod{k + 1}", joint, parent, mass, (0.0, -length / 2, 0.0), (inertia, 1e-4, inertia)))
    return co.Model(bodies, gravity=(0.0, -9.81, 0.0), name=f"random chain of {n} rods")


def random_effort(seed: int) -> Case:
    """The least effort of a mechanism between two postures at rest.

    Parameters
    ----------
    seed : int
        Names the problem.
    """
    rng, kind = np.random.default_rng([7, seed]), KINDS[seed % len(KINDS)]
    n, T = int(rng.integers(2, 5)), float(rng.uniform(0.6, 2.5))
    if kind == "driven arm":
        model = random_arm(rng, n)
        start = rng.uniform(-pi / 2, pi / 2, n)
        end = start + rng.uniform(0.2, pi, n) * rng.choice([-1, 1], n)
    else:
        model = random_chain(rng, n)
        start, end = rng.uniform(-0.5, 0.5, n), rng.uniform(-pi, pi, n) * (0.6 if kind == "passive joint" else 1.0)
    limits: list[co.problem.Statement] = [co.initial(q=start, qd=0.0), co.final(q=end, qd=0.0)]
    if kind == "passive joint":
        limits.append(co.bounds(tau={model.joint_names[int(rng.integers(n))]: (0.0, 0.0)}))
    elif rng.random() < 0.5:
        torques = 10 ** rng.uniform(0.05, 1.0) * peaks(model, start, end, T)[1]
        limits.append(co.bounds(tau=(-torques, torques)))
    problem = co.Problem(model, T, co.integral(lambda now: ca.sumsqr(now.tau), "effort"), limits)
    return Case(kind, problem, CURVES[seed // len(KINDS) % len(CURVES)])


def in_form(case: Case, form: str) -> co.Solution:
    """The answer in one form, not judged between its nodes.

    Parameters
    ----------
    case : Case
    form : str
        As in `refinement.Solve`.
    """
    plan = [co.refinement.Solve(tol=1.0, between="nodes", form=form)]
    return co.solve(case.problem, case.curve, plan=plan, raise_on_failure=False)


def compare(count: int) -> dict[str, list[dict[str, co.Solution]]]:
    """Answers in all forms, by the kind of mechanism."""
    answers: dict[str, list[dict[str, co.Solution]]] = {kind: [] for kind in KINDS}
    for seed in range(count):
        case = random_effort(seed)
        answers[case.kind].append({form: in_form(case, form) for form in FORMS})
    return answers


def summary(answers: Sequence[dict[str, co.Solution]], form: str) -> dict[str, float]:
    """Iterations of one form, and their share of those in compact form; how many ends cost more or less."""
    iterations = np.array([forms[form].iterations for forms in answers])
    share = iterations / np.maximum([forms["compact"].iterations for forms in answers], 1)
    costs = np.array([(float(forms[form].cost), float(forms["compact"].cost)) for forms in answers])
    more = (costs[:, 0] - costs[:, 1]) / np.abs(costs).min(axis=1)
    return {
        "median": float(np.median(iterations)),
        "mean": float(iterations.mean()),
        "max": float(iterations.max()),
        "share": float(np.median(share)),
        "costlier": float((more > SAME).sum()),
        "cheaper": float((more < -SAME).sum()),
        "unsolved": float(sum(forms[form].outcome.status is not co.solver.Status.SOLVED for forms in answers)),
    }


def swing_up() -> dict[str, float]:
    """The cart-pole: iterations in every form, and seconds of the processor of a call that is repeated."""
    case = Case("swing-up", kelly(), SWING)
    numbers = {f"cart_pole.{form}": float(in_form(case, form).iterations) for form in FORMS}
    nlp = co.transcribe(case.problem, case.curve)
    seconds = []
    for _ in range(6):
        begin = time.process_time()
        co.solve(nlp)
        seconds.append(time.process_time() - begin)
    return numbers | {"cart_pole.warm_seconds": float(np.median(seconds[1:]))}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the benchmark; see --help."""
    args = arguments("benchmarks.iterations", __doc__, argv, quick="six mechanisms", options=OPTIONS, figure=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # of coarse grids
        answers = compare(6 if args.quick else args.mechanisms)
        numbers = swing_up()
    rows = []
    for kind, some in answers.items():
        for form in FORMS:
            found = summary(some, form)
            numbers |= {f"{kind.replace(' ', '_')}.{form}.{name}": value for name, value in found.items()}
            rows.append((f"{kind}, {form}", *(f"{value:.3g}" for value in found.values())))
    header = ("", "iterations: median", "mean", "worst", "share of compact", "costlier", "cheaper", "unsolved")
    print(Table(f"Least effort of {sum(map(len, answers.values()))} random mechanisms", header, rows).text())
    print(
        Table(
            "Swing-up of the cart-pole",
            ("", ""),
            [(name, f"{numbers[name]:.3g}") for name in numbers if name.startswith("cart")],
        ).text()
    )
    return finish(args, numbers)


if __name__ == "__main__":
    main()
