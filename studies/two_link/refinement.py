"""How closely, and how quickly, do grids that refine themselves find the switches of a time-optimal swing?

The two-link arm of Xiang, Arora and Abdel-Malek (2009, equation 66), whose optimum switches three times: every
transcription refined from a dozen intervals or so, against the same number of variables on equal intervals.
"""

from __future__ import annotations

from collections.abc import Sequence

import colloc as co
from colloc.models.two_link import two_link
from colloc.studies.reporting import arguments, finish
from colloc.support.display import Table

problem = co.Problem(
    model=two_link(),
    duration=co.Free(lower=0.1, upper=5.0, guess=1.0),  # s
    minimize=co.duration(),
    subject_to=[
        co.initial(q=(0.0, -2.0), qd=0.0),  # rad, rad/s
        co.final(q=(1.0, -1.0), qd=0.0),
        co.bounds(tau=(-10.0, 10.0)),  # N m
    ],
)
EXACT = 0.391854539516  # s; maximum principle with exact switching times, integrated at 8th order
STARTS = {
    "bspline": co.BSpline(12),
    "c1_spline": co.BSpline(12, degree=5, continuity=1),
    "hermite_simpson": co.HermiteSimpson(12),
    "radau": co.Radau(12),
}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.refinement", __doc__, argv, quick="to 1e-3 only")
    tol = 1e-3 if args.quick else 1e-5
    numbers: dict[str, float] = {}
    lines, shown = [], None
    for name, curve in STARTS.items():
        solution = co.solve(problem, curve, tol=tol, compile=False)
        equal = type(curve)(**_equal(curve, solution.nlp.n_x))
        plain = co.solve(problem, equal, compile=False, plan=[co.refinement.Solve(tol=0.1)])
        seconds = sum(round.seconds for round in solution.rounds)
        own = {
            "T_error": solution.duration - EXACT,
            "rounds": float(len(solution.rounds)),
            "variables": float(solution.nlp.n_x),
            "seconds": seconds,
            "T_error_equal": plain.duration - EXACT,
            "solved": float(solution.success),
        }
        numbers |= {f"{name}.{key}": value for key, value in own.items()}
        lines.append((str(curve), *(f"{value:.3g}" for value in own.values())))
        if name == "radau":
            co.plot.save_figure(co.plot.rounds(solution), args.figure)
            shown = solution
    header = ("refined from", "T error [s]", "rounds", "variables", "seconds", "T error, equal intervals", "solved")
    print(Table(args.question, header, lines, [f"  tolerance {tol:g}; exact duration {EXACT} s"]).text())
    return finish(args, numbers, shown)


def _equal(curve: co.BSpline | co.HermiteSimpson | co.Radau, variables: int) -> dict[str, int | None]:
    """Arguments of the same curve with equal intervals, and as many variables as a refined one."""
    joints, few = problem.model.n, co.transcribe(problem, curve).n_x
    assert curve.intervals is not None
    more = co.transcribe(problem, type(curve)(**{**_own(curve), "intervals": curve.intervals + 1})).n_x
    intervals = curve.intervals + round((variables - few) / max(more - few, joints))
    return {**_own(curve), "intervals": intervals}


def _own(curve: co.BSpline | co.HermiteSimpson | co.Radau) -> dict[str, int | None]:
    return {name: getattr(curve, name) for name in ("degree", "continuity") if hasattr(curve, name)}


if __name__ == "__main__":
    main()
