"""How does a slide-and-hinge arm move when time and effort both count?

Section 4.2 of Barman (2020, equations 4.18 and 4.19), with the hinge angle measured as the Denavit-Hartenberg rows say:
from x1, perpendicular to the slide. The published 0.5585 s was not reproduced by any reading of the text; with the link
along the slide at q2 = 0 the optimum is 0.6463 s, with it turned by +90 degrees 0.7127 s.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import pi

import casadi as ca

import colloc as co
from colloc.models.prismatic_revolute import prismatic_revolute
from colloc.studies.reporting import arguments, finish, table
from colloc.studies.two_link.convergence import run

U = 0.01  # share of the effort in the cost

effort = co.integral(lambda now: ca.sumsqr(now.tau), name="squared actuation")
problem = co.Problem(
    model=prismatic_revolute(),
    duration=co.Free(lower=0.1, upper=5.0, guess=1.0),  # s
    minimize=(1 - U) * co.duration() + U * effort,
    subject_to=[
        co.initial(q=(0.1, 0.6), qd=0.0),  # m, rad, and their rates
        co.final(q=(pi / 4, -pi / 4), qd=0.0),
        co.bounds(tau=(-10.0, 10.0)),  # N, N m
    ],
)
# Durations [s] and cost. The converged ones: indirect solution of the maximum principle, and fine direct collocation,
# agreeing to these digits.
PUBLISHED = {"Barman 2020": 0.5585}
CONVERGED = {"T": 0.58578391, "cost": 0.77323476}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.prismatic_revolute", __doc__, argv)
    runs = run(problem, co.BSpline(40 if args.quick else 160), co.Radau(50 if args.quick else 200))
    print(table(args.question, runs.rows(PUBLISHED, CONVERGED), runs.notes))
    co.plot.save_figure(co.plot.summary(runs.bspline), args.figure)
    return finish(args, runs.numbers, runs.bspline)


if __name__ == "__main__":
    main()
