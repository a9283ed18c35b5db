"""How does a two-link arm lift a load when time and effort both count?

Example 2 of Xiang, Arora and Abdel-Malek (2009, equation 68): gravity, 10 N hanging from the tip, cost (1 - u) T + u
integral of tau' tau with u = 0.01, in the paper's setting and converged by two transcriptions.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

import colloc as co
from colloc.models.two_link import two_link
from colloc.studies.reporting import arguments, finish, table
from colloc.studies.two_link.convergence import run

GRAVITY, LOAD = 9.8062, 10.0  # m/s2, N
U = 0.01  # share of the effort in the cost (equation 67)

effort = co.integral(lambda now: ca.sumsqr(now.tau), name="squared actuation")
problem = co.Problem(
    model=two_link(GRAVITY),
    duration=co.Free(lower=0.1, upper=5.0, guess=1.0),  # s
    minimize=(1 - U) * co.duration() + U * effort,
    subject_to=[
        co.initial(q=(1.32, -2.37), qd=0.0),  # rad, rad/s
        co.final(q=(2.80, -2.37), qd=0.0),
        co.bounds(tau=(-10.0, 10.0)),  # N m
    ],
    loads=[co.Load("elbow", force=(0.0, -LOAD, 0.0))],
)
# Durations [s] and cost. The converged ones: indirect solution of the maximum principle, and fine direct collocation,
# agreeing to these digits.
PUBLISHED = {"Xiang et al. 2009": 0.520}
CONVERGED = {"T": 0.51886031, "cost": 0.84487800}


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    args = arguments("two_link.lifting", __doc__, argv)
    runs = run(problem, co.BSpline(40 if args.quick else 160), co.Radau(50 if args.quick else 200))
    print(table(args.question, runs.rows(PUBLISHED, CONVERGED), runs.notes))
    co.plot.save_figure(co.plot.summary(runs.bspline), args.figure)
    return finish(args, runs.numbers, runs.bspline)


if __name__ == "__main__":
    main()
