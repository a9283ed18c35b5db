"""How much of the spread of human walking comes from the size of the body?

A hundred people of the statures, masses and sexes of the 2012 survey of US Army personnel (Gordon et al. 2014,
NATICK/TR-15/007) walk at three speeds, each with the segments, strength and step length that go with them: de Leva's
proportions of their sex, torque limits in proportion to mass times stature, steps in proportion to stature and to the
square root of speed. Weights and ranges are those of `colloc.studies.walking.gait`. The spread of joint angles and
ground forces is laid beside that of Winter (1991) and of Fukuchi et al. (2018), the cost of transport over speed.

All walks are one program: dimensions, speed and step length are parameters (`colloc.models.human.parametrised`), and
every walk starts from the nearest one before it.

By dimensional analysis a walk depends on speed^2 / (gravity stature), on the step over the stature, and on the
proportions, that is on sex; mass has no part in it, since strength grows with it. So little should be left of the
spread of people, and how little is the answer.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import colloc as co
from colloc.models.human.human import Human
from colloc.models.human.human55 import human55, walking
from colloc.models.human.parametrised import ParametrisedHuman, parametrised
from colloc.models.human.stance import FORWARD, VERTICAL
from colloc.models.human.walker2d import walker2d
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking import gait2d
from colloc.studies.walking.picture.figures import PANELS
from colloc.studies.walking.picture.population import population_figure
from colloc.studies.walking.problem import problem
from colloc.studies.walking.report.norms import bands, fact
from colloc.studies.walking.report.stride import ANGLES, COMPARED, Stride
from colloc.studies.walking.step import DOUBLE, Step
from colloc.studies.walking.walk import IPOPT, POINTS, posed, walk
from colloc.studies.workers import WORKERS, workers
from colloc.support.display import Table

SPEEDS = (0.9, 1.2, 1.5)  # m/s
SEXES = ("male", "female")
# Gordon et al. (2014): mean and standard deviation of stature [m] and mass [kg], 4,082 men and 1,986 women.
STATURE = {"male": (1.7562, 0.0686), "female": (1.6285, 0.0642)}
MASS = {"male": (85.52, 14.22), "female": (67.76, 10.98)}
MEAN = 1.741  # m, stature of the man who takes steps of 0.6 m at 1.2 m/s
SAMPLES = 101  # times of a step
# From the optimum of a neighbour: multipliers kept, a barrier as low as where that one ended.
PUSH = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push")
WARM: dict[str, Any] = IPOPT | {"tol": 2e-5, "max_iter": 200, "mu_strategy": "monotone", "mu_init": 1e-6}
WARM |= {"warm_start_init_point": "yes"} | {f"warm_start_{name}": 1e-5 for name in PUSH}
EVENTS = ("hip.flexion", "knee.swing")  # whose spread Fukuchi et al. give
PACES = dict(zip(SPEEDS, ("slow", "comfortable", "fast"), strict=True))
OPTIONS = (
    Option("planar", False, "planar walkers of seven links in place of the 55-DOF human"),
    Option("people", 100, "number of people, half of them women", least=2),
    Option("seed", 0, "of the draw", least=0),
    Option("folder", "", "where finished walks are kept, so that the same call goes on after an interruption"),
    *WORKERS,
)


def people(count: int, seed: int) -> list[dict[str, float]]:
    """People drawn at random: sex as its number in `SEXES`, stature [m], mass [kg]; by sex and stature.

    Mass over stature squared is drawn independently of stature, with the spread that gives mass the published one.
    """
    random, found = np.random.default_rng(seed), []
    for k in range(count):
        sex = SEXES[k % 2]
        (stature, spread), (mass, scatter) = STATURE[sex], MASS[sex]
        tall = stature + spread * random.standard_normal()
        build = np.sqrt((scatter / mass) ** 2 - (2 * spread / stature) ** 2)
        heavy = mass * (tall / stature) ** 2 * np.exp(build * random.standard_normal() - build**2 / 2)
        found.append({"sex": float(k % 2), "stature": float(tall), "mass": float(heavy)})
    return sorted(found, key=lambda person: (person["sex"], person["stature"]))


def step_length(stature: float, speed: float) -> float:
    """Length of a step [m]."""
    return 0.6 * stature / MEAN * float(np.sqrt(speed / 1.2))


class Anyone(NamedTuple):
    """The step of any person: a problem, its curve, a human with parametric dimensions, and its driven joints."""

    problem: co.Problem
    curve: co.BSpline
    human: ParametrisedHuman
    driven: tuple[str, ...]


def human(sex: float, stature: float | None, mass: float | None, *, planar: bool) -> Human:
    """A human of 55 degrees of freedom, or the planar walker."""
    return (walker2d if planar else human55)(stature, mass, SEXES[int(sex)])


def walker(human: Human, *, planar: bool) -> Human:
    """The human with the joints and ranges of walking."""
    return human.ranged(gait2d.ANKLES) if planar else walking(human)


@cache
def anyone(planar: bool) -> Anyone:
    """The step of `colloc.studies.walking.gait`, or `gait2d`, with dimensions, speed and step length as parameters."""
    general = parametrised(human(0, None, None, planar=planar))
    speed, length = co.Parameter("speed", 1.2), co.Parameter("length", 0.6)
    who = walker(general.human, planar=planar)
    step, curve = posed(Step(who, speed=speed.symbol, length=length.symbol), POINTS)
    stated = problem(step, [*general.parameters, speed, length])
    return Anyone(stated, gait2d.SPLINE if planar else curve, general, tuple(who.torque_limits))


def values(planar: bool, sex: float, stature: float, mass: float, speed: float) -> dict[str, object]:
    """Parameters of a case."""
    own = anyone(planar).human.values(human(sex, stature, mass, planar=planar))
    return {**own, "speed": speed, "length": step_length(stature, speed)}


def reference(planar: bool) -> co.Solution:
    """The step of the mean man at 1.2 m/s, where the search begins."""
    step = Step(walker(human(0, None, None, planar=planar), planar=planar))
    return (gait2d.walk(step, "spline") if planar else walk(step)).solution


def walks(
    drawn: Sequence[Mapping[str, float]],
    speeds: Sequence[float],
    executor: Any = None,
    compile: bool | co.kernels.Compile | None = None,
    *,
    planar: bool = False,
    folder: str | None = None,
) -> co.sweeps.Sweep:
    """The walks of all people at all speeds."""
    general, start = anyone(planar), reference(planar)
    return co.sweep(
        co.transcribe(general.problem, general.curve, compile=compile),
        [{**person, "speed": speed} for speed in speeds for person in drawn],
        parameters=partial(values, planar),
        guess=start,
        executor=executor,
        solver=co.Ipopt(**WARM),
        folder=folder,
    )


def stride(solution: co.Solution, weight: float) -> Stride:
    """Joint angles and ground forces of a walk over a stride, of a person of a weight [N]."""
    s = np.linspace(0, 1, SAMPLES)
    sample = solution.at(s * solution.duration)
    names = solution.problem.model.joint_names

    def whole(right: np.ndarray, left: np.ndarray) -> np.ndarray:
        return np.append(right, left[1:])  # what the left side does, the right one does in the next step

    curves = {
        name: np.degrees(whole(*(sample.q[:, names.index(f"{joint}_{side}")] for side in "rl")))
        for name, joint in ANGLES.items()
    }
    trailing = sample.trailing * (s <= DOUBLE)[:, None]  # means nothing afterwards
    first = 0 if trailing.shape[1] == 3 else 1  # in the plane without a lateral force
    for k, (name, joint) in enumerate({"vertical": VERTICAL, "fore_aft": FORWARD}.items(), first):
        curves[name] = whole(sample.tau[:, names.index(joint)] / weight, trailing[:, k])
    return Stride(np.linspace(0, 100, 2 * SAMPLES - 1), curves)


def cost_of_transport(solution: co.Solution, weight: float, length: float, driven: Sequence[str]) -> float:
    """Mechanical work of all driven joints, positive and negative, over weight [N] times the step's length [m]."""
    sample = solution.at(np.linspace(0, solution.duration, 4 * SAMPLES))
    joints = [solution.problem.model.joint_names.index(name) for name in driven]
    power = np.abs(sample.tau[:, joints] * sample.qd[:, joints]).sum(axis=1)
    return float(np.trapezoid(power, sample.t) / (weight * length))


class Population(NamedTuple):
    """Results: strides of all walks and their costs of transport, by speed."""

    strides: Mapping[float, Sequence[Stride]]
    transport: Mapping[float, np.ndarray]

    def spread(self, speed: float, curve: str) -> float:
        """Standard deviation among people, its mean square over the stride."""
        return float(np.sqrt(np.var([own.curves[curve] for own in self.strides[speed]], axis=0).mean()))

    def peaks(self, speed: float, event: str) -> np.ndarray:
        """Peaks of all people."""
        return np.array([own.peaks[event].value for own in self.strides[speed]])


def gathered(found: co.sweeps.Sweep, driven: Sequence[str]) -> Population:
    """The walks that were found."""
    good = np.flatnonzero(found["reason"] == "").tolist()
    speeds = np.unique(found["speed"][good]).tolist()
    strides: dict[float, list[Stride]] = {speed: [] for speed in speeds}
    transport: dict[float, list[float]] = {speed: [] for speed in speeds}
    for case in good:
        solution, weight, speed = found.solution(case), 9.81 * found["mass"][case], float(found["speed"][case])
        assert isinstance(solution, co.Solution)
        strides[speed].append(stride(solution, weight))
        length = step_length(found["stature"][case], speed)
        transport[speed].append(cost_of_transport(solution, weight, length, driven))
    return Population(strides, {speed: np.array(costs) for speed, costs in transport.items()})


def middle(found: co.sweeps.Sweep) -> co.Solution:
    """The walk in the middle of the table, of those that were found."""
    good = np.flatnonzero(found["reason"] == "")
    solution = found.solution(int(good[good.size // 2]))
    assert isinstance(solution, co.Solution)
    return solution


def report(population: Population) -> tuple[Table, dict[str, float]]:
    """Spreads beside the published ones."""
    rows, numbers = [], {}
    middle = 1.2 if 1.2 in population.strides else next(iter(population.strides))
    for curve in COMPARED:
        ours, theirs = population.spread(middle, curve), float(np.sqrt(np.mean(bands()[curve].sd ** 2)))
        numbers |= {f"spread.{curve}": ours, f"spread.{curve}.share": ours / theirs}
        rows.append((PANELS[curve], f"{middle:g}", f"{ours:.3g}", f"{theirs:.3g}", "Winter (1991)"))
    for speed in population.strides:
        for event in EVENTS:
            peaks, known = population.peaks(speed, event), fact(event, "Fukuchi 2018", PACES[speed])
            assert known is not None
            numbers |= {f"{event}.{speed:g}": float(peaks.mean()), f"spread.{event}.{speed:g}": float(peaks.std())}
            label = f"{event.replace('.', ', peak of ')} [deg]"
            cells = f"{peaks.mean():.3g} ± {peaks.std():.2g}", f"{known.value:.3g} ± {known.sd:.2g}"
            rows.append((label, f"{speed:g}", *cells, "Fukuchi et al. (2018)"))
        cost = population.transport[speed]
        numbers |= {f"transport.{speed:g}": float(cost.mean()), f"spread.transport.{speed:g}": float(cost.std())}
        rows.append(("mechanical cost of transport", f"{speed:g}", f"{cost.mean():.3g} ± {cost.std():.2g}", "", ""))
    header = ("", "speed [m/s]", "predicted", "measured", "source")
    return Table("Standard deviations among people", header, rows), numbers


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.population", __doc__, argv, quick="six planar walkers at 1.2 m/s", options=OPTIONS)
    planar = args.quick or args.planar
    drawn, speeds = people(6 if args.quick else args.people, args.seed), SPEEDS[1:2] if args.quick else SPEEDS
    with tempfile.TemporaryDirectory() as cache, workers(args.workers, args.scheduler) as several:
        begin = time.perf_counter()
        own = co.kernels.Compile(threads=1, cache=None if args.scheduler else cache)
        found = walks(drawn, speeds, several, own, planar=planar, folder=args.folder or None)
        seconds = time.perf_counter() - begin
        libraries = len(list(Path(cache).glob("*.so")))
        population = gathered(found, anyone(planar).driven)
    table, numbers = report(population)
    numbers |= {"cases": float(len(found)), "failed": float(found.failed.size), "seconds": seconds}
    numbers |= {"libraries": float(libraries), "iterations": float(np.nanmean(found["iterations"]))}
    print(table.text())
    print(f"  {len(found)} walks by {args.workers} workers in {seconds:.0f} s, {found.failed.size} failed, ", end="")
    print(f"{numbers['iterations']:.0f} iterations each on average, {libraries} libraries compiled")
    for case in found.failed.tolist():
        print(f"  {dict(zip(found.names, found.values[case].tolist(), strict=True))}: {found['reason'][case]}")
    co.plot.save_figure(population_figure(found, population.strides, population.transport), args.figure)
    return finish(args, numbers, middle(found))


if __name__ == "__main__":
    main()
