"""From where must the search start that a cart-pole and an acrobot swing up with the least effort?

The cart and pole of Kelly (2017), "An introduction to trajectory optimization", SIAM Review 59, section 6: up within
2 s, the cart a metre further, with the least integral of the squared force. The acrobot of Spong (1995), "The swing up
control problem for the acrobot", IEEE Control Systems 15, stood on its head in 2 s with the least integral of the
squared torque. Both have several local optima. Searches start from the straight line between the ends and from random
postures about it at a quarter, half and three quarters of the time; what is called solved is sorted by its cost, and
the two cheapest motions are refined. Beside them stands the answer of `co.solve(problem)`, which starts from the
straight line too and refines from a coarse grid.

The cart-pole has optima of 57.9448 and 58.8077: in the costlier one the cart pulls the pole along and the pole swings
back once, in the cheaper one the cart begins with a small step backwards. The straight line leads to the costlier one,
on 40 equal intervals and on the library's own grid; nearly half of the random starts lead to the cheaper one. The
acrobot's optimum is 175.2864, found from the straight line on either grid and from a third of the random starts; most
others end where no grid is fine enough.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import SubFigure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

import colloc as co
from colloc.plot.figure import new_figure
from colloc.plot.motion import draw_motion
from colloc.plot.style import BLUE, INK, MUTED, ORANGE, dress, legend_below, styled
from colloc.studies.classics.arms import kelly, spong
from colloc.studies.films import of_postures
from colloc.studies.reporting import Film, Option, Row, arguments, finish, table
from colloc.transcription import Keyframes

CURVE = co.HermiteSimpson(40)
TOL = 1e-5
SAME = 5e-3  # of the cost
BETWEEN = (0.25, 0.5, 0.75)  # of the duration: where the postures of a start are random
OPTIONS = (Option("starts", 32, "number of random starts", least=1),)
WHENCE = {
    "best": "best of all starts",
    "second": "second",
    "line": f"from the straight line, {CURVE}",
    "default": "from the straight line, grid of the library's own",
}
QUICK = "6 random starts, not on the library's own grid"
APART = 3.5  # m, of the two in the animation


class Swing(NamedTuple):
    """A swing-up.

    Parameters
    ----------
    problem : callable
        Makes the problem.
    start, end : tuple of float
        Postures.
    spread : tuple of float
        Standard deviations of random postures from the straight line.
    known : mapping of str to float
        Known costs of the best and of the second optimum.
    """

    problem: Callable[[], co.Problem]
    start: tuple[float, float]
    end: tuple[float, float]
    spread: tuple[float, float]
    known: Mapping[str, float]


SWINGS = {
    "cart_pole": Swing(kelly, (0.0, 0.0), (1.0, np.pi), (0.5, 2.0), {"best": 57.94478, "second": 58.80767}),
    "acrobot": Swing(spong, (0.0, 0.0), (np.pi, 0.0), (2.0, 2.0), {"best": 175.28654}),
}


class Found(NamedTuple):
    """Result of a search over starts.

    Parameters
    ----------
    runs : list of Solution
        From every start, the straight line first.
    best, second : Solution
        The two cheapest of different cost, refined; None if there is no second.
    default : Solution or None
        The library's own answer, without a start or a grid, if it was asked for.
    seconds : dict of str to float
        Wall time of all starts, of refining the best, and of the default.
    """

    runs: list[co.Solution]
    best: co.Solution
    second: co.Solution | None
    default: co.Solution | None
    seconds: dict[str, float]

    @property
    def answers(self) -> dict[str, co.Solution]:
        """The solutions that the study describes, by name."""
        named = {"best": self.best, "second": self.second, "line": self.runs[0], "default": self.default}
        return {name: solution for name, solution in named.items() if solution is not None}


def starts(swing: Swing, number: int, rng: np.random.Generator) -> list[Keyframes]:
    """The straight line, and random postures about it."""
    guesses, (start, end) = [co.line(swing.start, swing.end)], np.array([swing.start, swing.end])
    for _ in range(number):
        about = {s: (1 - s) * start + s * end + rng.normal(0.0, swing.spread) for s in BETWEEN}
        guesses.append(co.keyframes({0.0: start, **about, 1.0: end}))
    return guesses


def search(swing: Swing, number: int, default: bool) -> Found:
    """Optima from all starts, the two cheapest of them refined, and if wanted the library's own answer."""
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", co.refinement.SolutionWarning
        )  # most starts end where nobody would look for an optimum
        nlp = co.transcribe(swing.problem(), CURVE, compile=False)
        brief = co.Ipopt(max_iter=300)
        runs = [
            co.solve(nlp, guess=guess, solver=brief, raise_on_failure=False)
            for guess in starts(swing, number, np.random.default_rng(0))
        ]
        searched = time.perf_counter()
        cheapest = optima(runs)
        best = co.refine(cheapest[0], TOL)
        refined = time.perf_counter()
        second = co.refine(cheapest[1], TOL) if len(cheapest) > 1 else None
        own = time.perf_counter()
        plain = co.solve(swing.problem(), compile=False, raise_on_failure=False) if default else None
    seconds = {"starts": searched - begin, "refine": refined - searched, "default": time.perf_counter() - own}
    return Found(runs, best, second, plain, seconds)


def optima(runs: Sequence[co.Solution]) -> list[co.Solution]:
    """One solved run of every cost, the cheapest first; InputError if none is solved."""
    solved = sorted((run for run in runs if run.success), key=lambda run: run.cost)
    if not solved:
        raise co.InputError(f"none of {len(runs)} starts is solved")
    return [run for k, run in enumerate(solved) if k == 0 or not near(run, solved[k - 1])]


def near(one: co.Solution, other: co.Solution) -> bool:
    """Whether two motions, on grids that may be different ones, cost the same."""
    return abs(one.cost - other.cost) < SAME * other.cost


def measured(found: Found) -> dict[str, float]:
    """Numbers of one swing-up."""
    verified = co.verify(found.best)
    solved = [run for run in found.runs[1:] if run.success]
    cheap, costly = (sum(own is not None and near(run, own) for run in solved) for own in (found.best, found.second))
    numbers = {f"cost.{name}": run.cost for name, run in found.answers.items()}
    numbers |= {f"status.{name}": float(run.success) for name, run in found.answers.items()}
    return numbers | {
        "cost": found.best.cost,
        "status": float(found.best.success),
        "local_error": verified.local_error,
        "terminal_miss": verified.terminal_miss,
        "starts": float(len(found.runs) - 1),
        "starts.solved": float(len(solved)),
        "starts.best": float(cheap),
        "starts.second": float(costly),
    }


def draw_curves(axes: Sequence[Axes], found: Found) -> None:
    """Coordinates and force of the cheapest motion and of the second."""
    t = np.linspace(0, found.best.duration, 600)
    model = found.best.problem.model
    names, units = model.joint_names, model.position_units
    driven = int(np.argmax(np.abs(found.best.tau).max(axis=0)))
    for solution, dash in ((found.second, (0, (3, 1.5))), (found.best, "-")):
        if solution is None:
            continue
        sample = solution.at(t)
        for k, color in enumerate((BLUE, ORANGE)):
            axes[0].plot(t, sample.q[:, k], color=color, linestyle=dash, label=f"{names[k]} [{units[k]}]")
        axes[1].plot(t, sample.tau[:, driven], color=(BLUE, ORANGE)[driven], linestyle=dash)
    axes[0].legend(handles=axes[0].lines[-2:], frameon=False)
    dress(axes[0], "", "position")
    dress(axes[1], "time [s]", f"on the {names[driven]} [{model.torque_units[driven]}]")


def draw_costs(ax: Axes, found: Found) -> None:
    """Cost over start, in the order of cost."""
    runs = sorted(found.runs, key=lambda run: run.cost)
    for k, run in enumerate(runs):
        color = INK if run is found.runs[0] else BLUE
        ax.plot(k + 1, run.cost, "o", color=color, markerfacecolor=color if run.success else "white", markersize=5)
    if found.default is not None:
        ax.axhline(found.default.cost, color=MUTED, linestyle=":")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter("{x:g}")
    dress(ax, "starts, the cheapest end first", "cost")


@styled
def draw(found: dict[str, Found], file: str) -> None:
    """Of either pendulum: the cheapest motion, the two cheapest over time, and what came of every start."""
    figure = new_figure(figsize=(14.0, 11.0))
    rows = figure.subfigures(len(found), 1, squeeze=False)[:, 0]
    for row, (name, one) in zip(rows, found.items(), strict=True):
        _draw_row(row, name, one)
    handles = [
        Line2D([], [], color=INK, label="cheapest motion"),
        Line2D([], [], color=INK, linestyle=(0, (3, 1.5)), label="second"),
        Line2D([], [], color=BLUE, marker="o", linestyle="", label="random start, solved"),
        Line2D([], [], color=BLUE, marker="o", markerfacecolor="white", linestyle="", label="not solved"),
        Line2D([], [], color=INK, marker="o", linestyle="", label="straight line"),
        Line2D([], [], color=MUTED, linestyle=":", label="grid of the library's own"),
    ]
    legend_below(figure, handles)
    co.plot.save_figure(figure, file)


def _draw_row(row: SubFigure, name: str, found: Found) -> None:
    left, middle, right = row.subfigures(1, 3, width_ratios=(1.1, 1, 0.9), squeeze=False)[0]
    legend_below(left, draw_motion(left, 111, found.best, 13))
    second = "" if found.second is None else f", second {found.second.cost:.4f}"
    row.suptitle(f"{name.replace('_', '-')}: {found.best.cost:.4f}{second}", fontsize=11)
    draw_curves(middle.subplots(2, 1, sharex=True), found)
    draw_costs(right.subplots(), found)


def film(found: dict[str, Found]) -> Film:
    """Both pendulums side by side, which take the same time."""
    models = [one.best.problem.model for one in found.values()]
    aside = co.revolute(axis=(0, 0, 1), placement=co.placement((APART, 0, 0)))
    moved = [replace(body, joint=aside) if body.parent is None else body for body in models[1].bodies]
    both = co.Model([*models[0].bodies, *moved], name="cart-pole and acrobot")

    def postures(t: np.ndarray) -> np.ndarray:
        return np.hstack([one.best.at(t).q for one in found.values()])

    return of_postures(both, postures, next(iter(found.values())).best.duration, slow=2.0)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments(
        "classics.swing_up",
        __doc__,
        argv,
        quick=QUICK,
        options=OPTIONS,
    )
    numbers: dict[str, float] = {}
    rows, notes, found = [], [], {}
    for name, swing in SWINGS.items():
        found[name] = one = search(swing, 6 if args.quick else args.starts, default=not args.quick)
        own = measured(one)
        numbers |= {f"{name}.{key}": value for key, value in own.items()}
        numbers |= {f"seconds.{name}.{key}": value for key, value in one.seconds.items()}
        title, known = name.replace("_", "-"), swing.known
        rows += [
            Row(f"{title}: {WHENCE[key]}", run.cost, known.get(key), "converged independently" if key in known else "")
            for key, run in one.answers.items()
        ]
        notes.append(
            f"  {title}: of {own['starts']:.0f} random starts {own['starts.solved']:.0f} solved, "
            f"{own['starts.best']:.0f} end in the best motion, {own['starts.second']:.0f} in the second; "
            f"{one.seconds['starts']:.1f} s; simulated, the best misses the end by {own['terminal_miss']:.0e}"
        )
    print(table(args.question, rows, notes))
    draw(found, args.figure)
    return finish(args, numbers, film(found))


if __name__ == "__main__":
    main()
