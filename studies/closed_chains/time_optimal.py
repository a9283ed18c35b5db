"""How fast can closed chains move under torque limits, exactly and redundantly driven, on splines and by collocation?

A four-bar and a five-bar, the loop cut and its forces unknowns (Xiang, Arora and Abdel-Malek 2009, equation 38; with
more actuators than freedoms the forces of Lee et al. 2005, equations 40 to 43, whose share in the null space is free):
all joints are splines, refined until the errors between the nodes are below the tolerance. The four-bar has one freedom
and so a given path, on which the fastest motion is known from the phase plane (Bobrow, Dubowsky and Gibson 1985).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.plot.chains import chain_pose
from colloc.plot.skeleton import Skeleton
from colloc.plot.style import BLUE, GREEN, ORANGE, dress, legend_below, looks, styled
from models.closed.five_bar import END, START, five_bar
from models.closed.four_bar import four_bar
from studies.closed_chains.figures import Limb, draw_snapshots
from studies.closed_chains.five_bar import LIMBS, in_plane
from studies.reporting import Row, arguments, finish, table

WEIGHTLESS = (0.0, 0.0, 0.0)


class Case(NamedTuple):
    """A chain, its independent joints at both ends, the limits of its actuators, and the optimum where it is known.

    Parameters
    ----------
    chain : ClosedChain
    start, end : tuple of float [rad]
    limits : mapping of str to float [N m]
    T : float, optional [s]
    """

    chain: co.loops.ClosedChain
    start: tuple[float, ...]
    end: tuple[float, ...]
    limits: Mapping[str, float]
    T: float | None = None


CRANK = {"crank": 2.0}
ARM = {"waist": 30.0, "upper_arm": 20.0, "crank": 10.0}
DRIVEN, ARM_DRIVEN = CRANK | {"rocker": 1.0}, ARM | {"forearm": 5.0}
# Phase plane: 8th-order integration from both ends to where they meet.
CASES = {
    "four_bar": Case(four_bar(WEIGHTLESS), (0.5,), (2.5,), CRANK, 0.36169273),
    "four_bar_redundant": Case(four_bar(WEIGHTLESS, tuple(DRIVEN)), (0.5,), (2.5,), DRIVEN, 0.33411586),
    "five_bar": Case(five_bar(WEIGHTLESS), START, END, ARM),
    "five_bar_redundant": Case(five_bar(WEIGHTLESS, tuple(ARM_DRIVEN)), START, END, ARM_DRIVEN),
}
CURVES = {"spline": co.BSpline(12, degree=7, continuity=1), "radau": co.Radau(20, degree=5)}
GUESS = 0.6  # s
FOUR_BAR = {
    "crank": Limb(BLUE, ("crank", "coupler")),
    "coupler": Limb(ORANGE, ("coupler", "pin, first")),
    "rocker": Limb(GREEN, ("rocker", "pin, second")),
}


def problem(case: Case) -> co.Problem:
    """From rest to rest in the shortest time."""
    chain = case.chain
    cut, still = co.loops.CutJoints(chain), dict.fromkeys(chain.independent, 0.0)
    return co.Problem(
        model=chain.model,
        duration=co.Free(lower=0.05, upper=3.0, guess=GUESS),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=dict(zip(chain.independent, case.start, strict=True)), qd=still),
            co.final(q=dict(zip(chain.independent, case.end, strict=True)), qd=still),
            co.bounds(tau={name: (-limit, limit) for name, limit in case.limits.items()}),
            *cut.constraints,
        ],
        unknowns=[cut.multipliers],
        loads=cut.loads,
    )


def solved(case: Case, curve: co.BSpline | co.Radau, tol: float) -> co.Solution:
    """Refined from a curve on which the independent joints move uniformly."""
    start, end = np.array(case.start), np.array(case.end)

    def line(t: float) -> np.ndarray:
        return co.loops.assemble(case.chain, start + t / GUESS * (end - start))

    return co.solve(problem(case), curve, tol=tol, guess=line, compile=False, progress=False)


def told(case: Case, solution: co.Solution) -> dict[str, float]:
    """The numbers of a solution."""
    names = solution.problem.model.joint_names
    sample = solution.at(np.linspace(0, solution.duration, 20_001))
    beyond = [np.abs(sample.tau[:, names.index(name)]).max() / limit - 1 for name, limit in case.limits.items()]
    return {
        "T": solution.duration,
        "gap": float(co.loops.closure_error(case.chain, sample.q).max()),
        "beyond": float(max(0.0, *beyond)),
        "seconds": sum(rung.seconds for rung in solution.ladder),
        "solved": float(solution.success),
    }


def snapshots(chain: co.loops.ClosedChain, solution: co.Solution) -> tuple[Skeleton, Mapping[str, Limb]]:
    """Seven postures in the plane of the linkage, and its limbs."""
    times = np.linspace(0, solution.duration, 7)

    def posture(t: np.ndarray) -> np.ndarray:
        return solution.at(t).q

    if "waist" in chain.model.joint_names:
        return in_plane(posture, times), LIMBS
    return chain_pose(chain, posture)(times), FOUR_BAR


@styled
def draw(found: Mapping[str, co.Solution], file: str) -> None:
    """Postures of the chains, torques of the actuators, and forces in the cut."""
    figure = plt.figure(figsize=(4.1 * len(found), 9.6))
    for part, (name, solution) in zip(figure.subfigures(1, len(found), squeeze=False)[0], found.items(), strict=True):
        chain, T = CASES[name].chain, solution.duration
        t = np.linspace(0, T, 600)
        above, below = part.subfigures(2, 1, squeeze=False, height_ratios=(1.1, 1.6))[:, 0]
        above.suptitle(f"{name.replace('_', ' ')}, {T:.4f} s", fontsize=10)
        shown, limbs = snapshots(chain, solution)
        draw_snapshots(above.subplots(), shown, limbs)
        legend_below(above, [Line2D([], [], color=limb.color, label=label) for label, limb in limbs.items()])
        torque, force = below.subplots(2, 1, sharex=True)
        sample, names = solution.at(t), solution.problem.model.joint_names
        for joint in chain.actuators:
            k = names.index(joint)
            torque.plot(t, sample.tau[:, k], color=looks(chain.model)[k].color, label=joint)
        force.plot(t, np.linalg.norm(sample.cut_forces, axis=1), color="black")
        dress(torque, "", "torque [N m]")
        dress(force, "t [s]", "force in the cut [N]")
        legend_below(below, torque.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)
    plt.close(figure)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.time_optimal", __doc__, argv, quick="the exactly driven four-bar, to 1e-3")
    cases = {"four_bar": CASES["four_bar"]} if args.quick else CASES
    numbers: dict[str, float] = {}
    rows, notes, shown = [], [], {}
    for name, case in cases.items():
        found = {kind: solved(case, curve, 1e-3 if args.quick else 1e-5) for kind, curve in CURVES.items()}
        own = {kind: told(case, solution) for kind, solution in found.items()}
        numbers |= {f"time_optimal.{name}.{kind}.{key}": v for kind, keys in own.items() for key, v in keys.items()}
        T, other = own["spline"]["T"], own["radau"]["T"]
        numbers[f"time_optimal.{name}.difference"] = T / other - 1
        source = "" if case.T is None else "phase plane"
        for what, value in (("on a spline", T), ("by Radau", other)):
            rows.append(Row(f"{name}: T {what} [s]", value, case.T, source))
        worst = {key: max(own[kind][key] for kind in own) for key in ("gap", "beyond")}
        notes.append(
            f"  {name}: {T / other - 1:+.1e} apart; loops open by {worst['gap']:.1e} m at most, torques "
            f"{worst['beyond']:.1e} beyond their limits, at 20,001 times; {own['spline']['seconds']:.0f} and "
            f"{own['radau']['seconds']:.0f} s"
        )
        shown[name] = found["spline"]
    print(table(args.question, rows, notes))
    draw(shown, args.figure)
    return finish(args, numbers)


if __name__ == "__main__":
    main()
