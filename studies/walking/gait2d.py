"""Does a planar walker of seven links walk, and does it matter how?

The step of `colloc.studies.walking` on nine degrees of freedom: fast enough to compare what the 55-DOF study takes as
given. B-splines against Radau collocation, a free wrench of the leading foot against the distance rule of Xiang et al.
(2009) and a partition of unity.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from math import radians
from typing import Any

import colloc as co
from colloc.models.human.walker2d import walker2d
from colloc.studies.reporting import Option, arguments, finish
from colloc.studies.walking.picture.figures import gait_figure
from colloc.studies.walking.problem import problem
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.step import Sharing, Step
from colloc.support.display import Table

# rad; wider than for the 55 degrees of freedom, whose toes bend
ANKLES = {f"ankle_dorsiflexion_{side}": (-radians(30), radians(20)) for side in "rl"}
IPOPT: dict[str, Any] = {"tol": 1e-4, "constr_viol_tol": 1e-5, "max_iter": 500}
SPLINE, MESH = co.BSpline(20, nodes=81), co.Radau(20, 3)
WAYS: dict[str, tuple[Sharing, co.curves.Transcription, co.solver.Hessian]] = {
    "spline": (Sharing.FREE, SPLINE, co.solver.Hessian.GAUSS_NEWTON),
    "radau": (Sharing.FREE, MESH, co.solver.Hessian.EXACT),  # where Gauss-Newton does not always converge
    "distance": (Sharing.DISTANCE, SPLINE, co.solver.Hessian.EXACT),
    "partition": (Sharing.PARTITION, SPLINE, co.solver.Hessian.EXACT),
}
OPTIONS = (Option("speed", 1.2, "m/s", above=0.0), Option("step-length", 0.6, "m", above=0.0))
SHOWN = ("vertical.peak_1", "vertical.valley", "vertical.peak_2", "fore_aft.braking", "fore_aft.propulsion")


def walk(step: Step, way: str) -> Report:
    """A step solved in one of the ways, from standing still, and measured."""
    sharing, curve, hessian = WAYS[way]
    posed = replace(step, sharing=sharing)
    stand = posed.stance.standing
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", co.refinement.SolutionWarning)  # the table says it
        solution = co.solve(
            problem(posed), curve, guess=co.line(stand, stand), solver=co.Ipopt(hessian=hessian, **IPOPT),
            raise_on_failure=False,
        )  # fmt: skip
    return Report(posed, solution)


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("walking.gait2d", __doc__, argv, quick="the spline and the mesh only", options=OPTIONS)
    walker = walker2d()
    step = Step(walker.ranged(ANKLES), speed=args.speed, length=args.step_length)
    reports = {way: walk(step, way) for way in list(WAYS)[: 2 if args.quick else None]}
    rows, numbers = [], {}
    for way, report in reports.items():
        solution = report.solution
        peaks = [f"{report.peaks[name].value:.2f} @ {report.peaks[name].percent:.0f}" for name in SHOWN]
        effort = (f"{solution.iterations}", f"{solution.seconds['solve']:.2f} s", f"{solution.cost:.5f}")
        rows.append((way, str(solution.status), *effort, *peaks, f"{report.virtual_torque:.0e}"))
        numbers |= {f"{way}.{name}": value for name, value in report.numbers.items()}
    header = ("", "", "iterations", "", "cost", *(name.replace("_", " ") for name in SHOWN), "virtual torque")
    print(Table(f"Planar walker at {step.speed:g} m/s, forces over body weight @ % of the stride", header, rows).text())
    co.plot.save_figure(gait_figure(reports), args.figure, dpi=130)
    return finish(args, numbers, reports["spline"].solution)


if __name__ == "__main__":
    main()
