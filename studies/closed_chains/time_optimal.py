"""How fast can closed chains move under torque limits, exactly and redundantly driven, by three ways to close them?

A four-bar and a five-bar. The loop is solved at every instant, so that all joints follow from the independent ones; or
it is cut and its forces are unknowns (Xiang, Arora and Abdel-Malek 2009, equation 38), on splines and by collocation.
With more actuators than freedoms the forces in the null space are free (Lee et al. 2005, equations 40 to 43). Grids are
refined until the errors between the nodes are below the tolerance. The four-bar has one freedom and so a given path, on
which the fastest motion is known from the phase plane (Bobrow, Dubowsky and Gibson 1985).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from matplotlib.lines import Line2D

import colloc as co
from colloc.models.closed.five_bar import END, START, five_bar
from colloc.models.closed.four_bar import four_bar
from colloc.plot.figure import new_figure
from colloc.plot.posture import chain_pose
from colloc.plot.skeleton import Skeleton
from colloc.plot.style import BLUE, GREEN, ORANGE, body_joint_styles, dress, legend_below, styled
from colloc.studies.closed_chains.figures import Limb, draw_snapshots
from colloc.studies.closed_chains.five_bar import LIMBS, in_plane
from colloc.studies.reporting import Row, arguments, finish, table

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
SPLINE = co.BSpline(12, degree=7, continuity=1)
CURVES = {"inside": SPLINE, "spline": SPLINE, "radau": co.Radau(20, degree=5)}
WAYS = {"inside": "loops solved inside, spline", "spline": "cut joints, spline", "radau": "cut joints, Radau"}
GUESS = 0.6  # s
FOUR_BAR = {
    "crank": Limb(BLUE, ("crank", "coupler")),
    "coupler": Limb(ORANGE, ("coupler", "pin, first")),
    "rocker": Limb(GREEN, ("rocker", "pin, second")),
}


def problem(case: Case, way: str) -> co.Problem:
    """From rest to rest in the shortest time."""
    chain, still = case.chain, dict.fromkeys(case.chain.independent, 0.0)
    stated = co.Problem(
        model=chain.model,
        duration=co.Free(lower=0.05, upper=3.0, guess=GUESS),
        minimize=co.duration(),
        subject_to=[
            co.initial(q=dict(zip(chain.independent, case.start, strict=True)), qd=still),
            co.final(q=dict(zip(chain.independent, case.end, strict=True)), qd=still),
            co.bounds(tau={name: (-limit, limit) for name, limit in case.limits.items()}),
        ],
    )
    if way == "inside":
        return replace(stated, parts=[co.loops.IndependentJoints(chain, surplus=chain.redundant)])
    return replace(stated, parts=[co.loops.CutJoints(chain)])


def solved(case: Case, way: str, tol: float) -> co.Solution:
    """Refined from a motion in which the independent joints move uniformly."""
    start, end = np.array(case.start), np.array(case.end)

    def line(t: float) -> np.ndarray:
        return co.loops.assemble(case.chain, start + t / GUESS * (end - start))

    return co.solve(problem(case, way), CURVES[way], tol=tol, guess=line, compile=False, progress=False)


def forces(solution: co.Solution, t: np.ndarray) -> np.ndarray:
    """Multipliers of the loop, ndarray, shape (N, r)."""
    joints = solution.problem.coordinates
    if isinstance(joints, co.loops.IndependentJoints):
        return solution.evaluate(joints.multipliers, t)
    return solution.at(t).cut_forces


def numbers_of(case: Case, solution: co.Solution) -> dict[str, float]:
    """The numbers of a solution."""
    names = solution.problem.model.joint_names
    sample = solution.at(np.linspace(0, solution.duration, 20_001))
    beyond = [np.abs(sample.tau[:, names.index(name)]).max() / limit - 1 for name, limit in case.limits.items()]
    return {
        "T": solution.duration,
        "gap": float(co.loops.closure_error(case.chain, sample.q).max()),
        "beyond": float(max(0.0, *beyond)),
        "seconds": sum(round.seconds for round in solution.rounds),
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
    """Postures of the chains, torques of the actuators, and forces in the loop."""
    figure = new_figure(figsize=(4.1 * len(found), 9.6))
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
            torque.plot(t, sample.tau[:, k], color=body_joint_styles(chain.model)[k].color, label=joint)
        force.plot(t, np.linalg.norm(forces(solution, t), axis=1), color="black")
        dress(torque, "", "torque [N m]")
        dress(force, "t [s]", "force in the loop [N]")
        legend_below(below, torque.get_legend_handles_labels()[0])
    co.plot.save_figure(figure, file)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("closed_chains.time_optimal", __doc__, argv, quick="the exactly driven four-bar, to 1e-3")
    cases = {"four_bar": CASES["four_bar"]} if args.quick else CASES
    numbers: dict[str, float] = {}
    rows, notes, shown = [], [], {}
    for name, case in cases.items():
        found = {way: solved(case, way, 1e-3 if args.quick else 1e-5) for way in WAYS}
        own = {way: numbers_of(case, solution) for way, solution in found.items()}
        numbers |= {f"time_optimal.{name}.{way}.{key}": v for way, keys in own.items() for key, v in keys.items()}
        T = own["radau"]["T"]
        for way in ("inside", "spline"):
            numbers[f"time_optimal.{name}.{way}.difference"] = own[way]["T"] / T - 1
        source = "" if case.T is None else "phase plane"
        rows += [Row(f"{name}: T, {text} [s]", own[way]["T"], case.T, source) for way, text in WAYS.items()]
        notes += [
            f"  {name}, {text}: {own[way]['T'] / T - 1:+.1e} from Radau; at 20,001 times loops open by "
            f"{own[way]['gap']:.1e} m at most, torques {own[way]['beyond']:.1e} beyond their limits; "
            f"{own[way]['seconds']:.0f} s"
            for way, text in WAYS.items()
        ]
        shown[name] = found["inside"]
    print(table(args.question, rows, notes))
    draw(shown, args.figure)
    return finish(args, numbers, shown["four_bar"])


if __name__ == "__main__":
    main()
