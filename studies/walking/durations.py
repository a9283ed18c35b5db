"""Do the phases of a step, left to last as long as they like, divide the stride as people's do?

People stand on a foot for 60 % of the stride and swing it for 40 (Winter 1991), so that both feet stand for a fifth of
a step; `studies.walking.gait` takes that as given. Here a step is a sequence (`studies.walking.phases`) whose double
support, flat foot and heel rise last as long as costs least; only all of them together are given, by speed and step
length. Beside the planar walker and the 55-DOF human stand planar walkers whose torques lag behind what excites them,
and other speeds. Searches start from standing still, and from random postures and random durations about it.

They do not. The planar walker stands on a foot for 54.6 % of the stride, the 55-DOF human for 53.6 %: both feet stand
for 9 and 7 % of a step in place of 20, and the heel rises at 13 to 15 % of the stride. With speed stance shortens as
people's does (Fukuchi et al. 2018), from 56.8 % at 0.9 m/s to 53.3 % at 1.5 m/s, 5 to 6 % of the stride below them.
Changing a torque swiftly costs nothing here; muscles that lag by 20, 50 and 100 ms behind what excites them, where that
costs, bring stance to 55.7, 56.6 and 57.1 %, and the heel's rise to 25 %. Forces are less like people's than with the
given schedule: the vertical one overshoots after the strike, to 1.3 and 1.4 of body weight. Of 20 random starts 17 end
in the same step.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

import colloc as co
from colloc.models.human.human55 import human55, walking
from colloc.models.human.walker2d import walker2d
from colloc.plot.figure import new_figure
from colloc.plot.style import BLUE, FADE, INK, MUTED, ORANGE, PURPLE, dress, legend_below, styled
from colloc.studies.reporting import Option, Row, arguments, finish, table
from colloc.studies.walking.forces import right, share
from colloc.studies.walking.gait2d import ANKLES
from colloc.studies.walking.phases import BOTH, LAST, SCHEDULE, PhasedStep
from colloc.studies.walking.picture.figures import LOOKS, draw_curves
from colloc.studies.walking.report.errors import PROMISED, QUANTITIES
from colloc.studies.walking.report.norms import fact
from colloc.studies.walking.report.stride import ANGLES, Stride
from colloc.studies.walking.speeds import SPEEDS, step_length
from colloc.studies.walking.step import Step
from colloc.studies.walking.walk import AT_START, FIRST, IPOPT, ROUGHLY
from colloc.transcription import Keyframes

LAGS = (0.02, 0.05, 0.1)  # s
PEOPLE = 60.0  # % of the stride that a foot stands, Winter (1991)
MEASURED = ("slow", "comfortable", "fast")  # paces of Fukuchi et al. (2018), beside `SPEEDS`
PLANAR, HUMAN = (4, 6, 10), (2, 5, 14)  # pieces of the phases
NOISE = 0.1  # rad, of the postures of random starts
SAME = 1e-3  # of the cost
# From standing still.
STANDING: dict[str, Any] = {"tol": 1e-4, "constr_viol_tol": 1e-5, "mu_strategy": "adaptive", "max_iter": 500}
ROUGH: dict[str, Any] = IPOPT | {"tol": ROUGHLY / AT_START}
OPTIONS = (
    Option("speed", 1.2, "m/s", above=0.0),
    Option("step-length", 0.6, "m", above=0.0),
    Option("starts", 20, "number of random starts of the planar walker", least=0),
)


@dataclass(frozen=True, eq=False)
class Found:
    """A step and its phases.

    Parameters
    ----------
    posed : PhasedStep
    solution : PhasesSolution
    iterations : int
        Those of the search for a motion without forces included.
    seconds : float
        Seconds of all solving; building comes on top.
    """

    posed: PhasedStep
    solution: co.solution.PhasesSolution
    iterations: int
    seconds: float

    @cached_property
    def shares(self) -> dict[str, float]:
        """Shares of the step that the phases last."""
        return {name: own.duration / self.solution.duration for name, own in self.solution.phases.items()}

    @property
    def stance(self) -> float:
        """How long a foot stands [% of the stride]."""
        return 50 * (1 + self.shares[BOTH])

    @property
    def heel_rise(self) -> float:
        """When the heel rises [% of the stride]."""
        return 50 * (1 - self.shares[LAST])

    @cached_property
    def stride(self) -> Stride:
        """Curves of the right side over a stride, the second half being the left side's of the step."""
        t = np.linspace(0, self.solution.duration, 201)
        sample, step = self.solution.at(t), self.posed.step
        names = step.stance.model.joint_names
        curves = {}
        for name, joint in ANGLES.items():
            ours, theirs = (np.degrees(sample.q[:, names.index(f"{joint}_{side}")]) for side in "rl")
            curves[name] = np.append(ours, theirs[1:])
        leading = self.solution.evaluate(lambda now: right(step, now).force / step.weight, t)
        both, trailing = self.solution[BOTH], np.zeros((t.size, 3))
        while_both = t <= both.duration
        trailing[while_both] = both.evaluate(lambda now: share(step, now).force / step.weight, t[while_both])
        for name, axis in (("vertical", 1), ("fore_aft", 2)):
            curves[name] = np.append(leading[:, axis], trailing[1:, axis])
        return Stride(np.linspace(0, 100, 2 * t.size - 1), curves)

    @cached_property
    def worst(self) -> dict[str, float]:
        """Largest violation between the nodes by kind, as in `studies.walking.report.errors`."""
        found = dict.fromkeys(PROMISED, 0.0)
        for row in self.solution.violations:
            if row.unit in QUANTITIES:
                kind, size = QUANTITIES[row.unit]
                found[kind] = max(found[kind], size * row.amount)
        return found

    @property
    def numbers(self) -> dict[str, float]:
        """Everything measured."""
        peaks = {f"peaks.{name}": self.stride.peaks[name].value for name in ("vertical.peak_1", "vertical.peak_2")}
        return {
            "stance": self.stance,
            "double_support": 50 * self.shares[BOTH],
            "heel_rise": self.heel_rise,
            "cost": self.solution.cost,
            "solved": float(self.solution.outcome.status is co.solver.Status.SOLVED),  # on its curve
            "error": float(self.solution.error),
            "iterations": float(self.iterations),
            "seconds": self.seconds,
            **{f"violation.{kind}": amount for kind, amount in self.worst.items()},
            **{f"rms_vs_winter.{name}": value for name, value in self.stride.rms.items()},
            **peaks,
        }


def curves(pieces: Sequence[int]) -> dict[str, co.BSpline]:
    """Quartic splines of so many pieces, as dense in nodes as those of `studies.walking.walk`."""
    return {name: co.BSpline(k, degree=4, nodes=4 * k + 1) for name, k in zip(SCHEDULE, pieces, strict=True)}


def planar(posed: PhasedStep, guess: Keyframes | None = None) -> Found:
    """A planar step found from standing still, or from a guess."""
    stand = posed.step.stance.standing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        solution = co.solve(
            posed.sequence, curves(PLANAR), guess=guess or co.line(stand, stand), compile=False,
            solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON, **STANDING), raise_on_failure=False,
        )  # fmt: skip
    return Found(posed, solution, solution.iterations, solution.seconds["solve"])


def spatial(posed: PhasedStep, guess: Keyframes | None = None) -> Found:
    """The step of the 55-DOF human, by way of a motion without forces."""
    stand, pieces = posed.step.stance.standing, curves(HUMAN)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        first = co.solve(
            posed.motion_only, pieces, guess=guess or co.line(stand, stand), compile=True, solver=co.Ipopt(**FIRST),
            raise_on_failure=False,
        )  # fmt: skip
        solution = co.solve(
            posed.sequence, pieces, guess=first, compile=True,
            solver=co.Ipopt(hessian=co.solver.Hessian.GAUSS_NEWTON, **ROUGH), raise_on_failure=False,
        )  # fmt: skip
    return Found(
        posed, solution, first.iterations + solution.iterations, first.seconds["solve"] + solution.seconds["solve"]
    )


def random_start(posed: PhasedStep, rng: np.random.Generator) -> tuple[PhasedStep, Keyframes]:
    """Random durations, and random postures around standing, within the joints' ranges."""
    model, shares = posed.step.stance.model, rng.dirichlet((4.0, 8.0, 8.0))
    lower, upper = model.limits("position")
    postures = np.clip(posed.step.stance.standing + rng.normal(0.0, NOISE, (12, model.n)), lower, upper)
    frames = co.keyframes(dict(zip(np.linspace(0, 1, 12), postures, strict=True)))
    return replace(posed, shares=tuple(shares)), frames


def draw_shares(ax: Axes, found: Mapping[str, Found]) -> None:
    """How the stride of the right foot divides, one bar for each."""
    names = ["people (Winter 1991)", *found]
    for k, name in enumerate(names):
        double = (PEOPLE - 50) if k == 0 else 50 * found[name].shares[BOTH]
        parts = ((0, double, BLUE), (double, 50 - double, FADE(0.55)))
        parts += ((50, double, BLUE), (50 + double, 50 - double, "#e3e7ec"))
        for start, width, color in parts:
            ax.barh(k, width, left=start, color=color, edgecolor="white", height=0.62)
        if k:
            ax.plot([found[name].heel_rise], [k], "|", color=INK, markersize=17, markeredgewidth=2.0)
        ax.text(98.5, k, f"{50 + double:.1f} %", ha="right", va="center", fontsize=9, color=INK)
    ax.axvline(PEOPLE, color=ORANGE, linewidth=1.2, linestyle="--")
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    dress(ax, xlabel="stride of the right foot [%]", ylabel="")
    ax.grid(False, axis="y")
    ax.set_title("both feet | one foot (mark: its heel rises) | both feet | swing", fontsize=9, color=MUTED, loc="left")


@styled
def durations_figure(found: Mapping[str, Found], speeds: Mapping[float, float]) -> Figure:
    """Division of the stride, how it changes with speed, and curves of some strides in front of Winter's band."""
    figure = new_figure(figsize=(13.0, 11.0))
    grid = figure.add_gridspec(3, 3, height_ratios=(1.15, 1, 1))
    draw_shares(figure.add_subplot(grid[0, :]), found)
    shown = {name: own for name, own in found.items() if own.posed.lag in (0.0, LAGS[1])}
    places = [figure.add_subplot(grid[1 + k // 3, k % 3]) for k in range(6)]
    draw_curves(places[:5], {name: own.stride for name, own in shown.items()})
    ax = places[5]
    people = [fact("support.stance", "Fukuchi 2018", pace) for pace in MEASURED]
    paces = [fact("speed.mean", "Fukuchi 2018", pace) for pace in MEASURED]
    known = [(pace.value, own.value) for pace, own in zip(paces, people, strict=True) if pace and own]
    ax.plot(*zip(*known, strict=True), "s--", color=MUTED, label="people (Fukuchi et al. 2018)")
    ax.plot(list(speeds), list(speeds.values()), "o-", color=PURPLE, label="planar walker")
    dress(ax, xlabel="speed [m/s]", ylabel="stance [% of the stride]")
    ax.legend(fontsize=8, frameon=False)
    lines = [Line2D([], [], label=name, **look) for look, name in zip(LOOKS, shown, strict=False)]
    legend_below(figure, lines)
    return figure


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "walking.durations", __doc__, argv, quick="the planar walker at one speed, no random starts", options=OPTIONS
    )
    walker = walker2d().ranged(ANKLES)
    posed = PhasedStep(Step(walker, speed=args.speed, length=args.step_length))
    first = planar(posed)
    found, speeds, numbers = {"planar walker": first}, {args.speed: first.stance}, {}
    alike: list[bool] = []
    if not args.quick:
        found["55-DOF human"] = spatial(PhasedStep(replace(posed.step, human=walking(human55()))))
        found |= {f"planar walker, lag of {1e3 * lag:.0f} ms": planar(replace(posed, lag=lag)) for lag in LAGS}
        for speed in SPEEDS:
            if speed != args.speed:
                there = planar(PhasedStep(replace(posed.step, speed=speed, length=step_length(speed))))
                speeds[speed] = there.stance
                numbers |= {f"planar.speed_{speed:g}.{k}": there.numbers[k] for k in ("stance", "solved")}
        rng = np.random.default_rng(0)
        for _ in range(args.starts):
            other = planar(*random_start(posed, rng)).solution
            alike.append(other.success and abs(other.cost / first.solution.cost - 1) < SAME)
        numbers |= {"planar.starts": float(len(alike)), "planar.starts.same": float(sum(alike))}
    keys = dict(zip(found, ("planar", "human", *(f"planar.lag_{1e3 * lag:.0f}ms" for lag in LAGS)), strict=False))
    rows, notes = [], []
    for name, own in found.items():
        numbers |= {f"{keys[name]}.{key}": value for key, value in own.numbers.items()}
        rows.append(Row(f"{name}: stance [% of the stride]", own.stance, PEOPLE, "Winter (1991)"))
        rows.append(Row("    heel rises at [%]", own.heel_rise))
        worst = ", ".join(f"{kind.replace('_', ' ')} {amount:.2g}" for kind, amount in own.worst.items())
        notes.append(f"  {name}: {own.solution.status}, {own.iterations} iterations, {own.seconds:.1f} s; {worst}")
    for speed, stance in sorted(speeds.items()):
        pace = dict(zip(SPEEDS, MEASURED, strict=True)).get(speed)
        measured = fact("support.stance", "Fukuchi 2018", pace) if pace else None
        rows.append(
            Row(
                f"planar walker at {speed:g} m/s: stance [%]",
                stance,
                measured and measured.value,
                "Fukuchi et al. (2018)",
            )
        )
    if alike:
        notes.append(f"  {sum(alike)} of {len(alike)} random starts of the planar walker end in the same step")
    print(table(args.question, rows, notes))
    co.plot.save_figure(durations_figure(found, dict(sorted(speeds.items()))), args.figure, dpi=130)
    return finish(args, numbers, first.solution)


if __name__ == "__main__":
    main()
